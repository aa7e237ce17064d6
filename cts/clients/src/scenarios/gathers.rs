// SPDX-License-Identifier: MIT
//! Depths that sampling compares, and four texels at once.

use ash::vk;

use super::scenario;
use super::textures::{
    FILTERS, Kind, MODES, Sampled, TEXEL, WEIGHTED, Walk, around_cube, check, noise, text,
};
use crate::image::{Model, Shape};
use crate::resources::{Probe, Resource};
use crate::sampling::{Sampling, Texture};
use crate::scenario::Scenario;
use crate::scope::Scope;

pub(super) const SCENARIOS: &[Scenario] = &[
    scenario("textures.compare", compare),
    scenario("textures.gather", gather),
];

/// Depths of few bits.
fn depths(kind: Kind, levels: u32) -> Model {
    let shape = Shape {
        aspect: vk::ImageAspectFlags::DEPTH,
        ..kind.shape(vk::Format::D32_SFLOAT, 4, levels)
    };
    let mut model = Model::new(shape, 750);
    for texel in model.bytes.as_chunks_mut::<4>().0 {
        *texel = (f32::from(texel[0] & 15) / 16.0).to_le_bytes();
    }
    model
}

fn depth(texel: &[u8]) -> [f64; 4] {
    let word = [texel[0], texel[1], texel[2], texel[3]];
    [f64::from(f32::from_le_bytes(word)), 0.0, 0.0, 1.0]
}

const COMPARE: [vk::CompareOp; 8] = [
    vk::CompareOp::NEVER,
    vk::CompareOp::LESS,
    vk::CompareOp::EQUAL,
    vk::CompareOp::LESS_OR_EQUAL,
    vk::CompareOp::GREATER,
    vk::CompareOp::NOT_EQUAL,
    vk::CompareOp::GREATER_OR_EQUAL,
    vk::CompareOp::ALWAYS,
];

/// Comparisons of depths, of one texel and of four that are weighed.
unsafe fn compare(s: &Scope<'_>) -> anyhow::Result<()> {
    let array = Kind {
        view: vk::ImageViewType::TYPE_2D_ARRAY,
        layers: 3,
        ..Kind::FLAT
    };
    for (kind, sampler, sample, walks) in [
        (
            Kind::FLAT,
            "sampler2DShadow",
            "vec4(textureLod(t, vec3(c.xy, more.z), lod))",
            vec![Walk::AROUND],
        ),
        (
            array,
            "sampler2DArrayShadow",
            "vec4(texture(t, vec4(c.xy, 1.0, more.z)))",
            vec![Walk::AROUND],
        ),
        (
            Kind::CUBE,
            "samplerCubeShadow",
            "vec4(texture(t, vec4(c.xyz, more.z)))",
            around_cube()[2..4].to_vec(),
        ),
    ] {
        let levels = if sample.contains("Lod") { 5 } else { 1 };
        let model = depths(kind, levels);
        let texture = Texture::new(&model, kind.view, depth);
        let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
        let image = s.filled(&model, vk::ImageUsageFlags::empty(), kind.flags(), commands)?;
        s.finish(commands)?;
        let view = s.view(image, kind.view, model.shape.aspect)?;
        let resource = Resource::Texture(view, vk::Sampler::null());
        let probe = Probe::new(s, &text(sampler, sample), &[resource], 64)?;
        for op in COMPARE {
            for filter in FILTERS {
                for reference in [0.25, 0.5] {
                    let sampling = Sampling {
                        mag: filter,
                        min: filter,
                        address: [
                            vk::SamplerAddressMode::CLAMP_TO_BORDER,
                            vk::SamplerAddressMode::REPEAT,
                            vk::SamplerAddressMode::REPEAT,
                        ],
                        border: [1.0; 4],
                        compare: Some(op),
                        ..Sampling::default()
                    };
                    let sampler = s.sampler(&sampling.info())?;
                    for (number, walk) in walks.iter().enumerate() {
                        let mut walk = *walk;
                        walk.more[2] = reference;
                        let set = [Resource::Texture(view, sampler)];
                        let got = probe.run(&set, &walk.bytes())?;
                        let name =
                            format!("{:?} {op:?} {filter:?} {reference} {number}", kind.view);
                        let model = |x, y| {
                            let mut at = walk.at(x, y);
                            if kind.layers == 3 {
                                at.coordinates[2] = 1.0;
                            }
                            if levels == 1 {
                                at.lod = 0.0;
                            }
                            let [passes, ..] = sampling.sample(&texture, &at)?;
                            Some([passes; 4])
                        };
                        let exact = filter == vk::Filter::NEAREST;
                        let tolerance = if exact { TEXEL } else { WEIGHTED };
                        check(s, &name, &got, model, tolerance, exact)?;
                    }
                }
            }
        }
    }
    Ok(())
}

