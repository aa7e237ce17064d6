// SPDX-License-Identifier: MIT
//! Runs emitted code on the simulated machine under its strict checks, and under a stricter one of our own.

use agx_isa::{AccessKind, File, Mode, decode};
use agx_sim::fault::FaultKind;
use agx_sim::rig::{DATA, Rig};
use agx_sim::shader::strict::{Options, Strict};
use agx_sim::shader::{Exit, Lanes, Observer, Program, Wave};

use super::model::{LANES, Model};
use crate::emit::{Code, run};
use crate::ir::Function;

pub(super) const MEMORY: usize = 1 << 16;
/// Pairs 1, 2 and 3 point to pieces of memory, 4 is the threadgroup root.
pub(super) const PIECE: u64 = 0x4000;
pub(super) const ROOT: u8 = 4;
pub(super) const SHARED_WORDS: usize = 1024;
pub(super) const SCRATCH_WORDS: usize = 256;

/// A release or destruction is taken to hit every lane, whatever the mask: what the reference does not rule out.
struct Harsh {
    /// Lanes in which each register is lost, and since which instruction.
    lost: [(u32, usize); 96],
}

impl Observer for Harsh {
    fn before(
        &mut self,
        wave: &Wave<'_>,
        program: &Program,
        index: usize,
    ) -> Result<(), FaultKind> {
        let Some(instr) = program.info()[index].instr else {
            return Ok(());
        };
        let regs = |access: &agx_isa::Access| {
            let first = usize::from(access.reg.index);
            first..first + usize::from(access.count)
        };
        // The wait idiom may name a lost register.
        let copies_itself = instr.id() == agx_isa::FormId::Logic
            && instr.arg(0).value == instr.arg(1).value
            && instr.arg(1).value == instr.arg(2).value;
        let gprs = || instr.accesses().filter(|a| a.reg.file == File::Gpr);
        for access in gprs().filter(|a| a.kind == AccessKind::Read && !copies_itself) {
            for reg in regs(&access) {
                let (lanes, at) = self.lost[reg];
                if lanes & wave.active() != 0 {
                    let by = program.describe(at).1;
                    let message = format!("reads r{reg}, which `{by}` lost for all lanes");
                    return Err(FaultKind::Strict(message));
                }
            }
        }
        for access in gprs().filter(|a| a.kill) {
            for reg in regs(&access) {
                self.lost[reg] = (!0, index);
            }
        }
        for access in gprs().filter(|a| a.kind != AccessKind::Read) {
            for reg in regs(&access) {
                self.lost[reg].0 &= !wave.active();
            }
        }
        Ok(())
    }
}

/// What a run left.
pub(super) struct Outcome {
    pub(super) regs: Vec<[u32; LANES]>,
    pub(super) memory: Vec<u8>,
}

/// Runs code from the model's state. Registers count as defined when `preset`.
pub(super) fn execute(code: &Code, model: &Model, preset: bool) -> Result<Outcome, String> {
    let mut rig = Rig::with(code.bytes.clone(), MEMORY as u64).expect("memory");
    rig.strict = true;
    rig.active = model.lanes;
    rig.scratch_bytes = 4 * SCRATCH_WORDS as u32;
    rig.threadgroup_bytes = 4 * SHARED_WORDS as u32;
    for (word, value) in (0u8..=255).zip(&model.uniforms) {
        rig.uniforms.set(word, *value);
    }
    rig.write_bytes(0, &model.memory);
    let options = Options {
        undefined: !preset,
        ..Options::COMPILER
    };
    let harsh = Harsh { lost: [(0, 0); 96] };
    let mut observer = (Strict::new(options), harsh);
    let result = rig.execute_observed(
        &mut observer,
        |wave| {
            for (reg, lanes) in wave.gprs.iter_mut().zip(&model.regs) {
                *reg = Lanes(*lanes);
            }
        },
        |wave, exit| match exit {
            Exit::Stop => Ok(wave.gprs.iter().map(|lanes| lanes.0).collect()),
            Exit::Fault(fault) => Err(fault.to_string()),
            other => Err(format!("{other:?}")),
        },
    );
    let regs = result.expect("memory")?;
    Ok(Outcome {
        regs,
        memory: rig.read_bytes(0, MEMORY),
    })
}

/// A model whose pairs point into memory.
pub(super) fn model() -> Model {
    let mut model = Model::new(DATA, MEMORY);
    for pair in 1..4 {
        model.pointer(pair, DATA + PIECE * u64::from(pair));
    }
    model.pointer(ROOT, 0x8000_0000);
    model
}

/// The code as assembly, for messages.
pub(super) fn disassemble(code: &Code) -> String {
    let mut text = String::new();
    let mut at = 0;
    while at < code.stats.bytes as usize {
        match decode(&code.bytes[at..], Mode::Strict) {
            Ok(instr) => {
                text += &format!("{at:4}: {instr}\n");
                at += usize::from(instr.form().len);
            }
            Err(error) => return format!("{text}{at:4}: {error}"),
        }
    }
    text
}

/// Emits, runs, and compares memory with what `expected` has in it.
pub(super) fn check_memory(function: &Function, start: &Model, expected: &Model) -> Code {
    let code = run(function).unwrap_or_else(|error| panic!("{error}\n{function}"));
    let outcome = execute(&code, start, false)
        .unwrap_or_else(|fault| panic!("{fault}\n{function}\n{}", disassemble(&code)));
    if let Some(at) = (0..MEMORY).find(|at| outcome.memory[*at] != expected.memory[*at]) {
        let word = |memory: &[u8]| u32::from_le_bytes(memory[at & !3..][..4].try_into().unwrap());
        panic!(
            "byte {at:#x}: {:#x} instead of {:#x}\n{function}\n{}",
            word(&outcome.memory),
            word(&expected.memory),
            disassemble(&code)
        );
    }
    code
}
