// SPDX-License-Identifier: MIT
//! The blocks of launch programs (launch, 4.5 to 4.7).
//!
//! ALLOC, TARGET and FRAME leave their bits in [`Wave::launch`]; when one runs several times the last
//! counts. Who starts the main program reads them through the methods of [`LaunchState`]. ALLOC's
//! storage for other stages is recorded like that for compute programs; the dispatch refuses it. The
//! constants in these blocks are OPAQUE and checked by the decoder. In a compute program they fault.

use agx_isa::{FormId, Instr};

use super::control::LaunchState;
use super::group::Stage;
use super::microop::{MicroOp, Step};
use super::wave::Wave;
use crate::fault::FaultKind;

/// On-chip storage that ALLOC asks for (launch, 4.5; HW).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// None: a vertex program, or a compute program without threadgroup memory.
    None,
    /// Threadgroup memory.
    Threadgroup {
        /// Bytes, a multiple of 128.
        bytes: u32,
    },
    /// Tile memory of a fragment program.
    Tile {
        /// Samples a pixel: 1, 2 or 4.
        samples: u32,
        /// Bytes a sample, a multiple of 8.
        bytes: u32,
    },
}

/// What FRAME says (launch, 4.7; HW).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extents {
    /// Publication words, rounded up to an even number.
    pub publications: u32,
    /// Extent A: bytes of scratch of each lane.
    pub scratch: u32,
    /// Extent B; its role is unknown (OPAQUE).
    pub b: u32,
}

/// A field of an instruction that the launch program executed.
fn field(id: FormId, bits: Option<u128>, name: &str) -> Option<u32> {
    let instr = Instr::from_word(id, bits?).ok()?;
    instr.modifier(name).map(|value| value as u32)
}

impl LaunchState {
    /// ALLOC's storage; `None` when there was no ALLOC.
    #[must_use]
    pub fn storage(&self) -> Option<Storage> {
        let number = |name| field(FormId::Alloc, self.alloc, name);
        let units = number("units")?;
        Some(match number("config")? {
            0x80 => Storage::Threadgroup {
                bytes: number("tg128")? * 128,
            },
            // 0x41 + 2u with one sample, 0x40 + 2u with two; u units of 8 bytes.
            0x4b => Storage::Tile {
                samples: 2 - units % 2,
                bytes: units.saturating_sub(0x40) / 2 * 8,
            },
            0x43 => Storage::Tile {
                samples: 4,
                bytes: units / 2 * 8,
            },
            _ => Storage::None,
        })
    }

    /// TARGET's entry: bytes from the start of the window; `None` when there was no TARGET.
    #[must_use]
    pub fn entry_offset(&self) -> Option<u32> {
        let value = field(FormId::Target, self.target, "t")?;
        Some(value.checked_sub(0x2a)? / 2)
    }

    /// FRAME's extents; `None` when there was no FRAME.
    #[must_use]
    pub fn extents(&self) -> Option<Extents> {
        let number = |name| field(FormId::Frame, self.frame, name);
        Some(Extents {
            publications: number("pairs")? * 2,
            scratch: number("a")?,
            b: number("b")?,
        })
    }
}

/// The fault of an instruction that only launch programs may execute, when this is none.
#[inline(always)]
pub(super) fn outside_launcher(wave: &mut Wave<'_>) -> Option<Step> {
    if wave.group.dispatch.stage == Stage::Launcher {
        None
    } else {
        Some(refuse(wave))
    }
}

#[cold]
fn refuse(wave: &mut Wave<'_>) -> Step {
    let stage = wave.group.dispatch.stage.name();
    let reason = format!("an instruction of launch programs in a {stage} program");
    wave.fail(FaultKind::IllegalInstruction(reason), None)
}

/// The instruction's bits stand in the numbers.
#[inline(always)]
fn record(
    wave: &mut Wave<'_>,
    op: &MicroOp,
    place: impl Fn(&mut LaunchState) -> &mut Option<u128>,
) -> Step {
    if let Some(fault) = outside_launcher(wave) {
        return fault;
    }
    let bits = op
        .imm
        .iter()
        .rev()
        .fold(0, |bits, &word| bits << 32 | u128::from(word));
    *place(&mut wave.launch) = Some(bits);
    Step::Next
}

#[inline(always)]
fn run_alloc(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    record(wave, op, |state| &mut state.alloc)
}

#[inline(always)]
fn run_target(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    record(wave, op, |state| &mut state.target)
}

#[inline(always)]
fn run_frame(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    record(wave, op, |state| &mut state.frame)
}

crate::kernel! {
    alloc = run_alloc;
    target = run_target;
    frame = run_frame;
}

pub(super) fn lower(instr: &Instr) -> Option<MicroOp> {
    let exec = match instr.id() {
        FormId::Alloc => alloc(),
        FormId::Target => target(),
        FormId::Frame => frame(),
        _ => return None,
    };
    let bits = instr.bits();
    let words = std::array::from_fn(|i| (bits >> (32 * i)) as u32);
    Some(MicroOp::new(exec).imms::<4>(words))
}
