// SPDX-License-Identifier: MIT
//! VkEvent.
use ash::vk;
pub(crate) struct Event {
    slice: crate::gpu::Slice,
}
impl crate::object::Object for Event {
    type Handle = vk::Event;
}
impl Event {
    pub(crate) fn address(&self) -> u64 {
        self.slice.address()
    }
}
