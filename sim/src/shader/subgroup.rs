// SPDX-License-Identifier: MIT
//! Subgroup and quad operations: SG_REDUCE, SG_SHUFFLE, SG_BALLOT, DERIV (isa-2, 8; isa-4, 4; isa-1,
//! 4.16).
//!
//! A subgroup has 32 lanes, a quad is lanes 4k..4k+3, in the fragment stage from the top left: left to
//! right, then the row below (isa-4, 4.1; HW).
//!
//! **Reductions and scans.** Only active lanes take part, in lane order (HW). A reduction gives every
//! active lane the combination of all, an exclusive scan that of the active lanes below, the identity
//! to the lowest. Only the combinations of operation and type byte that the reference lists exist
//! (isa-0, 6 row 53). Floats combine one after the other in lane order, as the ALU of their width does
//! it (isa-4, 11.2); the hardware's order is not known, so results are exact only where every order
//! gives the same (isa-2, 14 row 11). A reduction starts from the lowest active lane's value, passed
//! through that ALU. The zero that a scan of a sum begins with is +0. The fp16 forms are INFERRED: they
//! read the low half of the source and write the low half of the destination, leaving the other.
//!
//! **Shuffles.** The other lane's register is read whether that lane is active or not; the hardware's
//! value is undefined then. Numbers out of range (isa-4, 4.1; HW): in register form lane >= 32 becomes
//! lane & 0x1c; an immediate lane > 31, an xor mask >= 32, a quad lane or quad mask > 3 give 0. Up and
//! down (modes 5 and 1) are known by their opcode and edges only: quad up and down clamp at the quad's
//! first and last lane (HW), shuffle-up leaves lane 0 its own value (HW-A18). The distance is taken
//! from the lane field and the subgroup's edges clamp as the quad's do (INFERRED).
//!
//! **Ballots.** The comparison is not decoded; known are "not zero" (HW), "r0 > 0 (or not 0)", "r0 < 5"
//! and "true" (isa-4, 4.3). The second is taken as not zero and the third as unsigned; strict mode
//! faults when an active lane's value is negative, where a signed comparison would differ. The strings
//! of the last two are accepted as they stand, with any destination and wait.
//!
//! **Derivatives** are fp32 differences in the lane's own row or column (INFERRED; isa-1, 4.16) with
//! the numerics of fp32 addition, and read inactive lanes' registers too, which must be alive as
//! helpers.

use agx_isa::{FormId, Instr, Value, reduce_type};

use super::alu::float32::{finish, flush};
use super::alu::half::{narrow, widen};
use super::device::lanes_of;
use super::lanes::{LANES, Lanes};
use super::microop::{Exec, MicroOp, Step};
use super::operand::{Dst, Src};
use super::wave::Wave;
use crate::fault::FaultKind;

/// Operations of SG_REDUCE: bits 8..10, then bit 7 (isa-2, 8.1).
mod operation {
    pub(super) const AND: u32 = 0b0000;
    pub(super) const XOR: u32 = 0b0001;
    pub(super) const IMIN: u32 = 0b0010;
    pub(super) const UMIN: u32 = 0b0011;
    pub(super) const HADD: u32 = 0b0100;
    pub(super) const FADD: u32 = 0b0110;
    pub(super) const OR: u32 = 0b1000;
    pub(super) const IADD: u32 = 0b1001;
    pub(super) const IMAX: u32 = 0b1010;
    pub(super) const UMAX: u32 = 0b1011;
    pub(super) const HMUL: u32 = 0b1100;
    pub(super) const FMIN: u32 = 0b1101;
    pub(super) const FMUL: u32 = 0b1110;
    pub(super) const FMAX: u32 = 0b1111;
}

/// The lesser (or greater) of two fp32: compared flushed, passed unflushed, `b` on a tie (isa-4, 11.2).
#[inline(always)]
fn choose(a: u32, b: u32, greater: bool) -> u32 {
    let (x, y) = (f32::from_bits(flush(a)), f32::from_bits(flush(b)));
    if x.is_nan() && y.is_nan() {
        return finish::<false>(f32::NAN);
    }
    let take_a = y.is_nan() || if greater { x > y } else { x < y };
    if take_a { a } else { b }
}

/// What an exclusive scan begins with.
const fn identity(op: u32) -> u32 {
    match op {
        operation::AND | operation::UMIN => !0,
        operation::IMIN => i32::MAX as u32,
        operation::IMAX => i32::MIN as u32,
        operation::FMUL => 0x3f80_0000,
        operation::HMUL => 0x3c00,
        operation::FMIN => 0x7f80_0000,
        operation::FMAX => 0xff80_0000,
        _ => 0,
    }
}

