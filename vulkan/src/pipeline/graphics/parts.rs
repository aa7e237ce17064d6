// SPDX-License-Identifier: MIT
//! What a pipeline is described by, read out of the structures of its creation.

use ash::vk;

use super::fragment::{Fragment, Tests, sample_shading};
use super::output::Output;
use super::pre_rasterization::{PreRasterization, Rasterization};
use super::refuse;
use super::vertex_input::VertexInput;
use crate::device::Device;
use crate::entry;
use crate::error::VkResult;
use crate::object;
use crate::pipeline::graphics_state::Dynamic;
use crate::pipeline::source::Module;
use crate::pipeline_layout::PipelineLayout;

/// The description, as far as it is known (Vulkan 1.3, 10.3 "Complete Graphics Pipelines").
#[derive(Clone, Default)]
pub(super) struct Parts<'a> {
    /// What commands must set, of all parts.
    pub(super) dynamic: Dynamic,
    pub(super) input: Option<VertexInput>,
    pub(super) pre: Option<PreRasterization<'a>>,
    /// Nothing where nothing is rasterised.
    pub(super) fragment: Option<Fragment<'a>>,
    pub(super) output: Option<Output>,
}

impl<'a> Parts<'a> {
    /// # Errors
    /// When something is not offered.
    ///
    /// # Safety
    /// The structure is valid for `'a`.
    pub(super) unsafe fn of(
        device: &Device,
        info: &vk::GraphicsPipelineCreateInfo<'a>,
    ) -> VkResult<Parts<'a>> {
        // SAFETY: the caller's promise, here and below.
        let dynamic = unsafe { dynamic(info)? };
        // SAFETY: as above.
        let (layout, stages) = unsafe {
            (
                object::get_optional::<PipelineLayout>(info.layout),
                Stages::of(device, info)?,
            )
        };
        let bindings = layout.map_or_else(Vec::new, PipelineLayout::describe);
        let Some(vertex) = stages.vertex else {
            return refuse(&"no vertex shader");
        };
        // SAFETY: as above.
        let raster = unsafe { Rasterization::of(info, dynamic) };
        let is_discarded = raster.discard && !dynamic.contains(Dynamic::DISCARD);
        // SAFETY: as above.
        let output = unsafe { Output::of(info, is_discarded)? };
        // Pointers to what is ignored need not be valid.
        // SAFETY: as above.
        let fragment = unsafe {
            let multisample = match is_discarded {
                true => None,
                false => info.p_multisample_state.as_ref(),
            };
            let depth_stencil = match !is_discarded && output.has_depth_stencil() {
                true => info.p_depth_stencil_state.as_ref(),
                false => None,
            };
            Fragment {
                module: stages.fragment,
                bindings: bindings.clone(),
                sample_shading: multisample.and_then(sample_shading),
                tests: depth_stencil.map_or(Tests::NONE, Tests::of),
            }
        };
        Ok(Parts {
            dynamic,
            // SAFETY: as above.
            input: Some(unsafe { VertexInput::of(info)? }),
            pre: Some(PreRasterization {
                vertex,
                bindings,
                view_mask: output.formats.view_mask,
                raster,
            }),
            fragment: Some(fragment),
            output: Some(output),
        })
    }
}

/// The shaders that are given.
struct Stages<'a> {
    vertex: Option<Module<'a>>,
    fragment: Option<Module<'a>>,
}

impl<'a> Stages<'a> {
    /// # Safety
    /// The structure is valid for `'a`.
    unsafe fn of(
        device: &Device,
        info: &vk::GraphicsPipelineCreateInfo<'a>,
    ) -> VkResult<Stages<'a>> {
        let mut made = Stages {
            vertex: None,
            fragment: None,
        };
        // SAFETY: the caller's promise.
        for stage in unsafe { entry::slice(info.p_stages, info.stage_count) } {
            let to = match stage.stage {
                vk::ShaderStageFlags::VERTEX => &mut made.vertex,
                vk::ShaderStageFlags::FRAGMENT => &mut made.fragment,
                other => return refuse(&format_args!("{other:?} is not offered")),
            };
            // SAFETY: as above.
            *to = Some(unsafe { Module::of(device, stage, info.p_next)? });
        }
        Ok(made)
    }
}

/// # Safety
/// The structure is valid.
unsafe fn dynamic(info: &vk::GraphicsPipelineCreateInfo<'_>) -> VkResult<Dynamic> {
    let mut all = Dynamic::empty();
    // SAFETY: the caller's promise.
    let states = unsafe {
        info.p_dynamic_state.as_ref().map_or(&[][..], |dynamic| {
            entry::slice(dynamic.p_dynamic_states, dynamic.dynamic_state_count)
        })
    };
    for state in states {
        match Dynamic::of(*state) {
            Some(state) => all |= state,
            None => return refuse(&format_args!("{state:?} cannot be dynamic")),
        }
    }
    Ok(all)
}
