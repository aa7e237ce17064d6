// SPDX-License-Identifier: MIT
//! From the application's submits to those of the kernel.

use agx_uapi::abi::{CmdCompute, Timestamp, Timestamps};
use agx_uapi::command::CommandBuffer;
use agx_uapi::{SyncHandle, SyncPoint};
use ash::vk;

use super::line::Line;
use crate::command::{Segment, Stamp, Work};
use crate::error::VkResult;
use crate::host::{HostAllocator, HostVec, OUT_OF_HOST, push};
use crate::semaphore::Semaphore;

/// Work between waits and signals: what of a vkQueueSubmit goes to the kernel without looking left
/// or right.
///
/// It may outlive the command that made it and be executed on a thread that may not call the
/// application's allocator: executing it takes no memory from there.
pub(super) struct Batch {
    /// Waited for before the first command.
    pub(super) waits: HostVec<SyncPoint>,
    /// Kernel submits, in order.
    pub(super) pieces: HostVec<Piece>,
    /// Signalled after the last command.
    pub(super) signals: HostVec<SyncPoint>,
    /// Binary semaphores that the waits make unsignalled.
    pub(super) consumed: HostVec<SyncHandle>,
    /// Imported payloads that end with their wait.
    pub(super) temporary: HostVec<SyncHandle>,
}

/// A submit of the kernel.
pub(super) struct Piece {
    /// At most as many commands as the kernel takes.
    pub(super) commands: CommandBuffer,
    /// See [`super::in_flight`].
    pub(super) slot: SyncHandle,
}

/// Room in the lists of syncs for what executing adds: what a batch without commands left, the
/// queue's timeline, the slot.
pub(super) const ADDED_SYNCS: usize = 2;

impl Batch {
    pub(super) fn new(host: HostAllocator) -> Batch {
        Batch {
            waits: host.vec(),
            pieces: host.vec(),
            signals: host.vec(),
            consumed: host.vec(),
            temporary: host.vec(),
        }
    }

    /// Whether there is nothing to do.
    fn is_empty(&self) -> bool {
        self.waits.is_empty() && self.pieces.is_empty() && self.signals.is_empty()
    }

    /// How many commands there are.
    pub(super) fn commands(&self) -> u32 {
        let count = |piece: &Piece| piece.commands.hardware_commands();
        self.pieces.iter().map(count).sum()
    }
}

/// The batches of one vkQueueSubmit while they are put together. Nothing that the application can
/// see changes before [`Batches::commit`].
pub(super) struct Batches<'a> {
    line: &'a Line,
    host: HostAllocator,
    list: HostVec<Batch>,
    imported: Imported<'a>,
}

/// Temporary payloads that waits took from their semaphores.
pub(super) struct Imported<'a>(HostVec<(&'a Semaphore, SyncHandle)>);

impl Imported<'_> {
    /// Gives them back: the waits did not come about.
    pub(super) fn restore(&mut self) {
        for (semaphore, temporary) in self.0.drain(..) {
            semaphore.put_back(temporary);
        }
    }
}

