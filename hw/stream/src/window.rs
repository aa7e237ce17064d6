// SPDX-License-Identifier: MIT
//! The two windows: where code must lie and how code is addressed, and the same for render streams.
//!
//! launch, 2 (HW). Entry arena, shader bodies, preambles and launchers lie in one 4 GiB window at a
//! fixed address ("USC base"); what the reference calls an *offset* of code counts from its start.
//! graphics, 2 (HW). Vertex streams and fixed-function state lie in another, the render context's.
//! The types here cannot hold anything outside their window, so structures that take them need no
//! further check.

use crate::error::{Error, Result, illegal};

/// GPU virtual address of the window's first byte, the only proven value of `usc_exec_base`
/// (launch, 2; HW).
pub const USC_BASE: u64 = 0x100_0000_0000;
/// Bytes in the window (launch, 2; HW).
pub const USC_SIZE: u64 = 0x1_0000_0000;
/// Bits of a GPU virtual address (launch, 2; HW).
pub const VA_BITS: u32 = 42;
/// One behind the largest GPU virtual address.
pub const VA_END: u64 = 1 << VA_BITS;
/// Bytes in a page of the GPU's address space (launch, 2; HW).
pub const PAGE_SIZE: u64 = 0x4000;
/// First byte of the render context's window, which compute allocations keep out of
/// (launch, 2; HW).
pub const RENDER_BASE: u64 = 0x10_0000_0000;
/// Bytes in the render context's window (launch, 2; HW).
pub const RENDER_SIZE: u64 = 0x1_0000_0000;
/// Bytes at its start that belong to kernel and firmware (graphics, 2; HW). Its upper end is theirs
/// too, from an address that each kernel chooses.
pub const RENDER_RESERVED: u32 = 0x400_0000;
/// Bytes to keep mapped behind a terminator or link of a stream: command fetch reads ahead
/// (graphics, 2; HW for the graphics stream, launch, 8.7; INFERRED for compute).
pub const READ_AHEAD: u64 = 0x800;

/// A GPU virtual address inside the execution window.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CodeAddress(u32);

impl CodeAddress {
    /// The byte `offset` bytes behind the window's start. Every offset is legal: the window has
    /// exactly 2^32 bytes.
    #[must_use]
    pub const fn from_offset(offset: u32) -> CodeAddress {
        CodeAddress(offset)
    }

    /// A GPU virtual address.
    ///
    /// # Errors
    /// When it lies outside the window.
    pub const fn new(address: u64) -> Result<CodeAddress> {
        match address.checked_sub(USC_BASE) {
            Some(offset) if offset < USC_SIZE => Ok(CodeAddress(offset as u32)),
            _ => Err(Error::Field {
                structure: "execution window",
                field: "address",
                value: address,
                legal: "0x100_0000_0000..=0x100_ffff_ffff",
            }),
        }
    }

    /// Bytes from the window's start.
    #[must_use]
    pub const fn offset(self) -> u32 {
        self.0
    }

    /// The GPU virtual address.
    #[must_use]
    pub const fn address(self) -> u64 {
        USC_BASE + self.0 as u64
    }

    /// The displacement of a jump at `from` that leads here.
    pub(crate) const fn displacement_from(self, from: CodeAddress) -> i64 {
        self.0 as i64 - from.0 as i64
    }

    /// Where a jump here with this displacement leads; `None` outside the window.
    pub(crate) fn displaced(self, displacement: i64) -> Option<CodeAddress> {
        let offset = i64::from(self.0).checked_add(displacement)?;
        u32::try_from(offset).ok().map(CodeAddress)
    }
}

impl std::fmt::Debug for CodeAddress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "CodeAddress({:#x})", self.address())
    }
}

/// The address of a word in the render context's window: what render streams are linked by and say
/// where their state lies (graphics, 2; HW). A multiple of 4.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContextAddress(u32);

impl ContextAddress {
    /// A GPU virtual address.
    ///
    /// # Errors
    /// When it lies outside the window or is not a multiple of 4.
    pub const fn new(address: u64) -> Result<ContextAddress> {
        match address.checked_sub(RENDER_BASE) {
            Some(offset) if offset < RENDER_SIZE && offset.is_multiple_of(4) => {
                Ok(ContextAddress(offset as u32))
            }
            _ => Err(Error::Field {
                structure: "render context",
                field: "address",
                value: address,
                legal: "a multiple of 4, 0x10_0000_0000..=0x10_ffff_fffc",
            }),
        }
    }

    /// The word `offset` bytes behind the window's start.
    ///
    /// # Errors
    /// When the offset is not a multiple of 4.
    pub const fn from_offset(offset: u32) -> Result<ContextAddress> {
        ContextAddress::new(RENDER_BASE + offset as u64)
    }

    /// Bytes from the window's start.
    #[must_use]
    pub const fn offset(self) -> u32 {
        self.0
    }

