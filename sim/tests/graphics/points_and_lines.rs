// SPDX-License-Identifier: MIT
//! Points, lines, and triangles drawn as their edges or corners.

use agx_hw::coefficient::Interpolation;
use agx_hw::format::Format;
use agx_hw::launcher::Samples;
use agx_hw::ppp::{LineWidth, ObjectType, PassType};
use agx_hw::vdm::Primitive;

use crate::reference::{Corner, View};
use crate::shaders;
use crate::studio::{Image2, Studio, count, gpu, object};
use crate::triangles::{Random, bytes, corner, draw_count, float_target, texel};

const SIZE: [u16; 2] = [40, 36];

struct Scene {
    studio: Studio,
    image: Image2,
}

fn draw(
    corners: &[Corner],
    topology: Primitive,
    kind: ObjectType,
    samples: Samples,
    change: impl FnOnce(&mut Studio, &mut crate::studio::Setup),
) -> Scene {
    let mut studio = Studio::new(SIZE, samples, 16);
    let image = float_target(&mut studio);
    studio.tile_programs(&[0x4080_0000; 4], &[(&image, 0)]);
    let data = studio.data.place(&bytes(corners), 64);
    let buffers = studio.buffers(&[data]);
    let vertex = shaders::vertex(&mut studio, 8);
    let fragment = shaders::linear(&mut studio);
    let mut setup = studio.setup(vertex, fragment, buffers, 4);
    setup.interpolation = vec![Interpolation::Linear; 4];
    setup.topology = topology;
    setup.vertices = draw_count(corners.len() as u32);
    setup.control2.pass = PassType::new(samples != Samples::One, false);
    object(&mut setup.control2, kind);
    change(&mut studio, &mut setup);
    studio.draw(&setup);
    studio
        .render(&gpu(1))
        .unwrap_or_else(|fault| panic!("{fault}"));
    Scene { studio, image }
}

impl Scene {
    fn at(&self, x: u32, y: u32, sample: u8) -> Option<[f32; 4]> {
        let texel = texel(&self.studio, &self.image, x, y, sample);
        (texel != [4.0; 4]).then_some(texel)
    }
}

/// Corner i at a window place in pixels.
fn at(x: f64, y: f64, attributes: [f64; 4]) -> Corner {
    let [width, height] = SIZE.map(f64::from);
    corner(
        [2.0 * x / width - 1.0, 2.0 * y / height - 1.0, 0.5, 1.0],
        attributes,
    )
}

#[test]
fn points_are_squares() {
    let mut random = Random(31);
    for samples in [Samples::One, Samples::Four] {
        for _ in 0..12 {
            let size =
                f64::from((2.0 + 2.0 * random.signed() + 6.0 * random.signed().abs()) as f32);
            let place = [20.0 + 15.0 * random.signed(), 18.0 + 15.0 * random.signed()];
            // The last word is the size.
            let point = at(place[0], place[1], [1.0, 2.0, 3.0, size.max(1.0)]);
            let scene = draw(
                &[point],
                Primitive::Points,
                ObjectType::PointUv01,
                samples,
                |studio, setup| {
                    setup.layout.scalars = 3;
                    setup.layout.point_size = true;
                    setup.interpolation.truncate(3);
                    setup.point_coordinate = true;
                    // Registers 4 and 5, behind 1/w and three scalars, are the coordinates.
                    let text = "iter r2, cf4, none
                        iter r3, cf5, none
                        tile_store tw0, r2, r12.l
                        tile_store tw1, r3, r12.l";
                    setup.fragment = shaders::with(studio, text);
                },
            );
            let size = size.max(1.0);
            let ([px, py], _) = View::of(SIZE).window(point.position);
            let (px, py) = (px as f64 / 256.0, py as f64 / 256.0);
            let positions = agx_hw::pass::SamplePositions::standard(samples);
            for y in 0..u32::from(SIZE[1]) {
                for x in 0..u32::from(SIZE[0]) {
                    for (sample, place) in positions.get().iter().enumerate() {
                        let [dx, dy] = [
                            f64::from(x) + f64::from(place[0]) / 16.0 - px,
                            f64::from(y) + f64::from(place[1]) / 16.0 - py,
                        ];
                        let far = dx.abs().max(dy.abs()) - size / 2.0;
                        // Size is rounded to 1/256 pixel.
                        if far.abs() < 1.0 / 256.0 {
                            continue;
                        }
                        let found = scene.at(x, y, sample as u8);
                        assert_eq!(found.is_some(), far < 0.0, "{x} {y} {sample}: {far}");
                        if let Some([s, t, ..]) = found {
                            let centre = [f64::from(x) + 0.5 - px, f64::from(y) + 0.5 - py];
                            let expected = centre.map(|d| 0.5 + d / size);
                            assert!((f64::from(s) - expected[0]).abs() < 1e-5);
                            assert!((f64::from(t) - expected[1]).abs() < 1e-5);
                        }
                    }
                }
            }
        }
    }
}

