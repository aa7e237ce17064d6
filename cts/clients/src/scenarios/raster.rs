// SPDX-License-Identifier: MIT
//! Rasterisation that extensions choose: clipping apart from clamping, lines after Bresenham.

use anyhow::ensure;
use ash::vk;

use super::pictures::{
    BLUE, FLAT, GREEN, GREY, Picture, RED, RGBA8, SIDE, expect_pixel, floats, quads,
};
use super::scenario;
use crate::picture::Draw;
use crate::scenario::Scenario;
use crate::scope::Scope;

pub(super) const SCENARIOS: &[Scenario] = &[
    scenario("raster.depth_clip", depth_clip),
    scenario("raster.bresenham", bresenham),
    scenario("raster.bresenham_slopes", slopes),
];

/// Depths outside of 0 to 1, with clipping and clamping each on and off.
unsafe fn depth_clip(s: &Scope<'_>) -> anyhow::Result<()> {
    s.gpu.needs(ash::ext::depth_clip_enable::NAME)?;
    s.gpu_feature(|features| features.depth_clamp)?;
    let vertex = quads(&[
        ([2.0, 4.0, 18.0, 60.0], -0.5, RED),
        ([22.0, 4.0, 40.0, 60.0], 0.5, GREEN),
        ([42.0, 4.0, 60.0, 60.0], 1.5, BLUE),
    ]);
    // From the near plane's other side to the far one's: what is between stays of a triangle.
    let sloped = "
layout(location = 0) flat out vec4 colour;
void main() {
    vec2 at = vec2(gl_VertexIndex & 1, gl_VertexIndex >> 1) * 2.0 - 1.0;
    gl_Position = vec4(at, at.x + 0.5, 1.0);
    colour = vec4(1.0, 0.0, 0.0, 1.0);
}
";
    for clamp in [false, true] {
        for clip in [false, true] {
            // Without either, a depth attachment's values are not defined outside of the range.
            let deep = clamp || clip;
            let mut info = vk::PipelineRasterizationDepthClipStateCreateInfoEXT::default()
                .depth_clip_enable(clip);
            for (name, text, instances) in [("steps", &*vertex, 3), ("slope", sloped, 1)] {
                let picture = match deep {
                    true => Picture::deep(s, vk::Format::D32_SFLOAT, 0.625, 0)?,
                    false => Picture::plain(s)?,
                };
                let mut draw = picture.quads(text);
                draw.viewport.min_depth = 0.25;
                draw.viewport.max_depth = 0.75;
                draw.raster = (draw.raster.depth_clamp_enable(clamp)).push_next(&mut info);
                if deep {
                    draw.depth = (draw.depth.depth_test_enable(true).depth_write_enable(true))
                        .depth_compare_op(vk::CompareOp::ALWAYS);
                }
                picture.clear();
                picture.draw(&draw, 4, instances)?;
                let name = format!("{name} clamp {clamp} clip {clip}");
                let pixels = picture.read()?;
                let all = &pixels.colour[0];
                if instances == 3 {
                    for (x, inside, outside) in
                        [(10, RED, GREY), (30, GREEN, GREEN), (50, BLUE, GREY)]
                    {
                        expect_pixel(&name, all, x, 30, if clip { outside } else { inside })?;
                    }
                } else {
                    // 0 and 1 are at columns 16 and 48, on the edges of pixels.
                    for (x, outside) in [
                        (2, true),
                        (15, true),
                        (16, false),
                        (47, false),
                        (48, true),
                        (63, true),
                    ] {
                        let colour = if clip && outside { GREY } else { RED };
                        expect_pixel(&name, all, x, 30, colour)?;
                    }
                }
                s.report.result(&name, all.clone());
                let Some(depth) = pixels.depth else { continue };
                for (at, z) in depth.as_chunks::<4>().0.iter().enumerate() {
                    let (x, z) = (at % SIDE as usize, f32::from_le_bytes(*z));
                    let drawn = all[4 * at..4 * at + 4] != [51, 102, 153, 255];
                    let z0 = match (instances, x) {
                        (1, _) => (x as f32 + 0.5) / 32.0 - 0.5,
                        (_, ..20) => -0.5,
                        (_, ..41) => 0.5,
                        _ => 1.5,
                    };
                    let expected = match drawn {
                        true => (0.25 + 0.5 * z0).clamp(0.25, 0.75),
                        false => 0.625,
                    };
                    ensure!(
                        (z - expected).abs() < 1.0e-6,
                        "{name}: depth {z} instead of {expected} at column {x}"
                    );
                }
            }
        }
    }
    Ok(())
}

/// Lines as text: pairs of ends in pixels.
fn lines(list: &[[f32; 4]]) -> String {
    let ends: Vec<_> = list
        .iter()
        .flat_map(|[a, b, c, d]| [format!("vec2({a:?}, {b:?})"), format!("vec2({c:?}, {d:?})")])
        .collect();
    format!(
        "
layout(location = 0) flat out vec4 colour;
const vec2 at[{}] = vec2[]({});
void main() {{
    gl_Position = vec4(at[gl_VertexIndex] / 32.0 - 1.0, 0.0, 1.0);
    colour = vec4(1.0, 0.0, 0.0, 1.0);
}}
",
        ends.len(),
        ends.join(", ")
    )
}

