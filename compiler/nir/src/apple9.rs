// SPDX-License-Identifier: MIT
//! What is particular to Apple9: the options of its passes, and where a pipeline layout puts descriptors.

use crate::{
    AddressFormat, Capabilities, Capability, CompilerOptions, LowerInt64, SpirvOptions,
    SubgroupSize, ffi,
};

/// How many workgroups are launched at most of a shader with
/// [`Program::workgroup_buffer_bytes`](crate::Program::workgroup_buffer_bytes), in one row.
pub const MOST_SLICES: u32 = ffi::CORTLAND_MOST_SLICES;

/// The address of a page of zeros, which whoever runs shaders with [`ComputeLowering::robust`] maps for the GPU to read
/// and write: loads out of bounds go there, and coherent ones are atomics, if such as change nothing.
pub const ZERO_PAGE: u64 = page(ffi::CORTLAND_ZERO_PAGE_LOW);
/// The address of a page that nobody reads, which whoever runs such shaders maps for the GPU to write: stores and atomics
/// out of bounds go there.
pub const SINK_PAGE: u64 = page(ffi::CORTLAND_SINK_PAGE_LOW);

const fn page(low: u32) -> u64 {
    (ffi::CORTLAND_BOUNDS_PAGES_HIGH as u64) << 32 | low as u64
}

/// How [`crate::Shader::lower_compute`] lowers a compute shader.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ComputeLowering {
    /// Where each binding's descriptors are.
    pub bindings: Vec<BindingLayout>,
    /// Check buffer accesses: a load out of bounds gives 0, a store or atomic does nothing. An access counts as a whole.
    /// [`ZERO_PAGE`] and [`SINK_PAGE`] must be mapped where the shader runs.
    /// No index is so large that it is mistaken for another; only offsets of variable pointers are modulo 2^32.
    pub robust: bool,
    /// Dispatches may have a base workgroup, which the third root pointer names.
    pub has_base_workgroup: bool,
    /// Samplers may have border colours beside the three presets. Each sampler then takes two slots, and each sample
    /// asks whether it has.
    pub custom_border_colors: bool,
}

/// Where the descriptors of one binding are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BindingLayout {
    /// The descriptor set.
    pub set: u32,
    /// The binding in the set.
    pub binding: u32,
    /// The memory that holds the descriptors.
    pub place: Place,
    /// Bytes from the start of that memory to the first array element.
    pub offset: u32,
    /// Bytes from one array element to the next.
    pub stride: u32,
    /// Array elements; 0 if it is not known how many, as of an array of variable length. Textures and samplers of such
    /// an array cannot be indexed at run time, unless the shader says how many there are.
    pub count: u32,
    /// What is there.
    pub kind: BindingKind,
}

/// The memory that holds descriptors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// That of a descriptor set.
    Set(u8),
    /// The table of dynamic buffers.
    Dynamic,
}

