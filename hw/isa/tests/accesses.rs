// SPDX-License-Identifier: MIT
//! What instructions read, write, release, wait for and complete, against tables written by hand
//! from the chapters: nothing here is derived from the instruction table.

use agx_isa::{
    Access, AccessKind, Drain, FORMS, File, FormId, Half, Instr, MemoryOp, Mode, SlotMask, Space,
    decode,
};

fn instr(text: &str) -> Instr {
    let bytes: Vec<u8> = text
        .split(' ')
        .map(|b| u8::from_str_radix(b, 16).expect("hexadecimal"))
        .collect();
    decode(&bytes, Mode::Strict).unwrap_or_else(|e| panic!("{e}"))
}

/// `R` read, `W` write, `L` late write; `^` released; a register; `xN` for a tuple.
fn written(access: &Access) -> String {
    let kind = match access.kind {
        AccessKind::Read => "R",
        AccessKind::Write => "W",
        AccessKind::LateWrite => "L",
    };
    let file = match access.reg.file {
        File::Gpr => "r",
        File::Uniform => "u",
        File::Publication => "p",
        File::Predicate => "P",
        File::Scratch => "scr",
        File::Output => "out",
        File::TileWord => "tw",
        _ => "",
    };
    let half = match access.reg.half {
        Half::Whole => "",
        Half::Low => ".l",
        Half::High => ".h",
    };
    let kill = if access.kill { "^" } else { "" };
    let count = if access.count > 1 {
        format!("x{}", access.count)
    } else {
        String::new()
    };
    format!("{kind}{kill}{file}{}{half}{count}", access.reg.index)
}

