// SPDX-License-Identifier: MIT
//! Vertex attributes: formats, rates, bounds; draw parameters.

use agx_hw::launcher::Samples;
use agx_hw::vdm::Vertices;
use mesa_nir::{Attribute, Rate};

use crate::pipeline::{Draw, Scene, VertexBuffer, format};
use crate::studio::words;

/// Covers everything, and hands the attribute on.
fn hand_on(ty: &str) -> String {
    format!(
        "layout(location = 0) in {ty} a; layout(location = 0) flat out {ty} v;
         void main() {{
             gl_Position = vec4(gl_VertexIndex % 3 == 1 ? 3 : -1, gl_VertexIndex % 3 == 2 ? 3 : -1, 0.5, 1);
             v = a;
         }}"
    )
}

fn show(ty: &str, out: &str, value: &str) -> String {
    format!(
        "layout(location = 0) flat in {ty} v; layout(location = 0) out {out} o;
         void main() {{ o = {value}; }}"
    )
}

/// What the fragment shader gets of an attribute of vertex 0, as bits.
fn fetched(ty: &str, number: i32, bytes: &[u8], size: Option<u32>) -> [u32; 4] {
    let mut scene = Scene::new([8, 8], Samples::One, &[format("R32G32B32A32_UINT")], [7; 4]);
    let value = match ty {
        "vec4" => "floatBitsToUint(v)",
        "ivec4" => "uvec4(v)",
        _ => "v",
    };
    let mut data = bytes.to_vec();
    data.resize(64, 0);
    let mut buffer = VertexBuffer::new(data, 16);
    buffer.size = size.unwrap_or(buffer.size);
    let draw = Draw::new(&hand_on(ty), &show(ty, "uvec4", value)).attribute(0, number, buffer);
    scene.draw(&draw, |_| {});
    scene.render();
    let texel = scene.texel(0, 3, 3, 0);
    std::array::from_fn(|i| u32::from_le_bytes(texel[4 * i..4 * i + 4].try_into().unwrap()))
}

fn close(got: [u32; 4], expected: [f64; 4], what: &str) {
    for (got, expected) in got.map(f32::from_bits).into_iter().zip(expected) {
        let error = (f64::from(got) - expected).abs();
        assert!(
            error <= 1.2e-7 * expected.abs().max(1e-3),
            "{what}: {got} for {expected}"
        );
    }
}

#[test]
fn normalised_and_scaled_formats() {
    let bytes = [0x00, 0x7f, 0x80, 0xff, 0x12, 0x34, 0x56, 0x78];
    let unorm = |b: u8| f64::from(b) / 255.0;
    let snorm = |b: u8| (f64::from(b as i8) / 127.0).max(-1.0);
    close(
        fetched("vec4", 37, &bytes, None),
        [0, 1, 2, 3].map(|i| unorm(bytes[i])),
        "RGBA8 unorm",
    );
    close(
        fetched("vec4", 38, &bytes, None),
        [0, 1, 2, 3].map(|i| snorm(bytes[i])),
        "RGBA8 snorm",
    );
    close(
        fetched("vec4", 44, &bytes, None),
        [2, 1, 0, 3].map(|i| unorm(bytes[i])),
        "BGRA8 unorm",
    );
    close(
        fetched("vec4", 39, &bytes, None),
        [0.0, 127.0, 128.0, 255.0],
        "RGBA8 uscaled",
    );
    close(
        fetched("vec4", 40, &bytes, None),
        [0.0, 127.0, -128.0, -1.0],
        "RGBA8 sscaled",
    );
    close(
        fetched("vec4", 16, &bytes, None),
        [unorm(0), unorm(0x7f), 0.0, 1.0],
        "RG8 unorm",
    );
    let halves = |i: usize| u16::from_le_bytes([bytes[2 * i], bytes[2 * i + 1]]);
    close(
        fetched("vec4", 91, &bytes, None),
        [0, 1, 2, 3].map(|i| f64::from(halves(i)) / 65535.0),
        "RGBA16 unorm",
    );
    close(
        fetched("vec4", 92, &bytes, None),
        [0, 1, 2, 3].map(|i| (f64::from(halves(i) as i16) / 32767.0).max(-1.0)),
        "RGBA16 snorm",
    );
    let packed: u32 = 0b10_1000000000_0000000001_1111111111;
    let ten = |shift: u32| f64::from(packed >> shift & 1023) / 1023.0;
    let top = f64::from(packed >> 30) / 3.0;
    let bytes = packed.to_le_bytes();
    close(
        fetched("vec4", 64, &bytes, None),
        [ten(0), ten(10), ten(20), top],
        "A2B10G10R10",
    );
    close(
        fetched("vec4", 58, &bytes, None),
        [ten(20), ten(10), ten(0), top],
        "A2R10G10B10",
    );
    close(
        fetched("vec4", 65, &bytes, None),
        [-1.0 / 511.0, 1.0 / 511.0, -1.0, -1.0],
        "signed",
    );
}

