// SPDX-License-Identifier: MIT
//! One run of one compute shader, for any device that can run it.

use mesa_nir::SpecConstant;

/// A compute shader with all that it needs.
#[derive(Debug, Clone)]
pub struct Case {
    /// What to call it.
    pub name: String,
    /// The module.
    pub spirv: Vec<u32>,
    /// The entry point.
    pub entry: String,
    /// Specialisation constants.
    pub specialization: Vec<SpecConstant>,
    /// Workgroups.
    pub groups: [u32; 3],
    /// The first workgroup's index (`vkCmdDispatchBase`).
    pub base_group: [u32; 3],
    /// Push constants; empty if there are none.
    pub push_constants: Vec<u8>,
    /// Buffers and what is in them before the run.
    pub buffers: Vec<Buffer>,
}

/// A buffer in a descriptor set.
#[derive(Debug, Clone)]
pub struct Buffer {
    /// Descriptor set.
    pub set: u32,
    /// Binding.
    pub binding: u32,
    /// Element of an array of descriptors.
    pub element: u32,
    /// What it is bound as.
    pub kind: BufferKind,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Offset in `push_constants` where its 64-bit device address goes, if the shader wants that.
    pub address_at: Option<usize>,
}

/// Descriptor types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BufferKind {
    /// `VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER`
    Uniform,
    /// `VK_DESCRIPTOR_TYPE_STORAGE_BUFFER`
    Storage,
    /// No descriptor: reached by its address only.
    Address,
}

/// Something that runs compute shaders.
pub trait Device {
    /// The bytes of every buffer after the run, in the case's order.
    ///
    /// # Errors
    /// When the device refuses the shader or faults.
    fn run(&self, case: &Case) -> anyhow::Result<Vec<Vec<u8>>>;
}
