// SPDX-License-Identifier: MIT
//! Finds registers for one instruction.
//!
//! Most often all sources lie well, and nothing has to move. If not, those groups that do are left alone, and for each of
//! the others the window that takes the fewest moves wins: members move in, what lies there and is none of them moves
//! out. Then the destinations are given their window in the same way, and what had to move out finds new homes.
//! Everything that moves does so at once before the instruction.
//!
//! A member moves for good, so that a later use finds it there, unless somebody else still needs its value: then the
//! window gets a copy that ends with the instruction. That is so for values that the instruction destroys, or reads and
//! writes, but which live on, and for values that several groups want in several places. It is also so, while registers
//! last, for values that other blocks need and nobody wants in the new place: around a loop or behind an `if` they would
//! have to be moved back.
//!
//! What lies well may stand in the way when the file is nearly full and cut into pieces. Then a second attempt packs all
//! groups side by side from r0 on, which is dear, but succeeds whenever they fit.

use arrayvec::ArrayVec;

use crate::analysis::ValueSet;
use crate::ir::{Instr, Shape, Value};

use super::allocator::State;
use super::constraints::{Results, Sharing, SourceGroup, SourceGroups, sharing, source_groups};
use super::destination::{Choice, Reads, eviction};
use super::ends::Ends;
use super::hints::{Hints, MOVE};
use super::parallel_copy::Origin;
use super::windows::Wanted;
use super::{Failure, RegSet};

/// Where an instruction finds its operands.
#[derive(Debug, Default)]
pub(crate) struct Placement {
    /// To be made at once before the instruction.
    pub(crate) copies: Vec<(u8, Origin)>,
    /// By source group: the register of its first member.
    pub(crate) sources: [u8; 4],
    /// The registers of values that end there.
    pub(crate) ending: RegSet,
    /// The register of the first result.
    pub(crate) destination: u8,
}

/// Registers that lanes elsewhere need: see [`super::waiting`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Held {
    /// Nothing may be destroyed there.
    pub(crate) firm: RegSet,
    /// If something is destroyed there, what the lanes have has to be moved to another place where they meet.
    pub(crate) loose: RegSet,
}

/// So many free registers allow copies that are not strictly needed.
const ROOMY: u32 = 16;

/// What an instruction's registers depend on.
pub(crate) struct Site<'a> {
    pub(crate) hints: &'a Hints,
    pub(crate) instr: &'a Instr,
    pub(crate) results: &'a Results,
    pub(crate) ends: &'a Ends,
    /// Of the block.
    pub(crate) live_out: &'a ValueSet,
    pub(crate) held: Held,
}

impl Site<'_> {
    /// Does a source end there?
    fn ends(&self, value: Value) -> bool {
        self.ends.is_last_read(value) && !self.live_out.contains(value)
    }
}

/// Finds registers, and brings `state` up to date with the moves before the instruction. It does not end the values
/// that die there nor put the destinations in.
pub(crate) fn place(state: &mut State, site: &Site<'_>) -> Result<Placement, Failure> {
    if let Some(placement) = without_moves(state, site) {
        return Ok(placement);
    }
    let groups = source_groups(site.instr);
    if groups
        .iter()
        .any(|g| g.shape.tied && g.members.iter().any(Option::is_none))
    {
        return Err(Failure::Broken(format!(
            "`{}` writes over an operand that is no value",
            site.instr
        )));
    }
    let values = groups.iter().flat_map(|g| g.members.iter().flatten());
    let dying: ArrayVec<Value, 16> = values.copied().filter(|v| site.ends(*v)).collect();
    let free_before = state.free;
    for packed in [false, true] {
        let mut placer = Placer {
            free_before,
            state,
            site,
            groups: &groups,
            dying: &dying,
            roomy: !packed && free_before.len() >= ROOMY,
            reads: Reads::default(),
            pinned: ArrayVec::new(),
            origins: Vec::new(),
            homeless: Vec::new(),
            temporaries: Vec::new(),
        };
        match placer.run(packed) {
            Some(placement) => return Ok(placement),
            None => placer.undo(),
        }
    }
    let live = u32::from(state.file) - state.free.len();
    let held = site.held.firm.len();
    Err(Failure::Room(format!(
        "no registers for `{}` with {live} of {} taken before it, and {held} needed by lanes that wait",
        site.instr, state.file
    )))
}

