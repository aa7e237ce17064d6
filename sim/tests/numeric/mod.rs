// SPDX-License-Identifier: MIT
//! Measured vectors of single instructions and small programs, exact models of fp16, and a check that
//! any instruction of a form executes.

// Each test binary uses its own part of this.
#![allow(dead_code, unreachable_pub)]

use agx_isa::{Arg, Decoder, File, FormId, Half, Instr, Mode, Reg, Value as Operand, decode};
use agx_sim::shader::{Exit, Lanes};
use serde_json::Value;

use super::support::{Rig, stopped};

#[path = "../../../hw/isa/tests/support/random.rs"]
mod random;
use random::Rng;

const STOP: [u8; 4] = [0x0e, 0, 0, 0];

/// Registers of a SIMD group.
pub type Registers = Box<[Lanes; 96]>;

/// All registers zero.
pub fn registers() -> Registers {
    Box::new([Lanes::ZERO; 96])
}

/// The records of these families.
pub fn records(families: &[&str]) -> Vec<Value> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../hw/isa/vectors/exec.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
    let parse = |line: &str| serde_json::from_str::<Value>(line).unwrap();
    text.lines()
        .map(parse)
        .filter(|r| families.contains(&r["family"].as_str().unwrap()))
        .collect()
}

/// A number of a record.
pub fn word(value: &Value) -> u32 {
    match value {
        Value::String(text) => u32::from_str_radix(text.strip_prefix("0x").unwrap(), 16).unwrap(),
        Value::Bool(value) => u32::from(*value),
        Value::Number(number) => number.as_i64().unwrap() as u32,
        other => panic!("{other}"),
    }
}

/// A list of numbers; empty when there is none.
pub fn words(value: &Value) -> Vec<u32> {
    value.as_array().into_iter().flatten().map(word).collect()
}

/// Machine code in hexadecimal.
pub fn bytes(hex: &str) -> Vec<u8> {
    let byte = |i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap();
    (0..hex.len()).step_by(2).map(byte).collect()
}

