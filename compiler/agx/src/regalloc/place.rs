// SPDX-License-Identifier: MIT
//! Finds registers for one instruction.
//!
//! Source groups that lie well are left alone. For each of the others all windows are tried and the one that takes the
//! fewest moves wins: members move in, what lies there and is none of them moves out. Then the destinations are given
//! their window in the same way, and what had to move out finds new homes. Everything that moves does so at once before
//! the instruction.
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
use super::constraints::{
    Sharing, SourceGroup, SourceGroups, destinations, sharing, source_groups,
};
use super::hints::{Hints, MOVE};
use super::parallel_copy::Origin;
use super::{Failure, RegSet};

/// Where an instruction finds its operands.
#[derive(Debug, Default)]
pub(crate) struct Placement {
    /// To be made at once before the instruction.
    pub(crate) copies: Vec<(u8, Origin)>,
    /// The register of each member of each source group; 0 where a member is no value.
    pub(crate) sources: ArrayVec<ArrayVec<u8, 4>, 4>,
    /// The registers of the destinations.
    pub(crate) destinations: ArrayVec<u8, 4>,
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

/// Finds registers, and brings `state` up to date with the moves before the instruction. It does not end the values
/// that die there nor put the destinations in.
pub(crate) fn place(
    state: &mut State,
    hints: &Hints,
    instr: &Instr,
    dying: &[Value],
    live_out: &ValueSet,
    held: Held,
) -> Result<Placement, Failure> {
    let groups = source_groups(instr);
    if groups
        .iter()
        .any(|g| g.shape.tied && g.members.iter().any(Option::is_none))
    {
        return Err(Failure::Broken(format!(
            "`{instr}` writes over an operand that is no value"
        )));
    }
    let state_free = state.free;
    for packed in [false, true] {
        let mut placer = Placer {
            free_before: state_free,
            state,
            hints,
            groups: &groups,
            dying,
            live_out,
            held,
            roomy: !packed && state_free.len() >= ROOMY,
            claimed: RegSet::EMPTY,
            ending: RegSet::EMPTY,
            pinned: ArrayVec::new(),
            origins: Vec::new(),
            homeless: Vec::new(),
            temporaries: Vec::new(),
            sources: groups
                .iter()
                .map(|g| g.members.iter().map(|_| 0).collect())
                .collect(),
        };
        match placer.run(instr, packed) {
            Some(placement) => return Ok(placement),
            None => placer.undo(),
        }
    }
    let live = u32::from(state.file) - state.free.len();
    let held = held.firm.len();
    Err(Failure::Room(format!(
        "no registers for `{instr}` with {live} of {} taken before it, and {held} needed by lanes that wait",
        state.file
    )))
}

struct Placer<'a> {
    state: &'a mut State,
    free_before: RegSet,
    hints: &'a Hints,
    groups: &'a SourceGroups,
    dying: &'a [Value],
    live_out: &'a ValueSet,
    held: Held,
    /// There are registers for copies that are not strictly needed.
    roomy: bool,
    /// Registers that the instruction reads.
    claimed: RegSet,
    /// Those among them whose content nobody needs afterwards.
    ending: RegSet,
    /// Values whose own register is among the claimed ones.
    pinned: ArrayVec<Value, 16>,
    /// Where values that have moved were before.
    origins: Vec<(Value, u8)>,
    /// Values that have moved out of a window.
    homeless: Vec<Value>,
    /// Copies that end with the instruction.
    temporaries: Vec<(Value, u8)>,
    sources: ArrayVec<ArrayVec<u8, 4>, 4>,
}

