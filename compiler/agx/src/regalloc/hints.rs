// SPDX-License-Identifier: MIT
//! Where values would like to lie.
//!
//! Two wishes save moves. Values of a *web* want one register: a phi and its sources, a tied source and its
//! destination, a copy and its original. Values of a *tuple* want consecutive ones: the members of a group that an
//! instruction reads. Wishes of one value are those of its whole web. The first member of a web or a tuple that is
//! placed decides for the others; the registers that the others will want are reserved, which means that values
//! without a claim to them go elsewhere while there is an elsewhere.

use arrayvec::ArrayVec;

use crate::analysis::{Liveness, ValueSet};
use crate::ir::{Function, Instr, Shape, Src, Value};

use super::{FILE, RegSet};

/// A tuple in an instruction that reads it.
#[derive(Debug)]
struct Tuple {
    members: ArrayVec<Member, 4>,
    shape: Shape,
    /// The block and the place there of the instruction.
    at: (u32, u32),
    /// Decided by the first member that was placed.
    base: Option<u8>,
    weight: i32,
}

/// A member of a tuple: the web of its value, and the next membership of that web. There is none where the member is no
/// value.
#[derive(Debug, Clone, Copy)]
struct Member {
    web: Option<u32>,
    next: Option<Membership>,
}

/// A tuple, and a place there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Membership {
    tuple: u32,
    place: u8,
}

/// Takes a register for a use that is still to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reservation {
    /// For this member of a tuple.
    Tuple(u32),
    /// For a loop's web, until the loop's last block.
    Loop { web: u32, last: u32 },
}

/// The wishes of all values.
#[derive(Debug)]
pub(crate) struct Hints {
    web: Vec<u32>,
    web_register: Vec<Option<u8>>,
    /// In program order.
    tuples: Vec<Tuple>,
    /// The first of those that may not have been reached.
    next: usize,
    /// By web: its first membership in a tuple that is still to come; they are lists in program order.
    memberships: Vec<Option<Membership>>,
    reserved: [Option<Reservation>; FILE],
    /// Registers that are reserved for a tuple.
    for_tuples: RegSet,
    /// Registers that are reserved for a loop.
    for_loops: RegSet,
    /// Values whose last use seems to be that they are destroyed.
    doomed: ValueSet,
    /// Registers in which nothing should be destroyed now.
    held: RegSet,
}

/// What a move costs, in the unit of all these costs.
pub(crate) const MOVE: i32 = 8;

/// Tuples of one value that are looked at.
const FORESIGHT: usize = 6;

impl Hints {
    pub(crate) fn of(function: &Function, liveness: &Liveness) -> Hints {
        let mut webs = Webs::of(function, liveness);
        let web: Vec<u32> = (0..function.num_values).map(|v| webs.leader(v)).collect();
        let mut hints = Hints {
            web_register: vec![None; web.len()],
            memberships: vec![None; web.len()],
            web,
            tuples: Vec::new(),
            next: 0,
            reserved: [None; FILE],
            for_tuples: RegSet::EMPTY,
            for_loops: RegSet::EMPTY,
            doomed: ValueSet::new(function.num_values),
            held: RegSet::EMPTY,
        };
        for block in function.block_ids() {
            let data = &function.blocks[block.index()];
            let live_out = liveness.live_out(block);
            for (i, instr) in (0..).zip(&data.instrs) {
                instr.for_each_src(|group, shape| {
                    if shape.destroyed {
                        let values = group.iter().filter_map(Src::value);
                        for value in values.filter(|v| !live_out.contains(*v)) {
                            hints.doomed.insert(value);
                        }
                    }
                    if group.len() > 1 {
                        hints.add_tuple(group, shape, (block.0, i), data.loop_depth);
                    }
                });
            }
        }
        hints.link();
        hints
    }

    fn add_tuple(&mut self, group: &[Src], shape: Shape, at: (u32, u32), depth: u32) {
        let member = |src: &Src| Member {
            web: src.value().map(|v| self.web[v.0 as usize]),
            next: None,
        };
        self.tuples.push(Tuple {
            members: group.iter().map(member).collect(),
            shape,
            at,
            base: None,
            weight: MOVE * (1 + depth.min(3) as i32),
        });
    }

    /// Makes the lists of memberships.
    fn link(&mut self) {
        for (tuple, data) in self.tuples.iter_mut().enumerate().rev() {
            for (place, member) in data.members.iter_mut().enumerate().rev() {
                if let Some(web) = member.web {
                    let here = Membership {
                        tuple: tuple as u32,
                        place: place as u8,
                    };
                    member.next = self.memberships[web as usize].replace(here);
                }
            }
        }
    }

    /// The tuples of a web that are looked at, and its places there.
    fn tuples_of(&self, web: u32) -> impl Iterator<Item = Membership> {
        let first = self.memberships[web as usize];
        let next = |m: &Membership| self.tuples[m.tuple as usize].members[m.place as usize].next;
        std::iter::successors(first, next).take(FORESIGHT)
    }

