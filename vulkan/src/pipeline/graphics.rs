// SPDX-License-Identifier: MIT
//! Graphics pipelines: two shaders compiled for one another and for their attachments, and the state of
//! their draws.
//!
//! Everything that needs code is compiled here: blending, write masks, formats of attachments and of
//! attributes are part of the shaders (isa-3, 4.6 and 5.1; HW). What a draw then writes is a record.

use std::ffi::CStr;
use std::sync::{Arc, LazyLock};

use agx_compiler::Listing;
use agx_compiler::binary::{
    DepthLayout, FragmentInfo, ShaderBinary, StageInfo, Statistics, VaryingMode, VertexInfo,
};
use agx_hw::coefficient::{Inputs, Interpolation, TABLE_ALIGN, TABLE_SIZE, Table};
use agx_hw::format::Format;
use agx_hw::launcher::{Samples, Storage};
use agx_hw::ppp::{PolygonMode, ShaderDepth};
use agx_hw::tile::Layout as TileLayout;
use agx_hw::uvs;
use agx_hw::vdm::Provoking;
use ash::vk;
use mesa_nir::{
    Attachment, Attribute, Blend, BlendEquation, BlendFactor, BlendOp, CompilerOptions,
    FragmentLowering, LogicOp, Rate, SpecConstant, SpirvOptions, Stage, VertexLowering,
    spirv_to_nir,
};

use super::compile::{disassemble, print_listing, result_of};
use super::compute::{constants, create_each, spirv};
use super::graphics_state::{Dynamic, MAX_VERTEX_BUFFERS, State, StencilFace, primitive};
use super::{Pipeline, robustness};
use crate::debug::{self, Flags};
use crate::device::Device;
use crate::entry;
use crate::error::{VkResult, record};
use crate::gpu::{Slice, Zone};
use crate::image::{description, format};
use crate::internal::spirv_words;
use crate::object;
use crate::pipeline_layout::PipelineLayout;
use crate::program::Program;
use crate::render_pass::RenderPass;
use crate::rendering::{self, AttachmentFormats, MAX_COLOUR};

static OPTIONS: LazyLock<Arc<CompilerOptions>> =
    LazyLock::new(|| Arc::new(CompilerOptions::apple9()));
static SPIRV: LazyLock<SpirvOptions> = LazyLock::new(SpirvOptions::apple9_graphics);

/// A graphics pipeline.
pub(crate) struct GraphicsPipeline {
    /// By view; one without multiview.
    pub(crate) views: Vec<View>,
    pub(crate) vertex_info: VertexInfo,
    pub(crate) fragment_info: FragmentInfo,
    /// Words of a vertex.
    pub(crate) outputs: uvs::Layout,
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
    /// The coefficient table.
    pub(crate) table: Slice,
    /// Bindings of it.
    pub(crate) bindings: u8,
    /// One more than the last vertex buffer that is read.
    pub(crate) vertex_buffers: usize,
    /// Of either stage.
    stats: [Statistics; 2],
}

/// The programs of a view.
pub(crate) struct View {
    pub(crate) vertex: Arc<Program>,
    pub(crate) fragment: Arc<Program>,
}

impl GraphicsPipeline {
    /// Statistics of the stages.
    pub(super) fn statistics(&self) -> [(vk::ShaderStageFlags, &Statistics); 2] {
        [
            (vk::ShaderStageFlags::VERTEX, &self.stats[0]),
            (vk::ShaderStageFlags::FRAGMENT, &self.stats[1]),
        ]
    }

