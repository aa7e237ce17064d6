// SPDX-License-Identifier: MIT
//! A simulated M4.
