// SPDX-License-Identifier: MIT
//! More values than registers: shaders with hundreds of them, in every shape that an allocator has to bring together.

mod common;

use std::fmt::Write as _;

use common::{agree, case, equal, statistics, storage};
use cortland_cts::case::Case;
use cortland_cts::random::rng::Rng;

/// Invocations of most shaders here: two SIMD groups.
const LANES: u32 = 64;

fn numbers(seed: u64, count: u32) -> Vec<u32> {
    let mut rng = Rng::new(seed);
    (0..count).map(|_| rng.next_u32()).collect()
}

/// Text for each number below `n`.
fn each(n: u32, text: impl Fn(u32) -> String) -> String {
    (0..n).map(text).fold(String::new(), |mut all, line| {
        let _ = writeln!(all, "{line}");
        all
    })
}

/// `n` values are loaded, something is stored, so that none of the loads can be later than that; then `body`.
fn shader(name: &str, n: u32, declare: &str, body: &str, outputs: u32) -> Case {
    let text = format!(
        "layout(local_size_x = {LANES}) in;
        layout(set = 0, binding = 0) buffer In {{ uint data[]; }};
        layout(set = 0, binding = 1) buffer Out {{ uint results[]; }};
        layout(set = 0, binding = 2) buffer More {{ uint more[]; }};
        {declare}
        void main() {{
            uint id = gl_GlobalInvocationID.x;
            uint lane = gl_LocalInvocationIndex;
            {}
            results[id * {outputs}u] = 1u;
            {body}
        }}",
        each(n, |k| format!("uint v{k} = data[id * {n}u + {k}u];"))
    );
    let buffers = vec![
        storage(0, &numbers(n.into(), n * LANES)),
        storage(1, &vec![0; (outputs * LANES) as usize]),
        storage(2, &numbers(3, 4096)),
    ];
    case(name, &text, buffers)
}

/// Last first, then first first: all live at one time.
fn sums(n: u32) -> Case {
    let fold = |k: u32| format!("s = s * 31u + v{k};");
    let body = format!(
        "uint s = 0u; {} {} results[id] = s;",
        each(n, |k| fold(n - 1 - k)),
        each(n, |k| format!("s = (s ^ v{k}) * 17u;"))
    );
    shader(&format!("sums of {n}"), n, "", &body, 1)
}

fn check_sums(n: u32) -> agx_compiler::binary::Statistics {
    let case = sums(n);
    let input = common::words(&case.buffers[0].bytes);
    let result = |v: &[u32]| {
        let s = v
            .iter()
            .rev()
            .fold(0u32, |s, v| s.wrapping_mul(31).wrapping_add(*v));
        v.iter().fold(s, |s, v| (s ^ v).wrapping_mul(17))
    };
    let expected = input.chunks(n as usize).map(result).collect();
    let more = common::words(&case.buffers[2].bytes);
    equal(&case, &[input, expected, more])
}

#[test]
fn spills_come_when_they_must_and_not_before() {
    for n in [40, 80] {
        let stats = check_sums(n);
        assert_eq!(
            (stats.spills, stats.fills, stats.scratch),
            (0, 0, 0),
            "{n} values"
        );
    }
    for n in [100, 130, 200, 400] {
        let stats = check_sums(n);
        assert!(
            stats.spills >= n - 96 && stats.fills >= n - 96,
            "{n} values: {stats:?}"
        );
        // Not many more than there must be: each value is needed twice, and nothing lies between.
        assert!(
            stats.spills <= n && stats.fills <= 2 * n,
            "{n} values: {stats:?}"
        );
        assert!(
            stats.scratch >= 4 * (n - 96) && stats.scratch <= 4 * n,
            "{n} values: {stats:?}"
        );
        assert!(stats.gprs <= 96, "{stats:?}");
    }
}

