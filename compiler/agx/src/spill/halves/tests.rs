// SPDX-License-Identifier: MIT
//! Twice as many 16-bit values as registers, of all origins, in registers and nowhere else.

use proptest::prelude::*;

use super::share;
use crate::ir::*;
use crate::regalloc;
use crate::regalloc::tests::builder::Builder;
use crate::regalloc::tests::{checked, config, same_behaviour};

/// Pairs alone: the function is valid and does the same.
fn shared(before: &Function, limit: u32) -> Function {
    let mut after = before.clone();
    crate::spill::strip_unreachable(&mut after);
    share(&mut after, limit);
    validate::validate(&after).unwrap_or_else(|e| panic!("{e}\n{before}\n{after}"));
    same_behaviour(before, &after).expect("the same behaviour");
    after
}

/// Spilling has nothing left to do, and there are registers for all.
fn fits(b: Builder) -> Function {
    let mut before = b.function;
    before.compute_preds();
    validate::validate(&before).expect("a sound test");
    let mut after = before.clone();
    let spilled = crate::spill::run(&mut after, 92).expect("spills");
    assert_eq!(spilled, crate::spill::Spilled::default(), "{after}");
    same_behaviour(&before, &after).expect("the same behaviour");
    let allocated = regalloc::run(&after).expect("allocates");
    regalloc::validate(&after, &allocated).expect("is right");
    same_behaviour(&before, &allocated).expect("the same behaviour");
    after
}

fn count(function: &Function, f: impl Fn(&Instr) -> bool) -> usize {
    let instrs = function.blocks.iter().flat_map(|b| &b.instrs);
    instrs.filter(|i| f(i)).count()
}

fn load_half(b: &mut Builder, index: Value, offset: i16) -> Value {
    let dst = b.value();
    b.push(Load {
        dst: [Dst::from(dst)].into_iter().collect(),
        base: Base::Pair(2),
        index: Some(index.into()),
        format: Format::I16,
        shift: 1,
        offset,
    });
    dst
}

fn add_half(b: &mut Builder, x: Value, y: Value) -> Value {
    let dst = b.value();
    b.push(H2 {
        dst: dst.into(),
        a: x.into(),
        b: y.into(),
        op: AddMul::Add,
    });
    dst
}

fn store_half(b: &mut Builder, data: Value, index: Value) {
    b.push(Store {
        data: [Src::from(data)].into_iter().collect(),
        base: Base::Pair(1),
        index: index.into(),
        format: Format::I16,
        shift: 1,
        offset: 0,
    });
}

/// Adds them up, last first, then first first.
fn fold(b: &mut Builder, values: &[Value], index: Value) {
    let mut sum = values[0];
    for value in values.iter().rev().chain(values) {
        sum = add_half(b, sum, *value);
    }
    store_half(b, sum, index);
}

#[test]
fn loaded_halves_share_registers_for_nothing() {
    for n in [60, 100, 176] {
        let mut b = Builder::new();
        let i = b.thread();
        let values: Vec<Value> = (0..n).map(|k| load_half(&mut b, i, 2 * k)).collect();
        fold(&mut b, &values, i);
        let before = b.function.blocks[0].instrs.len();
        let after = fits(b);
        // Every load writes its half, and sums take either one.
        assert_eq!(count(&after, |_| true), before, "{after}");
        let pairs = count(&after, |i| matches!(i, Instr::LoadHigh(_)));
        assert!(if n > 92 {
            pairs >= n as usize - 92
        } else {
            pairs == 0
        });
    }
}

#[test]
fn computed_halves_share_registers() {
    let mut b = Builder::new();
    let i = b.thread();
    let x = load_half(&mut b, i, 0);
    let values: Vec<Value> = (0..170)
        .scan(x, |last, _| {
            *last = add_half(&mut b, *last, x);
            Some(*last)
        })
        .collect();
    fold(&mut b, &values, i);
    let after = fits(b);
    assert!(count(&after, |i| matches!(i, Instr::F32ToF16High(_))) >= 170 - 92);
}

/// Integers: all bits stay as they are, and extensions of what was in a high half are one shift.
#[test]
fn integers_share_registers() {
    let mut b = Builder::new();
    let i = b.thread();
    let values: Vec<Value> = (0..170).map(|k| b.add(i, Src::imm(k))).collect();
    let mask = b.imm(0xffff);
    let mut sum = i;
    for (k, value) in values.iter().enumerate().rev() {
        let (up, wide) = (b.value(), b.value());
        if k % 2 == 0 {
            for (dst, a, op) in [(up, *value, ShiftOp::Shl), (wide, up, ShiftOp::Asr)] {
                b.push(ShiftImm {
                    dst: dst.into(),
                    a: a.into(),
                    op,
                    amount: 16,
                });
            }
        } else {
            b.push(Logic {
                dst: wide.into(),
                a: mask.into(),
                b: (*value).into(),
                op: LogicOp::And,
            });
        }
        sum = b.add(sum, Src::from(wide));
    }
    b.store(&[sum], i);
    let after = fits(b);
    let highs = count(
        &after,
        |i| matches!(i, Instr::ShiftImm(op) if op.amount == 16 && op.op != ShiftOp::Shl),
    );
    assert!(highs >= 85, "{after}");
}

