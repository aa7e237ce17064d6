// SPDX-License-Identifier: MIT
//! Launchers of the graphics stages.
//!
//! launch, 6.4 and graphics, 4.4. All publish the six pointers of a
//! [graphics root record](crate::root::Graphics). Vertex launchers have no on-chip storage. Fragment
//! launchers have tile memory, and so have the programs around them: background, end-of-tile, and both
//! of a partial render are launched as fragments.

use super::{Frame, Launcher, Samples, Storage};
use crate::error::Result;
use crate::root::TABLE_POINTERS;
use crate::window::EntryOffset;

/// Bytes of a slot that holds a launcher of six pointers, with or without a preamble, and the padding, as
/// the proven driver allocates it (graphics, 4.4; HW). The root record's 256 bytes lie in front of it.
pub const GRAPHICS_SLOT_SIZE: usize = 0x100;

impl Launcher {
    /// The launcher of a vertex shader, whose root record lies at `table`.
    #[must_use]
    pub fn vertex(table: u64, entry: EntryOffset, frame: Frame) -> Launcher {
        Launcher {
            frame,
            ..Launcher::new(table, TABLE_POINTERS, entry)
        }
    }

    /// The launcher of a fragment shader or tile program, whose root record lies at `table`, in a pass
    /// with `tile_bytes` bytes of tile memory for each sample.
    ///
    /// # Errors
    /// When that is more than 128 bytes with one sample or 64 with two or four.
    pub fn fragment(
        table: u64,
        entry: EntryOffset,
        frame: Frame,
        samples: Samples,
        tile_bytes: u32,
    ) -> Result<Launcher> {
        Ok(Launcher {
            storage: Storage::tile(samples, tile_bytes)?,
            ..Launcher::vertex(table, entry, frame)
        })
    }
}
