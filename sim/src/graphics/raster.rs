// SPDX-License-Identifier: MIT
//! Which samples of which pixels a primitive covers.
//!
//! A sample is covered when it is inside all edges of the polygon; on an edge, when that is a left or a top
//! one, so that polygons that share an edge share no sample (Vulkan wants that and no more). Edge functions
//! are exact: coordinates have at most 29 bits.

use super::draw::Rect;
use super::line;
use super::primitive::{Outline, UNITS};

const PIXEL: i64 = UNITS as i64;
/// Pixels on each axis of the blocks that are looked at as a whole first.
const BLOCK: i32 = 8;

/// An edge: `a * x + b * y + c` is not negative inside.
#[derive(Clone, Copy, Debug, Default)]
struct Edge {
    a: i64,
    b: i64,
    c: i64,
}

impl Edge {
    #[inline(always)]
    fn at(&self, x: i64, y: i64) -> i64 {
        self.a * x + self.b * y + self.c
    }

    /// The greatest value in a rectangle.
    #[inline(always)]
    fn most(&self, min: [i64; 2], max: [i64; 2]) -> i64 {
        let x = if self.a > 0 { max[0] } else { min[0] };
        let y = if self.b > 0 { max[1] } else { min[1] };
        self.at(x, y)
    }

    /// The least.
    #[inline(always)]
    fn least(&self, min: [i64; 2], max: [i64; 2]) -> i64 {
        let x = if self.a > 0 { min[0] } else { max[0] };
        let y = if self.b > 0 { min[1] } else { max[1] };
        self.at(x, y)
    }
}

/// The edges of a convex polygon.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edges {
    edges: [Edge; 4],
    count: usize,
}

impl Edges {
    /// Of three or four corners, either way around.
    pub(super) fn new(corners: &[[i32; 2]]) -> Edges {
        let count = corners.len().min(4);
        let corner = |i: usize| corners[i % count].map(i64::from);
        let area: i64 = (1..count.saturating_sub(1))
            .map(|i| {
                let ([x0, y0], [x1, y1], [x2, y2]) = (corner(0), corner(i), corner(i + 1));
                (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)
            })
            .sum();
        let mut edges = [Edge::default(); 4];
        for (i, edge) in edges.iter_mut().enumerate().take(count) {
            let ([x0, y0], [x1, y1]) = match area >= 0 {
                true => (corner(i), corner(i + 1)),
                false => (corner(i + 1), corner(i)),
            };
            let (dx, dy) = (x1 - x0, y1 - y0);
            // Inside is where this grows: to the right of a left edge, below a top one.
            let owns = dy < 0 || dy == 0 && dx > 0;
            *edge = Edge {
                a: -dy,
                b: dx,
                c: dy * x0 - dx * y0 - i64::from(!owns),
            };
        }
        Edges { edges, count }
    }

    fn edges(&self) -> &[Edge] {
        &self.edges[..self.count]
    }

    /// May the polygon reach into a rectangle, in units?
    pub(super) fn touch(&self, min: [i64; 2], max: [i64; 2]) -> bool {
        self.edges().iter().all(|edge| edge.most(min, max) >= 0)
    }

    fn fill(&self, min: [i64; 2], max: [i64; 2]) -> bool {
        self.edges().iter().all(|edge| edge.least(min, max) >= 0)
    }
}

/// Where the samples of a pixel lie.
#[derive(Clone, Copy, Debug)]
pub(super) struct Samples {
    /// In units from the pixel's upper left corner.
    offsets: [[i64; 2]; 4],
    count: usize,
}

impl Samples {
    /// From positions in sixteenths of a pixel.
    pub(super) fn new(positions: &[[u8; 2]; 4], count: usize) -> Samples {
        let unit = PIXEL / 16;
        Samples {
            offsets: positions.map(|at| at.map(|n| i64::from(n) * unit)),
            count,
        }
    }

    fn all(&self) -> u8 {
        ((1u32 << self.count) - 1) as u8
    }
}

