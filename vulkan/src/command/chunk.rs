// SPDX-License-Identifier: MIT
//! Memory of command buffers: chunks from which pieces are taken in order.
//!
//! Chunks belong to the pool when no command buffer uses them, so that recording again costs no
//! allocation. All of this is externally synchronised with the pool (Vulkan 1.3, 6.1).

use std::ptr::NonNull;
use std::sync::Arc;

use crate::error::VkResult;
use crate::gpu::{Gpu, Slice, Zone};
use crate::host::{HostAllocator, HostVec, OUT_OF_HOST};

/// Bytes of a chunk.
pub(super) const CHUNK: u64 = 64 << 10;

/// What a command buffer writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// Root records, push constants, tables, data of updates.
    Data,
    /// Launch programs.
    Code,
    /// Streams.
    Stream,
    /// Vertex streams and fixed-function state.
    Context,
    /// Nothing: the GPU writes it.
    Scratch,
}

impl Use {
    const COUNT: usize = 5;
    const ALL: [Use; Use::COUNT] = [
        Use::Data,
        Use::Code,
        Use::Stream,
        Use::Context,
        Use::Scratch,
    ];

    const fn zone(self) -> Zone {
        match self {
            Use::Data | Use::Stream => Zone::Upload,
            Use::Code => Zone::Code,
            Use::Context => Zone::Context,
            Use::Scratch => Zone::Scratch,
        }
    }
}

/// Chunks that no command buffer of a pool uses.
pub(super) struct Spare {
    chunks: [HostVec<Slice>; Use::COUNT],
}

impl Spare {
    pub(super) fn new(host: HostAllocator) -> Spare {
        Spare {
            chunks: std::array::from_fn(|_| host.vec()),
        }
    }

    /// Gives all of them back.
    pub(super) fn trim(&mut self) {
        self.chunks.iter_mut().for_each(HostVec::clear);
    }
}

/// A part of a chunk.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    /// The GPU's address.
    pub(super) address: u64,
    cpu: NonNull<u8>,
    size: usize,
}

impl Piece {
    /// Its bytes.
    ///
    /// # Safety
    /// The piece is of a command buffer that is being recorded and was not reset since, and no
    /// other reference to it exists.
    pub(super) unsafe fn bytes<'a>(self) -> &'a mut [u8] {
        // SAFETY: inside a chunk; while a command buffer is recorded the GPU does not read it.
        unsafe { std::slice::from_raw_parts_mut(self.cpu.as_ptr(), self.size) }
    }
}

/// What is left of a chunk.
struct Open {
    address: u64,
    cpu: NonNull<u8>,
    left: u64,
}

/// Memory of one command buffer.
pub(super) struct Memory {
    open: [Option<Open>; Use::COUNT],
    chunks: [HostVec<Slice>; Use::COUNT],
    /// What was too large for a chunk.
    large: HostVec<Slice>,
}

impl Memory {
    pub(super) fn new(host: HostAllocator) -> Memory {
        Memory {
            open: Default::default(),
            chunks: std::array::from_fn(|_| host.vec()),
            large: host.vec(),
        }
    }

    /// A piece of memory whose address is a multiple of `align`, a power of two of at most a page.
    ///
    /// # Errors
    /// When there is no memory.
    #[inline]
    pub(super) fn take(
        &mut self,
        gpu: &Arc<Gpu>,
        spare: &mut Spare,
        what: Use,
        size: usize,
        align: u64,
    ) -> VkResult<Piece> {
        debug_assert!(align.is_power_of_two());
        let open = &mut self.open[what as usize];
        if let Some(open) = open {
            let skip = open.address.wrapping_neg() & (align - 1);
            if skip + size as u64 <= open.left {
                // SAFETY: inside the chunk.
                let cpu = unsafe { open.cpu.add(skip as usize) };
                let piece = Piece {
                    address: open.address + skip,
                    cpu,
                    size,
                };
                // SAFETY: as above.
                open.cpu = unsafe { cpu.add(size) };
                open.address = piece.address + size as u64;
                open.left -= skip + size as u64;
                return Ok(piece);
            }
        }
        self.take_more(gpu, spare, what, size, align)
    }

    /// [`Memory::take`] when the open chunk has no room.
    #[cold]
    fn take_more(
        &mut self,
        gpu: &Arc<Gpu>,
        spare: &mut Spare,
        what: Use,
        size: usize,
        align: u64,
    ) -> VkResult<Piece> {
        if size as u64 > CHUNK / 2 {
            return self.take_large(gpu, what, size, align);
        }
        self.next_chunk(gpu, spare, what)?;
        self.take(gpu, spare, what, size, align)
    }

    /// All of a new chunk, for what fills it itself.
    ///
    /// # Errors
    /// When there is no memory.
    pub(super) fn take_chunk(
        &mut self,
        gpu: &Arc<Gpu>,
        spare: &mut Spare,
        what: Use,
    ) -> VkResult<Piece> {
        self.next_chunk(gpu, spare, what)?;
        self.take(gpu, spare, what, CHUNK as usize, 64)
    }

    fn next_chunk(&mut self, gpu: &Arc<Gpu>, spare: &mut Spare, what: Use) -> VkResult {
        let chunks = &mut self.chunks[what as usize];
        chunks.try_reserve(1).map_err(|_| OUT_OF_HOST)?;
        let chunk = match spare.chunks[what as usize].pop() {
            Some(chunk) => chunk,
            None => gpu.allocate(what.zone(), CHUNK, 64)?,
        };
        self.open[what as usize] = Some(Open {
            address: chunk.address(),
            cpu: chunk.cpu(),
            left: CHUNK,
        });
        chunks.push(chunk);
        Ok(())
    }

    fn take_large(
        &mut self,
        gpu: &Arc<Gpu>,
        what: Use,
        size: usize,
        align: u64,
    ) -> VkResult<Piece> {
        let slice = gpu.allocate(what.zone(), size as u64, align)?;
        let piece = Piece {
            address: slice.address(),
            cpu: slice.cpu(),
            size,
        };
        self.keep(slice)?;
        Ok(piece)
    }

    /// Keeps memory until the command buffer is reset.
    ///
    /// # Errors
    /// When there is no host memory; the memory is freed.
    pub(super) fn keep(&mut self, slice: Slice) -> VkResult {
        crate::host::push(&mut self.large, slice)
    }

    /// Gives the chunks to the pool. What does not find room there is freed.
    pub(super) fn reset(&mut self, spare: &mut Spare) {
        self.open = Default::default();
        self.large.clear();
        for what in Use::ALL {
            let chunks = &mut self.chunks[what as usize];
            let room = &mut spare.chunks[what as usize];
            if room.try_reserve(chunks.len()).is_ok() {
                room.append(chunks);
            }
            chunks.clear();
        }
    }
}
