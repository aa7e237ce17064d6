// SPDX-License-Identifier: MIT
//! Gives spilled values their words of scratch memory.
//!
//! Values that are live at one time get different words; others may share one. A phi of memory and its sources are
//! brought into one word where that is safe, so that nothing is to be done on the edge: they must not be live at one
//! time, and as the phi's word is written at the end of its predecessors, nothing else that is live there may be in it.

use std::collections::{BTreeMap, BTreeSet};

use crate::analysis::{Liveness, ValueSet};
use crate::ir::{End, Function, Src, Value};

/// Words by value, counted from 0.
#[derive(Debug, Default)]
pub(crate) struct Words {
    words: BTreeMap<Value, u32>,
    /// How many there are.
    pub(crate) count: u32,
}

impl Words {
    /// The word of a spilled value.
    pub(crate) fn of(&self, value: Value) -> Result<u32, String> {
        self.words
            .get(&value)
            .copied()
            .ok_or_else(|| format!("{value} has no scratch word"))
    }

    /// Do both have words, and the same one?
    pub(crate) fn same(&self, a: Value, b: Value) -> bool {
        self.words
            .get(&a)
            .is_some_and(|w| self.words.get(&b) == Some(w))
    }
}

/// Values by classes that share a word, and which of them may not.
struct Classes {
    values: Vec<Value>,
    /// By value, as a place in `values`: with which ones it must not share; of a class, in its leader's row.
    rows: Vec<ValueSet>,
    leader: Vec<usize>,
}

/// Gives words to the values in `spilled`. `memory_phis` are the results of phis of memory, which are among these.
pub(crate) fn assign(
    function: &Function,
    spilled: &BTreeSet<Value>,
    memory_phis: &BTreeSet<Value>,
) -> Words {
    let values: Vec<Value> = spilled.iter().copied().collect();
    let mut classes = Classes {
        rows: vec![ValueSet::new(values.len() as u32); values.len()],
        leader: (0..values.len()).collect(),
        values,
    };
    classes.interference(function, memory_phis);
    for data in &function.blocks {
        for phi in data.phis.iter().filter(|p| memory_phis.contains(&p.dst)) {
            for src in phi.srcs.iter().filter_map(Src::value) {
                classes.join(phi.dst, src);
            }
        }
    }
    classes.colour()
}

impl Classes {
    fn place(&self, value: Value) -> Option<usize> {
        self.values.binary_search(&value).ok()
    }

    fn interfere(&mut self, value: Value, others: &ValueSet) {
        let Some(a) = self.place(value) else { return };
        for other in others.iter().filter(|o| *o != value) {
            if let Some(b) = self.place(other) {
                self.rows[a].insert(Value(b as u32));
                self.rows[b].insert(Value(a as u32));
            }
        }
    }

    fn interference(&mut self, function: &Function, memory_phis: &BTreeSet<Value>) {
        let liveness = Liveness::of(function);
        for block in function.block_ids() {
            let data = &function.blocks[block.index()];
            let mut live = liveness.live_out(block).clone();
            if let End::If { cond, .. } = &data.end {
                for value in cond.srcs().iter().filter_map(Src::value) {
                    live.insert(value);
                }
            }
            for instr in data.instrs.iter().rev() {
                // The results of one instruction are there at one time, read or not.
                instr.for_each_dst_value(|value| {
                    live.insert(value);
                });
                instr.for_each_dst_value(|value| self.interfere(value, &live));
                instr.for_each_dst_value(|value| {
                    live.remove(value);
                });
                instr.for_each_src_value(|value| {
                    live.insert(value);
                });
            }
            for phi in &data.phis {
                live.insert(phi.dst);
            }
            for phi in &data.phis {
                self.interfere(phi.dst, &live);
                if !memory_phis.contains(&phi.dst) {
                    continue;
                }
                for (pred, src) in data.preds.iter().zip(&phi.srcs) {
                    let mut others = liveness.live_out(*pred).clone();
                    if let Some(value) = src.value() {
                        others.remove(value);
                    }
                    self.interfere(phi.dst, &others);
                }
            }
        }
    }

    fn leader(&self, mut place: usize) -> usize {
        while self.leader[place] != place {
            place = self.leader[place];
        }
        place
    }

    fn join(&mut self, a: Value, b: Value) {
        let (Some(a), Some(b)) = (self.place(a), self.place(b)) else {
            return;
        };
        let (a, b) = (self.leader(a), self.leader(b));
        if a == b || self.rows[a].iter().any(|o| self.leader(o.0 as usize) == b) {
            return;
        }
        let row = std::mem::take(&mut self.rows[b]);
        self.rows[a].union_with(&row);
        self.leader[b] = a;
    }

    fn colour(&self) -> Words {
        let mut words: Vec<Option<u32>> = vec![None; self.values.len()];
        let mut result = Words::default();
        for place in 0..self.values.len() {
            let leader = self.leader(place);
            let word = words[leader].unwrap_or_else(|| {
                let others = self.rows[leader].iter().map(|o| self.leader(o.0 as usize));
                let taken: BTreeSet<u32> = others.filter_map(|o| words[o]).collect();
                (0..).find(|w| !taken.contains(w)).unwrap_or(u32::MAX)
            });
            words[leader] = Some(word);
            result.words.insert(self.values[place], word);
            result.count = result.count.max(word + 1);
        }
        result
    }
}
