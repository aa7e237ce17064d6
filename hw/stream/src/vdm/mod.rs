// SPDX-License-Identifier: MIT
//! The vertex command stream ("VDM") of a render pass: its records, a writer, a reader.
//!
//! graphics, 3. Records are 4-byte aligned and follow each other without padding; bits 31:29 of the
//! first word are their type (HW). Pointers to the stream and to fixed-function state are offsets in the
//! render context's window ([`ContextAddress`]).
//!
//! Types 2 (other than the two proven headers), 5 and 7 are refused, and so is the mesh grid of type
//! 3: tessellation and mesh records are not known well enough (graphics, 3.9).

mod draw;
mod state;
mod stream;
mod template;
mod walk;

use crate::bytes::{head, head_mut, put_words, word};
use crate::error::{Error, Result, illegal};
use crate::ppp;
use crate::window::ContextAddress;

pub use crate::indirect::{DrawArguments, IndexedDrawArguments, IndirectAddress};
pub use crate::provoking::Provoking;
pub use crate::window::READ_AHEAD;
pub use draw::{Draw, IndexSize, Indices, Primitive, Vertices};
pub use state::{USC_SELECTOR, VertexState};
pub use stream::{VdmStream, records};
pub use template::Template;
pub use walk::{Cause, DrawCall, Draws, MAX_DEPTH, State, WalkError, Walker};

const TYPE_SHIFT: u32 = 29;
const WITH_RETURN: u32 = 1 << 28;
const LINK: u32 = 4 << TYPE_SHIFT;
const TERMINATE: u32 = 6 << TYPE_SHIFT;
/// A state update with nothing but the restart comparand (graphics, 3.3; HW).
const RESTART: u32 = 0x4000_0001;
/// A state update with vertex words 0 and 1, counts and control (graphics, 3.3; HW).
const VERTEX: u32 = 0x4000_002e;

/// Cache controls at a point of the stream (graphics, 3.2).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Barrier(u32);

impl Barrier {
    const TYPE: u32 = 1 << TYPE_SHIFT;
    /// Bits that ran (0..=8; HW) and bits that older parts have (11, 20, 24, 26, 27; INFERRED).
    const KNOWN: u32 = 0x0d10_09ff;

    /// The three domains that fresh textures, samplers and depth need; with any of them clear stale
    /// data was read (HW).
    pub const REQUIRED: u32 = 0x13;
    /// Back to behind the last link with return (INFERRED).
    pub const RETURNS: u32 = 1 << 27;
    /// 0x20000013: the first record of every render stream (HW).
    pub const START: Barrier = Barrier(Self::REQUIRED);

    /// A barrier with these control bits.
    ///
    /// # Errors
    /// When a bit is set that is not known to exist.
    pub const fn new(controls: u32) -> Result<Barrier> {
        if controls & !Self::KNOWN == 0 {
            Ok(Barrier(controls))
        } else {
            Err(Error::Field {
                structure: "VDM barrier",
                field: "controls",
                value: controls as u64,
                legal: "bits 8:0, 11, 20, 24, 26 and 27",
            })
        }
    }

    /// The control bits, without the record's type.
    #[must_use]
    pub const fn controls(self) -> u32 {
        self.0
    }

    /// Whether all of [`Barrier::REQUIRED`] are set.
    #[must_use]
    pub const fn is_full(self) -> bool {
        self.0 & Self::REQUIRED == Self::REQUIRED
    }

    /// Whether the stream goes on behind the last link with return (INFERRED).
    #[must_use]
    pub const fn returns(self) -> bool {
        self.0 & Self::RETURNS != 0
    }

    /// The record.
    #[must_use]
    pub const fn word(self) -> u32 {
        Self::TYPE | self.0
    }
}

impl std::fmt::Debug for Barrier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Barrier({:#x})", self.0)
    }
}

/// A jump to another part of the stream (graphics, 3.7; HW without return, INFERRED with). It stands
/// where a terminator would.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Link {
    /// The next record.
    pub target: ContextAddress,
    /// Push the address behind this record, for [`Barrier::RETURNS`].
    pub with_return: bool,
}

/// Applies one piece of fixed-function state (graphics, 3.4; HW).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Update {
    at: ContextAddress,
    words: u8,
}

impl Update {
    const NAME: &'static str = "PPP update";

    /// The `words` words at `at`, header included.
    ///
    /// # Errors
    /// When no piece has this size, or it would end behind the window.
    pub fn new(at: ContextAddress, words: u8) -> Result<Update> {
        if !ppp::is_size(words.into()) {
            let legal = "2, 3, 5, 7 or 2 + 8 * viewports";
            return illegal(Self::NAME, "words", words.into(), legal);
        }
        if at.words_behind(u32::from(words) - 1).is_none() {
            let legal = "a piece that ends in the render context";
            return illegal(Self::NAME, "address", at.address(), legal);
        }
        Ok(Update { at, words })
    }

    /// Where the piece's header lies.
    #[must_use]
    pub const fn at(self) -> ContextAddress {
        self.at
    }

    /// 32-bit words, header included.
    #[must_use]
    pub const fn words(self) -> u8 {
        self.words
    }

    pub(crate) const fn pair(self) -> [u32; 2] {
        [(self.words as u32) << 8, self.at.offset()]
    }

