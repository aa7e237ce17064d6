// SPDX-License-Identifier: MIT
//! What an instruction destroys is lost for lanes that wait, too.

use super::builder::Builder;
use super::same_behaviour;
use crate::ir::*;
use crate::regalloc::validate;

fn destroy(b: &mut Builder, data: Value, index: Value) {
    b.push(SharedStore {
        data: data.into(),
        index: index.into(),
        root: 2,
    });
}

fn less(a: Value, b: Value) -> Cond {
    Cond {
        cmp: Cmp::ULt,
        half: false,
        a: a.into(),
        b: b.into(),
        invert: false,
    }
}

/// `if (x < y) { then } else { other }`, and then the stores of what is left.
fn branch(
    b: &mut Builder,
    x: [Value; 2],
    then: impl FnOnce(&mut Builder),
    other: impl FnOnce(&mut Builder),
) {
    b.end(End::If {
        cond: less(x[0], x[1]),
        else_block: Block(2),
        merge: Block(3),
        divergent: true,
    });
    b.open();
    then(b);
    b.end(End::EndThen { merge: Block(3) });
    b.open();
    other(b);
    b.end(End::EndElse);
    b.open();
}

/// The function before and after, which do the same for lanes together.
fn allocated(mut b: Builder) -> (Function, Function) {
    b.function.compute_preds();
    validate::validate(&b.function).expect("a sound test");
    let after = crate::regalloc::run(&b.function).expect("allocates");
    same_behaviour(&b.function, &after).expect("the same behaviour");
    (b.function, after)
}

fn moves(function: &Function) -> usize {
    let instrs = function.blocks.iter().flat_map(|block| &block.instrs);
    instrs
        .filter(|i| matches!(i, Instr::Mov(_) | Instr::Swap(_)))
        .count()
}

/// Destroys `x` in the first arm, though its last use there, while other lanes wait with it for the other arm.
fn needed_in_the_other_arm() -> Builder {
    let mut b = Builder::new();
    let i = b.thread();
    let x = b.load(Base::Pair(2), Some(i), 2);
    let (first, second) = (x[0], x[1]);
    branch(
        &mut b,
        [first, second],
        |b| destroy(b, first, i),
        |b| b.store(&[first], i),
    );
    b.store(&[i], i);
    b
}

#[test]
fn what_the_other_arm_needs_is_copied() {
    let (_, after) = allocated(needed_in_the_other_arm());
    assert_eq!(moves(&after), 1, "{after}");
}

#[test]
fn a_missing_copy_is_found() {
    let (before, mut after) = allocated(needed_in_the_other_arm());
    validate(&before, &after).expect("right");
    let then = &mut after.blocks[1].instrs;
    let [Instr::Mov(copy), Instr::SharedStore(store)] = &mut then[..] else {
        panic!("{after}");
    };
    store.data = copy.src;
    then.remove(0);
    let error = validate(&before, &after).expect_err("lost while lanes wait");
    assert!(error.starts_with("b2"), "{error}");
    assert!(same_behaviour(&before, &after).is_err(), "{after}");
}

#[test]
fn lanes_wait_for_the_end_with_what_they_have() {
    let mut b = Builder::new();
    let i = b.thread();
    let x = b.load(Base::Pair(2), Some(i), 2);
    let mut made = None;
    let mut other = None;
    branch(
        &mut b,
        [x[0], x[1]],
        |b| made = Some(b.add(x[0], Src::imm(1))),
        |b| {
            for k in 0..4 {
                let data = b.add(x[1], Src::imm(k));
                destroy(b, data, i);
            }
            other = Some(b.add(x[0], Src::imm(2)));
        },
    );
    let met = b.value();
    let srcs = [made, other].map(|v| Src::from(v.expect("made in its arm")));
    b.block().phis.push(Phi {
        dst: met,
        srcs: srcs.to_vec(),
    });
    b.store(&[met], i);
    let (_, after) = allocated(b);
    assert_eq!(moves(&after), 0, "{after}");
}

/// Lanes that have left the loop keep the last sum; the others destroy theirs when they have the next.
#[test]
fn lanes_that_left_a_loop_keep_their_values() {
    let mut b = Builder::new();
    let i = b.thread();
    let sums = b.repeat(&[Src::imm(3), i.into()], |b, k, sums| {
        let next = b.add(sums[0], k);
        destroy(b, sums[0], k);
        let other = b.add(sums[1], next);
        vec![next, other]
    });
    b.store(&sums, i);
    let (_, after) = allocated(b);
    // The start of the second sum, what is destroyed, and the first sum on its way back.
    assert!(moves(&after) <= 3, "{after}");
}
