// SPDX-License-Identifier: MIT
//! GPU memory of a device: its address space, buffers in it, and pools of small pieces.
//!
//! ```text
//! Slice  a piece: a descriptor pool, a command buffer's chunk, a shader's code, VkDeviceMemory
//!   └ Pool   slabs of one Zone, cut by offset-allocator; large pieces are a Bo of their own
//!      └ Bo     one GEM buffer: mapped for the CPU once, bound in the VM once
//!         └ AddressSpace   which addresses are taken
//! ```
//!
//! On the M4 unbinding waits for everything that the VM has in flight, and bound pages stay pinned
//! until the VM is gone (kernel-uapi, 7.5). So buffers that are no longer needed are kept, bound as
//! they are, and used again ([`Recycler`]); only what exceeds its budget is unbound.

mod address_space;
mod bo;
mod pool;
mod recycler;
mod shared;

use std::sync::Arc;

use agx_hw::arena::ARENA_SIZE;
use agx_hw::window::{USC_BASE, USC_SIZE};
use agx_uapi::abi::limits::{KERNEL_WINDOW, PAGE_SIZE};
use agx_uapi::{Access, Caching, Kernel, VmId};
use ash::vk;
use mesa_nir::{SINK_PAGE, ZERO_PAGE};

use self::address_space::AddressSpace;
pub(crate) use self::bo::Bo;
use self::pool::Pool;
pub(crate) use self::pool::Slice;
use self::recycler::Recycler;
use self::shared::Shared;
use crate::error::{VkResult, kernel};

/// What memory is for, which decides where it lies and who may write it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Zone {
    /// Written by the CPU, read by the GPU: streams, root records, descriptors, push constants.
    Upload,
    /// Programs, in the execution window. Never writable for the GPU (kernel-uapi, 7.3; launch, 2;
    /// HW: code appended through a writable mapping was fetched as stale zeros).
    Code,
    /// Read and written by the GPU, looked at by the CPU: queries, events, workgroup memory.
    Scratch,
    /// VkDeviceMemory of the type that the CPU writes in order.
    WriteCombined,
    /// VkDeviceMemory of the type that the CPU reads.
    Cached,
}

impl Zone {
    const COUNT: usize = 5;

    const fn access(self) -> Access {
        match self {
            Zone::Upload | Zone::Code => Access::Read,
            Zone::Scratch | Zone::WriteCombined | Zone::Cached => Access::ReadWrite,
        }
    }

    const fn caching(self) -> Caching {
        match self {
            Zone::Upload | Zone::Code | Zone::WriteCombined => Caching::WriteCombined,
            Zone::Scratch | Zone::Cached => Caching::WriteBack,
        }
    }

    /// Bytes of a slab that small pieces are cut from.
    const fn slab_size(self) -> u64 {
        match self {
            Zone::Upload | Zone::Code | Zone::Scratch => 1 << 20,
            Zone::WriteCombined | Zone::Cached => 16 << 20,
        }
    }
}

/// Addresses of data: above the render context's window, below the pages for accesses out of bounds
/// and what the M4's kernel driver keeps for itself (from 0x70_0000_0000 on; kernel-uapi, 7.2 and
/// 7.6), and below 2^40, so that streams may be linked to (launch, 8.6).
const DATA: std::ops::Range<u64> = 0x11_0000_0000..BOUNDS_PAGES.start;

/// Two pages for accesses out of bounds: the shader compiler's choice.
const BOUNDS_PAGES: std::ops::Range<u64> = ZERO_PAGE..SINK_PAGE + PAGE_SIZE;
const _: () = assert!(SINK_PAGE == ZERO_PAGE + PAGE_SIZE && BOUNDS_PAGES.end <= 0x70_0000_0000);

/// Addresses of the entry arena, at the start of the execution window (launch, 3; HW).
const ARENA: std::ops::Range<u64> = USC_BASE..USC_BASE + ARENA_SIZE as u64;
/// Addresses of programs: the rest of the window (launch, 2).
const CODE: std::ops::Range<u64> = ARENA.end..USC_BASE + USC_SIZE;

/// A device's address space and what is in it.
pub(crate) struct Gpu {
    pub(crate) kernel: Arc<dyn Kernel>,
    pub(crate) vm: VmId,
    data: AddressSpace,
    code: AddressSpace,
    recycler: Recycler,
    shared: Shared,
    pools: [Pool; Zone::COUNT],
}

