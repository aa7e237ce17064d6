// SPDX-License-Identifier: MIT
//! Decoded programs, kept for the next dispatch.
//!
//! A program is found by its entry address and used only when memory still holds the very bytes it
//! was decoded from, so neither rewritten code nor another address space can be served stale
//! micro-ops. Programs that reach unmapped memory are not kept: mapping it makes others of them. Of
//! the programs at one address the latest used are kept, as launch programs are rewritten in place for
//! every dispatch.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::program::Program;
use crate::memory::Mappings;

/// Bytes of host memory used before old programs are dropped.
const CAPACITY: usize = 256 << 20;
/// Programs kept for one entry address.
const CANDIDATES: usize = 16;

#[derive(Default)]
struct Inner {
    /// By entry address; several address spaces may hold different code at one address.
    programs: HashMap<u64, Vec<(Arc<Program>, u64)>>,
    bytes: usize,
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

    /// Programs kept.
    #[must_use]
    pub fn len(&self) -> usize {
        let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.programs.values().map(Vec::len).sum()
    }

    /// True when none are.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
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
        if program.is_complete() {
            let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
            inner.insert(Arc::clone(&program), now);
        }
        program
    }
}

impl Inner {
    fn insert(&mut self, program: Arc<Program>, now: u64) {
        self.bytes += program.footprint();
        let candidates = self.programs.entry(program.entry()).or_default();
        if candidates.len() == CANDIDATES {
            let ages = candidates.iter().map(|(_, used)| *used).enumerate();
            if let Some((oldest, _)) = ages.min_by_key(|(_, used)| *used) {
                let (dropped, _) = candidates.swap_remove(oldest);
                self.bytes -= dropped.footprint();
            }
        }
        candidates.push((program, now));
        if self.bytes > CAPACITY {
            self.drop_oldest();
        }
    }

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
        self.bytes = kept.map(|(program, _)| program.footprint()).sum();
    }
}
