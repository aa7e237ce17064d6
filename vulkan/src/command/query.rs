// SPDX-License-Identifier: MIT
//! Timestamps and the results of queries.
//!
//! Firmware writes timestamps when a command begins or has ended (kernel-uapi, 9), so the stream is
//! cut where one is asked for. They are read and reset through memory like anything else; a cut
//! keeps firmware and shaders from meeting in one command.

use ash::vk;

use super::buffer::{CommandBuffer, record};
use super::replay::record_inside;
use super::segment::Stamp;
use crate::buffer::Buffer;
use crate::error::VkResult;
use crate::host::push;
use crate::internal::{Kind, QUERY_WORKGROUP};
use crate::object;
use crate::query_pool::QueryPool;

impl CommandBuffer {
    fn write_timestamp(&mut self, pool: &QueryPool, query: u32) -> VkResult {
        if let Some(pass) = &mut self.drawing.pass {
            // A pass is one command: late, never early.
            return push(&mut pass.stamps, pool.stamp(query));
        }
        self.stamp_now(pool.stamp(query))
    }

    /// Writes a timestamp when everything before it has ended.
    pub(super) fn stamp_now(&mut self, stamp: Stamp) -> VkResult {
        // What came before may have reset the query: it must have reached memory.
        self.cut(None)?;
        // A timestamp is of a command, so there must be one.
        self.push([agx_hw::cdm::Record::Barrier(agx_hw::cdm::Barrier::FULL)])?;
        self.cut(Some(stamp))
    }

    fn copy_results(
        &mut self,
        pool: &QueryPool,
        first: u32,
        count: u32,
        to: u64,
        stride: u64,
        flags: vk::QueryResultFlags,
    ) -> VkResult {
        if count == 0 {
            return Ok(());
        }
        self.cut(None)?;
        let mut options = 0u32;
        if flags.contains(vk::QueryResultFlags::TYPE_64) {
            options |= 1;
        }
        if flags.contains(vk::QueryResultFlags::WITH_AVAILABILITY) {
            options |= 2;
        }
        let mut constants = [0; 32];
        constants[..8].copy_from_slice(&pool.address(first).to_le_bytes());
        constants[8..16].copy_from_slice(&to.to_le_bytes());
        constants[16..24].copy_from_slice(&stride.to_le_bytes());
        constants[24..28].copy_from_slice(&count.to_le_bytes());
        constants[28..].copy_from_slice(&options.to_le_bytes());
        let program = self.internal(Kind::Query)?;
        self.launch_internal(program, &constants, [count.div_ceil(QUERY_WORKGROUP), 1, 1])
    }
}

/// vkCmdWriteTimestamp. Every stage counts as the last one: a timestamp may be late, never early.
pub(crate) unsafe extern "system" fn cmd_write_timestamp(
    buffer: vk::CommandBuffer,
    _stage: vk::PipelineStageFlags,
    pool: vk::QueryPool,
    query: u32,
) {
    // SAFETY: valid and externally synchronised by the specification.
    unsafe {
        record_inside("vkCmdWriteTimestamp", buffer, move |this| {
            this.write_timestamp(object::get::<QueryPool>(pool), query)
        });
    }
}

/// vkCmdWriteTimestamp2.
pub(crate) unsafe extern "system" fn cmd_write_timestamp2(
    buffer: vk::CommandBuffer,
    _stage: vk::PipelineStageFlags2,
    pool: vk::QueryPool,
    query: u32,
) {
    // SAFETY: valid and externally synchronised by the specification.
    unsafe {
        record_inside("vkCmdWriteTimestamp2", buffer, move |this| {
            this.write_timestamp(object::get::<QueryPool>(pool), query)
        });
    }
}

/// vkCmdResetQueryPool.
pub(crate) unsafe extern "system" fn cmd_reset_query_pool(
    buffer: vk::CommandBuffer,
    pool: vk::QueryPool,
    first: u32,
    count: u32,
) {
    // SAFETY: valid and externally synchronised by the specification.
    unsafe {
        record("vkCmdResetQueryPool", buffer, |this| {
            let pool = object::get::<QueryPool>(pool);
            // Firmware may have written them in the command before.
            this.cut(None)?;
            this.fill(pool.address(first), 8 * u64::from(count), 0)
        });
    }
}

/// vkCmdCopyQueryPoolResults. Everything before is complete when this runs, so there is nothing to
/// wait for.
pub(crate) unsafe extern "system" fn cmd_copy_query_pool_results(
    buffer: vk::CommandBuffer,
    pool: vk::QueryPool,
    first: u32,
    count: u32,
    to: vk::Buffer,
    offset: vk::DeviceSize,
    stride: vk::DeviceSize,
    flags: vk::QueryResultFlags,
) {
    // SAFETY: valid and externally synchronised by the specification.
    unsafe {
        record("vkCmdCopyQueryPoolResults", buffer, |this| {
            let pool = object::get::<QueryPool>(pool);
            let to = object::get::<Buffer>(to).address + offset;
            this.copy_results(pool, first, count, to, stride, flags)
        });
    }
}

/// vkCmdBeginQuery: there are no queries that begin and end.
pub(crate) unsafe extern "system" fn cmd_begin_query(
    buffer: vk::CommandBuffer,
    _pool: vk::QueryPool,
    _query: u32,
    _flags: vk::QueryControlFlags,
) {
    // SAFETY: valid and externally synchronised by the specification.
    unsafe {
        record_inside("vkCmdBeginQuery", buffer, |_| {
            Err(vk::Result::ERROR_FEATURE_NOT_PRESENT)
        });
    }
}

/// vkCmdEndQuery: there are no queries that begin and end.
pub(crate) unsafe extern "system" fn cmd_end_query(
    buffer: vk::CommandBuffer,
    _pool: vk::QueryPool,
    _query: u32,
) {
    // SAFETY: valid and externally synchronised by the specification.
    unsafe {
        record_inside("vkCmdEndQuery", buffer, |_| {
            Err(vk::Result::ERROR_FEATURE_NOT_PRESENT)
        });
    }
}
