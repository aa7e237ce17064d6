// SPDX-License-Identifier: MIT
//! The vertex that flat shading takes its values from.

crate::codes::codes! {
    /// The provoking vertex of a primitive (graphics, 7.3). Three records name it and must agree: vertex
    /// state, cull word, and the shade model of flat coefficients. Vulkan's default is the first.
    Provoking, "provoking vertex", "0..=2";
    /// The first vertex (HW).
    First = 0,
    /// The second vertex, in OpenGL's fans (INFERRED).
    Second = 1,
    /// The third and last vertex (HW).
    Last = 2,
}
