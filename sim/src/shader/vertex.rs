// SPDX-License-Identifier: MIT
//! The vertex stage's side of the shader core: VARY_STORE and what it writes (isa-3, 5).
//!
//! An output slot that the draw state does not count faults: what hardware does with it is not known.

use agx_isa::{FormId, Instr, Value};

use super::lanes::Lanes;
use super::microop::{MicroOp, Step};
use super::operand::Dst;
use super::wave::Wave;
use crate::fault::FaultKind;

/// What the vertices of a SIMD group are, and what they have written.
#[derive(Default)]
pub struct VertexLanes {
    /// Vertex number of each lane: SR 0xdd.
    pub vertex: [u32; 32],
    /// Instance number of each lane: SR 0xd8.
    pub instance: [u32; 32],
    /// The output words (graphics, 5.1).
    pub outputs: Vec<Lanes>,
    /// Lanes that wrote each of them.
    pub written: Vec<u32>,
}

impl VertexLanes {
    /// Ready for another SIMD group with so many output words.
    pub fn start(&mut self, words: usize) {
        self.outputs.clear();
        self.outputs.resize(words, Lanes::ZERO);
        self.written.clear();
        self.written.resize(words, 0);
    }
}

/// Source 0 is unused; numbers: output slot, publication.
#[inline(always)]
fn run_store(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    let value = wave.publication(op.imm[1] as u8);
    let active = wave.active();
    let mask = *wave.active_lanes();
    let slot = op.imm[0] as usize;
    let Some(vertex) = &mut wave.vertex else {
        return refuse(
            wave,
            "vertex outputs exist in the vertex stage only".to_owned(),
        );
    };
    let words = vertex.outputs.len();
    let (Some(output), Some(written)) =
        (vertex.outputs.get_mut(slot), vertex.written.get_mut(slot))
    else {
        return refuse(
            wave,
            format!("output slot {slot}, but the draw has {words} output words"),
        );
    };
    for lane in 0..32 {
        output.0[lane] = output.0[lane] & !mask.0[lane] | value.0[lane] & mask.0[lane];
    }
    *written |= active;
    Step::Next
}

#[cold]
fn refuse(wave: &mut Wave<'_>, reason: String) -> Step {
    wave.fail(FaultKind::IllegalInstruction(reason), None)
}

crate::kernel! {
    store = run_store;
}

pub(super) fn lower(instr: &Instr) -> Option<MicroOp> {
    if instr.id() != FormId::VaryStore {
        return None;
    }
    let number = |index: usize| match instr.arg(index).value {
        Value::Reg(reg) => Some(u32::from(reg.index)),
        _ => None,
    };
    Some(
        MicroOp::new(store())
            .imms([number(0)?, number(1)?])
            .dst(Dst::None),
    )
}
