// SPDX-License-Identifier: MIT
//! Machine code from the reference and from the measured vectors, run by the shader core.
//!
//! Loads, stores, compares and selects belong to other families of instructions than those under
//! test here; the rig does them itself, in its own simple way, so that what fails is what is tested.

// Each test binary uses its own part of this.
#![allow(dead_code, unreachable_pub)]

use std::sync::Arc;

use agx_isa::{File, FormId, Instr, Mode, Value, decode};
use agx_sim::memory::{Bo, Mappings, Region};
use agx_sim::shader::{Exit, Lanes, NoObserver, Program, Stage, Wave};
use proptest::prelude::*;

use crate::support::{CODE, Rig, stopped};

/// Bytes of a hexadecimal text.
pub fn bytes(hex: &str) -> Vec<u8> {
    Rig::hex(hex).code.clone()
}

/// The program that these bytes hold, at [`CODE`].
pub fn program(code: &[u8]) -> Program {
    let bo = Bo::new(code.len().max(1) as u64).unwrap();
    // SAFETY: the object is at least as long, and nobody else knows of it yet.
    unsafe { std::ptr::copy_nonoverlapping(code.as_ptr(), bo.base(), code.len()) };
    let region = Region {
        start: CODE,
        end: CODE + bo.size(),
        bo: Arc::new(bo),
        offset: 0,
        single_page: false,
        read: true,
        write: false,
    };
    Program::build(&Mappings::new(vec![region]), CODE)
}

/// A value for register or uniform `index` of lane `lane`: arbitrary, sometimes small, sometimes at
/// an edge.
pub fn filling(index: u32, lane: u32) -> u32 {
    let mut x = (index << 8 | lane)
        .wrapping_add(1)
        .wrapping_mul(0x9e37_79b9);
    for _ in 0..3 {
        x ^= x >> 15;
        x = x.wrapping_mul(0x85eb_ca6b);
    }
    match x % 7 {
        0 => (x >> 8) % 70,
        1 => [
            0,
            1,
            0x7fff_ffff,
            0x8000_0000,
            0xffff_ffff,
            0xffff,
            0x1_0000,
            0x1_0004,
        ][(x >> 8) as usize % 8],
        _ => x.rotate_left(11),
    }
}

/// What one lane of an example sees.
pub struct Lane {
    number: u32,
}

impl Lane {
    /// A register's value before.
    pub fn r(&self, index: u32) -> u32 {
        filling(index, self.number)
    }

    /// A pair's.
    pub fn rr(&self, index: u32) -> u64 {
        u64::from(self.r(index)) | u64::from(self.r(index + 1)) << 32
    }

    /// A uniform word's.
    pub fn u(&self, index: u32) -> u32 {
        filling(1000 + index, 0)
    }
}

/// Runs machine code with every register filled, under several masks. `expected` names the
/// registers that change and their values; all others, and all of inactive lanes, must stay.
pub fn example(hex: &str, expected: impl Fn(&Lane) -> Vec<(u32, u32)>) {
    for active in [!0, 0x0000_ffff, 0xa5a5_0f01, 0x8000_0000, 0] {
        let mut rig = Rig::hex(&format!("{hex} 0e 00 00 00"));
        rig.active = active;
        for word in 0..=255u8 {
            rig.uniforms.set(word, filling(1000 + u32::from(word), 0));
        }
        rig.run(
            |wave| {
                for (index, reg) in wave.gprs.iter_mut().enumerate() {
                    *reg = Lanes::from_fn(|lane| filling(index as u32, lane as u32));
                }
            },
            |wave, exit| {
                stopped(exit);
                for lane in 0..32u32 {
                    let mut want: Vec<u32> = (0..96).map(|r| filling(r, lane)).collect();
                    if active >> lane & 1 == 1 {
                        for (reg, value) in expected(&Lane { number: lane }) {
                            want[reg as usize] = value;
                        }
                    }
                    for (reg, want) in want.into_iter().enumerate() {
                        let got = wave.gprs[reg].0[lane as usize];
                        assert_eq!(got, want, "{hex}: r{reg} in lane {lane}, got {got:#x}");
                    }
                }
            },
        );
    }
}

