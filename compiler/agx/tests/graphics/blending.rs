// SPDX-License-Identifier: MIT
//! Blending and logic operations, every factor and operation, against Vulkan's equations in f64.

use agx_hw::launcher::Samples;
use mesa_nir::{Blend, BlendEquation, BlendFactor, BlendOp, LogicOp};

use crate::pipeline::{COVER, Draw, Scene, format};

const SIZE: [u16; 2] = [8, 8];
const CONSTANTS: [f32; 4] = [0.25, 0.625, 1.5, 0.375];

/// Numbers that differ from pixel to pixel, the same here and in shaders; below and above 1, and negative.
fn colour(x: u32, y: u32, seed: u32) -> [f64; 4] {
    std::array::from_fn(|c| {
        let n = (x * 7 + y * 13 + seed * 29 + c as u32 * 11) % 64;
        f64::from(n) / 40.0 - 0.2
    })
}

const COLOUR: &str = "
    vec4 colour(uint seed) {
        uvec2 p = uvec2(gl_FragCoord.xy);
        vec4 c;
        for (uint i = 0; i < 4; i++) c[i] = float((p.x * 7 + p.y * 13 + seed * 29 + i * 11) % 64) / 40.0 - 0.2;
        return c;
    }";

/// Writes the colour of a seed to so many attachments.
fn plain(attachments: usize, seed: u32) -> String {
    let mut text = COLOUR.to_owned();
    for i in 0..attachments {
        text += &format!("layout(location = {i}) out vec4 o{i};");
    }
    text += "void main() {";
    for i in 0..attachments {
        text += &format!("o{i} = colour({seed});");
    }
    text + "}"
}

struct Inputs {
    src: [f64; 4],
    src1: [f64; 4],
    dst: [f64; 4],
    constants: [f64; 4],
}

fn factor(f: BlendFactor, i: &Inputs, c: usize) -> f64 {
    use BlendFactor::*;
    match f {
        Zero => 0.0,
        One => 1.0,
        SrcColour => i.src[c],
        OneMinusSrcColour => 1.0 - i.src[c],
        DstColour => i.dst[c],
        OneMinusDstColour => 1.0 - i.dst[c],
        SrcAlpha => i.src[3],
        OneMinusSrcAlpha => 1.0 - i.src[3],
        DstAlpha => i.dst[3],
        OneMinusDstAlpha => 1.0 - i.dst[3],
        ConstantColour => i.constants[c],
        OneMinusConstantColour => 1.0 - i.constants[c],
        ConstantAlpha => i.constants[3],
        OneMinusConstantAlpha => 1.0 - i.constants[3],
        SrcAlphaSaturate if c == 3 => 1.0,
        SrcAlphaSaturate => i.src[3].min(1.0 - i.dst[3]),
        Src1Colour => i.src1[c],
        OneMinusSrc1Colour => 1.0 - i.src1[c],
        Src1Alpha => i.src1[3],
        OneMinusSrc1Alpha => 1.0 - i.src1[3],
    }
}

fn equation(e: BlendEquation, i: &Inputs, c: usize) -> f64 {
    let (src, dst) = (
        i.src[c] * factor(e.src, i, c),
        i.dst[c] * factor(e.dst, i, c),
    );
    match e.op {
        BlendOp::Add => src + dst,
        BlendOp::Subtract => src - dst,
        BlendOp::ReverseSubtract => dst - src,
        BlendOp::Min => i.src[c].min(i.dst[c]),
        BlendOp::Max => i.src[c].max(i.dst[c]),
    }
}

fn blended(blend: Blend, i: &Inputs) -> [f64; 4] {
    std::array::from_fn(|c| equation(if c == 3 { blend.alpha } else { blend.colour }, i, c))
}

/// All pairs of factors for a colour, each with one for alpha and an operation in turn.
fn blends() -> Vec<Blend> {
    let factors = BlendFactor::ALL;
    let mut all = Vec::new();
    for (i, &src) in factors.iter().enumerate() {
        for (j, &dst) in factors.iter().enumerate() {
            let op = BlendOp::ALL[(i + j) % 3];
            let alpha = BlendEquation {
                op: BlendOp::ALL[(i + 2 * j) % 5],
                src: factors[(3 * i + j) % factors.len()],
                dst: factors[(i + 5 * j) % factors.len()],
            };
            let colour = BlendEquation { op, src, dst };
            all.push(Blend { colour, alpha });
        }
    }
    for op in [BlendOp::Min, BlendOp::Max] {
        let colour = BlendEquation {
            op,
            src: BlendFactor::Zero,
            dst: BlendFactor::Zero,
        };
        all.push(Blend {
            colour,
            alpha: colour,
        });
    }
    all
}

