// SPDX-License-Identifier: MIT
//! Walking a stream in GPU memory, links included.

use arrayvec::ArrayVec;

use super::{Draw, Record, Update, VertexState};
use crate::error::Error;
use crate::ppp::{self, Kind, Piece};
use crate::window::{ContextAddress, RENDER_SIZE};

/// Most links with return that are open at a time. Hardware's number is not known; the compute stream's
/// (launch, 8.8) serves.
pub const MAX_DEPTH: usize = 32;

/// Why a walk ends early.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{address:#x}: {cause}")]
pub struct WalkError {
    /// The record, or the piece of fixed-function state, at fault.
    pub address: u64,
    /// What is wrong with it.
    pub cause: Cause,
}

/// What is wrong with a record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Cause {
    /// Its memory cannot be read.
    #[error("not readable")]
    Unreadable,
    /// It ends behind the render context's window.
    #[error("outside the render context")]
    Outside,
    /// It is no legal record.
    #[error(transparent)]
    Record(#[from] Error),
    /// Links lead here again and again.
    #[error("a link into a loop")]
    Loop,
    /// Too many links with return are open.
    #[error("more than 32 links deep")]
    Depth,
    /// A return without a link.
    #[error("return without a link")]
    Return,
    /// The stream ends between a link with return and its return.
    #[error("terminator behind a link with return")]
    Terminator,
}

impl Cause {
    /// With the address of the record.
    fn at(self, address: ContextAddress) -> WalkError {
        WalkError {
            address: address.address(),
            cause: self,
        }
    }
}

/// Where a walk is: the next record, and those behind open links.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    next: ContextAddress,
    returns: ArrayVec<ContextAddress, MAX_DEPTH>,
}

/// Finds loops of links without keeping all of them (Brent): the place of one link is kept, of every
/// second, fourth, eighth and so on; a loop comes to it again.
#[derive(Clone, Debug)]
struct Loops {
    seen: Option<Place>,
    links: u64,
    keep: u64,
}

impl Loops {
    const NONE: Loops = Loops {
        seen: None,
        links: 0,
        keep: 1,
    };

    /// Whether the walk was here; called for every link.
    fn closes(&mut self, place: &Place) -> bool {
        if self.seen.as_ref() == Some(place) {
            return true;
        }
        self.links += 1;
        if self.links == self.keep {
            self.seen = Some(place.clone());
            self.keep = self.keep.saturating_mul(2);
        }
        false
    }
}

/// The records of a stream in the order of execution, with their addresses: an iterator that ends behind
/// the terminator or an error.
///
/// `read` copies GPU memory at an address into the slice and says whether all of it is mapped
/// readable. It is asked for the words of records, nothing behind them.
#[derive(Debug)]
pub struct Walker<R> {
    read: R,
    place: Option<Place>,
    loops: Loops,
}

impl<R: FnMut(u64, &mut [u8]) -> bool> Walker<R> {
    /// A walk that begins at `base`.
    pub fn new(base: ContextAddress, read: R) -> Walker<R> {
        Walker {
            read,
            place: Some(Place {
                next: base,
                returns: ArrayVec::new(),
            }),
            loops: Loops::NONE,
        }
    }

    /// The piece that an update applies.
    ///
    /// # Errors
    /// When it cannot be read or is not legal.
    pub fn piece(&mut self, update: Update) -> Result<Piece, WalkError> {
        self.piece_bytes(update, Piece::unpack)
    }

    /// Applies the piece of an update.
    ///
    /// # Errors
    /// When it cannot be read or is not legal; the state is then as before.
    pub fn apply(&mut self, update: Update, state: &mut ppp::State) -> Result<Kind, WalkError> {
        self.piece_bytes(update, |bytes| state.apply_bytes(bytes))
    }

    /// Reads a piece's bytes.
    fn piece_bytes<T>(
        &mut self,
        update: Update,
        take: impl FnOnce(&[u8]) -> Result<T, Error>,
    ) -> Result<T, WalkError> {
        /// Most words of a piece, but for those with several viewports.
        const USUAL: usize = Kind::Viewports.words() as usize;
        let (mut small, mut large);
        let buffer: &mut [u8] = if usize::from(update.words()) <= USUAL {
            small = [0; 4 * USUAL];
            &mut small
        } else {
            large = [0; 4 * ppp::MAX_WORDS];
            &mut large
        };
        let size = 4 * usize::from(update.words());
        // The longest piece has no more words than fit.
        let bytes = buffer.get_mut(..size).unwrap_or_default();
        if !(self.read)(update.at().address(), bytes) {
            return Err(Cause::Unreadable.at(update.at()));
        }
        take(bytes).map_err(|error| Cause::Record(error).at(update.at()))
    }

