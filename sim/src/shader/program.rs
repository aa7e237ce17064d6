// SPDX-License-Identifier: MIT
//! From code in GPU memory to micro-ops.
//!
//! No record carries the length of a program (launch, 7; isa-1, 1.1), so [`Program::build`] follows
//! control flow: from the entry point it decodes instruction after instruction until one that never
//! falls through, queues every branch target on the way, and repeats until nothing is queued. Bytes
//! that are reached but cannot be fetched or decoded become a micro-op that faults when it executes,
//! as the hardware only minds what it runs into.

use std::collections::HashMap;
use std::sync::OnceLock;

use agx_isa::{AccessKind, File, FormId, Instr, Mode, decode};

use super::lower::{Refused, lower, trap};
use super::microop::MicroOp;
use super::strict::Checks;
use super::wave::GPRS;
use crate::memory::{Mappings, PAGE_SIZE};

/// Longest instruction, in bytes (isa-0, 1.1).
const MAX_INSTRUCTION: usize = 16;
/// More instructions than any program has; reaching it means that something decodes in circles of
/// overlapping instructions.
const MAX_INSTRUCTIONS: usize = 1 << 20;
/// Base of the window that holds all code (launch, 2; HW).
const WINDOW: u64 = 1 << 40;
/// The arena's two helper tables, as offsets in the window (launch, 3.1). Nothing in normal execution
/// enters them; a simulator should trap.
const HELPER_TABLES: [std::ops::Range<u64>; 2] = [0x100..0x1c0, 0x200..0x2c0];

/// What a micro-op was before it was lowered.
#[derive(Clone, Debug)]
pub struct OpInfo {
    /// Its address.
    pub address: u64,
    /// The instruction; `None` for what could not be decoded, and for the joint that leads from the
    /// end of a decoded run to a run that was decoded before.
    pub instr: Option<Instr>,
    /// True for such a joint: it is no instruction of the program.
    pub joint: bool,
    /// Why it faults when it is reached.
    pub refused: Option<Refused>,
}

/// A decoded program.
#[derive(Debug)]
pub struct Program {
    entry: u64,
    ops: Vec<MicroOp>,
    info: Vec<OpInfo>,
    /// The code bytes that were decoded, in address order, merged.
    code: Vec<(u64, Vec<u8>)>,
    /// Bytes that were looked at and refused: other bytes there make another program.
    refused: Vec<(u64, Vec<u8>)>,
    /// Something reached could not be fetched: the program depends on what is *not* mapped.
    incomplete: bool,
    /// General registers that some instruction writes, a bit each.
    written_gprs: u128,
    checks: OnceLock<Checks>,
}

impl Program {
    /// Decodes everything reachable from `entry`.
    #[must_use]
    pub fn build(mappings: &Mappings, entry: u64) -> Program {
        Builder::new(mappings).build(entry)
    }

    /// Address of the first instruction.
    #[must_use]
    pub fn entry(&self) -> u64 {
        self.entry
    }

    /// The micro-ops; execution starts with the first.
    #[inline(always)]
    #[must_use]
    pub fn ops(&self) -> &[MicroOp] {
        &self.ops
    }

    /// General registers that some instruction writes, a bit each.
    #[inline]
    #[must_use]
    pub fn written_gprs(&self) -> u128 {
        self.written_gprs
    }

    /// What each micro-op was.
    #[inline(always)]
    #[must_use]
    pub fn info(&self) -> &[OpInfo] {
        &self.info
    }

    /// What the strict observer wants to know of each micro-op, worked out when first asked for.
    #[inline(always)]
    #[must_use]
    pub fn checks(&self) -> &Checks {
        self.checks.get_or_init(|| Checks::of(self))
    }

    /// Bytes of code that were decoded.
    #[must_use]
    pub fn code_bytes(&self) -> usize {
        self.code.iter().map(|(_, bytes)| bytes.len()).sum()
    }

    /// The decoded bytes by address, in order, not touching.
    pub fn code(&self) -> impl Iterator<Item = (u64, &[u8])> {
        self.code
            .iter()
            .map(|(address, bytes)| (*address, &bytes[..]))
    }

