// SPDX-License-Identifier: MIT
//! A colour as memory holds it: clears fill with it, and shaders of the driver are told how to make one.

use agx_hw::format::{Channels, Format, Numeric, Source};

/// Bits of the components of memory, from the lowest on.
fn widths(channels: Channels) -> &'static [u32] {
    match channels {
        Channels::R8 => &[8],
        Channels::R16 => &[16],
        Channels::R32 => &[32],
        Channels::R8G8 => &[8; 2],
        Channels::R16G16 => &[16; 2],
        Channels::R32G32 => &[32; 2],
        Channels::R8G8B8A8 => &[8; 4],
        Channels::R16G16B16A16 => &[16; 4],
        Channels::R32G32B32A32 => &[32; 4],
        Channels::R5G6B5 => &[5, 6, 5],
        Channels::R4G4B4A4 => &[4; 4],
        Channels::A1R5G5B5 => &[1, 5, 5, 5],
        Channels::R5G5B5A1 => &[5, 5, 5, 1],
        Channels::R11G11B10 => &[11, 11, 10],
        Channels::R10G10B10A2 => &[10, 10, 10, 2],
        _ => &[],
    }
}

/// The four words that an image of a format filled with a colour repeats: floats, or integers for
/// integer formats, in the order R, G, B, A. Zeros for compressed formats, which nothing clears.
pub(crate) fn colour(format: Format, colour: [u32; 4]) -> [u32; 4] {
    let (channels, numeric) = (format.encoding().channels(), format.encoding().numeric());
    if channels == Channels::R9G9B9E5 {
        let [r, g, b, _] = colour.map(f32::from_bits);
        return [shared_exponent([r, g, b]); 4];
    }
    let widths = widths(channels);
    let bytes = usize::from(format.element().bytes);
    let mut element = 0_u128;
    let mut at = 0;
    for (component, width) in widths.iter().enumerate() {
        let own = MEMORY[component];
        let shown = format.swizzle().0.iter().position(|shown| *shown == own);
        let Some(shown) = shown else {
            at += width;
            continue;
        };
        let mut value = f32::from_bits(colour[shown]);
        if format.is_srgb() && shown < 3 {
            value = encode_srgb(value);
        }
        let bits = match numeric {
            Numeric::Uint => integer_unsigned(colour[shown], *width),
            Numeric::Sint => integer_signed(colour[shown] as i32, *width),
            Numeric::Unorm => unorm(value, *width),
            Numeric::Snorm => snorm(value, *width),
            Numeric::Float | Numeric::Xr => float(value, *width),
        };
        element |= u128::from(bits) << at;
        at += width;
    }
    if bytes == 0 || widths.is_empty() {
        return [0; 4];
    }
    let source = element.to_le_bytes();
    let repeated: [u8; 16] = std::array::from_fn(|at| source[at % bytes]);
    let (words, _) = repeated.as_chunks::<4>();
    std::array::from_fn(|at| u32::from_le_bytes(words[at]))
}

/// How a shader of the driver packs colours (`internal/pack.glsl`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Packing {
    /// For each component of memory its width, lowest bit and which component of the colour it holds.
    pub(crate) components: [u32; 4],
    pub(crate) kind: u32,
}

/// How colours of a format are packed; nothing for compressed formats.
pub(crate) fn packing(format: Format) -> Option<Packing> {
    const SHARED_EXPONENT: u32 = 5;
    let (channels, numeric) = (format.encoding().channels(), format.encoding().numeric());
    let mut components = [0; 4];
    if channels == Channels::R9G9B9E5 {
        let kind = SHARED_EXPONENT;
        return Some(Packing { components, kind });
    }
    let widths = widths(channels);
    if widths.is_empty() {
        return None;
    }
    let mut lowest = 0;
    for ((width, own), component) in widths.iter().zip(MEMORY).zip(&mut components) {
        let shown = format.swizzle().0.iter().position(|shown| *shown == own);
        if let Some(shown) = shown {
            *component = width | lowest << 8 | (shown as u32) << 16;
        }
        lowest += width;
    }
    let kind = match numeric {
        Numeric::Unorm => 0,
        Numeric::Snorm => 1,
        Numeric::Uint => 2,
        Numeric::Sint => 3,
        Numeric::Float => 4,
        Numeric::Xr => return None,
    };
    let kind = kind | u32::from(format.is_srgb()) << 8;
    Some(Packing { components, kind })
}

/// Components of memory by number.
const MEMORY: [Source; 4] = [Source::R, Source::G, Source::B, Source::A];

fn mask(width: u32) -> u32 {
    u32::MAX >> (32 - width)
}

