// SPDX-License-Identifier: MIT
//! Which values become pairs.
//!
//! Every place of the function that needs more registers than there are is *hot*. Values that are live across hot
//! places are candidates; a pair of them saves a register at every place across which both are live. Candidates whose
//! definitions can write a high half come first, then those that are in the way in most places; each takes the partner with
//! which it saves most. A pair is made only if that still helps somewhere.

use std::collections::HashMap;

use crate::analysis::{Dominators, Liveness, ValueSet, loop_headers};
use crate::ir::{Block, End, Function, Src, Value};
use crate::spill::pressure;

use super::demand::{Constants, clears_high_half};
use super::rewrite::{self, Insertion};

/// Two values of which the one in `high` or that in `low` is defined by instruction `at`; from there on they are a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pair {
    pub(super) low: Value,
    pub(super) high: Value,
    /// The block and the place in it of the second definition.
    pub(super) at: (Block, usize),
    pub(super) how: Insertion,
}

/// Two phis of a block that become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PhiPair {
    pub(super) block: Block,
    pub(super) low: Value,
    pub(super) high: Value,
}

/// What was chosen.
#[derive(Debug, Default)]
pub(super) struct Chosen {
    pub(super) pairs: Vec<Pair>,
    pub(super) phis: Vec<PhiPair>,
}

/// Partners of one value that are looked at.
const TRIED: usize = 48;

/// Places in a row, counted through the whole function: between the first and the last a value is live.
#[derive(Debug, Clone, Copy)]
struct Range {
    from: u32,
    to: u32,
}

/// A value that may be half of a pair.
struct Candidate {
    value: Value,
    /// Block and instruction of the definition; that of a phi is before the first one.
    at: (Block, usize),
    is_phi: bool,
    /// Where it is live, ascending.
    live: Vec<Range>,
    /// The header of the innermost loop around the definition.
    header: Option<Block>,
    /// Hot places across which it is live.
    heat: u32,
    /// How its definition puts it into the high half of a register.
    as_high: Insertion,
    /// The same at any later time.
    behind: Insertion,
    /// Shifts by which its readers would get it out of a high half, each as often as loops are deep.
    extractions: u32,
    /// Its upper half is 0.
    clean: bool,
}

/// Finds the pairs.
pub(super) fn choose(
    function: &Function,
    limit: u32,
    narrow: &ValueSet,
    constants: &Constants,
) -> Chosen {
    let liveness = Liveness::of(function);
    let dominators = Dominators::of(function);
    let places = Places::of(function);
    let heat = places.heat(function, &liveness, &dominators, limit);
    let sums: Vec<u32> = std::iter::once(0)
        .chain(heat.iter().scan(0, |sum, h| {
            *sum += u32::from(*h > 0);
            Some(*sum)
        }))
        .collect();
    let mut candidates = candidates(function, &liveness, &dominators, &places, narrow, constants);
    for candidate in &mut candidates {
        candidate.heat = candidate.live.iter().map(|range| hot(&sums, range)).sum();
    }
    candidates.retain(|c| c.heat > 0);
    let mut chooser = Chooser {
        taken: vec![false; candidates.len()],
        candidates: &candidates,
        uses: Uses::of(function),
        dominators: &dominators,
        heat,
        sums,
        chosen: Chosen::default(),
    };
    chooser.phis(function);
    chooser.values();
    chooser.chosen
}

struct Chooser<'c> {
    /// By definition.
    candidates: &'c [Candidate],
    taken: Vec<bool>,
    uses: Uses,
    dominators: &'c Dominators,
    /// By place, what is too much after all pairs so far.
    heat: Vec<i32>,
    /// By place, how many places up to there were hot at first.
    sums: Vec<u32>,
    chosen: Chosen,
}

/// Places inside of a range that are hot.
fn hot(sums: &[u32], range: &Range) -> u32 {
    let (from, to) = (range.from as usize + 1, range.to as usize);
    if from < to { sums[to] - sums[from] } else { 0 }
}

