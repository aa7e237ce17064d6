// SPDX-License-Identifier: MIT
//! The order of SUBMIT's checks (kernel-uapi, 11.7): with two things wrong, the earlier step
//! answers.

mod kernel_support;

use agx_uapi::abi::{self, ioctl};
use agx_uapi::{Abi, Chip, Errno, Kernel, Priority};
use kernel_support::*;

/// A submit in the making.
struct Attempt {
    args: abi::SubmitArgs,
    inputs: Vec<abi::SyncRecord>,
    compute: abi::CmdCompute,
    attachment: abi::Attachment,
    /// Bytes in front of and behind the two good commands.
    before: Vec<u8>,
    behind: Vec<u8>,
    with_hardware: bool,
    lose: bool,
    break_vm: bool,
}

/// One way to violate one step, and what it answers.
struct Violation {
    step: u32,
    what: &'static str,
    m4: i32,
    a18: i32,
    apply: fn(&mut Attempt),
}

const fn violation(
    step: u32,
    what: &'static str,
    m4: i32,
    a18: i32,
    apply: fn(&mut Attempt),
) -> Violation {
    Violation {
        step,
        what,
        m4,
        a18,
        apply,
    }
}

const UNKNOWN: [u8; 8] = [9, 0, 0, 0, 0xff, 0xff, 0xff, 0xff];

/// Several ways for a step, so that any two steps differ in their answer somewhere.
const VIOLATIONS: &[Violation] = &[
    violation(1, "flags", 22, 22, |a| a.args.flags = 1),
    violation(1, "cmdbuf_size", 22, 22, |a| a.args.cmdbuf_size = u32::MAX),
    violation(2, "unknown command", 524, 95, |a| {
        a.behind = UNKNOWN.to_vec()
    }),
    violation(2, "truncated header", 22, 22, |a| a.behind = vec![1]),
    violation(2, "long payload", 22, 7, |a| {
        a.before = vec![1, 0, 72, 0, 0xff, 0xff, 0xff, 0xff];
        a.before.extend([1; 72]);
    }),
    violation(2, "no memory", 14, 14, |a| a.args.cmdbuf = 0),
    violation(3, "no hardware command", 22, 22, |a| {
        a.with_hardware = false
    }),
    violation(4, "unknown syncobj", 2, 2, |a| a.inputs[0].handle = 99),
    violation(4, "sync type", 22, 22, |a| a.inputs[0].sync_type = 2),
    violation(4, "no memory", 14, 14, |a| a.args.syncs = 1),
    violation(5, "device lost", 5, 5, |a| a.lose = true),
    violation(6, "unknown queue", 2, 2, |a| a.args.queue_id = 99),
    violation(7, "unknown timestamp object", 2, 2, |a| {
        a.compute.ts.start.handle = 99
    }),
    violation(7, "timestamp offset", 22, 22, |a| {
        a.compute.ts.end.offset = 8
    }),
    violation(8, "VM broken", 5, 5, |a| a.break_vm = true),
    violation(9, "attachment not mapped", 22, 22, |a| {
        a.attachment.pointer = 0x25_0000_0000
    }),
    violation(10, "compute flags", 524, 22, |a| a.compute.flags = 1),
    violation(10, "stream not mapped", 22, 22, |a| {
        a.compute.cdm_ctrl_stream_base = 0x25_0000_0000;
        a.compute.cdm_ctrl_stream_end = 0x25_0000_0030;
    }),
];

fn header(kind: u16, size: usize) -> Vec<u8> {
    [kind, size as u16, 0xffff, 0xffff]
        .iter()
        .flat_map(|field| field.to_le_bytes())
        .collect()
}

fn attempt(chip: Chip, violations: &[&Violation]) -> Result<(), Errno> {
    let rig = Rig::new(chip);
    let sync = rig.kernel.syncobj_create(true).unwrap();
    let mut attempt = Attempt {
        args: abi::SubmitArgs {
            queue_id: rig.queue.raw(),
            in_sync_count: 1,
            ..Default::default()
        },
        inputs: vec![abi::SyncRecord {
            handle: sync.raw(),
            ..Default::default()
        }],
        compute: compute(stream(0)),
        attachment: abi::Attachment {
            pointer: DATA,
            size: 8,
            ..Default::default()
        },
        before: Vec::new(),
        behind: Vec::new(),
        with_hardware: true,
        lose: false,
        break_vm: false,
    };
    // What a violation leaves alone is marked, to be filled in.
    (
        attempt.args.syncs,
        attempt.args.cmdbuf,
        attempt.args.cmdbuf_size,
    ) = (2, 2, 0);
    for violation in violations {
        (violation.apply)(&mut attempt);
    }
    let mut bytes = attempt.before.clone();
    bytes.extend(header(4, 24));
    bytes.extend(attempt.attachment.as_bytes());
    if attempt.with_hardware {
        bytes.extend(header(1, 64));
        bytes.extend(attempt.compute.as_bytes());
    }
    bytes.extend(&attempt.behind);
    if attempt.args.cmdbuf == 2 {
        attempt.args.cmdbuf = user(&bytes);
    }
    if attempt.args.syncs == 2 {
        attempt.args.syncs = user(&attempt.inputs);
    }
    if attempt.args.cmdbuf_size == 0 {
        attempt.args.cmdbuf_size = bytes.len() as u32;
    }
    if attempt.break_vm {
        break_vm(&rig);
    }
    if attempt.lose {
        rig.device.lose();
    }
    raw(rig.node(), ioctl::SUBMIT, &mut attempt.args)
}

