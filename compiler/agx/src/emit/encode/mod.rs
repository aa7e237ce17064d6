// SPDX-License-Identifier: MIT
//! From one operation on registers to the machine instruction, or the fixed short sequence, that does it.
//!
//! Each function takes the shortest form that holds the operands and the waits. A form that cannot wait, or not for so
//! many slots, or not for that operand, simply does not: what the first instruction of the answer waits for is in its
//! wait field, and [`super::waits`] settles the rest before it.

mod build;
mod compare;
mod float;
mod half;
mod integer;
mod memory;
mod moves;
mod norm;
mod stage;
mod subgroup;
mod texture;

pub(crate) use compare::{always, predicate};
pub(crate) use moves::{literal, wait_move};

use agx_isa::{Instr as Machine, SlotMask};
use arrayvec::ArrayVec;

use super::accept;
use super::regs::RegSet;
use crate::ir::Instr;

/// Machine instructions of one operation.
pub(crate) type Sequence = ArrayVec<Machine, 3>;

/// What stands around an operation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Context {
    /// Slots to wait for.
    pub(crate) waits: SlotMask,
    /// Registers that those slots deliver.
    pub(crate) late: RegSet,
    /// The slot that a late result completes.
    pub(crate) slot: u8,
    /// Registers whose value nobody needs behind the operation.
    pub(crate) kills: RegSet,
    /// A register with a settled value, to be named where an operand's value does not matter.
    pub(crate) idle: Option<u8>,
}

impl Context {
    /// Nothing around it.
    pub(crate) const PLAIN: Context = Context {
        waits: SlotMask::NONE,
        late: RegSet::EMPTY,
        slot: 6,
        kills: RegSet::EMPTY,
        idle: None,
    };

    /// How many slots to wait for.
    fn wait_count(&self) -> u32 {
        self.waits.bits().count_ones()
    }
}

type Result<T> = std::result::Result<T, String>;

