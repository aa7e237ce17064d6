// SPDX-License-Identifier: MIT
//! Where descriptors lie in the memory of their sets.

use std::collections::BTreeMap;

use mesa_nir::BindingKind;

use crate::case::{BufferKind, Case, MAX_ELEMENTS, MAX_SETS};
use crate::corpus::module;
use crate::image::ImageKind;

/// Bytes of a buffer descriptor: 64-bit address, 32-bit size in bytes, 0.
pub const DESCRIPTOR_SIZE: u32 = 16;

/// A binding of a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Binding {
    /// Descriptor set.
    pub set: u32,
    /// Binding.
    pub binding: u32,
    /// Where its first descriptor lies in the set's memory, in bytes.
    pub offset: u32,
    /// Descriptors.
    pub elements: u32,
    /// It is a uniform buffer; otherwise a storage buffer, or none.
    pub uniform: bool,
    /// What the descriptors are.
    pub kind: BindingKind,
}

impl Binding {
    /// Bytes from one descriptor to the next.
    #[must_use]
    pub const fn stride(&self) -> u32 {
        match self.kind {
            BindingKind::CombinedImageSampler | BindingKind::StorageImage => 128,
            BindingKind::Texture
            | BindingKind::Sampler
            | BindingKind::UniformTexelBuffer
            | BindingKind::StorageTexelBuffer => 64,
            BindingKind::Buffer | BindingKind::InlineUniform => DESCRIPTOR_SIZE,
        }
    }
}

const fn kind_of(kind: ImageKind) -> BindingKind {
    match kind {
        ImageKind::Sampled => BindingKind::Texture,
        ImageKind::Combined => BindingKind::CombinedImageSampler,
        ImageKind::Sampler => BindingKind::Sampler,
        ImageKind::Storage => BindingKind::StorageImage,
        ImageKind::UniformTexels => BindingKind::UniformTexelBuffer,
        ImageKind::StorageTexels => BindingKind::StorageTexelBuffer,
    }
}

/// By set and binding: descriptors, whether they are uniform buffers, what they are.
type Found = BTreeMap<(u32, u32), (u32, bool, BindingKind)>;

/// All bindings, by set and number.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Layout {
    bindings: Vec<Binding>,
}

impl Layout {
    /// The layout for a case: in each set the bindings follow one another, lower numbers first.
    ///
    /// # Errors
    /// When the case is contradictory, see [`Case::check`].
    pub fn of(case: &Case) -> anyhow::Result<Layout> {
        case.check()?;
        let mut found = Found::new();
        for buffer in &case.buffers {
            if buffer.kind == BufferKind::Address {
                continue;
            }
            let uniform = buffer.kind == BufferKind::Uniform;
            let binding = found.entry((buffer.set, buffer.binding)).or_insert((
                0,
                uniform,
                BindingKind::Buffer,
            ));
            binding.0 = binding.0.max(buffer.element + 1);
        }
        for image in &case.images {
            let binding =
                found
                    .entry((image.set, image.binding))
                    .or_insert((0, false, kind_of(image.kind)));
            binding.0 = binding.0.max(image.element + 1);
        }
        Ok(Layout::packed(found))
    }

    /// The layout for all buffers and images that a module declares.
    #[must_use]
    pub fn of_module(words: &[u32]) -> Layout {
        let descriptors = module::descriptors(words).into_iter();
        // The compiler refuses accesses to the others: they have no layout.
        let descriptors = descriptors.filter(|d| d.set < MAX_SETS);
        let images = module::images(words)
            .into_iter()
            .filter(|d| d.set < MAX_SETS);
        let images = images.map(|d| {
            let elements = d.elements.min(MAX_ELEMENTS);
            ((d.set, d.binding), (elements, false, kind_of(d.kind)))
        });
        Layout::packed(
            descriptors
                .map(|d| {
                    let uniform = d.kind == BufferKind::Uniform;
                    let elements = d.elements.min(MAX_ELEMENTS);
                    ((d.set, d.binding), (elements, uniform, BindingKind::Buffer))
                })
                .chain(images)
                .collect(),
        )
    }

