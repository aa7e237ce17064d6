// SPDX-License-Identifier: MIT
//! `agx run` from the outside.

use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

mod support;
use support::agx;

/// A directory of this test's own, empty.
fn directory(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}

fn file(dir: &Path, name: &str, content: &str) -> String {
    let path = dir.join(name);
    std::fs::write(&path, content).unwrap();
    path.to_str().unwrap().to_owned()
}

fn sum(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The body of launch, 12.3.
const BODY: &str = "0c a0 10 06 1c a0 10 06 e7 10 54 00 01 01 21 00 11 00 00 90 11 00 0e 00 00 00";

/// Words of a little-endian file.
fn words(path: &Path) -> Vec<u32> {
    let bytes = std::fs::read(path).unwrap();
    let (words, rest) = bytes.as_chunks::<4>();
    assert!(rest.is_empty());
    words.iter().map(|word| u32::from_le_bytes(*word)).collect()
}

/// The worked example, direct and indirect: the bytes that the GPU is given, and the result.
#[test]
fn the_worked_example() {
    // Sums of launch, 12.2 to 12.6.
    let common = [
        (
            "arena",
            0x340,
            "9be8f59a1eee955c4cc2a6ed342143ee1ede7e5a861c34f22829f576dde497cc",
        ),
        (
            "arena",
            0x400,
            "00a0ea57ee4aceea670f8f2244c14559bc6c1651eab508449e8b7c6b420bd035",
        ),
        (
            "body",
            26,
            "38ac9d11ed910b4e11ffea091c129fca4e180d2d8cb885b5f01520c7b5d8d01b",
        ),
        (
            "launcher",
            1024,
            "f3d08699ba0d9a16f531222abef78a663d4df9de9a279f52943168b929c692f4",
        ),
    ];
    let stream = "a556ab25800458944bf575f284686650895f47e9b39e85bd2aecaae2fc398842";
    let record = "141226a925fcf8c76898a146c2a99a14c6be4dcc536f90e3d985951da935795e";
    for mode in ["direct", "indirect-groups", "indirect-threads"] {
        let dir = directory(&format!("example-{mode}"));
        let program = file(&dir, "body.hex", BODY);
        let output = dir.join("out.bin");
        let save = format!("0={}", output.display());
        let dump = dir.to_str().unwrap();
        let run = agx(
            &[
                "run", &program, "-b", "512", "-t", "64", "--launch", mode, "--dump", dump,
                "--save", &save, "--strict",
            ],
            b"",
        );
        assert_eq!(run.code, Some(0), "{mode}: {}{}", run.out, run.err);
        let expected: Vec<u32> = (0..64).chain([0; 64]).collect();
        assert_eq!(words(&output), expected, "{mode}");
        let read = |name: &str| std::fs::read(dir.join(format!("{name}.bin"))).unwrap();
        for (name, length, expected) in common {
            assert_eq!(sum(&read(name)[..length]), expected, "{mode}: {name}");
        }
        assert_eq!(sum(&read("launcher")[0x400..0x500]), record);
        let bytes = read("stream");
        match mode {
            "direct" => assert_eq!(sum(&bytes[..0x30]), stream),
            "indirect-groups" => assert_eq!(
                bytes[..0x28],
                hex(
                    "00 00 88 08 40 00 00 01 00 40 02 00 01 00 00 40 20 00 00 00 00 00 02 00 \
                     20 00 00 00 01 00 00 00 01 00 00 00 ff ff 0f 60"
                )
            ),
            _ => assert_eq!(
                bytes[..0x1c],
                hex(
                    "00 00 88 10 40 00 00 01 00 40 02 00 01 00 00 40 20 00 00 00 00 00 02 00 \
                     ff ff 0f 60"
                )
            ),
        }
    }
}

fn hex(text: &str) -> Vec<u8> {
    let pairs = text.split_whitespace();
    pairs
        .map(|pair| u8::from_str_radix(pair, 16).unwrap())
        .collect()
}

const SQUARE: &str = "get_sr r0, %global_id_x
    device_load.i32 r1, u4:u5, r0, slot=1
    fmul.6 r2, r1, r1, wait=1
    device_store.i32 r2, u2:u3, r0
    stop";

#[test]
fn buffers_are_given_and_printed() {
    let dir = directory("square");
    let program = file(&dir, "square.s", SQUARE);
    let run = agx(
        &[
            "run",
            &program,
            "-b",
            "f32:0,0,0,0",
            "-b",
            "f32:1,-2,3,0.5",
            "-t",
            "4",
        ],
        b"",
    );
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert_eq!(run.out, "buffer 0, 16 bytes:\n  000000: 1.0 4.0 9.0 0.25\n");
    let run = agx(
        &[
            "run",
            &program,
            "-b",
            "16",
            "-b",
            "f32:1,-2,3,0.5",
            "-t",
            "4",
            "-p",
            "0:x32",
            "-p",
            "1:f32",
        ],
        b"",
    );
    assert_eq!(
        run.out,
        "buffer 0, 16 bytes:\n  000000: 3f800000 40800000 41100000 3e800000\n\
         buffer 1, 16 bytes:\n  000000: 1.0 -2.0 3.0 0.5\n"
    );
}

#[test]
fn constants_threadgroup_memory_and_bare_buffers() {
    let dir = directory("bare");
    // Recorded programs count buffers from pair 0; the threadgroup pointer and constants follow.
    let program = file(
        &dir,
        "bare.s",
        "get_sr r0, %global_id_x
        get_sr16 r1.l, %local_id_x
        zext16 r1
        iadd r2, r0, u4
        or r3, r0, r0
        threadgroup_store ^r2, u2:u3, r1.l
        barrier.threadgroup
        threadgroup_load r4, u2:u3, r1.l
        device_store.i32 r4, u0:u1, r3, wait=6
        stop",
    );
    let run = agx(
        &[
            "run",
            &program,
            "-b",
            "128",
            "-t",
            "32",
            "--bare",
            "--threadgroup",
            "128",
            "--constants",
            "u32:1000,5",
            "-p",
            "0",
        ],
        b"",
    );
    assert_eq!(run.code, Some(0), "{}{}", run.out, run.err);
    assert!(run.out.contains("000000: 1000 1001 1002"), "{}", run.out);
    assert!(run.out.contains("000060: 1024 1025"), "{}", run.out);
}

#[test]
fn strict_runs_find_a_missing_wait() {
    let dir = directory("missing-wait");
    let broken = SQUARE.replace(", wait=1", "");
    let program = file(&dir, "broken.s", &broken);
    let arguments = ["run", &program, "-b", "16", "-b", "f32:1,2,3,4", "-t", "4"];
    let run = agx(&arguments, b"");
    assert_eq!(run.code, Some(0), "{}", run.err);
    let run = agx(&[&arguments[..], &["--strict"]].concat(), b"");
    assert_eq!(run.code, Some(1), "{}", run.out);
    for part in ["fault: strict: ", "r1", "slot 1", "fmul.6 r2, r1, r1"] {
        assert!(run.out.contains(part), "`{part}` in {}", run.out);
    }
}

#[test]
fn faults_name_the_instruction() {
    let dir = directory("fault");
    let program = file(&dir, "loop.s", "again: br_any again\nstop");
    let run = agx(&["run", &program, "-b", "4", "--watchdog", "1000"], b"");
    assert_eq!(run.code, Some(1));
    assert!(run.out.contains("runaway program"), "{}", run.out);
    assert!(run.out.contains("br_any"), "{}", run.out);
    let program = file(&dir, "filler.hex", "06 00 06 00");
    let run = agx(&["run", &program, "-b", "4"], b"");
    assert_eq!(run.code, Some(1));
    assert!(run.out.contains("illegal instruction"), "{}", run.out);
    assert!(run.out.contains("0x10000800000"), "{}", run.out);
}

#[test]
fn traces_and_profiles() {
    let dir = directory("trace");
    let program = file(&dir, "square.s", SQUARE);
    let run = agx(
        &[
            "run",
            &program,
            "-b",
            "16",
            "-b",
            "f32:1,2,3,4",
            "-t",
            "4",
            "--trace",
            "--profile",
        ],
        b"",
    );
    assert_eq!(run.code, Some(0), "{}", run.err);
    let lines: Vec<&str> = run.out.lines().collect();
    let multiplied = lines
        .iter()
        .position(|line| line.contains("fmul.6 r2, r1, r1"));
    let next = lines[multiplied.unwrap() + 1];
    // The squares of 1, 2, 3, 4.
    for value in ["r2 =", "3f800000", "40800000", "41100000", "41800000"] {
        assert!(next.contains(value), "{next}");
    }
    assert!(
        lines
            .iter()
            .any(|l| l.starts_with("fmul ") && l.contains("12.5%")),
        "{}",
        run.out
    );
}

#[test]
fn bad_requests_are_refused() {
    let dir = directory("refused");
    let program = file(&dir, "stop.s", "stop");
    for (arguments, complaint) in [
        (&["-b", "u8:300"][..], "does not fit"),
        (&["-b", "4", "-p", "1"], "there is no buffer 1"),
        (&["-b", "4", "-l", "2000"], "threads per workgroup"),
        (&["-b", "4", "--threadgroup", "40000"], "threadgroup bytes"),
        (&["-b", "4", "-t", "1,2,3,4"], "more than three axes"),
        (&["-b", "@/no/such/file"], "/no/such/file"),
    ] {
        let run = agx(&[&["run", &program][..], arguments].concat(), b"");
        assert!(run.code.is_some_and(|code| code != 0), "{arguments:?}");
        assert!(run.err.contains(complaint), "{arguments:?}: {}", run.err);
    }
}
