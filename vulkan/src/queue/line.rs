// SPDX-License-Identifier: MIT
//! A queue as the kernel knows it: batches go in, in order.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agx_uapi::abi::limits::MAX_SYNCS;
use agx_uapi::{
    Deadline, Errno, Kernel, Priority, QueueId, Submit, SyncHandle, SyncPoint, WaitFlags,
};

use super::batch::{ADDED_SYNCS, Batch};
use super::in_flight::InFlight;
use crate::debug::{self, Flags};
use crate::error::{VkResult, kernel};
use crate::gpu::Gpu;
use crate::host::HostAllocator;

/// The queue.
///
/// Its timeline has a point for each batch. All that the queue was asked for up to there is over
/// when the point is reached, for a timeline's points are reached in order.
pub(super) struct Line {
    kernel: Arc<dyn Kernel>,
    id: QueueId,
    timeline: SyncHandle,
    order: Mutex<Order>,
    in_flight: Mutex<InFlight>,
}

#[derive(Default)]
struct Order {
    /// The last point of the timeline.
    point: u64,
    /// The last point stands for waits of batches without commands, which the next command must
    /// wait for, too: a semaphore's wait is one for all that is submitted later (Vulkan 1.3, 7.4.2).
    carried: bool,
}

/// Why a batch was not executed.
pub(super) struct Refused {
    /// Which call failed.
    pub(super) call: &'static str,
    /// How.
    pub(super) errno: Errno,
    /// Nothing of it has happened.
    pub(super) untouched: bool,
}

impl Line {
    pub(super) fn new(gpu: &Gpu, priority: Priority, host: HostAllocator) -> VkResult<Line> {
        let interface = gpu.kernel.clone();
        let timeline = interface
            .syncobj_create(false)
            .map_err(kernel("SYNCOBJ_CREATE"))?;
        let id = match interface.queue_create(gpu.vm, priority) {
            Ok(id) => id,
            Err(errno) => {
                let destroyed = interface.syncobj_destroy(timeline);
                debug_assert!(destroyed.is_ok());
                return Err(kernel("QUEUE_CREATE")(errno));
            }
        };
        Ok(Line {
            kernel: interface,
            id,
            timeline,
            order: Mutex::default(),
            in_flight: Mutex::new(InFlight::new(host)),
        })
    }

    fn order(&self) -> MutexGuard<'_, Order> {
        self.order.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn in_flight(&self) -> MutexGuard<'_, InFlight> {
        self.in_flight
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// A slot for a submit that is being prepared.
    pub(super) fn take_slot(&self) -> VkResult<SyncHandle> {
        self.in_flight().take(&*self.kernel)
    }

    /// A slot of a submit that did not come about.
    pub(super) fn give_back(&self, slot: SyncHandle) {
        self.in_flight().give_back(slot);
    }

    /// How many slots there are.
    #[cfg(test)]
    pub(super) fn slots(&self) -> usize {
        self.in_flight().count()
    }

    /// Looks how submits ended that are over.
    ///
    /// # Errors
    /// The error of one that failed.
    pub(super) fn inspect(&self) -> Result<(), Errno> {
        self.in_flight().inspect(&*self.kernel)
    }

    /// Looks when there are many that no one has looked at: who never waits for anything must not
    /// make the list grow for ever.
    ///
    /// # Errors
    /// As for [`Line::inspect`].
    pub(super) fn tidy(&self) -> Result<(), Errno> {
        self.in_flight().tidy(&*self.kernel)
    }

    /// The oldest submit that has not been seen to be over.
    pub(super) fn oldest(&self) -> Option<SyncHandle> {
        self.in_flight().oldest()
    }

    /// What is reached when all that was executed so far is over; nothing before the first batch.
    pub(super) fn last_point(&self) -> Option<SyncPoint> {
        let point = self.order().point;
        (point > 0).then_some(SyncPoint::Timeline(self.timeline, point))
    }

    /// Waits until what a batch waits for has been submitted.
    ///
    /// # Errors
    /// ETIME at the deadline.
    pub(super) fn await_waits(&self, batch: &Batch, deadline: Deadline) -> Result<(), Errno> {
        if batch.waits.is_empty() {
            return Ok(());
        }
        let flags = WaitFlags::ALL | WaitFlags::FOR_SUBMIT | WaitFlags::AVAILABLE;
        self.kernel
            .syncobj_timeline_wait(&batch.waits, flags, deadline)
            .map(|_| ())
    }

    /// Hands a batch to the kernel. What it waits for should have been submitted.
    ///
    /// # Errors
    /// [`Refused`]; with EINVAL when it waits for what is not submitted yet.
    pub(super) fn execute(&self, batch: &mut Batch) -> Result<(), Refused> {
        let mut order = self.order();
        if debug::has(Flags::SUBMIT) {
            debug::print(&format_args!(
                "queue {}: {} commands in {} submits, waits {:?}, signals {:?}",
                self.id.raw(),
                batch.commands(),
                batch.pieces.len(),
                batch.waits,
                batch.signals
            ));
        }
        if batch.pieces.is_empty() {
            self.pass(&mut order, batch)?;
        } else {
            self.submit(&mut order, batch)?;
        }
        drop(order);
        self.consume(batch);
        Ok(())
    }

