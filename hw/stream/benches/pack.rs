// SPDX-License-Identifier: MIT
fn main() {}
