// SPDX-License-Identifier: MIT
//! A sampler in double precision, written from the API's rules and images, 10, without regard to how the
//! texture unit works: one lane, ideal weights.

use agx_hw::sampler::{Border, Compare, Filter, MipFilter, Sampler, Wrap};

/// An image as numbers.
pub(crate) trait Content {
    /// Texels of a level of the view: width, height, depth.
    fn size(&self, level: u32) -> [i64; 3];
    /// Last level of the view.
    fn last(&self) -> u32;
    /// A texel inside.
    fn texel(&self, level: u32, x: i64, y: i64, layer: i64) -> [f64; 4];
}

/// What to sample.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Query {
    pub(crate) at: [f64; 3],
    /// Layer; of cubes the face.
    pub(crate) layer: i64,
    /// Third coordinate instead of a layer.
    pub(crate) volume: bool,
    pub(crate) cube: bool,
    pub(crate) lambda: f64,
    pub(crate) offset: [i64; 2],
    pub(crate) compare: Option<f64>,
}

impl Default for Query {
    fn default() -> Query {
        Query {
            at: [0.0; 3],
            layer: 0,
            volume: false,
            cube: false,
            lambda: 0.0,
            offset: [0; 2],
            compare: None,
        }
    }
}

fn wrap(mode: Wrap, i: i64, n: i64) -> Option<i64> {
    match mode {
        Wrap::ClampToEdge | Wrap::Clamp => Some(i.max(0).min(n - 1)),
        Wrap::Repeat => Some(((i % n) + n) % n),
        Wrap::MirroredRepeat => {
            let period = ((i % (2 * n)) + 2 * n) % (2 * n);
            Some(if period < n {
                period
            } else {
                2 * n - 1 - period
            })
        }
        Wrap::ClampToBorder => (0..n).contains(&i).then_some(i),
        Wrap::MirrorClampToEdge => {
            let mirrored = if i >= 0 { i } else { -(1 + i) };
            Some(mirrored.min(n - 1))
        }
    }
}

/// The table of faces: major axis, then what s and t are, as signed axes (x = 1, y = 2, z = 3).
const FACES: [[i64; 3]; 6] = [
    [1, -3, -2],
    [-1, 3, -2],
    [2, 1, 3],
    [-2, 1, -3],
    [3, 1, -2],
    [-3, -1, -2],
];

/// The point in space of a texel's middle, which may lie beside the face.
fn point(face: i64, x: i64, y: i64, n: i64) -> [f64; 3] {
    let on = |i: i64| (2.0 * i as f64 + 1.0) / n as f64 - 1.0;
    let mut p = [0.0; 3];
    for (axis, value) in FACES[face as usize].iter().zip([1.0, on(x), on(y)]) {
        p[axis.unsigned_abs() as usize - 1] = axis.signum() as f64 * value;
    }
    p
}

/// The face and texel that a direction meets.
fn meet(p: [f64; 3], n: i64) -> (i64, i64, i64) {
    let (axis, _) = p
        .iter()
        .enumerate()
        .max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()))
        .unwrap();
    let signed = (axis as i64 + 1) * if p[axis] < 0.0 { -1 } else { 1 };
    let face = FACES.iter().position(|f| f[0] == signed).unwrap();
    let major = p[axis].abs();
    let on = |axis: i64| {
        let value = axis.signum() as f64 * p[axis.unsigned_abs() as usize - 1] / major;
        (((value + 1.0) / 2.0 * n as f64).floor() as i64).clamp(0, n - 1)
    };
    (face as i64, on(FACES[face][1]), on(FACES[face][2]))
}

