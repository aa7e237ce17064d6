// SPDX-License-Identifier: MIT
//! Grids, workgroups and SIMD groups; launch programs; what must end in a fault.

mod machine;

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use agx_hw::cdm::{Grid, LocalSize, Record};
use agx_hw::launcher::{Frame, Samples, Storage};
use agx_hw::root::Groups;
use agx_hw::window::EntryOffset;
use agx_isa::asm::assemble;
use agx_sim::fault::{Fault, FaultKind};
use agx_sim::gpu::{Checks, Gpu, GpuConfig, ObserverFactory, Profiles, Traces};
use agx_sim::shader::cache::ProgramCache;
use agx_sim::shader::strict::Options;
use agx_sim::shader::trace::Filter;
use agx_sim::shader::{Dispatch, Observer, Program, Stage, Wave, Workgroup};
use machine::{ARENA, BODIES, DATA, Machine, direct, gpu, hex};

fn grid(global: [u32; 3], local: [u32; 3]) -> Grid {
    Grid::new(global, LocalSize::new(local).unwrap()).unwrap()
}

#[track_caller]
fn strict(result: Result<(), Box<Fault>>) -> Box<Fault> {
    let fault = result.unwrap_err();
    assert!(matches!(fault.kind, FaultKind::Strict(_)), "{fault}");
    fault
}

#[track_caller]
fn illegal(result: Result<(), Box<Fault>>) -> Box<Fault> {
    let fault = result.unwrap_err();
    assert!(
        matches!(fault.kind, FaultKind::IllegalInstruction(_)),
        "{fault}"
    );
    fault
}

/// Every invocation adds 1 to its own word and writes what it knows of itself behind it, in records
/// of eight words by its position in the grid.
fn census(machine: &mut Machine, gpu: &Gpu, global: [u32; 3], local: [u32; 3]) {
    let [gx, gy, gz] = global;
    let text = format!(
        "mov_imm r20, #1
         get_sr r0, %global_id_x
         get_sr r1, %global_id_y
         get_sr r2, %global_id_z
         mov_imm r3, #{gy}
         imad r4, r2, r3, r1
         mov_imm r3, #{gx}
         imad r4, r4, r3, r0
         mov_imm r5, #8
         mov_imm r6, #0
         imad r7, r4, r5, r6
         mov_imm r8, #1
         iadd r9, r7, #0
         device_atomic.add.void ^r8, u2:u3, ^r9
         get_sr16 r10.l, %local_index
         zext16 r10
         get_sr16 r11.l, %subgroup_index
         zext16 r11
         get_sr16 r12.l, %lane
         zext16 r12
         get_sr r13, %workgroup_id_x
         get_sr r14, %workgroup_id_y
         get_sr r15, %workgroup_id_z
         get_sr16 r16.l, %local_id_y
         zext16 r16
         iadd r7, r7, r20
         device_store.i32 r10, u2:u3, r7
         iadd r7, r7, r20
         device_store.i32 r11, u2:u3, r7
         iadd r7, r7, r20
         device_store.i32 r12, u2:u3, r7
         iadd r7, r7, r20
         device_store.i32 r13, u2:u3, r7
         iadd r7, r7, r20
         device_store.i32 r14, u2:u3, r7
         iadd r7, r7, r20
         device_store.i32 r15, u2:u3, r7
         iadd r7, r7, r20
         device_store.i32 r16, u2:u3, r7
         stop"
    );
    let bytes = machine.data.bo.size() as usize;
    machine.data.write(DATA, &vec![0; bytes]);
    machine
        .dispatch(gpu, &text, global, local)
        .unwrap_or_else(|fault| panic!("{global:?} {local:?}: {fault}"));
    let count = (gx * gy * gz) as usize;
    let words = machine.data.words(DATA, 8 * count + 8);
    let mut at = 0;
    for z in 0..gz {
        for y in 0..gy {
            for x in 0..gx {
                let position = [x, y, z];
                let id: [u32; 3] = std::array::from_fn(|i| position[i] / local[i]);
                let inside: [u32; 3] = std::array::from_fn(|i| position[i] % local[i]);
                let linear = (inside[2] * local[1] + inside[1]) * local[0] + inside[0];
                let expected = [
                    1,
                    linear,
                    linear / 32,
                    linear % 32,
                    id[0],
                    id[1],
                    id[2],
                    inside[1],
                ];
                assert_eq!(
                    words[at..at + 8],
                    expected,
                    "{position:?} of {global:?} {local:?}"
                );
                at += 8;
            }
        }
    }
    assert_eq!(words[at..], [0; 8]);
}

