// SPDX-License-Identifier: MIT
//! Arithmetic: which operation each NIR operation becomes (isa-1, 6.1).

use mesa_nir::program::{Alu, AluOp};

use super::build::comparison_of;
use super::{Selector, words_of};
use crate::error::Error;
use crate::ir::{
    AddMul, BitOp, Bits, Cmp, F2, F32ToF16, FloatToInt, Fma, IAdd, IAdd64, IMad, IMulWide,
    IntToFloat, Logic, LogicOp, MinMax, MinMaxOp, Rotate, Select, Sfu, SfuOp, SfuType, Shift,
    ShiftOp, Src,
};

/// 1.0 in fp16.
const HALF_ONE: u32 = 0x3c00;
const SIGN: u32 = 1 << 31;

impl Selector<'_> {
    pub(super) fn alu(&mut self, alu: &Alu) -> Result<(), Error> {
        match alu.op {
            AluOp::mov => return self.copy(alu),
            AluOp::vec2 | AluOp::vec3 | AluOp::vec4 => return self.vector(alu),
            _ => {}
        }
        if self.pack(alu)? {
            return Ok(());
        }
        if alu.def.components != 1 {
            return Err(unsupported(alu));
        }
        if comparison_of(alu.op).is_some() {
            return self.comparison_value(alu);
        }
        let done = match (alu.def.bits, self.source_bits(alu)) {
            (16, 16) if is_float(alu.op) => self.half(alu)?,
            (32, 32) if is_float(alu.op) => self.single(alu)?,
            _ if self.conversion(alu)? => true,
            (64, _) | (_, 64) => self.wide(alu)?,
            _ => self.integer(alu)?,
        };
        if done { Ok(()) } else { Err(unsupported(alu)) }
    }

    /// Width of the first operand that is no Boolean.
    fn source_bits(&self, alu: &Alu) -> u8 {
        let widths = || alu.srcs.iter().map(|s| self.bits(s.def));
        let first = widths().find(|bits| *bits != 1);
        first.or_else(|| widths().next_back()).unwrap_or(0)
    }

    fn copy(&mut self, alu: &Alu) -> Result<(), Error> {
        let src = &alu.srcs[0];
        let per = words_of(alu.def.bits);
        let mut words = Vec::with_capacity(4);
        for lane in 0..usize::from(alu.def.components) {
            let component = src.swizzle.get(lane).copied().unwrap_or(0);
            for word in 0..per {
                words.push(self.word(src.def, usize::from(component) * per + word)?);
            }
        }
        self.define(&alu.def, words);
        Ok(())
    }

    fn vector(&mut self, alu: &Alu) -> Result<(), Error> {
        let per = words_of(alu.def.bits);
        let mut words = Vec::with_capacity(4);
        for src in &alu.srcs {
            let component = src.swizzle.first().copied().unwrap_or(0);
            for word in 0..per {
                words.push(self.word(src.def, usize::from(component) * per + word)?);
            }
        }
        self.define(&alu.def, words);
        Ok(())
    }

    /// A comparison whose result is kept as 0 or 1. Users that can hold it take the comparison itself.
    fn comparison_value(&mut self, alu: &Alu) -> Result<(), Error> {
        let cond = self
            .comparison(alu, true)?
            .ok_or_else(|| unsupported(alu))?;
        let result = self.select(cond, Src::imm(1), Src::imm(0));
        self.define(&alu.def, [result]);
        Ok(())
    }

    fn bool_operand(&mut self, alu: &Alu) -> Result<crate::ir::Cond, Error> {
        let src = &alu.srcs[0];
        self.condition(src.def, src.swizzle.first().copied().unwrap_or(0), true)
    }

    /// Conversions between types and widths.
    fn conversion(&mut self, alu: &Alu) -> Result<bool, Error> {
        let def = &alu.def;
        let from = self.bits(alu.srcs[0].def);
        let result = match alu.op {
            AluOp::b2i8 | AluOp::b2i16 | AluOp::b2i32 | AluOp::b2b1 | AluOp::b2b32 if from == 1 => {
                self.src(alu, 0)?
            }
            AluOp::b2f32 | AluOp::b2f16 => {
                let one = if def.bits == 16 {
                    HALF_ONE
                } else {
                    1f32.to_bits()
                };
                let cond = self.bool_operand(alu)?;
                self.select(cond, Src::imm(one), Src::imm(0))
            }
            AluOp::u2u8
            | AluOp::u2u16
            | AluOp::u2u32
            | AluOp::i2i8
            | AluOp::i2i16
            | AluOp::i2i32
                if from == 64 =>
            {
                self.pair(alu, 0)?[0]
            }
            AluOp::u2u8 | AluOp::u2u16 | AluOp::u2u32 => {
                let src = self.src(alu, 0)?;
                self.zero_extend(src, if from >= def.bits { 32 } else { from })
            }
            AluOp::i2i8 | AluOp::i2i16 | AluOp::i2i32 => {
                let src = self.src(alu, 0)?;
                self.sign_extend(src, if from >= def.bits { 32 } else { from })
            }
            AluOp::u2f32 | AluOp::i2f32 | AluOp::u2f16 | AluOp::i2f16 if from <= 32 => {
                let signed = matches!(alu.op, AluOp::i2f32 | AluOp::i2f16);
                let src = self.src(alu, 0)?;
                let a = if signed {
                    self.sign_extend(src, from)
                } else {
                    self.zero_extend(src, from)
                };
                let wide = self.make(|dst| IntToFloat {
                    dst: dst.into(),
                    a,
                    signed,
                });
                if def.bits == 32 {
                    wide
                } else {
                    self.narrow(wide)
                }
            }
            AluOp::f2i8
            | AluOp::f2i16
            | AluOp::f2i32
            | AluOp::f2u8
            | AluOp::f2u16
            | AluOp::f2u32
                if from <= 32 =>
            {
                let signed = matches!(alu.op, AluOp::f2i8 | AluOp::f2i16 | AluOp::f2i32);
                let mut a = self.src(alu, 0)?;
                if from == 16 {
                    a = self.widen(a, false);
                }
                self.make(|dst| FloatToInt {
                    dst: dst.into(),
                    a,
                    signed,
                })
            }
            AluOp::f2f32 if from == 16 => {
                let a = self.src(alu, 0)?;
                self.widen(a, false)
            }
            AluOp::f2f16 | AluOp::f2f16_rtne | AluOp::f2fmp if from == 32 => {
                let a = self.src(alu, 0)?;
                self.narrow(a)
            }
            AluOp::fquantize2f16 if from == 32 => return self.quantize(alu),
            _ => return Ok(false),
        };
        self.define(def, [result]);
        Ok(true)
    }

    pub(super) fn narrow(&mut self, a: Src) -> Src {
        self.make(|dst| F32ToF16 { dst: dst.into(), a })
    }

    pub(super) fn widen(&mut self, a: Src, high: bool) -> Src {
        self.make(|dst| crate::ir::F16ToF32 {
            dst: dst.into(),
            a,
            high,
        })
    }

    /// To fp16 precision and range; results below fp16's normal range become zero, as SPIR-V's OpQuantizeToF16 says.
    fn quantize(&mut self, alu: &Alu) -> Result<bool, Error> {
        let a = self.src(alu, 0)?;
        let half = self.narrow(a);
        let wide = self.widen(half, false);
        let zero = self.logic(LogicOp::And, wide, Src::imm(SIGN));
        let flushed = self.make(|dst| Select {
            dst: dst.into(),
            a: wide.absolute(),
            b: Src::float(6.103_515_6e-5),
            t: zero,
            f: wide,
            cmp: Cmp::FLt,
            half: false,
        });
        self.define(&alu.def, [flushed]);
        Ok(true)
    }

    pub(super) fn zero_extend(&mut self, src: Src, from: u8) -> Src {
        match (src.as_imm(), from) {
            (_, 32..) => src,
            (Some(bits), _) => Src::imm(bits & mask(from)),
            _ => self.logic(LogicOp::And, src, Src::imm(mask(from))),
        }
    }

    pub(super) fn sign_extend(&mut self, src: Src, from: u8) -> Src {
        let shift = 32 - from.min(32);
        match src.as_imm() {
            Some(bits) => Src::imm(((bits << shift) as i32 >> shift) as u32),
            None => {
                let high = self.shift_imm(ShiftOp::Shl, src, shift);
                self.shift_imm(ShiftOp::Asr, high, shift)
            }
        }
    }

    /// fp32 arithmetic.
    fn single(&mut self, alu: &Alu) -> Result<bool, Error> {
        if alu.op == AluOp::fsat {
            return self.saturate(alu);
        }
        let result = self.single_result(alu, false)?;
        let Some(result) = result else {
            return Ok(false);
        };
        self.define(&alu.def, [result]);
        Ok(true)
    }

    /// An fp32 operation, with its result clamped to [0, 1] if asked; `None` if there is none, or none that clamps.
    fn single_result(&mut self, alu: &Alu, sat: bool) -> Result<Option<Src>, Error> {
        let sfu = |op| Some(op);
        let sfu_op = match alu.op {
            AluOp::frcp => sfu(SfuOp::Rcp),
            AluOp::frsq => sfu(SfuOp::Rsqrt),
            AluOp::fexp2 => sfu(SfuOp::Exp2),
            AluOp::flog2 => sfu(SfuOp::Log2),
            AluOp::ffloor if !sat => sfu(SfuOp::Floor),
            AluOp::fceil if !sat => sfu(SfuOp::Ceil),
            AluOp::ftrunc if !sat => sfu(SfuOp::Trunc),
            AluOp::fround_even if !sat => sfu(SfuOp::RoundEven),
            _ => None,
        };
        if let Some(op) = sfu_op {
            let a = self.float(alu, 0)?;
            return Ok(Some(self.sfu(op, SfuType::F32, a, sat)));
        }
        Ok(Some(match alu.op {
            AluOp::fadd | AluOp::fmul => {
                let op = if alu.op == AluOp::fadd {
                    AddMul::Add
                } else {
                    AddMul::Mul
                };
                let (a, b) = (self.float(alu, 0)?, self.float(alu, 1)?);
                self.f2(op, a, b, sat)
            }
            AluOp::fsub => {
                let (a, b) = (self.float(alu, 0)?, self.float(alu, 1)?);
                self.f2(AddMul::Add, a, b.negated(), sat)
            }
            AluOp::ffma => {
                let (a, b) = (self.float(alu, 0)?, self.float(alu, 1)?);
                let c = self.float(alu, 2)?;
                self.make(|dst| Fma {
                    dst: dst.into(),
                    a,
                    b,
                    c,
                    sat,
                })
            }
            AluOp::fsqrt => {
                let a = self.float(alu, 0)?;
                let factor = self.sfu(SfuOp::SqrtFactor, SfuType::F32, a, false);
                self.f2(AddMul::Mul, a, factor, sat)
            }
            AluOp::fsin_agx => {
                let a = self.float(alu, 0)?;
                let factor = self.sfu(SfuOp::SinFactor, SfuType::F32, a, false);
                self.f2(AddMul::Mul, a, factor, sat)
            }
            _ if sat => return Ok(None),
            AluOp::fmin | AluOp::fmax => {
                let op = if alu.op == AluOp::fmin {
                    MinMaxOp::FMin
                } else {
                    MinMaxOp::FMax
                };
                let (mut a, mut b) = (self.float(alu, 0)?, self.float(alu, 1)?);
                if a.is_modified() {
                    (a, b) = (b, a);
                }
                // One negated operand is all that the form holds.
                if a.is_modified() {
                    a = self.unmodified(a);
                }
                if b.abs {
                    b = self.unmodified(b);
                }
                self.make(|dst| MinMax {
                    dst: dst.into(),
                    a,
                    b,
                    op,
                })
            }
            AluOp::fneg => {
                let a = self.src(alu, 0)?;
                self.logic(LogicOp::Xor, a, Src::imm(SIGN))
            }
            AluOp::fabs => {
                let a = self.src(alu, 0)?;
                self.logic(LogicOp::And, a, Src::imm(!SIGN))
            }
            _ => return Ok(None),
        }))
    }

    /// The value of an fp32 operand with its modifiers applied.
    pub(super) fn unmodified(&mut self, src: Src) -> Src {
        let plain = Src::new(src.from);
        match (src.neg, src.abs) {
            (false, false) => src,
            (true, false) => self.logic(LogicOp::Xor, plain, Src::imm(SIGN)),
            (false, true) => self.logic(LogicOp::And, plain, Src::imm(!SIGN)),
            (true, true) => self.logic(LogicOp::Or, plain, Src::imm(SIGN)),
        }
    }

    pub(super) fn sfu(&mut self, op: SfuOp, ty: SfuType, a: Src, sat: bool) -> Src {
        self.make(|dst| Sfu {
            dst: dst.into(),
            a,
            op,
            ty,
            sat,
        })
    }

    /// Saturation is a modifier of the operation that makes the value, if nothing else reads that value.
    fn saturate(&mut self, alu: &Alu) -> Result<bool, Error> {
        if let Some(inner) = self.source_alu(&alu.srcs[0])
            && self.use_count(inner.def.id) == 1
            && inner.def.bits == 32
            && let Some(result) = self.single_result(inner, true)?
        {
            self.define(&alu.def, [result]);
            return Ok(true);
        }
        let a = self.float(alu, 0)?;
        self.result(&alu.def, |dst| F2 {
            dst: dst.into(),
            a: Src::float(0.0),
            b: a,
            op: AddMul::Add,
            sat: true,
        });
        Ok(true)
    }

    /// 64-bit integers: what the front end leaves of them.
    fn wide(&mut self, alu: &Alu) -> Result<bool, Error> {
        let words = match alu.op {
            AluOp::iadd | AluOp::isub => {
                let (a, b) = (self.pair(alu, 0)?, self.pair(alu, 1)?);
                self.add64(a, b, alu.op == AluOp::isub).to_vec()
            }
            AluOp::pack_64_2x32_split => vec![self.src(alu, 0)?, self.src(alu, 1)?],
            AluOp::unpack_64_2x32_split_x => vec![self.pair(alu, 0)?[0]],
            AluOp::unpack_64_2x32_split_y => vec![self.pair(alu, 0)?[1]],
            AluOp::imul_2x32_64 | AluOp::umul_2x32_64 => {
                let (a, b) = (self.src(alu, 0)?, self.src(alu, 1)?);
                self.mul_wide(a, b, alu.op == AluOp::imul_2x32_64).to_vec()
            }
            AluOp::u2u64 => {
                let from = self.bits(alu.srcs[0].def);
                let src = self.src(alu, 0)?;
                vec![self.zero_extend(src, from), Src::imm(0)]
            }
            AluOp::i2i64 => {
                let from = self.bits(alu.srcs[0].def);
                let src = self.src(alu, 0)?;
                let low = self.sign_extend(src, from);
                vec![low, self.shift_imm(ShiftOp::Asr, low, 31)]
            }
            AluOp::bcsel => {
                let cond = self.bool_operand(alu)?;
                let (t, f) = (self.pair(alu, 1)?, self.pair(alu, 2)?);
                vec![self.select(cond, t[0], f[0]), self.select(cond, t[1], f[1])]
            }
            _ => return Ok(false),
        };
        self.define(&alu.def, words);
        Ok(true)
    }

    pub(super) fn add64(&mut self, a: [Src; 2], b: [Src; 2], sub: bool) -> [Src; 2] {
        let (low, high) = (self.function.value(), self.function.value());
        self.emit(IAdd64 {
            dst: [low.into(), high.into()],
            a,
            b,
            sub,
        });
        [low.into(), high.into()]
    }

    fn mul_wide(&mut self, a: Src, b: Src, signed: bool) -> [Src; 2] {
        let (low, high) = (self.function.value(), self.function.value());
        self.emit(IMulWide {
            dst: [low.into(), high.into()],
            a,
            b,
            signed,
        });
        [low.into(), high.into()]
    }

    /// Integers of up to 32 bits, Booleans, and selects of anything that is one word.
    fn integer(&mut self, alu: &Alu) -> Result<bool, Error> {
        let def = &alu.def;
        let minmax = match alu.op {
            AluOp::imin => Some(MinMaxOp::IMin),
            AluOp::imax => Some(MinMaxOp::IMax),
            AluOp::umin => Some(MinMaxOp::UMin),
            AluOp::umax => Some(MinMaxOp::UMax),
            _ => None,
        };
        // Any width: what differs in the bits above does not matter to bit operations.
        let any_width = matches!(
            alu.op,
            AluOp::bcsel | AluOp::iand | AluOp::ior | AluOp::ixor | AluOp::inot
        );
        if !any_width && def.bits != 32 {
            return Ok(false);
        }
        let result = match alu.op {
            _ if minmax.is_some() => {
                let (a, b) = (self.src(alu, 0)?, self.src(alu, 1)?);
                let op = minmax.unwrap_or(MinMaxOp::IMin);
                self.make(|dst| MinMax {
                    dst: dst.into(),
                    a,
                    b,
                    op,
                })
            }
            AluOp::bcsel => {
                let cond = self.bool_operand(alu)?;
                let (t, f) = (self.src(alu, 1)?, self.src(alu, 2)?);
                self.select(cond, t, f)
            }
            AluOp::iand | AluOp::ior | AluOp::ixor => self.bitwise(alu)?,
            AluOp::inot => {
                let a = self.src(alu, 0)?;
                if def.bits == 1 {
                    self.logic(LogicOp::Xor, a, Src::imm(1))
                } else {
                    self.not(a)
                }
            }
            AluOp::iadd => self.add(alu)?,
            AluOp::isub => {
                let (a, b) = (self.src(alu, 0)?, self.src(alu, 1)?);
                self.isub(a, b)
            }
            AluOp::ineg => {
                let a = self.src(alu, 0)?;
                self.isub(Src::imm(0), a)
            }
            AluOp::iabs => {
                let a = self.src(alu, 0)?;
                let b = self.isub(Src::imm(0), a);
                self.make(|dst| MinMax {
                    dst: dst.into(),
                    a,
                    b,
                    op: MinMaxOp::IMax,
                })
            }
            AluOp::imul | AluOp::amul | AluOp::umul_32x16 | AluOp::imul_32x16 => {
                if !matches!(alu.op, AluOp::imul | AluOp::amul) {
                    return Ok(false);
                }
                let (a, b) = (self.src(alu, 0)?, self.src(alu, 1)?);
                self.imad(a, b, Src::imm(0))
            }
            AluOp::imul_high | AluOp::umul_high => {
                let (a, b) = (self.src(alu, 0)?, self.src(alu, 1)?);
                self.mul_wide(a, b, alu.op == AluOp::imul_high)[1]
            }
            AluOp::ishl => self.shift(alu, ShiftOp::Shl)?,
            AluOp::ushr => self.shift(alu, ShiftOp::Shr)?,
            AluOp::ishr => self.shift(alu, ShiftOp::Asr)?,
            AluOp::urol | AluOp::uror => return self.rotate(alu),
            AluOp::bit_count => self.count(alu, BitOp::PopCount)?,
            AluOp::ufind_msb => self.count(alu, BitOp::FindMsb)?,
            AluOp::bitfield_reverse => self.count(alu, BitOp::Reverse)?,
            AluOp::extract_u8 | AluOp::extract_i8 | AluOp::extract_u16 | AluOp::extract_i16 => {
                return self.extract(alu);
            }
            _ => return Ok(false),
        };
        self.define(def, [result]);
        Ok(true)
    }

    pub(super) fn isub(&mut self, a: Src, b: Src) -> Src {
        self.make(|dst| IAdd {
            dst: dst.into(),
            a,
            b,
            sub: true,
        })
    }

    pub(super) fn imad(&mut self, a: Src, b: Src, c: Src) -> Src {
        self.make(|dst| IMad {
            dst: dst.into(),
            a,
            b,
            c,
        })
    }

    pub(super) fn not(&mut self, a: Src) -> Src {
        self.make(|dst| Logic {
            dst: dst.into(),
            a,
            b: a,
            op: LogicOp::Nor,
        })
    }

    /// An addition takes a multiplication that nothing else reads with it.
    fn add(&mut self, alu: &Alu) -> Result<Src, Error> {
        for (product, other) in [(0, 1), (1, 0)] {
            if let Some(inner) = self.source_alu(&alu.srcs[product])
                && matches!(inner.op, AluOp::imul | AluOp::amul)
                && inner.def.bits == 32
                && self.use_count(inner.def.id) == 1
            {
                let (a, b) = (self.src(inner, 0)?, self.src(inner, 1)?);
                let c = self.src(alu, other)?;
                return Ok(self.imad(a, b, c));
            }
        }
        let (a, b) = (self.src(alu, 0)?, self.src(alu, 1)?);
        Ok(self.iadd(a, b))
    }

    /// Boolean "and" and "or" with a comparison that nothing else reads: a select on it, which the comparison is part of.
    fn conditional(&mut self, alu: &Alu) -> Result<Option<Src>, Error> {
        if alu.def.bits != 1 || !matches!(alu.op, AluOp::iand | AluOp::ior) {
            return Ok(None);
        }
        for (folded, other) in [(1, 0), (0, 1)] {
            let Some(inner) = self.source_alu(&alu.srcs[folded]) else {
                continue;
            };
            if self.use_count(inner.def.id) == 1
                && let Some(cond) = self.comparison(inner, true)?
            {
                let rest = self.src(alu, other)?;
                let result = if alu.op == AluOp::iand {
                    self.select(cond, rest, Src::imm(0))
                } else {
                    self.select(cond, Src::imm(1), rest)
                };
                return Ok(Some(result));
            }
        }
        Ok(None)
    }

    /// And, or, exclusive or; a complemented operand becomes part of the truth table.
    fn bitwise(&mut self, alu: &Alu) -> Result<Src, Error> {
        if let Some(result) = self.conditional(alu)? {
            return Ok(result);
        }
        let (plain, with_not) = match alu.op {
            AluOp::iand => (LogicOp::And, Some(LogicOp::AndNot)),
            AluOp::ior => (LogicOp::Or, Some(LogicOp::OrNot)),
            _ => (LogicOp::Xor, None),
        };
        for (inverted, other) in [(1, 0), (0, 1)] {
            if let Some(op) = with_not
                && alu.def.bits == 32
                && let Some(inner) = self.source_alu(&alu.srcs[inverted])
                && inner.op == AluOp::inot
            {
                let (a, b) = (self.src(alu, other)?, self.src(inner, 0)?);
                return Ok(self.logic(op, a, b));
            }
        }
        let (a, b) = (self.src(alu, 0)?, self.src(alu, 1)?);
        Ok(self.logic(plain, a, b))
    }

    fn count(&mut self, alu: &Alu, op: BitOp) -> Result<Src, Error> {
        let a = self.src(alu, 0)?;
        Ok(self.make(|dst| Bits {
            dst: dst.into(),
            a,
            op,
        }))
    }

    /// NIR takes the amount modulo 32; the hardware its low 16 bits (isa-1, 4.13).
    fn shift(&mut self, alu: &Alu, op: ShiftOp) -> Result<Src, Error> {
        let a = self.src(alu, 0)?;
        if let Some(amount) = self.known_src(alu, 1) {
            return Ok(self.shift_imm(op, a, (amount & 31) as u8));
        }
        let bounded = self.source_alu(&alu.srcs[1]).is_some_and(|inner| {
            inner.op == AluOp::iand
                && (0..2).any(|i| self.known_src(inner, i).is_some_and(|v| v <= 31))
        });
        let mut b = self.src(alu, 1)?;
        if !bounded {
            b = self.logic(LogicOp::And, b, Src::imm(31));
        }
        Ok(self.make(|dst| Shift {
            dst: dst.into(),
            a,
            b,
            op,
        }))
    }

    fn rotate(&mut self, alu: &Alu) -> Result<bool, Error> {
        let a = self.src(alu, 0)?;
        let left = alu.op == AluOp::urol;
        let result = match self.known_src(alu, 1) {
            Some(amount) => {
                let amount = (amount & 31) as u8;
                let amount = if left { (32 - amount) & 31 } else { amount };
                if amount == 0 {
                    a
                } else {
                    self.make(|dst| Rotate {
                        dst: dst.into(),
                        a,
                        amount,
                    })
                }
            }
            None => {
                let amount = self.src(alu, 1)?;
                let there = self.logic(LogicOp::And, amount, Src::imm(31));
                let back = self.isub(Src::imm(0), amount);
                let back = self.logic(LogicOp::And, back, Src::imm(31));
                let (l, r) = if left { (there, back) } else { (back, there) };
                let shift = |this: &mut Self, op, b| {
                    this.make(|dst| Shift {
                        dst: dst.into(),
                        a,
                        b,
                        op,
                    })
                };
                let up = shift(self, ShiftOp::Shl, l);
                let down = shift(self, ShiftOp::Shr, r);
                self.logic(LogicOp::Or, up, down)
            }
        };
        self.define(&alu.def, [result]);
        Ok(true)
    }

    /// Byte or half-word `srcs[1]` of a word.
    fn extract(&mut self, alu: &Alu) -> Result<bool, Error> {
        let Some(index) = self.known_src(alu, 1) else {
            return Ok(false);
        };
        let a = self.src(alu, 0)?;
        let width: u8 = match alu.op {
            AluOp::extract_u8 | AluOp::extract_i8 => 8,
            _ => 16,
        };
        let low = (index as u8).wrapping_mul(width) & 31;
        let result = if matches!(alu.op, AluOp::extract_u8 | AluOp::extract_u16) {
            let moved = self.shift_imm(ShiftOp::Shr, a, low);
            if low + width == 32 {
                moved
            } else {
                self.zero_extend(moved, width)
            }
        } else {
            let moved = self.shift_imm(ShiftOp::Shl, a, 32 - low - width);
            self.shift_imm(ShiftOp::Asr, moved, 32 - width)
        };
        self.define(&alu.def, [result]);
        Ok(true)
    }
}

fn mask(bits: u8) -> u32 {
    if bits >= 32 { !0 } else { (1 << bits) - 1 }
}

/// Operations on floats whose operands and result have one width.
fn is_float(op: AluOp) -> bool {
    matches!(
        op,
        AluOp::fadd
            | AluOp::fsub
            | AluOp::fmul
            | AluOp::ffma
            | AluOp::fmin
            | AluOp::fmax
            | AluOp::frcp
            | AluOp::frsq
            | AluOp::fsqrt
            | AluOp::fexp2
            | AluOp::flog2
            | AluOp::ffloor
            | AluOp::fceil
            | AluOp::ftrunc
            | AluOp::fround_even
            | AluOp::fabs
            | AluOp::fneg
            | AluOp::fsat
            | AluOp::fdiv
            | AluOp::fsin_agx
    )
}

fn unsupported(alu: &Alu) -> Error {
    Error::unsupported(format!(
        "NIR's {:?} with {} components of {} bits",
        alu.op, alu.def.components, alu.def.bits
    ))
}
