// SPDX-License-Identifier: MIT
//! Matrices. Their entries are small integers, so that products are exact in any order.

use crate::ops::inputs::Random;
use crate::ops::module::{Controls, Id, Module};
use crate::ops::reference::expect::{Allowed, Expect};
use crate::ops::reference::format;
use crate::ops::test::OpTest;
use crate::ops::types::{FLOATS, Scalar, Ty};

use super::geometric::exact;

const ELEMENTS: usize = 256;

/// Columns of a matrix.
type Columns = Vec<Vec<f64>>;

pub(super) fn tests(list: &mut Vec<OpTest>) {
    for s in FLOATS {
        for size in 2..=4 {
            list.push(square(s, size));
        }
        for columns in 2..=4 {
            for rows in 2..=4 {
                list.push(products(s, columns, rows));
            }
        }
    }
}

fn matrix(m: &mut Module, s: Scalar, columns: &[Id]) -> Id {
    let (count, rows) = (columns.len() as u32, columns.len() as u32);
    construct(m, s, count, rows, columns)
}

fn construct(m: &mut Module, s: Scalar, count: u32, rows: u32, columns: &[Id]) -> Id {
    let ty = m.matrix(Ty::new(s, rows), count);
    m.raw("OpCompositeConstruct", &ty, &columns.join(" "))
}

fn decode(s: Scalar, columns: &[&[u64]]) -> Columns {
    let format = format::of(s);
    columns
        .iter()
        .map(|c| c.iter().map(|bits| format.decode(*bits)).collect())
        .collect()
}

fn transposed(a: &Columns) -> Columns {
    (0..a[0].len())
        .map(|row| a.iter().map(|column| column[row]).collect())
        .collect()
}

fn times_vector(a: &Columns, v: &[f64]) -> Vec<f64> {
    transposed(a)
        .iter()
        .map(|row| row.iter().zip(v).map(|(x, y)| x * y).sum())
        .collect()
}

fn exact_columns(s: Scalar, columns: &Columns) -> Vec<Vec<Expect>> {
    columns
        .iter()
        .map(|c| c.iter().map(|x| exact(s, *x)).collect())
        .collect()
}

/// OpMatrixTimesVector, OpVectorTimesMatrix, OpMatrixTimesScalar, OpTranspose, OpOuterProduct,
/// OpMatrixTimesMatrix with the transpose.
fn products(s: Scalar, columns: u32, rows: u32) -> OpTest {
    // Operands: the columns, a vector of as many components as there are columns, another of as
    // many as there are rows.
    let column = Ty::new(s, rows);
    let row = Ty::new(s, columns);
    let mut operands = vec![column; columns as usize];
    operands.extend([row, column]);
    let mut results = vec![column, row];
    results.extend(vec![column; columns as usize]);
    results.extend(vec![row; rows as usize]);
    // The product of the matrix and its transpose, and the outer product, share columns by a sum.
    results.extend(vec![column; rows as usize]);
    let name = format!("matrix products {s} {columns}x{rows}");
    let seed = name.clone();
    let n = columns as usize;
    OpTest {
        name,
        operands,
        results,
        controls: Controls::None,
        specialization: Vec::new(),
        body: Box::new(move |m, v| {
            let a = construct(m, s, columns, rows, &v[..n]);
            let (x, y) = (v[n].clone(), v[n + 1].clone());
            let mut all = vec![
                m.op("OpMatrixTimesVector", column, &[a.clone(), x.clone()]),
                m.op("OpVectorTimesMatrix", row, &[y.clone(), a.clone()]),
            ];
            let ty = m.matrix(column, columns);
            let factor = m.extract(s, &x, 0);
            let scaled = m.raw("OpMatrixTimesScalar", &ty, &format!("{a} {factor}"));
            let outer = m.raw("OpOuterProduct", &ty, &format!("{y} {x}"));
            for at in 0..columns {
                let [scaled, outer] = [&scaled, &outer].map(|a| m.extract(column, a, at));
                all.push(m.op("OpFAdd", column, &[scaled, outer]));
            }
            let turned = m.matrix(row, rows);
            let turned = m.raw("OpTranspose", &turned, &a);
            all.extend((0..rows).map(|at| m.extract(row, &turned, at)));
            let square = m.matrix(column, rows);
            let square = m.raw("OpMatrixTimesMatrix", &square, &format!("{a} {turned}"));
            all.extend((0..rows).map(|at| m.extract(column, &square, at)));
            all
        }),
        reference: Box::new(move |v| {
            let a = decode(s, &v[..n]);
            let vectors = decode(s, &v[n..]);
            let (x, y) = (&vectors[0], &vectors[1]);
            let turned = transposed(&a);
            let sums = a.iter().zip(x).map(|(column, at)| {
                column
                    .iter()
                    .zip(y)
                    .map(|(value, y)| value * x[0] + y * at)
                    .collect()
            });
            let mut all = vec![times_vector(&a, x), times_vector(&turned, y)];
            all.extend(sums.collect::<Vec<_>>());
            all.extend(turned.clone());
            all.extend(turned.iter().map(|row| times_vector(&a, row)));
            exact_columns(s, &all)
        }),
        inputs: Box::new(move || {
            let mut random = Random::new(&seed);
            let mut list = vec![integers(&mut random, s, rows); n];
            for (at, list) in list.iter_mut().enumerate() {
                let mut random = Random::new(&format!("{seed} {at}"));
                *list = integers(&mut random, s, rows);
            }
            list.push(integers(&mut random, s, columns));
            list.push(integers(&mut random, s, rows));
            list
        }),
    }
}

