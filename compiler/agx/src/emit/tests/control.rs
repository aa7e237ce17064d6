// SPDX-License-Identifier: MIT
//! Control flow: random structured programs and particular shapes, over 32 lanes that disagree, against the model that
//! runs each lane by itself.

use super::bench::{check_memory, disassemble, model};
use super::build::{d, function, iadd, imm, lane, r};
use super::model::Model;
use super::random::Random;
use crate::emit::run;
use crate::ir::*;

const LANE: u8 = 0;
/// Variables: they live everywhere, low and high.
const VARIABLES: [u8; 8] = [16, 70, 17, 18, 91, 19, 95, 20];
/// Counters of the loops.
const COUNTERS: u8 = 30;
/// Written right before they are read.
const TEMPS: [u8; 3] = [24, 25, 26];

/// How a list of statements ends.
#[derive(Clone, Copy, PartialEq)]
enum Ending {
    Through,
    Break,
}

struct Maker {
    random: Random,
    blocks: Vec<(Vec<Instr>, End)>,
    code: Vec<Instr>,
    /// For each loop around the place, the blocks that leave it: their exit is filled in later.
    leaving: Vec<Vec<usize>>,
    max_loops: usize,
    /// Operations so far: programs must stay small.
    budget: usize,
}

const NOWHERE: Block = Block(u32::MAX);

impl Maker {
    fn close(&mut self, end: End) -> usize {
        self.blocks.push((std::mem::take(&mut self.code), end));
        self.blocks.len() - 1
    }

    fn variable(&mut self) -> u8 {
        self.random.pick(&VARIABLES)
    }

    fn push(&mut self, instr: impl Into<Instr>) {
        self.code.push(instr.into());
    }

    fn condition(&mut self) -> Cond {
        let [mask, masked, constant] = TEMPS;
        let a = self.variable();
        self.push(imm(mask, 7));
        self.push(Logic {
            dst: d(masked),
            a: r(a),
            b: r(mask),
            op: LogicOp::And,
        });
        let cmp = self
            .random
            .pick(&[Cmp::ULt, Cmp::UGt, Cmp::ILt, Cmp::IGt, Cmp::IEq]);
        let value = self.random.below(9) as u32;
        let b = if cmp != Cmp::IEq && self.random.flip() {
            Src::imm(value)
        } else {
            self.push(imm(constant, value));
            r(constant)
        };
        Cond {
            cmp,
            half: false,
            a: r(masked),
            b,
            invert: self.random.flip(),
        }
    }

    /// `var = var * factor + other`, or something like it.
    fn assignment(&mut self) {
        let (a, b, c) = (self.variable(), self.variable(), self.variable());
        match self.random.below(6) {
            0 | 1 => self.push(iadd(a, b, c)),
            2 => self.push(IMad {
                dst: d(a),
                a: r(b),
                b: r(c),
                c: r(a),
            }),
            3 => self.push(Logic {
                dst: d(a),
                a: r(b),
                b: r(c),
                op: LogicOp::Xor,
            }),
            4 => {
                let at = self.random.below(16) as i16;
                self.push(Load {
                    dst: [d(a)].into_iter().collect(),
                    base: Base::Pair(1),
                    index: Some(r(LANE)),
                    format: Format::I32,
                    shift: 2,
                    offset: 128 * at,
                });
            }
            _ => {
                let at = self.random.below(16) as i16;
                self.push(Store {
                    data: [r(a)].into_iter().collect(),
                    base: Base::Pair(1),
                    index: r(LANE),
                    format: Format::I32,
                    shift: 2,
                    offset: 128 * at,
                });
            }
        }
    }

    fn statements(&mut self, depth: usize, direct: bool) -> Ending {
        for _ in 0..self.random.below(4) + usize::from(depth == 0) {
            if self.statement(depth, direct) == Ending::Break {
                return Ending::Break;
            }
        }
        Ending::Through
    }

    fn statement(&mut self, depth: usize, direct: bool) -> Ending {
        self.budget = self.budget.saturating_sub(1);
        let nests = depth < 10 && self.budget > 0;
        let loops = self.leaving.len();
        match self.random.below(10) {
            0..=2 if nests => {
                self.branch(depth);
                Ending::Through
            }
            3 | 4 if nests && loops < self.max_loops => {
                self.looping(depth);
                Ending::Through
            }
            // Inside of an arm; loops too deep for BREAK are left from their body only.
            5 if loops > 0 && !direct && loops <= 5 => Ending::Break,
            6 if loops > 0 && direct => {
                self.direct_break();
                Ending::Through
            }
            _ => {
                self.assignment();
                Ending::Through
            }
        }
    }

