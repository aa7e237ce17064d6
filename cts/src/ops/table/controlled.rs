// SPDX-License-Identifier: MIT
//! Float operations under the execution modes that the hardware has: single denormals are flushed,
//! half denormals preserved, results rounded to nearest even. Nothing of that is open any more, but
//! for the sign of a flushed result. And the rounding of conversions that FPRoundingMode names.

use crate::ops::inputs::{Random, edges};
use crate::ops::lanes::Lanes;
use crate::ops::module::Controls;
use crate::ops::reference::expect::{Allowed, Expect};
use crate::ops::reference::format::{self, Format, Round};
use crate::ops::reference::fused::mul_add;
use crate::ops::test::OpTest;
use crate::ops::types::{FLOATS, Scalar, Ty};

type Exact = fn(&[f64]) -> f64;

const CORE: &[(&str, usize, Exact)] = &[
    ("OpFAdd", 2, |v| v[0] + v[1]),
    ("OpFSub", 2, |v| v[0] - v[1]),
    ("OpFMul", 2, |v| v[0] * v[1]),
    ("OpFNegate", 1, |v| -v[0]),
];

const EXT: &[(&str, usize, Exact)] = &[
    ("FAbs", 1, |v| v[0].abs()),
    ("RoundEven", 1, |v| v[0].round_ties_even()),
    ("Trunc", 1, |v| v[0].trunc()),
    ("Floor", 1, |v| v[0].floor()),
    ("Ceil", 1, |v| v[0].ceil()),
    ("NMin", 2, |v| v[0].min(v[1])),
    ("NMax", 2, |v| v[0].max(v[1])),
];

/// Undefined for NaN, and limits that are the wrong way round.
const NUMBERS: &[(&str, usize, Exact)] = &[
    ("FMin", 2, |v| v[0].min(v[1])),
    ("FMax", 2, |v| v[0].max(v[1])),
    ("FClamp", 3, |v| v[0].max(v[1]).min(v[2])),
    ("NClamp", 3, |v| v[0].max(v[1]).min(v[2])),
];

type Holds = fn(f64, f64) -> bool;

const COMPARISONS: &[(&str, Holds)] = &[
    ("OpFOrdEqual", |x, y| x == y),
    ("OpFUnordNotEqual", |x, y| x != y),
    ("OpFOrdLessThan", |x, y| x < y),
    ("OpFOrdGreaterThanEqual", |x, y| x >= y),
    (
        "OpFUnordLessThan",
        |x, y| !matches!(x.partial_cmp(&y), Some(o) if o.is_ge()),
    ),
];

/// An operand's value.
fn operand(format: Format, bits: u64) -> f64 {
    let kept = !format.flushes || !format.is_denormal(bits);
    format.decode(if kept { bits } else { bits & format.sign() })
}

/// A result that is rounded already.
fn result(format: Format, bits: u64) -> Expect {
    match format.flushes && format.is_denormal(bits) {
        true => Expect::Float(vec![Allowed::Zero]),
        false => Expect::float(format, [bits]),
    }
}

