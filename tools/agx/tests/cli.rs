// SPDX-License-Identifier: MIT
//! `agx dis`, `asm`, `explain` and `demo` from the outside.

mod support;

use std::process::{Command, Stdio};

use proptest::prelude::*;
use support::{Scratch, agx, agx_raw, bytes, path};

/// Launcher of the worked example (launch, 12.5).
const LAUNCHER: &str = "2c800200100080043c800200040000006700542402000000570000402600\
    77002a4100000000 7701aa07000000028000 f7002a00000000000000\
    0b240944 1b260904 2b280904 3b2a0904 0e000000";
/// A loop in the form of isa-2, 6: push, compare, update, branch back, pop.
const LOOP: &str = "0c01 1ca01006 0f05541a 0a033a0505c0 8f045422 0f0054f2ffffffffff00 \
    0f0604020000 0e000000";

/// Disassembles, reassembles and compares, in both output styles.
fn round_trip(code: &[u8]) {
    for style in [
        &["dis", "-"][..],
        &["dis", "--plain", "-"],
        &["dis", "--base", "0x1000", "-"],
    ] {
        let listing = agx(style, code);
        assert_eq!(listing.code, Some(0), "{}{}", listing.out, listing.err);
        let again = agx_raw(&["asm", "-", "-o", "-"], listing.out.as_bytes());
        let complaint = String::from_utf8_lossy(&again.stderr);
        assert!(again.status.success(), "{complaint}\n{}", listing.out);
        assert_eq!(again.stdout, code, "{}", listing.out);
    }
}

/// Programs of the vectors: whole kernels, captured and hand-written.
fn kernels() -> Vec<(String, Vec<u8>)> {
    let text = std::fs::read_to_string(path("../../hw/isa/vectors/exec.jsonl")).expect("vectors");
    let mut kernels = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let vector: serde_json::Value = serde_json::from_str(line).expect("a vector");
        if vector["form"] == "kernel" {
            let id = vector["id"].as_str().expect("an id").to_owned();
            kernels.push((id, bytes(vector["hex"].as_str().expect("bytes"))));
        }
    }
    assert!(kernels.len() > 50, "only {} kernels", kernels.len());
    kernels
}

#[test]
fn the_launcher_and_a_loop_round_trip() {
    round_trip(&bytes(LAUNCHER));
    round_trip(&bytes(LOOP));
}

#[test]
fn every_kernel_of_the_vectors_round_trips() {
    for (id, code) in kernels() {
        let listing = agx(&["dis", "-"], &code);
        assert_eq!(
            listing.code,
            Some(0),
            "{id}: {}{}",
            listing.out,
            listing.err
        );
        let again = agx_raw(&["asm", "-", "-o", "-"], listing.out.as_bytes());
        assert_eq!(again.stdout, code, "{id}:\n{}", listing.out);
    }
}

#[test]
fn a_listing_shows_labels_offsets_and_bytes() {
    let listing = agx(&["dis", "-"], &bytes(LOOP));
    let lines: Vec<&str> = listing.out.lines().collect();
    assert!(
        lines[0].trim_start().starts_with("mov_imm.2 r0, #1 "),
        "{}",
        listing.out
    );
    assert!(lines[0].ends_with("; 0000: 0c 01"), "{}", lines[0]);
    assert!(lines.contains(&"L_0006:"), "{}", listing.out);
    let branch = lines
        .iter()
        .find(|line| line.contains("br_any L_0006"))
        .expect("a branch");
    assert!(
        branch.ends_with("; 0014: 0f 00 54 f2 ff ff ff ff ff 00"),
        "{branch}"
    );
}

#[test]
fn a_branch_out_of_the_program_keeps_its_displacement() {
    let base = ["dis", "--base", "0x100000003c0", "-"];
    let entry = agx(&base, &bytes("0f005440fc7f00000000 0e000000"));
    assert!(entry.out.contains("br_any .+8387648"), "{}", entry.out);
    assert!(entry.out.contains("; 100000003c0: 0f 00"), "{}", entry.out);
    assert!(entry.out.contains("(to 0x10000800000)"), "{}", entry.out);
}

#[test]
fn plain_output_is_assembly_only() {
    let listing = agx(&["dis", "--plain", "-"], &bytes(LAUNCHER));
    assert!(!listing.out.contains(';'), "{}", listing.out);
    assert!(
        listing.out.contains("arg_move u0, r18, wait=2"),
        "{}",
        listing.out
    );
}

#[test]
fn hexadecimal_text_and_bytes_give_the_same_listing() {
    let binary = agx(&["dis", "-"], &bytes(LAUNCHER));
    let text = format!("; the launcher\n{}\n# end\n", LAUNCHER.replace(' ', "\n"));
    assert_eq!(agx(&["dis", "-"], text.as_bytes()).out, binary.out);
    let file = Scratch::new("launcher.hex", &text);
    assert_eq!(agx(&["dis", file.as_str()], b"").out, binary.out);
}

