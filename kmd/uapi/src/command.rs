// SPDX-License-Identifier: MIT
//! The command buffer of a submit (section 11.3).
