// SPDX-License-Identifier: MIT
//! What register form means: an interpreter, one lane at a time, in program order, with every result there at once.
//!
//! Arithmetic is IEEE in f64 rounded once, with the flushing, the NaNs and the ties of isa-4, 11.2.

use crate::ir::*;

pub(super) const LANES: usize = 32;
const SIGN: u32 = 1 << 31;
const NAN32: u32 = 0x7fc0_0000;
const NAN16: u32 = 0x7e00;

/// A subgroup, its memory, and device memory from address 0 of `memory` on.
#[derive(Clone)]
pub(super) struct Model {
    pub(super) regs: Vec<[u32; LANES]>,
    pub(super) uniforms: Vec<u32>,
    /// Device memory, which begins at `base`.
    pub(super) memory: Vec<u8>,
    pub(super) base: u64,
    pub(super) shared: Vec<u32>,
    pub(super) scratch: Vec<[u32; LANES]>,
    /// Lanes that exist.
    pub(super) lanes: u32,
}

fn flush(bits: u32) -> u32 {
    if bits & 0x7f80_0000 == 0 {
        bits & SIGN
    } else {
        bits
    }
}

fn single(bits: u32) -> f64 {
    f64::from(f32::from_bits(flush(bits)))
}

/// A result of fp32 arithmetic that f64 holds exactly, or to within what rounding to odd saves.
fn rounded(value: f64) -> u32 {
    let value = value as f32;
    if value.is_nan() {
        NAN32
    } else {
        flush(value.to_bits())
    }
}

fn saturated(bits: u32) -> u32 {
    let value = f32::from_bits(bits);
    if value >= 1.0 {
        1f32.to_bits()
    } else if value > 0.0 {
        bits
    } else {
        0
    }
}

fn maybe_saturated(bits: u32, sat: bool) -> u32 {
    if sat { saturated(bits) } else { bits }
}

/// The sum in f64 with its last bit saying that something was lost: rounding that to fewer bits is rounding once.
fn odd_sum(a: f64, b: f64) -> f64 {
    let sum = a + b;
    if !sum.is_finite() {
        return sum;
    }
    let bb = sum - a;
    let error = (a - (sum - bb)) + (b - bb);
    if error == 0.0 || sum.to_bits() & 1 == 1 {
        return sum;
    }
    let away = (error > 0.0) == (sum > 0.0);
    f64::from_bits(if away {
        sum.to_bits() + 1
    } else {
        sum.to_bits() - 1
    })
}

pub(super) fn widen(half: u32) -> f64 {
    let (sign, e, m) = (half >> 15 & 1, half >> 10 & 31, f64::from(half & 0x3ff));
    let magnitude = match e {
        0 => m * 2f64.powi(-24),
        31 if m == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + m) * 2f64.powi(e as i32 - 25),
    };
    if sign == 1 { -magnitude } else { magnitude }
}

pub(super) fn narrow(value: f64) -> u32 {
    if value.is_nan() {
        return NAN16;
    }
    let sign = u32::from(value.is_sign_negative()) << 15;
    let magnitude = value.abs();
    if magnitude >= 65520.0 {
        return sign | 0x7c00;
    }
    let mut exponent = -14;
    while exponent < 15 && magnitude >= 2f64.powi(exponent + 1) {
        exponent += 1;
    }
    let units = (magnitude / 2f64.powi(exponent - 10)).round_ties_even() as u32;
    // A carry into the next power of two falls into place.
    sign | (units + ((exponent + 14) as u32 * 1024))
}

fn modified(bits: u32, src: &Src, sign: u32) -> u32 {
    let bits = if src.abs { bits & !sign } else { bits };
    if src.neg { bits ^ sign } else { bits }
}

fn f32_minmax(a: u32, b: u32, greater: bool) -> u32 {
    let (x, y) = (single(a), single(b));
    match (x.is_nan(), y.is_nan()) {
        (true, true) => NAN32,
        (true, false) => b,
        (false, true) => a,
        _ if (greater && x > y) || (!greater && x < y) => a,
        _ => b,
    }
}

fn f16_minmax(a: u32, b: u32, greater: bool) -> u32 {
    let (x, y) = (widen(a & 0xffff), widen(b & 0xffff));
    match (x.is_nan(), y.is_nan()) {
        (true, true) => NAN16,
        (true, false) => b & 0xffff,
        (false, true) => a & 0xffff,
        _ if (greater && x > y) || (!greater && x < y) => a & 0xffff,
        _ => b & 0xffff,
    }
}

