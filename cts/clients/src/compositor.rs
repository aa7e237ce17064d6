// SPDX-License-Identifier: MIT
//! A Wayland compositor that keeps what it is shown, in a thread of the scenario's process.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{anyhow, bail};
use wayland_client::Proxy as _;
use wayland_client::globals::{GlobalListContents, registry_queue_init};
use wayland_client::protocol::{wl_compositor, wl_registry, wl_surface};
use wayland_protocols::wp::linux_dmabuf::zv1::server::zwp_linux_buffer_params_v1::{
    self, ZwpLinuxBufferParamsV1,
};
use wayland_protocols::wp::linux_dmabuf::zv1::server::zwp_linux_dmabuf_v1::{
    self, ZwpLinuxDmabufV1,
};
use wayland_server::protocol::wl_buffer::{self, WlBuffer};
use wayland_server::protocol::wl_callback::{self, WlCallback};
use wayland_server::protocol::wl_compositor::{self as compositor, WlCompositor};
use wayland_server::protocol::wl_region::{self, WlRegion};
use wayland_server::protocol::wl_shm::{self, WlShm};
use wayland_server::protocol::wl_shm_pool::{self, WlShmPool};
use wayland_server::protocol::wl_surface::{self as surface, WlSurface};
use wayland_server::{
    Client, DataInit, Dispatch, Display, DisplayHandle, GlobalDispatch, New, Resource as _, WEnum,
};

/// A picture that was committed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// Width and height.
    pub size: (i32, i32),
    /// The compositor's name of the format.
    pub format: wl_shm::Format,
    /// Its rows.
    pub pixels: Vec<u8>,
    /// It came in a dma-buf.
    pub in_dma_buf: bool,
}

/// What a compositor does with dma-bufs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DmaBufs {
    /// It knows of none.
    Unknown,
    /// It imports those of rows of pixels.
    Imported,
    /// It offers to, and then does not.
    Refused,
}

/// A compositor, and an application's surface on it.
pub struct Compositor {
    connection: wayland_client::Connection,
    surface: wl_surface::WlSurface,
    shown: Arc<Mutex<Vec<Shown>>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<anyhow::Result<()>>>,
}

/// After which pictures that do not come count as lost.
const PATIENCE: Duration = Duration::from_secs(60);

impl Compositor {
    /// Starts one.
    ///
    /// # Errors
    /// When there is no libwayland-client, or a socket fails.
    pub fn start(dma_bufs: DmaBufs) -> anyhow::Result<Compositor> {
        let (ours, theirs) = UnixStream::pair()?;
        let shown = Arc::<Mutex<Vec<Shown>>>::default();
        let stop = Arc::<AtomicBool>::default();
        let thread = {
            let (shown, stop) = (shown.clone(), stop.clone());
            std::thread::spawn(move || serve(theirs, State::new(shown, dma_bufs), &stop))
        };
        let backend = wayland_client::backend::Backend::connect(ours)
            .map_err(|_| anyhow!("libwayland-client is not installed"))?;
        let connection = wayland_client::Connection::from_backend(backend);
        let (globals, queue) = registry_queue_init::<Application>(&connection)?;
        let handle = queue.handle();
        let compositor: wl_compositor::WlCompositor = globals.bind(&handle, 4..=4, ())?;
        let surface = compositor.create_surface(&handle, ());
        connection.flush()?;
        Ok(Compositor {
            connection,
            surface,
            shown,
            stop,
            thread: Some(thread),
        })
    }

    /// The display, for Vulkan.
    #[must_use]
    pub fn display(&self) -> *mut std::ffi::c_void {
        self.connection.backend().display_ptr().cast()
    }

    /// The surface, for Vulkan.
    #[must_use]
    pub fn surface(&self) -> *mut std::ffi::c_void {
        self.surface.id().as_ptr().cast()
    }

