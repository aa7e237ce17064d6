// SPDX-License-Identifier: MIT
//! Buffers that nobody needs at the moment, kept bound for the next who does.

use std::sync::{Mutex, PoisonError};

use super::bo::{Parts, discard};
use super::{Gpu, Zone};

/// Most bytes kept.
const BUDGET: u64 = 256 << 20;

/// A buffer is used again for sizes down to this part of its own.
const SLACK: u64 = 4;

/// The buffers, oldest first.
#[derive(Default)]
pub(super) struct Recycler {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    bytes: u64,
    kept: Vec<(Zone, Parts)>,
}

impl Recycler {
    /// The smallest buffer that fits and wastes less than a quarter of itself.
    pub(super) fn take(&self, zone: Zone, size: u64) -> Option<Parts> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = |(_, (z, parts)): &(usize, &(Zone, Parts))| {
            let has = parts.taken.size;
            *z == zone && has >= size && has - size <= has / SLACK
        };
        let fitting = state.kept.iter().enumerate().filter(fits);
        let (index, _) = fitting.min_by_key(|(_, (_, parts))| parts.taken.size)?;
        let (_, parts) = state.kept.remove(index);
        state.bytes -= parts.taken.size;
        Some(parts)
    }

    /// Keeps a buffer; the oldest go when the budget is exceeded.
    pub(super) fn keep(&self, gpu: &Gpu, zone: Zone, parts: Parts) {
        let mut excess = Vec::new();
        {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            state.bytes += parts.taken.size;
            state.kept.push((zone, parts));
            while state.bytes > BUDGET && !state.kept.is_empty() {
                let oldest = state.kept.remove(0);
                state.bytes -= oldest.1.taken.size;
                excess.push(oldest);
            }
        }
        for (zone, parts) in excess {
            discard(gpu, zone, parts);
        }
    }

    /// Gives everything back to the kernel; returns how many bytes that were.
    pub(super) fn release(&self, gpu: &Gpu) -> u64 {
        let (bytes, kept) = {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            (
                std::mem::take(&mut state.bytes),
                std::mem::take(&mut state.kept),
            )
        };
        for (zone, parts) in kept {
            discard(gpu, zone, parts);
        }
        bytes
    }
}
