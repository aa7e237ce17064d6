// SPDX-License-Identifier: MIT
//! What the caller decides about a translation.

use crate::{Capability, ffi};
use std::collections::BTreeSet;
use std::fmt;

/// How the front end treats a module, beside the module itself.
#[derive(Debug, Clone)]
pub struct SpirvOptions {
    /// The capabilities that a module may declare.
    pub capabilities: Capabilities,
    /// What happens to a module that declares another one.
    pub unsupported_capability: UnsupportedCapability,
    /// Whether the module goes through the SPIR-V validator first.
    pub validation: Validation,
    /// The layout rules that the validator grants to blocks.
    pub block_layout: BlockLayout,
    /// Float controls that the hardware imposes, before the module's own execution modes.
    pub float_controls: FloatControls,
    /// What the shader may assume about the subgroup size.
    pub subgroup_size: SubgroupSize,
    /// How pointers into uniform buffers look.
    pub ubo_address: AddressFormat,
    /// How pointers into storage buffers look.
    pub ssbo_address: AddressFormat,
    /// How physical storage-buffer pointers look.
    pub physical_ssbo_address: AddressFormat,
    /// How pointers into push constants look.
    pub push_constant_address: AddressFormat,
    /// How pointers into workgroup memory look.
    pub shared_address: AddressFormat,
    /// How pointers into a task shader's payload look.
    pub task_payload_address: AddressFormat,
    /// `minUniformBufferOffsetAlignment`, which must be a power of two.
    pub min_ubo_alignment: u32,
    /// `minStorageBufferOffsetAlignment`, which must be a power of two.
    pub min_ssbo_alignment: u32,
    /// Keep ViewIndex an input instead of a system value.
    pub view_index_is_input: bool,
    /// Compute results decorated RelaxedPrecision in 16 bits.
    pub mediump_16bit_alu: bool,
    /// With [`Self::mediump_16bit_alu`]: derivatives too.
    pub mediump_16bit_derivatives: bool,
    /// Treat every texture access as non-uniform.
    pub force_tex_non_uniform: bool,
    /// Treat every storage-buffer access as non-uniform.
    pub force_ssbo_non_uniform: bool,
    /// Turn OpTerminateInvocation into OpKill.
    pub lower_terminate_to_discard: bool,
    /// Keep source lines and variable names as debug instructions.
    pub debug_info: bool,
}

impl SpirvOptions {
    /// Everything that core Vulkan 1.3 can have, with 32-bit index-and-offset buffer pointers. A driver takes away
    /// the capabilities of features that it does not have and sets its own address formats.
    #[must_use]
    pub fn vulkan_1_3() -> Self {
        Self {
            capabilities: Capabilities::vulkan_1_3(),
            ..Self::none()
        }
    }

    /// The same with no capability at all, to build up from.
    #[must_use]
    pub fn none() -> Self {
        Self {
            capabilities: Capabilities::none(),
            unsupported_capability: UnsupportedCapability::Reject,
            validation: Validation::once(),
            block_layout: BlockLayout::Scalar,
            float_controls: FloatControls::NONE,
            subgroup_size: SubgroupSize::Uniform,
            ubo_address: AddressFormat::Index32Offset32,
            ssbo_address: AddressFormat::Index32Offset32,
            physical_ssbo_address: AddressFormat::Global64,
            push_constant_address: AddressFormat::Offset32,
            shared_address: AddressFormat::Offset32,
            task_payload_address: AddressFormat::Offset32,
            min_ubo_alignment: 64,
            min_ssbo_alignment: 16,
            view_index_is_input: false,
            mediump_16bit_alu: false,
            mediump_16bit_derivatives: false,
            force_tex_non_uniform: false,
            force_ssbo_non_uniform: false,
            lower_terminate_to_discard: false,
            debug_info: false,
        }
    }
}

/// What happens to a module that declares a capability which is not enabled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnsupportedCapability {
    /// It is an [`crate::Error::UnsupportedCapability`].
    Reject,
    /// It is translated all the same and the shader carries a warning that names the capability.
    Warn,
}

