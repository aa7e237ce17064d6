// SPDX-License-Identifier: MIT
//! Payloads that come and go through descriptors.

use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd};

use ash::vk;

use super::rig::{PATIENCE, Rig};
use crate::{fence, semaphore};

const OK: vk::Result = vk::Result::SUCCESS;
const NOT_READY: vk::Result = vk::Result::NOT_READY;

type FenceType = vk::ExternalFenceHandleTypeFlags;
type SemaphoreType = vk::ExternalSemaphoreHandleTypeFlags;

impl Rig {
    pub(super) fn export_fence(&self, fence: vk::Fence, kind: FenceType) -> OwnedFd {
        let info = vk::FenceGetFdInfoKHR::default()
            .fence(fence)
            .handle_type(kind);
        let mut fd = -1;
        // SAFETY: live by the test's doing; the descriptor is ours.
        unsafe {
            let result = fence::get_fence_fd(self.device, &raw const info, &raw mut fd);
            assert_eq!(result, OK);
            OwnedFd::from_raw_fd(fd)
        }
    }

    pub(super) fn import_fence(
        &self,
        fence: vk::Fence,
        kind: FenceType,
        fd: i32,
        temporary: bool,
    ) -> vk::Result {
        let mut info = vk::ImportFenceFdInfoKHR::default()
            .fence(fence)
            .handle_type(kind)
            .fd(fd);
        if temporary {
            info = info.flags(vk::FenceImportFlags::TEMPORARY);
        }
        // SAFETY: live by the test's doing.
        unsafe { fence::import_fence_fd(self.device, &raw const info) }
    }

    /// Shares the payload of a semaphore with one of another device.
    pub(super) fn share_semaphore(&self, from: vk::Semaphore, other: &Rig, to: vk::Semaphore) {
        let kind = SemaphoreType::OPAQUE_FD;
        let fd = self.export_semaphore(from, kind).into_raw_fd();
        assert_eq!(other.import_semaphore(to, kind, fd, false), OK);
    }

    fn export_semaphore(&self, semaphore: vk::Semaphore, kind: SemaphoreType) -> OwnedFd {
        let info = vk::SemaphoreGetFdInfoKHR::default()
            .semaphore(semaphore)
            .handle_type(kind);
        let mut fd = -1;
        // SAFETY: live by the test's doing; the descriptor is ours.
        unsafe {
            let result = semaphore::get_semaphore_fd(self.device, &raw const info, &raw mut fd);
            assert_eq!(result, OK);
            OwnedFd::from_raw_fd(fd)
        }
    }

    fn import_semaphore(
        &self,
        semaphore: vk::Semaphore,
        kind: SemaphoreType,
        fd: i32,
        temporary: bool,
    ) -> vk::Result {
        let mut info = vk::ImportSemaphoreFdInfoKHR::default()
            .semaphore(semaphore)
            .handle_type(kind)
            .fd(fd);
        if temporary {
            info = info.flags(vk::SemaphoreImportFlags::TEMPORARY);
        }
        // SAFETY: live by the test's doing.
        unsafe { semaphore::import_semaphore_fd(self.device, &raw const info) }
    }
}

#[test]
fn a_fence_is_shared_by_reference() {
    let rig = Rig::new();
    let (a, b) = (rig.fence(false), rig.fence(true));
    let fd = rig.export_fence(a, FenceType::OPAQUE_FD);
    assert_eq!(
        rig.import_fence(b, FenceType::OPAQUE_FD, fd.into_raw_fd(), false),
        OK
    );
    assert_eq!(rig.status(b), NOT_READY);
    rig.submit(&[], &[0], &[], a);
    assert_eq!(rig.wait(&[b], true, PATIENCE), OK);
    rig.reset(b);
    assert_eq!(rig.status(a), NOT_READY);
    rig.destroy(&[a], &[]);
    rig.submit(&[], &[1], &[], b);
    assert_eq!(rig.wait(&[b], true, PATIENCE), OK);
    rig.destroy(&[b], &[]);
}

#[test]
fn a_temporary_fence_ends_with_its_reset() {
    let rig = Rig::new();
    let (a, b) = (rig.fence(true), rig.fence(false));
    let fd = rig.export_fence(a, FenceType::OPAQUE_FD);
    assert_eq!(
        rig.import_fence(b, FenceType::OPAQUE_FD, fd.into_raw_fd(), true),
        OK
    );
    assert_eq!(rig.status(b), OK);
    // What is reset is the restored payload.
    rig.reset(b);
    assert_eq!((rig.status(a), rig.status(b)), (OK, NOT_READY));
    // -1 is what is over already.
    assert_eq!(rig.import_fence(b, FenceType::SYNC_FD, -1, true), OK);
    assert_eq!(rig.status(b), OK);
    rig.reset(b);
    assert_eq!(rig.status(b), NOT_READY);
    rig.destroy(&[a, b], &[]);
}

