// SPDX-License-Identifier: MIT
//! What a submit waits for and signals (kernel-uapi, 11.2).

use std::sync::Arc;

use agx_uapi::abi::{SubmitArgs, SyncRecord, sync_type};
use agx_uapi::{Chip, Errno};

use super::Output;
use crate::kernel::fence::Fence;
use crate::kernel::node::SimNode;
use crate::kernel::user;

impl SimNode {
    /// The fences of the inputs, and the outputs.
    ///
    /// # Errors
    /// `EINVAL`: unknown type, a binary record with a value, an input without a fence. `ENOENT`.
    ///
    /// # Safety
    /// As for [`agx_uapi::Node::ioctl`].
    pub(super) unsafe fn syncs(
        &self,
        args: &SubmitArgs,
    ) -> Result<(Vec<Arc<Fence>>, Vec<Output>), Errno> {
        let inputs = args.in_sync_count as usize;
        let count = inputs + args.out_sync_count as usize;
        // SAFETY: the caller vouches for that many records.
        let records = unsafe { user::read_array::<SyncRecord>(args.syncs, count)? };
        let (mut fences, mut outputs) = (Vec::new(), Vec::new());
        for (index, record) in records.iter().enumerate() {
            let point = match record.sync_type {
                sync_type::SYNCOBJ if record.timeline_value == 0 => None,
                sync_type::TIMELINE_SYNCOBJ => Some(record.timeline_value),
                _ => return Err(Errno::EINVAL),
            };
            let syncobj = self.syncobj(record.handle)?;
            if index >= inputs {
                outputs.push((syncobj, point));
                continue;
            }
            let fence = syncobj.find(point.unwrap_or(0))?;
            // What is over need not be waited for; the A18 Pro still wants to know how it ended.
            if self.chip() == Chip::A18Pro || !fence.is_signalled() {
                fences.push(fence);
            }
        }
        Ok((fences, outputs))
    }
}
