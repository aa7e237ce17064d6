// SPDX-License-Identifier: MIT
//! The validator in this process, which the compiler calls through declarations of its own, is of one mind with the
//! installed one, which the spirv-tools crate runs: on the modules of the other tests, which are valid, and on
//! corrupted ones, which rarely are.

use std::sync::LazyLock;

use cortland_cts::corpus;
use cortland_cts::mutate::mutate;
use cortland_cts::ops;
use cortland_cts::random::rng::Rng;
use cortland_cts::random::{self, Config};
use mesa_nir::{BlockLayout, Error, validate_spirv};
use rayon::prelude::*;
use spirv_tools::val::{Validator as _, ValidatorOptions};

/// Corrupted modules: a process for each takes a few milliseconds.
const CORRUPTED: u64 = 400;
/// Random programs.
const RANDOM: u64 = 100;

#[test]
fn the_modules_of_the_tests_are_valid() {
    let wrong: Vec<String> = MODULES
        .par_iter()
        .chain(&random_modules())
        .filter_map(|(name, words)| Some(format!("{name}: {}", installed(words).err()?)))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn both_validators_agree_on_corrupted_modules() {
    // Not first from within the pool, which makes them.
    let modules = &*MODULES;
    let verdicts: Vec<bool> = (0..CORRUPTED)
        .into_par_iter()
        .map(|seed| {
            let mut rng = Rng::new(seed);
            let (name, words) = &modules[rng.below(modules.len())];
            let words = mutate(words, &mut rng);
            let here = validate_spirv(&words, BlockLayout::Scalar);
            let there = installed(&words);
            match (&here, &there) {
                (Ok(()), Ok(())) => true,
                (Err(Error::Invalid(_)), Err(_)) => false,
                _ => panic!("{name}, corrupted with seed {seed}: {here:?} here, {there:?} there"),
            }
        })
        .collect();
    let valid = verdicts.iter().filter(|valid| **valid).count();
    let refused = verdicts.len() - valid;
    assert!(
        valid > 50 && refused > 50,
        "{valid} valid, {refused} refused"
    );
}

type Named = Vec<(String, Vec<u32>)>;

/// Those of the corpus and of the operations.
static MODULES: LazyLock<Named> = LazyLock::new(|| {
    let entries = corpus::load_all(&corpus::directory()).unwrap_or_else(|e| panic!("{e:#}"));
    let corpus = entries.par_iter().map(|entry| {
        let spirv = corpus::source::compile(&entry.source);
        (
            entry.name.clone(),
            spirv.unwrap_or_else(|e| panic!("{e:#}")),
        )
    });
    let ops = ops::all();
    let ops = ops.par_iter().map(|test| {
        let spirv = mesa_nir::assemble(&test.text());
        let spirv = spirv.unwrap_or_else(|e| panic!("{}: {e}", test.name()));
        (test.name().to_owned(), spirv)
    });
    corpus.chain(ops).collect()
});

/// Those of random programs, which the validator of SPIRV-Tools 2023 knows whole: see `maximal_reconvergence`.
fn random_modules() -> Named {
    let config = Config {
        maximal_reconvergence: false,
        ..Config::all_types()
    };
    let seeds = (0..RANDOM).into_par_iter();
    let module = seeds.map(|seed| {
        let program = random::program(seed, &config);
        (format!("seed {seed}"), random::emit::module(&program))
    });
    module.collect()
}

/// What `spirv-val` says under the layout rules that the compiler grants.
fn installed(words: &[u32]) -> Result<(), spirv_tools::Error> {
    let validator = spirv_tools::val::create(Some(spirv_tools::TargetEnv::Vulkan_1_3));
    let options = ValidatorOptions {
        uniform_buffer_standard_layout: true,
        scalar_block_layout: true,
        ..ValidatorOptions::default()
    };
    validator.validate(words, Some(options))
}
