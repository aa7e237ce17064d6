// SPDX-License-Identifier: MIT
//! Depth-bias entries: those of a pass's array (graphics, 7.5).

use crate::bytes::{head, head_mut, put_words, words3};
use crate::error::Result;

/// Bytes in an entry, and from one to the next: no padding (graphics, 7.5; HW).
pub const ENTRY_SIZE: usize = 12;
/// Most entries of a pass: the index has 16 bits.
pub const MAX_ENTRIES: usize = 65536;

const NAME: &str = "depth-bias entry";

/// An entry (graphics, 7.5; HW). A draw uses it if its fragment control says so.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DepthBias {
    /// Units. On 32-bit float depth a unit moved flat depth by 2^-24 in vendor streams (TRACE); the proven
    /// driver stores twice OpenGL's number (HW).
    pub constant: f32,
    /// Times the slope of depth.
    pub slope: f32,
    /// Limit of the sum.
    pub clamp: f32,
}

impl DepthBias {
    /// Writes the entry into the first bytes of `buffer`.
    ///
    /// # Errors
    /// When `buffer` is too small.
    pub fn pack(&self, buffer: &mut [u8]) -> Result<()> {
        let out = head_mut(NAME, buffer, ENTRY_SIZE)?;
        let words = [self.constant, self.slope, self.clamp].map(f32::to_bits);
        put_words(out, 0, &words);
        Ok(())
    }

    /// The entry in the first bytes.
    ///
    /// # Errors
    /// When the bytes are too few.
    pub fn unpack(bytes: &[u8]) -> Result<DepthBias> {
        let [constant, slope, clamp] =
            words3(head(NAME, bytes, ENTRY_SIZE)?, 0).map(f32::from_bits);
        Ok(DepthBias {
            constant,
            slope,
            clamp,
        })
    }
}
