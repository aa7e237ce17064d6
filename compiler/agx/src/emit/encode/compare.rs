// SPDX-License-Identifier: MIT
//! Selects, and compares into predicate banks (isa-1, 4.9; isa-2, 6.2, 6.3).

use agx_isa::{File, FormId, Instr as Machine, Reg, SlotMask, Value};

use super::build::Build;
use super::{Context, Result};
use crate::emit::accept::{check_cond, mini_float};
use crate::ir::{Cmp, Cond, Ref, Select, Src};

fn name(cmp: Cmp) -> &'static str {
    match cmp {
        Cmp::FGt => "fgt",
        Cmp::FLt => "flt",
        Cmp::FEq => "feq",
        Cmp::FGe => "fge",
        Cmp::FLe => "fle",
        Cmp::UGt => "ugt",
        Cmp::ULt => "ult",
        Cmp::IGt => "igt",
        Cmp::ILt => "ilt",
        Cmp::IEq => "ieq",
    }
}

pub(super) fn select(op: &Select, ctx: &Context) -> Result<Machine> {
    if op.half && !op.cmp.is_float() {
        return Err("an integer comparison of halves".into());
    }
    let (mut cmp, mut a, mut b) = (op.cmp, op.a, op.b);
    // `<=` is proven in predicates only.
    if cmp == Cmp::FLe && !b.neg {
        (cmp, a, b) = (cmp.swapped(), b, a);
    }
    // A cannot be negated: negate both sides and mirror the relation.
    if a.neg {
        (a.neg, b.neg, cmp) = (false, !b.neg, cmp.swapped());
    }
    let form = if a.abs || b.abs || ctx.wait_count() > 1 {
        FormId::Select14
    } else {
        FormId::Select10
    };
    let build = Build::new(form)
        .op("select")
        .named("cond", name(cmp))
        .dst(0, op.dst);
    let build = if op.half {
        build.low(1, &a).low(2, &b)
    } else {
        build.src(1, &a).src(2, &b)
    };
    build.src(3, &op.t).src(4, &op.f).done(ctx)
}

/// A compare into a predicate bank.
pub(crate) struct Predicate {
    /// The instruction.
    pub(crate) machine: Machine,
    /// The condition holds where the bank is false.
    pub(crate) inverted: bool,
}

fn bank_value(bank: u8) -> Value {
    Value::Reg(Reg::new(File::Predicate, bank.into()))
}

/// Compares into `bank`. The operands must be settled: no wait of the compares is proven on M4.
///
/// # Errors
/// What no proven encoding holds.
pub(crate) fn predicate(cond: &Cond, bank: u8, kills: super::RegSet) -> Result<Predicate> {
    check_cond(cond)?;
    let (mut cmp, mut a, mut b) = (cond.cmp, cond.a, cond.b);
    // Constants and uniforms stand in B; of the two ways to write `<=` this is the emitted one.
    if a.reg().is_none() || cmp == Cmp::FLe {
        (cmp, a, b) = (cmp.swapped(), b, a);
    }
    let long = matches!(cmp, Cmp::FEq | Cmp::FGe | Cmp::FLe | Cmp::IEq);
    let form = match (long, b.reg()) {
        (true, _) => FormId::Pred10,
        (false, Some(_)) => FormId::Pred6,
        (false, None) => FormId::PredI6,
    };
    // Proven code writes `>=` complemented, and complements it back where it is used (isa-2, 6.3).
    let twice = cmp == Cmp::FGe;
    let build = Build::new(form)
        .op("pcmp")
        .named("cond", name(cmp))
        .flag("inv", twice)
        .arg(0, bank_value(bank));
    let build = if cond.half {
        build.low(1, &a).low(2, &b)
    } else {
        comparand(build.src(1, &a), &b, cmp)
    };
    let ctx = Context {
        kills,
        ..Context::PLAIN
    };
    Ok(Predicate {
        machine: build.done(&ctx)?,
        inverted: cond.invert ^ twice,
    })
}

fn comparand(build: Build, b: &Src, cmp: Cmp) -> Build {
    match b.from {
        Ref::Imm(bits) if cmp.is_float() => match mini_float(bits, b) {
            Some(mini) => build.arg(2, Value::Float(mini)),
            None => build.src(2, b),
        },
        Ref::Imm(bits) => build.arg(2, Value::Int(bits.into())),
        _ => build.src(2, b),
    }
}

/// Sets a bank in all active lanes: the loop form of a defined register's comparison with itself (isa-2, 6.1, rule 4).
///
/// # Errors
/// For registers and banks that do not exist.
pub(crate) fn always(bank: u8, reg: u8) -> Result<Machine> {
    let src = Src::new(Ref::Reg(reg));
    Build::new(FormId::Pred10)
        .op("pcmp")
        .named("cond", "ieq")
        .exact_wait(SlotMask::NONE)
        .arg(0, bank_value(bank))
        .src(1, &src)
        .src(2, &src)
        .keep()
}
