// SPDX-License-Identifier: MIT
//! Surfaces of Wayland compositors, on the application's own connection (VK_KHR_wayland_surface).
//!
//! Events go to queues of the driver's own, which the application's loop does not see.

mod globals;
mod target;
mod turns;

use std::ffi::c_void;
use std::time::Duration;

use ash::vk;
use wayland_client::backend::{Backend, ObjectId};
use wayland_client::protocol::wl_shm::{self, WlShm};
use wayland_client::protocol::wl_surface::WlSurface;
use wayland_client::{Connection, Proxy as _};
use wayland_protocols::wp::linux_dmabuf::zv1::client::zwp_linux_dmabuf_v1::ZwpLinuxDmabufV1;

use self::globals::Globals;
use self::target::WaylandTarget;
use super::surface::{self, Description, Request, Surface};
use crate::debug;
use crate::entry;
use crate::error::VkResult;

/// Formats of swapchains: those that every compositor takes, and those that it may take.
const FORMATS: &[vk::Format] = &[
    vk::Format::B8G8R8A8_SRGB,
    vk::Format::B8G8R8A8_UNORM,
    vk::Format::R8G8B8A8_SRGB,
    vk::Format::R8G8B8A8_UNORM,
];
const BGRA_ALONE: usize = 2;

/// A surface.
pub(super) struct Window {
    connection: Connection,
    surface: WlSurface,
    shm: WlShm,
    /// Where the compositor imports dma-bufs, and DRM's names of the formats that these may have.
    dma_bufs: Option<ZwpLinuxDmabufV1>,
    dma_buf_formats: Vec<u32>,
    /// How many of [`FORMATS`] there are.
    formats: usize,
    period: Duration,
}

fn failed(what: &str, error: &dyn std::fmt::Display) -> vk::Result {
    debug::error(&format_args!("{what} of the Wayland connection: {error}"));
    vk::Result::ERROR_SURFACE_LOST_KHR
}

/// The application's connection.
///
/// # Safety
/// It is one, and lives longer than the result.
unsafe fn connection(display: *mut c_void) -> Connection {
    // SAFETY: the caller's promise; it stays the application's.
    Connection::from_backend(unsafe { Backend::from_foreign_display(display.cast()) })
}

impl Window {
    /// # Safety
    /// Both are what they say, and live longer than this.
    unsafe fn new(display: *mut c_void, surface: *mut c_void) -> VkResult<Window> {
        // SAFETY: the caller's promise.
        let connection = unsafe { self::connection(display) };
        let globals = Globals::ask(&connection)?;
        // SAFETY: the caller's promise.
        let surface = unsafe { ObjectId::from_ptr(WlSurface::interface(), surface.cast()) }
            .and_then(|id| WlSurface::from_id(&connection, id))
            .map_err(|error| failed("the surface", &error))?;
        let both = globals.has(wl_shm::Format::Xbgr8888) && globals.has(wl_shm::Format::Abgr8888);
        let period = globals.period();
        let shm = globals.shm.ok_or_else(|| {
            debug::error(&"the Wayland compositor has no wl_shm");
            vk::Result::ERROR_INITIALIZATION_FAILED
        })?;
        Ok(Window {
            connection,
            surface,
            shm,
            dma_bufs: globals.dma_bufs,
            dma_buf_formats: globals.dma_buf_formats,
            formats: match both {
                true => FORMATS.len(),
                false => BGRA_ALONE,
            },
            period,
        })
    }

    /// What the surface is like: a swapchain gives it its size.
    pub(super) fn describe(&self) -> Description {
        let alpha = vk::CompositeAlphaFlagsKHR::OPAQUE | vk::CompositeAlphaFlagsKHR::PRE_MULTIPLIED;
        Description::of_any_size(&FORMATS[..self.formats], alpha)
    }

    /// Where a swapchain's images go.
    ///
    /// # Errors
    /// When there is no memory.
    pub(super) fn target(&self, request: &Request) -> VkResult<WaylandTarget> {
        WaylandTarget::new(self, request)
    }
}

/// vkCreateWaylandSurfaceKHR.
pub(crate) unsafe extern "system" fn create_wayland_surface(
    instance: vk::Instance,
    info: *const vk::WaylandSurfaceCreateInfoKHR<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    surface: *mut vk::SurfaceKHR,
) -> vk::Result {
    entry::try_guard("vkCreateWaylandSurfaceKHR", || {
        // SAFETY: valid by the specification; the display outlives the surface.
        unsafe {
            let window = Window::new((*info).display, (*info).surface)?;
            let made = Surface::new(surface::Window::Wayland(Box::new(window)));
            surface::create(instance, made, allocator, surface)
        }
    })
}

/// vkGetPhysicalDeviceWaylandPresentationSupportKHR.
pub(crate) unsafe extern "system" fn get_wayland_presentation_support(
    _physical: vk::PhysicalDevice,
    _family: u32,
    display: *mut vk::wl_display,
) -> vk::Bool32 {
    entry::guard("vkGetPhysicalDeviceWaylandPresentationSupportKHR", || {
        // SAFETY: valid by the specification.
        let globals = Globals::ask(&unsafe { connection(display) });
        globals.is_ok_and(|globals| globals.shm.is_some()).into()
    })
}