/// A single value as its ALU passes it on.
#[inline(always)]
fn single<const OP: u32>(value: u32) -> u32 {
    match OP {
        operation::FADD | operation::FMUL => finish::<false>(f32::from_bits(flush(value))),
        operation::HADD | operation::HMUL => narrow(widen(value & 0xffff)),
        operation::FMIN | operation::FMAX => choose(value, value, false),
        _ => value,
    }
}

/// Two values combined.
#[inline(always)]
fn combine<const OP: u32>(a: u32, b: u32) -> u32 {
    let float = |f: fn(f32, f32) -> f32| {
        finish::<false>(f(f32::from_bits(flush(a)), f32::from_bits(flush(b))))
    };
    // A sum or product of two fp16 is exact in fp32 or far from a rounding boundary of fp16
    // (24 >= 2 * 11 + 2), so it is rounded once.
    let half = |f: fn(f32, f32) -> f32| {
        let (a, b) = (widen(a & 0xffff), widen(b & 0xffff));
        narrow(f(f32::from_bits(a), f32::from_bits(b)).to_bits())
    };
    match OP {
        operation::AND => a & b,
        operation::XOR => a ^ b,
        operation::IMIN => (a as i32).min(b as i32) as u32,
        operation::UMIN => a.min(b),
        operation::OR => a | b,
        operation::IADD => a.wrapping_add(b),
        operation::IMAX => (a as i32).max(b as i32) as u32,
        operation::UMAX => a.max(b),
        operation::FADD => float(|x, y| x + y),
        operation::FMUL => float(|x, y| x * y),
        operation::HADD => half(|x, y| x + y),
        operation::HMUL => half(|x, y| x * y),
        operation::FMIN => choose(a, b, false),
        _ => choose(a, b, true),
    }
}

/// Immediate 0 is 1 for a scan, immediate 1 the lanes that combine: 32 or 4.
#[inline(always)]
fn run_reduce<const OP: u32>(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    let mut temp = Lanes::ZERO;
    let value = wave.read(&op.src[0], &mut temp);
    let (scan, size) = (op.imm[0] != 0, if op.imm[1] == 4 { 4 } else { LANES });
    let mut out = Lanes::ZERO;
    for start in (0..LANES).step_by(size) {
        let group = wave.active() & (!0 >> (LANES - size)) << start;
        let mut so_far = None;
        for lane in lanes_of(group) {
            if scan {
                out.0[lane] = so_far.unwrap_or(identity(OP));
            }
            so_far = Some(match so_far {
                Some(before) => combine::<OP>(before, value.0[lane]),
                None => single::<OP>(value.0[lane]),
            });
        }
        if !scan {
            out.0[start..start + size].fill(so_far.unwrap_or(0));
        }
    }
    wave.write(op.dst, &out);
    Step::Next
}

/// How SG_SHUFFLE finds the source lane.
#[derive(Clone, Copy)]
#[repr(u32)]
enum Shuffle {
    Lane,
    Xor,
    Up,
    Down,
}

/// Immediate 0 is 1 for quads; immediate 1 is 1 when the lane field is a register.
///
/// `HOW` is a [`Shuffle`].
#[inline(always)]
fn run_shuffle<const HOW: u32>(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    let (mut t0, mut t1) = (Lanes::ZERO, Lanes::ZERO);
    let value = wave.read(&op.src[0], &mut t0);
    let field = wave.read(&op.src[1], &mut t1);
    let (quad, register) = (op.imm[0] != 0, op.imm[1] != 0);
    let last = if quad { 3 } else { 31 };
    let mut out = Lanes::ZERO;
    for lane in 0..LANES as u32 {
        let number = field.0[lane as usize];
        let (group, own) = (lane & !last, lane & last);
        let mut within = number <= last;
        let source = if HOW == Shuffle::Lane as u32 {
            // Measured in register form only; there nothing reads 0 in a subgroup.
            within |= register && !quad;
            if number <= last {
                number
            } else {
                number & 0x1c
            }
        } else if HOW == Shuffle::Xor as u32 {
            own ^ number
        } else if HOW == Shuffle::Up as u32 {
            within = true;
            own.saturating_sub(number)
        } else {
            within = true;
            own.saturating_add(number).min(last)
        };
        let mask = u32::from(within).wrapping_neg();
        out.0[lane as usize] = value.0[(group | source & last) as usize & 31] & mask;
    }
    wave.write(op.dst, &out);
    Step::Next
}

