// SPDX-License-Identifier: MIT
//! Samples, compares, gathers and level queries against the model in double precision.

use agx_hw::format::Format;
use agx_hw::layout::Position;
use agx_hw::sampler::{Anisotropy, Border, Compare, Filter, LodRange, MipFilter, Sampler, Wrap};
use agx_hw::texture::{Dimension, Levels, Memory, Texture, Tiling};
use agx_sim::memory::Tlb;
use agx_sim::shader::Lanes;
use agx_sim::texture::filter::{self, Inputs};
use agx_sim::texture::lod::WORDS;
use agx_sim::texture::record::{self, Record};
use agx_sim::texture::request::{Coordinates, Detail, Kind, Request};
use proptest::prelude::*;

use crate::bench::{Bench, Image, TEXELS, hash};
use crate::model::{self, Content, Query};

/// A float image with four random components in 0..=1, and what the model sees of it.
struct Picture {
    image: Image,
    first: u8,
    last: u8,
    depth: u32,
    volume: bool,
}

/// A component of a texel: a multiple of 1/8.
fn component(at: Position, c: usize) -> f32 {
    let n = hash(
        u64::from(at.x)
            | u64::from(at.y) << 16
            | u64::from(at.layer) << 32
            | u64::from(at.level) << 48
            | (c as u64) << 56,
    );
    (n % 9) as f32 / 8.0
}

impl Picture {
    fn new(dimension: Dimension, width: u32, height: u32, levels: Levels) -> Picture {
        let format = Format::R32G32B32A32Sfloat;
        let mut texture = Texture::tiled(format, dimension, width, height, TEXELS);
        texture.memory = Memory::Tiled(Tiling {
            dimension,
            levels,
            page_aligned: false,
            compression: None,
        });
        let image = Image::new(texture);
        for offset in (0..image.layout.size()).step_by(16) {
            if let Some(at) = image.layout.locate(offset) {
                image.put_words(at, &[0, 1, 2, 3].map(|c| component(at, c).to_bits()));
            }
        }
        let (first, last) = match levels {
            Levels::Single => (0, 0),
            Levels::View { first, last } => (first, last),
        };
        let (depth, volume) = match dimension {
            Dimension::D3 { depth } => (depth, true),
            Dimension::D2Array { layers } => (layers, false),
            _ => (1, false),
        };
        Picture {
            image,
            first,
            last,
            depth,
            volume,
        }
    }

    fn bench(&self, text: &str, words: usize, sampler: &Sampler) -> Bench {
        Bench::new(text, words)
            .map(&self.image.texels)
            .texture(0, &self.image.texture)
            .sampler(0, sampler)
    }
}

impl Content for Picture {
    fn size(&self, level: u32) -> [i64; 3] {
        let level = level + u32::from(self.first);
        let at = |n: u32| i64::from((n >> level).max(1));
        let texture = &self.image.texture;
        let depth = if self.volume {
            at(self.depth)
        } else {
            self.depth.into()
        };
        [at(texture.width), at(texture.height), depth]
    }

    fn last(&self) -> u32 {
        u32::from(self.last - self.first)
    }

    fn texel(&self, level: u32, x: i64, y: i64, layer: i64) -> [f64; 4] {
        let at = Position {
            x: x as u32,
            y: y as u32,
            layer: layer as u32,
            sample: 0,
            level: level as u8 + self.first,
        };
        assert!(self.image.layout.offset(at).is_some(), "{at:?}");
        [0, 1, 2, 3].map(|c| f64::from(component(at, c)))
    }
}

/// Is a nearest filter's texel a matter of rounding?
fn ambiguous(picture: &Picture, query: &Query) -> bool {
    (0..=picture.last()).any(|level| {
        let size = picture.size(level);
        let axes = if query.volume { 3 } else { 2 };
        (0..axes).any(|axis| {
            let u = query.at[axis] * size[axis] as f64;
            (u - u.round()).abs() < 1e-3
        })
    })
}

/// A random number in `low..high` on a grid that fp32 holds exactly.
fn random(seed: u64, low: f32, high: f32) -> f32 {
    low + (hash(seed) % 4096) as f32 / 4096.0 * (high - low)
}

/// Weights of 8 bits on three axes.
const TOLERANCE: f64 = 3.0 / 512.0 + 1e-4;