/// Whether a module goes through the SPIR-V validator, and its NIR through NIR's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Validation {
    pub(crate) spirv: bool,
    pub(crate) nir: bool,
}

impl Validation {
    /// Once in the life of the process for each distinct module. NIR's own validator looks at each shader that comes
    /// of it too.
    #[must_use]
    pub const fn once() -> Self {
        Self {
            spirv: true,
            nir: true,
        }
    }

    /// Only NIR's own validator looks at what comes of it, which takes a fiftieth of a compilation's time. The SPIR-V
    /// validator takes as long as all the rest.
    ///
    /// # Safety
    ///
    /// As of [`Validation::skip`].
    #[must_use]
    pub const unsafe fn nir_only() -> Self {
        Self {
            spirv: false,
            nir: true,
        }
    }

    /// Not at all.
    ///
    /// # Safety
    ///
    /// Mesa trusts its input. Whoever translates with this value, or a copy of it, must know that the module is valid
    /// SPIR-V for Vulkan 1.3 and for the specialisation that it is given, by having had it validated
    /// ([`crate::validate_spirv`]), by having made it, or because whoever gave it has to see to that: an invalid one may
    /// read and write any memory of the process.
    #[must_use]
    pub const unsafe fn skip() -> Self {
        Self {
            spirv: false,
            nir: false,
        }
    }
}

/// The layout rules for buffer blocks, by the Vulkan feature that grants them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockLayout {
    /// Core Vulkan: relaxed block layout.
    Relaxed,
    /// `uniformBufferStandardLayout`.
    UniformStandard,
    /// `scalarBlockLayout`, and what it implies.
    Scalar,
}

/// A set of capabilities.
///
/// A module must find every capability that it declares in the set, and every one that those imply: Int64Atomics is of
/// no use without Int64.
#[derive(Clone)]
pub struct Capabilities {
    enabled: BTreeSet<u32>,
    /// Those that imply none but enabled ones.
    complete: BTreeSet<u32>,
    /// The enabled ones, for Mesa.
    mesa: ffi::spirv_capabilities,
}

impl Capabilities {
    fn new(enabled: BTreeSet<u32>) -> Self {
        let implies_enabled = |c: &u32| with_implied(&[*c]).iter().all(|i| enabled.contains(i));
        let complete = enabled.iter().copied().filter(implies_enabled).collect();
        let mut mesa = ffi::spirv_capabilities::default();
        enable(&mut mesa, enabled.iter().copied());
        Self {
            enabled,
            complete,
            mesa,
        }
    }

    /// No capability.
    #[must_use]
    pub fn none() -> Self {
        Self::new(BTreeSet::new())
    }

    /// Every capability that a feature or property of core Vulkan 1.3, required or optional, can enable.
    #[must_use]
    pub fn vulkan_1_3() -> Self {
        Self::new(VULKAN_1_3.iter().map(|&c| c as u32).collect())
    }

    /// Switch one capability on or off.
    pub fn set(&mut self, capability: Capability, on: bool) -> &mut Self {
        let mut enabled = std::mem::take(&mut self.enabled);
        if on {
            enabled.insert(capability as u32);
        } else {
            enabled.remove(&(capability as u32));
        }
        *self = Self::new(enabled);
        self
    }

    /// The set with these added.
    #[must_use]
    pub fn with(self, capabilities: &[Capability]) -> Self {
        let mut enabled = self.enabled;
        enabled.extend(capabilities.iter().map(|&c| c as u32));
        Self::new(enabled)
    }

    /// The set with these taken away.
    #[must_use]
    pub fn without(self, capabilities: &[Capability]) -> Self {
        let mut enabled = self.enabled;
        for &capability in capabilities {
            enabled.remove(&(capability as u32));
        }
        Self::new(enabled)
    }

    /// Whether a capability is on.
    #[must_use]
    pub fn contains(&self, capability: Capability) -> bool {
        self.has(capability as u32)
    }