/// Saturated, as hardware's stores do it (isa-4, 2.2; HW for unsigned).
fn integer_unsigned(value: u32, width: u32) -> u32 {
    value.min(mask(width))
}

fn integer_signed(value: i32, width: u32) -> u32 {
    let most = (mask(width) >> 1) as i32;
    value.clamp(-most - 1, most) as u32 & mask(width)
}

/// images, 11: NaN is 0; to the nearest, ties to even.
fn unorm(value: f32, width: u32) -> u32 {
    let most = f64::from(mask(width));
    (f64::from(value.clamp(0.0, 1.0)) * most).round_ties_even() as u32
}

fn snorm(value: f32, width: u32) -> u32 {
    let most = f64::from(mask(width) >> 1);
    let value = (f64::from(value.clamp(-1.0, 1.0)) * most).round_ties_even();
    value as i32 as u32 & mask(width)
}

/// Floats of 32 and 16 bits, and those of 11 and 10, which have no sign.
fn float(value: f32, width: u32) -> u32 {
    match width {
        32 => value.to_bits(),
        16 => half::f16::from_f32(value).to_bits().into(),
        width => unsigned_float(value, width - 5),
    }
}

/// A float of 5 bits of exponent and some of mantissa: negative ones are 0, finite ones stay finite, the
/// nearest is taken (images, 11).
fn unsigned_float(value: f32, mantissa: u32) -> u32 {
    let infinity = 31 << mantissa;
    if value.is_nan() {
        return infinity | 1;
    }
    if value <= 0.0 {
        return 0;
    }
    if value.is_infinite() {
        return infinity;
    }
    // Scaled so that the lowest bit of the mantissa counts 1; below 2^-14 the step stays the same.
    let exponent = (value.to_bits() >> 23) as i32 - 127;
    let exponent = exponent.max(-14);
    let step = f64::from(exponent - mantissa as i32).exp2();
    let steps = (f64::from(value) / step).round_ties_even() as u32;
    // A carry out of the mantissa raises the exponent by itself. Without the hidden bit it is a denormal.
    let biased = (exponent + 14) as u32;
    ((biased << mantissa) + steps).min(infinity - 1)
}

/// Three mantissas of 9 bits with one exponent (Vulkan 1.3, "RGB to Shared Exponent Conversion").
fn shared_exponent(colour: [f32; 3]) -> u32 {
    const MOST: f32 = 65408.0;
    // NaN stays, and becomes 0 where it is made an integer.
    let colour = colour.map(|value| value.clamp(0.0, MOST));
    let largest = colour.into_iter().fold(0.0, f32::max);
    let floor = match largest.to_bits() >> 23 {
        0 => -127,
        biased => biased as i32 - 127,
    };
    let mut exponent = floor.max(-16) + 16;
    let quantum = |exponent: i32| f64::from(exponent - 24).exp2();
    let scaled = |value: f32, exponent| (f64::from(value) / quantum(exponent) + 0.5).floor() as u32;
    if scaled(largest, exponent) == 512 {
        exponent += 1;
    }
    let [r, g, b] = colour.map(|value| scaled(value, exponent));
    r | g << 9 | b << 18 | (exponent as u32) << 27
}

