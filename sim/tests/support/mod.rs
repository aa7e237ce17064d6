// SPDX-License-Identifier: MIT
//! A rig for tests of the shader core: one SIMD group, its memory, its program.

// Each test binary uses its own part of this.
#![allow(dead_code, unreachable_pub)]

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use agx_isa::asm::assemble;
use agx_sim::memory::{Bo, Mappings, Region, Tlb};
use agx_sim::shader::{
    Dispatch, Exit, NoObserver, Observer, Program, Stage, UniformFile, Wave, Workgroup,
};

/// Where programs lie: in the window, past the entry arena.
pub const CODE: u64 = (1 << 40) + (8 << 20);
/// Where [`Rig::data`] lies.
pub const DATA: u64 = 0x20_0000_0000;

/// One SIMD group of a 32 x 1 x 1 workgroup.
pub struct Rig {
    /// The program's bytes.
    pub code: Vec<u8>,
    /// The argument window.
    pub uniforms: UniformFile,
    /// A buffer mapped readable and writable at [`DATA`].
    pub data: Arc<Bo>,
    /// More mappings, above [`DATA`].
    pub more: Vec<Region>,
    /// Active lanes at the start.
    pub active: u32,
    // Stage, sizes and limits.
    /// As in [`Dispatch`], [`Workgroup`] or [`Wave`].
    pub stage: Stage,
    /// As in [`Dispatch`], [`Workgroup`] or [`Wave`].
    pub local: [u32; 3],
    /// As in [`Dispatch`], [`Workgroup`] or [`Wave`].
    pub groups: [u32; 3],
    /// As in [`Dispatch`], [`Workgroup`] or [`Wave`].
    pub id: [u32; 3],
    /// As in [`Dispatch`], [`Workgroup`] or [`Wave`].
    pub simd_group: u32,
    /// As in [`Dispatch`], [`Workgroup`] or [`Wave`].
    pub scratch_bytes: u32,
    /// As in [`Dispatch`], [`Workgroup`] or [`Wave`].
    pub threadgroup_bytes: u32,
    /// As in [`Dispatch`], [`Workgroup`] or [`Wave`].
    pub watchdog: u64,
    /// As in [`Dispatch`], [`Workgroup`] or [`Wave`].
    pub strict: bool,
}

impl Rig {
    /// A rig for assembly text; a final `stop` is added.
    pub fn new(text: &str) -> Rig {
        Rig::bytes(assemble(&format!("{text}\nstop\n")).unwrap_or_else(|e| panic!("{e}\n{text}")))
    }

    /// A rig for machine code as it is.
    pub fn bytes(code: Vec<u8>) -> Rig {
        Rig {
            code,
            uniforms: UniformFile::default(),
            data: Arc::new(Bo::new(1 << 16).unwrap()),
            more: Vec::new(),
            active: !0,
            stage: Stage::Compute,
            local: [32, 1, 1],
            groups: [1, 1, 1],
            id: [0; 3],
            simd_group: 0,
            scratch_bytes: 0,
            threadgroup_bytes: 0,
            watchdog: 1_000_000,
            strict: false,
        }
    }

    /// Hexadecimal machine code as it is.
    pub fn hex(text: &str) -> Rig {
        let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
        let byte =
            |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
        Rig::bytes(digits.chunks(2).map(byte).collect())
    }

    /// Writes argument pair `index`.
    pub fn pointer(&self, index: u8, address: u64) {
        self.uniforms.set(index * 2, address as u32);
        self.uniforms.set(index * 2 + 1, (address >> 32) as u32);
    }

    /// Writes words to the buffer from byte `offset` on.
    pub fn write_words(&self, offset: usize, words: &[u32]) {
        assert!(offset.is_multiple_of(4) && offset + 4 * words.len() <= self.data.size() as usize);
        for (i, word) in words.iter().enumerate() {
            // SAFETY: inside the object, aligned, and nothing runs.
            unsafe {
                self.data
                    .base()
                    .add(offset)
                    .cast::<u32>()
                    .add(i)
                    .write(*word)
            };
        }
    }

    /// Reads words of the buffer from byte `offset` on.
    pub fn read_words(&self, offset: usize, count: usize) -> Vec<u32> {
        assert!(offset.is_multiple_of(4) && offset + 4 * count <= self.data.size() as usize);
        // SAFETY: inside the object, aligned, and nothing runs.
        let word = |i| unsafe { self.data.base().add(offset).cast::<u32>().add(i).read() };
        (0..count).map(word).collect()
    }

    /// Runs to the end; `before` sets registers up, `after` looks at them.
    pub fn run<R>(
        &self,
        before: impl FnOnce(&mut Wave<'_>),
        after: impl FnOnce(&Wave<'_>, Exit) -> R,
    ) -> R {
        self.run_observed(&mut NoObserver, before, after)
    }

    /// The same under an observer.
    pub fn run_observed<O: Observer, R>(
        &self,
        observer: &mut O,
        before: impl FnOnce(&mut Wave<'_>),
        after: impl FnOnce(&Wave<'_>, Exit) -> R,
    ) -> R {
        let code = Bo::new(self.code.len().max(1) as u64).unwrap();
        // SAFETY: the object is at least as long, and nobody else knows of it yet.
        unsafe { std::ptr::copy_nonoverlapping(self.code.as_ptr(), code.base(), self.code.len()) };
        let region = |start: u64, bo: &Arc<Bo>, write| Region {
            start,
            end: start + bo.size(),
            bo: Arc::clone(bo),
            offset: 0,
            single_page: false,
            read: true,
            write,
        };
        let mut regions = vec![
            region(DATA, &self.data, true),
            region(CODE, &Arc::new(code), false),
        ];
        regions.extend(self.more.iter().cloned());
        regions.sort_by_key(|region| region.start);
        let mappings = Mappings::new(regions);
        let program = Program::build(&mappings, CODE);
        let cancel = AtomicBool::new(false);
        let dispatch = Dispatch {
            stage: self.stage,
            uniforms: &self.uniforms,
            global: std::array::from_fn(|i| self.local[i] * self.groups[i]),
            local: self.local,
            groups: self.groups,
            scratch_bytes: self.scratch_bytes,
            threadgroup_bytes: self.threadgroup_bytes,
            watchdog: self.watchdog,
            cancel: &cancel,
            strict: self.strict,
        };
        let tlb = Tlb::new(&mappings);
        let words = self.threadgroup_bytes.div_ceil(4) as usize;
        let shared = vec![Cell::new(0); words];
        let group = Workgroup {
            dispatch: &dispatch,
            tlb: &tlb,
            id: self.id,
            shared: &shared,
        };
        let mut wave = Wave::new(&group, self.simd_group, self.active);
        before(&mut wave);
        let exit = loop {
            match wave.run(&program, 10_000, observer) {
                // A single SIMD group passes every barrier.
                Exit::Yield | Exit::Barrier => {}
                exit => break exit,
            }
        };
        after(&wave, exit)
    }
}

/// The exit of a program that must end.
pub fn stopped(exit: Exit) {
    assert!(matches!(exit, Exit::Stop), "{exit:?}");
}
