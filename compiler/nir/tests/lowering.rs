// SPDX-License-Identifier: MIT
//! Compute shaders lowered for Apple9: that the result has the form that the back end takes, and that it computes what
//! the program says. The modules run on `common/machine.rs`; what they should give is computed here.

mod common;

use common::machine::{Machine, f32_to_half, half_to_f32};
use common::{APPLE9, apple9_lowering, apple9_shader};
use mesa_nir::program::{AluOp, Instr, Node, Program};
use mesa_nir::{Error, assemble};

fn module(name: &str) -> Vec<u32> {
    let (_, text) = APPLE9.iter().find(|(n, _)| *n == name).expect("a module");
    assemble(text).unwrap_or_else(|e| panic!("{name}: {e}"))
}

fn program(name: &str, robust: bool) -> Program {
    let shader = apple9_shader(&module(name), "main").unwrap_or_else(|e| panic!("{name}: {e}"));
    let lowered = shader.lower_compute(&apple9_lowering(robust));
    // The check of the form is the last step of lowering; NIR's own rules hold too.
    let lowered = lowered.and_then(mesa_nir::Shader::validate);
    let lowered = lowered.unwrap_or_else(|e| panic!("{name}: {e}"));
    lowered.export().unwrap_or_else(|e| panic!("{name}: {e}"))
}

#[test]
fn every_module_reaches_the_form_of_the_back_end() {
    for (name, _) in APPLE9 {
        for robust in [false, true] {
            let program = program(name, robust);
            assert!(program.num_defs > 0 && !program.body.is_empty(), "{name}");
        }
    }
}

#[test]
fn lowering_is_deterministic_and_safe_in_threads() {
    let expected: Vec<_> = APPLE9
        .iter()
        .map(|(name, _)| program(name, false))
        .collect();
    std::thread::scope(|scope| {
        for first in 0..4 {
            let expected = &expected;
            scope.spawn(move || {
                for round in 0..APPLE9.len() {
                    let at = (first * 5 + round) % APPLE9.len();
                    assert_eq!(program(APPLE9[at].0, false), expected[at]);
                }
            });
        }
    });
}

/// The other compute modules ask for things that Apple9 lacks, or say in words what is missing.
#[test]
fn what_is_not_supported_is_named() {
    let words = |name: &str| common::case(name).words();
    let capability = |name: &str| match apple9_shader(&words(name), common::case(name).entry_point)
    {
        Err(Error::UnsupportedCapability(c)) => c,
        other => panic!("{name}: {other:?}"),
    };
    assert!(capability("compute_ints").contains("Int64Atomics"));
    assert!(capability("compute_pointers").contains("Float64"));
    for name in ["compute_shared", "compute_values", "compute_spec_ops"] {
        let shader = apple9_shader(&words(name), "main").unwrap_or_else(|e| panic!("{name}: {e}"));
        let lowered = shader.lower_compute(&apple9_lowering(true));
        lowered
            .unwrap_or_else(|e| panic!("{name}: {e}"))
            .export()
            .expect("exports");
    }
    let mut lowering = apple9_lowering(false);
    lowering.bindings.clear();
    let error = apple9_shader(&module("arithmetic"), "main")
        .expect("translates")
        .lower_compute(&lowering);
    let message = error.expect_err("no such binding").to_string();
    assert!(
        message.contains("set 1, binding 0, which the layout does not have"),
        "{message}"
    );
    // Not lowered at all.
    let error = apple9_shader(&module("arithmetic"), "main")
        .expect("translates")
        .export();
    assert!(matches!(error, Err(Error::Unsupported(_))), "{error:?}");
}

/// Where the n-th buffer of a run is.
fn buffer(n: u64) -> u64 {
    0x100_0000_0000 + n * 0x10_0000
}

const SET: u64 = 0x200_0000_0000;

fn bytes<T, const N: usize>(values: &[T], to: impl Fn(&T) -> [u8; N]) -> Vec<u8> {
    values.iter().flat_map(to).collect()
}

fn words(values: &[u32]) -> Vec<u8> {
    bytes(values, |v| v.to_le_bytes())
}

/// Pseudo-random words with extreme values among them.
fn interesting(seed: u64, count: usize) -> Vec<u64> {
    let mut state = seed;
    let mut next = move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        state ^ state >> 29
    };
    let special = [
        0,
        1,
        2,
        u64::MAX,
        1 << 63,
        (1 << 63) - 1,
        0x8000_0000,
        0xffff_ffff,
        0x7fff_ffff,
        0x1_0000_0000,
    ];
    (0..count)
        .map(|_| match next() % 4 {
            0 => special[(next() % special.len() as u64) as usize],
            1 => next() >> (next() % 64),
            _ => next(),
        })
        .collect()
}

