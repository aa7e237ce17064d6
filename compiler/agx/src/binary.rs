// SPDX-License-Identifier: MIT
//! What the compiler gives: machine code, and what a launch program must set up for it.

pub use mesa_nir::program::{
    CLIP_DISTANCE_LOCATION, DepthLayout, FragmentInfo, SamplerSlot, StageInfo, TextureSlot,
    VIEWPORT_LOCATION, Varying, VaryingMode, VertexInfo,
};

/// A compiled shader.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShaderBinary {
    /// Machine code; position independent. It ends with STOP.
    pub code: Vec<u8>,
    /// The stage that it is for, and what that stage's state must agree with.
    pub stage: StageInfo,
    /// Invocations of a workgroup along each axis; of compute shaders.
    pub workgroup_size: [u16; 3],
    /// Pointers that the launch program publishes, in order: pointer i is argument words 2i, 2i + 1
    /// (launch, 6.1; HW). At least two: [`Pointer::Unused`] fills up.
    pub pointers: Vec<Pointer>,
    /// Publication words used: one more than the highest.
    pub publications: u16,
    /// The texture table: where the 32 bytes of each slot are, in the memory of a descriptor set.
    pub textures: Vec<TextureSlot>,
    /// The sampler table: where the 8 bytes of each slot are; the other 24 are zeros.
    pub samplers: Vec<SamplerSlot>,
    /// Scratch extent A in bytes (launch, 4.7; HW): all of each invocation's scratch.
    pub scratch_bytes: u16,
    /// Scratch extent B in bytes (launch, 4.7; OPAQUE role): the same, as the proven driver writes it.
    pub spill_bytes: u16,
    /// Bytes of threadgroup memory of a workgroup.
    pub threadgroup_bytes: u32,
    /// Bytes of device memory that each workgroup needs at [`Pointer::WorkgroupBuffer`] +
    /// linear workgroup index * this. A shader with such is launched as one row of workgroups, as many as the
    /// dispatch has, but not more than [`mesa_nir::MOST_SLICES`]: they do the work of all.
    pub workgroup_buffer_bytes: u32,
    /// Descriptor bindings that the shader can reach.
    pub resources: Vec<Resource>,
    /// What was emitted.
    pub stats: Statistics,
}

/// A pointer that the launch program publishes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Pointer {
    /// The texture table: records of 32 bytes. If there is one, it is pointer 0 (isa-4, 1.2; HW).
    TextureTable,
    /// The sampler table: records of 8 bytes in slots of 32; pointer 1.
    SamplerTable,
    /// Three 32-bit workgroup counts (isa-2, 2.7; HW).
    WorkgroupCounts,
    /// The start of threadgroup memory, 0x80000000 (isa-2, 3.1; HW).
    ThreadgroupRoot,
    /// Push-constant bytes.
    PushConstants,
    /// Three 32-bit words to add to the workgroup index.
    BaseWorkgroup,
    /// 16-byte buffer descriptors (address, size in bytes, 0) with dynamic offsets applied.
    DynamicBuffers,
    /// Device memory for workgroup variables that need atomics.
    WorkgroupBuffer,
    /// The table of vertex buffers, 16 bytes for each binding: address (`u64`), size in bytes, distance of vertices in
    /// bytes (`u32`). A null buffer has size 0.
    VertexBuffers,
    /// Base vertex, base instance (`u32`).
    DrawParameters,
    /// The number of the draw among those of a command (`u32`).
    DrawNumber,
    /// The blend constants: four `f32`.
    BlendConstants,
    /// The memory of a descriptor set.
    DescriptorSet(u8),
    /// Nothing: the shader does not read it.
    Unused,
}

/// A descriptor binding that a shader can reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Resource {
    /// Descriptor set.
    pub set: u32,
    /// Binding.
    pub binding: u32,
}

/// Numbers about a compiled shader.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Machine instructions.
    pub instructions: u32,
    /// Bytes of code.
    pub bytes: u32,
    /// Instructions that only wait for a slot.
    pub waits: u32,
    /// Register moves.
    pub moves: u32,
    /// General registers used: one more than the highest.
    pub gprs: u32,
    /// Values saved to scratch.
    pub spills: u32,
    /// Values filled from scratch.
    pub fills: u32,
    /// Scratch bytes of an invocation, arrays included.
    pub scratch: u32,
    /// Structured loops.
    pub loops: u32,
    /// Estimated cycles of one subgroup; loops count as ten iterations.
    pub cycles: u64,
}
