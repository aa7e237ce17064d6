// SPDX-License-Identifier: MIT
//! The vertex stage: the vertex shader for the invocations of a chunk, 32 at a time.
//!
//! An invocation that does not write all of its position faults (isa-3, 5.2); strict mode also wants
//! everything else that the draw counts.

use crate::fault::{Fault, FaultKind, ShaderPlace};
use crate::gpu::ObserverFactory;
use crate::memory::Tlb;
use crate::shader::vertex::VertexLanes;
use crate::shader::{Dispatch, Exit, LANES, Program, Wave, Workgroup};

/// Output words of all invocations, one behind the other.
pub(super) fn shade<F: ObserverFactory>(
    program: &Program,
    dispatch: &Dispatch<'_>,
    tlb: &Tlb<'_>,
    factory: &F,
    observer: &mut F::Observer,
    invocations: &[[u32; 2]],
    words: usize,
) -> Result<Vec<u32>, Box<Fault>> {
    let group = Workgroup {
        dispatch,
        tlb,
        id: [0; 3],
        shared: &[],
    };
    factory.workgroup(observer, &group);
    let mut outputs = vec![0; invocations.len() * words];
    let mut wave = Wave::new(&group, 0, 0);
    let mut lanes = Box::<VertexLanes>::default();
    for (index, batch) in invocations.chunks(LANES).enumerate() {
        let active = u32::MAX >> (LANES - batch.len());
        wave.restart(&group, index as u32, active);
        lanes.start(words);
        for (lane, [vertex, instance]) in batch.iter().enumerate() {
            lanes.vertex[lane] = *vertex;
            lanes.instance[lane] = *instance;
        }
        wave.vertex = Some(lanes);
        let exit = loop {
            match wave.run(program, u64::MAX, observer) {
                // One SIMD group passes every barrier.
                Exit::Yield | Exit::Barrier => {}
                exit => break exit,
            }
        };
        lanes = wave.vertex.take().unwrap_or_default();
        if let Exit::Fault(fault) = exit {
            return Err(fault);
        }
        check(&wave, &lanes, program, active)?;
        let at = index * LANES * words;
        for (lane, row) in outputs[at..]
            .chunks_mut(words)
            .take(batch.len())
            .enumerate()
        {
            for (to, from) in row.iter_mut().zip(&lanes.outputs) {
                *to = from.0[lane];
            }
        }
    }
    Ok(outputs)
}

fn check(
    wave: &Wave<'_>,
    lanes: &VertexLanes,
    program: &Program,
    active: u32,
) -> Result<(), Box<Fault>> {
    if wave
        .group
        .dispatch
        .cancel
        .load(std::sync::atomic::Ordering::Relaxed)
    {
        return Ok(());
    }
    let is_strict = wave.group.dispatch.strict;
    let needed = if is_strict { lanes.written.len() } else { 4 };
    let missing = lanes
        .written
        .iter()
        .take(needed)
        .position(|lanes| active & !lanes != 0);
    let Some(slot) = missing else {
        return Ok(());
    };
    let reason = format!("the program ends without output slot {slot} in some lanes");
    let kind = match slot {
        0..4 => FaultKind::IllegalInstruction(reason),
        _ => FaultKind::Strict(reason),
    };
    let (pc, instruction) = program.describe(wave.pc as usize);
    Err(Box::new(Fault {
        kind,
        shader: Some(Box::new(ShaderPlace {
            stage: wave.group.dispatch.stage.name(),
            pc,
            instruction,
            lane: None,
            workgroup: wave.group.id,
            simd_group: wave.simd_group,
        })),
        record: None,
    }))
}