fn samplers() -> Vec<Sampler> {
    let wraps = [
        Wrap::ClampToEdge,
        Wrap::Repeat,
        Wrap::MirroredRepeat,
        Wrap::ClampToBorder,
        Wrap::MirrorClampToEdge,
    ];
    let mut out = Vec::new();
    for (i, wrap) in wraps.into_iter().enumerate() {
        for (j, (mag, min)) in [
            (Filter::Nearest, Filter::Nearest),
            (Filter::Linear, Filter::Linear),
            (Filter::Linear, Filter::Nearest),
        ]
        .into_iter()
        .enumerate()
        {
            let mip = [MipFilter::None, MipFilter::Nearest, MipFilter::Linear][(i + j) % 3];
            out.push(Sampler {
                mag,
                min,
                mip,
                wrap: [wrap, wraps[(i + 1) % 5], wraps[(i + 2) % 5]],
                border: Border::ALL[(i + j) % 3],
                lod: if j == 2 {
                    LodRange::new(0.5, 2.25)
                } else {
                    LodRange::FULL
                },
                ..Sampler::default()
            });
        }
    }
    out
}

/// Runs a mode with an explicit level for all samplers.
fn explicit(mode: &str, picture: &Picture, cube: bool) {
    let text = format!("texture.{mode}.sample r0:r3, p0, tex0, samp0");
    let mut compared = 0;
    for (number, sampler) in samplers().iter().enumerate() {
        let mut bench = picture.bench(&text, 4, sampler);
        for round in 0..6 {
            let query = |lane: usize| {
                let seed = (number * 1000 + round * 32 + lane) as u64 * 8;
                let spread = if cube { 0.5 } else { 2.0 };
                let near = |axis: u64| random(seed + axis, 0.5 - spread, 0.5 + spread);
                Query {
                    at: [0, 1, 2].map(|axis| f64::from(near(axis))),
                    layer: (hash(seed + 3) % u64::from(picture.depth.max(if cube { 6 } else { 1 })))
                        as i64,
                    volume: picture.volume,
                    cube,
                    lambda: f64::from((random(seed + 4, -1.0, 5.0) * 64.0).floor() / 64.0),
                    ..Query::default()
                }
            };
            let got = bench.run(|word, lane| {
                let query = query(lane);
                match word {
                    0 | 1 => (query.at[word] as f32).to_bits(),
                    2 => (query.at[2] as f32).to_bits(),
                    3 => {
                        let lod = ((query.lambda * 64.0) as i32 as u32 & 0xfff) << 16;
                        lod | if picture.volume {
                            0
                        } else {
                            query.layer as u32
                        }
                    }
                    _ => 0,
                }
            });
            for lane in 0..32 {
                let query = query(lane);
                let nearest = sampler.mag == Filter::Nearest || sampler.min == Filter::Nearest;
                if nearest && ambiguous(picture, &query) {
                    continue;
                }
                let mut query = query;
                if picture.volume {
                    query.layer = 0;
                }
                compared += 1;
                let want = model::sample(picture, sampler, &query);
                let have = [0, 1, 2, 3].map(|c| f64::from(f32::from_bits(got[c].0[lane])));
                for c in 0..4 {
                    assert!(
                        (want[c] - have[c]).abs() <= TOLERANCE,
                        "{mode} {sampler:?} {query:?}: {have:?}, not {want:?}"
                    );
                }
            }
        }
    }
    assert!(compared > 1500, "{compared}");
}

#[test]
fn two_dimensions() {
    let levels = Levels::View { first: 1, last: 4 };
    explicit(
        "2d_lod",
        &Picture::new(Dimension::D2, 50, 37, levels),
        false,
    );
    explicit(
        "2d_lod",
        &Picture::new(Dimension::D2, 32, 8, Levels::Single),
        false,
    );
}

#[test]
fn layers() {
    let levels = Levels::View { first: 0, last: 4 };
    let layers = Dimension::D2Array { layers: 4 };
    explicit("2d_array_lod", &Picture::new(layers, 24, 16, levels), false);
}

#[test]
fn volumes() {
    let levels = Levels::View { first: 0, last: 4 };
    let picture = Picture::new(Dimension::D3 { depth: 9 }, 16, 12, levels);
    explicit("3d_lod", &picture, false);
}