/// Run a module that reads two arrays of 32 words and writes arrays of 32 words, with many inputs.
fn run_pairs(name: &str, outputs: usize, rounds: u64, check: impl Fn(u32, u32, &[u32])) {
    let program = program(name, false);
    for round in 0..rounds {
        let a: Vec<u32> = interesting(round * 2 + 1, 32)
            .iter()
            .map(|&v| v as u32)
            .collect();
        let b: Vec<u32> = interesting(round * 2 + 2, 32)
            .iter()
            .map(|&v| (v as u32).max(1))
            .collect();
        let mut machine = machine_of(
            &program,
            &[[words(&a), words(&b)].concat(), vec![0; 128 * outputs]],
        );
        machine.run();
        let out = machine.words(buffer(1));
        for lane in 0..32 {
            let results: Vec<u32> = (0..outputs).map(|o| out[o * 32 + lane]).collect();
            check(a[lane], b[lane], &results);
        }
    }
}

/// A machine with these buffers at the bindings from 0 of set 0, each with its size.
fn machine_of(program: &Program, buffers: &[Vec<u8>]) -> Machine {
    let mut machine = Machine::new(program.clone());
    let mut set = vec![0; 256 * 16];
    for (n, bytes) in buffers.iter().enumerate() {
        let at = n * 256;
        set[at..at + 8].copy_from_slice(&buffer(n as u64).to_le_bytes());
        set[at + 8..at + 12].copy_from_slice(&(bytes.len() as u32).to_le_bytes());
        machine.map(buffer(n as u64), bytes.clone());
    }
    machine.map(SET, set);
    machine.roots.insert(16, SET);
    machine
}

#[test]
fn divisions_are_exact() {
    run_pairs("run_division", 7, 200, |a, b, r| {
        let (ia, ib) = (a.cast_signed(), b.cast_signed());
        let expected = [
            a / b,
            a % b,
            ia.wrapping_div(ib).cast_unsigned(),
            a / 7,
            a % 641,
            (ia / -10).cast_unsigned(),
        ];
        assert_eq!(
            [r[0], r[1], r[2], r[4], r[5], r[6]],
            expected,
            "{a:#x} {b:#x}"
        );
        // OpSRem or OpSMod: both are right where no operand is negative.
        if ia >= 0 && ib >= 0 {
            assert_eq!(r[3].cast_signed(), ia % ib, "{a:#x} {b:#x}");
        }
    });
}

#[test]
fn bit_operations() {
    run_pairs("run_bits", 16, 50, |a, b, r| {
        let ia = a.cast_signed();
        let msb = |v: u32| 31_u32.wrapping_sub(v.leading_zeros());
        let extract = |at: u32, n: u32| {
            if n == 0 {
                0
            } else {
                a >> at & (u32::MAX >> (32 - n))
            }
        };
        let mask = ((1_u32 << (b & 15)) - 1) << 3;
        let product = u64::from(a) * u64::from(b);
        let expected = [
            if a == 0 { u32::MAX } else { a.trailing_zeros() },
            msb(a),
            msb(if ia < 0 { !a } else { a }),
            a.count_ones(),
            a.reverse_bits(),
            extract(5, b & 15),
            ((ia << (32 - 9 - (b & 7))) >> 23).cast_unsigned(),
            a & !mask | b << 3 & mask,
            a.wrapping_add(b),
            u32::from(a.checked_add(b).is_none()),
            a.wrapping_sub(b),
            u32::from(a < b),
            (product >> 32) as u32,
            product as u32,
            ia.signum().cast_unsigned(),
            ia.wrapping_abs().cast_unsigned(),
        ];
        assert_eq!(r, expected, "{a:#x} {b:#x}");
    });
}

/// How often a list of nodes has an operation.
fn count(nodes: &[Node], op: AluOp) -> usize {
    let of_node = |node: &Node| match node {
        Node::Block(block) => {
            let of_instr = |i: &&Instr| matches!(i, Instr::Alu(alu) if alu.op == op);
            block.instrs.iter().filter(of_instr).count()
        }
        Node::If(selection) => count(&selection.then_body, op) + count(&selection.else_body, op),
        Node::Loop(body) => count(&body.body, op),
    };
    nodes.iter().map(of_node).sum()
}

#[test]
fn two_shifts_that_make_a_rotation_become_one() {
    assert_eq!(
        count(&program("run_rotate", false).body, AluOp::urol),
        3,
        "and no other pair of shifts does"
    );
    run_pairs("run_rotate", 6, 50, |a, b, r| {
        let expected = [
            a.rotate_left(7),
            a.rotate_right(1),
            b.rotate_left(16),
            a << 7 | a >> 24,
            a << 7 | b >> 25,
            a << 7 | (a.cast_signed() >> 25).cast_unsigned(),
        ];
        assert_eq!(r, expected, "{a:#x} {b:#x}");
    });
}

