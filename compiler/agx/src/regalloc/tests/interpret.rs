// SPDX-License-Identifier: MIT
//! Runs functions of either form, for one lane or for several that wait for each other, and records what they do to
//! memory.
//!
//! Moves, literals, integer additions, shifts, logic and conditions mean what they say, so that loops end. Everything
//! else is a hash of its operation, attributes and operands: any wrong operand changes the results, and nothing is ever
//! equal by luck of arithmetic. Results of 16 bits have garbage above them, which depends on where they are; operands of
//! 16 bits are read without it. Conversions of float width are each other's inverse.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::ir::{
    Base, Block, Cmp, Cond, Dst, End, Format, Function, Instr, LogicOp, Ref, SfuType, ShiftOp, Src,
};

/// The upper half of an fp32 number that was fp16.
const WIDE: u32 = 0xf16f;

/// What a run did: a number for each effect, in order.
pub(crate) type Trace = Vec<u64>;

struct Machine {
    values: Vec<u32>,
    registers: [u32; 96],
    scratch: Vec<u32>,
    trace: Trace,
    seed: u32,
}

impl Machine {
    fn new(function: &Function, seed: u32) -> Machine {
        Machine {
            values: vec![0xbad0_0001; function.num_values as usize],
            registers: std::array::from_fn(|i| 0xbad1_0000 + i as u32),
            scratch: vec![0xbad2_0003; 8192],
            trace: Vec::new(),
            seed,
        }
    }

    /// What a lane does that comes from one block into another; the next block, `None` at the end.
    fn block(&mut self, function: &Function, from: Option<Block>, at: Block) -> Option<Block> {
        let data = &function.blocks[at.index()];
        let edge = data
            .preds
            .iter()
            .position(|p| Some(*p) == from)
            .unwrap_or(0);
        let chosen: Vec<u32> = data.phis.iter().map(|p| self.read(&p.srcs[edge])).collect();
        for (phi, value) in data.phis.iter().zip(chosen) {
            self.values[phi.dst.0 as usize] = value;
        }
        for instr in &data.instrs {
            self.step(instr);
        }
        let next = Block(at.0 + 1);
        match &data.end {
            End::Next | End::EndElse | End::Loop { .. } => Some(next),
            End::If {
                cond, else_block, ..
            } => Some(if self.holds(cond) { next } else { *else_block }),
            End::EndThen { merge } => Some(*merge),
            End::EndLoop { header } => Some(*header),
            End::Break { exit, .. } => Some(*exit),
            End::Stop => None,
        }
    }
}

/// Runs the function on inputs that the seed determines.
pub(crate) fn run(function: &Function, seed: u32) -> Result<Trace, String> {
    let mut machine = Machine::new(function, seed);
    let (mut from, mut at) = (None, Block(0));
    for _ in 0..50_000 {
        match machine.block(function, from, at) {
            Some(next) => (from, at) = (Some(at), next),
            None => return Ok(machine.trace),
        }
    }
    Err("it does not end".into())
}

/// The same for lanes with a seed each, in the order of the machine: blocks run one after the other, each for the lanes
/// that are there, even if there are none. What an instruction destroys is lost for the lanes that wait as well.
pub(crate) fn run_lanes(function: &Function, seeds: &[u32]) -> Result<Vec<Trace>, String> {
    let machine = |seed: &u32| (Machine::new(function, *seed), None, Some(Block(0)));
    let mut lanes: Vec<_> = seeds.iter().map(machine).collect();
    let mut at = Block(0);
    for _ in 0..50_000 {
        let data = &function.blocks[at.index()];
        // No lane reads what another wrote, so it is all the same in which order they run through a block.
        for (machine, from, next) in &mut lanes {
            if *next == Some(at) {
                *next = machine.block(function, *from, at);
                *from = Some(at);
            } else {
                data.instrs.iter().for_each(|i| machine.destroy(i));
            }
        }
        at = match data.end {
            End::Stop => return Ok(lanes.into_iter().map(|lane| lane.0.trace).collect()),
            End::EndLoop { header } if lanes.iter().any(|lane| lane.2 == Some(header)) => header,
            _ => Block(at.0 + 1),
        };
    }
    Err("it does not end".into())
}

fn mixed(parts: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    parts.hash(&mut hasher);
    hasher.finish()
}

