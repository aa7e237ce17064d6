// SPDX-License-Identifier: MIT
//! The programs around a tile: what fills it before the first fragment, and what takes it to memory after the last
//! (graphics, 9; isa-3, 3.3).

mod background;
mod store;

pub use background::{Background, BackgroundAttachment, Fill};
pub use store::{Store, StoreAttachment};