pub(super) fn compare(cmp: Cmp, half: bool, a: u32, b: u32) -> bool {
    let (x, y) = if half {
        (widen(a & 0xffff), widen(b & 0xffff))
    } else {
        (single(a), single(b))
    };
    let (i, j) = (a as i32, b as i32);
    match cmp {
        Cmp::FGt => x > y,
        Cmp::FLt => x < y,
        Cmp::FEq => x == y,
        Cmp::FGe => x >= y,
        Cmp::FLe => x <= y,
        Cmp::UGt => a > b,
        Cmp::ULt => a < b,
        Cmp::IGt => i > j,
        Cmp::ILt => i < j,
        Cmp::IEq => a == b,
    }
}

fn logic(op: LogicOp, a: u32, b: u32) -> u32 {
    match op {
        LogicOp::And => a & b,
        LogicOp::Or => a | b,
        LogicOp::Xor => a ^ b,
        LogicOp::Nand => !(a & b),
        LogicOp::Nor => !(a | b),
        LogicOp::Xnor => !(a ^ b),
        LogicOp::AndNot => a & !b,
        LogicOp::OrNot => a | !b,
    }
}

fn shifted(op: ShiftOp, a: u32, amount: u32) -> u32 {
    match op {
        ShiftOp::Shl if amount < 32 => a << amount,
        ShiftOp::Shr if amount < 32 => a >> amount,
        ShiftOp::Shl | ShiftOp::Shr => 0,
        ShiftOp::Asr => (a as i32 >> amount.min(31)) as u32,
    }
}

fn norm(bits: u32, signed: bool, width: u32) -> u32 {
    let value = f64::from(f32::from_bits(bits));
    let value = if value.is_nan() { 0.0 } else { value };
    let scale = f64::from((1u32 << (width - u32::from(signed))) - 1);
    let low = if signed { -1.0 } else { 0.0 };
    let scaled = (value.clamp(low, 1.0) * scale).round_ties_even();
    (scaled as i32 as u32) & ((1 << width) - 1)
}

fn unnorm(bits: u32, norm: Norm) -> u32 {
    let (width, signed) = match norm {
        Norm::Unorm16 => (16, false),
        Norm::Unorm8 => (8, false),
        Norm::Snorm16 => (16, true),
        Norm::Snorm8 => (8, true),
    };
    let bits = bits & ((1 << width) - 1);
    let value = if signed {
        let value = ((bits << (32 - width)) as i32) >> (32 - width);
        (f64::from(value) / f64::from((1u32 << (width - 1)) - 1)).max(-1.0)
    } else {
        f64::from(bits) / f64::from((1u32 << width) - 1)
    };
    (value as f32).to_bits()
}

/// A special function; `None` where the reference gives no exact result.
pub(super) fn special(op: SfuOp, x: f64) -> f64 {
    match op {
        SfuOp::Rcp => 1.0 / x,
        SfuOp::Rsqrt => 1.0 / x.sqrt(),
        SfuOp::SqrtFactor if x == 0.0 || x == f64::INFINITY => 1.0,
        SfuOp::SqrtFactor => 1.0 / x.sqrt(),
        SfuOp::Exp2 => x.exp2(),
        SfuOp::Log2 => x.log2(),
        SfuOp::SinFactor if x == 0.0 => std::f64::consts::FRAC_PI_2,
        SfuOp::SinFactor => (std::f64::consts::FRAC_PI_2 * x).sin() / x,
        SfuOp::RoundEven => x.round_ties_even(),
        SfuOp::Floor => x.floor(),
        SfuOp::Ceil => x.ceil(),
        SfuOp::Trunc => x.trunc(),
    }
}

fn atomic(op: AtomicOp, old: u32, data: u32, compare: u32) -> u32 {
    match op {
        AtomicOp::Add => old.wrapping_add(data),
        AtomicOp::Sub => old.wrapping_sub(data),
        AtomicOp::And => old & data,
        AtomicOp::Or => old | data,
        AtomicOp::Xor => old ^ data,
        AtomicOp::IMax => (old as i32).max(data as i32) as u32,
        AtomicOp::IMin => (old as i32).min(data as i32) as u32,
        AtomicOp::UMax => old.max(data),
        AtomicOp::UMin => old.min(data),
        AtomicOp::Exchange => data,
        AtomicOp::CompareExchange => {
            if old == compare {
                data
            } else {
                old
            }
        }
        AtomicOp::FAdd => rounded(single(old) + single(data)),
    }
}

