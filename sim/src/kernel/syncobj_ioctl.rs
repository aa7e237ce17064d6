// SPDX-License-Identifier: MIT
//! The syncobj requests of the DRM core.

use std::os::fd::IntoRawFd;
use std::sync::Arc;
use std::time::Duration;

use agx_uapi::abi::{
    FdToHandleFlags, HandleToFdFlags, SyncobjArray, SyncobjCreate, SyncobjCreateFlags,
    SyncobjDestroy, SyncobjHandle, SyncobjQueryFlags, SyncobjTimelineArray, SyncobjTimelineWait,
    SyncobjTransfer, SyncobjWait, SyncobjWaitFlags,
};
use agx_uapi::{Abi, Errno};

use super::fence::Fence;
use super::files::{self, Shared};
use super::node::SimNode;
use super::prime;
use super::sync_file;
use super::syncobj::{self, Syncobj, Wait};
use super::time::Deadline;
use super::user::{self, with_fd};

/// How long TRANSFER waits for a fence to appear.
const TRANSFER_WAIT: Duration = Duration::from_secs(5);

fn wait_for(flags: SyncobjWaitFlags, deadline: Deadline) -> Wait {
    Wait {
        all: flags.contains(SyncobjWaitFlags::ALL),
        for_submit: flags.contains(SyncobjWaitFlags::FOR_SUBMIT),
        available: flags.contains(SyncobjWaitFlags::AVAILABLE),
        deadline,
    }
}

impl SimNode {
    /// The syncobj of a handle.
    ///
    /// # Errors
    /// `ENOENT`.
    pub(super) fn syncobj(&self, handle: u32) -> Result<Arc<Syncobj>, Errno> {
        self.tables()
            .syncobjs
            .get(handle)
            .cloned()
            .ok_or(Errno::ENOENT)
    }

    /// The syncobjs of an array of handles.
    ///
    /// # Safety
    /// As for [`agx_uapi::Node::ioctl`].
    unsafe fn syncobj_list(&self, handles: u64, count: u32) -> Result<Vec<Arc<Syncobj>>, Errno> {
        // SAFETY: the caller vouches for the array.
        let handles = unsafe { user::read_array::<u32>(handles, count as usize)? };
        handles
            .into_iter()
            .map(|handle| self.syncobj(handle))
            .collect()
    }

    /// SYNCOBJ_CREATE.
    pub(super) fn syncobj_create(&self, args: &mut SyncobjCreate) -> Result<(), Errno> {
        if args.flags.unknown() != 0 {
            return Err(Errno::EINVAL);
        }
        let syncobj = Syncobj::new(args.flags.contains(SyncobjCreateFlags::SIGNALED));
        args.handle = self.tables().syncobjs.insert(syncobj);
        Ok(())
    }

    /// SYNCOBJ_DESTROY.
    pub(super) fn syncobj_destroy(&self, args: &SyncobjDestroy) -> Result<(), Errno> {
        if args.pad != 0 {
            return Err(Errno::EINVAL);
        }
        let removed = self.tables().syncobjs.remove(args.handle);
        removed.map(drop).ok_or(Errno::EINVAL)
    }

    /// SYNCOBJ_HANDLE_TO_FD.
    pub(super) fn syncobj_handle_to_fd(&self, args: &mut SyncobjHandle) -> Result<(), Errno> {
        let flags = HandleToFdFlags::from_bits_retain(args.flags);
        if args.pad != 0 || flags.unknown() != 0 {
            return Err(Errno::EINVAL);
        }
        let point = if flags.contains(HandleToFdFlags::TIMELINE) {
            args.point
        } else {
            0
        };
        let shared = if flags.contains(HandleToFdFlags::EXPORT_SYNC_FILE) {
            Shared::SyncFile(sync_file::of(&*self.syncobj(args.handle)?, point)?)
        } else if point != 0 {
            return Err(Errno::EINVAL);
        } else {
            Shared::Syncobj(self.syncobj(args.handle).map_err(|_| Errno::EINVAL)?)
        };
        args.fd = files::export(shared)?.into_raw_fd();
        Ok(())
    }

    /// SYNCOBJ_FD_TO_HANDLE. Each import of a syncobj is a handle of its own.
    pub(super) fn syncobj_fd_to_handle(&self, args: &mut SyncobjHandle) -> Result<(), Errno> {
        let flags = FdToHandleFlags::from_bits_retain(args.flags);
        if args.pad != 0 || flags.unknown() != 0 {
            return Err(Errno::EINVAL);
        }
        let point = if flags.contains(FdToHandleFlags::TIMELINE) {
            args.point
        } else {
            0
        };
        if flags.contains(FdToHandleFlags::IMPORT_SYNC_FILE) {
            let fence = prime::sync_file(args.fd)?;
            let syncobj = self.syncobj(args.handle)?;
            match point {
                0 => syncobj.replace(Some(fence)),
                point => syncobj.add_point(&fence, point),
            }
            return Ok(());
        }
        if point != 0 {
            return Err(Errno::EINVAL);
        }
        match with_fd(args.fd, |file| Ok(files::find(file))) {
            Ok(Some(Shared::Syncobj(syncobj))) => {
                args.handle = self.tables().syncobjs.insert(syncobj);
                Ok(())
            }
            _ => Err(Errno::EINVAL),
        }
    }

