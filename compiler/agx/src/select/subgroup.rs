// SPDX-License-Identifier: MIT
//! Subgroup operations (isa-2, 8; isa-4, 4).

use mesa_nir::program::{AluOp, IndexKind, Intrinsic, IntrinsicOp};

use super::Selector;
use super::memory::result;
use crate::error::Error;
use crate::ir::{Ballot, Reduce, ReduceOp, Shuffle, ShuffleImm, Src};

impl Selector<'_> {
    pub(super) fn ballot(&mut self, intrinsic: &Intrinsic) -> Result<(), Error> {
        let def = result(intrinsic)?;
        if def.bits != 32 || def.components != 1 {
            return Err(Error::unsupported("ballots of other than 32 bits"));
        }
        let src = self.word(intrinsic.srcs[0], 0)?;
        self.result(&def, |dst| Ballot {
            dst: dst.into(),
            src,
        });
        Ok(())
    }

    pub(super) fn shuffle(&mut self, intrinsic: &Intrinsic) -> Result<(), Error> {
        let def = result(intrinsic)?;
        if !matches!(def.bits, 1 | 8 | 16 | 32) || def.components != 1 {
            return Err(Error::unsupported("shuffles of other than one word"));
        }
        let src = self.word(intrinsic.srcs[0], 0)?;
        let known = self.known(intrinsic.srcs[1], 0);
        let xor = intrinsic.op == IntrinsicOp::shuffle_xor;
        if let Some(lane) = known {
            let lane = (lane & 31) as u8;
            self.result(&def, |dst| ShuffleImm {
                dst: dst.into(),
                src,
                xor,
                lane,
            });
            return Ok(());
        }
        if xor {
            return Err(Error::unsupported("shuffle_xor by a variable"));
        }
        let lane = self.word(intrinsic.srcs[1], 0)?;
        // Above 31 the hardware does not wrap (isa-4, 4.1).
        let lane = self.bounded_lane(intrinsic, lane);
        self.result(&def, |dst| Shuffle {
            dst: dst.into(),
            src,
            lane,
        });
        Ok(())
    }

    fn bounded_lane(&mut self, intrinsic: &Intrinsic, lane: Src) -> Src {
        let bounded = self.producing_alu(intrinsic.srcs[1], 0).is_some_and(|alu| {
            alu.op == AluOp::iand && (0..2).any(|i| self.known_src(alu, i).is_some_and(|v| v <= 31))
        });
        if bounded { lane } else { self.masked(lane, 31) }
    }

    pub(super) fn reduce(&mut self, intrinsic: &Intrinsic, scan: bool) -> Result<(), Error> {
        let def = result(intrinsic)?;
        let number = intrinsic.index(IndexKind::REDUCTION_OP);
        let op = u32::try_from(number).ok().and_then(AluOp::from_number);
        let whole = matches!(intrinsic.index(IndexKind::CLUSTER_SIZE), 0 | 32);
        let op = match op {
            _ if def.bits != 32 || def.components != 1 || !whole => None,
            Some(AluOp::iadd) => Some(ReduceOp::IAdd),
            _ if scan => None,
            Some(AluOp::iand) => Some(ReduceOp::And),
            Some(AluOp::ior) => Some(ReduceOp::Or),
            Some(AluOp::ixor) => Some(ReduceOp::Xor),
            Some(AluOp::imin) => Some(ReduceOp::IMin),
            Some(AluOp::imax) => Some(ReduceOp::IMax),
            Some(AluOp::umin) => Some(ReduceOp::UMin),
            Some(AluOp::umax) => Some(ReduceOp::UMax),
            Some(AluOp::fadd) => Some(ReduceOp::FAdd),
            Some(AluOp::fmul) => Some(ReduceOp::FMul),
            _ => None,
        };
        let Some(op) = op else {
            return Err(Error::unsupported(format!(
                "{:?} {number} of {} bits",
                intrinsic.op, def.bits
            )));
        };
        let src = self.word(intrinsic.srcs[0], 0)?;
        self.result(&def, |dst| Reduce {
            dst: dst.into(),
            src,
            op,
            scan,
        });
        Ok(())
    }
}