    /// The GPU virtual address.
    #[must_use]
    pub const fn address(self) -> u64 {
        RENDER_BASE + self.0 as u64
    }

    /// The address `words` words behind; `None` outside the window.
    #[must_use]
    pub const fn words_behind(self, words: u32) -> Option<ContextAddress> {
        match words.checked_mul(4) {
            Some(bytes) => match self.0.checked_add(bytes) {
                Some(offset) => Some(ContextAddress(offset)),
                None => None,
            },
            None => None,
        }
    }
}

impl std::fmt::Debug for ContextAddress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ContextAddress({:#x})", self.address())
    }
}

/// The address of a launcher: in the window, a multiple of 64 (launch, 5.1; HW: the fields that
/// name launchers drop six bits).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LauncherAddress(CodeAddress);

impl LauncherAddress {
    /// Bytes that launchers are aligned to.
    pub const ALIGN: u32 = 64;

    /// A launcher at `address`.
    ///
    /// # Errors
    /// When the address is not a multiple of 64.
    pub fn new(address: CodeAddress) -> Result<LauncherAddress> {
        if address.offset().is_multiple_of(Self::ALIGN) {
            Ok(LauncherAddress(address))
        } else {
            illegal(
                "launcher",
                "address",
                address.address(),
                "a multiple of 0x40",
            )
        }
    }

    /// The launcher whose offset is `units` times 64 bytes: how graphics records name it
    /// (launch, 6.4; HW).
    ///
    /// # Errors
    /// When the launcher would lie behind the window.
    pub fn from_units(units: u32) -> Result<LauncherAddress> {
        match units.checked_mul(Self::ALIGN) {
            Some(offset) => Ok(LauncherAddress(CodeAddress(offset))),
            None => illegal("launcher", "units", u64::from(units), "0..=0x3ffffff"),
        }
    }

    /// The offset in units of 64 bytes.
    #[must_use]
    pub const fn units(self) -> u32 {
        self.0.0 / Self::ALIGN
    }

    /// The address of the launcher's first instruction.
    #[must_use]
    pub const fn code(self) -> CodeAddress {
        self.0
    }
}

impl std::fmt::Debug for LauncherAddress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "LauncherAddress({:#x})", self.0.address())
    }
}

/// The offset of an entry from the window's start: what a launcher's TARGET names.
///
/// Even, at most 0x7fffea, so always inside the arena (launch, 3 and 4.6). Entries of arena blocks
/// are multiples of 0x40; nothing else has run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntryOffset(u32);

impl EntryOffset {
    /// The largest offset that the 24-bit field can carry.
    pub const MAX: u32 = (0xff_ffff - Self::BIAS) / 2;
    /// Added to twice the offset in the field (OPAQUE).
    const BIAS: u32 = 0x2a;

    /// An entry `offset` bytes behind the window's start.
    ///
    /// # Errors
    /// When the offset is odd or the field cannot carry it.
    pub const fn new(offset: u32) -> Result<EntryOffset> {
        if offset.is_multiple_of(2) && offset <= Self::MAX {
            Ok(EntryOffset(offset))
        } else {
            Err(Error::Field {
                structure: "TARGET",
                field: "entry offset",
                value: offset as u64,
                legal: "an even number, 0..=0x7fffea",
            })
        }
    }

    /// The entry of an arena block: even and in the arena, so always legal.
    pub(crate) const fn of_block(offset: u32) -> EntryOffset {
        debug_assert!(offset.is_multiple_of(2) && offset <= Self::MAX);
        EntryOffset(offset)
    }

    /// Bytes from the window's start.
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0
    }

    /// The entry's address.
    #[must_use]
    pub const fn code(self) -> CodeAddress {
        CodeAddress(self.0)
    }

    /// The 24-bit field of TARGET: twice the offset plus 0x2a (launch, 4.6; HW).
    #[must_use]
    pub const fn field(self) -> u32 {
        2 * self.0 + Self::BIAS
    }

    /// The offset that a field of TARGET carries.
    ///
    /// # Errors
    /// When the field is none that [`EntryOffset::field`] gives.
    pub const fn from_field(field: u32) -> Result<EntryOffset> {
        match field.checked_sub(Self::BIAS) {
            Some(twice) if twice.is_multiple_of(4) && twice / 2 <= Self::MAX => {
                Ok(EntryOffset(twice / 2))
            }
            _ => Err(Error::Field {
                structure: "TARGET",
                field: "entry field",
                value: field as u64,
                legal: "2 * (even offset) + 0x2a, 24 bits",
            }),
        }
    }
}

impl std::fmt::Debug for EntryOffset {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "EntryOffset({:#x})", self.0)
    }
}

/// Refuses addresses that the GPU's 42 bits cannot hold.
pub(crate) fn check_va(structure: &'static str, field: &'static str, address: u64) -> Result<()> {
    if address < VA_END {
        Ok(())
    } else {
        illegal(structure, field, address, "below 2^42")
    }
}
