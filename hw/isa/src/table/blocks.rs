// SPDX-License-Identifier: MIT
//! Operand layouts that many forms share (isa-1, 1.9). Names follow the reference: D destination,
//! A, B, C sources, T and F the two values of a select.

use crate::bits::{Bit, Bits};
use crate::form::{Alt, Constant, File, Modifier, Operand, Role};

const fn def(index: &[(u8, u8)]) -> Operand {
    Operand::new("D", Role::Def, File::Gpr, index)
}

const fn source(name: &'static str, index: &[(u8, u8)]) -> Operand {
    Operand::new(name, Role::Use, File::Gpr, index)
}

/// Scattered, 4-byte forms and `FMA.6`: D in bits 4..7, 22..23, r0..r63.
pub(super) const D4: Operand = def(&[(4, 7), (22, 23)]);
/// Scattered, two-source: D in bits 4..7, 22..23, 44.
pub(super) const D2: Operand = def(&[(4, 7), (22, 23), (44, 44)]);
/// Scattered, long: D in bits 4..7, 22..23, 60.
pub(super) const D3: Operand = def(&[(4, 7), (22, 23), (60, 60)]);
/// Scattered, 4-byte: A in bits 9..14.
pub(super) const A4: Operand = source("A", &[(9, 14)]).rel(19).keep(15);
/// Scattered, two-source: A in bits 9..14, 40.
pub(super) const A2: Operand = source("A", &[(9, 14), (40, 40)]).rel(19).keep(15);
/// Scattered, long: A in bits 9..14, 56.
pub(super) const A3: Operand = source("A", &[(9, 14), (56, 56)]).rel(19).keep(15);
/// Scattered, 4-byte: B in bits 25..30.
pub(super) const B4: Operand = source("B", &[(25, 30)]).rel(20).keep(31);
/// Scattered, two-source: B in bits 25..30, 42.
pub(super) const B2: Operand = source("B", &[(25, 30), (42, 42)]).rel(20).keep(31);
/// Scattered, long: B in bits 25..30, 58.
pub(super) const B3: Operand = source("B", &[(25, 30), (58, 58)]).rel(20).keep(31);
/// Scattered, long: C or T in bits 41..46, 38.
pub(super) const C3: Operand = source("C", &[(41, 46), (38, 38)]).rel(39).keep(47);
/// Scattered, long: F in bits 73..78, 70.
pub(super) const F3: Operand = source("F", &[(73, 78), (70, 70)]).rel(71).keep(79);

/// `A2` that may be a uniform or a minifloat.
pub(super) const A2_FLOAT: Operand = A2.scattered(39, Constant::Float);
/// `B2` that may be a uniform or a minifloat.
pub(super) const B2_FLOAT: Operand = B2.scattered(41, Constant::Float);

/// Wide: D in bits 25..31, r0..r95.
pub(super) const DW: Operand = def(&[(25, 31)]);
/// Wide uniform destination: U in bits 25..32.
pub(super) const UW: Operand = Operand::new("U", Role::Def, File::Uniform, &[(25, 32)]);
/// Wide: A in bits 42..48.
pub(super) const AW: Operand = source("A", &[(42, 48)]);
/// Wide: B in bits 51..57.
pub(super) const BW: Operand = source("B", &[(51, 57)]);
/// Wide: C in bits 60..66.
pub(super) const CW: Operand = source("C", &[(60, 66)]);

/// Uniform or inline constant of a wide integer form.
pub(super) const fn wide_alt(gpr: u8, constant: (u8, u8)) -> Alt {
    Alt::Wide {
        gpr: Bit::at(gpr),
        constant: Bits::new(&[constant]),
    }
}

/// A register operand of the fragment, memory and subgroup forms, r0..r63 by field width.
pub(super) const fn gpr(name: &'static str, role: Role, index: &[(u8, u8)]) -> Operand {
    Operand::new(name, role, File::Gpr, index)
}

/// Bit 21 of the scattered forms: destination state hint (isa-1, 1.7).
pub(super) const PUB: Modifier = Modifier::hint("pub", 21, 1);
/// Bit 32 of the wide forms: destination cache hint, usually 1 (isa-0, 3, "wide bit 32").
pub(super) const HINT1: Modifier = Modifier::hint("hint", 32, 1);
/// Bit 32 of the wide forms, written 0 by the proven compiler in integer forms.
pub(super) const HINT0: Modifier = Modifier::hint("hint", 32, 0);
