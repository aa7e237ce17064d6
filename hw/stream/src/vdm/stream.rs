// SPDX-License-Identifier: MIT
//! Writing and reading contiguous records.

use super::{Barrier, Draw, Link, Record, Update, VertexState};
use crate::error::{Result, illegal};
use crate::window::{ContextAddress, RENDER_SIZE};

/// Writes records one behind the other into memory that lies in the render context's window.
#[derive(Debug)]
pub struct VdmStream<'a> {
    memory: &'a mut [u8],
    base: ContextAddress,
    used: usize,
}

impl<'a> VdmStream<'a> {
    /// A stream at `base`, to be written into `memory`.
    ///
    /// # Errors
    /// When the memory does not end in the window.
    pub fn new(memory: &'a mut [u8], base: ContextAddress) -> Result<VdmStream<'a>> {
        if memory.len() as u64 > RENDER_SIZE - u64::from(base.offset()) {
            let legal = "memory that ends in the render context";
            return illegal("VDM stream", "base", base.address(), legal);
        }
        Ok(VdmStream {
            memory,
            base,
            used: 0,
        })
    }

    /// Appends a record.
    ///
    /// # Errors
    /// When the memory is full or the record is not legal; the stream is then as before.
    pub fn push(&mut self, record: Record) -> Result<()> {
        let size = record.pack(self.rest())?;
        self.advance(size);
        Ok(())
    }

    /// The memory that is left.
    pub(super) fn rest(&mut self) -> &mut [u8] {
        self.memory.get_mut(self.used..).unwrap_or_default()
    }

    /// Counts bytes that were written to [`VdmStream::rest`].
    pub(super) fn advance(&mut self, size: usize) {
        self.used += size;
    }

    /// Appends [`Barrier::START`].
    ///
    /// # Errors
    /// As [`VdmStream::push`].
    pub fn barrier(&mut self) -> Result<()> {
        self.push(Record::Barrier(Barrier::START))
    }

    /// Appends vertex state.
    ///
    /// # Errors
    /// As [`VdmStream::push`].
    pub fn vertex(&mut self, state: VertexState) -> Result<()> {
        self.push(Record::Vertex(state))
    }

    /// Appends an update of fixed-function state.
    ///
    /// # Errors
    /// As [`VdmStream::push`].
    pub fn update(&mut self, update: Update) -> Result<()> {
        self.push(Record::Update(update))
    }

    /// Appends a draw; in front of an indexed one the index that restarts primitives, which is all ones
    /// of the index size in Vulkan (graphics, 3.3; HW).
    ///
    /// # Errors
    /// As [`VdmStream::push`].
    pub fn draw(&mut self, draw: Draw) -> Result<()> {
        let before = self.used;
        if let Some(indices) = draw.vertices.indices() {
            let ones = u32::MAX >> (32 - 8 * indices.size.bytes());
            self.push(Record::Restart(ones))?;
        }
        let result = self.push(Record::Draw(draw));
        if result.is_err() {
            self.used = before;
        }
        result
    }

    /// Appends a link in place of a terminator; returns the segment's end address.
    ///
    /// # Errors
    /// As [`VdmStream::push`].
    pub fn link(mut self, target: ContextAddress) -> Result<u64> {
        let with_return = false;
        self.push(Record::Link(Link {
            target,
            with_return,
        }))?;
        Ok(self.address())
    }

    /// Appends the terminator; returns the stream's end address. [`READ_AHEAD`](super::READ_AHEAD) bytes
    /// behind it must be mapped.
    ///
    /// # Errors
    /// As [`VdmStream::push`].
    pub fn terminate(mut self) -> Result<u64> {
        self.push(Record::Terminate)?;
        Ok(self.address())
    }

    /// The GPU address of the next record.
    #[must_use]
    pub const fn address(&self) -> u64 {
        self.base.address() + self.used as u64
    }

    /// Bytes written.
    #[must_use]
    pub const fn size(&self) -> usize {
        self.used
    }

    /// Bytes left.
    #[must_use]
    pub const fn room(&self) -> usize {
        self.memory.len() - self.used
    }
}

/// The records in `bytes`, with their offsets, up to the first that ends the sequence: terminator,
/// link without return, barrier that returns, an error, or the last byte.
pub fn records(bytes: &[u8]) -> impl Iterator<Item = Result<(usize, Record)>> + '_ {
    let mut at = Some(0);
    std::iter::from_fn(move || {
        let offset = at.take()?;
        let rest = bytes.get(offset..).filter(|rest| !rest.is_empty())?;
        Some(Record::unpack(rest).map(|(record, size)| {
            let ends = match record {
                Record::Terminate => true,
                Record::Link(link) => !link.with_return,
                Record::Barrier(barrier) => barrier.returns(),
                _ => false,
            };
            at = (!ends).then_some(offset + size);
            (offset, record)
        }))
    })
}
