// SPDX-License-Identifier: MIT
//! VkQueue: work goes to the kernel here.
//!
//! ```text
//! vkQueueSubmit
//!   └ Batches    what the application asked for, as submits of the kernel
//!      └ Line       the queue of the kernel: executes batches in order
//!      └ Deferred   the batches that must wait for others to submit first
//! InFlight       how submits ended
//! ```

mod batch;
mod deferred;
mod in_flight;
mod line;
mod submit;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use agx_uapi::{Deadline, Errno, Priority, WaitFlags};
use ash::vk;

use self::batch::{Batch, Batches};
use self::deferred::Deferred;
use self::line::{Line, Refused};
pub(crate) use self::submit::{queue_bind_sparse, queue_submit, queue_submit2};
use crate::debug::{self, Flags};
use crate::device::Device;
use crate::entry;
use crate::error::{VkResult, kernel};
use crate::gpu::Gpu;
use crate::host::HostAllocator;
use crate::object::{self, Object};
use crate::sync;

/// A queue.
pub(crate) struct Queue {
    /// Whose it is.
    pub(crate) device: vk::Device,
    /// Where it is among the device's queues.
    pub(crate) place: Place,
    /// Where its memory comes from. Batches may outlive the command that brings them.
    host: HostAllocator,
    /// Dropped first: its thread uses the line.
    deferred: Deferred,
    line: Arc<Line>,
}

/// What vkGetDeviceQueue asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) family: u32,
    pub(crate) index: u32,
    pub(crate) flags: vk::DeviceQueueCreateFlags,
}

impl Object for Queue {
    type Handle = vk::Queue;
}

impl Queue {
    /// A queue of a device. The device must stay where it is for as long as there is the queue.
    ///
    /// # Errors
    /// When the kernel has no more.
    pub(crate) fn new(
        device: vk::Device,
        gpu: &Gpu,
        host: HostAllocator,
        place: Place,
        priority: f32,
    ) -> VkResult<Queue> {
        // The kernel's queues have two priorities (kernel-uapi, 10.1).
        let priority = if priority < 0.5 {
            Priority::Low
        } else {
            Priority::Medium
        };
        let line = Arc::new(Line::new(gpu, priority, host)?);
        Ok(Queue {
            device,
            place,
            host,
            deferred: Deferred::new(&line, device, host),
            line,
        })
    }

    fn device(&self) -> &Device {
        // SAFETY: the device outlives its queues.
        unsafe { object::get(self.device) }
    }

    /// Ends its thread, which looks at all queues of the device: before any of them is destroyed.
    pub(crate) fn stop(&self) {
        self.deferred.stop();
    }

    /// Looks how submits ended that are over.
    ///
    /// # Errors
    /// The error of one that failed.
    pub(crate) fn inspect(&self) -> Result<(), Errno> {
        self.line.inspect()
    }

    /// Waits until a submit is over or the deadline comes. False, at once, when none is in flight.
    pub(crate) fn await_any(&self, deadline: Deadline) -> bool {
        let Some(sync) = self.line.oldest() else {
            return false;
        };
        // Whatever comes of it, the caller looks again.
        let _ = self
            .device()
            .kernel
            .syncobj_wait(&[sync], WaitFlags::ALL, deadline);
        true
    }

    /// Has batches executed, now or when what they wait for has been submitted.
    ///
    /// # Errors
    /// When there is no memory, and then nothing has changed; when the device is lost.
    fn submit(&self, batches: Batches<'_>) -> VkResult {
        let device = self.device();
        device.check()?;
        self.deferred.reserve(batches.len())?;
        let (mut batches, mut imported) = batches.commit()?;
        let mut result = Ok(());
        let mut untouched = true;
        for batch in &mut batches {
            // After an error the rest is not submitted.
            result = result.and_then(|()| self.send(batch));
            match &result {
                Ok(()) => {}
                Err(Failure::Harmless(_)) if untouched => self.line.discard(batch),
                Err(_) => self.line.abandon(batch),
            }
            untouched &= matches!(result, Err(Failure::Harmless(_)));
        }
        match result {
            Ok(()) => {}
            Err(Failure::Harmless(error)) if untouched => {
                imported.restore();
                return Err(error);
            }
            Err(_) => return Err(device.lose(&"a submit was executed in part")),
        }
        self.line.tidy().map_err(|errno| lost(device, errno))?;
        // What waits for others may wait for this thread.
        if debug::has(Flags::SYNC) && !self.deferred.is_busy() {
            self.wait_idle()?;
        }
        Ok(())
    }

