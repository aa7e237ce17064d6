// SPDX-License-Identifier: MIT
//! Reading a launcher's instructions.

use agx_isa::{FormId, Instr, Mode, Value, decode};
use arrayvec::ArrayVec;

use super::{
    Frame, InlineWord, Launcher, MAX_POINTERS, NAME, PUBLISHED_WORDS, REGISTERS, Registers, Storage,
};
use crate::arena::jump_displacement;
use crate::error::{Error, Result, illegal, unexpected};
use crate::window::{EntryOffset, LauncherAddress};

/// Reads a launcher's instructions in their order.
pub(super) struct Parser<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Parser<'a> {
    pub(super) const fn new(bytes: &'a [u8]) -> Parser<'a> {
        Parser { bytes, at: 0 }
    }

    /// The next instruction and its offset.
    fn next(&mut self) -> Result<(usize, Instr)> {
        let at = self.at;
        let rest = self.bytes.get(at..).unwrap_or_default();
        let instr = decode(rest, Mode::Strict).map_err(|mut source| {
            source.offset = at;
            Error::Instruction {
                structure: NAME,
                source: Box::new(source),
            }
        })?;
        self.at += usize::from(instr.form().len);
        Ok((at, instr))
    }

    /// The register and value of `MOVI32`.
    fn literal(&mut self) -> Result<(u8, u32)> {
        let (at, instr) = self.next()?;
        // The form first: another one may have no operands to look at.
        if instr.id() == FormId::MovImm32
            && let (Value::Reg(r), Value::Int(v)) = (instr.arg(0).value, instr.arg(1).value)
        {
            return Ok((r.index as u8, v as u32));
        }
        unexpected(NAME, at, "MOVI32 of the table's address")
    }

    /// Reads a program. What it does not look at, the caller compares.
    pub(super) fn launcher(mut self, launcher: LauncherAddress) -> Result<Launcher> {
        let (root, low) = self.literal()?;
        let (_, high) = self.literal()?;
        // The record word in each register, and the first register loaded.
        let mut loaded: [Option<u16>; REGISTERS] = [None; REGISTERS];
        let mut pending = REGISTERS as u8;
        let (mut at, mut instr) = self.next()?;
        while instr.id() == FormId::DevLoad {
            let offset = instr.modifier("offset").unwrap_or(0) as u16;
            let words = u16::from(instr.register_count(0));
            let (Value::Reg(r), true) = (instr.arg(0).value, offset.is_multiple_of(8)) else {
                return unexpected(NAME, at, "LDP");
            };
            for i in 0..words {
                let Some(slot) = loaded.get_mut(usize::from(r.index + i)) else {
                    return unexpected(NAME, at, "LDP into r0 to r63");
                };
                *slot = Some(offset / 4 + i);
            }
            pending = pending.min(r.index as u8);
            (at, instr) = self.next()?;
        }
        let Some(storage) = Storage::of(&instr) else {
            return unexpected(NAME, at, "LDP or ALLOC");
        };
        let (at, instr) = self.next()?;
        let field = match instr.id() {
            FormId::Target => instr.modifier("t").unwrap_or(0) as u32,
            _ => return unexpected(NAME, at, "TARGET"),
        };
        let entry = EntryOffset::from_field(field)?;
        let (at, instr) = self.next()?;
        let Some(frame) = Frame::of(&instr) else {
            return unexpected(NAME, at, "FRAME");
        };
        let mut words = ArrayVec::<InlineWord, { PUBLISHED_WORDS as usize }>::new();
        let (mut at, mut instr) = self.next()?;
        while instr.id() == FormId::Argw {
            let (Value::Reg(argument), Value::Reg(source)) =
                (instr.arg(0).value, instr.arg(1).value)
            else {
                return unexpected(NAME, at, "ARG");
            };
            let record = loaded.get(usize::from(source.index)).copied().flatten();
            let word = record.map(|record| InlineWord {
                record,
                argument: argument.index as u8,
            });
            if word.is_none_or(|word| words.try_push(word).is_err()) {
                return unexpected(NAME, at, "ARG of a loaded word, each argument once");
            }
            (at, instr) = self.next()?;
        }
        let mut preamble = None;
        if let Some(displacement) = jump_displacement(&instr) {
            let from = launcher.code().displaced(at as i64);
            preamble = from.and_then(|from| from.displaced(displacement));
            if preamble.is_none() {
                return unexpected(NAME, at, "a preamble in the window");
            }
            (at, instr) = self.next()?;
        }
        if instr.id() != FormId::Stop {
            return unexpected(NAME, at, "ARG, JANY or STOP");
        }
        let is_pointer = |i: usize, w: &InlineWord| {
            i < 2 * usize::from(MAX_POINTERS)
                && usize::from(w.argument) == i
                && usize::from(w.record) == i
        };
        let direct = words
            .iter()
            .enumerate()
            .take_while(|(i, w)| is_pointer(*i, w))
            .count();
        let pointers = (direct / 2) as u8;
        let mut inline = ArrayVec::new();
        for word in &words[2 * usize::from(pointers)..] {
            if inline.try_push(*word).is_err() {
                return illegal(NAME, "pointers", pointers.into(), "2..=19");
            }
        }
        Ok(Launcher {
            table: u64::from(high) << 32 | u64::from(low),
            pointers,
            inline,
            storage,
            entry,
            frame,
            preamble,
            registers: Registers { root, pending },
        })
    }
}