    /// # Safety
    /// The structure is valid.
    pub(crate) unsafe fn new(
        device: &Device,
        info: &vk::GraphicsPipelineCreateInfo<'_>,
    ) -> VkResult<GraphicsPipeline> {
        // SAFETY: the caller's promise.
        unsafe {
            let stages = Stages::of(device, info)?;
            let layout = object::get_optional::<PipelineLayout>(info.layout);
            let bindings = layout.map_or_else(Vec::new, PipelineLayout::describe);
            let dynamic = dynamic(info)?;
            let formats = formats(info);
            let rasterization = &*info.p_rasterization_state;
            let discards = rasterization.rasterizer_discard_enable == vk::TRUE
                && !dynamic.contains(Dynamic::DISCARD);
            let multisample = match discards {
                true => None,
                false => info.p_multisample_state.as_ref(),
            };
            // Pointers to what is ignored need not be valid.
            let valid = |is_used: bool| !discards && is_used;
            let is_there = |format: &vk::Format| *format != vk::Format::UNDEFINED;
            let blend = match valid(formats.colour.iter().any(is_there)) {
                true => info.p_color_blend_state.as_ref(),
                false => None,
            };
            let depth_stencil = match valid([formats.depth, formats.stencil].iter().any(is_there)) {
                true => info.p_depth_stencil_state.as_ref(),
                false => None,
            };
            let viewports = match discards {
                true => None,
                false => info.p_viewport_state.as_ref(),
            };
            let samples = multisample.map_or(vk::SampleCountFlags::TYPE_1, |multisample| {
                multisample.rasterization_samples
            });
            let Some(samples) = description::samples(samples) else {
                return refuse(&format_args!("{samples:?} samples"));
            };
            let colour = colour_formats(&formats)?;
            let tile = TileLayout::new(&colour, samples).map_err(record)?;
            let mut masked = rendering::views(formats.view_mask);
            let first = masked.next().flatten();
            let mut fragment_lowering = FragmentLowering {
                view: first,
                bindings: bindings.clone(),
                robust: stages.robust_fragment,
                samples: samples.count() as u8,
                attachments: attachments(&colour, &tile, blend)?,
                sample_shading: multisample.is_some_and(|multisample| {
                    multisample.sample_shading_enable == vk::TRUE
                        && multisample.min_sample_shading * samples.count() as f32 > 1.0
                }),
                alpha_to_coverage: multisample
                    .is_some_and(|multisample| multisample.alpha_to_coverage_enable == vk::TRUE),
                alpha_to_one: multisample
                    .is_some_and(|multisample| multisample.alpha_to_one_enable == vk::TRUE),
                sample_mask: multisample
                    .and_then(|multisample| multisample.p_sample_mask.as_ref())
                    .copied()
                    .unwrap_or(u32::MAX),
                logic_op: blend
                    .filter(|blend| blend.logic_op_enable == vk::TRUE)
                    .map(|blend| logic_op(blend.logic_op)),
                ..FragmentLowering::default()
            };
            let fragment = stages.compile_fragment(&fragment_lowering)?;
            let StageInfo::Fragment(fragment_info) = fragment.stage.clone() else {
                return refuse(&"a fragment shader of another stage");
            };
            let assembly = info.p_input_assembly_state.as_ref();
            let topology = assembly.map_or(vk::PrimitiveTopology::TRIANGLE_LIST, |assembly| {
                assembly.topology
            });
            let Some(topology) = primitive(topology) else {
                return refuse(&format_args!("{topology:?} is not offered"));
            };
            let (attributes, strides, vertex_buffers) = vertex_input(info)?;
            let mut vertex_lowering = VertexLowering {
                view: first,
                bindings,
                robust: stages.robust_vertex,
                attributes,
                varyings: Some(
                    fragment_info
                        .varyings
                        .iter()
                        .map(|varying| (varying.location, varying.component))
                        .collect(),
                ),
                point_size: topology == agx_hw::vdm::Primitive::Points
                    || rasterization.polygon_mode == vk::PolygonMode::POINT,
                ..VertexLowering::default()
            };
            let vertex = stages.compile_vertex(&vertex_lowering)?;
            let StageInfo::Vertex(vertex_info) = vertex.stage.clone() else {
                return refuse(&"a vertex shader of another stage");
            };
            let provoking = provoking(rasterization);
            let table = Table::new(&Inputs {
                scalars: &interpolations(&fragment_info),
                provoking,
                primitive_id: fragment_info.uses_primitive_id,
                fragment_z: fragment_info.uses_frag_z,
                point_coordinate: fragment_info.uses_point_coord,
            })
            .map_err(record)?;
            let mut packed = [0; TABLE_SIZE];
            table.pack(&mut packed).map_err(record)?;
            let table_memory =
                device
                    .gpu
                    .allocate(Zone::Code, TABLE_SIZE as u64, TABLE_ALIGN.into())?;
            table_memory.write(0, &packed);
            let upload = |binary: &ShaderBinary, storage| {
                Program::upload_graphics(&device.gpu, &device.arena, binary, storage)
            };
            let view_of = |vertex: &ShaderBinary, fragment: &ShaderBinary| -> VkResult<View> {
                Ok(View {
                    vertex: Arc::new(upload(vertex, Storage::None)?),
                    fragment: Arc::new(upload(fragment, tile.storage())?),
                })
            };
            let mut views = vec![view_of(&vertex, &fragment)?];
            // Shaders of other views differ in nothing but the number of the view.
            for view in masked {
                (vertex_lowering.view, fragment_lowering.view) = (view, view);
                views.push(view_of(
                    &stages.compile_vertex(&vertex_lowering)?,
                    &stages.compile_fragment(&fragment_lowering)?,
                )?);
            }
            let clamp = rasterization.depth_clamp_enable == vk::TRUE;
            type Clip<'a> = vk::PipelineRasterizationDepthClipStateCreateInfoEXT<'a>;
            let clip = entry::find::<Clip<'_>>(rasterization.p_next);
            Ok(GraphicsPipeline {
                views,
                outputs: uvs::Layout {
                    scalars: vertex_info.user_scalars,
                    point_size: vertex_info.point_size,
                    layer_viewport: vertex_info.layer || vertex_info.viewport,
                    clip_distances: vertex_info.clip_distances,
                },
                dynamic,
                state: State {
                    topology,
                    strides,
                    ..state(info, dynamic, viewports, depth_stencil, blend)
                },
                polygon: match rasterization.polygon_mode {
                    vk::PolygonMode::LINE => PolygonMode::Line,
                    vk::PolygonMode::POINT => PolygonMode::Point,
                    _ => PolygonMode::Fill,
                },
                depth_clip: clip.map_or(!clamp, |clip| clip.depth_clip_enable == vk::TRUE),
                depth_clamp: clamp,
                provoking,
                bresenham: bresenham(rasterization),
                samples,
                shader_depth: match (fragment_info.writes_depth, fragment_info.depth_layout) {
                    (false, _) => ShaderDepth::Unchanged,
                    (true, DepthLayout::Greater) => ShaderDepth::Greater,
                    (true, DepthLayout::Less) => ShaderDepth::Less,
                    // The program writes what it says it does not change, and tests must wait for that.
                    (true, DepthLayout::Any | DepthLayout::Unchanged) => ShaderDepth::Any,
                },
                table: table_memory,
                bindings: table.count(),
                vertex_buffers,
                stats: [vertex.stats, fragment.stats],
                vertex_info,
                fragment_info,
            })
        }
    }
}

