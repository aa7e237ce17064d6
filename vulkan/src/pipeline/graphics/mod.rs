// SPDX-License-Identifier: MIT
//! Graphics pipelines: two shaders compiled for one another and for their attachments, and the state of
//! their draws.
//!
//! Everything that needs code is compiled here: blending, write masks, formats of attachments and of
//! attributes are part of the shaders (isa-3, 4.6 and 5.1; HW). What a draw then writes is a record.
//!
//! ```text
//! parts         what a pipeline is described by, in four parts; libraries have some of them
//!   vertex_input, pre_rasterization, fragment, output
//! blend         what the fragment shader does with colours
//! ```
//!
//! The fragment shader comes first: the vertex shader writes what it reads. Either is found or compiled
//! as compute shaders are, and kept by itself.
//!
//! # Libraries
//!
//! A library (VK_EXT_graphics_pipeline_library) is the description of its parts, with its SPIR-V: what
//! code a stage needs follows from the other parts, so there is none before they are linked. Linking is
//! therefore not fast, and is not said to be (`graphicsPipelineLibraryFastLinking`), unless a cache has
//! the shaders; and every linked pipeline is as good as one that was made whole.

use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError};

use agx_compiler::binary::{DepthLayout, FragmentInfo, StageInfo, VaryingMode, VertexInfo};
use agx_hw::coefficient::{Inputs, Interpolation, TABLE_ALIGN, TABLE_SIZE, Table};
use agx_hw::launcher::Samples;
use agx_hw::ppp::{PolygonMode, ShaderDepth};
use agx_hw::tile::Layout as TileLayout;
use agx_hw::uvs;
use agx_hw::vdm::{Primitive, Provoking, Template as Front, VertexState};
use agx_hw::window::LauncherAddress;
use arrayvec::ArrayVec;
use ash::vk;
use mesa_nir::{FragmentLowering, LogicOp, VertexLowering};

use self::blend::Targets;
use self::fragment::{Fragment, Tests};
use self::output::Output;
use self::parts::Parts;
use self::pre_rasterization::PreRasterization;
use self::vertex_input::VertexInput;
use super::Pipeline;
use super::cache::PipelineCache;
use super::create::{Feedback, create_each};
use super::executable::Executable;
use super::find::{Search, Texts};
use super::graphics_state::{Dynamic, State};
use super::source::{Lowering, Module, Source};
use super::store::Shader;
use crate::debug;
use crate::device::Device;
use crate::entry;
use crate::error::{VkResult, record};
use crate::gpu::{Gpu, Slice, Zone};
use crate::host::HostAllocator;
use crate::internal::spirv_words;
use crate::object;
use crate::program::Program;
use crate::rendering::{self, MAX_COLOUR, Merged};

mod blend;
mod fragment;
mod output;
mod parts;
mod pre_rasterization;
mod vertex_input;

/// A graphics pipeline.
pub(crate) struct GraphicsPipeline {
    /// By view; one without multiview.
    pub(crate) views: Vec<View>,
    pub(crate) vertex_info: VertexInfo,
    pub(crate) fragment_info: FragmentInfo,
    /// Words of a vertex.
    pub(crate) outputs: uvs::Layout,
    /// What stands in front of its draws.
    pub(crate) front: Front,
    /// What commands must set.
    pub(crate) dynamic: Dynamic,
    /// The rest.
    pub(crate) state: State,
    pub(crate) polygon: PolygonMode,
    pub(crate) depth_clip: bool,
    pub(crate) depth_clamp: bool,
    pub(crate) provoking: Provoking,
    /// Lines are Bresenham's whatever the samples.
    pub(crate) bresenham: bool,
    pub(crate) samples: Samples,
    pub(crate) shader_depth: ShaderDepth,
    /// Fragments leave something of what is below them in attachments.
    pub(crate) shows_below: bool,
    /// Where attachments are in the tile, if its subpass is merged with others; nothing if it has no attachments,
    /// as it rasterises nothing.
    merged: Option<Option<Box<Merged>>>,
    /// What it was made of, if its subpass may be merged with others in compatible render passes.
    source: Option<Box<Parts<'static>>>,
    /// The same for attachments at other places.
    others: Mutex<Vec<Arc<GraphicsPipeline>>>,
    /// The coefficient table.
    pub(crate) table: Slice,
    /// Bindings of it.
    pub(crate) bindings: u8,
    /// One more than the last vertex buffer that is read.
    pub(crate) vertex_buffers: usize,
    /// The stages that the application gave; of several views those of the first.
    pub(super) executables: ArrayVec<Executable, 2>,
}

