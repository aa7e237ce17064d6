// SPDX-License-Identifier: MIT
//! Device, threadgroup and scratch memory, atomics (isa-2, 2 to 5; isa-4, 3, 5).

use super::blocks::{D3, gpr};
use crate::bits::{Bit, Bits};
use crate::form::{
    Alt, Completion, File, Form, Legal, Mark, MemoryOp, Modifier, Operand, Role, Space, Span, Wait,
};
use crate::illegal::Illegal;
use crate::instr::Instr;

/// Device access formats (isa-2, 2.2). The last four are accepted by the hardware, with a packing
/// that is not verified (INFERRED).
const FORMATS: &[(u64, &str)] = &[
    (0x11, "i32"),
    (0x19, "i32x2"),
    (0x1d, "i32x3"),
    (0x17, "i32x4"),
    (0x01, "i16"),
    (0x09, "i16x2"),
    (0x21, "i8"),
    (0x0d, "i16x3"),
    (0x07, "i16x4"),
    (0x27, "i8x4"),
];
const FORMAT: Modifier = Modifier::new("format", &[(64, 69)]).names(FORMATS).dot();
/// Formats whose packing is not verified (isa-2, 2.2).
fn unverified_format(i: &Instr) -> Option<&'static str> {
    matches!(FORMAT.of(i), 0x0d | 0x07 | 0x27)
        .then_some("the packing of this format is not verified")
}

/// Left shift of the index (isa-2, 2.1): 0..4, coded 1, 2, 3, 4, 0.
const SHIFTS: &[(u64, &str)] = &[
    (1, "lsl0"),
    (2, "lsl1"),
    (3, "lsl2"),
    (4, "lsl3"),
    (0, "lsl4"),
];

/// Base address: uniform pair, or register pair when every bit of `gpr` is set.
const fn base(index: (u8, u8), gpr_bits: &[(u8, u8)]) -> Operand {
    Operand::new("base", Role::Use, File::UniformPair, &[index])
        .max(127)
        .alt(Alt::Address {
            gpr: Bits::new(gpr_bits),
        })
}

pub(super) const DEV_LOAD: Form = Form::row(
    "DEV_LOAD",
    14,
    "ff0fec000000dfff001a00e091ff",
    "6700440000000000000000400000",
    Mark::Hw,
    "isa-2 2.3",
    "device load, async",
)
.aka(&["LDP"])
.op(&[(0, "device_load")])
.args(&[
    gpr("dst", Role::Def, &[(25, 31)])
        .half(24)
        .span(Span::DeviceFormat),
    base((32, 38), &[(101, 101)]).rel(74),
    gpr("index", Role::Use, &[(40, 46)])
        .rel(47)
        .present_if(&[(53, 53), (102, 102)], 3, 0),
])
.mods(&[
    FORMAT,
    Modifier::new("scale", &[(97, 99)]).names(SHIFTS).default(3),
    Modifier::new("offset", &[(77, 92)]).legal(Legal::Signed),
    // 1 = another load follows; functionally inert.
    Modifier::hint("more", 20, 1),
    Modifier::ignored("f39", &[(39, 39)]),
])
.waits(Wait::MASK12)
.completes(Completion::Tag(Bits::new(&[(70, 72)])))
.check(|i| {
    if i.raw_bit(74) && !i.raw_bit(101) {
        Err(Illegal::rule(
            "base_release",
            1,
            "0 unless the base is a register pair",
        ))
    } else {
        Ok(())
    }
})
.memory(Space::Device, MemoryOp::Load)
.emit_rule(unverified_format);

pub(super) const DEV_STORE: Form = Form::row(
    "DEV_STORE",
    14,
    "ff0ffc008080feff80070078f4ff",
    "e700540000002000000000101000",
    Mark::Hw,
    "isa-2 2.4",
    "device store",
)
.op(&[(0, "device_store")])
.args(&[
    gpr("data", Role::Use, &[(25, 31)])
        .half(24)
        .span(Span::DeviceFormat),
    base((32, 38), &[(99, 99)]),
    gpr("index", Role::Use, &[(40, 46)]).rel(48),
])
.mods(&[
    FORMAT,
    Modifier::new("scale", &[(95, 97)]).names(SHIFTS).default(3),
    Modifier::new("offset", &[(75, 90)]).legal(Legal::Signed),
    // 1 in vendor code (isa-0, 3).
    Modifier::hint("f70", 70, 0),
])
.waits(Wait::MASK12)
.memory(Space::Device, MemoryOp::Store)
.emit_rule(unverified_format);

/// Word of the threadgroup root pointer.
const ROOT: Operand = Operand::new("root", Role::Use, File::UniformPair, &[(34, 39)]);
const TG_INDEX: Operand = gpr("index", Role::Use, &[(42, 47)]).low_half().rel(55);
const TG_DST: Operand = gpr("dst", Role::Def, &[(25, 30)]);
const TG_DATA: Operand = gpr("data", Role::Use, &[(25, 30)]).destroyed();