fn refuse<T>(why: &dyn std::fmt::Display) -> VkResult<T> {
    debug::error(&format_args!("a graphics pipeline: {why}"));
    Err(vk::Result::ERROR_UNKNOWN)
}

/// The shaders of a pipeline.
struct Stages<'a> {
    vertex: Module<'a>,
    /// Nothing: fragments do nothing but what tests do.
    fragment: Option<Module<'a>>,
    robust_vertex: bool,
    robust_fragment: bool,
}

struct Module<'a> {
    words: &'a [u32],
    entry_point: &'a str,
    constants: Vec<SpecConstant>,
}

impl<'a> Stages<'a> {
    /// # Safety
    /// The structure is valid for `'a`.
    unsafe fn of(
        device: &Device,
        info: &vk::GraphicsPipelineCreateInfo<'a>,
    ) -> VkResult<Stages<'a>> {
        let (mut vertex, mut fragment) = (None, None);
        let (mut robust_vertex, mut robust_fragment) = (false, false);
        // SAFETY: the caller's promise.
        for stage in unsafe { entry::slice(info.p_stages, info.stage_count) } {
            // SAFETY: as above.
            let (module, is_robust) = unsafe {
                (
                    Module::of(stage)?,
                    robustness::stage_is_robust(device, info.p_next, stage.p_next),
                )
            };
            match stage.stage {
                vk::ShaderStageFlags::VERTEX => {
                    (vertex, robust_vertex) = (Some(module), is_robust);
                }
                vk::ShaderStageFlags::FRAGMENT => {
                    (fragment, robust_fragment) = (Some(module), is_robust);
                }
                other => return refuse(&format_args!("{other:?} is not offered")),
            }
        }
        let Some(vertex) = vertex else {
            return refuse(&"no vertex shader");
        };
        Ok(Stages {
            vertex,
            fragment,
            robust_vertex,
            robust_fragment,
        })
    }

    fn compile_vertex(&self, lowering: &VertexLowering) -> VkResult<ShaderBinary> {
        self.vertex.compile(Stage::Vertex, |shader, listing| {
            agx_compiler::compile_vertex(shader, lowering, listing)
        })
    }

    fn compile_fragment(&self, lowering: &FragmentLowering) -> VkResult<ShaderBinary> {
        let compile = |module: &Module<'_>| {
            module.compile(Stage::Fragment, |shader, listing| {
                agx_compiler::compile_fragment(shader, lowering, listing)
            })
        };
        match &self.fragment {
            Some(module) => compile(module),
            None => {
                let words = spirv_words(include_bytes!(concat!(env!("OUT_DIR"), "/empty.spv")));
                compile(&Module {
                    words: &words,
                    entry_point: "main",
                    constants: Vec::new(),
                })
            }
        }
    }
}

