// SPDX-License-Identifier: MIT
//! The worked example of launch, 12, byte for byte: every byte that hardware reads is spelled here as
//! the reference spells it, checked against the reference's hashes, and executed.

mod machine;

use agx_sim::gpu::Gpu;
use machine::{ARENA, BODIES, LAUNCHERS, Machine, Memory, STREAM, gpu, hex};
use sha2::{Digest, Sha256};

/// Of launch, 12.1.
const OUTPUT: u64 = 0x20_0001_0000;
const COUNTS: u64 = 0x20_0002_0000;
const RECORD: u64 = LAUNCHERS + 0x400;

fn sha(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn arena() -> Vec<u8> {
    let mut bytes = vec![0; 0x400];
    bytes[..4].copy_from_slice(&[0x40, 3, 0, 0]);
    for unit in bytes[0x40..0x340].chunks_exact_mut(2) {
        unit.copy_from_slice(&[6, 0]);
    }
    for table in [0x100, 0x200] {
        for i in 0..10 {
            let stub = [15, 0, 0x54, 0xa0 - 16 * i as u8, 0, 0, 0, 0, 0, 0];
            bytes[table + 16 * i..][..10].copy_from_slice(&stub);
        }
        for i in 10..12 {
            let terminal = hex("f7 03 aa 00 8f 02 54 01");
            bytes[table + 16 * i..][..8].copy_from_slice(&terminal);
        }
    }
    bytes[0x340..0x344].copy_from_slice(&[0xc0, 0, 0, 0]);
    bytes[0x380..0x384].copy_from_slice(&[14, 0, 0, 0]);
    for unit in bytes[0x384..0x3c0].chunks_exact_mut(2) {
        unit.copy_from_slice(&[6, 0]);
    }
    bytes[0x3c0..0x3ce].copy_from_slice(&hex("0f 00 54 40 fc 7f 00 00 00 00  0e 00 00 00"));
    bytes
}

fn body() -> Vec<u8> {
    hex("0c a0 10 06  1c a0 10 06  e7 10 54 00 01 01 21 00 11 00 00 90 11 00  0e 00 00 00")
}

fn record() -> Vec<u8> {
    let mut bytes = vec![0; 0x100];
    bytes[..16].copy_from_slice(&hex("c0 04 90 00 00 01 00 00  00 00 01 00 20 00 00 00"));
    bytes[0xc0..0xcc].copy_from_slice(&hex("02 00 00 00 01 00 00 00 01 00 00 00"));
    bytes
}

fn launcher() -> Vec<u8> {
    let mut bytes = hex("2c 80 02 00 10 00 80 04  3c 80 02 00 04 00 00 00
         67 00 54 24 02 00 00 00 57 00 00 40 26 00
         77 00 2a 41 00 00 00 00  77 01 aa 07 00 00 00 02 80 00  f7 00 2a 00 00 00 00 00 00 00
         0b 24 09 44  1b 26 09 04  2b 28 09 04  3b 2a 09 04  0e 00 00 00");
    assert_eq!(bytes.len(), 78);
    bytes.resize(1024, 0);
    bytes
}

fn stream() -> Vec<u8> {
    hex("00 00 88 00  40 00 00 01  00 40 02 00  01 00 00 40
         40 00 00 00  01 00 00 00  01 00 00 00  20 00 00 00  01 00 00 00  01 00 00 00
         ff ff 0f 60  00 00 00 40")
}

#[test]
fn the_bytes_are_those_of_the_reference() {
    let pairs = [
        (
            arena()[..0x340].to_vec(),
            "9be8f59a1eee955c4cc2a6ed342143ee1ede7e5a861c34f22829f576dde497cc",
        ),
        (
            arena(),
            "00a0ea57ee4aceea670f8f2244c14559bc6c1651eab508449e8b7c6b420bd035",
        ),
        (
            body(),
            "38ac9d11ed910b4e11ffea091c129fca4e180d2d8cb885b5f01520c7b5d8d01b",
        ),
        (
            record(),
            "141226a925fcf8c76898a146c2a99a14c6be4dcc536f90e3d985951da935795e",
        ),
        (
            launcher(),
            "f3d08699ba0d9a16f531222abef78a663d4df9de9a279f52943168b929c692f4",
        ),
        (
            stream(),
            "a556ab25800458944bf575f284686650895f47e9b39e85bd2aecaae2fc398842",
        ),
    ];
    for (i, (bytes, expected)) in pairs.iter().enumerate() {
        assert_eq!(sha(bytes), *expected, "{i}");
    }
}

/// Memory as launch, 12.1 lays it out, the output filled with a pattern.
fn example(stream: &[u8]) -> (Machine, Memory, u64) {
    let mut machine = Machine::new();
    machine.arena.write(ARENA, &arena());
    machine.bodies.write(BODIES, &body());
    machine.launchers.write(LAUNCHERS, &launcher());
    machine.launchers.write(RECORD, &record());
    machine.stream = Memory::new(STREAM, 0x4000, false);
    machine.stream.write(STREAM, stream);
    let output = Memory::new(OUTPUT, 0x4000, true);
    output.write(OUTPUT, &[0xee; 0x4000]);
    machine.more.push(output.clone());
    (machine, output, STREAM + stream.len() as u64)
}

fn check(gpu: &Gpu, stream: &[u8], counts: Option<&[u32]>, threads: u32) {
    let (mut machine, output, end) = example(stream);
    if let Some(counts) = counts {
        let memory = Memory::new(COUNTS, 0x4000, false);
        memory.write_words(COUNTS, counts);
        machine.more.push(memory);
        let pointer = COUNTS.to_le_bytes();
        machine.launchers.write(RECORD, &pointer);
    }
    machine
        .run(gpu, end)
        .unwrap_or_else(|fault| panic!("{fault}"));
    let expected: Vec<u32> = (0..0x1000)
        .map(|i| if i < threads { i } else { 0xeeee_eeee })
        .collect();
    assert_eq!(output.words(OUTPUT, 0x1000), expected);
}

#[test]
fn direct() {
    for threads in [1, 2, 3] {
        check(&gpu(threads), &stream(), None, 64);
    }
}

const MODE_1: &str = "00 00 88 08 40 00 00 01 00 40 02 00 01 00 00 40 20 00 00 00 00 00 02 00
    20 00 00 00 01 00 00 00 01 00 00 00 ff ff 0f 60 00 00 00 40";
const MODE_2: &str = "00 00 88 10 40 00 00 01 00 40 02 00 01 00 00 40 20 00 00 00 00 00 02 00
    ff ff 0f 60 00 00 00 40";

#[test]
fn indirect_global() {
    check(&gpu(2), &hex(MODE_1), Some(&[2, 1, 1]), 64);
    check(&gpu(2), &hex(MODE_1), Some(&[9, 1, 1]), 288);
}

#[test]
fn indirect_local() {
    check(&gpu(2), &hex(MODE_2), Some(&[64, 1, 1, 32, 1, 1]), 64);
    check(&gpu(2), &hex(MODE_2), Some(&[70, 1, 1, 64, 1, 1]), 70);
}

#[test]
fn zero_counts_are_no_work() {
    for axis in 0..3 {
        let mut counts = [2, 1, 1];
        counts[axis] = 0;
        check(&gpu(1), &hex(MODE_1), Some(&counts), 0);
        let mut counts = [64, 1, 1, 32, 1, 1];
        counts[axis] = 0;
        check(&gpu(1), &hex(MODE_2), Some(&counts), 0);
        let mut stream = stream();
        stream[16 + 4 * axis] = 0;
        check(&gpu(1), &stream, None, 0);
    }
}

#[test]
fn partial_workgroup() {
    // launch, 8.4 (HW): 100 threads in groups of 32.
    let mut bytes = stream();
    bytes[16] = 100;
    check(&gpu(1), &bytes, None, 100);
    check(&gpu(2), &bytes, None, 100);
}
