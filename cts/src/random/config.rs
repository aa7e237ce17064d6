// SPDX-License-Identifier: MIT
//! What random programs may hold.

/// What programs may hold, and how large they are.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub struct Config {
    /// i8 and u8.
    pub int8: bool,
    /// i16 and u16.
    pub int16: bool,
    /// i64 and u64.
    pub int64: bool,
    /// f16; it needs u16 too, for the bits.
    pub float16: bool,
    /// f32.
    pub float32: bool,
    /// Vectors.
    pub vectors: bool,
    /// Subgroup operations.
    pub subgroups: bool,
    /// Lanes of a subgroup, 8 to 32.
    pub subgroup_size: u32,
    /// Shuffles, quads and clusters too.
    pub shuffles: bool,
    /// Subgroup operations in divergent loops too, as `SPV_KHR_maximal_reconvergence` defines them. Programs declare
    /// it, unless [`super::Program::reconvergence`] is cleared: the validator of SPIRV-Tools 2023 does not know it.
    pub maximal_reconvergence: bool,
    /// Workgroup memory and barriers.
    pub shared: bool,
    /// Atomics on the storage buffer, and on workgroup memory if there is that.
    pub atomics: bool,
    /// Local arrays.
    pub arrays: bool,
    /// Functions.
    pub functions: bool,
    /// Loops.
    pub loops: bool,
    /// Switches.
    pub switches: bool,
    /// Early returns of main.
    pub returns: bool,
    /// A uniform buffer.
    pub uniform_buffer: bool,
    /// Push constants.
    pub push_constants: bool,
    /// Specialisation constants.
    pub specialization: bool,
    /// Division and remainder.
    pub division: bool,
    /// Remainders of negative numbers, which SPIR-V defines and Vulkan leaves undefined.
    pub negative_remainders: bool,
    /// Stay clear of two faults of lavapipe (22.3): where a loop ends without a phi, lanes that have left it forget
    /// what they had loaded, so loops that test at their end get an exit at their start too, which is never taken; and
    /// barriers in loops are wrong where a row of the workgroup does not fill a vector.
    pub spare_lavapipe: bool,
    /// Statements of main, at most and about; a tenth of all programs has four times as many.
    pub statements: usize,
    /// Levels of statements in statements; a twentieth of all programs goes down to 10.
    pub depth: usize,
    /// Levels of operations in an expression.
    pub expression_depth: usize,
}

impl Default for Config {
    /// What a Vulkan device with 32-lane subgroups can run without optional types.
    fn default() -> Self {
        Self {
            int8: false,
            int16: false,
            int64: false,
            float16: false,
            float32: true,
            vectors: true,
            subgroups: true,
            subgroup_size: 32,
            shuffles: true,
            maximal_reconvergence: false,
            shared: true,
            atomics: true,
            arrays: true,
            functions: true,
            loops: true,
            switches: true,
            returns: true,
            uniform_buffer: true,
            push_constants: true,
            specialization: true,
            division: true,
            negative_remainders: true,
            spare_lavapipe: false,
            statements: 8,
            depth: 4,
            expression_depth: 2,
        }
    }
}

impl Config {
    /// With every type.
    #[must_use]
    pub fn all_types() -> Self {
        Self {
            int8: true,
            int16: true,
            int64: true,
            float16: true,
            ..Self::default()
        }
    }

    /// What every Vulkan device runs in the same way, whatever its subgroup size.
    #[must_use]
    pub fn portable(self) -> Self {
        Self {
            subgroups: false,
            maximal_reconvergence: false,
            negative_remainders: false,
            spare_lavapipe: true,
            ..self
        }
    }
}
