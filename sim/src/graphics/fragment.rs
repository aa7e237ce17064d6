// SPDX-License-Identifier: MIT
//! The fragment stage: quads gathered into SIMD groups of the shader core.
//!
//! A SIMD group takes quads of one draw, of several primitives if the draw does not forbid it, but never two
//! of one place: so what a primitive leaves in the tile is there when the next one comes. Tests that come
//! before the program are made when a quad is gathered; a quad without a sample left is not shaded.

use super::coefficients;
use super::draw::Draw;
use super::primitive::Primitive;
use super::segment::Binned;
use crate::fault::{Fault, FaultKind, ShaderPlace};
use crate::gpu::ObserverFactory;
use crate::shader::fragment::tile::{DepthFormat, Tile, Transactions};
use crate::shader::fragment::{self, Fragments, QUADS, Quad};
use crate::shader::{Exit, LANES, Program, Wave, Workgroup};

/// The programs that a thread runs, and what watches them.
pub(super) struct Runners<'t, F: ObserverFactory> {
    pub(super) factory: &'t F,
    pub(super) programs: &'t [&'t Program],
    pub(super) groups: &'t [Workgroup<'t>],
    /// Made when first needed.
    pub(super) observers: Vec<Option<F::Observer>>,
}

impl<F: ObserverFactory> Runners<'_, F> {
    /// Runs a SIMD group to its end.
    fn run(&mut self, wave: &mut Wave<'_>, index: usize) -> Result<(), Box<Fault>> {
        let program = self.programs[index];
        let group = &self.groups[index];
        let factory = self.factory;
        let observer = self.observers[index].get_or_insert_with(|| {
            let mut observer = factory.begin(group.dispatch, program);
            factory.workgroup(&mut observer, group);
            observer
        });
        loop {
            match wave.run(program, u64::MAX, observer) {
                // One SIMD group passes every barrier.
                Exit::Yield | Exit::Barrier => {}
                Exit::Stop => return Ok(()),
                Exit::Fault(fault) => return Err(fault),
            }
        }
    }

    pub(super) fn finish(self) {
        for observer in self.observers.into_iter().flatten() {
            self.factory.finish(observer);
        }
    }
}

/// A primitive of a draw.
#[derive(Clone, Copy)]
pub(super) struct Source<'s> {
    pub(super) draw: &'s Draw,
    pub(super) chunk: &'s Binned,
    pub(super) primitive: &'s Primitive,
    /// Numbers of chunk and primitive.
    pub(super) key: (usize, usize),
    /// Number of the draw's program.
    pub(super) program: usize,
}

/// What a thread shades fragments with.
pub(super) struct Shading<'t> {
    wave: Box<Wave<'t>>,
    fragments: Box<Fragments>,
    /// Quads gathered.
    count: usize,
    /// The primitive at the end of [`Fragments::primitives`].
    current: Option<(usize, usize)>,
    /// Stands in for the fragments while they are with a wave.
    spare: Option<Box<Fragments>>,
}

