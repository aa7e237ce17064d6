// SPDX-License-Identifier: MIT
//! Requests on sync files, which the kernel answers whoever made the file.

use std::os::fd::BorrowedFd;
use std::sync::Arc;

use agx_uapi::abi::{SyncFenceInfo, SyncFileInfo};
use agx_uapi::{Abi, Errno};

use super::fence::{Fence, Outcome};
use super::files::{self, Shared};
use super::syncobj::Syncobj;
use super::user;

/// A name in a field of the interface.
fn name(text: &str) -> [u8; 32] {
    let mut field = [0; 32];
    // The last byte stays: the end of the text.
    let room = field.len() - 1;
    field
        .iter_mut()
        .zip(text.bytes().take(room))
        .for_each(|(to, from)| *to = from);
    field
}

fn status(outcome: Option<Outcome>) -> i32 {
    match outcome {
        None => 0,
        Some(Ok(())) => 1,
        Some(Err(errno)) => -errno.0,
    }
}

/// FILE_INFO. Every file is of one fence here: what the kernel lists of a chain or an array depends
/// on how much of it is over, so that callers can rely on the whole only.
///
/// # Errors
/// `ENOTTY`: no sync file. `EINVAL`: flags.
///
/// # Safety
/// As for [`agx_uapi::Node::ioctl`].
pub(super) unsafe fn info(file: BorrowedFd<'_>, args: &mut SyncFileInfo) -> Result<(), Errno> {
    let Some(Shared::SyncFile(fence)) = files::find(file) else {
        return Err(Errno::ENOTTY);
    };
    if args.flags != 0 || args.pad != 0 {
        return Err(Errno::EINVAL);
    }
    let outcome = fence.outcome();
    if args.num_fences > 0 {
        let record = SyncFenceInfo {
            obj_name: name("simulated queue"),
            driver_name: name("asahi"),
            status: status(outcome),
            ..SyncFenceInfo::zeroed()
        };
        // SAFETY: the caller vouches for `num_fences` records.
        unsafe { user::write_bytes(args.sync_fence_info, record.as_bytes())? };
    }
    args.name = name("simulated");
    args.status = status(outcome);
    args.num_fences = 1;
    Ok(())
}

/// What a sync file of a point stands for. The links of a timeline tell when they are reached, but
/// not how what they are made of ended.
///
/// # Errors
/// `EINVAL`: the point has no fence.
pub(super) fn of(syncobj: &Syncobj, point: u64) -> Result<Arc<Fence>, Errno> {
    let fence = syncobj.find(point)?;
    Ok(if syncobj.is_timeline() {
        Fence::both(&fence, &Fence::signalled())
    } else {
        fence
    })
}
