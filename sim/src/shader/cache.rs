// SPDX-License-Identifier: MIT
//! Decoded programs, kept for the next dispatch.
//!
//! A program is found by its entry address and used only when memory still holds the very bytes it
//! was decoded from, so neither rewritten code nor another address space can be served stale
//! micro-ops.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::program::Program;
use crate::memory::Mappings;

/// Bytes of code kept before old programs are dropped.
const CAPACITY: usize = 64 << 20;

#[derive(Default)]
struct Inner {
    /// By entry address; several address spaces may hold different code at one address.
    programs: HashMap<u64, Vec<(Arc<Program>, u64)>>,
    code_bytes: usize,
    /// Counts look-ups: the age of entries.
    clock: u64,
}

/// A cache shared by all workers.
#[derive(Default)]
pub struct ProgramCache {
    inner: Mutex<Inner>,
}

impl ProgramCache {
    /// An empty one.
    #[must_use]
    pub fn new() -> ProgramCache {
        ProgramCache::default()
    }

    /// The program at `entry`, decoded when it is new or has changed.
    #[must_use]
    pub fn get(&self, mappings: &Mappings, entry: u64) -> Arc<Program> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.clock += 1;
        let now = inner.clock;
        if let Some(candidates) = inner.programs.get_mut(&entry) {
            for (program, used) in candidates {
                if program.matches(mappings) {
                    *used = now;
                    return Arc::clone(program);
                }
            }
        }
        drop(inner);
        let program = Arc::new(Program::build(mappings, entry));
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.code_bytes += program.code_bytes();
        inner
            .programs
            .entry(entry)
            .or_default()
            .push((Arc::clone(&program), now));
        if inner.code_bytes > CAPACITY {
            inner.drop_oldest();
        }
        program
    }
}

impl Inner {
    /// Drops the older half.
    fn drop_oldest(&mut self) {
        let mut ages: Vec<u64> = self
            .programs
            .values()
            .flatten()
            .map(|(_, used)| *used)
            .collect();
        ages.sort_unstable();
        let limit = ages[ages.len() / 2];
        self.programs.retain(|_, candidates| {
            candidates.retain(|(_, used)| *used > limit);
            !candidates.is_empty()
        });
        let kept = self.programs.values().flatten();
        self.code_bytes = kept.map(|(program, _)| program.code_bytes()).sum();
    }
}
