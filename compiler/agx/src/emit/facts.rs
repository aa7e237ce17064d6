// SPDX-License-Identifier: MIT
//! What the machine instructions of one operation touch, read off the instruction table.

use agx_isa::{
    AccessKind, Alt, DeviceFormat, Drain, File, FormId, Half, Instr as Machine, MemoryOp, Space,
};

use super::regs::{HalfSet, RegSet};

/// The base of a device access.
///
/// Whether two of them may address the same memory, isa-2, 9.4 (rule 5) tells by equal base fields. That suffices among
/// uniform pairs, which are pointers to different things; what is in registers may be any of them, or the same pointer
/// in several registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pointer {
    /// Uniform pair.
    Uniform(u16),
    /// Register pair.
    Regs,
}

/// General registers that one machine instruction touches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Registers {
    /// Read.
    pub(super) reads: RegSet,
    /// Written, late results included.
    ///
    /// Two loads to the halves of one register survive together (isa-4, 7.5; HW). Nothing else is said of what is beside
    /// a half that is under way, so everybody else is taken to write both.
    pub(super) writes: HalfSet,
    /// Those of them that are written as a whole.
    pub(super) whole: RegSet,
    /// Sources that must not change before the slot completes.
    pub(super) held: RegSet,
    /// Sources whose value is lost.
    pub(super) lost: RegSet,
}

impl Registers {
    /// Read off an instruction, which is the long way: what writes the operands knows most of this.
    pub(super) fn of(machine: &Machine) -> Registers {
        let mut this = Registers {
            reads: RegSet::EMPTY,
            writes: HalfSet::EMPTY,
            whole: RegSet::EMPTY,
            held: RegSet::EMPTY,
            lost: RegSet::EMPTY,
        };
        machine.for_each_access(|access| {
            if access.reg.file != File::Gpr {
                return;
            }
            let regs = RegSet::range(access.reg.index as u8, access.count);
            if access.kind == AccessKind::Read {
                this.reads |= regs;
                if access.kill {
                    this.lost |= regs;
                }
                if access.held {
                    this.held |= regs;
                }
                return;
            }
            let part = match access.kind {
                AccessKind::LateWrite => access.reg.half,
                _ => Half::Whole,
            };
            this.writes |= HalfSet::of(regs, part);
            if access.reg.half == Half::Whole {
                this.whole |= regs;
            }
        });
        this
    }
}

/// What one operation touches.
#[derive(Debug, Clone)]
pub(crate) struct Facts {
    /// Registers read.
    pub(super) reads: RegSet,
    /// Registers written, late results included.
    pub(super) writes: HalfSet,
    /// Those of them that are written as a whole.
    pub(super) whole: RegSet,
    /// Sources that must not change before the slot completes.
    pub(super) held: RegSet,
    /// Registers whose value is lost, and not written again.
    pub(super) lost: RegSet,
    /// It completes a slot.
    pub(super) late: bool,
    /// The only slot that it can complete.
    pub(super) fixed_slot: Option<u8>,
    /// Publications read, one bit each; until the slot completes, if it is late (isa-3, 1.1).
    pub(super) reads_published: u128,
    /// Publications written.
    pub(super) publishes: u128,
    /// A device load of one word: what a device atomic may wait for (isa-2, 9.3).
    pub(super) one_word: bool,
    /// Device memory.
    pub(super) device: Option<(Pointer, MemoryOp)>,
    /// Threadgroup memory.
    pub(super) threadgroup: Option<MemoryOp>,
    /// Indexed scratch words.
    pub(super) private: Option<MemoryOp>,
    /// A scratch word of constant number, and whether it is saved.
    pub(super) scratch: Option<(u16, bool)>,
    /// Every slot must be idle before it.
    pub(super) drains: bool,
}

impl Facts {
    /// Of nothing.
    pub(super) const NONE: Facts = Facts {
        reads: RegSet::EMPTY,
        writes: HalfSet::EMPTY,
        whole: RegSet::EMPTY,
        held: RegSet::EMPTY,
        lost: RegSet::EMPTY,
        late: false,
        fixed_slot: None,
        reads_published: 0,
        publishes: 0,
        one_word: false,
        device: None,
        threadgroup: None,
        private: None,
        scratch: None,
        drains: false,
    };

