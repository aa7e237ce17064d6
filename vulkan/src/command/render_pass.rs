// SPDX-License-Identifier: MIT
//! Render passes and dynamic rendering: the commands that begin and end instances of rendering.

use std::ffi::c_void;
use std::ptr::NonNull;

use arrayvec::ArrayVec;
use ash::vk;

use super::buffer::{CommandBuffer, record};
use crate::debug;
use crate::entry;
use crate::error::VkResult;
use crate::framebuffer::{self, Framebuffer};
use crate::host::{HostAllocator, HostVec, OUT_OF_HOST};
use crate::image::ImageView;
use crate::object;
use crate::render_pass::{Begin, RenderPass};
use crate::rendering::{MAX_COLOUR, Rendering, Resolve, Target};

/// The render pass that a command buffer is in.
pub(super) struct Pass {
    begun: Option<Begun>,
    /// By attachment.
    views: HostVec<NonNull<ImageView>>,
    clears: HostVec<vk::ClearValue>,
}

/// A render pass that has begun.
#[derive(Clone, Copy)]
struct Begun {
    /// Lives as long as command buffers use it, by the specification.
    pass: NonNull<RenderPass>,
    area: vk::Rect2D,
    layers: u32,
    subpass: u32,
}

impl Pass {
    /// None.
    pub(super) fn new(host: HostAllocator) -> Pass {
        Pass {
            begun: None,
            views: host.vec(),
            clears: host.vec(),
        }
    }

    /// Outside of any pass again; memory is kept for the next.
    pub(super) fn reset(&mut self) {
        self.begun = None;
    }
}

/// The part of an area that is inside of an extent.
fn inside(area: vk::Rect2D, extent: vk::Extent2D) -> vk::Rect2D {
    let clip = |offset: i32, size: u32, all: u32| {
        let end = (i64::from(offset) + i64::from(size)).clamp(0, all.into());
        let start = i64::from(offset).clamp(0, end);
        (start as i32, (end - start) as u32)
    };
    let (x, width) = clip(area.offset.x, area.extent.width, extent.width);
    let (y, height) = clip(area.offset.y, area.extent.height, extent.height);
    vk::Rect2D {
        offset: vk::Offset2D { x, y },
        extent: vk::Extent2D { width, height },
    }
}

/// The area to render to: with device groups, of which all have one device, there may be another.
///
/// # Safety
/// The chain is valid.
unsafe fn area(own: vk::Rect2D, chain: *const c_void) -> vk::Rect2D {
    // SAFETY: the caller's promise.
    let areas = unsafe {
        entry::find::<vk::DeviceGroupRenderPassBeginInfo<'_>>(chain)
            .map(|group| entry::slice(group.p_device_render_areas, group.device_render_area_count))
    };
    let other = areas.and_then(<[_]>::first);
    other.copied().unwrap_or(own)
}

/// # Safety
/// The structure is valid.
unsafe fn target(
    info: &vk::RenderingAttachmentInfo<'_>,
    flags: vk::RenderingFlags,
) -> Option<Target> {
    // SAFETY: the caller's promise.
    let (view, resolve) = unsafe {
        (
            object::get_optional::<ImageView>(info.image_view)?,
            object::get_optional::<ImageView>(info.resolve_image_view),
        )
    };
    // What is suspended lies in memory until it is resumed; it is resolved when it ends for good.
    let is_suspended = flags.contains(vk::RenderingFlags::SUSPENDING);
    let resolve =
        resolve.filter(|_| !is_suspended && info.resolve_mode != vk::ResolveModeFlags::NONE);
    Some(Target {
        view: NonNull::from(view),
        load: match flags.contains(vk::RenderingFlags::RESUMING) {
            true => vk::AttachmentLoadOp::LOAD,
            false => info.load_op,
        },
        store: match is_suspended {
            true => vk::AttachmentStoreOp::STORE,
            false => info.store_op,
        },
        clear: info.clear_value,
        resolve: resolve.map(|view| Resolve {
            view: NonNull::from(view),
            mode: info.resolve_mode,
        }),
    })
}

