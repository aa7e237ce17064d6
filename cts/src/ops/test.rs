// SPDX-License-Identifier: MIT
//! A test of one operation.

use std::fmt::{self, Write as _};

use anyhow::Context as _;

use super::module::{Controls, GROUP, Id, Module};
use super::reference::expect::Expect;
use super::types::Ty;
use crate::case::{Buffer, BufferKind, Case};

/// Mismatches that a report lists.
const REPORTED: usize = 4;

pub(super) type Body = Box<dyn Fn(&mut Module, &[Id]) -> Vec<Id> + Send + Sync>;
pub(super) type Reference = Box<dyn Fn(&[&[u64]]) -> Vec<Vec<Expect>> + Send + Sync>;
pub(super) type Inputs = Box<dyn Fn() -> Vec<Vec<u64>> + Send + Sync>;

/// One operation on one choice of types, on many operands.
pub struct OpTest {
    pub(super) name: String,
    pub(super) operands: Vec<Ty>,
    pub(super) results: Vec<Ty>,
    pub(super) controls: Controls,
    pub(super) specialization: Vec<mesa_nir::SpecConstant>,
    pub(super) body: Body,
    /// Components of the operands of an element to those of its results.
    pub(super) reference: Reference,
    /// For each operand the components of all elements, one after the other.
    pub(super) inputs: Inputs,
}

impl fmt::Debug for OpTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpTest")
            .field("name", &self.name)
            .field("operands", &self.operands)
            .field("results", &self.results)
            .finish_non_exhaustive()
    }
}

impl OpTest {
    /// What is tested: the operation and its types.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The module, as SPIR-V assembly.
    #[must_use]
    pub fn text(&self) -> String {
        let mut module = Module::default();
        let operands: Vec<Id> = (0u32..)
            .zip(&self.operands)
            .map(|(at, ty)| module.load(at, *ty))
            .collect();
        let results = (self.body)(&mut module, &operands);
        let first = self.operands.len() as u32;
        for ((binding, ty), value) in (first..).zip(&self.results).zip(results) {
            module.store(binding, *ty, value);
        }
        module.finish(self.controls)
    }

    /// The run: operands are in the first buffers, results in the others.
    ///
    /// # Errors
    /// When the text is not SPIR-V assembly, which is a fault of the table.
    pub fn case(&self) -> anyhow::Result<Case> {
        let inputs = (self.inputs)();
        let elements = self.elements(&inputs);
        let padded = elements.next_multiple_of(GROUP as usize);
        let text = self.text();
        let spirv = mesa_nir::assemble(&text).with_context(|| format!("{}:\n{text}", self.name))?;
        let buffer = |binding: usize, bytes| Buffer {
            set: 0,
            binding: binding as u32,
            element: 0,
            kind: BufferKind::Storage,
            bytes,
            address_at: None,
        };
        let mut buffers = Vec::new();
        for (ty, values) in self.operands.iter().zip(&inputs) {
            let mut bytes = Vec::new();
            // Padding repeats the elements from the first on.
            for element in (0..elements).cycle().take(padded) {
                let values = &values[element * ty.width as usize..][..ty.width as usize];
                for at in 0..ty.stored_width() {
                    let value = values.get(at).copied().unwrap_or(0);
                    bytes.extend_from_slice(&value.to_le_bytes()[..ty.scalar.bytes()]);
                }
            }
            buffers.push(buffer(buffers.len(), bytes));
        }
        for ty in &self.results {
            // Not what a result that is not written may be.
            let bytes = vec![0xa5; padded * ty.stored_width() * ty.scalar.bytes()];
            buffers.push(buffer(buffers.len(), bytes));
        }
        Ok(Case {
            name: self.name.clone(),
            spirv,
            entry: "main".into(),
            specialization: self.specialization.clone(),
            groups: [padded as u32 / GROUP, 1, 1],
            base_group: [0; 3],
            push_constants: Vec::new(),
            buffers,
            images: Vec::new(),
        })
    }

    fn elements(&self, inputs: &[Vec<u64>]) -> usize {
        inputs
            .iter()
            .zip(&self.operands)
            .map(|(values, ty)| values.len() / ty.width as usize)
            .next()
            .unwrap_or(1)
    }

    /// Compares a run's buffers with the reference.
    ///
    /// # Errors
    /// A report of the number of mismatches and the first of them, with operands and what is
    /// allowed.
    pub fn check(&self, outputs: &[Vec<u8>]) -> Result<(), String> {
        let inputs = (self.inputs)();
        let results = outputs.get(self.operands.len()..).unwrap_or_default();
        if results.len() != self.results.len() {
            return Err(format!(
                "{}: {} buffers came back",
                self.name,
                outputs.len()
            ));
        }
        let (mut wrong, mut report) = (0usize, String::new());
        let mut compared = 0usize;
        for element in 0..self.elements(&inputs) {
            let operands: Vec<&[u64]> = inputs
                .iter()
                .zip(&self.operands)
                .map(|(values, ty)| &values[element * ty.width as usize..][..ty.width as usize])
                .collect();
            let expected = (self.reference)(&operands);
            for (index, ((ty, bytes), expected)) in
                self.results.iter().zip(results).zip(expected).enumerate()
            {
                for (at, expected) in expected.iter().enumerate() {
                    compared += 1;
                    let size = ty.scalar.bytes();
                    let start = (element * ty.stored_width() + at) * size;
                    let Some(bytes) = bytes.get(start..start + size) else {
                        return Err(format!("{}: result {index} is too short", self.name));
                    };
                    let mut word = [0; 8];
                    word[..size].copy_from_slice(bytes);
                    let got = u64::from_le_bytes(word);
                    if expected.accepts(ty.scalar, got) {
                        continue;
                    }
                    wrong += 1;
                    if wrong <= REPORTED {
                        let _ = write!(
                            report,
                            "\n  element {element} result {index}.{at}: {} instead of {} for {}",
                            ty.scalar.show(got),
                            expected.show(ty.scalar),
                            self.show(&operands)
                        );
                    }
                }
            }
        }
        if wrong == 0 {
            return Ok(());
        }
        Err(format!(
            "{}: {wrong} of {compared} components are wrong{report}",
            self.name
        ))
    }

    fn show(&self, operands: &[&[u64]]) -> String {
        let each = self.operands.iter().zip(operands).map(|(ty, values)| {
            let values: Vec<_> = values.iter().map(|bits| ty.scalar.show(*bits)).collect();
            format!("[{}]", values.join(", "))
        });
        each.collect::<Vec<_>>().join(" ")
    }
}
