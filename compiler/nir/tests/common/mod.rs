// SPDX-License-Identifier: MIT
//! The test modules and how each is translated. Shared by tests and benchmarks.
#![allow(dead_code, unreachable_pub)]

pub mod machine;

use mesa_nir::{
    BindingKind, BindingLayout, BlobKey, Capabilities, Capability, CompilerOptions,
    ComputeLowering, Error, Place, Shader, SpecConstant, SpirvOptions, Stage, assemble,
    spirv_to_nir,
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

/// A module for Apple9's lowering, with its name.
pub type Apple9 = (&'static str, &'static str);

macro_rules! apple9 {
    ($($name:literal)*) => {
        &[$(($name, include_str!(concat!("../spirv/apple9/", $name, ".spvasm"))),)*]
    };
}

/// The modules in tests/spirv/apple9. What is named run_... has results that tests/lowering.rs computes.
pub const APPLE9: &[Apple9] = apple9! {
    "arithmetic" "atomics" "control_flow" "floats" "integers" "memory" "subgroups" "workgroup" "workgroup_explicit"
    "workgroup_explicit_narrow" "run_bits" "run_bounds" "run_bounds_sums" "run_division" "run_float_atomics" "run_half"
    "run_loops" "run_memory" "run_narrow" "run_pointers" "run_rotate" "run_rounding" "run_shuffle" "run_sines"
    "run_subgroup" "run_wide" "run_workgroup" "textures" "images"
};

static APPLE9_OPTIONS: LazyLock<Arc<CompilerOptions>> =
    LazyLock::new(|| Arc::new(CompilerOptions::apple9()));

/// Translate a compute module for Apple9, with the capabilities of all tests.
pub fn apple9_shader(words: &[u32], entry_point: &str) -> Result<Shader, Error> {
    let options = SpirvOptions::apple9_compute();
    spirv_to_nir(
        words,
        Stage::Compute,
        entry_point,
        &[],
        &options,
        &APPLE9_OPTIONS,
    )
}

/// What the bindings of set 3 are from 0 on, each 4096 bytes behind the last: arrays of up to 32 elements.
pub const IMAGES: [BindingKind; 9] = [
    BindingKind::CombinedImageSampler,
    BindingKind::Texture,
    BindingKind::Sampler,
    BindingKind::StorageImage,
    BindingKind::UniformTexelBuffer,
    BindingKind::StorageTexelBuffer,
    BindingKind::CombinedImageSampler,
    BindingKind::StorageImage,
    BindingKind::Texture,
];

/// A layout for all of them: 16 bindings in each of three sets, 256 bytes apart, of which binding 15 is an inline block;
/// and images.
pub fn apple9_lowering(robust: bool) -> ComputeLowering {
    let one = |i: u32| BindingLayout {
        set: i / 16,
        binding: i % 16,
        place: Place::Set((i / 16) as u8),
        offset: i % 16 * 256,
        stride: 16,
        count: 1,
        kind: if i % 16 == 15 {
            BindingKind::InlineUniform
        } else {
            BindingKind::Buffer
        },
    };
    let images = IMAGES.iter().zip(0..).map(|(kind, binding)| BindingLayout {
        set: 3,
        binding,
        place: Place::Set(3),
        offset: 4096 * binding,
        stride: 128,
        count: if binding == 8 { 3 } else { 32 },
        kind: *kind,
    });
    ComputeLowering {
        bindings: (0..48).map(one).chain(images).collect(),
        robust,
        has_base_workgroup: false,
        custom_border_colors: false,
    }
}