/// Four texels at once: each component, with offsets that are constants and ones that are not, compared.
unsafe fn gather(s: &Scope<'_>) -> anyhow::Result<()> {
    let sampled = noise(s, Kind::FLAT, 1, 760)?;
    let array = Kind {
        view: vk::ImageViewType::TYPE_2D_ARRAY,
        layers: 3,
        ..Kind::FLAT
    };
    let layers = noise(s, array, 1, 761)?;
    let cube = noise(s, Kind::CUBE, 1, 762)?;
    let model = depths(Kind::FLAT, 1);
    let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
    let none = vk::ImageUsageFlags::empty();
    let image = s.filled(&model, none, Kind::FLAT.flags(), commands)?;
    s.finish(commands)?;
    let deep = Sampled {
        view: s.view(image, Kind::FLAT.view, model.shape.aspect)?,
        texture: Texture::new(&model, Kind::FLAT.view, depth),
    };
    for (sampled, sampler, sample, component, offset) in [
        (&sampled, "sampler2D", "textureGather(t, c.xy)", 0, [0, 0]),
        (
            &sampled,
            "sampler2D",
            "textureGather(t, c.xy, 1)",
            1,
            [0, 0],
        ),
        (
            &sampled,
            "sampler2D",
            "textureGather(t, c.xy, 2)",
            2,
            [0, 0],
        ),
        (
            &sampled,
            "sampler2D",
            "textureGather(t, c.xy, 3)",
            3,
            [0, 0],
        ),
        (
            &sampled,
            "sampler2D",
            "textureGatherOffset(t, c.xy, ivec2(-8, 7), 1)",
            1,
            [-8, 7],
        ),
        (
            &sampled,
            "sampler2D",
            "textureGatherOffset(t, c.xy, ivec2(more.zw), 2)",
            2,
            [3, -5],
        ),
        (
            &layers,
            "sampler2DArray",
            "textureGather(t, vec3(c.xy, 2.0), 1)",
            1,
            [0, 0],
        ),
        (
            &cube,
            "samplerCube",
            "textureGather(t, c.xyz, 2)",
            2,
            [0, 0],
        ),
        (
            &deep,
            "sampler2DShadow",
            "textureGather(t, c.xy, 0.5)",
            0,
            [0, 0],
        ),
    ] {
        let is_cube = sampler == "samplerCube";
        let resource = Resource::Texture(sampled.view, vk::Sampler::null());
        let probe = Probe::new(s, &text(sampler, sample), &[resource], 64)?;
        for (at, mode) in MODES.into_iter().enumerate() {
            let sampling = Sampling {
                address: [mode, MODES[(at + 1) % 5], mode],
                border: [1.0; 4],
                compare: sampler.contains("Shadow").then_some(vk::CompareOp::LESS),
                ..Sampling::default()
            };
            let handle = s.sampler(&sampling.info())?;
            let walks = if is_cube {
                around_cube()
            } else {
                vec![Walk::AROUND]
            };
            for (number, walk) in walks.iter().enumerate() {
                let mut walk = *walk;
                (walk.more[2], walk.more[3]) = (3.0, -5.0);
                let set = [Resource::Texture(sampled.view, handle)];
                let got = probe.run(&set, &walk.bytes())?;
                let name = format!("{sample} {mode:?} {number}");
                let model = |x, y| {
                    let mut at = walk.at(x, y);
                    at.offset = offset;
                    at.reference = 0.5;
                    if sampler == "sampler2DArray" {
                        at.coordinates[2] = 2.0;
                    }
                    sampling.gather(&sampled.texture, &at, component)
                };
                check(s, &name, &got, model, TEXEL, true)?;
            }
        }
    }
    // Four offsets of their own.
    let sample = "textureGatherOffsets(t, c.xy, ivec2[](ivec2(-8, 0), ivec2(3, 5), ivec2(7, -8), ivec2(0, 1)), 1)";
    let resource = Resource::Texture(sampled.view, vk::Sampler::null());
    let probe = Probe::new(s, &text("sampler2D", sample), &[resource], 64)?;
    let sampling = Sampling {
        address: [MODES[0], MODES[1], MODES[0]],
        ..Sampling::default()
    };
    let handle = s.sampler(&sampling.info())?;
    let walk = Walk::AROUND;
    let got = probe.run(&[Resource::Texture(sampled.view, handle)], &walk.bytes())?;
    let model = |x, y| {
        let mut four = [0.0; 4];
        for (to, offset) in four.iter_mut().zip([[-8, 0], [3, 5], [7, -8], [0, 1]]) {
            let mut at = walk.at(x, y);
            at.offset = offset;
            // The texel of the lower corner, i0 and j0.
            *to = sampling.gather(&sampled.texture, &at, 1)?[3];
        }
        Some(four)
    };
    check(s, "four offsets", &got, model, TEXEL, true)
}
