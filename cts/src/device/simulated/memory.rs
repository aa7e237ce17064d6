// SPDX-License-Identifier: MIT
//! Memory of the simulated GPU that is used again for every run.

use std::ops::Range;

use agx_sim::kernel::SimNode;
use agx_uapi::abi::limits::PAGE_SIZE;
use agx_uapi::{Access, Bind, Caching, Drm, GemHandle, Kernel as _, Mapping, VmId};

use super::refused;

/// What surrounds an allocation in its pages: a write there is found afterwards.
const CANARY: u8 = 0xa5;

/// A buffer object that the CPU writes.
pub(super) struct Object {
    pub(super) gem: GemHandle,
    mapping: Mapping,
}

impl Object {
    /// A new one of at least this size.
    pub(super) fn new(kernel: &Drm<SimNode>, size: usize) -> anyhow::Result<Object> {
        let size = size.next_multiple_of(PAGE_SIZE as usize);
        let gem = kernel
            .gem_create(size as u64, Caching::WriteBack, None)
            .map_err(refused("GEM_CREATE"))?;
        let mapping = kernel.gem_map(gem, size).map_err(refused("mmap"))?;
        Ok(Object { gem, mapping })
    }

    pub(super) fn size(&self) -> usize {
        self.mapping.len()
    }

    /// Its bytes. The GPU must be idle: every run waits for its end.
    pub(super) fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: the mapping has that many bytes and lives as long as self; the GPU is idle, and
        // no one else knows the object.
        unsafe { std::slice::from_raw_parts_mut(self.mapping.as_ptr(), self.mapping.len()) }
    }
}

/// A place in the pool.
#[derive(Debug, Clone)]
pub(super) struct Place {
    /// GPU address of its first byte.
    pub(super) address: u64,
    /// Its bytes in the pool.
    range: Range<usize>,
    /// The whole pages around it.
    pages: Range<usize>,
}

/// The data of one run. Every allocation ends at the end of a page, as its alignment allows, and an
/// unmapped page follows: in strict mode an access beyond the end traps.
pub(super) struct Pool {
    object: Object,
    base: u64,
    /// Pages used so far, in bytes of the object.
    used: usize,
    /// Pages and guards used so far.
    extent: u64,
    binds: Vec<Bind>,
    /// Allocations of which the canaries are checked.
    places: Vec<Place>,
}

impl Pool {
    /// A pool whose allocations lie from `base` on.
    pub(super) fn new(kernel: &Drm<SimNode>, base: u64, size: usize) -> anyhow::Result<Pool> {
        Ok(Pool {
            object: Object::new(kernel, size)?,
            base,
            used: 0,
            extent: 0,
            binds: Vec::new(),
            places: Vec::new(),
        })
    }

    /// Makes room for a run that needs so many allocations of so many bytes together. All
    /// allocations must be gone.
    pub(super) fn reserve(
        &mut self,
        kernel: &Drm<SimNode>,
        allocations: usize,
        bytes: usize,
    ) -> anyhow::Result<()> {
        let needed = bytes + allocations * (PAGE_SIZE as usize + 64);
        if needed > self.object.size() {
            let object = Object::new(kernel, needed.next_power_of_two())?;
            let old = std::mem::replace(&mut self.object, object);
            kernel.gem_close(old.gem).map_err(refused("GEM_CLOSE"))?;
        }
        Ok(())
    }

    /// A place with this content. `reserve` has made room.
    pub(super) fn place(&mut self, content: &[u8], align: usize, access: Access) -> Place {
        let page = PAGE_SIZE as usize;
        let pages = self.used..self.used + content.len().max(1).next_multiple_of(page);
        let slack = (pages.len() - content.len()) / align * align;
        let start = pages.start + slack;
        let place = Place {
            address: self.base + self.extent + slack as u64,
            range: start..start + content.len(),
            pages: pages.clone(),
        };
        let bytes = self.object.bytes();
        bytes[pages.clone()].fill(CANARY);
        bytes[place.range.clone()].copy_from_slice(content);
        self.binds.push(Bind::Object {
            addr: self.base + self.extent,
            size: pages.len() as u64,
            gem: self.object.gem,
            offset: pages.start as u64,
            access,
        });
        self.used = pages.end;
        self.extent += pages.len() as u64 + PAGE_SIZE;
        self.places.push(place.clone());
        place
    }

    /// Maps all places for the GPU.
    pub(super) fn bind(&mut self, kernel: &Drm<SimNode>, vm: VmId) -> anyhow::Result<()> {
        kernel.vm_bind(vm, &self.binds).map_err(refused("VM_BIND"))
    }

    /// A place's bytes.
    pub(super) fn read(&mut self, place: &Place) -> Vec<u8> {
        self.object.bytes()[place.range.clone()].to_vec()
    }

    /// The address of a byte outside all allocations that was written, with what is there.
    pub(super) fn broken_canary(&mut self) -> Option<(u64, u8)> {
        let bytes = self.object.bytes();
        self.places.iter().find_map(|place| {
            let before = place.pages.start..place.range.start;
            let after = place.range.end..place.pages.end;
            let mut around = before.chain(after);
            let at = around.find(|at| bytes[*at] != CANARY)?;
            let address = place.address.wrapping_add(at as u64);
            Some((address.wrapping_sub(place.range.start as u64), bytes[at]))
        })
    }

    /// Gives everything back.
    pub(super) fn clear(&mut self, kernel: &Drm<SimNode>, vm: VmId) -> anyhow::Result<()> {
        if self.extent > 0 {
            let all = Bind::Unbind {
                addr: self.base,
                size: self.extent,
            };
            kernel.vm_bind(vm, &[all]).map_err(refused("unbind"))?;
        }
        self.used = 0;
        self.extent = 0;
        self.binds.clear();
        self.places.clear();
        Ok(())
    }
}
