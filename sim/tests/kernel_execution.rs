// SPDX-License-Identifier: MIT
//! What happens after acceptance: order, times, waits inside the kernel, destruction, device loss,
//! memory (kernel-uapi, 7.4, 7.5, 9, 10.2, 11.2, 11.4, 11.8, 15).

mod kernel_support;

use std::sync::Arc;
use std::time::{Duration, Instant};

use agx_sim::config::SimConfig;
use agx_sim::fault::FaultKind;
use agx_sim::kernel::SimDevice;
use agx_uapi::abi::{Timestamp, Timestamps, limits};
use agx_uapi::command::{Barriers, CommandBuffer};
use agx_uapi::{
    Access, Bind, Caching, Chip, Errno, Kernel, Priority, QueueId, Submit, SyncPoint, VmId,
    WaitFlags,
};
use kernel_support::*;

const CHIPS: [Chip; 2] = [Chip::M4, Chip::A18Pro];

fn queue(rig: &Rig) -> QueueId {
    rig.kernel.queue_create(rig.vm, Priority::Low).unwrap()
}

/// Starts of commands in the order in which they happened.
fn starts(rig: &Rig) -> Vec<u64> {
    let start = |event: &Event| match event {
        Event::Start(stream) => Some(*stream),
        Event::End(_) => None,
    };
    rig.mock.events().iter().filter_map(start).collect()
}

/// The error of a syncobj's fence, as far as anybody can see one: whether work of the A18 Pro that
/// waits for it runs.
fn failed(rig: &Rig, sync: agx_uapi::SyncHandle) -> bool {
    assert_eq!(rig.chip(), Chip::A18Pro);
    let done = rig.sync();
    rig.submit(
        queue(rig),
        &[SyncPoint::Binary(sync)],
        &[SyncPoint::Binary(done)],
        &[stream(4000)],
    );
    rig.wait(done);
    !rig.mock.happened(Event::Start(stream(4000)))
}

#[test]
fn submits_return_before_they_run() {
    for chip in CHIPS {
        let rig = Rig::new(chip);
        let sync = rig.sync();
        rig.mock.close(stream(0));
        rig.submit(rig.queue, &[], &[SyncPoint::Binary(sync)], &[stream(0)]);
        rig.mock.wait_for(Event::Start(stream(0)));
        assert!(!rig.is_signalled(sync));
        rig.mock.open(stream(0));
        rig.wait(sync);
        assert!(rig.mock.happened(Event::End(stream(0))));
    }
}

#[test]
fn compute_commands_of_a_queue_run_in_order() {
    let rig = Rig::new(Chip::M4);
    let (first, second) = (rig.sync(), rig.sync());
    rig.mock.close(stream(0));
    rig.submit(
        rig.queue,
        &[],
        &[SyncPoint::Binary(first)],
        &[stream(0), stream(1)],
    );
    rig.submit(rig.queue, &[], &[SyncPoint::Binary(second)], &[stream(2)]);
    rig.mock.wait_for(Event::Start(stream(0)));
    // Another queue runs meanwhile.
    let other = rig.sync();
    rig.submit(queue(&rig), &[], &[SyncPoint::Binary(other)], &[stream(9)]);
    rig.wait(other);
    assert_eq!(starts(&rig), [stream(0), stream(9)]);
    rig.mock.open(stream(0));
    rig.wait(second);
    assert!(rig.is_signalled(first));
    let order = [0, 9, 1, 2].map(stream);
    assert_eq!(starts(&rig), order);
    assert_eq!(
        rig.mock
            .most_running
            .load(std::sync::atomic::Ordering::SeqCst),
        2
    );
}

#[test]
fn queues_and_vms_run_side_by_side() {
    const QUEUES: u64 = 8;
    let rig = Rig::new(Chip::M4);
    let mut done = Vec::new();
    for n in 0..QUEUES {
        // Half of them on VMs of their own.
        let vm = if n % 2 == 0 { rig.vm } else { new_vm(&rig) };
        let queue = rig.kernel.queue_create(vm, Priority::Medium).unwrap();
        let sync = rig.sync();
        rig.mock.close(stream(n));
        rig.submit(queue, &[], &[SyncPoint::Binary(sync)], &[stream(n)]);
        done.push(sync);
    }
    for n in 0..QUEUES {
        rig.mock.wait_for(Event::Start(stream(n)));
    }
    for n in (0..QUEUES).rev() {
        rig.mock.open(stream(n));
        rig.wait(done[n as usize]);
    }
    assert_eq!(
        rig.mock
            .most_running
            .load(std::sync::atomic::Ordering::SeqCst),
        QUEUES as usize
    );
}

fn new_vm(rig: &Rig) -> VmId {
    let vm = rig.kernel.vm_create(limits::KERNEL_WINDOW).unwrap();
    bind_memory(&rig.kernel, vm);
    vm
}

/// More queues than can have work in flight: the rest waits, and nothing is lost (section 15).
#[test]
fn at_most_32_commands_run_at_once() {
    let rig = Rig::new(Chip::M4);
    let mut done = Vec::new();
    for n in 0..40 {
        rig.mock.close(stream(n));
        let sync = rig.sync();
        rig.submit(queue(&rig), &[], &[SyncPoint::Binary(sync)], &[stream(n)]);
        done.push(sync);
    }
    for n in 0..32 {
        rig.mock.wait_for(Event::Start(stream(n)));
    }
    for n in 0..40 {
        rig.mock.open(stream(n));
    }
    rig.kernel
        .syncobj_wait(&done, WaitFlags::ALL, patience())
        .unwrap();
    assert_eq!(
        rig.mock
            .most_running
            .load(std::sync::atomic::Ordering::SeqCst),
        32
    );
}

