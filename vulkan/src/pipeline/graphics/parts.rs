// SPDX-License-Identifier: MIT
//! What a pipeline is described by, read out of the structures of its creation.

use ash::vk;

use super::fragment::{Fragment, Tests, sample_shading};
use super::output::{self, Output};
use super::pre_rasterization::{PreRasterization, Rasterization};
use super::refuse;
use super::vertex_input::VertexInput;
use crate::device::Device;
use crate::entry;
use crate::error::VkResult;
use crate::object;
use crate::pipeline::Pipeline;
use crate::pipeline::graphics_state::Dynamic;
use crate::pipeline::source::Module;
use crate::pipeline_layout::PipelineLayout;

/// The four parts, as flags.
pub(super) type Which = vk::GraphicsPipelineLibraryFlagsEXT;

/// The description, as far as it is known: all of it, or what a library has (Vulkan 1.3, 10.3
/// "Complete Graphics Pipelines"; VK_EXT_graphics_pipeline_library).
#[derive(Clone, Default)]
pub(super) struct Parts<'a> {
    /// What commands must set, of the parts that are here.
    pub(super) dynamic: Dynamic,
    pub(super) input: Option<VertexInput>,
    pub(super) pre: Option<PreRasterization<'a>>,
    /// Nothing where nothing is rasterised.
    pub(super) fragment: Option<Fragment<'a>>,
    pub(super) output: Option<Output>,
}

