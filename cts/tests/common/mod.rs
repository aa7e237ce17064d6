// SPDX-License-Identifier: MIT
//! Cases written in the test: a shader in GLSL with its buffers.

#![allow(
    dead_code,
    unreachable_pub,
    missing_docs,
    reason = "each test crate uses its part"
)]

pub mod flow;

use agx_compiler::CompileKey;
use agx_compiler::binary::{ShaderBinary, Statistics};
use cortland_cts::case::{Buffer, BufferKind, Case, Device as _};
use cortland_cts::corpus::source;
use cortland_cts::device::agx::{self, AgxCompiler};
use cortland_cts::device::lavapipe::Lavapipe;
use cortland_cts::device::layout::Layout;
use cortland_cts::device::simulated::{Compiler as _, Options, SimulatedDevice};

/// Extensions and types that the shaders here use.
const HEAD: &str = "#version 460
#extension GL_EXT_shader_explicit_arithmetic_types : enable
#extension GL_EXT_shader_16bit_storage : enable
#extension GL_KHR_shader_subgroup_basic : enable
#extension GL_KHR_shader_subgroup_ballot : enable
#extension GL_KHR_shader_subgroup_shuffle : enable
#extension GL_KHR_shader_subgroup_arithmetic : enable
#extension GL_KHR_memory_scope_semantics : enable
";

/// A shader with one invocation an element along x; `text` is all behind the version and the extensions.
pub fn case(name: &str, text: &str, buffers: Vec<Buffer>) -> Case {
    let text = format!("{HEAD}{text}");
    Case {
        name: name.to_owned(),
        spirv: source::compile_glsl(&text).unwrap_or_else(|e| panic!("{name}: {e:#}\n{text}")),
        entry: "main".to_owned(),
        specialization: Vec::new(),
        groups: [1; 3],
        base_group: [0; 3],
        push_constants: Vec::new(),
        buffers,
        images: Vec::new(),
    }
}

/// A storage buffer of set 0.
pub fn storage(binding: u32, words: &[u32]) -> Buffer {
    Buffer {
        set: 0,
        binding,
        element: 0,
        kind: BufferKind::Storage,
        bytes: words.iter().flat_map(|w| w.to_le_bytes()).collect(),
        address_at: None,
    }
}

pub fn words(bytes: &[u8]) -> Vec<u32> {
    bytes
        .as_chunks::<4>()
        .0
        .iter()
        .map(|w| u32::from_le_bytes(*w))
        .collect()
}

pub fn compile(case: &Case) -> Result<ShaderBinary, agx_compiler::Error> {
    let layout = Layout::of(case).unwrap_or_else(|e| panic!("{e:#}"));
    let shader = agx::translate(case).unwrap_or_else(|e| panic!("{e:#}"));
    let key: CompileKey = agx::key(case, &layout, false);
    agx_compiler::compile(shader, &key)
}

pub fn statistics(case: &Case) -> Statistics {
    compile(case)
        .unwrap_or_else(|e| panic!("{}: {e}", case.name))
        .stats
}

/// What the buffers hold after a run on the simulated GPU, which is in strict mode.
pub fn simulate(case: &Case) -> Vec<Vec<u32>> {
    let device = SimulatedDevice::new(AgxCompiler::default(), Options::default());
    let results = device.run(case).unwrap_or_else(|e| panic!("{e:#}"));
    results.iter().map(|bytes| words(bytes)).collect()
}

/// The simulated GPU and lavapipe leave the same in every buffer. Gives numbers about the code.
pub fn agree(case: &Case) -> Statistics {
    let lavapipe = Lavapipe::shared().unwrap_or_else(|e| panic!("{e:#}"));
    let expected = lavapipe.run(case).unwrap_or_else(|e| panic!("{e:#}"));
    let expected: Vec<_> = expected.iter().map(|bytes| words(bytes)).collect();
    assert_ne!(
        expected,
        case.buffers
            .iter()
            .map(|b| words(&b.bytes))
            .collect::<Vec<_>>(),
        "{}: it does nothing",
        case.name
    );
    equal(case, &expected)
}

/// The simulated GPU leaves this in the buffers, with and without checks of accesses. Gives numbers about the code.
pub fn equal(case: &Case, expected: &[Vec<u32>]) -> Statistics {
    let layout = Layout::of(case).unwrap_or_else(|e| panic!("{e:#}"));
    let mut stats = Statistics::default();
    for robust in [true, false] {
        let compiler = AgxCompiler { robust };
        let device = SimulatedDevice::new(compiler, Options::default());
        let binary = compiler
            .compile(case, &layout)
            .unwrap_or_else(|e| panic!("{e:#}"));
        let results = device
            .run_binary(&binary, case, &layout)
            .unwrap_or_else(|e| panic!("{e:#}"));
        for (index, (got, expected)) in results.iter().zip(expected).enumerate() {
            let got = words(got);
            assert_eq!(got.len(), expected.len());
            let differing = got.iter().zip(expected).position(|(a, b)| a != b);
            if let Some(at) = differing {
                let name = case.buffers[index].describe(index);
                panic!(
                    "{} (robust: {robust}): {name}, word {at}: {:#x} instead of {:#x}",
                    case.name, got[at], expected[at]
                );
            }
        }
        stats = binary.stats;
    }
    stats
}
