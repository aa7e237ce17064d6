// SPDX-License-Identifier: MIT
//! Lines: rectangles, and the pixels of Bresenham's lines (Vulkan 1.3, 27.7).
//!
//! With several samples a line is a rectangle, unless the cull word's bit 15 makes the primitive cover
//! pixels whole (graphics, 6.9; INFERRED). Else it covers the pixels whose diamonds it leaves, and so many
//! of them across as its width says (INFERRED: what Vulkan calls Bresenham lines). What lies between two
//! pixels across the line belongs to the left one, or the upper, as if the line were moved by (-ε, -ε²). An
//! end on the edge of a diamond is outside of it, which Vulkan's formula says and moving ends would change:
//! drivers of the family are conformant, which takes the last pixel of a line that ends on its right corner
//! (INFERRED: Vulkan's conformance tests, pipeline extended_dynamic_state topology_line).

use super::draw::Rect;
use super::primitive::{Outline, UNITS};
use super::setup;

/// Half a pixel.
const HALF: i64 = UNITS as i64 / 2;
const PIXEL: i64 = UNITS as i64;

/// The rectangle of a line so many pixels wide; `None` for a line without length.
pub(super) fn rectangle([a, b]: [[i32; 2]; 2], width: f32) -> Option<Outline> {
    let [dx, dy] = [0, 1].map(|axis| f64::from(b[axis]) - f64::from(a[axis]));
    let length = dx.hypot(dy);
    if length == 0.0 {
        return None;
    }
    let half = f64::from(width) * f64::from(UNITS) / 2.0 / length;
    let across = [-dy * half, dx * half];
    let corner = |end: [i32; 2], sign: f64| {
        [0, 1].map(|axis| (f64::from(end[axis]) + sign * across[axis]).round_ties_even() as i32)
    };
    Some(Outline::Polygon {
        corners: [
            corner(a, -1.0),
            corner(b, -1.0),
            corner(b, 1.0),
            corner(a, 1.0),
        ],
        count: 4,
    })
}

/// Pixels that a line can touch.
pub(super) fn bounds(outline: &Outline) -> Rect {
    match outline {
        Outline::Polygon { corners, count } => setup::bounds(&corners[..usize::from(*count)]),
        Outline::Line { ends, width } => {
            let rect = setup::bounds(ends);
            let more = i32::from(*width);
            Rect {
                min: rect.min.map(|min| min - more),
                max: rect.max.map(|max| max + more),
            }
        }
    }
}

/// The axis along which a line is longer.
pub(super) fn major_axis(ends: [[i32; 2]; 2]) -> usize {
    let [dx, dy] = [0, 1].map(|axis| (i64::from(ends[1][axis]) - i64::from(ends[0][axis])).abs());
    usize::from(dx < dy)
}

/// Calls `pixel` with every pixel of a line inside `clip`, in no particular order, each once.
pub(super) fn pixels(ends: [[i32; 2]; 2], width: u16, clip: Rect, mut pixel: impl FnMut(i32, i32)) {
    let [mut a, mut b] = ends.map(|end| end.map(i64::from));
    let major = major_axis(ends);
    let minor = 1 - major;
    // The first of the pixels across is that of a line moved by half of the others.
    for end in [&mut a, &mut b] {
        end[minor] -= (i64::from(width) - 1) * HALF;
    }
    let (from, to) = (a[major], b[major]);
    let column_of = |at: i64| at.div_euclid(PIXEL);
    // What begins between two columns begins in the first.
    let (first, last) = (column_of(from.min(to) - 1), column_of(from.max(to)));
    let first = first.max(clip.min[major].into());
    let last = last.min(i64::from(clip.max[major]) - 1);
    for column in first..=last {
        let centre = column * PIXEL + HALF;
        // Where the line is nearest to the column's centre.
        let at = centre.clamp(from.min(to), from.max(to));
        // Exactly: no rounding that depends on the direction.
        let length = i128::from((to - from).abs());
        let row = if length == 0 {
            a[minor].div_euclid(PIXEL)
        } else {
            let run = i128::from((at - from).abs()) * i128::from(b[minor] - a[minor]);
            let across = i128::from(a[minor]) * length + run;
            // Moved to the left, a line that goes down to the right is lower in this column.
            let down = major == 0 && (b[0] - a[0]).signum() * (b[1] - a[1]).signum() > 0;
            let moved = across - i128::from(!down);
            moved.div_euclid(length * i128::from(PIXEL)) as i64
        };
        if !leaves(a, b, major, column, row) {
            continue;
        }
        let rows =
            row.max(clip.min[minor].into())..(row + i64::from(width)).min(clip.max[minor].into());
        for row in rows {
            let mut at = [0; 2];
            at[major] = column as i32;
            at[minor] = row as i32;
            pixel(at[0], at[1]);
        }
    }
}

/// Does the line leave the diamond of the pixel in this column and row? It does when it passes the
/// column's centre or begins in the diamond, and does not end in it.
fn leaves(a: [i64; 2], b: [i64; 2], major: usize, column: i64, row: i64) -> bool {
    let inside = |point: [i64; 2]| {
        let along = point[major] - (column * PIXEL + HALF);
        let across = point[1 - major] - (row * PIXEL + HALF);
        along.abs() + across.abs() < HALF
    };
    if inside(b) {
        return false;
    }
    let centre = column * PIXEL + HALF;
    let passes = match a[major] <= b[major] {
        true => a[major] <= centre && centre < b[major],
        false => b[major] <= centre && centre < a[major],
    };
    passes || inside(a)
}
