// SPDX-License-Identifier: MIT
//! Decides which values are in registers where: the algorithm of Braun and Hack, "Register spilling and live-range
//! splitting for SSA-form programs" (2009).
//!
//! Going through a block, `W` is the set of values in registers. Where an instruction needs more room, the value of `W`
//! whose next use is farthest leaves (Belady's MIN): it is stored, unless its scratch word has it already (set `S`) or
//! it can be made again. Where an instruction needs a value outside of `W`, it is filled.
//!
//! At joins `W` begins with what all predecessors have in registers, then what some have, nearest use first. At loop
//! headers it is what the loop uses, then, as far as there is room in all of the loop, what lives through it. A phi
//! whose result is not in `W` becomes a phi of memory. On edges values are stored and filled so that both sides agree.

use std::collections::{BTreeMap, BTreeSet};

use crate::analysis::{Liveness, ValueSet};
use crate::ir::{Block, End, Function, Instr, Phi, Src, Value};
use crate::regalloc::constraints::{
    Sharing, SourceGroup, extra_registers, for_each_distinct, sharing, source_groups,
};

use super::next_use::{LEAVING_LOOP, NEVER, NextUses};
use super::{pressure, reachable};

/// Something to insert.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    /// Store the value to its word.
    Spill(Value),
    /// Bring the value to a register, from its word or by making it again.
    Fill(Value),
    /// Bring a phi's source to the phi's word.
    Phi {
        /// The phi's result.
        dst: Value,
        /// The source.
        src: Src,
        /// The source is in a register.
        in_register: bool,
        /// The source is in its word.
        stored: bool,
    },
}

/// What to do in a block.
#[derive(Debug, Clone, Default)]
pub(crate) struct BlockPlan {
    /// Live values in registers at the beginning, phi results among them.
    pub(crate) entry: BTreeSet<Value>,
    /// What comes before which instruction, in order. The end of the block, but for a condition, is behind all of
    /// them; what is to be done on the edge to the only successor comes there.
    pub(crate) actions: Vec<(u32, Action)>,
    exit: BTreeSet<Value>,
    stored: ValueSet,
}

/// What to do in a function.
#[derive(Debug)]
pub(crate) struct Plan<'f> {
    pub(crate) blocks: Vec<BlockPlan>,
    /// Stored right behind their definitions, because later would be in a deeper loop.
    pub(crate) early: BTreeSet<Value>,
    /// How to make values again.
    pub(crate) remade: &'f [Option<&'f Instr>],
}

/// What is known of a function, whatever the limit is.
#[derive(Debug)]
pub(crate) struct Facts<'f> {
    function: &'f Function,
    liveness: Liveness,
    next_uses: NextUses,
    pressure: Vec<u32>,
    reachable: Vec<bool>,
    /// Loop depth of each value's definition.
    depth: Vec<u32>,
    remade: Vec<Option<&'f Instr>>,
}

struct Decider<'f> {
    facts: &'f Facts<'f>,
    limit: u32,
    plan: Plan<'f>,
}

/// The registers in a block as they come and go.
struct Walk {
    block: Block,
    registers: BTreeSet<Value>,
    stored: ValueSet,
    actions: Vec<(u32, Action)>,
}

impl Facts<'_> {
    pub(crate) fn of(function: &Function) -> Facts<'_> {
        let liveness = Liveness::of(function);
        let mut depth = vec![0; function.num_values as usize];
        let mut remade = vec![None; function.num_values as usize];
        for data in &function.blocks {
            for phi in &data.phis {
                depth[phi.dst.0 as usize] = data.loop_depth;
            }
            for instr in &data.instrs {
                instr.for_each_dst_value(|value| {
                    depth[value.0 as usize] = data.loop_depth;
                    if instr.is_rematerializable() {
                        remade[value.0 as usize] = Some(instr);
                    }
                });
            }
        }
        Facts {
            next_uses: NextUses::of(function, &liveness),
            pressure: pressure::of_blocks(function, &liveness),
            reachable: reachable(function),
            liveness,
            function,
            depth,
            remade,
        }
    }
}

/// Decides for a limit of registers.
pub(crate) fn decide<'f>(facts: &'f Facts<'f>, limit: u32) -> Result<Plan<'f>, String> {
    let function = facts.function;
    let mut decider = Decider {
        facts,
        limit,
        plan: Plan {
            blocks: vec![BlockPlan::default(); function.blocks.len()],
            early: BTreeSet::new(),
            remade: &facts.remade,
        },
    };
    for block in function.block_ids().filter(|b| facts.reachable[b.index()]) {
        decider.block(block)?;
    }
    for block in function.block_ids().filter(|b| facts.reachable[b.index()]) {
        decider.edges(block);
    }
    Ok(decider.plan)
}

