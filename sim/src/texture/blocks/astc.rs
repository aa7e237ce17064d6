// SPDX-License-Identifier: MIT
//! ASTC, two-dimensional, LDR and HDR, as the API's data format specification defines it.
//!
//! A block of 128 bits: a mode and the colour data grow from below, the weights from above.

use super::{MAX_TEXELS, Texel};
use crate::shader::alu::half;

/// Ranges of the integer sequence encoding: levels, bits, and whether a trit or quint goes with them.
#[derive(Clone, Copy)]
struct Range {
    levels: u32,
    bits: u32,
    base: u32,
}

const fn range(levels: u32, bits: u32, base: u32) -> Range {
    Range { levels, bits, base }
}

const RANGES: [Range; 21] = [
    range(2, 1, 1),
    range(3, 0, 3),
    range(4, 2, 1),
    range(5, 0, 5),
    range(6, 1, 3),
    range(8, 3, 1),
    range(10, 1, 5),
    range(12, 2, 3),
    range(16, 4, 1),
    range(20, 2, 5),
    range(24, 3, 3),
    range(32, 5, 1),
    range(40, 3, 5),
    range(48, 4, 3),
    range(64, 6, 1),
    range(80, 4, 5),
    range(96, 5, 3),
    range(128, 7, 1),
    range(160, 5, 5),
    range(192, 6, 3),
    range(256, 8, 1),
];

impl Range {
    /// Bits of `n` values.
    fn size(self, n: u32) -> u32 {
        let extra = match self.base {
            3 => (8 * n).div_ceil(5),
            5 => (7 * n).div_ceil(3),
            _ => 0,
        };
        self.bits * n + extra
    }
}

/// A block that means nothing.
struct Bad;

/// Bits `low..low + count` of a number; 0 above its end.
fn bits(word: u128, low: u32, count: u32) -> u32 {
    let shifted = word.checked_shr(low).unwrap_or(0);
    (shifted as u64 & ((1u64 << count) - 1)) as u32
}

/// The trits of a group, from its eight bits.
fn trits(t: u32) -> [u32; 5] {
    let bit = |word: u32, n: u32| word >> n & 1;
    let (c, t3, t4);
    if t >> 2 & 7 == 7 {
        c = (t >> 5 & 7) << 2 | t & 3;
        (t3, t4) = (2, 2);
    } else {
        c = t & 31;
        if t >> 5 & 3 == 3 {
            (t3, t4) = (bit(t, 7), 2);
        } else {
            (t3, t4) = (t >> 5 & 3, bit(t, 7));
        }
    }
    let (t0, t1, t2);
    if c & 3 == 3 {
        t2 = 2;
        t1 = bit(c, 4);
        t0 = bit(c, 3) << 1 | bit(c, 2) & !bit(c, 3) & 1;
    } else if c >> 2 & 3 == 3 {
        (t2, t1) = (2, 2);
        t0 = c & 3;
    } else {
        t2 = bit(c, 4);
        t1 = c >> 2 & 3;
        t0 = bit(c, 1) << 1 | bit(c, 0) & !bit(c, 1) & 1;
    }
    [t0, t1, t2, t3, t4]
}

/// The quints of a group, from its seven bits.
fn quints(q: u32) -> [u32; 3] {
    let bit = |n: u32| q >> n & 1;
    if q >> 1 & 3 == 3 && q >> 5 & 3 == 0 {
        let free = !bit(0) & 1;
        return [4, 4, bit(0) << 2 | (bit(4) & free) << 1 | bit(3) & free];
    }
    let (c, q2);
    if q >> 1 & 3 == 3 {
        q2 = 4;
        c = (q >> 3 & 3) << 3 | (!(q >> 5) & 3) << 1 | bit(0);
    } else {
        q2 = q >> 5 & 3;
        c = q & 31;
    }
    if c & 7 == 5 {
        [c >> 3 & 3, 4, q2]
    } else {
        [c & 7, c >> 3 & 3, q2]
    }
}

