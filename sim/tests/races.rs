// SPDX-License-Identifier: MIT
//! The same work on one thread and on several: equal bytes where there is no race, equal totals
//! where atomics are the only meeting point, and progress where invocations wait for each other.

mod machine;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use agx_hw::cdm::{CdmStream, Grid, LocalSize};
use agx_hw::root::Groups;
use agx_sim::gpu::{Gpu, GpuConfig};
use agx_sim::memory::Bo;
use agx_sim::processor::Processor;
use machine::{DATA, Machine, direct, gpu};

const THREADS: [usize; 4] = [1, 2, 3, 8];

#[test]
fn independent_work_gives_the_same_bytes() {
    // Some arithmetic on the index, a few rounds of it, with different numbers of rounds.
    let text = "get_sr r0, %global_id_x
         get_sr r1, %global_id_x
         mov_imm r2, #0
         mov_imm r3, #31
         mov_imm r4, #1103515245
         mov_imm r5, #12345
         and r6, r0, r3
         mov_imm r7, #0
         mov_imm r20, #1
         loop:
         imad r0, r0, r4, r5
         iadd r7, r7, r20
         pcmp.ult P0, r7, r6
         loop_update -P0
         br_any loop
         pop.loop
         device_store.i32 r0, u2:u3, r1
         stop";
    let count = 20_000usize;
    let expected: Vec<u32> = (0..count as u32)
        .map(|i| {
            (0..(i & 31).max(1)).fold(i, |x, _| x.wrapping_mul(1_103_515_245).wrapping_add(12345))
        })
        .collect();
    for threads in THREADS {
        for local in [32, 96, 1024] {
            let mut machine = Machine::new();
            machine
                .dispatch(&gpu(threads), text, [count as u32, 1, 1], [local, 1, 1])
                .unwrap_or_else(|fault| panic!("{fault}"));
            assert_eq!(
                machine.data.words(DATA, count),
                expected,
                "{threads} x {local}"
            );
        }
    }
}

#[test]
fn atomic_totals() {
    let text = "get_sr r0, %global_id_x
         mov_imm r1, #15
         and r2, r0, r1
         device_atomic.add.void ^r0, u2:u3, ^r2
         stop";
    let count = 50_000u32;
    let mut expected = vec![0u32; 16];
    for i in 0..count {
        expected[(i & 15) as usize] += i;
    }
    for threads in THREADS {
        let mut machine = Machine::new();
        machine
            .dispatch(&gpu(threads), text, [count, 1, 1], [64, 1, 1])
            .unwrap_or_else(|fault| panic!("{fault}"));
        assert_eq!(machine.data.words(DATA, 16), expected);
    }
}

#[test]
fn tickets_are_handed_out_once() {
    // Each invocation draws a ticket and marks its number with its own index + 1.
    let text = "mov_imm r20, #1
         mov_imm r0, #1
         mov_imm r1, #0
         device_atomic.add.ret ^r0, u2:u3, ^r1
         atomic_result r4, slot=1
         get_sr r2, %global_id_x
         iadd r2, r2, r20
         iadd r5, r4, r20, wait=1
         device_store.i32 r2, u2:u3, r5
         stop";
    let count = 30_000;
    for threads in THREADS {
        let mut machine = Machine::new();
        machine
            .dispatch(&gpu(threads), text, [count, 1, 1], [128, 1, 1])
            .unwrap_or_else(|fault| panic!("{fault}"));
        assert_eq!(machine.data.words(DATA, 1), [count]);
        let mut drawn = machine.data.words(DATA + 4, count as usize);
        drawn.sort_unstable();
        assert!(drawn.into_iter().eq(1..=count));
    }
}

/// Text that waits until word r6 of the data is not zero, all lanes of the SIMD group together.
const WAIT: &str = "spin:
     device_load.i32 r2, u2:u3, r6, slot=1
     iadd r3, ^r2, #0, wait=1
     mov_imm r7, #0
     pcmp.ult P1, r7, r3
     loop_update P1
     br_any spin
     pop.loop\n";