#[test]
fn inputs_hold_back_their_job_and_the_jobs_behind_it() {
    for chip in CHIPS {
        let rig = Rig::new(chip);
        let (gate, blocked, behind) = (rig.sync(), rig.sync(), rig.sync());
        rig.mock.close(stream(0));
        rig.submit(
            queue(&rig),
            &[],
            &[SyncPoint::Timeline(gate, 1)],
            &[stream(0)],
        );
        rig.mock.wait_for(Event::Start(stream(0)));
        let waits = [SyncPoint::Timeline(gate, 1)];
        rig.submit(
            rig.queue,
            &waits,
            &[SyncPoint::Binary(blocked)],
            &[stream(1)],
        );
        rig.submit(rig.queue, &[], &[SyncPoint::Binary(behind)], &[stream(2)]);
        // A job of another queue passes by.
        rig.run_on(queue(&rig), stream(3));
        assert_eq!(starts(&rig), [stream(0), stream(3)]);
        assert!(!rig.is_signalled(blocked) && !rig.is_signalled(behind));
        rig.mock.open(stream(0));
        rig.wait(behind);
        assert!(rig.is_signalled(blocked));
        assert_eq!(starts(&rig), [0, 3, 1, 2].map(stream));
    }
}

#[test]
fn an_input_may_be_an_output_too() {
    let rig = Rig::new(Chip::M4);
    let sync = rig.sync();
    rig.kernel.syncobj_signal(&[sync]).unwrap();
    for n in 0..100 {
        let point = [SyncPoint::Binary(sync)];
        rig.submit(
            if n % 2 == 0 { rig.queue } else { queue(&rig) },
            &point,
            &point,
            &[stream(n)],
        );
    }
    rig.wait(sync);
    assert_eq!(starts(&rig), (0..100).map(stream).collect::<Vec<_>>());
}

/// Each input, signalled last or first, must be waited for.
#[test]
fn all_inputs_count() {
    let rig = Rig::new(Chip::M4);
    let syncs: Vec<_> = (0..4).map(|_| rig.sync()).collect();
    for (n, sync) in syncs.iter().enumerate() {
        rig.mock.close(stream(n as u64));
        rig.submit(
            queue(&rig),
            &[],
            &[SyncPoint::Binary(*sync)],
            &[stream(n as u64)],
        );
    }
    let waits: Vec<_> = syncs.iter().map(|sync| SyncPoint::Binary(*sync)).collect();
    let done = rig.sync();
    rig.submit(rig.queue, &waits, &[SyncPoint::Binary(done)], &[stream(9)]);
    for n in [2, 0, 3, 1] {
        assert!(!rig.mock.happened(Event::Start(stream(9))));
        rig.mock.open(stream(n));
        rig.wait(syncs[n as usize]);
    }
    rig.wait(done);
}

#[test]
fn barriers_of_compute_commands() {
    let rig = Rig::new(Chip::M4);
    let mut commands = CommandBuffer::new();
    let first = commands
        .compute(Barriers::EARLIER_SUBMITS, &compute(stream(0)))
        .unwrap();
    commands
        .compute(Barriers::NONE.after(first), &compute(stream(1)))
        .unwrap();
    let all = commands.after_all();
    commands.compute(all, &compute(stream(2))).unwrap();
    for _ in 0..3 {
        let done = rig.sync();
        let signals = [SyncPoint::Binary(done)];
        let commands = commands.as_bytes();
        rig.kernel
            .submit(&Submit {
                queue: rig.queue,
                waits: &[],
                signals: &signals,
                commands,
            })
            .unwrap();
        rig.wait(done);
    }
    assert_eq!(starts(&rig), [0, 1, 2].map(stream).repeat(3));
}

#[test]
fn times_are_written_before_the_fence_and_in_order() {
    for chip in CHIPS {
        let rig = Rig::new(chip);
        let gem = rig
            .kernel
            .gem_create(0x8000, Caching::WriteBack, None)
            .unwrap();
        let mapping = rig.kernel.gem_map(gem, 0x8000).unwrap();
        let object = rig
            .kernel
            .timestamp_bind(gem, 0x4000..0x8000)
            .unwrap()
            .raw();
        let slot = |offset| Timestamp {
            handle: object,
            offset,
        };
        let mut commands = CommandBuffer::new();
        for (n, ts) in [
            Timestamps {
                start: slot(0),
                end: slot(8),
            },
            Timestamps {
                start: slot(16),
                ..Default::default()
            },
            Timestamps {
                end: slot(0x3ff8),
                ..Default::default()
            },
        ]
        .into_iter()
        .enumerate()
        {
            let command = agx_uapi::abi::CmdCompute {
                ts,
                ..compute(stream(n as u64))
            };
            commands.compute(Barriers::NONE, &command).unwrap();
        }
        let before = rig.kernel.time().unwrap();
        let done = rig.sync();
        let signals = [SyncPoint::Binary(done)];
        let commands = commands.as_bytes();
        rig.kernel
            .submit(&Submit {
                queue: rig.queue,
                waits: &[],
                signals: &signals,
                commands,
            })
            .unwrap();
        rig.wait(done);
        let after = rig.kernel.time().unwrap();
        let at = |offset: usize| load(&mapping, 0x4000 + offset);
        let times = [before, at(0), at(8), at(16), at(0x3ff8), after];
        assert!(times.is_sorted(), "{times:?}");
        assert!(times[1] > 0);
        // Nothing else is written.
        for offset in (0..0x8000).step_by(8) {
            let written = [0x4000, 0x4008, 0x4010, 0x7ff8].contains(&offset);
            assert_eq!(load(&mapping, offset) != 0, written, "{offset:#x}");
        }
    }
}

