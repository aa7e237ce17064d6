// SPDX-License-Identifier: MIT
//! Fixed-function state of draws ("PPP"): nine pieces that vertex streams apply one by one.
//!
//! graphics, 6. A piece begins with a header word whose bits older parts read as a list of what follows.
//! On Apple9 that list does not explain the sizes, so a piece is what has one of nine exact headers
//! **and** its exact size (6.1, 6.3; HW); everything else is refused. Whether pieces may be left out or
//! come in another order is not known; [`State`] keeps the last one of each (INFERRED).

mod control;
mod control2;
mod cull;
mod face;
mod fragment;
mod indices;
mod outputs;
mod record;
mod template;
mod varyings;
mod viewport;
mod w_clamp;

use crate::bytes::{head, word};
use crate::error::{Result, illegal};

pub use control::{FragmentControl, MAX_OCCLUSION_RESULTS, Visibility};
pub use control2::{Face2, FragmentControl2, ObjectType, PassType, ShaderDepth};
pub use cull::Cull;
pub use face::{Compare, Face, LineWidth, PolygonMode, Stencil, StencilOp};
pub use fragment::Fragment;
pub use indices::Indices;
pub use outputs::Outputs;
pub(crate) use record::check_address;
pub use record::{RECORD_ALIGN, RECORD_SIZE, Record};
pub use template::Template;
pub use varyings::VaryingCounts;
pub use viewport::{MAX_VIEWPORTS, RegionClip, TILE, Viewport, Viewports};
pub use w_clamp::WClamp;

/// Most words in a piece: sixteen viewports.
pub const MAX_WORDS: usize = viewport::words(MAX_VIEWPORTS);

/// The nine pieces, in the order in which the proven driver applies them (graphics, 6.1; HW).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// [`VaryingCounts`].
    VaryingCounts,
    /// [`Fragment`].
    Fragment,
    /// [`Outputs`].
    Outputs,
    /// [`FragmentControl`].
    FragmentControl,
    /// [`FragmentControl2`].
    FragmentControl2,
    /// [`Viewports`].
    Viewports,
    /// [`WClamp`].
    WClamp,
    /// [`Cull`].
    Cull,
    /// [`Indices`].
    Indices,
}

impl Kind {
    /// All, in order.
    pub const ALL: [Kind; 9] = [
        Kind::VaryingCounts,
        Kind::Fragment,
        Kind::Outputs,
        Kind::FragmentControl,
        Kind::FragmentControl2,
        Kind::Viewports,
        Kind::WClamp,
        Kind::Cull,
        Kind::Indices,
    ];

    /// The header word; with one viewport, where that counts (graphics, 6.1; HW).
    #[must_use]
    pub const fn header(self) -> u32 {
        match self {
            Kind::VaryingCounts => 0x1004_0000,
            Kind::Fragment => 0x0080_0000,
            Kind::Outputs => 0x0c0a_0000,
            Kind::FragmentControl => 0x0100_00b4,
            Kind::FragmentControl2 => 0x0200_0048,
            Kind::Viewports => 0x0000_0c00,
            Kind::WClamp => 0x0041_0000,
            Kind::Cull => 0x0020_0000,
            Kind::Indices => 0x0000_0100,
        }
    }

    /// Words, header included; with one viewport, where that counts (graphics, 6.1; HW).
    #[must_use]
    pub const fn words(self) -> u8 {
        match self {
            Kind::VaryingCounts | Kind::Outputs | Kind::FragmentControl2 => 5,
            Kind::Fragment | Kind::FragmentControl => 7,
            Kind::Viewports => 10,
            Kind::WClamp => 3,
            Kind::Cull | Kind::Indices => 2,
        }
    }

