// SPDX-License-Identifier: MIT
//! Random functions are spilled, validated and run before and after; then they are allocated in a register file of
//! just the size that they were spilled for.

use proptest::prelude::*;

use crate::ir::{self, Base, BlockData, End, Function, Src, Value};
use crate::regalloc::tests::builder::Builder;
use crate::regalloc::tests::{checked, config, generate::Config, same_behaviour};
use crate::regalloc::{self, Failure};

fn checked_run(original: &Function, limit: u32) -> Result<(), TestCaseError> {
    let mut spilled = original.clone();
    let count = super::run(&mut spilled, limit)
        .map_err(|e| TestCaseError::fail(format!("spill: {e}\n{original}")))?;
    let mut again = original.clone();
    prop_assert_eq!(super::run(&mut again, limit), Ok(count));
    prop_assert!(again == spilled, "the same function is spilled in two ways");
    ir::validate::validate(&spilled)
        .map_err(|e| TestCaseError::fail(format!("after spilling: {e}\n{original}\n{spilled}")))?;
    prop_assert!(super::pressure(&spilled) <= limit);
    same_behaviour(original, &spilled)?;
    allocated_in(original, limit, limit as u8)
}

/// Spills for a limit and allocates in a file of this size.
fn allocated_in(original: &Function, limit: u32, file: u8) -> Result<(), TestCaseError> {
    let mut spilled = original.clone();
    super::run(&mut spilled, limit)
        .map_err(|e| TestCaseError::fail(format!("spill: {e}\n{original}")))?;
    let allocated = match regalloc::run_in(&spilled, file) {
        // Lanes may wait with so much that the others need more than the pressure says, or less of it.
        Err(Failure::Room(_)) if has_branches(original) && (file < 96 || limit > 28) => {
            let larger = (file + file / 2).min(96);
            let lower = if file < 96 { limit } else { limit - limit / 4 };
            return allocated_in(original, lower, larger);
        }
        Err(e) => return Err(TestCaseError::fail(format!("allocation: {e}\n{spilled}"))),
        Ok(allocated) => allocated,
    };
    regalloc::validate(&spilled, &allocated).map_err(TestCaseError::fail)?;
    prop_assert!(regalloc::run_in(&spilled, file).as_ref() == Ok(&allocated));
    same_behaviour(&spilled, &allocated)
}

fn has_branches(function: &Function) -> bool {
    let branches = |b: &BlockData| matches!(b.end, End::If { .. });
    function.blocks.iter().any(branches)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..Default::default() })]

    #[test]
    fn spilled_functions_do_the_same(config in config(4..200), limit in 20u32..=96) {
        checked_run(&checked(config)?, limit)?;
    }
}

/// Functions that random tests found to be spilled wrongly.
#[test]
fn functions_once_spilled_wrongly_do_the_same() {
    let config = Config {
        seed: 5560929686726443483,
        size: 33,
        live: 134,
        depth: 0,
        halves: 70,
    };
    checked_run(&checked(config).expect("valid"), 20).expect("right");
}

/// More values go around a loop than there are registers.
#[test]
fn many_values_go_around_a_loop() {
    for limit in [20, 32, 64, 96] {
        let mut b = Builder::new();
        let i = b.thread();
        let init: Vec<Src> = (0..150).map(Src::imm).collect();
        let last = b.repeat(&init, |b, k, carried| {
            // Some step, some are exchanged, some rotate.
            let mut next: Vec<Value> = carried.iter().map(|v| b.add(*v, k)).collect();
            next.swap(3, 4);
            next[50] = carried[51];
            next[51] = carried[50];
            next[60..70].copy_from_slice(&carried[61..71]);
            next
        });
        for four in last.chunks(4) {
            b.store(four, i);
        }
        b.function.compute_preds();
        checked_run(&b.function, limit).expect("right");
    }
}

/// Nothing but four-component loads and stores, all of which are live at one time.
#[test]
fn vectors_under_pressure() {
    for limit in [24, 33, 96] {
        let mut b = Builder::new();
        let i = b.thread();
        let vectors: Vec<_> = (0..60).map(|_| b.load(Base::Pair(2), Some(i), 4)).collect();
        for pair in vectors.windows(2).rev() {
            b.store(&[pair[0][3], pair[1][0], pair[0][0], pair[1][2]], i);
            b.store(&pair[1], pair[0][1]);
        }
        b.function.compute_preds();
        checked_run(&b.function, limit).expect("right");
    }
}

#[test]
fn a_full_scratch_frame_is_an_error() {
    let mut b = Builder::new();
    let i = b.thread();
    let kept: Vec<Value> = (0..100)
        .flat_map(|_| b.load(Base::Pair(2), Some(i), 4))
        .collect();
    kept.chunks(4).for_each(|four| b.store(four, i));
    b.function.compute_preds();
    b.function.scratch_words = 8192 - 300;
    let error = super::run(&mut b.function, 96).expect_err("too many words");
    assert!(error.contains("8192"), "{error}");
}

#[test]
fn a_limit_below_one_instruction_is_an_error() {
    let mut b = Builder::new();
    let i = b.thread();
    let x = b.load(Base::Pair(2), Some(i), 4);
    b.store(&x, i);
    b.function.compute_preds();
    let before = b.function.clone();
    let error = super::run(&mut b.function, 4).expect_err("too few registers");
    assert!(error.contains("too few"), "{error}");
    assert_eq!(before, b.function);
}
