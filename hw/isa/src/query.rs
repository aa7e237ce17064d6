// SPDX-License-Identifier: MIT
//! What a scheduler, an allocator or a simulator asks of an instruction: registers read and
//! written, slots waited for and completed.

use crate::form::{Alt, Completion, Drain, File, Flow, MemoryOp, Role, Space, Span, Style};
use crate::instr::{Arg, Half, Instr, LANDING_CODES, Reg, Value};
use crate::sysreg::system_register;
use crate::table::{BLOCK_MODE, DEV_ATOMIC_OP, FormId, IMAGE_KIND, TG_ATOMIC_OP, words};
use crate::touch::touches;

/// A set of completion slots; bit i = slot i + 1 (isa-0, 4.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SlotMask(u8);

impl SlotMask {
    /// No slot.
    pub const NONE: SlotMask = SlotMask(0);
    /// All six.
    pub const ALL: SlotMask = SlotMask(0x3f);

    /// The set of one slot, 1..=6.
    ///
    /// # Panics
    /// When the slot is out of range.
    #[must_use]
    pub const fn of(slot: u8) -> SlotMask {
        assert!(1 <= slot && slot <= 6, "slots are 1..=6");
        SlotMask(1 << (slot - 1))
    }

    /// From mask bits; `None` when a bit above slot 6 is set.
    #[must_use]
    pub const fn from_bits(bits: u8) -> Option<SlotMask> {
        if bits < 0x40 {
            Some(SlotMask(bits))
        } else {
            None
        }
    }

    /// Mask bits.
    #[must_use]
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// True when no slot is in the set.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// True when `slot` is in the set.
    #[must_use]
    pub const fn contains(self, slot: u8) -> bool {
        slot >= 1 && slot <= 6 && self.0 >> (slot - 1) & 1 == 1
    }

    /// The slots that are not in `other`.
    #[must_use]
    pub const fn without(self, other: SlotMask) -> SlotMask {
        SlotMask(self.0 & !other.0)
    }

    /// The slots, lowest first.
    #[inline]
    pub fn iter(self) -> impl Iterator<Item = u8> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let first = (rest != 0).then(|| rest.trailing_zeros() as u8 + 1)?;
            rest &= rest - 1;
            Some(first)
        })
    }
}

impl std::ops::BitAnd for SlotMask {
    type Output = SlotMask;

    fn bitand(self, other: SlotMask) -> SlotMask {
        SlotMask(self.0 & other.0)
    }
}

impl std::ops::BitOr for SlotMask {
    type Output = SlotMask;

    fn bitor(self, other: SlotMask) -> SlotMask {
        SlotMask(self.0 | other.0)
    }
}

/// Read, written, or written after a delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AccessKind {
    /// Read at issue.
    Read,
    /// Written before the next instruction.
    Write,
    /// Written when the instruction's slot completes.
    LateWrite,
}

/// One register range that an instruction touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Access {
    /// Which operand of the form.
    pub operand: usize,
    /// Read or written.
    pub kind: AccessKind,
    /// The first register.
    pub reg: Reg,
    /// Number of consecutive registers, from `reg` on.
    pub count: u8,
    /// A read after which the register's value is lost.
    pub kill: bool,
    /// A read that happens late: the register must not be overwritten before the instruction's
    /// slot completes (isa-2, 9.4, rule 3).
    pub held: bool,
}

/// A device access format (isa-2, 2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DeviceFormat {
    /// Bytes of one element: 1, 2 or 4.
    pub element_bytes: u8,
    /// Elements, 1..=4.
    pub components: u8,
    /// Registers covered.
    pub registers: u8,
    /// A single 8- or 16-bit element, which names a half register.
    pub narrow: bool,
}

/// Decodes bits 64..69 of a device load or store; `None` for an unlisted code.
pub(crate) const fn device_format(bits: u128) -> Option<DeviceFormat> {
    let code = (bits >> 64) as u8 & 0x3f;
    let element_bytes = match code >> 4 {
        0 => 2,
        1 => 4,
        2 => 1,
        _ => return None,
    };
    let components = match code & 0xf {
        0b0001 => 1,
        0b1001 => 2,
        0b1101 => 3,
        0b0111 => 4,
        _ => return None,
    };
    Some(DeviceFormat {
        element_bytes,
        components,
        registers: (element_bytes * components).div_ceil(4),
        narrow: components == 1 && element_bytes < 4,
    })
}

impl Instr {
    /// The format of a device load or store.
    #[must_use]
    pub fn device_format(&self) -> Option<DeviceFormat> {
        matches!(self.id(), FormId::DevLoad | FormId::DevStore)
            .then(|| device_format(self.bits()))
            .flatten()
    }

    /// Slots that the instruction names in its wait field. For fields where a wait is not proven
    /// on M4 ([`crate::Wait::proven`]) a checking simulator of a compiler must not count them.
    #[inline]
    #[must_use]
    pub fn waits(&self) -> SlotMask {
        let wait = &self.form().wait;
        let value = wait.bits.get(self.bits()) as u8;
        if wait.mask {
            SlotMask(value & 0x3f)
        } else {
            match value {
                1..=6 => SlotMask(1 << (value - 1)),
                _ => SlotMask(0),
            }
        }
    }

