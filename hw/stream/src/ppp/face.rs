// SPDX-License-Identifier: MIT
//! Words of a face: depth, stencil, line width, polygon mode.

use crate::bits::{Word, flag};
use crate::codes::codes;
use crate::error::Result;

codes! {
    /// Comparison of depth and stencil: `new FUNC stored` (graphics, 6.6; HW).
    Compare, "PPP face", "0..=7";
    /// False.
    Never = 0,
    /// `<`.
    Less = 1,
    /// `==`.
    Equal = 2,
    /// `<=`.
    LessOrEqual = 3,
    /// `>`.
    Greater = 4,
    /// `!=`.
    NotEqual = 5,
    /// `>=`.
    GreaterOrEqual = 6,
    /// True.
    Always = 7,
}

codes! {
    /// What becomes of a stencil value (graphics, 6.7; HW).
    StencilOp, "PPP stencil", "0..=7";
    /// Stays.
    Keep = 0,
    /// 0.
    Zero = 1,
    /// The reference.
    Replace = 2,
    /// One more, at most 255.
    IncrementClamp = 3,
    /// One less, at least 0.
    DecrementClamp = 4,
    /// All bits inverted.
    Invert = 5,
    /// One more, after 255 comes 0.
    IncrementWrap = 6,
    /// One less, before 0 comes 255.
    DecrementWrap = 7,
}

codes! {
    /// What is drawn of a polygon (graphics, 6.6, 7.6; TRACE for lines). Front and back should agree.
    PolygonMode, "PPP face", "0..=2";
    /// Its area.
    Fill = 0,
    /// Its edges.
    Line = 1,
    /// Its corners.
    Point = 2,
}

/// Width of lines: sixteenths of a pixel less one (graphics, 6.6; HW).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct LineWidth(pub u8);

impl LineWidth {
    /// A width in pixels, rounded down to sixteenths, 1/16 to 16; the narrowest for NaN.
    #[must_use]
    pub fn new(pixels: f32) -> LineWidth {
        // The conversion saturates, and NaN becomes 0.
        LineWidth(((pixels * 16.0) as i32).saturating_sub(1).clamp(0, 255) as u8)
    }

    /// Pixels.
    #[must_use]
    pub fn pixels(self) -> f32 {
        (f32::from(self.0) + 1.0) / 16.0
    }
}

impl Default for LineWidth {
    /// 1 pixel.
    fn default() -> LineWidth {
        LineWidth(15)
    }
}

impl std::fmt::Debug for LineWidth {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "LineWidth({})", self.pixels())
    }
}

/// Stencil test of a face (graphics, 6.7; HW).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stencil {
    /// Bits that are written.
    pub write_mask: u8,
    /// Bits that are compared, of reference and stored value.
    pub read_mask: u8,
    /// Both tests passed.
    pub pass: StencilOp,
    /// The depth test failed.
    pub depth_fail: StencilOp,
    /// The stencil test failed.
    pub fail: StencilOp,
    /// `reference FUNC stored`.
    pub compare: Compare,
}

impl Default for Stencil {
    /// 0x0e00ffff: always passes, keeps.
    fn default() -> Stencil {
        Stencil {
            write_mask: 0xff,
            read_mask: 0xff,
            pass: StencilOp::Keep,
            depth_fail: StencilOp::Keep,
            fail: StencilOp::Keep,
            compare: Compare::Always,
        }
    }
}

impl Stencil {
    pub(super) fn word(&self) -> u32 {
        u32::from(self.write_mask)
            | u32::from(self.read_mask) << 8
            | u32::from(self.pass.code()) << 16
            | u32::from(self.depth_fail.code()) << 19
            | u32::from(self.fail.code()) << 22
            | u32::from(self.compare.code()) << 25
    }

    pub(super) fn of_word(word: u32) -> Result<Stencil> {
        let mut word = Word::new("PPP stencil", word);
        let stencil = Stencil {
            write_mask: word.take(0, 7) as u8,
            read_mask: word.take(8, 15) as u8,
            pass: StencilOp::from_code(word.take(16, 18) as u8)?,
            depth_fail: StencilOp::from_code(word.take(19, 21) as u8)?,
            fail: StencilOp::from_code(word.take(22, 24) as u8)?,
            compare: Compare::from_code(word.take(25, 27) as u8)?,
        };
        word.finish()?;
        Ok(stencil)
    }
}

/// A face of polygons; lines and points use both alike (graphics, 6.6, 6.7; HW).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Face {
    /// The stencil reference.
    pub reference: u8,
    /// The width of lines.
    pub line_width: LineWidth,
    /// What is drawn.
    pub polygon: PolygonMode,
    /// Write depth where the test passes.
    pub depth_write: bool,
    /// The depth test. Without one: [`Compare::Always`], and no write.
    pub depth: Compare,
    /// The stencil test, if the piece enables it. A test of one side goes into both faces.
    pub stencil: Stencil,
}

impl Default for Face {
    /// 0x07200f00 and 0x0e00ffff: no tests, no writes.
    fn default() -> Face {
        Face {
            reference: 0,
            line_width: LineWidth::default(),
            polygon: PolygonMode::Fill,
            depth_write: false,
            depth: Compare::Always,
            stencil: Stencil::default(),
        }
    }
}

impl Face {
    /// Face word and stencil word.
    pub(super) fn words(&self) -> [u32; 2] {
        let face = u32::from(self.reference)
            | u32::from(self.line_width.0) << 8
            | u32::from(self.polygon.code()) << 18
            | flag(21, !self.depth_write)
            | u32::from(self.depth.code()) << 24;
        [face, self.stencil.word()]
    }

    pub(super) fn of_words(face: u32, stencil: u32) -> Result<Face> {
        let mut word = Word::new("PPP face", face);
        let face = Face {
            reference: word.take(0, 7) as u8,
            line_width: LineWidth(word.take(8, 15) as u8),
            polygon: PolygonMode::from_code(word.take(18, 19) as u8)?,
            depth_write: !word.flag(21),
            depth: Compare::from_code(word.take(24, 26) as u8)?,
            stencil: Stencil::of_word(stencil)?,
        };
        word.finish()?;
        Ok(face)
    }
}