/// Reads a sequence from bit `start` on: the bits of each value, and its trit or quint.
fn sequence(word: u128, start: u32, range: Range, out: &mut [(u32, u32)]) {
    /// How the bits of a group's trits or quints are scattered between its values.
    const TRITS: [u32; 5] = [2, 2, 1, 2, 1];
    const QUINTS: [u32; 3] = [3, 2, 2];
    let pieces: &[u32] = match range.base {
        3 => &TRITS,
        5 => &QUINTS,
        _ => &[0],
    };
    // Bits past the end of the sequence count as 0.
    let end = start + range.size(out.len() as u32);
    let word = if end < 128 {
        word & ((1 << end) - 1)
    } else {
        word
    };
    let mut at = start;
    for group in out.chunks_mut(pieces.len()) {
        let mut low = [0; 5];
        let (mut packed, mut filled) = (0, 0);
        for (value, piece) in low.iter_mut().zip(pieces) {
            *value = bits(word, at, range.bits);
            at += range.bits;
            packed |= bits(word, at, *piece) << filled;
            filled += piece;
            at += piece;
        }
        let high: [u32; 5] = match range.base {
            3 => trits(packed),
            5 => {
                let [a, b, c] = quints(packed);
                [a, b, c, 0, 0]
            }
            _ => [0; 5],
        };
        for (value, pair) in group.iter_mut().zip(low.into_iter().zip(high)) {
            *value = pair;
        }
    }
}

/// Spreads the letters of a pattern: bit `b` (the second lowest) is `b`, and so on.
fn pattern(text: &str, value: u32) -> u32 {
    text.bytes().fold(0, |word, letter| {
        let bit = match letter {
            b'0' => 0,
            letter => value >> (letter - b'a') & 1,
        };
        word << 1 | bit
    })
}

/// Repeats `bits` bits until there are `to`.
fn replicate(value: u32, bits: u32, to: u32) -> u32 {
    let mut word = 0;
    let mut have = 0;
    while have < to {
        word = word << bits | value;
        have += bits;
    }
    word >> (have - to)
}

/// A colour value as 0..=255.
fn colour(range: Range, (low, high): (u32, u32)) -> u32 {
    let (b, c) = match (range.base, range.bits) {
        (1, n) => return replicate(low, n, 8),
        (3, 1) => ("000000000", 204),
        (3, 2) => ("b000b0bb0", 93),
        (3, 3) => ("cb000cbcb", 44),
        (3, 4) => ("dcb000dcb", 22),
        (3, 5) => ("edcb000ed", 11),
        (3, _) => ("fedcb000f", 5),
        (_, 1) => ("000000000", 113),
        (_, 2) => ("b0000bb00", 54),
        (_, 3) => ("cb0000cbc", 26),
        (_, 4) => ("dcb0000dc", 13),
        (_, _) => ("edcb0000e", 6),
    };
    let a = (low & 1) * 0x1ff;
    let t = (high * c + pattern(b, low)) ^ a;
    a & 0x80 | t >> 2
}

/// A weight as 0..=64.
fn weight(range: Range, (low, high): (u32, u32)) -> u32 {
    let six = match (range.base, range.bits) {
        (1, n) => replicate(low, n, 6),
        (3, 0) => [0, 32, 63][high as usize],
        (5, 0) => [0, 16, 32, 47, 63][high as usize],
        (base, n) => {
            let (b, c) = match (base, n) {
                (3, 1) => ("0000000", 50),
                (3, 2) => ("b000b0b", 23),
                (3, _) => ("cb000cb", 11),
                (_, 1) => ("0000000", 28),
                (_, _) => ("b0000b0", 13),
            };
            let a = (low & 1) * 0x7f;
            let t = (high * c + pattern(b, low)) ^ a;
            a & 0x20 | t >> 2
        }
    };
    six + u32::from(six > 32)
}

/// The grid of weights.
struct Grid {
    width: u32,
    height: u32,
    dual: bool,
    range: Range,
}