/// Bytes, accesses in any order, completed slot. Names of tables, coefficients and system registers
/// are left out.
const ACCESSES: &[(&str, &str, Option<u8>)] = &[
    ("fc 7f", "Wr15", None),
    ("5c a0 90 06", "Wr37", None),
    ("4c dd 10 06", "Lr4", Some(1)),
    ("14 a4 10 06", "Wr1.l", None),
    ("13 00 00 01", "Rr1.l Wr1", None),
    ("2c 80 01 a1 00 00 00 00", "Lr2 Rscr0", Some(6)),
    ("0b 03 0f 00 22 00 00 14 00 00", "Lscr0 R^r1", Some(6)),
    ("1c 80 49 a7 00 60 00 10", "Lr81", Some(3)),
    ("4b 14 09 44", "Rr10 Wu4", None),
    ("2b 00 29 c4", "Lp2 R^r0", Some(1)),
    ("0b 07 2f 00 42 00 00 00 10 00", "Lp0 R^r3", Some(1)),
    ("2b 85 27 85 02 08 00 80 00 00", "Rr2 Rr2 Wr2", None),
    ("29 c1 34 05 80 00", "R^r2 Wr2", None),
    ("49 05 3c 07 00 00", "R^r2 R^r3 Wr4", None),
    ("59 8d b5 07 41 01 00 08", "Lp37 R^r3 Rr70", Some(3)),
    ("09 05 2f 81 00 01 40 00", "Lp0 Rr0 R^r2", Some(1)),
    ("19 05 3c 11 00 0e", "R^r2 Ru200 Wr1", None),
    (
        "32 08 1f 0a 82 0c 03 00 80 0e",
        "R^r4.l R^r5.l R^r6 R^r7 Wr3",
        None,
    ),
    ("0a 09 3b 0b 06 00 07 c0 00 00", "R^r4 R^r5 WP0", None),
    ("9f 01 54 28 00 14 00 a8 13 01", "R^r5 Wu20", None),
    (
        "9f 00 54 fc 01 08 18 00 e0 26 1e 00",
        "R^r2 R^r3 Wu254x2",
        None,
    ),
    (
        "9f 00 54 bc 02 00 81 02 e0 26 1e 00",
        "R^r64 R^r80 Wr94x2",
        None,
    ),
    ("9f 01 56 00 02 08 00 50 17 05", "R^r0x2 R^r2x2 Wr0x2", None),
    ("1f 03 54 84 01 01", "Lr4x3", Some(2)),
    ("4c 80 23 3e 00 00 00 0c 40 60", "Lp4", Some(4)),
    (
        "02 05 2f 09 83 04 45 22 20 08 00 0c 00 00",
        "Lp0 R^r2 R^r2 Ru4 Ru4",
        Some(4),
    ),
    ("67 03 54 03 00 02 00 00 22 00 40 07", "Lr3 R^r2", Some(1)),
    ("67 03 54 00 00 00 00 00 02 00 80 04", "Lr0 Rr0x2", Some(1)),
    (
        "67 00 54 24 02 00 00 00 57 00 00 40 26 00",
        "Lr18x4 Rr2x2",
        Some(2),
    ),
    (
        "67 00 44 8c 28 29 20 00 99 04 00 40 68 00",
        "Lr70x2 Rr41 R^r40x2",
        Some(3),
    ),
    (
        "67 00 44 03 02 00 20 00 41 01 00 40 46 00",
        "Lr1.h Rr0 Ru4x2",
        Some(6),
    ),
    (
        "67 01 56 00 00 01 04 85 00 02 00 00 64 02",
        "R^r10 R^r8x2 Ru2x2",
        None,
    ),
    (
        "67 01 54 00 00 1e 23 a1 00 60 00 00 7a 03",
        "R^r30x2 R^r66 R^r70",
        None,
    ),
    (
        "e7 00 54 80 05 11 20 00 01 30 00 10 11 00",
        "Rr17 Rr64.l Ru10x2",
        None,
    ),
    (
        "67 02 54 06 10 08 00 00 44 0d 00 c0 08 00",
        "Lr3 Rr2.l Ru8x2",
        Some(6),
    ),
    (
        "e7 02 54 02 10 08 80 00 44 02 00 30 02 00",
        "R^r1 R^r2.l Ru8x2",
        None,
    ),
    ("6f 00 54 0a 0c 02 49 01 2c 01 03 00", "Lr5 Rr6", Some(6)),
    ("ef 00 54 0a 0c 02 09 03 4b 60", "R^r5 Rr6", None),
    ("0f 05 54 1a", "", None),
    ("0f 05 54 21", "RP0", None),
    ("8f 05 54 03 00 02", "RP2", None),
    ("8f 04 54 06", "RP1", None),
    ("97 04 54 be 02 00 f9 50 44 c2", "Rr31 Rr64 Wr95.l", None),
    ("97 04 54 bf 02 40 01 50 44 c2", "Rr0 Rr80 Wr95.h", None),
    ("97 04 56 12 02 10 28 50 44 82", "Rr4 Rr5 Wr9", None),
    ("17 04 54 14 00 0e 06 ba", "Rr3.h Wr10x2", None),
    (
        "17 01 54 04 03 0c 1d 42 54 21 92 00",
        "Rr6 Rr7 Rr8 Wr4 Wr5.l",
        None,
    ),
    ("47 04 54 08 03 18 1c 2c 1c 00", "R^r7.l R^r6 Wr4", None),
    ("47 04 56 00 02 00 0a 2c 04 00", "Rr0 Wr0", None),
    ("17 07 54 04 03 0c 00 58 22 12", "R^r3 Wr2", None),
    ("bf 01 56 00 02 00 14 03", "R^r0 Wr0", None),
    (
        "05 80 0c b8 b0 00 00 00 00 00 10 00 01 00",
        "Lr0x4 R^p0x2",
        Some(1),
    ),
    (
        "45 8c 0c b8 b1 24 00 01 80 00 10 00 01 00",
        "Lr8x4 R^p4x2 R^p7",
        Some(2),
    ),
    (
        "05 80 0c b1 b0 48 04 01 00 01 10 00 01 00",
        "Lr0x3 R^p12x4 R^p8x2",
        Some(3),
    ),
    (
        "05 80 0c 18 b0 24 00 00 00 00 10 00 01 00",
        "Lr0x4 Rp0x2",
        Some(2),
    ),
    (
        "d7 10 54 00 00 40 00 00 00 04 00 00 88 3a 09 00",
        "Rp0x4 Rp6x2",
        None,
    ),
    ("57 10 54 00 00 10 00 80 a8 75 01 00", "Rp0x3", None),
    ("57 10 54 08 00 20 00 80 28 32 01 00", "Rp4x4", None),
    ("2f 05 54 0c 03 02 05 02 08 00", "Rr5 Wr6", None),
    ("af 04 54 0a 03 10 0a 01", "Rr4 Wr5", None),
    (
        "67 06 54 04 00 02 06 4e 21 00 00 20",
        "Lr2 R^r3.l Rtw1",
        Some(3),
    ),
    (
        "67 16 54 04 07 02 01 4e 01 00 00 10",
        "Lr2 Rr7 Rtw1",
        Some(3),
    ),
    (
        "e7 16 54 14 00 00 16 4e 08 00 00 08",
        "R^r11.l Rr10 Wtw0",
        None,
    ),
    ("d7 14 54 00 00 03", "Rp0x2", None),
    ("57 06 56 c8 a0 42 00 00", "Rp100 Wout21", None),
    (
        "27 11 54 00 02 04 2a 04 f0 14 0d 00",
        "R^r0 Rr1 Rr5 Wr0",
        None,
    ),
    ("42 05 2f b1 84 06 00 02", "R^r2 R^r3 Rr4 Wr4", None),
    ("12 03 1d 05 22 81 07 c0 20 80", "R^r1 R^r2 Wr1.l", None),
    ("a7 07 56 02 02 04 a8 60", "R^r1 Wr1.l", None),
    ("af 00 54 06 02 10 10 46 30 00", "R^r4.l Wr3.l", None),
];

