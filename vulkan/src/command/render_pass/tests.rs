// SPDX-License-Identifier: MIT
//! How many passes of the hardware the subpasses of a render pass become.

use agx_uapi::abi::CmdRender;

use super::*;
use crate::command::Work;
use crate::testing::Driver;

const FORMAT: vk::Format = vk::Format::R8G8B8A8_UNORM;
const SIDE: u32 = 64;

/// A framebuffer of two attachments, of which the first is not stored.
struct Test {
    driver: Driver,
    images: Vec<(vk::Image, vk::DeviceMemory, vk::ImageView)>,
    pass: vk::RenderPass,
    framebuffer: vk::Framebuffer,
    pool: vk::CommandPool,
}

impl Test {
    fn new(flags: vk::DependencyFlags) -> Test {
        let driver = Driver::new();
        let device = &driver.device;
        // SAFETY: valid structures and live handles.
        unsafe {
            let images: Vec<_> = (0..2).map(|_| image(device)).collect();
            let attachment = |store| {
                vk::AttachmentDescription::default()
                    .format(FORMAT)
                    .samples(vk::SampleCountFlags::TYPE_1)
                    .load_op(vk::AttachmentLoadOp::CLEAR)
                    .store_op(store)
                    .final_layout(vk::ImageLayout::GENERAL)
            };
            let attachments = [
                attachment(vk::AttachmentStoreOp::DONT_CARE),
                attachment(vk::AttachmentStoreOp::STORE),
            ];
            let references = [0, 1].map(|attachment| {
                [vk::AttachmentReference {
                    attachment,
                    layout: vk::ImageLayout::GENERAL,
                }]
            });
            let subpasses = [
                vk::SubpassDescription::default().color_attachments(&references[0]),
                vk::SubpassDescription::default()
                    .color_attachments(&references[1])
                    .input_attachments(&references[0]),
            ];
            let dependencies = [vk::SubpassDependency {
                src_subpass: 0,
                dst_subpass: 1,
                src_stage_mask: vk::PipelineStageFlags::COLOR_ATTACHMENT_OUTPUT,
                dst_stage_mask: vk::PipelineStageFlags::FRAGMENT_SHADER,
                src_access_mask: vk::AccessFlags::COLOR_ATTACHMENT_WRITE,
                dst_access_mask: vk::AccessFlags::INPUT_ATTACHMENT_READ,
                dependency_flags: flags,
            }];
            let info = vk::RenderPassCreateInfo::default()
                .attachments(&attachments)
                .subpasses(&subpasses)
                .dependencies(&dependencies);
            let pass = device.create_render_pass(&info, None).expect("a pass");
            let views: Vec<_> = images.iter().map(|image| image.2).collect();
            let info = vk::FramebufferCreateInfo::default()
                .render_pass(pass)
                .attachments(&views)
                .width(SIDE)
                .height(SIDE)
                .layers(1);
            let framebuffer = device.create_framebuffer(&info, None).expect("one");
            let pool = device.create_command_pool(&vk::CommandPoolCreateInfo::default(), None);
            Test {
                pool: pool.expect("a pool"),
                images,
                pass,
                framebuffer,
                driver,
            }
        }
    }

    /// The passes of the hardware that a recording has.
    fn record(&self, commands: impl FnOnce(&ash::Device, vk::CommandBuffer)) -> Vec<CmdRender> {
        let device = &self.driver.device;
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(self.pool)
            .command_buffer_count(1);
        let clears = [vk::ClearValue::default(); 2];
        let begin = vk::RenderPassBeginInfo::default()
            .render_pass(self.pass)
            .framebuffer(self.framebuffer)
            .render_area(vk::Rect2D {
                extent: vk::Extent2D {
                    width: SIDE,
                    height: SIDE,
                },
                ..Default::default()
            })
            .clear_values(&clears);
        // SAFETY: valid structures and live handles.
        unsafe {
            let buffer = device.allocate_command_buffers(&info).expect("a buffer")[0];
            let once = vk::CommandBufferBeginInfo::default();
            device.begin_command_buffer(buffer, &once).expect("begun");
            device.cmd_begin_render_pass(buffer, &begin, vk::SubpassContents::INLINE);
            commands(device, buffer);
            device.cmd_end_render_pass(buffer);
            device.end_command_buffer(buffer).expect("recorded");
            let segments = object::get::<CommandBuffer>(buffer).segments();
            let renders = segments.iter().filter_map(|segment| match segment.work {
                Work::Render(render) => Some(render),
                Work::Compute { .. } => None,
            });
            renders.collect()
        }
    }
}

