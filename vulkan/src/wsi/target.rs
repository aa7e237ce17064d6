// SPDX-License-Identifier: MIT
//! What the images of a swapchain go to.

use std::time::Duration;

use crate::error::VkResult;

/// How a swapchain's images and the surface go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fit {
    /// As they should.
    Exact,
    /// The surface has changed: what is shown is cut, or leaves a part of it as it was.
    Stale,
}

/// The end of a swapchain that a window system has.
///
/// This is the seam for other ways of presenting. One that shares buffers with the display server
/// reads no rows; it is made with the images' memory, and [`Target::show`] is where it would hand a
/// buffer over and take one back.
pub(super) trait Target: Send + Sync {
    /// Whether it takes images as rows of pixels in host memory.
    fn reads_rows(&self) -> bool;

    /// How long the screen shows a picture at least, when the target does not wait for it by itself.
    fn refresh_period(&self) -> Option<Duration>;

    /// Shows an image. When this returns, the rows may be written again.
    ///
    /// # Errors
    /// When the surface is lost.
    fn show(&self, rows: &[u8]) -> VkResult<Fit>;
}
