// SPDX-License-Identifier: MIT
//! The walk over compute streams: every record, every launch mode, and what must not be accepted.

mod machine;

use agx_hw::cdm::{Barrier, Geometry, Grid, IndirectAddress, Launch, Link, LocalSize, Record};
use agx_hw::launcher::Storage;
use agx_hw::root::Groups;
use agx_hw::window::LauncherAddress;
use agx_sim::fault::{Fault, FaultKind};
use agx_sim::gpu::{Gpu, GpuConfig};
use machine::{DATA, LAUNCHERS, Machine, Memory, STREAM, direct, gpu};

const FULL: Record = Record::Barrier(Barrier::FULL);

fn one() -> Grid {
    grid([1, 1, 1], [1, 1, 1])
}

fn grid(global: [u32; 3], local: [u32; 3]) -> Grid {
    Grid::new(global, LocalSize::new(local).unwrap()).unwrap()
}

/// A launcher of a shader that appends `tag` to the log at DATA: the count, then the tags.
fn logger(machine: &mut Machine, tag: u32) -> LauncherAddress {
    let entry = machine.shader(&format!(
        "mov_imm r1, #0
         mov_imm r20, #1
         device_load.i32 r2, u2:u3, r1, slot=1
         iadd r3, ^r2, r20, wait=1
         mov_imm r4, #{tag}
         device_store.i32 r4, u2:u3, r3
         device_store.i32 r3, u2:u3, r1
         stop"
    ));
    machine.launcher(entry, Groups::Direct([1; 3]), |_| {})
}

fn log(machine: &Machine) -> Vec<u32> {
    let count = machine.data.words(DATA, 1)[0];
    machine.data.words(DATA + 4, count as usize)
}

fn link(target: u64, with_return: bool) -> Record {
    Record::Link(Link {
        target,
        with_return,
    })
}

fn pack(records: &[Record]) -> Vec<u8> {
    let mut bytes = vec![0; 0x1000];
    let mut used = 0;
    for record in records {
        used += record.pack(&mut bytes[used..]).unwrap();
    }
    bytes.truncate(used);
    bytes
}

/// The reason of a stream fault at `va`.
#[track_caller]
fn refused(result: Result<(), Box<Fault>>, at: u64) -> String {
    let fault = result.unwrap_err();
    assert_eq!(fault.record, Some(at), "{fault}");
    match fault.kind {
        FaultKind::Stream { va, reason } => {
            assert_eq!(va, at, "{reason}");
            reason
        }
        other => panic!("{other}"),
    }
}

#[track_caller]
fn strict(result: Result<(), Box<Fault>>) -> String {
    match result.unwrap_err().kind {
        FaultKind::Strict(reason) => reason,
        other => panic!("{other}"),
    }
}

fn lenient() -> Gpu {
    Gpu::new(GpuConfig {
        threads: 1,
        ..GpuConfig::default()
    })
    .unwrap()
}

#[test]
fn records_execute_in_order_through_links() {
    let mut machine = Machine::new();
    let [a, b, c, d, e] = [11, 22, 33, 44, 55].map(|tag| logger(&mut machine, tag));
    let launch = |launcher| direct(launcher, one());
    // Two called segments, one inside the other, and one that the first leads to.
    let (inner, outer, last) = (STREAM + 0x2000, STREAM + 0x3000, STREAM + 0x4000);
    let called = [launch(c), FULL, Record::Return];
    machine.stream.write(inner, &pack(&called));
    let called = [launch(b), link(inner, true), launch(d), Record::Return];
    machine.stream.write(outer, &pack(&called));
    machine.stream.write(
        last,
        &pack(&[link(outer, true), launch(e), FULL, Record::Terminate]),
    );
    let first = pack(&[
        FULL,
        launch(a),
        link(outer, true),
        launch(e),
        link(last, false),
    ]);
    machine.stream.write(STREAM, &first);
    let end = STREAM + first.len() as u64;
    machine.run(&gpu(1), end).unwrap();
    assert_eq!(log(&machine), [11, 22, 33, 44, 55, 22, 33, 44, 55]);
}