#[test]
fn reserved_encodings_are_stepped_over() {
    // A marker of vendor spill code has a known length and no decoded form.
    let listing = agx(&["dis", "-"], &bytes("6000e702 0e000000"));
    assert_eq!(listing.code, Some(0), "{}", listing.out);
    assert!(
        listing.out.contains(".bytes 60 00 e7 02"),
        "{}",
        listing.out
    );
    assert!(listing.out.contains("stop"), "{}", listing.out);
    let strict = agx(&["dis", "--strict", "-"], &bytes("6000e702 0e000000"));
    assert_eq!(strict.code, Some(1));
    assert!(strict.out.contains("stop"), "{}", strict.out);
}

#[test]
fn an_unknown_length_ends_the_listing() {
    let listing = agx(&["dis", "-"], &bytes("0c01 cf025602 00040809 d4432401"));
    assert_eq!(listing.code, Some(1));
    assert!(listing.out.contains("mov_imm.2 r0, #1"), "{}", listing.out);
    let last = listing.out.lines().last().expect("a last line");
    assert!(last.contains("0002: cf 02 56 02"), "{last}");
    assert!(
        last.contains("begins no known instruction; stopped, 12 bytes left"),
        "{last}"
    );
    assert!(
        listing.err.contains("begins no known instruction"),
        "{}",
        listing.err
    );
}

#[test]
fn a_truncated_program_ends_the_listing() {
    let listing = agx(&["dis", "-"], &bytes("0c01 0e00"));
    assert_eq!(listing.code, Some(1));
    assert!(listing.out.contains("ends early"), "{}", listing.out);
}

#[test]
fn strict_decoding_refuses_what_is_not_explained() {
    // floor with the ignored low bits of its source byte set.
    let stray = bytes("2f0056000 2ffb0400200".replace(' ', "").as_str());
    assert_eq!(agx(&["dis", "-"], &stray).code, Some(0));
    let strict = agx(&["dis", "--strict", "-"], &stray);
    assert_eq!(strict.code, Some(1), "{}", strict.out);
    assert!(strict.out.contains(".bytes 2f 00 56"), "{}", strict.out);
}

#[test]
fn assembling_into_a_file_or_hexadecimal_text() {
    let source = Scratch::new(
        "stop.s",
        "start:\n  mov_imm.2 r3, #1 ; one\n  br_any start\n  stop\n",
    );
    let target = Scratch::new("stop.bin", "");
    let run = agx(&["asm", source.as_str(), "-o", target.as_str()], b"");
    assert_eq!(run.code, Some(0), "{}", run.err);
    let code = bytes("3c01 0f0054feffffffffff00 0e000000");
    assert_eq!(std::fs::read(&target.0).expect("output"), code);
    let text = agx(&["asm", "--hex", source.as_str(), "-o", "-"], b"");
    assert_eq!(
        text.out,
        "3c 01\n0f 00 54 fe ff ff ff ff ff 00\n0e 00 00 00\n"
    );
}

#[test]
fn assembly_errors_name_the_line() {
    for (source, complaint) in [
        (
            "stop\nfrobnicate r0\n",
            "line 2: no operation is called `frobnicate`",
        ),
        ("br_any nowhere\n", "line 1: label `nowhere` does not exist"),
        ("fadd.6 r0, r200, r1\n", "line 1: "),
        (".bytes 0x\n", "line 1: "),
    ] {
        let run = agx(&["asm", "-", "-o", "-"], source.as_bytes());
        assert_eq!(run.code, Some(1), "{source}");
        assert!(run.err.contains(complaint), "{source}: {}", run.err);
        assert!(run.out.is_empty(), "{source}: {}", run.out);
    }
    let run = agx(&["asm", "-", "-o", "-"], &[0xff, 0xfe]);
    assert_eq!(run.code, Some(1));
    assert!(run.err.contains("not a text file"), "{}", run.err);
}

#[test]
fn missing_files_are_errors() {
    for args in [
        &["dis", "/no/such/file"][..],
        &["asm", "/no/such/file", "-o", "-"],
        &["vectors", "/no/such/file"],
    ] {
        let run = agx(args, b"");
        assert_eq!(run.code, Some(1), "{args:?}");
        assert!(run.err.contains("/no/such/file"), "{args:?}: {}", run.err);
    }
}

