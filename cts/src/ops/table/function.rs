// SPDX-License-Identifier: MIT
//! Functions with errors: division, roots, exponentials, trigonometry, by Vulkan's table of
//! precisions and the formulas that it names.

use crate::ops::lanes::Lanes;
use crate::ops::reference::expect::{Allowed, Expect};
use crate::ops::reference::format::{self, Format};
use crate::ops::reference::interval::Interval;
use crate::ops::test::OpTest;
use crate::ops::types::{FLOATS, Scalar};

type One = fn(Interval) -> Interval;
type Two = fn(Interval, Interval) -> Interval;
type Three = fn(Interval, Interval, Interval) -> Interval;

fn number(like: Interval, value: f64) -> Interval {
    like.constant_like(value)
}

fn sinh(x: Interval) -> Interval {
    x.exp().sub(x.neg().exp()).mul(number(x, 0.5))
}

fn cosh(x: Interval) -> Interval {
    x.exp().add(x.neg().exp()).mul(number(x, 0.5))
}

fn one_minus_square(x: Interval) -> Interval {
    number(x, 1.0).sub(x.mul(x)).sqrt()
}

fn is_within_one(x: Interval) -> bool {
    x.low() >= -1.0 && x.high() <= 1.0
}

fn asin(x: Interval) -> Interval {
    match is_within_one(x) {
        true => x.atan2(one_minus_square(x)),
        false => x.undefined_like(),
    }
}

fn acos(x: Interval) -> Interval {
    match is_within_one(x) {
        true => one_minus_square(x).atan2(x),
        false => x.undefined_like(),
    }
}

fn asinh(x: Interval) -> Interval {
    x.add(x.mul(x).add(number(x, 1.0)).sqrt()).log()
}

fn acosh(x: Interval) -> Interval {
    match x.low() >= 1.0 {
        true => x.add(x.mul(x).sub(number(x, 1.0)).sqrt()).log(),
        false => x.undefined_like(),
    }
}

fn atanh(x: Interval) -> Interval {
    let one = number(x, 1.0);
    match x.low() > -1.0 && x.high() < 1.0 {
        true => one.add(x).div(one.sub(x)).log().mul(number(x, 0.5)),
        false => x.undefined_like(),
    }
}

/// Logarithms of zero and less are undefined.
fn positive(x: Interval, function: One) -> Interval {
    if x.high() > 0.0 {
        function(x)
    } else {
        x.undefined_like()
    }
}

const ONE: &[(&str, One)] = &[
    ("Radians", |x| {
        x.mul(number(x, std::f64::consts::PI / 180.0))
    }),
    ("Degrees", |x| {
        x.mul(number(x, 180.0 / std::f64::consts::PI))
    }),
    ("Sin", Interval::sin),
    ("Cos", Interval::cos),
    ("Tan", |x| x.sin().div(x.cos())),
    ("Asin", asin),
    ("Acos", acos),
    ("Atan", Interval::atan),
    ("Sinh", sinh),
    ("Cosh", cosh),
    ("Tanh", |x| sinh(x).div(cosh(x))),
    ("Asinh", asinh),
    ("Acosh", acosh),
    ("Atanh", atanh),
    ("Exp", Interval::exp),
    ("Log", |x| positive(x, Interval::log)),
    ("Exp2", Interval::exp2),
    ("Log2", |x| positive(x, Interval::log2)),
    ("Sqrt", |x| {
        if x.low() < 0.0 {
            x.undefined_like()
        } else {
            x.sqrt()
        }
    }),
    ("InverseSqrt", |x| positive(x, Interval::inverse_sqrt)),
];

fn pow(x: Interval, y: Interval) -> Interval {
    // Undefined for negative x, and for x = 0 with y that is not positive.
    if x.low() < 0.0 || x.low() == 0.0 && y.low() <= 0.0 {
        return x.undefined_like();
    }
    y.mul(x.log2()).exp2()
}

const TWO: &[(&str, Two)] = &[("Atan2", |y, x| y.atan2(x)), ("Pow", pow)];

const TWO_CORE: &[(&str, Two)] = &[
    ("OpFRem", |x, y| x.sub(y.mul(x.div(y).trunc()))),
    ("OpFMod", |x, y| x.sub(y.mul(x.div(y).floor()))),
];

fn smooth_step(low: Interval, high: Interval, x: Interval) -> Interval {
    // Undefined unless the edges are in order.
    if low.high() >= high.low() {
        return x.undefined_like();
    }
    let t = x.sub(low).div(high.sub(low)).clamp(0.0, 1.0);
    t.mul(t).mul(number(x, 3.0).sub(number(x, 2.0).mul(t)))
}

