// SPDX-License-Identifier: MIT
//! One SIMD group on a bench: a program, registers and memory, with no command stream around it.
//!
//! For measured vectors, tests and tools that look at single instructions. Everything else goes
//! through a [`crate::processor::Processor`].

use std::cell::Cell;
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::memory::{Bo, Mappings, Region, Tlb};
use crate::shader::{
    Dispatch, Exit, NoObserver, Observer, Program, Stage, UniformFile, Wave, Workgroup,
};

/// Where programs lie: in the window, past the entry arena.
pub const CODE: u64 = (1 << 40) + (8 << 20);
/// Where [`Rig::data`] lies.
pub const DATA: u64 = 0x20_0000_0000;

/// One SIMD group.
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
    /// The kind of program.
    pub stage: Stage,
    /// Threads of a workgroup.
    pub local: [u32; 3],
    /// Workgroups of the grid.
    pub groups: [u32; 3],
    /// The workgroup's index.
    pub id: [u32; 3],
    /// The SIMD group's index in it.
    pub simd_group: u32,
    /// Bytes of scratch of each lane.
    pub scratch_bytes: u32,
    /// Bytes of threadgroup memory.
    pub threadgroup_bytes: u32,
    /// Instructions until the program counts as a runaway.
    pub watchdog: u64,
    /// Report what the hardware lets pass.
    pub strict: bool,
}

impl Rig {
    /// A full SIMD group of a 32 x 1 x 1 workgroup, and a buffer of `data_bytes`.
    ///
    /// # Errors
    /// When there is no memory for the buffer.
    pub fn with(code: Vec<u8>, data_bytes: u64) -> io::Result<Rig> {
        Ok(Rig {
            code,
            uniforms: UniformFile::default(),
            data: Arc::new(Bo::new(data_bytes)?),
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
        })
    }

    /// Writes argument pair `index`.
    pub fn pointer(&self, index: u8, address: u64) {
        self.uniforms.set(index * 2, address as u32);
        self.uniforms.set(index * 2 + 1, (address >> 32) as u32);
    }

    /// Writes bytes to the buffer from byte `offset` on.
    ///
    /// # Panics
    /// When they do not fit.
    pub fn write_bytes(&self, offset: usize, bytes: &[u8]) {
        assert!(offset + bytes.len() <= self.data.size() as usize);
        // SAFETY: inside the object, and the rig's owner is the only one who knows of it.
        unsafe {
            std::ptr::copy_nonoverlapping(
                bytes.as_ptr(),
                self.data.base().add(offset),
                bytes.len(),
            );
        }
    }

    /// Reads bytes of the buffer from byte `offset` on.
    ///
    /// # Panics
    /// When they leave it.
    #[must_use]
    pub fn read_bytes(&self, offset: usize, count: usize) -> Vec<u8> {
        assert!(offset + count <= self.data.size() as usize);
        let mut bytes = vec![0; count];
        // SAFETY: inside the object, and the rig's owner is the only one who knows of it.
        unsafe {
            std::ptr::copy_nonoverlapping(self.data.base().add(offset), bytes.as_mut_ptr(), count);
        }
        bytes
    }

    /// Writes words to the buffer from byte `offset` on.
    ///
    /// # Panics
    /// When they do not fit.
    pub fn write_words(&self, offset: usize, words: &[u32]) {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.write_bytes(offset, &bytes);
    }

    /// Reads words of the buffer from byte `offset` on.
    ///
    /// # Panics
    /// When they leave it.
    #[must_use]
    pub fn read_words(&self, offset: usize, count: usize) -> Vec<u32> {
        let bytes = self.read_bytes(offset, 4 * count);
        let (words, _) = bytes.as_chunks::<4>();
        words.iter().map(|word| u32::from_le_bytes(*word)).collect()
    }

    /// Runs to the end; `before` sets registers up, `after` looks at them.
    ///
    /// # Errors
    /// When there is no memory for the code.
    pub fn execute<R>(
        &self,
        before: impl FnOnce(&mut Wave<'_>),
        after: impl FnOnce(&Wave<'_>, Exit) -> R,
    ) -> io::Result<R> {
        self.execute_observed(&mut NoObserver, before, after)
    }

    /// The same under an observer.
    ///
    /// # Errors
    /// When there is no memory for the code.
    pub fn execute_observed<O: Observer, R>(
        &self,
        observer: &mut O,
        before: impl FnOnce(&mut Wave<'_>),
        after: impl FnOnce(&Wave<'_>, Exit) -> R,
    ) -> io::Result<R> {
        let code = Bo::new(self.code.len().max(1) as u64)?;
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
            global: std::array::from_fn(|i| self.local[i].saturating_mul(self.groups[i])),
            local: self.local,
            groups: self.groups,
            scratch_bytes: self.scratch_bytes,
            threadgroup_bytes: self.threadgroup_bytes,
            watchdog: self.watchdog,
            cancel: &cancel,
            strict: self.strict,
            late_tests: false,
        };
        let tlb = Tlb::new(&mappings);
        let shared = vec![Cell::new(0); self.threadgroup_bytes.div_ceil(4) as usize];
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
        Ok(after(&wave, exit))
    }
}
