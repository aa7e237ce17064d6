// SPDX-License-Identifier: MIT
//! Device atomics: DEV_ATOMIC with and without index, ATOMIC_RESULT (isa-2, 5; isa-4, 3).
//!
//! The address is `base64 + 4 * zero_extend(index32)`, modulo 2^43 as for loads. A misaligned one is
//! rounded down to the word, as every other unit of device memory is (isa-2, 2.5; measured for loads
//! and stores, INFERRED here). Each active lane performs one atomic read-modify-write on the host's
//! memory, in ascending order of lanes, relaxed (isa-4, 9.2; HW): only fences order other accesses
//! around it. Outside mapped memory the old value is 0 and nothing changes (isa-2, 2.6; HW); an
//! atomic needs both permissions.
//!
//! Old values wait in [`Wave::atomic_result`] until ATOMIC_RESULT names their register. The program
//! builder has made sure that it follows (isa-0, 1.4); an ATOMIC_RESULT that is reached in another way
//! faults.
//!
//! The fp32 addition (HW) follows the fp32 datapath: subnormal operands and results are flushed, NaN
//! is canonical (isa-4, 11.2, which does not speak of atomics: INFERRED). The old value is returned as
//! it was.
//!
//! Strict mode also wants 4 bytes of scratch extent A for an atomic that returns its value: with
//! less, the hardware fails (launch, 4.7; HW).

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use agx_isa::{FormId, Instr};

use super::alu::float32::{finish, flush};
use super::device;
use super::lanes::Lanes;
use super::microop::{Exec, MicroOp, Step};
use super::operand::{Dst, Src};
use super::wave::{GPRS, Wave};
use crate::fault::FaultKind;
use crate::memory::Access;

/// Operation codes (isa-2, 5.1; HW).
pub(super) mod code {
    pub(crate) const ADD: u32 = 0x10;
    pub(crate) const AND: u32 = 0x11;
    pub(crate) const COMPARE_EXCHANGE: u32 = 0x12;
    pub(crate) const FADD: u32 = 0x13;
    pub(crate) const IMAX: u32 = 0x14;
    pub(crate) const IMIN: u32 = 0x15;
    pub(crate) const OR: u32 = 0x16;
    pub(crate) const SUB: u32 = 0x1b;
    pub(crate) const UMAX: u32 = 0x1c;
    pub(crate) const UMIN: u32 = 0x1d;
    pub(crate) const EXCHANGE: u32 = 0x1e;
    pub(crate) const XOR: u32 = 0x1f;
}

/// fp32 addition on bit patterns.
#[inline(always)]
pub(super) fn fadd(a: u32, b: u32) -> u32 {
    finish::<false>(f32::from_bits(flush(a)) + f32::from_bits(flush(b)))
}

/// Performs operation `OP` and answers the old value. `data` is the operand, or the desired value of
/// a compare-exchange that wants `compare`.
#[inline(always)]
fn modify<const OP: u32>(word: &AtomicU32, data: u32, compare: u32) -> u32 {
    match OP {
        code::ADD => word.fetch_add(data, Relaxed),
        code::AND => word.fetch_and(data, Relaxed),
        code::COMPARE_EXCHANGE => match word.compare_exchange(compare, data, Relaxed, Relaxed) {
            Ok(old) | Err(old) => old,
        },
        code::FADD => {
            let sum = |old| Some(fadd(old, data));
            match word.fetch_update(Relaxed, Relaxed, sum) {
                Ok(old) | Err(old) => old,
            }
        }
        code::IMAX => signed(word, data, i32::max),
        code::IMIN => signed(word, data, i32::min),
        code::OR => word.fetch_or(data, Relaxed),
        code::SUB => word.fetch_sub(data, Relaxed),
        code::UMAX => word.fetch_max(data, Relaxed),
        code::UMIN => word.fetch_min(data, Relaxed),
        code::EXCHANGE => word.swap(data, Relaxed),
        _ => word.fetch_xor(data, Relaxed),
    }
}

#[inline(always)]
fn signed(word: &AtomicU32, data: u32, choose: impl Fn(i32, i32) -> i32) -> u32 {
    let chosen = |old| Some(choose(old as i32, data as i32) as u32);
    match word.fetch_update(Relaxed, Relaxed, chosen) {
        Ok(old) | Err(old) => old,
    }
}

