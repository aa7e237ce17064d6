// SPDX-License-Identifier: MIT
//! Dispatches: sizes, base workgroups, parameters in memory.

use ash::vk;

use super::scenario;
use crate::model::to_bytes;
use crate::scenario::Scenario;
use crate::scope::{Kernel, Scope};

pub(super) const SCENARIOS: &[Scenario] = &[
    scenario("dispatch.sizes", sizes),
    scenario("dispatch.base", base),
    scenario("dispatch.indirect", indirect),
    scenario("dispatch.indirect_from_gpu", indirect_from_gpu),
    scenario("dispatch.zero", zero),
    scenario("dispatch.workgroup_atomics", workgroup_atomics),
];

const COMPUTE: vk::PipelineBindPoint = vk::PipelineBindPoint::COMPUTE;

/// Adds to a slot of each invocation what identifies it; `size` is the whole grid in workgroups.
const IDENTITY: &str = "
layout(local_size_x = 4, local_size_y = 2, local_size_z = 3) in;
layout(set = 0, binding = 0) buffer R { uint r[]; };
layout(push_constant) uniform P { uvec3 size; };
void main() {
    uvec3 all = size * gl_WorkGroupSize;
    uvec3 at = gl_GlobalInvocationID;
    uint slot = at.x + all.x * (at.y + all.y * at.z);
    uvec3 g = gl_WorkGroupID, n = gl_NumWorkGroups;
    r[slot] += (g.x + 16 * g.y + 256 * g.z + 4096 * gl_LocalInvocationIndex)
        ^ ((n.x + 16 * n.y + 256 * n.z) << 17);
}
";

/// What the slots hold after a dispatch of `groups` from `base` on in a grid of `size`.
fn identity(slots: &mut [u32], size: [u32; 3], base: [u32; 3], groups: [u32; 3]) {
    let local = [4, 2, 3];
    let all = [0, 1, 2].map(|i| size[i] * local[i]);
    for z in base[2] * 3..(base[2] + groups[2]) * 3 {
        for y in base[1] * 2..(base[1] + groups[1]) * 2 {
            for x in base[0] * 4..(base[0] + groups[0]) * 4 {
                let index = x % 4 + 4 * (y % 2) + 8 * (z % 3);
                let g = x / 4 + 16 * (y / 2) + 256 * (z / 3) + 4096 * index;
                let n = groups[0] + 16 * groups[1] + 256 * groups[2];
                let slot = x + all[0] * (y + all[1] * z);
                let slot = &mut slots[slot as usize];
                *slot = slot.wrapping_add(g ^ (n << 17));
            }
        }
    }
}

const SIZE: [u32; 3] = [5, 4, 3];
const SLOTS: usize = 5 * 4 * 3 * 24;

unsafe fn prepared(
    s: &Scope<'_>,
    flags: vk::PipelineCreateFlags,
) -> anyhow::Result<(Kernel, crate::scope::Buffer, vk::CommandBuffer)> {
    let bindings = [(0, vk::DescriptorType::STORAGE_BUFFER, 1)];
    let set_layout = s.set_layout(&bindings, vk::DescriptorSetLayoutCreateFlags::empty())?;
    let layout = s.pipeline_layout(&[set_layout], 12)?;
    let kernel = Kernel {
        pipeline: s.specialized(IDENTITY, layout, &[], flags)?,
        layout,
        set_layout,
    };
    let slots = s.buffer(4 * SLOTS as u64)?;
    let set = s.bind(&kernel, &[&slots])?;
    let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
    let device = s.device();
    device.cmd_bind_pipeline(commands, COMPUTE, kernel.pipeline);
    device.cmd_bind_descriptor_sets(commands, COMPUTE, kernel.layout, 0, &[set], &[]);
    let stage = vk::ShaderStageFlags::COMPUTE;
    device.cmd_push_constants(commands, kernel.layout, stage, 0, &to_bytes(&SIZE));
    Ok((kernel, slots, commands))
}

unsafe fn sizes(s: &Scope<'_>) -> anyhow::Result<()> {
    let (_, slots, commands) = prepared(s, vk::PipelineCreateFlags::empty())?;
    let mut expected = vec![0; SLOTS];
    for [x, y, z] in [SIZE, [1, 1, 1], [5, 1, 1], [1, 4, 1], [1, 1, 3], [2, 3, 2]] {
        s.device().cmd_dispatch(commands, x, y, z);
        s.barrier(commands);
        identity(&mut expected, SIZE, [0; 3], [x, y, z]);
    }
    s.finish(commands)?;
    s.report
        .expect("slots", slots.bytes(), &to_bytes(&expected))
}

