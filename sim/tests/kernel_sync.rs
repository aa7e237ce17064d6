// SPDX-License-Identifier: MIT
//! Syncobjs, timelines, sync files, and buffers shared between files and devices.

mod kernel_support;

use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use agx_sim::config::SimConfig;
use agx_sim::fault::FaultKind;
use agx_sim::kernel::SimDevice;
use agx_uapi::abi::DmaBufAccess;
use agx_uapi::{
    Access, Bind, Caching, Chip, Deadline, Errno, GemHandle, Kernel, SyncHandle, SyncPoint,
    WaitFlags,
};
use kernel_support::*;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

fn query(rig: &Rig, sync: SyncHandle) -> (u64, u64) {
    let reached = rig.kernel.syncobj_query(&[sync], false).unwrap()[0];
    let submitted = rig.kernel.syncobj_query(&[sync], true).unwrap()[0];
    (reached, submitted)
}

fn wait_point(
    rig: &Rig,
    sync: SyncHandle,
    point: u64,
    flags: WaitFlags,
    deadline: Deadline,
) -> Result<u32, Errno> {
    rig.kernel
        .syncobj_timeline_wait(&[SyncPoint::Timeline(sync, point)], flags, deadline)
}

#[test]
fn binary_life() {
    let rig = Rig::new(Chip::M4);
    let sync = rig.sync();
    let wait = |flags, deadline| rig.kernel.syncobj_wait(&[sync], flags, deadline);
    assert_eq!(wait(WaitFlags::ALL, Deadline::NOW), Err(Errno::EINVAL));
    rig.mock.close(stream(0));
    rig.submit(rig.queue, &[], &[SyncPoint::Binary(sync)], &[stream(0)]);
    assert_eq!(wait(WaitFlags::ALL, Deadline::NOW), Err(Errno::ETIME));
    rig.mock.open(stream(0));
    assert_eq!(wait(WaitFlags::empty(), patience()), Ok(0));
    rig.kernel.syncobj_reset(&[sync]).unwrap();
    assert_eq!(wait(WaitFlags::ALL, Deadline::NOW), Err(Errno::EINVAL));
    rig.kernel.syncobj_signal(&[sync]).unwrap();
    assert_eq!(wait(WaitFlags::ALL, Deadline::NOW), Ok(0));
}

#[test]
fn any_says_which() {
    let rig = Rig::new(Chip::M4);
    let syncs: Vec<_> = (0..4).map(|_| rig.sync()).collect();
    rig.mock.close(stream(0));
    for sync in &syncs[..2] {
        rig.submit(rig.queue, &[], &[SyncPoint::Binary(*sync)], &[stream(0)]);
    }
    rig.kernel.syncobj_signal(&[syncs[2]]).unwrap();
    let flags = WaitFlags::FOR_SUBMIT;
    assert_eq!(rig.kernel.syncobj_wait(&syncs, flags, Deadline::NOW), Ok(2));
    // None at first: the one that comes.
    rig.kernel.syncobj_reset(&[syncs[2]]).unwrap();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| rig.kernel.syncobj_wait(&syncs, flags, patience()));
        rig.kernel.syncobj_signal(&[syncs[3]]).unwrap();
        assert_eq!(waiting.join().unwrap(), Ok(3));
    });
    rig.mock.open(stream(0));
}