/// kernel-uapi, 9: the object stops resolving, what is accepted still writes; 6: the same clock.
#[test]
fn times_of_accepted_work_survive_their_object() {
    let rig = Rig::new(Chip::A18Pro);
    let gem = rig
        .kernel
        .gem_create(0x4000, Caching::WriteBack, None)
        .unwrap();
    let mapping = rig.kernel.gem_map(gem, 0x4000).unwrap();
    let object = rig.kernel.timestamp_bind(gem, 0..0x4000).unwrap();
    let ts = Timestamps {
        end: Timestamp {
            handle: object.raw(),
            offset: 8,
        },
        ..Default::default()
    };
    let mut commands = CommandBuffer::new();
    commands
        .compute(
            Barriers::NONE,
            &agx_uapi::abi::CmdCompute {
                ts,
                ..compute(stream(0))
            },
        )
        .unwrap();
    let done = rig.sync();
    rig.mock.close(stream(0));
    let signals = [SyncPoint::Binary(done)];
    let submit = Submit {
        queue: rig.queue,
        waits: &[],
        signals: &signals,
        commands: commands.as_bytes(),
    };
    rig.kernel.submit(&submit).unwrap();
    rig.kernel.timestamp_unbind(object).unwrap();
    rig.kernel.gem_close(gem).unwrap();
    assert_eq!(rig.kernel.submit(&submit), Err(Errno::ENOENT));
    rig.mock.open(stream(0));
    rig.wait(done);
    assert!(load(&mapping, 8) > 0);
}

#[test]
fn time_is_the_monotonic_clock() {
    let rig = Rig::new(Chip::M4);
    let host = || {
        let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
        now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
    };
    for _ in 0..100 {
        let times = [host(), rig.kernel.time().unwrap(), host()];
        assert!(times.is_sorted(), "{times:?}");
    }
}

// Waits inside the kernel.

const PART: Bind = Bind::Unbind {
    addr: DATA + 0x8_0000,
    size: PAGE,
};

#[test]
fn unbind_waits_for_the_vm_on_the_m4() {
    let rig = Rig::with(impatient(Chip::M4));
    let limit = rig.device.config().internal_wait;
    // Another VM's work does not matter.
    let other = new_vm(&rig);
    let queue = rig.kernel.queue_create(other, Priority::Low).unwrap();
    rig.mock.close(stream(1));
    rig.submit(queue, &[], &[], &[stream(1)]);
    rig.kernel.vm_bind(rig.vm, &[PART]).unwrap();
    let rebind = Bind::Object {
        addr: DATA + 0x8_0000,
        size: PAGE,
        gem: rig.data,
        offset: 0x8_0000,
        access: Access::ReadWrite,
    };
    rig.mock.close(stream(0));
    rig.submit(rig.queue, &[], &[], &[stream(0)]);
    // BIND never waits.
    rig.kernel.vm_bind(rig.vm, &[rebind]).unwrap();
    let start = Instant::now();
    assert_eq!(rig.kernel.vm_bind(rig.vm, &[PART]), Err(Errno::ETIMEDOUT));
    assert!(start.elapsed() >= limit);
    // Nothing was unmapped.
    assert_eq!(rig.kernel.vm_bind(rig.vm, &[rebind]), Err(Errno::EEXIST));
    rig.mock.open(stream(0));
    rig.kernel.vm_bind(rig.vm, &[PART]).unwrap();
    assert!(
        rig.mock.happened(Event::End(stream(0))),
        "it had to wait for that"
    );
    rig.kernel.vm_bind(rig.vm, &[rebind]).unwrap();
    rig.mock.open(stream(1));
}

#[test]
fn unbind_also_waits_for_jobs_that_wait() {
    let rig = Rig::with(impatient(Chip::M4));
    let other = new_vm(&rig);
    let queue = rig.kernel.queue_create(other, Priority::Low).unwrap();
    let gate = [SyncPoint::Binary(rig.sync())];
    rig.mock.close(stream(0));
    rig.submit(queue, &[], &gate, &[stream(0)]);
    rig.submit(rig.queue, &gate, &[], &[stream(1)]);
    assert_eq!(rig.kernel.vm_bind(rig.vm, &[PART]), Err(Errno::ETIMEDOUT));
    rig.mock.open(stream(0));
    rig.kernel.vm_bind(rig.vm, &[PART]).unwrap();
    assert!(rig.mock.happened(Event::End(stream(1))));
}

