// SPDX-License-Identifier: MIT
//! Pictures for a window: through shared memory, or else through the connection.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ash::vk;
use x11rb::connection::{Connection as _, RequestConnection as _};
use x11rb::errors::ReplyError;
use x11rb::protocol::shm::ConnectionExt as _;
use x11rb::protocol::xproto::{ConnectionExt as _, CreateGCAux, ImageFormat};
use x11rb::xcb_ffi::XCBConnection;

use super::segment::Segment;
use super::{Look, lost, refresh};
use crate::debug;
use crate::error::VkResult;
use crate::wsi::target::{Fit, Target};

/// Most bytes of a PutImage request: between two of them, other clients have their turn.
const MOST_AT_ONCE: usize = 1 << 18;

/// Bytes of a PutImage request before its pixels, with the longer length.
const PUT_IMAGE_HEADER: usize = 28;

/// A window that pictures of one size are put into.
pub(in crate::wsi) struct XTarget {
    connection: Arc<XCBConnection>,
    window: u32,
    context: u32,
    depth: u8,
    width: u16,
    height: u16,
    period: Duration,
    segment: Mutex<Option<Segment>>,
}

impl XTarget {
    /// # Errors
    /// When there is no such window any more.
    pub(super) fn new(
        connection: &Arc<XCBConnection>,
        window: u32,
        look: &Look,
        extent: vk::Extent2D,
    ) -> VkResult<XTarget> {
        let size = |size: u32| {
            u16::try_from(size).map_err(|_| {
                debug::error(&format_args!(
                    "no window has {size} pixels in a row or column"
                ));
                vk::Result::ERROR_INITIALIZATION_FAILED
            })
        };
        let (width, height) = (size(extent.width)?, size(extent.height)?);
        let context = connection.generate_id().map_err(|error| {
            debug::error(&format_args!("the X connection: {error}"));
            vk::Result::ERROR_SURFACE_LOST_KHR
        })?;
        // Nothing is copied from the window, so that no exposures need be told.
        let values = CreateGCAux::new().graphics_exposures(0);
        let made = connection.create_gc(context, window, &values);
        let made = made.map_err(ReplyError::from).and_then(|it| it.check());
        made.map_err(lost("CreateGC"))?;
        let bytes = 4 * usize::from(width) * usize::from(height);
        Ok(XTarget {
            connection: connection.clone(),
            window,
            context,
            depth: look.depth,
            width,
            height,
            period: refresh::period(connection, look.root),
            segment: Mutex::new(Segment::new(connection, bytes)),
        })
    }

    /// From memory that the server sees. It has read it when an answer to a later request comes.
    fn share(&self, segment: &mut Segment, rows: &[u8]) -> Result<(), ReplyError> {
        let to = segment.bytes();
        let count = to.len().min(rows.len());
        to[..count].copy_from_slice(&rows[..count]);
        let put = self.connection.shm_put_image(
            self.window,
            self.context,
            self.width,
            self.height,
            0,
            0,
            self.width,
            self.height,
            0,
            0,
            self.depth,
            ImageFormat::Z_PIXMAP.into(),
            false,
            segment.id,
            0,
        )?;
        put.check()
    }

    /// In the requests themselves, as many rows in each as it takes.
    fn send(&self, rows: &[u8]) -> Result<(), ReplyError> {
        let row = 4 * usize::from(self.width);
        let most = self.connection.maximum_request_bytes().min(MOST_AT_ONCE);
        let at_once = (most.saturating_sub(PUT_IMAGE_HEADER) / row).max(1);
        let mut y = 0;
        let mut last = None;
        for part in rows.chunks(at_once * row) {
            let height = (part.len() / row) as u16;
            let put = self.connection.put_image(
                ImageFormat::Z_PIXMAP,
                self.window,
                self.context,
                self.width,
                height,
                0,
                y,
                0,
                self.depth,
                part,
            )?;
            // What is wrong with one is wrong with all.
            if let Some(before) = last.replace(put) {
                before.ignore_error();
            }
            y = y.saturating_add_unsigned(height);
        }
        last.map_or(Ok(()), |last| last.check())
    }
}

impl Target for XTarget {
    fn reads_rows(&self) -> bool {
        true
    }

    fn refresh_period(&self) -> Option<Duration> {
        Some(self.period)
    }

    fn show(&self, rows: &[u8]) -> VkResult<Fit> {
        let mut segment = self.segment.lock().unwrap_or_else(PoisonError::into_inner);
        let geometry = self.connection.get_geometry(self.window);
        match &mut *segment {
            Some(segment) => self.share(segment, rows).map_err(lost("ShmPutImage"))?,
            None => self.send(rows).map_err(lost("PutImage"))?,
        }
        let geometry = geometry.map_err(ReplyError::from).and_then(|it| it.reply());
        let geometry = geometry.map_err(lost("GetGeometry"))?;
        Ok(
            match (geometry.width, geometry.height) == (self.width, self.height) {
                true => Fit::Exact,
                false => Fit::Stale,
            },
        )
    }
}

impl Drop for XTarget {
    fn drop(&mut self) {
        // Without a connection it is gone already.
        if let Ok(request) = self.connection.free_gc(self.context) {
            request.ignore_error();
        }
    }
}