#[test]
fn native_words_are_accepted() {
    // launch, 8.1, 8.2 and 8.5: what native code writes.
    let mut machine = Machine::new();
    let a = logger(&mut machine, 7);
    let mut words: Vec<u32> = pack(&[direct(a, one())])
        .chunks(4)
        .map(|word| u32::from_le_bytes(word.try_into().unwrap()))
        .collect();
    words[0] = 0x0008_0000;
    words[1] = 0x0100_0000;
    words.extend([0x6000_0160, 0x6001_0060, 0x4000_0000]);
    let end = machine.words(&words);
    machine.run(&gpu(1), end).unwrap();
    assert_eq!(log(&machine), [7]);
}

#[test]
fn indirect_arguments_are_read_when_the_record_executes() {
    let mut machine = Machine::new();
    let counts = DATA + 0x1000;
    // Writes the six words 5, 6, 1, 4, 2, 1 to `counts`: 5 x 6 x 1 workgroups or threads.
    let mut text = String::new();
    for (i, value) in [5, 6, 1, 4, 2, 1].into_iter().enumerate() {
        text += &format!(
            "mov_imm r0, #{value}\nmov_imm r1, #{}\ndevice_store.i32 r0, u2:u3, r1\n",
            0x400 + i
        );
    }
    let writer = machine.shader(&(text + "stop"));
    let writer = machine.launcher(writer, Groups::Direct([1; 3]), |_| {});
    // Counts threads by an atomic, at word 0.
    let counter = machine.shader(
        "mov_imm r0, #1
         mov_imm r1, #0
         device_atomic.add.void ^r0, u2:u3, ^r1
         stop",
    );
    let counter = machine.launcher(counter, Groups::Direct([1; 3]), |_| {});
    let arguments = IndirectAddress::new(counts).unwrap();
    let global = Geometry::IndirectGlobal {
        arguments,
        local: LocalSize::new([3, 1, 1]).unwrap(),
    };
    for (geometry, threads) in [
        (global, 5 * 6 * 3),
        (Geometry::IndirectLocal { arguments }, 5 * 6),
    ] {
        machine.data.write(DATA, &[0; 0x2000]);
        let indirect = Record::Launch(Launch::new(counter, geometry));
        let records = [indirect, FULL, direct(writer, one()), FULL, indirect, FULL];
        // Before the write all counts are zero: nothing in mode 1, no local size in mode 2.
        let result = machine.run_records(&gpu(2), &records);
        if geometry == global {
            result.unwrap();
        } else {
            assert!(refused(result, STREAM).contains("threads per workgroup"));
            machine.run_records(&gpu(2), &records[2..]).unwrap();
        }
        assert_eq!(machine.data.words(DATA, 1), [threads]);
        assert_eq!(machine.data.words(counts, 6), [5, 6, 1, 4, 2, 1]);
    }
}

#[test]
fn bad_indirect_arguments() {
    let mut machine = Machine::new();
    let a = logger(&mut machine, 1);
    let indirect = |geometry| [FULL, Record::Launch(Launch::new(a, geometry))];
    let at = |address| IndirectAddress::new(address).unwrap();
    let local = LocalSize::new([32, 1, 1]).unwrap();
    let modes = |arguments| {
        [
            Geometry::IndirectGlobal { arguments, local },
            Geometry::IndirectLocal { arguments },
        ]
    };
    let data_end = DATA + machine.data.bo.size();
    for geometry in modes(at(0x30_0000_0000))
        .into_iter()
        .chain(modes(at(data_end - 8)))
    {
        let reason = refused(
            machine.run_records(&gpu(1), &indirect(geometry)),
            STREAM + 4,
        );
        assert!(reason.contains("not readable"), "{reason}");
    }
    // More workgroups on an axis than ever ran; a workgroup too large; one of no threads.
    machine.data.write_words(DATA, &[1, 65536, 1]);
    let result = machine.run_records(&gpu(1), &indirect(modes(at(DATA))[0]));
    assert!(refused(result, STREAM + 4).contains("workgroups on an axis"));
    for words in [[1, 1, 1, 33, 32, 1], [1, 1, 1, 1, 0, 1], [0, 1, 1, 0, 1, 1]] {
        machine.data.write_words(DATA, &words);
        let result = machine.run_records(&gpu(1), &indirect(modes(at(DATA))[1]));
        let reason = refused(result, STREAM + 4);
        assert!(reason.contains("threads per workgroup"), "{reason}");
    }
}

