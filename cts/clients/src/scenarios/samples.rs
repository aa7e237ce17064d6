// SPDX-License-Identifier: MIT
//! Small pictures of several samples to a pixel.

use anyhow::ensure;
use ash::vk;

use super::pictures::{BLUE, Picture, RED, RGBA8, SIDE, expect_pixel, floats, quads};
use super::scenario;
use crate::scenario::Scenario;
use crate::scope::Scope;

pub(super) const SCENARIOS: &[Scenario] = &[
    scenario("states.multisample", multisample),
    scenario("states.sample_mask", sample_mask),
    scenario("states.alpha_to_coverage", alpha_to_coverage),
];

/// Rectangles that cover whole pixels, in attachments of several samples, and a triangle whose
/// inside and outside are looked at; edges depend on where samples are.
unsafe fn multisample(s: &Scope<'_>) -> anyhow::Result<()> {
    let rectangles = quads(&[
        ([4.0, 4.0, 40.0, 40.0], 0.0, RED),
        ([20.0, 20.0, 60.0, 60.0], 0.0, BLUE),
    ]);
    // Half a pixel more: half of the samples of the edges' pixels, at standard locations.
    let halves = quads(&[([4.0, 4.5, 40.0, 40.0], 0.0, [1.0, 0.0, 0.0, 1.0])]);
    let offered = s.gpu.properties.limits.framebuffer_color_sample_counts;
    for (samples, shared) in [
        (vk::SampleCountFlags::TYPE_2, false),
        (vk::SampleCountFlags::TYPE_4, true),
    ] {
        if !offered.contains(samples) {
            continue;
        }
        let black = floats([0.0, 0.0, 0.0, 0.0]);
        let picture = Picture::new(s, &[(RGBA8, 4, black)], None, samples)?;
        picture.clear();
        picture.draw(&picture.quads(&rectangles), 4, 2)?;
        let pixels = picture.read()?;
        expect_pixel("first", &pixels.colour[0], 10, 10, RED)?;
        expect_pixel("second", &pixels.colour[0], 30, 30, BLUE)?;
        expect_pixel("none", &pixels.colour[0], 62, 10, [0.0; 4])?;
        if shared {
            (s.report).result("rectangles", pixels.colour[0].clone());
        }
        let picture = Picture::new(s, &[(RGBA8, 4, black)], None, samples)?;
        picture.clear();
        picture.draw(&picture.quads(&halves), 4, 1)?;
        let got = picture.read()?.colour.remove(0);
        let edge = got[4 * (4 * SIDE as usize + 20)];
        ensure!(
            (127..=128).contains(&edge),
            "{samples:?}: half of a pixel is {edge}"
        );
    }
    Ok(())
}

/// Masks of samples from the pipeline: the resolved colour is the part of samples written.
unsafe fn sample_mask(s: &Scope<'_>) -> anyhow::Result<()> {
    let vertex = quads(&[([4.0, 4.0, 40.0, 40.0], 0.0, [1.0, 1.0, 1.0, 1.0])]);
    let black = floats([0.0; 4]);
    for mask in 0..16_u32 {
        let samples = vk::SampleCountFlags::TYPE_4;
        let picture = Picture::new(s, &[(RGBA8, 4, black)], None, samples)?;
        let mut draw = picture.quads(&vertex);
        draw.mask = mask;
        picture.clear();
        picture.draw(&draw, 4, 1)?;
        let got = picture.read()?.colour.remove(0);
        let value = got[4 * (20 * SIDE as usize + 20)];
        let expected = 255.0 * mask.count_ones() as f32 / 4.0;
        // A half between two bytes may be rounded either way.
        ensure!(
            (f32::from(value) - expected).abs() <= 0.75,
            "mask {mask:#x}: {value} instead of {expected}"
        );
    }
    Ok(())
}

/// Alphas of 0 and 1 and, between, the share of samples, which may be dithered; alpha to one.
unsafe fn alpha_to_coverage(s: &Scope<'_>) -> anyhow::Result<()> {
    let list: Vec<_> = [0.0_f32, 0.5, 1.0]
        .into_iter()
        .enumerate()
        .map(|(at, alpha)| {
            let left = 2.0 + 20.0 * at as f32;
            ([left, 4.0, left + 16.0, 60.0], 0.0, [1.0, 1.0, 1.0, alpha])
        })
        .collect();
    let vertex = quads(&list);
    let black = floats([0.0; 4]);
    for (coverage, one) in [(true, false), (false, true), (true, true)] {
        if one && s.gpu_features().alpha_to_one == vk::FALSE {
            continue;
        }
        let samples = vk::SampleCountFlags::TYPE_4;
        let picture = Picture::new(s, &[(RGBA8, 4, black)], None, samples)?;
        let mut draw = picture.quads(&vertex);
        draw.alpha = (coverage, one);
        picture.clear();
        picture.draw(&draw, 4, 3)?;
        let got = picture.read()?.colour.remove(0);
        let pixel = |x: usize| {
            let at = 4 * (30 * SIDE as usize + x);
            (got[at], got[at + 3])
        };
        let name = format!("coverage {coverage} one {one}");
        let (none, all) = (pixel(10), pixel(50));
        let expected = match (coverage, one) {
            (true, _) => (0, 0),
            (false, true) => (255, 255),
            (false, false) => (255, 0),
        };
        ensure!(none == expected, "{name}: {none:?} instead of {expected:?}");
        ensure!(all == (255, 255), "{name}: {all:?} of alpha 1");
        let red = pixel(30).0;
        ensure!(
            red == 255 || (coverage && (64..=191).contains(&red)),
            "{name}: {red} of alpha 0.5"
        );
    }
    Ok(())
}
