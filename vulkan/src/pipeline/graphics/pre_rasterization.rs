// SPDX-License-Identifier: MIT
//! What is in front of fragments: the vertex shader, and how primitives become pixels.

use agx_hw::ppp::PolygonMode;
use agx_hw::vdm::Provoking;
use arrayvec::ArrayVec;
use ash::vk;
use mesa_nir::BindingLayout;

use crate::entry;
use crate::pipeline::graphics_state::{Dynamic, MAX_VIEWPORTS};
use crate::pipeline::source::Module;

/// What a pipeline says of it.
#[derive(Clone)]
pub(super) struct PreRasterization<'a> {
    pub(super) vertex: Module<'a>,
    pub(super) bindings: Vec<BindingLayout>,
    pub(super) view_mask: u32,
    pub(super) raster: Rasterization,
}

/// The vertex shader apart.
#[derive(Clone)]
pub(super) struct Rasterization {
    /// Rasterisation is off, unless that is dynamic.
    pub(super) discard: bool,
    pub(super) cull: vk::CullModeFlags,
    pub(super) front: vk::FrontFace,
    pub(super) polygon: PolygonMode,
    pub(super) depth_bias_enable: bool,
    /// Constant, clamp, slope.
    pub(super) depth_bias: [f32; 3],
    pub(super) line_width: f32,
    pub(super) depth_clip: bool,
    pub(super) depth_clamp: bool,
    pub(super) provoking: Provoking,
    /// Lines are Bresenham's whatever the samples.
    pub(super) bresenham: bool,
    pub(super) viewports: ArrayVec<vk::Viewport, MAX_VIEWPORTS>,
    pub(super) scissors: ArrayVec<vk::Rect2D, MAX_VIEWPORTS>,
}

impl Rasterization {
    /// # Safety
    /// The structure is valid.
    pub(super) unsafe fn of(
        info: &vk::GraphicsPipelineCreateInfo<'_>,
        dynamic: Dynamic,
    ) -> Rasterization {
        type Clip<'a> = vk::PipelineRasterizationDepthClipStateCreateInfoEXT<'a>;
        // SAFETY: the caller's promise.
        let (state, clip) = unsafe {
            let state = &*info.p_rasterization_state;
            (state, entry::find::<Clip<'_>>(state.p_next))
        };
        let discard = state.rasterizer_discard_enable == vk::TRUE;
        let clamp = state.depth_clamp_enable == vk::TRUE;
        let mut made = Rasterization {
            discard,
            cull: state.cull_mode,
            front: state.front_face,
            polygon: match state.polygon_mode {
                vk::PolygonMode::LINE => PolygonMode::Line,
                vk::PolygonMode::POINT => PolygonMode::Point,
                _ => PolygonMode::Fill,
            },
            depth_bias_enable: state.depth_bias_enable == vk::TRUE,
            depth_bias: [
                state.depth_bias_constant_factor,
                state.depth_bias_clamp,
                state.depth_bias_slope_factor,
            ],
            line_width: state.line_width,
            depth_clip: clip.map_or(!clamp, |clip| clip.depth_clip_enable == vk::TRUE),
            depth_clamp: clamp,
            provoking: provoking(state),
            bresenham: bresenham(state),
            viewports: ArrayVec::new(),
            scissors: ArrayVec::new(),
        };
        // Pointers to what is ignored need not be valid: without rasterisation, and what is dynamic.
        let viewports = match discard && !dynamic.contains(Dynamic::DISCARD) {
            true => None,
            // SAFETY: the caller's promise.
            false => unsafe { info.p_viewport_state.as_ref() },
        };
        if let Some(viewports) = viewports {
            if !dynamic.contains(Dynamic::VIEWPORT) && !viewports.p_viewports.is_null() {
                // SAFETY: as above.
                let given =
                    unsafe { entry::slice(viewports.p_viewports, viewports.viewport_count) };
                made.viewports = given.iter().copied().take(MAX_VIEWPORTS).collect();
            }
            if !dynamic.contains(Dynamic::SCISSOR) && !viewports.p_scissors.is_null() {
                // SAFETY: as above.
                let given = unsafe { entry::slice(viewports.p_scissors, viewports.scissor_count) };
                made.scissors = given.iter().copied().take(MAX_VIEWPORTS).collect();
            }
        }
        made
    }
}

fn provoking(rasterization: &vk::PipelineRasterizationStateCreateInfo<'_>) -> Provoking {
    type Info<'a> = vk::PipelineRasterizationProvokingVertexStateCreateInfoEXT<'a>;
    // SAFETY: valid by the specification, as the structure is.
    let info = unsafe { entry::find::<Info<'_>>(rasterization.p_next) };
    match info.map(|info| info.provoking_vertex_mode) {
        Some(vk::ProvokingVertexModeEXT::LAST_VERTEX) => Provoking::Last,
        _ => Provoking::First,
    }
}

fn bresenham(rasterization: &vk::PipelineRasterizationStateCreateInfo<'_>) -> bool {
    type Info<'a> = vk::PipelineRasterizationLineStateCreateInfoKHR<'a>;
    // SAFETY: valid by the specification, as the structure is.
    let info = unsafe { entry::find::<Info<'_>>(rasterization.p_next) };
    info.is_some_and(|info| info.line_rasterization_mode == vk::LineRasterizationModeKHR::BRESENHAM)
}
