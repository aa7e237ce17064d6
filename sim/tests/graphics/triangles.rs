// SPDX-License-Identifier: MIT
//! Triangles against the reference: coverage of every sample, values with and without perspective, and
//! meshes that cover every sample once.

#![allow(unreachable_pub)]

use agx_hw::coefficient::Interpolation;
use agx_hw::format::Format;
use agx_hw::launcher::Samples;
use agx_hw::pass::SamplePositions;
use agx_hw::ppp::PassType;
use agx_hw::scissor::Scissor;
use agx_hw::vdm::Vertices;

use crate::reference::{self, Corner, View};
use crate::shaders;
use crate::studio::{Image2, Studio, count, floats, gpu};

pub const SIZE: [u16; 2] = [70, 45];

/// Numbers without a pattern.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u32 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as u32
    }

    /// From -1 to 1.
    pub fn signed(&mut self) -> f64 {
        f64::from(self.next()) / f64::from(1u32 << 30) - 1.0
    }
}

/// A corner with f32 values, as the shader reads it.
pub fn corner(position: [f64; 4], attributes: [f64; 4]) -> Corner {
    Corner {
        position: position.map(|value| f64::from(value as f32)),
        attributes: attributes.map(|value| f64::from(value as f32)),
    }
}

pub fn bytes(corners: &[Corner]) -> Vec<u8> {
    let values: Vec<f32> = corners
        .iter()
        .flat_map(|corner| corner.position.into_iter().chain(corner.attributes))
        .map(|value| value as f32)
        .collect();
    floats(&values)
}

pub fn draw_count(count: u32) -> Vertices {
    Vertices::Direct {
        first: 0,
        count,
        instances: 1,
    }
}

/// A random triangle about the size of the framebuffer, in front of the eye.
pub fn triangle(random: &mut Random, reach: f64) -> [Corner; 3] {
    std::array::from_fn(|_| {
        let w = 1.5 + random.signed();
        let place = [random.signed() * reach * w, random.signed() * reach * w];
        let depth = (0.5 + 0.5 * random.signed()) * w;
        corner(
            [place[0], place[1], depth, w],
            std::array::from_fn(|_| random.signed()),
        )
    })
}

pub fn float_target(studio: &mut Studio) -> Image2 {
    studio.image(Format::from_name("R32G32B32A32_SFLOAT").unwrap())
}

pub fn texel(studio: &Studio, image: &Image2, x: u32, y: u32, sample: u8) -> [f32; 4] {
    let bytes = studio.texel(image, x, y, 0, sample);
    std::array::from_fn(|i| f32::from_le_bytes(bytes[4 * i..4 * i + 4].try_into().unwrap()))
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Smooth,
    Linear,
    PerSample,
}

fn compare(samples: Samples, kind: Kind, seed: u64) {
    let mut random = Random(seed);
    let mut studio = Studio::new(SIZE, samples, 16);
    let image = float_target(&mut studio);
    studio.tile_programs(&[0x4080_0000; 4], &[(&image, 0)]);
    let triangles: Vec<[Corner; 3]> = (0..12)
        .map(|i| triangle(&mut random, if i % 3 == 0 { 0.3 } else { 1.3 }))
        .collect();
    let data = studio.data.place(&bytes(&triangles.concat()), 64);
    let buffers = studio.buffers(&[data]);
    let vertex = shaders::vertex(&mut studio, 8);
    let fragment = match kind {
        Kind::Smooth => shaders::smooth(&mut studio),
        Kind::Linear => shaders::linear(&mut studio),
        Kind::PerSample => shaders::per_sample(&mut studio, count(samples)),
    };
    let mut setup = studio.setup(vertex, fragment, buffers, 4);
    setup.vertices = draw_count(3 * triangles.len() as u32);
    if kind == Kind::Linear {
        setup.interpolation = vec![Interpolation::Linear; 4];
    }
    setup.control2.pass = PassType::new(samples != Samples::One, false);
    studio.draw(&setup);
    studio
        .render(&gpu(2))
        .unwrap_or_else(|fault| panic!("{fault}"));
    let view = View::of(SIZE);
    let positions = SamplePositions::standard(samples);
    for y in 0..u32::from(SIZE[1]) {
        for x in 0..u32::from(SIZE[0]) {
            let centre = [f64::from(x) + 0.5, f64::from(y) + 0.5];
            for (sample, place) in positions.get().iter().enumerate() {
                let at = (kind != Kind::PerSample).then_some(centre);
                // The last triangle that covers the sample.
                let hit = triangles
                    .iter()
                    .rev()
                    .find_map(|t| reference::sample(&view, t, [x, y], *place, at));
                let found = texel(&studio, &image, x, y, sample as u8);
                let expected = match hit {
                    None => [4.0; 4],
                    Some(hit) if kind == Kind::Linear => hit.linear,
                    Some(hit) => hit.smooth,
                };
                for (found, expected) in found.into_iter().zip(expected) {
                    // Far outside a triangle, at the centre, values and errors grow.
                    let tolerance = 2e-5 * (1.0 + expected.abs());
                    assert!(
                        (f64::from(found) - expected).abs() <= tolerance,
                        "seed {seed}: sample {sample} of {x}, {y}: {found} instead of {expected}"
                    );
                }
            }
        }
    }
}

