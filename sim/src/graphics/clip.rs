// SPDX-License-Identifier: MIT
//! Clipping in clip space (graphics, 7.1; Vulkan 1.3, 27.4).
//!
//! Against the near and far planes where the draw wants that, the clip distances, and always against
//! w > 0 and a guard band that keeps window coordinates in range. The sides of the clip volume do not
//! clip triangles and lines: scissor and region do (graphics, 7.1). A new corner on an edge is computed
//! from the edge's inside end, so that two triangles that share the edge get the same one.

use agx_hw::ppp::Viewport;
use arrayvec::ArrayVec;

/// Least w that is not clipped away: far below what any projection makes.
const LEAST_W: f64 = 1.0e-30;
/// Pixels from the window's origin that coordinates may be away: products of two coordinates' differences
/// in 1/256 pixel fit into 64 bits.
pub(super) const GUARD: f64 = (1 << 20) as f64;
/// Most planes: w, two of depth, four of the guard band, eight distances.
const MAX_PLANES: usize = 15;
/// Most corners: every plane adds at most one.
pub(super) const MAX_CORNERS: usize = 3 + MAX_PLANES;

/// A corner: its position in clip space, and how much of each original corner is in it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Corner {
    pub(super) position: [f64; 4],
    pub(super) weights: [f64; 3],
}

pub(super) type Corners = ArrayVec<Corner, MAX_CORNERS>;

/// Something linear that is not negative inside.
#[derive(Clone, Copy, Debug)]
enum Plane {
    /// Of w: at least so much.
    W(f64),
    /// Of one other coordinate: on this side of `ratio * w`.
    Ratio { axis: usize, ratio: f64, side: f64 },
    /// Of values at the original corners.
    Distances([f64; 3]),
}

impl Plane {
    fn distance(&self, corner: &Corner) -> f64 {
        let position = &corner.position;
        match *self {
            Plane::W(least) => position[3] - least,
            Plane::Ratio { axis, ratio, side } => side * (position[axis] - ratio * position[3]),
            Plane::Distances(distances) => (0..3).map(|i| distances[i] * corner.weights[i]).sum(),
        }
    }

    /// Where the edge from an inside corner to an outside one leaves.
    fn between(&self, inside: &Corner, outside: &Corner) -> Corner {
        let (from, to) = (self.distance(inside), self.distance(outside));
        // Shares instead of a difference: the ends may be many orders of magnitude apart.
        let share = from / (from - to);
        let rest = -to / (from - to);
        let mix = |a: f64, b: f64| rest * a + share * b;
        let mut corner = Corner {
            position: std::array::from_fn(|axis| {
                mix(inside.position[axis], outside.position[axis])
            }),
            weights: std::array::from_fn(|i| mix(inside.weights[i], outside.weights[i])),
        };
        // What is known exactly stays exact, whatever was lost.
        match *self {
            Plane::W(least) => corner.position[3] = least,
            Plane::Ratio { axis, ratio, .. } => corner.position[axis] = ratio * corner.position[3],
            Plane::Distances(_) => {}
        }
        corner
    }
}

/// What to clip against.
#[derive(Clone, Debug)]
pub(super) struct Planes(ArrayVec<Plane, MAX_PLANES>);

impl Planes {
    /// Those of a draw and a viewport.
    pub(super) fn new(viewport: &Viewport, depth: bool) -> Planes {
        let mut planes = ArrayVec::new();
        planes.push(Plane::W(LEAST_W));
        let mut ratio = |axis: usize, ratio: f64, side: f64| {
            planes.push(Plane::Ratio { axis, ratio, side });
        };
        if depth {
            ratio(2, 0.0, 1.0);
            ratio(2, 1.0, -1.0);
        }
        for axis in 0..2 {
            let scale = f64::from(viewport.scale[axis]);
            let translate = f64::from(viewport.translate[axis]);
            // A viewport without size maps everything to one place.
            if scale != 0.0 {
                ratio(axis, (GUARD - translate) / scale, -scale.signum());
                ratio(axis, (-GUARD - translate) / scale, scale.signum());
            }
        }
        Planes(planes)
    }

    /// The same, with clip distances at the three corners.
    pub(super) fn with_distances(&self, distances: impl Iterator<Item = [f64; 3]>) -> Planes {
        let mut planes = self.clone();
        for values in distances {
            // There are at most as many as fit.
            let _ = planes.0.try_push(Plane::Distances(values));
        }
        planes
    }

    /// Is a point inside?
    pub(super) fn contain(&self, corner: &Corner) -> bool {
        self.0.iter().all(|plane| plane.distance(corner) >= 0.0)
    }

    /// The part of a triangle that is inside; empty when there is none.
    pub(super) fn polygon(&self, triangle: [Corner; 3]) -> Corners {
        let mut corners: Corners = triangle.into_iter().collect();
        for plane in &self.0 {
            let outside = |corner: &Corner| !(plane.distance(corner) >= 0.0);
            if !corners.iter().any(outside) {
                continue;
            }
            let mut clipped = Corners::new();
            for (index, corner) in corners.iter().enumerate() {
                let before = &corners[(index + corners.len() - 1) % corners.len()];
                let (was, is) = (plane.distance(before), plane.distance(corner));
                if (was >= 0.0) != (is >= 0.0) {
                    let new = match was >= 0.0 {
                        true => plane.between(before, corner),
                        false => plane.between(corner, before),
                    };
                    let _ = clipped.try_push(new);
                }
                if is >= 0.0 {
                    let _ = clipped.try_push(*corner);
                }
            }
            corners = clipped;
            if corners.len() < 3 {
                corners.clear();
                return corners;
            }
        }
        corners
    }

    /// The part of a line that is inside.
    pub(super) fn line(&self, [mut a, mut b]: [Corner; 2]) -> Option<[Corner; 2]> {
        for plane in &self.0 {
            let (at_a, at_b) = (plane.distance(&a), plane.distance(&b));
            match (at_a >= 0.0, at_b >= 0.0) {
                (true, true) => {}
                (true, false) => b = plane.between(&a, &b),
                (false, true) => a = plane.between(&b, &a),
                (false, false) => return None,
            }
        }
        Some([a, b])
    }
}
