// SPDX-License-Identifier: MIT
//! The compiler in the hands of an enemy: corrupted modules, shaders at and beyond every limit, many threads.
//!
//! `CORTLAND_HOSTILE_MUTATIONS` and `CORTLAND_HOSTILE_FIRST` choose other corrupted modules.

mod common;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::LazyLock;

use agx_compiler::Error;
use common::{case, compile, storage};
use cortland_cts::case::Case;
use cortland_cts::corpus;
use cortland_cts::device::agx::{self, AgxCompiler};
use cortland_cts::device::layout::Layout;
use cortland_cts::device::simulated::{Options, SimulatedDevice};
use cortland_cts::mutate::mutate;
use cortland_cts::random::rng::Rng;
use cortland_cts::random::{self, Config};
use rayon::prelude::*;

/// The shaders of the corpus.
static CORPUS: LazyLock<Vec<Case>> = LazyLock::new(|| {
    let entries = corpus::load_all(&corpus::directory()).unwrap_or_else(|e| panic!("{e:#}"));
    let cases = entries
        .par_iter()
        .map(|e| e.case().unwrap_or_else(|e| panic!("{e:#}")));
    cases.collect()
});

fn random_cases(count: u64) -> Vec<Case> {
    (0..count)
        .into_par_iter()
        .map(|seed| random::program(seed, &Config::all_types()).case())
        .collect()
}

fn number_in(name: &str, default: u64) -> u64 {
    std::env::var(name)
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(default)
}

/// What a changed shader may do to itself: nothing here is the compiler's fault.
const OWN_FAULTS: [&str; 6] = [
    // Outside of buffers, threadgroup memory, private arrays.
    " bytes at 0x",
    "outside all buffers",
    "runaway program",
    "a workgroup barrier in divergent control flow",
    "for workgroup variables",
    // The layout of the case does not have the buffer.
    "dynamic buffers",
];

/// What became of a corrupted module, in a few words; `Err` for what must not happen.
fn outcome(
    device: &SimulatedDevice<AgxCompiler>,
    case: &Case,
    robust: bool,
) -> Result<String, String> {
    let compiled = catch_unwind(AssertUnwindSafe(|| {
        let shader = agx::translate(case).ok()?;
        let layout = Layout::of(case).ok()?;
        let key = agx::key(case, &layout, robust);
        Some((agx_compiler::compile(shader, &key), layout))
    }));
    let Some((binary, layout)) = compiled.map_err(|_| "a panic".to_owned())? else {
        return Ok("not translated".into());
    };
    let binary = match binary {
        Ok(binary) => binary,
        Err(error @ Error::Internal { .. }) => return Err(error.to_string()),
        Err(Error::Nir(error @ (mesa_nir::Error::Internal(_) | mesa_nir::Error::BrokenNir(_)))) => {
            return Err(error.to_string());
        }
        Err(Error::Nir(error)) => return Ok(format!("NIR: {error}")),
        Err(error) => return Ok(error.to_string()),
    };
    let groups: u64 = case.groups.iter().map(|g| u64::from(*g)).product();
    let groups = groups.min(mesa_nir::MOST_SLICES.into());
    if groups * u64::from(binary.workgroup_buffer_bytes) > 1 << 24 {
        return Ok("too large to run".into());
    }
    match device.run_binary(&binary, case, &layout) {
        Ok(_) => Ok("ran".into()),
        Err(error) => {
            let text = format!("{error:#}");
            match OWN_FAULTS.iter().find(|f| text.contains(**f)) {
                Some(fault) => Ok(format!("ran into: {fault}")),
                None => Err(text),
            }
        }
    }
}

