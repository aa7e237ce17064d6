// SPDX-License-Identifier: MIT
//! Second addresses of memory, in the execution window.
//!
//! Index fetch reaches that window only, as far as is proven (graphics, 2; HW). What applications keep
//! indices in is bound there a second time, for as long as it may be drawn from.

use std::sync::Arc;

use agx_uapi::Bind;
use agx_uapi::abi::limits::PAGE_SIZE;
use ash::vk;

use super::address_space::Taken;
use super::{Gpu, Slice, Zone};
use crate::error::{VkResult, kernel};

/// A part of a piece of memory at a second address.
pub(crate) struct Alias {
    gpu: Arc<Gpu>,
    taken: Taken,
    /// From the start of the first page.
    offset: u64,
}

impl Alias {
    /// Binds a part of a piece in the window; the piece must outlive it.
    ///
    /// # Errors
    /// When there is no room, or the kernel refuses.
    pub(crate) fn new(gpu: &Arc<Gpu>, slice: &Slice, offset: u64, size: u64) -> VkResult<Alias> {
        let bo = slice.bo();
        let start = slice.address() - bo.address() + offset;
        let first = start / PAGE_SIZE * PAGE_SIZE;
        let end = (start + size).next_multiple_of(PAGE_SIZE);
        let space = gpu.space(Zone::Code);
        let taken = space
            .take(end - first)
            .ok_or(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY)?;
        let bind = Bind::Object {
            addr: taken.address,
            size: end - first,
            gem: bo.gem(),
            offset: first,
            access: Zone::Code.access(),
        };
        if let Err(errno) = gpu.kernel.vm_bind(gpu.vm, &[bind]) {
            space.free(taken);
            return Err(kernel("VM_BIND")(errno));
        }
        Ok(Alias {
            gpu: gpu.clone(),
            taken,
            offset: start - first,
        })
    }

    /// The second address of the part.
    pub(crate) fn address(&self) -> u64 {
        self.taken.address + self.offset
    }
}

impl Drop for Alias {
    fn drop(&mut self) {
        let unbind = Bind::Unbind {
            addr: self.taken.address,
            size: self.taken.size,
        };
        match self.gpu.kernel.vm_bind(self.gpu.vm, &[unbind]) {
            Ok(()) => self.gpu.space(Zone::Code).free(self.taken),
            // The addresses stay taken: the mapping may still be there.
            Err(errno) => crate::debug::error(&format_args!("VM_BIND, unbinding: {errno}")),
        }
    }
}
