// SPDX-License-Identifier: MIT
//! VkDescriptorUpdateTemplate: writes whose places are found out once.

use ash::vk;

use super::layout::{Kind, Layout, SetLayout};
use super::write::{DynamicBuffer, Piece, Target, nowhere, too_few};
use crate::device::{self, Device};
use crate::entry;
use crate::error::VkResult;
use crate::host::{self, HostAllocator, HostVec};
use crate::object::{self, Object};
use crate::pipeline_layout::PipelineLayout;

/// An update template, for sets or for push descriptors.
pub(crate) struct UpdateTemplate {
    writes: HostVec<Write>,
    /// Bytes, and dynamic buffers, of the smallest set that all writes fit into.
    needs: [u64; 2],
}

/// Elements that follow one another in the set, and in the application's data with a stride: an
/// entry, a part of one where it goes across bindings, or several entries.
struct Write {
    piece: Piece,
    /// Where in the application's data its first element is.
    offset: usize,
    stride: usize,
}

impl Write {
    /// Takes in the write that comes next, if the two are one.
    fn join(&mut self, next: &Write) -> bool {
        let (this, that) = (&mut self.piece, &next.piece);
        let apart = next.offset.wrapping_sub(self.offset);
        let stride = match this.kind {
            // Bytes have no choice.
            Kind::Inline => 1,
            _ if this.count == 1 => apart,
            _ => self.stride,
        };
        let joined = this.kind == that.kind
            && this.end() == u64::from(that.start)
            && stride.wrapping_mul(this.count as usize) == apart
            && (that.count == 1 || stride == next.stride);
        if joined {
            this.count += that.count;
            self.stride = stride;
        }
        joined
    }
}

impl Object for UpdateTemplate {
    type Handle = vk::DescriptorUpdateTemplate;
}

impl UpdateTemplate {
    fn new(
        host: HostAllocator,
        layout: &Layout,
        entries: &[vk::DescriptorUpdateTemplateEntry],
    ) -> VkResult<UpdateTemplate> {
        let mut writes = host.vec();
        writes
            .try_reserve_exact(entries.len())
            .map_err(|_| host::OUT_OF_HOST)?;
        for entry in entries {
            let kind = Kind::of(entry.descriptor_type);
            if kind == Kind::Absent {
                continue;
            }
            let (number, element) = (entry.dst_binding, entry.dst_array_element);
            let mut cursor = layout.cursor(number, element);
            let mut done = 0;
            while done < entry.descriptor_count {
                let next = cursor
                    .as_mut()
                    .and_then(|cursor| cursor.next(kind, entry.descriptor_count - done));
                let Some(piece) = next else {
                    nowhere(number, element.saturating_add(done), entry.descriptor_type);
                    break;
                };
                // The stride of an inline uniform block is ignored: its bytes follow one another.
                let stride = match kind {
                    Kind::Inline => 1,
                    _ => entry.stride,
                };
                let write = Write {
                    piece,
                    offset: entry
                        .offset
                        .wrapping_add(stride.wrapping_mul(done as usize)),
                    stride,
                };
                done += piece.count;
                if !writes
                    .last_mut()
                    .is_some_and(|last: &mut Write| last.join(&write))
                {
                    host::push(&mut writes, write)?;
                }
            }
        }
        let needs = [Kind::Buffer, Kind::Dynamic].map(|kind| {
            let there = |write: &&Write| write.piece.kind.lies_with(kind);
            let ends = writes.iter().filter(there).map(|write| write.piece.end());
            ends.max().unwrap_or(0)
        });
        Ok(UpdateTemplate { writes, needs })
    }

    /// Writes into memory that is laid out like the template's set; for push descriptors, where
    /// `dynamic` is empty. What does not fit is left out, with a message.
    ///
    /// # Safety
    /// `data` is what the template was made for.
    pub(crate) unsafe fn write(
        &self,
        memory: &mut [u8],
        dynamic: &mut [DynamicBuffer],
        data: *const u8,
    ) {
        // SAFETY: exclusive memory; the caller's promise.
        unsafe { self.apply(&Target::new(&[], memory, dynamic), data) };
    }

    /// Writes when all is as it must be; whether it was. If not, some of the descriptors may be
    /// written.
    ///
    /// There is no message in here and no panic.
    ///
    /// # Safety
    /// As for [`UpdateTemplate::write`], and nobody else uses the descriptors.
    #[inline]
    pub(super) unsafe fn apply_plain(&self, target: &Target, data: *const u8) -> bool {
        let [bytes, buffers] = self.needs;
        bytes <= target.end(Kind::Buffer)
            && buffers <= target.end(Kind::Dynamic)
            && self.writes.iter().all(|write| {
                let from = data.wrapping_add(write.offset);
                // SAFETY: in the memory; the caller's promise.
                unsafe { target.put(write.piece, from, write.stride) }.is_ok()
            })
    }

    /// Writes what has a place, with messages of what has not.
    ///
    /// # Safety
    /// As for [`UpdateTemplate::write`], and nobody else uses the descriptors.
    pub(super) unsafe fn apply(&self, target: &Target, data: *const u8) {
        for write in &self.writes {
            if !target.has(write.piece) {
                too_few(write.piece);
                continue;
            }
            let from = data.wrapping_add(write.offset);
            // SAFETY: in the memory; the caller's promise.
            unsafe {
                if let Err(wrong) = target.put(write.piece, from, write.stride) {
                    wrong.stop();
                }
            }
        }
    }
}

/// vkCreateDescriptorUpdateTemplate.
pub(crate) unsafe extern "system" fn create_descriptor_update_template(
    device: vk::Device,
    info: *const vk::DescriptorUpdateTemplateCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    template: *mut vk::DescriptorUpdateTemplate,
) -> vk::Result {
    entry::try_guard("vkCreateDescriptorUpdateTemplate", || {
        // SAFETY: valid by the specification.
        unsafe {
            let host = object::get::<Device>(device).allocator(allocator);
            let info = &*info;
            let entries = entry::slice(
                info.p_descriptor_update_entries,
                info.descriptor_update_entry_count,
            );
            let push = vk::DescriptorUpdateTemplateType::PUSH_DESCRIPTORS_KHR;
            let layout: &Layout = if info.template_type == push {
                let layout = object::get::<PipelineLayout>(info.pipeline_layout);
                layout.set(info.set).ok_or(vk::Result::ERROR_UNKNOWN)?
            } else {
                object::get::<SetLayout>(info.descriptor_set_layout)
            };
            *template = object::create(host, UpdateTemplate::new(host, layout, entries)?)?;
        }
        Ok(())
    })
}

/// vkDestroyDescriptorUpdateTemplate.
pub(crate) unsafe extern "system" fn destroy_descriptor_update_template(
    device: vk::Device,
    template: vk::DescriptorUpdateTemplate,
    allocator: *const vk::AllocationCallbacks<'_>,
) {
    // SAFETY: null or a live handle that no one else uses, by the specification.
    unsafe {
        device::destroy_object::<UpdateTemplate>(
            "vkDestroyDescriptorUpdateTemplate",
            device,
            template,
            allocator,
        )
    };
}