/// Of each corrupted module comes a shader or an error, never a panic or a broken rule of the compiler's own; what
/// compiles runs without a trap but those that a shader earns by itself.
#[test]
fn corrupted_modules_are_shaders_or_errors() {
    let total = number_in("CORTLAND_HOSTILE_MUTATIONS", 4000);
    let first = number_in("CORTLAND_HOSTILE_FIRST", 0);
    let mut originals = CORPUS.clone();
    originals.extend(random_cases(originals.len() as u64));
    let options = Options {
        watchdog: 1 << 13,
        ..Options::default()
    };
    let device = SimulatedDevice::new(AgxCompiler::default(), options);
    let outcomes: Vec<(u64, Result<String, String>)> = (first..first + total)
        .into_par_iter()
        .map(|number| {
            let mut rng = Rng::new(number);
            let original = &originals[rng.below(originals.len())];
            let mut case = original.clone();
            case.spirv = mutate(&original.spirv, &mut rng);
            case.groups = case.groups.map(|g| g.min(2));
            let result = outcome(&device, &case, number % 2 == 0);
            (
                number,
                result.map_err(|e| format!("{number}, of {}: {e}", case.name)),
            )
        })
        .collect();
    let mut counts = BTreeMap::<String, u64>::new();
    let mut failures = Vec::new();
    for (_, outcome) in outcomes {
        match outcome {
            Ok(what) => *counts.entry(what).or_default() += 1,
            Err(what) => failures.push(what),
        }
    }
    for (what, count) in &counts {
        println!("{count:6} {what}");
    }
    assert!(
        failures.is_empty(),
        "{} of {total}:\n{}",
        failures.len(),
        failures.join("\n")
    );
    // Were they all refused, or none, the test would say little.
    for what in ["ran", "not translated"] {
        assert!(
            counts.get(what).is_some_and(|n| *n > total / 10),
            "{what}: {counts:?}"
        );
    }
}

/// All that a caller gets of a module.
fn binary(case: &Case) -> String {
    let layout = Layout::of(case).unwrap_or_else(|e| panic!("{e:#}"));
    let shader = agx::translate(case).unwrap_or_else(|e| panic!("{e:#}"));
    format!(
        "{:?}",
        agx_compiler::compile(shader, &agx::key(case, &layout, true))
    )
}

/// The same module gives the same bytes, whatever else is compiled before and beside it.
#[test]
fn code_depends_on_the_module_alone() {
    let mut cases = CORPUS.clone();
    cases.extend(random_cases(number_in("CORTLAND_HOSTILE_PROGRAMS", 150)));
    let one_by_one = |order: &mut dyn Iterator<Item = usize>| -> Vec<(usize, String)> {
        order.map(|i| (i, binary(&cases[i]))).collect()
    };
    let count = cases.len();
    let (first, second) = std::thread::scope(|scope| {
        let forward = scope.spawn(|| one_by_one(&mut (0..count)));
        // A stride that visits all of them.
        let stride = (count / 3..).find(|s| gcd(*s, count) == 1).unwrap_or(1);
        let scattered =
            scope.spawn(move || (0..count).map(|i| i * stride % count).collect::<Vec<_>>());
        let scattered = scattered.join().expect("an order");
        let other = scope.spawn(|| one_by_one(&mut scattered.into_iter()));
        (
            forward.join().expect("no panic"),
            other.join().expect("no panic"),
        )
    });
    let mut second = second;
    second.sort();
    for ((i, a), (_, b)) in first.iter().zip(&second) {
        assert!(a == b, "{}", cases[*i].name);
    }
    // Eight threads on one module at a time.
    for i in (0..count).step_by(count / 20 + 1) {
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| binary(&cases[i]))).collect();
            for thread in threads {
                assert!(
                    thread.join().expect("no panic") == first[i].1,
                    "{}",
                    cases[i].name
                );
            }
        });
    }
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// A shader that is beyond a limit, and words of the error that it must get.
fn refused(name: &str, text: &str, says: &[&str]) {
    let error = match compile(&case(name, text, vec![storage(0, &[0; 64])])) {
        Err(Error::Limit(error)) => error,
        other => panic!("{name}: {other:?}"),
    };
    for says in says {
        assert!(error.contains(says), "{name}: {error}");
    }
}

