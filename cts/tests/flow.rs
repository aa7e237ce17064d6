// SPDX-License-Identifier: MIT
//! Shapes of control flow that compilers get wrong, against an interpreter.

mod common;

use common::flow::{Cond, Stmt, flow};
use common::{case, compile, equal, storage};
use cortland_cts::random::rng::Rng;
use rayon::prelude::*;

fn check(name: &str, body: &[Stmt]) {
    let (case, expected) = flow(name, body);
    equal(&case, &expected);
}

fn bit(n: u32) -> Cond {
    Cond::Bits(n, 1, 1)
}

/// A loop of this depth around others: each has a break and a continue in an `if` in an `if`, before and behind the
/// loop inside.
fn nest(depth: u32, uniform: bool) -> Vec<Stmt> {
    let cond = |n: u32| match uniform {
        true => Cond::Uniform(n % 32),
        false => Cond::Bits(n % 29, 7, n % 8),
    };
    if depth == 0 {
        return vec![Stmt::Mix(77)];
    }
    let jump = |n: u32, jump: Stmt| {
        let inner = Stmt::If(
            bit(n % 31),
            vec![Stmt::Mix(n), jump],
            vec![Stmt::Mix(n + 1)],
        );
        Stmt::If(
            cond(n),
            vec![Stmt::Mix(n + 2), inner, Stmt::Mix(n + 3)],
            vec![],
        )
    };
    let mut body = vec![Stmt::Mix(depth), jump(3 * depth, Stmt::Continue)];
    body.extend(nest(depth - 1, uniform));
    body.push(jump(5 * depth + 1, Stmt::Break));
    body.push(Stmt::Mix(depth + 50));
    vec![Stmt::Loop(Some(2), body)]
}

#[test]
fn loops_nested_12_deep() {
    for depth in [5, 6, 7, 12] {
        check("divergent nest", &nest(depth, false));
        check("uniform nest", &nest(depth, true));
    }
}

/// In the innermost of so many loops.
fn inside(depth: u32, body: Vec<Stmt>) -> Vec<Stmt> {
    (0..depth).fold(body, |body, level| {
        let mut all = vec![Stmt::Mix(level)];
        all.extend(body);
        all.push(Stmt::Mix(level + 30));
        vec![Stmt::Loop(Some(2), all)]
    })
}

/// Breaks in every position that an arm can have, in loops with and without a predicate bank of their own.
#[test]
fn breaks_beside_other_arms_at_every_depth() {
    let arm = |n: u32| {
        vec![
            Stmt::Mix(n),
            Stmt::If(bit(3), vec![Stmt::Mix(n + 1)], vec![Stmt::Mix(n + 2)]),
        ]
    };
    let leave = |n: u32| vec![Stmt::Mix(n), Stmt::Break];
    let loops = |n: u32| {
        vec![Stmt::Loop(
            Some(3),
            vec![Stmt::Mix(n), Stmt::If(bit(5), leave(n), vec![])],
        )]
    };
    let shapes: Vec<Vec<Stmt>> = vec![
        vec![Stmt::If(bit(1), leave(1), arm(2))],
        vec![Stmt::If(bit(1), arm(2), leave(1))],
        vec![Stmt::If(bit(1), leave(1), loops(2))],
        vec![Stmt::If(bit(1), loops(2), vec![Stmt::Break])],
        vec![Stmt::If(bit(1), leave(1), leave(2))],
        vec![Stmt::If(bit(1), vec![Stmt::Break], leave(2)), Stmt::Mix(3)],
        vec![
            Stmt::If(bit(1), leave(1), vec![Stmt::Mix(4), Stmt::Continue]),
            Stmt::Mix(3),
        ],
        vec![Stmt::If(bit(1), [arm(7), leave(1)].concat(), arm(2))],
        vec![Stmt::If(
            bit(1),
            [loops(7), leave(1)].concat(),
            [arm(2), leave(5)].concat(),
        )],
        vec![
            Stmt::If(bit(1), vec![Stmt::If(bit(2), leave(1), leave(2))], leave(5)),
            Stmt::Mix(1),
        ],
        vec![Stmt::If(bit(1), vec![Stmt::Return], leave(2)), Stmt::Mix(1)],
        vec![
            Stmt::If(bit(1), arm(3), vec![Stmt::Mix(1), Stmt::Return]),
            Stmt::If(bit(2), leave(1), arm(3)),
        ],
        vec![
            Stmt::Switch(vec![
                leave(1),
                vec![Stmt::Continue],
                arm(3),
                vec![Stmt::Return],
            ]),
            Stmt::Mix(4),
        ],
    ];
    for (i, shape) in shapes.iter().enumerate() {
        for depth in [1, 2, 5, 6, 7] {
            let body: Vec<Stmt> = [vec![Stmt::Mix(9)], shape.clone(), vec![Stmt::Mix(10)]].concat();
            check(&format!("shape {i} in {depth} loops"), &inside(depth, body));
        }
    }
}