fn combine(op: ReduceOp, a: u32, b: u32) -> u32 {
    match op {
        ReduceOp::IAdd => a.wrapping_add(b),
        ReduceOp::And => a & b,
        ReduceOp::Or => a | b,
        ReduceOp::Xor => a ^ b,
        ReduceOp::IMax => (a as i32).max(b as i32) as u32,
        ReduceOp::IMin => (a as i32).min(b as i32) as u32,
        ReduceOp::UMax => a.max(b),
        ReduceOp::UMin => a.min(b),
        ReduceOp::FAdd => rounded(single(a) + single(b)),
        ReduceOp::FMul => rounded(single(a) * single(b)),
    }
}

fn identity(op: ReduceOp) -> u32 {
    match op {
        ReduceOp::And | ReduceOp::UMin => !0,
        ReduceOp::IMax => i32::MIN as u32,
        ReduceOp::IMin => i32::MAX as u32,
        ReduceOp::FMul => 1f32.to_bits(),
        _ => 0,
    }
}

fn reg(dst: Dst) -> usize {
    usize::from(dst.reg().expect("register form"))
}

impl Model {
    pub(super) fn new(base: u64, memory: usize) -> Model {
        Model {
            regs: vec![[0; LANES]; 96],
            uniforms: vec![0; 256],
            memory: vec![0; memory],
            base,
            shared: vec![0; 1024],
            scratch: vec![[0; LANES]; 256],
            lanes: !0,
        }
    }

    pub(super) fn pointer(&mut self, pair: u8, address: u64) {
        self.uniforms[2 * usize::from(pair)] = address as u32;
        self.uniforms[2 * usize::from(pair) + 1] = (address >> 32) as u32;
    }

    /// An operand without its modifiers.
    fn raw(&self, src: &Src, lane: usize) -> u32 {
        let bits = match src.from {
            Ref::Reg(reg) => self.regs[usize::from(reg)][lane],
            Ref::Uniform(word) => self.uniforms[usize::from(word)],
            Ref::Imm(bits) => bits,
            Ref::Value(_) => panic!("not in register form"),
        };
        bits >> if src.high { 16 } else { 0 }
    }

    /// A 32-bit operand.
    fn get(&self, src: &Src, lane: usize) -> u32 {
        modified(self.raw(src, lane), src, SIGN)
    }

    /// An fp16 operand.
    fn half(&self, src: &Src, lane: usize) -> u32 {
        modified(self.raw(src, lane) & 0xffff, src, 0x8000)
    }

    pub(super) fn holds(&self, cond: &Cond, lane: usize) -> bool {
        let (a, b) = if cond.half {
            (self.half(&cond.a, lane), self.half(&cond.b, lane))
        } else {
            (self.get(&cond.a, lane), self.get(&cond.b, lane))
        };
        compare(cond.cmp, cond.half, a, b) ^ cond.invert
    }

    fn set(&mut self, dst: Dst, lane: usize, value: u32) {
        self.regs[reg(dst)][lane] = value;
    }

    fn set_half(&mut self, dst: Dst, lane: usize, value: u32, high: bool) {
        let old = &mut self.regs[reg(dst)][lane];
        *old = if high {
            *old & 0xffff | value << 16
        } else {
            *old & 0xffff_0000 | value & 0xffff
        };
    }

    fn address(&self, base: &Base, lane: usize) -> u64 {
        let (low, high) = match base {
            Base::Pair(pair) => {
                let word = 2 * usize::from(*pair);
                (self.uniforms[word], self.uniforms[word + 1])
            }
            Base::Regs([low, high]) => (self.get(low, lane), self.get(high, lane)),
        };
        u64::from(low) | u64::from(high) << 32
    }

    fn place(&self, address: u64, size: u64) -> usize {
        usize::try_from((address & !(size - 1)) - self.base).expect("inside of the buffer")
    }

    fn load_bytes(&self, address: u64, size: u64) -> u32 {
        let at = self.place(address, size);
        let mut word = [0; 4];
        word[..size as usize].copy_from_slice(&self.memory[at..at + size as usize]);
        u32::from_le_bytes(word)
    }

