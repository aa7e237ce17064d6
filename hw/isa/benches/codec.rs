// SPDX-License-Identifier: MIT
//! Instructions a second of the decoder, the encoder and the text forms, on one core.
//!
//! The corpus is every instruction of the measured encoding vectors that decodes, so the mix of
//! forms is that of real programs.

use agx_isa::{Arg, FormId, Instr, Mode, SlotMask, asm, decode};
use divan::counter::ItemsCount;
use divan::{Bencher, black_box};

fn main() {
    divan::main();
}

fn corpus() -> Vec<Instr> {
    include_str!("../vectors/encode.jsonl")
        .lines()
        .filter_map(|line| {
            let vector: serde_json::Value = serde_json::from_str(line).ok()?;
            if !vector["mask"].is_null() {
                return None;
            }
            let hex = vector["hex"].as_str()?;
            let bytes: Vec<u8> = (0..hex.len())
                .step_by(2)
                .map_while(|i| u8::from_str_radix(&hex[i..i + 2], 16).ok())
                .collect();
            decode(&bytes, Mode::Lenient).ok()
        })
        .collect()
}

/// Decode a stream and read every operand of every instruction.
#[divan::bench]
fn decode_with_operands(bencher: Bencher<'_, '_>) {
    let corpus = corpus();
    let code: Vec<u8> = corpus.iter().flat_map(|i| i.encoded().to_vec()).collect();
    bencher.counter(ItemsCount::new(corpus.len())).bench(|| {
        let mut offset = 0;
        let mut sum = 0u64;
        while offset < code.len() {
            let instr = decode(black_box(&code[offset..]), Mode::Lenient).unwrap();
            for arg in instr.args() {
                sum = sum.wrapping_add(match arg.value {
                    agx_isa::Value::Reg(r) => u64::from(r.index),
                    agx_isa::Value::Int(v) => v,
                    agx_isa::Value::Float(f) => u64::from(f.code()),
                    agx_isa::Value::Absent(_) => 0,
                });
            }
            offset += usize::from(instr.form().len);
        }
        sum
    });
}

/// Decode only.
#[divan::bench(args = ["lenient", "strict"])]
fn decode_stream(bencher: Bencher<'_, '_>, mode: &str) {
    let mode = if mode == "strict" {
        Mode::Strict
    } else {
        Mode::Lenient
    };
    let corpus: Vec<Instr> = corpus()
        .into_iter()
        .filter(|i| decode(&i.encoded(), mode).is_ok())
        .collect();
    let code: Vec<u8> = corpus.iter().flat_map(|i| i.encoded().to_vec()).collect();
    bencher.counter(ItemsCount::new(corpus.len())).bench(|| {
        let mut offset = 0;
        while offset < code.len() {
            offset += usize::from(decode(black_box(&code[offset..]), mode).unwrap().form().len);
        }
        offset
    });
}

/// One instruction taken apart: what a compiler holds before it encodes.
struct Parts {
    id: FormId,
    blank: Instr,
    args: Vec<Arg>,
    /// The modifiers that differ from their defaults.
    modifiers: Vec<(usize, u64)>,
    waits: SlotMask,
    completes: Option<u8>,
}

/// Build every instruction from operands and modifiers, check it, append its bytes.
#[divan::bench]
fn encode_from_operands(bencher: Bencher<'_, '_>) {
    let parts: Vec<Parts> = corpus()
        .iter()
        .map(|i| {
            let mut blank = Instr::new(i.id());
            blank.set_operation(i.op_name()).unwrap();
            Parts {
                id: i.id(),
                blank,
                args: i.args().collect(),
                modifiers: (0..i.form().modifiers.len())
                    .filter(|&m| i.modifier_at(m) != i.form().modifiers[m].default)
                    .map(|m| (m, i.signed_modifier_at(m)))
                    .collect(),
                waits: i.waits(),
                completes: i.completion_tag().and(i.completes()),
            }
        })
        .collect();
    let mut out = Vec::with_capacity(16 * parts.len());
    bencher
        .counter(ItemsCount::new(parts.len()))
        .bench_local(|| {
            out.clear();
            for part in black_box(&parts) {
                let mut instr = part.blank;
                debug_assert_eq!(instr.id(), part.id);
                for (m, value) in &part.modifiers {
                    instr.set_modifier_at(*m, *value).unwrap();
                }
                for (a, arg) in part.args.iter().enumerate() {
                    instr.set_arg(a, *arg).unwrap();
                }
                if !part.waits.is_empty() {
                    instr.set_waits(part.waits).unwrap();
                }
                if let Some(slot) = part.completes {
                    instr.set_completion(slot).unwrap();
                }
                out.extend_from_slice(&instr.encode().unwrap());
            }
            out.len()
        });
}

/// Check instructions that are already built and append their bytes.
#[divan::bench]
fn encode_checked(bencher: Bencher<'_, '_>) {
    let corpus = corpus();
    let mut out = Vec::with_capacity(16 * corpus.len());
    bencher
        .counter(ItemsCount::new(corpus.len()))
        .bench_local(|| {
            out.clear();
            for instr in black_box(&corpus) {
                out.extend_from_slice(&instr.encode().unwrap());
            }
            out.len()
        });
}

/// Disassemble every instruction.
#[divan::bench]
fn print(bencher: Bencher<'_, '_>) {
    let corpus = corpus();
    bencher.counter(ItemsCount::new(corpus.len())).bench(|| {
        black_box(&corpus)
            .iter()
            .map(|i| i.to_string().len())
            .sum::<usize>()
    });
}

/// Assemble every instruction.
#[divan::bench]
fn assemble(bencher: Bencher<'_, '_>) {
    let text: Vec<String> = corpus().iter().map(Instr::to_string).collect();
    let text = text.join("\n");
    let lines = text.lines().count();
    bencher
        .counter(ItemsCount::new(lines))
        .bench(|| asm::assemble(black_box(&text)).unwrap().len());
}
