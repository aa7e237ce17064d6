// SPDX-License-Identifier: MIT
//! Piece 5: when fragments are shaded, shader depth, object type.

use super::control::Shared;
use super::{Compare, PolygonMode, Visibility, piece};
use crate::bits::{Word, flag};
use crate::codes::codes;
use crate::error::{Result, illegal};

/// The word of passes with colour outputs (graphics, 6.2; OPAQUE).
const COLOUR: u32 = 0x1_ffff;

codes! {
    /// When fragments are shaded (graphics, 6.5, 7.8; codes HW, what they mean INFERRED).
    PassType, "PPP fragment control 2", "0..=3";
    /// Only those that stay visible need be.
    Opaque = 0,
    /// Every passing fragment, in order: blending, tile reads, partial colour masks, several samples.
    Translucent = 1,
    /// The shader says which samples there are; depth and stencil change after it.
    PunchThrough = 2,
    /// Both.
    TranslucentPunchThrough = 3,
}

impl PassType {
    /// The type for a shader that depends on the colours before it (it reads the tile, blends, masks
    /// colours, or the pass has several samples), and one that discards or writes coverage
    /// (graphics, 6.5; HW).
    #[must_use]
    pub const fn new(translucent: bool, discards: bool) -> PassType {
        match (translucent, discards) {
            (false, false) => PassType::Opaque,
            (true, false) => PassType::Translucent,
            (false, true) => PassType::PunchThrough,
            (true, true) => PassType::TranslucentPunchThrough,
        }
    }

    /// Whether every fragment is shaded.
    #[must_use]
    pub const fn is_translucent(self) -> bool {
        self.code() & 1 != 0
    }

    /// Whether the shader says which samples there are.
    #[must_use]
    pub const fn is_punch_through(self) -> bool {
        self.code() & 2 != 0
    }
}

codes! {
    /// Depth that the shader writes (graphics, 6.8; greater and less INFERRED).
    ShaderDepth, "PPP face 2", "0..=3";
    /// Any.
    Any = 0,
    /// Only greater than the interpolated one.
    Greater = 1,
    /// Only less.
    Less = 2,
    /// None (HW).
    Unchanged = 3,
}

codes! {
    /// What is rasterised (graphics, 6.8; HW, filled triangles TRACE and INFERRED).
    ObjectType, "PPP face 2", "0, 1, 2, 4, 5 or 6";
    /// Triangles.
    Triangle = 0,
    /// Lines.
    Line = 1,
    /// Points with coordinate "10".
    PointUv10 = 2,
    /// Points with coordinate "01".
    PointUv01 = 4,
    /// Triangles as lines (TRACE).
    LineFilled = 5,
    /// Triangles as points (INFERRED).
    PointFilled = 6,
}

/// The second word of a face (graphics, 6.8; HW).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Face2 {
    /// As in the first word.
    pub polygon: PolygonMode,
    /// Write depth whatever the first word says; usually not.
    pub depth_write: bool,
    /// What the shader does to depth.
    pub shader_depth: ShaderDepth,
    /// A second depth test, which must pass as well; usually [`Compare::Always`].
    pub depth: Compare,
    /// What is rasterised.
    pub object: ObjectType,
}

impl Default for Face2 {
    /// 0x07e00000: triangles, the first word decides.
    fn default() -> Face2 {
        Face2 {
            polygon: PolygonMode::Fill,
            depth_write: false,
            shader_depth: ShaderDepth::Unchanged,
            depth: Compare::Always,
            object: ObjectType::Triangle,
        }
    }
}

impl Face2 {
    fn word(self) -> u32 {
        u32::from(self.polygon.code()) << 18
            | flag(21, !self.depth_write)
            | u32::from(self.shader_depth.code()) << 22
            | u32::from(self.depth.code()) << 24
            | u32::from(self.object.code()) << 28
    }

    fn of_word(word: u32) -> Result<Face2> {
        let mut word = Word::new("PPP face 2", word);
        let face = Face2 {
            polygon: PolygonMode::from_code(word.take(18, 19) as u8)?,
            depth_write: !word.flag(21),
            shader_depth: ShaderDepth::from_code(word.take(22, 23) as u8)?,
            depth: Compare::from_code(word.take(24, 26) as u8)?,
            object: ObjectType::from_code(word.take(28, 31) as u8)?,
        };
        word.finish()?;
        Ok(face)
    }
}

/// When fragments are shaded, and what from (graphics, 6.5, 6.8; HW).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FragmentControl2 {
    /// Counting of samples; piece 4 says the same.
    pub visibility: Visibility,
    /// As in piece 4.
    pub no_tag_write: bool,
    /// Do not merge triangles: for shaders that discard or whose derivatives must not mix primitives,
    /// for lines, points and polygon modes line and point.
    pub no_merge: bool,
    /// When fragments are shaded.
    pub pass: PassType,
    /// Front faces, lines, points.
    pub front: Face2,
    /// Back faces; lines and points again.
    pub back: Face2,
    /// The shader has colour outputs.
    pub colour: bool,
}

piece!(FragmentControl2, "PPP fragment control 2", 5);

impl Default for FragmentControl2 {
    /// Opaque triangles with colour.
    fn default() -> FragmentControl2 {
        FragmentControl2 {
            visibility: Visibility::None,
            no_tag_write: false,
            no_merge: false,
            pass: PassType::Opaque,
            front: Face2::default(),
            back: Face2::default(),
            colour: true,
        }
    }
}

impl FragmentControl2 {
    fn payload(&self) -> Result<[u32; 4]> {
        let shared = Shared {
            visibility: self.visibility,
            no_tag_write: self.no_tag_write,
            no_merge: self.no_merge,
        };
        Ok([
            shared.word() | u32::from(self.pass.code()) << 29,
            self.front.word(),
            self.back.word(),
            if self.colour { COLOUR } else { 0 },
        ])
    }

    fn of_payload([control, front, back, colour]: [u32; 4]) -> Result<FragmentControl2> {
        let mut control = Word::new(Self::NAME, control);
        let shared = Shared::take(&mut control)?;
        let pass = PassType::from_code(control.take(29, 31) as u8)?;
        control.finish()?;
        if !matches!(colour, 0 | COLOUR) {
            let legal = "0x1ffff or 0";
            return illegal(Self::NAME, "colour mask", colour.into(), legal);
        }
        Ok(FragmentControl2 {
            visibility: shared.visibility,
            no_tag_write: shared.no_tag_write,
            no_merge: shared.no_merge,
            pass,
            front: Face2::of_word(front)?,
            back: Face2::of_word(back)?,
            colour: colour != 0,
        })
    }
}
