// SPDX-License-Identifier: MIT
//! What fences and semaphores are made of: syncobjs of the kernel, and how to wait for them.

use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use agx_uapi::{Deadline, Errno, Kernel, SyncHandle, SyncPoint, WaitFlags};
use ash::vk;

use crate::device::Device;
use crate::error::{VkResult, kernel};

/// How long a thread sleeps before it looks whether the device is lost: some waits are for what
/// never comes then.
pub(crate) const SLICE: Duration = Duration::from_millis(100);

/// Waits in slices, so that the loss of the device ends every wait.
///
/// # Errors
/// [`vk::Result::TIMEOUT`] at the deadline, [`vk::Result::ERROR_DEVICE_LOST`].
pub(crate) fn wait(
    device: &Device,
    deadline: Deadline,
    mut once: impl FnMut(Deadline) -> Result<u32, Errno>,
) -> VkResult {
    loop {
        device.check()?;
        let until = if deadline == Deadline::NOW {
            deadline
        } else {
            Deadline::after(SLICE).min(deadline)
        };
        match once(until) {
            // Something is over: the time to see how it ended.
            Ok(_) => return device.inspect(),
            Err(Errno::ETIME) if until == deadline => {
                device.check()?;
                return Err(vk::Result::TIMEOUT);
            }
            Err(Errno::ETIME) => device.inspect()?,
            Err(errno) => return Err(kernel("SYNCOBJ_WAIT")(errno)),
        }
    }
}

/// When a wait of the application ends that may take so many nanoseconds.
pub(crate) fn deadline(timeout: u64) -> Deadline {
    Deadline::after(Duration::from_nanos(timeout))
}

/// The payload of a fence or semaphore: a syncobj, and for as long as an imported temporary one is
/// there, that (Vulkan 1.3, 7.4.4 and 7.3.3 "Importing").
pub(crate) struct Payload {
    kernel: Arc<dyn Kernel>,
    /// Replaced by permanent imports only.
    permanent: AtomicU32,
    /// [`NONE`] when there is none.
    temporary: AtomicU32,
}

/// No syncobj: handles begin at 1.
const NONE: u32 = 0;

fn destroy(kernel: &dyn Kernel, raw: u32) {
    if raw != NONE
        && let Err(errno) = kernel.syncobj_destroy(SyncHandle::from_raw(raw))
    {
        crate::debug::error(&format_args!("SYNCOBJ_DESTROY: {errno}"));
    }
}

impl Payload {
    /// A new syncobj, signalled or not.
    ///
    /// # Errors
    /// When the kernel has no memory.
    pub(crate) fn new(interface: &Arc<dyn Kernel>, signalled: bool) -> VkResult<Payload> {
        let permanent = interface
            .syncobj_create(signalled)
            .map_err(kernel("SYNCOBJ_CREATE"))?;
        Ok(Payload {
            kernel: interface.clone(),
            permanent: AtomicU32::new(permanent.raw()),
            temporary: AtomicU32::new(NONE),
        })
    }

    /// What operations act on.
    pub(crate) fn current(&self) -> SyncHandle {
        match self.temporary.load(Ordering::Acquire) {
            NONE => SyncHandle::from_raw(self.permanent.load(Ordering::Acquire)),
            temporary => SyncHandle::from_raw(temporary),
        }
    }

    /// Takes the temporary payload, if there is one; the caller destroys it.
    pub(crate) fn take_temporary(&self) -> Option<SyncHandle> {
        match self.temporary.swap(NONE, Ordering::AcqRel) {
            NONE => None,
            raw => Some(SyncHandle::from_raw(raw)),
        }
    }

    /// Undoes [`Payload::take_temporary`].
    pub(crate) fn put_back(&self, temporary: SyncHandle) {
        let before = self.temporary.swap(temporary.raw(), Ordering::AcqRel);
        destroy(&*self.kernel, before);
    }

