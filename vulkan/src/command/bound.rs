// SPDX-License-Identifier: MIT
//! What dispatches use: the pipeline, descriptor sets, push constants.

use std::ptr::NonNull;

use ash::vk;

use agx_hw::window::LauncherAddress;

use super::binding_table::{BoundSet, Sets};
use super::buffer::{CommandBuffer, record_everywhere};
use super::changes::{Changes, Time};
use super::dispatch::{DESCRIPTOR, Groups, Places, Written};
use super::replay::{record_inside, record_slice_inside};
use crate::descriptor::{DescriptorSet, DynamicBuffer, Layout, MAX_DESCRIPTOR, UpdateTemplate};
use crate::entry;
use crate::error::VkResult;
use crate::host::OUT_OF_HOST;
use crate::object;
use crate::physical_device::limits;
use crate::pipeline::Pipeline;
use crate::pipeline_layout::PipelineLayout;
use crate::program::Uses;

/// Most dynamic buffers of a pipeline layout: the limits for uniform and storage buffers together.
pub(super) const MAX_DYNAMIC: usize =
    (limits::DYNAMIC_UNIFORM_BUFFERS + limits::DYNAMIC_STORAGE_BUFFERS) as usize;
/// Most bytes of a set of push descriptors.
const MAX_PUSH_SET: usize = limits::PUSH_DESCRIPTORS as usize * MAX_DESCRIPTOR;

/// The state.
pub(super) struct Bound {
    /// The compute pipeline, which lives as long as the command buffer is in use.
    pub(super) pipeline: Option<NonNull<Pipeline>>,
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
    /// When it changed last.
    pub(super) changes: Changes,
    /// The last dispatch's launch program, and when it was written.
    written: Option<(Written, Time)>,
}

/// How much of what is bound a root record holds: bytes of push constants and of the pushed set, and dynamic
/// buffers.
#[derive(Clone, Copy)]
pub(super) struct Lengths {
    pub(super) constants: usize,
    pub(super) dynamic: usize,
    pub(super) pushed: usize,
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
            changes: Changes::default(),
            written: None,
        }
    }
}

/// A descriptor set of a pipeline layout.
#[derive(Clone, Copy)]
struct Place {
    index: usize,
    /// Null where nothing is bound.
    set: vk::DescriptorSet,
    /// Where the layout has its dynamic buffers.
    dynamic_start: usize,
}

impl Bound {
    /// Binds sets; `offsets` are of all their dynamic buffers.
    ///
    /// # Safety
    /// The sets live.
    unsafe fn bind_sets(&mut self, places: impl Iterator<Item = Place>, mut offsets: &[u32]) {
        for place in places {
            // SAFETY: the caller's promise.
            if let Some(set) = unsafe { object::get_optional::<DescriptorSet>(place.set) } {
                self.bind_set(place.index, place.dynamic_start, set, &mut offsets);
            }
        }
    }

