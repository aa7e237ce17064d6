// SPDX-License-Identifier: MIT
//! Worked programs of the chapters, byte by byte, and that all CPU levels give the same bits.

use agx_hw::format::{Format, StoreFrom};
use agx_hw::layout::Position;
use agx_hw::sampler::{Filter, MipFilter, Sampler, Wrap};
use agx_hw::store::{self, Store};
use agx_hw::texture::{Dimension, Levels, Memory, Texture, Tiling};
use agx_sim::shader::Lanes;
use agx_sim::shader::strict::{Options, Strict};

use crate::bench::{Bench, Image, SAMPLERS, TEXELS, TEXTURES, Texels, hash};
use crate::support::{DATA, Rig, stopped};

/// A rig for hexadecimal code with its tables.
fn rig(hex: &str, textures: &[Texture], samplers: &[Sampler], texels: &Texels) -> Rig {
    let mut rig = Rig::hex(hex);
    rig.pointer(0, DATA + TEXTURES as u64);
    rig.pointer(1, DATA + SAMPLERS as u64);
    let mut slot = [0; 32];
    for (i, texture) in textures.iter().enumerate() {
        texture.pack(&mut slot).unwrap();
        rig.write_bytes(TEXTURES + 32 * i, &slot);
    }
    for (i, sampler) in samplers.iter().enumerate() {
        sampler.pack(&mut slot).unwrap();
        rig.write_bytes(SAMPLERS + 32 * i, &slot);
    }
    rig.more.push(texels.region());
    rig
}

/// The whole 3D store program of isa-4, 2.2: (1, 2, 3, 4) at the thread's position.
#[test]
fn volume_store_program() {
    let hex = "2c a0 10 06 1c a1 10 26 0c a2 10 46
        4c 80 23 3e 00 00 00 0c 40 60 5c 80 23 40 00 00 00 00 40 60
        6c 80 23 40 00 00 00 02 40 60
        02 05 2f 09 83 04 45 22 20 08 00 0c 00 00
        12 03 2f 09 83 02 45 42 20 08 00 0c 00 00
        22 01 2f 09 83 00 45 82 20 08 00 0c 00 00
        7c 80 23 40 00 00 00 04 40 60
        d7 80 54 00 00 40 00 00 00 08 00 00 88 3a 09 00
        0e 00 00 00";
    let format = Format::R32G32B32A32Sfloat;
    // A store record of several slices has them page-aligned.
    let texels = Texels::new(4 << 14);
    let mut rig = rig(hex, &[], &[], &texels);
    let dimension = store::Dimension::D3 { depth: 4 };
    let record = Store::tiled(format, StoreFrom::Shader, dimension, 20, 8, TEXELS).unwrap();
    let mut slot = [0; 32];
    record.pack(&mut slot).unwrap();
    rig.write_bytes(TEXTURES, &slot);
    // The bound of all coordinates.
    rig.uniforms.set(4, 0x7fff);
    rig.local = [32, 1, 1];
    rig.id = [0, 3, 2];
    rig.groups = [1, 8, 4];
    rig.strict = true;
    rig.run_observed(
        &mut Strict::new(Options::RECORDED),
        |_| {},
        |_, exit| stopped(exit),
    );
    let layout = record.layout().unwrap();
    for x in 0..20 {
        let at = Position {
            x,
            y: 3,
            layer: 2,
            ..Position::default()
        };
        let bytes = read(&texels, layout.offset(at));
        assert_eq!(bytes, [1.0, 2.0, 3.0, 4.0], "{x}");
    }
}

fn read(texels: &Texels, offset: Option<u64>) -> Vec<f32> {
    let bytes = texels.read(offset.unwrap(), 16);
    let (words, _) = bytes.as_chunks::<4>();
    words.iter().map(|word| f32::from_le_bytes(*word)).collect()
}