    /// What it costs to have the value in this register, in the unit of [`MOVE`]; less is better, wishes that are met
    /// count negative. `free` are the registers that nothing lies in.
    pub(crate) fn cost(&self, value: Value, register: u8, free: &RegSet) -> i32 {
        let web = self.web[value.0 as usize];
        let mut cost = 0;
        match self.web_register[web as usize] {
            Some(wanted) if wanted == register => cost -= 2 * MOVE,
            _ => {}
        }
        for Membership { tuple: id, place } in self.tuples_of(web) {
            let tuple = &self.tuples[id as usize];
            match tuple.base {
                Some(base) => {
                    if base + place == register {
                        cost -= tuple.weight;
                    }
                }
                None => {
                    if let Some(base) = tuple.base_for(place, register) {
                        let room = (0..tuple.members.len() as u8).all(|i| {
                            let r = base + i;
                            r == register
                                || free.contains(r)
                                    && !matches!(
                                        self.reserved[r as usize],
                                        Some(Reservation::Tuple(other)) if other != id
                                    )
                        });
                        cost -= if room { tuple.weight / 2 } else { 0 };
                    }
                }
            }
        }
        match self.reserved[register as usize] {
            Some(Reservation::Loop { web: other, .. }) if other != web => cost += MOVE / 2,
            Some(Reservation::Tuple(id)) if self.tuples_of(web).all(|m| m.tuple != id) => {
                cost += MOVE / 2;
            }
            _ => {}
        }
        if self.held.contains(register) && self.doomed.contains(value) {
            cost += MOVE;
        }
        cost
    }

    /// The registers of which [`Hints::cost`] may be low for the value because something decided for them, and the least
    /// that it can be in any other: who searches for the best register need not ask about all.
    pub(crate) fn favourites(&self, value: Value) -> (RegSet, i32) {
        let web = self.web[value.0 as usize];
        let mut wanted: RegSet = self.web_register[web as usize].into_iter().collect();
        let mut least = 0;
        for Membership { tuple, place } in self.tuples_of(web) {
            let tuple = &self.tuples[tuple as usize];
            match tuple.base {
                Some(base) => wanted.insert(base + place),
                None => least -= tuple.weight / 2,
            }
        }
        (wanted, least)
    }

    /// Does the value want some register more than others?
    pub(crate) fn has_wishes(&self, value: Value) -> bool {
        let web = self.web[value.0 as usize] as usize;
        self.web_register[web].is_some() || self.memberships[web].is_some()
    }

    /// The registers in which [`Hints::cost`] may be above 0 for a value without wishes.
    pub(crate) fn against(&self, value: Value) -> RegSet {
        let reserved = self.for_tuples.with(self.for_loops);
        match self.doomed.contains(value) {
            true => reserved.with(self.held),
            false => reserved,
        }
    }

    /// The least that [`Hints::cost`] can be for the value.
    pub(crate) fn least(&self, value: Value) -> i32 {
        let tuples = self.tuples_of(self.web[value.0 as usize]);
        let weights = tuples.map(|m| self.tuples[m.tuple as usize].weight);
        -2 * MOVE - weights.sum::<i32>()
    }

    /// From here on nothing should be destroyed in these registers.
    pub(crate) fn hold(&mut self, held: RegSet) {
        self.held = held;
    }

    /// The value lies there now. `free` as in [`Hints::cost`].
    pub(crate) fn placed(&mut self, value: Value, register: u8, free: &RegSet) {
        let web = self.web[value.0 as usize];
        self.web_register[web as usize] = Some(register);
        let mut next = self.memberships[web as usize];
        for _ in 0..FORESIGHT {
            let Some(Membership { tuple: id, place }) = next else {
                break;
            };
            let tuple = &mut self.tuples[id as usize];
            next = tuple.members[place as usize].next;
            if tuple.base.is_some() {
                continue;
            }
            let Some(base) = tuple.base_for(place, register) else {
                continue;
            };
            let room =
                (0..tuple.members.len() as u8).all(|i| i == place || free.contains(base + i));
            if !room {
                continue;
            }
            tuple.base = Some(base);
            for i in 0..tuple.members.len() as u8 {
                let slot = &mut self.reserved[(base + i) as usize];
                if slot.is_none() {
                    *slot = Some(Reservation::Tuple(id));
                    self.for_tuples.insert(base + i);
                }
            }
        }
    }

    /// The loop-carried value of a header has its register; it should be free when the next iteration's is made.
    pub(crate) fn carried(&mut self, value: Value, register: u8, last: u32) {
        let web = self.web[value.0 as usize];
        self.reserved[register as usize] = Some(Reservation::Loop { web, last });
        self.for_tuples.remove(register);
        self.for_loops.insert(register);
    }

