// SPDX-License-Identifier: MIT
//! Window-system integration: surfaces, and swapchains that show images on them.
//!
//! ```text
//! surface    VkSurfaceKHR, and what can be asked about one
//! swapchain  VkSwapchainKHR: its images, and who has them
//! present    vkQueuePresentKHR
//! copies     images as rows of pixels, in host memory or in buffers that a display server shares
//! dma_buf    such buffers
//! pace       FIFO where nothing tells when a screen is refreshed
//! target     what images go to: the seam between swapchains and window systems
//! mapping    memory that the window system sees, too
//! group      device groups of one device
//! headless, x11, wayland   the window systems
//! ```
//!
//! Each presented image is copied: a display server reads rows of pixels, while images lie as the GPU
//! likes them best. The copy is in a dma-buf that the server imports (linux-dmabuf of Wayland); where
//! it cannot, or the GPU is simulated and has no such buffers, in host memory, which is handed on.
//! Libraries of window systems are those of the application, found when the first
//! surface is made; nothing is linked.

mod copies;
mod dma_buf;
mod group;
mod headless;
mod mapping;
mod pace;
mod present;
mod surface;
mod swapchain;
mod target;
mod wayland;
mod x11;

pub(crate) use self::swapchain::Swapchain;

/// The entry points, for the table.
pub(crate) mod entries {
    pub(crate) use super::group::*;
    pub(crate) use super::headless::create_headless_surface;
    pub(crate) use super::present::queue_present;
    pub(crate) use super::surface::*;
    pub(crate) use super::swapchain::*;
    pub(crate) use super::wayland::{create_wayland_surface, get_wayland_presentation_support};
    pub(crate) use super::x11::*;
}