#[test]
fn unbind_under_work_is_busy_on_the_a18() {
    let rig = Rig::new(Chip::A18Pro);
    let done = rig.sync();
    rig.mock.close(stream(0));
    rig.submit(rig.queue, &[], &[SyncPoint::Binary(done)], &[stream(0)]);
    assert_eq!(rig.kernel.vm_bind(rig.vm, &[PART]), Err(Errno::EBUSY));
    rig.mock.open(stream(0));
    rig.wait(done);
    rig.kernel.vm_bind(rig.vm, &[PART]).unwrap();
}

/// kernel-uapi, 11.8 and 17 row 8: accepted work keeps what was mapped.
#[test]
fn accepted_work_keeps_its_mappings() {
    let rig = Rig::with(SimConfig {
        pin: false,
        ..config(Chip::A18Pro)
    });
    rig.mock.keep_mappings(true);
    let gem = rig
        .kernel
        .gem_create(PAGE, Caching::WriteBack, None)
        .unwrap();
    let addr = 0x40_0000_0000;
    let bind = Bind::Object {
        addr,
        size: PAGE,
        gem,
        offset: 0,
        access: Access::Read,
    };
    rig.kernel.vm_bind(rig.vm, &[bind]).unwrap();
    store(&rig.kernel.gem_map(gem, 0x4000).unwrap(), 0, 42);
    let done = rig.sync();
    rig.mock.close(stream(0));
    rig.submit(rig.queue, &[], &[SyncPoint::Binary(done)], &[stream(0)]);
    rig.mock.wait_for(Event::Start(stream(0)));
    // Closing the handle unmaps on this chip.
    rig.kernel.gem_close(gem).unwrap();
    rig.run_on(queue(&rig), stream(1));
    assert!(rig.mock.mappings(stream(1)).find(addr).is_none());
    let seen = rig.mock.mappings(stream(0));
    let mut word = [0; 8];
    assert!(seen.read(addr, &mut word));
    assert_eq!(u64::from_le_bytes(word), 42);
    rig.mock.open(stream(0));
    rig.wait(done);
}

#[test]
fn timestamp_objects_wait_for_the_device_on_the_m4() {
    for chip in CHIPS {
        let rig = Rig::with(impatient(chip));
        let object = rig.kernel.timestamp_bind(rig.data, 0..PAGE).unwrap();
        let vm = new_vm(&rig);
        let queue = rig.kernel.queue_create(vm, Priority::Low).unwrap();
        rig.mock.close(stream(0));
        rig.submit(queue, &[], &[], &[stream(0)]);
        let expected = if chip == Chip::M4 {
            Err(Errno::ETIMEDOUT)
        } else {
            Ok(())
        };
        assert_eq!(
            rig.kernel.timestamp_bind(rig.data, 0..PAGE).map(drop),
            expected
        );
        assert_eq!(rig.kernel.timestamp_unbind(object), expected);
        rig.mock.open(stream(0));
        if chip == Chip::M4 {
            rig.kernel.timestamp_unbind(object).unwrap();
        }
        assert_eq!(rig.kernel.timestamp_unbind(object), Err(Errno::ENOENT));
    }
}

// Destruction with work in flight.

#[test]
fn queue_destroy_cancels_and_waits_on_the_m4() {
    let rig = Rig::new(Chip::M4);
    let gate = [SyncPoint::Binary(rig.sync())];
    rig.mock.close(stream(8));
    rig.submit(queue(&rig), &[], &gate, &[stream(8)]);
    rig.mock.wait_for(Event::Start(stream(8)));
    let (running, ring, blocked, behind) = (rig.sync(), rig.sync(), rig.sync(), rig.sync());
    rig.mock.close(stream(0));
    rig.submit(rig.queue, &[], &[SyncPoint::Binary(running)], &[stream(0)]);
    rig.submit(rig.queue, &[], &[SyncPoint::Binary(ring)], &[stream(1)]);
    rig.submit(
        rig.queue,
        &gate,
        &[SyncPoint::Binary(blocked)],
        &[stream(2)],
    );
    rig.submit(rig.queue, &[], &[SyncPoint::Binary(behind)], &[stream(3)]);
    std::thread::scope(|scope| {
        let destroy = scope.spawn(|| rig.kernel.queue_destroy(rig.queue));
        // Cancelled at once, while the rest still runs.
        rig.wait(blocked);
        rig.wait(behind);
        assert!(!rig.is_signalled(running) && !rig.is_signalled(ring));
        rig.mock.open(stream(0));
        destroy.join().unwrap().unwrap();
    });
    assert!(rig.is_signalled(running) && rig.is_signalled(ring));
    assert_eq!(starts(&rig), [8, 0, 1].map(stream));
    rig.mock.open(stream(8));
    assert_eq!(rig.kernel.queue_destroy(rig.queue), Err(Errno::ENOENT));
}

#[test]
fn queue_destroy_gives_up_at_the_limit_on_the_m4() {
    let rig = Rig::with(impatient(Chip::M4));
    rig.mock.close(stream(0));
    let done = rig.sync();
    rig.submit(rig.queue, &[], &[SyncPoint::Binary(done)], &[stream(0)]);
    assert_eq!(rig.kernel.queue_destroy(rig.queue), Err(Errno::ETIMEDOUT));
    assert_eq!(
        rig.kernel.queue_destroy(rig.queue),
        Err(Errno::ENOENT),
        "the ID is gone"
    );
    rig.mock.open(stream(0));
    rig.wait(done);
}

