// SPDX-License-Identifier: MIT
//! Secondary command buffers that are inside of a render pass: their commands are kept, and carried
//! out by each primary command buffer that executes them.
//!
//! Nothing that the GPU reads can be written before. Records of fixed-function state name scissors
//! and depth biases by indices in arrays of the pass that they run in, scissors are cut to its size
//! and area, and these, its layers and the layout of its tiles are not known until it begins. What
//! a secondary command buffer draws is therefore written where it is executed, with memory of the
//! primary, as often as that happens.
//!
//! What commands take by pointer is copied; handles are kept of objects that must live as long as
//! the command buffer can be executed. Pipeline layouts and update templates need not: what they
//! say is found out when the command is recorded.

use allocator_api2::unsize_box;
use ash::vk;

use super::buffer::{CommandBuffer, record_everywhere};
use crate::error::VkResult;
use crate::host::{HostAllocator, HostBox, HostVec, push};

/// A command with all that it needs. One command buffer may be executed by several others at the
/// same time, so it changes nothing of its own.
type Command = HostBox<dyn Fn(&mut CommandBuffer) -> VkResult>;

/// The commands of a secondary command buffer that is inside of a render pass.
pub(super) struct Kept {
    /// Whether the command buffer is such a one.
    is_on: bool,
    commands: HostVec<Command>,
}

impl Kept {
    /// Nothing, of a command buffer that carries out its commands at once.
    pub(super) fn new(host: HostAllocator) -> Kept {
        Kept {
            is_on: false,
            commands: host.vec(),
        }
    }

    /// Commands are kept from now on.
    pub(super) fn start(&mut self) {
        self.is_on = true;
    }

    /// Drops all commands.
    pub(super) fn clear(&mut self) {
        self.commands.clear();
    }

    /// As new again.
    pub(super) fn reset(&mut self) {
        self.is_on = false;
        self.clear();
    }
}

impl CommandBuffer {
    /// Whether commands are kept instead of carried out.
    #[inline]
    pub(super) fn keeps(&self) -> bool {
        self.kept.is_on
    }

    /// Keeps a command.
    ///
    /// # Errors
    /// When there is no memory.
    pub(super) fn keep_command(
        &mut self,
        command: impl Fn(&mut CommandBuffer) -> VkResult + 'static,
    ) -> VkResult {
        let command = self.host().boxed(command)?;
        push(&mut self.kept.commands, unsize_box!(command))
    }

    /// Carries out the commands that another command buffer keeps.
    ///
    /// # Errors
    /// The first of the commands'.
    pub(super) fn replay(&mut self, secondary: &CommandBuffer) -> VkResult {
        // Neither side has state of the other (Vulkan 1.3, 6.7 "Secondary Command Buffer
        // Execution"). Programs that count on it should fail here as they do elsewhere.
        self.drawing.unbind();
        for command in &secondary.kept.commands {
            command(self)?;
        }
        self.drawing.unbind();
        Ok(())
    }
}

/// Records a command that may be inside of a render pass: carries it out, or keeps it in a
/// secondary command buffer. It owns what it needs; commands with arrays, whose copies would cost
/// primary command buffers something, go through [`record_slice_inside`] or ask
/// [`CommandBuffer::keeps`] themselves.
///
/// # Safety
/// The handle is valid and externally synchronised.
#[inline]
pub(super) unsafe fn record_inside(
    name: &'static str,
    buffer: vk::CommandBuffer,
    body: impl Fn(&mut CommandBuffer) -> VkResult + 'static,
) {
    // SAFETY: the caller's promise.
    unsafe {
        record_everywhere(name, buffer, |this| match this.keeps() {
            false => body(this),
            true => this.keep_command(body),
        });
    }
}

/// The same for a command with an array, which is copied only if the command is kept.
///
/// # Safety
/// As for [`record_inside`].
#[inline]
pub(super) unsafe fn record_slice_inside<T: Copy + 'static>(
    name: &'static str,
    buffer: vk::CommandBuffer,
    values: &[T],
    body: impl Fn(&mut CommandBuffer, &[T]) -> VkResult + 'static,
) {
    // SAFETY: the caller's promise.
    unsafe {
        record_everywhere(name, buffer, |this| match this.keeps() {
            false => body(this, values),
            true => {
                let values = this.host().copied(values)?;
                this.keep_command(move |this| body(this, &values))
            }
        });
    }
}