/// Renders on as many other VMs as can, then on the rig's, which fails and leaves it broken
/// (kernel-uapi, 15 and 11.7 step 11).
fn break_vm(rig: &Rig) {
    let mut bytes = header(0, 240);
    bytes.extend(render().as_bytes());
    let render = |queue| {
        let mut args = abi::SubmitArgs {
            cmdbuf: user(&bytes),
            cmdbuf_size: bytes.len() as u32,
            queue_id: queue,
            ..Default::default()
        };
        raw(rig.node(), ioctl::SUBMIT, &mut args)
    };
    for _ in 0..57 {
        let vm = rig.kernel.vm_create(abi::limits::KERNEL_WINDOW).unwrap();
        bind_memory(&rig.kernel, vm);
        let queue = rig.kernel.queue_create(vm, Priority::Low).unwrap();
        assert_eq!(render(queue.raw()), Ok(()));
    }
    assert_eq!(render(rig.queue.raw()), Err(Errno::ENOSPC));
}

fn pairs(chip: Chip) {
    let expected = |violation: &Violation| {
        Err(Errno(if chip == Chip::M4 {
            violation.m4
        } else {
            violation.a18
        }))
    };
    // Only the M4 breaks VMs.
    let violations = VIOLATIONS
        .iter()
        .filter(|v| chip == Chip::M4 || !v.what.contains("VM"));
    let violations: Vec<_> = violations.collect();
    assert_eq!(attempt(chip, &[]), Ok(()), "without a violation");
    let mut told_apart = std::collections::HashSet::new();
    for earlier in &violations {
        assert_eq!(
            attempt(chip, &[earlier]),
            expected(earlier),
            "{} alone",
            earlier.what
        );
        for later in violations.iter().filter(|later| later.step > earlier.step) {
            if expected(earlier) == expected(later) {
                continue;
            }
            // Without hardware commands nothing later in them can be wrong.
            if earlier.step == 3 && (later.step == 7 || later.step == 10) {
                continue;
            }
            let answer = attempt(chip, &[earlier, later]);
            let text = format!(
                "{} ({}) before {} ({})",
                earlier.what, earlier.step, later.what, later.step
            );
            assert_eq!(answer, expected(earlier), "{chip:?}: {text}");
            told_apart.insert((earlier.step, later.step));
        }
    }
    // Every pair of neighbours whose answers can differ was told apart.
    for pair in [(1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 7)] {
        assert!(told_apart.contains(&pair), "{pair:?}");
    }
    if chip == Chip::M4 {
        for pair in [(7, 8), (8, 9), (9, 10)] {
            assert!(told_apart.contains(&pair), "{pair:?}");
        }
    }
}

#[test]
fn the_earliest_step_answers_on_the_m4() {
    pairs(Chip::M4);
}

#[test]
fn the_earliest_step_answers_on_the_a18() {
    pairs(Chip::A18Pro);
}

/// A failed submit has touched nothing (kernel-uapi, 11.7).
#[test]
fn a_refused_submit_changes_nothing() {
    let rig = Rig::new(Chip::M4);
    let (binary, timeline) = (rig.sync(), rig.sync());
    rig.kernel
        .syncobj_timeline_signal(&[(timeline, 4)])
        .unwrap();
    let mut bad = compute(stream(0));
    bad.flags = 1;
    let mut bytes = header(1, 64);
    bytes.extend(compute(stream(0)).as_bytes());
    bytes.extend(header(1, 64));
    bytes.extend(bad.as_bytes());
    let outputs = [
        abi::SyncRecord {
            handle: binary.raw(),
            ..Default::default()
        },
        abi::SyncRecord {
            sync_type: 1,
            handle: timeline.raw(),
            timeline_value: 9,
        },
    ];
    let mut args = abi::SubmitArgs {
        syncs: user(&outputs),
        cmdbuf: user(&bytes),
        cmdbuf_size: bytes.len() as u32,
        out_sync_count: 2,
        queue_id: rig.queue.raw(),
        ..Default::default()
    };
    assert_eq!(
        raw(rig.node(), ioctl::SUBMIT, &mut args),
        Err(Errno::ENOTSUPP)
    );
    assert_eq!(rig.kernel.syncobj_query(&[timeline], true), Ok(vec![4]));
    let wait =
        rig.kernel
            .syncobj_wait(&[binary], agx_uapi::WaitFlags::ALL, agx_uapi::Deadline::NOW);
    assert_eq!(wait, Err(Errno::EINVAL));
    rig.run(stream(1));
    assert_eq!(
        rig.mock.events(),
        [Event::Start(stream(1)), Event::End(stream(1))]
    );
}
