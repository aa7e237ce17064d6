// SPDX-License-Identifier: MIT
//! Two rings and their barriers (kernel-uapi, 11.4). The seam to the GPU model has compute commands
//! only, so compute work stands in the render ring here.

use std::collections::HashSet;
use std::num::NonZeroU16;
use std::sync::Condvar;

use agx_uapi::command::Barrier;

use super::*;
use crate::fault::FaultKind;
use crate::memory::Mappings;

/// Commands that wait until they are let go.
#[derive(Default)]
struct Gates {
    state: Mutex<(HashSet<u64>, Vec<u64>)>,
    changed: Condvar,
}

impl Gates {
    fn open(&self, stream: u64) {
        self.state.lock().unwrap().0.insert(stream);
        self.changed.notify_all();
    }

    fn started(&self, stream: u64) -> bool {
        self.state.lock().unwrap().1.contains(&stream)
    }

    fn wait_for(&self, stream: u64) {
        let state = self.state.lock().unwrap();
        let minute = Duration::from_secs(60);
        let lacking = |state: &mut (HashSet<u64>, Vec<u64>)| !state.1.contains(&stream);
        let (state, _) = self
            .changed
            .wait_timeout_while(state, minute, lacking)
            .unwrap();
        let started = state.1.contains(&stream);
        drop(state);
        assert!(started, "{stream} never started");
    }
}

impl Processor for Gates {
    fn compute(&self, command: &ComputeCommand, _: &AtomicBool) -> Result<(), Box<Fault>> {
        let mut state = self.state.lock().unwrap();
        state.1.push(command.stream);
        self.changed.notify_all();
        let _state = self
            .changed
            .wait_while(state, |state| !state.0.contains(&command.stream))
            .unwrap();
        Ok(())
    }
}

const R: Subqueue = Subqueue::Render;
const C: Subqueue = Subqueue::Compute;
const NO: Barrier = Barrier::None;
const EARLIER: Barrier = Barrier::EarlierSubmits;

fn nth(n: u16) -> Barrier {
    Barrier::Command(NonZeroU16::new(n).unwrap())
}

fn command(subqueue: Subqueue, stream: u64, vdm: Barrier, cdm: Barrier) -> Command {
    let mappings = Arc::new(Mappings::default());
    Command {
        subqueue,
        barriers: Barriers { vdm, cdm },
        work: Work::Compute(ComputeCommand {
            stream,
            stream_end: stream,
            mappings,
        }),
        times: Times::default(),
    }
}

struct Rig {
    gates: Arc<Gates>,
    scheduler: Arc<Scheduler>,
    queue: QueueKey,
}

fn submit(
    scheduler: &Arc<Scheduler>,
    queue: QueueKey,
    inputs: &[Arc<Fence>],
    commands: Vec<Command>,
    fence: Arc<Fence>,
) {
    if let Some(job) = scheduler.accept(queue, 1, inputs.len(), commands, fence) {
        scheduler.release(queue, job, inputs);
    }
}

impl Rig {
    fn new() -> Rig {
        let gates = Arc::new(Gates::default());
        let scheduler = Scheduler::new(Chip::M4, gates.clone());
        let queue = scheduler.open_queue(Urgency::Medium);
        Rig {
            gates,
            scheduler,
            queue,
        }
    }

    fn submit(&self, inputs: &[Arc<Fence>], commands: Vec<Command>) -> Arc<Fence> {
        let fence = Fence::new();
        submit(&self.scheduler, self.queue, inputs, commands, fence.clone());
        fence
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        for stream in 0..1000 {
            self.gates.open(stream);
        }
        self.scheduler.stop();
    }
}

fn wait(fence: &Arc<Fence>) {
    assert_eq!(
        fence.wait(Deadline::after(Duration::from_secs(60))),
        Some(Ok(()))
    );
}

#[test]
fn rings_overlap_without_barriers() {
    let rig = Rig::new();
    let fence = rig.submit(&[], vec![command(R, 1, NO, NO), command(C, 2, NO, NO)]);
    rig.gates.wait_for(1);
    rig.gates.wait_for(2);
    rig.gates.open(2);
    assert!(
        !fence.is_signalled(),
        "a job ends with the last of its commands"
    );
    rig.gates.open(1);
    wait(&fence);
}

#[test]
fn a_ring_is_in_order() {
    let rig = Rig::new();
    let fences = [1, 2].map(|stream| rig.submit(&[], vec![command(R, stream, NO, NO)]));
    rig.gates.wait_for(1);
    rig.gates.open(2);
    assert!(!rig.gates.started(2));
    rig.gates.open(1);
    wait(&fences[1]);
    assert!(fences[0].is_signalled());
}

/// kernel-uapi, 11.2: two submits of one queue may complete in either order.
#[test]
fn jobs_on_different_rings_end_in_any_order() {
    let rig = Rig::new();
    let first = rig.submit(&[], vec![command(R, 1, NO, NO)]);
    let second = rig.submit(&[], vec![command(C, 2, NO, NO)]);
    rig.gates.open(2);
    wait(&second);
    assert!(!first.is_signalled());
    rig.gates.open(1);
    wait(&first);
}

