// SPDX-License-Identifier: MIT
//! The little that tests must know about a SPIR-V module.

use std::collections::{HashMap, HashSet};

use spirv::{Capability, Decoration, Op, StorageClass};

use crate::case::BufferKind;
use crate::image::ImageKind;

/// Instructions of a module: opcode and operands.
fn instructions(words: &[u32]) -> impl Iterator<Item = (Option<Op>, &[u32])> {
    let mut rest = words.get(5..).unwrap_or(&[]);
    std::iter::from_fn(move || {
        let first = *rest.first()?;
        let length = (first >> 16) as usize;
        // A length of 0, or beyond the end, is malformed: the module ends here.
        let instruction = rest.get(..length.max(1))?;
        rest = &rest[instruction.len()..];
        Some((Op::from_u32(first & 0xffff), &instruction[1..]))
    })
}

/// Bytes of each specialisation constant, by its ID: Booleans have 4, as Vulkan wants them.
#[must_use]
pub fn specialization_sizes(words: &[u32]) -> HashMap<u32, usize> {
    let mut spec_ids: HashMap<u32, u32> = HashMap::new();
    let mut widths: HashMap<u32, u32> = HashMap::new();
    let mut sizes = HashMap::new();
    for (op, operands) in instructions(words) {
        match (op, operands) {
            (Some(Op::Decorate), &[target, decoration, id, ..])
                if decoration == Decoration::SpecId as u32 =>
            {
                spec_ids.insert(target, id);
            }
            (Some(Op::TypeInt | Op::TypeFloat), &[result, width, ..]) => {
                widths.insert(result, width);
            }
            (Some(Op::SpecConstantTrue | Op::SpecConstantFalse), &[_, result, ..]) => {
                if let Some(id) = spec_ids.get(&result) {
                    sizes.insert(*id, 4);
                }
            }
            (Some(Op::SpecConstant), &[ty, result, ..]) => {
                if let (Some(id), Some(width)) = (spec_ids.get(&result), widths.get(&ty)) {
                    sizes.insert(*id, *width as usize / 8);
                }
            }
            _ => {}
        }
    }
    sizes
}

/// The capabilities that the module declares.
#[must_use]
pub fn capabilities(words: &[u32]) -> HashSet<Capability> {
    instructions(words)
        .filter(|(op, _)| *op == Some(Op::Capability))
        .filter_map(|(_, operands)| Capability::from_u32(*operands.first()?))
        .collect()
}

/// What the kinds of descriptors have in common.
#[derive(Default)]
struct Declared {
    sets: HashMap<u32, u32>,
    bindings: HashMap<u32, u32>,
    pointees: HashMap<u32, u32>,
    /// Element and length, where that is known.
    arrays: HashMap<u32, (u32, Option<u32>)>,
    constants: HashMap<u32, u32>,
}

impl Declared {
    fn note(&mut self, op: Option<Op>, operands: &[u32]) {
        match (op, operands) {
            (Some(Op::Decorate), &[target, decoration, value, ..]) => {
                match Decoration::from_u32(decoration) {
                    Some(Decoration::DescriptorSet) => {
                        self.sets.insert(target, value);
                    }
                    Some(Decoration::Binding) => {
                        self.bindings.insert(target, value);
                    }
                    _ => {}
                }
            }
            (Some(Op::TypePointer), &[result, _, pointee, ..]) => {
                self.pointees.insert(result, pointee);
            }
            (Some(Op::TypeArray), &[result, element, length, ..]) => {
                let length = self.constants.get(&length).copied();
                self.arrays.insert(result, (element, length));
            }
            (Some(Op::TypeRuntimeArray), &[result, element, ..]) => {
                self.arrays.insert(result, (element, None));
            }
            (Some(Op::Constant), &[_, result, value, ..]) => {
                self.constants.insert(result, value);
            }
            _ => {}
        }
    }

    /// Set and binding of a variable that has both.
    fn place(&self, variable: u32) -> Option<(u32, u32)> {
        Some((*self.sets.get(&variable)?, *self.bindings.get(&variable)?))
    }
}

/// A buffer that the module declares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Descriptor {
    /// Descriptor set.
    pub set: u32,
    /// Binding.
    pub binding: u32,
    /// Elements of an array of descriptors; 1 for a single one, and for an array of unknown or
    /// specialised length.
    pub elements: u32,
    /// Uniform or storage buffer.
    pub kind: BufferKind,
}