#[test]
fn explain_shows_every_field_of_an_add() {
    let run = agx(&["explain", "49", "05", "3c", "07", "00", "00"], b"");
    assert_eq!(run.code, Some(0), "{}", run.err);
    for line in [
        "fadd.6 r4, ^r2, ^r3",
        "form            F2.6",
        "meaning         fp32 add / multiply",
        "reference       isa-1 4.2, mark HW",
        "waits for       nothing (index in bits 45..47 = 0x0)",
        "completes       nothing: its results are there at once",
        "emit            a compiler may use it",
        "control flow    goes on with the next instruction",
        "D            4..7, 22..23, 44  0x4  written: general register 4",
        "A            9..14, 40         0x2  read: general register 2",
        "A.release    19                0x1  last use: the register's value is lost",
        "B.neg        43                0x0  not negated",
        "pub          21                0x1  yes; a hint without effect on values",
        "(operation)  16                0x0  fadd",
        "  B       general register 3: read at issue, then lost",
    ] {
        assert!(
            run.out.lines().any(|l| l == line),
            "no line `{line}` in\n{}",
            run.out
        );
    }
}

#[test]
fn explain_shows_slots_and_flow() {
    let load = agx(&["explain", "6700542402000000570000402600"], b"");
    assert!(load.out.contains("completes       slot 2"), "{}", load.out);
    assert!(
        load.out
            .contains("18 to 21: written when the slot completes"),
        "{}",
        load.out
    );
    let store = agx(
        &["explain", "e7 10 54 00 01 01 21 00 11 00 00 90 11 00"],
        b"",
    );
    assert!(
        store
            .out
            .contains("waits for       slot 1 (mask in bits 12..17"),
        "{}",
        store.out
    );
    let branch = agx(&["explain", "0f 00 54 c6 ff ff ff ff ff 00"], b"");
    assert!(branch.out.contains("may jump -58 bytes"), "{}", branch.out);
    assert!(branch.out.contains("drain point"), "{}", branch.out);
    assert!(branch.out.contains("24..71"), "{}", branch.out);
    let zero = agx(&["explain", "0b000000"], b"");
    assert!(
        zero.out.contains("emit            never by a compiler"),
        "{}",
        zero.out
    );
}

#[test]
fn explain_refuses_what_is_no_instruction() {
    for (hex, complaint) in [
        ("60 00 e7 02", "marker in vendor spill code"),
        ("cf 02 56 02", "begins no known instruction"),
        ("49 05", "ends early"),
        (
            "0e 00 00 00 00",
            "the instruction has 4 bytes, 5 were given",
        ),
        ("xyz", "is not a hexadecimal digit"),
        ("0e0", "is not a whole number of bytes"),
    ] {
        let run = agx(&["explain", hex], b"");
        assert_eq!(run.code, Some(1), "{hex}");
        assert!(run.err.contains(complaint), "{hex}: {}", run.err);
        assert!(!run.err.contains("panicked"), "{hex}: {}", run.err);
    }
}

#[test]
fn the_demo_explains_the_whole_launch() {
    let run = agx(&["demo", "--launch"], b"");
    assert_eq!(run.code, Some(0), "{}", run.err);
    for text in [
        "0x100_0090_0000  launcher",
        "1. The launcher at 0x100_0090_0000 (78 bytes)",
        "10: 67 00 54 24 02 00 00 00 57 00 00 40 26 00",
        "-> completes slot 2",
        "-> waits for slot 2",
        "to 0x100_0080_0000 (the body)",
        "3. The body at 0x100_0080_0000 (26 bytes)",
        "device_store.i32 r0, u2:u3, ^r1, wait=1",
    ] {
        assert!(run.out.contains(text), "no `{text}` in\n{}", run.out);
    }
    assert!(
        run.out.lines().all(|line| line.chars().count() <= 104),
        "{}",
        run.out
    );
}

#[test]
fn a_closed_pipe_is_no_panic() {
    let vectors = path("../../hw/isa/vectors/encode.jsonl");
    let vectors = vectors.to_str().expect("unicode path");
    for args in [&["demo", "--launch"][..], &["vectors", "-v", vectors]] {
        // The reading end is closed before the program starts, so that no output can slip through.
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let child = Command::new(env!("CARGO_BIN_EXE_agx"))
            .args(args)
            .stdout(writer)
            .stderr(Stdio::piped())
            .spawn()
            .expect("agx starts");
        let output = child.wait_with_output().expect("agx ends");
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(141), "{args:?}: {complaint}");
        assert!(complaint.is_empty(), "{args:?}: {complaint}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Whatever the bytes are, the listing reassembles to the part that it covers.
    #[test]
    fn any_bytes_disassemble_to_something_that_assembles(
        code in proptest::collection::vec(any::<u8>(), 1..48)
    ) {
        // A leading byte that is no text, so that digits are not taken for hexadecimal text.
        let code = [&[0x0c, 0x01][..], &code].concat();
        let listing = agx(&["dis", "-"], &code);
        prop_assert!(matches!(listing.code, Some(0 | 1)), "{}", listing.err);
        let again = agx_raw(&["asm", "-", "-o", "-"], listing.out.as_bytes());
        prop_assert!(again.status.success(), "{}", listing.out);
        prop_assert!(code.starts_with(&again.stdout), "{}", listing.out);
        if listing.code == Some(0) {
            prop_assert_eq!(again.stdout, code);
        }
    }
}
