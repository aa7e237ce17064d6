// SPDX-License-Identifier: MIT
//! Texels in fragment shaders: fetched by their places, of all kinds of formats; and what shaders may ask
//! about textures.

use anyhow::ensure;
use ash::vk;

use super::scenario;
use super::textures::{Kind, TEXEL, WEIGHTED, check, noise};
use crate::image::{Model, Shape};
use crate::resources::{Probe, Resource};
use crate::sampling::{At, Sampling, Texture};
use crate::scenario::Scenario;
use crate::scope::Scope;
use crate::texel::{self, Coding};

pub(super) const SCENARIOS: &[Scenario] = &[
    scenario("texels.fetch", fetch),
    scenario("texels.queries", queries),
    scenario("texels.query_lod", query_lod),
    scenario("texels.srgb", srgb),
    scenario("texels.integers", integers),
    scenario("texels.depth_stencil", depth_stencil),
];

/// Fetches from levels, slices and layers, with offsets.
unsafe fn fetch(s: &Scope<'_>) -> anyhow::Result<()> {
    let array = Kind {
        view: vk::ImageViewType::TYPE_2D_ARRAY,
        sampler: "sampler2DArray",
        layers: 3,
        ..Kind::FLAT
    };
    for (name, kind, call) in [
        ("2D", Kind::FLAT, "texelFetch(t, p & (15 >> l), l)"),
        (
            "2D offset",
            Kind::FLAT,
            "texelFetchOffset(t, (p & (7 >> l)) + ivec2(2, 0), l, ivec2(-2, 0))",
        ),
        (
            "3D",
            Kind::SOLID,
            "texelFetch(t, ivec3(p.x & (15 >> l), p.y & (7 >> l), (p.x + p.y) & (7 >> l)), l)",
        ),
        (
            "array",
            array,
            "texelFetch(t, ivec3(p & (15 >> l), (p.x + p.y) % 3), l)",
        ),
        ("1D", Kind::ROW, "texelFetch(t, p.x & (15 >> l), l)"),
    ] {
        let sampled = noise(s, kind, 4, 800)?;
        let sampler = s.sampler(&vk::SamplerCreateInfo::default())?;
        let list = [Resource::Texture(sampled.view, sampler)];
        let text = format!(
            "
layout(set = 0, binding = 0) uniform {} t;
void main() {{
    ivec2 p = ivec2(gl_FragCoord.xy);
    int l = p.y & 3;
    colour = {call};
}}",
            kind.sampler
        );
        let got = Probe::new(s, &text, &list, 0)?.run(&list, &[])?;
        let expected = |x: usize, y: usize| {
            let level = y & 3;
            let at = match name {
                "2D" => [x & (15 >> level), y & (15 >> level), 0],
                "2D offset" => [x & (7 >> level), y & (7 >> level), 0],
                "3D" => [x & (15 >> level), y & (7 >> level), (x + y) & (7 >> level)],
                "array" => [x & (15 >> level), y & (15 >> level), (x + y) % 3],
                _ => [x & (15 >> level), 0, 0],
            };
            Some(sampled.texture.fetch(level, at.map(|v| v as i64)))
        };
        check(s, name, &got, expected, TEXEL, true)?;
    }
    Ok(())
}

