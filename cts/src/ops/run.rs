// SPDX-License-Identifier: MIT
//! All tests on a device.

use rayon::prelude::*;

use super::{OpTest, all};
use crate::case::Device;

/// A test that failed, and why.
#[derive(Debug, Clone)]
pub struct Failure {
    /// The test's name.
    pub name: String,
    /// The device's error, or the first wrong results.
    pub report: String,
}

impl OpTest {
    /// Runs it.
    ///
    /// # Errors
    /// A report: the device's error, or the first wrong results.
    pub fn run(&self, device: &dyn Device) -> Result<(), String> {
        let case = self.case().map_err(|error| format!("{error:#}"))?;
        let outputs = device
            .run(&case)
            .map_err(|error| format!("{}: {error:#}", self.name()))?;
        self.check(&outputs)
    }
}

/// Runs all tests whose names `select` takes, several at a time; the failures come back.
pub fn run_on(device: &(dyn Device + Sync), select: impl Fn(&str) -> bool + Sync) -> Vec<Failure> {
    let tests = all();
    let selected = tests.par_iter().filter(|test| select(test.name()));
    let failed = selected.filter_map(|test| {
        let report = test.run(device).err()?;
        Some(Failure {
            name: test.name().to_owned(),
            report,
        })
    });
    failed.collect()
}
