// SPDX-License-Identifier: MIT
//! Instruction selection: lowered NIR to the SSA form.
//!
//! One walk over the tree in program order. Each NIR block becomes one block, each scalar component of a NIR value one
//! value (two for 64 bits). What NIR keeps as values of their own and the hardware has as modifiers or conditions
//! (negation, absolute value, saturation, comparisons) is folded into its users here, by looking at the producer; the
//! producer is emitted as well, and goes with dead-code elimination when every user has folded it.
//!
//! How values look: Booleans are 0 or 1; 8- and 16-bit values lie in the low bits of a register whose upper bits are
//! undefined, and are extended where those would matter.

mod alu;
mod breaks;
mod build;
mod constant;
mod float16;
mod halves;
mod intrinsic;
mod memory;
mod pack;
mod private;
mod stage;
mod subgroup;
pub(crate) mod texture;

use std::collections::BTreeSet;

use mesa_nir::program::{
    BlockId, Def, DefId, If, IndexKind, Instr as NirInstr, IntrinsicOp, Loop, Node, Program,
    SamplerSlot, Tex, TexOp, TextureSlot,
};

use crate::binary::Pointer;
use crate::error::Error;
use crate::ir::{Block, BlockData, Closes, Cond, End, Function, Phi, Src, Value};

/// What selection gives.
pub struct Selected {
    /// The code.
    pub function: Function,
    /// Pointers that it wants, in order.
    pub pointers: Vec<Pointer>,
    /// Textures that it names, by slot.
    pub textures: Vec<TextureSlot>,
    /// Samplers that it names, by slot.
    pub samplers: Vec<SamplerSlot>,
}

/// The largest nesting of control flow: selection recurses.
const MAX_DEPTH: u32 = 2000;

/// Selects instructions for a program.
///
/// # Errors
/// When it holds something that there is no code for.
pub fn select(program: &Program) -> Result<Selected, Error> {
    let mut selector = Selector::new(program);
    selector.open(&program.stage);
    selector.list(&program.body, 0)?;
    selector.close();
    selector.finish(End::Stop);
    selector.resolve_phis()?;
    let tables = selector.tables.slots(&program.textures, &program.samplers);
    let mut function = selector.function;
    function.scratch_words = program.scratch_bytes.div_ceil(4);
    halves::name_halves(&mut function);
    let Some((textures, samplers)) = tables else {
        return Err(Error::Internal {
            pass: "selection",
            what: "a texture or sampler without a slot".into(),
        });
    };
    Ok(Selected {
        function,
        pointers: selector.pointers,
        textures,
        samplers,
    })
}

/// The symbolic pointers that the front end writes into `load_preamble`.
fn pointer(base: i64) -> Option<Pointer> {
    Some(match base {
        0 => Pointer::WorkgroupCounts,
        1 => Pointer::ThreadgroupRoot,
        2 => Pointer::PushConstants,
        3 => Pointer::BaseWorkgroup,
        4 => Pointer::DynamicBuffers,
        5 => Pointer::WorkgroupBuffer,
        6 => Pointer::VertexBuffers,
        7 => Pointer::DrawParameters,
        8 => Pointer::BlendConstants,
        9 => Pointer::DrawNumber,
        16..=271 => Pointer::DescriptorSet((base - 16) as u8),
        _ => return None,
    })
}

/// The pointers that an instruction wants.
fn pointers(instr: &NirInstr, found: &mut BTreeSet<Pointer>) {
    match instr {
        NirInstr::Tex(Tex {
            op: TexOp::Bundle { .. },
            ..
        }) => found.extend([Pointer::TextureTable, Pointer::SamplerTable]),
        NirInstr::Intrinsic(intrinsic) => match intrinsic.op {
            IntrinsicOp::load_preamble => {
                found.extend(pointer(intrinsic.index(IndexKind::BASE)));
            }
            IntrinsicOp::load_shared | IntrinsicOp::store_shared => {
                found.insert(Pointer::ThreadgroupRoot);
            }
            _ => {}
        },
        _ => {}
    }
}