#[test]
fn values_of_all_widths() {
    for n in [60, 130, 240] {
        let declare = "";
        let make = |k: u32| match k % 5 {
            0 => format!("uint w{k} = v{k} * 3u;"),
            1 => format!("float w{k} = float(v{k} & 0xffffu);"),
            2 => format!("float16_t w{k} = float16_t(float(v{k} & 0x3fu));"),
            3 => format!("uint64_t w{k} = packUint2x32(uvec2(v{k}, v{k} ^ 0x1234u));"),
            _ => format!("uint16_t w{k} = uint16_t(v{k} >> 5);"),
        };
        let fold = |k: u32| match k % 5 {
            0 => format!("s += w{k};"),
            1 => format!("f = f * 0.5 + w{k};"),
            2 => format!("h = h + w{k};  s ^= uint(float(h)); h = w{k};"),
            3 => format!("d = d * 5ul + w{k};"),
            _ => format!("s = (s << 1) ^ uint(w{k}); w = w * uint16_t(3) + w{k};"),
        };
        let body = format!(
            "{} results[id * 8u + 1u] = 2u;
            uint s = 0u; float f = 0.0; float16_t h = float16_t(0); uint64_t d = 0ul; uint16_t w = uint16_t(0);
            {} results[id * 8u + 2u] = s; {}
            results[id * 8u + 3u] = s; results[id * 8u + 4u] = floatBitsToUint(f);
            results[id * 8u + 5u] = unpackUint2x32(d).x; results[id * 8u + 6u] = unpackUint2x32(d).y;
            results[id * 8u + 7u] = uint(w) + uint(float(h)) * 65536u;",
            each(n, make),
            each(n, |k| fold(n - 1 - k)),
            each(n, |k| fold(k * 7 % n)),
        );
        let stats = agree(&shader(
            &format!("{n} values of all widths"),
            n,
            declare,
            &body,
            8,
        ));
        assert!(stats.spills > 0 || n < 100, "{n}: {stats:?}");
    }
}

/// Two 16-bit values share a register where there are too few: twice as many fit.
const BOTH_HALVES: [u32; 4] = [60, 100, 140, 164];

/// `n` 16-bit values of a type are loaded, and `body` goes on with `v0` to `v{n - 1}`.
fn halves(name: &str, n: u32, ty: &str, input: &[u16], body: &str, outputs: u32) -> Case {
    let text = format!(
        "layout(local_size_x = {LANES}) in;
        layout(set = 0, binding = 0) readonly buffer In {{ {ty} data[]; }};
        layout(set = 0, binding = 1) buffer Out {{ uint results[]; }};
        void main() {{
            uint id = gl_GlobalInvocationID.x;
            {}
            results[id * {outputs}u] = 1u;
            {body}
        }}",
        each(n, |k| format!("{ty} v{k} = data[id * {n}u + {k}u];"))
    );
    let words: Vec<u32> = input
        .chunks(2)
        .map(|two| u32::from(two[0]) | u32::from(two[1]) << 16)
        .collect();
    let buffers = vec![
        storage(0, &words),
        storage(1, &vec![0; (outputs * LANES) as usize]),
    ];
    case(name, &text, buffers)
}

/// The shader gives these results without a word of scratch memory.
fn in_registers(case: &Case, expected: Vec<u32>) {
    let input = common::words(&case.buffers[0].bytes);
    let stats = equal(case, &[input, expected]);
    let memory = (stats.spills, stats.fills, stats.scratch);
    assert_eq!(memory, (0, 0, 0), "{}: {stats:?}", case.name);
    assert!(stats.gprs <= 96, "{}: {stats:?}", case.name);
}

/// Small whole numbers, of which fp16 sums are exact.
const SMALL: [u16; 4] = [0, 0x3c00, 0x4000, 0x4200];

