// SPDX-License-Identifier: MIT
//! Integer arithmetic.

use crate::ops::inputs::edges;
use crate::ops::lanes::Lanes;
use crate::ops::module::{Controls, Id, Module};
use crate::ops::reference::expect::Expect;
use crate::ops::test::OpTest;
use crate::ops::types::{INTEGERS, SIGNED, Scalar, Ty, UNSIGNED};

/// An operation of two operands on exact values; None where it is undefined.
pub(super) type Exact = fn(Scalar, i128, i128) -> Option<i128>;

fn divide(s: Scalar, x: i128, y: i128) -> Option<i128> {
    divides(s, x, y).then(|| x / y)
}

/// Vulkan without maintenance8 leaves negative operands of remainders undefined; Mesa's front end
/// does what SPIR-V says, so the back end must, too.
fn remainder(s: Scalar, x: i128, y: i128) -> Option<i128> {
    divides(s, x, y).then(|| x % y)
}

fn modulo(s: Scalar, x: i128, y: i128) -> Option<i128> {
    // The sign of the divisor.
    divides(s, x, y).then(|| (x % y + y) % y)
}

/// What Vulkan without maintenance8 defines.
fn modulo_of_naturals(s: Scalar, x: i128, y: i128) -> Option<i128> {
    modulo(s, x, y).filter(|_| x >= 0 && y >= 0)
}

/// The quotient exists and has a place in the type.
fn divides(s: Scalar, x: i128, y: i128) -> bool {
    y != 0 && !(s.is_signed() && x == s.limits().0 && y == -1)
}

fn shift_left(s: Scalar, x: i128, y: i128) -> Option<i128> {
    shift(s, y).map(|y| s.wrap(x << y) as i128)
}

fn shift_right_logical(s: Scalar, x: i128, y: i128) -> Option<i128> {
    shift(s, y).map(|y| (s.wrap(x) >> y).into())
}

/// Of the bits as a signed number.
fn shift_right_arithmetic(s: Scalar, x: i128, y: i128) -> Option<i128> {
    let unused = 128 - s.bits();
    shift(s, y).map(|y| (x << unused >> unused) >> y)
}

/// The amount, as an unsigned number, unless it is too much.
fn shift(s: Scalar, amount: i128) -> Option<u32> {
    let amount = s.wrap(amount);
    (amount < u64::from(s.bits())).then_some(amount as u32)
}

/// Instructions of two operands and one result of one type, with the types that they have.
const BINARY: &[(&str, &[Scalar], Exact)] = &[
    ("OpIAdd", &INTEGERS, |_, x, y| Some(x + y)),
    ("OpISub", &INTEGERS, |_, x, y| Some(x - y)),
    ("OpIMul", &INTEGERS, |_, x, y| Some(x.wrapping_mul(y))),
    ("OpUDiv", &UNSIGNED, divide),
    ("OpSDiv", &SIGNED, divide),
    ("OpUMod", &UNSIGNED, remainder),
    ("OpSRem", &SIGNED, remainder),
    ("OpSMod", &SIGNED, modulo_of_naturals),
    ("OpShiftLeftLogical", &INTEGERS, shift_left),
    ("OpShiftRightLogical", &INTEGERS, shift_right_logical),
    ("OpShiftRightArithmetic", &INTEGERS, shift_right_arithmetic),
    ("OpBitwiseAnd", &UNSIGNED, |_, x, y| Some(x & y)),
    ("OpBitwiseOr", &UNSIGNED, |_, x, y| Some(x | y)),
    ("OpBitwiseXor", &UNSIGNED, |_, x, y| Some(x ^ y)),
];

/// The same of GLSL.std.450.
const BINARY_EXT: &[(&str, &[Scalar], Exact)] = &[
    ("SMin", &SIGNED, |_, x, y| Some(x.min(y))),
    ("SMax", &SIGNED, |_, x, y| Some(x.max(y))),
    ("UMin", &UNSIGNED, |_, x, y| Some(x.min(y))),
    ("UMax", &UNSIGNED, |_, x, y| Some(x.max(y))),
];

