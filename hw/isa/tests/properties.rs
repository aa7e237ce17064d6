// SPDX-License-Identifier: MIT
//! Properties over every form: encode and decode are inverse, assembly text loses nothing, every
//! bit means something, illegal operands are refused, arbitrary bytes do no harm.

mod support {
    pub(crate) mod random;
}

use agx_isa::{
    AccessKind, Alt, Arg, Class, DecodeErrorKind, Decoder, File, FormId, Half, Instr, Legal, Mode,
    Reg, Value, asm, decode,
};
use proptest::prelude::*;
use support::random::{Rng, instruction};

/// A few hundred cases by default; `PROPTEST_CASES` asks for more.
fn config() -> ProptestConfig {
    let mut config = ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = 200;
    }
    config
}

/// Draws one instruction of every form.
fn all_forms(seed: u64, strict: bool) -> Vec<Instr> {
    let mut rng = Rng::new(seed);
    FormId::ALL
        .iter()
        .filter_map(|&id| {
            let instr = instruction(id, &mut rng, strict);
            let strict_only_unknown = strict
                && id
                    .form()
                    .modifiers
                    .iter()
                    .any(|m| m.legal == Legal::Set(&[]));
            assert!(
                instr.is_some() || strict_only_unknown,
                "no legal {id:?} was found"
            );
            instr
        })
        .collect()
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn decode_inverts_encode(seed: u64) {
        for instr in all_forms(seed, false) {
            let bytes = instr.encode().unwrap();
            let decoded = decode(&bytes, Mode::Lenient).unwrap();
            // An earlier row may claim the bits (isa-0, 1.3); the bits stay the same.
            prop_assert_eq!(decoded.bits(), instr.bits());
            prop_assert_eq!(decoded.encode().unwrap().to_vec(), bytes.to_vec());
        }
    }

    #[test]
    fn strict_legal_instructions_decode_strictly(seed: u64) {
        for instr in all_forms(seed, true) {
            let decoded = decode(&instr.encode().unwrap(), Mode::Strict);
            prop_assert!(decoded.is_ok(), "{:?}: {:?}", instr, decoded);
        }
    }

    /// Building an instruction from its operands and modifiers gives the same bits.
    #[test]
    fn setters_invert_getters(seed: u64) {
        for instr in all_forms(seed, false) {
            let mut built = Instr::new(instr.id());
            built.set_operation(instr.op_name()).unwrap();
            for m in 0..instr.form().modifiers.len() {
                let value = instr.signed_modifier_at(m);
                if built.set_modifier_at(m, value).is_err() {
                    // Only values without a known meaning may be refused here.
                    prop_assert_eq!(instr.form().modifiers[m].class, Class::Opaque);
                    let bits = instr.form().modifiers[m].bits;
                    built = Instr::from_word(built.id(), bits.put(built.bits(), value)).unwrap_or(built);
                }
            }
            for (i, arg) in instr.args().enumerate() {
                built.set_arg(i, arg).map_err(|e| TestCaseError::fail(format!("{instr:?}: {e}")))?;
            }
            if !instr.form().wait.bits.is_none() {
                built.set_waits(instr.waits()).unwrap();
            }
            if let Some(tag) = instr.completion_tag() {
                let slot = instr.completes().unwrap_or(tag as u8 + 1);
                built.set_completion(slot).unwrap();
            }
            let opaque: u128 = instr
                .form()
                .modifiers
                .iter()
                .filter(|m| m.class == Class::Opaque)
                .fold(0, |mask, m| mask | m.bits.mask());
            let known = !opaque & !instr.idle_bits();
            prop_assert_eq!(built.bits() & known, instr.bits() & known, "{:?}\n{:?}", instr, built);
        }
    }

    #[test]
    fn text_is_lossless(seed: u64) {
        for instr in all_forms(seed, false) {
            let decoded = decode(&instr.encode().unwrap(), Mode::Lenient).unwrap();
            let text = decoded.to_string();
            let back = asm::assemble_one(&text);
            prop_assert_eq!(back.as_ref(), Ok(&decoded), "{}: {:?}", text, decoded.encoded());
        }
    }

    /// Flipping any bit gives an error or an instruction that reads differently: no bit is ignored.
    /// Bits that the hardware ignores (`Class::Ignored`) show as fields too.
    #[test]
    fn every_bit_matters(seed: u64, which in 0usize..133) {
        let mut rng = Rng::new(seed);
        let id = FormId::ALL[which];
        let Some(instr) = instruction(id, &mut rng, false) else { return Ok(()) };
        let instr = decode(&instr.encode().unwrap(), Mode::Lenient).unwrap();
        let text = instr.to_string();
        for bit in 0..8 * u32::from(instr.form().len) {
            let flipped = (instr.bits() ^ 1 << bit).to_le_bytes();
            if let Ok(other) = decode(&flipped, Mode::Lenient) {
                prop_assert_ne!(other.to_string(), text.clone(), "bit {}", bit);
            }
        }
    }

    /// Whatever the setters and `encode` accept, from arbitrary values, decodes to the same bits.
    #[test]
    fn accepted_operands_decode_back(seed: u64) {
        let mut rng = Rng::new(seed);
        for &id in FormId::ALL {
            let form = id.form();
            let mut instr = Instr::new(id);
            for m in 0..form.modifiers.len() {
                let _ = instr.set_modifier_at(m, rng.next() >> rng.below(64));
            }
            for (i, op) in form.operands.iter().enumerate() {
                let files = [op.file, File::Gpr, File::Uniform, File::UniformPair, File::SysReg];
                let half = [Half::Whole, Half::Low, Half::High][rng.below(3) as usize];
                let file = files[rng.below(5) as usize];
                let index = (rng.next() >> (48 + rng.below(16))) as u16;
                let value = match rng.below(4) {
                    0 => Value::Int(rng.next() >> rng.below(64)),
                    1 => Value::Absent(index),
                    _ => Value::Reg(Reg { file, index, half }),
                };
                let [neg, abs, kill, hint] = [1, 2, 4, 8].map(|b| rng.below(16) & b != 0);
                let keep = hint.then_some(neg);
                let _ = instr.set_arg(i, Arg { value, neg, abs, kill, keep });
            }
            let _ = instr.set_completion(rng.below(8) as u8);
            if let Ok(bytes) = instr.encode() {
                let decoded = decode(&bytes, Mode::Lenient);
                prop_assert_eq!(decoded.as_ref().map(Instr::bits), Ok(instr.bits()), "{:?}", instr);
            }
        }
    }

    /// In strict mode a flipped bit outside every field is refused.
    #[test]
    fn strict_refuses_stray_bits(seed: u64) {
        for instr in all_forms(seed, true) {
            let form = instr.form();
            let free = form.all_bits() & !form.field_bits() & !form.mask;
            for bit in (0..128).filter(|b| free >> b & 1 == 1) {
                let flipped = (instr.bits() ^ 1 << bit).to_le_bytes();
                let result = decode(&flipped, Mode::Strict);
                prop_assert!(result.is_err(), "bit {} of {:?}: {:?}", bit, instr, result);
            }
        }
    }

    #[test]
    fn any_bytes_are_safe(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        for mode in [Mode::Strict, Mode::Lenient] {
            for result in Decoder::new(&bytes, mode) {
                match result {
                    Ok((offset, instr)) => {
                        let len = usize::from(instr.form().len);
                        prop_assert_eq!(&instr.encoded()[..], &bytes[offset..offset + len]);
                        let _ = (instr.to_string(), instr.accesses().count(), instr.completes());
                    }
                    Err(e) => prop_assert!(!e.to_string().is_empty()),
                }
            }
        }
    }

    /// The same with bytes near real encodings, which reach deeper.
    #[test]
    fn damaged_instructions_are_safe(seed: u64, flips in prop::collection::vec(0u32..128, 1..6)) {
        for instr in all_forms(seed, false) {
            let word = flips.iter().fold(instr.bits(), |w, bit| w ^ 1 << bit);
            if let Ok(other) = decode(&word.to_le_bytes(), Mode::Lenient) {
                let text = other.to_string();
                prop_assert_eq!(asm::assemble_one(&text), Ok(other), "{}", text);
                let _ = other.accesses().count();
            }
        }
    }

    #[test]
    fn any_text_is_safe(text in "[a-z0-9_.]{1,12} [-|^rup#P%.:,a-z0-9= ]{0,40}") {
        let _ = asm::assemble(&text);
    }
}

