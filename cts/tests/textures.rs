// SPDX-License-Identifier: MIT
//! Textures, samplers, storage images and texel buffers: shaders whose results on the simulated GPU and on lavapipe agree,
//! to the bit where nothing is filtered, else within a tolerance.

mod common;

use agx_hw::format::Format;
use common::{storage, words};
use cortland_cts::case::{Case, Device as _};
use cortland_cts::corpus::source;
use cortland_cts::device::agx::AgxCompiler;
use cortland_cts::device::lavapipe::Lavapipe;
use cortland_cts::device::simulated::{Options, SimulatedDevice};
use cortland_cts::image::{
    Border, Compare, Filter, Image, ImageKind, MipFilter, Sampler, Shape, Wrap,
};

/// Whole numbers that look random, from a seed.
fn noise(seed: u32) -> impl Iterator<Item = u32> {
    let mut state = seed.wrapping_mul(0x9e37_79b9) | 1;
    std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state
    })
}

/// Texels of a format: floats are between 0 and 1, all else is any bits.
fn texels(image: &Image) -> Vec<u8> {
    let numbers = noise(image.binding + 17 * image.element + 1);
    let size = image.size();
    let name = image.format.name();
    if name.contains("SFLOAT") && name.contains("32") {
        let floats = numbers.map(|n| (n >> 8) as f32 / (1 << 24) as f32);
        return floats.flat_map(f32::to_le_bytes).take(size).collect();
    }
    if name.contains("SFLOAT") {
        let halves = numbers.map(|n| half::f16::from_f32((n >> 21) as f32 / 2048.0));
        return halves.flat_map(half::f16::to_le_bytes).take(size).collect();
    }
    if name.contains("UFLOAT") {
        // No infinities, no NaN.
        let words = numbers.map(|n| n & !(1 << 10 | 1 << 21 | 1 << 31));
        return words.flat_map(u32::to_le_bytes).take(size).collect();
    }
    numbers.flat_map(u32::to_le_bytes).take(size).collect()
}

fn image(binding: u32, kind: ImageKind, format: Format, shape: Shape, levels: u32) -> Image {
    let mut image = Image {
        set: 1,
        binding,
        element: 0,
        kind,
        format,
        shape,
        levels,
        sampler: None,
        border: None,
        texels: Vec::new(),
    };
    image.texels = texels(&image);
    image
}

fn sampled(binding: u32, format: Format, shape: Shape, levels: u32, sampler: Sampler) -> Image {
    Image {
        sampler: Some((sampler, 0.0)),
        ..image(binding, ImageKind::Combined, format, shape, levels)
    }
}

fn linear() -> Sampler {
    Sampler {
        mag: Filter::Linear,
        min: Filter::Linear,
        mip: MipFilter::Linear,
        wrap: [Wrap::Repeat; 3],
        ..Sampler::default()
    }
}

fn nearest() -> Sampler {
    Sampler {
        mip: MipFilter::Nearest,
        wrap: [Wrap::Repeat; 3],
        ..Sampler::default()
    }
}

/// A shader of 64 invocations with four words of output each at `o[i]`; `body` is a function's.
fn case(name: &str, declare: &str, body: &str, images: Vec<Image>) -> Case {
    let text = format!(
        "#version 460
#extension GL_EXT_nonuniform_qualifier : enable
#extension GL_EXT_samplerless_texture_functions : enable
#extension GL_EXT_shader_image_load_formatted : enable
#extension GL_EXT_shader_atomic_float : enable
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer Out {{ uvec4 o[]; }};
{declare}
uint hash(uint x) {{ x ^= x >> 16; x *= 0x7feb352du; x ^= x >> 15; x *= 0x846ca68bu; x ^= x >> 16; return x; }}
float unit(uint x) {{ return float(hash(x) >> 8) / 16777216.0; }}
void main() {{
    uint i = gl_GlobalInvocationID.x;
    {body}
}}
"
    );
    Case {
        name: name.to_owned(),
        spirv: source::compile_glsl(&text).unwrap_or_else(|e| panic!("{name}: {e:#}\n{text}")),
        entry: "main".to_owned(),
        specialization: Vec::new(),
        groups: [2, 1, 1],
        base_group: [0; 3],
        push_constants: Vec::new(),
        buffers: vec![storage(0, &[0x55; 4 * 128])],
        images,
    }
}

/// What may differ.
#[derive(Clone, Copy)]
enum Within {
    /// Nothing.
    Equal,
    /// So much of floats, in the buffer and in images of floats; bits that are equal are.
    Floats(f32),
}

fn compare(case: &Case, what: &str, got: &[u32], expected: &[u32], within: Within) {
    assert_eq!(got.len(), expected.len(), "{}: {what}", case.name);
    for (at, (a, b)) in got.iter().zip(expected).enumerate() {
        let (x, y) = (f32::from_bits(*a), f32::from_bits(*b));
        let near = match within {
            Within::Equal => false,
            Within::Floats(most) => (x - y).abs() <= most,
        };
        assert!(
            a == b || near,
            "{}: {what}, word {at}: {a:#x} ({x}) instead of {b:#x} ({y})",
            case.name
        );
    }
}

/// Both devices leave the same.
fn agree(case: &Case, within: Within) {
    let lavapipe = Lavapipe::shared().unwrap_or_else(|e| panic!("{e:#}"));
    let expected = lavapipe.run(case).unwrap_or_else(|e| panic!("{e:#}"));
    for robust in [false, true] {
        let device = SimulatedDevice::new(AgxCompiler { robust }, Options::default());
        let got = device
            .run(case)
            .unwrap_or_else(|e| panic!("{}: {e:#}", case.name));
        assert_ne!(
            words(&expected[0]),
            words(&case.buffers[0].bytes),
            "{}: it does nothing",
            case.name
        );
        compare(
            case,
            "the buffer",
            &words(&got[0]),
            &words(&expected[0]),
            within,
        );
        for (index, image) in case.images.iter().enumerate() {
            let (got, expected) = (&got[1 + index], &expected[1 + index]);
            let differ = got.iter().zip(expected).position(|(a, b)| a != b);
            if let Some(at) = differ {
                let texel = at / image.texel_bytes() * image.texel_bytes();
                let range = texel..texel + image.texel_bytes();
                panic!(
                    "{}: {}: texel {}: {:x?} instead of {:x?}",
                    case.name,
                    image.describe(),
                    texel / image.texel_bytes(),
                    &got[range.clone()],
                    &expected[range]
                );
            }
        }
    }
}