#[test]
fn twice_as_many_loaded_floats_fit() {
    for n in BOTH_HALVES {
        let digits: Vec<u32> = numbers(5, n * LANES).iter().map(|x| x % 4).collect();
        let input: Vec<u16> = digits.iter().map(|d| SMALL[*d as usize]).collect();
        let body = format!(
            "float16_t s = float16_t(0), t = float16_t(0); {} {}
            results[id * 2u] = uint(float(s)); results[id * 2u + 1u] = uint(float(t));",
            each(n, |k| format!("s = s + v{};", n - 1 - k)),
            each(n, |k| format!("t = fma(v{k}, float16_t({}), t);", k % 5)),
        );
        let case = halves(&format!("{n} fp16 loads"), n, "float16_t", &input, &body, 2);
        let sums = |v: &[u32]| {
            let weighed = v.iter().zip(0u32..).map(|(d, k)| d * (k % 5));
            [v.iter().sum(), weighed.sum()]
        };
        in_registers(&case, digits.chunks(n as usize).flat_map(sums).collect());
    }
}

/// Results of fp16 arithmetic, which writes low halves only.
#[test]
fn twice_as_many_computed_floats_fit() {
    for n in BOTH_HALVES {
        let digits: Vec<u32> = numbers(6, n * LANES).iter().map(|x| x % 4).collect();
        let input: Vec<u16> = digits.iter().map(|d| SMALL[*d as usize]).collect();
        let body = format!(
            "{} results[id * 2u] = 2u;
            float16_t s = float16_t(0), t = float16_t(0); {} {}
            results[id * 2u] = uint(float(s)); results[id * 2u + 1u] = uint(float(t));",
            each(n, |k| format!("float16_t w{k} = v{k} * v{};", (k + 7) % n)),
            each(n, |k| format!("s = s + w{};", n - 1 - k)),
            each(n, |k| format!("t = max(t, w{k} + v{});", (k * 3) % n)),
        );
        let name = format!("{n} fp16 products");
        let case = halves(&name, n, "float16_t", &input, &body, 2);
        let n = n as usize;
        let results = |v: &[u32]| {
            let w: Vec<u32> = (0..n).map(|k| v[k] * v[(k + 7) % n]).collect();
            let most = (0..n).map(|k| w[k] + v[k * 3 % n]).max();
            [w.iter().sum(), most.unwrap_or(0)]
        };
        let expected = digits.chunks(n).flat_map(results).collect();
        // Products and factors are live together.
        if n <= 90 {
            in_registers(&case, expected);
        } else {
            let stats = equal(&case, &[common::words(&case.buffers[0].bytes), expected]);
            assert!(stats.spills <= 2 * n as u32 - 170, "{name}: {stats:?}");
        }
    }
}

#[test]
fn twice_as_many_integers_fit() {
    for n in BOTH_HALVES {
        let input: Vec<u16> = numbers(7, n * LANES).iter().map(|x| *x as u16).collect();
        let body = format!(
            "uint s = 0u; {} int t = 0; {} uint16_t m = uint16_t(1); {}
            results[id * 3u] = s; results[id * 3u + 1u] = uint(t); results[id * 3u + 2u] = uint(m);",
            each(n, |k| format!("s = s * 31u + uint(v{});", n - 1 - k)),
            each(n, |k| format!("t = t * 5 + int(int16_t(v{k}));")),
            each(n, |k| format!("m = m * v{k} + v{};", (k * 7 + 1) % n)),
        );
        let case = halves(
            &format!("{n} 16-bit integers"),
            n,
            "uint16_t",
            &input,
            &body,
            3,
        );
        let results = |v: &[u16]| {
            let wide = v.iter().rev();
            let s = wide.fold(0u32, |s, x| s.wrapping_mul(31).wrapping_add((*x).into()));
            let t = v.iter().fold(0i32, |t, x| {
                t.wrapping_mul(5).wrapping_add(i32::from(*x as i16))
            });
            let m = (0..v.len()).fold(1u16, |m, k| {
                m.wrapping_mul(v[k]).wrapping_add(v[(k * 7 + 1) % v.len()])
            });
            [s, t as u32, m.into()]
        };
        in_registers(&case, input.chunks(n as usize).flat_map(results).collect());
    }
}