/// Any instruction of these forms that the decoder lets pass, as bytes.
pub fn any_of(forms: &'static [FormId]) -> impl Strategy<Value = Vec<u8>> {
    let form = proptest::sample::select(forms);
    (form, any::<u128>()).prop_filter_map("decodes", |(id, bits)| {
        let form = id.form();
        let bits = bits & !form.mask | form.value;
        let bytes = bits.to_le_bytes()[..usize::from(form.len)].to_vec();
        let instr = decode(&bytes, Mode::Lenient).ok()?;
        (instr.id() == id).then_some(bytes)
    })
}

/// Runs an instruction twice with all registers filled: it may fault, but must not panic, and must
/// leave the registers of inactive lanes alone.
pub fn survives(code: &[u8], active: u32, stage: Stage, strict: bool) {
    let mut rig = Rig::bytes([code, code, &[0x0e, 0, 0, 0]].concat());
    (rig.active, rig.stage, rig.strict, rig.watchdog) = (active, stage, strict, 100);
    let fill = |index: usize| Lanes::from_fn(|lane| filling(index as u32, lane as u32));
    rig.run(
        |wave| {
            wave.gprs = std::array::from_fn(fill);
            wave.predicates = std::array::from_fn(|bank| filling(bank as u32, 77));
        },
        |wave, exit| {
            assert!(matches!(exit, Exit::Stop | Exit::Fault(_)), "{exit:?}");
            for (index, reg) in wave.gprs.iter().enumerate() {
                for lane in (0..32).filter(|lane| active >> lane & 1 == 0) {
                    assert_eq!(reg.0[lane], filling(index as u32, lane as u32));
                }
            }
        },
    );
}

/// The reason of the fault that running `rig` ends with.
pub fn fault(rig: &Rig) -> String {
    rig.run(
        |_| {},
        |_, exit| match exit {
            Exit::Fault(fault) => fault.kind.to_string(),
            exit => panic!("{exit:?}"),
        },
    )
}

/// The measured executions of these families.
pub fn records(families: &[&str]) -> Vec<serde_json::Value> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../hw/isa/vectors/exec.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
    let all = text
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let found: Vec<_> = all
        .filter(|record| families.iter().any(|family| record["family"] == *family))
        .collect();
    assert!(!found.is_empty());
    found
}

/// A number of a record.
pub fn number(value: &serde_json::Value) -> u64 {
    match value.as_str() {
        Some(text) => u64::from_str_radix(text.strip_prefix("0x").unwrap(), 16).unwrap(),
        None => value.as_u64().unwrap(),
    }
}

/// A list of numbers of a record.
pub fn numbers(value: &serde_json::Value) -> Vec<u64> {
    value.as_array().unwrap().iter().map(number).collect()
}

/// A buffer's bytes: elements have the size that their digits show.
fn content(value: &serde_json::Value) -> Vec<u8> {
    match value {
        serde_json::Value::Array(elements) => elements.iter().flat_map(content).collect(),
        element => {
            let digits = element.as_str().unwrap().len() - 2;
            number(element).to_le_bytes()[..digits.div_ceil(2)].to_vec()
        }
    }
}

/// Buffers by number, 4 KiB each.
pub type Buffers = Vec<Vec<u8>>;

/// Runs a record that is a whole program and checks its buffers.
pub fn kernel(record: &serde_json::Value) {
    let id = record["id"].as_str().unwrap();
    let code = bytes(record["hex"].as_str().unwrap());
    let threads = record["inputs"]["threads"].as_u64().unwrap() as u32;
    let mut buffers = buffers();
    for (number, buffer) in buffers.iter_mut().enumerate() {
        let input = &record["inputs"][format!("buffer{number}")];
        if input.is_array() {
            let data = content(input);
            buffer[..data.len()].copy_from_slice(&data);
        }
    }
    let mut rig = Rig::bytes(code);
    rig.local = [threads, 1, 1];
    rig.active = u32::MAX >> (32 - threads);
    run(&rig, &mut buffers, |_| {}, |_| {});
    let expected = record["expected"].as_object().unwrap();
    assert!(!expected.is_empty());
    for (name, value) in expected {
        let number: usize = name.strip_prefix("buffer").unwrap().parse().unwrap();
        let data = content(value);
        assert_eq!(buffers[number][..data.len()], data, "{id}: {name}");
    }
}

