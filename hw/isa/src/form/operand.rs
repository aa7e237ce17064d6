// SPDX-License-Identifier: MIT
//! Operands: the register files, and every bit that says something about one operand.

use crate::bits::{Bit, Bits};

/// Whether an operand is written, read or both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// Written.
    Def,
    /// Read.
    Use,
    /// Read, then written.
    UseDef,
}

/// The register file or name space that an operand's number lives in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum File {
    /// `r0`..`r95`, 32 bits a lane.
    Gpr,
    /// `u0`..`u255`, one 32-bit word for all lanes.
    Uniform,
    /// A 64-bit pointer in uniform words 2i, 2i+1; the operand's number is i.
    UniformPair,
    /// `p0`..`p127`, the per-lane export words.
    Publication,
    /// Predicate bank `P0`..`P5`; where read, 6 is true and 7 is false.
    Predicate,
    /// A system register, 0x80..0xff.
    SysReg,
    /// A scratch word of the lane's frame.
    Scratch,
    /// An interpolation coefficient.
    Coefficient,
    /// A vertex output word.
    Output,
    /// A 32-bit word of the pixel's tile record.
    TileWord,
    /// Entry of the stage's texture table.
    Texture,
    /// Entry of the stage's sampler table.
    Sampler,
    /// Entry of the image-write records.
    Image,
    /// Bits of one sample, or a set of them: an immediate in place of a mask register.
    SampleMask,
    /// An unsigned immediate.
    Imm,
}

/// How many consecutive registers, or which part of one, an operand covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    /// This many whole registers.
    Regs(u8),
    /// One half register; which one is told by [`Operand::half`] or [`Operand::size`].
    Half,
    /// One register; a half of it when the form's `size` or `half` bit says so.
    Scalar,
    /// By the `format` modifier of a device access (isa-2, 2.2).
    DeviceFormat,
    /// Register pair for compare-exchange, one register otherwise (isa-2, 5.1).
    AtomicData,
    /// As many registers as the texture result selector names (isa-3, 2.4).
    TextureResult,
    /// As many publications as the texture mode reads (isa-3, 2.5).
    TextureParams,
    /// A register, plus the low half of the next one in mode 0 (isa-3, 2.6).
    CubeResult,
    /// Read as its low half, written whole.
    Widened,
    /// A half in the 8-bit formats, a register in the 16-bit ones (isa-1, 4.7).
    PackResult,
    /// A half when modifier bit 17 or 50 says "16-bit result", else a register.
    NarrowIfClear(Bit),
    /// A half when the bit is set, else a register.
    NarrowIfSet(Bit),
    /// Eight publications, of which an image store reads six or seven (isa-4, 2.2).
    ImageParams,
    /// Three publications, four in the multisample and layered modes (isa-3, 3.3).
    BlockParams,
}

/// What happens to a source register after the read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Release {
    /// The form cannot release it.
    Never,
    /// The bit is 1 on the last use.
    If(Bit),
    /// The bit is 1 when the register is kept.
    Unless(Bit),
    /// All of these bits are 1 on the last use, none otherwise.
    IfAll(Bits),
    /// Always lost ("destroyed").
    Always,
    /// Lost when the bit, which belongs to another field, is 1.
    DestroyedIf(Bit),
}

impl Release {
    /// The bits that say so and that say nothing else.
    #[must_use]
    pub const fn bits(&self) -> Bits {
        match self {
            Release::If(bit) | Release::Unless(bit) => bit.bits(),
            Release::IfAll(bits) => *bits,
            Release::Never | Release::Always | Release::DestroyedIf(_) => Bits::NONE,
        }
    }
}

/// What an encoder writes into a cache-hint bit unless told otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeepHint {
    /// No such bit.
    None,
    /// 1 when the register is retained (isa-1, 1.7).
    NotReleased(Bit),
    /// 0 always: what the proven compiler writes.
    Zero(Bit),
}

impl KeepHint {
    /// The hint's bit, if the form has one.
    #[must_use]
    pub const fn bit(self) -> Bit {
        match self {
            KeepHint::None => Bit::NONE,
            KeepHint::NotReleased(bit) | KeepHint::Zero(bit) => bit,
        }
    }
}

