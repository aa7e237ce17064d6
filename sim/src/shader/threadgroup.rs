// SPDX-License-Identifier: MIT
//! Threadgroup memory: TG_LOAD, TG_STORE, TG_ATOMIC0 (isa-2, 3; isa-4, 3.2 and 5).
//!
//! The index is the low half of a register and counts words from the start of the workgroup's
//! allocation; the forms without one take word 0. A workgroup's SIMD groups share one host thread, so
//! plain cells do, and an atomic is a plain read-modify-write. Lanes act in ascending order, hence the
//! highest active one of several that store to one word wins; the reference promises no order.
//!
//! **Root.** The opcode selects the space; the base pair "holds the value 0x80000000" (isa-2, 3.1;
//! HW). What another value does is not known. Here the access is then outside the allocation, as
//! launch, 11 suggests ("shared accesses are those whose base argument is `0x80000000`").
//!
//! **Outside** the allocation the hardware is uncharacterised (isa-2, 3.1): strict mode faults, else
//! loads and atomics read 0 and stores are dropped, as in device memory.
//!
//! The operation codes of atomics are those of device atomics (isa-2, 5.1), fp32 addition included,
//! which the vendor does not offer here (isa-4, 3.3). The indexed TG_ATOMIC is not decoded and refused
//! (isa-4, 3.2).

use agx_isa::{FormId, Instr, Value};

use super::atomic::{self, code};
use super::device::lanes_of;
use super::lanes::Lanes;
use super::microop::{Exec, MicroOp, Step};
use super::operand::{Dst, Place, Src};
use super::wave::Wave;
use crate::fault::FaultKind;

/// The root pointer of threadgroup memory (isa-2, 3.1; HW).
pub const ROOT: u64 = 0x8000_0000;

/// How many words may be accessed: none when the root is not [`ROOT`].
#[inline(always)]
fn extent(wave: &Wave<'_>, op: &MicroOp) -> usize {
    let root = wave.group.dispatch.uniforms.pair(op.imm[0] as u8);
    if root == ROOT {
        wave.group.shared.len()
    } else {
        0
    }
}

/// Strict mode: the fault of a wrong root, or of the first lane whose word is outside.
#[cold]
#[inline(never)]
fn check(
    wave: &mut Wave<'_>,
    op: &MicroOp,
    index: &Lanes,
    extent: usize,
    access: &'static str,
) -> Option<Step> {
    let wrong = |&lane: &usize| index.0[lane] as usize >= extent;
    let lane = lanes_of(wave.active()).find(wrong)?;
    let root = wave.group.dispatch.uniforms.pair(op.imm[0] as u8);
    let fault = if extent == 0 && root != ROOT {
        FaultKind::Strict(format!(
            "the threadgroup root is {root:#x}, not {ROOT:#x}, in uniform pair {}",
            op.imm[0]
        ))
    } else {
        FaultKind::Memory {
            access,
            va: ROOT + 4 * u64::from(index.0[lane]),
            bytes: 4,
            reason: "past the threadgroup allocation",
        }
    };
    Some(wave.fail(fault, Some(lane as u8)))
}

/// Source 0 is the index, immediate 0 the root's pair.
#[inline(always)]
fn run_load(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    let mut temp = Lanes::ZERO;
    let index = *wave.read(&op.src[0], &mut temp);
    let extent = extent(wave, op);
    if wave.group.dispatch.strict
        && let Some(fault) = check(wave, op, &index, extent, "threadgroup load")
    {
        return fault;
    }
    let shared = &wave.group.shared[..extent];
    let out = Lanes::from_fn(|lane| match shared.get(index.0[lane] as usize) {
        Some(word) => word.get(),
        None => 0,
    });
    wave.write(op.dst, &out);
    Step::Next
}

/// Source 0 is the index, source 1 the data, immediate 0 the root's pair.
#[inline(always)]
fn run_store(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    let (mut t0, mut t1) = (Lanes::ZERO, Lanes::ZERO);
    let index = *wave.read(&op.src[0], &mut t0);
    let data = *wave.read(&op.src[1], &mut t1);
    let extent = extent(wave, op);
    if wave.group.dispatch.strict
        && let Some(fault) = check(wave, op, &index, extent, "threadgroup store")
    {
        return fault;
    }
    let shared = &wave.group.shared[..extent];
    for lane in lanes_of(wave.active()) {
        if let Some(word) = shared.get(index.0[lane] as usize) {
            word.set(data.0[lane]);
        }
    }
    Step::Next
}

