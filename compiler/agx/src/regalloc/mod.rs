// SPDX-License-Identifier: MIT
//! Register allocation on SSA form.
//!
//! Values of a function in SSA form whose pressure fits the register file can be allocated in one walk over the
//! dominance order without backtracking: interference graphs of SSA programs are chordal (Hack, Grund and Goos,
//! "Register allocation for programs in SSA form", 2006). So [`crate::spill`] first brings the pressure down, and this
//! pass then never spills. What makes the matter less simple than the theorem is that operands may be groups of
//! consecutive registers, with an alignment and a highest register, and that some instructions destroy operands.
//!
//! [`allocator`] walks the blocks in program order, which is a dominance order and that of the machine code, and keeps
//! for each live value the register that it lies in *now*. Where an instruction wants registers that are not so, values
//! are moved just before it, all at once ([`parallel_copy`]), and stay where they were moved to. [`place`] decides
//! which ones, and [`destination`] where results go: of all [`windows`] of a group the cheapest is taken, counting moves.
//! As copies can permute the whole file without a spare register, a window is always found while the pressure fits.
//!
//! Where control flow joins, the register of each value is taken from one of the predecessors already seen, and copies
//! at the end of the other predecessors, the back edges of loops among them, bring the values there; phis are
//! resolved by the same copies.
//!
//! The unit is the register, not the half. A 16-bit value alone has a whole one, whose upper bits nobody reads. Two that
//! share one are a single value here, made before: `spill::halves` says how, and from which facts of the hardware it
//! follows that this is the place to do it. What is left of it for this pass are instructions that write one half of a
//! register and keep the other. They read what was there, so that operand and result are *tied*, like those of the
//! rotation. Copies and exchanges move both halves, an operand that is destroyed and a last use end both, and a pair
//! that is under way from memory is so as a whole.
//!
//! Moves are avoided by choosing registers with foresight: [`hints`] knows which values will want to lie in one register
//! or beside each other.
//!
//! Operands that an instruction destroys stay away from registers that lanes elsewhere still need: [`waiting`].
//!
//! [`validate`] is independent of all that: it follows the allocated code and proves that each operand reads the value
//! that the SSA program says.

mod allocator;
pub(crate) mod constraints;
mod destination;
mod ends;
mod hints;
mod parallel_copy;
mod place;
#[cfg(test)]
pub(crate) mod tests;
mod validator;
mod waiting;
mod windows;

pub use validator::validate;

use crate::analysis::Liveness;
use crate::ir::Function;

/// General registers.
pub(crate) const FILE: usize = 96;

/// The function on registers: values are replaced, phis have become copies. In debug builds the result is checked by
/// [`validate()`].
///
/// # Errors
/// The registers do not suffice, or the function breaks rules of the form.
pub fn run(function: &Function) -> Result<Function, Failure> {
    run_in(function, FILE as u8)
}

/// The same with a smaller register file.
pub(crate) fn run_in(function: &Function, file: u8) -> Result<Function, Failure> {
    let allocated = run_with(function, &Liveness::of(function), file)?;
    Ok(allocated.function)
}

/// What allocation gives.
pub(crate) struct Allocated {
    /// On registers.
    pub(crate) function: Function,
    /// In how many registers something lies at any time: at no point are more values live.
    pub(crate) registers: u32,
}

/// The same with the function's liveness known.
pub(crate) fn run_with(
    function: &Function,
    liveness: &Liveness,
    file: u8,
) -> Result<Allocated, Failure> {
    let after = allocator::allocate(function, liveness, file)?;
    if cfg!(debug_assertions) {
        validate(function, &after.function).map_err(|e| {
            let after = &after.function;
            Failure::Broken(format!(
                "register allocation is wrong: {e}\n{function}\n{after}"
            ))
        })?;
    }
    Ok(after)
}

/// Why there is no allocation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// The registers do not suffice. Spilling has to bring the pressure down first; and where lanes wait for others, what
    /// they have narrows the choice of the others, which the pressure does not count.
    Room(String),
    /// The function breaks rules of the form, like a phi source with a modifier.
    Broken(String),
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (Failure::Room(what) | Failure::Broken(what)) = self;
        f.write_str(what)
    }
}

impl std::error::Error for Failure {}

impl From<String> for Failure {
    fn from(what: String) -> Failure {
        Failure::Broken(what)
    }
}

/// A set of registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct RegSet(u128);

impl RegSet {
    pub(crate) const EMPTY: RegSet = RegSet(0);

    pub(crate) const fn contains(&self, register: u8) -> bool {
        register < 128 && self.0 >> register & 1 == 1
    }

    pub(crate) const fn insert(&mut self, register: u8) {
        self.0 |= 1 << register;
    }

    pub(crate) const fn remove(&mut self, register: u8) {
        self.0 &= !(1 << register);
    }

    pub(crate) const fn len(&self) -> u32 {
        self.0.count_ones()
    }

    pub(crate) const fn with(self, other: RegSet) -> RegSet {
        RegSet(self.0 | other.0)
    }

    pub(crate) const fn without(self, other: RegSet) -> RegSet {
        RegSet(self.0 & !other.0)
    }

    pub(crate) const fn common(self, other: RegSet) -> RegSet {
        RegSet(self.0 & other.0)
    }

    /// All lower by so many; what would be below `r0` is left out.
    pub(crate) const fn down(self, by: u8) -> RegSet {
        RegSet(self.0 >> by)
    }

    pub(crate) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The lowest.
    pub(crate) const fn first(self) -> Option<u8> {
        match self.0 {
            0 => None,
            set => Some(set.trailing_zeros() as u8),
        }
    }

    /// `r0` up to, but without, `end`.
    pub(crate) const fn below(end: u8) -> RegSet {
        RegSet((1 << end) - 1)
    }

    /// `count` registers from `first` on.
    pub(crate) const fn window(first: u8, count: u8) -> RegSet {
        RegSet((((1u64 << count) - 1) as u128) << first)
    }

    /// Have both a register in common?
    pub(crate) const fn meets(self, other: RegSet) -> bool {
        self.0 & other.0 != 0
    }

    /// In ascending order.
    pub(crate) fn iter(self) -> impl Iterator<Item = u8> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let first = RegSet(rest).first()?;
            rest &= rest - 1;
            Some(first)
        })
    }
}

impl FromIterator<u8> for RegSet {
    fn from_iter<I: IntoIterator<Item = u8>>(registers: I) -> RegSet {
        let mut set = RegSet::EMPTY;
        registers.into_iter().for_each(|r| set.insert(r));
        set
    }
}
