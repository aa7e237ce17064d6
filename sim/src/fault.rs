// SPDX-License-Identifier: MIT
//! What goes wrong while the GPU works, said so that the cause can be found.

use std::fmt;

/// What kind of thing happened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FaultKind {
    /// A load or store of an address that is not mapped, or not with that permission. The hardware
    /// is silent about it (isa-2, 2.6); only strict mode faults.
    #[error("{access} of {bytes} bytes at {va:#x}: {reason}")]
    Memory {
        /// "load", "store", "atomic", "fetch", "texture read" or "image store".
        access: &'static str,
        /// Address.
        va: u64,
        /// Bytes.
        bytes: u32,
        /// "not mapped", "mapped write-only" and the like.
        reason: &'static str,
    },
    /// The program reached bytes that are no known instruction, or must never run.
    #[error("illegal instruction: {0}")]
    IllegalInstruction(String),
    /// A record of a command stream that the hardware does not know, or cannot fetch.
    #[error("bad stream record at {va:#x}: {reason}")]
    Stream {
        /// Address of the record.
        va: u64,
        /// Why.
        reason: String,
    },
    /// A render command with values that the hardware does not know.
    #[error("bad render command: {0}")]
    Pass(String),
    /// A texture, store or sampler record that the hardware faults on, or that no proven driver
    /// writes (images, 10.1).
    #[error("bad record at {va:#x}: {reason}")]
    Record {
        /// Address of the record.
        va: u64,
        /// Why.
        reason: String,
    },
    /// More instructions than the watchdog allows.
    #[error("runaway program: more than {limit} instructions in one SIMD group")]
    Watchdog {
        /// The configured limit.
        limit: u64,
    },
    /// A rule that the hardware does not check but results depend on; strict mode only.
    #[error("strict: {0}")]
    Strict(String),
}

impl FaultKind {
    /// True for what only the strict mode reports.
    #[must_use]
    pub fn is_strict(&self) -> bool {
        matches!(self, FaultKind::Strict(_) | FaultKind::Memory { .. })
    }
}

/// Where in a shader it happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShaderPlace {
    /// "launch", "compute", "vertex", "fragment", "background" or "end-of-tile".
    pub stage: &'static str,
    /// Address of the instruction.
    pub pc: u64,
    /// Its text.
    pub instruction: String,
    /// Lane in the SIMD group, if one lane is to blame.
    pub lane: Option<u8>,
    /// Workgroup index; in fragment stages column, row and layer of the tile.
    pub workgroup: [u32; 3],
    /// SIMD group in the workgroup.
    pub simd_group: u32,
}

/// A fault of one command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What.
    pub kind: FaultKind,
    /// Where, when a shader was running.
    pub shader: Option<Box<ShaderPlace>>,
    /// Address of the stream record being executed.
    pub record: Option<u64>,
}

impl Fault {
    /// A fault with no place yet.
    #[must_use]
    pub fn new(kind: FaultKind) -> Fault {
        Fault {
            kind,
            shader: None,
            record: None,
        }
    }
}

impl std::error::Error for Fault {}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.kind)?;
        if let Some(place) = &self.shader {
            write!(
                f,
                "; {} program at {:#x} `{}`, workgroup {:?}, SIMD group {}",
                place.stage, place.pc, place.instruction, place.workgroup, place.simd_group
            )?;
            if let Some(lane) = place.lane {
                write!(f, ", lane {lane}")?;
            }
        }
        if let Some(record) = self.record {
            write!(f, "; stream record at {record:#x}")?;
        }
        Ok(())
    }
}
