// SPDX-License-Identifier: MIT
//! Device memory: loads, stores, atomics (isa-2, 2 and 5; isa-4, 9.3).
//!
//! The front end gives every access as a 64-bit address, a 32-bit index with a shift, and a byte offset: the form of
//! the hardware's addresses.

use mesa_nir::program::{AluOp, AtomicOp as NirAtomic, DefId, IndexKind, Intrinsic, IntrinsicOp};

use super::{Selector, words_of};
use crate::error::Error;
use crate::ir::{
    Atomic, AtomicOp, Base, Format, Load, LogicOp, Ref, ShiftOp, Src, Store, Tuple, Value,
};

/// Bits of NIR's access qualifiers.
const COHERENT: i64 = 1;
const VOLATILE: i64 = 1 << 2;

/// Where an access goes.
struct Address {
    words: [Src; 2],
    index: Src,
    shift: u8,
    offset: i64,
}

impl Address {
    /// Bytes from the base, if the index is a constant.
    fn constant(&self) -> Option<i64> {
        let index = self.index.as_imm()?;
        Some((i64::from(index) << self.shift) + self.offset)
    }

    /// The same where the offset of an access can hold it.
    fn constant_offset(&self) -> Option<i64> {
        self.constant()
            .filter(|total| i16::try_from(*total).is_ok())
    }
}