    fn branch(&mut self, depth: usize) {
        let cond = self.condition();
        // Says nothing about the code's meaning.
        let divergent = self.random.below(4) != 0;
        let top = self.close(End::If {
            cond,
            else_block: NOWHERE,
            merge: NOWHERE,
            divergent,
        });
        let then = self.statements(depth + 1, false);
        let then_end = self.close(End::EndThen { merge: NOWHERE });
        let else_block = Block(self.blocks.len() as u32);
        let other = self.statements(depth + 1, false);
        let else_end = self.close(End::EndElse);
        let merge = Block(self.blocks.len() as u32);
        self.blocks[then_end].1 = match then {
            Ending::Through => End::EndThen { merge },
            Ending::Break => self.leave(then_end, Closes::Then(merge)),
        };
        if other == Ending::Break {
            self.blocks[else_end].1 = self.leave(else_end, Closes::Else);
        }
        if let End::If {
            else_block: e,
            merge: m,
            ..
        } = &mut self.blocks[top].1
        {
            (*e, *m) = (else_block, merge);
        }
    }

    fn leave(&mut self, block: usize, closes: Closes) -> End {
        self.leaving.last_mut().unwrap().push(block);
        End::Break {
            exit: NOWHERE,
            closes,
        }
    }

    /// An `if` straight in the body that leaves, with copies in neither, one or both arms.
    fn direct_break(&mut self) {
        let cond = self.condition();
        self.direct_break_if(cond);
    }

    fn direct_break_if(&mut self, cond: Cond) {
        let top = self.blocks.len() as u32;
        let (else_block, merge) = (Block(top + 2), Block(top + 3));
        let side = self.random.flip();
        let cond = Cond {
            invert: cond.invert ^ side,
            ..cond
        };
        self.close(End::If {
            cond,
            else_block,
            merge,
            divergent: true,
        });
        for arm in 0..2 {
            for _ in 0..self.random.below(3) {
                let (a, b) = (self.variable(), self.variable());
                self.push(Mov {
                    dst: d(a),
                    src: r(b),
                });
            }
            let leaves = (arm == 1) == side;
            let end = match (leaves, arm) {
                (true, 0) => self.leave(self.blocks.len(), Closes::Then(merge)),
                (true, _) => self.leave(self.blocks.len(), Closes::Else),
                (false, 0) => End::EndThen { merge },
                (false, _) => End::EndElse,
            };
            self.close(end);
        }
    }

    fn looping(&mut self, depth: usize) {
        let counter_index = self.leaving.len();
        let counter = COUNTERS + counter_index as u8;
        self.push(imm(counter, 0));
        let top = self.close(End::Loop { exit: NOWHERE });
        let header = Block(self.blocks.len() as u32);
        self.leaving.push(Vec::new());
        // At most three rounds, or as many as a variable says.
        let limit = TEMPS[0];
        if self.random.flip() {
            let rounds = self.random.below(4) as u32;
            self.push(imm(limit, rounds));
        } else {
            let from = self.variable();
            self.push(imm(limit, 3));
            self.push(Logic {
                dst: d(limit),
                a: r(from),
                b: r(limit),
                op: LogicOp::And,
            });
        }
        self.direct_break_if(Cond {
            cmp: Cmp::ULt,
            half: false,
            a: r(counter),
            b: r(limit),
            invert: true,
        });
        self.push(imm(TEMPS[1], 1));
        self.push(iadd(counter, counter, TEMPS[1]));
        self.statements(depth + 1, true);
        let exit = Block(self.blocks.len() as u32 + 1);
        if self.random.below(8) == 0 {
            // The body ends by leaving.
            let end = self.leave(self.blocks.len(), Closes::Loop);
            self.close(end);
        } else {
            self.close(End::EndLoop { header });
        }
        self.blocks[top].1 = End::Loop { exit };
        for block in self.leaving.pop().unwrap() {
            if let End::Break { exit: e, .. } = &mut self.blocks[block].1 {
                *e = exit;
            }
        }
    }

