// SPDX-License-Identifier: MIT
//! Packing and unpacking: halves, normalised components (isa-1, 4.6, 4.7; isa-4, 7.6).

use mesa_nir::program::{Alu, AluOp};

use super::Selector;
use crate::error::Error;
use crate::ir::{
    F32ToF16High, LogicOp, Norm, PackNorm8, PackNorm8High, PackNorm16, ShiftOp, Src, UnpackNorm,
};

impl Selector<'_> {
    /// Emits a packing operation; false if it is none.
    pub(super) fn pack(&mut self, alu: &Alu) -> Result<bool, Error> {
        let lane = |this: &Self, lane| this.lane(&alu.srcs[0], lane);
        let words = match alu.op {
            AluOp::pack_half_2x16_split => {
                let (a, b) = (self.src(alu, 0)?, self.src(alu, 1)?);
                vec![self.pack_half(a, b)]
            }
            AluOp::unpack_half_2x16_split_x => {
                let a = self.src(alu, 0)?;
                vec![self.widen(a, false)]
            }
            AluOp::unpack_half_2x16_split_y => {
                let a = self.src(alu, 0)?;
                vec![self.widen(a, true)]
            }
            AluOp::unpack_half_2x16 => {
                let a = self.src(alu, 0)?;
                vec![self.widen(a, false), self.widen(a, true)]
            }
            AluOp::pack_32_2x16_split => {
                let (low, high) = (self.src(alu, 0)?, self.src(alu, 1)?);
                vec![self.join_halves(low, high)]
            }
            AluOp::pack_32_2x16 => {
                let (low, high) = (lane(self, 0)?, lane(self, 1)?);
                vec![self.join_halves(low, high)]
            }
            AluOp::unpack_32_2x16_split_x => vec![self.src(alu, 0)?],
            AluOp::unpack_32_2x16_split_y => {
                let a = self.src(alu, 0)?;
                vec![self.shift_imm(ShiftOp::Shr, a, 16)]
            }
            AluOp::unpack_32_2x16 => {
                let a = self.src(alu, 0)?;
                vec![a, self.shift_imm(ShiftOp::Shr, a, 16)]
            }
            AluOp::pack_64_2x32 => vec![lane(self, 0)?, lane(self, 1)?],
            AluOp::unpack_64_2x32 => self.pair(alu, 0)?.to_vec(),
            AluOp::pack_unorm_2x16 | AluOp::pack_snorm_2x16 => {
                let (a, b) = (lane(self, 0)?, lane(self, 1)?);
                let signed = alu.op == AluOp::pack_snorm_2x16;
                vec![self.make(|dst| PackNorm16 {
                    dst: dst.into(),
                    a,
                    b,
                    signed,
                })]
            }
            AluOp::pack_unorm_4x8 | AluOp::pack_snorm_4x8 => {
                let signed = alu.op == AluOp::pack_snorm_4x8;
                let (a, b) = (lane(self, 0)?, lane(self, 1)?);
                let low = self.make(|dst| PackNorm8 {
                    dst: dst.into(),
                    a,
                    b,
                    signed,
                });
                let (a, b) = (lane(self, 2)?, lane(self, 3)?);
                vec![self.make(|dst| PackNorm8High {
                    dst: dst.into(),
                    old: low,
                    a,
                    b,
                    signed,
                })]
            }
            AluOp::unpack_unorm_2x16 => self.unpack(alu, Norm::Unorm16)?,
            AluOp::unpack_snorm_2x16 => self.unpack(alu, Norm::Snorm16)?,
            AluOp::unpack_unorm_4x8 => self.unpack(alu, Norm::Unorm8)?,
            AluOp::unpack_snorm_4x8 => self.unpack(alu, Norm::Snorm8)?,
            _ => return Ok(false),
        };
        self.define(&alu.def, words);
        Ok(true)
    }

    fn pack_half(&mut self, a: Src, b: Src) -> Src {
        let low = self.narrow(a);
        if b.as_imm() == Some(0) {
            return self.zero_extend(low, 16);
        }
        self.make(|dst| F32ToF16High {
            dst: dst.into(),
            old: low,
            a: b,
        })
    }

    /// `low & 0xffff | high << 16`, the shift and the union in one multiply-add.
    fn join_halves(&mut self, low: Src, high: Src) -> Src {
        let low = self.zero_extend(low, 16);
        match (low.as_imm(), high.as_imm()) {
            (Some(l), Some(h)) => Src::imm(l | h << 16),
            (Some(0), None) => self.shift_imm(ShiftOp::Shl, high, 16),
            (None, Some(h)) => match h & 0xffff {
                0 => low,
                h => self.logic(LogicOp::Or, low, Src::imm(h << 16)),
            },
            _ => self.imad(high, Src::imm(1 << 16), low),
        }
    }

    fn unpack(&mut self, alu: &Alu, norm: Norm) -> Result<Vec<Src>, Error> {
        let a = self.src(alu, 0)?;
        let halves: &[bool] = match norm {
            Norm::Unorm16 | Norm::Snorm16 => &[false],
            Norm::Unorm8 | Norm::Snorm8 => &[false, true],
        };
        let mut words = Vec::new();
        for &high in halves {
            let dst = [self.function.value(), self.function.value()];
            self.emit(UnpackNorm {
                dst: dst.map(Into::into),
                a,
                norm,
                high,
            });
            words.extend(dst.map(Src::from));
        }
        Ok(words)
    }
}
