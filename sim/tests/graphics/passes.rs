// SPDX-License-Identifier: MIT
//! Whole passes: targets and their formats, layers and viewports, threads, partial renders, sizes.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use agx_hw::format::{Format, StoreFrom};
use agx_hw::launcher::Samples;
use agx_hw::pass::{DepthFormat, clear_depth};
use agx_hw::ppp::{Compare, PassType, RegionClip, Viewport};
use agx_hw::root::Graphics;
use agx_hw::scissor::Scissor;
use agx_hw::store::Store;
use agx_hw::uvs::layer_viewport_word;
use agx_sim::fault::FaultKind;
use agx_sim::processor::Processor;
use agx_uapi::abi::RenderFlags;

use crate::depth::{DISCARD, cover, draw_of};
use crate::shaders;
use crate::studio::{Studio, gpu, gpu_with, program, small_gpu};
use crate::triangles::{Random, bytes, corner, draw_count, triangle};

/// A pass over a linear image of one word a pixel that was filled before, which its background programs
/// load: draws that blend, test, discard.
fn scene(seed: u64) -> (Studio, u64, usize) {
    let mut random = Random(seed);
    let size = [150u16, 100];
    let mut studio = Studio::new(size, Samples::One, 4);
    let format = Format::from_name("R32_UINT").unwrap();
    let stride = 160 * 4;
    let length = stride as usize * usize::from(size[1]);
    let address = studio.images.reserve(length as u64, 0x4000);
    let content: Vec<u8> = (0..length / 4)
        .flat_map(|i| (i as u32 * 8).to_le_bytes())
        .collect();
    studio.images.write(address, &content);
    // The end stores to the linear image.
    let mut image = studio.image(format);
    image.store = Store::linear(
        format,
        StoreFrom::Tile,
        size[0].into(),
        size[1].into(),
        address,
        stride,
    )
    .unwrap();
    studio.end_of_tile(&[(&image, 0)]);
    // The background loads it.
    let text = "tile_access imm=0x600
        tile_access imm=0x80c
        device_load.i32x2 r2:r3, u4:u5, none, slot=2
        or.10 r2, r2, r2, wait=2
        get_sr r4, %global_id_x
        get_sr r5, %global_id_y
        mov_imm r6, #160
        imad r4, r5, r6, r4
        device_load.i32 r7, r2:r3, r4, scale=lsl2, slot=1
        or.10 r7, r7, r7, wait=1
        tile_store tw0, r7, #1
        tile_fence imm=0x20c
        stop";
    let buffers = studio.buffers(&[address]);
    let entry = studio.shader(text);
    let root = Graphics {
        buffers,
        ..Graphics::default()
    };
    let load = studio.fragment_launcher(entry, root);
    studio.command.bg = program(load);
    studio.command.partial_bg = program(load);
    studio.command.isp_bgobjdepth = clear_depth(DepthFormat::Float32, 1.0);
    let counting = shaders::counting(&mut studio, 1);
    let discarding = shaders::with(&mut studio, DISCARD);
    for round in 0..12 {
        // More than a chunk holds, now and then.
        let (count, reach) = if round % 6 == 5 {
            (1200, 0.9)
        } else {
            (3, 1.1)
        };
        let triangles: Vec<_> = (0..count)
            .flat_map(|_| triangle(&mut random, reach))
            .collect();
        let fragment = if round % 4 == 3 { discarding } else { counting };
        let mut setup = draw_of(&mut studio, &triangles, fragment);
        setup.control2.pass = PassType::new(true, round % 4 == 3);
        for face in [&mut setup.control.front, &mut setup.control.back] {
            face.depth = Compare::LessOrEqual;
            face.depth_write = true;
        }
        studio.draw(&setup);
    }
    (studio, address, length)
}

