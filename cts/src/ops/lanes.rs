// SPDX-License-Identifier: MIT
//! Tests of operations that do the same to each component, in all vector widths at once.

use std::sync::Arc;

use super::inputs::{Random, edges, product, rows};
use super::module::{Controls, Id, Module};
use super::reference::expect::Expect;
use super::test::OpTest;
use super::types::{Scalar, Ty};

/// Components of four that an element has, in the groups that the module works on. Together each
/// component occurs in a scalar or in vectors of 3, of 2 and of 4.
const SHAPES: [&[&[u32]]; 3] = [&[&[0], &[1, 2, 3]], &[&[0, 1], &[2, 3]], &[&[0, 1, 2, 3]]];
/// The same for operations that take scalars only.
const SCALARS: [&[&[u32]]; 1] = [&[&[0], &[1], &[2], &[3]]];

type LaneBody = dyn Fn(&mut Module, u32, &[Id]) -> Vec<Id> + Send + Sync;
type LaneReference = dyn Fn(&[u64]) -> Vec<Expect> + Send + Sync;

/// An operation on components.
pub(crate) struct Lanes {
    name: String,
    operands: Vec<Scalar>,
    results: Vec<Scalar>,
    /// Operands that are one scalar for all components.
    shared: Vec<usize>,
    /// Values beside the edges of each operand's type.
    extra: Vec<Vec<u64>>,
    vectors: bool,
    controls: Controls,
    body: Arc<LaneBody>,
    reference: Arc<LaneReference>,
}

impl Lanes {
    /// An operation by its name and types.
    pub(crate) fn new(name: &str, operands: &[Scalar], results: &[Scalar]) -> Lanes {
        let types: Vec<_> = operands.iter().map(Scalar::to_string).collect();
        let results_text: Vec<_> = results.iter().map(Scalar::to_string).collect();
        Lanes {
            name: format!("{name} {} -> {}", types.join(" "), results_text.join(" ")),
            operands: operands.to_vec(),
            results: results.to_vec(),
            shared: Vec::new(),
            extra: Vec::new(),
            vectors: true,
            controls: Controls::Preserve,
            body: Arc::new(|_, _, operands| operands.to_vec()),
            reference: Arc::new(|_| Vec::new()),
        }
    }

    /// It is this core instruction.
    pub(crate) fn op(self, op: &'static str) -> Lanes {
        let result = self.results[0];
        self.body(move |m, width, operands| vec![m.op(op, Ty::new(result, width), operands)])
    }

    /// It is this instruction of GLSL.std.450.
    pub(crate) fn ext(self, op: &'static str) -> Lanes {
        let result = self.results[0];
        self.body(move |m, width, operands| vec![m.ext(op, Ty::new(result, width), operands)])
    }

    /// It is these instructions.
    pub(crate) fn body(
        mut self,
        body: impl Fn(&mut Module, u32, &[Id]) -> Vec<Id> + Send + Sync + 'static,
    ) -> Lanes {
        self.body = Arc::new(body);
        self
    }

    /// Operands that are scalars beside vectors.
    pub(crate) fn shared(mut self, shared: &[usize]) -> Lanes {
        self.shared = shared.to_vec();
        self
    }

    /// Values to try, beside the edges of the operands' types.
    pub(crate) fn extra(mut self, extra: Vec<Vec<u64>>) -> Lanes {
        self.extra = extra;
        self
    }

    /// It takes no vectors.
    pub(crate) fn scalars_only(mut self) -> Lanes {
        self.vectors = false;
        self
    }

    /// The module does not ask for SignedZeroInfNanPreserve; then infinities, NaN and the sign of
    /// zeros do not count.
    pub(crate) fn fast(mut self) -> Lanes {
        self.name = format!("fast {}", self.name);
        self.controls = Controls::None;
        self
    }

    /// The module asks for all float controls.
    pub(crate) fn controlled(mut self) -> Lanes {
        self.name = format!("controlled {}", self.name);
        self.controls = Controls::All;
        self
    }

    /// With the results of the components of an element.
    pub(crate) fn reference(
        self,
        reference: impl Fn(&[u64]) -> Expect + Send + Sync + 'static,
    ) -> OpTest {
        self.references(move |operands| vec![reference(operands)])
    }

    /// The same for several results.
    pub(crate) fn references(
        mut self,
        reference: impl Fn(&[u64]) -> Vec<Expect> + Send + Sync + 'static,
    ) -> OpTest {
        self.reference = Arc::new(reference);
        self.test()
    }