    pub(crate) fn has(&self, capability: u32) -> bool {
        self.enabled.contains(&capability)
    }

    /// Whether a capability is on, with all that it implies.
    pub(crate) fn has_with_implied(&self, capability: u32) -> bool {
        self.complete.contains(&capability)
    }

    /// The set, with what a module declares beside it, for Mesa.
    pub(crate) fn to_mesa(&self, declared: &[u32]) -> ffi::spirv_capabilities {
        let mut mesa = self.mesa;
        enable(
            &mut mesa,
            declared.iter().copied().filter(|&c| !self.has(c)),
        );
        mesa
    }
}

impl PartialEq for Capabilities {
    fn eq(&self, other: &Self) -> bool {
        self.enabled == other.enabled
    }
}

impl Eq for Capabilities {}

impl fmt::Debug for Capabilities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(&self.enabled).finish()
    }
}

fn enable(mesa: &mut ffi::spirv_capabilities, capabilities: impl Iterator<Item = u32>) {
    for capability in capabilities {
        // SAFETY: mesa is a live structure; the shim ignores capabilities that Mesa does not know.
        unsafe { ffi::cortland_capability_enable(mesa, capability) };
    }
}

/// Each capability that implies another, with that one, by SPIR-V's own grammar.
const IMPLIED: &[(u32, u32)] = include!(concat!(env!("OUT_DIR"), "/implied.rs"));

/// These capabilities and all that they imply, in order of appearance.
pub(crate) fn with_implied(declared: &[u32]) -> Vec<u32> {
    let mut all = declared.to_vec();
    let mut known: BTreeSet<u32> = declared.iter().copied().collect();
    let mut at = 0;
    while let Some(&capability) = all.get(at) {
        let implied = IMPLIED.iter().filter(|(c, _)| *c == capability);
        all.extend(implied.map(|&(_, i)| i).filter(|&i| known.insert(i)));
        at += 1;
    }
    all
}

/// The table of capabilities in the Vulkan 1.3 specification, appendix "SPIR-V Capabilities", without extensions.
const VULKAN_1_3: &[Capability] = &[
    // Required of every implementation.
    Capability::Matrix,
    Capability::Shader,
    Capability::InputAttachment,
    Capability::Sampled1D,
    Capability::Image1D,
    Capability::SampledBuffer,
    Capability::ImageBuffer,
    Capability::ImageQuery,
    Capability::DerivativeControl,
    Capability::StorageImageExtendedFormats,
    // Vulkan 1.0 features.
    Capability::Geometry,
    Capability::Tessellation,
    Capability::Float64,
    Capability::Int64,
    Capability::Int16,
    Capability::TessellationPointSize,
    Capability::GeometryPointSize,
    Capability::ImageGatherExtended,
    Capability::StorageImageMultisample,
    Capability::UniformBufferArrayDynamicIndexing,
    Capability::SampledImageArrayDynamicIndexing,
    Capability::StorageBufferArrayDynamicIndexing,
    Capability::StorageImageArrayDynamicIndexing,
    Capability::ClipDistance,
    Capability::CullDistance,
    Capability::ImageCubeArray,
    Capability::SampleRateShading,
    Capability::SparseResidency,
    Capability::MinLod,
    Capability::SampledCubeArray,
    Capability::ImageMSArray,
    Capability::InterpolationFunction,
    Capability::StorageImageReadWithoutFormat,
    Capability::StorageImageWriteWithoutFormat,
    Capability::MultiViewport,
    // Vulkan 1.1.
    Capability::DrawParameters,
    Capability::MultiView,
    Capability::DeviceGroup,
    Capability::VariablePointersStorageBuffer,
    Capability::VariablePointers,
    Capability::StorageBuffer16BitAccess,
    Capability::UniformAndStorageBuffer16BitAccess,
    Capability::StoragePushConstant16,
    Capability::StorageInputOutput16,
    Capability::GroupNonUniform,
    Capability::GroupNonUniformVote,
    Capability::GroupNonUniformArithmetic,
    Capability::GroupNonUniformBallot,
    Capability::GroupNonUniformShuffle,
    Capability::GroupNonUniformShuffleRelative,
    Capability::GroupNonUniformClustered,
    Capability::GroupNonUniformQuad,
    // Vulkan 1.2.
    Capability::ShaderViewportIndex,
    Capability::ShaderLayer,
    Capability::ShaderViewportIndexLayerEXT,
    Capability::StorageBuffer8BitAccess,
    Capability::UniformAndStorageBuffer8BitAccess,
    Capability::StoragePushConstant8,
    Capability::Int64Atomics,
    Capability::Float16,
    Capability::Int8,
    Capability::DenormPreserve,
    Capability::DenormFlushToZero,
    Capability::SignedZeroInfNanPreserve,
    Capability::RoundingModeRTE,
    Capability::RoundingModeRTZ,
    Capability::VulkanMemoryModel,
    Capability::VulkanMemoryModelDeviceScope,
    Capability::PhysicalStorageBufferAddresses,
    Capability::ShaderNonUniform,
    Capability::RuntimeDescriptorArray,
    Capability::InputAttachmentArrayDynamicIndexing,
    Capability::UniformTexelBufferArrayDynamicIndexing,
    Capability::StorageTexelBufferArrayDynamicIndexing,
    Capability::UniformBufferArrayNonUniformIndexing,
    Capability::SampledImageArrayNonUniformIndexing,
    Capability::StorageBufferArrayNonUniformIndexing,
    Capability::StorageImageArrayNonUniformIndexing,
    Capability::InputAttachmentArrayNonUniformIndexing,
    Capability::UniformTexelBufferArrayNonUniformIndexing,
    Capability::StorageTexelBufferArrayNonUniformIndexing,
    // Vulkan 1.3.
    Capability::DemoteToHelperInvocation,
    Capability::DotProduct,
    Capability::DotProductInputAll,
    Capability::DotProductInput4x8Bit,
    Capability::DotProductInput4x8BitPacked,
];