#[test]
fn every_invocation_runs_once_and_knows_where_it_is() {
    let mut machine = Machine::new();
    for threads in [1, 3] {
        let gpu = gpu(threads);
        // The grids of launch, 8.4 (HW), then shapes with partial workgroups on every axis.
        census(&mut machine, &gpu, [100, 1, 1], [32, 1, 1]);
        census(&mut machine, &gpu, [3, 5, 7], [3, 5, 7]);
        census(&mut machine, &gpu, [3, 5, 7], [1, 1, 1]);
        census(&mut machine, &gpu, [3, 5, 7], [2, 2, 2]);
        census(&mut machine, &gpu, [3, 5, 7], [4, 4, 4]);
        census(&mut machine, &gpu, [17, 9, 3], [5, 4, 2]);
        census(&mut machine, &gpu, [1, 1, 1], [32, 32, 1]);
        census(&mut machine, &gpu, [1, 33, 2], [1, 32, 2]);
        census(&mut machine, &gpu, [40, 40, 1], [1024, 1, 1]);
        census(&mut machine, &gpu, [33, 1, 1], [33, 1, 1]);
    }
}

#[test]
fn a_million_threads_on_one_axis() {
    // launch, 8.4 (HW): x = 0x123456 without truncation.
    let count = 0x12_3456;
    let mut machine = Machine::with_data(0x50_0000);
    let text = "get_sr r0, %global_id_x
         get_sr r1, %global_id_x
         device_store.i32 r0, u2:u3, ^r1
         stop";
    machine
        .dispatch(&lenient(2), text, [count, 1, 1], [32, 1, 1])
        .unwrap();
    let words = machine.data.words(DATA, count as usize + 1);
    assert!(
        words[..count as usize]
            .iter()
            .zip(0..)
            .all(|(word, i)| *word == i)
    );
    assert_eq!(words[count as usize], 0);
}

fn lenient(threads: usize) -> Gpu {
    Gpu::new(GpuConfig {
        threads,
        watchdog: 1 << 20,
        ..GpuConfig::default()
    })
    .unwrap()
}

/// Sum over a workgroup of (global id)^2 + 1, through threadgroup memory, to word (workgroup id x).
fn reduction(threads: u32) -> String {
    let mut text = "get_sr16 r5.l, %local_index
         zext16 r5
         get_sr r0, %global_id_x
         mov_imm r1, #1
         imad r2, r0, r0, r1
         iadd r3, r5, #0
         threadgroup_store ^r2, u4:u5, ^r3.l
         barrier.threadgroup\n"
        .to_owned();
    let mut stride = threads / 2;
    while stride > 0 {
        text += &format!(
            "mov_imm r6, #{stride}
             pcmp.ult P0, r5, r6
             push.if P0
             iadd r7, r5, r6
             threadgroup_load r8, u4:u5, r7.l
             threadgroup_load r9, u4:u5, r5.l
             iadd r10, r8, r9, wait=6
             iadd r11, r5, #0
             threadgroup_store ^r10, u4:u5, ^r11.l
             else
             pop.if
             barrier.threadgroup\n"
        );
        stride /= 2;
    }
    text + "mov_imm r6, #1
         pcmp.ult P0, r5, r6
         push.if P0
         mov_imm r7, #0
         threadgroup_load r8, u4:u5, r7.l
         iadd r9, r8, #0, wait=6
         get_sr r10, %workgroup_id_x
         device_store.i32 r9, u2:u3, r10
         else
         pop.if
         stop"
}

#[test]
fn thirty_two_simd_groups_share_threadgroup_memory() {
    for (threads, local) in [(1, 1024), (2, 1024), (2, 64)] {
        let mut machine = Machine::new();
        let groups = 40;
        machine
            .dispatch_with(
                &gpu(threads),
                &reduction(local),
                [groups * local, 1, 1],
                [local, 1, 1],
                4 * local,
            )
            .unwrap_or_else(|fault| panic!("{fault}"));
        let expected: Vec<u32> = (0..groups)
            .map(|group| {
                (group * local..(group + 1) * local)
                    .map(|i| i.wrapping_mul(i).wrapping_add(1))
                    .fold(0, u32::wrapping_add)
            })
            .collect();
        assert_eq!(machine.data.words(DATA, groups as usize), expected);
    }
}

#[test]
fn threadgroup_memory_is_fresh() {
    // Each workgroup reports what it finds, then leaves something behind.
    let text = "get_sr16 r5.l, %local_index
         zext16 r5
         threadgroup_load r8, u4:u5, r5.l
         iadd r9, r8, #0, wait=6
         get_sr r0, %global_id_x
         device_store.i32 r9, u2:u3, r0
         mov_imm r1, #77
         iadd r2, r5, #0
         threadgroup_store ^r1, u4:u5, ^r2.l
         stop";
    let mut machine = Machine::new();
    machine.data.write(DATA, &[0xff; 0x8000]);
    machine
        .dispatch_with(&lenient(1), text, [6400, 1, 1], [64, 1, 1], 256)
        .unwrap();
    assert_eq!(machine.data.words(DATA, 6400), vec![0; 6400]);
}