/// The simulated GPU leaves these floats of each invocation in the buffer.
fn holds(case: &Case, expected: &dyn Fn(u32) -> [f32; 4]) {
    let device = SimulatedDevice::new(AgxCompiler { robust: false }, Options::default());
    let got = device
        .run(case)
        .unwrap_or_else(|e| panic!("{}: {e:#}", case.name));
    let expected: Vec<u32> = (0..128).flat_map(expected).map(f32::to_bits).collect();
    compare(
        case,
        "the buffer",
        &words(&got[0]),
        &expected,
        Within::Floats(1e-6),
    );
}

const FLOATS: &str = "floatBitsToUint";

#[test]
fn fetches_of_all_dimensions() {
    let rgba = Format::R8G8B8A8Unorm;
    for (ty, shape, levels, coord) in [
        ("texture1D", Shape::D1(37), 3, "int(i % 40u)"),
        (
            "texture1DArray",
            Shape::D1Array(37, 3),
            2,
            "ivec2(i % 40u, i / 40u)",
        ),
        ("texture2D", Shape::D2(19, 23), 4, "ivec2(i % 20u, i / 6u)"),
        (
            "texture2DArray",
            Shape::D2Array(19, 13, 5),
            1,
            "ivec3(i % 20u, (i / 5u) % 14u, i / 20u)",
        ),
        (
            "texture3D",
            Shape::D3(9, 7, 5),
            3,
            "ivec3(i % 10u, (i / 5u) % 8u, i / 20u)",
        ),
    ] {
        let images = vec![image(0, ImageKind::Sampled, rgba, shape, levels)];
        let declare = format!("layout(set = 1, binding = 0) uniform {ty} t;");
        for level in ["0", "int(i & 3u)"] {
            if level != "0" && levels == 1 {
                continue;
            }
            let body = format!("o[i] = {FLOATS}(texelFetch(t, {coord}, {level}));");
            // lavapipe clamps levels that are not there.
            if level != "0" && levels < 4 {
                let body = body.replace("i & 3u", &format!("i % {levels}u"));
                agree(
                    &case(ty, &declare, &body, images.clone()),
                    Within::Floats(1e-6),
                );
                continue;
            }
            agree(
                &case(ty, &declare, &body, images.clone()),
                Within::Floats(1e-6),
            );
        }
    }
}

#[test]
fn samples_with_a_level_of_detail() {
    let rgba = Format::R8G8B8A8Unorm;
    let direction = "vec3(unit(i) - 0.5, unit(i + 500u) - 0.5, unit(i + 900u) - 0.5)";
    for (ty, shape, levels, coord) in [
        (
            "sampler1D",
            Shape::D1(32),
            6,
            "unit(i) * 3.0 - 1.0".to_owned(),
        ),
        (
            "sampler1DArray",
            Shape::D1Array(32, 3),
            6,
            "vec2(unit(i), unit(i + 7u) * 4.0 - 1.0)".to_owned(),
        ),
        (
            "sampler2D",
            Shape::D2(32, 16),
            6,
            "vec2(unit(i), unit(i + 500u)) * 3.0 - 1.0".to_owned(),
        ),
        (
            "sampler2DArray",
            Shape::D2Array(16, 16, 4),
            5,
            "vec3(unit(i), unit(i + 7u), unit(i + 9u) * 6.0 - 1.0)".to_owned(),
        ),
        (
            "sampler3D",
            Shape::D3(16, 8, 8),
            5,
            "vec3(unit(i), unit(i + 7u), unit(i + 9u)) * 2.0".to_owned(),
        ),
        ("samplerCube", Shape::Cube(16), 5, direction.to_owned()),
        (
            "samplerCubeArray",
            Shape::CubeArray(16, 2),
            5,
            format!("vec4({direction}, float(i & 1u))"),
        ),
    ] {
        let declare = format!("layout(set = 1, binding = 0) uniform {ty} t;");
        for (sampler, within) in [(nearest(), 1e-6), (linear(), 0.02)] {
            let images = vec![sampled(0, rgba, shape, levels, sampler)];
            for (lod, within) in [
                ("0.0", within),
                ("float(i % 5u) + 0.25 * float(i % 2u) - 0.25", within),
            ] {
                let body = format!("o[i] = {FLOATS}(textureLod(t, {coord}, {lod}));");
                agree(
                    &case(&format!("{ty} {lod}"), &declare, &body, images.clone()),
                    Within::Floats(within),
                );
            }
        }
    }
}

#[test]
fn projections_biases_and_coordinates_in_texels() {
    let rgba = Format::R8G8B8A8Unorm;
    let declare = "layout(set = 1, binding = 0) uniform sampler2D t;";
    let mut images = vec![sampled(0, rgba, Shape::D2(32, 16), 6, linear())];
    let body = "o[i] = floatBitsToUint(textureProjLod(t, vec3(unit(i), unit(i + 7u), 1.0 + unit(i + 9u)), 0.0));";
    agree(
        &case("projection", declare, body, images.clone()),
        Within::Floats(0.02),
    );
    images[0].sampler = Some((nearest(), 1.25));
    let body =
        "o[i] = floatBitsToUint(textureLod(t, vec2(unit(i), unit(i + 7u)), float(i % 4u) - 1.0));";
    agree(
        &case("sampler's bias", declare, body, images.clone()),
        Within::Floats(1e-6),
    );
    let sampler = Sampler {
        unnormalised: true,
        wrap: [Wrap::ClampToEdge; 3],
        mip: MipFilter::None,
        ..Sampler::default()
    };
    let images = vec![sampled(0, rgba, Shape::D2(29, 17), 1, sampler)];
    let body = "o[i] = floatBitsToUint(textureLod(t, vec2(unit(i) * 40.0 - 4.0, unit(i + 7u) * 20.0), 0.0));";
    agree(&case("texels", declare, body, images), Within::Floats(1e-6));
}

