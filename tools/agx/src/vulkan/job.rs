// SPDX-License-Identifier: MIT
//! A small computation on a Vulkan device, compared with what it must be.

use anyhow::{Context as _, ensure};
use ash::vk;
use cortland_cts::corpus::source;

const SOURCE: &str = include_str!("squares.wgsl");
/// Values; a multiple of the workgroup.
const COUNT: u32 = 4096;
/// Invocations of a workgroup, as the shader says.
const WORKGROUP: u32 = 64;
const BYTES: u64 = COUNT as u64 * 4;
/// How long the GPU may take, in nanoseconds.
const PATIENCE: u64 = 60_000_000_000;

/// What was made so far; null otherwise, which may be destroyed, too.
struct Job {
    device: ash::Device,
    buffer: vk::Buffer,
    memory: vk::DeviceMemory,
    set_layout: vk::DescriptorSetLayout,
    pool: vk::DescriptorPool,
    layout: vk::PipelineLayout,
    module: vk::ShaderModule,
    pipeline: vk::Pipeline,
    commands: vk::CommandPool,
    fence: vk::Fence,
}

impl Drop for Job {
    fn drop(&mut self) {
        let device = &self.device;
        // SAFETY: all are null or the device's own; once it is idle, nothing uses them.
        unsafe {
            // Nothing is left to do about an error.
            let _ = device.device_wait_idle();
            device.destroy_fence(self.fence, None);
            device.destroy_command_pool(self.commands, None);
            device.destroy_pipeline(self.pipeline, None);
            device.destroy_shader_module(self.module, None);
            device.destroy_pipeline_layout(self.layout, None);
            device.destroy_descriptor_pool(self.pool, None);
            device.destroy_descriptor_set_layout(self.set_layout, None);
            device.destroy_buffer(self.buffer, None);
            device.free_memory(self.memory, None);
            device.destroy_device(None);
        }
    }
}

/// Squares numbers on the device; how many.
pub(super) fn run(instance: &ash::Instance, physical: vk::PhysicalDevice) -> anyhow::Result<u32> {
    let priorities = [1.0];
    // SAFETY: the physical device is the instance's.
    let families = unsafe { instance.get_physical_device_queue_family_properties(physical) };
    let mut flags = families.iter().map(|family| family.queue_flags);
    let family = flags
        .position(|flags| flags.contains(vk::QueueFlags::COMPUTE))
        .context("no queue computes")? as u32;
    let queue = vk::DeviceQueueCreateInfo::default()
        .queue_family_index(family)
        .queue_priorities(&priorities);
    let queues = [queue];
    let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues);
    // SAFETY: valid structures, here and below.
    let device = unsafe { instance.create_device(physical, &info, None) };
    let device = device.context("vkCreateDevice")?;
    // SAFETY: as above.
    let memory = unsafe { instance.get_physical_device_memory_properties(physical) };
    let mut job = Job {
        device,
        buffer: vk::Buffer::null(),
        memory: vk::DeviceMemory::null(),
        set_layout: vk::DescriptorSetLayout::null(),
        pool: vk::DescriptorPool::null(),
        layout: vk::PipelineLayout::null(),
        module: vk::ShaderModule::null(),
        pipeline: vk::Pipeline::null(),
        commands: vk::CommandPool::null(),
        fence: vk::Fence::null(),
    };
    job.create_buffer(&memory)?;
    job.create_pipeline()?;
    let set = job.create_set()?;
    let values = job.map()?;
    for index in 0..COUNT {
        // SAFETY: inside the mapping, which the GPU does not use yet.
        unsafe { values.add(index as usize).write(index) };
    }
    job.execute(family, set)?;
    for index in 0..COUNT {
        // SAFETY: inside the mapping, which the GPU uses no more.
        let value = unsafe { values.add(index as usize).read() };
        let expected = index.wrapping_mul(index).wrapping_add(1);
        ensure!(
            value == expected,
            "value {index} is {value}, not {expected}"
        );
    }
    Ok(COUNT)
}

impl Job {
    fn create_buffer(&mut self, memory: &vk::PhysicalDeviceMemoryProperties) -> anyhow::Result<()> {
        let info = vk::BufferCreateInfo::default()
            .size(BYTES)
            .usage(vk::BufferUsageFlags::STORAGE_BUFFER);
        // SAFETY: valid structures.
        unsafe {
            self.buffer = self.device.create_buffer(&info, None)?;
            let requirements = self.device.get_buffer_memory_requirements(self.buffer);
            let wanted =
                vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
            let types = memory.memory_types_as_slice().iter().enumerate();
            let mut types = types.filter(|(index, kind)| {
                requirements.memory_type_bits & 1 << index != 0
                    && kind.property_flags.contains(wanted)
            });
            let (kind, _) = types.next().context("no memory that the CPU sees")?;
            let info = vk::MemoryAllocateInfo::default()
                .allocation_size(requirements.size)
                .memory_type_index(kind as u32);
            self.memory = self.device.allocate_memory(&info, None)?;
            self.device
                .bind_buffer_memory(self.buffer, self.memory, 0)?;
        }
        Ok(())
    }

