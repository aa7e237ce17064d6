// SPDX-License-Identifier: MIT
//! Vertex and fragment shaders, compiled and drawn with on the simulated GPU, whose strict mode watches the code.

#[path = "../../../../sim/tests/graphics/studio.rs"]
mod studio;

mod attributes;
mod blending;
mod coverage;
mod formats;
mod inputs;
mod limits;
mod pipeline;
mod textures;
mod varyings;