#[test]
fn integers_of_64_bits() {
    let program = program("run_wide", false);
    for round in 0..20 {
        let a = interesting(round + 100, 32);
        let b: Vec<u64> = interesting(round + 200, 32)
            .iter()
            .map(|&v| v.max(1))
            .collect();
        let input = [
            bytes(&a, |v| v.to_le_bytes()),
            bytes(&b, |v| v.to_le_bytes()),
        ]
        .concat();
        let mut machine = machine_of(&program, &[input, vec![0; 20 * 32 * 8]]);
        machine.run();
        let out = machine.words(buffer(1));
        for lane in 0..32 {
            let r: Vec<u64> = (0..20)
                .map(|o| {
                    let at = (o * 32 + lane) * 2;
                    u64::from(out[at]) | u64::from(out[at + 1]) << 32
                })
                .collect();
            let (a, b) = (a[lane], b[lane]);
            let (ia, ib) = (a.cast_signed(), b.cast_signed());
            let shift = b as u32 & 63;
            let s = i64::cast_unsigned;
            let expected = [
                a.wrapping_add(b),
                a.wrapping_sub(b),
                a.wrapping_mul(b),
                s(ia.wrapping_div(ib)),
                a / b,
                a % b,
                a << shift,
                s(ia >> shift),
                a >> shift,
                s(ia.min(ib)),
                a.max(b),
                s(ia.min(ib)),
                u64::from(a >= b),
                s(i64::from(a as i32)).wrapping_add(u64::from(b as u32)),
                s(ia.wrapping_abs()),
                s(ib.signum()),
                a & !b,
            ];
            assert_eq!(r[..17], expected, "{a:#x} {b:#x}");
            if ia >= 0 && ib >= 0 {
                assert_eq!(r[17], a % b);
            }
            assert_eq!(r[18], s(i64::from(a as i16)) ^ u64::from(b as u8));
            assert_eq!(r[19], u64::from(a == b) + u64::from(a != 0) * 2);
        }
    }
}

#[test]
fn integers_of_8_and_16_bits() {
    let program = program("run_narrow", false);
    for round in 0..30 {
        let seed = |n: u64| interesting(round * 4 + n, 32);
        let (a, b): (Vec<_>, Vec<_>) = (
            seed(0).iter().map(|&v| v as i8).collect(),
            seed(1)
                .iter()
                .map(|&v| if v as i8 == 0 { 3 } else { v as i8 })
                .collect(),
        );
        let (c, d): (Vec<_>, Vec<_>) = (
            seed(2).iter().map(|&v| v as u16).collect(),
            seed(3).iter().map(|&v| (v as u16).max(1)).collect(),
        );
        let one = |v: &i8| v.to_le_bytes();
        let two = |v: &u16| v.to_le_bytes();
        let buffers = [
            [bytes(&a, one), bytes(&b, one)].concat(),
            vec![0; 320],
            [bytes(&c, two), bytes(&d, two)].concat(),
            vec![0; 640],
        ];
        let mut machine = machine_of(&program, &buffers);
        machine.run();
        let (narrow, wide) = (&machine.memory[&buffer(1)], &machine.memory[&buffer(3)]);
        for lane in 0..32 {
            let r: Vec<i8> = (0..10)
                .map(|o| narrow[o * 32 + lane].cast_signed())
                .collect();
            let (a, b) = (a[lane], b[lane]);
            let expected = [
                a.wrapping_add(b),
                a.wrapping_mul(b),
                a.wrapping_div(b),
                a >> (b & 7),
                a << (b & 7),
                a.min(b),
                a.wrapping_abs(),
                i8::from(a < b),
                (f32::from(a) * 0.5) as i8,
                a.wrapping_neg(),
            ];
            assert_eq!(r, expected, "{a} {b}");
            let at = |o: usize| (o * 32 + lane) * 2;
            let q: Vec<u16> = (0..10)
                .map(|o| u16::from_le_bytes([wide[at(o)], wide[at(o) + 1]]))
                .collect();
            let (c, d) = (c[lane], d[lane]);
            let expected = [
                c.wrapping_add(d),
                c.wrapping_mul(d),
                c / d,
                c % d,
                c >> (d & 15),
                c.max(d),
                u16::from(c > d),
                !c,
                (f32::from(c) * 0.5) as u16,
                c.cast_signed()
                    .wrapping_div(d.cast_signed())
                    .cast_unsigned(),
            ];
            assert_eq!(q, expected, "{c} {d}");
        }
    }
}

#[test]
fn sines_are_precise_up_to_a_million() {
    let program = program("run_sines", false);
    let check = |x: &[f32], most: f64| {
        let mut machine = machine_of(&program, &[bytes(x, |v| v.to_le_bytes()), vec![0; 256]]);
        machine.run();
        let out = machine.words(buffer(1));
        for (lane, &x) in x.iter().enumerate() {
            for (got, exact) in [
                (out[lane], f64::from(x).sin()),
                (out[lane + 32], f64::from(x).cos()),
            ] {
                let error = (f64::from(f32::from_bits(got)) - exact).abs();
                assert!(error <= most, "{x}: error {error:e}");
            }
        }
    };
    for round in 0..3000_u32 {
        let range = 2.0_f32.powi((round % 31) as i32 - 10);
        let x: Vec<f32> = interesting(u64::from(round), 32)
            .iter()
            .map(|&v| (v as i32 as f32) / 2.0_f32.powi(31) * range)
            .collect();
        check(&x, 2.0_f64.powi(-22));
    }
    // Where the sine changes its sign, and the limits of the fold.
    let near: Vec<f32> = (-16..16)
        .map(|n| (f64::from(n) * std::f64::consts::FRAC_PI_2) as f32)
        .collect();
    check(&near, 2.0_f64.powi(-22));
    let special = [
        f32::NAN,
        f32::INFINITY,
        f32::NEG_INFINITY,
        1e9,
        1e20,
        f32::MAX,
        -3e12,
        0.0,
    ];
    let x: Vec<f32> = special.iter().copied().cycle().take(32).collect();
    let mut machine = machine_of(&program, &[bytes(&x, |v| v.to_le_bytes()), vec![0; 256]]);
    machine.run();
    let out: Vec<f32> = machine
        .words(buffer(1))
        .iter()
        .map(|&w| f32::from_bits(w))
        .collect();
    for at in [0, 1, 2, 32, 33, 34] {
        assert!(out[at].is_nan());
    }
    for at in [3, 4, 5, 6, 35, 36, 37, 38] {
        assert!(out[at].abs() <= 1.0, "{}", out[at]);
    }
    assert_eq!((out[7], out[39]), (0.0, 1.0));
}