#[test]
fn scratch_frames_end_at_32_kib() {
    let array = |words: u32, spilled: u32| {
        let load: String = (0..spilled)
            .map(|k| format!("uint v{k} = data[id * 7u + {k}u];\n"))
            .collect();
        let sum: String = (0..spilled)
            .map(|k| format!("s = s * 3u + v{};\n", spilled - 1 - k))
            .collect();
        format!(
            "layout(local_size_x = 32) in;
            layout(set = 0, binding = 0) buffer B {{ uint data[]; }};
            void main() {{
                uint id = gl_GlobalInvocationID.x;
                uint a[{words}];
                {load}
                for (uint i = 0u; i < {words}u; i += 13u) a[i] = data[i & 31u];
                uint s = a[data[id] % {words}u / 13u * 13u];
                {sum}
                data[id] = s;
            }}"
        )
    };
    for (words, spilled) in [(8193, 0), (20000, 0), (8192, 300), (8100, 400)] {
        refused(
            &format!("{words} words, {spilled} values"),
            &array(words, spilled),
            &["scratch"],
        );
    }
    for (words, spilled) in [(8192, 0), (7000, 300)] {
        let data: Vec<u32> = (0..1024u32)
            .map(|i| i.wrapping_mul(0x9e37_79b1) >> 3)
            .collect();
        let case = case(
            &format!("{words} words"),
            &array(words, spilled),
            vec![storage(0, &data)],
        );
        let mut expected = data.clone();
        for id in 0..32usize {
            let i = data[id] % words / 13 * 13;
            let load = |k: u32| data[id * 7 + k as usize];
            let s = data[(i & 31) as usize];
            expected[id] = (0..spilled).fold(s, |s, k| {
                s.wrapping_mul(3).wrapping_add(load(spilled - 1 - k))
            });
        }
        let stats = common::equal(&case, &[expected]);
        assert!(stats.scratch >= 4 * words && stats.scratch <= 0x8000);
        assert_eq!(stats.spills > 0, spilled > 0);
    }
}

#[test]
fn threadgroup_memory_ends_at_32_kib() {
    let text = |words: u32| {
        format!(
            "layout(local_size_x = 256) in;
            layout(set = 0, binding = 0) buffer B {{ uint data[]; }};
            shared uint s[{words}];
            void main() {{
                uint l = gl_LocalInvocationIndex;
                for (uint i = l; i < {words}u; i += 256u) s[i] = i * 3u;
                barrier();
                if (l < 64u) data[l] = s[({words}u - 1u - l * 100u) % {words}u];
            }}"
        )
    };
    for words in [8193, 10240, 1 << 20] {
        let bytes = (4 * words).to_string();
        refused(
            "threadgroup memory",
            &text(words),
            &["threadgroup memory", &bytes, "32768"],
        );
    }
    let expected = (0..64).map(|l| (8191 - l * 100) * 3).collect();
    common::equal(
        &case("32 KiB", &text(8192), vec![storage(0, &[0; 64])]),
        &[expected],
    );
}

#[test]
fn workgroups_have_up_to_1024_invocations() {
    let text = "layout(local_size_x = 16, local_size_y = 16, local_size_z = 4) in;
        layout(set = 0, binding = 0) buffer B { uint data[]; };
        shared uint s[1024];
        void main() {
            uint l = gl_LocalInvocationIndex;
            s[l] = l * l;
            barrier();
            data[l] = s[1023u - l] + gl_LocalInvocationID.y;
        }";
    let original = case("a workgroup", text, vec![storage(0, &[0; 1024])]);
    // Six words: LocalSize (17), or LocalSizeId (38) with constants, which becomes LocalSize.
    let is_size = |w: &[u32]| matches!(w, [0x6_0010, _, 17] | [0x6_014b, _, 38]);
    let at = original
        .spirv
        .windows(3)
        .position(is_size)
        .expect("its size");
    let sized = |size: [u32; 3]| {
        let mut case = original.clone();
        case.spirv[at] = 0x6_0010;
        case.spirv[at + 2] = 17;
        case.spirv[at + 3..at + 6].copy_from_slice(&size);
        case.name = format!("workgroups of {size:?}");
        case
    };
    for (size, invocations) in [
        ([1025, 1, 1], "1025"),
        ([32, 33, 1], "1056"),
        ([1024, 1024, 64], "67108864"),
        // More than 32 bits have.
        ([65535, 65535, 65535], "281462092005375"),
    ] {
        match compile(&sized(size)) {
            Err(Error::Limit(error)) => {
                assert!(
                    error.contains(invocations) && error.contains("1024"),
                    "{error}"
                );
            }
            other => panic!("{size:?}: {other:?}"),
        }
    }
    for (size, rows) in [([1024, 1, 1], 1), ([1, 1024, 1], 1024), ([16, 16, 4], 16)] {
        let y = |l: u32| l / size[0] % rows;
        let expected = (0..1024).map(|l| (1023 - l) * (1023 - l) + y(l)).collect();
        common::equal(&sized(size), &[expected]);
    }
}

