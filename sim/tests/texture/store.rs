// SPDX-License-Identifier: MIT
//! Image stores: what lies in memory afterwards, and that fetches read it back (isa-4, 2.2).

use agx_hw::format::{Channels, Format, Numeric, StoreFrom};
use agx_hw::layout::Position;
use agx_hw::sampler::Sampler;
use agx_hw::store::{self, Store};
use agx_hw::texture::{Dimension, Levels, Memory, Texture, Tiling};
use proptest::prelude::*;

use crate::bench::{Bench, Image, TEXELS, hash};

/// Words of the block of a store with two coordinates.
fn block(x: u32, y: u32, c: [u32; 4]) -> [u32; 8] {
    [x, y, c[0], c[1], 0, 0, c[2], c[3]]
}

fn storable() -> Vec<Format> {
    let colour = |f: &&Format| f.store_swizzle(StoreFrom::Shader).is_some();
    Format::ALL.iter().filter(colour).copied().collect()
}

/// Stores random colours to random places and fetches them again, in every format.
#[test]
fn round_trips() {
    for format in storable() {
        let (width, height) = (70, 33);
        let mut texture = Texture::tiled(format, Dimension::D2, width, height, TEXELS);
        // Stores encode nothing (images, 11).
        texture.srgb = false;
        let image = Image::new(texture);
        let record = Store::tiled(
            format,
            StoreFrom::Shader,
            store::Dimension::D2,
            width,
            height,
            TEXELS,
        );
        let mut writer = Bench::new("image_store.2d p0, img0", 8)
            .map(&image.texels)
            .store(0, &record.unwrap());
        let mut reader = Bench::new("texture.2d_fetch.load r0:r3, p0, tex0, samp0", 4)
            .map(&image.texels)
            .texture(0, &image.texture)
            .sampler(0, &Sampler::fetch());
        let place = |lane: usize| {
            let n = hash(lane as u64 + 7);
            // Distinct rows, so that no lane overwrites another's.
            ((n % 70) as u32, lane as u32)
        };
        let colour = |lane: usize| -> [u32; 4] {
            std::array::from_fn(|c| {
                let n = hash((lane * 4 + c) as u64) as u32;
                match format.encoding().numeric() {
                    Numeric::Uint => n >> (n % 32),
                    Numeric::Sint => (n as i32 >> (n >> 8 & 31)) as u32,
                    Numeric::Snorm => ((n as i32 as f32) / 2.0e9).to_bits(),
                    _ => ((n >> 8) as f32 / 16_000_000.0).to_bits(),
                }
            })
        };
        writer.run(|word, lane| {
            let (x, y) = place(lane);
            block(x, y, colour(lane)).get(word).copied().unwrap_or(0)
        });
        let got = reader.run(|word, lane| {
            let (x, y) = place(lane);
            [x, y, 0, 0][word.min(3)]
        });
        // Storing what was read changes nothing more.
        let bytes = |lane: usize| {
            let (x, y) = place(lane);
            let at = Position {
                x,
                y,
                ..Position::default()
            };
            image.get(at)
        };
        let first: Vec<_> = (0..32).map(bytes).collect();
        writer.run(|word, lane| {
            let (x, y) = place(lane);
            let c = [0, 1, 2, 3].map(|c| got[c].0[lane]);
            block(x, y, c).get(word).copied().unwrap_or(0)
        });
        let second: Vec<_> = (0..32).map(bytes).collect();
        assert_eq!(first, second, "{format:?}");
        assert!(
            first.iter().any(|b| b.iter().any(|b| *b != 0)),
            "{format:?}"
        );
        // And what was read is near what was stored, within the format's steps.
        let near = |c: usize, lane: usize| {
            let (want, have) = (colour(lane)[c], got[c].0[lane]);
            let swizzle = format.swizzle().0[c].code();
            if swizzle >= 4 {
                return true;
            }
            match format.encoding().numeric() {
                // Saturation is looked at in `saturates`.
                Numeric::Uint | Numeric::Sint => true,
                _ => {
                    let (want, have) = (f32::from_bits(want), f32::from_bits(have));
                    let float = format.encoding().numeric() == Numeric::Float;
                    let top = if float { 2.0 } else { 1.0 };
                    let step = match format {
                        Format::E5B9G9R9UfloatPack32 | Format::B10G11R11UfloatPack32 => 1.0 / 32.0,
                        f if f.element().bytes == 2 && f.encoding().channels().code() >= 0xb => {
                            0.51
                        }
                        f if c == 3 && f.encoding().channels() == Channels::R10G10B10A2 => 0.34,
                        _ => 1.0 / 63.0,
                    };
                    (want.clamp(-1.0, top) - have).abs() <= step * want.abs().max(1.0)
                }
            }
        };
        for lane in 0..32 {
            for c in 0..4 {
                assert!(near(c, lane), "{format:?} component {c}");
            }
        }
    }
}

