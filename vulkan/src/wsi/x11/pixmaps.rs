// SPDX-License-Identifier: MIT
//! Pixmaps that the X server shares with the GPU, and that it presents without a copy where it can (DRI3 1.2,
//! Present 1.0).
//!
//! No events are asked for: a pixmap's fence tells when the server does not need it any more.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::time::Duration;

use ash::vk;
use x11rb::connection::{Connection as _, RequestConnection as _};
use x11rb::errors::{ConnectionError, ReplyError, ReplyOrIdError};
use x11rb::protocol::dri3::{self, ConnectionExt as _};
use x11rb::protocol::present::{self, ConnectionExt as _};
use x11rb::protocol::sync::ConnectionExt as _;
use x11rb::protocol::xproto::ConnectionExt as _;
use x11rb::xcb_ffi::XCBConnection;

use super::idle::IdleFence;
use super::lost;
use crate::debug;
use crate::error::VkResult;
use crate::wsi::dma_buf::{self, DmaBuf};

/// Pixmaps that pictures take turns in: one that is shown, one that will be, one that is written.
pub(super) const PIXMAPS: usize = 3;

/// Bits of a pixel.
const PIXEL_BITS: u8 = 32;

/// The version of DRI3 that knows of modifiers.
const WITH_MODIFIERS: (u32, u32) = (1, 2);

/// After how long without a fence the connection is looked at.
const PATIENCE: Duration = Duration::from_secs(1);

/// Pixmaps for one window.
pub(super) struct Pixmaps {
    connection: Arc<XCBConnection>,
    window: u32,
    depth: u8,
    all: Vec<Pixmap>,
    /// Whose turn it is.
    turn: AtomicUsize,
    /// Pictures that were shown.
    serial: AtomicU32,
}

struct Pixmap {
    id: u32,
    /// The server's name of the fence.
    fence: u32,
    idle: IdleFence,
    file: OwnedFd,
}

impl Pixmaps {
    /// None yet, if the server can import rows of pixels for windows like this one.
    pub(super) fn new(connection: &Arc<XCBConnection>, window: u32, depth: u8) -> Option<Pixmaps> {
        imports(connection, window, depth).ok()?.then(|| Pixmaps {
            connection: connection.clone(),
            window,
            depth,
            all: Vec::new(),
            turn: AtomicUsize::new(0),
            serial: AtomicU32::new(0),
        })
    }

    /// Makes pixmaps of buffers; whether the server does.
    ///
    /// # Errors
    /// When the connection is lost, or the process has no descriptors left.
    pub(super) fn share(&mut self, width: u16, height: u16, buffers: &[DmaBuf]) -> VkResult<bool> {
        for buffer in buffers {
            match self.import(width, height, buffer) {
                Ok(pixmap) => self.all.push(pixmap),
                Err(ReplyOrIdError::X11Error(_)) => return Ok(false),
                Err(error) => {
                    debug::error(&format_args!("a pixmap of a dma-buf: {error}"));
                    return Err(vk::Result::ERROR_SURFACE_LOST_KHR);
                }
            }
        }
        Ok(true)
    }

    fn import(&self, width: u16, height: u16, buffer: &DmaBuf) -> Result<Pixmap, ReplyOrIdError> {
        let connection = &*self.connection;
        let file = |error: std::io::Error| ConnectionError::IoError(error);
        let ours = buffer.file.try_clone().map_err(file)?;
        let theirs = buffer.file.try_clone().map_err(file)?;
        let (idle, shared) = IdleFence::new().map_err(|error| file(error.into()))?;
        let id = connection.generate_id()?;
        let made = connection.dri3_pixmap_from_buffers(
            id,
            self.window,
            width,
            height,
            buffer.stride,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            self.depth,
            PIXEL_BITS,
            dma_buf::LINEAR,
            vec![theirs],
        )?;
        made.check()?;
        let fence = connection.generate_id()?;
        let made = connection.dri3_fence_from_fd(self.window, fence, true, shared)?;
        if let Err(error) = made.check() {
            connection.free_pixmap(id)?.ignore_error();
            return Err(error.into());
        }
        Ok(Pixmap {
            id,
            fence,
            idle,
            file: ours,
        })
    }

    /// The one that is written next, when the server does not need it any more.
    ///
    /// # Errors
    /// When the connection is lost.
    pub(super) fn next(&self) -> VkResult<usize> {
        let turn = self.turn.load(Ordering::Relaxed);
        let Some(pixmap) = self.all.get(turn) else {
            return Ok(0);
        };
        while !pixmap.idle.wait(PATIENCE) {
            // A server that still answers will come to it.
            let asked = self.connection.get_input_focus();
            let answer = asked.map_err(ReplyError::from).and_then(|it| it.reply());
            answer.map_err(lost("GetInputFocus"))?;
        }
        dma_buf::await_idle(&pixmap.file).map_err(|error| {
            debug::error(&format_args!("a dma-buf: {error}"));
            vk::Result::ERROR_SURFACE_LOST_KHR
        })?;
        Ok(turn)
    }

    /// Shows one.
    ///
    /// # Errors
    /// When the window is not there any more, or the connection.
    pub(super) fn show(&self, index: usize) -> Result<(), ReplyError> {
        let Some(pixmap) = self.all.get(index) else {
            return Ok(());
        };
        pixmap.idle.reset();
        self.turn
            .store((index + 1) % self.all.len(), Ordering::Relaxed);
        let serial = self.serial.fetch_add(1, Ordering::Relaxed);
        let shown = self.connection.present_pixmap(
            self.window,
            pixmap.id,
            serial,
            x11rb::NONE, // All of it is valid,
            x11rb::NONE, // and all of it is new.
            0,
            0,
            x11rb::NONE, // Whichever screen it is on.
            x11rb::NONE, // The copy is over.
            pixmap.fence,
            present::Option::NONE.into(),
            0, // As soon as it can.
            0,
            0,
            &[],
        )?;
        shown.check()
    }
}

impl Drop for Pixmaps {
    fn drop(&mut self) {
        for pixmap in &self.all {
            // Without a connection they are gone already.
            let freed = self.connection.free_pixmap(pixmap.id);
            let destroyed = self.connection.sync_destroy_fence(pixmap.fence);
            for request in [freed, destroyed].into_iter().flatten() {
                request.ignore_error();
            }
        }
    }
}

/// Whether the server imports rows of pixels for windows like this one.
fn imports(connection: &XCBConnection, window: u32, depth: u8) -> Result<bool, ReplyError> {
    for name in [dri3::X11_EXTENSION_NAME, present::X11_EXTENSION_NAME] {
        if connection.extension_information(name)?.is_none() {
            return Ok(false);
        }
    }
    let (major, minor) = WITH_MODIFIERS;
    let version = connection.dri3_query_version(major, minor)?.reply()?;
    if (version.major_version, version.minor_version) < WITH_MODIFIERS {
        return Ok(false);
    }
    connection.present_query_version(1, 0)?.reply()?;
    let modifiers = connection.dri3_get_supported_modifiers(window, depth, PIXEL_BITS)?;
    let modifiers = modifiers.reply()?;
    // A window may do with fewer than its screen.
    let of = match modifiers.window_modifiers.is_empty() {
        true => modifiers.screen_modifiers,
        false => modifiers.window_modifiers,
    };
    Ok(of.contains(&dma_buf::LINEAR))
}
