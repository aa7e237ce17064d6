// SPDX-License-Identifier: MIT
//! Command buffers: secondary ones, several runs at once, resets, many.

use ash::vk;

use super::{STEP, scenario, stepped};
use crate::model::to_bytes;
use crate::scenario::Scenario;
use crate::scope::{Buffer, Kernel, Scope};

pub(super) const SCENARIOS: &[Scenario] = &[
    scenario("command.secondary", secondary),
    scenario("command.secondary_state", secondary_state),
    scenario("command.simultaneous", simultaneous),
    scenario("command.resubmit", resubmit),
    scenario("command.pool_reset", pool_reset),
    scenario("command.buffer_reset", buffer_reset),
    scenario("command.free", free),
    scenario("command.long", long),
    scenario("command.destroyed_early", destroyed_early),
];

type Usage = vk::CommandBufferUsageFlags;
const COMPUTE: vk::PipelineBindPoint = vk::PipelineBindPoint::COMPUTE;
const STAGE: vk::ShaderStageFlags = vk::ShaderStageFlags::COMPUTE;

unsafe fn stepper(s: &Scope<'_>) -> anyhow::Result<(Kernel, Buffer, vk::DescriptorSet)> {
    let kernel = s.kernel(STEP, 1, 4)?;
    let values = s.buffer(4096)?;
    let set = s.bind(&kernel, &[&values])?;
    Ok((kernel, values, set))
}

unsafe fn step(
    s: &Scope<'_>,
    commands: vk::CommandBuffer,
    kernel: &Kernel,
    set: vk::DescriptorSet,
    add: u32,
) {
    let constant = add.to_le_bytes();
    s.device()
        .cmd_push_constants(commands, kernel.layout, STAGE, 0, &constant);
    s.dispatch(commands, kernel, set, 32);
    s.barrier(commands);
}

fn expect(s: &Scope<'_>, name: &str, values: &Buffer, adds: &[u32]) -> anyhow::Result<()> {
    let value = stepped(0, adds.iter().copied());
    s.report
        .expect(name, values.bytes(), &to_bytes(&[value; 1024]))
}

unsafe fn begin_secondary(
    s: &Scope<'_>,
    commands: vk::CommandBuffer,
    usage: Usage,
) -> anyhow::Result<()> {
    let inheritance = vk::CommandBufferInheritanceInfo::default();
    let info = vk::CommandBufferBeginInfo::default()
        .flags(usage)
        .inheritance_info(&inheritance);
    Ok(s.device().begin_command_buffer(commands, &info)?)
}

/// Secondary command buffers, several in one command, one of them twice, with commands between.
unsafe fn secondary(s: &Scope<'_>) -> anyhow::Result<()> {
    let (kernel, values, set) = stepper(s)?;
    let pool = s.command_pool(vk::CommandPoolCreateFlags::empty())?;
    let secondary = s.allocate(pool, vk::CommandBufferLevel::SECONDARY, 3)?;
    let device = s.device();
    for (index, commands) in secondary.iter().enumerate() {
        begin_secondary(s, *commands, Usage::SIMULTANEOUS_USE)?;
        step(s, *commands, &kernel, set, 10 + index as u32);
        device.end_command_buffer(*commands)?;
    }
    let primary = s.commands(Usage::SIMULTANEOUS_USE)?;
    step(s, primary, &kernel, set, 1);
    device.cmd_execute_commands(primary, &[secondary[0], secondary[1], secondary[0]]);
    step(s, primary, &kernel, set, 2);
    device.cmd_execute_commands(primary, &[secondary[2]]);
    device.cmd_execute_commands(primary, &secondary);
    s.finish(primary)?;
    expect(s, "values", &values, &[1, 10, 11, 10, 2, 12, 10, 11, 12])
}

/// A secondary command buffer has no state of its caller, which has none afterwards.
unsafe fn secondary_state(s: &Scope<'_>) -> anyhow::Result<()> {
    let (kernel, values, set) = stepper(s)?;
    let (other, other_values, other_set) = stepper(s)?;
    let pool = s.command_pool(vk::CommandPoolCreateFlags::empty())?;
    let secondary = s.allocate(pool, vk::CommandBufferLevel::SECONDARY, 1)?[0];
    begin_secondary(s, secondary, Usage::ONE_TIME_SUBMIT)?;
    step(s, secondary, &other, other_set, 5);
    s.device().end_command_buffer(secondary)?;
    let primary = s.commands(Usage::ONE_TIME_SUBMIT)?;
    step(s, primary, &kernel, set, 1);
    s.device().cmd_execute_commands(primary, &[secondary]);
    step(s, primary, &kernel, set, 2);
    s.finish(primary)?;
    expect(s, "values", &values, &[1, 2])?;
    expect(s, "other", &other_values, &[5])
}

