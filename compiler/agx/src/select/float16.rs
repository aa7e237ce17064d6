// SPDX-License-Identifier: MIT
//! fp16 arithmetic, in low halves (isa-1, 4.5). Sign operations are bit operations on the half.

use mesa_nir::program::{Alu, AluOp};

use super::Selector;
use crate::error::Error;
use crate::ir::{AddMul, H2, HFma, HMinMax, HMulMix, LogicOp, SfuOp, SfuType, Src};

const SIGN: u32 = 0x8000;
/// 1.0.
const ONE: u32 = 0x3c00;

impl Selector<'_> {
    pub(super) fn half(&mut self, alu: &Alu) -> Result<bool, Error> {
        let sfu = match alu.op {
            AluOp::frcp => Some(SfuOp::Rcp),
            AluOp::frsq => Some(SfuOp::Rsqrt),
            AluOp::fexp2 => Some(SfuOp::Exp2),
            AluOp::flog2 => Some(SfuOp::Log2),
            AluOp::ffloor => Some(SfuOp::Floor),
            AluOp::fceil => Some(SfuOp::Ceil),
            AluOp::ftrunc => Some(SfuOp::Trunc),
            AluOp::fround_even => Some(SfuOp::RoundEven),
            _ => None,
        };
        let result = match alu.op {
            _ if sfu.is_some() => {
                let a = self.src(alu, 0)?;
                self.sfu(sfu.unwrap_or(SfuOp::Rcp), SfuType::F16, a, false)
            }
            AluOp::fadd | AluOp::fmul => {
                let op = if alu.op == AluOp::fadd {
                    AddMul::Add
                } else {
                    AddMul::Mul
                };
                let (mut a, mut b) = (self.half_operand(alu, 0)?, self.half_operand(alu, 1)?);
                match (a.neg, b.neg) {
                    (true, true) if op == AddMul::Mul => (a.neg, b.neg) = (false, false),
                    // The form negates one operand only.
                    (true, true) => a = self.src(alu, 0)?,
                    (true, false) => (a, b) = (b, a),
                    (false, _) => {}
                }
                self.h2(op, a, b)
            }
            AluOp::fsub => {
                let (a, b) = (self.src(alu, 0)?, self.src(alu, 1)?);
                self.h2(AddMul::Add, a, b.negated())
            }
            AluOp::ffma => {
                let (a, b, c) = (self.src(alu, 0)?, self.src(alu, 1)?, self.src(alu, 2)?);
                self.make(|dst| HFma {
                    dst: dst.into(),
                    a,
                    b,
                    c,
                })
            }
            AluOp::fmin | AluOp::fmax => {
                let (a, b) = (self.src(alu, 0)?, self.src(alu, 1)?);
                self.hminmax(a, b, alu.op == AluOp::fmax)
            }
            AluOp::fsat => {
                // NaN becomes 0: the maximum takes the other operand.
                let a = self.src(alu, 0)?;
                let low = self.hminmax(a, Src::imm(0), true);
                self.hminmax(low, Src::imm(ONE), false)
            }
            AluOp::fneg => {
                let a = self.src(alu, 0)?;
                self.logic(LogicOp::Xor, a, Src::imm(SIGN))
            }
            AluOp::fabs => {
                let a = self.src(alu, 0)?;
                self.logic(LogicOp::And, a, Src::imm(SIGN - 1))
            }
            AluOp::fsqrt => {
                let b = self.src(alu, 0)?;
                let a = self.sfu(SfuOp::SqrtFactor, SfuType::F16ToF32, b, false);
                self.mul_mix(a, b)
            }
            AluOp::fdiv => {
                let (dividend, divisor) = (self.src(alu, 0)?, self.src(alu, 1)?);
                let a = self.sfu(SfuOp::Rcp, SfuType::F16ToF32, divisor, false);
                self.mul_mix(a, dividend)
            }
            _ => return Ok(false),
        };
        self.define(&alu.def, [result]);
        Ok(true)
    }

    /// An operand whose negation becomes a modifier.
    fn half_operand(&self, alu: &Alu, index: usize) -> Result<Src, Error> {
        match self.source_alu(&alu.srcs[index]) {
            Some(inner) if inner.op == AluOp::fneg && inner.def.bits == 16 => {
                Ok(self.src(inner, 0)?.negated())
            }
            _ => self.src(alu, index),
        }
    }

    fn h2(&mut self, op: AddMul, a: Src, b: Src) -> Src {
        self.make(|dst| H2 {
            dst: dst.into(),
            a,
            b,
            op,
        })
    }

    fn hminmax(&mut self, a: Src, b: Src, max: bool) -> Src {
        self.make(|dst| HMinMax {
            dst: dst.into(),
            a,
            b,
            max,
        })
    }

    fn mul_mix(&mut self, a: Src, b: Src) -> Src {
        self.make(|dst| HMulMix {
            dst: dst.into(),
            a,
            b,
        })
    }
}
