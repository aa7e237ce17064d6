// SPDX-License-Identifier: MIT
//! Barriers and events.
//!
//! Commands run one after the other, each with its writes visible to the next, so barriers and waits
//! for events that the queue sets have nothing to do. Barriers in rendering make two render commands of one. Neither have waits for events that the host
//! sets: it must set them before it submits who waits for them ("Queue Forward Progress", and
//! VUID-vkSetEvent-event-09543).

use ash::vk;

use super::buffer::{CommandBuffer, record};
use super::replay::record_inside;
use crate::event::Event;
use crate::object;

/// vkCmdPipelineBarrier.
pub(crate) unsafe extern "system" fn cmd_pipeline_barrier(
    buffer: vk::CommandBuffer,
    _from: vk::PipelineStageFlags,
    _to: vk::PipelineStageFlags,
    _flags: vk::DependencyFlags,
    _memory_count: u32,
    _memory: *const vk::MemoryBarrier<'_>,
    _buffer_count: u32,
    _buffers: *const vk::BufferMemoryBarrier<'_>,
    _image_count: u32,
    _images: *const vk::ImageMemoryBarrier<'_>,
) {
    // SAFETY: valid and externally synchronised by the specification.
    unsafe {
        record_inside(
            "vkCmdPipelineBarrier",
            buffer,
            CommandBuffer::split_rendering,
        )
    };
}

/// vkCmdPipelineBarrier2.
pub(crate) unsafe extern "system" fn cmd_pipeline_barrier2(
    buffer: vk::CommandBuffer,
    _info: *const vk::DependencyInfo<'_>,
) {
    // SAFETY: valid and externally synchronised by the specification.
    unsafe {
        record_inside(
            "vkCmdPipelineBarrier2",
            buffer,
            CommandBuffer::split_rendering,
        )
    };
}

/// Records the write of an event's word.
///
/// # Safety
/// Both handles are valid, and the buffer is externally synchronised.
unsafe fn write_event(name: &'static str, buffer: vk::CommandBuffer, event: vk::Event, value: u32) {
    // SAFETY: the caller's promise.
    unsafe {
        record(name, buffer, |this| {
            let address = object::get::<Event>(event).address();
            this.fill(address, 4, value)
        });
    }
}

/// vkCmdSetEvent.
pub(crate) unsafe extern "system" fn cmd_set_event(
    buffer: vk::CommandBuffer,
    event: vk::Event,
    _stages: vk::PipelineStageFlags,
) {
    // SAFETY: valid and externally synchronised by the specification.
    unsafe { write_event("vkCmdSetEvent", buffer, event, 1) };
}

/// vkCmdSetEvent2.
pub(crate) unsafe extern "system" fn cmd_set_event2(
    buffer: vk::CommandBuffer,
    event: vk::Event,
    _info: *const vk::DependencyInfo<'_>,
) {
    // SAFETY: valid and externally synchronised by the specification.
    unsafe { write_event("vkCmdSetEvent2", buffer, event, 1) };
}

/// vkCmdResetEvent.
pub(crate) unsafe extern "system" fn cmd_reset_event(
    buffer: vk::CommandBuffer,
    event: vk::Event,
    _stages: vk::PipelineStageFlags,
) {
    // SAFETY: valid and externally synchronised by the specification.
    unsafe { write_event("vkCmdResetEvent", buffer, event, 0) };
}

/// vkCmdResetEvent2.
pub(crate) unsafe extern "system" fn cmd_reset_event2(
    buffer: vk::CommandBuffer,
    event: vk::Event,
    _stages: vk::PipelineStageFlags2,
) {
    // SAFETY: valid and externally synchronised by the specification.
    unsafe { write_event("vkCmdResetEvent2", buffer, event, 0) };
}

/// vkCmdWaitEvents.
pub(crate) unsafe extern "system" fn cmd_wait_events(
    _buffer: vk::CommandBuffer,
    _count: u32,
    _events: *const vk::Event,
    _from: vk::PipelineStageFlags,
    _to: vk::PipelineStageFlags,
    _memory_count: u32,
    _memory: *const vk::MemoryBarrier<'_>,
    _buffer_count: u32,
    _buffers: *const vk::BufferMemoryBarrier<'_>,
    _image_count: u32,
    _images: *const vk::ImageMemoryBarrier<'_>,
) {
}

/// vkCmdWaitEvents2.
pub(crate) unsafe extern "system" fn cmd_wait_events2(
    _buffer: vk::CommandBuffer,
    _count: u32,
    _events: *const vk::Event,
    _infos: *const vk::DependencyInfo<'_>,
) {
}
