// SPDX-License-Identifier: MIT
//! Arguments that hardware reads from memory when it comes to a dispatch or a draw.

use crate::bytes::{head, head_mut, put_words, word};
use crate::error::{Result, illegal};
use crate::window::check_va;

const NAME: &str = "indirect arguments";

/// The address of indirect arguments: not 0, a multiple of 4, below 2^42 (launch, 8.4; HW,
/// graphics, 3.5; TRACE).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct IndirectAddress(u64);

impl IndirectAddress {
    /// Arguments at `address`.
    ///
    /// # Errors
    /// When the address is 0, not a multiple of 4, or has more than 42 bits.
    pub fn new(address: u64) -> Result<IndirectAddress> {
        check_va(NAME, "address", address)?;
        if address == 0 || !address.is_multiple_of(4) {
            let legal = "a multiple of 4, not 0";
            return illegal(NAME, "address", address, legal);
        }
        Ok(IndirectAddress(address))
    }

    /// The GPU virtual address.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// High word first.
    pub(crate) const fn words(self) -> [u32; 2] {
        [(self.0 >> 32) as u32, self.0 as u32]
    }

    pub(crate) fn from_words(bytes: &[u8], offset: usize) -> Result<IndirectAddress> {
        let high = u64::from(word(bytes, offset));
        IndirectAddress::new(high << 32 | u64::from(word(bytes, offset + 4)))
    }
}

impl std::fmt::Debug for IndirectAddress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "IndirectAddress({:#x})", self.0)
    }
}

/// What an indirect draw without indices reads (graphics, 3.5; TRACE). Counts of 0 draw nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct DrawArguments {
    /// Vertices of an instance.
    pub count: u32,
    /// Instances.
    pub instances: u32,
    /// The first vertex.
    pub first: u32,
    /// The first instance: hardware does not use it. A shader that needs it reads it from here.
    pub first_instance: u32,
}

impl DrawArguments {
    /// Bytes.
    pub const SIZE: usize = 16;
    /// Offset of the first instance.
    pub const FIRST_INSTANCE: u64 = 12;

    /// Writes the arguments into the first bytes of `buffer`.
    ///
    /// # Errors
    /// When `buffer` is too small.
    pub fn pack(&self, buffer: &mut [u8]) -> Result<()> {
        let out = head_mut(NAME, buffer, Self::SIZE)?;
        let words = [self.count, self.instances, self.first, self.first_instance];
        put_words(out, 0, &words);
        Ok(())
    }

    /// The arguments in the first bytes.
    ///
    /// # Errors
    /// When the bytes are too few.
    pub fn unpack(bytes: &[u8]) -> Result<DrawArguments> {
        let bytes = head(NAME, bytes, Self::SIZE)?;
        Ok(DrawArguments {
            count: word(bytes, 0),
            instances: word(bytes, 4),
            first: word(bytes, 8),
            first_instance: word(bytes, 12),
        })
    }
}

/// What an indirect draw with indices reads (graphics, 3.5; TRACE). Counts of 0 draw nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct IndexedDrawArguments {
    /// Indices of an instance.
    pub count: u32,
    /// Instances.
    pub instances: u32,
    /// The first index, counted from the draw's index buffer.
    pub first: u32,
    /// Added to every index.
    pub base: i32,
    /// The first instance: hardware does not use it. A shader that needs it reads it from here.
    pub first_instance: u32,
}

impl IndexedDrawArguments {
    /// Bytes.
    pub const SIZE: usize = 20;
    /// Offset of the first instance.
    pub const FIRST_INSTANCE: u64 = 16;

    /// Writes the arguments into the first bytes of `buffer`.
    ///
    /// # Errors
    /// When `buffer` is too small.
    pub fn pack(&self, buffer: &mut [u8]) -> Result<()> {
        let out = head_mut(NAME, buffer, Self::SIZE)?;
        let base = self.base.cast_unsigned();
        let (count, instances) = (self.count, self.instances);
        let words = [count, instances, self.first, base, self.first_instance];
        put_words(out, 0, &words);
        Ok(())
    }

    /// The arguments in the first bytes.
    ///
    /// # Errors
    /// When the bytes are too few.
    pub fn unpack(bytes: &[u8]) -> Result<IndexedDrawArguments> {
        let bytes = head(NAME, bytes, Self::SIZE)?;
        Ok(IndexedDrawArguments {
            count: word(bytes, 0),
            instances: word(bytes, 4),
            first: word(bytes, 8),
            base: word(bytes, 12).cast_signed(),
            first_instance: word(bytes, 16),
        })
    }
}
