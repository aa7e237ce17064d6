// SPDX-License-Identifier: MIT
//! Root records: the memory whose pointers a launcher publishes as arguments.
//!
//! launch, 6. Argument pointer *i* is the 64-bit word at `8 * i` of the record and occupies argument
//! words 2i and 2i + 1. Hardware knows no record: only what the launcher loads matters (INFERRED),
//! so the 0x100 bytes and the place of the group counts are conventions of proven drivers.

use arrayvec::ArrayVec;

use crate::bytes::{head, head_mut, put_qword, put_words, qword, word, words3, zeros};
use crate::cdm::MAX_GROUPS;
use crate::error::{Result, illegal, unexpected};
use crate::window::{VA_END, check_va};

/// Bytes in a record (launch, 6.2, 6.4; HW).
pub const RECORD_SIZE: usize = 0x100;
/// Bytes that a compute record's address is a multiple of (launch, 6.2; HW).
pub const RECORD_ALIGN: u64 = 64;
/// Offset of the group counts of a direct dispatch (launch, 6.2; HW).
pub const GROUPS_OFFSET: usize = 0xc0;
/// The pointer that shared loads and stores use as their base (launch, 6.2; HW).
pub const THREADGROUP_ROOT: u64 = 0x8000_0000;
/// Most buffers of a direct record (launch, 6.2; HW).
pub const MAX_BUFFERS: usize = 18;
/// Most buffers behind the table of [`Table`] (launch, 6.3; HW).
pub const MAX_TABLE_BUFFERS: usize = 32;
/// Pointers that table and graphics records publish (launch, 6.3, 6.4; HW).
pub const TABLE_POINTERS: u8 = 6;
/// Most 32-bit constants in a direct record: with one buffer, between the pointers and the counts.
pub const MAX_CONSTANTS: usize = (GROUPS_OFFSET - 16) / 4;

const COUNTS: &str = "1..=65535";

/// Where a shader finds the number of workgroups: three 32-bit words behind an argument pointer
/// (launch, 6.2, 6.5; HW).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Groups {
    /// A direct dispatch: x, y, z workgroups, 1..=65535 each, kept at +0xc0 of the record.
    Direct([u32; 3]),
    /// An indirect dispatch: the address of the application's three counts, a multiple of 4.
    Indirect(u64),
}

impl Groups {
    /// The pointer, for a record at `at`; writes direct counts into the record.
    fn pack(self, structure: &'static str, at: u64, record: &mut [u8]) -> Result<u64> {
        let inside = at + GROUPS_OFFSET as u64;
        match self {
            Groups::Direct(counts) => {
                check_counts(structure, counts)?;
                put_words(record, GROUPS_OFFSET, &counts);
                Ok(inside)
            }
            Groups::Indirect(pointer) => {
                let legal = "a multiple of 4 below 2^42, neither 0 nor in the record";
                if pointer == 0
                    || !pointer.is_multiple_of(4)
                    || pointer >= VA_END
                    || pointer == inside
                {
                    return illegal(structure, "group count pointer", pointer, legal);
                }
                Ok(pointer)
            }
        }
    }

    fn unpack(structure: &'static str, at: u64, pointer: u64, record: &[u8]) -> Result<Groups> {
        if pointer == at + GROUPS_OFFSET as u64 {
            let counts = words3(record, GROUPS_OFFSET);
            check_counts(structure, counts)?;
            Ok(Groups::Direct(counts))
        } else {
            zeros(structure, record, GROUPS_OFFSET, GROUPS_OFFSET + 12)?;
            let groups = Groups::Indirect(pointer);
            groups.pack(structure, at, &mut [])?;
            Ok(groups)
        }
    }
}

fn check_counts(structure: &'static str, counts: [u32; 3]) -> Result<()> {
    match counts.iter().find(|n| !(1..=MAX_GROUPS).contains(*n)) {
        Some(n) => illegal(structure, "group count", u64::from(*n), COUNTS),
        None => Ok(()),
    }
}

fn check_address(structure: &'static str, at: u64) -> Result<()> {
    if !at.is_multiple_of(RECORD_ALIGN) || at >= VA_END {
        return illegal(structure, "address", at, "a multiple of 0x40 below 2^42");
    }
    Ok(())
}

