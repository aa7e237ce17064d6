// SPDX-License-Identifier: MIT
//! VkSemaphore: order between submits, and on timelines with the host.

use std::os::fd::{AsFd, FromRawFd, IntoRawFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};

use agx_uapi::{SyncHandle, SyncPoint, WaitFlags};
use ash::vk;

use crate::device::{self, Device};
use crate::entry;
use crate::error::kernel;
use crate::host;
use crate::object::{self, Object};
use crate::sync::{self, Payload};

/// A semaphore.
pub(crate) struct Semaphore {
    kind: vk::SemaphoreType,
    payload: Payload,
    /// The last value that was asked for.
    seen: AtomicU64,
}

impl Object for Semaphore {
    type Handle = vk::Semaphore;
}

impl Semaphore {
    /// What a submit waits for or signals; nothing for a point that every timeline has reached.
    pub(crate) fn point(&self, value: u64) -> Option<SyncPoint> {
        let sync = self.payload.current();
        match (self.kind, value) {
            (vk::SemaphoreType::TIMELINE, 0) => None,
            (vk::SemaphoreType::TIMELINE, value) => Some(SyncPoint::Timeline(sync, value)),
            _ => Some(SyncPoint::Binary(sync)),
        }
    }

    /// Whether a wait makes it unsignalled.
    pub(crate) fn is_binary(&self) -> bool {
        self.kind != vk::SemaphoreType::TIMELINE
    }

    /// Takes the imported temporary payload, if there is one: it ends with the first wait. Whoever
    /// takes it destroys it.
    pub(crate) fn take_temporary(&self) -> Option<SyncHandle> {
        self.payload.take_temporary()
    }

    /// Undoes that.
    pub(crate) fn put_back(&self, temporary: SyncHandle) {
        self.payload.put_back(temporary);
    }
}

/// vkCreateSemaphore.
pub(crate) unsafe extern "system" fn create_semaphore(
    device: vk::Device,
    info: *const vk::SemaphoreCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    semaphore: *mut vk::Semaphore,
) -> vk::Result {
    entry::try_guard("vkCreateSemaphore", || {
        // SAFETY: valid by the specification.
        unsafe {
            let this = object::get::<Device>(device);
            let wanted = entry::find::<vk::SemaphoreTypeCreateInfo<'_>>((*info).p_next);
            let kind = wanted.map_or(vk::SemaphoreType::BINARY, |wanted| wanted.semaphore_type);
            let payload = Payload::new(&this.kernel, false)?;
            if kind == vk::SemaphoreType::TIMELINE
                && let Some(value) = wanted.map(|wanted| wanted.initial_value)
                && value != 0
            {
                this.kernel
                    .syncobj_timeline_signal(&[(payload.current(), value)])
                    .map_err(kernel("SYNCOBJ_TIMELINE_SIGNAL"))?;
            }
            let new = Semaphore {
                kind,
                payload,
                seen: AtomicU64::new(0),
            };
            *semaphore = object::create(this.allocator(allocator), new)?;
        }
        Ok(())
    })
}

/// vkDestroySemaphore.
pub(crate) unsafe extern "system" fn destroy_semaphore(
    device: vk::Device,
    semaphore: vk::Semaphore,
    allocator: *const vk::AllocationCallbacks<'_>,
) {
    // SAFETY: null or a live handle that no one else uses, by the specification.
    unsafe {
        device::destroy_object::<Semaphore>("vkDestroySemaphore", device, semaphore, allocator)
    };
}

/// vkGetSemaphoreCounterValue.
pub(crate) unsafe extern "system" fn get_semaphore_counter_value(
    device: vk::Device,
    semaphore: vk::Semaphore,
    value: *mut u64,
) -> vk::Result {
    entry::try_guard("vkGetSemaphoreCounterValue", || {
        // SAFETY: valid by the specification.
        let (this, semaphore) = unsafe {
            let this = object::get::<Device>(device);
            (this, object::get::<Semaphore>(semaphore))
        };
        this.check()?;
        let reached = this
            .kernel
            .syncobj_query(&[semaphore.payload.current()], false)
            .map_err(kernel("SYNCOBJ_QUERY"))?;
        let reached = reached.first().copied().unwrap_or(0);
        // What the counter tells may be the end of a submit that failed. Who asks again and again
        // need not look again and again.
        if semaphore.seen.swap(reached, Ordering::Relaxed) != reached {
            this.inspect()?;
        }
        // SAFETY: as above.
        unsafe { *value = reached };
        Ok(())
    })
}

