// SPDX-License-Identifier: MIT
//! Reciprocal, rounding functions, square root factors, logarithm, exponential and sine factor
//! (isa-1, 4.4; special values of isa-4, 11.1; HW).
//!
//! Results are the correctly rounded ones, which isa-0, 6, row 54 allows (the hardware is off by up
//! to one unit in the last place of an fp32, two for the logarithm; its fp16 results are correctly
//! rounded). Only IEEE additions, multiplications, divisions and square roots are used, without
//! fused ones and without the host's mathematical library, so every host gets the same bits:
//!
//! * Reciprocals are one fp32 division. Everything else that rounds is computed in fp64 with an error
//!   below 2^-51 of the result and rounded to the result's format once. For fp32 that is the nearest
//!   value for every input: all 341 whose fp64 lies within 2^-48 of the middle between two fp32 were
//!   compared with a computation in 300 bits. For fp16 the tests go through all inputs.
//! * exp2(x) = 2^k exp(r ln 2), k the nearest integer, |r| <= 1/2: Taylor polynomial of degree 13.
//! * log2(m 2^e) = e + log2(m), sqrt(1/2) <= m < sqrt(2): the series of 2 artanh(s) in
//!   s = (m - 1) / (m + 1), which keeps its relative accuracy where the result is near 0.
//! * sin(pi x / 2) / x on [-1, 1]: Taylor polynomial of degree 22 in x.
//!
//! Types: fp32; fp16 to fp16; fp16 to fp32; a bfloat16 in the low half to fp32. fp32 and bfloat16
//! sources read subnormals as signed zero, fp32 results flush to signed zero, NaN is canonical; fp16
//! sources and results keep subnormals (HW; for exp2, log2 and the rounding functions INFERRED from
//! the other fp16 operations). `fmt` = 1 with an fp32 source, whose meaning is unknown (isa-0, 6, row
//! 64), computes the fp32 factor. Saturation clamps to [0, 1] and leaves the rounding functions alone
//! (isa-1, 4.4); it flushes fp32 subnormals, and is taken to keep fp16 ones. The result of function 3
//! of 0xaf is that of rsqrt.

use std::f64::consts::{FRAC_PI_2, LN_2};

use agx_isa::{FormId, Instr};

use super::super::lanes::{LANES, Lanes};
use super::super::microop::{MicroOp, Step};
use super::super::operand::{Dst, Src};
use super::super::wave::Wave;
use super::float32::{finish, flush};
use super::half;

/// The nearest integer, ties to even; the sign of zero is that of `x`.
#[inline(always)]
fn round_even(x: f32) -> f32 {
    // From here on every fp32 is an integer; the addition rounds what lies below.
    const INTEGERS: f32 = (1 << 23) as f32;
    let magnitude = x.abs();
    let rounded = (magnitude + INTEGERS) - INTEGERS;
    let kept = if magnitude < INTEGERS {
        rounded
    } else {
        magnitude
    };
    kept.copysign(x)
}

/// The integer next to `x` on the side of zero.
#[inline(always)]
pub(crate) fn truncate(x: f32) -> f32 {
    let magnitude = x.abs();
    let rounded = round_even(magnitude);
    let low = if rounded > magnitude {
        rounded - 1.0
    } else {
        rounded
    };
    low.copysign(x)
}

#[inline(always)]
fn floor(x: f32) -> f32 {
    let rounded = round_even(x);
    let low = if rounded > x { rounded - 1.0 } else { rounded };
    // The sign differs from that of x nowhere, zero included.
    low.copysign(x)
}

#[inline(always)]
fn ceil(x: f32) -> f32 {
    let rounded = round_even(x);
    let high = if rounded < x { rounded + 1.0 } else { rounded };
    high.copysign(x)
}

/// In this neighbourhood the unit of an fp64 is 1: adding it rounds to an integer, which the low bits
/// of the sum then hold in two's complement.
const INTEGERS: f64 = 1.5 * (1u64 << 52) as f64;

/// The nearest integer, ties to even, modulo 2^32; `x` is below 2^50.
#[inline(always)]
pub(crate) fn nearest_integer(x: f64) -> u32 {
    (x + INTEGERS).to_bits() as u32
}

/// The value of a polynomial, coefficients from the constant upwards.
#[inline(always)]
fn horner<const N: usize>(coefficients: &[f64; N], x: f64) -> f64 {
    let mut sum = coefficients[N - 1];
    for i in (0..N - 1).rev() {
        sum = sum * x + coefficients[i];
    }
    sum
}

/// `SIGN^n / (FIRST + STEP n)!`. The factorials up to 22! are exact in fp64, 23! is rounded.
const fn inverse_factorials<const N: usize>(first: u32, step: u32, sign: f64) -> [f64; N] {
    let mut out = [0.0; N];
    let mut factorial = 1.0;
    let mut reached = 1;
    let mut signed = 1.0;
    let mut n = 0;
    while n < N {
        while reached < first + step * n as u32 {
            reached += 1;
            factorial *= reached as f64;
        }
        out[n] = signed / factorial;
        signed *= sign;
        n += 1;
    }
    out
}

