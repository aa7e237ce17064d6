// SPDX-License-Identifier: MIT
//! Coefficients and their evaluation: ITER, ITER_FLAT, PROJECT, INTERP_POS (isa-3, 4.2 and 4.3).
//!
//! A coefficient is a plane over the window, evaluated at the pixel's centre or at a position. What is
//! constant over a primitive is kept as the attribute itself, not divided by w, and PROJECT passes it
//! on (isa-3, 4.2; HW), so a plain multiplication in its place computes nonsense here too.
//!
//! Planes are kept in double precision: the hardware's precision is not known (graphics, 17 row 10).
//!
//! The packed position that INTERP_POS makes is not known (isa-3, 9 row 11). Here it is x in the low
//! and y in the high half, in 1/256 pixel from the pixel's upper left corner. The centroid is the
//! centre when all samples of the coverage word are set, or none, else the first that is set
//! (INFERRED).

use agx_isa::{File, FormId, Instr, Value};

use super::super::alu::float32::{finish, flush};
use super::super::lanes::{LANES, Lanes};
use super::super::microop::{MicroOp, Step};
use super::super::operand::{Dst, Src};
use super::super::wave::Wave;
use super::{Fragments, QUADS, illegal, outside, strict};

/// A plane: its value at the primitive's origin, and its change from pixel to pixel.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Gradient {
    /// At the origin.
    pub value: f64,
    /// To the right.
    pub dx: f64,
    /// Downwards.
    pub dy: f64,
}

impl Gradient {
    /// At a distance from the origin.
    #[inline(always)]
    #[must_use]
    pub fn at(&self, x: f64, y: f64) -> f64 {
        self.value + self.dx * x + self.dy * y
    }
}

/// A coefficient register of a primitive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Coefficient {
    /// Varies.
    Varying(Gradient),
    /// The same everywhere: the attribute's bits.
    Constant(u32),
    /// The provoking vertex's bits.
    Flat(u32),
    /// A source of which the reference says too little.
    Unknown,
}

/// Where in the pixel: the centre, or what source 0 holds.
#[inline(always)]
fn run_iter<const AT: bool>(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    let mut temp = Lanes::ZERO;
    let cf = op.imm[0] as usize;
    let position = wave.read(&op.src[0], &mut temp);
    let Some(fragments) = &wave.fragments else {
        return outside(wave);
    };
    if cf >= fragments.registers {
        return range(wave, cf);
    }
    let mut out = Lanes::ZERO;
    for quad in 0..QUADS {
        let at = &fragments.quads[quad];
        let Some(primitive) = fragments.primitives.get(at.primitive) else {
            continue;
        };
        let coefficient = fragments.coefficients[at.primitive * fragments.registers + cf];
        match coefficient {
            Coefficient::Varying(gradient) => {
                let x = f64::from(at.x) - primitive.origin[0];
                let y = f64::from(at.y) - primitive.origin[1];
                for lane in 4 * quad..4 * quad + 4 {
                    let (dx, dy) = if AT {
                        let place = position.0[lane];
                        let part = |n: u32| f64::from(n & 0xffff) / 256.0;
                        (part(place), part(place >> 16))
                    } else {
                        (0.5, 0.5)
                    };
                    let (column, row) = (lane & 1, lane >> 1 & 1);
                    let value = gradient.at(x + column as f64 + dx, y + row as f64 + dy);
                    out.0[lane] = finish::<false>(value as f32);
                }
            }
            Coefficient::Constant(bits) | Coefficient::Flat(bits) => {
                out.0[4 * quad..4 * quad + 4].fill(bits);
            }
            Coefficient::Unknown => return unknown(wave),
        }
    }
    wave.write(op.dst, &out);
    Step::Next
}

#[cold]
fn range(wave: &mut Wave<'_>, cf: usize) -> Step {
    let registers = wave.fragments.as_ref().map_or(0, |f| f.registers);
    illegal(
        wave,
        &format!("coefficient {cf}, but the draw's table has {registers} registers"),
    )
}

#[cold]
fn unknown(wave: &mut Wave<'_>) -> Step {
    illegal(
        wave,
        "barycentric coefficients are not established (graphics, 5.3)",
    )
}

