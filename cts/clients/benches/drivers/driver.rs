// SPDX-License-Identifier: MIT
//! What the CPU does in a driver: submission, recording, descriptors, pipelines from caches.
#![allow(
    unsafe_op_in_unsafe_fn,
    reason = "every line is a Vulkan call on the scope's own handles"
)]

use std::time::{Duration, Instant};

use ash::vk;
use cortland_clients::scope::{Kernel, Scope, TIMEOUT};

/// How long one thing is measured.
const TIME: Duration = Duration::from_millis(300);

/// The best rate of something that does `count` things at a time.
pub(crate) fn rate(
    count: usize,
    mut run: impl FnMut() -> anyhow::Result<()>,
) -> anyhow::Result<f64> {
    run()?;
    let (start, mut best) = (Instant::now(), 0.0_f64);
    while start.elapsed() < TIME {
        let before = Instant::now();
        run()?;
        best = best.max(count as f64 / before.elapsed().as_secs_f64());
    }
    Ok(best)
}

const EMPTY: &str = "layout(local_size_x = 1) in; void main() {}";

/// Four buffers, of which one is written.
const FOUR: &str = "
layout(local_size_x = 32) in;
layout(set = 0, binding = 0) buffer A { uint a[]; };
layout(set = 0, binding = 1) buffer B { uint b[]; };
layout(set = 0, binding = 2) buffer C { uint c[]; };
layout(set = 0, binding = 3) buffer D { uint d[]; };
layout(push_constant) uniform P { uint p[4]; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    d[i] = a[i] + b[i] * c[i] + p[0];
}
";

pub(crate) unsafe fn measure(s: &Scope<'_>, note: impl Fn(&str, f64)) -> anyhow::Result<()> {
    submissions(s, &note)?;
    let kernel = s.kernel(FOUR, 4, 16)?;
    recording(s, &kernel, &note)?;
    descriptors(s, &kernel, &note)?;
    pipelines(s, &kernel, &note)
}

unsafe fn submissions(s: &Scope<'_>, note: &impl Fn(&str, f64)) -> anyhow::Result<()> {
    let layout = s.pipeline_layout(&[], 0)?;
    let pipeline = s.pipeline(EMPTY, layout)?;
    let commands = s.commands(vk::CommandBufferUsageFlags::SIMULTANEOUS_USE)?;
    let device = s.device();
    device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::COMPUTE, pipeline);
    device.cmd_dispatch(commands, 1, 1, 1);
    device.end_command_buffer(commands)?;
    let all = [commands];
    let submit = [vk::SubmitInfo::default().command_buffers(&all)];
    let fence = s.fence(vk::FenceCreateFlags::empty())?;
    let finish = || -> anyhow::Result<()> {
        device.queue_submit(s.gpu.queue, &submit, fence)?;
        device.wait_for_fences(&[fence], true, TIMEOUT)?;
        Ok(device.reset_fences(&[fence])?)
    };
    let count = 200;
    let many = rate(count, || {
        for _ in 1..count {
            device.queue_submit(s.gpu.queue, &submit, vk::Fence::null())?;
        }
        finish()
    })?;
    note("submit: empty dispatches", many);
    note("submit and wait: empty dispatches", rate(1, finish)?);
    Ok(())
}

