// SPDX-License-Identifier: MIT
//! The cube-map helper, CUBE.12 (isa-1, 4.16; isa-3, 2.6; HW, the face table INFERRED).
//!
//! A direction (x, y, z) selects the face of its largest component; x wins ties, then y. Mode 0 gives
//! that component's magnitude and, in the low half of the next register, the face; modes 1 and 2 give
//! half of the face's s and t numerators:
//!
//! | face | s | t |
//! |---|---|---|
//! | 0 +X | -z | -y |
//! | 1 -X | z | -y |
//! | 2 +Y | x | z |
//! | 3 -Y | x | -z |
//! | 4 +Z | x | -y |
//! | 5 -Z | -x | -y |
//!
//! Numerics are those of fp32 arithmetic (isa-4, 11.2): subnormal components count as zero and NaN
//! results are canonical. A NaN component is never the largest; with nothing larger, x is chosen.

use agx_isa::{FormId, Instr};

use super::super::lanes::{LANES, Lanes};
use super::super::microop::{MicroOp, Step};
use super::super::operand::{Dst, Src};
use super::super::wave::Wave;
use super::float32::{finish, flush};

/// The face, and the components in the roles of major axis, s and t.
#[inline(always)]
fn project(x: f32, y: f32, z: f32) -> (u32, f32, f32, f32) {
    let (ax, ay, az) = (x.abs(), y.abs(), z.abs());
    // Written so that a NaN component loses every comparison.
    let y_wins = ay > ax || ax.is_nan() && !ay.is_nan();
    let xy = if y_wins { ay } else { ax };
    let z_wins = az > xy || xy.is_nan() && !az.is_nan();
    if z_wins {
        let negative = z.is_sign_negative();
        (
            4 + u32::from(negative),
            az,
            if negative { -x } else { x },
            -y,
        )
    } else if y_wins {
        let negative = y.is_sign_negative();
        (
            2 + u32::from(negative),
            ay,
            x,
            if negative { -z } else { z },
        )
    } else {
        let negative = x.is_sign_negative();
        (u32::from(negative), ax, if negative { z } else { -z }, -y)
    }
}

#[inline(always)]
fn run_cube<const MODE: u8>(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    let mut temps = [Lanes::ZERO; 3];
    let [tx, ty, tz] = &mut temps;
    let x = wave.read(&op.src[0], tx);
    let y = wave.read(&op.src[1], ty);
    let z = wave.read(&op.src[2], tz);
    let mut out = Lanes::ZERO;
    let mut faces = Lanes::ZERO;
    for lane in 0..LANES {
        let component = |reg: &Lanes| f32::from_bits(flush(reg.0[lane]));
        let (face, major, s, t) = project(component(x), component(y), component(z));
        faces.0[lane] = face;
        out.0[lane] = match MODE {
            0 => finish::<false>(major),
            1 => finish::<false>(0.5 * s),
            _ => finish::<false>(0.5 * t),
        };
    }
    wave.write(op.dst, &out);
    if MODE == 0 {
        wave.write(Dst::Low(op.imm[0] as u8), &faces);
    }
    Step::Next
}

crate::kernel! {
    cube_face = run_cube::<0>;
    cube_s = run_cube::<1>;
    cube_t = run_cube::<2>;
}

pub(in super::super) fn lower(instr: &Instr) -> Option<MicroOp> {
    if instr.id() != FormId::Cube {
        return None;
    }
    let dst = Dst::of(instr, 0)?;
    let sources = [Src::of(instr, 1)?, Src::of(instr, 2)?, Src::of(instr, 3)?];
    let mut op = MicroOp::new(match instr.op_name() {
        "cube_face" => cube_face(),
        "cube_s" => cube_s(),
        "cube_t" => cube_t(),
        _ => return None,
    });
    if instr.op_name() == "cube_face" {
        let Dst::Gpr(face) = dst.next(1)? else {
            return None;
        };
        op = op.imms([face.into()]);
    }
    Some(op.dst(dst).srcs(sources))
}