impl<'t> Shading<'t> {
    /// For tiles like this one, with any of the thread's workgroups.
    pub(super) fn new(tile: Tile, group: &'t Workgroup<'t>) -> Shading<'t> {
        Shading {
            wave: Wave::new(group, 0, 0),
            fragments: Box::new(Fragments::new(tile)),
            count: 0,
            current: None,
            spare: None,
        }
    }

    pub(super) fn tile(&mut self) -> &mut Tile {
        &mut self.fragments.tile
    }

    /// Fragments of a draw follow.
    pub(super) fn begin(&mut self, draw: &Draw) {
        self.fragments.registers = draw.table.registers().into();
        self.fragments.tests = draw.tests;
        self.fragments.passed = 0;
        self.fragments.primitives.clear();
        self.fragments.coefficients.clear();
        self.current = None;
        self.count = 0;
    }

    /// Samples that passed the tests since [`Shading::begin`].
    pub(super) fn passed(&self) -> u64 {
        self.fragments.passed
    }

    /// Takes a quad of a primitive, with the samples that are covered.
    pub(super) fn quad<F: ObserverFactory>(
        &mut self,
        runners: &mut Runners<'t, F>,
        source: Source<'_>,
        [x, y]: [u32; 2],
        mut masks: [u8; 4],
    ) -> Result<(), Box<Fault>> {
        let draw = source.draw;
        let taken = |quad: &Quad| quad.x == x && quad.y == y;
        if self.fragments.quads[..self.count].iter().any(taken) {
            self.flush(runners, source.program)?;
        }
        if !draw.late {
            self.test(source, [x, y], &mut masks);
            if masks == [0; 4] {
                return Ok(());
            }
        }
        if draw.no_merge && self.current.is_some_and(|current| current != source.key) {
            self.flush(runners, source.program)?;
        }
        if self.current != Some(source.key) {
            self.enter(source);
        }
        let fragments = &mut self.fragments;
        fragments.quads[self.count] = Quad {
            x,
            y,
            primitive: fragments.primitives.len() - 1,
        };
        let lanes = 4 * self.count..4 * self.count + 4;
        fragments.covered[lanes.clone()].copy_from_slice(&masks);
        fragments.live[lanes.clone()].copy_from_slice(&masks);
        fragments.pending[lanes].copy_from_slice(if draw.late { &masks } else { &[0; 4] });
        self.count += 1;
        if self.count == QUADS {
            self.flush(runners, source.program)?;
        }
        Ok(())
    }

    /// The tests before the program.
    fn test(&mut self, source: Source<'_>, [x, y]: [u32; 2], masks: &mut [u8; 4]) {
        let Source {
            draw, primitive, ..
        } = source;
        let fragments = &mut *self.fragments;
        let tests = draw.tests[usize::from(primitive.back)];
        if tests.is_idle() {
            let covered: u32 = masks.iter().map(|mask| mask.count_ones()).sum();
            fragments.passed += u64::from(covered);
            return;
        }
        let range = draw.windows[usize::from(primitive.window)].range;
        let origin = primitive.origin();
        let tile = &mut fragments.tile;
        let place = tile.place(x, y);
        for (pixel, mask) in masks.iter_mut().enumerate() {
            let px = f64::from(x + (pixel as u32 & 1)) - origin[0];
            let py = f64::from(y + (pixel as u32 >> 1)) - origin[1];
            for sample in 0..tile.samples {
                if *mask >> sample & 1 == 0 {
                    continue;
                }
                let [sx, sy] = tile.positions[sample].map(|at| f64::from(at) / 16.0);
                let depth = range.clamp(primitive.depth.at(px + sx, py + sy) as f32);
                if tests.test(tile, place + pixel, sample, depth) {
                    fragments.passed += 1;
                } else {
                    *mask &= !(1 << sample);
                }
            }
        }
    }

    /// Another primitive's quads follow.
    fn enter(&mut self, source: Source<'_>) {
        let Source {
            draw,
            chunk,
            primitive,
            ..
        } = source;
        self.fragments.primitives.push(fragment::Primitive {
            origin: primitive.origin(),
            depth: primitive.depth,
            range: draw.windows[usize::from(primitive.window)].range,
            back: primitive.back,
        });
        let coefficients = &mut self.fragments.coefficients;
        coefficients::append(draw, primitive, &chunk.outputs, coefficients);
        self.current = Some(source.key);
    }

    /// Shades what is gathered.
    pub(super) fn flush<F: ObserverFactory>(
        &mut self,
        runners: &mut Runners<'t, F>,
        program: usize,
    ) -> Result<(), Box<Fault>> {
        if self.count == 0 {
            return Ok(());
        }
        self.shade(runners, program)?;
        self.count = 0;
        // More quads of the last primitive may follow.
        let fragments = &mut self.fragments;
        if let Some(last) = fragments.primitives.len().checked_sub(1) {
            fragments.primitives.drain(..last);
            fragments.coefficients.drain(..last * fragments.registers);
        }
        Ok(())
    }

    /// Runs a program for the quads that are set up.
    fn shade<F: ObserverFactory>(
        &mut self,
        runners: &mut Runners<'t, F>,
        program: usize,
    ) -> Result<(), Box<Fault>> {
        let lanes = 4 * self.count;
        self.fragments.covered[lanes..].fill(0);
        self.fragments.live[lanes..].fill(0);
        self.fragments.pending[lanes..].fill(0);
        let first = self.fragments.quads[0];
        self.fragments.quads[self.count..].fill(first);
        self.fragments.transactions = Transactions::default();
        let group = &runners.groups[program];
        let active = u32::MAX >> (LANES - lanes);
        self.wave.restart(group, 0, active);
        run(
            &mut self.wave,
            &mut self.fragments,
            &mut self.spare,
            runners,
            program,
        )?;
        let dispatch = group.dispatch;
        if !dispatch.late_tests {
            return Ok(());
        }
        let fragments = &mut self.fragments;
        let untested = |&lane: &usize| fragments.pending[lane] & fragments.live[lane] != 0;
        if dispatch.strict
            && let Some(lane) = (0..LANES).find(untested)
        {
            let rule = "the program ends with samples that it neither killed nor tested";
            return Err(ended(
                &self.wave,
                runners.programs[program],
                rule,
                Some(lane),
            ));
        }
        for lane in 0..LANES {
            // What hardware makes of these is not known; the tests are what the draw asked for.
            fragments.run_tests(lane, u8::MAX, None);
        }
        Ok(())
    }

    /// Runs a background program for every pixel of the framebuffer in the tile.
    pub(super) fn background<F: ObserverFactory>(
        &mut self,
        runners: &mut Runners<'t, F>,
        program: usize,
        framebuffer: [u32; 2],
    ) -> Result<(), Box<Fault>> {
        self.clear();
        let [left, top] = self.fragments.tile.origin;
        let [width, height] = self.fragments.tile.size;
        let all = ((1u32 << self.fragments.tile.samples) - 1) as u8;
        for y in (top..top + height).step_by(2) {
            for x in (left..left + width).step_by(2) {
                if x >= framebuffer[0] || y >= framebuffer[1] {
                    continue;
                }
                let mut masks = [0; 4];
                for (pixel, mask) in masks.iter_mut().enumerate() {
                    let inside = x + (pixel as u32 & 1) < framebuffer[0]
                        && y + (pixel as u32 >> 1) < framebuffer[1];
                    *mask = if inside { all } else { 0 };
                }
                let fragments = &mut self.fragments;
                fragments.quads[self.count] = Quad { x, y, primitive: 0 };
                let lanes = 4 * self.count..4 * self.count + 4;
                fragments.covered[lanes.clone()].copy_from_slice(&masks);
                fragments.live[lanes].copy_from_slice(&masks);
                self.count += 1;
                if self.count == QUADS {
                    self.flush(runners, program)?;
                }
            }
        }
        self.flush(runners, program)
    }

    /// Runs an end-of-tile program, with one lane.
    pub(super) fn end_of_tile<F: ObserverFactory>(
        &mut self,
        runners: &mut Runners<'t, F>,
        program: usize,
        id: [u32; 3],
    ) -> Result<(), Box<Fault>> {
        self.clear();
        let [x, y] = self.fragments.tile.origin;
        let all = ((1u32 << self.fragments.tile.samples) - 1) as u8;
        self.fragments.quads.fill(Quad { x, y, primitive: 0 });
        self.fragments.covered.fill(all);
        self.fragments.live.fill(all);
        self.fragments.transactions = Transactions::default();
        let Workgroup {
            dispatch,
            tlb,
            shared,
            ..
        } = runners.groups[program];
        let group = Workgroup {
            dispatch,
            tlb,
            id,
            shared,
        };
        let mut wave = Wave::new(&group, 0, 1);
        run(
            &mut wave,
            &mut self.fragments,
            &mut self.spare,
            runners,
            program,
        )
    }

    /// No draw's fragments follow.
    fn clear(&mut self) {
        let fragments = &mut self.fragments;
        fragments.registers = 0;
        fragments.primitives.clear();
        fragments.coefficients.clear();
        fragments.pending.fill(0);
        self.current = None;
        self.count = 0;
    }
}