#[test]
fn every_factor_and_operation() {
    let formats = [format("R32G32B32A32_SFLOAT"); 8];
    for (number, eight) in blends().chunks(8).enumerate() {
        let mut scene = Scene::new(SIZE, Samples::One, &formats, [0; 4]);
        scene.draw(&Draw::new(COVER, &plain(8, 1)), |_| {});
        let mut draw = Draw::new(COVER, &plain(8, 2));
        draw.blend_constants = CONSTANTS;
        // The second colour is that of attachment 0 only: elsewhere it is not written.
        draw.fragment = dual(8);
        scene.draw(&draw, |attachments| {
            for (attachment, blend) in attachments.iter_mut().zip(eight) {
                attachment.as_mut().unwrap().blend = Some(*blend);
            }
        });
        scene.render();
        for (i, blend) in eight.iter().enumerate() {
            for (x, y) in [(0, 0), (3, 1), (5, 7), (2, 6)] {
                // What is not written of a second colour is 0, 0, 0, 1.
                let src1 = if i == 0 {
                    colour(x, y, 3)
                } else {
                    [0.0, 0.0, 0.0, 1.0]
                };
                let inputs = Inputs {
                    src: colour(x, y, 2),
                    src1,
                    dst: colour(x, y, 1),
                    constants: CONSTANTS.map(f64::from),
                };
                let expected = blended(*blend, &inputs);
                let got = scene.floats(i, x, y, 0);
                for (got, expected) in got.iter().zip(expected) {
                    let error = (f64::from(*got) - expected).abs();
                    assert!(error < 1e-5, "{number}.{i} {blend:?}: {got} for {expected}");
                }
            }
        }
    }
}

/// The same with a second colour of output 0.
fn dual(attachments: usize) -> String {
    let mut text = COLOUR.to_owned();
    text +=
        "layout(location = 0, index = 0) out vec4 o0; layout(location = 0, index = 1) out vec4 p0;";
    for i in 1..attachments {
        text += &format!("layout(location = {i}) out vec4 o{i};");
    }
    text += "void main() { p0 = colour(3);";
    for i in 0..attachments {
        text += &format!("o{i} = colour(2);");
    }
    text + "}"
}

fn over() -> Blend {
    let e = BlendEquation {
        op: BlendOp::Add,
        src: BlendFactor::SrcAlpha,
        dst: BlendFactor::OneMinusSrcAlpha,
    };
    Blend {
        colour: e,
        alpha: e,
    }
}

#[test]
fn normalised_attachments_clamp_what_goes_in_and_what_comes_out() {
    for samples in [Samples::One, Samples::Four] {
        let formats = [
            format("R8G8B8A8_UNORM"),
            format("R8G8B8A8_SRGB"),
            format("R8G8B8A8_SNORM"),
        ];
        let mut scene = Scene::new(SIZE, samples, &formats, [0; 4]);
        scene.draw(&Draw::new(COVER, &plain(3, 1)), |_| {});
        scene.draw(&Draw::new(COVER, &plain(3, 2)), |attachments| {
            attachments
                .iter_mut()
                .flatten()
                .for_each(|a| a.blend = Some(over()));
        });
        scene.render();
        for (x, y) in [(0, 0), (3, 1), (5, 7), (2, 6)] {
            for attachment in 0..3 {
                let low = if attachment == 2 { -1.0 } else { 0.0 };
                let steps = if attachment == 2 { 127.0 } else { 255.0 };
                let clamp = |c: [f64; 4]| c.map(|v| v.clamp(low, 1.0));
                let (encode, decode) = curves(attachment == 1);
                let store = |c: [f64; 4]| {
                    let encoded: [f64; 4] =
                        std::array::from_fn(|i| if i < 3 { encode(c[i]) } else { c[i] });
                    encoded.map(|v| (v * steps).round_ties_even())
                };
                let first = store(clamp(colour(x, y, 1))).map(|v| v / steps);
                let dst = std::array::from_fn(|i| if i < 3 { decode(first[i]) } else { first[i] });
                let inputs = Inputs {
                    src: clamp(colour(x, y, 2)),
                    src1: [0.0; 4],
                    dst,
                    constants: [0.0; 4],
                };
                let expected = store(clamp(blended(over(), &inputs)));
                for sample in 0..crate::studio::count(samples) as u8 {
                    let got = scene.texel(attachment, x, y, sample);
                    for (got, expected) in got.iter().zip(expected) {
                        let got = if attachment == 2 {
                            f64::from(*got as i8)
                        } else {
                            f64::from(*got)
                        };
                        assert!(
                            (got - expected).abs() <= 1.0,
                            "{attachment} {samples:?}: {got} for {expected}"
                        );
                    }
                }
            }
        }
    }
}

/// A function of a component.
pub(crate) type Curve = fn(f64) -> f64;

