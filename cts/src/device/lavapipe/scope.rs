// SPDX-License-Identifier: MIT
//! Vulkan objects that live as long as one run.

use anyhow::Context as _;
use ash::vk;

enum Object {
    Buffer(vk::Buffer),
    Memory(vk::DeviceMemory),
    Image(vk::Image),
    ImageView(vk::ImageView),
    BufferView(vk::BufferView),
    Sampler(vk::Sampler),
    SetLayout(vk::DescriptorSetLayout),
    DescriptorPool(vk::DescriptorPool),
    PipelineLayout(vk::PipelineLayout),
    ShaderModule(vk::ShaderModule),
    Pipeline(vk::Pipeline),
    CommandPool(vk::CommandPool),
    Fence(vk::Fence),
}

/// Destroys what was made in it, the youngest first.
pub(super) struct Scope<'d> {
    device: &'d ash::Device,
    objects: Vec<Object>,
}

macro_rules! creators {
    ($($name:ident: $info:ident, $call:ident, $handle:ident;)*) => {
        $(
            pub(super) fn $name(&mut self, info: &vk::$info<'_>) -> anyhow::Result<vk::$handle> {
                // SAFETY: the info is complete, and what it names lives longer: callers make it in
                // the same scope before, or the device owns it.
                let handle = unsafe { self.device.$call(info, None) }
                    .context(stringify!($call))?;
                self.objects.push(creators!(@object $handle, handle));
                Ok(handle)
            }
        )*
    };
    (@object DeviceMemory, $handle:ident) => { Object::Memory($handle) };
    (@object DescriptorSetLayout, $handle:ident) => { Object::SetLayout($handle) };
    (@object $kind:ident, $handle:ident) => { Object::$kind($handle) };
}

impl<'d> Scope<'d> {
    pub(super) fn new(device: &'d ash::Device) -> Scope<'d> {
        Scope {
            device,
            objects: Vec::new(),
        }
    }

    pub(super) fn device(&self) -> &'d ash::Device {
        self.device
    }

    creators! {
        buffer: BufferCreateInfo, create_buffer, Buffer;
        memory: MemoryAllocateInfo, allocate_memory, DeviceMemory;
        image: ImageCreateInfo, create_image, Image;
        image_view: ImageViewCreateInfo, create_image_view, ImageView;
        buffer_view: BufferViewCreateInfo, create_buffer_view, BufferView;
        sampler: SamplerCreateInfo, create_sampler, Sampler;
        set_layout: DescriptorSetLayoutCreateInfo, create_descriptor_set_layout, DescriptorSetLayout;
        descriptor_pool: DescriptorPoolCreateInfo, create_descriptor_pool, DescriptorPool;
        pipeline_layout: PipelineLayoutCreateInfo, create_pipeline_layout, PipelineLayout;
        shader_module: ShaderModuleCreateInfo, create_shader_module, ShaderModule;
        command_pool: CommandPoolCreateInfo, create_command_pool, CommandPool;
        fence: FenceCreateInfo, create_fence, Fence;
    }

    /// Takes over a pipeline.
    pub(super) fn own_pipeline(&mut self, pipeline: vk::Pipeline) {
        self.objects.push(Object::Pipeline(pipeline));
    }

    /// Leaves everything as it is for ever: the device may still use it.
    pub(super) fn leak(&mut self) {
        self.objects.clear();
    }
}

impl Drop for Scope<'_> {
    fn drop(&mut self) {
        let device = self.device;
        for object in self.objects.drain(..).rev() {
            // SAFETY: made by this device, not destroyed before, and no longer in use: runs wait
            // for their command or leak.
            unsafe {
                match object {
                    Object::Buffer(handle) => device.destroy_buffer(handle, None),
                    Object::Memory(handle) => device.free_memory(handle, None),
                    Object::Image(handle) => device.destroy_image(handle, None),
                    Object::ImageView(handle) => device.destroy_image_view(handle, None),
                    Object::BufferView(handle) => device.destroy_buffer_view(handle, None),
                    Object::Sampler(handle) => device.destroy_sampler(handle, None),
                    Object::SetLayout(handle) => device.destroy_descriptor_set_layout(handle, None),
                    Object::DescriptorPool(handle) => device.destroy_descriptor_pool(handle, None),
                    Object::PipelineLayout(handle) => device.destroy_pipeline_layout(handle, None),
                    Object::ShaderModule(handle) => device.destroy_shader_module(handle, None),
                    Object::Pipeline(handle) => device.destroy_pipeline(handle, None),
                    Object::CommandPool(handle) => device.destroy_command_pool(handle, None),
                    Object::Fence(handle) => device.destroy_fence(handle, None),
                }
            }
        }
    }
}
