// SPDX-License-Identifier: MIT
//! What the specifications say that results are.

pub(crate) mod expect;
pub(crate) mod format;
pub(crate) mod fused;
pub(crate) mod interval;