/// The block mode, eleven bits.
fn grid(mode: u32) -> Result<Grid, Bad> {
    let get = |low: u32, count: u32| mode >> low & ((1 << count) - 1);
    let (a, b) = (get(5, 2), get(7, 2));
    let mut dual = get(10, 1) == 1;
    let mut high = get(9, 1) == 1;
    let (r, width, height);
    if get(0, 2) != 0 {
        r = get(0, 2) << 1 | get(4, 1);
        (width, height) = match get(2, 2) {
            0 => (b + 4, a + 2),
            1 => (b + 8, a + 2),
            2 => (a + 2, b + 8),
            _ if get(8, 1) == 0 => (a + 2, (b & 1) + 6),
            _ => ((b & 1) + 2, a + 2),
        };
    } else {
        r = get(2, 2) << 1 | get(4, 1);
        if get(2, 2) == 0 {
            return Err(Bad);
        }
        (width, height) = match b {
            0 => (12, a + 2),
            1 => (a + 2, 12),
            2 => {
                (dual, high) = (false, false);
                (a + 6, get(9, 2) + 6)
            }
            _ => match a {
                0 => (6, 10),
                1 => (10, 6),
                _ => return Err(Bad),
            },
        };
    }
    // 2, 3, 4, 5, 6, 8 levels, then 10, 12, 16, 20, 24, 32.
    let index = (r - 2) as usize + if high { 6 } else { 0 };
    Ok(Grid {
        width,
        height,
        dual,
        range: RANGES[index],
    })
}

/// A colour with components of up to twelve bits; `hdr` says which are logarithmic.
#[derive(Clone, Copy, Default)]
struct Ends {
    colours: [[i32; 4]; 2],
    hdr: [bool; 2],
}

/// Bit arithmetic of the base-and-offset modes: a signed offset, and the base with its top bit.
fn transfer(offset: i32, base: i32) -> (i32, i32) {
    let base = base >> 1 | offset & 0x80;
    let offset = offset >> 1 & 0x3f;
    (
        if offset & 0x20 != 0 {
            offset - 0x40
        } else {
            offset
        },
        base,
    )
}

/// Undoes the contraction toward blue.
fn contract([r, g, b, a]: [i32; 4]) -> [i32; 4] {
    [(r + b) >> 1, (g + b) >> 1, b, a]
}

/// The two ends of a partition.
fn ends(mode: u32, v: &[i32]) -> Ends {
    let ldr = |first: [i32; 4], second: [i32; 4]| Ends {
        colours: [first, second].map(|end| end.map(|c| c.clamp(0, 255))),
        hdr: [false; 2],
    };
    let direct = |a0: i32, a1: i32| {
        let (first, second) = ([v[0], v[2], v[4], a0], [v[1], v[3], v[5], a1]);
        if v[1] + v[3] + v[5] >= v[0] + v[2] + v[4] {
            ldr(first, second)
        } else {
            ldr(contract(second), contract(first))
        }
    };
    let offset = |alpha: Option<(i32, i32)>| {
        let [(r1, r0), (g1, g0), (b1, b0)] = [
            transfer(v[1], v[0]),
            transfer(v[3], v[2]),
            transfer(v[5], v[4]),
        ];
        let (a1, a0) = match alpha {
            Some((offset, base)) => transfer(offset, base),
            None => (0, 255),
        };
        let base = [r0, g0, b0, a0];
        let other = [r0 + r1, g0 + g1, b0 + b1, a0 + a1];
        if r1 + g1 + b1 >= 0 {
            ldr(base, other)
        } else {
            ldr(contract(other), contract(base))
        }
    };
    let scaled = |a0: i32, a1: i32| {
        let scale = |c: i32| (c * v[3]) >> 8;
        ldr(
            [scale(v[0]), scale(v[1]), scale(v[2]), a0],
            [v[0], v[1], v[2], a1],
        )
    };
    let grey = |l: i32, a: i32| [l, l, l, a];
    match mode {
        0 => ldr(grey(v[0], 255), grey(v[1], 255)),
        1 => {
            let low = v[0] >> 2 | v[1] & 0xc0;
            ldr(grey(low, 255), grey(low + (v[1] & 0x3f), 255))
        }
        4 => ldr(grey(v[0], v[2]), grey(v[1], v[3])),
        5 => {
            let ((l1, l0), (a1, a0)) = (transfer(v[1], v[0]), transfer(v[3], v[2]));
            ldr(grey(l0, a0), grey(l0 + l1, a0 + a1))
        }
        6 => scaled(255, 255),
        8 => direct(255, 255),
        9 => offset(None),
        10 => scaled(v[4], v[5]),
        12 => direct(v[6], v[7]),
        13 => offset(Some((v[7], v[6]))),
        _ => hdr_ends(mode, v),
    }
}