/// Phis of 16-bit values: sums that go around a loop, two in a register.
#[test]
fn twice_as_many_sums_go_around_a_loop() {
    for n in [60, 100, 140, 152] {
        let digits: Vec<u32> = numbers(9, n * LANES).iter().map(|x| x % 2).collect();
        let input: Vec<u16> = digits.iter().map(|d| SMALL[*d as usize]).collect();
        let body = format!(
            "uint rounds = 3u + uint(float(v0));
            for (uint i = 0u; i < rounds; i++) {{
                float16_t x = data[id * {n}u + i];
                {}
            }}
            float16_t s = float16_t(0), t = float16_t(0); {}
            results[id * 2u] = uint(float(s)); results[id * 2u + 1u] = uint(int(float(t)));",
            each(n, |k| match k % 3 {
                0 => format!("v{k} = v{k} + x;"),
                1 => format!("v{k} = max(v{k}, x);"),
                _ => format!("v{k} = fma(x, float16_t(2), v{k});"),
            }),
            each(n, |k| match k % 2 {
                0 => format!("s = s + v{k}; t = t - v{k};"),
                _ => format!("s = s + v{k}; t = t + v{k};"),
            }),
        );
        let name = format!("{n} fp16 sums around a loop");
        let case = halves(&name, n, "float16_t", &input, &body, 2);
        let results = |v: &[u32]| {
            let mut sums = v.to_vec();
            for x in &v[..3 + v[0] as usize] {
                for (k, sum) in sums.iter_mut().enumerate() {
                    match k % 3 {
                        0 => *sum += x,
                        1 => *sum = (*sum).max(*x),
                        _ => *sum += 2 * x,
                    }
                }
            }
            let odd: u32 = sums.iter().skip(1).step_by(2).sum();
            let even: u32 = sums.iter().step_by(2).sum();
            [odd + even, odd.wrapping_sub(even)]
        };
        in_registers(&case, digits.chunks(n as usize).flat_map(results).collect());
    }
}

/// 16-bit values beside words and vectors of them, through branches and a loop.
#[test]
fn halves_beside_words_and_vectors() {
    for n in [60u32, 100] {
        let input: Vec<u16> = numbers(8, n * LANES).iter().map(|x| *x as u16).collect();
        let body = format!(
            "{} uvec3 a = uvec3(id, 2u, 3u), b = uvec3(5u, id, 7u); uint s = 0u;
            for (uint i = 0u; i < 3u; i++) {{
                a = a.yzx * 3u + b; b = b.zxy ^ a;
                if (((id + i) & 1u) == 0u) {{ {} }} else {{ {} }}
                {}
            }}
            {} results[id] = s ^ a.x ^ b.y;",
            each(16, |k| format!(
                "uint w{k} = id * {}u + uint(v{k});",
                2 * k + 3
            )),
            each(n / 2, |k| format!("s = s * 3u + uint(v{});", 2 * k)),
            each(n / 2, |k| format!("s = s * 5u + uint(v{});", 2 * k + 1)),
            each(16, |k| format!("w{k} = w{k} * 7u + s + a.y;")),
            each(n, |k| format!("s = s * 31u + uint(v{k}) + w{};", k % 16)),
        );
        let case = halves(
            &format!("{n} halves and words"),
            n,
            "uint16_t",
            &input,
            &body,
            1,
        );
        let results = |id: u32, v: &[u16]| {
            let (mut a, mut b, mut s) = ([id, 2, 3], [5, id, 7], 0u32);
            let wide: Vec<u32> = v.iter().map(|x| u32::from(*x)).collect();
            let mut w: Vec<u32> = (0..16u32)
                .map(|k| id.wrapping_mul(2 * k + 3).wrapping_add(wide[k as usize]))
                .collect();
            for i in 0..3 {
                let turned = [a[1], a[2], a[0]];
                a = std::array::from_fn(|c| turned[c].wrapping_mul(3).wrapping_add(b[c]));
                b = [b[2] ^ a[0], b[0] ^ a[1], b[1] ^ a[2]];
                let odd = (id + i) as usize & 1;
                let factor = if odd == 0 { 3u32 } else { 5 };
                for x in wide.iter().skip(odd).step_by(2) {
                    s = s.wrapping_mul(factor).wrapping_add(*x);
                }
                for x in &mut w {
                    *x = x.wrapping_mul(7).wrapping_add(s).wrapping_add(a[1]);
                }
            }
            for (k, x) in wide.iter().enumerate() {
                s = s.wrapping_mul(31).wrapping_add(*x).wrapping_add(w[k % 16]);
            }
            s ^ a[0] ^ b[1]
        };
        let lanes = input.chunks(n as usize).zip(0..);
        in_registers(&case, lanes.map(|(v, id)| results(id, v)).collect());
    }
}

