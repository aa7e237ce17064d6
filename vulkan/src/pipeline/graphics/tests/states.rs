// SPDX-License-Identifier: MIT
//! Random states, made with a cache that all of them share: each gets the programs that compiling it
//! alone gives.

use proptest::prelude::*;

use super::*;
use crate::pipeline::compile::compile;
use crate::pipeline::{binary, key::Key};

/// Two attributes to two varyings.
const VERTEX: &str = r#"
               OpCapability Shader
               OpMemoryModel Logical GLSL450
               OpEntryPoint Vertex %main "main" %position %a %b %x %y
               OpDecorate %position BuiltIn Position
               OpDecorate %a Location 0
               OpDecorate %b Location 1
               OpDecorate %x Location 0
               OpDecorate %y Location 1
       %void = OpTypeVoid
         %fn = OpTypeFunction %void
      %float = OpTypeFloat 32
       %vec4 = OpTypeVector %float 4
         %in = OpTypePointer Input %vec4
        %out = OpTypePointer Output %vec4
   %position = OpVariable %out Output
          %a = OpVariable %in Input
          %b = OpVariable %in Input
          %x = OpVariable %out Output
          %y = OpVariable %out Output
       %main = OpFunction %void None %fn
      %start = OpLabel
         %av = OpLoad %vec4 %a
         %bv = OpLoad %vec4 %b
        %sum = OpFAdd %vec4 %av %bv
               OpStore %position %sum
               OpStore %x %av
               OpStore %y %bv
               OpReturn
               OpFunctionEnd
"#;

/// One varying, or both: a constant says.
const FRAGMENT: &str = r#"
               OpCapability Shader
               OpMemoryModel Logical GLSL450
               OpEntryPoint Fragment %main "main" %x %y %colour
               OpExecutionMode %main OriginUpperLeft
               OpDecorate %both SpecId 7
               OpDecorate %x Location 0
               OpDecorate %y Location 1
               OpDecorate %colour Location 0
       %void = OpTypeVoid
         %fn = OpTypeFunction %void
      %float = OpTypeFloat 32
       %vec4 = OpTypeVector %float 4
       %bool = OpTypeBool
       %both = OpSpecConstantFalse %bool
         %in = OpTypePointer Input %vec4
        %out = OpTypePointer Output %vec4
          %x = OpVariable %in Input
          %y = OpVariable %in Input
     %colour = OpVariable %out Output
       %main = OpFunction %void None %fn
      %start = OpLabel
         %xv = OpLoad %vec4 %x
               OpStore %colour %xv
               OpSelectionMerge %end None
               OpBranchConditional %both %more %end
       %more = OpLabel
         %yv = OpLoad %vec4 %y
        %sum = OpFAdd %vec4 %xv %yv
               OpStore %colour %sum
               OpBranch %end
        %end = OpLabel
               OpReturn
               OpFunctionEnd
"#;

/// What differs.
#[derive(Clone, Debug)]
struct Random {
    both: bool,
    attributes: [(usize, u32, u32); 2],
    divisor: Option<u32>,
    topology: vk::PrimitiveTopology,
    polygon: vk::PolygonMode,
    format: vk::Format,
    write_mask: u32,
    blend: Option<(i32, [i32; 2], i32, [i32; 2])>,
    logic_op: Option<i32>,
    samples: vk::SampleCountFlags,
    mask: u32,
    alpha: (bool, bool),
    shading: Option<f32>,
    views: u32,
    robust: bool,
}

const ATTRIBUTES: [vk::Format; 4] = [
    vk::Format::R32G32B32A32_SFLOAT,
    vk::Format::R8G8B8A8_UNORM,
    vk::Format::R16G16_SNORM,
    vk::Format::A2B10G10R10_UNORM_PACK32,
];