/// One, as a logarithmic number of twelve bits.
const ONE: i32 = 0x780;

fn hdr_ends(mode: u32, v: &[i32]) -> Ends {
    let both = |first: [i32; 3], second: [i32; 3]| Ends {
        colours: [first, second].map(|[r, g, b]| {
            let clamped = |c: i32| c.clamp(0, 0xfff);
            [clamped(r), clamped(g), clamped(b), ONE]
        }),
        hdr: [true; 2],
    };
    match mode {
        2 => {
            let (low, high) = if v[1] >= v[0] {
                (v[0] << 4, v[1] << 4)
            } else {
                ((v[1] << 4) + 8, (v[0] << 4) - 8)
            };
            both([low; 3], [high; 3])
        }
        3 => {
            let (low, step) = if v[0] & 0x80 != 0 {
                ((v[1] & 0xe0) << 4 | (v[0] & 0x7f) << 2, (v[1] & 0x1f) << 2)
            } else {
                ((v[1] & 0xf0) << 4 | (v[0] & 0x7f) << 1, (v[1] & 0x0f) << 1)
            };
            both([low; 3], [low + step; 3])
        }
        7 => {
            let [first, second] = hdr_scaled(v);
            both(first, second)
        }
        _ => {
            let [first, second] = hdr_direct(v);
            let mut ends = both(first, second);
            if mode == 14 {
                ends.colours[0][3] = v[6];
                ends.colours[1][3] = v[7];
                ends.hdr[1] = false;
            } else if mode == 15 {
                let alpha = hdr_alpha(v[6], v[7]);
                ends.colours[0][3] = alpha[0];
                ends.colours[1][3] = alpha[1];
            }
            ends
        }
    }
}

fn hdr_scaled(v: &[i32]) -> [[i32; 3]; 2] {
    let value = (v[0] & 0xc0) >> 6 | (v[1] & 0x80) >> 5 | (v[2] & 0x80) >> 4;
    let (major, mode) = match value {
        15 => (0, 5),
        12..=14 => (value & 3, 4),
        _ => (value >> 2, value & 3),
    };
    let mut red = v[0] & 0x3f;
    let mut green = v[1] & 0x1f;
    let mut blue = v[2] & 0x1f;
    let mut scale = v[3] & 0x1f;
    let bit = |value: i32, n: i32| value >> n & 1;
    let x = [
        bit(v[1], 6),
        bit(v[1], 5),
        bit(v[2], 6),
        bit(v[2], 5),
        bit(v[3], 7),
        bit(v[3], 6),
        bit(v[3], 5),
    ];
    let in_modes = |set: i32, bit: i32| if set >> mode & 1 == 1 { bit } else { 0 };
    green |= in_modes(0x30, x[0] << 6) | in_modes(0x3a, x[1] << 5);
    blue |= in_modes(0x30, x[2] << 6) | in_modes(0x3a, x[3] << 5);
    scale |= in_modes(0x3d, x[6] << 5) | in_modes(0x2d, x[5] << 6) | in_modes(0x04, x[4] << 7);
    red |= in_modes(0x3b, x[4] << 6)
        | in_modes(0x04, x[3] << 6)
        | in_modes(0x10, x[5] << 7)
        | in_modes(0x0f, x[2] << 7)
        | in_modes(0x05, x[1] << 8)
        | in_modes(0x0a, x[0] << 8)
        | in_modes(0x05, x[0] << 9)
        | in_modes(0x02, x[6] << 9)
        | in_modes(0x01, x[3] << 10)
        | in_modes(0x02, x[5] << 10);
    let shift = [1, 1, 2, 3, 4, 5][mode as usize];
    (red, green, blue, scale) = (red << shift, green << shift, blue << shift, scale << shift);
    if mode != 5 {
        green = red - green;
        blue = red - blue;
    }
    let mut second = [red, green, blue];
    second.swap(0, major as usize);
    [second.map(|c| c - scale), second]
}