    fn finish(mut self) -> Function {
        for (i, reg) in (0..).zip(VARIABLES) {
            // Some of them are not needed at the end.
            if self.random.below(3) > 0 {
                self.push(Store {
                    data: [r(reg)].into_iter().collect(),
                    base: Base::Pair(2),
                    index: r(LANE),
                    format: Format::I32,
                    shift: 2,
                    offset: 128 * i,
                });
            }
        }
        self.close(End::Stop);
        function(self.blocks)
    }
}

fn start(random: &mut Random) -> Model {
    let mut start = model();
    for byte in &mut start.memory {
        *byte = random.next() as u8;
    }
    start
}

fn maker(random: Random, max_loops: usize, budget: usize) -> Maker {
    let mut maker = Maker {
        random,
        blocks: Vec::new(),
        code: Vec::new(),
        leaving: Vec::new(),
        max_loops,
        budget,
    };
    maker.push(lane(LANE));
    for (i, reg) in (0..).zip(VARIABLES) {
        if i % 3 == 2 {
            maker.push(imm(TEMPS[0], i as u32 * 0x1234_5677));
            maker.push(IMad {
                dst: d(reg),
                a: r(LANE),
                b: r(TEMPS[0]),
                c: r(TEMPS[0]),
            });
        } else {
            maker.push(Load {
                dst: [d(reg)].into_iter().collect(),
                base: Base::Pair(1),
                index: Some(r(LANE)),
                format: Format::I32,
                shift: 2,
                offset: 128 * i,
            });
        }
    }
    maker
}

/// Memory after every lane has run the function.
fn expected(function: &Function, start: &Model) -> Model {
    let mut expected = start.clone();
    expected.run(function, 100_000);
    expected
}

#[test]
fn random_programs() {
    let mut direct = 0;
    for seed in 0..1500 {
        let mut random = Random::new(seed);
        let mut start = start(&mut random);
        if seed % 5 == 0 {
            start.lanes = random.next() as u32 | 1;
        }
        let mut maker = maker(random, 8, 40);
        maker.statements(0, false);
        let function = maker.finish();
        let code = check_memory(&function, &start, &expected(&function, &start));
        direct += u32::from(disassemble(&code).contains("loop_update"));
    }
    assert!(direct > 100, "{direct}");
}

/// Loops in loops, one to eight deep, each left from its body; to five deep from an arm, too.
#[test]
fn nests() {
    for depth in 1..=8usize {
        for from_arm in [false, true] {
            if from_arm && depth > 5 {
                continue;
            }
            let mut random = Random::new(depth as u64);
            let start = start(&mut random);
            let mut maker = maker(random, 8, 0);
            let mut tops = Vec::new();
            for level in 0..depth {
                let counter = COUNTERS + level as u8;
                maker.push(imm(counter, 0));
                let top = maker.close(End::Loop { exit: NOWHERE });
                tops.push((top, Block(maker.blocks.len() as u32)));
                maker.leaving.push(Vec::new());
                // Lanes leave after one or two rounds.
                maker.push(imm(TEMPS[0], 1));
                maker.push(Logic {
                    dst: d(TEMPS[1]),
                    a: r(LANE),
                    b: r(TEMPS[0]),
                    op: LogicOp::And,
                });
                maker.push(iadd(TEMPS[1], TEMPS[1], TEMPS[0]));
                let cond = Cond {
                    cmp: Cmp::ULt,
                    half: false,
                    a: r(counter),
                    b: r(TEMPS[1]),
                    invert: true,
                };
                if from_arm {
                    // if (always) { if (cond) break }
                    let outer = maker.close(End::If {
                        cond: Cond {
                            cmp: Cmp::ULt,
                            half: false,
                            a: r(LANE),
                            b: Src::imm(40),
                            invert: false,
                        },
                        else_block: NOWHERE,
                        merge: NOWHERE,
                        divergent: true,
                    });
                    let inner = maker.blocks.len() as u32;
                    let (else_block, merge) = (Block(inner + 2), Block(inner + 3));
                    maker.close(End::If {
                        cond,
                        else_block,
                        merge,
                        divergent: true,
                    });
                    let end = maker.leave(maker.blocks.len(), Closes::Then(merge));
                    maker.close(end);
                    maker.close(End::EndElse);
                    let (else_block, merge) = (Block(inner + 4), Block(inner + 5));
                    maker.close(End::EndThen { merge });
                    maker.close(End::EndElse);
                    if let End::If {
                        else_block: e,
                        merge: m,
                        ..
                    } = &mut maker.blocks[outer].1
                    {
                        (*e, *m) = (else_block, merge);
                    }
                } else {
                    maker.direct_break_if(cond);
                }
                maker.push(imm(TEMPS[1], 1));
                maker.push(iadd(counter, counter, TEMPS[1]));
                maker.assignment();
            }
            for (top, header) in tops.into_iter().rev() {
                maker.push(iadd(VARIABLES[0], VARIABLES[0], VARIABLES[1]));
                maker.close(End::EndLoop { header });
                let exit = Block(maker.blocks.len() as u32);
                maker.blocks[top].1 = End::Loop { exit };
                for block in maker.leaving.pop().unwrap() {
                    if let End::Break { exit: e, .. } = &mut maker.blocks[block].1 {
                        *e = exit;
                    }
                }
            }
            let function = maker.finish();
            check_memory(&function, &start, &expected(&function, &start));
        }
    }
}