    /// The slot that this instruction completes, 1..=6; `None` when its results are synchronous.
    ///
    /// A returning `DEV_ATOMIC` answers `None`: its slot stands in the `ATOMIC_RESULT` behind it.
    #[inline]
    #[must_use]
    pub fn completes(&self) -> Option<u8> {
        match &self.form().completion {
            Completion::None => None,
            completion => self.completed(completion),
        }
    }

    /// The slot that an instruction with this kind of completion completes.
    fn completed(&self, completion: &Completion) -> Option<u8> {
        match *completion {
            Completion::None => None,
            Completion::Tag(bits) | Completion::TwinTag(bits, _) => {
                Some(bits.get(self.bits()) as u8 + 1)
            }
            Completion::TagIf(bits, bit) => bit
                .get(self.bits())
                .then(|| bits.get(self.bits()) as u8 + 1),
            Completion::SysRegTag(bits) => {
                let number = self.raw(1) as u8;
                let late = system_register(number).is_some_and(|sr| sr.asynchronous);
                late.then(|| bits.get(self.bits()) as u8 + 1)
            }
            Completion::Fixed(slot) => Some(slot),
            Completion::FixedIf(slot, bit) => bit.get(self.bits()).then_some(slot),
            Completion::Landing(bits) => {
                let code = bits.get(self.bits());
                LANDING_CODES
                    .iter()
                    .position(|&c| c == code)
                    .map(|i| i as u8 + 1)
            }
        }
    }

    /// What the instruction does to control flow.
    #[inline]
    #[must_use]
    pub fn flow(&self) -> Flow {
        self.form().flow
    }

    /// Must all slots be idle before it (isa-2, 9.4, rule 6)?
    #[inline]
    #[must_use]
    pub fn drain(&self) -> Drain {
        self.form().drain
    }

    /// The slots of [`Instr::waits`] that count on M4: those for which the form's wait is proven.
    #[must_use]
    pub fn proven_waits(&self) -> SlotMask {
        SlotMask(self.waits().0 & self.form().wait.proven)
    }

    /// True when operand `index` may be the value that the instruction waits for on `slot`: the
    /// wait is proven for the slot, and the form does not read that operand before waiting.
    #[must_use]
    pub fn can_wait_for(&self, index: usize, slot: u8) -> bool {
        let wait = &self.form().wait;
        let name = self.form().operands[index].name;
        SlotMask(wait.proven).contains(slot) && wait.only.is_none_or(|only| only == name)
    }

    /// Memory that is accessed besides the registers of [`Instr::accesses`]. Its address is in the
    /// operands `base` or `root`, if the form has one.
    #[must_use]
    pub fn memory(&self) -> Option<(Space, MemoryOp)> {
        self.form().memory
    }

    /// Byte displacement of a branch or call, from the branch's own first byte.
    #[must_use]
    pub fn displacement(&self) -> Option<i64> {
        let target = |m: &crate::Modifier| m.style == Style::Target;
        let index = self.form().modifiers.iter().position(target)?;
        Some(self.signed_modifier_at(index) as i64)
    }

    /// True for a `DEV_ATOMIC` that must be followed directly by an `ATOMIC_RESULT`.
    #[must_use]
    pub fn wants_atomic_result(&self) -> bool {
        matches!(self.id(), FormId::DevAtomic | FormId::DevAtomic0) && self.raw_bit(73)
    }

    /// Number of registers that operand `index` covers, holes included.
    #[must_use]
    pub fn register_count(&self, index: usize) -> u8 {
        match self.form().operands[index].span {
            Span::Regs(n) => n,
            Span::Half
            | Span::Scalar
            | Span::NarrowIfClear(_)
            | Span::NarrowIfSet(_)
            | Span::Widened
            | Span::PackResult => 1,
            Span::DeviceFormat => device_format(self.bits()).map_or(1, |f| f.registers),
            // Compare-exchange: desired value, then compare value.
            Span::AtomicData => {
                let op = if self.id() == FormId::TgAtomic0 {
                    TG_ATOMIC_OP
                } else {
                    DEV_ATOMIC_OP
                };
                1 + u8::from(op.of(self) == 0x12)
            }
            Span::TextureResult => self.texture_components().count_ones().max(1) as u8,
            Span::TextureParams | Span::ImageParams => {
                (u16::BITS - self.words(index).leading_zeros()) as u8
            }
            Span::CubeResult => 1 + u8::from(self.op_name() == "cube_face"),
            Span::BlockParams => 3 + u8::from(BLOCK_MODE.of(self) != 0x5a8),
        }
    }

