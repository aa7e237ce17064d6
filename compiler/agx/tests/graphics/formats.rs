// SPDX-License-Identifier: MIT
//! Every colour format, stored and cleared to, against its definition.

use agx_hw::format::{Channels, Format, Numeric, Source};
use agx_hw::launcher::Samples;

use crate::blending::curves;
use crate::pipeline::{COVER, Draw, Scene};

/// Bits of each component in memory, component 0 in the lowest.
fn fields(channels: Channels) -> Option<&'static [u32]> {
    Some(match channels {
        Channels::R8 => &[8],
        Channels::R8G8 => &[8, 8],
        Channels::R8G8B8A8 => &[8, 8, 8, 8],
        Channels::R16 => &[16],
        Channels::R16G16 => &[16, 16],
        Channels::R16G16B16A16 => &[16, 16, 16, 16],
        Channels::R32 => &[32],
        Channels::R32G32 => &[32, 32],
        Channels::R32G32B32A32 => &[32, 32, 32, 32],
        Channels::R5G6B5 => &[5, 6, 5],
        Channels::R4G4B4A4 => &[4, 4, 4, 4],
        Channels::A1R5G5B5 => &[1, 5, 5, 5],
        Channels::R5G5B5A1 => &[5, 5, 5, 1],
        Channels::R10G10B10A2 => &[10, 10, 10, 2],
        _ => return None,
    })
}

/// The shader's component that is in each field.
fn sources(format: Format, count: usize) -> Vec<Option<usize>> {
    let place = |field: usize| {
        let wanted = [Source::R, Source::G, Source::B, Source::A][field];
        (0..4).find(|c| format.swizzle().0[*c] == wanted)
    };
    (0..count).map(place).collect()
}

const VALUES: [f64; 4] = [0.3, 1.7, -0.6, 0.55];
const INTEGERS: [i64; 4] = [100, 70000, -3, 2];

/// The field of a format that a component becomes, and how much it may be off.
fn expected(format: Format, component: usize, bits: u32) -> (i64, i64) {
    let (value, integer) = (VALUES[component], INTEGERS[component]);
    match format.encoding().numeric() {
        Numeric::Unorm => {
            let encode = curves(format.is_srgb() && component < 3).0;
            let steps = ((1u64 << bits) - 1) as f64;
            (
                (encode(value.clamp(0.0, 1.0)) * steps).round_ties_even() as i64,
                1,
            )
        }
        Numeric::Snorm => {
            let steps = ((1u64 << (bits - 1)) - 1) as f64;
            let number = (value.clamp(-1.0, 1.0) * steps).round_ties_even() as i64;
            (number & ((1 << bits) - 1), 1)
        }
        Numeric::Uint => ((integer as u32 as i64).min((1 << bits) - 1), 0),
        Numeric::Sint => {
            let most = (1i64 << (bits - 1)) - 1;
            (integer.clamp(-most - 1, most) & ((1i64 << bits) - 1), 0)
        }
        _ if bits == 32 => (i64::from((value as f32).to_bits()), 0),
        _ => (half(value), 1),
    }
}

/// fp16 of a number whose magnitude is between 2^-14 and 2^15.
fn half(value: f64) -> i64 {
    let exponent = value.abs().log2().floor();
    let mantissa = ((value.abs() / exponent.exp2() - 1.0) * 1024.0).round_ties_even() as i64;
    let sign = i64::from(value < 0.0) << 15;
    sign | (((exponent as i64 + 15) << 10) + mantissa)
}

#[test]
fn every_format() {
    for &format in Format::ALL {
        if format.tile_word().is_none() {
            continue;
        }
        let Some(fields) = fields(format.encoding().channels()) else {
            continue;
        };
        let (ty, values) = match format.encoding().numeric() {
            Numeric::Uint => ("uvec4", "100u, 70000u, 0xfffffffdu, 2u"),
            Numeric::Sint => ("ivec4", "100, 70000, -3, 2"),
            _ => ("vec4", "0.3, 1.7, -0.6, 0.55"),
        };
        let fragment =
            format!("layout(location = 0) out {ty} o; void main() {{ o = {ty}({values}); }}");
        for cleared in [false, true] {
            let clear = match format.encoding().numeric() {
                Numeric::Uint | Numeric::Sint => INTEGERS.map(|v| v as u32),
                _ => VALUES.map(|v| (v as f32).to_bits()),
            };
            let clear = if cleared { clear } else { [0; 4] };
            let mut scene = Scene::new([8, 8], Samples::One, &[format], clear);
            if !cleared {
                scene.draw(&Draw::new(COVER, &fragment), |_| {});
            }
            scene.render();
            let bytes = scene.texel(0, 2, 5, 0);
            let mut low = 0;
            for (field, source) in sources(format, fields.len()).into_iter().enumerate() {
                let bits = fields[field];
                let mut got = 0i64;
                for bit in 0..bits {
                    let at = (low + bit) as usize;
                    got |= i64::from(bytes[at / 8] >> (at % 8) & 1) << bit;
                }
                low += bits;
                let Some(component) = source else {
                    continue;
                };
                let (wanted, tolerance) = expected(format, component, bits);
                assert!(
                    (got - wanted).abs() <= tolerance,
                    "{} cleared {cleared}: component {component} is {got:#x} for {wanted:#x}",
                    format.name()
                );
            }
        }
    }
}

#[test]
fn small_floats() {
    let format = crate::pipeline::format("B10G11R11_UFLOAT_PACK32");
    let mut scene = Scene::new([8, 8], Samples::One, &[format], [0; 4]);
    let fragment = "layout(location = 0) out vec4 o;
        void main() { o = gl_FragCoord.x < 4 ? vec4(1.0, 2.5, 0.75, 1) : vec4(-1.0, 1e9, 1e-9, 1); }";
    scene.draw(&Draw::new(COVER, fragment), |_| {});
    scene.render();
    let word = |x| u32::from_le_bytes(scene.texel(0, x, 0, 0).try_into().unwrap());
    assert_eq!(word(0), 0x3c0 | (16 << 6 | 16) << 11 | (14 << 5 | 16) << 22);
    // Negative is 0, what is too large the largest.
    assert_eq!(word(5), 0x7bf << 11);
}
