// SPDX-License-Identifier: MIT
//! Sampling: footprints of texels, compared, weighed and added up (images, 10).
//!
//! Order and arithmetic: fp32, x pairs first, then y, z, samples of the anisotropic footprint last;
//! weights of texels have 8 bits (INFERRED). Texels of weight 0 do not take part, so an infinity next to
//! the footprint spoils nothing.

#![expect(
    clippy::needless_range_loop,
    reason = "lane numbers index several arrays alike"
)]

use agx_hw::format::Source;
use agx_hw::sampler::{Border, Compare, MipFilter, Sampler, Wrap};

use super::coordinates::{across_edge, linear, nearest, tame, wrap};
use super::fetch;
use super::lod::{self, Details, WORDS};
use super::record::{Plane, Shape, View};
use super::request::{Coordinates, Kind, Request};
use super::texel::{Memory, Position};
use crate::shader::{LANES, Lanes};

/// The operands of one bundle.
pub struct Inputs<'a> {
    /// GPU memory.
    pub memory: &'a Memory<'a, 'a>,
    /// The texture.
    pub view: &'a View,
    /// The sampler.
    pub sampler: &'a Sampler,
    /// What the bundle asks for.
    pub request: Request,
    /// The parameter block.
    pub words: &'a [Lanes; WORDS],
    /// Lanes that want a result. The others give coordinates to their quads only.
    pub active: u32,
    /// Lanes are pixels in quads, so that there are derivatives.
    pub quads: bool,
}

/// Coordinates of 32 lanes, whole or not.
type Axes<T> = [[T; LANES]; 3];

/// The four components R, G, B, A of the result.
#[inline(always)]
#[must_use]
pub fn run(inputs: &Inputs<'_>) -> [Lanes; 4] {
    match inputs.request.kind {
        Kind::Fetch => fetch::fetch(inputs),
        Kind::Query => query(inputs),
        Kind::Sample => swizzle(inputs.view, &inputs.sample()),
        Kind::Gather => inputs.gather(),
    }
}

/// Components of memory in the order of the result (images, 2 and 11).
#[inline(always)]
#[must_use]
pub(super) fn swizzle(view: &View, components: &[Lanes; 4]) -> [Lanes; 4] {
    view.swizzle
        .0
        .map(|source| component(view, components, source))
}

#[inline(always)]
fn component(view: &View, components: &[Lanes; 4], source: Source) -> Lanes {
    match source {
        Source::R => components[0],
        Source::G => components[1],
        Source::B => components[2],
        Source::A => components[3],
        Source::One => Lanes::splat(one(view)),
        Source::Zero => Lanes::ZERO,
    }
}

/// The constant 1 in the texture's own type.
#[inline(always)]
fn one(view: &View) -> u32 {
    if view.surface.codec.is_integer() {
        1
    } else {
        1.0f32.to_bits()
    }
}

/// R: the level that a sample would use, G: before clamping; both without rounding (isa-3, 2.7).
#[inline(always)]
fn query(inputs: &Inputs<'_>) -> [Lanes; 4] {
    let Inputs { view, sampler, .. } = inputs;
    let mut out = [Lanes::ZERO; 4];
    if !inputs.quads && inputs.request.detail == super::request::Detail::Implicit {
        // Without a quad it returns 0 (isa-3, 2.7; HW-cap).
        return out;
    }
    let details = Details::of(&inputs.request, sampler, view, inputs.words, inputs.quads);
    for lane in 0..LANES {
        let lambda = details.lambda[lane];
        let clamped = lod::clamp(sampler, lambda).clamp(0.0, view.last_level() as f32);
        out[0].0[lane] = clamped.to_bits();
        // The range of a level operand (INFERRED): the logarithm of nothing has no end.
        out[1].0[lane] = lambda.clamp(-32.0, 2047.0 / 64.0).to_bits();
    }
    out
}

/// `a` where the weight is 0, otherwise the weighted mean.
#[inline(always)]
fn mix(a: u32, b: u32, weight: f32) -> u32 {
    let (a, b) = (f32::from_bits(a), f32::from_bits(b));
    let mean = a * (1.0 - weight) + b * weight;
    (if weight == 0.0 { a } else { mean }).to_bits()
}