/// What a source names when its file bit does not say "general register".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alt {
    /// The form has no alternative.
    None,
    /// Scattered families (isa-1, 2.4; isa-4, 7.1). The operand's release bit becomes uniform
    /// bit 6, its register bit 6 uniform bit 7, its keep bit the flag "constant".
    Scattered {
        /// 1 = alternative file. `Bit::NONE` = always.
        file: Bit,
        /// What the flag selects.
        constant: Constant,
        /// Highest uniform word that the form reaches.
        max_uniform: u16,
    },
    /// Wide integer families (isa-1, 2.5): 0 in `gpr` with the release bit set is a uniform whose
    /// bit 7 is the keep bit; with the release bit clear an inline constant.
    Wide {
        /// 1 = general register.
        gpr: Bit,
        /// Bits of the inline constant.
        constant: Bits,
    },
    /// A 64-bit address: 0 = uniform pair, all ones = register pair.
    Address {
        /// The file bit and its copies.
        gpr: Bits,
    },
    /// A literal when the bits are 0, a half register when they are all ones.
    Literal {
        /// The file bits.
        gpr: Bits,
        /// Bits of the literal.
        literal: Bits,
        /// Largest literal.
        max: u8,
    },
    /// A destination: publication when the bit is 1.
    Export(Bit),
}

/// The inline constant of a scattered operand whose flag bit is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Constant {
    /// None known.
    None,
    /// 8-bit minifloat (isa-1, 2.3); the release bit is its sign.
    Float,
    /// As [`Constant::Float`], but without a sign.
    PositiveFloat,
    /// 8-bit unsigned integer; the bit is its bit 0 (isa-4, 7.1). `Bit::NONE` = bit 0 is 0.
    Int(Bit),
    /// Integer when the operand's size bit is 0, minifloat when it is 1 (isa-0, 3).
    IntOrFloat(Bit),
}

/// One operand of a form, with every bit that describes it.
#[derive(Clone, Copy, Debug)]
pub struct Operand {
    /// Name in the reference's field tables (`D`, `A`, `base`, ...).
    pub name: &'static str,
    /// Written, read or both.
    pub role: Role,
    /// File of the number in `index`.
    pub file: File,
    /// The register number or immediate.
    pub index: Bits,
    /// Smallest legal number.
    pub min: u64,
    /// Largest legal number (for a tuple: of its last register).
    pub max: u64,
    /// The number must be a multiple of this.
    pub align: u8,
    /// Extent in registers.
    pub span: Span,
    /// 1 = high half.
    pub half: Bit,
    /// 1 = 32-bit register, 0 = its low half.
    pub size: Bit,
    /// Last use.
    pub release: Release,
    /// Cache hint without effect on values.
    pub keep: KeepHint,
    /// Other files the operand can name.
    pub alt: Alt,
    /// Negate, after `abs`.
    pub neg: Bit,
    /// Absolute value.
    pub abs: Bit,
    /// When the operand exists.
    pub present: Presence,
    /// The source is read late: it must not be overwritten before the instruction's slot completes
    /// (isa-2, 9.4, rule 3).
    pub held: bool,
}

/// Bits that say whether an operand exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Presence {
    /// The bits; none = the operand always exists.
    pub bits: Bits,
    /// Their value when it does.
    pub on: u64,
    /// Their value when it does not.
    pub off: u64,
}

impl Presence {
    /// Always there.
    pub const ALWAYS: Presence = Presence {
        bits: Bits::NONE,
        on: 0,
        off: 1,
    };
}

impl Operand {
    /// A whole-register operand without options.
    #[must_use]
    pub const fn new(name: &'static str, role: Role, file: File, index: &[(u8, u8)]) -> Operand {
        let index = Bits::new(index);
        let max = match file {
            File::Gpr if index.width() >= 7 => 95,
            File::SysReg => 0xff,
            _ => index.max(),
        };
        Operand {
            name,
            role,
            file,
            index,
            min: if matches!(file, File::SysReg) {
                0x80
            } else {
                0
            },
            max,
            align: 1,
            span: Span::Regs(1),
            half: Bit::NONE,
            size: Bit::NONE,
            release: Release::Never,
            keep: KeepHint::None,
            alt: Alt::None,
            neg: Bit::NONE,
            abs: Bit::NONE,
            present: Presence::ALWAYS,
            held: false,
        }
    }

    /// Limits the number.
    #[must_use]
    pub const fn max(mut self, max: u64) -> Operand {
        self.max = max;
        self
    }

    /// Renames the operand.
    #[must_use]
    pub const fn named(mut self, name: &'static str) -> Operand {
        self.name = name;
        self
    }

    /// Changes the role.
    #[must_use]
    pub const fn role(mut self, role: Role) -> Operand {
        self.role = role;
        self
    }

    /// Changes the file.
    #[must_use]
    pub const fn file(mut self, file: File) -> Operand {
        self.file = file;
        self
    }

    /// Requires a multiple of `align`.
    #[must_use]
    pub const fn align(mut self, align: u8) -> Operand {
        self.align = align;
        self
    }

    /// Sets the extent.
    #[must_use]
    pub const fn span(mut self, span: Span) -> Operand {
        self.span = span;
        self
    }

    /// A half register, high when `bit` is set.
    #[must_use]
    pub const fn half(mut self, bit: u8) -> Operand {
        self.half = Bit::at(bit);
        self.span = Span::Half;
        self
    }

