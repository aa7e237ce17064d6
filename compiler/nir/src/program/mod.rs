// SPDX-License-Identifier: MIT
//! A lowered NIR shader as plain Rust data: what a back end reads.
//!
//! NIR's own structures are C objects that its passes rewrite in place. A back end only reads the final form, once, so
//! it gets a copy that owns everything and points to nothing. The copy keeps NIR's shape: a tree of structured control
//! flow ([`Node`]) whose leaves are basic blocks of SSA instructions.

use arrayvec::ArrayVec;

mod decode;
mod form;
mod names;
mod stage_info;

pub(crate) use decode::decode;
pub use form::{Form, Operation};
pub use names::{AluOp, AtomicOp, IndexKind, IntrinsicOp, ReduceOp};
pub use stage_info::{
    CLIP_DISTANCE_LOCATION, DepthLayout, FragmentInfo, StageInfo, VIEWPORT_LOCATION, Varying,
    VaryingMode, VertexInfo,
};

/// Names an SSA value; numbers are dense, from 0 to [`Program::num_defs`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DefId(pub u32);

/// Names a basic block; numbers are dense, in source order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlockId(pub u32);

/// One shader.
#[derive(Debug, Clone, PartialEq)]
pub struct Program {
    /// The name of the entry point.
    pub name: String,
    /// Workgroup size.
    pub workgroup_size: [u16; 3],
    /// Bytes of workgroup memory that the shader addresses with `load_shared` and `store_shared`.
    pub shared_bytes: u32,
    /// Bytes of a workgroup's slice of device memory, for workgroup variables that take atomics: the README of this
    /// crate says which.
    pub workgroup_buffer_bytes: u32,
    /// Bytes of each invocation's private memory, addressed by `load_scratch` and `store_scratch`.
    pub scratch_bytes: u32,
    /// One more than the highest [`DefId`].
    pub num_defs: u32,
    /// One more than the highest [`BlockId`].
    pub num_blocks: u32,
    /// The table of textures, by the slots that [`Tex`] names.
    pub textures: Vec<TextureSlot>,
    /// The table of samplers.
    pub samplers: Vec<SamplerSlot>,
    /// The stage, and what it needs.
    pub stage: StageInfo,
    /// The entry point's body.
    pub body: Vec<Node>,
}

/// Where the record of a texture is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TextureSlot {
    /// The descriptor set.
    pub set: u8,
    /// Bytes from the start of the set's memory.
    pub offset: u32,
}

/// Where the record of a sampler is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SamplerSlot {
    /// In the memory of a descriptor set.
    Descriptor {
        /// The descriptor set.
        set: u8,
        /// Bytes from the start of the set's memory.
        offset: u32,
    },
    /// The private sampler of fetches.
    Fetch,
}

/// A node of the control-flow tree. As in NIR, a list of nodes begins and ends with a block, and blocks stand
/// between all others.
#[derive(Debug, Clone, PartialEq)]
pub enum Node {
    /// Straight code.
    Block(Block),
    /// A selection.
    If(If),
    /// A loop.
    Loop(Loop),
}

/// A basic block. A jump, if there is one, is its last instruction.
#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    /// Its number.
    pub id: BlockId,
    /// Its instructions, phis first.
    pub instrs: Vec<Instr>,
}

/// A selection.
#[derive(Debug, Clone, PartialEq)]
pub struct If {
    /// A 1-bit value.
    pub condition: DefId,
    /// The invocations of a subgroup may disagree on the condition.
    pub divergent: bool,
    /// What runs when it is true.
    pub then_body: Vec<Node>,
    /// What runs when it is false.
    pub else_body: Vec<Node>,
}

/// A loop; it ends only by [`Instr::Break`].
#[derive(Debug, Clone, PartialEq)]
pub struct Loop {
    /// Its body. The first block is the header; falling off the end continues.
    pub body: Vec<Node>,
    /// Invocations of a subgroup may leave it in different iterations.
    pub divergent: bool,
}

