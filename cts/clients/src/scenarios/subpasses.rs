// SPDX-License-Identifier: MIT
//! Subpasses that read at their own pixels what others drew, with dependencies that are local to pixels and with
//! such that are not: drivers with tiles may go through the first tile by tile. Pictures are the same.

use anyhow::ensure;
use ash::vk;

use self::plan::{FOUR, GREY, Part, Pass, Plan, Sub, local};
use super::pictures::{BLUE, FLAT, GREEN, RED, RGBA8, SIDE, area, floats, quads, varied};
use super::scenario;
use crate::picture::Draw;
use crate::scenario::Scenario;
use crate::scope::Scope;

mod plan;

pub(super) const SCENARIOS: &[Scenario] = &[
    scenario("subpasses.deferred", deferred),
    scenario("subpasses.samples", samples),
    scenario("subpasses.clears", clears),
    scenario("subpasses.secondary", secondary),
    scenario("subpasses.layers", layers),
    scenario("subpasses.views", views),
    scenario("subpasses.too_large", too_large),
    scenario("subpasses.part", part),
    scenario("subpasses.formats", formats),
    scenario("subpasses.queries", queries),
    scenario("subpasses.barriers", barriers),
    scenario("subpasses.blending", blending),
    scenario("subpasses.libraries", libraries),
    scenario("subpasses.imageless", imageless),
    scenario("subpasses.compatible", compatible),
];

/// Draws it with dependencies of both kinds, and reports the attachments that are kept.
unsafe fn each_way(
    s: &Scope<'_>,
    name: &str,
    plan: &Plan,
    draw: impl Fn(&Pass<'_, '_>) -> anyhow::Result<()>,
) -> anyhow::Result<Vec<Vec<u8>>> {
    let mut all = Vec::new();
    for is_local in [true, false] {
        let pass = Pass::new(s, plan, is_local)?;
        pass.begin(vk::SubpassContents::INLINE);
        draw(&pass)?;
        all.push(pass.end()?);
    }
    let apart = all.remove(1);
    let together = all.remove(0);
    let mut drawn = together.iter().map(|bytes| varied(name, bytes, 8));
    ensure!(drawn.any(|drawn| drawn.is_ok()), "{name}: nothing is drawn");
    for (at, (together, apart)) in together.iter().zip(&apart).enumerate() {
        s.report
            .expect(&format!("{name} {at}"), together.clone(), apart)?;
    }
    Ok(together)
}

/// A rectangle over everything.
fn everywhere(tint: [f32; 4]) -> String {
    quads(&[([0.0, 0.0, 64.0, 64.0], 0.0, tint)])
}

fn boxes() -> String {
    quads(&[
        ([4.0, 4.0, 40.0, 40.0], 0.5, [1.0, 0.25, 0.0, 1.0]),
        ([20.0, 20.0, 60.0, 60.0], 0.25, [0.0, 0.5, 1.0, 0.75]),
        ([10.0, 30.0, 50.0, 50.0], 0.75, [0.75, 0.75, 0.25, 0.25]),
    ])
}

/// A fragment shader that writes its colour to several attachments, differently.
const SPREAD: &str = "
layout(location = 0) flat in vec4 tint;
layout(location = 0) out vec4 a;
layout(location = 1) out vec4 b;
layout(location = 2) out uvec4 c;
void main() {
    a = tint;
    b = vec4(tint.zyx * 2.0, gl_FragCoord.x / 8.0);
    c = uvec4(gl_FragCoord.xy, 7u, 9u);
}
";

