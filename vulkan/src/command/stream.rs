// SPDX-License-Identifier: MIT
//! The records of a command buffer, cut into segments.

use agx_hw::cdm::{Barrier, READ_AHEAD, Record};

use super::chunk::{CHUNK, Memory, Piece, Spare, Use};
use super::segment::{Segment, Stamp};
use crate::device::Device;
use crate::error::{VkResult, record};
use crate::host::HostVec;

/// What must stay free behind the last record of a chunk: the terminator, and what command fetch
/// reads ahead of it (launch, 8.7).
const TAIL: usize = 4 + READ_AHEAD as usize;

/// Bytes of a barrier.
const BARRIER: usize = Record::Barrier(Barrier::FULL).size();

/// Where records go.
#[derive(Default)]
pub(super) struct Stream {
    chunk: Option<Piece>,
    used: usize,
    /// Where the open segment begins, when one is open.
    start: Option<usize>,
}

impl Stream {
    /// Whether there is room for so many records.
    #[inline]
    pub(super) fn has_room(&self, count: usize) -> bool {
        // And for the barrier that opens a segment.
        let end = self.used + Record::MAX_SIZE * count + BARRIER + TAIL;
        self.chunk.is_some() && end <= CHUNK as usize
    }

    /// Goes on in another chunk.
    ///
    /// # Errors
    /// When there is no memory.
    #[cold]
    pub(super) fn make_room(
        &mut self,
        device: &Device,
        memory: &mut Memory,
        spare: &mut Spare,
        segments: &mut HostVec<Segment>,
    ) -> VkResult {
        self.close(segments, None)?;
        self.chunk = Some(memory.take_chunk(&device.gpu, spare, Use::Stream)?);
        self.used = 0;
        Ok(())
    }

    /// Appends records for which there is room, opening a segment if need be.
    ///
    /// # Errors
    /// When one is not legal.
    #[inline]
    pub(super) fn push<const N: usize>(&mut self, records: [Record; N]) -> VkResult {
        if self.start.is_none() {
            self.start = Some(self.used);
            // Code and launch programs were written by the CPU since the last segment
            // (launch, 8.5).
            self.write([Record::Barrier(Barrier::FULL)])?;
        }
        self.write(records)
    }

    #[inline]
    fn write<const N: usize>(&mut self, records: [Record; N]) -> VkResult {
        let Some(chunk) = self.chunk else {
            unreachable!("records are written to a chunk");
        };
        // SAFETY: the chunk is of the command buffer that is being recorded; no other reference
        // lives.
        let mut rest = unsafe { chunk.bytes() }
            .get_mut(self.used..)
            .unwrap_or_default();
        for what in &records {
            let size = what.pack(rest).map_err(record)?;
            rest = rest.split_at_mut(size).1;
            self.used += size;
        }
        Ok(())
    }

    /// Ends the open segment, if one is open.
    ///
    /// # Errors
    /// When there is no host memory.
    pub(super) fn close(
        &mut self,
        segments: &mut HostVec<Segment>,
        ended: Option<Stamp>,
    ) -> VkResult {
        let (Some(chunk), Some(start)) = (self.chunk, self.start.take()) else {
            return Ok(());
        };
        self.write([Record::Terminate])?;
        crate::host::push(
            segments,
            Segment {
                start: chunk.address + start as u64,
                end: chunk.address + self.used as u64,
                begun: None,
                ended,
            },
        )
    }

    /// Forgets everything: the memory goes back to the pool.
    pub(super) fn reset(&mut self) {
        *self = Stream::default();
    }
}