impl Decider<'_> {
    fn is_remade(&self, value: Value) -> bool {
        self.plan.remade[value.0 as usize].is_some()
    }

    fn block(&mut self, block: Block) -> Result<(), String> {
        let data = &self.facts.function.blocks[block.index()];
        let (registers, stored) = self.entry(block);
        let entry = registers.clone();
        let mut walk = Walk {
            block,
            registers,
            stored,
            actions: Vec::new(),
        };
        for (i, instr) in data.instrs.iter().enumerate() {
            let groups = source_groups(instr);
            let mut results = 0;
            instr.for_each_dst(|group, _| results += group.len() as u32);
            self.make_room(&mut walk, i as u32, &groups, results, sharing(instr))?;
            instr.for_each_dst_value(|value| {
                if self.facts.next_uses.from(block, i as u32 + 1, value) != NEVER {
                    walk.registers.insert(value);
                }
            });
        }
        if let End::If { cond, .. } = &data.end {
            let groups: Vec<SourceGroup> = cond
                .srcs()
                .iter()
                .map(|s| SourceGroup::single(s.value()))
                .collect();
            let place = data.instrs.len() as u32;
            self.make_room(&mut walk, place, &groups, 0, Sharing::Any)?;
        }
        self.plan.blocks[block.index()] = BlockPlan {
            entry,
            actions: walk.actions,
            exit: walk.registers,
            stored: walk.stored,
        };
        Ok(())
    }

    /// Brings the sources to registers, and makes room for them and the results. Takes out what ends there.
    fn make_room(
        &mut self,
        walk: &mut Walk,
        place: u32,
        groups: &[SourceGroup],
        results: u32,
        sharing: Sharing,
    ) -> Result<(), String> {
        let mut sources: Vec<Value> = Vec::new();
        for_each_distinct(groups, |value| sources.push(value));
        let ends = |v: Value| self.facts.next_uses.from(walk.block, place + 1, v) == NEVER;
        let dying: Vec<Value> = sources.iter().copied().filter(|v| ends(*v)).collect();
        let extra = extra_registers(groups, |v| !dying.contains(&v));
        let missing: Vec<Value> = sources
            .iter()
            .copied()
            .filter(|v| !walk.registers.contains(v))
            .collect();
        let tied = groups.iter().filter(|g| g.shape.tied).count() as u32;
        let needed = |taken: usize| {
            let before = taken as u32 + missing.len() as u32;
            match sharing {
                Sharing::Any => (before + extra).max(before - dying.len() as u32 + results),
                _ => before + extra + results - tied.min(results),
            }
        };
        while needed(walk.registers.len()) > self.limit {
            let others = walk
                .registers
                .iter()
                .copied()
                .filter(|v| !sources.contains(v));
            let victim = others.max_by_key(|v| self.worth_leaving(walk, place, *v));
            let Some(victim) = victim else {
                return Err(format!(
                    "{} registers are too few for one instruction",
                    self.limit
                ));
            };
            self.evict(walk, place, victim);
        }
        for value in missing {
            walk.actions.push((place, Action::Fill(value)));
            walk.registers.insert(value);
        }
        for value in dying {
            walk.registers.remove(&value);
        }
        Ok(())
    }

    /// The distance of the next use, larger for what costs less to lose.
    fn worth_leaving(&self, walk: &Walk, place: u32, value: Value) -> (u32, Value) {
        let distance = self.facts.next_uses.from(walk.block, place, value);
        let cheapness = match () {
            () if self.is_remade(value) => 6,
            () if walk.stored.contains(value) => 2,
            () => 1,
        };
        (distance.saturating_mul(cheapness), value)
    }

    fn evict(&mut self, walk: &mut Walk, place: u32, value: Value) {
        walk.registers.remove(&value);
        if self.is_remade(value) || !walk.stored.insert(value) {
            return;
        }
        walk.actions.push((place, Action::Spill(value)));
        let here = self.facts.function.blocks[walk.block.index()].loop_depth;
        if self.facts.depth[value.0 as usize] < here {
            self.plan.early.insert(value);
        }
    }

    /// `W` and `S` at the beginning of a block.
    fn entry(&self, block: Block) -> (BTreeSet<Value>, ValueSet) {
        let data = &self.facts.function.blocks[block.index()];
        let live_in = self.facts.liveness.live_in(block);
        let seen: Vec<(usize, &BlockPlan)> = data
            .preds
            .iter()
            .enumerate()
            .filter(|(_, p)| **p < block && self.facts.reachable[p.index()])
            .map(|(edge, p)| (edge, &self.plan.blocks[p.index()]))
            .collect();
        let last = data.preds.iter().copied().filter(|p| *p >= block).max();
        let registers = match last {
            Some(last) => self.header_entry(block, last, &seen),
            None => self.join_entry(block, &seen),
        };
        let mut stored = ValueSet::new(self.facts.function.num_values);
        for value in live_in.iter() {
            let everywhere = seen.iter().all(|(_, p)| p.stored.contains(value));
            if !self.is_remade(value) && (everywhere || !registers.contains(&value)) {
                stored.insert(value);
            }
        }
        for phi in &data.phis {
            if !registers.contains(&phi.dst) {
                stored.insert(phi.dst);
            }
        }
        (registers, stored)
    }

    /// Is the value, or the phi's source, in a register behind this predecessor?
    fn arrives(&self, edge: usize, pred: &BlockPlan, value: Value, phi: Option<&Phi>) -> bool {
        match phi {
            Some(phi) => phi.srcs[edge]
                .value()
                .is_none_or(|v| pred.exit.contains(&v)),
            None => pred.exit.contains(&value),
        }
    }

    /// Live values and results of phis, nearest use first.
    fn candidates(&self, block: Block) -> Vec<(u32, Value, Option<&Phi>)> {
        let phis = self.facts.function.blocks[block.index()]
            .phis
            .iter()
            .map(|p| (p.dst, Some(p)));
        let live = self.facts.liveness.live_in(block).iter().map(|v| (v, None));
        let mut all: Vec<_> = live
            .chain(phis)
            .map(|(v, phi)| (self.facts.next_uses.at_entry(block, v), v, phi))
            .filter(|(distance, ..)| *distance != NEVER)
            .collect();
        all.sort_by_key(|(distance, value, _)| (*distance, *value));
        all
    }

    fn join_entry(&self, block: Block, seen: &[(usize, &BlockPlan)]) -> BTreeSet<Value> {
        let (mut all, mut some) = (Vec::new(), Vec::new());
        for (_, value, phi) in self.candidates(block) {
            let arrive = seen
                .iter()
                .filter(|(edge, p)| self.arrives(*edge, p, value, phi))
                .count();
            match arrive {
                n if n == seen.len() => all.push(value),
                0 => {}
                _ => some.push(value),
            }
        }
        all.into_iter()
            .chain(some)
            .take(self.limit as usize)
            .collect()
    }

    fn header_entry(
        &self,
        block: Block,
        last: Block,
        seen: &[(usize, &BlockPlan)],
    ) -> BTreeSet<Value> {
        let limit = self.limit as usize;
        let (used, through): (Vec<_>, Vec<_>) = self
            .candidates(block)
            .into_iter()
            .partition(|(d, ..)| *d < LEAVING_LOOP);
        let mut registers: BTreeSet<Value> = used.iter().take(limit).map(|(_, v, _)| *v).collect();
        let worst = (block.index()..=last.index())
            .map(|b| self.facts.pressure[b])
            .max()
            .unwrap_or(0);
        let inside = worst.saturating_sub(through.len() as u32) as usize;
        let room = limit.saturating_sub(inside.max(registers.len()));
        let here = |(_, value, phi): &&(u32, Value, Option<&Phi>)| {
            seen.iter()
                .all(|(edge, p)| self.arrives(*edge, p, *value, *phi))
        };
        registers.extend(through.iter().filter(here).take(room).map(|(_, v, _)| *v));
        registers
    }

    /// Makes both sides of the edges into a block agree.
    fn edges(&mut self, block: Block) {
        let data = &self.facts.function.blocks[block.index()];
        for (edge, pred) in data.preds.iter().enumerate() {
            if !self.facts.reachable[pred.index()]
                || self.facts.function.successors(*pred).count() > 1
            {
                // Behind a branch the arm begins as the branch left it.
                continue;
            }
            let (from, to) = (
                &self.plan.blocks[pred.index()],
                &self.plan.blocks[block.index()],
            );
            let mut actions = Vec::new();
            for value in self.facts.liveness.live_in(block).iter() {
                if !to.entry.contains(&value)
                    && from.exit.contains(&value)
                    && !from.stored.contains(value)
                    && !self.is_remade(value)
                {
                    actions.push(Action::Spill(value));
                }
            }
            let mut fills = BTreeSet::new();
            for value in self.facts.liveness.live_in(block).iter() {
                if to.entry.contains(&value) && !from.exit.contains(&value) {
                    fills.insert(value);
                }
            }
            let mut moves = Moves::default();
            for phi in &data.phis {
                let (dst, src) = (phi.dst, phi.srcs[edge]);
                let value = src.value();
                let in_register = value.is_some_and(|v| from.exit.contains(&v));
                match (to.entry.contains(&dst), value) {
                    (false, Some(value)) if value == dst => {}
                    (false, _) => {
                        let stored = value.is_some_and(|v| from.stored.contains(v));
                        let action = Action::Phi {
                            dst,
                            src,
                            in_register,
                            stored,
                        };
                        moves.phis.insert(dst, action);
                    }
                    (true, Some(value)) if !in_register => {
                        fills.insert(value);
                    }
                    (true, _) => {}
                }
            }
            moves.order(&mut fills, &mut actions);
            actions.extend(fills.into_iter().map(Action::Fill));
            let end = self.facts.function.blocks[pred.index()].instrs.len() as u32;
            let plan = &mut self.plan.blocks[pred.index()].actions;
            plan.extend(actions.into_iter().map(|a| (end, a)));
        }
    }
}