#[test]
fn ended_simd_groups_do_not_hold_up_a_barrier() {
    // SIMD group 0 ends early: the others' barrier goes on without it, but strict mode minds.
    let text = "get_sr16 r5.l, %subgroup_index
         zext16 r5
         mov_imm r6, #0
         pcmp.ult P0, r6, r5
         push.if P0
         br_any live
         pop.if
         stop
         live:
         pop.if
         barrier.threadgroup
         get_sr r0, %global_id_x
         mov_imm r1, #1
         device_store.i32 r1, u2:u3, r0
         stop";
    let mut machine = Machine::new();
    machine
        .dispatch(&lenient(1), text, [96, 1, 1], [96, 1, 1])
        .unwrap();
    let words = machine.data.words(DATA, 96);
    assert_eq!(words[..32], [0; 32]);
    assert_eq!(words[32..], [1; 64]);
    let fault = strict(machine.dispatch(&gpu(1), text, [96, 1, 1], [96, 1, 1]));
    assert!(fault.to_string().contains("SIMD group 0 ended"), "{fault}");
    let place = fault.shader.unwrap();
    assert_eq!((place.simd_group, place.workgroup), (1, [0; 3]));
    assert!(
        place.instruction.contains("barrier"),
        "{}",
        place.instruction
    );
}

#[test]
fn barriers_in_divergent_code() {
    let divergent = "get_sr16 r5.l, %lane
         zext16 r5
         mov_imm r6, #7
         pcmp.ult P0, r5, r6
         push.if P0
         barrier.threadgroup
         else
         pop.if
         stop";
    let mut machine = Machine::new();
    machine
        .dispatch(&lenient(1), divergent, [64, 1, 1], [64, 1, 1])
        .unwrap();
    let fault = strict(machine.dispatch(&gpu(1), divergent, [64, 1, 1], [64, 1, 1]));
    assert!(
        fault.to_string().contains("divergent control flow"),
        "{fault}"
    );
    assert!(
        fault.to_string().contains("lanes 0xffffff80 are missing"),
        "{fault}"
    );
    // Not all lanes of the last SIMD group exist; that is not divergence.
    let partial = "barrier.threadgroup\nstop";
    machine
        .dispatch(&gpu(1), partial, [40, 1, 1], [64, 1, 1])
        .unwrap();
    machine
        .dispatch(&gpu(1), partial, [20, 1, 1], [64, 1, 1])
        .unwrap();
    // Two barriers, one for each half of the workgroup.
    let apart = "get_sr16 r5.l, %subgroup_index
         zext16 r5
         mov_imm r6, #1
         pcmp.ult P0, r5, r6
         push.if P0
         br_any first
         pop.if
         barrier.threadgroup
         stop
         first:
         pop.if
         barrier.threadgroup
         stop";
    machine
        .dispatch(&lenient(1), apart, [64, 1, 1], [64, 1, 1])
        .unwrap();
    let fault = strict(machine.dispatch(&gpu(1), apart, [64, 1, 1], [64, 1, 1]));
    assert!(fault.to_string().contains("different barriers"), "{fault}");
}

const BLOCKS: &str = "alloc.none\ntarget t=0x7aa\nframe\n";

#[test]
fn launch_programs_must_be_complete() {
    let grid = grid([1; 3], [1; 3]);
    for (text, expected) in [
        ("stop", "without ALLOC, TARGET, FRAME"),
        ("target t=0x7aa\nframe\nstop", "without ALLOC"),
        ("alloc.none\nframe\nstop", "without TARGET"),
        ("alloc.none\ntarget t=0x7aa\nstop", "without FRAME"),
        // launch, 5.2: roots, FRAME, ARGs and a jump, without ALLOC and TARGET, time out.
        (
            "mov_imm r2, #5\nframe\narg_move u0, r2\nbr_any over\nover: stop",
            "without ALLOC, TARGET",
        ),
    ] {
        let mut machine = Machine::new();
        machine.shader("stop");
        let launcher = machine.launcher_text(text);
        let fault = illegal(machine.run_records(&lenient(1), &[direct(launcher, grid)]));
        assert!(fault.to_string().contains(expected), "{fault}");
        assert_eq!(fault.shader.unwrap().stage, "launch");
    }
    // Complete, and nothing else.
    let mut machine = Machine::new();
    machine.shader("stop");
    let launcher = machine.launcher_text(&format!("{BLOCKS}stop"));
    machine
        .run_records(&gpu(1), &[direct(launcher, grid)])
        .unwrap();
}

