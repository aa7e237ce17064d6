// SPDX-License-Identifier: MIT
//! Pipelines that are linked out of libraries draw what those draw that were made whole.

use ash::vk;

use super::scenario;
use crate::picture::{Draw, Target};
use crate::scenario::Scenario;
use crate::scope::Scope;

pub(super) const SCENARIOS: &[Scenario] = &[
    scenario("library.pictures", pictures),
    scenario("library.partition", partition),
    scenario("library.mixed", mixed),
    scenario("library.independent_sets", independent_sets),
    scenario("library.discard", discard),
];

type Which = vk::GraphicsPipelineLibraryFlagsEXT;

const INPUT: Which = Which::VERTEX_INPUT_INTERFACE;
const PRE: Which = Which::PRE_RASTERIZATION_SHADERS;
const FRAGMENT: Which = Which::FRAGMENT_SHADER;
const OUTPUT: Which = Which::FRAGMENT_OUTPUT_INTERFACE;

const SIZE: [u32; 2] = [70, 45];
const GREY: vk::ClearColorValue = vk::ClearColorValue {
    float32: [0.2, 0.4, 0.6, 1.0],
};

/// Two triangles, one behind the other.
const VERTEX: &str = "
layout(location = 0) flat out vec4 even;
layout(location = 1) flat out vec4 odd;
vec2 corners[6] = vec2[](vec2(-0.8, -0.9), vec2(0.9, -0.1), vec2(-0.3, 0.8),
                         vec2(-0.9, 0.9), vec2(0.7, 0.9), vec2(0.1, -0.6));
void main() {
    int number = gl_VertexIndex / 3;
    gl_Position = vec4(corners[gl_VertexIndex], number == 0 ? 0.25 : 0.75, 1.0);
    gl_PointSize = 3.0;
    even = vec4(float(number + 1) / 5.0, 0.2, 0.0, 1.0);
    odd = vec4(0.0, float(number + 1) / 3.0, 0.4, 0.8);
}
";
const EVEN: &str = "
layout(location = 0) flat in vec4 even;
layout(location = 0) out vec4 colour;
void main() { colour = even; }
";
const ODD: &str = "
layout(location = 1) flat in vec4 odd;
layout(location = 0) out vec4 colour;
void main() { colour = odd; }
";

unsafe fn target(s: &Scope<'_>, commands: vk::CommandBuffer) -> anyhow::Result<Target> {
    let far = vk::ClearDepthStencilValue {
        depth: 1.0,
        stencil: 0,
    };
    Ok(Target {
        size: SIZE,
        samples: vk::SampleCountFlags::TYPE_1,
        colour: vec![s.colour(vk::Format::R8G8B8A8_UNORM, 4, SIZE, GREY, commands)?],
        depth: Some(s.depth_stencil(vk::Format::D32_SFLOAT, SIZE, far, commands)?),
    })
}

/// The library of some parts of a description, without what belongs to others.
unsafe fn library(
    s: &Scope<'_>,
    info: &vk::GraphicsPipelineCreateInfo<'_>,
    which: Which,
    layout: vk::PipelineLayout,
) -> anyhow::Result<vk::Pipeline> {
    // Formats are the output's alone, views of all parts but the vertices.
    let rendering = info.p_next.cast::<vk::PipelineRenderingCreateInfo<'_>>();
    let views = vk::PipelineRenderingCreateInfo::default().view_mask((*rendering).view_mask);
    let mut said = vk::GraphicsPipelineLibraryCreateInfoEXT::default().flags(which);
    if which.contains(OUTPUT) {
        said.p_next = rendering.cast();
    } else if which.intersects(PRE | FRAGMENT) {
        said.p_next = std::ptr::from_ref(&views).cast();
    }
    let mut own = vk::GraphicsPipelineCreateInfo {
        flags: info.flags | vk::PipelineCreateFlags::LIBRARY_KHR,
        p_next: std::ptr::from_ref(&said).cast(),
        p_dynamic_state: info.p_dynamic_state,
        ..Default::default()
    };
    let stages = std::slice::from_raw_parts(info.p_stages, info.stage_count as usize);
    let stages: Vec<_> = stages
        .iter()
        .filter(|stage| match stage.stage {
            vk::ShaderStageFlags::FRAGMENT => which.contains(FRAGMENT),
            _ => which.contains(PRE),
        })
        .copied()
        .collect();
    if !stages.is_empty() {
        own = own.stages(&stages);
    }
    if which.contains(INPUT) {
        own.p_vertex_input_state = info.p_vertex_input_state;
        own.p_input_assembly_state = info.p_input_assembly_state;
    }
    if which.contains(PRE) {
        own.p_viewport_state = info.p_viewport_state;
        own.p_rasterization_state = info.p_rasterization_state;
    }
    if which.contains(FRAGMENT) {
        own.p_depth_stencil_state = info.p_depth_stencil_state;
    }
    if which.contains(OUTPUT) {
        own.p_color_blend_state = info.p_color_blend_state;
    }
    if which.intersects(FRAGMENT | OUTPUT) {
        own.p_multisample_state = info.p_multisample_state;
    }
    if which.intersects(PRE | FRAGMENT) {
        own.layout = layout;
    }
    Ok(s.graphics_of(vk::PipelineCache::null(), &own)?)
}

