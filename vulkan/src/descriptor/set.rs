// SPDX-License-Identifier: MIT
//! VkDescriptorSet: a piece of a pool's memory, laid out.

use std::cell::UnsafeCell;

use ash::vk;

use super::layout::Layout;
use super::template::UpdateTemplate;
use super::write::{DynamicBuffer, Target, copy_set, write_set};
use crate::entry;
use crate::host::HostVec;
use crate::object::{self, Object};
use crate::shared::Shared;

/// A descriptor set.
pub(crate) struct DescriptorSet {
    /// Its layout.
    pub(crate) layout: Shared<Layout>,
    memory: Memory,
    dynamic: HostVec<UnsafeCell<DynamicBuffer>>,
    /// Where its pool keeps it.
    pub(super) slot: usize,
}

/// A set's piece of its pool.
#[derive(Clone, Copy)]
pub(super) struct Memory {
    /// For the CPU. Dangling when there are no bytes.
    pub(super) cpu: *mut u8,
    /// For the GPU.
    pub(super) address: u64,
    /// In the pool.
    pub(super) offset: u32,
    pub(super) size: u32,
}

impl Object for DescriptorSet {
    type Handle = vk::DescriptorSet;
}

impl DescriptorSet {
    pub(super) fn new(
        layout: Shared<Layout>,
        memory: Memory,
        dynamic: HostVec<UnsafeCell<DynamicBuffer>>,
        slot: usize,
    ) -> DescriptorSet {
        DescriptorSet {
            layout,
            memory,
            dynamic,
            slot,
        }
    }

    /// The GPU's address of its memory.
    pub(crate) fn address(&self) -> u64 {
        self.memory.address
    }

    pub(super) fn memory(&self) -> Memory {
        self.memory
    }

    /// Its dynamic buffers, in the order of bindings and elements.
    ///
    /// # Safety
    /// No one updates the set, which the specification forbids where they are read: a binding with
    /// dynamic buffers cannot be updated after it is bound.
    pub(crate) unsafe fn dynamic(&self) -> &[DynamicBuffer] {
        let start = UnsafeCell::raw_get(self.dynamic.as_ptr());
        // SAFETY: as many as the vector has; no one writes them, as the caller promises.
        unsafe { std::slice::from_raw_parts(start, self.dynamic.len()) }
    }

    /// Where its descriptors are written.
    ///
    /// Sets are updated through a shared reference: several threads may update different
    /// descriptors of one set (`descriptorBindingUpdateUnusedWhilePending` and its relatives).
    fn target(&self) -> Target {
        // SAFETY: the pool gave so much memory; whoever writes synchronises as the specification
        // says.
        unsafe { Target::of_parts(self.memory.cpu, self.memory.size, &self.dynamic) }
    }
}

/// vkUpdateDescriptorSets.
pub(crate) unsafe extern "system" fn update_descriptor_sets(
    _device: vk::Device,
    write_count: u32,
    writes: *const vk::WriteDescriptorSet<'_>,
    copy_count: u32,
    copies: *const vk::CopyDescriptorSet<'_>,
) {
    entry::guard("vkUpdateDescriptorSets", || {
        // SAFETY: valid by the specification.
        unsafe {
            for write in entry::slice(writes, write_count) {
                let set = object::get::<DescriptorSet>(write.dst_set);
                write_set(&set.layout, set.target(), write);
            }
            for copy in entry::slice(copies, copy_count) {
                let from = object::get::<DescriptorSet>(copy.src_set);
                let to = object::get::<DescriptorSet>(copy.dst_set);
                copy_set(
                    (&from.layout, from.target()),
                    (&to.layout, to.target()),
                    copy,
                );
            }
        }
    });
}

/// vkUpdateDescriptorSetWithTemplate.
pub(crate) unsafe extern "system" fn update_descriptor_set_with_template(
    _device: vk::Device,
    set: vk::DescriptorSet,
    template: vk::DescriptorUpdateTemplate,
    data: *const std::ffi::c_void,
) {
    entry::guard("vkUpdateDescriptorSetWithTemplate", || {
        // SAFETY: valid by the specification.
        unsafe {
            let set = object::get::<DescriptorSet>(set);
            let template = object::get::<UpdateTemplate>(template);
            template.apply(set.target(), data.cast());
        }
    });
}
