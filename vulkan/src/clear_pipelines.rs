// SPDX-License-Identifier: MIT
//! The pipelines of a device that clear attachments by drawing: where rendering begins on a part of them, and for
//! vkCmdClearAttachments. They are made as applications make theirs.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use agx_hw::format::Numeric;
use ash::vk;

use crate::device::Device;
use crate::error::VkResult;
use crate::image::format;
use crate::internal::spirv_words;
use crate::pipeline::{GraphicsPipeline, Pipeline};
use crate::rendering::{AttachmentFormats, MAX_COLOUR};

/// What a pipeline clears, and where it can be used.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Clear {
    pub(crate) formats: AttachmentFormats,
    pub(crate) samples: vk::SampleCountFlags,
    pub(crate) what: Cleared,
    /// Whether the instance says which layer is cleared.
    pub(crate) layered: bool,
}

/// What is cleared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Cleared {
    /// A colour attachment, by number. The value is in push constants.
    Colour(usize),
    /// Depth, stencil or both. The depth is the viewport's, the stencil value the reference.
    DepthStencil { depth: bool, stencil: bool },
}

/// Pipelines that were made so far. There are few combinations of formats in an application.
#[derive(Default)]
pub(crate) struct ClearPipelines {
    made: Mutex<HashMap<Clear, Arc<Pipeline>>>,
}

impl ClearPipelines {
    /// A pipeline, compiled if need be; it lives as long as the device.
    ///
    /// # Errors
    /// When there is no memory for it.
    pub(crate) fn get(&self, device: &Device, clear: &Clear) -> VkResult<Arc<Pipeline>> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pipeline) = made.get(clear) {
            return Ok(pipeline.clone());
        }
        let pipeline = Arc::new(Pipeline::Graphics(make(device, clear)?));
        made.insert(clear.clone(), pipeline.clone());
        Ok(pipeline)
    }
}

macro_rules! module {
    ($name:literal) => {
        spirv_words(include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".spv")))
    };
}

fn fragment_module(clear: &Clear, at: usize) -> Vec<u32> {
    let format = clear.formats.colour.get(at).copied().unwrap_or_default();
    let numeric = format::single(format).map(|format| format.encoding().numeric());
    match numeric {
        Some(Numeric::Uint) => module!("clear_uint"),
        Some(Numeric::Sint) => module!("clear_sint"),
        _ => module!("clear_float"),
    }
}

fn make(device: &Device, clear: &Clear) -> VkResult<GraphicsPipeline> {
    let vertex = match clear.layered {
        true => module!("clear_vertex_layered"),
        false => module!("clear_vertex"),
    };
    let fragment = match clear.what {
        Cleared::Colour(at) => Some(fragment_module(clear, at)),
        Cleared::DepthStencil { .. } => None,
    };
    let module = |words| vk::ShaderModuleCreateInfo::default().code(words);
    let mut vertex = module(&vertex);
    let mut fragment = fragment.as_deref().map(module);
    let stage = |stage| {
        vk::PipelineShaderStageCreateInfo::default()
            .stage(stage)
            .name(c"main")
    };
    let mut stages = vec![stage(vk::ShaderStageFlags::VERTEX).push_next(&mut vertex)];
    if let Some(fragment) = &mut fragment {
        stages.push(stage(vk::ShaderStageFlags::FRAGMENT).push_next(fragment));
    }
    let assembly = vk::PipelineInputAssemblyStateCreateInfo::default()
        .topology(vk::PrimitiveTopology::TRIANGLE_LIST);
    let rasterization = vk::PipelineRasterizationStateCreateInfo::default().line_width(1.0);
    let multisample =
        vk::PipelineMultisampleStateCreateInfo::default().rasterization_samples(clear.samples);
    let (depth, stencil) = match clear.what {
        Cleared::Colour(_) => (false, false),
        Cleared::DepthStencil { depth, stencil } => (depth, stencil),
    };
    let replace = vk::StencilOpState::default()
        .fail_op(vk::StencilOp::REPLACE)
        .pass_op(vk::StencilOp::REPLACE)
        .depth_fail_op(vk::StencilOp::REPLACE)
        .compare_op(vk::CompareOp::ALWAYS)
        .compare_mask(0xff)
        .write_mask(0xff);
    let depth_stencil = vk::PipelineDepthStencilStateCreateInfo::default()
        .depth_test_enable(depth)
        .depth_write_enable(depth)
        .depth_compare_op(vk::CompareOp::ALWAYS)
        .stencil_test_enable(stencil)
        .front(replace)
        .back(replace);
    let mut masks = [vk::PipelineColorBlendAttachmentState::default(); MAX_COLOUR];
    if let Cleared::Colour(at) = clear.what {
        masks[at].color_write_mask = vk::ColorComponentFlags::RGBA;
    }
    let blend = vk::PipelineColorBlendStateCreateInfo::default()
        .attachments(&masks[..clear.formats.colour.len()]);
    let states = [
        vk::DynamicState::VIEWPORT,
        vk::DynamicState::SCISSOR,
        vk::DynamicState::STENCIL_REFERENCE,
    ];
    let dynamic = vk::PipelineDynamicStateCreateInfo::default().dynamic_states(&states);
    let viewports = vk::PipelineViewportStateCreateInfo::default()
        .viewport_count(1)
        .scissor_count(1);
    let mut rendering = vk::PipelineRenderingCreateInfo::default()
        .color_attachment_formats(&clear.formats.colour)
        .depth_attachment_format(clear.formats.depth)
        .stencil_attachment_format(clear.formats.stencil);
    let info = vk::GraphicsPipelineCreateInfo::default()
        .stages(&stages)
        .input_assembly_state(&assembly)
        .viewport_state(&viewports)
        .rasterization_state(&rasterization)
        .multisample_state(&multisample)
        .depth_stencil_state(&depth_stencil)
        .color_blend_state(&blend)
        .dynamic_state(&dynamic)
        .push_next(&mut rendering);
    // SAFETY: the structure is valid: everything it points to is on the stack.
    unsafe { GraphicsPipeline::new(device, &info) }
}