type ExactUnary = fn(i128) -> i128;

const UNARY: &[(&str, &[Scalar], ExactUnary)] = &[
    ("OpSNegate", &INTEGERS, |x| -x),
    ("OpNot", &INTEGERS, |x| !x),
];

const UNARY_EXT: &[(&str, &[Scalar], ExactUnary)] = &[
    ("SAbs", &SIGNED, |x| x.abs()),
    ("SSign", &SIGNED, |x| x.signum()),
];

pub(super) fn expect(s: Scalar, value: Option<i128>) -> Expect {
    value.map_or(Expect::Any, |value| Expect::bits(s.wrap(value)))
}

pub(super) fn tests(list: &mut Vec<OpTest>) {
    for (op, types, exact) in BINARY {
        for s in types.iter().copied() {
            let mut lanes = Lanes::new(op, &[s, s], &[s]).op(op);
            if op.starts_with(SHIFTS) {
                lanes = lanes.extra(vec![Vec::new(), amounts(s)]);
            }
            let exact = *exact;
            list.push(
                lanes.reference(move |v| expect(s, exact(s, s.integer(v[0]), s.integer(v[1])))),
            );
            list.push(constants(op, s, exact));
        }
    }
    for (op, types, exact) in BINARY_EXT {
        for s in types.iter().copied() {
            let lanes = Lanes::new(op, &[s, s], &[s]).ext(op);
            let exact = *exact;
            list.push(
                lanes.reference(move |v| expect(s, exact(s, s.integer(v[0]), s.integer(v[1])))),
            );
        }
    }
    for (op, types, exact) in UNARY {
        for s in types.iter().copied() {
            let lanes = Lanes::new(op, &[s], &[s]).op(op);
            let exact = *exact;
            list.push(lanes.reference(move |v| expect(s, Some(exact(s.integer(v[0]))))));
        }
    }
    for (op, types, exact) in UNARY_EXT {
        for s in types.iter().copied() {
            let lanes = Lanes::new(op, &[s], &[s]).ext(op);
            let exact = *exact;
            list.push(lanes.reference(move |v| expect(s, Some(exact(s.integer(v[0]))))));
        }
    }
    for s in SIGNED {
        let lanes = Lanes::new("OpSMod of negative numbers", &[s, s], &[s]).op("OpSMod");
        list.push(lanes.reference(move |v| expect(s, modulo(s, s.integer(v[0]), s.integer(v[1])))));
    }
    for s in INTEGERS {
        list.push(clamp(s));
        list.push(mixed_shift(s));
    }
    for s in UNSIGNED {
        list.push(pair("OpIAddCarry", s, |s, x, y| {
            (x + y, i128::from(x + y > s.limits().1))
        }));
        list.push(pair("OpISubBorrow", s, |_, x, y| {
            (x - y, i128::from(x < y))
        }));
    }
    for s in INTEGERS {
        let op = if s.is_signed() {
            "OpSMulExtended"
        } else {
            "OpUMulExtended"
        };
        list.push(pair(op, s, |s, x, y| (x.wrapping_mul(y), high(s, x, y))));
    }
}

/// The high half of a product.
fn high(s: Scalar, x: i128, y: i128) -> i128 {
    if s == Scalar::U64 {
        return (((x as u128) * (y as u128)) >> 64) as i128;
    }
    (x * y) >> s.bits()
}

/// Instructions whose result is a structure of two.
fn pair(op: &'static str, s: Scalar, exact: fn(Scalar, i128, i128) -> (i128, i128)) -> OpTest {
    Lanes::new(op, &[s, s], &[s, s])
        .body(move |m, width, operands| {
            let ty = Ty::new(s, width);
            let both = m.structure(&[ty, ty]);
            let result = m.raw(op, &both, &operands.join(" "));
            vec![m.extract(ty, &result, 0), m.extract(ty, &result, 1)]
        })
        .references(move |v| {
            let (low, high) = exact(s, s.integer(v[0]), s.integer(v[1]));
            vec![Expect::bits(s.wrap(low)), Expect::bits(s.wrap(high))]
        })
}

