// SPDX-License-Identifier: MIT
//! An X server with one window that imports dma-bufs (DRI3, Present) and keeps what it is shown, in a thread of the
//! scenario's process: servers without a GPU have no such extensions.

use std::collections::HashMap;
use std::ffi::c_void;
use std::fs::File;
use std::os::fd::{AsRawFd as _, IntoRawFd as _, OwnedFd};
use std::os::unix::fs::FileExt as _;
use std::os::unix::net::UnixStream;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use anyhow::{Context as _, bail, ensure};
use libloading::Library;
use x11rb::protocol::dri3::{
    FenceFromFDRequest, GetSupportedModifiersReply, PixmapFromBuffersRequest,
    QueryVersionReply as Dri3Version,
};
use x11rb::protocol::present::{PixmapRequest, QueryVersionReply as PresentVersion};
use x11rb::protocol::xproto::{
    Depth, Format, FreePixmapRequest, GetGeometryReply, GetInputFocusReply,
    GetWindowAttributesReply, ImageOrder, PutImageRequest, QueryExtensionReply,
    QueryExtensionRequest, Screen, Setup, VisualClass, Visualtype,
};
use x11rb::rust_connection::{DefaultStream, PollMode, Stream as _};
use x11rb::utils::RawFdContainer;
use x11rb::x11_utils::{RequestHeader, Serialize};

use crate::compositor::DmaBufs;

/// The window and its visual.
const WINDOW: u32 = 0x20;
const VISUAL: u32 = 0x21;
const ROOT: u32 = 0x22;
const DEPTH: u8 = 24;

/// Extensions, with their requests' major opcodes.
const DRI3: u8 = 150;
const PRESENT: u8 = 151;
const SYNC: u8 = 152;
const EXTENSIONS: [(&[u8], u8); 3] = [(b"DRI3", DRI3), (b"Present", PRESENT), (b"SYNC", SYNC)];

/// The error `Match` (X11, appendix B).
const BAD_MATCH: u8 = 8;

/// A picture that was presented.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Presented {
    /// Its rows.
    pub pixels: Vec<u8>,
    /// It came in a dma-buf.
    pub in_dma_buf: bool,
}

/// A server, and an application's connection to it.
pub struct SharingServer {
    library: Library,
    raw: NonNull<c_void>,
    shown: Arc<Mutex<Vec<Presented>>>,
    thread: Option<JoinHandle<anyhow::Result<()>>>,
}

// SAFETY: connections of libxcb may be used by all threads; the pointer is freed once.
unsafe impl Send for SharingServer {}
// SAFETY: as above.
unsafe impl Sync for SharingServer {}

impl SharingServer {
    /// Starts one, with a window of this size.
    ///
    /// # Errors
    /// When there is no libxcb, or a socket fails.
    pub fn start(dma_bufs: DmaBufs, size: (u16, u16)) -> anyhow::Result<SharingServer> {
        type Connect = unsafe extern "C" fn(i32, *const c_void) -> *mut c_void;
        type Error = unsafe extern "C" fn(*mut c_void) -> i32;
        let (ours, theirs) = UnixStream::pair()?;
        let shown = Arc::<Mutex<Vec<Presented>>>::default();
        let (stream, _) = DefaultStream::from_unix_stream(theirs)?;
        let mut session = Session {
            stream,
            input: Vec::new(),
            files: Vec::new(),
            sequence: 0,
            dma_bufs,
            size,
            pixmaps: HashMap::new(),
            fences: HashMap::new(),
            current: None,
            shown: shown.clone(),
        };
        let thread = std::thread::spawn(move || session.serve());
        // SAFETY: the system's library is what its name says, and so are its functions; the descriptor becomes the
        // connection's.
        unsafe {
            let library = Library::new("libxcb.so.1")?;
            let raw = library.get::<Connect>(b"xcb_connect_to_fd\0")?(
                ours.into_raw_fd(),
                std::ptr::null(),
            );
            let failed = library.get::<Error>(b"xcb_connection_has_error\0")?(raw);
            ensure!(failed == 0, "xcb_connect_to_fd: {failed}");
            Ok(SharingServer {
                library,
                raw: NonNull::new(raw).context("no connection")?,
                shown,
                thread: Some(thread),
            })
        }
    }

