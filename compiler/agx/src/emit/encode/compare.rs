// SPDX-License-Identifier: MIT
//! Selects, and compares into predicate banks (isa-1, 4.9; isa-2, 6.2, 6.3).

use agx_isa::{File, FormId, Reg, SlotMask, Template, Value};

use super::build::Build;
use super::{Encoder, Result};
use crate::emit::accept::{check_cond, mini_float};
use crate::ir::{Cmp, Cond, Ref, Select, Src};

const fn name(cmp: Cmp) -> &'static str {
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

/// Templates by comparison.
type ByCmp = [Template; Cmp::ALL.len()];

const fn select_forms(form: FormId) -> ByCmp {
    let mut all = [Template::new(form).op("select"); Cmp::ALL.len()];
    let mut i = 0;
    while i < all.len() {
        all[i] = all[i].named("cond", name(Cmp::ALL[i]));
        i += 1;
    }
    all
}

static SELECT: ByCmp = select_forms(FormId::Select10);
/// With abs, or several slots to wait for.
static SELECT_LONG: ByCmp = select_forms(FormId::Select14);

pub(super) fn select(op: &Select, encoder: &mut Encoder<'_>) -> Result<()> {
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
    let forms = if a.abs || b.abs || encoder.ctx.wait_count() > 1 {
        &SELECT_LONG
    } else {
        &SELECT
    };
    let mut build = Build::new(&forms[cmp as usize], encoder);
    build.dst(0, op.dst);
    if op.half {
        build.low(1, &a).low(2, &b);
    } else {
        build.src(1, &a).src(2, &b);
    }
    build.src(3, &op.t).src(4, &op.f).done()
}

fn bank_value(bank: u8) -> Value {
    Value::Reg(Reg::new(File::Predicate, bank.into()))
}

/// Equalities and their like have a form of their own.
const fn is_long(cmp: Cmp) -> bool {
    matches!(cmp, Cmp::FEq | Cmp::FGe | Cmp::FLe | Cmp::IEq)
}

/// Proven code writes `>=` complemented, and complements it back where it is used (isa-2, 6.3).
const fn is_complemented(cmp: Cmp) -> bool {
    matches!(cmp, Cmp::FGe)
}

const fn predicate_forms(short: FormId) -> ByCmp {
    let mut all = [Template::new(short); Cmp::ALL.len()];
    let mut i = 0;
    while i < all.len() {
        let cmp = Cmp::ALL[i];
        let form = if is_long(cmp) { FormId::Pred10 } else { short };
        all[i] = Template::new(form)
            .op("pcmp")
            .named("cond", name(cmp))
            .set("inv", is_complemented(cmp) as u64);
        i += 1;
    }
    all
}

static PREDICATE: ByCmp = predicate_forms(FormId::Pred6);
/// With a constant or uniform B.
static PREDICATE_FIXED: ByCmp = predicate_forms(FormId::PredI6);

/// Compares into `bank`. The operands must be settled: no wait of the compares is proven on M4. True when the condition
/// holds where the bank is false.
///
/// # Errors
/// What no proven encoding holds.
pub(crate) fn predicate(cond: &Cond, bank: u8, encoder: &mut Encoder<'_>) -> Result<bool> {
    // Legalisation has seen to that.
    if cfg!(debug_assertions) {
        check_cond(cond)?;
    }
    let (mut cmp, mut a, mut b) = (cond.cmp, cond.a, cond.b);
    // Constants and uniforms stand in B; of the two ways to write `<=` this is the emitted one.
    if a.reg().is_none() || cmp == Cmp::FLe {
        (cmp, a, b) = (cmp.swapped(), b, a);
    }
    let forms = match b.reg() {
        Some(_) => &PREDICATE,
        None => &PREDICATE_FIXED,
    };
    let mut build = Build::new(&forms[cmp as usize], encoder);
    build.arg(0, bank_value(bank));
    if cond.half {
        build.low(1, &a).low(2, &b);
    } else {
        comparand(build.src(1, &a), &b, cmp);
    }
    build.done()?;
    Ok(cond.invert ^ is_complemented(cmp))
}

fn comparand(build: &mut Build<'_, '_>, b: &Src, cmp: Cmp) {
    match b.from {
        Ref::Imm(bits) if cmp.is_float() => match mini_float(bits, b) {
            Some(mini) => build.arg(2, Value::Float(mini)),
            None => build.src(2, b),
        },
        Ref::Imm(bits) => build.arg(2, Value::Int(bits.into())),
        _ => build.src(2, b),
    };
}

static ALWAYS: Template = Template::new(FormId::Pred10)
    .op("pcmp")
    .named("cond", "ieq");

/// Sets a bank in all active lanes: the loop form of a defined register's comparison with itself (isa-2, 6.1, rule 4).
///
/// # Errors
/// For registers and banks that do not exist.
pub(crate) fn always(bank: u8, reg: u8, encoder: &mut Encoder<'_>) -> Result<()> {
    let src = Src::new(Ref::Reg(reg));
    Build::new(&ALWAYS, encoder)
        .exact_wait(SlotMask::NONE)
        .arg(0, bank_value(bank))
        .src(1, &src)
        .src(2, &src)
        .keep()
}
