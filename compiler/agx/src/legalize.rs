// SPDX-License-Identifier: MIT
//! Makes every operand one that its instruction can hold.
//!
//! Selection writes constants and argument words wherever they come up. Here those that no encoding form holds become
//! values. A constant that many instructions read is made once, in the block that dominates them all, outside of loops;
//! the spiller makes it again where registers run short. A constant that the instruction destroys, or that is part of
//! a tuple, gets a register of its own just before. So does a value that a tuple names twice: it cannot be in two
//! registers at a time.

use std::collections::BTreeMap;

use arrayvec::ArrayVec;

use crate::analysis::Dominators;
use crate::emit::{accepts, accepts_cond};
use crate::ir::{Block, End, Function, Imm, Instr, Mov, Ref, Shape, Src, Value};

/// Legalises every operand.
pub(crate) fn legalize(function: &mut Function) {
    let mut pass = Legalize {
        num_values: function.num_values,
        shared: BTreeMap::new(),
    };
    for id in function.block_ids() {
        let mut block = std::mem::take(&mut function.blocks[id.index()].instrs);
        let mut out = Vec::with_capacity(block.len() + 8);
        for mut instr in block.drain(..) {
            pass.instr(id, &mut instr, &mut out);
            out.push(instr);
        }
        if let End::If { cond, .. } = &mut function.blocks[id.index()].end {
            let place = out.len();
            for index in 0..2 {
                let mut src = cond.srcs()[index];
                if !accepts_cond(cond, index, &src) {
                    pass.single(id, place, &mut src, cond.half, &mut out);
                    *cond.srcs_mut()[index] = src;
                }
            }
        }
        function.blocks[id.index()].instrs = out;
    }
    pass.phis(function);
    function.num_values = pass.num_values;
    pass.place_shared(function);
}

/// So many constants are made once for all their uses. Registers hold far fewer: the spiller would make most of them
/// again at each use, after a search whose time grows with what is live; so any more are made there to begin with.
const MANY: usize = 512;

/// Uses of a shared constant: the first place in each block, in program order.
type Uses = Vec<(Block, usize)>;

struct Legalize {
    num_values: u32,
    /// By the constant's bits: its value and where it is read.
    shared: BTreeMap<u32, (Value, Uses)>,
}

impl Legalize {
    fn value(&mut self) -> Value {
        self.num_values += 1;
        Value(self.num_values - 1)
    }

    fn instr(&mut self, block: Block, instr: &mut Instr, out: &mut Vec<Instr>) {
        if is_plain(instr) {
            return;
        }
        let half = is_half(instr);
        // What each operand holds depends on the whole instruction, so operands are settled one by one.
        let mut groups = ArrayVec::<_, 4>::new();
        instr.for_each_src(|group, shape| groups.push((group.len(), shape)));
        let mut in_tuples: Vec<Value> = Vec::new();
        for (number, (len, shape)) in groups.into_iter().enumerate() {
            for member in 0..len {
                let Some(mut src) = nth(instr, number, member) else {
                    continue;
                };
                if len > 1 || shape.destroyed || shape.tied {
                    self.own(&mut src, shape, len, &mut in_tuples, out);
                } else if accepts(instr, number, &src) {
                    continue;
                } else {
                    let place = out.len();
                    let mut holds = false;
                    if fold_modifiers(&mut src, half) {
                        set_nth(instr, number, member, src);
                        holds = accepts(instr, number, &src);
                    }
                    if !holds {
                        self.single(block, place, &mut src, half, out);
                    }
                }
                set_nth(instr, number, member, src);
            }
        }
    }

    /// An operand in a register of its own.
    fn own(
        &mut self,
        src: &mut Src,
        shape: Shape,
        len: usize,
        in_tuples: &mut Vec<Value>,
        out: &mut Vec<Instr>,
    ) {
        match src.from {
            Ref::Imm(value) => *src = self.constant(value, out),
            Ref::Uniform(_) => *src = self.copy(*src, out),
            Ref::Value(value) if len > 1 || shape.destroyed => {
                if in_tuples.contains(&value) {
                    *src = self.copy(*src, out);
                } else {
                    in_tuples.push(value);
                }
            }
            _ => {}
        }
    }

    /// A constant made for one use.
    fn constant(&mut self, value: u32, out: &mut Vec<Instr>) -> Src {
        let dst = self.value();
        let imm = Imm {
            dst: dst.into(),
            value,
        };
        out.push(imm.into());
        dst.into()
    }

    fn copy(&mut self, src: Src, out: &mut Vec<Instr>) -> Src {
        let dst = self.value();
        out.push(
            Mov {
                dst: dst.into(),
                src,
            }
            .into(),
        );
        dst.into()
    }

