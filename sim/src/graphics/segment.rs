// SPDX-License-Identifier: MIT
//! What has been binned and not rendered yet: parameter memory.
//!
//! Draws are cut into chunks one after the other; their vertex work, clipping and binning are jobs that run
//! together, up to the next barrier of the stream.

use std::sync::{Arc, Mutex, PoisonError};

use super::assemble::{self, Chunk};
use super::bin;
use super::draw::Draw;
use super::jobs::Jobs;
use super::primitive::Primitive;
use super::program::{Programs, Shader};
use super::setup::Setup;
use super::tiles::Frame;
use super::walk::Call;
use super::{Context, vertex};
use crate::fault::Fault;
use crate::gpu::ObserverFactory;
use crate::memory::Tlb;
use crate::shader::Stage;

/// Words that a primitive takes, roughly.
const PRIMITIVE_WORDS: usize = 64;
/// Chunks that are worked on together at most.
const MAX_PENDING: usize = 256;

/// A draw and its vertex shader.
struct Pending {
    draw: usize,
    shader: Arc<Shader>,
    chunk: Chunk,
}

/// A chunk in the window.
pub(super) struct Binned {
    /// Index of its draw.
    pub(super) draw: usize,
    /// Output words of its invocations.
    pub(super) outputs: Vec<u32>,
    pub(super) primitives: Vec<Primitive>,
    /// Tiles and the primitives that touch them.
    pub(super) bins: Vec<(u64, u32)>,
}

/// Binned draws, in order.
#[derive(Default)]
pub(super) struct Segment {
    pub(super) draws: Vec<Draw>,
    pub(super) chunks: Vec<Binned>,
    pending: Vec<Pending>,
    /// Words that chunks take, and those that pending ones may.
    size: usize,
    expected: usize,
}

impl Segment {
    /// Draws in it.
    pub(super) fn draws(&self) -> usize {
        self.draws.len()
    }

    pub(super) fn is_full<F>(&self, context: &Context<'_, F>) -> bool {
        self.size > context.gpu.config.parameter_words
    }

    /// Takes a draw. When there is no more room, `frame` renders what is there.
    pub(super) fn draw<F: ObserverFactory>(
        &mut self,
        context: &Context<'_, F>,
        programs: &mut Programs,
        frame: &mut Frame,
        draw: Draw,
        call: &Call<'_>,
    ) -> Result<(), Box<Fault>> {
        let launcher = draw.vertex_launcher;
        let shader = programs.get(context, launcher, Stage::Vertex, draw.record)?;
        let Some(shader) = shader else {
            return Ok(());
        };
        let index = self.draws.len();
        let mappings = &context.command.mappings;
        let is_strict = context.gpu.config.strict.is_some();
        let provoking = draw.provoking;
        self.draws.push(draw);
        assemble::chunks(provoking, call, mappings, is_strict, &mut |chunk| {
            if context.cancelled() {
                return Ok(());
            }
            self.expected += PRIMITIVE_WORDS * chunk.primitives.len();
            self.pending.push(Pending {
                draw: index,
                shader: Arc::clone(&shader),
                chunk,
            });
            let room = context.gpu.config.parameter_words;
            if self.pending.len() < MAX_PENDING && self.expected < room {
                return Ok(());
            }
            self.flush(context)?;
            if self.is_full(context) {
                frame.render(context, programs, self, true)?;
                self.chunks.clear();
                self.size = 0;
            }
            Ok(())
        })
    }

    /// Does the vertex work of all draws so far.
    pub(super) fn flush<F: ObserverFactory>(
        &mut self,
        context: &Context<'_, F>,
    ) -> Result<(), Box<Fault>> {
        let pending = std::mem::take(&mut self.pending);
        self.expected = 0;
        let results: Vec<Mutex<Option<Binned>>> =
            pending.iter().map(|_| Mutex::new(None)).collect();
        Jobs::run(context.gpu, pending.len() as u64, &|jobs| {
            let tlb = Tlb::new(&context.command.mappings);
            while let Some(job) = jobs.next() {
                let work = &pending[job as usize];
                match process(context, &self.draws[work.draw], work, &tlb) {
                    Ok(binned) => {
                        let mut result = results[job as usize]
                            .lock()
                            .unwrap_or_else(PoisonError::into_inner);
                        *result = Some(binned);
                    }
                    Err(fault) => jobs.report(job, fault),
                }
            }
        })?;
        for result in results {
            let binned = result.into_inner().unwrap_or_else(PoisonError::into_inner);
            if let Some(binned) = binned {
                self.size += binned.outputs.len() + PRIMITIVE_WORDS * binned.primitives.len();
                if !binned.primitives.is_empty() {
                    self.chunks.push(binned);
                }
            }
        }
        Ok(())
    }
}

/// A chunk's vertex work, clipping and binning.
fn process<F: ObserverFactory>(
    context: &Context<'_, F>,
    draw: &Draw,
    work: &Pending,
    tlb: &Tlb<'_>,
) -> Result<Binned, Box<Fault>> {
    let shader = &work.shader;
    let dispatch = shader.dispatch(context, Stage::Vertex, false);
    let factory = context.factory;
    let mut observer = factory.begin(&dispatch, &shader.program);
    let shaded = vertex::shade(
        &shader.program,
        &dispatch,
        tlb,
        factory,
        &mut observer,
        &work.chunk.invocations,
        draw.words,
    );
    factory.finish(observer);
    let outputs = shaded.map_err(|mut fault| {
        fault.record = Some(draw.record);
        fault
    })?;
    let mut setup = Setup::new(draw, context.pass, &outputs);
    if !draw.discard {
        for (vertices, id) in work.chunk.primitives.iter().zip(&work.chunk.ids) {
            setup.primitive(*vertices, *id);
        }
    }
    let primitives = setup.finish();
    let bins = bin::bins(context.pass, &primitives);
    Ok(Binned {
        draw: work.draw,
        outputs,
        primitives,
        bins,
    })
}
