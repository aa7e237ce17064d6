// SPDX-License-Identifier: MIT
//! Fetches: every shape of texture, every level, what is outside (isa-3, 2.5; isa-4, 2.1).

use agx_hw::format::Format;
use agx_hw::layout::Position;
use agx_hw::sampler::Sampler;
use agx_hw::texture::{Dimension, Levels, Memory, Multisample, Texture, Tiling};
use agx_sim::shader::Lanes;

use crate::bench::{Bench, Image, TEXELS, hash};

/// What stands in a texel.
fn mark(at: Position) -> u32 {
    let n = at.x as u64
        | (at.y as u64) << 16
        | (at.layer as u64) << 32
        | (at.sample as u64) << 48
        | (at.level as u64) << 52;
    hash(n) as u32 | 1
}

fn image(dimension: Dimension, width: u32, height: u32, levels: Levels) -> Image {
    let mut texture = Texture::tiled(Format::R32Uint, dimension, width, height, TEXELS);
    texture.memory = Memory::Tiled(Tiling {
        dimension,
        levels,
        page_aligned: false,
        compression: None,
    });
    let image = Image::new(texture);
    // Every element of the allocation that is a texel.
    for offset in (0..image.layout.size()).step_by(4) {
        if let Some(at) = image.layout.locate(offset) {
            image.put_words(at, &[mark(at)]);
        }
    }
    image
}

/// A case of a fetch: x, y, layer or z, level (of the view), sample, and where that is in the image.
type Case = (u32, u32, u32, u32, u32);

/// Fetches through `mode` and compares with what was put there.
fn check(mode: &str, words: usize, image: &Image, first: u8, pack: impl Fn(Case) -> [u32; 4]) {
    let text = format!("texture.{mode}.load r0:r3, p0, tex2, samp3");
    let mut bench = Bench::new(&text, words)
        .map(&image.texels)
        .texture(2, &image.texture)
        .sampler(3, &Sampler::fetch());
    let case = |round: u64, lane: usize| -> Case {
        let n = hash(round * 32 + lane as u64);
        let level = (n % 5) as u32;
        let pick = |shift: u32, size: u32| {
            let r = (n >> shift) as u32 & 0xffff;
            match r % 9 {
                0 => size,
                1 => u32::MAX - (r >> 8) % 3,
                2 => 0,
                3 => size - 1,
                _ => r % size,
            }
        };
        let size = |axis: u32| (axis >> level).max(1);
        let (width, height) = (size(image.texture.width), size(image.texture.height));
        let sample = (n >> 60) as u32 % 4;
        (
            pick(8, width),
            pick(24, height),
            (n >> 40) as u32 % 7,
            level,
            sample,
        )
    };
    let mut hits = 0;
    for round in 0..40 {
        let got = bench.run(|word, lane| pack(case(round, lane))[word.min(3)]);
        for lane in 0..32 {
            let (x, y, layer, level, sample) = case(round, lane);
            // What the words do not hold is 0.
            let layered = mode.contains("array") || mode.contains("3d");
            let layer = if layered { layer } else { 0 };
            let multisample = mode.contains("_ms_");
            let level = if multisample { 0 } else { level };
            let sample = if multisample { sample } else { 0 };
            let at = Position {
                x,
                y,
                layer,
                sample: sample as u8,
                level: first + level as u8,
            };
            let visible = match image.texture.memory {
                Memory::Tiled(Tiling {
                    levels: Levels::View { first, last },
                    ..
                }) => level <= u32::from(last - first),
                _ => level == 0,
            };
            let inside = visible && image.layout.offset(at).is_some();
            hits += u32::from(inside);
            let want = if inside { mark(at) } else { 0 };
            let alpha = u32::from(inside);
            let components = [0, 1, 2, 3].map(|c| got[c].0[lane]);
            assert_eq!(components, [want, 0, 0, alpha], "{mode}: {at:?}");
        }
    }
    assert!(hits > 50, "{mode}: {hits}");
}

#[test]
fn two_dimensions() {
    let levels = Levels::View { first: 1, last: 4 };
    let image = image(Dimension::D2, 300, 200, levels);
    check("2d_fetch", 4, &image, 1, |(x, y, _, level, _)| {
        [x, y, 0, level << 22]
    })
}

#[test]
fn one_level() {
    let mut i = image(Dimension::D2, 70, 70, Levels::Single);
    check("2d_fetch", 4, &i, 0, |(x, y, _, level, _)| {
        [x, y, 0, level << 22]
    });
    i = image(Dimension::D1, 1000, 1, Levels::Single);
    check("2d_fetch", 4, &i, 0, |(x, y, _, level, _)| {
        [x, y, 0, level << 22]
    });
}