const THREE: &[(&str, Three)] = &[
    ("FMix", |x, y, a| x.mul(number(x, 1.0).sub(a)).add(y.mul(a))),
    ("SmoothStep", smooth_step),
];

pub(super) fn tests(list: &mut Vec<OpTest>) {
    for s in FLOATS {
        for fast in [false, true] {
            let set = |lanes: Lanes| if fast { lanes.fast() } else { lanes };
            for (op, function) in ONE {
                let function = *function;
                let lanes = Lanes::new(op, &[s], &[s]).ext(op).extra(vec![angles(s)]);
                list.push(set(lanes).reference(move |v| apply(s, v, |v| function(v[0]))));
            }
            list.push(
                set(Lanes::new("OpFDiv", &[s, s], &[s]).op("OpFDiv"))
                    .reference(move |v| divided(format::of(s), v[0], v[1])),
            );
        }
        for (op, function) in TWO {
            let function = *function;
            let lanes = Lanes::new(op, &[s, s], &[s]).ext(op);
            list.push(lanes.reference(move |v| apply(s, v, |v| function(v[0], v[1]))));
        }
        for (op, function) in TWO_CORE {
            let function = *function;
            let lanes = Lanes::new(op, &[s, s], &[s]).op(op);
            list.push(lanes.reference(move |v| apply(s, v, |v| function(v[0], v[1]))));
        }
        for (op, function) in THREE {
            let function = *function;
            let lanes = Lanes::new(op, &[s, s, s], &[s]).ext(op);
            list.push(lanes.reference(move |v| apply(s, v, |v| function(v[0], v[1], v[2]))));
        }
        list.push(constant_division(s));
    }
}

/// NaN in is undefined here: the formulas of the table say nothing of it.
fn apply(s: Scalar, operands: &[u64], function: impl Fn(&[Interval]) -> Interval) -> Expect {
    let format = format::of(s);
    if operands.iter().any(|bits| format.is_nan(*bits)) {
        return Expect::Any;
    }
    let operands: Vec<_> = operands
        .iter()
        .map(|bits| Interval::operand(format, *bits))
        .collect();
    function(&operands).expect()
}

/// Division as programs rely on it: with a divisor in the table's range or without a finite
/// reciprocal, infinities and NaN are as IEEE 754 has them, since the modules ask for those to be
/// preserved.
fn divided(format: Format, x: u64, y: u64) -> Expect {
    let (vx, vy) = (format.decode(x), format.decode(y));
    if vx.is_nan() || vy.is_nan() {
        return Expect::Float(vec![Allowed::Nan]);
    }
    // Beyond that the reciprocal may be zero.
    if vy.is_finite() && vy.abs() > 1.0 / format.min_normal() {
        return Expect::Any;
    }
    if vx.is_infinite() || vy.is_infinite() || vy == 0.0 {
        let mut all = Vec::new();
        for fx in format.flushed(x) {
            for fy in format.flushed(y) {
                all.push(format.round(format.decode(fx) / format.decode(fy)));
            }
        }
        return Expect::float(format, all).unsigned_zero(format);
    }
    Interval::operand(format, x)
        .div(Interval::operand(format, y))
        .expect()
}

/// Division by constants, which compilers turn into multiplication, exactly or not.
fn constant_division(s: Scalar) -> OpTest {
    const DIVISORS: [f64; 4] = [2.0, 3.0, -0.125, 10.0];
    let format = format::of(s);
    Lanes::new("OpFDiv by constants", &[s], &[s; 4])
        .scalars_only()
        .fast()
        .body(move |m, _, v| {
            let each = DIVISORS.map(|divisor| {
                let divisor = m.constant(s, format.round(divisor));
                m.op("OpFDiv", s, &[v[0].clone(), divisor])
            });
            each.to_vec()
        })
        .references(move |v| {
            DIVISORS
                .map(|divisor| divided(format, v[0], format.round(divisor)))
                .to_vec()
        })
}

/// Operands in the middle of the range of most functions.
fn angles(s: Scalar) -> Vec<u64> {
    if s == Scalar::F16 {
        // All are tried.
        return Vec::new();
    }
    let format = format::of(s);
    let steps = (-128..=128).map(|step| f64::from(step) / 32.0);
    let near = (-40..=40).map(|step| f64::from(step) * std::f64::consts::FRAC_PI_4);
    let unit = (-64..=64).map(|step| f64::from(step) / 64.0);
    steps
        .chain(near)
        .chain(unit)
        .map(|value| format.round(value))
        .collect()
}
