// SPDX-License-Identifier: MIT
//! All tests on a device.

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
        let outputs = device.run(&case).map_err(|error| format!("{}: {error:#}", self.name()))?;
        self.check(&outputs)
    }
}

/// Runs all tests that `select` takes; the failures come back.
pub fn run_on(device: &dyn Device, select: impl Fn(&str) -> bool) -> Vec<Failure> {
    let mut failures = Vec::new();
    for test in all().into_iter().filter(|test| select(test.name())) {
        if let Err(report) = test.run(device) {
            failures.push(Failure { name: test.name().to_owned(), report });
        }
    }
    failures
}
