// SPDX-License-Identifier: MIT
//! An estimate of the cycles of one subgroup, for comparing shaders with each other.
//!
//! Nothing of this is measured: issue takes a cycle, special functions four, and memory answers after a time that later
//! instructions can hide. Loops count as ten rounds; both arms of every `if` are counted.

use agx_isa::{FormId, Instr as Machine, MemoryOp, Space};

/// Rounds of a loop.
const ROUNDS: u64 = 10;
/// Nests deeper than this count as this deep, lest the number overflow.
const MAX_DEPTH: u32 = 8;

/// Cycles of code whose instructions come with the number of loops around them.
pub(super) fn estimate(code: impl Iterator<Item = (Machine, u32)>) -> u64 {
    let mut total = 0u64;
    // Since the last time the depth changed.
    let mut now = 0u64;
    let mut ready = [0u64; 6];
    for (machine, depth) in code {
        let weight = ROUNDS.pow(depth.min(MAX_DEPTH));
        let waited = machine
            .waits()
            .iter()
            .map(|slot| ready[usize::from(slot - 1)]);
        let stalled = waited.max().unwrap_or(0).saturating_sub(now);
        let cost = stalled + issue(&machine);
        now += cost;
        total = total.saturating_add(cost.saturating_mul(weight));
        if let Some(slot) = machine.completes() {
            let ready = &mut ready[usize::from(slot - 1)];
            *ready = (*ready).max(now + latency(&machine));
        }
    }
    total
}

fn issue(machine: &Machine) -> u64 {
    match machine.id() {
        FormId::Rcp | FormId::Sfu | FormId::SfuRsqrt | FormId::SfuExp2 => 4,
        FormId::IMad | FormId::IMulW | FormId::IAdd64 => 2,
        FormId::SgReduce | FormId::SgShuffle | FormId::SgBallot => 4,
        FormId::Barrier => 16,
        FormId::DevAtomic => 4,
        _ => 1,
    }
}

fn latency(machine: &Machine) -> u64 {
    match machine.memory() {
        // An export.
        None if machine.id() == FormId::Logic => 4,
        Some((Space::Image, _)) => 50,
        Some((Space::Threadgroup, _)) => 12,
        Some((Space::Scratch, MemoryOp::Load)) => 20,
        Some(_) => 30,
        // The landing record of an atomic.
        None => 40,
    }
}
