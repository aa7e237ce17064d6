// SPDX-License-Identifier: MIT
//! An independent rasteriser: coverage by exact integers on the 1/256 grid, values by barycentric
//! coordinates in double precision.
//!
//! It knows nothing of tiles, quads or clipping, and finds barycentrics by areas instead of planes.

#![allow(unreachable_pub)]

/// A corner after the vertex shader: clip-space position and attributes.
#[derive(Clone, Copy, Debug)]
pub struct Corner {
    pub position: [f64; 4],
    pub attributes: [f64; 4],
}

/// A viewport: translate and scale of x, y and z.
#[derive(Clone, Copy, Debug)]
pub struct View {
    pub translate: [f64; 3],
    pub scale: [f64; 3],
}

impl View {
    pub fn of(size: [u16; 2]) -> View {
        let half = size.map(|n| f64::from(n) / 2.0);
        View {
            translate: [half[0], half[1], 0.0],
            scale: [half[0], half[1], 1.0],
        }
    }

    /// Window position in 1/256 pixel, and depth.
    pub fn window(&self, position: [f64; 4]) -> ([i64; 2], f64) {
        let at =
            |axis: usize| self.translate[axis] + self.scale[axis] * position[axis] / position[3];
        let grid = |value: f64| (value * 256.0).round_ties_even() as i64;
        ([grid(at(0)), grid(at(1))], at(2))
    }
}

/// What is found at a sample.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hit {
    pub depth: f64,
    /// With perspective.
    pub smooth: [f64; 4],
    /// Without.
    pub linear: [f64; 4],
}

fn cross(a: [i64; 2], b: [i64; 2], p: [i64; 2]) -> i128 {
    let d = |from: i64, to: i64| i128::from(to - from);
    d(a[0], b[0]) * d(a[1], p[1]) - d(a[1], b[1]) * d(a[0], p[0])
}

/// Is a sample at `p`, in 1/256 pixel, inside the triangle? By the top-left rule.
pub fn inside(corners: [[i64; 2]; 3], p: [i64; 2]) -> bool {
    let area = cross(corners[0], corners[1], corners[2]);
    if area == 0 {
        return false;
    }
    let [a, b, c] = if area > 0 {
        corners
    } else {
        [corners[0], corners[2], corners[1]]
    };
    [(a, b), (b, c), (c, a)].into_iter().all(|(from, to)| {
        let side = cross(from, to, p);
        // Going around clockwise as seen, a left edge leads up, a top one to the right.
        let left = to[1] < from[1];
        let top = to[1] == from[1] && to[0] > from[0];
        side > 0 || side == 0 && (left || top)
    })
}

/// The triangle at the sample at `sample` sixteenths of pixel (x, y); the values are those at `at`
/// (in pixels), which may be another place.
pub fn sample(
    view: &View,
    triangle: &[Corner; 3],
    pixel: [u32; 2],
    sample: [u8; 2],
    at: Option<[f64; 2]>,
) -> Option<Hit> {
    let window = triangle.map(|corner| view.window(corner.position));
    let corners = window.map(|(at, _)| at);
    let p = [0, 1].map(|axis| i64::from(pixel[axis]) * 256 + i64::from(sample[axis]) * 16);
    if !inside(corners, p) {
        return None;
    }
    let here = p.map(|n| n as f64 / 256.0);
    let weights = |place: [f64; 2]| {
        let points = corners.map(|corner| corner.map(|n| n as f64 / 256.0));
        let area = |a: [f64; 2], b: [f64; 2], c: [f64; 2]| {
            (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
        };
        let whole = area(points[0], points[1], points[2]);
        [
            area(place, points[1], points[2]) / whole,
            area(points[0], place, points[2]) / whole,
            area(points[0], points[1], place) / whole,
        ]
    };
    let exact = weights(here);
    let value = weights(at.unwrap_or(here));
    let depth = (0..3).map(|i| exact[i] * window[i].1).sum();
    let over_w: f64 = (0..3).map(|i| value[i] / triangle[i].position[3]).sum();
    let mix = |k: usize, perspective: bool| -> f64 {
        (0..3)
            .map(|i| {
                let weight = if perspective {
                    value[i] / triangle[i].position[3] / over_w
                } else {
                    value[i]
                };
                weight * triangle[i].attributes[k]
            })
            .sum()
    };
    Some(Hit {
        depth,
        smooth: std::array::from_fn(|k| mix(k, true)),
        linear: std::array::from_fn(|k| mix(k, false)),
    })
}