#[test]
fn gradients() {
    let rgba = Format::R8G8B8A8Unorm;
    // One axis at a time, so that no approximation of a length matters, and levels far from halves.
    let g = "exp2(float(i % 5u) - 0.8) / 32.0";
    for (ty, shape, coord, ddx, ddy) in [
        (
            "sampler1D",
            Shape::D1(32),
            "unit(i)".to_owned(),
            g.to_owned(),
            "0.0".to_owned(),
        ),
        (
            "sampler2D",
            Shape::D2(32, 32),
            "vec2(unit(i), unit(i + 7u))".to_owned(),
            format!("vec2({g}, 0.0)"),
            "vec2(0.0)".to_owned(),
        ),
        (
            "sampler2D",
            Shape::D2(32, 32),
            "vec2(unit(i), unit(i + 7u))".to_owned(),
            "vec2(0.0)".to_owned(),
            format!("vec2(0.0, {g})"),
        ),
        (
            "sampler2DArray",
            Shape::D2Array(32, 32, 3),
            "vec3(unit(i), unit(i + 7u), float(i % 3u))".to_owned(),
            format!("vec2({g}, 0.0)"),
            "vec2(0.0)".to_owned(),
        ),
        (
            "sampler3D",
            Shape::D3(32, 32, 32),
            "vec3(unit(i), unit(i + 7u), unit(i + 9u))".to_owned(),
            format!("vec3(0.0, 0.0, {g})"),
            "vec3(0.0)".to_owned(),
        ),
        (
            "samplerCube",
            Shape::Cube(32),
            "vec3(unit(i) - 0.5, unit(i + 7u) - 0.5, 1.0)".to_owned(),
            format!("vec3(2.0 * {g}, 0.0, 0.0)"),
            "vec3(0.0)".to_owned(),
        ),
    ] {
        let declare = format!("layout(set = 1, binding = 0) uniform {ty} t;");
        let body = format!("o[i] = floatBitsToUint(textureGrad(t, {coord}, {ddx}, {ddy}));");
        let images = vec![sampled(0, rgba, shape, 5, nearest())];
        agree(
            &case(&format!("{ty} {ddx} {ddy}"), &declare, &body, images),
            Within::Floats(1e-6),
        );
    }
}

#[test]
fn offsets_on_samples() {
    let rgba = Format::R8G8B8A8Unorm;
    for (ty, shape, coord, offset) in [
        ("sampler1D", Shape::D1(32), "unit(i) * 2.0 - 0.5", "-3"),
        (
            "sampler2D",
            Shape::D2(32, 16),
            "vec2(unit(i), unit(i + 7u)) * 2.0 - 0.5",
            "ivec2(-8, 7)",
        ),
        (
            "sampler2DArray",
            Shape::D2Array(16, 16, 3),
            "vec3(unit(i), unit(i + 7u), float(i % 3u))",
            "ivec2(3, -2)",
        ),
        (
            "sampler3D",
            Shape::D3(16, 8, 8),
            "vec3(unit(i), unit(i + 7u), unit(i + 9u))",
            "ivec3(1, -2, 3)",
        ),
    ] {
        let declare = format!("layout(set = 1, binding = 0) uniform {ty} t;");
        // Others lavapipe wraps in its own way: see below.
        for wrap in [Wrap::Repeat, Wrap::ClampToEdge] {
            for (filter, within) in [(Filter::Nearest, 1e-6), (Filter::Linear, 0.02)] {
                let sampler = Sampler {
                    mag: filter,
                    min: filter,
                    mip: if filter == Filter::Linear {
                        MipFilter::Linear
                    } else {
                        MipFilter::Nearest
                    },
                    wrap: [wrap; 3],
                    border: Border::OpaqueWhite,
                    ..Sampler::default()
                };
                let images = vec![sampled(0, rgba, shape, 5, sampler)];
                let body = format!(
                    "o[i] = floatBitsToUint(textureLodOffset(t, {coord}, float(i % 4u) + 0.25 * float(i & 1u), {offset}));"
                );
                let name = format!("{ty} {wrap:?} {filter:?}");
                agree(
                    &case(&name, &declare, &body, images),
                    Within::Floats(within),
                );
            }
        }
    }
    let declare = "layout(set = 1, binding = 0) uniform texture2D t;";
    let images = vec![image(0, ImageKind::Sampled, rgba, Shape::D2(19, 23), 1)];
    let body = "o[i] = floatBitsToUint(texelFetchOffset(t, ivec2(i % 10u, i / 10u) + 4, 0, ivec2(-3, 5)));";
    agree(
        &case("fetch with an offset", declare, body, images),
        Within::Floats(1e-6),
    );
}

#[test]
fn gathers() {
    let rgba = Format::R8G8B8A8Unorm;
    let flat = "vec2(unit(i), unit(i + 7u)) * 2.0 - 0.5";
    let direction = "vec3(unit(i) - 0.5, unit(i + 500u) - 0.5, unit(i + 900u) - 0.5)";
    for (ty, shape, call) in [
        (
            "sampler2D",
            Shape::D2(19, 13),
            format!("textureGather(t, {flat}, 0)"),
        ),
        (
            "sampler2D",
            Shape::D2(19, 13),
            format!("textureGather(t, {flat}, 3)"),
        ),
        (
            "sampler2DArray",
            Shape::D2Array(19, 13, 3),
            format!("textureGather(t, vec3({flat}, float(i % 3u)), 2)"),
        ),
        (
            "samplerCube",
            Shape::Cube(16),
            format!("textureGather(t, {direction}, 0)"),
        ),
        (
            "samplerCubeArray",
            Shape::CubeArray(16, 2),
            format!("textureGather(t, vec4({direction}, float(i & 1u)), 1)"),
        ),
    ] {
        // No corners of cubes: what is there is up to the implementation.
        let declare = format!("layout(set = 1, binding = 0) uniform {ty} t;");
        for wrap in [Wrap::Repeat, Wrap::MirroredRepeat, Wrap::ClampToBorder] {
            let sampler = Sampler {
                wrap: [wrap; 3],
                border: Border::OpaqueBlack,
                ..nearest()
            };
            let images = vec![sampled(0, rgba, shape, 1, sampler)];
            let body = format!("o[i] = floatBitsToUint({call});");
            agree(
                &case(&format!("{call} {wrap:?}"), &declare, &body, images),
                Within::Floats(1e-6),
            );
        }
    }
}