#[test]
fn half_precision() {
    let program = program("run_half", false);
    for round in 0..50 {
        let half = |seed: u64| -> Vec<u16> {
            let values = interesting(seed, 32);
            values
                .iter()
                .map(|&v| f32_to_half((v as i16 as f32) / 64.0 + 0.013))
                .collect()
        };
        let (a, b) = (half(round + 1), half(round + 1000));
        let z: Vec<i32> = interesting(round + 7, 32)
            .iter()
            .map(|&v| v as i32 >> (v >> 40 & 31))
            .collect();
        let two = |v: &u16| v.to_le_bytes();
        let input = [
            bytes(&a, two),
            bytes(&b, two),
            bytes(&z, |v| v.to_le_bytes()),
        ]
        .concat();
        let mut machine = machine_of(&program, &[input, vec![0; 8 * 64]]);
        machine.run();
        let out = &machine.memory[&buffer(1)];
        for lane in 0..32 {
            let r: Vec<u16> = (0..8)
                .map(|o| {
                    u16::from_le_bytes([out[(o * 32 + lane) * 2], out[(o * 32 + lane) * 2 + 1]])
                })
                .collect();
            let (fa, fb) = (half_to_f32(a[lane]), half_to_f32(b[lane]));
            let near = |got: u16, exact: f32| {
                let exact = f32_to_half(exact);
                let order = |h: u16| {
                    if h & 0x8000 != 0 {
                        -i32::from(h & 0x7fff)
                    } else {
                        i32::from(h)
                    }
                };
                (order(got) - order(exact)).abs() <= 1
            };
            assert!(near(r[0], fa / fb), "{fa} / {fb}: {}", half_to_f32(r[0]));
            assert_eq!(r[1], f32_to_half(fa + fb));
            // fp32 holds every integer that is finite in fp16.
            let once = |x: f64| f32_to_half(x as f32);
            assert_eq!(r[2], once(f64::from(z[lane])), "{}", z[lane]);
            assert_eq!(
                r[3],
                once(f64::from(z[lane].cast_unsigned())),
                "{}",
                z[lane]
            );
            assert!((half_to_f32(r[4]) - fa.sin()).abs() < 1e-3, "sin {fa}");
            assert_eq!(half_to_f32(r[5]), half_to_f32(f32_to_half(fa.trunc())));
            assert_eq!(half_to_f32(r[7]), fa.min(fb));
        }
    }
}

#[test]
fn rounding_to_half_precision() {
    let program = program("run_rounding", false);
    for round in 0..100 {
        let x: Vec<f32> = interesting(round, 32)
            .iter()
            .map(|&v| {
                f32::from_bits((v as u32) % 0x1000_0000 + 0x3700_0000)
                    * if v >> 40 & 1 == 0 { 1.0 } else { -1.0 }
            })
            .chain([65519.0, 65520.0, -70000.0, f32::INFINITY, 1e-9, 0.0, -0.0])
            .skip(7)
            .collect();
        let mut machine = machine_of(&program, &[bytes(&x, |v| v.to_le_bytes()), vec![0; 64]]);
        machine.run();
        let (quantized, halves) = (machine.words(buffer(0)), &machine.memory[&buffer(1)]);
        for (lane, &x) in x.iter().enumerate() {
            let half = u16::from_le_bytes([halves[lane * 2], halves[lane * 2 + 1]]);
            let got = half_to_f32(half);
            // The nearest number towards zero: not larger, and the next one is.
            assert!(
                got.abs() <= x.abs() && got.is_sign_negative() == x.is_sign_negative(),
                "{x}: {got}"
            );
            if x.is_finite() {
                assert!(
                    half & 0x7fff == 0x7bff || half_to_f32(half + 1).abs() > x.abs(),
                    "{x}: {got}"
                );
            }
            let nearest = half_to_f32(f32_to_half(x));
            let expected = if x.abs() < 2.0_f32.powi(-14) {
                0.0 * x.signum()
            } else {
                nearest
            };
            assert_eq!(f32::from_bits(quantized[lane]), expected, "{x}");
        }
    }
}

fn early(n: i32) -> i32 {
    let mut sum = 0;
    for i in 0..40 {
        if i % 3 == n % 3 {
            continue;
        }
        sum += i;
        if sum > 50 + n {
            if sum & 1 == 1 {
                return sum;
            }
            sum -= 7;
        }
        if i == n {
            break;
        }
        sum ^= n;
    }
    -sum
}

