// SPDX-License-Identifier: MIT
//! Runs functions of either form, for one lane, and records what they do to memory.
//!
//! Moves, literals, integer additions and conditions mean what they say, so that loops end. Everything else is a hash
//! of its operation, attributes and operands: any wrong operand changes the results, and nothing is ever equal by luck
//! of arithmetic.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::ir::{Block, Cmp, Cond, Dst, End, Function, Instr, Ref, Src};

/// What a run did: a number for each effect, in order.
pub(crate) type Trace = Vec<u64>;

struct Machine {
    values: Vec<u32>,
    registers: [u32; 96],
    scratch: Vec<u32>,
    trace: Trace,
    seed: u32,
}

/// Runs the function on inputs that the seed determines.
pub(crate) fn run(function: &Function, seed: u32) -> Result<Trace, String> {
    let mut machine = Machine {
        values: vec![0xbad0_0001; function.num_values as usize],
        registers: std::array::from_fn(|i| 0xbad1_0000 + i as u32),
        scratch: vec![0xbad2_0003; 8192],
        trace: Vec::new(),
        seed,
    };
    let (mut from, mut at) = (None, Block(0));
    for _ in 0..50_000 {
        let data = &function.blocks[at.index()];
        let edge = data
            .preds
            .iter()
            .position(|p| Some(*p) == from)
            .unwrap_or(0);
        let chosen: Vec<u32> = data
            .phis
            .iter()
            .map(|p| machine.read(&p.srcs[edge]))
            .collect();
        for (phi, value) in data.phis.iter().zip(chosen) {
            machine.values[phi.dst.0 as usize] = value;
        }
        for instr in &data.instrs {
            machine.step(instr);
        }
        let next = Block(at.0 + 1);
        from = Some(at);
        at = match &data.end {
            End::Next | End::EndElse | End::Loop { .. } => next,
            End::If {
                cond, else_block, ..
            } => {
                if machine.holds(cond) {
                    next
                } else {
                    *else_block
                }
            }
            End::EndThen { merge } => *merge,
            End::EndLoop { header } => *header,
            End::Break { exit, .. } => *exit,
            End::Stop => return Ok(machine.trace),
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

    fn step(&mut self, instr: &Instr) {
        let mut operands = Vec::new();
        instr.for_each_src(|group, _| operands.extend(group.iter().map(|s| self.read(s))));
        let mut results = Vec::new();
        instr.for_each_dst(|group, _| results.extend_from_slice(group));
        instr.for_each_src(|group, shape| {
            if shape.destroyed {
                for register in group.iter().filter_map(Src::reg) {
                    self.registers[register as usize] = 0xdead_0000 + u32::from(register);
                }
            }
        });
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