impl Machine {
    fn read(&self, src: &Src) -> u32 {
        let mut bits = match src.from {
            Ref::Value(v) => self.values[v.0 as usize],
            Ref::Reg(r) => self.registers[r as usize],
            Ref::Uniform(u) => mixed(&("uniform", u, self.seed)) as u32,
            Ref::Imm(bits) => bits,
        };
        bits >>= if src.high { 16 } else { 0 };
        bits &= if src.abs { 0x7fff_ffff } else { u32::MAX };
        bits ^ if src.neg { 0x8000_0000 } else { 0 }
    }

    fn write(&mut self, dst: Dst, bits: u32) {
        match dst {
            Dst::Value(v) => self.values[v.0 as usize] = bits,
            Dst::Reg(r) => self.registers[r as usize] = bits,
        }
    }

    fn holds(&self, cond: &Cond) -> bool {
        let (a, b) = (self.read(&cond.a), self.read(&cond.b));
        let holds = match cond.cmp {
            Cmp::UGt => a > b,
            Cmp::ULt => a < b,
            Cmp::IEq => a == b,
            other => mixed(&(other, a, b)) & 1 == 0,
        };
        holds ^ cond.invert
    }

    /// Loses the operands that the instruction destroys.
    fn destroy(&mut self, instr: &Instr) {
        instr.for_each_src(|group, shape| {
            if shape.destroyed {
                for register in group.iter().filter_map(Src::reg) {
                    self.registers[register as usize] = 0xdead_0000 + u32::from(register);
                }
            }
        });
    }

    /// A result of 16 bits.
    fn write_half(&mut self, dst: Dst, half: u32) {
        let garbage = mixed(&("garbage", dst)) as u32;
        self.write(dst, garbage << 16 | half & 0xffff);
    }

    /// What an operand of 16 bits is.
    fn half(&self, src: &Src) -> u32 {
        let plain = Src {
            neg: false,
            abs: false,
            ..*src
        };
        self.read(&plain) & 0xffff | u32::from(src.neg) << 16 | u32::from(src.abs) << 17
    }

    /// Conversion of an fp32 number to fp16.
    fn narrowed(&self, bits: u32) -> u32 {
        match bits >> 16 {
            WIDE => bits & 0xffff,
            _ => mixed(&("narrow", bits, self.seed)) as u32 & 0xffff,
        }
    }

    /// 16 bits of memory.
    fn loaded(&self, base: &Base, index: Option<&Src>, shift: u8, offset: i16) -> u32 {
        let base: Vec<u32> = match base {
            Base::Pair(pair) => vec![u32::from(*pair)],
            Base::Regs(regs) => regs.iter().map(|s| self.read(s)).collect(),
        };
        let index = index.map(|s| self.read(s));
        let epoch = self.trace.len();
        mixed(&("load", base, index, shift, offset, epoch, self.seed)) as u32 & 0xffff
    }

