// SPDX-License-Identifier: MIT
//! What stands in front of a draw of one pipeline: vertex state and nine updates.

use super::{VdmStream, VertexState};
use crate::bytes::head_mut;
use crate::error::Result;
use crate::ppp::{Kind, Record as PppRecord};
use crate::window::{ContextAddress, LauncherAddress};

const UPDATES: usize = 7;
const WORDS: usize = UPDATES + 2 * Kind::ALL.len();
const LAUNCHER: usize = 3;

/// The canonical state of a draw, graphics, 3.10 (HW), as words, of which two addresses are replaced.
///
/// A driver makes one for each pipeline; its draws then cost a copy and ten words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    words: [u32; WORDS],
}

impl Template {
    /// Bytes that [`Template::write`] writes.
    pub const SIZE: usize = 4 * WORDS;

    /// The template of a vertex state; what it says of its launcher does not matter.
    ///
    /// # Errors
    /// When the state is not legal.
    pub fn new(state: &VertexState) -> Result<Template> {
        let mut words = [0; WORDS];
        words[..UPDATES].copy_from_slice(&state.words()?);
        let updates = PppRecord::updates(ContextAddress::from_offset(0)?)?;
        for (place, update) in words[UPDATES..].chunks_exact_mut(2).zip(updates) {
            place.copy_from_slice(&update.pair());
        }
        Ok(Template { words })
    }

    /// Writes the state that starts vertices with `launcher` and applies the
    /// [record](crate::ppp::Record) at `record`.
    ///
    /// # Errors
    /// When `buffer` is smaller than [`Template::SIZE`], `record` is not a multiple of 64, or the record
    /// does not end in the window.
    pub fn write(
        &self,
        launcher: LauncherAddress,
        record: ContextAddress,
        buffer: &mut [u8],
    ) -> Result<()> {
        crate::ppp::check_address(record)?;
        let out = head_mut("VDM stream", buffer, Self::SIZE)?;
        let mut words = self.words;
        words[LAUNCHER] = launcher.units();
        for update in words[UPDATES..].chunks_exact_mut(2) {
            // Below 256 so far, and the record ends in the window.
            update[1] += record.offset();
        }
        for (place, word) in out.chunks_exact_mut(4).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        Ok(())
    }
}

impl VdmStream<'_> {
    /// Appends the state of a draw, as [`Template::write`] does.
    ///
    /// # Errors
    /// When the memory is full or `record` is not legal; the stream is then as before.
    pub fn state(
        &mut self,
        template: &Template,
        launcher: LauncherAddress,
        record: ContextAddress,
    ) -> Result<()> {
        template.write(launcher, record, self.rest())?;
        self.advance(Template::SIZE);
        Ok(())
    }
}
