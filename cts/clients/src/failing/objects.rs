// SPDX-License-Identifier: MIT
//! Every kind of object of a device, created and destroyed with callbacks.
#![allow(
    unsafe_op_in_unsafe_fn,
    reason = "every line is a Vulkan call on handles of the scope or made a line before"
)]

use ash::vk;

use super::{Program, Run};
use crate::scope::{Scope, USAGE};
use crate::shader;

type Callbacks<'a> = vk::AllocationCallbacks<'a>;
type Done = Result<(), vk::Result>;

pub(super) const PROGRAMS: &[Program] = &[
    program("memory", memory),
    program("memory_exported", memory_exported),
    program("buffer", buffer),
    program("fence", fence),
    program("semaphore", semaphore),
    program("event", event),
    program("query_pool", query_pool),
    program("set_layout", set_layout),
    program("descriptor_pool", descriptor_pool),
    program("update_template", update_template),
    program("pipeline_layout", pipeline_layout),
    program("shader_module", shader_module),
    program("pipeline_cache", pipeline_cache),
    program("compute_pipeline", compute_pipeline),
    program("command_pool", command_pool),
    program("recording", recording),
    program("private_data", private_data),
];

const fn program(
    name: &'static str,
    run: unsafe fn(&Scope<'_>, &Callbacks<'_>) -> Done,
) -> Program {
    Program {
        name,
        run: Run::Objects(run),
    }
}

/// What the scope makes without callbacks must not fail.
fn parent<T>(result: anyhow::Result<T>) -> T {
    result.unwrap_or_else(|error| panic!("an object made without callbacks: {error:#}"))
}

unsafe fn memory(s: &Scope<'_>, callbacks: &Callbacks<'_>) -> Done {
    let info = vk::MemoryAllocateInfo::default().allocation_size(65_536);
    let memory = s.device().allocate_memory(&info, Some(callbacks))?;
    let mapped = s
        .device()
        .map_memory(memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty());
    s.device().free_memory(memory, Some(callbacks));
    mapped.map(drop)
}

unsafe fn memory_exported(s: &Scope<'_>, callbacks: &Callbacks<'_>) -> Done {
    let ty = vk::ExternalMemoryHandleTypeFlags::OPAQUE_FD;
    let mut export = vk::ExportMemoryAllocateInfo::default().handle_types(ty);
    let info = vk::MemoryAllocateInfo::default()
        .allocation_size(65_536)
        .push_next(&mut export);
    let memory = s.device().allocate_memory(&info, Some(callbacks))?;
    let external = ash::khr::external_memory_fd::Device::new(&s.gpu.instance, s.device());
    let get = vk::MemoryGetFdInfoKHR::default()
        .memory(memory)
        .handle_type(ty);
    let imported = external.get_memory_fd(&get).and_then(|fd| {
        let mut import = vk::ImportMemoryFdInfoKHR::default().handle_type(ty).fd(fd);
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(65_536)
            .push_next(&mut import);
        let imported = s.device().allocate_memory(&info, Some(callbacks));
        if imported.is_err() {
            // A failed import leaves the descriptor with the caller.
            libc::close(fd);
        }
        imported
    });
    if let Ok(imported) = imported {
        s.device().free_memory(imported, Some(callbacks));
    }
    s.device().free_memory(memory, Some(callbacks));
    imported.map(drop)
}

unsafe fn buffer(s: &Scope<'_>, callbacks: &Callbacks<'_>) -> Done {
    let info = vk::BufferCreateInfo::default().size(4096).usage(USAGE);
    let buffer = s.device().create_buffer(&info, Some(callbacks))?;
    s.device().destroy_buffer(buffer, Some(callbacks));
    Ok(())
}

