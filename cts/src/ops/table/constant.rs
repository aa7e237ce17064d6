// SPDX-License-Identifier: MIT
//! Constants of every kind, and specialisation.

use mesa_nir::SpecConstant;

use crate::ops::inputs::edges;
use crate::ops::module::{Controls, Id, Module};
use crate::ops::reference::expect::Expect;
use crate::ops::reference::format;
use crate::ops::test::OpTest;
use crate::ops::types::{FLOATS, INTEGERS, Scalar, Ty};

use super::integer::expect;

pub(super) fn tests(list: &mut Vec<OpTest>) {
    let all: Vec<Scalar> = INTEGERS
        .into_iter()
        .chain(FLOATS)
        .chain([Scalar::Bool])
        .collect();
    for s in &all {
        list.push(plain(*s));
        list.push(composites(*s));
        list.push(specialised(*s));
    }
    for s in INTEGERS {
        list.push(operations(s));
    }
    list.push(logic());
}

/// A test whose results do not depend on its operand.
fn test(
    name: String,
    results: Vec<Ty>,
    specialization: Vec<SpecConstant>,
    body: impl Fn(&mut Module) -> Vec<Id> + Send + Sync + 'static,
    expected: Vec<Vec<Expect>>,
) -> OpTest {
    OpTest {
        name,
        operands: vec![Scalar::U32.into()],
        results,
        controls: Controls::Preserve,
        specialization,
        body: Box::new(move |m, _| body(m)),
        reference: Box::new(move |_| expected.clone()),
        inputs: Box::new(|| vec![vec![0, 1]]),
    }
}

/// Every edge of the type as a constant.
fn plain(s: Scalar) -> OpTest {
    let mut values = edges(s);
    values.truncate(values.len().min(48) / 4 * 4);
    if s == Scalar::Bool {
        values = vec![0, 1, 1, 0];
    }
    let expected = values
        .chunks(4)
        .map(|four| four.iter().map(|x| Expect::bits(*x)).collect());
    let expected: Vec<Vec<Expect>> = expected.collect();
    let ty = Ty::new(s, 4);
    let body = move |m: &mut Module| {
        let fours = values.chunks(4).map(|four| {
            let four: Vec<_> = four.iter().map(|bits| m.constant(s, *bits)).collect();
            m.op("OpCompositeConstruct", ty, &four)
        });
        fours.collect()
    };
    test(
        format!("OpConstant {s}"),
        vec![ty; expected.len()],
        Vec::new(),
        body,
        expected,
    )
}

/// OpConstantComposite and OpConstantNull of a vector, a structure and an array.
fn composites(s: Scalar) -> OpTest {
    let all = edges(s);
    let values = [0, 1, 2, 3].map(|at| all[(at * 3 + 1) % all.len()]);
    let bits = |list: &[u64]| {
        list.iter()
            .map(|bits| Expect::bits(*bits))
            .collect::<Vec<_>>()
    };
    let expected = vec![
        bits(&values),
        bits(&[0; 3]),
        bits(&[values[1]]),
        bits(&values[2..]),
    ];
    let (four, three, two) = (Ty::new(s, 4), Ty::new(s, 3), Ty::new(s, 2));
    let body = move |m: &mut Module| {
        let parts = values.map(|bits| m.constant(s, bits));
        let ty = m.ty(four);
        let vector = m.declare(&format!("OpConstantComposite {ty} {}", parts.join(" ")));
        let null_ty = m.ty(three);
        let null = m.declare(&format!("OpConstantNull {null_ty}"));
        let pair_ty = m.ty(two);
        let pair = m.declare(&format!(
            "OpConstantComposite {pair_ty} {} {}",
            parts[2], parts[3]
        ));
        let structure = m.structure(&[s.into(), two]);
        let structure = (
            m.declare(&format!(
                "OpConstantComposite {structure} {} {pair}",
                parts[1]
            )),
            structure,
        );
        let one = m.constant(Scalar::U32, 2);
        let array = m.declare(&format!("OpTypeArray {} {one}", structure.1));
        let null_structure = m.declare(&format!("OpConstantNull {}", structure.1));
        let array = m.declare(&format!(
            "OpConstantComposite {array} {null_structure} {}",
            structure.0
        ));
        let scalar_ty = m.ty(s);
        let scalar = m.raw("OpCompositeExtract", &scalar_ty, &format!("{array} 1 0"));
        let pair = m.raw("OpCompositeExtract", &pair_ty, &format!("{array} 1 1"));
        vec![vector, null, scalar, pair]
    };
    let name = format!("OpConstantComposite OpConstantNull {s}");
    test(
        name,
        vec![four, three, s.into(), two],
        Vec::new(),
        body,
        expected,
    )
}

