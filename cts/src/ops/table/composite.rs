// SPDX-License-Identifier: MIT
//! Taking composites apart and putting them together.

use crate::ops::inputs::{Random, edges};
use crate::ops::module::Controls;
use crate::ops::reference::expect::Expect;
use crate::ops::test::OpTest;
use crate::ops::types::{FLOATS, INTEGERS, Scalar, Ty};

const ELEMENTS: usize = 512;

pub(super) fn tests(list: &mut Vec<OpTest>) {
    let all = INTEGERS.into_iter().chain(FLOATS).chain([Scalar::Bool]);
    for s in all {
        list.push(dynamic(s, Scalar::U32));
        list.push(shuffles(s));
        list.push(nested(s));
    }
    // The index may have any integer type.
    for index in [Scalar::I8, Scalar::U16, Scalar::I64] {
        list.push(dynamic(Scalar::F32, index));
    }
}

fn values(name: &str, s: Scalar, count: usize) -> Vec<u64> {
    let mut random = Random::new(name);
    let edges = edges(s);
    (0..count).map(|_| random.mixed(s, &edges)).collect()
}

fn bits(values: &[u64]) -> Vec<Expect> {
    values.iter().map(|bits| Expect::bits(*bits)).collect()
}

/// OpVectorExtractDynamic and OpVectorInsertDynamic for each width; out of range is undefined.
fn dynamic(s: Scalar, index: Scalar) -> OpTest {
    const WIDTHS: [u32; 3] = [2, 3, 4];
    let name = format!("OpVectorExtractDynamic OpVectorInsertDynamic {s}, {index} index");
    let seed = name.clone();
    let results = WIDTHS
        .iter()
        .flat_map(|width| [s.into(), Ty::new(s, *width)])
        .collect();
    OpTest {
        name,
        operands: vec![Ty::new(s, 4), s.into(), index.into()],
        results,
        controls: Controls::Preserve,
        specialization: Vec::new(),
        body: Box::new(move |m, v| {
            let mut all = Vec::new();
            for width in WIDTHS {
                let lanes: Vec<u32> = (0..width).collect();
                let vector = m.components(s, &v[0], &lanes);
                all.push(m.op("OpVectorExtractDynamic", s, &[vector.clone(), v[2].clone()]));
                let operands = [vector, v[1].clone(), v[2].clone()];
                all.push(m.op("OpVectorInsertDynamic", Ty::new(s, width), &operands));
            }
            all
        }),
        reference: Box::new(move |v| {
            let index = v[2][0] as usize;
            let mut all = Vec::new();
            for width in WIDTHS.map(|width| width as usize) {
                if index >= width {
                    all.extend([vec![Expect::Any], vec![Expect::Any; width]]);
                    continue;
                }
                let mut vector = v[0][..width].to_vec();
                all.push(bits(&[vector[index]]));
                vector[index] = v[1][0];
                all.push(bits(&vector));
            }
            all
        }),
        inputs: Box::new(move || {
            let indices = (0..ELEMENTS as u64).map(|at| at % 5);
            let vectors = values(&seed, s, ELEMENTS * 4);
            vec![
                vectors,
                values(&format!("{seed}."), s, ELEMENTS),
                indices.collect(),
            ]
        }),
    }
}

