// SPDX-License-Identifier: MIT
//! What a scheduler, an allocator or a simulator asks of an instruction: registers read and
//! written, slots waited for and completed.

use crate::form::{Alt, Completion, File, Flow, Role, Span};
use crate::instr::{Half, Instr, LANDING_CODES, Reg, Value};
use crate::sysreg::system_register;
use crate::table::{FormId, texture_mode};

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

    /// The slots, lowest first.
    pub fn iter(self) -> impl Iterator<Item = u8> {
        (1..=6).filter(move |&slot| self.contains(slot))
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
    #[must_use]
    pub fn completes(&self) -> Option<u8> {
        match self.form().completion {
            Completion::None => None,
            Completion::Tag(bits) => Some(bits.get(self.bits()) as u8 + 1),
            Completion::TagIf(bits, bit) => bit
                .get(self.bits())
                .then(|| bits.get(self.bits()) as u8 + 1),
            Completion::SysRegTag(bits) => {
                let number = self.operand("sr").map(|a| a.value);
                match number {
                    Some(Value::Reg(r))
                        if system_register(r.index as u8).is_some_and(|sr| sr.asynchronous) =>
                    {
                        Some(bits.get(self.bits()) as u8 + 1)
                    }
                    _ => None,
                }
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

    /// True when all slots must be idle before it (isa-2, 9.4, rule 6).
    #[inline]
    #[must_use]
    pub fn is_drain_point(&self) -> bool {
        self.form().drain
    }

    /// Byte displacement of a branch or call, from the branch's own first byte.
    #[must_use]
    pub fn displacement(&self) -> Option<i64> {
        matches!(self.flow(), Flow::Branch | Flow::Call).then(|| {
            let m = &self.form().modifiers[0];
            crate::instr::sign_extend(m.bits.get(self.bits()), m.bits.width()) as i64
        })
    }

    /// True for a `DEV_ATOMIC` that must be followed directly by an `ATOMIC_RESULT`.
    #[must_use]
    pub fn wants_atomic_result(&self) -> bool {
        matches!(self.id(), FormId::DevAtomic | FormId::DevAtomic0) && self.modifier("returns") == 1
    }

    /// Number of registers that operand `index` covers.
    #[must_use]
    pub fn register_count(&self, index: usize) -> u8 {
        let op = &self.form().operands[index];
        match op.span {
            Span::Regs(n) => n,
            Span::Half
            | Span::Scalar
            | Span::NarrowIfClear(_)
            | Span::NarrowIfSet(_)
            | Span::PackResult => 1,
            Span::DeviceFormat => device_format(self.bits()).map_or(1, |f| f.registers),
            // Compare-exchange: desired value, then compare value.
            Span::AtomicData => 1 + u8::from(self.modifier("op") == 0x12),
            Span::TextureResult => self.texture_components().count_ones().max(1) as u8,
            Span::TextureParams => texture_mode(self.modifier("mode")).map_or(1, |m| m.words),
            Span::CubeResult => 1 + u8::from(self.op_name() == "cube_face"),
            Span::ImageParams => 8,
            Span::BlockParams => 3 + u8::from(self.modifier("mode") != 0x5a8),
        }
    }

    /// Every register range read or written: general registers, uniforms, publications,
    /// predicates, scratch words and outputs. A destination that is read first appears twice.
    ///
    /// Written registers appear as [`AccessKind::LateWrite`] when the instruction completes a
    /// slot. Texture and image store parameters are read late as well: they must not be
    /// overwritten before the slot completes (isa-2, 9.4, rule 3).
    pub fn accesses(&self) -> impl Iterator<Item = Access> + '_ {
        let late = self.completes().is_some();
        let form = self.form();
        form.operands
            .iter()
            .enumerate()
            .flat_map(move |(operand, op)| {
                let arg = self.arg(operand);
                let mut found = [None, None];
                if let Value::Reg(mut reg) = arg.value {
                    let mut count = self.register_count(operand);
                    match reg.file {
                        // A pointer pair is two consecutive words of its file.
                        File::UniformPair => {
                            reg = Reg::new(File::Uniform, reg.index * 2);
                            count = 2;
                        }
                        File::Gpr if matches!(op.alt, Alt::Address { .. }) => count = 2,
                        _ => {}
                    }
                    if op.span == Span::DeviceFormat && reg.half == Half::High {
                        let narrow = self.device_format().is_some_and(|f| f.narrow);
                        reg.half = if narrow { Half::High } else { Half::Whole };
                    }
                    if op.role != Role::Def {
                        let kind = AccessKind::Read;
                        found[0] = Some(Access {
                            operand,
                            kind,
                            reg,
                            count,
                            kill: arg.kill,
                        });
                    }
                    if op.role != Role::Use {
                        let kind = if late {
                            AccessKind::LateWrite
                        } else {
                            AccessKind::Write
                        };
                        found[1] = Some(Access {
                            operand,
                            kind,
                            reg,
                            count,
                            kill: false,
                        });
                    }
                }
                found.into_iter().flatten()
            })
    }
}
