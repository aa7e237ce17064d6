// SPDX-License-Identifier: MIT
//! Images as rows of pixels, by the driver's own copies.

use ash::vk;

use super::dma_buf::DmaBuf;
use crate::buffer;
use crate::command::entries as command;
use crate::error::VkResult;
use crate::gpu::Zone;
use crate::host::{HostAllocator, HostVec, OUT_OF_HOST, push};
use crate::memory::{self, DeviceMemory};
use crate::object;
use crate::physical_device::memory::TYPES;

/// Bytes of a pixel: of every format that surfaces have.
const PIXEL_BYTES: u32 = 4;

/// Bytes that rows in shared buffers begin at multiples of, which every importer takes: Mesa's
/// window systems share linear buffers between different GPUs with this one. Apple's GPUs want 16
/// (Mesa, asahi/layout).
const SHARED_ROW_ALIGN: u32 = 256;

/// Buffers that take an image each, and the command buffers that fill them.
///
/// Made of objects like the application's, and destroyed with [`Copies::destroy`].
pub(super) struct Copies {
    extent: vk::Extent2D,
    /// Bytes from row to row.
    stride: u32,
    /// Others see the buffers, too.
    shared: bool,
    pages: HostVec<Page>,
    pool: vk::CommandPool,
    /// One for each image and buffer; those of an image together.
    commands: HostVec<vk::CommandBuffer>,
}

/// A buffer with its memory.
#[derive(Clone, Copy)]
struct Page {
    buffer: vk::Buffer,
    memory: vk::DeviceMemory,
}

impl Copies {
    /// Of nothing yet, into memory that the CPU reads, rows directly after each other.
    pub(super) fn to_host(host: HostAllocator, extent: vk::Extent2D) -> Copies {
        Copies {
            extent,
            stride: PIXEL_BYTES * extent.width,
            shared: false,
            pages: host.vec(),
            pool: vk::CommandPool::null(),
            commands: host.vec(),
        }
    }

    /// Of nothing yet, into buffers that others see.
    pub(super) fn to_dma_bufs(host: HostAllocator, extent: vk::Extent2D) -> Copies {
        let packed = Copies::to_host(host, extent);
        Copies {
            stride: packed.stride.next_multiple_of(SHARED_ROW_ALIGN),
            shared: true,
            ..packed
        }
    }

    fn size(&self) -> u64 {
        u64::from(self.stride) * u64::from(self.extent.height)
    }

    /// Makes so many buffers, and records the copies. After an error it can only be destroyed.
    ///
    /// # Errors
    /// When there is no memory.
    ///
    /// # Safety
    /// All handles live, and the callbacks are null or valid.
    pub(super) unsafe fn record(
        &mut self,
        device: vk::Device,
        allocator: *const vk::AllocationCallbacks<'_>,
        pages: usize,
        images: impl ExactSizeIterator<Item = vk::Image>,
    ) -> VkResult {
        let pool = vk::CommandPoolCreateInfo::default();
        let room = self.commands.try_reserve_exact(pages * images.len());
        room.map_err(|_| OUT_OF_HOST)?;
        // SAFETY: the caller's promise; all structures are valid.
        unsafe {
            for _ in 0..pages {
                let page = Page {
                    buffer: vk::Buffer::null(),
                    memory: vk::DeviceMemory::null(),
                };
                push(&mut self.pages, page)?;
                self.fill_last_page(device, allocator)?;
            }
            command::create_command_pool(device, &raw const pool, allocator, &raw mut self.pool)
                .result()?;
            for image in images {
                for page in 0..pages {
                    let commands = self.copy(device, image, self.pages[page].buffer)?;
                    self.commands.push(commands);
                }
            }
        }
        Ok(())
    }

