// SPDX-License-Identifier: MIT
//! VkQueryPool.
use ash::vk;
pub(crate) struct QueryPool {
    slice: crate::gpu::Slice,
}
impl crate::object::Object for QueryPool {
    type Handle = vk::QueryPool;
}
impl QueryPool {
    pub(crate) fn address(&self, _query: u32) -> u64 {
        self.slice.address()
    }
    pub(crate) fn stamp(&self, _query: u32) -> crate::command::Stamp {
        panic!()
    }
}