impl Inputs<'_> {
    /// Components of memory that are worth working out.
    #[inline(always)]
    fn components(&self) -> usize {
        if self.request.compare {
            1
        } else {
            self.view.surface.codec.components.into()
        }
    }

    /// Faces meet at their edges.
    #[inline(always)]
    fn is_seamless(&self) -> bool {
        self.request.coordinates == Coordinates::Cube
            && self.view.shape == Shape::Cube
            && !self.sampler.non_seamless
    }

    /// There is a third coordinate, and slices for it.
    #[inline(always)]
    fn is_volume(&self) -> bool {
        self.request.coordinates == Coordinates::Volume && self.view.shape == Shape::Volume
    }

    /// The layer or face of each lane, clamped to the last (isa-4, 2.1; HW).
    #[inline(always)]
    fn layers(&self) -> [i32; LANES] {
        let wanted = matches!(
            self.request.coordinates,
            Coordinates::Layered | Coordinates::Cube
        );
        let mut out = [0; LANES];
        if wanted && self.view.shape != Shape::Volume {
            let last = self.view.surface.planes[0].depth - 1;
            for lane in 0..LANES {
                out[lane] = (self.words[3].0[lane] & 0xffff).min(last) as i32;
            }
        }
        out
    }

    /// The first three words as numbers, tamed later.
    #[inline(always)]
    fn coordinates(&self) -> Axes<f32> {
        std::array::from_fn(|axis| {
            std::array::from_fn(|lane| f32::from_bits(self.words[axis].0[lane]))
        })
    }

    /// Texels on each axis that has a coordinate.
    #[inline(always)]
    fn size(&self, plane: &Plane) -> [f32; 3] {
        if self.sampler.unnormalised {
            [1.0; 3]
        } else {
            [plane.width, plane.height, plane.depth].map(|n| n as f32)
        }
    }

    #[inline(always)]
    fn sample(&self) -> [Lanes; 4] {
        let Inputs { view, sampler, .. } = self;
        let integer = view.surface.codec.is_integer();
        let layers = self.layers();
        let coordinates = self.coordinates();
        let last = view.last_level();
        // What neither level nor filter depends on needs no level of detail.
        let fixed = (last == 0 || sampler.mip == MipFilter::None)
            && (sampler.mag == sampler.min || integer);
        let anisotropic = sampler.anisotropy.samples() > 1 && !integer;
        let details = if fixed && !anisotropic {
            Details::zero()
        } else {
            Details::of(&self.request, sampler, view, self.words, self.quads)
        };
        let mut first = [0; LANES];
        let mut second = [0; LANES];
        let mut weights = [0.0f32; LANES];
        let mut smooth = 0;
        for lane in 0..LANES {
            let lambda = lod::clamp(sampler, details.lambda[lane]);
            let (a, b, weight) = lod::levels(sampler.mip, lambda, last);
            (first[lane], second[lane]) = (a, b);
            // Integers do not mix.
            weights[lane] = if integer { 0.0 } else { weight };
            smooth |= u32::from(!integer && lod::is_linear(sampler, lambda)) << lane;
        }
        let mut twice = 0;
        for lane in 0..LANES {
            twice |= u32::from(weights[lane] > 0.0) << lane;
        }
        let mut most = 1;
        if anisotropic {
            for lane in 0..LANES {
                if self.active >> lane & 1 == 1 {
                    most = most.max(details.taps[lane]);
                }
            }
        }
        let n = self.components();
        let mut sum = [Lanes::ZERO; 4];
        for tap in 0..most {
            let mut mask = self.active;
            let mut at = coordinates;
            if most > 1 {
                mask = 0;
                for lane in 0..LANES {
                    let taps = details.taps[lane];
                    mask |= u32::from(tap < taps) << lane;
                    // Evenly along the axis, symmetric about the middle.
                    let along = (tap + 1) as f32 / (taps + 1) as f32 - 0.5;
                    for axis in 0..3 {
                        at[axis][lane] += details.axis[axis][lane] * along;
                    }
                }
                mask &= self.active;
            }
            let mut value = [Lanes::ZERO; 4];
            for pass in 0..2 {
                let (lanes, level) = if pass == 0 {
                    (mask, &first)
                } else {
                    (mask & twice, &second)
                };
                if lanes == 0 {
                    continue;
                }
                let texels = self.level_by_level(lanes, level, smooth, &at, &layers);
                if pass == 0 {
                    // Other lanes hold anything: nobody looks at them.
                    value = texels;
                    continue;
                }
                for c in 0..n {
                    for lane in 0..LANES {
                        // 0 where there is no second level.
                        let weight = weights[lane];
                        value[c].0[lane] = mix(value[c].0[lane], texels[c].0[lane], weight);
                    }
                }
            }
            if most == 1 {
                sum = value;
            } else {
                for c in 0..n {
                    for lane in 0..LANES {
                        if mask >> lane & 1 == 1 {
                            let so_far = f32::from_bits(sum[c].0[lane]);
                            let value = f32::from_bits(value[c].0[lane]);
                            sum[c].0[lane] = (so_far + value).to_bits();
                        }
                    }
                }
            }
        }
        if most > 1 {
            for c in 0..n {
                for lane in 0..LANES {
                    let taps = details.taps[lane].max(1) as f32;
                    sum[c].0[lane] = (f32::from_bits(sum[c].0[lane]) / taps).to_bits();
                }
            }
        }
        if self.request.compare {
            // A depth format has one component.
            sum[3] = Lanes::splat(1.0f32.to_bits());
        }
        sum
    }

    /// Filters inside a level; lanes on the same level with the same filter together.
    #[inline(always)]
    fn level_by_level(
        &self,
        mask: u32,
        level: &[u32; LANES],
        smooth: u32,
        at: &Axes<f32>,
        layers: &[i32; LANES],
    ) -> [Lanes; 4] {
        let mut out = [Lanes::ZERO; 4];
        let mut left = mask;
        while left != 0 {
            let lead = left.trailing_zeros() as usize;
            let mut same = 0;
            for lane in 0..LANES {
                same |= u32::from(level[lane] == level[lead]) << lane;
            }
            let is_smooth = smooth >> lead & 1 == 1;
            same &= left & if is_smooth { smooth } else { !smooth };
            left &= !same;
            let Some(plane) = self.view.surface.planes.get(level[lead] as usize) else {
                continue;
            };
            let texels = self.filtered(plane, same, is_smooth, at, layers);
            if same == mask {
                return texels;
            }
            for c in 0..4 {
                for lane in 0..LANES {
                    if same >> lane & 1 == 1 {
                        out[c].0[lane] = texels[c].0[lane];
                    }
                }
            }
        }
        out
    }

    /// One footprint in each lane.
    #[inline(always)]
    fn filtered(
        &self,
        plane: &Plane,
        mask: u32,
        smooth: bool,
        at: &Axes<f32>,
        layers: &[i32; LANES],
    ) -> [Lanes; 4] {
        let size = self.size(plane);
        let axes = if self.is_volume() { 3 } else { 2 };
        let mut lower = [[0i32; LANES]; 3];
        let mut weights = [[0.0f32; LANES]; 3];
        for axis in 0..axes {
            let offset = match axis {
                0 | 1 => i32::from(self.request.offset[axis]),
                _ => 0,
            };
            for lane in 0..LANES {
                let texels = tame(at[axis][lane] * size[axis]);
                let (i, weight) = if smooth {
                    linear(texels)
                } else {
                    (nearest(texels), 0.0)
                };
                lower[axis][lane] = i + offset;
                weights[axis][lane] = weight;
            }
        }
        if axes == 2 {
            lower[2] = *layers;
        }
        // On the edge between two faces the nearest texel is still on the one that the direction has chosen (Vulkan
        // 1.3, 16.6.2, which hardware conforms to; INFERRED).
        if !smooth && self.is_seamless() {
            for lane in 0..LANES {
                lower[0][lane] = lower[0][lane].clamp(0, plane.width as i32 - 1);
                lower[1][lane] = lower[1][lane].clamp(0, plane.width as i32 - 1);
            }
        }
        let n = self.components();
        let mut slices = [[Lanes::ZERO; 4]; 2];
        // Texels whose weight is 0 in all lanes are left out.
        let used = |axis: usize| {
            let mut any = false;
            for lane in 0..LANES {
                any |= weights[axis][lane] > 0.0 && mask >> lane & 1 == 1;
            }
            any
        };
        let counts = [0, 1, 2].map(|axis| 1 + usize::from(axis < axes && used(axis)));
        let mut cornered = 0;
        for z in 0..counts[2] {
            let mut rows = [[Lanes::ZERO; 4]; 2];
            for y in 0..counts[1] {
                let mut pair = [[Lanes::ZERO; 4]; 2];
                for x in 0..counts[0] {
                    let mut texel = lower;
                    for (axis, step) in [x, y, z].into_iter().enumerate() {
                        for lane in 0..LANES {
                            texel[axis][lane] += step as i32;
                        }
                    }
                    let (value, missing) = self.tap(plane, mask, texel);
                    pair[x] = value;
                    cornered |= missing;
                }
                for c in 0..n {
                    for lane in 0..LANES {
                        let [a, b] = [pair[0][c].0[lane], pair[1][c].0[lane]];
                        rows[y][c].0[lane] = mix(a, b, weights[0][lane]);
                    }
                }
            }
            for c in 0..n {
                for lane in 0..LANES {
                    let [a, b] = [rows[0][c].0[lane], rows[1][c].0[lane]];
                    slices[z][c].0[lane] = mix(a, b, weights[1][lane]);
                }
            }
        }
        let [mut out, above] = slices;
        if axes == 3 {
            for c in 0..n {
                for lane in 0..LANES {
                    let [a, b] = [out[c].0[lane], above[c].0[lane]];
                    out[c].0[lane] = mix(a, b, weights[2][lane]);
                }
            }
        }
        while cornered != 0 {
            let lane = cornered.trailing_zeros() as usize;
            cornered &= cornered - 1;
            let weights = [weights[0][lane], weights[1][lane]];
            let value = self.corner(plane, lane, &lower, weights);
            for c in 0..n {
                out[c].0[lane] = value[c];
            }
        }
        out
    }

    /// A footprint at a corner of a cube, where three texels meet: the fourth is their mean, as the
    /// API recommends (INFERRED; images, 10).
    #[cold]
    #[inline(never)]
    fn corner(&self, plane: &Plane, lane: usize, lower: &Axes<i32>, weights: [f32; 2]) -> [u32; 4] {
        let mut texels = [[0.0f32; 4]; 4];
        let mut missing = None;
        for (number, texel) in texels.iter_mut().enumerate() {
            let mut at = *lower;
            at[0][lane] += number as i32 & 1;
            at[1][lane] += number as i32 >> 1;
            let (value, none) = self.tap(plane, 1 << lane, at);
            if none != 0 {
                missing = Some(number);
            }
            *texel = std::array::from_fn(|c| f32::from_bits(value[c].0[lane]));
        }
        std::array::from_fn(|c| {
            let mut t = texels.map(|texel| texel[c]);
            if let Some(number) = missing {
                t[number] = 0.0;
                t[number] = (t[0] + t[1] + t[2] + t[3]) / 3.0;
            }
            let [a, b, d, e] = t.map(f32::to_bits);
            mix(mix(a, b, weights[0]), mix(d, e, weights[0]), weights[1])
        })
    }

    /// The four texels of each lane's footprint on level 0, or the results of comparing them, in the
    /// API's order (isa-3, 2.7; columns HW, rows INFERRED).
    #[inline(always)]
    fn gather(&self) -> [Lanes; 4] {
        let plane = &self.view.surface.planes[0];
        let size = self.size(plane);
        let at = self.coordinates();
        let mut lower = [[0i32; LANES]; 3];
        for axis in 0..2 {
            for lane in 0..LANES {
                let (i, _) = linear(tame(at[axis][lane] * size[axis]));
                lower[axis][lane] = i + i32::from(self.request.offset[axis]);
            }
        }
        lower[2] = self.layers();
        let mut out = [Lanes::ZERO; 4];
        let source = self.view.swizzle.0[usize::from(self.request.component)];
        for (number, [x, y]) in [[0, 1], [1, 1], [1, 0], [0, 0]].into_iter().enumerate() {
            let mut texel = lower;
            for lane in 0..LANES {
                texel[0][lane] += x;
                texel[1][lane] += y;
            }
            let (value, _) = self.tap(plane, self.active, texel);
            out[number] = if self.request.compare {
                value[0]
            } else {
                component(self.view, &value, source)
            };
        }
        out
    }

    /// One texel in each lane, or the result of comparing it. Second: the lanes that have none, at the
    /// corners of a cube.
    #[inline(always)]
    fn tap(&self, plane: &Plane, mask: u32, mut texel: Axes<i32>) -> ([Lanes; 4], u32) {
        let mut outside = 0;
        let mut missing = 0;
        if self.is_seamless() {
            missing = across_edges(plane, mask, &mut texel);
        } else {
            let size = [plane.width, plane.height, plane.depth];
            let axes = if self.is_volume() { 3 } else { 2 };
            for axis in 0..axes {
                let n = size[axis] as i32;
                let mode = self.sampler.wrap[axis];
                for lane in 0..LANES {
                    texel[axis][lane] = wrap(mode, texel[axis][lane], n);
                }
                if mode == Wrap::ClampToBorder {
                    for lane in 0..LANES {
                        let is_out = texel[axis][lane] < 0 || texel[axis][lane] >= n;
                        outside |= u32::from(is_out) << lane;
                    }
                }
            }
        }
        let lanes = |axis: usize| Lanes::from_fn(|lane| texel[axis][lane] as u32);
        let position = Position {
            x: lanes(0),
            y: lanes(1),
            layer: lanes(2),
        };
        let inside = mask & !outside & !missing;
        let surface = &self.view.surface;
        let mut value = surface.texels(self.memory, plane, inside, &position, &Lanes::ZERO);
        if outside != 0 {
            self.border(outside, &mut value);
        }
        if self.request.compare {
            self.compare(&mut value[0]);
        }
        (value, missing)
    }

    /// Puts the border's colour into lanes (images, 4.3).
    #[inline(always)]
    fn border(&self, lanes: u32, value: &mut [Lanes; 4]) {
        let one = one(self.view);
        let colour = match self.sampler.border {
            Border::TransparentBlack => [0; 4],
            Border::OpaqueBlack => [0, 0, 0, one],
            Border::OpaqueWhite => [one; 4],
        };
        // Order of border and swizzle: the border replaces the texel (images, 4.3; INFERRED).
        for c in 0..4 {
            for lane in 0..LANES {
                if lanes >> lane & 1 == 1 {
                    value[c].0[lane] = colour[c];
                }
            }
        }
    }

    /// `reference FUNC texel` as 1.0 or 0.0 (images, 4.2; HW).
    #[inline(always)]
    fn compare(&self, value: &mut Lanes) {
        let function = self.sampler.compare;
        for lane in 0..LANES {
            let reference = f32::from_bits(self.words[2].0[lane]);
            let texel = f32::from_bits(value.0[lane]);
            let holds = match function {
                Compare::LessOrEqual => reference <= texel,
                Compare::GreaterOrEqual => reference >= texel,
                Compare::Less => reference < texel,
                Compare::Greater => reference > texel,
                Compare::Equal => reference == texel,
                Compare::NotEqual => reference != texel,
                Compare::Always => true,
                Compare::Never => false,
            };
            value.0[lane] = if holds { 1.0f32.to_bits() } else { 0 };
        }
    }
}

/// Moves texels beside a face to the neighbouring one; answers the lanes that have no texel.
#[inline(always)]
fn across_edges(plane: &Plane, mask: u32, texel: &mut Axes<i32>) -> u32 {
    let n = plane.width as i32;
    let mut leaving = 0;
    for lane in 0..LANES {
        let inside = |i: i32| i >= 0 && i < n;
        leaving |= u32::from(!inside(texel[0][lane]) || !inside(texel[1][lane])) << lane;
    }
    leaving &= mask;
    let mut missing = 0;
    while leaving != 0 {
        let lane = leaving.trailing_zeros() as usize;
        leaving &= leaving - 1;
        let (cube, face) = (texel[2][lane] / 6, texel[2][lane] % 6);
        match across_edge(face as u32, texel[0][lane], texel[1][lane], n) {
            Some((face, i, j)) => {
                texel[0][lane] = i;
                texel[1][lane] = j;
                texel[2][lane] = 6 * cube + face as i32;
            }
            None => missing |= 1 << lane,
        }
    }
    missing
}