/// 16-bit values, words and vectors of words, all at one time.
#[test]
fn mixed_with_words_and_tuples() {
    let mut b = Builder::new();
    let i = b.thread();
    let mut halves = Vec::new();
    let mut vectors = Vec::new();
    for k in 0..10 {
        halves.extend((0..11).map(|j| load_half(&mut b, i, 2 * (11 * k + j))));
        vectors.push(b.load(Base::Pair(3), Some(i), 3));
    }
    fold(&mut b, &halves, i);
    for vector in &vectors {
        b.store(vector, i);
        b.store(&[vector[2], vector[0], vector[1]], i);
    }
    fits(b);
}

/// Values from before a loop, in it and behind it.
#[test]
fn around_a_loop() {
    let mut b = Builder::new();
    let i = b.thread();
    let values: Vec<Value> = (0..150).map(|k| load_half(&mut b, i, 2 * k)).collect();
    let inner = values.clone();
    let sums = b.repeat(&[i.into()], |b, k, carried| {
        let mut sum = carried[0];
        for value in inner.iter().step_by(2) {
            sum = add_half(b, sum, *value);
        }
        store_half(b, sum, k);
        vec![sum]
    });
    store_half(&mut b, sums[0], i);
    fold(&mut b, &values, i);
    fits(b);
}

/// More sums than registers go around a loop, two in each.
#[test]
fn sums_of_a_loop() {
    for n in [60, 100, 150] {
        let mut b = Builder::new();
        let i = b.thread();
        let init: Vec<Src> = (0..n).map(|k| load_half(&mut b, i, 2 * k).into()).collect();
        let sums = b.repeat(&init, |b, k, sums| {
            let at = b.add(i, k);
            let x = load_half(b, at, 0);
            sums.iter().map(|sum| add_half(b, *sum, x)).collect()
        });
        fold(&mut b, &sums, i);
        let after = fits(b);
        let phis: usize = after.blocks.iter().map(|b| b.phis.len()).sum();
        assert!(if n > 92 {
            phis <= 92
        } else {
            phis == n as usize + 1
        });
    }
}

/// The same where sums change places, so that no pair stays together.
#[test]
fn halves_that_go_around_in_circles() {
    let mut b = Builder::new();
    let i = b.thread();
    let init: Vec<Src> = (0..120)
        .map(|k| load_half(&mut b, i, 2 * k).into())
        .collect();
    let last = b.repeat(&init, |b, k, carried| {
        let mut next = carried.to_vec();
        next.rotate_left(7);
        next.swap(3, 90);
        store_half(b, next[5], k);
        next
    });
    fold(&mut b, &last, i);
    b.function.compute_preds();
    let before = b.function.clone();
    crate::spill::run(&mut b.function, 92).expect("spills");
    same_behaviour(&before, &b.function).expect("the same behaviour");
    let allocated = regalloc::run(&b.function).expect("allocates");
    same_behaviour(&before, &allocated).expect("the same behaviour");
}

/// More than two values for each register: pairs first, and the rest is spilled.
#[test]
fn what_does_not_fit_is_spilled() {
    let mut b = Builder::new();
    let i = b.thread();
    let values: Vec<Value> = (0..260).map(|k| load_half(&mut b, i, 2 * k)).collect();
    fold(&mut b, &values, i);
    b.function.compute_preds();
    let before = b.function.clone();
    let spilled = crate::spill::run(&mut b.function, 92).expect("spills");
    // Of pairs, each of which is two values.
    assert!(spilled.spills > 30 && spilled.spills < 90, "{spilled:?}");
    same_behaviour(&before, &b.function).expect("the same behaviour");
    regalloc::run(&b.function).expect("allocates");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..Default::default() })]

    #[test]
    fn pairs_change_nothing(config in config(8..120), limit in 6u32..60) {
        let before = checked(config)?;
        let after = shared(&before, limit);
        let pressure = crate::spill::pressure;
        prop_assert!(pressure(&after) <= pressure(&before).max(limit) + 3, "{}\n{}", before, after);
    }
}