    /// Drops the temporary payload: the permanent one counts again.
    pub(crate) fn restore(&self) {
        destroy(&*self.kernel, self.temporary.swap(NONE, Ordering::AcqRel));
    }

    /// Makes it unsignalled.
    ///
    /// # Errors
    /// Those of the kernel.
    pub(crate) fn reset(&self) -> VkResult {
        self.restore();
        self.kernel
            .syncobj_reset(&[self.current()])
            .map_err(kernel("SYNCOBJ_RESET"))
    }

    /// Takes the syncobj behind a descriptor.
    ///
    /// # Errors
    /// [`vk::Result::ERROR_INVALID_EXTERNAL_HANDLE`] when it is none.
    pub(crate) fn import_object(&self, file: BorrowedFd<'_>, temporary: bool) -> VkResult {
        let imported = self.kernel.syncobj_import(file).map_err(invalid)?;
        let place = if temporary {
            &self.temporary
        } else {
            &self.permanent
        };
        destroy(&*self.kernel, place.swap(imported.raw(), Ordering::AcqRel));
        Ok(())
    }

    /// Takes the fence of a sync file, or without one something signalled, as the temporary payload.
    ///
    /// # Errors
    /// [`vk::Result::ERROR_INVALID_EXTERNAL_HANDLE`] when it is no sync file.
    pub(crate) fn import_sync_file(&self, file: Option<BorrowedFd<'_>>) -> VkResult {
        let new = self
            .kernel
            .syncobj_create(file.is_none())
            .map_err(kernel("SYNCOBJ_CREATE"))?;
        if let Some(file) = file
            && let Err(errno) = self.kernel.sync_file_import(new, file)
        {
            destroy(&*self.kernel, new.raw());
            return Err(invalid(errno));
        }
        destroy(
            &*self.kernel,
            self.temporary.swap(new.raw(), Ordering::AcqRel),
        );
        Ok(())
    }

    /// A descriptor of the syncobj itself.
    ///
    /// # Errors
    /// When the process has no more descriptors.
    pub(crate) fn export_object(&self) -> VkResult<OwnedFd> {
        self.kernel
            .syncobj_export(self.current())
            .map_err(kernel("SYNCOBJ_HANDLE_TO_FD"))
    }

    /// A sync file of what it waits for at the moment, after which it is unsignalled as after a
    /// wait. What is still on its way through a queue's thread is waited for until it is submitted.
    ///
    /// # Errors
    /// When the process has no more descriptors, or the device is lost.
    pub(crate) fn export_sync_file(&self, device: &Device) -> VkResult<OwnedFd> {
        let sync = self.current();
        let file = loop {
            match self.kernel.sync_file_export(sync) {
                Err(Errno::EINVAL) => self.await_submit(device, sync)?,
                other => break other.map_err(kernel("SYNCOBJ_HANDLE_TO_FD"))?,
            }
        };
        if let Some(temporary) = self.take_temporary() {
            destroy(&*self.kernel, temporary.raw());
        } else {
            self.reset()?;
        }
        Ok(file)
    }

    fn await_submit(&self, device: &Device, sync: SyncHandle) -> VkResult {
        let flags = WaitFlags::ALL | WaitFlags::FOR_SUBMIT | WaitFlags::AVAILABLE;
        wait(device, Deadline::NEVER, |until| {
            self.kernel
                .syncobj_timeline_wait(&[SyncPoint::Binary(sync)], flags, until)
        })
    }
}

/// The descriptor is not what it was said to be.
fn invalid(errno: Errno) -> vk::Result {
    // For its message.
    let _ = kernel("SYNCOBJ_FD_TO_HANDLE")(errno);
    vk::Result::ERROR_INVALID_EXTERNAL_HANDLE
}

impl Drop for Payload {
    fn drop(&mut self) {
        destroy(&*self.kernel, *self.temporary.get_mut());
        destroy(&*self.kernel, *self.permanent.get_mut());
    }
}
