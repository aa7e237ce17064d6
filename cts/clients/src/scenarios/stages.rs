// SPDX-License-Identifier: MIT
//! Small pictures of what vertex and fragment shaders see and write.

use anyhow::ensure;
use ash::vk;

use super::pictures::{Picture, expect_pixel, quads};
use super::scenario;
use crate::picture::Draw;
use crate::scenario::Scenario;
use crate::scope::Scope;

pub(super) const SCENARIOS: &[Scenario] = &[
    scenario("stages.fragment", fragment),
    scenario("stages.fragment_depth", fragment_depth),
    scenario("stages.side_effects", side_effects),
    scenario("stages.clip_distance", clip_distance),
    scenario("stages.indirect", indirect),
    scenario("stages.multi_draw", multi_draw),
    scenario("stages.counted_draws", counted_draws),
    scenario("stages.vertex_formats", vertex_formats),
];

const RECTANGLES: [([f32; 4], f32, [f32; 4]); 2] = [
    ([4.0, 4.0, 40.0, 40.0], 0.5, [1.0, 0.0, 0.0, 1.0]),
    ([20.0, 20.0, 60.0, 60.0], 0.25, [0.0, 0.0, 1.0, 1.0]),
];

/// Built-in inputs, discards, derivatives: functions of whole pixels.
unsafe fn fragment(s: &Scope<'_>) -> anyhow::Result<()> {
    let vertex = quads(&RECTANGLES);
    for (name, body) in [
        (
            "position",
            "colour = vec4(floor(gl_FragCoord.xy) / 255.0, tint.b, gl_FragCoord.w);",
        ),
        (
            "depth",
            "colour = vec4(gl_FragCoord.z == 0.5, gl_FragCoord.z == 0.25, 0.0, 1.0);",
        ),
        (
            "discard",
            "if (((int(gl_FragCoord.x) ^ int(gl_FragCoord.y)) & 2) != 0) discard; colour = tint;",
        ),
        (
            "derivatives",
            "vec2 p = gl_FragCoord.xy; colour = vec4(dFdx(p.x) == 1.0, dFdy(p.y) == 1.0, dFdx(p.y) == 0.0, fwidth(p.x + 2.0 * p.y) == 3.0);",
        ),
        (
            "derivatives of quads",
            "int x = int(gl_FragCoord.x); float v = float((x & 1) * (x >> 1)); colour = vec4(dFdxFine(v) / 255.0, dFdxCoarse(v) / 255.0, 0.0, 1.0);",
        ),
        (
            "primitive",
            "colour = vec4(float(gl_PrimitiveID) / 5.0, tint.gb, 1.0);",
        ),
        (
            "loop",
            "float n = 0.0; for (int i = 0; i < int(gl_FragCoord.x); i += 3) n += 1.0; colour = vec4(n / 255.0, tint.gb, 1.0);",
        ),
    ] {
        // A primitive's number needs a feature of geometry shaders.
        if name == "primitive" && s.gpu_features().geometry_shader == vk::FALSE {
            continue;
        }
        let picture = Picture::plain(s)?;
        let text = format!(
            "layout(location = 0) flat in vec4 tint;
layout(location = 0) out vec4 colour;
void main() {{ {body} }}"
        );
        let mut draw = picture.quads(&vertex);
        draw.fragment = Some(&text);
        picture.clear();
        picture.draw(&draw, 4, 2)?;
        let got = picture.read()?.colour.remove(0);
        super::pictures::varied(name, &got, 4)?;
        if name != "primitive" {
            s.report.result(name, got);
        }
    }
    Ok(())
}

/// Depths from the shader, with a promise or without.
unsafe fn fragment_depth(s: &Scope<'_>) -> anyhow::Result<()> {
    let vertex = quads(&RECTANGLES);
    for (name, layout, depth) in [
        ("any", "", "gl_FragCoord.x < 30.0 ? 0.125 : 0.875"),
        (
            "greater",
            "layout(depth_greater) out float gl_FragDepth;",
            "0.625",
        ),
        (
            "less",
            "layout(depth_less) out float gl_FragDepth;",
            "0.125",
        ),
        (
            "unchanged",
            "layout(depth_unchanged) out float gl_FragDepth;",
            "gl_FragCoord.z",
        ),
    ] {
        let picture = Picture::deep(s, vk::Format::D32_SFLOAT, 0.75, 0)?;
        let text = format!(
            "{layout}
layout(location = 0) flat in vec4 tint;
layout(location = 0) out vec4 colour;
void main() {{ colour = tint; gl_FragDepth = {depth}; }}"
        );
        let mut draw = picture.quads(&vertex);
        draw.fragment = Some(&text);
        draw.depth = (draw.depth.depth_test_enable(true).depth_write_enable(true))
            .depth_compare_op(vk::CompareOp::LESS);
        picture.clear();
        picture.draw(&draw, 4, 2)?;
        picture.end(name)?;
    }
    Ok(())
}

