// SPDX-License-Identifier: MIT
//! What binaries are made from: a module of a stage, and what it is compiled for.

use std::borrow::Cow;
use std::ffi::{CStr, c_void};
use std::fmt;

use agx_compiler::binary::{ShaderBinary, StageInfo};
use agx_hw::launcher::Storage;
use agx_uapi::Chip;
use ash::vk;
use mesa_nir::{ComputeLowering, FragmentLowering, SpecConstant, Stage, VertexLowering};

use super::key::Key;
use super::robustness;
use crate::debug;
use crate::device::Device;
use crate::entry;
use crate::error::VkResult;
use crate::object;
use crate::shader_module::{ShaderModule, Spirv};

/// The only size of a subgroup.
const SUBGROUP_SIZE: u32 = 32;

/// What an application gives for a stage.
#[derive(Clone, Debug)]
pub(super) struct Module<'a> {
    /// SPIR-V; nothing when only its hash is known.
    pub(super) words: Cow<'a, [u32]>,
    /// Of the words; what identifies them.
    pub(super) hash: blake3::Hash,
    pub(super) entry_point: Cow<'a, str>,
    pub(super) constants: Vec<SpecConstant>,
    /// Whether it checks accesses of buffers.
    pub(super) robust: bool,
    /// Whether samplers may have borders that hardware has not.
    pub(super) custom_border_colors: bool,
}

/// What a module is compiled for: the stage, and how that is lowered.
#[allow(
    clippy::large_enum_variant,
    reason = "there is one at a time, on the stack"
)]
#[derive(Clone, Debug)]
pub(super) enum Lowering {
    Compute(ComputeLowering),
    Vertex(VertexLowering),
    /// With the tile memory that its launch programs ask for.
    Fragment(FragmentLowering, Storage),
}

/// What a binary is made from.
pub(super) struct Source<'a> {
    pub(super) module: &'a Module<'a>,
    pub(super) lowering: Lowering,
}

impl<'a> Module<'a> {
    /// A shader of the driver's own.
    pub(super) fn own(words: &'a [u32]) -> Module<'a> {
        let spirv = Spirv::new(words);
        Module {
            words: spirv.words.into(),
            hash: spirv.hash,
            entry_point: "main".into(),
            constants: Vec::new(),
            robust: false,
            custom_border_colors: false,
        }
    }

    /// The same module, in memory that is still another's.
    pub(super) fn borrow(&self) -> Module<'_> {
        Module {
            words: Cow::Borrowed(&self.words),
            hash: self.hash,
            entry_point: Cow::Borrowed(&self.entry_point),
            constants: self.constants.clone(),
            robust: self.robust,
            custom_border_colors: self.custom_border_colors,
        }
    }

    /// The same module, in memory of its own.
    pub(super) fn into_owned(self) -> Module<'static> {
        Module {
            words: self.words.into_owned().into(),
            hash: self.hash,
            entry_point: self.entry_point.into_owned().into(),
            constants: self.constants,
            robust: self.robust,
            custom_border_colors: self.custom_border_colors,
        }
    }

    /// That of a stage of a pipeline whose chain is `pipeline`.
    ///
    /// # Errors
    /// When there is something that the driver does not offer.
    ///
    /// # Safety
    /// The structures are valid for `'a`.
    pub(super) unsafe fn of(
        device: &Device,
        stage: &vk::PipelineShaderStageCreateInfo<'a>,
        pipeline: *const c_void,
    ) -> VkResult<Module<'a>> {
        type Subgroup<'a> = vk::PipelineShaderStageRequiredSubgroupSizeCreateInfo<'a>;
        // SAFETY: the caller's promise.
        unsafe {
            if let Some(required) = entry::find::<Subgroup<'_>>(stage.p_next)
                && required.required_subgroup_size != SUBGROUP_SIZE
            {
                let size = required.required_subgroup_size;
                return refuse(&format_args!(
                    "no subgroups of {size}, only of {SUBGROUP_SIZE}"
                ));
            }
            let Some(spirv) = spirv(stage) else {
                return refuse(&"no shader module, nor SPIR-V with the stage");
            };
            let entry_point = CStr::from_ptr(stage.p_name);
            let Ok(name) = entry_point.to_str() else {
                return refuse(&format_args!("{entry_point:?} is not UTF-8"));
            };
            let constants = stage.p_specialization_info.as_ref();
            Ok(Module {
                words: spirv.words.into(),
                hash: spirv.hash,
                entry_point: name.into(),
                constants: constants.map_or_else(Vec::new, |given| self::constants(given)),
                robust: robustness::stage_is_robust(device, pipeline, stage.p_next),
                custom_border_colors: device.features.custom_border_colors,
            })
        }
    }
}

impl Lowering {
    pub(super) fn stage(&self) -> Stage {
        match self {
            Lowering::Compute(_) => Stage::Compute,
            Lowering::Vertex(_) => Stage::Vertex,
            Lowering::Fragment(..) => Stage::Fragment,
        }
    }