pub(super) const TG_LOAD0: Form = Form::row(
    "TG_LOAD0",
    14,
    "ff0ffc8103ffffffffffffffffff",
    "6702540000000000440500400000",
    Mark::Cmp,
    "isa-4 5",
    "threadgroup load of word 0",
)
.op(&[(0, "threadgroup_load")])
.args(&[TG_DST, ROOT])
.waits(Wait::MASK12.unproven())
.completes(Completion::Fixed(6))
.memory(Space::Threadgroup, MemoryOp::Load)
.do_not_emit("not known to have run");

pub(super) const TG_LOAD: Form = Form::row(
    "TG_LOAD",
    14,
    "ff0ffc8103037fffffffffffffff",
    "6702540000000000440d00c00800",
    Mark::Hw,
    "isa-2 3.2",
    "threadgroup load, async slot 6",
)
.op(&[(0, "threadgroup_load")])
.args(&[TG_DST, ROOT, TG_INDEX])
.waits(Wait::MASK12.unproven())
.completes(Completion::Fixed(6))
.memory(Space::Threadgroup, MemoryOp::Load);

pub(super) const TG_STORE0: Form = Form::row(
    "TG_STORE0",
    14,
    "ff0ffc8103ffffffffffffffffff",
    "e702540000000000440100100000",
    Mark::Cmp,
    "isa-4 5",
    "threadgroup store of word 0",
)
.op(&[(0, "threadgroup_store")])
.args(&[TG_DATA, ROOT])
.waits(Wait::MASK12.unproven())
.memory(Space::Threadgroup, MemoryOp::Store)
.do_not_emit("not known to have run");

pub(super) const TG_STORE: Form = Form::row(
    "TG_STORE",
    14,
    "ff0ffc8103037fffffffffffffff",
    "e702540000000000440200300200",
    Mark::Hw,
    "isa-2 3.3",
    "threadgroup store",
)
.op(&[(0, "threadgroup_store")])
.args(&[TG_DATA, ROOT, TG_INDEX])
.waits(Wait::MASK12.unproven())
.memory(Space::Threadgroup, MemoryOp::Store);

/// Atomic operation codes (isa-2, 5.1).
const ATOMIC_OPS: &[(u64, &str)] = &[
    (0x10, "add"),
    (0x11, "and"),
    (0x12, "cmpxchg"),
    (0x13, "fadd"),
    (0x14, "imax"),
    (0x15, "imin"),
    (0x16, "or"),
    (0x1b, "sub"),
    (0x1c, "umax"),
    (0x1d, "umin"),
    (0x1e, "xchg"),
    (0x1f, "xor"),
];
pub(crate) const DEV_ATOMIC_OP: Modifier = atomic_op(97, 101);
pub(crate) const TG_ATOMIC_OP: Modifier = atomic_op(86, 90);
const fn atomic_op(lo: u8, hi: u8) -> Modifier {
    Modifier::new("op", &[(lo, hi)]).names(ATOMIC_OPS).dot()
}

/// The data register is lost whatever bit 78 says: no proven emitter reads it again (isa-4, 3.1).
const ATOMIC_DATA: Operand = gpr("data", Role::Use, &[(47, 53)])
    .span(Span::AtomicData)
    .destroyed();
/// Bit 73 returns the old value, bit 78 releases the data register. The proven emitter writes one or
/// the other; the two are independent (isa-4, 3.1; INFERRED).
const RESULT: Modifier = Modifier::new("result", &[(73, 73), (78, 78)])
    .names(&[
        (2, "void"),
        (1, "ret"),
        (3, "ret_release"),
        (0, "void_keep"),
    ])
    .dot();

fn atomic_emit(i: &Instr) -> Option<&'static str> {
    matches!(RESULT.of(i), 0 | 3).then_some("only void and ret are proven")
}

pub(super) const DEV_ATOMIC: Form = Form::row(
    "DEV_ATOMIC",
    14,
    "ff0ffcffff0040c0ff9dffffc1fe",
    "6701540000000080000000004002",
    Mark::Hw,
    "isa-2 5.2",
    "device atomic with index",
)
.op(&[(0, "device_atomic")])
.args(&[
    ATOMIC_DATA,
    base((40, 46), &[(77, 77), (104, 104)]).destroyed(),
    gpr("index", Role::Use, &[(55, 61)]).destroyed(),
])
.mods(&[DEV_ATOMIC_OP, RESULT])
.waits(Wait::MASK12.only("data"))
.memory(Space::Device, MemoryOp::Atomic)
.emit_rule(atomic_emit);