/// A pipeline, or a library, of libraries.
unsafe fn link(
    s: &Scope<'_>,
    libraries: &[vk::Pipeline],
    flags: vk::PipelineCreateFlags,
    layout: vk::PipelineLayout,
) -> anyhow::Result<vk::Pipeline> {
    let mut linked = vk::PipelineLibraryCreateInfoKHR::default().libraries(libraries);
    let info = vk::GraphicsPipelineCreateInfo::default()
        .flags(flags)
        .layout(layout)
        .push_next(&mut linked);
    Ok(s.graphics_of(vk::PipelineCache::null(), &info)?)
}

/// Libraries of a description, with these parts.
unsafe fn libraries(
    s: &Scope<'_>,
    draw: &Draw<'_>,
    parts: &[Which],
) -> anyhow::Result<Vec<vk::Pipeline>> {
    let each = |info: &vk::GraphicsPipelineCreateInfo<'_>| {
        let one = |which: &Which| library(s, info, *which, draw.layout);
        parts.iter().map(one).collect()
    };
    s.describe(draw, each)?
}

/// What a pipeline draws.
unsafe fn draws(
    s: &Scope<'_>,
    commands: vk::CommandBuffer,
    target: &Target,
    pipeline: vk::Pipeline,
) -> anyhow::Result<Vec<u8>> {
    let device = s.device();
    s.render(commands, target, vk::AttachmentLoadOp::CLEAR);
    device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, pipeline);
    device.cmd_draw(commands, 6, 1, 0, 0);
    device.cmd_end_rendering(commands);
    let back = s.read_back(commands, target.colour[0].image)?;
    s.finish(commands)?;
    Ok(back.bytes())
}

unsafe fn once(s: &Scope<'_>) -> anyhow::Result<vk::CommandBuffer> {
    s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)
}

/// What pipelines differ in, one thing each.
type Variant = (&'static str, fn(&mut Draw<'static>));

const VARIANTS: &[Variant] = &[
    ("plain", |_| ()),
    ("the other input", |draw| draw.fragment = Some(ODD)),
    ("points", |draw| {
        draw.topology = vk::PrimitiveTopology::POINT_LIST;
    }),
    ("culled", |draw| {
        draw.raster.cull_mode = vk::CullModeFlags::BACK;
    }),
    ("tested", |draw| {
        draw.depth = draw
            .depth
            .depth_test_enable(true)
            .depth_write_enable(true)
            .depth_compare_op(vk::CompareOp::LESS);
    }),
    ("a maximum", |draw| {
        draw.blend[0].blend_enable = vk::TRUE;
        draw.blend[0].color_blend_op = vk::BlendOp::MAX;
        draw.blend[0].alpha_blend_op = vk::BlendOp::MAX;
    }),
    ("one component", |draw| {
        draw.blend[0].color_write_mask = vk::ColorComponentFlags::G;
    }),
    ("without a fragment shader", |draw| {
        draw.fragment = None;
        draw.blend[0].color_write_mask = vk::ColorComponentFlags::empty();
    }),
];

unsafe fn variant(
    s: &Scope<'_>,
    target: &Target,
    change: fn(&mut Draw<'static>),
) -> anyhow::Result<Draw<'static>> {
    let mut draw = Draw::new(target, VERTEX, EVEN);
    draw.layout = s.pipeline_layout(&[], 0)?;
    change(&mut draw);
    Ok(draw)
}

/// Each state out of four libraries, without and with optimisation at link time.
unsafe fn pictures(s: &Scope<'_>) -> anyhow::Result<()> {
    s.gpu.needs(ash::ext::graphics_pipeline_library::NAME)?;
    for (name, change) in VARIANTS {
        let commands = once(s)?;
        let scene = target(s, commands)?;
        let draw = variant(s, &scene, *change)?;
        let whole = s.graphics(&draw)?;
        let expected = draws(s, commands, &scene, whole)?;
        s.report.result(name, expected.clone());
        let parts = libraries(s, &draw, &[INPUT, PRE, FRAGMENT, OUTPUT])?;
        let flags = vk::PipelineCreateFlags::empty();
        let linked = link(s, &parts, flags, draw.layout)?;
        let commands = once(s)?;
        let scene = target(s, commands)?;
        let got = draws(s, commands, &scene, linked)?;
        s.report
            .check(&format!("{name}, linked"), &got, &expected)?;
    }
    Ok(())
}