#[test]
fn accesses_and_completions() {
    assert!(ACCESSES.len() >= 70);
    for (bytes, want, slot) in ACCESSES {
        let instr = instr(bytes);
        let mut got: Vec<String> = instr
            .accesses()
            .map(|a| written(&a))
            .filter(|text| {
                text.trim_start_matches(['R', 'W', 'L', '^'])
                    .starts_with(char::is_alphabetic)
            })
            .collect();
        let mut want: Vec<&str> = want.split_whitespace().collect();
        got.sort_unstable();
        want.sort_unstable();
        assert_eq!(got, want, "{bytes}: {instr}");
        assert_eq!(instr.completes(), *slot, "{bytes}: {instr}");
    }
}

/// Only the source of a scratch save and texture parameters are read late (isa-2, 9.5, step 7).
#[test]
fn held_sources() {
    for (bytes, held) in [
        ("0b 03 0f 00 22 00 00 14 00 00", "R^r1"),
        ("45 8c 0c b8 b1 24 00 01 80 00 10 00 01 00", "R^p4x2 R^p7"),
        ("e7 00 54 80 05 11 20 00 01 30 00 10 11 00", ""),
        ("57 06 56 c8 a0 42 00 00", ""),
    ] {
        let instr = instr(bytes);
        let got: Vec<String> = instr
            .accesses()
            .filter(|a| a.held)
            .map(|a| written(&a))
            .collect();
        assert_eq!(got.join(" "), held, "{instr}");
    }
}

/// isa-0, 4.2: the forms whose wait is proven on M4.
#[test]
fn proven_waits() {
    let proven = [
        "IADD.10",
        "IADD64.10",
        "IMAD.12",
        "IMULW.12",
        "UADD.10",
        "UMAD.12",
        "UMULW.12",
        "ASRI.10",
        "ASRR.10",
        "LSI.12",
        "LSR.12",
        "ROTR.12",
        "BITUN.8",
        "I2F.8",
        "F2I.10",
        "RCP.10",
        "SFU.10",
        "UNPACKN.8",
        "DERIV.10",
        "INTERP_POS",
        "VARY_STORE",
        "DEV_LOAD",
        "DEV_STORE",
        "DEV_ATOMIC",
        "PUSH",
        "LOGIC.10",
        "F2.8",
        "F2I.8",
        "F2X.8",
        "FADDABS.10",
        "FMULABS.12",
        "SCR_SAVE",
        "SCR_FILL",
        "FMA.10",
        "FMA.12",
        "SELECT.14",
        "F2.6",
        "F2I.6",
        "MINMAX.6",
        "HMINMAX.6",
        "H2.6",
        "HMULMIX.6",
        "CVT_F32_F16.6",
        "CVT_F16_F32.6",
        "FMA.8",
        "HFMA.8",
        "SELECT.10",
    ];
    for form in FORMS {
        let want = match form.name {
            // Slot 2 is the pointer-table load; TEX waits for its parameters on slot 1.
            "ARGW.4" => 0b10,
            "TEX" => 0b1,
            name if proven.contains(&name) => 0x3f,
            _ => 0,
        };
        assert_eq!(form.wait.proven, want, "{}", form.name);
    }
    let wait_move = instr("2b 85 27 85 02 08 00 80 00 00");
    assert_eq!(wait_move.proven_waits(), SlotMask::of(6));
    // Operand A may be pending, B is read stale (isa-2, 9.3).
    assert!(wait_move.can_wait_for(1, 6) && !wait_move.can_wait_for(2, 6));
    // A predicate names slot 6 whatever is pending; a checker must not count it.
    let predicate = instr("0a 09 3a 0b 07 c0");
    assert_eq!(predicate.waits(), SlotMask::of(6));
    assert!(predicate.proven_waits().is_empty());
}