impl<'a> Batches<'a> {
    pub(super) fn new(line: &'a Line, host: HostAllocator) -> Batches<'a> {
        Batches {
            line,
            host,
            list: host.vec(),
            imported: Imported(host.vec()),
        }
    }

    /// A submit of the application begins. One that waits for nothing goes on in the batch before
    /// when that signals nothing.
    pub(super) fn begin(&mut self, waits: bool) -> VkResult {
        let goes_on = !waits && self.list.last().is_some_and(|last| last.signals.is_empty());
        if !goes_on {
            push(&mut self.list, Batch::new(self.host))?;
        }
        Ok(())
    }

    fn last(&mut self) -> &mut Batch {
        let Some(last) = self.list.last_mut() else {
            unreachable!("begin was called");
        };
        last
    }

    /// The batch waits for a semaphore.
    pub(super) fn wait(&mut self, semaphore: &'a Semaphore, value: u64) -> VkResult {
        let Some(point) = semaphore.point(value) else {
            return Ok(());
        };
        let batch = self.last();
        push(&mut batch.waits, point)?;
        if !semaphore.is_binary() {
            return Ok(());
        }
        batch.consumed.try_reserve(1).map_err(|_| OUT_OF_HOST)?;
        batch.temporary.try_reserve(1).map_err(|_| OUT_OF_HOST)?;
        self.imported.0.try_reserve(1).map_err(|_| OUT_OF_HOST)?;
        // At once: a later batch of the same call means the permanent payload.
        match semaphore.take_temporary() {
            Some(temporary) => {
                self.imported.0.push((semaphore, temporary));
                self.last().temporary.push(temporary);
            }
            None => self.last().consumed.push(point.handle()),
        }
        Ok(())
    }

    /// The batch runs a segment.
    pub(super) fn segment(&mut self, segment: &Segment) -> VkResult {
        let line = self.line;
        let batch = self.last();
        if batch
            .pieces
            .last()
            .is_none_or(|last| last.commands.is_full())
        {
            batch.pieces.try_reserve(1).map_err(|_| OUT_OF_HOST)?;
            batch.pieces.push(Piece {
                commands: CommandBuffer::new(),
                slot: line.take_slot()?,
            });
        }
        let Some(piece) = batch.pieces.last_mut() else {
            unreachable!("just added");
        };
        // Each waits for all before it, also for those of earlier submits: fences of a queue's
        // submits come in any order (kernel-uapi, 11.2), so that they must not be seen before
        // what they cover.
        let barriers = piece.commands.after_all();
        let added = match segment.work {
            Work::Compute { start, end } => {
                let compute = CmdCompute {
                    cdm_ctrl_stream_base: start,
                    cdm_ctrl_stream_end: end,
                    ts: Timestamps {
                        start: timestamp(segment.begun),
                        end: timestamp(segment.ended),
                    },
                    ..CmdCompute::default()
                };
                piece.commands.compute(barriers, &compute)
            }
            Work::Render(mut render) => {
                render.ts_vtx.start = timestamp(segment.begun);
                render.ts_frag.end = timestamp(segment.ended);
                piece.commands.render(barriers, &render)
            }
        };
        added.map(drop).map_err(|error| {
            crate::debug::error(&error);
            vk::Result::ERROR_UNKNOWN
        })
    }

    /// The batch signals a point.
    pub(super) fn signal(&mut self, point: SyncPoint) -> VkResult {
        push(&mut self.last().signals, point)
    }

    /// The last batch, or one of its own when there is none, signals a fence.
    pub(super) fn fence(&mut self, point: SyncPoint) -> VkResult {
        if self.list.is_empty() {
            self.begin(false)?;
        }
        self.signal(point)
    }

    /// How many batches there are.
    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// The batches, which from now on are on their way.
    ///
    /// # Errors
    /// When there is no memory; nothing has changed.
    pub(super) fn commit(mut self) -> VkResult<(HostVec<Batch>, Imported<'a>)> {
        for batch in &mut self.list {
            let room = batch.waits.try_reserve(ADDED_SYNCS);
            room.map_err(|_| OUT_OF_HOST)?;
            let room = batch.signals.try_reserve(ADDED_SYNCS);
            room.map_err(|_| OUT_OF_HOST)?;
        }
        let mut list = std::mem::replace(&mut self.list, self.host.vec());
        list.retain(|batch| !batch.is_empty());
        let imported = std::mem::replace(&mut self.imported.0, self.host.vec());
        Ok((list, Imported(imported)))
    }
}

impl Drop for Batches<'_> {
    fn drop(&mut self) {
        for piece in self.list.iter().flat_map(|batch| &batch.pieces) {
            self.line.give_back(piece.slot);
        }
        self.imported.restore();
    }
}

fn timestamp(stamp: Option<Stamp>) -> Timestamp {
    stamp.map_or(
        Timestamp {
            handle: 0,
            offset: 0,
        },
        |stamp| Timestamp {
            handle: stamp.buffer.raw(),
            offset: stamp.offset,
        },
    )
}