#[test]
fn bad_records() {
    let mut machine = Machine::new();
    let launcher = logger(&mut machine, 1);
    let good: Vec<u32> = pack(&[direct(launcher, one())])
        .chunks(4)
        .map(|word| u32::from_le_bytes(word.try_into().unwrap()))
        .collect();
    let mut cases: Vec<(Vec<u32>, &str)> = vec![
        (vec![0xa000_0000], "type"),
        (vec![0xc000_0000], "type"),
        (vec![0xe000_0000], "type"),
        (vec![0x4000_0001], "terminate"),
        (vec![0x8000_0000], "return without a link"),
        (vec![0x2000_0020, 0x0000_0002], "target"),
        (vec![0x6800_0000], "barrier"),
    ];
    let mut changed = |word: usize, value: u32, reason| {
        let mut words = good.clone();
        words[word] = value;
        cases.push((words, reason));
    };
    changed(0, 0x1888_0000, "mode");
    changed(0, 0x0080_0000, "config");
    changed(1, 0, "constant");
    // Bit 30 of word 3 missing; an address that is no window address.
    changed(3, 1, "launcher");
    changed(3, 0x4000_0002, "launcher");
    changed(2, 0x0400_0000, "launcher");
    // Local sizes.
    changed(7, 0, "threads per workgroup");
    changed(7, 1025, "threads per workgroup");
    changed(8, u32::MAX, "threads per workgroup");
    // Groups.
    changed(4, 65536, "workgroups on an axis");
    changed(5, u32::MAX, "workgroups on an axis");
    // Nothing to do is no excuse.
    let mut words = good.clone();
    words[4] = 0;
    words[7] = 0;
    cases.push((words, "threads per workgroup"));
    let mut words = good.clone();
    words[4] = 0;
    words[5] = 65536;
    cases.push((words, "workgroups on an axis"));
    for (words, expected) in cases {
        let mut stream = vec![0x600f_ffff];
        stream.extend(&words);
        stream.push(0x4000_0000);
        let end = machine.words(&stream);
        let reason = refused(machine.run(&gpu(1), end), STREAM + 4);
        assert!(reason.contains(expected), "{words:x?}: {reason}");
        assert_eq!(log(&machine), []);
    }
}

#[test]
fn streams_that_are_not_there() {
    let mut machine = Machine::new();
    let a = logger(&mut machine, 1);
    // A launch cut by the end of memory, then nothing at all.
    let last = STREAM + machine.stream.bo.size();
    let bytes = pack(&[direct(a, one())]);
    machine.stream.write(last - 0x20, &bytes[..0x20]);
    let mut command = machine.command(last + 8);
    command.stream = last - 0x20;
    let cancel = std::sync::atomic::AtomicBool::new(false);
    let run = |command: &_| agx_sim::processor::Processor::compute(&gpu(1), command, &cancel);
    assert!(refused(run(&command), last - 0x20).contains("needs"));
    command.stream = 0x5_0000_0000;
    command.stream_end = 0x5_0000_0004;
    assert!(refused(run(&command), 0x5_0000_0000).contains("not readable"));
    // A link to nowhere, and one that reaches 2^40 - 4.
    for target in [0x6_0000_0000, (1 << 40) - 4] {
        let end = machine.records(&[link(target, false)]);
        let reason = refused(machine.run(&gpu(1), end - 4), target);
        assert!(reason.contains("not readable"), "{reason}");
    }
    // Addresses out of order or odd.
    for (base, end) in [
        (STREAM + 2, STREAM + 8),
        (STREAM, STREAM + 6),
        (STREAM, STREAM),
        (STREAM + 4, STREAM),
        (u64::MAX - 3, u64::MAX),
    ] {
        let mut command = machine.command(end);
        command.stream = base;
        assert!(refused(run(&command), base).contains("not in order"));
    }
    // A mapping that the GPU may not read.
    let mut hidden = machine.command(STREAM + 4);
    let regions = hidden.mappings.regions().iter().cloned().map(|mut region| {
        if region.start == STREAM {
            (region.read, region.write) = (false, true);
        }
        region
    });
    hidden.mappings = std::sync::Arc::new(agx_sim::memory::Mappings::new(regions.collect()));
    assert!(refused(run(&hidden), STREAM).contains("not readable"));
}