#[test]
fn pictures_depend_neither_on_threads_nor_on_partial_renders() {
    for seed in [1, 2] {
        let picture = |threads, partial| {
            let (mut studio, address, length) = scene(seed);
            let gpu = gpu_with(threads, partial);
            studio
                .render(&gpu)
                .unwrap_or_else(|fault| panic!("{fault}"));
            studio.images.read(address, length)
        };
        let expected = picture(1, None);
        let (before, address, length) = scene(seed);
        assert_ne!(before.images.read(address, length), expected);
        for (threads, partial) in [
            (2, None),
            (5, None),
            (1, Some(1)),
            (3, Some(1)),
            (2, Some(5)),
        ] {
            let found = picture(threads, partial);
            assert!(
                found == expected,
                "seed {seed}, {threads} threads, {partial:?}"
            );
        }
        for threads in [1, 3] {
            let (mut studio, address, length) = scene(seed);
            studio
                .render(&small_gpu(threads))
                .unwrap_or_else(|fault| panic!("{fault}"));
            let found = studio.images.read(address, length);
            assert!(found == expected, "seed {seed}, little memory");
        }
    }
}

#[test]
fn tiles_without_primitives_are_left_alone_unless_the_pass_wants_them() {
    for process in [true, false] {
        let mut studio = Studio::new([128, 96], Samples::One, 4);
        let image = studio.image(Format::from_name("R32_UINT").unwrap());
        studio.tile_programs(&[5], &[(&image, 0)]);
        let fragment = shaders::constant(&mut studio, 7);
        // In the tile at (1, 1) only.
        let corners = [[-0.4, -0.2], [-0.1, -0.2], [-0.4, 0.2]]
            .map(|[x, y]| corner([x, y, 0.5, 1.0], [0.0; 4]));
        let setup = draw_of(&mut studio, &corners, fragment);
        studio.draw(&setup);
        let mut command = studio.finish();
        command
            .render
            .flags
            .set(RenderFlags::PROCESS_EMPTY_TILES, process);
        let cancel = AtomicBool::new(false);
        gpu(2).render(&command, &cancel, &mut || {}).unwrap();
        assert_eq!(studio.pixel(&image, 40, 40), 7);
        assert_eq!(studio.pixel(&image, 63, 63), 5);
        assert_eq!(studio.pixel(&image, 0, 0), if process { 5 } else { 0 });
        assert_eq!(studio.pixel(&image, 127, 95), if process { 5 } else { 0 });
    }
}

#[test]
fn a_pass_without_draws_clears() {
    let mut studio = Studio::new([33, 65], Samples::Four, 4);
    let image = studio.image(Format::from_name("R8G8B8A8_UNORM").unwrap());
    studio.tile_programs(&[0x1234_5678], &[(&image, 0)]);
    studio.render(&gpu(2)).unwrap();
    for (x, y) in [(0, 0), (32, 64), (32, 0), (0, 64), (31, 33)] {
        for sample in 0..4 {
            let texel = studio.texel(&image, x, y, 0, sample);
            assert_eq!(texel, [0x78, 0x56, 0x34, 0x12]);
        }
    }
}

#[test]
fn the_largest_framebuffer() {
    // One row of tiles at the far end, coordinates up to 16384.
    let mut studio = Studio::with_images([16384, 32], Samples::One, 4, 0x80_0000);
    let image = studio.image(Format::from_name("R32_UINT").unwrap());
    studio.tile_programs(&[0], &[(&image, 0)]);
    let fragment = shaders::constant(&mut studio, 9);
    // x from 16380 on.
    let edge = 2.0 * 16380.0 / 16384.0 - 1.0;
    let corners = [[edge, -1.0], [edge + 1.0, -1.0], [edge, 70_000.0]]
        .map(|[x, y]| corner([x, y, 0.5, 1.0], [0.0; 4]));
    let setup = draw_of(&mut studio, &corners, fragment);
    studio.draw(&setup);
    studio
        .render(&gpu(2))
        .unwrap_or_else(|fault| panic!("{fault}"));
    for x in 16370..16384 {
        let expected = if x >= 16380 { 9 } else { 0 };
        assert_eq!(studio.pixel(&image, x, 31), expected, "{x}");
    }
}

