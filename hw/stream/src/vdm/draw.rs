// SPDX-License-Identifier: MIT
//! Draws: the index list record.

use super::{IndirectAddress, TYPE_SHIFT};
use crate::bits::{Word, flag};
use crate::bytes::{put_words, word};
use crate::codes::codes;
use crate::error::{Error, Result, illegal};
use crate::window::{CodeAddress, USC_BASE, USC_SIZE};

const NAME: &str = "VDM draw";
const TYPE: u32 = 3 << TYPE_SHIFT;

/// Bits that say which words follow, in the order of the words (graphics, 3.5; order HW, place of the
/// indirect pair TRACE).
mod present {
    pub(super) const INDICES: u32 = 1 << 21;
    pub(super) const COUNT: u32 = 1 << 22;
    pub(super) const INSTANCES: u32 = 1 << 23;
    pub(super) const START: u32 = 1 << 24;
    pub(super) const INDIRECT: u32 = 1 << 26;
    pub(super) const EXTENT: u32 = 1 << 20;

    /// The four forms (graphics, 3.5; the first two HW, indirect TRACE, with indices in part INFERRED).
    pub(super) const DIRECT: u32 = COUNT | INSTANCES | START;
    pub(super) const INDEXED: u32 = DIRECT | INDICES | EXTENT;
    pub(super) const INDIRECT_FORM: u32 = INDIRECT;
    pub(super) const INDEXED_INDIRECT: u32 = INDIRECT | INDICES | EXTENT;
    pub(super) const ALL: u32 = INDEXED | INDIRECT;
}

/// Mesh grids are of the same type (graphics, 3.9; TRACE).
const MESH: u32 = 1 << 28;
/// The last word of indexed draws, whatever the index size (graphics, 3.5; HW): bits 40 and up of the
/// index address (INFERRED).
const TAIL: u32 = (USC_BASE >> 40) as u32;

codes! {
    /// Topologies (graphics, 3.5). Adjacency and patches do not exist here.
    Primitive, NAME, "0, 1, 3, 5, 6, 9, 0xb, 0xe or 0xf";
    /// Points (HW).
    Points = 0x00,
    /// Lines (HW).
    Lines = 0x01,
    /// Lines that share their ends (HW).
    LineStrip = 0x03,
    /// The same, closed (HW).
    LineLoop = 0x05,
    /// Triangles (HW).
    Triangles = 0x06,
    /// Triangles that share an edge with the one before (TRACE).
    TriangleStrip = 0x09,
    /// Triangles that share the first vertex (INFERRED).
    TriangleFan = 0x0b,
    /// Quads (INFERRED).
    Quads = 0x0e,
    /// Quads that share an edge with the one before (INFERRED).
    QuadStrip = 0x0f,
}

impl Primitive {
    /// Whether streams with it were seen to render (HW, TRACE).
    #[must_use]
    pub const fn is_tested(self) -> bool {
        !matches!(
            self,
            Primitive::TriangleFan | Primitive::Quads | Primitive::QuadStrip
        )
    }
}

codes! {
    /// Bytes of an index (graphics, 3.5; HW). Draws without indices say [`IndexSize::U32`].
    IndexSize, NAME, "0..=2";
    /// One.
    U8 = 0,
    /// Two.
    U16 = 1,
    /// Four.
    U32 = 2,
}

impl IndexSize {
    /// Bytes.
    #[must_use]
    pub const fn bytes(self) -> u32 {
        1 << self.code()
    }
}

/// An index buffer, as far as a draw may read it (graphics, 3.5; HW). It lies in the execution window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Indices {
    /// The first index; any byte address.
    pub address: CodeAddress,
    /// Their size.
    pub size: IndexSize,
    /// The index that the last restart record names ends a primitive.
    pub restart: bool,
    last_word: u32,
}

impl Indices {
    /// Indices of which `bytes` bytes may be read: for direct draws the bytes of the draw's indices or
    /// the buffer's rest, whichever ends first ([`Indices::of_draw`]), for indirect draws the
    /// buffer's rest.
    ///
    /// # Errors
    /// When there are no bytes or they do not end in the window.
    pub fn new(
        address: CodeAddress,
        size: IndexSize,
        restart: bool,
        bytes: u64,
    ) -> Result<Indices> {
        let room = USC_SIZE - u64::from(address.offset());
        if !(1..=room).contains(&bytes) {
            let legal = "1 up to the window's end";
            return illegal(NAME, "index bytes", bytes, legal);
        }
        // Words are counted from the one that holds the first byte.
        let words = (bytes + u64::from(address.offset() & 3)).div_ceil(4);
        Ok(Indices {
            address,
            size,
            restart,
            last_word: (words - 1) as u32,
        })
    }

