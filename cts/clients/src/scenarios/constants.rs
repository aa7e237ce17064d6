// SPDX-License-Identifier: MIT
//! Push constants and specialisation constants.

use ash::vk;

use super::scenario;
use crate::model::{to_bytes, words};
use crate::scenario::Scenario;
use crate::scope::Scope;

pub(super) const SCENARIOS: &[Scenario] = &[
    scenario("constants.push", push),
    scenario("constants.push_across_layouts", push_across_layouts),
    scenario("constants.specialization", specialization),
];

const COMPUTE: vk::PipelineBindPoint = vk::PipelineBindPoint::COMPUTE;
const STAGE: vk::ShaderStageFlags = vk::ShaderStageFlags::COMPUTE;

/// All 128 bytes that there must be, replaced in parts between dispatches.
unsafe fn push(s: &Scope<'_>) -> anyhow::Result<()> {
    let kernel = s.kernel(
        "
layout(local_size_x = 32) in;
layout(set = 0, binding = 0) buffer R { uint r[]; };
layout(push_constant) uniform P { uvec4 p[8]; };
void main() {
    uint i = gl_LocalInvocationIndex;
    uint at = 32u * p[0].x + i;
    r[at] = p[i / 4][i & 3];
}
",
        1,
        128,
    )?;
    let result = s.buffer(4 * 32 * 6)?;
    let set = s.bind(&kernel, &[&result])?;
    let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
    let device = s.device();
    let mut state = words(110, 32);
    device.cmd_push_constants(commands, kernel.layout, STAGE, 0, &to_bytes(&state));
    device.cmd_bind_pipeline(commands, COMPUTE, kernel.pipeline);
    device.cmd_bind_descriptor_sets(commands, COMPUTE, kernel.layout, 0, &[set], &[]);
    let mut expected = Vec::new();
    for round in 0..6_usize {
        let (first, count) = [(1, 31), (4, 4), (31, 1), (7, 9), (30, 2), (1, 1)][round];
        let new = words(120 + round as u32, count);
        state[0] = round as u32;
        state[first..first + count].copy_from_slice(&new);
        let offset = 4 * first as u32;
        device.cmd_push_constants(
            commands,
            kernel.layout,
            STAGE,
            0,
            &(round as u32).to_le_bytes(),
        );
        device.cmd_push_constants(commands, kernel.layout, STAGE, offset, &to_bytes(&new));
        device.cmd_dispatch(commands, 1, 1, 1);
        expected.extend_from_slice(&state);
    }
    s.finish(commands)?;
    s.report
        .expect("result", result.bytes(), &to_bytes(&expected))
}

/// Values stay when another pipeline with the same range is bound.
unsafe fn push_across_layouts(s: &Scope<'_>) -> anyhow::Result<()> {
    let text = |factor: u32| {
        format!(
            "layout(local_size_x = 32) in;
layout(set = 0, binding = 0) buffer R {{ uint r[]; }};
layout(push_constant) uniform P {{ uint a, b; }};
void main() {{ uint i = gl_LocalInvocationIndex; r[i] = r[i] * {factor}u + a * b; }}"
        )
    };
    let (first, second) = (s.kernel(&text(3), 1, 8)?, s.kernel(&text(7), 1, 8)?);
    let input = words(130, 32);
    let buffer = s.buffer_of(&input)?;
    let set = s.bind(&first, &[&buffer])?;
    let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
    let constants = to_bytes(&[1234, 567]);
    s.device()
        .cmd_push_constants(commands, first.layout, STAGE, 0, &constants);
    s.dispatch(commands, &first, set, 1);
    s.barrier(commands);
    s.dispatch(commands, &second, set, 1);
    s.finish(commands)?;
    let add = 1234 * 567;
    let step = |value: u32, factor: u32| value.wrapping_mul(factor).wrapping_add(add);
    let expected: Vec<u32> = input.iter().map(|v| step(step(*v, 3), 7)).collect();
    s.report
        .expect("result", buffer.bytes(), &to_bytes(&expected))
}

/// Workgroup size, array length, a branch and arithmetic from constants.
unsafe fn specialization(s: &Scope<'_>) -> anyhow::Result<()> {
    let text = "
layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint LENGTH = 1;
layout(constant_id = 2) const bool DOUBLE = false;
layout(constant_id = 3) const int ADD = 11;
layout(constant_id = 4) const float SCALE = 1.0;
layout(set = 0, binding = 0) buffer R { uint r[]; };
shared uint parts[LENGTH];
void main() {
    uint l = gl_LocalInvocationIndex;
    for (uint i = l; i < LENGTH; i += gl_WorkGroupSize.x)
        parts[i] = i * i;
    barrier();
    if (l != 0)
        return;
    uint sum = 0;
    for (uint i = 0; i < LENGTH; i++)
        sum += parts[i];
    if (DOUBLE)
        sum *= 2u;
    uint at = 4u * gl_WorkGroupID.x;
    r[at] = sum + uint(ADD);
    r[at + 1] = gl_WorkGroupSize.x;
    r[at + 2] = LENGTH;
    r[at + 3] = floatBitsToUint(SCALE * 3.0);
}
";
    let default = s.kernel(
        text.replace("local_size_x_id = 0", "local_size_x = 16")
            .as_str(),
        1,
        0,
    )?;
    let result = s.buffer(64)?;
    s.run(&default, &[&result], 4)?;
    let row = [11, 16, 1, 3.0_f32.to_bits()];
    s.report
        .expect("defaults", result.bytes(), &to_bytes(&row.repeat(4)))?;
    let squares = |length: u32| (0..length).map(|i| i * i).sum::<u32>();
    for (size, length, double, add, scale) in [
        (64, 100, true, -5_i32, 0.5_f32),
        (1, 7, false, 0, -2.0),
        (33, 65, true, 1, 4.0),
    ] {
        let constants = [size, length, u32::from(double), add as u32, scale.to_bits()];
        let kernel = crate::scope::Kernel {
            pipeline: s.specialized(
                text,
                default.layout,
                &constants,
                vk::PipelineCreateFlags::empty(),
            )?,
            ..default
        };
        s.run(&kernel, &[&result], 4)?;
        let sum = squares(length) * if double { 2 } else { 1 };
        let row = [
            sum.wrapping_add_signed(add),
            size,
            length,
            (scale * 3.0).to_bits(),
        ];
        let name = format!("size {size}");
        s.report
            .expect(&name, result.bytes(), &to_bytes(&row.repeat(4)))?;
    }
    Ok(())
}