const fn odd_reciprocals<const N: usize>() -> [f64; N] {
    let mut out = [0.0; N];
    let mut n = 0;
    while n < N {
        out[n] = 1.0 / (2 * n + 1) as f64;
        n += 1;
    }
    out
}

/// (exp(t) - 1) / t, |t| <= ln(2) / 2: the next term is below 2^-57.
const EXP: [f64; 13] = inverse_factorials(1, 1, 1.0);
/// sin(t) / t in t^2, t <= pi / 2: the next term is below 2^-66.
const SIN: [f64; 12] = inverse_factorials(1, 2, -1.0);
/// artanh(s) / s in s^2, |s| <= 0.172: the next term is below 2^-60.
const ARTANH: [f64; 12] = odd_reciprocals();

/// 2^x. NaN stays NaN.
#[inline(always)]
fn exp2(x: f32) -> f64 {
    // Far outside what fp32 holds, and well inside fp64.
    let x = f64::from(x).clamp(-300.0, 300.0);
    let shifted = x + INTEGERS;
    let fraction = x - (shifted - INTEGERS);
    let scale = (shifted.to_bits() << 52).wrapping_add(1023 << 52);
    let t = fraction * LN_2;
    let above_one = t * horner(&EXP, t);
    let nearest = 1.0 + above_one;
    // What the sum lost, exactly. It sets the last bit: two fp32 have powers so close to the middle
    // between two fp32 that their fp64 is that middle.
    let error = above_one - (nearest - 1.0);
    let even = nearest.to_bits() & 1 ^ 1;
    let odd = nearest
        .to_bits()
        .wrapping_add(u64::from(error > 0.0) & even)
        .wrapping_sub(u64::from(error < 0.0) & even);
    f64::from_bits(odd) * f64::from_bits(scale)
}

/// log2(x), `x` not subnormal.
#[inline(always)]
fn log2(x: f32) -> f64 {
    // Cuts the bit pattern so that the significand lies in [sqrt(1/2), sqrt(2)).
    const SQRT_HALF: u32 = 0x3f35_04f3;
    let bits = x.to_bits().wrapping_sub(SQRT_HALF);
    let exponent = f64::from(bits as i32 >> 23);
    let significand = f32::from_bits((bits & 0x007f_ffff).wrapping_add(SQRT_HALF));
    let f = f64::from(significand) - 1.0;
    let s = f / (f + 2.0);
    let finite = exponent + s * horner(&ARTANH, s * s) * (2.0 / LN_2);
    let positive = if x == f32::INFINITY {
        f64::INFINITY
    } else {
        finite
    };
    let ordered = if x == 0.0 {
        f64::NEG_INFINITY
    } else {
        positive
    };
    if x >= 0.0 { ordered } else { f64::NAN }
}

/// 1 / sqrt(x); of a signed zero the infinity of its sign.
#[inline(always)]
fn rsqrt(x: f32) -> f64 {
    1.0 / f64::from(x).sqrt()
}

/// What x must be multiplied with to get its square root.
#[inline(always)]
fn sqrt_factor(x: f32) -> f64 {
    let ends = (x == 0.0) | (x == f32::INFINITY);
    if ends { 1.0 } else { rsqrt(x) }
}

/// sin(pi x / 2) / x.
#[inline(always)]
fn sin_factor(x: f32) -> f64 {
    let inside = x.abs() <= 1.0;
    let x = f64::from(x);
    let value = horner(&SIN, x * x * (FRAC_PI_2 * FRAC_PI_2)) * FRAC_PI_2;
    if inside { value } else { f64::NAN }
}

/// `imm[0]`: the source is a bfloat16, `imm[1]`: saturate.
#[inline(always)]
fn unary<const HALF: bool>(
    wave: &mut Wave<'_>,
    op: &MicroOp,
    single: impl Fn(f32) -> u32,
    narrow: impl Fn(f32) -> u32,
) -> Step {
    let mut temp = Lanes::ZERO;
    let mut out = *wave.read(&op.src[0], &mut temp);
    let shift = if op.imm[0] != 0 { 16 } else { 0 };
    for lane in 0..LANES {
        let a = f32::from_bits(flush(out.0[lane] << shift));
        out.0[lane] = if HALF { narrow(a) } else { single(a) };
    }
    if op.imm[1] != 0 {
        for lane in 0..LANES {
            out.0[lane] = if HALF {
                saturate_half(out.0[lane])
            } else {
                finish::<true>(f32::from_bits(out.0[lane]))
            };
        }
    }
    wave.write(op.dst, &out);
    Step::Next
}

/// To [0, 1]; NaN and everything negative to +0.
#[inline(always)]
fn saturate_half(bits: u32) -> u32 {
    const ONE: u32 = 0x3c00;
    let low = if bits > half::INFINITY { 0 } else { bits };
    low.min(ONE)
}