    /// The connection, for Vulkan.
    #[must_use]
    pub fn raw(&self) -> *mut c_void {
        self.raw.as_ptr()
    }

    /// The window, for Vulkan.
    #[must_use]
    pub fn window(&self) -> u32 {
        WINDOW
    }

    /// What was shown so far, in order: presenting is over when the server has answered.
    #[must_use]
    pub fn shown(&self) -> Vec<Presented> {
        let shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        shown.clone()
    }

    /// Ends the connection; what went wrong in the server.
    ///
    /// # Errors
    /// Requests that it does not know, or that make no sense.
    fn end(&mut self) -> anyhow::Result<()> {
        type Disconnect = unsafe extern "C" fn(*mut c_void);
        let Some(thread) = self.thread.take() else {
            return Ok(());
        };
        // SAFETY: a connection that nothing uses any more.
        unsafe { self.library.get::<Disconnect>(b"xcb_disconnect\0")?(self.raw.as_ptr()) };
        match thread.join() {
            Ok(result) => result,
            Err(_) => bail!("the X server panics"),
        }
    }
}

impl Drop for SharingServer {
    fn drop(&mut self) {
        if let Err(error) = self.end() {
            // Pictures did not come, which was noticed.
            eprintln!("the scenario's X server: {error:#}");
        }
    }
}

/// A pixmap of a dma-buf.
struct Pixmap {
    file: File,
    offset: u64,
    stride: usize,
}

/// The server's end of the connection.
struct Session {
    stream: DefaultStream,
    input: Vec<u8>,
    files: Vec<RawFdContainer>,
    sequence: u16,
    dma_bufs: DmaBufs,
    size: (u16, u16),
    pixmaps: HashMap<u32, Pixmap>,
    fences: HashMap<u32, Fence>,
    /// The fence of what is shown, triggered when something else is.
    current: Option<u32>,
    shown: Arc<Mutex<Vec<Presented>>>,
}

