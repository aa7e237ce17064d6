// SPDX-License-Identifier: MIT
//! Random functions are spilled, validated and run before and after; then they are allocated in a register file of
//! just the size that they were spilled for.

use proptest::prelude::*;

use crate::ir;
use crate::regalloc;
use crate::regalloc::tests::generate::Config;
use crate::regalloc::tests::{checked, config, same_behaviour};

fn spill_and_allocate(config: Config, limit: u32) -> Result<(), TestCaseError> {
    let original = checked(config)?;
    let mut spilled = original.clone();
    super::run(&mut spilled, limit)
        .map_err(|e| TestCaseError::fail(format!("spill: {e}\n{original}")))?;
    ir::validate::validate(&spilled)
        .map_err(|e| TestCaseError::fail(format!("after spilling: {e}\n{original}\n{spilled}")))?;
    prop_assert!(super::pressure(&spilled) <= limit);
    same_behaviour(&original, &spilled)?;
    let mut allocated = spilled.clone();
    regalloc::run_in(&mut allocated, limit as u8)
        .map_err(|e| TestCaseError::fail(format!("allocation: {e}\n{spilled}")))?;
    regalloc::validate(&spilled, &allocated).map_err(TestCaseError::fail)?;
    same_behaviour(&spilled, &allocated)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..Default::default() })]

    #[test]
    fn spilled_functions_do_the_same(config in config(4..200), limit in 20u32..=96) {
        spill_and_allocate(config, limit)?;
    }
}
