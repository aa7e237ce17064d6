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

use crate::analysis::{Liveness, ValueSet};
use crate::ir::{Block, End, Function, Instr, Value};

/// Live values from which on pressure decides.
const BUSY: usize = 56;
/// Blocks longer than this keep their order: picking takes time by the square of what is ready.
const LONGEST: usize = 4096;

/// Cycles until a result can be used, roughly. The hardware reference has no latencies; what matters is that memory is
/// far slower than arithmetic, and special functions somewhat (INFERRED).
fn latency(instr: &Instr) -> u32 {
    match instr {
        Instr::Load(_) | Instr::LoadHigh(_) | Instr::Atomic(_) => 60,
        Instr::SharedLoad(_) | Instr::ScratchLoad(_) | Instr::Fill(_) => 24,
        Instr::Sfu(_) | Instr::Reduce(_) | Instr::Shuffle(_) | Instr::ShuffleImm(_) => 6,
        Instr::Ballot(_) | Instr::IMulWide(_) | Instr::IMad(_) => 4,
        _ => 2,
    }
}

/// Reorders the instructions of every block.
pub(crate) fn schedule(function: &mut Function) {
    let liveness = Liveness::of(function);
    for id in function.block_ids() {
        let instrs = std::mem::take(&mut function.blocks[id.index()].instrs);
        let order = order(function, id, &instrs, &liveness);
        function.blocks[id.index()].instrs = match order {
            Some(order) => {
                let mut slots: Vec<Option<Instr>> = instrs.into_iter().map(Some).collect();
                let picked = order.iter().filter_map(|&i| slots[i].take());
                sink_cheap(picked.collect())
            }
            None => instrs,
        };
    }
}

/// The dependences of a block.
struct Graph {
    /// Who must come later.
    next: Vec<Vec<usize>>,
    /// How many must come before.
    waiting: Vec<usize>,
    height: Vec<u32>,
}

impl Graph {
    fn of(instrs: &[Instr], num_values: u32) -> Graph {
        let count = instrs.len();
        let mut graph = Graph {
            next: vec![Vec::new(); count],
            waiting: vec![0; count],
            height: vec![0; count],
        };
        let mut maker: Vec<Option<usize>> = vec![None; num_values as usize];
        let mut memory = MemoryOrder::default();
        for (i, instr) in instrs.iter().enumerate() {
            let mut before = Vec::new();
            instr.for_each_src_value(|v| before.extend(maker[v.0 as usize]));
            memory.add(i, instr, &mut before);
            before.sort_unstable();
            before.dedup();
            for from in before {
                graph.next[from].push(i);
                graph.waiting[i] += 1;
            }
            instr.for_each_dst_value(|v| maker[v.0 as usize] = Some(i));
        }
        for i in (0..count).rev() {
            let below = graph.next[i].iter().map(|&n| graph.height[n]).max();
            graph.height[i] = below.unwrap_or(0) + latency(&instrs[i]);
        }
        graph
    }
}

/// Which memory accesses must stay in order: reads among each other need not, everything else of one space does.
#[derive(Default)]
struct MemoryOrder {
    spaces: [Space; 3],
}

#[derive(Default)]
struct Space {
    last_write: Option<usize>,
    reads: Vec<usize>,
}

impl MemoryOrder {
    fn add(&mut self, i: usize, instr: &Instr, before: &mut Vec<usize>) {
        let (space, writes) = match instr {
            Instr::Load(_) | Instr::LoadHigh(_) => (0, false),
            Instr::Store(_) | Instr::Atomic(_) => (0, true),
            Instr::SharedLoad(_) => (1, false),
            Instr::SharedStore(_) => (1, true),
            Instr::ScratchLoad(_) | Instr::Fill(_) => (2, false),
            Instr::ScratchStore(_) | Instr::Spill(_) => (2, true),
            Instr::Barrier(_) => {
                for space in &mut self.spaces[..2] {
                    space.write(i, before);
                }
                return;
            }
            _ => return,
        };
        let space = &mut self.spaces[space];
        if writes {
            space.write(i, before);
        } else {
            before.extend(space.last_write);
            space.reads.push(i);
        }
    }
}