#[test]
fn timelines_count() {
    let rig = Rig::new(Chip::M4);
    let sync = rig.sync();
    assert_eq!(query(&rig, sync), (0, 0));
    for (n, point) in [3, 7, 20].into_iter().enumerate() {
        rig.mock.close(stream(n as u64));
        rig.submit(
            rig.queue,
            &[],
            &[SyncPoint::Timeline(sync, point)],
            &[stream(n as u64)],
        );
    }
    assert_eq!(query(&rig, sync), (0, 20));
    for point in [1, 3, 5, 7, 8, 20] {
        assert_eq!(
            wait_point(&rig, sync, point, WaitFlags::ALL, Deadline::NOW),
            Err(Errno::ETIME)
        );
        assert_eq!(
            wait_point(
                &rig,
                sync,
                point,
                WaitFlags::ALL | WaitFlags::AVAILABLE,
                Deadline::NOW
            ),
            Ok(0)
        );
    }
    assert_eq!(
        wait_point(&rig, sync, 21, WaitFlags::ALL, Deadline::NOW),
        Err(Errno::EINVAL)
    );
    let available = WaitFlags::ALL | WaitFlags::AVAILABLE;
    assert_eq!(
        wait_point(&rig, sync, 21, available, Deadline::NOW),
        Err(Errno::ETIME)
    );
    let mut reached = 0;
    for (n, point) in [3, 7, 20].into_iter().enumerate() {
        assert_eq!(query(&rig, sync), (reached, 20));
        rig.mock.open(stream(n as u64));
        // A point in between is reached with the next one above it.
        wait_point(&rig, sync, reached + 1, WaitFlags::ALL, patience()).unwrap();
        reached = point;
        assert_eq!(query(&rig, sync), (reached, 20));
        assert_eq!(
            wait_point(&rig, sync, point, WaitFlags::ALL, Deadline::NOW),
            Ok(0)
        );
    }
    // What is over stays over.
    for point in 1..=20 {
        assert_eq!(
            wait_point(&rig, sync, point, WaitFlags::ALL, Deadline::NOW),
            Ok(0)
        );
    }
}

#[test]
fn a_point_waits_for_the_points_before() {
    let rig = Rig::new(Chip::M4);
    let other = rig
        .kernel
        .queue_create(rig.vm, agx_uapi::Priority::Low)
        .unwrap();
    let sync = rig.sync();
    rig.mock.close(stream(0));
    rig.submit(
        rig.queue,
        &[],
        &[SyncPoint::Timeline(sync, 1)],
        &[stream(0)],
    );
    rig.submit(other, &[], &[SyncPoint::Timeline(sync, 2)], &[stream(1)]);
    rig.mock.wait_for(Event::End(stream(1)));
    rig.kernel.queue_destroy(other).unwrap();
    assert_eq!(query(&rig, sync), (0, 2));
    assert_eq!(
        wait_point(&rig, sync, 2, WaitFlags::ALL, Deadline::NOW),
        Err(Errno::ETIME)
    );
    rig.mock.open(stream(0));
    wait_point(&rig, sync, 2, WaitFlags::ALL, patience()).unwrap();
    assert_eq!(query(&rig, sync), (2, 2));
}

#[test]
fn unordered_points_start_anew() {
    let rig = Rig::new(Chip::M4);
    let sync = rig.sync();
    rig.kernel.syncobj_timeline_signal(&[(sync, 5)]).unwrap();
    rig.mock.close(stream(0));
    rig.submit(
        rig.queue,
        &[],
        &[SyncPoint::Timeline(sync, 3)],
        &[stream(0)],
    );
    assert_eq!(query(&rig, sync), (0, 5));
    assert_eq!(
        wait_point(&rig, sync, 3, WaitFlags::ALL, Deadline::NOW),
        Err(Errno::ETIME)
    );
    rig.mock.open(stream(0));
    wait_point(&rig, sync, 5, WaitFlags::ALL, patience()).unwrap();
    assert_eq!(query(&rig, sync), (5, 5));
}

#[test]
fn waits_for_submit_wake_with_it() {
    let rig = Rig::new(Chip::M4);
    let (binary, timeline) = (rig.sync(), rig.sync());
    let points = [SyncPoint::Binary(binary), SyncPoint::Timeline(timeline, 4)];
    let flags = WaitFlags::ALL | WaitFlags::FOR_SUBMIT;
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| rig.kernel.syncobj_timeline_wait(&points, flags, patience()));
        rig.submit(
            rig.queue,
            &[],
            &[SyncPoint::Timeline(timeline, 3)],
            &[stream(0)],
        );
        rig.submit(rig.queue, &[], &points, &[stream(1)]);
        waiting.join().unwrap().unwrap();
    });
    assert!(rig.mock.happened(Event::End(stream(1))));
    // AVAILABLE is content with the fence.
    let flags = WaitFlags::ALL | WaitFlags::AVAILABLE;
    rig.mock.close(stream(2));
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| wait_point(&rig, timeline, 9, flags, patience()));
        rig.submit(
            rig.queue,
            &[],
            &[SyncPoint::Timeline(timeline, 9)],
            &[stream(2)],
        );
        waiting.join().unwrap().unwrap();
        assert_eq!(query(&rig, timeline), (4, 9));
        rig.mock.open(stream(2));
    });
}