fn clamp(s: Scalar) -> OpTest {
    let op = if s.is_signed() { "SClamp" } else { "UClamp" };
    Lanes::new(op, &[s, s, s], &[s])
        .ext(op)
        .reference(move |v| {
            let [x, low, high] = [0, 1, 2].map(|at| s.integer(v[at]));
            expect(s, (low <= high).then(|| x.clamp(low, high)))
        })
}

/// What the names of shifts begin with.
const SHIFTS: &str = "OpShift";

/// The amounts that shifts have.
fn amounts(s: Scalar) -> Vec<u64> {
    (0..u64::from(s.bits())).collect()
}

/// A shift whose amount has another type than what it shifts.
fn mixed_shift(s: Scalar) -> OpTest {
    let amount = match s.bits() {
        8 => Scalar::U32,
        16 => Scalar::I64,
        32 => Scalar::I8,
        _ => Scalar::U16,
    };
    Lanes::new("OpShiftLeftLogical", &[s, amount], &[s])
        .op("OpShiftLeftLogical")
        .extra(vec![Vec::new(), amounts(s)])
        .reference(move |v| {
            let amount = amount.wrap(amount.integer(v[1]));
            let fits = amount < u64::from(s.bits());
            expect(
                s,
                fits.then(|| s.wrap(i128::from(v[0]) << (amount & 63)) as i128),
            )
        })
}

/// The instruction with a constant on either side: compilers have other ways for those.
fn constants(op: &'static str, s: Scalar, exact: Exact) -> OpTest {
    /// Constants of a module.
    const SOME: usize = 24;
    let mut list: Vec<u64> = edges(s);
    for value in [5, 6, 9, 12, 25, 60, 641, 1000, -3, -10] {
        list.insert(6, s.wrap(value));
    }
    let lefts: Vec<u64> = list.iter().copied().take(6).collect();
    if op.starts_with(SHIFTS) {
        let some = amounts(s).len().div_ceil(SOME);
        list = amounts(s).into_iter().step_by(some).collect();
    }
    list.truncate(SOME);
    let (rights, lefts_too) = (list.clone(), lefts.clone());
    let count = list.len() + lefts.len();
    // Results go to vectors of four, to need fewer buffers.
    let vectors = count.div_ceil(4);
    OpTest {
        name: format!("{op} {s} with constants"),
        operands: vec![s.into()],
        results: vec![Ty::new(s, 4); vectors],
        controls: Controls::None,
        specialization: Vec::new(),
        body: Box::new(move |m: &mut Module, operands: &[Id]| {
            let x = &operands[0];
            let mut values = Vec::new();
            for bits in &list {
                let constant = m.constant(s, *bits);
                values.push(m.op(op, s, &[x.clone(), constant]));
            }
            for bits in &lefts {
                let constant = m.constant(s, *bits);
                values.push(m.op(op, s, &[constant, x.clone()]));
            }
            while values.len() < vectors * 4 {
                values.push(x.clone());
            }
            let fours = values.chunks(4);
            fours
                .map(|four| m.op("OpCompositeConstruct", Ty::new(s, 4), four))
                .collect()
        }),
        reference: Box::new(move |operands| {
            let bits = operands[0][0];
            let x = s.integer(bits);
            let rights = rights.iter().map(|y| expect(s, exact(s, x, s.integer(*y))));
            let lefts = lefts_too
                .iter()
                .map(|y| expect(s, exact(s, s.integer(*y), x)));
            let mut all: Vec<_> = rights.chain(lefts).collect();
            all.resize(vectors * 4, Expect::bits(bits));
            all.chunks(4).map(<[Expect]>::to_vec).collect()
        }),
        inputs: Box::new(move || {
            let rows = crate::ops::inputs::rows(op, &[s], &[]);
            // Few are enough of 16 bits: the plain test has all.
            let step = rows.len().div_ceil(2048);
            vec![rows.iter().step_by(step).map(|row| row[0]).collect()]
        }),
    }
}
