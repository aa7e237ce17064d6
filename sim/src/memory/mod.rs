// SPDX-License-Identifier: MIT
//! GPU memory: buffer objects in host memory, and the page-granular view that a command has of them.
//!
//! A buffer object's pages exist once (a memfd). The CPU mapping that the application gets, and the
//! pointer that the shader core uses, reach the same bytes. A [`Mappings`] is an immutable snapshot:
//! the kernel model builds one when a command is accepted and the command keeps it (kernel-uapi,
//! 11.8 and 17 row 8), so translation needs no lock.

mod bo;
mod budget;
mod mappings;
mod tlb;

pub use bo::Bo;
pub use budget::{Budget, Charge};
pub use mappings::{Access, Mappings, PAGE_SHIFT, PAGE_SIZE, Region};
pub use tlb::Tlb;
