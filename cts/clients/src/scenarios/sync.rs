// SPDX-License-Identifier: MIT
//! Barriers and events, of both generations.

use anyhow::ensure;
use ash::vk;

use super::{STEP, scenario, stepped};
use crate::gpu::require;
use crate::model::to_bytes;
use crate::scenario::Scenario;
use crate::scope::{Buffer, Kernel, Scope};

pub(super) const SCENARIOS: &[Scenario] = &[
    scenario("sync.barriers", barriers),
    scenario("sync.barriers2", barriers2),
    scenario("sync.event_device", event_device),
    scenario("sync.event_host", event_host),
    scenario("sync.event2", event2),
    scenario("sync.across_submits", across_submits),
];

/// Waits of a command's start for a dispatch before it.
const STAGE: vk::PipelineStageFlags = vk::PipelineStageFlags::COMPUTE_SHADER;

unsafe fn chain(s: &Scope<'_>) -> anyhow::Result<(Kernel, Buffer, vk::CommandBuffer)> {
    let kernel = s.kernel(STEP, 1, 4)?;
    let values = s.buffer(16 * 1024)?;
    let set = s.bind(&kernel, &[&values])?;
    let commands = s.commands(vk::CommandBufferUsageFlags::empty())?;
    let (device, compute) = (s.device(), vk::PipelineBindPoint::COMPUTE);
    device.cmd_bind_pipeline(commands, compute, kernel.pipeline);
    device.cmd_bind_descriptor_sets(commands, compute, kernel.layout, 0, &[set], &[]);
    Ok((kernel, values, commands))
}

unsafe fn step(s: &Scope<'_>, commands: vk::CommandBuffer, kernel: &Kernel, add: u32) {
    let stage = vk::ShaderStageFlags::COMPUTE;
    let device = s.device();
    device.cmd_push_constants(commands, kernel.layout, stage, 0, &add.to_le_bytes());
    device.cmd_dispatch(commands, 128, 1, 1);
}

fn expect(s: &Scope<'_>, name: &str, values: &Buffer, adds: &[u32]) -> anyhow::Result<()> {
    let value = stepped(0, adds.iter().copied());
    let count = values.size as usize / 4;
    s.report
        .expect(name, values.bytes(), &to_bytes(&vec![value; count]))
}

fn access() -> vk::AccessFlags {
    vk::AccessFlags::SHADER_READ | vk::AccessFlags::SHADER_WRITE
}

/// Memory and buffer barriers between dispatches that overwrite one another's values.
unsafe fn barriers(s: &Scope<'_>) -> anyhow::Result<()> {
    let (kernel, values, commands) = chain(s)?;
    let adds: Vec<u32> = (1..=10).collect();
    let memory = [vk::MemoryBarrier::default()
        .src_access_mask(access())
        .dst_access_mask(access())];
    let buffer = [vk::BufferMemoryBarrier::default()
        .src_access_mask(access())
        .dst_access_mask(access())
        .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .buffer(values.handle)
        .size(vk::WHOLE_SIZE)];
    for add in &adds {
        step(s, commands, &kernel, *add);
        let (memory, buffer): (&[_], &[_]) = match add % 2 {
            0 => (&memory, &[]),
            _ => (&[], &buffer),
        };
        let none = vk::DependencyFlags::empty();
        s.device()
            .cmd_pipeline_barrier(commands, STAGE, STAGE, none, memory, buffer, &[]);
    }
    s.finish(commands)?;
    expect(s, "values", &values, &adds)
}

fn dependency2<'a>(
    memory: &'a [vk::MemoryBarrier2<'a>],
    buffer: &'a [vk::BufferMemoryBarrier2<'a>],
) -> vk::DependencyInfo<'a> {
    vk::DependencyInfo::default()
        .memory_barriers(memory)
        .buffer_memory_barriers(buffer)
}

fn memory2() -> [vk::MemoryBarrier2<'static>; 1] {
    let access = vk::AccessFlags2::SHADER_STORAGE_READ | vk::AccessFlags2::SHADER_STORAGE_WRITE;
    [vk::MemoryBarrier2::default()
        .src_stage_mask(vk::PipelineStageFlags2::COMPUTE_SHADER)
        .src_access_mask(access)
        .dst_stage_mask(vk::PipelineStageFlags2::COMPUTE_SHADER)
        .dst_access_mask(access)]
}

unsafe fn barriers2(s: &Scope<'_>) -> anyhow::Result<()> {
    require(s.gpu.features.synchronization2, "synchronization2")?;
    let (kernel, values, commands) = chain(s)?;
    let adds: Vec<u32> = (1..=10).collect();
    let memory = memory2();
    let buffer = [vk::BufferMemoryBarrier2::default()
        .src_stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS)
        .src_access_mask(vk::AccessFlags2::MEMORY_WRITE | vk::AccessFlags2::MEMORY_READ)
        .dst_stage_mask(vk::PipelineStageFlags2::COMPUTE_SHADER)
        .dst_access_mask(vk::AccessFlags2::SHADER_READ | vk::AccessFlags2::SHADER_WRITE)
        .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .buffer(values.handle)
        .size(vk::WHOLE_SIZE)];
    for add in &adds {
        step(s, commands, &kernel, *add);
        let info = match add % 2 {
            0 => dependency2(&memory, &[]),
            _ => dependency2(&[], &buffer),
        };
        s.device().cmd_pipeline_barrier2(commands, &info);
    }
    s.finish(commands)?;
    expect(s, "values", &values, &adds)
}

