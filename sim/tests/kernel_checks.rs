// SPDX-License-Identifier: MIT
//! Every check of the kernel interface, row by row: section, what is tried, what each chip answers.
//!
//! A case gets a fresh device on which the request as such would succeed, changes one thing, and
//! returns the answer. Numbers are written as the reference writes them, not taken from constants
//! of the code under test.

mod kernel_support;

use agx_uapi::abi::{self, ioctl};
use agx_uapi::{Abi, Caching, Chip, Errno, Kernel, SyncPoint, VmId};
use kernel_support::*;

type Answer = Result<(), Errno>;

struct Case {
    /// Section of kernel-uapi.
    section: &'static str,
    what: String,
    m4: Answer,
    a18: Answer,
    run: Box<dyn Fn(&Rig) -> Answer>,
}

#[derive(Default)]
struct Table {
    cases: Vec<Case>,
    section: &'static str,
}

const OK: Answer = Ok(());
const EINVAL: Answer = Err(Errno(22));
const ENOENT: Answer = Err(Errno(2));
const E2BIG: Answer = Err(Errno(7));
const EBADF: Answer = Err(Errno(9));
const EACCES: Answer = Err(Errno(13));
const EFAULT: Answer = Err(Errno(14));
const EBUSY: Answer = Err(Errno(16));
const EEXIST: Answer = Err(Errno(17));
const ENOTTY: Answer = Err(Errno(25));
const ENOSPC: Answer = Err(Errno(28));
const EOPNOTSUPP: Answer = Err(Errno(95));
const ENOTSUPP: Answer = Err(Errno(524));

impl Table {
    fn section(&mut self, section: &'static str) {
        self.section = section;
    }

    /// Both chips give the same answer.
    fn both(
        &mut self,
        what: impl Into<String>,
        answer: Answer,
        run: impl Fn(&Rig) -> Answer + 'static,
    ) {
        self.differ(what, answer, answer, run);
    }

    fn differ(
        &mut self,
        what: impl Into<String>,
        m4: Answer,
        a18: Answer,
        run: impl Fn(&Rig) -> Answer + 'static,
    ) {
        self.cases.push(Case {
            section: self.section,
            what: what.into(),
            m4,
            a18,
            run: Box::new(run),
        });
    }

    fn check(self) {
        let mut wrong = Vec::new();
        assert!(!self.cases.is_empty());
        for case in &self.cases {
            for (chip, expected) in [(Chip::M4, case.m4), (Chip::A18Pro, case.a18)] {
                let rig = Rig::with(impatient(chip));
                let answer = (case.run)(&rig);
                if answer != expected {
                    wrong.push(format!(
                        "{} {}, {chip:?}: {answer:?} instead of {expected:?}",
                        case.section, case.what
                    ));
                }
            }
        }
        assert!(
            wrong.is_empty(),
            "{} of {}:\n{}",
            wrong.len(),
            self.cases.len(),
            wrong.join("\n")
        );
    }
}

// Requests with valid arguments, changed by the case.

fn get_params(rig: &Rig, change: impl Fn(&mut abi::GetParams)) -> Answer {
    let mut params = [0xa5u8; 700];
    let mut args = abi::GetParams {
        pointer: user_mut(&mut params),
        size: 592,
        ..Default::default()
    };
    change(&mut args);
    raw(rig.node(), ioctl::GET_PARAMS, &mut args)
}

fn vm_create(rig: &Rig, change: impl Fn(&mut abi::VmCreate)) -> Answer {
    let mut args = abi::VmCreate {
        kernel_start: 0x10_e000_0000,
        kernel_end: 0x11_0000_0000,
        ..Default::default()
    };
    change(&mut args);
    raw(rig.node(), ioctl::VM_CREATE, &mut args)
}

fn vm_destroy(rig: &Rig, vm_id: u32, pad: u32) -> Answer {
    raw(
        rig.node(),
        ioctl::VM_DESTROY,
        &mut abi::VmDestroy { vm_id, pad },
    )
}

fn empty_vm(rig: &Rig) -> VmId {
    rig.kernel
        .vm_create(0x10_e000_0000..0x11_0000_0000)
        .unwrap()
}

/// Two pages of the data buffer at a free place.
const FREE: u64 = 0x25_0000_0000;

fn record(rig: &Rig) -> abi::GemBindOp {
    abi::GemBindOp {
        flags: abi::BindFlags::READ | abi::BindFlags::WRITE,
        handle: rig.data.raw(),
        offset: 0,
        range: 0x8000,
        addr: FREE,
    }
}

fn bind_args(rig: &Rig, records: &[abi::GemBindOp]) -> abi::VmBind {
    abi::VmBind {
        vm_id: rig.vm.raw(),
        num_binds: records.len() as u32,
        stride: 32,
        pad: 0,
        userptr: user(records),
    }
}

fn vm_bind(rig: &Rig, change: impl Fn(&mut abi::VmBind)) -> Answer {
    let records = [record(rig)];
    let mut args = bind_args(rig, &records);
    change(&mut args);
    raw(rig.node(), ioctl::VM_BIND, &mut args)
}

fn bind_one(rig: &Rig, change: impl Fn(&mut abi::GemBindOp)) -> Answer {
    let mut records = [record(rig)];
    change(&mut records[0]);
    raw(rig.node(), ioctl::VM_BIND, &mut bind_args(rig, &records))
}

fn unbind_one(rig: &Rig, change: impl Fn(&mut abi::GemBindOp)) -> Answer {
    bind_one(rig, |record| {
        record.flags = abi::BindFlags::UNBIND;
        (record.handle, record.offset) = (0, 0);
        change(record);
    })
}

/// Records of another stride, with what is behind the known structure.
fn bind_strided(rig: &Rig, stride: usize, tail: u8) -> Answer {
    let mut bytes = vec![0u8; stride];
    let known = record(rig);
    let count = stride.min(32);
    bytes[..count].copy_from_slice(&known.as_bytes()[..count]);
    bytes[count..].fill(tail);
    let mut args = bind_args(rig, &[]);
    (args.num_binds, args.stride, args.userptr) = (1, stride as u32, user(&bytes));
    raw(rig.node(), ioctl::VM_BIND, &mut args)
}

fn gem_create(rig: &Rig, change: impl Fn(&mut abi::GemCreate)) -> Answer {
    let mut args = abi::GemCreate {
        size: 0x4000,
        ..Default::default()
    };
    change(&mut args);
    raw(rig.node(), ioctl::GEM_CREATE, &mut args)
}

fn bind_object(rig: &Rig, change: impl Fn(&mut abi::GemBindObject)) -> Answer {
    let mut args = abi::GemBindObject {
        flags: abi::BindObjectFlags::USAGE_TIMESTAMPS,
        handle: rig.data.raw(),
        range: 0x4000,
        ..Default::default()
    };
    change(&mut args);
    raw(rig.node(), ioctl::GEM_BIND_OBJECT, &mut args)
}

fn unbind_object(rig: &Rig, change: impl Fn(&mut abi::GemBindObject)) -> Answer {
    bind_object(rig, |_| {})?;
    let mut args = abi::GemBindObject {
        op: 1,
        object_handle: 1,
        ..Default::default()
    };
    change(&mut args);
    raw(rig.node(), ioctl::GEM_BIND_OBJECT, &mut args)
}

fn queue_create(rig: &Rig, change: impl Fn(&mut abi::QueueCreate)) -> Answer {
    let mut args = abi::QueueCreate {
        vm_id: rig.vm.raw(),
        usc_exec_base: 0x100_0000_0000,
        ..Default::default()
    };
    change(&mut args);
    raw(rig.node(), ioctl::QUEUE_CREATE, &mut args)
}

/// The bytes of one command.
fn command(header: [u16; 4], payload: &[u8]) -> Vec<u8> {
    let mut bytes: Vec<u8> = header
        .iter()
        .flat_map(|field| field.to_le_bytes())
        .collect();
    bytes.extend(payload);
    bytes
}

const NONE: u16 = 0xffff;

fn compute_bytes() -> Vec<u8> {
    command([1, 64, NONE, NONE], compute(stream(0)).as_bytes())
}

/// Submits bytes and sync records on the rig's queue.
fn submit(
    rig: &Rig,
    commands: &[u8],
    syncs: &[abi::SyncRecord],
    change: impl Fn(&mut abi::SubmitArgs),
) -> Answer {
    let mut args = abi::SubmitArgs {
        syncs: user(syncs),
        cmdbuf: user(commands),
        queue_id: rig.queue.raw(),
        cmdbuf_size: commands.len() as u32,
        ..Default::default()
    };
    change(&mut args);
    raw(rig.node(), ioctl::SUBMIT, &mut args)
}

fn submit_bytes(rig: &Rig, commands: &[u8]) -> Answer {
    submit(rig, commands, &[], |_| {})
}

fn submit_args(rig: &Rig, change: impl Fn(&mut abi::SubmitArgs)) -> Answer {
    submit(rig, &compute_bytes(), &[], change)
}

fn submit_input(rig: &Rig, record: abi::SyncRecord) -> Answer {
    submit(rig, &compute_bytes(), &[record], |args| {
        args.in_sync_count = 1
    })
}

fn submit_output(rig: &Rig, record: abi::SyncRecord) -> Answer {
    submit(rig, &compute_bytes(), &[record], |args| {
        args.out_sync_count = 1
    })
}

fn sync_record(sync_type: u32, handle: u32, timeline_value: u64) -> abi::SyncRecord {
    abi::SyncRecord {
        sync_type,
        handle,
        timeline_value,
    }
}

fn submit_compute(rig: &Rig, change: impl Fn(&mut abi::CmdCompute)) -> Answer {
    let mut payload = compute(stream(0));
    change(&mut payload);
    submit_bytes(rig, &command([1, 64, NONE, NONE], payload.as_bytes()))
}

fn submit_render(rig: &Rig, change: impl Fn(&mut abi::CmdRender)) -> Answer {
    let mut payload = render();
    change(&mut payload);
    submit_bytes(rig, &command([0, 240, NONE, NONE], payload.as_bytes()))
}

/// As [`submit_render`], with something else wrong that is looked at later.
fn submit_bad_render(rig: &Rig, change: impl Fn(&mut abi::CmdRender)) -> Answer {
    submit_render(rig, |payload| {
        payload.layers = 0;
        change(payload);
    })
}

fn attachments(records: &[abi::Attachment]) -> Vec<u8> {
    let payload: Vec<u8> = records
        .iter()
        .flat_map(|record| record.as_bytes().to_vec())
        .collect();
    command([4, payload.len() as u16, NONE, NONE], &payload)
}

fn submit_attachment(rig: &Rig, change: impl Fn(&mut abi::Attachment)) -> Answer {
    let mut record = abi::Attachment {
        pointer: DATA,
        size: 0x100,
        ..Default::default()
    };
    change(&mut record);
    submit_bytes(rig, &[attachments(&[record]), compute_bytes()].concat())
}

