// SPDX-License-Identifier: MIT
//! What identifies the driver's build and a binary.
//!
//! Structures are taken apart whole, so that a new field is an error here until the key has it.

use agx_hw::launcher::Storage;
use agx_uapi::Chip;
use mesa_nir::{
    Attachment, Attribute, BindingKind, BindingLayout, Blend, BlendEquation, ColourFormat,
    ComputeLowering, FragmentLowering, Place, Rate, TileInput, VertexLowering,
};

use super::source::{Lowering, Source};
use crate::physical_device::identity::{BUILD, device_id};

/// A hash of everything that a binary depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Key(pub(super) [u8; 32]);

impl Key {
    pub(super) fn of(chip: Chip, source: &Source<'_>) -> Key {
        let Source { module, lowering } = source;
        let mut digest = Digest(blake3::Hasher::new_derive_key(match lowering {
            Lowering::Compute(_) => "Cortland compute shader",
            Lowering::Vertex(_) => "Cortland vertex shader",
            Lowering::Fragment(..) => "Cortland fragment shader",
        }));
        // Every part has a length, or a fixed one.
        digest.bytes(BUILD.as_bytes());
        digest.u32(device_id(chip));
        digest.0.update(module.hash.as_bytes());
        digest.bytes(module.entry_point.as_bytes());
        digest.length(module.constants.len());
        for constant in &module.constants {
            digest.u32(constant.id);
            digest.0.update(&constant.bits.to_le_bytes());
        }
        match lowering {
            Lowering::Compute(lowering) => digest.compute(lowering),
            Lowering::Vertex(lowering) => digest.vertex(lowering),
            Lowering::Fragment(lowering, storage) => {
                digest.fragment(lowering);
                digest.storage(*storage);
            }
        }
        Key(*digest.0.finalize().as_bytes())
    }
}

struct Digest(blake3::Hasher);

impl Digest {
    fn small(&mut self, numbers: &[u8]) {
        self.0.update(numbers);
    }

    fn flags<const N: usize>(&mut self, flags: [bool; N]) {
        self.small(&flags.map(u8::from));
    }

    fn u32(&mut self, number: u32) {
        self.0.update(&number.to_le_bytes());
    }

    fn length(&mut self, length: usize) {
        self.0.update(&(length as u64).to_le_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.length(bytes.len());
        self.0.update(bytes);
    }

    fn optional<T>(&mut self, value: Option<T>, put: impl FnOnce(&mut Digest, T)) {
        self.flags([value.is_some()]);
        if let Some(value) = value {
            put(self, value);
        }
    }

    fn compute(&mut self, lowering: &ComputeLowering) {
        let ComputeLowering {
            bindings,
            robust,
            has_base_workgroup,
            custom_border_colors,
        } = lowering;
        self.bindings(bindings);
        self.flags([*robust, *has_base_workgroup, *custom_border_colors]);
    }

    fn vertex(&mut self, lowering: &VertexLowering) {
        let VertexLowering {
            bindings,
            robust,
            custom_border_colors,
            attributes,
            varyings,
            point_size,
            view,
        } = lowering;
        self.bindings(bindings);
        self.flags([*robust, *custom_border_colors, *point_size]);
        self.length(attributes.len());
        for attribute in attributes {
            let Attribute {
                location,
                binding,
                offset,
                format,
                rate,
            } = *attribute;
            self.small(&[location, binding]);
            self.u32(offset);
            self.u32(format.cast_unsigned());
            match rate {
                Rate::Vertex => self.small(&[0]),
                Rate::Instance { divisor } => {
                    self.small(&[1]);
                    self.u32(divisor);
                }
            }
        }
        self.optional(varyings.as_ref(), |digest, varyings| {
            digest.length(varyings.len());
            for (location, component) in varyings {
                digest.small(&[*location, *component]);
            }
        });
        self.optional(*view, Digest::u32);
    }

    fn fragment(&mut self, lowering: &FragmentLowering) {
        let FragmentLowering {
            bindings,
            robust,
            custom_border_colors,
            samples,
            attachments,
            inputs,
            sample_shading,
            alpha_to_coverage,
            alpha_to_one,
            sample_mask,
            logic_op,
            full_coverage,
            view,
        } = lowering;
        self.bindings(bindings);
        self.flags([
            *robust,
            *custom_border_colors,
            *sample_shading,
            *alpha_to_coverage,
            *alpha_to_one,
            *full_coverage,
        ]);
        self.small(&[*samples]);
        self.u32(*sample_mask);
        self.optional(*logic_op, |digest, op| digest.small(&[op as u8]));
        self.optional(*view, Digest::u32);
        for attachment in attachments {
            self.optional(attachment.as_ref(), Digest::attachment);
        }
        self.length(inputs.len());
        for input in inputs {
            let TileInput {
                index,
                format:
                    ColourFormat {
                        encoding,
                        components,
                    },
                word,
            } = *input;
            self.u32(index);
            self.small(&[encoding as u8, components, word]);
        }
    }

    fn attachment(&mut self, attachment: &Attachment) {
        let Attachment {
            format:
                ColourFormat {
                    encoding,
                    components,
                },
            word,
            write_mask,
            blend,
        } = *attachment;
        self.small(&[encoding as u8, components, word, write_mask]);
        self.optional(blend, |digest, Blend { colour, alpha }| {
            for BlendEquation { op, src, dst } in [colour, alpha] {
                digest.small(&[op as u8, src as u8, dst as u8]);
            }
        });
    }

    fn storage(&mut self, storage: Storage) {
        match storage {
            Storage::None => self.small(&[0]),
            Storage::Threadgroup { bytes } => {
                self.small(&[1]);
                self.u32(bytes);
            }
            Storage::Tile { samples, units } => self.small(&[2, samples.count() as u8, units]),
        }
    }

    fn bindings(&mut self, bindings: &[BindingLayout]) {
        self.length(bindings.len());
        for layout in bindings {
            let BindingLayout {
                set,
                binding,
                place,
                offset,
                stride,
                count,
                kind,
            } = *layout;
            let place = match place {
                Place::Set(set) => [0, set],
                Place::Dynamic => [1, 0],
            };
            let kind = match kind {
                BindingKind::Buffer => 0,
                BindingKind::InlineUniform => 1,
                BindingKind::Texture => 2,
                BindingKind::Sampler => 3,
                BindingKind::CombinedImageSampler => 4,
                BindingKind::StorageImage => 5,
                BindingKind::UniformTexelBuffer => 6,
                BindingKind::StorageTexelBuffer => 7,
            };
            self.small(&[place[0], place[1], kind]);
            for number in [set, binding, offset, stride, count] {
                self.u32(number);
            }
        }
    }
}

#[cfg(test)]
mod tests;