/// The third register gets the value; the others, unspecified, become 0.
#[inline(always)]
fn run_flat(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    let cf = op.imm[0] as usize;
    let Some(fragments) = &wave.fragments else {
        return outside(wave);
    };
    if cf >= fragments.registers {
        return range(wave, cf);
    }
    let mut out = Lanes::ZERO;
    let mut varying = false;
    for quad in 0..QUADS {
        let primitive = fragments.quads[quad].primitive;
        if primitive >= fragments.primitives.len() {
            continue;
        }
        match fragments.coefficients[primitive * fragments.registers + cf] {
            Coefficient::Flat(bits) => out.0[4 * quad..4 * quad + 4].fill(bits),
            _ => varying = true,
        }
    }
    if varying && wave.group.dispatch.strict {
        return strict(
            wave,
            format!("ITER_FLAT of coefficient {cf}, which is not bound flat"),
        );
    }
    for (by, value) in [(0, &Lanes::ZERO), (1, &Lanes::ZERO), (2, &out)] {
        if let Some(dst) = op.dst.next(by) {
            wave.write(dst, value);
        }
    }
    Step::Next
}

/// A product, or source 0 where the coefficient is constant.
#[inline(always)]
fn run_project(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    let (mut ta, mut tb) = (Lanes::ZERO, Lanes::ZERO);
    let a = wave.read(&op.src[0], &mut ta);
    let b = wave.read(&op.src[1], &mut tb);
    let mut out = Lanes::ZERO;
    for lane in 0..LANES {
        let (a, b) = (
            f32::from_bits(flush(a.0[lane])),
            f32::from_bits(flush(b.0[lane])),
        );
        out.0[lane] = finish::<false>(a * b);
    }
    if let Some(fragments) = &wave.fragments {
        let cf = op.imm[0] as usize;
        if cf >= fragments.registers {
            return range(wave, cf);
        }
        for quad in 0..QUADS {
            let primitive = fragments.quads[quad].primitive;
            let at = primitive * fragments.registers + cf;
            if matches!(
                fragments.coefficients.get(at),
                Some(Coefficient::Constant(_))
            ) {
                let lanes = 4 * quad..4 * quad + 4;
                out.0[lanes.clone()].copy_from_slice(&a.0[lanes]);
            }
        }
    }
    wave.write(op.dst, &out);
    Step::Next
}

/// A position in a pixel, in 1/256.
const fn packed(x: u32, y: u32) -> u32 {
    x | y << 16
}

fn sample_position(fragments: &Fragments, sample: usize) -> u32 {
    let [x, y] = fragments.tile.positions[sample];
    packed(16 * u32::from(x), 16 * u32::from(y))
}

/// `SAMPLE`: source 0 is a sample's number, else a coverage word.
#[inline(always)]
fn run_position<const SAMPLE: bool>(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    let mut temp = Lanes::ZERO;
    let value = *wave.read(&op.src[0], &mut temp);
    let Some(fragments) = &wave.fragments else {
        return outside(wave);
    };
    let samples = fragments.tile.samples;
    let all = (1u32 << samples) - 1;
    let centre = packed(128, 128);
    let mut out = Lanes::splat(centre);
    let mut beyond = None;
    for lane in 0..LANES {
        if SAMPLE {
            let sample = value.0[lane] as usize;
            if sample < samples {
                out.0[lane] = sample_position(fragments, sample);
            } else if wave.active() >> lane & 1 == 1 {
                beyond = Some(sample);
            }
        } else {
            let covered = value.0[lane] & all;
            if covered != 0 && covered != all {
                out.0[lane] = sample_position(fragments, covered.trailing_zeros() as usize);
            }
        }
    }
    if let (Some(sample), true) = (beyond, wave.group.dispatch.strict) {
        return strict(
            wave,
            format!("the position of sample {sample} of {samples}"),
        );
    }
    wave.write(op.dst, &out);
    Step::Next
}

crate::kernel! {
    iter = run_iter::<false>;
    iter_at = run_iter::<true>;
    iter_flat = run_flat;
    project = run_project;
    centroid = run_position::<false>;
    at_sample = run_position::<true>;
}

pub(in super::super) fn lower(instr: &Instr) -> Option<MicroOp> {
    let coefficient = |index: usize| match instr.arg(index).value {
        Value::Reg(reg) if reg.file == File::Coefficient => Some(u32::from(reg.index)),
        _ => None,
    };
    let op = match instr.id() {
        FormId::Iter => {
            let op = match instr.arg(2).value {
                Value::Absent(_) => MicroOp::new(iter()),
                _ => MicroOp::new(iter_at()).srcs([Src::of(instr, 2)?]),
            };
            op.imms([coefficient(1)?])
        }
        FormId::IterFlat => MicroOp::new(iter_flat()).imms([coefficient(1)?]),
        FormId::FProj8 => MicroOp::new(project())
            .srcs([Src::of(instr, 1)?, Src::of(instr, 2)?])
            .imms([coefficient(3)?]),
        FormId::InterpPos => {
            let exec = match instr.op_name() {
                "interp_sample" => at_sample(),
                _ => centroid(),
            };
            MicroOp::new(exec).srcs([Src::of(instr, 1)?])
        }
        _ => return None,
    };
    Some(op.dst(Dst::of(instr, 0)?))
}
