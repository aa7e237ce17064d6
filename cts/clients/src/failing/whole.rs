// SPDX-License-Identifier: MIT
//! Whole programs with callbacks from the instance on.
#![allow(
    unsafe_op_in_unsafe_fn,
    reason = "every line is a Vulkan call on handles made lines before"
)]

use ash::vk;

use super::{Program, Run};
use crate::scope::{TIMEOUT, USAGE};
use crate::shader;

type Callbacks<'a> = vk::AllocationCallbacks<'a>;
type Done = Result<(), vk::Result>;

pub(super) const PROGRAMS: &[Program] = &[
    Program {
        name: "instance",
        run: Run::Whole(instance),
    },
    Program {
        name: "device",
        run: Run::Whole(device),
    },
    Program {
        name: "compute",
        run: Run::Whole(compute),
    },
];

unsafe fn with_instance(
    entry: &ash::Entry,
    callbacks: &Callbacks<'_>,
    run: impl FnOnce(&ash::Instance) -> Done,
) -> Done {
    let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
    let info = vk::InstanceCreateInfo::default().application_info(&application);
    let instance = entry.create_instance(&info, Some(callbacks))?;
    let result = run(&instance);
    instance.destroy_instance(Some(callbacks));
    result
}

/// The loader calls the driver for devices at the latest when they are enumerated.
unsafe fn instance(entry: &ash::Entry, callbacks: &Callbacks<'_>) -> Done {
    with_instance(entry, callbacks, |instance| {
        let devices = instance.enumerate_physical_devices()?;
        for device in devices {
            instance.enumerate_device_extension_properties(device)?;
        }
        Ok(())
    })
}

unsafe fn with_device(
    entry: &ash::Entry,
    callbacks: &Callbacks<'_>,
    run: impl FnOnce(&ash::Device) -> Done,
) -> Done {
    with_instance(entry, callbacks, |instance| {
        let devices = instance.enumerate_physical_devices()?;
        // A loader that could not ask its only driver has no devices.
        let physical = devices
            .first()
            .ok_or(vk::Result::ERROR_OUT_OF_HOST_MEMORY)?;
        let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&[1.0])];
        let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues);
        let device = instance.create_device(*physical, &info, Some(callbacks))?;
        let result = run(&device);
        let idle = device.device_wait_idle();
        device.destroy_device(Some(callbacks));
        result.and(idle)
    })
}

unsafe fn device(entry: &ash::Entry, callbacks: &Callbacks<'_>) -> Done {
    with_device(entry, callbacks, |_| Ok(()))
}

/// Squares, from shader to result, with callbacks for every object.
const SQUARES: &str = "
layout(local_size_x = 32) in;
layout(set = 0, binding = 0) buffer R { uint r[]; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    r[i] = i * i;
}
";

/// Destroys what a program has made, in reverse order.
struct Undo<'a> {
    device: &'a ash::Device,
    callbacks: &'a Callbacks<'a>,
    list: Vec<Destroy<'a>>,
}

type Destroy<'a> = Box<dyn FnOnce(&ash::Device, &Callbacks<'_>) + 'a>;

impl<'a> Undo<'a> {
    fn at_end(&mut self, destroy: impl FnOnce(&ash::Device, &Callbacks<'_>) + 'a) {
        self.list.push(Box::new(destroy));
    }
}

impl Drop for Undo<'_> {
    fn drop(&mut self) {
        while let Some(destroy) = self.list.pop() {
            destroy(self.device, self.callbacks);
        }
    }
}

unsafe fn compute(entry: &ash::Entry, callbacks: &Callbacks<'_>) -> Done {
    let words = shader::glsl(SQUARES)
        .unwrap_or_else(|error| panic!("the shader of this program: {error:#}"));
    with_device(entry, callbacks, |device| {
        let undo = Undo {
            device,
            callbacks,
            list: Vec::new(),
        };
        squares(device, undo, &words)
    })
}