/// Runs a SIMD group of fragments.
fn run<F: ObserverFactory>(
    wave: &mut Wave<'_>,
    fragments: &mut Box<Fragments>,
    spare: &mut Option<Box<Fragments>>,
    runners: &mut Runners<'_, F>,
    program: usize,
) -> Result<(), Box<Fault>> {
    let hollow = spare.take().unwrap_or_else(|| {
        let nothing = Tile::new([0; 2], 0, [[0; 2]; 4], 0, DepthFormat::Float32);
        Box::new(Fragments::new(nothing))
    });
    wave.helpers = fragments.helpers();
    wave.fragments = Some(std::mem::replace(fragments, hollow));
    let result = runners.run(wave, program);
    if let Some(back) = wave.fragments.take() {
        *spare = Some(std::mem::replace(fragments, back));
    }
    result?;
    if wave.group.dispatch.strict
        && let Some(rule) = fragments.transactions.open()
    {
        return Err(ended(wave, runners.programs[program], rule, None));
    }
    Ok(())
}

/// A rule that a program has broken when it ends.
#[cold]
fn ended(wave: &Wave<'_>, program: &Program, rule: &str, lane: Option<usize>) -> Box<Fault> {
    let (pc, instruction) = program.describe(wave.pc as usize);
    Box::new(Fault {
        kind: FaultKind::Strict(rule.to_owned()),
        shader: Some(Box::new(ShaderPlace {
            stage: wave.group.dispatch.stage.name(),
            pc,
            instruction,
            lane: lane.map(|lane| lane as u8),
            workgroup: wave.group.id,
            simd_group: wave.simd_group,
        })),
        record: None,
    })
}
