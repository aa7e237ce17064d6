// SPDX-License-Identifier: MIT
//! What all SIMD groups of a dispatch, and all of a workgroup, have in common.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use crate::memory::Tlb;

/// Which kind of program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// A launch program or its preamble: one active lane, may write uniforms.
    Launcher,
    /// A compute shader.
    Compute,
    /// A vertex shader.
    Vertex,
    /// A fragment shader.
    Fragment,
    /// The program that fills a tile: a fragment shader for every pixel.
    Background,
    /// The program that stores a tile: once for each.
    EndOfTile,
}

impl Stage {
    /// For messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Stage::Launcher => "launch",
            Stage::Compute => "compute",
            Stage::Vertex => "vertex",
            Stage::Fragment => "fragment",
            Stage::Background => "background",
            Stage::EndOfTile => "end-of-tile",
        }
    }

    /// Whether lanes are pixels in quads of two by two, whose differences are derivatives (isa-4, 4.1).
    #[must_use]
    pub const fn has_quads(self) -> bool {
        match self {
            Stage::Launcher | Stage::Compute | Stage::Vertex | Stage::EndOfTile => false,
            Stage::Fragment | Stage::Background => true,
        }
    }
}

/// The 256 argument words of a dispatch (isa-1, 1.3; launch, 6.1), and which of them were written.
///
/// Written by the launch program only, before anything reads; the atomics only say so to the
/// compiler and cost nothing.
pub struct UniformFile {
    words: [AtomicU32; 256],
    written: [AtomicU32; 8],
}

impl Default for UniformFile {
    fn default() -> UniformFile {
        UniformFile {
            words: [const { AtomicU32::new(0) }; 256],
            written: [const { AtomicU32::new(0) }; 8],
        }
    }
}

impl UniformFile {
    /// Word `index`; 0 when never written (the hardware's content is undefined then).
    #[inline(always)]
    #[must_use]
    pub fn get(&self, index: u8) -> u32 {
        self.words[usize::from(index)].load(Ordering::Relaxed)
    }

    /// Pair `index` as a 64-bit value: words 2i and 2i + 1 (isa-2, 0).
    #[inline(always)]
    #[must_use]
    pub fn pair(&self, index: u8) -> u64 {
        let low = index.wrapping_mul(2);
        u64::from(self.get(low)) | u64::from(self.get(low | 1)) << 32
    }

    /// Writes word `index`.
    pub fn set(&self, index: u8, value: u32) {
        self.words[usize::from(index)].store(value, Ordering::Relaxed);
        self.written[usize::from(index) / 32].fetch_or(1 << (index % 32), Ordering::Relaxed);
    }

    /// Has word `index` been written?
    #[must_use]
    pub fn is_written(&self, index: u8) -> bool {
        self.written[usize::from(index) / 32].load(Ordering::Relaxed) >> (index % 32) & 1 == 1
    }
}

/// One dispatch (or one launch program): shared by all workers.
pub struct Dispatch<'d> {
    /// Which kind of program.
    pub stage: Stage,
    /// The argument window.
    pub uniforms: &'d UniformFile,
    /// Threads of the whole grid, x, y, z.
    pub global: [u32; 3],
    /// Threads of a workgroup, x, y, z.
    pub local: [u32; 3],
    /// Workgroups, x, y, z.
    pub groups: [u32; 3],
    /// FRAME's extent A: bytes of scratch of each lane (launch, 4.7).
    pub scratch_bytes: u32,
    /// ALLOC's size: bytes of threadgroup memory.
    pub threadgroup_bytes: u32,
    /// Instructions that one SIMD group may execute before it counts as a runaway.
    pub watchdog: u64,
    /// Stop as soon as possible.
    pub cancel: &'d AtomicBool,
    /// Report what the hardware would let pass silently.
    pub strict: bool,
    /// A fragment shader asks for the depth and stencil tests itself (graphics, 7.8).
    pub late_tests: bool,
}

/// One workgroup, worked on by one thread.
pub struct Workgroup<'g> {
    /// The dispatch.
    pub dispatch: &'g Dispatch<'g>,
    /// The worker's address translation.
    pub tlb: &'g Tlb<'g>,
    /// Its index in the grid.
    pub id: [u32; 3],
    /// Threadgroup memory, in words.
    pub shared: &'g [Cell<u32>],
}
