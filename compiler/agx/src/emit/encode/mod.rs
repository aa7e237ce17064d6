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

use super::accept;
use super::facts::{Facts, Registers};
use super::regs::RegSet;
use crate::ir::Instr;

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

/// What operations become, one after the other.
pub(crate) struct Encoder<'c> {
    ctx: &'c Context,
    code: &'c mut Vec<Machine>,
    /// What they touch so far.
    facts: &'c mut Facts,
}

impl<'c> Encoder<'c> {
    /// Adds machine instructions to `code`, and what they touch to `facts`.
    pub(crate) fn new(
        ctx: &'c Context,
        code: &'c mut Vec<Machine>,
        facts: &'c mut Facts,
    ) -> Encoder<'c> {
        Encoder { ctx, code, facts }
    }

    #[inline]
    fn push(
        &mut self,
        machine: Machine,
        registers: &Registers,
        completes: Option<u8>,
        other_files: bool,
    ) {
        self.facts.add(&machine, registers, completes, other_files);
        self.code.push(machine);
    }
}

/// Adds the machine instructions of an operation to `code`, and what they touch to `facts`.
///
/// # Errors
/// What no proven encoding holds; some instructions may have been added then.
pub(crate) fn encode(
    instr: &Instr,
    ctx: &Context,
    code: &mut Vec<Machine>,
    facts: &mut Facts,
) -> Result<()> {
    // Legalisation has seen to that.
    if cfg!(debug_assertions) {
        accept::check(instr)?;
    }
    dispatch(instr, &mut Encoder::new(ctx, code, facts))
        .map_err(|error| format!("`{instr}`: {error}"))
}

fn dispatch(instr: &Instr, encoder: &mut Encoder<'_>) -> Result<()> {
    match instr {
        Instr::Mov(op) => moves::mov(op, encoder),
        Instr::Imm(op) => moves::imm(op, encoder),
        Instr::SysReg(op) => moves::system_register(op, encoder),
        Instr::Swap(op) => moves::swap(op, encoder),
        Instr::F2(op) => float::f2(op, encoder),
        Instr::Fma(op) => float::fma(op, encoder),
        Instr::MinMax(op) => float::min_max(op, encoder),
        Instr::Sfu(op) => float::special(op, encoder),
        Instr::IntToFloat(op) => float::from_int(op, encoder),
        Instr::FloatToInt(op) => float::to_int(op, encoder),
        Instr::H2(op) => half::h2(op, encoder),
        Instr::HFma(op) => half::fma(op, encoder),
        Instr::HMinMax(op) => half::min_max(op, encoder),
        Instr::HMulMix(op) => half::mul_mix(op, encoder),
        Instr::F32ToF16(op) => half::narrow(op.dst, &op.a, false, encoder),
        Instr::F32ToF16High(op) => {
            tied(instr, op.dst, &op.old).and_then(|()| half::narrow(op.dst, &op.a, true, encoder))
        }
        Instr::F16ToF32(op) => half::widen(op, encoder),
        Instr::Logic(op) => integer::logic(op, encoder),
        Instr::IAdd(op) => integer::add(op, encoder),
        Instr::IMad(op) => integer::mad(op, encoder),
        Instr::IMulWide(op) => integer::mul_wide(op, encoder),
        Instr::IAdd64(op) => integer::add64(op, encoder),
        Instr::ShiftImm(op) => integer::shift_imm(op, encoder),
        Instr::Shift(op) => integer::shift(op, encoder),
        Instr::Rotate(op) => tied(instr, op.dst, &op.a).and_then(|()| integer::rotate(op, encoder)),
        Instr::Zext16(op) => {
            tied(instr, op.dst, &op.a).and_then(|()| moves::zero_extend(op.dst, encoder))
        }
        Instr::Bits(op) => integer::bits(op, encoder),
        Instr::Select(op) => compare::select(op, encoder),
        Instr::PackNorm16(op) => norm::pack16(op, encoder),
        Instr::PackNorm8(op) => norm::pack8(op.dst, &op.a, &op.b, op.signed, false, encoder),
        Instr::PackNorm8High(op) => tied(instr, op.dst, &op.old)
            .and_then(|()| norm::pack8(op.dst, &op.a, &op.b, op.signed, true, encoder)),
        Instr::UnpackNorm(op) => norm::unpack(op, encoder),
        Instr::Load(op) => memory::load(op, encoder),
        Instr::LoadHigh(op) => {
            tied(instr, op.dst, &op.old).and_then(|()| memory::load_high(op, encoder))
        }
        Instr::Store(op) => memory::store(op, encoder),
        Instr::Atomic(op) => memory::atomic(op, encoder),
        Instr::SharedLoad(op) => memory::shared_load(op, encoder),
        Instr::SharedStore(op) => memory::shared_store(op, encoder),
        Instr::ScratchLoad(op) => memory::scratch_load(op, encoder),
        Instr::ScratchStore(op) => memory::scratch_store(op, encoder),
        Instr::Spill(op) => memory::spill(op, encoder),
        Instr::Fill(op) => memory::fill(op, encoder),
        Instr::Ballot(op) => subgroup::ballot(op, encoder),
        Instr::Shuffle(op) => subgroup::shuffle(op, encoder),
        Instr::ShuffleImm(op) => subgroup::shuffle_imm(op, encoder),
        Instr::Reduce(op) => subgroup::reduce(op, encoder),
        Instr::Publish(op) => texture::publish(op, encoder),
        Instr::Texture(op) => texture::bundle(op, encoder),
        Instr::CubeFace(op) => texture::cube_face(op, encoder),
        Instr::CubeCoord(op) => texture::cube_coord(op, encoder),
        Instr::PublishDepth(op) => stage::publish_depth(op, encoder),
        Instr::Export(op) => texture::publish_word(&op.src, op.word, encoder),
        Instr::VertexOut(op) => stage::vertex_out(op, encoder),
        Instr::Iter(op) => stage::iter(op, encoder),
        Instr::IterFlat(op) => stage::iter_flat(op, encoder),
        Instr::Project(op) => stage::project(op, encoder),
        Instr::InterpPos(op) => stage::interp_pos(op, encoder),
        Instr::Derivative(op) => stage::derivative(op, encoder),
        Instr::TileAccess(op) => stage::tile_access(op, encoder),
        Instr::TileFence(op) => stage::tile_fence(op, encoder),
        Instr::TileLoad(op) => stage::tile_load(op, encoder),
        Instr::TileStore(op) => stage::tile_store(op, encoder),
        Instr::Coverage(op) => stage::coverage(op, encoder),
        Instr::DepthStore(op) => stage::depth_store(op, encoder),
        Instr::BlockStore(op) => stage::block_store(op, encoder),
        Instr::Barrier(op) => subgroup::barrier(op, encoder),
    }
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

/// The registers of destinations.
fn registers_of(dsts: &[crate::ir::Dst]) -> RegSet {
    let regs = dsts.iter().filter_map(crate::ir::Dst::reg);
    regs.fold(RegSet::EMPTY, |all, reg| all | RegSet::of(reg))
}
