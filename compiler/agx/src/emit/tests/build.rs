// SPDX-License-Identifier: MIT
//! Register-form functions by hand.

use crate::ir::*;

pub(super) fn r(reg: u8) -> Src {
    Src::new(Ref::Reg(reg))
}

pub(super) fn u(word: u8) -> Src {
    Src::new(Ref::Uniform(word))
}

pub(super) fn d(reg: u8) -> Dst {
    Dst::Reg(reg)
}

pub(super) fn imm(reg: u8, value: u32) -> Instr {
    Imm { dst: d(reg), value }.into()
}

pub(super) fn dsts(first: u8, count: u8) -> Tuple<Dst> {
    (first..first + count).map(d).collect()
}

pub(super) fn srcs(first: u8, count: u8) -> Tuple<Src> {
    (first..first + count).map(r).collect()
}

/// `dst.. = pair[index << shift]`.
pub(super) fn load(dst: u8, count: u8, pair: u8, index: u8, shift: u8) -> Instr {
    Load {
        dst: dsts(dst, count),
        base: Base::Pair(pair),
        index: Some(r(index)),
        format: Format::words(count.into()).expect("1..=4"),
        shift,
        offset: 0,
    }
    .into()
}

/// `pair[index << shift] = data..`.
pub(super) fn store(data: u8, count: u8, pair: u8, index: u8, shift: u8) -> Instr {
    Store {
        data: srcs(data, count),
        base: Base::Pair(pair),
        index: r(index),
        format: Format::words(count.into()).expect("1..=4"),
        shift,
        offset: 0,
    }
    .into()
}

pub(super) fn iadd(dst: u8, a: u8, b: u8) -> Instr {
    IAdd {
        dst: d(dst),
        a: r(a),
        b: r(b),
        sub: false,
    }
    .into()
}

/// The lane's number.
pub(super) fn lane(dst: u8) -> Instr {
    SysReg {
        dst: d(dst),
        number: 0xa0,
        narrow: false,
    }
    .into()
}

/// A function of blocks given as code and end.
pub(super) fn function(blocks: Vec<(Vec<Instr>, End)>) -> Function {
    let blocks = blocks
        .into_iter()
        .map(|(instrs, end)| BlockData {
            preds: Vec::new(),
            phis: Vec::new(),
            instrs,
            end,
            loop_depth: 0,
        })
        .collect();
    let mut function = Function {
        blocks,
        num_values: 0,
        scratch_words: 64,
    };
    function.compute_preds();
    function
}

/// Straight code.
pub(super) fn straight(instrs: Vec<Instr>) -> Function {
    function(vec![(instrs, End::Stop)])
}