    /// The registers of operand `index` that are touched, as a bit set from the first one on.
    fn words(&self, index: usize) -> u16 {
        match self.form().operands[index].span {
            Span::TextureParams => words(self.bits()),
            // isa-4, 2.2; which words the cube's kind reads is not known.
            Span::ImageParams => match IMAGE_KIND.of(self) {
                0x04 => 0b1100_1111,
                0x08 => 0b1111_0111,
                _ => 0xff,
            },
            Span::Regs(1) => 1,
            _ => ((1u32 << self.register_count(index)) - 1) as u16,
        }
    }

    /// Every register range read or written: general registers, uniforms, publications,
    /// predicates, scratch words, vertex outputs and tile words. Operands with holes give one
    /// access for each run. A destination that is read first appears twice.
    ///
    /// Written registers appear as [`AccessKind::LateWrite`] when the instruction completes a
    /// slot. Memory is told by [`Instr::memory`], the scratch words of indexed accesses by nothing.
    pub fn accesses(&self) -> impl Iterator<Item = Access> + '_ {
        let write = self.write_kind();
        (0..self.form().operands.len()).flat_map(move |operand| {
            // An operand has at most two runs of registers, each read and written.
            let mut found = [None; 4];
            let mut next = 0;
            self.operand_accesses(operand, write, |access| {
                found[next] = Some(access);
                next += 1;
            });
            found.into_iter().flatten()
        })
    }

    /// Calls `f` with each of [`Instr::accesses`]: faster where all of them are wanted.
    #[inline]
    pub fn for_each_access(&self, mut f: impl FnMut(Access)) {
        let write = self.write_kind();
        let bits = self.bits();
        for (operand, touch) in touches(self.id()).iter().enumerate() {
            if touch.nothing {
                continue;
            }
            if !touch.is_register(bits) {
                self.operand_accesses(operand, write, &mut f);
                continue;
            }
            let access = Access {
                operand,
                kind: write,
                reg: touch.register(bits),
                count: touch.count,
                kill: false,
                held: false,
            };
            if touch.reads {
                f(Access {
                    kind: AccessKind::Read,
                    kill: touch.is_killed(bits),
                    held: touch.held,
                    ..access
                });
            }
            if touch.writes {
                f(access);
            }
        }
    }

    fn write_kind(&self) -> AccessKind {
        match self.completes() {
            Some(_) => AccessKind::LateWrite,
            None => AccessKind::Write,
        }
    }

    fn operand_accesses(&self, operand: usize, write: AccessKind, mut f: impl FnMut(Access)) {
        let op = &self.form().operands[operand];
        let Arg { value, kill, .. } = self.arg(operand);
        let (mut first, mut words) = match value {
            // Constants, and the predicates "true" and "false", are no registers.
            Value::Int(_)
            | Value::Float(_)
            | Value::Absent(_)
            | Value::Reg(Reg {
                file: File::Predicate,
                index: 6..,
                ..
            }) => return,
            // A pointer pair is two consecutive words of its file.
            Value::Reg(Reg {
                file: File::UniformPair,
                index,
                ..
            }) => (Reg::new(File::Uniform, 2 * index), 0b11),
            Value::Reg(reg) => match op.alt {
                Alt::Address { .. } => (reg, 0b11),
                _ => (reg, self.words(operand)),
            },
        };
        if op.span == Span::DeviceFormat && !self.device_format().is_some_and(|f| f.narrow) {
            first.half = Half::Whole;
        }
        let reads = op.role != Role::Def;
        let writes = op.role != Role::Use;
        let access = move |kind, offset: u16, count| Access {
            operand,
            kind,
            reg: Reg {
                index: first.index + offset,
                ..first
            },
            count,
            kill: kill && kind == AccessKind::Read,
            held: op.held && kind == AccessKind::Read,
        };
        let widened = op.span == Span::Widened;
        let low = |mut a: Access| {
            a.reg.half = Half::Low;
            a
        };
        // The second word of a cube helper's result is defined in its low half only.
        if op.span == Span::CubeResult && words == 0b11 {
            f(access(write, 0, 1));
            f(low(access(write, 1, 1)));
            return;
        }
        let mut start = 0;
        while words != 0 {
            let holes = words.trailing_zeros() as u16;
            words >>= holes;
            let count = words.trailing_ones() as u16;
            words = words.checked_shr(count.into()).unwrap_or(0);
            start += holes;
            if reads {
                let read = access(AccessKind::Read, start, count as u8);
                f(if widened { low(read) } else { read });
            }
            if writes {
                f(access(write, start, count as u8));
            }
            start += count;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The short way tells what the long one does, whatever the bits are.
    #[test]
    fn quick_accesses_are_the_general_ones() {
        let mut state = 1u128;
        for &id in FormId::ALL {
            for round in 0..2000 {
                state = state.wrapping_mul(0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645) + 1;
                let random = state ^ state >> 64 ^ state << 64;
                let bits = if round % 2 == 0 {
                    random
                } else {
                    random & state
                };
                let instr = Instr::from_bits(id, bits);
                let mut quick = Vec::new();
                instr.for_each_access(|access| quick.push(access));
                assert_eq!(
                    quick,
                    instr.accesses().collect::<Vec<_>>(),
                    "{id:?} {bits:x}"
                );
            }
        }
    }
}