/// Runs the rig's program like [`kernel`] does; `before` sets registers up, `after` looks at them.
pub fn run<R>(
    rig: &Rig,
    buffers: &mut Buffers,
    before: impl FnOnce(&mut Wave<'_>),
    after: impl FnOnce(&Wave<'_>) -> R,
) -> R {
    let program = program(&rig.code);
    rig.run(
        |wave| {
            before(wave);
            drive(wave, &program, buffers);
        },
        |wave, exit| {
            stopped(exit);
            after(wave)
        },
    )
}

/// Buffers full of zeros.
pub fn buffers() -> Buffers {
    vec![vec![0; 4096]; 8]
}

/// Executes up to the STOP, but not it.
pub fn drive(wave: &mut Wave<'_>, program: &Program, buffers: &mut Buffers) {
    for _ in 0..1_000_000 {
        let instr = program.info()[wave.pc as usize].instr;
        match instr {
            Some(instr) if instr.id() == FormId::Stop => return,
            Some(instr) if elsewhere(&instr, wave, buffers) => wave.pc += 1,
            _ => match wave.run(program, 1, &mut NoObserver) {
                Exit::Yield => {}
                exit => panic!("{exit:?}"),
            },
        }
    }
    panic!("the program does not end");
}

/// An integer operand in one lane.
fn operand(instr: &Instr, index: usize, wave: &Wave<'_>, lane: usize) -> u32 {
    match instr.arg(index).value {
        Value::Int(value) => value as u32,
        Value::Reg(reg) if reg.file == File::Gpr => wave.gprs[usize::from(reg.index)].0[lane],
        Value::Reg(reg) => wave.uniform(reg.index as u8),
        other => panic!("{other:?}"),
    }
}

/// Integer conditions, by the text of the instruction.
fn holds(text: &str, a: u32, b: u32) -> bool {
    let conditions: [(&str, bool); 6] = [
        (".ult", a < b),
        (".ugt", a > b),
        (".ilt", (a as i32) < b as i32),
        (".igt", a as i32 > b as i32),
        (".ieq", a == b),
        (".ige", a as i32 >= b as i32),
    ];
    let found = conditions.iter().find(|(name, _)| text.contains(name));
    found.unwrap_or_else(|| panic!("{text}")).1
}

/// Does what belongs to other families; answers whether it did.
fn elsewhere(instr: &Instr, wave: &mut Wave<'_>, buffers: &mut Buffers) -> bool {
    let text = || instr.to_string();
    let active = wave.active();
    let lanes = (0..32usize).filter(|lane| active >> lane & 1 == 1);
    match instr.id() {
        FormId::Pred6 | FormId::PredI6 | FormId::Pred10 | FormId::PredI10 => {
            let text = text();
            let inverted = instr.modifier("inv") == Some(1);
            for lane in lanes {
                let [a, b] = [1, 2].map(|index| operand(instr, index, wave, lane));
                let bank = &mut wave.predicates[instr.raw(0) as usize];
                let bit = u32::from(holds(&text, a, b) != inverted);
                *bank = *bank & !(1 << lane) | bit << lane;
            }
        }
        FormId::SelectI10 => {
            let text = text();
            for lane in lanes {
                let [a, b, t, f] = [1, 2, 3, 4].map(|index| operand(instr, index, wave, lane));
                let chosen = if holds(&text, a, b) { t } else { f };
                wave.gprs[instr.raw(0) as usize].0[lane] = chosen;
            }
        }
        FormId::DevLoad | FormId::DevStore => {
            let format = instr.device_format().unwrap();
            let size = usize::from(format.element_bytes);
            let shift = [4, 0, 1, 2, 3][instr.modifier("scale").unwrap() as usize];
            assert_eq!(instr.modifier("offset"), Some(0), "{}", text());
            let buffer = &mut buffers[instr.raw(1) as usize];
            for lane in lanes {
                let start = (operand(instr, 2, wave, lane) as usize) << shift;
                for component in 0..usize::from(format.components) {
                    let memory = &mut buffer[start + component * size..][..size];
                    let reg = &mut wave.gprs[instr.raw(0) as usize + component].0[lane];
                    let mut word = reg.to_le_bytes();
                    if instr.id() == FormId::DevLoad {
                        word[..size].copy_from_slice(memory);
                        *reg = u32::from_le_bytes(word);
                    } else {
                        memory.copy_from_slice(&word[..size]);
                    }
                }
            }
        }
        _ => return false,
    }
    true
}