#[test]
fn a_sync_file_takes_the_fence_with_it() {
    let rig = Rig::new();
    let (a, b) = (rig.fence(false), rig.fence(false));
    rig.close(0);
    rig.submit(&[], &[0], &[], a);
    let file = rig.export_fence(a, FenceType::SYNC_FD);
    assert_eq!(
        rig.import_fence(b, FenceType::SYNC_FD, file.into_raw_fd(), true),
        OK
    );
    rig.open(0);
    assert_eq!(rig.wait(&[b], true, PATIENCE), OK);
    // Exporting is as good as resetting.
    assert_eq!(rig.status(a), NOT_READY);
    rig.destroy(&[a, b], &[]);
}

#[test]
fn other_files_are_refused_and_stay_the_callers() {
    let rig = Rig::new();
    let (fence, semaphore) = (rig.fence(true), rig.semaphore());
    let file = std::fs::File::open("/dev/null").unwrap();
    let fd = file.as_raw_fd();
    let refused = vk::Result::ERROR_INVALID_EXTERNAL_HANDLE;
    for kind in [FenceType::OPAQUE_FD, FenceType::SYNC_FD] {
        assert_eq!(rig.import_fence(fence, kind, fd, true), refused);
    }
    assert_eq!(
        rig.import_fence(fence, FenceType::OPAQUE_FD, -1, false),
        refused
    );
    for kind in [SemaphoreType::OPAQUE_FD, SemaphoreType::SYNC_FD] {
        assert_eq!(rig.import_semaphore(semaphore, kind, fd, true), refused);
    }
    assert!(file.metadata().is_ok(), "still open");
    assert_eq!(rig.status(fence), OK);
    rig.destroy(&[fence], &[semaphore]);
}

#[test]
fn timelines_are_shared_by_reference() {
    let rig = Rig::new();
    let (a, b) = (rig.timeline(0), rig.timeline(0));
    let fd = rig.export_semaphore(a, SemaphoreType::OPAQUE_FD);
    assert_eq!(
        rig.import_semaphore(b, SemaphoreType::OPAQUE_FD, fd.into_raw_fd(), false),
        OK
    );
    rig.submit(&[(b, 4)], &[0], &[(a, 6)], vk::Fence::null());
    assert_eq!(rig.signal(a, 4), OK);
    assert_eq!(rig.wait_points(&[(b, 6)], false, PATIENCE), OK);
    assert_eq!(rig.counter(b), 6);
    assert_eq!(rig.idle(), OK);
    rig.destroy(&[], &[a, b]);
}

/// A wait ends a temporary payload, also when its semaphore is used again in the same call.
#[test]
fn a_temporary_semaphore_ends_with_its_wait() {
    let rig = Rig::new();
    let (semaphore, fence) = (rig.semaphore(), rig.fence(false));
    assert_eq!(
        rig.import_semaphore(semaphore, SemaphoreType::SYNC_FD, -1, true),
        OK
    );
    let submits: [(&[_], &[_], &[_]); 3] = [
        (&[(semaphore, 0)], &[0], &[]),
        (&[], &[1], &[(semaphore, 0)]),
        (&[(semaphore, 0)], &[2], &[]),
    ];
    assert_eq!(rig.submit_all(&submits, fence), OK);
    assert_eq!(rig.wait(&[fence], true, PATIENCE), OK);
    assert_eq!(rig.ran(), [0, 1, 2]);
    rig.destroy(&[fence], &[semaphore]);
}

/// A sync file of a signal that is on its way through the thread.
#[test]
fn a_sync_file_waits_for_its_submit() {
    let rig = Rig::new();
    let (go, semaphore, fence) = (rig.timeline(0), rig.semaphore(), rig.fence(false));
    rig.submit(&[(go, 1)], &[0], &[(semaphore, 0)], vk::Fence::null());
    let file = std::thread::scope(|scope| {
        let export = scope.spawn(|| rig.export_semaphore(semaphore, SemaphoreType::SYNC_FD));
        assert_eq!(rig.signal(go, 1), OK);
        export.join().unwrap()
    });
    // Exporting is as good as waiting: the semaphore can be signalled again.
    rig.submit(&[], &[1], &[(semaphore, 0)], vk::Fence::null());
    rig.submit(&[(semaphore, 0)], &[2], &[], vk::Fence::null());
    assert_eq!(
        rig.import_semaphore(semaphore, SemaphoreType::SYNC_FD, file.into_raw_fd(), true),
        OK
    );
    rig.submit(&[(semaphore, 0)], &[3], &[], fence);
    assert_eq!(rig.wait(&[fence], true, PATIENCE), OK);
    assert_eq!(rig.ran(), [0, 1, 2, 3]);
    rig.destroy(&[fence], &[go, semaphore]);
}