/// One command buffer several times in a batch and while it is pending.
unsafe fn simultaneous(s: &Scope<'_>) -> anyhow::Result<()> {
    let (kernel, values, set) = stepper(s)?;
    let commands = s.commands(Usage::SIMULTANEOUS_USE)?;
    s.barrier(commands);
    step(s, commands, &kernel, set, 3);
    s.device().end_command_buffer(commands)?;
    let batch = [commands, commands];
    let submits = [vk::SubmitInfo::default().command_buffers(&batch); 2];
    for _ in 0..5 {
        s.device()
            .queue_submit(s.gpu.queue, &submits, vk::Fence::null())?;
    }
    s.submit(&[commands])?;
    expect(s, "values", &values, &[3; 21])
}

/// A command buffer again and again, each time finished before.
unsafe fn resubmit(s: &Scope<'_>) -> anyhow::Result<()> {
    let (kernel, values, set) = stepper(s)?;
    let commands = s.commands(Usage::empty())?;
    step(s, commands, &kernel, set, 4);
    s.device().end_command_buffer(commands)?;
    for _ in 0..10 {
        s.submit(&[commands])?;
    }
    expect(s, "values", &values, &[4; 10])
}

/// Pools reset and recorded anew, with their memory kept and given back; trimmed.
unsafe fn pool_reset(s: &Scope<'_>) -> anyhow::Result<()> {
    let (kernel, values, set) = stepper(s)?;
    let pool = s.command_pool(vk::CommandPoolCreateFlags::TRANSIENT)?;
    let buffers = s.allocate(pool, vk::CommandBufferLevel::PRIMARY, 3)?;
    let mut adds = Vec::new();
    for round in 0..12_u32 {
        for (index, commands) in buffers.iter().enumerate() {
            s.begin(*commands, Usage::ONE_TIME_SUBMIT)?;
            // Longer and shorter in turn.
            for repeat in 0..=(round % 3) * 20 {
                let add = 100 * round + 10 * index as u32 + repeat;
                step(s, *commands, &kernel, set, add);
                adds.push(add);
            }
            s.device().end_command_buffer(*commands)?;
        }
        s.submit(&buffers)?;
        let flags = if round % 2 == 0 {
            vk::CommandPoolResetFlags::empty()
        } else {
            vk::CommandPoolResetFlags::RELEASE_RESOURCES
        };
        s.device().reset_command_pool(pool, flags)?;
        s.device()
            .trim_command_pool(pool, vk::CommandPoolTrimFlags::empty());
    }
    expect(s, "values", &values, &adds)
}

/// Command buffers reset by themselves, by the command and by recording again; recordings that
/// are thrown away.
unsafe fn buffer_reset(s: &Scope<'_>) -> anyhow::Result<()> {
    let (kernel, values, set) = stepper(s)?;
    let pool = s.command_pool(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER)?;
    let commands = s.allocate(pool, vk::CommandBufferLevel::PRIMARY, 1)?[0];
    let device = s.device();
    let mut adds = Vec::new();
    for round in 0..10 {
        s.begin(commands, Usage::ONE_TIME_SUBMIT)?;
        if round % 3 == 1 {
            step(s, commands, &kernel, set, 77);
            device.reset_command_buffer(commands, vk::CommandBufferResetFlags::empty())?;
            s.begin(commands, Usage::ONE_TIME_SUBMIT)?;
        }
        step(s, commands, &kernel, set, round);
        adds.push(round);
        device.end_command_buffer(commands)?;
        s.submit(&[commands])?;
        if round % 3 == 0 {
            let flags = vk::CommandBufferResetFlags::RELEASE_RESOURCES;
            device.reset_command_buffer(commands, flags)?;
        }
    }
    expect(s, "values", &values, &adds)
}

