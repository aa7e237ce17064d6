// SPDX-License-Identifier: MIT
//! The level of detail: from gradients to levels (images, 10; isa-3, 2.10).
//!
//! What the reference leaves open is INFERRED here: a quad has one level, from the differences of its
//! first lane; anisotropy follows the API's example, with the number of samples from the ratio of the
//! footprint's axes and the level from the longer axis divided by it.

#![expect(
    clippy::needless_range_loop,
    reason = "lane numbers index several arrays alike"
)]

use agx_hw::sampler::{Filter, MipFilter, Sampler};

use super::coordinates::{direction, project};
use super::record::{Shape, View};
use super::request::{Coordinates, Detail, Request};
use crate::shader::{LANES, Lanes};

/// Words of a parameter block.
pub const WORDS: usize = 10;

/// Levels of detail of 32 lanes.
pub struct Details {
    /// With bias, before any clamp.
    pub lambda: [f32; LANES],
    /// Samples along the longer axis of the footprint; 1 when it is taken for round.
    pub taps: [u32; LANES],
    /// That axis: how far the coordinates change from pixel to pixel.
    pub axis: [[f32; LANES]; 3],
}

/// The level or bias in bits 16..27 of W3: a signed number of 1/64 (isa-3, 2.2; HW).
#[inline(always)]
#[must_use]
pub fn operand(w3: u32) -> f32 {
    ((w3 << 4) as i32 >> 20) as f32 / 64.0
}

/// Gradients of one lane: `[ddx, ddy]` of each coordinate.
type Gradients = [[f32; 2]; 3];

/// The gradients of a quad, the same for its four lanes.
#[inline(always)]
fn quad_gradients(words: &[Lanes; WORDS], cube: bool, first: usize) -> Gradients {
    let read = |word: usize, lane: usize| f32::from_bits(words[word].0[first + lane]);
    if cube {
        let face = |lane: usize| words[3].0[first + lane] & 0xffff;
        if (1..3).any(|lane| face(lane) != face(0)) {
            return across_faces([0, 1, 2].map(|lane| (face(lane), read(0, lane), read(1, lane))));
        }
    }
    std::array::from_fn(|word| {
        let here = read(word, 0);
        [read(word, 1) - here, read(word, 2) - here]
    })
}

/// Of a quad that straddles an edge of a cube: the coordinates of all lanes on the plane of the first
/// one's face (INFERRED: on hardware they may be compared as they stand).
#[cold]
fn across_faces([here, right, below]: [(u32, f32, f32); 3]) -> Gradients {
    let on_face =
        |(face, s, t): (u32, f32, f32)| project(here.0, direction(face, s, t)).unwrap_or([s, t]);
    let (right, below) = (on_face(right), on_face(below));
    [
        [right[0] - here.1, below[0] - here.1],
        [right[1] - here.2, below[1] - here.2],
        [0.0; 2],
    ]
}

impl Details {
    /// Level 0 everywhere.
    #[must_use]
    pub fn zero() -> Details {
        Details {
            lambda: [0.0; LANES],
            taps: [1; LANES],
            axis: [[0.0; LANES]; 3],
        }
    }

    /// Of a sample or query; `quads`: lanes are pixels in quads, so that there are derivatives.
    #[inline(always)]
    #[must_use]
    pub fn of(
        request: &Request,
        sampler: &Sampler,
        view: &View,
        words: &[Lanes; WORDS],
        quads: bool,
    ) -> Details {
        let mut details = Details::zero();
        let immediate = request.immediate.map(|eighths| f32::from(eighths) / 8.0);
        match request.detail {
            Detail::Level => {
                for lane in 0..LANES {
                    details.lambda[lane] = immediate.unwrap_or(operand(words[3].0[lane]));
                }
                return details;
            }
            Detail::Gradients => {
                details.follow(request, sampler, view, 1, |lane| {
                    let read = |word: usize| f32::from_bits(words[word].0[lane]);
                    let third = match request.coordinates {
                        Coordinates::Volume => [read(8), read(9)],
                        _ => [0.0; 2],
                    };
                    [[read(4), read(5)], [read(6), read(7)], third]
                });
            }
            Detail::Implicit | Detail::Bias if quads => {
                let cube = request.coordinates == Coordinates::Cube && view.shape == Shape::Cube;
                details.follow(request, sampler, view, 4, |lane| {
                    quad_gradients(words, cube, lane)
                });
            }
            Detail::Implicit | Detail::Bias => {}
        }
        if request.detail == Detail::Bias {
            for lane in 0..LANES {
                details.lambda[lane] += immediate.unwrap_or(operand(words[3].0[lane]));
            }
        }
        details
    }