impl<'a> Parts<'a> {
    /// What a structure describes by itself, and what the libraries that it links do.
    ///
    /// # Errors
    /// When something is not offered.
    ///
    /// # Safety
    /// The structure is valid for `'a`.
    pub(super) unsafe fn of(
        device: &Device,
        info: &vk::GraphicsPipelineCreateInfo<'a>,
        flags: vk::PipelineCreateFlags,
    ) -> VkResult<Parts<'a>> {
        let is_library = flags.contains(vk::PipelineCreateFlags::LIBRARY_KHR);
        // SAFETY: the caller's promise.
        unsafe {
            let libraries = libraries(info);
            let mut parts = Parts::own(device, info, own(info, is_library, libraries))?;
            for library in libraries {
                let Pipeline::Library(library) = object::get::<Pipeline>(*library) else {
                    return refuse(&"a linked pipeline is no library");
                };
                parts.add(library.parts().borrow());
            }
            // Layouts of libraries may lack the sets of others, and with them what comes before in the
            // table of dynamic buffers: that of the whole pipeline is the right one.
            if !libraries.is_empty()
                && !is_library
                && let Some(layout) = object::get_optional::<PipelineLayout>(info.layout)
            {
                if let Some(pre) = &mut parts.pre {
                    pre.bindings = layout.describe();
                }
                if let Some(fragment) = &mut parts.fragment {
                    fragment.bindings = layout.describe();
                }
            }
            Ok(parts)
        }
    }

    /// Those of a structure that are asked for. What belongs to others is ignored, and need not be
    /// valid.
    ///
    /// # Safety
    /// The structure is valid for `'a`.
    unsafe fn own(
        device: &Device,
        info: &vk::GraphicsPipelineCreateInfo<'a>,
        which: Which,
    ) -> VkResult<Parts<'a>> {
        let has = |part| which.contains(part);
        if which.is_empty() {
            return Ok(Parts::default());
        }
        // SAFETY: the caller's promise, here and below.
        let dynamic = unsafe { dynamic(info)? } & states_of(which);
        let mut made = Parts {
            dynamic,
            ..Parts::default()
        };
        if has(Which::VERTEX_INPUT_INTERFACE) {
            // SAFETY: as above.
            made.input = Some(unsafe { VertexInput::of(info)? });
        }
        let mut stages = Stages::default();
        let mut bindings = Vec::new();
        if which.intersects(Which::PRE_RASTERIZATION_SHADERS | Which::FRAGMENT_SHADER) {
            // SAFETY: as above.
            let layout = unsafe { object::get_optional::<PipelineLayout>(info.layout) };
            bindings = layout.map_or_else(Vec::new, PipelineLayout::describe);
            // SAFETY: as above.
            stages = unsafe { Stages::of(device, info, which)? };
        }
        let mut is_discarded = false;
        if has(Which::PRE_RASTERIZATION_SHADERS) {
            let Some(vertex) = stages.vertex else {
                return refuse(&"no vertex shader");
            };
            // SAFETY: as above.
            let (raster, view_mask) =
                unsafe { (Rasterization::of(info, dynamic), output::view_mask(info)) };
            is_discarded = raster.discard && !dynamic.contains(Dynamic::DISCARD);
            made.pre = Some(PreRasterization {
                vertex,
                bindings: bindings.clone(),
                view_mask,
                raster,
            });
        }
        if has(Which::FRAGMENT_OUTPUT_INTERFACE) {
            // SAFETY: as above.
            made.output = Some(unsafe { Output::of(info, is_discarded)? });
        }
        if has(Which::FRAGMENT_SHADER) {
            // Without formats, which another part has, what is given for them is taken.
            let has_depth_stencil = match &made.output {
                Some(output) => output.has_depth_stencil(),
                // SAFETY: as above.
                None => unsafe { output::may_have_depth_stencil(info) },
            };
            // SAFETY: as above.
            let (multisample, depth_stencil) = unsafe {
                (
                    match is_discarded {
                        true => None,
                        false => info.p_multisample_state.as_ref(),
                    },
                    match !is_discarded && has_depth_stencil {
                        true => info.p_depth_stencil_state.as_ref(),
                        false => None,
                    },
                )
            };
            made.fragment = Some(Fragment {
                module: stages.fragment,
                bindings,
                sample_shading: multisample.and_then(sample_shading),
                tests: depth_stencil.map_or(Tests::NONE, Tests::of),
            });
        }
        Ok(made)
    }

    /// Adds what another has and this does not.
    fn add(&mut self, other: Parts<'a>) {
        self.dynamic |= other.dynamic;
        self.input = self.input.take().or(other.input);
        self.pre = self.pre.take().or(other.pre);
        self.fragment = self.fragment.take().or(other.fragment);
        self.output = self.output.take().or(other.output);
    }

    /// The same, with shaders in memory that is still another's.
    pub(super) fn borrow(&self) -> Parts<'_> {
        Parts {
            dynamic: self.dynamic,
            input: self.input.clone(),
            pre: self.pre.as_ref().map(|pre| PreRasterization {
                vertex: pre.vertex.borrow(),
                bindings: pre.bindings.clone(),
                view_mask: pre.view_mask,
                raster: pre.raster.clone(),
            }),
            fragment: self.fragment.as_ref().map(|fragment| Fragment {
                module: fragment.module.as_ref().map(Module::borrow),
                bindings: fragment.bindings.clone(),
                ..*fragment
            }),
            output: self.output.clone(),
        }
    }

    /// The same, with shaders in memory of their own.
    pub(super) fn into_owned(self) -> Parts<'static> {
        Parts {
            dynamic: self.dynamic,
            input: self.input,
            pre: self.pre.map(|pre| PreRasterization {
                vertex: pre.vertex.into_owned(),
                bindings: pre.bindings,
                view_mask: pre.view_mask,
                raster: pre.raster,
            }),
            fragment: self.fragment.map(|fragment| Fragment {
                module: fragment.module.map(Module::into_owned),
                bindings: fragment.bindings,
                sample_shading: fragment.sample_shading,
                tests: fragment.tests,
            }),
            output: self.output,
        }
    }

    /// The shaders that there are.
    pub(super) fn modules(&self) -> impl Iterator<Item = &Module<'a>> {
        let vertex = self.pre.iter().map(|pre| &pre.vertex);
        let fragment = self.fragment.iter().filter_map(|it| it.module.as_ref());
        vertex.chain(fragment)
    }
}