#[test]
fn the_end_of_a_stream() {
    let mut machine = Machine::new();
    let [a, b] = [1, 2].map(|tag| logger(&mut machine, tag));
    let launch = |launcher| direct(launcher, one());
    // `end` beyond the terminator, and in front of it: the walk obeys the terminator or stops.
    let end = machine.records(&[launch(a), Record::Terminate, launch(b)]);
    assert!(strict(machine.run(&gpu(1), end)).contains("its terminator ends at"));
    machine.data.write_words(DATA, &[0]);
    machine.run(&lenient(), end).unwrap();
    assert_eq!(log(&machine), [1]);
    let end = machine.records(&[launch(a), launch(b)]);
    for (gpu, end) in [
        (gpu(1), end - 4),
        (lenient(), end - 4),
        (lenient(), end - 0x2c),
    ] {
        let reason = refused(machine.run(&gpu, end), end);
        assert!(reason.contains("no terminator"), "{reason}");
    }
    // Behind a link the bound no longer holds, behind the return from it it does.
    let called = STREAM + 0x1000;
    machine
        .stream
        .write(called, &pack(&[launch(b), Record::Return]));
    let end = machine.records(&[link(called, true), launch(a)]);
    machine.data.write_words(DATA, &[0]);
    machine.run(&gpu(1), end).unwrap();
    assert_eq!(log(&machine), [2, 1]);
    let reason = refused(machine.run(&gpu(1), end - 4), end - 4);
    assert!(reason.contains("no terminator"), "{reason}");
}

#[test]
fn read_ahead() {
    let machine = Machine::new();
    let size = machine.stream.bo.size();
    for (room, good) in [(0x800, true), (0x7fc, false), (0, false)] {
        let at = STREAM + size - room - 4;
        machine.stream.write_words(at, &[0x4000_0000]);
        let mut command = machine.command(at + 4);
        command.stream = at;
        let cancel = std::sync::atomic::AtomicBool::new(false);
        let run = |gpu: &Gpu| agx_sim::processor::Processor::compute(gpu, &command, &cancel);
        run(&lenient()).unwrap();
        if good {
            run(&gpu(1)).unwrap();
        } else {
            assert!(strict(run(&gpu(1))).contains("reads ahead"));
        }
    }
}

#[test]
fn links_in_circles_end() {
    let machine = Machine::new();
    let limited = Gpu::new(GpuConfig {
        threads: 1,
        max_records: 1000,
        ..GpuConfig::default()
    })
    .unwrap();
    let end = machine.records(&[FULL, link(STREAM, false)]);
    let reason = refused(machine.run(&limited, end), STREAM);
    assert!(reason.contains("more than 1000 records"), "{reason}");
    let end = machine.records(&[FULL, link(STREAM, true)]);
    let reason = refused(machine.run(&limited, end), STREAM + 4);
    assert!(reason.contains("deeper than 32"), "{reason}");
    // The default limit ends too.
    let end = machine.records(&[FULL, link(STREAM, false)]);
    assert!(refused(machine.run(&lenient(), end), STREAM).contains("records"));
}