/// Vectors are loaded, all of them live, and put together anew from components of several.
#[test]
fn vectors() {
    for (n, size) in [(20u32, 4u32), (24, 4), (60, 4), (50, 3), (100, 2), (300, 2)] {
        let ty = format!("uvec{size}");
        let mut rng = Rng::new(n.into());
        let lanes: Vec<(u32, u32)> = (0..n * size)
            .map(|_| {
                (
                    rng.below(n as usize) as u32,
                    rng.below(size as usize) as u32,
                )
            })
            .collect();
        let letter = |c: u32| ["x", "y", "z", "w"][c as usize];
        let parts = |k: u32| -> String {
            let of = &lanes[(k * size) as usize..][..size as usize];
            of.iter()
                .map(|(v, c)| format!("v{v}.{}", letter(*c)))
                .collect::<Vec<_>>()
                .join(", ")
        };
        let text = format!(
            "#extension GL_EXT_scalar_block_layout : enable
            layout(local_size_x = {LANES}) in;
            layout(scalar, set = 0, binding = 0) buffer In {{ {ty} data[]; }};
            layout(scalar, set = 0, binding = 1) buffer Out {{ {ty} results[]; }};
            void main() {{
                uint id = gl_GlobalInvocationID.x;
                {}
                results[id * {n}u] = {ty}(1u);
                {} }}",
            each(n, |k| format!("{ty} v{k} = data[id * {n}u + {k}u];")),
            each(n, |k| format!(
                "results[id * {n}u + {k}u] = {ty}({});",
                parts(k)
            )),
        );
        let input = numbers(7, n * size * LANES);
        let buffers = vec![storage(0, &input), storage(1, &vec![0; input.len()])];
        let case = case(&format!("{n} of {ty}"), &text, buffers);
        let all = (n * size) as usize;
        let permuted = |v: &[u32]| -> Vec<u32> {
            lanes
                .iter()
                .map(|(k, c)| v[(k * size + c) as usize])
                .collect()
        };
        let expected = input.chunks(all).flat_map(permuted).collect();
        let stats = equal(&case, &[input, expected]);
        assert_eq!(stats.spills > 0, n * size > 100, "{n} of {ty}: {stats:?}");
    }
}

/// Values that nested loops change, each a few of them, and all that live through.
#[test]
fn values_across_nested_loops() {
    for n in [70, 120, 250] {
        let body = format!(
            "uint limit = 3u + (v0 & 1u), s = 0u;
            for (uint i = 0u; i < limit; i++) {{
                {}
                for (uint j = 0u; j < 2u + (v1 & 1u); j++) {{
                    {}
                    for (uint k = 0u; k < limit; k++) {{
                        if (((s >> k) & 3u) == 1u) continue;
                        {}
                        if ((s & 255u) == 7u) break;
                    }}
                    s += v{};
                }}
                {}
            }}
            {} results[id] = s;",
            each(n / 4, |k| format!("v{k} += s + {k}u;")),
            each(n / 4, |k| format!("v{} ^= s * {k}u;", k + n / 4)),
            each(n / 4, |k| format!("s = s * 3u + v{};", k + n / 2)),
            n - 1,
            each(n / 8, |k| format!(
                "s ^= v{}; v{} = s;",
                n - 1 - k,
                n - 2 - k
            )),
            each(n, |k| format!("s = s * 5u + v{k};")),
        );
        let stats = agree(&shader(
            &format!("{n} values across loops"),
            n,
            "",
            &body,
            1,
        ));
        assert!(stats.spills > 0 || n < 100, "{n}: {stats:?}");
    }
}

