// SPDX-License-Identifier: MIT
//! Scenarios by name, and one run of one.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crate::gpu::{Gpu, Options};
use crate::outcome::{Outcome, Verdict, difference};
use crate::scope::Scope;

/// What a client does with a device.
#[derive(Debug, Clone, Copy)]
pub struct Scenario {
    /// Its name: theme and what it is about.
    pub name: &'static str,
    /// Does it. An unsafe function, since all of it is Vulkan calls.
    pub run: unsafe fn(&Scope<'_>) -> anyhow::Result<()>,
}

/// Where a scenario says what it computed.
#[derive(Debug, Default)]
pub struct Report {
    results: Mutex<BTreeMap<String, Vec<u8>>>,
}

impl Report {
    /// Bytes that every driver must compute alike.
    pub fn result(&self, name: &str, bytes: Vec<u8>) {
        let mut results = self.results.lock().unwrap_or_else(PoisonError::into_inner);
        results.insert(name.to_owned(), bytes);
    }

    /// Bytes that must be as a model on the CPU says; they are compared between drivers, too.
    ///
    /// # Errors
    /// Where they differ.
    pub fn expect(&self, name: &str, got: Vec<u8>, expected: &[u8]) -> anyhow::Result<()> {
        let checked = self.check(name, &got, expected);
        self.result(name, got);
        checked
    }

    /// As [`Report::expect`], of what not every driver computes.
    ///
    /// # Errors
    /// Where they differ.
    pub fn check(&self, name: &str, got: &[u8], expected: &[u8]) -> anyhow::Result<()> {
        match difference(got, expected) {
            None => Ok(()),
            Some(difference) => anyhow::bail!("{name}: {difference}"),
        }
    }
}

/// Runs a scenario on the device that the loader finds first.
#[must_use]
pub fn run(scenario: &Scenario, options: Options) -> Outcome {
    let report = Report::default();
    let gpu = match Gpu::open(options) {
        Ok(gpu) => gpu,
        Err(error) => {
            return Outcome {
                verdict: Verdict::Failed(format!("{:#}", error.context("the device"))),
                driver: String::new(),
                results: BTreeMap::new(),
                messages: Vec::new(),
            };
        }
    };
    let driver = gpu.driver();
    let verdict = {
        let scope = Scope::new(&gpu, &report);
        // SAFETY: the device is open and all of the scenario's objects are of it; scenarios keep
        // to Vulkan's rules, which the validation layer checks in another run.
        let result = unsafe { (scenario.run)(&scope) };
        Verdict::from(result)
    };
    let messages = gpu.close();
    let results = report.results.into_inner();
    Outcome {
        verdict,
        driver,
        results: results.unwrap_or_else(PoisonError::into_inner),
        messages,
    }
}
