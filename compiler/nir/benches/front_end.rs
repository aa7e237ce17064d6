// SPDX-License-Identifier: MIT
//! What the front end costs for each test module: validation, translation with and without it, serialising.

#[path = "../tests/common/mod.rs"]
mod common;

use common::{CASES, Case, KEY, options};
use divan::Bencher;
use mesa_nir::{
    BlockLayout, Shader, SpirvOptions, Validation, forget_validated_modules, validate_spirv,
};

fn main() {
    divan::main();
}

/// One case by the name that the report shows.
struct Named(&'static Case);

impl std::fmt::Display for Named {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.0.name, self.0.stage)
    }
}

fn cases() -> impl Iterator<Item = Named> {
    CASES.iter().map(Named)
}

/// The validator alone, as for a module that is new to the process.
#[divan::bench(args = cases())]
fn validate_first_time(bencher: Bencher<'_, '_>, case: &Named) {
    let words = case.0.words();
    bencher
        .with_inputs(forget_validated_modules)
        .bench_values(|()| {
            validate_spirv(&words, BlockLayout::Scalar).expect("valid");
        });
}

/// The validator's memory of modules that have passed.
#[divan::bench(args = cases())]
fn validate_again(bencher: Bencher<'_, '_>, case: &Named) {
    let words = case.0.words();
    bencher.bench(|| validate_spirv(&words, BlockLayout::Scalar).expect("valid"));
}

/// SPIR-V to NIR without the validator.
#[divan::bench(args = cases())]
fn translate(bencher: Bencher<'_, '_>, case: &Named) {
    let words = case.0.words();
    let spirv = SpirvOptions {
        // SAFETY: the test modules are valid: every test says so.
        validation: unsafe { Validation::skip() },
        ..SpirvOptions::vulkan_1_3()
    };
    bencher.bench(|| case.0.translate(&words, &spirv).expect("translates"));
}

/// SPIR-V to NIR as a driver does it for a new module.
#[divan::bench(args = cases())]
fn validate_and_translate(bencher: Bencher<'_, '_>, case: &Named) {
    let words = case.0.words();
    let spirv = SpirvOptions::vulkan_1_3();
    bencher
        .with_inputs(forget_validated_modules)
        .bench_values(|()| case.0.translate(&words, &spirv).expect("translates"));
}

/// NIR's own validator.
#[divan::bench(args = cases())]
fn validate_nir(bencher: Bencher<'_, '_>, case: &Named) {
    let mut shader = Some(case.0.shader());
    bencher.bench_local(|| {
        shader = shader.take().map(|s| s.validate().expect("valid"));
    });
}

#[divan::bench(args = cases())]
fn serialize(bencher: Bencher<'_, '_>, case: &Named) {
    let shader = case.0.shader();
    bencher.bench_local(|| shader.serialize(&KEY, true).expect("serialises"));
}

#[divan::bench(args = cases())]
fn deserialize(bencher: Bencher<'_, '_>, case: &Named) {
    let blob = case.0.shader().serialize(&KEY, true).expect("serialises");
    bencher.bench(|| Shader::deserialize(&blob, &KEY, options()).expect("deserialises"));
}