    /// Executes a batch, or leaves it, and an empty one in its place, to the thread.
    fn send(&self, batch: &mut Batch) -> Result<(), Failure> {
        if !self.deferred.is_busy() {
            match self.line.execute(batch) {
                Ok(()) => return Ok(()),
                Err(refused) if self.must_wait(&refused, batch) => {}
                Err(refused) => {
                    let error = kernel(refused.call)(refused.errno);
                    return Err(match error {
                        vk::Result::ERROR_OUT_OF_DEVICE_MEMORY if refused.untouched => {
                            Failure::Harmless(error)
                        }
                        _ => {
                            let why = format_args!("{}: {}", refused.call, refused.errno);
                            let _ = self.device().lose(&why);
                            Failure::Lost
                        }
                    });
                }
            }
        }
        self.deferred.start().map_err(Failure::Harmless)?;
        self.deferred
            .push(std::mem::replace(batch, Batch::new(self.host)));
        Ok(())
    }

    /// Whether a batch was refused because it waits for what is not submitted.
    fn must_wait(&self, refused: &Refused, batch: &Batch) -> bool {
        refused.untouched
            && refused.errno == Errno::EINVAL
            && self.line.await_waits(batch, Deadline::NOW) == Err(Errno::ETIME)
    }

    /// Waits until all that was submitted is over.
    ///
    /// # Errors
    /// When the device is lost.
    pub(crate) fn wait_idle(&self) -> VkResult {
        let device = self.device();
        device.check()?;
        self.deferred.drain(device)?;
        let Some(point) = self.line.last_point() else {
            return Ok(());
        };
        sync::wait(device, Deadline::NEVER, |until| {
            device
                .kernel
                .syncobj_timeline_wait(&[point], WaitFlags::ALL, until)
        })
    }
}

/// Why a batch was not submitted.
enum Failure {
    /// Nothing has happened.
    Harmless(vk::Result),
    /// The device is lost.
    Lost,
}

/// A submit that failed: the device is not what the application thinks any more.
pub(crate) fn lost(device: &Device, errno: Errno) -> vk::Result {
    device.lose(&format_args!("a submit ended with {errno}"))
}

/// vkGetDeviceQueue.
pub(crate) unsafe extern "system" fn get_device_queue(
    device: vk::Device,
    family: u32,
    index: u32,
    queue: *mut vk::Queue,
) {
    entry::guard("vkGetDeviceQueue", || {
        let flags = vk::DeviceQueueCreateFlags::empty();
        let place = Place {
            family,
            index,
            flags,
        };
        // SAFETY: valid by the specification.
        unsafe { *queue = object::get::<Device>(device).queue(place) };
    });
}

/// vkGetDeviceQueue2.
pub(crate) unsafe extern "system" fn get_device_queue2(
    device: vk::Device,
    info: *const vk::DeviceQueueInfo2<'_>,
    queue: *mut vk::Queue,
) {
    entry::guard("vkGetDeviceQueue2", || {
        // SAFETY: valid by the specification.
        unsafe {
            let info = &*info;
            let place = Place {
                family: info.queue_family_index,
                index: info.queue_index,
                flags: info.flags,
            };
            *queue = object::get::<Device>(device).queue(place);
        }
    });
}

/// vkQueueWaitIdle.
pub(crate) unsafe extern "system" fn queue_wait_idle(queue: vk::Queue) -> vk::Result {
    entry::try_guard("vkQueueWaitIdle", || {
        // SAFETY: valid by the specification.
        unsafe { object::get::<Queue>(queue) }.wait_idle()
    })
}

/// vkDeviceWaitIdle.
pub(crate) unsafe extern "system" fn device_wait_idle(device: vk::Device) -> vk::Result {
    entry::try_guard("vkDeviceWaitIdle", || {
        // SAFETY: valid by the specification.
        let this = unsafe { object::get::<Device>(device) };
        this.check()?;
        this.queues().try_for_each(Queue::wait_idle)
    })
}