unsafe fn squares(device: &ash::Device, mut undo: Undo<'_>, words: &[u32]) -> Done {
    let callbacks = Some(undo.callbacks);
    let info = vk::BufferCreateInfo::default().size(4096).usage(USAGE);
    let buffer = device.create_buffer(&info, callbacks)?;
    undo.at_end(move |device, callbacks| device.destroy_buffer(buffer, Some(callbacks)));
    let needs = device.get_buffer_memory_requirements(buffer);
    let info = vk::MemoryAllocateInfo::default()
        .allocation_size(needs.size)
        .memory_type_index(needs.memory_type_bits.trailing_zeros());
    let memory = device.allocate_memory(&info, callbacks)?;
    undo.at_end(move |device, callbacks| device.free_memory(memory, Some(callbacks)));
    device.bind_buffer_memory(buffer, memory, 0)?;
    let mapped = device.map_memory(memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty())?;
    let storage = vk::DescriptorType::STORAGE_BUFFER;
    let bindings = [vk::DescriptorSetLayoutBinding::default()
        .descriptor_type(storage)
        .descriptor_count(1)
        .stage_flags(vk::ShaderStageFlags::COMPUTE)];
    let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
    let set_layout = device.create_descriptor_set_layout(&info, callbacks)?;
    undo.at_end(move |device, callbacks| {
        device.destroy_descriptor_set_layout(set_layout, Some(callbacks));
    });
    let set_layouts = [set_layout];
    let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&set_layouts);
    let layout = device.create_pipeline_layout(&info, callbacks)?;
    undo.at_end(move |device, callbacks| device.destroy_pipeline_layout(layout, Some(callbacks)));
    let info = vk::ShaderModuleCreateInfo::default().code(words);
    let module = device.create_shader_module(&info, callbacks)?;
    undo.at_end(move |device, callbacks| device.destroy_shader_module(module, Some(callbacks)));
    let stage = vk::PipelineShaderStageCreateInfo::default()
        .stage(vk::ShaderStageFlags::COMPUTE)
        .module(module)
        .name(c"main");
    let info = vk::ComputePipelineCreateInfo::default()
        .stage(stage)
        .layout(layout);
    let pipeline = device
        .create_compute_pipelines(vk::PipelineCache::null(), &[info], callbacks)
        .map_err(|(_, error)| error)?[0];
    undo.at_end(move |device, callbacks| device.destroy_pipeline(pipeline, Some(callbacks)));
    let sizes = [vk::DescriptorPoolSize {
        ty: storage,
        descriptor_count: 1,
    }];
    let info = vk::DescriptorPoolCreateInfo::default()
        .max_sets(1)
        .pool_sizes(&sizes);
    let pool = device.create_descriptor_pool(&info, callbacks)?;
    undo.at_end(move |device, callbacks| device.destroy_descriptor_pool(pool, Some(callbacks)));
    let info = vk::DescriptorSetAllocateInfo::default()
        .descriptor_pool(pool)
        .set_layouts(&set_layouts);
    let set = device.allocate_descriptor_sets(&info)?[0];
    let whole = [vk::DescriptorBufferInfo {
        buffer,
        offset: 0,
        range: vk::WHOLE_SIZE,
    }];
    let write = vk::WriteDescriptorSet::default()
        .dst_set(set)
        .descriptor_type(storage)
        .buffer_info(&whole);
    device.update_descriptor_sets(&[write], &[]);
    let info = vk::CommandPoolCreateInfo::default();
    let pool = device.create_command_pool(&info, callbacks)?;
    undo.at_end(move |device, callbacks| device.destroy_command_pool(pool, Some(callbacks)));
    let info = vk::CommandBufferAllocateInfo::default()
        .command_pool(pool)
        .level(vk::CommandBufferLevel::PRIMARY)
        .command_buffer_count(1);
    let commands = device.allocate_command_buffers(&info)?;
    device.begin_command_buffer(commands[0], &vk::CommandBufferBeginInfo::default())?;
    let compute = vk::PipelineBindPoint::COMPUTE;
    device.cmd_bind_pipeline(commands[0], compute, pipeline);
    device.cmd_bind_descriptor_sets(commands[0], compute, layout, 0, &[set], &[]);
    device.cmd_dispatch(commands[0], 32, 1, 1);
    device.end_command_buffer(commands[0])?;
    let fence = device.create_fence(&vk::FenceCreateInfo::default(), callbacks)?;
    undo.at_end(move |device, callbacks| device.destroy_fence(fence, Some(callbacks)));
    let submit = [vk::SubmitInfo::default().command_buffers(&commands)];
    let queue = device.get_device_queue(0, 0);
    device.queue_submit(queue, &submit, fence)?;
    device.wait_for_fences(&[fence], true, TIMEOUT)?;
    let results = std::slice::from_raw_parts(mapped.cast::<u32>(), 1024);
    let right = results.iter().zip(0_u32..).all(|(r, i)| *r == i * i);
    // Of all errors this one comes from nowhere else.
    if right {
        Ok(())
    } else {
        Err(vk::Result::ERROR_VALIDATION_FAILED_EXT)
    }
}
