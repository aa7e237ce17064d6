// SPDX-License-Identifier: MIT
//! From machine instructions and labels to bytes.

use agx_isa::{FormId, Instr as Machine, Template};

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

/// Code in the making.
#[derive(Debug, Default)]
pub(super) struct Layout {
    /// Instructions in order. Branches have no displacement yet.
    pub(super) code: Vec<Machine>,
    /// For each label, the instruction that it stands in front of.
    labels: Vec<Option<usize>>,
    /// Branches in `code`.
    branches: Vec<(usize, Label)>,
}

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
    /// For about so many instructions.
    pub(super) fn with_capacity(instructions: usize) -> Layout {
        Layout {
            code: Vec::with_capacity(instructions),
            ..Layout::default()
        }
    }

    /// A new label, not placed yet.
    pub(super) fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() - 1)
    }

    /// Places a label here.
    pub(super) fn place(&mut self, label: Label) {
        self.labels[label.0] = Some(self.code.len());
    }

    /// Adds a branch.
    pub(super) fn branch(&mut self, when: When, to: Label) {
        self.branches.push((self.code.len(), to));
        self.code.push(Machine::from_template(match when {
            When::Any => &BRANCH_ANY,
            When::None => &BRANCH_NONE,
        }));
    }

    /// The bytes. A displacement counts from the branch's first byte (isa-2, 6.9).
    pub(super) fn finish(mut self) -> Result<Bytes, String> {
        let len = if self.branches.is_empty() {
            let lengths = self
                .code
                .iter()
                .map(|machine| usize::from(machine.form().len));
            lengths.sum()
        } else {
            self.link()?
        };
        let mut bytes = Vec::with_capacity(len + FILLERS * FILLER.len() + ALIGN);
        for machine in &self.code {
            // Each was checked when it was built.
            debug_assert!(machine.encode().is_ok(), "{machine:?}");
            // Copying a whole word is shorter than copying as much of it as there is.
            let end = bytes.len() + usize::from(machine.form().len);
            bytes.extend_from_slice(&machine.bits().to_le_bytes());
            bytes.truncate(end);
        }
        for _ in 0..FILLERS {
            bytes.extend_from_slice(&FILLER);
        }
        while !bytes.len().is_multiple_of(ALIGN) {
            bytes.extend_from_slice(&FILLER);
        }
        Ok(Bytes {
            bytes,
            len,
            code: self.code,
        })
    }

    /// Gives branches their displacements. The length of the code.
    fn link(&mut self) -> Result<usize, String> {
        let mut offsets = Vec::with_capacity(self.code.len() + 1);
        let mut offset = 0;
        for machine in &self.code {
            offsets.push(offset);
            offset += usize::from(machine.form().len);
        }
        offsets.push(offset);
        for (branch, to) in &self.branches {
            let Some(target) = self.labels[to.0] else {
                return Err("a branch to a label that was never placed".into());
            };
            let displacement = offsets[target] as i64 - offsets[*branch] as i64;
            self.code[*branch]
                .set_modifier("disp", displacement as u64)
                .map_err(|illegal| illegal.to_string())?;
        }
        Ok(offset)
    }
}

static BRANCH_ANY: Template = Template::new(FormId::Branch).op("br_any");
static BRANCH_NONE: Template = Template::new(FormId::Branch).op("br_none");
