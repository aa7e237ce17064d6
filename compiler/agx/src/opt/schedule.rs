// SPDX-License-Identifier: MIT
//! List scheduling before register allocation, for latency as long as registers last, for pressure where they do not.
//!
//! Each block is scheduled by itself, top down. An instruction's height is the longest path of latencies from it to the
//! end of the block; of the instructions that are ready the highest goes first, which starts loads early and lets other
//! work run while they are under way. When the values that are live then reach [`BUSY`], the instruction that frees most
//! takes precedence. If the result needs more than that and more registers than the order that came in, the old order
//! stays: it is what the front end's own passes made with pressure in mind.
//!
//! Constants and system registers wait until just before their first reader: they cost nothing to make, but hold a
//! register from then on.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::ops::Range;

use arrayvec::ArrayVec;

use crate::analysis::{Liveness, ValueSet};
use crate::ir::{
    Block, COVERAGE_REGISTER, Coverage, DepthStore, End, Export, Function, Instr, Publish,
    PublishDepth, Src, Value,
};

/// Live values from which on pressure decides.
const BUSY: usize = 56;
/// Blocks longer than this keep their order: picking takes time by the square of what is ready.
const LONGEST: usize = 4096;

/// Cycles until a result can be used, roughly. The hardware reference has no latencies; what matters is that memory is
/// far slower than arithmetic, and special functions somewhat (INFERRED).
fn latency(instr: &Instr) -> u32 {
    match instr {
        Instr::Texture(_) => 80,
        Instr::Load(_) | Instr::LoadHigh(_) | Instr::Atomic(_) => 60,
        Instr::TileLoad(_) | Instr::IterFlat(_) => 12,
        Instr::SharedLoad(_) | Instr::ScratchLoad(_) | Instr::Fill(_) => 24,
        Instr::Sfu(_) | Instr::Reduce(_) | Instr::Shuffle(_) | Instr::ShuffleImm(_) => 6,
        Instr::Ballot(_) | Instr::IMulWide(_) | Instr::IMad(_) => 4,
        _ => 2,
    }
}

/// Reorders the instructions of every block. Gives the liveness at block boundaries, which that does not change.
pub(crate) fn schedule(function: &mut Function) -> Liveness {
    let liveness = Liveness::of(function);
    let mut scratch = Scratch {
        maker: vec![NOBODY; function.num_values as usize],
        reads: vec![0; function.num_values as usize],
    };
    for id in function.block_ids() {
        let instrs = std::mem::take(&mut function.blocks[id.index()].instrs);
        let order = order(function, id, &instrs, &liveness, &mut scratch);
        function.blocks[id.index()].instrs = match order {
            Some(order) => {
                let mut slots: Vec<Option<Instr>> = instrs.into_iter().map(Some).collect();
                let picked = order.iter().filter_map(|&i| slots[i as usize].take());
                sink_cheap(picked, &mut scratch)
            }
            None => instrs,
        };
    }
    liveness
}

/// No instruction.
const NOBODY: u32 = u32::MAX;

/// Notes by value that every block begins with as they are at first, so that they are made once for all of them.
struct Scratch {
    /// Where in the block it is made.
    maker: Vec<u32>,
    /// Reads that are still to come in the block.
    reads: Vec<u32>,
}

/// The dependences of a block.
struct Graph {
    /// Who must come later: those of instruction `i` from `first[i]` up to `first[i + 1]`.
    next: Vec<u32>,
    first: Vec<u32>,
    /// How many must come before.
    waiting: Vec<u32>,
    height: Vec<u32>,
}

impl Graph {
    fn of(instrs: &[Instr], maker: &mut [u32]) -> Graph {
        let count = instrs.len();
        let mut graph = Graph {
            next: Vec::new(),
            first: vec![0; count + 2],
            waiting: vec![0; count],
            height: vec![0; count],
        };
        let mut edges: Vec<(u32, u32)> = Vec::with_capacity(2 * count);
        let mut memory = MemoryOrder::default();
        let mut before: Vec<u32> = Vec::new();
        // By instruction, who was last found to come behind it.
        let mut behind = vec![NOBODY; count];
        for (i, instr) in (0..).zip(instrs) {
            before.clear();
            instr.for_each_src_value(|v| {
                let from = maker[v.0 as usize];
                if from != NOBODY {
                    before.push(from);
                }
            });
            memory.add(i, instr, &mut before);
            for from in &before {
                if std::mem::replace(&mut behind[*from as usize], i) != i {
                    edges.push((*from, i));
                    graph.first[*from as usize + 2] += 1;
                    graph.waiting[i as usize] += 1;
                }
            }
            instr.for_each_dst_value(|v| maker[v.0 as usize] = i);
        }
        for instr in instrs {
            instr.for_each_dst_value(|v| maker[v.0 as usize] = NOBODY);
        }
        // Edges by their origin: `first[i + 1]` is where the next one of `i` goes, and in the end where those of `i` end.
        for i in 2..graph.first.len() {
            graph.first[i] += graph.first[i - 1];
        }
        graph.next.resize(edges.len(), 0);
        for (from, to) in edges {
            let place = &mut graph.first[from as usize + 1];
            graph.next[*place as usize] = to;
            *place += 1;
        }
        for i in (0..count).rev() {
            let below = graph
                .behind(i)
                .map(|n| graph.height[graph.next[n] as usize]);
            graph.height[i] = below.max().unwrap_or(0) + latency(&instrs[i]);
        }
        graph
    }

