// SPDX-License-Identifier: MIT
//! Primitives from clip space to the window: clipping, viewport, culling, depth bias.
//!
//! Window coordinates are rounded to 1/256 pixel before anything is decided by them. A primitive with a
//! position that is not finite is not drawn (INFERRED). A viewport index that there is not counts as 0,
//! and a layer that there is not draws nothing (INFERRED; graphics, 17 row 7).
//!
//! Points are dropped when their centre is outside the clip volume's sides (graphics, 7.1), else clipped
//! as a whole. Their size is at least 1/16 and at most 511 pixels.
//!
//! Depth bias (graphics, 7.5): `slope * max(|dz/dx|, |dz/dy|) + r * constant`, limited by the clamp. With
//! integer depth r is 2^-16; with floats it is 2^(e - 23) for the exponent e of the triangle's greatest
//! depth, which gives the measured 2^-24 for depths in [0.5, 1) (INFERRED, as Vulkan's and Metal's).

use std::rc::Rc;

use agx_hw::uvs::layer_and_viewport;
use arrayvec::ArrayVec;

use super::clip::{Corner, MAX_CORNERS, Planes};
use super::draw::{Draw, Object, Rect, Window};
use super::line;
use super::pass::Pass;
use super::primitive::{Outline, Primitive, Shape, UNITS, gradient};

/// Turns primitives of a chunk into ones in the window.
pub(super) struct Setup<'d> {
    draw: &'d Draw,
    pass: &'d Pass,
    /// Output words of the invocations.
    outputs: &'d [u32],
    /// Of each window.
    planes: Vec<Rc<Planes>>,
    out: Vec<Primitive>,
}

/// A corner in the window.
#[derive(Clone, Copy, Debug)]
struct Placed {
    /// In units.
    at: [i32; 2],
    depth: f64,
    inverse_w: f64,
    weights: [f64; 3],
}

/// What the pieces of a primitive have in common.
#[derive(Clone, Copy)]
struct Common {
    vertices: [u32; 3],
    id: u32,
    layer: u32,
    window: u8,
}

const WHOLE: [[f64; 3]; 3] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];

