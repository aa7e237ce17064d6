// SPDX-License-Identifier: MIT
//! VkDescriptorSet: a piece of a pool's memory, laid out.

use std::cell::UnsafeCell;

use ash::vk;

use super::layout::Layout;
use super::template::UpdateTemplate;
use super::write::{DynamicBuffer, Target, copy_set, write_set};
use crate::command::BoundSet;
use crate::entry;
use crate::host::HostVec;
use crate::object::{self, Object};
use crate::shared::Shared;

/// A descriptor set.
#[repr(C)]
pub(crate) struct DescriptorSet {
    /// Where its descriptors are written; first, to be beside the object's header.
    target: Target,
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
    /// A set in this memory, which is the set's as long as it lives.
    pub(super) fn new(
        layout: Shared<Layout>,
        memory: Memory,
        dynamic: HostVec<UnsafeCell<DynamicBuffer>>,
        slot: usize,
    ) -> DescriptorSet {
        let buffers = UnsafeCell::raw_get(dynamic.as_ptr());
        // SAFETY: the pool gave so much memory, and the vector is never changed; whoever writes
        // synchronises as the specification says. The set owns the layout.
        let target = unsafe {
            Target::of_parts(
                layout.whole(memory.size, dynamic.len() as u32),
                (memory.cpu, memory.size as usize),
                (buffers, dynamic.len()),
            )
        };
        DescriptorSet {
            target,
            layout,
            memory,
            dynamic,
            slot,
        }
    }

    /// The GPU's address of its memory.
    #[cfg(test)]
    pub(crate) fn address(&self) -> u64 {
        self.memory.address
    }

    /// As command buffers keep it.
    pub(crate) fn bound(&self) -> BoundSet {
        let Memory {
            cpu, address, size, ..
        } = self.memory;
        BoundSet::new(address, cpu, size, self.layout.is_late())
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
    fn target(&self) -> &Target {
        &self.target
    }
}

/// Carries out writes of one set up to the first that is of another or that
/// [`Target::write_one`] does not do; how many.
///
/// # Safety
/// They are valid by the specification, and the target is that of the set.
// A function of its own, so that all it needs is in registers.
#[inline(never)]
unsafe fn write_ones(
    target: &Target,
    set: vk::DescriptorSet,
    writes: &[vk::WriteDescriptorSet<'_>],
) -> usize {
    let target = *target;
    let plain = writes.iter().take_while(|write| {
        // SAFETY: the caller's promise.
        write.dst_set == set && unsafe { target.write_one(write) }
    });
    plain.count()
}

/// Carries out writes up to the first that neither [`Target::write_one`] nor
/// [`Target::write_some`] does; how many.
///
/// # Safety
/// They are valid by the specification.
unsafe fn write_plain(writes: &[vk::WriteDescriptorSet<'_>]) -> usize {
    let mut done = 0;
    // Writes of one set mostly follow one another.
    while let Some(write) = writes.get(done) {
        // SAFETY: the caller's promise.
        unsafe {
            let set = write.dst_set;
            let Ok(Some(found)) = object::find_optional::<DescriptorSet>(set) else {
                break;
            };
            let ones = write_ones(&found.target, set, &writes[done..]);
            done += ones;
            if ones == 0 {
                if !found.target.write_some(write) {
                    break;
                }
                done += 1;
            }
        }
    }
    done
}

/// vkUpdateDescriptorSets.
pub(crate) unsafe extern "system" fn update_descriptor_sets(
    _device: vk::Device,
    write_count: u32,
    writes: *const vk::WriteDescriptorSet<'_>,
    copy_count: u32,
    copies: *const vk::CopyDescriptorSet<'_>,
) {
    // SAFETY: valid by the specification.
    unsafe {
        // One write is a case of its own because many programs make nothing but such calls, and
        // the few instructions that the loop needs around it show.
        if write_count == 1
            && copy_count == 0
            && let Some(write) = writes.as_ref()
            && let Ok(Some(set)) = object::find_optional::<DescriptorSet>(write.dst_set)
            && set.target.write_one(write)
        {
            return;
        }
        update_many(write_count, writes, copy_count, copies);
    }
}

/// Carries out writes and copies, plain writes without a guard: nothing in them panics.
///
/// # Safety
/// They are valid by the specification.
#[inline(never)]
unsafe fn update_many(
    write_count: u32,
    writes: *const vk::WriteDescriptorSet<'_>,
    copy_count: u32,
    copies: *const vk::CopyDescriptorSet<'_>,
) {
    // SAFETY: the caller's promise.
    unsafe {
        let writes = entry::slice(writes, write_count);
        let done = write_plain(writes);
        if done != writes.len() || copy_count != 0 {
            update(&writes[done..], entry::slice(copies, copy_count));
        }
    }
}

/// Carries out writes and copies of all kinds.
///
/// # Safety
/// They are valid by the specification.
#[inline(never)]
unsafe fn update(mut writes: &[vk::WriteDescriptorSet<'_>], copies: &[vk::CopyDescriptorSet<'_>]) {
    entry::guard("vkUpdateDescriptorSets", || {
        // SAFETY: valid by the specification.
        unsafe {
            while let Some((write, rest)) = writes.split_first() {
                let set = object::get::<DescriptorSet>(write.dst_set);
                write_set(&set.layout, set.target(), write);
                writes = &rest[write_plain(rest)..];
            }
            for copy in copies {
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
    // SAFETY: valid by the specification.
    unsafe {
        let found = (
            object::find_optional::<DescriptorSet>(set),
            object::find_optional::<UpdateTemplate>(template),
        );
        // Without a guard, because nothing in it panics.
        if let (Ok(Some(set)), Ok(Some(template))) = found
            && template.apply_plain(set.target(), data.cast())
        {
            return;
        }
        update_with_template(set, template, data);
    }
}

/// Carries out a template as far as it goes, with messages.
///
/// # Safety
/// As for [`update_descriptor_set_with_template`].
#[cold]
unsafe fn update_with_template(
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
