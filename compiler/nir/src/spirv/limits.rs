// SPDX-License-Identifier: MIT
//! What a valid module may still not ask for.
//!
//! SPIR-V puts no bound on what a module of a few words can cost: a null constant of an array of 2^32 elements, or
//! structures that contain each other twice, 255 deep. Mesa expands such values element by element and walks such
//! types as trees, so each of them would exhaust memory, time or the stack. The bounds here are far above what real
//! shaders have.

use super::constants::Constants;
use super::ids::Ids;
use super::module::{Instruction, Module};
use super::translate::SpecConstant;
use crate::Error;
use spirv::Op;

/// Scalars and vectors in all composite values of a module together.
const MAX_LEAVES: u64 = 1 << 20;

/// Nodes of all types of a module, each type counted as the tree that a walk over it visits.
const MAX_TYPE_NODES: u64 = 1 << 18;

/// Members of one structure: SPIR-V's own universal limit.
const MAX_MEMBERS: usize = 16_383;

/// Selections and loops of a module. The validator's time grows with the square of their number: 2 s for this many.
const MAX_CONSTRUCTS: u32 = 1 << 13;

/// Selections and loops, members of a structure and levels of a type that the caller's stack must take: 128 KiB is
/// enough (tests/reject.rs). With more of them the work goes to a thread with a large stack.
const SHALLOW_CONSTRUCTS: u32 = 48;
const SHALLOW_MEMBERS: usize = 128;
const SHALLOW_TYPE: u32 = 24;

/// What passing the limits tells about a module.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cost {
    /// It needs a large stack; see `stack.rs`.
    pub(crate) deep: bool,
}

/// What a type costs when it is expanded or walked.
#[derive(Clone, Copy)]
struct Type {
    /// Scalars and vectors in a value of it; `u64::MAX` where the number is unknown.
    leaves: u64,
    nodes: u64,
    depth: u32,
    /// What it points to, for pointers.
    pointee: u32,
}

const LEAF: Type = Type {
    leaves: 1,
    nodes: 1,
    depth: 1,
    pointee: 0,
};

struct Walk<'a> {
    constants: Constants<'a>,
    types: Ids<Type>,
    /// The type of each value whose type matters.
    values: Ids<u32>,
    leaves: u64,
    nodes: u64,
    constructs: u32,
    deep: bool,
}

/// Fail if the module, specialised like this, is beyond the limits.
pub(crate) fn check(module: &Module<'_>, specialization: &[SpecConstant]) -> Result<Cost, Error> {
    let mut walk = Walk {
        constants: Constants::new(specialization, module.bound()),
        types: Ids::new(module.bound()),
        values: Ids::new(module.bound()),
        leaves: 0,
        nodes: 0,
        constructs: 0,
        deep: false,
    };
    for instruction in module.instructions() {
        if let Some(op) = instruction.op() {
            walk.note(op, instruction)?;
            walk.constants.note(op, instruction)?;
        }
    }
    Ok(Cost {
        deep: walk.deep || walk.constructs > SHALLOW_CONSTRUCTS,
    })
}

