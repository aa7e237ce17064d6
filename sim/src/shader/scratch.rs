// SPDX-License-Identifier: MIT
//! Per-thread scratch: SCR_SAVE, SCR_FILL, PRIV_LOAD, PRIV_STORE (isa-2, 4; HW).
//!
//! All four see one frame of 32-bit words in each lane. The launch gives its size in bytes, extent A
//! of FRAME: word w is usable when 4 * (w + 1) <= A, byte exact (launch, 4.7; HW). The reference says
//! that an access past it "fails", not how: strict mode faults, else words there read 0 and keep
//! nothing. Unwritten words read 0; the hardware's content is undefined (isa-2, 10.4).
//!
//! The word of an indexed access is `r[index] + offset` with the index zero-extended and not wrapped at
//! 32 bits, by analogy with device addresses (isa-2, 2.1); the reference does not say. Destroyed
//! operands need nothing here.

use agx_isa::{File, FormId, Instr, Value};

use super::device::lanes_of;
use super::lanes::{LANES, Lanes};
use super::microop::{MicroOp, Step};
use super::operand::{Dst, Src};
use super::wave::Wave;
use crate::fault::FaultKind;

/// Whole words of the frame.
#[inline(always)]
fn extent(wave: &Wave<'_>) -> u64 {
    u64::from(wave.group.dispatch.scratch_bytes / 4)
}

/// Strict mode: the fault of an access of `word` by `lane`.
#[cold]
#[inline(never)]
fn past_end(wave: &mut Wave<'_>, word: u64, lane: usize, access: &'static str) -> Step {
    let fault = FaultKind::Memory {
        access,
        va: 4 * word,
        bytes: 4,
        reason: "past the scratch extent A",
    };
    wave.fail(fault, Some(lane as u8))
}

/// The lanes of frame word `word`, which is inside the extent; makes the frame long enough.
#[inline(always)]
fn row<'w>(wave: &'w mut Wave<'_>, word: usize) -> &'w mut [u32] {
    let end = (word + 1) * LANES;
    if wave.scratch.len() < end {
        wave.scratch.resize(end, 0);
    }
    &mut wave.scratch[end - LANES..end]
}

/// Source 0 goes to word immediate 0.
#[inline(always)]
fn run_save(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    let word = u64::from(op.imm[0]);
    if word >= extent(wave) {
        return outside(wave, word, "store to scratch");
    }
    let mut temp = Lanes::ZERO;
    let value = *wave.read(&op.src[0], &mut temp);
    let mask = *wave.active_lanes();
    let row = row(wave, word as usize);
    for (lane, word) in row.iter_mut().enumerate() {
        *word = *word & !mask.0[lane] | value.0[lane] & mask.0[lane];
    }
    Step::Next
}

#[inline(always)]
fn run_fill(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    let word = u64::from(op.imm[0]);
    let mut out = Lanes::ZERO;
    if word >= extent(wave) {
        if outside(wave, word, "load from scratch") == Step::Fault {
            return Step::Fault;
        }
    } else {
        out.0.copy_from_slice(row(wave, word as usize));
    }
    wave.write(op.dst, &out);
    Step::Next
}

/// An access of one word by all active lanes, outside the extent.
#[cold]
fn outside(wave: &mut Wave<'_>, word: u64, access: &'static str) -> Step {
    if wave.group.dispatch.strict && wave.active() != 0 {
        let lane = wave.active().trailing_zeros() as usize;
        return past_end(wave, word, lane, access);
    }
    Step::Next
}

/// The word of each lane: source 0 plus immediate 0.
#[inline(always)]
fn words(wave: &Wave<'_>, op: &MicroOp) -> [u64; LANES] {
    let mut temp = Lanes::ZERO;
    let index = wave.read(&op.src[0], &mut temp);
    std::array::from_fn(|lane| u64::from(index.0[lane]) + u64::from(op.imm[0]))
}

/// Strict mode: the first active lane outside the extent.
#[inline(always)]
fn first_outside(wave: &Wave<'_>, words: &[u64; LANES]) -> Option<usize> {
    if !wave.group.dispatch.strict {
        return None;
    }
    lanes_of(wave.active()).find(|&lane| words[lane] >= extent(wave))
}

#[inline(always)]
fn run_load(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    let words = words(wave, op);
    if let Some(lane) = first_outside(wave, &words) {
        return past_end(wave, words[lane], lane, "load from scratch");
    }
    let mut out = Lanes::ZERO;
    let extent = extent(wave);
    for lane in lanes_of(wave.active()) {
        let at = words[lane] as usize * LANES + lane;
        // Words past the end of what was ever written read 0.
        if words[lane] < extent && at < wave.scratch.len() {
            out.0[lane] = wave.scratch[at];
        }
    }
    wave.write(op.dst, &out);
    Step::Next
}

#[inline(always)]
fn run_store(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    let words = words(wave, op);
    if let Some(lane) = first_outside(wave, &words) {
        return past_end(wave, words[lane], lane, "store to scratch");
    }
    let mut temp = Lanes::ZERO;
    let data = *wave.read(&op.src[1], &mut temp);
    let extent = extent(wave);
    for lane in lanes_of(wave.active()) {
        if words[lane] < extent {
            row(wave, words[lane] as usize)[lane] = data.0[lane];
        }
    }
    Step::Next
}

crate::kernel! {
    save = run_save;
    fill = run_fill;
    private_load = run_load;
    private_store = run_store;
}

/// Operand `index`, a frame word.
fn frame_word(instr: &Instr, index: usize) -> Option<u32> {
    match instr.arg(index).value {
        Value::Reg(reg) if reg.file == File::Scratch => Some(u32::from(reg.index)),
        _ => None,
    }
}

/// Operand `index`, a constant.
fn constant(instr: &Instr, index: usize) -> Option<u32> {
    match instr.arg(index).value {
        Value::Int(value) => u32::try_from(value).ok(),
        _ => None,
    }
}

pub(super) fn lower(instr: &Instr) -> Option<MicroOp> {
    Some(match instr.id() {
        FormId::ScrSave => MicroOp::new(save())
            .srcs([Src::of(instr, 1)?])
            .imms([frame_word(instr, 0)?]),
        FormId::ScrFill => MicroOp::new(fill())
            .dst(Dst::of(instr, 0)?)
            .imms([frame_word(instr, 1)?]),
        FormId::PrivLoad => MicroOp::new(private_load())
            .dst(Dst::of(instr, 0)?)
            .srcs([Src::of(instr, 1)?])
            .imms([constant(instr, 2)?]),
        FormId::PrivStore => MicroOp::new(private_store())
            .srcs([Src::of(instr, 1)?, Src::of(instr, 0)?])
            .imms([constant(instr, 2)?]),
        _ => return None,
    })
}
