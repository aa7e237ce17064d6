// SPDX-License-Identifier: MIT
//! ETC2 and EAC, as the API's data format specification defines them.
//!
//! Blocks are numbers of 64 bits, most significant byte first. Their texels are counted down the columns.

use super::{Texel, unorm8};

/// What the base colours of a sub-block are changed by.
const MODIFIERS: [[i32; 2]; 8] = [
    [2, 8],
    [5, 17],
    [9, 29],
    [13, 42],
    [18, 60],
    [24, 80],
    [33, 106],
    [47, 183],
];

/// Distances of the T and H modes.
const DISTANCES: [i32; 8] = [3, 6, 11, 16, 23, 32, 41, 64];

/// Modifiers of one component.
const EAC: [[i32; 8]; 16] = [
    [-3, -6, -9, -15, 2, 5, 8, 14],
    [-3, -7, -10, -13, 2, 6, 9, 12],
    [-2, -5, -8, -13, 1, 4, 7, 12],
    [-2, -4, -6, -13, 1, 3, 5, 12],
    [-3, -6, -8, -12, 2, 5, 7, 11],
    [-3, -7, -9, -11, 2, 6, 8, 10],
    [-4, -7, -8, -11, 3, 6, 7, 10],
    [-3, -5, -8, -11, 2, 4, 7, 10],
    [-2, -6, -8, -10, 1, 5, 7, 9],
    [-2, -5, -8, -10, 1, 4, 7, 9],
    [-2, -4, -8, -10, 1, 3, 7, 9],
    [-2, -5, -7, -10, 1, 4, 6, 9],
    [-3, -4, -7, -10, 2, 3, 6, 9],
    [-1, -2, -3, -10, 0, 1, 2, 9],
    [-4, -6, -8, -9, 3, 5, 7, 8],
    [-3, -5, -7, -9, 2, 4, 6, 8],
];

/// A block, by the bit numbers of the specification.
#[derive(Clone, Copy)]
struct Bits(u64);

impl Bits {
    fn of(block: &[u8]) -> Bits {
        Bits(
            block
                .iter()
                .fold(0, |bits, byte| bits << 8 | u64::from(*byte)),
        )
    }

    /// Bits `high..=low`.
    fn get(self, high: u32, low: u32) -> i32 {
        (self.0 >> low & (u64::MAX >> (63 - (high - low)))) as i32
    }

    /// The two-bit index of a texel.
    fn index(self, x: usize, y: usize) -> usize {
        let texel = (4 * x + y) as u32;
        (self.get(16 + texel, 16 + texel) << 1 | self.get(texel, texel)) as usize
    }
}

type Rgb = [i32; 3];

fn shifted(colour: Rgb, by: i32) -> Rgb {
    colour.map(|c| (c + by).clamp(0, 255))
}

/// Four texels by four, each by `paint`: a colour, or `None` where transparent.
fn fill(texels: &mut [Texel], mut paint: impl FnMut(usize, usize) -> Option<Rgb>) {
    for (i, texel) in texels.iter_mut().take(16).enumerate() {
        *texel = match paint(i % 4, i / 4) {
            Some(rgb) => {
                let [r, g, b] = rgb.map(|c| unorm8(c as u8));
                [r, g, b, 1.0f32.to_bits()]
            }
            None => [0; 4],
        };
    }
}

/// A block of colours; `punch_through`: with one bit of alpha.
pub(super) fn rgb(block: &[u8], punch_through: bool, texels: &mut [Texel]) {
    let bits = Bits::of(block);
    let flag = bits.get(33, 33) == 1;
    let opaque = !punch_through || flag;
    if !flag && !punch_through {
        let ends =
            |shift: u32| [63, 55, 47].map(|high| 17 * bits.get(high - shift, high - shift - 3));
        return sub_blocks(bits, ends(0), ends(4), true, texels);
    }
    let base = [63, 55, 47].map(|high| bits.get(high, high - 4));
    let sums = [0, 1, 2].map(|c| {
        let high = [58, 50, 42][c];
        base[c] + (bits.get(high, high - 2) << 29 >> 29)
    });
    let overflows = |c: usize| !(0..32).contains(&sums[c]);
    if overflows(0) {
        t_mode(bits, opaque, texels);
    } else if overflows(1) {
        h_mode(bits, opaque, texels);
    } else if overflows(2) {
        planar(bits, texels);
    } else {
        let wide = |colour: Rgb| colour.map(|c| c << 3 | c >> 2);
        sub_blocks(bits, wide(base), wide(sums), opaque, texels);
    }
}

