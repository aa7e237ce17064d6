// SPDX-License-Identifier: MIT
//! Measured programs of `hw/isa/vectors/exec.jsonl`, executed piece by piece.
//!
//! The instructions around the ones under test (system registers, extensions, shifts) are worked out
//! here by hand, so that a failure points at the family under test.

// Each test binary uses its own part of this.
#![allow(dead_code, unreachable_pub)]

use std::sync::Arc;

use agx_isa::{FormId, Instr, Mode, Value as Operand, decode};
use agx_sim::memory::Bo;
use agx_sim::shader::Lanes;
use serde_json::Value;

use super::support::{DATA, Rig, stopped};

/// The records of a family.
pub fn records(family: &str) -> Vec<Value> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../hw/isa/vectors/exec.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
    let records: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|record| record["family"] == family)
        .collect();
    assert!(!records.is_empty(), "no records of {family}");
    records
}

/// A `0x...` string or a plain number.
pub fn number(value: &Value) -> u32 {
    match value {
        Value::String(text) => u32::from_str_radix(text.strip_prefix("0x").unwrap(), 16).unwrap(),
        other => other.as_u64().unwrap() as u32,
    }
}

/// A list of them, lists inside flattened.
pub fn numbers(value: &Value) -> Vec<u32> {
    match value {
        Value::Array(list) => list.iter().flat_map(numbers).collect(),
        other => vec![number(other)],
    }
}

/// Hexadecimal digits as bytes.
pub fn bytes(text: &str) -> Vec<u8> {
    let byte = |at| u8::from_str_radix(&text[at..at + 2], 16).unwrap();
    (0..text.len()).step_by(2).map(byte).collect()
}

/// Bytes of a buffer: 8-bit elements are packed, all others stand in 32-bit elements.
fn buffer(value: &Value) -> Vec<u8> {
    let narrow = matches!(value[0].as_str(), Some(text) if text.len() == 4);
    let words = numbers(value);
    if narrow {
        words.iter().map(|&word| word as u8).collect()
    } else {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }
}

/// The buffers of `inputs` or `expected` with their numbers.
fn buffers(value: &Value) -> Vec<(usize, Vec<u8>)> {
    let fields = value.as_object().unwrap().iter();
    fields
        .filter_map(|(name, value)| {
            let number = name.strip_prefix("buffer")?.parse().unwrap();
            Some((number, buffer(value)))
        })
        .collect()
}

/// Bytes between two buffers.
const PITCH: usize = 0x400;

fn gpr(instr: &Instr, index: usize) -> usize {
    match instr.arg(index).value {
        Operand::Reg(reg) => usize::from(reg.index),
        other => panic!("{other:?} in {instr}"),
    }
}

fn constant(instr: &Instr, index: usize) -> u32 {
    match instr.arg(index).value {
        Operand::Int(value) => value as u32,
        other => panic!("{other:?} in {instr}"),
    }
}

/// A lane's result from its number and all registers.
type LaneValue = dyn Fn(usize, &[Lanes; 96]) -> u32;

/// Works out an instruction that is not under test; `false` when it is one that is.
fn by_hand(instr: &Instr, gprs: &mut [Lanes; 96]) -> bool {
    let value: Box<LaneValue> = match instr.id() {
        // Thread in grid and in workgroup: with one group of one SIMD group, the lane.
        FormId::GetSr32 | FormId::GetSr16 => Box::new(|lane, _| lane as u32),
        FormId::Zext16 => {
            let r = gpr(instr, 0);
            Box::new(move |lane, gprs| gprs[r].0[lane] & 0xffff)
        }
        FormId::IAddIA => {
            let (a, b) = (constant(instr, 1), gpr(instr, 2));
            Box::new(move |lane, gprs| a.wrapping_add(gprs[b].0[lane]))
        }
        FormId::LsI => {
            assert_eq!(instr.op_name(), "shl");
            let (a, by) = (gpr(instr, 1), constant(instr, 2));
            Box::new(move |lane, gprs| gprs[a].0[lane] << by)
        }
        FormId::AsrI => {
            let (a, by) = (gpr(instr, 1), constant(instr, 2));
            Box::new(move |lane, gprs| (gprs[a].0[lane] as i32 >> by) as u32)
        }
        _ => return false,
    };
    let old = *gprs;
    let dst = gpr(instr, 0);
    gprs[dst] = Lanes::from_fn(|lane| value(lane, &old));
    true
}

/// Runs a record of form `kernel` and compares every expected buffer.
pub fn run_kernel(record: &Value, strict: bool) {
    let id = record["id"].as_str().unwrap();
    let code = bytes(record["hex"].as_str().unwrap());
    let inputs = buffers(&record["inputs"]);
    let expected = buffers(&record["expected"]);
    assert!(!expected.is_empty(), "{id}");
    let count = 1 + inputs
        .iter()
        .chain(&expected)
        .map(|(n, _)| *n)
        .max()
        .unwrap();
    let threads = record["inputs"]["threads"].as_u64().unwrap();
    let data = Arc::new(Bo::new((count * PITCH) as u64).unwrap());
    for (n, content) in &inputs {
        assert!(content.len() <= PITCH);
        // SAFETY: inside the object, and nothing runs.
        unsafe {
            let target = data.base().add(n * PITCH);
            std::ptr::copy_nonoverlapping(content.as_ptr(), target, content.len());
        }
    }
    let mut gprs = [Lanes::ZERO; 96];
    let mut at = 0;
    let mut under_test = 0;
    while at < code.len() {
        // As many instructions in a row as are under test.
        let start = at;
        let mut next = None;
        while at < code.len() {
            let instr = decode(&code[at..], Mode::Lenient).unwrap();
            if by_hand(&instr, &mut gprs.clone()) {
                next = Some(instr);
                break;
            }
            at += usize::from(instr.form().len);
            under_test += 1;
        }
        if at > start {
            let mut piece = code[start..at].to_vec();
            piece.extend([0x0e, 0, 0, 0]);
            let mut rig = Rig::bytes(piece);
            rig.data = Arc::clone(&data);
            rig.active = (!0u64 >> (64 - threads)) as u32;
            rig.threadgroup_bytes = 1024;
            rig.strict = strict;
            for n in 0..count {
                rig.pointer(n as u8, DATA + (n * PITCH) as u64);
            }
            rig.pointer(count as u8, 0x8000_0000);
            gprs = rig.run(
                |wave| wave.gprs = gprs,
                |wave, exit| {
                    stopped(exit);
                    wave.gprs
                },
            );
        }
        if let Some(instr) = next {
            by_hand(&instr, &mut gprs);
            at += usize::from(instr.form().len);
        }
    }
    assert!(under_test > 0, "{id}");
    for (n, content) in &expected {
        // SAFETY: inside the object, and nothing runs.
        let found =
            unsafe { std::slice::from_raw_parts(data.base().add(n * PITCH), content.len()) };
        assert_eq!(found, &content[..], "{id}, buffer {n}");
    }
}
