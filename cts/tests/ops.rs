// SPDX-License-Identifier: MIT
//! The tests of single operations: on lavapipe, which checks their references, and on the simulated
//! GPU. `CORTLAND_OPS=part-of-a-name` picks some.

use std::collections::HashSet;

use cortland_cts::case::Device;
use cortland_cts::device::agx::AgxCompiler;
use cortland_cts::device::lavapipe::Lavapipe;
use cortland_cts::device::simulated::{Options, SimulatedDevice};
use cortland_cts::ops::{self, Failure};
use mesa_nir::{BlockLayout, validate_spirv};
use rayon::prelude::*;

/// Where lavapipe is not what the specifications say: a part of the tests' names, and why.
const LAVAPIPE_DEVIATES: &[(&str, &str)] = &[
    (
        "OpSMod of negative numbers",
        "the result has the dividend's sign; Vulkan before maintenance8 leaves it undefined",
    ),
    (
        "Frexp of denormals",
        "they are neither flushed nor normalised",
    ),
];

#[test]
fn names_are_unique() {
    let mut names = HashSet::new();
    for test in ops::all() {
        assert!(
            names.insert(test.name().to_owned()),
            "{} occurs twice",
            test.name()
        );
    }
}

#[test]
fn modules_are_valid() {
    let filter = filter();
    let failures: Vec<String> = ops::all()
        .par_iter()
        .filter(|test| test.name().contains(&filter))
        .filter_map(|test| {
            let case = test.case().map_err(|error| format!("{error:#}"));
            let valid = case.and_then(|case| {
                validate_spirv(&case.spirv, BlockLayout::Scalar).map_err(|error| error.to_string())
            });
            valid.err().map(|error| format!("{}: {error}", test.name()))
        })
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn lavapipe_agrees() {
    let device = Lavapipe::shared().unwrap_or_else(|error| panic!("{error:#}"));
    let failures = run(device);
    let known = |name: &str| {
        LAVAPIPE_DEVIATES
            .iter()
            .any(|(deviation, _)| name.contains(deviation))
    };
    report(failures.iter().filter(|failure| !known(&failure.name)));
    if filter().is_empty() {
        for (name, reason) in LAVAPIPE_DEVIATES {
            let still = failures.iter().any(|failure| failure.name.contains(name));
            assert!(still, "lavapipe no longer deviates: {name} ({reason})");
        }
    }
}

#[test]
fn the_simulated_gpu_agrees() {
    let device = SimulatedDevice::new(AgxCompiler::default(), Options::default());
    report(run(&device).iter());
}

fn filter() -> String {
    std::env::var("CORTLAND_OPS").unwrap_or_default()
}

fn run(device: &(dyn Device + Sync)) -> Vec<Failure> {
    let filter = filter();
    ops::run_on(device, |name| name.contains(&filter))
}

fn report<'a>(failures: impl Iterator<Item = &'a Failure>) {
    let reports: Vec<_> = failures.map(|failure| failure.report.as_str()).collect();
    assert!(
        reports.is_empty(),
        "{} tests failed:\n{}",
        reports.len(),
        reports.join("\n")
    );
}
