// SPDX-License-Identifier: MIT
//! From coordinates to texels: footprints, wrapping, the edges of cubes (images, 4.1 and 10).

use agx_hw::sampler::Wrap;

/// Fractions of a texel that a filter's weights have: 8 bits (images, 5.6 and 10; INFERRED).
pub const SUBTEXEL: f32 = 256.0;

/// Texel coordinates further out than this are one as good as the other.
const FAR: f32 = (1 << 30) as f32;

/// A coordinate in texels that arithmetic cannot overflow with. NaN counts as 0 (INFERRED).
#[inline(always)]
#[must_use]
pub fn tame(texels: f32) -> f32 {
    if texels.is_nan() {
        0.0
    } else {
        texels.clamp(-FAR, FAR)
    }
}

/// The texel that a tamed coordinate is in.
#[inline(always)]
#[must_use]
pub fn nearest(texels: f32) -> i32 {
    texels.floor() as i32
}

/// The lower of the two texels around a tamed coordinate, and the weight of the upper one, a multiple
/// of 1/256 below 1.
#[inline(always)]
#[must_use]
pub fn linear(texels: f32) -> (i32, f32) {
    let shifted = texels - 0.5;
    let lower = shifted.floor();
    let weight = ((shifted - lower) * SUBTEXEL + 0.5).floor() / SUBTEXEL;
    // Rounded up to the next texel.
    let carry = weight >= 1.0;
    (
        lower as i32 + i32::from(carry),
        if carry { 0.0 } else { weight },
    )
}

/// Texel `i` of `n` under a wrap mode. [`Wrap::ClampToBorder`] leaves it where it is: out there is the
/// border. Code 4 acts as the edge clamp where it was measured (isa-4, 6.3; HW).
#[inline(always)]
#[must_use]
pub fn wrap(mode: Wrap, i: i32, n: i32) -> i32 {
    match mode {
        Wrap::ClampToEdge | Wrap::Clamp => i.clamp(0, n - 1),
        // Both calculations are the same for powers of two.
        Wrap::Repeat if n & (n - 1) == 0 => i & (n - 1),
        Wrap::Repeat => i.rem_euclid(n),
        Wrap::MirroredRepeat => {
            let j = i.rem_euclid(2 * n);
            j.min(2 * n - 1 - j)
        }
        Wrap::ClampToBorder => i,
        Wrap::MirrorClampToEdge => (if i < 0 { !i } else { i }).min(n - 1),
    }
}

/// The axis (0 = x) and sign of a face's outward direction, and of the directions in which its x and y
/// grow (isa-3, 2.6).
struct Face {
    out: (usize, i32),
    s: (usize, i32),
    t: (usize, i32),
}

const FACES: [Face; 6] = [
    Face {
        out: (0, 1),
        s: (2, -1),
        t: (1, -1),
    },
    Face {
        out: (0, -1),
        s: (2, 1),
        t: (1, -1),
    },
    Face {
        out: (1, 1),
        s: (0, 1),
        t: (2, 1),
    },
    Face {
        out: (1, -1),
        s: (0, 1),
        t: (2, -1),
    },
    Face {
        out: (2, 1),
        s: (0, 1),
        t: (1, -1),
    },
    Face {
        out: (2, -1),
        s: (0, -1),
        t: (1, -1),
    },
];

/// A texel next to face `face` of `n` by `n`, found on the neighbouring face: `(face, i, j)`. `None` at
/// the corners, where three faces meet and no fourth texel exists. Coordinates further out than one
/// texel are taken for one.
#[must_use]
pub fn across_edge(face: u32, i: i32, j: i32, n: i32) -> Option<(u32, i32, i32)> {
    let (i, j) = (i.clamp(-1, n), j.clamp(-1, n));
    let inside = |k: i32| (0..n).contains(&k);
    let from = FACES.get(face as usize)?;
    // Twice the distance from the face's middle, in texels.
    let (s, t) = (2 * i + 1 - n, 2 * j + 1 - n);
    let (leaving, along) = match (inside(i), inside(j)) {
        (true, true) => return Some((face, i, j)),
        (false, false) => return None,
        (false, true) => ((from.s.0, from.s.1 * s.signum()), (from.t, t)),
        (true, false) => ((from.t.0, from.t.1 * t.signum()), (from.s, s)),
    };
    let number = FACES.iter().position(|f| f.out == leaving)?;
    let to = &FACES[number];
    // A point on the new face: along the edge as before, and half a texel inside it.
    let mut point = [0; 3];
    point[along.0.0] = along.0.1 * along.1;
    point[from.out.0] = from.out.1 * (n - 1);
    let texel = |(axis, sign): (usize, i32)| (sign * point[axis] + n - 1) / 2;
    Some((number as u32, texel(to.s), texel(to.t)))
}

