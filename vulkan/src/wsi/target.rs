// SPDX-License-Identifier: MIT
//! What the images of a swapchain go to.

use std::time::Duration;

use super::dma_buf::DmaBuf;
use crate::error::VkResult;

/// How a swapchain's images and the surface go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fit {
    /// As they should.
    Exact,
    /// The surface has changed: what is shown is cut, or leaves a part of it as it was.
    Stale,
}

/// What a target takes images as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Takes {
    /// Nothing: they are not seen.
    Nothing,
    /// Rows of pixels in host memory, one directly after the other.
    Rows,
    /// One of so many buffers that it shares with the GPU.
    DmaBufs(usize),
}

/// An image as its target takes it.
#[derive(Clone, Copy)]
pub(super) enum Picture<'a> {
    /// Rows; none when it takes nothing.
    Rows(&'a [u8]),
    /// The buffer of this number.
    DmaBuf(usize),
}

/// The end of a swapchain that a window system has.
pub(super) trait Target: Send + Sync {
    /// What it takes images as.
    fn takes(&self) -> Takes;

    /// How long the screen shows a picture at least, when the target does not wait for it by itself.
    fn refresh_period(&self) -> Option<Duration>;

    /// Shares as many buffers as it takes, before anything is shown. False when the window system does not accept
    /// them, after which the target is of no use.
    ///
    /// # Errors
    /// When the surface is lost.
    fn share(&mut self, _buffers: &[DmaBuf]) -> VkResult<bool> {
        Ok(false)
    }

    /// The buffer that the next image is copied to, once the window system does not read it any more.
    ///
    /// # Errors
    /// When the surface is lost.
    fn next(&self) -> VkResult<usize> {
        Ok(0)
    }

    /// Shows an image. When this returns, rows may be written again; buffers are [`Target::next`]'s.
    ///
    /// # Errors
    /// When the surface is lost.
    fn show(&self, picture: Picture<'_>) -> VkResult<Fit>;
}