/// Phis of many values that move in circles and change places: parallel copies of more than there are registers.
#[test]
fn phis_that_rotate_and_swap() {
    for (n, step) in [(50u32, 1u32), (100, 1), (100, 7), (180, 3), (300, 1)] {
        let body = format!(
            "uint rounds = 5u + (more[0] & 1u);
            for (uint i = 0u; i < rounds; i++) {{
                {}
                {}
                if (((id + i) & 1u) == 0u) {{ {} }}
            }}
            uint s = 0u; {} results[id * 2u] = s; results[id * 2u + 1u] = v{};",
            each(n, |k| format!("uint t{k} = v{k};")),
            each(n, |k| format!("v{k} = t{};", (k + step) % n)),
            each(n / 2, |k| format!(
                "uint u{k} = v{k}; v{k} = v{0}; v{0} = u{k};",
                n - 1 - k
            )),
            each(n, |k| format!("s = s * 3u + v{k};")),
            n / 3,
        );
        let case = shader(&format!("{n} phis, by {step}"), n, "", &body, 2);
        let input = common::words(&case.buffers[0].bytes);
        let more = common::words(&case.buffers[2].bytes);
        let mut results = Vec::new();
        for (id, v) in input.chunks(n as usize).enumerate() {
            let mut v = v.to_vec();
            for i in 0..5 + (more[0] as usize & 1) {
                v.rotate_left(step as usize);
                if (id + i).is_multiple_of(2) {
                    v[..].reverse();
                }
            }
            results.push(
                v.iter()
                    .fold(0u32, |s, v| s.wrapping_mul(3).wrapping_add(*v)),
            );
            results.push(v[(n / 3) as usize]);
        }
        let stats = equal(&case, &[input, results, more]);
        assert_eq!(stats.spills > 0, n > 90, "{n}: {stats:?}");
    }
}

/// Shared and private memory, whose instructions reach the lower registers only, between values that fill the file.
#[test]
fn shared_and_private_memory() {
    for n in [60, 110, 200] {
        let body = format!(
            "uint a[24]; uint s = 0u;
            for (uint i = 0u; i < 24u; i++) a[i] = more[(id + i) & 1023u];
            {}
            {}
            {} results[id] = s;",
            each(n / 4, |k| format!(
                "shared_words[(lane * 5u + {k}u) & 63u] = v{k}; barrier();
                 v{} += shared_words[(lane + {}u) & 63u]; barrier();",
                k + n / 2,
                3 * k
            )),
            each(n / 3, |k| format!(
                "a[v{k} % 24u] += v{}; v{k} ^= a[(v{k} + s) % 24u]; s += v{k};",
                n - 1 - k
            )),
            each(n, |k| format!("s = s * 5u + v{k} + a[{k}u % 24u];")),
        );
        let declare = "shared uint shared_words[64];";
        let stats = agree(&shader(
            &format!("{n} values and memory"),
            n,
            declare,
            &body,
            1,
        ));
        assert_eq!(stats.spills > 0, n > 100, "{n}: {stats:?}");
        assert!(stats.scratch >= 4 * 24);
    }
}

