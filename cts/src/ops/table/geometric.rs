// SPDX-License-Identifier: MIT
//! Operations on whole float vectors.

use crate::ops::inputs::{Random, edges};
use crate::ops::lanes::Lanes;
use crate::ops::module::{Controls, Id, Module};
use crate::ops::reference::expect::{Allowed, Expect};
use crate::ops::reference::format;
use crate::ops::reference::interval::Interval;
use crate::ops::test::OpTest;
use crate::ops::types::{FLOATS, Scalar, Ty};

use super::float::rounded;

type Vector = Vec<Interval>;

/// A function of vectors, and whether it gives one (or a scalar).
#[derive(Clone, Copy)]
struct Function {
    name: &'static str,
    vectors: usize,
    /// Whether a scalar operand follows.
    scalar: bool,
    gives_vector: bool,
    widths: &'static [u32],
    formula: fn(&[Vector]) -> Vector,
}

fn dot(x: &[Interval], y: &[Interval]) -> Interval {
    let pairs: Vec<_> = x.iter().copied().zip(y.iter().copied()).collect();
    Interval::dot(&pairs)
}

fn length(v: &[Interval]) -> Interval {
    dot(v, v).sqrt()
}

fn difference(x: &[Interval], y: &[Interval]) -> Vector {
    x.iter().zip(y).map(|(x, y)| x.sub(*y)).collect()
}

fn cross(v: &[Vector]) -> Vector {
    let (x, y) = (&v[0], &v[1]);
    let part = |i: usize, j: usize| x[i].mul(y[j]).sub(x[j].mul(y[i]));
    vec![part(1, 2), part(2, 0), part(0, 1)]
}

fn normalize(v: &[Vector]) -> Vector {
    let square = dot(&v[0], &v[0]);
    // Undefined for no length, and where its inverse is not in range.
    let factor = match square.low() > 0.0 {
        true => square.inverse_sqrt(),
        false => square.undefined_like(),
    };
    v[0].iter().map(|x| x.mul(factor)).collect()
}

fn reflect(v: &[Vector]) -> Vector {
    let (i, n) = (&v[0], &v[1]);
    let twice = dot(n, i).mul(i[0].constant_like(2.0));
    i.iter().zip(n).map(|(i, n)| i.sub(twice.mul(*n))).collect()
}

fn refract(v: &[Vector]) -> Vector {
    let (i, n, eta) = (&v[0], &v[1], v[2][0]);
    let one = eta.constant_like(1.0);
    let d = dot(n, i);
    let k = one.sub(eta.mul(eta).mul(one.sub(d.mul(d))));
    if k.is_undefined() {
        return vec![k; i.len()];
    }
    let zero = eta.constant_like(0.0);
    if k.high() < 0.0 {
        return vec![zero; i.len()];
    }
    let factor = eta.mul(d).add(k.sqrt());
    let parts = i
        .iter()
        .zip(n)
        .map(|(i, n)| eta.mul(*i).sub(factor.mul(*n)));
    // Near the limit angle either.
    parts
        .map(|part| if k.low() < 0.0 { part.or(zero) } else { part })
        .collect()
}

fn face_forward(v: &[Vector]) -> Vector {
    let (n, d) = (&v[0], dot(&v[2], &v[1]));
    let one = |n: &Interval| match () {
        () if d.is_undefined() => d,
        () if d.high() < 0.0 => *n,
        () if d.low() >= 0.0 => n.neg(),
        () => n.or(n.neg()),
    };
    n.iter().map(one).collect()
}

const FUNCTIONS: &[Function] = &[
    Function {
        name: "OpDot",
        vectors: 2,
        scalar: false,
        gives_vector: false,
        widths: &[2, 3, 4],
        formula: |v| vec![dot(&v[0], &v[1])],
    },
    Function {
        name: "Length",
        vectors: 1,
        scalar: false,
        gives_vector: false,
        widths: &[1, 2, 3, 4],
        formula: |v| vec![length(&v[0])],
    },
    Function {
        name: "Distance",
        vectors: 2,
        scalar: false,
        gives_vector: false,
        widths: &[1, 2, 3, 4],
        formula: |v| vec![length(&difference(&v[0], &v[1]))],
    },
    Function {
        name: "Cross",
        vectors: 2,
        scalar: false,
        gives_vector: true,
        widths: &[3],
        formula: cross,
    },
    Function {
        name: "Normalize",
        vectors: 1,
        scalar: false,
        gives_vector: true,
        widths: &[1, 2, 3, 4],
        formula: normalize,
    },
    Function {
        name: "FaceForward",
        vectors: 3,
        scalar: false,
        gives_vector: true,
        widths: &[1, 2, 3, 4],
        formula: face_forward,
    },
    Function {
        name: "Reflect",
        vectors: 2,
        scalar: false,
        gives_vector: true,
        widths: &[1, 2, 3, 4],
        formula: reflect,
    },
    Function {
        name: "Refract",
        vectors: 2,
        scalar: true,
        gives_vector: true,
        widths: &[1, 2, 3, 4],
        formula: refract,
    },
];

