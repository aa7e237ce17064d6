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

/// Tests that fail for a known reason.
struct Known {
    /// Parts of their names.
    parts: &'static [&'static str],
    reason: &'static str,
}

/// Where lavapipe is not what the specifications say.
const LAVAPIPE_DEVIATES: &[Known] = &[
    Known {
        parts: &["OpSMod of negative numbers"],
        reason: "the result has the dividend's sign; Vulkan before maintenance8 leaves it undefined",
    },
    Known {
        parts: &["Frexp of denormals"],
        reason: "they are neither flushed nor normalised",
    },
    Known {
        parts: &["controlled", "f32"],
        reason: "it does not offer shaderDenormFlushToZeroFloat32 and preserves them",
    },
];

/// What the compiler for the GPU gets wrong.
const GPU_DEVIATES: &[Known] = &[Known {
    parts: &["FMix"],
    reason: "lowered to x + a * (y - x), not to the formula of Vulkan's table",
}];

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
    judge(&run(lavapipe()), LAVAPIPE_DEVIATES);
}

#[test]
fn the_simulated_gpu_agrees() {
    let device = SimulatedDevice::new(AgxCompiler::default(), Options::default());
    judge(&run(&device), GPU_DEVIATES);
}

/// A wrong bit in any component of a result is found and reported.
#[test]
fn wrong_results_are_found() {
    let tests = ops::all();
    for name in [
        "OpIAdd u8 u8 -> u8",
        "OpFMul f32 f32 -> f32",
        "Exp2 f16 -> f16",
    ] {
        let test = tests.iter().find(|test| test.name() == name).expect(name);
        let case = test.case().expect("a case");
        let good = lavapipe().run(&case).expect("a run");
        assert_eq!(test.check(&good), Ok(()));
        let first = case.buffers.len() - 3;
        for result in first..case.buffers.len() {
            let mut bad = good.clone();
            // The exponent's lowest bit in floats; of 1.5 * 1.5 and so on.
            let at = good[result].len() / 2 + 3;
            bad[result][at] ^= 0x10;
            let report = test.check(&bad).expect_err("a report");
            assert!(
                report.contains("1 of") && report.contains("instead of"),
                "{report}"
            );
        }
    }
}

fn lavapipe() -> &'static Lavapipe {
    Lavapipe::shared().unwrap_or_else(|error| panic!("{error:#}"))
}

/// Fails for failures that are not known, and for known ones that are gone.
fn judge(failures: &[Failure], known: &[Known]) {
    let explains = |known: &Known, name: &str| known.parts.iter().all(|part| name.contains(part));
    let reports: Vec<_> = failures
        .iter()
        .filter(|failure| !known.iter().any(|known| explains(known, &failure.name)))
        .map(|failure| failure.report.as_str())
        .collect();
    assert!(
        reports.is_empty(),
        "{} tests failed:\n{}",
        reports.len(),
        reports.join("\n")
    );
    if filter().is_empty() {
        let gone: Vec<_> = known
            .iter()
            .filter(|known| {
                !failures
                    .iter()
                    .any(|failure| explains(known, &failure.name))
            })
            .map(|known| format!("{:?} ({})", known.parts, known.reason))
            .collect();
        assert!(gone.is_empty(), "these pass now: {}", gone.join(", "));
    }
}

fn filter() -> String {
    std::env::var("CORTLAND_OPS").unwrap_or_default()
}

fn run(device: &(dyn Device + Sync)) -> Vec<Failure> {
    let filter = filter();
    ops::run_on(device, |name| name.contains(&filter))
}
