// SPDX-License-Identifier: MIT
//! Which floats a program may hold, so that Vulkan leaves nothing about them open.
//!
//! Vulkan lets an implementation flush denormals, forget the sign of zero and produce any NaN. A value that is
//! stored (to a variable, to memory, in a bit cast) is therefore *sane*: +0.0 or of middling magnitude. Between two
//! stores, [`range`] bounds exponents, and no result may come near denormals or infinity.

use super::tree::{Binary, Expr, Op, Program, Scalar, Stmt, Unary};

/// Exponents of sane f32 values, first and last.
pub const SANE_32: (i32, i32) = (-40, 39);
/// Exponents of sane f16 values, first and last. Differences of two are multiples of 2^-14, the least normal number.
pub const SANE_16: (i32, i32) = (-4, 5);

/// What is known of a float's value: it is zero or 2^low <= magnitude < 2^(high + 1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    /// Least exponent.
    pub low: i32,
    /// Largest exponent.
    pub high: i32,
    /// It could be -0.0 on some device.
    pub signed_zero: bool,
}

/// Bits of the fraction, and bias.
#[must_use]
pub const fn format(scalar: Scalar) -> (u32, i32) {
    if matches!(scalar, Scalar::F16) {
        (10, 15)
    } else {
        (23, 127)
    }
}

/// Exponents of sane values.
#[must_use]
pub const fn sane(scalar: Scalar) -> (i32, i32) {
    if matches!(scalar, Scalar::F16) {
        SANE_16
    } else {
        SANE_32
    }
}

/// The bits of the least sane magnitude, and those of the least that is too large.
#[must_use]
pub const fn sane_bits(scalar: Scalar) -> (u64, u64) {
    let (fraction, bias) = format(scalar);
    let (low, high) = sane(scalar);
    (
        ((low + bias) as u64) << fraction,
        ((high + 1 + bias) as u64) << fraction,
    )
}

/// The least and the largest integer that a float is clamped to before it becomes that type of integer; both are
/// floats of that type too. None if there is no such conversion.
#[must_use]
pub const fn clamp_for(from: Scalar, to: Scalar) -> Option<(i64, i64)> {
    Some(match (from, to) {
        (_, Scalar::I8) => (-128, 127),
        (_, Scalar::U8) => (0, 255),
        (Scalar::F16, Scalar::I32) => (-2048, 2048),
        (Scalar::F16, Scalar::U32) => (0, 2048),
        (Scalar::F32, Scalar::I16) => (-32768, 32767),
        (Scalar::F32, Scalar::U16) => (0, 65535),
        (Scalar::F32, Scalar::I32) => (-0x8000_0000, 0x7fff_ff80),
        (Scalar::F32, Scalar::U32) => (0, 0xffff_ff00),
        _ => return None,
    })
}

/// The range of a float expression; None if it may leave the normal numbers.
#[must_use]
pub fn range(e: &Expr) -> Option<Range> {
    let (fraction, bias) = format(e.ty.scalar);
    let (low, high) = sane(e.ty.scalar);
    let stored = Range {
        low,
        high,
        signed_zero: false,
    };
    let arg = |i: usize| range(&e.args[i]);
    let result = match e.op {
        Op::Var(_) | Op::Element(_) | Op::SharedAny(_) | Op::SharedOwn(_) | Op::Const(_) => stored,
        Op::Unary(Unary::Sane) => {
            if e.args[0].ty.scalar.is_float() {
                arg(0)?;
            }
            stored
        }
        Op::Unary(Unary::FNeg) => Range {
            signed_zero: true,
            ..arg(0)?
        },
        Op::Unary(Unary::FAbs) => Range {
            signed_zero: false,
            ..arg(0)?
        },
        // Floor, Ceil, Trunc, RoundEven.
        Op::Unary(_) => {
            let a = arg(0)?;
            Range {
                low: a.low.max(0),
                high: (a.high + 1).max(0),
                signed_zero: true,
            }
        }
        Op::Binary(Binary::FAdd | Binary::FSub) => {
            let (a, b) = (arg(0)?, arg(1)?);
            Range {
                low: a.low.min(b.low) - fraction as i32,
                high: a.high.max(b.high) + 1,
                signed_zero: true,
            }
        }
        Op::Binary(Binary::FMul) => {
            let (a, b) = (arg(0)?, arg(1)?);
            Range {
                low: a.low + b.low,
                high: a.high + b.high + 1,
                signed_zero: true,
            }
        }
        Op::Binary(_) | Op::Compose | Op::Shuffle(_) => e
            .args
            .iter()
            .map(range)
            .reduce(|a, b| Some(union(a?, b?)))??,
        Op::Select => union(arg(1)?, arg(2)?),
        Op::Extract(_) | Op::ExtractDynamic => arg(0)?,
        Op::Convert => match e.args[0].ty.scalar {
            Scalar::F16 => arg(0)?,
            from if e.ty.scalar == Scalar::F16 || from.bits() > 32 => Range {
                low: 0,
                high: 5,
                signed_zero: false,
            },
            _ => Range {
                low: 0,
                high: 32,
                signed_zero: false,
            },
        },
        // The only other one that gives a float; the generator does not: it takes Sane.
        _ => return None,
    };
    (result.low > -bias && result.high < bias).then_some(result)
}

fn union(a: Range, b: Range) -> Range {
    Range {
        low: a.low.min(b.low),
        high: a.high.max(b.high),
        signed_zero: a.signed_zero || b.signed_zero,
    }
}

/// Whether every value of this float expression is sane.
#[must_use]
pub fn storable(e: &Expr) -> bool {
    let (low, high) = sane(e.ty.scalar);
    range(e).is_some_and(|r| r.low >= low && r.high <= high && !r.signed_zero)
}

/// Whether every float of a program has a range, and what is stored is sane.
#[must_use]
pub fn is_safe(program: &Program) -> bool {
    let mut safe = true;
    let stored = |e: &Expr| !e.ty.scalar.is_float() || storable(e);
    program.visit(&mut |s: &Stmt| safe &= s.exprs().into_iter().all(stored));
    safe &= program
        .functions
        .iter()
        .filter_map(|f| f.result.as_ref())
        .all(stored);
    program.visit_exprs(&mut |e| {
        if e.ty.scalar.is_float() {
            safe &= range(e).is_some();
        }
        if e.op == Op::Bitcast {
            safe &= stored(&e.args[0]);
        }
    });
    safe
}