pub(super) fn tests(list: &mut Vec<OpTest>) {
    for s in FLOATS {
        list.extend(FUNCTIONS.iter().map(|function| function.test(s)));
        let format = format::of(s);
        let scaled = Lanes::new("OpVectorTimesScalar", &[s, s], &[s]).shared(&[1]);
        let scaled = scaled.body(move |m, width, v| {
            let op = if width == 1 {
                "OpFMul"
            } else {
                "OpVectorTimesScalar"
            };
            vec![m.op(op, Ty::new(s, width), v)]
        });
        list.push(scaled.reference(move |v| rounded(format, v, |v| v[0] * v[1])));
    }
}

impl Function {
    fn test(self, s: Scalar) -> OpTest {
        let mut operands = vec![Ty::new(s, 4); self.vectors];
        if self.scalar {
            operands.push(s.into());
        }
        let results = self.widths.iter();
        let results = results.map(|width| Ty::new(s, if self.gives_vector { *width } else { 1 }));
        OpTest {
            name: format!("{} {s}", self.name),
            operands,
            results: results.collect(),
            controls: Controls::Preserve,
            specialization: Vec::new(),
            body: Box::new(move |m, v| self.body(m, s, v)),
            reference: Box::new(move |v| self.reference(s, v)),
            inputs: Box::new(move || self.inputs(s)),
        }
    }

    fn body(self, m: &mut Module, s: Scalar, whole: &[Id]) -> Vec<Id> {
        let mut results = Vec::new();
        for width in self.widths {
            let lanes: Vec<u32> = (0..*width).collect();
            let mut operands: Vec<Id> = whole[..self.vectors]
                .iter()
                .map(|v| m.components(s, v, &lanes))
                .collect();
            operands.extend(whole[self.vectors..].iter().cloned());
            let ty = Ty::new(s, if self.gives_vector { *width } else { 1 });
            results.push(match self.name.starts_with("Op") {
                true => m.op(self.name, ty, &operands),
                false => m.ext(self.name, ty, &operands),
            });
        }
        results
    }

    fn reference(self, s: Scalar, operands: &[&[u64]]) -> Vec<Vec<Expect>> {
        let format = format::of(s);
        let one = |width: u32| {
            let vectors = operands.iter().map(|bits| {
                let used = &bits[..bits.len().min(width as usize)];
                used.iter()
                    .map(|bits| Interval::operand(format, *bits))
                    .collect()
            });
            let vectors: Vec<Vector> = vectors.collect();
            let finite = vectors.iter().flatten().all(|x| !x.is_undefined());
            match finite {
                true => (self.formula)(&vectors)
                    .iter()
                    .map(|x| x.expect())
                    .collect(),
                false => vec![Expect::Any; if self.gives_vector { width as usize } else { 1 }],
            }
        };
        self.widths.iter().map(|width| one(*width)).collect()
    }

    /// Edges, numbers of all magnitudes, small integers (whose sums are exact), unit vectors.
    fn inputs(self, s: Scalar) -> Vec<Vec<u64>> {
        const ELEMENTS: usize = 2048;
        let format = format::of(s);
        let mut random = Random::new(self.name);
        let edges = edges(s);
        let mut operands = vec![Vec::new(); self.vectors];
        let mut scalars = Vec::new();
        for element in 0..ELEMENTS {
            for operand in &mut operands {
                let four: [f64; 4] = [(); 4].map(|()| random.between(-1.0, 1.0));
                let length = four.iter().map(|x| x * x).sum::<f64>().sqrt();
                for x in four {
                    operand.push(match element % 4 {
                        0 => random.mixed(s, &edges),
                        1 => format.round((x * 16.0).round()),
                        2 => format.round(x / length),
                        _ => format.round(x * 10.0),
                    });
                }
            }
            scalars.push(format.round(random.between(0.0, 2.0)));
        }
        if self.scalar {
            operands.push(scalars);
        }
        operands
    }
}

/// The sums of products of small integers, which are exact in any order.
pub(super) fn exact(s: Scalar, value: f64) -> Expect {
    debug_assert!(format::of(s).decode(format::of(s).round(value)) == value);
    Expect::Float(vec![Allowed::Range(value, value)])
}
