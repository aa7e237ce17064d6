// SPDX-License-Identifier: MIT
//! BC1 to BC7. The first five are written as the formats are defined, with fractions; the other two are
//! defined bit by bit and come from a crate.

use super::{Texel, unorm8};
use crate::shader::alu::half;

/// The four colours of a block, and the indices of its 16 texels.
///
/// `punch_through`: with the colours in ascending order the third is their mean and the fourth is
/// transparent black.
fn colours(block: &[u8], punch_through: bool) -> ([Texel; 4], u32) {
    let half = |i: usize| u32::from(block[i]) | u32::from(block[i + 1]) << 8;
    let ends = [half(0), half(2)];
    let [a, b] = ends.map(|c| {
        [
            (c >> 11) as f32 / 31.0,
            (c >> 5 & 63) as f32 / 63.0,
            (c & 31) as f32 / 31.0,
        ]
    });
    let one = 1.0f32.to_bits();
    let opaque = |f: &dyn Fn(usize) -> f32| [f(0).to_bits(), f(1).to_bits(), f(2).to_bits(), one];
    let table = if punch_through && ends[0] <= ends[1] {
        [
            opaque(&|c| a[c]),
            opaque(&|c| b[c]),
            opaque(&|c| (a[c] + b[c]) / 2.0),
            [0; 4],
        ]
    } else {
        [
            opaque(&|c| a[c]),
            opaque(&|c| b[c]),
            opaque(&|c| (2.0 * a[c] + b[c]) / 3.0),
            opaque(&|c| (a[c] + 2.0 * b[c]) / 3.0),
        ]
    };
    (table, half(4) | half(6) << 16)
}

fn colour_block(block: &[u8], punch_through: bool, texels: &mut [Texel]) {
    let (table, indices) = colours(block, punch_through);
    for (i, texel) in texels.iter_mut().take(16).enumerate() {
        *texel = table[(indices >> (2 * i) & 3) as usize];
    }
}

/// Colours of which one may be transparent.
pub(super) fn bc1(block: &[u8; 16], texels: &mut [Texel]) {
    colour_block(&block[..8], true, texels);
}

/// Four bits of alpha each, then colours.
pub(super) fn bc2(block: &[u8; 16], texels: &mut [Texel]) {
    colour_block(&block[8..], false, texels);
    for (i, texel) in texels.iter_mut().take(16).enumerate() {
        let code = block[i / 2] >> (4 * (i % 2)) & 15;
        texel[3] = (f32::from(code) / 15.0).to_bits();
    }
}

/// Alpha as in BC4, then colours.
pub(super) fn bc3(block: &[u8; 16], texels: &mut [Texel]) {
    colour_block(&block[8..], false, texels);
    bc4(&block[..8], false, 3, texels);
}

/// One component: two ends and what lies between them, eight steps, or six and the ends of the range.
pub(super) fn bc4(block: &[u8], signed: bool, component: usize, texels: &mut [Texel]) {
    let (ends, lowest, eight) = if signed {
        // -128 is -1 as well, also in the comparison.
        let [a, b] = [block[0] as i8, block[1] as i8].map(|code| code.max(-127));
        let value = |code: i8| f32::from(code) / 127.0;
        ([value(a), value(b)], -1.0, a > b)
    } else {
        let [a, b] = [block[0], block[1]];
        ([a, b].map(|code| f32::from(code) / 255.0), 0.0, a > b)
    };
    let [a, b] = ends;
    let table: [f32; 8] = std::array::from_fn(|i| {
        let steps = if eight { 7.0 } else { 5.0 };
        match i {
            0 => a,
            1 => b,
            6 if !eight => lowest,
            7 if !eight => 1.0,
            _ => {
                let k = (i - 1) as f32;
                ((steps - k) * a + k * b) / steps
            }
        }
    });
    let mut indices = 0u64;
    for (i, byte) in block[2..8].iter().enumerate() {
        indices |= u64::from(*byte) << (8 * i);
    }
    for (i, texel) in texels.iter_mut().take(16).enumerate() {
        texel[component] = table[(indices >> (3 * i) & 7) as usize].to_bits();
    }
}

/// Half floats, RGB.
pub(super) fn bc6h(block: &[u8; 16], signed: bool, texels: &mut [Texel]) {
    let mut halves = [0u16; 48];
    bcdec_rs::bc6h_half(block, &mut halves, 12, signed);
    for (rgb, texel) in halves.as_chunks::<3>().0.iter().zip(texels) {
        let [r, g, b] = rgb.map(|bits| half::widen(bits.into()));
        *texel = [r, g, b, 1.0f32.to_bits()];
    }
}

/// RGBA of eight bits.
pub(super) fn bc7(block: &[u8; 16], texels: &mut [Texel]) {
    let mut bytes = [0u8; 64];
    bcdec_rs::bc7(block, &mut bytes, 16);
    for (rgba, texel) in bytes.as_chunks::<4>().0.iter().zip(texels) {
        *texel = rgba.map(unorm8);
    }
}