unsafe fn event(s: &Scope<'_>) -> anyhow::Result<vk::Event> {
    let info = vk::EventCreateInfo::default();
    let event = s.device().create_event(&info, None)?;
    s.at_end(move |device| device.destroy_event(event, None));
    Ok(event)
}

/// Events that commands set, wait for and reset; the host sees the last state.
unsafe fn event_device(s: &Scope<'_>) -> anyhow::Result<()> {
    let (kernel, values, commands) = chain(s)?;
    let (device, event, last) = (s.device(), event(s)?, event(s)?);
    ensure!(
        !device.get_event_status(event)?,
        "an event is set when created"
    );
    let memory = [vk::MemoryBarrier::default()
        .src_access_mask(access())
        .dst_access_mask(access())];
    for add in 1..=5 {
        step(s, commands, &kernel, add);
        device.cmd_set_event(commands, event, STAGE);
        device.cmd_wait_events(commands, &[event], STAGE, STAGE, &memory, &[], &[]);
        device.cmd_reset_event(commands, event, STAGE);
        s.barrier(commands);
    }
    device.cmd_set_event(commands, last, STAGE);
    s.finish(commands)?;
    expect(s, "values", &values, &[1, 2, 3, 4, 5])?;
    ensure!(
        !device.get_event_status(event)?,
        "an event that was reset is set"
    );
    ensure!(
        device.get_event_status(last)?,
        "an event that was set is not"
    );
    device.reset_event(last)?;
    ensure!(
        !device.get_event_status(last)?,
        "reset by the host, still set"
    );
    Ok(())
}

/// A command buffer waits for an event that the host has set, resets it, and runs again after the
/// host has set it once more. The host must set it before it submits the command buffer.
unsafe fn event_host(s: &Scope<'_>) -> anyhow::Result<()> {
    let (kernel, values, commands) = chain(s)?;
    let (device, event) = (s.device(), event(s)?);
    step(s, commands, &kernel, 7);
    s.barrier(commands);
    let host = vk::PipelineStageFlags::HOST;
    let written = [vk::MemoryBarrier::default()
        .src_access_mask(vk::AccessFlags::HOST_WRITE)
        .dst_access_mask(access())];
    device.cmd_wait_events(commands, &[event], host, STAGE, &written, &[], &[]);
    step(s, commands, &kernel, 8);
    s.barrier(commands);
    device.cmd_reset_event(commands, event, STAGE);
    s.barrier(commands);
    device.end_command_buffer(commands)?;
    for _ in 0..3 {
        device.set_event(event)?;
        ensure!(
            device.get_event_status(event)?,
            "set by the host, and is not"
        );
        s.submit(&[commands])?;
        ensure!(
            !device.get_event_status(event)?,
            "reset by a command, and is set"
        );
    }
    expect(s, "values", &values, &[7, 8, 7, 8, 7, 8])
}

unsafe fn event2(s: &Scope<'_>) -> anyhow::Result<()> {
    require(s.gpu.features.synchronization2, "synchronization2")?;
    let (kernel, values, commands) = chain(s)?;
    let device = s.device();
    let info = vk::EventCreateInfo::default().flags(vk::EventCreateFlags::DEVICE_ONLY);
    let event = device.create_event(&info, None)?;
    s.at_end(move |device| device.destroy_event(event, None));
    let memory = memory2();
    for add in 1..=5 {
        step(s, commands, &kernel, add);
        let info = dependency2(&memory, &[]);
        device.cmd_set_event2(commands, event, &info);
        device.cmd_wait_events2(commands, &[event], &[info]);
        device.cmd_reset_event2(commands, event, vk::PipelineStageFlags2::COMPUTE_SHADER);
        s.barrier(commands);
    }
    s.finish(commands)?;
    expect(s, "values", &values, &[1, 2, 3, 4, 5])
}

/// Barriers reach over command buffers and submissions of the queue; nothing else orders them.
unsafe fn across_submits(s: &Scope<'_>) -> anyhow::Result<()> {
    let kernel = s.kernel(STEP, 1, 4)?;
    let values = s.buffer(16 * 1024)?;
    let set = s.bind(&kernel, &[&values])?;
    let stage = vk::ShaderStageFlags::COMPUTE;
    let mut recorded = Vec::new();
    for add in 0..12_u32 {
        let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
        s.barrier(commands);
        let device = s.device();
        device.cmd_push_constants(commands, kernel.layout, stage, 0, &add.to_le_bytes());
        s.dispatch(commands, &kernel, set, 128);
        s.barrier(commands);
        device.end_command_buffer(commands)?;
        recorded.push(commands);
    }
    let batches: Vec<_> = recorded
        .chunks(2)
        .map(|pair| vk::SubmitInfo::default().command_buffers(pair))
        .collect();
    for submits in batches.chunks(2) {
        s.device()
            .queue_submit(s.gpu.queue, submits, vk::Fence::null())?;
    }
    let empty = s.fence(vk::FenceCreateFlags::empty())?;
    s.device().queue_submit(s.gpu.queue, &[], empty)?;
    s.wait(&[empty])?;
    expect(s, "values", &values, &(0..12).collect::<Vec<_>>())
}
