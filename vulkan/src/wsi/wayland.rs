// SPDX-License-Identifier: MIT
//! Surfaces of Wayland compositors, on the application's own connection (VK_KHR_wayland_surface).
//!
//! Events go to queues of the driver's own, which the application's loop does not see.

use std::ffi::c_void;
use std::os::fd::AsFd as _;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use ash::vk;
use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use wayland_client::backend::{Backend, ObjectId};
use wayland_client::protocol::wl_buffer::{self, WlBuffer};
use wayland_client::protocol::wl_output::{self, WlOutput};
use wayland_client::protocol::wl_registry::{self, WlRegistry};
use wayland_client::protocol::wl_shm::{self, WlShm};
use wayland_client::protocol::wl_shm_pool::WlShmPool;
use wayland_client::protocol::wl_surface::WlSurface;
use wayland_client::{
    Connection, Dispatch, EventQueue, Proxy as _, QueueHandle, WEnum, delegate_noop,
};

use super::mapping::Mapping;
use super::surface::{self, Description, Request, Surface};
use super::target::{Fit, Target};
use crate::debug;
use crate::entry;
use crate::error::VkResult;
use crate::image::Most;

/// Buffers that pictures take turns in: one that is shown, one that will be, one that is written.
const BUFFERS: usize = 3;

/// Bytes of a pixel.
const PIXEL_BYTES: usize = 4;

/// The refresh rate of outputs that have none, in mHz.
const DEFAULT_REFRESH: u64 = 60_000;

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
    /// How many of [`FORMATS`] there are.
    formats: usize,
    period: Duration,
}

/// What the compositor offers.
#[derive(Default)]
struct Globals {
    shm: Option<WlShm>,
    formats: Vec<wl_shm::Format>,
    /// In mHz.
    refresh: Option<u64>,
}

fn failed(what: &str, error: &dyn std::fmt::Display) -> vk::Result {
    debug::error(&format_args!("{what} of the Wayland connection: {error}"));
    vk::Result::ERROR_SURFACE_LOST_KHR
}

impl Globals {
    /// Asks the compositor.
    fn ask(connection: &Connection) -> VkResult<Globals> {
        let mut globals = Globals::default();
        let mut queue = connection.new_event_queue();
        let _registry = connection.display().get_registry(&queue.handle(), ());
        // First what there is, then what that is like.
        for _ in 0..2 {
            queue
                .roundtrip(&mut globals)
                .map_err(|error| failed("a question", &error))?;
        }
        Ok(globals)
    }

    fn has(&self, format: wl_shm::Format) -> bool {
        self.formats.contains(&format)
    }
}

impl Dispatch<WlRegistry, ()> for Globals {
    fn event(
        globals: &mut Globals,
        registry: &WlRegistry,
        event: wl_registry::Event,
        _: &(),
        _: &Connection,
        queue: &QueueHandle<Globals>,
    ) {
        let wl_registry::Event::Global {
            name, interface, ..
        } = event
        else {
            return;
        };
        if interface == WlShm::interface().name {
            globals.shm = Some(registry.bind(name, 1, queue, ()));
        } else if interface == WlOutput::interface().name {
            registry.bind::<WlOutput, _, _>(name, 1, queue, ());
        }
    }
}

impl Dispatch<WlShm, ()> for Globals {
    fn event(
        globals: &mut Globals,
        _: &WlShm,
        event: wl_shm::Event,
        _: &(),
        _: &Connection,
        _: &QueueHandle<Globals>,
    ) {
        if let wl_shm::Event::Format {
            format: WEnum::Value(format),
        } = event
        {
            globals.formats.push(format);
        }
    }
}

impl Dispatch<WlOutput, ()> for Globals {
    fn event(
        globals: &mut Globals,
        _: &WlOutput,
        event: wl_output::Event,
        _: &(),
        _: &Connection,
        _: &QueueHandle<Globals>,
    ) {
        if let wl_output::Event::Mode {
            flags: WEnum::Value(flags),
            refresh,
            ..
        } = event
            && flags.contains(wl_output::Mode::Current)
            && let Ok(refresh) = u64::try_from(refresh)
        {
            globals.refresh = globals.refresh.max(Some(refresh).filter(|mhz| *mhz > 0));
        }
    }
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
        let refresh = globals.refresh.unwrap_or(DEFAULT_REFRESH);
        let shm = globals.shm.ok_or_else(|| {
            debug::error(&"the Wayland compositor has no wl_shm");
            vk::Result::ERROR_INITIALIZATION_FAILED
        })?;
        Ok(Window {
            connection,
            surface,
            shm,
            formats: match both {
                true => FORMATS.len(),
                false => BGRA_ALONE,
            },
            period: Duration::from_nanos(1_000_000_000_000 / refresh),
        })
    }

    /// What the surface is like: a swapchain gives it its size.
    pub(super) fn describe(&self) -> Description {
        let [width, height, _] = Most::of(vk::ImageType::TYPE_2D, vk::ImageTiling::OPTIMAL).extent;
        Description {
            current: None,
            min: vk::Extent2D {
                width: 1,
                height: 1,
            },
            max: vk::Extent2D { width, height },
            formats: &FORMATS[..self.formats],
            alpha: vk::CompositeAlphaFlagsKHR::OPAQUE | vk::CompositeAlphaFlagsKHR::PRE_MULTIPLIED,
        }
    }

    /// Where a swapchain's images go.
    ///
    /// # Errors
    /// When there is no memory.
    pub(super) fn target(&self, request: &Request) -> VkResult<WaylandTarget> {
        WaylandTarget::new(self, request)
    }
}