    /// Reads GPU memory as the walk does.
    pub fn read(&mut self, address: u64, bytes: &mut [u8]) -> bool {
        (self.read)(address, bytes)
    }

    /// Reads the record at the place and moves on.
    fn step(&mut self, place: Place) -> Result<(ContextAddress, Record), WalkError> {
        let at = place.next;
        let mut bytes = [0; Record::MAX_SIZE];
        let (first, rest) = bytes.split_at_mut(4);
        if !(self.read)(at.address(), first) {
            return Err(Cause::Unreadable.at(at));
        }
        let size = Record::size_of(crate::bytes::word(first, 0))
            .map_err(|error| Cause::Record(error).at(at))?;
        // No record is longer than the buffer.
        let rest = rest.get_mut(..size - 4).unwrap_or_default();
        let room = RENDER_SIZE - u64::from(at.offset());
        if size as u64 > room {
            return Err(Cause::Outside.at(at));
        }
        if !rest.is_empty() && !(self.read)(at.address() + 4, rest) {
            return Err(Cause::Unreadable.at(at));
        }
        let (record, _) =
            Record::unpack(&bytes[..size]).map_err(|error| Cause::Record(error).at(at))?;
        self.place = self
            .behind(place, &record, size)
            .map_err(|cause| cause.at(at))?;
        Ok((at, record))
    }

    /// Where the walk goes on behind a record of this size.
    fn behind(
        &mut self,
        mut place: Place,
        record: &Record,
        size: usize,
    ) -> Result<Option<Place>, Cause> {
        let behind = place.next.words_behind(size as u32 / 4);
        match record {
            Record::Terminate if place.returns.is_empty() => return Ok(None),
            Record::Terminate => return Err(Cause::Terminator),
            Record::Link(link) => {
                if self.loops.closes(&place) {
                    return Err(Cause::Loop);
                }
                if link.with_return {
                    let behind = behind.ok_or(Cause::Outside)?;
                    place.returns.try_push(behind).map_err(|_| Cause::Depth)?;
                }
                place.next = link.target;
            }
            Record::Barrier(barrier) if barrier.returns() => {
                place.next = place.returns.pop().ok_or(Cause::Return)?;
            }
            _ => place.next = behind.ok_or(Cause::Outside)?,
        }
        Ok(Some(place))
    }
}

impl<R: FnMut(u64, &mut [u8]) -> bool> Iterator for Walker<R> {
    type Item = Result<(ContextAddress, Record), WalkError>;

    fn next(&mut self) -> Option<Self::Item> {
        let place = self.place.take()?;
        Some(self.step(place))
    }
}

/// The state that records have left: the last value of everything (INFERRED for what a draw does not
/// set itself; graphics, 3.10).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// The vertex shader.
    pub vertex: Option<VertexState>,
    /// The index that ends a primitive.
    pub restart: Option<u32>,
    /// Fixed-function state.
    pub ppp: ppp::State,
}

/// A draw, and the state that it is made with.
#[derive(Debug)]
pub struct DrawCall<'a> {
    /// The address of its record.
    pub address: ContextAddress,
    /// The record.
    pub draw: Draw,
    /// The state.
    pub state: &'a State,
}

/// The draws of a stream, in order.
#[derive(Debug)]
pub struct Draws<R> {
    walker: Walker<R>,
    state: State,
}

impl<R: FnMut(u64, &mut [u8]) -> bool> Draws<R> {
    /// The draws of the stream at `base`; `read` as for [`Walker`].
    pub fn new(base: ContextAddress, read: R) -> Draws<R> {
        Draws {
            walker: Walker::new(base, read),
            state: State::default(),
        }
    }

    /// The next draw; `None` behind the last.
    ///
    /// # Errors
    /// When a record or a piece of state cannot be read or is not legal. The walk then ends.
    pub fn next_draw(&mut self) -> Result<Option<DrawCall<'_>>, WalkError> {
        while let Some(item) = self.walker.next() {
            let (address, record) = item?;
            match record {
                Record::Update(update) => {
                    if let Err(error) = self.walker.apply(update, &mut self.state.ppp) {
                        self.walker.place = None;
                        return Err(error);
                    }
                }
                Record::Vertex(state) => self.state.vertex = Some(state),
                Record::Restart(index) => self.state.restart = Some(index),
                Record::Draw(draw) => {
                    return Ok(Some(DrawCall {
                        address,
                        draw,
                        state: &self.state,
                    }));
                }
                Record::Barrier(_) | Record::Link(_) | Record::Terminate => {}
            }
        }
        Ok(None)
    }
}
