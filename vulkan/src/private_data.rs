// SPDX-License-Identifier: MIT
//! Private data: 64 bits that the application keeps with an object, in a slot of its choice.
//!
//! Values are with the objects and not with the slots, so that they go when the object goes: a new
//! object at the same address has none. A value, once there, stays until then; that of a slot that
//! was destroyed is not looked at, as slots' numbers are not used twice.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use ash::vk;

use crate::device::{self, Device};
use crate::entry;
use crate::error::VkResult;
use crate::host::{HostAllocator, HostBox};
use crate::object::{self, Object};

/// The private data of an object: a list of what was set, to whose front any thread may add.
#[derive(Default)]
pub(crate) struct PrivateData {
    first: AtomicPtr<Entry>,
}

struct Entry {
    slot: u64,
    value: AtomicU64,
    next: *mut Entry,
    host: HostAllocator,
}

impl PrivateData {
    /// The entries from one on.
    fn entries(&self, from: *mut Entry) -> impl Iterator<Item = &Entry> {
        // SAFETY: entries live until the list is dropped, and only their values change.
        let entry = |at: *mut Entry| unsafe { at.as_ref() };
        std::iter::successors(entry(from), move |this| entry(this.next))
    }

    /// What is in a slot: 0 when nothing was put there.
    pub(crate) fn get(&self, slot: u64) -> u64 {
        let first = self.first.load(Ordering::Acquire);
        let found = self.entries(first).find(|entry| entry.slot == slot);
        found.map_or(0, |entry| entry.value.load(Ordering::Relaxed))
    }

    /// Puts a value into a slot.
    ///
    /// # Errors
    /// When there is no memory for it.
    pub(crate) fn set(&self, host: HostAllocator, slot: u64, value: u64) -> VkResult {
        let mut first = self.first.load(Ordering::Acquire);
        let mut new: Option<HostBox<Entry>> = None;
        loop {
            // Again each time: another thread may have added this slot.
            if let Some(entry) = self.entries(first).find(|entry| entry.slot == slot) {
                entry.value.store(value, Ordering::Relaxed);
                return Ok(());
            }
            let mut entry = match new.take() {
                Some(entry) => entry,
                None => host.boxed(Entry {
                    slot,
                    value: AtomicU64::new(value),
                    next: first,
                    host,
                })?,
            };
            entry.next = first;
            let at = HostBox::into_raw(entry);
            let swapped =
                self.first
                    .compare_exchange(first, at, Ordering::AcqRel, Ordering::Acquire);
            match swapped {
                Ok(_) => return Ok(()),
                Err(now) => {
                    first = now;
                    // SAFETY: made by `into_raw` above and not in the list.
                    new = Some(unsafe { HostBox::from_raw_in(at, host) });
                }
            }
        }
    }
}

impl Drop for PrivateData {
    fn drop(&mut self) {
        let mut next = *self.first.get_mut();
        while let Some(at) = NonNull::new(next) {
            // SAFETY: in the list, whose entries `set` made from this allocator.
            unsafe {
                next = (*at.as_ptr()).next;
                let host = (*at.as_ptr()).host;
                drop(HostBox::from_raw_in(at.as_ptr(), host));
            }
        }
    }
}

/// A slot: a number that no other has had.
struct Slot {
    number: u64,
}

impl Object for Slot {
    type Handle = vk::PrivateDataSlot;
}

/// vkCreatePrivateDataSlot.
pub(crate) unsafe extern "system" fn create_slot(
    device: vk::Device,
    _info: *const vk::PrivateDataSlotCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    slot: *mut vk::PrivateDataSlot,
) -> vk::Result {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    entry::try_guard("vkCreatePrivateDataSlot", || {
        // SAFETY: valid by the specification.
        let host = unsafe { object::get::<Device>(device).allocator(allocator) };
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let handle = object::create(host, Slot { number })?;
        // SAFETY: valid by the specification.
        unsafe { *slot = handle };
        Ok(())
    })
}

/// vkDestroyPrivateDataSlot.
pub(crate) unsafe extern "system" fn destroy_slot(
    device: vk::Device,
    slot: vk::PrivateDataSlot,
    allocator: *const vk::AllocationCallbacks<'_>,
) {
    // SAFETY: null or a live handle that no one else uses, by the specification.
    unsafe { device::destroy_object::<Slot>("vkDestroyPrivateDataSlot", device, slot, allocator) };
}

/// vkSetPrivateData.
pub(crate) unsafe extern "system" fn set(
    device: vk::Device,
    kind: vk::ObjectType,
    object: u64,
    slot: vk::PrivateDataSlot,
    value: u64,
) -> vk::Result {
    entry::try_guard("vkSetPrivateData", || {
        // SAFETY: valid by the specification: the object is the device or of the device, so that
        // the device's callbacks outlive it.
        unsafe {
            let host = object::get::<Device>(device).allocator(std::ptr::null());
            let slot = object::get::<Slot>(slot).number;
            object::private_data(kind, object).set(host, slot, value)
        }
    })
}

/// vkGetPrivateData.
pub(crate) unsafe extern "system" fn get(
    _device: vk::Device,
    kind: vk::ObjectType,
    object: u64,
    slot: vk::PrivateDataSlot,
    value: *mut u64,
) {
    entry::guard("vkGetPrivateData", || {
        // SAFETY: valid by the specification.
        unsafe {
            let slot = object::get::<Slot>(slot).number;
            *value = object::private_data(kind, object).get(slot);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host() -> HostAllocator {
        HostAllocator::global(vk::SystemAllocationScope::OBJECT)
    }

    #[test]
    fn slots_keep_what_was_put_there_last() {
        let data = PrivateData::default();
        assert_eq!(data.get(1), 0);
        data.set(host(), 1, 11).expect("memory");
        data.set(host(), 2, 22).expect("memory");
        data.set(host(), 1, 111).expect("memory");
        assert_eq!((data.get(1), data.get(2), data.get(3)), (111, 22, 0));
    }

    #[test]
    fn threads_add_slots_to_one_object() {
        let data = PrivateData::default();
        let threads = 4u64;
        std::thread::scope(|scope| {
            for thread in 0..threads {
                let data = &data;
                scope.spawn(move || {
                    for slot in 0..200 {
                        // One slot that all set, and one of each thread's own.
                        data.set(host(), slot, 7).expect("memory");
                        let own = 1000 + slot * threads + thread;
                        data.set(host(), own, own).expect("memory");
                    }
                });
            }
        });
        for slot in 0..200 {
            assert_eq!(data.get(slot), 7);
            for thread in 0..threads {
                let own = 1000 + slot * threads + thread;
                assert_eq!(data.get(own), own);
            }
        }
        let first = data.first.load(Ordering::Acquire);
        assert_eq!(data.entries(first).count(), 200 + 200 * threads as usize);
    }
}
