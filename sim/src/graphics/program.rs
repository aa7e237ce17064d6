// SPDX-License-Identifier: MIT
//! Shaders ready to run: launch programs executed, bodies decoded (graphics, 4).
//!
//! A launch program runs once in a phase of a pass, however many draws name it: launch programs, root
//! tables and bodies do not change while a command runs (launch, 3.2 and 5.5).

use std::collections::HashMap;
use std::sync::Arc;

use agx_isa::File;

use super::{Context, refuse};
use crate::fault::{Fault, FaultKind};
use crate::gpu::ObserverFactory;
use crate::gpu::flight::Flight;
use crate::gpu::launcher::{self, Setup};
use crate::memory::Mappings;
use crate::shader::launch::Storage;
use crate::shader::{Dispatch, Program, Stage};

/// A shader.
pub(super) struct Shader {
    pub(super) program: Arc<Program>,
    pub(super) setup: Setup,
}

impl Shader {
    /// Its programs' dispatch.
    pub(super) fn dispatch<'s, F>(
        &'s self,
        context: &Context<'s, F>,
        stage: Stage,
        late_tests: bool,
    ) -> Dispatch<'s> {
        let config = &context.gpu.config;
        Dispatch {
            stage,
            uniforms: &self.setup.uniforms,
            global: [1; 3],
            local: [1; 3],
            groups: [1; 3],
            scratch_bytes: self.setup.scratch_bytes,
            threadgroup_bytes: 0,
            watchdog: config.watchdog,
            cancel: context.cancel,
            strict: config.strict.is_some(),
            late_tests,
        }
    }
}

/// The shaders of a command.
pub(super) struct Programs {
    flight: Flight,
    shaders: HashMap<u64, Arc<Shader>>,
}

impl Programs {
    pub(super) fn new(flight: Flight) -> Programs {
        Programs {
            flight,
            shaders: HashMap::new(),
        }
    }

    /// Another phase begins: launch programs read memory anew.
    pub(super) fn forget(&mut self) {
        self.shaders.clear();
    }

    /// Does memory still hold all programs?
    pub(super) fn check(&self, mappings: &Mappings) -> Result<(), Box<Fault>> {
        self.flight.check(mappings)
    }

    /// The shader that a launch program starts; `None` when the command was cancelled meanwhile. A
    /// fault names the record `at`.
    pub(super) fn get<F: ObserverFactory>(
        &mut self,
        context: &Context<'_, F>,
        launcher: u64,
        stage: Stage,
        at: u64,
    ) -> Result<Option<Arc<Shader>>, Box<Fault>> {
        let placed = |mut fault: Box<Fault>| {
            fault.record = Some(at);
            fault
        };
        let shader = match self.shaders.get(&launcher) {
            Some(shader) => Arc::clone(shader),
            None => match self.start(context, launcher).map_err(placed)? {
                Some(shader) => {
                    self.shaders.insert(launcher, Arc::clone(&shader));
                    shader
                }
                None => return Ok(None),
            },
        };
        check_storage(context, &shader.setup, stage, at)?;
        Ok(Some(shader))
    }

    fn start<F: ObserverFactory>(
        &mut self,
        context: &Context<'_, F>,
        launcher: u64,
    ) -> Result<Option<Arc<Shader>>, Box<Fault>> {
        let gpu = context.gpu;
        let mappings = &context.command.mappings;
        let program = gpu.cache.get(mappings, launcher);
        self.flight.enter(mappings, &program)?;
        let setup = launcher::run(
            &gpu.config,
            mappings,
            &program,
            context.cancel,
            context.factory,
        )?;
        let Some(setup) = setup else {
            return Ok(None);
        };
        let body = gpu.cache.get(mappings, setup.entry);
        self.flight.enter(mappings, &body)?;
        self.flight.check_apart(&program, &body)?;
        if gpu.config.strict.is_some() {
            check_publications(&body, setup.publications)?;
        }
        Ok(Some(Arc::new(Shader {
            program: body,
            setup,
        })))
    }
}

/// Is the storage that of the stage and the pass (graphics, 4.4 and 9.1)?
fn check_storage<F>(
    context: &Context<'_, F>,
    setup: &Setup,
    stage: Stage,
    at: u64,
) -> Result<(), Box<Fault>> {
    let pass = context.pass;
    let is_strict = context.gpu.config.strict.is_some();
    let fits = match setup.storage {
        Storage::None => stage == Stage::Vertex,
        Storage::Threadgroup { .. } => false,
        Storage::Tile { samples, bytes } => {
            let (bytes, all) = (bytes as usize, 4 * pass.words);
            // A program without colour may allocate none.
            let enough = match is_strict {
                true => bytes == all || bytes == 0,
                false => bytes <= all,
            };
            stage != Stage::Vertex && samples as usize == pass.samples && enough
        }
    };
    if fits {
        return Ok(());
    }
    Err(refuse(
        at,
        format!(
            "ALLOC of {:?} for a {} program in a pass of {} samples and {} bytes of each",
            setup.storage,
            stage.name(),
            pass.samples,
            4 * pass.words
        ),
    ))
}

/// Does the frame count all publications that the program names (launch, 4.7)?
fn check_publications(program: &Program, count: u32) -> Result<(), Box<Fault>> {
    for (index, info) in program.info().iter().enumerate() {
        let Some(instr) = &info.instr else {
            continue;
        };
        for access in instr.accesses() {
            let end = u32::from(access.reg.index) + u32::from(access.count);
            if access.reg.file == File::Publication && end > count {
                let (address, text) = program.describe(index);
                return Err(Box::new(Fault::new(FaultKind::Strict(format!(
                    "`{text}` at {address:#x} uses publication {}, FRAME counts {count}",
                    end - 1
                )))));
            }
        }
    }
    Ok(())
}
