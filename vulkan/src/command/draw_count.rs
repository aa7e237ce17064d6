// SPDX-License-Identifier: MIT
//! Indirect draws whose number lies in memory. The hardware has no such record: a shader of the driver copies
//! the arguments before the render command begins, and gives no instances to draws that are not asked for.
//! They draw nothing (graphics, 3.5; TRACE).

use agx_hw::vdm::{IndirectAddress, Vertices};
use ash::vk;

use super::blit::Constants;
use super::buffer::CommandBuffer;
use super::chunk::Use;
use super::draw::{Bases, Parameters};
use super::replay::record_inside;
use crate::buffer::Buffer;
use crate::error::{self, VkResult};
use crate::internal::{COUNT_WORKGROUP, Kind};
use crate::object;

/// Draws whose arguments are copied at once.
const BATCH: u32 = 1024;

/// Where the arguments and the number of draws lie.
#[derive(Clone, Copy)]
struct Counted {
    arguments: u64,
    stride: u32,
    count: u64,
    most: u32,
    is_indexed: bool,
}

impl Counted {
    /// # Safety
    /// The handles are valid.
    unsafe fn new(
        [arguments, count]: [(vk::Buffer, vk::DeviceSize); 2],
        most: u32,
        stride: u32,
        is_indexed: bool,
    ) -> Counted {
        // SAFETY: the caller's promise.
        let address = |(buffer, offset)| unsafe { object::get::<Buffer>(buffer).address + offset };
        Counted {
            arguments: address(arguments),
            stride,
            count: address(count),
            most,
            is_indexed,
        }
    }

    /// Words of the arguments of a draw.
    fn words(&self) -> u32 {
        if self.is_indexed { 5 } else { 4 }
    }
}

impl CommandBuffer {
    fn draw_counted(&mut self, counted: &Counted) -> VkResult {
        let bytes = 4 * counted.words();
        for first in (0..counted.most).step_by(BATCH as usize) {
            let draws = (counted.most - first).min(BATCH);
            let copy = self
                .take(Use::Scratch, (draws * bytes) as usize, 16)?
                .address;
            self.count_draws(counted, copy, first, draws)?;
            for draw in 0..draws {
                let address = copy + u64::from(draw * bytes);
                let arguments = IndirectAddress::new(address).map_err(error::record)?;
                let vertices = match counted.is_indexed {
                    false => Vertices::Indirect { arguments },
                    true => match self.indices(0, None)? {
                        Some(indices) => Vertices::IndexedIndirect { indices, arguments },
                        None => return Ok(()),
                    },
                };
                let parameters = Parameters {
                    // The last two of the arguments.
                    bases: Bases::At(address + u64::from(bytes) - 8),
                    number: first + draw,
                };
                self.draw(vertices, parameters)?;
            }
        }
        Ok(())
    }

    /// Copies arguments of so many draws.
    fn count_draws(&mut self, counted: &Counted, to: u64, first: u32, draws: u32) -> VkResult {
        let from = counted.arguments + u64::from(first) * u64::from(counted.stride);
        let mut constants = Constants::new();
        for address in [counted.count, from, to] {
            constants.extend(address.to_le_bytes());
        }
        for word in [counted.stride, counted.words(), first, draws] {
            constants.extend(word.to_le_bytes());
        }
        let program = self.internal(Kind::DrawCount)?;
        let groups = [draws.div_ceil(COUNT_WORKGROUP), 1, 1];
        self.launch_internal(program, &constants, groups)
    }
}

/// vkCmdDrawIndirectCount.
pub(crate) unsafe extern "system" fn cmd_draw_indirect_count(
    buffer: vk::CommandBuffer,
    arguments: vk::Buffer,
    offset: vk::DeviceSize,
    count: vk::Buffer,
    count_offset: vk::DeviceSize,
    most: u32,
    stride: u32,
) {
    // SAFETY: valid and externally synchronised by the specification.
    unsafe {
        let places = [(arguments, offset), (count, count_offset)];
        let counted = Counted::new(places, most, stride, false);
        record_inside("vkCmdDrawIndirectCount", buffer, move |this| {
            this.draw_counted(&counted)
        });
    }
}

/// vkCmdDrawIndexedIndirectCount.
pub(crate) unsafe extern "system" fn cmd_draw_indexed_indirect_count(
    buffer: vk::CommandBuffer,
    arguments: vk::Buffer,
    offset: vk::DeviceSize,
    count: vk::Buffer,
    count_offset: vk::DeviceSize,
    most: u32,
    stride: u32,
) {
    // SAFETY: valid and externally synchronised by the specification.
    unsafe {
        let places = [(arguments, offset), (count, count_offset)];
        let counted = Counted::new(places, most, stride, true);
        record_inside("vkCmdDrawIndexedIndirectCount", buffer, move |this| {
            this.draw_counted(&counted)
        });
    }
}