/// isa-0, 4.3: the forms that complete slots; everything else is synchronous.
#[test]
fn producers() {
    let producers = [
        "GET_SR32",
        "GET_SR16",
        "EXPORT_IMM32",
        "SCR_FILL",
        "ATOMIC_RESULT",
        "EXPORT_MOVE4",
        "SCR_SAVE",
        "LOGIC1.10",
        "LOGIC.10",
        "SELECTX.14",
        "F2X.6",
        "F2X.8",
        "FPROJ.8",
        "DEV_LOAD",
        "TG_LOAD0",
        "TG_LOAD",
        "TG_ATOMIC0",
        "PRIV_LOAD",
        "TEX",
        "ITER_FLAT",
        "TILE_LOAD",
    ];
    for form in FORMS {
        let produces = form.completion != agx_isa::Completion::None;
        assert_eq!(produces, producers.contains(&form.name), "{}", form.name);
    }
    // The asynchronous system registers, and one that is not.
    assert_eq!(instr("4c dd 10 06").completes(), Some(1));
    assert_eq!(instr("4c d8 10 06").completes(), Some(1));
    assert_eq!(instr("4c c2 10 06").completes(), Some(1));
    assert_eq!(instr("4c c3 10 06").completes(), None);
    // The slot of a returning atomic stands in the record behind it.
    let atomic = instr("67 01 54 00 00 82 81 82 00 02 00 00 60 02");
    assert!(atomic.wants_atomic_result() && atomic.completes().is_none());
    assert!(!instr("67 01 54 00 00 1e 23 a1 00 60 00 00 7a 03").wants_atomic_result());
    for (code, slot) in [
        ("40", 1),
        ("80", 2),
        ("60", 3),
        ("a0", 4),
        ("c0", 5),
        ("20", 6),
    ] {
        assert_eq!(
            instr(&format!("0c 80 09 a7 00 {code} 00 00")).completes(),
            Some(slot)
        );
    }
}

/// isa-2, 9.4, rule 6.
#[test]
fn drain_points() {
    let before = [
        "STOP",
        "FILLER.2",
        "TERM.4",
        "BR_ANY / BR_NONE",
        "ELSE",
        "PUSH",
        "POP",
        "LOOP_UPDATE",
        "BREAK",
        "CALL_BR",
        "RET.4",
        "BARRIER",
        "TILE_ACCESS",
        "TILE_FENCE",
    ];
    for form in FORMS {
        let want = match form.name {
            "COVERAGE" | "DEPTH_STORE" => Drain::OwnWait,
            name if before.contains(&name) => Drain::Before,
            _ => Drain::No,
        };
        assert_eq!(form.drain, want, "{}", form.name);
    }
}

