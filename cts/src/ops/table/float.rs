// SPDX-License-Identifier: MIT
//! Float arithmetic whose results are exact or correctly rounded.
//!
//! Vulkan leaves the direction of rounding open unless a module names it; the driver promises
//! nearest even, so that is what these tests ask for.

use crate::ops::lanes::Lanes;
use crate::ops::module::Module;
use crate::ops::reference::expect::{Allowed, Expect};
use crate::ops::reference::format::{self, Format, Round};
use crate::ops::reference::fused::mul_add;
use crate::ops::test::OpTest;
use crate::ops::types::{FLOATS, Scalar, Ty};

/// The results of a function of exact operands, rounded, with denormal operands as they are and
/// flushed.
pub(super) fn rounded(format: Format, operands: &[u64], exact: impl Fn(&[f64]) -> f64) -> Expect {
    let mut all = Vec::new();
    for operands in format.all_flushed(operands) {
        let values: Vec<_> = operands.iter().map(|bits| format.decode(*bits)).collect();
        all.push(format.round(exact(&values)));
    }
    Expect::float(format, all)
}

/// Of f64, where sums and products of two singles are correctly rounded or exact: rounding those
/// again to single gives the correctly rounded result.
type Exact = fn(&[f64]) -> f64;

const OPS: &[(&str, usize, Exact)] = &[
    ("OpFAdd", 2, |v| v[0] + v[1]),
    ("OpFSub", 2, |v| v[0] - v[1]),
    ("OpFMul", 2, |v| v[0] * v[1]),
    ("OpFNegate", 1, |v| -v[0]),
];

const EXT: &[(&str, usize, Exact)] = &[("FAbs", 1, |v| v[0].abs())];

/// Rounding to integers, where the sign of a zero is left open.
const ROUNDING: &[(&str, Exact)] = &[
    ("RoundEven", |v| v[0].round_ties_even()),
    ("Trunc", |v| v[0].trunc()),
    ("Floor", |v| v[0].floor()),
    ("Ceil", |v| v[0].ceil()),
];

pub(super) fn tests(list: &mut Vec<OpTest>) {
    for s in FLOATS {
        let format = format::of(s);
        for (op, count, exact) in OPS {
            for fast in [false, true] {
                let lanes = Lanes::new(op, &vec![s; *count], &[s]).op(op);
                let lanes = if fast { lanes.fast() } else { lanes };
                let exact = *exact;
                list.push(lanes.reference(move |v| rounded(format, v, exact)));
            }
        }
        for (op, count, exact) in EXT {
            let lanes = Lanes::new(op, &vec![s; *count], &[s]).ext(op);
            let exact = *exact;
            list.push(lanes.reference(move |v| rounded(format, v, exact)));
        }
        for (op, exact) in ROUNDING {
            let lanes = Lanes::new(op, &[s], &[s]).ext(op);
            let exact = *exact;
            list.push(lanes.reference(move |v| rounded(format, v, exact).unsigned_zero(format)));
        }
        list.push(
            Lanes::new("Round", &[s], &[s])
                .ext("Round")
                .reference(move |v| {
                    let value = format.decode(v[0]);
                    // Halves go either way.
                    let both =
                        [value.round_ties_even(), value.round()].map(|value| format.round(value));
                    let zero = rounded(format, v, |v| v[0].round());
                    join(zero, Expect::float(format, both)).unsigned_zero(format)
                }),
        );
        list.push(fract(s));
        list.push(
            Lanes::new("FSign", &[s], &[s])
                .ext("FSign")
                .reference(move |v| {
                    if format.is_nan(v[0]) {
                        return Expect::Any;
                    }
                    let sign = |v: &[f64]| if v[0] == 0.0 { v[0] } else { v[0].signum() };
                    rounded(format, v, sign).unsigned_zero(format)
                }),
        );
        list.push(fused(s, false));
        list.push(fused(s, true));
        list.push(contracted(s));
        list.push(modf(s, false));
        list.push(modf(s, true));
        list.push(frexp(s, "Frexp", false));
        list.push(frexp(s, "FrexpStruct", false));
        list.push(frexp(s, "Frexp of denormals", true));
        list.push(ldexp(s));
        min_max(list, s);
        list.push(clamp(s, "FClamp"));
        list.push(clamp(s, "NClamp"));
        list.push(step(s));
        list.push(saturate(s));
    }
}