impl Space {
    fn write(&mut self, i: usize, before: &mut Vec<usize>) {
        before.extend(self.last_write.replace(i));
        before.append(&mut self.reads);
    }
}

/// What is live while a block is being scheduled.
struct Pressure<'l> {
    live_out: &'l ValueSet,
    /// Reads that are still to come in this block.
    reads: Vec<u32>,
    live: usize,
    most: usize,
}

impl Pressure<'_> {
    fn dies(&self, value: Value, reads: u32) -> bool {
        self.reads[value.0 as usize] == reads && !self.live_out.contains(value)
    }

    /// Registers that an instruction takes, less those that it frees.
    fn change(&self, instr: &Instr) -> isize {
        let mut seen: Vec<(Value, u32)> = Vec::new();
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
        let change = self.change(instr);
        instr.for_each_src_value(|v| self.reads[v.0 as usize] -= 1);
        self.live = self.live.saturating_add_signed(change);
        self.most = self.most.max(self.live);
        // What nobody reads is free again at once.
        let mut unread = 0;
        instr.for_each_dst_value(|v| unread += usize::from(self.dies(v, 0)));
        self.live -= unread.min(self.live);
    }
}

/// The new order, or `None` to keep the old one.
fn order(
    function: &Function,
    id: Block,
    instrs: &[Instr],
    liveness: &Liveness,
) -> Option<Vec<usize>> {
    if !(3..=LONGEST).contains(&instrs.len()) {
        return None;
    }
    let mut graph = Graph::of(instrs, function.num_values);
    let block = &function.blocks[id.index()];
    let mut reads = vec![0; function.num_values as usize];
    for instr in instrs {
        instr.for_each_src_value(|v| reads[v.0 as usize] += 1);
    }
    if let End::If { cond, .. } = &block.end {
        for value in cond.srcs().iter().filter_map(|s| s.value()) {
            // Never counted down: it lives to the end of the block.
            reads[value.0 as usize] += 1;
        }
    }
    let start = liveness.live_in(id).len() + block.phis.len();
    let fresh = || Pressure {
        live_out: liveness.live_out(id),
        reads: reads.clone(),
        live: start,
        most: start,
    };
    let mut old = fresh();
    instrs.iter().for_each(|instr| old.take(instr));

    let mut pressure = fresh();
    let mut ready: Vec<usize> = (0..instrs.len())
        .filter(|&i| graph.waiting[i] == 0)
        .collect();
    let mut order = Vec::with_capacity(instrs.len());
    while !ready.is_empty() {
        let busy = pressure.live >= BUSY;
        let best = ready.iter().enumerate().min_by_key(|&(_, &i)| {
            let change = if busy { pressure.change(&instrs[i]) } else { 0 };
            (change, u32::MAX - graph.height[i], i)
        });
        let Some((at, &i)) = best else { break };
        ready.swap_remove(at);
        pressure.take(&instrs[i]);
        order.push(i);
        for next in std::mem::take(&mut graph.next[i]) {
            graph.waiting[next] -= 1;
            if graph.waiting[next] == 0 {
                ready.push(next);
            }
        }
    }
    let worse = pressure.most > BUSY && pressure.most > old.most;
    (!worse && order.len() == instrs.len()).then_some(order)
}

/// Moves constants and the like down to their first reader in the block.
fn sink_cheap(instrs: Vec<Instr>) -> Vec<Instr> {
    let mut held: Vec<Instr> = Vec::new();
    let mut out = Vec::with_capacity(instrs.len());
    for instr in instrs {
        if instr.is_rematerializable() {
            held.push(instr);
            continue;
        }
        instr.for_each_src_value(|v| {
            let makes = |i: &Instr| {
                let mut found = false;
                i.for_each_dst_value(|d| found |= d == v);
                found
            };
            if let Some(at) = held.iter().position(makes) {
                out.push(held.remove(at));
            }
        });
        out.push(instr);
    }
    out.append(&mut held);
    out
}