    fn store_bytes(&mut self, address: u64, size: u64, value: u32) {
        let at = self.place(address, size);
        self.memory[at..at + size as usize].copy_from_slice(&value.to_le_bytes()[..size as usize]);
    }

    /// One operation for these lanes.
    pub(super) fn step(&mut self, instr: &Instr, mask: u32) {
        let before = self.clone_registers_if_crossing(instr);
        for lane in (0..LANES).filter(|lane| mask >> lane & 1 == 1) {
            self.lane(instr, lane, mask, &before);
        }
    }

    fn clone_registers_if_crossing(&self, instr: &Instr) -> Vec<[u32; LANES]> {
        if instr.is_subgroup() {
            self.regs.clone()
        } else {
            Vec::new()
        }
    }

    fn lane(&mut self, instr: &Instr, lane: usize, mask: u32, before: &[[u32; LANES]]) {
        match instr {
            Instr::Mov(op) => {
                let value = self.raw(&op.src, lane);
                self.set(op.dst, lane, value);
            }
            Instr::Imm(op) => self.set(op.dst, lane, op.value),
            Instr::SysReg(op) => {
                // The rig: one subgroup of a workgroup of 32 at the origin.
                let value = match op.number {
                    0x82 | 0xa0 | 0xa4 | 0xa7 => lane as u32,
                    0x98 => 32,
                    0x99 | 0x9a => 1,
                    0x85 | 0x9c..=0x9e | 0xa1 | 0xa2 | 0xa5 | 0xa6 => 0,
                    other => panic!("system register {other:#x} is not modelled"),
                };
                self.set(op.dst, lane, value);
            }
            Instr::F2(op) => {
                let (a, b) = (single(self.get(&op.a, lane)), single(self.get(&op.b, lane)));
                let value = rounded(match op.op {
                    AddMul::Add => odd_sum(a, b),
                    AddMul::Mul => a * b,
                });
                self.set(op.dst, lane, maybe_saturated(value, op.sat));
            }
            Instr::Fma(op) => {
                let (a, b) = (single(self.get(&op.a, lane)), single(self.get(&op.b, lane)));
                let c = single(self.get(&op.c, lane));
                let value = rounded(odd_sum(a * b, c));
                self.set(op.dst, lane, maybe_saturated(value, op.sat));
            }
            Instr::MinMax(op) => {
                let (a, b) = (self.get(&op.a, lane), self.get(&op.b, lane));
                let value = match op.op {
                    MinMaxOp::FMax => f32_minmax(a, b, true),
                    MinMaxOp::FMin => f32_minmax(a, b, false),
                    MinMaxOp::UMax => a.max(b),
                    MinMaxOp::UMin => a.min(b),
                    MinMaxOp::IMax => (a as i32).max(b as i32) as u32,
                    MinMaxOp::IMin => (a as i32).min(b as i32) as u32,
                };
                self.set(op.dst, lane, value);
            }
            Instr::H2(op) => {
                let (a, b) = (widen(self.half(&op.a, lane)), widen(self.half(&op.b, lane)));
                let value = match op.op {
                    AddMul::Add => a + b,
                    AddMul::Mul => a * b,
                };
                self.set_half(op.dst, lane, narrow(value), false);
            }
            Instr::HFma(op) => {
                let (a, b) = (widen(self.half(&op.a, lane)), widen(self.half(&op.b, lane)));
                let c = widen(self.half(&op.c, lane));
                self.set_half(op.dst, lane, narrow(odd_sum(a * b, c)), false);
            }
            Instr::HMinMax(op) => {
                let value = f16_minmax(self.half(&op.a, lane), self.half(&op.b, lane), op.max);
                self.set_half(op.dst, lane, value, false);
            }
            Instr::HMulMix(op) => {
                let value = single(self.get(&op.a, lane)) * widen(self.half(&op.b, lane));
                self.set_half(op.dst, lane, narrow(value), false);
            }
            Instr::Sfu(op) => {
                let x = match op.ty {
                    SfuType::F32 => single(self.get(&op.a, lane)),
                    _ => widen(self.half(&op.a, lane)),
                };
                let value = special(op.op, x);
                match op.ty {
                    SfuType::F16 => {
                        let clamped = if value > 0.0 { value.min(1.0) } else { 0.0 };
                        let value = if op.sat { clamped } else { value };
                        self.set_half(op.dst, lane, narrow(value), false);
                    }
                    _ => self.set(op.dst, lane, maybe_saturated(rounded(value), op.sat)),
                }
            }
            Instr::F32ToF16(op) => {
                let value = narrow(f64::from(f32::from_bits(self.get(&op.a, lane))));
                self.set_half(op.dst, lane, value, false);
            }
            Instr::F32ToF16High(op) => {
                let value = narrow(f64::from(f32::from_bits(self.get(&op.a, lane))));
                self.set_half(op.dst, lane, value, true);
            }
            Instr::F16ToF32(op) => {
                let bits = self.raw(&op.a, lane) >> (16 * u32::from(op.high));
                self.set(op.dst, lane, rounded(widen(bits & 0xffff)));
            }
            Instr::IntToFloat(op) => {
                let bits = self.raw(&op.a, lane);
                let value = if op.signed {
                    bits as i32 as f32
                } else {
                    bits as f32
                };
                self.set(op.dst, lane, value.to_bits());
            }
            Instr::FloatToInt(op) => {
                let value = f32::from_bits(self.raw(&op.a, lane));
                let value = if op.signed {
                    value as i32 as u32
                } else {
                    value as u32
                };
                self.set(op.dst, lane, value);
            }
            Instr::Logic(op) => {
                let value = logic(op.op, self.raw(&op.a, lane), self.raw(&op.b, lane));
                self.set(op.dst, lane, value);
            }
            Instr::IAdd(op) => {
                let (a, b) = (self.raw(&op.a, lane), self.raw(&op.b, lane));
                let value = if op.sub {
                    a.wrapping_sub(b)
                } else {
                    a.wrapping_add(b)
                };
                self.set(op.dst, lane, value);
            }
            Instr::IMad(op) => {
                let (a, b) = (self.raw(&op.a, lane), self.raw(&op.b, lane));
                let value = a.wrapping_mul(b).wrapping_add(self.raw(&op.c, lane));
                self.set(op.dst, lane, value);
            }
            Instr::IMulWide(op) => {
                let (a, b) = (self.raw(&op.a, lane), self.raw(&op.b, lane));
                let value = if op.signed {
                    (i64::from(a as i32) * i64::from(b as i32)) as u64
                } else {
                    u64::from(a) * u64::from(b)
                };
                self.set(op.dst[0], lane, value as u32);
                self.set(op.dst[1], lane, (value >> 32) as u32);
            }
            Instr::IAdd64(op) => {
                let pair = |this: &Model, srcs: &[Src; 2]| {
                    u64::from(this.raw(&srcs[0], lane)) | u64::from(this.raw(&srcs[1], lane)) << 32
                };
                let (a, b) = (pair(self, &op.a), pair(self, &op.b));
                let value = if op.sub {
                    a.wrapping_sub(b)
                } else {
                    a.wrapping_add(b)
                };
                self.set(op.dst[0], lane, value as u32);
                self.set(op.dst[1], lane, (value >> 32) as u32);
            }
            Instr::ShiftImm(op) => {
                let value = shifted(op.op, self.raw(&op.a, lane), op.amount.into());
                self.set(op.dst, lane, value);
            }
            Instr::Shift(op) => {
                let amount = self.raw(&op.b, lane) & 0xffff;
                let value = shifted(op.op, self.raw(&op.a, lane), amount);
                self.set(op.dst, lane, value);
            }
            Instr::Rotate(op) => {
                let value = self.raw(&op.a, lane).rotate_right(op.amount.into());
                self.set(op.dst, lane, value);
            }
            Instr::Bits(op) => {
                let a = self.raw(&op.a, lane);
                let value = match op.op {
                    BitOp::PopCount => a.count_ones(),
                    BitOp::FindMsb => 31u32.wrapping_sub(a.leading_zeros()),
                    BitOp::Reverse => a.reverse_bits(),
                };
                self.set(op.dst, lane, value);
            }
            Instr::Select(op) => {
                let get = |src: &Src| match op.half {
                    true => self.half(src, lane),
                    false => self.get(src, lane),
                };
                let chosen = compare(op.cmp, op.half, get(&op.a), get(&op.b));
                let value = self.get(if chosen { &op.t } else { &op.f }, lane);
                self.set(op.dst, lane, value);
            }
            Instr::PackNorm16(op) => {
                let value = norm(self.raw(&op.a, lane), op.signed, 16)
                    | norm(self.raw(&op.b, lane), op.signed, 16) << 16;
                self.set(op.dst, lane, value);
            }
            Instr::PackNorm8(op) => {
                let value = norm(self.raw(&op.a, lane), op.signed, 8)
                    | norm(self.raw(&op.b, lane), op.signed, 8) << 8;
                self.set_half(op.dst, lane, value, false);
            }
            Instr::PackNorm8High(op) => {
                let value = norm(self.raw(&op.a, lane), op.signed, 8)
                    | norm(self.raw(&op.b, lane), op.signed, 8) << 8;
                self.set_half(op.dst, lane, value, true);
            }
            Instr::UnpackNorm(op) => {
                let a = self.raw(&op.a, lane) >> (16 * u32::from(op.high));
                let width = match op.norm {
                    Norm::Unorm16 | Norm::Snorm16 => 16,
                    Norm::Unorm8 | Norm::Snorm8 => 8,
                };
                self.set(op.dst[0], lane, unnorm(a, op.norm));
                self.set(op.dst[1], lane, unnorm(a >> width, op.norm));
            }
            Instr::Load(op) => self.load(op, lane),
            Instr::LoadHigh(op) => {
                let at =
                    self.element_address(&op.base, op.index.as_ref(), op.shift, op.offset, lane);
                let value = self.load_bytes(at, 2);
                self.set_half(op.dst, lane, value, true);
            }
            Instr::Zext16(op) => {
                let value = self.raw(&op.a, lane) & 0xffff;
                self.set(op.dst, lane, value);
            }
            Instr::Store(op) => self.store(op, lane),
            Instr::Atomic(op) => {
                let index = u64::from(self.raw(&op.index, lane));
                let address = self.address(&op.base, lane) + 4 * index;
                let old = self.load_bytes(address, 4);
                let data = self.raw(&op.data[0], lane);
                let compare = op.data.get(1).map_or(0, |src| self.raw(src, lane));
                self.store_bytes(address, 4, atomic(op.op, old, data, compare));
                if let Some(dst) = op.dst {
                    self.set(dst, lane, old);
                }
            }
            Instr::SharedLoad(op) => {
                let index = self.raw(&op.index, lane) & 0xffff;
                self.set(op.dst, lane, self.shared[index as usize]);
            }
            Instr::SharedStore(op) => {
                let index = self.raw(&op.index, lane) & 0xffff;
                self.shared[index as usize] = self.raw(&op.data, lane);
            }
            Instr::ScratchLoad(op) => {
                let index = self.raw(&op.index, lane) + u32::from(op.offset);
                self.set(op.dst, lane, self.scratch[index as usize][lane]);
            }
            Instr::ScratchStore(op) => {
                let index = self.raw(&op.index, lane) + u32::from(op.offset);
                self.scratch[index as usize][lane] = self.raw(&op.data, lane);
            }
            Instr::Spill(op) => {
                self.scratch[usize::from(op.word)][lane] = self.raw(&op.src, lane);
            }
            Instr::Fill(op) => self.set(op.dst, lane, self.scratch[usize::from(op.word)][lane]),
            Instr::Ballot(op) => {
                let src = usize::from(op.src.reg().expect("a register"));
                let bit = |other: usize| u32::from(before[src][other] != 0) << other & mask;
                self.set(op.dst, lane, (0..LANES).map(bit).sum());
            }
            Instr::Shuffle(op) => {
                let src = usize::from(op.src.reg().expect("a register"));
                let from = usize::from(op.lane.reg().expect("a register"));
                self.set(
                    op.dst,
                    lane,
                    before[src][before[from][lane] as usize % LANES],
                );
            }
            Instr::ShuffleImm(op) => {
                let src = usize::from(op.src.reg().expect("a register"));
                let number = usize::from(op.lane);
                let from = if op.xor { lane ^ number } else { number };
                self.set(op.dst, lane, before[src][from]);
            }
            Instr::Reduce(op) => {
                let src = usize::from(op.src.reg().expect("a register"));
                let limit = if op.scan { lane } else { LANES };
                let values = (0..limit).filter(|other| mask >> other & 1 == 1);
                let float = matches!(op.op, ReduceOp::FAdd | ReduceOp::FMul);
                let through = |bits| if float { rounded(single(bits)) } else { bits };
                let values = values.map(|other| through(before[src][other]));
                let value = values.reduce(|a, b| combine(op.op, a, b));
                self.set(op.dst, lane, value.unwrap_or(identity(op.op)));
            }
            Instr::Barrier(_) => {}
            Instr::Publish(_) | Instr::Texture(_) | Instr::CubeFace(_) | Instr::CubeCoord(_) => {
                panic!("`{instr}`: this model has no texture unit")
            }
            Instr::PublishDepth(_)
            | Instr::Export(_)
            | Instr::VertexOut(_)
            | Instr::Iter(_)
            | Instr::IterFlat(_)
            | Instr::Project(_)
            | Instr::InterpPos(_)
            | Instr::Derivative(_)
            | Instr::TileAccess(_)
            | Instr::TileFence(_)
            | Instr::TileLoad(_)
            | Instr::TileStore(_)
            | Instr::Coverage(_)
            | Instr::DepthStore(_)
            | Instr::BlockStore(_) => panic!("`{instr}`: this model has no rasteriser"),
            Instr::Swap(op) => {
                let (x, y) = (reg(op.x), reg(op.y));
                let old = self.regs[x][lane];
                self.regs[x][lane] = self.regs[y][lane];
                self.regs[y][lane] = old;
            }
        }
    }