    /// SYNCOBJ_WAIT.
    ///
    /// # Safety
    /// As for [`agx_uapi::Node::ioctl`].
    pub(super) unsafe fn syncobj_wait(&self, args: &mut SyncobjWait) -> Result<(), Errno> {
        // Waiting for the fence to be there only makes sense for timelines.
        if args.flags.unknown() != 0 || args.flags.contains(SyncobjWaitFlags::AVAILABLE) {
            return Err(Errno::EINVAL);
        }
        if args.count_handles == 0 {
            return Ok(());
        }
        // SAFETY: passed on.
        let syncobjs = unsafe { self.syncobj_list(args.handles, args.count_handles)? };
        let entries: Vec<_> = syncobjs.into_iter().map(|syncobj| (syncobj, 0)).collect();
        let wait = wait_for(args.flags, Deadline::absolute(args.timeout_nsec));
        args.first_signaled = syncobj::wait(&entries, wait)?;
        Ok(())
    }

    /// SYNCOBJ_TIMELINE_WAIT.
    ///
    /// # Safety
    /// As for [`agx_uapi::Node::ioctl`].
    pub(super) unsafe fn syncobj_timeline_wait(
        &self,
        args: &mut SyncobjTimelineWait,
    ) -> Result<(), Errno> {
        if args.flags.unknown() != 0 {
            return Err(Errno::EINVAL);
        }
        if args.count_handles == 0 {
            return Ok(());
        }
        // SAFETY: passed on.
        let syncobjs = unsafe { self.syncobj_list(args.handles, args.count_handles)? };
        // SAFETY: passed on.
        let points = unsafe { self.points(args.points, args.count_handles)? };
        let entries: Vec<_> = syncobjs.into_iter().zip(points).collect();
        let wait = wait_for(args.flags, Deadline::absolute(args.timeout_nsec));
        args.first_signaled = syncobj::wait(&entries, wait)?;
        Ok(())
    }

    /// Points of timelines; all 0 without an array.
    ///
    /// # Safety
    /// As for [`agx_uapi::Node::ioctl`].
    unsafe fn points(&self, points: u64, count: u32) -> Result<Vec<u64>, Errno> {
        match points {
            0 => Ok(vec![0; count as usize]),
            // SAFETY: the caller vouches for the array.
            points => unsafe { user::read_array(points, count as usize) },
        }
    }

    /// SYNCOBJ_RESET.
    ///
    /// # Safety
    /// As for [`agx_uapi::Node::ioctl`].
    pub(super) unsafe fn syncobj_reset(&self, args: &SyncobjArray) -> Result<(), Errno> {
        // SAFETY: passed on.
        for syncobj in unsafe { self.syncobj_array(args)? } {
            syncobj.replace(None);
        }
        Ok(())
    }

    /// SYNCOBJ_SIGNAL.
    ///
    /// # Safety
    /// As for [`agx_uapi::Node::ioctl`].
    pub(super) unsafe fn syncobj_signal(&self, args: &SyncobjArray) -> Result<(), Errno> {
        // SAFETY: passed on.
        for syncobj in unsafe { self.syncobj_array(args)? } {
            syncobj.replace(Some(Fence::signalled()));
        }
        Ok(())
    }

    /// The syncobjs of RESET and SIGNAL.
    ///
    /// # Safety
    /// As for [`agx_uapi::Node::ioctl`].
    unsafe fn syncobj_array(&self, args: &SyncobjArray) -> Result<Vec<Arc<Syncobj>>, Errno> {
        if args.pad != 0 || args.count_handles == 0 {
            return Err(Errno::EINVAL);
        }
        // SAFETY: passed on.
        unsafe { self.syncobj_list(args.handles, args.count_handles) }
    }

    /// SYNCOBJ_TIMELINE_SIGNAL.
    ///
    /// # Safety
    /// As for [`agx_uapi::Node::ioctl`].
    pub(super) unsafe fn syncobj_timeline_signal(
        &self,
        args: &SyncobjTimelineArray,
    ) -> Result<(), Errno> {
        if !args.flags.is_empty() || args.count_handles == 0 {
            return Err(Errno::EINVAL);
        }
        // SAFETY: passed on.
        let syncobjs = unsafe { self.syncobj_list(args.handles, args.count_handles)? };
        // SAFETY: passed on.
        let points = unsafe { self.points(args.points, args.count_handles)? };
        for (syncobj, point) in syncobjs.into_iter().zip(points) {
            syncobj.add_point(&Fence::signalled(), point);
        }
        Ok(())
    }

    /// SYNCOBJ_QUERY.
    ///
    /// # Safety
    /// As for [`agx_uapi::Node::ioctl`].
    pub(super) unsafe fn syncobj_query(&self, args: &SyncobjTimelineArray) -> Result<(), Errno> {
        if args.flags.unknown() != 0 || args.count_handles == 0 {
            return Err(Errno::EINVAL);
        }
        let last_submitted = args.flags.contains(SyncobjQueryFlags::LAST_SUBMITTED);
        // SAFETY: passed on.
        let syncobjs = unsafe { self.syncobj_list(args.handles, args.count_handles)? };
        for (index, syncobj) in syncobjs.iter().enumerate() {
            let address = args.points.wrapping_add(index as u64 * 8);
            // SAFETY: the caller vouches for the array.
            unsafe { user::write_bytes(address, syncobj.query(last_submitted).as_bytes())? };
        }
        Ok(())
    }

    /// SYNCOBJ_TRANSFER; point 0 means the whole object.
    pub(super) fn syncobj_transfer(&self, args: &SyncobjTransfer) -> Result<(), Errno> {
        if args.pad != 0 {
            return Err(Errno::EINVAL);
        }
        let to = self.syncobj(args.dst_handle)?;
        let from = self.syncobj(args.src_handle)?;
        let fence = match from.find(args.src_point) {
            Err(_) if args.flags.contains(SyncobjWaitFlags::FOR_SUBMIT) => {
                from.find_in_time(args.src_point, Deadline::after(TRANSFER_WAIT))?
            }
            found => found?,
        };
        match args.dst_point {
            0 => to.replace(Some(fence)),
            point => to.add_point(&fence, point),
        }
        Ok(())
    }
}