/// The programs of a view.
pub(crate) struct View {
    pub(crate) vertex: Arc<Program>,
    pub(crate) fragment: Arc<Program>,
    /// Keeps them where equal ones find them.
    _shaders: [Arc<Shader>; 2],
}

impl View {
    /// Whether its shaders ask about the draw that they are part of.
    pub(crate) fn tells_of_draws(&self) -> bool {
        let programs = [&self.vertex, &self.fragment];
        let tells = |program: &Program| program.uses.draw_parameters || program.uses.draw_number;
        programs.into_iter().any(|program| tells(program))
    }

    fn new(vertex: Arc<Shader>, fragment: Arc<Shader>) -> View {
        View {
            vertex: vertex.program.clone(),
            fragment: fragment.program.clone(),
            _shaders: [vertex, fragment],
        }
    }
}

impl GraphicsPipeline {
    /// One of the driver's own, from the description that an application would give.
    ///
    /// # Errors
    /// As vkCreateGraphicsPipelines.
    ///
    /// # Safety
    /// The structure is valid.
    pub(crate) unsafe fn new(
        device: &Device,
        info: &vk::GraphicsPipelineCreateInfo<'_>,
    ) -> VkResult<GraphicsPipeline> {
        let search = Search::new(device, None, info.flags);
        // SAFETY: the caller's promise.
        let parts = unsafe { Parts::of(device, info, info.flags)? };
        GraphicsPipeline::build(search, device.host, &parts, &mut Feedback::default())
    }

    /// Whether it is for attachments that are at these places in the tile.
    pub(crate) fn is_for(&self, merged: Option<&Merged>) -> bool {
        (self.merged.as_ref()).is_none_or(|own| own.as_deref() == merged)
    }

    /// The same for attachments at other places, compiled if need be; it lives as long as this one. (Render passes
    /// are compatible if their references are to attachments of one format and number of samples, whichever these
    /// are: Vulkan 1.3, 8.2. So other subpasses may be merged, and other inputs be in the tile.)
    ///
    /// # Errors
    /// When there is no memory, or its shaders are not known any more.
    pub(crate) fn elsewhere(
        &self,
        device: &Device,
        merged: Option<&Merged>,
    ) -> VkResult<NonNull<GraphicsPipeline>> {
        let Some(source) = &self.source else {
            return refuse(
                &"it is drawn with in a render pass that is not compatible with its own",
            );
        };
        let mut others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = others.iter().find(|other| other.is_for(merged)) {
            return Ok(NonNull::from(&**known));
        }
        let mut parts = source.borrow();
        if let Some(output) = &mut parts.output {
            output.formats.merged = merged.cloned();
            output.is_of_several = false;
        }
        let search = Search::new(device, None, vk::PipelineCreateFlags::empty());
        let made = GraphicsPipeline::build(search, device.host, &parts, &mut Feedback::default())?;
        let made = Arc::new(made);
        let at = NonNull::from(&*made);
        others.push(made);
        Ok(at)
    }