/// A subpass of surfaces and one of lights, of which each adds to the picture; surfaces are never in memory.
unsafe fn deferred(s: &Scope<'_>) -> anyhow::Result<()> {
    let parts = [
        Part::half(GREY).lost(),
        Part::half([0.25, 0.5, 1.0, 2.0]).lost(),
        Part {
            clear: vk::ClearValue {
                color: vk::ClearColorValue {
                    uint32: [64, 32, 5, 1],
                },
            },
            ..Part::new(vk::Format::R8G8B8A8_UINT, 4, [0.0; 4]).lost()
        },
        Part::half([0.0; 4]),
        Part::deep().lost(),
    ];
    let subs = [
        Sub::new(&[], &[0, 1, 2]).deep(4),
        Sub::new(&[2, 0, 1], &[3]).deep(4),
    ];
    let lights = "
layout(input_attachment_index = 0, set = 0, binding = 0) uniform usubpassInput where;
layout(input_attachment_index = 1, set = 0, binding = 1) uniform subpassInput surface;
layout(input_attachment_index = 2, set = 0, binding = 2) uniform subpassInput more;
layout(location = 0) flat in vec4 tint;
layout(location = 0) out vec4 colour;
void main() {
    uvec4 at = subpassLoad(where);
    float near = at.x < 64u ? float((at.x + at.y * 3u) % 8u) / 8.0 : 0.5;
    colour = subpassLoad(surface) * tint * near + subpassLoad(more) / 64.0;
}
";
    let (surfaces, spots) = (
        boxes(),
        quads(&[
            ([0.0, 0.0, 64.0, 64.0], 0.6, [0.25, 0.25, 0.5, 1.0]),
            ([8.0, 16.0, 48.0, 62.0], 0.4, [0.5, 0.125, 0.0, 0.0]),
            ([30.0, 2.0, 63.0, 44.0], 0.1, [0.0, 0.25, 0.25, 0.5]),
        ]),
    );
    let plan = Plan::new(&parts, &subs);
    each_way(s, "lit", &plan, |pass| {
        let mut first = pass.draw(0, &surfaces, SPREAD)?;
        test_depth(&mut first.0, vk::CompareOp::LESS);
        pass.run(pass.commands, &first, 3)?;
        pass.next();
        let mut second = pass.draw(1, &spots, lights)?;
        second.0.depth =
            (second.0.depth.depth_test_enable(true)).depth_compare_op(vk::CompareOp::GREATER);
        second.0.blend[0] = adding();
        pass.run(pass.commands, &second, 3)
    })?;
    Ok(())
}

/// A draw tests depth, and writes it.
fn test_depth(draw: &mut Draw<'_>, compare: vk::CompareOp) {
    draw.depth =
        (draw.depth.depth_test_enable(true).depth_write_enable(true)).depth_compare_op(compare);
}

/// Source and destination are added.
fn adding() -> vk::PipelineColorBlendAttachmentState {
    vk::PipelineColorBlendAttachmentState {
        blend_enable: vk::TRUE,
        src_color_blend_factor: vk::BlendFactor::ONE,
        dst_color_blend_factor: vk::BlendFactor::ONE,
        color_blend_op: vk::BlendOp::ADD,
        src_alpha_blend_factor: vk::BlendFactor::ONE,
        dst_alpha_blend_factor: vk::BlendFactor::ONE,
        alpha_blend_op: vk::BlendOp::ADD,
        color_write_mask: vk::ColorComponentFlags::RGBA,
    }
}

/// Samples are read one by one, and the last subpass is resolved.
unsafe fn samples(s: &Scope<'_>) -> anyhow::Result<()> {
    if !(s.gpu.properties.limits.framebuffer_color_sample_counts).contains(FOUR) {
        return Ok(());
    }
    let parts = [
        Part::half([0.0; 4]).samples(FOUR).lost(),
        Part::half(GREY).samples(FOUR).lost(),
        Part::half([0.0; 4]),
    ];
    let subs = [
        Sub::new(&[], &[0]),
        Sub {
            resolve: vec![2],
            ..Sub::new(&[0], &[1])
        },
    ];
    let first = "
layout(location = 0) out vec4 colour;
void main() { colour = vec4(float(gl_SampleID), mod(gl_FragCoord.x, 4.0), 0.5, 1.0); }
";
    let second = |sample: &str| {
        format!(
            "
layout(input_attachment_index = 0, set = 0, binding = 0) uniform subpassInputMS before;
layout(location = 0) out vec4 colour;
void main() {{ colour = subpassLoad(before, {sample}) * (gl_SampleID == 3 ? 3.0 : 1.0); }}
"
        )
    };
    let (boxes, part) = (boxes(), quads(&[([6.0, 6.0, 58.0, 58.0], 0.0, [0.0; 4])]));
    for sample in ["gl_SampleID", "3 - gl_SampleID", "int(gl_FragCoord.y) & 3"] {
        let plan = Plan::new(&parts, &subs);
        each_way(s, sample, &plan, |pass| {
            pass.run(pass.commands, &pass.draw(0, &boxes, first)?, 3)?;
            pass.next();
            pass.run(pass.commands, &pass.draw(1, &part, &second(sample))?, 1)
        })?;
    }
    Ok(())
}

const TAKE: &str = "
layout(input_attachment_index = 0, set = 0, binding = 0) uniform subpassInput before;
layout(location = 0) flat in vec4 tint;
layout(location = 0) out vec4 colour;
void main() { colour = subpassLoad(before).brga * tint; }
";

