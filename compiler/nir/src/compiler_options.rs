// SPDX-License-Identifier: MIT
//! What the hardware can do and what NIR's passes must lower for it.

use crate::guarded::Types;
use crate::{Stage, ffi};

/// Define the builder's switches: one method for each Boolean member of `nir_shader_compiler_options`.
macro_rules! switches {
    ($($name:ident)*) => {
        impl CompilerOptions {
            $(
                #[doc = concat!("Set NIR's `", stringify!($name), "`.")]
                #[must_use]
                pub fn $name(mut self, on: bool) -> Self {
                    self.0.$name = on;
                    self
                }
            )*
        }
    };
}

/// Define a set of NIR's lowering flags.
macro_rules! flags {
    ($(#[$doc:meta])* $type:ident: $raw:ty { $($name:ident = $(1 << $bit:ident)? $($value:ident)?,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        pub struct $type($raw);

        impl $type {
            /// None of them.
            pub const NONE: Self = Self(0);
            $(
                #[doc = concat!("NIR's `", stringify!($($bit)? $($value)?), "`.")]
                pub const $name: Self = Self($(1 << ffi::$bit)? $(ffi::$value)?);
            )*
        }

        impl std::ops::BitOr for $type {
            type Output = Self;
            fn bitor(self, other: Self) -> Self {
                Self(self.0 | other.0)
            }
        }
    };
}

/// The options that every NIR pass reads: which operations exist and which are lowered. A [`crate::Shader`] keeps the
/// ones that it was made with.
///
/// They also keep Mesa's table of types, which would otherwise be made anew for each shader: a device holds its options
/// for as long as it lives.
#[derive(Clone)]
pub struct CompilerOptions(ffi::nir_shader_compiler_options, Types);

// SAFETY: plain data once built; its callbacks are functions without state and are left null here.
unsafe impl Send for CompilerOptions {}
// SAFETY: as above; nothing in it changes through a shared reference.
unsafe impl Sync for CompilerOptions {}

impl Default for CompilerOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for CompilerOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CompilerOptions").finish_non_exhaustive()
    }
}

impl CompilerOptions {
    /// Nothing is lowered and no optional operation exists.
    #[must_use]
    pub fn new() -> Self {
        Self(
            ffi::nir_shader_compiler_options::default(),
            Types::acquire(),
        )
    }

    /// Which 64-bit integer operations are lowered.
    #[must_use]
    pub fn lower_int64(mut self, which: LowerInt64) -> Self {
        self.0.lower_int64_options = which.0;
        self
    }

    /// Which 64-bit floating-point operations are lowered.
    #[must_use]
    pub fn lower_doubles(mut self, which: LowerDoubles) -> Self {
        self.0.lower_doubles_options = which.0;
        self
    }

    /// The most iterations that a loop may have to be unrolled.
    #[must_use]
    pub fn max_unroll_iterations(mut self, iterations: u32) -> Self {
        self.0.max_unroll_iterations = iterations;
        self
    }

    /// The same for loops that unrolling would rid of indirect accesses or of costly operations.
    #[must_use]
    pub fn max_unroll_iterations_aggressive(mut self, iterations: u32) -> Self {
        self.0.max_unroll_iterations_aggressive = iterations;
        self
    }

    /// The same for loops with 64-bit floating-point operations that are lowered to software.
    #[must_use]
    pub fn max_unroll_iterations_fp64(mut self, iterations: u32) -> Self {
        self.0.max_unroll_iterations_fp64 = iterations;
        self
    }

    /// Variables whose indirect access forces a loop to be unrolled.
    #[must_use]
    pub fn force_indirect_unrolling(mut self, modes: VariableModes) -> Self {
        self.0.force_indirect_unrolling = modes.0;
        self
    }

    /// The stages whose inputs can be indexed at run time.
    #[must_use]
    pub fn support_indirect_inputs(mut self, stages: StageSet) -> Self {
        self.0.support_indirect_inputs = stages.0;
        self
    }

    /// The stages whose outputs can be indexed at run time.
    #[must_use]
    pub fn support_indirect_outputs(mut self, stages: StageSet) -> Self {
        self.0.support_indirect_outputs = stages.0;
        self
    }

    /// What the hardware's inputs and outputs can do.
    #[must_use]
    pub fn io_options(mut self, options: IoOptions) -> Self {
        self.0.io_options = options.0;
        self
    }

    /// What divergence analysis may assume.
    #[must_use]
    pub fn divergence_analysis_options(mut self, options: Divergence) -> Self {
        self.0.divergence_analysis_options = options.0;
        self
    }