/// What a block store makes of tile words.
#[test]
fn block_stores_convert() {
    let one = 1.0f32.to_bits();
    let half = 0.5f32.to_bits();
    // Halves: 1.0 = 0x3c00, 0.5 = 0x3800, 0.25 = 0x3400.
    let cases: [(&str, &[u32], &[u8]); 16] = [
        ("R8G8B8A8_UNORM", &[0x4433_2211], &[0x11, 0x22, 0x33, 0x44]),
        ("B8G8R8A8_UNORM", &[0x4433_2211], &[0x33, 0x22, 0x11, 0x44]),
        ("R8G8B8A8_SRGB", &[0x4433_2211], &[0x11, 0x22, 0x33, 0x44]),
        ("R8_UNORM", &[0x4433_2211], &[0x11]),
        ("R8G8_SNORM", &[0x4433_2211], &[0x11, 0x22]),
        ("R8G8B8A8_UINT", &[0x4433_2211], &[0x11, 0x22, 0x33, 0x44]),
        ("R16_SFLOAT", &[0xffff_3c00], &[0x00, 0x3c]),
        (
            "R16G16B16A16_SFLOAT",
            &[0x3800_3c00, 0x1234_3400],
            &[0, 0x3c, 0, 0x38, 0, 0x34, 0x34, 0x12],
        ),
        ("R16G16_UNORM", &[one, half], &[0xff, 0xff, 0x00, 0x80]),
        ("R16_SNORM", &[0xbf80_0000], &[0x01, 0x80]),
        (
            "R32G32_UINT",
            &[7, 0x8000_0000],
            &[7, 0, 0, 0, 0, 0, 0, 0x80],
        ),
        (
            "A2B10G10R10_UNORM_PACK32",
            &[0x8765_4321],
            &[0x21, 0x43, 0x65, 0x87],
        ),
        (
            "B10G11R11_UFLOAT_PACK32",
            &[0x8765_4321],
            &[0x21, 0x43, 0x65, 0x87],
        ),
        // RGBA16 (u)int in the tile.
        (
            "A2B10G10R10_UINT_PACK32",
            &[0x03ff_0001, 0x0003_0010],
            &[0x01, 0xfc, 0x0f, 0xc1],
        ),
        // Red 1, green 0.5, blue 0.25 as halves; red is in the highest bits.
        (
            "R5G6B5_UNORM_PACK16",
            &[0x3800_3c00, 0x3c00_3400],
            &[0x08, 0xfc],
        ),
        (
            "R32G32B32A32_SFLOAT",
            &[one, half, 3, 4],
            &[0, 0, 0x80, 0x3f, 0, 0, 0, 0x3f, 3, 0, 0, 0, 4, 0, 0, 0],
        ),
    ];
    for (name, words, expected) in cases {
        let Some(format) = Format::from_name(name) else {
            panic!("{name}");
        };
        let bytes = 4 * words.len() as u32;
        let mut studio = Studio::new([20, 20], Samples::One, bytes + 4);
        let image = studio.image(format);
        // A word in front, for another offset than 0.
        let mut clear = vec![0xeeee_eeee];
        clear.extend(words);
        studio.tile_programs(&clear, &[(&image, 4)]);
        studio
            .render(&gpu(1))
            .unwrap_or_else(|fault| panic!("{name}: {fault}"));
        assert_eq!(studio.texel(&image, 13, 17, 0, 0), expected, "{name}");
    }
}

#[test]
fn several_targets() {
    let mut studio = Studio::new([40, 40], Samples::Two, 24);
    let first = studio.image(Format::from_name("R8G8B8A8_UNORM").unwrap());
    let second = studio.image(Format::from_name("R32G32B32A32_UINT").unwrap());
    studio.tile_programs(&[1, 2, 3, 4, 5], &[(&first, 0), (&second, 4)]);
    let text = "mov_imm r4, #10
        tile_store tw0, r4, r12.l
        mov_imm r4, #20
        tile_store tw3, r4, r12.l";
    let fragment = shaders::with(&mut studio, text);
    let mut setup = draw_of(&mut studio, &cover(0.5, [0.0; 4]), fragment);
    setup.control2.pass = PassType::Translucent;
    studio.draw(&setup);
    studio
        .render(&gpu(1))
        .unwrap_or_else(|fault| panic!("{fault}"));
    for sample in 0..2 {
        assert_eq!(studio.texel(&first, 39, 39, 0, sample), [10, 0, 0, 0]);
        let words: Vec<u8> = [2u32, 3, 20, 5]
            .iter()
            .flat_map(|n| n.to_le_bytes())
            .collect();
        assert_eq!(studio.texel(&second, 0, 39, 0, sample), words);
    }
}

