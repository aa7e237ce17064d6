// SPDX-License-Identifier: MIT
//! Texture operations: bytes against the examples of isa-3, 1.3, 2.6, 2.7 and 2.11 and isa-4, 1.2, and waits.

use agx_isa::{FormId, Mode, SlotMask, decode};

use super::build::{d, dsts, r, straight};
use crate::emit::encode::{Context, encode};
use crate::emit::facts::Facts;
use crate::emit::regs::RegSet;
use crate::emit::run;
use crate::ir::*;

const PLAIN: Bundle = Bundle {
    mode: 0,
    kind: 1,
    gather: None,
    offset: [0, 0],
    mask: 15,
    texture: 0,
    sampler: 0,
    params: 0,
    last: true,
};

fn texture(first: u8, bundle: Bundle) -> Instr {
    let count = match bundle.gather {
        Some(_) => 4,
        None => bundle.mask.count_ones() as u8,
    };
    Texture {
        dst: dsts(first, count),
        bundle,
    }
    .into()
}

/// The bytes of an operation that waits for these slots, completes that one and ends those registers.
fn bytes(instr: &Instr, waits: &[u8], slot: u8, kills: RegSet) -> String {
    let waits = waits.iter().map(|slot| SlotMask::of(*slot));
    let ctx = Context {
        waits: waits.fold(SlotMask::NONE, |all, one| all | one),
        slot,
        kills,
        ..Context::PLAIN
    };
    let mut sequence = Vec::new();
    encode(instr, &ctx, &mut sequence, &mut Facts::NONE.clone()).expect("encodes");
    assert_eq!(sequence.len(), 1, "{instr}");
    let encoded = sequence[0].encoded();
    let text: Vec<_> = encoded.iter().map(|byte| format!("{byte:02x}")).collect();
    text.join(" ")
}

#[test]
fn bundles_are_those_of_the_reference() {
    let plain = PLAIN;
    let fetch = Bundle { kind: 0, ..plain };
    for (first, bundle, waits, slot, expected) in [
        (
            0,
            plain,
            &[1][..],
            1,
            "05 80 0c b8 b0 00 00 00 00 00 10 00 01 00",
        ),
        (
            8,
            Bundle {
                mode: 0x0100,
                params: 4,
                texture: 3,
                sampler: 2,
                ..plain
            },
            &[1],
            2,
            "45 8c 0c b8 b1 24 00 01 80 00 10 00 01 00",
        ),
        (
            8,
            Bundle {
                mode: 0x0004,
                params: 4,
                texture: 3,
                sampler: 2,
                ..plain
            },
            &[1],
            2,
            "45 8c 0c b8 b1 24 04 00 80 00 10 00 01 00",
        ),
        (
            0,
            Bundle {
                mode: 0x0104,
                mask: 7,
                params: 8,
                sampler: 1,
                ..plain
            },
            &[1],
            3,
            "05 80 0c b1 b0 48 04 01 00 01 10 00 01 00",
        ),
        (
            6,
            Bundle { mask: 12, ..plain },
            &[1],
            1,
            "35 80 0c b8 90 00 00 00 00 00 50 00 01 00",
        ),
        (
            0,
            Bundle {
                mode: 0x2188,
                ..plain
            },
            &[1],
            1,
            "05 80 0c b8 b0 00 88 21 00 00 10 00 01 00",
        ),
        (
            0,
            Bundle {
                mode: 0x0300,
                ..plain
            },
            &[1],
            1,
            "05 80 0c b8 b0 00 00 03 00 00 10 00 01 00",
        ),
        (
            4,
            Bundle {
                mode: 0x24a0,
                mask: 1,
                params: 8,
                texture: 1,
                sampler: 5,
                ..fetch
            },
            &[1],
            1,
            "25 80 0c a1 92 00 a0 24 80 01 00 00 01 00",
        ),
        (
            40,
            Bundle {
                mode: 0x0528,
                mask: 1,
                params: 28,
                texture: 15,
                sampler: 16,
                ..fetch
            },
            &[1],
            6,
            "45 bc 4c a3 98 b4 28 05 80 00 00 00 01 00",
        ),
        (
            0,
            Bundle {
                mode: 0x1480,
                ..fetch
            },
            &[1],
            1,
            "05 80 0c b8 b0 00 80 14 00 00 00 00 01 00",
        ),
        (
            0,
            Bundle {
                texture: 37,
                ..plain
            },
            &[1],
            1,
            "05 90 0c b8 b0 00 00 00 90 00 10 00 01 00",
        ),
        (
            0,
            Bundle {
                texture: 100,
                ..plain
            },
            &[1],
            1,
            "05 90 0c b8 b0 00 00 00 30 00 10 00 01 00",
        ),
        (
            0,
            Bundle {
                gather: Some(0),
                ..fetch
            },
            &[1],
            1,
            "05 80 0c a4 90 00 00 00 00 00 00 00 01 00",
        ),
        (
            0,
            Bundle {
                gather: Some(3),
                ..fetch
            },
            &[1],
            1,
            "05 80 0c bc 90 00 00 00 00 00 00 00 01 00",
        ),
        (
            0,
            Bundle {
                mode: 0x0201,
                gather: Some(0),
                offset: [3, -2],
                ..fetch
            },
            &[1],
            1,
            "05 80 0c a4 90 00 01 02 00 18 00 00 01 0e",
        ),
        (
            0,
            Bundle {
                last: false,
                ..plain
            },
            &[1],
            2,
            "05 80 0c 18 b0 24 00 00 00 00 10 00 01 00",
        ),
    ] {
        let instr = texture(first, bundle);
        assert_eq!(
            bytes(&instr, waits, slot, RegSet::EMPTY),
            expected,
            "{instr}"
        );
    }
}