#[test]
fn launch_programs_that_ask_for_too_much() {
    let grid = grid([1; 3], [1; 3]);
    let mut machine = Machine::new();
    let entry = machine.shader("stop");
    for samples in [Samples::One, Samples::Two, Samples::Four] {
        let launcher = machine.launcher(entry, Groups::Direct([1; 3]), |launcher| {
            launcher.storage = Storage::tile(samples, 16).unwrap();
        });
        let fault = illegal(machine.run_records(&gpu(1), &[direct(launcher, grid)]));
        assert!(fault.to_string().contains("another stage"), "{fault}");
    }
    // 32768 bytes are the most; the instruction's field could say more.
    let alloc = |bytes: u32| {
        let [b0, b1, b2, _] = (bytes << 2 | 0x80).to_le_bytes();
        format!("77 00 2a 41 {b0:02x} {b1:02x} {b2:02x} 00")
    };
    let rest = "77 01 aa 07 00 00 00 02 80 00 f7 00 2a 00 00 00 00 00 00 00 0e 00 00 00";
    let mut launch = |bytes: u32| {
        let at = machine.launcher_text("stop");
        let code = hex(&(alloc(bytes) + rest));
        machine.launchers.write(at.code().address(), &code);
        machine.run_records(&gpu(1), &[direct(at, grid)])
    };
    launch(128).unwrap();
    launch(32768).unwrap();
    for bytes in [32768 + 128, 0x1f_ff80] {
        let fault = illegal(launch(bytes));
        assert!(fault.to_string().contains("ALLOC"), "{fault}");
    }
}

#[test]
fn targets() {
    let grid = grid([1; 3], [1; 3]);
    let mut machine = Machine::new();
    machine.shader("stop");
    let mut launch = |t: u32| {
        let launcher = machine.launcher_text(&format!("alloc.none\ntarget t={t:#x}\nframe\nstop"));
        machine.run_records(&gpu(1), &[direct(launcher, grid)])
    };
    launch(0x7aa).unwrap();
    // The filler, both helper tables, the sentinel's filler, the size word, zeros, an address behind
    // what is mapped.
    for (offset, expected) in [
        (0x40, "illegal"),
        (0x100, "helper tables"),
        (0x1b0, "helper tables"),
        (0x200, "helper tables"),
        (0x2b8, "helper tables"),
        (0x2c0, "illegal"),
        (0x384, "illegal"),
        (0x344, "zero-filled"),
        (0x7f_ff00, "no readable code at 0x100007fff00"),
    ] {
        let field = EntryOffset::new(offset).unwrap().field();
        let fault = illegal(launch(field));
        assert!(fault.to_string().contains(expected), "{offset:#x}: {fault}");
        let place = fault.shader.unwrap();
        assert_eq!(
            (place.stage, place.pc),
            ("compute", ARENA + u64::from(offset))
        );
    }
}

#[test]
fn targets_that_are_no_entries() {
    // Fields that stand for no even offset. The assembler will not make them.
    let grid = grid([1; 3], [1; 3]);
    for field in [0u32, 0x28, 0x2b, 0x2c] {
        let mut machine = Machine::new();
        machine.shader("stop");
        let at = machine.launcher_text("stop");
        let [t0, t1, t2, _] = field.to_le_bytes();
        let code = hex(&format!(
            "77 00 2a 41 00 00 00 00 77 01 {t0:02x} {t1:02x} {t2:02x} 00 00 02 80 00
             f7 00 2a 00 00 00 00 00 00 00 0e 00 00 00"
        ));
        machine.launchers.write(at.code().address(), &code);
        let fault = machine
            .run_records(&lenient(1), &[direct(at, grid)])
            .unwrap_err();
        assert!(
            matches!(fault.kind, FaultKind::IllegalInstruction(_)),
            "{fault}"
        );
    }
}

#[test]
fn a_jump_from_the_launch_program_into_the_body_runs_it_twice() {
    // launch, 5.2 (HW): idempotent stores hide it, atomics expose it.
    let grid = grid([1; 3], [1; 3]);
    let mut machine = Machine::new();
    let body = machine.text(
        "mov_imm r0, #1
         mov_imm r1, #0
         device_atomic.add.void ^r0, u2:u3, ^r1
         stop",
    );
    let entry = machine.entry(body);
    let launcher = machine.launcher(entry, Groups::Direct([1; 3]), |launcher| {
        launcher.preamble = Some(body);
    });
    let records = [direct(launcher, grid)];
    machine.run_records(&lenient(1), &records).unwrap();
    assert_eq!(machine.data.words(DATA, 1), [2]);
    let fault = strict(machine.run_records(&gpu(1), &records));
    assert!(fault.to_string().contains("could run twice"), "{fault}");
}

