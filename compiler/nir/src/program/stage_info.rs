// SPDX-License-Identifier: MIT
//! What a lowered shader says about itself to whoever sets up its draws.

use crate::ffi;

/// What a shader of a stage needs and does.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum StageInfo {
    /// A compute shader; the rest is in the program itself.
    #[default]
    Compute,
    /// A vertex shader.
    Vertex(VertexInfo),
    /// A fragment shader.
    Fragment(FragmentInfo),
}

/// Of a vertex shader. Its output words, in order: position (4), user scalars, point size, layer and viewport, clip
/// distances (isa-3, 5.2).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VertexInfo {
    /// All words.
    pub outputs: u8,
    /// User scalars: what [`crate::VertexLowering::varyings`] asks for.
    pub user_scalars: u8,
    /// There is a point size.
    pub point_size: bool,
    /// There is a word of layer and viewport, and the shader writes the layer.
    pub layer: bool,
    /// The same of the viewport.
    pub viewport: bool,
    /// Words of clip distances.
    pub clip_distances: u8,
    /// It reads base vertex, base instance or draw number: the draw parameters.
    pub uses_draw_parameters: bool,
}

/// Of a fragment shader.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FragmentInfo {
    /// The scalars that it reads, in the order of coefficient registers: scalar i is coefficient 1 + i, and word 4 + i of
    /// the vertex shader's output. First smooth ones, then flat, then linear; of each by location, then component.
    /// Then come the primitive number, the depth, and two words of point coordinate, if used.
    pub varyings: Vec<Varying>,
    /// It reads the fragment's depth.
    pub uses_frag_z: bool,
    /// It reads the point coordinate.
    pub uses_point_coord: bool,
    /// It reads the primitive number.
    pub uses_primitive_id: bool,
    /// Depth and stencil are tested where it says so: it discards, demotes, changes the coverage (alpha to coverage
    /// included), or has side effects and does not want the tests in front of them.
    pub late_tests: bool,
    /// It writes the depth.
    pub writes_depth: bool,
    /// How the depth that it writes relates to the fragment's own.
    pub depth_layout: DepthLayout,
    /// It reads the tile: blending, partial write masks, logic operations, input attachments.
    pub reads_tile: bool,
    /// Derivatives, implicit LOD, quad operations.
    pub needs_helpers: bool,
    /// It stores to memory or has atomics.
    pub has_side_effects: bool,
    /// It wants depth and stencil tests in front of it.
    pub early_fragment_tests: bool,
    /// It stores to a colour attachment.
    pub writes_colour: bool,
    /// It loops over samples.
    pub runs_per_sample: bool,
    /// It reads the layer.
    pub uses_layer: bool,
    /// It reads the mask of covered samples.
    pub uses_sample_mask_in: bool,
}

/// A scalar that goes from vertex shader to fragment shader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Varying {
    /// SPIR-V's location; [`CLIP_DISTANCE_LOCATION`] and [`VIEWPORT_LOCATION`] stand for what has none.
    pub location: u8,
    /// Component.
    pub component: u8,
    /// How it is interpolated.
    pub mode: VaryingMode,
}

/// The location of the first four clip distances, where the fragment shader reads them; the next has the other four.
pub const CLIP_DISTANCE_LOCATION: u8 = ffi::CORTLAND_LOCATION_CLIP_DISTANCE as u8;
/// The location of the viewport's number, where the fragment shader reads it.
pub const VIEWPORT_LOCATION: u8 = ffi::CORTLAND_LOCATION_VIEWPORT as u8;

/// How a scalar is interpolated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum VaryingMode {
    /// With perspective.
    Smooth,
    /// That of the provoking vertex.
    Flat,
    /// Linear in the window.
    Linear,
}

/// How the depth that a shader writes relates to the fragment's own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum DepthLayout {
    /// In no known way.
    #[default]
    Any,
    /// It is not less.
    Greater,
    /// It is not greater.
    Less,
    /// It is the same.
    Unchanged,
}