/// A waiter gets the fence that was put in, whatever is done to the object before the waiter runs.
#[test]
fn a_reset_does_not_take_away_what_woke_a_wait() {
    let rig = Rig::new(Chip::M4);
    let flags = WaitFlags::ALL | WaitFlags::FOR_SUBMIT;
    for point in [0, 3] {
        for _ in 0..20 {
            let sync = rig.sync();
            std::thread::scope(|scope| {
                let waiting = scope.spawn(|| {
                    let deadline = Deadline::after(Duration::from_secs(5));
                    wait_point(&rig, sync, point, flags, deadline)
                });
                // Until it waits.
                std::thread::sleep(Duration::from_millis(20));
                if point == 0 {
                    rig.kernel.syncobj_signal(&[sync]).unwrap();
                } else {
                    rig.kernel
                        .syncobj_timeline_signal(&[(sync, point)])
                        .unwrap();
                }
                rig.kernel.syncobj_reset(&[sync]).unwrap();
                waiting.join().unwrap().unwrap();
            });
            // A transfer that waits is a waiter too.
            let target = rig.sync();
            std::thread::scope(|scope| {
                let transfer = scope.spawn(|| {
                    let from = SyncPoint::Timeline(sync, point);
                    rig.kernel
                        .syncobj_transfer(from, SyncPoint::Binary(target), true)
                });
                std::thread::sleep(Duration::from_millis(20));
                rig.kernel
                    .syncobj_timeline_signal(&[(sync, point.max(1))])
                    .unwrap();
                rig.kernel.syncobj_reset(&[sync]).unwrap();
                transfer.join().unwrap().unwrap();
            });
            assert!(rig.is_signalled(target));
        }
    }
}

#[test]
fn waits_end_not_before_their_deadline() {
    let rig = Rig::new(Chip::M4);
    rig.mock.close(stream(0));
    let (with, without) = (rig.sync(), rig.sync());
    rig.submit(rig.queue, &[], &[SyncPoint::Binary(with)], &[stream(0)]);
    for (sync, flags) in [
        (with, WaitFlags::ALL),
        (without, WaitFlags::ALL | WaitFlags::FOR_SUBMIT),
    ] {
        for timeout in [1u64, 7] {
            let timeout = Duration::from_millis(timeout);
            let start = Instant::now();
            let wait = rig
                .kernel
                .syncobj_wait(&[sync], flags, Deadline::after(timeout));
            assert_eq!(wait, Err(Errno::ETIME));
            assert!(start.elapsed() >= timeout);
        }
    }
    rig.mock.open(stream(0));
}

#[test]
fn transfers_copy_fences() {
    let rig = Rig::new(Chip::M4);
    let (source, to_binary, to_timeline) = (rig.sync(), rig.sync(), rig.sync());
    rig.mock.close(stream(0));
    rig.submit(
        rig.queue,
        &[],
        &[SyncPoint::Timeline(source, 2)],
        &[stream(0)],
    );
    let from = SyncPoint::Timeline(source, 2);
    rig.kernel
        .syncobj_transfer(from, SyncPoint::Binary(to_binary), false)
        .unwrap();
    rig.kernel
        .syncobj_transfer(from, SyncPoint::Timeline(to_timeline, 8), false)
        .unwrap();
    let missing = SyncPoint::Timeline(source, 3);
    let refused = rig
        .kernel
        .syncobj_transfer(missing, SyncPoint::Binary(to_binary), false);
    assert_eq!(refused, Err(Errno::EINVAL));
    // What becomes of the source is no concern of the copies.
    rig.kernel.syncobj_reset(&[source]).unwrap();
    assert!(!rig.is_signalled(to_binary));
    assert_eq!(query(&rig, to_timeline), (0, 8));
    rig.mock.open(stream(0));
    rig.wait(to_binary);
    wait_point(&rig, to_timeline, 8, WaitFlags::ALL, patience()).unwrap();
    // Waiting for the source to come.
    let target = SyncPoint::Timeline(to_timeline, 10);
    std::thread::scope(|scope| {
        let transfer = scope.spawn(|| rig.kernel.syncobj_transfer(missing, target, true));
        rig.kernel.syncobj_timeline_signal(&[(source, 3)]).unwrap();
        transfer.join().unwrap().unwrap();
    });
    assert_eq!(query(&rig, to_timeline), (10, 10));
}

