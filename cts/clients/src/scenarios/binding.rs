// SPDX-License-Identifier: MIT
//! Buffers bound in every way that sets and layouts allow.

use ash::vk;

use super::{COMBINE, combined, scenario};
use crate::model::{to_bytes, words};
use crate::scenario::Scenario;
use crate::scope::Scope;

pub(super) const SCENARIOS: &[Scenario] = &[
    scenario("binding.storage", storage),
    scenario("binding.parts", parts),
    scenario("binding.uniform", uniform),
    scenario("binding.dynamic", dynamic),
    scenario("binding.arrays", arrays),
    scenario("binding.sparse_numbers", sparse_numbers),
    scenario("binding.many_sets", many_sets),
    scenario("binding.rebinding", rebinding),
    scenario("binding.pool_reuse", pool_reuse),
];

const STORAGE: vk::DescriptorType = vk::DescriptorType::STORAGE_BUFFER;
const UNIFORM: vk::DescriptorType = vk::DescriptorType::UNIFORM_BUFFER;
const NO_FLAGS: vk::DescriptorSetLayoutCreateFlags = vk::DescriptorSetLayoutCreateFlags::empty();
const COMPUTE: vk::PipelineBindPoint = vk::PipelineBindPoint::COMPUTE;

unsafe fn storage(s: &Scope<'_>) -> anyhow::Result<()> {
    let (a, b) = (words(1, 1024), words(2, 1024));
    let buffers = [s.buffer_of(&a)?, s.buffer_of(&b)?, s.buffer(4096)?];
    let kernel = s.kernel(COMBINE, 3, 0)?;
    s.run(&kernel, &buffers.each_ref(), 32)?;
    let expected = to_bytes(&combined(&a, &b));
    s.report.expect("c", buffers[2].bytes(), &expected)
}

/// Three parts of one buffer, at offsets of the least alignment, and lengths that shaders ask for.
unsafe fn parts(s: &Scope<'_>) -> anyhow::Result<()> {
    let align = s.gpu.properties.limits.min_storage_buffer_offset_alignment;
    let align = align.max(16);
    let buffer = s.buffer(16 * align + 4096)?;
    buffer.write(0, &to_bytes(&words(3, buffer.size as usize / 4)));
    let lengths = s.buffer(64)?;
    let kernel = s.kernel(
        "
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer A { uint a[]; };
layout(set = 0, binding = 1) buffer B { uint first; uvec3 b[]; };
layout(set = 0, binding = 2) buffer C { uint lengths[]; };
void main() {
    lengths[0] = a.length();
    lengths[1] = b.length();
    lengths[2] = lengths.length();
    lengths[3] = a[0];
    lengths[4] = first;
    lengths[5] = b[1].z;
}
",
        3,
        0,
    )?;
    let set = s.set(kernel.set_layout)?;
    s.write(set, 0, STORAGE, 0, &[buffer.part(align, 52)]);
    s.write(set, 1, STORAGE, 0, &[buffer.part(3 * align, 100)]);
    s.write(set, 2, STORAGE, 0, &[lengths.whole()]);
    let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
    s.dispatch(commands, &kernel, set, 1);
    s.finish(commands)?;
    let all = buffer.words();
    let word = |byte: u64| all[byte as usize / 4];
    let mut expected = vec![0; 16];
    // uvec3 elements lie 16 bytes apart, from byte 16 on: (100 - 16) / 16.
    expected[..6].copy_from_slice(&[
        13,
        5,
        16,
        word(align),
        word(3 * align),
        word(3 * align + 40),
    ]);
    s.report
        .expect("lengths", lengths.bytes(), &to_bytes(&expected))
}