#[test]
fn common_rules() {
    let mut t = Table::default();
    t.section("2");
    t.both("export of a shared buffer", OK, move |rig| {
        rig.kernel.gem_export(rig.data).map(drop)
    });
    t.both("export of a VM-private buffer", EINVAL, move |rig| {
        let gem = rig
            .kernel
            .gem_create(0x4000, Caching::WriteBack, Some(rig.vm))
            .unwrap();
        rig.kernel.gem_export(gem).map(drop)
    });
    t.section("3");
    t.both("a request of another type", ENOTTY, move |rig| {
        raw_bytes(rig.node(), 0xc010_6541, &mut [0; 16])
    });
    t.both("index 11, one past the last", EINVAL, move |rig| {
        raw_bytes(rig.node(), 0xc010_644b, &mut [0; 16])
    });
    t.both("last driver number", EINVAL, move |rig| {
        raw_bytes(rig.node(), 0xc010_649f, &mut [0; 16])
    });
    t.both("GEM_FLINK, not for render nodes", EACCES, move |rig| {
        raw_bytes(rig.node(), 0xc008_640a, &mut [0; 8])
    });
    t.both(
        "MODE_GETRESOURCES, not for render nodes",
        EACCES,
        move |rig| raw_bytes(rig.node(), 0xc040_64a0, &mut [0; 64]),
    );
    t.both("a core number that nothing uses", EINVAL, move |rig| {
        raw_bytes(rig.node(), 0xc010_64fe, &mut [0; 16])
    });
    t.section("4");
    t.both("no argument", EFAULT, move |rig| {
        raw_bytes(rig.node(), ioctl::GET_TIME, &mut [0; 16]).unwrap();
        // SAFETY: the null page is refused.
        unsafe { agx_uapi::Node::ioctl(rig.node(), ioctl::GET_TIME, std::ptr::null_mut()) }
    });
    t.both("a short argument is extended with zeros", OK, move |rig| {
        // size and flags of GEM_CREATE without the rest.
        raw_bytes(
            rig.node(),
            ioctl::GEM_CREATE,
            &mut [0, 0x40, 0, 0, 0, 0, 0, 0],
        )
    });
    t.both("a long argument with a zero tail", OK, move |rig| {
        let mut bytes = [0; 40];
        bytes[1] = 0x40;
        raw_bytes(rig.node(), ioctl::GEM_CREATE, &mut bytes)
    });
    t.both("a long argument with a nonzero tail", EINVAL, move |rig| {
        let mut bytes = [0; 40];
        (bytes[1], bytes[39]) = (0x40, 1);
        raw_bytes(rig.node(), ioctl::GEM_CREATE, &mut bytes)
    });
    t.both("ID 0: VM", ENOENT, move |rig| vm_destroy(rig, 0, 0));
    t.both("ID 0: queue", ENOENT, move |rig| {
        raw(
            rig.node(),
            ioctl::QUEUE_DESTROY,
            &mut abi::QueueDestroy::default(),
        )
    });
    t.both("ID 0: timestamp object", ENOENT, move |rig| {
        unbind_object(rig, |args| args.object_handle = 0)
    });
    t.both("IDs of other files", ENOENT, move |rig| {
        let other = rig.device.kernel();
        other.vm_destroy(rig.vm)
    });
    t.both("missing GEM handle", ENOENT, move |rig| {
        bind_one(rig, |record| record.handle = 99)
    });
    t.both("missing syncobj handle", ENOENT, move |rig| {
        submit_input(rig, sync_record(0, 99, 0))
    });
    t.section("5");
    t.both("as it should be", OK, move |rig| get_params(rig, |_| {}));
    t.both("param_group", EINVAL, move |rig| {
        get_params(rig, |args| args.param_group = 1)
    });
    t.both("pad", EINVAL, move |rig| {
        get_params(rig, |args| args.pad = 1)
    });
    t.both("size 0 needs no pointer", OK, move |rig| {
        get_params(rig, |args| (args.size, args.pointer) = (0, 0))
    });
    t.both("size beyond the structure", OK, move |rig| {
        get_params(rig, |args| args.size = 700)
    });
    t.both("no pointer", EFAULT, move |rig| {
        get_params(rig, |args| args.pointer = 0)
    });
    t.section("6");
    t.both("flags", EINVAL, move |rig| {
        raw(
            rig.node(),
            ioctl::GET_TIME,
            &mut abi::GetTime {
                flags: 1,
                ..Default::default()
            },
        )
    });
    t.check();
}

#[test]
fn address_spaces() {
    let mut t = Table::default();
    t.section("7.1");
    t.both("as it should be", OK, move |rig| vm_create(rig, |_| {}));
    t.both("pad", EINVAL, move |rig| {
        vm_create(rig, |args| args.pad = 1)
    });
    t.both("kernel_start unaligned", EINVAL, move |rig| {
        vm_create(rig, |args| args.kernel_start -= 0x1000)
    });
    t.both("kernel_end unaligned", EINVAL, move |rig| {
        vm_create(rig, |args| args.kernel_end += 0x1000)
    });
    t.both("kernel_start 0x4000", OK, move |rig| {
        vm_create(rig, |args| args.kernel_start = 0x4000)
    });
    t.both("kernel_start 0", EINVAL, move |rig| {
        vm_create(rig, |args| args.kernel_start = 0)
    });
    t.both("kernel_end at the limit", OK, move |rig| {
        vm_create(rig, |args| args.kernel_end = 0x3ff_ffff_8000)
    });
    t.both("kernel_end above the limit", EINVAL, move |rig| {
        vm_create(rig, |args| args.kernel_end = 0x3ff_ffff_c000)
    });
    t.both("window one page too small", EINVAL, move |rig| {
        vm_create(rig, |args| args.kernel_start += 0x4000)
    });
    t.both("window upside down", EINVAL, move |rig| {
        vm_create(rig, |args| {
            std::mem::swap(&mut args.kernel_start, &mut args.kernel_end)
        })
    });
    t.both("M4 placement is not checked here", OK, move |rig| {
        vm_create(rig, |args| {
            (args.kernel_start, args.kernel_end) = (0x50_0000_0000, 0x50_2000_0000);
        })
    });

    t.section("7.2");
    let mut ranges = vec![
        (0x10_0008_0000, 0x10_0008_4000),
        (0x10_0024_0000, 0x10_0024_4000),
        (0x10_0025_8000, 0x10_0025_8000 + 0x1_c000),
        (0x10_00c6_0000, 0x10_00c6_4000),
        (0x70_0000_0000, 0x70_0040_0000),
        (0x70_0040_8000, 0x70_0041_8000),
        (0x70_0042_0000, 0x70_02cb_8000),
        (0x70_02cc_0000, 0x70_02cc_0000 + 0x1_8000),
        (0x70_030e_0000, 0x70_030e_0000 + 0x2_0000),
        (0x70_0310_8000, 0x70_0518_0000),
        (0x71_0000_0000, 0x73_0000_0000),
    ];
    ranges.extend((0..=10).map(|i| {
        let start = 0x10_0008_8000 + i * 0x2_8000;
        (start, start + 0x2_0000)
    }));
    for (start, end) in ranges {
        for (name, page) in [("first", start), ("last", end - 0x4000)] {
            t.differ(
                format!("{name} page of {start:#x}..{end:#x}"),
                EINVAL,
                OK,
                move |rig| bind_one(rig, |record| (record.addr, record.range) = (page, 0x4000)),
            );
        }
        for (name, page) in [("before", start - 0x4000), ("behind", end)] {
            t.both(
                format!("page {name} {start:#x}..{end:#x}"),
                OK,
                move |rig| bind_one(rig, |record| (record.addr, record.range) = (page, 0x4000)),
            );
        }
        t.differ(format!("unbind in {start:#x}"), EINVAL, OK, move |rig| {
            unbind_one(rig, |record| (record.addr, record.range) = (start, 0x4000))
        });
    }
    t.differ("a range over a reserved page", EINVAL, OK, move |rig| {
        bind_one(rig, |record| {
            (record.addr, record.range) = (0x10_00c5_c000, 0xc000)
        })
    });
    t.both("page 0", EINVAL, move |rig| {
        bind_one(rig, |record| record.addr = 0)
    });
    t.both("first page", OK, move |rig| {
        bind_one(rig, |record| record.addr = 0x4000)
    });
    t.both("last pages", OK, move |rig| {
        bind_one(rig, |record| record.addr = 0x3ff_ffff_8000 - 0x8000)
    });
    t.both("over the end", EINVAL, move |rig| {
        bind_one(rig, |record| record.addr = 0x3ff_ffff_8000 - 0x4000)
    });
    t.both("end of the address space", EINVAL, move |rig| {
        bind_one(rig, |record| record.addr = 0u64.wrapping_sub(0x4000))
    });
    for page in [0x10_e000_0000, 0x10_ffff_8000] {
        t.both(format!("kernel window at {page:#x}"), EINVAL, move |rig| {
            bind_one(rig, |record| record.addr = page)
        });
        t.both(
            format!("unbind in the kernel window at {page:#x}"),
            EINVAL,
            move |rig| unbind_one(rig, |record| record.addr = page),
        );
    }
    t.both("into the kernel window", EINVAL, move |rig| {
        bind_one(rig, |record| record.addr = 0x10_dfff_c000)
    });
    t.both("just below the kernel window", OK, move |rig| {
        bind_one(rig, |record| record.addr = 0x10_dfff_8000)
    });
    t.both("just above the kernel window", OK, move |rig| {
        bind_one(rig, |record| record.addr = 0x11_0000_0000)
    });

    t.section("7.3");
    t.both("queue with the one base", OK, move |rig| {
        queue_create(rig, |_| {})
    });
    t.both("queue with another base", EINVAL, move |rig| {
        queue_create(rig, |args| args.usc_exec_base = 0x101_0000_0000)
    });
    t.both("queue with base 0", EINVAL, move |rig| {
        queue_create(rig, |args| args.usc_exec_base = 0)
    });
    for start in [
        0x100_0000_0000u64,
        0x100_e000_4000,
        0xff_e000_4000,
        0x80_0000_0000,
    ] {
        t.differ(
            format!("kernel window at {start:#x} touches the shader window"),
            OK,
            EINVAL,
            move |rig| {
                let size = if start == 0x80_0000_0000 {
                    0x100_0000_0000
                } else {
                    0x2000_0000
                };
                let vm = rig.kernel.vm_create(start..start + size).unwrap();
                queue_create(rig, |args| args.vm_id = vm.raw())
            },
        );
    }
    for start in [0xff_e000_0000u64, 0x101_0000_0000] {
        t.both(
            format!("kernel window at {start:#x} beside the shader window"),
            OK,
            move |rig| {
                let vm = rig.kernel.vm_create(start..start + 0x2000_0000).unwrap();
                queue_create(rig, |args| args.vm_id = vm.raw())
            },
        );
    }

    t.section("7.4");
    t.both("pad", EINVAL, move |rig| {
        vm_destroy(rig, empty_vm(rig).raw(), 1)
    });
    t.both("empty VM", OK, move |rig| {
        vm_destroy(rig, empty_vm(rig).raw(), 0)
    });
    t.both("unknown", ENOENT, move |rig| vm_destroy(rig, 99, 0));
    t.both("twice", ENOENT, move |rig| {
        let vm = empty_vm(rig).raw();
        vm_destroy(rig, vm, 0).unwrap();
        vm_destroy(rig, vm, 0)
    });
    t.differ("with a queue", OK, EBUSY, move |rig| {
        let vm = empty_vm(rig);
        rig.kernel
            .queue_create(vm, agx_uapi::Priority::Low)
            .unwrap();
        vm_destroy(rig, vm.raw(), 0)
    });
    t.differ("with a mapping", OK, EBUSY, move |rig| {
        let vm = empty_vm(rig);
        bind_memory(&rig.kernel, vm);
        vm_destroy(rig, vm.raw(), 0)
    });
    t.differ("no new queue on a hidden VM", ENOENT, OK, move |rig| {
        // On the A18 Pro the VM is still there.
        let _ = vm_destroy(rig, rig.vm.raw(), 0);
        queue_create(rig, |_| {})
    });
    t.both("buffers survive", OK, move |rig| {
        let vm = empty_vm(rig);
        let gem = rig
            .kernel
            .gem_create(0x4000, Caching::WriteBack, Some(vm))
            .unwrap();
        vm_destroy(rig, vm.raw(), 0).unwrap();
        rig.kernel.gem_map(gem, 0x4000).map(drop)
    });
    t.check();
}