/// The direction of a point of a face, coordinates in 0..=1.
#[must_use]
pub fn direction(face: u32, s: f32, t: f32) -> [f32; 3] {
    let face = &FACES[face as usize % 6];
    let mut out = [0.0; 3];
    out[face.out.0] = face.out.1 as f32;
    out[face.s.0] = face.s.1 as f32 * (2.0 * s - 1.0);
    out[face.t.0] = face.t.1 as f32 * (2.0 * t - 1.0);
    out
}

/// Where a direction meets the plane of a face; `None` when it points away from it.
#[must_use]
pub fn project(face: u32, direction: [f32; 3]) -> Option<[f32; 2]> {
    let face = &FACES[face as usize % 6];
    let major = direction[face.out.0] * face.out.1 as f32;
    let on = |(axis, sign): (usize, i32)| 0.5 * (sign as f32 * direction[axis] / major + 1.0);
    (major > 0.0).then(|| [on(face.s), on(face.t)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn footprints() {
        assert_eq!(nearest(tame(-0.25)), -1);
        assert_eq!(nearest(tame(f32::NAN)), 0);
        assert_eq!(nearest(tame(f32::INFINITY)), 1 << 30);
        assert_eq!(linear(tame(0.5)), (0, 0.0));
        assert_eq!(linear(tame(0.25)), (-1, 0.75));
        assert_eq!(linear(tame(2.0)), (1, 0.5));
        // Less than half of 1/256 below the middle of texel 2.
        assert_eq!(linear(tame(2.5 - 0.001)), (2, 0.0));
        assert_eq!(linear(tame(2.5 + 0.005)), (2, 1.0 / 256.0));
        for huge in [f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::NAN, 1e20] {
            let (_, weight) = linear(tame(huge));
            assert!((0.0..1.0).contains(&weight));
        }
    }

    #[test]
    fn wraps() {
        let row = |mode, n| (-7..7).map(|i| wrap(mode, i, n)).collect::<Vec<_>>();
        assert_eq!(
            row(Wrap::Repeat, 3),
            [2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0]
        );
        assert_eq!(
            row(Wrap::Repeat, 4),
            [1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2]
        );
        assert_eq!(
            row(Wrap::MirroredRepeat, 3),
            [0, 0, 1, 2, 2, 1, 0, 0, 1, 2, 2, 1, 0, 0]
        );
        assert_eq!(
            row(Wrap::ClampToEdge, 3),
            [0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 2, 2, 2, 2]
        );
        assert_eq!(
            row(Wrap::MirrorClampToEdge, 3),
            [2, 2, 2, 2, 2, 1, 0, 0, 1, 2, 2, 2, 2, 2]
        );
        assert_eq!(wrap(Wrap::ClampToBorder, -3, 2), -3);
    }

    /// Neighbours across edges are the ones whose points in space are next to each other.
    #[test]
    fn cube_edges() {
        for n in [1, 2, 3, 8] {
            let middle = |face, i, j| {
                let at = |k: i32| (k as f32 + 0.5) / n as f32;
                direction(face, at(i), at(j))
            };
            for face in 0..6 {
                for k in 0..n {
                    for (i, j) in [(-1, k), (n, k), (k, -1), (k, n)] {
                        let (other, a, b) = across_edge(face, i, j, n).unwrap();
                        assert!((0..n).contains(&a) && (0..n).contains(&b));
                        assert_ne!(other, face);
                        let near = middle(face, i.clamp(0, n - 1), j.clamp(0, n - 1));
                        let distance =
                            |p: [f32; 3]| (0..3).map(|c| (p[c] - near[c]).powi(2)).sum::<f32>();
                        // Of all texels of all other faces it is the nearest.
                        let mut best = f32::MAX;
                        for f in (0..6).filter(|f| *f != face) {
                            for p in 0..n {
                                for q in 0..n {
                                    best = best.min(distance(middle(f, p, q)));
                                }
                            }
                        }
                        let found = distance(middle(other, a, b));
                        assert!(found <= best + 1e-5, "{face} {i} {j}: {other} {a} {b}");
                        // And back again.
                        let inward = |k: i32| k.clamp(0, n - 1);
                        let back = [(-1, b), (n, b), (a, -1), (a, n)]
                            .iter()
                            .filter_map(|(x, y)| across_edge(other, *x, *y, n))
                            .any(|t| t == (face, inward(i), inward(j)));
                        assert!(back);
                    }
                }
                for (i, j) in [(-1, -1), (n, n), (-1, n), (n, -1)] {
                    assert_eq!(across_edge(face, i, j, n), None);
                }
            }
        }
    }

    #[test]
    fn directions_and_back() {
        for face in 0..6 {
            for (s, t) in [(0.25, 0.75), (0.5, 0.5), (1.0, 0.0)] {
                let d = direction(face, s, t);
                let [a, b] = project(face, d).unwrap();
                assert!((a - s).abs() < 1e-6 && (b - t).abs() < 1e-6);
                assert_eq!(project(face ^ 1, d), None);
            }
        }
    }
}
