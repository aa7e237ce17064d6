// SPDX-License-Identifier: MIT
//! Discard, sample masks and late tests: COVERAGE and DEPTH_STORE (isa-3, 4.7 and 4.8).
//!
//! The published control word holds the samples that stay alive (bits 0..3) and those that are
//! affected (8..11). Of the affected samples those that do not stay alive are killed, the others are
//! tested for depth and stencil, with interpolated depth or with the published one. Killed lanes go on
//! as helpers.
//!
//! When the draw's tests were made before the program, because its pass type promises no discard, a
//! kill only keeps the colour from being stored, and a test has nothing left to do. Strict mode faults
//! on both, and on samples that are killed or tested twice.

use agx_isa::{File, FormId, Instr, Value};

use super::super::lanes::LANES;
use super::super::microop::{MicroOp, Step};
use super::super::wave::Wave;
use super::{Fragments, outside, strict};

impl Fragments {
    /// Tests the pending samples among `samples` of a lane, with interpolated depth or a given one.
    pub fn run_tests(&mut self, lane: usize, samples: u8, depth: Option<f32>) {
        let due = samples & self.pending[lane];
        self.pending[lane] &= !due;
        let due = due & self.live[lane];
        if due == 0 {
            return;
        }
        let [x, y] = self.pixel(lane);
        let place = self.place(lane);
        let primitive = *self.primitive(lane);
        let tests = self.tests[usize::from(primitive.back)];
        for sample in 0..self.tile.samples {
            if due >> sample & 1 == 0 {
                continue;
            }
            let depth = depth.unwrap_or_else(|| {
                let [sx, sy] = self.tile.positions[sample];
                let at = |pixel: u32, part: u8, origin: f64| {
                    f64::from(pixel) + f64::from(part) / 16.0 - origin
                };
                let value = primitive.depth.at(
                    at(x, sx, primitive.origin[0]),
                    at(y, sy, primitive.origin[1]),
                );
                primitive.range.clamp(value as f32)
            });
            if tests.test(&mut self.tile, place, sample, depth) {
                self.passed += 1;
            } else {
                self.live[lane] &= !(1 << sample);
            }
        }
    }
}

/// Number 0: the publication of the control word. `DEPTH`: the next one holds depth.
#[inline(always)]
fn run<const DEPTH: bool>(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    let control = wave.publication(op.imm[0] as u8);
    let depth = wave.publication(op.imm[0] as u8 + 1);
    let active = wave.active();
    let is_strict = wave.group.dispatch.strict;
    let late = wave.group.dispatch.late_tests;
    let Some(fragments) = &mut wave.fragments else {
        return outside(wave);
    };
    let open = fragments.transactions;
    let mut wrong = None;
    for lane in 0..LANES {
        if active >> lane & 1 == 0 {
            continue;
        }
        let word = control.0[lane];
        let covered = fragments.covered[lane];
        let affected = (word >> 8) as u8 & 15 & covered;
        let kept = word as u8 & covered;
        let (killed, tested) = (affected & !kept, affected & kept);
        if is_strict && affected != 0 {
            if !late {
                wrong = Some("the draw's pass type makes the tests before the program");
            } else if (word >> 4) as u8 & 15 & covered != affected {
                wrong = Some("bits 4..7 of the control word differ from bits 8..11");
            } else if affected & !fragments.pending[lane] & fragments.live[lane] != 0 {
                wrong = Some("a sample that was killed or tested before");
            } else if !open.entered {
                wrong = Some("no ACCESS 0x600 before it");
            } else if tested != 0 && !open.test {
                wrong = Some("tests outside a transaction: ACCESS 0x001 is missing");
            }
        }
        fragments.live[lane] &= !killed;
        fragments.pending[lane] &= !killed;
        let depth = DEPTH.then(|| {
            let value = f32::from_bits(depth.0[lane]);
            fragments.primitive(lane).range.clamp(value)
        });
        if tested != 0 {
            fragments.run_tests(lane, tested, depth);
        }
    }
    wave.helpers = fragments.helpers();
    match wrong {
        Some(rule) => strict(wave, rule.to_owned()),
        None => Step::Next,
    }
}

crate::kernel! {
    coverage = run::<false>;
    depth_store = run::<true>;
}

pub(in super::super) fn lower(instr: &Instr) -> Option<MicroOp> {
    let exec = match instr.id() {
        FormId::Coverage => coverage(),
        FormId::DepthStore => depth_store(),
        _ => return None,
    };
    match instr.arg(0).value {
        Value::Reg(reg) if reg.file == File::Publication => {
            Some(MicroOp::new(exec).imms([reg.index.into()]))
        }
        _ => None,
    }
}