    /// Makes one of all its parts.
    fn build(
        search: Search<'_>,
        host: HostAllocator,
        parts: &Parts<'_>,
        feedback: &mut Feedback,
    ) -> VkResult<GraphicsPipeline> {
        let Parts {
            dynamic,
            input: Some(input),
            pre: Some(pre),
            fragment,
            output,
        } = parts
        else {
            return refuse(&"a part of its description is missing");
        };
        let nothing = Output::default();
        let output = output.as_ref().unwrap_or(&nothing);
        let raster = &pre.raster;
        let mut stages = Stages::new(input, pre, fragment.as_ref(), output)?;

        let mut masked = rendering::views(pre.view_mask);
        let first = masked.next().flatten();
        let [vertex, fragment_shader] = stages.shaders(search, first, feedback)?;
        let (StageInfo::Vertex(vertex_info), StageInfo::Fragment(fragment_info)) =
            (&vertex.0.stage, &fragment_shader.0.stage)
        else {
            return refuse(&"shaders of other stages");
        };
        let (vertex_info, fragment_info) = (vertex_info.clone(), fragment_info.clone());
        let (table, bindings) =
            coefficient_table(&search.device.gpu, &fragment_info, raster.provoking)?;
        let mut views = vec![View::new(vertex.0.clone(), fragment_shader.0.clone())];
        // Shaders of other views differ in nothing but the number of the view.
        for view in masked {
            let [vertex, fragment] = stages.shaders(search, view, feedback)?;
            views.push(View::new(vertex.0, fragment.0));
        }
        let mut executables = ArrayVec::new();
        let mut add = |stage, (shader, texts): (Arc<Shader>, Option<Texts>)| -> VkResult {
            executables.push(Executable::new(host, stage, shader, texts)?);
            Ok(())
        };
        add(vk::ShaderStageFlags::VERTEX, vertex)?;
        if fragment
            .as_ref()
            .is_some_and(|given| given.module.is_some())
        {
            add(vk::ShaderStageFlags::FRAGMENT, fragment_shader)?;
        }
        let tests = fragment.as_ref().map_or(Tests::NONE, |given| given.tests);
        let outputs = uvs::Layout {
            scalars: vertex_info.user_scalars,
            point_size: vertex_info.point_size,
            layer_viewport: vertex_info.layer || vertex_info.viewport,
            clip_distances: vertex_info.clip_distances,
        };
        let front = VertexState {
            // Each draw has its own.
            launcher: LauncherAddress::from_units(0).map_err(record)?,
            outputs: outputs.words().map_err(record)?,
            provoking: raster.provoking,
            primitive_id: fragment_info.uses_primitive_id,
        };
        Ok(GraphicsPipeline {
            views,
            outputs,
            front: Front::new(&front).map_err(record)?,
            dynamic: *dynamic,
            state: state(input, pre, &tests, output),
            polygon: raster.polygon,
            depth_clip: raster.depth_clip,
            depth_clamp: raster.depth_clamp,
            provoking: raster.provoking,
            bresenham: raster.bresenham,
            shows_below: stages.shows_below,
            merged: (parts.output.as_ref())
                .map(|output| output.formats.merged.clone().map(Box::new)),
            source: (output.is_of_several).then(|| Box::new(parts.borrow().into_owned())),
            others: Mutex::new(Vec::new()),
            samples: output.samples,
            shader_depth: match (fragment_info.writes_depth, fragment_info.depth_layout) {
                (false, _) => ShaderDepth::Unchanged,
                (true, DepthLayout::Greater) => ShaderDepth::Greater,
                (true, DepthLayout::Less) => ShaderDepth::Less,
                // The program writes what it says it does not change, and tests must wait for that.
                (true, DepthLayout::Any | DepthLayout::Unchanged) => ShaderDepth::Any,
            },
            table,
            bindings,
            vertex_buffers: input.buffers,
            executables,
            vertex_info,
            fragment_info,
        })
    }
}