#[test]
fn switches_in_loops_in_switches() {
    let inner = Stmt::Switch(vec![
        vec![Stmt::Mix(1), Stmt::Break],
        vec![Stmt::Mix(2), Stmt::Continue],
        // Falls through.
        vec![Stmt::Mix(3)],
        vec![Stmt::If(bit(4), vec![Stmt::Break], vec![Stmt::Mix(4)])],
        vec![Stmt::Loop(
            Some(3),
            vec![
                Stmt::Mix(5),
                Stmt::If(bit(2), vec![Stmt::Continue], vec![Stmt::Break]),
            ],
        )],
    ]);
    let looped = Stmt::Loop(
        Some(6),
        vec![
            Stmt::Mix(6),
            inner.clone(),
            Stmt::If(bit(7), vec![Stmt::Break], vec![]),
        ],
    );
    let outer = Stmt::Switch(vec![
        vec![looped.clone(), Stmt::Break],
        vec![Stmt::Mix(7), looped.clone()],
        vec![Stmt::Loop(Some(2), vec![inner]), looped],
        vec![Stmt::If(bit(9), vec![Stmt::Return], vec![]), Stmt::Mix(8)],
    ]);
    check(
        "switches",
        &[
            outer.clone(),
            outer.clone(),
            Stmt::Loop(Some(3), vec![outer, Stmt::Mix(5)]),
        ],
    );
}

#[test]
fn many_ifs() {
    let one = |n: u32| {
        Stmt::If(
            bit(n % 32),
            vec![Stmt::Mix(n)],
            if n.is_multiple_of(3) {
                vec![Stmt::Mix(n + 1)]
            } else {
                vec![]
            },
        )
    };
    let sequence: Vec<Stmt> = (0..200).map(one).collect();
    check("200 ifs in sequence", &sequence);
    let nested = (0..100).fold(vec![Stmt::Mix(1)], |inside, n| {
        let mut then = vec![Stmt::Mix(n)];
        then.extend(inside);
        then.push(Stmt::Mix(n + 1));
        // Nearly always true, so that some lanes get to the bottom.
        vec![Stmt::If(
            Cond::Below(u32::MAX - (u32::MAX >> 7)),
            then,
            vec![Stmt::Mix(n + 2)],
        )]
    });
    check("100 ifs in one another", &nested);
}

#[test]
fn loops_that_end_in_odd_ways() {
    let never = vec![Stmt::If(Cond::Never, vec![Stmt::Break], vec![])];
    let returns = Stmt::If(Cond::Bits(0, 15, 3), vec![Stmt::Return], vec![]);
    let shapes: [(&str, Vec<Stmt>); 10] = [
        (
            "never breaks, but returns",
            vec![Stmt::Loop(
                None,
                [vec![Stmt::Mix(1)], never.clone(), vec![returns.clone()]].concat(),
            )],
        ),
        ("empty", vec![Stmt::Loop(Some(5), vec![]), Stmt::Mix(1)]),
        (
            "empty inside",
            vec![
                Stmt::Loop(Some(3), vec![Stmt::Loop(Some(4), vec![])]),
                Stmt::Mix(1),
            ],
        ),
        (
            "always breaks",
            vec![
                Stmt::Loop(None, vec![Stmt::Mix(1), Stmt::Break]),
                Stmt::Mix(2),
            ],
        ),
        (
            "always breaks in both arms",
            vec![Stmt::Loop(
                None,
                vec![Stmt::If(
                    bit(1),
                    vec![Stmt::Mix(1), Stmt::Break],
                    vec![Stmt::Break],
                )],
            )],
        ),
        (
            "only an impossible break and a counter",
            vec![Stmt::Loop(
                Some(9),
                [vec![Stmt::Mix(4)], never.clone()].concat(),
            )],
        ),
        (
            "returns out of three loops",
            inside(3, vec![returns.clone(), Stmt::Mix(5)]),
        ),
        (
            "no rounds",
            vec![
                Stmt::Loop(Some(0), vec![Stmt::Mix(1), returns.clone()]),
                Stmt::Mix(2),
            ],
        ),
        (
            "once",
            vec![
                Stmt::DoWhile(1, Cond::Never, vec![Stmt::Mix(1), returns.clone()]),
                Stmt::Mix(2),
            ],
        ),
        (
            "tested at its end, with continue",
            vec![Stmt::DoWhile(
                20,
                bit(3),
                vec![
                    Stmt::Mix(1),
                    Stmt::If(bit(9), vec![Stmt::Continue], vec![]),
                    Stmt::Mix(8),
                ],
            )],
        ),
    ];
    for (name, body) in shapes {
        check(name, &body);
    }
}