unsafe fn uniform(s: &Scope<'_>) -> anyhow::Result<()> {
    let align = s.gpu.properties.limits.min_uniform_buffer_offset_alignment;
    let offset = align.max(64);
    let input = words(4, 4096);
    let (source, result) = (s.buffer_of(&input)?, s.buffer(4096)?);
    let layout = s.set_layout(
        &[(0, UNIFORM, 1), (1, STORAGE, 1), (2, UNIFORM, 1)],
        NO_FLAGS,
    )?;
    let pipeline_layout = s.pipeline_layout(&[layout], 0)?;
    let pipeline = s.pipeline(
        "
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) uniform A { uvec4 a[256]; };
layout(set = 0, binding = 1) buffer R { uvec4 result[]; };
layout(set = 0, binding = 2) uniform B { uvec4 b; uint c; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    result[i] = a[i].wzyx * b + c;
}
",
        pipeline_layout,
    )?;
    let set = s.set(layout)?;
    s.write(set, 0, UNIFORM, 0, &[source.part(offset, 4096)]);
    s.write(set, 1, STORAGE, 0, &[result.whole()]);
    s.write(set, 2, UNIFORM, 0, &[source.part(8192, 32)]);
    let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
    let device = s.device();
    device.cmd_bind_pipeline(commands, COMPUTE, pipeline);
    device.cmd_bind_descriptor_sets(commands, COMPUTE, pipeline_layout, 0, &[set], &[]);
    device.cmd_dispatch(commands, 4, 1, 1);
    s.finish(commands)?;
    let (b, c) = (&input[2048..2052], input[2052]);
    let first = offset as usize / 4;
    let expected: Vec<u32> = (0..1024)
        .map(|i| {
            let swapped = input[first + (i & !3) + (3 - (i & 3))];
            swapped.wrapping_mul(b[i & 3]).wrapping_add(c)
        })
        .collect();
    s.report
        .expect("result", result.bytes(), &to_bytes(&expected))
}

/// Dynamic uniform and storage buffers in two sets, rebound with other offsets.
unsafe fn dynamic(s: &Scope<'_>) -> anyhow::Result<()> {
    let (storage, uniform) = (
        vk::DescriptorType::STORAGE_BUFFER_DYNAMIC,
        vk::DescriptorType::UNIFORM_BUFFER_DYNAMIC,
    );
    let step = 256_u32;
    let input = words(5, 2048);
    let (source, result) = (s.buffer_of(&input)?, s.buffer(8192)?);
    // Bindings in no order; offsets go by binding number, sets in turn.
    let first = s.set_layout(
        &[(3, storage, 1), (1, uniform, 2), (2, STORAGE, 1)],
        NO_FLAGS,
    )?;
    let second = s.set_layout(&[(0, storage, 1)], NO_FLAGS)?;
    let layout = s.pipeline_layout(&[first, second], 0)?;
    let pipeline = s.pipeline(
        "
layout(local_size_x = 32) in;
layout(set = 0, binding = 1) uniform U { uint u[4]; } us[2];
layout(set = 0, binding = 2) buffer F { uint fixed_[]; };
layout(set = 0, binding = 3) buffer S { uint s[]; };
layout(set = 1, binding = 0) buffer R { uint r[]; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    r[i] = us[0].u[0] + us[1].u[0] * 3u + s[i] * 5u + fixed_[i] * 7u;
}
",
        layout,
    )?;
    let (set, results) = (s.set(first)?, s.set(second)?);
    s.write(
        set,
        1,
        uniform,
        0,
        &[source.part(0, 64), source.part(1024, 64)],
    );
    s.write(set, 2, STORAGE, 0, &[source.part(0, 256)]);
    s.write(set, 3, storage, 0, &[source.part(512, 128)]);
    s.write(results, 0, storage, 0, &[result.part(0, 128)]);
    let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
    let device = s.device();
    device.cmd_bind_pipeline(commands, COMPUTE, pipeline);
    let mut expected = vec![0_u32; 2048];
    for round in 0..8_u32 {
        let offsets = [round, 2 * round, 7 - round].map(|steps| steps * step);
        let to = round * step;
        if round % 2 == 0 {
            let all = [offsets[0], offsets[1], offsets[2], to];
            device.cmd_bind_descriptor_sets(commands, COMPUTE, layout, 0, &[set, results], &all);
        } else {
            device.cmd_bind_descriptor_sets(commands, COMPUTE, layout, 1, &[results], &[to]);
            device.cmd_bind_descriptor_sets(commands, COMPUTE, layout, 0, &[set], &offsets);
        }
        device.cmd_dispatch(commands, 1, 1, 1);
        let at = |byte: u32| input[byte as usize / 4];
        for i in 0..32 {
            expected[(to / 4 + i) as usize] = at(offsets[0])
                .wrapping_add(at(1024 + offsets[1]).wrapping_mul(3))
                .wrapping_add(at(512 + offsets[2] + 4 * i).wrapping_mul(5))
                .wrapping_add(at(4 * i).wrapping_mul(7));
        }
    }
    s.finish(commands)?;
    s.report
        .expect("result", result.bytes(), &to_bytes(&expected))
}

