// SPDX-License-Identifier: MIT
//! Primitives in the window: what is rasterised, and how values vary over it.

use super::draw::Rect;
use crate::shader::fragment::interpolate::Gradient;

/// Units of window coordinates in a pixel: 8 bits (INFERRED, Vulkan's `subPixelPrecisionBits`; graphics,
/// 17 row 10).
pub(super) const UNITS: i32 = 256;

/// Which samples a primitive covers.
#[derive(Clone, Copy, Debug)]
pub(super) enum Outline {
    /// Those inside a convex polygon of three or four corners, in units, x to the right and y down;
    /// either way around.
    Polygon { corners: [[i32; 2]; 4], count: u8 },
    /// Those of the pixels of a line after Bresenham, so many pixels wide.
    Line { ends: [[i32; 2]; 2], width: u16 },
}

/// Over what values vary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// Three corners.
    Triangle,
    /// Two ends, and nothing across.
    Line,
    /// Two ends, and nothing along the other axis: all pixels across a line after Bresenham are alike
    /// (INFERRED, as Vulkan prefers).
    Along(usize),
    /// Nothing.
    Point,
}

/// A primitive of a chunk.
#[derive(Clone, Debug)]
pub(super) struct Primitive {
    pub(super) outline: Outline,
    pub(super) shape: Shape,
    /// Corners in pixels.
    pub(super) corners: [[f64; 2]; 3],
    /// 1/w at the corners.
    pub(super) inverse_w: [f64; 3],
    /// Window depth with bias, at [`Primitive::origin`].
    pub(super) depth: Gradient,
    /// Pixels that it can touch.
    pub(super) bounds: Rect,
    /// Invocations at the corners that the application named.
    pub(super) vertices: [u32; 3],
    /// How the corners are made of those, where clipping made new ones.
    pub(super) weights: Option<Box<[[f64; 3]; 3]>>,
    /// Size of a point in pixels.
    pub(super) size: f64,
    pub(super) id: u32,
    pub(super) back: bool,
    pub(super) layer: u32,
    /// Index of viewport and scissor.
    pub(super) window: u8,
}

impl Primitive {
    /// Where gradients have their constant term.
    pub(super) fn origin(&self) -> [f64; 2] {
        self.corners[0]
    }

    /// The plane through values at the corners.
    pub(super) fn gradient(&self, values: [f64; 3]) -> Gradient {
        gradient(self.shape, &self.corners, values)
    }
}

/// The plane through values at the corners of a shape.
pub(super) fn gradient(shape: Shape, corners: &[[f64; 2]; 3], values: [f64; 3]) -> Gradient {
    let edge = |i: usize| [0, 1].map(|axis| corners[i][axis] - corners[0][axis]);
    let (dx, dy) = match shape {
        Shape::Triangle => {
            let ([x1, y1], [x2, y2]) = (edge(1), edge(2));
            let area = x1 * y2 - x2 * y1;
            let (d1, d2) = (values[1] - values[0], values[2] - values[0]);
            ((d1 * y2 - d2 * y1) / area, (d2 * x1 - d1 * x2) / area)
        }
        Shape::Line => {
            let [x, y] = edge(1);
            let slope = (values[1] - values[0]) / (x * x + y * y);
            match slope.is_finite() {
                true => (slope * x, slope * y),
                false => (0.0, 0.0),
            }
        }
        Shape::Along(axis) => {
            let slope = (values[1] - values[0]) / edge(1)[axis];
            match (slope.is_finite(), axis) {
                (false, _) => (0.0, 0.0),
                (true, 0) => (slope, 0.0),
                (true, _) => (0.0, slope),
            }
        }
        Shape::Point => (0.0, 0.0),
    };
    Gradient {
        value: values[0],
        dx,
        dy,
    }
}