    /// Levels and footprints from the gradients of each lane, of which so many that follow one another are alike.
    #[inline(always)]
    fn follow(
        &mut self,
        request: &Request,
        sampler: &Sampler,
        view: &View,
        alike: usize,
        gradients: impl Fn(usize) -> Gradients,
    ) {
        let plane = &view.surface.planes[0];
        let mut size = [plane.width, plane.height, 0].map(|n| n as f32);
        if request.coordinates == Coordinates::Volume {
            size[2] = plane.depth as f32;
        }
        if sampler.unnormalised {
            size = size.map(|n| n.min(1.0));
        }
        let most = f32::from(sampler.anisotropy.samples());
        for first in (0..LANES).step_by(alike) {
            let gradient = gradients(first);
            let (lambda, taps, axis) = footprint(&gradient, &size, most);
            for lane in first..first + alike {
                self.lambda[lane] = lambda;
                self.taps[lane] = taps;
            }
            let Some(axis) = axis else { continue };
            for c in 0..3 {
                self.axis[c][first..first + alike].fill(gradient[c][axis]);
            }
        }
    }
}

/// Level and number of samples, and the axis that they are along if they are several. `size`: texels along each
/// axis; `most`: of samples.
#[inline(always)]
fn footprint(gradient: &Gradients, size: &[f32; 3], most: f32) -> (f32, u32, Option<usize>) {
    // Squared lengths of the footprint's axes, in texels.
    let [dx, dy] = [0, 1].map(|axis| {
        let scaled = |c: usize| {
            // An axis that is not there counts for nothing, whatever its operand holds.
            if size[c] == 0.0 {
                0.0
            } else {
                gradient[c][axis] * size[c]
            }
        };
        let [x, y, z] = [scaled(0), scaled(1), scaled(2)];
        x * x + y * y + z * z
    });
    let (longer, shorter) = if dx >= dy { (dx, dy) } else { (dy, dx) };
    if !longer.is_finite() || !shorter.is_finite() {
        // NaN or infinity: the least detailed level (isa-4, 6.3; HW).
        return (f32::INFINITY, 1, None);
    }
    let lambda = 0.5 * longer.log2();
    if most > 1.0 && longer > 0.0 {
        let ratio = (longer / shorter).sqrt();
        let taps = ratio.ceil().min(most);
        if taps > 1.0 {
            return (
                lambda - taps.log2(),
                taps as u32,
                Some(usize::from(dx < dy)),
            );
        }
    }
    (lambda, 1, None)
}

/// λ inside the sampler's range; where that is empty, the maximum wins (images, 10; HW).
#[inline(always)]
#[must_use]
pub fn clamp(sampler: &Sampler, lambda: f32) -> f32 {
    lambda.max(sampler.lod.min()).min(sampler.lod.max())
}

/// Whether the footprint is filtered linearly, for a clamped λ.
#[inline(always)]
#[must_use]
pub fn is_linear(sampler: &Sampler, lambda: f32) -> bool {
    let filter = if lambda <= 0.0 {
        sampler.mag
    } else {
        sampler.min
    };
    filter == Filter::Linear
}

/// Levels counted from the view's first, and the weight of the second (images, 10, 4), for a clamped λ
/// and the last level.
#[inline(always)]
#[must_use]
pub fn levels(mip: MipFilter, lambda: f32, last: u32) -> (u32, u32, f32) {
    let d = lambda.clamp(0.0, last as f32);
    match mip {
        MipFilter::None => (0, 0, 0.0),
        MipFilter::Nearest => {
            let level = ((d + 0.5).ceil() - 1.0).max(0.0) as u32;
            (level, level, 0.0)
        }
        MipFilter::Linear => {
            let lower = d.floor();
            let level = lower as u32;
            (level, (level + 1).min(last), d - lower)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use agx_hw::sampler::LodRange;

    #[test]
    fn operands_of_w3() {
        assert_eq!(operand(64 << 16 | 0xffff), 1.0);
        assert_eq!(operand(0x800 << 16), -32.0);
        assert_eq!(operand(0x7ff << 16), 2047.0 / 64.0);
        assert_eq!(operand(0xfff << 16), -1.0 / 64.0);
    }

    #[test]
    fn levels_and_filters() {
        let sampler = Sampler {
            mag: Filter::Linear,
            lod: LodRange::new(1.0, 3.5),
            ..Sampler::default()
        };
        assert_eq!(clamp(&sampler, f32::NEG_INFINITY), 1.0);
        assert_eq!(clamp(&sampler, f32::INFINITY), 3.5);
        assert!(is_linear(&sampler, 0.0) && !is_linear(&sampler, 0.01));
        assert_eq!(levels(MipFilter::None, 3.0, 5), (0, 0, 0.0));
        // A half rounds down.
        assert_eq!(levels(MipFilter::Nearest, 1.5, 5).0, 1);
        assert_eq!(levels(MipFilter::Nearest, 1.51, 5).0, 2);
        assert_eq!(levels(MipFilter::Nearest, 9.0, 5).0, 5);
        assert_eq!(levels(MipFilter::Nearest, -1.0, 5).0, 0);
        assert_eq!(levels(MipFilter::Linear, 2.25, 5), (2, 3, 0.25));
        assert_eq!(levels(MipFilter::Linear, 7.0, 5), (5, 5, 0.0));
    }
}
