// SPDX-License-Identifier: MIT
//! Pictures for a window: in pixmaps that the server shares with the GPU, or else through shared memory, or else
//! through the connection.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ash::vk;
use x11rb::connection::{Connection as _, RequestConnection as _};
use x11rb::errors::ReplyError;
use x11rb::protocol::shm::ConnectionExt as _;
use x11rb::protocol::xproto::{ConnectionExt as _, CreateGCAux, ImageFormat};
use x11rb::xcb_ffi::XCBConnection;

use super::pixmaps::{PIXMAPS, Pixmaps};
use super::segment::Segment;
use super::{Look, lost, refresh};
use crate::debug;
use crate::error::VkResult;
use crate::wsi::dma_buf::DmaBuf;
use crate::wsi::surface::Request;
use crate::wsi::target::{Fit, Picture, Takes, Target};

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
    pixels: Pixels,
}

/// How pixels come to the server.
enum Pixels {
    DmaBufs(Pixmaps),
    Memory(Mutex<Segment>),
    Requests,
}

impl XTarget {
    /// # Errors
    /// When there is no such window any more.
    pub(super) fn new(
        connection: &Arc<XCBConnection>,
        window: u32,
        look: &Look,
        request: &Request,
    ) -> VkResult<XTarget> {
        let size = |size: u32| {
            u16::try_from(size).map_err(|_| {
                debug::error(&format_args!(
                    "no window has {size} pixels in a row or column"
                ));
                vk::Result::ERROR_INITIALIZATION_FAILED
            })
        };
        let (width, height) = (size(request.extent.width)?, size(request.extent.height)?);
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
        let pixmaps = || Pixmaps::new(connection, window, look.depth);
        let pixels = match request.shares.then(pixmaps).flatten() {
            Some(pixmaps) => Pixels::DmaBufs(pixmaps),
            None => match Segment::new(connection, bytes) {
                Some(segment) => Pixels::Memory(Mutex::new(segment)),
                None => Pixels::Requests,
            },
        };
        Ok(XTarget {
            connection: connection.clone(),
            window,
            context,
            depth: look.depth,
            width,
            height,
            period: refresh::period(connection, look.root),
            pixels,
        })
    }

    /// From memory that the server sees. It has read it when an answer to a later request comes.
    fn put(&self, segment: &mut Segment, rows: &[u8]) -> Result<(), ReplyError> {
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
    fn takes(&self) -> Takes {
        match self.pixels {
            Pixels::DmaBufs(_) => Takes::DmaBufs(PIXMAPS),
            Pixels::Memory(_) | Pixels::Requests => Takes::Rows,
        }
    }

    fn share(&mut self, buffers: &[DmaBuf]) -> VkResult<bool> {
        match &mut self.pixels {
            Pixels::DmaBufs(pixmaps) => pixmaps.share(self.width, self.height, buffers),
            Pixels::Memory(_) | Pixels::Requests => Ok(false),
        }
    }

    fn next(&self) -> VkResult<usize> {
        match &self.pixels {
            Pixels::DmaBufs(pixmaps) => pixmaps.next(),
            Pixels::Memory(_) | Pixels::Requests => Ok(0),
        }
    }

    fn refresh_period(&self) -> Option<Duration> {
        Some(self.period)
    }

    fn show(&self, picture: Picture<'_>) -> VkResult<Fit> {
        let geometry = self.connection.get_geometry(self.window);
        match (&self.pixels, picture) {
            (Pixels::DmaBufs(pixmaps), Picture::DmaBuf(index)) => {
                pixmaps.show(index).map_err(lost("PresentPixmap"))?;
            }
            (Pixels::Memory(segment), Picture::Rows(rows)) => {
                let mut segment = segment.lock().unwrap_or_else(PoisonError::into_inner);
                self.put(&mut segment, rows).map_err(lost("ShmPutImage"))?;
            }
            (_, Picture::Rows(rows)) => self.send(rows).map_err(lost("PutImage"))?,
            (_, Picture::DmaBuf(_)) => {}
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
