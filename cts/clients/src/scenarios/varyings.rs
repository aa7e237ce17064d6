// SPDX-License-Identifier: MIT
//! What goes from vertices to fragments. Numbers are floats in attachments of floats, compared with
//! Vulkan's formulas (1.3, 28.10): the interpolation itself may be off by some 16 bits of the range.

use anyhow::ensure;
use ash::vk;

use super::pictures::{Picture, SIDE, floats};
use super::scenario;
use crate::picture::Draw;
use crate::scenario::Scenario;
use crate::scope::Scope;

pub(super) const SCENARIOS: &[Scenario] = &[
    scenario("varyings.qualifiers", qualifiers),
    scenario("varyings.kinds", kinds),
    scenario("varyings.many", many),
    scenario("varyings.packed", packed),
    scenario("varyings.offsets", offsets),
    scenario("varyings.samples", samples),
    scenario("varyings.centroid", centroid),
    scenario("varyings.point_coordinates", point_coordinates),
];

pub(super) const WIDE: vk::Format = vk::Format::R32G32B32A32_SFLOAT;
const ONE: vk::SampleCountFlags = vk::SampleCountFlags::TYPE_1;
const FOUR: vk::SampleCountFlags = vk::SampleCountFlags::TYPE_4;

/// A triangle over everything, in a viewport of twice the size so that nothing is clipped, whose vertices have different distances. `DECLARE` declares outputs, `SET`
/// sets them from the vertex's number `n`.
const VERTEX: &str = "
DECLARE
void main() {
    int n = gl_VertexIndex;
    float w = float(1 << n);
    gl_Position = vec4(vec2(n == 1 ? 1.0 : -1.0, n == 2 ? 1.0 : -1.0) * w, 0.5 * w, w);
    SET
}
";

/// Distances of the vertices.
const W: [f64; 3] = [1.0, 2.0, 4.0];

/// How much of each vertex is in a place, in pixels: linear, and with perspective.
fn shares(x: f64, y: f64) -> ([f64; 3], [f64; 3]) {
    let side = f64::from(SIDE);
    let (b, c) = (x / side / 2.0, y / side / 2.0);
    let linear = [1.0 - b - c, b, c];
    let parts: [f64; 3] = std::array::from_fn(|at| linear[at] / W[at]);
    let sum: f64 = parts.iter().sum();
    (linear, parts.map(|part| part / sum))
}

fn mix(shares: [f64; 3], values: [f64; 3]) -> f64 {
    (0..3).map(|at| shares[at] * values[at]).sum()
}

/// Draws the triangle to floats; what each pixel holds.
unsafe fn draw(
    s: &Scope<'_>,
    declare: &str,
    set: &str,
    fragment: &str,
    samples: vk::SampleCountFlags,
) -> anyhow::Result<Vec<[f32; 4]>> {
    let picture = Picture::new(s, &[(WIDE, 16, floats([f32::NAN; 4]))], None, samples)?;
    let vertex = VERTEX.replace("DECLARE", declare).replace("SET", set);
    let fragment = format!("layout(location = 0) out vec4 colour;\n{fragment}");
    let mut draw = Draw::new(&picture.target, &vertex, &fragment);
    draw.viewport.width *= 2.0;
    draw.viewport.height *= 2.0;
    picture.clear();
    picture.draw(&draw, 3, 1)?;
    Ok(words(&picture.read()?.colour[0]))
}

/// Bytes as pixels of floats.
pub(super) fn words(bytes: &[u8]) -> Vec<[f32; 4]> {
    let pixels = bytes.as_chunks::<16>().0;
    pixels
        .iter()
        .map(|pixel| {
            let words = pixel.as_chunks::<4>().0;
            std::array::from_fn(|at| f32::from_le_bytes(words[at]))
        })
        .collect()
}

/// That pixels are near to what they must be.
pub(super) fn near(
    name: &str,
    got: &[[f32; 4]],
    expected: impl Fn(f64, f64) -> [f64; 4],
    tolerance: f64,
) -> anyhow::Result<()> {
    for (at, pixel) in got.iter().enumerate() {
        let (x, y) = (at as u32 % SIDE, at as u32 / SIDE);
        let expected = expected(f64::from(x) + 0.5, f64::from(y) + 0.5);
        let mut both = pixel.iter().zip(expected);
        ensure!(
            both.all(|(a, b)| (f64::from(*a) - b).abs() <= tolerance),
            "{name}: {pixel:?} instead of {expected:?} at {x}, {y}"
        );
    }
    Ok(())
}

