// SPDX-License-Identifier: MIT
//! VkEvent: a word that command buffers and the host set, reset and look at.

use std::sync::atomic::{AtomicU32, Ordering};

use ash::vk;

use crate::device::{self, Device};
use crate::entry;
use crate::error::VkResult;
use crate::gpu::{Slice, Zone};
use crate::object::{self, Object};

/// What the word is when the event is set; else 0.
pub(crate) const SET: u32 = 1;

/// An event.
pub(crate) struct Event {
    word: Slice,
}

impl Object for Event {
    type Handle = vk::Event;
}

impl Event {
    /// The GPU's address of the 32-bit word: [`SET`] or 0.
    pub(crate) fn address(&self) -> u64 {
        self.word.address()
    }

    fn word(&self) -> &AtomicU32 {
        // SAFETY: four aligned bytes of the slice, which lives as long; whoever else has them uses
        // atomic accesses or is the GPU.
        unsafe { AtomicU32::from_ptr(self.word.cpu().as_ptr().cast()) }
    }
}

/// vkCreateEvent.
pub(crate) unsafe extern "system" fn create_event(
    device: vk::Device,
    _info: *const vk::EventCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    event: *mut vk::Event,
) -> vk::Result {
    entry::try_guard("vkCreateEvent", || {
        // SAFETY: valid by the specification.
        unsafe {
            let this = object::get::<Device>(device);
            let word = this.gpu.allocate(Zone::Scratch, 4, 4)?;
            let new = Event { word };
            new.word().store(0, Ordering::Release);
            *event = object::create(this.allocator(allocator), new)?;
        }
        Ok(())
    })
}

/// vkDestroyEvent.
pub(crate) unsafe extern "system" fn destroy_event(
    device: vk::Device,
    event: vk::Event,
    allocator: *const vk::AllocationCallbacks<'_>,
) {
    // SAFETY: null or a live handle that no one else uses, by the specification.
    unsafe { device::destroy_object::<Event>("vkDestroyEvent", device, event, allocator) };
}

/// vkGetEventStatus.
pub(crate) unsafe extern "system" fn get_event_status(
    device: vk::Device,
    event: vk::Event,
) -> vk::Result {
    let status = || -> VkResult {
        // SAFETY: valid by the specification.
        let (this, event) = unsafe { (object::get::<Device>(device), object::get::<Event>(event)) };
        this.check()?;
        Err(match event.word().load(Ordering::Acquire) {
            0 => vk::Result::EVENT_RESET,
            _ => vk::Result::EVENT_SET,
        })
    };
    entry::try_guard("vkGetEventStatus", status)
}

/// # Safety
/// The handle is of a live event.
unsafe fn store(event: vk::Event, value: u32) -> VkResult {
    // SAFETY: the caller's promise.
    let event = unsafe { object::get::<Event>(event) };
    event.word().store(value, Ordering::Release);
    Ok(())
}

/// vkSetEvent.
pub(crate) unsafe extern "system" fn set_event(
    _device: vk::Device,
    event: vk::Event,
) -> vk::Result {
    // SAFETY: valid by the specification.
    entry::try_guard("vkSetEvent", || unsafe { store(event, SET) })
}

/// vkResetEvent.
pub(crate) unsafe extern "system" fn reset_event(
    _device: vk::Device,
    event: vk::Event,
) -> vk::Result {
    // SAFETY: valid by the specification.
    entry::try_guard("vkResetEvent", || unsafe { store(event, 0) })
}
