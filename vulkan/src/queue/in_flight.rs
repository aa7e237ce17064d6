// SPDX-License-Identifier: MIT
//! How submits ended.
//!
//! A wait tells that a submit is over, not whether it went well; only its own fence does
//! (kernel-uapi, 15), and a timeline forgets it. So every submit of the kernel also puts its fence
//! into a syncobj of its own here, a *slot*, which is looked at once when the submit is over.

use agx_uapi::{Errno, Kernel, SyncHandle};

use crate::error::{VkResult, kernel};
use crate::host::{HostAllocator, HostVec, OUT_OF_HOST};

/// After so many submits in a row that are not over none is looked for: submits of a queue end in
/// their order, or nearly so (kernel-uapi, 11.2).
const PENDING_IN_A_ROW: usize = 2;

/// So many submits may have ended unseen before [`InFlight::tidy`] looks.
const UNSEEN: usize = 64;

/// Slots of a queue.
pub(super) struct InFlight {
    /// Of accepted submits, oldest first.
    used: HostVec<SyncHandle>,
    free: HostVec<SyncHandle>,
    /// Slots that exist: so many fit both lists, so that no list ever grows outside of a submit.
    count: usize,
    /// When [`InFlight::tidy`] looks next.
    tidy_at: usize,
}

impl InFlight {
    pub(super) fn new(host: HostAllocator) -> InFlight {
        InFlight {
            used: host.vec(),
            free: host.vec(),
            count: 0,
            tidy_at: UNSEEN,
        }
    }

    /// How many slots there are.
    #[cfg(test)]
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// A slot for a submit that is being prepared.
    ///
    /// # Errors
    /// When there is no memory; nothing has changed.
    pub(super) fn take(&mut self, interface: &dyn Kernel) -> VkResult<SyncHandle> {
        if let Some(slot) = self.free.pop() {
            return Ok(slot);
        }
        let lacking = |list: &HostVec<SyncHandle>| self.count + 1 - list.len();
        let (used, free) = (lacking(&self.used), lacking(&self.free));
        self.used.try_reserve(used).map_err(|_| OUT_OF_HOST)?;
        self.free.try_reserve(free).map_err(|_| OUT_OF_HOST)?;
        let slot = interface
            .syncobj_create(false)
            .map_err(kernel("SYNCOBJ_CREATE"))?;
        self.count += 1;
        Ok(slot)
    }

    /// A slot of a submit that did not come about.
    pub(super) fn give_back(&mut self, slot: SyncHandle) {
        debug_assert!(self.free.len() < self.count);
        self.free.push(slot);
    }

    /// A submit that the kernel has accepted.
    pub(super) fn add(&mut self, slot: SyncHandle) {
        debug_assert!(self.used.len() < self.count);
        self.used.push(slot);
    }

    /// The oldest submit that has not been seen to be over.
    pub(super) fn oldest(&self) -> Option<SyncHandle> {
        self.used.first().copied()
    }

    /// Looks at submits that are over; each once.
    ///
    /// # Errors
    /// The error of the first that failed.
    pub(super) fn inspect(&mut self, interface: &dyn Kernel) -> Result<(), Errno> {
        let mut result = Ok(());
        let mut pending = 0;
        let mut kept = 0;
        for index in 0..self.used.len() {
            let slot = self.used[index];
            let ended = if pending < PENDING_IN_A_ROW {
                // Without descriptors there is no telling; the next look will tell.
                interface.syncobj_status(slot).unwrap_or(None)
            } else {
                None
            };
            match ended {
                Some(outcome) => {
                    result = result.and(outcome);
                    pending = 0;
                    self.free.push(slot);
                }
                None => {
                    pending += 1;
                    self.used[kept] = slot;
                    kept += 1;
                }
            }
        }
        self.used.truncate(kept);
        result
    }

    /// Looks when there are many.
    ///
    /// # Errors
    /// As for [`InFlight::inspect`].
    pub(super) fn tidy(&mut self, interface: &dyn Kernel) -> Result<(), Errno> {
        if self.used.len() < self.tidy_at {
            return Ok(());
        }
        let result = self.inspect(interface);
        self.tidy_at = UNSEEN.max(2 * self.used.len());
        result
    }

    /// Destroys the slots. What is in flight keeps its fences.
    pub(super) fn clear(&mut self, interface: &dyn Kernel) {
        for slot in self.used.drain(..).chain(self.free.drain(..)) {
            if let Err(errno) = interface.syncobj_destroy(slot) {
                crate::debug::error(&format_args!("SYNCOBJ_DESTROY: {errno}"));
            }
        }
        self.count = 0;
    }
}
