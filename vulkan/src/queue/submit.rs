// SPDX-License-Identifier: MIT
//! The commands that submit.

use agx_uapi::SyncPoint;
use ash::vk;

use super::Queue;
use super::batch::Batches;
use crate::command::CommandBuffer;
use crate::entry;
use crate::error::VkResult;
use crate::fence::Fence;
use crate::object;
use crate::semaphore::Semaphore;

impl Queue {
    pub(super) fn batches(&self) -> Batches<'_> {
        Batches::new(&self.line, self.host)
    }

    /// Submits batches and signals the fence after them.
    ///
    /// # Safety
    /// The fence is null or live.
    pub(super) unsafe fn finish(&self, mut batches: Batches<'_>, fence: vk::Fence) -> VkResult {
        // SAFETY: the caller's promise.
        if let Some(fence) = unsafe { object::get_optional::<Fence>(fence) } {
            batches.fence(SyncPoint::Binary(fence.sync()))?;
        }
        self.submit(batches)
    }
}

impl<'a> Batches<'a> {
    /// # Safety
    /// The handle is of a semaphore that lives longer than this.
    unsafe fn wait_for(&mut self, semaphore: vk::Semaphore, value: u64) -> VkResult {
        // SAFETY: the caller's promise.
        self.wait(unsafe { object::get::<'a, Semaphore>(semaphore) }, value)
    }

    /// # Safety
    /// The handle is of a live command buffer.
    unsafe fn run(&mut self, commands: vk::CommandBuffer) -> VkResult {
        // SAFETY: the caller's promise.
        let commands = unsafe {
            let commands = object::get::<CommandBuffer>(commands);
            commands.prepare();
            commands
        };
        let mut segments = commands.segments().iter();
        segments.try_for_each(|segment| self.segment(segment))
    }

    /// # Safety
    /// The handle is of a live semaphore.
    unsafe fn signal_semaphore(&mut self, semaphore: vk::Semaphore, value: u64) -> VkResult {
        // SAFETY: the caller's promise.
        let semaphore = unsafe { object::get::<Semaphore>(semaphore) };
        // There is no point 0 to signal: a timeline begins there.
        semaphore
            .point(value)
            .map_or(Ok(()), |point| self.signal(point))
    }
}

/// The value of an element, 0 where there is none: semaphores may be binary.
fn value(values: &[u64], index: usize) -> u64 {
    values.get(index).copied().unwrap_or(0)
}

/// The values of waits and signals.
///
/// # Safety
/// The chain is valid for `'a`.
unsafe fn timeline<'a>(chain: *const std::ffi::c_void) -> (&'a [u64], &'a [u64]) {
    // SAFETY: the caller's promise.
    unsafe {
        match entry::find::<vk::TimelineSemaphoreSubmitInfo<'a>>(chain) {
            Some(info) => (
                entry::slice(
                    info.p_wait_semaphore_values,
                    info.wait_semaphore_value_count,
                ),
                entry::slice(
                    info.p_signal_semaphore_values,
                    info.signal_semaphore_value_count,
                ),
            ),
            None => (&[], &[]),
        }
    }
}

/// vkQueueSubmit.
pub(crate) unsafe extern "system" fn queue_submit(
    queue: vk::Queue,
    count: u32,
    submits: *const vk::SubmitInfo<'_>,
    fence: vk::Fence,
) -> vk::Result {
    entry::try_guard("vkQueueSubmit", || {
        // SAFETY: valid by the specification: handles, arrays, chains.
        unsafe {
            let this = object::get::<Queue>(queue);
            let mut batches = this.batches();
            for submit in entry::slice(submits, count) {
                let waits = entry::slice(submit.p_wait_semaphores, submit.wait_semaphore_count);
                let signals =
                    entry::slice(submit.p_signal_semaphores, submit.signal_semaphore_count);
                let (wait_values, signal_values) = timeline(submit.p_next);
                batches.begin(!waits.is_empty())?;
                for (index, semaphore) in waits.iter().enumerate() {
                    batches.wait_for(*semaphore, value(wait_values, index))?;
                }
                for commands in entry::slice(submit.p_command_buffers, submit.command_buffer_count)
                {
                    batches.run(*commands)?;
                }
                for (index, semaphore) in signals.iter().enumerate() {
                    batches.signal_semaphore(*semaphore, value(signal_values, index))?;
                }
            }
            this.finish(batches, fence)
        }
    })
}

/// vkQueueSubmit2.
pub(crate) unsafe extern "system" fn queue_submit2(
    queue: vk::Queue,
    count: u32,
    submits: *const vk::SubmitInfo2<'_>,
    fence: vk::Fence,
) -> vk::Result {
    entry::try_guard("vkQueueSubmit2", || {
        // SAFETY: valid by the specification: handles, arrays, chains.
        unsafe {
            let this = object::get::<Queue>(queue);
            let mut batches = this.batches();
            for submit in entry::slice(submits, count) {
                let waits = entry::slice(
                    submit.p_wait_semaphore_infos,
                    submit.wait_semaphore_info_count,
                );
                let commands = entry::slice(
                    submit.p_command_buffer_infos,
                    submit.command_buffer_info_count,
                );
                let signals = entry::slice(
                    submit.p_signal_semaphore_infos,
                    submit.signal_semaphore_info_count,
                );
                batches.begin(!waits.is_empty())?;
                for wait in waits {
                    batches.wait_for(wait.semaphore, wait.value)?;
                }
                for info in commands {
                    batches.run(info.command_buffer)?;
                }
                for signal in signals {
                    batches.signal_semaphore(signal.semaphore, signal.value)?;
                }
            }
            this.finish(batches, fence)
        }
    })
}

/// vkQueueBindSparse. There are no sparse resources, so that only semaphores and the fence are left.
pub(crate) unsafe extern "system" fn queue_bind_sparse(
    queue: vk::Queue,
    count: u32,
    binds: *const vk::BindSparseInfo<'_>,
    fence: vk::Fence,
) -> vk::Result {
    entry::try_guard("vkQueueBindSparse", || {
        // SAFETY: valid by the specification: handles, arrays, chains.
        unsafe {
            let this = object::get::<Queue>(queue);
            let mut batches = this.batches();
            for bind in entry::slice(binds, count) {
                let count =
                    bind.buffer_bind_count + bind.image_opaque_bind_count + bind.image_bind_count;
                if count != 0 {
                    crate::debug::error(&"vkQueueBindSparse: sparse resources are not supported");
                    return Err(vk::Result::ERROR_FEATURE_NOT_PRESENT);
                }
                let waits = entry::slice(bind.p_wait_semaphores, bind.wait_semaphore_count);
                let signals = entry::slice(bind.p_signal_semaphores, bind.signal_semaphore_count);
                let (wait_values, signal_values) = timeline(bind.p_next);
                batches.begin(!waits.is_empty())?;
                for (index, semaphore) in waits.iter().enumerate() {
                    batches.wait_for(*semaphore, value(wait_values, index))?;
                }
                for (index, semaphore) in signals.iter().enumerate() {
                    batches.signal_semaphore(*semaphore, value(signal_values, index))?;
                }
            }
            this.finish(batches, fence)
        }
    })
}