pub(super) const DEV_ATOMIC0: Form = Form::row(
    "DEV_ATOMIC0",
    14,
    "ff0ffcffff00c0ffff9dffffc1fe",
    "6701540000000000000000000000",
    Mark::HwA18,
    "isa-2 5.2",
    "device atomic without index",
)
.op(&[(0, "device_atomic")])
.args(&[
    ATOMIC_DATA,
    base((40, 46), &[(77, 77), (104, 104)]).destroyed(),
])
.mods(&[DEV_ATOMIC_OP, RESULT])
.waits(Wait::MASK12.unproven())
.do_not_emit("use the indexed form with a zero index register")
.memory(Space::Device, MemoryOp::Atomic);

pub(super) const TG_ATOMIC0: Form = Form::row(
    "TG_ATOMIC0",
    12,
    "ff0ffc80ff80ffffc1ff3ff8",
    "670354000000000000000000",
    Mark::Cmp,
    "isa-4 3.2",
    "threadgroup atomic on byte 0",
)
.op(&[(0, "threadgroup_atomic")])
.args(&[
    gpr("dst", Role::Def, &[(24, 30)]).present_if(&[(65, 65)], 1, 0),
    gpr("data", Role::Use, &[(40, 46)])
        .span(Span::AtomicData)
        .rel(69),
])
.mods(&[TG_ATOMIC_OP, Modifier::opaque("f66", &[(66, 68)], &[0])])
.waits(Wait::MASK12.unproven())
.completes(Completion::FixedIf(1, Bit::at(65)))
.do_not_emit("not known to have run")
.memory(Space::Threadgroup, MemoryOp::Atomic);

pub(super) const TG_ATOMIC: Form = Form::row(
    "TG_ATOMIC",
    12,
    "ff0ffc0000000000000000f8",
    "670354000000000000000000",
    Mark::HwPartial,
    "isa-2 5.4",
    "threadgroup atomic, operands unknown; do not emit",
)
.op(&[(0, "threadgroup_atomic_raw")])
// Data registers 126 and 127 in bits 40..46 of the direct form hang the GPU (HW).
.mods(&[TG_ATOMIC_OP, Modifier::opaque("body", &[(24, 85)], &[])])
.waits(Wait::MASK12.unproven())
.do_not_emit("operand, index and result fields are not decoded")
.memory(Space::Threadgroup, MemoryOp::Atomic);

/// Scratch word of a spill, 0..8191.
const fn word(index: &[(u8, u8)]) -> Operand {
    Operand::new("word", Role::Use, File::Scratch, index)
}

pub(super) const SCR_FILL: Form = Form::row(
    "SCR_FILL",
    8,
    "0f813f1f011fff0f",
    "0c80010100000000",
    Mark::Hw,
    "isa-2 4.2",
    "D = scratch[word], async",
)
.op(&[(0, "scratch_fill")])
.args(&[D3, word(&[(9, 14), (33, 39)])])
.waits(Wait::MASK45_61)
.completes(Completion::Tag(Bits::new(&[(29, 31)])))
.memory(Space::Scratch, MemoryOp::Load);

pub(super) const SCR_SAVE: Form = Form::row(
    "SCR_SAVE",
    10,
    "0f813fffff0e0303ffff",
    "0b010f00220000000000",
    Mark::Hw,
    "isa-2 4.1",
    "scratch[word] = A, A destroyed, async",
)
.op(&[(0, "scratch_save")])
.args(&[
    word(&[(4, 7), (22, 23), (44, 44), (50, 55)]).role(Role::Def),
    gpr("src", Role::Use, &[(9, 14), (40, 40)])
        .destroyed()
        .held(),
])
.waits(Wait::MASK45_61)
.completes(Completion::Tag(Bits::new(&[(58, 60)])))
.memory(Space::Scratch, MemoryOp::Store);

const fn private_offset(lo: u8, hi: u8) -> Operand {
    Operand::new("offset", Role::Use, File::Imm, &[(lo, hi)])
}
const PRIV_INDEX: Operand = gpr("index", Role::Use, &[(33, 38)]);

pub(super) const PRIV_LOAD: Form = Form::row(
    "PRIV_LOAD",
    12,
    "ff0ffc8181ffffff00e0ffff",
    "6f0054000002490100000300",
    Mark::Hw,
    "isa-2 4.3",
    "D = scratch[index + offset], async slot 6",
)
.op(&[(0, "private_load")])
.args(&[TG_DST, PRIV_INDEX, private_offset(64, 76)])
.waits(Wait::MASK12.unproven())
.completes(Completion::Fixed(6))
.memory(Space::Scratch, MemoryOp::Load);

pub(super) const PRIV_STORE: Form = Form::row(
    "PRIV_STORE",
    10,
    "ff0ffc8181ffff3f00f8",
    "ef005400000209030060",
    Mark::Hw,
    "isa-2 4.4",
    "scratch[index + offset] = A, A destroyed",
)
.op(&[(0, "private_store")])
.args(&[TG_DATA, PRIV_INDEX, private_offset(62, 74)])
.waits(Wait::MASK12.unproven())
.memory(Space::Scratch, MemoryOp::Store);