/// The libraries that a structure links.
///
/// # Safety
/// The structure is valid for `'a`.
unsafe fn libraries<'a>(info: &vk::GraphicsPipelineCreateInfo<'a>) -> &'a [vk::Pipeline] {
    // SAFETY: the caller's promise.
    unsafe {
        let linked = entry::find::<vk::PipelineLibraryCreateInfoKHR<'a>>(info.p_next);
        linked.map_or(&[], |linked| {
            entry::slice(linked.p_libraries, linked.library_count)
        })
    }
}

/// The parts that a structure describes by itself: those that it says; if it says nothing, none when it
/// is about libraries, else all.
///
/// # Safety
/// The structure is valid.
unsafe fn own(
    info: &vk::GraphicsPipelineCreateInfo<'_>,
    is_library: bool,
    libraries: &[vk::Pipeline],
) -> Which {
    type Said<'a> = vk::GraphicsPipelineLibraryCreateInfoEXT<'a>;
    // SAFETY: the caller's promise.
    match unsafe { entry::find::<Said<'_>>(info.p_next) } {
        Some(said) => said.flags,
        None if is_library || !libraries.is_empty() => Which::empty(),
        None => {
            Which::VERTEX_INPUT_INTERFACE
                | Which::PRE_RASTERIZATION_SHADERS
                | Which::FRAGMENT_SHADER
                | Which::FRAGMENT_OUTPUT_INTERFACE
        }
    }
}

/// The dynamic states of parts; those of others are ignored.
fn states_of(which: Which) -> Dynamic {
    let table = [
        (
            Which::VERTEX_INPUT_INTERFACE,
            Dynamic::TOPOLOGY | Dynamic::RESTART | Dynamic::STRIDE,
        ),
        (
            Which::PRE_RASTERIZATION_SHADERS,
            Dynamic::VIEWPORT
                | Dynamic::SCISSOR
                | Dynamic::LINE_WIDTH
                | Dynamic::DEPTH_BIAS
                | Dynamic::DEPTH_BIAS_ENABLE
                | Dynamic::CULL_MODE
                | Dynamic::FRONT_FACE
                | Dynamic::DISCARD,
        ),
        (
            Which::FRAGMENT_SHADER,
            Dynamic::DEPTH_TEST
                | Dynamic::DEPTH_WRITE
                | Dynamic::DEPTH_COMPARE
                | Dynamic::DEPTH_BOUNDS
                | Dynamic::DEPTH_BOUNDS_TEST
                | Dynamic::STENCIL_TEST
                | Dynamic::STENCIL_OP
                | Dynamic::STENCIL_COMPARE_MASK
                | Dynamic::STENCIL_WRITE_MASK
                | Dynamic::STENCIL_REFERENCE,
        ),
        (Which::FRAGMENT_OUTPUT_INTERFACE, Dynamic::BLEND_CONSTANTS),
    ];
    let of_parts = table.iter().filter(|(part, _)| which.contains(*part));
    of_parts.fold(Dynamic::empty(), |all, (_, states)| all | *states)
}

/// The shaders that are given.
#[derive(Default)]
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
        which: Which,
    ) -> VkResult<Stages<'a>> {
        let mut made = Stages::default();
        // SAFETY: the caller's promise.
        for stage in unsafe { entry::slice(info.p_stages, info.stage_count) } {
            let (to, part) = match stage.stage {
                vk::ShaderStageFlags::VERTEX => {
                    (&mut made.vertex, Which::PRE_RASTERIZATION_SHADERS)
                }
                vk::ShaderStageFlags::FRAGMENT => (&mut made.fragment, Which::FRAGMENT_SHADER),
                other => return refuse(&format_args!("{other:?} is not offered")),
            };
            if !which.contains(part) {
                continue;
            }
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
