// SPDX-License-Identifier: MIT
//! The scenarios, by theme.
#![allow(
    unsafe_op_in_unsafe_fn,
    reason = "scenarios are Vulkan calls line after line; the validation layers check them"
)]

mod address;
mod aliases;
mod binding;
mod blending;
mod blit;
mod blocks;
mod borders;
mod clears;
mod command;
mod constants;
mod depth;
mod dispatch;
mod draw;
mod dynamic;
mod external;
mod feedback;
mod fragments;
mod gathers;
mod graphics_cache;
mod image;
mod image_views;
mod indexing;
mod inputs;
mod layers;
mod library;
mod memory;
mod modifiers;
mod occlusion;
mod passes;
mod patches;
mod pictures;
mod pipeline;
mod present;
mod query;
mod raster;
mod rendered;
mod resolves;
mod reuse;
mod robustness;
mod samplers;
mod samples;
mod secondary;
mod semaphore;
mod shaders;
mod stages;
mod states;
mod stencil;
mod subpasses;
mod swapchain;
mod sync;
mod texels;
mod textures;
mod thread;
mod transfer;
mod update;
mod varyings;
mod views;

use crate::scenario::Scenario;

/// Every scenario.
#[must_use]
pub fn all() -> Vec<Scenario> {
    [
        address::SCENARIOS,
        aliases::SCENARIOS,
        binding::SCENARIOS,
        blit::SCENARIOS,
        blocks::SCENARIOS,
        blending::SCENARIOS,
        borders::SCENARIOS,
        clears::SCENARIOS,
        command::SCENARIOS,
        constants::SCENARIOS,
        depth::SCENARIOS,
        dispatch::SCENARIOS,
        draw::SCENARIOS,
        dynamic::SCENARIOS,
        views::SCENARIOS,
        external::SCENARIOS,
        feedback::SCENARIOS,
        fragments::SCENARIOS,
        gathers::SCENARIOS,
        graphics_cache::SCENARIOS,
        image::SCENARIOS,
        image_views::SCENARIOS,
        indexing::SCENARIOS,
        inputs::SCENARIOS,
        layers::SCENARIOS,
        library::SCENARIOS,
        memory::SCENARIOS,
        modifiers::SCENARIOS,
        occlusion::SCENARIOS,
        passes::SCENARIOS,
        patches::SCENARIOS,
        pipeline::SCENARIOS,
        present::SCENARIOS,
        query::SCENARIOS,
        raster::SCENARIOS,
        rendered::SCENARIOS,
        resolves::SCENARIOS,
        reuse::SCENARIOS,
        robustness::SCENARIOS,
        samplers::SCENARIOS,
        samples::SCENARIOS,
        secondary::SCENARIOS,
        semaphore::SCENARIOS,
        shaders::SCENARIOS,
        stages::SCENARIOS,
        states::SCENARIOS,
        stencil::SCENARIOS,
        subpasses::SCENARIOS,
        swapchain::SCENARIOS,
        sync::SCENARIOS,
        texels::SCENARIOS,
        textures::SCENARIOS,
        thread::SCENARIOS,
        transfer::SCENARIOS,
        update::SCENARIOS,
        varyings::SCENARIOS,
    ]
    .concat()
}

/// A row of a theme's table.
const fn scenario(
    name: &'static str,
    run: unsafe fn(&crate::scope::Scope<'_>) -> anyhow::Result<()>,
) -> Scenario {
    Scenario { name, run }
}

/// Wrapping multiples and sums of two buffers, element by element: buffers at bindings 0 (read),
/// 1 (read) and 2 (written).
const COMBINE: &str = "
layout(local_size_x = 32) in;
layout(set = 0, binding = 0) readonly buffer A { uint a[]; };
layout(set = 0, binding = 1) readonly buffer B { uint b[]; };
layout(set = 0, binding = 2) writeonly buffer C { uint c[]; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    c[i] = a[i] * 3u + b[i];
}
";

/// What [`COMBINE`] computes.
fn combined(a: &[u32], b: &[u32]) -> Vec<u32> {
    let pairs = a.iter().zip(b);
    pairs
        .map(|(a, b)| a.wrapping_mul(3).wrapping_add(*b))
        .collect()
}

/// Increments every element of the buffer at binding 0.
const INCREMENT: &str = "
layout(local_size_x = 32) in;
layout(set = 0, binding = 0) buffer Values { uint values[]; };
void main() { values[gl_GlobalInvocationID.x] += 1u; }
";

/// Multiplies by 5 and adds the push constant, for orders that matter.
const STEP: &str = "
layout(local_size_x = 32) in;
layout(set = 0, binding = 0) buffer Values { uint values[]; };
layout(push_constant) uniform P { uint add; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    values[i] = values[i] * 5u + add;
}
";

/// What [`STEP`] makes of a value with each of the push constants in order.
fn stepped(value: u32, adds: impl IntoIterator<Item = u32>) -> u32 {
    adds.into_iter()
        .fold(value, |value, add| value.wrapping_mul(5).wrapping_add(add))
}