    /// The indices of a direct draw of `count` out of a buffer with `left` bytes.
    ///
    /// # Errors
    /// As [`Indices::new`].
    pub fn of_draw(
        address: CodeAddress,
        size: IndexSize,
        restart: bool,
        left: u64,
        count: u32,
    ) -> Result<Indices> {
        let bytes = u64::from(count) * u64::from(size.bytes());
        Indices::new(address, size, restart, bytes.min(left))
    }

    /// Bytes that may be read, from the first index to the end of the last readable word.
    #[must_use]
    pub const fn readable(&self) -> u64 {
        4 * (self.last_word as u64 + 1) - (self.address.offset() & 3) as u64
    }

    fn header(&self) -> u32 {
        u32::from(self.size.code()) << 17 | flag(16, self.restart)
    }

    /// The last two words of a record.
    #[inline]
    fn closing(&self) -> Result<[u32; 2]> {
        // The address may have changed since the end was computed.
        let end = u64::from(self.address.offset() & !3) + 4 * (u64::from(self.last_word) + 1);
        if end > USC_SIZE {
            let legal = "words up to the window's end";
            return illegal(NAME, "index extent", self.last_word.into(), legal);
        }
        Ok([self.last_word, TAIL])
    }

    fn unpack(header: &mut Word, low: u32, closing: [u32; 2]) -> Result<Indices> {
        let indices = Indices {
            address: CodeAddress::from_offset(low),
            size: IndexSize::from_code(header.take(17, 19) as u8)?,
            restart: header.flag(16),
            last_word: closing[0],
        };
        indices.closing()?;
        if closing[1] != TAIL {
            let legal = "1: indices lie in the execution window";
            return illegal(NAME, "last word", closing[1].into(), legal);
        }
        Ok(indices)
    }
}

/// Which vertices a draw takes (graphics, 3.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Vertices {
    /// One after the other (HW).
    Direct {
        /// The first vertex.
        first: u32,
        /// Vertices of an instance, not 0.
        count: u32,
        /// Instances, not 0. They are numbered from 0: a first instance is a matter of the shader.
        instances: u32,
    },
    /// Those that indices name (HW).
    Indexed {
        /// The indices.
        indices: Indices,
        /// Added to every index.
        base: i32,
        /// Indices of an instance, not 0.
        count: u32,
        /// Instances, not 0.
        instances: u32,
    },
    /// [`DrawArguments`](super::DrawArguments) in memory (TRACE).
    Indirect {
        /// Where.
        arguments: IndirectAddress,
    },
    /// [`IndexedDrawArguments`](super::IndexedDrawArguments) in memory (TRACE, its two closing words
    /// INFERRED).
    IndexedIndirect {
        /// The indices; their first one is index 0 of the arguments.
        indices: Indices,
        /// Where.
        arguments: IndirectAddress,
    },
}

impl Vertices {
    const fn form(&self) -> u32 {
        match self {
            Vertices::Direct { .. } => present::DIRECT,
            Vertices::Indexed { .. } => present::INDEXED,
            Vertices::Indirect { .. } => present::INDIRECT_FORM,
            Vertices::IndexedIndirect { .. } => present::INDEXED_INDIRECT,
        }
    }

    /// The indices, if there are any.
    #[must_use]
    pub const fn indices(&self) -> Option<&Indices> {
        match self {
            Vertices::Indexed { indices, .. } | Vertices::IndexedIndirect { indices, .. } => {
                Some(indices)
            }
            Vertices::Direct { .. } | Vertices::Indirect { .. } => None,
        }
    }

    /// The arguments in memory and their bytes, if there are any.
    #[must_use]
    pub const fn arguments(&self) -> Option<(IndirectAddress, usize)> {
        match self {
            Vertices::Indirect { arguments } => Some((*arguments, super::DrawArguments::SIZE)),
            Vertices::IndexedIndirect { arguments, .. } => {
                Some((*arguments, super::IndexedDrawArguments::SIZE))
            }
            Vertices::Direct { .. } | Vertices::Indexed { .. } => None,
        }
    }
}

/// A draw with all state that was set before it (graphics, 3.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Draw {
    /// What vertices make up.
    pub primitive: Primitive,
    /// Which they are.
    pub vertices: Vertices,
}

impl Draw {
    pub(super) const fn size(&self) -> usize {
        form_size(self.vertices.form())
    }

