// SPDX-License-Identifier: MIT
//! Images of a scenario, and a model of them on the CPU.
#![allow(
    unsafe_op_in_unsafe_fn,
    clippy::missing_safety_doc,
    reason = "every line is a Vulkan call on a scope's own handles; validation layers check them"
)]

use ash::vk;

use crate::model;
use crate::scope::Scope;

/// What an image is.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// Dimensions.
    pub kind: vk::ImageType,
    /// The format.
    pub format: vk::Format,
    /// The part of it that is meant.
    pub aspect: vk::ImageAspectFlags,
    /// Texels of an element on either axis, bytes of one.
    pub element: (u32, u32, u32),
    /// Texels of the first level.
    pub extent: [u32; 3],
    /// Levels.
    pub levels: u32,
    /// Array layers.
    pub layers: u32,
}

/// An image with memory.
#[derive(Debug, Clone, Copy)]
pub struct Image {
    /// The image.
    pub handle: vk::Image,
    /// What it is.
    pub shape: Shape,
}

/// A part of a level: offset and extent in elements; the third axis counts layers or slices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// The level.
    pub level: u32,
    /// The corner.
    pub at: [u32; 3],
    /// The size.
    pub size: [u32; 3],
}

impl Shape {
    /// An image of two dimensions with texels of so many bytes.
    #[must_use]
    pub fn flat(format: vk::Format, bytes: u32, width: u32, height: u32) -> Shape {
        Shape {
            kind: vk::ImageType::TYPE_2D,
            format,
            aspect: vk::ImageAspectFlags::COLOR,
            element: (1, 1, bytes),
            extent: [width, height, 1],
            levels: 1,
            layers: 1,
        }
    }

    /// The same with levels and layers.
    #[must_use]
    pub fn stacked(self, levels: u32, layers: u32) -> Shape {
        Shape {
            levels,
            layers,
            ..self
        }
    }

    /// The same with elements of several texels.
    #[must_use]
    pub fn blocks(self, width: u32, height: u32) -> Shape {
        Shape {
            element: (width, height, self.element.2),
            ..self
        }
    }

    /// Elements of a level on each axis.
    #[must_use]
    pub fn level(&self, level: u32) -> [u32; 3] {
        let [width, height, depth] = self.texels(level);
        let depth = match self.kind {
            vk::ImageType::TYPE_3D => depth,
            _ => self.layers,
        };
        [
            width.div_ceil(self.element.0),
            height.div_ceil(self.element.1),
            depth,
        ]
    }

    /// Texels of a level.
    #[must_use]
    pub fn texels(&self, level: u32) -> [u32; 3] {
        self.extent.map(|size| (size >> level).max(1))
    }

    /// All of a level.
    #[must_use]
    pub fn all(&self, level: u32) -> Part {
        Part {
            level,
            at: [0; 3],
            size: self.level(level),
        }
    }

    /// Bytes of a part.
    #[must_use]
    pub fn bytes(&self, part: Part) -> usize {
        part.size.iter().product::<u32>() as usize * self.element.2 as usize
    }

    /// Bytes of all levels, one after the other.
    #[must_use]
    pub fn size(&self) -> usize {
        let levels = 0..self.levels;
        levels.map(|level| self.bytes(self.all(level))).sum()
    }

    /// Where a part is, for Vulkan: subresource, offset, extent.
    pub fn place(&self, part: Part) -> (vk::ImageSubresourceLayers, vk::Offset3D, vk::Extent3D) {
        let solid = self.kind == vk::ImageType::TYPE_3D;
        let subresource = vk::ImageSubresourceLayers {
            aspect_mask: self.aspect,
            mip_level: part.level,
            base_array_layer: if solid { 0 } else { part.at[2] },
            layer_count: if solid { 1 } else { part.size[2] },
        };
        let corner = [part.at[0] * self.element.0, part.at[1] * self.element.1];
        let texels = self.texels(part.level);
        // Blocks at the edge have fewer texels.
        let width = (part.size[0] * self.element.0).min(texels[0] - corner[0]);
        let height = (part.size[1] * self.element.1).min(texels[1] - corner[1]);
        let offset = vk::Offset3D {
            x: corner[0] as i32,
            y: corner[1] as i32,
            z: if solid { part.at[2] as i32 } else { 0 },
        };
        let extent = vk::Extent3D {
            width,
            height,
            depth: if solid { part.size[2] } else { 1 },
        };
        (subresource, offset, extent)
    }

