// SPDX-License-Identifier: MIT
//! The fragment output interface: attachments, blending, samples.

use agx_hw::launcher::Samples;
use arrayvec::ArrayVec;
use ash::vk;
use mesa_nir::LogicOp;

use super::blend::logic_op;
use super::refuse;
use crate::entry;
use crate::error::VkResult;
use crate::image::description;
use crate::object;
use crate::render_pass::RenderPass;
use crate::rendering::{AttachmentFormats, MAX_COLOUR};

/// What a pipeline says of what fragments go to.
#[derive(Clone)]
pub(super) struct Output {
    pub(super) formats: AttachmentFormats,
    /// It is for one of several subpasses, with which others may be merged in another render pass.
    pub(super) is_of_several: bool,
    pub(super) samples: Samples,
    pub(super) sample_mask: u32,
    pub(super) alpha_to_coverage: bool,
    pub(super) alpha_to_one: bool,
    pub(super) logic_op: Option<LogicOp>,
    pub(super) blend: ArrayVec<vk::PipelineColorBlendAttachmentState, MAX_COLOUR>,
    pub(super) blend_constants: [f32; 4],
    /// The locations of the fragment shader's outputs by attachment; nothing where they are the same.
    pub(super) locations: Option<ArrayVec<u32, MAX_COLOUR>>,
}

/// Nothing goes anywhere.
impl Default for Output {
    fn default() -> Output {
        Output {
            formats: AttachmentFormats::default(),
            is_of_several: false,
            samples: Samples::One,
            sample_mask: u32::MAX,
            alpha_to_coverage: false,
            alpha_to_one: false,
            logic_op: None,
            blend: ArrayVec::new(),
            blend_constants: [0.0; 4],
            locations: None,
        }
    }
}

impl Output {
    /// # Errors
    /// When it is not offered.
    ///
    /// # Safety
    /// The structure is valid. What is known to be ignored, because nothing is rasterised, need not
    /// be.
    pub(super) unsafe fn of(
        info: &vk::GraphicsPipelineCreateInfo<'_>,
        is_discarded: bool,
    ) -> VkResult<Output> {
        // SAFETY: the caller's promise.
        let (pass, formats, locations) = unsafe {
            (
                object::get_optional::<RenderPass>(info.render_pass),
                formats(info),
                locations(info),
            )
        };
        let mut made = Output {
            formats,
            is_of_several: pass.is_some_and(|pass| pass.subpasses() > 1),
            locations,
            ..Output::default()
        };
        if is_discarded {
            return Ok(made);
        }
        // SAFETY: as above.
        if let Some(multisample) = unsafe { info.p_multisample_state.as_ref() } {
            let samples = multisample.rasterization_samples;
            let Some(samples) = description::samples(samples) else {
                return refuse(&format_args!("{samples:?} samples"));
            };
            made.samples = samples;
            made.alpha_to_coverage = multisample.alpha_to_coverage_enable == vk::TRUE;
            made.alpha_to_one = multisample.alpha_to_one_enable == vk::TRUE;
            // SAFETY: as above.
            if let Some(mask) = unsafe { multisample.p_sample_mask.as_ref() } {
                made.sample_mask = *mask;
            }
        }
        let is_there = |format: &vk::Format| *format != vk::Format::UNDEFINED;
        let blend = match made.formats.colour.iter().any(is_there) {
            // SAFETY: as above.
            true => unsafe { info.p_color_blend_state.as_ref() },
            false => None,
        };
        if let Some(blend) = blend {
            // SAFETY: as above.
            let states = unsafe { entry::slice(blend.p_attachments, blend.attachment_count) };
            made.blend = states.iter().copied().take(MAX_COLOUR).collect();
            made.blend_constants = blend.blend_constants;
            made.logic_op = (blend.logic_op_enable == vk::TRUE).then(|| logic_op(blend.logic_op));
        }
        Ok(made)
    }

    /// Whether there is something for tests of depth or stencil.
    pub(super) fn has_depth_stencil(&self) -> bool {
        has_depth_stencil(&self.formats)
    }
}

/// The views of a pipeline.
///
/// # Safety
/// The structure is valid, but for formats.
pub(super) unsafe fn view_mask(info: &vk::GraphicsPipelineCreateInfo<'_>) -> u32 {
    type Rendering<'a> = vk::PipelineRenderingCreateInfo<'a>;
    // SAFETY: the caller's promise.
    unsafe {
        if let Some(pass) = object::get_optional::<RenderPass>(info.render_pass) {
            return pass.formats(info.subpass).view_mask;
        }
        entry::find::<Rendering<'_>>(info.p_next).map_or(0, |rendering| rendering.view_mask)
    }
}

/// Whether a part without formats is for attachments of depth or stencil: a render pass says it, else it
/// is not known yet.
///
/// # Safety
/// The structure is valid, but for formats.
pub(super) unsafe fn may_have_depth_stencil(info: &vk::GraphicsPipelineCreateInfo<'_>) -> bool {
    // SAFETY: the caller's promise.
    let pass = unsafe { object::get_optional::<RenderPass>(info.render_pass) };
    pass.is_none_or(|pass| has_depth_stencil(&pass.formats(info.subpass)))
}

fn has_depth_stencil(formats: &AttachmentFormats) -> bool {
    [formats.depth, formats.stencil]
        .iter()
        .any(|format| *format != vk::Format::UNDEFINED)
}

/// The locations of the fragment shader's outputs, where they are not the attachments' numbers.
///
/// # Safety
/// The structure is valid.
unsafe fn locations(
    info: &vk::GraphicsPipelineCreateInfo<'_>,
) -> Option<ArrayVec<u32, MAX_COLOUR>> {
    type Locations<'a> = vk::RenderingAttachmentLocationInfoKHR<'a>;
    // SAFETY: the caller's promise.
    unsafe {
        let found = entry::find::<Locations<'_>>(info.p_next)?;
        let given = found.p_color_attachment_locations;
        (!given.is_null()).then(|| {
            let given = entry::slice(given, found.color_attachment_count);
            given.iter().copied().take(MAX_COLOUR).collect()
        })
    }
}

/// The formats of the attachments that a pipeline is for.
///
/// # Safety
/// The structure is valid.
unsafe fn formats(info: &vk::GraphicsPipelineCreateInfo<'_>) -> AttachmentFormats {
    type Rendering<'a> = vk::PipelineRenderingCreateInfo<'a>;
    // SAFETY: the caller's promise.
    unsafe {
        if let Some(pass) = object::get_optional::<RenderPass>(info.render_pass) {
            return pass.formats(info.subpass);
        }
        let Some(rendering) = entry::find::<Rendering<'_>>(info.p_next) else {
            return AttachmentFormats::default();
        };
        let colour = entry::slice(
            rendering.p_color_attachment_formats,
            rendering.color_attachment_count,
        );
        AttachmentFormats {
            colour: colour.iter().copied().take(MAX_COLOUR).collect(),
            depth: rendering.depth_attachment_format,
            stencil: rendering.stencil_attachment_format,
            view_mask: rendering.view_mask,
            merged: None,
        }
    }
}