#[test]
fn binding() {
    let mut t = Table::default();
    t.section("7.5");
    t.both("as it should be", OK, move |rig| vm_bind(rig, |_| {}));
    t.both("pad", EINVAL, move |rig| vm_bind(rig, |args| args.pad = 1));
    t.both("unknown VM", ENOENT, move |rig| {
        vm_bind(rig, |args| args.vm_id = 99)
    });
    t.both("no records", OK, move |rig| {
        vm_bind(rig, |args| (args.num_binds, args.userptr) = (0, 0))
    });
    t.both("no records of any size", OK, move |rig| {
        vm_bind(rig, |args| (args.num_binds, args.stride) = (0, u32::MAX))
    });
    t.both("records at address 0", EFAULT, move |rig| {
        vm_bind(rig, |args| args.userptr = 0)
    });
    t.both("stride 0", EINVAL, move |rig| {
        vm_bind(rig, |args| args.stride = 0)
    });
    t.both("4096 records", OK, move |rig| {
        let records: Vec<_> = (0..4096)
            .map(|n| abi::GemBindOp {
                range: 0x4000,
                addr: FREE + n * 0x4000,
                ..record(rig)
            })
            .collect();
        raw(rig.node(), ioctl::VM_BIND, &mut bind_args(rig, &records))
    });
    t.differ("4097 records", EINVAL, OK, move |rig| {
        let records: Vec<_> = (0..4097)
            .map(|n| abi::GemBindOp {
                range: 0x4000,
                addr: FREE + n * 0x4000,
                ..record(rig)
            })
            .collect();
        raw(rig.node(), ioctl::VM_BIND, &mut bind_args(rig, &records))
    });
    for (size, m4) in [(1 << 20, OK), ((1 << 20) + 256, EINVAL)] {
        t.differ(format!("{size} bytes of records"), m4, OK, move |rig| {
            let stride = size / 256;
            let mut bytes = vec![0u8; size];
            for (n, bytes) in bytes.chunks_exact_mut(stride).enumerate() {
                let record = abi::GemBindOp {
                    range: 0x4000,
                    addr: FREE + n as u64 * 0x4000,
                    ..record(rig)
                };
                bytes[..32].copy_from_slice(record.as_bytes());
            }
            let mut args = bind_args(rig, &[]);
            (args.num_binds, args.stride, args.userptr) = (256, stride as u32, user(&bytes));
            raw(rig.node(), ioctl::VM_BIND, &mut args)
        });
    }
    t.both("stride 40, zero tail", OK, move |rig| {
        bind_strided(rig, 40, 0)
    });
    t.differ("stride 40, nonzero tail", EINVAL, E2BIG, move |rig| {
        bind_strided(rig, 40, 1)
    });
    t.differ(
        "stride 31: the address loses its top byte, which is 0",
        OK,
        EINVAL,
        move |rig| bind_strided(rig, 31, 0),
    );
    t.differ(
        "stride 24: no address is page 0, which is outside",
        EINVAL,
        EINVAL,
        move |rig| bind_strided(rig, 24, 0),
    );

    let flags: fn(u32) -> abi::BindFlags = abi::BindFlags::from_bits_retain;
    for (bits, answer) in [
        (2, OK),
        (4, OK),
        (6, OK),
        (2 | 8, OK),
        (4 | 8, OK),
        (6 | 8, OK),
        (0, EINVAL),
        (8, EINVAL),
        (1 | 2, EINVAL),
        (1 | 8, EINVAL),
        (2 | 16, EINVAL),
        (2 | 1 << 31, EINVAL),
    ] {
        t.both(format!("bind flags {bits:#x}"), answer, move |rig| {
            bind_one(rig, |record| record.flags = flags(bits))
        });
    }
    t.both("offset unaligned", EINVAL, move |rig| {
        bind_one(rig, |record| record.offset = 0x1000)
    });
    t.both("range unaligned", EINVAL, move |rig| {
        bind_one(rig, |record| record.range = 0x5000)
    });
    t.both("range 0", EINVAL, move |rig| {
        bind_one(rig, |record| record.range = 0)
    });
    t.both("address unaligned", EINVAL, move |rig| {
        bind_one(rig, |record| record.addr += 0x2000)
    });
    t.both("unknown buffer", ENOENT, move |rig| {
        bind_one(rig, |record| record.handle = 77)
    });
    t.both("buffer 0", ENOENT, move |rig| {
        bind_one(rig, |record| record.handle = 0)
    });
    t.both("the whole buffer", OK, move |rig| {
        bind_one(rig, |record| record.range = 1 << 20)
    });
    t.both("a page more than the buffer", EINVAL, move |rig| {
        bind_one(rig, |record| record.range = (1 << 20) + 0x4000)
    });
    t.both("offset + range beyond the buffer", EINVAL, move |rig| {
        bind_one(rig, |record| record.offset = (1 << 20) - 0x4000)
    });
    t.both("offset + range overflow", EINVAL, move |rig| {
        bind_one(rig, |record| record.offset = 0u64.wrapping_sub(0x4000))
    });
    t.both(
        "single page: only the page must be inside",
        OK,
        move |rig| {
            bind_one(rig, |record| {
                record.flags = flags(2 | 8);
                (record.offset, record.range) = ((1 << 20) - 0x4000, 1 << 30);
            })
        },
    );
    t.both("single page beyond the buffer", EINVAL, move |rig| {
        bind_one(rig, |record| {
            record.flags = flags(2 | 8);
            record.offset = 1 << 20;
        })
    });
    t.differ("over a mapping", EEXIST, EINVAL, move |rig| {
        bind_one(rig, |_| {}).unwrap();
        bind_one(rig, |_| {})
    });
    t.differ(
        "over the last page of a mapping",
        EEXIST,
        EINVAL,
        move |rig| {
            bind_one(rig, |_| {}).unwrap();
            bind_one(rig, |record| record.addr += 0x4000)
        },
    );
    t.both("beside a mapping", OK, move |rig| {
        bind_one(rig, |_| {}).unwrap();
        bind_one(rig, |record| record.addr += 0x8000)?;
        bind_one(rig, |record| record.addr -= 0x8000)
    });
    t.both("private buffer in its VM", OK, move |rig| {
        let gem = rig
            .kernel
            .gem_create(0x8000, Caching::WriteBack, Some(rig.vm))
            .unwrap();
        bind_one(rig, |record| record.handle = gem.raw())
    });
    t.both("private buffer in another VM", EINVAL, move |rig| {
        let gem = rig
            .kernel
            .gem_create(0x8000, Caching::WriteBack, Some(empty_vm(rig)))
            .unwrap();
        bind_one(rig, |record| record.handle = gem.raw())
    });
    t.both("after an error the earlier records stay", OK, move |rig| {
        let good = abi::GemBindOp {
            addr: FREE + 0x10_0000,
            ..record(rig)
        };
        let bad = abi::GemBindOp {
            handle: 77,
            addr: FREE + 0x20_0000,
            ..record(rig)
        };
        let never = abi::GemBindOp {
            addr: FREE + 0x30_0000,
            ..record(rig)
        };
        let list = [good, bad, never];
        assert_eq!(
            raw(rig.node(), ioctl::VM_BIND, &mut bind_args(rig, &list)),
            ENOENT
        );
        assert!(bind_one(rig, |record| record.addr = good.addr).is_err());
        bind_one(rig, |record| record.addr = never.addr)
    });
    t.both("records apply in their order", OK, move |rig| {
        let bind = record(rig);
        let unbind = abi::GemBindOp {
            flags: flags(1),
            handle: 0,
            ..bind
        };
        raw(
            rig.node(),
            ioctl::VM_BIND,
            &mut bind_args(rig, &[bind, unbind, bind, unbind]),
        )
    });

    t.both("unbind", OK, move |rig| unbind_one(rig, |_| {}));
    t.both("unbind with a handle", EINVAL, move |rig| {
        unbind_one(rig, |record| record.handle = rig.data.raw())
    });
    t.both("unbind with an offset", EINVAL, move |rig| {
        unbind_one(rig, |record| record.offset = 0x4000)
    });
    t.both("unbind range 0", EINVAL, move |rig| {
        unbind_one(rig, |record| record.range = 0)
    });
    t.both("unbind unaligned", EINVAL, move |rig| {
        unbind_one(rig, |record| record.range = 0x1000)
    });
    t.both("unbind over holes and several mappings", OK, move |rig| {
        unbind_one(rig, |record| {
            (record.addr, record.range) = (DATA + 0x4000, 0x8_0000_0000)
        })?;
        bind_one(rig, |record| record.addr = WRITE_ONLY)
    });
    t.both("unbind over nothing", OK, move |rig| {
        unbind_one(rig, |record| record.range = 1 << 40 >> 4)
    });
    t.both("device lost", Err(Errno(5)), move |rig| {
        rig.device.lose();
        vm_bind(rig, |_| {})
    });
    t.both("device lost, unbind", Err(Errno(5)), move |rig| {
        rig.device.lose();
        unbind_one(rig, |_| {})
    });
    t.differ("GEM_CLOSE and the mappings", EEXIST, OK, move |rig| {
        let gem = rig
            .kernel
            .gem_create(0x8000, Caching::WriteBack, None)
            .unwrap();
        bind_one(rig, |record| record.handle = gem.raw()).unwrap();
        rig.kernel.gem_close(gem).unwrap();
        bind_one(rig, |_| {})
    });
    t.check();
}