/// Of values between -8 and 8.
const CLOSE: f64 = 1.0e-3;

/// The value of a vertex: different for each component.
fn value(vertex: usize, component: usize) -> f64 {
    [
        [1.0, -2.0, 0.5, 4.0],
        [3.0, 5.0, -1.5, 0.25],
        [-4.0, 1.0, 2.0, 7.0],
    ][vertex][component % 4]
}

/// [`value`] in shaders.
const VALUES: &str = "
const vec4 values[3] = vec4[](vec4(1, -2, 0.5, 4), vec4(3, 5, -1.5, 0.25), vec4(-4, 1, 2, 7));
";

fn values(component: usize) -> [f64; 3] {
    std::array::from_fn(|vertex| value(vertex, component))
}

/// Smooth, linear and flat, together and alone.
unsafe fn qualifiers(s: &Scope<'_>) -> anyhow::Result<()> {
    let declare = format!(
        "{VALUES}
layout(location = 0) out vec4 a;
layout(location = 1) noperspective out vec4 b;
layout(location = 2) flat out vec4 c;"
    );
    let inputs = "
layout(location = 0) in vec4 a;
layout(location = 1) noperspective in vec4 b;
layout(location = 2) flat in vec4 c;
";
    let set = "a = values[n]; b = values[n]; c = values[n];";
    for (name, body) in [
        ("smooth", "colour = a;"),
        ("linear", "colour = b;"),
        ("flat", "colour = c;"),
        ("all", "colour = vec4(a.x, b.y, c.z, gl_FragCoord.w);"),
        ("sums", "colour = a + b + c;"),
    ] {
        let text = format!("{inputs}void main() {{ {body} }}");
        let got = draw(s, &declare, set, &text, ONE)?;
        let expected = |x, y| {
            let (linear, smooth) = shares(x, y);
            let three = |at| {
                (
                    mix(smooth, values(at)),
                    mix(linear, values(at)),
                    value(0, at),
                )
            };
            let w = mix(linear, W.map(|w| 1.0 / w));
            std::array::from_fn(|at| match (name, at) {
                ("smooth", _) | ("all", 0) => three(at).0,
                ("linear", _) | ("all", 1) => three(at).1,
                ("flat", _) | ("all", 2) => three(at).2,
                ("all", _) => w,
                _ => three(at).0 + three(at).1 + three(at).2,
            })
        };
        near(name, &got, expected, CLOSE)?;
    }
    Ok(())
}