    /// The packing operations that NIR's lowering of them leaves alone.
    #[must_use]
    pub fn skip_lower_packing_ops(mut self, ops: PackingOps) -> Self {
        self.0.skip_lower_packing_ops = ops.0;
        self
    }

    /// The most that an expression may cost to be moved into the next stage in place of a varying.
    #[must_use]
    pub fn max_varying_expression_cost(mut self, cost: u32) -> Self {
        self.0.max_varying_expression_cost = cost;
        self
    }

    pub(crate) fn as_ptr(&self) -> *const ffi::nir_shader_compiler_options {
        &raw const self.0
    }
}

flags! {
    /// Operations on 64-bit integers that NIR lowers.
    LowerInt64: ffi::nir_lower_int64_options {
        MUL = nir_lower_int64_options_nir_lower_imul64,
        SIGN = nir_lower_int64_options_nir_lower_isign64,
        DIV_MOD = nir_lower_int64_options_nir_lower_divmod64,
        MUL_HIGH = nir_lower_int64_options_nir_lower_imul_high64,
        SELECT = nir_lower_int64_options_nir_lower_bcsel64,
        COMPARE = nir_lower_int64_options_nir_lower_icmp64,
        ADD = nir_lower_int64_options_nir_lower_iadd64,
        ABS = nir_lower_int64_options_nir_lower_iabs64,
        NEG = nir_lower_int64_options_nir_lower_ineg64,
        LOGIC = nir_lower_int64_options_nir_lower_logic64,
        MIN_MAX = nir_lower_int64_options_nir_lower_minmax64,
        SHIFT = nir_lower_int64_options_nir_lower_shift64,
        MUL_2X32 = nir_lower_int64_options_nir_lower_imul_2x32_64,
        EXTRACT = nir_lower_int64_options_nir_lower_extract64,
        FIND_MSB = nir_lower_int64_options_nir_lower_ufind_msb64,
        BIT_COUNT = nir_lower_int64_options_nir_lower_bit_count64,
        SUBGROUP_SHUFFLE = nir_lower_int64_options_nir_lower_subgroup_shuffle64,
        SCAN_REDUCE_BITWISE = nir_lower_int64_options_nir_lower_scan_reduce_bitwise64,
        SCAN_REDUCE_ADD = nir_lower_int64_options_nir_lower_scan_reduce_iadd64,
        VOTE = nir_lower_int64_options_nir_lower_vote_ieq64,
        SUB_SAT_UNSIGNED = nir_lower_int64_options_nir_lower_usub_sat64,
        ADD_SAT_SIGNED = nir_lower_int64_options_nir_lower_iadd_sat64,
        FIND_LSB = nir_lower_int64_options_nir_lower_find_lsb64,
        CONVERT = nir_lower_int64_options_nir_lower_conv64,
        ADD_SAT_UNSIGNED = nir_lower_int64_options_nir_lower_uadd_sat64,
        ADD3 = nir_lower_int64_options_nir_lower_iadd3_64,
    }
}

flags! {
    /// Operations on 64-bit floating-point numbers that NIR lowers.
    LowerDoubles: ffi::nir_lower_doubles_options {
        RCP = nir_lower_doubles_options_nir_lower_drcp,
        SQRT = nir_lower_doubles_options_nir_lower_dsqrt,
        RSQ = nir_lower_doubles_options_nir_lower_drsq,
        TRUNC = nir_lower_doubles_options_nir_lower_dtrunc,
        FLOOR = nir_lower_doubles_options_nir_lower_dfloor,
        CEIL = nir_lower_doubles_options_nir_lower_dceil,
        FRACT = nir_lower_doubles_options_nir_lower_dfract,
        ROUND_EVEN = nir_lower_doubles_options_nir_lower_dround_even,
        MOD = nir_lower_doubles_options_nir_lower_dmod,
        SUB = nir_lower_doubles_options_nir_lower_dsub,
        DIV = nir_lower_doubles_options_nir_lower_ddiv,
        SIGN = nir_lower_doubles_options_nir_lower_dsign,
        MIN_MAX = nir_lower_doubles_options_nir_lower_dminmax,
        SAT = nir_lower_doubles_options_nir_lower_dsat,
        FULL_SOFTWARE = nir_lower_doubles_options_nir_lower_fp64_full_software,
    }
}

