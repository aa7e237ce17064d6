// SPDX-License-Identifier: MIT
//! Queues (kernel-uapi, 10).

use std::sync::Arc;

use agx_uapi::abi::{QueueCreate, QueueDestroy, limits, priority};
use agx_uapi::{Chip, Errno};

use super::node::SimNode;
use super::scheduler::{QueueKey, Urgency};
use super::vm::Vm;

/// A queue: one render and one compute subqueue on a VM.
#[derive(Debug)]
pub(crate) struct Queue {
    pub(crate) key: QueueKey,
    pub(crate) vm: Arc<Vm>,
}

impl SimNode {
    /// QUEUE_CREATE (kernel-uapi, 10.1; for the A18 Pro also 7.3).
    pub(super) fn queue_create(&self, args: &mut QueueCreate) -> Result<(), Errno> {
        let urgency = match args.priority {
            priority::LOW => Urgency::Low,
            priority::MEDIUM => Urgency::Medium,
            _ => return Err(Errno::EINVAL),
        };
        if args.flags != 0 || args.usc_exec_base != limits::USC_WINDOW.start {
            return Err(Errno::EINVAL);
        }
        let vm = self.vm(args.vm_id)?;
        let window = limits::USC_WINDOW;
        let clear = vm.kernel.end <= window.start || window.end <= vm.kernel.start;
        if self.chip() == Chip::A18Pro && !clear {
            return Err(Errno::EINVAL);
        }
        if !vm.add_queue() {
            return Err(Errno::ENOENT);
        }
        let key = self.device.scheduler.open_queue(urgency);
        let queue = Arc::new(Queue { key, vm });
        let inserted = self.tables().queues.insert(queue);
        match inserted {
            Ok(id) => {
                args.queue_id = id;
                Ok(())
            }
            Err(queue) => {
                self.device.scheduler.close_queue(key);
                queue.vm.remove_queue();
                Err(self.chip().ids_exhausted())
            }
        }
    }

    /// QUEUE_DESTROY (kernel-uapi, 10.2). On the M4 cancels what is not published and waits for the
    /// rest; on the A18 Pro everything accepted goes on.
    pub(super) fn queue_destroy(&self, args: &QueueDestroy) -> Result<(), Errno> {
        if args.pad != 0 {
            return Err(Errno::EINVAL);
        }
        let queue = self.tables().queues.remove(args.queue_id);
        let queue = queue.ok_or(Errno::ENOENT)?;
        let scheduler = &self.device.scheduler;
        scheduler.close_queue(queue.key);
        let mut waited = Ok(());
        if self.chip() == Chip::M4 {
            scheduler.cancel_pending(&[queue.key]);
            waited = scheduler.wait_queue(queue.key, self.device.config.internal_wait);
        }
        {
            // What still runs is the file's concern when it is closed.
            let mut tables = self.tables();
            tables.nameless_queues.push(queue.key);
            tables
                .nameless_queues
                .retain(|key| scheduler.knows_queue(*key));
        }
        if queue.vm.remove_queue() {
            waited = waited.and(self.tear_down(&queue.vm));
        }
        waited
    }
}