#[test]
fn cubes() {
    let levels = Levels::View { first: 0, last: 3 };
    explicit(
        "cube_lod",
        &Picture::new(Dimension::Cube, 8, 8, levels),
        true,
    );
    explicit(
        "cube_lod",
        &Picture::new(Dimension::Cube, 1, 1, Levels::Single),
        true,
    );
}

/// On a grid of 1/256 texel and in powers of two the weights are exact, and so is the result.
#[test]
fn exact_weights() {
    let picture = Picture::new(Dimension::D2, 16, 16, Levels::Single);
    let sampler = Sampler {
        mag: Filter::Linear,
        min: Filter::Linear,
        wrap: [Wrap::Repeat; 3],
        ..Sampler::default()
    };
    let mut bench = picture.bench("texture.2d.sample r0:r3, p0, tex0, samp0", 2, &sampler);
    for round in 0..20 {
        let at = |axis: usize, lane: usize| {
            (hash((round * 64 + lane * 2 + axis) as u64) % 8192) as f32 / 4096.0 - 0.5
        };
        let got = bench.run(|word, lane| at(word & 1, lane).to_bits());
        for lane in 0..32 {
            let query = Query {
                at: [at(0, lane).into(), at(1, lane).into(), 0.0],
                ..Query::default()
            };
            let want = model::sample(&picture, &sampler, &query);
            for c in 0..4 {
                let have = f64::from(f32::from_bits(got[c].0[lane]));
                assert!((want[c] - have).abs() < 1e-6, "{have} {}", want[c]);
            }
        }
    }
}

/// Layers past the last one are the last one in samples (isa-4, 2.1; HW).
#[test]
fn layers_clamp() {
    let layers = Dimension::D2Array { layers: 3 };
    let picture = Picture::new(layers, 8, 8, Levels::Single);
    let text = "texture.2d_array_lod.sample r0:r3, p0, tex0, samp0";
    let mut bench = picture.bench(text, 4, &Sampler::default());
    let got = bench.run(|word, lane| match word {
        0 | 1 => 0.3f32.to_bits(),
        3 => [2, 3, 100, 0xffff][lane % 4],
        _ => 0,
    });
    for c in &got {
        assert_eq!(*c, Lanes::splat(c.0[0]));
    }
}

/// Coordinates that are no numbers, or too large for any: some texel, and no panic.
#[test]
fn wild_coordinates() {
    let wild = [
        f32::NAN,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::MAX,
        f32::MIN,
        1e-40,
        -0.0,
        3e9,
        -3e9,
        1e30,
        16_777_217.0,
        0.999_999_94,
    ];
    for (dimension, mode) in [
        (Dimension::D2, "2d_lod"),
        (Dimension::D3 { depth: 4 }, "3d_lod"),
        (Dimension::Cube, "cube_lod"),
    ] {
        let picture = Picture::new(dimension, 8, 8, Levels::View { first: 0, last: 2 });
        for sampler in samplers() {
            let text = format!("texture.{mode}.sample r0:r3, p0, tex0, samp0");
            let mut bench = picture.bench(&text, 4, &sampler);
            for round in 0..5 {
                let got = bench.run(|word, lane| match word {
                    0..=2 => {
                        let n = hash((round * 1000 + lane * 4 + word) as u64);
                        wild[n as usize % wild.len()].to_bits()
                    }
                    _ => (hash(lane as u64) as u32 & 0xfff) << 16 | (lane as u32 % 6),
                });
                for c in &got {
                    for lane in 0..32 {
                        let value = f32::from_bits(c.0[lane]);
                        assert!((0.0..=1.0).contains(&value), "{mode} {sampler:?} {value}");
                    }
                }
            }
        }
    }
}