#[test]
fn preambles_compute_argument_words() {
    // u8 = 2 * u2's neighbour in memory, computed once; all threads add it to their index.
    let grid = grid([70, 1, 1], [32, 1, 1]);
    let mut machine = Machine::new();
    let body = machine.text(
        "get_sr r0, %global_id_x
         iadd r1, r0, u8
         get_sr r2, %global_id_x
         device_store.i32 r1, u2:u3, r2
         stop",
    );
    let preamble = |word: u32| {
        format!(
            "mov_imm r2, #100
             device_load.i32 r3, u2:u3, r2, slot=1
             iadd r4, r3, r3, wait=1
             mov_imm r5, #7
             uniform_iadd u{word}, r4, r5
             stop"
        )
    };
    let entry = machine.entry(body);
    machine.data.write_words(DATA + 400, &[21]);
    // Three pointers are published in words 0..8 by blocks of four, 6 and 7 among them.
    let good = machine.text(&preamble(8));
    let launcher = machine.launcher(entry, Groups::Direct([3, 1, 1]), |launcher| {
        launcher.preamble = Some(good);
    });
    machine
        .run_records(&gpu(2), &[direct(launcher, grid)])
        .unwrap();
    let expected: Vec<u32> = (0..70).map(|i| i + 49).collect();
    assert_eq!(machine.data.words(DATA, 70), expected);
    assert_eq!(machine.data.words(DATA + 280, 1), [0]);
    let bad = machine.text(&preamble(6));
    let launcher = machine.launcher(entry, Groups::Direct([3, 1, 1]), |launcher| {
        launcher.preamble = Some(bad);
    });
    let fault = strict(machine.run_records(&gpu(1), &[direct(launcher, grid)]));
    assert!(fault.to_string().contains("argument word u6"), "{fault}");
}

#[test]
fn large_argument_words_and_frames() {
    // FRAME's extent A reaches the shader as scratch, ALLOC's size as threadgroup memory.
    struct Sizes(Mutex<Vec<(Stage, u32, u32)>>);
    impl ObserverFactory for Sizes {
        type Observer = agx_sim::shader::NoObserver;
        fn begin(&self, dispatch: &Dispatch<'_>, _: &Program) -> Self::Observer {
            let sizes = (
                dispatch.stage,
                dispatch.scratch_bytes,
                dispatch.threadgroup_bytes,
            );
            self.0.lock().unwrap().push(sizes);
            agx_sim::shader::NoObserver
        }
    }
    let mut machine = Machine::new();
    let entry = machine.shader("stop");
    let launcher = machine.launcher(entry, Groups::Direct([1; 3]), |launcher| {
        launcher.storage = Storage::threadgroup(1000).unwrap();
        launcher.frame = Frame::new(9, 0x8000, 0x1230).unwrap();
    });
    let end = machine.records(&[direct(launcher, grid([1; 3], [1; 3]))]);
    let sizes = Sizes(Mutex::new(Vec::new()));
    let command = machine.command(end);
    gpu(1)
        .run(command.mappings, command.stream, command.stream_end, &sizes)
        .unwrap();
    let expected = [(Stage::Launcher, 0, 0), (Stage::Compute, 0x8000, 1024)];
    assert_eq!(*sizes.0.lock().unwrap(), expected);
}

#[test]
fn bodies_that_do_not_end() {
    let mut machine = Machine::new();
    let forever = "again: br_any again\nstop";
    let fault = machine
        .dispatch(&lenient(2), forever, [64, 4, 1], [32, 1, 1])
        .unwrap_err();
    assert_eq!(fault.kind, FaultKind::Watchdog { limit: 1 << 20 });
    let place = fault.shader.unwrap();
    assert_eq!((place.workgroup, place.pc), ([0; 3], BODIES));
    // Barrier after barrier.
    let barriers = "again: barrier.threadgroup\nbr_any again\nstop";
    let fault = machine
        .dispatch(&lenient(1), barriers, [64, 1, 1], [64, 1, 1])
        .unwrap_err();
    assert_eq!(fault.kind, FaultKind::Watchdog { limit: 1 << 20 });
    let launcher = machine.launcher_text(barriers);
    let fault = machine
        .run_records(&lenient(1), &[direct(launcher, grid([1; 3], [1; 3]))])
        .unwrap_err();
    assert_eq!(fault.kind, FaultKind::Watchdog { limit: 1 << 20 });
    // A launch program that does not end.
    let launcher = machine.launcher_text(forever);
    let fault = machine
        .run_records(&lenient(1), &[direct(launcher, grid([1; 3], [1; 3]))])
        .unwrap_err();
    assert_eq!(fault.kind, FaultKind::Watchdog { limit: 1 << 20 });
    assert_eq!(fault.shader.unwrap().stage, "launch");
}

#[test]
fn code_that_is_not_there() {
    let grid = grid([1; 3], [1; 3]);
    let mut machine = Machine::new();
    // A body far behind everything, one that runs into the end of its memory, one of filler.
    let nowhere = agx_hw::window::CodeAddress::new(ARENA + 0x8000_0000).unwrap();
    let end = machine.bodies.va + machine.bodies.bo.size();
    machine.bodies.write(end - 4, &hex("0c a0 10 06"));
    let cut = agx_hw::window::CodeAddress::new(end - 4).unwrap();
    let filler = machine.code(&hex("0c a0 10 06 06 00 06 00 06 00 06 00 06 00 06 00"));
    let zeros = machine.code(&[0; 64]);
    for (body, pc, expected) in [
        (nowhere, nowhere.address(), "no readable code"),
        (cut, end, "no readable code"),
        (filler, filler.address() + 4, "illegal"),
        (zeros, zeros.address(), "zero-filled"),
    ] {
        let entry = machine.entry(body);
        let launcher = machine.launcher(entry, Groups::Direct([1; 3]), |_| {});
        let fault = illegal(machine.run_records(&gpu(1), &[direct(launcher, grid)]));
        assert!(fault.to_string().contains(expected), "{fault}");
        assert_eq!(fault.shader.unwrap().pc, pc);
        assert_eq!(fault.record, Some(machine::STREAM));
    }
}