impl Chooser<'_> {
    /// Hot places at which a pair saves a register.
    fn saved(&self, a: &Candidate, b: &Candidate) -> u32 {
        common(a, b).map(|range| hot(&self.sums, &range)).sum()
    }

    /// Can the second be defined into a pair with the first, which is defined earlier?
    fn fit(&self, first: &Candidate, second: &Candidate) -> bool {
        let ordered = first.at.0 != second.at.0 || first.at.1 <= second.at.1;
        !second.is_phi
            && ordered
            && first.header == second.header
            && self.dominators.dominates(first.at.0, second.at.0)
            && self.uses.follow(first, second, self.dominators)
    }

    /// Takes both if that still helps somewhere.
    fn take(&mut self, first: usize, second: usize) -> bool {
        let (a, b) = (&self.candidates[first], &self.candidates[second]);
        let inside = |range: &Range| range.from as usize + 1..range.to as usize;
        let shared: Vec<Range> = common(a, b).filter(|r| r.from + 1 < r.to).collect();
        let helps = |range: &Range| self.heat[inside(range)].iter().any(|h| *h > 0);
        if !shared.iter().any(helps) {
            return false;
        }
        self.share(first, second, &shared);
        true
    }

    fn share(&mut self, first: usize, second: usize, shared: &[Range]) {
        for range in shared {
            let inside = range.from as usize + 1..range.to as usize;
            self.heat[inside].iter_mut().for_each(|h| *h -= 1);
        }
        (self.taken[first], self.taken[second]) = (true, true);
    }

    /// Pairs of phis, and with them pairs of their sources.
    fn phis(&mut self, function: &Function) {
        let number: HashMap<Value, usize> = self
            .candidates
            .iter()
            .enumerate()
            .map(|(c, candidate)| (candidate.value, c))
            .collect();
        // Neighbours are those that are defined anew at about the same time, so that pairs are soon together again.
        let renewed = |c: usize| {
            let candidate = &self.candidates[c];
            let phis = &function.blocks[candidate.at.0.index()].phis;
            let phi = phis.iter().find(|phi| phi.dst == candidate.value);
            let last = phi.and_then(|phi| phi.srcs.last()).and_then(Src::value);
            last.and_then(|value| number.get(&value)).copied()
        };
        let phis = (0..self.candidates.len()).filter(|c| self.candidates[*c].is_phi);
        let mut order: Vec<usize> = phis.collect();
        order.sort_by_key(|c| (self.candidates[*c].at.0, renewed(*c), *c));
        for at in 0..order.len() {
            let second = order[at];
            let b = &self.candidates[second];
            if self.taken[second] {
                continue;
            }
            let open = |f: &&usize| {
                let same = self.candidates[**f].at.0 == b.at.0;
                same && !self.taken[**f]
            };
            let others = order[at.saturating_sub(TRIED)..at].iter().filter(open);
            // The last of those that are equally good is the one that lies nearest.
            let best = others
                .max_by_key(|f| self.saved(&self.candidates[**f], b))
                .copied();
            let Some(first) = best else { continue };
            if !self.take(first, second) {
                continue;
            }
            let (a, b) = (&self.candidates[first], &self.candidates[second]);
            let (low, high) = match a.extractions < b.extractions {
                true => (b, a),
                false => (a, b),
            };
            let block = b.at.0;
            self.chosen.phis.push(PhiPair {
                block,
                low: low.value,
                high: high.value,
            });
            let data = &function.blocks[block.index()];
            let srcs = |value: Value| data.phis.iter().find(|p| p.dst == value).map(|p| &p.srcs);
            let (Some(lows), Some(highs)) = (srcs(low.value), srcs(high.value)) else {
                continue;
            };
            for (low, high) in lows.iter().zip(highs) {
                let candidate = |src: &Src| number.get(&src.value()?).copied();
                if let (Some(low), Some(high)) = (candidate(low), candidate(high)) {
                    self.sources(low, high);
                }
            }
        }
    }

    /// Makes a pair of what comes into two phis.
    fn sources(&mut self, low: usize, high: usize) {
        if low == high || self.taken[low] || self.taken[high] {
            return;
        }
        let (first, second) = (low.min(high), low.max(high));
        let (a, b) = (&self.candidates[first], &self.candidates[second]);
        if !self.fit(a, b) {
            return;
        }
        let how = if second == high { b.as_high } else { a.behind };
        let pair = Pair {
            low: self.candidates[low].value,
            high: self.candidates[high].value,
            at: b.at,
            how,
        };
        let shared: Vec<Range> = common(a, b).filter(|r| r.from + 1 < r.to).collect();
        self.share(first, second, &shared);
        self.chosen.pairs.push(pair);
    }

    /// Pairs of all other values.
    fn values(&mut self) {
        let mut order: Vec<usize> = (0..self.candidates.len()).collect();
        order.sort_by_key(|c| {
            let candidate = &self.candidates[*c];
            (
                candidate.as_high.instructions(),
                std::cmp::Reverse(candidate.heat),
                *c,
            )
        });
        for second in order {
            let b = &self.candidates[second];
            if self.taken[second] || b.is_phi {
                continue;
            }
            let mut best: Option<(u32, usize)> = None;
            let open = (0..second).rev().filter(|f| !self.taken[*f]);
            for first in open.take(TRIED) {
                let a = &self.candidates[first];
                let saved = self.saved(a, b);
                if best.is_none_or(|(most, _)| saved > most) && saved > 0 && self.fit(a, b) {
                    best = Some((saved, first));
                }
            }
            if let Some((_, first)) = best
                && self.take(first, second)
            {
                let pair = oriented(&self.candidates[first], &self.candidates[second]);
                self.chosen.pairs.push(pair);
            }
        }
    }
}