/// Sizes, levels and samples.
unsafe fn queries(s: &Scope<'_>) -> anyhow::Result<()> {
    let odd = |kind: Kind, extent, view, layers| Kind {
        extent,
        view,
        layers,
        ..kind
    };
    use vk::ImageViewType as V;
    for (name, kind, sampler, call, expected) in [
        (
            "2D",
            odd(Kind::FLAT, [23, 14, 1], V::TYPE_2D, 1),
            "sampler2D",
            "vec4(textureSize(t, l), textureQueryLevels(t), 7)",
            [[23, 14, 4, 7], [11, 7, 4, 7], [5, 3, 4, 7]],
        ),
        (
            "3D",
            odd(Kind::SOLID, [23, 14, 9], V::TYPE_3D, 1),
            "sampler3D",
            "vec4(textureSize(t, l), textureQueryLevels(t))",
            [[23, 14, 9, 4], [11, 7, 4, 4], [5, 3, 2, 4]],
        ),
        (
            "array",
            odd(Kind::FLAT, [23, 14, 1], V::TYPE_2D_ARRAY, 5),
            "sampler2DArray",
            "vec4(textureSize(t, l), textureQueryLevels(t))",
            [[23, 14, 5, 4], [11, 7, 5, 4], [5, 3, 5, 4]],
        ),
        (
            "cube",
            odd(Kind::CUBE, [22, 22, 1], V::CUBE, 6),
            "samplerCube",
            "vec4(textureSize(t, l), textureQueryLevels(t), 7)",
            [[22, 22, 4, 7], [11, 11, 4, 7], [5, 5, 4, 7]],
        ),
        (
            "cubes",
            odd(Kind::CUBE, [22, 22, 1], V::CUBE_ARRAY, 18),
            "samplerCubeArray",
            "vec4(textureSize(t, l), textureQueryLevels(t))",
            [[22, 22, 3, 4], [11, 11, 3, 4], [5, 5, 3, 4]],
        ),
        (
            "1D",
            odd(Kind::ROW, [23, 1, 1], V::TYPE_1D, 1),
            "sampler1D",
            "vec4(textureSize(t, l), textureQueryLevels(t), 7, 8)",
            [[23, 4, 7, 8], [11, 4, 7, 8], [5, 4, 7, 8]],
        ),
        (
            "1D array",
            odd(Kind::ROW, [23, 1, 1], V::TYPE_1D_ARRAY, 5),
            "sampler1DArray",
            "vec4(textureSize(t, l), textureQueryLevels(t), 7)",
            [[23, 5, 4, 7], [11, 5, 4, 7], [5, 5, 4, 7]],
        ),
    ] {
        let sampled = noise(s, kind, 4, 810)?;
        let handle = s.sampler(&vk::SamplerCreateInfo::default())?;
        let list = [Resource::Texture(sampled.view, handle)];
        let text = format!(
            "
layout(set = 0, binding = 0) uniform {sampler} t;
layout(push_constant) uniform P {{ int l; }};
void main() {{ colour = {call}; }}"
        );
        let probe = Probe::new(s, &text, &list, 4)?;
        for (level, expected) in (0_u32..).zip(expected) {
            let got = probe.run(&list, &level.to_le_bytes())?;
            let expected = expected.map(|n| n as f32);
            let wrong = got.iter().find(|pixel| **pixel != expected);
            ensure!(wrong.is_none(), "{name}: {wrong:?} instead of {expected:?}");
        }
    }
    // Images of several samples.
    let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
    let shape = Shape::flat(vk::Format::R8G8B8A8_UNORM, 4, 23, 14);
    let usage = vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::COLOR_ATTACHMENT;
    let none = vk::ImageCreateFlags::empty();
    let four = vk::SampleCountFlags::TYPE_4;
    let image = s.image_with(shape, four, usage, none, commands)?;
    let view = s.view(image, V::TYPE_2D, shape.aspect)?;
    let handle = s.sampler(&vk::SamplerCreateInfo::default())?;
    let list = [Resource::Texture(view, handle)];
    let text = "
layout(set = 0, binding = 0) uniform sampler2DMS t;
void main() { colour = vec4(textureSize(t), textureSamples(t), 7); }";
    let got = Probe::new(s, text, &list, 0)?.run_after(commands, &list, &[])?;
    ensure!(got[33] == [23.0, 14.0, 4.0, 7.0], "samples: {:?}", got[33]);
    Ok(())
}

/// The level that a sample would be from, and how far it is down.
unsafe fn query_lod(s: &Scope<'_>) -> anyhow::Result<()> {
    let sampled = noise(s, Kind::FLAT, 5, 820)?;
    let text = "
layout(set = 0, binding = 0) uniform sampler2D t;
layout(push_constant) uniform P { float scale; };
void main() { colour = vec4(textureQueryLod(t, floor(gl_FragCoord.xy) * scale), 0.0, 1.0); }
";
    let any = [Resource::Texture(sampled.view, vk::Sampler::null())];
    let probe = Probe::new(s, text, &any, 4)?;
    for mip in [
        vk::SamplerMipmapMode::NEAREST,
        vk::SamplerMipmapMode::LINEAR,
    ] {
        let sampling = Sampling {
            mip,
            ..Sampling::default()
        };
        let sampler = s.sampler(&sampling.info())?;
        let list = [Resource::Texture(sampled.view, sampler)];
        for scale in [0.07_f32, 0.11, 0.17, 0.3, 0.6, 0.9] {
            let lod = f64::from(scale * 16.0).log2();
            let got = probe.run(&list, &scale.to_le_bytes())?;
            let level = match mip {
                vk::SamplerMipmapMode::NEAREST => lod.round(),
                _ => lod,
            };
            let expected = [level, lod, 0.0, 1.0];
            let mut both = got[40].iter().zip(expected);
            ensure!(
                both.all(|(a, b)| (f64::from(*a) - b).abs() < 0.07),
                "{mip:?} {scale}: {:?} instead of {expected:?}",
                got[40]
            );
        }
    }
    Ok(())
}

