// SPDX-License-Identifier: MIT
//! One GEM buffer, mapped for the CPU and bound in the VM for as long as it exists.

use std::ops::Range;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::Arc;

use agx_uapi::{Bind, GemHandle, Mapping};
use ash::vk;

use super::address_space::Taken;
use super::{Gpu, Zone, pages};
use crate::error::{VkResult, kernel};

/// Who may see a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sharing {
    /// Only its VM: such buffers cannot be exported and need no fences of their own
    /// (kernel-uapi, 8.1).
    Private,
    /// Whoever gets its descriptor.
    Exportable,
}

/// A buffer. Dropping it hands its memory to the recycler or the kernel.
pub(crate) struct Bo {
    gpu: Arc<Gpu>,
    /// Nothing once the parts belong to the recycler.
    parts: Option<Parts>,
    zone: Zone,
    sharing: Sharing,
}

/// What a buffer consists of.
pub(super) struct Parts {
    pub(super) gem: GemHandle,
    pub(super) mapping: Mapping,
    pub(super) taken: Taken,
}

impl Bo {
    pub(super) fn new(gpu: &Arc<Gpu>, zone: Zone, size: u64, sharing: Sharing) -> VkResult<Bo> {
        let size = pages(size)?;
        if sharing == Sharing::Private
            && let Some(parts) = gpu.recycler.take(zone, size)
        {
            return Ok(Bo::from_parts(gpu, zone, sharing, parts));
        }
        let gem = Bo::create(gpu, zone, size, sharing)?;
        Bo::adopt(gpu, zone, sharing, gem, size, None)
    }

    /// A buffer at addresses that no other buffer is given, of which there is one at a time.
    pub(super) fn at(gpu: &Arc<Gpu>, zone: Zone, addresses: Range<u64>) -> VkResult<Bo> {
        // Exportable buffers are never recycled: the addresses are its own, and so is what is in
        // it.
        let sharing = Sharing::Exportable;
        let size = addresses.end - addresses.start;
        let gem = Bo::create(gpu, zone, size, sharing)?;
        Bo::adopt(gpu, zone, sharing, gem, size, Some(addresses.start))
    }

    fn create(gpu: &Gpu, zone: Zone, size: u64, sharing: Sharing) -> VkResult<GemHandle> {
        let private_to = match sharing {
            Sharing::Private => Some(gpu.vm),
            Sharing::Exportable => None,
        };
        let create = || gpu.kernel.gem_create(size, zone.caching(), private_to);
        // What is kept for later may be what is missing.
        let gem = create().or_else(|errno| {
            if gpu.recycler.release(gpu) == 0 {
                return Err(errno);
            }
            create()
        });
        let gem = match sharing {
            Sharing::Private => gem,
            Sharing::Exportable => gpu.shared.open(|| gem),
        };
        gem.map_err(kernel("GEM_CREATE"))
    }

    pub(super) fn import(
        gpu: &Arc<Gpu>,
        zone: Zone,
        file: BorrowedFd<'_>,
        size: u64,
    ) -> VkResult<Bo> {
        let invalid = vk::Result::ERROR_INVALID_EXTERNAL_HANDLE;
        // A dma-buf's size is where its end is (Linux, dma-buf "seek").
        let end = rustix::fs::seek(file, rustix::fs::SeekFrom::End(0)).map_err(|_| invalid)?;
        let size = pages(size)?;
        if end < size {
            return Err(invalid);
        }
        let gem = gpu.shared.open(|| gpu.kernel.gem_import(file));
        let gem = gem.map_err(|errno| {
            // For its message.
            let _ = kernel("PRIME_FD_TO_HANDLE")(errno);
            invalid
        })?;
        Bo::adopt(gpu, zone, Sharing::Exportable, gem, size, None)
    }

    /// Maps a buffer and binds it, wherever there is room if no address is given. It is closed when
    /// that fails.
    fn adopt(
        gpu: &Arc<Gpu>,
        zone: Zone,
        sharing: Sharing,
        gem: GemHandle,
        size: u64,
        address: Option<u64>,
    ) -> VkResult<Bo> {
        let parts = Bo::map_and_bind(gpu, zone, gem, size, address).inspect_err(|_| {
            let closed = gpu.shared.close(&*gpu.kernel, gem);
            debug_assert!(closed.is_ok());
        })?;
        Ok(Bo::from_parts(gpu, zone, sharing, parts))
    }

