// SPDX-License-Identifier: MIT
//! Random legal instructions of a given form.

use agx_isa::{Class, FormId, Instr, Legal, Modifier};

/// A small generator whose seed proptest chooses and shrinks.
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) fn new(seed: u64) -> Rng {
        Rng(seed ^ 0x9e37_79b9_7f4a_7c15)
    }

    /// SplitMix64.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
}

/// A legal stored value of a modifier.
pub(crate) fn modifier_value(m: &Modifier, rng: &mut Rng, strict: bool) -> u64 {
    let max = m.bits.max();
    if rng.below(3) == 0 && m.class != Class::Opaque {
        return m.default;
    }
    match m.legal {
        Legal::Any | Legal::Signed => rng.next() & max,
        Legal::SignedEven => rng.next() & max & !1,
        Legal::Range(lo, hi) => lo + rng.below(hi - lo + 1),
        Legal::Multiple(n) => rng.below(max / n + 1) * n,
        Legal::Set([]) => rng.next() & max,
        Legal::Set(_) | Legal::Names(_)
            if m.class == Class::Opaque && !strict && rng.below(2) == 0 =>
        {
            rng.next() & max
        }
        Legal::Set(values) => values[rng.below(values.len() as u64) as usize],
        Legal::Names(names) => names[rng.below(names.len() as u64) as usize].0,
    }
}

/// A random legal instruction of this form; `None` when the dice do not find one.
///
/// Operand bits are drawn freely and rejected until the form accepts them, so every legal
/// combination can come up; forms with narrow rules get more tries.
pub(crate) fn instruction(id: FormId, rng: &mut Rng, strict: bool) -> Option<Instr> {
    let form = id.form();
    for _ in 0..4000 {
        let mut bits = form.base;
        let opcode = form.opcode.names[rng.below(form.opcode.names.len() as u64) as usize].0;
        bits = form.opcode.bits.put(bits, opcode);
        for op in form.operands {
            let random = u128::from(rng.next()) | u128::from(rng.next()) << 64;
            let free = op.mask() & !form.mask;
            // Small numbers are common in programs, large ones at the limits.
            let random = if rng.below(3) == 0 {
                random & u128::from(rng.next())
            } else {
                random
            };
            bits = (bits & !free) | (random & free);
        }
        for m in form.modifiers {
            bits = m.bits.put(bits, modifier_value(m, rng, strict));
        }
        bits = form.wait.bits.put(bits, rng.next() & form.wait.bits.max());
        let tag = form.completion.bits();
        bits = tag.put(bits, rng.below(6));
        if form.name == "ATOMIC_RESULT" {
            bits = tag.put(bits, 1 + rng.below(6));
        }
        if let agx_isa::Completion::TwinTag(_, copy) = form.completion {
            bits = copy.put(bits, tag.get(bits));
        }
        if let Some(derive) = form.derive {
            bits = derive(bits);
        }
        if let Ok(instr) = Instr::from_word(id, bits)
            && instr.check(strict).is_ok()
        {
            return Some(instr);
        }
    }
    None
}