fn integers(random: &mut Random, s: Scalar, width: u32) -> Vec<u64> {
    let count = ELEMENTS * width as usize;
    let format = format::of(s);
    (0..count)
        .map(|_| format.round(random.between(-8.5, 8.5).round()))
        .collect()
}

fn determinant(a: &Columns) -> f64 {
    if a.len() == 1 {
        return a[0][0];
    }
    let terms = (0..a.len()).map(|at| {
        let sign = if at % 2 == 0 { 1.0 } else { -1.0 };
        sign * a[at][0] * determinant(&minor(a, at, 0))
    });
    terms.sum()
}

fn minor(a: &Columns, column: usize, row: usize) -> Columns {
    let without = |list: &Vec<f64>| {
        let kept = list.iter().enumerate().filter(|(at, _)| *at != row);
        kept.map(|(_, x)| *x).collect()
    };
    let kept = a.iter().enumerate().filter(|(at, _)| *at != column);
    kept.map(|(_, c)| without(c)).collect()
}

/// Determinant and MatrixInverse. The table gives no number for the inverse; it is a sum of
/// products by the determinant, here of matrices that are far from singular.
fn square(s: Scalar, size: u32) -> OpTest {
    let column = Ty::new(s, size);
    let mut results = vec![Ty::from(s)];
    results.extend(vec![column; size as usize]);
    let name = format!("Determinant MatrixInverse {s} {size}x{size}");
    let seed = name.clone();
    OpTest {
        name,
        operands: vec![column; size as usize],
        results,
        controls: Controls::None,
        specialization: Vec::new(),
        body: Box::new(move |m, v| {
            let a = matrix(m, s, v);
            let mut all = vec![m.ext("Determinant", s, std::slice::from_ref(&a))];
            let ty = m.matrix(column, size);
            let inverse = m.raw("OpExtInst", &ty, &format!("%glsl MatrixInverse {a}"));
            all.extend((0..size).map(|at| m.extract(column, &inverse, at)));
            all
        }),
        reference: Box::new(move |v| {
            let format = format::of(s);
            let a = decode(s, v);
            let det = determinant(&a);
            // Halves round the larger determinants.
            let near = |value: f64, ulps: f64| {
                let error = ulps * format.epsilon() * value.abs();
                Expect::Float(vec![Allowed::Range(value - error, value + error)])
            };
            let mut all = vec![vec![near(det, if format.is_half() { 8.0 } else { 0.0 })]];
            for c in 0..a.len() {
                let entries = (0..a.len()).map(|r| {
                    let sign = if (c + r) % 2 == 0 { 1.0 } else { -1.0 };
                    // The adjugate is transposed.
                    let value = sign * determinant(&minor(&a, r, c)) / det;
                    near(value, if format.is_half() { 32.0 } else { 8.0 })
                });
                all.push(entries.collect());
            }
            all
        }),
        inputs: Box::new(move || {
            let format = format::of(s);
            let mut columns = Vec::new();
            for at in 0..size {
                let mut random = Random::new(&format!("{seed} {at}"));
                let mut column = Vec::new();
                for _ in 0..ELEMENTS {
                    for row in 0..size {
                        // A dominant diagonal.
                        let value = random.between(-1.5, 1.5).round();
                        let large = if value < 0.0 { -5.0 } else { 6.0 };
                        column.push(format.round(if row == at { large } else { value }));
                    }
                }
                columns.push(column);
            }
            columns
        }),
    }
}
