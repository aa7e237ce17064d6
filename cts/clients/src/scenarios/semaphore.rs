// SPDX-License-Identifier: MIT
//! Fences and semaphores.

use std::time::Duration;

use anyhow::ensure;
use ash::vk;

use super::{STEP, scenario, stepped};
use crate::gpu::require;
use crate::model::to_bytes;
use crate::scenario::Scenario;
use crate::scope::{Buffer, Scope, TIMEOUT};

pub(super) const SCENARIOS: &[Scenario] = &[
    scenario("semaphore.fences", fences),
    scenario("semaphore.binary", binary),
    scenario("semaphore.timeline", timeline),
    scenario("semaphore.timeline_host", timeline_host),
    scenario("semaphore.wait_before_signal", wait_before_signal),
    scenario("semaphore.wait_any", wait_any),
    scenario("semaphore.submit2", submit2),
];

const ALL: vk::PipelineStageFlags = vk::PipelineStageFlags::ALL_COMMANDS;

/// Command buffers that step one buffer by 1, 2 and so on.
unsafe fn steps(s: &Scope<'_>, count: u32) -> anyhow::Result<(Buffer, Vec<vk::CommandBuffer>)> {
    let kernel = s.kernel(STEP, 1, 4)?;
    let values = s.buffer(4096)?;
    let set = s.bind(&kernel, &[&values])?;
    let mut recorded = Vec::new();
    for add in 1..=count {
        let commands = s.commands(vk::CommandBufferUsageFlags::empty())?;
        let (device, stage) = (s.device(), vk::ShaderStageFlags::COMPUTE);
        device.cmd_push_constants(commands, kernel.layout, stage, 0, &add.to_le_bytes());
        s.dispatch(commands, &kernel, set, 32);
        // Towards the host only; the order among submissions is what the tests are about.
        let written = [vk::MemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::SHADER_WRITE)
            .dst_access_mask(vk::AccessFlags::HOST_READ)];
        device.cmd_pipeline_barrier(
            commands,
            vk::PipelineStageFlags::COMPUTE_SHADER,
            vk::PipelineStageFlags::HOST,
            vk::DependencyFlags::empty(),
            &written,
            &[],
            &[],
        );
        device.end_command_buffer(commands)?;
        recorded.push(commands);
    }
    Ok((values, recorded))
}

fn expect(s: &Scope<'_>, name: &str, values: &Buffer, adds: &[u32]) -> anyhow::Result<()> {
    let value = stepped(0, adds.iter().copied());
    s.report
        .expect(name, values.bytes(), &to_bytes(&[value; 1024]))
}

/// Fences signalled from the start, by work, by nothing; resets; waits with time-outs.
unsafe fn fences(s: &Scope<'_>) -> anyhow::Result<()> {
    let device = s.device();
    let (values, recorded) = steps(s, 1)?;
    let signalled = s.fence(vk::FenceCreateFlags::SIGNALED)?;
    ensure!(
        device.get_fence_status(signalled)?,
        "created signalled, and is not"
    );
    s.wait(&[signalled])?;
    device.reset_fences(&[signalled])?;
    ensure!(
        !device.get_fence_status(signalled)?,
        "reset, and is signalled"
    );
    let never = s.fence(vk::FenceCreateFlags::empty())?;
    for timeout in [0, 1_000_000] {
        let result = device.wait_for_fences(&[never], true, timeout);
        ensure!(
            result == Err(vk::Result::TIMEOUT),
            "a wait in vain: {result:?}"
        );
    }
    let submit = [vk::SubmitInfo::default().command_buffers(&recorded)];
    device.queue_submit(s.gpu.queue, &submit, signalled)?;
    // One of the two is enough.
    device.wait_for_fences(&[never, signalled], false, TIMEOUT)?;
    let both = device.wait_for_fences(&[never, signalled], true, 1_000_000);
    ensure!(
        both == Err(vk::Result::TIMEOUT),
        "a wait for both: {both:?}"
    );
    device.queue_submit(s.gpu.queue, &[], never)?;
    device.wait_for_fences(&[never, signalled], true, TIMEOUT)?;
    expect(s, "values", &values, &[1])
}