#[test]
fn thirty_two_links_nest() {
    let mut machine = Machine::new();
    let a = logger(&mut machine, 9);
    // Segment i calls segment i + 1; the last one launches.
    let segment = |i: u64| STREAM + 0x1000 + 0x100 * i;
    for i in 0..31 {
        machine.stream.write(
            segment(i),
            &pack(&[link(segment(i + 1), true), Record::Return]),
        );
    }
    machine
        .stream
        .write(segment(31), &pack(&[direct(a, one()), Record::Return]));
    machine
        .run_records(&gpu(1), &[link(segment(0), true)])
        .unwrap();
    assert_eq!(log(&machine), [9]);
}

#[test]
fn empty_launches_do_not_even_start() {
    // The launcher of an empty launch is not there at all.
    let machine = Machine::new();
    let mut words: Vec<u32> = vec![0x0088_0000, 0x0100_0040, 0x03ff_ffff, 0x4000_0001];
    words.extend([0, 5, 5, 32, 1, 1, 0x600f_ffff, 0x4000_0000]);
    let end = machine.words(&words);
    machine.run(&gpu(1), end).unwrap();
    words[4] = 1;
    let end = machine.words(&words);
    let fault = machine.run(&gpu(1), end).unwrap_err();
    assert!(fault.to_string().contains("no readable code"), "{fault}");
    assert_eq!(fault.record, Some(STREAM));
}

#[test]
fn faults_name_their_record() {
    let mut machine = Machine::new();
    let good = logger(&mut machine, 3);
    let bad = machine.launcher_text("stop");
    let fault = machine
        .run_records(&gpu(1), &[direct(good, one()), FULL, direct(bad, one())])
        .unwrap_err();
    assert_eq!(fault.record, Some(STREAM + 0x2c));
    assert_eq!(log(&machine), [3]);
    let place = fault.shader.as_ref().unwrap();
    assert_eq!((place.stage, place.pc), ("launch", LAUNCHERS + 0x800));
    assert!(
        fault.to_string().contains("without ALLOC, TARGET, FRAME"),
        "{fault}"
    );
}

#[test]
fn code_may_change_between_commands() {
    let mut machine = Machine::new();
    let gpu = gpu(1);
    let a = logger(&mut machine, 0x111);
    machine.run_records(&gpu, &[direct(a, one())]).unwrap();
    // The same launcher starts another shader, and that one's body is patched.
    let b = machine.text("stop");
    let entry = machine.entry(b);
    let end = machine.records(&[direct(a, one())]);
    let mut launcher = [0; 0x400];
    agx_hw::launcher::Launcher::new(LAUNCHERS + 0x400, 3, entry)
        .pack(a, &mut launcher)
        .unwrap();
    machine.launchers.write(LAUNCHERS, &launcher);
    machine.run(&gpu, end).unwrap();
    assert_eq!(log(&machine), [0x111]);
    machine.launcher(entry, Groups::Direct([1; 3]), |l| l.storage = Storage::None);
    let other = logger(&mut machine, 0x222);
    machine.run_records(&gpu, &[direct(other, one())]).unwrap();
    assert_eq!(log(&machine), [0x111, 0x222]);
}

