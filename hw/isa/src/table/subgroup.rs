// SPDX-License-Identifier: MIT
//! Subgroup and quad operations (isa-2, 8; isa-4, 4).

use super::blocks::{DW, HINT1, gpr};
use crate::bits::{Bit, Bits};
use crate::form::{Alt, File, Form, Mark, Modifier, Opcode, Operand, Release, Role, Wait};
use crate::illegal::Illegal;
use crate::instr::{Instr, Value};

/// The wait mask worked in programs that ran on A18 Pro.
const WAIT: Wait = Wait::MASK12.unproven();
const SRC: Operand = gpr("src", Role::Use, &[(42, 48)]);

/// Operation by (opclass, op): bit 3 is opclass (isa-2, 8.1).
const OPERATIONS: &[(u64, &str)] = &[
    (0b1001, "iadd"),
    (0b0001, "xor"),
    (0b1000, "or"),
    (0b0000, "and"),
    (0b1010, "imax"),
    (0b0010, "imin"),
    (0b1011, "umax"),
    (0b0011, "umin"),
    (0b0110, "fadd"),
    (0b1110, "fmul"),
    (0b0100, "hadd"),
    (0b1100, "hmul"),
    (0b1101, "fmin"),
    (0b1111, "fmax"),
];

/// A type byte: what it does and whether it goes with a released source.
struct Type {
    code: u8,
    scan: bool,
    released: bool,
}

const fn ty(code: u8, scan: bool, released: bool) -> Type {
    Type {
        code,
        scan,
        released,
    }
}

/// The type bytes of each operation (isa-2, 8.1 and isa-4, 4.2). They are no regular pattern, so
/// nothing outside this list decodes. Bit 49 is the complement of `released`.
const TYPES: &[(u64, &[Type])] = &[
    (
        0b1001,
        &[
            ty(3, false, true),
            ty(1, false, false),
            ty(0x0b, true, true),
            ty(9, true, false),
        ],
    ),
    (0b1000, &[ty(3, false, true), ty(1, false, false)]),
    (0b0000, &[ty(3, false, true), ty(1, false, false)]),
    (0b0001, &[ty(3, false, true), ty(1, false, false)]),
    (0b1010, &[ty(7, false, true), ty(5, false, false)]),
    (0b0010, &[ty(7, false, true), ty(5, false, false)]),
    (0b1011, &[ty(3, false, true), ty(1, false, false)]),
    (
        0b0011,
        &[ty(3, false, true), ty(1, false, false), ty(7, true, true)],
    ),
    (0b0110, F32_TYPES),
    (0b1110, F32_TYPES),
    (0b1101, &[ty(0x12, false, true)]),
    (0b1111, &[ty(0x12, false, true)]),
    (0b0100, F16_TYPES),
    (0b1100, F16_TYPES),
];
const F32_TYPES: &[Type] = &[
    ty(0x12, false, true),
    ty(2, false, false),
    ty(0x32, true, true),
    ty(0x22, true, false),
];
const F16_TYPES: &[Type] = &[
    ty(8, false, true),
    ty(0x18, true, true),
    ty(0x10, true, false),
];

/// The type byte of a subgroup or quad reduction by the operation's name; `None` when that
/// combination is not known.
#[must_use]
pub fn reduce_type(operation: &str, scan: bool, released: bool) -> Option<u8> {
    let code = OPERATIONS.iter().find(|(_, name)| *name == operation)?.0;
    let (_, types) = TYPES.iter().find(|(op, _)| *op == code)?;
    types
        .iter()
        .find(|t| t.scan == scan && t.released == released)
        .map(|t| t.code)
}

const OPERATION: Modifier = Modifier::new("operation", &[(8, 10), (7, 7)])
    .names(OPERATIONS)
    .dot();
const TYPE: Modifier = Modifier::new("type", &[(56, 63)]).default(0x01);

fn known_type(i: &Instr) -> Result<(), Illegal> {
    let (op, code) = (OPERATION.of(i), TYPE.of(i));
    let released = !i.raw_bit(49);
    let known = TYPES
        .iter()
        .filter(|(o, _)| *o == op)
        .flat_map(|(_, types)| *types)
        .any(|t| u64::from(t.code) == code && t.released == released);
    if known {
        Ok(())
    } else {
        Err(Illegal::rule(
            "type",
            code,
            "a type byte of this operation and release (isa-2, 8.1)",
        ))
    }
}

/// Registers above r63 are not proven in subgroup operations (isa-2, 8).
fn low_registers(i: &Instr) -> Option<&'static str> {
    let high = |a: crate::Arg| matches!(a.value, Value::Reg(r) if r.index > 63);
    i.args()
        .any(high)
        .then_some("registers above r63 are not proven here")
}

