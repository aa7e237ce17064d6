// SPDX-License-Identifier: MIT
//! An estimate of the cycles of one subgroup, for comparing shaders with each other.
//!
//! Nothing of this is measured: issue takes a cycle, special functions four, and memory answers after a time that later
//! instructions can hide. Loops count as ten rounds; both arms of every `if` are counted.

use agx_isa::{FormId, Instr as Machine, MemoryOp, Space};

/// Rounds of a loop.
const ROUNDS: u64 = 10;
/// Nests deeper than this count as this deep, lest the number overflow.
const MAX_DEPTH: i32 = 8;

/// Cycles of code.
pub(super) fn estimate(code: &[Machine]) -> u64 {
    let mut changes = depth_changes(code).into_iter();
    let mut change = changes.next();
    let mut depth = 0i32;
    let mut weight = 1;
    let mut total = 0u64;
    let mut now = 0u64;
    // When the slots are ready, and when all of them are.
    let mut ready = [0u64; 6];
    let mut last = 0;
    for (index, machine) in code.iter().enumerate() {
        while let Some((place, by)) = change
            && place == index
        {
            depth += by;
            weight = ROUNDS.pow(depth.clamp(0, MAX_DEPTH) as u32);
            change = changes.next();
        }
        let mut until = now;
        if last > now {
            for slot in machine.waits().iter() {
                until = until.max(ready[usize::from(slot - 1)]);
            }
        }
        let cost = until - now + issue(machine);
        now += cost;
        total = total.saturating_add(cost.saturating_mul(weight));
        if let Some(slot) = machine.completes() {
            let ready = &mut ready[usize::from(slot - 1)];
            *ready = (*ready).max(now + latency(machine));
            last = last.max(*ready);
        }
    }
    total
}

/// Where the number of loops around the code changes, and by how much, in order: backward branches tell.
fn depth_changes(code: &[Machine]) -> Vec<(usize, i32)> {
    let is_branch = |machine: &Machine| machine.id() == FormId::Branch;
    let mut changes = Vec::new();
    // Most code has no loops.
    if !code.iter().any(is_branch) {
        return changes;
    }
    let mut offsets = Vec::with_capacity(code.len());
    let mut offset = 0i64;
    for machine in code {
        offsets.push(offset);
        offset += i64::from(machine.form().len);
    }
    for (index, machine) in code.iter().enumerate() {
        if is_branch(machine)
            && let Some(displacement) = machine.displacement()
            && displacement < 0
        {
            let target = offsets[index] + displacement;
            changes.push((offsets.partition_point(|offset| *offset < target), 1));
            changes.push((index + 1, -1));
        }
    }
    changes.sort_unstable();
    changes
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
