// SPDX-License-Identifier: MIT
//! What the back end costs alone: lowered programs to machine code, and its first stage. The front end's test modules
//! are the programs.
//!
//! `cargo bench -p agx-compiler --bench compile`

use std::sync::Arc;

use agx_compiler::select::select;
use agx_compiler::{CompileKey, compile_program};
use divan::Bencher;
use mesa_nir::program::Program;
use mesa_nir::{
    BindingKind, BindingLayout, CompilerOptions, ComputeLowering, Place, SpirvOptions, Stage,
    assemble, spirv_to_nir,
};

fn main() {
    divan::main();
}

/// A program by the name that the report shows.
struct Named {
    name: &'static str,
    text: &'static str,
}

impl std::fmt::Display for Named {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

macro_rules! programs {
    ($($name:literal)*) => {
        [$(Named {
            name: $name,
            text: include_str!(concat!("../../nir/tests/spirv/apple9/", $name, ".spvasm")),
        },)*]
    };
}

/// Buffers at 16 bindings in each of four sets.
fn key() -> CompileKey {
    let one = |i: u32| BindingLayout {
        set: i / 16,
        binding: i % 16,
        place: Place::Set((i / 16) as u8),
        offset: i % 16 * 16,
        stride: 16,
        count: 1,
        kind: BindingKind::Buffer,
    };
    CompileKey {
        lowering: ComputeLowering {
            bindings: (0..64).map(one).collect(),
            ..ComputeLowering::default()
        },
    }
}

fn lowered(text: &str, key: &CompileKey) -> Result<Program, mesa_nir::Error> {
    let options = Arc::new(CompilerOptions::apple9());
    let spirv = SpirvOptions::apple9_compute();
    let words = assemble(text)?;
    let shader = spirv_to_nir(&words, Stage::Compute, "main", &[], &spirv, &options)?;
    shader.lower_compute(&key.lowering)?.into_program()
}

#[divan::bench(args = programs!["run_bits" "run_division" "run_loops" "run_memory" "run_narrow" "run_wide"])]
fn back_end(bencher: Bencher<'_, '_>, program: &Named) {
    let key = key();
    let program = lowered(program.text, &key).expect("a test module lowers");
    bencher.bench(|| compile_program(&program, &key, None).expect("compiles"));
}

#[divan::bench(args = programs!["run_bits" "run_division" "run_loops" "run_memory" "run_narrow" "run_wide"])]
fn selection(bencher: Bencher<'_, '_>, program: &Named) {
    let program = lowered(program.text, &key()).expect("a test module lowers");
    bencher.bench(|| select(&program).map(|selected| selected.function.num_values));
}