/// The form of a pointer once NIR has lowered explicit I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddressFormat {
    /// A 32-bit address.
    Global32,
    /// A 64-bit address.
    Global64,
    /// A 64-bit base with a 32-bit offset.
    Global64Offset32,
    /// A 64-bit base with a size and a 32-bit offset, for bounds tests in the shader.
    BoundedGlobal64,
    /// A 32-bit buffer index and a 32-bit offset.
    Index32Offset32,
    /// The same in one 64-bit value.
    Index32Offset32Packed,
    /// A two-component buffer index and a 32-bit offset.
    IndexVec2Offset32,
    /// A 32-bit offset.
    Offset32,
    /// A 32-bit offset in a 64-bit value.
    Offset32In64,
    /// No numeric form: the variable itself.
    Logical,
}

impl AddressFormat {
    pub(crate) fn to_mesa(self) -> ffi::nir_address_format {
        match self {
            Self::Global32 => ffi::nir_address_format_nir_address_format_32bit_global,
            Self::Global64 => ffi::nir_address_format_nir_address_format_64bit_global,
            Self::Global64Offset32 => {
                ffi::nir_address_format_nir_address_format_64bit_global_32bit_offset
            }
            Self::BoundedGlobal64 => {
                ffi::nir_address_format_nir_address_format_64bit_bounded_global
            }
            Self::Index32Offset32 => ffi::nir_address_format_nir_address_format_32bit_index_offset,
            Self::Index32Offset32Packed => {
                ffi::nir_address_format_nir_address_format_32bit_index_offset_pack64
            }
            Self::IndexVec2Offset32 => {
                ffi::nir_address_format_nir_address_format_vec2_index_32bit_offset
            }
            Self::Offset32 => ffi::nir_address_format_nir_address_format_32bit_offset,
            Self::Offset32In64 => ffi::nir_address_format_nir_address_format_32bit_offset_as_64bit,
            Self::Logical => ffi::nir_address_format_nir_address_format_logical,
        }
    }
}