impl Selector<'_> {
    /// The address in `srcs[first]` (64 bits) and `srcs[first + 1]` (32-bit index).
    fn address(&self, intrinsic: &Intrinsic, first: usize) -> Result<Address, Error> {
        let base = intrinsic.index(IndexKind::BASE);
        let address = intrinsic.srcs[first];
        Ok(Address {
            words: [self.word(address, 0)?, self.word(address, 1)?],
            index: self.word(intrinsic.srcs[first + 1], 0)?,
            shift: (base & 7) as u8,
            offset: base >> 3,
        })
    }

    pub(super) fn load(&mut self, intrinsic: &Intrinsic) -> Result<(), Error> {
        let def = result(intrinsic)?;
        let mut address = self.address(intrinsic, 0)?;
        let access = intrinsic.index(IndexKind::ACCESS);
        // Even of memory that this shader never writes: others may.
        if access & (COHERENT | VOLATILE) != 0 && def.bits == 32 {
            return self.coherent_load(intrinsic, &address);
        }
        let count = usize::from(def.components) * words_of(def.bits);
        let format = format(intrinsic, def.bits, count)?;
        let mut index = Some(address.index);
        if let Some(total) = address.constant_offset() {
            (index, address.offset) = (None, total);
        }
        let values: Tuple<Value> = (0..count).map(|_| self.function.value()).collect();
        let base = self.base(address.words);
        let offset = offset(&address)?;
        self.emit(Load {
            dst: values.iter().map(|&v| v.into()).collect(),
            base,
            index,
            format,
            shift: address.shift,
            offset,
        });
        self.define(
            &def,
            values.into_iter().map(Src::from).collect::<Tuple<_>>(),
        );
        Ok(())
    }

    /// A load that must see what other invocations wrote is an atomic "or 0" (isa-4, 9.3; HW).
    fn coherent_load(&mut self, intrinsic: &Intrinsic, address: &Address) -> Result<(), Error> {
        let def = result(intrinsic)?;
        let mut words = Vec::new();
        for component in 0..i64::from(def.components) {
            let at = Address {
                offset: address.offset + 4 * component,
                ..*address
            };
            let (base, index) = self.word_address(&at);
            let zero = Tuple::from_iter([Src::imm(0)]);
            words.push(self.make(|dst| Atomic {
                dst: Some(dst.into()),
                data: zero,
                base,
                index,
                op: AtomicOp::Or,
            }));
        }
        self.define(&def, words);
        Ok(())
    }

    /// The address as a base and an index of words, which is all that atomics have.
    fn word_address(&mut self, address: &Address) -> (Base, Src) {
        if address.offset == 0 && address.shift == 2 {
            return (self.base(address.words), address.index);
        }
        if let Some(total) = address.constant()
            && total % 4 == 0
            && let Ok(index) = u32::try_from(total / 4)
        {
            return (self.base(address.words), Src::imm(index));
        }
        // 64 bits of index << shift, then of the offset.
        let up = address.shift;
        let low = self.shift_imm(ShiftOp::Shl, address.index, up);
        let high = match up {
            0 => Src::imm(0),
            _ => self.shift_imm(ShiftOp::Shr, address.index, 32 - up),
        };
        let mut words = self.add64(address.words, [low, high], false);
        if address.offset != 0 {
            let offset = [address.offset as u32, (address.offset >> 32) as u32];
            words = self.add64(words, offset.map(Src::imm), false);
        }
        (Base::Regs(words), Src::imm(0))
    }

    pub(super) fn store(&mut self, intrinsic: &Intrinsic) -> Result<(), Error> {
        let data = intrinsic.srcs[0];
        let bits = self.bits(data);
        let words = self.words(data).to_vec();
        let format = format(intrinsic, bits, words.len())?;
        let mut address = self.address(intrinsic, 1)?;
        if let Some(total) = address.constant_offset() {
            (address.index, address.offset) = (Src::imm(0), total);
        }
        let base = self.base(address.words);
        let offset = offset(&address)?;
        self.emit(Store {
            data: words.into_iter().collect(),
            base,
            index: address.index,
            format,
            shift: address.shift,
            offset,
        });
        Ok(())
    }

    pub(super) fn atomic(&mut self, intrinsic: &Intrinsic) -> Result<(), Error> {
        let def = result(intrinsic)?;
        if def.bits != 32 {
            return Err(Error::unsupported(format!("atomics of {} bits", def.bits)));
        }
        let swap = intrinsic.op == IntrinsicOp::global_atomic_swap_agx;
        let op = atomic_op(intrinsic)?;
        let mut address = self.address(intrinsic, 0)?;
        // Atomics of the front end have no BASE.
        address.shift = 2;
        address.offset = 0;
        let (base, index) = self.word_address(&address);
        let data: Tuple<Src> = if swap {
            // NIR: the value compared, then the new one; the hardware the other way round.
            let compare = self.word(intrinsic.srcs[2], 0)?;
            Tuple::from_iter([self.word(intrinsic.srcs[3], 0)?, compare])
        } else {
            Tuple::from_iter([self.word(intrinsic.srcs[2], 0)?])
        };
        let used = self.use_count(def.id) != 0;
        let value = used.then(|| self.function.value());
        self.emit(Atomic {
            dst: value.map(Into::into),
            data,
            base,
            index,
            op,
        });
        self.define(&def, [value.map_or(Src::imm(0), Src::from)]);
        Ok(())
    }

    /// A pointer of the argument window.
    pub(super) fn root_pointer(&mut self, intrinsic: &Intrinsic) -> Result<(), Error> {
        let def = result(intrinsic)?;
        let base = intrinsic.index(IndexKind::BASE);
        let pair = self
            .pair_of(super::pointer(base))
            .ok_or_else(|| Error::unsupported(format!("root pointer {base}")))?;
        let words = [2 * pair, 2 * pair + 1].map(|u| Src::new(Ref::Uniform(u)));
        self.define(&def, words);
        Ok(())
    }

    /// The uniform pair of a pointer.
    pub(super) fn pair_of(&self, pointer: Option<crate::binary::Pointer>) -> Option<u8> {
        let place = self.pointers.iter().position(|p| Some(*p) == pointer)?;
        u8::try_from(place).ok()
    }

    /// A byte address within a space that is addressed by words, as a number of words. Constant multiples of 4 are
    /// divided where they are made, so that most addresses need no shift.
    pub(super) fn word_index(&mut self, def: DefId) -> Result<Src, Error> {
        if let Some(words) = self.quarter(def, 0, 0)? {
            return Ok(words);
        }
        let bytes = self.word(def, 0)?;
        Ok(self.shift_imm(ShiftOp::Shr, bytes, 2))
    }

    /// A quarter of a component that is a multiple of 4 by construction; what was made for parts of one that is not
    /// stays unread.
    fn quarter(&mut self, def: DefId, component: u8, depth: u32) -> Result<Option<Src>, Error> {
        if let Some(bytes) = self.known(def, component) {
            let whole = bytes.is_multiple_of(4) || depth == 0;
            return Ok(whole.then(|| Src::imm(bytes as u32 / 4)));
        }
        let Some(alu) = self.producing_alu(def, component) else {
            return Ok(None);
        };
        if depth > 8 || alu.def.bits != 32 {
            return Ok(None);
        }
        let factor = self.known_src(alu, 1).map(|v| v as u32);
        Ok(match (alu.op, factor) {
            (AluOp::ishl, Some(amount @ 2..32)) => {
                let a = self.src(alu, 0)?;
                Some(self.shift_imm(ShiftOp::Shl, a, amount as u8 - 2))
            }
            (AluOp::imul | AluOp::amul, Some(factor)) if factor.is_multiple_of(4) => {
                let a = self.src(alu, 0)?;
                Some(self.imad(a, Src::imm(factor / 4), Src::imm(0)))
            }
            (AluOp::iadd, _) => {
                let mut terms = [None; 2];
                for (term, src) in terms.iter_mut().zip(&alu.srcs) {
                    let component = src.swizzle.first().copied().unwrap_or(0);
                    *term = self.quarter(src.def, component, depth + 1)?;
                }
                match terms {
                    [Some(a), Some(b)] => Some(self.iadd(a, b)),
                    _ => None,
                }
            }
            _ => None,
        })
    }

    /// `a & b` of constants, else an instruction; for callers that mask indices.
    pub(super) fn masked(&mut self, a: Src, bits: u32) -> Src {
        match a.as_imm() {
            Some(value) => Src::imm(value & bits),
            None => self.logic(LogicOp::And, a, Src::imm(bits)),
        }
    }
}