fn deep(n: i32) -> i32 {
    let mut t: i32 = 0;
    for outer in 0..32 {
        let (a, e) = (outer >> 4, outer & 1);
        let mut f = 0;
        while f < n + e {
            let step = |f: &mut i32| *f += 1;
            t += f * 3 + a;
            if t > n * 5 {
                t -= n;
                if t & 3 == 2 {
                    break;
                }
                t += 1;
            } else if t & 7 == 5 {
                step(&mut f);
                continue;
            }
            for g in 0.. {
                t += 1;
                if g > f {
                    if t & 1 == 0 {
                        t += 2;
                        break;
                    }
                    t -= 1 + g;
                    if g > 9 {
                        break;
                    }
                }
            }
            step(&mut f);
        }
    }
    t
}

#[test]
fn continues_early_returns_and_deep_breaks() {
    let program = program("run_loops", false);
    let mut x: Vec<i32> = (0..32).map(|i| i * 2 - 9).map(|v: i32| v.max(0)).collect();
    x[31] = 2;
    let mut machine = machine_of(&program, &[bytes(&x, |v| v.to_le_bytes()), vec![0; 256]]);
    machine.run();
    let out: Vec<i32> = machine
        .words(buffer(1))
        .iter()
        .map(|v| v.cast_signed())
        .collect();
    for lane in 0..32 {
        assert_eq!(out[lane], early(x[lane]), "{}", x[lane]);
        assert_eq!(out[lane + 32], deep(x[lane] & 7), "{}", x[lane]);
    }
}

#[test]
fn subgroup_operations_with_inactive_invocations() {
    let program = program("run_subgroup", false);
    for round in 0..20 {
        let x: Vec<u32> = interesting(round + 5, 32)
            .iter()
            .map(|&v| (v >> 20) as u32 & 255)
            .collect();
        let mut machine = machine_of(&program, &[words(&x), vec![0; 24 * 128]]);
        machine.run();
        let out = machine.words(buffer(1));
        let active: Vec<usize> = (0..32).filter(|&l| x[l] & 3 != 1).collect();
        let ballot = |f: &dyn Fn(u32) -> bool| {
            active
                .iter()
                .fold(0_u32, |m, &l| m | u32::from(f(x[l])) << l)
        };
        let all: Vec<u32> = active.iter().map(|&l| x[l]).collect();
        for (rank, &lane) in active.iter().enumerate() {
            let (before, through) = (&all[..rank], &all[..=rank]);
            let cluster = |size: usize| -> Vec<u32> {
                let same = active.iter().filter(|&&l| l / size == lane / size);
                same.map(|&l| x[l]).collect()
            };
            let or1 = |v: &[u32]| v.iter().fold(1_u32, |p, v| p.wrapping_mul(v | 1));
            let b = ballot(&|v| v > 100);
            let expected = [
                all.iter().sum(),
                through.iter().sum(),
                before.iter().sum(),
                or1(&all),
                *all.iter().min().expect("one"),
                before.iter().copied().max().unwrap_or(0),
                through.iter().fold(0, |m, v| m ^ v),
                cluster(4).iter().sum(),
                *cluster(16).iter().max().expect("one"),
                u32::from(rank == 0),
                all[0],
                b,
                (b & ((1 << lane) - 1)).count_ones(),
                u32::from(all.contains(&77)),
                u32::from(!all.contains(&77)),
                1,
                b >> lane & 1,
                *all.iter().max().expect("one"),
                i32::from(all.iter().map(|&v| v as i8).min().expect("one")).cast_unsigned(),
                u32::from(through.iter().any(|&v| v > 200)),
                all.iter().sum(),
                or1(before),
                *through.iter().min().expect("one"),
            ];
            for (o, expected) in expected.iter().enumerate() {
                assert_eq!(
                    out[o * 32 + lane],
                    *expected,
                    "operation {o}, lane {lane} of {x:?}"
                );
            }
            if b != 0 {
                assert_eq!(out[23 * 32 + lane], 31 - b.leading_zeros());
            }
        }
    }
}

#[test]
fn shuffles() {
    let program = program("run_shuffle", false);
    let x: Vec<u32> = interesting(99, 32)
        .iter()
        .map(|&v| v as u32 & 0xffff)
        .collect();
    let mut machine = machine_of(&program, &[words(&x), vec![0; 12 * 128]]);
    machine.run();
    let out = machine.words(buffer(1));
    for lane in 0..32 {
        let r = |o: usize| out[o * 32 + lane];
        assert_eq!(r(0), x[(lane * 7 + 3) & 31]);
        assert_eq!(r(1), x[lane ^ 21]);
        if lane >= 3 {
            assert_eq!(r(2), x[lane - 3]);
        }
        if lane + 5 < 32 {
            assert_eq!(r(3), x[lane + 5]);
        }
        assert_eq!(r(4), x[lane & !3 | 2]);
        assert_eq!([r(5), r(6), r(7)], [x[lane ^ 1], x[lane ^ 2], x[lane ^ 3]]);
        assert_eq!(r(8), x[31 - lane]);
        assert_eq!(r(9), x[31 - lane] & 255);
        assert_eq!(r(10), u32::from(x[31 - lane] > 100));
        assert_eq!(r(11), x[9]);
    }
}