    fn packed(found: Found) -> Layout {
        let mut bindings: Vec<Binding> = Vec::new();
        for ((set, binding), (elements, uniform, kind)) in found {
            let offset = match bindings.last() {
                Some(last) if last.set == set => {
                    let end = last.stride().saturating_mul(last.elements);
                    last.offset.saturating_add(end)
                }
                _ => 0,
            };
            bindings.push(Binding {
                set,
                binding,
                offset,
                elements,
                uniform,
                kind,
            });
        }
        Layout { bindings }
    }

    /// The bindings, by set and number.
    #[must_use]
    pub fn bindings(&self) -> &[Binding] {
        &self.bindings
    }

    /// Bytes of a set's memory; 0 for a set without descriptors.
    #[must_use]
    pub fn set_size(&self, set: u32) -> usize {
        let last = self
            .bindings
            .iter()
            .rev()
            .find(|binding| binding.set == set);
        last.map_or(0, |last| {
            (last.offset + last.stride() * last.elements) as usize
        })
    }

    /// Where an element's descriptor is in the memory of its set.
    #[must_use]
    pub fn descriptor(&self, set: u32, binding: u32, element: u32) -> Option<usize> {
        let here = |b: &&Binding| (b.set, b.binding) == (set, binding) && element < b.elements;
        let binding = self.bindings.iter().find(here)?;
        Some((binding.offset + binding.stride() * element) as usize)
    }

    /// A set's memory with its buffers; `address` gives the address of each of the case's buffers.
    #[must_use]
    pub fn set_memory(&self, set: u32, case: &Case, address: impl Fn(usize) -> u64) -> Vec<u8> {
        let mut memory = vec![0; self.set_size(set)];
        for (index, buffer) in case.buffers.iter().enumerate() {
            let here = |binding: &&Binding| {
                (binding.set, binding.binding) == (buffer.set, buffer.binding) && buffer.set == set
            };
            let Some(binding) = self.bindings.iter().find(here) else {
                continue;
            };
            if buffer.kind == BufferKind::Address {
                continue;
            }
            let at = (binding.offset + DESCRIPTOR_SIZE * buffer.element) as usize;
            memory[at..at + 8].copy_from_slice(&address(index).to_le_bytes());
            let size = u32::try_from(buffer.bytes.len()).unwrap_or(u32::MAX);
            memory[at + 8..at + 12].copy_from_slice(&size.to_le_bytes());
        }
        memory
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Buffer;

    fn buffer(set: u32, binding: u32, element: u32, kind: BufferKind, size: usize) -> Buffer {
        Buffer {
            set,
            binding,
            element,
            kind,
            bytes: vec![0; size],
            address_at: None,
        }
    }

    #[test]
    fn bindings_follow_one_another_in_each_set() {
        use BufferKind::{Address, Storage, Uniform};
        let case = Case {
            name: String::new(),
            spirv: Vec::new(),
            entry: String::new(),
            specialization: Vec::new(),
            groups: [1; 3],
            base_group: [0; 3],
            push_constants: Vec::new(),
            buffers: vec![
                buffer(1, 7, 0, Uniform, 4),
                buffer(1, 2, 1, Storage, 8),
                buffer(0, 2, 0, Address, 12),
                buffer(0, 3, 0, Storage, 16),
            ],
            images: Vec::new(),
        };
        let layout = Layout::of(&case).unwrap();
        let offsets: Vec<_> = layout
            .bindings()
            .iter()
            .map(|b| (b.set, b.binding, b.offset, b.elements, b.uniform))
            .collect();
        assert_eq!(
            offsets,
            [
                (0, 3, 0, 1, false),
                (1, 2, 0, 2, false),
                (1, 7, 32, 1, true)
            ]
        );
        assert_eq!([0, 1, 2].map(|set| layout.set_size(set)), [16, 48, 0]);
        let memory = layout.set_memory(1, &case, |index| 0x1_0000_0000 * (index as u64 + 1));
        let mut expected = vec![0; 48];
        expected[20] = 2;
        expected[24] = 8;
        expected[36] = 1;
        expected[40] = 4;
        assert_eq!(memory, expected);
    }
}
