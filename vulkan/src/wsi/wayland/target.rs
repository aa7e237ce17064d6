// SPDX-License-Identifier: MIT
//! Pictures for a surface: in dma-bufs that the compositor shares with the GPU, or else in memory that it shares with
//! this process.

use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ash::vk;
use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use wayland_client::protocol::wl_shm;
use wayland_client::protocol::wl_surface::WlSurface;
use wayland_client::{Connection, Proxy as _};
use wayland_protocols::wp::linux_dmabuf::zv1::client::zwp_linux_buffer_params_v1::Flags;
use wayland_protocols::wp::linux_dmabuf::zv1::client::zwp_linux_dmabuf_v1::ZwpLinuxDmabufV1;

use super::turns::{BUFFERS, Turns};
use super::{Window, failed};
use crate::debug;
use crate::error::VkResult;
use crate::wsi::dma_buf::{self, DmaBuf};
use crate::wsi::mapping::Mapping;
use crate::wsi::surface::Request;
use crate::wsi::target::{Fit, Picture, Takes, Target};

/// Bytes of a pixel.
const PIXEL_BYTES: usize = 4;

/// A surface that buffers of one size are attached to.
pub(in crate::wsi) struct WaylandTarget {
    connection: Connection,
    surface: WlSurface,
    period: Duration,
    width: i32,
    height: i32,
    pixels: Pixels,
    turns: Mutex<Turns>,
}

/// Where the buffers' pixels are.
enum Pixels {
    /// In memory, one buffer after the other.
    Memory(Mutex<Mapping>),
    /// In memory of the GPU.
    DmaBufs {
        compositor: ZwpLinuxDmabufV1,
        format: u32,
        files: Vec<OwnedFd>,
    },
}

/// The compositor's name of a format in memory.
fn shm_format(request: &Request) -> wl_shm::Format {
    let blends = request.alpha == vk::CompositeAlphaFlagsKHR::PRE_MULTIPLIED;
    match (request.is_bgra(), blends) {
        (true, false) => wl_shm::Format::Xrgb8888,
        (true, true) => wl_shm::Format::Argb8888,
        (false, false) => wl_shm::Format::Xbgr8888,
        (false, true) => wl_shm::Format::Abgr8888,
    }
}

impl WaylandTarget {
    pub(super) fn new(window: &Window, request: &Request) -> VkResult<WaylandTarget> {
        let extent = request.extent;
        let too_large = |_| {
            debug::error(&format_args!(
                "{} x {} pixels are too many for a Wayland compositor",
                extent.width, extent.height
            ));
            vk::Result::ERROR_INITIALIZATION_FAILED
        };
        let width = i32::try_from(extent.width).map_err(too_large)?;
        let height = i32::try_from(extent.height).map_err(too_large)?;
        let mut turns = Turns::new(&window.connection);
        let format = dma_buf::fourcc(request);
        let pixels = match &window.dma_bufs {
            Some(compositor) if request.shares && window.dma_buf_formats.contains(&format) => {
                Pixels::DmaBufs {
                    compositor: compositor.clone(),
                    format,
                    files: Vec::new(),
                }
            }
            _ => {
                let bytes = PIXEL_BYTES as u64 * u64::from(extent.width) * u64::from(extent.height);
                let size = i32::try_from(BUFFERS as u64 * bytes).map_err(too_large)?;
                let mapping = share_memory(window, &mut turns, request, (width, height), size)?;
                Pixels::Memory(Mutex::new(mapping))
            }
        };
        Ok(WaylandTarget {
            connection: window.connection.clone(),
            surface: window.surface.clone(),
            period: window.period,
            width,
            height,
            pixels,
            turns: Mutex::new(turns),
        })
    }

