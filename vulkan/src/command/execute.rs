// SPDX-License-Identifier: MIT
//! Secondary command buffers: their segments become the primary's. Those inside of a render pass
//! have commands to carry out instead.

use ash::vk;

use super::buffer::{CommandBuffer, record};
use crate::entry;
use crate::host::OUT_OF_HOST;
use crate::object;

/// vkCmdExecuteCommands.
pub(crate) unsafe extern "system" fn cmd_execute_commands(
    buffer: vk::CommandBuffer,
    count: u32,
    secondaries: *const vk::CommandBuffer,
) {
    // SAFETY: valid and externally synchronised by the specification.
    unsafe {
        record("vkCmdExecuteCommands", buffer, |this| {
            for secondary in entry::slice(secondaries, count) {
                let secondary = object::get::<CommandBuffer>(*secondary);
                if secondary.keeps() {
                    this.replay(secondary)?;
                    continue;
                }
                this.cut(None)?;
                this.late
                    .try_reserve(secondary.late.len())
                    .map_err(|_| OUT_OF_HOST)?;
                this.late.extend(secondary.late.iter().cloned());
                let segments = secondary.segments();
                this.segments
                    .try_reserve(segments.len())
                    .map_err(|_| OUT_OF_HOST)?;
                this.segments.extend_from_slice(segments);
            }
            // What is bound is undefined from here on; a launch program may be used again all the
            // same, as nothing it depends on has changed.
            Ok(())
        });
    }
}
