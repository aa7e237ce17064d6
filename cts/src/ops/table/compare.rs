// SPDX-License-Identifier: MIT
//! Comparisons, logic and selection.

use std::cmp::Ordering;

use crate::ops::lanes::Lanes;
use crate::ops::module::Controls;
use crate::ops::reference::expect::Expect;
use crate::ops::reference::format;
use crate::ops::test::OpTest;
use crate::ops::types::{FLOATS, INTEGERS, SIGNED, Scalar, Ty, UNSIGNED};

type Holds = fn(Ordering) -> bool;
type HoldsOrNot = fn(Option<Ordering>) -> bool;

const INTEGER: &[(&str, &[Scalar], Holds)] = &[
    ("OpIEqual", &INTEGERS, |o| o.is_eq()),
    ("OpINotEqual", &INTEGERS, |o| o.is_ne()),
    ("OpUGreaterThan", &UNSIGNED, |o| o.is_gt()),
    ("OpUGreaterThanEqual", &UNSIGNED, |o| o.is_ge()),
    ("OpULessThan", &UNSIGNED, |o| o.is_lt()),
    ("OpULessThanEqual", &UNSIGNED, |o| o.is_le()),
    ("OpSGreaterThan", &SIGNED, |o| o.is_gt()),
    ("OpSGreaterThanEqual", &SIGNED, |o| o.is_ge()),
    ("OpSLessThan", &SIGNED, |o| o.is_lt()),
    ("OpSLessThanEqual", &SIGNED, |o| o.is_le()),
];

/// Of floats, of which NaN have no order.
const FLOAT: &[(&str, HoldsOrNot)] = &[
    ("OpFOrdEqual", |o| o.is_some_and(Ordering::is_eq)),
    ("OpFUnordEqual", |o| o.is_none_or(Ordering::is_eq)),
    ("OpFOrdNotEqual", |o| o.is_some_and(Ordering::is_ne)),
    ("OpFUnordNotEqual", |o| o.is_none_or(Ordering::is_ne)),
    ("OpFOrdLessThan", |o| o.is_some_and(Ordering::is_lt)),
    ("OpFUnordLessThan", |o| o.is_none_or(Ordering::is_lt)),
    ("OpFOrdGreaterThan", |o| o.is_some_and(Ordering::is_gt)),
    ("OpFUnordGreaterThan", |o| o.is_none_or(Ordering::is_gt)),
    ("OpFOrdLessThanEqual", |o| o.is_some_and(Ordering::is_le)),
    ("OpFUnordLessThanEqual", |o| o.is_none_or(Ordering::is_le)),
    ("OpFOrdGreaterThanEqual", |o| o.is_some_and(Ordering::is_ge)),
    ("OpFUnordGreaterThanEqual", |o| {
        o.is_none_or(Ordering::is_ge)
    }),
];

type Logic = fn(bool, bool) -> bool;

const LOGIC: &[(&str, Logic)] = &[
    ("OpLogicalAnd", |x, y| x && y),
    ("OpLogicalOr", |x, y| x || y),
    ("OpLogicalEqual", |x, y| x == y),
    ("OpLogicalNotEqual", |x, y| x != y),
];

pub(super) fn tests(list: &mut Vec<OpTest>) {
    use Scalar::Bool;
    for (op, types, holds) in INTEGER {
        for s in types.iter().copied() {
            let holds = *holds;
            let lanes = Lanes::new(op, &[s, s], &[Bool]).op(op);
            list.push(
                lanes.reference(move |v| {
                    Expect::boolean(holds(s.integer(v[0]).cmp(&s.integer(v[1]))))
                }),
            );
        }
    }
    for (op, holds) in FLOAT {
        for s in FLOATS {
            for fast in [false, true] {
                let holds = *holds;
                let lanes = Lanes::new(op, &[s, s], &[Bool]).op(op);
                let lanes = if fast { lanes.fast() } else { lanes };
                list.push(lanes.reference(move |v| {
                    let format = format::of(s);
                    let mut allowed = Vec::new();
                    for x in format.flushed(v[0]) {
                        for y in format.flushed(v[1]) {
                            let order = format.decode(x).partial_cmp(&format.decode(y));
                            allowed.push(u64::from(holds(order)));
                        }
                    }
                    Expect::Bits(allowed)
                }));
            }
        }
    }
    for s in FLOATS {
        let format = format::of(s);
        let nan = Lanes::new("OpIsNan", &[s], &[Bool]).op("OpIsNan");
        list.push(nan.reference(move |v| Expect::boolean(format.is_nan(v[0]))));
        let infinite = Lanes::new("OpIsInf", &[s], &[Bool]).op("OpIsInf");
        list.push(infinite.reference(move |v| Expect::boolean(format.is_infinite(v[0]))));
    }
    for (op, value) in LOGIC {
        let value = *value;
        let lanes = Lanes::new(op, &[Bool, Bool], &[Bool]).op(op);
        list.push(lanes.reference(move |v| Expect::boolean(value(v[0] != 0, v[1] != 0))));
    }
    let not = Lanes::new("OpLogicalNot", &[Bool], &[Bool]).op("OpLogicalNot");
    list.push(not.reference(|v| Expect::boolean(v[0] == 0)));
    list.push(any_all());
    let all = INTEGERS.into_iter().chain(FLOATS).chain([Bool]);
    for s in all {
        let pick = |v: &[u64]| Expect::bits(if v[0] != 0 { v[1] } else { v[2] });
        list.push(
            Lanes::new("OpSelect", &[Bool, s, s], &[s])
                .op("OpSelect")
                .reference(pick),
        );
        // SPIR-V 1.4: one condition for whole vectors.
        let lanes = Lanes::new("OpSelect by a scalar", &[Bool, s, s], &[s]);
        list.push(lanes.op("OpSelect").shared(&[0]).reference(pick));
    }
}

fn any_all() -> OpTest {
    let four = Ty::new(Scalar::Bool, 4);
    let results = vec![Ty::from(Scalar::Bool); 6];
    OpTest {
        name: "OpAny OpAll bool".into(),
        operands: vec![four],
        results,
        controls: Controls::None,
        specialization: Vec::new(),
        body: Box::new(|m, operands| {
            let mut all = Vec::new();
            for op in ["OpAny", "OpAll"] {
                for lanes in [&[0, 1][..], &[0, 1, 2], &[0, 1, 2, 3]] {
                    let some = m.components(Scalar::Bool, &operands[0], lanes);
                    all.push(m.op(op, Scalar::Bool, &[some]));
                }
            }
            all
        }),
        reference: Box::new(|operands| {
            let v = operands[0];
            let any = [2, 3, 4].map(|n| v[..n].iter().any(|bit| *bit != 0));
            let all = [2, 3, 4].map(|n| v[..n].iter().all(|bit| *bit != 0));
            any.into_iter()
                .chain(all)
                .map(|value| vec![Expect::boolean(value)])
                .collect()
        }),
        inputs: Box::new(|| vec![(0..64).map(|at| ((at / 4) >> (at % 4)) & 1).collect()]),
    }
}
