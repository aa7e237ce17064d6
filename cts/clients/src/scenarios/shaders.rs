// SPDX-License-Identifier: MIT
//! How graphics shaders get what they read: pushed descriptors, dynamic offsets, texel buffers, constants of
//! specialisation, addresses; and what fragments may do beside colours.

use anyhow::{Context as _, ensure};
use ash::vk;

use super::pictures::{BLUE, FLAT, GREEN, GREY, Picture, RED, SIDE, expect_pixel, quads};
use super::scenario;
use crate::resources::{EVERYWHERE, PROBE, Probe, Resource, STAGES};
use crate::scenario::Scenario;
use crate::scope::{Buffer, Scope};

pub(super) const SCENARIOS: &[Scenario] = &[
    scenario("shaders.push_descriptors", push_descriptors),
    scenario("shaders.dynamic_offsets", dynamic_offsets),
    scenario("shaders.texel_buffers", texel_buffers),
    scenario("shaders.specialization", specialization),
    scenario("shaders.addresses", addresses),
    scenario("shaders.dual_source", dual_source),
    scenario("shaders.helpers", helpers),
    scenario("shaders.loops", loops),
];

const GRAPHICS: vk::PipelineBindPoint = vk::PipelineBindPoint::GRAPHICS;

/// A set layout of buffers that both stages see.
unsafe fn set_layout(
    s: &Scope<'_>,
    kinds: &[vk::DescriptorType],
    flags: vk::DescriptorSetLayoutCreateFlags,
) -> anyhow::Result<(vk::DescriptorSetLayout, vk::PipelineLayout)> {
    let bindings: Vec<_> = (0..)
        .zip(kinds)
        .map(|(binding, kind)| {
            vk::DescriptorSetLayoutBinding::default()
                .binding(binding)
                .descriptor_type(*kind)
                .descriptor_count(1)
                .stage_flags(STAGES)
        })
        .collect();
    let info = vk::DescriptorSetLayoutCreateInfo::default()
        .flags(flags)
        .bindings(&bindings);
    let layout = s.device().create_descriptor_set_layout(&info, None)?;
    s.at_end(move |device| device.destroy_descriptor_set_layout(layout, None));
    Ok((layout, s.pipeline_layout(&[layout], 0)?))
}

/// Floats in a buffer.
unsafe fn floats_in(s: &Scope<'_>, size: u64, at: usize, list: &[f32]) -> anyhow::Result<Buffer> {
    let buffer = s.buffer(size)?;
    let bytes: Vec<u8> = list.iter().flat_map(|f| f.to_le_bytes()).collect();
    buffer.write(at, &bytes);
    Ok(buffer)
}

/// A rectangle from one buffer, its colour from another one.
const PLACED: &str = "
layout(set = 0, binding = 0) uniform U { vec4 r; };
void main() {
    vec2 at = vec2((gl_VertexIndex & 1) == 0 ? r.x : r.z, (gl_VertexIndex & 2) == 0 ? r.y : r.w);
    gl_Position = vec4(at / 32.0 - 1.0, 0.0, 1.0);
}
";
const TINTED: &str = "
layout(set = 0, binding = 1) readonly buffer B { vec4 tint; };
layout(location = 0) out vec4 colour;
void main() { colour = tint; }
";

const PLACES: [[f32; 4]; 3] = [
    [4.0, 4.0, 40.0, 40.0],
    [20.0, 20.0, 60.0, 60.0],
    [2.0, 44.0, 30.0, 62.0],
];
const TINTS: [[f32; 4]; 3] = [RED, GREEN, BLUE];

/// The picture of rectangles with tints, each after those before.
fn placed(list: &[(usize, usize)]) -> Vec<u8> {
    let mut all = GREY
        .map(|c| (c * 255.0).round() as u8)
        .repeat((SIDE * SIDE) as usize);
    for (place, tint) in list {
        let [left, top, right, bottom] = PLACES[*place].map(|v| v as u32);
        for (y, x) in (top..bottom).flat_map(|y| (left..right).map(move |x| (y, x))) {
            let at = 4 * (y * SIDE + x) as usize;
            all[at..at + 4].copy_from_slice(&TINTS[*tint].map(|c| (c * 255.0) as u8));
        }
    }
    all
}