impl Gpu {
    /// A new, empty address space.
    ///
    /// # Errors
    /// When the kernel has no more.
    pub(crate) fn new(kernel_interface: Arc<dyn Kernel>) -> VkResult<Arc<Gpu>> {
        let vm = kernel_interface
            .vm_create(KERNEL_WINDOW)
            .map_err(kernel("VM_CREATE"))?;
        Ok(Arc::new(Gpu {
            kernel: kernel_interface,
            vm,
            data: AddressSpace::new(DATA),
            code: AddressSpace::new(CODE),
            recycler: Recycler::default(),
            shared: Shared::default(),
            pools: [
                Pool::new(Zone::Upload),
                Pool::new(Zone::Code),
                Pool::new(Zone::Scratch),
                Pool::new(Zone::WriteCombined),
                Pool::new(Zone::Cached),
            ],
        }))
    }

    /// A piece of memory whose address is a multiple of `align`, a power of two. What it contains
    /// is undefined.
    ///
    /// # Errors
    /// [`vk::Result::ERROR_OUT_OF_DEVICE_MEMORY`].
    pub(crate) fn allocate(self: &Arc<Self>, zone: Zone, size: u64, align: u64) -> VkResult<Slice> {
        self.pools[zone as usize].allocate(self, size, align)
    }

    /// A buffer of its own, for what cannot be a part of another: timestamps, exports.
    ///
    /// # Errors
    /// [`vk::Result::ERROR_OUT_OF_DEVICE_MEMORY`].
    pub(crate) fn dedicated(self: &Arc<Self>, zone: Zone, size: u64) -> VkResult<Arc<Bo>> {
        Ok(Arc::new(Bo::new(self, zone, size, bo::Sharing::Private)?))
    }

    /// A buffer of its own that other devices and processes may get a descriptor of.
    ///
    /// # Errors
    /// [`vk::Result::ERROR_OUT_OF_DEVICE_MEMORY`].
    pub(crate) fn exportable(self: &Arc<Self>, zone: Zone, size: u64) -> VkResult<Arc<Bo>> {
        Ok(Arc::new(Bo::new(
            self,
            zone,
            size,
            bo::Sharing::Exportable,
        )?))
    }

    /// A buffer that came in through a descriptor.
    ///
    /// # Errors
    /// [`vk::Result::ERROR_INVALID_EXTERNAL_HANDLE`] when it is none, or is shorter than `size`.
    pub(crate) fn import(
        self: &Arc<Self>,
        zone: Zone,
        file: std::os::fd::BorrowedFd<'_>,
        size: u64,
    ) -> VkResult<Arc<Bo>> {
        Ok(Arc::new(Bo::import(self, zone, file, size)?))
    }

    /// The entry arena: a buffer at the start of the execution window (launch, 3; HW).
    ///
    /// # Errors
    /// [`vk::Result::ERROR_OUT_OF_DEVICE_MEMORY`].
    pub(crate) fn arena(self: &Arc<Self>) -> VkResult<Slice> {
        Ok(Slice::whole(Arc::new(Bo::at(self, Zone::Code, ARENA)?)))
    }

    /// The pages for accesses out of bounds, for as long as what is returned lives.
    ///
    /// # Errors
    /// [`vk::Result::ERROR_OUT_OF_DEVICE_MEMORY`].
    pub(crate) fn bounds_pages(self: &Arc<Self>) -> VkResult<[Bo; 2]> {
        Ok([
            // Coherent loads are atomics that add nothing, and need pages that may be written.
            Bo::at(self, Zone::Scratch, ZERO_PAGE..SINK_PAGE)?,
            Bo::at(self, Zone::WriteCombined, SINK_PAGE..BOUNDS_PAGES.end)?,
        ])
    }

    /// The whole of a buffer as a piece.
    pub(crate) fn whole(bo: Arc<Bo>) -> Slice {
        Slice::whole(bo)
    }

    fn space(&self, zone: Zone) -> &AddressSpace {
        match zone {
            Zone::Code => &self.code,
            _ => &self.data,
        }
    }

    /// Lets go of slabs, which hold on to their address space. Pieces that are still out keep
    /// theirs. For when the device is destroyed.
    pub(crate) fn close(&self) {
        self.pools.iter().for_each(Pool::clear);
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        self.recycler.release(self);
        // Nothing is in flight any more: the application destroys a device only when it is idle.
        if let Err(errno) = self.kernel.vm_destroy(self.vm) {
            crate::debug::error(&format_args!("VM_DESTROY: {errno}"));
        }
    }
}

/// Bytes of GPU memory that all devices of the process use.
pub(crate) fn bytes_in_use_by_process() -> u64 {
    pool::bytes_in_use()
}

/// Rounds up to whole GPU pages.
///
/// # Errors
/// When the size does not fit any address space.
fn pages(size: u64) -> VkResult<u64> {
    size.checked_next_multiple_of(PAGE_SIZE)
        .filter(|size| *size != 0 && *size < DATA.end)
        .ok_or(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY)
}