/// vkWaitSemaphores.
pub(crate) unsafe extern "system" fn wait_semaphores(
    device: vk::Device,
    info: *const vk::SemaphoreWaitInfo<'_>,
    timeout: u64,
) -> vk::Result {
    entry::try_guard("vkWaitSemaphores", || {
        // SAFETY: valid by the specification.
        let (this, info) = unsafe { (object::get::<Device>(device), &*info) };
        // SAFETY: as above.
        let (semaphores, values) = unsafe {
            (
                entry::slice(info.p_semaphores, info.semaphore_count),
                entry::slice(info.p_values, info.semaphore_count),
            )
        };
        let any = info.flags.contains(vk::SemaphoreWaitFlags::ANY);
        let mut points = this.host.for_command().vec();
        let mut reached = false;
        for (semaphore, value) in semaphores.iter().zip(values) {
            // SAFETY: as above.
            let semaphore = unsafe { object::get::<Semaphore>(*semaphore) };
            match semaphore.point(*value) {
                Some(point) => host::push(&mut points, point)?,
                None => reached = true,
            }
        }
        if points.is_empty() || (any && reached) {
            return this.check();
        }
        let mut flags = WaitFlags::FOR_SUBMIT;
        flags.set(WaitFlags::ALL, !any);
        sync::wait(this, sync::deadline(timeout), |until| {
            this.kernel.syncobj_timeline_wait(&points, flags, until)
        })
    })
}

/// vkSignalSemaphore.
pub(crate) unsafe extern "system" fn signal_semaphore(
    device: vk::Device,
    info: *const vk::SemaphoreSignalInfo<'_>,
) -> vk::Result {
    entry::try_guard("vkSignalSemaphore", || {
        // SAFETY: valid by the specification.
        let (this, info) = unsafe { (object::get::<Device>(device), &*info) };
        this.check()?;
        // SAFETY: as above.
        let semaphore = unsafe { object::get::<Semaphore>(info.semaphore) };
        this.kernel
            .syncobj_timeline_signal(&[(semaphore.payload.current(), info.value)])
            .map_err(kernel("SYNCOBJ_TIMELINE_SIGNAL"))
    })
}

/// vkImportSemaphoreFdKHR.
pub(crate) unsafe extern "system" fn import_semaphore_fd(
    _device: vk::Device,
    info: *const vk::ImportSemaphoreFdInfoKHR<'_>,
) -> vk::Result {
    entry::try_guard("vkImportSemaphoreFdKHR", || {
        // SAFETY: valid by the specification.
        let info = unsafe { &*info };
        // SAFETY: as above.
        let payload = &unsafe { object::get::<Semaphore>(info.semaphore) }.payload;
        // SAFETY: the caller's descriptor, which becomes ours on success only.
        let file = (info.fd >= 0).then(|| unsafe { OwnedFd::from_raw_fd(info.fd) });
        let temporary = info.flags.contains(vk::SemaphoreImportFlags::TEMPORARY);
        let result = match (info.handle_type, &file) {
            (vk::ExternalSemaphoreHandleTypeFlags::SYNC_FD, file) => {
                payload.import_sync_file(file.as_ref().map(AsFd::as_fd))
            }
            (vk::ExternalSemaphoreHandleTypeFlags::OPAQUE_FD, Some(file)) => {
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

/// vkGetSemaphoreFdKHR.
pub(crate) unsafe extern "system" fn get_semaphore_fd(
    device: vk::Device,
    info: *const vk::SemaphoreGetFdInfoKHR<'_>,
    fd: *mut i32,
) -> vk::Result {
    entry::try_guard("vkGetSemaphoreFdKHR", || {
        // SAFETY: valid by the specification.
        let (this, info) = unsafe { (object::get::<Device>(device), &*info) };
        // SAFETY: as above.
        let payload = &unsafe { object::get::<Semaphore>(info.semaphore) }.payload;
        let file = match info.handle_type {
            vk::ExternalSemaphoreHandleTypeFlags::SYNC_FD => payload.export_sync_file(this)?,
            _ => payload.export_object()?,
        };
        // SAFETY: as above.
        unsafe { *fd = file.into_raw_fd() };
        Ok(())
    })
}