/// One SSA value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Def {
    /// Its name.
    pub id: DefId,
    /// Components.
    pub components: u8,
    /// Bits of a component: 1, 8, 16, 32 or 64.
    pub bits: u8,
    /// The invocations of a subgroup may hold different values.
    pub divergent: bool,
}

/// An instruction.
#[derive(Debug, Clone, PartialEq)]
pub enum Instr {
    /// Arithmetic.
    Alu(Alu),
    /// A constant; values are zero-extended, one a component.
    Const(Def, Vec<u64>),
    /// Any value.
    Undef(Def),
    /// A phi: one source for each predecessor.
    Phi(Def, Vec<(BlockId, DefId)>),
    /// Everything with effects or inputs.
    Intrinsic(Intrinsic),
    /// A texture operation.
    Tex(Tex),
    /// Leave the innermost loop.
    Break,
    /// Go to the innermost loop's header.
    Continue,
}

impl Instr {
    /// The value that it defines.
    #[must_use]
    pub fn def(&self) -> Option<Def> {
        match self {
            Self::Alu(alu) => Some(alu.def),
            Self::Const(def, _) | Self::Undef(def) | Self::Phi(def, _) => Some(*def),
            Self::Intrinsic(intrinsic) => intrinsic.def,
            Self::Tex(tex) => Some(tex.def),
            Self::Break | Self::Continue => None,
        }
    }
}

/// Arithmetic.
#[derive(Debug, Clone, PartialEq)]
pub struct Alu {
    /// The operation.
    pub op: AluOp,
    /// The result.
    pub def: Def,
    /// No rewriting that changes results: SPIR-V's NoContraction and what follows from float controls.
    pub exact: bool,
    /// The result does not wrap, read as signed.
    pub no_signed_wrap: bool,
    /// The result does not wrap, read as unsigned.
    pub no_unsigned_wrap: bool,
    /// The operands.
    pub srcs: Vec<AluSrc>,
}

/// The most components that a value of NIR has.
pub const MAX_COMPONENTS: usize = 16;

/// An operand of arithmetic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AluSrc {
    /// The value.
    pub def: DefId,
    /// Which component of it each lane of the operation reads; as long as the operation reads components.
    pub swizzle: ArrayVec<u8, MAX_COMPONENTS>,
}

/// A texture operation: a bundle of the hardware, or its helper for cube maps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tex {
    /// The result: four words.
    pub def: Def,
    /// What it does.
    pub op: TexOp,
    /// Slot of the texture.
    pub texture: u32,
    /// Slot of the sampler.
    pub sampler: u32,
    /// The words W0..W3 of the parameter block.
    pub params: DefId,
    /// The words W4..W7.
    pub gradients: Option<DefId>,
}

/// What a texture operation does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TexOp {
    /// A bundle.
    Bundle {
        /// Mode bytes 6 and 7, little-endian.
        mode: u16,
        /// 0 fetch, gather or comparison, 1 filtered sample, 2 LOD query.
        kind: u8,
        /// The component that a gather gives of four texels.
        gather: Option<u8>,
        /// Texels to the right and down.
        offset: [i8; 2],
    },
    /// Of the direction in the first three words: the largest magnitude, the face in the low half of a word whose high half
    /// is undefined, and half of the two other coordinates.
    Cube,
}

/// Everything with effects or inputs.
#[derive(Debug, Clone, PartialEq)]
pub struct Intrinsic {
    /// The operation.
    pub op: IntrinsicOp,
    /// The result, if it has one.
    pub def: Option<Def>,
    /// The operands.
    pub srcs: Vec<DefId>,
    /// Its constant indices.
    pub indices: Vec<(IndexKind, i64)>,
}

impl Intrinsic {
    /// A constant index; 0 when the operation has none of that kind.
    #[must_use]
    pub fn index(&self, kind: IndexKind) -> i64 {
        let found = self.indices.iter().find(|(k, _)| *k == kind);
        found.map_or(0, |(_, value)| *value)
    }
}
