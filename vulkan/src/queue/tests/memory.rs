// SPDX-License-Identifier: MIT
//! Host memory that is refused, and whose thread asks for it.

use std::ffi::c_void;
use std::sync::Mutex;
use std::thread::{self, ThreadId};

use ash::vk;

use super::rig::{PATIENCE, Rig};

const OK: vk::Result = vk::Result::SUCCESS;

/// An allocator that refuses when it is told to, and counts.
#[derive(Debug)]
struct Host {
    state: Mutex<State>,
    owner: ThreadId,
}

#[derive(Debug, Default)]
struct State {
    /// Allocations until one is refused.
    left: Option<usize>,
    live: isize,
    foreign: bool,
    sizes: std::collections::HashMap<usize, (usize, usize)>,
}

impl Host {
    fn callbacks(&self) -> vk::AllocationCallbacks<'static> {
        vk::AllocationCallbacks {
            p_user_data: std::ptr::from_ref(self).cast_mut().cast(),
            pfn_allocation: Some(allocate),
            pfn_reallocation: None,
            pfn_free: Some(free),
            ..Default::default()
        }
    }
}

unsafe extern "system" fn allocate(
    user: *mut c_void,
    size: usize,
    align: usize,
    _: vk::SystemAllocationScope,
) -> *mut c_void {
    // SAFETY: the host outlives the device.
    let host = unsafe { &*user.cast::<Host>() };
    let mut state = host.state.lock().unwrap();
    state.foreign |= thread::current().id() != host.owner;
    if let Some(left) = &mut state.left {
        if *left == 0 {
            return std::ptr::null_mut();
        }
        *left -= 1;
    }
    state.live += 1;
    let layout = std::alloc::Layout::from_size_align(size, align).unwrap();
    // SAFETY: not of size 0.
    let memory = unsafe { std::alloc::alloc(layout) };
    state.sizes.insert(memory.addr(), (size, align));
    memory.cast()
}

unsafe extern "system" fn free(user: *mut c_void, memory: *mut c_void) {
    // SAFETY: the host outlives the device.
    let host = unsafe { &*user.cast::<Host>() };
    let mut state = host.state.lock().unwrap();
    state.foreign |= thread::current().id() != host.owner;
    if memory.is_null() {
        return;
    }
    state.live -= 1;
    let (size, align) = state
        .sizes
        .remove(&memory.addr())
        .expect("given out by this");
    let layout = std::alloc::Layout::from_size_align(size, align).unwrap();
    // SAFETY: allocated above with that layout.
    unsafe { std::alloc::dealloc(memory.cast(), layout) };
}

fn host() -> Host {
    Host {
        state: Mutex::default(),
        owner: thread::current().id(),
    }
}

/// At whatever allocation a submit fails, nothing has changed.
#[test]
fn a_submit_without_memory_has_not_happened() {
    let host = host();
    {
        let rig = Rig::with_allocator(Some(&host.callbacks()));
        let (a, b) = (rig.semaphore(), rig.timeline(0));
        let fence = rig.fence(false);
        let late = rig.timeline(0);
        rig.submit(&[], &[], &[(a, 0)], vk::Fence::null());
        let many: Vec<_> = (2..200).collect();
        let submits: [(&[_], &[_], &[_]); 3] = [
            (&[(a, 0)], &[0], &[(b, 1)]),
            (&[(b, 1)], &many, &[(b, 2)]),
            // This one goes to the thread.
            (&[(late, 1)], &[1], &[(a, 0)]),
        ];
        let mut refused = 0;
        loop {
            host.state.lock().unwrap().left = Some(refused);
            let result = rig.submit_all(&submits, fence);
            host.state.lock().unwrap().left = None;
            if result == OK {
                break;
            }
            assert_eq!(
                result,
                vk::Result::ERROR_OUT_OF_HOST_MEMORY,
                "after {refused}"
            );
            assert_eq!(rig.status(fence), vk::Result::NOT_READY);
            assert_eq!(rig.counter(b), 0);
            assert_eq!(rig.ran(), [0u64; 0]);
            refused += 1;
        }
        assert!(refused > 5, "{refused} allocations");
        assert_eq!(rig.signal(late, 1), OK);
        assert_eq!(rig.wait(&[fence], true, PATIENCE), OK);
        let expected: Vec<_> = [0].into_iter().chain(2..200).chain([1]).collect();
        assert_eq!(rig.ran(), expected);
        rig.destroy(&[fence], &[a, b, late]);
    }
    let state = host.state.lock().unwrap();
    assert_eq!((state.live, state.foreign), (0, false));
}

/// The queue's own thread never calls the application's allocator.
#[test]
fn only_threads_of_the_application_allocate() {
    let host = host();
    {
        let rig = Rig::with_allocator(Some(&host.callbacks()));
        let go = rig.timeline(0);
        for n in 0..200 {
            rig.submit(&[(go, n + 1)], &[n], &[], vk::Fence::null());
            if n % 3 == 2 {
                assert_eq!(rig.signal(go, n), OK);
            }
        }
        assert_eq!(rig.signal(go, 200), OK);
        assert_eq!(rig.idle(), OK);
        assert_eq!(rig.ran(), (0..200).collect::<Vec<_>>());
        rig.destroy(&[], &[go]);
    }
    let state = host.state.lock().unwrap();
    assert_eq!((state.live, state.foreign), (0, false));
}