#[test]
fn buffers_and_timestamps() {
    let mut t = Table::default();
    t.section("8.1");
    t.both("as it should be", OK, move |rig| gem_create(rig, |_| {}));
    t.both("size 0", EINVAL, move |rig| {
        gem_create(rig, |args| args.size = 0)
    });
    t.both("size 1", OK, move |rig| {
        gem_create(rig, |args| args.size = 1)
    });
    t.both("size beyond all addresses", EINVAL, move |rig| {
        gem_create(rig, |args| args.size = u64::MAX)
    });
    t.both("pad", EINVAL, move |rig| {
        gem_create(rig, |args| args.pad = 1)
    });
    let flags: fn(u32) -> abi::GemFlags = abi::GemFlags::from_bits_retain;
    t.both("WRITEBACK", OK, move |rig| {
        gem_create(rig, |args| args.flags = flags(1))
    });
    t.both("another flag", EINVAL, move |rig| {
        gem_create(rig, |args| args.flags = flags(4))
    });
    t.both("private", OK, move |rig| {
        gem_create(rig, |args| {
            (args.flags, args.vm_id) = (flags(2), rig.vm.raw())
        })
    });
    t.both("private to nothing", ENOENT, move |rig| {
        gem_create(rig, |args| args.flags = flags(2))
    });
    t.both("private to an unknown VM", ENOENT, move |rig| {
        gem_create(rig, |args| (args.flags, args.vm_id) = (flags(3), 99))
    });
    t.both("not private, with a VM", EINVAL, move |rig| {
        gem_create(rig, |args| args.vm_id = rig.vm.raw())
    });
    t.section("8.2");
    t.both("mmap offset", OK, move |rig| {
        rig.kernel.gem_map(rig.data, 1 << 20).map(drop)
    });
    t.both("flags", EINVAL, move |rig| {
        let mut args = abi::GemMmapOffset {
            handle: rig.data.raw(),
            flags: 1,
            ..Default::default()
        };
        raw(rig.node(), ioctl::GEM_MMAP_OFFSET, &mut args)
    });
    t.both("unknown buffer", ENOENT, move |rig| {
        let mut args = abi::GemMmapOffset {
            handle: 99,
            ..Default::default()
        };
        raw(rig.node(), ioctl::GEM_MMAP_OFFSET, &mut args)
    });
    t.both("mmap longer than the buffer", EINVAL, move |rig| {
        rig.kernel.gem_map(rig.data, (1 << 20) + 1).map(drop)
    });
    t.both("mmap at no buffer", EINVAL, move |rig| {
        agx_uapi::Node::mmap(rig.node(), 0x4000, 0x4000).map(drop)
    });
    t.both("GEM_CLOSE of an unknown handle", EINVAL, move |rig| {
        raw(
            rig.node(),
            ioctl::GEM_CLOSE,
            &mut abi::GemClose { handle: 99, pad: 0 },
        )
    });

    t.section("9");
    t.both("as it should be", OK, move |rig| bind_object(rig, |_| {}));
    t.both("unknown op", EINVAL, move |rig| {
        bind_object(rig, |args| args.op = 2)
    });
    let flags: fn(u32) -> abi::BindObjectFlags = abi::BindObjectFlags::from_bits_retain;
    t.both("flags 0", EINVAL, move |rig| {
        bind_object(rig, |args| args.flags = flags(0))
    });
    t.both("flags 3", EINVAL, move |rig| {
        bind_object(rig, |args| args.flags = flags(3))
    });
    t.both("vm_id", EINVAL, move |rig| {
        bind_object(rig, |args| args.vm_id = rig.vm.raw())
    });
    t.both("pad", EINVAL, move |rig| {
        bind_object(rig, |args| args.pad = 1)
    });
    t.both("offset unaligned", EINVAL, move |rig| {
        bind_object(rig, |args| args.offset = 0x1000)
    });
    t.both("range unaligned", EINVAL, move |rig| {
        bind_object(rig, |args| args.range = 0x1000)
    });
    t.both("range 0", EINVAL, move |rig| {
        bind_object(rig, |args| args.range = 0)
    });
    t.both("unknown buffer", ENOENT, move |rig| {
        bind_object(rig, |args| args.handle = 99)
    });
    t.both("last page", OK, move |rig| {
        bind_object(rig, |args| args.offset = (1 << 20) - 0x4000)
    });
    t.both("beyond the buffer", EINVAL, move |rig| {
        bind_object(rig, |args| args.offset = 1 << 20)
    });
    t.both("overflow", EINVAL, move |rig| {
        bind_object(rig, |args| args.offset = 0u64.wrapping_sub(0x4000))
    });
    t.both("unbind", OK, move |rig| unbind_object(rig, |_| {}));
    t.both("unbind with flags", EINVAL, move |rig| {
        unbind_object(rig, |args| args.flags = flags(1))
    });
    t.both("unbind with a buffer", EINVAL, move |rig| {
        unbind_object(rig, |args| args.handle = 1)
    });
    t.both("unbind with a VM", EINVAL, move |rig| {
        unbind_object(rig, |args| args.vm_id = 1)
    });
    t.both("unbind with an offset", EINVAL, move |rig| {
        unbind_object(rig, |args| args.offset = 0x4000)
    });
    t.both("unbind with a range", EINVAL, move |rig| {
        unbind_object(rig, |args| args.range = 0x4000)
    });
    t.both("unbind with pad", EINVAL, move |rig| {
        unbind_object(rig, |args| args.pad = 1)
    });
    t.both("unbind of an unknown object", ENOENT, move |rig| {
        unbind_object(rig, |args| args.object_handle = 7)
    });
    t.both("aperture of 64 MiB", OK, move |rig| fill_aperture(rig, 64));
    t.both("aperture full", ENOSPC, move |rig| {
        fill_aperture(rig, 64).unwrap();
        bind_object(rig, |_| {})
    });
    t.differ("unbinding makes room", ENOSPC, OK, move |rig| {
        fill_aperture(rig, 64).unwrap();
        let mut args = abi::GemBindObject {
            op: 1,
            object_handle: 5,
            ..Default::default()
        };
        raw(rig.node(), ioctl::GEM_BIND_OBJECT, &mut args).unwrap();
        bind_object(rig, |_| {})
    });
    t.both("closing the file makes room", OK, move |rig| {
        let file = rig.device.kernel();
        let gem = file.gem_create(64 << 20, Caching::WriteBack, None).unwrap();
        file.timestamp_bind(gem, 0..64 << 20).unwrap();
        assert_eq!(bind_object(rig, |_| {}), ENOSPC);
        drop(file);
        bind_object(rig, |_| {})
    });
    t.differ(
        "GEM_CLOSE drops timestamp objects",
        OK,
        ENOENT,
        move |rig| {
            bind_object(rig, |_| {}).unwrap();
            rig.kernel.gem_close(rig.data).unwrap();
            // On the A18 Pro the object is gone, on the M4 only unbinding it drops it.
            let mut args = abi::GemBindObject {
                op: 1,
                object_handle: 1,
                ..Default::default()
            };
            raw(rig.node(), ioctl::GEM_BIND_OBJECT, &mut args)
        },
    );
    let slot = |handle, offset| abi::Timestamp { handle, offset };
    for (handle, offset, answer) in [
        (0, 0, OK),
        (0, 8, EINVAL),
        (1, 0, OK),
        (1, 0x3ff8, OK),
        (1, 0x4000, EINVAL),
        (1, 0x3ffc, EINVAL),
        (1, 4, EINVAL),
        (1, 0xffff_fff8, EINVAL),
        (2, 0, ENOENT),
    ] {
        t.both(
            format!("compute start {handle}, {offset:#x}"),
            answer,
            move |rig| {
                bind_object(rig, |_| {}).unwrap();
                submit_compute(rig, |command| command.ts.start = slot(handle, offset))
            },
        );
        t.both(
            format!("compute end {handle}, {offset:#x}"),
            answer,
            move |rig| {
                bind_object(rig, |_| {}).unwrap();
                submit_compute(rig, |command| command.ts.end = slot(handle, offset))
            },
        );
        for which in 0..4 {
            t.both(
                format!("render time {which}: {handle}, {offset:#x}"),
                answer,
                move |rig| {
                    bind_object(rig, |_| {}).unwrap();
                    submit_render(rig, |command| {
                        let (vtx, frag) = (&mut command.ts_vtx, &mut command.ts_frag);
                        let slots = [&mut vtx.start, &mut vtx.end, &mut frag.start, &mut frag.end];
                        *slots.into_iter().nth(which).unwrap() = slot(handle, offset);
                    })
                },
            );
        }
    }
    t.check();
}

/// Binds so many objects of 1 MiB.
fn fill_aperture(rig: &Rig, count: usize) -> Answer {
    for _ in 0..count {
        bind_object(rig, |args| args.range = 1 << 20)?;
    }
    Ok(())
}

