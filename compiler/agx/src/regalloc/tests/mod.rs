// SPDX-License-Identifier: MIT
//! Random functions are allocated, proved right by the validator, and run before and after. Those with more values than
//! registers are in the tests of [`crate::spill`].

pub(crate) mod builder;
pub(crate) mod generate;
pub(crate) mod interpret;
mod mutate;
mod quality;
mod waiting;

use proptest::prelude::*;

use crate::ir::{self, Function};
use generate::Config;

pub(crate) fn config(live: std::ops::Range<u32>) -> impl Strategy<Value = Config> {
    let halves = prop::sample::select(vec![0, 0, 30, 70, 90]);
    (any::<u64>(), 1u32..160, live, 0u32..5, halves).prop_map(
        |(seed, size, live, depth, halves)| Config {
            seed,
            size,
            live,
            depth,
            halves,
        },
    )
}

/// Runs both on a few inputs, `b` for lanes that wait for each other as well.
pub(crate) fn same_behaviour(a: &Function, b: &Function) -> Result<(), TestCaseError> {
    for seed in 0..4 {
        let expected = interpret::run(a, seed).map_err(TestCaseError::fail)?;
        let actual = interpret::run(b, seed).map_err(TestCaseError::fail)?;
        prop_assert_eq!(expected, actual, "{}\n{}", a, b);
    }
    let seeds: Vec<u32> = (0..16).collect();
    let expected: Result<Vec<_>, _> = seeds.iter().map(|s| interpret::run(a, *s)).collect();
    let together = interpret::run_lanes(b, &seeds);
    prop_assert!(
        expected == together,
        "lanes lose what they wait with:\n{}\n{}",
        a,
        b
    );
    Ok(())
}

pub(crate) fn checked(config: Config) -> Result<Function, TestCaseError> {
    let function = generate::function(config);
    ir::validate::validate(&function)
        .map_err(|e| TestCaseError::fail(format!("generator: {e}\n{function}")))?;
    Ok(function)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..Default::default() })]

    #[test]
    fn light_functions_need_no_spilling(config in config(4..12)) {
        let before = checked(Config { size: config.size.min(40), ..config })?;
        let after = super::run(&before).map_err(|e| TestCaseError::fail(e.to_string()))?;
        super::validate(&before, &after).map_err(TestCaseError::fail)?;
        same_behaviour(&before, &after)?;
    }
}