#[test]
fn layers() {
    let levels = Levels::View { first: 0, last: 3 };
    let image = image(Dimension::D2Array { layers: 5 }, 65, 33, levels);
    check("2d_array_fetch", 4, &image, 0, |(x, y, layer, level, _)| {
        [x, y, 0, level << 22 | layer]
    });
}

#[test]
fn slices() {
    let levels = Levels::View { first: 1, last: 5 };
    let image = image(Dimension::D3 { depth: 12 }, 40, 24, levels);
    check("3d_fetch", 4, &image, 1, |(x, y, z, level, _)| {
        [x, y, z, level << 22]
    });
}

#[test]
fn faces() {
    let levels = Levels::View { first: 0, last: 5 };
    let i = image(Dimension::Cube, 32, 32, levels);
    let pack = |(x, y, layer, level, _): Case| [x, y, 0, level << 22 | layer];
    check("2d_array_fetch", 4, &i, 0, pack);
    let i = image(Dimension::CubeArray { cubes: 2 }, 16, 16, Levels::Single);
    check("2d_array_fetch", 4, &i, 0, pack);
}

#[test]
fn samples() {
    for samples in [Multisample::X2, Multisample::X4] {
        let i = image(Dimension::D2Multisample { samples }, 50, 40, Levels::Single);
        check("2d_ms_fetch", 3, &i, 0, |(x, y, layer, level, sample)| {
            let (_, _) = (layer, level);
            [x, y, sample << 12, 0]
        });
    }
}

#[test]
fn linear_rows() {
    let texture = Texture::linear(Format::R32Uint, 60, 20, TEXELS, 256);
    let image = Image::new(texture);
    for y in 0..20 {
        for x in 0..60 {
            let at = Position {
                x,
                y,
                ..Position::default()
            };
            image.put_words(at, &[mark(at)]);
        }
    }
    check("2d_fetch", 4, &image, 0, |(x, y, _, level, _)| {
        [x, y, 0, level << 22]
    });
}

/// Immediate levels, selected components, partial masks, two bundles that share a block.
#[test]
fn selectors_and_masks() {
    let levels = Levels::View { first: 0, last: 3 };
    let image = image(Dimension::D2, 64, 64, levels);
    let level_1 = Position {
        x: 3,
        y: 5,
        level: 1,
        ..Position::default()
    };
    let text = "texture.2d_fetch_imm.load r0:r1, p0, tex0, samp0, sel=4, lod=8";
    let mut bench = Bench::new(text, 2)
        .map(&image.texels)
        .texture(0, &image.texture)
        .sampler(0, &Sampler::fetch());
    let got = bench.run(|word, _| [3, 5, 0, 0][word.min(3)]);
    assert_eq!(got[0], Lanes::splat(mark(level_1)));
    assert_eq!(got[1], Lanes::splat(1));
    assert_eq!(got[2], Lanes::splat(0xdead_beef));
    bench.rig.active = 0x00ff_0f01;
    // The wait idiom wants no lanes missing at the end in strict mode.
    let got = bench
        .try_run(false, |word, _| [3, 5, 0, 0][word.min(3)])
        .unwrap();
    for lane in 0..32 {
        let want = match bench.rig.active >> lane & 1 {
            1 => mark(level_1),
            _ => 0xdead_beef,
        };
        assert_eq!(got[0].0[lane], want);
    }
}

/// Entries that nobody wrote, and images that are not mapped.
#[test]
fn nothing_there() {
    let bench = Bench::new("texture.2d_fetch.load r0:r3, p0, tex100, samp0", 4);
    assert_eq!(bench.try_run(false, |_, _| 0).unwrap(), [Lanes::ZERO; 4]);
    let texture = Texture::tiled(Format::R32Uint, Dimension::D2, 64, 64, TEXELS);
    let mut bench = Bench::new("texture.2d_fetch.load r0:r3, p0, tex1, samp0", 4)
        .texture(1, &texture)
        .sampler(0, &Sampler::fetch());
    let got = bench.try_run(false, |_, _| 0).unwrap();
    assert_eq!(got.map(|c| c.0[0]), [0, 0, 0, 1]);
    bench.rig.strict = true;
    let why = bench.try_run(false, |_, _| 0).unwrap_err();
    assert!(why.contains("texture read of 4 bytes"), "{why}");
}