#[test]
fn publications_and_the_helper_for_cubes_are_those_of_the_reference() {
    let publish = Publish { src: r(5), word: 3 }.into();
    assert_eq!(
        bytes(&publish, &[], 1, RegSet::of(5)),
        "3b 0b 3f 0b 42 08 00 00 00 00"
    );
    let face = CubeFace {
        dst: [d(3), d(4)],
        x: r(0),
        y: r(1),
        z: r(2),
    };
    assert_eq!(
        bytes(&face.into(), &[], 6, RegSet::EMPTY),
        "17 01 54 03 03 00 05 12 54 21 92 00"
    );
    let coord = CubeCoord {
        dst: d(1),
        x: r(0),
        y: r(1),
        z: r(2),
        second: true,
    };
    assert_eq!(
        bytes(&coord.into(), &[], 6, RegSet::range(0, 3)),
        "17 01 54 01 03 00 04 10 50 2f 92 08"
    );
}

/// What each machine instruction waits for, completes and is.
fn emitted(instrs: Vec<Instr>) -> Vec<(FormId, SlotMask, Option<u8>)> {
    let code = run(&straight(instrs)).expect("emits");
    let (mut at, mut found) = (0, Vec::new());
    while at < code.stats.bytes as usize {
        let machine = decode(&code.bytes[at..], Mode::Strict).expect("decodes");
        found.push((machine.id(), machine.waits(), machine.completes()));
        at += usize::from(machine.form().len);
    }
    found
}

#[test]
fn a_block_is_complete_before_it_is_read_and_read_before_it_is_overwritten() {
    let publish = |word, src| Publish { src: r(src), word }.into();
    let found = emitted(vec![
        SysReg {
            dst: d(0),
            number: 0xa0,
            narrow: false,
        }
        .into(),
        SysReg {
            dst: d(1),
            number: 0xa1,
            narrow: false,
        }
        .into(),
        publish(0, 0),
        publish(1, 1),
        texture(4, Bundle { mask: 1, ..PLAIN }),
        publish(0, 1),
        publish(1, 0),
        texture(5, Bundle { mask: 1, ..PLAIN }),
        super::build::iadd(6, 4, 5),
    ]);
    let bundles: Vec<_> = (0..found.len())
        .filter(|i| found[*i].0 == FormId::Tex)
        .collect();
    let [first, second] = bundles[..] else {
        panic!("{found:?}")
    };
    for bundle in [first, second] {
        assert_eq!(found[bundle].1, SlotMask::of(1), "{found:?}");
        let exports = found[..bundle]
            .iter()
            .rev()
            .take_while(|i| i.0 == FormId::Logic)
            .take(2);
        assert!(exports.clone().count() == 2 && exports.clone().all(|e| e.2 == Some(1)));
    }
    // The first of the exports behind it waits for the bundle, on whatever slot that completes.
    let slot = found[first].2.expect("a slot");
    let waits = found[first + 1..second].iter().any(|i| i.1.contains(slot));
    assert!(waits && slot != 1, "{found:?}");
    let last = found[second].2.expect("a slot");
    assert!(
        found[second + 1..].iter().any(|i| i.1.contains(last)),
        "{found:?}"
    );
}

/// Where code ends everything is settled, exports that nobody reads among it: by a copy of a register that is not under way.
#[test]
fn exports_are_settled_at_the_end() {
    let found = emitted(vec![
        super::build::lane(0),
        Publish { src: r(0), word: 0 }.into(),
    ]);
    let waits: Vec<_> = found
        .iter()
        .filter(|i| i.1 == SlotMask::of(1) && i.2.is_none())
        .collect();
    assert_eq!(waits.len(), 1, "{found:?}");
    assert_eq!(waits[0].0, FormId::Logic);
}
