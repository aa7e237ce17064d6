// SPDX-License-Identifier: MIT
//! Graphics pipelines through the entry points: what they read of their descriptions, and what they
//! refuse.

use std::ptr::NonNull;

use super::*;
use crate::rendering::AttachmentFormats;
use crate::testing::Driver;

mod cache;
mod states;

const POSITION: &str = r#"
               OpCapability Shader
               OpMemoryModel Logical GLSL450
               OpEntryPoint Vertex %main "main" %position
               OpDecorate %position BuiltIn Position
       %void = OpTypeVoid
         %fn = OpTypeFunction %void
      %float = OpTypeFloat 32
       %vec4 = OpTypeVector %float 4
        %out = OpTypePointer Output %vec4
   %position = OpVariable %out Output
        %one = OpConstant %float 1
      %value = OpConstantComposite %vec4 %one %one %one %one
       %main = OpFunction %void None %fn
      %start = OpLabel
               OpStore %position %value
               OpReturn
               OpFunctionEnd
"#;

const COLOUR: &str = r#"
               OpCapability Shader
               OpMemoryModel Logical GLSL450
               OpEntryPoint Fragment %main "main" %colour
               OpExecutionMode %main OriginUpperLeft
               OpDecorate %colour Location 0
       %void = OpTypeVoid
         %fn = OpTypeFunction %void
      %float = OpTypeFloat 32
       %vec4 = OpTypeVector %float 4
        %out = OpTypePointer Output %vec4
     %colour = OpVariable %out Output
        %one = OpConstant %float 1
      %value = OpConstantComposite %vec4 %one %one %one %one
       %main = OpFunction %void None %fn
      %start = OpLabel
               OpStore %colour %value
               OpReturn
               OpFunctionEnd
"#;

/// What a test changes in the description of a pipeline.
type Info = vk::GraphicsPipelineCreateInfo<'static>;

struct Test {
    driver: Driver,
    vertex: vk::ShaderModule,
    fragment: vk::ShaderModule,
    layout: vk::PipelineLayout,
}

impl Test {
    fn new() -> Test {
        let driver = Driver::new();
        let module = |text| {
            let words = mesa_nir::assemble(text).expect("assembles");
            let info = vk::ShaderModuleCreateInfo::default().code(&words);
            // SAFETY: a valid structure.
            unsafe { driver.device.create_shader_module(&info, None) }.expect("a module")
        };
        let (vertex, fragment) = (module(POSITION), module(COLOUR));
        let info = vk::PipelineLayoutCreateInfo::default();
        // SAFETY: a valid structure.
        let layout = unsafe { driver.device.create_pipeline_layout(&info, None) };
        Test {
            layout: layout.expect("a layout"),
            driver,
            vertex,
            fragment,
        }
    }

    /// Creates pipelines that render to a colour attachment; each change is of one of them.
    fn create(&self, changes: &[&dyn Fn(&mut Info)]) -> (Vec<vk::Pipeline>, vk::Result) {
        self.create_with(vk::PipelineCache::null(), changes)
    }