unsafe fn clear(
    pass: &Pass<'_, '_>,
    aspect: vk::ImageAspectFlags,
    number: u32,
    value: vk::ClearValue,
    rect: vk::Rect2D,
) {
    let what = vk::ClearAttachment {
        aspect_mask: aspect,
        color_attachment: number,
        clear_value: value,
    };
    let rect = vk::ClearRect {
        rect,
        base_array_layer: 0,
        layer_count: 1,
    };
    (pass.s.device()).cmd_clear_attachments(pass.commands, &[what], &[rect]);
}

/// Clears by command count attachments as their subpass does, and keep what others have.
unsafe fn clears(s: &Scope<'_>) -> anyhow::Result<()> {
    let parts = [
        Part::half(GREY),
        Part::half(GREEN),
        Part::half(BLUE),
        Part::deep(),
    ];
    let unused = vk::ATTACHMENT_UNUSED;
    let subs = [
        Sub::new(&[], &[0, 1]).deep(3),
        Sub::new(&[0], &[unused, 2]),
        Sub::new(&[], &[1, 0]).deep(3),
    ];
    let colour = |tint| vk::ClearValue {
        color: floats(tint),
    };
    let deep = |depth| vk::ClearValue {
        depth_stencil: vk::ClearDepthStencilValue { depth, stencil: 9 },
    };
    let both = "
layout(location = 0) flat in vec4 tint;
layout(location = 0) out vec4 a;
layout(location = 1) out vec4 b;
void main() { a = tint; b = tint.brga; }
";
    let take = TAKE.replace("location = 0) out", "location = 1) out");
    let (boxes, all) = (boxes(), everywhere([0.75, 1.0, 1.0, 1.0]));
    let near = quads(&[([2.0, 2.0, 62.0, 62.0], 0.4, [0.875, 0.125, 0.25, 0.5])]);
    let plan = Plan::new(&parts, &subs);
    let depth = vk::ImageAspectFlags::DEPTH;
    each_way(s, "cleared", &plan, |pass| {
        let mut first = pass.draw(0, &boxes, both)?;
        test_depth(&mut first.0, vk::CompareOp::LESS);
        pass.run(pass.commands, &first, 3)?;
        pass.next();
        let aspect = vk::ImageAspectFlags::COLOR;
        clear(pass, aspect, 0, colour(RED), area(0, 0, 30, 30));
        clear(pass, aspect, 1, colour([0.125; 4]), area(5, 3, 20, 40));
        // Which has neither depth nor a test of it.
        let mut second = pass.draw(1, &all, &take)?;
        test_depth(&mut second.0, vk::CompareOp::NEVER);
        second.0.scissor = area(8, 20, 50, 30);
        pass.run(pass.commands, &second, 1)?;
        pass.next();
        clear(
            pass,
            aspect,
            1,
            colour([0.375, 0.25, 0.125, 1.0]),
            area(40, 40, 9, 20),
        );
        clear(pass, aspect, 0, colour([0.75; 4]), area(33, 1, 20, 20));
        clear(pass, depth, 0, deep(0.1), area(0, 50, 64, 14));
        let mut third = pass.draw(2, &near, both)?;
        test_depth(&mut third.0, vk::CompareOp::LESS);
        third.0.scissor = area(0, 36, 64, 28);
        pass.run(pass.commands, &third, 1)
    })?;
    Ok(())
}

/// Secondary command buffers go on with their own subpass.
unsafe fn secondary(s: &Scope<'_>) -> anyhow::Result<()> {
    let parts = [Part::half(GREY).lost(), Part::half(GREEN)];
    let subs = [Sub::new(&[], &[0]), Sub::new(&[0], &[1])];
    let (boxes, all) = (boxes(), everywhere([0.75, 1.0, 1.0, 1.0]));
    let plan = Plan::new(&parts, &subs);
    let contents = vk::SubpassContents::SECONDARY_COMMAND_BUFFERS;
    let mut all_ways = Vec::new();
    for is_local in [true, false] {
        let pass = Pass::new(s, &plan, is_local)?;
        let draws = [pass.draw(0, &boxes, FLAT)?, pass.draw(1, &all, TAKE)?];
        let mut buffers = Vec::new();
        for (subpass, (draw, count)) in (0..).zip(draws.iter().zip([3, 1])) {
            let inheritance = vk::CommandBufferInheritanceInfo::default()
                .render_pass(pass.handle)
                .subpass(subpass);
            let pool = s.command_pool(vk::CommandPoolCreateFlags::empty())?;
            let buffer = s.allocate(pool, vk::CommandBufferLevel::SECONDARY, 1)?[0];
            let info = vk::CommandBufferBeginInfo::default()
                .flags(vk::CommandBufferUsageFlags::RENDER_PASS_CONTINUE)
                .inheritance_info(&inheritance);
            s.device().begin_command_buffer(buffer, &info)?;
            pass.run(buffer, draw, count)?;
            s.device().end_command_buffer(buffer)?;
            buffers.push(buffer);
        }
        pass.begin(contents);
        s.device()
            .cmd_execute_commands(pass.commands, &buffers[..1]);
        s.device().cmd_next_subpass(pass.commands, contents);
        s.device()
            .cmd_execute_commands(pass.commands, &buffers[1..]);
        all_ways.extend(pass.end()?);
    }
    varied("secondary", &all_ways[0], 4)?;
    (s.report).expect("secondary", all_ways[0].clone(), &all_ways[1])
}

