// SPDX-License-Identifier: MIT
//! Corrupted modules that often are still valid: what a compiler must survive.
//!
//! Most changes keep types: an operand becomes another value of its type, an operation one of its kind, a constant
//! another number. Some do not care, so that the doors are tried as well.

use std::collections::HashMap;

use crate::random::rng::Rng;

/// Words before the first instruction.
const HEADER: usize = 5;

const FUNCTION: u32 = 54;
const EXT_INST: u32 = 12;
const EXECUTION_MODE: u32 = 16;
const TYPE_ARRAY: u32 = 28;
const CONSTANT: u32 = 43;
const DECORATE: u32 = 71;
const MEMBER_DECORATE: u32 = 72;

/// Operations with operands and results of the same types.
const KINDS: [&[u32]; 11] = [
    // Integers: arithmetic, shifts, bits.
    &[
        128, 130, 132, 134, 135, 137, 138, 139, 194, 195, 196, 197, 198, 199,
    ],
    // Floats: arithmetic.
    &[129, 131, 133, 136, 140, 141],
    // Integer comparisons, float comparisons, logic.
    &[170, 171, 172, 173, 174, 175, 176, 177, 178, 179],
    &[180, 181, 182, 183, 184, 185, 186, 187, 188, 189, 190, 191],
    &[164, 165, 166, 167],
    // One integer.
    &[126, 200, 204],
    // Conversions, whatever their types.
    &[109, 110, 111, 112, 113, 114, 115, 124],
    // Atomics with a value.
    &[229, 234, 235, 236, 237, 238, 239, 240, 241, 242],
    // Sums and the like of subgroups.
    &[349, 351, 353, 354, 355, 356, 357, 358, 359, 360, 361],
    // Shuffles.
    &[345, 346, 347, 348],
    // Votes.
    &[334, 335],
];

/// The module of `original` with one to three changes.
#[must_use]
pub fn mutate(original: &[u32], rng: &mut Rng) -> Vec<u32> {
    let mut words = original.to_vec();
    for _ in 0..rng.range(1, 3) {
        let starts = starts(&words);
        if starts.is_empty() {
            break;
        }
        match rng.weighted(&[36, 20, 16, 6, 4, 18]) {
            0 => same_type(&mut words, &starts, rng),
            1 => same_kind(&mut words, &starts, rng),
            2 => number_of(&mut words, &starts, &[CONSTANT], 3, rng),
            3 => number_of(&mut words, &starts, &[DECORATE, MEMBER_DECORATE], 2, rng),
            4 => number_of(&mut words, &starts, &[EXECUTION_MODE, TYPE_ARRAY], 3, rng),
            _ => anything(&mut words, &starts, rng),
        }
    }
    words
}

/// Where instructions start.
fn starts(words: &[u32]) -> Vec<usize> {
    let mut starts = Vec::new();
    let mut at = HEADER;
    while at < words.len() {
        starts.push(at);
        at += ((words[at] >> 16) as usize).max(1);
    }
    starts
}

fn opcode(words: &[u32], start: usize) -> u32 {
    words[start] & 0xffff
}

/// Words of an instruction that are there.
fn length(words: &[u32], start: usize) -> usize {
    ((words[start] >> 16) as usize).clamp(1, words.len() - start)
}

/// Has it a type as its first operand and a result as its second?
fn is_typed(opcode: u32) -> bool {
    matches!(opcode, 1 | EXT_INST | 41..=46 | 48..=52 | 54 | 55 | 57 | 59..=61 | 65..=70 | 77..=84
        | 109..=124 | 126..=152 | 154..=191 | 194..=205 | 227 | 229..=242 | 245 | 333..=366)
}

