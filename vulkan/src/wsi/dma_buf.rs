// SPDX-License-Identifier: MIT
//! Buffers that a display server shares with the GPU.

use std::os::fd::OwnedFd;

use ash::vk;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::{Errno, retry_on_intr};

use super::surface::Request;
pub(super) use crate::image::modifier::LINEAR;

/// A buffer of rows of pixels.
pub(super) struct DmaBuf {
    pub(super) file: OwnedFd,
    /// Bytes from row to row.
    pub(super) stride: u32,
}

/// Bytes in the order of their addresses are alpha's last; `DRM_FORMAT_*` (drm_fourcc.h) counts from
/// the most significant bits of a little-endian word.
pub(super) fn fourcc(request: &Request) -> u32 {
    let blends = request.alpha == vk::CompositeAlphaFlagsKHR::PRE_MULTIPLIED;
    u32::from_le_bytes(*match (request.is_bgra(), blends) {
        (true, false) => b"XR24",
        (true, true) => b"AR24",
        (false, false) => b"XB24",
        (false, true) => b"AB24",
    })
}

/// Waits until no GPU reads or writes a buffer any more: whoever released it may only have told its
/// GPU to read it first. What is no dma-buf, as a simulated GPU's buffers are not, is ready at once.
///
/// # Errors
/// Those of poll.
pub(super) fn await_idle(file: &OwnedFd) -> Result<(), Errno> {
    // Writable: all fences of the reservation object have signalled (Linux, dma-buf "Poll Support").
    let mut files = [PollFd::new(file, PollFlags::OUT)];
    retry_on_intr(|| poll(&mut files, None)).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_named_as_drm_names_them() {
        let of = |format, alpha| {
            fourcc(&Request {
                extent: vk::Extent2D::default(),
                format,
                alpha,
                shares: true,
            })
        };
        let opaque = vk::CompositeAlphaFlagsKHR::OPAQUE;
        let blended = vk::CompositeAlphaFlagsKHR::PRE_MULTIPLIED;
        // DRM_FORMAT_XRGB8888, ARGB8888, XBGR8888, ABGR8888.
        assert_eq!(of(vk::Format::B8G8R8A8_UNORM, opaque), 0x3432_5258);
        assert_eq!(of(vk::Format::B8G8R8A8_SRGB, blended), 0x3432_5241);
        assert_eq!(of(vk::Format::R8G8B8A8_SRGB, opaque), 0x3432_4258);
        assert_eq!(of(vk::Format::R8G8B8A8_UNORM, blended), 0x3432_4241);
    }
}