    /// Operations on 16 bits, and what puts them together and apart; false for others.
    fn step_half(&mut self, instr: &Instr) -> bool {
        let high = |old: u32, half: u32| old & 0xffff | half << 16;
        match instr {
            Instr::F32ToF16(op) => {
                let half = self.narrowed(self.read(&op.a));
                self.write_half(op.dst, half);
            }
            Instr::F32ToF16High(op) => {
                let half = self.narrowed(self.read(&op.a));
                self.write(op.dst, high(self.read(&op.old), half));
            }
            Instr::F16ToF32(op) => {
                let half = self.read(&op.a) >> (16 * u32::from(op.high)) & 0xffff;
                self.write(op.dst, WIDE << 16 | half);
            }
            Instr::Load(op) if op.format == Format::I16 => {
                let half = self.loaded(&op.base, op.index.as_ref(), op.shift, op.offset);
                self.write_half(op.dst[0], half);
            }
            Instr::LoadHigh(op) => {
                let half = self.loaded(&op.base, op.index.as_ref(), op.shift, op.offset);
                self.write(op.dst, high(self.read(&op.old), half));
            }
            Instr::PackNorm8(op) => {
                let half = self.packed(&op.a, &op.b, op.signed);
                self.write_half(op.dst, half);
            }
            Instr::PackNorm8High(op) => {
                let half = self.packed(&op.a, &op.b, op.signed);
                self.write(op.dst, high(self.read(&op.old), half));
            }
            Instr::Zext16(op) => self.write(op.dst, self.read(&op.a) & 0xffff),
            Instr::ShiftImm(op) => {
                let bits = self.read(&op.a);
                let bits = match op.op {
                    ShiftOp::Shl => bits << op.amount,
                    ShiftOp::Shr => bits >> op.amount,
                    ShiftOp::Asr => (bits as i32 >> op.amount) as u32,
                };
                self.write(op.dst, bits);
            }
            Instr::Logic(op) => {
                let (a, b) = (self.read(&op.a), self.read(&op.b));
                let bits = match op.op {
                    LogicOp::And => a & b,
                    LogicOp::Or => a | b,
                    LogicOp::Xor => a ^ b,
                    LogicOp::Nand => !(a & b),
                    LogicOp::Nor => !(a | b),
                    LogicOp::Xnor => !(a ^ b),
                    LogicOp::AndNot => a & !b,
                    LogicOp::OrNot => a | !b,
                };
                self.write(op.dst, bits);
            }
            Instr::IAdd(op) if op.sub => {
                let bits = self.read(&op.a).wrapping_sub(self.read(&op.b));
                self.write(op.dst, bits);
            }
            Instr::IMad(op) => {
                let product = self.read(&op.a).wrapping_mul(self.read(&op.b));
                self.write(op.dst, product.wrapping_add(self.read(&op.c)));
            }
            Instr::H2(_) | Instr::HFma(_) | Instr::HMinMax(_) => {
                let mut operands = Vec::new();
                instr.for_each_src(|group, _| operands.extend(group.iter().map(|s| self.half(s))));
                let half = mixed(&(what(instr), operands, self.seed)) as u32;
                instr.for_each_dst(|group, _| self.write_half(group[0], half));
            }
            Instr::Sfu(op) if op.ty == SfuType::F16 => {
                let half = mixed(&(what(instr), self.half(&op.a), self.seed)) as u32;
                self.write_half(op.dst, half);
            }
            Instr::Select(op) => {
                let (a, b) = match op.half {
                    true => (self.half(&op.a), self.half(&op.b)),
                    false => (self.read(&op.a), self.read(&op.b)),
                };
                let first = mixed(&(op.cmp, a, b, self.seed)) & 1 == 0;
                let bits = self.read(if first { &op.t } else { &op.f });
                self.write(op.dst, bits);
            }
            Instr::Store(op) if op.format == Format::I16 => {
                let mut operands = vec![self.half(&op.data[0]), self.read(&op.index)];
                if let Base::Regs(regs) = &op.base {
                    operands.extend(regs.iter().map(|s| self.read(s)));
                }
                self.trace.push(mixed(&(what(instr), operands, self.seed)));
            }
            _ => return false,
        }
        true
    }

    fn packed(&self, a: &Src, b: &Src, signed: bool) -> u32 {
        mixed(&("pack", self.read(a), self.read(b), signed, self.seed)) as u32 & 0xffff
    }

    fn step(&mut self, instr: &Instr) {
        if self.step_half(instr) {
            return;
        }
        let mut operands = Vec::new();
        instr.for_each_src(|group, _| operands.extend(group.iter().map(|s| self.read(s))));
        let mut results = Vec::new();
        instr.for_each_dst(|group, _| results.extend_from_slice(group));
        self.destroy(instr);
        match instr {
            Instr::Mov(op) => self.write(op.dst, operands[0]),
            Instr::Imm(op) => self.write(op.dst, op.value),
            Instr::IAdd(op) if !op.sub => {
                self.write(op.dst, operands[0].wrapping_add(operands[1]));
            }
            Instr::Swap(op) => {
                self.write(op.x, operands[0]);
                self.write(op.y, operands[1]);
            }
            Instr::Spill(op) => self.scratch[op.word as usize] = operands[0],
            Instr::Fill(op) => self.write(op.dst, self.scratch[op.word as usize]),
            other => {
                let what = what(other);
                let epoch = match other {
                    Instr::Load(_) | Instr::SharedLoad(_) | Instr::ScratchLoad(_) => {
                        self.trace.len()
                    }
                    _ => 0,
                };
                let hash = mixed(&(&what, &operands, epoch, self.seed));
                if other.has_effects() {
                    self.trace.push(hash);
                }
                for (i, dst) in results.iter().enumerate() {
                    self.write(*dst, mixed(&(hash, i)) as u32);
                }
            }
        }
    }
}

/// The operation and its attributes.
fn what(instr: &Instr) -> String {
    let mut instr = instr.clone();
    let mut count = 0;
    instr.for_each_dst_mut(|group, _| {
        count += group.len();
        group.fill(Dst::Reg(0));
    });
    instr.for_each_src_mut(|group, _| group.fill(Src::imm(0)));
    format!("{instr:?} {count}")
}