#[test]
fn queue_destroy_lets_work_go_on_on_the_a18() {
    let rig = Rig::new(Chip::A18Pro);
    let gate = [SyncPoint::Binary(rig.sync())];
    rig.mock.close(stream(8));
    rig.submit(queue(&rig), &[], &gate, &[stream(8)]);
    let (running, blocked) = (rig.sync(), rig.sync());
    rig.mock.close(stream(0));
    rig.submit(rig.queue, &[], &[SyncPoint::Binary(running)], &[stream(0)]);
    rig.submit(
        rig.queue,
        &gate,
        &[SyncPoint::Binary(blocked)],
        &[stream(1)],
    );
    rig.kernel.queue_destroy(rig.queue).unwrap();
    assert!(!rig.is_signalled(running) && !rig.is_signalled(blocked));
    rig.mock.open(stream(0));
    rig.mock.open(stream(8));
    rig.wait(blocked);
    assert!(rig.is_signalled(running));
    assert_eq!(starts(&rig).len(), 3);
}

#[test]
fn a_destroyed_vm_lives_on_in_its_queues_on_the_m4() {
    let rig = Rig::with(SimConfig {
        pin: false,
        ..config(Chip::M4)
    });
    let (_, baseline) = rig.device.memory_in_use();
    let vm = new_vm(&rig);
    let queues = [0, 1].map(|_| rig.kernel.queue_create(vm, Priority::Low).unwrap());
    rig.kernel.vm_destroy(vm).unwrap();
    assert_eq!(rig.kernel.vm_destroy(vm), Err(Errno::ENOENT));
    assert_eq!(rig.kernel.vm_bind(vm, &[PART]), Err(Errno::ENOENT));
    assert_eq!(
        rig.kernel.queue_create(vm, Priority::Low),
        Err(Errno::ENOENT)
    );
    for queue in queues {
        rig.run_on(queue, stream(0));
    }
    // The handles go; the VM keeps the buffers until its last queue goes.
    for handle in 5..=8 {
        rig.kernel
            .gem_close(agx_uapi::GemHandle::from_raw(handle))
            .unwrap();
    }
    assert_eq!(rig.device.memory_in_use().1, baseline + 4);
    rig.kernel.queue_destroy(queues[0]).unwrap();
    rig.run_on(queues[1], stream(0));
    assert_eq!(rig.device.memory_in_use().1, baseline + 4);
    rig.kernel.queue_destroy(queues[1]).unwrap();
    assert_eq!(rig.device.memory_in_use().1, baseline);
}

#[test]
fn vm_destroy_with_mappings_waits_for_the_device_on_the_m4() {
    let rig = Rig::with(impatient(Chip::M4));
    let (mapped, empty) = (
        new_vm(&rig),
        rig.kernel.vm_create(limits::KERNEL_WINDOW).unwrap(),
    );
    rig.mock.close(stream(0));
    rig.submit(rig.queue, &[], &[], &[stream(0)]);
    assert_eq!(rig.kernel.vm_destroy(empty), Ok(()));
    assert_eq!(rig.kernel.vm_destroy(mapped), Err(Errno::ETIMEDOUT));
    rig.mock.open(stream(0));
    let mapped = new_vm(&rig);
    rig.kernel.vm_destroy(mapped).unwrap();
    assert!(rig.mock.happened(Event::End(stream(0))));
}

/// kernel-uapi, 10.2 with 7.4: with the last queue the VM is torn down, which waits for the device.
#[test]
fn the_last_queue_of_a_destroyed_vm_tears_it_down_on_the_m4() {
    let rig = Rig::with(impatient(Chip::M4));
    let mut hidden = Vec::new();
    for _ in 0..2 {
        let vm = new_vm(&rig);
        hidden.push([0, 1].map(|_| rig.kernel.queue_create(vm, Priority::Low).unwrap()));
        rig.kernel.vm_destroy(vm).unwrap();
    }
    rig.mock.close(stream(0));
    rig.submit(rig.queue, &[], &[], &[stream(0)]);
    let [first, last] = hidden[0];
    assert_eq!(rig.kernel.queue_destroy(first), Ok(()));
    assert_eq!(rig.kernel.queue_destroy(last), Err(Errno::ETIMEDOUT));
    rig.mock.open(stream(0));
    for queue in hidden[1] {
        rig.kernel.queue_destroy(queue).unwrap();
    }
    assert!(rig.mock.happened(Event::End(stream(0))));
}