#[test]
fn push_constants_of_256_bytes() {
    let text = "layout(local_size_x = 32) in;
        layout(set = 0, binding = 0) buffer B { uint data[]; };
        layout(push_constant) uniform P { uint p[64]; };
        void main() {
            uint l = gl_LocalInvocationIndex;
            data[l] = p[63] + p[0] + p[31] * p[(l * 7u) & 63u];
            data[l + 32u] = p[l + 32u];
        }";
    let push: Vec<u32> = (0..64).map(|i| i * i + 5).collect();
    let mut case = case("push constants", text, vec![storage(0, &[0; 64])]);
    case.push_constants = push.iter().flat_map(|w| w.to_le_bytes()).collect();
    let mut expected: Vec<u32> = (0..32)
        .map(|l| push[63] + push[0] + push[31] * push[(l * 7) & 63])
        .collect();
    expected.extend(&push[32..]);
    common::equal(&case, &[expected]);
}

/// A launch gives 19 pointers, so that no shader can use more descriptor sets.
#[test]
fn descriptor_sets() {
    let make = |sets: u32, more: bool| {
        let declare: String = (0..sets)
            .map(|s| format!("layout(set = {s}, binding = 0) buffer B{s} {{ uint data{s}[]; }};\n"))
            .collect();
        let add: String = (0..sets)
            .map(|s| format!("data{s}[l] += {s}u + l;\n"))
            .collect();
        let counts = if more {
            "data0[l] += gl_NumWorkGroups.x;"
        } else {
            ""
        };
        let text = format!(
            "layout(local_size_x = 32) in; {declare}
            void main() {{ uint l = gl_LocalInvocationIndex; {add} {counts} }}"
        );
        let buffers = (0..sets).map(|set| cortland_cts::case::Buffer {
            set,
            ..storage(0, &[7; 32])
        });
        case(&format!("{sets} sets"), &text, buffers.collect())
    };
    for sets in [1, 8, 19] {
        let expected: Vec<Vec<u32>> = (0..sets)
            .map(|s| (0..32).map(|l| 7 + s + l).collect())
            .collect();
        common::equal(&make(sets, false), &expected);
    }
    for (sets, more, count) in [
        (20, false, "20 pointers"),
        (32, false, "32 pointers"),
        (19, true, "20 pointers"),
    ] {
        match compile(&make(sets, more)) {
            Err(Error::Limit(error)) => {
                assert!(
                    error.contains(count)
                        && error.contains("19")
                        && error.contains("descriptor sets"),
                    "{error}"
                );
            }
            other => panic!("{sets} sets: {other:?}"),
        }
    }
}

/// More than a megabyte of code: in one block, and jumped over by branches that reach as far. It has far more constants
/// than there are registers, but not a new one on each line: the time that glslang takes grows with their square.
#[test]
fn a_megabyte_of_code() {
    let lines = 34_000;
    for branches in [false, true] {
        let body: String = (0..lines)
            .map(|i| match branches && i % 50 == 0 {
                true => format!(
                    "if ((s & {}u) != 0u) {{ s ^= {i}u; data[l + 32u] = s; }}\n",
                    1 << (i / 50 % 20)
                ),
                false => format!(
                    "s = (s ^ s >> {}u) * {}u;\n",
                    i % 13 + 3,
                    2 * (i % 2003) + 1
                ),
            })
            .collect();
        let text = format!(
            "layout(local_size_x = 32) in;
            layout(set = 0, binding = 0) buffer B {{ uint data[]; }};
            void main() {{
                uint l = gl_LocalInvocationIndex, s = data[l];
                for (uint round = 0u; round < 1u + (data[127] & 1u); round++) {{
                    {body}
                }}
                data[l] = s;
            }}"
        );
        let data: Vec<u32> = (0..128u32).map(|i| i.wrapping_mul(0x9e37_79b1)).collect();
        let case = case("a megabyte", &text, vec![storage(0, &data)]);
        let mut expected = data.clone();
        for l in 0..32 {
            let mut s = data[l];
            for _ in 0..1 + (data[127] & 1) {
                for i in 0..lines {
                    if branches && i % 50 == 0 {
                        if s & 1 << (i / 50 % 20) != 0 {
                            s ^= i;
                            expected[l + 32] = s;
                        }
                    } else {
                        s = (s ^ s >> (i % 13 + 3)).wrapping_mul(2 * (i % 2003) + 1);
                    }
                }
            }
            expected[l] = s;
        }
        let stats = common::equal(&case, &[expected]);
        assert!(stats.bytes > 1 << 20, "{stats:?}");
    }
}