/// Draws lines in a mode with so many samples; the colours, of all samples together.
unsafe fn drawn(
    s: &Scope<'_>,
    list: &[[f32; 4]],
    width: f32,
    samples: vk::SampleCountFlags,
) -> anyhow::Result<Vec<u8>> {
    let mut info = vk::PipelineRasterizationLineStateCreateInfoEXT::default()
        .line_rasterization_mode(vk::LineRasterizationModeEXT::BRESENHAM);
    let picture = Picture::new(s, &[(RGBA8, 4, floats(GREY))], None, samples)?;
    let text = lines(list);
    let mut draw = Draw::new(&picture.target, &text, FLAT);
    draw.topology = vk::PrimitiveTopology::LINE_LIST;
    draw.raster = draw.raster.line_width(width).push_next(&mut info);
    picture.clear();
    picture.draw(&draw, 2 * list.len() as u32, 1)?;
    Ok(picture.read()?.colour.remove(0))
}

const COUNTS: [vk::SampleCountFlags; 2] =
    [vk::SampleCountFlags::TYPE_1, vk::SampleCountFlags::TYPE_4];

/// Lines along the middles of pixels, which end inside of diamonds: all samples of a pixel, or none. The last
/// pixel is not drawn.
unsafe fn bresenham(s: &Scope<'_>) -> anyhow::Result<()> {
    s.gpu.needs(ash::ext::line_rasterization::NAME)?;
    let list = [
        [4.25, 4.5, 20.25, 4.5],
        [30.5, 10.25, 30.5, 60.25],
        [24.75, 7.5, 7.75, 7.5],
        [50.5, 39.75, 50.5, 19.75],
    ];
    let mut expected = GREY
        .map(|c| (c * 255.0).round() as u8)
        .repeat((SIDE * SIDE) as usize);
    let rows = (4..20).map(|x| (x, 4)).chain((8..25).map(|x| (x, 7)));
    let columns = (10..60).map(|y| (30, y)).chain((20..40).map(|y| (50, y)));
    for (x, y) in rows.chain(columns) {
        let at = 4 * (y * SIDE as usize + x);
        expected[at..at + 4].copy_from_slice(&[255, 0, 0, 255]);
    }
    for samples in COUNTS {
        let got = drawn(s, &list, 1.0, samples)?;
        s.report.expect(&format!("{samples:?}"), got, &expected)?;
    }
    Ok(())
}

/// Lines of all slopes. Vulkan (28.10.2): one fragment to each column or row of the longer axis, not more
/// than a pixel from the line; at the ends a fragment more or less.
unsafe fn slopes(s: &Scope<'_>) -> anyhow::Result<()> {
    s.gpu.needs(ash::ext::line_rasterization::NAME)?;
    for samples in COUNTS {
        for angle in 0..24 {
            let direction = std::f32::consts::TAU * (angle as f32 + 0.3) / 24.0;
            let (dy, dx) = direction.sin_cos();
            let [x0, y0] = [32.3_f32, 31.6];
            let [x1, y1] = [x0 + 28.0 * dx, y0 + 28.0 * dy];
            let got = drawn(s, &[[x0, y0, x1, y1]], 1.0, samples)?;
            let name = format!("{samples:?} direction {angle}");
            let steep = dy.abs() > dx.abs();
            let mut counts = [0; SIDE as usize];
            for (at, pixel) in got.chunks_exact(4).enumerate() {
                let (x, y) = (at % SIDE as usize, at / SIDE as usize);
                match pixel {
                    [51, 102, 153, 255] => continue,
                    [255, 0, 0, 255] => {}
                    other => anyhow::bail!("{name}: a part of a pixel, {other:?}"),
                }
                counts[if steep { y } else { x }] += 1;
                let (px, py) = (x as f32 + 0.5 - x0, y as f32 + 0.5 - y0);
                let away = match steep {
                    true => px - py * dx / dy,
                    false => py - px * dy / dx,
                };
                ensure!(away.abs() <= 1.0, "{name}: pixel {x}, {y} is {away} away");
            }
            let (from, to) = match steep {
                true => (y0.min(y1), y0.max(y1)),
                false => (x0.min(x1), x0.max(x1)),
            };
            for (at, count) in counts.into_iter().enumerate() {
                let middle = at as f32 + 0.5;
                let (sure, possible) = (
                    middle > from + 1.0 && middle < to - 1.0,
                    middle > from - 1.5 && middle < to + 1.5,
                );
                ensure!(
                    if sure {
                        count == 1
                    } else {
                        count <= i32::from(possible)
                    },
                    "{name}: {count} pixels at {at}"
                );
            }
        }
    }
    Ok(())
}