/// Source 0 is the data, source 1 what a compare-exchange compares, immediate 1 the operation.
#[inline(always)]
fn run_atomic(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    let (mut t0, mut t1) = (Lanes::ZERO, Lanes::ZERO);
    let data = *wave.read(&op.src[0], &mut t0);
    let compare = *wave.read(&op.src[1], &mut t1);
    let mut out = Lanes::ZERO;
    match wave.group.shared.first() {
        Some(word) => {
            for lane in lanes_of(wave.active()) {
                let old = word.get();
                out.0[lane] = old;
                word.set(modified(op.imm[1], old, data.0[lane], compare.0[lane]));
            }
        }
        None if wave.group.dispatch.strict && wave.active() != 0 => {
            let fault = FaultKind::Memory {
                access: "threadgroup atomic",
                va: ROOT,
                bytes: 4,
                reason: "past the threadgroup allocation",
            };
            return wave.fail(fault, Some(wave.active().trailing_zeros() as u8));
        }
        None => {}
    }
    wave.write(op.dst, &out);
    Step::Next
}

/// The new value of a word.
#[inline(always)]
fn modified(op: u32, old: u32, data: u32, compare: u32) -> u32 {
    match op {
        code::ADD => old.wrapping_add(data),
        code::AND => old & data,
        code::COMPARE_EXCHANGE if old == compare => data,
        code::COMPARE_EXCHANGE => old,
        code::FADD => atomic::fadd(old, data),
        code::IMAX => (old as i32).max(data as i32) as u32,
        code::IMIN => (old as i32).min(data as i32) as u32,
        code::OR => old | data,
        code::SUB => old.wrapping_sub(data),
        code::UMAX => old.max(data),
        code::UMIN => old.min(data),
        code::EXCHANGE => data,
        _ => old ^ data,
    }
}

#[inline(always)]
fn run_undecoded(wave: &mut Wave<'_>, _: &MicroOp) -> Step {
    let reason = "the operands of the indexed threadgroup atomic are not decoded (isa-4, 3.2)";
    wave.fail(FaultKind::IllegalInstruction(reason.to_owned()), None)
}

crate::kernel! {
    load = run_load;
    store = run_store;
    atomic_kernel = run_atomic;
    undecoded = run_undecoded;
}

/// The uniform pair of operand 1, the root.
fn root(instr: &Instr) -> Option<u32> {
    match instr.arg(1).value {
        Value::Reg(reg) => Some(u32::from(reg.index)).filter(|&pair| pair < 128),
        _ => None,
    }
}

/// The index: the low half of operand 2.
fn index(instr: &Instr) -> Option<Src> {
    let mut src = Src::of(instr, 2)?;
    src.place = match src.place {
        Place::Gpr | Place::Low => Place::Low,
        _ => return None,
    };
    Some(src)
}

pub(super) fn lower(instr: &Instr) -> Option<MicroOp> {
    let memory = |exec: Exec, index| Some(MicroOp::new(exec).imms([root(instr)?]).srcs([index]));
    match instr.id() {
        FormId::TgLoad => Some(memory(load(), index(instr)?)?.dst(Dst::of(instr, 0)?)),
        FormId::TgLoad0 => Some(memory(load(), Src::ZERO)?.dst(Dst::of(instr, 0)?)),
        FormId::TgStore => {
            let index = index(instr)?;
            Some(memory(store(), index)?.srcs([index, Src::of(instr, 0)?]))
        }
        FormId::TgStore0 => Some(memory(store(), Src::ZERO)?.srcs([Src::ZERO, Src::of(instr, 0)?])),
        FormId::TgAtomic0 => lower_atomic(instr),
        FormId::TgAtomic => Some(MicroOp::new(undecoded())),
        _ => None,
    }
}

fn lower_atomic(instr: &Instr) -> Option<MicroOp> {
    let op = instr.modifier("op")? as u32;
    if !matches!(op, code::ADD..=code::OR | code::SUB..=code::XOR) {
        return Some(atomic::unknown(op));
    }
    let data = atomic::data_register(instr, 1, op)?;
    let compare = if op == code::COMPARE_EXCHANGE {
        Src::gpr(data + 1)
    } else {
        Src::ZERO
    };
    let dst = match instr.arg(0).value {
        Value::Absent(_) => Dst::None,
        _ => Dst::of(instr, 0)?,
    };
    Some(
        MicroOp::new(atomic_kernel())
            .dst(dst)
            .srcs([Src::gpr(data), compare])
            .imms([0, op]),
    )
}
