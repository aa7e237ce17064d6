// SPDX-License-Identifier: MIT
//! `agx compile` and `agx shaderdb` from the outside.
#![cfg(feature = "compiler")]

mod support;

use support::{Scratch, agx, path};

fn corpus(name: &str) -> String {
    path("../../cts/shader-db").join(name).display().to_string()
}

#[test]
fn every_language_compiles_and_prints_what_is_asked_for() {
    for (file, line) in [
        ("examples/saxpy.comp", "fma"),
        ("examples/reverse.wgsl", "barrier.threadgroup"),
        ("examples/sum.spvasm", "device_store.i32"),
    ] {
        let run = agx(&["compile", &corpus(file), "--print", "asm,stats"], &[]);
        assert_eq!(run.code, Some(0), "{file}: {}", run.err);
        assert!(run.out.contains(line), "{file}: {}", run.out);
        assert!(run.out.contains("DescriptorSet("), "{file}: {}", run.out);
        assert!(run.out.contains("; instructions"), "{file}: {}", run.out);
    }
    let run = agx(
        &[
            "compile",
            &corpus("examples/saxpy.comp"),
            "--print",
            "nir,ir",
        ],
        &[],
    );
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert!(run.out.contains("load_global"), "{}", run.out);
    assert!(run.out.contains("; on registers"), "{}", run.out);
    assert!(!run.out.contains("; instructions"), "{}", run.out);
}

#[test]
fn what_is_written_is_the_code_that_is_printed() {
    let binary = Scratch::new("sum.bin", "");
    let output = binary.as_str();
    let file = corpus("examples/sum.spvasm");
    let plain = agx(&["compile", &file, "--print", "stats", "-o", output], &[]);
    assert_eq!(plain.code, Some(0), "{}", plain.err);
    let first = std::fs::read(&binary.0).expect("the code");
    let said = format!("; {:<19} {}\n", "bytes", first.len());
    assert!(plain.out.contains(&said), "{}", plain.out);
    // Another constant gives other code, the same constant the same.
    let special = [
        "compile",
        &file,
        "--spec",
        "0=u32:300000",
        "--print",
        "stats",
        "-o",
        output,
    ];
    assert_eq!(agx(&special, &[]).code, Some(0));
    let second = std::fs::read(&binary.0).expect("the code");
    assert_ne!(first, second);
    assert_eq!(agx(&special, &[]).code, Some(0));
    assert_eq!(std::fs::read(&binary.0).expect("the code"), second);
}

#[test]
fn bad_input_is_named() {
    for (arguments, says) in [
        (vec!["compile", "/no/such.comp"], "/no/such.comp"),
        (vec!["compile", "/etc/passwd"], "not a .comp"),
    ] {
        let run = agx(&arguments, &[]);
        assert_eq!(run.code, Some(2), "{}", run.err);
        assert!(run.err.contains(says), "{}", run.err);
    }
    let run = agx(
        &["compile", &corpus("examples/sum.spvasm"), "--entry", "nain"],
        &[],
    );
    assert_ne!(run.code, Some(0));
    assert!(run.err.contains("nain"), "{}", run.err);
}

#[test]
fn a_run_over_the_corpus_compares_with_itself() {
    let json = Scratch::new("run.json", "");
    let json = json.as_str();
    let run = agx(
        &["shaderdb", "run", "--filter", "examples/", "--json", json],
        &[],
    );
    assert_eq!(run.code, Some(0), "{}{}", run.out, run.err);
    for name in [
        "examples/reverse",
        "examples/saxpy",
        "examples/sum",
        "total",
    ] {
        assert!(run.out.contains(name), "{}", run.out);
    }
    let same = agx(&["shaderdb", "compare", json, json], &[]);
    assert_eq!(same.code, Some(0), "{}", same.err);
    assert!(same.out.starts_with("totals of 3 shaders"), "{}", same.out);
    let none = agx(&["shaderdb", "run", "--filter", "no such name"], &[]);
    assert!(none.err.contains("no such name"), "{}", none.err);
}
