// SPDX-License-Identifier: MIT
//! Samplers and textures in the ways that descriptors hold them, and what samplers can do beside filters and
//! address modes.

use anyhow::ensure;
use ash::vk;

use super::scenario;
use super::textures::{FILTERS, Kind, MODES, TEXEL, WEIGHTED, Walk, check, noise, text};
use crate::image::Model;
use crate::resources::{EVERYWHERE, PROBE, Probe, Resource};
use crate::sampling::Sampling;
use crate::scenario::Scenario;
use crate::scope::Scope;

pub(super) const SCENARIOS: &[Scenario] = &[
    scenario("samplers.unnormalised", unnormalised),
    scenario("samplers.anisotropy", anisotropy),
    scenario("samplers.separate", separate),
    scenario("samplers.arrays", arrays),
    scenario("samplers.immutable", immutable),
];

/// Coordinates in texels.
unsafe fn unnormalised(s: &Scope<'_>) -> anyhow::Result<()> {
    let sampled = noise(s, Kind::FLAT, 1, 900)?;
    let shader = text("sampler2D", "textureLod(t, c.xy * 16.0, 0.0)");
    let any = [Resource::Texture(sampled.view, vk::Sampler::null())];
    let probe = Probe::new(s, &shader, &any, 64)?;
    for mode in [
        vk::SamplerAddressMode::CLAMP_TO_EDGE,
        vk::SamplerAddressMode::CLAMP_TO_BORDER,
    ] {
        for filter in FILTERS {
            let sampling = Sampling {
                mag: filter,
                min: filter,
                address: [mode; 3],
                border: [1.0; 4],
                lods: [0.0, 0.0],
                ..Sampling::default()
            };
            let sampler = s.sampler(&sampling.info().unnormalized_coordinates(true))?;
            let list = [Resource::Texture(sampled.view, sampler)];
            let got = probe.run(&list, &Walk::AROUND.bytes())?;
            let exact = filter == vk::Filter::NEAREST;
            let model = |x, y| sampling.sample(&sampled.texture, &Walk::AROUND.at(x, y));
            let tolerance = if exact { TEXEL } else { WEIGHTED };
            check(
                s,
                &format!("{mode:?} {filter:?}"),
                &got,
                model,
                tolerance,
                exact,
            )?;
        }
    }
    Ok(())
}

/// Levels whose texels are all the level's number: samples say which level they are from. Vulkan leaves the way
/// of anisotropic filters open; less of a level than without, and not less than the short axis has.
unsafe fn anisotropy(s: &Scope<'_>) -> anyhow::Result<()> {
    s.gpu_feature(|features| features.sampler_anisotropy)?;
    let kind = Kind {
        extent: [256, 256, 1],
        ..Kind::FLAT
    };
    let mut model = Model::new(kind.shape(vk::Format::R8G8B8A8_UNORM, 4, 9), 910);
    for level in 0..9 {
        let part = model.shape.all(level);
        let bytes = vec![20 * level as u8; model.shape.bytes(part)];
        model.put(part, &bytes);
    }
    let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
    let none = vk::ImageUsageFlags::empty();
    let image = s.filled(&model, none, kind.flags(), commands)?;
    s.finish(commands)?;
    let view = s.view(image, kind.view, model.shape.aspect)?;
    let any = [Resource::Texture(view, vk::Sampler::null())];
    let probe = Probe::new(s, &text("sampler2D", "texture(t, c.xy)"), &any, 64)?;
    for most in [1.0_f32, 2.0, 4.0, 16.0] {
        for (along, down) in [(8.0_f32, 8.0_f32), (16.0, 2.0), (2.0, 8.0), (4.0, 4.0)] {
            let info = Sampling {
                mag: vk::Filter::LINEAR,
                min: vk::Filter::LINEAR,
                mip: vk::SamplerMipmapMode::LINEAR,
                address: [vk::SamplerAddressMode::REPEAT; 3],
                ..Sampling::default()
            }
            .info()
            .anisotropy_enable(true)
            .max_anisotropy(most);
            let sampler = s.sampler(&info)?;
            let walk = Walk {
                base: [0.125, 0.125, 0.0, 0.0],
                dx: [along / 256.0, 0.0, 0.0, 0.0],
                dy: [0.0, down / 256.0, 0.0, 0.0],
                more: [0.0; 4],
            };
            let list = [Resource::Texture(view, sampler)];
            let got = probe.run(&list, &walk.bytes())?[300][0] * 255.0 / 20.0;
            let (long, short) = (along.max(down), along.min(down));
            let taps = (long / short).min(most);
            let (low, high) = (short.log2() - 0.1, long.log2() + 0.1);
            let name = format!("{most} of {along}, {down}: level {got}");
            ensure!(
                (low..=high).contains(&got),
                "{name} is not in {low} to {high}"
            );
            if taps >= 4.0 {
                ensure!(
                    got <= long.log2() - 0.9,
                    "{name} is that without anisotropy"
                );
            }
            if most == 1.0 {
                ensure!(got >= long.log2() - 0.1, "{name} has more than one tap");
            }
        }
    }
    Ok(())
}

