// SPDX-License-Identifier: MIT
//! A shader from its source to a picture: WGSL to SPIR-V, to machine code, run on the simulated GPU.

use std::io::Write;
use std::path::Path;
use std::time::Instant;

use agx_isa::Mode;
use anyhow::{Context as _, ensure};
use cortland_cts::case::{Buffer, BufferKind, Case};
use cortland_cts::corpus::source;
use cortland_cts::device::agx::AgxCompiler;
use cortland_cts::device::layout::Layout;
use cortland_cts::device::simulated::{Compiler as _, Options, SimulatedDevice};

use crate::dis;

const SOURCE: &str = include_str!("mandelbrot.wgsl");
const WIDTH: u32 = 960;
const HEIGHT: u32 = 640;
const LIMIT: u32 = 192;
/// Instructions of the listing that are shown.
const SHOWN: usize = 14;

pub(super) fn run(output: &Path, out: &mut impl Write) -> anyhow::Result<()> {
    let case = case(WIDTH, HEIGHT)?;
    let layout = Layout::of(&case)?;
    writeln!(
        out,
        "1. mandelbrot.wgsl -> SPIR-V (naga): {} words, validated",
        case.spirv.len()
    )?;

    let device = SimulatedDevice::new(
        AgxCompiler::default(),
        Options {
            threads: 0,
            ..Options::default()
        },
    );
    let started = Instant::now();
    let binary = device.compiler().compile(&case, &layout)?;
    let stats = &binary.stats;
    writeln!(
        out,
        "2. SPIR-V -> NIR (Mesa) -> Apple9 machine code: {} instructions, {} bytes, {} registers, \
         {} spills, in {:.1} ms",
        stats.instructions,
        stats.bytes,
        stats.gprs,
        stats.spills,
        1e3 * started.elapsed().as_secs_f64()
    )?;
    writeln!(out)?;
    let lines = dis::lines(&binary.code, Mode::Strict);
    // The inner loop is the interesting part: it ends with the first branch back.
    let back = |line: &dis::Line<'_>| {
        let instr = line.content.as_ref().ok();
        instr
            .and_then(agx_isa::Instr::displacement)
            .is_some_and(|d| d < 0)
    };
    let end = lines.iter().position(back).map_or(SHOWN, |at| at + 1);
    let begin = end.saturating_sub(SHOWN);
    for line in lines.iter().take(end).skip(begin) {
        if let Ok(instr) = &line.content {
            writeln!(out, "     {:04x}  {instr}", line.offset)?;
        }
    }
    writeln!(out)?;

    writeln!(
        out,
        "3. {WIDTH} x {HEIGHT} invocations in workgroups of 8 x 8 on the simulated M4, strict mode on ..."
    )?;
    out.flush()?;
    let started = Instant::now();
    let results = device.run_binary(&binary, &case, &layout)?;
    let seconds = started.elapsed().as_secs_f64();
    let pixels = results.get(1).context("the buffer of pixels")?;
    write_png(output, pixels)?;
    writeln!(
        out,
        "   done in {seconds:.1} s: {:.0} million pixels an hour; picture: {}",
        f64::from(WIDTH * HEIGHT) / seconds * 3600.0 / 1e6,
        output.display()
    )?;
    Ok(())
}

fn case(width: u32, height: u32) -> anyhow::Result<Case> {
    let step = 3.2 / width as f32;
    let words = [
        (-0.65f32).to_bits(),
        0,
        step.to_bits(),
        LIMIT,
        width,
        height,
    ];
    let buffer = |binding, bytes| Buffer {
        set: 0,
        binding,
        element: 0,
        kind: BufferKind::Storage,
        bytes,
        address_at: None,
    };
    Ok(Case {
        name: "mandelbrot".into(),
        spirv: source::wgsl(SOURCE)?,
        entry: "main".into(),
        specialization: Vec::new(),
        groups: [width.div_ceil(8), height.div_ceil(8), 1],
        base_group: [0; 3],
        push_constants: Vec::new(),
        buffers: vec![
            buffer(0, words.iter().flat_map(|w| w.to_le_bytes()).collect()),
            buffer(1, vec![0; 4 * (width * height) as usize]),
        ],
        images: Vec::new(),
    })
}

fn write_png(path: &Path, pixels: &[u8]) -> anyhow::Result<()> {
    ensure!(
        pixels.len() == 4 * (WIDTH * HEIGHT) as usize,
        "a picture of another size"
    );
    let file = std::fs::File::create(path).with_context(|| path.display().to_string())?;
    let mut encoder = png::Encoder::new(std::io::BufWriter::new(file), WIDTH, HEIGHT);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.write_header()?.write_image_data(pixels)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The picture is that of the formula in double precision, except next to the boundary of the set, where rounding
    /// decides.
    #[test]
    fn the_picture_is_the_mandelbrot_set() {
        let (width, height) = (96, 64);
        let case = case(width, height).expect("compiles to SPIR-V");
        let device = SimulatedDevice::new(AgxCompiler::default(), Options::default());
        let results = cortland_cts::case::Device::run(&device, &case).expect("runs");
        let (mut inside, mut different) = (0, 0);
        for (i, pixel) in results[1].chunks(4).enumerate() {
            let (x, y) = (i as u32 % width, i as u32 / width);
            let sample = |s: u32| {
                let at = |p: u32, size: u32, s: u32| {
                    f64::from(p) + f64::from(s) * 0.5 + 0.25 - 0.5 * f64::from(size)
                };
                let step = f64::from(3.2 / width as f32);
                let cx = f64::from(-0.65f32) + at(x, width, s & 1) * step;
                let cy = -at(y, height, s >> 1) * step;
                let (mut a, mut b) = (0.0f64, 0.0f64);
                for _ in 0..LIMIT {
                    if a * a + b * b > 256.0 {
                        return false;
                    }
                    (a, b) = (a * a - b * b + cx, 2.0 * a * b + cy);
                }
                true
            };
            let all = (0..4).all(sample);
            inside += u32::from(all);
            // The colour inside: (0.02, 0.02, 0.05).
            different += u32::from(all != (pixel == [5, 5, 13, 255]));
        }
        assert!(inside > 500, "{inside} pixels inside");
        assert!(different < 20, "{different} pixels differ");
    }
}