    pub(super) const fn size_of(header: u32) -> Result<usize> {
        if header & MESH != 0 {
            return Err(Error::Field {
                structure: NAME,
                field: "mesh grid",
                value: 1,
                legal: "0: mesh records are not known",
            });
        }
        // Bits 25 and 27 announce words whose meaning is not known; `unpack` refuses them as well.
        match header & (present::ALL | 1 << 25 | 1 << 27) {
            form @ (present::DIRECT
            | present::INDEXED
            | present::INDIRECT_FORM
            | present::INDEXED_INDIRECT) => Ok(form_size(form)),
            form => Err(Error::Field {
                structure: NAME,
                field: "present words",
                value: form as u64,
                legal: "one of the four forms of graphics, 3.5",
            }),
        }
    }

    /// Into exactly [`Draw::size`] bytes.
    #[inline]
    pub(super) fn pack(&self, out: &mut [u8]) -> Result<()> {
        let header = TYPE | u32::from(self.primitive.code()) << 8 | self.vertices.form();
        let plain = u32::from(IndexSize::U32.code()) << 17;
        match self.vertices {
            Vertices::Direct {
                first,
                count,
                instances,
            } => {
                check_counts(count, instances)?;
                put_words(out, 0, &[header | plain, count, instances, first]);
            }
            Vertices::Indexed {
                indices,
                base,
                count,
                instances,
            } => {
                check_counts(count, instances)?;
                let [extent, tail] = indices.closing()?;
                put_words(
                    out,
                    0,
                    &[
                        header | indices.header(),
                        indices.address.offset(),
                        count,
                        instances,
                        base.cast_unsigned(),
                        extent,
                        tail,
                    ],
                );
            }
            Vertices::Indirect { arguments } => {
                let [high, low] = arguments.words();
                put_words(out, 0, &[header | plain, high, low]);
            }
            Vertices::IndexedIndirect { indices, arguments } => {
                let [high, low] = arguments.words();
                let [extent, tail] = indices.closing()?;
                put_words(
                    out,
                    0,
                    &[
                        header | indices.header(),
                        indices.address.offset(),
                        high,
                        low,
                        extent,
                        tail,
                    ],
                );
            }
        }
        Ok(())
    }

    /// From the bytes of a record of this size.
    pub(super) fn unpack(bytes: &[u8]) -> Result<Draw> {
        let first = word(bytes, 0);
        let form = first & present::ALL;
        let mut header = Word::new(NAME, first & !(7 << TYPE_SHIFT) & !present::ALL);
        let high = header.take(0, 7);
        if high != 0 {
            let legal = "0: indices lie in the execution window";
            return illegal(NAME, "index address high bits", high.into(), legal);
        }
        let primitive = Primitive::from_code(header.take(8, 15) as u8)?;
        let at = |n: usize| word(bytes, 4 * n);
        let vertices = match form {
            present::DIRECT => Vertices::Direct {
                first: at(3),
                count: at(1),
                instances: at(2),
            },
            present::INDEXED => Vertices::Indexed {
                indices: Indices::unpack(&mut header, at(1), [at(5), at(6)])?,
                base: at(4).cast_signed(),
                count: at(2),
                instances: at(3),
            },
            present::INDIRECT_FORM => Vertices::Indirect {
                arguments: IndirectAddress::from_words(bytes, 4)?,
            },
            _ => Vertices::IndexedIndirect {
                indices: Indices::unpack(&mut header, at(1), [at(4), at(5)])?,
                arguments: IndirectAddress::from_words(bytes, 8)?,
            },
        };
        match vertices {
            Vertices::Direct {
                count, instances, ..
            }
            | Vertices::Indexed {
                count, instances, ..
            } => check_counts(count, instances)?,
            Vertices::Indirect { .. } | Vertices::IndexedIndirect { .. } => {}
        }
        if vertices.indices().is_none() {
            let size = header.take(17, 19);
            if size != u32::from(IndexSize::U32.code()) {
                let legal = "2 without indices";
                return illegal(NAME, "index size", size.into(), legal);
            }
        }
        header.finish()?;
        Ok(Draw {
            primitive,
            vertices,
        })
    }
}

/// Bytes of a record in this form: a word for the header and for each bit, two for some.
const fn form_size(form: u32) -> usize {
    let pairs = form & (present::INDIRECT | present::EXTENT);
    4 * (1 + form.count_ones() + pairs.count_ones()) as usize
}

/// Instances must not be 0 (graphics, 3.5; HW). Nothing is said of 0 vertices in the record: what draws
/// nothing is not recorded.
#[inline]
fn check_counts(count: u32, instances: u32) -> Result<()> {
    for (field, value) in [("count", count), ("instances", instances)] {
        if value == 0 {
            return illegal(NAME, field, 0, "not 0");
        }
    }
    Ok(())
}