impl<'a> Module<'a> {
    /// # Safety
    /// The structure is valid for `'a`.
    unsafe fn of(stage: &vk::PipelineShaderStageCreateInfo<'a>) -> VkResult<Module<'a>> {
        // SAFETY: the caller's promise.
        unsafe {
            let Some(spirv) = spirv(stage) else {
                return refuse(&"no shader module, nor SPIR-V with the stage");
            };
            let Ok(entry_point) = CStr::from_ptr(stage.p_name).to_str() else {
                return refuse(&"an entry point that is not UTF-8");
            };
            let constants = stage.p_specialization_info.as_ref();
            Ok(Module {
                words: spirv.words,
                entry_point,
                constants: constants.map_or_else(Vec::new, |info| self::constants(info)),
            })
        }
    }

    fn compile(
        &self,
        stage: Stage,
        compile: impl FnOnce(
            mesa_nir::Shader,
            Option<&mut Listing>,
        ) -> Result<ShaderBinary, agx_compiler::Error>,
    ) -> VkResult<ShaderBinary> {
        let mut listing = debug::has(Flags::NIR | Flags::IR).then(Listing::default);
        let made = spirv_to_nir(
            self.words,
            stage,
            self.entry_point,
            &self.constants,
            &SPIRV,
            &OPTIONS,
        )
        .map_err(agx_compiler::Error::from)
        .and_then(|shader| compile(shader, listing.as_mut()));
        if let Some(listing) = listing {
            print_listing(&format_args!("{stage:?} shader"), &listing);
        }
        if let Ok(binary) = &made
            && debug::has(Flags::ASM)
        {
            let text = disassemble(binary);
            debug::print(&format_args!("{stage:?} shader:\n{text}"));
        }
        made.map_err(|error| {
            debug::error(&format_args!(
                "the {stage:?} shader {:?}: {error}",
                self.entry_point
            ));
            result_of(&error)
        })
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
        }
    }
}

