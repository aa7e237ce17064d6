// SPDX-License-Identifier: MIT
//! Callers that know the requests but not the rules: whatever they pass, the answer is an error
//! number, never a panic, and nothing stays behind.

mod kernel_support;
#[path = "../../hw/isa/tests/support/random.rs"]
#[allow(dead_code, reason = "the generator alone is wanted")]
mod random;

use std::collections::BTreeSet;
use std::os::fd::{FromRawFd, OwnedFd};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use agx_sim::config::SimConfig;
use agx_sim::kernel::{SimDevice, SimNode};
use agx_uapi::abi::{self, ioctl};
use agx_uapi::{Abi, Chip, Errno, Kernel, Node};
use kernel_support::*;
use random::Rng;

/// A number that could be a field: an ID, flags, a size, an address, rubbish.
fn number(random: &mut Rng) -> u64 {
    match random.below(12) {
        0..=2 => 0,
        3..=5 => 1 + random.below(4),
        6 => 1 << random.below(48),
        7 => random.below(64) * PAGE,
        8 => DATA + random.below(80) * PAGE,
        9 => 0x10_e000_0000 + random.below(4) * 0x2000_0000,
        10 => u64::MAX - random.below(3),
        _ => random.next(),
    }
}

/// Memory that every address of the caller points into.
const BUFFER: usize = 2 << 20;

/// Commands that are nearly right.
fn commands(random: &mut Rng, bytes: &mut [u8]) -> usize {
    let mut list = Vec::new();
    for _ in 0..random.below(4) {
        let (kind, payload) = match random.below(4) {
            0 => (0u16, render().as_bytes().to_vec()),
            1 => (
                4,
                abi::Attachment {
                    pointer: DATA,
                    size: 8,
                    ..Default::default()
                }
                .as_bytes()
                .to_vec(),
            ),
            _ => (1, compute(stream(random.below(8))).as_bytes().to_vec()),
        };
        for field in [kind, payload.len() as u16, 0xffff, 0xffff] {
            list.extend(field.to_le_bytes());
        }
        list.extend(payload);
    }
    if random.below(3) == 0 {
        for _ in 0..random.below(4) {
            if let Some(byte) = list
                .len()
                .checked_sub(1)
                .map(|last| random.below(last as u64 + 1))
            {
                list[byte as usize] = random.next() as u8;
            }
        }
    }
    bytes[..list.len()].copy_from_slice(&list);
    list.len()
}

