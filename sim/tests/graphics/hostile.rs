// SPDX-License-Identifier: MIT
//! Damaged memory: whatever a stream, its state, tables and programs say, the pass ends, with a fault or
//! without.

use agx_hw::format::Format;
use agx_hw::launcher::Samples;
use agx_hw::ppp::{Compare, PassType};
use agx_sim::gpu::{Gpu, GpuConfig};
use agx_sim::shader::strict::Options;

use crate::depth::{DISCARD, draw_of};
use crate::shaders;
use crate::studio::{ARENA, BODIES, DATA, HEAP, Memory, STATE, STREAM, Studio};
use crate::triangles::{Random, triangle};

/// A pass that uses a bit of everything, and the bytes of its draw records' counts.
fn scene(random: &mut Random) -> (Studio, Vec<std::ops::Range<u64>>) {
    let samples = [Samples::One, Samples::Two, Samples::Four][random.next() as usize % 3];
    let mut studio = Studio::with_images([50, 40], samples, 16, 0x10_0000);
    let image = studio.image(Format::from_name("R32G32B32A32_SFLOAT").unwrap());
    studio.tile_programs(&[0; 4], &[(&image, 0)]);
    let mut counts = Vec::new();
    for round in 0..3 {
        let triangles: Vec<_> = (0..3).flat_map(|_| triangle(random, 1.2)).collect();
        let fragment = match round {
            0 => shaders::smooth(&mut studio),
            1 => shaders::counting(&mut studio, 1),
            _ => shaders::with(&mut studio, DISCARD),
        };
        let mut setup = draw_of(&mut studio, &triangles, fragment);
        setup.control2.pass = PassType::new(true, round == 2);
        setup.control.stencil = true;
        for face in [&mut setup.control.front, &mut setup.control.back] {
            face.depth = Compare::LessOrEqual;
            face.depth_write = true;
            face.stencil.compare = Compare::GreaterOrEqual;
        }
        studio.draw(&setup);
        // The last record is the draw: header, count, instances, first vertex.
        let end = STREAM + studio.records.len() as u64;
        counts.push(end - 16..end - 4);
    }
    (studio, counts)
}

fn damage(random: &mut Random, studio: &Studio, counts: &[std::ops::Range<u64>]) {
    let places: [(&Memory, u64, u64); 6] = [
        (&studio.stream, STREAM, studio.records.len() as u64 + 4),
        (&studio.state, STATE, 0x300),
        (&studio.heap, HEAP, 0x1800),
        (&studio.bodies, BODIES, 0xa00),
        (&studio.arena, ARENA, 0x1000),
        (&studio.data, DATA, 0x600),
    ];
    for _ in 0..=random.next() % 3 {
        let (memory, start, length) = places[random.next() as usize % places.len()];
        let at = start + u64::from(random.next()) % length;
        // A draw of 2^31 vertices ends as well, but nobody wants to wait for it.
        if counts.iter().any(|range| range.contains(&at)) {
            continue;
        }
        let old = memory.read(at, 1)[0];
        let new = match random.next() % 3 {
            0 => random.next() as u8,
            1 => 0xff,
            _ => old ^ 1 << (random.next() % 8),
        };
        memory.write(at, &[new]);
    }
}

#[test]
fn damaged_passes_end() {
    let gpu = |strict: Option<Options>, partial| {
        Gpu::new(GpuConfig {
            threads: 2,
            watchdog: 20_000,
            max_records: 1000,
            strict,
            partial_renders: partial,
            ..GpuConfig::default()
        })
        .unwrap()
    };
    let gpus = [
        gpu(None, None),
        gpu(Some(Options::COMPILER), None),
        gpu(None, Some(1)),
    ];
    let rounds = std::env::var("CORTLAND_SOAK").ok();
    let rounds: u64 = rounds.and_then(|text| text.parse().ok()).unwrap_or(300);
    let mut faults = 0;
    for seed in 0..rounds {
        let mut random = Random(seed);
        let (mut studio, counts) = scene(&mut random);
        studio.finish();
        damage(&mut random, &studio, &counts);
        let command = agx_sim::processor::RenderCommand {
            render: studio.command,
            mappings: studio.mappings(),
        };
        let gpu = &gpus[seed as usize % gpus.len()];
        let cancel = std::sync::atomic::AtomicBool::new(false);
        let result = agx_sim::processor::Processor::render(gpu, &command, &cancel, &mut || {});
        faults += u64::from(result.is_err());
    }
    // Some damage is seen, some is not.
    assert!(
        faults > rounds / 10 && faults < rounds,
        "{faults} of {rounds}"
    );
}