#[test]
fn closing_the_file_cancels_and_waits() {
    for chip in CHIPS {
        let rig = Rig::new(chip);
        let keeper = rig.device.kernel();
        let shared = |sync| {
            let file = rig.kernel.syncobj_export(sync).unwrap();
            keeper
                .syncobj_import(std::os::fd::AsFd::as_fd(&file))
                .unwrap()
        };
        let (running, blocked) = (rig.sync(), rig.sync());
        let (keep_running, keep_blocked) = (shared(running), shared(blocked));
        // Its gate is another device's work.
        let other = Rig::new(chip);
        other.mock.close(stream(0));
        let gate = other.sync();
        other.submit(other.queue, &[], &[SyncPoint::Binary(gate)], &[stream(0)]);
        let file = other.kernel.sync_file_export(gate).unwrap();
        let imported = rig.sync();
        rig.kernel
            .sync_file_import(imported, std::os::fd::AsFd::as_fd(&file))
            .unwrap();
        rig.mock.close(stream(0));
        rig.submit(rig.queue, &[], &[SyncPoint::Binary(running)], &[stream(0)]);
        let waits = [SyncPoint::Binary(imported)];
        rig.submit(
            rig.queue,
            &waits,
            &[SyncPoint::Binary(blocked)],
            &[stream(1)],
        );
        if chip == Chip::A18Pro {
            // Without a handle, but not without a file.
            rig.kernel.queue_destroy(rig.queue).unwrap();
        }
        let Rig {
            mock,
            device,
            kernel,
            ..
        } = rig;
        std::thread::scope(|scope| {
            let close = scope.spawn(move || drop(kernel));
            keeper
                .syncobj_wait(&[keep_blocked], WaitFlags::ALL, patience())
                .unwrap();
            let now = agx_uapi::Deadline::NOW;
            let wait = keeper.syncobj_wait(&[keep_running], WaitFlags::ALL, now);
            assert_eq!(wait, Err(Errno::ETIME));
            mock.open(stream(0));
            close.join().unwrap();
        });
        let now = agx_uapi::Deadline::NOW;
        keeper
            .syncobj_wait(&[keep_running], WaitFlags::ALL, now)
            .unwrap();
        assert!(!mock.happened(Event::Start(stream(1))));
        assert_eq!(device.memory_in_use().1, 0, "all buffers are gone");
        other.mock.open(stream(0));
    }
}

/// ECANCELED is an error that the A18 Pro hands on to whoever waits (kernel-uapi, 11.2).
#[test]
fn failed_inputs_fail_their_job_on_the_a18_only() {
    for chip in CHIPS {
        let rig = Rig::new(chip);
        let file = rig.device.kernel();
        let vm = file.vm_create(limits::KERNEL_WINDOW).unwrap();
        bind_memory(&file, vm);
        let other = file.queue_create(vm, Priority::Low).unwrap();
        let gate = file.syncobj_create(false).unwrap();
        let commands = |n| computes(&[stream(n)]);
        rig.mock.close(stream(0));
        let blocker = file.queue_create(vm, Priority::Low).unwrap();
        let signals = [SyncPoint::Binary(gate)];
        let bytes = commands(0);
        file.submit(&Submit {
            queue: blocker,
            waits: &[],
            signals: &signals,
            commands: bytes.as_bytes(),
        })
        .unwrap();
        let cancelled = file.syncobj_create(false).unwrap();
        let bytes = commands(1);
        let outputs = [SyncPoint::Binary(cancelled)];
        file.submit(&Submit {
            queue: other,
            waits: &signals,
            signals: &outputs,
            commands: bytes.as_bytes(),
        })
        .unwrap();
        let shared = file.syncobj_export(cancelled).unwrap();
        let input = rig
            .kernel
            .syncobj_import(std::os::fd::AsFd::as_fd(&shared))
            .unwrap();
        let pending = rig.sync();
        let waits = [SyncPoint::Binary(input)];
        rig.submit(
            rig.queue,
            &waits,
            &[SyncPoint::Binary(pending)],
            &[stream(2)],
        );
        std::thread::scope(|scope| {
            let close = scope.spawn(move || drop(file));
            rig.wait(input);
            rig.mock.open(stream(0));
            close.join().unwrap();
        });
        rig.wait(pending);
        assert!(!rig.mock.happened(Event::Start(stream(1))));
        assert_eq!(rig.mock.happened(Event::Start(stream(2))), chip == Chip::M4);
        if chip == Chip::A18Pro {
            assert!(
                failed(&rig, pending),
                "the error goes on from output to input"
            );
        }
    }
}

// Device loss.

#[test]
fn a_fault_loses_the_device_for_good() {
    for chip in CHIPS {
        let rig = Rig::new(chip);
        let file = rig.device.kernel();
        rig.mock.close(stream(0));
        rig.mock.close(stream(1));
        let kind = FaultKind::IllegalInstruction("06 00".into());
        rig.mock.fail(stream(0), kind.clone());
        let syncs: Vec<_> = (0..5).map(|_| rig.sync()).collect();
        let point = |n: usize| [SyncPoint::Binary(syncs[n])];
        rig.submit(rig.queue, &[], &point(0), &[stream(0), stream(9)]);
        rig.submit(rig.queue, &[], &point(1), &[stream(8)]);
        rig.submit(queue(&rig), &[], &point(2), &[stream(1)]);
        rig.submit(queue(&rig), &point(2), &point(3), &[stream(7)]);
        rig.submit(
            rig.queue,
            &[],
            &[SyncPoint::Timeline(syncs[4], 6)],
            &[stream(6)],
        );
        rig.mock.wait_for(Event::Start(stream(0)));
        rig.mock.wait_for(Event::Start(stream(1)));
        assert!(!rig.device.is_lost() && rig.device.last_fault().is_none());
        rig.mock.open(stream(0));
        rig.kernel
            .syncobj_wait(&syncs, WaitFlags::ALL, patience())
            .unwrap();
        assert!(rig.device.is_lost());
        assert_eq!(rig.device.last_fault().unwrap().kind, kind);
        // The command that runs is told to stop; those that have not begun never do.
        rig.mock.wait_for(Event::End(stream(1)));
        for n in [9, 8, 7, 6] {
            assert!(!rig.mock.happened(Event::Start(stream(n))), "{n}");
        }
        // Sticky, for every file and every VM.
        let bytes = computes(&[stream(3)]);
        for _ in 0..3 {
            let submit = Submit {
                queue: rig.queue,
                waits: &[],
                signals: &[],
                commands: bytes.as_bytes(),
            };
            assert_eq!(rig.kernel.submit(&submit), Err(Errno::EIO));
            assert_eq!(rig.kernel.vm_bind(rig.vm, &[PART]), Err(Errno::EIO));
        }
        let vm = file.vm_create(limits::KERNEL_WINDOW).unwrap();
        assert_eq!(file.vm_bind(vm, &[PART]), Err(Errno::EIO));
        // What does not touch the GPU still works, and nothing hangs.
        rig.kernel
            .gem_create(PAGE, Caching::WriteBack, None)
            .unwrap();
        rig.kernel.queue_destroy(rig.queue).unwrap();
        assert_eq!(starts(&rig).len(), 2);
    }
}