impl Session {
    /// So many bytes; none at the end of the connection.
    fn take(&mut self, count: usize) -> anyhow::Result<Option<Vec<u8>>> {
        while self.input.len() < count {
            let mut part = [0; 1 << 16];
            match self.stream.read(&mut part, &mut self.files) {
                Ok(0) => return Ok(None),
                Ok(read) => self.input.extend_from_slice(&part[..read]),
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                    self.stream.poll(PollMode::Readable)?;
                }
                Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => {
                    return Ok(None);
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(Some(self.input.drain(..count).collect()))
    }

    fn put(&mut self, mut bytes: &[u8]) -> anyhow::Result<()> {
        while !bytes.is_empty() {
            match self.stream.write(bytes, &mut Vec::new()) {
                Ok(written) => bytes = &bytes[written..],
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                    self.stream.poll(PollMode::Writable)?;
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Replies have 32 bytes at least.
    fn reply(&mut self, reply: &impl Serialize) -> anyhow::Result<()> {
        let mut bytes = Vec::new();
        reply.serialize_into(&mut bytes);
        bytes.resize(bytes.len().max(32), 0);
        self.put(&bytes)
    }

    fn refuse(&mut self, header: &RequestHeader) -> anyhow::Result<()> {
        let mut error = [0; 32];
        error[1] = BAD_MATCH;
        error[2..4].copy_from_slice(&self.sequence.to_ne_bytes());
        error[8] = header.minor_opcode;
        error[10] = header.major_opcode;
        self.put(&error)
    }

    fn serve(&mut self) -> anyhow::Result<()> {
        let Some(hello) = self.take(12)? else {
            return Ok(());
        };
        let half = |at: usize| usize::from(u16::from_ne_bytes([hello[at], hello[at + 1]]));
        let authorization = half(6).next_multiple_of(4) + half(8).next_multiple_of(4);
        self.take(authorization)?;
        self.reply(&self.setup())?;
        while let Some(start) = self.take(4)? {
            self.sequence = self.sequence.wrapping_add(1);
            let length = u16::from_ne_bytes([start[2], start[3]]);
            ensure!(length > 0, "a request of more than was said to be allowed");
            let header = RequestHeader {
                major_opcode: start[0],
                minor_opcode: start[1],
                remaining_length: u32::from(length) - 1,
            };
            let Some(body) = self.take(4 * (usize::from(length) - 1))? else {
                break;
            };
            self.request(header, &body)?;
        }
        Ok(())
    }

    fn setup(&self) -> Setup {
        let visual = Visualtype {
            visual_id: VISUAL,
            class: VisualClass::TRUE_COLOR,
            bits_per_rgb_value: 8,
            colormap_entries: 256,
            red_mask: 0xff_0000,
            green_mask: 0xff00,
            blue_mask: 0xff,
        };
        let screen = Screen {
            root: ROOT,
            root_visual: VISUAL,
            root_depth: DEPTH,
            width_in_pixels: self.size.0,
            height_in_pixels: self.size.1,
            allowed_depths: vec![Depth {
                depth: DEPTH,
                visuals: vec![visual],
            }],
            ..Screen::default()
        };
        let setup = Setup {
            status: 1,
            protocol_major_version: 11,
            resource_id_base: 0x40_0000,
            resource_id_mask: 0x1f_ffff,
            maximum_request_length: u16::MAX,
            image_byte_order: ImageOrder::LSB_FIRST,
            bitmap_format_bit_order: ImageOrder::LSB_FIRST,
            bitmap_format_scanline_unit: 32,
            bitmap_format_scanline_pad: 32,
            min_keycode: 8,
            max_keycode: 255,
            pixmap_formats: vec![Format {
                depth: DEPTH,
                bits_per_pixel: 32,
                scanline_pad: 32,
            }],
            roots: vec![screen],
            ..Setup::default()
        };
        let words = (setup.serialize().len() - 8) / 4;
        Setup {
            length: words as u16,
            ..setup
        }
    }

    fn request(&mut self, header: RequestHeader, body: &[u8]) -> anyhow::Result<()> {
        let sequence = self.sequence;
        match (header.major_opcode, header.minor_opcode) {
            // GetWindowAttributes
            (3, _) => self.reply(&GetWindowAttributesReply {
                sequence,
                length: 3,
                visual: VISUAL,
                ..GetWindowAttributesReply::default()
            }),
            // GetGeometry
            (14, _) => self.reply(&GetGeometryReply {
                sequence,
                depth: DEPTH,
                root: ROOT,
                width: self.size.0,
                height: self.size.1,
                ..GetGeometryReply::default()
            }),
            // GetInputFocus
            (43, _) => self.reply(&GetInputFocusReply {
                sequence,
                ..GetInputFocusReply::default()
            }),
            // FreePixmap
            (54, _) => {
                let freed = FreePixmapRequest::try_parse_request(header, body)?.pixmap;
                self.pixmaps.remove(&freed).context("no such pixmap")?;
                Ok(())
            }
            // CreateGC, FreeGC, NoOperation
            (55 | 60 | 127, _) => Ok(()),
            // PutImage
            (72, _) => {
                let put = PutImageRequest::try_parse_request(header, body)?;
                ensure!((put.width, put.height) == self.size, "a part of a picture");
                let pixels = put.data.into_owned();
                self.show(Presented {
                    pixels,
                    in_dma_buf: false,
                });
                Ok(())
            }
            // QueryExtension
            (98, _) => {
                let asked = QueryExtensionRequest::try_parse_request(header, body)?;
                let mut known = EXTENSIONS.iter();
                let known = known.find(|(name, _)| **name == *asked.name);
                let known = known.filter(|_| self.dma_bufs != DmaBufs::Unknown);
                self.reply(&QueryExtensionReply {
                    sequence,
                    present: known.is_some(),
                    major_opcode: known.map_or(0, |(_, opcode)| *opcode),
                    ..QueryExtensionReply::default()
                })
            }
            // DRI3 QueryVersion
            (DRI3, 0) => self.reply(&Dri3Version {
                sequence,
                length: 0,
                major_version: 1,
                minor_version: 2,
            }),
            (DRI3, 4) => self.fence(header, body),
            // GetSupportedModifiers: a tiled layout (DRM_FORMAT_MOD_APPLE_TWIDDLED), and rows of pixels.
            (DRI3, 6) => self.reply(&GetSupportedModifiersReply {
                sequence,
                length: 4,
                window_modifiers: Vec::new(),
                screen_modifiers: vec![0x0c00_0000_0000_0001, 0],
            }),
            (DRI3, 7) => self.import(header, body),
            // Present QueryVersion
            (PRESENT, 0) => self.reply(&PresentVersion {
                sequence,
                length: 0,
                major_version: 1,
                minor_version: 0,
            }),
            (PRESENT, 1) => self.present(header, body),
            // SYNC DestroyFence
            (SYNC, 17) => Ok(()),
            (major, minor) => bail!("request {major} {minor}"),
        }
    }

    /// DRI3 FenceFromFD.
    fn fence(&mut self, header: RequestHeader, body: &[u8]) -> anyhow::Result<()> {
        let request = FenceFromFDRequest::try_parse_request_fd(header, body, &mut self.files)?;
        ensure!(request.initially_triggered, "a fence that is not idle");
        let fence = Fence::new(&request.fence_fd)?;
        self.fences.insert(request.fence, fence);
        Ok(())
    }

    /// DRI3 PixmapFromBuffers.
    fn import(&mut self, header: RequestHeader, body: &[u8]) -> anyhow::Result<()> {
        let request =
            PixmapFromBuffersRequest::try_parse_request_fd(header, body, &mut self.files)?;
        let same = (request.width, request.height) == self.size && request.window == WINDOW;
        ensure!(same && (request.depth, request.bpp) == (DEPTH, 32));
        ensure!(request.modifier == 0 && request.buffers.len() == 1);
        if self.dma_bufs == DmaBufs::Refused {
            return self.refuse(&header);
        }
        let mut buffers = request.buffers.into_iter();
        let file = buffers.next().context("no buffer")?;
        let pixmap = Pixmap {
            file: File::from(file),
            offset: request.offset0.into(),
            stride: request.stride0 as usize,
        };
        self.pixmaps.insert(request.pixmap, pixmap);
        Ok(())
    }

    /// Present Pixmap: shown at once, while what was shown before is idle.
    fn present(&mut self, header: RequestHeader, body: &[u8]) -> anyhow::Result<()> {
        let request = PixmapRequest::try_parse_request(header, body)?;
        ensure!(request.window == WINDOW);
        let fence = self.fences.get(&request.idle_fence).context("no fence")?;
        ensure!(!fence.is_triggered(), "a pixmap that is said to be idle");
        let pixmap = self.pixmaps.get(&request.pixmap).context("no pixmap")?;
        let row = 4 * usize::from(self.size.0);
        let mut pixels = vec![0; row * usize::from(self.size.1)];
        for (y, to) in pixels.chunks_exact_mut(row).enumerate() {
            let at = pixmap.offset + (y * pixmap.stride) as u64;
            pixmap.file.read_exact_at(to, at)?;
        }
        if let Some(before) = self.current.replace(request.idle_fence) {
            self.fences[&before].trigger();
        }
        self.show(Presented {
            pixels,
            in_dma_buf: true,
        });
        Ok(())
    }

    fn show(&self, picture: Presented) {
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        shown.push(picture);
    }
}

/// A fence as libxshmfence has it: a word that is 1 when triggered, all ones when somebody sleeps on it.
struct Fence {
    word: NonNull<AtomicU32>,
}

// SAFETY: all accesses are atomic.
unsafe impl Send for Fence {}

impl Fence {
    fn new(file: &OwnedFd) -> anyhow::Result<Fence> {
        // SAFETY: a new mapping of the client's file.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                size_of::<AtomicU32>(),
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                file.as_raw_fd(),
                0,
            )
        };
        ensure!(start != libc::MAP_FAILED, std::io::Error::last_os_error());
        Ok(Fence {
            word: NonNull::new(start.cast()).context("nothing mapped")?,
        })
    }

    fn word(&self) -> &AtomicU32 {
        // SAFETY: mapped as long as this lives.
        unsafe { self.word.as_ref() }
    }

    fn is_triggered(&self) -> bool {
        self.word().load(Ordering::Acquire) == 1
    }

    fn trigger(&self) {
        if self.word().swap(1, Ordering::AcqRel) == u32::MAX {
            // SAFETY: a futex of this process's mapping.
            unsafe {
                libc::syscall(
                    libc::SYS_futex,
                    self.word.as_ptr(),
                    libc::FUTEX_WAKE,
                    i32::MAX,
                );
            }
        }
    }
}

impl Drop for Fence {
    fn drop(&mut self) {
        // SAFETY: the value's own mapping.
        unsafe { libc::munmap(self.word.as_ptr().cast(), size_of::<AtomicU32>()) };
    }
}