#[test]
fn comparisons() {
    let depth = Format::D32Sfloat;
    let reference = "unit(i + 50u)";
    for (ty, shape, levels, call) in [
        (
            "sampler2DShadow",
            Shape::D2(16, 16),
            4,
            format!("textureLod(t, vec3(unit(i), unit(i + 7u), {reference}), float(i % 4u))"),
        ),
        (
            "sampler2DShadow",
            Shape::D2(16, 16),
            4,
            format!(
                "textureGrad(t, vec3(unit(i), unit(i + 7u), {reference}), vec2(0.11, 0.0), vec2(0.0))"
            ),
        ),
        (
            "sampler2DArrayShadow",
            Shape::D2Array(16, 16, 3),
            1,
            format!(
                "textureGrad(t, vec4(unit(i), unit(i + 7u), float(i % 3u), {reference}), vec2(0.0), vec2(0.0))"
            ),
        ),
        (
            "samplerCubeArrayShadow",
            Shape::CubeArray(16, 2),
            1,
            format!(
                "texture(t, vec4(unit(i) - 0.5, unit(i + 7u) - 0.5, unit(i + 8u) - 0.5, float(i & 1u)), {reference})"
            ),
        ),
        (
            "samplerCubeShadow",
            Shape::Cube(16),
            1,
            format!(
                "textureGrad(t, vec4(unit(i) - 0.5, unit(i + 7u) - 0.5, unit(i + 8u) - 0.5, {reference}), vec3(0.0), vec3(0.0))"
            ),
        ),
    ] {
        let declare = format!("layout(set = 1, binding = 0) uniform {ty} t;");
        for function in [
            Compare::LessOrEqual,
            Compare::Greater,
            Compare::Less,
            Compare::NotEqual,
        ] {
            let sampler = Sampler {
                compare: function,
                ..nearest()
            };
            let images = vec![sampled(0, depth, shape, levels, sampler)];
            let body = format!("o[i] = uvec4(floatBitsToUint({call}), 0, 0, 0);");
            agree(
                &case(&format!("{call} {function:?}"), &declare, &body, images),
                Within::Equal,
            );
        }
    }
    for (ty, shape, call) in [
        (
            "sampler2DShadow",
            Shape::D2(16, 16),
            format!("textureGather(t, vec2(unit(i), unit(i + 7u)), {reference})"),
        ),
        (
            "sampler2DArrayShadow",
            Shape::D2Array(16, 16, 3),
            format!("textureGather(t, vec3(unit(i), unit(i + 7u), float(i % 3u)), {reference})"),
        ),
    ] {
        let declare = format!("layout(set = 1, binding = 0) uniform {ty} t;");
        for function in [
            Compare::LessOrEqual,
            Compare::Greater,
            Compare::GreaterOrEqual,
            Compare::Always,
        ] {
            let sampler = Sampler {
                compare: function,
                ..nearest()
            };
            let images = vec![sampled(0, depth, shape, 1, sampler)];
            let body = format!("o[i] = floatBitsToUint({call});");
            agree(
                &case(&format!("{call} {function:?}"), &declare, &body, images),
                Within::Equal,
            );
        }
    }
}

#[test]
fn queries() {
    let rgba = Format::R8G8B8A8Unorm;
    let declare = "
layout(set = 1, binding = 0) uniform texture1DArray a;
layout(set = 1, binding = 1) uniform texture2D b;
layout(set = 1, binding = 2) uniform texture3D c;
layout(set = 1, binding = 3) uniform textureCubeArray d;
layout(set = 1, binding = 4) uniform textureBuffer e;
layout(set = 1, binding = 5, rgba8) uniform image2DArray f;
layout(set = 1, binding = 6, rgba8) uniform image3D g;
layout(set = 1, binding = 7, rgba8) uniform imageBuffer h;
layout(set = 1, binding = 8, rgba8) uniform imageCube k;
layout(set = 1, binding = 9, rgba8) uniform image1DArray m;
";
    let images = || {
        use ImageKind::{Sampled, Storage, StorageTexels, UniformTexels};
        vec![
            image(0, Sampled, rgba, Shape::D1Array(37, 3), 5),
            image(1, Sampled, rgba, Shape::D2(19, 70), 7),
            image(2, Sampled, rgba, Shape::D3(9, 7, 5), 3),
            image(3, Sampled, rgba, Shape::CubeArray(8, 2), 2),
            image(4, UniformTexels, rgba, Shape::Buffer(77), 1),
            image(5, Storage, rgba, Shape::D2Array(5, 6, 7), 1),
            image(6, Storage, rgba, Shape::D3(8, 9, 10), 1),
            image(7, StorageTexels, rgba, Shape::Buffer(66), 1),
            image(8, Storage, rgba, Shape::Cube(4), 1),
            image(9, Storage, rgba, Shape::D1Array(5, 2), 1),
        ]
    };
    // lavapipe takes the level of one invocation for all.
    let body = "const int l = 1;
    switch (i % 12u) {
    case 0: o[i] = uvec4(textureSize(a, l), 0, 0); break;
    case 1: o[i] = uvec4(textureSize(b, l), 0, 0); break;
    case 2: o[i] = uvec4(textureSize(c, l), 0); break;
    case 3: o[i] = uvec4(textureSize(d, l), 0); break;
    case 4: o[i] = uvec4(textureSize(e), 0, 0, 0); break;
    case 5: o[i] = uvec4(imageSize(f), 0); break;
    case 6: o[i] = uvec4(imageSize(g), 0); break;
    case 7: o[i] = uvec4(imageSize(h), 0, 0, 0); break;
    case 8: o[i] = uvec4(textureQueryLevels(a), textureQueryLevels(b), textureQueryLevels(c), textureQueryLevels(d)); break;
    case 9: o[i] = uvec4(imageSize(k), 0, 0); break;
    case 10: o[i] = uvec4(imageSize(m), 0, 0); break;
    default: o[i] = uvec4(1); break;
    }";
    agree(&case("queries", declare, body, images()), Within::Equal);
}

#[test]
fn texel_buffers() {
    for (format, ty, qualifier, convert) in [
        (Format::R32Uint, "utextureBuffer", "r32ui", "uvec4"),
        (
            Format::R32G32B32A32Sfloat,
            "textureBuffer",
            "rgba32f",
            "floatBitsToUint",
        ),
        (
            Format::R8G8B8A8Unorm,
            "textureBuffer",
            "rgba8",
            "floatBitsToUint",
        ),
        (
            Format::R16Sfloat,
            "textureBuffer",
            "r16f",
            "floatBitsToUint",
        ),
        (Format::R8Uint, "utextureBuffer", "r8ui", "uvec4"),
    ] {
        let letter = if ty.starts_with('u') { "u" } else { "" };
        let declare = format!(
            "layout(set = 1, binding = 0) uniform {ty} t;
layout(set = 1, binding = 1, {qualifier}) uniform {letter}imageBuffer d;
layout(set = 1, binding = 2) uniform writeonly {letter}imageBuffer e;"
        );
        let images = vec![
            image(0, ImageKind::UniformTexels, format, Shape::Buffer(3001), 1),
            image(1, ImageKind::StorageTexels, format, Shape::Buffer(200), 1),
            image(2, ImageKind::StorageTexels, format, Shape::Buffer(200), 1),
        ];
        // Behind the end there is nothing.
        let body = format!(
            "int at = int(hash(i) % 3500u);
    o[i] = at < 3001 || true ? {convert}(texelFetch(t, at)) : uvec4(0);
    imageStore(d, int(i) + 100, texelFetch(t, int(i) * 23));
    imageStore(e, int(i) + 100, texelFetch(t, int(i) * 23));
    {}",
            "if (at >= 3001) o[i].w = 1u;"
        );
        agree(&case(ty, &declare, &body, images), Within::Floats(1e-6));
    }
}