    /// Waits until it was shown so many pictures; all of them, in order.
    ///
    /// # Errors
    /// When it does not come to that.
    pub fn await_pictures(&self, count: usize) -> anyhow::Result<Vec<Shown>> {
        let start = Instant::now();
        loop {
            let shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
            if shown.len() >= count {
                return Ok(shown.clone());
            }
            if start.elapsed() > PATIENCE {
                bail!("{} pictures instead of {count}", shown.len());
            }
            drop(shown);
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Compositor {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // Without it, pictures did not come, which was noticed.
            let _ = thread.join();
        }
    }
}

/// The application's side, which has no events to look at.
struct Application;

impl wayland_client::Dispatch<wl_registry::WlRegistry, GlobalListContents> for Application {
    fn event(
        _: &mut Application,
        _: &wl_registry::WlRegistry,
        _: wl_registry::Event,
        _: &GlobalListContents,
        _: &wayland_client::Connection,
        _: &wayland_client::QueueHandle<Application>,
    ) {
    }
}

wayland_client::delegate_noop!(Application: wl_compositor::WlCompositor);
wayland_client::delegate_noop!(Application: ignore wl_surface::WlSurface);

/// Serves one client until it is told to stop.
fn serve(stream: UnixStream, mut state: State, stop: &AtomicBool) -> anyhow::Result<()> {
    let mut display = Display::<State>::new()?;
    let handle = display.handle();
    handle.create_global::<State, WlCompositor, ()>(4, ());
    handle.create_global::<State, WlShm, ()>(1, ());
    if state.dma_bufs != DmaBufs::Unknown {
        handle.create_global::<State, ZwpLinuxDmabufV1, ()>(3, ());
    }
    let mut handle = display.handle();
    handle.insert_client(stream, Arc::new(()))?;
    while !stop.load(Ordering::Relaxed) {
        display.dispatch_clients(&mut state)?;
        display.flush_clients()?;
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}

struct State {
    dma_bufs: DmaBufs,
    shown: Arc<Mutex<Vec<Shown>>>,
    /// What the next commit shows.
    attached: Option<WlBuffer>,
    /// What is shown, and given back when something else is.
    current: Option<WlBuffer>,
    callbacks: Vec<WlCallback>,
}

impl State {
    fn new(shown: Arc<Mutex<Vec<Shown>>>, dma_bufs: DmaBufs) -> State {
        State {
            dma_bufs,
            shown,
            attached: None,
            current: None,
            callbacks: Vec::new(),
        }
    }

    fn commit(&mut self) {
        for callback in self.callbacks.drain(..) {
            callback.done(0);
        }
        let Some(buffer) = self.attached.take() else {
            return;
        };
        if let Some(place) = buffer.data::<Place>() {
            let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
            shown.push(place.read());
        }
        if let Some(before) = self.current.replace(buffer) {
            before.release();
        }
    }
}

/// Where a buffer is.
struct Place {
    file: Arc<File>,
    offset: u64,
    size: (i32, i32),
    stride: usize,
    format: wl_shm::Format,
    in_dma_buf: bool,
}

impl Place {
    fn read(&self) -> Shown {
        let row = 4 * self.size.0 as usize;
        let mut pixels = vec![0; row * self.size.1 as usize];
        for (y, to) in pixels.chunks_exact_mut(row).enumerate() {
            let at = self.offset + (y * self.stride) as u64;
            // What cannot be read differs from what was drawn.
            let _ = self.file.read_exact_at(to, at);
        }
        Shown {
            size: self.size,
            format: self.format,
            pixels,
            in_dma_buf: self.in_dma_buf,
        }
    }
}

impl GlobalDispatch<WlCompositor, ()> for State {
    fn bind(
        _: &mut State,
        _: &DisplayHandle,
        _: &Client,
        new: New<WlCompositor>,
        _: &(),
        data: &mut DataInit<'_, State>,
    ) {
        data.init(new, ());
    }
}

impl GlobalDispatch<WlShm, ()> for State {
    fn bind(
        _: &mut State,
        _: &DisplayHandle,
        _: &Client,
        new: New<WlShm>,
        _: &(),
        data: &mut DataInit<'_, State>,
    ) {
        let shm = data.init(new, ());
        shm.format(wl_shm::Format::Argb8888);
        shm.format(wl_shm::Format::Xrgb8888);
    }
}

/// DRM's names of the formats, which wl_shm has for all but two that it knew first.
const DMA_BUF_FORMATS: [(&[u8; 4], wl_shm::Format); 2] = [
    (b"AR24", wl_shm::Format::Argb8888),
    (b"XR24", wl_shm::Format::Xrgb8888),
];

impl GlobalDispatch<ZwpLinuxDmabufV1, ()> for State {
    fn bind(
        _: &mut State,
        _: &DisplayHandle,
        _: &Client,
        new: New<ZwpLinuxDmabufV1>,
        _: &(),
        data: &mut DataInit<'_, State>,
    ) {
        let dma_bufs = data.init(new, ());
        for (name, _) in DMA_BUF_FORMATS {
            let name = u32::from_le_bytes(*name);
            // A tiled layout (DRM_FORMAT_MOD_APPLE_TWIDDLED), then rows of pixels.
            dma_bufs.modifier(name, 0x0c00_0000, 1);
            dma_bufs.modifier(name, 0, 0);
        }
    }
}

impl Dispatch<ZwpLinuxDmabufV1, ()> for State {
    fn request(
        _: &mut State,
        _: &Client,
        _: &ZwpLinuxDmabufV1,
        request: zwp_linux_dmabuf_v1::Request,
        _: &(),
        _: &DisplayHandle,
        data: &mut DataInit<'_, State>,
    ) {
        if let zwp_linux_dmabuf_v1::Request::CreateParams { params_id } = request {
            data.init(params_id, Mutex::default());
        }
    }
}

/// The only plane of a buffer that is to be.
struct Plane {
    file: Arc<File>,
    offset: u64,
    stride: usize,
}

impl Dispatch<ZwpLinuxBufferParamsV1, Mutex<Option<Plane>>> for State {
    fn request(
        state: &mut State,
        client: &Client,
        params: &ZwpLinuxBufferParamsV1,
        request: zwp_linux_buffer_params_v1::Request,
        plane: &Mutex<Option<Plane>>,
        display: &DisplayHandle,
        _: &mut DataInit<'_, State>,
    ) {
        let mut plane = plane.lock().unwrap_or_else(PoisonError::into_inner);
        match request {
            zwp_linux_buffer_params_v1::Request::Add {
                fd,
                plane_idx: 0,
                offset,
                stride,
                modifier_hi: 0,
                modifier_lo: 0,
            } => {
                *plane = Some(Plane {
                    file: Arc::new(File::from(fd)),
                    offset: offset.into(),
                    stride: stride as usize,
                });
            }
            zwp_linux_buffer_params_v1::Request::Create {
                width,
                height,
                format,
                ..
            } => {
                let mut formats = DMA_BUF_FORMATS.iter();
                let format = formats.find(|(name, _)| u32::from_le_bytes(**name) == format);
                let (Some(plane), Some((_, format)), DmaBufs::Imported) =
                    (plane.take(), format, state.dma_bufs)
                else {
                    return params.failed();
                };
                let place = Place {
                    file: plane.file,
                    offset: plane.offset,
                    size: (width, height),
                    stride: plane.stride,
                    format: *format,
                    in_dma_buf: true,
                };
                match client.create_resource::<WlBuffer, _, State>(display, 1, place) {
                    Ok(buffer) => params.created(&buffer),
                    Err(_) => params.failed(),
                }
            }
            _ => {}
        }
    }
}

impl Dispatch<WlCompositor, ()> for State {
    fn request(
        _: &mut State,
        _: &Client,
        _: &WlCompositor,
        request: compositor::Request,
        _: &(),
        _: &DisplayHandle,
        data: &mut DataInit<'_, State>,
    ) {
        match request {
            compositor::Request::CreateSurface { id } => {
                data.init(id, ());
            }
            compositor::Request::CreateRegion { id } => {
                data.init(id, ());
            }
            _ => {}
        }
    }
}

impl Dispatch<WlRegion, ()> for State {
    fn request(
        _: &mut State,
        _: &Client,
        _: &WlRegion,
        _: wl_region::Request,
        _: &(),
        _: &DisplayHandle,
        _: &mut DataInit<'_, State>,
    ) {
    }
}

impl Dispatch<WlShm, ()> for State {
    fn request(
        _: &mut State,
        _: &Client,
        _: &WlShm,
        request: wl_shm::Request,
        _: &(),
        _: &DisplayHandle,
        data: &mut DataInit<'_, State>,
    ) {
        if let wl_shm::Request::CreatePool { id, fd, .. } = request {
            data.init(id, Arc::new(File::from(fd)));
        }
    }
}

impl Dispatch<WlShmPool, Arc<File>> for State {
    fn request(
        _: &mut State,
        _: &Client,
        _: &WlShmPool,
        request: wl_shm_pool::Request,
        file: &Arc<File>,
        _: &DisplayHandle,
        data: &mut DataInit<'_, State>,
    ) {
        if let wl_shm_pool::Request::CreateBuffer {
            id,
            offset,
            width,
            height,
            stride,
            format: WEnum::Value(format),
        } = request
        {
            data.init(
                id,
                Place {
                    file: file.clone(),
                    offset: offset as u64,
                    size: (width, height),
                    stride: stride as usize,
                    format,
                    in_dma_buf: false,
                },
            );
        }
    }
}

impl Dispatch<WlBuffer, Place> for State {
    fn request(
        _: &mut State,
        _: &Client,
        _: &WlBuffer,
        _: wl_buffer::Request,
        _: &Place,
        _: &DisplayHandle,
        _: &mut DataInit<'_, State>,
    ) {
    }
}

impl Dispatch<WlCallback, ()> for State {
    fn request(
        _: &mut State,
        _: &Client,
        _: &WlCallback,
        _: wl_callback::Request,
        _: &(),
        _: &DisplayHandle,
        _: &mut DataInit<'_, State>,
    ) {
    }
}

impl Dispatch<WlSurface, ()> for State {
    fn request(
        state: &mut State,
        _: &Client,
        _: &WlSurface,
        request: surface::Request,
        _: &(),
        _: &DisplayHandle,
        data: &mut DataInit<'_, State>,
    ) {
        match request {
            surface::Request::Attach { buffer, .. } => state.attached = buffer,
            surface::Request::Frame { callback } => {
                state.callbacks.push(data.init(callback, ()));
            }
            surface::Request::Commit => state.commit(),
            _ => {}
        }
    }
}