/// What a binding's memory holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BindingKind {
    /// Buffer descriptors of 16 bytes: a 64-bit address, a 32-bit size in bytes, 32 bits of zero.
    Buffer,
    /// The bytes of an inline uniform block themselves.
    InlineUniform,
    /// Texture descriptors of 64 bytes: the 32 of a texture record; five `u32`: width, height, depth or layers (or cubes of
    /// an array of cubes; 1 of others), levels, samples, all at the view's first level; `u32`: the swizzle
    /// of a border's colour, whose components are in the API's order, as a record's; zeros. All zeros: no texture.
    /// The record of an array of cubes is that of a 2D array of its faces, that of an input attachment always one of an
    /// array.
    Texture,
    /// Sampler descriptors of 64 bytes: 32 with a sampler record of 8 (whose border is transparent black if it is custom)
    /// and zeros; the same record with an opaque white border, 8 bytes; the LOD bias, `f32`; `u32`: bit 0 custom border,
    /// bit 1 unnormalised coordinates, bits 2 and 3 the mip filter (0 none, 1 nearest, 2 linear); the custom border, 4 words.
    Sampler,
    /// 128 bytes: those of a texture, then those of a sampler.
    CombinedImageSampler,
    /// Storage-image descriptors of 128 bytes: those of a texture of the one level, up to byte 52; at 64 the image-write
    /// record (32 bytes); at 96 the GPU address of element (0, 0) of the level in the first layer; at 104, `u32`, the
    /// distance of layers in 16 bytes; at 108: bits 0 to 7 log2 of a tile's width and 8 to 15 of its height in elements, 16
    /// to 23 of the bytes of a pixel with all samples, 24 to 30 of the samples, bit 31: linear; at 112, `u32`, the tiles in a
    /// row or the bytes of a linear one. Slices of 3D images are layers, and so are faces: the record of a cube is that of
    /// a 2D array.
    StorageImage,
    /// Texel-buffer descriptors of 64 bytes: the record of a linear 2D texture of 1024 texels width; at 32, `u32`, the
    /// elements; at 40 the address; at 48, `u32`, the bytes of an element.
    UniformTexelBuffer,
    /// The same.
    StorageTexelBuffer,
}

/// What the shim reads, and points into the bindings that it was made with.
pub(crate) struct MesaLowering(pub(crate) ffi::cortland_compute_lowering);

// SAFETY: plain data that nobody changes while the shim reads it.
unsafe impl Sync for MesaLowering {}
// SAFETY: as above.
unsafe impl Send for MesaLowering {}

impl MesaLowering {
    /// Through a method, so that closures capture the whole and not the pointer in it.
    pub(crate) fn as_ptr(&self) -> *const ffi::cortland_compute_lowering {
        &raw const self.0
    }
}

impl ComputeLowering {
    pub(crate) fn mesa_bindings(&self) -> Vec<ffi::cortland_binding> {
        let one = |b: &BindingLayout| {
            let (place, place_set) = match b.place {
                Place::Set(set) => (ffi::cortland_place_CORTLAND_PLACE_SET, u32::from(set)),
                Place::Dynamic => (ffi::cortland_place_CORTLAND_PLACE_DYNAMIC, 0),
            };
            let kind = match b.kind {
                BindingKind::Buffer => ffi::cortland_binding_kind_CORTLAND_BINDING_BUFFER,
                BindingKind::InlineUniform => {
                    ffi::cortland_binding_kind_CORTLAND_BINDING_INLINE_UNIFORM
                }
                BindingKind::Texture => ffi::cortland_binding_kind_CORTLAND_BINDING_TEXTURE,
                BindingKind::Sampler => ffi::cortland_binding_kind_CORTLAND_BINDING_SAMPLER,
                BindingKind::CombinedImageSampler => {
                    ffi::cortland_binding_kind_CORTLAND_BINDING_COMBINED_IMAGE_SAMPLER
                }
                BindingKind::StorageImage => {
                    ffi::cortland_binding_kind_CORTLAND_BINDING_STORAGE_IMAGE
                }
                BindingKind::UniformTexelBuffer => {
                    ffi::cortland_binding_kind_CORTLAND_BINDING_UNIFORM_TEXEL_BUFFER
                }
                BindingKind::StorageTexelBuffer => {
                    ffi::cortland_binding_kind_CORTLAND_BINDING_STORAGE_TEXEL_BUFFER
                }
            };
            ffi::cortland_binding {
                set: b.set,
                binding: b.binding,
                place,
                place_set,
                offset: b.offset,
                stride: b.stride,
                count: b.count,
                kind,
            }
        };
        self.bindings.iter().map(one).collect()
    }

    pub(crate) fn to_mesa(&self, bindings: &[ffi::cortland_binding]) -> MesaLowering {
        MesaLowering(ffi::cortland_compute_lowering {
            bindings: bindings.as_ptr(),
            num_bindings: bindings.len(),
            robust: self.robust,
            has_base_workgroup: self.has_base_workgroup,
            custom_border_colors: self.custom_border_colors,
            ..ffi::cortland_compute_lowering::default()
        })
    }
}