#[test]
fn alpha_beyond_the_end_of_texel_buffers() {
    // One where the format has none, as robustBufferAccess2 wants it.
    for (format, ty, convert, alpha) in [
        (Format::R32Uint, "utextureBuffer", "vec4", 1.0),
        (Format::R8G8Sint, "itextureBuffer", "vec4", 1.0),
        (Format::R16G16Sfloat, "textureBuffer", "", 1.0),
        (Format::B10G11R11UfloatPack32, "textureBuffer", "", 1.0),
        (Format::R8G8B8A8Unorm, "textureBuffer", "", 0.0),
        (Format::R16G16B16A16Uint, "utextureBuffer", "vec4", 0.0),
    ] {
        let declare = format!("layout(set = 1, binding = 0) uniform {ty} t;");
        let images = vec![image(
            0,
            ImageKind::UniformTexels,
            format,
            Shape::Buffer(50),
            1,
        )];
        let body = format!("o[i] = {FLOATS}({convert}(texelFetch(t, int(i) * 100 + 50)));");
        let case = case(&format!("{format:?}"), &declare, &body, images);
        holds(&case, &|_| [0.0, 0.0, 0.0, alpha]);
    }
}

/// The formats of shaderStorageImageExtendedFormats.
const FORMATS: [(&str, Format); 39] = [
    ("rgba32f", Format::R32G32B32A32Sfloat),
    ("rgba16f", Format::R16G16B16A16Sfloat),
    ("rg32f", Format::R32G32Sfloat),
    ("rg16f", Format::R16G16Sfloat),
    ("r11f_g11f_b10f", Format::B10G11R11UfloatPack32),
    ("r32f", Format::R32Sfloat),
    ("r16f", Format::R16Sfloat),
    ("rgba16", Format::R16G16B16A16Unorm),
    ("rgb10_a2", Format::A2B10G10R10UnormPack32),
    ("rgba8", Format::R8G8B8A8Unorm),
    ("rg16", Format::R16G16Unorm),
    ("rg8", Format::R8G8Unorm),
    ("r16", Format::R16Unorm),
    ("r8", Format::R8Unorm),
    ("rgba16_snorm", Format::R16G16B16A16Snorm),
    ("rgba8_snorm", Format::R8G8B8A8Snorm),
    ("rg16_snorm", Format::R16G16Snorm),
    ("rg8_snorm", Format::R8G8Snorm),
    ("r16_snorm", Format::R16Snorm),
    ("r8_snorm", Format::R8Snorm),
    ("rgba32i", Format::R32G32B32A32Sint),
    ("rgba16i", Format::R16G16B16A16Sint),
    ("rgba8i", Format::R8G8B8A8Sint),
    ("rg32i", Format::R32G32Sint),
    ("rg16i", Format::R16G16Sint),
    ("rg8i", Format::R8G8Sint),
    ("r32i", Format::R32Sint),
    ("r16i", Format::R16Sint),
    ("r8i", Format::R8Sint),
    ("rgba32ui", Format::R32G32B32A32Uint),
    ("rgba16ui", Format::R16G16B16A16Uint),
    ("rgb10_a2ui", Format::A2B10G10R10UintPack32),
    ("rgba8ui", Format::R8G8B8A8Uint),
    ("rg32ui", Format::R32G32Uint),
    ("rg16ui", Format::R16G16Uint),
    ("rg8ui", Format::R8G8Uint),
    ("r32ui", Format::R32Uint),
    ("r16ui", Format::R16Uint),
    ("r8ui", Format::R8Uint),
];

#[test]
fn storage_images_of_all_formats() {
    for (qualifier, format) in FORMATS {
        let (letter, convert) = match qualifier {
            q if q.ends_with("ui") => ("u", "uvec4"),
            q if q.ends_with('i') => ("i", "uvec4"),
            _ => ("", "floatBitsToUint"),
        };
        // One is fetched, the other is written too and so loaded from memory.
        let declare = format!(
            "layout(set = 1, binding = 0, {qualifier}) uniform readonly {letter}image2D a;
layout(set = 1, binding = 1, {qualifier}) uniform {letter}image2D b;"
        );
        let images = vec![
            image(0, ImageKind::Storage, format, Shape::D2(16, 16), 1),
            image(1, ImageKind::Storage, format, Shape::D2(21, 16), 1),
        ];
        let body = format!(
            "ivec2 at = ivec2(i % 16u, i / 16u);
    {letter}vec4 x = imageLoad(a, at), y = imageLoad(b, at + ivec2(0, 8));
    o[i] = (i & 1u) == 0u ? {convert}(x) : {convert}(y);
    imageStore(b, at, x);"
        );
        agree(
            &case(qualifier, &declare, &body, images.clone()),
            Within::Floats(1e-6),
        );
        // The same where the module does not say the format of what is written.
        let declare = declare.replace(
            &format!("binding = 1, {qualifier}) uniform"),
            "binding = 1) uniform writeonly",
        );
        let body = format!(
            "ivec2 at = ivec2(i % 16u, i / 16u);
    {letter}vec4 x = imageLoad(a, at);
    o[i] = {convert}(x);
    imageStore(b, at, x);"
        );
        agree(
            &case(
                &format!("{qualifier} by its record"),
                &declare,
                &body,
                images,
            ),
            Within::Floats(1e-6),
        );
    }
}

#[test]
fn storage_images_of_all_dimensions() {
    let format = Format::R8G8B8A8Uint;
    for (ty, shape, at) in [
        ("uimage1D", Shape::D1(150), "int(i)"),
        (
            "uimage1DArray",
            Shape::D1Array(40, 4),
            "ivec2(i % 40u, i / 40u)",
        ),
        (
            "uimage2D",
            Shape::D2(70, 66),
            "ivec2(i % 70u, (i * 3u) % 66u)",
        ),
        (
            "uimage2DArray",
            Shape::D2Array(20, 10, 3),
            "ivec3(i % 20u, (i / 20u) % 7u, i % 3u)",
        ),
        (
            "uimage3D",
            Shape::D3(20, 10, 5),
            "ivec3(i % 20u, i / 20u, i % 5u)",
        ),
        (
            "uimageCube",
            Shape::Cube(12),
            "ivec3(i % 12u, i / 12u, i % 6u)",
        ),
        (
            "uimageCubeArray",
            Shape::CubeArray(12, 2),
            "ivec3(i % 12u, i / 12u, i % 12u)",
        ),
    ] {
        let declare = format!(
            "layout(set = 1, binding = 0, rgba8ui) uniform readonly {ty} a;
layout(set = 1, binding = 1, rgba8ui) uniform {ty} b;"
        );
        let images = vec![
            image(0, ImageKind::Storage, format, shape, 1),
            image(1, ImageKind::Storage, format, shape, 1),
        ];
        let body = format!(
            "o[i] = imageLoad(a, {at}) + 256u * imageLoad(b, {at});
    imageStore(b, {at}, uvec4(i, i + 1u, hash(i) & 255u, 7u));
    imageStore(b, {at} + 1000, uvec4(1));"
        );
        agree(&case(ty, &declare, &body, images), Within::Equal);
    }
}

