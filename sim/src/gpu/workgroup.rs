// SPDX-License-Identifier: MIT
//! The SIMD groups of one workgroup.
//!
//! They take turns of [`SLICE`] instructions, so a SIMD group that spins on memory which another of
//! its workgroup is going to write does not keep it from doing so. At a workgroup barrier a SIMD
//! group waits until every other one waits as well or has ended (isa-2, 7; what ended does not
//! count: INFERRED, the weakest assumption). Strict mode wants more: "reached by all
//! subgroups of the workgroup, in uniform control flow" (isa-2, 7.2) means that none has ended and
//! that all stand at the same barrier. (That no lane is switched off is checked by the strict
//! observer.)
//!
//! Invocations go to lanes by their linear index (launch, 11; SIMD group = index / 32, INFERRED in
//! launch, 6.5). Lanes past the workgroup's size or outside the grid never become active; a SIMD
//! group without any does not run.

use super::observers::ObserverFactory;
use crate::fault::{Fault, FaultKind, ShaderPlace};
use crate::shader::{Dispatch, Exit, LANES, Observer, Program, Wave, Workgroup};

/// Instructions of a SIMD group's turn.
const SLICE: u64 = 0x800;
/// Most SIMD groups of a workgroup: 1024 threads.
const MAX_WAVES: usize = 1024 / LANES;

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Running,
    Waiting,
    Ended,
}

/// SIMD groups to use again, as many as were ever needed.
pub(super) type Waves<'g> = Vec<Box<Wave<'g>>>;

/// Runs a workgroup to its end, or until `halted` says that nobody wants it any more.
pub(super) fn run<'g, F: ObserverFactory>(
    group: &'g Workgroup<'g>,
    program: &Program,
    waves: &mut Waves<'g>,
    factory: &F,
    observer: &mut F::Observer,
    halted: impl Fn() -> bool,
) -> Result<(), Box<Fault>> {
    let local = group.dispatch.local;
    let threads = local[0] * local[1] * local[2];
    let count = (threads as usize).div_ceil(LANES).min(MAX_WAVES);
    factory.workgroup(observer, group);
    let mut states = [State::Ended; MAX_WAVES];
    // SIMD groups that had lanes at the start: all of them have to come to each barrier.
    let mut present = states;
    // Which of `waves` a SIMD group has. One that ends in its first turn, as most do, leaves its wave
    // to the next, whose registers are then in the host's cache.
    let mut places = [0; MAX_WAVES];
    let mut used = 0;
    for index in 0..count {
        let active = lanes(group.dispatch, group.id, index as u32);
        if active == 0 {
            continue;
        }
        match waves.get_mut(used) {
            Some(wave) => wave.restart(group, index as u32, active),
            None => waves.push(Wave::new(group, index as u32, active)),
        }
        present[index] = State::Running;
        places[index] = used;
        states[index] = turn(&mut waves[used], program, observer)?;
        used += usize::from(states[index] != State::Ended);
        if halted() {
            return Ok(());
        }
    }
    loop {
        if !states.contains(&State::Running) {
            let Some(first) = states.iter().position(|state| *state == State::Waiting) else {
                return Ok(());
            };
            if group.dispatch.strict {
                check_rendezvous(program, waves, &places, &states, &present, first)?;
            }
            factory.rendezvous(observer, group);
            for state in &mut states {
                if *state == State::Waiting {
                    *state = State::Running;
                }
            }
        }
        for (place, state) in places.iter().zip(&mut states) {
            if *state == State::Running {
                *state = turn(&mut waves[*place], program, observer)?;
                if halted() {
                    return Ok(());
                }
            }
        }
    }
}

/// One turn of a SIMD group, and how it is afterwards.
fn turn<O: Observer>(
    wave: &mut Wave<'_>,
    program: &Program,
    observer: &mut O,
) -> Result<State, Box<Fault>> {
    match wave.run(program, SLICE, observer) {
        Exit::Yield => Ok(State::Running),
        Exit::Barrier => Ok(State::Waiting),
        Exit::Stop => Ok(State::Ended),
        Exit::Fault(fault) => Err(fault),
    }
}

/// The lanes of SIMD group `simd_group` that hold an invocation of the grid.
fn lanes(dispatch: &Dispatch<'_>, id: [u32; 3], simd_group: u32) -> u32 {
    let local = dispatch.local;
    let threads = local[0] * local[1] * local[2];
    let first = simd_group * LANES as u32;
    let here = threads.saturating_sub(first).min(LANES as u32);
    let exist = if here == 32 { !0 } else { (1 << here) - 1 };
    // Threads of the grid from this workgroup's first one on.
    let left: [u32; 3] =
        std::array::from_fn(|i| dispatch.global[i].saturating_sub(id[i].wrapping_mul(local[i])));
    if (0..3).all(|i| left[i] >= local[i]) {
        return exist;
    }
    let mut mask = 0;
    for lane in 0..here {
        let linear = first + lane;
        let x = linear % local[0];
        let y = linear / local[0] % local[1];
        let z = linear / (local[0] * local[1]);
        mask |= u32::from(x < left[0] && y < left[1] && z < left[2]) << lane;
    }
    mask
}

/// Is the barrier in uniform control flow?
fn check_rendezvous(
    program: &Program,
    waves: &[Box<Wave<'_>>],
    places: &[usize],
    states: &[State],
    present: &[State],
    first: usize,
) -> Result<(), Box<Fault>> {
    let at = |wave: &Wave<'_>| wave.pc.wrapping_sub(1);
    let barrier = &waves[places[first]];
    for (index, place_of) in places.iter().enumerate() {
        let wave = &waves[*place_of];
        let at = at(wave);
        match (states[index], present[index]) {
            (State::Ended, State::Running) => {
                let reason = format!(
                    "SIMD group {index} ended, others wait at a barrier for the whole workgroup"
                );
                let at = barrier.pc.wrapping_sub(1);
                return Err(place(program, barrier, at, FaultKind::Strict(reason)));
            }
            (State::Waiting, _) if wave.pc != barrier.pc => {
                let (other, _) = program.describe(barrier.pc.wrapping_sub(1) as usize);
                let reason = format!(
                    "SIMD groups of a workgroup wait at different barriers: the other is at \
                     {other:#x}"
                );
                return Err(place(program, wave, at, FaultKind::Strict(reason)));
            }
            _ => {}
        }
    }
    Ok(())
}

/// A fault of a SIMD group at micro-op `pc`.
#[cold]
pub(super) fn place(program: &Program, wave: &Wave<'_>, pc: u32, kind: FaultKind) -> Box<Fault> {
    let (address, instruction) = program.describe(pc as usize);
    Box::new(Fault {
        kind,
        shader: Some(Box::new(ShaderPlace {
            stage: wave.group.dispatch.stage.name(),
            pc: address,
            instruction,
            lane: None,
            workgroup: wave.group.id,
            simd_group: wave.simd_group,
        })),
        record: None,
    })
}