#[test]
fn queues_and_submits() {
    let mut t = Table::default();
    t.section("10.1");
    t.both("flags", EINVAL, move |rig| {
        queue_create(rig, |args| args.flags = 1)
    });
    t.both("unknown VM", ENOENT, move |rig| {
        queue_create(rig, |args| args.vm_id = 99)
    });
    for (priority, answer) in [(0, OK), (1, OK), (2, EINVAL), (3, EINVAL), (4, EINVAL)] {
        t.both(format!("priority {priority}"), answer, move |rig| {
            queue_create(rig, |args| args.priority = priority)
        });
    }
    t.section("10.2");
    let destroy = |rig: &Rig, queue_id, pad| {
        raw(
            rig.node(),
            ioctl::QUEUE_DESTROY,
            &mut abi::QueueDestroy { queue_id, pad },
        )
    };
    t.both("destroy", OK, move |rig| destroy(rig, 1, 0));
    t.both("pad", EINVAL, move |rig| destroy(rig, 1, 1));
    t.both("unknown", ENOENT, move |rig| destroy(rig, 2, 0));
    t.both("twice", ENOENT, move |rig| {
        destroy(rig, 1, 0).unwrap();
        destroy(rig, 1, 0)
    });

    t.section("11.1");
    t.both("as it should be", OK, move |rig| submit_args(rig, |_| {}));
    t.both("flags", EINVAL, move |rig| {
        submit_args(rig, |args| args.flags = 1)
    });
    t.both("pad", EINVAL, move |rig| {
        submit_args(rig, |args| args.pad = 1)
    });
    t.both("unknown queue", ENOENT, move |rig| {
        submit_args(rig, |args| args.queue_id = 99)
    });
    t.both("no commands", EINVAL, move |rig| {
        submit_args(rig, |args| args.cmdbuf_size = 0)
    });
    t.both("1 MiB of commands", OK, move |rig| {
        submit_bytes(rig, &attachments_of(1 << 20))
    });
    t.both("more than 1 MiB of commands", EINVAL, move |rig| {
        submit_bytes(rig, &attachments_of((1 << 20) + 8))
    });
    t.both("commands at address 0", EFAULT, move |rig| {
        submit_args(rig, |args| args.cmdbuf = 0)
    });
    t.both("syncs at address 0", EFAULT, move |rig| {
        submit_args(rig, |args| (args.syncs, args.in_sync_count) = (0, 1))
    });
    for (count, answer) in [(4096, OK), (4097, EINVAL)] {
        t.both(format!("{count} inputs"), answer, move |rig| {
            let sync = rig.kernel.syncobj_create(true).unwrap();
            let syncs = vec![sync_record(0, sync.raw(), 0); count];
            submit(rig, &compute_bytes(), &syncs, |args| {
                args.in_sync_count = count as u32
            })
        });
        t.both(format!("{count} outputs"), answer, move |rig| {
            let syncs = vec![sync_record(0, rig.sync().raw(), 0); count];
            submit(rig, &compute_bytes(), &syncs, |args| {
                args.out_sync_count = count as u32
            })
        });
    }

    t.section("11.2");
    for (side, run) in [
        ("input", submit_input as fn(&Rig, abi::SyncRecord) -> Answer),
        ("output", submit_output),
    ] {
        t.both(format!("{side} of type 2"), EINVAL, move |rig| {
            let sync = rig.kernel.syncobj_create(true).unwrap();
            run(rig, sync_record(2, sync.raw(), 0))
        });
        t.both(format!("binary {side} with a value"), EINVAL, move |rig| {
            let sync = rig.kernel.syncobj_create(true).unwrap();
            run(rig, sync_record(0, sync.raw(), 1))
        });
        t.both(format!("binary {side}"), OK, move |rig| {
            let sync = rig.kernel.syncobj_create(true).unwrap();
            run(rig, sync_record(0, sync.raw(), 0))
        });
        t.both(format!("unknown {side}"), ENOENT, move |rig| {
            run(rig, sync_record(1, 99, 1))
        });
    }
    t.both("input without a fence", EINVAL, move |rig| {
        submit_input(rig, sync_record(0, rig.sync().raw(), 0))
    });
    t.both("output without a fence", OK, move |rig| {
        submit_output(rig, sync_record(0, rig.sync().raw(), 0))
    });
    t.both("timeline output", OK, move |rig| {
        submit_output(rig, sync_record(1, rig.sync().raw(), 7))
    });
    for (point, answer) in [(3, OK), (5, OK), (6, EINVAL)] {
        t.both(
            format!("timeline input at point {point} of 5"),
            answer,
            move |rig| {
                let sync = rig.sync();
                rig.kernel.syncobj_timeline_signal(&[(sync, 5)]).unwrap();
                submit_input(rig, sync_record(1, sync.raw(), point))
            },
        );
    }
    t.both("timeline input without a fence", EINVAL, move |rig| {
        submit_input(rig, sync_record(1, rig.sync().raw(), 1))
    });

    t.section("11.3");
    for len in [1, 7, 8, 71] {
        t.both(format!("truncated to {len} bytes"), EINVAL, move |rig| {
            submit_bytes(rig, &compute_bytes()[..len])
        });
    }
    t.both("a byte too many", EINVAL, move |rig| {
        submit_bytes(rig, &[compute_bytes(), vec![0]].concat())
    });
    for kind in [5, 6, 0xffff] {
        t.differ(
            format!("unknown type {kind}"),
            ENOTSUPP,
            EOPNOTSUPP,
            move |rig| {
                submit_bytes(
                    rig,
                    &[compute_bytes(), command([kind, 0, NONE, NONE], &[])].concat(),
                )
            },
        );
    }
    t.both("64 commands", OK, move |rig| {
        submit_bytes(rig, &compute_bytes().repeat(64))
    });
    t.both("65 commands", EINVAL, move |rig| {
        submit_bytes(rig, &compute_bytes().repeat(65))
    });
    t.both("attachments only", EINVAL, move |rig| {
        submit_bytes(rig, &attachments_of(32))
    });
    let long = |fill: u8| {
        let payload = [compute(stream(0)).as_bytes(), &[fill; 8][..]].concat();
        command([1, 72, NONE, NONE], &payload)
    };
    t.both("a longer payload, zero tail", OK, move |rig| {
        submit_bytes(rig, &long(0))
    });
    t.differ(
        "a longer payload, nonzero tail",
        EINVAL,
        E2BIG,
        move |rig| submit_bytes(rig, &long(1)),
    );
    t.both("a shorter payload", OK, move |rig| {
        submit_bytes(
            rig,
            &command([1, 24, NONE, NONE], &compute(stream(0)).as_bytes()[..24]),
        )
    });
    t.both(
        "a payload too short for the stream's end",
        EINVAL,
        move |rig| {
            submit_bytes(
                rig,
                &command([1, 16, NONE, NONE], &compute(stream(0)).as_bytes()[..16]),
            )
        },
    );
    t.both("no alignment between commands", OK, move |rig| {
        let short = command([1, 22, NONE, NONE], &compute(stream(0)).as_bytes()[..22]);
        submit_bytes(rig, &[short, compute_bytes()].concat())
    });

    t.section("11.4");
    let with_barriers = |vdm: u16, cdm: u16| {
        let second = command([1, 64, vdm, cdm], compute(stream(0)).as_bytes());
        [compute_bytes(), second].concat()
    };
    for (vdm, cdm, answer) in [
        (NONE, NONE, OK),
        (0, 0, OK),
        (NONE, 1, OK),
        (0, 1, OK),
        (NONE, 2, EINVAL),
        (NONE, 3, EINVAL),
        (1, NONE, EINVAL),
        (NONE, 0xfffe, EINVAL),
        (0xfffe, NONE, EINVAL),
    ] {
        t.both(
            format!("second compute after {vdm:#x}, {cdm:#x}"),
            answer,
            move |rig| submit_bytes(rig, &with_barriers(vdm, cdm)),
        );
    }
    t.section("11.5");
    t.differ("fragment barrier flag", ENOTSUPP, EINVAL, move |rig| {
        submit_bad_render(rig, |render| {
            render.flags = abi::RenderFlags::from_bits_retain(8)
        })
    });

    t.section("11.6");
    t.both("as it should be", OK, move |rig| {
        submit_attachment(rig, |_| {})
    });
    t.both("pad", EINVAL, move |rig| {
        submit_attachment(rig, |record| record.pad = 1)
    });
    t.both("flags", EINVAL, move |rig| {
        submit_attachment(rig, |record| record.flags = 1)
    });
    t.both("empty range", EINVAL, move |rig| {
        submit_attachment(rig, |record| record.size = 0)
    });
    t.both("write-only memory", OK, move |rig| {
        submit_attachment(rig, |record| record.pointer = WRITE_ONLY)
    });
    t.both("read-only memory", EINVAL, move |rig| {
        submit_attachment(rig, |record| record.pointer = READ_ONLY)
    });
    t.both("unmapped memory", EINVAL, move |rig| {
        submit_attachment(rig, |record| record.pointer = FREE)
    });
    t.both("up to the last byte", OK, move |rig| {
        submit_attachment(rig, |record| record.size = 1 << 20)
    });
    t.both("a byte too far", EINVAL, move |rig| {
        submit_attachment(rig, |record| record.size = (1 << 20) + 1)
    });
    t.both("around the address space", EINVAL, move |rig| {
        submit_attachment(rig, |record| record.size = u64::MAX)
    });
    for (kind, answer) in [(2, OK), (3, OK), (4, OK)] {
        t.both(format!("attachments of type {kind}"), answer, move |rig| {
            let mut bytes = attachments(&[abi::Attachment {
                pointer: DATA,
                size: 1,
                ..Default::default()
            }]);
            bytes[0] = kind;
            submit_bytes(rig, &[bytes, compute_bytes()].concat())
        });
    }
    let record = abi::Attachment {
        pointer: DATA,
        size: 1,
        pad: 0,
        flags: 0,
    };
    for (count, answer) in [(0, OK), (16, OK), (17, EINVAL)] {
        t.both(format!("{count} attachments"), answer, move |rig| {
            submit_bytes(
                rig,
                &[attachments(&vec![record; count]), compute_bytes()].concat(),
            )
        });
    }
    t.both("size no multiple of 24", EINVAL, move |rig| {
        let bytes = command([4, 25, NONE, NONE], &[0; 25]);
        submit_bytes(rig, &[bytes, compute_bytes()].concat())
    });
    for barriers in [[0, NONE], [NONE, 0]] {
        t.both(
            format!("attachments with barriers {barriers:x?}"),
            EINVAL,
            move |rig| {
                let bytes = command([4, 24, barriers[0], barriers[1]], record.as_bytes());
                submit_bytes(rig, &[bytes, compute_bytes()].concat())
            },
        );
    }
    t.section("11.7");
    t.both("coverage over two mappings", OK, move |rig| {
        bind_one(rig, |record| record.addr = DATA + (1 << 20)).unwrap();
        submit_attachment(rig, |record| record.size = (1 << 20) + 0x8000)
    });
    t.both("coverage over a hole", EINVAL, move |rig| {
        bind_one(rig, |record| record.addr = DATA + (1 << 20) + 0x4000).unwrap();
        submit_attachment(rig, |record| record.size = (1 << 20) + 0x8000)
    });

    t.section("15");
    t.both("submit after device loss", Err(Errno(5)), move |rig| {
        rig.device.lose();
        submit_args(rig, |_| {})
    });
    t.check();
}

/// Attachment commands of so many bytes in all, and, if there is room, a compute command.
fn attachments_of(size: usize) -> Vec<u8> {
    let mut bytes = if size > 72 {
        compute_bytes()
    } else {
        Vec::new()
    };
    while bytes.len() < size {
        let payload = (size - bytes.len() - 8).min(16 * 24) / 24 * 24;
        let records = vec![
            abi::Attachment {
                pointer: DATA,
                size: 1,
                ..Default::default()
            };
            payload / 24
        ];
        let mut next = attachments(&records);
        // What does not divide by 24 goes into headers without records.
        if payload == 0 {
            next = attachments(&[]);
        }
        bytes.extend(next);
    }
    assert_eq!(bytes.len(), size);
    bytes
}

#[test]
fn compute_commands() {
    let mut t = Table::default();
    t.section("13");
    t.both("as it should be", OK, move |rig| {
        submit_compute(rig, |_| {})
    });
    t.differ("flags", ENOTSUPP, EINVAL, move |rig| {
        submit_compute(rig, |command| command.flags = 1)
    });
    t.differ("helper binary", ENOTSUPP, EINVAL, move |rig| {
        submit_compute(rig, |c| c.helper.binary = 1)
    });
    t.differ("helper cfg", ENOTSUPP, EINVAL, move |rig| {
        submit_compute(rig, |c| c.helper.cfg = 1)
    });
    t.differ("helper data", ENOTSUPP, EINVAL, move |rig| {
        submit_compute(rig, |c| c.helper.data = 1)
    });
    let heap = |heap, count| {
        move |rig: &Rig| {
            submit_compute(rig, |command| {
                (command.sampler_heap, command.sampler_count) = (heap, count);
            })
        }
    };
    t.both("one sampler", OK, heap(DATA, 1));
    t.both("1024 samplers", OK, heap(DATA, 1024));
    t.both("1025 samplers", EINVAL, heap(DATA, 1025));
    t.both("samplers without a heap", EINVAL, heap(0, 1));
    t.both("a heap without samplers", EINVAL, heap(DATA, 0));
    t.both("heap unaligned", EINVAL, heap(DATA + 4, 1));
    t.both("heap not readable", EINVAL, heap(WRITE_ONLY, 1));
    t.both("heap to the last byte", OK, heap(DATA + MIB - 16, 2));
    t.both("heap beyond", EINVAL, heap(DATA + MIB - 16, 3));
    let range = |base, end| {
        move |rig: &Rig| {
            submit_compute(rig, |command| {
                (command.cdm_ctrl_stream_base, command.cdm_ctrl_stream_end) = (base, end);
            })
        }
    };
    t.both("base unaligned", EINVAL, range(DATA + 2, DATA + 0x30));
    t.both("end unaligned", EINVAL, range(DATA, DATA + 0x32));
    t.both("four bytes", OK, range(DATA, DATA + 4));
    t.both("no bytes", EINVAL, range(DATA, DATA));
    t.both("end before base", EINVAL, range(DATA + 8, DATA));
    t.both("stream read-only", OK, range(READ_ONLY, READ_ONLY + 0x4000));
    t.both(
        "stream write-only",
        EINVAL,
        range(WRITE_ONLY, WRITE_ONLY + 0x30),
    );
    t.both("stream unmapped", EINVAL, range(FREE, FREE + 0x30));
    t.both("stream to the last byte", OK, range(DATA, DATA + MIB));
    t.both("stream beyond", EINVAL, range(DATA, DATA + MIB + 4));
    t.both("stream without base", EINVAL, range(0, 0x30));
    t.check();
}

