// SPDX-License-Identifier: MIT
//! Texture operations, and the publications that hold their parameters (isa-3, 2).
//!
//! Bundles reach publications p0..p31, eight blocks of four. Blocks are taken in turn, so that as many operations can be
//! under way; that a block is not overwritten while one of them may still read it, scheduling and emission see to. What a
//! block holds is remembered as long as it is sure: an operation with the same parameters names the same block. Where
//! operations in the arms of an `if` have the same parameters, as in the trees of branches that choose a texture at run
//! time, the block is made in front of it (isa-4, 1.3).

use std::collections::HashMap;

use mesa_nir::program::{DefId, If, Instr as NirInstr, Node, SamplerSlot, Tex, TexOp, TextureSlot};

use super::Selector;
use crate::error::Error;
use crate::ir::{
    Bundle, CubeCoord, CubeFace, Function, Instr, Publish, Ref, Src, Texture, Tuple, Value,
};

/// Blocks that bundles reach, and words of one.
const BLOCKS: usize = 8;
const BLOCK_WORDS: usize = 4;
/// Textures and samplers that a bundle can name (isa-4, 1.2), of which 128 and 17 are proven.
const MOST_TEXTURES: usize = 128;
const MOST_SAMPLERS: usize = 32;

/// What the publications hold, as far as it is known: a value each, and when it was put there.
#[derive(Debug, Clone, Default)]
pub(super) struct Publications {
    holds: [Option<(Ref, u32)>; BLOCKS * BLOCK_WORDS],
    next: usize,
    now: u32,
}

impl Publications {
    /// Where the words at these places of a block are already.
    fn find(&self, words: &[(usize, Src)]) -> Option<usize> {
        let holds = |first: usize| {
            words.iter().all(|(word, src)| {
                let held = self.holds.get(first + word).copied().flatten();
                held.is_some_and(|(from, _)| from == src.from)
            })
        };
        (0..BLOCKS).map(|b| b * BLOCK_WORDS).find(|&b| holds(b))
    }

    /// Takes room for words up to this one: its first publication.
    fn take(&mut self, last: usize) -> usize {
        let blocks = last / BLOCK_WORDS + 1;
        if self.next + blocks > BLOCKS {
            self.next = 0;
        }
        let first = self.next * BLOCK_WORDS;
        self.next = (self.next + blocks) % BLOCKS;
        self.holds[first..first + blocks * BLOCK_WORDS].fill(None);
        first
    }

    fn put(&mut self, word: usize, from: Ref) {
        self.now += 1;
        self.holds[word] = Some((from, self.now));
    }

    /// What is left of this behind code that went on to `after`.
    pub(super) fn kept(&self, after: &Publications) -> Publications {
        let mut kept = after.clone();
        for (now, before) in kept.holds.iter_mut().zip(&self.holds) {
            if *now != *before {
                *now = None;
            }
        }
        kept
    }

    /// Nothing is known any more.
    pub(super) fn forget(&mut self) {
        self.holds.fill(None);
    }
}

/// The tables of a binary, from those of a program without the slots that nobody names.
#[derive(Debug, Default)]
pub(super) struct Tables {
    textures: Vec<u32>,
    samplers: Vec<u32>,
}

/// The number of a slot among those that were used so far.
fn rank(used: &mut Vec<u32>, slot: u32, most: usize, what: &str) -> Result<u8, Error> {
    let place = used.iter().position(|s| *s == slot).unwrap_or_else(|| {
        used.push(slot);
        used.len() - 1
    });
    if place >= most {
        return Err(Error::Limit(format!("more than {most} {what}")));
    }
    Ok(place as u8)
}

impl Tables {
    /// The slots that were used, in order.
    pub(super) fn slots(
        &self,
        textures: &[TextureSlot],
        samplers: &[SamplerSlot],
    ) -> Option<(Vec<TextureSlot>, Vec<SamplerSlot>)> {
        let textures = self
            .textures
            .iter()
            .map(|s| textures.get(*s as usize).copied());
        let samplers = self
            .samplers
            .iter()
            .map(|s| samplers.get(*s as usize).copied());
        Some((
            textures.collect::<Option<_>>()?,
            samplers.collect::<Option<_>>()?,
        ))
    }
}