/// The same pipeline, cut in other ways: two libraries, one of two parts, a library of libraries, and
/// libraries that keep what optimisation wants.
unsafe fn partition(s: &Scope<'_>) -> anyhow::Result<()> {
    s.gpu.needs(ash::ext::graphics_pipeline_library::NAME)?;
    let commands = once(s)?;
    let scene = target(s, commands)?;
    let draw = variant(s, &scene, VARIANTS[5].1)?;
    let whole = s.graphics(&draw)?;
    let expected = draws(s, commands, &scene, whole)?;
    s.report.result("whole", expected.clone());
    let retain = vk::PipelineCreateFlags::RETAIN_LINK_TIME_OPTIMIZATION_INFO_EXT;
    let optimise = vk::PipelineCreateFlags::LINK_TIME_OPTIMIZATION_EXT;
    let none = vk::PipelineCreateFlags::empty();
    let partitions: [(&[Which], vk::PipelineCreateFlags, vk::PipelineCreateFlags); 3] = [
        (&[INPUT | PRE, FRAGMENT | OUTPUT], none, none),
        (&[PRE | FRAGMENT, OUTPUT | INPUT], none, none),
        (&[OUTPUT, FRAGMENT, PRE, INPUT], retain, optimise),
    ];
    let check = |name: &str, pipeline| {
        let commands = once(s)?;
        let scene = target(s, commands)?;
        let got = draws(s, commands, &scene, pipeline)?;
        s.report.check(name, &got, &expected)
    };
    for (at, (parts, keep, flags)) in partitions.into_iter().enumerate() {
        let made = s.describe(&draw, |info| {
            let info = info.flags(keep);
            let one = |which: &Which| library(s, &info, *which, draw.layout);
            parts.iter().map(one).collect::<anyhow::Result<Vec<_>>>()
        })??;
        check(
            &format!("partition {at}"),
            link(s, &made, flags, draw.layout)?,
        )?;
    }
    let made = libraries(s, &draw, &[INPUT, PRE, FRAGMENT, OUTPUT])?;
    let kind = vk::PipelineCreateFlags::LIBRARY_KHR;
    let front = link(s, &made[..2], kind, draw.layout)?;
    let back = link(s, &made[2..], kind, draw.layout)?;
    check(
        "libraries of libraries",
        link(s, &[front, back], none, draw.layout)?,
    )
}

/// Each library in many pipelines.
unsafe fn mixed(s: &Scope<'_>) -> anyhow::Result<()> {
    s.gpu.needs(ash::ext::graphics_pipeline_library::NAME)?;
    let commands = once(s)?;
    let scene = target(s, commands)?;
    let draw = variant(s, &scene, |_| ())?;
    s.finish(commands)?;
    let others = [draw.clone(), variant(s, &scene, VARIANTS[1].1)?];
    let shared = libraries(s, &draw, &[INPUT, PRE])?;
    let outputs = [
        libraries(s, &draw, &[OUTPUT])?,
        libraries(s, &variant(s, &scene, VARIANTS[6].1)?, &[OUTPUT])?,
    ];
    for (at, draw) in others.iter().enumerate() {
        let fragment = libraries(s, draw, &[FRAGMENT])?;
        for (to, output) in outputs.iter().enumerate() {
            let all = [&shared[..], &fragment, output].concat();
            let linked = link(s, &all, vk::PipelineCreateFlags::empty(), draw.layout)?;
            let commands = once(s)?;
            let scene = target(s, commands)?;
            let got = draws(s, commands, &scene, linked)?;
            s.report
                .result(&format!("fragments {at}, output {to}"), got);
        }
    }
    Ok(())
}