/// Atomics, whose data registers receive what was there, with operands that live on; each invocation on words of its
/// own. One is on a workgroup variable: the place of the workgroup whose work is done lives beside all values.
#[test]
fn atomics() {
    for n in [36, 110, 170] {
        let op = |k: u32| match k % 6 {
            0 => format!("uint r{k} = atomicAdd(results[id * {n}u + {k}u], v{k});"),
            1 => format!("uint r{k} = atomicExchange(results[id * {n}u + {k}u], v{k});"),
            2 => format!("uint r{k} = atomicCompSwap(results[id * {n}u + {k}u], v{k} & 0u, v{k});"),
            3 => format!(
                "uint r{k} = atomicCompSwap(results[id * {n}u + {k}u], v{k}, v{});",
                (k + 1) % n
            ),
            4 => format!("uint r{k} = atomicMax(shared_words[lane], v{k});"),
            _ => format!("uint r{k} = v{k}; atomicXor(results[id * {n}u + {k}u], v{k});"),
        };
        let body = format!(
            "shared_words[lane] = v3; barrier();
            {} uint s = 0u; {} results[id * {n}u + 5u] = s + atomicAdd(shared_words[lane], 1u);",
            each(n, op),
            each(n, |k| format!("s = s * 7u + (r{k} ^ v{k});")),
        );
        let declare = "shared uint shared_words[64];";
        let stats = agree(&shader(&format!("{n} atomics"), n, declare, &body, n));
        assert_eq!(stats.spills > 0, n > 60, "{n}: {stats:?}");
    }
}

/// Subgroup operations under pressure, in whole subgroups and in divergent parts of them.
#[test]
fn subgroup_operations() {
    for n in [40u32, 100, 160] {
        let op = |k: u32| match k % 5 {
            0 => format!("uint r{k} = subgroupBallot((v{k} & 1u) != 0u).x;"),
            1 => format!(
                "uint r{k} = subgroupShuffle(v{k}, (gl_SubgroupInvocationID * 5u + {k}u) & 31u);"
            ),
            2 => format!("uint r{k} = subgroupAdd(v{k});"),
            3 => format!("uint r{k} = subgroupShuffleXor(v{k}, {}u);", k % 32),
            _ => format!("uint r{k} = subgroupExclusiveAdd(v{k});"),
        };
        let folds = |from: u32| each(n, |k| format!("s = s * 7u + (r{k} ^ v{});", (k + from) % n));
        let body = format!(
            "{} uint s = 0u; {} {} results[id] = s;",
            each(n, op),
            folds(0),
            folds(1)
        );
        let case = shader(&format!("{n} subgroup operations"), n, "", &body, 1);
        let input = common::words(&case.buffers[0].bytes);
        let more = common::words(&case.buffers[2].bytes);
        let mut results = Vec::new();
        for group in 0..LANES / 32 {
            let v = |lane: u32, k: u32| input[((group * 32 + lane) * n + k) as usize];
            let r = |lane: u32, k: u32| match k % 5 {
                0 => (0..32).map(|l| (v(l, k) & 1) << l).sum(),
                1 => v((lane * 5 + k) & 31, k),
                2 => (0..32).fold(0u32, |sum, l| sum.wrapping_add(v(l, k))),
                3 => v(lane ^ (k % 32), k),
                _ => (0..lane).fold(0u32, |sum, l| sum.wrapping_add(v(l, k))),
            };
            for lane in 0..32 {
                let mut s = 0u32;
                for from in 0..2 {
                    for k in 0..n {
                        s = s
                            .wrapping_mul(7)
                            .wrapping_add(r(lane, k) ^ v(lane, (k + from) % n));
                    }
                }
                results.push(s);
            }
        }
        let stats = equal(&case, &[input, results, more]);
        assert_eq!(stats.spills > 0, n > 60, "{n}: {stats:?}");
    }
}