/// What one or the other allows.
fn join(a: Expect, b: Expect) -> Expect {
    match (a, b) {
        (Expect::Float(mut a), Expect::Float(b)) => {
            a.extend(b);
            Expect::Float(a)
        }
        _ => Expect::Any,
    }
}

fn fract(s: Scalar) -> OpTest {
    let format = format::of(s);
    Lanes::new("Fract", &[s], &[s])
        .ext("Fract")
        .reference(move |v| {
            // x - floor(x) is NaN for infinities, but drivers clamp below one.
            if format.is_nan(v[0]) || format.is_infinite(v[0]) {
                return Expect::Any;
            }
            let mut all = Vec::new();
            for bits in format.flushed(v[0]) {
                let value = format.decode(bits);
                let exact = value - value.floor();
                let bits = format.round(exact);
                all.push(bits);
                // Rounded up to one; drivers may keep it below.
                if exact < 1.0 && format.decode(bits) == 1.0 {
                    all.push(bits - 1);
                }
            }
            Expect::float(format, all).unsigned_zero(format)
        })
}

/// Fma, which may round the product, too.
fn fused(s: Scalar, fast: bool) -> OpTest {
    let lanes = Lanes::new("Fma", &[s, s, s], &[s]).ext("Fma");
    let lanes = if fast { lanes.fast() } else { lanes };
    lanes.reference(move |v| fused_or_not(format::of(s), v))
}

fn fused_or_not(format: Format, v: &[u64]) -> Expect {
    let mut all = Vec::new();
    for v in format.all_flushed(v) {
        let [x, y, z] = [v[0], v[1], v[2]].map(|bits| format.decode(bits));
        all.push(mul_add(format, x, y, z));
        let product = format.round(x * y);
        for product in format.flushed(product) {
            all.push(format.round(format.decode(product) + z));
        }
    }
    Expect::float(format, all)
}

/// A product and a sum, which may be one instruction unless the product is NoContraction.
fn contracted(s: Scalar) -> OpTest {
    let format = format::of(s);
    Lanes::new("OpFMul OpFAdd, NoContraction and not", &[s, s, s], &[s, s])
        .body(move |m: &mut Module, width, v| {
            let ty = Ty::new(s, width);
            let mut results = Vec::new();
            for exact in [true, false] {
                let product = m.op("OpFMul", ty, &v[..2]);
                let sum = m.op("OpFAdd", ty, &[product.clone(), v[2].clone()]);
                if exact {
                    for id in [product, sum.clone()] {
                        m.annotate(&format!("OpDecorate {id} NoContraction"));
                    }
                }
                results.push(sum);
            }
            results
        })
        .references(move |v| {
            let mut all = Vec::new();
            for v in format.all_flushed(v) {
                let [x, y, z] = [v[0], v[1], v[2]].map(|bits| format.decode(bits));
                for product in format.flushed(format.round(x * y)) {
                    all.push(format.round(format.decode(product) + z));
                }
            }
            vec![Expect::float(format, all), fused_or_not(format, v)]
        })
}

fn modf(s: Scalar, structure: bool) -> OpTest {
    let format = format::of(s);
    let name = if structure { "ModfStruct" } else { "Modf" };
    Lanes::new(name, &[s], &[s, s])
        .body(move |m, width, v| {
            let ty = Ty::new(s, width);
            if structure {
                let both = m.structure(&[ty, ty]);
                let result = m.raw("OpExtInst", &both, &format!("%glsl ModfStruct {}", v[0]));
                return vec![m.extract(ty, &result, 0), m.extract(ty, &result, 1)];
            }
            let whole = m.variable(ty);
            let part = m.ext("Modf", ty, &[v[0].clone(), whole.clone()]);
            vec![part, m.op("OpLoad", ty, &[whole])]
        })
        .references(move |v| {
            let whole = rounded(format, v, |v| v[0].trunc()).unsigned_zero(format);
            let part = match format.is_infinite(v[0]) {
                true => Expect::Any,
                false => rounded(format, v, |v| v[0] - v[0].trunc()).unsigned_zero(format),
            };
            vec![part, whole]
        })
}