    /// A half register that is always the low one.
    #[must_use]
    pub const fn low_half(mut self) -> Operand {
        self.span = Span::Half;
        self
    }

    /// 32-bit register when `bit` is set, its low half otherwise.
    #[must_use]
    pub const fn sized(mut self, bit: u8) -> Operand {
        self.size = Bit::at(bit);
        self.span = Span::Scalar;
        self
    }

    /// Release bit.
    #[must_use]
    pub const fn rel(mut self, bit: u8) -> Operand {
        self.release = Release::If(Bit::at(bit));
        self
    }

    /// Release by a keep bit of opposite sense.
    #[must_use]
    pub const fn rel_unless(mut self, bit: u8) -> Operand {
        self.release = Release::Unless(Bit::at(bit));
        self
    }

    /// The register is always lost.
    #[must_use]
    pub const fn destroyed(mut self) -> Operand {
        self.release = Release::Always;
        self
    }

    /// Cache hint, 1 when the register is retained.
    #[must_use]
    pub const fn keep(mut self, bit: u8) -> Operand {
        self.keep = KeepHint::NotReleased(Bit::at(bit));
        self
    }

    /// Cache hint that is written 0.
    #[must_use]
    pub const fn keep_zero(mut self, bit: u8) -> Operand {
        self.keep = KeepHint::Zero(Bit::at(bit));
        self
    }

    /// Alternative file.
    #[must_use]
    pub const fn alt(mut self, alt: Alt) -> Operand {
        self.alt = alt;
        self
    }

    /// Uniform or constant when `file` is set.
    #[must_use]
    pub const fn scattered(self, file: u8, constant: Constant) -> Operand {
        self.alt(Alt::Scattered {
            file: Bit::at(file),
            constant,
            max_uniform: 255,
        })
    }

    /// Negate bit.
    #[must_use]
    pub const fn neg(mut self, bit: u8) -> Operand {
        self.neg = Bit::at(bit);
        self
    }

    /// Absolute-value bit.
    #[must_use]
    pub const fn abs(mut self, bit: u8) -> Operand {
        self.abs = Bit::at(bit);
        self
    }

    /// The operand exists when `bits` are `on`, and does not when they are `off`.
    #[must_use]
    pub const fn present_if(mut self, bits: &[(u8, u8)], on: u64, off: u64) -> Operand {
        self.present = Presence {
            bits: Bits::new(bits),
            on,
            off,
        };
        self
    }

    /// The inline constant, when the operand of a wide integer form is one (isa-1, 2.5).
    #[inline]
    #[must_use]
    pub fn wide_constant(&self, word: u128) -> Option<u64> {
        match (self.alt, self.release) {
            (Alt::Wide { gpr, constant }, Release::If(release))
                if !gpr.get(word) && !release.get(word) =>
            {
                Some(constant.get(word))
            }
            _ => None,
        }
    }

    /// Is the operand of a scattered form an inline constant (isa-1, 2.4)?
    #[inline]
    #[must_use]
    pub(crate) const fn scattered_constant(&self, word: u128) -> bool {
        match self.alt {
            Alt::Scattered { file, .. } => file.get(word) && self.keep.bit().get(word),
            _ => false,
        }
    }

    /// True when every bit of the operand has one meaning, whatever the others say.
    #[inline]
    pub(crate) const fn is_plain(&self) -> bool {
        matches!(self.alt, Alt::None | Alt::Export(_)) && self.present.bits.is_none()
    }

    /// Read late.
    #[must_use]
    pub const fn held(mut self) -> Operand {
        self.held = true;
        self
    }

    /// Released when all of these bits are set, kept when none is.
    #[must_use]
    pub const fn rel_all(mut self, bits: &[(u8, u8)]) -> Operand {
        self.release = Release::IfAll(Bits::new(bits));
        self
    }

    /// Every instruction bit that belongs to this operand.
    #[must_use]
    pub const fn mask(&self) -> u128 {
        let mut mask = self.index.mask()
            | self.half.bits().mask()
            | self.size.bits().mask()
            | self.keep.bit().bits().mask()
            | self.neg.bits().mask()
            | self.abs.bits().mask()
            | self.present.bits.mask();
        mask |= self.release.bits().mask();
        match self.alt {
            Alt::None => {}
            Alt::Scattered { file, constant, .. } => {
                mask |= file.bits().mask();
                if let Constant::Int(bit) | Constant::IntOrFloat(bit) = constant {
                    mask |= bit.bits().mask();
                }
            }
            Alt::Wide { gpr, constant } => mask |= gpr.bits().mask() | constant.mask(),
            Alt::Address { gpr } => mask |= gpr.mask(),
            Alt::Literal { gpr, literal, .. } => mask |= gpr.mask() | literal.mask(),
            Alt::Export(bit) => mask |= bit.bits().mask(),
        }
        mask
    }
}