/// Code that was refused counts as code too: once a driver has repaired it, it runs (launch, 11 row 1:
/// nothing stale after a barrier).
#[test]
fn repaired_code_runs() {
    let good = hex("0e 00 00 00");
    for bad in ["00 00 00 00", "07 00 00 00", "06 00 06 00"] {
        let gpu = lenient(1);
        let mut machine = Machine::new();
        let body = machine.code(&hex(&format!("0c 01 {bad}")));
        let entry = machine.entry(body);
        let launcher = machine.launcher(entry, Groups::Direct([1; 3]), |_| {});
        let records = [direct(launcher, grid([1; 3], [1; 3]))];
        illegal(machine.run_records(&gpu, &records));
        machine.bodies.write(body.address() + 2, &good);
        assert_eq!(machine.run_records(&gpu, &records), Ok(()), "{bad}");
    }
    // The same where the code first ended with its memory.
    let gpu = lenient(1);
    let mut machine = Machine::new();
    let end = machine.bodies.va + machine.bodies.bo.size();
    machine.bodies.write(end - 2, &hex("67 00"));
    let entry = machine.entry(agx_hw::window::CodeAddress::new(end - 2).unwrap());
    let launcher = machine.launcher(entry, Groups::Direct([1; 3]), |_| {});
    let records = [direct(launcher, grid([1; 3], [1; 3]))];
    illegal(machine.run_records(&gpu, &records));
    let rest = machine::Memory::new(end, 0x4000, false);
    rest.write(end, &hex("54 04 02 00 00 00 57 00 00 40 26 00 0e 00 00 00"));
    machine.more.push(rest);
    assert_eq!(machine.run_records(&gpu, &records), Ok(()));
}

/// Programs are kept, but neither those that can never be used again nor ever more of them at one
/// address: launch programs are rewritten in place all the time.
#[test]
fn the_program_cache_is_bounded() {
    let mut machine = Machine::new();
    let cache = ProgramCache::new();
    let nowhere = machine.code(&hex("0f 00 54 00 00 00 60 00 00 00 0e 00 00 00"));
    let body = machine.code(&[0; 64]);
    let mappings = machine.command(machine::STREAM).mappings;
    for _ in 0..100 {
        // It branches to memory that is not mapped.
        let _ = cache.get(&mappings, nowhere.address());
    }
    assert_eq!(cache.len(), 0);
    let mut first = None;
    for value in 0..100 {
        let text = format!("mov_imm r0, #{value}\nstop");
        machine
            .bodies
            .write(body.address(), &assemble(&text).unwrap());
        let program = cache.get(&mappings, body.address());
        assert!(Arc::ptr_eq(&program, &cache.get(&mappings, body.address())));
        assert_eq!(program.entry(), body.address());
        first.get_or_insert(program);
    }
    assert!((1..=16).contains(&cache.len()), "{}", cache.len());
}

#[test]
fn the_first_workgroup_to_fault_is_reported() {
    // Workgroups 3, 7, 11 ... run into filler; those before 3 still do their work.
    let text = "get_sr r0, %workgroup_id_x
         get_sr r1, %global_id_x
         mov_imm r2, #1
         mov_imm r5, #0
         mov_imm r20, #1
         loop:
         iadd r5, r5, r20
         mov_imm r6, #3000
         pcmp.ult P0, r5, r6
         loop_update -P0
         br_any loop
         pop.loop
         device_store.i32 r2, u2:u3, r1
         mov_imm r3, #3
         and r4, r0, r3
         pcmp.ult P0, r4, r3
         push.if -P0
         br_any bad
         pop.if
         stop
         bad: .bytes 06 00 06 00";
    for threads in [1, 2, 4, 7] {
        let mut machine = Machine::new();
        let fault = illegal(machine.dispatch(&gpu(threads), text, [3200, 1, 1], [32, 1, 1]));
        assert_eq!(
            fault.shader.unwrap().workgroup,
            [3, 0, 0],
            "{threads} threads"
        );
        assert_eq!(machine.data.words(DATA, 128), [1; 128]);
    }
}

/// Lets two workgroups fault, `waits` only after the other one's thread has gone.
struct Ordered {
    waits: u32,
    started: AtomicU32,
    gone: AtomicBool,
}

struct OrderedFault<'o> {
    shared: &'o Ordered,
    workgroup: Option<u32>,
}