/// Calls `quad` with the upper left pixel of every quad of which a primitive covers samples inside `clip`,
/// and the samples of its four pixels.
pub(super) fn quads(
    outline: &Outline,
    clip: Rect,
    samples: &Samples,
    quad: &mut dyn FnMut(i32, i32, [u8; 4]),
) {
    if clip.is_empty() {
        return;
    }
    match outline {
        Outline::Polygon { corners, count } => {
            polygon(
                &Edges::new(&corners[..usize::from(*count)]),
                clip,
                samples,
                quad,
            );
        }
        Outline::Line { ends, width } => lines(*ends, *width, clip, samples, quad),
    }
}

fn polygon(edges: &Edges, clip: Rect, samples: &Samples, quad: &mut dyn FnMut(i32, i32, [u8; 4])) {
    let start = clip.min.map(|min| min & !(BLOCK - 1));
    let mut top = start[1];
    while top < clip.max[1] {
        let mut left = start[0];
        while left < clip.max[0] {
            let min = [left, top].map(|at| i64::from(at) * PIXEL);
            let max = min.map(|at| at + i64::from(BLOCK) * PIXEL);
            if edges.touch(min, max) {
                let full = edges.fill(min, max);
                block(edges, full, [left, top], clip, samples, quad);
            }
            left += BLOCK;
        }
        top += BLOCK;
    }
}

/// The quads of a block.
fn block(
    edges: &Edges,
    full: bool,
    [left, top]: [i32; 2],
    clip: Rect,
    samples: &Samples,
    quad: &mut dyn FnMut(i32, i32, [u8; 4]),
) {
    let inside = left >= clip.min[0]
        && top >= clip.min[1]
        && left + BLOCK <= clip.max[0]
        && top + BLOCK <= clip.max[1];
    for y in (top..top + BLOCK).step_by(2) {
        if y + 1 < clip.min[1] || y >= clip.max[1] {
            continue;
        }
        for x in (left..left + BLOCK).step_by(2) {
            if x + 1 < clip.min[0] || x >= clip.max[0] {
                continue;
            }
            let mut masks = match full {
                true => [samples.all(); 4],
                false => covered(edges, x, y, samples),
            };
            if !inside {
                for (pixel, mask) in masks.iter_mut().enumerate() {
                    let (x, y) = (x + (pixel as i32 & 1), y + (pixel as i32 >> 1));
                    if x < clip.min[0] || x >= clip.max[0] || y < clip.min[1] || y >= clip.max[1] {
                        *mask = 0;
                    }
                }
            }
            if masks != [0; 4] {
                quad(x, y, masks);
            }
        }
    }
}

#[inline(always)]
fn covered(edges: &Edges, x: i32, y: i32, samples: &Samples) -> [u8; 4] {
    let mut masks = [0u8; 4];
    let (x, y) = (i64::from(x) * PIXEL, i64::from(y) * PIXEL);
    for sample in 0..samples.count {
        let [sx, sy] = samples.offsets[sample];
        let mut outside = [0i64; 4];
        for edge in edges.edges() {
            let at = edge.at(x + sx, y + sy);
            let (right, below) = (edge.a * PIXEL, edge.b * PIXEL);
            outside[0] |= at;
            outside[1] |= at + right;
            outside[2] |= at + below;
            outside[3] |= at + right + below;
        }
        for (mask, outside) in masks.iter_mut().zip(outside) {
            *mask |= u8::from(outside >= 0) << sample;
        }
    }
    masks
}

/// A Bresenham line: all samples of its pixels.
fn lines(
    ends: [[i32; 2]; 2],
    width: u16,
    clip: Rect,
    samples: &Samples,
    quad: &mut dyn FnMut(i32, i32, [u8; 4]),
) {
    let origin = clip.min.map(|min| min & !1);
    let columns = ((clip.max[0] - origin[0] + 1) / 2) as usize;
    let rows = ((clip.max[1] - origin[1] + 1) / 2) as usize;
    let mut masks = vec![[0u8; 4]; columns * rows];
    line::pixels(ends, width, clip, |x, y| {
        let (column, row) = (x - origin[0], y - origin[1]);
        let at = (row / 2) as usize * columns + (column / 2) as usize;
        masks[at][(row % 2 * 2 + column % 2) as usize] = samples.all();
    });
    for (at, mask) in masks.iter().enumerate() {
        if *mask != [0; 4] {
            let x = origin[0] + 2 * (at % columns) as i32;
            let y = origin[1] + 2 * (at / columns) as i32;
            quad(x, y, *mask);
        }
    }
}
