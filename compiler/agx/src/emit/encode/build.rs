// SPDX-License-Identifier: MIT
//! Building one machine instruction.

use agx_isa::{
    AccessKind, Arg, Emit, File, Half, Illegal, Instr, Legal, Reg, Release, Role, SlotMask, Span,
    Template, Value,
};
use arrayvec::ArrayVec;

use super::Encoder;
use crate::emit::facts::Registers;
use crate::emit::regs::{HalfSet, RegSet};
use crate::ir::{Dst, Ref, Src};

/// An instruction in the making. It starts as a template; operands are written into it, released where the encoder's
/// context says that nobody needs their registers any more. The first error sticks and comes out at the end.
pub(super) struct Build<'e, 'c> {
    encoder: &'e mut Encoder<'c>,
    instr: Instr,
    /// Registers that may be released.
    kills: RegSet,
    /// Sources that read registers and release them, one bit each.
    releases: u8,
    /// The registers of those sources.
    released: RegSet,
    /// Registers of sources that do not release them.
    kept: RegSet,
    reads: RegSet,
    writes: RegSet,
    /// The part of the registers that is written.
    part: Half,
    held: RegSet,
    /// Registers that the form destroys.
    destroyed: RegSet,
    /// What it touches is to be read off the finished instruction: other files than general registers, or operands of
    /// which other fields say what they are.
    is_special: bool,
    /// Slots that it names whatever else it waits for.
    always: SlotMask,
    error: Option<String>,
}

impl<'e, 'c> Build<'e, 'c> {
    #[inline]
    pub(super) fn new(template: &Template, encoder: &'e mut Encoder<'c>) -> Build<'e, 'c> {
        Build {
            instr: Instr::from_template(template),
            kills: encoder.ctx.kills,
            encoder,
            releases: 0,
            released: RegSet::EMPTY,
            kept: RegSet::EMPTY,
            reads: RegSet::EMPTY,
            writes: RegSet::EMPTY,
            part: Half::Whole,
            held: RegSet::EMPTY,
            destroyed: RegSet::EMPTY,
            is_special: false,
            always: SlotMask::NONE,
            error: None,
        }
    }

    #[cold]
    fn note(&mut self, illegal: &Illegal) {
        let form = self.instr.form().name;
        self.fail(format!("{form}: {illegal}"));
    }

    #[cold]
    fn fail(&mut self, message: String) {
        self.error.get_or_insert(message);
    }

    #[inline]
    fn check(&mut self, result: Result<(), Illegal>) -> &mut Self {
        if let Err(illegal) = result {
            self.note(&illegal);
        }
        self
    }

    /// Releases none of these registers. Comes before the sources.
    pub(super) fn sparing(&mut self, regs: RegSet) -> &mut Self {
        self.kills = self.kills.without(regs);
        self
    }

    /// Releases nothing. Comes before the sources.
    pub(super) fn retaining(&mut self) -> &mut Self {
        self.sparing(RegSet::ALL)
    }

    /// Sets a modifier.
    pub(super) fn set(&mut self, name: &'static str, value: u64) -> &mut Self {
        let result = self.instr.set_modifier(name, value);
        self.check(result)
    }

    /// Sets modifier `index` of the form.
    pub(super) fn set_at(&mut self, index: usize, value: u64) -> &mut Self {
        let result = self.instr.set_modifier_at(index, value);
        self.check(result)
    }

    /// Sets a one-bit modifier that the form may lack when it is 0.
    #[inline]
    pub(super) fn flag(&mut self, name: &'static str, on: bool) -> &mut Self {
        if on { self.set(name, 1) } else { self }
    }

    /// Sets a modifier to one of its named values.
    pub(super) fn named(&mut self, name: &'static str, value: &str) -> &mut Self {
        let form = self.instr.form();
        let found = form
            .modifier(name)
            .and_then(|place| match form.modifiers[place].legal {
                Legal::Names(names) => {
                    let (number, _) = names.iter().find(|(_, n)| *n == value)?;
                    Some((place, *number))
                }
                _ => None,
            });
        match found {
            Some((place, number)) => self.set_at(place, number),
            None => {
                self.fail(format!("{} has no {name} `{value}`", form.name));
                self
            }
        }
    }

    /// Sets operand `index` of the form, which is no general register. Modifiers that say which part of a register is
    /// meant come before.
    pub(super) fn arg(&mut self, index: usize, arg: impl Into<Arg>) -> &mut Self {
        let arg = arg.into();
        self.is_special |= matches!(
            arg.value,
            Value::Reg(Reg {
                file: File::Publication | File::Scratch,
                ..
            })
        );
        self.put(index, arg)
    }

    /// Writes an operand; where its kind is known that shortens the way.
    #[inline(always)]
    fn put(&mut self, index: usize, arg: Arg) -> &mut Self {
        let result = self.instr.set_arg(index, arg);
        self.check(result)
    }

