// SPDX-License-Identifier: MIT
//! Small pictures of depth: comparisons, bias, clamps.

use anyhow::ensure;
use ash::vk;

use super::pictures::{
    BLUE, COMPARE, GREEN, GREY, Picture, RED, SIDE, expect_pixel, passes, quads,
};
use super::scenario;
use crate::scenario::Scenario;
use crate::scope::Scope;

pub(super) const SCENARIOS: &[Scenario] = &[
    scenario("states.depth_compare", depth_compare),
    scenario("states.depth_bias", depth_bias),
    scenario("states.depth_clamp", depth_clamp),
];

/// All comparisons of depth, with and without writes, against three depths around the cleared one.
unsafe fn depth_compare(s: &Scope<'_>) -> anyhow::Result<()> {
    let near = [0.25_f32, 0.5, 0.75];
    let list: Vec<_> = (near.iter().enumerate())
        .map(|(at, z)| {
            let left = 4.0 + 20.0 * at as f32;
            ([left, 4.0, left + 16.0, 60.0], *z, RED)
        })
        .collect();
    let vertex = quads(&list);
    for (format, bytes) in [(vk::Format::D32_SFLOAT, 4), (vk::Format::D16_UNORM, 2)] {
        for op in COMPARE {
            for (test, write) in [(true, true), (true, false), (false, true)] {
                let picture = Picture::deep(s, format, 0.5, 0)?;
                let mut draw = picture.quads(&vertex);
                draw.depth = (draw.depth.depth_test_enable(test).depth_write_enable(write))
                    .depth_compare_op(op);
                picture.clear();
                picture.draw(&draw, 4, 3)?;
                let pixels = picture.read()?;
                let name = format!("{format:?} {op:?} test {test} write {write}");
                let depths = pixels.depth.clone().unwrap_or_default();
                for (at, z) in near.into_iter().enumerate() {
                    // 0.5 is no number of 16 bits: the cleared and the drawn may be rounded apart.
                    if bytes == 2 && z == 0.5 {
                        continue;
                    }
                    let drawn = !test || passes(op, z, 0.5);
                    let x = 10 + 20 * at;
                    let colour = if drawn { RED } else { GREY };
                    expect_pixel(&name, &pixels.colour[0], x, 30, colour)?;
                    let start = bytes * (30 * SIDE as usize + x);
                    let word = &depths[start..start + bytes];
                    let got = match word {
                        [a, b] => f32::from(u16::from_le_bytes([*a, *b])) / 65535.0,
                        [a, b, c, d] => f32::from_le_bytes([*a, *b, *c, *d]),
                        _ => f32::NAN,
                    };
                    let written = drawn && test && write;
                    let expected = if written { z } else { 0.5 };
                    let tolerance = if bytes == 2 { 1.0 / 65535.0 } else { 0.0 };
                    ensure!(
                        (got - expected).abs() <= tolerance,
                        "{name}: depth {got} instead of {expected}"
                    );
                }
                if bytes == 4 {
                    s.report.result(&name, pixels.colour[0].clone());
                }
            }
        }
    }
    Ok(())
}

