// SPDX-License-Identifier: MIT
//! Depth, stencil, occlusion, depth bias, and programs that decide late.

#![allow(unreachable_pub)]

use agx_hw::depth_bias::DepthBias;
use agx_hw::format::Format;
use agx_hw::launcher::Samples;
use agx_hw::pass::{DepthFormat, Surface, ZlsControl, clear_depth, clear_stencil};
use agx_hw::ppp::{Compare, PassType, ShaderDepth, Stencil, StencilOp, Visibility};
use agx_hw::scissor::Scissor;
use agx_uapi::abi::{self, ZlsBuffer};

use crate::reference::{self, Corner, View};
use crate::shaders;
use crate::studio::{Image2, Setup, Studio, gpu};
use crate::triangles::{Random, SIZE, bytes, corner, draw_count, float_target, texel, triangle};

const COMPARES: [Compare; 8] = [
    Compare::Never,
    Compare::Less,
    Compare::Equal,
    Compare::LessOrEqual,
    Compare::Greater,
    Compare::NotEqual,
    Compare::GreaterOrEqual,
    Compare::Always,
];

fn passes(compare: Compare, a: f64, b: f64) -> bool {
    match compare {
        Compare::Never => false,
        Compare::Less => a < b,
        Compare::Equal => a == b,
        Compare::LessOrEqual => a <= b,
        Compare::Greater => a > b,
        Compare::NotEqual => a != b,
        Compare::GreaterOrEqual => a >= b,
        Compare::Always => true,
    }
}

/// Attaches depth and stencil surfaces.
fn attach(studio: &mut Studio, format: DepthFormat, load: bool) -> (Image2, Image2) {
    let name = match format {
        DepthFormat::Float32 => "R32_SFLOAT",
        DepthFormat::Unorm16 => "R16_UINT",
    };
    let depth = studio.image(Format::from_name(name).unwrap());
    let stencil = studio.image(Format::from_name("R8_UINT").unwrap());
    set(studio, format, load, &depth, &stencil);
    (depth, stencil)
}

fn set(studio: &mut Studio, format: DepthFormat, load: bool, depth: &Image2, stencil: &Image2) {
    let surface = Surface {
        load,
        store: true,
        ..Surface::default()
    };
    let control = ZlsControl {
        depth: surface,
        stencil: surface,
        format,
    };
    let buffer = |image: &Image2| ZlsBuffer {
        base: image.address,
        ..ZlsBuffer::default()
    };
    let [width, height] = studio.size;
    studio.command.zls_ctrl = abi::ZlsControl::from_bits_retain(control.pack());
    studio.command.depth = buffer(depth);
    studio.command.stencil = buffer(stencil);
    studio.command.isp_zls_pixels = abi::CmdRender::zls_pixels(width, height);
    studio.command.isp_bgobjdepth = clear_depth(format, 1.0);
    studio.command.isp_bgobjvals = clear_stencil(0);
}

fn depth_at(studio: &Studio, image: &Image2, x: u32, y: u32, sample: u8) -> f64 {
    let bytes = studio.texel(image, x, y, 0, sample);
    match bytes.len() {
        4 => f32::from_le_bytes(bytes.try_into().unwrap()).into(),
        _ => f64::from(u16::from_le_bytes(bytes.try_into().unwrap())) / 65535.0,
    }
}

/// A triangle over everything at one depth.
pub fn cover(depth: f64, attributes: [f64; 4]) -> [Corner; 3] {
    [[-1.0, -1.0], [3.0, -1.0], [-1.0, 3.0]].map(|[x, y]| corner([x, y, depth, 1.0], attributes))
}

/// A draw of these triangles with this fragment shader.
pub fn draw_of(studio: &mut Studio, corners: &[Corner], fragment: crate::studio::Shader) -> Setup {
    let data = studio.data.place(&bytes(corners), 64);
    let buffers = studio.buffers(&[data]);
    let vertex = shaders::vertex(studio, 8);
    let mut setup = studio.setup(vertex, fragment, buffers, 4);
    setup.vertices = draw_count(corners.len() as u32);
    setup
}