unsafe fn recording(
    s: &Scope<'_>,
    kernel: &Kernel,
    note: &impl Fn(&str, f64),
) -> anyhow::Result<()> {
    let buffer = s.buffer(4096)?;
    let mut sets = Vec::new();
    for _ in 0..2 {
        sets.push(s.bind(kernel, &[&buffer; 4])?);
    }
    let pool = s.command_pool(vk::CommandPoolCreateFlags::TRANSIENT)?;
    let commands = s.allocate(pool, vk::CommandBufferLevel::PRIMARY, 1)?[0];
    let (device, compute) = (s.device(), vk::PipelineBindPoint::COMPUTE);
    let count = 10_000;
    let record = |each: &dyn Fn(usize)| {
        rate(count, || {
            // SAFETY: the pool's only command buffer is never submitted.
            unsafe {
                device.reset_command_pool(pool, vk::CommandPoolResetFlags::empty())?;
                s.begin(commands, vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
                device.cmd_bind_pipeline(commands, compute, kernel.pipeline);
                device.cmd_bind_descriptor_sets(
                    commands,
                    compute,
                    kernel.layout,
                    0,
                    &sets[..1],
                    &[],
                );
                device.cmd_push_constants(
                    commands,
                    kernel.layout,
                    vk::ShaderStageFlags::COMPUTE,
                    0,
                    &[0; 16],
                );
                for index in 0..count {
                    each(index);
                }
                Ok(device.end_command_buffer(commands)?)
            }
        })
    };
    note(
        "record: dispatches",
        record(&|_| device.cmd_dispatch(commands, 4, 2, 1))?,
    );
    let pushed = record(&|index| {
        let bytes = (index as u32).to_le_bytes();
        let stage = vk::ShaderStageFlags::COMPUTE;
        device.cmd_push_constants(commands, kernel.layout, stage, 4, &bytes);
        device.cmd_dispatch(commands, 4, 2, 1);
    })?;
    note("record: push, dispatch", pushed);
    let bound = record(&|index| {
        let set = &sets[index % 2..=index % 2];
        device.cmd_bind_descriptor_sets(commands, compute, kernel.layout, 0, set, &[]);
        device.cmd_dispatch(commands, 4, 2, 1);
    })?;
    note("record: bind a set, dispatch", bound);
    let ordered = record(&|_| {
        s.barrier(commands);
        device.cmd_dispatch(commands, 4, 2, 1);
    })?;
    note("record: barrier, dispatch", ordered);
    Ok(())
}

unsafe fn descriptors(
    s: &Scope<'_>,
    kernel: &Kernel,
    note: &impl Fn(&str, f64),
) -> anyhow::Result<()> {
    let storage = vk::DescriptorType::STORAGE_BUFFER;
    let buffer = s.buffer(1 << 16)?;
    let (device, set) = (s.device(), s.set(kernel.set_layout)?);
    let infos: Vec<_> = (0..64).map(|part| [buffer.part(256 * part, 256)]).collect();
    let count = 4096;
    let one = rate(count, || {
        for index in 0..count {
            s.write(set, index as u32 % 4, storage, 0, &infos[index % 64]);
        }
        Ok(())
    })?;
    note("descriptors: one a call", one);
    let writes: Vec<_> = (0..64)
        .map(|index| {
            vk::WriteDescriptorSet::default()
                .dst_set(set)
                .dst_binding(index % 4)
                .descriptor_type(storage)
                .buffer_info(&infos[index as usize])
        })
        .collect();
    let batched = rate(count, || {
        for _ in 0..count / 64 {
            device.update_descriptor_sets(&writes, &[]);
        }
        Ok(())
    })?;
    note("descriptors: 64 a call", batched);
    let entries: Vec<_> = (0..4)
        .map(|binding| vk::DescriptorUpdateTemplateEntry {
            dst_binding: binding,
            dst_array_element: 0,
            descriptor_count: 1,
            descriptor_type: storage,
            offset: binding as usize * size_of::<vk::DescriptorBufferInfo>(),
            stride: 0,
        })
        .collect();
    let info = vk::DescriptorUpdateTemplateCreateInfo::default()
        .descriptor_update_entries(&entries)
        .template_type(vk::DescriptorUpdateTemplateType::DESCRIPTOR_SET)
        .descriptor_set_layout(kernel.set_layout);
    let template = device.create_descriptor_update_template(&info, None)?;
    s.at_end(move |device| device.destroy_descriptor_update_template(template, None));
    let data: [vk::DescriptorBufferInfo; 4] = std::array::from_fn(|index| infos[index][0]);
    let by_template = rate(count, || {
        for _ in 0..count / 4 {
            device.update_descriptor_set_with_template(set, template, data.as_ptr().cast());
        }
        Ok(())
    })?;
    note("descriptors: template of 4", by_template);
    Ok(())
}

unsafe fn pipelines(
    s: &Scope<'_>,
    kernel: &Kernel,
    note: &impl Fn(&str, f64),
) -> anyhow::Result<()> {
    let device = s.device();
    let module = s.module(FOUR)?;
    let cache = device.create_pipeline_cache(&vk::PipelineCacheCreateInfo::default(), None)?;
    s.at_end(move |device| device.destroy_pipeline_cache(cache, None));
    let stage = vk::PipelineShaderStageCreateInfo::default()
        .stage(vk::ShaderStageFlags::COMPUTE)
        .module(module)
        .name(c"main");
    let info = vk::ComputePipelineCreateInfo::default()
        .stage(stage)
        .layout(kernel.layout);
    let count = 100;
    let warm = rate(count, || {
        for _ in 0..count {
            let pipelines = device
                .create_compute_pipelines(cache, &[info], None)
                .map_err(|(_, error)| error)?;
            device.destroy_pipeline(pipelines[0], None);
        }
        Ok(())
    })?;
    note("pipelines: from a warm cache", warm);
    Ok(())
}
