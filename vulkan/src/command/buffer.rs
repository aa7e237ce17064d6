// SPDX-License-Identifier: MIT
//! VkCommandBuffer.

use std::ptr::NonNull;
use std::sync::Arc;

use agx_hw::cdm::Record;
use ash::vk;

use super::binding_table::Late;
use super::bound::Bound;
use super::chunk::{Memory, Piece, Use};
use super::draw::Drawing;
use super::pool::CommandPool;
use super::render_pass::Pass;
use super::replay::Kept;
use super::segment::{Segment, Stamp};
use super::stream::Stream;
use crate::debug::{self, Flags};
use crate::device::Device;
use crate::entry;
use crate::error::VkResult;
use crate::gpu::Slice;
use crate::host::{HostAllocator, HostVec};
use crate::internal;
use crate::object::{self, Object};
use crate::program::Program;

/// A command buffer.
pub(crate) struct CommandBuffer {
    /// Lives longer than its objects, by the specification.
    device: NonNull<Device>,
    pool: vk::CommandPool,
    level: vk::CommandBufferLevel,
    /// The first error, which vkEndCommandBuffer returns.
    failed: Option<vk::Result>,
    memory: Memory,
    stream: Stream,
    pub(super) segments: HostVec<Segment>,
    pub(super) bound: Bound,
    pub(super) drawing: Drawing,
    /// Tables to be gathered once more when it is submitted.
    pub(super) late: HostVec<Late>,
    /// The render pass that it is in.
    pub(super) pass: Pass,
    /// What is carried out by those who execute it.
    pub(super) kept: Kept,
    /// Device memory for workgroup variables of its dispatches, which run one after the other.
    pub(super) workgroup_memory: Option<(u64, u64)>,
}

impl Object for CommandBuffer {
    type Handle = vk::CommandBuffer;
}

impl CommandBuffer {
    pub(super) fn new(
        device: &Device,
        host: HostAllocator,
        pool: vk::CommandPool,
        level: vk::CommandBufferLevel,
    ) -> CommandBuffer {
        CommandBuffer {
            device: NonNull::from(device),
            pool,
            level,
            failed: None,
            memory: Memory::new(host),
            stream: Stream::default(),
            segments: host.vec(),
            bound: Bound::default(),
            drawing: Drawing::default(),
            late: host.vec(),
            pass: Pass::new(host),
            kept: Kept::new(host),
            workgroup_memory: None,
        }
    }

    /// What a queue executes, in order; each waits for all before it.
    pub(crate) fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Makes ready what depends on descriptors as they are at the time of a submit.
    ///
    /// # Safety
    /// The command buffer is being submitted, and the sets that it uses live.
    pub(crate) unsafe fn prepare(&self) {
        for late in &self.late {
            // SAFETY: the caller's promise; who changes descriptors of what is pending may change
            // only those that nothing uses.
            unsafe { late.gather() };
        }
    }

    pub(super) fn device<'a>(&self) -> &'a Device {
        // SAFETY: the device outlives its command buffers, and nothing changes it meanwhile.
        unsafe { self.device.as_ref() }
    }

    /// Where lists that live as long as the command buffer come from.
    pub(super) fn host(&self) -> HostAllocator {
        *self.segments.allocator()
    }

    fn pool<'a>(&self) -> &'a mut CommandPool {
        // SAFETY: the pool outlives its buffers and is externally synchronised while one of them
        // is recorded (Vulkan 1.3, 6.1); every use of the reference is short and single.
        unsafe { object::get_mut::<CommandPool>(self.pool) }
    }

    /// Memory of the command buffer.
    pub(super) fn take(&mut self, what: Use, size: usize, align: u64) -> VkResult<Piece> {
        let device = self.device();
        let spare = &mut self.pool().spare;
        self.memory.take(&device.gpu, spare, what, size, align)
    }

    /// Keeps memory until the command buffer is reset.
    pub(super) fn keep(&mut self, slice: Slice) -> VkResult {
        self.memory.keep(slice)
    }

    /// Appends records, in one segment.
    #[inline]
    pub(super) fn push<const N: usize>(&mut self, records: [Record; N]) -> VkResult {
        if !self.stream.has_room(N) {
            let device = self.device();
            let spare = &mut self.pool().spare;
            let (memory, segments) = (&mut self.memory, &mut self.segments);
            self.stream.make_room(device, memory, spare, segments)?;
        }
        self.stream.push(records)
    }

    /// Ends the segment: what follows is another command of the submit.
    pub(super) fn cut(&mut self, ended: Option<Stamp>) -> VkResult {
        self.stream.close(&mut self.segments, ended)
    }

    /// A shader of the driver.
    pub(super) fn internal<'a>(&self, kind: internal::Kind) -> VkResult<&'a Arc<Program>> {
        let device: &'a Device = self.device();
        device.internal.get(&device.gpu, &device.arena, kind)
    }

