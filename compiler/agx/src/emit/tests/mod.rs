// SPDX-License-Identifier: MIT
//! Tests of emission.
