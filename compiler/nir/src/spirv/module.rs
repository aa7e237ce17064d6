// SPDX-License-Identifier: MIT
//! The outer form of a SPIR-V module: header, instructions, and what its preamble declares.

use crate::{Capability, Error, Stage};
use spirv::Op;
use std::sync::LazyLock;

/// Words of a module's header.
const HEADER: usize = 5;

/// More words than any shader has; Mesa multiplies sizes in 32 bits.
const MAX_WORDS: usize = 1 << 24;

/// Vulkan 1.3 takes SPIR-V 1.0 to 1.6.
const MAX_MINOR: u32 = 6;

/// The validator's own limit on identifiers.
const MAX_ID: u32 = 0x3f_ffff;

/// Identifiers that a module may have whatever its size, and for each of its words. The validator and Mesa keep tables
/// of as many entries as the header says, of which a module uses at most one for each two words.
const FREE_IDS: usize = 1 << 16;
const IDS_PER_WORD: usize = 16;

/// The operations of the core by number, which is faster than [`Op::from_u32`].
static CORE: LazyLock<[Option<Op>; 512]> =
    LazyLock::new(|| std::array::from_fn(|opcode| Op::from_u32(opcode as u32)));

/// One instruction with its operands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Instruction<'a> {
    /// The opcode, whether or not the SPIR-V crate knows it.
    pub(crate) opcode: u32,
    /// The words after the first.
    pub(crate) operands: &'a [u32],
}

impl<'a> Instruction<'a> {
    /// The one at the start of these words, and the words behind it. None if it does not lie within them.
    fn split(words: &'a [u32]) -> Option<(Self, &'a [u32])> {
        let (&first, rest) = words.split_first()?;
        let (operands, rest) = rest.split_at_checked(((first >> 16) as usize).wrapping_sub(1))?;
        let instruction = Self {
            opcode: first & 0xffff,
            operands,
        };
        Some((instruction, rest))
    }

    pub(crate) fn is(&self, op: Op) -> bool {
        self.opcode == op as u32
    }

    /// The operation, if the SPIR-V crate knows it.
    pub(crate) fn op(&self) -> Option<Op> {
        let core = CORE.get(self.opcode as usize);
        core.map_or_else(|| Op::from_u32(self.opcode), |&op| op)
    }

    /// Operand `i`, or 0, which is never an identifier, where there is none.
    pub(crate) fn operand(&self, i: usize) -> u32 {
        self.operands.get(i).copied().unwrap_or(0)
    }
}

/// An `OpEntryPoint`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EntryPoint {
    pub(crate) execution_model: u32,
    pub(crate) function: u32,
    pub(crate) name: String,
}

/// A module whose instructions all lie within its words.
#[derive(Debug)]
pub(crate) struct Module<'a> {
    pub(crate) words: &'a [u32],
    pub(crate) entry_points: Vec<EntryPoint>,
    pub(crate) capabilities: Vec<u32>,
}

impl<'a> Module<'a> {
    /// Check the header and that instructions tile the words; collect what the preamble declares.
    pub(crate) fn parse(words: &'a [u32]) -> Result<Self, Error> {
        let malformed = |what: String| Err(Error::Malformed(what));
        if words.len() <= HEADER {
            return malformed(format!(
                "{} words, fewer than a header and an instruction",
                words.len()
            ));
        }
        if words.len() > MAX_WORDS {
            return Err(Error::TooLarge(format!(
                "{} words, more than {MAX_WORDS}",
                words.len()
            )));
        }
        if words[0] == spirv::MAGIC_NUMBER.swap_bytes() {
            return malformed("the words are in the other byte order".into());
        }
        if words[0] != spirv::MAGIC_NUMBER {
            return malformed(format!(
                "magic number {:#010x}, not {:#010x}",
                words[0],
                spirv::MAGIC_NUMBER
            ));
        }
        // Mesa crashes while it reports a version or schema that it does not like: it has no place to report to yet.
        let version = words[1];
        if version & 0xff00_00ff != 0 || (version >> 16) != 1 || (version >> 8) & 0xff > MAX_MINOR {
            return malformed(format!("version {version:#010x}, not 1.0 to 1.{MAX_MINOR}"));
        }
        if words[4] != 0 {
            return malformed(format!("schema {}, not 0", words[4]));
        }
        if words[3] == 0 || words[3] > MAX_ID {
            return malformed(format!("identifier bound {}, not 1 to {MAX_ID}", words[3]));
        }
        if words[3] as usize > FREE_IDS + IDS_PER_WORD * words.len() {
            return Err(Error::TooLarge(format!(
                "identifier bound {} of a module of {} words",
                words[3],
                words.len()
            )));
        }
        let mut module = Self {
            words,
            entry_points: Vec::new(),
            capabilities: Vec::new(),
        };
        let mut left = &words[HEADER..];
        while !left.is_empty() {
            let Some((instruction, rest)) = Instruction::split(left) else {
                return malformed(format!(
                    "instruction {} at word {} has {} words, {} are left",
                    left[0] & 0xffff,
                    words.len() - left.len(),
                    left[0] >> 16,
                    left.len()
                ));
            };
            module.note(instruction);
            left = rest;
        }
        Ok(module)
    }

