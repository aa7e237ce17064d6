// SPDX-License-Identifier: MIT
//! Buffers of a surface that take turns, and who has them.

use wayland_client::protocol::wl_buffer::{self, WlBuffer};
use wayland_client::protocol::wl_shm_pool::WlShmPool;
use wayland_client::{
    Connection, Dispatch, EventQueue, Proxy as _, QueueHandle, delegate_noop, event_created_child,
};
use wayland_protocols::wp::linux_dmabuf::zv1::client::zwp_linux_buffer_params_v1::{
    self, ZwpLinuxBufferParamsV1,
};

use super::failed;
use crate::error::VkResult;

/// Buffers that pictures take turns in: one that is shown, one that will be, one that is written.
pub(super) const BUFFERS: usize = 3;

/// The buffers and a queue for their events.
pub(super) struct Turns {
    pub(super) queue: EventQueue<Buffers>,
    pub(super) buffers: Buffers,
}

/// The buffers.
#[derive(Default)]
pub(super) struct Buffers {
    pub(super) all: [Option<WlBuffer>; BUFFERS],
    /// The compositor has it.
    pub(super) busy: [bool; BUFFERS],
    /// The compositor has not made one.
    refused: bool,
}

fn lost(error: &dyn std::fmt::Display) -> ash::vk::Result {
    failed("the events", error)
}

impl Turns {
    /// Of no buffers yet.
    pub(super) fn new(connection: &Connection) -> Turns {
        Turns {
            queue: connection.new_event_queue(),
            buffers: Buffers::default(),
        }
    }

    /// A buffer that the compositor does not have; it gives back what is not shown any more.
    ///
    /// # Errors
    /// When the connection is lost.
    pub(super) fn free(&mut self) -> VkResult<usize> {
        if let Some(events) = self.queue.prepare_read() {
            // Nothing to read is no error; others are found below.
            let _ = events.read();
        }
        self.queue
            .dispatch_pending(&mut self.buffers)
            .map_err(|error| lost(&error))?;
        loop {
            if let Some(free) = self.buffers.busy.iter().position(|busy| !busy) {
                return Ok(free);
            }
            self.wait()?;
        }
    }

    /// Waits until all buffers that were asked for are made; whether they are.
    ///
    /// # Errors
    /// When the connection is lost.
    pub(super) fn made(&mut self) -> VkResult<bool> {
        while !self.buffers.refused && self.buffers.all.iter().any(Option::is_none) {
            self.wait()?;
        }
        Ok(!self.buffers.refused)
    }

    fn wait(&mut self) -> VkResult {
        let waited = self.queue.blocking_dispatch(&mut self.buffers);
        waited.map(drop).map_err(|error| lost(&error))
    }
}

impl Drop for Turns {
    fn drop(&mut self) {
        self.buffers
            .all
            .iter()
            .flatten()
            .for_each(WlBuffer::destroy);
    }
}

impl Dispatch<WlBuffer, ()> for Buffers {
    fn event(
        buffers: &mut Buffers,
        buffer: &WlBuffer,
        event: wl_buffer::Event,
        _: &(),
        _: &Connection,
        _: &QueueHandle<Buffers>,
    ) {
        let all = buffers.all.iter().flatten();
        if matches!(event, wl_buffer::Event::Release)
            && let Some(index) = all.into_iter().position(|it| it.id() == buffer.id())
        {
            buffers.busy[index] = false;
        }
    }
}

impl Dispatch<ZwpLinuxBufferParamsV1, usize> for Buffers {
    fn event(
        buffers: &mut Buffers,
        _: &ZwpLinuxBufferParamsV1,
        event: zwp_linux_buffer_params_v1::Event,
        index: &usize,
        _: &Connection,
        _: &QueueHandle<Buffers>,
    ) {
        match event {
            zwp_linux_buffer_params_v1::Event::Created { buffer } => {
                buffers.all[*index] = Some(buffer);
            }
            _ => buffers.refused = true,
        }
    }

    event_created_child!(Buffers, ZwpLinuxBufferParamsV1, [
        zwp_linux_buffer_params_v1::EVT_CREATED_OPCODE => (WlBuffer, ())
    ]);
}

delegate_noop!(Buffers: WlShmPool);