/// Effects of fragments that fail the depth test: there are none where the shader wants its tests first, else all.
unsafe fn side_effects(s: &Scope<'_>) -> anyhow::Result<()> {
    s.gpu_feature(|features| features.fragment_stores_and_atomics)?;
    let vertex = quads(&RECTANGLES);
    // The first rectangle is behind what the depth is cleared to.
    for (name, layout, far) in [
        ("late", "", 36 * 36),
        ("early", "layout(early_fragment_tests) in;", 0_u32),
    ] {
        let picture = Picture::deep(s, vk::Format::D32_SFLOAT, 0.375, 0)?;
        let bindings = [vk::DescriptorSetLayoutBinding::default()
            .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
            .descriptor_count(1)
            .stage_flags(vk::ShaderStageFlags::FRAGMENT)];
        let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        let set_layout = s.device().create_descriptor_set_layout(&info, None)?;
        s.at_end(move |device| device.destroy_descriptor_set_layout(set_layout, None));
        let counts = s.buffer_of(&[0, 0])?;
        let set = s.set(set_layout)?;
        let storage = vk::DescriptorType::STORAGE_BUFFER;
        s.write(set, 0, storage, 0, &[counts.whole()]);
        let text = format!(
            "{layout}
layout(set = 0, binding = 0) buffer Counts {{ uint count[2]; }};
layout(location = 0) flat in vec4 tint;
layout(location = 0) out vec4 colour;
void main() {{ atomicAdd(count[tint.r == 0.0 ? 1 : 0], 1u); colour = tint; }}"
        );
        let mut draw = picture.quads(&vertex);
        draw.fragment = Some(&text);
        draw.layout = s.pipeline_layout(&[set_layout], 0)?;
        draw.depth = (draw.depth.depth_test_enable(true).depth_write_enable(true))
            .depth_compare_op(vk::CompareOp::LESS);
        picture.clear();
        let (device, graphics) = (s.device(), vk::PipelineBindPoint::GRAPHICS);
        let sets = [set];
        device.cmd_bind_descriptor_sets(picture.commands, graphics, draw.layout, 0, &sets, &[]);
        picture.draw(&draw, 4, 2)?;
        picture.end(name)?;
        let (got, near) = (counts.words(), 40 * 40);
        ensure!(
            got == [far, near],
            "{name}: {got:?} instead of {far} and {near}"
        );
    }
    Ok(())
}

/// Distances that cut between pixels' middles.
unsafe fn clip_distance(s: &Scope<'_>) -> anyhow::Result<()> {
    s.gpu_feature(|features| features.shader_clip_distance)?;
    let vertex = "
out float gl_ClipDistance[2];
layout(location = 0) flat out vec4 colour;
void main() {
    vec2 at = vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 64.0;
    gl_Position = vec4(at / 32.0 - 1.0, 0.0, 1.0);
    gl_ClipDistance[0] = at.x - 16.0;
    gl_ClipDistance[1] = 48.0 - at.y;
    colour = vec4(1.0, 0.0, 0.0, 1.0);
}
";
    let picture = Picture::plain(s)?;
    picture.clear();
    picture.draw(&picture.quads(vertex), 4, 1)?;
    picture.end("two").map(drop)
}

/// Parameters from a buffer, with first vertices and instances.
unsafe fn indirect(s: &Scope<'_>) -> anyhow::Result<()> {
    let vertex = quads(&RECTANGLES);
    for (name, indexed, words) in [
        ("all", false, [4, 2, 0, 0, 0]),
        ("second instance", false, [4, 1, 0, 1, 0]),
        ("first vertex", false, [3, 2, 1, 0, 0]),
        ("indexed", true, [4, 2, 0, 0, 0]),
        ("indexed, base", true, [3, 1, 2, 1, 1]),
    ] {
        let picture = Picture::plain(s)?;
        let parameters = s.buffer_of(&words)?;
        let indices = s.buffer_for(16, vk::BufferUsageFlags::INDEX_BUFFER)?;
        indices.write(0, &[2, 0, 3, 0, 0, 0, 1, 0, 2, 0]);
        picture.clear();
        picture.bind(&picture.quads(&vertex))?;
        let (device, commands) = (s.device(), picture.commands);
        if indexed {
            device.cmd_bind_index_buffer(commands, indices.handle, 0, vk::IndexType::UINT16);
            device.cmd_draw_indexed_indirect(commands, parameters.handle, 0, 1, 0);
        } else {
            device.cmd_draw_indirect(commands, parameters.handle, 0, 1, 0);
        }
        picture.end(name)?;
    }
    Ok(())
}