pub(super) fn tests(list: &mut Vec<OpTest>) {
    for s in FLOATS {
        let format = format::of(s);
        let reference = move |v: &[u64], exact: Exact| {
            let values: Vec<f64> = v.iter().map(|bits| operand(format, *bits)).collect();
            result(format, format.round(exact(&values)))
        };
        for (op, count, exact) in CORE {
            let lanes = Lanes::new(op, &vec![s; *count], &[s]).op(op).controlled();
            let exact = *exact;
            list.push(lanes.reference(move |v| reference(v, exact)));
        }
        for (op, count, exact) in EXT {
            let lanes = Lanes::new(op, &vec![s; *count], &[s]).ext(op).controlled();
            let exact = *exact;
            list.push(lanes.reference(move |v| reference(v, exact).unsigned_zero(format)));
        }
        for (op, count, exact) in NUMBERS {
            let lanes = Lanes::new(op, &vec![s; *count], &[s]).ext(op).controlled();
            let exact = *exact;
            list.push(lanes.reference(move |v| {
                let values: Vec<f64> = v.iter().map(|bits| operand(format, *bits)).collect();
                let limits = values.get(1..3).unwrap_or_default();
                if values.iter().any(|v| v.is_nan()) || !limits.is_sorted() {
                    return Expect::Any;
                }
                reference(v, exact).unsigned_zero(format)
            }));
        }
        for (op, holds) in COMPARISONS {
            let lanes = Lanes::new(op, &[s, s], &[Scalar::Bool]).op(op).controlled();
            let holds = *holds;
            list.push(lanes.reference(move |v| {
                Expect::boolean(holds(operand(format, v[0]), operand(format, v[1])))
            }));
        }
        let fma = Lanes::new("Fma", &[s, s, s], &[s]).ext("Fma").controlled();
        list.push(fma.reference(move |v| fused_or_not(format, v)));
    }
    list.push(conversion(Scalar::F32, Scalar::F16));
    list.push(conversion(Scalar::F16, Scalar::F32));
    list.push(rounded_conversion(
        "RTE",
        Round::NearestEven,
        Round::NearestEven,
    ));
    list.push(rounded_conversion("RTZ", Round::Down, Round::Up));
}

fn fused_or_not(format: Format, v: &[u64]) -> Expect {
    let [x, y, z] = [v[0], v[1], v[2]].map(|bits| operand(format, bits));
    let product = operand(format, format.round(x * y));
    let all = [mul_add(format, x, y, z), format.round(product + z)];
    let allowed = all.iter().flat_map(|bits| match result(format, *bits) {
        Expect::Float(allowed) => allowed,
        _ => Vec::new(),
    });
    Expect::Float(allowed.collect())
}

fn conversion(from: Scalar, to: Scalar) -> OpTest {
    let (source, format) = (format::of(from), format::of(to));
    let lanes = Lanes::new("OpFConvert", &[from], &[to])
        .op("OpFConvert")
        .controlled();
    lanes.reference(move |v| result(format, format.round(operand(source, v[0]))))
}

/// A conversion to half on its way to memory, the only place for the decoration.
fn rounded_conversion(mode: &'static str, positive: Round, negative: Round) -> OpTest {
    let (single, half) = (format::of(Scalar::F32), format::of(Scalar::F16));
    let (from, to) = (Ty::new(Scalar::F32, 4), Ty::new(Scalar::F16, 4));
    let round =
        move |value: f64| half.round_value(value, if value < 0.0 { negative } else { positive });
    OpTest {
        name: format!("OpFConvert {mode} f32 -> f16"),
        operands: vec![from],
        results: vec![to],
        controls: Controls::Preserve,
        specialization: Vec::new(),
        body: Box::new(move |m, v| {
            let value = m.op("OpFConvert", to, v);
            m.annotate(&format!("OpDecorate {value} FPRoundingMode {mode}"));
            vec![value]
        }),
        reference: Box::new(move |v| {
            let one = |bits: &u64| {
                let all = single.flushed(*bits);
                Expect::float(
                    half,
                    all.iter()
                        .map(|bits| half.round(round(single.decode(*bits)))),
                )
            };
            vec![v[0].iter().map(one).collect()]
        }),
        inputs: Box::new(move || {
            let mut random = Random::new(mode);
            let mut values = edges(Scalar::F32);
            for _ in 0..4096 {
                values.push(random.value(Scalar::F32));
                // About halves, denormal ones too.
                let near = half.decode(random.value(Scalar::F16) & 0x7fff);
                let step = half.ulp(near.min(half.max())) * (random.next() % 5) as f64 / 4.0;
                values.push(single.round(near + step));
            }
            values.truncate(values.len() / 4 * 4);
            vec![values]
        }),
    }
}
