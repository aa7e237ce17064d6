// SPDX-License-Identifier: MIT
//! The kinds of instructions that lowered NIR may hold, as `shim/apple9/check.c` has them, and those that a program does
//! hold: a back end's tests compare the two.

use std::collections::HashSet;
use std::fmt;

use super::{
    AluOp, AtomicOp, DefId, IndexKind, Instr, Intrinsic, IntrinsicOp, Node, Program, ReduceOp,
};
use crate::ffi;

/// An operation with its widths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Form {
    /// Arithmetic.
    Alu {
        /// The operation.
        op: AluOp,
        /// Bits of its result.
        bits: u8,
        /// Bits of its operands, but for the condition of a select and the amount of a shift.
        from: u8,
    },
    /// An intrinsic.
    Intrinsic {
        /// The operation.
        op: IntrinsicOp,
        /// Bits of its result or, if it has none, of what it stores; zero for neither.
        bits: u8,
        /// Components of the same.
        components: u8,
        /// What an atomic, a reduction or a scan does.
        operation: Operation,
    },
}

/// What an intrinsic does with values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Nothing.
    None,
    /// An atomic's.
    Atomic(AtomicOp),
    /// A reduction's or scan's.
    Reduce(ReduceOp),
}

impl Operation {
    fn of(intrinsic: &Intrinsic) -> Self {
        let number = |kind| u32::try_from(intrinsic.index(kind)).ok();
        match Kind::of(intrinsic.op) {
            Kind::None => None,
            Kind::Atomic => number(IndexKind::ATOMIC_OP)
                .and_then(AtomicOp::from_number)
                .map(Self::Atomic),
            Kind::Reduce => number(IndexKind::REDUCTION_OP)
                .and_then(ReduceOp::from_number)
                .map(Self::Reduce),
        }
        .unwrap_or(Self::None)
    }

    /// All that an intrinsic may have.
    fn all(intrinsic: IntrinsicOp) -> Vec<Self> {
        match Kind::of(intrinsic) {
            Kind::None => vec![Self::None],
            Kind::Atomic => (0..)
                .map_while(AtomicOp::from_number)
                .map(Self::Atomic)
                .collect(),
            Kind::Reduce => (0..)
                .map_while(ReduceOp::from_number)
                .map(Self::Reduce)
                .collect(),
        }
    }

    fn number(self) -> u32 {
        match self {
            Self::None => 0,
            Self::Atomic(op) => op as u32,
            Self::Reduce(op) => op as u32,
        }
    }
}

/// Which kind of operation an intrinsic names.
enum Kind {
    None,
    Atomic,
    Reduce,
}

impl Kind {
    fn of(intrinsic: IntrinsicOp) -> Self {
        // SAFETY: reads a constant table that has an entry for each enumerator.
        match unsafe { ffi::apple9_operation_of(intrinsic) } {
            ffi::apple9_operation_APPLE9_OPERATION_ATOMIC => Self::Atomic,
            ffi::apple9_operation_APPLE9_OPERATION_REDUCTION => Self::Reduce,
            _ => Self::None,
        }
    }
}

/// Widths of NIR's values.
const WIDTHS: [u8; 5] = [1, 8, 16, 32, 64];
/// Most components of a value (NIR_MAX_VEC_COMPONENTS).
const COMPONENTS: u8 = 16;

impl Form {
    /// Whether lowered NIR may hold it.
    #[must_use]
    pub fn is_allowed(self) -> bool {
        match self {
            // SAFETY: reads constant tables that have an entry for each enumerator.
            Self::Alu { op, bits, from } => unsafe {
                ffi::apple9_allows_alu(op, bits.into(), from.into())
            },
            Self::Intrinsic {
                op,
                bits,
                components,
                operation,
            } => {
                let (bits, components) = (bits.into(), components.into());
                // SAFETY: as above.
                unsafe { ffi::apple9_allows_intrinsic(op, bits, components, operation.number()) }
            }
        }
    }

    /// All that lowered NIR may hold.
    #[must_use]
    pub fn allowed() -> Vec<Self> {
        let mut forms = Vec::new();
        for op in (0..).map_while(AluOp::from_number) {
            for bits in WIDTHS {
                forms.extend(WIDTHS.map(|from| Self::Alu { op, bits, from }));
            }
        }
        for op in (0..).map_while(IntrinsicOp::from_number) {
            let operations = Operation::all(op);
            let shapes =
                WIDTHS.map(|bits| (1..=COMPONENTS).map(move |components| (bits, components)));
            for (bits, components) in shapes.into_iter().flatten().chain([(0, 0)]) {
                forms.extend(operations.iter().map(|&operation| Self::Intrinsic {
                    op,
                    bits,
                    components,
                    operation,
                }));
            }
        }
        forms.retain(|form| form.is_allowed());
        forms
    }
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Alu { op, bits, from } => write!(f, "{op:?} from {from} to {bits} bits"),
            Self::Intrinsic {
                op,
                bits,
                components,
                operation,
            } => {
                write!(f, "{op:?}")?;
                match operation {
                    Operation::None => {}
                    Operation::Atomic(op) => write!(f, " {op:?}")?,
                    Operation::Reduce(op) => write!(f, " {op:?}")?,
                }
                write!(f, " of {components} components of {bits} bits")
            }
        }
    }
}

impl Program {
    /// The kinds of instructions in it.
    #[must_use]
    pub fn forms(&self) -> HashSet<Form> {
        let mut instrs = Vec::new();
        gather(&self.body, &mut instrs);
        let mut defs = vec![None; self.num_defs as usize];
        for def in instrs.iter().filter_map(|instr| instr.def()) {
            if let Some(slot) = defs.get_mut(def.id.0 as usize) {
                *slot = Some(def);
            }
        }
        let def = |id: DefId| defs.get(id.0 as usize).copied().flatten();
        let mut forms = HashSet::new();
        for instr in &instrs {
            match instr {
                Instr::Alu(alu) => {
                    let bits = alu.def.bits;
                    let from = alu.srcs.iter().filter_map(|src| Some(def(src.def)?.bits));
                    let of = |from| Form::Alu {
                        op: alu.op,
                        bits,
                        from,
                    };
                    // An operand with a width of its own makes no form that there is.
                    forms.extend(from.map(of).filter(|form| form.is_allowed()));
                }
                Instr::Intrinsic(intrinsic) => {
                    let stored = || intrinsic.srcs.first().and_then(|&src| def(src));
                    let value = intrinsic.def.or_else(stored);
                    forms.insert(Form::Intrinsic {
                        op: intrinsic.op,
                        bits: value.map_or(0, |v| v.bits),
                        components: value.map_or(0, |v| v.components),
                        operation: Operation::of(intrinsic),
                    });
                }
                _ => {}
            }
        }
        forms
    }
}

fn gather<'a>(nodes: &'a [Node], instrs: &mut Vec<&'a Instr>) {
    for node in nodes {
        match node {
            Node::Block(block) => instrs.extend(&block.instrs),
            Node::If(branch) => {
                gather(&branch.then_body, instrs);
                gather(&branch.else_body, instrs);
            }
            Node::Loop(body) => gather(&body.body, instrs),
        }
    }
}
