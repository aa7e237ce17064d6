// SPDX-License-Identifier: MIT
//! VkBuffer: a name for bytes of memory.

use ash::vk;

use crate::debug;
use crate::device::{self, Device};
use crate::entry;
use crate::error::VkResult;
use crate::gpu::Alias;
use crate::memory::{self, DeviceMemory};
use crate::object::{self, Object};

/// What offsets of buffers in memory are multiples of: a cache line, and enough for every access.
const ALIGN: u64 = 64;
/// Most bytes of a buffer: what is left of the address space for data, less much.
pub(crate) const MAX_SIZE: u64 = 1 << 36;

/// A buffer.
pub(crate) struct Buffer {
    /// The GPU's address of the first byte; 0 until memory is bound.
    pub(crate) address: u64,
    /// Bytes.
    pub(crate) size: u64,
    /// Whether it is for indices.
    has_indices: bool,
    /// Where index fetch finds it, once memory is bound.
    pub(crate) window: Option<Alias>,
}

impl Object for Buffer {
    type Handle = vk::Buffer;
}

impl Buffer {
    /// How many bytes a range has that begins at an offset; never past the end.
    pub(crate) fn range(&self, offset: u64, range: u64) -> u64 {
        let rest = self.size.saturating_sub(offset);
        match range {
            vk::WHOLE_SIZE => rest,
            range => range.min(rest),
        }
    }
}

/// vkCreateBuffer.
pub(crate) unsafe extern "system" fn create_buffer(
    device: vk::Device,
    info: *const vk::BufferCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    buffer: *mut vk::Buffer,
) -> vk::Result {
    entry::try_guard("vkCreateBuffer", || {
        // SAFETY: valid by the specification.
        let (device, info) = unsafe { (object::get::<Device>(device), &*info) };
        // SAFETY: as above.
        let host = unsafe { device.allocator(allocator) };
        let sparse = vk::BufferCreateFlags::SPARSE_BINDING
            | vk::BufferCreateFlags::SPARSE_RESIDENCY
            | vk::BufferCreateFlags::SPARSE_ALIASED
            | vk::BufferCreateFlags::PROTECTED
            | vk::BufferCreateFlags::DEVICE_ADDRESS_CAPTURE_REPLAY;
        if info.flags.intersects(sparse) {
            debug::error(&format_args!(
                "vkCreateBuffer: {:?} is not supported",
                info.flags & sparse
            ));
            return Err(vk::Result::ERROR_FEATURE_NOT_PRESENT);
        }
        if info.size > MAX_SIZE {
            debug::error(&format_args!(
                "vkCreateBuffer: {} bytes, of {MAX_SIZE} that a buffer can have",
                info.size
            ));
            return Err(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY);
        }
        let made = Buffer {
            address: 0,
            size: info.size,
            has_indices: info.usage.contains(vk::BufferUsageFlags::INDEX_BUFFER),
            window: None,
        };
        let handle = object::create(host, made)?;
        // SAFETY: valid by the specification.
        unsafe { *buffer = handle };
        Ok(())
    })
}

/// vkDestroyBuffer.
pub(crate) unsafe extern "system" fn destroy_buffer(
    device: vk::Device,
    buffer: vk::Buffer,
    allocator: *const vk::AllocationCallbacks<'_>,
) {
    // SAFETY: null or a live handle that no one else uses, by the specification.
    unsafe { device::destroy_object::<Buffer>("vkDestroyBuffer", device, buffer, allocator) };
}

fn requirements(size: u64) -> vk::MemoryRequirements {
    memory::requirements(size, ALIGN)
}

/// vkGetBufferMemoryRequirements.
pub(crate) unsafe extern "system" fn get_buffer_memory_requirements(
    _device: vk::Device,
    buffer: vk::Buffer,
    to: *mut vk::MemoryRequirements,
) {
    entry::guard("vkGetBufferMemoryRequirements", || {
        // SAFETY: valid by the specification.
        unsafe { *to = requirements(object::get::<Buffer>(buffer).size) };
    });
}

/// vkGetBufferMemoryRequirements2.
pub(crate) unsafe extern "system" fn get_buffer_memory_requirements2(
    _device: vk::Device,
    info: *const vk::BufferMemoryRequirementsInfo2<'_>,
    to: *mut vk::MemoryRequirements2<'_>,
) {
    entry::guard("vkGetBufferMemoryRequirements2", || {
        // SAFETY: valid by the specification.
        unsafe {
            let size = object::get::<Buffer>((*info).buffer).size;
            memory::write_requirements(requirements(size), to);
        }
    });
}

/// vkGetDeviceBufferMemoryRequirements.
pub(crate) unsafe extern "system" fn get_device_buffer_memory_requirements(
    _device: vk::Device,
    info: *const vk::DeviceBufferMemoryRequirements<'_>,
    to: *mut vk::MemoryRequirements2<'_>,
) {
    entry::guard("vkGetDeviceBufferMemoryRequirements", || {
        // SAFETY: valid by the specification.
        unsafe { memory::write_requirements(requirements((*(*info).p_create_info).size), to) };
    });
}

/// Binds memory to a buffer.
///
/// # Safety
/// Both handles are valid, and the buffer is externally synchronised.
unsafe fn bind(
    device: vk::Device,
    buffer: vk::Buffer,
    memory: vk::DeviceMemory,
    offset: u64,
) -> VkResult {
    // SAFETY: the caller's promise.
    let (buffer, memory) = unsafe {
        (
            object::get_mut::<Buffer>(buffer),
            object::get::<DeviceMemory>(memory),
        )
    };
    buffer.address = memory.place("a buffer", offset, buffer.size)?;
    if buffer.has_indices {
        // SAFETY: as above.
        let device = unsafe { object::get::<Device>(device) };
        buffer.window = Some(memory.alias(&device.gpu, offset, buffer.size)?);
    }
    Ok(())
}

/// vkBindBufferMemory.
pub(crate) unsafe extern "system" fn bind_buffer_memory(
    device: vk::Device,
    buffer: vk::Buffer,
    memory: vk::DeviceMemory,
    offset: vk::DeviceSize,
) -> vk::Result {
    entry::try_guard("vkBindBufferMemory", || {
        // SAFETY: valid and externally synchronised by the specification.
        unsafe { bind(device, buffer, memory, offset) }
    })
}

/// vkBindBufferMemory2.
pub(crate) unsafe extern "system" fn bind_buffer_memory2(
    device: vk::Device,
    count: u32,
    infos: *const vk::BindBufferMemoryInfo<'_>,
) -> vk::Result {
    entry::try_guard("vkBindBufferMemory2", || {
        let mut result = Ok(());
        // SAFETY: valid and externally synchronised by the specification.
        for info in unsafe { entry::slice(infos, count) } {
            // SAFETY: as above.
            let bound = unsafe { bind(device, info.buffer, info.memory, info.memory_offset) };
            result = result.and(bound);
        }
        result
    })
}

/// vkGetBufferDeviceAddress.
pub(crate) unsafe extern "system" fn get_buffer_device_address(
    _device: vk::Device,
    info: *const vk::BufferDeviceAddressInfo<'_>,
) -> vk::DeviceAddress {
    entry::guard("vkGetBufferDeviceAddress", || {
        // SAFETY: valid by the specification.
        unsafe { object::get::<Buffer>((*info).buffer).address }
    })
}

/// vkGetBufferOpaqueCaptureAddress: addresses cannot be asked for again.
pub(crate) unsafe extern "system" fn get_buffer_opaque_capture_address(
    _device: vk::Device,
    _info: *const vk::BufferDeviceAddressInfo<'_>,
) -> u64 {
    0
}