/// The shader of [`quads`] with instances on layers of their own.
fn on_layers(text: &str) -> String {
    let text = text.replace(
        "void main() {",
        "void main() { gl_Layer = gl_InstanceIndex % 3;",
    );
    format!("\n#extension GL_ARB_shader_viewport_layer_array : require{text}")
}

/// Fragments read in their own layers.
unsafe fn layers(s: &Scope<'_>) -> anyhow::Result<()> {
    s.gpu_feature(|features| features.multi_viewport)?;
    let bytes = |clear| Part::new(RGBA8, 4, clear);
    let parts = [bytes([0.2, 0.4, 0.6, 1.0]).lost(), bytes(GREEN)];
    let subs = [Sub::new(&[], &[0]), Sub::new(&[0], &[1])];
    let plan = Plan {
        layers: 3,
        ..Plan::new(&parts, &subs)
    };
    let corners = [[4, 4, 40, 40], [20, 20, 60, 60], [10, 30, 50, 50]];
    let tints = [RED, BLUE, [0.0, 1.0, 1.0, 1.0]];
    let list: Vec<_> = (corners.iter().zip(tints))
        .map(|(corners, tint)| (corners.map(|at| at as f32), 0.0, tint))
        .collect();
    let first = on_layers(&quads(&list));
    let second = on_layers(&quads(&[([0.0, 2.0, 64.0, 50.0], 0.0, [1.0; 4]); 3]));
    let got = each_way(s, "layers", &plan, |pass| {
        pass.run(pass.commands, &pass.draw(0, &first, FLAT)?, 3)?;
        pass.next();
        pass.run(pass.commands, &pass.draw(1, &second, TAKE)?, 3)
    })?;
    let mut expected = Vec::new();
    for ([left, top, right, bottom], tint) in corners.into_iter().zip(tints) {
        let tint = tint.map(|c| (c * 255.0) as u8);
        for (y, x) in (0..SIDE).flat_map(|y| (0..SIDE).map(move |x| (y, x))) {
            let is_inside = (left..right).contains(&x) && (top..bottom).contains(&y);
            let below = if is_inside { tint } else { [51, 102, 153, 255] };
            expected.extend(match (2..50).contains(&y) {
                true => [below[2], below[0], below[1], below[3]],
                false => [0, 255, 0, 255],
            });
        }
    }
    s.report.check("layers", &got[0], &expected)
}

/// Views read in their own layers.
unsafe fn views(s: &Scope<'_>) -> anyhow::Result<()> {
    let parts = [Part::half(GREY).lost(), Part::half(GREEN)];
    let subs = [Sub::new(&[], &[0]), Sub::new(&[0], &[1])];
    let plan = Plan {
        layers: 2,
        view_mask: 0b11,
        ..Plan::new(&parts, &subs)
    };
    let boxes = boxes().replace(
        "tints[gl_InstanceIndex]",
        "tints[gl_InstanceIndex] * (gl_ViewIndex == 1 ? 0.5 : 1.0)",
    );
    let boxes = format!("\n#extension GL_EXT_multiview : require{boxes}");
    let all = everywhere([0.75, 1.0, 1.0, 1.0]);
    each_way(s, "views", &plan, |pass| {
        pass.run(pass.commands, &pass.draw(0, &boxes, FLAT)?, 3)?;
        pass.next();
        pass.run(pass.commands, &pass.draw(1, &all, TAKE)?, 1)
    })?;
    Ok(())
}

