// SPDX-License-Identifier: MIT
//! VkDeviceMemory.
//!
//! Small allocations are pieces of large buffers; those that others may see, and large ones, are
//! buffers of their own. All memory is mapped for the CPU from the beginning: mapping is arithmetic.

use std::ffi::c_void;
use std::os::fd::{FromRawFd, IntoRawFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::Arc;

use ash::vk;

use crate::debug;
use crate::device::{self, Device};
use crate::entry;
use crate::error::VkResult;
use crate::gpu::{Alias, Gpu, Slice, Zone};
use crate::object::{self, Object};
pub(crate) use crate::physical_device::memory::ALL_TYPES;
use crate::physical_device::memory::TYPES;

/// What addresses of memory are multiples of: more than any resource asks for.
const ALIGN: u64 = agx_hw::layout::PAGE;
/// Kinds of handles that memory can be shared through; both are dma-bufs.
pub(crate) const SHARED_HANDLES: vk::ExternalMemoryHandleTypeFlags =
    vk::ExternalMemoryHandleTypeFlags::from_raw(
        vk::ExternalMemoryHandleTypeFlags::OPAQUE_FD.as_raw()
            | vk::ExternalMemoryHandleTypeFlags::DMA_BUF_EXT.as_raw(),
    );

/// Memory.
pub(crate) struct DeviceMemory {
    slice: Slice,
    size: u64,
    shared: bool,
}

impl Object for DeviceMemory {
    type Handle = vk::DeviceMemory;
}

impl DeviceMemory {
    /// The GPU's address of the first byte.
    pub(crate) fn address(&self) -> u64 {
        self.slice.address()
    }

    /// The CPU's address of the first byte.
    pub(crate) fn cpu(&self) -> NonNull<u8> {
        self.slice.cpu()
    }

    /// A descriptor of it (a dma-buf).
    ///
    /// # Errors
    /// When it was not allocated to be exported, or the process has no descriptor left.
    pub(crate) fn export(&self) -> VkResult<OwnedFd> {
        if !self.shared {
            debug::error(&"the memory was not allocated to be exported");
            return Err(vk::Result::ERROR_INVALID_EXTERNAL_HANDLE);
        }
        self.slice.bo().export()
    }

    /// A part of it where index fetch finds it.
    ///
    /// # Errors
    /// When there is no room there, or the kernel refuses.
    pub(crate) fn alias(&self, gpu: &Arc<Gpu>, offset: u64, size: u64) -> VkResult<Alias> {
        Alias::new(gpu, &self.slice, offset, size)
    }

    /// The GPU's address of a part of it.
    ///
    /// # Errors
    /// When the part is not all in it, with a message about `what` is to lie there.
    pub(crate) fn place(&self, what: &str, offset: u64, size: u64) -> VkResult<u64> {
        let end = offset.checked_add(size);
        if end.is_none_or(|end| end > self.size) {
            debug::error(&format_args!(
                "{what} of {size} bytes at offset {offset} does not fit into {} bytes of memory",
                self.size
            ));
            return Err(vk::Result::ERROR_UNKNOWN);
        }
        Ok(self.address() + offset)
    }
}

/// What the structures behind VkMemoryAllocateInfo ask for.
#[derive(Default)]
struct Request {
    dedicated: bool,
    exportable: bool,
    import: Option<i32>,
}

impl Request {
    /// # Safety
    /// The chain is valid.
    unsafe fn from_chain(chain: *const c_void) -> VkResult<Request> {
        let mut request = Request::default();
        // SAFETY: the caller's promise.
        for link in unsafe { entry::chain(chain) } {
            let link = std::ptr::from_ref(link);
            match link_type(link) {
                vk::StructureType::MEMORY_DEDICATED_ALLOCATE_INFO => request.dedicated = true,
                vk::StructureType::EXPORT_MEMORY_ALLOCATE_INFO => {
                    // SAFETY: its type says so.
                    let export = unsafe { &*link.cast::<vk::ExportMemoryAllocateInfo<'_>>() };
                    request.exportable = !export.handle_types.is_empty();
                    check_handles(export.handle_types)?;
                }
                vk::StructureType::IMPORT_MEMORY_FD_INFO_KHR => {
                    // SAFETY: its type says so.
                    let import = unsafe { &*link.cast::<vk::ImportMemoryFdInfoKHR<'_>>() };
                    if !import.handle_type.is_empty() {
                        check_handles(import.handle_type)?;
                        request.import = Some(import.fd);
                    }
                }
                _ => {}
            }
        }
        Ok(request)
    }
}

fn link_type(link: *const vk::BaseInStructure<'_>) -> vk::StructureType {
    // SAFETY: made from a reference by the only callers.
    unsafe { (*link).s_type }
}

fn check_handles(handles: vk::ExternalMemoryHandleTypeFlags) -> VkResult {
    if SHARED_HANDLES.contains(handles) {
        return Ok(());
    }
    debug::error(&format_args!(
        "memory cannot be shared through {handles:?}, only through {SHARED_HANDLES:?}"
    ));
    Err(vk::Result::ERROR_INVALID_EXTERNAL_HANDLE)
}

/// vkAllocateMemory.
pub(crate) unsafe extern "system" fn allocate_memory(
    device: vk::Device,
    info: *const vk::MemoryAllocateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    memory: *mut vk::DeviceMemory,
) -> vk::Result {
    entry::try_guard("vkAllocateMemory", || {
        // SAFETY: valid by the specification.
        let (device, info) = unsafe { (object::get::<Device>(device), &*info) };
        // SAFETY: as above.
        let (host, request) = unsafe {
            (
                device.allocator(allocator),
                Request::from_chain(info.p_next)?,
            )
        };
        let zone = TYPES
            .get(info.memory_type_index as usize)
            .copied()
            .unwrap_or(Zone::Cached);
        let size = info.allocation_size;
        let gpu = &device.gpu;
        let slice = match request.import {
            Some(file) => {
                // SAFETY: an open descriptor by the specification; it stays the application's
                // until the import has succeeded.
                let file = unsafe { std::os::fd::BorrowedFd::borrow_raw(file) };
                Gpu::whole(gpu.import(zone, file, size)?)
            }
            None if request.exportable => Gpu::whole(gpu.exportable(zone, size)?),
            None if request.dedicated => Gpu::whole(gpu.dedicated(zone, size)?),
            None => gpu.allocate(zone, size, ALIGN)?,
        };
        let made = DeviceMemory {
            slice,
            size,
            shared: request.exportable || request.import.is_some(),
        };
        let handle = object::create(host, made)?;
        if let Some(file) = request.import {
            // SAFETY: the descriptor is the driver's now that the import has succeeded
            // (VkImportMemoryFdInfoKHR).
            drop(unsafe { OwnedFd::from_raw_fd(file) });
        }
        // SAFETY: valid by the specification.
        unsafe { *memory = handle };
        Ok(())
    })
}

/// vkFreeMemory.
pub(crate) unsafe extern "system" fn free_memory(
    device: vk::Device,
    memory: vk::DeviceMemory,
    allocator: *const vk::AllocationCallbacks<'_>,
) {
    // SAFETY: null or a live handle that no one else uses, by the specification.
    unsafe { device::destroy_object::<DeviceMemory>("vkFreeMemory", device, memory, allocator) };
}

/// vkMapMemory.
pub(crate) unsafe extern "system" fn map_memory(
    _device: vk::Device,
    memory: vk::DeviceMemory,
    offset: vk::DeviceSize,
    size: vk::DeviceSize,
    _flags: vk::MemoryMapFlags,
    data: *mut *mut c_void,
) -> vk::Result {
    entry::try_guard("vkMapMemory", || {
        // SAFETY: valid by the specification.
        let memory = unsafe { object::get::<DeviceMemory>(memory) };
        let end = match size {
            vk::WHOLE_SIZE => Some(memory.size),
            size => offset.checked_add(size),
        };
        if offset >= memory.size || end.is_none_or(|end| end > memory.size) {
            debug::error(&format_args!(
                "vkMapMemory: bytes {offset}.. of {size} are not in memory of {}",
                memory.size
            ));
            return Err(vk::Result::ERROR_MEMORY_MAP_FAILED);
        }
        // SAFETY: inside the memory; the target is valid by the specification.
        unsafe { *data = memory.cpu().add(offset as usize).as_ptr().cast() };
        Ok(())
    })
}

/// vkUnmapMemory: memory stays mapped.
pub(crate) unsafe extern "system" fn unmap_memory(_device: vk::Device, _memory: vk::DeviceMemory) {}

/// vkFlushMappedMemoryRanges: all memory is coherent.
pub(crate) unsafe extern "system" fn flush_mapped_memory_ranges(
    _device: vk::Device,
    _count: u32,
    _ranges: *const vk::MappedMemoryRange<'_>,
) -> vk::Result {
    vk::Result::SUCCESS
}

/// vkInvalidateMappedMemoryRanges: all memory is coherent.
pub(crate) unsafe extern "system" fn invalidate_mapped_memory_ranges(
    _device: vk::Device,
    _count: u32,
    _ranges: *const vk::MappedMemoryRange<'_>,
) -> vk::Result {
    vk::Result::SUCCESS
}

/// vkGetDeviceMemoryCommitment: all of it, as no memory is lazily allocated.
pub(crate) unsafe extern "system" fn get_device_memory_commitment(
    _device: vk::Device,
    memory: vk::DeviceMemory,
    committed: *mut vk::DeviceSize,
) {
    entry::guard("vkGetDeviceMemoryCommitment", || {
        // SAFETY: valid by the specification.
        unsafe { *committed = object::get::<DeviceMemory>(memory).size };
    });
}

/// vkGetDeviceMemoryOpaqueCaptureAddress.
pub(crate) unsafe extern "system" fn get_device_memory_opaque_capture_address(
    _device: vk::Device,
    info: *const vk::DeviceMemoryOpaqueCaptureAddressInfo<'_>,
) -> u64 {
    entry::guard("vkGetDeviceMemoryOpaqueCaptureAddress", || {
        // SAFETY: valid by the specification.
        unsafe { object::get::<DeviceMemory>((*info).memory).address() }
    })
}

/// vkGetMemoryFdKHR.
pub(crate) unsafe extern "system" fn get_memory_fd(
    _device: vk::Device,
    info: *const vk::MemoryGetFdInfoKHR<'_>,
    file: *mut i32,
) -> vk::Result {
    entry::try_guard("vkGetMemoryFdKHR", || {
        // SAFETY: valid by the specification.
        let (info, memory) = unsafe { (&*info, object::get::<DeviceMemory>((*info).memory)) };
        check_handles(info.handle_type)?;
        let exported = memory.export()?;
        // SAFETY: valid by the specification.
        unsafe { *file = exported.into_raw_fd() };
        Ok(())
    })
}

/// vkGetMemoryFdPropertiesKHR.
pub(crate) unsafe extern "system" fn get_memory_fd_properties(
    _device: vk::Device,
    handle_type: vk::ExternalMemoryHandleTypeFlags,
    _file: i32,
    properties: *mut vk::MemoryFdPropertiesKHR<'_>,
) -> vk::Result {
    entry::try_guard("vkGetMemoryFdPropertiesKHR", || {
        if handle_type != vk::ExternalMemoryHandleTypeFlags::DMA_BUF_EXT {
            return Err(vk::Result::ERROR_INVALID_EXTERNAL_HANDLE);
        }
        // SAFETY: valid by the specification.
        unsafe { (*properties).memory_type_bits = ALL_TYPES };
        Ok(())
    })
}

/// What a resource of so many bytes asks of its memory.
pub(crate) fn requirements(size: u64, alignment: u64) -> vk::MemoryRequirements {
    vk::MemoryRequirements {
        size: size.saturating_add(alignment - 1) / alignment * alignment,
        alignment,
        memory_type_bits: ALL_TYPES,
    }
}

/// Fills the structure and what is chained to it: resources are as good inside other memory as alone.
///
/// # Safety
/// The structure is valid, and no one else uses it.
pub(crate) unsafe fn write_requirements(
    requirements: vk::MemoryRequirements,
    to: *mut vk::MemoryRequirements2<'_>,
) {
    // SAFETY: the caller's promise.
    unsafe {
        (*to).memory_requirements = requirements;
        for link in entry::chain_mut((*to).p_next) {
            if (*link).s_type == vk::StructureType::MEMORY_DEDICATED_REQUIREMENTS {
                let dedicated = link.cast::<vk::MemoryDedicatedRequirements<'_>>();
                (*dedicated).prefers_dedicated_allocation = vk::FALSE;
                (*dedicated).requires_dedicated_allocation = vk::FALSE;
            }
        }
    }
}