/// Depths with bias. Vulkan says of a float format: the unit is that of the primitive's largest
/// depth's exponent; of the slope: an approximation from 1 to sqrt 2, exact along an axis.
unsafe fn depth_bias(s: &Scope<'_>) -> anyhow::Result<()> {
    let flat = quads(&[([4.0, 4.0, 60.0, 60.0], 0.5, RED)]);
    let sloped = "
layout(location = 0) flat out vec4 colour;
void main() {
    float x = (gl_VertexIndex & 1) == 0 ? -0.5 : 0.5;
    gl_Position = vec4(x, (gl_VertexIndex & 2) == 0 ? -0.5 : 0.5, x * 0.5 + 0.5, 1.0);
    colour = vec4(1.0, 0.0, 0.0, 1.0);
}
";
    let clamps = s.gpu_features().depth_bias_clamp == vk::TRUE;
    // In 0.25 .. 0.75 over 32 pixels the slope is 1 / 64.
    for (name, vertex, constant, slope, clamp, expected) in [
        ("none", &*flat, 0.0, 0.0, 0.0, 0.0),
        ("constant", &*flat, 1024.0, 0.0, 0.0, 1024.0 / 16_777_216.0),
        (
            "negative",
            &*flat,
            -2048.0,
            0.0,
            0.0,
            -2048.0 / 16_777_216.0,
        ),
        ("slope of none", &*flat, 0.0, 8.0, 0.0, 0.0),
        ("slope", sloped, 0.0, 4.0, 0.0, 4.0 / 64.0),
        ("slope down", sloped, 0.0, -4.0, 0.0, -4.0 / 64.0),
        ("clamped", sloped, 0.0, 4.0, 0.03125, 0.03125),
        ("clamped below", sloped, 0.0, -4.0, -0.03125, -0.03125),
    ] {
        if clamp != 0.0 && !clamps {
            continue;
        }
        for dynamic in [false, true] {
            let picture = Picture::deep(s, vk::Format::D32_SFLOAT, 1.0, 0)?;
            let mut draw = picture.quads(vertex);
            draw.raster = draw.raster.depth_bias_enable(true);
            if dynamic {
                draw.dynamic = vec![vk::DynamicState::DEPTH_BIAS];
            } else {
                draw.raster = (draw.raster)
                    .depth_bias_constant_factor(constant)
                    .depth_bias_slope_factor(slope)
                    .depth_bias_clamp(clamp);
            }
            draw.depth = (draw.depth.depth_test_enable(true).depth_write_enable(true))
                .depth_compare_op(vk::CompareOp::LESS);
            picture.clear();
            picture.bind(&draw)?;
            if dynamic {
                (s.device()).cmd_set_depth_bias(picture.commands, constant, clamp, slope);
            }
            s.device().cmd_draw(picture.commands, 4, 1, 0, 0);
            let pixels = picture.read()?;
            expect_pixel(name, &pixels.colour[0], 30, 30, RED)?;
            let depth = pixels.depth.unwrap_or_default();
            let at = 4 * (30 * SIDE as usize + 30);
            let got = f32::from_le_bytes([depth[at], depth[at + 1], depth[at + 2], depth[at + 3]]);
            let before = match vertex == sloped {
                true => 0.25 + 0.5 * 14.5 / 32.0,
                false => 0.5,
            };
            // Half a unit of the constant's for interpolation and sum.
            ensure!(
                (got - before - expected).abs() < 1.0e-6,
                "{name} dynamic {dynamic}: bias {} instead of {expected}",
                got - before
            );
        }
    }
    Ok(())
}

/// Depths outside of 0 to 1 are clipped away, or clamped.
unsafe fn depth_clamp(s: &Scope<'_>) -> anyhow::Result<()> {
    s.gpu_feature(|features| features.depth_clamp)?;
    let vertex = quads(&[
        ([2.0, 4.0, 18.0, 60.0], -0.5, RED),
        ([22.0, 4.0, 40.0, 60.0], 0.5, GREEN),
        ([42.0, 4.0, 60.0, 60.0], 1.5, BLUE),
    ]);
    for clamp in [false, true] {
        for (near, far) in [(0.0, 1.0), (0.25, 0.75)] {
            let picture = Picture::deep(s, vk::Format::D32_SFLOAT, 0.625, 0)?;
            let mut draw = picture.quads(&vertex);
            draw.viewport.min_depth = near;
            draw.viewport.max_depth = far;
            draw.raster = draw.raster.depth_clamp_enable(clamp);
            draw.depth = (draw.depth.depth_test_enable(true).depth_write_enable(true))
                .depth_compare_op(vk::CompareOp::ALWAYS);
            picture.clear();
            picture.draw(&draw, 4, 3)?;
            let pixels = picture.end(&format!("clamp {clamp} {near} {far}"))?;
            let outside = if clamp { RED } else { GREY };
            expect_pixel("before the near plane", &pixels.colour[0], 10, 30, outside)?;
        }
    }
    Ok(())
}