    /// Sets operand `index` to a destination register, or the first of as many as the form writes.
    #[inline]
    pub(super) fn dst(&mut self, index: usize, dst: Dst) -> &mut Self {
        self.write_one(index, dst, Half::Whole)
    }

    /// Sets operand `index` to consecutive destination registers.
    pub(super) fn dsts(&mut self, index: usize, dsts: &[Dst]) -> &mut Self {
        match consecutive(dsts.iter().map(Dst::reg)) {
            Some(first) => self.write(index, first, dsts.len() as u8, Half::Whole),
            None => self.misplaced(dsts),
        }
    }

    /// Sets operand `index` to the low half of a destination register.
    pub(super) fn low_dst(&mut self, index: usize, dst: Dst) -> &mut Self {
        self.write_one(index, dst, Half::Low)
    }

    /// Sets operand `index` to one half of a destination register.
    pub(super) fn half_dst(&mut self, index: usize, dst: Dst, high: bool) -> &mut Self {
        self.write_one(index, dst, half(high))
    }

    #[inline]
    fn write_one(&mut self, index: usize, dst: Dst, part: Half) -> &mut Self {
        match dst.reg() {
            Some(reg) => self.write(index, reg, 1, part),
            None => self.misplaced(&[dst]),
        }
    }

    fn write(&mut self, index: usize, first: u8, count: u8, part: Half) -> &mut Self {
        let operand = &self.instr.form().operands[index];
        let regs = RegSet::range(first, count);
        self.writes |= regs;
        self.part = part;
        // Of the second of two words, half is defined.
        self.is_special |= operand.span == Span::CubeResult;
        if operand.role != Role::Def {
            self.reads |= regs;
            self.kept |= regs;
        }
        self.put(index, Arg::new(register(first, part)))
    }

    /// Sets operand `index` to a register or uniform, with its modifiers.
    #[inline]
    pub(super) fn src(&mut self, index: usize, src: &Src) -> &mut Self {
        match src.from {
            Ref::Reg(reg) => self.read(index, reg, 1, Half::Whole, src),
            _ => self.other_src(index, src),
        }
    }

    fn other_src(&mut self, index: usize, src: &Src) -> &mut Self {
        match src.from {
            Ref::Uniform(word) => self.put(index, modified(Value::uniform(word.into()), src)),
            _ => self.misplaced(&[*src]),
        }
    }

    /// Sets operand `index` to consecutive registers.
    pub(super) fn srcs(&mut self, index: usize, srcs: &[Src]) -> &mut Self {
        match consecutive(srcs.iter().map(Src::reg)) {
            Some(first) => self.read(index, first, srcs.len() as u8, Half::Whole, &srcs[0]),
            None => self.misplaced(srcs),
        }
    }

    /// Sets operand `index` to the low half of a register, with its modifiers.
    pub(super) fn low(&mut self, index: usize, src: &Src) -> &mut Self {
        self.half(index, src, false)
    }

    /// Sets operand `index` to one half of a register, with its modifiers.
    pub(super) fn half(&mut self, index: usize, src: &Src, high: bool) -> &mut Self {
        match src.reg() {
            Some(reg) => self.read(index, reg, 1, half(high), src),
            None => self.misplaced(&[*src]),
        }
    }

    fn read(&mut self, index: usize, first: u8, count: u8, part: Half, src: &Src) -> &mut Self {
        let operand = &self.instr.form().operands[index];
        let regs = RegSet::range(first, count);
        self.reads |= regs;
        if operand.held {
            self.held |= regs;
        }
        let mut arg = modified(register(first, part), src);
        match operand.release {
            Release::If(_) | Release::Unless(_) | Release::IfAll(_)
                if regs.is_subset(self.kills) =>
            {
                arg.kill = true;
                self.released |= regs;
                self.releases |= 1 << index;
            }
            Release::Always => self.destroyed |= regs,
            Release::DestroyedIf(_) => {
                self.is_special = true;
                self.kept |= regs;
            }
            _ => self.kept |= regs,
        }
        self.put(index, arg)
    }

    #[cold]
    fn misplaced<T: ToString>(&mut self, operands: &[T]) -> &mut Self {
        let text: Vec<_> = operands.iter().map(ToString::to_string).collect();
        self.fail(match &text[..] {
            [one] => format!("{one}: the form wants a register"),
            all => format!("[{}] are no consecutive registers", all.join(" ")),
        });
        self
    }

    /// Waits for as many of these slots as the form holds and is proven for.
    fn wait(&mut self, waits: SlotMask) -> &mut Self {
        if waits.is_empty() {
            return self;
        }
        let wait = &self.instr.form().wait;
        let Some(mut slots) = SlotMask::from_bits(waits.bits() & wait.proven) else {
            return self;
        };
        if !wait.mask {
            slots = slots.iter().next().map_or(SlotMask::NONE, SlotMask::of);
        }
        // Where the field holds one slot, it stays the one that has to be named.
        if slots.is_empty() || !(wait.mask || self.always.is_empty()) {
            return self;
        }
        let all = slots | self.always;
        let result = self.instr.set_waits(all);
        self.check(result)
    }