    /// A part of a level that a seed chooses, not larger than `most` and possibly all of it.
    #[must_use]
    pub fn some_part(&self, level: u32, seed: u32, most: [u32; 3]) -> Part {
        let all = self.level(level);
        let words = model::words(seed, 6);
        let mut part = self.all(level);
        for axis in 0..3 {
            part.size[axis] = 1 + words[axis] % all[axis].min(most[axis]);
            part.at[axis] = words[3 + axis] % (all[axis] - part.size[axis] + 1);
        }
        part
    }
}

impl Image {
    /// Changes the layout, after everything before and in front of everything behind.
    pub unsafe fn to_layout(
        &self,
        s: &Scope<'_>,
        commands: vk::CommandBuffer,
        from: vk::ImageLayout,
        to: vk::ImageLayout,
    ) {
        let all = vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE;
        let barrier = vk::ImageMemoryBarrier::default()
            .src_access_mask(all)
            .dst_access_mask(all)
            .old_layout(from)
            .new_layout(to)
            .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .image(self.handle)
            .subresource_range(self.range());
        let stages = vk::PipelineStageFlags::ALL_COMMANDS;
        let none = vk::DependencyFlags::empty();
        s.device()
            .cmd_pipeline_barrier(commands, stages, stages, none, &[], &[], &[barrier]);
    }

    /// Copies one level after the other between the image and a buffer.
    pub unsafe fn copy_all(
        &self,
        s: &Scope<'_>,
        commands: vk::CommandBuffer,
        buffer: vk::Buffer,
        to_image: bool,
    ) {
        let mut offset = 0;
        let regions: Vec<_> = (0..self.shape.levels)
            .map(|level| {
                let part = self.shape.all(level);
                let (subresource, image_offset, image_extent) = self.shape.place(part);
                let region = vk::BufferImageCopy::default()
                    .buffer_offset(offset)
                    .image_subresource(subresource)
                    .image_offset(image_offset)
                    .image_extent(image_extent);
                offset += self.shape.bytes(part) as u64;
                region
            })
            .collect();
        let general = vk::ImageLayout::GENERAL;
        if to_image {
            s.device()
                .cmd_copy_buffer_to_image(commands, buffer, self.handle, general, &regions);
        } else {
            s.device()
                .cmd_copy_image_to_buffer(commands, self.handle, general, buffer, &regions);
        }
    }

    /// Everything of it.
    pub fn range(&self) -> vk::ImageSubresourceRange {
        vk::ImageSubresourceRange {
            aspect_mask: self.shape.aspect,
            base_mip_level: 0,
            level_count: self.shape.levels,
            base_array_layer: 0,
            layer_count: self.shape.layers,
        }
    }
}

