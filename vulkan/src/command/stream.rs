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
    /// Appends a record, opening a segment if need be.
    ///
    /// # Errors
    /// When there is no memory or the record is not legal.
    pub(super) fn push(
        &mut self,
        device: &Device,
        memory: &mut Memory,
        spare: &mut Spare,
        segments: &mut HostVec<Segment>,
        what: Record,
    ) -> VkResult {
        // With the barrier that opens a segment.
        let most = BARRIER + Record::MAX_SIZE + TAIL;
        if self.chunk.is_none() || self.used + most > CHUNK as usize {
            self.close(segments, None)?;
            self.chunk = Some(memory.take_chunk(&device.gpu, spare, Use::Stream)?);
            self.used = 0;
        }
        if self.start.is_none() {
            self.start = Some(self.used);
            // Code and launch programs were written by the CPU since the last segment
            // (launch, 8.5).
            self.write(Record::Barrier(Barrier::FULL))?;
        }
        self.write(what)
    }

    fn write(&mut self, what: Record) -> VkResult {
        let Some(chunk) = self.chunk else {
            unreachable!("records are written to a chunk");
        };
        // SAFETY: the chunk is of the command buffer that is being recorded; no other reference
        // lives.
        let bytes = unsafe { chunk.bytes() };
        self.used += what.pack(&mut bytes[self.used..]).map_err(record)?;
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
        self.write(Record::Terminate)?;
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