#[test]
fn workgroup_and_private_memory() {
    let program = program("run_workgroup", false);
    assert!(
        program.workgroup_buffer_bytes > 0,
        "atomics are in device memory"
    );
    assert!(program.shared_bytes > 0 && program.scratch_bytes > 0);
    let x: Vec<u32> = interesting(3, 32)
        .iter()
        .map(|&v| (v >> 11) as u32 & 255)
        .collect();
    let mut machine = machine_of(&program, &[words(&x), vec![0; 8 * 128]]);
    // Of the grid it does the work of the workgroup [1, 2, 1] alone.
    machine.workgroup = [1 + 2 * 4 + 4 * 5, 0, 0];
    machine.roots.insert(0, 0x300_0000_0000);
    machine.map(0x300_0000_0000, words(&[4, 5, 6]));
    machine.roots.insert(5, 0x301_0000_0000);
    let slice = u64::from(program.workgroup_buffer_bytes) * u64::from(machine.workgroup[0]);
    machine.map(
        0x301_0000_0000 + slice,
        vec![0xcc; program.workgroup_buffer_bytes as usize],
    );
    machine.run();
    let out = machine.words(buffer(1));
    for lane in 0..32 {
        let r = |o: usize| out[o * 32 + lane];
        let (a, other) = (x[lane], 31 - lane);
        assert_eq!(r(0), x.iter().sum::<u32>());
        let bin = lane as u32 & 7;
        let most = x
            .iter()
            .copied()
            .filter(|v| v & 7 == bin)
            .chain([5 * bin])
            .max();
        assert_eq!(Some(r(1)), most);
        assert_eq!(r(2), x[other] + (lane % 3) as u32);
        assert_eq!(r(3), x[other]);
        assert_eq!(r(4), x[other] << 1);
        assert_eq!(r(5), u32::from(x[other] > 100));
        assert_eq!(r(6), if lane % 20 < 12 { 2 } else { 1 });
        assert_eq!(r(7), a * (a % 12) + ((a + a % 16) & 255));
    }
}

#[test]
fn structures_of_narrow_members_and_pointers() {
    const SIZE: usize = 32;
    let program = program("run_memory", false);
    let input: Vec<u8> = interesting(17, 32 * SIZE / 8)
        .iter()
        .flat_map(|v| v.to_le_bytes())
        .collect();
    let mut input = input;
    // struct S, scalar: b 0, h 2, l 8, v 16, w 24; 28 bytes, so 32 from one to the next.
    for i in 0..32 {
        input[i * SIZE + 24..i * SIZE + 28].copy_from_slice(&(i as u32 + 8).to_le_bytes());
    }
    let mut machine = machine_of(&program, &[input.clone(), vec![0x77; 32 * SIZE]]);
    // The second element of the array of buffers at binding 1.
    let set = machine.memory.get_mut(&SET).expect("the set");
    set[256 + 16..256 + 24].copy_from_slice(&buffer(5).to_le_bytes());
    machine.map(buffer(5), vec![0x77; 32 * SIZE]);
    let vals: Vec<i32> = (0..256).map(|i| i * i - 77).collect();
    let (middle, back) = (128_i32, -30_i32);
    machine.map(buffer(6), bytes(&vals, |v| v.to_le_bytes()));
    let mut push = Vec::new();
    push.extend((buffer(6) + 4 * middle as u64).to_le_bytes());
    let q = [3_u16, 500, 7000, 65535];
    push.extend(bytes(&q, |v| v.to_le_bytes()));
    push.extend([9, 0, 0, 0]);
    push.extend(back.to_le_bytes());
    machine.map(0x400_0000_0000 - 0x1000, push);
    machine.roots.insert(2, 0x400_0000_0000 - 0x1000);
    machine.run();
    for i in 0..32 {
        let from = &input[(31 - i) * SIZE..(32 - i) * SIZE];
        let mut expected = from.to_vec();
        let h = 2 + 2 * (i % 3);
        let sum = u16::from_le_bytes([from[h], from[h + 1]]).wrapping_add(q[i & 3]);
        expected[h..h + 2].copy_from_slice(&sum.to_le_bytes());
        let y = u16::from(from[0].wrapping_add(9));
        expected[18..20].copy_from_slice(&y.to_le_bytes());
        let (to, other) = if i & 1 == 0 { (1, 5) } else { (5, 1) };
        let got = &machine.memory[&buffer(to)][i * SIZE..(i + 1) * SIZE];
        for at in (0..1).chain(2..22).chain(24..28) {
            assert_eq!(got[at], expected[at], "byte {at} of structure {i}");
        }
        // Padding and the other buffer are not written.
        assert_eq!(got[28..], [0x77; 4]);
        assert_eq!(machine.memory[&buffer(other)][i * SIZE], 0x77);
        let value = |k: i32| vals[(middle + k) as usize];
        let k = i as i32 - 16;
        let words = machine.words(buffer(6));
        assert_eq!(
            words[(middle + k) as usize].cast_signed(),
            value(k + back) * 3 + value(i as i32 + 8 - 40),
        );
    }
}

