// SPDX-License-Identifier: MIT
//! The kernels that compiled code is measured by, end to end: submission, run, wait.
#![allow(
    unsafe_op_in_unsafe_fn,
    reason = "every line is a Vulkan call on the scope's own handles"
)]

use ash::vk;
use cortland_clients::model::{to_bytes, words};
use cortland_clients::scope::{Buffer, Scope, TIMEOUT};
use cortland_cts::corpus;
use cortland_cts::corpus::source;

use crate::driver::rate;

/// A kernel of the corpus at a size that keeps two cores busy for some milliseconds.
struct Workload {
    /// The shader of the corpus.
    name: &'static str,
    /// What is counted.
    unit: &'static str,
    /// How many of them one run does.
    count: u64,
    groups: [u32; 3],
    /// Bytes of the storage buffers at bindings 0, 1 and so on.
    buffers: &'static [u64],
    /// What is in the buffers at the start.
    content: Content,
    push: Vec<u32>,
}

#[derive(Clone, Copy)]
enum Content {
    /// Floats from 1 to 2.
    Floats,
    Words,
}

fn workloads() -> Vec<Workload> {
    let floats = |values: &[f32]| values.iter().map(|f| f.to_bits()).collect::<Vec<u32>>();
    let workload = |name, unit, count, groups, buffers, content, push| Workload {
        name,
        unit,
        count,
        groups,
        buffers,
        content,
        push,
    };
    use Content::{Floats, Words};
    const K: u64 = 1 << 10;
    const M: u64 = 1 << 20;
    vec![
        workload(
            "saxpy",
            "elements",
            512 * K,
            [8192, 1, 1],
            &[2 * M, 2 * M],
            Floats,
            vec![1.5_f32.to_bits(), 512 << 10],
        ),
        // 128 rows and columns.
        workload(
            "sgemm",
            "multiply-adds",
            128 * 128 * 128,
            [4, 8, 1],
            &[64 * K, 64 * K, 64 * K],
            Floats,
            vec![32, 32],
        ),
        workload(
            "fft_radix4",
            "points",
            256 * K,
            [1024, 1, 1],
            &[2 * M, 2 * M, 384],
            Floats,
            vec![16, 65_536],
        ),
        workload(
            "sha256_rounds",
            "blocks",
            32 * K,
            [1024, 1, 1],
            &[2 * M, M],
            Words,
            vec![],
        ),
        workload(
            "mandelbrot",
            "points",
            128 * K,
            [64, 64, 1],
            &[512 * K],
            Words,
            {
                let mut push = floats(&[-2.0, -1.125, 3.0 / 512.0, 2.25 / 256.0]);
                push.extend([512, 100]);
                push
            },
        ),
        workload(
            "prefix_sum",
            "elements",
            128 * K,
            [512, 1, 1],
            &[512 * K, 512 * K, 2 * K],
            Words,
            vec![],
        ),
        workload(
            "bitonic_sort",
            "keys",
            64 * K,
            [256, 1, 1],
            &[256 * K],
            Words,
            vec![256],
        ),
        workload(
            "conv3x3",
            "points",
            128 * K,
            [64, 32, 1],
            &[540 * K, 512 * K],
            Floats,
            {
                let mut push = floats(&[
                    0.0625, 0.125, 0.0625, 0.125, 0.25, 0.125, 0.0625, 0.125, 0.0625,
                ]);
                push.extend([514, 512]);
                push
            },
        ),
    ]
}

pub(crate) unsafe fn measure(s: &Scope<'_>, note: impl Fn(&str, f64)) -> anyhow::Result<()> {
    let device = s.device();
    for workload in workloads() {
        let path = corpus::directory()
            .join(workload.name)
            .with_extension("comp");
        let module = s.module_of(&source::compile(&path)?)?;
        let push = to_bytes(&workload.push);
        let kernel = s.kernel_of(module, workload.buffers.len() as u32, push.len() as u32)?;
        let mut buffers = Vec::new();
        for (index, size) in workload.buffers.iter().enumerate() {
            let buffer = s.buffer(*size)?;
            let mut content = words(index as u32, *size as usize / 4);
            if let Content::Floats = workload.content {
                for word in &mut content {
                    *word = 0x3f80_0000 | *word >> 9;
                }
            }
            let content = to_bytes(&content);
            buffer.write(0, &content);
            buffers.push((buffer, content));
        }
        let bound: Vec<_> = buffers.iter().map(|(buffer, _)| buffer).collect();
        let set = s.bind(&kernel, &bound)?;
        let commands = s.commands(vk::CommandBufferUsageFlags::SIMULTANEOUS_USE)?;
        let compute = vk::PipelineBindPoint::COMPUTE;
        device.cmd_bind_pipeline(commands, compute, kernel.pipeline);
        device.cmd_bind_descriptor_sets(commands, compute, kernel.layout, 0, &[set], &[]);
        if !push.is_empty() {
            let stage = vk::ShaderStageFlags::COMPUTE;
            device.cmd_push_constants(commands, kernel.layout, stage, 0, &push);
        }
        let [x, y, z] = workload.groups;
        device.cmd_dispatch(commands, x, y, z);
        s.barrier(commands);
        device.end_command_buffer(commands)?;
        let all = [commands];
        let submit = [vk::SubmitInfo::default().command_buffers(&all)];
        let fence = s.fence(vk::FenceCreateFlags::empty())?;
        let rate = rate(workload.count as usize, || {
            device.queue_submit(s.gpu.queue, &submit, fence)?;
            device.wait_for_fences(&[fence], true, TIMEOUT)?;
            Ok(device.reset_fences(&[fence])?)
        })?;
        // What was measured did something. That it did the right thing is for the corpus's tests.
        let written = |(buffer, before): &(Buffer, Vec<u8>)| buffer.bytes() != *before;
        anyhow::ensure!(
            buffers.iter().any(written),
            "{}: no buffer has changed",
            workload.name
        );
        note(
            &format!("kernel {}: {}", workload.name, workload.unit),
            rate,
        );
    }
    Ok(())
}