/// Offsets of a constant number of texels, in samples and gathers.
#[test]
fn offsets() {
    let picture = Picture::new(Dimension::D2, 16, 16, Levels::View { first: 0, last: 2 });
    let sampler = Sampler {
        mag: Filter::Linear,
        min: Filter::Linear,
        wrap: [Wrap::Repeat, Wrap::ClampToEdge, Wrap::Repeat],
        ..Sampler::default()
    };
    for (x, y) in [(0, 0), (7, -8), (-8, 7), (1, 1), (3, -2)] {
        let offset = format!("offset_x={x}, offset_y={y}");
        let text = format!("texture.2d_offset.sample r0:r3, p0, tex0, samp0, {offset}");
        let mut bench = picture.bench(&text, 2, &sampler);
        let at = |word: usize, lane: usize| random((lane * 2 + word) as u64, -0.5, 1.5);
        let got = bench.run(|word, lane| at(word & 1, lane).to_bits());
        for lane in 0..32 {
            let query = Query {
                at: [at(0, lane).into(), at(1, lane).into(), 0.0],
                offset: [x, y],
                ..Query::default()
            };
            let want = model::sample(&picture, &sampler, &query);
            for c in 0..4 {
                let have = f64::from(f32::from_bits(got[c].0[lane]));
                assert!((want[c] - have).abs() <= TOLERANCE);
            }
        }
        // On level 1, from the immediate level: 1/8 steps.
        let text =
            format!("texture.2d_lod_imm_offset.sample r0:r3, p0, tex0, samp0, lod=8, {offset}");
        let leveled = Sampler {
            mip: MipFilter::Nearest,
            ..sampler
        };
        let mut bench = picture.bench(&text, 2, &leveled);
        let got = bench.run(|word, lane| at(word & 1, lane).to_bits());
        for lane in 0..32 {
            let query = Query {
                at: [at(0, lane).into(), at(1, lane).into(), 0.0],
                offset: [x, y],
                lambda: 1.0,
                ..Query::default()
            };
            let want = model::sample(&picture, &leveled, &query);
            let have = f64::from(f32::from_bits(got[1].0[lane]));
            assert!((want[1] - have).abs() <= TOLERANCE);
        }
    }
}

/// `reference FUNC texel` with all functions, nearest and filtered.
#[test]
fn compares() {
    let layers = Dimension::D2Array { layers: 3 };
    let flat = Picture::new(Dimension::D2, 16, 16, Levels::View { first: 0, last: 3 });
    let layered = Picture::new(layers, 16, 16, Levels::View { first: 0, last: 3 });
    let cube = Picture::new(Dimension::Cube, 8, 8, Levels::View { first: 0, last: 2 });
    for compare in Compare::ALL {
        for filter in [Filter::Nearest, Filter::Linear] {
            let sampler = Sampler {
                mag: filter,
                min: filter,
                mip: MipFilter::Nearest,
                compare: *compare,
                wrap: [Wrap::ClampToBorder, Wrap::Repeat, Wrap::Repeat],
                border: Border::OpaqueWhite,
                ..Sampler::default()
            };
            for (mode, picture) in [
                ("2d_cmp_lod", &flat),
                ("2d_array_cmp_lod", &layered),
                ("cube_cmp_lod", &cube),
            ] {
                let text = format!("texture.{mode}.load r0, p0, tex0, samp0, sel=0");
                let mut bench = picture.bench(&text, 4, &sampler);
                let query = |lane: usize| {
                    let seed = lane as u64 * 8;
                    let is_cube = mode.starts_with("cube");
                    let spread = if is_cube { 0.5 } else { 1.0 };
                    let near = |n| f64::from(random(seed + n, 0.5 - spread, 0.5 + spread));
                    Query {
                        at: [near(0), near(1), 0.0],
                        layer: (hash(seed + 2) % if is_cube { 6 } else { 3 }) as i64
                            * i64::from(mode != "2d_cmp_lod"),
                        cube: is_cube,
                        lambda: (hash(seed + 3) % 3) as f64,
                        compare: Some((hash(seed + 4) % 9) as f64 / 8.0),
                        ..Query::default()
                    }
                };
                let got = bench.run(|word, lane| {
                    let query = query(lane);
                    match word {
                        0 | 1 => (query.at[word] as f32).to_bits(),
                        2 => (query.compare.unwrap() as f32).to_bits(),
                        _ => (query.lambda as u32) << 22 | query.layer as u32,
                    }
                });
                for lane in 0..32 {
                    let query = query(lane);
                    if filter == Filter::Nearest && ambiguous(picture, &query) {
                        continue;
                    }
                    let want = model::sample(picture, &sampler, &query)[0];
                    let have = f64::from(f32::from_bits(got[0].0[lane]));
                    assert!(
                        (want - have).abs() <= TOLERANCE,
                        "{mode} {compare:?} {query:?}"
                    );
                }
            }
        }
    }
}

