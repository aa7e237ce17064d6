// SPDX-License-Identifier: MIT
//! Buffer device addresses.

use ash::vk;

use super::scenario;
use crate::gpu::require;
use crate::model::{to_bytes, words};
use crate::scenario::Scenario;
use crate::scope::{Buffer, Scope, USAGE};

pub(super) const SCENARIOS: &[Scenario] = &[
    scenario("address.push", push),
    scenario("address.list", list),
];

const COMPUTE: vk::PipelineBindPoint = vk::PipelineBindPoint::COMPUTE;

unsafe fn addressed(s: &Scope<'_>, words: &[u32]) -> anyhow::Result<(Buffer, u64)> {
    require(s.gpu.features.buffer_device_address, "bufferDeviceAddress")?;
    let usage = USAGE | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS;
    let buffer = s.buffer_for(4 * words.len() as u64, usage)?;
    buffer.write(0, &to_bytes(words));
    let info = vk::BufferDeviceAddressInfo::default().buffer(buffer.handle);
    let address = s.device().get_buffer_device_address(&info);
    anyhow::ensure!(
        address != 0 && address.is_multiple_of(16),
        "an address of {address:#x}"
    );
    Ok((buffer, address))
}

/// Addresses in push constants, without any descriptor.
unsafe fn push(s: &Scope<'_>) -> anyhow::Result<()> {
    let input = words(100, 256);
    let (_, from) = addressed(s, &input)?;
    let (result, to) = addressed(s, &[0; 256])?;
    let layout = s.pipeline_layout(&[], 24)?;
    let pipeline = s.pipeline(
        "
layout(local_size_x = 64) in;
layout(buffer_reference, scalar) buffer Words { uint w[]; };
layout(push_constant, scalar) uniform P { Words from, to; uint last; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    to.w[i] = from.w[last - i] ^ i;
}
",
        layout,
    )?;
    let mut constants = [from.to_le_bytes(), to.to_le_bytes()].concat();
    constants.extend(255_u32.to_le_bytes());
    let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
    let device = s.device();
    device.cmd_bind_pipeline(commands, COMPUTE, pipeline);
    let stages = vk::ShaderStageFlags::COMPUTE;
    device.cmd_push_constants(commands, layout, stages, 0, &constants);
    device.cmd_dispatch(commands, 4, 1, 1);
    s.finish(commands)?;
    let expected: Vec<u32> = (0..256_u32).map(|i| input[255 - i as usize] ^ i).collect();
    s.report
        .expect("result", result.bytes(), &to_bytes(&expected))
}

/// A linked list through several buffers, whose nodes hold addresses.
unsafe fn list(s: &Scope<'_>) -> anyhow::Result<()> {
    require(s.gpu.features.shader_int64, "shaderInt64")?;
    let values = words(101, 40);
    let mut next = 0_u64;
    for value in values.iter().rev() {
        let node = [next as u32, (next >> 32) as u32, *value, 0];
        next = addressed(s, &node)?.1;
    }
    let head = s.buffer_of(&[next as u32, (next >> 32) as u32])?;
    let result = s.buffer(512)?;
    let kernel = s.kernel(
        "
layout(local_size_x = 1) in;
layout(buffer_reference) buffer Node;
layout(buffer_reference, std430, buffer_reference_align = 16) buffer Node {
    Node next;
    uint value;
};
layout(set = 0, binding = 0) buffer Head { Node head; };
layout(set = 0, binding = 1) buffer Result { uint r[]; };
void main() {
    uint count = 0;
    for (Node node = head; uint64_t(node) != 0; node = node.next)
        r[++count] = node.value;
    r[0] = count;
}
",
        2,
        0,
    )?;
    s.run(&kernel, &[&head, &result], 1)?;
    let mut expected = vec![40];
    expected.extend(values);
    expected.resize(128, 0);
    s.report
        .expect("result", result.bytes(), &to_bytes(&expected))
}
