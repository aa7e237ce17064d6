// SPDX-License-Identifier: MIT
//! Objects of one scenario, made with few words and destroyed in reverse order at its end.
//!
//! Unsafe functions here are as safe as the Vulkan commands that they are named after: handles must
//! be of the scope's device and alive, and uses valid.
#![allow(
    unsafe_op_in_unsafe_fn,
    clippy::missing_safety_doc,
    reason = "every line is a Vulkan call on this scope's own handles; validation layers check them"
)]

use std::sync::{Mutex, PoisonError};

use anyhow::{Context as _, anyhow};
use ash::vk;

use crate::gpu::Gpu;
use crate::model;
use crate::scenario::Report;
use crate::shader;

/// A scenario's objects.
pub struct Scope<'a> {
    /// The device.
    pub gpu: &'a Gpu,
    /// The results.
    pub report: &'a Report,
    destroy: Mutex<Vec<Destroy>>,
}

type Destroy = Box<dyn FnOnce(&ash::Device) + Send>;

/// A buffer with memory of its own, mapped and coherent.
#[derive(Debug, Clone, Copy)]
pub struct Buffer {
    /// The buffer.
    pub handle: vk::Buffer,
    /// Its memory, from offset 0.
    pub memory: vk::DeviceMemory,
    /// Bytes.
    pub size: u64,
    /// Where the memory is mapped.
    pub mapped: Mapped,
}

/// Where memory is mapped.
#[derive(Debug, Clone, Copy)]
pub struct Mapped(pub *mut u8);

// SAFETY: a place in memory that the scope keeps mapped; accesses are unsafe by themselves.
unsafe impl Send for Mapped {}
// SAFETY: as above.
unsafe impl Sync for Mapped {}

/// A compute pipeline with one set of buffers.
#[derive(Debug, Clone, Copy)]
pub struct Kernel {
    /// The pipeline.
    pub pipeline: vk::Pipeline,
    /// Its layout.
    pub layout: vk::PipelineLayout,
    /// The layout of set 0.
    pub set_layout: vk::DescriptorSetLayout,
}

/// Usage of [`Scope::buffer`]'s buffers.
pub const USAGE: vk::BufferUsageFlags = vk::BufferUsageFlags::from_raw(
    vk::BufferUsageFlags::STORAGE_BUFFER.as_raw()
        | vk::BufferUsageFlags::UNIFORM_BUFFER.as_raw()
        | vk::BufferUsageFlags::INDIRECT_BUFFER.as_raw()
        | vk::BufferUsageFlags::TRANSFER_SRC.as_raw()
        | vk::BufferUsageFlags::TRANSFER_DST.as_raw(),
);

impl Buffer {
    /// All of it, for a descriptor.
    pub fn whole(&self) -> vk::DescriptorBufferInfo {
        self.part(0, vk::WHOLE_SIZE)
    }

    /// A part of it, for a descriptor.
    pub fn part(&self, offset: u64, range: u64) -> vk::DescriptorBufferInfo {
        vk::DescriptorBufferInfo {
            buffer: self.handle,
            offset,
            range,
        }
    }

    /// What is in it. The GPU must not be writing it.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        // SAFETY: mapped by the scope that made it, with all of its bytes.
        unsafe { std::slice::from_raw_parts(self.mapped.0, self.size as usize) }.to_vec()
    }

    /// What is in it, as words.
    #[must_use]
    pub fn words(&self) -> Vec<u32> {
        model::to_words(&self.bytes())
    }

    /// Writes bytes from an offset on.
    ///
    /// # Panics
    /// When they do not fit.
    pub fn write(&self, offset: usize, bytes: &[u8]) {
        assert!(offset + bytes.len() <= self.size as usize);
        // SAFETY: mapped by the scope that made it; the bytes fit.
        unsafe {
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.mapped.0.add(offset), bytes.len());
        }
    }
}

