// SPDX-License-Identifier: MIT
//! How fast the shader core moves memory, beside what the host's memcpy does with the same pages.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use agx_isa::asm::assemble;
use agx_sim::memory::{Bo, Mappings, Region, Tlb};
use agx_sim::shader::{
    Dispatch, Exit, Lanes, NoObserver, Program, Stage, UniformFile, Wave, Workgroup,
};
use divan::Bencher;
use divan::counter::BytesCount;

fn main() {
    divan::main();
}

/// In the window, past the entry arena.
const CODE: u64 = (1 << 40) + (8 << 20);
const SOURCE: u64 = 0x20_0000_0000;
const TARGET: u64 = 0x30_0000_0000;
/// Bytes to copy: far more than caches hold.
const LARGE: u64 = 256 << 20;
/// Bytes to copy: in the second-level cache.
const SMALL: u64 = 128 << 10;

fn region(start: u64, bo: &Arc<Bo>) -> Region {
    Region {
        start,
        end: start + bo.size(),
        bo: Arc::clone(bo),
        offset: 0,
        single_page: false,
        read: true,
        write: true,
    }
}

struct Rig {
    source: Arc<Bo>,
    target: Arc<Bo>,
    mappings: Mappings,
}

impl Rig {
    /// Two buffers of `bytes`, every page touched, and a program.
    fn new(bytes: u64, text: &str) -> Rig {
        let program = assemble(text).unwrap();
        let code = Arc::new(Bo::new(program.len() as u64).unwrap());
        let [source, target] = [1u8, 2].map(|fill| {
            let bo = Bo::new(bytes).unwrap();
            // SAFETY: the object is that long and nobody else knows of it yet.
            unsafe { std::ptr::write_bytes(bo.base(), fill, bytes as usize) };
            Arc::new(bo)
        });
        // SAFETY: the object is at least as long and nobody else knows of it yet.
        unsafe { std::ptr::copy_nonoverlapping(program.as_ptr(), code.base(), program.len()) };
        let mappings = Mappings::new(vec![
            region(SOURCE, &source),
            region(TARGET, &target),
            region(CODE, &code),
        ]);
        Rig {
            source,
            target,
            mappings,
        }
    }

    /// Runs the program for threads 0 .. `threads`, whose number is in r0 as a launch would have it,
    /// again and again. `permute` changes the number. One SIMD group does it all, without clearing
    /// its registers in between: that is not what is measured.
    fn bench(self, bencher: Bencher<'_, '_>, threads: u32, permute: impl Fn(u32) -> u32 + Sync) {
        let program = Program::build(&self.mappings, CODE);
        let uniforms = UniformFile::default();
        for (pair, address) in [(1, SOURCE), (2, TARGET)] {
            uniforms.set(2 * pair, address as u32);
            uniforms.set(2 * pair + 1, (address >> 32) as u32);
        }
        let cancel = AtomicBool::new(false);
        let dispatch = Dispatch {
            stage: Stage::Compute,
            uniforms: &uniforms,
            global: [threads, 1, 1],
            local: [32, 1, 1],
            groups: [threads / 32, 1, 1],
            scratch_bytes: 4,
            threadgroup_bytes: 0,
            watchdog: u64::MAX,
            cancel: &cancel,
            strict: false,
            late_tests: false,
        };
        let tlb = Tlb::new(&self.mappings);
        let group = Workgroup {
            dispatch: &dispatch,
            tlb: &tlb,
            id: [0; 3],
            shared: &[],
        };
        let mut wave = Wave::new(&group, 0, !0);
        bencher
            .counter(BytesCount::new(self.target.size()))
            .bench_local(|| {
                for first in (0..threads).step_by(32) {
                    wave.pc = 0;
                    wave.gprs[0] = Lanes::from_fn(|lane| permute(first + lane as u32));
                    let exit = wave.run(&program, 100, &mut NoObserver);
                    assert!(matches!(exit, Exit::Stop), "{exit:?}");
                }
            });
    }
}

const COPY: &str = "
    device_load.i32x4 r4:r7, u2:u3, r0, scale=lsl4, slot=6
    device_store.i32x4 r4:r7, u4:u5, r0, scale=lsl4, wait=6
    stop
";
const COPY_WORD: &str = "
    device_load.i32 r4, u2:u3, r0, scale=lsl2, slot=6
    device_store.i32 r4, u4:u5, r0, scale=lsl2, wait=6
    stop
";

/// memcpy of the same bytes: the measure of the others.
#[divan::bench(args = [SMALL, LARGE])]
fn memcpy(bencher: Bencher<'_, '_>, bytes: u64) {
    let rig = Rig::new(bytes, "stop\n");
    bencher.counter(BytesCount::new(bytes)).bench_local(|| {
        // SAFETY: both objects are that long and nothing else runs.
        unsafe {
            std::ptr::copy_nonoverlapping(rig.source.base(), rig.target.base(), bytes as usize);
        }
    });
}

/// Four words a thread.
#[divan::bench(args = [SMALL, LARGE])]
fn copy_4_words(bencher: Bencher<'_, '_>, bytes: u64) {
    Rig::new(bytes, COPY).bench(bencher, (bytes / 16) as u32, |i| i);
}

/// One word a thread.
#[divan::bench(args = [SMALL, LARGE])]
fn copy_1_word(bencher: Bencher<'_, '_>, bytes: u64) {
    Rig::new(bytes, COPY_WORD).bench(bencher, (bytes / 4) as u32, |i| i);
}

/// Four words a thread, neighbours exchanged: the path for arbitrary addresses.
#[divan::bench(args = [SMALL])]
fn copy_4_words_exchanged(bencher: Bencher<'_, '_>, bytes: u64) {
    Rig::new(bytes, COPY).bench(bencher, (bytes / 16) as u32, |i| i ^ 1);
}

/// All threads of a SIMD group load the same four words.
#[divan::bench(args = [SMALL])]
fn load_same(bencher: Bencher<'_, '_>, bytes: u64) {
    let text = "device_load.i32x4 r4:r7, u2:u3, r0, scale=lsl4, slot=6\nstop\n";
    Rig::new(bytes, text).bench(bencher, (bytes / 16) as u32, |i| i / 32);
}

/// One atomic addition a thread, each to its own word.
#[divan::bench(args = [SMALL])]
fn atomic_add(bencher: Bencher<'_, '_>, bytes: u64) {
    let text = "device_atomic.add.void r1, u2:u3, r0\nstop\n";
    Rig::new(bytes, text).bench(bencher, (bytes / 4) as u32, |i| i);
}