/// Layouts that each have only the sets of their own stage; the sets of the other come before them in
/// the whole layout, dynamic buffers among them.
unsafe fn independent_sets(s: &Scope<'_>) -> anyhow::Result<()> {
    s.gpu.needs(ash::ext::graphics_pipeline_library::NAME)?;
    let device = s.device();
    let vertex = "
layout(set = 0, binding = 0) uniform Place { vec4 corners[3]; };
void main() { gl_Position = vec4(corners[gl_VertexIndex].xy, 0.5, 1.0); }
";
    let fragment = "
layout(set = 1, binding = 0) uniform Colour { vec4 value; };
layout(location = 0) out vec4 colour;
void main() { colour = value; }
";
    let set_layout = |stage| {
        let bindings = [vk::DescriptorSetLayoutBinding::default()
            .binding(0)
            .descriptor_type(vk::DescriptorType::UNIFORM_BUFFER_DYNAMIC)
            .descriptor_count(1)
            .stage_flags(stage)];
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        let made = device.create_descriptor_set_layout(&info, None)?;
        s.at_end(move |device| device.destroy_descriptor_set_layout(made, None));
        anyhow::Ok(made)
    };
    let sets = [
        set_layout(vk::ShaderStageFlags::VERTEX)?,
        set_layout(vk::ShaderStageFlags::FRAGMENT)?,
    ];
    let none = vk::DescriptorSetLayout::null();
    let layout = |sets: &[vk::DescriptorSetLayout]| {
        let info = vk::PipelineLayoutCreateInfo::default()
            .flags(vk::PipelineLayoutCreateFlags::INDEPENDENT_SETS_EXT)
            .set_layouts(sets);
        let made = device.create_pipeline_layout(&info, None)?;
        s.at_end(move |device| device.destroy_pipeline_layout(made, None));
        anyhow::Ok(made)
    };
    let (front, back, both) = (
        layout(&[sets[0], none])?,
        layout(&[none, sets[1]])?,
        layout(&sets)?,
    );
    let commands = once(s)?;
    let scene = target(s, commands)?;
    let mut draw = Draw::new(&scene, vertex, fragment);
    draw.layout = front;
    let mut all = libraries(s, &draw, &[INPUT, PRE])?;
    draw.layout = back;
    all.extend(libraries(s, &draw, &[FRAGMENT, OUTPUT])?);
    let pipeline = link(s, &all, vk::PipelineCreateFlags::empty(), both)?;

    // 256 bytes each, behind as many of nonsense.
    let buffer = s.buffer(1024)?;
    let mut words = [7.0f32; 256];
    let corners = [[-0.8, -0.9], [0.9, -0.1], [-0.3, 0.8]];
    for (at, corner) in corners.iter().enumerate() {
        words[64 + 4 * at..][..2].copy_from_slice(corner);
    }
    words[192..196].copy_from_slice(&[0.2, 0.8, 0.4, 1.0]);
    buffer.write(0, &words.map(f32::to_le_bytes).concat());
    let sizes = [vk::DescriptorPoolSize {
        ty: vk::DescriptorType::UNIFORM_BUFFER_DYNAMIC,
        descriptor_count: 2,
    }];
    let info = vk::DescriptorPoolCreateInfo::default()
        .max_sets(2)
        .pool_sizes(&sizes);
    let pool = device.create_descriptor_pool(&info, None)?;
    s.at_end(move |device| device.destroy_descriptor_pool(pool, None));
    let info = vk::DescriptorSetAllocateInfo::default()
        .descriptor_pool(pool)
        .set_layouts(&sets);
    let bound = device.allocate_descriptor_sets(&info)?;
    let range = [vk::DescriptorBufferInfo {
        buffer: buffer.handle,
        offset: 0,
        range: 64,
    }];
    for set in &bound {
        let write = vk::WriteDescriptorSet::default()
            .dst_set(*set)
            .descriptor_type(vk::DescriptorType::UNIFORM_BUFFER_DYNAMIC)
            .buffer_info(&range);
        device.update_descriptor_sets(&[write], &[]);
    }
    s.render(commands, &scene, vk::AttachmentLoadOp::CLEAR);
    let point = vk::PipelineBindPoint::GRAPHICS;
    device.cmd_bind_pipeline(commands, point, pipeline);
    device.cmd_bind_descriptor_sets(commands, point, both, 0, &bound, &[256, 768]);
    device.cmd_draw(commands, 3, 1, 0, 0);
    device.cmd_end_rendering(commands);
    let back = s.read_back(commands, scene.colour[0].image)?;
    s.finish(commands)?;
    s.report.result("triangle", back.bytes());
    Ok(())
}

/// Without rasterisation two parts do.
unsafe fn discard(s: &Scope<'_>) -> anyhow::Result<()> {
    s.gpu.needs(ash::ext::graphics_pipeline_library::NAME)?;
    let commands = once(s)?;
    let scene = target(s, commands)?;
    let mut draw = variant(s, &scene, |_| ())?;
    draw.raster = draw.raster.rasterizer_discard_enable(true);
    let made = libraries(s, &draw, &[INPUT, PRE])?;
    let linked = link(s, &made, vk::PipelineCreateFlags::empty(), draw.layout)?;
    let got = draws(s, commands, &scene, linked)?;
    s.report.result("nothing", got);
    Ok(())
}