/// # Safety
/// The structure is valid.
unsafe fn rendering(info: &vk::RenderingInfo<'_>) -> VkResult<Rendering> {
    // SAFETY: the caller's promise, here and below.
    let infos = unsafe { entry::slice(info.p_color_attachments, info.color_attachment_count) };
    if infos.len() > MAX_COLOUR {
        debug::error(&format_args!(
            "vkCmdBeginRendering: {} colour attachments, of {MAX_COLOUR} that there can be",
            infos.len()
        ));
        return Err(vk::Result::ERROR_UNKNOWN);
    }
    // SAFETY: as above.
    unsafe {
        let mut colour = ArrayVec::new();
        for attachment in infos {
            colour.push(target(attachment, info.flags));
        }
        let one = |attachment: *const vk::RenderingAttachmentInfo<'_>| {
            target(attachment.as_ref()?, info.flags)
        };
        Ok(Rendering {
            area: area(info.render_area, info.p_next),
            layers: info.layer_count,
            view_mask: info.view_mask,
            colour,
            depth: one(info.p_depth_attachment),
            stencil: one(info.p_stencil_attachment),
            merged: None,
        })
    }
}

impl CommandBuffer {
    /// # Safety
    /// The structure is valid.
    unsafe fn begin_render_pass(&mut self, info: &vk::RenderPassBeginInfo<'_>) -> VkResult {
        // SAFETY: the caller's promise, here and below.
        let (pass, framebuffer) = unsafe {
            (
                object::get::<RenderPass>(info.render_pass),
                object::get::<Framebuffer>(info.framebuffer),
            )
        };
        let views = &mut self.pass.views;
        views.clear();
        views
            .try_reserve(framebuffer.views.len())
            .map_err(|_| OUT_OF_HOST)?;
        views.extend_from_slice(&framebuffer.views);
        // SAFETY: as above.
        let (clears, area) = unsafe {
            let given = entry::find::<vk::RenderPassAttachmentBeginInfo<'_>>(info.p_next);
            if let (Some(given), true) = (given, views.is_empty()) {
                let handles = entry::slice(given.p_attachments, given.attachment_count);
                framebuffer::append_views(views, handles)?;
            }
            (
                entry::slice(info.p_clear_values, info.clear_value_count),
                area(info.render_area, info.p_next),
            )
        };
        let kept = &mut self.pass.clears;
        kept.clear();
        kept.try_reserve(clears.len()).map_err(|_| OUT_OF_HOST)?;
        kept.extend_from_slice(clears);
        self.begin_subpass(Begun {
            pass: NonNull::from(pass),
            area: inside(area, framebuffer.extent),
            layers: framebuffer.layers,
            subpass: 0,
        })
    }

    fn begin_subpass(&mut self, begun: Begun) -> VkResult {
        self.pass.begun = Some(begun);
        // SAFETY: render passes live as long as command buffers use them, by the specification.
        let pass = unsafe { begun.pass.as_ref() };
        let begin = Begin {
            area: begun.area,
            layers: begun.layers,
            views: &self.pass.views,
            clears: &self.pass.clears,
        };
        let Some(instances) = pass.instances(begun.subpass, &begin) else {
            debug::error(&format_args!(
                "subpass {} of a render pass of {}",
                begun.subpass,
                pass.subpasses()
            ));
            return Err(vk::Result::ERROR_UNKNOWN);
        };
        for clears in instances.clears {
            self.begin_rendering(clears)?;
            self.end_rendering()?;
        }
        self.begin_rendering(instances.group)
    }

    fn next_subpass(&mut self) -> VkResult {
        let Some(begun) = self.pass.begun else {
            debug::error(&"the next subpass of no render pass");
            return Err(vk::Result::ERROR_UNKNOWN);
        };
        let next = Begun {
            subpass: begun.subpass + 1,
            ..begun
        };
        // SAFETY: render passes live as long as command buffers use them, by the specification.
        let pass = unsafe { begun.pass.as_ref() };
        if pass.is_merged(next.subpass) {
            self.pass.begun = Some(next);
            self.go_on_rendering(pass.merged(next.subpass));
            return Ok(());
        }
        self.end_rendering()?;
        self.begin_subpass(next)
    }

    fn end_render_pass(&mut self) -> VkResult {
        if self.pass.begun.take().is_none() {
            debug::error(&"the end of no render pass");
            return Err(vk::Result::ERROR_UNKNOWN);
        }
        self.end_rendering()
    }
}

