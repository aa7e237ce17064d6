// SPDX-License-Identifier: MIT
//! Control flow, barriers and launch-program control (isa-2, 6, 7; launch, 4).

use crate::form::{Class, File, Flow, Form, Legal, Mark, Modifier, Opcode, Operand, Role, Wait};
use crate::illegal::Illegal;
use crate::instr::Instr;

const DISPLACEMENT: Modifier = Modifier::new("disp", &[(24, 71)])
    .legal(Legal::SignedEven)
    .target();
/// Mask operations and branches have the wait field of their family; no emitter has used it.
const WAIT: Wait = Wait::MASK12.unproven();
const KINDS: &[(u64, &str)] = &[(1, "if"), (2, "loop")];

pub(super) const BRANCH: Form = Form::row(
    "BR_ANY / BR_NONE",
    10,
    "ff0efc000000000000ff",
    "0f005400000000000000",
    Mark::Hw,
    "isa-2 6.9",
    "branch if any / no lane is active",
)
.aka(&["JANY", "branch"])
.ops(Opcode::by(&[(8, 8)], &[(0, "br_any"), (1, "br_none")]))
.mods(&[DISPLACEMENT])
.waits(WAIT)
.flow(Flow::Branch);

pub(super) const ELSE: Form = Form::row(
    "ELSE",
    4,
    "ffffffff",
    "0f040419",
    Mark::Hw,
    "isa-2 6.5",
    "flip the top conditional scope",
)
.op(&[(0, "else")])
.flow(Flow::Else);

pub(super) const PUSH: Form = Form::row(
    "PUSH",
    4,
    "ff0ffcc0",
    "0f055400",
    Mark::Hw,
    "isa-2 6.4",
    "push a scope",
)
.op(&[(0, "push")])
.args(&[Operand::new("source", Role::Use, File::Predicate, &[(26, 28)]).neg(29)])
.mods(&[Modifier::new("kind", &[(24, 25)]).names(KINDS).dot()])
// Executed once on M4 with slot 6 named.
.waits(Wait::MASK12)
.flow(Flow::Push);

pub(super) const POP: Form = Form::row(
    "POP",
    6,
    "ffffff00ffff",
    "0f0604000000",
    Mark::Hw,
    "isa-2 6.6",
    "pop a scope",
)
.op(&[(0, "pop")])
.mods(&[Modifier::new("kind", &[(24, 31)]).names(KINDS).dot()])
.flow(Flow::Pop);

pub(super) const LOOP_UPDATE: Form = Form::row(
    "LOOP_UPDATE",
    4,
    "ff0ffcc3",
    "8f045402",
    Mark::Hw,
    "isa-2 6.7",
    "drop lanes from the loop",
)
.op(&[(0, "loop_update")])
.args(&[
    Operand::new("bank", Role::Use, File::Predicate, &[(26, 28)])
        .max(5)
        .neg(29),
])
.waits(WAIT)
.flow(Flow::LoopUpdate);

pub(super) const BREAK: Form = Form::row(
    "BREAK",
    6,
    "ff0ffc00ff00",
    "8f0554000000",
    Mark::Hw,
    "isa-2 6.8",
    "drop lanes through n scopes",
)
.op(&[(0, "break")])
.args(&[
    // The loop's nesting level, outermost = 1, is also the predicate bank tested.
    Operand::new("depth", Role::Use, File::Predicate, &[(40, 47)]).max(5),
])
.mods(&[Modifier::new("scopes2", &[(24, 31)])
    .legal(Legal::Range(2, 255))
    .default(2)])
.waits(WAIT)
.check(|i| match i.raw(0) {
    0 => Err(Illegal::rule("depth", 0, "1..=5")),
    _ => Ok(()),
})
.flow(Flow::Break);

pub(super) const CALL_BR: Form = Form::row(
    "CALL_BR",
    10,
    "ff0ffc000000000000ff",
    "8f005400000000000000",
    Mark::HwA18,
    "isa-2 6.11",
    "branch with link",
)
.op(&[(0, "call")])
.mods(&[DISPLACEMENT])
.waits(WAIT)
.do_not_emit("calls are inlined")
.flow(Flow::Call);

pub(super) const RET: Form = Form::row(
    "RET.4",
    4,
    "ff0ffc00",
    "8f025400",
    Mark::HwA18,
    "isa-2 6.11",
    "return (byte 3 = 0); byte 3 = 1 only in the arena terminals (OPAQUE)",
)
.op(&[(0, "ret")])
.mods(&[Modifier::opaque("b3", &[(24, 31)], &[0, 1])])
.waits(WAIT)
.do_not_emit("calls are inlined")
.flow(Flow::Return);

pub(super) const CALL_FRAME: Form = Form::row(
    "CALL_FRAME",
    6,
    "ffffffffff00",
    "6f0304000000",
    Mark::HwA18,
    "isa-2 6.11",
    "frame set-up",
)
.op(&[(0, "call_frame")])
.mods(&[Modifier::new("bytes", &[(40, 47)]).legal(Legal::Multiple(16))])
.do_not_emit("calls are inlined");

pub(super) const CALL_LINK: Form = Form::row(
    "CALL_LINK",
    8,
    "ff0ffcffff000000",
    "0700540081000000",
    Mark::HwA18,
    "isa-2 6.11",
    "save / restore link",
)
.op(&[(0, "call_link")])
.mods(&[Modifier::opaque("dir", &[(40, 63)], &[0, 0x1f_ff])])
.waits(WAIT)
.do_not_emit("calls are inlined");