#[test]
fn render_commands() {
    let mut t = Table::default();
    t.section("12");
    t.both("as it should be", OK, move |rig| submit_render(rig, |_| {}));
    t.both("something wrong", EINVAL, move |rig| {
        submit_bad_render(rig, |_| {})
    });
    for bit in 0..32u32 {
        let known = bit == 1 || bit == 18;
        let (m4, a18) = if known {
            (EINVAL, EINVAL)
        } else {
            (ENOTSUPP, EINVAL)
        };
        t.differ(
            format!("flag {bit} before something wrong"),
            m4,
            a18,
            move |rig| {
                submit_bad_render(rig, |c| {
                    c.flags = abi::RenderFlags::from_bits_retain(1 << bit)
                })
            },
        );
        t.differ(
            format!("flag {bit} alone"),
            if known { OK } else { ENOTSUPP },
            if known { OK } else { EINVAL },
            move |rig| {
                submit_render(rig, |c| {
                    c.flags = abi::RenderFlags::from_bits_retain(1 << bit)
                })
            },
        );
    }
    for field in 0..6 {
        t.differ(
            format!("helper field {field}"),
            ENOTSUPP,
            EINVAL,
            move |rig| {
                submit_bad_render(rig, |c| {
                    let helper = if field < 3 {
                        &mut c.vertex_helper
                    } else {
                        &mut c.fragment_helper
                    };
                    match field % 3 {
                        0 => helper.binary = 1,
                        1 => helper.cfg = 1,
                        _ => helper.data = 1,
                    }
                })
            },
        );
    }
    // Everything from here on: EINVAL when wrong.
    let mut row = |what: &str, m4: bool, a18: bool, change: fn(&mut abi::CmdRender)| {
        let answer = |good| if good { OK } else { EINVAL };
        t.differ(what, answer(m4), answer(a18), move |rig| {
            // Low memory, for what only the A18 Pro allows.
            bind_one(rig, |record| record.addr = 0x1000_0000).unwrap();
            submit_render(rig, change)
        });
    };
    let bad = false;
    let good = true;
    row("vdm base 0", bad, bad, |c| c.vdm_ctrl_stream_base = 0);
    row("vdm base unaligned", bad, bad, |c| {
        c.vdm_ctrl_stream_base += 2
    });
    row("vdm base unmapped", bad, bad, |c| {
        c.vdm_ctrl_stream_base = CONTEXT + MIB
    });
    row("vdm base, last word", good, good, |c| {
        c.vdm_ctrl_stream_base = CONTEXT + MIB - 4
    });
    row("vdm base above the context", bad, bad, |c| {
        c.vdm_ctrl_stream_base = DATA
    });
    row("vdm base below the context", bad, good, |c| {
        c.vdm_ctrl_stream_base = 0x1000_0000
    });
    row("no scissors", bad, bad, |c| c.isp_scissor_base = 0);
    row("scissors unaligned", bad, bad, |c| c.isp_scissor_base += 4);
    row("scissors unmapped", bad, bad, |c| c.isp_scissor_base = FREE);
    row("scissors write-only", bad, bad, |c| {
        c.isp_scissor_base = WRITE_ONLY
    });
    row("scissors read-only", good, good, |c| {
        c.isp_scissor_base = READ_ONLY
    });
    row("no depth bias", good, good, |c| c.isp_dbias_base = 0);
    row("depth bias unaligned", bad, bad, |c| c.isp_dbias_base += 4);
    row("depth bias unmapped", bad, bad, |c| c.isp_dbias_base = FREE);
    row("visibility", good, good, |c| c.isp_oclqry_base = WRITE_ONLY);
    row("visibility unaligned", bad, bad, |c| {
        c.isp_oclqry_base = WRITE_ONLY + 4
    });
    row("visibility read-only", bad, bad, |c| {
        c.isp_oclqry_base = READ_ONLY
    });
    row("any zls_pixels", good, good, |c| {
        c.isp_zls_pixels = u32::MAX
    });
    row("any zls_ctrl", good, good, |c| {
        c.zls_ctrl = abi::ZlsControl::from_bits_retain(u64::MAX)
    });
    row("any multisamplectl", good, good, |c| {
        c.ppp_multisamplectl = u64::MAX
    });
    row("any ppp_ctrl", good, good, |c| c.ppp_ctrl = u32::MAX);
    row("any merge_upper", good, good, |c| {
        (c.isp_merge_upper_x, c.isp_merge_upper_y) = (u32::MAX, 0);
    });
    row("any background values", good, good, |c| {
        (c.isp_bgobjdepth, c.isp_bgobjvals) = (u32::MAX, u32::MAX);
    });
    row("sampler heap", good, good, |c| {
        (c.sampler_heap, c.sampler_count) = (DATA, 1024)
    });
    row("1025 samplers", bad, bad, |c| {
        (c.sampler_heap, c.sampler_count) = (DATA, 1025)
    });
    row("heap without samplers", bad, bad, |c| c.sampler_heap = DATA);
    row("samplers without a heap", bad, bad, |c| c.sampler_count = 1);
    row("heap unaligned", bad, bad, |c| {
        (c.sampler_heap, c.sampler_count) = (DATA + 4, 1)
    });
    row("heap beyond", bad, bad, |c| {
        (c.sampler_heap, c.sampler_count) = (DATA + MIB - 8, 2)
    });
    row("width 0", bad, bad, |c| c.width_px = 0);
    row("width 16384", good, good, |c| c.width_px = 16384);
    row("width 16385", bad, bad, |c| c.width_px = 16385);
    row("height 0", bad, bad, |c| c.height_px = 0);
    row("height 16384", good, good, |c| c.height_px = 16384);
    row("height 16385", bad, bad, |c| c.height_px = 16385);
    row("layers 0", bad, bad, |c| c.layers = 0);
    row("layers 2048", good, good, |c| c.layers = 2048);
    row("layers 2049", bad, bad, |c| c.layers = 2049);
    row("utile 32x16", good, good, |c| c.utile_height_px = 16);
    row("utile 16x16", good, good, |c| {
        (c.utile_width_px, c.utile_height_px) = (16, 16)
    });
    row("utile 16x32", bad, bad, |c| c.utile_width_px = 16);
    row("utile 0x0", bad, bad, |c| {
        (c.utile_width_px, c.utile_height_px) = (0, 0)
    });
    row("utile 64x64", bad, bad, |c| {
        (c.utile_width_px, c.utile_height_px) = (64, 64)
    });
    row("samples 0", bad, bad, |c| c.samples = 0);
    row("samples 2", good, good, |c| c.samples = 2);
    row("samples 3", bad, bad, |c| c.samples = 3);
    row("samples 4", good, good, |c| c.samples = 4);
    row("samples 8", bad, bad, |c| c.samples = 8);
    row("32 KiB of tile", good, good, |c| c.sample_size_b = 32);
    row("33 KiB of tile", good, bad, |c| c.sample_size_b = 33);
    row("64 KiB of tile", good, bad, |c| c.sample_size_b = 64);
    row("128 KiB of tile", good, bad, |c| c.sample_size_b = 128);
    row("129 KiB of tile", bad, bad, |c| c.sample_size_b = 129);
    row("128 KiB of tile with 4 samples", good, bad, |c| {
        (c.samples, c.sample_size_b) = (4, 32)
    });
    row("132 KiB of tile with 4 samples", bad, bad, |c| {
        (c.samples, c.sample_size_b) = (4, 33)
    });
    row("32 KiB of small tile with 4 samples", good, good, |c| {
        (c.utile_width_px, c.utile_height_px) = (16, 16);
        (c.samples, c.sample_size_b) = (4, 32);
    });
    row("no bg, but partial_bg", good, bad, |c| {
        c.bg = abi::BgEot::default()
    });
    row("neither bg", good, bad, |c| {
        (c.bg, c.partial_bg) = Default::default()
    });
    row("no partial_bg, but bg", bad, bad, |c| {
        c.partial_bg = abi::BgEot::default()
    });
    row("bg without a program, with resources", bad, bad, |c| {
        c.bg.usc = 0
    });
    row(
        "partial_bg without a program, with resources",
        bad,
        bad,
        |c| {
            (c.bg, c.partial_bg.usc) = (abi::BgEot::default(), 0);
        },
    );
    row("bg unmapped", bad, bad, |c| c.bg.usc = 0x10_0000);
    row("bg in the last word", good, good, |c| c.bg.usc = 0xf_fffc);
    row("bg in the last bytes with tags", good, good, |c| {
        c.bg.usc = 0xf_ffff
    });
    row("bg without resources", good, good, |c| c.bg.rsrc_spec = 0);
    row("no eot", bad, bad, |c| c.eot = abi::BgEot::default());
    row("eot unmapped", bad, bad, |c| c.eot.usc = 0x10_0000);
    row("partial_bg unmapped", bad, bad, |c| {
        c.partial_bg.usc = 0x10_0000
    });
    row("no partial_eot", bad, bad, |c| {
        c.partial_eot = abi::BgEot::default()
    });
    row("partial_eot unmapped", bad, bad, |c| {
        c.partial_eot.usc = 0x10_0000
    });

    // 12.1: both surfaces alike.
    macro_rules! surfaces {
        ($($what:literal, $answer:ident, $layers:literal, $base:expr, $comp:expr, $stride:expr, $comp_stride:expr;)*) => {$(
            row(concat!("12.1 depth: ", $what), $answer, $answer, |c| {
                c.layers = $layers;
                c.depth = abi::ZlsBuffer {
                    base: $base, comp_base: $comp, stride: $stride, comp_stride: $comp_stride,
                };
            });
            row(concat!("12.1 stencil: ", $what), $answer, $answer, |c| {
                c.layers = $layers;
                c.stencil = abi::ZlsBuffer {
                    base: $base, comp_base: $comp, stride: $stride, comp_stride: $comp_stride,
                };
            });
        )*};
    }
    surfaces! {
        "present", good, 1, DATA, 0, 0, 0;
        "absent with metadata", bad, 1, 0, DATA, 0, 0;
        "absent with stride", bad, 1, 0, 0, 1, 0;
        "absent with metadata stride", bad, 1, 0, 0, 0, 0x4000;
        "read-only", bad, 1, READ_ONLY, 0, 0, 0;
        "write-only", bad, 1, WRITE_ONLY, 0, 0, 0;
        "unmapped", bad, 1, FREE, 0, 0, 0;
        "one layer with stride", good, 1, DATA, 0, 1, 0;
        "two layers without stride", bad, 2, DATA, 0, 0, 0;
        "two layers of a page", good, 2, DATA, 0, 1, 0;
        "stride's low bits 2", bad, 2, DATA, 0, 2, 0;
        "stride's low bits 0", bad, 2, DATA, 0, 0x4000, 0;
        "64 layers of a page, to the end", good, 64, DATA, 0, 1, 0;
        "65 layers of a page, beyond", bad, 65, DATA, 0, 1, 0;
        "two layers of 63 pages", good, 2, DATA, 0, 62 << 14 | 1, 0;
        "two layers of 64 pages", bad, 2, DATA, 0, 63 << 14 | 1, 0;
        "metadata", good, 1, DATA, DATA, 0, 0;
        "metadata read-only", bad, 1, DATA, READ_ONLY, 0, 0;
        "metadata write-only", bad, 1, DATA, WRITE_ONLY, 0, 0;
        "metadata unmapped", bad, 1, DATA, FREE, 0, 0;
        "metadata stride without metadata", bad, 1, DATA, 0, 0, 0x4000;
        "metadata stride's low bits", bad, 1, DATA, DATA, 0, 0x4001;
        "two layers of metadata, to the end", good, 2, DATA, DATA + MIB - 0x81, 1, 0;
        "two layers of metadata, beyond", bad, 2, DATA, DATA + MIB - 0x80, 1, 0;
        "two layers of two lines, to the end", good, 2, DATA, DATA + MIB - 0x101, 1, 1 << 14;
        "two layers of two lines, beyond", bad, 2, DATA, DATA + MIB - 0x100, 1, 1 << 14;
    }

    t.section("7.1");
    for (start, end, m4) in [
        (0x10_0000_0000u64, 0x10_2000_0000u64, true),
        (0x0f_ffff_c000, 0x10_2000_0000, false),
        (0x50_0000_0000, 0x50_2000_0000, false),
        // The fixed part, 0x35d_4000 bytes, just fits in front of 0x11_0000_0000, or does not.
        (0x11_0000_0000 - 0x35d_4000, 0x11_2000_0000, true),
        (0x11_0000_0000 - 0x35d_0000, 0x11_2000_0000, false),
    ] {
        let answer = if m4 { OK } else { EINVAL };
        t.differ(
            format!("render with kernel window {start:#x}..{end:#x}"),
            answer,
            OK,
            move |rig| render_on_vm(rig, start, end),
        );
        t.both(
            format!("compute with kernel window {start:#x}..{end:#x}"),
            OK,
            move |rig| {
                let vm = rig.kernel.vm_create(start..end).unwrap();
                bind_outside(rig, vm);
                let queue = rig
                    .kernel
                    .queue_create(vm, agx_uapi::Priority::Low)
                    .unwrap();
                submit_args(rig, |args| args.queue_id = queue.raw())
            },
        );
    }

    t.section("15");
    t.both("57 VMs render", OK, move |rig| render_on_vms(rig, 57));
    t.differ("58 VMs render", ENOSPC, OK, move |rig| {
        render_on_vms(rig, 58)
    });
    t.differ(
        "11.7 step 11: a VM that failed is broken",
        Err(Errno(5)),
        OK,
        move |rig| {
            let _ = render_on_vms(rig, 57);
            let _ = submit_render(rig, |_| {});
            submit_args(rig, |_| {})
        },
    );
    t.both("a destroyed VM gives its slot back", OK, move |rig| {
        let _ = render_on_vms(rig, 56);
        let vm = rig
            .kernel
            .vm_create(0x10_e000_0000..0x11_0000_0000)
            .unwrap();
        bind_outside(rig, vm);
        let queue = rig
            .kernel
            .queue_create(vm, agx_uapi::Priority::Low)
            .unwrap();
        let bytes = command([0, 240, NONE, NONE], render().as_bytes());
        assert_eq!(
            submit(rig, &bytes, &[], |args| args.queue_id = queue.raw()),
            OK
        );
        rig.kernel.queue_destroy(queue).unwrap();
        if rig.chip() == Chip::M4 {
            rig.kernel.vm_destroy(vm).unwrap();
        }
        submit_render(rig, |_| {})
    });
    t.check();
}