/// vkCmdBeginRenderPass.
pub(crate) unsafe extern "system" fn cmd_begin_render_pass(
    buffer: vk::CommandBuffer,
    info: *const vk::RenderPassBeginInfo<'_>,
    _contents: vk::SubpassContents,
) {
    // SAFETY: valid and externally synchronised by the specification.
    unsafe {
        record("vkCmdBeginRenderPass", buffer, |this| {
            this.begin_render_pass(&*info)
        });
    }
}

/// vkCmdBeginRenderPass2.
pub(crate) unsafe extern "system" fn cmd_begin_render_pass2(
    buffer: vk::CommandBuffer,
    info: *const vk::RenderPassBeginInfo<'_>,
    _subpass: *const vk::SubpassBeginInfo<'_>,
) {
    // SAFETY: valid and externally synchronised by the specification.
    unsafe {
        record("vkCmdBeginRenderPass2", buffer, |this| {
            this.begin_render_pass(&*info)
        });
    }
}

/// vkCmdNextSubpass.
pub(crate) unsafe extern "system" fn cmd_next_subpass(
    buffer: vk::CommandBuffer,
    _contents: vk::SubpassContents,
) {
    // SAFETY: valid and externally synchronised by the specification.
    unsafe { record("vkCmdNextSubpass", buffer, CommandBuffer::next_subpass) };
}

/// vkCmdNextSubpass2.
pub(crate) unsafe extern "system" fn cmd_next_subpass2(
    buffer: vk::CommandBuffer,
    _begin: *const vk::SubpassBeginInfo<'_>,
    _end: *const vk::SubpassEndInfo<'_>,
) {
    // SAFETY: valid and externally synchronised by the specification.
    unsafe { record("vkCmdNextSubpass2", buffer, CommandBuffer::next_subpass) };
}

/// vkCmdEndRenderPass.
pub(crate) unsafe extern "system" fn cmd_end_render_pass(buffer: vk::CommandBuffer) {
    // SAFETY: valid and externally synchronised by the specification.
    unsafe { record("vkCmdEndRenderPass", buffer, CommandBuffer::end_render_pass) };
}

/// vkCmdEndRenderPass2.
pub(crate) unsafe extern "system" fn cmd_end_render_pass2(
    buffer: vk::CommandBuffer,
    _end: *const vk::SubpassEndInfo<'_>,
) {
    // SAFETY: valid and externally synchronised by the specification.
    unsafe {
        record(
            "vkCmdEndRenderPass2",
            buffer,
            CommandBuffer::end_render_pass,
        )
    };
}

/// vkCmdBeginRendering.
pub(crate) unsafe extern "system" fn cmd_begin_rendering(
    buffer: vk::CommandBuffer,
    info: *const vk::RenderingInfo<'_>,
) {
    // SAFETY: valid and externally synchronised by the specification.
    unsafe {
        record("vkCmdBeginRendering", buffer, |this| {
            let rendering = rendering(&*info)?;
            this.begin_rendering(rendering)
        });
    }
}

/// vkCmdEndRendering.
pub(crate) unsafe extern "system" fn cmd_end_rendering(buffer: vk::CommandBuffer) {
    // SAFETY: valid and externally synchronised by the specification.
    unsafe { record("vkCmdEndRendering", buffer, CommandBuffer::end_rendering) };
}

/// vkCmdSetRenderingAttachmentLocationsKHR: pipelines say the same, and are compiled for it.
pub(crate) unsafe extern "system" fn cmd_set_rendering_attachment_locations(
    _buffer: vk::CommandBuffer,
    _info: *const vk::RenderingAttachmentLocationInfoKHR<'_>,
) {
}

/// vkCmdSetRenderingInputAttachmentIndicesKHR: input attachments are read through their descriptors, after
/// the barrier that ends one command and begins the next.
pub(crate) unsafe extern "system" fn cmd_set_rendering_input_attachment_indices(
    _buffer: vk::CommandBuffer,
    _info: *const vk::RenderingInputAttachmentIndexInfoKHR<'_>,
) {
}

#[cfg(test)]
mod tests;