    fn map(&self) -> anyhow::Result<*mut u32> {
        let flags = vk::MemoryMapFlags::empty();
        // SAFETY: mapped once, whole.
        let start = unsafe { self.device.map_memory(self.memory, 0, BYTES, flags) }?;
        Ok(start.cast())
    }

    fn create_pipeline(&mut self) -> anyhow::Result<()> {
        let words = source::wgsl(SOURCE)?;
        let bindings = [vk::DescriptorSetLayoutBinding::default()
            .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
            .descriptor_count(1)
            .stage_flags(vk::ShaderStageFlags::COMPUTE)];
        let set_info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        // SAFETY: valid structures.
        unsafe {
            self.set_layout = self.device.create_descriptor_set_layout(&set_info, None)?;
            let layouts = [self.set_layout];
            let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&layouts);
            self.layout = self.device.create_pipeline_layout(&info, None)?;
            let info = vk::ShaderModuleCreateInfo::default().code(&words);
            self.module = self.device.create_shader_module(&info, None)?;
            let stage = vk::PipelineShaderStageCreateInfo::default()
                .stage(vk::ShaderStageFlags::COMPUTE)
                .module(self.module)
                .name(c"main");
            let info = vk::ComputePipelineCreateInfo::default()
                .stage(stage)
                .layout(self.layout);
            let cache = vk::PipelineCache::null();
            let made = self.device.create_compute_pipelines(cache, &[info], None);
            let made = made.map_err(|(_, error)| error);
            self.pipeline = made.context("vkCreateComputePipelines")?[0];
        }
        Ok(())
    }

    fn create_set(&mut self) -> anyhow::Result<vk::DescriptorSet> {
        let sizes = [vk::DescriptorPoolSize::default()
            .ty(vk::DescriptorType::STORAGE_BUFFER)
            .descriptor_count(1)];
        let info = vk::DescriptorPoolCreateInfo::default()
            .max_sets(1)
            .pool_sizes(&sizes);
        // SAFETY: valid structures.
        unsafe {
            self.pool = self.device.create_descriptor_pool(&info, None)?;
            let layouts = [self.set_layout];
            let info = vk::DescriptorSetAllocateInfo::default()
                .descriptor_pool(self.pool)
                .set_layouts(&layouts);
            let set = self.device.allocate_descriptor_sets(&info)?[0];
            let buffers = [vk::DescriptorBufferInfo::default()
                .buffer(self.buffer)
                .range(vk::WHOLE_SIZE)];
            let write = vk::WriteDescriptorSet::default()
                .dst_set(set)
                .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                .buffer_info(&buffers);
            self.device.update_descriptor_sets(&[write], &[]);
            Ok(set)
        }
    }

    fn execute(&mut self, family: u32, set: vk::DescriptorSet) -> anyhow::Result<()> {
        let device = &self.device;
        let info = vk::CommandPoolCreateInfo::default().queue_family_index(family);
        // SAFETY: valid structures and usage.
        unsafe {
            self.commands = device.create_command_pool(&info, None)?;
            let info = vk::CommandBufferAllocateInfo::default()
                .command_pool(self.commands)
                .command_buffer_count(1);
            let commands = device.allocate_command_buffers(&info)?[0];
            let info = vk::CommandBufferBeginInfo::default()
                .flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
            device.begin_command_buffer(commands, &info)?;
            let point = vk::PipelineBindPoint::COMPUTE;
            device.cmd_bind_pipeline(commands, point, self.pipeline);
            device.cmd_bind_descriptor_sets(commands, point, self.layout, 0, &[set], &[]);
            device.cmd_dispatch(commands, COUNT / WORKGROUP, 1, 1);
            let barrier = vk::MemoryBarrier::default()
                .src_access_mask(vk::AccessFlags::SHADER_WRITE)
                .dst_access_mask(vk::AccessFlags::HOST_READ);
            device.cmd_pipeline_barrier(
                commands,
                vk::PipelineStageFlags::COMPUTE_SHADER,
                vk::PipelineStageFlags::HOST,
                vk::DependencyFlags::empty(),
                &[barrier],
                &[],
                &[],
            );
            device.end_command_buffer(commands)?;
            self.fence = device.create_fence(&vk::FenceCreateInfo::default(), None)?;
            let buffers = [commands];
            let submit = vk::SubmitInfo::default().command_buffers(&buffers);
            let queue = device.get_device_queue(family, 0);
            device.queue_submit(queue, &[submit], self.fence)?;
            device
                .wait_for_fences(&[self.fence], true, PATIENCE)
                .context("vkWaitForFences")?;
        }
        Ok(())
    }
}