/// Parts of pipelines, to be linked.
pub(crate) struct Library(Box<Parts<'static>>);

impl Library {
    /// # Errors
    /// [`vk::Result::PIPELINE_COMPILE_REQUIRED`] when a shader is only known by its identifier: whether
    /// a cache has it depends on the parts that are linked, and then it would be too late to say so.
    fn new(parts: Parts<'_>) -> VkResult<Library> {
        if parts.modules().any(|module| module.words.is_empty()) {
            return Err(vk::Result::PIPELINE_COMPILE_REQUIRED);
        }
        Ok(Library(Box::new(parts.into_owned())))
    }

    fn parts(&self) -> &Parts<'static> {
        &self.0
    }
}

fn refuse<T>(why: &dyn std::fmt::Display) -> VkResult<T> {
    debug::error(&format_args!("a graphics pipeline: {why}"));
    Err(vk::Result::ERROR_UNKNOWN)
}

/// Shaders are found or compiled in the order of their dependence.
struct Stages<'a> {
    vertex: Source<'a>,
    fragment: Module<'a>,
    lowering: FragmentLowering,
    tile: TileLayout,
    /// Fragments leave something of what is below them.
    shows_below: bool,
}

type Found = (Arc<Shader>, Option<Texts>);

/// The fragment shader of pipelines without one.
fn empty_fragment<'a>() -> Module<'a> {
    let words = spirv_words(include_bytes!(concat!(env!("OUT_DIR"), "/empty.spv")));
    Module::own(&words).into_owned()
}

impl<'a> Stages<'a> {
    fn new(
        input: &VertexInput,
        pre: &'a PreRasterization<'_>,
        fragment: Option<&'a Fragment<'_>>,
        output: &Output,
    ) -> VkResult<Stages<'a>> {
        let samples = output.samples;
        let targets = Targets::new(&output.formats, samples)?;
        let given = fragment.and_then(|given| given.module.as_ref());
        let sample_shading = fragment.and_then(|given| given.sample_shading);
        let attachments = targets.attachments(&output.blend, output.locations.as_deref())?;
        let writes = given.is_some() && output.logic_op != Some(LogicOp::NoOp);
        let written = if writes {
            attachments
        } else {
            [None; MAX_COLOUR]
        };
        Ok(Stages {
            shows_below: targets.shows_below(&written),
            vertex: Source {
                module: &pre.vertex,
                lowering: Lowering::Vertex(VertexLowering {
                    bindings: pre.bindings.clone(),
                    robust: pre.vertex.robust,
                    custom_border_colors: pre.vertex.custom_border_colors,
                    attributes: input.attributes.clone(),
                    point_size: input.topology == Primitive::Points
                        || pre.raster.polygon == PolygonMode::Point,
                    ..VertexLowering::default()
                }),
            },
            fragment: given.map_or_else(empty_fragment, |given| given.borrow()),
            lowering: FragmentLowering {
                bindings: fragment.map_or_else(Vec::new, |given| given.bindings.clone()),
                robust: given.is_some_and(|module| module.robust),
                custom_border_colors: given.is_some_and(|module| module.custom_border_colors),
                samples: samples.count() as u8,
                attachments,
                inputs: targets.inputs()?,
                sample_shading: sample_shading
                    .is_some_and(|least| least * samples.count() as f32 > 1.0),
                alpha_to_coverage: output.alpha_to_coverage,
                alpha_to_one: output.alpha_to_one,
                sample_mask: output.sample_mask,
                logic_op: output.logic_op,
                ..FragmentLowering::default()
            },
            tile: targets.tile,
        })
    }

    fn fragment_source(&self, view: Option<u32>) -> Source<'_> {
        let lowering = FragmentLowering {
            view,
            ..self.lowering.clone()
        };
        Source {
            module: &self.fragment,
            lowering: Lowering::Fragment(lowering, self.tile.storage()),
        }
    }

    /// Both shaders of a view.
    fn shaders(
        &mut self,
        search: Search<'_>,
        view: Option<u32>,
        feedback: &mut Feedback,
    ) -> VkResult<[Found; 2]> {
        let fragment = search.shader(&self.fragment_source(view), feedback)?;
        if let (Lowering::Vertex(lowering), StageInfo::Fragment(info)) =
            (&mut self.vertex.lowering, &fragment.0.stage)
        {
            let read = info.varyings.iter();
            let places = read.map(|varying| (varying.location, varying.component));
            lowering.varyings = Some(places.collect());
            lowering.view = view;
        }
        Ok([search.shader(&self.vertex, feedback)?, fragment])
    }
}

