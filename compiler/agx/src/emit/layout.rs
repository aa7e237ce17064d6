// SPDX-License-Identifier: MIT
//! From machine instructions and labels to bytes.

use agx_isa::{FormId, Instr as Machine};

/// Names a place in the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Label(usize);

/// Whose activity a branch asks about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    /// Some lane is active.
    Any,
    /// No lane is.
    None,
}

#[derive(Debug)]
enum Piece {
    Machine(Machine),
    Branch(When, Label),
    Label(Label),
}

/// Code in the making.
#[derive(Debug, Default)]
pub(super) struct Layout {
    pieces: Vec<Piece>,
    labels: usize,
}

/// Bytes of a branch (isa-2, 6.9).
const BRANCH_BYTES: usize = 10;
/// What follows the program: filler that is fetched, never executed. The known programs have as much (launch, 3.4).
const FILLER: [u8; 2] = [0x06, 0x00];
const FILLERS: usize = 30;
/// Code sizes are multiples of this.
const ALIGN: usize = 16;

/// Laid out code.
pub(super) struct Bytes {
    /// The program and the filler behind it.
    pub(super) bytes: Vec<u8>,
    /// Bytes of the program alone.
    pub(super) len: usize,
    /// Instructions in order.
    pub(super) code: Vec<Machine>,
}

impl Layout {
    /// A new label, not placed yet.
    pub(super) fn label(&mut self) -> Label {
        self.labels += 1;
        Label(self.labels - 1)
    }

    /// Places a label here.
    pub(super) fn place(&mut self, label: Label) {
        self.pieces.push(Piece::Label(label));
    }

    /// Adds an instruction.
    pub(super) fn push(&mut self, machine: Machine) {
        self.pieces.push(Piece::Machine(machine));
    }

    /// Adds a branch.
    pub(super) fn branch(&mut self, when: When, to: Label) {
        self.pieces.push(Piece::Branch(when, to));
    }

    /// The bytes. A displacement counts from the branch's first byte (isa-2, 6.9).
    pub(super) fn finish(self) -> Result<Bytes, String> {
        let mut places = vec![None; self.labels];
        let mut offset = 0;
        for piece in &self.pieces {
            match piece {
                Piece::Machine(machine) => offset += usize::from(machine.form().len),
                Piece::Branch(..) => offset += BRANCH_BYTES,
                Piece::Label(label) => places[label.0] = Some(offset),
            }
        }
        let mut this = Bytes {
            bytes: Vec::with_capacity(offset + 2 * FILLERS + ALIGN),
            len: offset,
            code: Vec::with_capacity(self.pieces.len()),
        };
        for piece in &self.pieces {
            let machine = match piece {
                Piece::Machine(machine) => *machine,
                Piece::Branch(when, to) => {
                    let Some(target) = places[to.0] else {
                        return Err("a branch to a label that was never placed".into());
                    };
                    branch(*when, target as i64 - this.bytes.len() as i64)?
                }
                Piece::Label(_) => continue,
            };
            // Each was checked when it was built.
            debug_assert!(machine.encode().is_ok(), "{machine:?}");
            this.bytes.extend_from_slice(&machine.encoded());
            this.code.push(machine);
        }
        for _ in 0..FILLERS {
            this.bytes.extend_from_slice(&FILLER);
        }
        while !this.bytes.len().is_multiple_of(ALIGN) {
            this.bytes.extend_from_slice(&FILLER);
        }
        Ok(this)
    }
}

fn branch(when: When, displacement: i64) -> Result<Machine, String> {
    let mut machine = Machine::new(FormId::Branch);
    let name = match when {
        When::Any => "br_any",
        When::None => "br_none",
    };
    machine
        .set_operation(name)
        .and_then(|()| machine.set_modifier("disp", displacement as u64))
        .map_err(|illegal| illegal.to_string())?;
    Ok(machine)
}