/// Order and components of a gather (isa-3, 2.7), and compared ones.
#[test]
fn gathers() {
    let picture = Picture::new(Dimension::D2, 16, 16, Levels::Single);
    let sampler = Sampler {
        wrap: [Wrap::Repeat, Wrap::MirroredRepeat, Wrap::Repeat],
        compare: Compare::LessOrEqual,
        ..Sampler::default()
    };
    let at = |word: usize, lane: usize| {
        // Away from the middles of texels.
        let n = hash((lane * 2 + word) as u64) % 64;
        n as f32 / 16.0 - 1.0 + 1.0 / 64.0
    };
    let texel = |lane: usize, dx: i64, dy: i64, c: usize| {
        let low = |word: usize| (f64::from(at(word, lane)) * 16.0 - 0.5).floor() as i64;
        let (x, y) = (low(0) + dx, low(1) + dy);
        let mirrored = y.rem_euclid(32);
        let y = if mirrored < 16 {
            mirrored
        } else {
            31 - mirrored
        };
        picture.texel(0, x.rem_euclid(16), y, 0)[c]
    };
    for (x, y) in [(0, 0), (3, -2), (-8, 7)] {
        for c in 0..4 {
            let text = format!(
                "texture.2d_offset.load r0:r3, p0, tex0, samp0, gather=1, sel={c}, offset_x={x}, offset_y={y}"
            );
            let mut bench = picture.bench(&text, 2, &sampler);
            let got = bench.run(|word, lane| at(word & 1, lane).to_bits());
            for lane in 0..32 {
                let have = [0, 1, 2, 3].map(|i| f64::from(f32::from_bits(got[i].0[lane])));
                let want =
                    [(0, 1), (1, 1), (1, 0), (0, 0)].map(|(dx, dy)| texel(lane, dx + x, dy + y, c));
                assert_eq!(have, want);
            }
        }
    }
    let text = "texture.2d_cmp.load r0:r3, p0, tex0, samp0, gather=1, sel=0";
    let mut bench = picture.bench(text, 3, &sampler);
    let reference = 0.5f32;
    let got = bench.run(|word, lane| match word {
        0 | 1 => at(word, lane).to_bits(),
        _ => reference.to_bits(),
    });
    for lane in 0..32 {
        let have = [0, 1, 2, 3].map(|i| f32::from_bits(got[i].0[lane]));
        let want = [(0, 1), (1, 1), (1, 0), (0, 0)]
            .map(|(dx, dy)| f32::from(f64::from(reference) <= texel(lane, dx, dy, 0)));
        assert_eq!(have, want);
    }
}

/// The unit itself, for what a compute shader has not: quads.
fn unit(
    picture: &Picture,
    sampler: &Sampler,
    request: Request,
    quads: bool,
    word: impl Fn(usize, usize) -> u32,
) -> [Lanes; 4] {
    let mut bytes = [0; 32];
    picture.image.texture.pack(&mut bytes).unwrap();
    let Record::Valid(view) = record::view(&bytes) else {
        panic!();
    };
    let mappings = picture.image.texels.mappings();
    let tlb = Tlb::new(&mappings);
    let memory = agx_sim::texture::texel::Memory::new(&tlb);
    let mut words = [Lanes::ZERO; WORDS];
    for (number, lanes) in words.iter_mut().enumerate() {
        *lanes = Lanes::from_fn(|lane| word(number, lane));
    }
    filter::run(&Inputs {
        memory: &memory,
        view: &view,
        sampler,
        request,
        words: &words,
        active: !0,
        quads,
    })
}

fn request(kind: Kind, coordinates: Coordinates, detail: Detail) -> Request {
    Request {
        kind,
        coordinates,
        detail,
        immediate: None,
        compare: false,
        multisample: false,
        component: 0,
        offset: [0; 2],
        words: 0x3ff,
    }
}

/// λ of gradients per axis, in double precision.
fn lambda(size: [i64; 3], dx: [f64; 3], dy: [f64; 3]) -> f64 {
    let length = |d: [f64; 3]| -> f64 {
        (0..3)
            .map(|i| (d[i] * size[i] as f64).powi(2))
            .sum::<f64>()
            .sqrt()
    };
    length(dx).max(length(dy)).log2()
}