unsafe fn fence(s: &Scope<'_>, callbacks: &Callbacks<'_>) -> Done {
    let info = vk::FenceCreateInfo::default();
    let fence = s.device().create_fence(&info, Some(callbacks))?;
    let waited = s
        .device()
        .queue_submit(s.gpu.queue, &[], fence)
        .and_then(|()| {
            s.device()
                .wait_for_fences(&[fence], true, crate::scope::TIMEOUT)
        });
    s.device().destroy_fence(fence, Some(callbacks));
    waited
}

unsafe fn semaphore(s: &Scope<'_>, callbacks: &Callbacks<'_>) -> Done {
    for ty in [vk::SemaphoreType::BINARY, vk::SemaphoreType::TIMELINE] {
        let mut ty = vk::SemaphoreTypeCreateInfo::default().semaphore_type(ty);
        let info = vk::SemaphoreCreateInfo::default().push_next(&mut ty);
        let semaphore = s.device().create_semaphore(&info, Some(callbacks))?;
        s.device().destroy_semaphore(semaphore, Some(callbacks));
    }
    Ok(())
}

unsafe fn event(s: &Scope<'_>, callbacks: &Callbacks<'_>) -> Done {
    let info = vk::EventCreateInfo::default();
    let event = s.device().create_event(&info, Some(callbacks))?;
    s.device().destroy_event(event, Some(callbacks));
    Ok(())
}

unsafe fn query_pool(s: &Scope<'_>, callbacks: &Callbacks<'_>) -> Done {
    let info = vk::QueryPoolCreateInfo::default()
        .query_type(vk::QueryType::TIMESTAMP)
        .query_count(100);
    let pool = s.device().create_query_pool(&info, Some(callbacks))?;
    s.device().destroy_query_pool(pool, Some(callbacks));
    Ok(())
}

fn bindings() -> Vec<vk::DescriptorSetLayoutBinding<'static>> {
    let binding = |(number, ty)| {
        vk::DescriptorSetLayoutBinding::default()
            .binding(number)
            .descriptor_type(ty)
            .descriptor_count(3)
            .stage_flags(vk::ShaderStageFlags::COMPUTE)
    };
    let types = [
        (4, vk::DescriptorType::STORAGE_BUFFER),
        (0, vk::DescriptorType::UNIFORM_BUFFER),
        (2, vk::DescriptorType::STORAGE_BUFFER_DYNAMIC),
    ];
    types.map(binding).to_vec()
}

unsafe fn set_layout(s: &Scope<'_>, callbacks: &Callbacks<'_>) -> Done {
    let bindings = bindings();
    let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
    let device = s.device();
    let layout = device.create_descriptor_set_layout(&info, Some(callbacks))?;
    device.destroy_descriptor_set_layout(layout, Some(callbacks));
    Ok(())
}

unsafe fn small_layout(s: &Scope<'_>) -> vk::DescriptorSetLayout {
    let storage = vk::DescriptorType::STORAGE_BUFFER;
    let flags = vk::DescriptorSetLayoutCreateFlags::empty();
    parent(s.set_layout(&[(0, storage, 1)], flags))
}

/// A pool, sets of it, and writes to them.
unsafe fn descriptor_pool(s: &Scope<'_>, callbacks: &Callbacks<'_>) -> Done {
    let layout = small_layout(s);
    let buffer = parent(s.bare_buffer(64, USAGE));
    let sizes = [vk::DescriptorPoolSize {
        ty: vk::DescriptorType::STORAGE_BUFFER,
        descriptor_count: 16,
    }];
    let info = vk::DescriptorPoolCreateInfo::default()
        .max_sets(16)
        .pool_sizes(&sizes)
        .flags(vk::DescriptorPoolCreateFlags::FREE_DESCRIPTOR_SET);
    let device = s.device();
    let pool = device.create_descriptor_pool(&info, Some(callbacks))?;
    let layouts = [layout; 16];
    let info = vk::DescriptorSetAllocateInfo::default()
        .descriptor_pool(pool)
        .set_layouts(&layouts);
    let allocated = device.allocate_descriptor_sets(&info);
    let _ = buffer;
    let freed = match &allocated {
        Ok(sets) => device.free_descriptor_sets(pool, &sets[..8]),
        Err(_) => Ok(()),
    };
    device.destroy_descriptor_pool(pool, Some(callbacks));
    allocated.and(freed)
}