/// Several draws of one command, with a stride, an empty one among them, and offsets of their own or one
/// for all; the shader sees which draw it is of.
unsafe fn multi_draw(s: &Scope<'_>) -> anyhow::Result<()> {
    s.gpu.needs(ash::ext::multi_draw::NAME)?;
    let commands_of = ash::ext::multi_draw::Device::new(&s.gpu.instance, s.device());
    // Four vertices of each row are a rectangle of 8 pixels, of each draw and instance in its own place.
    let vertex = "
layout(location = 0) flat out vec4 colour;
void main() {
    vec2 corner = vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1 & 1);
    vec2 place = vec2(gl_DrawID, gl_VertexIndex >> 2) * 16.0 + float(gl_InstanceIndex) * 8.0;
    gl_Position = vec4((place + corner * 8.0) / 32.0 - 1.0, 0.0, 1.0);
    colour = vec4(gl_DrawID, gl_BaseVertex, gl_BaseInstance, 255) / 255.0;
}
";
    let draws = [(0, 4), (8, 3), (4, 0), (4, 4)];
    for (name, offset) in [("vertices", None), ("offsets", None), ("offset", Some(4))] {
        let picture = Picture::plain(s)?;
        picture.clear();
        picture.bind(&picture.quads(vertex))?;
        let (commands, device) = (picture.commands, s.device());
        if name == "vertices" {
            let infos = draws.map(|(first_vertex, vertex_count)| vk::MultiDrawInfoEXT {
                first_vertex,
                vertex_count,
            });
            let call = commands_of.fp().cmd_draw_multi_ext;
            call(commands, 4, infos.as_ptr(), 2, 0, 8);
        } else {
            let indices = s.buffer_for(32, vk::BufferUsageFlags::INDEX_BUFFER)?;
            let words: Vec<u8> = (0..16).flat_map(u16::to_le_bytes).collect();
            indices.write(0, &words);
            // A word lies behind each.
            let infos: Vec<u32> = draws
                .iter()
                .flat_map(|(first, count)| [*first, *count, 8 - *first, u32::MAX])
                .collect();
            device.cmd_bind_index_buffer(commands, indices.handle, 0, vk::IndexType::UINT16);
            let offset = offset.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
            let call = commands_of.fp().cmd_draw_multi_indexed_ext;
            call(commands, 4, infos.as_ptr().cast(), 1, 1, 16, offset);
        }
        picture.end(name)?;
    }
    Ok(())
}

/// Indirect draws, of which memory says how many there are: fewer than there might be, and more.
unsafe fn counted_draws(s: &Scope<'_>) -> anyhow::Result<()> {
    // Each draw is a rectangle of 16 pixels in a place of its own.
    let vertex = "
layout(location = 0) flat out vec4 colour;
void main() {
    vec2 corner = vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1 & 1);
    vec2 place = vec2(gl_InstanceIndex & 3, gl_InstanceIndex >> 2) * 16.0;
    gl_Position = vec4((place + corner * 16.0) / 32.0 - 1.0, 0.0, 1.0);
    colour = vec4(gl_InstanceIndex, gl_BaseInstance, gl_DrawID, 255) / 255.0;
}
";
    // A word lies between one draw and the next.
    let plain: Vec<u32> = (0..6).flat_map(|n| [4, 1 + n % 2, 0, 2 * n, 77]).collect();
    let indexed: Vec<u32> = (0..6)
        .flat_map(|n| [4, 1 + n % 2, n, 0_u32.wrapping_sub(n), 2 * n, 77])
        .collect();
    for (name, count, is_indexed) in [
        ("none", 0_u32, false),
        ("some", 4, false),
        ("all", 9, false),
        ("some indexed", 5, true),
    ] {
        let picture = Picture::plain(s)?;
        let arguments = s.buffer_of(if is_indexed { &indexed } else { &plain })?;
        let number = s.buffer_of(&[99, count])?;
        let indices = s.buffer_for(32, vk::BufferUsageFlags::INDEX_BUFFER)?;
        let words: Vec<u8> = (0..16).flat_map(u16::to_le_bytes).collect();
        indices.write(0, &words);
        picture.clear();
        picture.bind(&picture.quads(vertex))?;
        let (device, commands) = (s.device(), picture.commands);
        let (from, number) = (arguments.handle, number.handle);
        // Something is drawn before, in any case.
        device.cmd_draw(commands, 4, 1, 0, 15);
        if is_indexed {
            device.cmd_bind_index_buffer(commands, indices.handle, 0, vk::IndexType::UINT16);
            device.cmd_draw_indexed_indirect_count(commands, from, 0, number, 4, 6, 24);
        } else {
            device.cmd_draw_indirect_count(commands, from, 0, number, 4, 6, 20);
        }
        picture.end(name)?;
    }
    Ok(())
}

