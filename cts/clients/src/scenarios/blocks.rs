// SPDX-License-Identifier: MIT
//! Textures of compressed blocks, which tests decode by themselves.

use ash::vk;

use super::scenario;
use super::texels::sampled;
use super::textures::check;
use crate::image::{Model, Shape};
use crate::sampling::Sampling;
use crate::scenario::Scenario;
use crate::scope::Scope;

pub(super) const SCENARIOS: &[Scenario] = &[
    scenario("texels.blocks_bc", blocks_bc),
    scenario("texels.blocks_etc", blocks_etc),
    scenario("texels.blocks_astc", blocks_astc),
];

/// Numbers of 0 to 255 as ones of 0 to 1.
fn of_bytes(colour: [f64; 4]) -> [f64; 4] {
    colour.map(|c| c / 255.0)
}

/// Checks blocks of 4 x 4 texels against a decoder: texel `n` of a block.
unsafe fn blocks(
    s: &Scope<'_>,
    format: vk::Format,
    bytes: u32,
    fill: impl Fn(&mut [u8]),
    decode: impl Fn(&[u8], usize) -> [f64; 4],
) -> anyhow::Result<()> {
    let shape = Shape::flat(format, bytes, 32, 32).blocks(4, 4);
    if !s.has_image(&shape, vk::ImageUsageFlags::SAMPLED) {
        return Ok(());
    }
    let mut model = Model::new(shape, 860);
    model.bytes.chunks_exact_mut(bytes as usize).for_each(fill);
    let info = Sampling::default().info();
    let got = sampled(s, &model, "sampler2D", &info, "textureLod(t, c, 0.0)")?;
    let expected = |x: usize, y: usize| {
        let block = (y / 4 * 8 + x / 4) * bytes as usize;
        let block = &model.bytes[block..block + bytes as usize];
        Some(decode(block, y % 4 * 4 + x % 4))
    };
    // Decoders may round weighted colours.
    check(
        s,
        &format!("{format:?}"),
        &got,
        expected,
        1.6 / 255.0,
        false,
    )
}

/// The colours of a block of BC1 to BC3: 5, 6 and 5 bits, thirds between.
fn bc_colour(block: &[u8], at: usize, punch: bool) -> [f64; 4] {
    let word = |n: usize| u16::from_le_bytes([block[2 * n], block[2 * n + 1]]);
    let colour = |word: u16| {
        let part = |shift: u16, bits: u16| {
            let most = (1 << bits) - 1;
            f64::from(word >> shift & most) / f64::from(most)
        };
        [part(11, 5), part(5, 6), part(0, 5)]
    };
    let (a, b) = (colour(word(0)), colour(word(1)));
    let index = block[4 + at / 4] >> (at % 4 * 2) & 3;
    let mixed = |share: f64| -> [f64; 4] {
        std::array::from_fn(|c| {
            if c < 3 {
                a[c] * (1.0 - share) + b[c] * share
            } else {
                1.0
            }
        })
    };
    let four = !punch || word(0) > word(1);
    match (index, four) {
        (0, _) => mixed(0.0),
        (1, _) => mixed(1.0),
        (2, true) => mixed(1.0 / 3.0),
        (_, true) => mixed(2.0 / 3.0),
        (2, false) => mixed(0.5),
        _ => [0.0; 4],
    }
}

/// A channel of BC3's alpha, BC4 and BC5.
fn bc_channel(block: &[u8], at: usize) -> f64 {
    let (a, b) = (f64::from(block[0]), f64::from(block[1]));
    let bits = block[2..8]
        .iter()
        .rev()
        .fold(0_u64, |all, byte| all << 8 | u64::from(*byte));
    let index = (bits >> (3 * at) & 7) as f64;
    let value = match (index as u32, block[0] > block[1]) {
        (0, _) => a,
        (1, _) => b,
        (_, true) => (a * (8.0 - index) + b * (index - 1.0)) / 7.0,
        (6, false) => 0.0,
        (7, false) => 255.0,
        _ => (a * (6.0 - index) + b * (index - 1.0)) / 5.0,
    };
    value / 255.0
}

