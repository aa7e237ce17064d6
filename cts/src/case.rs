// SPDX-License-Identifier: MIT
//! One run of one compute shader, for any device that can run it.

use std::collections::HashMap;

use anyhow::ensure;
use mesa_nir::SpecConstant;

use crate::image::Image;

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
    /// Images, samplers and texel buffers.
    pub images: Vec<Image>,
}

/// One more than the highest descriptor set that the compiler can name.
pub(crate) const MAX_SETS: u32 = 256;
/// Most elements of an array of descriptors.
pub(crate) const MAX_ELEMENTS: u32 = 4096;

impl Case {
    /// Refuses what no device could run.
    ///
    /// # Errors
    /// When a descriptor is named twice, a binding has two kinds, a buffer has no bytes, or an
    /// address has no place in the push constants.
    pub fn check(&self) -> anyhow::Result<()> {
        let mut elements = HashMap::new();
        let mut kinds = HashMap::new();
        for (index, buffer) in self.buffers.iter().enumerate() {
            let name = buffer.describe(index);
            ensure!(!buffer.bytes.is_empty(), "{name} has no bytes");
            if let Some(at) = buffer.address_at {
                ensure!(
                    at.checked_add(8)
                        .is_some_and(|end| end <= self.push_constants.len()),
                    "{name}: its address goes to byte {at} of {} bytes of push constants",
                    self.push_constants.len()
                );
            }
            if buffer.kind == BufferKind::Address {
                continue;
            }
            ensure!(
                buffer.set < MAX_SETS,
                "{name}: sets are numbered up to {}",
                MAX_SETS - 1
            );
            ensure!(
                buffer.element < MAX_ELEMENTS,
                "{name}: arrays of descriptors have up to {MAX_ELEMENTS} elements"
            );
            let binding = (buffer.set, buffer.binding);
            let other = elements.insert((binding, buffer.element), index);
            ensure!(other.is_none(), "{name} is described twice");
            let kind = *kinds.entry(binding).or_insert(buffer.kind);
            ensure!(kind == buffer.kind, "{name}: a binding of two kinds");
        }
        let mut images = HashMap::new();
        for image in &self.images {
            image.check()?;
            let name = image.describe();
            ensure!(
                image.set < MAX_SETS && image.element < MAX_ELEMENTS,
                "{name}: out of range"
            );
            let kind = *images
                .entry((image.set, image.binding))
                .or_insert(image.kind);
            let alone = !kinds.contains_key(&(image.set, image.binding));
            ensure!(
                alone && kind == image.kind,
                "{name}: a binding of two kinds"
            );
        }
        Ok(())
    }

    /// The push constants with the buffers' addresses in them; `address` gives that of each.
    ///
    /// # Errors
    /// As [`Case::check`].
    pub fn push_constants_with(&self, address: impl Fn(usize) -> u64) -> anyhow::Result<Vec<u8>> {
        self.check()?;
        let mut bytes = self.push_constants.clone();
        for (index, buffer) in self.buffers.iter().enumerate() {
            if let Some(at) = buffer.address_at {
                bytes[at..at + 8].copy_from_slice(&address(index).to_le_bytes());
            }
        }
        Ok(bytes)
    }
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

impl Buffer {
    /// What reports call it.
    #[must_use]
    pub fn describe(&self, index: usize) -> String {
        match self.kind {
            BufferKind::Address => format!("buffer {index} (by address)"),
            _ => format!(
                "buffer {index} (set {}, binding {}, element {})",
                self.set, self.binding, self.element
            ),
        }
    }
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
    /// The bytes of every buffer and behind them the texels of every image after the run, in the case's order.
    ///
    /// # Errors
    /// When the device refuses the shader or faults.
    fn run(&self, case: &Case) -> anyhow::Result<Vec<Vec<u8>>>;
}