/// The coefficient table of a fragment shader, and how many bindings it has.
fn coefficient_table(
    gpu: &Arc<Gpu>,
    info: &FragmentInfo,
    provoking: Provoking,
) -> VkResult<(Slice, u8)> {
    let table = Table::new(&Inputs {
        scalars: &interpolations(info),
        provoking,
        primitive_id: info.uses_primitive_id,
        fragment_z: info.uses_frag_z,
        point_coordinate: info.uses_point_coord,
    })
    .map_err(record)?;
    let mut packed = [0; TABLE_SIZE];
    table.pack(&mut packed).map_err(record)?;
    let memory = gpu.allocate(Zone::Code, TABLE_SIZE as u64, TABLE_ALIGN.into())?;
    // SAFETY: just allocated.
    unsafe { memory.write(0, &packed) };
    Ok((memory, table.count()))
}

fn interpolations(info: &FragmentInfo) -> Vec<Interpolation> {
    let one = |mode| match mode {
        VaryingMode::Smooth => Interpolation::Smooth,
        VaryingMode::Flat => Interpolation::Flat,
        VaryingMode::Linear => Interpolation::Linear,
    };
    info.varyings
        .iter()
        .map(|varying| one(varying.mode))
        .collect()
}

/// What the pipeline itself says.
fn state(input: &VertexInput, pre: &PreRasterization<'_>, tests: &Tests, output: &Output) -> State {
    let raster = &pre.raster;
    // Tests of what is not there pass.
    let tests = match output.has_depth_stencil() {
        true => tests,
        false => &Tests::NONE,
    };
    State {
        topology: input.topology,
        restart: input.restart,
        strides: input.strides,
        viewports: raster.viewports.clone(),
        scissors: raster.scissors.clone(),
        discard: raster.discard,
        cull: raster.cull,
        front: raster.front,
        depth_bias_enable: raster.depth_bias_enable,
        depth_bias: raster.depth_bias,
        line_width: raster.line_width,
        depth_test: tests.depth,
        depth_write: tests.depth_write,
        depth_compare: tests.depth_compare,
        stencil_test: tests.stencil,
        stencil: tests.faces,
        blend_constants: output.blend_constants,
    }
}

/// vkCreateGraphicsPipelines.
pub(crate) unsafe extern "system" fn create_graphics_pipelines(
    device: vk::Device,
    cache: vk::PipelineCache,
    count: u32,
    infos: *const vk::GraphicsPipelineCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    pipelines: *mut vk::Pipeline,
) -> vk::Result {
    entry::try_guard("vkCreateGraphicsPipelines", || {
        // SAFETY: valid by the specification.
        unsafe {
            let device = object::get::<Device>(device);
            let cache = object::get_optional::<PipelineCache>(cache);
            let host = device.allocator(allocator);
            let infos = entry::slice(infos, count);
            create_each(host, infos, pipelines, |info, flags, feedback| {
                let search = Search::new(device, cache, flags);
                let parts = Parts::of(device, info, flags)?;
                match flags.contains(vk::PipelineCreateFlags::LIBRARY_KHR) {
                    true => Library::new(parts).map(Pipeline::Library),
                    false => GraphicsPipeline::build(search, host, &parts, feedback)
                        .map(Pipeline::Graphics),
                }
            })
        }
    })
}

#[cfg(test)]
mod tests;