    fn bind_set(
        &mut self,
        index: usize,
        dynamic_start: usize,
        set: &DescriptorSet,
        offsets: &mut &[u32],
    ) {
        let Some(place) = self.sets.get_mut(index) else {
            return;
        };
        let bound = set.bound();
        let was_pushed = self.pushed == Some(index);
        if *place != bound || was_pushed {
            *place = bound;
            self.changes.set(index);
        }
        if was_pushed {
            self.pushed = None;
        }
        // SAFETY: nobody updates a set while a command that binds it is recorded.
        let dynamic = unsafe { set.dynamic() };
        if !dynamic.is_empty() {
            self.changes.dynamic();
        }
        for (buffer, at) in dynamic.iter().zip(dynamic_start..) {
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

    /// How much of it a root record of a program with such uses holds.
    pub(super) fn lengths(&self, uses: &Uses) -> Lengths {
        Lengths {
            constants: match uses.push_constants {
                true => self.constants().len(),
                false => 0,
            },
            dynamic: match uses.dynamic_buffers {
                true => self.dynamic().len(),
                false => 0,
            },
            pushed: match self.pushed {
                Some(set) if uses.set(set) => self.pushed_memory().len(),
                _ => 0,
            },
        }
    }

    /// The address of a set's memory, for a root record that has the pushed set at an address.
    pub(super) fn set_address(&self, set: u8, pushed: u64) -> u64 {
        if self.pushed == Some(set.into()) {
            return pushed;
        }
        let set = self.sets.get(usize::from(set));
        set.map_or(0, |set| set.address)
    }

    /// Puts dynamic buffers and the pushed set into a root record.
    pub(super) fn put_sets(&self, places: &Places, bytes: &mut [u8]) {
        let table = bytes[places.dynamic..places.pushed].chunks_exact_mut(DESCRIPTOR);
        for (buffer, to) in self.dynamic().iter().zip(table) {
            to.copy_from_slice(&buffer.descriptor());
        }
        let pushed = &mut bytes[places.pushed..];
        pushed.copy_from_slice(&self.pushed_memory()[..pushed.len()]);
    }

    /// The launch program that was written last, if it is right for this dispatch.
    pub(super) fn written(&self, groups: Groups, base: [u32; 3]) -> Option<LauncherAddress> {
        let (written, at) = self.written?;
        if at != self.changes.now() {
            return None;
        }
        written.launcher_for(groups, base)
    }

    /// A launch program was written for the state as it is.
    pub(super) fn remember(&mut self, written: Written) {
        self.written = Some((written, self.changes.now()));
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

    /// Makes a pushed set what [`Bound::pushed_memory`] once was.
    fn push_again(&mut self, index: usize, memory: &[u8]) {
        self.pushed = Some(index);
        self.push_size = memory.len().min(MAX_PUSH_SET);
        self.push_set[..self.push_size].copy_from_slice(&memory[..self.push_size]);
        self.changes.set(index);
    }

    /// The pushed set's memory.
    pub(super) fn pushed_memory(&self) -> &[u8] {
        &self.push_set[..self.push_size]
    }
}

impl CommandBuffer {
    /// What is bound at a point; nothing for points that this driver has not.
    fn bound_at(&mut self, point: vk::PipelineBindPoint) -> Option<&mut Bound> {
        match point {
            vk::PipelineBindPoint::COMPUTE => Some(&mut self.bound),
            vk::PipelineBindPoint::GRAPHICS => Some(&mut self.drawing.bound),
            _ => None,
        }
    }

    /// Binds sets, or keeps them to be bound.
    ///
    /// # Safety
    /// The sets live as long as the command buffer can be executed.
    unsafe fn bind_sets(
        &mut self,
        point: vk::PipelineBindPoint,
        places: impl ExactSizeIterator<Item = Place>,
        offsets: &[u32],
    ) -> VkResult {
        if self.keeps() {
            let mut kept = self.host().vec();
            kept.try_reserve_exact(places.len())
                .map_err(|_| OUT_OF_HOST)?;
            kept.extend(places);
            let offsets = self.host().copied(offsets)?;
            return self.keep_command(move |this| {
                if let Some(bound) = this.bound_at(point) {
                    // SAFETY: the caller's promise.
                    unsafe { bound.bind_sets(kept.iter().copied(), &offsets) };
                }
                Ok(())
            });
        }
        if let Some(bound) = self.bound_at(point) {
            // SAFETY: the caller's promise.
            unsafe { bound.bind_sets(places, offsets) };
        }
        Ok(())
    }

    /// Pushes descriptors of a set of a layout, which `write` writes.
    fn push_set(
        &mut self,
        point: vk::PipelineBindPoint,
        layout: &PipelineLayout,
        set: u32,
        write: impl FnOnce(&Layout, &mut [u8]),
    ) -> VkResult {
        let Some(set_layout) = layout.set(set) else {
            return Ok(());
        };
        let (host, keeps) = (self.host(), self.keeps());
        let Some(bound) = self.bound_at(point) else {
            return Ok(());
        };
        let index = set as usize;
        write(set_layout, bound.push_memory(index, set_layout));
        bound.changes.set(index);
        if keeps {
            // The state of the command buffer that keeps it has what was pushed before, too.
            let memory = host.copied(bound.pushed_memory())?;
            return self.keep_command(move |this| {
                if let Some(bound) = this.bound_at(point) {
                    bound.push_again(index, &memory);
                }
                Ok(())
            });
        }
        Ok(())
    }
}

/// vkCmdBindPipeline.
pub(crate) unsafe extern "system" fn cmd_bind_pipeline(
    buffer: vk::CommandBuffer,
    point: vk::PipelineBindPoint,
    pipeline: vk::Pipeline,
) {
    // SAFETY: valid and externally synchronised by the specification.
    unsafe {
        record_inside("vkCmdBindPipeline", buffer, move |this| {
            let pipeline = object::get::<Pipeline>(pipeline);
            match point {
                vk::PipelineBindPoint::COMPUTE => {
                    this.bound.pipeline = Some(NonNull::from(pipeline));
                    this.bound.changes.change();
                }
                vk::PipelineBindPoint::GRAPHICS => this.drawing.bind(pipeline),
                _ => {}
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
        record_everywhere("vkCmdBindDescriptorSets", buffer, |this| {
            let layout = object::get::<PipelineLayout>(layout);
            let places = entry::slice(sets, count).iter().enumerate();
            let places = places.map(|(at, set)| {
                let index = first as usize + at;
                let of_layout = layout.sets.get(index);
                Place {
                    index,
                    set: *set,
                    dynamic_start: of_layout.map_or(0, |set| set.dynamic_start) as usize,
                }
            });
            this.bind_sets(point, places, entry::slice(offsets, offset_count))
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
        let values = entry::slice(values.cast::<u8>(), size);
        record_slice_inside("vkCmdPushConstants", buffer, values, move |this, values| {
            let (start, end) = (offset as usize, offset as usize + values.len());
            // Constants are of no bind point.
            for bound in [&mut this.bound, &mut this.drawing.bound] {
                let Some(to) = bound.constants.get_mut(start..end) else {
                    return Err(vk::Result::ERROR_UNKNOWN);
                };
                to.copy_from_slice(values);
                bound.constants_end = bound.constants_end.max(end).next_multiple_of(4);
                bound.changes.constants();
            }
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
        record_everywhere("vkCmdPushDescriptorSetKHR", buffer, |this| {
            let layout = object::get::<PipelineLayout>(layout);
            this.push_set(point, layout, set, |set_layout, memory| {
                for write in entry::slice(writes, count) {
                    set_layout.write(memory, &mut [], write);
                }
            })
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
        record_everywhere("vkCmdPushDescriptorSetWithTemplateKHR", buffer, |this| {
            let layout = object::get::<PipelineLayout>(layout);
            let template = object::get::<UpdateTemplate>(template);
            this.push_set(template.bind_point(), layout, set, |_, memory| {
                template.write(memory, &mut [], data.cast());
            })
        });
    }
}