impl CompilerOptions {
    /// What Apple9 has and lacks; the README has a table with the reasons.
    #[must_use]
    pub fn apple9() -> Self {
        // All but 64-bit addition, subtraction and negation, and products of 32-bit factors.
        let lowered = LowerInt64::MUL
            | LowerInt64::SIGN
            | LowerInt64::DIV_MOD
            | LowerInt64::MUL_HIGH
            | LowerInt64::SELECT
            | LowerInt64::COMPARE
            | LowerInt64::ABS
            | LowerInt64::LOGIC
            | LowerInt64::MIN_MAX
            | LowerInt64::SHIFT
            | LowerInt64::EXTRACT
            | LowerInt64::FIND_MSB
            | LowerInt64::BIT_COUNT
            | LowerInt64::SUBGROUP_SHUFFLE
            | LowerInt64::VOTE
            | LowerInt64::SUB_SAT_UNSIGNED
            | LowerInt64::ADD_SAT_SIGNED
            | LowerInt64::FIND_LSB
            | LowerInt64::CONVERT
            | LowerInt64::ADD_SAT_UNSIGNED
            | LowerInt64::ADD3;
        Self::new()
            .lower_int64(lowered)
            .fuse_ffma16(true)
            .fuse_ffma32(true)
            .lower_fdiv(true)
            .lower_flrp16(true)
            .lower_flrp32(true)
            .lower_fpow(true)
            .lower_fmod(true)
            .lower_bitfield_extract(true)
            .lower_bitfield_insert(true)
            .lower_ifind_msb(true)
            .lower_find_lsb(true)
            .lower_uadd_carry(true)
            .lower_usub_borrow(true)
            .lower_fisnormal(true)
            .lower_scmp(true)
            .lower_isign(true)
            .lower_fsign(true)
            .lower_fminmax_signed_zero(true)
            .lower_fdph(true)
            .lower_ffract(true)
            .lower_ldexp(true)
            .lower_pack_half_2x16(true)
            .lower_unpack_half_2x16(true)
            .lower_pack_64_2x32(true)
            .lower_pack_64_4x16(true)
            .lower_pack_32_2x16(true)
            .lower_extract_byte(true)
            .lower_extract_word(true)
            .lower_insert_byte(true)
            .lower_insert_word(true)
            .lower_hadd(true)
            .lower_hadd64(true)
            .lower_uadd_sat(true)
            .lower_usub_sat(true)
            .lower_iadd_sat(true)
            .lower_mul_32x16(true)
            .lower_fquantize2f16(true)
            .lower_device_index_to_zero(true)
            .lower_to_scalar(true)
            .has_isub(true)
            .has_rotate32(true)
            .has_amul(true)
            .has_cs_global_id(true)
            .has_ddx_intrinsics(true)
            .scalarize_ddx(true)
            .max_unroll_iterations(32)
    }
}