/// One request with fields made up; addresses point into the buffer, or nowhere.
fn one(
    random: &mut Rng,
    node: &SimNode,
    buffer: &mut [u8],
    fds: &Mutex<Vec<OwnedFd>>,
) -> Result<(), Errno> {
    let requests: Vec<u32> = ioctl::REQUESTS
        .iter()
        .map(|(_, request)| *request)
        .filter(|request| ioctl::kind(*request) == ioctl::TYPE_DRM)
        .collect();
    let request = match random.below(5) {
        0 => ioctl::SUBMIT,
        _ => requests[random.below(requests.len() as u64) as usize],
    };
    let mut args = [0u64; 8];
    args.fill_with(|| number(random));
    let half = |random: &mut Rng, words: &mut [u64; 8], index: usize| {
        let value = number(random) as u32;
        let word = &mut words[index / 2];
        *word = if index.is_multiple_of(2) {
            *word & !0xffff_ffff | u64::from(value)
        } else {
            *word & 0xffff_ffff | u64::from(value) << 32
        };
    };
    for index in 0..16 {
        if random.below(2) == 0 {
            half(random, &mut args, index);
        }
    }
    let base = buffer.as_mut_ptr().expose_provenance() as u64;
    let pointer = |random: &mut Rng| {
        if random.below(8) == 0 {
            0
        } else {
            base + random.below(64) * 8
        }
    };
    let fill = random.below(3);
    for word in buffer[..4096].chunks_exact_mut(8) {
        let value = if fill == 0 {
            1 + random.below(6)
        } else {
            number(random)
        };
        word.copy_from_slice(&value.to_le_bytes());
    }
    let small = |random: &mut Rng| random.below(40) | random.below(3) << 32;
    match request {
        ioctl::GET_PARAMS => {
            args[1] = pointer(random);
            args[2] = args[2].min(1 << 20);
        }
        ioctl::VM_BIND => {
            // 12 records of 32 bytes at most, or a count that the M4 refuses.
            args[0] = args[0] & 0xff | random.below(12) << 32;
            args[1] = [0, 8, 31, 32, 32, 32, 32, 40, 64][random.below(9) as usize];
            args[2] = pointer(random);
            for record in buffer[..2048].chunks_exact_mut(32) {
                if random.below(3) > 0 {
                    let op = abi::GemBindOp {
                        flags: abi::BindFlags::from_bits_retain(random.below(16) as u32),
                        handle: random.below(8) as u32,
                        offset: random.below(4) * PAGE,
                        range: random.below(6) * PAGE,
                        addr: DATA + (32 + random.below(256)) * PAGE,
                    };
                    record.copy_from_slice(op.as_bytes());
                }
            }
        }
        ioctl::SUBMIT => {
            let size = commands(random, &mut buffer[8192..]);
            args[0] = pointer(random);
            args[1] = base + 8192;
            args[2] = random.below(8) << 32 | u64::from(random.below(20) == 0);
            args[3] = match random.below(4) {
                0 => random.below(3) | random.below(3) << 32,
                _ => 0,
            };
            args[4] = size as u64 | u64::from(random.below(20) == 0) << 32;
        }
        ioctl::QUEUE_CREATE => {
            args = [
                random.below(4) << 32,
                random.below(3),
                1 << 40,
                0,
                0,
                0,
                0,
                0,
            ];
        }
        ioctl::VERSION => {
            for (len, text) in [(2, 3), (4, 5), (6, 7)] {
                (args[len], args[text]) = (random.below(100), pointer(random));
            }
        }
        ioctl::SYNCOBJ_WAIT => {
            (args[0], args[1]) = (pointer(random), random.below(1000));
            args[2] = small(random);
        }
        ioctl::SYNCOBJ_TIMELINE_WAIT => {
            (args[0], args[1], args[2]) = (pointer(random), pointer(random), 5);
            args[3] = small(random);
        }
        ioctl::SYNCOBJ_RESET | ioctl::SYNCOBJ_SIGNAL => {
            (args[0], args[1]) = (pointer(random), small(random));
        }
        ioctl::SYNCOBJ_QUERY | ioctl::SYNCOBJ_TIMELINE_SIGNAL => {
            (args[0], args[1], args[2]) = (pointer(random), pointer(random), small(random));
        }
        // Would wait for seconds.
        ioctl::SYNCOBJ_TRANSFER => args[3] &= !2,
        ioctl::PRIME_FD_TO_HANDLE | ioctl::SYNCOBJ_FD_TO_HANDLE => {
            use std::os::fd::AsRawFd;
            let fds = fds.lock().unwrap();
            let fd = match fds.len() {
                0 => -1,
                count => fds[random.below(count as u64) as usize].as_raw_fd(),
            };
            args[1] = u64::from(fd as u32);
        }
        _ => {}
    }
    // SAFETY: the argument has 64 bytes, which no request exceeds; addresses in it are 0 or have
    // two megabytes behind them, more than the counts above can name.
    let answer = unsafe { node.ioctl(request, args.as_mut_ptr().cast()) };
    if answer.is_ok() && [ioctl::PRIME_HANDLE_TO_FD, ioctl::SYNCOBJ_HANDLE_TO_FD].contains(&request)
    {
        // SAFETY: a descriptor that was just made for us.
        let fd = unsafe { OwnedFd::from_raw_fd(args[1] as u32 as i32) };
        let mut fds = fds.lock().unwrap();
        fds.push(fd);
        if fds.len() > 20 {
            fds.swap_remove(random.below(20) as usize);
        }
    }
    answer
}