fn random() -> impl Strategy<Value = Random> {
    let attribute = || {
        (
            0..ATTRIBUTES.len(),
            0u32..2,
            prop::sample::select(vec![0u32, 4, 16]),
        )
    };
    // Those that need no second source.
    let factors = || [0..15i32, 0..15];
    let shaders = (
        any::<bool>(),
        [attribute(), attribute()],
        prop::option::of(0u32..3),
        prop::sample::select(vec![
            vk::PrimitiveTopology::TRIANGLE_LIST,
            vk::PrimitiveTopology::POINT_LIST,
        ]),
        prop::sample::select(vec![vk::PolygonMode::FILL, vk::PolygonMode::POINT]),
        any::<bool>(),
    );
    let colour = (
        prop::sample::select(vec![
            vk::Format::R8G8B8A8_UNORM,
            vk::Format::R8G8B8A8_SRGB,
            vk::Format::R16G16B16A16_SFLOAT,
            vk::Format::R8_UNORM,
        ]),
        0u32..16,
        prop::option::of((0..5i32, factors(), 0..5i32, factors())),
        prop::option::weighted(0.2, 0..16i32),
    );
    let samples = (
        prop::sample::select(vec![
            vk::SampleCountFlags::TYPE_1,
            vk::SampleCountFlags::TYPE_2,
            vk::SampleCountFlags::TYPE_4,
        ]),
        0u32..16,
        any::<(bool, bool)>(),
        prop::option::of(prop::sample::select(vec![0.0f32, 0.5, 1.0])),
        prop::sample::select(vec![0u32, 0b1, 0b101]),
    );
    (shaders, colour, samples).prop_map(|(shaders, colour, samples)| {
        let (both, attributes, divisor, topology, polygon, robust) = shaders;
        let (format, write_mask, blend, logic_op) = colour;
        let (samples, mask, alpha, shading, views) = samples;
        Random {
            both,
            attributes,
            divisor,
            topology,
            polygon,
            format,
            write_mask,
            blend,
            logic_op,
            samples,
            mask,
            alpha,
            shading,
            views,
            robust,
        }
    })
}

