// SPDX-License-Identifier: MIT
//! Several threads that record, submit, create and destroy at once.

use std::sync::Mutex;

use anyhow::Context as _;
use ash::vk;

use super::{COMBINE, STEP, combined, scenario, stepped};
use crate::model::{to_bytes, words};
use crate::scenario::Scenario;
use crate::scope::{Scope, TIMEOUT};

pub(super) const SCENARIOS: &[Scenario] = &[
    scenario("thread.recording", recording),
    scenario("thread.submission", submission),
    scenario("thread.creation", creation),
];

const THREADS: u32 = 4;

/// Runs a function in each of several threads and gives the results in order.
fn in_threads<T: Send>(run: impl Fn(u32) -> anyhow::Result<T> + Sync) -> anyhow::Result<Vec<T>> {
    std::thread::scope(|scope| {
        let run = &run;
        let threads: Vec<_> = (0..THREADS)
            .map(|thread| scope.spawn(move || run(thread)))
            .collect();
        let joined = threads.into_iter().enumerate().map(|(index, thread)| {
            let result = thread.join().expect("the thread ends");
            result.with_context(|| format!("thread {index}"))
        });
        joined.collect()
    })
}

/// Each thread records from a pool of its own; one submission runs all.
unsafe fn recording(s: &Scope<'_>) -> anyhow::Result<()> {
    let kernel = s.kernel(STEP, 1, 4)?;
    let recorded = in_threads(|thread| {
        // SAFETY: pools and sets are this thread's own; the kernel is only read.
        unsafe {
            let values = s.buffer(4096)?;
            let set = s.bind(&kernel, &[&values])?;
            let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
            for add in 0..50_u32 {
                let constant = (100 * thread + add).to_le_bytes();
                let stage = vk::ShaderStageFlags::COMPUTE;
                s.device()
                    .cmd_push_constants(commands, kernel.layout, stage, 0, &constant);
                s.dispatch(commands, &kernel, set, 32);
                s.barrier(commands);
            }
            s.device().end_command_buffer(commands)?;
            Ok((commands, values))
        }
    })?;
    let commands: Vec<_> = recorded.iter().map(|(commands, _)| *commands).collect();
    s.submit(&commands)?;
    for (thread, (_, values)) in recorded.iter().enumerate() {
        let first = 100 * thread as u32;
        let value = stepped(0, first..first + 50);
        let name = format!("thread {thread}");
        s.report
            .expect(&name, values.bytes(), &to_bytes(&[value; 1024]))?;
    }
    Ok(())
}

/// Each thread records, submits under a lock, as Vulkan asks for, and waits for its own fence.
unsafe fn submission(s: &Scope<'_>) -> anyhow::Result<()> {
    let queue = Mutex::new(s.gpu.queue);
    let results = in_threads(|thread| {
        // SAFETY: all objects are this thread's own but the queue, which the lock guards.
        unsafe {
            let kernel = s.kernel(STEP, 1, 4)?;
            let values = s.buffer(4096)?;
            let set = s.bind(&kernel, &[&values])?;
            for round in 0..20_u32 {
                let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
                let constant = (thread + 7 * round).to_le_bytes();
                let stage = vk::ShaderStageFlags::COMPUTE;
                s.device()
                    .cmd_push_constants(commands, kernel.layout, stage, 0, &constant);
                s.dispatch(commands, &kernel, set, 32);
                s.barrier(commands);
                s.device().end_command_buffer(commands)?;
                let fence = s.fence(vk::FenceCreateFlags::empty())?;
                let all = [commands];
                let submit = [vk::SubmitInfo::default().command_buffers(&all)];
                {
                    let queue = queue.lock().expect("no thread panics");
                    s.device().queue_submit(*queue, &submit, fence)?;
                }
                s.device().wait_for_fences(&[fence], true, TIMEOUT)?;
            }
            Ok(values.bytes())
        }
    })?;
    for (thread, got) in results.into_iter().enumerate() {
        let value = stepped(0, (0..20).map(|round| thread as u32 + 7 * round));
        let name = format!("thread {thread}");
        s.report.expect(&name, got, &to_bytes(&[value; 1024]))?;
    }
    Ok(())
}

/// Threads create and destroy objects of every kind; one pipeline cache serves all.
unsafe fn creation(s: &Scope<'_>) -> anyhow::Result<()> {
    let device = s.device();
    let info = vk::PipelineCacheCreateInfo::default();
    let cache = device.create_pipeline_cache(&info, None)?;
    s.at_end(move |device| device.destroy_pipeline_cache(cache, None));
    let kernel = s.kernel(COMBINE, 3, 0)?;
    let module = s.module(COMBINE)?;
    let queue = Mutex::new(());
    let results = in_threads(|thread| {
        // SAFETY: what is shared is only read or synchronized inside (the cache), the queue is
        // under the lock, and everything else is the thread's own.
        unsafe {
            let (a, b) = (words(300 + thread, 64), words(310 + thread, 64));
            let buffers = [s.buffer_of(&a)?, s.buffer_of(&b)?, s.buffer(256)?];
            for _ in 0..8 {
                let fence = device.create_fence(&vk::FenceCreateInfo::default(), None)?;
                let event = device.create_event(&vk::EventCreateInfo::default(), None)?;
                let stage = vk::PipelineShaderStageCreateInfo::default()
                    .stage(vk::ShaderStageFlags::COMPUTE)
                    .module(module)
                    .name(c"main");
                let info = vk::ComputePipelineCreateInfo::default()
                    .stage(stage)
                    .layout(kernel.layout);
                let pipeline = device
                    .create_compute_pipelines(cache, &[info], None)
                    .map_err(|(_, error)| error)?[0];
                let mine = crate::scope::Kernel { pipeline, ..kernel };
                let set = s.bind(&mine, &buffers.each_ref())?;
                let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
                s.dispatch(commands, &mine, set, 2);
                s.barrier(commands);
                device.end_command_buffer(commands)?;
                let all = [commands];
                let submit = [vk::SubmitInfo::default().command_buffers(&all)];
                {
                    let _queue = queue.lock().expect("no thread panics");
                    device.queue_submit(s.gpu.queue, &submit, fence)?;
                }
                device.wait_for_fences(&[fence], true, TIMEOUT)?;
                device.destroy_pipeline(pipeline, None);
                device.destroy_event(event, None);
                device.destroy_fence(fence, None);
            }
            Ok((buffers[2].bytes(), to_bytes(&combined(&a, &b))))
        }
    })?;
    for (thread, (got, expected)) in results.into_iter().enumerate() {
        s.report
            .expect(&format!("thread {thread}"), got, &expected)?;
    }
    Ok(())
}