fn hdr_direct(v: &[i32]) -> [[i32; 3]; 2] {
    let major = (v[4] & 0x80) >> 7 | (v[5] & 0x80) >> 6;
    if major == 3 {
        return [
            [v[0] << 4, v[2] << 4, (v[4] & 0x7f) << 5],
            [v[1] << 4, v[3] << 4, (v[5] & 0x7f) << 5],
        ];
    }
    let mode = (v[1] & 0x80) >> 7 | (v[2] & 0x80) >> 6 | (v[3] & 0x80) >> 5;
    let mut a = v[0] | (v[1] & 0x40) << 2;
    let mut b = [v[2] & 0x3f, v[3] & 0x3f];
    let mut c = v[1] & 0x3f;
    let width = [7, 6, 7, 6, 5, 6, 5, 6][mode as usize];
    let mut d = [v[4], v[5]].map(|value| (value & 0x7f) << (32 - width) >> (32 - width));
    let bit = |value: i32, n: i32| value >> n & 1;
    let x = [
        bit(v[2], 6),
        bit(v[3], 6),
        bit(v[4], 6),
        bit(v[5], 6),
        bit(v[4], 5),
        bit(v[5], 5),
    ];
    let in_modes = |set: i32, bit: i32| if set >> mode & 1 == 1 { bit } else { 0 };
    a |= in_modes(0xa4, x[0] << 9)
        | in_modes(0x08, x[2] << 9)
        | in_modes(0x50, x[4] << 9)
        | in_modes(0x50, x[5] << 10)
        | in_modes(0xa0, x[1] << 10)
        | in_modes(0xc0, x[2] << 11);
    c |= in_modes(0x04, x[1] << 6) | in_modes(0xe8, x[3] << 6) | in_modes(0x20, x[2] << 7);
    b[0] |= in_modes(0x5b, x[0] << 6) | in_modes(0x12, x[2] << 7);
    b[1] |= in_modes(0x5b, x[1] << 6) | in_modes(0x12, x[3] << 7);
    let shift = mode >> 1 ^ 3;
    a <<= shift;
    b = b.map(|b| b << shift);
    c <<= shift;
    d = d.map(|d| d << shift);
    let mut second = [a, a - b[0], a - b[1]];
    let mut first = [a - c, a - b[0] - c - d[0], a - b[1] - c - d[1]];
    first.swap(0, major as usize);
    second.swap(0, major as usize);
    [first, second]
}

fn hdr_alpha(v6: i32, v7: i32) -> [i32; 2] {
    let mode = v6 >> 7 & 1 | v7 >> 6 & 2;
    let (mut low, mut high) = (v6 & 0x7f, v7 & 0x7f);
    if mode == 3 {
        return [low << 5, high << 5];
    }
    low |= high << (mode + 1) & 0x780;
    high &= 0x3f >> mode;
    high ^= 0x20 >> mode;
    high -= 0x20 >> mode;
    low <<= 4 - mode;
    high <<= 4 - mode;
    high += low;
    [low, high.clamp(0, 0xfff)]
}

fn hash(mut p: u32) -> u32 {
    p ^= p >> 15;
    p = p.wrapping_sub(p << 17);
    p = p.wrapping_add(p << 7);
    p = p.wrapping_add(p << 4);
    p ^= p >> 5;
    p = p.wrapping_add(p << 16);
    p ^= p >> 7;
    p ^= p >> 3;
    p ^= p << 6;
    p ^ p >> 17
}

/// Which partition a texel belongs to.
fn partition(seed: u32, x: u32, y: u32, count: u32, small: bool) -> usize {
    let (x, y) = if small { (2 * x, 2 * y) } else { (x, y) };
    let seed = seed + (count - 1) * 1024;
    let random = hash(seed);
    let from = |shift: u32| random >> shift & 15;
    let seeds = [0, 4, 8, 12, 16, 20, 24, 28].map(|shift| from(shift).pow(2));
    let (one, two) = (
        if seed & 2 != 0 { 4 } else { 5 },
        if count == 3 { 6 } else { 5 },
    );
    let shifts = if seed & 1 != 0 {
        [one, two]
    } else {
        [two, one]
    };
    // Shares of the four, in x and y; of the z axis nothing is left in two dimensions.
    let share = |number: usize, shift: u32| {
        let sx = seeds[2 * number] >> shifts[0];
        let sy = seeds[2 * number + 1] >> shifts[1];
        (sx * x + sy * y + (random >> shift)) & 63
    };
    let a = share(0, 14);
    let b = share(1, 10);
    let c = if count < 3 { 0 } else { share(2, 6) };
    let d = if count < 4 { 0 } else { share(3, 2) };
    if a >= b && a >= c && a >= d {
        0
    } else if b >= c && b >= d {
        1
    } else if c >= d {
        2
    } else {
        3
    }
}