/// Memory class (isa-4, 9.1). M4 showed no difference between values; the ones seen are treated as
/// required, as the reference asks.
const MEMORY_CLASS: Modifier = {
    let mut class = Modifier::new("class", &[(25, 31)])
        .names(&[
            (0x20, "none"),
            (0x30, "threadgroup"),
            (0x42, "device"),
            (0x28, "texture_acquire"),
            (0x68, "texture_release"),
        ])
        .dot();
    class.class = Class::Opaque;
    class
};

pub(super) const BARRIER: Form = Form::row(
    "BARRIER",
    6,
    "ff0ffc0000ff",
    "070454000000",
    Mark::Hw,
    "isa-2 7.1",
    "compute barrier / fence",
)
.ops(Opcode::by(&[(24, 24)], &[(1, "barrier"), (0, "fence")]))
.mods(&[
    MEMORY_CLASS,
    Modifier::opaque("flags", &[(32, 39)], &[0x09, 0x0a, 0x08, 0x06, 0x0e]),
])
.waits(WAIT)
.drains();

/// Known immediates of the tile transactions (isa-3, 4.5).
pub(super) const TILE_ACCESS: Form = Form::row(
    "TILE_ACCESS",
    6,
    "ff0ffc0000ff",
    "870254000000",
    Mark::Hw,
    "isa-3 4.5",
    "tile transaction open",
)
.op(&[(0, "tile_access")])
.mods(&[Modifier::opaque(
    "imm",
    &[(24, 39)],
    &[0x600, 0x700, 0xf00, 0x808, 0x80c, 0x001],
)])
.waits(WAIT)
.drains();

pub(super) const TILE_FENCE: Form = Form::row(
    "TILE_FENCE",
    6,
    "ff0ffc0000ff",
    "070254000000",
    Mark::Hw,
    "isa-3 4.5",
    "tile transaction close",
)
.op(&[(0, "tile_fence")])
.mods(&[Modifier::opaque("imm", &[(24, 39)], &[0x20c, 0x300, 0x001])])
.waits(WAIT)
.drains();

/// The storage configurations of launch, 4.5. Bits 32..40 tell them apart; the threadgroup size
/// n is `(n << 2) | 0x80` from bit 32 on and a multiple of 128, so that n / 128 starts at bit 41.
const ALLOC_CONFIG: Modifier = Modifier::new("config", &[(32, 40)])
    .names(&[
        (0, "none"),
        (0x80, "threadgroup"),
        (0x4b, "tile"),
        (0x43, "tile_4x"),
    ])
    .dot();

const UNITS: Modifier = Modifier::new("units", &[(24, 31)]).default(0x41);
const TG_BLOCKS: Modifier = Modifier::new("tg128", &[(41, 55)]);
const ALLOC_F23: Modifier = Modifier::flag("f23", 23);

fn alloc_config(i: &Instr) -> Result<(), Illegal> {
    let units = UNITS.of(i);
    let (high, blocks) = (ALLOC_F23.of(i), TG_BLOCKS.of(i));
    let legal = match ALLOC_CONFIG.of(i) {
        0 => units == 0x41 && blocks == 0 && high == 0,
        // At most 32 KiB.
        0x80 => units == 0x41 && (1..=256).contains(&blocks) && high == 0,
        // Eight bytes of tile memory a unit u: 0x41 + 2u with 1 sample, 0x40 + 2u with 2.
        0x4b => (0x40..=0x61).contains(&units) && blocks == 0 && high == 0,
        // 2u with 4 samples.
        _ => units.is_multiple_of(2) && units <= 0x10 && blocks == 0 && high == 1,
    };
    if legal {
        Ok(())
    } else {
        Err(Illegal::rule(
            "units",
            units,
            "a configuration of launch, 4.5",
        ))
    }
}

pub(super) const ALLOC: Form = Form::row(
    "ALLOC",
    8,
    "ffff7f00000000ff",
    "77002a0000000000",
    Mark::Hw,
    "launch 4.5",
    "allocate tile / threadgroup memory",
)
.op(&[(0, "alloc")])
.mods(&[ALLOC_CONFIG, UNITS, TG_BLOCKS, ALLOC_F23])
.check(alloc_config);

/// `t2:t1:t0` of launch, 4.6: 2 * entry offset + 0x2a; the offset is even.
const TARGET_FIELD: Modifier = Modifier::new("t", &[(16, 39)]).default(0x2a);

pub(super) const TARGET: Form = Form::row(
    "TARGET",
    10,
    "ffff000000ffffffffff",
    "77010000000000028000",
    Mark::Hw,
    "launch 4.6",
    "select the entry",
)
.op(&[(0, "target")])
.mods(&[TARGET_FIELD])
.check(|i| {
    let entry = TARGET_FIELD.of(i);
    if entry >= 0x2a && (entry - 0x2a).is_multiple_of(4) {
        Ok(())
    } else {
        Err(Illegal::rule("t", entry, "2 * (even entry offset) + 0x2a"))
    }
});

pub(super) const FRAME: Form = Form::row(
    "FRAME",
    10,
    "ffffff7f0000000000ff",
    "f7002a00000000000000",
    Mark::Hw,
    "launch 4.7",
    "publication and scratch extents",
)
.op(&[(0, "frame")])
.mods(&[
    // Pairs of publication words: ceil(P / 2), the `p` of the reference divided by 0x80.
    Modifier::new("pairs", &[(31, 39)]),
    Modifier::new("a", &[(40, 55)]),
    Modifier::new("b", &[(56, 71)]),
]);