    /// Offset in the 256-byte record of the proven driver (graphics, 6.1; HW).
    #[must_use]
    pub const fn record_offset(self) -> u32 {
        match self {
            Kind::VaryingCounts => 0x00,
            Kind::Fragment => 0x40,
            Kind::Outputs => 0x5c,
            Kind::FragmentControl => 0x70,
            Kind::FragmentControl2 => 0x8c,
            Kind::WClamp => 0xa0,
            Kind::Cull => 0xac,
            Kind::Viewports => 0xc0,
            Kind::Indices => 0xf0,
        }
    }

    /// The piece that begins with this word, and its size in words.
    ///
    /// # Errors
    /// When no piece begins so.
    pub fn of_header(header: u32) -> Result<(Kind, usize)> {
        if let Some(count) = viewport::count(header) {
            return Ok((Kind::Viewports, viewport::words(count)));
        }
        match Kind::ALL.into_iter().find(|kind| kind.header() == header) {
            Some(kind) => Ok((kind, kind.words().into())),
            None => illegal(
                "PPP piece",
                "header",
                header.into(),
                "one of the nine of graphics, 6.1",
            ),
        }
    }

    /// What [`Piece`] calls it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Kind::VaryingCounts => "varying counts",
            Kind::Fragment => "fragment shader",
            Kind::Outputs => "outputs",
            Kind::FragmentControl => "fragment control",
            Kind::FragmentControl2 => "fragment control 2",
            Kind::Viewports => "viewports",
            Kind::WClamp => "w clamp",
            Kind::Cull => "cull",
            Kind::Indices => "scissor and depth-bias indices",
        }
    }
}

/// Whether some piece has so many words.
pub(crate) const fn is_size(words: usize) -> bool {
    matches!(words, 2 | 3 | 5 | 7) || words % 8 == 2 && words <= MAX_WORDS && words > 2
}

/// Declares `words`, `pack` and `unpack` of a piece of fixed size by its `payload` and `of_payload`.
macro_rules! piece {
    ($type:ident, $name:literal, $words:literal) => {
        impl $type {
            const NAME: &'static str = $name;
            /// Words, header included.
            pub const WORDS: usize = $words;
            /// Which piece this is.
            pub const KIND: $crate::ppp::Kind = $crate::ppp::Kind::$type;

            /// The words, header first.
            ///
            /// # Errors
            /// When a field is not legal.
            pub fn words(&self) -> $crate::Result<[u32; $words]> {
                let mut words = [0; $words];
                words[0] = Self::KIND.header();
                words[1..].copy_from_slice(&self.payload()?);
                Ok(words)
            }

            /// Writes the piece into the first bytes of `buffer` and returns its size.
            ///
            /// # Errors
            /// When `buffer` is too small or a field is not legal.
            pub fn pack(&self, buffer: &mut [u8]) -> $crate::Result<usize> {
                let out = $crate::bytes::head_mut(Self::NAME, buffer, 4 * $words)?;
                $crate::bytes::put_words(out, 0, &self.words()?);
                Ok(4 * $words)
            }

            /// The piece that begins `bytes`.
            ///
            /// # Errors
            /// When the bytes are too few, the header is another, or a field has a value that `pack`
            /// does not write.
            pub fn unpack(bytes: &[u8]) -> $crate::Result<$type> {
                let bytes = $crate::bytes::head(Self::NAME, bytes, 4 * $words)?;
                let header = $crate::bytes::word(bytes, 0);
                if header != Self::KIND.header() {
                    let legal = "that of graphics, 6.1";
                    return $crate::error::illegal(Self::NAME, "header", header.into(), legal);
                }
                let mut payload = [0; $words - 1];
                for (i, word) in payload.iter_mut().enumerate() {
                    *word = $crate::bytes::word(bytes, 4 + 4 * i);
                }
                $type::of_payload(payload)
            }
        }
    };
}
use piece;

/// Refuses a word that is always 0.
fn zero(structure: &'static str, field: &'static str, word: u32) -> Result<()> {
    match word {
        0 => Ok(()),
        _ => illegal(structure, field, word.into(), "0"),
    }
}