    /// Places in `next` of who must come behind an instruction.
    fn behind(&self, i: usize) -> Range<usize> {
        self.first[i] as usize..self.first[i + 1] as usize
    }
}

/// Which memory accesses must stay in order: reads among each other need not, everything else of one space does. So it is
/// with publications, each of which is a space.
#[derive(Default)]
struct MemoryOrder {
    spaces: [Space; 5],
    publications: HashMap<u8, Space>,
}

/// What texture operations read: only barriers order that.
const TEXTURES: usize = 3;

/// Tile memory and coverage.
const TILE: usize = 4;

#[derive(Default)]
struct Space {
    last_write: Option<u32>,
    reads: Vec<u32>,
}

impl MemoryOrder {
    fn add(&mut self, i: u32, instr: &Instr, before: &mut Vec<u32>) {
        let (space, writes) = match instr {
            Instr::Load(_) | Instr::LoadHigh(_) => (0, false),
            Instr::Store(_) | Instr::Atomic(_) => (0, true),
            Instr::SharedLoad(_) => (1, false),
            Instr::SharedStore(_) => (1, true),
            Instr::ScratchLoad(_) | Instr::Fill(_) => (2, false),
            Instr::ScratchStore(_) | Instr::Spill(_) => (2, true),
            Instr::Barrier(_) => {
                for space in [0, 1, TEXTURES] {
                    self.spaces[space].write(i, before);
                }
                return;
            }
            Instr::TileAccess(_) => {
                for space in [0, 1, TEXTURES, TILE] {
                    self.spaces[space].write(i, before);
                }
                return;
            }
            // What is killed does not store any more.
            Instr::Coverage(Coverage { word }) | Instr::DepthStore(DepthStore { word }) => {
                let words = if matches!(instr, Instr::DepthStore(_)) {
                    2
                } else {
                    1
                };
                for word in *word..*word + words {
                    self.publications.entry(word).or_default().read(i, before);
                }
                for space in [0, TILE] {
                    self.spaces[space].write(i, before);
                }
                return;
            }
            Instr::VertexOut(op) => {
                self.publications
                    .entry(op.word)
                    .or_default()
                    .read(i, before);
                return;
            }
            Instr::BlockStore(op) => {
                for word in op.block.params..op.block.params + 4 {
                    self.publications.entry(word).or_default().read(i, before);
                }
                (TILE, true)
            }
            Instr::TileFence(_) | Instr::TileStore(_) => (TILE, true),
            Instr::TileLoad(_) => (TILE, false),
            Instr::SysReg(op) if op.number == COVERAGE_REGISTER => (TILE, false),
            Instr::Export(Export { word, .. })
            | Instr::PublishDepth(PublishDepth { word, .. })
            | Instr::Publish(Publish { word, .. }) => {
                self.publications.entry(*word).or_default().write(i, before);
                return;
            }
            Instr::Texture(op) => {
                let reads = op.bundle.reads();
                for word in (0..128).filter(|word| reads >> word & 1 == 1) {
                    self.publications.entry(word).or_default().read(i, before);
                }
                (TEXTURES, false)
            }
            _ => return,
        };
        let space = &mut self.spaces[space];
        if writes {
            space.write(i, before);
        } else {
            space.read(i, before);
        }
    }
}

impl Space {
    fn read(&mut self, i: u32, before: &mut Vec<u32>) {
        before.extend(self.last_write);
        self.reads.push(i);
    }

    fn write(&mut self, i: u32, before: &mut Vec<u32>) {
        before.extend(self.last_write.replace(i));
        before.append(&mut self.reads);
    }
}

/// What is live while a block is being scheduled.
struct Pressure<'l> {
    live_out: &'l ValueSet,
    /// Reads that are still to come in this block.
    reads: &'l mut [u32],
    live: usize,
    most: usize,
}

/// More than the sources of any instruction.
const SOURCES: usize = 16;

impl Pressure<'_> {
    fn dies(&self, value: Value, reads: u32) -> bool {
        self.reads[value.0 as usize] == reads && !self.live_out.contains(value)
    }

    /// Registers that an instruction takes, less those that it frees.
    fn change(&self, instr: &Instr) -> isize {
        let mut seen = ArrayVec::<(Value, u32), SOURCES>::new();
        instr.for_each_src_value(|v| match seen.iter_mut().find(|(s, _)| *s == v) {
            Some((_, count)) => *count += 1,
            None => seen.push((v, 1)),
        });
        let freed = seen
            .iter()
            .filter(|(v, count)| self.dies(*v, *count))
            .count();
        let mut made = 0;
        instr.for_each_dst_value(|_| made += 1);
        made - freed as isize
    }

    fn take(&mut self, instr: &Instr) {
        let mut change = 0;
        instr.for_each_dst_value(|_| change += 1);
        instr.for_each_src_value(|v| {
            let reads = &mut self.reads[v.0 as usize];
            *reads -= 1;
            if *reads == 0 && !self.live_out.contains(v) {
                change -= 1;
            }
        });
        self.live = self.live.saturating_add_signed(change);
        self.most = self.most.max(self.live);
        // What nobody reads is free again at once.
        let mut unread = 0;
        instr.for_each_dst_value(|v| unread += usize::from(self.dies(v, 0)));
        self.live -= unread.min(self.live);
    }
}