/// The pixels whose diamonds a line leaves, by brute force: a point moves along the line in small steps.
fn diamonds(a: [f64; 2], b: [f64; 2]) -> Vec<(i64, i64)> {
    let inside = |p: [f64; 2], pixel: (i64, i64)| {
        (p[0] - pixel.0 as f64 - 0.5).abs() + (p[1] - pixel.1 as f64 - 0.5).abs() < 0.5
    };
    let mut out = Vec::new();
    let steps = 40_000;
    for step in 0..=steps {
        let part = f64::from(step) / f64::from(steps);
        let p = [0, 1].map(|axis| a[axis] + part * (b[axis] - a[axis]));
        let pixel = (p[0].floor() as i64, p[1].floor() as i64);
        if inside(p, pixel) && !inside(b, pixel) && !out.contains(&pixel) {
            out.push(pixel);
        }
    }
    out
}

#[test]
fn thin_lines_leave_diamonds() {
    let mut random = Random(32);
    for round in 0..40 {
        // Away from places where the line only touches a diamond's corner.
        let mut end = || {
            let grid = |value: f64| (value * 256.0).round() / 256.0;
            [
                grid(20.0 + 19.0 * random.signed()),
                grid(18.0 + 17.0 * random.signed()),
            ]
        };
        let (a, b) = (end(), end());
        let corners = [at(a[0], a[1], [0.0; 4]), at(b[0], b[1], [1.0; 4])];
        let scene = draw(
            &corners,
            Primitive::Lines,
            ObjectType::Line,
            Samples::One,
            |_, _| {},
        );
        let expected = diamonds(a, b);
        let mut wrong = 0;
        for y in 0..u32::from(SIZE[1]) {
            for x in 0..u32::from(SIZE[0]) {
                let found = scene.at(x, y, 0);
                wrong += u32::from(found.is_some() != expected.contains(&(x.into(), y.into())));
                if let Some([value, ..]) = found {
                    let d = [b[0] - a[0], b[1] - a[1]];
                    let p = [f64::from(x) + 0.5 - a[0], f64::from(y) + 0.5 - a[1]];
                    let major = usize::from(d[0].abs() < d[1].abs());
                    let t = p[major] / d[major];
                    assert!((f64::from(value) - t).abs() < 1e-4, "{x} {y}: {value} {t}");
                }
            }
        }
        // A line grazes a corner closer than a step or a grid unit now and then.
        assert!(
            wrong <= 1,
            "round {round}: {a:?} {b:?}: {wrong} of {}",
            expected.len()
        );
    }
}

#[test]
fn lines_between_pixels_go_to_the_left_or_up() {
    // As if moved by (-ε, -ε²): Vulkan 1.3, 27.7.
    let plain = |ends: [[f64; 2]; 2], width: f32| {
        let corners = ends.map(|[x, y]| at(x, y, [1.0; 4]));
        let lines = Primitive::Lines;
        let scene = draw(
            &corners,
            lines,
            ObjectType::Line,
            Samples::One,
            |_, setup| {
                for face in [&mut setup.control.front, &mut setup.control.back] {
                    face.line_width = LineWidth::new(width);
                }
            },
        );
        let mut pixels = Vec::new();
        for y in 0..u32::from(SIZE[1]) {
            for x in 0..u32::from(SIZE[0]) {
                if scene.at(x, y, 0).is_some() {
                    pixels.push([x, y]);
                }
            }
        }
        pixels
    };
    let column = |x: u32| (10..20).map(|y| [x, y]).collect::<Vec<_>>();
    let row = |y: u32| (10..20).map(|x| [x, y]).collect::<Vec<_>>();
    for (from, to) in [(10.0, 20.0), (20.0, 10.0)] {
        // At the very edge of the window, too.
        assert_eq!(plain([[40.0, from], [40.0, to]], 1.0), column(39));
        assert_eq!(plain([[8.0, from], [8.0, to]], 1.0), column(7));
        assert_eq!(plain([[from, 8.0], [to, 8.0]], 1.0), row(7));
        // An end on the corner of a diamond has left it.
        assert_eq!(plain([[from, 8.5], [to, 8.5]], 1.0), row(8));
        assert_eq!(plain([[8.5, from], [8.5, to]], 1.0), column(8));
    }
    // An even number of pixels lies on both sides of a line between pixels, three around one inside.
    let wide = plain([[8.0, 10.0], [8.0, 20.0]], 4.0);
    let columns: std::collections::BTreeSet<u32> = wide.iter().map(|pixel| pixel[0]).collect();
    assert_eq!(columns.into_iter().collect::<Vec<_>>(), [6, 7, 8, 9]);
    let wide = plain([[8.5, 10.0], [8.5, 20.0]], 3.0);
    let columns: std::collections::BTreeSet<u32> = wide.iter().map(|pixel| pixel[0]).collect();
    assert_eq!(columns.into_iter().collect::<Vec<_>>(), [7, 8, 9]);
}

