// SPDX-License-Identifier: MIT
//! Runs a launch program and reads what it set up (launch, 4, 5 and 11).
//!
//! It runs once per launch, with one active lane (launch, 5.5; INFERRED), and must execute ALLOC,
//! TARGET and FRAME before STOP: without them the hardware times out (launch, 5.2; HW). The last of
//! several counts; instructions that ask for more than 32 KiB of threadgroup memory, or name no even
//! offset in the entry arena, do not decode. A barrier in it does nothing; it has no scratch and no
//! threadgroup memory.

use std::sync::atomic::{AtomicBool, Ordering};

use agx_hw::window::EntryOffset;
use agx_isa::{FormId, Instr};

use super::workgroup::place;
use super::{GpuConfig, ObserverFactory};
use crate::fault::{Fault, FaultKind};
use crate::memory::{Mappings, Tlb};
use crate::shader::launch::{Extents, Storage};
use crate::shader::{Dispatch, Exit, Observer, Program, Stage, UniformFile, Wave, Workgroup};

/// What a launch program leaves behind.
pub(crate) struct Setup {
    /// The argument window.
    pub(crate) uniforms: UniformFile,
    /// Address of the main program's first instruction.
    pub(crate) entry: u64,
    /// FRAME's extent A.
    pub(crate) scratch_bytes: u32,
    /// FRAME's publication words.
    pub(crate) publications: u32,
    /// What ALLOC asked for.
    pub(crate) storage: Storage,
}

impl Setup {
    /// The threadgroup memory of a compute program.
    pub(super) fn threadgroup_bytes(&self) -> Result<u32, Box<Fault>> {
        match self.storage {
            Storage::None => Ok(0),
            Storage::Threadgroup { bytes } => Ok(bytes),
            other => {
                let reason = format!("ALLOC of {other:?}: storage of another stage");
                Err(Box::new(Fault::new(FaultKind::IllegalInstruction(reason))))
            }
        }
    }
}

/// Runs `program` to its STOP; `None` when the command was cancelled meanwhile.
pub(crate) fn run<F: ObserverFactory>(
    config: &GpuConfig,
    mappings: &Mappings,
    program: &Program,
    cancel: &AtomicBool,
    factory: &F,
) -> Result<Option<Setup>, Box<Fault>> {
    let uniforms = UniformFile::default();
    let dispatch = Dispatch {
        stage: Stage::Launcher,
        uniforms: &uniforms,
        global: [1; 3],
        local: [1; 3],
        groups: [1; 3],
        scratch_bytes: 0,
        threadgroup_bytes: 0,
        watchdog: config.watchdog,
        cancel,
        strict: config.strict.is_some(),
        late_tests: false,
    };
    let tlb = Tlb::new(mappings);
    let group = Workgroup {
        dispatch: &dispatch,
        tlb: &tlb,
        id: [0; 3],
        shared: &[],
    };
    let mut observer = factory.begin(&dispatch, program);
    factory.workgroup(&mut observer, &group);
    let result = execute(&group, program, &mut observer);
    factory.finish(observer);
    let Some((entry, extents, storage)) = result? else {
        return Ok(None);
    };
    Ok(Some(Setup {
        uniforms,
        entry,
        scratch_bytes: extents.scratch,
        publications: extents.publications,
        storage,
    }))
}

/// Entry, FRAME, ALLOC.
type Outcome = (u64, Extents, Storage);

fn execute<O: Observer>(
    group: &Workgroup<'_>,
    program: &Program,
    observer: &mut O,
) -> Result<Option<Outcome>, Box<Fault>> {
    let mut wave = Wave::new(group, 0, 1);
    loop {
        let exit = wave.run(program, u64::MAX, observer);
        if let Exit::Fault(fault) = exit {
            return Err(fault);
        }
        if group.dispatch.cancel.load(Ordering::Relaxed) {
            // It may not have come to its end.
            return Ok(None);
        }
        if matches!(exit, Exit::Stop) {
            break;
        }
    }
    outcome(&wave).map(Some).map_err(|reason| {
        let kind = FaultKind::IllegalInstruction(reason);
        place(program, &wave, wave.pc, kind)
    })
}

/// What the launch blocks said.
fn outcome(wave: &Wave<'_>) -> Result<Outcome, String> {
    let state = &wave.launch;
    let blocks = [
        ("ALLOC", state.alloc),
        ("TARGET", state.target),
        ("FRAME", state.frame),
    ];
    let missing: Vec<&str> = blocks
        .iter()
        .filter_map(|(name, bits)| bits.is_none().then_some(*name))
        .collect();
    if !missing.is_empty() {
        let missing = missing.join(", ");
        return Err(format!("a launch program stops without {missing}"));
    }
    // What the field must be like is known to agx-hw.
    let target = Instr::from_word(FormId::Target, state.target.unwrap_or_default());
    let field = target.ok().and_then(|target| target.modifier("t"));
    let entry =
        EntryOffset::from_field(field.unwrap_or(0) as u32).map_err(|error| error.to_string())?;
    let extents = state.extents().unwrap_or_default();
    let storage = state.storage().unwrap_or(Storage::None);
    Ok((entry.code().address(), extents, storage))
}