/// A break from an arm six loops deep is refused with a reason; no bank is left for it.
#[test]
fn too_deep() {
    let mut maker = maker(Random::new(7), 8, 0);
    let mut tops = Vec::new();
    for _ in 0..6 {
        let top = maker.close(End::Loop { exit: NOWHERE });
        tops.push((top, Block(maker.blocks.len() as u32)));
        maker.leaving.push(Vec::new());
    }
    let cond = Cond {
        cmp: Cmp::ULt,
        half: false,
        a: r(LANE),
        b: Src::imm(4),
        invert: false,
    };
    let if_ = |else_block, merge| End::If {
        cond,
        else_block: Block(else_block),
        merge: Block(merge),
        divergent: true,
    };
    let at = maker.blocks.len() as u32;
    maker.close(if_(at + 4, at + 5));
    maker.close(if_(at + 3, at + 4));
    let end = maker.leave(at as usize + 2, Closes::Then(Block(at + 4)));
    maker.close(end);
    maker.close(End::EndElse);
    maker.blocks[at as usize + 3].1 = End::EndElse;
    // The outer arm ends where the inner `if` merges.
    maker.blocks[at as usize].1 = if_(at + 5, at + 6);
    maker.close(End::EndThen {
        merge: Block(at + 6),
    });
    maker.close(End::EndElse);
    for (top, header) in tops.into_iter().rev() {
        maker.close(End::EndLoop { header });
        let exit = Block(maker.blocks.len() as u32);
        maker.blocks[top].1 = End::Loop { exit };
        for block in maker.leaving.pop().unwrap() {
            if let End::Break { exit: e, .. } = &mut maker.blocks[block].1 {
                *e = exit;
            }
        }
    }
    let error = run(&maker.finish()).unwrap_err();
    assert!(error.contains("loop 6 in a nest"), "{error}");
}

/// Barriers where all lanes agree are never reached under an empty mask: not in an arm that nobody takes, not behind a
/// break of all lanes.
#[test]
fn barriers() {
    let barrier = || {
        Instr::from(Barrier {
            op: BarrierOp::Workgroup,
        })
    };
    let uniform = |constant| Cond {
        cmp: Cmp::ULt,
        half: false,
        a: r(20),
        b: Src::imm(constant),
        invert: false,
    };
    for taken in [false, true] {
        for from_arm in [false, true] {
            // r20 counts 0..3; a barrier in the loop behind the break, and one in an arm.
            let mut blocks = vec![(
                vec![lane(LANE), imm(20, 0), imm(21, 1)],
                End::Loop { exit: NOWHERE },
            )];
            let header = Block(1);
            let leave = |merge| End::Break {
                exit: NOWHERE,
                closes: Closes::Then(Block(merge)),
            };
            let not = |cond: Cond| Cond {
                invert: !cond.invert,
                ..cond
            };
            let if_ = |cond, else_block, merge| End::If {
                cond,
                else_block: Block(else_block),
                merge: Block(merge),
                divergent: false,
            };
            if from_arm {
                blocks.push((vec![], if_(uniform(9), 5, 6)));
                blocks.push((vec![], if_(not(uniform(3)), 4, 5)));
                blocks.push((vec![], leave(5)));
                blocks.push((vec![], End::EndElse));
                // Behind the inner `if`, in the outer arm.
                let merge = blocks.len() as u32;
                assert_eq!(merge, 5);
                blocks[1].1 = if_(uniform(9), 6, 7);
                blocks.push((vec![barrier()], End::EndThen { merge: Block(7) }));
                blocks.push((vec![], End::EndElse));
            } else {
                blocks.push((vec![], if_(not(uniform(3)), 3, 4)));
                blocks.push((vec![], leave(4)));
                blocks.push((vec![], End::EndElse));
            }
            blocks.push((vec![iadd(20, 20, 21), barrier()], End::EndLoop { header }));
            let exit = Block(blocks.len() as u32);
            for (_, end) in &mut blocks {
                match end {
                    End::Loop { exit: e } => *e = exit,
                    End::Break { exit: e, .. } => *e = exit,
                    _ => {}
                }
            }
            let at = exit.0;
            blocks.push((
                vec![],
                if_(uniform(if taken { 9 } else { 2 }), at + 2, at + 3),
            ));
            blocks.push((
                vec![barrier()],
                End::EndThen {
                    merge: Block(at + 3),
                },
            ));
            blocks.push((vec![barrier()], End::EndElse));
            blocks.push((
                vec![Instr::from(Store {
                    data: [r(20)].into_iter().collect(),
                    base: Base::Pair(2),
                    index: r(LANE),
                    format: Format::I32,
                    shift: 2,
                    offset: 0,
                })],
                End::Stop,
            ));
            let function = function(blocks);
            let start = model();
            check_memory(&function, &start, &expected(&function, &start));
        }
    }
}

