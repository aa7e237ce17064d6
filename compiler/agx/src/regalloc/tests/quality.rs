// SPDX-License-Identifier: MIT
//! Code as compilers emit it takes no more moves than a person would write.

use super::builder::Builder;
use crate::ir::*;

/// Allocates; gives the code and the number of moves between registers, and of those in loops.
fn finish(mut b: Builder) -> (Function, usize, usize) {
    b.function.compute_preds();
    validate::validate(&b.function).expect("a sound test");
    let after = crate::regalloc::run(&b.function).expect("allocates");
    super::same_behaviour(&b.function, &after).expect("the same behaviour");
    let moves = |block: &BlockData| {
        let is_move = |i: &&Instr| match i {
            Instr::Mov(op) => op.src.reg().is_some(),
            Instr::Swap(_) => true,
            _ => false,
        };
        block.instrs.iter().filter(is_move).count()
    };
    let all = after.blocks.iter().map(moves).sum();
    let inner = after
        .blocks
        .iter()
        .filter(|b| b.loop_depth > 0)
        .map(moves)
        .sum();
    (after, all, inner)
}

fn highest(function: &Function) -> u8 {
    let mut highest = 0;
    for instr in function.blocks.iter().flat_map(|b| &b.instrs) {
        instr.for_each_dst(|group, _| {
            group
                .iter()
                .filter_map(Dst::reg)
                .for_each(|r| highest = highest.max(r));
        });
    }
    highest
}

#[test]
fn vectors_stay_where_they_were_loaded() {
    let mut b = Builder::new();
    let i = b.thread();
    let x = b.load(Base::Pair(2), Some(i), 4);
    let y = b.load(Base::Pair(3), Some(i), 4);
    let z: Vec<_> = (0..4).map(|c| b.fma(x[c], y[c], y[c])).collect();
    b.store(&z, i);
    let (after, moves, _) = finish(b);
    assert_eq!(moves, 0, "{after}");
    assert!(highest(&after) < 14, "{after}");
}

#[test]
fn computed_vectors_are_made_in_place() {
    let mut b = Builder::new();
    let i = b.thread();
    // The components are made in reverse order, with other things between.
    let mut made = Vec::new();
    for k in 0..4 {
        let t = b.add(i, Src::imm(k));
        let u = b.add(t, t);
        made.push(b.fma(t, u, t));
    }
    made.reverse();
    b.store(&made, i);
    let (after, moves, _) = finish(b);
    assert_eq!(moves, 0, "{after}");
}

#[test]
fn sums_in_a_loop_stay_in_their_registers() {
    let mut b = Builder::new();
    let i = b.thread();
    let zero = [Src::imm(0); 4];
    let sums = b.repeat(&zero, |b, k, sums| {
        let at = b.add(i, k);
        let x = b.load(Base::Pair(2), Some(at), 4);
        (0..4).map(|c| b.fma(x[c], x[c], sums[c])).collect()
    });
    b.store(&sums, i);
    let (after, moves, _) = finish(b);
    assert_eq!(moves, 0, "{after}");
}

#[test]
fn one_zero_may_begin_several_sums() {
    let mut b = Builder::new();
    let i = b.thread();
    let zero = b.imm(0);
    let sums = b.repeat(&[zero.into(); 4], |b, k, sums| {
        let at = b.add(i, k);
        let x = b.load(Base::Pair(2), Some(at), 4);
        (0..4).map(|c| b.fma(x[c], x[c], sums[c])).collect()
    });
    b.store(&sums, i);
    let (after, moves, inner) = finish(b);
    assert_eq!(inner, 0, "{after}");
    assert!(moves <= 4, "{after}");
}

#[test]
fn addresses_step_in_place() {
    let mut b = Builder::new();
    let i = b.thread();
    let start = b.load(Base::Pair(2), Some(i), 2);
    let init = [start[0].into(), start[1].into(), Src::imm(0)];
    let last = b.repeat(&init, |b, _, carried| {
        let at = [carried[0], carried[1]];
        let x = b.load(Base::Regs(at.map(Src::from)), None, 1);
        let sum = b.add(carried[2], x[0]);
        let next = b.add64(at, [Src::new(Ref::Uniform(8)), Src::new(Ref::Uniform(9))]);
        vec![next[0], next[1], sum]
    });
    b.store(&last[2..], i);
    let (after, moves, _) = finish(b);
    assert_eq!(moves, 0, "{after}");
}

