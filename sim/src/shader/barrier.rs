// SPDX-License-Identifier: MIT
//! Barriers and fences (isa-2, 7; isa-4, 9).
//!
//! Of BARRIER's fields only `exec` made a difference on M4 (all 256 values of class and flags tried on
//! threadgroup memory; HW): with it the SIMD group waits for the others of its workgroup, without it
//! memory is fenced and nothing more. Here both fence all of memory, sequentially consistent, whatever
//! class they name: what DEV_FENCE orders exactly is open (isa-2, 14 row 5), but with one on each side
//! messages between workgroups always arrived (isa-4, 9.2; HW), and the host's fence gives that too.
//! The SIMD groups of a workgroup share a host thread, so threadgroup memory needs no fence.

use std::sync::atomic::{Ordering, fence};

use agx_isa::{FormId, Instr};

use super::microop::{MicroOp, Step};
use super::wave::Wave;

#[inline(always)]
fn run_fence(_: &mut Wave<'_>, _: &MicroOp) -> Step {
    fence(Ordering::SeqCst);
    Step::Next
}

#[inline(always)]
fn run_barrier(_: &mut Wave<'_>, _: &MicroOp) -> Step {
    fence(Ordering::SeqCst);
    Step::Barrier
}

/// The release that ends a texture fence: image stores are visible to loads behind it (isa-4, 9.1).
#[inline(always)]
fn run_texture_release(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    wave.unfenced.get_mut().clear();
    fence(Ordering::SeqCst);
    // Immediate 0: the rendezvous of the workgroup as well.
    if op.imm[0] == 1 {
        Step::Barrier
    } else {
        Step::Next
    }
}

/// The class of such a release.
const TEXTURE_RELEASE: u64 = 0x68;

crate::kernel! {
    texture_release = run_texture_release;
    fence_kernel = run_fence;
    barrier = run_barrier;
}

pub(super) fn lower(instr: &Instr) -> Option<MicroOp> {
    if instr.id() == FormId::Barrier && instr.modifier("class") == Some(TEXTURE_RELEASE) {
        let rendezvous = u32::from(instr.op_name() == "barrier");
        return Some(MicroOp::new(texture_release()).imms([rendezvous]));
    }
    Some(MicroOp::new(match instr.id() {
        FormId::Barrier if instr.op_name() == "barrier" => barrier(),
        FormId::Barrier => fence_kernel(),
        _ => return None,
    }))
}