#[test]
fn image_atomics() {
    for (ty, shape, at) in [
        ("image2D", Shape::D2(20, 20), "ivec2(i % 7u, i % 3u)"),
        (
            "image2DArray",
            Shape::D2Array(5, 5, 3),
            "ivec3(i % 5u, i % 2u, i % 3u)",
        ),
        (
            "image3D",
            Shape::D3(5, 5, 3),
            "ivec3(i % 5u, i % 2u, i % 3u)",
        ),
        ("image1D", Shape::D1(64), "int(i % 9u)"),
    ] {
        let declare = format!(
            "layout(set = 1, binding = 0, r32ui) uniform u{ty} a;
layout(set = 1, binding = 1, r32i) uniform i{ty} b;
layout(set = 1, binding = 2, r32ui) uniform u{ty} c;
layout(set = 1, binding = 3, r32ui) uniform uimageBuffer d;"
        );
        let images = vec![
            image(0, ImageKind::Storage, Format::R32Uint, shape, 1),
            image(1, ImageKind::Storage, Format::R32Sint, shape, 1),
            image(2, ImageKind::Storage, Format::R32Uint, shape, 1),
            image(
                3,
                ImageKind::StorageTexels,
                Format::R32Uint,
                Shape::Buffer(16),
                1,
            ),
        ];
        let body = format!(
            "imageAtomicAdd(a, {at}, i); imageAtomicMin(b, {at}, int(hash(i)));
    imageAtomicXor(c, {at}, hash(i)); imageAtomicMax(d, int(i % 16u), hash(i));
    imageAtomicCompSwap(a, {at} + 3, 0u, 5u);
    o[i] = uvec4(i, 0, 0, 0);"
        );
        agree(
            &case(&format!("atomics {ty}"), &declare, &body, images),
            Within::Equal,
        );
    }
    let declare = "layout(set = 1, binding = 0, r32f) uniform image2D a;";
    let images = vec![Image {
        texels: vec![0; 4 * 16],
        ..image(0, ImageKind::Storage, Format::R32Sfloat, Shape::D2(4, 4), 1)
    }];
    let body = "imageAtomicAdd(a, ivec2(i % 4u, 0), float(i)); imageAtomicExchange(a, ivec2(i % 4u, 3), 2.0); o[i] = uvec4(1);";
    agree(&case("float atomics", declare, body, images), Within::Equal);
}

#[test]
fn invocations_see_each_others_stores() {
    let declare = "layout(set = 1, binding = 0, rgba8ui) uniform coherent uimage2D a;
layout(set = 1, binding = 1, r16ui) uniform coherent uimage2D b;
layout(set = 1, binding = 2) uniform writeonly uimage2D unused;";
    let images = vec![
        image(
            0,
            ImageKind::Storage,
            Format::R8G8B8A8Uint,
            Shape::D2(64, 2),
            1,
        ),
        image(1, ImageKind::Storage, Format::R16Uint, Shape::D2(64, 2), 1),
    ];
    let declare = declare.lines().take(2).collect::<Vec<_>>().join("\n");
    let body = "int x = int(gl_LocalInvocationIndex), y = int(gl_WorkGroupID.x);
    imageStore(a, ivec2(x, y), uvec4(i, 1, 2, 3)); imageStore(b, ivec2(x, y), uvec4(hash(i) & 0xffffu));
    memoryBarrierImage(); barrier();
    o[i] = imageLoad(a, ivec2(63 - x, y)) + imageLoad(b, ivec2(63 - x, y));";
    agree(&case("exchange", &declare, body, images), Within::Equal);
}

#[test]
fn loads_without_a_format() {
    let declare = "layout(set = 1, binding = 0) uniform readonly image2D a;
layout(set = 1, binding = 1, rgba8) uniform image2D b;";
    let format = Format::R8G8B8A8Unorm;
    let images = vec![
        image(0, ImageKind::Storage, format, Shape::D2(16, 16), 1),
        image(1, ImageKind::Storage, format, Shape::D2(16, 16), 1),
    ];
    let body = "ivec2 at = ivec2(i % 16u, i / 16u); vec4 x = imageLoad(a, at); o[i] = floatBitsToUint(x); imageStore(b, at, x.wzyx);";
    agree(
        &case("without a format", declare, body, images),
        Within::Floats(1e-6),
    );
}

#[test]
fn multisampled_images() {
    // No command copies them: a shader fills them and another reads them, here one behind a barrier.
    for (shape, ty, at) in [
        (
            Shape::Multisampled(16, 8, 4),
            "uimage2DMS",
            "ivec2(x % 16, y * 4 + x / 16)",
        ),
        (
            Shape::MultisampledArray(16, 8, 4, 3),
            "uimage2DMSArray",
            "ivec3(x % 16, y * 4 + x / 16, 2)",
        ),
    ] {
        let declare = format!("layout(set = 1, binding = 0, rgba8ui) uniform coherent {ty} a;");
        let images = vec![image(0, ImageKind::Storage, Format::R8G8B8A8Uint, shape, 1)];
        let body = format!(
            "int x = int(gl_LocalInvocationIndex), y = int(gl_WorkGroupID.x);
    for (int s = 0; s < 4; s++) imageStore(a, {at}, s, uvec4(i, s, 2, 3));
    memoryBarrierImage(); barrier(); x = 63 - x;
    o[i] = uvec4(0);
    for (int s = 0; s < 4; s++) o[i] += imageLoad(a, {at}, s) << (4 * s);
    o[i].w += uint(imageSamples(a));"
        );
        agree(&case(ty, &declare, &body, images), Within::Equal);
    }
}

/// Several images at one binding.
fn array(binding: u32, count: u32, make: impl Fn() -> Image) -> Vec<Image> {
    let one = |element| {
        let mut image = Image {
            binding,
            element,
            ..make()
        };
        image.texels = texels(&image);
        image
    };
    (0..count).map(one).collect()
}