#[test]
fn simd_groups_of_a_workgroup_wait_for_each_other() {
    // SIMD group k waits for k + 1; the last one waits for nobody. Every one starts before the one
    // it waits for.
    let text = format!(
        "get_sr16 r5.l, %subgroup_index
         zext16 r5
         mov_imm r20, #1
         mov_imm r8, #31
         pcmp.ult P0, r5, r8
         push.if P0
         push.loop true
         iadd r6, r5, r20
         {WAIT}
         else
         pop.if
         iadd r9, r5, r20
         device_store.i32 r9, u2:u3, r5
         stop"
    );
    for threads in [1, 2] {
        let mut machine = Machine::new();
        machine
            .dispatch(&gpu(threads), &text, [1024, 1, 1], [1024, 1, 1])
            .unwrap_or_else(|fault| panic!("{fault}"));
        let words = machine.data.words(DATA, 33);
        assert!(words[..32].iter().copied().eq(1..=32));
        assert_eq!(words[32], 0);
    }
}

#[test]
fn workgroups_wait_for_earlier_ones() {
    // Workgroup k waits for k's word and then sets that of k + 1.
    let text = format!(
        "get_sr r6, %workgroup_id_x
         mov_imm r20, #1
         push.loop true
         {WAIT}
         mov_imm r8, #1
         get_sr r9, %workgroup_id_x
         iadd r9, r9, r20
         device_store.i32 r8, u2:u3, r9
         stop"
    );
    for threads in THREADS {
        let mut machine = Machine::new();
        machine.data.write_words(DATA, &[1]);
        machine
            .dispatch(&gpu(threads), &text, [32 * 500, 1, 1], [32, 1, 1])
            .unwrap_or_else(|fault| panic!("{fault}"));
        assert_eq!(machine.data.words(DATA, 501), vec![1; 501]);
    }
}

#[test]
fn commands_wait_for_each_other() {
    // The first command spins on as many threads as there are until the second one, of several
    // dispatches, has set its word.
    let mut machine = Machine::new();
    let wait = machine.shader(&format!(
        "mov_imm r6, #0
         push.loop true
         {WAIT}
         get_sr r9, %workgroup_id_x
         mov_imm r8, #5
         iadd r9, r9, r8
         device_store.i32 r8, u2:u3, r9
         stop"
    ));
    let add = machine.shader(
        "mov_imm r0, #1
         mov_imm r1, #1
         device_atomic.add.void ^r0, u2:u3, ^r1
         stop",
    );
    let set = machine.shader(
        "mov_imm r0, #1
         mov_imm r1, #0
         device_store.i32 r0, u2:u3, r1
         stop",
    );
    let grid = Grid::new([128, 1, 1], LocalSize::new([32, 1, 1]).unwrap()).unwrap();
    let mut launch = |entry| {
        let launcher = machine.launcher(entry, Groups::Direct([4, 1, 1]), |_| {});
        direct(launcher, grid)
    };
    let (wait, add, set) = (launch(wait), launch(add), launch(set));
    let first = machine.records(&[wait]);
    let first = machine.command(first);
    // The second stream lies elsewhere.
    machine.stream.va += 0x4000_0000;
    let mut bytes = [0; 0x200];
    let base = machine.stream.va;
    machine.stream.bo = Arc::new(Bo::new(0x1_0000).unwrap());
    let mut stream = CdmStream::new(&mut bytes, base).unwrap();
    for record in [add, add, add, set] {
        stream.push(record).unwrap();
    }
    let end = stream.terminate().unwrap();
    machine.stream.write(base, &bytes);
    let mut second = machine.command(end);
    second.stream = base;
    for threads in [2, 4] {
        machine.data.write_words(DATA, &[0; 16]);
        let gpu = Gpu::new(GpuConfig {
            threads,
            ..GpuConfig::default()
        })
        .unwrap();
        let no = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| gpu.compute(&first, &no));
            std::thread::sleep(std::time::Duration::from_millis(50));
            assert!(!waiting.is_finished());
            gpu.compute(&second, &no).unwrap();
            waiting.join().unwrap().unwrap();
        });
        let expected = [1, 384, 0, 0, 0, 5, 5, 5, 5, 0];
        assert_eq!(machine.data.words(DATA, 10), expected);
    }
}
