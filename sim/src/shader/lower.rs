// SPDX-License-Identifier: MIT
//! Instruction to micro-op: which family answers for which form.

use agx_isa::Instr;

use super::microop::{MicroOp, Step};
use super::wave::Wave;
use super::{
    alu, atomic, barrier, control, device, fragment, launch, scratch, subgroup, texture,
    threadgroup, vertex,
};

/// Why there is no micro-op: the text of the fault when the program gets there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused(String);

impl Refused {
    /// With this reason.
    #[must_use]
    pub fn new(reason: &str) -> Refused {
        Refused(reason.to_owned())
    }

    /// Code that is not mapped.
    #[must_use]
    pub fn unmapped(address: u64) -> Refused {
        Refused(format!("no readable code at {address:#x}"))
    }

    /// The reason.
    #[must_use]
    pub fn reason(&self) -> &str {
        &self.0
    }
}

/// One lowering for each family: `None` for the forms of others.
const FAMILIES: &[fn(&Instr) -> Option<MicroOp>] = &[
    alu::float32::lower,
    alu::integer::lower,
    alu::logic::lower,
    alu::moves::lower,
    alu::compare::lower,
    alu::shift::lower,
    device::lower,
    control::lower,
    alu::float16::lower,
    alu::convert::lower,
    alu::special::lower,
    alu::pack::lower,
    alu::bits::lower,
    alu::cube::lower,
    alu::sysreg::lower,
    atomic::lower,
    threadgroup::lower,
    scratch::lower,
    subgroup::lower,
    barrier::lower,
    launch::lower,
    vertex::lower,
    fragment::interpolate::lower,
    fragment::tile::lower,
    fragment::coverage::lower,
    fragment::block::lower,
    texture::lower,
];

/// Lowers one instruction.
///
/// # Errors
/// When the reference gives the instruction no meaning.
pub fn lower(instr: &Instr) -> Result<MicroOp, Refused> {
    let lowered = FAMILIES.iter().find_map(|family| family(instr));
    lowered.ok_or_else(|| {
        Refused(format!(
            "{} is not simulated in this stage",
            instr.form().name
        ))
    })
}

/// A micro-op that faults; the reason stands in the program's [`super::OpInfo`].
#[must_use]
pub fn trap() -> MicroOp {
    MicroOp::new(trap_kernel())
}

#[inline(always)]
fn run_trap(_: &mut Wave<'_>, _: &MicroOp) -> Step {
    Step::Fault
}

crate::kernel! {
    trap_kernel = run_trap;
}
