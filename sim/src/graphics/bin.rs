// SPDX-License-Identifier: MIT
//! Which tiles a primitive touches.

use super::pass::Pass;
use super::primitive::{Outline, Primitive, UNITS};
use super::raster::Edges;

/// Numbers of tiles, each with a primitive that touches it: by tile, then in the order of primitives.
pub(super) fn bins(pass: &Pass, primitives: &[Primitive]) -> Vec<(u64, u32)> {
    let mut bins = Vec::with_capacity(primitives.len());
    for (index, primitive) in primitives.iter().enumerate() {
        let [width, height] = pass.tile.map(|size| size as i32);
        let bounds = primitive.bounds;
        let columns = bounds.min[0] / width..=(bounds.max[0] - 1) / width;
        let rows = bounds.min[1] / height..=(bounds.max[1] - 1) / height;
        // Two in a row are likely both touched.
        let many = (columns.end() - columns.start()) * (rows.end() - rows.start()) > 0;
        let edges = match primitive.outline {
            Outline::Polygon { corners, count } if many => {
                Some(Edges::new(&corners[..usize::from(count)]))
            }
            _ => None,
        };
        for y in rows {
            for x in columns.clone() {
                let [left, top] = [x * width, y * height].map(|at| i64::from(at * UNITS));
                let [right, bottom] = [
                    left + i64::from(width * UNITS),
                    top + i64::from(height * UNITS),
                ];
                let touches = edges
                    .as_ref()
                    .is_none_or(|edges| edges.touch([left, top], [right, bottom]));
                if touches {
                    let tile = pass.tile_index(x as u32, y as u32, primitive.layer);
                    bins.push((tile, index as u32));
                }
            }
        }
    }
    bins.sort_unstable();
    bins
}