/// What is ready: the highest on top, of equals the one that came first in the old order.
type Ready = BinaryHeap<(u32, Reverse<u32>)>;

/// The new order, or `None` to keep the old one.
fn order(
    function: &Function,
    id: Block,
    instrs: &[Instr],
    liveness: &Liveness,
    Scratch { maker, reads }: &mut Scratch,
) -> Option<Vec<u32>> {
    if !(3..=LONGEST).contains(&instrs.len()) {
        return None;
    }
    let mut graph = Graph::of(instrs, maker);
    let block = &function.blocks[id.index()];
    let start = liveness.live_in(id).len() + block.phis.len();
    let count = |reads: &mut [u32]| {
        for instr in instrs {
            instr.for_each_src_value(|v| reads[v.0 as usize] += 1);
        }
    };
    let condition: ArrayVec<Value, 2> = match &block.end {
        End::If { cond, .. } => cond.srcs().iter().filter_map(Src::value).collect(),
        _ => ArrayVec::new(),
    };
    let made = |instr: &Instr| {
        let mut made = 0;
        instr.for_each_dst(|group, _| made += group.len());
        made
    };
    // If all that is made here can be live at one time, it need not be counted what is.
    let calm = start + instrs.iter().map(made).sum::<usize>() < BUSY;
    for value in condition.iter().filter(|_| !calm) {
        // Never counted down: it lives to the end of the block.
        reads[value.0 as usize] += 1;
    }
    if !calm {
        count(reads);
    }
    let mut pressure = Pressure {
        live_out: liveness.live_out(id),
        reads,
        live: start,
        most: start,
    };
    let entry = |graph: &Graph, i: u32| (graph.height[i as usize], Reverse(i));
    let mut ready: Ready = (0..instrs.len() as u32)
        .filter(|&i| graph.waiting[i as usize] == 0)
        .map(|i| entry(&graph, i))
        .collect();
    let mut order = Vec::with_capacity(instrs.len());
    while let Some(i) = pick(&mut ready, &pressure, instrs) {
        if !calm {
            pressure.take(&instrs[i as usize]);
        }
        order.push(i);
        for n in graph.behind(i as usize) {
            let next = graph.next[n];
            graph.waiting[next as usize] -= 1;
            if graph.waiting[next as usize] == 0 {
                ready.push(entry(&graph, next));
            }
        }
    }
    let most = pressure.most;
    let mut good = order.len() == instrs.len();
    if good && most > BUSY {
        // All reads are counted down again.
        count(reads);
        let mut old = Pressure {
            live_out: liveness.live_out(id),
            reads,
            live: start,
            most: start,
        };
        instrs.iter().for_each(|instr| old.take(instr));
        good = most <= old.most;
    }
    for value in &condition {
        reads[value.0 as usize] = 0;
    }
    good.then_some(order)
}

/// Takes the best of what is ready.
fn pick(ready: &mut Ready, pressure: &Pressure<'_>, instrs: &[Instr]) -> Option<u32> {
    if pressure.live < BUSY {
        return ready.pop().map(|(_, Reverse(i))| i);
    }
    let key = |(height, Reverse(i)): &(u32, Reverse<u32>)| {
        let change = pressure.change(&instrs[*i as usize]);
        (change, Reverse(*height), *i)
    };
    let (.., best) = ready.iter().map(key).min()?;
    ready.retain(|(_, Reverse(i))| *i != best);
    Some(best)
}

/// Moves constants and the like down to their first reader in the block.
fn sink_cheap(instrs: impl Iterator<Item = Instr>, scratch: &mut Scratch) -> Vec<Instr> {
    // Where each of them is in `held`.
    let places = &mut scratch.maker;
    let mut held: Vec<Option<Instr>> = Vec::new();
    let mut out = Vec::with_capacity(instrs.size_hint().1.unwrap_or(0));
    for instr in instrs {
        if instr.is_rematerializable() {
            instr.for_each_dst_value(|v| places[v.0 as usize] = held.len() as u32);
            held.push(Some(instr));
            continue;
        }
        instr.for_each_src_value(|v| {
            let place = std::mem::replace(&mut places[v.0 as usize], NOBODY);
            out.extend(held.get_mut(place as usize).and_then(Option::take));
        });
        out.push(instr);
    }
    for instr in held.into_iter().flatten() {
        instr.for_each_dst_value(|v| places[v.0 as usize] = NOBODY);
        out.push(instr);
    }
    out
}