unsafe fn base(s: &Scope<'_>) -> anyhow::Result<()> {
    let (_, slots, commands) = prepared(s, vk::PipelineCreateFlags::DISPATCH_BASE)?;
    let mut expected = vec![0; SLOTS];
    let dispatches = [
        ([0, 0, 0], [2, 2, 2]),
        ([1, 2, 1], [4, 2, 2]),
        ([4, 3, 2], [1, 1, 1]),
        ([0, 0, 2], [5, 4, 1]),
    ];
    for (base, groups) in dispatches {
        let ([bx, by, bz], [x, y, z]) = (base, groups);
        s.device().cmd_dispatch_base(commands, bx, by, bz, x, y, z);
        s.barrier(commands);
        identity(&mut expected, SIZE, base, groups);
    }
    s.finish(commands)?;
    s.report
        .expect("slots", slots.bytes(), &to_bytes(&expected))
}

/// Sizes in memory, with zeros among them, at offsets of 4 bytes.
unsafe fn indirect(s: &Scope<'_>) -> anyhow::Result<()> {
    let (_, slots, commands) = prepared(s, vk::PipelineCreateFlags::empty())?;
    let dispatches = [
        [5, 4, 3],
        [0, 1, 1],
        [1, 2, 3],
        [1, 0, 1],
        [2, 1, 1],
        [3, 3, 0],
    ];
    let mut words = vec![99; 1];
    let mut expected = vec![0; SLOTS];
    for groups in dispatches {
        words.extend(groups);
        identity(&mut expected, SIZE, [0; 3], groups);
    }
    let parameters = s.buffer_of(&words)?;
    for index in 0..dispatches.len() as u64 {
        s.device()
            .cmd_dispatch_indirect(commands, parameters.handle, 4 + 12 * index);
        s.barrier(commands);
    }
    s.finish(commands)?;
    s.report
        .expect("slots", slots.bytes(), &to_bytes(&expected))
}

/// Sizes that a dispatch, a fill and a copy of the same command buffer write.
unsafe fn indirect_from_gpu(s: &Scope<'_>) -> anyhow::Result<()> {
    let writer = s.kernel(
        "
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer P { uint parameters[]; };
void main() {
    parameters[0] = 5u; parameters[1] = 2u; parameters[2] = 3u;
}
",
        1,
        0,
    )?;
    let parameters = s.buffer(64)?;
    let source = s.buffer_of(&[2, 4, 1])?;
    let set = s.set(writer.set_layout)?;
    // No more than it writes: the commands beside it write the rest.
    let storage = vk::DescriptorType::STORAGE_BUFFER;
    s.write(set, 0, storage, 0, &[parameters.part(0, 12)]);
    let (kernel, slots, commands) = prepared(s, vk::PipelineCreateFlags::empty())?;
    let slots_set = s.bind(&kernel, &[&slots])?;
    let device = s.device();
    s.dispatch(commands, &writer, set, 1);
    device.cmd_fill_buffer(commands, parameters.handle, 16, 12, 2);
    let copy = [vk::BufferCopy::default().dst_offset(32).size(12)];
    device.cmd_copy_buffer(commands, source.handle, parameters.handle, &copy);
    s.barrier(commands);
    device.cmd_bind_pipeline(commands, COMPUTE, kernel.pipeline);
    device.cmd_bind_descriptor_sets(commands, COMPUTE, kernel.layout, 0, &[slots_set], &[]);
    let stage = vk::ShaderStageFlags::COMPUTE;
    device.cmd_push_constants(commands, kernel.layout, stage, 0, &to_bytes(&SIZE));
    let mut expected = vec![0; SLOTS];
    for (offset, groups) in [(0, [5, 2, 3]), (16, [2, 2, 2]), (32, [2, 4, 1])] {
        device.cmd_dispatch_indirect(commands, parameters.handle, offset);
        s.barrier(commands);
        identity(&mut expected, SIZE, [0; 3], groups);
    }
    s.finish(commands)?;
    s.report
        .expect("slots", slots.bytes(), &to_bytes(&expected))
}

/// Dispatches without workgroups do nothing, and what follows them runs.
unsafe fn zero(s: &Scope<'_>) -> anyhow::Result<()> {
    let (_, slots, commands) = prepared(s, vk::PipelineCreateFlags::DISPATCH_BASE)?;
    let device = s.device();
    for [x, y, z] in [[0, 1, 1], [1, 0, 1], [1, 1, 0], [0, 0, 0]] {
        device.cmd_dispatch(commands, x, y, z);
        device.cmd_dispatch_base(commands, 1, 1, 1, x, y, z);
    }
    s.barrier(commands);
    device.cmd_dispatch(commands, 1, 1, 1);
    s.finish(commands)?;
    let mut expected = vec![0; SLOTS];
    identity(&mut expected, SIZE, [0; 3], [1; 3]);
    s.report
        .expect("slots", slots.bytes(), &to_bytes(&expected))
}

