// SPDX-License-Identifier: MIT
//! Each typed call, as the bytes that reach the DRM file and the results that come back.
//!
//! Expected bytes are written by hand from the layouts of docs/hw/kernel-uapi.md, without the
//! crate's structures.

use std::collections::VecDeque;
use std::ffi::c_void;
use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, IntoRawFd};
use std::ptr::with_exposed_provenance;
use std::sync::Mutex;
use std::time::Duration;

use agx_uapi::abi::DmaBufAccess;
use agx_uapi::{
    Access, Bind, Caching, Deadline, DriverError, Drm, Errno, GemHandle, Kernel, Mapping, Node,
    Priority, QueueId, Submit, SyncHandle, SyncPoint, TimestampHandle, Version, VmId, WaitFlags,
};

/// What one request does when it arrives.
#[derive(Default)]
struct Script {
    /// Where in the argument a user pointer stands, and how many bytes it must show.
    inputs: Vec<(usize, usize)>,
    /// Bytes to put behind a user pointer that stands at this offset.
    outputs: Vec<(usize, Vec<u8>)>,
    /// Bytes to put into the argument.
    result: Vec<(usize, Vec<u8>)>,
    error: Option<Errno>,
}

/// A request as it arrived.
#[derive(Clone, Debug, PartialEq)]
struct Seen {
    request: u32,
    /// The argument, with user pointers replaced by 1 when they are not null.
    argument: Vec<u8>,
    /// What user pointers showed.
    inputs: Vec<Vec<u8>>,
    /// Whether it went to this dma-buf or sync file instead of the DRM file.
    file: Option<i32>,
}

#[derive(Default)]
struct Recorder {
    scripts: Mutex<VecDeque<Script>>,
    seen: Mutex<Vec<Seen>>,
    mapped: Mutex<Vec<(u64, usize)>>,
    file: Option<File>,
}

impl Recorder {
    /// # Safety
    ///
    /// As for `Node::ioctl`, with pointers as the next script says.
    unsafe fn serve(&self, file: Option<i32>, request: u32, arg: *mut c_void) -> Result<(), Errno> {
        let script = self
            .scripts
            .lock()
            .unwrap()
            .pop_front()
            .expect("an expected request");
        let size = (request >> 16 & 0x3fff) as usize;
        // SAFETY: the argument has the size that the request encodes.
        let argument = unsafe { std::slice::from_raw_parts_mut(arg.cast::<u8>(), size) };
        let mut shown = argument.to_vec();
        let address = |offset: usize| {
            usize::try_from(u64::from_le_bytes(
                argument[offset..offset + 8].try_into().unwrap(),
            ))
            .unwrap()
        };
        let mut inputs = Vec::new();
        for (offset, len) in script.inputs {
            let start = with_exposed_provenance::<u8>(address(offset));
            // SAFETY: the caller's pointer is valid for what the request reads.
            inputs.push(unsafe { std::slice::from_raw_parts(start, len) }.to_vec());
            shown[offset..offset + 8].copy_from_slice(&1u64.to_le_bytes());
        }
        for (offset, bytes) in script.outputs {
            let start = std::ptr::with_exposed_provenance_mut::<u8>(address(offset));
            // SAFETY: the caller's pointer is valid for what the request writes.
            unsafe { start.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
            shown[offset..offset + 8].copy_from_slice(&1u64.to_le_bytes());
        }
        self.seen.lock().unwrap().push(Seen {
            request,
            argument: shown,
            inputs,
            file,
        });
        for (offset, bytes) in script.result {
            argument[offset..offset + bytes.len()].copy_from_slice(&bytes);
        }
        script.error.map_or(Ok(()), Err)
    }
}

// SAFETY: writes only to the argument and to user memory that a test's script names; descriptors
// in scripts are new files.
unsafe impl Node for Recorder {
    unsafe fn ioctl(&self, request: u32, arg: *mut c_void) -> Result<(), Errno> {
        // SAFETY: passed on.
        unsafe { self.serve(None, request, arg) }
    }

