// SPDX-License-Identifier: MIT
//! Tile by tile: from what is binned to pixels in memory (graphics, 1 and 16).
//!
//! A tile that no primitive touches is skipped unless the pass wants it, or a partial render has been there.
//! A partial render stores colour with its end-of-tile program, depth and stencil through their surfaces
//! (graphics, 10; INFERRED), or, where there is none, in a place of its own; the tile's next rendering
//! begins with the background program for partial renders. Without a background program tile memory is
//! undefined: zero, or in strict mode a pattern that is easy to see.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use agx_hw::layout::Tiled;

use super::fragment::{Runners, Shading, Source};
use super::jobs::Jobs;
use super::occlusion::Counters;
use super::pass::Pass;
use super::program::{Programs, Shader};
use super::raster::{self, Samples};
use super::segment::Segment;
use super::{Context, draw::Rect};
use crate::fault::{Fault, FaultKind};
use crate::gpu::ObserverFactory;
use crate::memory::Tlb;
use crate::shader::fragment::tile::Tile;
use crate::shader::{Dispatch, Program, Stage, Workgroup};

/// What strict mode finds in tile memory that nothing filled.
const UNDEFINED: u32 = 0xdead_dead;

/// What a pass has rendered so far.
#[derive(Default)]
pub(super) struct Frame {
    /// Tiles that partial renders have stored.
    entered: BTreeSet<u64>,
    /// Depth and stencil of such tiles, without surfaces.
    saved: Mutex<HashMap<u64, Saved>>,
    counters: Mutex<Counters>,
}

#[derive(Default)]
struct Saved {
    depth: Vec<f32>,
    stencil: Vec<u8>,
}

/// The primitives of a chunk in a tile: part of its bins.
struct Touch {
    tile: u64,
    chunk: usize,
    start: usize,
    end: usize,
}

/// The programs of a rendering, and which of them is for what.
struct Cast<'p> {
    programs: Vec<&'p Program>,
    dispatches: Vec<Dispatch<'p>>,
    /// By draw.
    draws: Vec<usize>,
    background: Option<usize>,
    resume: Option<usize>,
    end_of_tile: usize,
}

/// One thread's work.
struct Worker<'w, F: ObserverFactory> {
    context: &'w Context<'w, F>,
    frame: &'w Frame,
    segment: &'w Segment,
    cast: &'w Cast<'w>,
    partial: bool,
    samples: Samples,
    depth: &'w Tiled,
    stencil: &'w Tiled,
    tlb: &'w Tlb<'w>,
}

impl Frame {
    /// Renders what is binned.
    pub(super) fn render<F: ObserverFactory>(
        &mut self,
        context: &Context<'_, F>,
        programs: &mut Programs,
        segment: &Segment,
        partial: bool,
    ) -> Result<(), Box<Fault>> {
        let pass = context.pass;
        programs.forget();
        let touches = touches(segment);
        let mut tiles: Vec<u64> = touches.iter().map(|touch| touch.tile).collect();
        tiles.dedup();
        let everywhere = pass.process_empty_tiles && !partial;
        if !partial {
            tiles.extend(&self.entered);
            tiles.sort_unstable();
            tiles.dedup();
        }
        let total = match everywhere {
            true => pass.tile_count(),
            false => tiles.len() as u64,
        };
        if total == 0 {
            return Ok(());
        }
        let Some(shaders) = Shaders::get(context, programs, segment, partial)? else {
            return Ok(());
        };
        let cast = shaders.cast(context);
        let wrong = |error: agx_hw::Error| Box::new(Fault::new(FaultKind::Pass(error.to_string())));
        let depth = pass.depth.layout().map_err(wrong)?;
        let stencil = pass.stencil.layout().map_err(wrong)?;
        let frame = &*self;
        Jobs::run(context.gpu, total, &|jobs| {
            let tlb = Tlb::new(&context.command.mappings);
            let worker = Worker {
                context,
                frame,
                segment,
                cast: &cast,
                partial,
                samples: Samples::new(&pass.positions, pass.samples),
                depth: &depth,
                stencil: &stencil,
                tlb: &tlb,
            };
            worker.work(jobs, |job| {
                let tile = match everywhere {
                    true => job,
                    false => tiles[job as usize],
                };
                let start = touches.partition_point(|touch| touch.tile < tile);
                let count = touches[start..].partition_point(|touch| touch.tile == tile);
                (tile, &touches[start..start + count])
            });
        })?;
        if partial {
            self.entered.extend(tiles);
        } else {
            self.entered.clear();
        }
        Ok(())
    }

