// SPDX-License-Identifier: MIT
//! Turns copies that happen at once into a sequence.
//!
//! The algorithm is that of Boissinot et al., "Revisiting out-of-SSA translation for correctness, code quality and
//! efficiency" (2009): a copy whose target nobody still has to read can be made at once, and makes the place that it
//! read from free when its value is at home elsewhere too. What remains are cycles. With a spare register a cycle of n
//! takes n + 1 moves; without, n - 1 exchanges, each of which is three instructions on this hardware (isa-1, 4.5).

use crate::ir::{Dst, Imm, Instr, Mov, Ref, Src, Swap};

use super::FILE;

/// What a register shall hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// What another register holds before.
    Reg(u8),
    /// A constant.
    Imm(u32),
    /// An argument word.
    Uniform(u8),
}

/// Literal moves reach no further (isa-1, 4.2).
pub(crate) const LAST_LITERAL: u8 = 63;

/// A move of registers.
pub(crate) fn mov(to: u8, from: Ref) -> Instr {
    Instr::Mov(Mov {
        dst: Dst::Reg(to),
        src: Src::new(from),
    })
}

/// The sequence, appended to `out`. Targets must differ from each other; `spare` is a register that nobody needs here.
pub(crate) fn sequentialise(copies: &[(u8, Origin)], spare: Option<u8>, out: &mut Vec<Instr>) {
    const NONE: u8 = u8::MAX;
    // The register that each target wants, and where the value that a register held at first is now.
    let mut wanted = [NONE; FILE];
    let mut now = [NONE; FILE];
    let mut pending = Vec::new();
    for (to, from) in copies {
        match *from {
            Origin::Reg(from) if from != *to => {
                wanted[*to as usize] = from;
                now[from as usize] = from;
                pending.push(*to);
            }
            _ => {}
        }
    }
    pending.sort_unstable();
    let mut ready: Vec<u8> = pending
        .iter()
        .rev()
        .copied()
        .filter(|to| now[*to as usize] == NONE)
        .collect();
    let mut done = [false; FILE];
    let emit_ready = |ready: &mut Vec<u8>,
                      done: &mut [bool; FILE],
                      now: &mut [u8; FILE],
                      out: &mut Vec<Instr>| {
        while let Some(to) = ready.pop() {
            let from = wanted[to as usize];
            let at = now[from as usize];
            out.push(mov(to, Ref::Reg(at)));
            done[to as usize] = true;
            now[from as usize] = to;
            if at == from && wanted[from as usize] != NONE && !done[from as usize] {
                ready.push(from);
            }
        }
    };
    emit_ready(&mut ready, &mut done, &mut now, out);
    for start in pending {
        if done[start as usize] {
            continue;
        }
        if let Some(spare) = spare {
            // Put what `start` holds aside, and the chain that ends in it unwinds.
            out.push(mov(spare, Ref::Reg(start)));
            now[start as usize] = spare;
            ready.push(start);
            emit_ready(&mut ready, &mut done, &mut now, out);
            continue;
        }
        let mut at = start;
        loop {
            done[at as usize] = true;
            let from = wanted[at as usize];
            if from == start {
                break;
            }
            out.push(swap(at, from));
            at = from;
        }
    }
    for (to, from) in copies {
        match *from {
            Origin::Imm(value) => literal(*to, value, spare, out),
            Origin::Uniform(word) => out.push(mov(*to, Ref::Uniform(word))),
            Origin::Reg(_) => {}
        }
    }
}

fn swap(x: u8, y: u8) -> Instr {
    Instr::Swap(Swap {
        x: Dst::Reg(x),
        y: Dst::Reg(y),
        a: Src::new(Ref::Reg(y)),
        b: Src::new(Ref::Reg(x)),
    })
}

/// A literal, by way of a low register if that is too high.
fn literal(to: u8, value: u32, spare: Option<u8>, out: &mut Vec<Instr>) {
    let imm = |dst: u8| {
        Instr::Imm(Imm {
            dst: Dst::Reg(dst),
            value,
        })
    };
    match spare.filter(|s| *s <= LAST_LITERAL) {
        _ if to <= LAST_LITERAL => out.push(imm(to)),
        Some(spare) => out.extend([imm(spare), mov(to, Ref::Reg(spare))]),
        None => out.extend([swap(0, to), imm(0), swap(0, to)]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn run(sequence: &[Instr]) -> [u32; FILE] {
        let mut regs: [u32; FILE] = std::array::from_fn(|i| 1000 + i as u32);
        for instr in sequence {
            match instr {
                Instr::Mov(op) => {
                    let from = op.src.reg().expect("a register");
                    regs[op.dst.reg().expect("a register") as usize] = regs[from as usize];
                }
                Instr::Imm(op) => regs[op.dst.reg().expect("a register") as usize] = op.value,
                Instr::Swap(op) => {
                    let (x, y) = (op.x.reg().expect("x"), op.y.reg().expect("y"));
                    regs.swap(x as usize, y as usize);
                }
                _ => panic!("{instr}"),
            }
        }
        regs
    }

    proptest! {
        #[test]
        fn all_copies_happen_at_once(
            wanted in prop::collection::vec(prop::option::of(0u8..12), 12),
            spare in any::<bool>(),
        ) {
            let copies: Vec<_> = wanted.iter().enumerate().filter_map(|(to, from)| {
                from.map(|f| (to as u8, if f == 11 { Origin::Imm(7) } else { Origin::Reg(f) }))
            }).collect();
            let mut out = Vec::new();
            sequentialise(&copies, spare.then_some(20), &mut out);
            let regs = run(&out);
            for to in 0..20u8 {
                let expected = match copies.iter().find(|c| c.0 == to) {
                    Some((_, Origin::Reg(from))) => 1000 + u32::from(*from),
                    Some((_, Origin::Imm(value))) => *value,
                    _ => 1000 + u32::from(to),
                };
                prop_assert_eq!(regs[to as usize], expected, "r{} after {:?}", to, out);
            }
            prop_assert!(!spare || !out.iter().any(|i| matches!(i, Instr::Swap(_))));
        }
    }
}
