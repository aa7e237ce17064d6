// SPDX-License-Identifier: MIT
//! Host memory through the application's callbacks (Vulkan 1.3, 11.1 "Host Memory").
//!
//! Everything that lives as long as an object comes from the allocator that the object was created
//! with: the object itself and the arrays it owns. A [`HostAllocator`] is one such choice, cheap to
//! copy, and an [`Allocator`] for `allocator-api2`'s containers, whose `try_` methods turn a refusal
//! into [`vk::Result::ERROR_OUT_OF_HOST_MEMORY`].

use std::alloc::Layout;
use std::ffi::c_void;
use std::ptr::NonNull;

use allocator_api2::alloc::{AllocError, Allocator, Global};
use ash::vk;

/// A box whose memory the application's callbacks gave.
pub(crate) type HostBox<T> = allocator_api2::boxed::Box<T, HostAllocator>;
/// A vector whose memory the application's callbacks gave. Grow it with `try_reserve` only.
pub(crate) type HostVec<T> = allocator_api2::vec::Vec<T, HostAllocator>;

/// Where host memory comes from, and for how long.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HostAllocator {
    callbacks: Option<vk::AllocationCallbacks<'static>>,
    scope: vk::SystemAllocationScope,
}

// SAFETY: the callbacks may be called from any thread that calls a command with them; a driver may
// only call them from such a thread, which is the duty of whoever uses the allocator
// (Vulkan 1.3, 11.1: they are externally synchronised through the commands' own rules).
unsafe impl Send for HostAllocator {}
// SAFETY: as above.
unsafe impl Sync for HostAllocator {}

impl HostAllocator {
    /// The process's own allocator.
    pub(crate) const fn global(scope: vk::SystemAllocationScope) -> HostAllocator {
        HostAllocator {
            callbacks: None,
            scope,
        }
    }

    /// The application's callbacks when it gave some, else those of the parent object.
    ///
    /// # Safety
    /// `callbacks` is null or points to valid callbacks.
    pub(crate) unsafe fn choose(
        callbacks: *const vk::AllocationCallbacks<'_>,
        parent: &HostAllocator,
        scope: vk::SystemAllocationScope,
    ) -> HostAllocator {
        // SAFETY: the caller's promise.
        let callbacks = match unsafe { callbacks.as_ref() } {
            Some(callbacks) => Some(vk::AllocationCallbacks {
                p_user_data: callbacks.p_user_data,
                pfn_allocation: callbacks.pfn_allocation,
                pfn_reallocation: callbacks.pfn_reallocation,
                pfn_free: callbacks.pfn_free,
                pfn_internal_allocation: callbacks.pfn_internal_allocation,
                pfn_internal_free: callbacks.pfn_internal_free,
                ..Default::default()
            }),
            None => parent.callbacks,
        };
        HostAllocator { callbacks, scope }
    }

    /// The same callbacks for memory that is gone when the command returns.
    pub(crate) fn for_command(self) -> HostAllocator {
        HostAllocator {
            scope: vk::SystemAllocationScope::COMMAND,
            ..self
        }
    }

    /// An empty vector.
    pub(crate) fn vec<T>(self) -> HostVec<T> {
        HostVec::new_in(self)
    }

    /// A vector of clones.
    ///
    /// # Errors
    /// When the callbacks refuse memory.
    pub(crate) fn copied<T: Clone>(self, items: &[T]) -> Result<HostVec<T>, vk::Result> {
        let mut all = self.vec();
        all.try_reserve_exact(items.len())
            .map_err(|_| OUT_OF_HOST)?;
        all.extend_from_slice(items);
        Ok(all)
    }

    /// A value on the heap.
    ///
    /// # Errors
    /// When the callbacks refuse memory; the value is dropped.
    pub(crate) fn boxed<T>(self, value: T) -> Result<HostBox<T>, vk::Result> {
        HostBox::try_new_in(value, self).map_err(|_| OUT_OF_HOST)
    }
}

/// What every refusal of host memory becomes.
pub(crate) const OUT_OF_HOST: vk::Result = vk::Result::ERROR_OUT_OF_HOST_MEMORY;

/// Appends, or says that there is no memory.
///
/// # Errors
/// When the callbacks refuse memory; the vector is as before.
pub(crate) fn push<T>(vec: &mut HostVec<T>, value: T) -> Result<(), vk::Result> {
    vec.try_reserve(1).map_err(|_| OUT_OF_HOST)?;
    vec.push(value);
    Ok(())
}

// SAFETY: memory comes from callbacks that the specification binds to malloc's rules, or from the
// global allocator; copies of an allocator have the same callbacks and may free each other's memory.
unsafe impl Allocator for HostAllocator {
    fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
        let Some(callbacks) = &self.callbacks else {
            return Global.allocate(layout);
        };
        if layout.size() == 0 {
            let dangling = NonNull::new(std::ptr::without_provenance_mut(layout.align()));
            return dangling
                .map(|start| NonNull::slice_from_raw_parts(start, 0))
                .ok_or(AllocError);
        }
        let allocate = callbacks.pfn_allocation.ok_or(AllocError)?;
        // SAFETY: the application's own function, with its own user data.
        let start = unsafe {
            allocate(
                callbacks.p_user_data,
                layout.size(),
                layout.align(),
                self.scope,
            )
        };
        let start = NonNull::new(start.cast::<u8>()).ok_or(AllocError)?;
        if !start.as_ptr().addr().is_multiple_of(layout.align()) {
            // SAFETY: what was just allocated.
            unsafe { self.deallocate(start, layout) };
            return Err(AllocError);
        }
        Ok(NonNull::slice_from_raw_parts(start, layout.size()))
    }

    unsafe fn deallocate(&self, start: NonNull<u8>, layout: Layout) {
        match &self.callbacks {
            // SAFETY: allocated by the same allocator.
            None => unsafe { Global.deallocate(start, layout) },
            Some(callbacks) if layout.size() != 0 => {
                if let Some(free) = callbacks.pfn_free {
                    // SAFETY: memory that the allocation callback of these callbacks returned.
                    unsafe { free(callbacks.p_user_data, start.as_ptr().cast::<c_void>()) };
                }
            }
            Some(_) => {}
        }
    }
}
