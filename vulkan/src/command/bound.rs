// SPDX-License-Identifier: MIT
//! What dispatches use: the pipeline, descriptor sets, push constants.

use std::ptr::NonNull;

use ash::vk;

use agx_hw::window::LauncherAddress;

use super::binding_table::{BoundSet, Sets};
use super::buffer::record;
use super::dispatch::{Groups, Written};
use crate::descriptor::{DescriptorSet, DynamicBuffer, Layout, MAX_DESCRIPTOR, UpdateTemplate};
use crate::entry;
use crate::object;
use crate::physical_device::limits;
use crate::pipeline::ComputePipeline;
use crate::pipeline_layout::PipelineLayout;

/// Most dynamic buffers of a pipeline layout: the limits for uniform and storage buffers together.
pub(super) const MAX_DYNAMIC: usize =
    (limits::DYNAMIC_UNIFORM_BUFFERS + limits::DYNAMIC_STORAGE_BUFFERS) as usize;
/// Most bytes of a set of push descriptors.
const MAX_PUSH_SET: usize = limits::PUSH_DESCRIPTORS as usize * MAX_DESCRIPTOR;

/// The state.
pub(super) struct Bound {
    /// The compute pipeline, which lives as long as the command buffer is in use.
    pub(super) pipeline: Option<NonNull<ComputePipeline>>,
    /// The sets that are bound.
    pub(super) sets: Sets,
    /// Dynamic buffers of all sets, offsets added.
    dynamic: [DynamicBuffer; MAX_DYNAMIC],
    /// One more than the last that was bound.
    dynamic_end: usize,
    /// Push constants.
    constants: [u8; limits::PUSH_CONSTANT_BYTES as usize],
    /// One more than the last byte that was pushed.
    constants_end: usize,
    /// The set of push descriptors: its number and memory as the commands have made it.
    pub(super) pushed: Option<usize>,
    push_set: [u8; MAX_PUSH_SET],
    push_size: usize,
    /// Whether something changed since the last launch program was written.
    pub(super) changed: bool,
    written: Option<Written>,
}

impl Default for Bound {
    fn default() -> Bound {
        Bound {
            pipeline: None,
            sets: [BoundSet::NONE; limits::SETS as usize],
            dynamic: [DynamicBuffer::default(); MAX_DYNAMIC],
            dynamic_end: 0,
            constants: [0; limits::PUSH_CONSTANT_BYTES as usize],
            constants_end: 0,
            pushed: None,
            push_set: [0; MAX_PUSH_SET],
            push_size: 0,
            changed: true,
            written: None,
        }
    }
}

impl Bound {
    fn bind_set(
        &mut self,
        layout: &PipelineLayout,
        index: usize,
        set: &DescriptorSet,
        offsets: &mut &[u32],
    ) {
        let Some(place) = self.sets.get_mut(index) else {
            return;
        };
        *place = set.bound();
        if self.pushed == Some(index) {
            self.pushed = None;
        }
        let first = layout.sets.get(index).map_or(0, |set| set.dynamic_start) as usize;
        // SAFETY: nobody updates a set while a command that binds it is recorded.
        let dynamic = unsafe { set.dynamic() };
        for (buffer, at) in dynamic.iter().zip(first..) {
            let offset = offsets.split_off_first().copied().unwrap_or(0);
            if let Some(place) = self.dynamic.get_mut(at) {
                *place = buffer.moved(offset);
                self.dynamic_end = self.dynamic_end.max(at + 1);
            }
        }
    }

    /// The push constants, as far as there are any.
    pub(super) fn constants(&self) -> &[u8] {
        &self.constants[..self.constants_end]
    }

    /// The dynamic buffers, as far as any are bound.
    pub(super) fn dynamic(&self) -> &[DynamicBuffer] {
        &self.dynamic[..self.dynamic_end]
    }

    /// The launch program that was written last, if it is right for this dispatch.
    pub(super) fn written(&self, groups: Groups, base: [u32; 3]) -> Option<LauncherAddress> {
        let written = self.written.filter(|_| !self.changed)?;
        written.launcher_for(groups, base)
    }

    /// A launch program was written for the state as it is.
    pub(super) fn remember(&mut self, written: Written) {
        self.written = Some(written);
        self.changed = false;
    }

    /// The memory of the pushed set of a layout, to write descriptors into.
    fn push_memory(&mut self, index: usize, layout: &Layout) -> &mut [u8] {
        let size = (layout.size() as usize).min(MAX_PUSH_SET);
        if self.pushed != Some(index) {
            self.pushed = Some(index);
            self.push_set.fill(0);
        }
        self.push_size = size;
        let memory = &mut self.push_set[..size];
        // SAFETY: exclusive memory of that size.
        unsafe { layout.initialise(memory.as_mut_ptr(), size as u32) };
        memory
    }