    /// Can it ever match again? Not when something that it reaches could not be fetched.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        !self.incomplete
    }

    /// Roughly what it takes of the host's memory, in bytes.
    #[must_use]
    pub fn footprint(&self) -> usize {
        let op = size_of::<MicroOp>() + size_of::<OpInfo>();
        let refused: usize = self.refused.iter().map(|(_, bytes)| bytes.len()).sum();
        size_of::<Program>() + self.ops.len() * op + self.code_bytes() + refused
    }

    /// Does memory still hold the bytes that this was decoded from?
    #[must_use]
    pub fn matches(&self, mappings: &Mappings) -> bool {
        let mut buffer = Vec::new();
        !self.incomplete
            && self
                .code
                .iter()
                .chain(&self.refused)
                .all(|(address, bytes)| {
                    buffer.resize(bytes.len(), 0);
                    mappings.read(*address, &mut buffer) && buffer == *bytes
                })
    }

    /// Why micro-op `index` faults, when it is one that could not be lowered.
    #[must_use]
    pub fn refusal(&self, index: usize) -> &str {
        let refused = self.info.get(index).and_then(|info| info.refused.as_ref());
        refused.map_or("not executable", Refused::reason)
    }

    /// Address and text of micro-op `index`, for messages.
    #[must_use]
    pub fn describe(&self, index: usize) -> (u64, String) {
        match self.info.get(index) {
            Some(OpInfo {
                address,
                instr: Some(instr),
                ..
            }) => (*address, instr.to_string()),
            Some(info) => (info.address, "(not decoded)".to_owned()),
            None => (self.entry, "(outside the program)".to_owned()),
        }
    }
}

struct Builder<'m> {
    mappings: &'m Mappings,
    ops: Vec<MicroOp>,
    info: Vec<OpInfo>,
    index_of: HashMap<u64, u32>,
    /// Branches whose target index is not known yet.
    open: Vec<(usize, u64)>,
    queue: Vec<u64>,
    code: Vec<(u64, Vec<u8>)>,
    refused: Vec<(u64, Vec<u8>)>,
    incomplete: bool,
    written_gprs: u128,
}