/// The hardware's formats of colour attachments.
pub(crate) fn colour_formats(formats: &AttachmentFormats) -> VkResult<Vec<Option<Format>>> {
    let one = |format: &vk::Format| match *format {
        vk::Format::UNDEFINED => Ok(None),
        other => match format::single(other) {
            Some(format) if format.tile_word().is_some() => Ok(Some(format)),
            _ => refuse(&format_args!("{other:?} is no colour attachment")),
        },
    };
    formats.colour.iter().map(one).collect()
}

fn attachments(
    formats: &[Option<Format>],
    tile: &TileLayout,
    blend: Option<&vk::PipelineColorBlendStateCreateInfo<'_>>,
) -> VkResult<[Option<Attachment>; MAX_COLOUR]> {
    // SAFETY: valid by the specification, as the structure is.
    let states = blend.map_or(&[][..], |blend| unsafe {
        entry::slice(blend.p_attachments, blend.attachment_count)
    });
    let mut all = [None; MAX_COLOUR];
    for (at, (to, placed)) in all.iter_mut().zip(tile.attachments()).enumerate() {
        let (Some(format), Some(placed)) = (formats[at], placed) else {
            continue;
        };
        let Some(format) = agx_compiler::colour_format(format) else {
            return refuse(&format_args!("no tile format of {}", format.name()));
        };
        let state = states.get(at);
        *to = Some(Attachment {
            format,
            word: placed.offset / 4,
            write_mask: state.map_or(0xf, |state| state.color_write_mask.as_raw() as u8 & 0xf),
            blend: state
                .filter(|state| state.blend_enable == vk::TRUE)
                .map(|state| Blend {
                    colour: BlendEquation {
                        op: blend_op(state.color_blend_op),
                        src: blend_factor(state.src_color_blend_factor),
                        dst: blend_factor(state.dst_color_blend_factor),
                    },
                    alpha: BlendEquation {
                        op: blend_op(state.alpha_blend_op),
                        src: blend_factor(state.src_alpha_blend_factor),
                        dst: blend_factor(state.dst_alpha_blend_factor),
                    },
                }),
            input: None,
        });
    }
    Ok(all)
}

fn blend_op(op: vk::BlendOp) -> BlendOp {
    match op {
        vk::BlendOp::SUBTRACT => BlendOp::Subtract,
        vk::BlendOp::REVERSE_SUBTRACT => BlendOp::ReverseSubtract,
        vk::BlendOp::MIN => BlendOp::Min,
        vk::BlendOp::MAX => BlendOp::Max,
        _ => BlendOp::Add,
    }
}

fn blend_factor(factor: vk::BlendFactor) -> BlendFactor {
    use vk::BlendFactor as F;
    match factor {
        F::ONE => BlendFactor::One,
        F::SRC_COLOR => BlendFactor::SrcColour,
        F::ONE_MINUS_SRC_COLOR => BlendFactor::OneMinusSrcColour,
        F::DST_COLOR => BlendFactor::DstColour,
        F::ONE_MINUS_DST_COLOR => BlendFactor::OneMinusDstColour,
        F::SRC_ALPHA => BlendFactor::SrcAlpha,
        F::ONE_MINUS_SRC_ALPHA => BlendFactor::OneMinusSrcAlpha,
        F::DST_ALPHA => BlendFactor::DstAlpha,
        F::ONE_MINUS_DST_ALPHA => BlendFactor::OneMinusDstAlpha,
        F::CONSTANT_COLOR => BlendFactor::ConstantColour,
        F::ONE_MINUS_CONSTANT_COLOR => BlendFactor::OneMinusConstantColour,
        F::CONSTANT_ALPHA => BlendFactor::ConstantAlpha,
        F::ONE_MINUS_CONSTANT_ALPHA => BlendFactor::OneMinusConstantAlpha,
        F::SRC_ALPHA_SATURATE => BlendFactor::SrcAlphaSaturate,
        F::SRC1_COLOR => BlendFactor::Src1Colour,
        F::ONE_MINUS_SRC1_COLOR => BlendFactor::OneMinusSrc1Colour,
        F::SRC1_ALPHA => BlendFactor::Src1Alpha,
        F::ONE_MINUS_SRC1_ALPHA => BlendFactor::OneMinusSrc1Alpha,
        _ => BlendFactor::Zero,
    }
}