/// Binds the memory of the templates, where the kernel window leaves room for it.
fn bind_outside(rig: &Rig, vm: VmId) {
    use agx_uapi::{Access, Bind};
    for (addr, access) in [
        (DATA, Access::ReadWrite),
        (CONTEXT, Access::ReadWrite),
        (CODE, Access::Read),
    ] {
        let bind = Bind::Object {
            addr,
            size: MIB,
            gem: rig.data,
            offset: 0,
            access,
        };
        // A window over it makes the render fail for that reason; only `render_on_vm` has such.
        rig.kernel.vm_bind(vm, &[bind]).unwrap();
    }
}

fn render_on_vm(rig: &Rig, start: u64, end: u64) -> Answer {
    let vm = rig.kernel.vm_create(start..end).unwrap();
    bind_outside(rig, vm);
    let queue = rig
        .kernel
        .queue_create(vm, agx_uapi::Priority::Low)
        .unwrap();
    let bytes = command([0, 240, NONE, NONE], render().as_bytes());
    submit(rig, &bytes, &[], |args| args.queue_id = queue.raw())
}

/// The answer to the first render of the last of so many VMs.
fn render_on_vms(rig: &Rig, count: usize) -> Answer {
    let mut answer = OK;
    for _ in 0..count {
        answer = render_on_vm(rig, 0x10_e000_0000, 0x11_0000_0000);
    }
    answer
}

#[test]
fn sync_objects_and_files() {
    let mut t = Table::default();
    t.section("2, DRM core");
    let create = |rig: &Rig, flags: u32| {
        let flags = abi::SyncobjCreateFlags::from_bits_retain(flags);
        raw(
            rig.node(),
            ioctl::SYNCOBJ_CREATE,
            &mut abi::SyncobjCreate {
                flags,
                ..Default::default()
            },
        )
    };
    t.both("create", OK, move |rig| create(rig, 0));
    t.both("create signalled", OK, move |rig| create(rig, 1));
    t.both("create with another flag", EINVAL, move |rig| {
        create(rig, 2)
    });
    let destroy = |rig: &Rig, handle, pad| {
        raw(
            rig.node(),
            ioctl::SYNCOBJ_DESTROY,
            &mut abi::SyncobjDestroy { handle, pad },
        )
    };
    t.both("destroy", OK, move |rig| destroy(rig, rig.sync().raw(), 0));
    t.both("destroy with pad", EINVAL, move |rig| {
        destroy(rig, rig.sync().raw(), 1)
    });
    t.both("destroy an unknown one", EINVAL, move |rig| {
        destroy(rig, 99, 0)
    });

    let wait = |rig: &Rig, flags: u32, handles: &[u32]| {
        let mut args = abi::SyncobjWait {
            handles: user(handles),
            count_handles: handles.len() as u32,
            flags: abi::SyncobjWaitFlags::from_bits_retain(flags),
            ..Default::default()
        };
        raw(rig.node(), ioctl::SYNCOBJ_WAIT, &mut args)
    };
    const ETIME: Answer = Err(Errno(62));
    let signalled = |rig: &Rig| rig.kernel.syncobj_create(true).unwrap().raw();
    t.both("wait", OK, move |rig| wait(rig, 0, &[signalled(rig)]));
    t.both("wait with a deadline hint", OK, move |rig| {
        wait(rig, 8, &[signalled(rig)])
    });
    t.both("wait for a fence to be there, binary", EINVAL, move |rig| {
        wait(rig, 4, &[signalled(rig)])
    });
    t.both("wait with an unknown flag", EINVAL, move |rig| {
        wait(rig, 16, &[signalled(rig)])
    });
    t.both("wait for nothing", OK, move |rig| wait(rig, 0, &[]));
    t.both("wait for an unknown one", ENOENT, move |rig| {
        wait(rig, 0, &[signalled(rig), 99])
    });
    t.both("wait for more than can be", Err(Errno(12)), move |rig| {
        let mut args = abi::SyncobjWait {
            handles: user(&[0u32]),
            count_handles: u32::MAX,
            ..Default::default()
        };
        raw(rig.node(), ioctl::SYNCOBJ_WAIT, &mut args)
    });
    t.both("wait without a fence", EINVAL, move |rig| {
        wait(rig, 0, &[rig.sync().raw()])
    });
    t.both("wait without a fence, with another", EINVAL, move |rig| {
        wait(rig, 0, &[signalled(rig), rig.sync().raw()])
    });
    t.both("wait for submit", ETIME, move |rig| {
        wait(rig, 2, &[rig.sync().raw()])
    });
    t.both("wait for any", OK, move |rig| {
        wait(rig, 2, &[rig.sync().raw(), signalled(rig)])
    });
    t.both("wait for all", ETIME, move |rig| {
        wait(rig, 3, &[rig.sync().raw(), signalled(rig)])
    });

    let timeline = |rig: &Rig, flags: u32, point: u64| {
        let sync = rig.sync();
        rig.kernel.syncobj_timeline_signal(&[(sync, 5)]).unwrap();
        let (handles, points) = ([sync.raw()], [point]);
        let mut args = abi::SyncobjTimelineWait {
            handles: user(&handles),
            points: user(&points),
            count_handles: 1,
            flags: abi::SyncobjWaitFlags::from_bits_retain(flags),
            ..Default::default()
        };
        raw(rig.node(), ioctl::SYNCOBJ_TIMELINE_WAIT, &mut args)
    };
    for (flags, point, answer) in [
        (0, 5, OK),
        (0, 4, OK),
        (0, 0, OK),
        (0, 6, EINVAL),
        (2, 6, ETIME),
        (4, 6, ETIME),
        (4, 5, OK),
        (6, 6, ETIME),
        (16, 5, EINVAL),
    ] {
        t.both(
            format!("timeline at 5, wait for {point} with {flags}"),
            answer,
            move |rig| timeline(rig, flags, point),
        );
    }
    for (name, request) in [
        ("reset", ioctl::SYNCOBJ_RESET),
        ("signal", ioctl::SYNCOBJ_SIGNAL),
    ] {
        let array = move |rig: &Rig, handles: &[u32], pad| {
            let mut args = abi::SyncobjArray {
                handles: user(handles),
                count_handles: handles.len() as u32,
                pad,
            };
            raw(rig.node(), request, &mut args)
        };
        t.both(name, OK, move |rig| array(rig, &[rig.sync().raw()], 0));
        t.both(format!("{name} with pad"), EINVAL, move |rig| {
            array(rig, &[rig.sync().raw()], 1)
        });
        t.both(format!("{name} nothing"), EINVAL, move |rig| {
            array(rig, &[], 0)
        });
        t.both(format!("{name} an unknown one"), ENOENT, move |rig| {
            array(rig, &[99], 0)
        });
    }
    for (name, request) in [
        ("query", ioctl::SYNCOBJ_QUERY),
        ("timeline signal", ioctl::SYNCOBJ_TIMELINE_SIGNAL),
    ] {
        let array = move |rig: &Rig, handles: &[u32], flags: u32| {
            let mut points = [1u64; 1];
            let mut args = abi::SyncobjTimelineArray {
                handles: user(handles),
                points: user_mut(&mut points),
                count_handles: handles.len() as u32,
                flags: abi::SyncobjQueryFlags::from_bits_retain(flags),
            };
            raw(rig.node(), request, &mut args)
        };
        let last = if request == ioctl::SYNCOBJ_QUERY {
            OK
        } else {
            EINVAL
        };
        t.both(name, OK, move |rig| array(rig, &[rig.sync().raw()], 0));
        t.both(format!("{name} with flag 1"), last, move |rig| {
            array(rig, &[rig.sync().raw()], 1)
        });
        t.both(format!("{name} with flag 2"), EINVAL, move |rig| {
            array(rig, &[rig.sync().raw()], 2)
        });
        t.both(format!("{name} of nothing"), EINVAL, move |rig| {
            array(rig, &[], 0)
        });
        t.both(format!("{name} of an unknown one"), ENOENT, move |rig| {
            array(rig, &[99], 0)
        });
    }
    let transfer = |rig: &Rig, change: fn(&mut abi::SyncobjTransfer)| {
        let (from, to) = (rig.kernel.syncobj_create(true).unwrap(), rig.sync());
        let mut args = abi::SyncobjTransfer {
            src_handle: from.raw(),
            dst_handle: to.raw(),
            ..Default::default()
        };
        change(&mut args);
        raw(rig.node(), ioctl::SYNCOBJ_TRANSFER, &mut args)
    };
    t.both("transfer", OK, move |rig| transfer(rig, |_| {}));
    t.both("transfer to a point", OK, move |rig| {
        transfer(rig, |args| args.dst_point = 3)
    });
    t.both("transfer from a missing point", EINVAL, move |rig| {
        transfer(rig, |args| args.src_point = 3)
    });
    t.both("transfer with pad", EINVAL, move |rig| {
        transfer(rig, |args| args.pad = 1)
    });
    t.both("transfer from an unknown one", ENOENT, move |rig| {
        transfer(rig, |args| args.src_handle = 99)
    });
    t.both("transfer to an unknown one", ENOENT, move |rig| {
        transfer(rig, |args| args.dst_handle = 99)
    });

    t.both("export", OK, move |rig| {
        rig.kernel.syncobj_export(rig.sync()).map(drop)
    });
    t.both("export an unknown one", EINVAL, move |rig| {
        rig.kernel
            .syncobj_export(agx_uapi::SyncHandle::from_raw(99))
            .map(drop)
    });
    t.both("sync file of nothing", EINVAL, move |rig| {
        rig.kernel.sync_file_export(rig.sync()).map(drop)
    });
    t.both("sync file of an unknown one", ENOENT, move |rig| {
        rig.kernel
            .sync_file_export(agx_uapi::SyncHandle::from_raw(99))
            .map(drop)
    });
    let to_fd = |rig: &Rig, flags, point, pad| {
        let mut args = abi::SyncobjHandle {
            handle: rig.kernel.syncobj_create(true).unwrap().raw(),
            flags,
            point,
            pad,
            ..Default::default()
        };
        raw(rig.node(), ioctl::SYNCOBJ_HANDLE_TO_FD, &mut args)
    };
    t.both("to fd with pad", EINVAL, move |rig| to_fd(rig, 0, 0, 1));
    t.both("to fd with flag 4", EINVAL, move |rig| to_fd(rig, 4, 0, 0));
    t.both("to fd with a point", EINVAL, move |rig| to_fd(rig, 2, 1, 0));
    t.both("to sync file of a missing point", EINVAL, move |rig| {
        to_fd(rig, 3, 1, 0)
    });
    let from_fd = |rig: &Rig, flags, fd, pad, handle| {
        let mut args = abi::SyncobjHandle {
            handle,
            flags,
            fd,
            pad,
            ..Default::default()
        };
        raw(rig.node(), ioctl::SYNCOBJ_FD_TO_HANDLE, &mut args)
    };
    t.both("from no fd", EINVAL, move |rig| from_fd(rig, 0, -1, 0, 0));
    t.both("from another file", EINVAL, move |rig| {
        from_fd(rig, 0, 0, 0, 0)
    });
    t.both("from fd with pad", EINVAL, move |rig| {
        from_fd(rig, 0, 0, 1, 0)
    });
    t.both("from fd with flag 4", EINVAL, move |rig| {
        from_fd(rig, 4, 0, 0, 0)
    });
    t.both("sync file from another file", EINVAL, move |rig| {
        from_fd(rig, 1, 0, 0, rig.sync().raw())
    });
    t.both("a syncobj is no sync file", EINVAL, move |rig| {
        use std::os::fd::AsFd;
        let file = rig.kernel.syncobj_export(rig.sync()).unwrap();
        rig.kernel.sync_file_import(rig.sync(), file.as_fd())
    });
    t.both("a sync file is no syncobj", EINVAL, move |rig| {
        use std::os::fd::AsFd;
        let sync = rig.kernel.syncobj_create(true).unwrap();
        let file = rig.kernel.sync_file_export(sync).unwrap();
        rig.kernel.syncobj_import(file.as_fd()).map(drop)
    });
    t.both("sync file into an unknown one", ENOENT, move |rig| {
        use std::os::fd::AsFd;
        let sync = rig.kernel.syncobj_create(true).unwrap();
        let file = rig.kernel.sync_file_export(sync).unwrap();
        rig.kernel
            .sync_file_import(agx_uapi::SyncHandle::from_raw(99), file.as_fd())
    });

    let prime = |rig: &Rig, flags: u32| {
        let flags = abi::PrimeFlags::from_bits_retain(flags);
        let mut args = abi::PrimeHandle {
            handle: rig.data.raw(),
            flags,
            fd: -1,
        };
        let answer = raw(rig.node(), ioctl::PRIME_HANDLE_TO_FD, &mut args);
        if answer.is_ok() {
            // SAFETY: a descriptor that was just made for us.
            drop(unsafe { <std::os::fd::OwnedFd as std::os::fd::FromRawFd>::from_raw_fd(args.fd) });
        }
        answer
    };
    t.both("prime export", OK, move |rig| prime(rig, 0));
    t.both("prime export, read and write", OK, move |rig| {
        prime(rig, 0o2_000_002)
    });
    t.both("prime export with other flags", EINVAL, move |rig| {
        prime(rig, 0o4)
    });
    t.both("prime export of an unknown buffer", ENOENT, move |rig| {
        rig.kernel
            .gem_export(agx_uapi::GemHandle::from_raw(99))
            .map(drop)
    });
    t.both("prime import of no file", EBADF, move |rig| {
        let mut args = abi::PrimeHandle {
            fd: -1,
            ..Default::default()
        };
        raw(rig.node(), ioctl::PRIME_FD_TO_HANDLE, &mut args)
    });
    t.both("prime import of another file", EINVAL, move |rig| {
        use std::os::fd::AsFd;
        let file = std::fs::File::open("/dev/null").unwrap();
        rig.kernel.gem_import(file.as_fd()).map(drop)
    });
    t.both("dma-buf request on another file", ENOTTY, move |rig| {
        use std::os::fd::AsFd;
        let file = std::fs::File::open("/dev/null").unwrap();
        rig.kernel
            .dma_buf_export_sync_file(file.as_fd(), abi::DmaBufAccess::READ)
            .map(drop)
    });
    for (bits, answer) in [
        (0, EINVAL),
        (1, OK),
        (2, OK),
        (3, OK),
        (4, EINVAL),
        (5, EINVAL),
    ] {
        let access = abi::DmaBufAccess::from_bits_retain(bits);
        t.both(format!("dma-buf export with {bits}"), answer, move |rig| {
            use std::os::fd::AsFd;
            let dma_buf = rig.kernel.gem_export(rig.data).unwrap();
            rig.kernel
                .dma_buf_export_sync_file(dma_buf.as_fd(), access)
                .map(drop)
        });
        t.both(format!("dma-buf import with {bits}"), answer, move |rig| {
            use std::os::fd::AsFd;
            let dma_buf = rig.kernel.gem_export(rig.data).unwrap();
            let sync = rig.kernel.syncobj_create(true).unwrap();
            let file = rig.kernel.sync_file_export(sync).unwrap();
            rig.kernel
                .dma_buf_import_sync_file(dma_buf.as_fd(), access, file.as_fd())
        });
    }
    t.both("capability of displays", EOPNOTSUPP, move |rig| {
        raw(rig.node(), 0xc010_640c, &mut [1u64, 0])
    });
    t.check();
}

