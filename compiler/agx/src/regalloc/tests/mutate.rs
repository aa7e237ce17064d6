// SPDX-License-Identifier: MIT
//! The validator finds faults: correct allocations are damaged at random, and what it lets pass must do the same as
//! before.

use proptest::prelude::*;

use super::generate::{Config, Rng};
use super::{checked, config, interpret};
use crate::ir::{Dst, End, Function, Instr, Ref};

/// One random fault. `None` if the place that was drawn has nothing to damage.
fn damaged(function: &Function, rng: &mut Rng) -> Option<Function> {
    let mut function = function.clone();
    let block = rng.below(function.blocks.len() as u32) as usize;
    let data = &mut function.blocks[block];
    let other = rng.below(40) as u8;
    if data.instrs.is_empty() {
        let End::If { cond, .. } = &mut data.end else {
            return None;
        };
        let src = cond
            .srcs_mut()
            .into_iter()
            .find(|s| s.reg().is_some_and(|r| r != other))?;
        src.from = Ref::Reg(other);
        return Some(function);
    }
    let place = rng.below(data.instrs.len() as u32) as usize;
    let copy = matches!(
        data.instrs[place],
        Instr::Mov(_) | Instr::Swap(_) | Instr::Imm(_)
    );
    let untouched = data.instrs[place].clone();
    match rng.below(5) {
        // The other half.
        4 => {
            let (mut count, chosen) = (0, rng.below(4));
            data.instrs[place].for_each_src_mut(|group, shape| {
                for src in group.iter_mut().filter(|s| s.reg().is_some()) {
                    if count == chosen && !shape.destroyed && !shape.tied {
                        src.high = !src.high;
                    }
                    count += 1;
                }
            });
            if data.instrs[place] == untouched {
                return None;
            }
        }
        // A copy that is missing.
        0 if copy => {
            data.instrs.remove(place);
        }
        // Two instructions in the wrong order.
        1 if place > 0 => data.instrs.swap(place - 1, place),
        // Another register, the same all over a group.
        kind => {
            let instr = &mut data.instrs[place];
            let mut groups = 0;
            instr.for_each_src(|_, _| groups += 1);
            instr.for_each_dst(|_, _| groups += 1);
            let chosen = rng.below(groups);
            let (mut at, mut changed) = (0, false);
            instr.for_each_src_mut(|group, _| {
                for (i, src) in group.iter_mut().enumerate().filter(|_| at == chosen) {
                    let new = if kind == 2 { other } else { other + i as u8 };
                    if src.reg().is_some_and(|r| r != new) {
                        src.from = Ref::Reg(new);
                        changed = true;
                    }
                }
                at += 1;
            });
            instr.for_each_dst_mut(|group, _| {
                for (i, dst) in group.iter_mut().enumerate().filter(|_| at == chosen) {
                    changed |= *dst != Dst::Reg(other + i as u8);
                    *dst = Dst::Reg(other + i as u8);
                }
                at += 1;
            });
            if !changed {
                return None;
            }
        }
    }
    Some(function)
}

/// How many faults there were, were found, were run, and then did harm.
#[derive(Debug, Default)]
struct Count {
    faults: u32,
    found: u32,
    run: u32,
    harmful: u32,
}

fn damage(config: Config, count: &mut Count) -> Result<(), TestCaseError> {
    let before = checked(config)?;
    let after = crate::regalloc::run(&before).map_err(|e| TestCaseError::fail(e.to_string()))?;
    let mut rng = Rng(config.seed);
    for i in 0..40 {
        let Some(bad) = damaged(&after, &mut rng) else {
            continue;
        };
        count.faults += 1;
        let found = crate::regalloc::validate(&before, &bad).is_err();
        count.found += u32::from(found);
        if found && i % 8 != 0 {
            continue;
        }
        let expected = interpret::run(&before, 0).map_err(TestCaseError::fail)?;
        let harmful = interpret::run(&bad, 0) != Ok(expected);
        prop_assert!(
            found || !harmful,
            "let pass:\n{}\n{}\n{}",
            before,
            after,
            bad
        );
        count.run += 1;
        count.harmful += u32::from(harmful);
    }
    Ok(())
}

#[test]
fn faults_are_found() {
    let mut count = Count::default();
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    for _ in 0..60 {
        let tree = config(4..40)
            .new_tree(&mut runner)
            .expect("a configuration");
        let config = proptest::strategy::ValueTree::current(&tree);
        let config = Config {
            size: config.size.min(50),
            ..config
        };
        damage(config, &mut count).expect("harmful faults are found");
    }
    // What is not found: unread results elsewhere, copies of what was there already, independent instructions in
    // another order.
    assert!(count.harmful * 4 > count.run, "{count:?}");
    assert!(count.found * 10 > count.faults * 8, "{count:?}");
}