    /// Names exactly these slots, proven or not, and what else is waited for: for the fixed encodings of the reference.
    pub(super) fn exact_wait(&mut self, waits: SlotMask) -> &mut Self {
        self.always = waits;
        let result = self.instr.set_waits(waits);
        self.check(result)
    }

    /// Names the slot that the result completes.
    pub(super) fn slot(&mut self, slot: u8) -> &mut Self {
        let result = self.instr.set_completion(slot);
        self.check(result)
    }

    /// Is the register of source `index` released? All sources are set.
    pub(super) fn is_released(&mut self, index: usize) -> bool {
        self.settle_releases();
        self.releases >> index & 1 == 1
    }

    /// A register that stands in two operands gets the same bit in both (isa-1, 1.7), so it stays when one of them
    /// cannot release it.
    #[inline]
    fn settle_releases(&mut self) {
        if self.released.meets(self.kept) {
            self.release_less();
        }
    }

    #[cold]
    fn release_less(&mut self) {
        let reads = |instr: &Instr| {
            let mut reads: ArrayVec<RegSet, OPERANDS> = ArrayVec::new();
            reads.extend(instr.form().operands.iter().map(|_| RegSet::EMPTY));
            instr.for_each_access(|access| {
                if access.kind == AccessKind::Read && access.reg.file == File::Gpr {
                    reads[access.operand] |= RegSet::range(access.reg.index as u8, access.count);
                }
            });
            reads
        };
        let reads = reads(&self.instr);
        let releasing = |releases: u8, index: usize| releases >> index & 1 == 1;
        while let Some(index) =
            (0..reads.len()).find(|&i| releasing(self.releases, i) && reads[i].meets(self.kept))
        {
            self.releases &= !(1 << index);
            self.kept |= reads[index];
            let arg = Arg {
                kill: false,
                keep: None,
                ..self.instr.arg(index)
            };
            self.put(index, arg);
        }
        let left = reads.iter().enumerate();
        self.released = left
            .filter(|(index, _)| releasing(self.releases, *index))
            .fold(RegSet::EMPTY, |all, (_, regs)| all | *regs);
    }

    /// The finished instruction, which waits for what the context says.
    #[inline]
    pub(super) fn done(&mut self) -> Result<(), String> {
        self.wait(self.encoder.ctx.waits).keep()
    }

    /// The finished instruction as it is.
    pub(super) fn keep(&mut self) -> Result<(), String> {
        self.settle_releases();
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        if let Err(illegal) = self.instr.check_rules() {
            return Err(format!("{}: {illegal}", self.instr.form().name));
        }
        if let Emit::No(why) = self.instr.emit() {
            return Err(format!("`{}` must not be emitted: {why}", self.instr));
        }
        let completes = self.instr.completes();
        let registers = if self.is_special {
            Registers::of(&self.instr)
        } else {
            self.registers(completes.is_some())
        };
        debug_assert_eq!(registers, Registers::of(&self.instr), "{}", self.instr);
        self.encoder
            .push(self.instr, &registers, completes, self.is_special);
        Ok(())
    }

    /// The registers that the operands name.
    #[inline]
    fn registers(&self, is_late: bool) -> Registers {
        let (writes, whole) = match self.part {
            Half::Whole => (HalfSet::whole(self.writes), self.writes),
            part if is_late => (HalfSet::of(self.writes, part), RegSet::EMPTY),
            _ => (HalfSet::whole(self.writes), RegSet::EMPTY),
        };
        Registers {
            reads: self.reads,
            writes,
            whole,
            held: self.held,
            lost: self.released | self.destroyed,
        }
    }
}

/// More operands than any form that the compiler emits has.
const OPERANDS: usize = 8;

const fn half(high: bool) -> Half {
    if high { Half::High } else { Half::Low }
}

#[inline(always)]
fn register(index: u8, part: Half) -> Value {
    Value::Reg(Reg {
        file: File::Gpr,
        index: index as u16,
        half: part,
    })
}

#[inline(always)]
fn modified(value: Value, src: &Src) -> Arg {
    let mut arg = Arg::new(value);
    arg.neg = src.neg;
    arg.abs = src.abs;
    arg
}

/// The first of consecutive registers.
#[inline]
fn consecutive(mut regs: impl Iterator<Item = Option<u8>>) -> Option<u8> {
    let first = regs.next()??;
    for (next, reg) in (u16::from(first) + 1..).zip(regs) {
        if u16::from(reg?) != next {
            return None;
        }
    }
    Some(first)
}
