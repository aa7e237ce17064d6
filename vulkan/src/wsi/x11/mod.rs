// SPDX-License-Identifier: MIT
//! Windows of X servers, on the application's own connection (VK_KHR_xcb_surface,
//! VK_KHR_xlib_surface).
//!
//! Requests go through the application's libxcb, which is thread-safe; no events are selected or
//! read, since the application's loop would see them.

mod idle;
mod pixmaps;
mod refresh;
mod segment;
mod target;
mod visual;
mod xlib;

use std::ffi::c_void;
use std::sync::Arc;

use ash::vk;
use x11rb::connection::Connection as _;
use x11rb::errors::ReplyError;
use x11rb::protocol::xproto::ConnectionExt as _;
use x11rb::xcb_ffi::{XCBConnection, load_libxcb};

use self::target::XTarget;
use self::visual::Visual;
use super::surface::{self, Description, Request, Surface};
use crate::debug;
use crate::entry;
use crate::error::VkResult;

/// A window.
pub(super) struct Window {
    connection: Arc<XCBConnection>,
    id: u32,
}

/// What a window is at the moment.
#[derive(Clone, Copy, Debug)]
struct Look {
    extent: vk::Extent2D,
    root: u32,
    depth: u8,
    /// Nothing when its pixels are of no kind that can be shown.
    visual: Option<Visual>,
}

/// The application's connection.
///
/// # Errors
/// When there is no libxcb, or what the server said of itself is not understood.
///
/// # Safety
/// It is one, and lives longer than the result.
unsafe fn connection(connection: *mut c_void) -> VkResult<XCBConnection> {
    load_libxcb().map_err(|error| {
        debug::error(&format_args!("libxcb: {error}"));
        vk::Result::ERROR_INITIALIZATION_FAILED
    })?;
    // SAFETY: the caller's promise; it stays the application's.
    unsafe { XCBConnection::from_raw_xcb_connection(connection, false) }.map_err(|error| {
        debug::error(&format_args!("the X connection: {error}"));
        vk::Result::ERROR_INITIALIZATION_FAILED
    })
}

/// What an error of a window means: there is none any more, or no server.
fn lost(request: &'static str) -> impl Fn(ReplyError) -> vk::Result {
    move |error| {
        match error {
            ReplyError::X11Error(error) => debug::error(&format_args!(
                "the X server refuses {request}: {:?} of {:#x}",
                error.error_kind, error.bad_value
            )),
            ReplyError::ConnectionError(error) => {
                debug::error(&format_args!("{request} to the X server: {error}"));
            }
        }
        vk::Result::ERROR_SURFACE_LOST_KHR
    }
}

impl Window {
    /// # Safety
    /// The connection is one and lives longer than this.
    unsafe fn new(connection: *mut c_void, id: u32) -> VkResult<Window> {
        Ok(Window {
            // SAFETY: the caller's promise.
            connection: Arc::new(unsafe { self::connection(connection) }?),
            id,
        })
    }

    fn look(&self) -> VkResult<Look> {
        let connection = &*self.connection;
        // Both on their way before either is waited for.
        let geometry = connection.get_geometry(self.id);
        let attributes = connection.get_window_attributes(self.id);
        let geometry = geometry.map_err(ReplyError::from).and_then(|it| it.reply());
        let attributes = attributes
            .map_err(ReplyError::from)
            .and_then(|it| it.reply());
        let geometry = geometry.map_err(lost("GetGeometry"))?;
        let attributes = attributes.map_err(lost("GetWindowAttributes"))?;
        Ok(Look {
            extent: vk::Extent2D {
                width: geometry.width.into(),
                height: geometry.height.into(),
            },
            root: geometry.root,
            depth: geometry.depth,
            visual: Visual::find(connection.setup(), attributes.visual),
        })
    }