/// What [`crate::Shader::lower_compute`] supports.
const CAPABILITIES: &[Capability] = &[
    Capability::Matrix,
    Capability::Shader,
    Capability::UniformBufferArrayDynamicIndexing,
    Capability::StorageBufferArrayDynamicIndexing,
    Capability::ShaderNonUniform,
    Capability::RuntimeDescriptorArray,
    Capability::UniformBufferArrayNonUniformIndexing,
    Capability::StorageBufferArrayNonUniformIndexing,
    Capability::Sampled1D,
    Capability::SampledBuffer,
    Capability::SampledCubeArray,
    Capability::Image1D,
    Capability::ImageBuffer,
    Capability::ImageCubeArray,
    Capability::ImageMSArray,
    Capability::ImageQuery,
    Capability::ImageGatherExtended,
    Capability::MinLod,
    Capability::StorageImageExtendedFormats,
    Capability::StorageImageMultisample,
    Capability::StorageImageReadWithoutFormat,
    Capability::StorageImageWriteWithoutFormat,
    Capability::SampledImageArrayDynamicIndexing,
    Capability::StorageImageArrayDynamicIndexing,
    Capability::UniformTexelBufferArrayDynamicIndexing,
    Capability::StorageTexelBufferArrayDynamicIndexing,
    Capability::SampledImageArrayNonUniformIndexing,
    Capability::StorageImageArrayNonUniformIndexing,
    Capability::UniformTexelBufferArrayNonUniformIndexing,
    Capability::StorageTexelBufferArrayNonUniformIndexing,
    Capability::VariablePointersStorageBuffer,
    Capability::VariablePointers,
    Capability::PhysicalStorageBufferAddresses,
    Capability::Int8,
    Capability::Int16,
    Capability::Int64,
    Capability::Float16,
    Capability::StorageBuffer8BitAccess,
    Capability::UniformAndStorageBuffer8BitAccess,
    Capability::StoragePushConstant8,
    Capability::StorageBuffer16BitAccess,
    Capability::UniformAndStorageBuffer16BitAccess,
    Capability::StoragePushConstant16,
    Capability::WorkgroupMemoryExplicitLayoutKHR,
    Capability::WorkgroupMemoryExplicitLayout8BitAccessKHR,
    Capability::WorkgroupMemoryExplicitLayout16BitAccessKHR,
    Capability::AtomicFloat32AddEXT,
    Capability::AtomicFloat32MinMaxEXT,
    Capability::GroupNonUniform,
    Capability::GroupNonUniformVote,
    Capability::GroupNonUniformArithmetic,
    Capability::GroupNonUniformBallot,
    Capability::GroupNonUniformShuffle,
    Capability::GroupNonUniformShuffleRelative,
    Capability::GroupNonUniformClustered,
    Capability::GroupNonUniformQuad,
    Capability::GroupNonUniformRotateKHR,
    Capability::DeviceGroup,
    Capability::VulkanMemoryModel,
    Capability::VulkanMemoryModelDeviceScope,
    // Float controls: fp16 keeps denormals, fp32 flushes them; all rounds to the nearest.
    Capability::DenormPreserve,
    Capability::DenormFlushToZero,
    Capability::RoundingModeRTE,
    Capability::SignedZeroInfNanPreserve,
    Capability::DotProduct,
    Capability::DotProductInputAll,
    Capability::DotProductInput4x8Bit,
    Capability::DotProductInput4x8BitPacked,
];

/// What vertex and fragment shaders may use besides.
const GRAPHICS_CAPABILITIES: &[Capability] = &[
    Capability::ClipDistance,
    Capability::SampleRateShading,
    Capability::InterpolationFunction,
    Capability::InputAttachment,
    Capability::InputAttachmentArrayDynamicIndexing,
    Capability::InputAttachmentArrayNonUniformIndexing,
    Capability::DerivativeControl,
    Capability::DemoteToHelperInvocation,
    Capability::DrawParameters,
    Capability::MultiView,
    // Of fragment shaders, for the primitive's number, the layer and the viewport's number.
    Capability::Geometry,
    Capability::MultiViewport,
    Capability::ShaderLayer,
    Capability::ShaderViewportIndex,
    Capability::ShaderViewportIndexLayerEXT,
];

impl SpirvOptions {
    /// The same for vertex and fragment shaders, which [`crate::Shader::lower_vertex`] and
    /// [`crate::Shader::lower_fragment`] are to lower.
    #[must_use]
    pub fn apple9_graphics() -> Self {
        let compute = Self::apple9_compute();
        Self {
            capabilities: compute.capabilities.clone().with(GRAPHICS_CAPABILITIES),
            ..compute
        }
    }