/// Descriptors that commands hold, changed one at a time between draws.
unsafe fn push_descriptors(s: &Scope<'_>) -> anyhow::Result<()> {
    s.gpu.needs(ash::khr::push_descriptor::NAME)?;
    let push = ash::khr::push_descriptor::Device::new(&s.gpu.instance, s.device());
    let kinds = [
        vk::DescriptorType::UNIFORM_BUFFER,
        vk::DescriptorType::STORAGE_BUFFER,
    ];
    let flags = vk::DescriptorSetLayoutCreateFlags::PUSH_DESCRIPTOR_KHR;
    let (_, layout) = set_layout(s, &kinds, flags)?;
    let (mut places, mut tints) = (Vec::new(), Vec::new());
    for at in 0..3 {
        places.push(floats_in(s, 16, 0, &PLACES[at])?);
        tints.push(floats_in(s, 16, 0, &TINTS[at])?);
    }
    let picture = Picture::plain(s)?;
    let mut draw = picture.quads(PLACED);
    draw.fragment = Some(TINTED);
    draw.layout = layout;
    picture.clear();
    picture.bind(&draw)?;
    let (device, commands) = (s.device(), picture.commands);
    let order = [(0, 0), (1, 0), (1, 1), (2, 1), (0, 2)];
    let mut before = (usize::MAX, usize::MAX);
    for (place, tint) in order {
        for (binding, changed, buffer) in [
            (0, place != before.0, places[place]),
            (1, tint != before.1, tints[tint]),
        ] {
            if changed {
                let info = [buffer.whole()];
                let write = vk::WriteDescriptorSet::default()
                    .dst_binding(binding)
                    .descriptor_type(kinds[binding as usize])
                    .buffer_info(&info);
                push.cmd_push_descriptor_set(commands, GRAPHICS, layout, 0, &[write]);
            }
        }
        before = (place, tint);
        device.cmd_draw(commands, 4, 1, 0, 0);
    }
    let got = picture.read()?.colour.remove(0);
    s.report.expect("pushed", got, &placed(&order))
}

/// One set whose offsets change from draw to draw.
unsafe fn dynamic_offsets(s: &Scope<'_>) -> anyhow::Result<()> {
    let kinds = [
        vk::DescriptorType::UNIFORM_BUFFER_DYNAMIC,
        vk::DescriptorType::STORAGE_BUFFER_DYNAMIC,
    ];
    let (set_layout, layout) = set_layout(s, &kinds, vk::DescriptorSetLayoutCreateFlags::empty())?;
    let set = s.set(set_layout)?;
    let places = s.buffer(1024)?;
    let tints = s.buffer(1024)?;
    for at in 0..3 {
        let bytes = |list: [f32; 4]| list.map(f32::to_le_bytes).concat();
        places.write(256 * at, &bytes(PLACES[at]));
        tints.write(256 * at + 256, &bytes(TINTS[at]));
    }
    s.write(set, 0, kinds[0], 0, &[places.part(0, 16)]);
    s.write(set, 1, kinds[1], 0, &[tints.part(256, 16)]);
    let picture = Picture::plain(s)?;
    let mut draw = picture.quads(PLACED);
    draw.fragment = Some(TINTED);
    draw.layout = layout;
    picture.clear();
    picture.bind(&draw)?;
    let (device, commands) = (s.device(), picture.commands);
    let order = [(2, 1), (0, 0), (1, 2), (0, 1), (2, 0)];
    for (place, tint) in order {
        let offsets = [place, tint].map(|at| 256 * at as u32);
        device.cmd_bind_descriptor_sets(commands, GRAPHICS, layout, 0, &[set], &offsets);
        device.cmd_draw(commands, 4, 1, 0, 0);
    }
    let got = picture.read()?.colour.remove(0);
    s.report.expect("offsets", got, &placed(&order))
}

unsafe fn texels(
    s: &Scope<'_>,
    buffer: Buffer,
    format: vk::Format,
    offset: u64,
    range: u64,
) -> anyhow::Result<vk::BufferView> {
    let info = vk::BufferViewCreateInfo::default()
        .buffer(buffer.handle)
        .format(format)
        .offset(offset)
        .range(range);
    let view = s.device().create_buffer_view(&info, None)?;
    s.at_end(move |device| device.destroy_buffer_view(view, None));
    Ok(view)
}