/// The same four bytes as attributes of many formats; the shader says whether all components are
/// what they must be.
unsafe fn vertex_formats(s: &Scope<'_>) -> anyhow::Result<()> {
    use vk::Format as F;
    // Lavapipe does not clamp -128 of SNORM to -1, as Vulkan wants: its -1.008 is let through.
    for (format, ty, expected) in [
        (
            F::R8G8B8A8_UNORM,
            "vec4",
            "vec4(0.0, 1.0, 128.0 / 255.0, 1.0 / 255.0)",
        ),
        (
            F::R8G8B8A8_SNORM,
            "vec4",
            "vec4(0.0, -1.0 / 127.0, -1.0, 1.0 / 127.0)",
        ),
        (F::R8G8B8A8_UINT, "uvec4", "uvec4(0, 255, 128, 1)"),
        (F::R8G8B8A8_SINT, "ivec4", "ivec4(0, -1, -128, 1)"),
        (F::R8G8_UNORM, "vec4", "vec4(0.0, 1.0, 0.0, 1.0)"),
        (F::R8_UINT, "uvec4", "uvec4(0, 0, 0, 1)"),
        (F::R16G16_UINT, "uvec4", "uvec4(0xff00, 0x180, 0, 1)"),
        (F::R16G16_SINT, "ivec4", "ivec4(-256, 0x180, 0, 1)"),
        (F::R32_UINT, "uvec4", "uvec4(0x0180ff00u, 0, 0, 1)"),
        (
            F::A2B10G10R10_UNORM_PACK32,
            "vec4",
            "vec4(768.0, 63.0, 24.0, 0.0) / vec4(1023.0, 1023.0, 1023.0, 3.0)",
        ),
    ] {
        let properties =
            (s.gpu.instance).get_physical_device_format_properties(s.gpu.physical, format);
        let wanted = vk::FormatFeatureFlags::VERTEX_BUFFER;
        ensure!(properties.buffer_features.contains(wanted), "{format:?}");
        let tolerance = if format == F::R8G8B8A8_SNORM {
            0.0085
        } else {
            1.0e-6
        };
        let picture = Picture::plain(s)?;
        let vertex = format!(
            "layout(location = 0) in {ty} value;
layout(location = 0) flat out vec4 colour;
void main() {{
    vec2 at = vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 40.0;
    gl_Position = vec4(at / 32.0 - 1.0, 0.0, 1.0);
    vec4 d = abs(vec4(value) - vec4({expected}));
    colour = max(max(d.x, d.y), max(d.z, d.w)) < {tolerance:?} ? vec4(0, 1, 0, 1) : vec4(1, 0, 0, 1);
}}"
        );
        let mut draw: Draw<'_> = picture.quads(&vertex);
        draw.bindings = vec![vk::VertexInputBindingDescription {
            binding: 0,
            stride: 4,
            input_rate: vk::VertexInputRate::INSTANCE,
        }];
        draw.attributes = vec![vk::VertexInputAttributeDescription {
            location: 0,
            binding: 0,
            format,
            offset: 0,
        }];
        let buffer = s.buffer_for(4, vk::BufferUsageFlags::VERTEX_BUFFER)?;
        buffer.write(0, &[0, 255, 128, 1]);
        picture.clear();
        (s.device()).cmd_bind_vertex_buffers(picture.commands, 0, &[buffer.handle], &[0]);
        picture.draw(&draw, 4, 1)?;
        let name = format!("{format:?}");
        let pixels = picture.end(&name)?;
        expect_pixel(&name, &pixels.colour[0], 20, 20, [0.0, 1.0, 0.0, 1.0])?;
    }
    Ok(())
}