#[test]
fn a_barrier_on_the_other_ring_waits_for_that_command() {
    let rig = Rig::new();
    let commands = vec![
        command(R, 1, NO, NO),
        command(R, 2, NO, NO),
        command(C, 3, nth(1), NO),
        command(C, 4, nth(2), NO),
    ];
    let fence = rig.submit(&[], commands);
    rig.gates.wait_for(1);
    assert!(!rig.gates.started(3));
    rig.gates.open(1);
    rig.gates.wait_for(2);
    rig.gates.wait_for(3);
    rig.gates.open(3);
    // Gives a wrong start the time to happen.
    std::thread::sleep(Duration::from_millis(5));
    assert!(!rig.gates.started(4));
    rig.gates.open(2);
    rig.gates.wait_for(4);
    rig.gates.open(4);
    wait(&fence);
}

#[test]
fn a_barrier_counts_from_its_own_submit() {
    let rig = Rig::new();
    for stream in [1, 2] {
        rig.gates.open(stream);
    }
    wait(&rig.submit(&[], vec![command(R, 1, NO, NO), command(R, 2, NO, NO)]));
    let fence = rig.submit(&[], vec![command(R, 3, NO, NO), command(C, 4, nth(1), NO)]);
    rig.gates.wait_for(3);
    // Gives a wrong start the time to happen.
    std::thread::sleep(Duration::from_millis(5));
    assert!(!rig.gates.started(4));
    rig.gates.open(4);
    rig.gates.open(3);
    wait(&fence);
}

#[test]
fn barrier_0_waits_for_earlier_submits_only() {
    let rig = Rig::new();
    rig.submit(&[], vec![command(R, 1, NO, NO)]);
    // The render of this submit is no earlier submit.
    let commands = vec![command(R, 2, NO, NO), command(C, 3, EARLIER, NO)];
    let fence = rig.submit(&[], commands);
    rig.gates.wait_for(1);
    assert!(!rig.gates.started(3));
    rig.gates.open(1);
    rig.gates.wait_for(2);
    rig.gates.wait_for(3);
    rig.gates.open(3);
    assert!(!fence.is_signalled());
    rig.gates.open(2);
    wait(&fence);
}

#[test]
fn barrier_0_with_nothing_earlier_does_not_wait() {
    let rig = Rig::new();
    let commands = vec![
        command(C, 1, EARLIER, EARLIER),
        command(R, 2, EARLIER, EARLIER),
    ];
    let fence = rig.submit(&[], commands);
    rig.gates.wait_for(1);
    rig.gates.wait_for(2);
    rig.gates.open(1);
    rig.gates.open(2);
    wait(&fence);
}

#[test]
fn a_barrier_blocks_what_stands_behind_it_in_its_ring() {
    let rig = Rig::new();
    let commands = vec![
        command(R, 1, NO, NO),
        command(C, 2, nth(1), NO),
        command(C, 3, NO, NO),
    ];
    let fence = rig.submit(&[], commands);
    rig.gates.wait_for(1);
    assert!(!rig.gates.started(2) && !rig.gates.started(3));
    for stream in [3, 2, 1] {
        rig.gates.open(stream);
    }
    wait(&fence);
    assert_eq!(rig.gates.state.lock().unwrap().1, [1, 2, 3]);
}

/// kernel-uapi, 11.8: publishing does not wait for completion, but for publishing.
#[test]
fn a_job_waits_for_the_inputs_of_the_job_before() {
    let rig = Rig::new();
    let input = Fence::new();
    let first = rig.submit(std::slice::from_ref(&input), vec![command(R, 1, NO, NO)]);
    let second = rig.submit(&[], vec![command(C, 2, NO, NO)]);
    rig.gates.open(2);
    assert!(!rig.gates.started(2));
    // An error of an input is no concern of the M4.
    input.signal(Err(Errno::EIO));
    wait(&second);
    assert!(!first.is_signalled());
    rig.gates.open(1);
    wait(&first);
}

#[test]
fn medium_goes_before_low() {
    let rig = Rig::new();
    // All workers are busy with queues of their own ...
    let mut fences = Vec::new();
    for stream in 0..MAX_WORKERS as u64 {
        let queue = rig.scheduler.open_queue(Urgency::Low);
        let fence = Fence::new();
        submit(
            &rig.scheduler,
            queue,
            &[],
            vec![command(C, stream, NO, NO)],
            fence.clone(),
        );
        rig.gates.wait_for(stream);
        fences.push(fence);
    }
    // ... so that these have to queue.
    for (stream, urgency) in [
        (100, Urgency::Low),
        (101, Urgency::Medium),
        (102, Urgency::Medium),
    ] {
        let queue = rig.scheduler.open_queue(urgency);
        let fence = Fence::new();
        rig.gates.open(stream);
        submit(
            &rig.scheduler,
            queue,
            &[],
            vec![command(C, stream, NO, NO)],
            fence.clone(),
        );
        fences.push(fence);
    }
    rig.gates.open(0);
    for fence in &fences[MAX_WORKERS..] {
        wait(fence);
    }
    let order = rig.gates.state.lock().unwrap().1[MAX_WORKERS..].to_vec();
    assert_eq!(order, [101, 102, 100]);
}