/// Register ranges stay inside their files, and late results belong to completing instructions.
#[test]
fn accesses_are_in_range() {
    for seed in 0..300 {
        for instr in all_forms(seed, false) {
            for a in instr.accesses() {
                let last = a.reg.index + u16::from(a.count) - 1;
                let limit = match a.reg.file {
                    File::Gpr => 95,
                    File::Uniform => 255,
                    File::Publication => 127,
                    File::Predicate => 5,
                    File::Scratch => 8191,
                    _ => u16::MAX,
                };
                assert!(last <= limit, "{instr}: {a:?}");
                assert_eq!(
                    a.kind == AccessKind::LateWrite,
                    a.kind != AccessKind::Read && instr.completes().is_some(),
                    "{instr}"
                );
            }
        }
    }
}

/// For every operand of every form: a number above the limit, an odd number where pairs are
/// aligned, a file the form cannot name, and sign modifiers it lacks are all refused, naming the
/// operand.
#[test]
fn illegal_operands_are_refused() {
    let mut refused = 0;
    for &id in FormId::ALL {
        for (i, op) in id.form().operands.iter().enumerate() {
            let mut instr = Instr::new(id);
            let mut bad: Vec<Arg> = Vec::new();
            let immediate = matches!(op.file, File::Imm | File::SampleMask);
            if immediate {
                bad.push(Value::Int(op.max + 1).into());
                bad.push(Value::gpr(0).into());
            } else {
                bad.push(Value::Reg(Reg::new(op.file, u16::try_from(op.max + 1).unwrap())).into());
                // The largest value of any field.
                bad.push(Value::Reg(Reg::new(op.file, u16::MAX)).into());
                bad.push(Value::Int(u64::MAX).into());
            }
            if op.align > 1 {
                bad.push(Value::Reg(Reg::new(op.file, 1)).into());
            }
            // No operand can be a texture and a coefficient at once.
            let wrong = if op.file == File::Coefficient {
                File::Sampler
            } else {
                File::Coefficient
            };
            bad.push(Value::Reg(Reg::new(wrong, 0)).into());
            if op.present.bits.is_none() {
                bad.push(Value::Absent(0).into());
            }
            let legal = instr.arg(i);
            if op.neg.is_none() {
                bad.push(Arg { neg: true, ..legal });
            }
            if op.abs.is_none() {
                bad.push(Arg { abs: true, ..legal });
            }
            if op.file == File::Gpr && op.half.is_none() {
                bad.push(
                    Value::Reg(Reg {
                        file: File::Gpr,
                        index: 0,
                        half: Half::High,
                    })
                    .into(),
                );
            }
            if matches!(op.alt, Alt::None) && op.file == File::Gpr {
                bad.push(Value::uniform(0).into());
            }
            for arg in bad {
                let error = instr
                    .set_arg(i, arg)
                    .expect_err(&format!("{id:?} {} = {arg:?}", op.name));
                assert_eq!(error.field, op.name, "{id:?}: {error}");
                assert!(!error.legal.is_empty());
                refused += 1;
            }
        }
        for (i, m) in id.form().modifiers.iter().enumerate() {
            let mut instr = Instr::new(id);
            let mut bad = vec![m.bits.max().wrapping_add(1)];
            match m.legal {
                Legal::Signed | Legal::SignedEven => {
                    let half = 1u64 << (m.bits.width() - 1);
                    bad = vec![half, half.wrapping_neg() - 1];
                    if m.legal == Legal::SignedEven {
                        bad.push(1);
                    }
                }
                Legal::Range(lo, hi) => {
                    bad.extend(lo.checked_sub(1));
                    bad.push(hi + 1);
                }
                Legal::Multiple(n) => bad.push(n + 1),
                Legal::Names(names) => {
                    bad.extend((0..=m.bits.max()).find(|v| names.iter().all(|(n, _)| n != v)));
                }
                Legal::Set(values) if !values.is_empty() => {
                    bad.extend((0..=m.bits.max()).find(|v| !values.contains(v)));
                }
                Legal::Set(_) | Legal::Any => {}
            }
            // A full-width field cannot be exceeded.
            bad.retain(|v| *v != 0 || m.bits.width() < 64);
            for value in bad {
                let error = instr
                    .set_modifier_at(i, value)
                    .expect_err(&format!("{id:?} {} = {value:#x}", m.name));
                assert_eq!(error.field, m.name);
                refused += 1;
            }
        }
        let mut instr = Instr::new(id);
        assert!(instr.set_operation("no such operation").is_err());
        assert!(instr.set_completion(0).is_err() && instr.set_completion(7).is_err());
        // Six slots at once fit neither a slot number nor a missing field.
        let all = instr.set_waits(agx_isa::SlotMask::ALL);
        let holds_all = id.form().wait.mask && id.form().wait.bits.width() == 6;
        assert_eq!(all.is_ok(), holds_all, "{id:?}");
    }
    assert!(refused > 1500, "only {refused} cases");
}

/// Truncated input says how much is missing, at every length of every form.
#[test]
fn truncation_is_reported() {
    for instr in all_forms(7, false) {
        let bytes = instr.encoded();
        for len in 0..bytes.len() {
            let error = decode(&bytes[..len], Mode::Lenient).unwrap_err();
            match error.kind {
                DecodeErrorKind::Truncated { need } => assert!(usize::from(need) > len),
                // A prefix may look like another, shorter thing only if that is known to be bad.
                ref kind => panic!("{instr:?} cut to {len}: {kind:?}"),
            }
        }
    }
}