/// Arrays of storage and uniform buffers, indexed alike by all invocations of a workgroup.
unsafe fn arrays(s: &Scope<'_>) -> anyhow::Result<()> {
    crate::gpu::require(
        s.gpu.features.storage_buffer_array_dynamic_indexing,
        "shaderStorageBufferArrayDynamicIndexing",
    )?;
    let layout = s.set_layout(
        &[(0, STORAGE, 8), (1, UNIFORM, 8), (2, STORAGE, 1)],
        NO_FLAGS,
    )?;
    let pipeline_layout = s.pipeline_layout(&[layout], 0)?;
    let pipeline = s.pipeline(
        "
layout(local_size_x = 32) in;
layout(set = 0, binding = 0) buffer A { uint a[]; } as[8];
layout(set = 0, binding = 1) uniform B { uvec4 b[8]; } bs[8];
layout(set = 0, binding = 2) buffer R { uint r[]; };
void main() {
    uint g = gl_WorkGroupID.x, l = gl_LocalInvocationIndex;
    r[gl_GlobalInvocationID.x] = as[g].a[l] + bs[7u - g].b[l / 4][l & 3] + uint(as[g].a.length());
}
",
        pipeline_layout,
    )?;
    let set = s.set(layout)?;
    let mut inputs = Vec::new();
    for element in 0..8 {
        let input = words(10 + element, 32 + 4 * element as usize);
        let buffer = s.buffer_of(&input)?;
        s.write(set, 0, STORAGE, element, &[buffer.whole()]);
        s.write(set, 1, UNIFORM, element, &[buffer.part(0, 128)]);
        inputs.push(input);
    }
    let result = s.buffer(1024)?;
    s.write(set, 2, STORAGE, 0, &[result.whole()]);
    let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
    let device = s.device();
    device.cmd_bind_pipeline(commands, COMPUTE, pipeline);
    device.cmd_bind_descriptor_sets(commands, COMPUTE, pipeline_layout, 0, &[set], &[]);
    device.cmd_dispatch(commands, 8, 1, 1);
    s.finish(commands)?;
    let expected: Vec<u32> = (0..256)
        .map(|i| {
            let (g, l) = (i / 32, i % 32);
            let length = inputs[g].len() as u32;
            let sum = inputs[g][l].wrapping_add(inputs[7 - g][l]);
            sum.wrapping_add(length)
        })
        .collect();
    s.report
        .expect("result", result.bytes(), &to_bytes(&expected))
}