fn hostile(chip: Chip, seed: u64) {
    let config = SimConfig {
        memory_limit: 64 * MIB,
        internal_wait: Duration::from_millis(1),
        ..config(chip)
    };
    let mock = Arc::new(Mock::default());
    let device = SimDevice::new(config, mock.clone());
    let fds = Mutex::new(Vec::new());
    let answers = Mutex::new(BTreeSet::new());
    for round in 0..4 {
        let kernel = device.kernel();
        for _ in 0..2 {
            let vm = kernel.vm_create(abi::limits::KERNEL_WINDOW).unwrap();
            bind_memory(&kernel, vm);
            kernel.queue_create(vm, agx_uapi::Priority::Medium).unwrap();
            kernel.syncobj_create(true).unwrap();
        }
        std::thread::scope(|scope| {
            for thread in 0..3 {
                let (kernel, fds, answers) = (&kernel, &fds, &answers);
                scope.spawn(move || {
                    let mut random = Rng::new(seed + round * 10 + thread);
                    let mut buffer = vec![0u8; BUFFER];
                    for _ in 0..1500 {
                        let answer = one(&mut random, kernel.node(), &mut buffer, fds);
                        answers
                            .lock()
                            .unwrap()
                            .insert(answer.err().map_or(0, |errno| errno.0));
                    }
                });
            }
        });
    }
    // It was no wall of EINVAL: much got through, and many checks were met.
    let answers = answers.into_inner().unwrap();
    let met = |errno: i32| answers.contains(&errno);
    // The two drivers have different numbers for what they do not support.
    let unsupported = match chip {
        Chip::M4 => 524,
        Chip::A18Pro => 95,
    };
    let all = [0, 2, 12, 14, 22, unsupported];
    assert!(all.into_iter().all(met), "{answers:?}");
    assert!(mock.events().len() > 10);
    assert!(!device.is_lost());
    // A closed file waits a millisecond for its commands here; they keep their memory until they end.
    let patience = Instant::now() + Duration::from_secs(20);
    while device.memory_in_use() != (0, 0) && Instant::now() < patience {
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(device.memory_in_use(), (0, 0));
    drop(device);
    assert_eq!(Arc::strong_count(&mock), 1);
}

/// The A18 Pro has no limit for a record's size; that is no reason to make room for one.
#[test]
fn long_bind_records_take_no_memory() {
    use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};
    const STRIDE: usize = 1 << 30;
    let rig = Rig::new(Chip::A18Pro);
    let peak = || {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find(|line| line.starts_with("VmHWM"));
        let kib = line.unwrap().split_whitespace().nth(1).unwrap();
        kib.parse::<usize>().unwrap() << 10
    };
    let before = peak();
    // SAFETY: a new mapping, which nothing else uses; only read, it has no pages of its own.
    let zeros = unsafe {
        mmap_anonymous(
            std::ptr::null_mut(),
            STRIDE + PAGE as usize,
            ProtFlags::READ | ProtFlags::WRITE,
            MapFlags::PRIVATE | MapFlags::NORESERVE,
        )
    }
    .unwrap();
    let op = abi::GemBindOp {
        flags: abi::BindFlags::UNBIND,
        range: PAGE,
        addr: DATA,
        ..Default::default()
    };
    // SAFETY: inside the mapping.
    unsafe { zeros.cast::<abi::GemBindOp>().write_unaligned(op) };
    let mut args = abi::VmBind {
        vm_id: rig.vm.raw(),
        num_binds: 1,
        stride: STRIDE as u32,
        userptr: zeros.expose_provenance() as u64,
        ..Default::default()
    };
    assert_eq!(raw(rig.node(), ioctl::VM_BIND, &mut args), Ok(()));
    // SAFETY: the last byte of the record.
    unsafe { zeros.cast::<u8>().add(STRIDE - 1).write(1) };
    assert_eq!(
        raw(rig.node(), ioctl::VM_BIND, &mut args),
        Err(Errno::E2BIG)
    );
    // SAFETY: the mapping above.
    unsafe { munmap(zeros, STRIDE + PAGE as usize).unwrap() };
    assert!(peak() < before + STRIDE / 2, "{before} then {}", peak());
}

#[test]
fn nonsense_is_answered_on_the_m4() {
    hostile(Chip::M4, 1);
}

#[test]
fn nonsense_is_answered_on_the_a18() {
    hostile(Chip::A18Pro, 1000);
}
