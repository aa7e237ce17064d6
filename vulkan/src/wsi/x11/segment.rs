// SPDX-License-Identifier: MIT
//! Memory that the X server sees, too (MIT-SHM 1.2).

use std::sync::Arc;

use x11rb::connection::{Connection as _, RequestConnection as _};
use x11rb::protocol::shm::{self, ConnectionExt as _};
use x11rb::xcb_ffi::XCBConnection;

use crate::wsi::mapping::Mapping;

/// The first version in which the server makes segments and hands out descriptors of them.
const WITH_DESCRIPTORS: (u16, u16) = (1, 2);

/// A segment.
pub(super) struct Segment {
    connection: Arc<XCBConnection>,
    pub(super) id: u32,
    mapping: Mapping,
}

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
        let Ok(mapping) = Mapping::new(&file, size) else {
            detach(connection, id);
            return None;
        };
        Some(Segment {
            connection: connection.clone(),
            id,
            mapping,
        })
    }

    /// Its bytes. The server must not be reading them.
    pub(super) fn bytes(&mut self) -> &mut [u8] {
        self.mapping.bytes()
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
    }
}
