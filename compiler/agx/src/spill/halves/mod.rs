// SPDX-License-Identifier: MIT
//! Two 16-bit values in one register, where registers run short.
//!
//! A write of 16 bits changes its half of a register and no other (isa-1, 1.2; HW), so halves could be registers in their own
//! right. But of all forms that give 16 bits, the reference proves three to reach a high half: fp32 to fp16, the
//! 8-bit packs, and 16-bit device loads (isa-1, 4.6, 4.7; isa-4, 7.5). fp16 arithmetic writes low halves (the high one is
//! INFERRED: isa-1, 4.5, and `H2.4` ran on an A18 Pro only), 16-bit integers are computed in whole registers (isa-1,
//! 4.15), and there is no move of a half. Reading is not much better: the operands of fp16 sums and products, the
//! factors of multiply-adds, and conversion to fp32 may be high halves; addends, minimum and maximum, comparisons, special
//! functions and stores may not. An allocator that gave out halves would have results for low ones and hardly
//! anything for the others; and moving one value out of the way of another would take three to five instructions.
//!
//! As long as there are registers a 16-bit value therefore has one to itself, which costs nothing: a launch does not
//! even say how many registers a program has. Where there are not enough, this pass, which comes before spilling, makes
//! *pairs* in SSA form: from the definition of the second value on, both are one value of 32 bits,
//!
//! ```text
//! %1 = load format=i16 ..                  %1 = load format=i16 ..
//! %2 = load format=i16 ..                  %3 = load_hi %1, ..
//! %4 = hfma %1, %2, %9             ==>     %4 = hfma %3, %3.h, %9
//! %5 = h2 %2, %1 op=add                    %5 = h2 %3.h, %3 op=add
//! ```
//!
//! and register allocation, which knows nothing of it, allocates one register for the two. Nothing can go wrong with
//! halves after that: the pair moves as a whole, its last use is that of both (whether a release of one half spares the
//! other is not in the reference), and an instruction that writes a half is *tied*: it reads the pair and gives a new one.
//!
//! * [`demand`] finds the values that are 16 bits wide.
//! * [`sink`] moves the extensions of integers to those who read them, where pairs alone are not enough.
//! * [`choose`] finds which ones to pair: those that are live together where too many are. Of two phis it makes one, and
//!   pairs of what comes into them.
//! * [`rewrite`] puts values into pairs, which takes nothing where the second definition can write a high half, two
//!   instructions for fp16 results, up to three for integers; and takes them out again: nothing for the low half, whose
//!   readers do not look at the upper bits, nothing for a high half where the operand can be one, else a shift.
//!
//! A spilled value takes a store and a fill, a wait and a word of memory, so a pair is the better deal.

mod choose;
mod demand;
mod rewrite;
mod sink;
#[cfg(test)]
mod tests;

use crate::analysis::ValueSet;
use crate::ir::Function;

use super::pressure;
use demand::Constants;

/// Makes pairs of 16-bit values where more than `limit` registers are needed, as far as that helps. Blocks that no way
/// leads to must be empty.
pub(super) fn share(function: &mut Function, limit: u32) {
    let constants = demand::constants(function);
    let narrow = demand::narrow(function, &constants);
    if narrow.is_empty() {
        return;
    }
    let mut sunk = function.clone();
    pair(function, limit, &narrow, &constants);
    let needed = pressure::of_function(function);
    if needed <= limit || !sink::sink(&mut sunk, &narrow, &constants) {
        return;
    }
    rewrite::remove_unread(&mut sunk);
    let narrow = demand::narrow(&sunk, &constants);
    pair(&mut sunk, limit, &narrow, &constants);
    if pressure::of_function(&sunk) < needed {
        *function = sunk;
    }
}

fn pair(function: &mut Function, limit: u32, narrow: &ValueSet, constants: &Constants) {
    let chosen = choose::choose(function, limit, narrow, constants);
    if !(chosen.pairs.is_empty() && chosen.phis.is_empty()) {
        rewrite::rewrite(function, &chosen, constants);
    }
}