#[test]
fn a_panic_of_the_gpu_model_is_a_loss_too() {
    struct Panics;
    impl agx_sim::processor::Processor for Panics {
        fn compute(
            &self,
            _: &agx_sim::processor::ComputeCommand,
            _: &std::sync::atomic::AtomicBool,
        ) -> Result<(), Box<agx_sim::fault::Fault>> {
            // Without the message of the default hook.
            std::panic::resume_unwind(Box::new("as the test wants it"))
        }
    }
    let device = SimDevice::new(config(Chip::M4), Arc::new(Panics));
    let kernel = device.kernel();
    let vm = kernel.vm_create(limits::KERNEL_WINDOW).unwrap();
    bind_memory(&kernel, vm);
    let queue = kernel.queue_create(vm, Priority::Low).unwrap();
    let sync = kernel.syncobj_create(false).unwrap();
    let bytes = computes(&[stream(0)]);
    let signals = [SyncPoint::Binary(sync)];
    let submit = Submit {
        queue,
        waits: &[],
        signals: &signals,
        commands: bytes.as_bytes(),
    };
    kernel.submit(&submit).unwrap();
    kernel
        .syncobj_wait(&[sync], WaitFlags::ALL, patience())
        .unwrap();
    assert_eq!(kernel.submit(&submit), Err(Errno::EIO));
}

// Memory.

#[test]
fn memory_runs_out_and_comes_back() {
    let rig = Rig::with(SimConfig {
        memory_limit: 8 * MIB,
        pin: false,
        ..config(Chip::M4)
    });
    let baseline = rig.device.memory_in_use();
    for _ in 0..3 {
        let mut gems = Vec::new();
        let error = loop {
            match rig.kernel.gem_create(MIB - 1, Caching::WriteBack, None) {
                Ok(gem) => gems.push(gem),
                Err(errno) => break errno,
            }
        };
        assert_eq!(error, Errno::ENOMEM);
        // Three times a megabyte and two pages are there already.
        assert_eq!(gems.len(), 4);
        assert_eq!(rig.device.memory_in_use().0, baseline.0 + 4 * MIB);
        // A refused buffer leaves no handle behind, and smaller ones still fit.
        let small = rig
            .kernel
            .gem_create(PAGE, Caching::WriteBack, None)
            .unwrap();
        assert_eq!(small.raw(), gems.last().unwrap().raw() + 1);
        for gem in gems.into_iter().chain([small]) {
            rig.kernel.gem_close(gem).unwrap();
        }
        assert_eq!(rig.device.memory_in_use(), baseline);
    }
}

#[test]
fn bound_buffers_stay_pinned_until_the_vm_goes() {
    for pin in [true, false] {
        let rig = Rig::with(SimConfig {
            pin,
            ..config(Chip::M4)
        });
        let (_, baseline) = rig.device.memory_in_use();
        let vm = rig.kernel.vm_create(limits::KERNEL_WINDOW).unwrap();
        let gem = rig
            .kernel
            .gem_create(PAGE, Caching::WriteBack, None)
            .unwrap();
        let (addr, size) = (DATA, PAGE);
        for _ in 0..2 {
            let bind = Bind::Object {
                addr,
                size,
                gem,
                offset: 0,
                access: Access::Read,
            };
            rig.kernel
                .vm_bind(vm, &[bind, Bind::Unbind { addr, size }])
                .unwrap();
        }
        rig.kernel.gem_close(gem).unwrap();
        assert_eq!(rig.device.memory_in_use().1, baseline + usize::from(pin));
        rig.kernel.vm_destroy(vm).unwrap();
        assert_eq!(rig.device.memory_in_use().1, baseline);
    }
}

/// What only the M4 driver does the A18 Pro's does not: a closed buffer is gone.
#[test]
fn closed_buffers_are_not_pinned_on_the_a18() {
    let rig = Rig::new(Chip::A18Pro);
    let baseline = rig.device.memory_in_use();
    let gem = rig
        .kernel
        .gem_create(PAGE, Caching::WriteBack, None)
        .unwrap();
    let bind = Bind::Object {
        addr: 0x40_0000_0000,
        size: PAGE,
        gem,
        offset: 0,
        access: Access::Read,
    };
    rig.kernel.vm_bind(rig.vm, &[bind]).unwrap();
    rig.run(stream(0));
    rig.kernel.gem_close(gem).unwrap();
    // The last snapshot goes with the next.
    rig.run(stream(1));
    assert_eq!(rig.device.memory_in_use(), baseline);
}