/// A chain of binary semaphores, each used twice.
unsafe fn binary(s: &Scope<'_>) -> anyhow::Result<()> {
    let (values, recorded) = steps(s, 8)?;
    let semaphores = [s.semaphore(None)?, s.semaphore(None)?];
    let device = s.device();
    let fence = s.fence(vk::FenceCreateFlags::empty())?;
    let stages = [ALL];
    for (index, commands) in recorded.iter().enumerate() {
        let (wait, signal) = ([semaphores[index % 2]], [semaphores[(index + 1) % 2]]);
        let commands = [*commands];
        let mut submit = vk::SubmitInfo::default().command_buffers(&commands);
        if index > 0 {
            submit = submit.wait_semaphores(&wait).wait_dst_stage_mask(&stages);
        }
        if index < 7 {
            submit = submit.signal_semaphores(&signal);
        }
        let fence = if index == 7 { fence } else { vk::Fence::null() };
        device.queue_submit(s.gpu.queue, &[submit], fence)?;
    }
    s.wait(&[fence])?;
    expect(s, "values", &values, &[1, 2, 3, 4, 5, 6, 7, 8])
}

unsafe fn submit_timeline(
    s: &Scope<'_>,
    commands: vk::CommandBuffer,
    semaphore: vk::Semaphore,
    wait: Option<u64>,
    signal: u64,
) -> anyhow::Result<()> {
    let (waits, signals) = ([wait.unwrap_or(0)], [signal]);
    let (semaphores, stages, commands) = ([semaphore], [ALL], [commands]);
    let mut values = vk::TimelineSemaphoreSubmitInfo::default().signal_semaphore_values(&signals);
    if wait.is_some() {
        values = values.wait_semaphore_values(&waits);
    }
    let mut submit = vk::SubmitInfo::default()
        .command_buffers(&commands)
        .signal_semaphores(&semaphores);
    if wait.is_some() {
        submit = submit
            .wait_semaphores(&semaphores)
            .wait_dst_stage_mask(&stages);
    }
    let submit = [submit.push_next(&mut values)];
    Ok(s.device()
        .queue_submit(s.gpu.queue, &submit, vk::Fence::null())?)
}

unsafe fn wait_for(s: &Scope<'_>, semaphore: vk::Semaphore, value: u64) -> anyhow::Result<()> {
    let (semaphores, values) = ([semaphore], [value]);
    let info = vk::SemaphoreWaitInfo::default()
        .semaphores(&semaphores)
        .values(&values);
    Ok(s.device().wait_semaphores(&info, TIMEOUT)?)
}

/// Submissions ordered by values with gaps; the host waits for a value between.
unsafe fn timeline(s: &Scope<'_>) -> anyhow::Result<()> {
    require(s.gpu.features.timeline_semaphore, "timelineSemaphore")?;
    let (values, recorded) = steps(s, 6)?;
    let semaphore = s.semaphore(Some(100))?;
    for (index, commands) in recorded.iter().enumerate() {
        let at = 100 + 10 * index as u64;
        submit_timeline(s, *commands, semaphore, Some(at), at + 10)?;
    }
    wait_for(s, semaphore, 125)?;
    let now = s.device().get_semaphore_counter_value(semaphore)?;
    ensure!((130..=160).contains(&now), "at {now} after a wait for 125");
    wait_for(s, semaphore, 160)?;
    let now = s.device().get_semaphore_counter_value(semaphore)?;
    ensure!(now == 160, "at {now} in the end");
    expect(s, "values", &values, &[1, 2, 3, 4, 5, 6])
}

/// Waits of the host, in vain and not; a signal of the host.
unsafe fn timeline_host(s: &Scope<'_>) -> anyhow::Result<()> {
    require(s.gpu.features.timeline_semaphore, "timelineSemaphore")?;
    let semaphore = s.semaphore(Some(3))?;
    let device = s.device();
    wait_for(s, semaphore, 2)?;
    wait_for(s, semaphore, 3)?;
    let (semaphores, values) = ([semaphore], [4]);
    let info = vk::SemaphoreWaitInfo::default()
        .semaphores(&semaphores)
        .values(&values);
    for timeout in [0, 2_000_000] {
        let result = device.wait_semaphores(&info, timeout);
        ensure!(
            result == Err(vk::Result::TIMEOUT),
            "a wait in vain: {result:?}"
        );
    }
    let signal = vk::SemaphoreSignalInfo::default()
        .semaphore(semaphore)
        .value(1 << 40);
    device.signal_semaphore(&signal)?;
    ensure!(
        device.get_semaphore_counter_value(semaphore)? == 1 << 40,
        "the counter's value"
    );
    wait_for(s, semaphore, 1 << 40)
}