fn readable(file: &OwnedFd, timeout: Option<&Timespec>) -> bool {
    let mut polled = [PollFd::new(file, PollFlags::IN)];
    poll(&mut polled, timeout).unwrap();
    polled[0].revents().contains(PollFlags::IN)
}

const AT_ONCE: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 0,
};

#[test]
fn sync_files_can_be_polled_and_imported() {
    let rig = Rig::new(Chip::M4);
    let sync = rig.sync();
    rig.mock.close(stream(0));
    rig.submit(rig.queue, &[], &[SyncPoint::Binary(sync)], &[stream(0)]);
    let file = rig.kernel.sync_file_export(sync).unwrap();
    let flags = rustix::io::fcntl_getfd(&file).unwrap();
    assert!(flags.contains(rustix::io::FdFlags::CLOEXEC));
    rig.kernel.syncobj_reset(&[sync]).unwrap();
    assert!(!readable(&file, Some(&AT_ONCE)));
    // Into another open file of another device.
    let other = Rig::new(Chip::M4);
    let imported = other.sync();
    other
        .kernel
        .sync_file_import(imported, file.as_fd())
        .unwrap();
    assert!(!other.is_signalled(imported));
    // There it holds back work.
    let done = other.sync();
    let (waits, signals) = ([SyncPoint::Binary(imported)], [SyncPoint::Binary(done)]);
    other.submit(other.queue, &waits, &signals, &[stream(7)]);
    assert!(!other.mock.happened(Event::Start(stream(7))));
    rig.mock.open(stream(0));
    assert!(readable(
        &file,
        Some(&Timespec {
            tv_sec: 60,
            tv_nsec: 0
        })
    ));
    other.wait(done);
    // A sync file that is over can still be imported.
    let late = rig.sync();
    rig.kernel.sync_file_import(late, file.as_fd()).unwrap();
    assert!(rig.is_signalled(late));
}

#[test]
fn syncobj_files_are_the_object() {
    let rig = Rig::new(Chip::M4);
    let sync = rig.sync();
    let file = rig.kernel.syncobj_export(sync).unwrap();
    let other = rig.device.kernel();
    let imported = other.syncobj_import(file.as_fd()).unwrap();
    let again = other
        .syncobj_import(file.try_clone().unwrap().as_fd())
        .unwrap();
    assert_ne!(imported, again, "each import is a handle of its own");
    rig.kernel.syncobj_destroy(sync).unwrap();
    drop(file);
    other.syncobj_timeline_signal(&[(imported, 6)]).unwrap();
    assert_eq!(other.syncobj_query(&[again], false), Ok(vec![6]));
}

#[test]
fn many_threads_take_turns_on_one_timeline() {
    const THREADS: u64 = 8;
    const ROUNDS: u64 = 200;
    let rig = Rig::new(Chip::M4);
    let timeline = rig.sync();
    let order = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (rig, order) = (&rig, &order);
            scope.spawn(move || {
                for round in 0..ROUNDS {
                    let turn = round * THREADS + thread;
                    let flags = WaitFlags::ALL | WaitFlags::FOR_SUBMIT;
                    wait_point(rig, timeline, turn, flags, patience())
                        .or_else(|errno| {
                            // Turn 0 has nothing to wait for.
                            if turn == 0 { Ok(0) } else { Err(errno) }
                        })
                        .unwrap();
                    order.lock().unwrap().push(turn);
                    rig.kernel
                        .syncobj_timeline_signal(&[(timeline, turn + 1)])
                        .unwrap();
                }
            });
            if thread == 0 {
                // Point 0 means the whole object: give it a fence, so that turn 0 begins.
                rig.kernel.syncobj_signal(&[timeline]).unwrap();
            }
        }
    });
    let order = order.into_inner().unwrap();
    assert_eq!(order, (0..THREADS * ROUNDS).collect::<Vec<_>>());
}