    pub(super) fn reset(&mut self, spare: &mut super::chunk::Spare) {
        self.failed = None;
        self.stream.reset();
        self.segments.clear();
        self.memory.reset(spare);
        self.bound = Bound::default();
        self.drawing = Drawing::default();
        self.late.clear();
        self.pass.reset();
        self.kept.reset();
        self.workgroup_memory = None;
    }
}

/// Records a command that is not one of secondary command buffers inside of a render pass: its
/// error is kept for vkEndCommandBuffer, and after an error nothing is recorded any more.
///
/// # Safety
/// The handle is valid and externally synchronised.
pub(super) unsafe fn record(
    name: &'static str,
    buffer: vk::CommandBuffer,
    body: impl FnOnce(&mut CommandBuffer) -> VkResult,
) {
    // SAFETY: the caller's promise.
    unsafe {
        record_everywhere(name, buffer, |this| match this.keeps() {
            false => body(this),
            true => Err(not_inside(name)),
        });
    }
}

#[cold]
fn not_inside(name: &'static str) -> vk::Result {
    debug::error(&format_args!(
        "{name} in a secondary command buffer that is inside of a render pass"
    ));
    vk::Result::ERROR_UNKNOWN
}

/// Records a command of any command buffer, as [`record`] does.
///
/// # Safety
/// The handle is valid and externally synchronised.
pub(super) unsafe fn record_everywhere(
    name: &'static str,
    buffer: vk::CommandBuffer,
    body: impl FnOnce(&mut CommandBuffer) -> VkResult,
) {
    // SAFETY: the caller's promise.
    let Ok(Some(this)) = (unsafe { object::find_optional_mut::<CommandBuffer>(buffer) }) else {
        return no_command_buffer(name, buffer);
    };
    if this.failed.is_some() {
        return;
    }
    // A panic, too, must keep the command buffer from being executed.
    let result = entry::try_guard(name, || {
        if debug::has(Flags::CMD) {
            print(name, buffer);
        }
        body(this)
    });
    if result != vk::Result::SUCCESS {
        this.failed = Some(result);
    }
}

#[cold]
fn print(name: &'static str, buffer: vk::CommandBuffer) {
    debug::print(&format_args!("{buffer:?} {name}"));
}

#[cold]
fn no_command_buffer(name: &'static str, buffer: vk::CommandBuffer) {
    entry::guard(name, || {
        debug::error(&format_args!("{name}: {buffer:?} is no command buffer"));
    });
}

/// vkBeginCommandBuffer.
pub(crate) unsafe extern "system" fn begin_command_buffer(
    buffer: vk::CommandBuffer,
    info: *const vk::CommandBufferBeginInfo<'_>,
) -> vk::Result {
    entry::try_guard("vkBeginCommandBuffer", || {
        // SAFETY: valid and externally synchronised by the specification.
        let this = unsafe { object::get_mut::<CommandBuffer>(buffer) };
        this.reset(&mut this.pool().spare);
        // SAFETY: valid by the specification.
        let flags = unsafe { (*info).flags };
        // The flag means nothing in primary command buffers.
        if this.level == vk::CommandBufferLevel::SECONDARY
            && flags.contains(vk::CommandBufferUsageFlags::RENDER_PASS_CONTINUE)
        {
            this.kept.start();
        }
        Ok(())
    })
}

/// vkEndCommandBuffer.
pub(crate) unsafe extern "system" fn end_command_buffer(buffer: vk::CommandBuffer) -> vk::Result {
    entry::try_guard("vkEndCommandBuffer", || {
        // SAFETY: valid and externally synchronised by the specification.
        let this = unsafe { object::get_mut::<CommandBuffer>(buffer) };
        if let Some(error) = this.failed {
            // What cannot be recorded whole is not executed in part.
            this.segments.clear();
            this.kept.clear();
            return Err(error);
        }
        this.cut(None)
    })
}

/// vkResetCommandBuffer.
pub(crate) unsafe extern "system" fn reset_command_buffer(
    buffer: vk::CommandBuffer,
    flags: vk::CommandBufferResetFlags,
) -> vk::Result {
    entry::try_guard("vkResetCommandBuffer", || {
        // SAFETY: valid and externally synchronised by the specification.
        let this = unsafe { object::get_mut::<CommandBuffer>(buffer) };
        let spare = &mut this.pool().spare;
        this.reset(spare);
        if flags.contains(vk::CommandBufferResetFlags::RELEASE_RESOURCES) {
            spare.trim();
        }
        Ok(())
    })
}

/// vkCmdSetDeviceMask: there is one device.
pub(crate) unsafe extern "system" fn cmd_set_device_mask(_buffer: vk::CommandBuffer, _mask: u32) {}
