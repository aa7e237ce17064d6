// SPDX-License-Identifier: MIT
//! How fast the shader core executes: lane operations a second.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use agx_isa::asm::assemble;
use agx_sim::memory::{Bo, Mappings, Region, Tlb};
use agx_sim::shader::{Dispatch, Exit, NoObserver, Program, Stage, UniformFile, Wave, Workgroup};
use divan::Bencher;
use divan::counter::ItemsCount;

fn main() {
    divan::main();
}

/// In the window, past the entry arena.
const CODE: u64 = (1 << 40) + (8 << 20);

fn code(text: &str) -> Mappings {
    let bytes = assemble(text).unwrap();
    let bo = Bo::new(bytes.len() as u64).unwrap();
    // SAFETY: the object is at least as long and nobody else knows of it yet.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), bo.base(), bytes.len()) };
    Mappings::new(vec![Region {
        start: CODE,
        end: CODE + bo.size(),
        bo: Arc::new(bo),
        offset: 0,
        single_page: false,
        read: true,
        write: false,
    }])
}

/// Runs `line`, 1000 times in a row, over and over on one SIMD group.
fn straight_line(bencher: Bencher<'_, '_>, line: &str) {
    let mappings = code(&format!("{}stop\n", format!("{line}\n").repeat(1000)));
    let program = Program::build(&mappings, CODE);
    let uniforms = UniformFile::default();
    let cancel = AtomicBool::new(false);
    let dispatch = Dispatch {
        stage: Stage::Compute,
        uniforms: &uniforms,
        global: [32, 1, 1],
        local: [32, 1, 1],
        groups: [1, 1, 1],
        scratch_bytes: 0,
        threadgroup_bytes: 0,
        watchdog: u64::MAX,
        cancel: &cancel,
        strict: false,
        late_tests: false,
    };
    let tlb = Tlb::new(&mappings);
    let group = Workgroup {
        dispatch: &dispatch,
        tlb: &tlb,
        id: [0; 3],
        shared: &[],
    };
    let mut wave = Wave::new(&group, 0, !0);
    let exit = wave.run(&program, 1001, &mut NoObserver);
    assert!(matches!(exit, Exit::Stop), "{exit:?}");
    bencher
        .counter(ItemsCount::new(32_000usize))
        .bench_local(|| {
            wave.pc = 0;
            wave.run(&program, 1001, &mut NoObserver)
        });
}

#[divan::bench]
fn fma(bencher: Bencher<'_, '_>) {
    straight_line(bencher, "fma.8 r4, r2, r3, r5");
}

#[divan::bench]
fn fma_negated(bencher: Bencher<'_, '_>) {
    straight_line(bencher, "fma.8 r4, r2, r3, -r5");
}

#[divan::bench]
fn fadd(bencher: Bencher<'_, '_>) {
    straight_line(bencher, "fadd.6 r4, r2, r3");
}
