// SPDX-License-Identifier: MIT
//! Where things are: the camera, the light, the spheres.

/// Spheres of a side of their square.
pub(super) const COUNT: u32 = 5;

type Vector = [f32; 3];
/// Columns.
type Matrix = [[f32; 4]; 4];

const EYE: Vector = [-5.5, 4.2, 7.5];
/// Towards the light.
const SUN: Vector = [0.55, 0.75, 0.36];

fn dot(a: Vector, b: Vector) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn cross(a: Vector, b: Vector) -> Vector {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

fn unit(a: Vector) -> Vector {
    let length = dot(a, a).sqrt();
    a.map(|x| x / length)
}

fn product(a: &Matrix, b: &Matrix) -> Matrix {
    b.map(|column| std::array::from_fn(|row| (0..4).map(|k| a[k][row] * column[k]).sum()))
}

/// Seen from a point towards another: x to the right, y down, z away.
fn look(from: Vector, to: Vector) -> Matrix {
    let away = unit([to[0] - from[0], to[1] - from[1], to[2] - from[2]]);
    let right = unit(cross(away, [0.0, 1.0, 0.0]));
    let down = cross(away, right);
    let row = |axis: usize| [right[axis], down[axis], away[axis], 0.0];
    [
        row(0),
        row(1),
        row(2),
        [-dot(right, from), -dot(down, from), -dot(away, from), 1.0],
    ]
}

/// In perspective, depths from 0 to 1.
fn perspective(height: f32, aspect: f32, near: f32, far: f32) -> Matrix {
    let scale = 1.0 / height;
    [
        [scale / aspect, 0.0, 0.0, 0.0],
        [0.0, scale, 0.0, 0.0],
        [0.0, 0.0, far / (far - near), 1.0],
        [0.0, 0.0, -near * far / (far - near), 0.0],
    ]
}

/// In parallel, so far to each side.
fn parallel(side: f32, far: f32) -> Matrix {
    [
        [1.0 / side, 0.0, 0.0, 0.0],
        [0.0, 1.0 / side, 0.0, 0.0],
        [0.0, 0.0, 1.0 / far, 0.0],
        [0.0, 0.0, 0.0, 1.0],
    ]
}

/// The uniform buffer: matrices of camera and light, eye, direction of the light.
pub(super) fn uniforms() -> Vec<u8> {
    let aspect = super::SIZE[0] as f32 / super::SIZE[1] as f32;
    let camera = product(
        &perspective(0.5, aspect, 0.5, 60.0),
        &look(EYE, [0.0, 0.3, 0.0]),
    );
    let sun = unit(SUN);
    let light = product(&parallel(6.5, 30.0), &look(sun.map(|x| 15.0 * x), [0.0; 3]));
    let of = |v: Vector| [v[0], v[1], v[2], 0.0];
    let rows = camera.into_iter().chain(light).chain([of(EYE), of(sun)]);
    rows.flatten().flat_map(f32::to_le_bytes).collect()
}

/// Nine floats of each sphere: place, radius, colour, roughness, metal.
pub(super) fn instances() -> Vec<u8> {
    let step = |n: u32| n as f32 / (COUNT - 1) as f32;
    let places = (0..COUNT).flat_map(|z| (0..COUNT).map(move |x| (x, z)));
    places
        .flat_map(|(x, z)| {
            let (u, v) = (step(x), step(z));
            let radius = 0.52 + 0.16 * ((x * 3 + z * 5) % 4) as f32 / 3.0;
            let tint = match (x + z) % 3 {
                0 => [0.95, 0.64, 0.38],
                1 => [0.35, 0.55, 0.90],
                _ => [0.85, 0.85, 0.80],
            };
            [
                (u - 0.5) * 7.2,
                radius,
                (v - 0.5) * 7.2,
                radius,
                tint[0],
                tint[1],
                tint[2],
                0.15 + 0.75 * u,
                if z % 2 == 0 { 1.0 } else { 0.0 },
            ]
        })
        .flat_map(f32::to_le_bytes)
        .collect()
}
