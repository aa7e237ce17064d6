// SPDX-License-Identifier: MIT
//! Host memory that is counted, checked and sometimes refused.

use std::alloc::{Layout, alloc, dealloc};
use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ash::vk;

/// Which calls fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    /// The nth.
    Once,
    /// The nth and all after it.
    FromThenOn,
}

/// Allocation callbacks' memory.
pub(super) struct Host {
    state: Box<Mutex<State>>,
}

struct State {
    nth: u64,
    when: When,
    calls: u64,
    failed: bool,
    live: HashMap<usize, Layout>,
    problems: Vec<String>,
}

impl Host {
    pub(super) fn new(nth: u64, when: When) -> Host {
        Host {
            state: Box::new(Mutex::new(State {
                nth,
                when,
                calls: 0,
                failed: false,
                live: HashMap::new(),
                problems: Vec::new(),
            })),
        }
    }

    /// Callbacks that must not be called after the host is gone.
    pub(super) fn callbacks(&self) -> vk::AllocationCallbacks<'static> {
        vk::AllocationCallbacks::default()
            .user_data(std::ptr::from_ref(&*self.state).cast_mut().cast())
            .pfn_allocation(Some(allocate))
            .pfn_reallocation(Some(reallocate))
            .pfn_free(Some(free))
    }

    /// A call was refused.
    pub(super) fn has_failed(&self) -> bool {
        lock(&self.state).failed
    }

    /// What is wrong after the program's end, leaks included.
    pub(super) fn problems(&self) -> Vec<String> {
        let state = lock(&self.state);
        let mut problems = state.problems.clone();
        if !state.live.is_empty() {
            let mut sizes: Vec<usize> = state.live.values().map(Layout::size).collect();
            sizes.sort_unstable();
            problems.push(format!(
                "{} allocations leak, of bytes {sizes:?}",
                sizes.len()
            ));
        }
        problems
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let mut state = lock(&self.state);
        for (address, layout) in state.live.drain() {
            // SAFETY: allocated with this layout and not freed.
            unsafe { dealloc(address as *mut u8, layout) };
        }
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The state behind callbacks' user data.
///
/// # Safety
/// The pointer is that of [`Host::callbacks`], and the host is alive.
unsafe fn state<'a>(user: *mut c_void) -> MutexGuard<'a, State> {
    // SAFETY: as the caller says.
    lock(unsafe { &*user.cast_const().cast::<Mutex<State>>() })
}

impl State {
    fn allocate(&mut self, size: usize, alignment: usize) -> *mut c_void {
        let call = self.calls;
        self.calls += 1;
        let fails = match self.when {
            When::Once => call == self.nth,
            When::FromThenOn => call >= self.nth,
        };
        if fails {
            self.failed = true;
            return std::ptr::null_mut();
        }
        let Ok(layout) = Layout::from_size_align(size, alignment) else {
            let problem = format!("call {call} asks for {size} bytes aligned to {alignment}");
            self.problems.push(problem);
            return std::ptr::null_mut();
        };
        // Vulkan does not forbid to ask for no bytes.
        let layout = match size {
            0 => Layout::new::<u8>(),
            _ => layout,
        };
        // SAFETY: the layout has bytes.
        let memory = unsafe { alloc(layout) };
        if !memory.is_null() {
            // What was there before must not matter.
            // SAFETY: just allocated.
            unsafe { memory.write_bytes(0xa5, layout.size()) };
            self.live.insert(memory as usize, layout);
        }
        memory.cast()
    }

    fn free(&mut self, memory: *mut c_void) {
        if memory.is_null() {
            return;
        }
        match self.live.remove(&(memory as usize)) {
            Some(layout) => {
                // What was there must not be read again.
                // SAFETY: allocated with this layout and freed now.
                unsafe {
                    memory.cast::<u8>().write_bytes(0x5a, layout.size());
                    dealloc(memory.cast(), layout);
                }
            }
            None => self
                .problems
                .push("something is freed that was not allocated here".to_owned()),
        }
    }
}

unsafe extern "system" fn allocate(
    user: *mut c_void,
    size: usize,
    alignment: usize,
    _scope: vk::SystemAllocationScope,
) -> *mut c_void {
    // SAFETY: the user data are those of `callbacks`.
    unsafe { state(user) }.allocate(size, alignment)
}

unsafe extern "system" fn reallocate(
    user: *mut c_void,
    original: *mut c_void,
    size: usize,
    alignment: usize,
    _scope: vk::SystemAllocationScope,
) -> *mut c_void {
    // SAFETY: the user data are those of `callbacks`.
    let mut state = unsafe { state(user) };
    if size == 0 {
        state.free(original);
        return std::ptr::null_mut();
    }
    let new = state.allocate(size, alignment);
    let old = state.live.get(&(original as usize)).copied();
    if !new.is_null()
        && let Some(old) = old
    {
        if old.align() != alignment {
            let problem = format!("reallocated at {alignment} instead of {}", old.align());
            state.problems.push(problem);
        }
        // SAFETY: both live, and no longer than either.
        unsafe {
            let bytes = old.size().min(size);
            std::ptr::copy_nonoverlapping(original.cast::<u8>(), new.cast::<u8>(), bytes);
        }
        state.free(original);
    }
    new
}

unsafe extern "system" fn free(user: *mut c_void, memory: *mut c_void) {
    // SAFETY: the user data are those of `callbacks`.
    unsafe { state(user) }.free(memory);
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCOPE: vk::SystemAllocationScope = vk::SystemAllocationScope::OBJECT;

    #[test]
    fn calls_are_refused_and_leaks_are_seen() {
        let host = Host::new(1, When::Once);
        let callbacks = host.callbacks();
        let user = callbacks.p_user_data;
        // SAFETY: the host is alive; what is freed was allocated.
        unsafe {
            let first = allocate(user, 8, 64, SCOPE);
            assert!(!first.is_null() && (first as usize).is_multiple_of(64));
            assert!(allocate(user, 8, 8, SCOPE).is_null() && host.has_failed());
            let moved = reallocate(user, first, 16, 64, SCOPE);
            assert!(!moved.is_null());
            assert_eq!(host.problems().len(), 1);
            free(user, moved);
            free(user, std::ptr::null_mut());
            assert!(host.problems().is_empty());
            allocate(user, 8, 3, SCOPE);
            free(user, std::ptr::dangling_mut());
            assert_eq!(host.problems().len(), 2);
        }
    }

    #[test]
    fn all_calls_from_one_on_fail() {
        let host = Host::new(0, When::FromThenOn);
        let user = host.callbacks().p_user_data;
        // SAFETY: the host is alive.
        let all = [(); 3].map(|()| unsafe { allocate(user, 1, 1, SCOPE) });
        assert!(all.iter().all(|memory| memory.is_null()));
    }
}
