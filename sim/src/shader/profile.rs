// SPDX-License-Identifier: MIT
//! Counts what is executed.
//!
//! One counter for each instruction at each address, with the lanes that were active; everything else
//! (operations, memory accesses, waits, use of lanes) is derived from these when the profile is read.
//! Profiles of several workers add up with [`Profile::merge`]; the sum does not depend on the order.

use std::collections::HashMap;
use std::fmt;

use agx_isa::{Instr, MemoryOp, Space};

use super::lanes::LANES;
use super::observe::Observer;
use super::program::Program;
use super::wave::Wave;
use crate::fault::FaultKind;

/// How often something was executed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// By SIMD groups.
    pub executed: u64,
    /// By active lanes of them.
    pub lanes: u64,
}

impl Count {
    fn add(&mut self, other: Count) {
        self.executed += other.executed;
        self.lanes += other.lanes;
    }

    /// Active lanes of all lanes, 0 to 1.
    #[must_use]
    pub fn utilisation(&self) -> f64 {
        ratio(self.lanes, self.executed * LANES as u64)
    }
}

/// The observer, and what it has counted. Its `Display` is a table of operations.
#[derive(Clone, Debug, Default)]
pub struct Profile {
    /// Programs of several address spaces may have different instructions at one address.
    hits: HashMap<(u64, Instr), Count>,
}

impl Profile {
    /// Nothing counted.
    #[must_use]
    pub fn new() -> Profile {
        Profile::default()
    }

    /// Adds what another one has counted.
    pub fn merge(&mut self, other: &Profile) {
        for (key, count) in &other.hits {
            self.hits.entry(*key).or_default().add(*count);
        }
    }

    /// Everything together.
    #[must_use]
    pub fn total(&self) -> Count {
        let mut total = Count::default();
        self.hits.values().for_each(|count| total.add(*count));
        total
    }

    /// By address, in order.
    #[must_use]
    pub fn by_address(&self) -> Vec<(u64, Instr, Count)> {
        let mut lines: Vec<_> = self
            .hits
            .iter()
            .map(|(&(address, instr), &count)| (address, instr, count))
            .collect();
        lines.sort_by_key(|(address, instr, _)| (*address, instr.bits()));
        lines
    }

    /// By operation, the most frequent first.
    #[must_use]
    pub fn by_operation(&self) -> Vec<(&'static str, Count)> {
        self.grouped(|instr| Some(instr.op_name()))
    }

    /// By kind of memory access, the most frequent first.
    #[must_use]
    pub fn by_memory(&self) -> Vec<((Space, MemoryOp), Count)> {
        self.grouped(Instr::memory)
    }

    /// How often each slot 1 to 6 was named by a wait field.
    #[must_use]
    pub fn waits(&self) -> [u64; 6] {
        let mut waits = [0; 6];
        for ((_, instr), count) in &self.hits {
            for slot in instr.waits().iter() {
                waits[usize::from(slot - 1)] += count.executed;
            }
        }
        waits
    }

    fn grouped<K: Copy + Eq + std::hash::Hash + fmt::Debug>(
        &self,
        key: impl Fn(&Instr) -> Option<K>,
    ) -> Vec<(K, Count)> {
        let mut groups: HashMap<K, Count> = HashMap::new();
        for ((_, instr), count) in &self.hits {
            if let Some(key) = key(instr) {
                groups.entry(key).or_default().add(*count);
            }
        }
        let mut groups: Vec<_> = groups.into_iter().collect();
        // Equal counts in the order of their names.
        groups.sort_by_cached_key(|(key, count)| {
            (std::cmp::Reverse(count.executed), format!("{key:?}"))
        });
        groups
    }

    /// The program with its counts, as text in the order of addresses.
    #[must_use]
    pub fn listing(&self) -> String {
        let total = self.total();
        let line = |(address, instr, count): (u64, Instr, Count)| {
            format!(
                "{:>12} {:>5.1}% {:>5.1}%  {address:x}: {instr}\n",
                count.executed,
                100.0 * ratio(count.executed, total.executed),
                100.0 * count.utilisation(),
            )
        };
        self.by_address().into_iter().map(line).collect()
    }
}

fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        0.0
    } else {
        part as f64 / whole as f64
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let total = self.total();
        let line = |f: &mut fmt::Formatter<'_>, name: &str, count: Count| {
            writeln!(
                f,
                "{name:<24} {:>12} {:>5.1}%  lanes {:>5.1}%",
                count.executed,
                100.0 * ratio(count.executed, total.executed),
                100.0 * count.utilisation(),
            )
        };
        line(f, "all", total)?;
        for (name, count) in self.by_operation() {
            line(f, name, count)?;
        }
        for ((space, op), count) in self.by_memory() {
            let name = format!("[{space:?} {op:?}]").to_lowercase();
            line(f, &name, count)?;
        }
        for (i, waits) in self.waits().into_iter().enumerate() {
            if waits != 0 {
                writeln!(f, "[wait for slot {}]{waits:>20}", i + 1)?;
            }
        }
        Ok(())
    }
}

impl Observer for Profile {
    fn before(
        &mut self,
        wave: &Wave<'_>,
        program: &Program,
        index: usize,
    ) -> Result<(), FaultKind> {
        let info = &program.info()[index];
        if let Some(instr) = info.instr {
            self.hits
                .entry((info.address, instr))
                .or_default()
                .add(Count {
                    executed: 1,
                    lanes: u64::from(wave.active().count_ones()),
                });
        }
        Ok(())
    }
}