/// The modes with two halves.
fn sub_blocks(bits: Bits, first: Rgb, second: Rgb, opaque: bool, texels: &mut [Texel]) {
    let tables = [bits.get(39, 37), bits.get(36, 34)].map(|t| MODIFIERS[t as usize]);
    let flip = bits.get(32, 32) == 1;
    fill(texels, |x, y| {
        let half = usize::from(if flip { y >= 2 } else { x >= 2 });
        let base = [first, second][half];
        let [small, large] = tables[half];
        let by = match bits.index(x, y) {
            0 if opaque => small,
            0 => 0,
            1 => large,
            2 if opaque => -small,
            2 => return None,
            _ => -large,
        };
        Some(shifted(base, by))
    });
}

fn paints(bits: Bits, colours: [Rgb; 4], opaque: bool, texels: &mut [Texel]) {
    fill(texels, |x, y| {
        let index = bits.index(x, y);
        (opaque || index != 2).then(|| colours[index])
    });
}

fn t_mode(bits: Bits, opaque: bool, texels: &mut [Texel]) {
    let red = bits.get(60, 59) << 2 | bits.get(57, 56);
    let first = [red, bits.get(55, 52), bits.get(51, 48)].map(|c| 17 * c);
    let second = [bits.get(47, 44), bits.get(43, 40), bits.get(39, 36)].map(|c| 17 * c);
    let distance = DISTANCES[(bits.get(35, 34) << 1 | bits.get(32, 32)) as usize];
    let colours = [
        first,
        shifted(second, distance),
        second,
        shifted(second, -distance),
    ];
    paints(bits, colours, opaque, texels);
}

fn h_mode(bits: Bits, opaque: bool, texels: &mut [Texel]) {
    let green = bits.get(58, 56) << 1 | bits.get(52, 52);
    let blue = bits.get(51, 51) << 3 | bits.get(49, 47);
    let first = [bits.get(62, 59), green, blue].map(|c| 17 * c);
    let second = [bits.get(46, 43), bits.get(42, 39), bits.get(38, 35)].map(|c| 17 * c);
    // The order of the colours is the lowest bit.
    let order = i32::from(first >= second);
    let index = bits.get(34, 34) << 2 | bits.get(32, 32) << 1 | order;
    let distance = DISTANCES[index as usize];
    let colours = [
        shifted(first, distance),
        shifted(first, -distance),
        shifted(second, distance),
        shifted(second, -distance),
    ];
    paints(bits, colours, opaque, texels);
}

fn planar(bits: Bits, texels: &mut [Texel]) {
    let six = |c: i32| c << 2 | c >> 4;
    let seven = |c: i32| c << 1 | c >> 6;
    let blue = bits.get(48, 48) << 5 | bits.get(44, 43) << 3 | bits.get(41, 39);
    let origin = [
        six(bits.get(62, 57)),
        seven(bits.get(56, 56) << 6 | bits.get(54, 49)),
        six(blue),
    ];
    let right = [
        six(bits.get(38, 34) << 1 | bits.get(32, 32)),
        seven(bits.get(31, 25)),
        six(bits.get(24, 19)),
    ];
    let below = [
        six(bits.get(18, 13)),
        seven(bits.get(12, 6)),
        six(bits.get(5, 0)),
    ];
    fill(texels, |x, y| {
        Some(std::array::from_fn(|c| {
            let (x, y) = (x as i32, y as i32);
            let sum = x * (right[c] - origin[c]) + y * (below[c] - origin[c]) + 4 * origin[c];
            ((sum + 2) >> 2).clamp(0, 255)
        }))
    });
}

/// The modifier of each texel of a block of one component, row by row.
fn modifiers(bits: Bits) -> impl Iterator<Item = i32> {
    let table = EAC[bits.get(51, 48) as usize];
    (0..16).map(move |i| {
        let texel = 4 * (i % 4) + i / 4;
        table[bits.get(47 - 3 * texel, 45 - 3 * texel) as usize]
    })
}

/// A block of alpha.
pub(super) fn alpha(block: &[u8], texels: &mut [Texel]) {
    let bits = Bits::of(block);
    let (base, factor) = (bits.get(63, 56), bits.get(55, 52));
    for (texel, modifier) in texels.iter_mut().zip(modifiers(bits)) {
        texel[3] = unorm8((base + modifier * factor).clamp(0, 255) as u8);
    }
}

/// A block of eleven bits of one component.
pub(super) fn eleven(block: &[u8], signed: bool, component: usize, texels: &mut [Texel]) {
    let bits = Bits::of(block);
    // A factor of 0 stands for an eighth.
    let factor = match bits.get(55, 52) {
        0 => 1,
        factor => 8 * factor,
    };
    for (texel, modifier) in texels.iter_mut().zip(modifiers(bits)) {
        let value = if signed {
            let base = (bits.get(63, 56) << 24 >> 24).max(-127);
            (8 * base + modifier * factor).clamp(-1023, 1023) as f32 / 1023.0
        } else {
            let base = bits.get(63, 56);
            (8 * base + 4 + modifier * factor).clamp(0, 2047) as f32 / 2047.0
        };
        texel[component] = value.to_bits();
    }
}
