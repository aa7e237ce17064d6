// SPDX-License-Identifier: MIT
//! Windows on an X server of the scenario's own, and what they show.

use std::ffi::{CStr, CString, c_char, c_void};
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, anyhow, bail, ensure};
use libloading::Library;
use x11rb::connection::Connection as _;
use x11rb::protocol::xproto::{
    ColormapAlloc, ConfigureWindowAux, ConnectionExt as _, CreateWindowAux, ImageFormat,
    WindowClass,
};
use x11rb::xcb_ffi::XCBConnection;

/// An X server without a screen, and a connection to it.
pub struct Server {
    // Dropped before the server ends.
    connection: XCBConnection,
    screen: usize,
    name: CString,
    _process: Process,
}

/// A process that ends with its value.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        // It has ended by itself when these fail.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A window.
pub struct Window {
    server: Arc<Server>,
    /// Its ID.
    pub id: u32,
}

/// After which pictures that do not come count as lost.
const PATIENCE: Duration = Duration::from_secs(60);

impl Server {
    /// Starts one.
    ///
    /// # Errors
    /// When Xvfb is not installed or does not start.
    pub fn start(options: &[&str]) -> anyhow::Result<Arc<Server>> {
        let mut command = Command::new("Xvfb");
        command
            // It chooses a display and says which. It ends when its last client has gone, too.
            .args(["-displayfd", "1", "-terminate", "-nolisten", "tcp"])
            .args(["-screen", "0", "640x480x24"])
            .args(options)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let child = command.spawn();
        let mut process = Process(child.context("Xvfb (Debian package xvfb): run ./x setup")?);
        let said = process.0.stdout.take().context("no output")?;
        let mut number = String::new();
        BufReader::new(said).read_line(&mut number)?;
        ensure!(!number.trim().is_empty(), "Xvfb has not started");
        let name = CString::new(format!(":{}", number.trim()))?;
        let (connection, screen) = XCBConnection::connect(Some(&name))?;
        Ok(Arc::new(Server {
            connection,
            screen,
            name,
            _process: process,
        }))
    }

    /// The connection, for Vulkan.
    #[must_use]
    pub fn raw(&self) -> *mut c_void {
        self.connection.get_raw_xcb_connection()
    }

    /// Its name, as in `DISPLAY`.
    #[must_use]
    pub fn name(&self) -> &CStr {
        &self.name
    }

    /// A visual of a depth.
    ///
    /// # Errors
    /// When there is none.
    pub fn visual(&self, depth: u8) -> anyhow::Result<u32> {
        let screen = &self.connection.setup().roots[self.screen];
        let mut depths = screen.allowed_depths.iter();
        let depth = depths.find(|it| it.depth == depth);
        let visual = depth.and_then(|depth| depth.visuals.first());
        Ok(visual.ok_or_else(|| anyhow!("no such visual"))?.visual_id)
    }

    /// A window that is seen.
    ///
    /// # Errors
    /// What the server refuses.
    pub fn window(
        self: &Arc<Server>,
        depth: u8,
        at: i16,
        (width, height): (u16, u16),
    ) -> anyhow::Result<Window> {
        let connection = &self.connection;
        let root = connection.setup().roots[self.screen].root;
        let visual = self.visual(depth)?;
        let colours = connection.generate_id()?;
        connection
            .create_colormap(ColormapAlloc::NONE, colours, root, visual)?
            .check()?;
        let values = CreateWindowAux::new()
            .background_pixel(0)
            .border_pixel(0)
            .override_redirect(1)
            .colormap(colours);
        let id = connection.generate_id()?;
        let class = WindowClass::INPUT_OUTPUT;
        connection
            .create_window(
                depth, id, root, at, at, width, height, 0, class, visual, &values,
            )?
            .check()?;
        connection.map_window(id)?.check()?;
        Ok(Window {
            server: self.clone(),
            id,
        })
    }
}

impl Window {
    /// The server that it is on.
    #[must_use]
    pub fn server(&self) -> Arc<Server> {
        self.server.clone()
    }

    /// Gives it another size.
    ///
    /// # Errors
    /// What the server refuses.
    pub fn resize(&self, (width, height): (u16, u16)) -> anyhow::Result<()> {
        let size = ConfigureWindowAux::new()
            .width(u32::from(width))
            .height(u32::from(height));
        let connection = &self.server.connection;
        Ok(connection.configure_window(self.id, &size)?.check()?)
    }

    /// Takes it from the screen for ever.
    ///
    /// # Errors
    /// What the server refuses.
    pub fn destroy(&self) -> anyhow::Result<()> {
        Ok(self.server.connection.destroy_window(self.id)?.check()?)
    }

    /// What it shows, without what is no colour.
    ///
    /// # Errors
    /// What the server refuses.
    pub fn pixels(&self, (width, height): (u16, u16)) -> anyhow::Result<Vec<u8>> {
        let connection = &self.server.connection;
        let image = connection.get_image(
            ImageFormat::Z_PIXMAP,
            self.id,
            0,
            0,
            width,
            height,
            u32::MAX,
        )?;
        let mut pixels = image.reply()?.data;
        colours(&mut pixels);
        Ok(pixels)
    }

    /// Waits until it shows this, as presenting goes on after the command.
    ///
    /// # Errors
    /// When it does not come to that.
    pub fn await_pixels(&self, size: (u16, u16), expected: &[u8]) -> anyhow::Result<()> {
        let mut expected = expected.to_vec();
        colours(&mut expected);
        let start = Instant::now();
        loop {
            let shown = self.pixels(size)?;
            match crate::outcome::difference(&shown, &expected) {
                None => return Ok(()),
                Some(difference) if start.elapsed() > PATIENCE => bail!("{difference}"),
                Some(_) => std::thread::sleep(Duration::from_millis(5)),
            }
        }
    }
}

/// Clears the byte of each pixel that is no colour.
fn colours(pixels: &mut [u8]) {
    let (pixels, _) = pixels.as_chunks_mut::<4>();
    pixels.iter_mut().for_each(|pixel| pixel[3] = 0);
}

/// A display of Xlib.
pub struct Xlib {
    library: Library,
    display: *mut c_void,
}

// SAFETY: Xlib's initialiser for threads was called; only one thread uses the display at a time.
unsafe impl Send for Xlib {}

impl Xlib {
    /// Opens a display.
    ///
    /// # Errors
    /// When there is no Xlib or no such display.
    pub fn open(name: &CStr) -> anyhow::Result<Xlib> {
        type Init = unsafe extern "C" fn() -> i32;
        type Open = unsafe extern "C" fn(*const c_char) -> *mut c_void;
        // SAFETY: the system's library is what its name says, and so are its functions.
        unsafe {
            let library = Library::new("libX11.so.6")?;
            library.get::<Init>(b"XInitThreads\0")?();
            let display = library.get::<Open>(b"XOpenDisplay\0")?(name.as_ptr());
            ensure!(!display.is_null(), "no display {name:?}");
            Ok(Xlib { library, display })
        }
    }

    /// The display, for Vulkan.
    #[must_use]
    pub fn raw(&self) -> *mut c_void {
        self.display
    }
}

impl Drop for Xlib {
    fn drop(&mut self) {
        type Close = unsafe extern "C" fn(*mut c_void) -> i32;
        // SAFETY: as above; the display is open.
        unsafe {
            if let Ok(close) = self.library.get::<Close>(b"XCloseDisplay\0") {
                close(self.display);
            }
        }
    }
}