/// Binding numbers with gaps, bindings without descriptors, and one write that runs over into the
/// bindings that follow.
unsafe fn sparse_numbers(s: &Scope<'_>) -> anyhow::Result<()> {
    let bindings = [
        (40, STORAGE, 2),
        (7, STORAGE, 1),
        (9, UNIFORM, 0),
        (1000, STORAGE, 1),
    ];
    let layout = s.set_layout(&bindings, NO_FLAGS)?;
    let pipeline_layout = s.pipeline_layout(&[layout], 0)?;
    let pipeline = s.pipeline(
        "
layout(local_size_x = 32) in;
layout(set = 0, binding = 7) buffer A { uint a[]; };
layout(set = 0, binding = 40) buffer B { uint b[]; } bs[2];
layout(set = 0, binding = 1000) buffer C { uint c[]; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    c[i] = a[i] + bs[0].b[i] * 3u + bs[1].b[i] * 5u;
}
",
        pipeline_layout,
    )?;
    let inputs: Vec<Vec<u32>> = (0..3).map(|seed| words(20 + seed, 64)).collect();
    let mut infos = Vec::new();
    for input in &inputs {
        infos.push(s.buffer_of(input)?.whole());
    }
    let result = s.buffer(256)?;
    let set = s.set(layout)?;
    // Binding 9 is empty, so elements from 40 on follow those of 7.
    s.write(set, 7, STORAGE, 0, &infos[..1]);
    s.write(set, 40, STORAGE, 0, &infos[1..]);
    s.write(set, 1000, STORAGE, 0, &[result.whole()]);
    let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
    let device = s.device();
    device.cmd_bind_pipeline(commands, COMPUTE, pipeline);
    device.cmd_bind_descriptor_sets(commands, COMPUTE, pipeline_layout, 0, &[set], &[]);
    device.cmd_dispatch(commands, 2, 1, 1);
    s.finish(commands)?;
    let expected: Vec<u32> = (0..64)
        .map(|i| {
            let sum = inputs[0][i].wrapping_add(inputs[1][i].wrapping_mul(3));
            sum.wrapping_add(inputs[2][i].wrapping_mul(5))
        })
        .collect();
    s.report
        .expect("result", result.bytes(), &to_bytes(&expected))
}

/// As many sets as there must be, with a gap in the layout, bound in pieces.
unsafe fn many_sets(s: &Scope<'_>) -> anyhow::Result<()> {
    let layout = s.set_layout(&[(0, STORAGE, 1)], NO_FLAGS)?;
    let empty = s.set_layout(&[], NO_FLAGS)?;
    let pipeline_layout = s.pipeline_layout(&[layout, empty, layout, layout], 0)?;
    let pipeline = s.pipeline(
        "
layout(local_size_x = 32) in;
layout(set = 0, binding = 0) buffer A { uint a[]; };
layout(set = 2, binding = 0) buffer B { uint b[]; };
layout(set = 3, binding = 0) buffer C { uint c[]; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    c[i] = a[i] - b[i];
}
",
        pipeline_layout,
    )?;
    let (a, b) = (words(30, 32), words(31, 32));
    let buffers = [s.buffer_of(&a)?, s.buffer_of(&b)?, s.buffer(128)?];
    let mut sets = Vec::new();
    for buffer in &buffers {
        let set = s.set(layout)?;
        s.write(set, 0, STORAGE, 0, &[buffer.whole()]);
        sets.push(set);
    }
    let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
    let device = s.device();
    device.cmd_bind_descriptor_sets(commands, COMPUTE, pipeline_layout, 2, &sets[1..], &[]);
    device.cmd_bind_pipeline(commands, COMPUTE, pipeline);
    device.cmd_bind_descriptor_sets(commands, COMPUTE, pipeline_layout, 0, &sets[..1], &[]);
    device.cmd_dispatch(commands, 1, 1, 1);
    s.finish(commands)?;
    let pairs = a.iter().zip(&b);
    let expected: Vec<u32> = pairs.map(|(a, b)| a.wrapping_sub(*b)).collect();
    s.report
        .expect("c", buffers[2].bytes(), &to_bytes(&expected))
}

