// SPDX-License-Identifier: MIT
//! The operations.

mod bits;
mod compare;
mod composite;
mod constant;
mod controlled;
mod convert;
mod dot;
mod float;
mod function;
mod geometric;
mod integer;
mod matrix;
mod pack;

use super::OpTest;

/// All tests.
#[must_use]
pub fn all() -> Vec<OpTest> {
    let mut list = Vec::new();
    integer::tests(&mut list);
    bits::tests(&mut list);
    compare::tests(&mut list);
    float::tests(&mut list);
    controlled::tests(&mut list);
    convert::tests(&mut list);
    function::tests(&mut list);
    pack::tests(&mut list);
    geometric::tests(&mut list);
    matrix::tests(&mut list);
    dot::tests(&mut list);
    composite::tests(&mut list);
    constant::tests(&mut list);
    list
}