flags! {
    /// Kinds of variables.
    VariableModes: ffi::nir_variable_mode {
        SYSTEM_VALUE = nir_variable_mode_nir_var_system_value,
        UNIFORM = nir_variable_mode_nir_var_uniform,
        SHADER_IN = nir_variable_mode_nir_var_shader_in,
        SHADER_OUT = nir_variable_mode_nir_var_shader_out,
        IMAGE = nir_variable_mode_nir_var_image,
        UBO = nir_variable_mode_nir_var_mem_ubo,
        PUSH_CONST = nir_variable_mode_nir_var_mem_push_const,
        SSBO = nir_variable_mode_nir_var_mem_ssbo,
        CONSTANT = nir_variable_mode_nir_var_mem_constant,
        TASK_PAYLOAD = nir_variable_mode_nir_var_mem_task_payload,
        SHADER_TEMP = nir_variable_mode_nir_var_shader_temp,
        FUNCTION_TEMP = nir_variable_mode_nir_var_function_temp,
        SHARED = nir_variable_mode_nir_var_mem_shared,
        GLOBAL = nir_variable_mode_nir_var_mem_global,
    }
}

flags! {
    /// What divergence analysis may assume of the hardware and the API.
    Divergence: ffi::nir_divergence_options {
        SINGLE_PRIM_PER_SUBGROUP = nir_divergence_options_nir_divergence_single_prim_per_subgroup,
        SINGLE_PATCH_PER_TCS_SUBGROUP = nir_divergence_options_nir_divergence_single_patch_per_tcs_subgroup,
        SINGLE_PATCH_PER_TES_SUBGROUP = nir_divergence_options_nir_divergence_single_patch_per_tes_subgroup,
        VIEW_INDEX_UNIFORM = nir_divergence_options_nir_divergence_view_index_uniform,
        SINGLE_FRAG_SHADING_RATE_PER_SUBGROUP = nir_divergence_options_nir_divergence_single_frag_shading_rate_per_subgroup,
        MULTIPLE_WORKGROUP_PER_COMPUTE_SUBGROUP = nir_divergence_options_nir_divergence_multiple_workgroup_per_compute_subgroup,
        SHADER_RECORD_PTR_UNIFORM = nir_divergence_options_nir_divergence_shader_record_ptr_uniform,
        UNIFORM_LOAD_TEARS = nir_divergence_options_nir_divergence_uniform_load_tears,
        IGNORE_UNDEF_IF_PHI_SRCS = nir_divergence_options_nir_divergence_ignore_undef_if_phi_srcs,
    }
}

flags! {
    /// What the hardware's inputs and outputs can do; NIR's header describes each.
    IoOptions: ffi::nir_io_options {
        HAS_FLEXIBLE_INPUT_INTERPOLATION_EXCEPT_FLAT = nir_io_options_nir_io_has_flexible_input_interpolation_except_flat,
        DONT_USE_POS_FOR_NON_FS_VARYINGS = nir_io_options_nir_io_dont_use_pos_for_non_fs_varyings,
        INPUT_OUTPUT_16BIT_SUPPORT = nir_io_options_nir_io_16bit_input_output_support,
        MEDIUMP_IS_32BIT = nir_io_options_nir_io_mediump_is_32bit,
        PREFER_SCALAR_FS_INPUTS = nir_io_options_nir_io_prefer_scalar_fs_inputs,
        MIX_CONVERGENT_FLAT_WITH_INTERPOLATED = nir_io_options_nir_io_mix_convergent_flat_with_interpolated,
        VECTORIZER_IGNORES_TYPES = nir_io_options_nir_io_vectorizer_ignores_types,
        ALWAYS_INTERPOLATE_CONVERGENT_FS_INPUTS = nir_io_options_nir_io_always_interpolate_convergent_fs_inputs,
        COMPACTION_ROTATES_COLOR_CHANNELS = nir_io_options_nir_io_compaction_rotates_color_channels,
        HAS_INTRINSICS = nir_io_options_nir_io_has_intrinsics,
        SEPARATE_CLIP_CULL_DISTANCE_ARRAYS = nir_io_options_nir_io_separate_clip_cull_distance_arrays,
    }
}

flags! {
    /// Packing operations.
    PackingOps: u32 {
        PACK_64_2X32 = 1 << nir_lower_packing_op_nir_lower_packing_op_pack_64_2x32,
        UNPACK_64_2X32 = 1 << nir_lower_packing_op_nir_lower_packing_op_unpack_64_2x32,
        PACK_64_4X16 = 1 << nir_lower_packing_op_nir_lower_packing_op_pack_64_4x16,
        UNPACK_64_4X16 = 1 << nir_lower_packing_op_nir_lower_packing_op_unpack_64_4x16,
        PACK_32_2X16 = 1 << nir_lower_packing_op_nir_lower_packing_op_pack_32_2x16,
        UNPACK_32_2X16 = 1 << nir_lower_packing_op_nir_lower_packing_op_unpack_32_2x16,
        PACK_32_4X8 = 1 << nir_lower_packing_op_nir_lower_packing_op_pack_32_4x8,
        UNPACK_32_4X8 = 1 << nir_lower_packing_op_nir_lower_packing_op_unpack_32_4x8,
    }
}