/// Visits every instruction.
fn visit<'p>(nodes: &'p [Node], f: &mut impl FnMut(&'p NirInstr)) {
    for node in nodes {
        match node {
            Node::Block(block) => block.instrs.iter().for_each(&mut *f),
            Node::If(selection) => {
                visit(&selection.then_body, f);
                visit(&selection.else_body, f);
            }
            Node::Loop(body) => visit(&body.body, f),
        }
    }
}

/// What a definition is.
#[derive(Clone, Copy, Default)]
struct Definition {
    /// Where its components are in [`Selector::words`].
    first: u32,
    /// How many words they are.
    words: u16,
    /// Width of a component.
    bits: u8,
}

struct Selector<'p> {
    /// In a fixed order.
    pointers: Vec<Pointer>,
    function: Function,
    /// The block that is being filled.
    current: BlockData,
    defs: Vec<Definition>,
    /// The components of all definitions, each one's low words first.
    words: Vec<Src>,
    producers: Vec<Option<&'p NirInstr>>,
    uses: Vec<u32>,
    /// Of each definition, which components somebody reads.
    components: Vec<u16>,
    publications: texture::Publications,
    tables: texture::Tables,
    stage: stage::Stage,
    /// The NIR block that each of our blocks ends as, for phis.
    origins: Vec<Option<BlockId>>,
    /// Phis to complete when every block is there.
    phis: Vec<PendingPhi<'p>>,
    loops: Vec<LoopState>,
}

struct PendingPhi<'p> {
    block: Block,
    first: usize,
    words: usize,
    srcs: &'p [(BlockId, DefId)],
}

/// A loop that is being filled: blocks whose `exit` is to be set to its exit.
#[derive(Default)]
struct LoopState {
    breaks: Vec<Block>,
}

/// How a list of nodes ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fall {
    /// It falls through.
    Through,
    /// It jumped out of the loop.
    Break,
}

