// SPDX-License-Identifier: MIT
//! Clears of parts of attachments, by drawing.

use std::sync::Arc;

use agx_hw::vdm::Vertices;
use ash::vk;

use super::buffer::{CommandBuffer, record_everywhere};
use super::draw::Parameters;
use crate::clear_pipelines::{Clear, Cleared};
use crate::debug;
use crate::entry;
use crate::error::VkResult;
use crate::rendering::{self, AttachmentFormats, Rendering, Target};

/// What a clear writes where.
#[derive(Clone, Copy)]
struct Part {
    what: Cleared,
    value: vk::ClearValue,
    area: vk::Rect2D,
    first_layer: u32,
    layers: u32,
}

/// The formats of what is rendered to.
fn formats(rendering: &Rendering) -> AttachmentFormats {
    let format = |target: &Option<Target>| {
        target
            .as_ref()
            .map_or(vk::Format::UNDEFINED, |target| target.view().vulkan_format)
    };
    AttachmentFormats {
        colour: rendering.colour.iter().map(format).collect(),
        depth: format(&rendering.depth),
        stencil: format(&rendering.stencil),
        view_mask: 0,
        merged: None,
    }
}

impl CommandBuffer {
    /// Clears what is cleared when rendering begins: the area, where it is not all of the attachments.
    ///
    /// # Errors
    /// When there is no memory.
    pub(super) fn clear_area(&mut self) -> VkResult {
        let Some(pass) = &self.drawing.pass else {
            return Ok(());
        };
        let rendering = pass.rendering.clone();
        let cleared = |target: &Option<Target>| {
            let target = target.as_ref()?;
            (target.load == vk::AttachmentLoadOp::CLEAR).then_some(target.clear)
        };
        let part = |what, value| Part {
            what,
            value,
            area: rendering.area,
            first_layer: 0,
            layers: rendering.layers,
        };
        for (at, target) in rendering.colour.iter().enumerate() {
            if let Some(value) = cleared(target) {
                self.clear_part(part(Cleared::Colour(at), value))?;
            }
        }
        if let Some(value) = cleared(&rendering.depth) {
            let (depth, stencil) = (true, false);
            self.clear_part(part(Cleared::DepthStencil { depth, stencil }, value))?;
        }
        if let Some(value) = cleared(&rendering.stencil) {
            let (depth, stencil) = (false, true);
            self.clear_part(part(Cleared::DepthStencil { depth, stencil }, value))?;
        }
        Ok(())
    }

    /// Draws a clear, of each view where there are several.
    fn clear_part(&mut self, part: Part) -> VkResult {
        let mask = self
            .drawing
            .pass
            .as_ref()
            .map(|pass| pass.rendering.view_mask);
        for view in rendering::views(mask.unwrap_or(0)) {
            self.clear_layers(match view {
                Some(view) => Part {
                    first_layer: view,
                    layers: 1,
                    ..part
                },
                None => part,
            })?;
        }
        Ok(())
    }

    /// Draws a clear; what is bound and set stays as it is.
    fn clear_layers(&mut self, part: Part) -> VkResult {
        let Some(pass) = &self.drawing.pass else {
            debug::error(&"a clear of attachments outside of rendering");
            return Err(vk::Result::ERROR_UNKNOWN);
        };
        let layered = pass.layers() > 1;
        let clear = Clear {
            formats: formats(&pass.rendering),
            samples: vk::SampleCountFlags::from_raw(pass.samples().count()),
            what: part.what,
            layered,
        };
        let size = pass.size;
        let device = self.device();
        let pipeline = device.clear_pipelines.get(device, &clear)?;
        // SAFETY: either way of reading the value is of plain words.
        let (colour, depth) = unsafe { (part.value.color.uint32, part.value.depth_stencil) };
        let drawing = &mut self.drawing;
        let (state, bound) = (drawing.state.clone(), drawing.pipeline);
        // Clears are not counted.
        let occlusion = drawing.occlusion.take();
        // What is written for its constants is not for those that were pushed, nor the other way round.
        drawing.forget();
        drawing.bind(&pipeline);
        let set = &mut drawing.state;
        set.viewports.clear();
        set.viewports.push(vk::Viewport {
            x: 0.0,
            y: 0.0,
            width: size[0].into(),
            height: size[1].into(),
            min_depth: depth.depth,
            max_depth: depth.depth,
        });
        if matches!(part.what, Cleared::Colour(_)) {
            (set.viewports[0].min_depth, set.viewports[0].max_depth) = (0.0, 1.0);
        }
        set.scissors.clear();
        set.scissors.push(part.area);
        for face in &mut set.stencil {
            face.reference = depth.stencil as u8;
        }
        drawing.own_constants = Some(colour);
        let vertices = Vertices::Direct {
            first: 0,
            count: 3,
            instances: if layered { part.layers } else { 1 },
        };
        let drawn = self.draw(vertices, Parameters::of_values(0, part.first_layer));
        let drawing = &mut self.drawing;
        drawing.own_constants = None;
        drawing.occlusion = occlusion;
        (drawing.state, drawing.pipeline) = (state, bound);
        drawing.forget();
        // The device keeps it.
        debug_assert!(Arc::strong_count(&pipeline) > 1);
        drawn
    }

    fn clear_attachments(
        &mut self,
        attachments: &[vk::ClearAttachment],
        rects: &[vk::ClearRect],
    ) -> VkResult {
        for attachment in attachments {
            for rect in rects {
                self.clear_attachment(attachment, rect)?;
            }
        }
        Ok(())
    }

    fn clear_attachment(
        &mut self,
        attachment: &vk::ClearAttachment,
        rect: &vk::ClearRect,
    ) -> VkResult {
        let Some(pass) = &self.drawing.pass else {
            debug::error(&"vkCmdClearAttachments outside of rendering");
            return Err(vk::Result::ERROR_UNKNOWN);
        };
        let rendering = &pass.rendering;
        let aspects = attachment.aspect_mask;
        let what = match aspects.contains(vk::ImageAspectFlags::COLOR) {
            true => {
                let Some(at) = rendering.colour_at(attachment.color_attachment as usize) else {
                    // Clears of attachments that are not used have no effect.
                    return Ok(());
                };
                Cleared::Colour(at)
            }
            false => Cleared::DepthStencil {
                depth: aspects.contains(vk::ImageAspectFlags::DEPTH)
                    && rendering.tested_depth().is_some(),
                stencil: aspects.contains(vk::ImageAspectFlags::STENCIL)
                    && rendering.tested_stencil().is_some(),
            },
        };
        self.clear_part(Part {
            what,
            value: attachment.clear_value,
            area: rect.rect,
            first_layer: rect.base_array_layer,
            layers: rect.layer_count,
        })
    }
}

/// vkCmdClearAttachments.
pub(crate) unsafe extern "system" fn cmd_clear_attachments(
    buffer: vk::CommandBuffer,
    attachment_count: u32,
    attachments: *const vk::ClearAttachment,
    rect_count: u32,
    rects: *const vk::ClearRect,
) {
    // SAFETY: valid and externally synchronised by the specification.
    unsafe {
        record_everywhere("vkCmdClearAttachments", buffer, |this| {
            let attachments = entry::slice(attachments, attachment_count);
            let rects = entry::slice(rects, rect_count);
            if !this.keeps() {
                return this.clear_attachments(attachments, rects);
            }
            let attachments = this.host().copied(attachments)?;
            let rects = this.host().copied(rects)?;
            this.keep_command(move |this| this.clear_attachments(&attachments, &rects))
        });
    }
}