    fn test(self) -> OpTest {
        let shapes = if self.vectors {
            &SHAPES[..]
        } else {
            &SCALARS[..]
        };
        let operands: Vec<Ty> = (0..self.operands.len())
            .map(|at| {
                Ty::new(
                    self.operands[at],
                    if self.shared.contains(&at) { 1 } else { 4 },
                )
            })
            .collect();
        let results = shapes
            .iter()
            .flat_map(|_| self.results.iter().map(|scalar| Ty::new(*scalar, 4)))
            .collect();
        OpTest {
            name: self.name.clone(),
            operands,
            results,
            controls: self.controls,
            specialization: Vec::new(),
            body: self.module_body(shapes),
            reference: self.element_reference(shapes.len()),
            inputs: self.inputs(),
        }
    }

    fn module_body(&self, shapes: &'static [&'static [&'static [u32]]]) -> super::test::Body {
        let (body, shared) = (self.body.clone(), self.shared.clone());
        let (operands, results) = (self.operands.clone(), self.results.clone());
        Box::new(move |module, whole| {
            let mut all = Vec::new();
            for shape in shapes {
                let mut parts = vec![Vec::new(); results.len()];
                for lanes in *shape {
                    let operands: Vec<Id> = (0..operands.len())
                        .map(|at| {
                            if shared.contains(&at) || lanes.len() == 4 {
                                whole[at].clone()
                            } else {
                                module.components(operands[at], &whole[at], lanes)
                            }
                        })
                        .collect();
                    let values = body(module, lanes.len() as u32, &operands);
                    for (parts, value) in parts.iter_mut().zip(values) {
                        parts.push(value);
                    }
                }
                for (scalar, parts) in results.iter().zip(parts) {
                    let ty = Ty::new(*scalar, 4);
                    all.push(match parts.as_slice() {
                        [one] => one.clone(),
                        _ => module.op("OpCompositeConstruct", ty, &parts),
                    });
                }
            }
            all
        })
    }

    fn element_reference(&self, shapes: usize) -> super::test::Reference {
        let (reference, shared) = (self.reference.clone(), self.shared.clone());
        let results: Vec<Scalar> = self.results.clone();
        let preserve = self.controls != Controls::None;
        let scalars = self.operands.clone();
        Box::new(move |operands| {
            let mut of_shape = vec![Vec::new(); results.len()];
            for lane in 0..4 {
                let row: Vec<u64> = (0..operands.len())
                    .map(|at| operands[at][if shared.contains(&at) { 0 } else { lane }])
                    .collect();
                let odd = !preserve && scalars.iter().zip(&row).any(|(s, v)| is_special(*s, *v));
                for (at, expect) in reference(&row).into_iter().enumerate() {
                    of_shape[at].push(match preserve {
                        true => expect,
                        false if odd => Expect::Any,
                        false => expect.fast(results[at]),
                    });
                }
            }
            (0..shapes).flat_map(|_| of_shape.clone()).collect()
        })
    }

    fn inputs(&self) -> super::test::Inputs {
        let (name, operands) = (self.name.clone(), self.operands.clone());
        let (shared, extra) = (self.shared.clone(), self.extra.clone());
        Box::new(move || {
            let rows = if shared.is_empty() {
                let mut rows = rows(&name, &operands, &extra);
                let count = rows.len().next_multiple_of(4);
                let again: Vec<_> = rows
                    .iter()
                    .cycle()
                    .take(count - rows.len())
                    .cloned()
                    .collect();
                rows.extend(again);
                rows
            } else {
                shared_rows(&name, &operands, &shared, &extra)
            };
            (0..operands.len())
                .map(|at| {
                    let step = if shared.contains(&at) { 4 } else { 1 };
                    rows.iter().step_by(step).map(|row| row[at]).collect()
                })
                .collect()
        })
    }
}

/// Rows in fours that have the shared operands in common: all combinations of those, each with
/// some values of the others.
fn shared_rows(
    name: &str,
    operands: &[Scalar],
    shared: &[usize],
    extra: &[Vec<u64>],
) -> Vec<Vec<u64>> {
    const EACH: usize = 8;
    let mut random = Random::new(name);
    let lists: Vec<Vec<u64>> = (0..operands.len())
        .map(|at| match extra.get(at) {
            Some(extra) if !extra.is_empty() => extra.clone(),
            _ => edges(operands[at]),
        })
        .collect();
    let of_shared: Vec<Vec<u64>> = shared.iter().map(|at| lists[*at].clone()).collect();
    let mut rows = Vec::new();
    for combination in product(&of_shared) {
        for _ in 0..EACH {
            let mut row: Vec<u64> = (0..operands.len())
                .map(|at| random.mixed(operands[at], &lists[at]))
                .collect();
            for (at, value) in shared.iter().zip(&combination) {
                row[*at] = *value;
            }
            rows.push(row);
        }
    }
    rows
}

/// An infinity or a NaN.
fn is_special(scalar: Scalar, bits: u64) -> bool {
    let format = super::reference::format::of(scalar);
    scalar.is_float() && bits & !format.sign() >= format.infinity()
}
