// SPDX-License-Identifier: MIT
//! Building one machine instruction.

use agx_isa::{
    AccessKind, Arg, Emit, File, FormId, Illegal, Instr, Legal, Release, SlotMask, Value,
};
use arrayvec::ArrayVec;

use super::Context;
use crate::emit::regs::RegSet;
use crate::ir::{Dst, Ref, Src};

/// An instruction in the making. The first error sticks and comes out at the end.
pub(super) struct Build {
    instr: Instr,
    error: Option<String>,
}

impl Build {
    pub(super) fn new(form: FormId) -> Build {
        Build {
            instr: Instr::new(form),
            error: None,
        }
    }

    fn note(&mut self, result: Result<(), Illegal>) {
        if let Err(illegal) = result {
            let form = self.instr.form().name;
            self.error.get_or_insert(format!("{form}: {illegal}"));
        }
    }

    fn fail(&mut self, message: String) {
        self.error.get_or_insert(message);
    }

    /// Selects the operation.
    pub(super) fn op(mut self, name: &str) -> Build {
        let result = self.instr.set_operation(name);
        self.note(result);
        self
    }

    /// Sets a modifier.
    pub(super) fn set(mut self, name: &'static str, value: u64) -> Build {
        let result = self.instr.set_modifier(name, value);
        self.note(result);
        self
    }

    /// Sets a one-bit modifier that the form may lack when it is 0.
    pub(super) fn flag(self, name: &'static str, on: bool) -> Build {
        if on { self.set(name, 1) } else { self }
    }

    /// Sets a modifier to one of its named values.
    pub(super) fn named(mut self, name: &'static str, value: &str) -> Build {
        let modifiers = self.instr.form().modifiers;
        let place = modifiers.iter().position(|m| m.name == name);
        let found = place.and_then(|place| match modifiers[place].legal {
            Legal::Names(names) => {
                let (number, _) = names.iter().find(|(_, n)| *n == value)?;
                Some((place, *number))
            }
            _ => None,
        });
        match found {
            Some((place, number)) => {
                let result = self.instr.set_modifier_at(place, number);
                self.note(result);
                self
            }
            None => {
                let form = self.instr.form().name;
                self.fail(format!("{form} has no {name} `{value}`"));
                self
            }
        }
    }

    /// Sets operand `index` of the form. Modifiers that say which part of a register is meant come before.
    pub(super) fn arg(self, index: usize, arg: impl Into<Arg>) -> Build {
        self.put(index, arg.into())
    }

    /// The same where the kind of operand is known, which shortens the way.
    #[inline(always)]
    fn put(mut self, index: usize, arg: Arg) -> Build {
        if let Err(illegal) = self.instr.set_arg(index, arg) {
            self.note(Err(illegal));
        }
        self
    }

    /// Sets operand `index` to a destination register.
    pub(super) fn dst(mut self, index: usize, dst: Dst) -> Build {
        match dst.reg() {
            Some(reg) => self.put(index, Arg::new(Value::gpr(reg.into()))),
            None => {
                self.fail(format!("{dst} has no register"));
                self
            }
        }
    }

    /// Sets operand `index` to the low half of a destination register.
    pub(super) fn low_dst(self, index: usize, dst: Dst) -> Build {
        self.half_dst(index, dst, false)
    }

    /// Sets operand `index` to one half of a destination register.
    pub(super) fn half_dst(mut self, index: usize, dst: Dst, high: bool) -> Build {
        match dst.reg() {
            Some(reg) => self.arg(index, Value::gpr_half(reg.into(), high)),
            None => {
                self.fail(format!("{dst} has no register"));
                self
            }
        }
    }

    /// Sets operand `index` to a register or uniform, with its modifiers.
    pub(super) fn src(mut self, index: usize, src: &Src) -> Build {
        match src.from {
            Ref::Reg(reg) => self.put(index, modified(Value::gpr(reg.into()), src)),
            Ref::Uniform(word) => self.put(index, modified(Value::uniform(word.into()), src)),
            Ref::Imm(_) => {
                self.fail(format!("{src}: a constant where the form wants a register"));
                self
            }
            Ref::Value(_) => {
                self.fail(format!("{src} has no register"));
                self
            }
        }
    }

    /// Sets operand `index` to the low half of a register, with its modifiers.
    pub(super) fn low(self, index: usize, src: &Src) -> Build {
        self.half(index, src, false)
    }

