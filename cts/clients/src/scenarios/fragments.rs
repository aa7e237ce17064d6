// SPDX-License-Identifier: MIT
//! What stages of graphics read and write beside varyings: samples, constants, buffers, storage images.

use anyhow::ensure;
use ash::vk;

use super::pictures::{GREY, Picture, RGBA8, SIDE, floats, quads};
use super::scenario;
use super::varyings::{PLACES, WIDE};
use crate::image::Shape;
use crate::model;
use crate::picture::{Attachment, Draw, Target};
use crate::resources::{EVERYWHERE, Layout, PROBE, Probe, Resource, STAGES};
use crate::scenario::Scenario;
use crate::scope::{Buffer, Scope};

pub(super) const SCENARIOS: &[Scenario] = &[
    scenario("fragments.samples", samples),
    scenario("fragments.sample_masks", sample_masks),
    scenario("fragments.sample_mask_in", sample_mask_in),
    scenario("fragments.resources", resources),
    scenario("fragments.storage_images", storage_images),
    scenario("fragments.atomics", atomics),
    scenario("fragments.early_tests", early_tests),
    scenario("fragments.vertex_writes", vertex_writes),
];

const FOUR: vk::SampleCountFlags = vk::SampleCountFlags::TYPE_4;
const ONE: vk::SampleCountFlags = vk::SampleCountFlags::TYPE_1;

/// A target of [`PROBE`] pixels that is sampled later.
unsafe fn sampled_target(
    s: &Scope<'_>,
    samples: vk::SampleCountFlags,
    commands: vk::CommandBuffer,
) -> anyhow::Result<Target> {
    let shape = Shape::flat(WIDE, 16, PROBE, PROBE);
    let usage = vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::SAMPLED;
    let none = vk::ImageCreateFlags::empty();
    let image = s.image_with(shape, samples, usage, none, commands)?;
    Ok(Target {
        size: [PROBE; 2],
        samples,
        colour: vec![Attachment {
            image,
            view: s.view(image, vk::ImageViewType::TYPE_2D, shape.aspect)?,
            clear: vk::ClearValue {
                color: floats([-1.0; 4]),
            },
        }],
        depth: None,
    })
}

/// Draws with a fragment shader to an image of several samples; what each sample holds.
unsafe fn each_sample(
    s: &Scope<'_>,
    fragment: &str,
    samples: (vk::SampleCountFlags, u32),
    change: impl FnOnce(&mut Draw<'_>),
) -> anyhow::Result<Vec<Vec<[f32; 4]>>> {
    let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
    let target = sampled_target(s, samples.0, commands)?;
    let fragment = format!("layout(location = 0) out vec4 colour;\n{fragment}");
    let mut draw = Draw::new(&target, EVERYWHERE, &fragment);
    change(&mut draw);
    let pipeline = s.graphics(&draw)?;
    s.render(commands, &target, vk::AttachmentLoadOp::CLEAR);
    let device = s.device();
    device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, pipeline);
    let vertices = match draw.topology {
        vk::PrimitiveTopology::TRIANGLE_STRIP => 4,
        _ => 3,
    };
    device.cmd_draw(commands, vertices, 1, 0, 0);
    device.cmd_end_rendering(commands);
    s.barrier(commands);
    let sampler = s.sampler(&vk::SamplerCreateInfo::default())?;
    let list = [Resource::Texture(target.colour[0].view, sampler)];
    let text = "
layout(set = 0, binding = 0) uniform sampler2DMS t;
layout(push_constant) uniform P { int number; };
void main() { colour = texelFetch(t, ivec2(gl_FragCoord.xy), number); }
";
    let probe = Probe::new(s, text, &list, 4)?;
    let mut all = vec![probe.run_after(commands, &list, &0_u32.to_le_bytes())?];
    for number in 1..samples.1 {
        all.push(probe.run(&list, &number.to_le_bytes())?);
    }
    Ok(all)
}