impl<'d> Setup<'d> {
    pub(super) fn new(draw: &'d Draw, pass: &'d Pass, outputs: &'d [u32]) -> Setup<'d> {
        let depth = draw.cull.depth_clip;
        let planes = draw.windows.iter();
        Setup {
            draw,
            pass,
            outputs,
            planes: planes
                .map(|window| Rc::new(Planes::new(&window.viewport, depth)))
                .collect(),
            out: Vec::new(),
        }
    }

    /// What came of the primitives.
    pub(super) fn finish(self) -> Vec<Primitive> {
        self.out
    }

    fn word(&self, vertex: u32, word: usize) -> u32 {
        let at = vertex as usize * self.draw.words + word;
        self.outputs.get(at).copied().unwrap_or(0)
    }

    fn float(&self, vertex: u32, word: usize) -> f64 {
        f64::from(f32::from_bits(self.word(vertex, word)))
    }

    fn corner(&self, vertex: u32, index: usize) -> Corner {
        Corner {
            position: std::array::from_fn(|axis| self.float(vertex, axis)),
            weights: WHOLE[index],
        }
    }

    /// Takes one primitive.
    pub(super) fn primitive(&mut self, vertices: [u32; 3], id: u32) {
        let corners: [Corner; 3] = [0, 1, 2].map(|i| self.corner(vertices[i], i));
        let finite = |corner: &Corner| corner.position.iter().all(|value| value.is_finite());
        if !corners.iter().all(finite) {
            return;
        }
        // Layer and viewport come from the provoking vertex.
        let provoking = match self.draw.object {
            Object::Points => 0,
            Object::Lines => usize::from(self.draw.provoking.code()).min(1),
            _ => usize::from(self.draw.provoking.code()),
        };
        let (layer, viewport) = match self.draw.layout.layer_viewport() {
            Some(word) => layer_and_viewport(self.word(vertices[provoking], word.into())),
            None => (0, 0),
        };
        if u32::from(layer) >= self.pass.layers {
            return;
        }
        let window = match usize::from(viewport) < self.draw.windows.len() {
            true => usize::from(viewport),
            false => 0,
        };
        let Some(planes) = self.planes.get(window) else {
            return;
        };
        if self.draw.windows[window].clip.is_empty() {
            return;
        }
        let common = Common {
            vertices,
            id,
            layer: layer.into(),
            window: window as u8,
        };
        let mut planes = Rc::clone(planes);
        let layout = &self.draw.layout;
        if layout.clip_distances != 0 {
            let words = (0..layout.clip_distances).filter_map(|i| layout.clip_distance(i));
            let values = words.map(|word| vertices.map(|vertex| self.float(vertex, word.into())));
            planes = Rc::new(planes.with_distances(values));
        }
        match self.draw.object {
            Object::Points => self.point(&planes, corners[0], 0, common, false, 0.0),
            Object::Lines => self.line(&planes, [corners[0], corners[1]], common, None),
            Object::Triangles | Object::Edges | Object::Corners => {
                self.triangle(&planes, corners, common);
            }
        }
    }

    fn window(&self, common: Common) -> &Window {
        &self.draw.windows[usize::from(common.window)]
    }

    fn place(&self, corner: &Corner, window: &Window) -> Placed {
        let [x, y, z, w] = corner.position;
        let inverse_w = 1.0 / w;
        let viewport = &window.viewport;
        let coordinate = |axis: usize, value: f64| {
            f64::from(viewport.translate[axis])
                + f64::from(viewport.scale[axis]) * value * inverse_w
        };
        let units = |value: f64| (value * f64::from(UNITS)).round_ties_even() as i32;
        Placed {
            at: [units(coordinate(0, x)), units(coordinate(1, y))],
            depth: coordinate(2, z),
            inverse_w,
            weights: corner.weights,
        }
    }

    fn triangle(&mut self, planes: &Planes, corners: [Corner; 3], common: Common) {
        let window = *self.window(common);
        let whole = corners.iter().all(|corner| planes.contain(corner));
        let polygon = match whole {
            true => corners.into_iter().collect(),
            false => planes.polygon(corners),
        };
        if polygon.len() < 3 {
            return;
        }
        let placed: ArrayVec<Placed, MAX_CORNERS> = polygon
            .iter()
            .map(|corner| self.place(corner, &window))
            .collect();
        let area: i64 = (1..placed.len() - 1)
            .map(|i| cross(placed[0].at, placed[i].at, placed[i + 1].at))
            .sum();
        if area == 0 {
            return;
        }
        // y points down, so a positive sum is clockwise as seen.
        let front = (area < 0) == self.draw.cull.front_counter_clockwise;
        if front && self.draw.cull.front || !front && self.draw.cull.back {
            return;
        }
        match self.draw.object {
            Object::Edges => {
                let bias = self.flat_bias(&placed);
                for (a, b) in [(0, 1), (1, 2), (2, 0)] {
                    let edge = [corners[a], corners[b]];
                    self.line(planes, edge, common, Some((!front, bias)));
                }
            }
            Object::Corners => {
                let bias = self.flat_bias(&placed);
                for (index, corner) in corners.into_iter().enumerate() {
                    self.point(planes, corner, index, common, !front, bias);
                }
            }
            _ => {
                for i in 1..placed.len() - 1 {
                    let parts = [placed[0], placed[i], placed[i + 1]];
                    let part = cross(parts[0].at, parts[1].at, parts[2].at);
                    if part == 0 || (part < 0) != (area < 0) {
                        continue;
                    }
                    self.part(parts, common, !front, whole, &window);
                }
            }
        }
    }

    /// A triangle that needs no more clipping.
    fn part(
        &mut self,
        parts: [Placed; 3],
        common: Common,
        back: bool,
        whole: bool,
        window: &Window,
    ) {
        let corners = parts.map(|part| pixels(part.at));
        let mut depth = gradient(Shape::Triangle, &corners, parts.map(|part| part.depth));
        depth.value += self.bias(depth.dx, depth.dy, &parts);
        let [a, b, c] = parts.map(|part| part.at);
        let outline = Outline::Polygon {
            corners: [a, b, c, c],
            count: 3,
        };
        let bounds = bounds(&[a, b, c]).intersect(window.clip);
        if bounds.is_empty() {
            return;
        }
        self.out.push(Primitive {
            outline,
            shape: Shape::Triangle,
            corners,
            inverse_w: parts.map(|part| part.inverse_w),
            depth,
            bounds,
            vertices: common.vertices,
            weights: (!whole).then(|| Box::new(parts.map(|part| part.weights))),
            size: 0.0,
            id: common.id,
            back,
            layer: common.layer,
            window: common.window,
        });
    }

    fn bias(&self, dx: f64, dy: f64, parts: &[Placed]) -> f64 {
        let Some(bias) = &self.draw.bias else {
            return 0.0;
        };
        let unit = if self.pass.integer_bias {
            0.5f64.powi(16)
        } else {
            let greatest = parts
                .iter()
                .map(|part| part.depth.abs())
                .fold(0.0, f64::max);
            let exponent = (greatest as f32).to_bits() >> 23 & 0xff;
            2f64.powi(exponent as i32 - 127 - 23)
        };
        let slope = dx.abs().max(dy.abs());
        let offset = f64::from(bias.slope) * slope + f64::from(bias.constant) * unit;
        let limit = f64::from(bias.clamp);
        let offset = if limit > 0.0 {
            offset.min(limit)
        } else if limit < 0.0 {
            offset.max(limit)
        } else {
            offset
        };
        if offset.is_nan() { 0.0 } else { offset }
    }

    /// The bias of a triangle of which edges or corners are drawn.
    fn flat_bias(&self, placed: &[Placed]) -> f64 {
        let Some(&[a, b, c]) = placed.first_chunk::<3>() else {
            return 0.0;
        };
        let corners = [a, b, c].map(|part| pixels(part.at));
        let depth = gradient(Shape::Triangle, &corners, [a.depth, b.depth, c.depth]);
        self.bias(depth.dx, depth.dy, placed)
    }

    /// A line; of a triangle's edges, with its facing and bias.
    fn line(
        &mut self,
        planes: &Planes,
        ends: [Corner; 2],
        common: Common,
        of_triangle: Option<(bool, f64)>,
    ) {
        let window = *self.window(common);
        let whole = ends.iter().all(|corner| planes.contain(corner));
        let Some(clipped) = planes.line(ends) else {
            return;
        };
        let [a, b] = clipped.map(|corner| self.place(&corner, &window));
        let width = self.draw.line_width;
        let outline = match self.draw.rectangular_lines {
            true => match line::rectangle([a.at, b.at], width) {
                Some(outline) => outline,
                None => return,
            },
            // Without antialiasing the width is whole pixels (Vulkan, 27.7).
            false => Outline::Line {
                ends: [a.at, b.at],
                width: width.round().max(1.0) as u16,
            },
        };
        let bounds = line::bounds(&outline).intersect(window.clip);
        if bounds.is_empty() {
            return;
        }
        let corners = [a, b, b].map(|part| pixels(part.at));
        let shape = match outline {
            Outline::Line { ends, .. } => Shape::Along(line::major_axis(ends)),
            Outline::Polygon { .. } => Shape::Line,
        };
        let mut depth = gradient(shape, &corners, [a.depth, b.depth, b.depth]);
        let (back, bias) = of_triangle.unwrap_or((false, 0.0));
        depth.value += bias;
        // The two ends of a plain line are its vertices 0 and 1; other lines need their weights.
        let plain = whole && of_triangle.is_none();
        self.out.push(Primitive {
            outline,
            shape,
            corners,
            inverse_w: [a, b, b].map(|part| part.inverse_w),
            depth,
            bounds,
            vertices: common.vertices,
            weights: (!plain).then(|| Box::new([a, b, b].map(|part| part.weights))),
            size: 0.0,
            id: common.id,
            back,
            layer: common.layer,
            window: common.window,
        });
    }

    /// A point, at one of the primitive's corners.
    fn point(
        &mut self,
        planes: &Planes,
        corner: Corner,
        index: usize,
        common: Common,
        back: bool,
        bias: f64,
    ) {
        let window = *self.window(common);
        let [x, y, _, w] = corner.position;
        if !planes.contain(&corner) || x.abs() > w || y.abs() > w {
            return;
        }
        let placed = self.place(&corner, &window);
        let size = match self.draw.layout.point_size() {
            Some(word) => self.float(common.vertices[index], word.into()),
            None => 1.0,
        };
        let size = if size.is_nan() {
            1.0
        } else {
            size.clamp(0.0625, 511.0)
        };
        let units = (size * f64::from(UNITS)).round_ties_even() as i32;
        let low = placed.at.map(|at| at - units / 2);
        let [left, top] = low;
        let [right, bottom] = low.map(|at| at + units);
        let corners = [[left, top], [right, top], [right, bottom], [left, bottom]];
        let bounds = bounds(&corners).intersect(window.clip);
        if bounds.is_empty() {
            return;
        }
        let at = pixels(placed.at);
        let mut depth = gradient(Shape::Point, &[at; 3], [placed.depth; 3]);
        depth.value += bias;
        self.out.push(Primitive {
            outline: Outline::Polygon { corners, count: 4 },
            shape: Shape::Point,
            corners: [at; 3],
            inverse_w: [placed.inverse_w; 3],
            depth,
            bounds,
            vertices: common.vertices,
            weights: (index != 0).then(|| Box::new([placed.weights; 3])),
            size,
            id: common.id,
            back,
            layer: common.layer,
            window: common.window,
        });
    }
}

fn pixels(at: [i32; 2]) -> [f64; 2] {
    at.map(|units| f64::from(units) / f64::from(UNITS))
}

/// Twice the area of a triangle.
fn cross(a: [i32; 2], b: [i32; 2], c: [i32; 2]) -> i64 {
    let difference = |from: i32, to: i32| i64::from(to) - i64::from(from);
    difference(a[0], b[0]) * difference(a[1], c[1])
        - difference(a[0], c[0]) * difference(a[1], b[1])
}

/// Pixels that corners in units reach.
pub(super) fn bounds(corners: &[[i32; 2]]) -> Rect {
    let mut rect = Rect {
        min: [i32::MAX; 2],
        max: [i32::MIN; 2],
    };
    for corner in corners {
        for (axis, at) in corner.iter().enumerate() {
            let pixel = at.div_euclid(UNITS);
            rect.min[axis] = rect.min[axis].min(pixel);
            rect.max[axis] = rect.max[axis].max(pixel + 1);
        }
    }
    rect
}