/// Either of all numbers but denormals, or of denormals.
fn frexp(s: Scalar, name: &str, of_denormals: bool) -> OpTest {
    let format = format::of(s);
    let structure = name == "FrexpStruct";
    Lanes::new(name, &[s], &[s, Scalar::I32])
        .body(move |m, width, v| {
            let (ty, exponents) = (Ty::new(s, width), Ty::new(Scalar::I32, width));
            if structure {
                let both = m.structure(&[ty, exponents]);
                let result = m.raw("OpExtInst", &both, &format!("%glsl FrexpStruct {}", v[0]));
                return vec![m.extract(ty, &result, 0), m.extract(exponents, &result, 1)];
            }
            let exponent = m.variable(exponents);
            let part = m.ext("Frexp", ty, &[v[0].clone(), exponent.clone()]);
            vec![part, m.op("OpLoad", exponents, &[exponent])]
        })
        .references(move |v| {
            if format.is_nan(v[0])
                || format.is_infinite(v[0])
                || format.is_denormal(v[0]) != of_denormals
            {
                return vec![Expect::Any, Expect::Any];
            }
            let (mut parts, mut exponents) = (Vec::new(), Vec::new());
            for bits in format.flushed(v[0]) {
                let value = format.decode(bits);
                let exponent = match value == 0.0 {
                    true => 0,
                    false => format::exponent(value.abs()) + 1,
                };
                parts.push(format.round(value / 2f64.powi(exponent)));
                exponents.push(Scalar::I32.wrap(exponent.into()));
            }
            let part = Expect::float(format, parts).unsigned_zero(format);
            vec![part, Expect::Bits(exponents)]
        })
}

fn ldexp(s: Scalar) -> OpTest {
    let format = format::of(s);
    let i32 = |value: i128| Scalar::I32.wrap(value);
    let exponents = (-30..=16).chain([
        -126, -127, -149, -150, -151, 100, 127, 128, 129, -1000, 1000,
    ]);
    let exponents: Vec<u64> = exponents.map(i32).collect();
    Lanes::new("Ldexp", &[s, Scalar::I32], &[s])
        .ext("Ldexp")
        .extra(vec![Vec::new(), exponents])
        .reference(move |v| {
            let exponent = Scalar::I32.integer(v[1]);
            let limit = if format.is_half() { 16 } else { 128 };
            if format.is_nan(v[0]) || format.is_infinite(v[0]) || exponent > limit {
                return Expect::Any;
            }
            let value = format.decode(v[0]);
            let scaled = value * 2f64.powi(exponent.max(-400) as i32);
            if scaled.abs() > format.max() {
                return Expect::Any;
            }
            // Below the normal range either direction of rounding, or zero.
            let small = exponent < (format.min_exponent()).into();
            let tiny = scaled.abs() < format.min_normal();
            let mut allowed = vec![Allowed::Bits(format.round(scaled))];
            if tiny {
                let [low, high] =
                    [Round::Down, Round::Up].map(|way| format.round_value(scaled, way));
                allowed.push(Allowed::Range(low, high));
            }
            if small || tiny && format.flushes || format.flushed(v[0]).len() > 1 {
                allowed.push(Allowed::Zero);
            }
            Expect::Float(allowed).unsigned_zero(format)
        })
}

