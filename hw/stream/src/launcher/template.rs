// SPDX-License-Identifier: MIT
//! Launchers of one shader, which differ in their root record only.

use super::emit::Literals;
use super::{Launcher, NAME};
use crate::bytes::head_mut;
use crate::error::{Result, illegal};
use crate::window::{CodeAddress, LauncherAddress, check_va};

/// A launcher of which everything is written but the address of its root record, which is in its
/// first two instructions (launch, 5.1; HW).
///
/// A driver makes one for each shader; a launcher for a dispatch is then a copy and two words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    literals: Literals,
    bytes: Box<[u8]>,
}

impl Template {
    /// The template of a launcher; what it says of its table does not matter.
    ///
    /// # Errors
    /// When the launcher is not legal, or has a preamble: where that lies depends on the launcher's
    /// own address.
    pub fn new(launcher: &Launcher) -> Result<Template> {
        if let Some(preamble) = launcher.preamble {
            let legal = "none in a template";
            return illegal(NAME, "preamble", preamble.address(), legal);
        }
        // Without a preamble the program does not depend on where it lies.
        let anywhere = LauncherAddress::new(CodeAddress::from_offset(0))?;
        let launcher = Launcher {
            table: 8,
            ..launcher.clone()
        };
        Ok(Template {
            literals: Literals::new(launcher.registers.root),
            bytes: launcher.to_vec(anywhere)?.into_boxed_slice(),
        })
    }

    /// Bytes of the launchers.
    #[must_use]
    #[inline]
    pub fn size(&self) -> usize {
        self.bytes.len()
    }

    /// Writes the launcher for the root record at `table` into the first bytes of `buffer`, and
    /// zeros behind it.
    ///
    /// # Errors
    /// When `buffer` is too small or `table` is 0, no multiple of 8, or has more than 42 bits.
    #[inline]
    pub fn write(&self, table: u64, buffer: &mut [u8]) -> Result<()> {
        head_mut(NAME, buffer, self.bytes.len())?;
        check_va(NAME, "table", table)?;
        if table == 0 || !table.is_multiple_of(8) {
            return illegal(NAME, "table", table, "a multiple of 8, not 0");
        }
        let (program, rest) = buffer.split_at_mut(self.bytes.len());
        program.copy_from_slice(&self.bytes);
        if let Some(first) = program.first_chunk_mut() {
            *first = self.literals.of(table);
        }
        rest.fill(0);
        Ok(())
    }
}