/// Integers above the maximum become the maximum (isa-4, 2.2; HW).
#[test]
fn saturates() {
    for (format, stored, memory) in [
        (Format::R8Uint, 0x00c0_ffee_u32, vec![0xff]),
        (Format::R16Uint, 0x00c0_ffee, vec![0xff, 0xff]),
        (Format::R8Sint, 0x00c0_ffee, vec![0x7f]),
        (Format::R8Sint, -1000i32 as u32, vec![0x80]),
        (Format::R16Sint, -100_000i32 as u32, vec![0, 0x80]),
        (Format::R8Unorm, 7.0f32.to_bits(), vec![0xff]),
        (Format::R8Unorm, f32::NAN.to_bits(), vec![0]),
        (Format::R8Snorm, (-3.0f32).to_bits(), vec![0x81]),
        (Format::R8Unorm, 0.5f32.to_bits(), vec![128]),
        (Format::R8Unorm, (0.4999f32 / 255.0).to_bits(), vec![0]),
        (Format::R8Unorm, (2.5f32 / 255.0 + 1e-7).to_bits(), vec![3]),
        (Format::R16Sfloat, 1e9f32.to_bits(), vec![0, 0x7c]),
    ] {
        let texture = Texture::tiled(format, Dimension::D2, 4, 4, TEXELS);
        let image = Image::new(texture);
        let from = StoreFrom::Shader;
        let record = Store::tiled(format, from, store::Dimension::D2, 4, 4, TEXELS).unwrap();
        let mut bench = Bench::new("image_store.2d p0, img5", 8)
            .map(&image.texels)
            .store(5, &record);
        bench.run(|word, _| block(1, 2, [stored; 4]).get(word).copied().unwrap_or(0));
        let at = Position {
            x: 1,
            y: 2,
            ..Position::default()
        };
        assert_eq!(image.get(at), memory, "{format:?} {stored:#x}");
    }
}

