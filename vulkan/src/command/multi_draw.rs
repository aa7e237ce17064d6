// SPDX-License-Identifier: MIT
//! Several draws of one command (VK_EXT_multi_draw): each is a record of its own, as the hardware has no
//! record of several.

use agx_hw::vdm::Vertices;
use ash::vk;

use super::buffer::{CommandBuffer, record_everywhere};
use super::draw::{Bases, Parameters};
use crate::error::VkResult;
use crate::host::{HostAllocator, HostVec, OUT_OF_HOST};

/// Copies structures that lie so many bytes apart.
///
/// # Safety
/// So many of them are there.
unsafe fn strided<T: Copy>(first: *const T, count: u32, stride: u32) -> impl Iterator<Item = T> {
    (0..count as usize).map(move |number| {
        // SAFETY: the caller's promise; a stride need be no multiple of the structure's alignment.
        unsafe { first.byte_add(number * stride as usize).read_unaligned() }
    })
}

/// What is the same for all draws of a command.
#[derive(Clone, Copy)]
struct Instances {
    count: u32,
    first: u32,
}

/// Draws that a command is kept with.
fn kept<T>(
    host: HostAllocator,
    draws: impl Iterator<Item = T>,
    count: u32,
) -> VkResult<HostVec<T>> {
    let mut all = host.vec();
    all.try_reserve_exact(count as usize)
        .map_err(|_| OUT_OF_HOST)?;
    all.extend(draws);
    Ok(all)
}

impl CommandBuffer {
    fn draw_each(
        &mut self,
        draws: impl Iterator<Item = vk::MultiDrawInfoEXT>,
        instances: Instances,
    ) -> VkResult {
        for (number, draw) in (0..).zip(draws) {
            if draw.vertex_count == 0 || instances.count == 0 {
                continue;
            }
            let vertices = Vertices::Direct {
                first: draw.first_vertex,
                count: draw.vertex_count,
                instances: instances.count,
            };
            let bases = Bases::Values([draw.first_vertex, instances.first]);
            self.draw(vertices, Parameters { bases, number })?;
        }
        Ok(())
    }

    fn draw_each_indexed(
        &mut self,
        draws: impl Iterator<Item = vk::MultiDrawIndexedInfoEXT>,
        instances: Instances,
    ) -> VkResult {
        for (number, draw) in (0..).zip(draws) {
            if draw.index_count == 0 || instances.count == 0 {
                continue;
            }
            let Some(indices) = self.indices(draw.first_index, Some(draw.index_count))? else {
                continue;
            };
            let vertices = Vertices::Indexed {
                indices,
                base: draw.vertex_offset,
                count: draw.index_count,
                instances: instances.count,
            };
            let bases = Bases::Values([draw.vertex_offset.cast_unsigned(), instances.first]);
            self.draw(vertices, Parameters { bases, number })?;
        }
        Ok(())
    }
}

/// vkCmdDrawMultiEXT.
pub(crate) unsafe extern "system" fn cmd_draw_multi(
    buffer: vk::CommandBuffer,
    count: u32,
    infos: *const vk::MultiDrawInfoEXT,
    instance_count: u32,
    first_instance: u32,
    stride: u32,
) {
    let instances = Instances {
        count: instance_count,
        first: first_instance,
    };
    // SAFETY: valid and externally synchronised by the specification.
    unsafe {
        record_everywhere("vkCmdDrawMultiEXT", buffer, |this| {
            let draws = strided(infos, count, stride);
            if !this.keeps() {
                return this.draw_each(draws, instances);
            }
            let draws = kept(this.host(), draws, count)?;
            this.keep_command(move |this| this.draw_each(draws.iter().copied(), instances))
        });
    }
}

/// vkCmdDrawMultiIndexedEXT.
pub(crate) unsafe extern "system" fn cmd_draw_multi_indexed(
    buffer: vk::CommandBuffer,
    count: u32,
    infos: *const vk::MultiDrawIndexedInfoEXT,
    instance_count: u32,
    first_instance: u32,
    stride: u32,
    vertex_offset: *const i32,
) {
    let instances = Instances {
        count: instance_count,
        first: first_instance,
    };
    // SAFETY: valid and externally synchronised by the specification.
    unsafe {
        record_everywhere("vkCmdDrawMultiIndexedEXT", buffer, |this| {
            // One offset for all, in place of the draws' own.
            let common = vertex_offset.as_ref().copied();
            let of = |draw: vk::MultiDrawIndexedInfoEXT| vk::MultiDrawIndexedInfoEXT {
                vertex_offset: common.unwrap_or(draw.vertex_offset),
                ..draw
            };
            let draws = strided(infos, count, stride).map(of);
            if !this.keeps() {
                return this.draw_each_indexed(draws, instances);
            }
            let draws = kept(this.host(), draws, count)?;
            this.keep_command(move |this| this.draw_each_indexed(draws.iter().copied(), instances))
        });
    }
}