#[test]
fn strips_of_thin_lines_share_no_pixel() {
    // A path that never turns back: every column's pixel is drawn once.
    let mut studio = Studio::new(SIZE, Samples::One, 4);
    let image = studio.image(Format::from_name("R32_UINT").unwrap());
    studio.tile_programs(&[0], &[(&image, 0)]);
    let mut random = Random(33);
    let corners: Vec<Corner> = (0..14)
        .map(|i| {
            at(
                0.3 + 2.9 * f64::from(i),
                18.0 + 1.2 * random.signed(),
                [0.0; 4],
            )
        })
        .collect();
    let data = studio.data.place(&bytes(&corners), 64);
    let buffers = studio.buffers(&[data]);
    let vertex = shaders::vertex(&mut studio, 8);
    let fragment = shaders::counting(&mut studio, 1);
    let mut setup = studio.setup(vertex, fragment, buffers, 4);
    setup.topology = Primitive::LineStrip;
    setup.vertices = draw_count(14);
    setup.control2.pass = PassType::Translucent;
    object(&mut setup.control2, ObjectType::Line);
    studio.draw(&setup);
    studio
        .render(&gpu(1))
        .unwrap_or_else(|fault| panic!("{fault}"));
    // The path begins and ends outside the first and last column's centres.
    for x in 1..u32::from(SIZE[0]) - 2 {
        let column: u32 = (0..u32::from(SIZE[1]))
            .map(|y| studio.pixel(&image, x, y))
            .sum();
        assert_eq!(column, 1, "{x}");
    }
}

#[test]
fn wide_lines() {
    // Axis-parallel ones of width 4 are 4 pixels wide either way.
    for samples in [Samples::One, Samples::Four] {
        let corners = [at(4.0, 10.0, [0.0; 4]), at(30.0, 10.0, [0.0; 4])];
        let scene = draw(
            &corners,
            Primitive::Lines,
            ObjectType::Line,
            samples,
            |_, setup| {
                for face in [&mut setup.control.front, &mut setup.control.back] {
                    face.line_width = LineWidth::new(4.0);
                }
            },
        );
        let rows = |x| (0..36).filter(|&y| scene.at(x, y, 0).is_some()).count();
        for x in [6, 17, 28] {
            assert_eq!(rows(x), 4, "{x}");
        }
        // An end on the corners of two diamonds is in neither: a line begins and ends where a rectangle does.
        assert_eq!([rows(3), rows(29)], [0, 4]);
        assert!(scene.at(2, 10, 0).is_none());
        assert!(scene.at(32, 10, 0).is_none());
    }
    // A rectangle is as wide across as its width says.
    let corners = [at(8.0, 8.0, [0.0; 4]), at(24.0, 24.0, [0.0; 4])];
    let samples = Samples::Four;
    let scene = draw(
        &corners,
        Primitive::Lines,
        ObjectType::Line,
        samples,
        |_, setup| {
            for face in [&mut setup.control.front, &mut setup.control.back] {
                face.line_width = LineWidth::new(6.0);
            }
        },
    );
    let positions = agx_hw::pass::SamplePositions::standard(samples);
    for y in 0..u32::from(SIZE[1]) {
        for x in 0..u32::from(SIZE[0]) {
            for sample in 0..count(samples) {
                let place = positions.get()[sample as usize].map(|n| f64::from(n) / 16.0);
                let (px, py) = (f64::from(x) + place[0] - 8.0, f64::from(y) + place[1] - 8.0);
                let root = 0.5f64.sqrt();
                let (along, across) = ((px + py) * root, (py - px) * root);
                let margin = (across.abs() - 3.0).max(-along).max(along - 16.0 / root);
                if margin.abs() > 0.01 {
                    let found = scene.at(x, y, sample as u8).is_some();
                    assert_eq!(found, margin < 0.0, "{x} {y} {sample}: {margin}");
                }
            }
        }
    }
}

#[test]
fn edges_and_corners_of_triangles() {
    let corners = [
        at(5.5, 5.5, [1.0; 4]),
        at(30.5, 5.5, [1.0; 4]),
        at(5.5, 30.5, [1.0; 4]),
    ];
    let scene = draw(
        &corners,
        Primitive::Triangles,
        ObjectType::LineFilled,
        Samples::One,
        |_, _| {},
    );
    assert!(scene.at(17, 5, 0).is_some());
    assert!(scene.at(5, 17, 0).is_some());
    assert!(scene.at(18, 17, 0).is_some() || scene.at(17, 17, 0).is_some());
    assert!(scene.at(10, 10, 0).is_none());
    let scene = draw(
        &corners,
        Primitive::Triangles,
        ObjectType::PointFilled,
        Samples::One,
        |studio, setup| {
            setup.layout.scalars = 3;
            setup.layout.point_size = true;
            setup.interpolation.truncate(3);
            setup.fragment =
                shaders::with(studio, "iter r2, cf1, none\n tile_store tw0, r2, r12.l");
        },
    );
    let mut found = Vec::new();
    for y in 0..u32::from(SIZE[1]) {
        for x in 0..u32::from(SIZE[0]) {
            if scene.at(x, y, 0).is_some() {
                found.push((x, y));
            }
        }
    }
    assert_eq!(found, [(5, 5), (30, 5), (5, 30)]);
}
