// SPDX-License-Identifier: MIT
//! Allocation callbacks that keep account, and refuse calls.

use std::alloc::{Layout, alloc, dealloc};
use std::collections::HashMap;
use std::ffi::c_void;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use std::thread::{self, ThreadId};

use ash::vk;

/// Host memory behind callbacks. Every byte must come back to it with the right address.
pub(crate) struct FailingHost {
    state: Box<Mutex<State>>,
}

struct State {
    live: HashMap<usize, Layout>,
    /// Calls since it was said which are refused.
    calls: u64,
    /// Which of them are refused.
    refused: Range<u64>,
    /// Who may call.
    owner: ThreadId,
    /// Someone else has.
    has_strangers: bool,
}

impl FailingHost {
    /// Memory that does not run out yet.
    pub(crate) fn new() -> FailingHost {
        FailingHost {
            state: Box::new(Mutex::new(State {
                live: HashMap::new(),
                calls: 0,
                refused: 0..0,
                owner: thread::current().id(),
                has_strangers: false,
            })),
        }
    }

    /// The callbacks; good while this lives.
    pub(crate) fn callbacks(&self) -> vk::AllocationCallbacks<'static> {
        vk::AllocationCallbacks {
            p_user_data: std::ptr::from_ref(&*self.state).cast_mut().cast(),
            pfn_allocation: Some(allocate),
            pfn_reallocation: Some(reallocate),
            pfn_free: Some(free),
            ..Default::default()
        }
    }

    /// Refuses the call of a number, counted from now; none any more when there is no number.
    pub(crate) fn fail_at(&self, number: Option<u64>) {
        self.refuse(number.map_or(0..0, |number| number..number + 1));
    }

    /// Refuses the call of a number, counted from now, and all after it.
    pub(crate) fn fail_from(&self, number: u64) {
        self.refuse(number..u64::MAX);
    }

    fn refuse(&self, refused: Range<u64>) {
        let mut state = lock(&self.state);
        state.calls = 0;
        state.refused = refused;
    }

    /// Whether the call that was to be refused has been made.
    pub(crate) fn has_failed(&self) -> bool {
        let state = lock(&self.state);
        !state.refused.is_empty() && state.calls > state.refused.start
    }

    /// Whether another thread than the one that made this has called.
    pub(crate) fn has_strangers(&self) -> bool {
        lock(&self.state).has_strangers
    }

    /// How many pieces of memory are out.
    pub(crate) fn live(&self) -> usize {
        lock(&self.state).live.len()
    }
}

impl Drop for FailingHost {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            assert_eq!(self.live(), 0, "memory that was not given back");
        }
    }
}

/// Runs `make` with the first call for memory refused, then with the second, and so on, until it
/// needs no more. It must fail for want of memory each time, and give everything back; what it has
/// made in the end, `destroy` must. How often memory was refused.
pub(crate) fn for_each_failure<T>(
    host: &FailingHost,
    mut make: impl FnMut(&vk::AllocationCallbacks<'_>) -> Result<T, vk::Result>,
    destroy: impl FnOnce(T, &vk::AllocationCallbacks<'_>),
) -> u64 {
    let callbacks = host.callbacks();
    let before = host.live();
    let mut number = 0;
    loop {
        host.fail_at(Some(number));
        let made = make(&callbacks);
        let has_failed = host.has_failed();
        host.fail_at(None);
        match made {
            Ok(made) => {
                assert!(!has_failed, "it was refused memory and says nothing of it");
                destroy(made, &callbacks);
                assert_eq!(host.live(), before, "destroying leaks");
                return number;
            }
            Err(error) => {
                assert_eq!(error, vk::Result::ERROR_OUT_OF_HOST_MEMORY, "call {number}");
                assert!(has_failed, "nothing was refused");
                assert_eq!(host.live(), before, "failing at call {number} leaks");
            }
        }
        number += 1;
    }
}

fn lock(state: &Mutex<State>) -> std::sync::MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// # Safety
/// `user` is a [`FailingHost`]'s.
unsafe fn locked<'a>(user: *mut c_void) -> std::sync::MutexGuard<'a, State> {
    // SAFETY: the caller's promise.
    let mut state = lock(unsafe { &*user.cast::<Mutex<State>>() });
    state.has_strangers |= thread::current().id() != state.owner;
    state
}

unsafe extern "system" fn allocate(
    user: *mut c_void,
    size: usize,
    alignment: usize,
    _scope: vk::SystemAllocationScope,
) -> *mut c_void {
    assert_ne!(size, 0, "a driver must not ask for nothing");
    // SAFETY: the user data of these callbacks.
    let mut state = unsafe { locked(user) };
    let number = state.calls;
    state.calls += 1;
    if state.refused.contains(&number) {
        return std::ptr::null_mut();
    }
    let layout = Layout::from_size_align(size, alignment).expect("a power of two");
    // SAFETY: not of size 0.
    let start = unsafe { alloc(layout) };
    state.live.insert(start.addr(), layout);
    start.cast()
}

unsafe extern "system" fn reallocate(
    user: *mut c_void,
    original: *mut c_void,
    size: usize,
    alignment: usize,
    scope: vk::SystemAllocationScope,
) -> *mut c_void {
    // SAFETY: as in the other callbacks.
    unsafe {
        let layout = (!original.is_null()).then(|| locked(user).live[&original.addr()]);
        if size == 0 {
            free(user, original);
            return std::ptr::null_mut();
        }
        let new = allocate(user, size, alignment, scope);
        if let (Some(layout), false) = (layout, new.is_null()) {
            new.copy_from_nonoverlapping(original, layout.size().min(size));
            free(user, original);
        }
        new
    }
}

unsafe extern "system" fn free(user: *mut c_void, start: *mut c_void) {
    // SAFETY: the user data of these callbacks.
    let mut state = unsafe { locked(user) };
    if start.is_null() {
        return;
    }
    let layout = state.live.remove(&start.addr());
    let layout = layout.expect("memory that these callbacks gave, given back once");
    // SAFETY: allocated with this layout.
    unsafe { dealloc(start.cast(), layout) };
}
