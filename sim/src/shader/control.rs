// SPDX-License-Identifier: MIT
//! Control flow: branches, the execution-mask stack, calls and the end of the program (isa-2, 6).
//!
//! The masks follow the table of isa-2, 6.1: a push keeps the active lanes and narrows them, `else`
//! turns to the lanes that the push did not take, a pop restores; lanes that leave a loop are dropped
//! from the conditional scopes on their way, so that only the loop's own pop brings them back. The
//! loop at nesting depth 0 has no scope: its pop restores the lanes of the program's start.
//!
//! What the reference leaves open (isa-2, 14, rows 9 and 10), and what happens here:
//!
//! * `else` or `pop` with another kind of scope on top, or with none: no effect. A strict run faults.
//! * A loop pop while only conditional scopes are stacked counts as the pop of the outermost loop, as
//!   the table says literally, and leaves those scopes alone.
//! * `break` through n scopes counts conditional scopes from the top and passes over loop scopes.
//! * More than 65536 scopes, or as many nested calls, fault: the hardware's limit is unknown, but a
//!   program that gets there is lost.
//! * STOP ends the SIMD group whatever the mask is (launch, 11, step 6; isa-2, 6.10: what follows a
//!   STOP in the middle of a program is not executed). A strict run faults when some lanes that
//!   started are masked off at a STOP, which no emitter may write.
//!
//! Calls (6.11; HW-A18): the loop push in front of a call is an ordinary push, the call itself jumps
//! whatever the mask is, and the return goes to the latest call without touching the masks. Return
//! addresses are a stack of their own, so saving and restoring the link does nothing, nor does the
//! set-up of the frame.

use agx_isa::{FormId, Instr};

use super::microop::{MicroOp, Step};
use super::wave::{BANKS, Wave};
use crate::fault::FaultKind;

/// Scopes, and nested calls, that a SIMD group may stack.
const MAX_DEPTH: usize = 0x1_0000;
const CONDITIONAL: u8 = 1;
const LOOP: u8 = 2;

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

impl Scope {
    /// Takes lanes out.
    fn drop_lanes(&mut self, lanes: u32) {
        self.saved &= !lanes;
        self.taken &= !lanes;
    }
}

/// What ALLOC, TARGET and FRAME said (launch, 4.5 to 4.7); `None` = not executed yet. The methods
/// are in [`super::launch`].
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
fn run_stop(wave: &mut Wave<'_>, _: &MicroOp) -> Step {
    if wave.group.dispatch.strict && wave.active() != wave.initial {
        let lanes = wave.initial & !wave.active();
        let reason = format!("STOP while lanes {lanes:#010x} are masked off");
        return wave.fail(FaultKind::Strict(reason), None);
    }
    Step::Stop
}

/// What the reference gives no meaning to: nothing, or a fault in a strict run.
#[cold]
fn undefined(wave: &mut Wave<'_>, reason: &str) -> Step {
    if wave.group.dispatch.strict {
        wave.fail(FaultKind::Strict(reason.to_owned()), None)
    } else {
        Step::Next
    }
}

#[cold]
fn too_deep(wave: &mut Wave<'_>, what: &str) -> Step {
    let reason = format!("more than {MAX_DEPTH} {what}");
    wave.fail(FaultKind::IllegalInstruction(reason), None)
}

/// Numbers: kind, source, bits that invert it.
#[inline(always)]
fn run_push(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    if wave.stack.len() >= MAX_DEPTH {
        return too_deep(wave, "scopes on the execution-mask stack");
    }
    let source = match op.imm[1] {
        6 => !0,
        7 => 0,
        bank => wave.predicates[bank as usize % BANKS],
    };
    let saved = wave.active();
    let taken = saved & (source ^ op.imm[2]);
    wave.stack.push(Scope {
        kind: op.imm[0] as u8,
        saved,
        taken,
    });
    wave.set_active(taken);
    Step::Next
}

#[inline(always)]
fn run_else(wave: &mut Wave<'_>, _: &MicroOp) -> Step {
    match wave.stack.last() {
        Some(top) if top.kind == CONDITIONAL => {
            let active = top.saved & !top.taken;
            wave.set_active(active);
            Step::Next
        }
        _ => undefined(wave, "`else` without a conditional scope on top"),
    }
}

