// SPDX-License-Identifier: MIT
//! Host memory that is refused, and whose thread asks for it.

use ash::vk;

use super::rig::{PATIENCE, Rig};
use crate::testing::FailingHost;

const OK: vk::Result = vk::Result::SUCCESS;

/// At whatever allocation a submit fails, nothing has changed.
#[test]
fn a_submit_without_memory_has_not_happened() {
    let host = FailingHost::new();
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
            host.fail_from(refused);
            let result = rig.submit_all(&submits, fence);
            host.fail_at(None);
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
    assert_eq!((host.live(), host.has_strangers()), (0, false));
}

/// The queue's own thread never calls the application's allocator.
#[test]
fn only_threads_of_the_application_allocate() {
    let host = FailingHost::new();
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
    assert_eq!((host.live(), host.has_strangers()), (0, false));
}