fn depth_pictures(format: DepthFormat, samples: Samples, seed: u64) {
    let mut random = Random(seed);
    let mut studio = Studio::new(SIZE, samples, 16);
    let image = float_target(&mut studio);
    studio.tile_programs(&[0x4080_0000; 4], &[(&image, 0)]);
    let (depth, _) = attach(&mut studio, format, false);
    let triangles: Vec<[Corner; 3]> = (0..10).map(|_| triangle(&mut random, 1.2)).collect();
    let fragment = shaders::smooth(&mut studio);
    let mut setup = draw_of(&mut studio, &triangles.concat(), fragment);
    setup.control2.pass = PassType::new(samples != Samples::One, false);
    for face in [&mut setup.control.front, &mut setup.control.back] {
        face.depth = Compare::Less;
        face.depth_write = true;
    }
    studio.draw(&setup);
    studio
        .render(&gpu(2))
        .unwrap_or_else(|fault| panic!("{fault}"));
    let view = View::of(SIZE);
    let positions = agx_hw::pass::SamplePositions::standard(samples);
    let step = match format {
        DepthFormat::Float32 => 1e-6,
        DepthFormat::Unorm16 => 1.0 / 65535.0,
    };
    for y in 0..u32::from(SIZE[1]) {
        for x in 0..u32::from(SIZE[0]) {
            for (sample, place) in positions.get().iter().enumerate() {
                let centre = [f64::from(x) + 0.5, f64::from(y) + 0.5];
                let mut hits: Vec<_> = triangles
                    .iter()
                    .filter_map(|t| reference::sample(&view, t, [x, y], *place, Some(centre)))
                    .collect();
                hits.sort_by(|a, b| a.depth.total_cmp(&b.depth));
                let nearest = hits.first().map_or(1.0, |hit| hit.depth);
                let found = depth_at(&studio, &depth, x, y, sample as u8);
                assert!(
                    (found - nearest).abs() <= step,
                    "{x} {y}: {found} {nearest}"
                );
                // Nearly equal ones may come out either way.
                if hits.len() > 1 && hits[1].depth - nearest < 2.0 * step {
                    continue;
                }
                let expected = hits.first().map_or([4.0; 4], |hit| hit.smooth);
                let colour = texel(&studio, &image, x, y, sample as u8);
                for (found, expected) in colour.into_iter().zip(expected) {
                    let tolerance = 2e-5 * (1.0 + expected.abs());
                    assert!((f64::from(found) - expected).abs() <= tolerance, "{x} {y}");
                }
            }
        }
    }
}

#[test]
fn the_nearest_triangle_stays() {
    depth_pictures(DepthFormat::Float32, Samples::One, 1);
    depth_pictures(DepthFormat::Unorm16, Samples::One, 2);
    depth_pictures(DepthFormat::Float32, Samples::Four, 3);
    depth_pictures(DepthFormat::Float32, Samples::Two, 4);
}

#[test]
fn comparisons() {
    for compare in COMPARES {
        for (old, new) in [(0.5, 0.25), (0.5, 0.5), (0.25, 0.5)] {
            let mut studio = Studio::new([4, 4], Samples::One, 4);
            let image = studio.image(Format::from_name("R32_UINT").unwrap());
            studio.tile_programs(&[0], &[(&image, 0)]);
            let (depth, _) = attach(&mut studio, DepthFormat::Float32, true);
            for y in 0..4 {
                for x in 0..4 {
                    let at = agx_hw::layout::Position {
                        x,
                        y,
                        ..Default::default()
                    };
                    let at = depth.address + depth.layout.offset(at).unwrap();
                    studio.images.write(at, &(old as f32).to_le_bytes());
                }
            }
            let fragment = shaders::constant(&mut studio, 7);
            let mut setup = draw_of(&mut studio, &cover(new, [0.0; 4]), fragment);
            for face in [&mut setup.control.front, &mut setup.control.back] {
                face.depth = compare;
                face.depth_write = true;
            }
            studio.draw(&setup);
            studio
                .render(&gpu(1))
                .unwrap_or_else(|fault| panic!("{fault}"));
            let passed = passes(compare, new, old);
            let pixel = studio.pixel(&image, 1, 2);
            assert_eq!(pixel, if passed { 7 } else { 0 }, "{compare:?} {old} {new}");
            let expected = if passed { new } else { old };
            assert_eq!(
                depth_at(&studio, &depth, 1, 2, 0),
                expected,
                "{compare:?} {old} {new}"
            );
        }
    }
}

const OPS: [StencilOp; 8] = [
    StencilOp::Keep,
    StencilOp::Zero,
    StencilOp::Replace,
    StencilOp::IncrementClamp,
    StencilOp::DecrementClamp,
    StencilOp::Invert,
    StencilOp::IncrementWrap,
    StencilOp::DecrementWrap,
];