// Buffers in other hands.

fn identity(file: &OwnedFd) -> (u64, u64) {
    let stat = rustix::fs::fstat(file).unwrap();
    (stat.st_dev, stat.st_ino)
}

fn map_word(kernel: &agx_sim::kernel::SimKernel, gem: GemHandle) -> agx_uapi::Mapping {
    kernel.gem_map(gem, 0x4000).unwrap()
}

#[test]
fn imports_keep_identity() {
    let rig = Rig::new(Chip::M4);
    let first = rig.kernel.gem_export(rig.data).unwrap();
    let second = rig.kernel.gem_export(rig.data).unwrap();
    assert_eq!(identity(&first), identity(&second));
    // The own buffer is the own handle.
    assert_eq!(rig.kernel.gem_import(first.as_fd()), Ok(rig.data));
    // In another file it is one new handle, however often and through whichever descriptor.
    let other = rig.device.kernel();
    let imported = other.gem_import(first.as_fd()).unwrap();
    assert_eq!(other.gem_import(second.as_fd()), Ok(imported));
    // Closed once, it is gone, and comes back when imported again.
    other.gem_close(imported).unwrap();
    assert_eq!(other.gem_close(imported), Err(Errno::EINVAL));
    let again = other.gem_import(first.as_fd()).unwrap();
    let (here, there) = (map_word(&rig.kernel, rig.data), map_word(&other, again));
    store(&here, 8, 0x1234_5678);
    assert_eq!(load(&there, 8), 0x1234_5678);
}

#[test]
fn exports_close_on_exec_when_asked_to() {
    use agx_uapi::abi::{PrimeFlags, PrimeHandle, ioctl};
    use std::os::fd::FromRawFd;
    let rig = Rig::new(Chip::M4);
    for flags in [PrimeFlags::RDWR, PrimeFlags::RDWR | PrimeFlags::CLOEXEC] {
        let mut args = PrimeHandle {
            handle: rig.data.raw(),
            flags,
            fd: -1,
        };
        raw(rig.node(), ioctl::PRIME_HANDLE_TO_FD, &mut args).unwrap();
        // SAFETY: a descriptor that was just made for us.
        let file = unsafe { OwnedFd::from_raw_fd(args.fd) };
        let is = rustix::io::fcntl_getfd(&file).unwrap();
        assert_eq!(
            is.contains(rustix::io::FdFlags::CLOEXEC),
            flags.contains(PrimeFlags::CLOEXEC)
        );
    }
}

#[test]
fn buffers_outlive_their_handles_in_a_file() {
    let rig = Rig::new(Chip::M4);
    let gem = rig
        .kernel
        .gem_create(0x4000, Caching::WriteBack, None)
        .unwrap();
    store(&map_word(&rig.kernel, gem), 0, 77);
    let file = rig.kernel.gem_export(gem).unwrap();
    rig.kernel.gem_close(gem).unwrap();
    let back = rig.kernel.gem_import(file.as_fd()).unwrap();
    assert_eq!(load(&map_word(&rig.kernel, back), 0), 77);
}

