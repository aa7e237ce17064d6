// SPDX-License-Identifier: MIT
//! Families that the hardware reference leaves out (isa-0, 3, last paragraph): matrix, mesh and ray
//! query instructions. Their vectors show lengths that no implementation is asked for.

use agx_isa::{Mode, decode};

use super::load::Encode;

/// (family, operation).
const OUTSIDE: &[(&str, &str)] = &[
    ("matrix", "matrix_mac"),
    ("mesh", "mesh_out_src"),
    ("mesh", "op04_12"),
    ("ray_tracing", "ray_as_load"),
    ("ray_tracing", "ray_intersect"),
];

/// Why the vector is left unchecked; `None` when it is not one of these families.
pub(super) fn reason(vector: &Encode) -> Option<&'static str> {
    if !OUTSIDE.contains(&(vector.family.as_str(), vector.op.as_str())) {
        return None;
    }
    // Ray queries begin like a GET_SR16 of register 0xea, which is four bytes shorter.
    Some(if decode(&vector.bytes, Mode::Lenient).is_ok() {
        "family outside the reference (not required), whose bytes decode as another instruction"
    } else {
        "family outside the reference: lengths only, not required"
    })
}