    fn note(&mut self, instruction: Instruction<'_>) {
        if instruction.is(Op::Capability) {
            self.capabilities.push(instruction.operand(0));
        } else if instruction.is(Op::EntryPoint) {
            self.entry_points.push(EntryPoint {
                execution_model: instruction.operand(0),
                function: instruction.operand(1),
                name: literal_string(instruction.operands.get(2..).unwrap_or(&[])),
            });
        }
    }

    /// All identifiers are below this, says the header.
    pub(crate) fn bound(&self) -> u32 {
        self.words[3]
    }

    /// The instructions in order.
    pub(crate) fn instructions(&self) -> impl Iterator<Item = Instruction<'a>> + use<'a> {
        let mut left = &self.words[HEADER..];
        std::iter::from_fn(move || {
            let (instruction, rest) = Instruction::split(left)?;
            left = rest;
            Some(instruction)
        })
    }

    /// Fail, naming what there is, unless there is an entry point of this name and stage.
    pub(crate) fn require_entry_point(
        &self,
        name: &str,
        stage: Stage,
    ) -> Result<&EntryPoint, Error> {
        let model = stage.execution_model() as u32;
        let entry_point = self
            .entry_points
            .iter()
            .find(|e| e.name == name && e.execution_model == model);
        entry_point.ok_or_else(|| {
            let available: Vec<_> = self.entry_points.iter().map(EntryPoint::describe).collect();
            Error::EntryPointNotFound {
                name: name.into(),
                stage,
                available: if available.is_empty() {
                    "none".into()
                } else {
                    available.join(", ")
                },
            }
        })
    }
}

impl EntryPoint {
    fn describe(&self) -> String {
        match Stage::from_execution_model(self.execution_model) {
            Some(stage) => format!("{stage} {:?}", self.name),
            None => format!("execution model {} {:?}", self.execution_model, self.name),
        }
    }
}

/// The name of a capability as the SPIR-V specification writes it.
pub(crate) fn capability_name(capability: u32) -> String {
    Capability::from_u32(capability).map_or_else(|| format!("{capability}"), |c| format!("{c:?}"))
}

/// The NUL-terminated string at the start of these words.
fn literal_string(words: &[u32]) -> String {
    let bytes: Vec<u8> = words
        .iter()
        .flat_map(|w| w.to_le_bytes())
        .take_while(|&b| b != 0)
        .collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAGIC: u32 = spirv::MAGIC_NUMBER;

    fn message(words: &[u32]) -> String {
        Module::parse(words).expect_err("not a module").to_string()
    }

    #[test]
    fn header_errors_say_what_is_wrong() {
        assert!(message(&[]).contains("0 words"));
        assert!(message(&[MAGIC.swap_bytes(), 0x10000, 0, 1, 0, 0x10000]).contains("byte order"));
        assert!(message(&[7, 0x10000, 0, 1, 0, 0x10000]).contains("magic number 0x00000007"));
        assert!(message(&[MAGIC, 0x10700, 0, 1, 0, 0x10000]).contains("version 0x00010700"));
        assert!(message(&[MAGIC, 0x10000, 0, 1, 3, 0x10000]).contains("schema 3"));
        assert!(message(&[MAGIC, 0x10000, 0, u32::MAX, 0, 0x10000]).contains("identifier bound"));
    }

    #[test]
    fn the_identifier_bound_must_fit_the_size() {
        let with = |bound: u32| [MAGIC, 0x10000, 0, bound, 0, 0x10000];
        Module::parse(&with(1 << 16)).expect("a module");
        assert!(message(&with(MAX_ID)).contains("bound 4194303 of a module of 6 words"));
    }

    #[test]
    fn instructions_must_tile_the_words() {
        assert!(message(&[MAGIC, 0x10000, 0, 1, 0, 0]).contains("has 0 words"));
        assert!(message(&[MAGIC, 0x10000, 0, 1, 0, 0x2_0011]).contains("has 2 words, 1 are left"));
    }

    #[test]
    fn preamble_is_collected() {
        let words = [
            MAGIC,
            0x10000,
            0,
            9,
            0,
            0x2_0011,
            1,
            0x5_000f,
            5,
            4,
            u32::from_le_bytes(*b"main"),
            0,
        ];
        let module = Module::parse(&words).expect("a module");
        assert_eq!(module.capabilities, [1]);
        assert_eq!(
            module
                .require_entry_point("main", Stage::Compute)
                .expect("main")
                .function,
            4
        );
        let error = module
            .require_entry_point("main", Stage::Vertex)
            .expect_err("wrong stage")
            .to_string();
        assert_eq!(
            error,
            "no vertex entry point \"main\"; the module has compute \"main\""
        );
    }
}
