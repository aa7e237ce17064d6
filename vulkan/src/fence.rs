// SPDX-License-Identifier: MIT
//! VkFence: what the host waits for.

use std::os::fd::{AsFd, FromRawFd, IntoRawFd, OwnedFd};

use agx_uapi::{Deadline, SyncHandle, WaitFlags};
use ash::vk;

use crate::device::{self, Device};
use crate::entry;
use crate::error::VkResult;
use crate::host::HostVec;
use crate::object::{self, Object};
use crate::sync::{self, Payload};

/// A fence.
pub(crate) struct Fence {
    payload: Payload,
}

impl Object for Fence {
    type Handle = vk::Fence;
}

impl Fence {
    /// What a submit signals.
    pub(crate) fn sync(&self) -> SyncHandle {
        self.payload.current()
    }
}

/// The syncobjs of fences.
///
/// # Safety
/// The handles are of live fences.
unsafe fn syncs(device: &Device, fences: &[vk::Fence]) -> VkResult<HostVec<SyncHandle>> {
    let mut list = device.host.for_command().vec();
    list.try_reserve_exact(fences.len())
        .map_err(|_| vk::Result::ERROR_OUT_OF_HOST_MEMORY)?;
    // SAFETY: the caller's promise.
    list.extend(
        fences
            .iter()
            .map(|fence| unsafe { object::get::<Fence>(*fence) }.sync()),
    );
    Ok(list)
}

/// vkCreateFence.
pub(crate) unsafe extern "system" fn create_fence(
    device: vk::Device,
    info: *const vk::FenceCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    fence: *mut vk::Fence,
) -> vk::Result {
    entry::try_guard("vkCreateFence", || {
        // SAFETY: valid by the specification.
        unsafe {
            let this = object::get::<Device>(device);
            let signalled = (*info).flags.contains(vk::FenceCreateFlags::SIGNALED);
            let payload = Payload::new(&this.kernel, signalled)?;
            *fence = object::create(this.allocator(allocator), Fence { payload })?;
        }
        Ok(())
    })
}

/// vkDestroyFence.
pub(crate) unsafe extern "system" fn destroy_fence(
    device: vk::Device,
    fence: vk::Fence,
    allocator: *const vk::AllocationCallbacks<'_>,
) {
    // SAFETY: null or a live handle that no one else uses, by the specification.
    unsafe { device::destroy_object::<Fence>("vkDestroyFence", device, fence, allocator) };
}

/// vkResetFences.
pub(crate) unsafe extern "system" fn reset_fences(
    _device: vk::Device,
    count: u32,
    fences: *const vk::Fence,
) -> vk::Result {
    entry::try_guard("vkResetFences", || {
        // SAFETY: valid by the specification.
        for fence in unsafe { entry::slice(fences, count) } {
            // SAFETY: as above.
            unsafe { object::get::<Fence>(*fence) }.payload.reset()?;
        }
        Ok(())
    })
}

/// vkGetFenceStatus.
pub(crate) unsafe extern "system" fn get_fence_status(
    device: vk::Device,
    fence: vk::Fence,
) -> vk::Result {
    entry::try_guard("vkGetFenceStatus", || {
        // SAFETY: valid by the specification.
        let (this, fence) = unsafe { (object::get::<Device>(device), object::get::<Fence>(fence)) };
        wait(this, &[fence.sync()], WaitFlags::ALL, Deadline::NOW).map_err(|error| match error {
            vk::Result::TIMEOUT => vk::Result::NOT_READY,
            other => other,
        })
    })
}

/// vkWaitForFences.
pub(crate) unsafe extern "system" fn wait_for_fences(
    device: vk::Device,
    count: u32,
    fences: *const vk::Fence,
    all: vk::Bool32,
    timeout: u64,
) -> vk::Result {
    entry::try_guard("vkWaitForFences", || {
        // SAFETY: valid by the specification.
        let (this, fences) =
            unsafe { (object::get::<Device>(device), entry::slice(fences, count)) };
        let flags = if all == vk::FALSE {
            WaitFlags::empty()
        } else {
            WaitFlags::ALL
        };
        let deadline = sync::deadline(timeout);
        match fences {
            // SAFETY: as above.
            [fence] => wait(
                this,
                &[unsafe { object::get::<Fence>(*fence) }.sync()],
                flags,
                deadline,
            ),
            // SAFETY: as above.
            fences => wait(this, &unsafe { syncs(this, fences) }?, flags, deadline),
        }
    })
}

/// Waits for fences, the submits of which may still be on their way to the kernel.
fn wait(device: &Device, syncs: &[SyncHandle], flags: WaitFlags, deadline: Deadline) -> VkResult {
    let flags = flags | WaitFlags::FOR_SUBMIT;
    sync::wait(device, deadline, |until| {
        device.kernel.syncobj_wait(syncs, flags, until)
    })
}

/// vkImportFenceFdKHR.
pub(crate) unsafe extern "system" fn import_fence_fd(
    _device: vk::Device,
    info: *const vk::ImportFenceFdInfoKHR<'_>,
) -> vk::Result {
    entry::try_guard("vkImportFenceFdKHR", || {
        // SAFETY: valid by the specification.
        let info = unsafe { &*info };
        // SAFETY: as above.
        let payload = &unsafe { object::get::<Fence>(info.fence) }.payload;
        // SAFETY: the caller's descriptor, which becomes ours on success only.
        let file = (info.fd >= 0).then(|| unsafe { OwnedFd::from_raw_fd(info.fd) });
        let temporary = info.flags.contains(vk::FenceImportFlags::TEMPORARY);
        let result = match (info.handle_type, &file) {
            (vk::ExternalFenceHandleTypeFlags::SYNC_FD, file) => {
                payload.import_sync_file(file.as_ref().map(AsFd::as_fd))
            }
            (vk::ExternalFenceHandleTypeFlags::OPAQUE_FD, Some(file)) => {
                payload.import_object(file.as_fd(), temporary)
            }
            _ => Err(vk::Result::ERROR_INVALID_EXTERNAL_HANDLE),
        };
        if let (Err(_), Some(file)) = (&result, file) {
            let _ = file.into_raw_fd();
        }
        result
    })
}

/// vkGetFenceFdKHR.
pub(crate) unsafe extern "system" fn get_fence_fd(
    device: vk::Device,
    info: *const vk::FenceGetFdInfoKHR<'_>,
    fd: *mut i32,
) -> vk::Result {
    entry::try_guard("vkGetFenceFdKHR", || {
        // SAFETY: valid by the specification.
        let (this, info) = unsafe { (object::get::<Device>(device), &*info) };
        // SAFETY: as above.
        let payload = &unsafe { object::get::<Fence>(info.fence) }.payload;
        let file = match info.handle_type {
            vk::ExternalFenceHandleTypeFlags::SYNC_FD => payload.export_sync_file(this)?,
            _ => payload.export_object()?,
        };
        // SAFETY: as above.
        unsafe { *fd = file.into_raw_fd() };
        Ok(())
    })
}