pub(super) fn result(intrinsic: &Intrinsic) -> Result<mesa_nir::program::Def, Error> {
    intrinsic.def.ok_or_else(|| Error::Internal {
        pass: "selection",
        what: format!("{:?} without a result", intrinsic.op),
    })
}

fn offset(address: &Address) -> Result<i16, Error> {
    i16::try_from(address.offset).map_err(|_| Error::Internal {
        pass: "selection",
        what: format!("the byte offset {} is out of range", address.offset),
    })
}

/// The format of an access to `words` registers of elements of `bits`.
fn format(intrinsic: &Intrinsic, bits: u8, words: usize) -> Result<Format, Error> {
    let format = match (bits, words) {
        (8, 1) => Some(Format::I8),
        (16, 1) => Some(Format::I16),
        (32 | 64, count) => Format::words(count),
        _ => None,
    };
    format.ok_or_else(|| Error::unsupported(format!("{:?} of this width", intrinsic.op)))
}

fn atomic_op(intrinsic: &Intrinsic) -> Result<AtomicOp, Error> {
    let number = intrinsic.index(IndexKind::ATOMIC_OP);
    let op = u32::try_from(number).ok().and_then(NirAtomic::from_number);
    Ok(match op {
        Some(NirAtomic::iadd) => AtomicOp::Add,
        Some(NirAtomic::imin) => AtomicOp::IMin,
        Some(NirAtomic::umin) => AtomicOp::UMin,
        Some(NirAtomic::imax) => AtomicOp::IMax,
        Some(NirAtomic::umax) => AtomicOp::UMax,
        Some(NirAtomic::iand) => AtomicOp::And,
        Some(NirAtomic::ior) => AtomicOp::Or,
        Some(NirAtomic::ixor) => AtomicOp::Xor,
        Some(NirAtomic::xchg) => AtomicOp::Exchange,
        Some(NirAtomic::fadd) => AtomicOp::FAdd,
        Some(NirAtomic::cmpxchg) => AtomicOp::CompareExchange,
        other => {
            return Err(Error::unsupported(format!(
                "the atomic operation {other:?}"
            )));
        }
    })
}