/// Arrays, matrices, structures, blocks, integers, numbers that may have 16 bits, built-in outputs beside.
unsafe fn kinds(s: &Scope<'_>) -> anyhow::Result<()> {
    for (name, declare, set, input, read) in [
        (
            "array",
            "layout(location = 0) out vec2 a[2];",
            "a[0] = values[n].xy; a[1] = values[n].zw;",
            "layout(location = 0) in vec2 a[2];",
            "vec4(a[0], a[1])",
        ),
        (
            "array, indexed",
            "layout(location = 2) out float a[4];",
            "for (int i = 0; i < 4; i++) a[i] = values[n][i];",
            "layout(location = 2) in float a[4];",
            "vec4(a[0], a[int(gl_FragCoord.x) < 100 ? 1 : 2], a[2], a[3])",
        ),
        (
            "matrix",
            "layout(location = 1) out mat2 a;",
            "a = mat2(values[n]);",
            "layout(location = 1) in mat2 a;",
            "vec4(a[0], a[1])",
        ),
        (
            "structure",
            "struct S { float x; vec2 y[1]; float z; }; layout(location = 0) out S a;",
            "a.x = values[n].x; a.y[0] = values[n].yz; a.z = values[n].w;",
            "struct S { float x; vec2 y[1]; float z; }; layout(location = 0) in S a;",
            "vec4(a.x, a.y[0], a.z)",
        ),
        (
            "block",
            "layout(location = 3) out B { vec3 x; layout(location = 7) float y; } a;",
            "a.x = values[n].xyz; a.y = values[n].w;",
            "layout(location = 3) in B { vec3 x; layout(location = 7) float y; } a;",
            "vec4(a.x, a.y)",
        ),
        (
            "medium",
            "layout(location = 0) out mediump vec4 a;",
            "a = values[n];",
            "layout(location = 0) in mediump vec4 a;",
            "a",
        ),
        (
            "beside size and clip distance",
            "layout(location = 0) out vec4 a; out float gl_ClipDistance[1];",
            "a = values[n]; gl_PointSize = 3.0; gl_ClipDistance[0] = 1.0;",
            "layout(location = 0) in vec4 a;",
            "a",
        ),
        (
            "fewer are read",
            "layout(location = 0) out vec4 a; layout(location = 1) out vec4 b; layout(location = 5) out vec4 c;",
            "a = vec4(9.0); b = values[n]; c = vec4(8.0);",
            "layout(location = 1) in vec4 b;",
            "b",
        ),
        (
            "fewer components are read",
            "layout(location = 0) out vec4 a; layout(location = 1) out vec4 b;",
            "a = values[n]; b = values[n].zwxy;",
            "layout(location = 0) in vec2 a; layout(location = 1) in vec2 b;",
            "vec4(a, b)",
        ),
    ] {
        let declare = format!("{VALUES}{declare}");
        let text = format!("{input}\nvoid main() {{ colour = {read}; }}");
        let got = draw(s, &declare, set, &text, ONE)?;
        let expected = |x, y| std::array::from_fn(|at| mix(shares(x, y).1, values(at)));
        let tolerance = if name == "medium" { 0.02 } else { CLOSE };
        near(name, &got, expected, tolerance)?;
    }
    // Integers are flat: those of the first vertex.
    let declare = "
layout(location = 0) flat out ivec3 a;
layout(location = 1) flat out uvec2 b;
layout(location = 2) flat out int c[2];";
    let set = "a = ivec3(-n - 1, n + 70000, -8); b = uvec2(0xfffffff0u + n, 3 + n); c[0] = n + 5; c[1] = -n - 7;";
    let text = "
layout(location = 0) flat in ivec3 a;
layout(location = 1) flat in uvec2 b;
layout(location = 2) flat in int c[2];
void main() { colour = vec4(a.x + a.y, a.z + int(b.y), b.x == 0xfffffff0u, c[0] * 16 + c[1]); }
";
    let got = draw(s, declare, set, text, ONE)?;
    near("integers", &got, |_, _| [69999.0, -5.0, 1.0, 73.0], 0.0)
}

/// As many components as there can be, of different qualifiers.
unsafe fn many(s: &Scope<'_>) -> anyhow::Result<()> {
    let limits = &s.gpu.properties.limits;
    // Built-in outputs count.
    let most = limits
        .max_vertex_output_components
        .min(limits.max_fragment_input_components);
    let most = (most / 4 - 2).min(24);
    for count in [8, 15, most] {
        let (mut declare, mut set, mut input, mut sum) =
            (VALUES.to_owned(), String::new(), String::new(), Vec::new());
        for at in 0..count {
            let qualifier = ["smooth", "noperspective", "flat"][at as usize % 3];
            declare += &format!("layout(location = {at}) {qualifier} out vec4 v{at};\n");
            input += &format!("layout(location = {at}) {qualifier} in vec4 v{at};\n");
            set += &format!("v{at} = values[n] * {}.0;\n", at + 1);
            sum.push(format!(
                "v{at} * {:?}",
                0.125 * if at % 2 == 0 { 1.0 } else { -1.0 }
            ));
        }
        let text = format!("{input}void main() {{ colour = {}; }}", sum.join(" + "));
        let got = draw(s, &declare, &set, &text, ONE)?;
        let expected = |x, y| {
            let (linear, smooth) = shares(x, y);
            std::array::from_fn(|component| {
                (0..count)
                    .map(|at| {
                        let share = [smooth, linear, [1.0, 0.0, 0.0]][at as usize % 3];
                        let sign = if at % 2 == 0 { 0.125 } else { -0.125 };
                        mix(share, values(component)) * f64::from(at + 1) * sign
                    })
                    .sum()
            })
        };
        near(&format!("{count} vectors"), &got, expected, 30.0 * CLOSE)?;
    }
    Ok(())
}