/// The uniform and storage buffers that the module declares, by set and binding.
#[must_use]
pub fn descriptors(words: &[u32]) -> Vec<Descriptor> {
    let mut declared = Declared::default();
    let mut buffer_blocks = HashSet::new();
    let mut variables = Vec::new();
    for (op, operands) in instructions(words) {
        declared.note(op, operands);
        match (op, operands) {
            (Some(Op::Decorate), &[target, decoration, ..])
                if Decoration::from_u32(decoration) == Some(Decoration::BufferBlock) =>
            {
                buffer_blocks.insert(target);
            }
            (Some(Op::Variable), &[ty, result, class, ..]) => {
                variables.push((ty, result, StorageClass::from_u32(class)));
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    for (ty, variable, class) in variables {
        let Some((set, binding)) = declared.place(variable) else {
            continue;
        };
        let mut block = declared.pointees.get(&ty).copied().unwrap_or(0);
        let mut elements = 1;
        if let Some((element, length)) = declared.arrays.get(&block) {
            block = *element;
            elements = length.unwrap_or(1).max(1);
        }
        let kind = match class {
            Some(StorageClass::StorageBuffer) => BufferKind::Storage,
            Some(StorageClass::Uniform) if buffer_blocks.contains(&block) => BufferKind::Storage,
            Some(StorageClass::Uniform) => BufferKind::Uniform,
            _ => continue,
        };
        found.push(Descriptor {
            set,
            binding,
            elements,
            kind,
        });
    }
    found.sort_by_key(|d| (d.set, d.binding, std::cmp::Reverse(d.elements)));
    // Several variables may have one binding.
    found.dedup_by_key(|d| (d.set, d.binding));
    found
}

/// An image, sampler or texel buffer that the module declares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImageDescriptor {
    /// Descriptor set.
    pub set: u32,
    /// Binding.
    pub binding: u32,
    /// As of [`Descriptor`].
    pub elements: u32,
    /// The type of descriptor.
    pub kind: ImageKind,
}

/// The images, samplers and texel buffers that the module declares, by set and binding.
#[must_use]
pub fn images(words: &[u32]) -> Vec<ImageDescriptor> {
    /// SPIR-V's dimension of buffers.
    const DIM_BUFFER: u32 = 5;
    let mut declared = Declared::default();
    let mut kinds: HashMap<u32, ImageKind> = HashMap::new();
    let mut found = Vec::new();
    for (op, operands) in instructions(words) {
        declared.note(op, operands);
        match (op, operands) {
            (Some(Op::TypeImage), &[result, _, dim, _, _, _, sampled, ..]) => {
                let kind = match (dim == DIM_BUFFER, sampled == 2) {
                    (true, true) => ImageKind::StorageTexels,
                    (true, false) => ImageKind::UniformTexels,
                    (false, true) => ImageKind::Storage,
                    (false, false) => ImageKind::Sampled,
                };
                kinds.insert(result, kind);
            }
            (Some(Op::TypeSampler), &[result, ..]) => {
                kinds.insert(result, ImageKind::Sampler);
            }
            (Some(Op::TypeSampledImage), &[result, image, ..]) => {
                let kind = match kinds.get(&image) {
                    Some(ImageKind::UniformTexels) => ImageKind::UniformTexels,
                    _ => ImageKind::Combined,
                };
                kinds.insert(result, kind);
            }
            (Some(Op::Variable), &[ty, variable, ..]) => {
                let Some((set, binding)) = declared.place(variable) else {
                    continue;
                };
                let mut of = declared.pointees.get(&ty).copied().unwrap_or(0);
                let mut elements = 1u32;
                while let Some((element, length)) = declared.arrays.get(&of) {
                    of = *element;
                    elements = elements.saturating_mul(length.unwrap_or(1).max(1));
                }
                if let Some(kind) = kinds.get(&of) {
                    found.push(ImageDescriptor {
                        set,
                        binding,
                        elements,
                        kind: *kind,
                    });
                }
            }
            _ => {}
        }
    }
    found.sort_by_key(|d| (d.set, d.binding, std::cmp::Reverse(d.elements)));
    found.dedup_by_key(|d| (d.set, d.binding));
    found
}

/// True when results can depend on how invocations are grouped: lavapipe's subgroups have 4 or 8
/// of them, those of the GPU 32.
#[must_use]
pub fn uses_subgroups(words: &[u32]) -> bool {
    let found = capabilities(words);
    [
        Capability::GroupNonUniform,
        Capability::GroupNonUniformVote,
        Capability::GroupNonUniformArithmetic,
        Capability::GroupNonUniformBallot,
        Capability::GroupNonUniformShuffle,
        Capability::GroupNonUniformShuffleRelative,
        Capability::GroupNonUniformClustered,
        Capability::GroupNonUniformQuad,
        Capability::GroupNonUniformRotateKHR,
        Capability::SubgroupBallotKHR,
        Capability::SubgroupVoteKHR,
    ]
    .iter()
    .any(|capability| found.contains(capability))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "OpCapability Shader\nOpCapability Int64\nOpCapability GroupNonUniformVote\n\
         OpMemoryModel Logical GLSL450\n\
         OpDecorate %a SpecId 3\nOpDecorate %b SpecId 4\nOpDecorate %c SpecId 9\n\
         %bool = OpTypeBool\n%u64 = OpTypeInt 64 0\n%f32 = OpTypeFloat 32\n\
         %a = OpSpecConstantTrue %bool\n%b = OpSpecConstant %u64 1\n%c = OpSpecConstant %f32 2\n\
         %d = OpSpecConstant %f32 2\n";

    #[test]
    fn sizes_of_specialisation_constants() {
        let words = mesa_nir::assemble(TEXT).unwrap();
        let sizes = specialization_sizes(&words);
        assert_eq!(sizes, HashMap::from([(3, 4), (4, 8), (9, 4)]));
    }

    #[test]
    fn subgroups_are_noticed() {
        assert!(uses_subgroups(&mesa_nir::assemble(TEXT).unwrap()));
        let without = TEXT.replace("OpCapability GroupNonUniformVote\n", "");
        let words = mesa_nir::assemble(&without).unwrap();
        assert!(!uses_subgroups(&words));
        assert!(capabilities(&words).contains(&Capability::Int64));
    }

    #[test]
    fn descriptors_are_found() {
        let words = mesa_nir::assemble(
            "OpDecorate %a DescriptorSet 1\nOpDecorate %a Binding 7\n\
             OpDecorate %b DescriptorSet 0\nOpDecorate %b Binding 2\n\
             OpDecorate %c DescriptorSet 0\nOpDecorate %c Binding 1\n\
             OpDecorate %d DescriptorSet 0\nOpDecorate %d Binding 1\n\
             OpDecorate %e DescriptorSet 0\nOpDecorate %e Binding 0\n\
             OpDecorate %old BufferBlock\n\
             %u32 = OpTypeInt 32 0\n%three = OpConstant %u32 3\n\
             %new = OpTypeStruct %u32\n%old = OpTypeStruct %u32\n%many = OpTypeArray %new %three\n\
             %pn = OpTypePointer StorageBuffer %many\n%po = OpTypePointer Uniform %old\n\
             %pu = OpTypePointer Uniform %new\n%pw = OpTypePointer Workgroup %u32\n\
             %a = OpVariable %pn StorageBuffer\n%b = OpVariable %po Uniform\n\
             %c = OpVariable %pu Uniform\n%d = OpVariable %pu Uniform\n\
             %e = OpVariable %pw Workgroup\n%f = OpVariable %pn StorageBuffer\n",
        );
        let descriptor = |set, binding, elements, kind| Descriptor {
            set,
            binding,
            elements,
            kind,
        };
        assert_eq!(
            descriptors(&words.unwrap()),
            [
                descriptor(0, 1, 1, BufferKind::Uniform),
                descriptor(0, 2, 1, BufferKind::Storage),
                descriptor(1, 7, 3, BufferKind::Storage),
            ]
        );
    }

    #[test]
    fn malformed_modules_end_early() {
        for words in [&[][..], &[1, 2, 3], &[0; 6], &[0, 0, 0, 0, 0, 0xffff_0011]] {
            assert_eq!(capabilities(words).len(), 0);
            assert_eq!(specialization_sizes(words).len(), 0);
            assert_eq!(descriptors(words), []);
        }
    }
}