    /// Sets operand `index` to one half of a register, with its modifiers.
    pub(super) fn half(mut self, index: usize, src: &Src, high: bool) -> Build {
        match src.reg() {
            Some(reg) => self.arg(index, modified(Value::gpr_half(reg.into(), high), src)),
            None => {
                self.fail(format!("{src}: the form wants half a register"));
                self
            }
        }
    }

    /// Waits for as many of these slots as the form holds and is proven for.
    pub(super) fn wait(mut self, waits: SlotMask) -> Build {
        let wait = &self.instr.form().wait;
        let Some(mut slots) = SlotMask::from_bits(waits.bits() & wait.proven) else {
            return self;
        };
        if !wait.mask {
            slots = slots.iter().next().map_or(SlotMask::NONE, SlotMask::of);
        }
        if !slots.is_empty() {
            let result = self.instr.set_waits(slots);
            self.note(result);
        }
        self
    }

    /// Waits for exactly these slots, proven or not: for the fixed encodings of the reference.
    pub(super) fn exact_wait(mut self, waits: SlotMask) -> Build {
        let result = self.instr.set_waits(waits);
        self.note(result);
        self
    }

    /// Names the slot that the result completes.
    pub(super) fn slot(mut self, slot: u8) -> Build {
        let result = self.instr.set_completion(slot);
        self.note(result);
        self
    }

    /// Waits, last uses, and the finished instruction.
    pub(super) fn done(self, ctx: &Context) -> Result<Instr, String> {
        let mut this = self.wait(ctx.waits);
        let result = release(&mut this.instr, ctx.kills);
        this.note(result);
        this.keep()
    }

    /// The finished instruction as it is: nothing released.
    pub(super) fn keep(self) -> Result<Instr, String> {
        if let Some(error) = self.error {
            return Err(error);
        }
        let form = self.instr.form().name;
        if let Err(illegal) = self.instr.encode() {
            return Err(format!("{form}: {illegal}"));
        }
        match self.instr.emit() {
            Emit::No(why) => Err(format!("`{}` must not be emitted: {why}", self.instr)),
            Emit::Yes | Emit::AfterValidation(_) => Ok(self.instr),
        }
    }
}

#[inline(always)]
fn modified(value: Value, src: &Src) -> Arg {
    let mut arg = Arg::new(value);
    arg.neg = src.neg;
    arg.abs = src.abs;
    arg
}

/// More operands than any form that the compiler emits has.
const OPERANDS: usize = 8;

/// Sets the last-use bit of every source whose registers are all in `kills`.
///
/// A register that stands in two operands gets the same bit in both (isa-1, 1.7), so it stays when one of them cannot
/// release it.
fn release(instr: &mut Instr, kills: RegSet) -> Result<(), Illegal> {
    if kills.is_empty() {
        return Ok(());
    }
    let mut reads = [RegSet::EMPTY; OPERANDS];
    let mut ends = false;
    instr.for_each_access(|access| {
        if access.kind == AccessKind::Read && access.reg.file == File::Gpr {
            let regs = RegSet::range(access.reg.index as u8, access.count);
            reads[access.operand] |= regs;
            ends |= regs.meets(kills);
        }
    });
    if !ends {
        return Ok(());
    }
    let operands = instr.form().operands;
    let mut may: ArrayVec<bool, OPERANDS> = ArrayVec::new();
    // What operands read that do not release it.
    let mut kept = RegSet::EMPTY;
    for (operand, regs) in operands.iter().zip(&reads) {
        let releases = match operand.release {
            Release::If(_) | Release::Unless(_) | Release::IfAll(_) => {
                !regs.is_empty() && regs.is_subset(kills)
            }
            Release::Always => true,
            Release::Never | Release::DestroyedIf(_) => false,
        };
        if !releases {
            kept |= *regs;
        }
        may.push(releases);
    }
    while let Some(i) = (0..may.len())
        .find(|&i| may[i] && reads[i].meets(kept) && operands[i].release != Release::Always)
    {
        may[i] = false;
        kept |= reads[i];
    }
    for (i, _) in may.iter().enumerate().filter(|(_, may)| **may) {
        if operands[i].release != Release::Always {
            instr.release(i)?;
        }
    }
    Ok(())
}