/// Images and samplers by themselves, put together by the shader.
unsafe fn separate(s: &Scope<'_>) -> anyhow::Result<()> {
    let (a, b) = (noise(s, Kind::FLAT, 1, 930)?, noise(s, Kind::FLAT, 1, 931)?);
    let modes = [
        vk::SamplerAddressMode::REPEAT,
        vk::SamplerAddressMode::CLAMP_TO_BORDER,
    ];
    let samplings = modes.map(|mode| Sampling {
        address: [mode; 3],
        border: [1.0; 4],
        ..Sampling::default()
    });
    let list = [
        Resource::Sampler(s.sampler(&samplings[0].info())?),
        Resource::Sampled(a.view),
        Resource::Sampled(b.view),
        Resource::Sampler(s.sampler(&samplings[1].info())?),
    ];
    let shader = "
layout(set = 0, binding = 0) uniform sampler repeats;
layout(set = 0, binding = 1) uniform texture2D a;
layout(set = 0, binding = 2) uniform texture2D b;
layout(set = 0, binding = 3) uniform sampler ends;
layout(push_constant) uniform Walk { vec4 base; vec4 dx; vec4 dy; vec4 more; };
void main() {
    ivec2 p = ivec2(gl_FragCoord.xy);
    vec2 c = (base + float(p.x) * dx + float(p.y) * dy).xy;
    colour = vec4(texture(sampler2D(a, repeats), c).r, texture(sampler2D(a, ends), c).g, texture(sampler2D(b, repeats), c).b, texture(sampler2D(b, ends), c).a);
}
";
    let got = Probe::new(s, shader, &list, 64)?.run(&list, &Walk::AROUND.bytes())?;
    let model = |x, y| {
        let mut at = Walk::AROUND.at(x, y);
        at.lod = 0.0;
        let [repeats, ends] = &samplings;
        Some([
            repeats.sample(&a.texture, &at)?[0],
            ends.sample(&a.texture, &at)?[1],
            repeats.sample(&b.texture, &at)?[2],
            ends.sample(&b.texture, &at)?[3],
        ])
    };
    check(s, "four pairs", &got, model, TEXEL, true)
}

/// A layout of one binding with several textures, and perhaps samplers that are part of it.
unsafe fn textures(
    s: &Scope<'_>,
    shader: &str,
    views: &[vk::ImageView],
    samplers: &[vk::Sampler],
    immutable: bool,
) -> anyhow::Result<Vec<[f32; 4]>> {
    let device = s.device();
    let kind = vk::DescriptorType::COMBINED_IMAGE_SAMPLER;
    let mut binding = vk::DescriptorSetLayoutBinding::default()
        .descriptor_type(kind)
        .descriptor_count(views.len() as u32)
        .stage_flags(crate::resources::STAGES);
    if immutable {
        binding = binding.immutable_samplers(samplers);
    }
    let bindings = [binding];
    let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
    let set_layout = device.create_descriptor_set_layout(&info, None)?;
    s.at_end(move |device| device.destroy_descriptor_set_layout(set_layout, None));
    let layout = s.pipeline_layout(&[set_layout], 0)?;
    let sizes = [vk::DescriptorPoolSize {
        ty: kind,
        descriptor_count: views.len() as u32,
    }];
    let info = vk::DescriptorPoolCreateInfo::default()
        .max_sets(1)
        .pool_sizes(&sizes);
    let pool = device.create_descriptor_pool(&info, None)?;
    s.at_end(move |device| device.destroy_descriptor_pool(pool, None));
    let layouts = [set_layout];
    let info = vk::DescriptorSetAllocateInfo::default()
        .descriptor_pool(pool)
        .set_layouts(&layouts);
    let set = device.allocate_descriptor_sets(&info)?[0];
    let images: Vec<_> = (views.iter().zip(samplers))
        .map(|(view, sampler)| vk::DescriptorImageInfo {
            sampler: if immutable {
                vk::Sampler::null()
            } else {
                *sampler
            },
            image_view: *view,
            image_layout: vk::ImageLayout::GENERAL,
        })
        .collect();
    let write = vk::WriteDescriptorSet::default()
        .dst_set(set)
        .descriptor_type(kind)
        .image_info(&images);
    device.update_descriptor_sets(&[write], &[]);
    let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
    let format = vk::Format::R32G32B32A32_SFLOAT;
    let clear = vk::ClearColorValue { float32: [-1.0; 4] };
    let target = crate::picture::Target {
        size: [PROBE; 2],
        samples: vk::SampleCountFlags::TYPE_1,
        colour: vec![s.colour(format, 16, [PROBE; 2], clear, commands)?],
        depth: None,
    };
    let fragment = format!("layout(location = 0) out vec4 colour;\n{shader}");
    let mut draw = crate::picture::Draw::new(&target, EVERYWHERE, &fragment);
    draw.layout = layout;
    let pipeline = s.graphics(&draw)?;
    let graphics = vk::PipelineBindPoint::GRAPHICS;
    s.render(commands, &target, vk::AttachmentLoadOp::CLEAR);
    device.cmd_bind_pipeline(commands, graphics, pipeline);
    device.cmd_bind_descriptor_sets(commands, graphics, layout, 0, &[set], &[]);
    device.cmd_draw(commands, 3, 1, 0, 0);
    device.cmd_end_rendering(commands);
    let back = s.read_back(commands, target.colour[0].image)?;
    s.finish(commands)?;
    let words = back.words();
    Ok(words
        .chunks_exact(4)
        .map(|p| std::array::from_fn(|at| f32::from_bits(p[at])))
        .collect())
}

