// SPDX-License-Identifier: MIT
//! What a compositor offers.

use std::time::Duration;

use wayland_client::protocol::wl_output::{self, WlOutput};
use wayland_client::protocol::wl_registry::{self, WlRegistry};
use wayland_client::protocol::wl_shm::{self, WlShm};
use wayland_client::{Connection, Dispatch, Proxy as _, QueueHandle, WEnum};
use wayland_protocols::wp::linux_dmabuf::zv1::client::zwp_linux_dmabuf_v1::{
    self, ZwpLinuxDmabufV1,
};

use super::failed;
use crate::error::VkResult;
use crate::wsi::dma_buf;

/// The version of linux-dmabuf that tells formats with modifiers one by one. Later ones have tables of them, with
/// the devices that like them best, of which there is one.
const DMA_BUF_VERSION: u32 = 3;

/// The refresh rate of outputs that have none, in mHz.
const DEFAULT_REFRESH: u64 = 60_000;

/// What there is.
#[derive(Default)]
pub(super) struct Globals {
    pub(super) shm: Option<WlShm>,
    shm_formats: Vec<wl_shm::Format>,
    pub(super) dma_bufs: Option<ZwpLinuxDmabufV1>,
    /// DRM's names of formats that dma-bufs of rows of pixels may have.
    pub(super) dma_buf_formats: Vec<u32>,
    /// In mHz.
    refresh: Option<u64>,
}

impl Globals {
    /// Asks the compositor.
    ///
    /// # Errors
    /// When the connection is lost.
    pub(super) fn ask(connection: &Connection) -> VkResult<Globals> {
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

    /// Whether pictures of this format can lie in shared memory.
    pub(super) fn has(&self, format: wl_shm::Format) -> bool {
        self.shm_formats.contains(&format)
    }

    /// The refresh period of the fastest output.
    pub(super) fn period(&self) -> Duration {
        let refresh = self.refresh.unwrap_or(DEFAULT_REFRESH);
        Duration::from_nanos(1_000_000_000_000 / refresh)
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
            name,
            interface,
            version,
        } = event
        else {
            return;
        };
        if interface == WlShm::interface().name {
            globals.shm = Some(registry.bind(name, 1, queue, ()));
        } else if interface == WlOutput::interface().name {
            registry.bind::<WlOutput, _, _>(name, 1, queue, ());
        } else if interface == ZwpLinuxDmabufV1::interface().name && version >= DMA_BUF_VERSION {
            globals.dma_bufs = Some(registry.bind(name, DMA_BUF_VERSION, queue, ()));
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
            globals.shm_formats.push(format);
        }
    }
}

impl Dispatch<ZwpLinuxDmabufV1, ()> for Globals {
    fn event(
        globals: &mut Globals,
        _: &ZwpLinuxDmabufV1,
        event: zwp_linux_dmabuf_v1::Event,
        _: &(),
        _: &Connection,
        _: &QueueHandle<Globals>,
    ) {
        if let zwp_linux_dmabuf_v1::Event::Modifier {
            format,
            modifier_hi,
            modifier_lo,
        } = event
            && u64::from(modifier_hi) << 32 | u64::from(modifier_lo) == dma_buf::LINEAR
        {
            globals.dma_buf_formats.push(format);
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