/// A function that rounds from fp64.
#[inline(always)]
fn run<const HALF: bool>(wave: &mut Wave<'_>, op: &MicroOp, f: impl Fn(f32) -> f64) -> Step {
    unary::<HALF>(
        wave,
        op,
        |a| finish::<false>(f(a) as f32),
        |a| half::narrow_f64(f(a)),
    )
}

/// A function whose fp32 results are exact or rounded already, and which narrow exactly.
#[inline(always)]
fn run_single<const HALF: bool>(wave: &mut Wave<'_>, op: &MicroOp, f: impl Fn(f32) -> f32) -> Step {
    unary::<HALF>(
        wave,
        op,
        |a| finish::<false>(f(a)),
        |a| half::narrow(f(a).to_bits()),
    )
}

/// An fp16 has 11 significant bits, and so has what is rounded to: a quotient 1 / x that is not
/// exactly between two fp16 is further from there than fp32 resolves, and rounding twice does no harm.
#[inline(always)]
fn run_rcp<const HALF: bool>(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    run_single::<HALF>(wave, op, |a| 1.0 / a)
}

#[inline(always)]
fn run_round_even<const HALF: bool>(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    run_single::<HALF>(wave, op, round_even)
}

#[inline(always)]
fn run_floor<const HALF: bool>(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    run_single::<HALF>(wave, op, floor)
}

#[inline(always)]
fn run_ceil<const HALF: bool>(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    run_single::<HALF>(wave, op, ceil)
}

#[inline(always)]
fn run_truncate<const HALF: bool>(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    run_single::<HALF>(wave, op, truncate)
}

#[inline(always)]
fn run_rsqrt<const HALF: bool>(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    run::<HALF>(wave, op, rsqrt)
}

#[inline(always)]
fn run_sqrt_factor(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    run::<false>(wave, op, sqrt_factor)
}

#[inline(always)]
fn run_log2<const HALF: bool>(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    run::<HALF>(wave, op, log2)
}

#[inline(always)]
fn run_exp2<const HALF: bool>(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    run::<HALF>(wave, op, exp2)
}

#[inline(always)]
fn run_sin_factor(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    run::<false>(wave, op, sin_factor)
}

crate::kernel! {
    rcp_single = run_rcp::<false>;
    rcp_half = run_rcp::<true>;
    round_even_single = run_round_even::<false>;
    round_even_half = run_round_even::<true>;
    floor_single = run_floor::<false>;
    floor_half = run_floor::<true>;
    ceil_single = run_ceil::<false>;
    ceil_half = run_ceil::<true>;
    truncate_single = run_truncate::<false>;
    truncate_half = run_truncate::<true>;
    rsqrt_single = run_rsqrt::<false>;
    rsqrt_half = run_rsqrt::<true>;
    log2_single = run_log2::<false>;
    log2_half = run_log2::<true>;
    exp2_single = run_exp2::<false>;
    exp2_half = run_exp2::<true>;
    sqrt_factor_single = run_sqrt_factor;
    sin_factor_single = run_sin_factor;
}

pub(in super::super) fn lower(instr: &Instr) -> Option<MicroOp> {
    match instr.id() {
        FormId::Rcp | FormId::Sfu | FormId::SfuRsqrt | FormId::SfuExp2 | FormId::SfuRsqrt3 => {}
        _ => return None,
    }
    let to_half = instr.modifier("d16")? == 1;
    let (exec, rounding) = match (instr.op_name(), to_half) {
        ("rcp", false) => (rcp_single(), false),
        ("rcp", true) => (rcp_half(), false),
        ("rsqrt" | "rsqrt_fn3", false) => (rsqrt_single(), false),
        ("rsqrt" | "rsqrt_fn3", true) => (rsqrt_half(), false),
        ("log2", false) => (log2_single(), false),
        ("log2", true) => (log2_half(), false),
        ("exp2", false) => (exp2_single(), false),
        ("exp2", true) => (exp2_half(), false),
        ("sqrt_factor", false) => (sqrt_factor_single(), false),
        ("sin_factor", false) => (sin_factor_single(), false),
        ("round_even", false) => (round_even_single(), true),
        ("round_even", true) => (round_even_half(), true),
        ("floor", false) => (floor_single(), true),
        ("floor", true) => (floor_half(), true),
        ("ceil", false) => (ceil_single(), true),
        ("ceil", true) => (ceil_half(), true),
        ("trunc", false) => (truncate_single(), true),
        ("trunc", true) => (truncate_half(), true),
        _ => return None,
    };
    // Source types: 2 = fp32, 1 = fp16, 0 = bfloat16 (isa-1, 4.4).
    let source = instr.modifier("st")?;
    let src = match source {
        0 | 2 => Src::of(instr, 1)?,
        1 => Src::float(instr, 1)?,
        _ => return None,
    };
    let saturate = instr.modifier("sat")? == 1 && !rounding;
    let op = MicroOp::new(exec)
        .srcs([src])
        .imms([u32::from(source == 0), u32::from(saturate)]);
    Some(op.dst(Dst::of(instr, 0)?))
}