fn stencil_op(op: StencilOp, old: u32, reference: u32) -> u32 {
    match op {
        StencilOp::Keep => old,
        StencilOp::Zero => 0,
        StencilOp::Replace => reference,
        StencilOp::IncrementClamp => (old + 1).min(255),
        StencilOp::DecrementClamp => old.saturating_sub(1),
        StencilOp::Invert => 255 - old,
        StencilOp::IncrementWrap => (old + 1) % 256,
        StencilOp::DecrementWrap => (old + 255) % 256,
    }
}

#[test]
fn stencil() {
    let mut random = Random(5);
    for round in 0..48 {
        let old = [0, 1, 0x55, 254, 255][random.next() as usize % 5];
        let mut op = || OPS[random.next() as usize % 8];
        let mut state = Stencil {
            pass: op(),
            depth_fail: op(),
            fail: op(),
            ..Stencil::default()
        };
        state.compare = COMPARES[random.next() as usize % 8];
        state.read_mask = [0xff, 0x0f, 0xaa][random.next() as usize % 3];
        state.write_mask = [0xff, 0xf0, 0x55][random.next() as usize % 3];
        let reference = [0u8, 1, 0x55, 255][random.next() as usize % 4];
        let deep = random.next() % 2 == 0;
        let back = round % 2 == 1;

        let mut studio = Studio::new([4, 4], Samples::One, 4);
        let image = studio.image(Format::from_name("R32_UINT").unwrap());
        studio.tile_programs(&[0], &[(&image, 0)]);
        let (_, stencil) = attach(&mut studio, DepthFormat::Float32, false);
        studio.command.isp_bgobjvals = clear_stencil(old as u8);
        let fragment = shaders::constant(&mut studio, 7);
        let mut corners = cover(0.5, [0.0; 4]);
        if back {
            corners.swap(0, 1);
        }
        let mut setup = draw_of(&mut studio, &corners, fragment);
        setup.control.stencil = true;
        // Clockwise is the front; the other face would pass and write 0x99.
        let (face, other) = match back {
            false => (&mut setup.control.front, &mut setup.control.back),
            true => (&mut setup.control.back, &mut setup.control.front),
        };
        other.stencil.pass = StencilOp::Replace;
        other.reference = 0x99;
        face.stencil = state;
        face.reference = reference;
        face.depth = if deep {
            Compare::Always
        } else {
            Compare::Never
        };
        studio.draw(&setup);
        studio
            .render(&gpu(1))
            .unwrap_or_else(|fault| panic!("{fault}"));

        let masked = |value: u32| f64::from(value & u32::from(state.read_mask));
        let test = passes(state.compare, masked(reference.into()), masked(old));
        let op = match (test, deep) {
            (false, _) => state.fail,
            (true, false) => state.depth_fail,
            (true, true) => state.pass,
        };
        let mask = u32::from(state.write_mask);
        let new = stencil_op(op, old, reference.into());
        let expected = old & !mask | new & mask;
        let found = studio.texel(&stencil, 2, 1, 0, 0)[0];
        assert_eq!(u32::from(found), expected, "round {round}: {state:?}");
        let drawn = studio.pixel(&image, 2, 1) == 7;
        assert_eq!(drawn, test && deep, "round {round}");
    }
}

#[test]
fn occlusion_results_count_samples() {
    for samples in [Samples::One, Samples::Four] {
        let mut studio = Studio::new([64, 64], samples, 4);
        let image = studio.image(Format::from_name("R32_UINT").unwrap());
        studio.tile_programs(&[0], &[(&image, 0)]);
        let results = studio.data.place(&[0; 64], 64);
        studio.command.isp_oclqry_base = results;
        let fragment = shaders::constant(&mut studio, 7);
        let mut setup = draw_of(&mut studio, &cover(0.5, [0.0; 4]), fragment);
        setup.control2.pass = PassType::new(samples != Samples::One, false);
        for (index, visibility, compare) in [
            (0, Visibility::Counting, Compare::Always),
            (0, Visibility::Counting, Compare::Never),
            (2, Visibility::Boolean, Compare::Always),
            (3, Visibility::Boolean, Compare::Never),
            (0, Visibility::Counting, Compare::LessOrEqual),
            (4, Visibility::None, Compare::Always),
        ] {
            setup.control.visibility = visibility;
            setup.control.occlusion = index;
            setup.control.front.depth = compare;
            setup.control.back.depth = compare;
            studio.draw(&setup);
        }
        studio.command.isp_bgobjdepth = clear_depth(DepthFormat::Float32, 1.0);
        studio
            .render(&gpu(2))
            .unwrap_or_else(|fault| panic!("{fault}"));
        let all = 64 * 64 * crate::studio::count(samples);
        let result = |index: u64| studio.data.word(results + 8 * index);
        assert_eq!([0, 1, 2, 3, 4].map(result), [2 * all, 0, 1, 0, 0]);
    }
}