impl Walk<'_> {
    fn note(&mut self, op: Op, i: Instruction<'_>) -> Result<(), Error> {
        match op {
            Op::TypeMatrix => self.declare(
                i.operand(0),
                Type {
                    leaves: u64::from(i.operand(2)),
                    ..LEAF
                },
            ),
            Op::TypeArray => self.declare_array(i),
            Op::TypeRuntimeArray => {
                let element = self.kind(i.operand(1));
                self.declare(
                    i.operand(0),
                    Type {
                        leaves: u64::MAX,
                        ..nest(element)
                    },
                )
            }
            Op::TypeStruct => self.declare_struct(i),
            Op::TypePointer => self.declare(
                i.operand(0),
                Type {
                    pointee: i.operand(2),
                    ..LEAF
                },
            ),
            Op::SelectionMerge | Op::LoopMerge => {
                self.constructs += 1;
                if self.constructs > MAX_CONSTRUCTS {
                    return Err(Error::TooLarge(format!(
                        "more than {MAX_CONSTRUCTS} selections and loops"
                    )));
                }
                Ok(())
            }
            Op::Variable => {
                self.values.insert(i.operand(1), i.operand(0));
                // An initialiser is stored into the variable leaf by leaf.
                if i.operands.len() > 3 {
                    self.spend(self.pointee(i.operand(1)))
                } else {
                    Ok(())
                }
            }
            Op::Store => self.spend(self.pointee(i.operand(0))),
            Op::CopyMemory => {
                self.spend(self.pointee(i.operand(0)))?;
                self.spend(self.pointee(i.operand(1)))
            }
            Op::Function => self.spend(self.kind(i.operand(0))),
            // The rest that has operands of this form has a result type and a result, or does not matter.
            Op::Name
            | Op::MemberName
            | Op::Decorate
            | Op::MemberDecorate
            | Op::DecorateId
            | Op::DecorateString => Ok(()),
            _ => match self.types.get(i.operand(0)) {
                Some(&kind) if i.operands.len() >= 2 => {
                    self.values.insert(i.operand(1), i.operand(0));
                    if kind.leaves > 1 {
                        self.spend(kind)
                    } else {
                        Ok(())
                    }
                }
                _ => Ok(()),
            },
        }
    }

    fn kind(&self, id: u32) -> Type {
        self.types.get(id).copied().unwrap_or(LEAF)
    }

    /// The type that a pointer value points to.
    fn pointee(&self, pointer: u32) -> Type {
        let kind = self.values.get(pointer).map_or(LEAF, |&t| self.kind(t));
        self.kind(kind.pointee)
    }

    fn spend(&mut self, kind: Type) -> Result<(), Error> {
        self.leaves = self.leaves.saturating_add(kind.leaves);
        if self.leaves > MAX_LEAVES {
            return Err(Error::TooLarge(format!(
                "composite values of more than {MAX_LEAVES} scalars"
            )));
        }
        Ok(())
    }

    fn declare(&mut self, id: u32, kind: Type) -> Result<(), Error> {
        self.nodes = self.nodes.saturating_add(kind.nodes);
        if self.nodes > MAX_TYPE_NODES {
            return Err(Error::TooLarge(format!(
                "types of more than {MAX_TYPE_NODES} nested members"
            )));
        }
        self.deep |= kind.depth > SHALLOW_TYPE;
        self.types.insert(id, kind);
        Ok(())
    }

    fn declare_array(&mut self, i: Instruction<'_>) -> Result<(), Error> {
        let element = self.kind(i.operand(1));
        let length = self.constants.value(i.operand(2));
        if length == Some(0) {
            return Err(Error::Malformed(format!(
                "array type %{} has length 0",
                i.operand(0)
            )));
        }
        // A length that cannot be known here makes the type unfit for values, not for buffers and variables.
        let leaves = length.map_or(u64::MAX, |n| n.saturating_mul(element.leaves));
        self.declare(
            i.operand(0),
            Type {
                leaves,
                ..nest(element)
            },
        )
    }

    fn declare_struct(&mut self, i: Instruction<'_>) -> Result<(), Error> {
        let members = i.operands.get(1..).unwrap_or(&[]);
        if members.len() > MAX_MEMBERS {
            return Err(Error::TooLarge(format!(
                "a structure of {} members",
                members.len()
            )));
        }
        self.deep |= members.len() > SHALLOW_MEMBERS;
        let mut kind = Type { leaves: 0, ..LEAF };
        for &member in members {
            let member = self.kind(member);
            kind.leaves = kind.leaves.saturating_add(member.leaves);
            kind.nodes = kind.nodes.saturating_add(member.nodes);
            kind.depth = kind.depth.max(member.depth + 1);
        }
        self.declare(i.operand(0), kind)
    }
}

/// A type one level above `element`, with as many leaves.
fn nest(element: Type) -> Type {
    Type {
        leaves: element.leaves,
        nodes: element.nodes.saturating_add(1),
        depth: element.depth + 1,
        pointee: 0,
    }
}