fn min_max(list: &mut Vec<OpTest>, s: Scalar) {
    let format = format::of(s);
    for (op, takes_greater, avoids_nan) in [
        ("FMin", false, false),
        ("FMax", true, false),
        ("NMin", false, true),
        ("NMax", true, true),
    ] {
        for fast in [false, true] {
            let lanes = Lanes::new(op, &[s, s], &[s]).ext(op);
            let lanes = if fast { lanes.fast() } else { lanes };
            list.push(lanes.reference(move |v| {
                let all = chosen(format, v[0], v[1], takes_greater, avoids_nan);
                Expect::float(format, all).unsigned_zero(format)
            }));
        }
    }
}

/// What a minimum or maximum may be. Denormals count as zero or not, and the result is one of the
/// operands all the same or flushed.
fn chosen(format: Format, x: u64, y: u64, greater: bool, avoids_nan: bool) -> Vec<u64> {
    if format.is_nan(x) || format.is_nan(y) {
        return match (format.is_nan(x), format.is_nan(y)) {
            (true, true) => vec![format.nan()],
            (true, false) if avoids_nan => vec![y],
            (false, true) if avoids_nan => vec![x],
            // FMin and FMax: either.
            _ => vec![x, y],
        };
    }
    let mut all = Vec::new();
    for fx in format.flushed(x) {
        for fy in format.flushed(y) {
            let (vx, vy) = (format.decode(fx), format.decode(fy));
            if vx == vy {
                all.extend([x, y]);
            } else if (vx > vy) == greater {
                all.push(x);
            } else {
                all.push(y);
            }
        }
    }
    all
}

fn clamp(s: Scalar, op: &'static str) -> OpTest {
    let format = format::of(s);
    let avoids_nan = op == "NClamp";
    Lanes::new(op, &[s, s, s], &[s])
        .ext(op)
        .reference(move |v| {
            let [x, low, high] = [v[0], v[1], v[2]].map(|bits| format.decode(bits));
            // Undefined if the limits are the wrong way round, and with NaN as limits.
            let in_order = low <= high;
            if !in_order || x.is_nan() && !avoids_nan {
                return Expect::Any;
            }
            if x.is_nan() {
                // min(max(x, low), high), with the NaN out of the way.
                let all = chosen(format, v[1], v[2], false, true);
                return Expect::float(format, all).unsigned_zero(format);
            }
            let mut all = Vec::new();
            for bits in chosen(format, v[0], v[1], true, avoids_nan) {
                all.extend(chosen(format, bits, v[2], false, avoids_nan));
            }
            Expect::float(format, all).unsigned_zero(format)
        })
}

fn step(s: Scalar) -> OpTest {
    let format = format::of(s);
    Lanes::new("Step", &[s, s], &[s])
        .ext("Step")
        .reference(move |v| {
            if format.is_nan(v[0]) || format.is_nan(v[1]) {
                return Expect::Any;
            }
            rounded(format, v, |v| if v[1] < v[0] { 0.0 } else { 1.0 })
        })
}

/// NaN gives 0.
fn saturated(value: f64) -> f64 {
    if value > 0.0 { value.min(1.0) } else { 0.0 }
}

/// A clamp to 0 and 1, for which the hardware has a modifier, of a sum and of a product.
fn saturate(s: Scalar) -> OpTest {
    let format = format::of(s);
    Lanes::new("saturated OpFAdd and OpFMul", &[s, s], &[s, s])
        .body(move |m, width, v| {
            let ty = Ty::new(s, width);
            let [zero, one] = [0.0, 1.0].map(|value| m.splat(ty, format.round(value)));
            let clamped = ["OpFAdd", "OpFMul"].map(|op| {
                let value = m.op(op, ty, v);
                m.ext("NClamp", ty, &[value, zero.clone(), one.clone()])
            });
            clamped.to_vec()
        })
        .references(move |v| {
            let clamped = |exact: Exact| {
                let clamp = |v: &[f64]| saturated(exact(v));
                rounded(format, v, clamp).unsigned_zero(format)
            };
            vec![clamped(|v| v[0] + v[1]), clamped(|v| v[0] * v[1])]
        })
}
