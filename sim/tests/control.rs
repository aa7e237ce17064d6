// SPDX-License-Identifier: MIT
//! Control flow: the listings of isa-2, 6.12 to 6.14, measured programs, and random structured
//! programs whose lanes must each do what a scalar interpreter does.

use agx_isa::FormId;
use agx_isa::asm::assemble;
use agx_sim::shader::{Exit, Lanes, Stage};
use proptest::prelude::*;

#[path = "support/programs.rs"]
mod programs;
#[path = "support/structured.rs"]
mod structured;
mod support;
use programs::{any_of, buffers, fault, kernel, records, run, survives};
use structured::{VARIABLES, block, emit, interpret};
use support::{Rig, stopped};

/// The code listings of a section of the memory and control chapter.
fn listings(section: &str) -> Vec<Vec<u8>> {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../docs/hw/isa-2-memory-control.md"
    );
    let text = std::fs::read_to_string(path).unwrap();
    let start = text.find(&format!("### {section} ")).unwrap();
    let body = &text[start..];
    let end = body[4..].find("\n##").map_or(body.len(), |end| end + 4);
    let blocks = body[..end].split("```").skip(1).step_by(2);
    let byte = |word: &str| {
        u8::from_str_radix(word, 16)
            .ok()
            .filter(|_| word.len() == 2)
    };
    // A line is an offset, perhaps a label, the bytes, and a comment.
    let line = |line: &str| -> Vec<u8> {
        let code = line.split(';').next().unwrap();
        code.split_whitespace().skip(1).filter_map(byte).collect()
    };
    blocks
        .map(|block| block.lines().flat_map(line).collect())
        .collect()
}

/// 6.12: both arms write r1.
fn branches(n: u32) -> u32 {
    if n < 10 { 7 } else { 9 }
}

/// 6.13.
fn sum_below(n: u32) -> u32 {
    let (mut i, mut sum) = (0, 0);
    loop {
        if i >= n {
            break;
        }
        sum += i;
        i += 1;
    }
    sum
}

/// 6.14.
fn odd_sums(n: u32) -> u32 {
    let mut sum = 0;
    for i in 0..3 {
        for j in 0..n {
            if j & 1 == 1 {
                continue;
            }
            sum += j + i;
        }
    }
    sum
}

/// A listing, the register of its result, and the result for an input.
type Listing = (Vec<u8>, usize, fn(u32) -> u32);

/// All listings.
fn all_listings() -> Vec<Listing> {
    let mut found: Vec<Listing> = Vec::new();
    for (section, register, model) in [
        ("6.12", 1, branches as fn(u32) -> u32),
        ("6.13", 3, sum_below),
        ("6.14", 3, odd_sums),
    ] {
        let listings = listings(section);
        assert_eq!(
            listings.len(),
            if section == "6.14" { 1 } else { 2 },
            "{section}"
        );
        for code in listings {
            assert_eq!(code[..4], [0x0c, 0xa0, 0x10, 0x06], "{section}");
            assert_eq!(code[code.len() - 4..], [0x0e, 0, 0, 0], "{section}");
            found.push((code, register, model));
        }
    }
    found
}