unsafe fn image(device: &ash::Device) -> (vk::Image, vk::DeviceMemory, vk::ImageView) {
    let info = vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(FORMAT)
        .extent(vk::Extent3D {
            width: SIDE,
            height: SIDE,
            depth: 1,
        })
        .mip_levels(1)
        .array_layers(1)
        .samples(vk::SampleCountFlags::TYPE_1)
        .usage(vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::INPUT_ATTACHMENT);
    // SAFETY: valid structures and live handles.
    unsafe {
        let image = device.create_image(&info, None).expect("an image");
        let needs = device.get_image_memory_requirements(image);
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(needs.size)
            .memory_type_index(needs.memory_type_bits.trailing_zeros());
        let memory = device.allocate_memory(&info, None).expect("memory");
        device.bind_image_memory(image, memory, 0).expect("bound");
        let info = vk::ImageViewCreateInfo::default()
            .image(image)
            .view_type(vk::ImageViewType::TYPE_2D)
            .format(FORMAT)
            .subresource_range(vk::ImageSubresourceRange {
                aspect_mask: vk::ImageAspectFlags::COLOR,
                level_count: 1,
                layer_count: 1,
                ..Default::default()
            });
        let view = device.create_image_view(&info, None).expect("a view");
        (image, memory, view)
    }
}

impl Drop for Test {
    fn drop(&mut self) {
        let device = &self.driver.device;
        // SAFETY: live handles that no one uses.
        unsafe {
            device.destroy_command_pool(self.pool, None);
            device.destroy_framebuffer(self.framebuffer, None);
            device.destroy_render_pass(self.pass, None);
            for (image, memory, view) in &self.images {
                device.destroy_image_view(*view, None);
                device.destroy_image(*image, None);
                device.free_memory(*memory, None);
            }
        }
    }
}

fn next(device: &ash::Device, buffer: vk::CommandBuffer) {
    // SAFETY: a live handle.
    unsafe { device.cmd_next_subpass(buffer, vk::SubpassContents::INLINE) };
}

#[test]
fn merged_subpasses_are_one_pass() {
    let test = Test::new(vk::DependencyFlags::BY_REGION);
    let renders = test.record(next);
    let [render] = &renders[..] else {
        panic!("{} passes", renders.len());
    };
    assert_eq!(render.sample_size_b, 8);
    // What is not stored at the end of a tile is stored when it is interrupted.
    assert_ne!(render.eot.usc, render.partial_eot.usc);
}

#[test]
fn others_are_passes_of_their_own() {
    let test = Test::new(vk::DependencyFlags::empty());
    let renders = test.record(next);
    assert_eq!(renders.len(), 2);
    for render in renders {
        // A word, in units of 8 bytes; the first attachment is stored for the second subpass to read.
        assert_eq!(render.sample_size_b, 8);
        assert_eq!(render.eot.usc, render.partial_eot.usc);
    }
}

/// A barrier ends a pass, and the next has all attachments.
#[test]
fn barriers_divide_merged_subpasses() {
    let test = Test::new(vk::DependencyFlags::BY_REGION);
    let renders = test.record(|device, buffer| {
        next(device, buffer);
        let stages = vk::PipelineStageFlags::FRAGMENT_SHADER;
        let region = vk::DependencyFlags::BY_REGION;
        // SAFETY: a live handle.
        unsafe { device.cmd_pipeline_barrier(buffer, stages, stages, region, &[], &[], &[]) };
    });
    let [first, second] = &renders[..] else {
        panic!("{} passes", renders.len());
    };
    assert_eq!(first.eot.usc, first.partial_eot.usc);
    assert_ne!(second.eot.usc, second.partial_eot.usc);
    assert_eq!(second.bg.usc, second.partial_bg.usc);
}