#[test]
fn arrays_indexed_at_run_time() {
    let rgba = Format::R8G8B8A8Unorm;
    let shape = Shape::D2(8, 8);
    let textures = || array(0, 7, || image(0, ImageKind::Sampled, rgba, shape, 1));
    let samplers = || {
        let sampler = |element: u32| Image {
            element,
            sampler: Some((
                Sampler {
                    wrap: [Wrap::ALL[element as usize]; 3],
                    ..nearest()
                },
                0.0,
            )),
            texels: Vec::new(),
            ..image(1, ImageKind::Sampler, rgba, Shape::Buffer(1), 1)
        };
        (0..3).map(sampler).collect::<Vec<_>>()
    };
    let declare = "layout(set = 1, binding = 0) uniform texture2D t[7];
layout(set = 1, binding = 1) uniform sampler s[3];";
    for (name, body) in [
        (
            "fetches",
            "o[i] = floatBitsToUint(texelFetch(t[nonuniformEXT(i % 7u)], ivec2(i % 8u, i / 16u), 0));",
        ),
        (
            "sizes",
            "o[i] = uvec4(textureSize(t[nonuniformEXT(i % 7u)], 0), 1, 1);",
        ),
        (
            "loops",
            "vec4 sum = vec4(0.0); for (uint n = 0u; n < 7u; n++) sum += texelFetch(t[n], ivec2(i % 8u, i / 16u), 0) / float(n + 1u); o[i] = floatBitsToUint(sum);",
        ),
    ] {
        let images = [textures(), samplers()].concat();
        let within = if name == "sizes" {
            Within::Equal
        } else {
            Within::Floats(1e-6)
        };
        agree(&case(name, declare, body, images), within);
    }
    // lavapipe takes the sampler of one invocation for all.
    let body = "o[i] = floatBitsToUint(textureLod(sampler2D(t[nonuniformEXT(i / 3u % 7u)], s[nonuniformEXT(i % 3u)]), vec2(unit(i), unit(i + 7u)) * 3.0 - 1.0, 0.0));";
    let images = [textures(), samplers()].concat();
    let expected = |i: u32| {
        let place = [unit(i), unit(i + 7)].map(|u| {
            let texel = ((u * 3.0 - 1.0) * 8.0).floor() as i64;
            wrapped(Wrap::ALL[(i % 3) as usize], texel, 8).unwrap_or_default() as usize
        });
        let texels = &images[(i / 3 % 7) as usize].texels[4 * (8 * place[1] + place[0])..];
        [0, 1, 2, 3].map(|c| f32::from(texels[c]) / 255.0)
    };
    holds(&case("samples", declare, body, images.clone()), &expected);
    let declare = "layout(set = 1, binding = 0) uniform sampler2D t[3];";
    let images = array(0, 3, || sampled(0, rgba, shape, 1, nearest()));
    let body = "o[i] = floatBitsToUint(textureLod(t[nonuniformEXT(i % 3u)], vec2(unit(i), unit(i + 7u)), 0.0));";
    agree(
        &case("combined", declare, body, images),
        Within::Floats(1e-6),
    );
    let declare = "layout(set = 1, binding = 0, r32ui) uniform uimage2D a[4];
layout(set = 1, binding = 1) uniform utextureBuffer b[3];";
    let images = [
        array(0, 4, || {
            image(0, ImageKind::Storage, Format::R32Uint, shape, 1)
        }),
        array(1, 3, || {
            image(
                1,
                ImageKind::UniformTexels,
                Format::R32Uint,
                Shape::Buffer(64),
                1,
            )
        }),
    ]
    .concat();
    let body = "uint n = nonuniformEXT(i % 4u); ivec2 at = ivec2(i % 8u, i / 16u);
    o[i] = imageLoad(a[nonuniformEXT(n)], at) + texelFetch(b[nonuniformEXT(i % 3u)], int(i % 64u));
    if (i == 200u) imageStore(a[nonuniformEXT(n)], at, uvec4(hash(i)));";
    // lavapipe takes the texel buffer of one invocation for all.
    let word = |image: &Image, at: usize| words(&image.texels)[at];
    let expected = |i: u32| {
        let texel = (8 * (i / 16) + i % 8) as usize;
        let buffer = word(&images[4 + (i % 3) as usize], (i % 64) as usize);
        let first = word(&images[(i % 4) as usize], texel).wrapping_add(buffer);
        [first, 0, 0, 2].map(f32::from_bits)
    };
    let images_then = case("images and texel buffers", declare, body, images.clone());
    holds(&images_then, &expected);
}

#[test]
fn many_textures_at_a_time() {
    let rgba = Format::R8G8B8A8Unorm;
    let declare = "layout(set = 1, binding = 0) uniform texture2D t[24];";
    let images = array(0, 24, || {
        image(0, ImageKind::Sampled, rgba, Shape::D2(8, 8), 1)
    });
    // All results are live until the end, more than there are registers for.
    let mut body = "ivec2 at = ivec2(i % 8u, i / 16u);\n".to_owned();
    for n in 0..24 {
        body += &format!(
            "    vec4 v{n} = texelFetch(t[{n}], at ^ {}, 0);\n",
            n / 2 % 8
        );
    }
    body += "    vec4 sum = vec4(0.0);\n";
    for n in (0..24).rev() {
        body += &format!("    sum = sum * 0.5 + v{n} * v{};\n", (n * 7 + 5) % 24);
    }
    body += "    o[i] = floatBitsToUint(sum);";
    let many = case("many", declare, &body, images);
    agree(&many, Within::Floats(1e-5));
    let first = common::compile(&many).expect("compiles");
    assert_eq!(common::compile(&many).expect("compiles again"), first);
    assert_eq!(first.textures.len(), 24);
    assert_eq!(first.samplers, [agx_compiler::binary::SamplerSlot::Fetch]);
    assert_eq!(first.publications, 32);
}

/// The shaders' `unit`.
fn unit(x: u32) -> f32 {
    let mut x = (x ^ x >> 16).wrapping_mul(0x7feb_352d);
    x = (x ^ x >> 15).wrapping_mul(0x846c_a68b);
    x ^= x >> 16;
    (x >> 8) as f32 / 16_777_216.0
}

/// A texel's number on an axis, by images, 4.1; `None` for the border.
fn wrapped(wrap: Wrap, i: i64, n: i64) -> Option<i64> {
    Some(match wrap {
        Wrap::Repeat => i.rem_euclid(n),
        Wrap::MirroredRepeat => {
            let j = i.rem_euclid(2 * n);
            j.min(2 * n - 1 - j)
        }
        Wrap::ClampToBorder if !(0..n).contains(&i) => return None,
        Wrap::MirrorClampToEdge => i.max(-1 - i).min(n - 1),
        _ => i.clamp(0, n - 1),
    })
}