/// Buffers of texels, read and written; their sizes.
unsafe fn texel_buffers(s: &Scope<'_>) -> anyhow::Result<()> {
    s.gpu_feature(|features| features.fragment_stores_and_atomics)?;
    let usage =
        vk::BufferUsageFlags::UNIFORM_TEXEL_BUFFER | vk::BufferUsageFlags::STORAGE_TEXEL_BUFFER;
    let noise: Vec<u8> = (0..4352_u32).map(|n| (n * 151 + n * n * 7) as u8).collect();
    let buffer = s.buffer_for(4352, usage)?;
    buffer.write(0, &noise);
    let written = s.buffer_for(4096, usage)?;
    let bytes = vk::Format::R8G8B8A8_UNORM;
    let words = vk::Format::R32_UINT;
    let list = [
        Resource::Texels(texels(s, buffer, bytes, 256, 4096)?),
        Resource::Texels(texels(s, buffer, vk::Format::R16G16_SINT, 0, 2048)?),
        Resource::StorageTexels(texels(s, written, words, 0, vk::WHOLE_SIZE)?),
    ];
    let shader = "
#extension GL_EXT_samplerless_texture_functions : require
layout(set = 0, binding = 0) uniform textureBuffer a;
layout(set = 0, binding = 1) uniform itextureBuffer b;
layout(set = 0, binding = 2, r32ui) uniform writeonly uimageBuffer c;
void main() {
    ivec2 p = ivec2(gl_FragCoord.xy);
    int n = p.y * 32 + p.x;
    imageStore(c, n, uvec4(n * n));
    ivec4 texel = texelFetch(b, n & 511);
    colour = p.y < 16 ? texelFetch(a, n) : vec4(texel.xy, textureSize(b), imageSize(c));
}
";
    let probe = Probe::new(s, shader, &list, 0)?;
    let got = probe.run(&list, &[])?;
    for (n, got) in got.iter().enumerate() {
        let expected: [f32; 4] = if n < 512 {
            std::array::from_fn(|at| f32::from(noise[256 + 4 * n + at]) / 255.0)
        } else {
            let at = 4 * (n & 511);
            let half = |at: usize| f32::from(i16::from_le_bytes([noise[at], noise[at + 1]]));
            [half(at), half(at + 2), 512.0, 1024.0]
        };
        let near = got
            .iter()
            .zip(expected)
            .all(|(a, b)| (a - b).abs() < 1.0e-6);
        ensure!(near, "texel {n}: {got:?} instead of {expected:?}");
    }
    let squares: Vec<u8> = (0..PROBE * PROBE)
        .flat_map(|n| (n * n).to_le_bytes())
        .collect();
    s.report.expect("written", written.bytes(), &squares)
}

/// Constants of both stages that are chosen when the pipeline is made.
unsafe fn specialization(s: &Scope<'_>) -> anyhow::Result<()> {
    let vertex = "
layout(constant_id = 3) const float left = 1.0;
layout(constant_id = 4) const int rows = 1;
layout(location = 0) flat out vec4 colour;
void main() {
    vec2 at = vec2(left + float(gl_VertexIndex & 1) * 20.0, float(gl_VertexIndex >> 1) * float(rows) * 8.0);
    gl_Position = vec4(at / 32.0 - 1.0, 0.0, 1.0);
    colour = vec4(1.0, 0.0, 0.0, 1.0);
}
";
    let fragment = "
layout(constant_id = 3) const bool swapped = false;
layout(constant_id = 9) const uint count = 2;
layout(location = 0) flat in vec4 tint;
layout(location = 0) out vec4 colour;
void main() {
    vec4 list[count];
    for (uint n = 0; n < count; n++) list[n] = vec4(float(n) / 255.0);
    colour = swapped ? tint.bgra : tint + list[count - 1u] * vec4(0.0, 1.0, 0.0, 0.0);
}
";
    for (left, rows, swapped, count) in [
        (4.0_f32, 3_i32, false, 5_u32),
        (30.0, 7, true, 1),
        (0.0, 1, false, 16),
    ] {
        let picture = Picture::plain(s)?;
        let mut draw = picture.quads(vertex);
        draw.fragment = Some(fragment);
        let entry = |id, offset| vk::SpecializationMapEntry {
            constant_id: id,
            offset,
            size: 4,
        };
        let of_vertex = [left.to_le_bytes(), rows.to_le_bytes()].concat();
        let of_fragment = [u32::from(swapped).to_le_bytes(), count.to_le_bytes()].concat();
        let (first, second) = ([entry(3, 0), entry(4, 4)], [entry(3, 0), entry(9, 4)]);
        let infos = [(&first, &of_vertex), (&second, &of_fragment)].map(|(entries, data)| {
            vk::SpecializationInfo::default()
                .map_entries(entries)
                .data(data)
        });
        let none = vk::PipelineCache::null();
        let made = s.describe(&draw, |info| {
            let mut stages =
                std::slice::from_raw_parts(info.p_stages, info.stage_count as usize).to_vec();
            for (stage, info) in stages.iter_mut().zip(&infos) {
                *stage = stage.specialization_info(info);
            }
            s.graphics_of(none, &info.stages(&stages))
        })?;
        let pipeline = made.context("vkCreateGraphicsPipelines")?;
        picture.clear();
        let device = s.device();
        device.cmd_bind_pipeline(picture.commands, GRAPHICS, pipeline);
        device.cmd_draw(picture.commands, 4, 1, 0, 0);
        let name = format!("{left} {rows} {swapped} {count}");
        let got = picture.end(&name)?.colour.remove(0);
        let (x, y) = (left as usize + 10, rows as usize * 8);
        let tint = match swapped {
            true => BLUE,
            false => [1.0, (count - 1) as f32 / 255.0, 0.0, 1.0],
        };
        expect_pixel(&name, &got, x, y - 1, tint)?;
        expect_pixel(&name, &got, x, y, GREY)?;
    }
    Ok(())
}