/// Implicit levels come from the quad; a query says them.
#[test]
fn quads_have_levels() {
    let levels = Levels::View { first: 1, last: 6 };
    let picture = Picture::new(Dimension::D2, 128, 64, levels);
    let sampler = Sampler {
        lod: LodRange::new(0.5, 4.0),
        ..Sampler::default()
    };
    let gradient = |quad: usize| {
        let g = |n: u64| f64::from(random(quad as u64 * 4 + n, -0.1, 0.1));
        ([g(0), g(1), 0.0], [g(2), g(3), 0.0])
    };
    let at = |word: usize, lane: usize| {
        let (dx, dy) = gradient(lane / 4);
        let (x, y) = ((lane & 1) as f64, (lane >> 1 & 1) as f64);
        0.4 + dx[word] * x + dy[word] * y
    };
    for (detail, bias) in [(Detail::Implicit, 0.0), (Detail::Bias, 1.25)] {
        let request = request(Kind::Query, Coordinates::Flat, detail);
        let got = unit(&picture, &sampler, request, true, |word, lane| match word {
            0 | 1 => (at(word, lane) as f32).to_bits(),
            3 => ((bias * 64.0) as u32) << 16,
            _ => 0,
        });
        for lane in 0..32 {
            let (dx, dy) = gradient(lane / 4);
            let size = picture.size(0);
            let want = lambda([size[0], size[1], 0], dx, dy) + bias;
            let have = f64::from(f32::from_bits(got[1].0[lane]));
            assert!((want - have).abs() < 1e-3, "{want} {have}");
            let clamped = f64::from(f32::from_bits(got[0].0[lane]));
            assert!((want.clamp(0.5, 4.0) - clamped).abs() < 1e-3);
        }
    }
    // Without quads level 0, and a query says 0.
    let implicit = request(Kind::Query, Coordinates::Flat, Detail::Implicit);
    let got = unit(&picture, &sampler, implicit, false, |word, lane| {
        (at(word & 1, lane) as f32).to_bits()
    });
    assert_eq!(got, [Lanes::ZERO; 4]);
}

/// A quad across the edge of a cube has the level of its surface, not of its coordinates.
#[test]
fn quads_across_faces() {
    let picture = Picture::new(Dimension::Cube, 64, 64, Levels::View { first: 0, last: 6 });
    let request = request(Kind::Query, Coordinates::Cube, Detail::Bias);
    let half_texel = 0.5 / 64.0;
    // Face 0, and its right neighbour face 5.
    let got = unit(
        &picture,
        &Sampler::default(),
        request,
        true,
        |word, lane| {
            let right = lane & 1 == 1;
            match word {
                0 => (if right { half_texel } else { 1.0 - half_texel } as f32).to_bits(),
                1 => ((0.5 + (lane >> 1 & 1) as f64 / 64.0) as f32).to_bits(),
                3 if right => 5,
                _ => 0,
            }
        },
    );
    let level = f32::from_bits(got[1].0[0]);
    assert!(level.abs() < 0.1, "{level}");
}