/// Functions whose constructs do not nest are refused, not emitted and not a reason to panic.
#[test]
fn malformed() {
    let cond = Cond {
        cmp: Cmp::ULt,
        half: false,
        a: r(LANE),
        b: Src::imm(4),
        invert: false,
    };
    let if_ = |else_block, merge| End::If {
        cond,
        else_block: Block(else_block),
        merge: Block(merge),
        divergent: true,
    };
    let then = |merge| End::EndThen {
        merge: Block(merge),
    };
    let bad: Vec<Vec<End>> = vec![
        vec![],
        vec![End::Next],
        vec![End::EndElse, End::Stop],
        vec![if_(2, 3), then(3), End::EndElse],
        vec![if_(1, 2), then(3), End::EndElse, End::Stop],
        vec![if_(2, 3), End::EndElse, End::EndElse, End::Stop],
        vec![if_(2, 3), End::Stop, End::EndElse, End::Stop],
        vec![End::Loop { exit: Block(0) }, End::Stop],
        vec![End::Loop { exit: Block(2) }, End::EndElse, End::Stop],
        vec![
            End::Loop { exit: Block(3) },
            End::EndLoop { header: Block(1) },
            End::Stop,
        ],
        vec![
            End::Break {
                exit: Block(1),
                closes: Closes::Loop,
            },
            End::Stop,
        ],
        vec![if_(2, 9), then(9), End::EndElse, End::Stop],
        vec![if_(7, 9)],
    ];
    for ends in bad {
        let blocks: Vec<_> = ends
            .into_iter()
            .map(|end| BlockData {
                preds: Vec::new(),
                phis: Vec::new(),
                instrs: vec![lane(LANE)],
                end,
                loop_depth: 0,
            })
            .collect();
        let function = Function {
            blocks,
            num_values: 0,
            scratch_words: 0,
        };
        assert!(run(&function).is_err(), "{function}");
    }
}

/// The shapes that the reference shows (isa-2, 6.12 and 6.13).
#[test]
fn shapes() {
    let cond = Cond {
        cmp: Cmp::ULt,
        half: false,
        a: r(LANE),
        b: r(2),
        invert: false,
    };
    let if_else = function(vec![
        (
            vec![lane(LANE), imm(2, 10)],
            End::If {
                cond,
                else_block: Block(2),
                merge: Block(3),
                divergent: true,
            },
        ),
        (vec![imm(1, 7)], End::EndThen { merge: Block(3) }),
        (vec![imm(1, 9)], End::EndElse),
        (vec![super::build::store(1, 1, 1, LANE, 2)], End::Stop),
    ]);
    let code = run(&if_else).unwrap();
    let hex: String = code.bytes[..code.stats.bytes as usize]
        .iter()
        .map(|b| format!("{b:02x}"))
        .collect();
    assert_eq!(
        hex,
        "0ca01006\
         2c0a\
         0a01320505c0\
         0f055401\
         1c07\
         0f040419\
         1c09\
         0f0604010000\
         e7005402010021001100009011000e000000",
        "{}",
        disassemble(&code)
    );
    assert_eq!(&code.bytes[code.stats.bytes as usize..][..4], [6, 0, 6, 0]);
}