/// Memory that shaders reach by its address.
unsafe fn addresses(s: &Scope<'_>) -> anyhow::Result<()> {
    crate::gpu::require(s.gpu.features.buffer_device_address, "bufferDeviceAddress")?;
    let usage = crate::scope::USAGE | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS;
    let buffer = s.buffer_for(4096, usage)?;
    let words: Vec<u8> = (0..1024_u32).flat_map(|n| (n * 5).to_le_bytes()).collect();
    buffer.write(0, &words);
    let info = vk::BufferDeviceAddressInfo::default().buffer(buffer.handle);
    let address = s.device().get_buffer_device_address(&info);
    let shader = "
#extension GL_EXT_buffer_reference : require
layout(buffer_reference, std430, buffer_reference_align = 4) readonly buffer Words { uint words[]; };
layout(push_constant) uniform P { Words all; };
void main() {
    ivec2 p = ivec2(gl_FragCoord.xy);
    int n = p.y * 32 + p.x;
    colour = vec4(all.words[n], all.words[1023 - n], n, 1.0);
}
";
    let got = Probe::new(s, shader, &[], 8)?.run(&[], &address.to_le_bytes())?;
    for (n, got) in got.iter().enumerate() {
        let expected = [5 * n, 5 * (1023 - n), n, 1].map(|v| v as f32);
        ensure!(*got == expected, "{n}: {got:?} instead of {expected:?}");
    }
    Ok(())
}

/// A second output that is a factor.
unsafe fn dual_source(s: &Scope<'_>) -> anyhow::Result<()> {
    s.gpu_feature(|features| features.dual_src_blend)?;
    let vertex = quads(&[([4.0, 4.0, 40.0, 40.0], 0.5, [1.0, 0.6, 0.2, 1.0])]);
    let fragment = "
layout(location = 0) flat in vec4 tint;
layout(location = 0, index = 0) out vec4 colour;
layout(location = 0, index = 1) out vec4 factor;
void main() { colour = tint; factor = vec4(1.0, 0.0, 0.0, 1.0); }
";
    use vk::BlendFactor as F;
    // GREY is 0.2, 0.4, 0.6, 1.
    for (source, target, expected) in [
        (F::SRC1_COLOR, F::ZERO, [1.0, 0.0, 0.0, 1.0]),
        (F::ZERO, F::SRC1_COLOR, [0.2, 0.0, 0.0, 1.0]),
        (F::ONE_MINUS_SRC1_COLOR, F::ZERO, [0.0, 0.6, 0.2, 0.0]),
        (F::SRC1_COLOR, F::ONE_MINUS_SRC1_COLOR, [1.0, 0.4, 0.6, 1.0]),
        (F::SRC1_ALPHA, F::ONE_MINUS_SRC1_ALPHA, [1.0, 0.6, 0.2, 1.0]),
        (F::ONE_MINUS_SRC1_ALPHA, F::SRC1_ALPHA, GREY),
    ] {
        let picture = Picture::plain(s)?;
        let mut draw = picture.quads(&vertex);
        draw.fragment = Some(fragment);
        draw.blend[0] = vk::PipelineColorBlendAttachmentState::default()
            .blend_enable(true)
            .src_color_blend_factor(source)
            .dst_color_blend_factor(target)
            .src_alpha_blend_factor(source)
            .dst_alpha_blend_factor(target)
            .color_write_mask(vk::ColorComponentFlags::RGBA);
        picture.clear();
        picture.draw(&draw, 4, 1)?;
        let name = format!("{source:?} {target:?}");
        let got = picture.read()?.colour.remove(0);
        expect_pixel(&name, &got, 20, 20, expected)?;
        expect_pixel(&name, &got, 50, 50, GREY)?;
        s.report.result(&name, got);
    }
    Ok(())
}