/// Number: kind.
#[inline(always)]
fn run_pop(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    let kind = op.imm[0] as u8;
    match wave.stack.last() {
        Some(top) if top.kind == kind => {
            let saved = top.saved;
            wave.stack.pop();
            wave.set_active(saved);
            Step::Next
        }
        _ if kind == LOOP && wave.stack.iter().all(|scope| scope.kind != LOOP) => {
            wave.set_active(wave.initial);
            Step::Next
        }
        _ => undefined(wave, "`pop` without a scope of its kind on top"),
    }
}

/// Numbers: bank, bits that invert it.
#[inline(always)]
fn run_loop_update(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    let leaving = wave.active() & (wave.predicates[op.imm[0] as usize % BANKS] ^ op.imm[1]);
    for scope in wave.stack.iter_mut().rev() {
        if scope.kind == LOOP {
            break;
        }
        scope.drop_lanes(leaving);
    }
    wave.set_active(wave.active() & !leaving);
    Step::Next
}

/// Numbers: bank, conditional scopes to leave.
#[inline(always)]
fn run_break(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    let leaving = wave.active() & wave.predicates[op.imm[0] as usize % BANKS];
    let conditional = |scope: &&mut Scope| scope.kind == CONDITIONAL;
    let scopes = wave.stack.iter_mut().rev().filter(conditional);
    for scope in scopes.take(op.imm[1] as usize) {
        scope.drop_lanes(leaving);
    }
    wave.set_active(wave.active() & !leaving);
    Step::Next
}

/// The last number is the micro-op to return to.
#[inline(always)]
fn run_call(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    if wave.links.len() >= MAX_DEPTH {
        return too_deep(wave, "nested calls");
    }
    wave.links.push(op.imm[3]);
    Step::Jump
}

#[inline(always)]
fn run_return(wave: &mut Wave<'_>, _: &MicroOp) -> Step {
    match wave.links.pop() {
        Some(link) => {
            wave.pc = link;
            Step::Indirect
        }
        None => {
            let reason = "RET without a call".to_owned();
            wave.fail(FaultKind::IllegalInstruction(reason), None)
        }
    }
}

#[inline(always)]
fn run_nothing(_: &mut Wave<'_>, _: &MicroOp) -> Step {
    Step::Next
}

#[inline(always)]
fn run_filler(wave: &mut Wave<'_>, _: &MicroOp) -> Step {
    let reason = "bytes that must never run (launch, 3.1 and 3.4)".to_owned();
    wave.fail(FaultKind::IllegalInstruction(reason), None)
}

crate::kernel! {
    goto_kernel = run_goto;
    br_any = run_branch::<true>;
    br_none = run_branch::<false>;
    stop = run_stop;
    push = run_push;
    flip = run_else;
    pop = run_pop;
    loop_update = run_loop_update;
    leave = run_break;
    call = run_call;
    ret = run_return;
    nothing = run_nothing;
    filler = run_filler;
}

pub(super) fn lower(instr: &Instr) -> Option<MicroOp> {
    let number = |name| instr.modifier(name).map(|value| value as u32);
    // All lanes' bits when the operand is inverted.
    let invert = || u32::from(instr.arg(0).neg).wrapping_neg();
    let source = || instr.raw(0) as u32;
    Some(match instr.id() {
        FormId::Branch => MicroOp::new(match instr.op_name() {
            "br_any" => br_any(),
            _ => br_none(),
        }),
        FormId::Stop => MicroOp::new(stop()),
        FormId::Push => MicroOp::new(push()).imms([number("kind")?, source(), invert()]),
        FormId::Else => MicroOp::new(flip()),
        FormId::Pop => MicroOp::new(pop()).imms([number("kind")?]),
        FormId::LoopUpdate => MicroOp::new(loop_update()).imms([source(), invert()]),
        FormId::Break => {
            MicroOp::new(leave()).imms([source(), number("scopes2")?.saturating_sub(2)])
        }
        FormId::CallBr => MicroOp::new(call()),
        // Byte 3 = 1 occurs in the terminals of the entry arena only, which must not run.
        FormId::Ret if number("b3") == Some(0) => MicroOp::new(ret()),
        FormId::Ret | FormId::Filler | FormId::Term => MicroOp::new(filler()),
        FormId::CallFrame | FormId::CallLink => MicroOp::new(nothing()),
        _ => return None,
    })
}