/// The machine instructions of an operation.
///
/// # Errors
/// What no proven encoding holds.
pub(crate) fn encode(instr: &Instr, ctx: &Context) -> Result<Sequence> {
    accept::check(instr)?;
    let one = |machine: Result<Machine>| Ok(Sequence::from_iter([machine?]));
    let result = match instr {
        Instr::Mov(op) => moves::mov(op, ctx),
        Instr::Imm(op) => one(moves::imm(op, ctx)),
        Instr::SysReg(op) => moves::system_register(op, ctx),
        Instr::Swap(op) => moves::swap(op, ctx),
        Instr::F2(op) => one(float::f2(op, ctx)),
        Instr::Fma(op) => one(float::fma(op, ctx)),
        Instr::MinMax(op) => one(float::min_max(op, ctx)),
        Instr::Sfu(op) => one(float::special(op, ctx)),
        Instr::IntToFloat(op) => one(float::from_int(op, ctx)),
        Instr::FloatToInt(op) => one(float::to_int(op, ctx)),
        Instr::H2(op) => one(half::h2(op, ctx)),
        Instr::HFma(op) => one(half::fma(op, ctx)),
        Instr::HMinMax(op) => one(half::min_max(op, ctx)),
        Instr::HMulMix(op) => one(half::mul_mix(op, ctx)),
        Instr::F32ToF16(op) => one(half::narrow(op.dst, &op.a, false, ctx)),
        Instr::F32ToF16High(op) => {
            tied(instr, op.dst, &op.old).and_then(|()| one(half::narrow(op.dst, &op.a, true, ctx)))
        }
        Instr::F16ToF32(op) => one(half::widen(op, ctx)),
        Instr::Logic(op) => one(integer::logic(op, ctx)),
        Instr::IAdd(op) => one(integer::add(op, ctx)),
        Instr::IMad(op) => one(integer::mad(op, ctx)),
        Instr::IMulWide(op) => one(integer::mul_wide(op, ctx)),
        Instr::IAdd64(op) => one(integer::add64(op, ctx)),
        Instr::ShiftImm(op) => one(integer::shift_imm(op, ctx)),
        Instr::Shift(op) => one(integer::shift(op, ctx)),
        Instr::Rotate(op) => {
            tied(instr, op.dst, &op.a).and_then(|()| one(integer::rotate(op, ctx)))
        }
        Instr::Zext16(op) => {
            tied(instr, op.dst, &op.a).and_then(|()| one(moves::zero_extend(op.dst)))
        }
        Instr::Bits(op) => one(integer::bits(op, ctx)),
        Instr::Select(op) => one(compare::select(op, ctx)),
        Instr::PackNorm16(op) => one(norm::pack16(op, ctx)),
        Instr::PackNorm8(op) => one(norm::pack8(op.dst, &op.a, &op.b, op.signed, false, ctx)),
        Instr::PackNorm8High(op) => tied(instr, op.dst, &op.old)
            .and_then(|()| one(norm::pack8(op.dst, &op.a, &op.b, op.signed, true, ctx))),
        Instr::UnpackNorm(op) => one(norm::unpack(op, ctx)),
        Instr::Load(op) => one(memory::load(op, ctx)),
        Instr::LoadHigh(op) => {
            tied(instr, op.dst, &op.old).and_then(|()| one(memory::load_high(op, ctx)))
        }
        Instr::Store(op) => one(memory::store(op, ctx)),
        Instr::Atomic(op) => memory::atomic(op, ctx),
        Instr::SharedLoad(op) => one(memory::shared_load(op, ctx)),
        Instr::SharedStore(op) => one(memory::shared_store(op, ctx)),
        Instr::ScratchLoad(op) => one(memory::scratch_load(op, ctx)),
        Instr::ScratchStore(op) => one(memory::scratch_store(op, ctx)),
        Instr::Spill(op) => one(memory::spill(op, ctx)),
        Instr::Fill(op) => one(memory::fill(op, ctx)),
        Instr::Ballot(op) => one(subgroup::ballot(op, ctx)),
        Instr::Shuffle(op) => one(subgroup::shuffle(op, ctx)),
        Instr::ShuffleImm(op) => one(subgroup::shuffle_imm(op, ctx)),
        Instr::Reduce(op) => one(subgroup::reduce(op, ctx)),
        Instr::Publish(op) => one(texture::publish(op, ctx)),
        Instr::Texture(op) => one(texture::bundle(op, ctx)),
        Instr::CubeFace(op) => one(texture::cube_face(op, ctx)),
        Instr::CubeCoord(op) => one(texture::cube_coord(op, ctx)),
        Instr::PublishDepth(op) => one(stage::publish_depth(op, ctx)),
        Instr::Export(op) => one(texture::publish_word(&op.src, op.word, ctx)),
        Instr::VertexOut(op) => one(stage::vertex_out(op, ctx)),
        Instr::Iter(op) => one(stage::iter(op, ctx)),
        Instr::IterFlat(op) => one(stage::iter_flat(op, ctx)),
        Instr::Project(op) => one(stage::project(op, ctx)),
        Instr::InterpPos(op) => one(stage::interp_pos(op, ctx)),
        Instr::Derivative(op) => one(stage::derivative(op, ctx)),
        Instr::TileAccess(op) => one(stage::tile_access(op, ctx)),
        Instr::TileFence(op) => one(stage::tile_fence(op, ctx)),
        Instr::TileLoad(op) => one(stage::tile_load(op, ctx)),
        Instr::TileStore(op) => one(stage::tile_store(op, ctx)),
        Instr::Coverage(op) => one(stage::coverage(op, ctx)),
        Instr::DepthStore(op) => one(stage::depth_store(op, ctx)),
        Instr::BlockStore(op) => one(stage::block_store(op, ctx)),
        Instr::Barrier(op) => subgroup::barrier(op),
    };
    result.map_err(|error| format!("`{instr}`: {error}"))
}

/// A source that the destination shares its register with.
fn tied(instr: &Instr, dst: crate::ir::Dst, src: &crate::ir::Src) -> Result<()> {
    match (dst.reg(), src.reg()) {
        (Some(d), Some(s)) if d == s => Ok(()),
        _ => Err(format!(
            "`{instr}`: source and destination are one register"
        )),
    }
}

/// Consecutive registers: the first one.
fn consecutive(srcs: &[crate::ir::Src]) -> Result<u8> {
    let regs: Option<ArrayVec<u8, 4>> = srcs.iter().map(crate::ir::Src::reg).collect();
    first_of(regs, || {
        let text: Vec<_> = srcs.iter().map(ToString::to_string).collect();
        format!("[{}] are no consecutive registers", text.join(" "))
    })
}

/// Consecutive registers: the first one.
fn consecutive_dsts(dsts: &[crate::ir::Dst]) -> Result<u8> {
    let regs: Option<ArrayVec<u8, 4>> = dsts.iter().map(crate::ir::Dst::reg).collect();
    first_of(regs, || {
        let text: Vec<_> = dsts.iter().map(ToString::to_string).collect();
        format!("[{}] are no consecutive registers", text.join(" "))
    })
}

fn first_of(regs: Option<ArrayVec<u8, 4>>, complaint: impl FnOnce() -> String) -> Result<u8> {
    match regs.as_deref() {
        Some([first, rest @ ..])
            if (1..)
                .zip(rest)
                .all(|(i, reg)| u16::from(*reg) == u16::from(*first) + i) =>
        {
            Ok(*first)
        }
        _ => Err(complaint()),
    }
}