    fn element_address(
        &self,
        base: &Base,
        index: Option<&Src>,
        shift: u8,
        offset: i16,
        lane: usize,
    ) -> u64 {
        let index = index.map_or(0, |src| u64::from(self.raw(src, lane)));
        let address = self.address(base, lane).wrapping_add(index << shift);
        address.wrapping_add_signed(offset.into())
    }

    fn load(&mut self, op: &Load, lane: usize) {
        let at = self.element_address(&op.base, op.index.as_ref(), op.shift, op.offset, lane);
        match op.format {
            Format::I8 => {
                let value = self.load_bytes(at, 1);
                self.set_half(op.dst[0], lane, value, false);
            }
            Format::I16 => {
                let value = self.load_bytes(at, 2);
                self.set_half(op.dst[0], lane, value, false);
            }
            Format::I16x2 => {
                let value = self.load_bytes(at, 2) | self.load_bytes(at + 2, 2) << 16;
                self.set(op.dst[0], lane, value);
            }
            _ => {
                let words: Vec<u32> = (0..op.dst.len() as u64)
                    .map(|i| self.load_bytes(at + 4 * i, 4))
                    .collect();
                for (dst, word) in op.dst.iter().zip(words) {
                    self.set(*dst, lane, word);
                }
            }
        }
    }