/// Another value of the same type in place of an operand, one that comes before if there is one.
fn same_type(words: &mut [u32], starts: &[usize], rng: &mut Rng) {
    let mut types: HashMap<u32, u32> = HashMap::new();
    let mut values: HashMap<u32, Vec<(usize, u32)>> = HashMap::new();
    for &start in starts {
        if is_typed(opcode(words, start)) && length(words, start) >= 3 {
            let (ty, id) = (words[start + 1], words[start + 2]);
            types.insert(id, ty);
            values.entry(ty).or_default().push((start, id));
        }
    }
    let body = starts.iter().position(|s| opcode(words, *s) == FUNCTION);
    let body = body.unwrap_or(0);
    for _ in 0..20 {
        let start = starts[rng.range(body, starts.len() - 1)];
        let first = if is_typed(opcode(words, start)) { 3 } else { 1 };
        let length = length(words, start);
        if length <= first {
            continue;
        }
        let operand = start + rng.range(first, length - 1);
        let Some(same) = types.get(&words[operand]).and_then(|t| values.get(t)) else {
            continue;
        };
        let before = same.partition_point(|(at, _)| *at < start);
        let from = if before > 0 && rng.chance(90) {
            before
        } else {
            same.len()
        };
        words[operand] = same[rng.below(from)].1;
        return;
    }
}

/// Another operation on the same types.
fn same_kind(words: &mut [u32], starts: &[usize], rng: &mut Rng) {
    for _ in 0..40 {
        let start = starts[rng.below(starts.len())];
        let opcode = opcode(words, start);
        if opcode == EXT_INST && length(words, start) > 4 {
            words[start + 4] = rng.range(1, 81) as u32;
            return;
        }
        if let Some(kind) = KINDS.iter().find(|kind| kind.contains(&opcode)) {
            words[start] = words[start] & 0xffff_0000 | rng.pick(kind);
            return;
        }
    }
}

/// Another number in a word from `first` on of one of these instructions.
fn number_of(words: &mut [u32], starts: &[usize], which: &[u32], first: usize, rng: &mut Rng) {
    let fits = |s: &&usize| which.contains(&opcode(words, **s)) && length(words, **s) > first;
    let fitting: Vec<usize> = starts.iter().filter(fits).copied().collect();
    if !fitting.is_empty() {
        let start = rng.pick(&fitting);
        let at = start + rng.range(first, length(words, start) - 1);
        words[at] = number(words[at], rng);
    }
}

fn number(old: u32, rng: &mut Rng) -> u32 {
    match rng.below(6) {
        0 => rng.below(8) as u32,
        1 => rng.below(300) as u32,
        2 => old ^ 1 << rng.below(32),
        3 => old.wrapping_add(rng.below(5) as u32).wrapping_sub(2),
        4 => rng.pick(&[
            u32::MAX,
            1 << 31,
            0x7fff_ffff,
            1 << 16,
            0xffff,
            0x8000,
            1 << 20,
            64,
            0x7f80_0000,
            0x7fc0_0000,
        ]),
        _ => rng.next_u32() >> rng.below(32),
    }
}

/// A change that knows no types.
fn anything(words: &mut Vec<u32>, starts: &[usize], rng: &mut Rng) {
    let start = rng.pick(starts);
    let count = length(words, start);
    let operand = (start + 1 + rng.below(count)).min(words.len() - 1);
    match rng.below(8) {
        0 => words[start] = words[start] & 0xffff_0000 | rng.below(420) as u32,
        1 => drop(words.drain(start..start + count)),
        2 => {
            let copy = words[start..start + count].to_vec();
            words.splice(start..start, copy);
        }
        3 => {
            let other = rng.pick(starts);
            let copy = words[other..other + length(words, other)].to_vec();
            words.splice(start..start + count, copy);
        }
        4 => words[operand] = 1 + rng.below(words[3].clamp(1, 5000) as usize) as u32,
        5 => words[operand] = number(words[operand], rng),
        6 => {
            let at = rng.below(words.len());
            words[at] ^= 1 << rng.below(32);
        }
        _ => words.truncate(rng.range(1, words.len())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same on every run, and whatever comes out can be changed again.
    #[test]
    fn any_words_can_be_changed() {
        let program = crate::random::program(3, &crate::random::Config::all_types());
        let original = crate::random::emit::module(&program);
        for seed in 0..200 {
            let change = || mutate(&original, &mut Rng::new(seed));
            let mut words = change();
            assert_eq!(words, change());
            let mut rng = Rng::new(seed);
            for _ in 0..30 {
                words = mutate(&words, &mut rng);
            }
        }
        for length in 0..10 {
            let _ = mutate(&vec![u32::MAX; length], &mut Rng::new(1));
        }
    }
}