/// More than a tile holds: a chain of subpasses, each of which reads what the last but one and the last drew.
unsafe fn too_large(s: &Scope<'_>) -> anyhow::Result<()> {
    let wide = Part::new(vk::Format::R32G32B32A32_SFLOAT, 16, GREY);
    let parts = [
        wide,
        Part {
            clear: vk::ClearValue {
                color: floats([0.5, 0.25, 0.125, 1.0]),
            },
            ..wide
        },
        wide,
        wide,
        wide,
        wide.lost(),
        wide,
    ];
    let mut subs = vec![Sub::new(&[], &[0])];
    for at in 1..7 {
        subs.push(Sub::new(&[at - 1, at.saturating_sub(2)], &[at]));
    }
    let second = "
layout(input_attachment_index = 0, set = 0, binding = 0) uniform subpassInput last;
layout(input_attachment_index = 1, set = 0, binding = 1) uniform subpassInput other;
layout(location = 0) flat in vec4 tint;
layout(location = 0) out vec4 colour;
void main() { colour = subpassLoad(last).brga * 0.5 + subpassLoad(other) * tint; }
";
    let (boxes, part) = (
        boxes(),
        quads(&[([3.0, 5.0, 61.0, 57.0], 0.0, [0.5, 0.25, 0.75, 1.0])]),
    );
    let plan = Plan::new(&parts, &subs);
    each_way(s, "chain", &plan, |pass| {
        pass.run(pass.commands, &pass.draw(0, &boxes, FLAT)?, 3)?;
        for subpass in 1..7 {
            pass.next();
            pass.run(pass.commands, &pass.draw(subpass, &part, second)?, 1)?;
        }
        Ok(())
    })?;
    Ok(())
}

/// Only a part is rendered to, and what is around it stays; attachments are loaded and cleared.
unsafe fn part(s: &Scope<'_>) -> anyhow::Result<()> {
    let parts = [
        Part {
            load: vk::AttachmentLoadOp::LOAD,
            ..Part::half(GREY)
        },
        Part::half(RED).lost(),
        Part {
            load: vk::AttachmentLoadOp::LOAD,
            ..Part::half([0.125, 0.25, 0.375, 0.5])
        },
        Part::deep().lost(),
    ];
    // The first does not have the depth that is cleared when the pass begins.
    let subs = [
        Sub::new(&[2], &[0]),
        Sub::new(&[0], &[1]).deep(3),
        Sub::new(&[1, 0], &[2]).deep(3),
    ];
    let plan = Plan {
        area: area(7, 9, 40, 41),
        ..Plan::new(&parts, &subs)
    };
    let both = "
layout(input_attachment_index = 0, set = 0, binding = 0) uniform subpassInput last;
layout(input_attachment_index = 1, set = 0, binding = 1) uniform subpassInput other;
layout(location = 0) flat in vec4 tint;
layout(location = 0) out vec4 colour;
void main() { colour = subpassLoad(last).brga * tint + subpassLoad(other) * 0.25; }
";
    let take = TAKE.replace(".brga * tint", ".brga * 0.5 + tint * 0.5");
    let (boxes, all) = (boxes(), everywhere([0.75, 0.5, 1.0, 1.0]));
    let tested = vk::PipelineDepthStencilStateCreateInfo::default()
        .depth_test_enable(true)
        .depth_write_enable(true)
        .depth_compare_op(vk::CompareOp::LESS);
    each_way(s, "part", &plan, |pass| {
        pass.run(pass.commands, &pass.draw(0, &boxes, &take)?, 2)?;
        pass.next();
        let mut second = pass.draw(1, &boxes, TAKE)?;
        second.0.depth = tested;
        pass.run(pass.commands, &second, 3)?;
        pass.next();
        let mut third = pass.draw(2, &all, both)?;
        third.0.depth = tested.depth_compare_op(vk::CompareOp::LESS_OR_EQUAL);
        pass.run(pass.commands, &third, 1)
    })?;
    Ok(())
}

