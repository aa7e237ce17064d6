// SPDX-License-Identifier: MIT
//! The walk over the blocks.

use arrayvec::ArrayVec;

use crate::analysis::{Dominators, Liveness, ValueSet};
use crate::ir::{Block, BlockData, Closes, Dst, End, Function, Instr, Phi, Ref, Src, Value};

use super::constraints::results;
use super::ends::Ends;
use super::hints::{Hints, MOVE};
use super::parallel_copy::{LAST_LITERAL, Origin, sequentialise};
use super::place::{Held, Placement, Site, place};
use super::waiting::Waiting;
use super::{Allocated, FILE, Failure, RegSet};

/// Where values lie at one point of the program.
#[derive(Debug, Clone)]
pub(crate) struct State {
    /// The register of each value.
    pub(crate) loc: Vec<Option<u8>>,
    /// The value in each register.
    pub(crate) at: [Option<Value>; FILE],
    /// Registers below `file` that hold nothing.
    pub(crate) free: RegSet,
    /// How many registers there are.
    pub(crate) file: u8,
    /// All of them.
    all: RegSet,
    /// Those that something has been put in.
    used: RegSet,
}

impl State {
    fn new(values: u32, file: u8) -> State {
        State {
            loc: vec![None; values as usize],
            at: [None; FILE],
            free: RegSet::below(file),
            file,
            all: RegSet::below(file),
            used: RegSet::EMPTY,
        }
    }

    /// The value lies there from now on.
    pub(crate) fn put(&mut self, value: Value, register: u8) {
        self.loc[value.0 as usize] = Some(register);
        self.at[register as usize] = Some(value);
        self.free.remove(register);
        self.used.insert(register);
    }

    /// The value lies nowhere.
    pub(crate) fn remove(&mut self, value: Value) {
        if let Some(register) = self.loc[value.0 as usize].take() {
            self.at[register as usize] = None;
            self.free.insert(register);
        }
    }

    /// The values in these registers lie nowhere.
    fn end(&mut self, registers: RegSet) {
        for register in registers.iter() {
            if let Some(value) = self.at[register as usize].take() {
                self.loc[value.0 as usize] = None;
            }
        }
        self.free = self.free.with(registers);
    }

    /// Registers that hold something.
    pub(crate) fn occupied(&self) -> RegSet {
        self.all.without(self.free)
    }
}

/// Values and their registers where a block begins or ends, by value.
type Map = Vec<(Value, u8)>;

fn lookup(map: &Map, value: Value) -> Option<u8> {
    map.binary_search_by_key(&value, |e| e.0)
        .ok()
        .map(|i| map[i].1)
}

struct Allocator<'f> {
    function: &'f Function,
    liveness: &'f Liveness,
    reachable: Vec<bool>,
    hints: Hints,
    ends: Ends,
    state: State,
    /// Registers of live-in values and phis.
    entries: Vec<Map>,
    exits: Vec<Map>,
    waiting: Waiting,
    /// What has been allocated.
    out: Vec<BlockData>,
}

/// See [`super::run`].
pub(crate) fn allocate(
    function: &Function,
    liveness: &Liveness,
    file: u8,
) -> Result<Allocated, Failure> {
    let dominators = Dominators::of(function);
    let reachable: Vec<bool> = function
        .block_ids()
        .map(|b| dominators.is_reachable(b))
        .collect();
    let count = function.blocks.len();
    let mut this = Allocator {
        hints: Hints::of(function, liveness),
        ends: Ends::new(function.num_values),
        state: State::new(function.num_values, file.min(FILE as u8)),
        liveness,
        reachable,
        entries: vec![Map::new(); count],
        exits: vec![Map::new(); count],
        waiting: Waiting::new(count),
        function,
        out: Vec::with_capacity(count),
    };
    for block in function.block_ids() {
        let allocated = match this.reachable[block.index()] {
            true => this.block(block)?,
            false => this.strip(block),
        };
        this.out.push(allocated);
        this.pass(block);
    }
    for block in function.block_ids() {
        this.edges(block)?;
    }
    Ok(Allocated {
        registers: this.state.used.len(),
        function: Function {
            blocks: this.out,
            ..*function
        },
    })
}