#[test]
fn arms_of_an_if_meet_in_one_register() {
    let mut b = Builder::new();
    let i = b.thread();
    let x = b.load(Base::Pair(2), Some(i), 3);
    let cond = Cond {
        cmp: Cmp::ULt,
        half: false,
        a: x[0].into(),
        b: x[1].into(),
        invert: false,
    };
    b.end(End::If {
        cond,
        else_block: Block(2),
        merge: Block(3),
        divergent: true,
    });
    b.open();
    let t = b.fma(x[0], x[1], x[2]);
    b.end(End::EndThen { merge: Block(3) });
    b.open();
    let e1 = b.add(x[2], Src::imm(1));
    let e2 = b.add(e1, e1);
    b.end(End::EndElse);
    b.open();
    let m = b.value();
    b.block().phis.push(Phi {
        dst: m,
        srcs: vec![t.into(), e2.into()],
    });
    b.store(&[m], i);
    let (after, moves, _) = finish(b);
    assert_eq!(moves, 0, "{after}");
}

#[test]
fn only_what_lives_on_is_copied_for_an_atomic() {
    let mut b = Builder::new();
    let i = b.thread();
    let x = b.load(Base::Pair(2), Some(i), 2);
    b.push(Atomic {
        dst: None,
        data: [Src::from(x[0])].into_iter().collect(),
        base: Base::Pair(3),
        index: i.into(),
        op: AtomicOp::ALL[0],
    });
    b.store(&x[1..], i);
    let (after, moves, _) = finish(b);
    assert_eq!(moves, 1, "{after}");
}

/// A tile of a matrix product: 16 sums, two vectors loaded in each iteration, four stores behind the loop.
#[test]
fn a_tile_of_sums_needs_no_moves() {
    let mut b = Builder::new();
    let i = b.thread();
    let sums = b.repeat(&[Src::imm(0); 16], |b, k, sums| {
        let at = b.add(i, k);
        let x = b.load(Base::Pair(2), Some(at), 4);
        let y = b.load(Base::Pair(3), Some(at), 4);
        (0..16)
            .map(|c| b.fma(x[c / 4], y[c % 4], sums[c]))
            .collect()
    });
    for row in 0..4u32 {
        let at = b.add(i, Src::imm(row));
        b.store(&sums[4 * row as usize..][..4], at);
    }
    let (after, moves, _) = finish(b);
    assert_eq!(moves, 0, "{after}");
    assert!(highest(&after) < 30, "{after}");
}

#[test]
fn values_that_a_loop_does_not_use_are_not_filled_in_it() {
    let mut b = Builder::new();
    let i = b.thread();
    let kept: Vec<Value> = (0..15)
        .flat_map(|_| b.load(Base::Pair(2), Some(i), 4))
        .collect();
    let sums = b.repeat(&[Src::imm(0); 8], |b, k, sums| {
        let at = b.add(i, k);
        let x = b.load(Base::Pair(3), Some(at), 4);
        (0..8)
            .map(|c| b.fma(x[c % 4], x[(c + 1) % 4], sums[c]))
            .collect()
    });
    for group in kept.chunks(4).chain(sums.chunks(4)) {
        b.store(group, i);
    }
    b.function.compute_preds();
    let before = b.function.clone();
    let spilled = crate::spill::run(&mut b.function, 40).expect("spills");
    assert!(spilled.spills > 0 && spilled.fills <= 60, "{spilled:?}");
    for block in b.function.blocks.iter().filter(|b| b.loop_depth > 0) {
        let memory = |i: &Instr| matches!(i, Instr::Spill(_) | Instr::Fill(_));
        assert!(!block.instrs.iter().any(memory), "{}", b.function);
    }
    super::same_behaviour(&before, &b.function).expect("the same behaviour");
}