/// Sets stay bound across pipelines whose layouts are alike up to them; copies between sets.
unsafe fn rebinding(s: &Scope<'_>) -> anyhow::Result<()> {
    let layout = s.set_layout(&[(0, STORAGE, 1)], NO_FLAGS)?;
    let other = s.set_layout(&[(0, STORAGE, 1), (1, UNIFORM, 1)], NO_FLAGS)?;
    let short = s.pipeline_layout(&[layout], 0)?;
    let long = s.pipeline_layout(&[layout, other], 0)?;
    let add = s.pipeline(
        "
layout(local_size_x = 32) in;
layout(set = 0, binding = 0) buffer A { uint a[]; };
layout(set = 1, binding = 0) buffer B { uint b[]; };
layout(set = 1, binding = 1) uniform C { uint c; };
void main() { uint i = gl_GlobalInvocationID.x; a[i] += b[i] * c; }
",
        long,
    )?;
    let increment = s.pipeline(super::INCREMENT, short)?;
    let (a, b, c) = (words(32, 32), words(33, 32), words(34, 16));
    let buffers = [s.buffer_of(&a)?, s.buffer_of(&b)?, s.buffer_of(&c)?];
    let (first, second, copy) = (s.set(layout)?, s.set(other)?, s.set(other)?);
    s.write(first, 0, STORAGE, 0, &[buffers[0].whole()]);
    s.write(second, 0, STORAGE, 0, &[buffers[1].whole()]);
    s.write(second, 1, UNIFORM, 0, &[buffers[2].whole()]);
    let device = s.device();
    let copies = [0, 1].map(|binding| {
        vk::CopyDescriptorSet::default()
            .src_set(second)
            .src_binding(binding)
            .dst_set(copy)
            .dst_binding(binding)
            .descriptor_count(1)
    });
    device.update_descriptor_sets(&[], &copies);
    let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
    device.cmd_bind_descriptor_sets(commands, COMPUTE, long, 0, &[first, copy], &[]);
    for round in 0..6 {
        let pipeline = if round % 2 == 0 { add } else { increment };
        device.cmd_bind_pipeline(commands, COMPUTE, pipeline);
        device.cmd_dispatch(commands, 1, 1, 1);
        s.barrier(commands);
    }
    s.finish(commands)?;
    let expected: Vec<u32> = (0..32)
        .map(|i| {
            let once = b[i].wrapping_mul(c[0]).wrapping_add(1);
            a[i].wrapping_add(once.wrapping_mul(3))
        })
        .collect();
    s.report
        .expect("a", buffers[0].bytes(), &to_bytes(&expected))
}

/// Sets freed one by one and by resets; a pool that is full says so and then has room again.
unsafe fn pool_reuse(s: &Scope<'_>) -> anyhow::Result<()> {
    let kernel = s.kernel(super::INCREMENT, 1, 0)?;
    let pool = s.pool(8, 8, vk::DescriptorPoolCreateFlags::FREE_DESCRIPTOR_SET)?;
    let device = s.device();
    let allocate = |count: usize| {
        let layouts = vec![kernel.set_layout; count];
        let info = vk::DescriptorSetAllocateInfo::default()
            .descriptor_pool(pool)
            .set_layouts(&layouts);
        device.allocate_descriptor_sets(&info)
    };
    let buffer = s.buffer(128)?;
    let mut runs = 0_u32;
    let mut sets = allocate(8)?;
    for round in 0..20 {
        if round == 10 {
            device.reset_descriptor_pool(pool, vk::DescriptorPoolResetFlags::empty())?;
            sets = allocate(8)?;
        }
        let set = sets.remove(round % sets.len());
        s.write(set, 0, STORAGE, 0, &[buffer.whole()]);
        let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
        s.dispatch(commands, &kernel, set, 1);
        s.finish(commands)?;
        runs += 1;
        device.free_descriptor_sets(pool, &[set])?;
        sets.push(allocate(1)?[0]);
    }
    s.report
        .expect("buffer", buffer.bytes(), &to_bytes(&[runs; 32]))
}