    /// The same with a cache.
    fn create_with(
        &self,
        cache: vk::PipelineCache,
        changes: &[&dyn Fn(&mut Info)],
    ) -> (Vec<vk::Pipeline>, vk::Result) {
        let stage = |stage, module| {
            vk::PipelineShaderStageCreateInfo::default()
                .stage(stage)
                .module(module)
                .name(c"main")
        };
        let stages = [
            stage(vk::ShaderStageFlags::VERTEX, self.vertex),
            stage(vk::ShaderStageFlags::FRAGMENT, self.fragment),
        ];
        let input = vk::PipelineVertexInputStateCreateInfo::default();
        let assembly = vk::PipelineInputAssemblyStateCreateInfo::default()
            .topology(vk::PrimitiveTopology::TRIANGLE_STRIP)
            .primitive_restart_enable(true);
        let viewports = [vk::Viewport::default().width(7.0)];
        let scissors = [vk::Rect2D::default().extent(vk::Extent2D {
            width: 5,
            height: 3,
        })];
        let viewports = vk::PipelineViewportStateCreateInfo::default()
            .viewports(&viewports)
            .scissors(&scissors);
        let rasterization = vk::PipelineRasterizationStateCreateInfo::default()
            .cull_mode(vk::CullModeFlags::BACK)
            .line_width(2.0);
        let multisample = vk::PipelineMultisampleStateCreateInfo::default()
            .rasterization_samples(vk::SampleCountFlags::TYPE_1);
        let states = [vk::PipelineColorBlendAttachmentState::default()
            .color_write_mask(vk::ColorComponentFlags::RGBA)];
        let blend = vk::PipelineColorBlendStateCreateInfo::default()
            .attachments(&states)
            .blend_constants([1.0, 2.0, 3.0, 4.0]);
        let formats = [vk::Format::R8G8B8A8_UNORM];
        let mut rendering =
            vk::PipelineRenderingCreateInfo::default().color_attachment_formats(&formats);
        let info = vk::GraphicsPipelineCreateInfo::default()
            .stages(&stages)
            .vertex_input_state(&input)
            .input_assembly_state(&assembly)
            .viewport_state(&viewports)
            .rasterization_state(&rasterization)
            .multisample_state(&multisample)
            .color_blend_state(&blend)
            .layout(self.layout)
            .push_next(&mut rendering);
        // SAFETY: only the lifetime is another, and what is here outlives the call.
        let info = unsafe { std::mem::transmute::<vk::GraphicsPipelineCreateInfo<'_>, Info>(info) };
        let infos: Vec<_> = changes
            .iter()
            .map(|change| {
                let mut info = info;
                change(&mut info);
                info
            })
            .collect();
        let device = &self.driver.device;
        // SAFETY: valid structures, but for what is to be ignored.
        match unsafe { device.create_graphics_pipelines(cache, &infos, None) } {
            Ok(made) => (made, vk::Result::SUCCESS),
            Err((made, error)) => (made, error),
        }
    }

    /// Creates one, and looks at it.
    fn one<R>(
        &self,
        change: &dyn Fn(&mut Info),
        look: impl FnOnce(&GraphicsPipeline) -> R,
    ) -> Result<R, vk::Result> {
        let (made, result) = self.create(&[change]);
        if result != vk::Result::SUCCESS {
            assert_eq!(made, [vk::Pipeline::null()]);
            return Err(result);
        }
        // SAFETY: just created.
        let pipeline = unsafe { object::get::<Pipeline>(made[0]) };
        let seen = look(pipeline.graphics().expect("a graphics pipeline"));
        self.destroy(&made);
        Ok(seen)
    }

    fn destroy(&self, pipelines: &[vk::Pipeline]) {
        for pipeline in pipelines {
            // SAFETY: null or live, and unused.
            unsafe { self.driver.device.destroy_pipeline(*pipeline, None) };
        }
    }
}

impl Drop for Test {
    fn drop(&mut self) {
        // SAFETY: live objects that no one uses.
        unsafe {
            let device = &self.driver.device;
            device.destroy_shader_module(self.vertex, None);
            device.destroy_shader_module(self.fragment, None);
            device.destroy_pipeline_layout(self.layout, None);
        }
    }
}

/// A pointer that must not be followed.
fn dangling<T>() -> *const T {
    NonNull::dangling().as_ptr()
}

thread_local! {
    /// What descriptions point to, until the test's thread ends: a leak would hide those of the driver.
    static KEPT: std::cell::RefCell<Vec<Box<[u64]>>> = const { std::cell::RefCell::new(Vec::new()) };
}

/// Keeps a structure as long as the test runs.
fn kept<T: Copy>(value: T) -> *const T {
    const { assert!(align_of::<T>() <= align_of::<u64>()) };
    let mut memory = vec![0; size_of::<T>().div_ceil(8)].into_boxed_slice();
    let at: *mut T = memory.as_mut_ptr().cast();
    // SAFETY: large enough, and aligned.
    unsafe { at.write(value) };
    KEPT.with_borrow_mut(|kept| kept.push(memory));
    at
}

/// Gives a description states that are dynamic.
fn with_dynamic(info: &mut Info, states: &'static [vk::DynamicState]) {
    let dynamic = vk::PipelineDynamicStateCreateInfo::default().dynamic_states(states);
    info.p_dynamic_state = kept(dynamic);
}

#[test]
fn a_pipeline_has_the_state_that_is_described() {
    let test = Test::new();
    let check = |pipeline: &GraphicsPipeline| {
        let state = &pipeline.state;
        assert_eq!(pipeline.dynamic, Dynamic::empty());
        assert!(matches!(
            state.topology,
            agx_hw::vdm::Primitive::TriangleStrip
        ));
        assert!(state.restart);
        assert_eq!(state.viewports.len(), 1);
        assert_eq!(state.viewports[0].width, 7.0);
        assert_eq!(state.scissors[0].extent.width, 5);
        assert_eq!(state.cull, vk::CullModeFlags::BACK);
        assert_eq!(state.line_width, 2.0);
        assert_eq!(state.blend_constants, [1.0, 2.0, 3.0, 4.0]);
        assert!(pipeline.fragment_info.writes_colour);
        assert!(!state.depth_test && !state.stencil_test && !state.discard);
    };
    assert_eq!(test.one(&|_| {}, check), Ok(()));
}

/// "Ignored" means that the pointer may be anything.
#[test]
fn what_is_ignored_need_not_be_valid() {
    let test = Test::new();
    let viewports = vk::PipelineViewportStateCreateInfo {
        viewport_count: 1,
        p_viewports: dangling(),
        scissor_count: 1,
        p_scissors: dangling(),
        ..Default::default()
    };
    let seen = test.one(
        &|info| {
            use vk::DynamicState as D;
            info.p_viewport_state = std::ptr::from_ref(&viewports).cast();
            // There is no such attachment.
            info.p_depth_stencil_state = dangling();
            info.p_tessellation_state = dangling();
            with_dynamic(info, &[D::VIEWPORT, D::SCISSOR]);
        },
        |pipeline| pipeline.dynamic,
    );
    assert_eq!(seen, Ok(Dynamic::VIEWPORT | Dynamic::SCISSOR));

    let rasterization = vk::PipelineRasterizationStateCreateInfo::default()
        .rasterizer_discard_enable(true)
        .line_width(1.0);
    let seen = test.one(
        &|info| {
            info.p_rasterization_state = std::ptr::from_ref(&rasterization).cast();
            info.p_viewport_state = dangling();
            info.p_multisample_state = dangling();
            info.p_depth_stencil_state = dangling();
            info.p_color_blend_state = dangling();
        },
        |pipeline| pipeline.state.discard,
    );
    assert_eq!(seen, Ok(true));

    let depth_only =
        vk::PipelineRenderingCreateInfo::default().depth_attachment_format(vk::Format::D32_SFLOAT);
    let depth = vk::PipelineDepthStencilStateCreateInfo::default()
        .depth_test_enable(true)
        .depth_compare_op(vk::CompareOp::LESS);
    let seen = test.one(
        &|info| {
            info.p_next = std::ptr::from_ref(&depth_only).cast();
            info.p_depth_stencil_state = std::ptr::from_ref(&depth).cast();
            info.p_color_blend_state = dangling();
        },
        |pipeline| (pipeline.state.depth_test, pipeline.state.depth_compare),
    );
    assert_eq!(seen, Ok((true, vk::CompareOp::LESS)));
}

#[test]
fn what_cannot_be_made_is_null_and_the_worst_of_it_is_told() {
    let test = Test::new();
    let good = |_: &mut Info| {};
    let lone = |info: &mut Info| {
        info.flags |= vk::PipelineCreateFlags::FAIL_ON_PIPELINE_COMPILE_REQUIRED;
    };
    let bad = |info: &mut Info| with_dynamic(info, &[vk::DynamicState::LINE_STIPPLE_EXT]);
    let early = |info: &mut Info| {
        bad(info);
        info.flags |= vk::PipelineCreateFlags::EARLY_RETURN_ON_FAILURE;
    };
    let without_vertices = |info: &mut Info| {
        // SAFETY: there are two stages.
        info.p_stages = unsafe { info.p_stages.add(1) };
        info.stage_count = 1;
    };
    use vk::Result as R;
    type Case<'a> = (&'a [&'a dyn Fn(&mut Info)], &'a [bool], R);
    let cases: &[Case<'_>] = &[
        (
            &[&lone, &good],
            &[true, false],
            R::PIPELINE_COMPILE_REQUIRED,
        ),
        // Then it is there.
        (&[&good, &lone], &[false, false], R::SUCCESS),
        (&[&lone, &bad], &[true, true], R::ERROR_UNKNOWN),
        (
            &[&bad, &lone, &good],
            &[true, true, false],
            R::ERROR_UNKNOWN,
        ),
        (
            &[&good, &early, &good],
            &[false, true, true],
            R::ERROR_UNKNOWN,
        ),
        (&[&without_vertices], &[true], R::ERROR_UNKNOWN),
    ];
    for (number, (changes, nulls, expected)) in cases.iter().enumerate() {
        let (made, result) = test.create(changes);
        let null = |pipeline: &vk::Pipeline| *pipeline == vk::Pipeline::null();
        let seen: Vec<_> = made.iter().map(null).collect();
        assert_eq!((&seen[..], result), (*nulls, *expected), "case {number}");
        test.destroy(&made);
    }
}

#[test]
fn feedback_is_given_for_the_pipeline_and_both_stages() {
    let test = Test::new();
    let mut whole = vk::PipelineCreationFeedback::default();
    let mut stages = [vk::PipelineCreationFeedback::default(); 2];
    let feedback = vk::PipelineCreationFeedbackCreateInfo::default()
        .pipeline_creation_feedback(&mut whole)
        .pipeline_stage_creation_feedbacks(&mut stages);
    let feedback = std::ptr::from_ref(&feedback);
    let made = test.one(
        &|info| {
            // SAFETY: both structures are valid, and their order is of no importance.
            unsafe {
                let mut link = feedback.read();
                link.p_next = info.p_next;
                info.p_next = kept(link).cast();
            }
        },
        |_| (),
    );
    assert_eq!(made, Ok(()));
    for one in stages.iter().chain([&whole]) {
        assert_eq!(one.flags, vk::PipelineCreationFeedbackFlags::VALID);
        assert!(one.duration > 0);
    }
}

#[test]
fn a_pipeline_has_an_executable_for_each_stage() {
    let test = Test::new();
    let (made, result) = test.create(&[&|_| {}]);
    assert_eq!(result, vk::Result::SUCCESS);
    // SAFETY: just created.
    let pipeline = unsafe { object::get::<Pipeline>(made[0]) };
    let stages: Vec<_> = pipeline.executables().iter().map(|one| one.stage).collect();
    assert_eq!(
        stages,
        [vk::ShaderStageFlags::VERTEX, vk::ShaderStageFlags::FRAGMENT]
    );
    for one in pipeline.executables() {
        let count = one.shader.stats.instructions;
        assert!(count > 0, "{:?}", one.stage);
    }
    test.destroy(&made);
}

/// Outputs go where the pipeline's locations say (Vulkan 1.4, 8.2 "Render Pass Objects"); the tile is laid out by
/// attachments.
#[test]
fn outputs_go_to_the_attachments_that_have_their_locations() {
    let colours = [
        vk::Format::R32_UINT,
        vk::Format::UNDEFINED,
        vk::Format::R32G32_UINT,
        vk::Format::R32_UINT,
    ];
    let formats = AttachmentFormats {
        colour: colours.into_iter().collect(),
        ..AttachmentFormats::default()
    };
    let targets = Targets::new(&formats, Samples::One).unwrap();
    let words = |locations| {
        let all = targets.attachments(&[], locations).unwrap();
        all.map(|attachment| attachment.map(|attachment| attachment.word))
    };
    let own = [Some(0), None, Some(2), Some(4), None, None, None, None];
    assert_eq!(words(None), own);
    let moved = [Some(4), None, None, None, None, Some(2), None, None];
    let unused = vk::ATTACHMENT_UNUSED;
    assert_eq!(words(Some(&[unused, unused, 5, 0])), moved);
}

/// Of merged subpasses each has its attachments somewhere in the tile, and some to read there. What a pipeline
/// leaves of what it or others before it drew must be shaded.
#[test]
fn attachments_of_merged_subpasses_have_places() {
    let (word, words, byte) = (
        vk::Format::R32_UINT,
        vk::Format::R32G32_UINT,
        vk::Format::R8G8B8A8_UINT,
    );
    let of = |drawn| AttachmentFormats {
        colour: [byte, vk::Format::UNDEFINED, word].into_iter().collect(),
        merged: Some(Merged {
            tile: [words, word, byte].into_iter().collect(),
            colour: [Some(2), None, Some(1)].into_iter().collect(),
            inputs: std::iter::once(rendering::TileInput { index: 4, place: 0 }).collect(),
            drawn,
            has_depth_stencil: false,
        }),
        ..AttachmentFormats::default()
    };
    for (drawn, mask, shows) in [
        (0b110, vk::ColorComponentFlags::RGBA, false),
        (0b111, vk::ColorComponentFlags::RGBA, true),
        (0b110, vk::ColorComponentFlags::R, true),
    ] {
        let formats = of(drawn);
        let targets = Targets::new(&formats, Samples::One).unwrap();
        assert_eq!(targets.tile.bytes(), 16);
        let states = [vk::PipelineColorBlendAttachmentState::default().color_write_mask(mask); 3];
        let all = targets.attachments(&states, None).unwrap();
        let places = all.map(|attachment| attachment.map(|attachment| attachment.word));
        assert_eq!(places[..4], [Some(3), None, Some(2), None]);
        let inputs = targets.inputs().unwrap();
        let told: Vec<_> = inputs
            .iter()
            .map(|input| (input.index, input.word))
            .collect();
        assert_eq!(told, [(4, 0)]);
        assert_eq!(inputs[0].format.components, 2);
        assert_eq!(targets.shows_below(&all), shows);
        // A shader that writes nothing leaves everything.
        assert!(targets.shows_below(&[None; MAX_COLOUR]));
    }
    // Without attachments there is nothing to leave.
    let formats = AttachmentFormats::default();
    let targets = Targets::new(&formats, Samples::One).unwrap();
    assert!(!targets.shows_below(&[None; MAX_COLOUR]));
}
