// SPDX-License-Identifier: MIT
//! What runs when, and what is signalled then.

use ash::vk;

use super::rig::{PATIENCE, Rig};

const OK: vk::Result = vk::Result::SUCCESS;
const NO_FENCE: vk::Fence = vk::Fence::null();

/// Gives a wrong start the time to happen.
fn settle() {
    std::thread::sleep(std::time::Duration::from_millis(5));
}

#[test]
fn any_number_of_commands_runs_in_order_before_the_fence() {
    for count in [0u64, 1, 64, 65, 200] {
        let rig = Rig::new();
        let commands: Vec<_> = (0..count).collect();
        let fence = rig.fence(false);
        if let Some(last) = commands.last() {
            rig.close(*last);
        }
        rig.submit(&[], &commands, &[], fence);
        if let Some(last) = commands.last() {
            assert_eq!(rig.status(fence), vk::Result::NOT_READY);
            assert_eq!(rig.wait(&[fence], true, 1_000_000), vk::Result::TIMEOUT);
            rig.open(*last);
        }
        assert_eq!(rig.wait(&[fence], true, PATIENCE), OK, "{count} commands");
        assert_eq!(rig.ran(), commands);
        assert_eq!(rig.status(fence), OK);
        rig.destroy(&[fence], &[]);
    }
}

#[test]
fn a_batch_without_commands_comes_after_what_was_before() {
    let rig = Rig::new();
    let (fence, done) = (rig.fence(false), rig.timeline(0));
    rig.close(0);
    rig.submit(&[], &[0], &[], NO_FENCE);
    rig.submit(&[], &[], &[(done, 3)], fence);
    assert_eq!(rig.status(fence), vk::Result::NOT_READY);
    assert_eq!(rig.counter(done), 0);
    rig.open(0);
    assert_eq!(rig.wait(&[fence], true, PATIENCE), OK);
    assert_eq!(rig.wait_points(&[(done, 3)], false, PATIENCE), OK);
    assert_eq!(rig.counter(done), 3);
    rig.destroy(&[fence], &[done]);
}

#[test]
fn what_comes_later_waits_for_the_waits_of_a_batch_without_commands() {
    let rig = Rig::new();
    let (go, fence) = (rig.timeline(0), rig.fence(false));
    // What is waited for is submitted, so no thread is needed, but not signalled.
    rig.close(0);
    rig.submit_second(&[], &[0], &[(go, 1)], NO_FENCE);
    rig.submit(&[(go, 1)], &[], &[], NO_FENCE);
    rig.submit(&[], &[1], &[], fence);
    assert!(!rig.queue().deferred.is_busy());
    settle();
    assert_eq!(rig.ran(), [0u64; 0]);
    rig.open(0);
    assert_eq!(rig.wait(&[fence], true, PATIENCE), OK);
    assert_eq!(rig.ran(), [0, 1]);
    rig.destroy(&[fence], &[go]);
}

/// The second wait is not for the first signal, which is gone, but for one that is on its way.
#[test]
fn a_wait_takes_the_signal_with_it() {
    let rig = Rig::new();
    let (go, binary) = (rig.timeline(0), rig.semaphore());
    let fences = [rig.fence(false), rig.fence(false)];
    rig.submit(&[], &[0], &[(binary, 0)], NO_FENCE);
    rig.submit_second(&[(binary, 0)], &[1], &[], fences[0]);
    assert_eq!(rig.wait(&fences[..1], true, PATIENCE), OK);
    rig.submit(&[(go, 1)], &[2], &[(binary, 0)], NO_FENCE);
    rig.submit_second(&[(binary, 0)], &[3], &[], fences[1]);
    settle();
    assert_eq!(rig.ran(), [0, 1]);
    assert_eq!(rig.signal(go, 1), OK);
    assert_eq!(rig.wait(&fences[1..], true, PATIENCE), OK);
    assert_eq!(rig.ran(), [0, 1, 2, 3]);
    rig.destroy(&fences, &[go, binary]);
}