/// Phis of memory on an edge. All of them happen at one time, but one after the other: the word of a phi's result, which
/// holds what it was in the last iteration, is written when nobody is to read that any more.
#[derive(Default)]
struct Moves {
    /// By result.
    phis: BTreeMap<Value, Action>,
}

impl Moves {
    /// Adds them to `actions`, and those `fills` that must come before some of them. In circles one value at a time waits
    /// in a register.
    fn order(mut self, fills: &mut BTreeSet<Value>, actions: &mut Vec<Action>) {
        // By word that will be written: phis that read it.
        let mut readers: BTreeMap<Value, BTreeSet<Value>> = BTreeMap::new();
        for (dst, action) in &self.phis {
            if let Some(word) = word_read(action).filter(|w| self.phis.contains_key(w)) {
                readers.entry(word).or_default().insert(*dst);
            }
        }
        let blocked =
            |dst: Value, readers: &BTreeMap<Value, BTreeSet<Value>>, fills: &BTreeSet<Value>| {
                readers.get(&dst).map_or(0, BTreeSet::len) + usize::from(fills.contains(&dst))
            };
        let mut ready: BTreeSet<Value> = self.phis.keys().copied().collect();
        ready.retain(|dst| blocked(*dst, &readers, fills) == 0);
        while !self.phis.is_empty() {
            // What is in a register already gives it back.
            let from_register =
                |dst: &&Value| self.phis.get(dst).is_some_and(|a| word_read(a).is_none());
            let next = ready.iter().find(from_register).or(ready.first()).copied();
            if let Some(dst) = next {
                ready.remove(&dst);
                let Some(action) = self.phis.remove(&dst) else {
                    continue;
                };
                if let Some(word) = word_read(&action) {
                    if let Some(of) = readers.get_mut(&word) {
                        of.remove(&dst);
                    }
                    if self.phis.contains_key(&word) && blocked(word, &readers, fills) == 0 {
                        ready.insert(word);
                    }
                }
                actions.push(action);
                continue;
            }
            // Everybody waits for somebody. Someone's word is read to a register now, best where that lets a register be
            // given back.
            let cost = |(dst, action): &(&Value, &Action)| {
                let waits = readers.get(dst).map_or(0, BTreeSet::len);
                (
                    !fills.contains(dst),
                    word_read(action).is_some(),
                    waits,
                    **dst,
                )
            };
            let Some((&dst, _)) = self.phis.iter().min_by_key(cost) else {
                return;
            };
            fills.remove(&dst);
            actions.push(Action::Fill(dst));
            for reader in readers.remove(&dst).unwrap_or_default() {
                if let Some(Action::Phi { in_register, .. }) = self.phis.get_mut(&reader) {
                    *in_register = true;
                }
            }
            ready.insert(dst);
        }
    }
}

/// The value whose word a phi of memory reads.
fn word_read(action: &Action) -> Option<Value> {
    match action {
        Action::Phi {
            src,
            in_register: false,
            ..
        } => src.value(),
        _ => None,
    }
}