/// A texel by whole coordinates, wrapped, compared.
fn tap(
    content: &dyn Content,
    sampler: &Sampler,
    query: &Query,
    level: u32,
    [x, y, z]: [i64; 3],
) -> Option<[f64; 4]> {
    let [w, h, d] = content.size(level);
    let colour = if query.cube && !sampler.non_seamless {
        let inside = |i: i64| (0..w).contains(&i);
        if !inside(x) && !inside(y) {
            return None;
        }
        let (face, x, y) = if inside(x) && inside(y) {
            (query.layer % 6, x, y)
        } else {
            meet(point(query.layer % 6, x, y, w), w)
        };
        content.texel(level, x, y, query.layer / 6 * 6 + face)
    } else {
        let place = (
            wrap(sampler.wrap[0], x, w),
            wrap(sampler.wrap[1], y, h),
            if query.volume {
                wrap(sampler.wrap[2], z, d)
            } else {
                Some(z)
            },
        );
        match place {
            (Some(x), Some(y), Some(z)) => content.texel(level, x, y, z),
            _ => match sampler.border {
                Border::TransparentBlack => [0.0; 4],
                Border::OpaqueBlack => [0.0, 0.0, 0.0, 1.0],
                Border::OpaqueWhite => [1.0; 4],
            },
        }
    };
    let Some(reference) = query.compare else {
        return Some(colour);
    };
    let texel = colour[0];
    let holds = match sampler.compare {
        Compare::LessOrEqual => reference <= texel,
        Compare::GreaterOrEqual => reference >= texel,
        Compare::Less => reference < texel,
        Compare::Greater => reference > texel,
        Compare::Equal => reference == texel,
        Compare::NotEqual => reference != texel,
        Compare::Always => true,
        Compare::Never => false,
    };
    Some([if holds { 1.0 } else { 0.0 }, 0.0, 0.0, 1.0])
}

/// One level, filtered.
fn level(
    content: &dyn Content,
    sampler: &Sampler,
    query: &Query,
    number: u32,
    filter: Filter,
) -> [f64; 4] {
    let size = content.size(number);
    let axes = if query.volume { 3 } else { 2 };
    let mut u = [0.0; 3];
    for axis in 0..axes {
        let scale = if sampler.unnormalised {
            1.0
        } else {
            size[axis] as f64
        };
        u[axis] = query.at[axis] * scale;
    }
    let offset = [query.offset[0], query.offset[1], 0];
    if filter == Filter::Nearest {
        let mut at = [0, 0, query.layer];
        for axis in 0..axes {
            at[axis] = u[axis].floor() as i64 + offset[axis];
        }
        return tap(content, sampler, query, number, at).unwrap();
    }
    let mut sum = [0.0; 4];
    let mut missing = 0.0;
    let (mut corner, mut found) = ([0.0; 4], 0.0);
    for number_of_tap in 0..1 << axes {
        let mut at = [0, 0, query.layer];
        let mut weight = 1.0;
        for axis in 0..axes {
            let low = (u[axis] - 0.5).floor();
            let fraction = u[axis] - 0.5 - low;
            let upper = number_of_tap >> axis & 1 == 1;
            at[axis] = low as i64 + i64::from(upper) + offset[axis];
            weight *= if upper { fraction } else { 1.0 - fraction };
        }
        match tap(content, sampler, query, number, at) {
            Some(texel) => {
                for c in 0..4 {
                    sum[c] += weight * texel[c];
                    corner[c] += texel[c];
                }
                found += 1.0;
            }
            None => missing = weight,
        }
    }
    if missing > 0.0 {
        for c in 0..4 {
            sum[c] += missing * corner[c] / found;
        }
    }
    sum
}

/// The filtered result before the swizzle.
pub(crate) fn sample(content: &dyn Content, sampler: &Sampler, query: &Query) -> [f64; 4] {
    let low = f64::from(sampler.lod.min());
    let high = f64::from(sampler.lod.max());
    let lambda = query.lambda.max(low).min(high);
    let filter = if lambda <= 0.0 {
        sampler.mag
    } else {
        sampler.min
    };
    let last = content.last();
    let d = lambda.max(0.0).min(f64::from(last));
    match sampler.mip {
        MipFilter::None => level(content, sampler, query, 0, filter),
        MipFilter::Nearest => {
            // Halfway the more detailed one.
            let mut number = d.round();
            if d - d.floor() == 0.5 {
                number = d.floor();
            }
            level(content, sampler, query, number as u32, filter)
        }
        MipFilter::Linear => {
            let n = d.floor();
            let a = level(content, sampler, query, n as u32, filter);
            let b = level(content, sampler, query, (n as u32 + 1).min(last), filter);
            let w = d - n;
            std::array::from_fn(|c| (1.0 - w) * a[c] + w * b[c])
        }
    }
}