    /// # Safety
    /// As for [`Copies::record`].
    unsafe fn fill_last_page(
        &mut self,
        device: vk::Device,
        allocator: *const vk::AllocationCallbacks<'_>,
    ) -> VkResult {
        let info = vk::BufferCreateInfo::default()
            .size(self.size())
            .usage(vk::BufferUsageFlags::TRANSFER_DST);
        // The CPU reads it, or another GPU.
        let zone = if self.shared {
            Zone::WriteCombined
        } else {
            Zone::Cached
        };
        let memory_type = TYPES.iter().position(|it| *it == zone).unwrap_or_default();
        let mut export = vk::ExportMemoryAllocateInfo::default()
            .handle_types(vk::ExternalMemoryHandleTypeFlags::DMA_BUF_EXT);
        let mut allocate = vk::MemoryAllocateInfo::default()
            .allocation_size(self.size())
            .memory_type_index(memory_type as u32);
        if self.shared {
            allocate = allocate.push_next(&mut export);
        }
        let Some(page) = self.pages.last_mut() else {
            return Ok(());
        };
        // SAFETY: the caller's promise; all structures are valid.
        unsafe {
            buffer::create_buffer(device, &raw const info, allocator, &raw mut page.buffer)
                .result()?;
            memory::allocate_memory(device, &raw const allocate, allocator, &raw mut page.memory)
                .result()?;
            buffer::bind_buffer_memory(device, page.buffer, page.memory, 0).result()
        }
    }

    /// # Safety
    /// As for [`Copies::record`], whose pool is there.
    unsafe fn copy(
        &self,
        device: vk::Device,
        image: vk::Image,
        buffer: vk::Buffer,
    ) -> VkResult<vk::CommandBuffer> {
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(self.pool)
            .level(vk::CommandBufferLevel::PRIMARY)
            .command_buffer_count(1);
        let begin = vk::CommandBufferBeginInfo::default();
        let region = vk::BufferImageCopy::default()
            .buffer_row_length(self.stride / PIXEL_BYTES)
            .image_subresource(vk::ImageSubresourceLayers {
                aspect_mask: vk::ImageAspectFlags::COLOR,
                mip_level: 0,
                base_array_layer: 0,
                layer_count: 1,
            })
            .image_extent(self.extent.into());
        let mut commands = vk::CommandBuffer::null();
        // SAFETY: the caller's promise; all structures are valid.
        unsafe {
            command::allocate_command_buffers(device, &raw const info, &raw mut commands)
                .result()?;
            command::begin_command_buffer(commands, &raw const begin).result()?;
            command::cmd_copy_image_to_buffer(
                commands,
                image,
                vk::ImageLayout::PRESENT_SRC_KHR,
                buffer,
                1,
                &raw const region,
            );
            command::end_command_buffer(commands).result()?;
        }
        Ok(commands)
    }

    /// What copies an image to a buffer.
    pub(super) fn commands(&self, image: u32, page: usize) -> Option<vk::CommandBuffer> {
        let first = image as usize * self.pages.len();
        self.commands.get(first + page).copied()
    }

    /// The rows in a buffer, one directly after the other.
    ///
    /// # Safety
    /// The copy is over, and no other to it is submitted while they are in use.
    pub(super) unsafe fn rows(&self, page: usize) -> &[u8] {
        let Some(page) = self.pages.get(page) else {
            return &[];
        };
        // SAFETY: memory of that size, which lives as long as this, and which nothing writes.
        unsafe {
            let memory = object::get::<DeviceMemory>(page.memory);
            std::slice::from_raw_parts(memory.cpu().as_ptr(), self.size() as usize)
        }
    }

    /// A buffer as others see it.
    ///
    /// # Errors
    /// When the process has no descriptor left.
    ///
    /// # Safety
    /// The buffers were made, as shared ones.
    pub(super) unsafe fn dma_buf(&self, page: usize) -> VkResult<DmaBuf> {
        // SAFETY: the caller's promise.
        let memory = unsafe { object::get::<DeviceMemory>(self.pages[page].memory) };
        Ok(DmaBuf {
            file: memory.export()?,
            stride: self.stride,
        })
    }

    /// Destroys what there is.
    ///
    /// # Safety
    /// No copy runs any more; the callbacks are compatible with those that it was recorded with.
    pub(super) unsafe fn destroy(
        &self,
        device: vk::Device,
        allocator: *const vk::AllocationCallbacks<'_>,
    ) {
        // SAFETY: the caller's promise; null handles are fine.
        unsafe {
            command::destroy_command_pool(device, self.pool, allocator);
            for page in &self.pages {
                buffer::destroy_buffer(device, page.buffer, allocator);
                memory::free_memory(device, page.memory, allocator);
            }
        }
    }
}