/// As they stand, with the results that the text names.
#[test]
fn listings_store_their_results() {
    assert_eq!(
        [0, 1, 2, 3, 4, 5, 6, 7].map(odd_sums),
        [0, 3, 3, 12, 12, 27, 27, 48]
    );
    for (code, _, model) in all_listings() {
        for active in [0xffu32, !0, 0x8000_0001, 0x5555_5555, 1, 0] {
            let mut rig = Rig::bytes(code.clone());
            rig.active = active;
            let mut buffers = buffers();
            run(
                &rig,
                &mut buffers,
                |_| {},
                |wave| {
                    assert_eq!(wave.active(), active);
                    assert!(wave.stack.is_empty());
                },
            );
            for lane in 0..32u32 {
                let stored = &buffers[1][lane as usize * 4..][..4];
                let expected = if active >> lane & 1 == 1 {
                    model(lane)
                } else {
                    0
                };
                assert_eq!(stored, expected.to_le_bytes(), "lane {lane} of {active:#x}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// With any inputs in any lanes: the first instruction is left out, r0 set instead.
    #[test]
    fn listings_on_any_lanes(active: u32, inputs in any::<[u8; 32]>()) {
        for (code, register, model) in all_listings() {
            let mut rig = Rig::bytes(code[4..].to_vec());
            rig.active = active;
            let input = |lane: usize| u32::from(inputs[lane] % 12);
            let before = 0x1111u32;
            let result = run(
                &rig,
                &mut buffers(),
                |wave| {
                    wave.gprs[0] = Lanes::from_fn(input);
                    wave.gprs[register] = Lanes::splat(before);
                },
                |wave| wave.gprs[register],
            );
            for lane in 0..32 {
                let ran = active >> lane & 1 == 1;
                let expected = if ran { model(input(lane)) } else { before };
                prop_assert_eq!(result.0[lane], expected);
            }
        }
    }

    /// Programs of ifs, loops, breaks and continues by the rules for emitters of isa-2, 6.1.
    #[test]
    fn structured_programs(
        choices in proptest::collection::vec(any::<u8>(), 20..300),
        active: u32,
        seeds in any::<[u32; 32]>(),
    ) {
        let program = block(&choices);
        let text = emit(&program);
        let mut rig = Rig::new(&text);
        rig.active = active;
        let start = |var: usize, lane: usize| seeds[lane].rotate_left(8 * var as u32);
        let after = run(
            &rig,
            &mut buffers(),
            |wave| {
                for var in 0..VARIABLES {
                    wave.gprs[structured::register(var)] = Lanes::from_fn(|lane| start(var, lane));
                }
            },
            |wave| {
                assert_eq!(wave.active(), active, "{text}");
                assert!(wave.stack.is_empty(), "{text}");
                wave.gprs
            },
        );
        for lane in 0..32 {
            let mut variables = std::array::from_fn(|var| start(var, lane));
            if active >> lane & 1 == 1 {
                interpret(&program, &mut variables);
            }
            for (var, expected) in variables.into_iter().enumerate() {
                let got = after[structured::register(var)].0[lane];
                prop_assert_eq!(got, expected, "variable {} in lane {}\n{}", var, lane, &text);
            }
        }
    }

    /// Any sequence of mask operations ends in the stop, a fault or the watchdog, never in a panic,
    /// and never activates a lane that was not active at the start.
    #[test]
    fn unstructured_masks(
        lines in proptest::collection::vec(0..MASK_LINES.len(), 0..60),
        active: u32,
        predicates: [u32; 6],
        strict: bool,
    ) {
        let text: Vec<&str> = lines.iter().map(|&line| MASK_LINES[line]).collect();
        let mut rig = Rig::new(&text.join("\n"));
        rig.active = active;
        rig.strict = strict;
        rig.watchdog = 10_000;
        rig.run(
            |wave| wave.predicates = predicates,
            |wave, exit| {
                assert!(matches!(exit, Exit::Stop | Exit::Fault(_)), "{exit:?}");
                assert_eq!(wave.active() & !active, 0);
            },
        );
    }
}

/// Instructions for [`unstructured_masks`].
const MASK_LINES: &[&str] = &[
    "push.if P0",
    "push.if -P1",
    "push.loop true",
    "push.loop P2",
    "push.if false",
    "push.loop -false",
    "else",
    "pop.if",
    "pop.loop",
    "loop_update P3",
    "loop_update -P4",
    "break P5",
    "break P1, scopes2=3",
    "break P2, scopes2=255",
    "br_any .+10",
    "br_none .-4",
    "call .+10",
    "ret",
    "call_frame bytes=16",
    "call_link dir=0x1fff",
    "mov_imm r1, #5",
];

/// Masks, step by step, against the table of isa-2, 6.1.
#[test]
fn the_table_of_operations() {
    let masks = |text: &str, active: u32, predicates: [u32; 6]| {
        let mut rig = Rig::new(text);
        rig.active = active;
        rig.run(
            |wave| wave.predicates = predicates,
            |wave, exit| {
                stopped(exit);
                let scopes: Vec<_> = wave
                    .stack
                    .iter()
                    .map(|s| (s.kind, s.saved, s.taken))
                    .collect();
                (wave.active(), scopes)
            },
        )
    };
    let p = [0xf0f0, 0xff00, 0, 0xffff_ffff, 0x0ff0, 0x1234];
    // Push.
    assert_eq!(
        masks("push.if P0", 0xffff, p),
        (0xf0f0, vec![(1, 0xffff, 0xf0f0)])
    );
    assert_eq!(
        masks("push.if -P0", 0xffff, p),
        (0x0f0f, vec![(1, 0xffff, 0x0f0f)])
    );
    assert_eq!(
        masks("push.loop P1", 0xfff, p),
        (0xf00, vec![(2, 0xfff, 0xf00)])
    );
    assert_eq!(
        masks("push.if true", 0xff, p),
        (0xff, vec![(1, 0xff, 0xff)])
    );
    assert_eq!(masks("push.if false", 0xff, p), (0, vec![(1, 0xff, 0)]));
    assert_eq!(masks("push.if -true", 0xff, p), (0, vec![(1, 0xff, 0)]));
    assert_eq!(
        masks("push.if -false", 0xff, p),
        (0xff, vec![(1, 0xff, 0xff)])
    );
    // Else and pop.
    assert_eq!(
        masks("push.if P0\nelse", 0xffff, p),
        (0x0f0f, vec![(1, 0xffff, 0xf0f0)])
    );
    assert_eq!(
        masks("push.if P0\nelse\npop.if", 0xffff, p),
        (0xffff, vec![])
    );
    // Loop update: lanes whose predicate is true leave the scopes above the innermost loop.
    let nested = "push.if P3\npush.loop true\npush.if P1\n";
    assert_eq!(
        masks(&format!("{nested}loop_update P0"), 0xffff, p),
        (
            0x0f00,
            vec![
                (1, 0xffff, 0xffff),
                (2, 0xffff, 0xffff),
                (1, 0x0fff, 0x0f00)
            ]
        )
    );
    assert_eq!(
        masks(&format!("{nested}loop_update -P0"), 0xffff, p),
        (
            0xf000,
            vec![
                (1, 0xffff, 0xffff),
                (2, 0xffff, 0xffff),
                (1, 0xf0ff, 0xf000)
            ]
        )
    );
    // Without a loop scope, the outermost loop is meant.
    assert_eq!(
        masks("push.if P0\nloop_update P1", 0xffff, p),
        (0x00f0, vec![(1, 0x0fff, 0x00f0)])
    );
    // Break: the top n conditional scopes.
    assert_eq!(
        masks("push.if P3\npush.if P1\nbreak P4, scopes2=3", 0xffff, p),
        (0xf000, vec![(1, 0xffff, 0xffff), (1, 0xf0ff, 0xf000)])
    );
    assert_eq!(
        masks("push.if P3\npush.if P1\nbreak P4, scopes2=4", 0xffff, p),
        (0xf000, vec![(1, 0xf0ff, 0xf0ff), (1, 0xf0ff, 0xf000)])
    );
    // A loop pop brings its lanes back; with no loop scope, all that started.
    assert_eq!(
        masks("push.loop true\nbreak P1\npop.loop", 0xffff, p),
        (0xffff, vec![])
    );
    assert_eq!(masks("break P1\npop.loop", 0xffff, p), (0xffff, vec![]));
    assert_eq!(masks("break P1", 0xffff, p), (0x00ff, vec![]));
    // Mismatches: no effect.
    assert_eq!(masks("break P1\nelse\npop.if", 0xffff, p), (0x00ff, vec![]));
    assert_eq!(
        masks("push.loop P0\nelse\npop.if", 0xffff, p),
        (0xf0f0, vec![(2, 0xffff, 0xf0f0)])
    );
    assert_eq!(
        masks("push.loop P0\npush.if P1\npop.loop", 0xffff, p),
        (0xf000, vec![(2, 0xffff, 0xf0f0), (1, 0xf0f0, 0xf000)])
    );
}

/// `predicate_inverted` and `push_inverted` cancel (measured).
#[test]
fn inversions() {
    let records = records(&["predicate"]);
    let record = records
        .iter()
        .find(|r| r["id"] == "ex.pred.invert")
        .unwrap();
    let column = |name: &str| record["inputs"][name].as_array().unwrap();
    let expected = record["expected"].as_array().unwrap();
    assert_eq!(expected.len(), 4);
    for (i, expected) in expected.iter().enumerate() {
        let inv = if column("predicate_inverted")[i] == true {
            ", inv"
        } else {
            ""
        };
        let minus = if column("push_inverted")[i] == true {
            "-"
        } else {
            ""
        };
        let text = format!("pcmp.6.ult P0, r0, r1{inv}\npush.if {minus}P0\nmov_imm r2, #1\npop.if");
        let taken = run(
            &Rig::new(&text),
            &mut buffers(),
            |wave| {
                wave.gprs[0] = Lanes::from_fn(|lane| lane as u32);
                wave.gprs[1] = Lanes::splat(12);
            },
            |wave| wave.gprs[2].nonzero(),
        );
        let normal = 0xfff;
        let want = if expected == "normal" {
            normal
        } else {
            !normal
        };
        assert_eq!(taken, want, "case {i}");
    }
}

#[test]
fn measured() {
    for record in records(&["control_flow"]) {
        kernel(&record);
    }
}

#[test]
fn branches_look_at_the_whole_group() {
    for (active, predicate, any) in [
        (!0, 1, true),
        (!0, 0, false),
        (0xf0, 0x0f, false),
        (0, 0, false),
    ] {
        let mut rig = Rig::new(
            "push.if P0\nbr_any taken\nbr_none over\ntaken: pop.if\nmov_imm r1, #1\nbr_any end\n\
             over: pop.if\nmov_imm r1, #2\nend:",
        );
        rig.active = active;
        rig.run(
            |wave| wave.predicates[0] = predicate,
            |wave, exit| {
                stopped(exit);
                for lane in 0..32 {
                    let value = if active >> lane & 1 == 0 {
                        0
                    } else if any {
                        1
                    } else {
                        2
                    };
                    assert_eq!(wave.gprs[1].0[lane], value);
                }
            },
        );
    }
}

/// The instructions behind a STOP do not run, whatever the mask.
#[test]
fn stop_under_a_partial_mask() {
    let mut rig = Rig::new("push.if P0\nmov_imm r1, #1\nstop\npop.if\nmov_imm r1, #2");
    let set = |wave: &mut agx_sim::shader::Wave<'_>| wave.predicates[0] = 0xff;
    rig.run(set, |wave, exit| {
        stopped(exit);
        assert_eq!(wave.gprs[1].nonzero(), 0xff);
        assert_eq!(wave.gprs[1].0[0], 1);
    });
    rig.strict = true;
    rig.run(set, |_, exit| match exit {
        Exit::Fault(fault) => assert!(fault.kind.to_string().contains("0xffffff00"), "{fault}"),
        exit => panic!("{exit:?}"),
    });
}

#[test]
fn strict_runs_report_mismatches() {
    for text in [
        "else",
        "pop.if",
        "push.loop true\npop.if",
        "push.loop true\npush.if true\npop.loop",
    ] {
        let mut rig = Rig::new(text);
        rig.run(|_| {}, |_, exit| stopped(exit));
        rig.strict = true;
        let reason = fault(&rig);
        assert!(reason.contains("on top"), "{text}: {reason}");
    }
}

#[test]
fn deep_nesting_is_bounded() {
    // 32 nested ifs, as executed on hardware, and far more.
    let nest = |depth: usize| {
        let text = "push.if P0\n".repeat(depth) + &"else\npop.if\n".repeat(depth);
        Rig::new(&text).run(
            |wave| wave.predicates[0] = 0xffff,
            |wave, exit| {
                stopped(exit);
                (wave.active(), wave.stack.len())
            },
        )
    };
    assert_eq!(nest(32), (!0, 0));
    assert_eq!(nest(1000), (!0, 0));
    let reason = fault(&Rig::new("again: push.if true\nbr_any again"));
    assert!(reason.contains("execution-mask stack"), "{reason}");
    let reason = fault(&Rig::new("again: call again"));
    assert!(reason.contains("nested calls"), "{reason}");
}

/// isa-2, 6.11: a leaf called twice, and a function that calls it.
#[test]
fn calls() {
    let text = "
            mov_imm r1, #1
            mov_imm r2, #2
            push.loop true
            call outer
            pop.loop
            push.loop true
            call leaf
            pop.loop
            br_any end
    outer:  call_frame bytes=16
            call_link
            push.loop true
            call leaf
            pop.loop
            push.loop true
            call leaf
            pop.loop
            call_link dir=0x1fff
            iadd r2, r2, r1
            ret
    leaf:   iadd r1, r1, r1
            ret
    end:";
    Rig::new(text).run(
        |_| {},
        |wave, exit| {
            stopped(exit);
            assert!(wave.links.is_empty() && wave.stack.is_empty());
            assert_eq!(wave.gprs[1], Lanes::splat(8));
            assert_eq!(wave.gprs[2], Lanes::splat(6));
        },
    );
    // The published bytes of the two instructions of a call.
    let mut code =
        assemble("push.loop true\ncall target\nmov_imm r5, #9\nstop\ntarget: ret").unwrap();
    assert_eq!(code[..8], [0x0f, 0x05, 0x54, 0x1a, 0x8f, 0x00, 0x54, 0x10]);
    code[5] = 0x00;
    code[6] = 0x56;
    Rig::bytes(code).run(
        |_| {},
        |wave, exit| {
            stopped(exit);
            assert_eq!(wave.gprs[5], Lanes::splat(9));
        },
    );
}

#[test]
fn what_must_not_run() {
    let reason = fault(&Rig::new("ret"));
    assert!(reason.contains("RET without a call"), "{reason}");
    for hex in ["0600", "f703aa00", "8f025401"] {
        let reason = fault(&Rig::hex(hex));
        assert!(reason.contains("must never run"), "{hex}: {reason}");
    }
    // Filler behind the end is not reached.
    Rig::hex("0e000000 0600").run(|_| {}, |_, exit| stopped(exit));
}

/// The forms of this family.
const FORMS: &[FormId] = &[
    FormId::Push,
    FormId::Else,
    FormId::Pop,
    FormId::LoopUpdate,
    FormId::Break,
    FormId::CallBr,
    FormId::Ret,
    FormId::CallFrame,
    FormId::CallLink,
    FormId::Branch,
    FormId::Stop,
    FormId::Filler,
    FormId::Term,
];

proptest! {
    #[test]
    fn every_decodable_instruction(
        code in any_of(FORMS), active: u32, launcher: bool, strict: bool,
    ) {
        let stage = if launcher { Stage::Launcher } else { Stage::Compute };
        survives(&code, active, stage, strict);
    }
}