/// A texture of a model's, and what a shader gives of it.
pub(super) unsafe fn sampled(
    s: &Scope<'_>,
    model: &Model,
    sampler: &str,
    info: &vk::SamplerCreateInfo<'_>,
    call: &str,
) -> anyhow::Result<Vec<[f32; 4]>> {
    let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
    let none = vk::ImageUsageFlags::empty();
    let image = s.filled(model, none, vk::ImageCreateFlags::empty(), commands)?;
    let view = s.view(image, vk::ImageViewType::TYPE_2D, model.shape.aspect)?;
    let list = [Resource::Texture(view, s.sampler(info)?)];
    let text = format!(
        "
layout(set = 0, binding = 0) uniform {sampler} t;
void main() {{ ivec2 p = ivec2(gl_FragCoord.xy); vec2 c = (floor(gl_FragCoord.xy) + 0.25) / 32.0; colour = {call}; }}"
    );
    Probe::new(s, &text, &list, 0)?.run_after(commands, &list, &[])
}

/// All bytes on the curve of sRGB; filters weigh what is no longer on it.
unsafe fn srgb(s: &Scope<'_>) -> anyhow::Result<()> {
    let coding = Coding {
        format: vk::Format::R8G8B8A8_SRGB,
        kind: texel::Kind::Srgb,
        fields: &[(0, 8), (1, 8), (2, 8), (3, 8)],
    };
    let shape = Shape::flat(coding.format, 4, 32, 32);
    let mut model = Model::new(shape, 830);
    for (at, texel) in model.bytes.as_chunks_mut::<4>().0.iter_mut().enumerate() {
        *texel = [at as u8, 255 - at as u8, (at / 4) as u8, (at / 4) as u8];
    }
    let texture = Texture::new(&model, vk::ImageViewType::TYPE_2D, |texel| {
        coding.decode(texel)
    });
    for filter in [vk::Filter::NEAREST, vk::Filter::LINEAR] {
        let sampling = Sampling {
            mag: filter,
            min: filter,
            ..Sampling::default()
        };
        let call = "textureLod(t, c, 0.0)";
        let got = sampled(s, &model, "sampler2D", &sampling.info(), call)?;
        let expected = |x: usize, y: usize| {
            let at = At {
                coordinates: [(x as f64 + 0.25) / 32.0, (y as f64 + 0.25) / 32.0, 0.0, 0.0],
                lod: 0.0,
                reference: 0.0,
                offset: [0; 2],
            };
            sampling.sample(&texture, &at)
        };
        let tolerance = match filter {
            vk::Filter::LINEAR => WEIGHTED,
            _ => TEXEL,
        };
        check(s, &format!("{filter:?}"), &got, expected, tolerance, false)?;
    }
    Ok(())
}

