// SPDX-License-Identifier: MIT
//! Sampler records (images, 4): 8 bytes, in slots of 32 in a stage's table.
//!
//! There is no LOD bias, no reduction mode and no custom border colour in them (HW).

use crate::bits::{Reader, Writer};
use crate::bytes::{head, head_mut, put_qword, qword, zeros};
use crate::codes::codes;
use crate::error::{Result, illegal};

/// Bytes that mean something (images, 4; HW).
pub const RECORD_SIZE: usize = 8;
/// Bytes from one sampler of a stage's table to the next; those behind the record are 0
/// (images, 1; HW).
pub const SLOT_SIZE: usize = 32;

const NAME: &str = "sampler record";

codes! {
    /// Filter between texels (images, 4; HW).
    Filter, NAME, "0..=1";
    /// The nearest texel.
    Nearest = 0,
    /// The neighbours, weighed.
    Linear = 1,
}

codes! {
    /// Filter between levels (images, 4; HW).
    MipFilter, NAME, "0..=2";
    /// The view's first level alone.
    None = 0,
    /// The nearest level.
    Nearest = 1,
    /// Two levels, weighed.
    Linear = 2,
}

codes! {
    /// Coordinates outside the image (images, 4.1).
    Wrap, NAME, "0..=5";
    /// Clamp to the edge texel (HW).
    ClampToEdge = 0,
    /// Repeat (HW).
    Repeat = 1,
    /// Repeat, every other time mirrored (HW).
    MirroredRepeat = 2,
    /// The border colour (HW).
    ClampToBorder = 3,
    /// OpenGL's CLAMP: emitted by the proven driver, acted as code 0 where measured. Not to be relied on.
    Clamp = 4,
    /// Mirror once, then the edge texel (captured).
    MirrorClampToEdge = 5,
}

codes! {
    /// `reference FUNC texel` (images, 4.2; HW). A sampler that does not compare says
    /// [`Compare::Never`]; whether it compares is a matter of the instruction.
    Compare, NAME, "8..=15";
    /// `<=`.
    LessOrEqual = 8,
    /// `>=`.
    GreaterOrEqual = 9,
    /// `<`.
    Less = 10,
    /// `>`.
    Greater = 11,
    /// `==`.
    Equal = 12,
    /// `!=`.
    NotEqual = 13,
    /// True.
    Always = 14,
    /// False.
    Never = 15,
}

codes! {
    /// The three border colours (images, 4; HW). In integer formats 1 is the integer (4.3; HW).
    Border, NAME, "0..=2";
    /// 0, 0, 0, 0.
    TransparentBlack = 0,
    /// 0, 0, 0, 1.
    OpaqueBlack = 1,
    /// 1, 1, 1, 1.
    OpaqueWhite = 2,
}

codes! {
    /// The most samples along the longer axis of a footprint (images, 4; HW).
    Anisotropy, NAME, "0..=4";
    /// Isotropic.
    X1 = 0,
    /// Two.
    X2 = 1,
    /// Four.
    X4 = 2,
    /// Eight.
    X8 = 3,
    /// Sixteen.
    X16 = 4,
}

impl Anisotropy {
    /// The strongest that does not exceed `limit`; none for limits below 2 and NaN.
    #[must_use]
    pub fn at_most(limit: f32) -> Anisotropy {
        *Anisotropy::ALL
            .iter()
            .rev()
            .find(|anisotropy| f32::from(anisotropy.samples()) <= limit)
            .unwrap_or(&Anisotropy::X1)
    }

    /// The number of samples.
    #[must_use]
    pub const fn samples(self) -> u8 {
        1 << self.code()
    }
}

/// The levels of detail that a sampler reaches, from a minimum to a maximum, counted from the view's first
/// level (images, 4).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct LodRange {
    /// In 1/64.
    min: u16,
    /// In 1/8.
    max: u8,
}

impl LodRange {
    /// The largest maximum, which means "no limit" (HW).
    pub const LIMIT: f32 = 14.0;
    /// Everything: 0..=14.
    pub const FULL: LodRange = LodRange { min: 0, max: 112 };

    /// Both ends clamped to 0..=14 (NaN is 0), the minimum cut to 1/64 (HW), the maximum rounded to the
    /// nearest 1/8. Where the minimum exceeds the maximum, the maximum wins, as in
    /// hardware (images, 10; HW).
    #[must_use]
    pub fn new(min: f32, max: f32) -> LodRange {
        // Clamping keeps NaN, casting makes 0 of it.
        let max = (max.clamp(0.0, Self::LIMIT) * 8.0).round() as u8;
        let min = (min.clamp(0.0, Self::LIMIT) * 64.0) as u16;
        LodRange {
            min: min.min(8 * u16::from(max)),
            max,
        }
    }

    /// The range of a record's two fields.
    ///
    /// # Errors
    /// When the maximum exceeds 14 or the minimum the maximum.
    pub fn from_fields(min: u16, max: u8) -> Result<LodRange> {
        if max > Self::FULL.max {
            return illegal(NAME, "max LOD", max.into(), "0..=112 eighths");
        }
        if min > 8 * u16::from(max) {
            return illegal(NAME, "min LOD", min.into(), "at most the maximum, in 1/64");
        }
        Ok(LodRange { min, max })
    }