/// Tests of the ballot kernels.
mod test {
    pub(super) const NONZERO: u32 = 0;
    /// Not zero, or signed greater than zero.
    pub(super) const POSITIVE: u32 = 1;
    pub(super) const BELOW_5: u32 = 2;
    pub(super) const TRUE: u32 = 3;
}

#[inline(always)]
fn run_ballot<const TEST: u32>(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    let mut temp = Lanes::ZERO;
    let value = wave.read(&op.src[0], &mut temp);
    let mut passed = 0;
    for lane in 0..LANES {
        let bit = match TEST {
            test::BELOW_5 => value.0[lane] < 5,
            test::TRUE => true,
            _ => value.0[lane] != 0,
        };
        passed |= u32::from(bit) << lane;
    }
    if matches!(TEST, test::POSITIVE | test::BELOW_5) && wave.group.dispatch.strict {
        let negative = |&lane: &usize| value.0[lane] >> 31 == 1;
        if let Some(lane) = lanes_of(wave.active()).find(negative) {
            let reason = "whether this ballot compares signed is not known, and it matters here";
            return wave.fail(FaultKind::Strict(reason.to_owned()), Some(lane as u8));
        }
    }
    let out = Lanes::splat(passed & wave.active());
    wave.write(op.dst, &out);
    Step::Next
}

/// `BIT` is the lane number's bit that tells the two lanes of a difference apart.
#[inline(always)]
fn run_derivative<const BIT: usize, const SATURATE: bool>(
    wave: &mut Wave<'_>,
    op: &MicroOp,
) -> Step {
    let mut temp = Lanes::ZERO;
    let value = wave.read(&op.src[0], &mut temp);
    let mut out = Lanes::ZERO;
    for lane in 0..LANES {
        let near = f32::from_bits(flush(value.0[lane & !BIT]));
        let far = f32::from_bits(flush(value.0[lane | BIT]));
        out.0[lane] = finish::<SATURATE>(far - near);
    }
    wave.write(op.dst, &out);
    Step::Next
}

/// Reasons of [`refuse`].
const REASONS: [&str; 4] = [
    "this type byte is not known for this reduction (isa-2, 8.1)",
    "this kind of lane operand is not known (isa-2, 8.2)",
    "rotate and shuffle-and-fill are not decoded (isa-2, 8.2)",
    "the comparison of this ballot is not decoded (isa-4, 4.3)",
];

#[inline(always)]
fn run_refused(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    let reason = REASONS[op.imm[0] as usize % REASONS.len()];
    wave.fail(FaultKind::IllegalInstruction(reason.to_owned()), None)
}

/// A micro-op that faults with one of [`REASONS`].
fn refuse(reason: u32) -> MicroOp {
    MicroOp::new(refused()).imms([reason])
}

crate::kernel! {
    reduce_and = run_reduce::<{ operation::AND }>;
    reduce_xor = run_reduce::<{ operation::XOR }>;
    reduce_imin = run_reduce::<{ operation::IMIN }>;
    reduce_umin = run_reduce::<{ operation::UMIN }>;
    reduce_hadd = run_reduce::<{ operation::HADD }>;
    reduce_fadd = run_reduce::<{ operation::FADD }>;
    reduce_or = run_reduce::<{ operation::OR }>;
    reduce_iadd = run_reduce::<{ operation::IADD }>;
    reduce_imax = run_reduce::<{ operation::IMAX }>;
    reduce_umax = run_reduce::<{ operation::UMAX }>;
    reduce_hmul = run_reduce::<{ operation::HMUL }>;
    reduce_fmin = run_reduce::<{ operation::FMIN }>;
    reduce_fmul = run_reduce::<{ operation::FMUL }>;
    reduce_fmax = run_reduce::<{ operation::FMAX }>;
    shuffle_lane = run_shuffle::<{ Shuffle::Lane as u32 }>;
    shuffle_xor = run_shuffle::<{ Shuffle::Xor as u32 }>;
    shuffle_up = run_shuffle::<{ Shuffle::Up as u32 }>;
    shuffle_down = run_shuffle::<{ Shuffle::Down as u32 }>;
    ballot_nonzero = run_ballot::<{ test::NONZERO }>;
    ballot_positive = run_ballot::<{ test::POSITIVE }>;
    ballot_below_5 = run_ballot::<{ test::BELOW_5 }>;
    ballot_true = run_ballot::<{ test::TRUE }>;
    ddx = run_derivative::<1, false>;
    ddx_saturate = run_derivative::<1, true>;
    ddy = run_derivative::<2, false>;
    ddy_saturate = run_derivative::<2, true>;
    refused = run_refused;
}