/// A set of stages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StageSet(u8);

impl StageSet {
    /// These stages. Mesa's sets end before the task and mesh stages, which are left out.
    #[must_use]
    pub fn of(stages: &[Stage]) -> Self {
        let bit = |stage: &Stage| 1_u8.checked_shl(stage.to_mesa() as u32).unwrap_or(0);
        Self(stages.iter().map(bit).fold(0, std::ops::BitOr::bitor))
    }
}

switches! {
    lower_fdiv lower_ffma16 lower_ffma32 lower_ffma64 fuse_ffma16 fuse_ffma32 fuse_ffma64
    lower_flrp16 lower_flrp32 lower_flrp64 lower_fpow lower_fsat lower_fsqrt lower_sincos
    lower_fmod lower_bitfield_extract lower_bitfield_insert lower_bitfield_reverse lower_bit_count
    lower_ifind_msb lower_ufind_msb lower_find_lsb lower_uadd_carry lower_usub_borrow
    lower_mul_high lower_fneg lower_ineg lower_fisnormal lower_scmp lower_vector_cmp lower_bitops
    lower_isign lower_fsign lower_iabs lower_umax lower_umin lower_fminmax_signed_zero lower_fdph
    lower_fdot fdot_replicates lower_ffloor lower_ffract lower_fceil lower_ftrunc
    lower_fround_even lower_ldexp lower_pack_half_2x16 lower_pack_unorm_2x16 lower_pack_snorm_2x16
    lower_pack_unorm_4x8 lower_pack_snorm_4x8 lower_pack_64_2x32 lower_pack_64_4x16
    lower_pack_32_2x16 lower_pack_64_2x32_split lower_pack_32_2x16_split lower_unpack_half_2x16
    lower_unpack_unorm_2x16 lower_unpack_snorm_2x16 lower_unpack_unorm_4x8 lower_unpack_snorm_4x8
    lower_unpack_64_2x32_split lower_unpack_32_2x16_split lower_pack_split lower_extract_byte
    lower_extract_word lower_insert_byte lower_insert_word lower_all_io_to_temps
    vertex_id_zero_based lower_base_vertex lower_helper_invocation optimize_sample_mask_in
    optimize_load_front_face_fsign optimize_quad_vote_to_reduce lower_cs_local_index_to_id
    lower_cs_local_id_to_index has_cs_global_id lower_device_index_to_zero lower_wpos_pntc
    lower_hadd lower_hadd64 lower_uadd_sat lower_usub_sat lower_iadd_sat lower_mul_32x16
    vectorize_tess_levels lower_to_scalar vectorize_vec2_16bit unify_interfaces
    lower_interpolate_at lower_mul_2x32_64 has_rotate8 has_rotate16 has_rotate32 has_shfr32
    has_iadd3 has_amul has_imul24 has_umul24 has_imad32 has_umad24 has_fused_comp_and_csel
    has_icsel_eqz64 has_icsel_eqz32 has_icsel_eqz16 has_fneo_fcmpu has_ford_funord has_fsub
    has_isub has_pack_32_4x8 has_texture_scaling has_sdot_4x8 has_udot_4x8 has_sudot_4x8
    has_sdot_4x8_sat has_udot_4x8_sat has_sudot_4x8_sat has_dot_2x16 has_fmulz
    has_fmulz_no_denorms has_find_msb_rev has_pack_half_2x16_rtz has_bit_test has_bfe has_bfm
    has_bfi has_bitfield_select has_uclz has_msad intel_vec4 avoid_ternary_with_two_constants
    support_8bit_alu support_16bit_alu lower_uniforms_to_ubo force_indirect_unrolling_sampler
    no_integers driver_functions late_lower_int64 lower_image_offset_to_range_base
    lower_atomic_offset_to_range_base preserve_mediump lower_fquantize2f16 force_f2f16_rtz
    lower_layer_fs_input_to_sysval compact_arrays discard_is_demote has_ddx_intrinsics
    scalarize_ddx per_view_unique_driver_locations compact_view_index
}
