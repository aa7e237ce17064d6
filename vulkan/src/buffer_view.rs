// SPDX-License-Identifier: MIT
//! VkBufferView: a buffer as texels. Its descriptor is made when it is.
//!
//! For the texture unit a texel buffer is a linear image of two dimensions and a fixed width, whose
//! coordinates the shader makes of an index (images, 2.2; HW).

use agx_hw::texture::{MAX_SIZE, Texture};
use ash::vk;

use crate::buffer::Buffer;
use crate::debug;
use crate::device::{self, Device};
use crate::entry;
use crate::error::{VkResult, record};
use crate::image::descriptor::{self, Record, TEXEL_BUFFER_SIZE};
use crate::image::format;
use crate::object::{self, Object};
use crate::physical_device::limits;

/// Texels of a row (images, 2.2; INFERRED).
const ROW: u32 = 1024;
/// Most texels.
pub(crate) const MAX_TEXELS: u32 = ROW * MAX_SIZE;

/// A buffer view.
pub(crate) struct BufferView {
    /// As shaders find it in a descriptor set.
    pub(crate) descriptor: [u8; TEXEL_BUFFER_SIZE],
}

impl Object for BufferView {
    type Handle = vk::BufferView;
}

impl BufferView {
    /// # Errors
    /// When there cannot be such a view.
    fn new(buffer: &Buffer, info: &vk::BufferViewCreateInfo<'_>) -> VkResult<BufferView> {
        let refused = |why: &dyn std::fmt::Display| {
            debug::error(&format_args!("vkCreateBufferView: {why}"));
            vk::Result::ERROR_FORMAT_NOT_SUPPORTED
        };
        let format = format::single(info.format).filter(|format| !format.is_compressed());
        let Some(format) = format else {
            return Err(refused(&format_args!("no texels of {:?}", info.format)));
        };
        let address = buffer.address + info.offset;
        if !address.is_multiple_of(limits::TEXEL_BUFFER_ALIGN) {
            return Err(refused(&format_args!("a buffer at offset {}", info.offset)));
        }
        let bytes = u32::from(format.element().bytes);
        let texels = buffer.range(info.offset, info.range) / u64::from(bytes);
        let texels = texels.min(MAX_TEXELS.into()) as u32;
        let rows = texels.div_ceil(ROW).max(1);
        let texture = Texture::linear(format, ROW, rows, address, ROW * bytes);
        let mut packed = Record::default();
        texture.pack(&mut packed).map_err(record)?;
        Ok(BufferView {
            descriptor: descriptor::texel_buffer(&packed, texels, address, bytes),
        })
    }
}

/// vkCreateBufferView.
pub(crate) unsafe extern "system" fn create_buffer_view(
    device: vk::Device,
    info: *const vk::BufferViewCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    view: *mut vk::BufferView,
) -> vk::Result {
    entry::try_guard("vkCreateBufferView", || {
        // SAFETY: valid by the specification.
        unsafe {
            let device = object::get::<Device>(device);
            let made = BufferView::new(object::get::<Buffer>((*info).buffer), &*info)?;
            *view = object::create(device.allocator(allocator), made)?;
        }
        Ok(())
    })
}

/// vkDestroyBufferView.
pub(crate) unsafe extern "system" fn destroy_buffer_view(
    device: vk::Device,
    view: vk::BufferView,
    allocator: *const vk::AllocationCallbacks<'_>,
) {
    // SAFETY: null or a live handle that no one else uses, by the specification.
    unsafe { device::destroy_object::<BufferView>("vkDestroyBufferView", device, view, allocator) };
}