fn spec(m: &mut Module, s: Scalar, id: u32, default: u64) -> Id {
    let ty = m.ty(s);
    let constant = match s {
        Scalar::Bool if default != 0 => m.declare_another(&format!("OpSpecConstantTrue {ty}")),
        Scalar::Bool => m.declare_another(&format!("OpSpecConstantFalse {ty}")),
        _ => m.declare_another(&format!(
            "OpSpecConstant {ty} {}",
            Module::literal(s, default)
        )),
    };
    m.annotate(&format!("OpDecorate {constant} SpecId {id}"));
    constant
}

/// Two constants with a value and two without; the IDs are not in order.
fn specialised(s: Scalar) -> OpTest {
    let all = edges(s);
    let [first, second, third] = [1, 4, 9].map(|at| all[at % all.len()]);
    let specialization = vec![
        SpecConstant {
            id: 70,
            bits: first,
        },
        SpecConstant {
            id: 3,
            bits: second,
        },
        // Not in the module.
        SpecConstant { id: 1000, bits: 0 },
    ];
    let ty = Ty::new(s, 4);
    let expected = [second, third, first, second].map(Expect::bits).to_vec();
    let body = move |m: &mut Module| {
        let parts = [(3, third), (4, third), (70, second), (0, second)];
        let parts = parts.map(|(id, default)| spec(m, s, id, default));
        let ty = m.ty(ty);
        vec![m.declare_another(&format!("OpSpecConstantComposite {ty} {}", parts.join(" ")))]
    };
    test(
        format!("OpSpecConstant {s}"),
        vec![ty],
        specialization,
        body,
        vec![expected],
    )
}

fn sub(m: &mut Module, ty: Ty, op: &str, operands: &[&Id]) -> Id {
    let ty = m.ty(ty);
    let operands: Vec<&str> = operands.iter().map(|id| id.as_str()).collect();
    m.declare_another(&format!(
        "OpSpecConstantOp {ty} {op} {}",
        operands.join(" ")
    ))
}