/// Machine code of assembly text.
pub fn code(text: &str) -> Vec<u8> {
    agx_isa::asm::assemble(text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// Executes straight-line code in all lanes.
pub fn execute(code: &[u8], registers: &mut Registers) {
    let code = [code, &STOP].concat();
    let before = **registers;
    **registers = Rig::bytes(code).run(
        |wave| wave.gprs = before,
        |wave, exit| {
            stopped(exit);
            wave.gprs
        },
    );
}

fn register(arg: Arg) -> Reg {
    match arg.value {
        Operand::Reg(reg) => reg,
        other => panic!("{other:?} is no register"),
    }
}

/// Writes the part of a register that an operand names.
pub fn store(registers: &mut Registers, reg: Reg, lane: usize, value: u32) {
    let word = &mut registers[usize::from(reg.index)].0[lane];
    *word = match reg.half {
        Half::Whole => value,
        Half::Low => *word & 0xffff_0000 | value & 0xffff,
        Half::High => *word & 0xffff | value << 16,
    };
}

/// Reads the part of a register that an operand names.
pub fn load(registers: &Registers, reg: Reg, lane: usize) -> u32 {
    let word = registers[usize::from(reg.index)].0[lane];
    match reg.half {
        Half::Whole => word,
        Half::Low => word & 0xffff,
        Half::High => word >> 16,
    }
}

/// One instruction: what its destination holds for these values of its sources, in their order.
pub fn instruction(code: &[u8], sources: &[Vec<u32>]) -> Vec<u32> {
    let instr = decode(code, Mode::Lenient).unwrap();
    let count = sources[0].len();
    let mut results = Vec::new();
    for start in (0..count).step_by(32) {
        let lanes = 32.min(count - start);
        let mut registers = registers();
        for (i, source) in sources.iter().enumerate() {
            let reg = register(instr.arg(i + 1));
            for lane in 0..lanes {
                store(&mut registers, reg, lane, source[start + lane]);
            }
        }
        execute(code, &mut registers);
        let reg = register(instr.arg(0));
        results.extend((0..lanes).map(|lane| load(&registers, reg, lane)));
    }
    results
}

/// The same for a line of assembly.
pub fn line(text: &str, sources: &[Vec<u32>]) -> Vec<u32> {
    instruction(&code(text), sources)
}

/// A one-source instruction for many whole source registers at once: `D` and `S` stand for the
/// registers in its text. Answers the part of the destination that it names.
pub fn sweep(text: &str, source: &[u32]) -> Vec<u32> {
    const GROUPS: usize = 48;
    let place = |text: &str, i: usize| {
        let destination = text.replace('D', &format!("r{}", i + GROUPS));
        destination.replace('S', &format!("r{i}"))
    };
    let lines: Vec<String> = (0..GROUPS).map(|i| place(text, i)).collect();
    let code = code(&lines.join("\n"));
    let first = decode(&code, Mode::Lenient).unwrap();
    let half = register(first.arg(0)).half;
    let mut results = Vec::new();
    for block in source.chunks(32 * GROUPS) {
        let mut registers = registers();
        for (i, &value) in block.iter().enumerate() {
            registers[i / 32].0[i % 32] = value;
        }
        execute(&code, &mut registers);
        results.extend((0..block.len()).map(|i| {
            let reg = Reg {
                half,
                ..Reg::new(File::Gpr, (GROUPS + i / 32) as u16)
            };
            load(&registers, reg, i % 32)
        }));
    }
    results
}

/// Units in the last place between two fp32 of any signs.
fn distance(a: u32, b: u32) -> u64 {
    let key = |bits: u32| {
        let magnitude = i64::from(bits & 0x7fff_ffff);
        if bits >> 31 == 1 {
            -magnitude
        } else {
            magnitude
        }
    };
    key(a).abs_diff(key(b))
}

/// Does a result agree with a record?
pub fn agrees(actual: u32, expected: &Value, tolerance: &Value) -> bool {
    let tolerance = tolerance.as_str().unwrap();
    if matches!(expected.as_str(), Some("nan" | "any NaN")) {
        return f32::from_bits(actual).is_nan();
    }
    let expected = word(expected);
    let units: u64 = match tolerance.strip_suffix(" ulp") {
        Some(number) => number.parse().unwrap(),
        None => {
            assert!(tolerance.starts_with("exact"), "{tolerance}");
            0
        }
    };
    // Zeros, infinities and NaN must be met exactly.
    let ordinary = f32::from_bits(expected).is_normal();
    actual == expected || ordinary && distance(actual, expected) <= units
}

/// Compares results with the record's.
pub fn compare(record: &Value, actual: &[u32]) {
    let expected = record["expected"].as_array().unwrap();
    assert_eq!(actual.len(), expected.len(), "{}", record["id"]);
    for (i, (&actual, expected)) in actual.iter().zip(expected).enumerate() {
        assert!(
            agrees(actual, expected, &record["tolerance"]),
            "{} element {i}: {actual:#010x} instead of {expected}",
            record["id"]
        );
    }
}

/// Runs the whole program of a record. Its loads and stores, which move element i between a buffer
/// and the registers of thread i, and the moves between them are done here.
pub fn kernel(record: &Value) {
    let id = &record["id"];
    let inputs = &record["inputs"];
    let threads = inputs["threads"].as_u64().unwrap() as usize;
    assert!(threads <= 32, "{id}");
    let mut registers = registers();
    let mut stored = 0;
    let buffer = |instr: &Instr| format!("buffer{}", register(instr.arg(1)).index);
    let tuple = |element: &Value| match element {
        Value::Array(list) => list.clone(),
        one => vec![one.clone()],
    };
    let code = bytes(record["hex"].as_str().unwrap());
    for item in Decoder::new(&code, Mode::Lenient) {
        let (_, instr) = item.unwrap();
        let first = instr.form().operands.first().map(|_| instr.arg(0));
        match instr.id() {
            FormId::GetSr32 | FormId::Zext16 => {
                let index = usize::from(register(first.unwrap()).index);
                let zext = instr.id() == FormId::Zext16;
                let old = registers[index];
                registers[index] = Lanes::from_fn(|lane| {
                    if zext {
                        old.0[lane] & 0xffff
                    } else {
                        lane as u32
                    }
                });
            }
            FormId::DevLoad => {
                let reg = register(first.unwrap());
                let elements = inputs[buffer(&instr)].as_array().unwrap();
                for (lane, element) in elements.iter().enumerate() {
                    for (i, value) in (0..).zip(tuple(element)) {
                        let reg = Reg {
                            index: reg.index + i,
                            ..reg
                        };
                        store(&mut registers, reg, lane, word(&value));
                    }
                }
            }
            FormId::DevStore => {
                let reg = register(first.unwrap());
                let elements = record["expected"][buffer(&instr)].as_array().unwrap();
                assert_eq!(elements.len(), threads, "{id}");
                for (lane, element) in elements.iter().enumerate() {
                    for (i, value) in (0..).zip(tuple(element)) {
                        let actual = registers[usize::from(reg.index + i)].0[lane];
                        assert!(
                            agrees(actual, &value, &record["tolerance"]),
                            "{id} thread {lane}: {actual:#010x} instead of {value}"
                        );
                        stored += 1;
                    }
                }
            }
            FormId::Stop => break,
            _ => execute(&instr.encode().unwrap(), &mut registers),
        }
    }
    assert!(stored >= threads, "{id}");
}

/// The nearest fp16 to `magnitude` * 2^-60, ties to even.
pub fn round_half(negative: bool, magnitude: u128) -> u32 {
    let sign = u32::from(negative) << 15;
    // The unit of the result: at least 2^-24, else 11 significant bits.
    let top = 127 - (magnitude | 1).leading_zeros();
    let unit = top.saturating_sub(10).max(60 - 24);
    let (mut count, rest) = (magnitude >> unit, magnitude & ((1 << unit) - 1));
    let half = 1u128 << (unit - 1);
    if rest > half || rest == half && count & 1 == 1 {
        count += 1;
    }
    // Value = count * 2^(unit - 60). Pattern: exponents count from a unit of 2^-24 upwards, and a
    // count of 1024 or more brings its leading bit along.
    let exponent = u128::from(unit - (60 - 24));
    let pattern = (exponent << 10) + count;
    sign | pattern.min(0x7c00) as u32
}

/// An fp16 as sign and magnitude in units of 2^-24; `None` for infinities and NaN.
pub fn half_parts(half: u32) -> Option<(bool, u128)> {
    let (exponent, fraction) = (half >> 10 & 31, u128::from(half & 0x3ff));
    let magnitude = match exponent {
        31 => return None,
        0 => fraction,
        _ => (fraction | 0x400) << (exponent - 1),
    };
    Some((half >> 15 & 1 == 1, magnitude))
}

/// An fp16 as fp64, written differently from the simulator.
pub fn half_value(half: u32) -> f64 {
    match half_parts(half) {
        Some((negative, magnitude)) => {
            let value = magnitude as f64 / f64::from(1 << 24);
            if negative { -value } else { value }
        }
        None if half & 0x3ff != 0 => f64::NAN,
        None if half >> 15 & 1 == 1 => f64::NEG_INFINITY,
        None => f64::INFINITY,
    }
}

/// fp64 to the nearest fp16.
pub fn half_from(value: f64) -> u32 {
    if value.is_nan() {
        return 0x7e00;
    }
    let negative = value.is_sign_negative();
    let scaled = value.abs() * 2f64.powi(60);
    if scaled >= 2f64.powi(78) {
        return u32::from(negative) << 15 | 0x7c00;
    }
    // A lost fraction is far below what rounds; it only breaks ties.
    let sticky = u128::from(scaled.fract() != 0.0);
    round_half(negative, scaled as u128 | sticky)
}

/// A word that is often special in some format.
fn operand(random: &mut Rng) -> u32 {
    const SPECIAL: [u32; 16] = [
        0,
        0x8000_0000,
        0x3f80_0000,
        0xbf80_0000,
        0x7f80_0000,
        0xff80_0000,
        0x7fc0_0001,
        0x7f80_0001,
        0x0000_0001,
        0x807f_ffff,
        0x0080_0000,
        0x7c00_fc00,
        0x3c00_8000,
        0x7e01_03ff,
        0xffff_ffff,
        0x7fff_ffff,
    ];
    match random.below(4) {
        0 => SPECIAL[random.below(16) as usize],
        1 => ((random.next() as i32 as f32) * 2f32.powi(-30)).to_bits(),
        _ => random.next() as u32,
    }
}

/// Draws instructions of these forms at random, executes them under random masks, and checks that
/// nothing changes but the destination in active lanes. Answers how many had a meaning.
pub fn executes_anything(forms: &[FormId], rounds: u32) -> u32 {
    let mut random = Rng::new(0);
    let mut executed = 0;
    for round in 0..rounds {
        let form = forms[round as usize % forms.len()].form();
        let noise = u128::from(random.next()) << 64 | u128::from(random.next());
        // Sparse noise meets more legal combinations.
        let noise = if round % 3 == 0 {
            noise
        } else {
            noise & noise >> 59 & noise >> 31
        };
        let width = 8 * u32::from(form.len);
        let bits = (form.value | noise & !form.mask) & (u128::MAX >> (128 - width));
        let bytes = &bits.to_le_bytes()[..usize::from(form.len)];
        let Ok(instr) = decode(bytes, Mode::Lenient) else {
            continue;
        };
        let mut rig = Rig::bytes([bytes, &STOP].concat());
        rig.active = match round % 4 {
            0 => 0,
            1 => !0,
            _ => random.next() as u32,
        };
        for index in 0..=255 {
            rig.uniforms.set(index, operand(&mut random));
        }
        let mut before = registers();
        for reg in before.iter_mut() {
            *reg = Lanes::from_fn(|_| operand(&mut random));
        }
        let written: Vec<(usize, u32)> = destinations(&instr);
        let predicates = [random.next() as u32; 6];
        rig.run(
            |wave| {
                wave.gprs = *before;
                wave.predicates = predicates;
            },
            |wave, exit| {
                match exit {
                    Exit::Stop => executed += 1,
                    Exit::Fault(_) => {}
                    other => panic!("{instr}: {other:?}"),
                }
                for (index, (old, new)) in before.iter().zip(&wave.gprs).enumerate() {
                    let mask = written.iter().find(|(reg, _)| *reg == index);
                    let mask = mask.map_or(0, |(_, mask)| *mask);
                    for lane in 0..32 {
                        let active = rig.active >> lane & 1 == 1;
                        let may = if active { mask } else { 0 };
                        let changed = old.0[lane] ^ new.0[lane];
                        assert_eq!(changed & !may, 0, "{instr}: r{index} lane {lane}");
                    }
                }
                for (old, new) in predicates.iter().zip(&wave.predicates) {
                    assert_eq!((old ^ new) & !rig.active, 0, "{instr}");
                }
            },
        );
    }
    executed
}

/// Registers that an instruction may write, with the bits.
fn destinations(instr: &Instr) -> Vec<(usize, u32)> {
    let Operand::Reg(reg) = instr.arg(0).value else {
        return Vec::new();
    };
    if reg.file != File::Gpr {
        return Vec::new();
    }
    let index = usize::from(reg.index);
    let half = match reg.half {
        Half::Whole => !0,
        Half::Low => 0xffff,
        Half::High => 0xffff_0000,
    };
    let narrow = instr.id() == FormId::Select8 && instr.modifier("wide") == Some(0);
    let mask = if narrow { 0xffff } else { half };
    let mut list = vec![(index, mask)];
    if instr.id() == FormId::UnpackN {
        list.push((index + 1, !0));
    }
    list
}