fn logic_op(op: vk::LogicOp) -> LogicOp {
    match op {
        vk::LogicOp::AND => LogicOp::And,
        vk::LogicOp::AND_REVERSE => LogicOp::AndReverse,
        vk::LogicOp::COPY => LogicOp::Copy,
        vk::LogicOp::AND_INVERTED => LogicOp::AndInverted,
        vk::LogicOp::NO_OP => LogicOp::NoOp,
        vk::LogicOp::XOR => LogicOp::Xor,
        vk::LogicOp::OR => LogicOp::Or,
        vk::LogicOp::NOR => LogicOp::Nor,
        vk::LogicOp::EQUIVALENT => LogicOp::Equivalent,
        vk::LogicOp::INVERT => LogicOp::Invert,
        vk::LogicOp::OR_REVERSE => LogicOp::OrReverse,
        vk::LogicOp::COPY_INVERTED => LogicOp::CopyInverted,
        vk::LogicOp::OR_INVERTED => LogicOp::OrInverted,
        vk::LogicOp::NAND => LogicOp::Nand,
        vk::LogicOp::SET => LogicOp::Set,
        _ => LogicOp::Clear,
    }
}

type VertexInput = (Vec<Attribute>, [u32; MAX_VERTEX_BUFFERS], usize);

/// Attributes, strides, and one more than the last buffer.
///
/// # Safety
/// The structure is valid.
unsafe fn vertex_input(info: &vk::GraphicsPipelineCreateInfo<'_>) -> VkResult<VertexInput> {
    type Divisors<'a> = vk::PipelineVertexInputDivisorStateCreateInfoKHR<'a>;
    let mut strides = [0; MAX_VERTEX_BUFFERS];
    // SAFETY: the caller's promise.
    let Some(input) = (unsafe { info.p_vertex_input_state.as_ref() }) else {
        return Ok((Vec::new(), strides, 0));
    };
    // SAFETY: as above.
    let (bindings, attributes, divisors) = unsafe {
        let divisors = entry::find::<Divisors<'_>>(input.p_next);
        (
            entry::slice(
                input.p_vertex_binding_descriptions,
                input.vertex_binding_description_count,
            ),
            entry::slice(
                input.p_vertex_attribute_descriptions,
                input.vertex_attribute_description_count,
            ),
            divisors.map_or(&[][..], |divisors| {
                entry::slice(
                    divisors.p_vertex_binding_divisors,
                    divisors.vertex_binding_divisor_count,
                )
            }),
        )
    };
    for binding in bindings {
        if let Some(stride) = strides.get_mut(binding.binding as usize) {
            *stride = binding.stride;
        }
    }
    let mut all = Vec::with_capacity(attributes.len());
    let mut end = 0;
    for attribute in attributes {
        let binding = bindings.iter().find(|b| b.binding == attribute.binding);
        let by_instance = binding.is_some_and(|b| b.input_rate == vk::VertexInputRate::INSTANCE);
        let divisor = divisors.iter().find(|d| d.binding == attribute.binding);
        let (Ok(location), Ok(binding)) = (
            u8::try_from(attribute.location),
            u8::try_from(attribute.binding),
        ) else {
            return refuse(&"an attribute's location or binding");
        };
        if usize::from(binding) >= MAX_VERTEX_BUFFERS {
            return refuse(&format_args!("vertex buffer {binding}"));
        }
        end = end.max(usize::from(binding) + 1);
        all.push(Attribute {
            location,
            binding,
            offset: attribute.offset,
            format: attribute.format.as_raw(),
            rate: match by_instance {
                false => Rate::Vertex,
                true => Rate::Instance {
                    divisor: divisor.map_or(1, |divisor| divisor.divisor),
                },
            },
        });
    }
    Ok((all, strides, end))
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

/// What the pipeline itself says, but for its vertices.
///
/// # Safety
/// The structure is valid.
unsafe fn state(
    info: &vk::GraphicsPipelineCreateInfo<'_>,
    dynamic: Dynamic,
    viewports: Option<&vk::PipelineViewportStateCreateInfo<'_>>,
    depth_stencil: Option<&vk::PipelineDepthStencilStateCreateInfo<'_>>,
    blend: Option<&vk::PipelineColorBlendStateCreateInfo<'_>>,
) -> State {
    // SAFETY: the caller's promise.
    unsafe {
        let rasterization = &*info.p_rasterization_state;
        let mut state = State {
            restart: info
                .p_input_assembly_state
                .as_ref()
                .is_some_and(|assembly| assembly.primitive_restart_enable == vk::TRUE),
            discard: rasterization.rasterizer_discard_enable == vk::TRUE,
            cull: rasterization.cull_mode,
            front: rasterization.front_face,
            depth_bias_enable: rasterization.depth_bias_enable == vk::TRUE,
            depth_bias: [
                rasterization.depth_bias_constant_factor,
                rasterization.depth_bias_clamp,
                rasterization.depth_bias_slope_factor,
            ],
            line_width: rasterization.line_width,
            ..State::default()
        };
        if let Some(viewports) = viewports {
            // What is dynamic is ignored, and need not be valid.
            if !dynamic.contains(Dynamic::VIEWPORT) && !viewports.p_viewports.is_null() {
                let given = entry::slice(viewports.p_viewports, viewports.viewport_count);
                state.viewports = given.iter().copied().take(16).collect();
            }
            if !dynamic.contains(Dynamic::SCISSOR) && !viewports.p_scissors.is_null() {
                let given = entry::slice(viewports.p_scissors, viewports.scissor_count);
                state.scissors = given.iter().copied().take(16).collect();
            }
        }
        if let Some(depth) = depth_stencil {
            state.depth_test = depth.depth_test_enable == vk::TRUE;
            state.depth_write = depth.depth_write_enable == vk::TRUE;
            state.depth_compare = depth.depth_compare_op;
            state.stencil_test = depth.stencil_test_enable == vk::TRUE;
            state.stencil = [depth.front, depth.back].map(|face| StencilFace {
                fail: face.fail_op,
                pass: face.pass_op,
                depth_fail: face.depth_fail_op,
                compare: face.compare_op,
                compare_mask: face.compare_mask as u8,
                write_mask: face.write_mask as u8,
                reference: face.reference as u8,
            });
        }
        if let Some(blend) = blend {
            state.blend_constants = blend.blend_constants;
        }
        state
    }
}

/// vkCreateGraphicsPipelines.
pub(crate) unsafe extern "system" fn create_graphics_pipelines(
    device: vk::Device,
    _cache: vk::PipelineCache,
    count: u32,
    infos: *const vk::GraphicsPipelineCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    pipelines: *mut vk::Pipeline,
) -> vk::Result {
    entry::try_guard("vkCreateGraphicsPipelines", || {
        // SAFETY: valid by the specification.
        unsafe {
            let device = object::get::<Device>(device);
            let host = device.allocator(allocator);
            let infos = entry::slice(infos, count);
            let common = |info: &vk::GraphicsPipelineCreateInfo<'_>| (info.flags, info.p_next);
            create_each(host, infos, pipelines, common, |info, flags, _| {
                // No cache keeps the shaders.
                if flags.contains(vk::PipelineCreateFlags::FAIL_ON_PIPELINE_COMPILE_REQUIRED) {
                    return Err(vk::Result::PIPELINE_COMPILE_REQUIRED);
                }
                GraphicsPipeline::new(device, info).map(Pipeline::Graphics)
            })
        }
    })
}

#[cfg(test)]
mod tests;
