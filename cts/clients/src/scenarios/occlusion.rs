// SPDX-License-Identifier: MIT
//! Queries of samples that pass.

use anyhow::ensure;
use ash::vk;

use super::pictures::{BLUE, Picture, RED, RGBA8, expect_pixel, floats, quads};
use super::rendered::both;
use super::scenario;
use crate::scenario::Scenario;
use crate::scope::Scope;

pub(super) const SCENARIOS: &[Scenario] = &[
    scenario("states.occlusion", occlusion),
    scenario("occlusion.copied", copied),
    scenario("occlusion.samples", samples),
];

/// Samples that pass, precise; and whether some do.
unsafe fn occlusion(s: &Scope<'_>) -> anyhow::Result<()> {
    s.gpu_feature(|features| features.occlusion_query_precise)?;
    let device = s.device();
    let info = vk::QueryPoolCreateInfo::default()
        .query_type(vk::QueryType::OCCLUSION)
        .query_count(8);
    let pool = device.create_query_pool(&info, None)?;
    s.at_end(move |device| device.destroy_query_pool(pool, None));
    let picture = Picture::deep(s, vk::Format::D32_SFLOAT, 0.5, 0)?;
    let near = quads(&[([4.0, 4.0, 24.0, 34.0], 0.25, RED)]);
    let far = quads(&[([30.0, 4.0, 40.0, 34.0], 0.75, BLUE)]);
    device.cmd_reset_query_pool(picture.commands, pool, 0, 8);
    picture.clear();
    let precise = vk::QueryControlFlags::PRECISE;
    let mut expected = Vec::new();
    for (query, (text, flags, count)) in [
        (Some(&near), precise, 600),
        (Some(&far), precise, 0),
        (Some(&near), vk::QueryControlFlags::empty(), 1),
        (Some(&far), vk::QueryControlFlags::empty(), 0),
        (None, precise, 0),
        (Some(&near), precise, 600),
    ]
    .into_iter()
    .enumerate()
    {
        device.cmd_begin_query(picture.commands, pool, query as u32, flags);
        if let Some(text) = text {
            let mut draw = picture.quads(text);
            draw.depth = (draw.depth.depth_test_enable(true)).depth_compare_op(vk::CompareOp::LESS);
            picture.draw(&draw, 4, 1)?;
        }
        device.cmd_end_query(picture.commands, pool, query as u32);
        expected.push(count);
    }
    let pixels = picture.read()?;
    expect_pixel("near", &pixels.colour[0], 10, 10, RED)?;
    let mut results = [0_u64; 6];
    let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WAIT;
    device.get_query_pool_results(pool, 0, &mut results, flags)?;
    // Not precise: any number that is not zero.
    results[2] = results[2].min(1);
    ensure!(
        results == expected[..],
        "{results:?} instead of {expected:?}"
    );
    let bytes = results.iter().flat_map(|count| count.to_le_bytes());
    s.report.result("counts", bytes.collect());
    Ok(())
}

unsafe fn queries(s: &Scope<'_>, count: u32) -> anyhow::Result<vk::QueryPool> {
    let info = vk::QueryPoolCreateInfo::default()
        .query_type(vk::QueryType::OCCLUSION)
        .query_count(count);
    let pool = s.device().create_query_pool(&info, None)?;
    s.at_end(move |device| device.destroy_query_pool(pool, None));
    Ok(pool)
}

/// Queries over several draws and clears, copied by commands in both widths.
unsafe fn copied(s: &Scope<'_>) -> anyhow::Result<()> {
    s.gpu_feature(|features| features.occlusion_query_precise)?;
    let pool = queries(s, 3)?;
    let picture = Picture::plain(s)?;
    let (device, commands) = (s.device(), picture.commands);
    let vertex = both();
    device.cmd_reset_query_pool(commands, pool, 0, 3);
    picture.clear();
    picture.bind(&picture.quads(&vertex))?;
    let precise = vk::QueryControlFlags::PRECISE;
    // 36 x 36 pixels, 40 x 40, both.
    for (query, first, count) in [(2, 0, 1), (0, 1, 1), (1, 0, 2)] {
        device.cmd_begin_query(commands, pool, query, precise);
        for instance in first..first + count {
            device.cmd_draw(commands, 4, 1, 0, instance);
        }
        device.cmd_end_query(commands, pool, query);
    }
    device.cmd_end_rendering(commands);
    let narrow = s.buffer(64)?;
    let wide = s.buffer(128)?;
    let wait = vk::QueryResultFlags::WAIT;
    let available = wait | vk::QueryResultFlags::WITH_AVAILABILITY;
    device.cmd_copy_query_pool_results(commands, pool, 0, 3, narrow.handle, 4, 12, available);
    let flags = wait | vk::QueryResultFlags::TYPE_64;
    device.cmd_copy_query_pool_results(commands, pool, 1, 2, wide.handle, 16, 24, flags);
    let got = picture.read_after()?.colour.remove(0);
    expect_pixel("queries", &got, 30, 30, BLUE)?;
    let narrow = narrow.words();
    ensure!(
        narrow[..9] == [0, 1600, 1, 0, 2896, 1, 0, 1296, 1],
        "narrow: {narrow:?}"
    );
    let wide = wide.words();
    ensure!(
        wide[..12] == [0, 0, 0, 0, 2896, 0, 0, 0, 0, 0, 1296, 0],
        "wide: {wide:?}"
    );
    Ok(())
}

/// Samples, of which a pixel has several, are counted by themselves.
unsafe fn samples(s: &Scope<'_>) -> anyhow::Result<()> {
    s.gpu_feature(|features| features.occlusion_query_precise)?;
    let pool = queries(s, 4)?;
    let black = floats([0.0; 4]);
    let four = vk::SampleCountFlags::TYPE_4;
    let picture = Picture::new(s, &[(RGBA8, 4, black)], None, four)?;
    let (device, commands) = (s.device(), picture.commands);
    let vertex = both();
    device.cmd_reset_query_pool(commands, pool, 0, 4);
    picture.clear();
    let mut expected = Vec::new();
    for (query, mask) in (0..).zip([0b1111_u32, 0b0101, 0b0000, 0b1000]) {
        let mut draw = picture.quads(&vertex);
        draw.mask = mask;
        picture.bind(&draw)?;
        device.cmd_begin_query(commands, pool, query, vk::QueryControlFlags::PRECISE);
        device.cmd_draw(commands, 4, 1, 0, 0);
        device.cmd_end_query(commands, pool, query);
        expected.push(u64::from(1296 * mask.count_ones()));
    }
    picture.read()?;
    let mut results = [0_u64; 4];
    let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WAIT;
    device.get_query_pool_results(pool, 0, &mut results, flags)?;
    ensure!(
        results == expected[..],
        "{results:?} instead of {expected:?}"
    );
    Ok(())
}