/// What a shader may assume about the subgroup size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SubgroupSize {
    /// It may differ from one invocation of the shader to another.
    Varying,
    /// It is the same for the whole dispatch.
    Uniform,
    /// It is the size that the API reports.
    ApiConstant,
    /// It is the size that the API reports, and every subgroup is full.
    Full,
    /// It is exactly 32.
    Require32,
}

impl SubgroupSize {
    pub(crate) fn to_mesa(self) -> ffi::gl_subgroup_size {
        match self {
            Self::Varying => ffi::gl_subgroup_size_SUBGROUP_SIZE_VARYING,
            Self::Uniform => ffi::gl_subgroup_size_SUBGROUP_SIZE_UNIFORM,
            Self::ApiConstant => ffi::gl_subgroup_size_SUBGROUP_SIZE_API_CONSTANT,
            Self::Full => ffi::gl_subgroup_size_SUBGROUP_SIZE_FULL_SUBGROUPS,
            Self::Require32 => ffi::gl_subgroup_size_SUBGROUP_SIZE_REQUIRE_32,
        }
    }
}

/// A set of float controls: what arithmetic of each width must do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FloatControls(pub(crate) u32);

/// Define the float controls, each for three widths.
macro_rules! float_controls {
    ($($(#[$doc:meta])* $f16:ident, $f32:ident, $f64:ident = $value:ident;)*) => {
        impl FloatControls {
            /// None: any behaviour will do.
            pub const NONE: Self = Self(0);
            $(
                $(#[$doc])*
                pub const $f16: Self = Self(ffi::$value);
                $(#[$doc])*
                pub const $f32: Self = Self(ffi::$value << 1);
                $(#[$doc])*
                pub const $f64: Self = Self(ffi::$value << 2);
            )*
        }
    };
}

float_controls! {
    /// The sign of zero is kept.
    SIGNED_ZERO_16, SIGNED_ZERO_32, SIGNED_ZERO_64 = float_controls_FLOAT_CONTROLS_SIGNED_ZERO_PRESERVE_FP16;
    /// Infinities are kept.
    INF_16, INF_32, INF_64 = float_controls_FLOAT_CONTROLS_INF_PRESERVE_FP16;
    /// NaNs are kept.
    NAN_16, NAN_32, NAN_64 = float_controls_FLOAT_CONTROLS_NAN_PRESERVE_FP16;
    /// Denormals are kept.
    DENORM_PRESERVE_16, DENORM_PRESERVE_32, DENORM_PRESERVE_64 = float_controls_FLOAT_CONTROLS_DENORM_PRESERVE_FP16;
    /// Denormals become zero.
    DENORM_FLUSH_16, DENORM_FLUSH_32, DENORM_FLUSH_64 = float_controls_FLOAT_CONTROLS_DENORM_FLUSH_TO_ZERO_FP16;
    /// Rounding is to the nearest, ties to even.
    ROUND_EVEN_16, ROUND_EVEN_32, ROUND_EVEN_64 = float_controls_FLOAT_CONTROLS_ROUNDING_MODE_RTE_FP16;
    /// Rounding is towards zero.
    ROUND_ZERO_16, ROUND_ZERO_32, ROUND_ZERO_64 = float_controls_FLOAT_CONTROLS_ROUNDING_MODE_RTZ_FP16;
}

impl std::ops::BitOr for FloatControls {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn implied_capabilities_are_found_to_the_end() {
        let all = with_implied(&[Capability::ShaderViewportIndexLayerEXT as u32]);
        let wanted = [
            Capability::ShaderViewportIndexLayerEXT,
            Capability::MultiViewport,
            Capability::Geometry,
            Capability::Shader,
            Capability::Matrix,
        ];
        assert_eq!(all, wanted.map(|c| c as u32));
        assert_eq!(with_implied(&[4242]), [4242]);
    }

    #[test]
    fn the_vulkan_set_holds_all_that_it_implies() {
        let all: Vec<_> = VULKAN_1_3.iter().map(|&c| c as u32).collect();
        assert_eq!(with_implied(&all), all);
    }
}