#[test]
fn float_atomics() {
    let program = program("run_float_atomics", false);
    let x: Vec<f32> = interesting(8, 32)
        .iter()
        .map(|&v| f32::from(v as i16))
        .collect();
    let start = [1000.0_f32, -2.0, 0.5];
    let mut machine = machine_of(
        &program,
        &[
            bytes(&x, |v| v.to_le_bytes()),
            bytes(&start, |v| v.to_le_bytes()),
        ],
    );
    machine.run();
    let out: Vec<f32> = machine
        .words(buffer(1))
        .iter()
        .map(|&w| f32::from_bits(w))
        .collect();
    let fold = |start: f32, f: fn(f32, f32) -> f32| x.iter().copied().fold(start, f);
    assert_eq!(
        out,
        [
            fold(start[0], f32::min),
            fold(start[1], f32::max),
            fold(start[2], |a, b| a + b)
        ]
    );
}

#[test]
fn accesses_out_of_bounds_give_zero_and_change_nothing() {
    let program = program("run_bounds", true);
    let index = [
        0,
        1,
        3,
        4,
        5,
        6,
        7,
        8,
        9,
        100,
        0x3fff_fff0,
        0x7fff_fff0,
        0x1555_5554,
        u32::MAX >> 3,
        1023,
        500,
        // Times 4, 8 or 16 these are small numbers modulo 2^32.
        0x4000_0001,
        0x8000_0002,
        0xc000_0003,
        0x2000_0001,
        0x6000_0000,
        0x1000_0001,
        0xe000_0002,
    ];
    let x: Vec<u32> = index.iter().copied().cycle().take(32).collect();
    // Each mapped region is longer than the buffer that the descriptor tells of.
    let r: Vec<u32> = (0..64).map(|i| i + 1).collect();
    let h: Vec<u8> = (0..128).collect();
    let k: Vec<u32> = (0..4 * 64).map(|i| i * 3).collect();
    let buffers = [words(&x), words(&r), h.clone(), words(&k), vec![0xee; 128]];
    let mut machine = machine_of(&program, &buffers);
    let sizes = [128, 7 * 4, 8 * 5 + 2, 16 * 6, 128_u32];
    let set = machine.memory.get_mut(&SET).expect("the set");
    for (n, size) in sizes.iter().enumerate() {
        set[n * 256 + 8..n * 256 + 12].copy_from_slice(&size.to_le_bytes());
    }
    machine.run();
    let out = machine.words(buffer(1));
    assert_eq!(out[7..], r[7..], "nothing behind the end changes");
    let results = machine.words(buffer(4));
    for lane in 0..32 {
        let a = u64::from(x[lane]);
        if a < 9 {
            continue;
        }
        let h = if a * 8 + 4 <= 42 - 2 {
            u32::from(h[a as usize * 8 + 2])
        } else {
            0
        };
        let k = if a & 1023 < 6 {
            k[(a as usize & 1023) * 4 + 2]
        } else {
            0
        };
        assert_eq!(results[lane], h + k, "index {a:#x}");
    }
}

/// Offsets that are sums of products, each or all of them too large for 32 bits: none is taken for a small one.
#[test]
fn sums_of_products_out_of_bounds_are_not_mistaken() {
    let program = program("run_bounds_sums", true);
    let pairs = [
        (0_u32, 0_u32),
        (5, 2),
        (4, 3),
        (5, 0),
        (5, 1),
        (6, 0),
        (0, 25),
        (0, 28),
        (7, 100),
        // 20 * a is 4 modulo 2^32, and -4.
        (0xcccc_cccd, 0),
        (0x3333_3333, 2),
        (0x6666_6666, 3),
        // 4 * b is 0 or 4.
        (0, 0x4000_0000),
        (1, 0xc000_0001),
        // Negative indices that other terms make up for.
        (1, 0xffff_fffb),
        (2, 0xffff_fff0),
        (0xffff_ffff, 5),
        (0xffff_ffff, 0xffff_ffff),
        (0x8000_0000, 0x8000_0000),
    ];
    let x: Vec<(u32, u32)> = pairs.iter().copied().cycle().take(32).collect();
    let flat: Vec<u32> = x.iter().flat_map(|&(a, b)| [a, b]).collect();
    let data: Vec<u8> = (1..=255).collect();
    let buffers = [words(&flat), data.clone(), vec![0; 512], data.clone()];
    let mut machine = machine_of(&program, &buffers);
    // Each mapped region is longer than the buffer that the descriptor tells of.
    let sizes = [256, 4 + 20 * 6 - 6, 512, 5_u32];
    let set = machine.memory.get_mut(&SET).expect("the set");
    for (n, size) in sizes.iter().enumerate() {
        set[n * 256 + 8..n * 256 + 12].copy_from_slice(&size.to_le_bytes());
    }
    machine.run();
    let read = |buffer: usize, offset: u64, bytes: u64| {
        let inside = offset + bytes <= sizes[buffer].into();
        let byte = |i| u32::from(data[(offset + i) as usize]) << (8 * i);
        if inside {
            (0..bytes).map(byte).sum()
        } else {
            0
        }
    };
    let out = machine.words(buffer(2));
    for (lane, &(a, b)) in x.iter().enumerate() {
        let (i, j) = (u64::from(a), u64::from(b));
        let word = read(1, 4 + 20 * i + 4 + 4 * j, 4);
        let byte = read(1, 4 + 20 * i + 16 + j, 1);
        let expected = [word, byte, word, read(3, i, 1)];
        assert_eq!(out[4 * lane..][..4], expected, "a {a:#x}, b {b:#x}");
    }
}