#[test]
fn layers_and_viewports() {
    for samples in [Samples::One, Samples::Two] {
        let mut studio = Studio::new([70, 40], samples, 4);
        studio.layers = 3;
        let image = studio.image(Format::from_name("R32_UINT").unwrap());
        studio.tile_programs(&[0], &[(&image, 0)]);
        // Two viewports side by side; triangles for (layer, viewport) pairs, one of them beyond the layers.
        let pairs = [(0, 0), (2, 1), (1, 1), (7, 0)];
        let corners: Vec<_> = pairs
            .iter()
            .flat_map(|&(layer, viewport)| {
                let word = f32::from_bits(layer_viewport_word(layer, viewport));
                let mut corners = cover(0.5, [0.0; 4]);
                for corner in &mut corners {
                    corner.attributes[3] = f64::from(word);
                }
                corners
            })
            .collect();
        // Subnormal floats keep their bits: f32 to f64 and back is exact.
        let data = studio.data.place(&bytes(&corners), 64);
        let buffers = studio.buffers(&[data]);
        let vertex = shaders::vertex(&mut studio, 8);
        let text = "get_sr r4, %layer
            mov_imm r5, #100
            iadd r4, r4, r5
            tile_store tw0, r4, r12.l";
        let fragment = shaders::with(&mut studio, text);
        let mut setup = studio.setup(vertex, fragment, buffers, 3);
        setup.layout.layer_viewport = true;
        setup.vertices = draw_count(corners.len() as u32);
        setup.control2.pass = PassType::new(samples != Samples::One, false);
        let half = |left: u16, right: u16| {
            let region = RegionClip::of_pixels([left, 0], [right, 40]).unwrap();
            let size = [f32::from(right - left), 40.0];
            let viewport = Viewport::new([left.into(), 0.0], size, [0.0, 1.0], region);
            let scissor = Scissor::new([left, 0], [right, 40], [0.0, 1.0]).unwrap();
            (viewport, scissor)
        };
        let (left, right) = (half(0, 35), half(35, 70));
        setup.viewports = vec![left.0, right.0];
        setup.scissors = vec![left.1, right.1];
        studio.draw(&setup);
        studio
            .render(&gpu(2))
            .unwrap_or_else(|fault| panic!("{fault}"));
        for layer in 0..3u32 {
            for (x, y) in [(0, 0), (34, 39), (35, 0), (69, 39)] {
                let drawn = match layer {
                    0 => x < 35,
                    _ => x >= 35,
                };
                let expected = if drawn { 100 + layer } else { 0 };
                let texel = studio.texel(&image, x, y, layer, 0);
                assert_eq!(texel, expected.to_le_bytes(), "{x} {y} of layer {layer}");
            }
        }
    }
}

#[test]
fn cancelled_passes_end() {
    let (mut studio, ..) = scene(3);
    let command = studio.finish();
    let cancel = AtomicBool::new(true);
    gpu(2).render(&command, &cancel, &mut || {}).unwrap();
}

#[test]
fn tile_memory_that_nothing_fills_is_easy_to_see() {
    let mut studio = Studio::new([32, 32], Samples::One, 4);
    let image = studio.image(Format::from_name("R32_UINT").unwrap());
    studio.tile_programs(&[0], &[(&image, 0)]);
    studio.command.bg = Default::default();
    studio.command.partial_bg = Default::default();
    studio.render(&gpu(1)).unwrap();
    assert_eq!(studio.pixel(&image, 3, 3), 0xdead_dead);
}

#[test]
fn stores_outside_memory_are_found() {
    let mut studio = Studio::new([64, 64], Samples::One, 4);
    let image = studio.image(Format::from_name("R32_UINT").unwrap());
    studio.tile_programs(&[0], &[(&image, 0)]);
    let mut command = studio.finish();
    let regions = command.mappings.regions().to_vec();
    let kept = regions
        .into_iter()
        .filter(|region| region.start != crate::studio::IMAGES)
        .collect();
    command.mappings = Arc::new(agx_sim::memory::Mappings::new(kept));
    let cancel = AtomicBool::new(false);
    let fault = gpu(1).render(&command, &cancel, &mut || {}).unwrap_err();
    assert!(matches!(fault.kind, FaultKind::Memory { .. }), "{fault}");
}