/// Command buffers freed one by one, in another order, while others of the pool are kept.
unsafe fn free(s: &Scope<'_>) -> anyhow::Result<()> {
    let (kernel, values, set) = stepper(s)?;
    let pool = s.command_pool(vk::CommandPoolCreateFlags::empty())?;
    let mut kept = s.allocate(pool, vk::CommandBufferLevel::PRIMARY, 8)?;
    let mut adds = Vec::new();
    for round in 0..16_u32 {
        let commands = kept.remove((5 * round as usize) % kept.len());
        s.begin(commands, Usage::ONE_TIME_SUBMIT)?;
        step(s, commands, &kernel, set, round);
        adds.push(round);
        s.device().end_command_buffer(commands)?;
        s.submit(&[commands])?;
        s.device()
            .free_command_buffers(pool, &[commands, vk::CommandBuffer::null()]);
        kept.extend(s.allocate(pool, vk::CommandBufferLevel::PRIMARY, 1)?);
    }
    expect(s, "values", &values, &adds)
}

/// Thousands of commands in one command buffer, with other state for each dispatch.
unsafe fn long(s: &Scope<'_>) -> anyhow::Result<()> {
    let kernel = s.kernel(
        "
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer R { uint r[]; };
layout(push_constant) uniform P { uint at, value; };
void main() { r[at] = r[at] * 3u + value; }
",
        1,
        8,
    )?;
    let buffers = [s.buffer(4096)?, s.buffer(4096)?];
    let sets = [
        s.bind(&kernel, &[&buffers[0]])?,
        s.bind(&kernel, &[&buffers[1]])?,
    ];
    let commands = s.commands(Usage::ONE_TIME_SUBMIT)?;
    let device = s.device();
    device.cmd_bind_pipeline(commands, COMPUTE, kernel.pipeline);
    let mut expected = [vec![0_u32; 1024], vec![0_u32; 1024]];
    let count = 5000_u32;
    for index in 0..count {
        let which = (index % 3 == 0) as usize;
        let at = index % 1024;
        if index > 0 && at == 0 {
            s.barrier(commands);
        }
        let constants = to_bytes(&[at, index]);
        device.cmd_bind_descriptor_sets(commands, COMPUTE, kernel.layout, 0, &[sets[which]], &[]);
        device.cmd_push_constants(commands, kernel.layout, STAGE, 0, &constants);
        device.cmd_dispatch(commands, 1, 1, 1);
        let value = &mut expected[which][at as usize];
        *value = value.wrapping_mul(3).wrapping_add(index);
    }
    s.finish(commands)?;
    s.report
        .expect("first", buffers[0].bytes(), &to_bytes(&expected[0]))?;
    s.report
        .expect("second", buffers[1].bytes(), &to_bytes(&expected[1]))
}

/// What was only needed for recording is destroyed before the commands run: shader modules,
/// layouts, templates of pipelines.
unsafe fn destroyed_early(s: &Scope<'_>) -> anyhow::Result<()> {
    let values = s.buffer(4096)?;
    let device = s.device();
    let bindings = [vk::DescriptorSetLayoutBinding::default()
        .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
        .descriptor_count(1)
        .stage_flags(STAGE)];
    let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
    let set_layout = device.create_descriptor_set_layout(&info, None)?;
    let set = s.set(set_layout)?;
    let whole = [values.whole()];
    s.write(set, 0, vk::DescriptorType::STORAGE_BUFFER, 0, &whole);
    let layouts = [set_layout];
    let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&layouts);
    let layout = device.create_pipeline_layout(&info, None)?;
    let words = crate::shader::glsl(super::INCREMENT)?;
    let info = vk::ShaderModuleCreateInfo::default().code(&words);
    let module = device.create_shader_module(&info, None)?;
    let stage = vk::PipelineShaderStageCreateInfo::default()
        .stage(STAGE)
        .module(module)
        .name(c"main");
    let info = vk::ComputePipelineCreateInfo::default()
        .stage(stage)
        .layout(layout);
    let pipeline = device
        .create_compute_pipelines(vk::PipelineCache::null(), &[info], None)
        .map_err(|(_, error)| error)?[0];
    s.at_end(move |device| device.destroy_pipeline(pipeline, None));
    device.destroy_shader_module(module, None);
    let commands = s.commands(Usage::ONE_TIME_SUBMIT)?;
    device.cmd_bind_pipeline(commands, COMPUTE, pipeline);
    device.cmd_bind_descriptor_sets(commands, COMPUTE, layout, 0, &[set], &[]);
    device.cmd_dispatch(commands, 32, 1, 1);
    s.barrier(commands);
    device.end_command_buffer(commands)?;
    // Set layouts may go while sets of them live; a pipeline layout once recording is over.
    device.destroy_pipeline_layout(layout, None);
    device.destroy_descriptor_set_layout(set_layout, None);
    s.submit(&[commands])?;
    s.report
        .expect("values", values.bytes(), &to_bytes(&[1; 1024]))
}