unsafe fn update_template(s: &Scope<'_>, callbacks: &Callbacks<'_>) -> Done {
    let entries = [vk::DescriptorUpdateTemplateEntry {
        dst_binding: 0,
        dst_array_element: 0,
        descriptor_count: 1,
        descriptor_type: vk::DescriptorType::STORAGE_BUFFER,
        offset: 0,
        stride: 0,
    }];
    let info = vk::DescriptorUpdateTemplateCreateInfo::default()
        .descriptor_update_entries(&entries)
        .template_type(vk::DescriptorUpdateTemplateType::DESCRIPTOR_SET)
        .descriptor_set_layout(small_layout(s));
    let device = s.device();
    let template = device.create_descriptor_update_template(&info, Some(callbacks))?;
    device.destroy_descriptor_update_template(template, Some(callbacks));
    Ok(())
}

unsafe fn pipeline_layout(s: &Scope<'_>, callbacks: &Callbacks<'_>) -> Done {
    let layouts = [small_layout(s), small_layout(s)];
    let ranges = [vk::PushConstantRange {
        stage_flags: vk::ShaderStageFlags::COMPUTE,
        offset: 0,
        size: 64,
    }];
    let info = vk::PipelineLayoutCreateInfo::default()
        .set_layouts(&layouts)
        .push_constant_ranges(&ranges);
    let device = s.device();
    let layout = device.create_pipeline_layout(&info, Some(callbacks))?;
    device.destroy_pipeline_layout(layout, Some(callbacks));
    Ok(())
}

/// A kernel that has nothing but a buffer.
const KERNEL: &str = "
layout(local_size_x = 32) in;
layout(set = 0, binding = 0) buffer R { uint r[]; };
void main() { r[gl_GlobalInvocationID.x] = gl_GlobalInvocationID.x; }
";

unsafe fn shader_module(s: &Scope<'_>, callbacks: &Callbacks<'_>) -> Done {
    let words = parent(shader::glsl(KERNEL));
    let info = vk::ShaderModuleCreateInfo::default().code(&words);
    let device = s.device();
    let module = device.create_shader_module(&info, Some(callbacks))?;
    device.destroy_shader_module(module, Some(callbacks));
    Ok(())
}

unsafe fn create_pipeline(
    s: &Scope<'_>,
    callbacks: &Callbacks<'_>,
    cache: vk::PipelineCache,
) -> Done {
    let module = parent(s.module(KERNEL));
    let layout = small_layout(s);
    let layout = parent(s.pipeline_layout(&[layout], 0));
    let stage = vk::PipelineShaderStageCreateInfo::default()
        .stage(vk::ShaderStageFlags::COMPUTE)
        .module(module)
        .name(c"main");
    let info = vk::ComputePipelineCreateInfo::default()
        .stage(stage)
        .layout(layout);
    let device = s.device();
    let created = device.create_compute_pipelines(cache, &[info, info], Some(callbacks));
    let (pipelines, result) = match created {
        Ok(pipelines) => (pipelines, Ok(())),
        Err((pipelines, error)) => (pipelines, Err(error)),
    };
    for pipeline in pipelines {
        device.destroy_pipeline(pipeline, Some(callbacks));
    }
    result
}

