// SPDX-License-Identifier: MIT
//! One open file: its objects, and the way from a request number to what it does.

use std::collections::HashMap;
use std::ffi::c_void;
use std::os::fd::BorrowedFd;
use std::sync::{Arc, Mutex, MutexGuard};

use agx_uapi::abi::ioctl;
use agx_uapi::{Abi, Chip, Drm, Errno, FenceStatus, Mapping, Node};

use super::device::SimDevice;
use super::drm;
use super::files::Identity;
use super::gem::Gem;
use super::handles::{Handles, Ids};
use super::prime;
use super::queue::Queue;
use super::scheduler::QueueKey;
use super::sync_file;
use super::syncobj::Syncobj;
use super::timestamp::TimestampObject;
use super::user;
use super::vm::Vm;

/// One open file of a [`SimDevice`].
#[derive(Debug)]
pub struct SimNode {
    pub(super) device: Arc<SimDevice>,
    tables: Mutex<Tables>,
}

/// The typed interface of the simulator.
pub type SimKernel = Drm<SimNode>;

/// The objects of an open file.
#[derive(Debug, Default)]
pub(super) struct Tables {
    pub(super) gems: Handles<Arc<Gem>>,
    /// Handles of buffers that went through a file, by that file.
    pub(super) by_identity: HashMap<Identity, u32>,
    /// Handles by mmap offset; of several handles of a buffer the last.
    by_offset: HashMap<u64, u32>,
    pub(super) syncobjs: Handles<Arc<Syncobj>>,
    pub(super) vms: Ids<Arc<Vm>>,
    pub(super) queues: Ids<Arc<Queue>>,
    pub(super) timestamps: Ids<Arc<TimestampObject>>,
    /// What the firmware keeps of timestamp objects without a handle (M4).
    pub(super) unbound_timestamps: Vec<Arc<TimestampObject>>,
    /// Queues without an ID that may have work.
    pub(super) nameless_queues: Vec<QueueKey>,
}

impl Tables {
    pub(super) fn insert_gem(&mut self, gem: &Arc<Gem>) -> u32 {
        let handle = self.gems.insert(gem.clone());
        self.by_offset.insert(gem.mmap_offset, handle);
        handle
    }

    pub(super) fn remove_gem(&mut self, handle: u32) -> Option<Arc<Gem>> {
        let gem = self.gems.remove(handle)?;
        self.by_offset.remove(&gem.mmap_offset);
        self.by_identity.retain(|_, other| *other != handle);
        Some(gem)
    }

    pub(super) fn handle_at(&self, offset: u64) -> Option<u32> {
        self.by_offset.get(&offset).copied()
    }
}

impl SimNode {
    pub(super) fn new(device: Arc<SimDevice>) -> SimNode {
        SimNode {
            device,
            tables: Mutex::default(),
        }
    }

    /// The device behind it.
    #[must_use]
    pub fn device(&self) -> &Arc<SimDevice> {
        &self.device
    }

    pub(super) fn chip(&self) -> Chip {
        self.device.config.chip
    }

    pub(super) fn tables(&self) -> MutexGuard<'_, Tables> {
        self.tables.lock().unwrap()
    }
}

/// Direction bit of a request: the caller's argument is read.
const READS: u32 = 1 << 30;
/// Direction bit of a request: the argument is written back.
const WRITES: u32 = 1 << 31;

/// Performs a request whose argument is a `T` for those who know `known`. As the DRM core does
/// (kernel-uapi, 4), takes the caller's idea of the argument's size: a shorter one is extended with
/// zeros, a longer one must have zeros where nothing is known; writes back as much as the caller
/// has, whatever the outcome.
///
/// # Safety
/// `arg` points to as many bytes as `request` encodes, and what `act` needs.
unsafe fn call<T: Abi>(
    request: u32,
    known: u32,
    arg: *mut c_void,
    act: impl FnOnce(&mut T) -> Result<(), Errno>,
) -> Result<(), Errno> {
    let address = arg.expose_provenance() as u64;
    let size_if = |direction| {
        if request & known & direction != 0 {
            ioctl::size(request)
        } else {
            0
        }
    };
    // SAFETY: as much as the request says.
    let bytes = unsafe { user::read_bytes(address, size_if(READS))? };
    let mut value = T::from_bytes_extended(&bytes).map_err(|_| Errno::EINVAL)?;
    let result = act(&mut value);
    let back = size_if(WRITES).min(size_of::<T>());
    // SAFETY: as above.
    unsafe { user::write_bytes(address, &value.as_bytes()[..back])? };
    result
}

/// Calls the method for a request, given (request, argument type, expression) rows.
macro_rules! dispatch {
    ($request:ident, $arg:ident; $($name:path => |$args:ident| $act:expr,)*; $unknown:expr) => {
        match ioctl::number($request) {
            $(number if number == ioctl::number($name) => {
                #[allow(unused_unsafe, reason = "not every request follows addresses")]
                // SAFETY: the caller of the ioctl vouches for the argument and what it points to.
                unsafe { call($request, $name, $arg, |$args| unsafe { $act }) }
            })*
            number => $unknown(number),
        }
    };
}