    fn map_and_bind(
        gpu: &Gpu,
        zone: Zone,
        gem: GemHandle,
        size: u64,
        address: Option<u64>,
    ) -> VkResult<Parts> {
        let out_of_memory = vk::Result::ERROR_OUT_OF_DEVICE_MEMORY;
        let length = usize::try_from(size).map_err(|_| out_of_memory)?;
        let mapping = gpu
            .kernel
            .gem_map(gem, length)
            .map_err(kernel("GEM_MMAP_OFFSET"))?;
        let taken = match address {
            Some(address) => Taken::fixed(address, size),
            None => gpu.space(zone).take(size).ok_or(out_of_memory)?,
        };
        let bind = Bind::Object {
            addr: taken.address,
            size,
            gem,
            offset: 0,
            access: zone.access(),
        };
        if let Err(errno) = gpu.kernel.vm_bind(gpu.vm, &[bind]) {
            gpu.space(zone).free(taken);
            return Err(kernel("VM_BIND")(errno));
        }
        Ok(Parts {
            gem,
            mapping,
            taken,
        })
    }

    fn from_parts(gpu: &Arc<Gpu>, zone: Zone, sharing: Sharing, parts: Parts) -> Bo {
        Bo {
            gpu: gpu.clone(),
            parts: Some(parts),
            zone,
            sharing,
        }
    }

    fn parts(&self) -> &Parts {
        let Some(parts) = &self.parts else {
            unreachable!("parts are taken by drop only");
        };
        parts
    }

    /// The GEM handle.
    pub(crate) fn gem(&self) -> GemHandle {
        self.parts().gem
    }

    /// The GPU's address of the first byte.
    pub(crate) fn address(&self) -> u64 {
        self.parts().taken.address
    }

    /// Bytes, a multiple of the page.
    pub(crate) fn size(&self) -> u64 {
        self.parts().taken.size
    }

    /// The CPU's address of the first byte.
    pub(crate) fn cpu(&self) -> NonNull<u8> {
        let Some(start) = NonNull::new(self.parts().mapping.as_ptr()) else {
            unreachable!("mappings are not null");
        };
        start
    }

    /// A descriptor of the buffer (a dma-buf).
    ///
    /// # Errors
    /// When the process has no descriptors left.
    pub(crate) fn export(&self) -> VkResult<OwnedFd> {
        debug_assert_eq!(self.sharing, Sharing::Exportable);
        self.gpu
            .kernel
            .gem_export(self.gem())
            .map_err(kernel("PRIME_HANDLE_TO_FD"))
    }
}

impl Drop for Bo {
    fn drop(&mut self) {
        let Some(parts) = self.parts.take() else {
            return;
        };
        match self.sharing {
            Sharing::Private => self.gpu.recycler.keep(&self.gpu, self.zone, parts),
            // Others may hold it, so what is in it is not ours to use again.
            Sharing::Exportable => discard(&self.gpu, self.zone, parts),
        }
    }
}

/// Unbinds and closes a buffer. Waits for the GPU (kernel-uapi, 7.5).
pub(super) fn discard(gpu: &Gpu, zone: Zone, parts: Parts) {
    let Parts {
        gem,
        mapping,
        taken,
    } = parts;
    drop(mapping);
    let unbind = Bind::Unbind {
        addr: taken.address,
        size: taken.size,
    };
    match gpu.kernel.vm_bind(gpu.vm, &[unbind]) {
        Ok(()) => gpu.space(zone).free(taken),
        // The addresses stay taken: the mapping may still be there.
        Err(errno) => crate::debug::error(&format_args!("VM_BIND, unbinding: {errno}")),
    }
    if let Err(errno) = gpu.shared.close(&*gpu.kernel, gem) {
        crate::debug::error(&format_args!("GEM_CLOSE: {errno}"));
    }
}