#[test]
fn depth_bias() {
    // Constant, slope, clamp, integer formula, and what becomes of a flat 0.75 and of a slope of 1/64 a pixel.
    let unit = 0.5f64.powi(24);
    for (bias, integer, flat, sloped) in [
        ((100.0, 0.0, 0.0), false, 100.0 * unit, None),
        ((-100.0, 0.0, 0.0), false, -100.0 * unit, None),
        ((0.0, 2.0, 0.0), false, 0.0, Some(2.0 / 64.0)),
        ((0.0, 2.0, 0.01), false, 0.0, Some(0.01)),
        ((0.0, -2.0, -0.01), false, 0.0, Some(-0.01)),
        ((100.0, 0.0, 0.0), true, 100.0 / 65536.0, None),
    ] {
        let mut studio = Studio::new([32, 32], Samples::One, 4);
        let image = studio.image(Format::from_name("R32_UINT").unwrap());
        studio.tile_programs(&[0], &[(&image, 0)]);
        let (depth, _) = attach(&mut studio, DepthFormat::Float32, false);
        if integer {
            studio.command.flags |= abi::RenderFlags::DBIAS_IS_INT;
        }
        let fragment = shaders::constant(&mut studio, 7);
        let mut corners = cover(0.75, [0.0; 4]);
        if sloped.is_some() {
            // From 0.25 at the left edge to 0.75 at the right.
            corners = [[-1.0, -1.0, 0.25], [3.0, -1.0, 1.0], [-1.0, 3.0, 0.25]]
                .map(|[x, y, z]| corner([x, y, z, 1.0], [0.0; 4]));
            corners[1].position = [1.0, -1.0, 0.75, 1.0];
            corners[2].position = [-1.0, 1.0, 0.25, 1.0];
        }
        let mut setup = draw_of(&mut studio, &corners, fragment);
        let (constant, slope, clamp) = bias;
        setup.bias = Some(DepthBias {
            constant,
            slope,
            clamp,
        });
        for face in [&mut setup.control.front, &mut setup.control.back] {
            face.depth_write = true;
        }
        studio.draw(&setup);
        studio
            .render(&gpu(1))
            .unwrap_or_else(|fault| panic!("{fault}"));
        let found = depth_at(&studio, &depth, 3, 3, 0);
        let plain = match sloped {
            None => 0.75,
            Some(_) => 0.25 + 3.5 / 64.0,
        };
        let expected = plain + sloped.unwrap_or(flat);
        let tolerance = if sloped.is_some() { 1e-5 } else { unit / 2.0 };
        assert!(
            (found - expected).abs() <= tolerance,
            "{bias:?}: {found} {expected}"
        );
    }
}

#[test]
fn depth_clamp_keeps_what_clipping_would_cut() {
    for (clip, clamp, z, expected) in [
        (true, false, 2.0, None),
        (true, false, -1.0, None),
        (false, true, 2.0, Some(0.75)),
        (false, true, -1.0, Some(0.125)),
        (false, false, 2.0, Some(1.0)),
    ] {
        let mut studio = Studio::new([32, 32], Samples::One, 4);
        let image = studio.image(Format::from_name("R32_UINT").unwrap());
        studio.tile_programs(&[0], &[(&image, 0)]);
        let (depth, _) = attach(&mut studio, DepthFormat::Float32, false);
        let fragment = shaders::constant(&mut studio, 7);
        let mut setup = draw_of(&mut studio, &cover(z, [0.0; 4]), fragment);
        setup.cull.depth_clip = clip;
        setup.cull.depth_clamp = clamp;
        setup.scissors = vec![Scissor::new([0, 0], [32, 32], [0.125, 0.75]).unwrap()];
        for face in [&mut setup.control.front, &mut setup.control.back] {
            face.depth_write = true;
        }
        studio.draw(&setup);
        studio
            .render(&gpu(1))
            .unwrap_or_else(|fault| panic!("{fault}"));
        assert_eq!(studio.pixel(&image, 9, 9) == 7, expected.is_some());
        assert_eq!(depth_at(&studio, &depth, 9, 9, 0), expected.unwrap_or(1.0));
    }
}

