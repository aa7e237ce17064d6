// SPDX-License-Identifier: MIT
//! The table against itself: no overlapping fields, selections that the length rule and the test
//! order agree with.

use agx_isa::{
    Bits, Decoder, FORMS, Form, FormId, Instr, Length, Mode, decode, instruction_length,
};

fn field_list(form: &Form) -> Vec<(String, u128)> {
    let mut fields: Vec<(String, u128)> = Vec::new();
    let mut push = |name: String, bits: Bits| {
        if !bits.is_none() {
            fields.push((name, bits.mask()));
        }
    };
    push("opcode".into(), form.opcode.bits);
    push("wait".into(), form.wait.bits);
    push("completion".into(), form.completion.bits());
    for m in form.modifiers {
        push(m.name.into(), m.bits);
    }
    for o in form.operands {
        fields.push((o.name.into(), o.mask()));
    }
    fields
}

#[test]
fn fields_do_not_overlap() {
    for form in &FORMS {
        let fields = field_list(form);
        for (i, (a, x)) in fields.iter().enumerate() {
            assert_eq!(
                x & !form.all_bits(),
                0,
                "{} {a} lies outside the instruction",
                form.name
            );
            for (b, y) in &fields[i + 1..] {
                assert_eq!(x & y, 0, "{}: {a} and {b} share bits", form.name);
            }
        }
        assert_eq!(
            form.value & !form.mask,
            0,
            "{}: value outside its mask",
            form.name
        );
        assert_eq!(
            form.base & form.mask,
            form.value,
            "{}: constants contradict the selection",
            form.name
        );
    }
}

#[test]
fn names_end_in_the_length() {
    for form in FORMS {
        let suffix = form
            .name
            .rsplit_once('.')
            .and_then(|(_, n)| n.parse::<u8>().ok());
        assert!(suffix.is_none_or(|n| n == form.len), "{}", form.name);
    }
}

/// The only pairs of rows that overlap; the first wins (isa-0, 1.3).
const TIE_BREAKS: &[(FormId, FormId)] = &[
    (FormId::F2_4, FormId::F2M4),
    (FormId::F2I6, FormId::F2_6),
    (FormId::F2I8, FormId::F2_8),
    (FormId::Select10, FormId::SelectI10),
    (FormId::Select14, FormId::SelectI14),
    (FormId::LogicI, FormId::Logic),
    (FormId::LsI, FormId::UBfe),
    (FormId::TgAtomic0, FormId::TgAtomic),
    (FormId::SgBallot, FormId::SgBallotC),
];

#[test]
fn only_the_documented_rows_overlap() {
    for (i, &a) in FormId::ALL.iter().enumerate() {
        for &b in &FormId::ALL[i + 1..] {
            let (x, y) = (a.form(), b.form());
            let overlap = x.len == y.len && (x.value ^ y.value) & x.mask & y.mask == 0;
            assert_eq!(overlap, TIE_BREAKS.contains(&(a, b)), "{a:?} and {b:?}");
        }
    }
}

#[test]
fn no_row_agrees_with_the_start_of_a_longer_one() {
    for a in FORMS {
        for b in FORMS.iter().filter(|b| b.len > a.len) {
            assert_ne!(
                (a.value ^ b.value) & a.mask & b.mask,
                0,
                "{} and {}",
                a.name,
                b.name
            );
        }
    }
}

#[test]
fn a_new_instruction_is_its_own_form() {
    for &id in FormId::ALL {
        let new = Instr::new(id);
        let bytes = new.encoded();
        assert_eq!(
            instruction_length(&bytes),
            Length::Bytes(id.form().len),
            "{id:?}"
        );
        match decode(&bytes, Mode::Lenient) {
            Ok(decoded) => assert!(
                decoded.id() == id || TIE_BREAKS.contains(&(decoded.id(), id)),
                "{decoded:?}"
            ),
            // Some defaults are not legal together; the form must still be the one selected.
            Err(e) => assert!(e.to_string().contains(id.form().name), "{id:?}: {e}"),
        }
    }
}

#[test]
fn a_stream_of_all_forms_stays_in_step() {
    let mut code = Vec::new();
    for &id in FormId::ALL {
        code.extend_from_slice(&Instr::new(id).encoded());
    }
    let count = Decoder::new(&code, Mode::Lenient).count();
    assert_eq!(count, FORMS.len());
}