    /// An operand that its instruction does not hold, and that may share its register with other instructions.
    fn single(
        &mut self,
        block: Block,
        place: usize,
        src: &mut Src,
        half: bool,
        out: &mut Vec<Instr>,
    ) {
        fold_modifiers(src, half);
        match src.from {
            Ref::Imm(bits) if self.shared.len() >= MANY && !self.shared.contains_key(&bits) => {
                *src = self.constant(bits, out);
            }
            Ref::Imm(bits) => {
                let fresh = Value(self.num_values);
                let entry = self.shared.entry(bits).or_insert((fresh, Vec::new()));
                if entry.0 == fresh {
                    self.num_values += 1;
                }
                if entry.1.last().is_none_or(|(last, _)| *last != block) {
                    entry.1.push((block, place));
                }
                *src = entry.0.into();
            }
            Ref::Uniform(_) => {
                let modified = *src;
                *src = self.copy(Src::new(modified.from), out);
                (src.neg, src.abs) = (modified.neg, modified.abs);
            }
            Ref::Value(_) | Ref::Reg(_) => {}
        }
    }

    /// Constants on edges are made at the end of the predecessor, each for its phi alone, so that they can be made right
    /// in the phi's register.
    fn phis(&mut self, function: &mut Function) {
        for id in function.block_ids() {
            if function.blocks[id.index()].phis.is_empty() {
                continue;
            }
            let preds = function.blocks[id.index()].preds.clone();
            for phi in 0..function.blocks[id.index()].phis.len() {
                for (edge, pred) in preds.iter().enumerate() {
                    let src = function.blocks[id.index()].phis[phi].srcs[edge];
                    let made = match src.from {
                        Ref::Imm(value) => {
                            let dst = self.value();
                            let imm = Imm {
                                dst: dst.into(),
                                value,
                            };
                            Some((dst, imm.into()))
                        }
                        Ref::Uniform(_) => {
                            let dst = self.value();
                            let mov = Mov {
                                dst: dst.into(),
                                src,
                            };
                            Some((dst, mov.into()))
                        }
                        _ => None,
                    };
                    if let Some((dst, instr)) = made {
                        function.blocks[pred.index()].instrs.push(instr);
                        function.blocks[id.index()].phis[phi].srcs[edge] = dst.into();
                    }
                }
            }
        }
    }

    /// Makes the shared constants where they dominate their uses.
    fn place_shared(self, function: &mut Function) {
        let dominators = Dominators::of(function);
        // By block: place and instruction; places refer to the block before any insertion.
        let mut inserts: BTreeMap<Block, Vec<(usize, Instr)>> = BTreeMap::new();
        for (value, (dst, uses)) in self.shared {
            let reachable = |b: &&(Block, usize)| dominators.is_reachable(b.0);
            let blocks = uses.iter().filter(reachable).map(|(b, _)| *b);
            let home = blocks.reduce(|a, b| dominators.common(a, b));
            // Constants of unreachable code still need a definition.
            let mut home = home.unwrap_or(Block(0));
            while function.blocks[home.index()].loop_depth > 0 {
                match dominators.immediate(home) {
                    Some(up) => home = up,
                    None => break,
                }
            }
            let own_use = uses
                .iter()
                .find(|(b, _)| *b == home)
                .map(|(_, place)| *place);
            let place = own_use.unwrap_or(function.blocks[home.index()].instrs.len());
            let imm = Imm {
                dst: dst.into(),
                value,
            };
            inserts.entry(home).or_default().push((place, imm.into()));
        }
        for (block, mut list) in inserts {
            list.sort_by_key(|(place, _)| *place);
            let old = std::mem::take(&mut function.blocks[block.index()].instrs);
            let mut new = Vec::with_capacity(old.len() + list.len());
            let (mut old, mut taken) = (old.into_iter(), 0);
            for (place, imm) in list {
                new.extend(old.by_ref().take(place - taken));
                new.push(imm);
                taken = place;
            }
            new.extend(old);
            function.blocks[block.index()].instrs = new;
        }
    }
}

/// Applies the modifiers of a constant to its bits; true if there were any.
fn fold_modifiers(src: &mut Src, half: bool) -> bool {
    let sign: u32 = if half { 0x8000 } else { 1 << 31 };
    match (&mut src.from, src.abs || src.neg) {
        (Ref::Imm(bits), true) => {
            if src.abs {
                *bits &= !sign;
            }
            if src.neg {
                *bits ^= sign;
            }
            (src.neg, src.abs) = (false, false);
            true
        }
        _ => false,
    }
}

/// Every source is a value by itself, without modifiers, that the instruction spares: there is nothing to do. That is
/// so for most instructions.
fn is_plain(instr: &Instr) -> bool {
    let mut plain = true;
    instr.for_each_src(|members, shape| {
        plain &= match members {
            [] => true,
            [src] => src.value().is_some() && !src.is_modified() && !shape.destroyed,
            _ => false,
        };
    });
    plain
}

/// Its operands are fp16.
fn is_half(instr: &Instr) -> bool {
    match instr {
        Instr::H2(_) | Instr::HFma(_) | Instr::HMinMax(_) => true,
        Instr::Select(op) => op.half,
        _ => false,
    }
}

fn nth(instr: &Instr, group: usize, member: usize) -> Option<Src> {
    let (mut at, mut found) = (0, None);
    instr.for_each_src(|members, _| {
        if at == group {
            found = members.get(member).copied();
        }
        at += 1;
    });
    found
}

fn set_nth(instr: &mut Instr, group: usize, member: usize, src: Src) {
    let mut at = 0;
    instr.for_each_src_mut(|members, _| {
        if at == group
            && let Some(slot) = members.get_mut(member)
        {
            *slot = src;
        }
        at += 1;
    });
}