impl Observer for OrderedFault<'_> {
    fn before(&mut self, wave: &Wave<'_>, _: &Program, _: usize) -> Result<(), FaultKind> {
        if wave.group.dispatch.stage == Stage::Launcher {
            return Ok(());
        }
        let [x, ..] = wave.group.id;
        self.workgroup = Some(x);
        let start = std::time::Instant::now();
        let wait = |until: &dyn Fn() -> bool| {
            while !until() && start.elapsed() < std::time::Duration::from_secs(10) {
                std::thread::yield_now();
            }
        };
        self.shared.started.fetch_add(1, Ordering::AcqRel);
        wait(&|| self.shared.started.load(Ordering::Acquire) == 2);
        if x == self.shared.waits {
            wait(&|| self.shared.gone.load(Ordering::Acquire));
        }
        Err(FaultKind::Strict(format!("workgroup {x}")))
    }
}

impl<'o> ObserverFactory for &'o Ordered {
    type Observer = OrderedFault<'o>;

    fn begin(&self, _: &Dispatch<'_>, _: &Program) -> OrderedFault<'o> {
        OrderedFault {
            shared: self,
            workgroup: None,
        }
    }

    fn finish(&self, observer: OrderedFault<'o>) {
        if observer.workgroup.is_some_and(|x| x != self.waits) {
            self.gone.store(true, Ordering::Release);
        }
    }
}

#[test]
fn of_two_faults_the_earlier_workgroup_s_counts() {
    let mut machine = Machine::new();
    let entry = machine.shader("stop");
    let launcher = machine.launcher(entry, Groups::Direct([2, 1, 1]), |_| {});
    let end = machine.records(&[direct(launcher, grid([64, 1, 1], [32, 1, 1]))]);
    let (gpu, command) = (lenient(2), machine.command(end));
    for round in 0..20 {
        let ordered = Ordered {
            waits: round % 2,
            started: AtomicU32::new(0),
            gone: AtomicBool::new(false),
        };
        let fault = gpu
            .compute_observed(&command, &AtomicBool::new(false), &&ordered)
            .unwrap_err();
        assert_eq!(fault.kind, FaultKind::Strict("workgroup 0".to_owned()));
    }
}

#[test]
fn huge_grids_neither_allocate_nor_outlive_a_cancel() {
    // 65535^3 workgroups. One of them cancels the command, in a way: an observer does.
    struct Canceller<'c>(&'c AtomicBool);
    struct Counter<'c>(&'c AtomicBool, u32);
    impl Observer for Counter<'_> {
        fn before(
            &mut self,
            _: &Wave<'_>,
            _: &Program,
            _: usize,
        ) -> Result<(), agx_sim::fault::FaultKind> {
            Ok(())
        }
    }
    impl<'c> ObserverFactory for Canceller<'c> {
        type Observer = Counter<'c>;
        fn begin(&self, _: &Dispatch<'_>, _: &Program) -> Counter<'c> {
            Counter(self.0, 0)
        }
        fn workgroup(&self, observer: &mut Counter<'c>, group: &Workgroup<'_>) {
            observer.1 += 1;
            if group.dispatch.stage == Stage::Compute && observer.1 == 1000 {
                observer.0.store(true, Ordering::Relaxed);
            }
        }
        fn finish(&self, observer: Counter<'c>) {
            assert!(observer.1 <= 2000);
        }
    }
    let mut machine = Machine::new();
    let entry = machine.shader("stop");
    let launcher = machine.launcher(entry, Groups::Direct([65535; 3]), |_| {});
    let end = machine.records(&[
        direct(launcher, grid([65535; 3], [1; 3])),
        Record::Terminate,
    ]);
    let cancel = AtomicBool::new(false);
    let command = machine.command(end - 4);
    gpu(2)
        .compute_observed(&command, &cancel, &Canceller(&cancel))
        .unwrap();
    assert!(cancel.load(Ordering::Relaxed));
    // And one that faults at once.
    let fault = machine
        .dispatch(
            &gpu(2),
            "get_sr r0, %lane\n.bytes 06 00",
            [65535; 3],
            [1; 3],
        )
        .unwrap_err();
    assert_eq!(fault.shader.unwrap().workgroup, [0; 3]);
}

#[test]
fn a_cancelled_command_stops_spinning() {
    let mut machine = Machine::new();
    let entry = machine.shader("again: br_any again\nstop");
    let launcher = machine.launcher(entry, Groups::Direct([4, 1, 1]), |_| {});
    let end = machine.records(&[direct(launcher, grid([256, 1, 1], [64, 1, 1]))]);
    let gpu = Gpu::new(GpuConfig {
        threads: 2,
        watchdog: u64::MAX,
        ..GpuConfig::default()
    })
    .unwrap();
    let (command, cancel) = (machine.command(end), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let running =
            scope.spawn(|| agx_sim::processor::Processor::compute(&gpu, &command, &cancel).is_ok());
        std::thread::sleep(std::time::Duration::from_millis(20));
        assert!(!running.is_finished());
        cancel.store(true, Ordering::Relaxed);
        running.join().unwrap();
    });
}