    /// Commands, in as many submits as they need.
    fn submit(&self, order: &mut Order, batch: &mut Batch) -> Result<(), Refused> {
        let most = MAX_SYNCS as usize - ADDED_SYNCS;
        if batch.waits.len() > most {
            self.collect_waits(order, batch)?;
        }
        let own_waits = batch.waits.len();
        if order.carried {
            let carried = SyncPoint::Timeline(self.timeline, order.point);
            batch.waits.push(carried);
        }
        // Signals that do not fit are copied from the timeline afterwards.
        let own_signals = batch.signals.len();
        let late = own_signals.saturating_sub(most);
        batch
            .signals
            .push(SyncPoint::Timeline(self.timeline, order.point + 1));
        let mut accepted = 0;
        let mut result = Ok(());
        for piece in &batch.pieces {
            let is_last = accepted + 1 == batch.pieces.len();
            let slot = SyncPoint::Binary(piece.slot);
            let only_slot = [slot];
            if is_last {
                batch.signals.push(slot);
            }
            result = self.kernel.submit(&Submit {
                queue: self.id,
                waits: if accepted == 0 { &batch.waits } else { &[] },
                signals: if is_last {
                    &batch.signals[late..]
                } else {
                    &only_slot
                },
                commands: piece.commands.as_bytes(),
            });
            if result.is_err() {
                break;
            }
            self.in_flight().add(piece.slot);
            accepted += 1;
        }
        batch.signals.truncate(own_signals);
        batch.waits.truncate(own_waits);
        batch.pieces.drain(..accepted);
        result.map_err(|errno| Refused {
            call: "SUBMIT",
            errno,
            untouched: accepted == 0,
        })?;
        order.point += 1;
        order.carried = false;
        self.signal_after(order.point, &batch.signals[..late])
    }

    /// No commands: what comes later still waits for what this waits for, and what it signals is
    /// signalled after that and everything before. A submit of an empty stream would do the same
    /// with a trip through the firmware and the GPU; the timeline has fences for it already.
    fn pass(&self, order: &mut Order, batch: &mut Batch) -> Result<(), Refused> {
        self.collect_waits(order, batch)?;
        self.signal_after(order.point, &batch.signals)
    }

    /// Makes what a batch waits for a part of the timeline; it waits for no more then.
    fn collect_waits(&self, order: &mut Order, batch: &mut Batch) -> Result<(), Refused> {
        // All or nothing.
        self.await_waits(batch, Deadline::NOW)
            .map_err(|errno| Refused {
                call: "SYNCOBJ_TIMELINE_WAIT",
                errno: if errno == Errno::ETIME {
                    Errno::EINVAL
                } else {
                    errno
                },
                untouched: true,
            })?;
        for wait in batch.waits.drain(..) {
            let to = SyncPoint::Timeline(self.timeline, order.point + 1);
            self.kernel
                .syncobj_transfer(wait, to, false)
                .map_err(transfer_failed)?;
            order.point += 1;
            order.carried = true;
        }
        Ok(())
    }

    /// Signals when a point of the timeline is reached.
    fn signal_after(&self, point: u64, signals: &[SyncPoint]) -> Result<(), Refused> {
        if point == 0 {
            // Nothing was ever asked for.
            signals.iter().for_each(|signal| self.signal_now(*signal));
            return Ok(());
        }
        let from = SyncPoint::Timeline(self.timeline, point);
        for signal in signals {
            self.kernel
                .syncobj_transfer(from, *signal, false)
                .map_err(transfer_failed)?;
        }
        Ok(())
    }

    fn signal_now(&self, signal: SyncPoint) {
        let signalled = match signal {
            SyncPoint::Binary(sync) => self.kernel.syncobj_signal(&[sync]),
            SyncPoint::Timeline(sync, point) => {
                self.kernel.syncobj_timeline_signal(&[(sync, point)])
            }
        };
        if let Err(errno) = signalled {
            debug::error(&format_args!("SYNCOBJ_SIGNAL: {errno}"));
        }
    }

    /// Its waits are with the kernel: binary semaphores are unsignalled, imported payloads gone.
    fn consume(&self, batch: &mut Batch) {
        if !batch.consumed.is_empty()
            && let Err(errno) = self.kernel.syncobj_reset(&batch.consumed)
        {
            debug::error(&format_args!("SYNCOBJ_RESET: {errno}"));
        }
        for sync in batch.temporary.drain(..) {
            if let Err(errno) = self.kernel.syncobj_destroy(sync) {
                debug::error(&format_args!("SYNCOBJ_DESTROY: {errno}"));
            }
        }
    }

    /// Forgets a batch of which nothing has happened. The payloads that it took are the caller's.
    pub(super) fn discard(&self, batch: &mut Batch) {
        for piece in batch.pieces.drain(..) {
            self.give_back(piece.slot);
        }
    }

    /// Ends a batch that will not be executed because the device is lost: nobody, in this process or
    /// another, may wait for it for ever.
    pub(super) fn abandon(&self, batch: &mut Batch) {
        for signal in &batch.signals {
            self.signal_now(*signal);
        }
        self.consume(batch);
        self.discard(batch);
    }
}

fn transfer_failed(errno: Errno) -> Refused {
    Refused {
        call: "SYNCOBJ_TRANSFER",
        errno,
        untouched: false,
    }
}

impl Drop for Line {
    /// What is in flight keeps its fences; QUEUE_DESTROY waits for it (kernel-uapi, 10.2).
    fn drop(&mut self) {
        if let Err(errno) = self.kernel.queue_destroy(self.id) {
            debug::error(&format_args!("QUEUE_DESTROY: {errno}"));
        }
        self.in_flight().clear(&*self.kernel);
        if let Err(errno) = self.kernel.syncobj_destroy(self.timeline) {
            debug::error(&format_args!("SYNCOBJ_DESTROY: {errno}"));
        }
    }
}