#[test]
fn floats_and_integers() {
    let halves: Vec<u8> = [0x3c00u16, 0xc000, 0x3555, 0x7bff]
        .iter()
        .flat_map(|h| h.to_le_bytes())
        .collect();
    close(
        fetched("vec4", 97, &halves, None),
        [1.0, -2.0, 0.333_251_953_125, 65504.0],
        "fp16",
    );
    close(
        fetched("vec4", 83, &halves, None),
        [1.0, -2.0, 0.0, 1.0],
        "two of fp16",
    );
    let small = (0x3c0_u32 | 0x400 << 11 | 0x1e0 << 22).to_le_bytes();
    close(
        fetched("vec4", 122, &small, None),
        [1.0, 2.0, 1.0, 1.0],
        "B10G11R11",
    );
    let full = words(&[1.5, -2.5, 1e20, 3.25].map(f32::to_bits));
    close(
        fetched("vec4", 109, &full, None),
        [1.5, -2.5, f64::from(1e20f32), 3.25],
        "fp32",
    );
    close(
        fetched("vec4", 106, &full, None),
        [1.5, -2.5, f64::from(1e20f32), 1.0],
        "three",
    );
    let bytes = [0x00, 0x7f, 0x80, 0xff];
    assert_eq!(fetched("uvec4", 41, &bytes, None), [0, 127, 128, 255]);
    assert_eq!(
        fetched("ivec4", 42, &bytes, None),
        [0, 127, -128i32 as u32, u32::MAX]
    );
    assert_eq!(fetched("uvec4", 13, &[0xab], None), [0xab, 0, 0, 1]);
    assert_eq!(
        fetched("ivec4", 75, &[0x00, 0x80], None),
        [-32768i32 as u32, 0, 0, 1]
    );
    assert_eq!(
        fetched("uvec4", 107, &words(&[1, u32::MAX, 3, 4]), None),
        [1, u32::MAX, 3, 4]
    );
}

#[test]
fn what_is_out_of_bounds_is_zero() {
    let full = words(&[1, 2, 3, 4]);
    assert_eq!(fetched("uvec4", 107, &full, Some(16)), [1, 2, 3, 4]);
    assert_eq!(fetched("uvec4", 107, &full, Some(15)), [0; 4]);
    assert_eq!(fetched("uvec4", 107, &full, Some(0)), [0; 4]);
    // What the format lacks is there all the same.
    assert_eq!(fetched("uvec4", 98, &full, Some(3)), [0, 0, 0, 1]);
}

/// Instances paint pixels of their own; the value is that of an attribute with this rate.
#[test]
fn rates_and_draw_parameters() {
    let vertex = "layout(location = 0) in uint a; layout(location = 0) flat out uvec4 v;
        void main() {
            // One column of pixels for each instance.
            float left = (gl_InstanceIndex - 5) * 2.0 / 8.0 - 1.0;
            int corner = gl_VertexIndex - 10;
            gl_Position = vec4(corner == 1 ? left + 4.0 / 8.0 : left, corner == 2 ? 3 : -1, 0.5, 1);
            v = uvec4(a, gl_InstanceIndex, gl_BaseVertex * 100 + gl_BaseInstance, gl_DrawID);
        }";
    for divisor in 0..4 {
        let mut scene = Scene::new([8, 8], Samples::One, &[format("R32G32B32A32_UINT")], [9; 4]);
        let mut draw = Draw::new(vertex, &show("uvec4", "uvec4", "v"));
        draw.vertex_lowering.attributes.push(Attribute {
            location: 0,
            binding: 0,
            offset: 0,
            format: 98,
            rate: Rate::Instance { divisor },
        });
        let numbers: Vec<u32> = (0..32).map(|i| 1000 + i).collect();
        draw.buffers = vec![VertexBuffer::new(words(&numbers), 4)];
        draw.vertices = Vertices::Direct {
            first: 10,
            count: 3,
            instances: 7,
        };
        draw.parameters = [10, 5, 3];
        scene.draw(&draw, |_| {});
        scene.render();
        for instance in 0..7u32 {
            let texel = scene.texel(0, instance, 0, 0);
            let word = |i: usize| u32::from_le_bytes(texel[4 * i..4 * i + 4].try_into().unwrap());
            let advance = instance.checked_div(divisor).unwrap_or(0);
            let expected = [1005 + advance, instance + 5, 1005, 3];
            assert_eq!(
                [0, 1, 2, 3].map(word),
                expected,
                "divisor {divisor}, {instance}"
            );
        }
    }
}
