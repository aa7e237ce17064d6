// SPDX-License-Identifier: MIT
//! The shader core: executes Apple9 machine code for SIMD groups of 32 lanes.
//!
//! ```text
//!  code bytes --(program)--> Program: micro-ops + what each instruction was --(cache)
//!                                |
//!   Dispatch: arguments, sizes   v
//!      Workgroup: id, shared     Wave::run: one micro-op after the other over 32 lanes
//! ```
//!
//! * [`program`] fetches and decodes everything reachable from an entry point, once;
//!   [`cache`] keeps the result, keyed by the bytes.
//! * [`lower`] turns one [`agx_isa::Instr`] into one [`MicroOp`]: a function, resolved operands, and a
//!   few immediates. A family of instructions has one module (`alu`, `memory`, `control` ...), which
//!   holds both the lowering and the functions.
//! * [`lanes`] compiles each function for several instruction set levels of the host; lowering
//!   picks the best that the CPU has.
//! * [`observe`] is the hook that strict checks, traces and profiles use.
//!
//! The functional core follows isa-1 1.6 and isa-2 9.5: asynchronous producers deliver at once,
//! waits, hints and releases do nothing. What real hardware would punish is found by the strict
//! observer, not here.

pub mod alu;
pub mod atomic;
pub mod barrier;
pub mod cache;
pub mod control;
pub mod device;
pub mod fragment;
pub mod group;
pub mod lanes;
pub mod launch;
pub mod lower;
pub mod microop;
pub mod observe;
pub mod operand;
pub mod profile;
pub mod program;
pub mod scratch;
pub mod strict;
pub mod subgroup;
pub mod texture;
pub mod threadgroup;
pub mod trace;
pub mod vertex;
pub mod wave;

pub use group::{Dispatch, Stage, UniformFile, Workgroup};
pub use lanes::{LANES, Lanes};
pub use microop::{MicroOp, Step};
pub use observe::{NoObserver, Observer};
pub use operand::{Dst, Place, Src};
pub use program::{OpInfo, Program};
pub use wave::{Exit, Wave};