impl<'p> Selector<'p> {
    fn new(program: &'p Program) -> Selector<'p> {
        let count = program.num_defs as usize;
        let mut this = Selector {
            pointers: Vec::new(),
            function: Function {
                blocks: Vec::new(),
                num_values: 0,
                scratch_words: 0,
            },
            current: empty_block(0),
            defs: vec![Definition::default(); count],
            words: Vec::with_capacity(count),
            producers: vec![None; count],
            uses: vec![0; count],
            components: vec![0; count],
            publications: texture::Publications::default(),
            tables: texture::Tables::default(),
            stage: stage::Stage::default(),
            origins: Vec::new(),
            phis: Vec::new(),
            loops: Vec::new(),
        };
        let mut found = BTreeSet::new();
        visit(&program.body, &mut |instr| {
            pointers(instr, &mut found);
            this.stage.note(instr);
            this.note(instr);
        });
        this.pointers = found.into_iter().collect();
        this.note_conditions(&program.body);
        this
    }

    /// Remembers the producer of each definition, and counts uses.
    fn note(&mut self, instr: &'p NirInstr) {
        let mut using = |def: DefId, components: u16| {
            if let Some(count) = self.uses.get_mut(def.0 as usize) {
                *count += 1;
                self.components[def.0 as usize] |= components;
            }
        };
        match instr {
            NirInstr::Alu(alu) => {
                for src in &alu.srcs {
                    let lanes = src.swizzle.iter();
                    using(src.def, lanes.fold(0, |all, lane| all | 1 << (lane & 15)));
                }
            }
            NirInstr::Phi(_, srcs) => srcs.iter().for_each(|(_, d)| using(*d, u16::MAX)),
            NirInstr::Intrinsic(intrinsic) => {
                intrinsic.srcs.iter().for_each(|d| using(*d, u16::MAX));
            }
            NirInstr::Tex(tex) => {
                using(tex.params, u16::MAX);
                tex.gradients.iter().for_each(|d| using(*d, u16::MAX));
            }
            _ => {}
        }
        if let Some(def) = def_of(instr)
            && let Some(slot) = self.producers.get_mut(def.id.0 as usize)
        {
            *slot = Some(instr);
        }
    }

    fn note_conditions(&mut self, nodes: &[Node]) {
        for node in nodes {
            match node {
                Node::Block(_) => {}
                Node::If(selection) => {
                    if let Some(count) = self.uses.get_mut(selection.condition.0 as usize) {
                        *count += 1;
                        self.components[selection.condition.0 as usize] = u16::MAX;
                    }
                    self.note_conditions(&selection.then_body);
                    self.note_conditions(&selection.else_body);
                }
                Node::Loop(body) => self.note_conditions(&body.body),
            }
        }
    }

    /// The number that the block being filled will have.
    fn current_id(&self) -> Block {
        Block(self.function.blocks.len() as u32)
    }

    /// Ends the block being filled and begins the next.
    fn finish(&mut self, end: End) -> Block {
        let depth = self.loops.len() as u32;
        let id = self.current_id();
        let mut block = std::mem::replace(&mut self.current, empty_block(depth));
        block.end = end;
        self.function.blocks.push(block);
        id
    }

    fn list(&mut self, nodes: &'p [Node], depth: u32) -> Result<Fall, Error> {
        if depth > MAX_DEPTH {
            return Err(Error::Limit(format!(
                "control flow nested deeper than {MAX_DEPTH}"
            )));
        }
        let mut fall = Fall::Through;
        for node in nodes {
            // NIR has nothing but empty blocks behind a jump.
            match node {
                Node::Block(block) => fall = self.block(block, fall)?,
                Node::If(selection) => self.selection(selection, depth + 1)?,
                Node::Loop(body) => self.repeat(body, depth + 1)?,
            }
        }
        Ok(fall)
    }

    fn block(&mut self, block: &'p mesa_nir::program::Block, fall: Fall) -> Result<Fall, Error> {
        self.origin(block.id);
        self.current.instrs.reserve(block.instrs.len());
        for instr in &block.instrs {
            match instr {
                NirInstr::Alu(alu) => self.alu(alu)?,
                NirInstr::Const(def, values) => self.constant(def, values),
                NirInstr::Undef(def) => {
                    let words = usize::from(def.components) * words_of(def.bits);
                    self.define(def, vec![Src::imm(0); words]);
                }
                NirInstr::Phi(def, srcs) => self.phi(def, srcs),
                NirInstr::Intrinsic(intrinsic) => self.intrinsic(intrinsic)?,
                NirInstr::Tex(tex) => self.texture(tex)?,
                NirInstr::Break => return Ok(Fall::Break),
                NirInstr::Continue => return Err(Error::unsupported("a continue statement")),
            }
        }
        Ok(fall)
    }

    /// The block being filled is this one of NIR's.
    fn origin(&mut self, block: BlockId) {
        let index = self.current_id().index();
        self.origins.resize(index.max(self.origins.len()), None);
        self.origins.truncate(index);
        self.origins.push(Some(block));
    }

    fn selection(&mut self, selection: &'p If, depth: u32) -> Result<(), Error> {
        if let Some(split) = self.split_break(selection) {
            self.publications.forget();
            let done = self.breaks(&split);
            self.publications.forget();
            return done;
        }
        self.publish_for_arms(selection)?;
        let cond = self.branch_condition(selection.condition)?;
        let nowhere = Block(0);
        let head = self.finish(End::If {
            cond,
            else_block: nowhere,
            merge: nowhere,
            divergent: selection.divergent,
        });
        let before = self.publications.clone();
        let then_fall = self.list(&selection.then_body, depth)?;
        self.publications = before.kept(&self.publications);
        let then_end = match then_fall {
            Fall::Through => self.finish(End::EndThen { merge: nowhere }),
            Fall::Break => self.finish_break(Closes::Then(nowhere))?,
        };
        let first_of_else = self.current_id();
        match self.list(&selection.else_body, depth)? {
            Fall::Through => self.finish(End::EndElse),
            Fall::Break => self.finish_break(Closes::Else)?,
        };
        self.publications = before.kept(&self.publications);
        let join = self.current_id();
        if let End::If {
            else_block, merge, ..
        } = &mut self.function.blocks[head.index()].end
        {
            (*else_block, *merge) = (first_of_else, join);
        }
        match &mut self.function.blocks[then_end.index()].end {
            End::EndThen { merge }
            | End::Break {
                closes: Closes::Then(merge),
                ..
            } => *merge = join,
            _ => {}
        }
        Ok(())
    }

    fn finish_break(&mut self, closes: Closes) -> Result<Block, Error> {
        let block = self.finish(End::Break {
            exit: Block(0),
            closes,
        });
        match self.loops.last_mut() {
            Some(state) => state.breaks.push(block),
            None => return Err(Error::unsupported("a break outside of a loop")),
        }
        Ok(block)
    }

    fn repeat(&mut self, body: &'p Loop, depth: u32) -> Result<(), Error> {
        let before = self.finish(End::Loop { exit: Block(0) });
        self.publications.forget();
        self.loops.push(LoopState::default());
        self.current.loop_depth = self.loops.len() as u32;
        let header = self.current_id();
        match self.list(&body.body, depth)? {
            Fall::Through => {
                self.finish(End::EndLoop { header });
            }
            Fall::Break => {
                self.finish_break(Closes::Loop)?;
            }
        }
        self.publications.forget();
        let state = self.loops.pop().unwrap_or_default();
        self.current.loop_depth = self.loops.len() as u32;
        let behind = self.current_id();
        if let End::Loop { exit } = &mut self.function.blocks[before.index()].end {
            *exit = behind;
        }
        for block in state.breaks {
            if let End::Break { exit, .. } = &mut self.function.blocks[block.index()].end {
                *exit = behind;
            }
        }
        Ok(())
    }

    fn phi(&mut self, def: &Def, srcs: &'p [(BlockId, DefId)]) {
        let words = usize::from(def.components) * words_of(def.bits);
        let first = self.current.phis.len();
        let values: Vec<Value> = (0..words).map(|_| self.function.value()).collect();
        for &dst in &values {
            let srcs = Vec::new();
            self.current.phis.push(Phi { dst, srcs });
        }
        self.phis.push(PendingPhi {
            block: self.current_id(),
            first,
            words,
            srcs,
        });
        self.define(def, values.into_iter().map(Src::from).collect::<Vec<_>>());
    }

    /// Gives phis their sources, in the order of predecessors.
    fn resolve_phis(&mut self) -> Result<(), Error> {
        self.function.compute_preds();
        for phi in std::mem::take(&mut self.phis) {
            let preds = self.function.blocks[phi.block.index()].preds.clone();
            for pred in preds {
                let origin = self.origins.get(pred.index()).copied().flatten();
                let from =
                    |(block, def): &(BlockId, DefId)| (Some(*block) == origin).then_some(*def);
                let Some(def) = phi.srcs.iter().find_map(from) else {
                    return Err(Error::Internal {
                        pass: "selection",
                        what: format!("a phi lacks a source for b{}", pred.0),
                    });
                };
                for word in 0..phi.words {
                    let src = self.word(def, word)?;
                    let phis = &mut self.function.blocks[phi.block.index()].phis;
                    phis[phi.first + word].srcs.push(src);
                }
            }
        }
        Ok(())
    }
}

fn empty_block(loop_depth: u32) -> BlockData {
    BlockData {
        preds: Vec::new(),
        phis: Vec::new(),
        instrs: Vec::new(),
        end: End::Stop,
        loop_depth,
    }
}

/// Registers of a component.
const fn words_of(bits: u8) -> usize {
    if bits == 64 { 2 } else { 1 }
}

fn def_of(instr: &NirInstr) -> Option<&Def> {
    match instr {
        NirInstr::Alu(alu) => Some(&alu.def),
        NirInstr::Const(def, _) | NirInstr::Undef(def) | NirInstr::Phi(def, _) => Some(def),
        NirInstr::Intrinsic(intrinsic) => intrinsic.def.as_ref(),
        NirInstr::Tex(tex) => Some(&tex.def),
        NirInstr::Break | NirInstr::Continue => None,
    }
}

impl Selector<'_> {
    /// The condition of a branch: comparisons are folded, operands have no modifiers.
    fn branch_condition(&mut self, def: DefId) -> Result<Cond, Error> {
        self.condition(def, 0, false)
    }
}
