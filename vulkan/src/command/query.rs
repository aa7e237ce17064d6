// SPDX-License-Identifier: MIT
//! Timestamps and the results of queries.
//!
//! Firmware writes timestamps when a command begins or has ended (kernel-uapi, 9), so the stream is
//! cut where one is asked for. They are read and reset through memory like anything else; a cut
//! keeps firmware and shaders from meeting in one command.

use agx_hw::ppp::Visibility;
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
            return (query..)
                .zip(pass.rendering.views())
                .try_for_each(|(query, _)| push(&mut pass.stamps, pool.stamp(query)));
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

    fn end_query(&mut self, pool: &QueryPool, query: u32) -> VkResult {
        let Some(counters) = &pool.counters else {
            return Err(vk::Result::ERROR_FEATURE_NOT_PRESENT);
        };
        self.drawing.occlusion = None;
        self.drawing.state_changed();
        match &mut self.drawing.pass {
            // Counters are right when the pass is over. A query counts for all views, and takes those
            // behind it for the others (Vulkan 1.3, 18.2), which stay 0.
            Some(pass) => (query..)
                .zip(pass.rendering.views())
                .try_for_each(|(query, _)| {
                    push(
                        &mut pass.counted,
                        (counters.address(query), pool.address(query)),
                    )
                }),
            None => self.make_available(counters.address(query), pool.address(query)),
        }
    }

    /// Makes what a counter says the result of a query.
    ///
    /// # Errors
    /// When there is no memory.
    pub(super) fn make_available(&mut self, counter: u64, query: u64) -> VkResult {
        self.copy_words(counter, query, 0, 1, 1 << 4)
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
        let mut options = 0u32;
        if flags.contains(vk::QueryResultFlags::TYPE_64) {
            options |= 1;
        }
        if flags.contains(vk::QueryResultFlags::WITH_AVAILABILITY) {
            options |= 1 << 1;
        }
        if pool.counters.is_some() {
            options |= 1 << 2;
        }
        if flags.contains(vk::QueryResultFlags::PARTIAL) {
            options |= 1 << 3;
        }
        self.copy_words(pool.address(first), to, stride, count, options)
    }

    /// Runs the shader that copies queries, with options that it knows.
    fn copy_words(
        &mut self,
        from: u64,
        to: u64,
        stride: u64,
        count: u32,
        options: u32,
    ) -> VkResult {
        self.cut(None)?;
        let mut constants = [0; 32];
        constants[..8].copy_from_slice(&from.to_le_bytes());
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
            if let (Some(counters), 1..) = (&pool.counters, count) {
                this.fill(counters.address(first), 8 * u64::from(count), 0)?;
            }
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

/// vkCmdBeginQuery.
pub(crate) unsafe extern "system" fn cmd_begin_query(
    buffer: vk::CommandBuffer,
    pool: vk::QueryPool,
    query: u32,
    flags: vk::QueryControlFlags,
) {
    // SAFETY: valid and externally synchronised by the specification.
    unsafe {
        record_inside("vkCmdBeginQuery", buffer, move |this| {
            let Some(counters) = &object::get::<QueryPool>(pool).counters else {
                return Err(vk::Result::ERROR_FEATURE_NOT_PRESENT);
            };
            let visibility = match flags.contains(vk::QueryControlFlags::PRECISE) {
                true => Visibility::Counting,
                false => Visibility::Boolean,
            };
            this.drawing.occlusion = Some((counters.index(query), visibility));
            this.drawing.state_changed();
            Ok(())
        });
    }
}

/// vkCmdEndQuery.
pub(crate) unsafe extern "system" fn cmd_end_query(
    buffer: vk::CommandBuffer,
    pool: vk::QueryPool,
    query: u32,
) {
    // SAFETY: valid and externally synchronised by the specification.
    unsafe {
        record_inside("vkCmdEndQuery", buffer, move |this| {
            this.end_query(object::get::<QueryPool>(pool), query)
        });
    }
}
