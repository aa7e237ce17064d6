// SPDX-License-Identifier: MIT
//! Timestamps. Their values are times and are not compared.

use anyhow::ensure;
use ash::vk;

use super::scenario;
use crate::gpu::require;
use crate::model::to_words;
use crate::scenario::Scenario;
use crate::scope::Scope;

pub(super) const SCENARIOS: &[Scenario] = &[
    scenario("query.timestamps", timestamps),
    scenario("query.copy", copy),
    scenario("query.reset", reset),
    scenario("query.calibrated", calibrated),
];

type Flags = vk::QueryResultFlags;

fn valid(s: &Scope<'_>) -> anyhow::Result<()> {
    let bits = s.gpu.queue_properties.timestamp_valid_bits;
    require(bits > 0, "timestamps")
}

/// Timestamps between dispatches grow; written by both generations of the command.
unsafe fn timestamps(s: &Scope<'_>) -> anyhow::Result<()> {
    valid(s)?;
    let kernel = s.kernel(super::INCREMENT, 1, 0)?;
    let buffer = s.buffer(4096)?;
    let set = s.bind(&kernel, &[&buffer])?;
    let pool = s.timestamps(8)?;
    let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
    let device = s.device();
    device.cmd_reset_query_pool(commands, pool, 0, 8);
    for query in 0..8 {
        if query % 2 == 0 {
            let stage = vk::PipelineStageFlags::BOTTOM_OF_PIPE;
            device.cmd_write_timestamp(commands, stage, pool, query);
        } else {
            let stage = vk::PipelineStageFlags2::ALL_COMMANDS;
            device.cmd_write_timestamp2(commands, stage, pool, query);
        }
        s.dispatch(commands, &kernel, set, 32);
        s.barrier(commands);
    }
    s.finish(commands)?;
    let mut times = [0_u64; 8];
    device.get_query_pool_results(pool, 0, &mut times, Flags::TYPE_64 | Flags::WAIT)?;
    let bits = s.gpu.queue_properties.timestamp_valid_bits;
    let mask = u64::MAX >> (64 - bits);
    for pair in times.windows(2) {
        ensure!(pair[0] != 0, "a timestamp of 0 in {times:?}");
        ensure!(pair[0] <= pair[1], "{times:?} do not grow");
        ensure!(pair[1] & !mask == 0, "{times:?} have more than {bits} bits");
    }
    ensure!(
        times[7] > times[0],
        "no time passes during 7 dispatches: {times:?}"
    );
    let mut with = [[0_u64; 2]; 8];
    let flags = Flags::TYPE_64 | Flags::WITH_AVAILABILITY;
    device.get_query_pool_results(pool, 0, &mut with, flags)?;
    for (with, time) in with.iter().zip(times) {
        ensure!(
            *with == [time, 1],
            "{with:?} instead of {time} and available"
        );
    }
    // 32 bits are the low half or the most there is: Vulkan leaves it open what overflow does.
    let mut short = [0_u32; 8];
    device.get_query_pool_results(pool, 0, &mut short, Flags::WAIT)?;
    for (short, time) in short.iter().zip(times) {
        let saturated = u32::try_from(time).unwrap_or(u32::MAX);
        ensure!(
            *short == time as u32 || *short == saturated,
            "{short} is not what 32 bits hold of {time}"
        );
    }
    Ok(())
}

/// Copies of results by a command, of both widths, with availability, at a stride.
unsafe fn copy(s: &Scope<'_>) -> anyhow::Result<()> {
    valid(s)?;
    let pool = s.timestamps(6)?;
    let target = s.buffer(1024)?;
    target.write(0, &[0xaa; 1024]);
    let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
    let device = s.device();
    device.cmd_reset_query_pool(commands, pool, 0, 6);
    // Query 5 is never written.
    for query in 0..5 {
        let stage = vk::PipelineStageFlags::BOTTOM_OF_PIPE;
        device.cmd_write_timestamp(commands, stage, pool, query);
    }
    s.barrier(commands);
    let copies = [
        (0, 5, 0, 8, Flags::TYPE_64 | Flags::WAIT),
        (1, 3, 64, 12, Flags::WAIT),
        (
            0,
            5,
            128,
            24,
            Flags::TYPE_64 | Flags::WAIT | Flags::WITH_AVAILABILITY,
        ),
        (4, 2, 512, 16, Flags::TYPE_64 | Flags::WITH_AVAILABILITY),
        (3, 3, 640, 8, Flags::WITH_AVAILABILITY),
    ];
    for (first, count, offset, stride, flags) in copies {
        device.cmd_copy_query_pool_results(
            commands,
            pool,
            first,
            count,
            target.handle,
            offset,
            stride,
            flags,
        );
    }
    s.finish(commands)?;
    let mut times = [0_u64; 5];
    device.get_query_pool_results(pool, 0, &mut times, Flags::TYPE_64 | Flags::WAIT)?;
    let mut short = [0_u32; 5];
    device.get_query_pool_results(pool, 0, &mut short, Flags::WAIT)?;
    let got = target.bytes();
    let mut expected = vec![0xaa; 1024];
    let mut defined = vec![true; 1024];
    for (first, count, offset, stride, flags) in copies {
        let wide = flags.contains(Flags::TYPE_64);
        let size = if wide { 8 } else { 4 };
        for index in 0..count as usize {
            let query = first as usize + index;
            let at = (offset + stride * index as u64) as usize;
            let mut put = |at: usize, value: u64| {
                expected[at..at + size].copy_from_slice(&value.to_le_bytes()[..size]);
            };
            let available = query < 5;
            if available && wide {
                put(at, times[query]);
            } else if available {
                // Wrapped or saturated, as the host's copy of the same.
                put(at, u64::from(short[query]));
            } else {
                // Between nothing and the final result.
                defined[at..at + size].fill(false);
            }
            if flags.contains(Flags::WITH_AVAILABILITY) {
                put(at + size, u64::from(available));
            }
        }
    }
    for (at, (got, expected)) in got.iter().zip(&expected).enumerate() {
        ensure!(
            got == expected || !defined[at],
            "byte {at} is {got:#x} instead of {expected:#x}: {:x?}, times {times:x?}",
            to_words(&target.bytes()[at & !15..(at & !15) + 16])
        );
    }
    Ok(())
}