/// Gradients: level, and the direction of the anisotropic footprint.
#[test]
fn gradients() {
    let picture = Picture::new(Dimension::D2, 64, 64, Levels::View { first: 0, last: 6 });
    let volume = Picture::new(
        Dimension::D3 { depth: 16 },
        32,
        32,
        Levels::View { first: 0, last: 5 },
    );
    let trilinear = Sampler {
        mag: Filter::Linear,
        min: Filter::Linear,
        mip: MipFilter::Linear,
        wrap: [Wrap::Repeat; 3],
        ..Sampler::default()
    };
    for (mode, picture) in [("2d_grad", &picture), ("3d_grad", &volume)] {
        for anisotropy in [Anisotropy::X1, Anisotropy::X4, Anisotropy::X16] {
            if picture.volume && anisotropy != Anisotropy::X1 {
                continue;
            }
            let sampler = Sampler {
                anisotropy,
                ..trilinear
            };
            let text = format!("texture.{mode}.sample r0:r3, p0, tex0, samp0");
            let mut bench = picture.bench(&text, 10, &sampler);
            let value = |word: usize, lane: usize| -> f32 {
                let seed = (lane * 10 + word) as u64;
                match word {
                    0..=2 => random(seed, 0.0, 1.0),
                    4..=9 => {
                        random(seed, -0.2, 0.2) * if lane.is_multiple_of(2) { 0.05 } else { 1.0 }
                    }
                    _ => 0.0,
                }
            };
            let got = bench.run(|word, lane| value(word, lane).to_bits());
            for lane in 0..32 {
                let v = |word: usize| f64::from(value(word, lane));
                let third = |word: usize| if picture.volume { v(word) } else { 0.0 };
                let (dx, dy) = ([v(4), v(6), third(8)], [v(5), v(7), third(9)]);
                let size = picture.size(0);
                let length = |d: [f64; 3]| -> f64 {
                    (0..3)
                        .map(|i| (d[i] * size[i] as f64).powi(2))
                        .sum::<f64>()
                        .sqrt()
                };
                let (px, py) = (length(dx), length(dy));
                let most = f64::from(anisotropy.samples());
                let taps = (px.max(py) / px.min(py)).ceil().min(most);
                // Rounding decides how many samples there are.
                if ((px.max(py) / px.min(py)).fract() - 0.5).abs() > 0.499 {
                    continue;
                }
                let along = if px >= py { dx } else { dy };
                let mut want = [0.0; 4];
                for tap in 1..=taps as u32 {
                    let step = f64::from(tap) / (taps + 1.0) - 0.5;
                    let query = Query {
                        at: [0, 1, 2].map(|i| v(i) + along[i] * step),
                        volume: picture.volume,
                        lambda: (px.max(py) / taps).log2(),
                        ..Query::default()
                    };
                    let sample = model::sample(picture, &sampler, &query);
                    for c in 0..4 {
                        want[c] += sample[c] / taps;
                    }
                }
                for c in 0..4 {
                    let have = f64::from(f32::from_bits(got[c].0[lane]));
                    assert!((want[c] - have).abs() <= TOLERANCE, "{mode} {anisotropy:?}");
                }
            }
        }
    }
}

/// Infinities and NaN in gradients: the least detailed level (isa-4, 6.3; HW). None of the size of
/// nothing: the most detailed.
#[test]
fn wild_gradients() {
    let picture = Picture::new(Dimension::D2, 256, 256, Levels::View { first: 0, last: 8 });
    let sampler = Sampler {
        mip: MipFilter::Nearest,
        ..Sampler::default()
    };
    let mut bench = picture.bench("texture.2d_grad.sample r0:r3, p0, tex0, samp0", 8, &sampler);
    let got = bench.run(|word, lane| match word {
        0 | 1 => 0.3f32.to_bits(),
        _ => {
            let wild = [
                f32::NAN,
                f32::INFINITY,
                f32::NEG_INFINITY,
                f32::MAX,
                1e-40,
                0.0,
            ];
            let value = wild[lane / 4 % 6];
            (if word == 4 + lane % 4 { value } else { 0.0 }).to_bits()
        }
    });
    for lane in 0..24 {
        let (level, at) = if lane < 16 { (8, 0) } else { (0, 76) };
        let want = picture.texel(level, at, at, 0)[0];
        assert_eq!(f64::from(f32::from_bits(got[0].0[lane])), want, "{lane}");
    }
}

/// Texel coordinates (captured only), on one level.
#[test]
fn unnormalised() {
    let picture = Picture::new(Dimension::D2, 20, 10, Levels::Single);
    let sampler = Sampler {
        mag: Filter::Linear,
        min: Filter::Linear,
        unnormalised: true,
        ..Sampler::default()
    };
    let mut bench = picture.bench("texture.2d.sample r0:r3, p0, tex0, samp0", 2, &sampler);
    let at = |word: usize, lane: usize| random((lane * 2 + word) as u64, -2.0, 22.0);
    let got = bench.run(|word, lane| at(word & 1, lane).to_bits());
    for lane in 0..32 {
        let query = Query {
            at: [at(0, lane).into(), at(1, lane).into(), 0.0],
            ..Query::default()
        };
        let want = model::sample(&picture, &sampler, &query);
        let have = f64::from(f32::from_bits(got[2].0[lane]));
        assert!((want[2] - have).abs() <= TOLERANCE);
    }
}