/// One piece.
#[derive(Clone, Debug, PartialEq)]
#[allow(
    clippy::large_enum_variant,
    reason = "the large one is one of nine that every draw has, and pieces are not kept in numbers"
)]
pub enum Piece {
    /// How many varyings there are.
    VaryingCounts(VaryingCounts),
    /// The fragment shader and its coefficients.
    Fragment(Fragment),
    /// What the vertex shader writes.
    Outputs(Outputs),
    /// Tests, faces, occlusion.
    FragmentControl(FragmentControl),
    /// Pass type, shader depth, object type.
    FragmentControl2(FragmentControl2),
    /// Viewports and the tiles that they cover.
    Viewports(Viewports),
    /// Clamping of w, and what goes with clipping.
    WClamp(WClamp),
    /// Culling and depth clip.
    Cull(Cull),
    /// Indices into the pass's arrays.
    Indices(Indices),
}

impl Piece {
    /// Which piece it is.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        match self {
            Piece::VaryingCounts(_) => Kind::VaryingCounts,
            Piece::Fragment(_) => Kind::Fragment,
            Piece::Outputs(_) => Kind::Outputs,
            Piece::FragmentControl(_) => Kind::FragmentControl,
            Piece::FragmentControl2(_) => Kind::FragmentControl2,
            Piece::Viewports(_) => Kind::Viewports,
            Piece::WClamp(_) => Kind::WClamp,
            Piece::Cull(_) => Kind::Cull,
            Piece::Indices(_) => Kind::Indices,
        }
    }

    /// Writes the piece into the first bytes of `buffer` and returns its size.
    ///
    /// # Errors
    /// When `buffer` is too small or a field is not legal.
    pub fn pack(&self, buffer: &mut [u8]) -> Result<usize> {
        match self {
            Piece::VaryingCounts(piece) => piece.pack(buffer),
            Piece::Fragment(piece) => piece.pack(buffer),
            Piece::Outputs(piece) => piece.pack(buffer),
            Piece::FragmentControl(piece) => piece.pack(buffer),
            Piece::FragmentControl2(piece) => piece.pack(buffer),
            Piece::Viewports(piece) => piece.pack(buffer),
            Piece::WClamp(piece) => piece.pack(buffer),
            Piece::Cull(piece) => piece.pack(buffer),
            Piece::Indices(piece) => piece.pack(buffer),
        }
    }

    /// The piece that `bytes` are: exactly the words that an update names.
    ///
    /// # Errors
    /// When the header is none of the nine, the size is not that of its piece, or a field has a value
    /// that [`Piece::pack`] does not write.
    pub fn unpack(bytes: &[u8]) -> Result<Piece> {
        let kind = kind_of(bytes)?;
        Ok(match kind {
            Kind::VaryingCounts => Piece::VaryingCounts(VaryingCounts::unpack(bytes)?),
            Kind::Fragment => Piece::Fragment(Fragment::unpack(bytes)?),
            Kind::Outputs => Piece::Outputs(Outputs::unpack(bytes)?),
            Kind::FragmentControl => Piece::FragmentControl(FragmentControl::unpack(bytes)?),
            Kind::FragmentControl2 => Piece::FragmentControl2(FragmentControl2::unpack(bytes)?),
            Kind::Viewports => Piece::Viewports(Viewports::unpack(bytes)?),
            Kind::WClamp => Piece::WClamp(WClamp::unpack(bytes)?),
            Kind::Cull => Piece::Cull(Cull::unpack(bytes)?),
            Kind::Indices => Piece::Indices(Indices::unpack(bytes)?),
        })
    }
}

/// The kind of the piece that exactly these bytes are.
fn kind_of(bytes: &[u8]) -> Result<Kind> {
    const NAME: &str = "PPP piece";
    head(NAME, bytes, 4)?;
    let (kind, words) = Kind::of_header(word(bytes, 0))?;
    if bytes.len() != 4 * words {
        let legal = "the one that belongs to the header";
        return illegal(NAME, "size in bytes", bytes.len() as u64, legal);
    }
    Ok(kind)
}

