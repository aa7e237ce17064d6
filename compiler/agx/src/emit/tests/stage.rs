// SPDX-License-Identifier: MIT
//! The worked examples of isa-3: each operation gives those bytes.

use agx_isa::SlotMask;

use crate::emit::encode::{Context, encode};
use crate::emit::facts::Facts;
use crate::emit::regs::RegSet;
use crate::ir::{
    BlockStore, Coverage, DepthStore, Derivative, Dst, Instr, InterpPos, Iter, IterFlat, Project,
    PublishDepth, Ref, Src, TileAccess, TileBlock, TileFence, TileLoad, TileStore, VertexOut,
};

fn reg(reg: u8) -> Src {
    Src::new(Ref::Reg(reg))
}

fn hex(text: &str) -> Vec<u8> {
    let byte = |text| u8::from_str_radix(text, 16).unwrap();
    text.split_whitespace().map(byte).collect()
}

/// An operation, the registers that end, slots to wait for, the slot that it completes, its bytes.
fn check(instr: impl Into<Instr>, kills: &[u8], waits: &[u8], slot: u8, bytes: &str) {
    let instr = instr.into();
    let set = |all: &[u8]| {
        all.iter()
            .fold(RegSet::EMPTY, |set, r| set | RegSet::of(*r))
    };
    let slots = waits
        .iter()
        .fold(SlotMask::NONE, |all, s| all | SlotMask::of(*s));
    let ctx = Context {
        waits: slots,
        kills: set(kills),
        slot,
        ..Context::PLAIN
    };
    let mut sequence = Vec::new();
    encode(&instr, &ctx, &mut sequence, &mut Facts::NONE.clone())
        .unwrap_or_else(|error| panic!("{error}"));
    let mut made = Vec::new();
    for machine in &sequence {
        made.extend_from_slice(&machine.encode().unwrap_or_else(|e| panic!("{instr}: {e}")));
    }
    assert_eq!(made, hex(bytes), "{instr}");
}

#[test]
fn vertex_outputs() {
    let out = |slot, word| VertexOut { slot, word };
    check(out(0, 0), &[], &[1], 1, "57 16 54 00 00 40 00 00");
    check(out(21, 100), &[], &[6], 1, "57 06 56 c8 a0 42 00 00");
    check(out(1, 1), &[], &[2], 1, "57 26 54 02 20 40 00 00");
    check(out(5, 5), &[], &[6], 1, "57 06 56 0a a0 40 00 00");
}

#[test]
fn interpolation() {
    let dst = |r| Dst::Reg(r);
    let iter = |r, cf, pos: Option<u8>| Iter {
        dst: dst(r),
        pos: pos.map(reg),
        cf,
    };
    check(
        iter(2, 1, None),
        &[],
        &[],
        1,
        "2f 05 54 04 03 02 00 02 10 00",
    );
    check(
        iter(6, 1, Some(5)),
        &[],
        &[],
        1,
        "2f 05 54 0c 03 02 05 02 08 00",
    );
    check(
        iter(6, 1, Some(5)),
        &[5],
        &[],
        1,
        "2f 05 54 0c 03 02 05 02 20 00",
    );
    let flat = IterFlat {
        dst: [4, 5, 6].into_iter().map(Dst::Reg).collect(),
        cf: 3,
    };
    check(flat, &[], &[], 2, "1f 03 54 84 01 01");
    let project = Project {
        dst: dst(15),
        a: reg(10),
        w: reg(6),
        cf: 2,
    };
    check(project, &[10], &[], 1, "f9 15 2f 8d 00 02 00 00");
    let centroid = InterpPos {
        dst: dst(5),
        src: reg(4),
        sample: false,
    };
    check(centroid, &[], &[], 1, "af 04 54 0a 03 10 0a 01");
    let sample = InterpPos {
        dst: dst(2),
        src: reg(0),
        sample: true,
    };
    check(sample, &[], &[], 1, "af 04 54 04 03 00 0a 03");
    let derivative = |down| Derivative {
        dst: dst(9),
        src: reg(23),
        down,
    };
    check(
        derivative(false),
        &[23],
        &[],
        1,
        "37 05 54 12 03 5c 90 40 00 00",
    );
    check(
        derivative(true),
        &[],
        &[],
        1,
        "37 07 54 12 03 5c 92 40 00 00",
    );
}

#[test]
fn tile_memory() {
    let access = |what| TileAccess { what };
    check(access(0x600), &[], &[], 1, "87 02 54 00 06 00");
    check(access(0x80c), &[], &[], 1, "87 02 54 0c 08 00");
    check(access(0x001), &[], &[], 1, "87 02 54 01 00 00");
    let fence = |what| TileFence { what };
    check(fence(0x20c), &[], &[], 1, "07 02 54 0c 02 00");
    check(fence(0x001), &[], &[], 1, "07 02 54 01 00 00");
    check(fence(0x300), &[], &[], 1, "07 12 54 00 03 00");
    let load = |word, samples, mask: Option<u8>| TileLoad {
        dst: Dst::Reg(2),
        mask: mask.map(reg),
        word,
        samples,
    };
    check(
        load(1, 1, None),
        &[],
        &[],
        2,
        "67 0e 54 04 00 02 01 ce 00 00 00 00",
    );
    check(
        load(1, 0, Some(3)),
        &[3],
        &[],
        3,
        "67 06 54 04 00 02 06 4e 21 00 00 20",
    );
    let store = |src, mask: Option<u8>| TileStore {
        src: reg(src),
        mask: mask.map(reg),
        word: 0,
    };
    check(
        store(0, None),
        &[],
        &[],
        1,
        "e7 06 54 00 00 00 01 4e 00 00 00 00",
    );
    check(
        store(10, Some(11)),
        &[11],
        &[],
        1,
        "e7 16 54 14 00 00 16 4e 08 00 00 08",
    );
}

#[test]
fn coverage_depth_and_blocks() {
    check(Coverage { word: 0 }, &[], &[], 1, "57 14 54 00 00 01");
    check(DepthStore { word: 0 }, &[], &[], 1, "d7 14 54 00 00 03");
    let publish = PublishDepth {
        src: reg(3),
        word: 0,
    };
    check(publish, &[3], &[], 1, "0b 07 2f 00 42 00 00 00 10 00");
    let block = |multisampled, format, image, params| BlockStore {
        block: TileBlock {
            array: false,
            multisampled,
            format,
            image,
            params,
        },
    };
    check(
        block(false, 7, 1, 0),
        &[],
        &[],
        1,
        "57 10 54 00 00 10 00 80 a8 75 01 00",
    );
    check(
        block(true, 3, 2, 4),
        &[],
        &[],
        1,
        "57 10 54 08 00 20 00 80 28 32 01 00",
    );
}
