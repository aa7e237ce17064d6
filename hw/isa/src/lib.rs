// SPDX-License-Identifier: MIT
//! The instruction set of Apple9 GPUs (G16G in the M4, G17P in the A18 Pro).
//!
//! Every instruction form is described once, in [`FORMS`]. From that one table come the
//! [length rule's](instruction_length) cross-check, [`decode`], [`Instr::encode`], the disassembly
//! ([`Instr`]'s `Display`), the [assembler](asm), and the questions that a compiler's scheduler and
//! a simulator ask: what is read, written, released, waited for, completed
//! ([`Instr::accesses`], [`Instr::waits`], [`Instr::completes`]).
//!
//! Facts come from the hardware reference in `docs/hw`; each row names its section and its mark.
//!
//! ```
//! use agx_isa::{Mode, decode};
//! let add = decode(&[0x49, 0x05, 0x3c, 0x07, 0x00, 0x00], Mode::Strict)?;
//! assert_eq!(add.to_string(), "fadd.6 r4, ^r2, ^r3");
//! # Ok::<(), agx_isa::DecodeError>(())
//! ```

pub mod asm;
mod bits;
mod decode;
mod form;
mod illegal;
mod instr;
mod length;
mod minifloat;
mod operand;
mod print;
mod query;
mod quick;
mod sysreg;
mod table;
mod template;
mod touch;

pub use bits::{Bit, Bits, hex};
pub use decode::{DecodeError, DecodeErrorKind, Decoder, Mode, decode};
pub use form::{
    Alt, Class, Completion, Constant, Derive, Drain, Emit, EmitRule, File, Flow, Form, KeepHint,
    Legal, Mark, MemoryOp, Modifier, Opcode, Operand, Presence, Release, Role, Rule, Space, Span,
    Style, Wait,
};
pub use illegal::{Illegal, Value as IllegalValue};
pub use instr::{Arg, Encoded, Half, Instr, Reg, Value};
pub use length::{Length, instruction_length, known_undecoded};
pub use minifloat::MiniFloat;
pub use query::{Access, AccessKind, DeviceFormat, SlotMask};
pub use sysreg::{SYSTEM_REGISTERS, SystemRegister, system_register};
pub use table::{
    FORMS, FormId, RESULT_MASKS, TEXTURE_MODES, TextureMode, reduce_type, texture_mode,
};
pub use template::Template;

/// The examples of the README, compiled and run with the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