/// Fragments that are given up at once or later: derivatives beside them stay what they are.
unsafe fn helpers(s: &Scope<'_>) -> anyhow::Result<()> {
    let mut v13 = vk::PhysicalDeviceVulkan13Features::default();
    let mut all = vk::PhysicalDeviceFeatures2::default().push_next(&mut v13);
    (s.gpu.instance).get_physical_device_features2(s.gpu.physical, &mut all);
    let offered = v13.shader_demote_to_helper_invocation == vk::TRUE;
    crate::gpu::require(offered, "shaderDemoteToHelperInvocation")?;
    for (name, head, give_up) in [
        (
            "demoted",
            "#extension GL_EXT_demote_to_helper_invocation : require",
            "demote",
        ),
        ("discarded", "", "discard"),
    ] {
        let fragment = format!(
            "
{head}
layout(location = 0) out vec4 colour;
void main() {{
    ivec2 p = ivec2(gl_FragCoord.xy);
    float value = float(p.x * p.x + 3 * p.y);
    vec2 slope = vec2(dFdxFine(value), dFdyFine(value));
    if (((p.x ^ p.y * 3) & 3) == 0) {give_up};
    colour = vec4(slope.x, slope.y, float(p.y), 255.0) / 255.0;
}}
"
        );
        let picture = Picture::plain(s)?;
        let mut draw = picture.quads(EVERYWHERE);
        draw.topology = vk::PrimitiveTopology::TRIANGLE_LIST;
        draw.fragment = Some(&fragment);
        picture.clear();
        picture.draw(&draw, 3, 1)?;
        let got = picture.read()?.colour.remove(0);
        let expected: Vec<u8> = (0..SIDE * SIDE)
            .flat_map(|at| {
                let (x, y) = (at % SIDE, at / SIDE);
                let left = x & !1;
                match (x ^ (y * 3)) & 3 {
                    0 => [51, 102, 153, 255],
                    _ => [2 * left + 1, 3, y, 255].map(|v| v as u8),
                }
            })
            .collect();
        s.report.expect(name, got, &expected)?;
    }
    Ok(())
}

/// Loops whose length differs from fragment to fragment, within which more fragments leave.
unsafe fn loops(s: &Scope<'_>) -> anyhow::Result<()> {
    let fragment = "
layout(location = 0) out vec4 colour;
void main() {
    uint x = uint(gl_FragCoord.x), y = uint(gl_FragCoord.y);
    uint n = x * 64u + y, steps = 0u;
    // The steps of Collatz, some fragments give up.
    while (n > 1u) {
        n = (n & 1u) == 0u ? n / 2u : 3u * n + 1u;
        steps++;
        if (steps > 100u) break;
        if (steps == 50u && (x & 7u) == 3u) discard;
    }
    colour = vec4(float(steps), float(n & 255u), 0.0, 255.0) / 255.0;
}
";
    let picture = Picture::plain(s)?;
    let mut draw = picture.quads(EVERYWHERE);
    draw.topology = vk::PrimitiveTopology::TRIANGLE_LIST;
    draw.fragment = Some(fragment);
    picture.clear();
    picture.draw(&draw, 3, 1)?;
    let got = picture.read()?.colour.remove(0);
    let expected: Vec<u8> = (0..SIDE * SIDE)
        .flat_map(|at| {
            let (x, y) = (at % SIDE, at / SIDE);
            let (mut n, mut steps) = (x * 64 + y, 0);
            while n > 1 {
                n = if n & 1 == 0 { n / 2 } else { 3 * n + 1 };
                steps += 1;
                if steps > 100 {
                    break;
                }
                if steps == 50 && x & 7 == 3 {
                    return [51, 102, 153, 255];
                }
            }
            [steps as u8, n as u8, 0, 255]
        })
        .collect();
    s.report.expect("steps", got, &expected)?;
    // All of it once more with a colour from the vertex shader, over what is there.
    let vertex = quads(&[([4.0, 4.0, 40.0, 40.0], 0.5, GREEN)]);
    let picture = Picture::plain(s)?;
    picture.clear();
    picture.draw(&draw, 3, 1)?;
    let mut second = picture.quads(&vertex);
    second.fragment = Some(FLAT);
    picture.draw(&second, 4, 1)?;
    let got = picture.end("both")?.colour.remove(0);
    expect_pixel("both", &got, 20, 20, GREEN)
}