pub(super) const SG_REDUCE: Form = Form::row(
    "SG_REDUCE",
    8,
    "7708fc01fe03fc00",
    "3700540002001400",
    Mark::Hw,
    "isa-2 8.1",
    "reduce / exclusive scan",
)
.ops(Opcode::by(
    &[(3, 3)],
    &[(1, "subgroup_reduce"), (0, "quad_reduce")],
))
.args(&[DW.named("dst"), SRC.rel_unless(49)])
.mods(&[OPERATION, TYPE, HINT1])
.waits(WAIT)
.check(known_type)
.emit_rule(low_registers);

const LANE_IS_REGISTER: Bit = Bit::at(67);
const SHUFFLE_SRC: Operand = {
    let mut src = SRC;
    src.release = Release::DestroyedIf(LANE_IS_REGISTER);
    src
};
const LANE: Operand = {
    let mut lane = Operand::new("lane", Role::Use, File::Gpr, &[(50, 55)])
        .half(49)
        .alt(Alt::Literal {
            gpr: Bits::new(&[(67, 68)]),
            literal: Bits::new(&[(49, 55)]),
            max: 127,
        });
    lane.release = Release::DestroyedIf(LANE_IS_REGISTER);
    lane
};

pub(super) const SG_SHUFFLE: Form = Form::row(
    "SG_SHUFFLE",
    10,
    "7f0afc01fe0300ff00ff",
    "470054000200002c0000",
    Mark::Hw,
    "isa-2 8.2",
    "broadcast / shuffle",
)
.op(&[(0, "shuffle")])
.args(&[
    DW.named("dst"),
    // The register-lane form destroys it.
    SHUFFLE_SRC,
    // Literal lane or xor mask, or 16-bit register (2 * GPR + half) that is destroyed.
    LANE,
])
.mods(&[
    Modifier::new("mode", &[(8, 8), (10, 10)])
        .names(&[
            (2, "subgroup"),
            (0, "quad"),
            (3, "subgroup_shift"),
            (1, "quad_shift"),
        ])
        .dot(),
    // 0 = broadcast / up, 1 = xor / down.
    Modifier::new("dir", &[(7, 7)])
        .names(&[(0, "lane"), (1, "xor")])
        .dot(),
    HINT1,
])
// lane_kind, bits 64..71: 0x04 = immediate, 0x1c = register.
.constant(&[(64, 71)], 0x04)
.waits(WAIT)
.emit_rule(low_registers);

pub(super) const SG_SHUFFLE12: Form = Form::row(
    "SG_SHUFFLE12",
    12,
    "7f0ffc01fe030000000000ff",
    "470654000200000000000000",
    Mark::HwA18,
    "isa-2 8.2",
    "rotate / shuffle-and-fill; not decoded",
)
.op(&[(0, "shuffle_fill")])
.args(&[DW.named("dst")])
.mods(&[
    Modifier::new("dir", &[(7, 7)])
        .names(&[(0, "fill"), (1, "rotate")])
        .dot(),
    HINT1,
    Modifier::opaque(
        "body",
        &[(42, 87)],
        &[0x0003_1114_0802 << 6, 0x0002_a214_0002 << 6],
    ),
])
.waits(WAIT)
.do_not_emit("operand fields are not decoded");

pub(super) const SG_BALLOT: Form = Form::row(
    "SG_BALLOT",
    10,
    "ff0ffc01fe03feffff00",
    "17075400020000582200",
    Mark::Hw,
    "isa-2 8.3",
    "ballot of A <> 0",
)
.op(&[(0, "ballot")])
.args(&[DW.named("dst"), SRC.destroyed()])
.mods(&[Modifier::opaque("test", &[(72, 79)], &[0x12, 0x04]), HINT1])
.waits(WAIT)
.emit_rule(low_registers);

pub(super) const SG_BALLOTC: Form = Form::row(
    "SG_BALLOTC",
    10,
    "ff0ffc01fe0100000000",
    "17075400020000000000",
    Mark::Cmp,
    "isa-4 4.3",
    "ballot of a compare; partly decoded",
)
.op(&[(0, "ballot_cmp")])
.args(&[DW.named("dst")])
.mods(&[
    // Compared values and condition: `00 14 48 22 0c` is r0 < 5, `02 04 08 02 08` is 1 == 1.
    Modifier::opaque(
        "body",
        &[(41, 79)],
        &[0x000c_2248_1400 >> 1, 0x0008_0208_0402 >> 1],
    ),
    HINT1,
])
.waits(WAIT)
.do_not_emit("the compare fields are not separated");
