// SPDX-License-Identifier: MIT
//! The instructions of a launcher, as words.
//!
//! A launcher is written for every dispatch, so the words that repeat (literals, loads, argument
//! moves) are put together from the instruction table's fields without its checks: their operands
//! have been checked as a whole. The rest goes through the checked setters.

use std::sync::LazyLock;

use agx_isa::{Bits, FormId, Illegal, Instr, SlotMask, Value};

use super::{Load, SLOT};
use crate::bytes::put;
use crate::error::{Result, operand};
use crate::window::EntryOffset;

/// Formats of LDP: one pointer, two pointers (launch, 4.3; HW).
const LOAD_ONE: u64 = 0x19;
const LOAD_TWO: u64 = 0x17;

/// The constant parts of the instructions, and the fields of those that are written without checks.
pub(super) struct Templates {
    literal: u128,
    literal_register: Bits,
    literal_value: Bits,
    load_one: u128,
    load_two: u128,
    load_register: Bits,
    load_base: Bits,
    load_offset: Bits,
    argument: u128,
    argument_wait: u128,
    argument_word: Bits,
    argument_register: Bits,
    pub(super) alloc: Instr,
    target: Instr,
    pub(super) frame: Instr,
    pub(super) stop: u128,
}

pub(super) static TEMPLATES: LazyLock<Templates> =
    LazyLock::new(|| Templates::from_table().expect("the reference's own instructions are legal"));

impl Templates {
    fn from_table() -> Result<Templates, Illegal> {
        let index = |id: FormId, operand: usize| id.form().operands[operand].index;
        let load = |format| {
            let mut load = Instr::new(FormId::DevLoad);
            load.set_modifier("format", format)?;
            load.set_operand("dst", Value::gpr(0))?;
            load.set_operand("base", Value::gpr(0))?;
            load.set_operand("index", Value::Absent(0))?;
            load.set_completion(SLOT)?;
            Ok(load)
        };
        let argument = Instr::new(FormId::Argw);
        let mut argument_wait = argument;
        argument_wait.set_waits(SlotMask::of(SLOT))?;
        let (load_one, load_two) = (load(LOAD_ONE)?, load(LOAD_TWO)?);
        let modifiers = load_one.form().modifiers;
        let Some(offset) = modifiers.iter().find(|m| m.name == "offset") else {
            return Err(Illegal::rule("offset", 0, "a field of the load"));
        };
        Ok(Templates {
            literal: Instr::new(FormId::MovImm32).bits(),
            literal_register: index(FormId::MovImm32, 0),
            literal_value: index(FormId::MovImm32, 1),
            load_one: load_one.bits(),
            load_two: load_two.bits(),
            load_register: index(FormId::DevLoad, 0),
            load_base: index(FormId::DevLoad, 1),
            load_offset: offset.bits,
            argument: argument.bits(),
            argument_wait: argument_wait.bits(),
            argument_word: index(FormId::Argw, 0),
            argument_register: index(FormId::Argw, 1),
            alloc: Instr::new(FormId::Alloc),
            target: Instr::new(FormId::Target),
            frame: Instr::new(FormId::Frame),
            stop: Instr::new(FormId::Stop).bits(),
        })
    }
}

/// The two instructions that begin a launcher, literals with the halves of the root record's
/// address, all but the address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Literals {
    words: [u64; 2],
    /// Where each run of the value's bits goes. Unused ones have no bits.
    runs: [Run; Literals::MAX_RUNS],
}

/// Bits of a value that stay together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Run {
    /// The lowest, in the value.
    from: u32,
    /// Where that is in the instruction.
    to: u32,
    mask: u32,
}

impl Literals {
    const MAX_RUNS: usize = 5;

    /// The literals to `root` and the register behind it.
    pub(super) fn new(root: u8) -> Literals {
        let t = &*TEMPLATES;
        let mut runs = [Run::default(); Self::MAX_RUNS];
        let mut from = 0;
        debug_assert!(t.literal_value.ranges().count() <= Self::MAX_RUNS);
        for (run, (to, last)) in runs.iter_mut().zip(t.literal_value.ranges()) {
            let mask = u32::MAX >> (31 - (last - to));
            *run = Run { from, to, mask };
            from += last - to + 1;
        }
        let word = |register: u8| t.literal_register.put(t.literal, register.into()) as u64;
        Literals {
            words: [word(root), word(root + 1)],
            runs,
        }
    }

    /// The instructions for an address.
    #[inline]
    pub(super) fn of(&self, address: u64) -> [u8; 2 * super::MOVE_SIZE] {
        let [mut low, mut high] = self.words;
        for run in &self.runs {
            let bits = |half: u32| u64::from(half >> run.from & run.mask) << run.to;
            low |= bits(address as u32);
            high |= bits((address >> 32) as u32);
        }
        (u128::from(low) | u128::from(high) << 64).to_le_bytes()
    }
}

/// Appends instructions to a buffer that is known to hold them.
pub(super) struct Writer<'a> {
    buffer: &'a mut [u8],
    at: usize,
    templates: &'static Templates,
}

impl<'a> Writer<'a> {
    pub(super) fn new(buffer: &'a mut [u8]) -> Writer<'a> {
        Writer {
            buffer,
            at: 0,
            templates: &TEMPLATES,
        }
    }

    /// Offset of the next instruction.
    pub(super) const fn at(&self) -> usize {
        self.at
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        put(self.buffer, self.at, bytes);
        self.at += bytes.len();
    }

    fn word(&mut self, word: u128, size: usize) {
        self.bytes(&word.to_le_bytes()[..size]);
    }

    /// `MOVI32` (launch, 4.1; HW): a literal to r0..r63.
    pub(super) fn literal(&mut self, register: u8, value: u32) {
        let t = self.templates;
        let word = t.literal_register.put(t.literal, register.into());
        self.word(t.literal_value.put(word, value.into()), super::MOVE_SIZE);
    }

    /// `LDP` (launch, 4.3; HW) through the pair at `root`.
    pub(super) fn load(&mut self, root: u8, load: Load) {
        let t = self.templates;
        let word = if load.two { t.load_two } else { t.load_one };
        let word = t.load_register.put(word, load.register.into());
        let word = t.load_base.put(word, root.into());
        let word = t.load_offset.put(word, 8 * u64::from(load.unit));
        self.word(word, super::LOAD_SIZE);
    }

    /// `ARG` (launch, 4.4; HW): r0..r63 to argument word 0..63. Word 0 comes first and waits for
    /// all loads.
    pub(super) fn argument(&mut self, word: u8, register: u8) {
        let t = self.templates;
        let base = if word == 0 {
            t.argument_wait
        } else {
            t.argument
        };
        let word = t.argument_word.put(base, word.into());
        let word = t.argument_register.put(word, register.into());
        self.word(word, super::ARG_SIZE);
    }

    /// `TARGET` (launch, 4.6; HW).
    pub(super) fn target(&mut self, entry: EntryOffset) -> Result<()> {
        let mut target = self.templates.target;
        target
            .set_modifier("t", entry.field().into())
            .map_err(operand("TARGET"))?;
        self.instr("TARGET", target)
    }

    /// An instruction made with setters.
    pub(super) fn instr(&mut self, structure: &'static str, instr: Instr) -> Result<()> {
        let bytes = instr.encode().map_err(operand(structure))?;
        self.bytes(&bytes);
        Ok(())
    }

    /// `STOP` (launch, 4.8; HW).
    pub(super) fn stop(&mut self) {
        self.word(self.templates.stop, super::STOP_SIZE);
    }
}