fn lower_reduce(instr: &Instr) -> Option<MicroOp> {
    let op = instr.modifier("operation")? as u32;
    let (exec, name): (Exec, &str) = match op {
        operation::AND => (reduce_and(), "and"),
        operation::XOR => (reduce_xor(), "xor"),
        operation::IMIN => (reduce_imin(), "imin"),
        operation::UMIN => (reduce_umin(), "umin"),
        operation::HADD => (reduce_hadd(), "hadd"),
        operation::FADD => (reduce_fadd(), "fadd"),
        operation::OR => (reduce_or(), "or"),
        operation::IADD => (reduce_iadd(), "iadd"),
        operation::IMAX => (reduce_imax(), "imax"),
        operation::UMAX => (reduce_umax(), "umax"),
        operation::HMUL => (reduce_hmul(), "hmul"),
        operation::FMIN => (reduce_fmin(), "fmin"),
        operation::FMUL => (reduce_fmul(), "fmul"),
        operation::FMAX => (reduce_fmax(), "fmax"),
        _ => return None,
    };
    let code = instr.modifier("type")?;
    let is = |scan| {
        [false, true]
            .iter()
            .any(|&released| reduce_type(name, scan, released).map(u64::from) == Some(code))
    };
    let scan = match (is(false), is(true)) {
        (true, false) => 0,
        (false, true) => 1,
        _ => return Some(refuse(0)),
    };
    let mut dst = Dst::of(instr, 0)?;
    if let (operation::HADD | operation::HMUL, Dst::Gpr(number)) = (op, dst) {
        dst = Dst::Low(number);
    }
    let lanes = if instr.op_name() == "quad_reduce" {
        4
    } else {
        32
    };
    Some(
        MicroOp::new(exec)
            .dst(dst)
            .srcs([Src::of(instr, 1)?])
            .imms([scan, lanes]),
    )
}

fn lower_shuffle(instr: &Instr) -> Option<MicroOp> {
    // Bits 64..71, the kind of lane operand.
    let register = match (instr.bits() >> 64) as u8 {
        0x04 => 0,
        0x1c => 1,
        _ => return Some(refuse(1)),
    };
    let mode = instr.modifier("mode")?;
    let quad = u32::from(mode & 2 == 0);
    let exec = match (mode & 1, instr.modifier("dir")?) {
        (0, 0) => shuffle_lane(),
        (0, _) => shuffle_xor(),
        (_, 0) => shuffle_up(),
        (_, _) => shuffle_down(),
    };
    let lane = match instr.arg(2).value {
        Value::Int(number) => Src::constant(number as u32),
        _ => Src::of(instr, 2)?,
    };
    Some(
        MicroOp::new(exec)
            .dst(Dst::of(instr, 0)?)
            .srcs([Src::of(instr, 1)?, lane])
            .imms([quad, register]),
    )
}

pub(super) fn lower(instr: &Instr) -> Option<MicroOp> {
    let op = match instr.id() {
        FormId::SgReduce => return lower_reduce(instr),
        FormId::SgShuffle => return lower_shuffle(instr),
        FormId::SgShuffle12 => refuse(2),
        FormId::SgBallot => {
            let exec = match instr.modifier("test")? {
                0x12 => ballot_nonzero(),
                0x04 => ballot_positive(),
                _ => return Some(refuse(3)),
            };
            MicroOp::new(exec).srcs([Src::of(instr, 1)?])
        }
        // Bytes 5 to 9 of the two known strings (isa-4, 4.3).
        FormId::SgBallotC => match (instr.bits() >> 40) as u64 & 0xff_ffff_ffff {
            0x0c_2248_1400 => MicroOp::new(ballot_below_5()).srcs([Src::gpr(0)]),
            0x08_0208_0402 => MicroOp::new(ballot_true()),
            _ => return Some(refuse(3)),
        },
        FormId::Deriv => {
            let saturate = instr.modifier("sat") == Some(1);
            let exec = match (instr.op_name(), saturate) {
                ("ddx", false) => ddx(),
                ("ddx", true) => ddx_saturate(),
                (_, false) => ddy(),
                (_, true) => ddy_saturate(),
            };
            MicroOp::new(exec).srcs([Src::of(instr, 1)?])
        }
        _ => return None,
    };
    Some(op.dst(Dst::of(instr, 0)?))
}