#[test]
fn submits_of_one_call_may_depend_on_each_other() {
    let rig = Rig::new();
    let (a, b, fence) = (rig.semaphore(), rig.timeline(7), rig.fence(false));
    let result = rig.submit_all(
        &[
            (&[], &[0], &[(a, 0)]),
            (&[(a, 0), (b, 7)], &[1, 2], &[(b, 8)]),
            (&[(b, 8)], &[], &[(a, 0)]),
            (&[(a, 0)], &[3], &[(b, 20)]),
        ],
        fence,
    );
    assert_eq!(result, OK);
    assert_eq!(rig.wait(&[fence], true, PATIENCE), OK);
    assert_eq!(rig.ran(), [0, 1, 2, 3]);
    assert_eq!(rig.counter(b), 20);
    rig.destroy(&[fence], &[a, b]);
}

/// The first batch waits for what nobody has submitted: nothing after it overtakes it.
#[test]
fn a_wait_comes_before_its_signal() {
    let rig = Rig::new();
    let (go, binary) = (rig.timeline(0), rig.semaphore());
    let fences: Vec<_> = (0..4).map(|_| rig.fence(false)).collect();
    rig.submit(&[], &[0], &[], fences[0]);
    rig.submit(&[(go, 5)], &[1], &[(binary, 0)], fences[1]);
    rig.submit(&[(binary, 0)], &[2], &[(go, 9)], fences[2]);
    rig.submit(&[], &[3], &[], fences[3]);
    assert_eq!(rig.wait(&fences[..1], true, PATIENCE), OK);
    settle();
    assert_eq!(rig.ran(), [0]);
    for fence in &fences[1..] {
        assert_eq!(rig.status(*fence), vk::Result::NOT_READY);
    }
    assert_eq!(rig.wait(&fences, false, 0), OK, "one of them is signalled");
    assert_eq!(rig.wait(&fences, true, 0), vk::Result::TIMEOUT);
    assert_eq!(rig.signal(go, 4), OK);
    settle();
    assert_eq!(rig.ran(), [0]);
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| rig.wait(&fences, true, u64::MAX));
        assert_eq!(rig.signal(go, 6), OK);
        assert_eq!(waiting.join().unwrap(), OK);
    });
    assert_eq!(rig.ran(), [0, 1, 2, 3]);
    assert_eq!(rig.counter(go), 9);
    // Then without the thread again.
    rig.reset(fences[0]);
    rig.submit(&[(go, 9)], &[4], &[], fences[0]);
    assert!(!rig.queue().deferred.is_busy());
    assert_eq!(rig.idle(), OK);
    assert_eq!(rig.status(fences[0]), OK);
    rig.destroy(&fences, &[go, binary]);
}

#[test]
fn waiting_for_idle_includes_what_has_yet_to_be_submitted() {
    let rig = Rig::new();
    let go = rig.timeline(0);
    for n in 0..10 {
        rig.submit(&[(go, n + 1)], &[n], &[], NO_FENCE);
    }
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| rig.idle());
        for value in 1..=10 {
            assert_eq!(rig.signal(go, value), OK);
        }
        assert_eq!(waiting.join().unwrap(), OK);
    });
    assert_eq!(rig.ran(), (0..10).collect::<Vec<_>>());
    rig.destroy(&[], &[go]);
}

/// A binary semaphore is unsignalled after its wait, so it can be used again and again.
#[test]
fn binary_semaphores_go_round() {
    let rig = Rig::new();
    let semaphore = rig.semaphore();
    let fence = rig.fence(false);
    for n in 0..50 {
        rig.submit(&[], &[2 * n], &[(semaphore, 0)], NO_FENCE);
        rig.submit(&[(semaphore, 0)], &[2 * n + 1], &[], NO_FENCE);
    }
    rig.submit(&[], &[], &[], fence);
    assert_eq!(rig.wait(&[fence], true, PATIENCE), OK);
    assert_eq!(rig.ran(), (0..100).collect::<Vec<_>>());
    rig.destroy(&[fence], &[semaphore]);
}