    /// The view that it is for, where there is more than the one.
    fn view(&self) -> Option<u32> {
        match self {
            Lowering::Compute(_) => None,
            Lowering::Vertex(lowering) => lowering.view,
            Lowering::Fragment(lowering, _) => lowering.view,
        }
    }
}

impl Source<'_> {
    pub(super) fn key(&self, chip: Chip) -> Key {
        Key::of(chip, self)
    }

    /// Whether a binary is of this stage, and has the outputs that were asked for: what its checksum
    /// does not say, as it is no secret.
    pub(super) fn fits(&self, binary: &ShaderBinary) -> bool {
        match (&self.lowering, &binary.stage) {
            (Lowering::Compute(_), StageInfo::Compute)
            | (Lowering::Fragment(..), StageInfo::Fragment(_)) => true,
            (Lowering::Vertex(lowering), StageInfo::Vertex(info)) => lowering
                .varyings
                .as_ref()
                .is_none_or(|varyings| varyings.len() == usize::from(info.user_scalars)),
            _ => false,
        }
    }
}

/// As it is named in messages.
impl fmt::Display for Source<'_> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stage = match self.lowering.stage() {
            Stage::Vertex => "vertex",
            Stage::Fragment => "fragment",
            _ => "compute",
        };
        let Module {
            entry_point, hash, ..
        } = self.module;
        write!(to, "{stage} shader {entry_point:?} of {hash}")?;
        match self.lowering.view() {
            Some(view) => write!(to, " for view {view}"),
            None => Ok(()),
        }
    }
}

fn refuse<T>(why: &dyn fmt::Display) -> VkResult<T> {
    debug::error(&format_args!("a pipeline: {why}"));
    Err(vk::Result::ERROR_UNKNOWN)
}

/// The SPIR-V of a stage: that of a module, or its own.
///
/// # Safety
/// The structure is valid for `'a`.
unsafe fn spirv<'a>(stage: &vk::PipelineShaderStageCreateInfo<'a>) -> Option<Spirv<'a>> {
    // SAFETY: the caller's promise.
    unsafe {
        if let Some(module) = object::get_optional::<ShaderModule>(stage.module) {
            return Some(module.spirv());
        }
        if let Some(inline) = entry::find::<vk::ShaderModuleCreateInfo<'a>>(stage.p_next) {
            return Some(Spirv::of(inline));
        }
        let identifier =
            entry::find::<vk::PipelineShaderStageModuleIdentifierCreateInfoEXT<'a>>(stage.p_next)?;
        let bytes = entry::slice(identifier.p_identifier, identifier.identifier_size);
        Some(Spirv {
            words: &[],
            hash: blake3::Hash::from_bytes(bytes.try_into().ok()?),
        })
    }
}

/// The values that a structure gives to specialisation constants.
///
/// # Safety
/// The structure is valid.
unsafe fn constants(info: &vk::SpecializationInfo<'_>) -> Vec<SpecConstant> {
    // SAFETY: the caller's promise.
    let (entries, data) = unsafe {
        let data: &[u8] = match info.data_size {
            0 => &[],
            size => std::slice::from_raw_parts(info.p_data.cast(), size),
        };
        let entries = entry::slice(info.p_map_entries, info.map_entry_count);
        (entries, data)
    };
    let one = |entry: &vk::SpecializationMapEntry| {
        let value = (entry.offset as usize)
            .checked_add(entry.size)
            .and_then(|end| data.get(entry.offset as usize..end))
            .filter(|value| matches!(value.len(), 1 | 2 | 4 | 8));
        let Some(value) = value else {
            debug::error(&format_args!(
                "specialisation constant {}: no {} bytes at {} of {}: ignored",
                entry.constant_id,
                entry.size,
                entry.offset,
                data.len()
            ));
            return None;
        };
        let mut bits = [0; 8];
        bits[..value.len()].copy_from_slice(value);
        Some(SpecConstant {
            id: entry.constant_id,
            bits: u64::from_le_bytes(bits),
        })
    };
    entries.iter().filter_map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_of_every_size_are_read_and_others_ignored() {
        let data: Vec<u8> = (1..=16).collect();
        let entry = |constant_id, offset, size| vk::SpecializationMapEntry {
            constant_id,
            offset,
            size,
        };
        let entries = [
            entry(10, 0, 1),
            entry(11, 1, 2),
            entry(12, 4, 4),
            entry(13, 8, 8),
            entry(14, 9, 8),
            entry(15, 0, 3),
            entry(16, u32::MAX, 4),
            entry(17, 4, usize::MAX),
            entry(18, 16, 0),
        ];
        let info = vk::SpecializationInfo::default()
            .map_entries(&entries)
            .data(&data);
        // SAFETY: a valid structure.
        let read = unsafe { constants(&info) };
        let read: Vec<_> = read.iter().map(|read| (read.id, read.bits)).collect();
        assert_eq!(
            read,
            [
                (10, 0x01),
                (11, 0x0302),
                (12, 0x0807_0605),
                (13, 0x100f_0e0d_0c0b_0a09)
            ]
        );
    }
}