/// The record of direct-buffer compute: no textures, 1 to 18 buffers (launch, 6.2; HW).
///
/// Argument pointer 0 leads to the group counts, pointer 1 + k is buffer k. A shader without
/// buffers gets a dummy one. Threadgroup memory is the buffer [`THREADGROUP_ROOT`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Direct {
    /// The number of workgroups.
    pub groups: Groups,
    /// Addresses below 2^42, binding offsets added.
    pub buffers: ArrayVec<u64, MAX_BUFFERS>,
    /// Words for a launcher to publish as data, just behind the pointers, at
    /// [`Direct::constants_offset`] (launch, 5.4; HW for four words, more INFERRED). They must end
    /// at or below +0xc0.
    pub constants: ArrayVec<u32, MAX_CONSTANTS>,
}

impl Direct {
    const NAME: &'static str = "resource record";

    /// A record with these buffers and no constants.
    ///
    /// # Errors
    /// When there are more than [`MAX_BUFFERS`] buffers.
    pub fn new(groups: Groups, buffers: &[u64]) -> Result<Direct> {
        match buffers.try_into() {
            Ok(buffers) => Ok(Direct {
                groups,
                buffers,
                constants: ArrayVec::new(),
            }),
            Err(_) => illegal(Self::NAME, "buffers", buffers.len() as u64, "1..=18"),
        }
    }

    /// Pointers to publish: the buffers and the group counts.
    #[must_use]
    pub fn pointers(&self) -> u8 {
        self.buffers.len() as u8 + 1
    }

    /// Offset of the constants in the record; a multiple of 8.
    #[must_use]
    pub fn constants_offset(&self) -> usize {
        8 * usize::from(self.pointers())
    }

    /// Writes the record that will lie at `at` into the first 0x100 bytes of `buffer`.
    ///
    /// # Errors
    /// When `buffer` is too small, `at` is not a multiple of 64, or a field is not legal.
    pub fn pack(&self, at: u64, buffer: &mut [u8]) -> Result<()> {
        let record = head_mut(Self::NAME, buffer, RECORD_SIZE)?;
        check_address(Self::NAME, at)?;
        Self::check_lengths(self.buffers.len(), self.constants.len())?;
        record.fill(0);
        let groups = self.groups.pack(Self::NAME, at, record)?;
        put_qword(record, 0, groups);
        for (k, buffer) in self.buffers.iter().enumerate() {
            check_va(Self::NAME, "buffer", *buffer)?;
            put_qword(record, 8 * (1 + k), *buffer);
        }
        put_words(record, self.constants_offset(), &self.constants);
        Ok(())
    }

    fn check_lengths(buffers: usize, constants: usize) -> Result<()> {
        if !(1..=MAX_BUFFERS).contains(&buffers) {
            return illegal(Self::NAME, "buffers", buffers as u64, "1..=18");
        }
        let room = (GROUPS_OFFSET - 8 * (1 + buffers)) / 4;
        if constants > room {
            let legal = "up to +0xc0 of the record";
            return illegal(Self::NAME, "constants", constants as u64, legal);
        }
        Ok(())
    }

    /// The record at `at`, of a shader with so many buffers and constants: the record does not say.
    ///
    /// # Errors
    /// When the bytes are too few or are no such record: a pointer of more than 42 bits, counts
    /// that are out of range or present in an indirect record, other bytes that are not zero.
    pub fn unpack(at: u64, bytes: &[u8], buffers: usize, constants: usize) -> Result<Direct> {
        let record = head(Self::NAME, bytes, RECORD_SIZE)?;
        check_address(Self::NAME, at)?;
        Self::check_lengths(buffers, constants)?;
        let end = 8 * (1 + buffers);
        for k in 0..buffers {
            check_va(Self::NAME, "buffer", qword(record, 8 * (1 + k)))?;
        }
        zeros(Self::NAME, record, end + 4 * constants, GROUPS_OFFSET)?;
        zeros(Self::NAME, record, GROUPS_OFFSET + 12, RECORD_SIZE)?;
        Ok(Direct {
            groups: Groups::unpack(Self::NAME, at, qword(record, 0), record)?,
            buffers: (0..buffers).map(|k| qword(record, 8 * (1 + k))).collect(),
            constants: (0..constants).map(|k| word(record, end + 4 * k)).collect(),
        })
    }
}

/// The record of table-mode compute: textures, or 19 to 32 buffers (launch, 6.3; HW).
///
/// Six argument pointers: the three tables, the group counts, [`THREADGROUP_ROOT`], 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Table {
    /// Address of the texture descriptors, 32 bytes each; 0 = none.
    pub textures: u64,
    /// Address of the sampler descriptors, 8 of 32 bytes each; 0 = none.
    pub samplers: u64,
    /// Address of the buffers' 8-byte addresses; 0 = none.
    pub buffers: u64,
    /// The number of workgroups.
    pub groups: Groups,
}