/// Submissions wait for values that the host and other submissions signal later, from another
/// thread.
unsafe fn wait_before_signal(s: &Scope<'_>) -> anyhow::Result<()> {
    require(s.gpu.features.timeline_semaphore, "timelineSemaphore")?;
    let (values, recorded) = steps(s, 3)?;
    let (gate, done) = (s.semaphore(Some(0))?, s.semaphore(Some(0))?);
    let device = s.device();
    let (waits, signals, stages) = ([gate], [done], [ALL]);
    for (index, commands) in recorded.iter().enumerate() {
        let (wait_values, signal_values) = ([1 + index as u64], [1 + index as u64]);
        let mut info = vk::TimelineSemaphoreSubmitInfo::default()
            .wait_semaphore_values(&wait_values)
            .signal_semaphore_values(&signal_values);
        let commands = [*commands];
        let submit = [vk::SubmitInfo::default()
            .command_buffers(&commands)
            .wait_semaphores(&waits)
            .wait_dst_stage_mask(&stages)
            .signal_semaphores(&signals)
            .push_next(&mut info)];
        device.queue_submit(s.gpu.queue, &submit, vk::Fence::null())?;
    }
    let reached = device.get_semaphore_counter_value(done)?;
    ensure!(reached == 0, "it ran to {reached} before the signal");
    std::thread::scope(|threads| {
        let signaller = threads.spawn(|| {
            for value in 1..=3 {
                std::thread::sleep(Duration::from_millis(20));
                let signal = vk::SemaphoreSignalInfo::default()
                    .semaphore(gate)
                    .value(value);
                // SAFETY: the semaphore is alive until the scope's end; values grow.
                unsafe { device.signal_semaphore(&signal)? };
            }
            Ok::<(), vk::Result>(())
        });
        let waited = wait_for(s, done, 3);
        signaller.join().expect("the thread ends")?;
        waited
    })?;
    expect(s, "values", &values, &[1, 2, 3])
}

/// Waits for any of several values.
unsafe fn wait_any(s: &Scope<'_>) -> anyhow::Result<()> {
    require(s.gpu.features.timeline_semaphore, "timelineSemaphore")?;
    let (values, recorded) = steps(s, 1)?;
    let (never, soon) = (s.semaphore(Some(0))?, s.semaphore(Some(0))?);
    submit_timeline(s, recorded[0], soon, None, 5)?;
    let (semaphores, wanted) = ([never, soon], [1, 5]);
    let mut info = vk::SemaphoreWaitInfo::default()
        .flags(vk::SemaphoreWaitFlags::ANY)
        .semaphores(&semaphores)
        .values(&wanted);
    s.device().wait_semaphores(&info, TIMEOUT)?;
    info.flags = vk::SemaphoreWaitFlags::empty();
    let all = s.device().wait_semaphores(&info, 1_000_000);
    ensure!(all == Err(vk::Result::TIMEOUT), "a wait for all: {all:?}");
    expect(s, "values", &values, &[1])
}

/// The newer submission: several batches, binary and timeline semaphores mixed.
unsafe fn submit2(s: &Scope<'_>) -> anyhow::Result<()> {
    require(s.gpu.features.synchronization2, "synchronization2")?;
    require(s.gpu.features.timeline_semaphore, "timelineSemaphore")?;
    let (values, recorded) = steps(s, 3)?;
    let (binary, timeline) = (s.semaphore(None)?, s.semaphore(Some(7))?);
    let stage = vk::PipelineStageFlags2::ALL_COMMANDS;
    let info = |semaphore, value| {
        [vk::SemaphoreSubmitInfo::default()
            .semaphore(semaphore)
            .value(value)
            .stage_mask(stage)]
    };
    let commands: Vec<_> = recorded
        .iter()
        .map(|commands| [vk::CommandBufferSubmitInfo::default().command_buffer(*commands)])
        .collect();
    let (by_binary, by_8, by_9) = (info(binary, 0), info(timeline, 8), info(timeline, 9));
    let submits = [
        vk::SubmitInfo2::default()
            .command_buffer_infos(&commands[0])
            .signal_semaphore_infos(&by_binary),
        vk::SubmitInfo2::default()
            .wait_semaphore_infos(&by_binary)
            .command_buffer_infos(&commands[1])
            .signal_semaphore_infos(&by_8),
        vk::SubmitInfo2::default()
            .wait_semaphore_infos(&by_8)
            .command_buffer_infos(&commands[2])
            .signal_semaphore_infos(&by_9),
    ];
    let fence = s.fence(vk::FenceCreateFlags::empty())?;
    s.device().queue_submit2(s.gpu.queue, &submits, fence)?;
    s.wait(&[fence])?;
    wait_for(s, timeline, 9)?;
    let now = s.device().get_semaphore_counter_value(timeline)?;
    ensure!(now == 9, "at {now} in the end");
    expect(s, "values", &values, &[1, 2, 3])
}