/// Bundles that do not fit the texture, and samplers that fetches must not use.
#[test]
fn mistakes() {
    let picture = Picture::new(Dimension::D2, 8, 8, Levels::Single);
    let strict = |text: &str, sampler: &Sampler, w3: u32| {
        let mut bench = picture.bench(text, 4, sampler);
        bench.rig.strict = true;
        bench
            .try_run(false, |word, _| if word == 3 { w3 } else { 0 })
            .unwrap_err()
    };
    let plain = Sampler::default();
    let why = strict("texture.3d_lod.sample r0:r3, p0, tex0, samp0", &plain, 0);
    assert!(why.contains("3D"), "{why}");
    let why = strict("texture.cube_lod.sample r0:r3, p0, tex0, samp0", &plain, 0);
    assert!(why.contains("cube"), "{why}");
    let why = strict("texture.2d_ms_fetch.load r0:r3, p0, tex0, samp0", &plain, 0);
    assert!(why.contains("multisampled"), "{why}");
    let why = strict("texture.2d_fetch.load r0:r3, p0, tex0, samp0", &plain, 0);
    assert!(why.contains("sampler"), "{why}");
    let why = strict(
        "texture.2d_lod.sample r0:r3, p0, tex0, samp0",
        &plain,
        1 << 28,
    );
    assert!(why.contains("28..31"), "{why}");
    // Records that fault in any mode.
    let mut bench = picture.bench("texture.2d.sample r0:r3, p0, tex0, samp0", 2, &plain);
    let mut record = [0; 32];
    picture.image.texture.pack(&mut record).unwrap();
    // Swizzle code 6.
    record[2] = record[2] & !7 | 6;
    bench.rig.write_bytes(0, &record);
    let why = bench.try_run(false, |_, _| 0).unwrap_err();
    assert!(
        why.contains("bad record") && why.contains("swizzle"),
        "{why}"
    );
    bench = picture.bench("texture.2d.sample r0:r3, p0, tex0, samp0", 2, &plain);
    bench
        .rig
        .write_bytes(crate::bench::SAMPLERS, &[0, 0x1c, 0, 0, 0, 0, 0, 0]);
    let why = bench.try_run(false, |_, _| 0).unwrap_err();
    assert!(why.contains("sampler record"), "{why}");
    // An entry that was never written is a sampler.
    let empty = picture.bench("texture.2d.sample r0:r3, p0, tex0, samp9", 2, &plain);
    let got = empty.try_run(false, |_, _| 0.1f32.to_bits()).unwrap();
    let want = picture.texel(0, 0, 0, 0);
    assert_eq!(got.map(|c| f64::from(f32::from_bits(c.0[5]))), want);
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 400,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// Any bytes as records, any words: it faults or works, and never panics.
    #[test]
    fn any_records(
        texture in any::<[u8; 32]>(),
        sampler in any::<[u8; 8]>(),
        legal in any::<bool>(),
        words in any::<[u32; 10]>(),
        mode in proptest::sample::select(vec![
            "2d_lod.sample", "3d_grad.sample", "2d_array_bias.sample", "cube_lod.sample",
            "2d_fetch.load", "3d_fetch.load", "2d_ms_array_fetch.load", "2d_array_grad.sample",
        ]),
        strict in any::<bool>(),
    ) {
        let picture = Picture::new(Dimension::D2, 8, 8, Levels::Single);
        let text = format!("texture.{mode} r0:r3, p0, tex0, samp0");
        let mut bench = picture.bench(&text, 10, &Sampler::default());
        let mut texture = texture;
        let mut sampler = sampler;
        if legal {
            // Any dimensions, sizes, formats and levels; the rest in order.
            texture[0] = texture[0] & 0xc7 | 0x20;
            texture[1] &= 0x9f;
            texture[2] = 0x88;
            texture[3] = texture[3] & 0xf0 | 0x06;
            texture[7] &= 0x04;
            let depth = texture[14] & 0x0f;
            texture[8..16].copy_from_slice(&[0, 0, 0, 4, 0x20, 0, depth, 0]);
            texture[15] |= (texture[7] & 4) << 5;
            texture[16..32].fill(0);
            if texture[7] != 0 {
                texture[22] = 2;
            }
            let mut bits = u64::from_le_bytes(sampler);
            bits &= 0xffff_e380_1fff_e000u64 & 0x6000_07ff_ffff_e000;
            bits &= !(0x8 << 17 | 0x55 << 24);
            sampler = bits.to_le_bytes();
        }
        bench.rig.write_bytes(0, &texture);
        bench.rig.write_bytes(crate::bench::SAMPLERS, &sampler);
        bench.rig.strict = strict;
        let _ = bench.try_run(strict, |word, lane| words[word].rotate_left(lane as u32));
    }
}