/// The sRGB curve (Khronos Data Format, 13.3.2).
fn encode_srgb(value: f32) -> f32 {
    let value = f64::from(value.clamp(0.0, 1.0));
    let encoded = match value <= 0.003_130_8 {
        true => 12.92 * value,
        false => 1.055 * value.powf(1.0 / 2.4) - 0.055,
    };
    // NaN counts as 0.
    if encoded.is_nan() {
        0.0
    } else {
        encoded as f32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn floats(colour: [f32; 4]) -> [u32; 4] {
        colour.map(f32::to_bits)
    }

    #[test]
    fn colours_are_packed_as_vulkan_orders_them() {
        let red = floats([1.0, 0.0, 0.5, 1.0]);
        assert_eq!(colour(Format::R8G8B8A8Unorm, red), [0xff80_00ff; 4]);
        assert_eq!(colour(Format::B8G8R8A8Unorm, red), [0xffff_0080; 4]);
        // R in the highest bits.
        assert_eq!(colour(Format::R5G6B5UnormPack16, red), [0xf810_f810; 4]);
        assert_eq!(colour(Format::B5G6R5UnormPack16, red), [0x801f_801f; 4]);
        assert_eq!(colour(Format::R4G4B4A4UnormPack16, red), [0xf08f_f08f; 4]);
        assert_eq!(colour(Format::A1R5G5B5UnormPack16, red), [0xfc10_fc10; 4]);
        assert_eq!(colour(Format::R5G5B5A1UnormPack16, red), [0xf821_f821; 4]);
        assert_eq!(
            colour(Format::A2B10G10R10UnormPack32, red),
            [0x3ff | 512 << 20 | 3 << 30; 4]
        );
        assert_eq!(colour(Format::A8Unorm, red), [u32::MAX; 4]);
        assert_eq!(
            colour(Format::R8G8B8A8Srgb, floats([0.5, 0.0, 1.0, 0.5])),
            [0x80ff_00bc; 4]
        );
        assert_eq!(
            colour(Format::R8G8Sint, [-1_i32 as u32, 200, 0, 0]),
            [0x7fff_7fff; 4]
        );
        assert_eq!(colour(Format::R16Uint, [70000, 0, 0, 0]), [u32::MAX; 4]);
        assert_eq!(
            colour(Format::R32G32Sfloat, floats([1.5, -2.0, 0.0, 0.0])),
            [
                1.5_f32.to_bits(),
                (-2.0_f32).to_bits(),
                1.5_f32.to_bits(),
                (-2.0_f32).to_bits()
            ]
        );
        assert_eq!(
            colour(Format::R8Snorm, floats([-1.0, 0.0, 0.0, 0.0])),
            [0x8181_8181; 4]
        );
        assert_eq!(colour(Format::R8Unorm, floats([f32::NAN; 4])), [0; 4]);
    }

    #[test]
    fn shaders_are_told_where_components_are() {
        let of = |format| packing(format).map(|packing| (packing.components, packing.kind));
        let eight = |lowest: u32, shown: u32| 8 | lowest << 8 | shown << 16;
        assert_eq!(
            of(Format::B8G8R8A8Srgb),
            Some((
                [eight(0, 2), eight(8, 1), eight(16, 0), eight(24, 3)],
                0x100
            ))
        );
        assert_eq!(of(Format::R8Snorm), Some(([eight(0, 0), 0, 0, 0], 1)));
        assert_eq!(of(Format::A8Unorm), Some(([eight(0, 3), 0, 0, 0], 0)));
        assert_eq!(
            of(Format::R5G6B5UnormPack16),
            Some(([5 | 2 << 16, 6 | 5 << 8 | 1 << 16, 5 | 11 << 8, 0], 0))
        );
        assert_eq!(of(Format::S8Uint), Some(([eight(0, 0), 0, 0, 0], 2)));
        assert_eq!(of(Format::D32Sfloat), Some(([32, 0, 0, 0], 4)));
        assert_eq!(of(Format::Bc1RgbaUnormBlock), None);
        // All that is no block can be written.
        for format in Format::ALL {
            assert_eq!(
                of(*format).is_none(),
                format.is_compressed(),
                "{}",
                format.name()
            );
        }
    }

    #[test]
    fn small_floats_at_their_edges() {
        assert_eq!(float(1.0, 11), 15 << 6);
        assert_eq!(float(1.0, 10), 15 << 5);
        assert_eq!(float(-3.0, 11), 0);
        assert_eq!(float(1e9, 11), (31 << 6) - 1);
        assert_eq!(float(f32::INFINITY, 11), 31 << 6);
        assert_eq!(float(2.0_f32.powi(-14), 11), 1 << 6);
        assert_eq!(float(2.0_f32.powi(-20), 11), 1);
        assert_eq!(float(2.0_f32.powi(-40), 11), 0);
        assert_eq!(shared_exponent([1.0, 0.5, 0.0]), 256 | 128 << 9 | 16 << 27);
        assert_eq!(shared_exponent([0.0; 3]), 0);
        assert_eq!(shared_exponent([1e9, 0.0, 0.0]), 511 | 31 << 27);
    }

    proptest! {
        /// An 11-bit float is the half with its lower mantissa bits rounded.
        #[test]
        fn small_floats_are_halves_without_sign(bits in 0u16..0x7c00) {
            let value = half::f16::from_bits(bits).to_f32();
            let rounded = float(value, 11);
            let back = half::f16::from_bits((rounded as u16) << 4).to_f32();
            let (below, above) = (bits & !0xf, (bits & !0xf) + 0x10);
            let (below, above) = (half::f16::from_bits(below).to_f32(), half::f16::from_bits(above).to_f32());
            let near = (value - below).min(above - value);
            if above.is_finite() {
                prop_assert!((back - value).abs() <= near);
            } else {
                prop_assert!(back.is_finite());
            }
        }

        /// sRGB encoding inverts its decoding within half a step.
        #[test]
        fn srgb_comes_back(code in 0u32..256) {
            let c = f64::from(code) / 255.0;
            let linear = if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) };
            let packed = colour(Format::R8Srgb, [(linear as f32).to_bits(), 0, 0, 0]);
            prop_assert_eq!(packed[0] & 0xff, code);
        }
    }
}
