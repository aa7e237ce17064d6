// SPDX-License-Identifier: MIT
//! Completion slots: the fields that wait for them and the fields that name the one completed.

use crate::bits::{Bit, Bits};

/// How a form names the completion slots it waits for (isa-0, 4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// The field; no bits when the form cannot wait.
    pub bits: Bits,
    /// True for a one-hot mask (bit i = slot i + 1), false for a binary slot number.
    pub mask: bool,
    /// Slots for which the wait is proven on M4, bit i = slot i + 1: a compiler uses only these and
    /// settles operands first otherwise.
    pub proven: u8,
    /// The only operand whose value may be the awaited one; `None` = any (isa-2, 9.3).
    pub only: Option<&'static str>,
    /// What an encoder writes when nothing is waited for.
    pub default: u64,
}

impl Wait {
    /// The form cannot wait.
    pub const NONE: Wait = Wait {
        bits: Bits::NONE,
        mask: false,
        proven: 0,
        only: None,
        default: 0,
    };

    const fn index(bits: &[(u8, u8)]) -> Wait {
        Wait {
            bits: Bits::new(bits),
            mask: false,
            proven: 0x3f,
            only: None,
            default: 0,
        }
    }

    const fn mask(bits: &[(u8, u8)]) -> Wait {
        Wait {
            bits: Bits::new(bits),
            mask: true,
            proven: 0x3f,
            only: None,
            default: 0,
        }
    }

    /// Bits 12..17 of the wide families.
    pub const MASK12: Wait = Wait::mask(&[(12, 17)]);
    /// Bits 45..47 and 61..63.
    pub const MASK45_61: Wait = Wait::mask(&[(45, 47), (61, 63)]);
    /// Bits 61..63 and 77..79.
    pub const MASK61_77: Wait = Wait::mask(&[(61, 63), (77, 79)]);
    /// Bits 61..63 and 93..95.
    pub const MASK61_93: Wait = Wait::mask(&[(61, 63), (93, 95)]);
    /// Bits 45..47, one slot.
    pub const INDEX45: Wait = Wait::index(&[(45, 47)]);
    /// Bits 61..63, one slot.
    pub const INDEX61: Wait = Wait::index(&[(61, 63)]);
    /// Bits 29..31, one slot.
    pub const INDEX29: Wait = Wait::index(&[(29, 31)]);
    /// Bits 39..41 of a texture bundle, slots 1..3.
    pub const MASK39: Wait = Wait::mask(&[(39, 41)]);

    /// The same field where the wait is not proven on M4.
    #[must_use]
    pub const fn unproven(mut self) -> Wait {
        self.proven = 0;
        self
    }

    /// Proven for these slots only.
    #[must_use]
    pub const fn proven_for(mut self, slots: u8) -> Wait {
        self.proven = slots;
        self
    }

    /// Only this operand may be pending.
    #[must_use]
    pub const fn only(mut self, operand: &'static str) -> Wait {
        self.only = Some(operand);
        self
    }

    /// Another idle value.
    #[must_use]
    pub const fn default(mut self, default: u64) -> Wait {
        self.default = default;
        self
    }
}

/// How a form names the completion slot that its late result fills (isa-0, 4.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completion {
    /// Synchronous.
    None,
    /// Slot - 1 in these bits.
    Tag(Bits),
    /// Slot - 1 in both of these fields.
    TwinTag(Bits, Bits),
    /// Slot - 1 in these bits, but the instruction is a producer only when the bit is set.
    TagIf(Bits, Bit),
    /// Slot - 1 in these bits for system registers 0xc2, 0xd8 and 0xdd; others are synchronous.
    SysRegTag(Bits),
    /// Always this slot.
    Fixed(u8),
    /// This slot, when the bit is set.
    FixedIf(u8, Bit),
    /// The slot code of the atomic result record: slots 1..6 are 2, 4, 3, 5, 6, 1.
    Landing(Bits),
}

impl Completion {
    /// The field that names the slot, if one does.
    #[must_use]
    pub const fn bits(&self) -> Bits {
        match *self {
            Completion::Tag(bits)
            | Completion::TwinTag(bits, _)
            | Completion::TagIf(bits, _)
            | Completion::SysRegTag(bits)
            | Completion::Landing(bits) => bits,
            Completion::None | Completion::Fixed(_) | Completion::FixedIf(..) => Bits::NONE,
        }
    }

    /// Every bit that names the slot.
    #[must_use]
    pub const fn mask(&self) -> u128 {
        match *self {
            Completion::TwinTag(a, b) => a.mask() | b.mask(),
            _ => self.bits().mask(),
        }
    }
}