impl Random {
    /// Gives its description to something.
    fn describe(&self, modules: [vk::ShaderModule; 2], to: impl FnOnce(&Info)) {
        let entries = [vk::SpecializationMapEntry {
            constant_id: 7,
            offset: 0,
            size: 4,
        }];
        let data = u32::from(self.both).to_le_bytes();
        let constants = vk::SpecializationInfo::default()
            .map_entries(&entries)
            .data(&data);
        let behaviour = vk::PipelineRobustnessBufferBehaviorEXT::ROBUST_BUFFER_ACCESS;
        let mut robust = vk::PipelineRobustnessCreateInfoEXT::default()
            .storage_buffers(behaviour)
            .uniform_buffers(behaviour);
        let stages = [
            (vk::ShaderStageFlags::VERTEX, modules[0]),
            (vk::ShaderStageFlags::FRAGMENT, modules[1]),
        ]
        .map(|(stage, module)| {
            vk::PipelineShaderStageCreateInfo::default()
                .stage(stage)
                .module(module)
                .name(c"main")
                .specialization_info(&constants)
        });
        let rate = match self.divisor {
            Some(_) => vk::VertexInputRate::INSTANCE,
            None => vk::VertexInputRate::VERTEX,
        };
        let buffers = [0, 1].map(|binding| vk::VertexInputBindingDescription {
            binding,
            stride: 32,
            input_rate: rate,
        });
        let attributes = [0, 1].map(|at| {
            let (format, binding, offset) = self.attributes[at];
            vk::VertexInputAttributeDescription {
                location: at as u32,
                binding,
                format: ATTRIBUTES[format],
                offset,
            }
        });
        let divisors = [0, 1].map(|binding| vk::VertexInputBindingDivisorDescriptionKHR {
            binding,
            divisor: self.divisor.unwrap_or(1),
        });
        let mut divisors = vk::PipelineVertexInputDivisorStateCreateInfoKHR::default()
            .vertex_binding_divisors(&divisors);
        let mut input = vk::PipelineVertexInputStateCreateInfo::default()
            .vertex_binding_descriptions(&buffers)
            .vertex_attribute_descriptions(&attributes);
        if self.divisor.is_some() {
            input = input.push_next(&mut divisors);
        }
        let assembly = vk::PipelineInputAssemblyStateCreateInfo::default().topology(self.topology);
        let viewports = vk::PipelineViewportStateCreateInfo::default();
        let rasterization = vk::PipelineRasterizationStateCreateInfo::default()
            .polygon_mode(self.polygon)
            .line_width(1.0);
        let mask = [self.mask];
        let multisample = vk::PipelineMultisampleStateCreateInfo::default()
            .rasterization_samples(self.samples)
            .sample_mask(&mask)
            .alpha_to_coverage_enable(self.alpha.0)
            .alpha_to_one_enable(self.alpha.1)
            .sample_shading_enable(self.shading.is_some())
            .min_sample_shading(self.shading.unwrap_or(0.0));
        let mut state = vk::PipelineColorBlendAttachmentState::default()
            .color_write_mask(vk::ColorComponentFlags::from_raw(self.write_mask));
        if let Some((op, colour, alpha_op, alpha)) = self.blend {
            let factor = vk::BlendFactor::from_raw;
            state = state
                .blend_enable(true)
                .color_blend_op(vk::BlendOp::from_raw(op))
                .src_color_blend_factor(factor(colour[0]))
                .dst_color_blend_factor(factor(colour[1]))
                .alpha_blend_op(vk::BlendOp::from_raw(alpha_op))
                .src_alpha_blend_factor(factor(alpha[0]))
                .dst_alpha_blend_factor(factor(alpha[1]));
        }
        let states = [state];
        let blend = vk::PipelineColorBlendStateCreateInfo::default()
            .attachments(&states)
            .logic_op_enable(self.logic_op.is_some())
            .logic_op(vk::LogicOp::from_raw(self.logic_op.unwrap_or(0)));
        let formats = [self.format];
        let mut rendering = vk::PipelineRenderingCreateInfo::default()
            .view_mask(self.views)
            .color_attachment_formats(&formats);
        let mut info = vk::GraphicsPipelineCreateInfo::default()
            .stages(&stages)
            .vertex_input_state(&input)
            .input_assembly_state(&assembly)
            .viewport_state(&viewports)
            .rasterization_state(&rasterization)
            .multisample_state(&multisample)
            .color_blend_state(&blend)
            .push_next(&mut rendering);
        if self.robust {
            info = info.push_next(&mut robust);
        }
        // SAFETY: only the lifetime is another, and what is here outlives the call.
        let info = unsafe { std::mem::transmute::<vk::GraphicsPipelineCreateInfo<'_>, Info>(info) };
        to(&info);
    }
}

/// The shaders of a state from the cache, and compiled anew.
fn check(device: &Device, cache: &PipelineCache, info: &Info) -> Result<(), TestCaseError> {
    let search = Search::new(device, Some(cache), vk::PipelineCreateFlags::empty());
    // SAFETY: a valid structure.
    let parts = unsafe { Parts::of(device, info, info.flags) }.expect("is offered");
    let (input, pre) = (parts.input.as_ref().unwrap(), parts.pre.as_ref().unwrap());
    let (fragment, output) = (parts.fragment.as_ref(), parts.output.as_ref().unwrap());
    let mut stages = Stages::new(input, pre, fragment, output).expect("is offered");
    for view in rendering::views(pre.view_mask) {
        let found = stages.shaders(search, view, &mut Feedback::default());
        let [vertex, fragment] = found.expect("compiles");
        let sources = [&stages.vertex, &stages.fragment_source(view)];
        for (source, (found, _)) in sources.into_iter().zip([vertex, fragment]) {
            let key: Key = source.key(device.chip);
            let kept = binary::decode(&key, &found.blob);
            // What the compiler makes is always believed.
            prop_assert!(kept.is_some(), "{source}");
            let (anew, _) = compile(source, false).expect("compiles");
            prop_assert_eq!(kept, Some(anew), "{}", source);
        }
    }
    Ok(())
}

#[test]
fn what_is_kept_is_what_compiling_gives() {
    let test = Test::new();
    let module = |text| {
        let words = mesa_nir::assemble(text).expect("assembles");
        let info = vk::ShaderModuleCreateInfo::default().code(&words);
        // SAFETY: a valid structure.
        unsafe { test.driver.device.create_shader_module(&info, None) }.expect("a module")
    };
    let modules = [module(VERTEX), module(FRAGMENT)];
    let info = vk::PipelineCacheCreateInfo::default();
    // SAFETY: valid structures, and live objects below.
    let cache = unsafe { test.driver.device.create_pipeline_cache(&info, None) }.expect("a cache");
    // SAFETY: as above.
    let (device, inner) = unsafe {
        (
            object::get::<Device>(test.driver.device.handle()),
            object::get::<PipelineCache>(cache),
        )
    };
    proptest!(ProptestConfig::with_cases(96), |(state in random())| {
        let mut result = Ok(());
        state.describe(modules, |info| result = check(device, inner, info));
        result?;
    });
    // SAFETY: as above.
    unsafe {
        test.driver.device.destroy_pipeline_cache(cache, None);
        for module in modules {
            test.driver.device.destroy_shader_module(module, None);
        }
    }
}
