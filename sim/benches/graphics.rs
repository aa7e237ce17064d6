// SPDX-License-Identifier: MIT
//! How fast passes are: triangles and fragments a second, and a pass with nothing in it.

#[path = "../tests/graphics/shaders.rs"]
mod shaders;
#[path = "../tests/graphics/studio.rs"]
mod studio;

use std::sync::atomic::AtomicBool;

use agx_hw::format::Format;
use agx_hw::launcher::Samples;
use agx_hw::ppp::{Compare, PassType};
use agx_hw::vdm::Vertices;
use agx_sim::gpu::{Gpu, GpuConfig};
use agx_sim::processor::Processor;
use divan::Bencher;
use divan::counter::ItemsCount;
use studio::{Studio, floats};

fn main() {
    divan::main();
}

/// A pass of a square framebuffer with these triangles (position and four scalars of each corner).
fn pass(
    bencher: Bencher<'_, '_>,
    threads: usize,
    size: u16,
    samples: Samples,
    corners: &[[f32; 8]],
    items: usize,
    blend: bool,
) {
    let gpu = Gpu::new(GpuConfig {
        threads,
        ..GpuConfig::default()
    })
    .unwrap();
    let mut studio = Studio::with_images([size; 2], samples, 16, 0x800_0000);
    let name = "R32G32B32A32_SFLOAT";
    let image = studio.image(Format::from_name(name).unwrap());
    studio.tile_programs(&[0; 4], &[(&image, 0)]);
    if !corners.is_empty() {
        let data = studio.data.place(&floats(&corners.concat()), 64);
        let buffers = studio.buffers(&[data]);
        let vertex = shaders::vertex(&mut studio, 8);
        let fragment = match blend {
            false => shaders::smooth(&mut studio),
            true => shaders::counting(&mut studio, 1),
        };
        let mut setup = studio.setup(vertex, fragment, buffers, 4);
        setup.vertices = Vertices::Direct {
            first: 0,
            count: corners.len() as u32,
            instances: 1,
        };
        for face in [&mut setup.control.front, &mut setup.control.back] {
            face.depth = Compare::LessOrEqual;
            face.depth_write = true;
        }
        setup.control2.pass = PassType::new(blend || samples != Samples::One, false);
        studio.draw(&setup);
    }
    studio.command.isp_bgobjdepth = 1.0f32.to_bits();
    let (command, cancel) = (studio.finish(), AtomicBool::new(false));
    bencher.counter(ItemsCount::new(items)).bench_local(|| {
        gpu.render(&command, &cancel, &mut || {}).unwrap();
    });
}

/// A grid of two triangles a cell over the framebuffer.
fn grid(cells: usize) -> Vec<[f32; 8]> {
    let at = |i: usize| 2.0 * i as f32 / cells as f32 - 1.0;
    let mut corners = Vec::new();
    for y in 0..cells {
        for x in 0..cells {
            let corner = |dx: usize, dy: usize| {
                let (px, py) = (at(x + dx), at(y + dy));
                [px, py, 0.5, 1.0, px, py, px * py, 1.0]
            };
            let (a, b, c, d) = (corner(0, 0), corner(1, 0), corner(0, 1), corner(1, 1));
            corners.extend([a, b, c, c, b, d]);
        }
    }
    corners
}

/// 32768 triangles of about four pixels each.
#[divan::bench(args = [1, 2])]
fn small_triangles(bencher: Bencher<'_, '_>, threads: usize) {
    let corners = grid(128);
    pass(
        bencher,
        threads,
        256,
        Samples::One,
        &corners,
        corners.len() / 3,
        false,
    );
}

/// 32768 triangles far smaller than a pixel.
#[divan::bench(args = [1, 2])]
fn tiny_triangles(bencher: Bencher<'_, '_>, threads: usize) {
    let corners = grid(128);
    pass(
        bencher,
        threads,
        32,
        Samples::One,
        &corners,
        corners.len() / 3,
        false,
    );
}

/// Two triangles over a megapixel: items are fragments.
#[divan::bench(args = [1, 2])]
fn fragments(bencher: Bencher<'_, '_>, threads: usize) {
    pass(
        bencher,
        threads,
        1024,
        Samples::One,
        &grid(1),
        1 << 20,
        false,
    );
}

/// The same, each fragment reading what was there.
#[divan::bench(args = [1, 2])]
fn blended_fragments(bencher: Bencher<'_, '_>, threads: usize) {
    pass(
        bencher,
        threads,
        1024,
        Samples::One,
        &grid(1),
        1 << 20,
        true,
    );
}

/// The same with four samples.
#[divan::bench(args = [1, 2])]
fn multisampled_fragments(bencher: Bencher<'_, '_>, threads: usize) {
    pass(
        bencher,
        threads,
        1024,
        Samples::Four,
        &grid(1),
        1 << 20,
        false,
    );
}

/// Clearing and storing a megapixel.
#[divan::bench(args = [1, 2])]
fn cleared_pixels(bencher: Bencher<'_, '_>, threads: usize) {
    pass(bencher, threads, 1024, Samples::One, &[], 1 << 20, false);
}

/// A pass of one tile.
#[divan::bench]
fn smallest_pass(bencher: Bencher<'_, '_>) {
    pass(bencher, 1, 32, Samples::One, &[], 1, false);
}
