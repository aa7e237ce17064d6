// SPDX-License-Identifier: MIT
//! Buffers and their handles (kernel-uapi, 8).

use std::io;
use std::sync::Arc;

use agx_uapi::abi::{GemClose, GemCreate, GemFlags, GemMmapOffset};
use agx_uapi::{Chip, Errno, Mapping};

use super::node::SimNode;
use crate::memory::Bo;

/// A buffer of one device; its handles, in any open file, share it.
#[derive(Debug)]
pub(crate) struct Gem {
    pub(crate) bo: Arc<Bo>,
    /// The VM that alone may bind it.
    pub(crate) private_to: Option<u64>,
    /// Where mmap finds it.
    pub(crate) mmap_offset: u64,
}

/// The error number of a failed allocation.
pub(crate) fn allocation_error(error: &io::Error) -> Errno {
    match error.kind() {
        io::ErrorKind::InvalidInput => Errno::EINVAL,
        _ => match error.raw_os_error() {
            Some(code @ (23 | 24)) => Errno(code),
            _ => Errno::ENOMEM,
        },
    }
}

impl SimNode {
    /// The buffer of a handle.
    ///
    /// # Errors
    /// `ENOENT`.
    pub(super) fn gem(&self, handle: u32) -> Result<Arc<Gem>, Errno> {
        self.tables().gems.get(handle).cloned().ok_or(Errno::ENOENT)
    }

    /// GEM_CREATE (kernel-uapi, 8.1).
    pub(super) fn gem_create(&self, args: &mut GemCreate) -> Result<(), Errno> {
        let private = args.flags.contains(GemFlags::VM_PRIVATE);
        let wrong = args.pad != 0 || args.flags.unknown() != 0 || args.size == 0;
        if wrong || (!private && args.vm_id != 0) {
            return Err(Errno::EINVAL);
        }
        let private_to = if private {
            Some(self.vm(args.vm_id)?.uid)
        } else {
            None
        };
        // WRITEBACK only changes how the CPU's mapping is cached, which cannot be seen here.
        // What cannot be exported needs no file.
        let create = if private { Bo::private } else { Bo::within };
        let bo =
            create(args.size, &self.device.budget).map_err(|error| allocation_error(&error))?;
        let gem = self.device.gem(Arc::new(bo), private_to);
        args.handle = self.tables().insert_gem(&gem);
        Ok(())
    }

    /// GEM_MMAP_OFFSET (kernel-uapi, 8.2).
    pub(super) fn gem_mmap_offset(&self, args: &mut GemMmapOffset) -> Result<(), Errno> {
        if args.flags != 0 {
            return Err(Errno::EINVAL);
        }
        args.offset = self.gem(args.handle)?.mmap_offset;
        Ok(())
    }

    /// GEM_CLOSE. On the A18 Pro mappings and timestamp objects go with the handle (kernel-uapi,
    /// 7.5); what accepted commands use stays with them.
    pub(super) fn gem_close(&self, args: &GemClose) -> Result<(), Errno> {
        let (gem, vms, objects) = {
            let mut tables = self.tables();
            // The DRM core does not look at the padding.
            let gem = tables.remove_gem(args.handle).ok_or(Errno::EINVAL)?;
            if self.chip() != Chip::A18Pro {
                return Ok(());
            }
            let vms: Vec<_> = tables.vms.iter().cloned().collect();
            let objects = tables
                .timestamps
                .remove_where(|object| Arc::ptr_eq(&object.bo, &gem.bo));
            (gem, vms, objects)
        };
        for vm in vms {
            vm.unbind_buffer(&gem.bo);
        }
        drop(objects);
        Ok(())
    }

    /// mmap of the DRM file: exactly at an offset that GEM_MMAP_OFFSET gave, no longer than the
    /// buffer.
    pub(super) fn map_gem(&self, offset: u64, len: usize) -> Result<Mapping, Errno> {
        let gem = {
            let tables = self.tables();
            let handle = tables.handle_at(offset).ok_or(Errno::EINVAL)?;
            tables.gems.get(handle).cloned().ok_or(Errno::EINVAL)?
        };
        gem.bo.map(len).map_err(|error| allocation_error(&error))
    }
}