/// Random trees, much deeper in control flow than those of the corpus and with nothing else in them.
#[test]
fn random_trees() {
    (0..60u64).into_par_iter().for_each(|seed| {
        let mut rng = Rng::new(seed);
        let body = list(&mut rng, 4, false, false);
        check(&format!("random tree {seed}"), &body);
    });
}

fn cond(rng: &mut Rng) -> Cond {
    match rng.below(8) {
        0 => Cond::Uniform(rng.below(32) as u32),
        1 => Cond::Never,
        2 => Cond::Below(rng.next_u32()),
        3 => Cond::Bits(rng.below(29) as u32, 7, rng.below(8) as u32),
        _ => bit(rng.below(32) as u32),
    }
}

fn list(rng: &mut Rng, depth: u32, in_loop: bool, in_switch: bool) -> Vec<Stmt> {
    let count = if depth == 0 { 1 } else { rng.range(1, 2) };
    let mut all = Vec::new();
    for _ in 0..count {
        all.push(Stmt::Mix(rng.next_u32() & 0xff));
        if depth == 0 {
            continue;
        }
        let arm = |rng: &mut Rng| list(rng, depth - 1, in_loop, in_switch);
        all.push(match rng.weighted(&[40, 40, 8, 10]) {
            0 => Stmt::If(
                cond(rng),
                arm(rng),
                if rng.chance(50) { arm(rng) } else { vec![] },
            ),
            1 => Stmt::Loop(
                Some(rng.range(1, 3) as u32),
                list(rng, depth - 1, true, false),
            ),
            2 => Stmt::DoWhile(
                rng.range(1, 3) as u32,
                cond(rng),
                list(rng, depth - 1, true, false),
            ),
            _ => Stmt::Switch(
                (0..rng.range(1, 4))
                    .map(|_| list(rng, depth - 1, in_loop, true))
                    .collect(),
            ),
        });
    }
    if rng.chance(40) && (in_loop || in_switch) {
        let jump = match rng.below(6) {
            0 => Stmt::Return,
            1 | 2 if in_loop => Stmt::Continue,
            _ => Stmt::Break,
        };
        all.push(if rng.chance(60) {
            Stmt::If(cond(rng), vec![jump], vec![])
        } else {
            jump
        });
    }
    all
}

/// Barriers in uniform control flow: in loops, behind early returns of all, behind loops that lanes leave early.
#[test]
fn barriers_in_loops() {
    let text = "layout(local_size_x = 128) in;
        layout(set = 0, binding = 0) buffer In { uint rounds; uint stop; uint seeds[]; };
        layout(set = 0, binding = 1) buffer Out { uint results[]; };
        shared uint s[128];
        void main() {
            uint l = gl_LocalInvocationIndex, acc = seeds[gl_GlobalInvocationID.x];
            if (stop == 77u) return;
            for (uint i = 0; i < rounds; i++) {
                for (uint j = 0; j < (acc & 7u); j++) {
                    if ((acc >> j & 3u) == 2u) break;
                    acc = acc * 5u + 1u;
                }
                s[l] = acc;
                barrier();
                acc ^= s[(l + 37u * i + 1u) & 127u];
                if (stop == i) { barrier(); break; }
                barrier();
            }
            results[gl_GlobalInvocationID.x] = acc;
        }";
    for (rounds, stop) in [(9u32, 100u32), (9, 4), (0, 0), (9, 77)] {
        let seeds: Vec<u32> = (0..256u32)
            .map(|i| i.wrapping_mul(0x9e37_79b1) ^ 0x55)
            .collect();
        let input: Vec<u32> = [vec![rounds, stop], seeds.clone()].concat();
        let mut case = case(
            "barriers",
            text,
            vec![storage(0, &input), storage(1, &[7; 256])],
        );
        case.groups = [2, 1, 1];
        let mut expected = vec![7; 256];
        for group in 0..2 {
            if stop == 77 {
                break;
            }
            let mut acc = seeds[group * 128..][..128].to_vec();
            for i in 0..rounds {
                for acc in &mut acc {
                    let mut j = 0;
                    while j < *acc & 7 {
                        if *acc >> j & 3 == 2 {
                            break;
                        }
                        *acc = acc.wrapping_mul(5).wrapping_add(1);
                        j += 1;
                    }
                }
                let s = acc.clone();
                for (l, acc) in acc.iter_mut().enumerate() {
                    *acc ^= s[(l + 37 * i as usize + 1) & 127];
                }
                if stop == i {
                    break;
                }
            }
            expected[group * 128..][..128].copy_from_slice(&acc);
        }
        equal(&case, &[input, expected]);
    }
    // That the shape is what it seems.
    let stats = compile(&case(
        "loops",
        text,
        vec![storage(0, &[0; 4]), storage(1, &[0])],
    ))
    .expect("compiles")
    .stats;
    assert_eq!(stats.loops, 2);
}
