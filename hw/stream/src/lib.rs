// SPDX-License-Identifier: MIT
//! What Apple9 hardware reads from memory besides shader code: command streams, launch programs,
//! entry blocks and descriptors.