    /// What the surface is like: swapchains are of the window's size.
    ///
    /// # Errors
    /// When there is no such window any more.
    pub(super) fn describe(&self) -> VkResult<Description> {
        let look = self.look()?;
        let inherit = vk::CompositeAlphaFlagsKHR::INHERIT;
        let has_alpha = look.visual.is_some_and(|visual| visual.has_alpha);
        Ok(Description {
            current: Some(look.extent),
            min: look.extent,
            max: look.extent,
            formats: look.visual.map_or(&[], |visual| visual.formats),
            alpha: inherit
                | match has_alpha {
                    // A compositor blends with it.
                    true => vk::CompositeAlphaFlagsKHR::PRE_MULTIPLIED,
                    false => vk::CompositeAlphaFlagsKHR::OPAQUE,
                },
        })
    }

    /// Where a swapchain's images go.
    ///
    /// # Errors
    /// When there is no such window any more.
    pub(super) fn target(&self, request: &Request) -> VkResult<XTarget> {
        let look = self.look()?;
        XTarget::new(&self.connection, self.id, &look, request)
    }
}

/// vkCreateXcbSurfaceKHR.
pub(crate) unsafe extern "system" fn create_xcb_surface(
    instance: vk::Instance,
    info: *const vk::XcbSurfaceCreateInfoKHR<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    surface: *mut vk::SurfaceKHR,
) -> vk::Result {
    entry::try_guard("vkCreateXcbSurfaceKHR", || {
        // SAFETY: valid by the specification; the connection outlives the surface.
        unsafe {
            let window = Window::new((*info).connection, (*info).window)?;
            let made = Surface::new(surface::Window::X11(window));
            surface::create(instance, made, allocator, surface)
        }
    })
}

/// vkCreateXlibSurfaceKHR.
pub(crate) unsafe extern "system" fn create_xlib_surface(
    instance: vk::Instance,
    info: *const vk::XlibSurfaceCreateInfoKHR<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    surface: *mut vk::SurfaceKHR,
) -> vk::Result {
    entry::try_guard("vkCreateXlibSurfaceKHR", || {
        // SAFETY: valid by the specification; the display outlives the surface.
        unsafe {
            let connection = xlib::connection((*info).dpy)?;
            // Resource IDs have 29 bits.
            let window = Window::new(connection, (*info).window as u32)?;
            let made = Surface::new(surface::Window::X11(window));
            surface::create(instance, made, allocator, surface)
        }
    })
}

/// Whether windows of a visual can be presented to.
///
/// # Safety
/// The connection is one.
unsafe fn shows(connection: *mut c_void, visual: u32) -> vk::Bool32 {
    // SAFETY: the caller's promise.
    let connection = unsafe { self::connection(connection) };
    let shows = connection.is_ok_and(|it| Visual::find(it.setup(), visual).is_some());
    shows.into()
}

/// vkGetPhysicalDeviceXcbPresentationSupportKHR.
pub(crate) unsafe extern "system" fn get_xcb_presentation_support(
    _physical: vk::PhysicalDevice,
    _family: u32,
    connection: *mut vk::xcb_connection_t,
    visual: vk::xcb_visualid_t,
) -> vk::Bool32 {
    entry::guard("vkGetPhysicalDeviceXcbPresentationSupportKHR", || {
        // SAFETY: valid by the specification.
        unsafe { shows(connection, visual) }
    })
}

/// vkGetPhysicalDeviceXlibPresentationSupportKHR.
pub(crate) unsafe extern "system" fn get_xlib_presentation_support(
    _physical: vk::PhysicalDevice,
    _family: u32,
    display: *mut vk::Display,
    visual: vk::VisualID,
) -> vk::Bool32 {
    entry::guard("vkGetPhysicalDeviceXlibPresentationSupportKHR", || {
        // SAFETY: valid by the specification.
        match unsafe { xlib::connection(display) } {
            // SAFETY: as above.
            Ok(connection) => unsafe { shows(connection, visual) },
            Err(_) => vk::FALSE,
        }
    })
}