/// Offsets are added to whole texels before these are wrapped (images, 10), which lavapipe does in its own way.
#[test]
fn offsets_are_added_before_wrapping() {
    let (width, height) = (19, 13);
    for wrap in [
        Wrap::Repeat,
        Wrap::MirroredRepeat,
        Wrap::ClampToEdge,
        Wrap::ClampToBorder,
        Wrap::MirrorClampToEdge,
    ] {
        for offset in [[0, 0], [-7, 5], [3, -8]] {
            let sampler = Sampler {
                wrap: [wrap; 3],
                ..nearest()
            };
            let texture = sampled(
                0,
                Format::R8G8B8A8Unorm,
                Shape::D2(width, height),
                1,
                sampler,
            );
            let declare = "layout(set = 1, binding = 0) uniform sampler2D t;";
            let coord = "vec2(unit(i), unit(i + 7u)) * 3.0 - 1.0";
            let fixed = format!("ivec2({}, {})", offset[0], offset[1]);
            let moving = format!("{fixed} + ivec2(hash(i) >> 31u, hash(i) >> 31u) * 0");
            let at = |i: u32, middle: f32| {
                let u = [unit(i), unit(i + 7)].map(|u| u * 3.0 - 1.0);
                [(u[0], width, offset[0]), (u[1], height, offset[1])]
                    .map(|(u, n, o)| (u * n as f32 - middle).floor() as i64 + o)
            };
            let texel = |[x, y]: [i64; 2], component: usize| {
                let place = wrapped(wrap, x, width.into()).zip(wrapped(wrap, y, height.into()));
                let Some((x, y)) = place else { return 0.0 };
                let at = (y * i64::from(width) + x) as usize;
                f32::from(texture.texels[4 * at + component]) / 255.0
            };
            let sample = |i| [0, 1, 2, 3].map(|c| texel(at(i, 0.0), c));
            let gather = |i| {
                let [x, y] = at(i, 0.5);
                [[x, y + 1], [x + 1, y + 1], [x + 1, y], [x, y]].map(|p| texel(p, 2))
            };
            let four = |i| {
                let [x, y] = at(i, 0.5);
                [[-8, 1], [2, 3], [0, -4], [7, 7]]
                    .map(|o| texel([x - offset[0] + o[0], y - offset[1] + o[1]], 1))
            };
            for (name, call, expected) in [
                (
                    "four",
                    format!(
                        "textureGatherOffsets(t, {coord}, ivec2[](ivec2(-8, 1), ivec2(2, 3), ivec2(0, -4), ivec2(7, 7)), 1)"
                    ),
                    &four as &dyn Fn(u32) -> [f32; 4],
                ),
                (
                    "sample",
                    format!("textureLodOffset(t, {coord}, 0.0, {fixed})"),
                    &sample,
                ),
                (
                    "gather",
                    format!("textureGatherOffset(t, {coord}, {fixed}, 2)"),
                    &gather,
                ),
                (
                    "moving",
                    format!("textureGatherOffset(t, {coord}, {moving}, 2)"),
                    &gather,
                ),
            ] {
                let body = format!("o[i] = floatBitsToUint({call});");
                let case = case(
                    &format!("{name} {wrap:?} {offset:?}"),
                    declare,
                    &body,
                    vec![texture.clone()],
                );
                holds(&case, expected);
            }
        }
    }
}

/// Border colours that are none of the presets, where the sampler has one and where it does not.
#[test]
fn border_colours_of_ones_own() {
    let (width, height) = (19, 13);
    let colour = [0.25f32, -3.0, 7.5, 0.125];
    let sampler = Sampler {
        wrap: [Wrap::ClampToBorder; 3],
        border: Border::OpaqueWhite,
        compare: Compare::Less,
        ..nearest()
    };
    // Memory's components in the API's order: a border's colour is in that, whatever memory's is.
    let formats = [
        (Format::R8G8B8A8Unorm, [0, 1, 2, 3]),
        (Format::B8G8R8A8Unorm, [2, 1, 0, 3]),
    ];
    for (own, (format, order)) in [true, false]
        .into_iter()
        .flat_map(|own| formats.map(|format| (own, format)))
    {
        let border = if own { colour } else { [1.0; 4] };
        let texture = |format, binding| {
            let mut image = sampled(binding, format, Shape::D2(width, height), 1, sampler);
            image.border = own.then(|| colour.map(f32::to_bits));
            image
        };
        // One with a border of its own makes the compiler look.
        let mut other = texture(Format::R8G8B8A8Unorm, 5);
        other.border = Some([0; 4]);
        let images = vec![texture(format, 0), texture(Format::R32Sfloat, 1), other];
        let texels = [images[0].texels.clone(), images[1].texels.clone()];
        let declare = "layout(set = 1, binding = 0) uniform sampler2D t;
layout(set = 1, binding = 1) uniform sampler2DShadow s;";
        let coord = "vec2(unit(i), unit(i + 7u)) * 3.0 - 1.0";
        let at = |i: u32, middle: f32| {
            let u = [unit(i), unit(i + 7)].map(|u| u * 3.0 - 1.0);
            [(u[0], width), (u[1], height)].map(|(u, n)| (u * n as f32 - middle).floor() as i64)
        };
        let inside = |[x, y]: [i64; 2]| {
            let there = (0..i64::from(width)).contains(&x) && (0..i64::from(height)).contains(&y);
            there.then(|| (y * i64::from(width) + x) as usize)
        };
        let texel = |place, component: usize| match inside(place) {
            Some(at) => f32::from(texels[0][4 * at + order[component]]) / 255.0,
            None => border[component],
        };
        let depth = |place| match inside(place) {
            Some(at) => f32::from_bits(words(&texels[1])[at]),
            None => border[0],
        };
        let less = |i: u32| if 0.5 < depth(at(i, 0.0)) { 1.0 } else { 0.0 };
        let sample = |i| [0, 1, 2, 3].map(|c| texel(at(i, 0.0), c));
        let gather = |i| {
            let [x, y] = at(i, 0.5);
            [[x, y + 1], [x + 1, y + 1], [x + 1, y], [x, y]].map(|p| texel(p, 2))
        };
        let compared = |i| [less(i); 4];
        for (call, expected) in [
            (
                format!("textureLod(t, {coord}, 0.0)"),
                &sample as &dyn Fn(u32) -> [f32; 4],
            ),
            (format!("textureGather(t, {coord}, 2)"), &gather),
            (
                format!("vec4(textureLod(s, vec3({coord}, 0.5), 0.0))"),
                &compared,
            ),
        ] {
            let body = format!("o[i] = floatBitsToUint({call});");
            let case = case(
                &format!("{call} {own} {format:?}"),
                declare,
                &body,
                images.clone(),
            );
            holds(&case, expected);
        }
    }
}
