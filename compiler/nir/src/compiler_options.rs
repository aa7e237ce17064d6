// SPDX-License-Identifier: MIT
//! What the hardware can do and what NIR's passes must lower for it.

use crate::ffi;

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
    ($(#[$doc:meta])* $type:ident: $raw:ty { $($name:ident = $value:ident,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        pub struct $type($raw);

        impl $type {
            /// None of them.
            pub const NONE: Self = Self(0);
            $(
                #[doc = concat!("NIR's `", stringify!($value), "`.")]
                pub const $name: Self = Self(ffi::$value);
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
#[derive(Clone)]
pub struct CompilerOptions(ffi::nir_shader_compiler_options);

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
        Self(ffi::nir_shader_compiler_options::default())
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