impl Placer<'_> {
    fn run(&mut self, instr: &Instr, packed: bool) -> Option<Placement> {
        let (dsts, dst_shape) = destinations(instr);
        let tied = self
            .groups
            .iter()
            .position(|g| g.shape.tied)
            .filter(|_| !dsts.is_empty());
        let mut order: ArrayVec<usize, 4> = (0..self.groups.len()).collect();
        order.retain(|g| self.groups[*g].members.iter().any(Option::is_some));
        order.sort_by_key(|g| {
            let group = &self.groups[*g];
            (std::cmp::Reverse(group.members.len()), group.shape.last)
        });
        let mut window = None;
        if packed {
            window = self.pack(
                &order,
                dsts.len(),
                dst_shape,
                tied.is_none(),
                sharing(instr),
            )?;
        } else {
            order.retain(|g| !self.place_where_it_is(*g));
            for g in order {
                let base = self.best_window(g)?;
                self.apply(g, base);
            }
        }
        let destinations: ArrayVec<u8, 4> = match tied {
            Some(group) => std::iter::once(self.sources[group][0]).collect(),
            None if dsts.is_empty() => ArrayVec::new(),
            None => {
                let base = match window {
                    Some(base) => base,
                    None => self.best_destination(&dsts, dst_shape, sharing(instr))?,
                };
                (base..base + dsts.len() as u8).collect()
            }
        };
        for register in &destinations {
            if !self.claimed.contains(*register)
                && let Some(value) = self.state.at[*register as usize]
            {
                self.evict(value);
            }
        }
        self.find_homes(&destinations)?;
        Some(self.finish(destinations))
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
        let cost = |r: u8| self.hints.cost(value, r, &self.state.free);
        self.roomy && self.live_out.contains(value) && cost(base + place as u8) >= cost(from)
    }

    /// What it costs to move a value out of the way. One that other blocks need has to come back.
    fn eviction(&self, value: Value) -> i32 {
        1 + if self.live_out.contains(value) {
            2 * MOVE
        } else {
            MOVE
        }
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
                if self.held.firm.contains(register) {
                    return None;
                }
                cost += match self.held.loose.contains(register) {
                    true => 2 * MOVE,
                    false => 0,
                };
            }
            if self.claimed.contains(register) {
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
                cost += self.hints.cost(value, register, &self.state.free) / 2;
            }
            if let Some(other) = occupant {
                let moves_too = (0..group.members.len())
                    .any(|j| group.members[j] == Some(other) && self.moves_itself(group, j, base));
                cost += if moves_too { 0 } else { self.eviction(other) };
            }
        }
        Some(cost)
    }

    fn bases(&self, shape: Shape, count: usize) -> impl Iterator<Item = u8> + use<> {
        let end = self.state.file.min(shape.last + 1);
        (0..(end + 1).saturating_sub(count as u8)).step_by(shape.align as usize)
    }

    /// Claims the registers that the group lies in if they are right.
    fn place_where_it_is(&mut self, g: usize) -> bool {
        let group = &self.groups[g];
        let shape = group.shape;
        if let ([Some(value)], false) = (&group.members[..], group.is_exclusive()) {
            // What most operands are, so it goes the short way: one value that the instruction spares is good where it
            // is.
            let Some(base) = self.state.loc[value.0 as usize] else {
                return false;
            };
            let fits = (shape.align == 1 || base.is_multiple_of(shape.align))
                && base <= shape.last
                && base < self.state.file;
            if fits {
                self.sources[g][0] = base;
                self.claim(*value, base);
            }
            return fits;
        }
        let first = group
            .members
            .iter()
            .enumerate()
            .find_map(|(i, m)| m.map(|v| (i, v)));
        let base = first.and_then(|(i, v)| self.state.loc[v.0 as usize]?.checked_sub(i as u8));
        let Some(base) = base else { return false };
        let last = base as usize + group.members.len() - 1;
        let fits = base % shape.align == 0
            && last <= shape.last as usize
            && last < self.state.file as usize;
        let good = fits && self.window_cost(g, base) == Some(0);
        if good {
            self.apply(g, base);
        }
        good
    }

    fn best_window(&self, g: usize) -> Option<u8> {
        let group = &self.groups[g];
        // The least that a member costs in a register that it does not lie in, and what more if that is not free.
        let floor = |value: &Value| {
            let least = self.hints.least(*value) / 2;
            (MOVE + least.min(0), MOVE + 1)
        };
        let floors: ArrayVec<Option<(i32, i32)>, 4> = group
            .members
            .iter()
            .map(|m| m.as_ref().map(floor))
            .collect();
        let least = |base: u8| {
            let mut least = 0;
            for ((member, floor), register) in group.members.iter().zip(&floors).zip(base..) {
                let (Some(value), Some((away, crowded))) = (member, floor) else {
                    continue;
                };
                match self.state.at[register as usize] {
                    Some(other) if other == *value => {}
                    Some(other) if !group.members.contains(&Some(other)) => {
                        least += away + crowded;
                    }
                    _ => least += away,
                }
            }
            least
        };
        let mut best: Option<(i32, u8)> = None;
        for base in self.bases(group.shape, group.members.len()) {
            if best.is_none_or(|best| (least(base), base) < best)
                && let Some(cost) = self.window_cost(g, base)
            {
                best = best.into_iter().chain([(cost, base)]).min();
            }
        }
        best.map(|(_, base)| base)
    }

    fn apply(&mut self, g: usize, base: u8) {
        let group = &self.groups[g];
        let open: ArrayVec<usize, 4> = (0..group.members.len())
            .filter(|i| group.members[*i].is_some() && !self.claimed.contains(base + *i as u8))
            .collect();
        let itself: ArrayVec<bool, 4> = (0..group.members.len())
            .map(|i| self.moves_itself(group, i, base))
            .collect();
        for i in 0..group.members.len() {
            if group.members[i].is_some() {
                self.sources[g][i] = base + i as u8;
            }
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
                self.claimed.insert(register);
                self.state.free.remove(register);
                self.temporaries.push((value, register));
                self.ending.insert(register);
            }
        }
    }

    /// The instruction reads a value in its own register.
    fn claim(&mut self, value: Value, register: u8) {
        if self.claimed.contains(register) {
            return;
        }
        self.claimed.insert(register);
        self.pinned.push(value);
        if !self.survives(value) {
            self.ending.insert(register);
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

    fn best_destination(&self, dsts: &[Value], shape: Shape, sharing: Sharing) -> Option<u8> {
        // Windows in which a destination lies where something decided for it, and the least that any other costs.
        let (mut favourites, mut floor) = (RegSet::EMPTY, 0);
        for (i, value) in (0..).zip(dsts) {
            let (wanted, least) = self.hints.favourites(*value);
            wanted
                .iter()
                .filter_map(|r| r.checked_sub(i))
                .for_each(|base| favourites.insert(base));
            floor += least;
        }
        // What a window costs, if it is possible and may be better than the best one so far.
        let cost = |base: u8, floor: i32, best: Option<(i32, u8)>| {
            let (mut cost, mut evicted, mut shared, mut free) = (0, 0, 0, 0);
            for register in base..base + dsts.len() as u8 {
                if self.claimed.contains(register) {
                    if sharing == Sharing::Distinct || !self.ending.contains(register) {
                        return None;
                    }
                    shared += 1;
                } else if let Some(other) = self.state.at[register as usize] {
                    cost += self.eviction(other);
                    evicted += 1;
                } else {
                    free += 1;
                }
            }
            if best.is_some_and(|best| best < (cost.saturating_add(floor), base)) {
                return None;
            }
            if sharing == Sharing::DistinctUnlessEqual && shared > 0 {
                let window: ArrayVec<u8, 4> = (base..base + dsts.len() as u8).collect();
                if !self.sources.contains(&window) || shared < dsts.len() {
                    return None;
                }
            }
            let homes = self.state.free.len() - free;
            if (homes as usize) < self.homeless.len() + evicted {
                return None;
            }
            for (value, register) in dsts.iter().zip(base..) {
                cost += self.hints.cost(*value, register, &self.state.free);
            }
            Some((cost, base))
        };
        let end = self.state.file.min(shape.last + 1);
        let fits = |base: &u8| {
            base.is_multiple_of(shape.align) && *base as usize + dsts.len() <= end.into()
        };
        let mut best: Option<(i32, u8)> = None;
        for base in favourites.iter().filter(fits) {
            let found = cost(base, i32::MIN, None);
            best = [best, found].into_iter().flatten().min();
        }
        // Windows that nothing has to leave come first: most often one of them is as good as can be.
        let taken = RegSet::below(self.state.file)
            .without(self.state.free)
            .without(self.claimed);
        for (crowded, least) in [(false, floor), (true, floor + 1 + MOVE)] {
            for base in self.bases(shape, dsts.len()) {
                if best.is_some_and(|best| best < (least, base)) {
                    // Neither this one nor any behind it is better.
                    break;
                }
                let window = RegSet::window(base, dsts.len() as u8);
                if window.meets(taken) == crowded && !favourites.contains(base) {
                    let found = cost(base, floor, best);
                    best = [best, found].into_iter().flatten().min();
                }
            }
        }
        best.map(|(_, base)| base)
    }

    /// Lays all groups side by side; gives the destinations' window, if these may share no register.
    fn pack(
        &mut self,
        order: &[usize],
        dsts: usize,
        shape: Shape,
        untied: bool,
        sharing: Sharing,
    ) -> Option<Option<u8>> {
        let mut next = 0u8;
        let firm = self.held.firm;
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
        let distinct = untied && dsts > 0 && sharing != Sharing::Any;
        for g in order {
            let group = &self.groups[*g];
            if distinct && !done && dsts >= group.members.len() {
                window = Some(take(dsts, shape, file)?);
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
            window = Some(take(dsts, shape, file)?);
        }
        Some(window)
    }

    fn find_homes(&mut self, destinations: &[u8]) -> Option<()> {
        if self.homeless.is_empty() {
            return Some(());
        }
        let mut taken = RegSet::EMPTY;
        destinations.iter().for_each(|r| taken.insert(*r));
        self.homeless.sort_unstable();
        for value in std::mem::take(&mut self.homeless) {
            let free = self.state.free;
            let home = free
                .without(taken)
                .iter()
                .min_by_key(|r| (self.hints.cost(value, *r, &free), *r))?;
            self.state.put(value, home);
        }
        Some(())
    }

    fn finish(&mut self, destinations: ArrayVec<u8, 4>) -> Placement {
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
        Placement {
            copies,
            sources: std::mem::take(&mut self.sources),
            destinations,
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
