// SPDX-License-Identifier: MIT
//! Graphics pipelines out of caches draw what those draw that were compiled.

use anyhow::ensure;
use ash::vk;

use super::scenario;
use crate::gpu::require;
use crate::picture::{Draw, Target};
use crate::scenario::Scenario;
use crate::scope::Scope;

pub(super) const SCENARIOS: &[Scenario] = &[
    scenario("graphics_cache.pictures", pictures),
    scenario("graphics_cache.corrupt", corrupt),
];

const SIZE: [u32; 2] = [64, 48];
const GREY: vk::ClearColorValue = vk::ClearColorValue {
    float32: [0.2, 0.4, 0.6, 1.0],
};

/// Two triangles with what the fragment shader may read.
const VERTEX: &str = "
layout(location = 0) flat out vec4 even;
layout(location = 1) flat out vec4 odd;
vec2 corners[6] = vec2[](vec2(-0.8, -0.9), vec2(0.9, -0.1), vec2(-0.3, 0.8),
                         vec2(-0.9, 0.9), vec2(0.7, 0.9), vec2(0.1, -0.6));
void main() {
    gl_Position = vec4(corners[gl_VertexIndex], 0.5, 1.0);
    gl_PointSize = 3.0;
    float number = float(gl_VertexIndex / 3 + 1);
    even = vec4(number / 5.0, 0.2, 0.0, 1.0);
    odd = vec4(0.0, number / 3.0, 0.4, 0.8);
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

/// What pipelines differ in, one thing each.
type Variant = (&'static str, fn(&mut Draw<'static>));

const VARIANTS: &[Variant] = {
    use vk::{BlendFactor as F, BlendOp as O};
    &[
        ("plain", |_| ()),
        ("the other input", |draw| draw.fragment = Some(ODD)),
        ("points", |draw| {
            draw.topology = vk::PrimitiveTopology::POINT_LIST;
        }),
        ("a sum", |draw| blend(draw, F::ONE, F::ONE, O::ADD)),
        ("a maximum", |draw| blend(draw, F::ONE, F::ONE, O::MAX)),
        ("one component", |draw| {
            draw.blend[0].color_write_mask = vk::ColorComponentFlags::G;
        }),
    ]
};

fn blend(draw: &mut Draw<'_>, src: vk::BlendFactor, dst: vk::BlendFactor, op: vk::BlendOp) {
    draw.blend[0] = vk::PipelineColorBlendAttachmentState {
        blend_enable: vk::TRUE,
        src_color_blend_factor: src,
        dst_color_blend_factor: dst,
        color_blend_op: op,
        src_alpha_blend_factor: src,
        dst_alpha_blend_factor: dst,
        alpha_blend_op: op,
        color_write_mask: vk::ColorComponentFlags::RGBA,
    };
}

fn variant(target: &Target, change: fn(&mut Draw<'static>)) -> Draw<'static> {
    let mut draw = Draw::new(target, VERTEX, EVEN);
    change(&mut draw);
    draw
}

unsafe fn cache_of(s: &Scope<'_>, data: &[u8]) -> anyhow::Result<vk::PipelineCache> {
    let info = vk::PipelineCacheCreateInfo::default().initial_data(data);
    let cache = s.device().create_pipeline_cache(&info, None)?;
    s.at_end(move |device| device.destroy_pipeline_cache(cache, None));
    Ok(cache)
}

unsafe fn target(s: &Scope<'_>, commands: vk::CommandBuffer) -> anyhow::Result<Target> {
    Ok(Target {
        size: SIZE,
        samples: vk::SampleCountFlags::TYPE_1,
        colour: vec![s.colour(vk::Format::R8G8B8A8_UNORM, 4, SIZE, GREY, commands)?],
        depth: None,
    })
}

/// What pipelines draw that are made with a cache, one picture behind another.
unsafe fn draw_all(s: &Scope<'_>, cache: vk::PipelineCache) -> anyhow::Result<Vec<u8>> {
    let mut all = Vec::new();
    let device = s.device();
    for (_, change) in VARIANTS {
        let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
        let target = target(s, commands)?;
        let draw = variant(&target, *change);
        let pipeline = s.describe(&draw, |info| s.graphics_of(cache, info))??;
        s.render(commands, &target, vk::AttachmentLoadOp::CLEAR);
        device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::GRAPHICS, pipeline);
        device.cmd_draw(commands, 6, 1, 0, 0);
        device.cmd_end_rendering(commands);
        let back = s.read_back(commands, target.colour[0].image)?;
        s.finish(commands)?;
        all.extend(back.bytes());
    }
    Ok(all)
}

/// Cold and warm, in one cache and in another that takes its data; what is not to be compiled is
/// found, or told to be missing.
unsafe fn pictures(s: &Scope<'_>) -> anyhow::Result<()> {
    let cold = cache_of(s, &[])?;
    let expected = draw_all(s, cold)?;
    s.report.result("cold", expected.clone());
    s.report.check("warm", &draw_all(s, cold)?, &expected)?;
    let data = s.device().get_pipeline_cache_data(cold)?;
    let loaded = cache_of(s, &data)?;
    s.report.check("loaded", &draw_all(s, loaded)?, &expected)?;

    require(
        s.gpu.features.pipeline_creation_cache_control,
        "pipelineCreationCacheControl",
    )?;
    let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
    let target = target(s, commands)?;
    for (name, change) in VARIANTS {
        let made = s.describe(&variant(&target, *change), |info| {
            let flags = vk::PipelineCreateFlags::FAIL_ON_PIPELINE_COMPILE_REQUIRED;
            s.graphics_of(loaded, &info.flags(info.flags | flags))
        })?;
        ensure!(
            matches!(made, Ok(_) | Err(vk::Result::PIPELINE_COMPILE_REQUIRED)),
            "{name}: {made:?}"
        );
    }
    s.finish(commands)
}

/// Data that is cut or flipped makes no difference.
unsafe fn corrupt(s: &Scope<'_>) -> anyhow::Result<()> {
    let good = cache_of(s, &[])?;
    let expected = draw_all(s, good)?;
    s.report.result("good", expected.clone());
    let data = s.device().get_pipeline_cache_data(good)?;
    let mut bad = Vec::new();
    for cut in [33, data.len() / 3, data.len().saturating_sub(1)] {
        bad.push(data[..cut.min(data.len())].to_vec());
    }
    for part in 1..6 {
        let mut flipped = data.clone();
        let at = data.len() * part / 6;
        if let Some(byte) = flipped.get_mut(at) {
            *byte ^= 1 << part;
        }
        bad.push(flipped);
    }
    for (at, data) in bad.into_iter().enumerate() {
        let cache = cache_of(s, &data)?;
        let name = format!("bad data {at}");
        s.report.check(&name, &draw_all(s, cache)?, &expected)?;
    }
    Ok(())
}