/// Queries are unavailable after resets by the host and by commands.
unsafe fn reset(s: &Scope<'_>) -> anyhow::Result<()> {
    valid(s)?;
    require(s.gpu.features.host_query_reset, "hostQueryReset")?;
    let pool = s.timestamps(3)?;
    let device = s.device();
    device.reset_query_pool(pool, 0, 3);
    let available = |s: &Scope<'_>| -> anyhow::Result<[bool; 3]> {
        let mut with = [[0_u64; 2]; 3];
        let flags = Flags::TYPE_64 | Flags::WITH_AVAILABILITY;
        // SAFETY: the pool is alive and holds 3 queries.
        let result = unsafe { s.device().get_query_pool_results(pool, 0, &mut with, flags) };
        ensure!(
            matches!(result, Ok(()) | Err(vk::Result::NOT_READY)),
            "results: {result:?}"
        );
        Ok(with.map(|[_, available]| available != 0))
    };
    ensure!(available(s)? == [false; 3], "available after a reset");
    let mut times = [0_u64; 3];
    let result = device.get_query_pool_results(pool, 0, &mut times, Flags::TYPE_64);
    ensure!(
        result == Err(vk::Result::NOT_READY),
        "results after a reset: {result:?}"
    );
    let stage = vk::PipelineStageFlags::BOTTOM_OF_PIPE;
    let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
    for query in 0..3 {
        device.cmd_write_timestamp(commands, stage, pool, query);
    }
    s.finish(commands)?;
    ensure!(
        available(s)? == [true; 3],
        "not available after they were written"
    );
    device.reset_query_pool(pool, 1, 1);
    ensure!(
        available(s)? == [true, false, true],
        "after the reset of query 1"
    );
    let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
    device.cmd_reset_query_pool(commands, pool, 0, 2);
    device.cmd_write_timestamp(commands, stage, pool, 0);
    s.finish(commands)?;
    ensure!(
        available(s)? == [true, false, true],
        "after a command's reset and write"
    );
    Ok(())
}

/// The device's clock and the host's, read together, run alike.
unsafe fn calibrated(s: &Scope<'_>) -> anyhow::Result<()> {
    valid(s)?;
    s.gpu.needs(ash::ext::calibrated_timestamps::NAME)?;
    let instance = ash::ext::calibrated_timestamps::Instance::new(&s.gpu.entry, &s.gpu.instance);
    let device = ash::ext::calibrated_timestamps::Device::new(&s.gpu.instance, s.device());
    let domains = instance.get_physical_device_calibrateable_time_domains(s.gpu.physical)?;
    ensure!(
        domains.contains(&vk::TimeDomainEXT::DEVICE),
        "domains: {domains:?}"
    );
    let infos: Vec<_> = domains
        .iter()
        .map(|domain| vk::CalibratedTimestampInfoEXT::default().time_domain(*domain))
        .collect();
    let (first, _) = device.get_calibrated_timestamps(&infos)?;
    let pool = s.timestamps(1)?;
    let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
    s.device().cmd_reset_query_pool(commands, pool, 0, 1);
    let stage = vk::PipelineStageFlags::BOTTOM_OF_PIPE;
    s.device().cmd_write_timestamp(commands, stage, pool, 0);
    s.finish(commands)?;
    let (last, deviation) = device.get_calibrated_timestamps(&infos)?;
    let mut times = [0_u64; 1];
    let flags = Flags::TYPE_64 | Flags::WAIT;
    s.device()
        .get_query_pool_results(pool, 0, &mut times, flags)?;
    for (index, domain) in domains.iter().enumerate() {
        ensure!(first[index] < last[index], "{domain:?} does not grow");
        if *domain == vk::TimeDomainEXT::DEVICE {
            let between = first[index]..=last[index];
            ensure!(
                between.contains(&times[0]),
                "a timestamp of {} outside of {between:?} (deviation {deviation})",
                times[0]
            );
        }
    }
    Ok(())
}