/// Each workgroup counts in memory of its own, with atomics and without; its result says which it is.
const COUNTS: &str = "
layout(local_size_x = 8, local_size_y = 2) in;
layout(set = 0, binding = 0) buffer R { uint r[]; };
layout(push_constant) uniform P { uvec3 size; };
shared uint sum, last[16];
void main() {
    uint number = gl_LocalInvocationIndex;
    if (number == 0) sum = 0;
    last[number] = gl_WorkGroupID.x * 16 + number;
    barrier();
    atomicAdd(sum, last[15 - number] ^ gl_GlobalInvocationID.y);
    barrier();
    if (number != 0) return;
    uvec3 g = gl_WorkGroupID;
    r[g.x + size.x * (g.y + size.y * g.z)] += sum + (gl_NumWorkGroups.x << 20);
}
";

/// What [`COUNTS`] adds to the slots of a grid.
fn counted(slots: &mut [u32], size: [u32; 3], base: [u32; 3], groups: [u32; 3]) {
    for z in base[2]..base[2] + groups[2] {
        for y in base[1]..base[1] + groups[1] {
            for x in base[0]..base[0] + groups[0] {
                let sum: u32 = (0..16)
                    .map(|n| (x * 16 + 15 - n) ^ (2 * y + n / 8))
                    .fold(0, u32::wrapping_add);
                let slot = &mut slots[(x + size[0] * (y + size[1] * z)) as usize];
                *slot = slot.wrapping_add(sum.wrapping_add(groups[0] << 20));
            }
        }
    }
}

/// More workgroups than run at the same time, with atomics on their variables, directly and from memory.
unsafe fn workgroup_atomics(s: &Scope<'_>) -> anyhow::Result<()> {
    const SIZE: [u32; 3] = [37, 11, 7];
    let bindings = [(0, vk::DescriptorType::STORAGE_BUFFER, 1)];
    let set_layout = s.set_layout(&bindings, vk::DescriptorSetLayoutCreateFlags::empty())?;
    let layout = s.pipeline_layout(&[set_layout], 12)?;
    let slots = s.buffer(4 * SIZE.iter().map(|n| u64::from(*n)).product::<u64>())?;
    let mut expected = vec![0; slots.words().len()];
    let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
    let device = s.device();
    let set = s.set(set_layout)?;
    let storage = vk::DescriptorType::STORAGE_BUFFER;
    s.write(set, 0, storage, 0, &[slots.whole()]);
    device.cmd_bind_descriptor_sets(commands, COMPUTE, layout, 0, &[set], &[]);
    let stage = vk::ShaderStageFlags::COMPUTE;
    device.cmd_push_constants(commands, layout, stage, 0, &to_bytes(&SIZE));
    let pipeline = s.specialized(COUNTS, layout, &[], vk::PipelineCreateFlags::empty())?;
    device.cmd_bind_pipeline(commands, COMPUTE, pipeline);
    let grids = [
        SIZE,
        [3, 0, 5],
        [1, 1, 1],
        [0, 9, 9],
        [30, 11, 7],
        [2, 3, 0],
    ];
    let parameters = s.buffer_of(grids.as_flattened())?;
    for (offset, groups) in (0..).step_by(12).zip(grids) {
        device.cmd_dispatch_indirect(commands, parameters.handle, offset);
        s.barrier(commands);
        counted(&mut expected, SIZE, [0; 3], groups);
    }
    // Behind those from memory: lavapipe adds the last base to what they begin with.
    let based = vk::PipelineCreateFlags::DISPATCH_BASE;
    let pipeline = s.specialized(COUNTS, layout, &[], based)?;
    device.cmd_bind_pipeline(commands, COMPUTE, pipeline);
    for (base, groups) in [
        ([0; 3], SIZE),
        ([5, 3, 1], [2, 1, 4]),
        ([0, 0, 6], [37, 11, 1]),
    ] {
        let ([bx, by, bz], [x, y, z]) = (base, groups);
        device.cmd_dispatch_base(commands, bx, by, bz, x, y, z);
        s.barrier(commands);
        counted(&mut expected, SIZE, base, groups);
    }
    s.finish(commands)?;
    s.report
        .expect("slots", slots.bytes(), &to_bytes(&expected))
}