/// Shaders that run for each sample know which it is, where it is, and take varyings there.
unsafe fn samples(s: &Scope<'_>) -> anyhow::Result<()> {
    s.gpu_feature(|features| features.sample_rate_shading)?;
    let standard = s.gpu.properties.limits.standard_sample_locations == vk::TRUE;
    for (name, text, forced) in [
        (
            "number",
            "void main() { colour = vec4(gl_SampleID, gl_SampleID * gl_SampleID, 3.0, 1.0); }",
            false,
        ),
        (
            "place",
            "void main() { colour = vec4(gl_SamplePosition, float(gl_SampleID), 1.0); }",
            false,
        ),
        (
            "coordinates",
            "void main() { colour = vec4(fract(gl_FragCoord.xy), floor(gl_FragCoord.xy)); }",
            true,
        ),
        (
            "mask",
            "void main() { colour = vec4(gl_SampleMaskIn[0], gl_SampleID, 4.0, 1.0); }",
            false,
        ),
    ] {
        let each = each_sample(s, text, (FOUR, 4), |draw| draw.sample_shading = forced)?;
        for (number, pixels) in each.iter().enumerate() {
            let n = number as f32;
            let place = PLACES[number].map(|v| v as f32);
            for (at, got) in pixels.iter().enumerate() {
                let (x, y) = (at as u32 % PROBE, at as u32 / PROBE);
                let expected = match name {
                    "number" => [n, n * n, 3.0, 1.0],
                    "place" => [place[0], place[1], n, 1.0],
                    "coordinates" => [place[0], place[1], x as f32, y as f32],
                    _ => [(1 << number) as f32, n, 4.0, 1.0],
                };
                if !standard && (name == "place" || name == "coordinates") {
                    continue;
                }
                ensure!(
                    *got == expected,
                    "{name}: {got:?} instead of {expected:?} in sample {number} of {x}, {y}"
                );
            }
        }
    }
    Ok(())
}

/// Masks that the shader writes, with the pipeline's; of one sample, too.
unsafe fn sample_masks(s: &Scope<'_>) -> anyhow::Result<()> {
    let text = "
void main() {
    ivec2 p = ivec2(gl_FragCoord.xy);
    colour = vec4(5.0);
    gl_SampleMask[0] = (p.x ^ p.y * 3) & 15;
}
";
    for (samples, count) in [(FOUR, 4), (vk::SampleCountFlags::TYPE_2, 2)] {
        let offered = s.gpu.properties.limits.framebuffer_color_sample_counts;
        if !offered.contains(samples) {
            continue;
        }
        for pipeline in [u32::MAX, 0b0110] {
            let each = each_sample(s, text, (samples, count), |draw| draw.mask = pipeline)?;
            for (number, pixels) in each.iter().enumerate() {
                for (at, got) in pixels.iter().enumerate() {
                    let (x, y) = (at as u32 % PROBE, at as u32 / PROBE);
                    let mask = (x ^ (y * 3)) & 15 & pipeline;
                    let written = mask >> number & 1 == 1;
                    let expected = if written { [5.0; 4] } else { [-1.0; 4] };
                    ensure!(
                        *got == expected,
                        "{samples:?} with {pipeline:#x}: {got:?} in sample {number} of {x}, {y}"
                    );
                }
            }
        }
    }
    // Of one sample its only bit counts.
    let picture = Picture::new(s, &[(RGBA8, 4, floats(GREY))], None, ONE)?;
    let text = format!("layout(location = 0) out vec4 colour;\n{text}").replace("5.0", "1.0");
    let draw = Draw::new(&picture.target, EVERYWHERE, &text);
    picture.clear();
    picture.draw(&draw, 3, 1)?;
    let got = picture.read()?.colour.remove(0);
    let mut expected = Vec::new();
    for (y, x) in (0..SIDE).flat_map(|y| (0..SIDE).map(move |x| (y, x))) {
        let written = (x ^ (y * 3)) & 1 == 1;
        expected.extend(match written {
            true => [255; 4],
            false => [51, 102, 153, 255],
        });
    }
    s.report.expect("one sample", got, &expected)
}

