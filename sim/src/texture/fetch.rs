// SPDX-License-Identifier: MIT
//! Texels at whole coordinates: fetches and image loads (isa-3, 2.5; isa-4, 2.1).

#![expect(
    clippy::needless_range_loop,
    reason = "lane numbers index several arrays alike"
)]

use agx_hw::sampler::{LodRange, MipFilter};

use super::filter::{Inputs, swizzle};
use super::lod;
use super::record::Shape;
use super::request::Coordinates;
use super::texel::Position;
use crate::shader::{LANES, Lanes};

/// The four components of the texels; outside the image, its layers and its levels all are 0
/// (isa-4, 2.1; HW), constants of the swizzle included (INFERRED).
#[inline(always)]
#[must_use]
pub(super) fn fetch(inputs: &Inputs<'_>) -> [Lanes; 4] {
    let Inputs {
        view,
        request,
        words,
        sampler,
        ..
    } = inputs;
    let surface = &view.surface;
    let mut layer = Lanes::ZERO;
    let mut sample = Lanes::ZERO;
    for lane in 0..LANES {
        let (w2, w3) = (words[2].0[lane], words[3].0[lane]);
        layer.0[lane] = match request.coordinates {
            Coordinates::Volume if view.shape == Shape::Volume => w2,
            Coordinates::Layered if request.multisample => w2 & 0xfff,
            Coordinates::Layered | Coordinates::Cube => w3 & 0xffff,
            _ => 0,
        };
        if request.multisample {
            sample.0[lane] = w2 >> 12 & 3;
        }
    }
    // The sampler of fetches has every level (images, 1); another one's range and lack of levels count as
    // for samples (INFERRED).
    let mut level = [0i32; LANES];
    for lane in 0..LANES {
        let wanted = match request.immediate {
            Some(eighths) => f32::from(eighths) / 8.0,
            None if request.reads_w3() => lod::operand(words[3].0[lane]),
            None => 0.0,
        };
        level[lane] = match sampler.mip {
            MipFilter::None => 0,
            // A full range leaves what is outside the image outside.
            _ if sampler.lod == LodRange::FULL => wanted.floor() as i32,
            _ => lod::clamp(sampler, wanted).floor() as i32,
        };
    }
    let mut out = [Lanes::ZERO; 4];
    let mut left = inputs.active;
    while left != 0 {
        let lead = left.trailing_zeros() as usize;
        let mut same = 0;
        for lane in 0..LANES {
            same |= u32::from(level[lane] == level[lead]) << lane;
        }
        same &= left;
        left &= !same;
        let plane = usize::try_from(level[lead])
            .ok()
            .and_then(|level| surface.planes.get(level));
        let Some(plane) = plane else {
            continue;
        };
        let position = Position {
            x: words[0],
            y: words[1],
            layer,
        };
        let mut inside = 0;
        for lane in 0..LANES {
            let is_in = position.x.0[lane] < plane.width
                && position.y.0[lane] < plane.height
                && layer.0[lane] < plane.depth
                && sample.0[lane] < surface.samples;
            inside |= u32::from(is_in) << lane;
        }
        inside &= same;
        let texels = surface.texels(inputs.memory, plane, inside, &position, &sample);
        let texels = swizzle(view, &texels);
        let inside = Lanes::from_mask(inside);
        for c in 0..4 {
            for lane in 0..LANES {
                out[c].0[lane] |= texels[c].0[lane] & inside.0[lane];
            }
        }
    }
    out
}
