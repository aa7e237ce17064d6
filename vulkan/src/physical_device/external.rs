// SPDX-License-Identifier: MIT
//! What can be shared with other devices and processes, and through which handles.

use ash::vk;

use crate::entry;

/// Handles of memory. Both are descriptors of a dma-buf, which the kernel's buffers are.
pub(crate) const MEMORY_HANDLES: vk::ExternalMemoryHandleTypeFlags =
    vk::ExternalMemoryHandleTypeFlags::from_raw(
        vk::ExternalMemoryHandleTypeFlags::OPAQUE_FD.as_raw()
            | vk::ExternalMemoryHandleTypeFlags::DMA_BUF_EXT.as_raw(),
    );

/// Handles of fences: the kernel's synchronisation objects, and files of one fence.
pub(crate) const FENCE_HANDLES: vk::ExternalFenceHandleTypeFlags =
    vk::ExternalFenceHandleTypeFlags::from_raw(
        vk::ExternalFenceHandleTypeFlags::OPAQUE_FD.as_raw()
            | vk::ExternalFenceHandleTypeFlags::SYNC_FD.as_raw(),
    );

/// Handles of semaphores of a type. A file of one fence has no room for a timeline.
pub(crate) fn semaphore_handles(kind: vk::SemaphoreType) -> vk::ExternalSemaphoreHandleTypeFlags {
    match kind {
        vk::SemaphoreType::TIMELINE => vk::ExternalSemaphoreHandleTypeFlags::OPAQUE_FD,
        _ => {
            vk::ExternalSemaphoreHandleTypeFlags::OPAQUE_FD
                | vk::ExternalSemaphoreHandleTypeFlags::SYNC_FD
        }
    }
}

/// How memory is shared through a handle.
pub(super) fn memory_properties(
    handle: vk::ExternalMemoryHandleTypeFlags,
) -> vk::ExternalMemoryProperties {
    if !MEMORY_HANDLES.contains(handle) {
        return not_shared(handle);
    }
    vk::ExternalMemoryProperties {
        external_memory_features: vk::ExternalMemoryFeatureFlags::EXPORTABLE
            | vk::ExternalMemoryFeatureFlags::IMPORTABLE,
        export_from_imported_handle_types: MEMORY_HANDLES,
        compatible_handle_types: MEMORY_HANDLES,
    }
}

/// "compatibleHandleTypes must include at least handleType" (VkExternalMemoryProperties).
fn not_shared(handle: vk::ExternalMemoryHandleTypeFlags) -> vk::ExternalMemoryProperties {
    vk::ExternalMemoryProperties {
        compatible_handle_types: handle,
        ..Default::default()
    }
}

/// vkGetPhysicalDeviceExternalBufferProperties.
pub(crate) unsafe extern "system" fn get_buffer_properties(
    _physical: vk::PhysicalDevice,
    info: *const vk::PhysicalDeviceExternalBufferInfo<'_>,
    properties: *mut vk::ExternalBufferProperties<'_>,
) {
    entry::guard("vkGetPhysicalDeviceExternalBufferProperties", || {
        // SAFETY: valid by the specification.
        let (info, properties) = unsafe { (&*info, &mut *properties) };
        let sparse = info.flags.intersects(vk::BufferCreateFlags::SPARSE_BINDING);
        properties.external_memory_properties = match sparse {
            true => not_shared(info.handle_type),
            false => memory_properties(info.handle_type),
        };
    });
}

/// vkGetPhysicalDeviceExternalFenceProperties.
pub(crate) unsafe extern "system" fn get_fence_properties(
    _physical: vk::PhysicalDevice,
    info: *const vk::PhysicalDeviceExternalFenceInfo<'_>,
    properties: *mut vk::ExternalFenceProperties<'_>,
) {
    entry::guard("vkGetPhysicalDeviceExternalFenceProperties", || {
        // SAFETY: valid by the specification.
        let (info, properties) = unsafe { (&*info, &mut *properties) };
        let supported = FENCE_HANDLES.contains(info.handle_type);
        let (handles, features) = if supported {
            let features = vk::ExternalFenceFeatureFlags::EXPORTABLE
                | vk::ExternalFenceFeatureFlags::IMPORTABLE;
            (FENCE_HANDLES, features)
        } else {
            Default::default()
        };
        properties.export_from_imported_handle_types = handles;
        properties.compatible_handle_types = handles;
        properties.external_fence_features = features;
    });
}

/// vkGetPhysicalDeviceExternalSemaphoreProperties.
pub(crate) unsafe extern "system" fn get_semaphore_properties(
    _physical: vk::PhysicalDevice,
    info: *const vk::PhysicalDeviceExternalSemaphoreInfo<'_>,
    properties: *mut vk::ExternalSemaphoreProperties<'_>,
) {
    entry::guard("vkGetPhysicalDeviceExternalSemaphoreProperties", || {
        // SAFETY: valid by the specification.
        let (info, properties) = unsafe { (&*info, &mut *properties) };
        // SAFETY: as above.
        let kind = unsafe { entry::find::<vk::SemaphoreTypeCreateInfo<'_>>(info.p_next) };
        let kind = kind.map_or(vk::SemaphoreType::BINARY, |info| info.semaphore_type);
        let supported = semaphore_handles(kind);
        let (handles, features) = if supported.contains(info.handle_type) {
            let features = vk::ExternalSemaphoreFeatureFlags::EXPORTABLE
                | vk::ExternalSemaphoreFeatureFlags::IMPORTABLE;
            (supported, features)
        } else {
            Default::default()
        };
        properties.export_from_imported_handle_types = handles;
        properties.compatible_handle_types = handles;
        properties.external_semaphore_features = features;
    });
}