/// OpSpecConstantOp on a specialised and a default constant.
fn operations(s: Scalar) -> OpTest {
    let signed = s.is_signed();
    let (x_bits, y_bits) = (s.wrap(if signed { -107 } else { 107 }), 5);
    let (x, y) = (s.integer(x_bits), s.integer(y_bits));
    let bits = i128::from(s.mask());
    let div = if signed { "SDiv" } else { "UDiv" };
    let rem = if signed { "SRem" } else { "UMod" };
    let less = if signed { "SLessThan" } else { "ULessThan" };
    let arithmetic = [
        ("IAdd", x + y),
        ("ISub", x - y),
        ("IMul", x * y),
        (div, x / y),
        (rem, x % y),
        ("ShiftLeftLogical", x << y),
        ("ShiftRightLogical", (x & bits) >> y),
        ("ShiftRightArithmetic", s_shift(s, x, y)),
        ("BitwiseAnd", x & y),
        ("BitwiseOr", x | y),
        ("BitwiseXor", x ^ y),
    ];
    let wide = if s.bits() == 64 {
        Scalar::I32
    } else {
        Scalar::I64
    };
    let mut expected: Vec<Expect> = arithmetic
        .iter()
        .map(|(_, value)| expect(s, Some(*value)))
        .collect();
    expected.push(expect(s, Some(-x)));
    expected.push(expect(s, Some(!x)));
    // Select by a comparison, a component of a vector.
    expected.push(Expect::bits(if x < y { x_bits } else { y_bits }));
    expected.push(Expect::bits(y_bits));
    expected.push(Expect::bits(x_bits));
    let mut expected: Vec<Vec<Expect>> = expected.chunks(4).map(<[Expect]>::to_vec).collect();
    let signed_x = if signed { x } else { s_shift(s, x, 0) };
    expected.push(vec![expect(wide, Some(signed_x))]);
    let body = move |m: &mut Module| {
        let x = spec(m, s, 1, 1);
        let y = spec(m, s, 2, y_bits);
        let mut all: Vec<Id> = arithmetic
            .iter()
            .map(|(op, _)| sub(m, s.into(), op, &[&x, &y]))
            .collect();
        all.push(sub(m, s.into(), "SNegate", &[&x]));
        all.push(sub(m, s.into(), "Not", &[&x]));
        let condition = sub(m, Scalar::Bool.into(), less, &[&x, &y]);
        all.push(sub(m, s.into(), "Select", &[&condition, &x, &y]));
        let pair_ty = m.ty(Ty::new(s, 2));
        let pair = m.declare_another(&format!("OpSpecConstantComposite {pair_ty} {x} {y}"));
        let turned = sub(
            m,
            Ty::new(s, 2),
            "VectorShuffle",
            &[&pair, &pair, &"1 2".to_owned()],
        );
        for at in ["0", "1"] {
            all.push(sub(
                m,
                s.into(),
                "CompositeExtract",
                &[&turned, &at.to_owned()],
            ));
        }
        let converted = sub(m, wide.into(), "SConvert", &[&x]);
        let mut results: Vec<Id> = all
            .chunks(4)
            .map(|four| m.op("OpCompositeConstruct", Ty::new(s, 4), four))
            .collect();
        results.push(converted);
        results
    };
    let mut results = vec![Ty::new(s, 4); expected.len() - 1];
    results.push(wide.into());
    let specialization = vec![SpecConstant {
        id: 1,
        bits: x_bits,
    }];
    test(
        format!("OpSpecConstantOp {s}"),
        results,
        specialization,
        body,
        expected,
    )
}

/// The arithmetic shift of the bits as a signed number.
fn s_shift(s: Scalar, x: i128, y: i128) -> i128 {
    let unused = 128 - s.bits();
    (x << unused >> unused) >> y
}

/// Logic and QuantizeToF16 of specialisation constants.
fn logic() -> OpTest {
    let format = format::of(Scalar::F32);
    let third = format.round(1.0 / 3.0);
    let quantized = u64::from(f32::to_bits(0.333_251_95));
    let specialization = vec![
        SpecConstant { id: 0, bits: 1 },
        SpecConstant { id: 2, bits: third },
    ];
    let booleans = [false, true, false, true].map(Expect::boolean).to_vec();
    let body = |m: &mut Module| {
        let (x, y) = (spec(m, Scalar::Bool, 0, 0), spec(m, Scalar::Bool, 1, 0));
        let bool_ty = Ty::from(Scalar::Bool);
        let all = [
            sub(m, bool_ty, "LogicalAnd", &[&x, &y]),
            sub(m, bool_ty, "LogicalOr", &[&x, &y]),
            sub(m, bool_ty, "LogicalEqual", &[&x, &y]),
            sub(m, bool_ty, "LogicalNotEqual", &[&x, &y]),
        ];
        let four = m.op("OpCompositeConstruct", Ty::new(Scalar::Bool, 4), &all);
        let not = sub(m, bool_ty, "LogicalNot", &[&x]);
        let number = spec(m, Scalar::F32, 2, 0);
        vec![
            four,
            not,
            sub(m, Scalar::F32.into(), "QuantizeToF16", &[&number]),
        ]
    };
    let expected = vec![
        booleans,
        vec![Expect::boolean(false)],
        vec![Expect::bits(quantized)],
    ];
    let results = vec![
        Ty::new(Scalar::Bool, 4),
        Scalar::Bool.into(),
        Scalar::F32.into(),
    ];
    test(
        "OpSpecConstantOp bool f32".into(),
        results,
        specialization,
        body,
        expected,
    )
}