    /// The minimum in 1/64.
    #[must_use]
    pub const fn min_field(self) -> u16 {
        self.min
    }

    /// The maximum in 1/8.
    #[must_use]
    pub const fn max_field(self) -> u8 {
        self.max
    }

    /// The minimum.
    #[must_use]
    pub fn min(self) -> f32 {
        f32::from(self.min) / 64.0
    }

    /// The maximum.
    #[must_use]
    pub fn max(self) -> f32 {
        f32::from(self.max) / 8.0
    }
}

impl std::fmt::Debug for LodRange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "LodRange({}..={})", self.min(), self.max())
    }
}

/// A sampler record (images, 4). Every value is legal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sampler {
    /// Levels of detail.
    pub lod: LodRange,
    /// Anisotropy.
    pub anisotropy: Anisotropy,
    /// Filter where texels are larger than pixels.
    pub mag: Filter,
    /// Filter where they are smaller.
    pub min: Filter,
    /// Filter between levels.
    pub mip: MipFilter,
    /// S, T and R outside the image.
    pub wrap: [Wrap; 3],
    /// Coordinates count texels (captured; the proven driver normalises in the shader).
    pub unnormalised: bool,
    /// Comparison.
    pub compare: Compare,
    /// What lies outside the image with [`Wrap::ClampToBorder`].
    pub border: Border,
    /// Filters stay inside a cube's face.
    pub non_seamless: bool,
}

impl Default for Sampler {
    /// Nearest texel, no levels, edge clamp: what a capture calls the default (images, 13.7).
    fn default() -> Sampler {
        Sampler {
            lod: LodRange::FULL,
            anisotropy: Anisotropy::X1,
            mag: Filter::Nearest,
            min: Filter::Nearest,
            mip: MipFilter::None,
            wrap: [Wrap::ClampToEdge; 3],
            unnormalised: false,
            compare: Compare::Never,
            border: Border::TransparentBlack,
            non_seamless: false,
        }
    }
}

impl Sampler {
    /// The sampler that integer fetches name: they read its LOD state (images, 1; HW).
    #[must_use]
    pub fn fetch() -> Sampler {
        Sampler {
            mip: MipFilter::Nearest,
            ..Sampler::default()
        }
    }

    /// The 64-bit record.
    #[must_use]
    pub fn bits(&self) -> u64 {
        let mut out = Writer::<1>::new();
        out.set(0, 9, self.lod.min.into());
        out.set(13, 19, self.lod.max.into());
        out.set(20, 22, self.anisotropy.code().into());
        out.set(23, 24, self.mag.code().into());
        out.set(25, 26, self.min.code().into());
        out.set(27, 28, self.mip.code().into());
        for (i, wrap) in self.wrap.into_iter().enumerate() {
            out.set(29 + 3 * i, 31 + 3 * i, wrap.code().into());
        }
        out.flag(38, self.unnormalised);
        out.set(39, 42, self.compare.code().into());
        out.set(61, 62, self.border.code().into());
        out.flag(63, self.non_seamless);
        let [bits] = out.words();
        bits
    }

    /// The sampler of a 64-bit record.
    ///
    /// # Errors
    /// When a field is not legal or a bit is set that [`Sampler::bits`] does not set. The record of an
    /// entry that was never written, 0, is none: hardware takes it for nearest, edge clamp, LOD 0
    /// (ISA part 4, 1.1).
    pub fn from_bits(bits: u64) -> Result<Sampler> {
        let mut bits = Reader::new(NAME, [bits]);
        let mut code = |first, last| bits.take(first, last) as u8;
        let sampler = Sampler {
            anisotropy: Anisotropy::from_code(code(20, 22))?,
            mag: Filter::from_code(code(23, 24))?,
            min: Filter::from_code(code(25, 26))?,
            mip: MipFilter::from_code(code(27, 28))?,
            wrap: [
                Wrap::from_code(code(29, 31))?,
                Wrap::from_code(code(32, 34))?,
                Wrap::from_code(code(35, 37))?,
            ],
            unnormalised: code(38, 38) != 0,
            compare: Compare::from_code(code(39, 42))?,
            border: Border::from_code(code(61, 62))?,
            non_seamless: code(63, 63) != 0,
            lod: LodRange::from_fields(bits.take(0, 9) as u16, bits.take(13, 19) as u8)?,
        };
        bits.finish()?;
        Ok(sampler)
    }

    /// Writes a table's slot: the record and zeros, the first 32 bytes of `buffer`.
    ///
    /// # Errors
    /// When `buffer` is too small.
    pub fn pack(&self, buffer: &mut [u8]) -> Result<()> {
        let slot = head_mut(NAME, buffer, SLOT_SIZE)?;
        slot.fill(0);
        put_qword(slot, 0, self.bits());
        Ok(())
    }

    /// The sampler in a table's slot, the first 32 bytes.
    ///
    /// # Errors
    /// When the bytes are too few, those behind the record are not 0, or [`Sampler::from_bits`]
    /// refuses it.
    pub fn unpack(bytes: &[u8]) -> Result<Sampler> {
        let slot = head(NAME, bytes, SLOT_SIZE)?;
        zeros(NAME, slot, RECORD_SIZE, SLOT_SIZE)?;
        Sampler::from_bits(qword(slot, 0))
    }
}