impl Table {
    const NAME: &'static str = "table record";
    /// Index of the argument pointer to the group counts (launch, 6.3; HW).
    pub const GROUPS_POINTER: u8 = 3;
    /// Index of the argument pointer that is [`THREADGROUP_ROOT`] (launch, 6.3; HW).
    pub const THREADGROUP_POINTER: u8 = 4;

    /// Writes the record that will lie at `at` into the first 0x100 bytes of `buffer`.
    ///
    /// # Errors
    /// When `buffer` is too small, `at` is not a multiple of 64, or a field is not legal.
    pub fn pack(&self, at: u64, buffer: &mut [u8]) -> Result<()> {
        let record = head_mut(Self::NAME, buffer, RECORD_SIZE)?;
        check_address(Self::NAME, at)?;
        record.fill(0);
        let groups = self.groups.pack(Self::NAME, at, record)?;
        put_tables(
            Self::NAME,
            record,
            self.textures,
            self.samplers,
            self.buffers,
        )?;
        put_qword(record, 24, groups);
        put_qword(record, 32, THREADGROUP_ROOT);
        Ok(())
    }

    /// The record at `at`.
    ///
    /// # Errors
    /// When the bytes are too few or are no such record, see [`Direct::unpack`].
    pub fn unpack(at: u64, bytes: &[u8]) -> Result<Table> {
        let record = head(Self::NAME, bytes, RECORD_SIZE)?;
        check_address(Self::NAME, at)?;
        let [textures, samplers, buffers] = tables(Self::NAME, record)?;
        if qword(record, 32) != THREADGROUP_ROOT {
            return unexpected(Self::NAME, 32, "the threadgroup root 0x80000000");
        }
        zeros(Self::NAME, record, 40, GROUPS_OFFSET)?;
        zeros(Self::NAME, record, GROUPS_OFFSET + 12, RECORD_SIZE)?;
        Ok(Table {
            textures,
            samplers,
            buffers,
            groups: Groups::unpack(Self::NAME, at, qword(record, 24), record)?,
        })
    }
}

/// The record of vertex and fragment shaders (launch, 6.4; HW).
///
/// Six argument pointers: the three tables and three zeros. The entry of the buffer table is the
/// API's slot. Any alignment: the proven driver puts the launcher directly behind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Graphics {
    /// Address of the texture descriptors, 32 bytes each; 0 = none.
    pub textures: u64,
    /// Address of the sampler descriptors, 8 of 32 bytes each; 0 = none.
    pub samplers: u64,
    /// Address of the buffers' 8-byte addresses; 0 = none.
    pub buffers: u64,
}

impl Graphics {
    const NAME: &'static str = "graphics record";

    /// Writes the record into the first 0x100 bytes of `buffer`.
    ///
    /// # Errors
    /// When `buffer` is too small or an address has more than 42 bits.
    pub fn pack(&self, buffer: &mut [u8]) -> Result<()> {
        let record = head_mut(Self::NAME, buffer, RECORD_SIZE)?;
        record.fill(0);
        put_tables(
            Self::NAME,
            record,
            self.textures,
            self.samplers,
            self.buffers,
        )
    }

    /// The record in the first 0x100 bytes.
    ///
    /// # Errors
    /// When the bytes are too few, an address has more than 42 bits, or other bytes are not zero.
    pub fn unpack(bytes: &[u8]) -> Result<Graphics> {
        let record = head(Self::NAME, bytes, RECORD_SIZE)?;
        let [textures, samplers, buffers] = tables(Self::NAME, record)?;
        zeros(Self::NAME, record, 24, RECORD_SIZE)?;
        Ok(Graphics {
            textures,
            samplers,
            buffers,
        })
    }
}

const TABLES: [&str; 3] = ["texture table", "sampler table", "buffer table"];

fn put_tables(
    structure: &'static str,
    record: &mut [u8],
    textures: u64,
    samplers: u64,
    buffers: u64,
) -> Result<()> {
    for (i, address) in [textures, samplers, buffers].into_iter().enumerate() {
        check_va(structure, TABLES[i], address)?;
        put_qword(record, 8 * i, address);
    }
    Ok(())
}

fn tables(structure: &'static str, record: &[u8]) -> Result<[u64; 3]> {
    let addresses = [0, 8, 16].map(|offset| qword(record, offset));
    for (name, address) in TABLES.into_iter().zip(addresses) {
        check_va(structure, name, address)?;
    }
    Ok(addresses)
}
