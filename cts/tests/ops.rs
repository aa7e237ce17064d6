// SPDX-License-Identifier: MIT
//! The tests of single operations on lavapipe: this checks their references.

use std::collections::HashSet;

use cortland_cts::case::Device;
use cortland_cts::device::lavapipe::{Lavapipe, Options};
use cortland_cts::ops::{self, OpTest};
use mesa_nir::{BlockLayout, validate_spirv};
use rayon::prelude::*;

/// Where lavapipe is not what the specifications say: a part of the tests' names, and why.
const LAVAPIPE_DEVIATES: &[(&str, &str)] = &[];

#[test]
fn names_are_unique() {
    let mut names = HashSet::new();
    for test in ops::all() {
        assert!(names.insert(test.name().to_owned()), "{} occurs twice", test.name());
    }
}

#[test]
fn modules_are_valid() {
    let failures: Vec<String> = ops::all()
        .par_iter()
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
    let device = Lavapipe::open(Options::default()).expect("lavapipe");
    let failures = run(&device, &ops::all());
    let known = |report: &String| LAVAPIPE_DEVIATES.iter().find(|(name, _)| report.contains(name));
    let unknown: Vec<_> = failures.iter().filter(|f| known(f).is_none()).cloned().collect();
    assert!(unknown.is_empty(), "{} tests\n{}", unknown.len(), unknown.join("\n"));
    for (name, reason) in LAVAPIPE_DEVIATES {
        let still = failures.iter().any(|report| report.contains(name));
        assert!(still, "lavapipe no longer deviates: {name} ({reason})");
    }
}

/// The reports of the tests that fail.
fn run(device: &(dyn Device + Sync), tests: &[OpTest]) -> Vec<String> {
    tests.par_iter().filter_map(|test| test.run(device).err()).collect()
}