/// Two textures of one colour each, in one piece of memory.
fn two_colours() -> (Texels, [Texture; 2]) {
    let texels = Texels::new(0x8000);
    let texture = |address| Texture::linear(Format::R32Sfloat, 4, 4, address, 16);
    for i in 0..16u64 {
        texels.write(4 * i, &0.25f32.to_le_bytes());
        texels.write(0x4000 + 4 * i, &0.75f32.to_le_bytes());
    }
    (texels, [texture(TEXELS), texture(TEXELS + 0x4000)])
}

/// The leaf pair of isa-4, 1.3: a texture chosen by each lane.
#[test]
fn branch_tree_of_two_textures() {
    let hex = "1b 83 27 83 02 28 00 00 00 00 1c 00
        0a 01 23 03 06 00 07 c0 00 00 0f 05 54 01
        25 80 0c 18 30 00 00 01 00 00 10 00 01 00
        4b 89 27 89 02 28 00 00 00 00 0f 04 04 19
        25 80 0c 18 30 00 00 01 80 00 10 00 01 00
        4b 89 27 89 02 28 00 00 00 00 0f 06 04 01 00 00
        0e 00 00 00";
    let (texels, textures) = two_colours();
    let rig = rig(hex, &textures, &[Sampler::default()], &texels);
    rig.run(
        |wave| wave.gprs[0] = Lanes::from_fn(|lane| lane as u32 % 3 / 2),
        |wave, exit| {
            stopped(exit);
            for lane in 0..32 {
                let want = if lane % 3 == 2 { 0.75 } else { 0.25f32 };
                let have = [4, 5, 6, 7].map(|r| f32::from_bits(wave.gprs[r].0[lane]));
                assert_eq!(have, [want, 0.0, 0.0, 1.0], "{lane}");
            }
        },
    );
}

/// Two bundles that share a block (isa-3, 2.11): the first keeps it.
#[test]
fn two_samples_of_one_block() {
    let hex = "05 80 0c 18 b0 24 00 00 00 00 10 00 01 00
        25 80 0c b8 30 24 00 00 81 00 10 00 01 00
        0e 00 00 00";
    let (texels, textures) = two_colours();
    let rig = rig(hex, &textures, &[Sampler::default()], &texels);
    rig.run(
        |_| {},
        |wave, exit| {
            stopped(exit);
            assert_eq!(wave.gprs[0], Lanes::splat(0.25f32.to_bits()));
            assert_eq!(wave.gprs[4], Lanes::splat(0.75f32.to_bits()));
        },
    );
}

/// A store and a load of one texel: strict mode wants a texture fence between them.
#[test]
fn stores_are_fenced() {
    let texels = Texels::new(0x4000);
    let texture = Texture::linear(Format::R32Uint, 32, 4, TEXELS, 128);
    let from = StoreFrom::Shader;
    let store = Store::linear(Format::R32Uint, from, 32, 4, TEXELS, 128).unwrap();
    // Bundles read p0.. late, so the fetch has a block of its own.
    let program = |fence: &str, row: u32| {
        let mut text = String::new();
        for (word, register) in [(0, 10), (1, 11), (2, 12), (8, 10), (9, 13), (11, 11)] {
            text += &format!("or.10 p{word}, r{register}, r{register}, slot=1\n");
        }
        text += &format!(
            "or.10 r90, r90, r90, wait=1\nimage_store.2d p0, img1\n{fence}
            texture.2d_fetch.load r0, p8, tex0, samp0, sel=0, slot=1
            or.10 r90, r90, r90, wait=1\n"
        );
        let mut rig = Rig::new(&text);
        rig.pointer(0, DATA + TEXTURES as u64);
        rig.pointer(1, DATA + SAMPLERS as u64);
        let mut slot = [0; 32];
        texture.pack(&mut slot).unwrap();
        rig.write_bytes(TEXTURES, &slot);
        store.pack(&mut slot).unwrap();
        rig.write_bytes(TEXTURES + 32, &slot);
        Sampler::fetch().pack(&mut slot).unwrap();
        rig.write_bytes(SAMPLERS, &slot);
        rig.more.push(texels.region());
        rig.strict = true;
        rig.run(
            |wave| {
                wave.gprs[10] = Lanes::from_fn(|lane| lane as u32);
                wave.gprs[11] = Lanes::ZERO;
                wave.gprs[12] = Lanes::splat(77);
                wave.gprs[13] = Lanes::splat(row);
            },
            |wave, exit| match exit {
                agx_sim::shader::Exit::Stop => Ok(wave.gprs[0].0[9]),
                agx_sim::shader::Exit::Fault(fault) => Err(fault.kind.to_string()),
                exit => panic!("{exit:?}"),
            },
        )
    };
    let fence = ".bytes 07 14 54 50 06 00\n.bytes 07 04 54 d0 06 00";
    assert_eq!(program(fence, 0), Ok(77));
    // Another row needs none.
    assert_eq!(program("", 1), Ok(0));
    let why = program("", 0).unwrap_err();
    assert!(why.contains("no texture fence"), "{why}");
}

