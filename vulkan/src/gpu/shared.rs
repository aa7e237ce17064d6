// SPDX-License-Identifier: MIT
//! Handles of buffers that others may see.
//!
//! An open file has one handle for a buffer, however often it imports it, and closing the handle
//! closes it for all (DRM, PRIME). So whoever shares a handle is counted, and the last one closes it.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use agx_uapi::{Errno, GemHandle, Kernel};

/// How many buffers of the device have each handle.
#[derive(Default)]
pub(super) struct Shared {
    owners: Mutex<HashMap<GemHandle, u32>>,
}

impl Shared {
    /// Counts an owner of the handle that `open` gets. No one closes it meanwhile.
    pub(super) fn open(
        &self,
        open: impl FnOnce() -> Result<GemHandle, Errno>,
    ) -> Result<GemHandle, Errno> {
        let mut owners = self.owners.lock().unwrap_or_else(PoisonError::into_inner);
        let gem = open()?;
        *owners.entry(gem).or_insert(0) += 1;
        Ok(gem)
    }

    /// Drops an owner, and closes the handle after the last.
    pub(super) fn close(&self, kernel: &dyn Kernel, gem: GemHandle) -> Result<(), Errno> {
        let mut owners = self.owners.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = owners.get_mut(&gem) {
            *count -= 1;
            if *count > 0 {
                return Ok(());
            }
            owners.remove(&gem);
        }
        kernel.gem_close(gem)
    }
}