    fn mmap(&self, offset: u64, len: usize) -> Result<Mapping, Errno> {
        self.mapped.lock().unwrap().push((offset, len));
        Mapping::of_file(self.file.as_ref().ok_or(Errno::EINVAL)?, 0, len)
    }

    unsafe fn dma_buf_ioctl(
        &self,
        dma_buf: BorrowedFd<'_>,
        request: u32,
        arg: *mut c_void,
    ) -> Result<(), Errno> {
        // SAFETY: passed on.
        unsafe { self.serve(Some(dma_buf.as_raw_fd()), request, arg) }
    }

    unsafe fn sync_file_ioctl(
        &self,
        sync_file: BorrowedFd<'_>,
        request: u32,
        arg: *mut c_void,
    ) -> Result<(), Errno> {
        // SAFETY: passed on.
        unsafe { self.serve(Some(sync_file.as_raw_fd()), request, arg) }
    }
}

/// The answer to VERSION.
fn version(name: &[u8]) -> Script {
    Script {
        // The kernel copies what fits and returns the full length.
        outputs: vec![(24, name[..name.len().min(64)].to_vec())],
        result: vec![
            (0, [1u32, 2, 3].map(u32::to_le_bytes).concat()),
            (16, (name.len() as u64).to_le_bytes().to_vec()),
        ],
        ..Script::default()
    }
}

fn connect(recorder: Recorder) -> Drm<Recorder> {
    recorder
        .scripts
        .lock()
        .unwrap()
        .push_front(version(b"asahi"));
    let kernel = Drm::new(recorder).expect("the driver's name fits");
    kernel.node().seen.lock().unwrap().clear();
    kernel
}

/// Runs one call against one script and returns what arrived and what came back.
fn call<T>(script: Script, call: impl FnOnce(&dyn Kernel) -> T) -> (Seen, T) {
    let kernel = connect(Recorder::default());
    kernel.node().scripts.lock().unwrap().push_back(script);
    let result = call(&kernel);
    let mut seen = kernel.node().seen.lock().unwrap();
    assert_eq!(seen.len(), 1, "one call is one request");
    (seen.remove(0), result)
}

/// Bytes from 32-bit words, as dumps show them.
fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// An expected request without user pointers.
fn plain(request: u32, argument: &[u32]) -> Seen {
    Seen {
        request,
        argument: words(argument),
        inputs: vec![],
        file: None,
    }
}

fn returns(offset: usize, result: &[u32]) -> Script {
    Script {
        result: vec![(offset, words(result))],
        ..Script::default()
    }
}

fn fresh_fd() -> i32 {
    File::open("/dev/null").unwrap().into_raw_fd()
}

const VM: VmId = VmId::from_raw(0x11);
const GEM: GemHandle = GemHandle::from_raw(0x22);
const QUEUE: QueueId = QueueId::from_raw(0x33);
const SYNC: SyncHandle = SyncHandle::from_raw(0x44);
const OTHER: SyncHandle = SyncHandle::from_raw(0x55);
const STAMPS: TimestampHandle = TimestampHandle::from_raw(0x66);

#[test]
fn params_and_time() {
    let script = Script {
        outputs: vec![(8, {
            let mut bytes: Vec<u8> = (0..592).map(|n| (n % 251) as u8).collect();
            bytes[560..568].copy_from_slice(&0x3ff_ffff_8000u64.to_le_bytes());
            bytes
        })],
        ..Script::default()
    };
    let (seen, params) = call(script, |k| k.params());
    assert_eq!(seen, plain(0x4018_6440, &[0, 0, 1, 0, 592, 0]));
    let params = params.unwrap();
    assert_eq!(params.gpu_generation, 0x0b0a_0908);
    assert_eq!(params.vm_end, 0x3ff_ffff_8000);
    assert_eq!(
        params.command_timestamp_frequency_hz.to_le_bytes()[0],
        (584 % 251) as u8
    );

    // A kernel that knows less leaves the rest as it was: zero.
    let script = Script {
        outputs: vec![(8, vec![0xff; 12])],
        ..Script::default()
    };
    let (_, params) = call(script, |k| k.params());
    let params = params.unwrap();
    assert_eq!((params.gpu_generation, params.gpu_variant), (u32::MAX, 0));

    let (seen, time) = call(returns(8, &[5, 6]), |k| k.time());
    assert_eq!(seen, plain(0xc010_6441, &[0, 0, 0, 0]));
    assert_eq!(time, Ok(0x6_0000_0005));
}

#[test]
fn address_spaces() {
    let (seen, vm) = call(returns(16, &[7]), |k| {
        k.vm_create(0x10_e000_0000..0x11_0000_0000)
    });
    assert_eq!(
        seen,
        plain(0xc018_6442, &[0xe000_0000, 0x10, 0, 0x11, 0, 0])
    );
    assert_eq!(vm, Ok(VmId::from_raw(7)));
    let (seen, result) = call(Script::default(), |k| k.vm_destroy(VM));
    assert_eq!((seen, result), (plain(0x4008_6443, &[0x11, 0]), Ok(())));
}

#[test]
fn binding() {
    let addr = 0x12_3456_4000;
    let binds = [
        Bind::Unbind {
            addr,
            size: 0x1_0000,
        },
        Bind::Object {
            addr,
            size: 0x8000,
            gem: GEM,
            offset: 0x1_0000_4000,
            access: Access::Read,
        },
        Bind::Object {
            addr,
            size: 0x4000,
            gem: GEM,
            offset: 0,
            access: Access::ReadWrite,
        },
        Bind::Page {
            addr,
            size: 0xc000,
            gem: GEM,
            offset: 0x4000,
            access: Access::Write,
        },
    ];
    let script = Script {
        inputs: vec![(16, 4 * 32)],
        ..Script::default()
    };
    let (seen, result) = call(script, |k| k.vm_bind(VM, &binds));
    assert_eq!(result, Ok(()));
    assert_eq!(seen.request, 0x4018_6444);
    assert_eq!(seen.argument, words(&[0x11, 4, 32, 0, 1, 0]));
    assert_eq!(
        seen.inputs,
        [words(&[
            // flags, handle, offset, range, addr
            1,
            0,
            0,
            0,
            0x1_0000,
            0,
            0x3456_4000,
            0x12, //
            2,
            0x22,
            0x4000,
            1,
            0x8000,
            0,
            0x3456_4000,
            0x12, //
            6,
            0x22,
            0,
            0,
            0x4000,
            0,
            0x3456_4000,
            0x12, //
            12,
            0x22,
            0x4000,
            0,
            0xc000,
            0,
            0x3456_4000,
            0x12,
        ])]
    );
}

/// An interrupted request is repeated from its first entry, which must do no harm.
#[test]
fn an_unbind_behind_a_bind_begins_a_request() {
    let kernel = connect(Recorder::default());
    let bind = Bind::Object {
        addr: 0x4000,
        size: 0x4000,
        gem: GEM,
        offset: 0,
        access: Access::Read,
    };
    let unbind = Bind::Unbind {
        addr: 0x8000,
        size: 0x4000,
    };
    let script = |count: usize, error| Script {
        inputs: vec![(16, count * 32)],
        error,
        ..Script::default()
    };
    kernel.node().scripts.lock().unwrap().extend([
        script(3, None),
        script(2, Some(Errno::EINTR)),
        script(2, None),
    ]);
    let binds = [unbind, bind, bind, unbind, bind];
    assert_eq!(kernel.vm_bind(VM, &binds), Ok(()));
    let seen = kernel.node().seen.lock().unwrap();
    let counts: Vec<_> = seen.iter().map(|seen| seen.argument[4]).collect();
    assert_eq!(counts, [3, 2, 2]);
}

#[test]
fn long_bind_lists_are_cut() {
    let kernel = connect(Recorder::default());
    let binds: Vec<_> = (0..4096 + 5)
        .map(|n| Bind::Unbind {
            addr: 0x4000 * (1 + n),
            size: 0x4000,
        })
        .collect();
    let script = |count: usize, error| Script {
        inputs: vec![(16, count * 32)],
        error,
        ..Script::default()
    };
    kernel
        .node()
        .scripts
        .lock()
        .unwrap()
        .extend([script(4096, None), script(5, None)]);
    assert_eq!(kernel.vm_bind(VM, &binds), Ok(()));
    let seen = std::mem::take(&mut *kernel.node().seen.lock().unwrap());
    assert_eq!(seen[0].argument, words(&[0x11, 4096, 32, 0, 1, 0]));
    assert_eq!(seen[1].argument, words(&[0x11, 5, 32, 0, 1, 0]));
    assert_eq!(seen[1].inputs[0][24..32], (0x4000 * 4097u64).to_le_bytes());
    // An error ends it.
    kernel
        .node()
        .scripts
        .lock()
        .unwrap()
        .push_back(script(4096, Some(Errno::ETIMEDOUT)));
    assert_eq!(kernel.vm_bind(VM, &binds), Err(Errno::ETIMEDOUT));
    // Nothing to do is no request.
    assert_eq!(kernel.vm_bind(VM, &[]), Ok(()));
    assert_eq!(kernel.node().seen.lock().unwrap().len(), 1);
}

#[test]
fn buffers() {
    let create = |caching, owner| {
        call(returns(16, &[9]), move |k| {
            k.gem_create(0x1_0000_0001, caching, owner)
        })
    };
    let (seen, gem) = create(Caching::WriteCombined, None);
    assert_eq!(seen, plain(0xc018_6445, &[1, 1, 0, 0, 0, 0]));
    assert_eq!(gem, Ok(GemHandle::from_raw(9)));
    let (seen, _) = create(Caching::WriteBack, None);
    assert_eq!(seen, plain(0xc018_6445, &[1, 1, 1, 0, 0, 0]));
    let (seen, _) = create(Caching::WriteCombined, Some(VM));
    assert_eq!(seen, plain(0xc018_6445, &[1, 1, 2, 0x11, 0, 0]));
    let (seen, result) = call(Script::default(), |k| k.gem_close(GEM));
    assert_eq!((seen, result), (plain(0x4008_6409, &[0x22, 0]), Ok(())));
}

#[test]
fn mapping_a_buffer() {
    let path = std::env::temp_dir().join(format!("agx-uapi-map-{}", std::process::id()));
    let file = File::options()
        .read(true)
        .write(true)
        .create_new(true)
        .open(&path)
        .unwrap();
    std::fs::remove_file(&path).unwrap();
    file.set_len(0x4000).unwrap();
    let check = file.try_clone().unwrap();
    let kernel = connect(Recorder {
        file: Some(file),
        ..Recorder::default()
    });
    kernel
        .node()
        .scripts
        .lock()
        .unwrap()
        .push_back(returns(8, &[0x8000, 3]));
    let mapping = kernel.gem_map(GEM, 0x4000).unwrap();
    assert_eq!(
        *kernel.node().mapped.lock().unwrap(),
        [(0x3_0000_8000, 0x4000)]
    );
    let seen = kernel.node().seen.lock().unwrap()[0].clone();
    assert_eq!(seen, plain(0xc010_6446, &[0x22, 0, 0, 0]));
    // The mapping is shared with the file.
    assert_eq!(mapping.len(), 0x4000);
    // SAFETY: inside of the mapping, which nothing else uses.
    unsafe { mapping.as_ptr().add(0x3fff).write(0xa5) };
    let mut byte = [0];
    std::os::unix::fs::FileExt::read_exact_at(&check, &mut byte, 0x3fff).unwrap();
    assert_eq!(byte, [0xa5]);
}

#[test]
fn timestamp_objects() {
    let (seen, stamps) = call(returns(32, &[3]), |k| {
        k.timestamp_bind(GEM, 0x1_0000_4000..0x1_0000_c000)
    });
    assert_eq!(
        seen,
        plain(0xc028_6447, &[0, 1, 0x22, 0, 0x4000, 1, 0x8000, 0, 0, 0])
    );
    assert_eq!(stamps, Ok(TimestampHandle::from_raw(3)));
    let (seen, result) = call(Script::default(), |k| k.timestamp_unbind(STAMPS));
    assert_eq!(seen, plain(0xc028_6447, &[1, 0, 0, 0, 0, 0, 0, 0, 0x66, 0]));
    assert_eq!(result, Ok(()));
    let kernel = connect(Recorder::default());
    let (start, end) = (0x8000, 0x4000);
    assert_eq!(kernel.timestamp_bind(GEM, start..end), Err(Errno::EINVAL));
}

#[test]
fn queues() {
    for (priority, raw) in [(Priority::Low, 0), (Priority::Medium, 1)] {
        let (seen, queue) = call(returns(12, &[8]), move |k| k.queue_create(VM, priority));
        assert_eq!(seen, plain(0xc018_6448, &[0, 0x11, raw, 0, 0, 0x100]));
        assert_eq!(queue, Ok(QueueId::from_raw(8)));
    }
    let (seen, result) = call(Script::default(), |k| k.queue_destroy(QUEUE));
    assert_eq!((seen, result), (plain(0x4008_6449, &[0x33, 0]), Ok(())));
}

#[test]
fn submits() {
    let waits = [
        SyncPoint::Timeline(SYNC, 0x1_0000_0029),
        SyncPoint::Binary(OTHER),
    ];
    let signals = [SyncPoint::Timeline(OTHER, 42)];
    let commands = [1, 2, 3, 4, 5];
    let submit = Submit {
        queue: QUEUE,
        waits: &waits,
        signals: &signals,
        commands: &commands,
    };
    let script = Script {
        inputs: vec![(0, 48), (8, 5)],
        ..Script::default()
    };
    let (seen, result) = call(script, |k| k.submit(&submit));
    assert_eq!(result, Ok(()));
    assert_eq!(seen.request, 0x4028_644a);
    assert_eq!(seen.argument, words(&[1, 0, 1, 0, 0, 0x33, 2, 1, 5, 0]));
    let syncs = words(&[1, 0x44, 0x29, 1, 0, 0x55, 0, 0, 1, 0x55, 42, 0]);
    assert_eq!(seen.inputs, [syncs, commands.to_vec()]);

    // Nothing is a null pointer, and errors of the kernel come through as they are.
    let submit = Submit {
        queue: QUEUE,
        waits: &[],
        signals: &[],
        commands: &[],
    };
    let script = Script {
        error: Some(Errno::ENOTSUPP),
        ..Script::default()
    };
    let (seen, result) = call(script, |k| k.submit(&submit));
    assert_eq!(seen, plain(0x4028_644a, &[0, 0, 0, 0, 0, 0x33, 0, 0, 0, 0]));
    assert_eq!(result, Err(Errno(524)));
}

#[test]
fn sharing_buffers() {
    let fd = fresh_fd();
    let (seen, file) = call(returns(8, &[fd as u32]), |k| k.gem_export(GEM));
    assert_eq!(seen, plain(0xc00c_642d, &[0x22, 0x8_0002, u32::MAX]));
    let file = file.unwrap();
    assert_eq!(file.as_raw_fd(), fd);
    let (seen, gem) = call(returns(0, &[5]), |k| k.gem_import(file.as_fd()));
    assert_eq!(seen, plain(0xc00c_642e, &[0, 0, fd as u32]));
    assert_eq!(gem, Ok(GemHandle::from_raw(5)));

    let out = fresh_fd();
    let (seen, sync_file) = call(returns(4, &[out as u32]), |k| {
        k.dma_buf_export_sync_file(file.as_fd(), DmaBufAccess::WRITE)
    });
    let expected = plain(0xc008_6202, &[2, u32::MAX]);
    assert_eq!(
        seen,
        Seen {
            file: Some(fd),
            ..expected
        }
    );
    let sync_file = sync_file.unwrap();
    assert_eq!(sync_file.as_raw_fd(), out);
    let (seen, result) = call(Script::default(), |k| {
        k.dma_buf_import_sync_file(file.as_fd(), DmaBufAccess::READ, sync_file.as_fd())
    });
    assert_eq!(
        seen,
        Seen {
            file: Some(fd),
            ..plain(0x4008_6203, &[1, out as u32])
        }
    );
    assert_eq!(result, Ok(()));
}

#[test]
fn how_a_sync_file_ended() {
    let file = File::open("/dev/null").unwrap();
    for (status, expected) in [
        (0, None),
        (1, Some(Ok(()))),
        (-110, Some(Err(Errno::ETIMEDOUT))),
    ] {
        let script = returns(32, &[status as u32]);
        let (seen, result) = call(script, |k| k.sync_file_status(file.as_fd()));
        let expected_request = Seen {
            file: Some(file.as_raw_fd()),
            ..plain(0xc038_3e04, &[0; 14])
        };
        assert_eq!((seen, result), (expected_request, Ok(expected)));
    }
    let script = Script {
        error: Some(Errno::ENOTTY),
        ..Script::default()
    };
    let (_, result) = call(script, |k| k.sync_file_status(file.as_fd()));
    assert_eq!(result, Err(Errno::ENOTTY));
}

/// Through a sync file, which is closed again.
#[test]
fn how_a_sync_object_ended() {
    let (mut reader, writer) = std::io::pipe().unwrap();
    let fd = writer.into_raw_fd();
    let kernel = connect(Recorder::default());
    let failed = returns(32, &[-5i32 as u32]);
    let scripts = [returns(8, &[fd as u32]), failed];
    kernel.node().scripts.lock().unwrap().extend(scripts);
    assert_eq!(kernel.syncobj_status(SYNC), Ok(Some(Err(Errno::EIO))));
    let seen = kernel.node().seen.lock().unwrap();
    let requests: Vec<_> = seen.iter().map(|seen| (seen.request, seen.file)).collect();
    assert_eq!(requests, [(0xc018_64c1, None), (0xc038_3e04, Some(fd))]);
    assert_eq!(seen[0].argument, words(&[0x44, 1, u32::MAX, 0, 0, 0]));
    // All writers are gone.
    assert_eq!(std::io::Read::read(&mut reader, &mut [0]).unwrap(), 0);
}

#[test]
fn a_descriptor_that_was_not_filled_in_is_no_file() {
    let (_, file) = call(Script::default(), |k| k.gem_export(GEM));
    assert_eq!(file.map(IntoRawFd::into_raw_fd), Err(Errno::EBADF));
}

#[test]
fn sync_objects() {
    for signalled in [false, true] {
        let (seen, sync) = call(returns(0, &[4]), move |k| k.syncobj_create(signalled));
        assert_eq!(seen, plain(0xc008_64bf, &[0, signalled.into()]));
        assert_eq!(sync, Ok(SyncHandle::from_raw(4)));
    }
    let (seen, result) = call(Script::default(), |k| k.syncobj_destroy(SYNC));
    assert_eq!((seen, result), (plain(0xc008_64c0, &[0x44, 0]), Ok(())));

    type Array = fn(&dyn Kernel) -> Result<(), Errno>;
    let arrays: [(u32, Array); 2] = [
        (0xc010_64c4, |k| k.syncobj_reset(&[SYNC, OTHER])),
        (0xc010_64c5, |k| k.syncobj_signal(&[SYNC, OTHER])),
    ];
    for (request, array) in arrays {
        let script = Script {
            inputs: vec![(0, 8)],
            ..Script::default()
        };
        let (seen, result) = call(script, array);
        assert_eq!(result, Ok(()));
        assert_eq!(
            (seen.request, seen.argument),
            (request, words(&[1, 0, 2, 0]))
        );
        assert_eq!(seen.inputs, [words(&[0x44, 0x55])]);
    }

    for for_submit in [false, true] {
        let (seen, result) = call(Script::default(), move |k| {
            k.syncobj_transfer(
                SyncPoint::Timeline(SYNC, 1 << 40),
                SyncPoint::Binary(OTHER),
                for_submit,
            )
        });
        let flags = if for_submit { 2 } else { 0 };
        assert_eq!(
            seen,
            plain(0xc020_64cc, &[0x44, 0x55, 0, 0x100, 0, 0, flags, 0])
        );
        assert_eq!(result, Ok(()));
    }
}

#[test]
fn waits() {
    let script = Script {
        inputs: vec![(0, 8)],
        result: vec![(24, words(&[1]))],
        ..Script::default()
    };
    let flags = WaitFlags::FOR_SUBMIT;
    let deadline = Deadline::at(0x7_0000_0008);
    let (seen, first) = call(script, |k| k.syncobj_wait(&[SYNC, OTHER], flags, deadline));
    assert_eq!(seen.request, 0xc028_64c3);
    assert_eq!(seen.argument, words(&[1, 0, 8, 7, 2, 2, 0, 0, 0, 0]));
    assert_eq!(seen.inputs, [words(&[0x44, 0x55])]);
    assert_eq!(first, Ok(1));

    let script = Script {
        inputs: vec![(0, 8), (8, 16)],
        result: vec![(32, words(&[1]))],
        ..Script::default()
    };
    let points = [
        SyncPoint::Binary(SYNC),
        SyncPoint::Timeline(OTHER, 0x2_0000_0003),
    ];
    let flags = WaitFlags::ALL | WaitFlags::AVAILABLE;
    let (seen, first) = call(script, |k| {
        k.syncobj_timeline_wait(&points, flags, Deadline::NEVER)
    });
    assert_eq!(seen.request, 0xc030_64ca);
    assert_eq!(
        seen.argument,
        words(&[1, 0, 1, 0, u32::MAX, 0x7fff_ffff, 2, 5, 0, 0, 0, 0])
    );
    assert_eq!(seen.inputs, [words(&[0x44, 0x55]), words(&[0, 0, 3, 2])]);
    assert_eq!(first, Ok(1));

    let script = Script {
        inputs: vec![(0, 4)],
        error: Some(Errno::ETIME),
        ..Script::default()
    };
    let (seen, first) = call(script, |k| {
        k.syncobj_wait(&[SYNC], WaitFlags::ALL, Deadline::NOW)
    });
    assert_eq!(seen.argument, words(&[1, 0, 0, 0, 1, 1, 0, 0, 0, 0]));
    assert_eq!(first, Err(Errno(62)));
}

#[test]
fn timelines() {
    let script = Script {
        inputs: vec![(0, 8), (8, 16)],
        ..Script::default()
    };
    let (seen, result) = call(script, |k| {
        k.syncobj_timeline_signal(&[(SYNC, 9), (OTHER, 1 << 32)])
    });
    assert_eq!(result, Ok(()));
    assert_eq!(
        (seen.request, seen.argument),
        (0xc018_64cd, words(&[1, 0, 1, 0, 2, 0]))
    );
    assert_eq!(seen.inputs, [words(&[0x44, 0x55]), words(&[9, 0, 0, 1])]);

    for last_submitted in [false, true] {
        let script = Script {
            inputs: vec![(0, 8)],
            outputs: vec![(8, words(&[1, 2, 3, 4]))],
            ..Script::default()
        };
        let (seen, points) = call(script, |k| k.syncobj_query(&[SYNC, OTHER], last_submitted));
        assert_eq!(seen.request, 0xc018_64cb);
        assert_eq!(
            seen.argument,
            words(&[1, 0, 1, 0, 2, last_submitted.into()])
        );
        assert_eq!(seen.inputs, [words(&[0x44, 0x55])]);
        assert_eq!(points, Ok(vec![0x2_0000_0001, 0x4_0000_0003]));
    }
}

#[test]
fn sharing_sync_objects() {
    type Export = fn(&dyn Kernel) -> Result<std::os::fd::OwnedFd, Errno>;
    let exports: [(u32, Export); 2] = [
        (0, |k| k.syncobj_export(SYNC)),
        (1, |k| k.sync_file_export(SYNC)),
    ];
    for (flags, export) in exports {
        let fd = fresh_fd();
        let (seen, file) = call(returns(8, &[fd as u32]), export);
        assert_eq!(seen, plain(0xc018_64c1, &[0x44, flags, u32::MAX, 0, 0, 0]));
        assert_eq!(file.unwrap().as_raw_fd(), fd);
    }
    let file = File::open("/dev/null").unwrap();
    let fd = file.as_raw_fd() as u32;
    let (seen, sync) = call(returns(0, &[6]), |k| k.syncobj_import(file.as_fd()));
    assert_eq!(seen, plain(0xc018_64c2, &[0, 0, fd, 0, 0, 0]));
    assert_eq!(sync, Ok(SyncHandle::from_raw(6)));
    let (seen, result) = call(Script::default(), |k| {
        k.sync_file_import(SYNC, file.as_fd())
    });
    assert_eq!(seen, plain(0xc018_64c2, &[0x44, 1, fd, 0, 0, 0]));
    assert_eq!(result, Ok(()));
}

#[test]
fn interrupted_requests_are_repeated() {
    let kernel = connect(Recorder::default());
    let error = |errno| Script {
        error: Some(errno),
        ..Script::default()
    };
    kernel.node().scripts.lock().unwrap().extend([
        error(Errno::EINTR),
        error(Errno::EAGAIN),
        returns(8, &[77, 0]),
    ]);
    assert_eq!(kernel.time(), Ok(77));
    assert_eq!(kernel.node().seen.lock().unwrap().len(), 3);
    // Others are not.
    kernel
        .node()
        .scripts
        .lock()
        .unwrap()
        .push_back(error(Errno::EBUSY));
    assert_eq!(kernel.time(), Err(Errno::EBUSY));
}

#[test]
fn only_the_asahi_driver_is_taken() {
    let connect = |script| {
        let recorder = Recorder::default();
        recorder.scripts.lock().unwrap().push_back(script);
        let result = Drm::new(recorder).map(|kernel| kernel.node().seen.lock().unwrap().clone());
        result.map_err(|error: DriverError| error.to_string())
    };
    let seen = connect(version(b"asahi")).unwrap();
    assert_eq!(seen[0].request, 0xc040_6400);
    // Room for a name, none for date and description.
    assert_eq!(
        seen[0].argument,
        words(&[0, 0, 0, 0, 64, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0])
    );
    assert_eq!(
        connect(version(b"virtio_gpu")).unwrap_err(),
        "the driver is \"virtio_gpu\", not \"asahi\""
    );
    for near in [b"asah".as_slice(), b"asahi2", b""] {
        assert!(connect(version(near)).is_err());
    }
    assert!(
        connect(version(&[b'n'; 300]))
            .unwrap_err()
            .contains(&"n".repeat(64))
    );
    let failing = |errno| Script {
        error: Some(errno),
        ..Script::default()
    };
    assert_eq!(
        connect(failing(Errno::ENOTTY)).unwrap_err(),
        "not a DRM file"
    );
    assert!(
        connect(failing(Errno::ENODEV))
            .unwrap_err()
            .contains("ENODEV (19)")
    );

    let recorder = Recorder::default();
    recorder
        .scripts
        .lock()
        .unwrap()
        .push_back(version(b"asahi"));
    let expected = Version {
        name: "asahi".into(),
        number: [1, 2, 3],
    };
    assert_eq!(Version::of(&recorder), Ok(expected));
}

#[test]
fn deadlines() {
    assert_eq!(Deadline::after(Duration::ZERO), Deadline::NOW);
    assert_eq!(Deadline::after(Duration::MAX), Deadline::NEVER);
    assert_eq!(Deadline::at(-5), Deadline::NOW);
    let hour = Deadline::after(Duration::from_secs(3600));
    let minute = Deadline::after(Duration::from_secs(60));
    // The second is taken later, and by far less than an hour less a minute.
    assert!(minute > Deadline::NOW && minute < hour && hour < Deadline::NEVER);
    let gap = hour.nanoseconds() - minute.nanoseconds();
    assert!(gap <= 3_540_000_000_000, "{gap}");
}