#[test]
fn code_in_flight() {
    // Writable code, and code that the GPU overwrites.
    let mut machine = Machine::new();
    let a = logger(&mut machine, 1);
    machine.bodies.write = true;
    let result = machine.run_records(&gpu(1), &[direct(a, one())]);
    let reason = strict(result);
    assert!(
        reason.contains("0x10000800000 is mapped GPU-writable"),
        "{reason}"
    );
    machine
        .run_records(&lenient(), &[direct(a, one())])
        .unwrap();

    // The output buffer is the launchers' memory under another address, and the shader overwrites
    // the second word of its own launch program.
    let mut machine = Machine::new();
    machine.data = Memory {
        va: DATA,
        bo: machine.launchers.bo.clone(),
        write: true,
    };
    let text = "mov_imm r0, #0\nmov_imm r1, #1\ndevice_store.i32 r0, u2:u3, r1\nstop";
    let entry = machine.shader(text);
    let a = machine.launcher(entry, Groups::Direct([1; 3]), |_| {});
    machine
        .run_records(&lenient(), &[direct(a, one())])
        .unwrap();
    assert_eq!(machine.launchers.words(LAUNCHERS, 2)[1], 0);
    machine.launchers.write_words(LAUNCHERS + 4, &[0x0480_0010]);
    let reason = strict(machine.run_records(&gpu(1), &[direct(a, one())]));
    let expected = format!("code at {:#x} changed", LAUNCHERS + 4);
    assert!(reason.contains(&expected), "{reason}");
}

/// Cancels a command that has had its share.
struct Limit<'c>(
    &'c std::sync::atomic::AtomicBool,
    std::sync::atomic::AtomicU32,
);

impl agx_sim::gpu::ObserverFactory for Limit<'_> {
    type Observer = agx_sim::shader::NoObserver;

    fn begin(
        &self,
        _: &agx_sim::shader::Dispatch<'_>,
        _: &agx_sim::shader::Program,
    ) -> Self::Observer {
        agx_sim::shader::NoObserver
    }

    fn workgroup(&self, _: &mut Self::Observer, _: &agx_sim::shader::Workgroup<'_>) {
        use std::sync::atomic::Ordering;
        if self.1.fetch_add(1, Ordering::Relaxed) > 200 {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig {
        cases: 400,
        failure_persistence: None,
        ..proptest::prelude::ProptestConfig::default()
    })]

    /// Whatever bits flip in whatever a driver writes, the command ends, and without a panic.
    #[test]
    fn damaged_commands_end(
        flips in proptest::collection::vec((0usize..5, 0u64..0x60, 0u32..32), 1..6),
        strict in proptest::bool::ANY,
    ) {
        let mut machine = Machine::new();
        let a = logger(&mut machine, 1);
        let b = logger(&mut machine, 2);
        let called = STREAM + 0x1000;
        machine.stream.write(called, &pack(&[direct(b, one()), FULL, Record::Return]));
        let arguments = IndirectAddress::new(DATA + 0x100).unwrap();
        machine.data.write_words(DATA + 0x100, &[2, 1, 1, 1, 1, 1]);
        let indirect = Record::Launch(Launch::new(a, Geometry::IndirectLocal { arguments }));
        let end = machine.records(&[direct(a, one()), link(called, true), indirect, FULL]);
        for (place, word, bit) in flips {
            let (memory, base) = match place {
                0 => (&machine.stream, STREAM),
                1 => (&machine.launchers, LAUNCHERS),
                2 => (&machine.launchers, LAUNCHERS + 0x400),
                3 => (&machine.arena, machine::ARENA + 0x3c0),
                _ => (&machine.bodies, machine::BODIES),
            };
            let at = base + 4 * (word % 0x20);
            let old = memory.words(at, 1)[0];
            memory.write_words(at, &[old ^ 1 << bit]);
        }
        let gpu = Gpu::new(GpuConfig {
            threads: 2,
            watchdog: 10_000,
            max_records: 100,
            strict: strict.then_some(agx_sim::shader::strict::Options::COMPILER),
            ..GpuConfig::default()
        })
        .unwrap();
        let cancel = std::sync::atomic::AtomicBool::new(false);
        let limit = Limit(&cancel, Default::default());
        let checks = gpu.config().strict.map(agx_sim::gpu::Checks);
        if let Err(fault) = gpu.compute_observed(&machine.command(end), &cancel, &(checks, limit)) {
            proptest::prop_assert!(!fault.to_string().is_empty());
            proptest::prop_assert!(fault.record.is_some());
        }
    }
}
