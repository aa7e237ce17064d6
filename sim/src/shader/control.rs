// SPDX-License-Identifier: MIT
//! Control flow: branches, the execution-mask stack, program end, and the blocks of launch programs.

use agx_isa::{Flow, FormId, Instr};

use super::microop::{MicroOp, Step};
use super::wave::Wave;

/// An entry of the execution-mask stack (isa-2, 6.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scope {
    /// 1 = conditional, 2 = loop.
    pub kind: u8,
    /// Lanes to restore on pop, less those that broke out through it.
    pub saved: u32,
    /// Lanes that the push admitted.
    pub taken: u32,
}

/// What ALLOC, TARGET and FRAME said (launch, 4.5 to 4.7); `None` = not executed yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaunchState {
    /// The ALLOC instruction's bits.
    pub alloc: Option<u128>,
    /// TARGET's.
    pub target: Option<u128>,
    /// FRAME's.
    pub frame: Option<u128>,
}

/// The joint between two decoded runs: an unconditional jump that the hardware has not.
#[must_use]
pub fn goto() -> MicroOp {
    MicroOp::new(goto_kernel())
}

pub(super) fn lower(instr: &Instr) -> Option<MicroOp> {
    Some(match (instr.id(), instr.flow()) {
        (FormId::Branch, Flow::Branch) => MicroOp::new(match instr.op_name() {
            "br_any" => br_any(),
            _ => br_none(),
        }),
        (FormId::Stop, _) => MicroOp::new(stop()),
        _ => return None,
    })
}

#[inline(always)]
fn run_goto(_: &mut Wave<'_>, _: &MicroOp) -> Step {
    Step::Jump
}

#[inline(always)]
fn run_branch<const ANY: bool>(wave: &mut Wave<'_>, _: &MicroOp) -> Step {
    if (wave.active() != 0) == ANY {
        Step::Jump
    } else {
        Step::Next
    }
}

#[inline(always)]
fn run_stop(_: &mut Wave<'_>, _: &MicroOp) -> Step {
    Step::Stop
}

crate::kernel! {
    goto_kernel = run_goto;
    br_any = run_branch::<true>;
    br_none = run_branch::<false>;
    stop = run_stop;
}