    /// The options for compute shaders that [`crate::Shader::lower_compute`] is to lower, with the capabilities that it
    /// supports and no others. The address formats are those that it expects.
    #[must_use]
    pub fn apple9_compute() -> Self {
        Self {
            capabilities: Capabilities::none().with(CAPABILITIES),
            subgroup_size: SubgroupSize::Require32,
            ubo_address: AddressFormat::IndexVec2Offset32,
            ssbo_address: AddressFormat::IndexVec2Offset32,
            physical_ssbo_address: AddressFormat::Global64,
            push_constant_address: AddressFormat::Offset32,
            shared_address: AddressFormat::Offset32,
            min_ubo_alignment: 16,
            min_ssbo_alignment: 16,
            ..Self::none()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guarded::{self, Types, live_bytes};
    use crate::program::Program;
    use crate::{Error, Stage, assemble, spirv_to_nir};
    use std::sync::Arc;

    fn lowering() -> ComputeLowering {
        let one = |binding| BindingLayout {
            set: 0,
            binding,
            place: Place::Dynamic,
            offset: binding * 16,
            stride: 16,
            count: 1,
            kind: BindingKind::Buffer,
        };
        ComputeLowering {
            bindings: (0..8).map(one).collect(),
            robust: true,
            has_base_workgroup: true,
            custom_border_colors: false,
        }
    }

    fn compile(words: &[u32], options: &Arc<CompilerOptions>) -> Result<Program, Error> {
        let spirv = SpirvOptions::apple9_compute();
        let shader = spirv_to_nir(words, Stage::Compute, "main", &[], &spirv, options)?;
        shader.lower_compute(&lowering())?.into_program()
    }

    #[test]
    fn running_out_of_the_budget_while_lowering_frees_everything() {
        let _types = Types::acquire();
        let text = include_str!("../tests/spirv/apple9/atomics.spvasm");
        let words = assemble(text).expect("assembles");
        let options = Arc::new(CompilerOptions::apple9());
        let expected = compile(&words, &options).expect("with the budget that there is");
        let before = live_bytes();
        let (mut budget, mut failures) = (20_000, 0);
        loop {
            // SAFETY: sets a number of this thread's.
            unsafe { ffi::cortland_test_set_budget(budget) };
            match compile(&words, &options) {
                Err(Error::TooLarge(_)) => failures += 1,
                Err(other) => panic!("budget {budget}: {other}"),
                Ok(program) => {
                    assert_eq!(program, expected);
                    break;
                }
            }
            assert_eq!(live_bytes(), before, "budget {budget}");
            budget += 331;
        }
        // SAFETY: as above.
        unsafe { ffi::cortland_test_set_budget(guarded::MEMORY_BUDGET) };
        assert!(failures > 100, "only {failures} failures");
        assert_eq!(compile(&words, &options).expect("as before"), expected);
        assert_eq!(live_bytes(), before);
    }

    #[test]
    fn a_shader_that_cannot_be_lowered_is_freed() {
        let _types = Types::acquire();
        let words = assemble(include_str!("../tests/spirv/apple9/atomics.spvasm"));
        let words = words.expect("assembles");
        let options = Arc::new(CompilerOptions::apple9());
        compile(&words, &options).expect("compiles");
        let before = live_bytes();
        let spirv = SpirvOptions::apple9_compute();
        let shader = spirv_to_nir(&words, Stage::Compute, "main", &[], &spirv, &options);
        let error = shader
            .expect("translates")
            .lower_compute(&ComputeLowering::default());
        assert!(matches!(error, Err(Error::Unsupported(_))), "{error:?}");
        assert_eq!(live_bytes(), before);
    }

    #[test]
    fn the_supported_capabilities_hold_all_that_they_imply() {
        let spirv = SpirvOptions::apple9_compute();
        let all: Vec<_> = CAPABILITIES.iter().map(|&c| c as u32).collect();
        for implied in crate::spirv::options::with_implied(&all) {
            assert!(spirv.capabilities.has(implied), "{implied}");
        }
    }
}