    fn turns(&self) -> MutexGuard<'_, Turns> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Makes the buffers in memory of that size.
fn share_memory(
    window: &Window,
    turns: &mut Turns,
    request: &Request,
    (width, height): (i32, i32),
    size: i32,
) -> VkResult<Mapping> {
    let memory = |error: rustix::io::Errno| {
        debug::error(&format_args!("memory for the Wayland compositor: {error}"));
        vk::Result::ERROR_OUT_OF_HOST_MEMORY
    };
    let file = memfd_create(c"cortland", MemfdFlags::CLOEXEC).map_err(memory)?;
    ftruncate(&file, size as u64).map_err(memory)?;
    let mapping = Mapping::new(&file, size as usize).map_err(memory)?;
    let handle = turns.queue.handle();
    let pool = window.shm.create_pool(file.as_fd(), size, &handle, ());
    let format = shm_format(request);
    let stride = PIXEL_BYTES as i32 * width;
    for (index, buffer) in turns.buffers.all.iter_mut().enumerate() {
        let offset = index as i32 * (size / BUFFERS as i32);
        let made = pool.create_buffer(offset, width, height, stride, format, &handle, ());
        *buffer = Some(made);
    }
    // The buffers keep it.
    pool.destroy();
    Ok(mapping)
}

/// The first version of wl_surface that takes damage in pixels of the buffer.
const DAMAGE_BUFFER: u32 = 4;

impl Target for WaylandTarget {
    fn takes(&self) -> Takes {
        match self.pixels {
            Pixels::Memory(_) => Takes::Rows,
            Pixels::DmaBufs { .. } => Takes::DmaBufs(BUFFERS),
        }
    }

    fn refresh_period(&self) -> Option<Duration> {
        Some(self.period)
    }

    fn share(&mut self, buffers: &[DmaBuf]) -> VkResult<bool> {
        let Pixels::DmaBufs {
            compositor,
            format,
            files,
        } = &mut self.pixels
        else {
            return Ok(false);
        };
        let turns = self.turns.get_mut().unwrap_or_else(PoisonError::into_inner);
        let handle = turns.queue.handle();
        let mut all = Vec::new();
        for (index, buffer) in buffers.iter().enumerate() {
            let parameters = compositor.create_params(&handle, index);
            let (high, low) = ((dma_buf::LINEAR >> 32) as u32, dma_buf::LINEAR as u32);
            parameters.add(buffer.file.as_fd(), 0, 0, buffer.stride, high, low);
            parameters.create(self.width, self.height, *format, Flags::empty());
            all.push(parameters);
        }
        let made = turns.made();
        all.iter().for_each(|parameters| parameters.destroy());
        if !made? {
            return Ok(false);
        }
        for buffer in buffers {
            let file = buffer.file.try_clone().map_err(|error| {
                debug::error(&format_args!("a descriptor of a dma-buf: {error}"));
                vk::Result::ERROR_TOO_MANY_OBJECTS
            })?;
            files.push(file);
        }
        Ok(true)
    }

    fn next(&self) -> VkResult<usize> {
        let Pixels::DmaBufs { files, .. } = &self.pixels else {
            return Ok(0);
        };
        let free = self.turns().free()?;
        dma_buf::await_idle(&files[free]).map_err(|error| failed("a dma-buf", &error))?;
        Ok(free)
    }

    fn show(&self, picture: Picture<'_>) -> VkResult<Fit> {
        let mut turns = self.turns();
        let index = match (picture, &self.pixels) {
            (Picture::Rows(rows), Pixels::Memory(mapping)) => {
                let index = turns.free()?;
                let mut mapping = mapping.lock().unwrap_or_else(PoisonError::into_inner);
                let start = index * rows.len();
                if let Some(to) = mapping.bytes().get_mut(start..start + rows.len()) {
                    to.copy_from_slice(rows);
                }
                index
            }
            (Picture::DmaBuf(index), _) => index,
            (Picture::Rows(_), Pixels::DmaBufs { .. }) => return Ok(Fit::Exact),
        };
        self.surface.attach(turns.buffers.all[index].as_ref(), 0, 0);
        if self.surface.version() >= DAMAGE_BUFFER {
            self.surface.damage_buffer(0, 0, self.width, self.height);
        } else {
            self.surface.damage(0, 0, i32::MAX, i32::MAX);
        }
        self.surface.commit();
        turns.buffers.busy[index] = true;
        self.connection
            .flush()
            .map_err(|error| failed("a picture", &error))?;
        Ok(Fit::Exact)
    }
}