#[test]
fn closed_queues_refuse_and_are_forgotten() {
    let rig = Rig::new();
    let running = rig.submit(&[], vec![command(C, 1, NO, NO)]);
    rig.scheduler.close_queue(rig.queue);
    let late = rig.submit(&[], vec![command(C, 2, NO, NO)]);
    assert_eq!(late.outcome(), Some(Err(Errno::ECANCELED)));
    rig.gates.open(1);
    wait(&running);
    assert!(rig.scheduler.lock().queues.is_empty());
    assert!(rig.scheduler.lock().outstanding.is_empty());
}

#[test]
fn errors_reach_the_fences() {
    let rig = Rig::new();
    let published = rig.submit(&[], vec![command(C, 1, NO, NO)]);
    let input = Fence::new();
    let cancelled = rig.submit(std::slice::from_ref(&input), vec![command(C, 2, NO, NO)]);
    rig.scheduler.cancel_pending(&[rig.queue]);
    assert_eq!(cancelled.outcome(), Some(Err(Errno::ECANCELED)));
    assert_eq!(published.outcome(), None);
    let pending = rig.submit(std::slice::from_ref(&input), vec![command(C, 3, NO, NO)]);
    rig.scheduler.lose(Errno::ETIMEDOUT, None);
    for fence in [
        published,
        pending,
        rig.submit(&[], vec![command(C, 4, NO, NO)]),
    ] {
        assert_eq!(fence.outcome(), Some(Err(Errno::ETIMEDOUT)));
    }
    // Late inputs find nothing to start.
    input.signal(Ok(()));
    assert!(!rig.gates.started(3));
}

#[test]
fn the_a18_hands_on_the_error_of_an_input() {
    let gates = Arc::new(Gates::default());
    let scheduler = Scheduler::new(Chip::A18Pro, gates.clone());
    let queue = scheduler.open_queue(Urgency::Low);
    let submit = |inputs: &[Arc<Fence>], stream| {
        let fence = Fence::new();
        let commands = vec![command(C, stream, NO, NO)];
        submit(&scheduler, queue, inputs, commands, fence.clone());
        fence
    };
    let (good, bad) = (Fence::new(), Fence::new());
    let failing = submit(&[bad.clone(), good.clone()], 1);
    let behind = submit(&[], 2);
    bad.signal(Err(Errno::ENOMEM));
    assert_eq!(failing.outcome(), None, "not before all inputs are there");
    gates.open(2);
    good.signal(Ok(()));
    assert_eq!(failing.outcome(), Some(Err(Errno::ENOMEM)));
    wait(&behind);
    assert!(!gates.started(1));
    scheduler.stop();
}

/// When a file is closed, the cancellation of one job must not start another that is cancelled too.
#[test]
fn cancelled_jobs_do_not_start_each_other() {
    let rig = Rig::new();
    let input = Fence::new();
    let other = rig.scheduler.open_queue(Urgency::Low);
    let first = rig.submit(std::slice::from_ref(&input), vec![command(C, 1, NO, NO)]);
    let second = Fence::new();
    let inputs = [first.clone()];
    submit(
        &rig.scheduler,
        other,
        &inputs,
        vec![command(C, 2, NO, NO)],
        second.clone(),
    );
    rig.scheduler.cancel_pending(&[rig.queue, other]);
    for fence in [first, second] {
        assert_eq!(fence.outcome(), Some(Err(Errno::ECANCELED)));
    }
    input.signal(Ok(()));
    rig.gates.open(3);
    wait(&rig.submit(&[], vec![command(C, 3, NO, NO)]));
    assert_eq!(rig.gates.state.lock().unwrap().1, [3]);
}

/// kernel-uapi, 15: a stall is ETIMEDOUT, everything else EIO.
#[test]
fn the_kind_of_fault_makes_the_error() {
    struct Fails(FaultKind);
    impl Processor for Fails {
        fn compute(&self, _: &ComputeCommand, _: &AtomicBool) -> Result<(), Box<Fault>> {
            Err(Box::new(Fault::new(self.0.clone())))
        }
    }
    let strict = FaultKind::Strict("a wait is missing".into());
    for (kind, errno) in [
        (FaultKind::Watchdog { limit: 5 }, Errno::ETIMEDOUT),
        (strict, Errno::EIO),
    ] {
        let scheduler = Scheduler::new(Chip::M4, Arc::new(Fails(kind.clone())));
        let queue = scheduler.open_queue(Urgency::Low);
        let fence = Fence::new();
        submit(
            &scheduler,
            queue,
            &[],
            vec![command(C, 1, NO, NO)],
            fence.clone(),
        );
        assert_eq!(fence.wait(Deadline::NEVER), Some(Err(errno)));
        assert_eq!(scheduler.last_fault().unwrap().kind, kind);
        assert!(scheduler.is_lost());
        scheduler.stop();
    }
}