/// The parameters of an operation: the words that it reads.
type Key = (DefId, Option<DefId>, u16);

fn key(tex: &Tex) -> Option<Key> {
    match tex.op {
        TexOp::Bundle { mode, .. } => {
            let words = agx_isa::texture_mode(mode.into())?.words;
            Some((tex.params, tex.gradients, words))
        }
        TexOp::Cube => None,
    }
}

impl<'p> Selector<'p> {
    pub(super) fn texture(&mut self, tex: &'p Tex) -> Result<(), Error> {
        let TexOp::Bundle {
            mode,
            kind,
            gather,
            offset,
        } = tex.op
        else {
            return self.cube(tex);
        };
        let Some(key) = key(tex) else {
            return Err(Error::unsupported(format!("the texture mode {mode:#06x}")));
        };
        let read = self.components_read(tex.def.id) & 15;
        if read == 0 {
            let nothing = vec![Src::imm(0); usize::from(tex.def.components)];
            self.define(&tex.def, nothing);
            return Ok(());
        }
        let params = self.publish(key)?;
        let mask = if gather.is_some() { 15 } else { read };
        let values: Tuple<Value> = (0..mask.count_ones())
            .map(|_| self.function.value())
            .collect();
        let texture = rank(
            &mut self.tables.textures,
            tex.texture,
            MOST_TEXTURES,
            "textures",
        )?;
        let sampler = rank(
            &mut self.tables.samplers,
            tex.sampler,
            MOST_SAMPLERS,
            "samplers",
        )?;
        self.emit(Texture {
            dst: values.iter().map(|&v| v.into()).collect(),
            bundle: Bundle {
                mode,
                kind,
                gather,
                offset,
                mask,
                texture,
                sampler,
                params,
                last: false,
            },
        });
        let mut values = values.into_iter();
        let words: Vec<Src> = (0..tex.def.components)
            .map(|component| match mask >> component & 1 {
                1 => values.next().map_or(Src::imm(0), Src::from),
                _ => Src::imm(0),
            })
            .collect();
        self.define(&tex.def, words);
        Ok(())
    }

    fn cube(&mut self, tex: &Tex) -> Result<(), Error> {
        let [x, y, z] = [0, 1, 2].map(|i| self.word(tex.params, i));
        let (x, y, z) = (x?, y?, z?);
        let dst = [self.function.value(), self.function.value()];
        self.emit(CubeFace {
            dst: dst.map(Into::into),
            x,
            y,
            z,
        });
        let coords = [false, true].map(|second| {
            self.make(|dst| CubeCoord {
                dst: dst.into(),
                x,
                y,
                z,
                second,
            })
        });
        self.define(
            &tex.def,
            [dst[0].into(), dst[1].into(), coords[0], coords[1]],
        );
        Ok(())
    }

    /// The words of a parameter block that an operation reads, by their place in it.
    fn parameters(&self, (params, gradients, words): Key) -> Result<Vec<(usize, Src)>, Error> {
        let read = (0..16usize).filter(|word| words >> word & 1 == 1);
        read.map(|word| {
            let src = match (word / BLOCK_WORDS, gradients) {
                (0, _) => self.word(params, word)?,
                (_, Some(gradients)) => self.word(gradients, word - BLOCK_WORDS)?,
                _ => return Err(Error::unsupported("a texture operation without gradients")),
            };
            Ok((word, src))
        })
        .collect()
    }

    /// Makes the parameter block of an operation, unless it is there: its first publication.
    fn publish(&mut self, key: Key) -> Result<u8, Error> {
        let words = self.parameters(key)?;
        if let Some(first) = self.publications.find(&words) {
            return Ok(first as u8);
        }
        let last = words.last().map_or(0, |(word, _)| *word);
        let first = self.publications.take(last);
        for (word, src) in words {
            self.publications.put(first + word, src.from);
            self.emit(Publish {
                src,
                word: (first + word) as u8,
            });
        }
        Ok(first as u8)
    }