/// Levels, slices and rows of linear images; what is outside changes nothing.
#[test]
fn places() {
    let dimension = Dimension::D3 { depth: 6 };
    let mut texture = Texture::tiled(Format::R32Uint, dimension, 40, 24, TEXELS);
    texture.memory = Memory::Tiled(Tiling {
        dimension,
        levels: Levels::View { first: 0, last: 5 },
        page_aligned: true,
        compression: None,
    });
    let image = Image::new(texture);
    let mut record = Store::tiled(
        Format::R32Uint,
        StoreFrom::Shader,
        store::Dimension::D3 { depth: 6 },
        40,
        24,
        TEXELS,
    )
    .unwrap();
    record.memory = store::Memory::Tiled {
        dimension: store::Dimension::D3 { depth: 6 },
        levels: store::Levels::Level { level: 1, last: 5 },
    };
    let mut bench = Bench::new("image_store.3d p0, img0", 8)
        .map(&image.texels)
        .store(0, &record);
    let place = |lane: usize| [lane as u32 % 22, lane as u32 % 14, lane as u32 % 5];
    bench.run(|word, lane| {
        let [x, y, z] = place(lane);
        let block = [x, y, z, 0, 0x100 + lane as u32, 7, 8, 9];
        block.get(word).copied().unwrap_or(0)
    });
    let mut written = 0;
    for offset in (0..image.layout.size()).step_by(4) {
        let word = u32::from_le_bytes(image.texels.read(offset, 4).try_into().unwrap());
        if word == 0 {
            continue;
        }
        written += 1;
        let at = image.layout.locate(offset).unwrap();
        assert_eq!(at.level, 1);
        let [x, y, z] = place(word as usize - 0x100);
        assert_eq!([at.x, at.y, at.layer], [x, y, z]);
    }
    let inside = |lane: &usize| {
        let [x, y, z] = place(*lane);
        x < 20 && y < 12 && z < 3
    };
    let distinct: std::collections::BTreeSet<_> = (0..32).filter(inside).map(place).collect();
    assert_eq!(written, distinct.len());

    let linear = Texture::linear(Format::R8G8B8A8Unorm, 30, 10, TEXELS, 128);
    let image = Image::new(linear);
    let from = StoreFrom::Shader;
    let record = Store::linear(Format::R8G8B8A8Unorm, from, 30, 10, TEXELS, 128).unwrap();
    let mut bench = Bench::new("image_store.2d p0, img0", 8)
        .map(&image.texels)
        .store(0, &record);
    let one = 1.0f32.to_bits();
    bench.run(|word, lane| {
        let block = block(lane as u32, 9, [one, 0, one, 0]);
        block.get(word).copied().unwrap_or(0)
    });
    assert_eq!(image.texels.read(9 * 128 + 29 * 4, 4), [255, 0, 255, 0]);
    assert_eq!(image.texels.read(9 * 128 + 30 * 4, 8), [0; 8]);
}

/// What strict mode says, and empty entries.
#[test]
fn mistakes() {
    let record = |dimension| {
        let from = StoreFrom::Shader;
        Store::tiled(Format::R8Unorm, from, dimension, 64, 64, TEXELS).unwrap()
    };
    let bench = |dimension, text| {
        let mut bench = Bench::new(text, 8).store(0, &record(dimension));
        bench.rig.strict = true;
        bench
    };
    let text = "image_store.2d p0, img0";
    let far = bench(store::Dimension::D2, text).try_run(false, |_, _| 0x1_0000);
    assert!(far.unwrap_err().contains("not clamped"));
    let layers = store::Dimension::D2Array { layers: 2 };
    let layered = bench(layers, text).try_run(false, |_, _| 0);
    assert!(layered.unwrap_err().contains("several layers"));
    let there = bench(store::Dimension::D2, text).try_run(false, |_, _| 0);
    assert!(there.unwrap_err().contains("image store of 1 bytes"));
    let slices = store::Dimension::D3 { depth: 2 };
    let volume = bench(slices, text).try_run(false, |_, _| 0);
    assert!(volume.unwrap_err().contains("other coordinates"));
    let empty = Bench::new("image_store.2d p0, img9", 8);
    empty.try_run(false, |_, _| 0).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Any 32 bytes as a record: faults or works, never panics.
    #[test]
    fn any_store_record(bytes in any::<[u8; 32]>(), keep in 0u8..4, word in any::<u32>()) {
        let mut bytes = bytes;
        // Mostly the head of a legal record, so that more than the first check is reached.
        if keep > 0 {
            bytes[0] = 0x22;
            bytes[1] = 0x0a;
            bytes[7] &= 0x05;
            bytes[12] = 0;
            bytes[13] = 0;
        }
        let bench = Bench::new("image_store.2d p0, img0", 8);
        bench.rig.write_bytes(0, &bytes);
        let _ = bench.try_run(false, |_, lane| word.rotate_left(lane as u32));
    }
}