impl Scope<'_> {
    /// Whether there are such images for a usage.
    pub unsafe fn has_image(&self, shape: &Shape, usage: vk::ImageUsageFlags) -> bool {
        let properties = self
            .gpu
            .instance
            .get_physical_device_image_format_properties(
                self.gpu.physical,
                shape.format,
                shape.kind,
                vk::ImageTiling::OPTIMAL,
                usage,
                vk::ImageCreateFlags::empty(),
            );
        properties.is_ok_and(|most| {
            shape.extent[0] <= most.max_extent.width
                && shape.extent[1] <= most.max_extent.height
                && shape.extent[2] <= most.max_extent.depth
                && shape.levels <= most.max_mip_levels
                && shape.layers <= most.max_array_layers
        })
    }

    /// An image with memory of its own, in the general layout once the command buffer has run.
    pub unsafe fn image(
        &self,
        shape: Shape,
        usage: vk::ImageUsageFlags,
        flags: vk::ImageCreateFlags,
        commands: vk::CommandBuffer,
    ) -> anyhow::Result<Image> {
        let one = vk::SampleCountFlags::TYPE_1;
        self.image_with(shape, one, usage, flags, commands)
    }

    /// The same of several samples.
    pub unsafe fn image_with(
        &self,
        shape: Shape,
        samples: vk::SampleCountFlags,
        usage: vk::ImageUsageFlags,
        flags: vk::ImageCreateFlags,
        commands: vk::CommandBuffer,
    ) -> anyhow::Result<Image> {
        let device = self.device();
        let info = vk::ImageCreateInfo::default()
            .flags(flags)
            .image_type(shape.kind)
            .format(shape.format)
            .extent(vk::Extent3D {
                width: shape.extent[0],
                height: shape.extent[1],
                depth: shape.extent[2],
            })
            .mip_levels(shape.levels)
            .array_layers(shape.layers)
            .samples(samples)
            .tiling(vk::ImageTiling::OPTIMAL)
            .usage(usage);
        let handle = device.create_image(&info, None)?;
        self.at_end(move |device| device.destroy_image(handle, None));
        let needs = device.get_image_memory_requirements(handle);
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(needs.size)
            .memory_type_index(
                self.memory_type(needs.memory_type_bits, vk::MemoryPropertyFlags::empty())?,
            );
        let memory = device.allocate_memory(&info, None)?;
        self.at_end(move |device| device.free_memory(memory, None));
        device.bind_image_memory(handle, memory, 0)?;
        let image = Image { handle, shape };
        let barrier = vk::ImageMemoryBarrier::default()
            .dst_access_mask(vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE)
            .old_layout(vk::ImageLayout::UNDEFINED)
            .new_layout(vk::ImageLayout::GENERAL)
            .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .image(handle)
            .subresource_range(vk::ImageSubresourceRange {
                aspect_mask: match shape.format {
                    vk::Format::D32_SFLOAT_S8_UINT => {
                        vk::ImageAspectFlags::DEPTH | vk::ImageAspectFlags::STENCIL
                    }
                    _ => shape.aspect,
                },
                ..image.range()
            });
        device.cmd_pipeline_barrier(
            commands,
            vk::PipelineStageFlags::TOP_OF_PIPE,
            vk::PipelineStageFlags::ALL_COMMANDS,
            vk::DependencyFlags::empty(),
            &[],
            &[],
            &[barrier],
        );
        Ok(image)
    }
}

/// The elements of an image, level after level, slice after slice, row after row.
#[derive(Debug, Clone)]
pub struct Model {
    /// What it is a model of.
    pub shape: Shape,
    /// The bytes.
    pub bytes: Vec<u8>,
}

impl Model {
    /// Of pseudo-random bytes.
    #[must_use]
    pub fn new(shape: Shape, seed: u32) -> Model {
        Model {
            shape,
            bytes: model::bytes(seed, shape.size()),
        }
    }

    fn row(&self, level: u32, x: u32, y: u32, z: u32, count: u32) -> std::ops::Range<usize> {
        let before = (0..level).map(|level| self.shape.bytes(self.shape.all(level)));
        let [width, height, _] = self.shape.level(level);
        let element = self.shape.element.2 as usize;
        let index = (z as usize * height as usize + y as usize) * width as usize + x as usize;
        let start = before.sum::<usize>() + index * element;
        start..start + count as usize * element
    }

    /// The bytes of a part.
    #[must_use]
    pub fn part(&self, part: Part) -> Vec<u8> {
        let mut bytes = Vec::new();
        for z in 0..part.size[2] {
            for y in 0..part.size[1] {
                let [x, y, z] = [part.at[0], part.at[1] + y, part.at[2] + z];
                bytes.extend_from_slice(&self.bytes[self.row(part.level, x, y, z, part.size[0])]);
            }
        }
        bytes
    }

    /// Puts bytes into a part.
    pub fn put(&mut self, part: Part, bytes: &[u8]) {
        let mut rows = bytes.chunks_exact((part.size[0] * self.shape.element.2) as usize);
        for z in 0..part.size[2] {
            for y in 0..part.size[1] {
                let [x, y, z] = [part.at[0], part.at[1] + y, part.at[2] + z];
                let to = self.row(part.level, x, y, z, part.size[0]);
                if let Some(row) = rows.next() {
                    self.bytes[to].copy_from_slice(row);
                }
            }
        }
    }
}
