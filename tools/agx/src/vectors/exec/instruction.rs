// SPDX-License-Identifier: MIT
//! Single instructions: source values by operand, one lane for each.

use std::collections::BTreeMap;

use agx_isa::{File, Half, Instr, Mode, Role, Value, decode};
use agx_sim::rig::Rig;
use agx_sim::shader::{Exit, LANES};

use super::Exec;
use super::number::{self, Number, Tolerance};
use crate::vectors::load::packed_hex;

/// Bytes for the operations that vectors give without any.
const UNSTATED: &[(&str, &str)] = &[
    ("fmin", "0283268501c0"),
    ("exp2_f32", "af0256000200b0400000"),
    ("log2_f32", "2f0256000200b0400000"),
    ("rcp_f32", "af005600020010482000"),
    ("floor_f32", "2f0056000200b0400200"),
];

/// Inputs that repeat what the bytes say.
const STATED_TWICE: &[&str] = &["neg", "abs", "condition_code", "source_type", "operation"];

pub(super) fn check(vector: &Exec) -> Result<(), String> {
    let unstated = || UNSTATED.iter().find(|(op, _)| *op == vector.op);
    let hex = vector
        .hex
        .as_deref()
        .or_else(|| unstated().map(|(_, hex)| *hex));
    let hex = hex.ok_or_else(|| format!("no bytes for `{}`", vector.op))?;
    let bytes = packed_hex(hex).ok_or("`hex` is no byte string")?;
    let instr = decode(&bytes, Mode::Lenient).map_err(|e| e.to_string())?;
    let mut sources = Vec::new();
    for (key, value) in &vector.inputs {
        let operand = match key.as_str() {
            "src0" | "src0_words" | "a" | "lanes" => 0,
            "b" => 1,
            other if STATED_TWICE.contains(&other) => continue,
            other => return Err(format!("input `{other}` is not known")),
        };
        sources.push((register_source(&instr, operand)?, number::list(value)?));
    }
    let expected = vector.expected_list()?;
    let tolerance = Tolerance::read(&vector.tolerance)?;
    let mut program = bytes;
    program.extend([0x0e, 0, 0, 0]);
    for start in (0..expected.len()).step_by(LANES) {
        run_lanes(&program, &instr, &sources, &expected, start, tolerance)?;
    }
    match &vector.kernel_hex {
        None => Ok(()),
        Some(hex) => {
            let code = packed_hex(hex).ok_or("`kernel_hex` is no byte string")?;
            // The recorded frame loads from buffer 1 and stores to buffer 0.
            let inputs = BTreeMap::from([(1, vector.list("src0")?)]);
            let outputs = BTreeMap::from([(0, expected.clone())]);
            let threads = expected.len() as u32;
            super::kernel::run(code, threads, &inputs, &outputs, 32, tolerance)
                .map_err(|problem| format!("kernel: {problem}"))
        }
    }
}

/// The register of the n-th register source.
fn register_source(instr: &Instr, n: usize) -> Result<(u8, Half), String> {
    let operands = instr.form().operands.iter().enumerate();
    let mut registers = operands
        .filter(|(_, operand)| operand.role != Role::Def)
        .filter_map(|(index, _)| match instr.arg(index).value {
            Value::Reg(reg) if reg.file == File::Gpr => Some((reg.index as u8, reg.half)),
            _ => None,
        });
    registers
        .nth(n)
        .ok_or_else(|| format!("the instruction has no register source {n}"))
}

/// Runs the instruction for the elements from `start` on, as many as there are lanes.
fn run_lanes(
    program: &[u8],
    instr: &Instr,
    sources: &[((u8, Half), Vec<Number>)],
    expected: &[Number],
    start: usize,
    tolerance: Tolerance,
) -> Result<(), String> {
    let Value::Reg(dst) = instr.arg(0).value else {
        return Err("the instruction has no destination register".to_owned());
    };
    let rig = Rig::with(program.to_vec(), 1).map_err(|e| e.to_string())?;
    let result = rig.execute(
        |wave| {
            for ((reg, half), values) in sources {
                for lane in 0..LANES {
                    let Some(value) = values.get(start + lane) else {
                        break;
                    };
                    let word = &mut wave.gprs[usize::from(*reg)].0[lane];
                    *word = match half {
                        Half::High => *word & 0xffff | value.word() << 16,
                        Half::Low => *word & 0xffff_0000 | value.word(),
                        Half::Whole => value.word(),
                    };
                }
            }
        },
        |wave, exit| match exit {
            Exit::Stop => Ok(wave.gprs[usize::from(dst.index)]),
            Exit::Fault(fault) => Err(fault.to_string()),
            other => Err(format!("the instruction ended with {other:?}")),
        },
    );
    let result = result.map_err(|e| e.to_string())??;
    for (lane, value) in expected[start..].iter().take(LANES).enumerate() {
        let (bits, word) = match dst.half {
            Half::Whole => (32, result.0[lane]),
            Half::Low => (16, result.0[lane] & 0xffff),
            Half::High => (16, result.0[lane] >> 16),
        };
        if !number::agrees(word.into(), bits, *value, tolerance) {
            return Err(format!(
                "element {}: {word:#x}, expected {value:x?}",
                start + lane
            ));
        }
    }
    Ok(())
}