#[test]
fn devices_share_memory() {
    let (one, two) = (Rig::new(Chip::M4), Rig::new(Chip::A18Pro));
    two.mock.keep_mappings(true);
    let gem = one
        .kernel
        .gem_create(0x8000, Caching::WriteBack, None)
        .unwrap();
    let file = one.kernel.gem_export(gem).unwrap();
    let imported = two.kernel.gem_import(file.as_fd()).unwrap();
    let addr = 0x40_0000_0000;
    let bind = Bind::Object {
        addr,
        size: 0x8000,
        gem: imported,
        offset: 0,
        access: Access::Read,
    };
    two.kernel.vm_bind(two.vm, &[bind]).unwrap();
    store(&map_word(&one.kernel, gem), 16, 99);
    drop(one);
    two.run(stream(0));
    let mut word = [0; 8];
    assert!(two.mock.mappings(stream(0)).read(addr + 16, &mut word));
    assert_eq!(u64::from_le_bytes(word), 99);
}

#[test]
fn sealed_files_of_others_are_buffers() {
    use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};
    let rig = Rig::new(Chip::M4);
    let file = memfd_create("foreign", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING).unwrap();
    ftruncate(&file, 0x8000).unwrap();
    assert_eq!(
        rig.kernel.gem_import(file.as_fd()),
        Err(Errno::EINVAL),
        "it could shrink"
    );
    fcntl_add_seals(&file, SealFlags::SHRINK).unwrap();
    let gem = rig.kernel.gem_import(file.as_fd()).unwrap();
    rustix::io::pwrite(&file, &[5; 8], 0).unwrap();
    assert_eq!(load(&map_word(&rig.kernel, gem), 0), 0x0505_0505_0505_0505);
}

#[test]
fn implicit_fences_travel_with_the_buffer() {
    let rig = Rig::new(Chip::M4);
    let dma_buf = rig.kernel.gem_export(rig.data).unwrap();
    let fence_of = |n: u64| {
        let sync = rig.sync();
        let queue = rig
            .kernel
            .queue_create(rig.vm, agx_uapi::Priority::Low)
            .unwrap();
        rig.mock.close(stream(n));
        rig.submit(queue, &[], &[SyncPoint::Binary(sync)], &[stream(n)]);
        rig.kernel.sync_file_export(sync).unwrap()
    };
    let export = |access| {
        rig.kernel
            .dma_buf_export_sync_file(dma_buf.as_fd(), access)
            .unwrap()
    };
    let import = |access, file: OwnedFd| {
        rig.kernel
            .dma_buf_import_sync_file(dma_buf.as_fd(), access, file.as_fd())
            .unwrap();
    };
    assert!(
        readable(&export(DmaBufAccess::WRITE), Some(&AT_ONCE)),
        "nobody uses it"
    );
    import(DmaBufAccess::READ, fence_of(0));
    // Another reader need not wait for a reader, a writer must.
    assert!(readable(&export(DmaBufAccess::READ), Some(&AT_ONCE)));
    let after_reader = export(DmaBufAccess::WRITE);
    assert!(!readable(&after_reader, Some(&AT_ONCE)));
    import(DmaBufAccess::WRITE, fence_of(1));
    let (for_reader, for_writer) = (export(DmaBufAccess::READ), export(DmaBufAccess::WRITE));
    let soon = Timespec {
        tv_sec: 60,
        tv_nsec: 0,
    };
    rig.mock.open(stream(1));
    assert!(readable(&for_reader, Some(&soon)));
    assert!(!readable(&for_writer, Some(&AT_ONCE)));
    rig.mock.open(stream(0));
    assert!(readable(&for_writer, Some(&soon)) && readable(&after_reader, Some(&soon)));
    assert!(readable(&export(DmaBufAccess::WRITE), Some(&AT_ONCE)));
}