/// A cache that takes in a pipeline, hands out its data, and a second one made of them.
unsafe fn pipeline_cache(s: &Scope<'_>, callbacks: &Callbacks<'_>) -> Done {
    let device = s.device();
    let info = vk::PipelineCacheCreateInfo::default();
    let cache = device.create_pipeline_cache(&info, Some(callbacks))?;
    let result = create_pipeline(s, callbacks, cache)
        .and_then(|()| device.get_pipeline_cache_data(cache))
        .and_then(|data| {
            let info = vk::PipelineCacheCreateInfo::default().initial_data(&data);
            let second = device.create_pipeline_cache(&info, Some(callbacks))?;
            let merged = device.merge_pipeline_caches(second, &[cache]);
            device.destroy_pipeline_cache(second, Some(callbacks));
            merged
        });
    device.destroy_pipeline_cache(cache, Some(callbacks));
    result
}

unsafe fn compute_pipeline(s: &Scope<'_>, callbacks: &Callbacks<'_>) -> Done {
    create_pipeline(s, callbacks, vk::PipelineCache::null())
}

unsafe fn command_pool(s: &Scope<'_>, callbacks: &Callbacks<'_>) -> Done {
    let info = vk::CommandPoolCreateInfo::default().queue_family_index(s.gpu.family);
    let device = s.device();
    let pool = device.create_command_pool(&info, Some(callbacks))?;
    let mut result = Ok(());
    for level in [
        vk::CommandBufferLevel::PRIMARY,
        vk::CommandBufferLevel::SECONDARY,
    ] {
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(pool)
            .level(level)
            .command_buffer_count(5);
        match device.allocate_command_buffers(&info) {
            Ok(buffers) => device.free_command_buffers(pool, &buffers[..3]),
            Err(error) => result = Err(error),
        }
    }
    device.destroy_command_pool(pool, Some(callbacks));
    result
}

/// Commands of every kind; that memory was short is said when recording ends.
unsafe fn recording(s: &Scope<'_>, callbacks: &Callbacks<'_>) -> Done {
    let kernel = parent(s.kernel(KERNEL, 1, 0));
    let target = parent(s.buffer(65_536));
    let set = parent(s.bind(&kernel, &[&target]));
    let queries = parent(s.timestamps(2));
    let device = s.device();
    let info = vk::CommandPoolCreateInfo::default().queue_family_index(s.gpu.family);
    let pool = device.create_command_pool(&info, Some(callbacks))?;
    let record = || -> Done {
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(pool)
            .level(vk::CommandBufferLevel::PRIMARY)
            .command_buffer_count(1);
        let commands = device.allocate_command_buffers(&info)?[0];
        let info = vk::CommandBufferBeginInfo::default();
        device.begin_command_buffer(commands, &info)?;
        device.cmd_reset_query_pool(commands, queries, 0, 2);
        device.cmd_write_timestamp(commands, vk::PipelineStageFlags::TOP_OF_PIPE, queries, 0);
        for round in 0..100 {
            s.dispatch(commands, &kernel, set, 1);
            s.barrier(commands);
            device.cmd_fill_buffer(commands, target.handle, 4096, 1024, round);
            device.cmd_update_buffer(commands, target.handle, 8192, &[7; 1024]);
            let copy = [vk::BufferCopy::default().dst_offset(32_768).size(16_384)];
            device.cmd_copy_buffer(commands, target.handle, target.handle, &copy);
            s.barrier(commands);
        }
        device.end_command_buffer(commands)?;
        let all = [commands];
        let submit = [vk::SubmitInfo::default().command_buffers(&all)];
        device.queue_submit(s.gpu.queue, &submit, vk::Fence::null())?;
        device.queue_wait_idle(s.gpu.queue)
    };
    let result = record();
    device.destroy_command_pool(pool, Some(callbacks));
    result
}

unsafe fn private_data(s: &Scope<'_>, callbacks: &Callbacks<'_>) -> Done {
    let info = vk::PrivateDataSlotCreateInfo::default();
    let device = s.device();
    let slot = device.create_private_data_slot(&info, Some(callbacks))?;
    let fence = parent(s.fence(vk::FenceCreateFlags::empty()));
    let set = device.set_private_data(fence, slot, 5);
    device.destroy_private_data_slot(slot, Some(callbacks));
    set
}