/// OpVectorShuffle of two vectors of different widths, with an undefined component;
/// OpCompositeInsert; OpCopyObject.
fn shuffles(s: Scalar) -> OpTest {
    /// Components of a vector of 4 and one of 3 that follows it.
    const SHUFFLES: [&[usize]; 6] = [
        &[3, 2, 1, 0],
        &[6, 0, 5, 1],
        &[2, 2],
        &[4, 5, 6],
        &[0, 4, 4, 3],
        &[6, 5, 4],
    ];
    const UNDEFINED: usize = 0xffff_ffff;
    let name = format!("OpVectorShuffle OpCompositeInsert OpCopyObject {s}");
    let seed = name.clone();
    let mut results: Vec<Ty> = SHUFFLES
        .iter()
        .map(|list| Ty::new(s, list.len() as u32))
        .collect();
    results.extend([Ty::new(s, 4), Ty::new(s, 4), Ty::new(s, 3)]);
    OpTest {
        name,
        operands: vec![Ty::new(s, 4), Ty::new(s, 3)],
        results,
        controls: Controls::Preserve,
        specialization: Vec::new(),
        body: Box::new(move |m, v| {
            let mut all = Vec::new();
            let with_undefined = [&[1, UNDEFINED, 4, 0][..]];
            for list in SHUFFLES.iter().chain(&with_undefined) {
                let ty = m.ty(Ty::new(s, list.len() as u32));
                let components: Vec<_> = list.iter().map(usize::to_string).collect();
                let rest = format!("{} {} {}", v[0], v[1], components.join(" "));
                all.push(m.raw("OpVectorShuffle", &ty, &rest));
            }
            let ty = m.ty(Ty::new(s, 4));
            let part = m.extract(s, &v[1], 2);
            let inserted = m.raw("OpCompositeInsert", &ty, &format!("{part} {} 1", v[0]));
            all.push(inserted);
            all.push(m.op("OpCopyObject", Ty::new(s, 3), &v[1..]));
            all
        }),
        reference: Box::new(|v| {
            let both: Vec<u64> = v.concat();
            let mut all: Vec<Vec<Expect>> = SHUFFLES
                .iter()
                .map(|list| list.iter().map(|at| Expect::bits(both[*at])).collect())
                .collect();
            let mut with_undefined = bits(&[both[1], 0, both[4], both[0]]);
            with_undefined[1] = Expect::Any;
            all.push(with_undefined);
            all.push(bits(&[both[0], both[6], both[2], both[3]]));
            all.push(bits(v[1]));
            all
        }),
        inputs: Box::new(move || {
            let vectors = values(&seed, s, ELEMENTS * 4);
            vec![vectors, values(&format!("{seed}."), s, ELEMENTS * 3)]
        }),
    }
}

/// An array of structures of a vector and a scalar, built, changed, copied and taken apart; and the
/// same array in a variable with a dynamic index.
fn nested(s: Scalar) -> OpTest {
    let name = format!("composites of composites {s}");
    let seed = name.clone();
    let vector = Ty::new(s, 3);
    OpTest {
        name,
        operands: vec![vector, s.into(), Scalar::U32.into()],
        results: vec![vector, s.into(), s.into(), vector, s.into()],
        controls: Controls::Preserve,
        specialization: Vec::new(),
        body: Box::new(move |m, v| {
            let (vector_ty, scalar_ty) = (m.ty(vector), m.ty(s));
            let structure = m.structure(&[vector, s.into()]);
            let two = m.constant(Scalar::U32, 2);
            let array = m.declare(&format!("OpTypeArray {structure} {two}"));
            let null = m.declare(&format!("OpConstantNull {structure}"));
            let rest = format!("{} {}", v[0], v[1]);
            let one = m.raw("OpCompositeConstruct", &structure, &rest);
            let both = m.raw("OpCompositeConstruct", &array, &format!("{one} {null}"));
            // both[1].vector.y = scalar; then both[0].vector, both[0].scalar, both[1].vector.y
            let changed = m.raw(
                "OpCompositeInsert",
                &array,
                &format!("{} {both} 1 0 1", v[1]),
            );
            let changed = m.raw("OpCopyObject", &array, &changed);
            let mut all = vec![
                m.raw("OpCompositeExtract", &vector_ty, &format!("{changed} 0 0")),
                m.raw("OpCompositeExtract", &scalar_ty, &format!("{changed} 0 1")),
                m.raw(
                    "OpCompositeExtract",
                    &scalar_ty,
                    &format!("{changed} 1 0 1"),
                ),
            ];
            let pointer = m.declare(&format!("OpTypePointer Private {array}"));
            let variable = m.private(&pointer);
            m.line(&format!("OpStore {variable} {changed}"));
            for (ty, member, path) in [(&vector_ty, 0, ""), (&scalar_ty, 0, " %1_")] {
                let member = m.constant(Scalar::U32, member);
                let to = m.declare(&format!("OpTypePointer Private {ty}"));
                let one = m.constant(Scalar::U32, 1);
                let path = path.replace("%1_", &one);
                let chain = format!("{variable} {} {member}{path}", v[2]);
                let chain = m.raw("OpAccessChain", &to, &chain);
                all.push(m.raw("OpLoad", ty, &chain));
            }
            all
        }),
        reference: Box::new(|v| {
            let (vector, scalar) = (v[0], v[1][0]);
            let second = [0, scalar, 0];
            let chosen = if v[2][0] == 0 { vector } else { &second };
            vec![
                bits(vector),
                bits(&[scalar]),
                bits(&[scalar]),
                bits(chosen),
                bits(&[chosen[1]]),
            ]
        }),
        inputs: Box::new(move || {
            let index = (0..ELEMENTS as u64).map(|at| at / 3 % 2);
            vec![
                values(&seed, s, ELEMENTS * 3),
                values(&format!("{seed}."), s, ELEMENTS),
                index.collect(),
            ]
        }),
    }
}