/// The samples of a pixel that a primitive covers, as the shader sees them and as they are written.
unsafe fn sample_mask_in(s: &Scope<'_>) -> anyhow::Result<()> {
    // The upper half of a pixel covers samples 0 and 1, the left half 0 and 2, at standard places. No sample is on the
    // line between the two triangles.
    let vertex = "
void main() {
    vec2 at = vec2((gl_VertexIndex & 1) == 0 ? 4.0 : 20.45, (gl_VertexIndex & 2) == 0 ? 4.0 : 20.45);
    gl_Position = vec4(at / 16.0 - 1.0, 0.0, 1.0);
}
";
    crate::gpu::require(
        s.gpu.properties.limits.standard_sample_locations == vk::TRUE,
        "standard sample locations",
    )?;
    let text = "void main() { colour = vec4(gl_SampleMaskIn[0], 0.0, 0.0, 1.0); }";
    for pipeline in [u32::MAX, 0b1010] {
        let each = each_sample(s, text, (FOUR, 4), |draw| {
            draw.vertex = vertex;
            draw.topology = vk::PrimitiveTopology::TRIANGLE_STRIP;
            draw.mask = pipeline;
        })?;
        for (number, pixels) in each.iter().enumerate() {
            for (at, got) in pixels.iter().enumerate() {
                let (x, y) = (at % PROBE as usize, at / PROBE as usize);
                let part = |v: usize, some: u32| match v {
                    4..20 => 0b1111,
                    20 => some,
                    _ => 0,
                };
                let mask = part(x, 0b0101) & part(y, 0b0011);
                let written = (mask & pipeline) >> number & 1 == 1;
                // Two triangles meet in pixels of the diagonal: each has its own samples.
                let diagonal =
                    (4..21).contains(&x) && (4..21).contains(&y) && (23..=24).contains(&(x + y));
                let fine = match (written, diagonal) {
                    (false, _) => *got == [-1.0; 4],
                    (true, true) => got[0] as u32 & 1 << number != 0,
                    // Vulkan does not say whether the pipeline's mask is in it.
                    (true, false) => [mask, mask & pipeline].contains(&(got[0] as u32)),
                };
                ensure!(
                    fine,
                    "{pipeline:#x}: {got:?} of mask {mask:#b} in sample {number} of {x}, {y}"
                );
            }
        }
    }
    Ok(())
}

/// A set and constants that both stages read, which change from draw to draw.
unsafe fn resources(s: &Scope<'_>) -> anyhow::Result<()> {
    let vertex = "
layout(set = 0, binding = 0) uniform U { vec4 at[4]; };
layout(set = 0, binding = 1) readonly buffer B { vec4 tints[]; };
layout(push_constant) uniform P { vec4 move; int number; float share; };
layout(location = 0) flat out vec4 colour;
void main() {
    vec4 r = at[number & 3];
    vec2 corner = vec2((gl_VertexIndex & 1) == 0 ? r.x : r.z, (gl_VertexIndex & 2) == 0 ? r.y : r.w);
    gl_Position = vec4((corner + move.xy) / 32.0 - 1.0, 0.0, 1.0);
    colour = tints[number];
}
";
    let fragment = "
layout(set = 0, binding = 0) uniform U { vec4 at[4]; };
layout(set = 0, binding = 1) readonly buffer B { vec4 tints[]; };
layout(push_constant) uniform P { vec4 move; int number; float share; };
layout(location = 0) flat in vec4 tint;
layout(location = 0) out vec4 colour;
void main() {
    // What is left of the rectangle's middle has the next colour.
    float middle = (at[number & 3].x + at[number & 3].z) * share + move.x;
    colour = gl_FragCoord.x < middle ? tints[number + 1] : tint;
}
";
    let picture = Picture::plain(s)?;
    let rectangles = [
        [2.0_f32, 2.0, 18.0, 18.0],
        [20.0, 2.0, 30.0, 40.0],
        [4.0, 30.0, 44.0, 60.0],
        [40.0, 4.0, 60.0, 24.0],
    ];
    let tints: Vec<[u8; 4]> = (0..6).map(|n| [n * 40, 255 - n * 30, n * n, 255]).collect();
    let uniforms = s.buffer(64)?;
    uniforms.write(
        0,
        &rectangles
            .concat()
            .iter()
            .flat_map(|f| f.to_le_bytes())
            .collect::<Vec<_>>(),
    );
    let buffer = s.buffer(96)?;
    let all = tints.concat();
    let all: Vec<u8> = all
        .iter()
        .flat_map(|c| (f32::from(*c) / 255.0).to_le_bytes())
        .collect();
    buffer.write(0, &all);
    let list = [Resource::Uniform(uniforms), Resource::Storage(buffer)];
    let layout = s.layout(&list, 24)?;
    let set = s.resources(layout, &list)?;
    let mut draw = picture.quads(vertex);
    draw.fragment = Some(fragment);
    draw.layout = layout.pipeline;
    picture.clear();
    picture.bind(&draw)?;
    let (device, commands) = (s.device(), picture.commands);
    let graphics = vk::PipelineBindPoint::GRAPHICS;
    device.cmd_bind_descriptor_sets(commands, graphics, layout.pipeline, 0, &[set], &[]);
    let mut expected = [51_u8, 102, 153, 255].repeat((SIDE * SIDE) as usize);
    let push = |offset, bytes: &[u8]| {
        device.cmd_push_constants(commands, layout.pipeline, STAGES, offset, bytes);
    };
    push(0, &[0.0_f32; 4].map(f32::to_le_bytes).concat());
    push(20, &0.5_f32.to_le_bytes());
    for number in 0..5_usize {
        // Only what changes is pushed.
        push(16, &(number as u32).to_le_bytes());
        let moved = if number == 4 { 30.0 } else { 0.0 };
        if number == 4 {
            push(0, &f32::to_le_bytes(moved));
        }
        device.cmd_draw(commands, 4, 1, 0, 0);
        let [left, top, right, bottom] = rectangles[number & 3];
        for (y, x) in (0..SIDE).flat_map(|y| (0..SIDE).map(move |x| (y, x))) {
            let (fx, fy) = (x as f32 + 0.5, y as f32 + 0.5);
            if fx > left + moved && fx < right + moved && fy > top && fy < bottom {
                let next = fx < (left + right) * 0.5 + moved;
                let at = 4 * (y * SIDE + x) as usize;
                expected[at..at + 4].copy_from_slice(&tints[number + usize::from(next)]);
            }
        }
    }
    let got = picture.end("resources")?.colour.remove(0);
    s.report.check("resources", &got, &expected)
}

