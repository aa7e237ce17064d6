// SPDX-License-Identifier: MIT
//! Every kind of instruction that lowered NIR may hold, as the compiler's own check of it says, occurs in a shader that
//! the other tests run on the simulated GPU and whose results they compare with something independent. Here the
//! shaders are only lowered, and no more of them than it takes.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use cortland_cts::case::Case;
use cortland_cts::corpus::{self, CompareWith};
use cortland_cts::device::agx;
use cortland_cts::device::layout::Layout;
use cortland_cts::ops;
use cortland_cts::random::{self, Config};
use mesa_nir::program::Form;
use rayon::prelude::*;

/// Random programs of `tests/random.rs` that are lowered here: the first ones, ...
const RANDOM: u64 = 200;
/// ... and some with what is rare: selects of 64 bits, from control flow that becomes such after others were taken apart.
const RARE: [u64; 3] = [978, 1160, 1213];

#[test]
fn every_allowed_form_is_tested() {
    let missing = Missing::all();
    let seeds: Vec<u64> = (0..RANDOM).chain(RARE).collect();
    seeds.into_par_iter().for_each(|seed| {
        let program = random::program(seed, &Config::all_types());
        missing.look_in(&program.case(), false);
    });
    ops::all().par_iter().for_each(|test| {
        if !missing.is_empty() {
            missing.look_in(&test.case().unwrap_or_else(|e| panic!("{e:#}")), false);
        }
    });
    // The corpus comes last, and arithmetic last of it: its sources need compiling, which takes longest.
    let mut entries = corpus::load_all(&corpus::directory()).unwrap_or_else(|e| panic!("{e:#}"));
    entries.retain(|entry| entry.compare_with != CompareWith::None);
    let arithmetic = |name: &str| name.starts_with("arithmetic/") || name.starts_with("kernels/");
    entries.sort_by_key(|entry| arithmetic(&entry.name));
    for entries in entries.chunks(16) {
        entries.par_iter().for_each(|entry| {
            if !missing.is_empty() {
                let case = entry.case().unwrap_or_else(|e| panic!("{e:#}"));
                missing.look_in(&case, false);
                missing.look_in(&case, true);
            }
        });
    }
    let names = missing.names();
    assert!(
        names.is_empty(),
        "{} forms that lowered NIR may hold occur in no test:\n{}",
        names.len(),
        names.join("\n")
    );
}

/// Allowed forms that no shader has shown so far.
struct Missing(Mutex<HashSet<Form>>);

impl Missing {
    fn all() -> Missing {
        let all: HashSet<Form> = Form::allowed().into_iter().collect();
        assert!(all.len() > 150, "only {} forms are allowed", all.len());
        Missing(Mutex::new(all))
    }

    fn with<R>(&self, f: impl FnOnce(&mut HashSet<Form>) -> R) -> R {
        f(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn is_empty(&self) -> bool {
        self.with(|missing| missing.is_empty())
    }

    /// Lowers the shader and crosses off what it holds.
    fn look_in(&self, case: &Case, robust: bool) {
        let lower = || {
            let layout = Layout::of(case)?;
            let key = agx::key(case, &layout, robust);
            let shader = agx::translate(case)?;
            anyhow::Ok(shader.lower_compute(&key.lowering)?.into_program()?)
        };
        let program = lower().unwrap_or_else(|e| panic!("{}: {e:#}", case.name));
        for form in program.forms() {
            // Programs are taken apart in the check's own terms.
            assert!(form.is_allowed(), "{}: {form}", case.name);
            self.with(|missing| missing.remove(&form));
        }
    }

    fn names(&self) -> Vec<String> {
        let mut names: Vec<_> = self.with(|all| all.iter().map(Form::to_string).collect());
        names.sort();
        names
    }
}
