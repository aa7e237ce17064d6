// SPDX-License-Identifier: MIT
//! Devices that run a [`Case`](crate::case::Case): a software Vulkan driver to compare with, and the
//! simulated GPU.

pub mod agx;
pub mod lavapipe;
pub mod layout;
pub mod simulated;