/// 64-bit pairs: additions that write both words, products, comparisons, addresses.
#[test]
fn pairs() {
    for n in [30u32, 60, 150] {
        let body = format!(
            "{} results[id * 4u + 1u] = 2u; uint64_t d = 1ul;
            {}
            if (d > w3) {{ {} }} else {{ {} }}
            results[id * 4u + 2u] = unpackUint2x32(d).x; results[id * 4u + 3u] = unpackUint2x32(d).y;",
            each(n, |k| format!("uint64_t w{k} = packUint2x32(uvec2(v{k}, v{} & 0xffffu));", (k * 11 + 1) % n)),
            each(n, |k| format!("d = d * w{} + uint64_t(v{k}) * uint64_t(v{});", n - 1 - k, (k + 5) % n)),
            each(n, |k| format!("d = min(d, w{k} << 3) - w{};", (k + 9) % n)),
            each(n, |k| format!("d = (d ^ w{k}) + (w{} >> 7);", (k * 7) % n)),
        );
        let stats = agree(&shader(&format!("{n} pairs"), n, "", &body, 4));
        assert_eq!(stats.spills > 0, n >= 60, "{n}: {stats:?}");
    }
}

/// Random values, operations, branches and loops on up to 260 variables: everything at once.
#[test]
fn random_pressure() {
    for seed in 0..8u64 {
        let mut rng = Rng::new(seed);
        let n = rng.range(60, 260) as u32;
        let body = format!(
            "{} uint s = 0u; {} results[id] = s;",
            block(&mut rng, n, 3),
            each(n, |k| format!("s = s * 3u + v{k};"))
        );
        agree(&shader(&format!("random pressure {seed}"), n, "", &body, 1));
    }
}

fn block(rng: &mut Rng, n: u32, depth: u32) -> String {
    let mut text = String::new();
    for _ in 0..rng.range(3, 7) {
        let mut v = || rng.below(n as usize);
        let (a, b, c, d) = (v(), v(), v(), v());
        let line = match rng.below(if depth == 0 { 7 } else { 10 }) {
            0 => format!("v{a} = v{b} + v{c};"),
            1 => format!("v{a} = v{b} * 5u ^ v{c};"),
            2 => format!("{{ uint t = v{a}; v{a} = v{b}; v{b} = v{c}; v{c} = t; }}"),
            3 => format!("v{a} = more[(v{b} + {c}u) & 1023u];"),
            4 => format!(
                "{{ uvec4 t = uvec4(v{a}, v{b}, v{c}, v{d}); v{d} = t.x; v{c} = t.y; v{b} = t.z; v{a} = t.w; }}"
            ),
            5 => format!("v{a} = v{b} < v{c} ? v{d} : v{a};"),
            6 => format!("v{a} = uint((uint64_t(v{b}) * uint64_t(v{c})) >> 13);"),
            7 => format!(
                "if ((v{a} & 3u) == 1u) {{ {} }} else {{ {} }}",
                block(rng, n, depth - 1),
                block(rng, n, depth - 1)
            ),
            8 => format!("if (v{a} < v{b}) {{ {} }}", block(rng, n, depth - 1)),
            _ => format!(
                "for (uint i{depth} = 0u; i{depth} < 1u + (v{a} & 3u); i{depth}++) {{ {} if ((v{b} & 7u) == 2u) break; {} }}",
                block(rng, n, depth - 1),
                block(rng, n, depth - 1)
            ),
        };
        text += &line;
        text.push('\n');
    }
    text
}

/// Every value is known at compile time: none of them needs a register for long.
#[test]
fn constants_take_no_room() {
    let n = 300;
    let body = format!(
        "uint s = v0; {} {} results[id] = s;",
        each(n, |k| format!(
            "s = s * {}u + {}u;",
            k.wrapping_mul(0x9e37_79b1) | 1,
            k.wrapping_mul(0x85eb_ca6b)
        )),
        each(n, |k| format!(
            "s = s * {}u + {}u;",
            k.wrapping_mul(0x9e37_79b1) | 1,
            k.wrapping_mul(0x85eb_ca6b)
        )),
    );
    let case = shader("constants", 1, "", &body, 1);
    assert_eq!(statistics(&case).spills, 0);
    agree(&case);
}