    /// The pushed set's memory.
    pub(super) fn pushed_memory(&self) -> &[u8] {
        &self.push_set[..self.push_size]
    }
}

/// Whether a bind point is one that this driver has.
fn is_compute(point: vk::PipelineBindPoint) -> bool {
    point == vk::PipelineBindPoint::COMPUTE
}

/// vkCmdBindPipeline.
pub(crate) unsafe extern "system" fn cmd_bind_pipeline(
    buffer: vk::CommandBuffer,
    point: vk::PipelineBindPoint,
    pipeline: vk::Pipeline,
) {
    // SAFETY: valid and externally synchronised by the specification.
    unsafe {
        record("vkCmdBindPipeline", buffer, |this| {
            if is_compute(point) {
                let pipeline = object::get::<ComputePipeline>(pipeline);
                this.bound.pipeline = Some(NonNull::from(pipeline));
                this.bound.changed = true;
            }
            Ok(())
        });
    }
}

/// vkCmdBindDescriptorSets.
pub(crate) unsafe extern "system" fn cmd_bind_descriptor_sets(
    buffer: vk::CommandBuffer,
    point: vk::PipelineBindPoint,
    layout: vk::PipelineLayout,
    first: u32,
    count: u32,
    sets: *const vk::DescriptorSet,
    offset_count: u32,
    offsets: *const u32,
) {
    // SAFETY: valid and externally synchronised by the specification.
    unsafe {
        record("vkCmdBindDescriptorSets", buffer, |this| {
            if !is_compute(point) {
                return Ok(());
            }
            let layout = object::get::<PipelineLayout>(layout);
            let mut offsets = entry::slice(offsets, offset_count);
            for (at, set) in entry::slice(sets, count).iter().enumerate() {
                if let Some(set) = object::get_optional::<DescriptorSet>(*set) {
                    this.bound
                        .bind_set(layout, first as usize + at, set, &mut offsets);
                }
            }
            this.bound.changed = true;
            Ok(())
        });
    }
}

/// vkCmdPushConstants.
pub(crate) unsafe extern "system" fn cmd_push_constants(
    buffer: vk::CommandBuffer,
    _layout: vk::PipelineLayout,
    _stages: vk::ShaderStageFlags,
    offset: u32,
    size: u32,
    values: *const std::ffi::c_void,
) {
    // SAFETY: valid and externally synchronised by the specification.
    unsafe {
        record("vkCmdPushConstants", buffer, |this| {
            let values = entry::slice(values.cast::<u8>(), size);
            let (start, end) = (offset as usize, offset as usize + size as usize);
            let Some(to) = this.bound.constants.get_mut(start..end) else {
                return Err(vk::Result::ERROR_UNKNOWN);
            };
            to.copy_from_slice(values);
            this.bound.constants_end = this.bound.constants_end.max(end).next_multiple_of(4);
            this.bound.changed = true;
            Ok(())
        });
    }
}

/// vkCmdPushDescriptorSetKHR.
pub(crate) unsafe extern "system" fn cmd_push_descriptor_set(
    buffer: vk::CommandBuffer,
    point: vk::PipelineBindPoint,
    layout: vk::PipelineLayout,
    set: u32,
    count: u32,
    writes: *const vk::WriteDescriptorSet<'_>,
) {
    // SAFETY: valid and externally synchronised by the specification.
    unsafe {
        record("vkCmdPushDescriptorSetKHR", buffer, |this| {
            if !is_compute(point) {
                return Ok(());
            }
            let layout = object::get::<PipelineLayout>(layout);
            let Some(set_layout) = layout.set(set) else {
                return Ok(());
            };
            let memory = this.bound.push_memory(set as usize, set_layout);
            for write in entry::slice(writes, count) {
                set_layout.write(memory, &mut [], write);
            }
            this.bound.changed = true;
            Ok(())
        });
    }
}

/// vkCmdPushDescriptorSetWithTemplateKHR.
pub(crate) unsafe extern "system" fn cmd_push_descriptor_set_with_template(
    buffer: vk::CommandBuffer,
    template: vk::DescriptorUpdateTemplate,
    layout: vk::PipelineLayout,
    set: u32,
    data: *const std::ffi::c_void,
) {
    // SAFETY: valid and externally synchronised by the specification.
    unsafe {
        record("vkCmdPushDescriptorSetWithTemplateKHR", buffer, |this| {
            let layout = object::get::<PipelineLayout>(layout);
            let template = object::get::<UpdateTemplate>(template);
            let Some(set_layout) = layout.set(set) else {
                return Ok(());
            };
            let memory = this.bound.push_memory(set as usize, set_layout);
            template.write(memory, &mut [], data.cast());
            this.bound.changed = true;
            Ok(())
        });
    }
}
