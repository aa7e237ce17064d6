// SPDX-License-Identifier: MIT
//! Memory that the X server sees, too (MIT-SHM 1.2).

use std::ptr::NonNull;
use std::sync::Arc;

use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use x11rb::connection::{Connection as _, RequestConnection as _};
use x11rb::protocol::shm::{self, ConnectionExt as _};
use x11rb::xcb_ffi::XCBConnection;

/// The first version in which the server makes segments and hands out descriptors of them.
const WITH_DESCRIPTORS: (u16, u16) = (1, 2);

/// A segment.
pub(super) struct Segment {
    connection: Arc<XCBConnection>,
    pub(super) id: u32,
    start: NonNull<u8>,
    size: usize,
}

// SAFETY: the mapping belongs to the segment alone, and is written through `&mut` only.
unsafe impl Send for Segment {}
// SAFETY: as above.
unsafe impl Sync for Segment {}

impl Segment {
    /// A segment of so many bytes; nothing when the server has none to share, because it is on
    /// another machine or does not know how.
    pub(super) fn new(connection: &Arc<XCBConnection>, size: usize) -> Option<Segment> {
        connection
            .extension_information(shm::X11_EXTENSION_NAME)
            .ok()??;
        let version = connection.shm_query_version().ok()?.reply().ok()?;
        if (version.major_version, version.minor_version) < WITH_DESCRIPTORS {
            return None;
        }
        let id = connection.generate_id().ok()?;
        let bytes = u32::try_from(size).ok()?;
        // The server maps it for itself at once.
        let made = connection.shm_create_segment(id, bytes, false).ok()?;
        let file = made.reply().ok()?.shm_fd;
        // SAFETY: a new mapping of a file that has as many bytes.
        let start = unsafe {
            let protection = ProtFlags::READ | ProtFlags::WRITE;
            mmap(std::ptr::null_mut(), size, protection, MapFlags::SHARED, &file, 0)
        };
        let start = start.ok().and_then(|start| NonNull::new(start.cast()));
        let Some(start) = start else {
            detach(connection, id);
            return None;
        };
        Some(Segment {
            connection: connection.clone(),
            id,
            start,
            size,
        })
    }

    /// Its bytes. The server must not be reading them.
    pub(super) fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: mapped with this size for as long as the segment is there.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.size) }
    }
}

fn detach(connection: &XCBConnection, id: u32) {
    // Without a connection the server has detached it itself.
    if let Ok(request) = connection.shm_detach(id) {
        request.ignore_error();
    }
}

impl Drop for Segment {
    fn drop(&mut self) {
        detach(&self.connection, self.id);
        // SAFETY: the segment's own mapping.
        let unmapped = unsafe { munmap(self.start.as_ptr().cast(), self.size) };
        debug_assert!(unmapped.is_ok());
    }
}
