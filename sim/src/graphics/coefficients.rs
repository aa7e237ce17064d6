// SPDX-License-Identifier: MIT
//! The coefficient registers of a primitive (graphics, 5.3).
//!
//! Perspective: the plane through f/w at the corners. Linear: the plane through f. Values at corners that
//! clipping made are interpolated, those of linear scalars in the window as Vulkan wants it, unless a corner
//! is behind the eye and has no place there.

use agx_hw::coefficient::{Shade, Source};
use agx_hw::uvs::POSITION_WORDS;

use super::draw::{Draw, Object};
use super::primitive::{Primitive, Shape};
use crate::shader::fragment::interpolate::{Coefficient, Gradient};

/// Appends the registers of a primitive.
pub(super) fn append(
    draw: &Draw,
    primitive: &Primitive,
    outputs: &[u32],
    to: &mut Vec<Coefficient>,
) {
    let depth_slots = u8::from(draw.fragment_z);
    for binding in draw.table.bindings() {
        for component in 0..binding.components {
            to.push(match binding.source {
                Source::Varying => match binding.slot + component {
                    0 => Coefficient::Varying(primitive.gradient(primitive.inverse_w)),
                    1 if draw.fragment_z => Coefficient::Varying(primitive.depth),
                    slot => scalar(
                        draw,
                        primitive,
                        outputs,
                        usize::from(slot - 1 - depth_slots),
                        binding.shade,
                    ),
                },
                Source::FragmentZ => Coefficient::Varying(primitive.depth),
                Source::PointCoordinate => point(draw, primitive, component),
                Source::PrimitiveId => Coefficient::Flat(primitive.id),
                Source::Barycentric => Coefficient::Unknown,
            });
        }
    }
}

/// A user scalar.
fn scalar(
    draw: &Draw,
    primitive: &Primitive,
    outputs: &[u32],
    index: usize,
    shade: Shade,
) -> Coefficient {
    let word = usize::from(POSITION_WORDS) + index;
    let bits = primitive.vertices.map(|vertex| {
        let at = vertex as usize * draw.words + word;
        outputs.get(at).copied().unwrap_or(0)
    });
    if let Some(provoking) = shade.provoking() {
        let corner = match draw.object {
            Object::Points => 0,
            Object::Lines => usize::from(provoking.code()).min(1),
            _ => usize::from(provoking.code()),
        };
        return Coefficient::Flat(bits[corner]);
    }
    let corners = match primitive.shape {
        Shape::Triangle => 3,
        Shape::Line | Shape::Along(_) => 2,
        Shape::Point => 1,
    };
    let named = if primitive.weights.is_none() {
        corners
    } else {
        3
    };
    if bits[..named].iter().all(|word| *word == bits[0]) {
        return Coefficient::Constant(bits[0]);
    }
    let values = bits.map(|word| f64::from(f32::from_bits(word)));
    let w = primitive.vertices.map(|vertex| {
        let word = outputs.get(vertex as usize * draw.words + 3);
        f64::from(f32::from_bits(word.copied().unwrap_or(0)))
    });
    let in_window = shade == Shade::Linear && w.iter().all(|&w| w > 0.0);
    let mut at_corners = match &primitive.weights {
        None => values,
        Some(weights) => weights.map(|weights| {
            let factor = |i: usize| weights[i] * if in_window { w[i] } else { 1.0 };
            let sum: f64 = (0..3).map(factor).sum();
            (0..3).map(|i| factor(i) * values[i]).sum::<f64>() / sum
        }),
    };
    if shade == Shade::Perspective {
        for (value, inverse_w) in at_corners.iter_mut().zip(primitive.inverse_w) {
            *value *= inverse_w;
        }
    }
    Coefficient::Varying(primitive.gradient(at_corners))
}

/// A coordinate in a point: from the upper left corner, unless the draw turns it around. Which object type
/// means which is INFERRED (graphics, 17 row 8). 0 in what is no point.
fn point(draw: &Draw, primitive: &Primitive, component: u8) -> Coefficient {
    if primitive.shape != Shape::Point {
        return Coefficient::Constant(0);
    }
    let slope = 1.0 / primitive.size;
    Coefficient::Varying(match (component, draw.flip_points) {
        (0, _) => Gradient {
            value: 0.5,
            dx: slope,
            dy: 0.0,
        },
        (_, false) => Gradient {
            value: 0.5,
            dx: 0.0,
            dy: slope,
        },
        (_, true) => Gradient {
            value: 0.5,
            dx: 0.0,
            dy: -slope,
        },
    })
}