/// A surface that buffers of one size are attached to.
pub(super) struct WaylandTarget {
    connection: Connection,
    surface: WlSurface,
    period: Duration,
    width: i32,
    height: i32,
    turns: Mutex<Turns>,
}

/// Buffers and who has them.
struct Turns {
    queue: EventQueue<Busy>,
    busy: Busy,
    mapping: Mapping,
    buffers: [WlBuffer; BUFFERS],
}

/// Buffers that the compositor has.
#[derive(Default)]
struct Busy([bool; BUFFERS]);

impl Dispatch<WlBuffer, usize> for Busy {
    fn event(
        busy: &mut Busy,
        _: &WlBuffer,
        event: wl_buffer::Event,
        index: &usize,
        _: &Connection,
        _: &QueueHandle<Busy>,
    ) {
        if matches!(event, wl_buffer::Event::Release)
            && let Some(busy) = busy.0.get_mut(*index)
        {
            *busy = false;
        }
    }
}

delegate_noop!(Busy: WlShmPool);

/// The compositor's name of a format.
fn shm_format(request: &Request) -> wl_shm::Format {
    let blends = request.alpha == vk::CompositeAlphaFlagsKHR::PRE_MULTIPLIED;
    let bgra = matches!(
        request.format,
        vk::Format::B8G8R8A8_SRGB | vk::Format::B8G8R8A8_UNORM
    );
    match (bgra, blends) {
        (true, false) => wl_shm::Format::Xrgb8888,
        (true, true) => wl_shm::Format::Argb8888,
        (false, false) => wl_shm::Format::Xbgr8888,
        (false, true) => wl_shm::Format::Abgr8888,
    }
}

impl WaylandTarget {
    fn new(window: &Window, request: &Request) -> VkResult<WaylandTarget> {
        let extent = request.extent;
        let too_large = |_| {
            debug::error(&format_args!(
                "{} x {} pixels are too many for wl_shm",
                extent.width, extent.height
            ));
            vk::Result::ERROR_INITIALIZATION_FAILED
        };
        let width = i32::try_from(extent.width).map_err(too_large)?;
        let height = i32::try_from(extent.height).map_err(too_large)?;
        let bytes = PIXEL_BYTES as u64 * u64::from(extent.width) * u64::from(extent.height);
        let size = i32::try_from(BUFFERS as u64 * bytes).map_err(too_large)?;
        let memory = |error: rustix::io::Errno| {
            debug::error(&format_args!("memory for the Wayland compositor: {error}"));
            vk::Result::ERROR_OUT_OF_HOST_MEMORY
        };
        let file = memfd_create(c"cortland", MemfdFlags::CLOEXEC).map_err(memory)?;
        ftruncate(&file, size as u64).map_err(memory)?;
        let mapping = Mapping::new(&file, size as usize).map_err(memory)?;
        let queue = window.connection.new_event_queue();
        let handle = queue.handle();
        let pool = window.shm.create_pool(file.as_fd(), size, &handle, ());
        let format = shm_format(request);
        let stride = PIXEL_BYTES as i32 * width;
        let buffer = |index: usize| {
            let offset = index as i32 * (size / BUFFERS as i32);
            pool.create_buffer(offset, width, height, stride, format, &handle, index)
        };
        let buffers = std::array::from_fn(buffer);
        // The buffers keep it.
        pool.destroy();
        Ok(WaylandTarget {
            connection: window.connection.clone(),
            surface: window.surface.clone(),
            period: window.period,
            width,
            height,
            turns: Mutex::new(Turns {
                queue,
                busy: Busy::default(),
                mapping,
                buffers,
            }),
        })
    }
}

impl Turns {
    /// A buffer that the compositor does not have; it gives back what is not shown any more.
    fn free(&mut self) -> VkResult<usize> {
        let lost = |error: &dyn std::fmt::Display| failed("the events", error);
        if let Some(events) = self.queue.prepare_read() {
            // Nothing to read is no error; others are found below.
            let _ = events.read();
        }
        self.queue
            .dispatch_pending(&mut self.busy)
            .map_err(|error| lost(&error))?;
        loop {
            if let Some(free) = self.busy.0.iter().position(|busy| !busy) {
                return Ok(free);
            }
            self.queue
                .blocking_dispatch(&mut self.busy)
                .map_err(|error| lost(&error))?;
        }
    }
}

/// The first version of wl_surface that takes damage in pixels of the buffer.
const DAMAGE_BUFFER: u32 = 4;

impl Target for WaylandTarget {
    fn reads_rows(&self) -> bool {
        true
    }

    fn refresh_period(&self) -> Option<Duration> {
        Some(self.period)
    }

    fn show(&self, rows: &[u8]) -> VkResult<Fit> {
        let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        let index = turns.free()?;
        let start = index * rows.len();
        if let Some(to) = turns.mapping.bytes().get_mut(start..start + rows.len()) {
            to.copy_from_slice(rows);
        }
        self.surface.attach(Some(&turns.buffers[index]), 0, 0);
        if self.surface.version() >= DAMAGE_BUFFER {
            self.surface.damage_buffer(0, 0, self.width, self.height);
        } else {
            self.surface.damage(0, 0, i32::MAX, i32::MAX);
        }
        self.surface.commit();
        turns.busy.0[index] = true;
        self.connection
            .flush()
            .map_err(|error| failed("a picture", &error))?;
        Ok(Fit::Exact)
    }
}

impl Drop for WaylandTarget {
    fn drop(&mut self) {
        let turns = self.turns.get_mut().unwrap_or_else(PoisonError::into_inner);
        turns.buffers.iter().for_each(WlBuffer::destroy);
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
            let made = Surface::new(surface::Window::Wayland(window));
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