/// Sources as for [`device::addresses`]; immediate 2 is the data register, immediate 3 says whether
/// the old values are returned.
#[inline(always)]
fn run<const OP: u32>(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    let addresses = device::addresses(wave, op);
    let returns = op.imm[3] != 0;
    if wave.group.dispatch.strict {
        if returns && wave.group.dispatch.scratch_bytes < 4 && wave.active() != 0 {
            let rule = "an atomic that returns its value needs 4 bytes of scratch extent A";
            return wave.fail(FaultKind::Strict(rule.to_owned()), None);
        }
        if let Some(fault) = device::check(wave, &addresses, 4, 1, Access::ReadWrite) {
            return fault;
        }
    }
    // Lowering has made sure that the registers exist.
    let first = op.imm[2] as usize;
    let data = wave.gprs[first];
    let compare = if OP == code::COMPARE_EXCHANGE {
        wave.gprs[first + 1]
    } else {
        Lanes::ZERO
    };
    let mut old = Lanes::ZERO;
    for lane in device::lanes_of(wave.storing()) {
        let address = addresses[lane] & !3;
        if let Some(host) = wave.group.tlb.translate(address, Access::ReadWrite) {
            // SAFETY: a multiple of four in a mapped page, which stays mapped while the command runs.
            let word = unsafe { AtomicU32::from_ptr(host.cast()) };
            old.0[lane] = modify::<OP>(word, data.0[lane], compare.0[lane]);
        }
    }
    if returns {
        wave.atomic_result = Some(old);
    }
    Step::Next
}

#[inline(always)]
fn run_result(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    let Some(old) = wave.atomic_result.take() else {
        return no_result(wave);
    };
    wave.write(op.dst, &old);
    Step::Next
}

#[cold]
fn no_result(wave: &mut Wave<'_>) -> Step {
    let reason = "ATOMIC_RESULT stands only directly behind an atomic that returns its value";
    wave.fail(FaultKind::IllegalInstruction(reason.to_owned()), None)
}

#[inline(always)]
fn run_unknown(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    let reason = format!("atomic operation {:#x} is not known", op.imm[0]);
    wave.fail(FaultKind::IllegalInstruction(reason), None)
}

crate::kernel! {
    add = run::<{ code::ADD }>;
    and = run::<{ code::AND }>;
    compare_exchange = run::<{ code::COMPARE_EXCHANGE }>;
    float_add = run::<{ code::FADD }>;
    imax = run::<{ code::IMAX }>;
    imin = run::<{ code::IMIN }>;
    or = run::<{ code::OR }>;
    sub = run::<{ code::SUB }>;
    umax = run::<{ code::UMAX }>;
    umin = run::<{ code::UMIN }>;
    exchange = run::<{ code::EXCHANGE }>;
    xor = run::<{ code::XOR }>;
    result = run_result;
    unknown_kernel = run_unknown;
}

/// A micro-op that faults because the operation code is unknown.
pub(super) fn unknown(op: u32) -> MicroOp {
    MicroOp::new(unknown_kernel()).imms([op])
}

/// The data register of an atomic, when it and a second one for a compare-exchange exist.
pub(super) fn data_register(instr: &Instr, operand: usize, op: u32) -> Option<u8> {
    let Src { index, .. } = Src::of(instr, operand).filter(Src::is_plain)?;
    let last = usize::from(index) + usize::from(op == code::COMPARE_EXCHANGE);
    (last < GPRS).then_some(index)
}

pub(super) fn lower(instr: &Instr) -> Option<MicroOp> {
    let index = match instr.id() {
        FormId::DevAtomic => Src::of(instr, 2)?,
        FormId::DevAtomic0 => Src::ZERO,
        FormId::AtomicResult => return Some(MicroOp::new(result()).dst(Dst::of(instr, 0)?)),
        _ => return None,
    };
    let op = instr.modifier("op")? as u32;
    let exec: Exec = match op {
        code::ADD => add(),
        code::AND => and(),
        code::COMPARE_EXCHANGE => compare_exchange(),
        code::FADD => float_add(),
        code::IMAX => imax(),
        code::IMIN => imin(),
        code::OR => or(),
        code::SUB => sub(),
        code::UMAX => umax(),
        code::UMIN => umin(),
        code::EXCHANGE => exchange(),
        code::XOR => xor(),
        _ => return Some(unknown(op)),
    };
    let data = data_register(instr, 0, op)?;
    let returns = u32::from(instr.wants_atomic_result());
    let [low, high] = device::base(instr, 1)?;
    Some(
        MicroOp::new(exec)
            .srcs([low, high, index])
            .imms([0, 2, u32::from(data), returns]),
    )
}