#[test]
fn triangles_are_where_the_reference_has_them() {
    for seed in 0..6 {
        compare(Samples::One, Kind::Smooth, seed);
    }
    compare(Samples::One, Kind::Linear, 100);
}

#[test]
fn samples_are_where_the_reference_has_them() {
    for samples in [Samples::Two, Samples::Four] {
        for seed in 200..203 {
            compare(samples, Kind::Smooth, seed);
            compare(samples, Kind::PerSample, seed);
        }
    }
}

/// A grid of jittered vertices over more than the framebuffer, two triangles in each cell, some cut one way
/// and some the other.
fn mesh(random: &mut Random, cells: usize, jitter: f64) -> Vec<Corner> {
    let at = |i: usize| 2.4 * i as f64 / cells as f64 - 1.2;
    let points: Vec<Corner> = (0..=cells)
        .flat_map(|y| (0..=cells).map(move |x| (x, y)))
        .map(|(x, y)| {
            let w = 1.5 + random.signed();
            let border = x == 0 || y == 0 || x == cells || y == cells;
            let jitter = if border { 0.0 } else { jitter / cells as f64 };
            let px = at(x) + jitter * random.signed();
            let py = at(y) + jitter * random.signed();
            corner([px * w, py * w, 0.5 * w, w], [0.0; 4])
        })
        .collect();
    let mut corners = Vec::new();
    for y in 0..cells {
        for x in 0..cells {
            let point = |dx: usize, dy: usize| points[(y + dy) * (cells + 1) + x + dx];
            let (a, b, c, d) = (point(0, 0), point(1, 0), point(0, 1), point(1, 1));
            let mut two = if random.next() % 2 == 0 {
                [[a, b, c], [c, b, d]]
            } else {
                [[a, b, d], [d, c, a]]
            };
            if random.next() % 2 == 0 {
                two[0].swap(0, 1);
            }
            corners.extend(two.concat());
        }
    }
    corners
}

#[test]
fn meshes_cover_every_sample_once() {
    let formats = Format::from_name("R32_UINT").unwrap();
    for (seed, samples, cells) in [
        (1, Samples::One, 7),
        (2, Samples::One, 60),
        (3, Samples::Two, 20),
        (4, Samples::Four, 33),
    ] {
        let mut random = Random(seed);
        let mut studio = Studio::new(SIZE, samples, 4);
        let image = studio.image(formats);
        studio.tile_programs(&[0], &[(&image, 0)]);
        let corners = mesh(&mut random, cells, 0.5);
        let data = studio.data.place(&bytes(&corners), 64);
        let buffers = studio.buffers(&[data]);
        let vertex = shaders::vertex(&mut studio, 8);
        let fragment = shaders::counting(&mut studio, count(samples));
        let mut setup = studio.setup(vertex, fragment, buffers, 4);
        setup.vertices = draw_count(corners.len() as u32);
        setup.control2.pass = PassType::Translucent;
        studio.draw(&setup);
        studio
            .render(&gpu(2))
            .unwrap_or_else(|fault| panic!("{fault}"));
        for y in 0..u32::from(SIZE[1]) {
            for x in 0..u32::from(SIZE[0]) {
                for sample in 0..count(samples) {
                    let texel = studio.texel(&image, x, y, 0, sample as u8);
                    assert_eq!(
                        texel,
                        [1, 0, 0, 0],
                        "seed {seed}: sample {sample} of {x}, {y}"
                    );
                }
            }
        }
    }
}

#[test]
fn scissors_cut_at_pixels() {
    for (min, max) in [
        ([0, 0], [70, 45]),
        ([5, 3], [37, 33]),
        ([31, 31], [33, 33]),
        ([69, 44], [70, 45]),
        ([0, 0], [0, 0]),
    ] {
        let mut studio = Studio::new(SIZE, Samples::One, 4);
        let image = studio.image(Format::from_name("R32_UINT").unwrap());
        studio.tile_programs(&[0], &[(&image, 0)]);
        let corners = [[-1.0, -1.0], [3.0, -1.0], [-1.0, 3.0]]
            .map(|[x, y]| corner([x, y, 0.0, 1.0], [0.0; 4]));
        let data = studio.data.place(&bytes(&corners), 64);
        let buffers = studio.buffers(&[data]);
        let vertex = shaders::vertex(&mut studio, 8);
        let fragment = shaders::counting(&mut studio, 1);
        let mut setup = studio.setup(vertex, fragment, buffers, 4);
        setup.scissors = vec![Scissor::new(min, max, [0.0, 1.0]).unwrap()];
        setup.control2.pass = PassType::Translucent;
        studio.draw(&setup);
        studio
            .render(&gpu(1))
            .unwrap_or_else(|fault| panic!("{fault}"));
        for y in 0..SIZE[1] {
            for x in 0..SIZE[0] {
                let inside = (min[0]..max[0]).contains(&x) && (min[1]..max[1]).contains(&y);
                let pixel = studio.pixel(&image, x.into(), y.into());
                assert_eq!(pixel, u32::from(inside), "{x} {y} in {min:?}..{max:?}");
            }
        }
    }
}