/// The second value goes into the high half, unless it is cheaper the other way round.
fn oriented(a: &Candidate, b: &Candidate) -> Pair {
    let pair = |low: &Candidate, high: &Candidate, how: Insertion| Pair {
        low: low.value,
        high: high.value,
        at: b.at,
        how,
    };
    let cost = |low: &Candidate, high: &Candidate, how: Insertion| {
        let clear = u32::from(how == Insertion::Shift && !low.clean);
        how.instructions() + clear + high.extractions
    };
    // Behind its definition a value cannot be defined in a high half any more.
    let (straight, turned) = (b.as_high, a.behind);
    if cost(b, a, turned) < cost(a, b, straight) {
        pair(b, a, turned)
    } else {
        pair(a, b, straight)
    }
}

/// Where both are live.
fn common<'c>(a: &'c Candidate, b: &'c Candidate) -> impl Iterator<Item = Range> + 'c {
    let (mut i, mut j) = (0, 0);
    std::iter::from_fn(move || {
        while let (Some(x), Some(y)) = (a.live.get(i), b.live.get(j)) {
            let range = Range {
                from: x.from.max(y.from),
                to: x.to.min(y.to),
            };
            if x.to < y.to {
                i += 1;
            } else {
                j += 1;
            }
            if range.from < range.to {
                return Some(range);
            }
        }
        None
    })
}

/// Numbers of places. A block has one before its first instruction, one for each, and one for its end.
struct Places {
    first: Vec<u32>,
    count: u32,
}

impl Places {
    fn of(function: &Function) -> Places {
        let mut count = 0;
        let first = function
            .blocks
            .iter()
            .map(|data| {
                let first = count;
                count += data.instrs.len() as u32 + 2;
                first
            })
            .collect();
        Places { first, count }
    }

    fn start(&self, block: Block) -> u32 {
        self.first[block.index()]
    }

    fn instr(&self, block: Block, index: usize) -> u32 {
        self.first[block.index()] + 1 + index as u32
    }

    /// By place: how many registers too few there are; negative where some are left.
    fn heat(
        &self,
        function: &Function,
        liveness: &Liveness,
        dominators: &Dominators,
        limit: u32,
    ) -> Vec<i32> {
        let mut heat = vec![i32::MIN / 2; self.count as usize];
        for block in function.block_ids() {
            if !dominators.is_reachable(block) {
                continue;
            }
            let data = &function.blocks[block.index()];
            pressure::for_each_place(function, liveness, block, |index, needed| {
                let place = match index {
                    Some(index) => self.instr(block, index),
                    None => self.instr(block, data.instrs.len()),
                };
                heat[place as usize] = needed as i32 - limit as i32;
            });
            heat[self.start(block) as usize] = heat[self.start(block) as usize + 1];
        }
        heat
    }
}