impl<'m> Builder<'m> {
    fn new(mappings: &'m Mappings) -> Builder<'m> {
        Builder {
            mappings,
            ops: Vec::new(),
            info: Vec::new(),
            index_of: HashMap::new(),
            open: Vec::new(),
            queue: Vec::new(),
            code: Vec::new(),
            refused: Vec::new(),
            incomplete: false,
            written_gprs: 0,
        }
    }

    fn build(mut self, entry: u64) -> Program {
        self.queue.push(entry);
        while let Some(address) = self.queue.pop() {
            if !self.index_of.contains_key(&address) {
                self.run_from(address);
            }
        }
        for (op, target) in std::mem::take(&mut self.open) {
            self.ops[op].target = self.index_of[&target];
        }
        Program {
            entry,
            ops: self.ops,
            info: self.info,
            code: merge(self.code),
            refused: self.refused,
            incomplete: self.incomplete,
            written_gprs: self.written_gprs,
            checks: OnceLock::new(),
        }
    }

    /// Decodes a straight run, up to something that never falls through or is decoded already.
    fn run_from(&mut self, mut address: u64) {
        let mut bytes = Vec::new();
        let start = address;
        loop {
            if self.index_of.contains_key(&address) {
                // The run has met another one: a joint leads there.
                let joint = self.ops.len();
                self.push(address, None, super::control::goto(), None);
                self.info[joint].joint = true;
                self.open.push((joint, address));
                break;
            }
            self.index_of.insert(address, self.ops.len() as u32);
            match self.decode_one(address) {
                Ok(instr) => {
                    let length = usize::from(instr.form().len);
                    bytes.extend_from_slice(&instr.bits().to_le_bytes()[..length]);
                    if !self.push_instr(address, instr) {
                        break;
                    }
                    address = address.wrapping_add(length as u64);
                }
                Err(refused) => {
                    self.push(address, None, trap(), Some(refused));
                    break;
                }
            }
        }
        if !bytes.is_empty() {
            self.code.push((start, bytes));
        }
    }

    /// Lowers and appends; answers whether execution may go on behind it.
    fn push_instr(&mut self, address: u64, instr: Instr) -> bool {
        use agx_isa::Flow;

        let index = self.ops.len();
        let mut lowered = lower(&instr);
        if instr.wants_atomic_result() && !self.atomic_result_at(address, &instr) {
            // isa-0, 1.4.
            lowered = Err(Refused::new(
                "a returning DEV_ATOMIC must be followed directly by ATOMIC_RESULT",
            ));
        }
        let (mut op, refused) = match lowered {
            Ok(op) => (op, None),
            Err(refused) => (trap(), Some(refused)),
        };
        if let Some(displacement) = instr.displacement() {
            let target = address.wrapping_add_signed(displacement);
            self.open.push((index, target));
            self.queue.push(target);
        }
        if instr.flow() == Flow::Call {
            // Where to return to.
            op.imm[3] = index as u32 + 1;
        }
        for access in instr.accesses() {
            if access.reg.file == File::Gpr && access.kind != AccessKind::Read {
                let registers = (1u128 << access.count.min(GPRS as u8)) - 1;
                self.written_gprs |= registers << access.reg.index.min(GPRS as u16);
            }
        }
        self.push(address, Some(instr), op, refused);
        !matches!(instr.flow(), Flow::Stop | Flow::Return | Flow::Trap)
    }

    fn atomic_result_at(&mut self, address: u64, instr: &Instr) -> bool {
        self.decode_one(address + u64::from(instr.form().len))
            .is_ok_and(|next| next.id() == FormId::AtomicResult)
    }

    fn push(&mut self, address: u64, instr: Option<Instr>, op: MicroOp, refused: Option<Refused>) {
        self.ops.push(op);
        self.info.push(OpInfo {
            address,
            instr,
            joint: false,
            refused,
        });
    }

    fn decode_one(&mut self, address: u64) -> Result<Instr, Refused> {
        if self.ops.len() >= MAX_INSTRUCTIONS {
            return Err(Refused::new(
                "the program has more than a million instructions",
            ));
        }
        if !address.is_multiple_of(2) {
            return Err(Refused::new("an instruction at an odd address"));
        }
        let offset = address.wrapping_sub(WINDOW);
        if HELPER_TABLES.iter().any(|table| table.contains(&offset)) {
            return Err(Refused::new(
                "the helper tables of the entry arena must never run",
            ));
        }
        let (buffer, length) = self.fetch(address);
        if length < 2 {
            self.incomplete = true;
            return Err(Refused::unmapped(address));
        }
        let bytes = &buffer[..length];
        let decoded = if length >= 4 && bytes[..4] == [0; 4] {
            // It would decode as an fp16 addition (isa-0, 2).
            Err(Refused::new("zero-filled memory"))
        } else {
            decode(bytes, Mode::Lenient).map_err(|error| Refused::new(&error.to_string()))
        };
        if decoded.is_err() {
            // With fewer bytes, what is missing may be all that is wrong.
            self.incomplete |= length < MAX_INSTRUCTION;
            self.refused.push((address, bytes.to_vec()));
        }
        decoded
    }

    /// Up to 16 bytes from `address` on, as many as are mapped.
    fn fetch(&self, address: u64) -> ([u8; MAX_INSTRUCTION], usize) {
        let mut buffer = [0; MAX_INSTRUCTION];
        let page_left = (PAGE_SIZE - address % PAGE_SIZE) as usize;
        let first = page_left.min(MAX_INSTRUCTION);
        if !self.mappings.read(address, &mut buffer[..first]) {
            return (buffer, 0);
        }
        let mut length = first;
        let next = address.wrapping_add(first as u64);
        if first < MAX_INSTRUCTION && self.mappings.read(next, &mut buffer[first..]) {
            length = MAX_INSTRUCTION;
        }
        (buffer, length)
    }
}

/// Sorts runs by address and joins those that touch or overlap.
fn merge(mut runs: Vec<(u64, Vec<u8>)>) -> Vec<(u64, Vec<u8>)> {
    runs.sort();
    let mut merged: Vec<(u64, Vec<u8>)> = Vec::new();
    for (address, bytes) in runs {
        if let Some((start, last)) = merged.last_mut() {
            let end = *start + last.len() as u64;
            if address <= end {
                let overlap = (end - address) as usize;
                if overlap < bytes.len() {
                    last.extend_from_slice(&bytes[overlap..]);
                }
                continue;
            }
        }
        merged.push((address, bytes));
    }
    merged
}