impl<'a> Scope<'a> {
    /// An empty scope.
    #[must_use]
    pub fn new(gpu: &'a Gpu, report: &'a Report) -> Scope<'a> {
        Scope {
            gpu,
            report,
            destroy: Mutex::default(),
        }
    }

    /// The device's functions.
    #[must_use]
    pub fn device(&self) -> &'a ash::Device {
        &self.gpu.device
    }

    /// Has something destroyed at the end, before everything that was handed over earlier.
    pub fn at_end(&self, destroy: impl FnOnce(&ash::Device) + Send + 'static) {
        let mut list = self.destroy.lock().unwrap_or_else(PoisonError::into_inner);
        list.push(Box::new(destroy));
    }

    /// A memory type among those allowed.
    pub fn memory_type(
        &self,
        allowed: u32,
        wanted: vk::MemoryPropertyFlags,
    ) -> anyhow::Result<u32> {
        let types = self.gpu.memory.memory_types_as_slice();
        (0..types.len() as u32)
            .find(|i| allowed & (1 << i) != 0 && types[*i as usize].property_flags.contains(wanted))
            .ok_or_else(|| anyhow!("no memory of types {allowed:#x} is {wanted:?}"))
    }

    /// A buffer of [`USAGE`], all zero.
    pub unsafe fn buffer(&self, size: u64) -> anyhow::Result<Buffer> {
        self.buffer_for(size, USAGE)
    }

    /// A buffer with words in it.
    pub unsafe fn buffer_of(&self, words: &[u32]) -> anyhow::Result<Buffer> {
        let buffer = self.buffer(4 * words.len() as u64)?;
        buffer.write(0, &model::to_bytes(words));
        Ok(buffer)
    }

    /// A buffer for a usage, all zero.
    pub unsafe fn buffer_for(
        &self,
        size: u64,
        usage: vk::BufferUsageFlags,
    ) -> anyhow::Result<Buffer> {
        let device = self.device();
        let handle = self.bare_buffer(size, usage)?;
        let needs = device.get_buffer_memory_requirements(handle);
        let host = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
        let mut flags = vk::MemoryAllocateFlagsInfo::default();
        if usage.contains(vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS) {
            flags = flags.flags(vk::MemoryAllocateFlags::DEVICE_ADDRESS);
        }
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(needs.size)
            .memory_type_index(self.memory_type(needs.memory_type_bits, host)?)
            .push_next(&mut flags);
        let memory = device.allocate_memory(&info, None)?;
        self.at_end(move |device| device.free_memory(memory, None));
        device.bind_buffer_memory(handle, memory, 0)?;
        let mapped = device.map_memory(memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty())?;
        std::ptr::write_bytes(mapped.cast::<u8>(), 0, size as usize);
        Ok(Buffer {
            handle,
            memory,
            size,
            mapped: Mapped(mapped.cast()),
        })
    }

    /// A buffer without memory.
    pub unsafe fn bare_buffer(
        &self,
        size: u64,
        usage: vk::BufferUsageFlags,
    ) -> anyhow::Result<vk::Buffer> {
        let info = vk::BufferCreateInfo::default().size(size).usage(usage);
        let handle = self.device().create_buffer(&info, None)?;
        self.at_end(move |device| device.destroy_buffer(handle, None));
        Ok(handle)
    }

    /// A set layout of bindings (number, type, count).
    pub unsafe fn set_layout(
        &self,
        bindings: &[(u32, vk::DescriptorType, u32)],
        flags: vk::DescriptorSetLayoutCreateFlags,
    ) -> anyhow::Result<vk::DescriptorSetLayout> {
        self.set_layout_with(bindings, flags, &[])
    }

    /// A set layout with flags for its bindings.
    pub unsafe fn set_layout_with(
        &self,
        bindings: &[(u32, vk::DescriptorType, u32)],
        flags: vk::DescriptorSetLayoutCreateFlags,
        binding_flags: &[vk::DescriptorBindingFlags],
    ) -> anyhow::Result<vk::DescriptorSetLayout> {
        let bindings: Vec<_> = bindings
            .iter()
            .map(|(number, ty, count)| {
                vk::DescriptorSetLayoutBinding::default()
                    .binding(*number)
                    .descriptor_type(*ty)
                    .descriptor_count(*count)
                    .stage_flags(vk::ShaderStageFlags::COMPUTE)
            })
            .collect();
        let mut extra =
            vk::DescriptorSetLayoutBindingFlagsCreateInfo::default().binding_flags(binding_flags);
        let mut info = vk::DescriptorSetLayoutCreateInfo::default()
            .bindings(&bindings)
            .flags(flags);
        if !binding_flags.is_empty() {
            info = info.push_next(&mut extra);
        }
        let layout = self.device().create_descriptor_set_layout(&info, None)?;
        self.at_end(move |device| device.destroy_descriptor_set_layout(layout, None));
        Ok(layout)
    }

    /// A pipeline layout of sets and push constants.
    pub unsafe fn pipeline_layout(
        &self,
        sets: &[vk::DescriptorSetLayout],
        push_bytes: u32,
    ) -> anyhow::Result<vk::PipelineLayout> {
        let ranges = [vk::PushConstantRange {
            stage_flags: vk::ShaderStageFlags::COMPUTE,
            offset: 0,
            size: push_bytes,
        }];
        let mut info = vk::PipelineLayoutCreateInfo::default().set_layouts(sets);
        if push_bytes > 0 {
            info = info.push_constant_ranges(&ranges);
        }
        let layout = self.device().create_pipeline_layout(&info, None)?;
        self.at_end(move |device| device.destroy_pipeline_layout(layout, None));
        Ok(layout)
    }

    /// A shader module of GLSL, see [`shader::glsl`].
    pub unsafe fn module(&self, glsl: &str) -> anyhow::Result<vk::ShaderModule> {
        self.module_of(&shader::glsl(glsl)?)
    }

    /// A shader module of SPIR-V.
    pub unsafe fn module_of(&self, words: &[u32]) -> anyhow::Result<vk::ShaderModule> {
        let info = vk::ShaderModuleCreateInfo::default().code(words);
        let module = self.device().create_shader_module(&info, None)?;
        self.at_end(move |device| device.destroy_shader_module(module, None));
        Ok(module)
    }

    /// A compute pipeline.
    pub unsafe fn pipeline(
        &self,
        glsl: &str,
        layout: vk::PipelineLayout,
    ) -> anyhow::Result<vk::Pipeline> {
        self.specialized(glsl, layout, &[], vk::PipelineCreateFlags::empty())
    }

    /// A compute pipeline with 32-bit specialisation constants of IDs 0, 1 and so on.
    pub unsafe fn specialized(
        &self,
        glsl: &str,
        layout: vk::PipelineLayout,
        constants: &[u32],
        flags: vk::PipelineCreateFlags,
    ) -> anyhow::Result<vk::Pipeline> {
        let module = self.module(glsl)?;
        self.pipeline_of(module, layout, constants, flags)
    }

    /// A compute pipeline of a module, with specialisation constants as in [`Scope::specialized`].
    pub unsafe fn pipeline_of(
        &self,
        module: vk::ShaderModule,
        layout: vk::PipelineLayout,
        constants: &[u32],
        flags: vk::PipelineCreateFlags,
    ) -> anyhow::Result<vk::Pipeline> {
        let entries: Vec<_> = (0..constants.len() as u32)
            .map(|id| vk::SpecializationMapEntry {
                constant_id: id,
                offset: 4 * id,
                size: 4,
            })
            .collect();
        let data = model::to_bytes(constants);
        let specialization = vk::SpecializationInfo::default()
            .map_entries(&entries)
            .data(&data);
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(module)
            .name(c"main")
            .specialization_info(&specialization);
        let info = vk::ComputePipelineCreateInfo::default()
            .stage(stage)
            .layout(layout)
            .flags(flags);
        let pipeline = self
            .device()
            .create_compute_pipelines(vk::PipelineCache::null(), &[info], None)
            .map_err(|(_, result)| result)
            .context("vkCreateComputePipelines")?[0];
        self.at_end(move |device| device.destroy_pipeline(pipeline, None));
        Ok(pipeline)
    }

    /// A pipeline whose set 0 has storage buffers at bindings 0, 1 and so on.
    pub unsafe fn kernel(
        &self,
        glsl: &str,
        buffers: u32,
        push_bytes: u32,
    ) -> anyhow::Result<Kernel> {
        let module = self.module(glsl)?;
        self.kernel_of(module, buffers, push_bytes)
    }

    /// As [`Scope::kernel`], of a module.
    pub unsafe fn kernel_of(
        &self,
        module: vk::ShaderModule,
        buffers: u32,
        push_bytes: u32,
    ) -> anyhow::Result<Kernel> {
        let bindings: Vec<_> = (0..buffers)
            .map(|binding| (binding, vk::DescriptorType::STORAGE_BUFFER, 1))
            .collect();
        let set_layout = self.set_layout(&bindings, vk::DescriptorSetLayoutCreateFlags::empty())?;
        let layout = self.pipeline_layout(&[set_layout], push_bytes)?;
        Ok(Kernel {
            pipeline: self.pipeline_of(module, layout, &[], vk::PipelineCreateFlags::empty())?,
            layout,
            set_layout,
        })
    }

    /// A set of a layout with room for 64 buffers of each kind, in a pool of its own.
    pub unsafe fn set(&self, layout: vk::DescriptorSetLayout) -> anyhow::Result<vk::DescriptorSet> {
        let pool = self.pool(1, 64, vk::DescriptorPoolCreateFlags::empty())?;
        let layouts = [layout];
        let info = vk::DescriptorSetAllocateInfo::default()
            .descriptor_pool(pool)
            .set_layouts(&layouts);
        Ok(self.device().allocate_descriptor_sets(&info)?[0])
    }

    /// A pool with room for sets and, in all, buffers of each kind.
    pub unsafe fn pool(
        &self,
        sets: u32,
        buffers: u32,
        flags: vk::DescriptorPoolCreateFlags,
    ) -> anyhow::Result<vk::DescriptorPool> {
        let sizes = [
            vk::DescriptorType::STORAGE_BUFFER,
            vk::DescriptorType::UNIFORM_BUFFER,
            vk::DescriptorType::STORAGE_BUFFER_DYNAMIC,
            vk::DescriptorType::UNIFORM_BUFFER_DYNAMIC,
        ]
        .map(|ty| vk::DescriptorPoolSize {
            ty,
            descriptor_count: buffers,
        });
        let info = vk::DescriptorPoolCreateInfo::default()
            .max_sets(sets)
            .pool_sizes(&sizes)
            .flags(flags);
        let pool = self.device().create_descriptor_pool(&info, None)?;
        self.at_end(move |device| device.destroy_descriptor_pool(pool, None));
        Ok(pool)
    }

    /// A kernel's set 0 with storage buffers in it.
    pub unsafe fn bind(
        &self,
        kernel: &Kernel,
        buffers: &[&Buffer],
    ) -> anyhow::Result<vk::DescriptorSet> {
        let set = self.set(kernel.set_layout)?;
        for (binding, buffer) in buffers.iter().enumerate() {
            let info = [buffer.whole()];
            self.write(
                set,
                binding as u32,
                vk::DescriptorType::STORAGE_BUFFER,
                0,
                &info,
            );
        }
        Ok(set)
    }

    /// Writes descriptors to a set.
    pub unsafe fn write(
        &self,
        set: vk::DescriptorSet,
        binding: u32,
        ty: vk::DescriptorType,
        element: u32,
        buffers: &[vk::DescriptorBufferInfo],
    ) {
        let write = vk::WriteDescriptorSet::default()
            .dst_set(set)
            .dst_binding(binding)
            .dst_array_element(element)
            .descriptor_type(ty)
            .buffer_info(buffers);
        self.device().update_descriptor_sets(&[write], &[]);
    }

    /// A command pool.
    pub unsafe fn command_pool(
        &self,
        flags: vk::CommandPoolCreateFlags,
    ) -> anyhow::Result<vk::CommandPool> {
        let info = vk::CommandPoolCreateInfo::default()
            .queue_family_index(self.gpu.family)
            .flags(flags);
        let pool = self.device().create_command_pool(&info, None)?;
        self.at_end(move |device| device.destroy_command_pool(pool, None));
        Ok(pool)
    }

    /// Command buffers of a pool.
    pub unsafe fn allocate(
        &self,
        pool: vk::CommandPool,
        level: vk::CommandBufferLevel,
        count: u32,
    ) -> anyhow::Result<Vec<vk::CommandBuffer>> {
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(pool)
            .level(level)
            .command_buffer_count(count);
        Ok(self.device().allocate_command_buffers(&info)?)
    }

    /// A primary command buffer in a pool of its own, being recorded.
    pub unsafe fn commands(
        &self,
        usage: vk::CommandBufferUsageFlags,
    ) -> anyhow::Result<vk::CommandBuffer> {
        let pool = self.command_pool(vk::CommandPoolCreateFlags::empty())?;
        let commands = self.allocate(pool, vk::CommandBufferLevel::PRIMARY, 1)?[0];
        self.begin(commands, usage)?;
        Ok(commands)
    }

    /// Begins recording a primary command buffer.
    pub unsafe fn begin(
        &self,
        commands: vk::CommandBuffer,
        usage: vk::CommandBufferUsageFlags,
    ) -> anyhow::Result<()> {
        let info = vk::CommandBufferBeginInfo::default().flags(usage);
        Ok(self.device().begin_command_buffer(commands, &info)?)
    }

    /// Binds a kernel and a set of it and records a dispatch of groups along x.
    pub unsafe fn dispatch(
        &self,
        commands: vk::CommandBuffer,
        kernel: &Kernel,
        set: vk::DescriptorSet,
        groups: u32,
    ) {
        let device = self.device();
        let compute = vk::PipelineBindPoint::COMPUTE;
        device.cmd_bind_pipeline(commands, compute, kernel.pipeline);
        device.cmd_bind_descriptor_sets(commands, compute, kernel.layout, 0, &[set], &[]);
        device.cmd_dispatch(commands, groups, 1, 1);
    }

    /// Makes everything that was written available to everything that follows, host included.
    pub unsafe fn barrier(&self, commands: vk::CommandBuffer) {
        let barrier = vk::MemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE)
            .dst_access_mask(vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE);
        self.device().cmd_pipeline_barrier(
            commands,
            vk::PipelineStageFlags::ALL_COMMANDS,
            vk::PipelineStageFlags::ALL_COMMANDS | vk::PipelineStageFlags::HOST,
            vk::DependencyFlags::empty(),
            &[barrier],
            &[],
            &[],
        );
    }

    /// A fence.
    pub unsafe fn fence(&self, flags: vk::FenceCreateFlags) -> anyhow::Result<vk::Fence> {
        let info = vk::FenceCreateInfo::default().flags(flags);
        let fence = self.device().create_fence(&info, None)?;
        self.at_end(move |device| device.destroy_fence(fence, None));
        Ok(fence)
    }

    /// A semaphore: binary, or of the timeline from a value on.
    pub unsafe fn semaphore(&self, timeline: Option<u64>) -> anyhow::Result<vk::Semaphore> {
        let mut ty = vk::SemaphoreTypeCreateInfo::default();
        if let Some(value) = timeline {
            ty = ty
                .semaphore_type(vk::SemaphoreType::TIMELINE)
                .initial_value(value);
        }
        let info = vk::SemaphoreCreateInfo::default().push_next(&mut ty);
        let semaphore = self.device().create_semaphore(&info, None)?;
        self.at_end(move |device| device.destroy_semaphore(semaphore, None));
        Ok(semaphore)
    }

    /// A pool of timestamp queries.
    pub unsafe fn timestamps(&self, count: u32) -> anyhow::Result<vk::QueryPool> {
        let info = vk::QueryPoolCreateInfo::default()
            .query_type(vk::QueryType::TIMESTAMP)
            .query_count(count);
        let pool = self.device().create_query_pool(&info, None)?;
        self.at_end(move |device| device.destroy_query_pool(pool, None));
        Ok(pool)
    }

    /// Ends recording with a barrier towards the host, submits and waits.
    pub unsafe fn finish(&self, commands: vk::CommandBuffer) -> anyhow::Result<()> {
        self.barrier(commands);
        self.device().end_command_buffer(commands)?;
        self.submit(&[commands])
    }

    /// Submits recorded command buffers and waits.
    pub unsafe fn submit(&self, commands: &[vk::CommandBuffer]) -> anyhow::Result<()> {
        let fence = self.fence(vk::FenceCreateFlags::empty())?;
        let submit = vk::SubmitInfo::default().command_buffers(commands);
        self.device()
            .queue_submit(self.gpu.queue, &[submit], fence)
            .context("vkQueueSubmit")?;
        self.wait(&[fence])
    }

    /// Waits for fences; a driver that needs a minute hangs.
    pub unsafe fn wait(&self, fences: &[vk::Fence]) -> anyhow::Result<()> {
        self.device()
            .wait_for_fences(fences, true, TIMEOUT)
            .context("vkWaitForFences")
    }

    /// Runs a kernel once on buffers and waits.
    pub unsafe fn run(
        &self,
        kernel: &Kernel,
        buffers: &[&Buffer],
        groups: u32,
    ) -> anyhow::Result<()> {
        let set = self.bind(kernel, buffers)?;
        let commands = self.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
        self.dispatch(commands, kernel, set, groups);
        self.finish(commands)
    }
}

/// Nanoseconds after which a driver counts as hanging.
pub const TIMEOUT: u64 = 120_000_000_000;

impl Drop for Scope<'_> {
    fn drop(&mut self) {
        // SAFETY: the device is open. An error is one that the scenario has seen, or not: then the
        // device is lost and objects may still be destroyed.
        let _ = unsafe { self.device().device_wait_idle() };
        let mut list = self.destroy.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some(destroy) = list.pop() {
            destroy(self.device());
        }
    }
}