/// Several outputs in one location.
unsafe fn packed(s: &Scope<'_>) -> anyhow::Result<()> {
    let declare = format!(
        "{VALUES}
layout(location = 0, component = 0) out float a;
layout(location = 0, component = 1) out vec2 b;
layout(location = 0, component = 3) out float c;
layout(location = 1, component = 2) out float d[2];"
    );
    let set = "a = values[n].x; b = values[n].yz; c = values[n].w; d[0] = values[n].y; d[1] = values[n].x;";
    let text = "
layout(location = 0, component = 0) in float a;
layout(location = 0, component = 1) in vec2 b;
layout(location = 0, component = 3) in float c;
layout(location = 1, component = 2) in float d[2];
void main() { colour = vec4(a + d[0], b, c + d[1]); }
";
    let got = draw(s, &declare, set, text, ONE)?;
    let expected = |x, y| {
        let of = |at| mix(shares(x, y).1, values(at));
        [of(0) + of(1), of(1), of(2), of(3) + of(0)]
    };
    near("packed", &got, expected, CLOSE)
}

/// At other places of the pixel; offsets are sixteenths.
unsafe fn offsets(s: &Scope<'_>) -> anyhow::Result<()> {
    s.gpu_feature(|features| features.sample_rate_shading)?;
    let declare = format!(
        "{VALUES}
layout(location = 0) out vec4 a;
layout(location = 1) noperspective out vec4 b;"
    );
    let set = "a = values[n]; b = values[n];";
    let inputs = "
layout(location = 0) in vec4 a;
layout(location = 1) noperspective in vec4 b;
";
    for (dx, dy) in [(0.0, 0.0), (0.25, -0.375), (-0.5, 0.4375), (0.4375, -0.5)] {
        for samples in [ONE, FOUR] {
            let text = format!(
                "{inputs}void main() {{
    vec2 offset = vec2({dx:?}, {dy:?});
    colour = vec4(interpolateAtOffset(a, offset).xy, interpolateAtOffset(b, offset).zw);
}}"
            );
            let got = draw(s, &declare, set, &text, samples)?;
            let expected = |x, y| {
                let (linear, smooth) = shares(x + dx, y + dy);
                std::array::from_fn(|at| mix(if at < 2 { smooth } else { linear }, values(at)))
            };
            let name = format!("{dx}, {dy} {samples:?}");
            near(&name, &got, expected, CLOSE)?;
        }
    }
    Ok(())
}

/// Vulkan's standard places of four samples.
pub(super) const PLACES: [[f64; 2]; 4] = [
    [0.375, 0.125],
    [0.875, 0.375],
    [0.125, 0.625],
    [0.625, 0.875],
];

/// At a sample that is named.
unsafe fn samples(s: &Scope<'_>) -> anyhow::Result<()> {
    s.gpu_feature(|features| features.sample_rate_shading)?;
    let standard = s.gpu.properties.limits.standard_sample_locations == vk::TRUE;
    crate::gpu::require(standard, "standard sample locations")?;
    let declare = format!("{VALUES}layout(location = 0) noperspective out vec4 a;");
    for (sample, [dx, dy]) in PLACES.into_iter().enumerate() {
        let text = format!(
            "layout(location = 0) noperspective in vec4 a;
void main() {{ colour = interpolateAtSample(a, {sample}); }}"
        );
        let got = draw(s, &declare, "a = values[n];", &text, FOUR)?;
        let expected = |x: f64, y: f64| {
            let (linear, _) = shares(x - 0.5 + dx, y - 0.5 + dy);
            std::array::from_fn(|at| mix(linear, values(at)))
        };
        near(&format!("sample {sample}"), &got, expected, CLOSE)?;
        // One that is not a constant.
        let text = "layout(location = 0) noperspective in vec4 a;
void main() { colour = interpolateAtSample(a, int(gl_FragCoord.x) & 3); }";
        let got = draw(s, &declare, "a = values[n];", text, FOUR)?;
        let expected = |x: f64, y: f64| {
            let [dx, dy] = PLACES[x as usize & 3];
            let (linear, _) = shares(x - 0.5 + dx, y - 0.5 + dy);
            std::array::from_fn(|at| mix(linear, values(at)))
        };
        near("any sample", &got, expected, CLOSE)?;
    }
    Ok(())
}