/// A sum over results of all kinds of filters, formats and modes.
fn results() -> Vec<String> {
    let mut lines = Vec::new();
    for format in [
        Format::R8G8B8A8Srgb,
        Format::R16G16Sfloat,
        Format::A2B10G10R10UnormPack32,
        Format::R32G32B32A32Sfloat,
        Format::E5B9G9R9UfloatPack32,
        Format::Bc7UnormBlock,
        Format::R16Sint,
    ] {
        let dimension = Dimension::D2;
        let mut texture = Texture::tiled(format, dimension, 60, 40, TEXELS);
        texture.memory = Memory::Tiled(Tiling {
            dimension,
            levels: Levels::View { first: 0, last: 5 },
            page_aligned: false,
            compression: None,
        });
        let image = Image::new(texture);
        for offset in (0..image.layout.size()).step_by(8) {
            // No NaN and no infinities in halves and singles.
            let word = hash(offset) & 0x3fff_3fff_3fff_3fff;
            image.texels.write(offset, &word.to_le_bytes());
        }
        for filter in [Filter::Nearest, Filter::Linear] {
            let sampler = Sampler {
                mag: filter,
                min: filter,
                mip: MipFilter::Linear,
                wrap: [Wrap::Repeat, Wrap::MirroredRepeat, Wrap::Repeat],
                anisotropy: agx_hw::sampler::Anisotropy::X8,
                ..Sampler::default()
            };
            for (mode, words) in [("2d_lod", 4), ("2d_grad", 8)] {
                let text = format!("texture.{mode}.sample r0:r3, p0, tex0, samp0");
                let bench = Bench::new(&text, words)
                    .map(&image.texels)
                    .texture(0, &image.texture)
                    .sampler(0, &sampler);
                let got = bench.try_run(false, |word, lane| {
                    let n = hash((lane * 10 + word) as u64) as u32 >> 8;
                    match word {
                        3 => (n & 0x1ff) << 16,
                        _ => (n as f32 / 1e7 - 0.7).to_bits(),
                    }
                });
                let mut sum = 0u64;
                for register in got.unwrap() {
                    for word in register.0 {
                        sum = hash(sum ^ u64::from(word));
                    }
                }
                lines.push(format!("{format:?} {filter:?} {mode} {sum:016x}"));
            }
        }
    }
    lines
}

/// The same bits whatever the host can do.
#[test]
fn levels_agree() {
    const CHILD: &str = "CORTLAND_TEST_TEXTURE_LEVELS";
    if std::env::var_os(CHILD).is_some() {
        for line in results() {
            println!("sum {line}");
        }
        return;
    }
    let child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "examples::levels_agree", "--nocapture"])
        .env(CHILD, "1")
        .env("CORTLAND_SIM_LEVEL", "portable")
        .output()
        .unwrap();
    assert!(child.status.success(), "{child:?}");
    let text = String::from_utf8(child.stdout).unwrap();
    let portable: Vec<&str> = text
        .lines()
        .filter_map(|l| l.strip_prefix("sum "))
        .collect();
    let best = results();
    assert_eq!(portable, best);
    assert_eq!(best.len(), 28);
}