/// How a submit ended is told by its own fence, not by a timeline that it is a point of.
#[test]
fn sync_files_tell_how_it_ended() {
    let rig = Rig::new(Chip::M4);
    let (sync, timeline) = (rig.sync(), rig.sync());
    assert_eq!(rig.kernel.syncobj_status(sync), Err(Errno::EINVAL));
    rig.kernel.syncobj_signal(&[sync]).unwrap();
    assert_eq!(rig.kernel.syncobj_status(sync), Ok(Some(Ok(()))));
    rig.mock.close(stream(0));
    rig.mock.fail(stream(0), FaultKind::Watchdog { limit: 1 });
    let signals = [SyncPoint::Binary(sync), SyncPoint::Timeline(timeline, 1)];
    rig.submit(rig.queue, &[], &signals, &[stream(0)]);
    let files = [sync, timeline].map(|sync| rig.kernel.sync_file_export(sync).unwrap());
    let status = |n: usize| rig.kernel.sync_file_status(files[n].as_fd());
    assert_eq!([status(0), status(1)], [Ok(None), Ok(None)]);
    assert_eq!(rig.kernel.syncobj_status(sync), Ok(None));
    rig.mock.open(stream(0));
    let waited = rig
        .kernel
        .syncobj_wait(&[sync], WaitFlags::empty(), patience());
    assert_eq!(waited, Ok(0), "a wait only tells that it is over");
    assert_eq!(status(0), Ok(Some(Err(Errno::ETIMEDOUT))));
    assert_eq!(status(1), Ok(Some(Ok(()))));
    // The same without a file.
    let failed = Ok(Some(Err(Errno::ETIMEDOUT)));
    assert_eq!(rig.kernel.syncobj_status(sync), failed);
    assert_eq!(rig.kernel.syncobj_status(timeline), Ok(Some(Ok(()))));
    let other = std::fs::File::open("/dev/null").unwrap();
    assert_eq!(
        rig.kernel.sync_file_status(other.as_fd()),
        Err(Errno::ENOTTY)
    );
}

#[test]
fn descriptors_do_not_leak() {
    let count = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    // A process of its own would be needed to count exactly: other tests run beside this one. So
    // many more are made here than those can have open.
    let device = SimDevice::new(SimConfig::m4(), Arc::new(Mock::default()));
    let kernel = device.kernel();
    let before = count();
    for _ in 0..2000 {
        let sync = kernel.syncobj_create(true).unwrap();
        drop(kernel.syncobj_export(sync).unwrap());
        drop(kernel.sync_file_export(sync).unwrap());
        kernel.syncobj_destroy(sync).unwrap();
        let gem = kernel.gem_create(0x4000, Caching::WriteBack, None).unwrap();
        drop(kernel.gem_export(gem).unwrap());
        kernel.gem_close(gem).unwrap();
    }
    assert!(
        count() < before + 1000,
        "{} descriptors, {before} before",
        count()
    );
}

/// Sync files of a fence that is not over yet go with their descriptors, too.
#[test]
fn descriptors_of_pending_fences_do_not_leak() {
    let count = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    let rig = Rig::new(Chip::M4);
    let sync = rig.sync();
    rig.mock.close(stream(0));
    rig.submit(rig.queue, &[], &[SyncPoint::Binary(sync)], &[stream(0)]);
    let before = count();
    for _ in 0..2000 {
        drop(rig.kernel.sync_file_export(sync).unwrap());
    }
    assert!(count() < before + 1000, "{} descriptors", count());
    // Nor does a time with many of them set the pace for later.
    let many: Vec<_> = (0..2000)
        .map(|_| rig.kernel.sync_file_export(sync).unwrap())
        .collect();
    drop(many);
    for _ in 0..100 {
        drop(rig.kernel.sync_file_export(sync).unwrap());
    }
    assert!(count() < before + 1000, "{} descriptors", count());
    rig.mock.open(stream(0));
}

/// A buffer that is closed while it is exported has no handle, and none that was another's.
#[test]
fn closing_while_exporting_leaves_no_stale_handle() {
    let rig = Rig::new(Chip::M4);
    let kernel = &rig.kernel;
    for _ in 0..2000 {
        let gem = kernel.gem_create(PAGE, Caching::WriteBack, None).unwrap();
        let start = std::sync::Barrier::new(2);
        let file = std::thread::scope(|scope| {
            let export = scope.spawn(|| {
                start.wait();
                kernel.gem_export(gem)
            });
            start.wait();
            kernel.gem_close(gem).unwrap();
            export.join().unwrap()
        });
        let Ok(file) = file else { continue };
        let again = kernel.gem_import(file.as_fd()).unwrap();
        kernel.gem_map(again, 0x4000).unwrap();
        kernel.gem_close(again).unwrap();
    }
}