/// Somewhere in what is covered of a pixel: edges cut pixels, and the varying says how far from them it is.
unsafe fn centroid(s: &Scope<'_>) -> anyhow::Result<()> {
    let vertex = "
layout(location = 0) centroid noperspective out vec2 a;
void main() {
    vec2 at = vec2(gl_VertexIndex == 1 ? 57.7 : 5.3, gl_VertexIndex == 2 ? 58.6 : 4.4);
    gl_Position = vec4(at / 32.0 - 1.0, 0.0, 1.0);
    a = at;
}
";
    for (name, input, read) in [
        ("qualifier", "centroid noperspective in vec2 a", "a"),
        (
            "function",
            "noperspective in vec2 a",
            "interpolateAtCentroid(a)",
        ),
    ] {
        let clear = floats([0.0; 4]);
        let picture = Picture::new(s, &[(WIDE, 16, clear)], None, FOUR)?;
        // What is not covered of a pixel is 0: sums of shares are divided by their number.
        let text = format!(
            "layout(location = 0) {input};
layout(location = 0) out vec4 colour;
void main() {{ colour = vec4({read}, 1.0, 0.0); }}"
        );
        let vertex = match name {
            "qualifier" => vertex.to_owned(),
            _ => vertex.replace("centroid ", ""),
        };
        let draw = Draw::new(&picture.target, &vertex, &text);
        picture.clear();
        picture.draw(&draw, 3, 1)?;
        let mut covered = 0;
        for (at, pixel) in words(&picture.read()?.colour[0]).into_iter().enumerate() {
            let [x, y, share, _] = pixel;
            if share == 0.0 {
                continue;
            }
            covered += 1;
            let (x, y) = (x / share, y / share);
            let (px, py) = ((at as u32 % SIDE) as f32, (at as u32 / SIDE) as f32);
            let inside = |v: f32, p: f32| v >= p - 0.01 && v <= p + 1.01;
            let edge = (x - 5.3) / 52.4 + (y - 4.4) / 54.2;
            ensure!(
                inside(x, px) && inside(y, py) && x >= 5.29 && y >= 4.39 && edge <= 1.001,
                "{name}: {x}, {y} at pixel {px}, {py}"
            );
        }
        ensure!(covered > 1400, "{name}: {covered} pixels");
    }
    Ok(())
}

/// Where fragments are in points.
unsafe fn point_coordinates(s: &Scope<'_>) -> anyhow::Result<()> {
    let vertex = "
layout(location = 0) flat out int number;
const vec3 at[4] = vec3[](vec3(10, 10, 16), vec3(40, 12, 8), vec3(12.5, 44.5, 21), vec3(50.5, 50.5, 1));
void main() {
    number = gl_VertexIndex;
    gl_PointSize = at[gl_VertexIndex].z;
    gl_Position = vec4(at[gl_VertexIndex].xy / 32.0 - 1.0, 0.0, 1.0);
}
";
    let fragment = "
layout(location = 0) flat in int number;
layout(location = 0) out vec4 colour;
void main() { colour = vec4(gl_PointCoord, float(number), 1.0); }
";
    const POINTS: [[f64; 3]; 4] = [
        [10.0, 10.0, 16.0],
        [40.0, 12.0, 8.0],
        [12.5, 44.5, 21.0],
        [50.5, 50.5, 1.0],
    ];
    let picture = Picture::new(s, &[(WIDE, 16, floats([-1.0; 4]))], None, ONE)?;
    let mut draw = Draw::new(&picture.target, vertex, fragment);
    draw.topology = vk::PrimitiveTopology::POINT_LIST;
    picture.clear();
    picture.draw(&draw, 4, 1)?;
    let got = words(&picture.read()?.colour[0]);
    let expected = |x: f64, y: f64| {
        let place = |[px, py, size]: [f64; 3]| [0.5 + (x - px) / size, 0.5 + (y - py) / size];
        let mut points = (0..).zip(POINTS.map(place));
        let within = |v: f64| (0.0..1.0).contains(&v);
        match points.find(|(_, [u, v])| within(*u) && within(*v)) {
            Some((number, [u, v])) => [u, v, f64::from(number), 1.0],
            None => [-1.0; 4],
        }
    };
    near("points", &got, expected, 1.0e-5)
}
