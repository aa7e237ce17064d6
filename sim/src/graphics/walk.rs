// SPDX-License-Identifier: MIT
//! The walk over a vertex command stream (graphics, 3).
//!
//! State stays until it is replaced (INFERRED; graphics, 3.10). Barriers separate the vertex work before
//! from what follows. Fewer than 0x800 readable bytes behind a terminator or link (graphics, 2; HW)
//! fault in strict mode.

use agx_hw::vdm::{Draw, READ_AHEAD, Record, State, WalkError, Walker};
use agx_hw::window::ContextAddress;

use super::{refuse, strict};
use crate::fault::Fault;
use crate::gpu::GpuConfig;
use crate::memory::{Access, Mappings};
use crate::processor::RenderCommand;

/// A draw with the state it is made with.
pub(super) struct Call<'s> {
    /// Address of the record.
    pub(super) record: u64,
    pub(super) draw: Draw,
    pub(super) state: &'s State,
}

pub(super) enum Event<'s> {
    Draw(Call<'s>),
    Barrier,
}

type Reader<'m> = Box<dyn FnMut(u64, &mut [u8]) -> bool + 'm>;

/// A stream being executed.
pub(super) struct Stream<'m> {
    walker: Walker<Reader<'m>>,
    mappings: &'m Mappings,
    state: State,
    strict: bool,
    records: u64,
    max_records: u64,
}

impl<'m> Stream<'m> {
    pub(super) fn new(
        command: &'m RenderCommand,
        config: &GpuConfig,
    ) -> Result<Stream<'m>, Box<Fault>> {
        let base = command.render.vdm_ctrl_stream_base;
        let start = ContextAddress::new(base).map_err(|error| refuse(base, error.to_string()))?;
        let mappings = &*command.mappings;
        let reader: Reader<'m> = Box::new(move |va, bytes: &mut [u8]| mappings.read(va, bytes));
        Ok(Stream {
            walker: Walker::new(start, reader),
            mappings,
            state: State::default(),
            strict: config.strict.is_some(),
            records: 0,
            max_records: config.max_records,
        })
    }

    /// The next draw or barrier; `None` when the stream has ended.
    pub(super) fn next(&mut self) -> Result<Option<Event<'_>>, Box<Fault>> {
        let wrong = |error: WalkError| refuse(error.address, error.cause.to_string());
        while let Some(item) = self.walker.next() {
            let (address, record) = item.map_err(wrong)?;
            let at = address.address();
            self.records += 1;
            if self.records > self.max_records {
                let limit = self.max_records;
                return Err(refuse(
                    at,
                    format!("more than {limit} records in one command"),
                ));
            }
            match record {
                Record::Update(update) => {
                    let piece = self.walker.piece(update).map_err(wrong)?;
                    self.state.ppp.apply(piece);
                }
                Record::Vertex(state) => self.state.vertex = Some(state),
                Record::Restart(index) => self.state.restart = Some(index),
                Record::Draw(draw) => {
                    return Ok(Some(Event::Draw(Call {
                        record: at,
                        draw,
                        state: &self.state,
                    })));
                }
                Record::Barrier(_) => return Ok(Some(Event::Barrier)),
                Record::Link(_) | Record::Terminate => {
                    self.check_read_ahead(at, at + record.size() as u64)?;
                }
            }
        }
        Ok(None)
    }

    fn check_read_ahead(&self, at: u64, next: u64) -> Result<(), Box<Fault>> {
        if !self.strict || self.mappings.covers(next, READ_AHEAD, Access::Read) {
            return Ok(());
        }
        Err(strict(
            at,
            format!(
                "fewer than {READ_AHEAD:#x} readable bytes behind {next:#x}: vertex fetch reads ahead"
            ),
        ))
    }
}
