// SPDX-License-Identifier: MIT
//! What can go wrong, with the message of whoever found it.

use crate::Stage;

/// Why a call failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The words are no SPIR-V module: too short, wrong magic number, an instruction that runs past the end.
    #[error("malformed SPIR-V: {0}")]
    Malformed(String),
    /// The SPIR-V validator rejects the module; this is its message.
    #[error("invalid SPIR-V: {0}")]
    Invalid(String),
    /// The module has no entry point of this name for this stage.
    #[error("no {stage} entry point {name:?}; the module has {available}")]
    EntryPointNotFound {
        /// The name that was asked for.
        name: String,
        /// The stage that was asked for.
        stage: Stage,
        /// The entry points that there are, for a person to read.
        available: String,
    },
    /// The module declares a capability that the options have switched off.
    #[error("the module declares the capability {0}, which is not enabled")]
    UnsupportedCapability(String),
    /// The module asks for more than a compiler in someone else's process should spend.
    #[error("SPIR-V beyond this compiler's limits: {0}")]
    TooLarge(String),
    /// Mesa's front end rejects the module; this is its message.
    #[error("SPIR-V to NIR: {0}")]
    Translation(String),
    /// The shader holds something that cannot be compiled for the hardware; the message names it.
    #[error("unsupported: {0}")]
    Unsupported(String),
    /// The system has no memory left. The shader that was being worked on is gone or unchanged.
    #[error("out of memory")]
    OutOfMemory,
    /// An assertion inside Mesa failed. The shader that was being worked on is gone or unchanged, the process is fine.
    #[error("{0}")]
    Internal(String),
    /// The shader breaks a rule of NIR; this is the report of NIR's validator.
    #[error("NIR validation: {0}")]
    BrokenNir(String),
    /// The bytes are no serialised shader of this build.
    #[error("not a serialised shader: {0}")]
    BadBlob(&'static str),
    /// The text is not SPIR-V assembly; this is the assembler's message.
    #[error("SPIR-V assembly: {0}")]
    Assembly(String),
}