/// BC1 to BC5 with any bits; BC7 with blocks of one colour.
unsafe fn blocks_bc(s: &Scope<'_>) -> anyhow::Result<()> {
    use vk::Format as F;
    s.gpu_feature(|features| features.texture_compression_bc)?;
    let any = |_: &mut [u8]| ();
    blocks(s, F::BC1_RGBA_UNORM_BLOCK, 8, any, |block, at| {
        bc_colour(block, at, true)
    })?;
    blocks(s, F::BC1_RGB_UNORM_BLOCK, 8, any, |block, at| {
        let [r, g, b, _] = bc_colour(block, at, true);
        [r, g, b, 1.0]
    })?;
    blocks(s, F::BC2_UNORM_BLOCK, 16, any, |block, at| {
        let [r, g, b, _] = bc_colour(&block[8..], at, false);
        [
            r,
            g,
            b,
            f64::from(block[at / 2] >> (at % 2 * 4) & 15) / 15.0,
        ]
    })?;
    blocks(s, F::BC3_UNORM_BLOCK, 16, any, |block, at| {
        let [r, g, b, _] = bc_colour(&block[8..], at, false);
        [r, g, b, bc_channel(block, at)]
    })?;
    blocks(s, F::BC4_UNORM_BLOCK, 8, any, |block, at| {
        [bc_channel(block, at), 0.0, 0.0, 1.0]
    })?;
    blocks(s, F::BC5_UNORM_BLOCK, 16, any, |block, at| {
        [bc_channel(block, at), bc_channel(&block[8..], at), 0.0, 1.0]
    })?;
    // Mode 6: ends of 7 bits and one that is common to their components; both ends are the same.
    let one = |block: &mut [u8]| {
        let colour: [u128; 4] = std::array::from_fn(|at| u128::from(block[at] | 1));
        let mut bits = 1 << 6;
        for (at, c) in colour.into_iter().enumerate() {
            bits |= (c >> 1 | c >> 1 << 7) << (7 + 14 * at);
        }
        bits |= 3 << 63 | u128::from(block[9]) << 70;
        block.copy_from_slice(&bits.to_le_bytes());
    };
    blocks(s, F::BC7_UNORM_BLOCK, 16, one, |block, _| {
        let bits = u128::from_le_bytes(block.try_into().unwrap_or_default());
        of_bytes(std::array::from_fn(|at| {
            ((bits >> (7 + 14 * at) & 127) * 2 + 1) as f64
        }))
    })
}

/// ETC2 in its mode of two colours of 4 bits, and EAC, with any modifiers.
unsafe fn blocks_etc(s: &Scope<'_>) -> anyhow::Result<()> {
    use vk::Format as F;
    s.gpu_feature(|features| features.texture_compression_etc2)?;
    // Neither differential nor of other modes.
    let individual = |block: &mut [u8]| {
        let at = block.len() - 8;
        block[at + 3] &= !2;
    };
    let colour = |block: &[u8], at: usize| -> [f64; 3] {
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
        let (x, y) = (at % 4, at / 4);
        let second = if block[3] & 1 == 0 { x >= 2 } else { y >= 2 };
        let table = if second {
            block[3] >> 2 & 7
        } else {
            block[3] >> 5
        };
        // Columns first; high bits before low ones, the last byte has the first texels.
        let texel = 4 * x + y;
        let bit = |at: usize| block[at - texel / 8] >> (texel % 8) & 1;
        let [large, negative] = [bit(7), bit(5)];
        let modifier = MODIFIERS[usize::from(table)][usize::from(large)];
        let modifier = if negative == 1 { -modifier } else { modifier };
        std::array::from_fn(|c| {
            let base = if second { block[c] & 15 } else { block[c] >> 4 };
            f64::from((i32::from(base) * 17 + modifier).clamp(0, 255)) / 255.0
        })
    };
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
    let modifier = |block: &[u8], at: usize| {
        let texel = at % 4 * 4 + at / 4;
        let bits = block[2..8]
            .iter()
            .fold(0_u64, |all, byte| all << 8 | u64::from(*byte));
        let index = (bits >> (45 - 3 * texel) & 7) as usize;
        EAC[usize::from(block[1] & 15)][index]
    };
    let alpha = |block: &[u8], at: usize| {
        let value = i32::from(block[0]) + modifier(block, at) * i32::from(block[1] >> 4);
        f64::from(value.clamp(0, 255)) / 255.0
    };
    // 11 bits.
    let channel = |block: &[u8], at: usize| {
        let scale = match i32::from(block[1] >> 4) {
            0 => 1,
            multiplier => multiplier * 8,
        };
        let value = i32::from(block[0]) * 8 + 4 + modifier(block, at) * scale;
        f64::from(value.clamp(0, 2047)) / 2047.0
    };
    blocks(s, F::ETC2_R8G8B8_UNORM_BLOCK, 8, individual, |block, at| {
        let [r, g, b] = colour(block, at);
        [r, g, b, 1.0]
    })?;
    blocks(
        s,
        F::ETC2_R8G8B8A8_UNORM_BLOCK,
        16,
        individual,
        |block, at| {
            let [r, g, b] = colour(&block[8..], at);
            [r, g, b, alpha(block, at)]
        },
    )?;
    let any = |_: &mut [u8]| ();
    blocks(s, F::EAC_R11_UNORM_BLOCK, 8, any, |block, at| {
        [channel(block, at), 0.0, 0.0, 1.0]
    })?;
    blocks(s, F::EAC_R11G11_UNORM_BLOCK, 16, any, |block, at| {
        [channel(block, at), channel(&block[8..], at), 0.0, 1.0]
    })
}

/// ASTC with blocks of one colour.
unsafe fn blocks_astc(s: &Scope<'_>) -> anyhow::Result<()> {
    s.gpu_feature(|features| features.texture_compression_astc_ldr)?;
    let one = |block: &mut [u8]| {
        block[..8].copy_from_slice(&[0xfc, 0xfd, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]);
    };
    blocks(s, vk::Format::ASTC_4X4_UNORM_BLOCK, 16, one, |block, _| {
        std::array::from_fn(|at| f64::from(block[9 + 2 * at]) / 255.0)
    })
}