#[test]
fn dropping_everything_frees_everything() {
    for chip in CHIPS {
        let rig = Rig::new(chip);
        for n in 0..20 {
            rig.run_on(queue(&rig), stream(n));
        }
        rig.kernel.timestamp_bind(rig.data, 0..PAGE).unwrap();
        let private = rig
            .kernel
            .gem_create(PAGE, Caching::WriteBack, Some(rig.vm))
            .unwrap();
        let mapping = rig.kernel.gem_map(private, 0x4000).unwrap();
        let Rig {
            mock,
            device,
            kernel,
            ..
        } = rig;
        assert!(device.memory_in_use().1 > 0);
        drop(kernel);
        assert_eq!(device.memory_in_use(), (0, 0));
        // A mapping outlives all of it.
        store(&mapping, 0, 1);
        assert_eq!(Arc::strong_count(&device), 1);
        drop(device);
        // Workers and what they hold of the processor are gone.
        assert_eq!(Arc::strong_count(&mock), 1);
    }
}

#[test]
fn dropping_a_device_with_stuck_work_stops_it() {
    let rig = Rig::with(impatient(Chip::M4));
    rig.mock.close(stream(0));
    rig.submit(rig.queue, &[], &[], &[stream(0), stream(1)]);
    rig.mock.wait_for(Event::Start(stream(0)));
    let start = Instant::now();
    let Rig {
        mock,
        device,
        kernel,
        ..
    } = rig;
    drop(kernel);
    assert!(
        start.elapsed() >= Duration::from_millis(30),
        "it waited for the work"
    );
    drop(device);
    assert!(mock.happened(Event::End(stream(0))));
    assert_eq!(Arc::strong_count(&mock), 1);
}

/// A process has few descriptors, and an application many buffers. Those that cannot be exported
/// need none; the CPU's mappings are of the same pages all the same.
#[test]
fn private_buffers_need_no_descriptors() {
    let count = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    let rig = Rig::new(Chip::M4);
    rig.mock.keep_mappings(true);
    let before = count();
    let create = || {
        rig.kernel
            .gem_create(3 * PAGE, Caching::WriteBack, Some(rig.vm))
            .unwrap()
    };
    let gems: Vec<_> = (0..1000).map(|_| create()).collect();
    let descriptors = count();
    assert!(descriptors < before + 500, "{descriptors}, {before} before");
    let gem = gems[700];
    let addr = 0x40_0000_0000;
    let bind = Bind::Object {
        addr,
        size: 3 * PAGE,
        gem,
        offset: 0,
        access: Access::Read,
    };
    rig.kernel.vm_bind(rig.vm, &[bind]).unwrap();
    let whole = rig.kernel.gem_map(gem, 3 * PAGE as usize).unwrap();
    let part = rig.kernel.gem_map(gem, PAGE as usize + 8).unwrap();
    assert_ne!(whole.as_ptr(), part.as_ptr());
    assert_eq!(
        rig.kernel.gem_map(gem, 3 * PAGE as usize + 1).err(),
        Some(Errno::EINVAL)
    );
    assert_eq!(rig.kernel.gem_map(gem, 0).err(), Some(Errno::EINVAL));
    store(&whole, 2 * PAGE as usize + 16, 99);
    store(&part, PAGE as usize, 77);
    rig.run(stream(0));
    for (offset, value) in [(2 * PAGE + 16, 99), (PAGE, 77)] {
        let mut word = [0; 8];
        assert!(rig.mock.mappings(stream(0)).read(addr + offset, &mut word));
        assert_eq!(u64::from_le_bytes(word), value);
    }
    assert_eq!(load(&whole, PAGE as usize), 77);
    // They last longer than the buffer, and each other.
    drop(part);
    drop(rig);
    assert_eq!(load(&whole, 2 * PAGE as usize + 16), 99);
}

/// Who can see the fence of a submit can see the submit.
#[test]
fn unbind_waits_for_all_work_whose_fences_are_out() {
    let rig = Rig::with(impatient(Chip::M4));
    let others: Vec<_> = (0..4000).map(|_| SyncPoint::Binary(rig.sync())).collect();
    let timeline = rig.sync();
    rig.mock.close(stream(0));
    let stuck = queue(&rig);
    let unbind = Bind::Unbind {
        addr: READ_ONLY,
        size: PAGE,
    };
    for point in 1..=10 {
        let mut signals = vec![SyncPoint::Timeline(timeline, point)];
        signals.extend(&others);
        let unbound = std::thread::scope(|scope| {
            let unbound = scope.spawn(|| {
                while rig.kernel.syncobj_query(&[timeline], true).unwrap() != [point] {
                    std::hint::spin_loop();
                }
                rig.kernel.vm_bind(rig.vm, &[unbind])
            });
            rig.submit(stuck, &[], &signals, &[stream(0)]);
            unbound.join().unwrap()
        });
        assert_eq!(unbound, Err(Errno::ETIMEDOUT), "{point}");
        rig.mock.open(stream(0));
        rig.wait(match signals[1] {
            SyncPoint::Binary(sync) => sync,
            SyncPoint::Timeline(..) => unreachable!(),
        });
        rig.mock.close(stream(0));
    }
    rig.mock.open(stream(0));
}