#[test]
fn a_timeline_has_many_points() {
    let rig = Rig::new();
    let (semaphore, fence) = (rig.timeline(0), rig.fence(false));
    for point in 1..=300 {
        rig.submit(
            &[(semaphore, point - 1)],
            &[point],
            &[(semaphore, point)],
            NO_FENCE,
        );
    }
    for point in [1, 150, 300] {
        assert_eq!(rig.wait_points(&[(semaphore, point)], false, PATIENCE), OK);
        assert!(rig.counter(semaphore) >= point);
    }
    assert_eq!(
        rig.wait_points(&[(semaphore, 301)], false, 1_000_000),
        vk::Result::TIMEOUT
    );
    assert_eq!(
        rig.wait_points(&[(semaphore, 301), (semaphore, 2)], true, 0),
        OK
    );
    assert_eq!(rig.ran(), (1..=300).collect::<Vec<_>>());
    rig.destroy(&[fence], &[semaphore]);
}

/// More waits and signals than the kernel takes with one submit (kernel-uapi, 11.1).
#[test]
fn waits_and_signals_may_be_many() {
    let rig = Rig::new();
    let (from, to) = (rig.timeline(0), rig.timeline(0));
    let count = 5000;
    let waits: Vec<_> = (1..=count).map(|point| (from, point)).collect();
    let signals: Vec<_> = (1..=count).map(|point| (to, point)).collect();
    let fence = rig.fence(false);
    rig.submit(&waits, &[0, 1], &signals, fence);
    settle();
    assert_eq!(
        (rig.status(fence), rig.counter(to)),
        (vk::Result::NOT_READY, 0)
    );
    assert_eq!(rig.signal(from, count), OK);
    assert_eq!(rig.wait(&[fence], true, PATIENCE), OK);
    assert_eq!(rig.wait_points(&[(to, count)], false, PATIENCE), OK);
    assert_eq!(rig.ran(), [0, 1]);
    rig.destroy(&[fence], &[from, to]);
}

#[test]
fn fences_and_semaphores_may_go_while_the_kernel_has_them() {
    let rig = Rig::new();
    let (fence, semaphore) = (rig.fence(false), rig.semaphore());
    rig.close(0);
    rig.submit(&[], &[0], &[(semaphore, 0)], fence);
    rig.destroy(&[fence], &[semaphore]);
    rig.open(0);
    assert_eq!(rig.idle(), OK);
    assert_eq!(rig.ran(), [0]);
}

/// Slots are used again, by who waits and by who never does.
#[test]
fn slots_do_not_pile_up() {
    let rig = Rig::new();
    for _ in 0..2000 {
        rig.submit(&[], &[0], &[], NO_FENCE);
    }
    assert_eq!(rig.idle(), OK);
    let slots = rig.queue().line.slots();
    for _ in 0..slots + 100 {
        rig.submit(&[], &[0], &[], NO_FENCE);
        assert_eq!(rig.idle(), OK);
    }
    assert_eq!(rig.queue().line.oldest(), None);
    assert_eq!(rig.queue().line.slots(), slots);
}

/// A device may go though its queues' threads still wait, which an application would be wrong to have
/// happen.
#[test]
fn a_device_goes_whatever_its_queues_wait_for() {
    let rig = Rig::new();
    let go = rig.timeline(0);
    rig.submit(&[(go, 1)], &[0], &[], NO_FENCE);
    rig.submit_second(&[(go, 2)], &[1], &[], NO_FENCE);
    // So that it is not waited for.
    let _ = rig.device().lose(&"expected by a test");
    rig.destroy(&[], &[go]);
}