    /// Makes the parameter blocks that several operations in the arms of an `if` want.
    pub(super) fn publish_for_arms(&mut self, selection: &'p If) -> Result<(), Error> {
        let mut wanted: Vec<Key> = Vec::new();
        let mut counts: HashMap<Key, u32> = HashMap::new();
        for body in [&selection.then_body, &selection.else_body] {
            visit_selections(body, &mut |tex| {
                if let Some(key) = key(tex) {
                    let count = counts.entry(key).or_default();
                    if *count == 0 {
                        wanted.push(key);
                    }
                    *count += 1;
                }
            });
        }
        // No more than there are blocks, and room for others.
        let shared = wanted.into_iter().filter(|key| counts[key] > 1);
        for key in shared.take(BLOCKS / 2) {
            // What is defined in an arm is not there yet.
            if self.parameters(key).is_ok() {
                self.publish(key)?;
            }
        }
        Ok(())
    }
}

/// Visits texture operations, but for those in loops.
fn visit_selections<'p>(nodes: &'p [Node], f: &mut impl FnMut(&'p Tex)) {
    for node in nodes {
        match node {
            Node::Block(block) => {
                for instr in &block.instrs {
                    if let NirInstr::Tex(tex) = instr {
                        f(tex);
                    }
                }
            }
            Node::If(selection) => {
                visit_selections(&selection.then_body, f);
                visit_selections(&selection.else_body, f);
            }
            Node::Loop(_) => {}
        }
    }
}

/// Marks the operations behind which nobody reads their parameter block, which ends it (isa-3, 2.3).
///
/// In program order the next access tells, arms of one `if` one behind the other: what reads it there keeps it, too. In a
/// loop only blocks that are made in front of the operation in its own block end; others are read in the next round.
pub(crate) fn mark_last_reads(function: &mut Function) {
    let reads = |instr: &Instr| matches!(instr, Instr::Texture(_));
    let mut blocks = function.blocks.iter();
    if !blocks.any(|block| block.instrs.iter().any(reads)) {
        return;
    }
    // From the back: is the publication read before it is written?
    let mut read = 0u128;
    for block in function.blocks.iter_mut().rev() {
        let mut ends = vec![false; block.instrs.len()];
        for (end, instr) in ends.iter_mut().zip(&block.instrs).rev() {
            match instr {
                Instr::Texture(op) => {
                    *end = read & op.bundle.reads() == 0;
                    read |= op.bundle.reads();
                }
                Instr::Publish(op) => read &= !(1 << op.word),
                _ => {}
            }
        }
        let mut made = 0u128;
        for (end, instr) in ends.into_iter().zip(&mut block.instrs) {
            match instr {
                Instr::Texture(op) => {
                    let here = made & op.bundle.reads() == op.bundle.reads();
                    op.bundle.last = end && (block.loop_depth == 0 || here);
                }
                Instr::Publish(op) => made |= 1 << op.word,
                _ => {}
            }
        }
    }
}