    /// Puts occlusion results into memory.
    pub(super) fn write_occlusion<F>(&self, context: &Context<'_, F>) -> Result<(), Box<Fault>> {
        let tlb = Tlb::new(&context.command.mappings);
        let counters = self.counters.lock().unwrap_or_else(PoisonError::into_inner);
        match counters.write(context.pass.occlusion, &tlb) {
            Some(va) if context.gpu.config.strict.is_some() => Err(unmapped("store", va, 8)),
            _ => Ok(()),
        }
    }
}

/// What of each chunk touches which tile, in the order of tiles, then of chunks.
fn touches(segment: &Segment) -> Vec<Touch> {
    let mut touches = Vec::new();
    for (chunk, binned) in segment.chunks.iter().enumerate() {
        let mut start = 0;
        for run in binned.bins.chunk_by(|a, b| a.0 == b.0) {
            touches.push(Touch {
                tile: run[0].0,
                chunk,
                start,
                end: start + run.len(),
            });
            start += run.len();
        }
    }
    touches.sort_by_key(|touch| (touch.tile, touch.chunk));
    touches
}

/// The shaders of a rendering.
struct Shaders {
    shaders: Vec<(Arc<Shader>, Stage, bool)>,
    draws: Vec<usize>,
    background: Option<usize>,
    resume: Option<usize>,
    end_of_tile: usize,
}

impl Shaders {
    /// All that are needed; `None` when the command was cancelled.
    fn get<F: ObserverFactory>(
        context: &Context<'_, F>,
        programs: &mut Programs,
        segment: &Segment,
        partial: bool,
    ) -> Result<Option<Shaders>, Box<Fault>> {
        let pass = context.pass;
        let mut shaders = Vec::new();
        let mut get =
            |launcher: u64, stage: Stage, at: u64| programs.get(context, launcher, stage, at);
        let stream = context.command.render.vdm_ctrl_stream_base;
        let end_of_tile = match partial {
            true => pass.partial_end_of_tile,
            false => pass.end_of_tile,
        };
        let Some(shader) = get(end_of_tile, Stage::EndOfTile, stream)? else {
            return Ok(None);
        };
        shaders.push((shader, Stage::EndOfTile, false));
        let mut optional = [None; 2];
        for (slot, launcher) in optional
            .iter_mut()
            .zip([pass.background, pass.partial_background])
        {
            let Some(launcher) = launcher else {
                continue;
            };
            let Some(shader) = get(launcher, Stage::Background, stream)? else {
                return Ok(None);
            };
            *slot = Some(shaders.len());
            shaders.push((shader, Stage::Background, false));
        }
        let mut known: HashMap<(u64, bool), usize> = HashMap::new();
        let mut draws = vec![usize::MAX; segment.draws.len()];
        for chunk in &segment.chunks {
            let draw = &segment.draws[chunk.draw];
            let key = (draw.fragment_launcher, draw.late);
            let index = match known.get(&key) {
                Some(index) => *index,
                None => {
                    let shader = get(draw.fragment_launcher, Stage::Fragment, draw.record)?;
                    let Some(shader) = shader else {
                        return Ok(None);
                    };
                    shaders.push((shader, Stage::Fragment, draw.late));
                    known.insert(key, shaders.len() - 1);
                    shaders.len() - 1
                }
            };
            draws[chunk.draw] = index;
        }
        let [background, resume] = optional;
        Ok(Some(Shaders {
            shaders,
            draws,
            background,
            resume,
            end_of_tile: 0,
        }))
    }