// SAFETY: only the argument and what it names as output is written to; descriptors are new.
unsafe impl Node for SimNode {
    unsafe fn ioctl(&self, request: u32, arg: *mut c_void) -> Result<(), Errno> {
        if ioctl::kind(request) != ioctl::TYPE_DRM {
            return Err(Errno::ENOTTY);
        }
        dispatch! { request, arg;
            ioctl::GET_PARAMS => |args| self.get_params(args),
            ioctl::GET_TIME => |args| self.get_time(args),
            ioctl::VM_CREATE => |args| self.vm_create(args),
            ioctl::VM_DESTROY => |args| self.vm_destroy(args),
            ioctl::VM_BIND => |args| self.vm_bind(args),
            ioctl::GEM_CREATE => |args| self.gem_create(args),
            ioctl::GEM_MMAP_OFFSET => |args| self.gem_mmap_offset(args),
            ioctl::GEM_BIND_OBJECT => |args| self.gem_bind_object(args),
            ioctl::QUEUE_CREATE => |args| self.queue_create(args),
            ioctl::QUEUE_DESTROY => |args| self.queue_destroy(args),
            ioctl::SUBMIT => |args| self.submit(args),
            ioctl::VERSION => |args| drm::version(args),
            drm::GET_CAP => |args| drm::get_cap(args),
            ioctl::GEM_CLOSE => |args| self.gem_close(args),
            ioctl::PRIME_HANDLE_TO_FD => |args| self.prime_handle_to_fd(args),
            ioctl::PRIME_FD_TO_HANDLE => |args| self.prime_fd_to_handle(args),
            ioctl::SYNCOBJ_CREATE => |args| self.syncobj_create(args),
            ioctl::SYNCOBJ_DESTROY => |args| self.syncobj_destroy(args),
            ioctl::SYNCOBJ_HANDLE_TO_FD => |args| self.syncobj_handle_to_fd(args),
            ioctl::SYNCOBJ_FD_TO_HANDLE => |args| self.syncobj_fd_to_handle(args),
            ioctl::SYNCOBJ_WAIT => |args| self.syncobj_wait(args),
            ioctl::SYNCOBJ_RESET => |args| self.syncobj_reset(args),
            ioctl::SYNCOBJ_SIGNAL => |args| self.syncobj_signal(args),
            ioctl::SYNCOBJ_TIMELINE_WAIT => |args| self.syncobj_timeline_wait(args),
            ioctl::SYNCOBJ_QUERY => |args| self.syncobj_query(args),
            ioctl::SYNCOBJ_TRANSFER => |args| self.syncobj_transfer(args),
            ioctl::SYNCOBJ_TIMELINE_SIGNAL => |args| self.syncobj_timeline_signal(args),
            ; |number| Err(drm::unknown(number))
        }
    }

    fn mmap(&self, offset: u64, len: usize) -> Result<Mapping, Errno> {
        self.map_gem(offset, len)
    }

    unsafe fn dma_buf_ioctl(
        &self,
        dma_buf: BorrowedFd<'_>,
        request: u32,
        arg: *mut c_void,
    ) -> Result<(), Errno> {
        if ioctl::kind(request) != ioctl::TYPE_DMA_BUF {
            return Err(Errno::ENOTTY);
        }
        dispatch! { request, arg;
            ioctl::DMA_BUF_EXPORT_SYNC_FILE => |args| prime::export_sync_file(dma_buf, args),
            ioctl::DMA_BUF_IMPORT_SYNC_FILE => |args| prime::import_sync_file(dma_buf, args),
            ; |_| Err(Errno::ENOTTY)
        }
    }

    unsafe fn sync_file_ioctl(
        &self,
        file: BorrowedFd<'_>,
        request: u32,
        arg: *mut c_void,
    ) -> Result<(), Errno> {
        if ioctl::kind(request) != ioctl::TYPE_SYNC_FILE {
            return Err(Errno::ENOTTY);
        }
        dispatch! { request, arg;
            ioctl::SYNC_FILE_INFO => |args| sync_file::info(file, args),
            ; |_| Err(Errno::ENOTTY)
        }
    }

    fn syncobj_status(&self, handle: u32) -> Option<FenceStatus> {
        // A descriptor here is a pair of sockets, which takes longer than a submit.
        let fence = self
            .syncobj(handle)
            .and_then(|sync| sync_file::of(&sync, 0));
        Some(fence.map(|fence| fence.outcome()))
    }
}

/// Closing the file (kernel-uapi, 15): what is not published is cancelled, the rest waited for. What
/// still runs after the limit keeps its own memory until it ends.
impl Drop for SimNode {
    fn drop(&mut self) {
        let keys: Vec<_> = {
            let tables = self.tables();
            let named = tables.queues.iter().map(|queue| queue.key);
            named
                .chain(tables.nameless_queues.iter().copied())
                .collect()
        };
        let scheduler = &self.device.scheduler;
        for key in &keys {
            scheduler.close_queue(*key);
        }
        scheduler.cancel_pending(&keys);
        for key in keys {
            if scheduler
                .wait_queue(key, self.device.config.internal_wait)
                .is_err()
            {
                log::error!("a queue of a closed file does not finish; its memory stays in use");
            }
        }
    }
}
