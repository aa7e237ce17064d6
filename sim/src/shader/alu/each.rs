// SPDX-License-Identifier: MIT
//! The loops over lanes that most of arithmetic shares: read the sources, apply a function to each
//! lane's bits, write the active lanes.

use super::super::lanes::{LANES, Lanes};
use super::super::microop::{MicroOp, Step};
use super::super::wave::Wave;

/// `dst = f(src0)` in each lane.
#[inline(always)]
pub(super) fn unary(wave: &mut Wave<'_>, op: &MicroOp, f: impl Fn(u32) -> u32) -> Step {
    let mut temp = Lanes::ZERO;
    let a = wave.read(&op.src[0], &mut temp);
    let mut out = Lanes::ZERO;
    for lane in 0..LANES {
        out.0[lane] = f(a.0[lane]);
    }
    wave.write(op.dst, &out);
    Step::Next
}

/// `dst = f(src0, src1)` in each lane.
#[inline(always)]
pub(super) fn binary(wave: &mut Wave<'_>, op: &MicroOp, f: impl Fn(u32, u32) -> u32) -> Step {
    let (mut ta, mut tb) = (Lanes::ZERO, Lanes::ZERO);
    let a = wave.read(&op.src[0], &mut ta);
    let b = wave.read(&op.src[1], &mut tb);
    let mut out = Lanes::ZERO;
    for lane in 0..LANES {
        out.0[lane] = f(a.0[lane], b.0[lane]);
    }
    wave.write(op.dst, &out);
    Step::Next
}

/// `dst = f(src0, src1, src2)` in each lane.
#[inline(always)]
pub(super) fn ternary(wave: &mut Wave<'_>, op: &MicroOp, f: impl Fn(u32, u32, u32) -> u32) -> Step {
    let (mut ta, mut tb, mut tc) = (Lanes::ZERO, Lanes::ZERO, Lanes::ZERO);
    let a = wave.read(&op.src[0], &mut ta);
    let b = wave.read(&op.src[1], &mut tb);
    let c = wave.read(&op.src[2], &mut tc);
    let mut out = Lanes::ZERO;
    for lane in 0..LANES {
        out.0[lane] = f(a.0[lane], b.0[lane], c.0[lane]);
    }
    wave.write(op.dst, &out);
    Step::Next
}
