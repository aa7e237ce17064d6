// SPDX-License-Identifier: MIT
//! Every shader of the corpus. `CORTLAND_SHADERS=part-of-a-name` picks some, `CORTLAND_SHADER_DB`
//! names another directory, `CORTLAND_CTS_VALIDATION=1` puts the Khronos validation layer over
//! lavapipe.

use std::path::PathBuf;
use std::sync::{LazyLock, OnceLock};

use cortland_cts::case::{Case, Device as _};
use cortland_cts::corpus::{self, CompareWith, Entry, module};
use cortland_cts::device::agx::{self, AgxCompiler};
use cortland_cts::device::lavapipe::Lavapipe;
use cortland_cts::device::simulated::{Options, SimulatedDevice};
use rayon::prelude::*;

/// An entry, compiled to SPIR-V.
struct Shader {
    entry: Entry,
    case: anyhow::Result<Case>,
    /// What lavapipe made of its buffers.
    reference: OnceLock<Result<Vec<Vec<u8>>, String>>,
}

impl Shader {
    /// What the buffers hold after lavapipe's run; nothing for shaders that are not compared with
    /// it.
    fn reference(&self, case: &Case) -> anyhow::Result<&[Vec<u8>]> {
        if self.entry.compare_with != CompareWith::Lavapipe {
            return Ok(&[]);
        }
        let run = || lavapipe().run(case).map_err(|error| format!("{error:#}"));
        let reference = self.reference.get_or_init(run).as_ref();
        Ok(reference.map_err(|error| anyhow::anyhow!("{error}"))?)
    }
}

static SHADERS: LazyLock<Vec<Shader>> = LazyLock::new(|| {
    let directory = std::env::var_os("CORTLAND_SHADER_DB");
    let directory = directory.map_or_else(corpus::directory, PathBuf::from);
    let filter = std::env::var("CORTLAND_SHADERS").unwrap_or_default();
    let mut entries = corpus::load_all(&directory).unwrap_or_else(|e| panic!("{e:#}"));
    entries.retain(|entry| entry.name.contains(&filter));
    assert!(!entries.is_empty(), "no shader's name has {filter:?} in it");
    entries
        .into_par_iter()
        .map(|entry| Shader {
            case: entry.case(),
            entry,
            reference: OnceLock::new(),
        })
        .collect()
});

/// Does something with every shader that is one, and reports all failures together.
fn each(what: impl Fn(&Shader, &Case) -> anyhow::Result<()> + Sync) {
    let failures: Vec<String> = SHADERS
        .par_iter()
        .filter_map(|shader| {
            let case = shader.case.as_ref().ok()?;
            let error = what(shader, case).err()?;
            Some(format!("{}: {error:#}", shader.entry.name))
        })
        .collect();
    assert!(
        failures.is_empty(),
        "{} of {} shaders failed:\n\n{}",
        failures.len(),
        SHADERS.len(),
        failures.join("\n\n")
    );
}

fn lavapipe() -> &'static Lavapipe {
    Lavapipe::shared().unwrap_or_else(|e| panic!("{e:#}"))
}

#[test]
fn sources_compile_to_valid_modules() {
    let failures: Vec<String> = SHADERS
        .iter()
        .filter_map(|shader| Some(format!("{:#}", shader.case.as_ref().err()?)))
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

#[test]
fn the_front_end_translates_them() {
    each(|_, case| {
        agx::translate(case)?.validate()?;
        Ok(())
    });
}

/// Where the result is known, it is what lavapipe computes: a wrong expectation is found before the
/// compiler is blamed. Elsewhere two runs agree: a race is no test.
#[test]
fn lavapipe_agrees_with_expectations_and_itself() {
    each(|shader, case| {
        let entry = &shader.entry;
        let fixed_size = entry.compare_with != CompareWith::Lavapipe && !entry.any_subgroup_size;
        if !entry.lavapipe || fixed_size && module::uses_subgroups(&case.spirv) {
            return Ok(());
        }
        let results = lavapipe().run(case)?;
        let again = lavapipe().run(case)?;
        entry.judge(&again, &results)
    });
}

/// Runs every shader on the simulated GPU, where anything that the hardware would let pass is an
/// error, and judges the results.
fn simulate(compiler: AgxCompiler) {
    let device = SimulatedDevice::new(compiler, Options::default());
    each(|shader, case| {
        let results = device.run(case)?;
        shader.entry.judge(&results, shader.reference(case)?)
    });
}

#[test]
fn the_simulated_gpu_computes_the_same() {
    simulate(AgxCompiler { robust: false });
}

#[test]
fn so_does_code_that_checks_its_accesses() {
    simulate(AgxCompiler { robust: true });
}
