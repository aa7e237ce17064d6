// SPDX-License-Identifier: MIT
//! What identifies the driver's build and a binary.

use agx_uapi::Chip;
use mesa_nir::{BindingKind, ComputeLowering, Place, SpecConstant};

use crate::shader_module::Spirv;

use crate::physical_device::identity::{BUILD, device_id};

/// A hash of everything that a binary depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Key(pub(super) [u8; 32]);

impl Key {
    pub(super) fn new(
        chip: Chip,
        module: blake3::Hash,
        entry_point: &str,
        constants: &[SpecConstant],
        lowering: &ComputeLowering,
    ) -> Key {
        let ComputeLowering {
            bindings,
            robust,
            has_base_workgroup,
            custom_border_colors,
        } = lowering;
        let mut hasher = blake3::Hasher::new_derive_key("Cortland compute shader");
        hasher.update(BUILD.as_bytes());
        hasher.update(&device_id(chip).to_le_bytes());
        hasher.update(module.as_bytes());
        // Every part has a length, or a fixed one.
        hasher.update(&(entry_point.len() as u64).to_le_bytes());
        hasher.update(entry_point.as_bytes());
        hasher.update(&(constants.len() as u64).to_le_bytes());
        for constant in constants {
            hasher.update(&constant.id.to_le_bytes());
            hasher.update(&constant.bits.to_le_bytes());
        }
        hasher.update(&[
            u8::from(*robust),
            u8::from(*has_base_workgroup),
            u8::from(*custom_border_colors),
        ]);
        for binding in bindings {
            let place = match binding.place {
                Place::Set(set) => [0, set],
                Place::Dynamic => [1, 0],
            };
            let kind = match binding.kind {
                BindingKind::Buffer => 0,
                BindingKind::InlineUniform => 1,
                BindingKind::Texture => 2,
                BindingKind::Sampler => 3,
                BindingKind::CombinedImageSampler => 4,
                BindingKind::StorageImage => 5,
                BindingKind::UniformTexelBuffer => 6,
                BindingKind::StorageTexelBuffer => 7,
            };
            hasher.update(&[place[0], place[1], kind]);
            for number in [
                binding.set,
                binding.binding,
                binding.offset,
                binding.stride,
                binding.count,
            ] {
                hasher.update(&number.to_le_bytes());
            }
        }
        Key(*hasher.finalize().as_bytes())
    }
}

/// What a binary is made from.
pub(super) struct Source<'a> {
    pub(super) spirv: Spirv<'a>,
    pub(super) entry_point: &'a str,
    pub(super) constants: Vec<SpecConstant>,
    pub(super) lowering: ComputeLowering,
}

impl Source<'_> {
    pub(super) fn key(&self, chip: Chip) -> Key {
        Key::new(
            chip,
            self.spirv.hash,
            self.entry_point,
            &self.constants,
            &self.lowering,
        )
    }
}

#[cfg(test)]
mod tests {
    use mesa_nir::BindingLayout;

    use super::*;

    #[test]
    fn keys_depend_on_everything() {
        let binding = BindingLayout {
            set: 1,
            binding: 2,
            place: Place::Set(1),
            offset: 32,
            stride: 16,
            count: 1,
            kind: BindingKind::Buffer,
        };
        let lowering = ComputeLowering {
            bindings: vec![binding],
            robust: false,
            has_base_workgroup: false,
            custom_border_colors: false,
        };
        let module = blake3::hash(b"module");
        let constant = SpecConstant { id: 3, bits: 4 };
        let with = |change: fn(&mut BindingLayout)| {
            let mut changed = lowering.clone();
            change(&mut changed.bindings[0]);
            Key::new(Chip::M4, module, "main", &[constant], &changed)
        };
        let other = |chip, module, name, constants: &[SpecConstant]| {
            Key::new(chip, module, name, constants, &lowering)
        };
        let robust = ComputeLowering {
            robust: true,
            ..lowering.clone()
        };
        let based = ComputeLowering {
            has_base_workgroup: true,
            custom_border_colors: false,
            ..lowering.clone()
        };
        let none = ComputeLowering {
            bindings: Vec::new(),
            ..lowering.clone()
        };
        let mut keys = vec![
            with(|_| ()),
            with(|b| b.set = 0),
            with(|b| b.binding = 3),
            with(|b| b.place = Place::Set(2)),
            with(|b| b.place = Place::Dynamic),
            with(|b| b.offset = 48),
            with(|b| b.stride = 32),
            with(|b| b.kind = BindingKind::InlineUniform),
            other(Chip::A18Pro, module, "main", &[constant]),
            other(Chip::M4, blake3::hash(b"other"), "main", &[constant]),
            other(Chip::M4, module, "mains", &[constant]),
            other(Chip::M4, module, "main", &[]),
            other(Chip::M4, module, "main", &[SpecConstant { id: 4, bits: 3 }]),
            other(Chip::M4, module, "main", &[constant, constant]),
            Key::new(Chip::M4, module, "main", &[constant], &robust),
            Key::new(Chip::M4, module, "main", &[constant], &based),
            Key::new(Chip::M4, module, "main", &[constant], &none),
        ];
        assert_eq!(keys[0], with(|_| ()));
        let count = keys.len();
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), count);
    }
}
