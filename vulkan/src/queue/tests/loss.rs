// SPDX-License-Identifier: MIT
//! The device is lost: everyone learns of it, and nobody waits for ever.

use agx_hw::cdm::CdmStream;
use ash::vk;

use super::rig::{PATIENCE, Rig};
use crate::command::{Segment, Work};
use crate::error::code;
use crate::gpu::Zone;

const OK: vk::Result = vk::Result::SUCCESS;
const LOST: vk::Result = vk::Result::ERROR_DEVICE_LOST;

/// Everything that can tell does.
fn assert_lost(rig: &Rig) {
    let (fence, semaphore) = (rig.fence(false), rig.timeline(0));
    assert_eq!(rig.submit_all(&[(&[], &[0], &[])], fence), LOST);
    assert_eq!(rig.status(fence), LOST);
    assert_eq!(rig.wait(&[fence], true, u64::MAX), LOST);
    assert_eq!(rig.wait_points(&[(semaphore, 1)], false, u64::MAX), LOST);
    assert_eq!(rig.signal(semaphore, 1), LOST);
    assert_eq!(rig.idle(), LOST);
    rig.destroy(&[fence], &[semaphore]);
}

#[test]
fn a_wait_for_a_fence_tells() {
    let rig = Rig::new();
    let fence = rig.fence(false);
    rig.fail(1);
    rig.submit(&[], &[0, 1], &[], fence);
    assert_eq!(rig.wait(&[fence], true, PATIENCE), LOST);
    assert_lost(&rig);
    rig.destroy(&[fence], &[]);
}

#[test]
fn the_status_of_a_fence_tells() {
    let rig = Rig::new();
    let fence = rig.fence(false);
    rig.close(0);
    rig.fail(0);
    rig.submit(&[], &[0], &[], fence);
    assert_eq!(rig.status(fence), vk::Result::NOT_READY);
    rig.open(0);
    while rig.status(fence) == vk::Result::NOT_READY {
        std::thread::yield_now();
    }
    assert_eq!(rig.status(fence), LOST);
    rig.destroy(&[fence], &[]);
}

#[test]
fn waiting_for_idle_tells() {
    let rig = Rig::new();
    rig.fail(0);
    rig.submit(&[], &[0], &[], vk::Fence::null());
    assert_eq!(rig.idle(), LOST);
    assert_lost(&rig);
}

#[test]
fn a_wait_for_a_timeline_tells() {
    let rig = Rig::new();
    let semaphore = rig.timeline(0);
    rig.fail(0);
    rig.submit(&[], &[0], &[(semaphore, 1)], vk::Fence::null());
    assert_eq!(rig.wait_points(&[(semaphore, 1)], false, PATIENCE), LOST);
    rig.destroy(&[], &[semaphore]);
}

/// The submit after it is refused by the kernel.
#[test]
fn a_submit_tells() {
    let rig = Rig::new();
    rig.sim.lose();
    let fence = rig.fence(false);
    assert_eq!(rig.submit_all(&[(&[], &[0], &[])], fence), LOST);
    assert_lost(&rig);
    rig.destroy(&[fence], &[]);
}

/// Who waits for what will never come learns of the loss, though nothing that it waits for happens;
/// so do batches that have yet to be submitted, and who waits for those.
#[test]
fn waits_for_what_never_comes_end() {
    let rig = Rig::new();
    let never = rig.timeline(0);
    let fences = [rig.fence(false), rig.fence(false)];
    rig.close(0);
    rig.fail(0);
    rig.submit(&[], &[0], &[], fences[0]);
    rig.submit(&[(never, 1)], &[1], &[(never, 2)], fences[1]);
    std::thread::scope(|scope| {
        let waits = [
            scope.spawn(|| rig.wait_points(&[(never, 3)], false, u64::MAX)),
            scope.spawn(|| rig.wait(&fences[1..], true, u64::MAX)),
            scope.spawn(|| rig.idle()),
        ];
        rig.open(0);
        for wait in waits {
            assert_eq!(wait.join().unwrap(), LOST);
        }
    });
    assert_eq!(rig.ran(), [0]);
    assert_lost(&rig);
    rig.destroy(&fences, &[never]);
}

/// What a lost device will never signal is signalled for those who do not know that it is lost.
#[test]
fn other_devices_do_not_wait_for_a_lost_one() {
    let (rig, other) = (Rig::new(), Rig::new());
    let (never, shared, theirs) = (rig.timeline(0), rig.timeline(0), other.timeline(0));
    rig.share_semaphore(shared, &other, theirs);
    rig.submit(&[(never, 1)], &[0], &[(shared, 5)], vk::Fence::null());
    rig.sim.lose();
    assert_eq!(
        rig.submit_all(&[(&[], &[1], &[])], vk::Fence::null()),
        OK,
        "behind the first"
    );
    rig.submit_second_lost(&[2]);
    assert_eq!(other.wait_points(&[(theirs, 5)], false, PATIENCE), OK);
    assert_eq!(rig.ran(), [0u64; 0]);
    rig.destroy(&[], &[never, shared]);
    other.destroy(&[], &[theirs]);
}

/// The real GPU model, and a record that it does not know.
#[test]
fn a_faulting_stream_loses_the_device() {
    let rig = Rig::real();
    let memory = rig.device().gpu.allocate(Zone::Upload, 4096, 64).unwrap();
    let run = |bytes: &[u8], fence: vk::Fence| {
        // SAFETY: nothing uses the memory at the time.
        unsafe { memory.write(0, bytes) };
        let segment = Segment {
            work: Work::Compute {
                start: memory.address(),
                end: memory.address() + bytes.len() as u64,
            },
            begun: None,
            ended: None,
        };
        let submit = || {
            let mut batches = rig.queue().batches();
            batches.begin(false)?;
            batches.segment(&segment)?;
            // SAFETY: a live fence.
            unsafe { rig.queue().finish(batches, fence) }
        };
        code(submit())
    };
    let mut good = vec![0; 64];
    let mut stream = CdmStream::new(&mut good, memory.address()).unwrap();
    stream.barrier().unwrap();
    let end = stream.terminate().unwrap();
    let length = (end - memory.address()) as usize;
    let fence = rig.fence(false);
    assert_eq!(run(&good[..length], fence), OK);
    assert_eq!(rig.wait(&[fence], true, PATIENCE), OK);
    rig.reset(fence);
    assert_eq!(run(&[0xff; 16], fence), OK);
    assert_eq!(rig.wait(&[fence], true, PATIENCE), LOST);
    assert!(rig.sim.last_fault().is_some());
    assert_lost(&rig);
    rig.destroy(&[fence], &[]);
}
