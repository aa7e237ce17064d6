// SPDX-License-Identifier: MIT
//! The test modules and how each is translated. Shared by tests and benchmarks.
#![allow(dead_code, unreachable_pub)]

use mesa_nir::{
    BlobKey, Capabilities, Capability, CompilerOptions, Error, Shader, SpecConstant, SpirvOptions,
    Stage, assemble, spirv_to_nir,
};
use std::sync::{Arc, LazyLock};

/// One entry point of a test module.
pub struct Case {
    pub name: &'static str,
    pub text: &'static str,
    pub stage: Stage,
    pub entry_point: &'static str,
}

macro_rules! case {
    ($name:literal, $stage:ident, $entry_point:literal) => {
        Case {
            name: $name,
            text: include_str!(concat!("../spirv/", $name, ".spvasm")),
            stage: Stage::$stage,
            entry_point: $entry_point,
        }
    };
}

pub const CASES: &[Case] = &[
    case!("compute_ints", Compute, "main"),
    case!("compute_shared", Compute, "main"),
    case!("compute_pointers", Compute, "walk"),
    case!("vertex", Vertex, "main"),
    case!("fragment", Fragment, "main"),
    case!("fragment_images", Fragment, "main"),
    case!("fragment_images", Vertex, "vmain"),
    case!("compute_values", Compute, "main"),
    case!("compute_spec_ops", Compute, "main"),
    case!("geometry", Geometry, "main"),
    case!("tessellation", TessControl, "control"),
    case!("tessellation", TessEval, "eval"),
];

/// The first entry point that is listed of a test module.
pub fn case(name: &str) -> &'static Case {
    CASES.iter().find(|c| c.name == name).expect("a case")
}

static OPTIONS: LazyLock<Arc<CompilerOptions>> = LazyLock::new(|| Arc::new(CompilerOptions::new()));

pub fn options() -> &'static Arc<CompilerOptions> {
    &OPTIONS
}

/// The key of all serialised shaders of the tests.
pub const KEY: BlobKey = BlobKey::new([0x5a; 32]);

impl Case {
    pub fn words(&self) -> Vec<u32> {
        assemble(self.text).unwrap_or_else(|e| panic!("{}: {e}", self.name))
    }

    pub fn translate(&self, words: &[u32], spirv: &SpirvOptions) -> Result<Shader, Error> {
        spirv_to_nir(words, self.stage, self.entry_point, &[], spirv, options())
    }

    pub fn shader(&self) -> Shader {
        self.translate(&self.words(), &SpirvOptions::vulkan_1_3())
            .unwrap_or_else(|e| panic!("{}: {e}", self.name))
    }
}

/// Translate assembly that has a compute entry point `main`.
pub fn compute(text: &str, specialization: &[SpecConstant]) -> Result<Shader, Error> {
    let words = assemble(text)?;
    spirv_to_nir(
        &words,
        Stage::Compute,
        "main",
        specialization,
        &SpirvOptions::vulkan_1_3(),
        options(),
    )
}

/// Run on a thread with this much stack, in bytes.
pub fn with_stack<R: Send + 'static>(size: usize, f: impl FnOnce() -> R + Send + 'static) -> R {
    let thread = std::thread::Builder::new().stack_size(size).spawn(f);
    thread.expect("a thread").join().expect("no overflow")
}

/// Options without one capability.
pub fn without(capability: Capability) -> SpirvOptions {
    SpirvOptions {
        capabilities: Capabilities::vulkan_1_3().without(&[capability]),
        ..SpirvOptions::vulkan_1_3()
    }
}