/// Inputs are what memory would hold, whatever a tile holds of it.
unsafe fn formats(s: &Scope<'_>) -> anyhow::Result<()> {
    use vk::Format as F;
    let uint = ("u", "uvec4(tint * 300.0)");
    let float = ("", "tint * 1.1 - 0.04");
    for (format, bytes, (kind, value)) in [
        (F::R8G8B8A8_SRGB, 4, float),
        (F::R8G8_UNORM, 2, float),
        (F::B8G8R8A8_UNORM, 4, float),
        (F::R5G6B5_UNORM_PACK16, 2, float),
        (F::R16G16_UNORM, 4, float),
        (F::R16G16B16A16_SFLOAT, 8, float),
        (F::A2B10G10R10_UNORM_PACK32, 4, float),
        (F::B10G11R11_UFLOAT_PACK32, 4, float),
        (F::R32_SFLOAT, 4, float),
        (F::R8G8B8A8_UINT, 4, uint),
        (F::R16G16_UINT, 4, uint),
    ] {
        let offered = (s.gpu.instance)
            .get_physical_device_format_properties(s.gpu.physical, format)
            .optimal_tiling_features;
        if !offered.contains(vk::FormatFeatureFlags::COLOR_ATTACHMENT) {
            continue;
        }
        let parts = [
            Part::new(format, bytes, [0.0; 4]).lost(),
            Part::new(F::R32G32B32A32_SFLOAT, 16, GREY),
        ];
        let subs = [Sub::new(&[], &[0]), Sub::new(&[0], &[1])];
        let first = format!(
            "
layout(location = 0) flat in vec4 tint;
layout(location = 0) out {kind}vec4 colour;
void main() {{ colour = {value}; }}
"
        );
        let second = format!(
            "
layout(input_attachment_index = 0, set = 0, binding = 0) uniform {kind}subpassInput before;
layout(location = 0) out vec4 colour;
void main() {{ colour = vec4(subpassLoad(before)); }}
"
        );
        let (boxes, all) = (boxes(), everywhere([0.0; 4]));
        let mut pictures = Vec::new();
        for is_local in [true, false] {
            let pass = Pass::new(s, &Plan::new(&parts, &subs), is_local)?;
            pass.begin(vk::SubpassContents::INLINE);
            let mut drawn = pass.draw(0, &boxes, &first)?;
            drawn.0.scissor = area(2, 3, 59, 58);
            pass.run(pass.commands, &drawn, 3)?;
            pass.next();
            pass.run(pass.commands, &pass.draw(1, &all, &second)?, 1)?;
            pictures.extend(pass.end()?);
        }
        let numbers = |bytes: &[u8]| -> Vec<f32> {
            let words = bytes.chunks_exact(4);
            words
                .map(|word| f32::from_le_bytes([word[0], word[1], word[2], word[3]]))
                .collect()
        };
        let [together, apart] = [0, 1].map(|at| numbers(&pictures[at]));
        varied(&format!("{format:?}"), &pictures[0], 16)?;
        for (at, (a, b)) in together.iter().zip(&apart).enumerate() {
            // The curve of sRGB is not the same to the last bit in textures and in shaders.
            let error = if format == F::R8G8B8A8_SRGB {
                1e-4
            } else {
                1e-6
            };
            ensure!(
                (a - b).abs() <= error,
                "{format:?}: number {at} is {a} in one pass and {b} in two"
            );
        }
    }
    Ok(())
}

/// Samples that pass are counted in the subpass of the query.
unsafe fn queries(s: &Scope<'_>) -> anyhow::Result<()> {
    s.gpu_feature(|features| features.occlusion_query_precise)?;
    let parts = [Part::half(GREY).lost(), Part::half(GREEN), Part::deep()];
    let subs = [
        Sub::new(&[], &[0]).deep(2),
        Sub::new(&[0], &[1]),
        Sub::new(&[], &[1]).deep(2),
    ];
    let plan = Plan::new(&parts, &subs);
    let near = quads(&[([4.0, 4.0, 24.0, 34.0], 0.25, RED)]);
    let far = quads(&[([14.0, 4.0, 40.0, 34.0], 0.75, BLUE)]);
    let device = s.device();
    for is_local in [true, false] {
        let info = vk::QueryPoolCreateInfo::default()
            .query_type(vk::QueryType::OCCLUSION)
            .query_count(3);
        let pool = device.create_query_pool(&info, None)?;
        s.at_end(move |device| device.destroy_query_pool(pool, None));
        let pass = Pass::new(s, &plan, is_local)?;
        device.cmd_reset_query_pool(pass.commands, pool, 0, 3);
        pass.begin(vk::SubpassContents::INLINE);
        for (subpass, (text, fragment)) in (0..).zip([(&near, FLAT), (&far, TAKE), (&far, FLAT)]) {
            if subpass > 0 {
                pass.next();
            }
            let mut draw = pass.draw(subpass, text, fragment)?;
            test_depth(&mut draw.0, vk::CompareOp::LESS);
            let precise = vk::QueryControlFlags::PRECISE;
            device.cmd_begin_query(pass.commands, pool, subpass, precise);
            pass.run(pass.commands, &draw, 1)?;
            device.cmd_end_query(pass.commands, pool, subpass);
        }
        pass.end()?;
        let mut results = [0_u64; 3];
        let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WAIT;
        device.get_query_pool_results(pool, 0, &mut results, flags)?;
        // The second has no depth to be tested against.
        let expected = [20 * 30, 26 * 30, 16 * 30];
        ensure!(results == expected, "{results:?} instead of {expected:?}");
    }
    Ok(())
}