/// Textures of an array, whose number differs from pixel to pixel.
unsafe fn arrays(s: &Scope<'_>) -> anyhow::Result<()> {
    let mut v12 = vk::PhysicalDeviceVulkan12Features::default();
    let mut all = vk::PhysicalDeviceFeatures2::default().push_next(&mut v12);
    (s.gpu.instance).get_physical_device_features2(s.gpu.physical, &mut all);
    let offered = v12.shader_sampled_image_array_non_uniform_indexing == vk::TRUE;
    crate::gpu::require(offered, "shaderSampledImageArrayNonUniformIndexing")?;
    let mut all = Vec::new();
    for n in 0..5 {
        all.push(noise(s, Kind::FLAT, 1, 940 + n)?);
    }
    let views: Vec<_> = all.iter().map(|sampled| sampled.view).collect();
    let sampler = s.sampler(&Sampling::default().info())?;
    for (name, number) in [
        ("uneven", "(p.x * 3 + p.y) % 5"),
        ("blocks", "(p.x / 8 + p.y / 8) % 5"),
    ] {
        let shader = format!(
            "
#extension GL_EXT_nonuniform_qualifier : require
layout(set = 0, binding = 0) uniform sampler2D t[5];
void main() {{
    ivec2 p = ivec2(gl_FragCoord.xy);
    int n = {number};
    colour = p.x < 16 ? texelFetch(t[nonuniformEXT(n)], p & 15, 0) : textureLod(t[nonuniformEXT(n)], (vec2(p & 15) + 0.5) / 16.0, 0.0);
}}
"
        );
        let got = textures(s, &shader, &views, &[sampler; 5], false)?;
        let model = |x: usize, y: usize| {
            let n = match name {
                "uneven" => (x * 3 + y) % 5,
                _ => (x / 8 + y / 8) % 5,
            };
            Some(all[n].texture.fetch(0, [x as i64 & 15, y as i64 & 15, 0]))
        };
        check(s, name, &got, model, TEXEL, true)?;
    }
    Ok(())
}

/// Samplers that belong to the layout.
unsafe fn immutable(s: &Scope<'_>) -> anyhow::Result<()> {
    let sampled = noise(s, Kind::FLAT, 1, 950)?;
    let samplings = [MODES[0], MODES[2], MODES[3]].map(|mode| Sampling {
        address: [mode; 3],
        border: [1.0; 4],
        ..Sampling::default()
    });
    let mut samplers = Vec::new();
    for sampling in &samplings {
        samplers.push(s.sampler(&sampling.info())?);
    }
    let shader = "
layout(set = 0, binding = 0) uniform sampler2D t[3];
void main() {
    vec2 c = (floor(gl_FragCoord.xy) + 0.25) / 16.0 - 0.5;
    colour = vec4(textureLod(t[0], c, 0.0).r, textureLod(t[1], c, 0.0).g, textureLod(t[2], c, 0.0).b, 1.0);
}
";
    let got = textures(s, shader, &[sampled.view; 3], &samplers, true)?;
    let model = |x: usize, y: usize| {
        let mut at = Walk::AROUND.at(0, 0);
        at.lod = 0.0;
        at.coordinates = [
            (x as f64 + 0.25) / 16.0 - 0.5,
            (y as f64 + 0.25) / 16.0 - 0.5,
            0.0,
            0.0,
        ];
        let mut colour = [1.0; 4];
        for (component, sampling) in samplings.iter().enumerate() {
            colour[component] = sampling.sample(&sampled.texture, &at)?[component];
        }
        Some(colour)
    };
    check(s, "three samplers", &got, model, TEXEL, true)
}
