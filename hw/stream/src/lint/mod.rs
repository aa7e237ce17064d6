// SPDX-License-Identifier: MIT
//! What can be said against a stream without running it.
//!
//! [`compute`] is what a kernel checks before it runs a compute stream; its items are here too.
//! [`graphics`] is what the reference demands of a render stream, records, state and what they name.

pub mod compute;
pub mod graphics;

pub use compute::{
    MAX_DEPTH, MAX_RECORDS, PREEMPTION_OFFSET, PREEMPTION_USED, Refusal, Rules, Summary, check,
};

use crate::window::PAGE_SIZE;

/// Whether the range is mapped readable: memory is mapped in pages, so one word of each tells.
fn is_readable(read: &mut impl FnMut(u64, &mut [u8]) -> bool, start: u64, size: u64) -> bool {
    let Some(last) = size.checked_sub(1).and_then(|n| start.checked_add(n)) else {
        return false;
    };
    let mut at = start & !3;
    loop {
        if !read(at, &mut [0; 4]) {
            return false;
        }
        match (at & !(PAGE_SIZE - 1)).checked_add(PAGE_SIZE) {
            Some(next) if next <= last => at = next,
            _ => return true,
        }
    }
}