/// The registers, if nothing has to move.
fn without_moves(state: &State, site: &Site<'_>) -> Option<Placement> {
    let reads = reads_in_place(state, site)?;
    let mut placement = Placement {
        sources: reads.bases,
        ending: reads.ending,
        ..Placement::default()
    };
    let count = site.results.values.len() as u8;
    if count > 0 {
        let choice = Choice {
            state,
            hints: site.hints,
            live_out: site.live_out,
            reads: &reads,
            homeless: 0,
        };
        placement.destination = choice.best(site.results, sharing(site.instr))?;
        let window = RegSet::window(placement.destination, count);
        let occupied = window.without(state.free).without(reads.claimed);
        if !occupied.is_empty() {
            return None;
        }
    }
    Some(placement)
}

/// What is read, if the instruction spares it and it is good where it is.
fn reads_in_place(state: &State, site: &Site<'_>) -> Option<Reads> {
    let mut reads = Reads::default();
    for (base, (group, shape)) in reads.bases.iter_mut().zip(&site.instr.srcs()) {
        if shape.is_exclusive() && !group.is_empty() {
            return None;
        }
        let mut read = |value: Value| {
            let register = state.loc[value.0 as usize]?;
            let here = RegSet::window(register, 1);
            reads.claimed = reads.claimed.with(here);
            if site.ends(value) {
                reads.ending = reads.ending.with(here);
            }
            Some(register)
        };
        match group {
            // That is what most are.
            [src] => match src.value() {
                Some(value) => *base = read(value)?,
                None => continue,
            },
            _ => {
                let mut values = 0;
                for (place, src) in group.iter().enumerate() {
                    let Some(value) = src.value() else { continue };
                    let first = read(value)?.checked_sub(place as u8)?;
                    if values > 0 && first != *base {
                        return None;
                    }
                    *base = first;
                    values += 1;
                }
                if values == 0 {
                    continue;
                }
                if values == group.len() {
                    reads.tuples.insert(*base);
                }
            }
        }
        if !fits(shape, *base, group.len(), state.file) {
            return None;
        }
    }
    Some(reads)
}

/// May a group of so many registers begin there?
fn fits(shape: &Shape, base: u8, count: usize, file: u8) -> bool {
    let last = base as usize + count - 1;
    (shape.align == 1 || base.is_multiple_of(shape.align))
        && last <= shape.last.into()
        && last < file.into()
}

struct Placer<'a> {
    state: &'a mut State,
    free_before: RegSet,
    site: &'a Site<'a>,
    groups: &'a SourceGroups,
    dying: &'a [Value],
    /// There are registers for copies that are not strictly needed.
    roomy: bool,
    /// What the instruction reads, as far as it is known.
    reads: Reads,
    /// Values whose own register is among the claimed ones.
    pinned: ArrayVec<Value, 16>,
    /// Where values that have moved were before.
    origins: Vec<(Value, u8)>,
    /// Values that have moved out of a window.
    homeless: Vec<Value>,
    /// Copies that end with the instruction.
    temporaries: Vec<(Value, u8)>,
}