/// Kills odd columns; then asks for the tests of all samples.
pub const DISCARD: &str = "
    get_sr r4, %global_id_x
    mov_imm r5, #1
    and r4, r4, r5
    mov_imm r5, #0
    imad r6, r4, r12, r5
    mov_imm r7, #16
    imad r8, r6, r7, r5
    or p0, r8, r8, slot=1
    coverage p0, wait=1
    mov_imm r9, #15
    and r9, r9, r12
    mov_imm r7, #256
    imad r9, r9, r7, r12
    tile_access imm=0x1
    or p2, r9, r9, slot=1
    coverage p2, wait=1
    tile_fence imm=0x1
    mov_imm r10, #7
    tile_store tw0, r10, r12.l";

#[test]
fn discarded_samples_leave_nothing() {
    for samples in [Samples::One, Samples::Two, Samples::Four] {
        let mut studio = Studio::new([40, 40], samples, 4);
        let image = studio.image(Format::from_name("R32_UINT").unwrap());
        studio.tile_programs(&[1], &[(&image, 0)]);
        let (depth, _) = attach(&mut studio, DepthFormat::Float32, false);
        let results = studio.data.place(&[0; 64], 64);
        studio.command.isp_oclqry_base = results;
        let fragment = shaders::with(&mut studio, DISCARD);
        let mut setup = draw_of(&mut studio, &cover(0.25, [0.0; 4]), fragment);
        setup.control2.pass = PassType::new(samples != Samples::One, true);
        setup.control2.no_merge = true;
        setup.control.visibility = Visibility::Counting;
        for face in [&mut setup.control.front, &mut setup.control.back] {
            face.depth = Compare::Less;
            face.depth_write = true;
        }
        studio.draw(&setup);
        studio
            .render(&gpu(1))
            .unwrap_or_else(|fault| panic!("{fault}"));
        for y in 0..40 {
            for x in 0..40 {
                let alive = x % 2 == 0;
                assert_eq!(studio.pixel(&image, x, y), if alive { 7 } else { 1 });
                let expected = if alive { 0.25 } else { 1.0 };
                assert_eq!(depth_at(&studio, &depth, x, y, 0), expected);
            }
        }
        let all = 40 * 20 * crate::studio::count(samples);
        assert_eq!(studio.data.word(results), all);
    }
}

#[test]
fn shaders_write_depth() {
    // Depth x / 64; what is behind 0.25 fails.
    let text = "
        mov_imm r9, #15
        and r9, r9, r12
        mov_imm r7, #256
        imad r9, r9, r7, r12
        iter r2, cf1, none
        tile_access imm=0x1
        or p2, r9, r9, slot=1
        or p3, r2, r2, slot=1
        depth_store p2, wait=1
        tile_fence imm=0x1
        mov_imm r10, #7
        tile_store tw0, r10, r12.l";
    let mut studio = Studio::new([32, 32], Samples::One, 4);
    let image = studio.image(Format::from_name("R32_UINT").unwrap());
    studio.tile_programs(&[1], &[(&image, 0)]);
    let (depth, _) = attach(&mut studio, DepthFormat::Float32, false);
    studio.command.isp_bgobjdepth = clear_depth(DepthFormat::Float32, 0.25);
    let fragment = shaders::with(&mut studio, text);
    let mut corners = cover(0.9, [0.0; 4]);
    // The attribute is x in pixels / 64.
    for corner in &mut corners {
        corner.attributes[0] = (corner.position[0] + 1.0) / 4.0;
    }
    let mut setup = draw_of(&mut studio, &corners, fragment);
    setup.interpolation = vec![agx_hw::coefficient::Interpolation::Linear; 4];
    for (face, face2) in [
        (&mut setup.control.front, &mut setup.control2.front),
        (&mut setup.control.back, &mut setup.control2.back),
    ] {
        face.depth = Compare::Less;
        face.depth_write = true;
        face2.shader_depth = ShaderDepth::Any;
    }
    studio.draw(&setup);
    studio
        .render(&gpu(1))
        .unwrap_or_else(|fault| panic!("{fault}"));
    for x in 0..32 {
        let written = (f64::from(x) + 0.5) / 64.0;
        let alive = written < 0.25;
        assert_eq!(studio.pixel(&image, x, 5) == 7, alive, "{x}");
        let found = depth_at(&studio, &depth, x, 5, 0);
        let expected = if alive { written } else { 0.25 };
        assert!((found - expected).abs() < 1e-6, "{x}: {found} {expected}");
    }
}