    /// Registers that the operation names.
    pub(super) fn named(&self) -> RegSet {
        self.reads | self.writes.touched()
    }

    /// Adds a machine instruction, which touches these registers and completes that slot. `other_files`: it may touch
    /// publications or scratch words.
    pub(super) fn add(
        &mut self,
        machine: &Machine,
        registers: &Registers,
        completes: Option<u8>,
        other_files: bool,
    ) {
        // Of a sequence, what it reads before it writes.
        self.reads |= registers.reads.without(self.writes.complete());
        self.held |= registers.held;
        self.whole |= registers.whole;
        self.lost = (self.lost | registers.lost).without(registers.writes.touched());
        self.writes |= registers.writes;
        if other_files {
            self.other_files(machine);
        }
        let form = machine.form();
        self.drains |= form.drain != Drain::No;
        if let Some(slot) = completes {
            self.late = true;
            // A bundle's wait is proven for slot 1 only (isa-3, 2.3), so that exports complete there.
            let fixed = self.publishes != 0
                || matches!(
                    machine.id(),
                    FormId::TgLoad | FormId::PrivLoad | FormId::GetSr32 | FormId::GetSr16
                );
            self.fixed_slot = fixed.then_some(slot);
        }
        if let Some((space, op)) = form.memory {
            self.memory(machine, space, op);
        }
    }

    /// Publications and scratch words.
    fn other_files(&mut self, machine: &Machine) {
        machine.for_each_access(|access| {
            let reads = access.kind == AccessKind::Read;
            match access.reg.file {
                File::Publication => {
                    let words = ((1u128 << access.count) - 1) << (access.reg.index & 127);
                    match reads {
                        true => self.reads_published |= words,
                        false => self.publishes |= words,
                    }
                }
                File::Scratch => self.scratch = Some((access.reg.index, !reads)),
                _ => {}
            }
        });
    }

    fn memory(&mut self, machine: &Machine, space: Space, op: MemoryOp) {
        match space {
            Space::Device => {
                self.device = pointer(machine).map(|base| (base, op));
                let one_word = DeviceFormat {
                    element_bytes: 4,
                    components: 1,
                    registers: 1,
                    narrow: false,
                };
                self.one_word = op == MemoryOp::Load && machine.device_format() == Some(one_word);
                if machine.wants_atomic_result() {
                    // The proven emitter lets no source of a producer change (isa-2, 9.4, rule 3). When the loss of its
                    // operands happens is not known.
                    for operand in ["data", "base", "index"] {
                        self.held |= operand_registers(machine, operand);
                    }
                }
            }
            // Fragment shaders, which have tiles, have no threadgroup memory.
            Space::Threadgroup | Space::Tile => self.threadgroup = Some(op),
            Space::Scratch if self.scratch.is_none() => self.private = Some(op),
            Space::Scratch | Space::Image => {}
        }
    }
}

/// The base of a device access.
fn pointer(machine: &Machine) -> Option<Pointer> {
    let form = machine.form();
    let base = form.operand("base")?;
    match form.operands[base].alt {
        Alt::Address { gpr } if gpr.get(machine.bits()) == 0 => {
            Some(Pointer::Uniform(machine.raw(base) as u16))
        }
        Alt::Address { .. } => Some(Pointer::Regs),
        _ => None,
    }
}

/// Registers that the operand of this name reads.
pub(super) fn operand_registers(machine: &Machine, name: &str) -> RegSet {
    let Some(index) = machine.form().operand(name) else {
        return RegSet::EMPTY;
    };
    read_by(machine, index)
}

/// Registers that an operand reads.
pub(super) fn read_by(machine: &Machine, operand: usize) -> RegSet {
    let mut regs = RegSet::EMPTY;
    machine.for_each_access(|access| {
        if access.operand == operand
            && access.kind == AccessKind::Read
            && access.reg.file == File::Gpr
        {
            regs |= RegSet::range(access.reg.index as u8, access.count);
        }
    });
    regs
}
