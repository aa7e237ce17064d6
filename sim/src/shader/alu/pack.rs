// SPDX-License-Identifier: MIT
//! Normalised pack and unpack (isa-1, 4.7; isa-4, 7.6).
//!
//! Numerics: packing clamps to [0, 1] or [-1, 1], scales by 2^n - 1 or 2^(n-1) - 1 and rounds the
//! exact product to nearest even (HW for unorm16; the 8-bit formats agree with measured values). NaN
//! packs to 0 (HW for unorm16, INFERRED for the others). Unpacking divides, correctly rounded to
//! fp32; signed values are cut at -1.

use agx_isa::{FormId, Instr};

use super::super::lanes::{LANES, Lanes};
use super::super::microop::{MicroOp, Step};
use super::super::operand::{Dst, Src};
use super::super::wave::Wave;
use super::special::nearest_integer;

/// The largest value of a component.
const fn scale(signed: bool, bits: u32) -> u32 {
    (1 << (bits - signed as u32)) - 1
}

/// An fp32 as a normalised integer of `BITS` bits.
#[inline(always)]
fn pack<const SIGNED: bool, const BITS: u32>(value: u32) -> u32 {
    let value = f64::from(f32::from_bits(value));
    let least = if SIGNED { -1.0 } else { 0.0 };
    // Written so that NaN becomes 0.
    let number = if value.is_nan() { 0.0 } else { value };
    let high = if number > least { number } else { least };
    let clamped = if high < 1.0 { high } else { 1.0 };
    // 24 and at most 16 bits: the product is exact.
    let scaled = clamped * f64::from(scale(SIGNED, BITS));
    nearest_integer(scaled) & scale(false, BITS)
}

/// A normalised integer in the low `BITS` bits as fp32.
#[inline(always)]
fn unpack<const SIGNED: bool, const BITS: u32>(value: u32) -> u32 {
    let scale = scale(SIGNED, BITS) as f32;
    let high = value << (32 - BITS);
    let number = if SIGNED {
        (high as i32 >> (32 - BITS)) as f32
    } else {
        (high >> (32 - BITS)) as i32 as f32
    };
    let quotient = number / scale;
    let cut = if quotient > -1.0 { quotient } else { -1.0 };
    cut.to_bits()
}

#[inline(always)]
fn run_pack<const SIGNED: bool, const BITS: u32>(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    let (mut ta, mut tb) = (Lanes::ZERO, Lanes::ZERO);
    let a = wave.read(&op.src[0], &mut ta);
    let b = wave.read(&op.src[1], &mut tb);
    let mut out = Lanes::ZERO;
    for lane in 0..LANES {
        let low = pack::<SIGNED, BITS>(a.0[lane]);
        let high = pack::<SIGNED, BITS>(b.0[lane]);
        out.0[lane] = low | high << BITS;
    }
    wave.write(op.dst, &out);
    Step::Next
}

#[inline(always)]
fn run_unpack<const SIGNED: bool, const BITS: u32>(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    let mut temp = Lanes::ZERO;
    let a = wave.read(&op.src[0], &mut temp);
    let (mut low, mut high) = (Lanes::ZERO, Lanes::ZERO);
    for lane in 0..LANES {
        low.0[lane] = unpack::<SIGNED, BITS>(a.0[lane]);
        high.0[lane] = unpack::<SIGNED, BITS>(a.0[lane] >> BITS);
    }
    wave.write(op.dst, &low);
    // Lowering has seen to it that there is one.
    if let Some(second) = op.dst.next(1) {
        wave.write(second, &high);
    }
    Step::Next
}

crate::kernel! {
    pack_unorm16 = run_pack::<false, 16>;
    pack_unorm8 = run_pack::<false, 8>;
    pack_snorm16 = run_pack::<true, 16>;
    pack_snorm8 = run_pack::<true, 8>;
    unpack_unorm16 = run_unpack::<false, 16>;
    unpack_unorm8 = run_unpack::<false, 8>;
    unpack_snorm16 = run_unpack::<true, 16>;
    unpack_snorm8 = run_unpack::<true, 8>;
}

pub(in super::super) fn lower(instr: &Instr) -> Option<MicroOp> {
    let dst = Dst::of(instr, 0)?;
    let op = match instr.id() {
        FormId::PackN => {
            let exec = match instr.modifier("format")? {
                2 => pack_snorm16(),
                3 => pack_snorm8(),
                4 => pack_unorm16(),
                6 => pack_unorm8(),
                _ => return None,
            };
            MicroOp::new(exec).srcs([Src::of(instr, 1)?, Src::of(instr, 2)?])
        }
        FormId::UnpackN => {
            let exec = match instr.modifier("mode")? {
                2 => unpack_snorm16(),
                3 => unpack_snorm8(),
                4 => unpack_unorm16(),
                6 => unpack_unorm8(),
                _ => return None,
            };
            dst.next(1)?;
            MicroOp::new(exec).srcs([Src::of(instr, 1)?])
        }
        _ => return None,
    };
    Some(op.dst(dst))
}