/// What texels are given as.
#[derive(Clone, Copy)]
struct Output {
    hdr: bool,
    srgb: bool,
}

impl Output {
    /// A 16-bit normalised number as fp32 bits: eight bits where sRGB comes next, otherwise an fp16,
    /// rounded toward zero.
    fn unorm(self, value: u32) -> u32 {
        if self.srgb {
            ((value >> 8) as f32 / 255.0).to_bits()
        } else if value == 0xffff {
            1.0f32.to_bits()
        } else {
            // Eleven significant bits, and none below 2^-24.
            let bits = 32 - value.leading_zeros();
            let drop = bits.saturating_sub(11);
            ((value >> drop << drop) as f32 / 65536.0).to_bits()
        }
    }

    /// A 16-bit logarithmic number.
    fn logarithmic(value: u32) -> u32 {
        let mantissa = value & 0x7ff;
        let bent = match mantissa {
            0..512 => 3 * mantissa,
            1536.. => 5 * mantissa - 2048,
            _ => 4 * mantissa - 512,
        };
        half::widen(((value >> 11 << 10) + (bent >> 3)).min(0x7bff))
    }

    /// What a bad block shows: magenta, or NaN where HDR is possible.
    fn bad(self) -> Texel {
        if self.hdr {
            [0x7fc0_0000; 4]
        } else {
            [1.0f32.to_bits(), 0, 1.0f32.to_bits(), 1.0f32.to_bits()]
        }
    }
}

/// The texels of a block of this size, row by row. `hdr`: the format has float components.
pub(super) fn decode(block: u128, size: [u32; 2], hdr: bool, srgb: bool, texels: &mut [Texel]) {
    let output = Output { hdr, srgb };
    if try_decode(block, size, output, texels).is_err() {
        texels.fill(output.bad());
    }
}

fn try_decode(
    block: u128,
    size: [u32; 2],
    output: Output,
    texels: &mut [Texel],
) -> Result<(), Bad> {
    if bits(block, 0, 9) == 0x1fc {
        return void_extent(block, output, texels);
    }
    let grid = grid(bits(block, 0, 11))?;
    let planes = 1 + u32::from(grid.dual);
    let count = grid.width * grid.height * planes;
    let partitions = bits(block, 11, 2) + 1;
    let weight_bits = grid.range.size(count);
    if grid.width > size[0]
        || grid.height > size[1]
        || count > 64
        || !(24..=96).contains(&weight_bits)
        || (partitions == 4 && grid.dual)
    {
        return Err(Bad);
    }
    // What lies below the weights, from above: more bits of the modes, the second plane's component.
    let mut below = 128 - weight_bits;
    let mut modes = [0; 4];
    let (seed, start);
    if partitions == 1 {
        (seed, start) = (0, 17);
        modes[0] = bits(block, 13, 4);
    } else {
        (seed, start) = (bits(block, 13, 10), 29);
        let class = bits(block, 23, 2);
        if class == 0 {
            modes = [bits(block, 25, 4); 4];
        } else {
            let more = 3 * partitions - 4;
            below -= more;
            let packed = bits(block, 25, 4) | bits(block, below, more) << 4;
            for i in 0..partitions {
                let class = class - 1 + (packed >> i & 1);
                modes[i as usize] = class << 2 | packed >> (partitions + 2 * i) & 3;
            }
        }
    }
    let modes = &modes[..partitions as usize];
    let second_plane = if grid.dual {
        below -= 2;
        Some(bits(block, below, 2) as usize)
    } else {
        None
    };
    let values: u32 = modes.iter().map(|mode| 2 * (mode >> 2) + 2).sum();
    let is_hdr = |mode: &u32| matches!(mode, 2 | 3 | 7 | 11 | 14 | 15);
    if values > 18 || below < start || (!output.hdr && modes.iter().any(is_hdr)) {
        return Err(Bad);
    }
    // The finest range that fits; six levels at least.
    let fits = |range: &&Range| range.levels >= 6 && range.size(values) <= below - start;
    let range = *RANGES.iter().rev().find(fits).ok_or(Bad)?;
    let mut raw = [(0, 0); 18];
    sequence(block, start, range, &mut raw[..values as usize]);
    let mut colours = raw.map(|pair| colour(range, pair) as i32);
    colours[values as usize..].fill(0);
    let mut all_ends = [Ends::default(); 4];
    let mut at = 0;
    for (mode, slot) in modes.iter().zip(&mut all_ends) {
        let n = 2 * (mode >> 2) as usize + 2;
        *slot = ends(*mode, &colours[at..at + n]);
        at += n;
    }
    let weights = infill(block, &grid, size);
    let small = size[0] * size[1] < 31;
    for (index, texel) in texels.iter_mut().enumerate() {
        let (x, y) = (index as u32 % size[0], index as u32 / size[0]);
        let part = match partitions {
            1 => 0,
            _ => partition(seed, x, y, partitions, small),
        };
        let ends = &all_ends[part];
        for component in 0..4 {
            let plane = usize::from(second_plane == Some(component));
            let hdr = ends.hdr[usize::from(component == 3)];
            let widen = |value: i32| {
                let value = value as u32;
                match (hdr, output.srgb) {
                    (true, _) => value << 4,
                    (false, true) => value << 8 | 0x80,
                    (false, false) => value * 257,
                }
            };
            let [a, b] = ends.colours.map(|end| widen(end[component]));
            let weight = weights[plane][index];
            let value = (a * (64 - weight) + b * weight + 32) >> 6;
            texel[component] = if hdr {
                Output::logarithmic(value)
            } else {
                output.unorm(value)
            };
        }
    }
    Ok(())
}