/// One more than the highest publication that a function uses.
pub(crate) fn publications(function: &Function) -> u16 {
    let instrs = function.blocks.iter().flat_map(|block| &block.instrs);
    let used = instrs.filter_map(|instr| match instr {
        Instr::Publish(op) => Some(u16::from(op.word) + 1),
        Instr::PublishDepth(op) => Some(u16::from(op.word) + 1),
        Instr::Export(op) => Some(u16::from(op.word) + 1),
        _ => None,
    });
    used.max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Block, BlockData, Closes, Cmp, Cond, End};

    fn word(place: usize, value: u32) -> (usize, Src) {
        (place, Src::from(Value(value)))
    }

    /// Takes a block and fills it.
    fn fill(publications: &mut Publications, words: &[(usize, Src)]) -> usize {
        let last = words.last().map_or(0, |(word, _)| *word);
        let first = publications.take(last);
        for (word, src) in words {
            publications.put(first + word, src.from);
        }
        first
    }

    #[test]
    fn blocks_are_taken_in_turn_and_found_while_they_hold_the_same() {
        let mut publications = Publications::default();
        for n in 0..8 {
            assert_eq!(
                fill(&mut publications, &[word(0, n), word(1, 90), word(3, n)]),
                4 * n as usize
            );
        }
        assert_eq!(publications.find(&[word(0, 5), word(3, 5)]), Some(20));
        assert_eq!(publications.find(&[word(0, 5), word(2, 5)]), None);
        // Two blocks that follow each other; the first two go.
        assert_eq!(fill(&mut publications, &[word(0, 50), word(7, 51)]), 0);
        assert_eq!(publications.find(&[word(0, 1)]), None);
        assert_eq!(publications.find(&[word(0, 2)]), Some(8));
        for n in 60..65 {
            fill(&mut publications, &[word(0, n)]);
        }
        // Seven are taken: two more do not fit behind them.
        assert_eq!(fill(&mut publications, &[word(0, 70), word(4, 71)]), 0);
    }

    #[test]
    fn what_an_arm_overwrites_is_not_kept() {
        let mut before = Publications::default();
        fill(&mut before, &[word(0, 1)]);
        fill(&mut before, &[word(0, 2)]);
        let mut after = before.clone();
        for n in 10..17 {
            fill(&mut after, &[word(0, n)]);
        }
        let kept = before.kept(&after);
        assert_eq!(kept.find(&[word(0, 1)]), None);
        assert_eq!(kept.find(&[word(0, 2)]), Some(4));
        assert_eq!(kept.find(&[word(0, 12)]), None);
        // The same value once more is another time.
        let mut again = before.clone();
        for n in [20, 21, 22, 23, 24, 25, 1] {
            fill(&mut again, &[word(0, n)]);
        }
        assert_eq!(before.kept(&again).find(&[word(0, 1)]), None);
    }

    fn publish(place: u8) -> Instr {
        Publish {
            src: Src::imm(0),
            word: place,
        }
        .into()
    }

    /// Reads words 0 and 1 of a block.
    fn sample(params: u8) -> Instr {
        let bundle = Bundle {
            mode: 0,
            kind: 1,
            gather: None,
            offset: [0, 0],
            mask: 1,
            texture: 0,
            sampler: 0,
            params,
            last: false,
        };
        Texture {
            dst: Tuple::from_iter([Value(0).into()]),
            bundle,
        }
        .into()
    }

    /// Blocks given as code, loop depth and end: which operations end their block, in order.
    fn last_reads(blocks: Vec<(Vec<Instr>, u32, End)>) -> Vec<bool> {
        let blocks = blocks
            .into_iter()
            .map(|(instrs, loop_depth, end)| BlockData {
                preds: Vec::new(),
                phis: Vec::new(),
                instrs,
                end,
                loop_depth,
            });
        let mut function = Function {
            blocks: blocks.collect(),
            num_values: 1,
            scratch_words: 0,
        };
        mark_last_reads(&mut function);
        let instrs = function.blocks.into_iter().flat_map(|block| block.instrs);
        let ends = instrs.filter_map(|instr| match instr {
            Instr::Texture(op) => Some(op.bundle.last),
            _ => None,
        });
        ends.collect()
    }

    #[test]
    fn the_last_operation_that_reads_a_block_ends_it() {
        let made = || [publish(0), publish(1)];
        let straight = [&made()[..], &[sample(0), sample(0)], &made(), &[sample(0)]].concat();
        assert_eq!(
            last_reads(vec![(straight, 0, End::Stop)]),
            [false, true, true]
        );
        // The other arm reads it as well, on other lanes.
        let cond = Cond {
            cmp: Cmp::IEq,
            half: false,
            a: Src::imm(0),
            b: Src::imm(0),
            invert: false,
        };
        let choice = End::If {
            cond,
            else_block: Block(2),
            merge: Block(3),
            divergent: true,
        };
        let arms = vec![
            (made().to_vec(), 0, choice),
            (vec![sample(0)], 0, End::EndThen { merge: Block(3) }),
            (vec![sample(0)], 0, End::EndElse),
            (vec![], 0, End::Stop),
        ];
        assert_eq!(last_reads(arms), [false, true]);
        // The next round reads what was made in front of a loop.
        let round = |inside: Vec<Instr>| {
            vec![
                (made().to_vec(), 0, End::Loop { exit: Block(2) }),
                (
                    inside,
                    1,
                    End::Break {
                        exit: Block(2),
                        closes: Closes::Loop,
                    },
                ),
                (vec![], 0, End::Stop),
            ]
        };
        assert_eq!(last_reads(round(vec![sample(0)])), [false]);
        let inside = [&made()[..], &[sample(0)]].concat();
        assert_eq!(last_reads(round(inside)), [true]);
    }
}