#[test]
fn pointers_chosen_at_run_time() {
    for robust in [false, true] {
        let program = program("run_pointers", robust);
        assert_eq!(program.shared_bytes, 0, "all is in device memory");
        let a: Vec<u32> = (0..64).map(|i| i * i).collect();
        let b: Vec<u32> = (0..128).map(|i| 7000 + i).collect();
        let mut machine = machine_of(&program, &[words(&a), words(&b), vec![0; 128]]);
        machine.roots.insert(0, 0x300_0000_0000);
        machine.map(0x300_0000_0000, words(&[1, 1, 1]));
        machine.roots.insert(5, 0x301_0000_0000);
        machine.map(
            0x301_0000_0000,
            vec![0; program.workgroup_buffer_bytes as usize],
        );
        machine.run();
        let out = machine.words(buffer(2));
        for i in 0..32 {
            let x = if i & 1 == 1 {
                a[i + 14] + a[i + 17]
            } else {
                b[3 * i + 3] + b[3 * i + 5]
            };
            assert_eq!(out[i], 2 * x + i as u32, "{i}");
        }
    }
}

/// A module whose function `f0` calls `f1` twice, that `f2` twice, and so on.
fn calls(levels: usize) -> String {
    let mut text = "OpCapability Shader\nOpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %main \"main\"\n\
                    OpExecutionMode %main LocalSize 1 1 1\n%void = OpTypeVoid\n%fn = OpTypeFunction %void\n"
        .to_owned();
    for level in 0..levels {
        text += &format!("%f{level} = OpFunction %void None %fn\n%l{level} = OpLabel\n");
        if level + 1 < levels {
            for call in 0..2 {
                text += &format!("%c{level}_{call} = OpFunctionCall %void %f{}\n", level + 1);
            }
        }
        text += "OpReturn\nOpFunctionEnd\n";
    }
    text + "%main = OpFunction %void None %fn\n%e = OpLabel\n%c = OpFunctionCall %void %f0\nOpReturn\nOpFunctionEnd\n"
}

#[test]
fn calls_that_multiply_are_refused() {
    let lower = |levels| {
        let words = assemble(&calls(levels)).expect("assembles");
        let shader = apple9_shader(&words, "main").expect("translates");
        shader.lower_compute(&apple9_lowering(false))
    };
    lower(8).expect("256 calls").export().expect("exports");
    for levels in [24, 60] {
        let error = lower(levels).expect_err("too many").to_string();
        assert!(error.contains("call each other"), "{error}");
    }
}

/// A module with nested selections, each on another element of a buffer.
fn nested(depth: usize) -> String {
    let mut text = "OpCapability Shader\nOpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %main \"main\" %b\n\
                    OpExecutionMode %main LocalSize 1 1 1\nOpDecorate %a ArrayStride 4\nOpDecorate %s Block\n\
                    OpMemberDecorate %s 0 Offset 0\nOpDecorate %b DescriptorSet 0\nOpDecorate %b Binding 0\n\
                    %void = OpTypeVoid\n%fn = OpTypeFunction %void\n%bool = OpTypeBool\n%u = OpTypeInt 32 0\n\
                    %a = OpTypeRuntimeArray %u\n%s = OpTypeStruct %a\n%ps = OpTypePointer StorageBuffer %s\n\
                    %p = OpTypePointer StorageBuffer %u\n%b = OpVariable %ps StorageBuffer\n%zero = OpConstant %u 0\n"
        .to_owned();
    for n in 0..depth {
        text += &format!("%n{n} = OpConstant %u {}\n", n + 1);
    }
    text += "%main = OpFunction %void None %fn\n%e = OpLabel\n";
    for n in 0..depth {
        text += &format!(
            "%p{n} = OpAccessChain %p %b %zero %n{n}\n%v{n} = OpLoad %u %p{n}\n%c{n} = OpINotEqual %bool %v{n} %zero\n\
             OpSelectionMerge %m{n} None\nOpBranchConditional %c{n} %t{n} %m{n}\n%t{n} = OpLabel\nOpStore %p{n} %n0\n"
        );
    }
    for n in (0..depth).rev() {
        text += &format!("OpBranch %m{n}\n%m{n} = OpLabel\nOpStore %p{n} %n1\n");
        if n > 0 {
            text = text.replace(&format!("OpStore %p{n} %n1\n"), "OpStore %p0 %n1\n");
        }
    }
    text + "OpReturn\nOpFunctionEnd\n"
}

#[test]
fn control_flow_that_nests_too_deeply_is_refused() {
    let lower = |depth| {
        let words = assemble(&nested(depth)).expect("assembles");
        let shader = apple9_shader(&words, "main").expect("translates");
        shader
            .lower_compute(&apple9_lowering(false))
            .and_then(|s| s.export())
    };
    lower(40).expect("not so deep");
    let error = lower(200).expect_err("too deep").to_string();
    assert!(error.contains("nested deeper"), "{error}");
}