/// To sRGB and back.
pub(crate) fn curves(srgb: bool) -> (Curve, Curve) {
    fn encode(v: f64) -> f64 {
        if v <= 0.003_130_8 {
            v * 12.92
        } else {
            1.055 * v.powf(1.0 / 2.4) - 0.055
        }
    }
    fn decode(v: f64) -> f64 {
        if v <= 0.04045 {
            v / 12.92
        } else {
            ((v + 0.055) / 1.055).powf(2.4)
        }
    }
    if srgb {
        (encode, decode)
    } else {
        (|v| v, |v| v)
    }
}

fn logic(op: LogicOp, s: u32, d: u32) -> u32 {
    // Vulkan's numbers are truth tables.
    let number = LogicOp::ALL.iter().position(|o| *o == op).unwrap() as u32;
    let mut out = 0;
    for bit in 0..32 {
        let (s, d) = (s >> bit & 1, d >> bit & 1);
        // Bit 3 of the number is the result for 0 0, bit 2 for 0 1, bit 1 for 1 0, bit 0 for 1 1.
        out |= (number >> (3 - (2 * s + d)) & 1) << bit;
    }
    out
}

#[test]
fn every_logic_operation() {
    let shader = |seed: u32| {
        format!(
            "layout(location = 0) out uvec4 a; layout(location = 1) out vec4 b; layout(location = 2) out vec4 c;
             void main() {{
                 uvec2 p = uvec2(gl_FragCoord.xy);
                 uint n = (p.x * 37u + p.y * 101u + {seed}u * 59u);
                 a = uvec4(n, n >> 1, n * 3u, n * 5u) & 255u;
                 b = vec4(a) / 255.0;
                 c = vec4((n & 31u) / 31.0, (n & 63u) / 63.0, (n >> 1 & 31u) / 31.0, 1);
             }}"
        )
    };
    let bytes = |x: u32, y: u32, seed: u32| {
        let n = x * 37 + y * 101 + seed * 59;
        u32::from_le_bytes([n, n >> 1, n * 3, n * 5].map(|v| v as u8))
    };
    let small = |x: u32, y: u32, seed: u32| {
        let n = x * 37 + y * 101 + seed * 59;
        (n & 31) << 11 | (n & 63) << 5 | (n >> 1 & 31)
    };
    let formats = [
        format("R8G8B8A8_UINT"),
        format("R8G8B8A8_UNORM"),
        format("R5G6B5_UNORM_PACK16"),
    ];
    for &op in LogicOp::ALL {
        let mut scene = Scene::new(SIZE, Samples::One, &formats, [0; 4]);
        scene.draw(&Draw::new(COVER, &shader(1)), |_| {});
        let mut draw = Draw::new(COVER, &shader(2));
        draw.lowering.logic_op = Some(op);
        scene.draw(&draw, |_| {});
        scene.render();
        for (x, y) in [(0, 0), (3, 1), (5, 7), (2, 6)] {
            let expected = logic(op, bytes(x, y, 2), bytes(x, y, 1)).to_le_bytes();
            for attachment in 0..2 {
                assert_eq!(
                    scene.texel(attachment, x, y, 0),
                    expected,
                    "{op:?} {attachment}"
                );
            }
            let expected = logic(op, small(x, y, 2), small(x, y, 1)) as u16;
            assert_eq!(
                scene.texel(2, x, y, 0),
                expected.to_le_bytes(),
                "{op:?} of 5, 6, 5"
            );
        }
    }
}

#[test]
fn write_masks() {
    let formats = [
        format("R8G8B8A8_UNORM"),
        format("R16G16B16A16_SFLOAT"),
        format("A2B10G10R10_UNORM_PACK32"),
    ];
    let fill = |value: f32| {
        let mut text = String::new();
        for i in 0..3 {
            text += &format!("layout(location = {i}) out vec4 o{i};");
        }
        text + &format!("void main() {{ o0 = o1 = o2 = vec4({value:?}); }}")
    };
    for mask in 0..16u32 {
        let mut scene = Scene::new(SIZE, Samples::One, &formats, [0; 4]);
        scene.draw(&Draw::new(COVER, &fill(1.0)), |attachments| {
            attachments
                .iter_mut()
                .flatten()
                .for_each(|a| a.write_mask = mask as u8);
        });
        scene.render();
        let has = |c: u32| mask >> c & 1;
        let bytes: Vec<u8> = (0..4).map(|c| has(c) as u8 * 255).collect();
        let halves: Vec<u8> = (0..4)
            .flat_map(|c| (has(c) as u16 * 0x3c00).to_le_bytes())
            .collect();
        let packed = (has(0) * 1023)
            | (has(1) * (1023 << 10))
            | (has(2) * (1023 << 20))
            | (has(3) * (3 << 30));
        assert_eq!(scene.texel(0, 4, 4, 0), bytes);
        assert_eq!(scene.texel(1, 4, 4, 0), halves);
        assert_eq!(scene.texel(2, 4, 4, 0), packed.to_le_bytes());
    }
}
