// SPDX-License-Identifier: MIT
//! Which values are live where blocks begin and end.
//!
//! Of one lane: a value is live in an arm of an `if` only if that lane needs it on its own path. The registers of lanes
//! that are inactive meanwhile stay as they are, so this is the liveness that allocation wants. (Releasing a register is
//! another matter: see the release pass.)

use crate::ir::{Block, BlockData, End, Function, Value};

/// A set of values.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ValueSet {
    words: Vec<u64>,
}

impl ValueSet {
    /// Empty, for values below `count`.
    #[must_use]
    pub fn new(count: u32) -> ValueSet {
        ValueSet {
            words: vec![0; (count as usize).div_ceil(64)],
        }
    }

    /// Is it in the set?
    #[must_use]
    pub fn contains(&self, value: Value) -> bool {
        let word = self.words.get(value.0 as usize / 64);
        word.is_some_and(|w| w >> (value.0 % 64) & 1 == 1)
    }

    /// Adds it; true if it was not there.
    pub fn insert(&mut self, value: Value) -> bool {
        let (index, bit) = (value.0 as usize / 64, 1 << (value.0 % 64));
        if index >= self.words.len() {
            self.grow(index + 1);
        }
        let word = &mut self.words[index];
        let new = *word & bit == 0;
        *word |= bit;
        new
    }

    /// Sets seldom get values that were made after them.
    #[cold]
    fn grow(&mut self, words: usize) {
        self.words.resize(words, 0);
    }

    /// Takes it out; true if it was there.
    pub fn remove(&mut self, value: Value) -> bool {
        let (word, bit) = (value.0 as usize / 64, 1 << (value.0 % 64));
        match self.words.get_mut(word) {
            Some(w) if *w & bit != 0 => {
                *w &= !bit;
                true
            }
            _ => false,
        }
    }

    /// Adds all of another set; true if that added any.
    pub fn union_with(&mut self, other: &ValueSet) -> bool {
        if self.words.len() < other.words.len() {
            self.words.resize(other.words.len(), 0);
        }
        let mut changed = false;
        for (a, b) in self.words.iter_mut().zip(&other.words) {
            changed |= *b & !*a != 0;
            *a |= b;
        }
        changed
    }

    /// Adds what is in `other` but not in `except`; true if that added any.
    fn add_without(&mut self, other: &ValueSet, except: &ValueSet) -> bool {
        if self.words.len() < other.words.len() {
            self.words.resize(other.words.len(), 0);
        }
        let mut changed = false;
        for (i, (a, b)) in self.words.iter_mut().zip(&other.words).enumerate() {
            let more = b & !except.words.get(i).copied().unwrap_or(0);
            changed |= more & !*a != 0;
            *a |= more;
        }
        changed
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.words.iter().map(|w| w.count_ones() as usize).sum()
    }

    /// None.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|w| *w == 0)
    }

    /// In ascending order.
    pub fn iter(&self) -> impl Iterator<Item = Value> + '_ {
        self.words.iter().enumerate().flat_map(|(i, word)| {
            let mut rest = *word;
            std::iter::from_fn(move || {
                let bit = (rest != 0).then(|| rest.trailing_zeros())?;
                rest &= rest - 1;
                Some(Value(64 * i as u32 + bit))
            })
        })
    }
}

/// Live values at block boundaries.
#[derive(Debug, Clone)]
pub struct Liveness {
    live_in: Vec<ValueSet>,
    live_out: Vec<ValueSet>,
}

impl Liveness {
    /// Of this function. Phi sources are live at the end of their predecessor, phi results are not live into their own
    /// block.
    #[must_use]
    pub fn of(function: &Function) -> Liveness {
        let empty = ValueSet::new(function.num_values);
        let count = function.blocks.len();
        // A block is walked through once: what it needs from before, and what it defines.
        let (mut live_in, mut defined) = (Vec::with_capacity(count), Vec::with_capacity(count));
        for data in &function.blocks {
            let (needed, defines) = transfer(data, &empty);
            live_in.push(needed);
            defined.push(defines);
        }
        let mut this = Liveness {
            live_in,
            live_out: vec![empty; count],
        };
        // From the end on, every successor comes before its predecessors unless there is a loop.
        let is_loop = |b: &BlockData| matches!(b.end, End::EndLoop { .. });
        let loops = function.blocks.iter().any(is_loop);
        let mut changed = true;
        while changed {
            changed = false;
            for block in function.block_ids().rev() {
                let mut out = std::mem::take(&mut this.live_out[block.index()]);
                for next in function.successors(block) {
                    out.union_with(&this.live_in[next.index()]);
                    let data = &function.blocks[next.index()];
                    if data.phis.is_empty() {
                        continue;
                    }
                    let edge = data.preds.iter().position(|p| *p == block);
                    for phi in &data.phis {
                        if let Some(value) = edge.and_then(|e| phi.srcs[e].value()) {
                            out.insert(value);
                        }
                    }
                }
                let through = &defined[block.index()];
                let more = this.live_in[block.index()].add_without(&out, through);
                changed |= more && loops;
                this.live_out[block.index()] = out;
            }
        }
        this
    }

    /// Values that the block or what follows it needs from before.
    #[must_use]
    pub fn live_in(&self, block: Block) -> &ValueSet {
        &self.live_in[block.index()]
    }

    /// Values that are needed behind the block, sources of phis there included.
    #[must_use]
    pub fn live_out(&self, block: Block) -> &ValueSet {
        &self.live_out[block.index()]
    }
}

/// What a block needs from before for itself, and what it defines.
fn transfer(data: &BlockData, empty: &ValueSet) -> (ValueSet, ValueSet) {
    let (mut needed, mut defined) = (empty.clone(), empty.clone());
    let mut need = |value: Value, defined: &ValueSet| {
        if !defined.contains(value) {
            needed.insert(value);
        }
    };
    for phi in &data.phis {
        defined.insert(phi.dst);
    }
    for instr in &data.instrs {
        instr.for_each_src_value(|value| need(value, &defined));
        instr.for_each_dst_value(|value| {
            defined.insert(value);
        });
    }
    if let End::If { cond, .. } = &data.end {
        for value in cond.srcs().iter().filter_map(|s| s.value()) {
            need(value, &defined);
        }
    }
    (needed, defined)
}