#[test]
fn a_launch_program_that_does_not_wait() {
    // launch, 5.2: without the wait the words are copied before the loads complete. Here loads are
    // complete at once, so only strict mode sees it.
    let mut machine = Machine::new();
    let entry = machine.shader(
        "get_sr r0, %global_id_x
         get_sr r1, %global_id_x
         device_store.i32 r0, u2:u3, ^r1
         stop",
    );
    let one = grid([32, 1, 1], [32, 1, 1]);
    let launcher = machine.launcher(entry, Groups::Direct([1; 3]), |_| {});
    let end = machine.records(&[direct(launcher, one)]);
    machine.run(&gpu(1), end).unwrap();
    // The first ARG is behind two MOVI32, two LDP and the blocks; bits 29 to 31 are its wait.
    let arg = launcher.code().address() + 16 + 28 + 28;
    assert_eq!(machine.launchers.words(arg, 1), [0x4409_240b]);
    machine.launchers.write_words(arg, &[0x0409_240b]);
    machine.data.write(DATA, &[0; 256]);
    machine.run(&lenient(1), end).unwrap();
    assert!(machine.data.words(DATA, 32).into_iter().eq(0..32));
    let fault = strict(machine.run(&gpu(1), end));
    assert_eq!(fault.shader.unwrap().pc, arg);
}

#[test]
fn tools_watch_launch_programs_and_shaders() {
    let mut machine = Machine::new();
    let entry = machine.shader(
        "get_sr r0, %global_id_x
         barrier.threadgroup
         stop",
    );
    let launcher = machine.launcher(entry, Groups::Direct([5, 1, 1]), |_| {});
    let end = machine.records(&[direct(launcher, grid([150, 1, 1], [40, 1, 1]))]);
    for threads in [1, 3] {
        let command = machine.command(end);
        let (profiles, traces) = (Profiles::default(), Traces::new(Filter::ALL));
        let factory = (&traces, (Some(Checks(Options::COMPILER)), &profiles));
        gpu(threads)
            .run(
                command.mappings,
                command.stream,
                command.stream_end,
                &factory,
            )
            .unwrap();
        // Workgroups of 40, 40, 40 and 30 threads: 2, 2, 2 and 1 SIMD groups, 7 of them.
        let profile = profiles.into_inner();
        let counted: Vec<(u64, u64)> = profile
            .by_address()
            .iter()
            .filter(|(_, instr, _)| instr.op_name() == "get_sr")
            .map(|(_, _, count)| (count.executed, count.lanes))
            .collect();
        assert_eq!(counted, [(7, 150)]);
        let text = traces.into_text();
        let lines = |needle: &str| text.lines().filter(|line| line.contains(needle)).count();
        assert_eq!(lines(": target t=0x7aa"), 1);
        assert_eq!(lines(": get_sr r0"), 7);
        assert_eq!(lines(": barrier"), 7);
        assert_eq!(lines("[3,0,0] sg 0"), 4);
        assert_eq!(lines("[3,0,0] sg 1"), 0);
    }
}

#[test]
fn several_commands_at_once() {
    let mut machine = Machine::new();
    let entry = machine.shader(
        "mov_imm r0, #1
         mov_imm r1, #0
         device_atomic.add.void ^r0, u2:u3, ^r1
         stop",
    );
    let launcher = machine.launcher(entry, Groups::Direct([50, 1, 1]), |_| {});
    let end = machine.records(&[direct(launcher, grid([3200, 1, 1], [64, 1, 1]))]);
    let gpu = gpu(2);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..10 {
                    machine.run(&gpu, end).unwrap();
                }
            });
        }
    });
    assert_eq!(machine.data.words(DATA, 1), [40 * 3200]);
}

#[test]
fn configuration_from_the_environment() {
    const EXPECTED: &str = "CORTLAND_TEST_EXPECTED";
    if let Ok(expected) = std::env::var(EXPECTED) {
        // The child of below.
        let config = GpuConfig::from_env();
        assert_eq!(format!("{} {:?}", config.threads, config.strict), expected);
        return;
    }
    let compiler = Some(Options::COMPILER);
    for (threads, strict, expected) in [
        (None, None, (0, None)),
        (Some("3"), Some("0"), (3, None)),
        (Some("many"), Some(""), (0, None)),
        (Some("1"), Some("1"), (1, compiler)),
        (None, Some("yes"), (0, compiler)),
        (None, Some("recorded"), (0, Some(Options::RECORDED))),
    ] {
        let mut child = std::process::Command::new(std::env::current_exe().unwrap());
        child
            .args(["--exact", "configuration_from_the_environment"])
            .env(EXPECTED, format!("{} {:?}", expected.0, expected.1))
            .env_remove("CORTLAND_SIM_THREADS")
            .env_remove("CORTLAND_SIM_STRICT");
        if let Some(threads) = threads {
            child.env("CORTLAND_SIM_THREADS", threads);
        }
        if let Some(strict) = strict {
            child.env("CORTLAND_SIM_STRICT", strict);
        }
        let output = child.output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }
    assert_eq!(GpuConfig::default().strict, None);
}
