// SPDX-License-Identifier: MIT
//! Image stores: components through a store record into memory (isa-4, 2.2).

use super::record::Target;
use super::texel::{Memory, Position};
use crate::shader::{LANES, Lanes};

/// Stores the colours of the lanes of `mask`, in ascending order of lanes. What is outside the level or
/// its layers changes nothing (isa-4, 2.2; HW).
pub fn store(
    memory: &Memory<'_, '_>,
    target: &Target,
    mask: u32,
    at: &Position,
    colour: &[Lanes; 4],
) {
    let surface = &target.surface;
    let Some(plane) = surface.planes.first() else {
        return;
    };
    let mut inside = 0;
    for lane in 0..LANES {
        let is_in = at.x.0[lane] < plane.width
            && at.y.0[lane] < plane.height
            && at.layer.0[lane] < plane.depth;
        inside |= u32::from(is_in) << lane;
    }
    inside &= mask;
    let mut elements = [[0; 4]; LANES];
    let source = |component: usize| usize::from(target.swizzle.0 >> (2 * component) & 3);
    let sources = [0, 1, 2, 3].map(source);
    for (lane, element) in elements.iter_mut().enumerate() {
        if inside >> lane & 1 == 1 {
            *element = surface
                .codec
                .encode(sources.map(|source| colour[source].0[lane]));
        }
    }
    let addresses = surface.addresses(plane, at, &Lanes::ZERO);
    memory.write(inside, &addresses, surface.codec.bytes, &elements);
}
