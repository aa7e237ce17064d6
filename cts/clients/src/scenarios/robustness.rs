// SPDX-License-Identifier: MIT
//! Accesses outside of buffers.

use anyhow::ensure;
use ash::vk;

use super::scenario;
use crate::gpu::require;
use crate::model::{to_bytes, words};
use crate::scenario::Scenario;
use crate::scope::Scope;

pub(super) const SCENARIOS: &[Scenario] = &[
    scenario("robustness.storage", storage),
    scenario("robustness.uniform", uniform),
    scenario("robustness.neighbours", neighbours),
];

const STORAGE: vk::DescriptorType = vk::DescriptorType::STORAGE_BUFFER;
const UNIFORM: vk::DescriptorType = vk::DescriptorType::UNIFORM_BUFFER;
const NO_FLAGS: vk::DescriptorSetLayoutCreateFlags = vk::DescriptorSetLayoutCreateFlags::empty();

/// Bytes that descriptors show: a multiple of every alignment that robustness may have.
const RANGE: u64 = 256;

/// Indices near, far and so far that their bytes wrap around.
const INDICES: &str = "
uint where(uint i) {
    uint w[8] = uint[](i, 63u, 64u, 65u, 1000u, 0x3fffffffu, 0x40000000u, 0xffffffffu);
    return i < 32u ? w[i / 4u] : i;
}
";

fn index(i: u32) -> u32 {
    let w = [i, 63, 64, 65, 1000, 0x3fff_ffff, 0x4000_0000, 0xffff_ffff];
    if i < 32 { w[i as usize / 4] } else { i }
}

/// Reads outside give 0, writes and atomics outside do nothing.
unsafe fn storage(s: &Scope<'_>) -> anyhow::Result<()> {
    require(s.gpu.features.robust_buffer_access2, "robustBufferAccess2")?;
    let input = words(600, 256);
    let (source, target, result) = (s.buffer_of(&input)?, s.buffer(1024)?, s.buffer(1024)?);
    let kernel = s.kernel(
        &format!(
            "layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer A {{ uint a[]; }};
layout(set = 0, binding = 1) buffer B {{ uint b[]; }};
layout(set = 0, binding = 2) buffer R {{ uint r[]; }};
{INDICES}
void main() {{
    uint i = gl_GlobalInvocationID.x;
    r[i] = a[where(i)];
    if (i >= 64u)
        atomicAdd(b[i], 5u);
    else if (where(i) >= 64u)
        b[where(i)] = 9u;
    else if (i >= 32u)
        b[i] = i;
}}"
        ),
        3,
        0,
    )?;
    let set = s.set(kernel.set_layout)?;
    s.write(set, 0, STORAGE, 0, &[source.part(256, RANGE)]);
    s.write(set, 1, STORAGE, 0, &[target.part(256, RANGE)]);
    s.write(set, 2, STORAGE, 0, &[result.whole()]);
    let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
    s.dispatch(commands, &kernel, set, 2);
    s.finish(commands)?;
    let mut read = vec![0; 256];
    let mut written = vec![0; 256];
    for i in 0..128_u32 {
        let at = index(i);
        if at < 64 {
            read[i as usize] = input[64 + at as usize];
        }
        if (32..64).contains(&i) {
            written[64 + i as usize] = i;
        }
    }
    s.report.expect("read", result.bytes(), &to_bytes(&read))?;
    s.report
        .expect("written", target.bytes(), &to_bytes(&written))
}

unsafe fn uniform(s: &Scope<'_>) -> anyhow::Result<()> {
    require(s.gpu.features.robust_buffer_access2, "robustBufferAccess2")?;
    let input = words(601, 1024);
    let (source, result) = (s.buffer_of(&input)?, s.buffer(512)?);
    let layout = s.set_layout(&[(0, UNIFORM, 1), (1, STORAGE, 1)], NO_FLAGS)?;
    let pipeline_layout = s.pipeline_layout(&[layout], 0)?;
    let pipeline = s.pipeline(
        "
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) uniform A { uvec4 a[64]; };
layout(set = 0, binding = 1) buffer R { uint r[]; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    r[i] = a[i / 2u][i & 3u];
}
",
        pipeline_layout,
    )?;
    let set = s.set(layout)?;
    s.write(set, 0, UNIFORM, 0, &[source.part(256, RANGE)]);
    s.write(set, 1, STORAGE, 0, &[result.whole()]);
    let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
    let device = s.device();
    let compute = vk::PipelineBindPoint::COMPUTE;
    device.cmd_bind_pipeline(commands, compute, pipeline);
    device.cmd_bind_descriptor_sets(commands, compute, pipeline_layout, 0, &[set], &[]);
    device.cmd_dispatch(commands, 2, 1, 1);
    s.finish(commands)?;
    let value = |i: usize| {
        let at = 4 * (i / 2) + (i & 3);
        if at < 64 { input[64 + at] } else { 0 }
    };
    let expected: Vec<u32> = (0..128).map(value).collect();
    s.report
        .expect("result", result.bytes(), &to_bytes(&expected))
}

/// With the first generation's robustness, too: accesses outside of one buffer leave others alone.
unsafe fn neighbours(s: &Scope<'_>) -> anyhow::Result<()> {
    require(s.gpu.features.robust_buffer_access, "robustBufferAccess")?;
    let device = s.device();
    let buffers = [
        s.bare_buffer(4096, crate::scope::USAGE)?,
        s.bare_buffer(4096, crate::scope::USAGE)?,
        s.bare_buffer(4096, crate::scope::USAGE)?,
    ];
    let needs = device.get_buffer_memory_requirements(buffers[0]);
    let stride = needs.size.next_multiple_of(needs.alignment);
    let host = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
    let info = vk::MemoryAllocateInfo::default()
        .allocation_size(3 * stride)
        .memory_type_index(s.memory_type(needs.memory_type_bits, host)?);
    let memory = device.allocate_memory(&info, None)?;
    s.at_end(move |device| device.free_memory(memory, None));
    for (index, buffer) in buffers.iter().enumerate() {
        device.bind_buffer_memory(*buffer, memory, index as u64 * stride)?;
    }
    let mapped = device
        .map_memory(memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty())?
        .cast::<u8>();
    std::ptr::write_bytes(mapped, 0x11, 3 * stride as usize);
    let kernel = s.kernel(
        "
layout(local_size_x = 64) in;
layout(set = 0, binding = 0) buffer A { uint a[]; };
void main() {
    int i = int(gl_GlobalInvocationID.x);
    a[i - 2048] = 0xffffffffu;
}
",
        1,
        0,
    )?;
    let set = s.set(kernel.set_layout)?;
    let info = vk::DescriptorBufferInfo {
        buffer: buffers[1],
        offset: 0,
        range: vk::WHOLE_SIZE,
    };
    s.write(set, 0, STORAGE, 0, &[info]);
    let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
    s.dispatch(commands, &kernel, set, 64);
    s.finish(commands)?;
    let all = std::slice::from_raw_parts(mapped, 3 * stride as usize);
    let stride = stride as usize;
    for (name, range) in [("before", 0..stride), ("behind", 2 * stride..3 * stride)] {
        ensure!(
            all[range].iter().all(|b| *b == 0x11),
            "the buffer {name} was written"
        );
    }
    let inside = &all[stride..stride + 4096];
    s.report.expect("inside", inside.to_vec(), &[0xff; 4096])
}