/// A picture with resources, and two rectangles to draw that meet.
unsafe fn over(
    s: &Scope<'_>,
    list: &[Resource],
    picture: &Picture<'_, '_>,
    text: &str,
    change: impl FnOnce(&mut Draw<'_>),
) -> anyhow::Result<Layout> {
    let vertex = quads(&[
        ([4.0, 4.0, 40.0, 40.0], 0.5, [1.0, 0.0, 0.0, 1.0]),
        ([20.0, 20.0, 60.0, 60.0], 0.25, [0.0, 0.0, 1.0, 1.0]),
    ]);
    let layout = s.layout(list, 0)?;
    let set = s.resources(layout, list)?;
    let mut draw = picture.quads(&vertex);
    let text = format!(
        "layout(location = 0) flat in vec4 tint;\nlayout(location = 0) out vec4 colour;\n{text}"
    );
    draw.fragment = Some(&text);
    draw.layout = layout.pipeline;
    change(&mut draw);
    picture.clear();
    picture.bind(&draw)?;
    let graphics = vk::PipelineBindPoint::GRAPHICS;
    let (device, commands) = (s.device(), picture.commands);
    device.cmd_bind_descriptor_sets(commands, graphics, layout.pipeline, 0, &[set], &[]);
    device.cmd_draw(commands, 4, 2, 0, 0);
    Ok(layout)
}

/// Which of the rectangles of [`over`] cover a pixel.
fn covered(x: u32, y: u32) -> [bool; 2] {
    let inside = |low: u32, high: u32| (low..high).contains(&x) && (low..high).contains(&y);
    [inside(4, 40), inside(20, 60)]
}

unsafe fn storage_image(
    s: &Scope<'_>,
    format: vk::Format,
    bytes: u32,
    commands: vk::CommandBuffer,
) -> anyhow::Result<Attachment> {
    let shape = Shape::flat(format, bytes, SIDE, SIDE);
    let usage = vk::ImageUsageFlags::STORAGE
        | vk::ImageUsageFlags::TRANSFER_SRC
        | vk::ImageUsageFlags::TRANSFER_DST;
    let image = s.image(shape, usage, vk::ImageCreateFlags::empty(), commands)?;
    let zero = vk::ClearColorValue { uint32: [0; 4] };
    let general = vk::ImageLayout::GENERAL;
    s.device()
        .cmd_clear_color_image(commands, image.handle, general, &zero, &[image.range()]);
    s.barrier(commands);
    Ok(Attachment {
        image,
        view: s.view(image, vk::ImageViewType::TYPE_2D, shape.aspect)?,
        clear: vk::ClearValue { color: zero },
    })
}

/// Stores to images where fragments are, and discards, behind which nothing is stored.
unsafe fn storage_images(s: &Scope<'_>) -> anyhow::Result<()> {
    for (format, bytes, layout, value) in [
        (
            vk::Format::R32_UINT,
            4,
            "r32ui",
            "uvec4(p.x * 256 + p.y + 65536, 0, 0, 0)",
        ),
        (
            vk::Format::R8G8B8A8_UNORM,
            4,
            "rgba8",
            "vec4(p, 1.0, 255.0) / 255.0",
        ),
        (
            vk::Format::R16G16B16A16_SFLOAT,
            8,
            "rgba16f",
            "vec4(p, 0.5, -2.0)",
        ),
        (vk::Format::R32G32B32A32_SINT, 16, "rgba32i", "ivec4(p, -p)"),
    ] {
        let picture = Picture::plain(s)?;
        let stored = storage_image(s, format, bytes, picture.commands)?;
        let kind = match layout {
            "r32ui" => "u",
            "rgba32i" => "i",
            _ => "",
        };
        let text = format!(
            "
layout(set = 0, binding = 0, {layout}) writeonly uniform {kind}image2D to;
void main() {{
    ivec2 p = ivec2(gl_FragCoord.xy);
    if (((p.x ^ p.y) & 4) == 0) discard;
    imageStore(to, ivec2(63 - p.x, p.y), {value});
    colour = tint;
}}"
        );
        let list = [Resource::Image(stored.view)];
        over(s, &list, &picture, &text, |_| ())?;
        s.device().cmd_end_rendering(picture.commands);
        let back = s.read_back(picture.commands, stored.image)?;
        let pixels = picture.read_after()?;
        picture.report(layout, &pixels)?;
        let mut expected = vec![0; (SIDE * SIDE * bytes) as usize];
        for (y, x) in (0..SIDE).flat_map(|y| (0..SIDE).map(move |x| (y, x))) {
            if covered(x, y) == [false; 2] || (x ^ y) & 4 == 0 {
                continue;
            }
            let texel = match layout {
                "r32ui" => (x * 256 + y + 65536).to_le_bytes().to_vec(),
                "rgba8" => vec![x as u8, y as u8, 1, 255],
                "rgba16f" => {
                    let half = |v: u32| match v {
                        0 => 0_u16,
                        v => {
                            let exponent = v.ilog2();
                            (((exponent + 15) << 10) | (v << (10 - exponent) & 0x3ff)) as u16
                        }
                    };
                    let all = [half(x), half(y), 0x3800, 0xc000];
                    all.map(u16::to_le_bytes).concat()
                }
                _ => {
                    let (x, y) = (x as i32, y as i32);
                    [x, y, -x, -y].map(i32::to_le_bytes).concat()
                }
            };
            let at = ((y * SIDE + 63 - x) * bytes) as usize;
            expected[at..at + bytes as usize].copy_from_slice(&texel);
        }
        s.report
            .expect(&format!("{layout}: stored"), back.bytes(), &expected)?;
    }
    Ok(())
}

/// Atomics on an image and on a buffer: how many fragments there are, of what.
unsafe fn atomics(s: &Scope<'_>) -> anyhow::Result<()> {
    let picture = Picture::plain(s)?;
    let counts = storage_image(s, vk::Format::R32_UINT, 4, picture.commands)?;
    let sums = s.buffer_of(&[0, 0, u32::MAX, 0, 0, 0, 0, 0])?;
    let text = "
layout(set = 0, binding = 0, r32ui) uniform uimage2D counts;
layout(set = 0, binding = 1) buffer B { uint sums[]; };
void main() {
    ivec2 p = ivec2(gl_FragCoord.xy);
    imageAtomicAdd(counts, p, tint.r > 0.5 ? 1u : 16u);
    atomicAdd(sums[0], 1u);
    atomicAdd(sums[1], uint(p.x));
    atomicMin(sums[2], uint(p.y));
    atomicMax(sums[3], uint(p.y));
    atomicOr(sums[4], 1u << (p.x & 31));
    atomicXor(sums[5], uint(p.x * 64 + p.y));
    colour = tint;
}
";
    let list = [Resource::Image(counts.view), Resource::Storage(sums)];
    over(s, &list, &picture, text, |_| ())?;
    s.device().cmd_end_rendering(picture.commands);
    let back = s.read_back(picture.commands, counts.image)?;
    let pixels = picture.read_after()?;
    picture.report("atomics", &pixels)?;
    let (mut expected, mut all) = (Vec::new(), [0, 0, u32::MAX, 0, 0, 0, 0, 0]);
    for (y, x) in (0..SIDE).flat_map(|y| (0..SIDE).map(move |x| (y, x))) {
        let [red, blue] = covered(x, y);
        for _ in 0..u32::from(red) + u32::from(blue) {
            all[0] += 1;
            all[1] += x;
            all[2] = all[2].min(y);
            all[3] = all[3].max(y);
            all[4] |= 1 << (x & 31);
            all[5] ^= x * 64 + y;
        }
        expected.push(u32::from(red) + 16 * u32::from(blue));
    }
    let expected = model::to_bytes(&expected);
    s.report.expect("counts", back.bytes(), &expected)?;
    s.report
        .expect("sums", sums.bytes(), &model::to_bytes(&all))
}

/// With tests before the shader, hidden fragments do not run; without, they do.
unsafe fn early_tests(s: &Scope<'_>) -> anyhow::Result<()> {
    for (name, early) in [("early", "layout(early_fragment_tests) in;"), ("late", "")] {
        let picture = Picture::deep(s, vk::Format::D32_SFLOAT, 0.375, 0)?;
        let sums = s.buffer_of(&[0, 0])?;
        let text = format!(
            "{early}
layout(set = 0, binding = 0) buffer B {{ uint sums[]; }};
void main() {{
    atomicAdd(sums[tint.r > 0.5 ? 0 : 1], 1u);
    colour = tint;
}}"
        );
        over(s, &[Resource::Storage(sums)], &picture, &text, |draw| {
            draw.depth = (draw.depth.depth_test_enable(true).depth_write_enable(true))
                .depth_compare_op(vk::CompareOp::LESS);
        })?;
        picture.end(name)?;
        // The first rectangle is behind what is there.
        let hidden = if early.is_empty() { 36 * 36 } else { 0 };
        let expected = model::to_bytes(&[hidden, 40 * 40]);
        s.report
            .expect(&format!("{name}: runs"), sums.bytes(), &expected)?;
    }
    Ok(())
}

/// Vertex shaders that write to a buffer.
unsafe fn vertex_writes(s: &Scope<'_>) -> anyhow::Result<()> {
    s.gpu_feature(|features| features.vertex_pipeline_stores_and_atomics)?;
    let vertex = "
layout(set = 0, binding = 0) buffer B { uint written[]; };
layout(location = 0) flat out vec4 colour;
void main() {
    int slot = gl_InstanceIndex * 8 + gl_VertexIndex;
    written[slot] = 1000u + slot * 3u;
    gl_Position = vec4(vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) - 0.5, 0.0, 1.0);
    colour = vec4(0.0, 1.0, 0.0, 1.0);
}
";
    let picture = Picture::plain(s)?;
    let written: Buffer = s.buffer(4 * 64)?;
    let list = [Resource::Storage(written)];
    let layout = s.layout(&list, 0)?;
    let set = s.resources(layout, &list)?;
    let mut draw = picture.quads(vertex);
    draw.layout = layout.pipeline;
    picture.clear();
    picture.bind(&draw)?;
    let graphics = vk::PipelineBindPoint::GRAPHICS;
    let (device, commands) = (s.device(), picture.commands);
    device.cmd_bind_descriptor_sets(commands, graphics, layout.pipeline, 0, &[set], &[]);
    device.cmd_draw(commands, 4, 5, 2, 1);
    picture.end("drawn")?;
    let expected: Vec<u32> = (0..64)
        .map(|slot| match (slot / 8, slot % 8) {
            (1..6, 2..6) => 1000 + slot * 3,
            _ => 0,
        })
        .collect();
    s.report
        .expect("written", written.bytes(), &model::to_bytes(&expected))
}