/// A block of one colour.
fn void_extent(block: u128, output: Output, texels: &mut [Texel]) -> Result<(), Bad> {
    let float = bits(block, 9, 1) == 1;
    if bits(block, 10, 2) != 3 || (float && !output.hdr) {
        return Err(Bad);
    }
    let extent = [12, 25, 38, 51].map(|low| bits(block, low, 13));
    let everywhere = extent == [0x1fff; 4];
    if !everywhere && (extent[0] >= extent[1] || extent[2] >= extent[3]) {
        return Err(Bad);
    }
    let texel = [64, 80, 96, 112].map(|low| {
        let value = bits(block, low, 16);
        if float {
            half::widen(value)
        } else {
            output.unorm(value)
        }
    });
    texels.fill(texel);
    Ok(())
}

/// The weights of all texels, for one or two planes.
fn infill(block: u128, grid: &Grid, size: [u32; 2]) -> [[u32; MAX_TEXELS]; 2] {
    let planes = 1 + usize::from(grid.dual);
    let count = (grid.width * grid.height) as usize * planes;
    let mut raw = [(0, 0); 64];
    sequence(block.reverse_bits(), 0, grid.range, &mut raw[..count]);
    let stored = raw.map(|pair| weight(grid.range, pair));
    let step = |n: u32| (1024 + n / 2) / (n - 1);
    let (step_x, step_y) = (step(size[0]), step(size[1]));
    let mut out = [[0; MAX_TEXELS]; 2];
    for y in 0..size[1] {
        for x in 0..size[0] {
            let gx = (step_x * x * (grid.width - 1) + 32) >> 6;
            let gy = (step_y * y * (grid.height - 1) + 32) >> 6;
            let (fx, fy) = (gx & 15, gy & 15);
            let first = (gx >> 4) + (gy >> 4) * grid.width;
            let both = (fx * fy + 8) >> 4;
            let corners = [
                (first, 16 + both - fx - fy),
                (first + 1, fx - both),
                (first + grid.width, fy - both),
                (first + grid.width + 1, both),
            ];
            for (plane, out) in out.iter_mut().enumerate().take(planes) {
                let sum: u32 = corners
                    .iter()
                    .map(|(index, share)| {
                        let index = *index as usize * planes + plane;
                        stored.get(index).copied().unwrap_or(0) * share
                    })
                    .sum();
                out[(y * size[0] + x) as usize] = (sum + 8) >> 4;
            }
        }
    }
    out
}
