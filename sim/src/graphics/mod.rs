// SPDX-License-Identifier: MIT
//! The graphics pipeline: from a render command to pixels in memory.
//!
//! ```text
//!  command --(pass)--> sizes, tile, programs
//!  stream --(walk, draw)--> draws with their state
//!     draw --(assemble)--> chunks: invocations of the vertex shader, primitives
//!       chunk --(vertex)--> outputs --(clip, setup)--> primitives in the window --(bin)--> tiles
//!  tile: load depth, background program, primitives in order, end-of-tile program, store depth
//!     primitive --(raster)--> quads --(fragment, coefficients)--> SIMD groups of the shader core
//! ```
//!
//! The model is that of graphics, 1 and 16. Chunks of primitives, and then tiles, are independent jobs;
//! the result does not depend on who runs them. Hidden-surface removal is not modelled: every fragment
//! that passes its tests is shaded, in the order of primitives (graphics, 7.8). When parameter memory
//! ([`crate::gpu::GpuConfig::parameter_words`]) is full, also in the middle of a draw, or when
//! [`crate::gpu::GpuConfig::partial_renders`] wants it, a partial render empties it (graphics, 12).
//!
//! Where the reference is silent the rules are Vulkan's; comments say INFERRED.

mod assemble;
mod bin;
mod clip;
mod coefficients;
mod draw;
mod fragment;
mod jobs;
mod line;
mod occlusion;
mod pass;
mod primitive;
mod program;
mod raster;
mod segment;
mod setup;
mod tiles;
mod vertex;
mod walk;
mod zls;

use std::sync::atomic::{AtomicBool, Ordering};

use self::draw::Draw;
use self::pass::Pass;
use self::program::Programs;
use self::segment::Segment;
use self::tiles::Frame;
use self::walk::{Event, Stream};
use crate::fault::{Fault, FaultKind};
use crate::gpu::flight::Flight;
use crate::gpu::{Gpu, ObserverFactory};
use crate::processor::RenderCommand;

/// What the phases of a pass have in common.
struct Context<'c, F> {
    gpu: &'c Gpu,
    command: &'c RenderCommand,
    pass: &'c Pass,
    cancel: &'c AtomicBool,
    factory: &'c F,
}

impl<F> Context<'_, F> {
    fn cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }
}

impl Gpu {
    /// Runs one render command under observers of the caller's choice: for tools. `tiled` is called
    /// when vertex work is done and fragment work begins.
    ///
    /// # Errors
    /// What went wrong first.
    pub fn render_observed<F: ObserverFactory>(
        &self,
        command: &RenderCommand,
        cancel: &AtomicBool,
        factory: &F,
        tiled: &mut dyn FnMut(),
    ) -> Result<(), Box<Fault>> {
        let pass = Pass::new(&command.render)?;
        let context = Context {
            gpu: self,
            command,
            pass: &pass,
            cancel,
            factory,
        };
        let mut programs = Programs::new(Flight::new(self.config.strict.is_some()));
        let mut segment = Segment::default();
        let mut frame = Frame::default();
        let mut stream = Stream::new(command, &self.config)?;
        let every = self.config.partial_renders.unwrap_or(u32::MAX);
        while let Some(event) = stream.next()? {
            if context.cancelled() {
                return Ok(());
            }
            match event {
                Event::Draw(call) => {
                    let draw = Draw::new(&context, &call)?;
                    segment.draw(&context, &mut programs, &mut frame, draw, &call)?;
                }
                // What later draws read may be what earlier ones store.
                Event::Barrier => segment.flush(&context)?,
            }
            if segment.draws() >= every as usize || segment.is_full(&context) {
                segment.flush(&context)?;
                frame.render(&context, &mut programs, &segment, true)?;
                segment = Segment::default();
            }
        }
        segment.flush(&context)?;
        tiled();
        frame.render(&context, &mut programs, &segment, false)?;
        if context.cancelled() {
            return Ok(());
        }
        frame.write_occlusion(&context)?;
        programs.check(&command.mappings)
    }
}

/// The fault of a record, or of what it names.
#[cold]
fn refuse(record: u64, reason: String) -> Box<Fault> {
    let mut fault = Fault::new(FaultKind::Stream { va: record, reason });
    fault.record = Some(record);
    Box::new(fault)
}

/// The fault of a rule that the hardware does not check.
#[cold]
fn strict(record: u64, reason: String) -> Box<Fault> {
    let mut fault = Fault::new(FaultKind::Strict(reason));
    fault.record = Some(record);
    Box::new(fault)
}