/// The last piece of each kind: what a draw is made with.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// How many varyings there are.
    pub varyings: Option<VaryingCounts>,
    /// The fragment shader and its coefficients.
    pub fragment: Option<Fragment>,
    /// What the vertex shader writes.
    pub outputs: Option<Outputs>,
    /// Tests, faces, occlusion.
    pub control: Option<FragmentControl>,
    /// Pass type, shader depth, object type.
    pub control2: Option<FragmentControl2>,
    /// Viewports and the tiles that they cover.
    pub viewports: Option<Viewports>,
    /// Clamping of w, and what goes with clipping.
    pub w_clamp: Option<WClamp>,
    /// Culling and depth clip.
    pub cull: Option<Cull>,
    /// Indices into the pass's arrays.
    pub indices: Option<Indices>,
}

impl State {
    /// Replaces the piece of this kind.
    pub fn apply(&mut self, piece: Piece) {
        match piece {
            Piece::VaryingCounts(piece) => self.varyings = Some(piece),
            Piece::Fragment(piece) => self.fragment = Some(piece),
            Piece::Outputs(piece) => self.outputs = Some(piece),
            Piece::FragmentControl(piece) => self.control = Some(piece),
            Piece::FragmentControl2(piece) => self.control2 = Some(piece),
            Piece::Viewports(piece) => self.viewports = Some(piece),
            Piece::WClamp(piece) => self.w_clamp = Some(piece),
            Piece::Cull(piece) => self.cull = Some(piece),
            Piece::Indices(piece) => self.indices = Some(piece),
        }
    }

    /// Replaces the piece that `bytes` are; returns its kind.
    ///
    /// # Errors
    /// As [`Piece::unpack`]; the state is then as before.
    pub fn apply_bytes(&mut self, bytes: &[u8]) -> Result<Kind> {
        let kind = kind_of(bytes)?;
        match kind {
            Kind::VaryingCounts => self.varyings = Some(VaryingCounts::unpack(bytes)?),
            Kind::Fragment => self.fragment = Some(Fragment::unpack(bytes)?),
            Kind::Outputs => self.outputs = Some(Outputs::unpack(bytes)?),
            Kind::FragmentControl => self.control = Some(FragmentControl::unpack(bytes)?),
            Kind::FragmentControl2 => self.control2 = Some(FragmentControl2::unpack(bytes)?),
            Kind::Viewports => self.viewports = Some(Viewports::unpack(bytes)?),
            Kind::WClamp => self.w_clamp = Some(WClamp::unpack(bytes)?),
            Kind::Cull => self.cull = Some(Cull::unpack(bytes)?),
            Kind::Indices => self.indices = Some(Indices::unpack(bytes)?),
        }
        Ok(kind)
    }

    /// The first kind of piece that was never applied.
    #[must_use]
    pub fn missing(&self) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| match kind {
            Kind::VaryingCounts => self.varyings.is_none(),
            Kind::Fragment => self.fragment.is_none(),
            Kind::Outputs => self.outputs.is_none(),
            Kind::FragmentControl => self.control.is_none(),
            Kind::FragmentControl2 => self.control2.is_none(),
            Kind::Viewports => self.viewports.is_none(),
            Kind::WClamp => self.w_clamp.is_none(),
            Kind::Cull => self.cull.is_none(),
            Kind::Indices => self.indices.is_none(),
        })
    }

    /// All nine pieces as one record; `None` when one was never applied.
    #[must_use]
    pub fn record(&self) -> Option<Record> {
        Some(Record {
            varyings: self.varyings?,
            fragment: self.fragment?,
            outputs: self.outputs?,
            control: self.control?,
            control2: self.control2?,
            viewports: self.viewports.clone()?,
            w_clamp: self.w_clamp?,
            cull: self.cull?,
            indices: self.indices?,
        })
    }
}