    fn store(&mut self, op: &Store, lane: usize) {
        let at = self.element_address(&op.base, Some(&op.index), op.shift, op.offset, lane);
        let data = self.raw(&op.data[0], lane);
        match op.format {
            Format::I8 => self.store_bytes(at, 1, data),
            Format::I16 => self.store_bytes(at, 2, data),
            Format::I16x2 => {
                self.store_bytes(at, 2, data);
                self.store_bytes(at + 2, 2, data >> 16);
            }
            _ => {
                for (i, src) in (0..).zip(&op.data) {
                    let value = self.raw(src, lane);
                    self.store_bytes(at + 4 * i, 4, value);
                }
            }
        }
    }

    /// Runs a whole function, each lane by itself from begin to end: no operation of it may look at other lanes.
    pub(super) fn run(&mut self, function: &Function, limit: usize) {
        let lanes = self.lanes;
        for lane in (0..LANES).filter(|lane| lanes >> lane & 1 == 1) {
            let mut block = 0;
            let mut steps = 0;
            loop {
                let data = &function.blocks[block];
                for instr in &data.instrs {
                    self.step(instr, 1 << lane);
                }
                steps += 1;
                assert!(steps < limit, "the program does not end");
                block = match &data.end {
                    End::Next | End::EndElse | End::Loop { .. } => block + 1,
                    End::If {
                        cond, else_block, ..
                    } => {
                        if self.holds(cond, lane) {
                            block + 1
                        } else {
                            else_block.index()
                        }
                    }
                    End::EndThen { merge } => merge.index(),
                    End::EndLoop { header } => header.index(),
                    End::Break { exit, .. } => exit.index(),
                    End::Stop => break,
                };
            }
        }
    }
}