/// Formats of integers, whose numbers are exact.
unsafe fn integers(s: &Scope<'_>) -> anyhow::Result<()> {
    use vk::Format as F;
    const EIGHT: &[(usize, u32)] = &[(0, 8), (1, 8), (2, 8), (3, 8)];
    const SIXTEEN: &[(usize, u32)] = &[(0, 16), (1, 16), (2, 16), (3, 16)];
    const WIDE: &[(usize, u32)] = &[(0, 32), (1, 32), (2, 32), (3, 32)];
    const TEN: &[(usize, u32)] = &[(0, 10), (1, 10), (2, 10), (3, 2)];
    for (format, signed, fields) in [
        (F::R8_UINT, false, &EIGHT[..1]),
        (F::R8_SINT, true, &EIGHT[..1]),
        (F::R8G8_UINT, false, &EIGHT[..2]),
        (F::R8G8B8A8_UINT, false, EIGHT),
        (F::R8G8B8A8_SINT, true, EIGHT),
        (F::R16_UINT, false, &SIXTEEN[..1]),
        (F::R16G16_SINT, true, &SIXTEEN[..2]),
        (F::R16G16B16A16_UINT, false, SIXTEEN),
        (F::R16G16B16A16_SINT, true, SIXTEEN),
        (F::R32_UINT, false, &WIDE[..1]),
        (F::R32_SINT, true, &WIDE[..1]),
        (F::R32G32_UINT, false, &WIDE[..2]),
        (F::R32G32B32A32_SINT, true, WIDE),
        (F::A2B10G10R10_UINT_PACK32, false, TEN),
    ] {
        let coding = Coding {
            format,
            kind: if signed {
                texel::Kind::Sint
            } else {
                texel::Kind::Uint
            },
            fields,
        };
        let model = Model::new(Shape::flat(format, coding.bytes(), 32, 32), 840);
        let prefix = if signed { "i" } else { "u" };
        let texture = Texture::new(&model, vk::ImageViewType::TYPE_2D, |texel| {
            coding.decode(texel)
        });
        // Halves of a word are floats.
        for (part, call) in [
            ("low", "vec4(T(textureLod(t, c, 0.0)) & T(65535))"),
            ("high", "vec4(T(texelFetch(t, p, 0)) >> T(16))"),
        ] {
            let call = call.replace('T', &format!("{prefix}vec4"));
            let info = Sampling::default().info();
            let got = sampled(s, &model, &format!("{prefix}sampler2D"), &info, &call)?;
            let expected = |x: usize, y: usize| {
                let texel = texture.fetch(0, [x as i64, y as i64, 0]);
                Some(texel.map(|value| match part {
                    "low" => (value as i64 & 0xffff) as f64,
                    _ => (value as i64 >> 16) as f64,
                }))
            };
            check(s, &format!("{format:?} {part}"), &got, expected, 0.0, false)?;
        }
    }
    Ok(())
}

/// Depths and stencil values as textures.
unsafe fn depth_stencil(s: &Scope<'_>) -> anyhow::Result<()> {
    for (format, aspect, bytes) in [
        (vk::Format::D32_SFLOAT, vk::ImageAspectFlags::DEPTH, 4),
        (vk::Format::D16_UNORM, vk::ImageAspectFlags::DEPTH, 2),
        (vk::Format::S8_UINT, vk::ImageAspectFlags::STENCIL, 1),
        (
            vk::Format::D32_SFLOAT_S8_UINT,
            vk::ImageAspectFlags::DEPTH,
            4,
        ),
        (
            vk::Format::D32_SFLOAT_S8_UINT,
            vk::ImageAspectFlags::STENCIL,
            1,
        ),
    ] {
        let shape = Shape {
            aspect,
            ..Shape::flat(format, bytes, 32, 32)
        };
        let usage = vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::TRANSFER_DST;
        if !s.has_image(&shape, usage) {
            continue;
        }
        let mut model = Model::new(shape, 850);
        if bytes == 4 {
            for texel in model.bytes.as_chunks_mut::<4>().0 {
                *texel = (f32::from(texel[0]) / 256.0).to_le_bytes();
            }
        }
        let decode = |texel: &[u8]| match texel {
            [a, b, c, d] => f64::from(f32::from_le_bytes([*a, *b, *c, *d])),
            [a, b] => f64::from(u16::from_le_bytes([*a, *b])) / 65535.0,
            _ => f64::from(texel[0]),
        };
        let texture = Texture::new(&model, vk::ImageViewType::TYPE_2D, |texel| {
            [decode(texel), 0.0, 0.0, 1.0]
        });
        let stencil = aspect == vk::ImageAspectFlags::STENCIL;
        let sampler = if stencil { "usampler2D" } else { "sampler2D" };
        let info = Sampling::default().info();
        // The other components of depth are not defined without a swizzle.
        let call = "vec4(textureLod(t, c, 0.0).r, texelFetch(t, p, 0).r, 0.0, 1.0)";
        let got = sampled(s, &model, sampler, &info, call)?;
        let expected = |x: usize, y: usize| {
            let [value, ..] = texture.fetch(0, [x as i64, y as i64, 0]);
            Some([value, value, 0.0, 1.0])
        };
        let name = format!("{format:?} {aspect:?}");
        check(s, &name, &got, expected, 1.0e-5, false)?;
    }
    Ok(())
}