/// Draws read what others of their own subpass wrote, behind barriers.
unsafe fn barriers(s: &Scope<'_>) -> anyhow::Result<()> {
    let parts = [
        Part::half(GREY).lost(),
        Part::half([0.125, 0.25, 0.375, 0.5]),
    ];
    let subs = [
        Sub::new(&[], &[0]),
        Sub {
            is_loop: true,
            ..Sub::new(&[1, 0], &[1])
        },
        Sub::new(&[0], &[1]),
    ];
    let sum = "
layout(input_attachment_index = 0, set = 0, binding = 0) uniform subpassInput own;
layout(input_attachment_index = 1, set = 0, binding = 1) uniform subpassInput before;
layout(location = 0) flat in vec4 tint;
layout(location = 0) out vec4 colour;
void main() { colour = subpassLoad(own).gbra + subpassLoad(before) * 0.25; }
";
    let (boxes, part) = (
        boxes(),
        quads(&[([11.0, 0.0, 64.0, 37.0], 0.0, [0.5, 0.25, 1.0, 1.0])]),
    );
    let plan = Plan::new(&parts, &subs);
    each_way(s, "barriers", &plan, |pass| {
        pass.run(pass.commands, &pass.draw(0, &boxes, FLAT)?, 3)?;
        pass.next();
        for _ in 0..3 {
            let of = local(1, 1);
            let barrier = vk::MemoryBarrier::default()
                .src_access_mask(of.src_access_mask)
                .dst_access_mask(of.dst_access_mask);
            pass.s.device().cmd_pipeline_barrier(
                pass.commands,
                of.src_stage_mask,
                of.dst_stage_mask,
                of.dependency_flags,
                &[barrier],
                &[],
                &[],
            );
            pass.run(pass.commands, &pass.draw(1, &boxes, sum)?, 1)?;
        }
        pass.next();
        pass.run(pass.commands, &pass.draw(2, &part, TAKE)?, 1)
    })?;
    Ok(())
}

/// Blending, write masks and discards in subpasses that have some of the attachments.
unsafe fn blending(s: &Scope<'_>) -> anyhow::Result<()> {
    let parts = [
        Part::half(GREY),
        Part::half([0.125, 0.25, 0.375, 0.5]),
        Part::half([0.0; 4]),
    ];
    let subs = [
        Sub::new(&[], &[0, 1]),
        Sub::new(&[1], &[2, 0]),
        Sub::new(&[2], &[1]),
    ];
    let both = "
layout(location = 0) flat in vec4 tint;
layout(location = 0) out vec4 a;
layout(location = 1) out vec4 b;
void main() { a = tint * 0.5; b = tint.brga; }
";
    let middle = "
layout(input_attachment_index = 0, set = 0, binding = 0) uniform subpassInput before;
layout(location = 0) flat in vec4 tint;
layout(location = 0) out vec4 a;
layout(location = 1) out vec4 b;
void main() {
    if (int(gl_FragCoord.x + gl_FragCoord.y) % 7 == 3) discard;
    a = subpassLoad(before) + vec4(0.125);
    b = tint * subpassLoad(before).r;
}
";
    let boxes = boxes();
    let plan = Plan::new(&parts, &subs);
    each_way(s, "blended", &plan, |pass| {
        let mut first = pass.draw(0, &boxes, both)?;
        first.0.blend[0] = adding();
        pass.run(pass.commands, &first, 3)?;
        pass.next();
        let mut second = pass.draw(1, &boxes, middle)?;
        second.0.blend[0].color_write_mask =
            vk::ColorComponentFlags::R | vk::ColorComponentFlags::A;
        second.0.blend[1] = adding();
        pass.run(pass.commands, &second, 2)?;
        pass.next();
        let mut third = pass.draw(2, &boxes, TAKE)?;
        third.0.blend[0] = vk::PipelineColorBlendAttachmentState {
            color_blend_op: vk::BlendOp::MAX,
            ..adding()
        };
        pass.run(pass.commands, &third, 3)
    })?;
    Ok(())
}

