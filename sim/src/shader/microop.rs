// SPDX-License-Identifier: MIT
//! The decoded form of an instruction.
//!
//! This is the interface behind which another back end (a JIT) could stand: a [`super::Program`] is a
//! list of these, in which operands are resolved and branch targets are indices.

use super::operand::{Dst, Src};
use super::wave::Wave;

/// What happens after a micro-op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Step {
    /// The next one.
    Next,
    /// The one at [`MicroOp::target`].
    Jump,
    /// The one at [`Wave::pc`], which the micro-op has set.
    Indirect,
    /// The SIMD group waits for the others of its workgroup, then goes on with the next one.
    Barrier,
    /// The SIMD group has ended.
    Stop,
    /// Something went wrong: [`Wave::fault`] says what.
    Fault,
}

/// Executes one micro-op over all lanes.
///
/// Unsafe to call because the function may be compiled for CPU features: it must come from
/// [`crate::kernel`], which picks one that the host has.
pub type Exec = unsafe fn(&mut Wave<'_>, &MicroOp) -> Step;

/// One decoded instruction.
#[derive(Clone, Copy)]
pub struct MicroOp {
    /// The function that executes it.
    pub exec: Exec,
    /// Where the result goes.
    pub dst: Dst,
    /// Sources, in the order of the function's choice.
    pub src: [Src; 4],
    /// Further numbers, as the function wants them.
    pub imm: [u32; 4],
    /// Index of the micro-op to jump to, for branches.
    pub target: u32,
}

impl MicroOp {
    /// A micro-op without operands.
    #[must_use]
    pub fn new(exec: Exec) -> MicroOp {
        MicroOp {
            exec,
            dst: Dst::None,
            src: [Src::ZERO; 4],
            imm: [0; 4],
            target: u32::MAX,
        }
    }

    /// The same with a destination.
    #[must_use]
    pub fn dst(mut self, dst: Dst) -> MicroOp {
        self.dst = dst;
        self
    }

    /// The same with sources.
    #[must_use]
    pub fn srcs<const N: usize>(mut self, src: [Src; N]) -> MicroOp {
        self.src[..N].copy_from_slice(&src);
        self
    }

    /// The same with immediates.
    #[must_use]
    pub fn imms<const N: usize>(mut self, imm: [u32; N]) -> MicroOp {
        self.imm[..N].copy_from_slice(&imm);
        self
    }
}

impl std::fmt::Debug for MicroOp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MicroOp")
            .field("dst", &self.dst)
            .field("src", &self.src)
            .field("imm", &self.imm)
            .field("target", &self.target)
            .finish_non_exhaustive()
    }
}