    fn unpack(first: u32, offset: u32) -> Result<Update> {
        if first & 0xff != 0 {
            let legal = "0: state lies in the render context";
            return illegal(
                Self::NAME,
                "address high bits",
                (first & 0xff).into(),
                legal,
            );
        }
        if first >> 16 != 0 {
            let bit = 16 + (first >> 16).trailing_zeros();
            return illegal(Self::NAME, "reserved bit", bit.into(), "that it is 0");
        }
        Update::new(ContextAddress::from_offset(offset)?, (first >> 8) as u8)
    }
}

impl std::fmt::Debug for Update {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "Update({} words at {:#x})",
            self.words,
            self.at.address()
        )
    }
}

/// One record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Record {
    /// Type 0: fixed-function state.
    Update(Update),
    /// Type 1.
    Barrier(Barrier),
    /// Type 2: the vertex shader.
    Vertex(VertexState),
    /// Type 2: the index that ends a primitive, if the draw wants that. It precedes every indexed draw
    /// (graphics, 3.3, 3.6; HW).
    Restart(u32),
    /// Type 3.
    Draw(Draw),
    /// Type 4.
    Link(Link),
    /// Type 6: the stream ends (graphics, 3.8; HW).
    Terminate,
}

impl Record {
    /// Bytes of the longest record.
    pub const MAX_SIZE: usize = 28;
    const NAME: &'static str = "VDM record";

    /// Bytes in the record (graphics, 3.1; HW).
    #[must_use]
    pub const fn size(&self) -> usize {
        match self {
            Record::Update(_) | Record::Restart(_) | Record::Link(_) => 8,
            Record::Barrier(_) | Record::Terminate => 4,
            Record::Vertex(_) => VertexState::SIZE,
            Record::Draw(draw) => draw.size(),
        }
    }

    /// Bytes of a record that begins with this word.
    ///
    /// # Errors
    /// When no record begins so.
    pub const fn size_of(first: u32) -> Result<usize> {
        match first >> TYPE_SHIFT {
            0 | 4 => Ok(8),
            1 | 6 => Ok(4),
            2 if first == RESTART => Ok(8),
            2 if first == VERTEX => Ok(VertexState::SIZE),
            2 => Err(Error::Field {
                structure: Self::NAME,
                field: "state header",
                value: first as u64,
                legal: "0x4000002e (vertex) or 0x40000001 (restart)",
            }),
            3 => Draw::size_of(first),
            other => Err(Error::Field {
                structure: Self::NAME,
                field: "type",
                value: other as u64,
                legal: "0..=4 or 6",
            }),
        }
    }

    /// Writes the record and returns its size.
    ///
    /// # Errors
    /// When `buffer` is too small or a field is not legal.
    #[inline]
    pub fn pack(&self, buffer: &mut [u8]) -> Result<usize> {
        let size = self.size();
        let out = head_mut(Self::NAME, buffer, size)?;
        match self {
            Record::Update(update) => put_words(out, 0, &update.pair()),
            Record::Barrier(barrier) => put_words(out, 0, &[barrier.word()]),
            Record::Vertex(state) => put_words(out, 0, &state.words()?),
            Record::Restart(index) => put_words(out, 0, &[RESTART, *index]),
            Record::Draw(draw) => draw.pack(out)?,
            Record::Link(link) => {
                let flag = if link.with_return { WITH_RETURN } else { 0 };
                put_words(out, 0, &[LINK | flag, link.target.offset()]);
            }
            Record::Terminate => put_words(out, 0, &[TERMINATE]),
        }
        Ok(size)
    }

    /// The record that begins `bytes`, and its size.
    ///
    /// # Errors
    /// When the bytes end inside the record, its type or header is not known, or a field has a value
    /// that [`Record::pack`] does not write.
    pub fn unpack(bytes: &[u8]) -> Result<(Record, usize)> {
        head(Self::NAME, bytes, 4)?;
        let first = word(bytes, 0);
        let size = Record::size_of(first)?;
        let bytes = head(Self::NAME, bytes, size)?;
        let record = match first >> TYPE_SHIFT {
            0 => Record::Update(Update::unpack(first, word(bytes, 4))?),
            1 => Record::Barrier(Barrier::new(first & !(7 << TYPE_SHIFT))?),
            2 if first == RESTART => Record::Restart(word(bytes, 4)),
            2 => Record::Vertex(VertexState::unpack(bytes)?),
            3 => Record::Draw(Draw::unpack(bytes)?),
            4 => Record::Link(Link {
                target: link_target(first & !(LINK | WITH_RETURN), word(bytes, 4))?,
                with_return: first & WITH_RETURN != 0,
            }),
            _ if first == TERMINATE => Record::Terminate,
            _ => {
                let legal = "0xc0000000 without further bits";
                return illegal(Self::NAME, "terminate", first.into(), legal);
            }
        };
        Ok((record, size))
    }
}

fn link_target(rest: u32, offset: u32) -> Result<ContextAddress> {
    const NAME: &str = "VDM link";
    if rest & 0xff != 0 {
        let legal = "0: streams lie in the render context";
        return illegal(NAME, "target high bits", (rest & 0xff).into(), legal);
    }
    if rest != 0 {
        let bit = rest.trailing_zeros();
        return illegal(NAME, "reserved bit", bit.into(), "that it is 0");
    }
    ContextAddress::from_offset(offset)
}