/// Pipelines are linked from libraries, of which those of fragments know the subpass.
unsafe fn libraries(s: &Scope<'_>) -> anyhow::Result<()> {
    s.gpu.needs(ash::ext::graphics_pipeline_library::NAME)?;
    use vk::GraphicsPipelineLibraryFlagsEXT as Which;
    let parts = [Part::half(GREY).lost(), Part::half(GREEN)];
    let subs = [Sub::new(&[], &[0]), Sub::new(&[0], &[1])];
    let (boxes, all) = (boxes(), everywhere([0.75, 1.0, 1.0, 1.0]));
    let plan = Plan::new(&parts, &subs);
    let none = vk::PipelineCache::null();
    each_way(s, "libraries", &plan, |pass| {
        for (subpass, (text, fragment, count)) in (0..).zip([(&boxes, FLAT, 3), (&all, TAKE, 1)]) {
            if subpass > 0 {
                pass.next();
            }
            let (draw, inputs) = pass.draw(subpass, text, fragment)?;
            let mut libraries = Vec::new();
            for which in [
                Which::VERTEX_INPUT_INTERFACE,
                Which::PRE_RASTERIZATION_SHADERS,
                Which::FRAGMENT_SHADER,
                Which::FRAGMENT_OUTPUT_INTERFACE,
            ] {
                libraries.push(s.describe(&draw, |info| {
                    let stage = match which {
                        Which::PRE_RASTERIZATION_SHADERS => &[vk::ShaderStageFlags::VERTEX][..],
                        Which::FRAGMENT_SHADER => &[vk::ShaderStageFlags::FRAGMENT],
                        _ => &[],
                    };
                    let stages =
                        std::slice::from_raw_parts(info.p_stages, info.stage_count as usize);
                    let stages: Vec<_> = (stages.iter())
                        .filter(|of| stage.contains(&of.stage))
                        .copied()
                        .collect();
                    let mut flags =
                        vk::GraphicsPipelineLibraryCreateInfoEXT::default().flags(which);
                    let info = vk::GraphicsPipelineCreateInfo {
                        flags: vk::PipelineCreateFlags::LIBRARY_KHR,
                        ..*info
                    }
                    .stages(&stages)
                    .push_next(&mut flags);
                    s.graphics_of(none, &info)
                })??);
            }
            let mut linked = vk::PipelineLibraryCreateInfoKHR::default().libraries(&libraries);
            let pipeline = s.describe(&draw, |info| {
                s.graphics_of(none, &info.stages(&[]).push_next(&mut linked))
            })??;
            pass.run_with(pass.commands, pipeline, inputs, count);
        }
        Ok(())
    })?;
    Ok(())
}

/// The framebuffer does not know its views.
unsafe fn imageless(s: &Scope<'_>) -> anyhow::Result<()> {
    let parts = [Part::half(GREY).lost(), Part::half(GREEN)];
    let subs = [Sub::new(&[], &[0]), Sub::new(&[0], &[1])];
    let plan = Plan {
        is_imageless: true,
        ..Plan::new(&parts, &subs)
    };
    let (boxes, all) = (boxes(), everywhere([0.75, 1.0, 1.0, 1.0]));
    each_way(s, "imageless", &plan, |pass| {
        pass.run(pass.commands, &pass.draw(0, &boxes, FLAT)?, 3)?;
        pass.next();
        pass.run(pass.commands, &pass.draw(1, &all, TAKE)?, 1)
    })?;
    Ok(())
}

/// Pipelines are those of another render pass, whose references are to other attachments of the same kinds.
unsafe fn compatible(s: &Scope<'_>) -> anyhow::Result<()> {
    let loaded = Part {
        load: vk::AttachmentLoadOp::LOAD,
        ..Part::half([0.5, 0.125, 0.25, 0.75])
    };
    let parts = [Part::half(GREY), Part::half(GREEN), loaded];
    let plans = [0, 2].map(|input| {
        let subs = [Sub::new(&[], &[0]), Sub::new(&[input], &[1])];
        Plan::new(&parts, &subs)
    });
    let (boxes, all) = (boxes(), everywhere([0.75, 1.0, 1.0, 1.0]));
    for (name, own, other) in [("before", 0, 1), ("outside", 1, 0)] {
        each_way(s, name, &plans[own], |pass| {
            // Of which only pipelines are used.
            let other = Pass::new(s, &plans[other], pass.is_local)?;
            s.finish(other.commands)?;
            let draws = [(0, &boxes, FLAT, 3), (1, &all, TAKE, 1)];
            for (subpass, text, fragment, count) in draws {
                if subpass > 0 {
                    pass.next();
                }
                let (mut draw, inputs) = pass.draw(subpass, text, fragment)?;
                draw.pass = Some((other.handle, subpass));
                pass.run(pass.commands, &(draw, inputs), count)?;
            }
            Ok(())
        })?;
    }
    Ok(())
}