#[test]
fn parameters_are_those_of_the_table() {
    for (chip, generation, variant, id, cores, mask) in [
        (Chip::M4, 16, 0x47, 0x8132, 10, 0x3ff),
        (Chip::A18Pro, 17, 0x50, 0x8140, 6, 0x3f),
    ] {
        let rig = Rig::new(chip);
        let params = rig.kernel.params().unwrap();
        let word = |offset: usize| {
            u64::from_le_bytes(params.as_bytes()[offset..offset + 8].try_into().unwrap())
        };
        let half = |offset: usize| {
            u32::from_le_bytes(params.as_bytes()[offset..offset + 4].try_into().unwrap())
        };
        assert_eq!(word(0), 0);
        assert_eq!([half(8), half(12), half(20)], [generation, variant, id]);
        assert_eq!([half(24), half(28), half(32)], [1, 1, cores]);
        assert_eq!(half(36), rig.device.config().hardware.max_frequency_khz);
        assert_eq!(word(40), mask);
        assert!(params.as_bytes()[48..552].iter().all(|byte| *byte == 0));
        assert_eq!(
            [word(552), word(560), word(568)],
            [0x4000, 0x3ff_ffff_8000, 0x2000_0000]
        );
        assert_eq!([half(576), half(580)], [64, 16]);
        assert_eq!(word(584), 1_000_000_000);
        if chip == Chip::M4 {
            assert_eq!(half(16), 0);
        }
    }
}

#[test]
fn parameters_are_copied_as_far_as_there_is_room() {
    let rig = Rig::new(Chip::M4);
    let whole = rig.kernel.params().unwrap();
    for size in [0usize, 1, 8, 591, 592, 593, 700] {
        let mut bytes = vec![0xa5u8; 700];
        let mut args = abi::GetParams {
            pointer: user_mut(&mut bytes),
            size: size as u64,
            ..Default::default()
        };
        raw(rig.node(), ioctl::GET_PARAMS, &mut args).unwrap();
        let copied = size.min(592);
        assert_eq!(bytes[..copied], whole.as_bytes()[..copied], "{size}");
        assert!(bytes[copied..].iter().all(|byte| *byte == 0xa5), "{size}");
        // The argument itself is input only.
        assert_eq!(args.size, size as u64);
    }
}

#[test]
fn ids_start_at_one_and_are_never_reused() {
    for chip in [Chip::M4, Chip::A18Pro] {
        let rig = Rig::new(chip);
        assert_eq!((rig.vm.raw(), rig.queue.raw()), (1, 1));
        let vm = empty_vm(&rig);
        assert_eq!(vm.raw(), 2);
        rig.kernel.vm_destroy(vm).unwrap();
        assert_eq!(empty_vm(&rig).raw(), 3);
        rig.kernel.queue_destroy(rig.queue).unwrap();
        let queue = rig
            .kernel
            .queue_create(rig.vm, agx_uapi::Priority::Low)
            .unwrap();
        assert_eq!(queue.raw(), 2);
        let bind = || rig.kernel.timestamp_bind(rig.data, 0..0x4000).unwrap();
        let first = bind();
        assert_eq!(first.raw(), 1);
        rig.kernel.timestamp_unbind(first).unwrap();
        assert_eq!(bind().raw(), 2);
        // Per file.
        let other = rig.device.kernel();
        assert_eq!(
            other
                .vm_create(0x10_e000_0000..0x11_0000_0000)
                .unwrap()
                .raw(),
            1
        );
    }
}

#[test]
fn drm_version_and_capabilities() {
    let rig = Rig::new(Chip::M4);
    let version = agx_uapi::Version::of(rig.node()).unwrap();
    assert_eq!(version.name, "asahi");
    assert_eq!(version.number, [0, 0, 0]);
    // A short buffer gets what fits, and the full length.
    let mut name = [0u8; 5];
    let mut args = abi::DrmVersion {
        name_len: 3,
        name: user_mut(&mut name),
        ..Default::default()
    };
    raw(rig.node(), ioctl::VERSION, &mut args).unwrap();
    assert_eq!((&name, args.name_len), (b"asa\0\0", 5));
    for (capability, value) in [(5u64, 3u64), (6, 1), (0x13, 1), (0x14, 1)] {
        let mut args = [capability, 99];
        raw(rig.node(), 0xc010_640c, &mut args).unwrap();
        assert_eq!(args[1], value);
    }
}

/// kernel-uapi, 14.1, byte for byte.
#[test]
fn the_compute_submit_of_the_reference() {
    let rig = Rig::new(Chip::M4);
    rig.kernel.timestamp_bind(rig.data, 0..0x4000).unwrap();
    let syncs: Vec<_> = (0..6).map(|_| rig.sync()).collect();
    rig.kernel
        .syncobj_timeline_signal(&[(syncs[4], 41)])
        .unwrap();
    let hex = |text: &str| -> Vec<u8> {
        text.split_whitespace()
            .map(|byte| u8::from_str_radix(byte, 16).unwrap())
            .collect()
    };
    let commands = hex(
        "01 00 40 00 00 00 00 00  00 00 00 00  00 00 00 00  00 00 00 00 20 00 00 00
         30 00 00 00 20 00 00 00  00 00 00 00 00 00 00 00   00 00 00 00 00 00 00 00
         00 00 00 00 00 00 00 00  01 00 00 00 00 00 00 00   01 00 00 00 08 00 00 00",
    );
    let records = hex("01 00 00 00 05 00 00 00  29 00 00 00 00 00 00 00
         01 00 00 00 06 00 00 00  2a 00 00 00 00 00 00 00");
    assert_eq!((commands.len(), records.len()), (72, 32));
    let mut args = hex("00 10 00 00 00 7f 00 00  00 20 00 00 00 7f 00 00
         00 00 00 00 01 00 00 00  01 00 00 00 01 00 00 00
         48 00 00 00 00 00 00 00");
    args[..8].copy_from_slice(&user(&records).to_le_bytes());
    args[8..16].copy_from_slice(&user(&commands).to_le_bytes());
    raw_bytes(rig.node(), ioctl::SUBMIT, &mut args).unwrap();
    let done = [SyncPoint::Timeline(syncs[5], 42)];
    rig.kernel
        .syncobj_timeline_wait(&done, agx_uapi::WaitFlags::ALL, patience())
        .unwrap();
    assert_eq!(
        rig.mock.events(),
        [Event::Start(0x20_0000_0000), Event::End(0x20_0000_0000)]
    );
}
