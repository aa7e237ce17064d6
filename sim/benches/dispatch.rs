// SPDX-License-Identifier: MIT
//! How fast commands and dispatches are: an empty dispatch, a million threads of the reference's
//! example, arithmetic on one and two threads, and a copy kernel beside the host's memcpy.

#[path = "../tests/machine/mod.rs"]
mod machine;

use std::sync::atomic::AtomicBool;

use agx_hw::cdm::{Grid, LocalSize};
use agx_hw::root::Groups;
use agx_sim::gpu::{Gpu, GpuConfig, Unobserved};
use divan::Bencher;
use divan::counter::{BytesCount, IntoCounter, ItemsCount};
use machine::{Machine, direct};

fn main() {
    divan::main();
}

/// Bytes of the buffer that kernels work on.
const DATA_BYTES: u64 = 256 << 20;
/// Bytes that the copies move: from the first half of the buffer to the second.
const COPIED: usize = DATA_BYTES as usize / 2;

/// Runs one dispatch of `text` over and over.
fn dispatch(bencher: Bencher<'_, '_>, threads: usize, text: &str, global: u32, local: u32) {
    dispatch_counting(
        bencher,
        threads,
        text,
        [global, local],
        ItemsCount::new(global),
    );
}

fn dispatch_counting(
    bencher: Bencher<'_, '_>,
    threads: usize,
    text: &str,
    [global, local]: [u32; 2],
    counter: impl IntoCounter,
) {
    let gpu = Gpu::new(GpuConfig {
        threads,
        ..GpuConfig::default()
    })
    .unwrap();
    let mut machine = Machine::with_data(DATA_BYTES);
    let entry = machine.shader(text);
    let grid = Grid::new([global, 1, 1], LocalSize::new([local, 1, 1]).unwrap()).unwrap();
    let launcher = machine.launcher(entry, Groups::Direct(grid.groups()), |_| {});
    let end = machine.records(&[direct(launcher, grid)]);
    let (command, cancel) = (machine.command(end), AtomicBool::new(false));
    bencher.counter(counter).bench_local(|| {
        gpu.compute_observed(&command, &cancel, &Unobserved)
            .unwrap();
    });
}

/// One thread that does nothing: the cost of a command.
#[divan::bench(args = [1, 2])]
fn empty(bencher: Bencher<'_, '_>, threads: usize) {
    dispatch(bencher, threads, "stop", 1, 1);
}

/// Two workgroups that do nothing: the cost of waking threads.
#[divan::bench(args = [1, 2])]
fn empty_pair(bencher: Bencher<'_, '_>, threads: usize) {
    dispatch(bencher, threads, "stop", 64, 32);
}

/// launch, 12.3 on 2^20 threads.
#[divan::bench(args = [1, 2])]
fn example(bencher: Bencher<'_, '_>, threads: usize) {
    let text = "get_sr r0, %global_id_x
        get_sr r1, %global_id_x
        device_store.i32 r0, u2:u3, ^r1, wait=1
        stop";
    dispatch(bencher, threads, text, 1 << 20, 32);
}

/// 1000 multiply-adds in each of 2^13 threads. Two threads need two idle cores to show what they
/// can do: compare the fastest samples.
#[divan::bench(args = [1, 2], sample_count = 1000, sample_size = 1)]
fn fma(bencher: Bencher<'_, '_>, threads: usize) {
    let text = format!("{}stop", "fma.8 r4, r2, r3, r5\n".repeat(1000));
    dispatch(bencher, threads, &text, 1 << 13, 256);
}

/// Four words a lane, out of the caches; compare with [`memcpy`]. Beside the copy itself each SIMD
/// group starts, clears its registers and turns rows of lanes into registers and back.
#[divan::bench(args = [1, 2], sample_count = 20, sample_size = 1)]
fn copy(bencher: Bencher<'_, '_>, threads: usize) {
    let rows = COPIED / 16;
    let text = format!(
        "get_sr r0, %global_id_x
        mov_imm r1, #{rows}
        iadd r1, r0, r1
        device_load.i32x4 r4, u2:u3, r0, scale=lsl4, slot=1
        device_store.i32x4 r4, u2:u3, r1, scale=lsl4, wait=1
        stop"
    );
    let sizes = [rows as u32, 1024];
    dispatch_counting(bencher, threads, &text, sizes, BytesCount::new(COPIED));
}

/// The host's own copy of as much.
#[divan::bench(sample_count = 20, sample_size = 1)]
fn memcpy(bencher: Bencher<'_, '_>) {
    let (from, mut to) = (vec![1u8; COPIED], vec![2u8; COPIED]);
    bencher
        .counter(BytesCount::new(COPIED))
        .bench_local(|| divan::black_box(&mut to).copy_from_slice(divan::black_box(&from)));
}