impl Allocator<'_> {
    /// Nothing gets into this block: the machine passes it without active lanes.
    fn strip(&self, block: Block) -> BlockData {
        let data = &self.function.blocks[block.index()];
        let mut end = data.end.clone();
        if let End::If { cond, .. } = &mut end {
            for src in cond.srcs_mut() {
                if src.value().is_some() {
                    *src = Src::new(Ref::Reg(0));
                }
            }
        }
        BlockData {
            preds: data.preds.clone(),
            phis: Vec::new(),
            instrs: Vec::new(),
            end,
            loop_depth: data.loop_depth,
        }
    }

    /// Notes what lanes wait for that the machine leaves behind at the end of a block.
    fn pass(&mut self, block: Block) {
        let reached = self.reachable[block.index()];
        let exit = &self.exits[block.index()];
        let all = || exit.iter().map(|(_, r)| *r).collect();
        match &self.function.blocks[block.index()].end {
            End::If { else_block, .. } => {
                let live = self.liveness.live_in(*else_block);
                let phis = &self.function.blocks[else_block.index()].phis;
                let needed = |v: Value| {
                    live.contains(v) || phis.iter().any(|p| p.srcs.contains(&Src::from(v)))
                };
                let there = exit.iter().filter(|(v, _)| needed(*v));
                self.waiting.branch(block, there.map(|(_, r)| *r).collect());
            }
            End::EndThen { .. } => self.waiting.turn(block, reached.then(all)),
            End::EndElse | End::EndLoop { .. } => self.waiting.close(block),
            End::Loop { .. } => self.waiting.enter_loop(block),
            End::Break { closes, .. } => {
                if reached {
                    self.waiting.leave(all());
                }
                match closes {
                    Closes::Then(_) => self.waiting.turn(block, None),
                    Closes::Else | Closes::Loop => self.waiting.close(block),
                }
            }
            End::Next | End::Stop => {}
        }
    }

    fn block(&mut self, block: Block) -> Result<BlockData, Failure> {
        let data = &self.function.blocks[block.index()];
        self.ends.enter(data);
        self.hints.enter(block.0);
        let held = self.waiting.held();
        self.hints.hold(held.firm.with(held.loose));
        self.enter(block, &data.phis)?;
        let mut out = Vec::with_capacity(data.instrs.len() + data.instrs.len() / 8);
        for (i, instr) in data.instrs.iter().enumerate() {
            self.ends.step();
            self.instr(block, instr, held, &mut out)?;
            self.hints.reached(block.0, i as u32);
        }
        let mut end = data.end.clone();
        if let End::If { cond, .. } = &mut end {
            for src in cond.srcs_mut() {
                if let Ref::Value(value) = src.from {
                    src.from = Ref::Reg(self.located(value)?);
                }
            }
        }
        let live_out = self.liveness.live_out(block);
        let mut exit = Map::with_capacity(live_out.len());
        for value in live_out.iter() {
            exit.push((value, self.located(value)?));
        }
        self.exits[block.index()] = exit;
        Ok(BlockData {
            preds: data.preds.clone(),
            phis: Vec::new(),
            instrs: out,
            end,
            loop_depth: data.loop_depth,
        })
    }

    fn located(&self, value: Value) -> Result<u8, String> {
        self.state.loc[value.0 as usize].ok_or_else(|| format!("{value} lies in no register"))
    }

    fn instr(
        &mut self,
        block: Block,
        instr: &Instr,
        held: Held,
        out: &mut Vec<Instr>,
    ) -> Result<(), Failure> {
        let before = self.state.free;
        let results = results(instr);
        let live_out = self.liveness.live_out(block);
        let site = Site {
            hints: &self.hints,
            instr,
            results: &results,
            ends: &self.ends,
            live_out,
            held,
        };
        let Placement {
            copies,
            sources,
            ending,
            destination,
        } = place(&mut self.state, &site)?;
        if !copies.is_empty() {
            let mut spare = before;
            for (to, _) in &copies {
                spare.remove(*to);
            }
            sequentialise(&copies, spare.iter().next(), out);
        }
        let mut instr = instr.clone();
        let mut destroyed = RegSet::EMPTY;
        for (g, (group, shape)) in instr.srcs_mut().iter_mut().enumerate() {
            for (i, src) in group.iter_mut().enumerate() {
                if src.value().is_some() {
                    let register = sources[g] + i as u8;
                    src.from = Ref::Reg(register);
                    if shape.destroyed {
                        destroyed.insert(register);
                    }
                }
            }
        }
        if !destroyed.is_empty() {
            self.waiting.destroyed(block, destroyed);
        }
        self.state.end(ending);
        for (i, value) in results.values.iter().enumerate() {
            self.state.put(*value, destination + i as u8);
        }
        instr.for_each_dst_mut(|group, _| {
            for (i, dst) in group.iter_mut().enumerate() {
                *dst = Dst::Reg(destination + i as u8);
            }
        });
        for (i, value) in results.values.iter().enumerate() {
            let register = destination + i as u8;
            self.hints.placed(*value, register, &self.state.free);
        }
        for value in &results.values {
            if !self.ends.is_read_later(*value) && !live_out.contains(*value) {
                self.state.remove(*value);
            }
        }
        let nothing = match &instr {
            Instr::Mov(op) => op.src.reg() == op.dst.reg() && !op.src.is_modified(),
            _ => false,
        };
        if !nothing {
            out.push(instr);
        }
        Ok(())
    }

    /// Decides where values lie at the beginning of a block.
    fn enter(&mut self, block: Block, phis: &[Phi]) -> Result<(), Failure> {
        self.state.end(self.state.occupied());
        let preds = &self.function.blocks[block.index()].preds;
        let seen: Vec<(usize, Block)> = preds
            .iter()
            .copied()
            .enumerate()
            .filter(|(_, p)| *p < block && self.reachable[p.index()])
            .collect();
        let last = preds.iter().copied().filter(|p| *p >= block).max();
        let live_in = self.liveness.live_in(block);
        // What lies there is lost before the lanes that wait for this block get to it.
        let lost = self.waiting.lost_before(block);
        let mut homeless = Vec::new();
        if let Some((_, base)) = self.base(&seen, live_in, lost) {
            for value in live_in.iter() {
                let register = lookup(&self.exits[base.index()], value)
                    .ok_or_else(|| format!("{value} does not reach b{}", block.0))?;
                if lost.contains(register) {
                    homeless.push(value);
                } else {
                    self.state.put(value, register);
                }
            }
        }
        for value in homeless {
            let free = self.state.free;
            let safe = free.without(lost).iter();
            let home = safe.min_by_key(|r| (self.hints.cost(value, *r, &free), *r));
            let home = home.ok_or_else(|| {
                Failure::Room(format!("no register for {value} that lanes wait with"))
            })?;
            self.state.put(value, home);
        }
        let live_out = self.liveness.live_out(block);
        for phi in phis {
            if !self.ends.is_read_later(phi.dst) && !live_out.contains(phi.dst) {
                continue;
            }
            let register = self.phi_register(phi, &seen, lost)?;
            self.state.put(phi.dst, register);
            self.hints.placed(phi.dst, register, &self.state.free);
            if let Some(last) = last {
                self.hints.carried(phi.dst, register, last.0);
            }
        }
        let occupied = self.state.occupied();
        let mut entry: Map = occupied
            .iter()
            .filter_map(|r| Some((self.state.at[r as usize]?, r)))
            .collect();
        entry.sort_unstable();
        self.entries[block.index()] = entry;
        Ok(())
    }

    /// The predecessor whose registers the others take over: that to which the others come with the fewest moves.
    fn base(
        &self,
        seen: &[(usize, Block)],
        live_in: &ValueSet,
        lost: RegSet,
    ) -> Option<(usize, Block)> {
        const TRIED: usize = 4;
        if seen.len() < 2 {
            return seen.first().copied();
        }
        let weight = |p: Block| 1 + self.function.blocks[p.index()].loop_depth.min(4) * 4;
        seen.iter()
            .copied()
            .take(TRIED)
            .min_by_key(|(edge, candidate)| {
                let moves = seen.iter().map(|(_, pred)| {
                    let (from, to) = (&self.exits[pred.index()], &self.exits[candidate.index()]);
                    let differ = live_in.iter().filter(|v| {
                        let to = lookup(to, *v);
                        lookup(from, *v) != to || to.is_some_and(|r| lost.contains(r))
                    });
                    differ.count() as u32 * weight(*pred)
                });
                (moves.sum::<u32>(), *edge)
            })
    }

    fn phi_register(
        &self,
        phi: &Phi,
        seen: &[(usize, Block)],
        lost: RegSet,
    ) -> Result<u8, Failure> {
        let literals = phi
            .srcs
            .iter()
            .filter(|s| matches!(s.from, Ref::Imm(_)))
            .count() as i32;
        let free = self.state.free;
        let wishes: ArrayVec<u8, 8> = seen
            .iter()
            .filter_map(|(edge, pred)| lookup(&self.exits[pred.index()], phi.srcs[*edge].value()?))
            .take(8)
            .collect();
        let cost = |r: u8| {
            let met = wishes.iter().filter(|w| **w == r).count() as i32;
            let far = if r > LAST_LITERAL { 2 * literals } else { 0 };
            (self.hints.cost(phi.dst, r, &free) + MOVE * (far - met), r)
        };
        // Wished for by somebody; of the others none costs less than `least`.
        let (wanted, least) = self.hints.favourites(phi.dst);
        let wanted = wanted.with(wishes.iter().copied().collect());
        let possible = free.without(lost);
        let others = possible.without(wanted);
        let mut best = possible.without(others).iter().map(cost).min();
        for r in others.iter() {
            if best.is_some_and(|best| best < (least, r)) {
                break;
            }
            best = best.into_iter().chain([cost(r)]).min();
        }
        let best = best.map(|(_, r)| r);
        best.ok_or_else(|| Failure::Room(format!("no register for the phi {}", phi.dst)))
    }

    /// Makes registers agree on the edges into a block.
    fn edges(&mut self, block: Block) -> Result<(), String> {
        if !self.reachable[block.index()] {
            return Ok(());
        }
        let BlockData { preds, phis, .. } = &self.function.blocks[block.index()];
        for (edge, pred) in preds
            .iter()
            .enumerate()
            .filter(|(_, p)| self.reachable[p.index()])
        {
            let exit = &self.exits[pred.index()];
            let mut copies: Vec<(u8, Origin)> = Vec::new();
            let mut spare = RegSet::below(self.state.file);
            exit.iter()
                .for_each(|(_, register)| spare.remove(*register));
            for (value, to) in &self.entries[block.index()] {
                spare.remove(*to);
                let src = match phis.iter().find(|p| p.dst == *value) {
                    Some(phi) => phi.srcs[edge],
                    None => Src::from(*value),
                };
                if src.is_modified() {
                    return Err(format!("a modifier at the phi {value}"));
                }
                let from = match src.from {
                    Ref::Value(v) => Origin::Reg(
                        lookup(exit, v)
                            .ok_or_else(|| format!("{v} is missing behind b{}", pred.0))?,
                    ),
                    Ref::Reg(_) => return Err(format!("a register at the phi {value}")),
                    Ref::Imm(bits) => Origin::Imm(bits),
                    Ref::Uniform(word) => Origin::Uniform(word),
                };
                if from != Origin::Reg(*to) {
                    copies.push((*to, from));
                }
            }
            if copies.is_empty() {
                continue;
            }
            let alone = self.function.successors(*pred).count() == 1;
            if alone {
                let out = &mut self.out[pred.index()].instrs;
                sequentialise(&copies, spare.iter().next(), out);
            } else {
                let mut out = Vec::new();
                sequentialise(&copies, spare.iter().next(), &mut out);
                self.out[block.index()].instrs.splice(0..0, out);
            }
        }
        Ok(())
    }
}