impl Placer<'_> {
    fn run(&mut self, packed: bool) -> Option<Placement> {
        let results = self.site.results;
        let count = results.values.len();
        let sharing = sharing(self.site.instr);
        let tied = self
            .groups
            .iter()
            .position(|g| g.shape.tied)
            .filter(|_| count > 0);
        let mut order: ArrayVec<usize, 4> = (0..self.groups.len()).collect();
        order.retain(|g| self.groups[*g].members.iter().any(Option::is_some));
        order.sort_by_key(|g| {
            let group = &self.groups[*g];
            (std::cmp::Reverse(group.members.len()), group.shape.last)
        });
        let mut window = None;
        if packed {
            let distinct = tied.is_none() && count > 0 && sharing != Sharing::Any;
            window = self.pack(&order, distinct)?;
        } else {
            order.retain(|g| !self.place_where_it_is(*g));
            for g in order {
                let base = self.best_window(g)?;
                self.apply(g, base);
            }
        }
        let destination = match (tied, window) {
            (Some(group), _) => self.reads.bases[group],
            (None, Some(base)) => base,
            (None, None) if count == 0 => 0,
            (None, None) => {
                let choice = Choice {
                    state: self.state,
                    hints: self.site.hints,
                    live_out: self.site.live_out,
                    reads: &self.reads,
                    homeless: self.homeless.len(),
                };
                choice.best(results, sharing)?
            }
        };
        let destinations = RegSet::window(destination, count as u8);
        for register in destinations.without(self.reads.claimed).iter() {
            if let Some(value) = self.state.at[register as usize] {
                self.evict(value);
            }
        }
        self.find_homes(destinations)?;
        Some(self.finish(destination))
    }

    fn survives(&self, value: Value) -> bool {
        !self.dying.contains(&value)
    }

    /// Must the value be somewhere that the instruction does not destroy?
    fn needed_intact(&self, value: Value) -> bool {
        let read = |g: &&SourceGroup| !g.is_exclusive() && g.members.contains(&Some(value));
        self.survives(value) || self.groups.iter().any(|g| read(&g))
    }

    /// Does the value itself, not a copy, come to this place of this group?
    fn moves_itself(&self, group: &SourceGroup, place: usize, base: u8) -> bool {
        let Some(value) = group.members[place] else {
            return false;
        };
        let gone = self.pinned.contains(&value) || group.members[..place].contains(&Some(value));
        let kept = group.is_exclusive() && self.needed_intact(value);
        !gone && !kept && !self.better_stays(group, value, place, base)
    }

    /// A value that other blocks need would have to be moved back, or others would have to move theirs. That is right
    /// only if somebody else wants it in the new place.
    fn better_stays(&self, group: &SourceGroup, value: Value, place: usize, base: u8) -> bool {
        let Some(from) = self.state.loc[value.0 as usize] else {
            return false;
        };
        if (base..base + group.members.len() as u8).contains(&from) {
            // It is in place, or in the way of another member.
            return false;
        }
        let cost = |r: u8| self.site.hints.cost(value, r, &self.state.free);
        self.roomy && self.site.live_out.contains(value) && cost(base + place as u8) >= cost(from)
    }

    /// Moves that a window takes, in the unit of [`MOVE`], or `None` if it is impossible.
    fn window_cost(&self, g: usize, base: u8) -> Option<i32> {
        let group = &self.groups[g];
        let mut cost = 0;
        for (i, member) in group.members.iter().enumerate() {
            let (Some(value), register) = (*member, base + i as u8) else {
                continue;
            };
            if group.shape.destroyed {
                if self.site.held.firm.contains(register) {
                    return None;
                }
                cost += match self.site.held.loose.contains(register) {
                    true => 2 * MOVE,
                    false => 0,
                };
            }
            if self.reads.claimed.contains(register) {
                let shared = !group.is_exclusive()
                    && self.pinned.contains(&value)
                    && self.state.at[register as usize] == Some(value);
                if shared {
                    continue;
                }
                return None;
            }
            let itself = self.moves_itself(group, i, base);
            let occupant = self.state.at[register as usize];
            if occupant == Some(value) {
                // In place, or what survives has to leave it.
                cost += if itself { 0 } else { MOVE + 1 };
                continue;
            }
            cost += MOVE;
            if itself && self.survives(value) {
                cost += self.site.hints.cost(value, register, &self.state.free) / 2;
            }
            if let Some(other) = occupant {
                let moves_too = (0..group.members.len())
                    .any(|j| group.members[j] == Some(other) && self.moves_itself(group, j, base));
                if !moves_too {
                    cost += eviction(self.site.live_out.contains(other));
                }
            }
        }
        Some(cost)
    }

    /// Claims the registers that the group lies in if they are right.
    fn place_where_it_is(&mut self, g: usize) -> bool {
        let group = &self.groups[g];
        let first = group
            .members
            .iter()
            .enumerate()
            .find_map(|(i, m)| m.map(|v| (i, v)));
        let base = first.and_then(|(i, v)| self.state.loc[v.0 as usize]?.checked_sub(i as u8));
        let Some(base) = base else { return false };
        let good = fits(&group.shape, base, group.members.len(), self.state.file)
            && self.window_cost(g, base) == Some(0);
        if good {
            self.apply(g, base);
        }
        good
    }

    /// The least that a member costs in a register that it does not lie in.
    fn floor(&self, group: &SourceGroup, value: Value) -> i32 {
        // Wishes count for what moves for good and lives on.
        let copied = group.is_exclusive() || self.pinned.contains(&value);
        match copied || !self.survives(value) {
            true => MOVE,
            false => MOVE + (self.site.hints.least(value) / 2).min(0),
        }
    }

    fn best_window(&self, g: usize) -> Option<u8> {
        let group = &self.groups[g];
        let (mut places, mut own) = (0, RegSet::EMPTY);
        // Windows in which a member lies where it is, and the least that any other costs.
        let (mut favourites, mut floor) = (RegSet::EMPTY, 0);
        for (place, member) in (0..).zip(&group.members) {
            let Some(value) = *member else { continue };
            places |= 1 << place;
            floor += self.floor(group, value);
            if let Some(register) = self.state.loc[value.0 as usize] {
                own.insert(register);
                if let Some(base) = register.checked_sub(place) {
                    favourites.insert(base);
                }
            }
        }
        let claimed = self.reads.claimed;
        let never = match group.shape.destroyed {
            true => claimed.with(self.site.held.firm),
            false => claimed,
        };
        let wanted = Wanted {
            shape: group.shape,
            count: group.members.len() as u8,
            places,
            favourites,
            floor,
            never,
            taken: self.state.occupied().without(own),
        };
        wanted.best(self.state.file, |base| self.window_cost(g, base))
    }

    fn apply(&mut self, g: usize, base: u8) {
        let group = &self.groups[g];
        let open: ArrayVec<usize, 4> = (0..group.members.len())
            .filter(|i| {
                group.members[*i].is_some() && !self.reads.claimed.contains(base + *i as u8)
            })
            .collect();
        let itself: ArrayVec<bool, 4> = (0..group.members.len())
            .map(|i| self.moves_itself(group, i, base))
            .collect();
        self.reads.bases[g] = base;
        if group.members.len() > 1 && group.members.iter().all(Option::is_some) {
            self.reads.tuples.insert(base);
        }
        // Most members lie there already.
        let stays: ArrayVec<bool, 4> = (0..group.members.len())
            .map(|i| itself[i] && self.state.at[base as usize + i] == group.members[i])
            .collect();
        for i in open.iter().filter(|i| !stays[**i]) {
            if let Some(value) = group.members[*i].filter(|_| itself[*i]) {
                self.lift(value);
                self.homeless.retain(|v| *v != value);
            }
        }
        for i in open.iter().filter(|i| !stays[**i]) {
            if let Some(value) = self.state.at[base as usize + i] {
                self.evict(value);
            }
        }
        for i in &open {
            let (Some(value), register) = (group.members[*i], base + *i as u8) else {
                continue;
            };
            if itself[*i] {
                if !stays[*i] {
                    self.state.put(value, register);
                }
                self.claim(value, register);
            } else {
                self.reads.claimed.insert(register);
                self.state.free.remove(register);
                self.temporaries.push((value, register));
                self.reads.ending.insert(register);
            }
        }
    }

    /// The instruction reads a value in its own register.
    fn claim(&mut self, value: Value, register: u8) {
        if self.reads.claimed.contains(register) {
            return;
        }
        self.reads.claimed.insert(register);
        self.pinned.push(value);
        if !self.survives(value) {
            self.reads.ending.insert(register);
        }
    }

    /// Takes a value out of its register.
    fn lift(&mut self, value: Value) {
        if let Some(register) = self.state.loc[value.0 as usize] {
            if !self.origins.iter().any(|o| o.0 == value) {
                self.origins.push((value, register));
            }
            self.state.remove(value);
        }
    }

    fn evict(&mut self, value: Value) {
        self.lift(value);
        self.homeless.push(value);
    }

    /// Lays all groups side by side; gives the results' window, if it has to be distinct.
    fn pack(&mut self, order: &[usize], distinct: bool) -> Option<Option<u8>> {
        let results = self.site.results;
        let (count, shape) = (results.values.len(), results.shape);
        let mut next = 0u8;
        let firm = self.site.held.firm;
        let mut take = |count: usize, shape: Shape, file: u8| {
            let mut base = next.next_multiple_of(shape.align);
            let lost =
                |base: u8| shape.destroyed && (base..base + count as u8).any(|r| firm.contains(r));
            while base <= file && lost(base) {
                base += shape.align;
            }
            next = base + count as u8;
            (next - 1 <= shape.last && next <= file).then_some(base)
        };
        let file = self.state.file;
        let mut window = None;
        let mut done = false;
        for g in order {
            let group = &self.groups[*g];
            if distinct && !done && count >= group.members.len() {
                window = Some(take(count, shape, file)?);
                done = true;
            }
            let pinned = group
                .members
                .iter()
                .flatten()
                .all(|v| self.pinned.contains(v));
            if pinned && self.place_where_it_is(*g) {
                continue;
            }
            let base = take(group.members.len(), group.shape, file)?;
            self.apply(*g, base);
        }
        if distinct && !done {
            window = Some(take(count, shape, file)?);
        }
        Some(window)
    }

    fn find_homes(&mut self, destinations: RegSet) -> Option<()> {
        self.homeless.sort_unstable();
        for value in std::mem::take(&mut self.homeless) {
            let free = self.state.free;
            let home = free
                .without(destinations)
                .iter()
                .min_by_key(|r| (self.site.hints.cost(value, *r, &free), *r))?;
            self.state.put(value, home);
        }
        Some(())
    }

    fn finish(&mut self, destination: u8) -> Placement {
        let mut copies = Vec::new();
        let origin = |value: Value| {
            let moved = self.origins.iter().find(|o| o.0 == value).map(|o| o.1);
            moved.or(self.state.loc[value.0 as usize])
        };
        for (value, from) in &self.origins {
            match self.state.loc[value.0 as usize] {
                Some(to) if to != *from => copies.push((to, Origin::Reg(*from))),
                _ => {}
            }
        }
        for (value, to) in &self.temporaries {
            if let Some(from) = origin(*value).filter(|from| from != to) {
                copies.push((*to, Origin::Reg(from)));
            }
        }
        for (_, register) in &self.temporaries {
            self.state.free.insert(*register);
        }
        let register = |value: &Value| self.state.loc[value.0 as usize];
        Placement {
            copies,
            sources: self.reads.bases,
            ending: self.dying.iter().filter_map(register).collect(),
            destination,
        }
    }

    /// Puts everything back.
    fn undo(&mut self) {
        for (value, _) in &self.origins {
            self.state.remove(*value);
        }
        for (value, register) in &self.origins {
            self.state.put(*value, *register);
        }
        self.state.free = self.free_before;
    }
}