    /// Reservations for what lies before this instruction end.
    pub(crate) fn reached(&mut self, block: u32, instr: u32) {
        while let Some(tuple) = self.tuples.get(self.next)
            && tuple.at <= (block, instr)
        {
            // Tuples in blocks that nothing gets into are passed over.
            if tuple.at == (block, instr) {
                self.finish(self.next as u32);
            }
            self.next += 1;
        }
    }

    fn finish(&mut self, id: u32) {
        for register in self.for_tuples.iter() {
            let slot = &mut self.reserved[register as usize];
            if *slot == Some(Reservation::Tuple(id)) {
                *slot = None;
                self.for_tuples.remove(register);
            }
        }
        for place in 0..self.tuples[id as usize].members.len() {
            if let Some(web) = self.tuples[id as usize].members[place].web {
                self.forget(web, id);
            }
        }
    }

    /// Takes a tuple out of the list of a web.
    fn forget(&mut self, web: u32, id: u32) {
        let mut last: Option<Membership> = None;
        let mut at = self.memberships[web as usize];
        while let Some(here) = at {
            at = self.tuples[here.tuple as usize].members[here.place as usize].next;
            if here.tuple != id {
                last = Some(here);
                continue;
            }
            match last {
                Some(last) => {
                    self.tuples[last.tuple as usize].members[last.place as usize].next = at;
                }
                None => self.memberships[web as usize] = at,
            }
        }
    }

    /// Reservations for loops that ended before this block end.
    pub(crate) fn enter(&mut self, block: u32) {
        for register in self.for_loops.iter() {
            let slot = &mut self.reserved[register as usize];
            if matches!(slot, Some(Reservation::Loop { last, .. }) if *last < block) {
                *slot = None;
                self.for_loops.remove(register);
            }
        }
    }
}

impl Tuple {
    /// The first register, if the member at `place` lies in `register`.
    fn base_for(&self, place: u8, register: u8) -> Option<u8> {
        let base = register.checked_sub(place)?;
        let last = base as usize + self.members.len() - 1;
        (base % self.shape.align == 0 && last <= self.shape.last as usize).then_some(base)
    }
}

/// Union-find over values.
struct Webs {
    parent: Vec<u32>,
    /// By leader: the blocks in which members are phis, ascending.
    phis: Vec<Vec<u32>>,
}

impl Webs {
    fn of(function: &Function, liveness: &Liveness) -> Webs {
        let count = function.num_values;
        let mut webs = Webs {
            parent: (0..count).collect(),
            phis: vec![Vec::new(); count as usize],
        };
        for block in function.block_ids() {
            for phi in &function.blocks[block.index()].phis {
                webs.phis[phi.dst.0 as usize].push(block.0);
            }
        }
        // What comes around a loop is moved most often, so it has the first choice.
        for back in [true, false] {
            for block in function.block_ids() {
                let data = &function.blocks[block.index()];
                for phi in &data.phis {
                    for (pred, src) in data.preds.iter().zip(&phi.srcs) {
                        let Some(src) = src.value().filter(|_| (*pred >= block) == back) else {
                            continue;
                        };
                        if !liveness.live_in(block).contains(src) {
                            webs.join(phi.dst, src);
                        }
                    }
                }
                for instr in data.instrs.iter().filter(|_| back) {
                    // A value that lives on out of the block would only be in the way.
                    if let Some((dst, src)) = one_register(instr)
                        && !liveness.live_out(block).contains(src)
                    {
                        webs.join(dst, src);
                    }
                }
            }
        }
        webs
    }

    fn leader(&mut self, mut value: u32) -> u32 {
        while self.parent[value as usize] != value {
            let up = self.parent[self.parent[value as usize] as usize];
            self.parent[value as usize] = up;
            value = up;
        }
        value
    }

    /// Joins the webs of two values, unless that would bring two phis of one block together.
    fn join(&mut self, a: Value, b: Value) {
        let (a, b) = (self.leader(a.0), self.leader(b.0));
        let (a, b) = (a.min(b) as usize, a.max(b) as usize);
        if a == b
            || self.phis[b]
                .iter()
                .any(|p| self.phis[a].binary_search(p).is_ok())
        {
            return;
        }
        let more = std::mem::take(&mut self.phis[b]);
        self.phis[a].extend(more);
        self.phis[a].sort_unstable();
        self.parent[b] = a as u32;
    }
}

/// A result and a source that want the same register.
fn one_register(instr: &Instr) -> Option<(Value, Value)> {
    let (dst, src) = match instr {
        Instr::Mov(op) if !op.src.is_modified() => (op.dst, op.src),
        Instr::Rotate(op) => (op.dst, op.a),
        Instr::Zext16(op) => (op.dst, op.a),
        Instr::LoadHigh(op) => (op.dst, op.old),
        Instr::F32ToF16High(op) => (op.dst, op.old),
        Instr::PackNorm8High(op) => (op.dst, op.old),
        _ => return None,
    };
    dst.value().zip(src.value())
}