    fn cast<'p, F>(&'p self, context: &Context<'p, F>) -> Cast<'p> {
        let dispatches = self.shaders.iter();
        Cast {
            programs: self
                .shaders
                .iter()
                .map(|(shader, ..)| &*shader.program)
                .collect(),
            dispatches: dispatches
                .map(|(shader, stage, late)| shader.dispatch(context, *stage, *late))
                .collect(),
            draws: self.draws.clone(),
            background: self.background,
            resume: self.resume,
            end_of_tile: self.end_of_tile,
        }
    }
}

impl<F: ObserverFactory> Worker<'_, F> {
    /// Takes jobs until there are none.
    fn work<'j>(&self, jobs: &Jobs, job_of: impl Fn(u64) -> (u64, &'j [Touch])) {
        let pass = self.context.pass;
        let groups: Vec<Workgroup<'_>> = self
            .cast
            .dispatches
            .iter()
            .map(|dispatch| Workgroup {
                dispatch,
                tlb: self.tlb,
                id: [0; 3],
                shared: &[],
            })
            .collect();
        let mut runners = Runners {
            factory: self.context.factory,
            programs: &self.cast.programs,
            groups: &groups,
            observers: groups.iter().map(|_| None).collect(),
        };
        let tile = Tile::new(
            pass.tile,
            pass.samples,
            pass.positions,
            pass.words,
            pass.depth_format,
        );
        let mut shading = Shading::new(tile, &groups[self.cast.end_of_tile]);
        let mut counters = Counters::default();
        while let Some(job) = jobs.next() {
            if self.context.cancelled() {
                break;
            }
            let (tile, touches) = job_of(job);
            let rendered = self.tile(&mut shading, &mut runners, &mut counters, tile, touches);
            if let Err(mut fault) = rendered {
                if let Some(shader) = &mut fault.shader {
                    shader.workgroup = pass.tile_place(tile);
                }
                jobs.report(job, fault);
                break;
            }
        }
        runners.finish();
        let mut sum = self
            .frame
            .counters
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        sum.merge(counters);
    }

    /// Renders a tile.
    fn tile<'t>(
        &self,
        shading: &mut Shading<'t>,
        runners: &mut Runners<'t, F>,
        counters: &mut Counters,
        tile: u64,
        touches: &[Touch],
    ) -> Result<(), Box<Fault>> {
        let pass = self.context.pass;
        let [x, y, layer] = pass.tile_place(tile);
        let entered = self.frame.entered.contains(&tile);
        let memory = shading.tile();
        memory.origin = [x * pass.tile[0], y * pass.tile[1]];
        memory.layer = layer;
        self.load(memory, tile, entered)?;
        let background = match entered {
            true => self.cast.resume,
            false => self.cast.background,
        };
        match background {
            Some(program) => shading.background(runners, program, pass.size)?,
            None => {
                let is_strict = self.context.gpu.config.strict.is_some();
                let content = if is_strict { UNDEFINED } else { 0 };
                shading.tile().colour.fill(content);
            }
        }
        for touches in touches
            .chunk_by(|a, b| self.segment.chunks[a.chunk].draw == self.segment.chunks[b.chunk].draw)
        {
            let draw = self.segment.chunks[touches[0].chunk].draw;
            self.draw(shading, runners, counters, draw, touches)
                .map_err(|mut fault| {
                    fault.record = Some(self.segment.draws[draw].record);
                    fault
                })?;
        }
        shading.end_of_tile(runners, self.cast.end_of_tile, [x, y, layer])?;
        self.store(shading.tile(), tile)
    }

    /// Renders a draw's primitives in a tile.
    fn draw<'t>(
        &self,
        shading: &mut Shading<'t>,
        runners: &mut Runners<'t, F>,
        counters: &mut Counters,
        index: usize,
        touches: &[Touch],
    ) -> Result<(), Box<Fault>> {
        let draw = &self.segment.draws[index];
        let program = self.cast.draws[index];
        let tile = shading.tile();
        let min = tile.origin.map(|at| at as i32);
        let area = Rect {
            min,
            max: [0, 1].map(|axis| min[axis] + tile.size[axis] as i32),
        };
        shading.begin(draw);
        for touch in touches {
            let chunk = &self.segment.chunks[touch.chunk];
            for (_, number) in &chunk.bins[touch.start..touch.end] {
                let number = *number as usize;
                let primitive = &chunk.primitives[number];
                let source = Source {
                    draw,
                    chunk,
                    primitive,
                    key: (touch.chunk, number),
                    program,
                };
                let clip = primitive.bounds.intersect(area);
                let mut result = Ok(());
                raster::quads(
                    &primitive.outline,
                    clip,
                    &self.samples,
                    &mut |x, y, masks| {
                        if result.is_ok() {
                            result = shading.quad(runners, source, [x as u32, y as u32], masks);
                        }
                    },
                );
                result?;
            }
        }
        shading.flush(runners, program)?;
        if let Some(occlusion) = draw.occlusion {
            counters.add(occlusion, shading.passed());
        }
        Ok(())
    }

    /// Depth and stencil at a tile's start.
    fn load(&self, tile: &mut Tile, index: u64, entered: bool) -> Result<(), Box<Fault>> {
        let pass: &Pass = self.context.pass;
        tile.depth.fill(pass.clear_depth);
        tile.stencil.fill(pass.clear_stencil);
        let from = |base: u64, load: bool| match entered {
            true => base != 0,
            false => load,
        };
        let mut missing = None;
        if from(pass.depth.base, pass.depth.load) {
            missing = pass.depth.load_depth(self.depth, tile, self.tlb);
        }
        if from(pass.stencil.base, pass.stencil.load) {
            let more = pass.stencil.load_stencil(self.stencil, tile, self.tlb);
            missing = missing.or(more);
        }
        if entered {
            let mut saved = self
                .frame
                .saved
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            if let Some(saved) = saved.remove(&index) {
                if pass.depth.base == 0 {
                    tile.depth = saved.depth;
                }
                if pass.stencil.base == 0 {
                    tile.stencil = saved.stencil;
                }
            }
        }
        self.check("load", missing)
    }

    /// Depth and stencil at its end.
    fn store(&self, tile: &Tile, index: u64) -> Result<(), Box<Fault>> {
        let pass = self.context.pass;
        let to = |base: u64, store: bool| match self.partial {
            true => base != 0,
            false => store,
        };
        let mut missing = None;
        if to(pass.depth.base, pass.depth.store) {
            missing = pass.depth.store_depth(self.depth, tile, self.tlb);
        }
        if to(pass.stencil.base, pass.stencil.store) {
            let more = pass.stencil.store_stencil(self.stencil, tile, self.tlb);
            missing = missing.or(more);
        }
        if self.partial && (pass.depth.base == 0 || pass.stencil.base == 0) {
            let saved = Saved {
                depth: tile.depth.clone(),
                stencil: tile.stencil.clone(),
            };
            let mut all = self
                .frame
                .saved
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            all.insert(index, saved);
        }
        self.check("store", missing)
    }

    fn check(&self, access: &'static str, missing: Option<u64>) -> Result<(), Box<Fault>> {
        match missing {
            Some(va) if self.context.gpu.config.strict.is_some() => Err(unmapped(access, va, 4)),
            _ => Ok(()),
        }
    }
}

#[cold]
fn unmapped(access: &'static str, va: u64, bytes: u32) -> Box<Fault> {
    Box::new(Fault::new(FaultKind::Memory {
        access,
        va,
        bytes,
        reason: "not mapped for this",
    }))
}