/// Narrow values that are not cheaper to make again, by definition.
fn candidates(
    function: &Function,
    liveness: &Liveness,
    dominators: &Dominators,
    places: &Places,
    narrow: &ValueSet,
    constants: &Constants,
) -> Vec<Candidate> {
    let mut found: Vec<Candidate> = Vec::new();
    let mut number: HashMap<Value, usize> = HashMap::new();
    let headers = loop_headers(function);
    for block in function.block_ids() {
        if !dominators.is_reachable(block) {
            continue;
        }
        let data = &function.blocks[block.index()];
        for phi in data.phis.iter().filter(|phi| narrow.contains(phi.dst)) {
            number.insert(phi.dst, found.len());
            found.push(Candidate {
                value: phi.dst,
                at: (block, 0),
                is_phi: true,
                live: Vec::new(),
                header: headers[block.index()],
                heat: 0,
                as_high: Insertion::Shift,
                behind: Insertion::Shift,
                extractions: 0,
                clean: false,
            });
        }
        for (index, instr) in data.instrs.iter().enumerate() {
            if instr.is_rematerializable() {
                continue;
            }
            instr.for_each_dst_value(|value| {
                if narrow.contains(value) {
                    number.insert(value, found.len());
                    found.push(Candidate {
                        value,
                        at: (block, index),
                        is_phi: false,
                        live: Vec::new(),
                        header: headers[block.index()],
                        heat: 0,
                        as_high: rewrite::as_defined(instr),
                        behind: rewrite::behind(instr),
                        extractions: 0,
                        clean: clears_high_half(instr, constants),
                    });
                }
            });
        }
    }
    // Live ranges, block by block, each from its end to its beginning.
    let mut open: HashMap<usize, u32> = HashMap::new();
    for block in function.block_ids() {
        if !dominators.is_reachable(block) {
            continue;
        }
        let data = &function.blocks[block.index()];
        let weight = 1 << (2 * data.loop_depth.min(3));
        let end = places.instr(block, data.instrs.len());
        open.clear();
        for value in liveness.live_out(block).iter() {
            if let Some(c) = number.get(&value) {
                open.insert(*c, end + 1);
            }
        }
        if let End::If { cond, .. } = &data.end {
            for value in cond.srcs().iter().filter_map(Src::value) {
                if let Some(c) = number.get(&value) {
                    open.entry(*c).or_insert(end);
                    found[*c].extractions += weight;
                }
            }
        }
        for (index, instr) in data.instrs.iter().enumerate().rev() {
            let place = places.instr(block, index);
            instr.for_each_dst_value(|value| {
                if let Some(c) = number.get(&value) {
                    let to = open.remove(c).unwrap_or(place);
                    found[*c].live.push(Range { from: place, to });
                }
            });
            let mut group = 0;
            instr.for_each_src(|members, _| {
                for src in members {
                    if let Some(c) = src.value().and_then(|v| number.get(&v)) {
                        open.entry(*c).or_insert(place);
                        if !rewrite::takes_high(instr, group, src) {
                            found[*c].extractions += weight;
                        }
                    }
                }
                group += 1;
            });
        }
        let start = places.start(block);
        let mut through: Vec<(usize, u32)> = open.drain().collect();
        through.sort_unstable();
        for (c, to) in through {
            found[c].live.push(Range { from: start, to });
        }
    }
    for candidate in &mut found {
        candidate.live.sort_unstable_by_key(|range| range.from);
    }
    found
}

/// The blocks in which values are read; a phi reads at the end of its predecessor.
struct Uses(HashMap<Value, Vec<Block>>);

impl Uses {
    fn of(function: &Function) -> Uses {
        let mut uses: HashMap<Value, Vec<Block>> = HashMap::new();
        let mut add = |value: Value, block| uses.entry(value).or_default().push(block);
        for block in function.block_ids() {
            let data = &function.blocks[block.index()];
            for instr in &data.instrs {
                instr.for_each_src_value(|value| add(value, block));
            }
            if let End::If { cond, .. } = &data.end {
                for value in cond.srcs().iter().filter_map(Src::value) {
                    add(value, block);
                }
            }
            for phi in &data.phis {
                for (src, pred) in phi.srcs.iter().zip(&data.preds) {
                    if let Some(value) = src.value() {
                        add(value, *pred);
                    }
                }
            }
        }
        Uses(uses)
    }

    /// Is everybody who reads the first value behind the second one's definition dominated by it? Else the first value
    /// would stay live beside the pair.
    fn follow(&self, first: &Candidate, second: &Candidate, dominators: &Dominators) -> bool {
        // What comes earlier in program order is behind it only around a loop, and then behind the first one's as well.
        let home = second.at.0;
        let mut uses = self.0.get(&first.value).into_iter().flatten();
        uses.all(|block| *block <= home || dominators.dominates(home, *block))
    }
}

impl Insertion {
    /// What it takes.
    pub(super) const fn instructions(self) -> u32 {
        match self {
            Insertion::Direct => 0,
            Insertion::Convert | Insertion::Shift => 2,
        }
    }
}