/// The launcher of launch, 12.5 keeps its loads pending across alloc, target and frame: no rule
/// here may forbid what is proven to run.
#[test]
fn the_proven_launcher_obeys_the_rules() {
    let program = [
        "2c 80 02 00 10 00 80 04",
        "3c 80 02 00 04 00 00 00",
        "67 00 54 24 02 00 00 00 57 00 00 40 26 00",
        "77 00 2a 41 00 00 00 00",
        "77 01 aa 07 00 00 00 02 80 00",
        "f7 00 2a 00 00 00 00 00 00 00",
        "0b 24 09 44",
        "1b 26 09 04",
        "2b 28 09 04",
        "3b 2a 09 04",
        "0e 00 00 00",
    ];
    let mut pending: Vec<(u8, Access)> = Vec::new();
    for text in program {
        let instr = instr(text);
        pending.retain(|(slot, _)| !instr.proven_waits().contains(*slot));
        if instr.drain() == Drain::Before {
            assert!(pending.is_empty(), "{instr}: {pending:?}");
        }
        for access in instr.accesses().filter(|a| a.kind == AccessKind::Read) {
            for (_, late) in &pending {
                let overlap = access.reg.file == late.reg.file
                    && access.reg.index < late.reg.index + u16::from(late.count)
                    && late.reg.index < access.reg.index + u16::from(access.count);
                assert!(!overlap, "{instr} reads what is pending");
            }
        }
        if let Some(slot) = instr.completes() {
            let late = instr.accesses().filter(|a| a.kind == AccessKind::LateWrite);
            pending.extend(late.map(|a| (slot, a)));
        }
    }
}

#[test]
fn memory_effects() {
    for (bytes, want) in [
        (
            "67 00 54 04 03 01 20 00 51 01 00 40 46 00",
            Some((Space::Device, MemoryOp::Load)),
        ),
        (
            "e7 00 54 80 05 11 20 00 01 30 00 10 11 00",
            Some((Space::Device, MemoryOp::Store)),
        ),
        (
            "67 01 54 00 00 82 81 82 00 02 00 00 60 02",
            Some((Space::Device, MemoryOp::Atomic)),
        ),
        (
            "67 02 54 06 10 08 00 00 44 0d 00 c0 08 00",
            Some((Space::Threadgroup, MemoryOp::Load)),
        ),
        (
            "e7 02 54 02 10 08 80 00 44 02 00 30 02 00",
            Some((Space::Threadgroup, MemoryOp::Store)),
        ),
        (
            "2c 80 01 a1 00 00 00 00",
            Some((Space::Scratch, MemoryOp::Load)),
        ),
        (
            "ef 00 54 0a 0c 02 09 03 4b 60",
            Some((Space::Scratch, MemoryOp::Store)),
        ),
        (
            "67 0e 54 04 00 02 01 ce 00 00 00 00",
            Some((Space::Tile, MemoryOp::Load)),
        ),
        (
            "57 10 54 00 00 10 00 80 a8 75 01 00",
            Some((Space::Image, MemoryOp::Store)),
        ),
        ("49 05 3c 07 00 00", None),
    ] {
        assert_eq!(instr(bytes).memory(), want, "{bytes}");
    }
}

/// Forms and operations that a compiler must not use, by what the reference says of them.
#[test]
fn emit_policy() {
    use agx_isa::{Emit, Mark};
    for form in FORMS {
        let yes = form.emit == Emit::Yes;
        let proven = matches!(form.mark, Mark::Hw);
        assert!(proven || !yes, "{} is {}", form.name, form.mark.as_str());
    }
    let refused = |text: &str| {
        let instr = agx_isa::asm::assemble_one(text).unwrap_or_else(|e| panic!("{text}: {e}"));
        matches!(instr.emit(), Emit::No(_))
    };
    for text in [
        "movb r0, r1, r2",
        "notb r0, r1, r2",
        "imad r0, r1, r2, #0",
        "iadd r0, #0, r1",
        "iadd r0, r1, #0",
        "device_load.i8x4 r0, u0:u1, r0",
        "iter r0, cf1, none, f11",
        "fma.8 r0, #2.0, r1, r2",
        "ballot r80, r3",
        "device_atomic.add.ret_release r0, u0:u1, r1",
    ] {
        assert!(refused(text), "{text}");
    }
    for text in [
        "and r0, r1, r2",
        "imad r0, r1, r2, r3",
        "uniform_iadd u0, r1, #0",
        "device_load.i32x4 r0, u0:u1, r0",
        "iter r0, cf1, none",
        "fma.8 r0, r1, #2.0, #1.0",
        "device_atomic.add.ret r0, u0:u1, r1",
    ] {
        assert!(!refused(text), "{text}");
    }
    assert_ne!(FormId::ImageStore.form().emit, Emit::Yes);
}
