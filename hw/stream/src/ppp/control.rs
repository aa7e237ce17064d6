// SPDX-License-Identifier: MIT
//! Piece 4: tests, faces, occlusion.

use super::{Face, piece};
use crate::bits::{Word, flag};
use crate::codes::codes;
use crate::error::{Result, illegal};

/// Occlusion results of a pass: 64-bit words (graphics, 7.9; HW).
pub const MAX_OCCLUSION_RESULTS: u32 = 1 << 15;

/// Bit 9 of both control words (graphics, 6.5; OPAQUE).
pub(super) const ALWAYS: u32 = 1 << 9;

codes! {
    /// What becomes of passing samples besides shading (graphics, 6.5, 7.9; HW).
    Visibility, "PPP fragment control", "0, 2 or 3";
    /// Nothing.
    None = 0,
    /// Their number is added to the occlusion result.
    Counting = 2,
    /// The occlusion result becomes 1.
    Boolean = 3,
}

/// The control word that both pieces have in part, at the same bits.
pub(super) struct Shared {
    pub(super) visibility: Visibility,
    pub(super) no_tag_write: bool,
    pub(super) no_merge: bool,
}

impl Shared {
    pub(super) fn word(&self) -> u32 {
        ALWAYS
            | u32::from(self.visibility.code()) << 14
            | flag(21, self.no_tag_write)
            | flag(26, self.no_merge)
    }

    pub(super) fn take(word: &mut Word) -> Result<Shared> {
        word.ones(ALWAYS, "0x200")?;
        Ok(Shared {
            visibility: Visibility::from_code(word.take(14, 15) as u8)?,
            no_tag_write: word.flag(21),
            no_merge: word.flag(26),
        })
    }
}

/// Which tests there are, and what they do (graphics, 6.5 to 6.7; HW).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FragmentControl {
    /// Counting of samples; piece 5 says the same.
    pub visibility: Visibility,
    /// The occlusion result, 0..32768: a 64-bit word of the pass's array.
    pub occlusion: u16,
    /// Apply the scissor entry of the indices piece. Proven drivers always do.
    pub scissor: bool,
    /// Apply the depth-bias entry of the indices piece.
    pub depth_bias: bool,
    /// Test stencil, each face with its own state: bits 18 and 19, which the proven driver sets together.
    pub stencil: bool,
    /// Fragments leave no visibility tags: nothing is shaded. Rasteriser discard; piece 5 says the
    /// same.
    pub no_tag_write: bool,
    /// Do not merge triangles: in this piece only with polygon modes line and point.
    pub no_merge: bool,
    /// Front faces, lines, points.
    pub front: Face,
    /// Back faces; lines and points again.
    pub back: Face,
}

piece!(FragmentControl, "PPP fragment control", 7);

impl Default for FragmentControl {
    /// Scissor on, everything else off.
    fn default() -> FragmentControl {
        FragmentControl {
            visibility: Visibility::None,
            occlusion: 0,
            scissor: true,
            depth_bias: false,
            stencil: false,
            no_tag_write: false,
            no_merge: false,
            front: Face::default(),
            back: Face::default(),
        }
    }
}

impl FragmentControl {
    fn payload(&self) -> Result<[u32; 6]> {
        let shared = Shared {
            visibility: self.visibility,
            no_tag_write: self.no_tag_write,
            no_merge: self.no_merge,
        };
        let control = shared.word()
            | flag(16, self.scissor)
            | flag(17, self.depth_bias)
            | flag(18, self.stencil)
            | flag(19, self.stencil);
        let ([front, front_stencil], [back, back_stencil]) =
            (self.front.words(), self.back.words());
        let occlusion = occlusion_word(self.occlusion)?;
        Ok([control, front, front_stencil, back, back_stencil, occlusion])
    }

    fn of_payload(words: [u32; 6]) -> Result<FragmentControl> {
        let [control, front, front_stencil, back, back_stencil, occlusion] = words;
        let mut control = Word::new(Self::NAME, control);
        let shared = Shared::take(&mut control)?;
        let (scissor, depth_bias) = (control.flag(16), control.flag(17));
        let (stencil, two_sided) = (control.flag(18), control.flag(19));
        if stencil != two_sided {
            let legal = "bits 18 and 19 alike";
            return illegal(Self::NAME, "stencil test", stencil.into(), legal);
        }
        control.finish()?;
        let mut occlusion = Word::new("PPP occlusion", occlusion);
        let index = occlusion.take(17, 31) as u16;
        occlusion.finish()?;
        Ok(FragmentControl {
            visibility: shared.visibility,
            occlusion: index,
            scissor,
            depth_bias,
            stencil,
            no_tag_write: shared.no_tag_write,
            no_merge: shared.no_merge,
            front: Face::of_words(front, front_stencil)?,
            back: Face::of_words(back, back_stencil)?,
        })
    }
}

pub(super) fn occlusion_word(index: u16) -> Result<u32> {
    if u32::from(index) < MAX_OCCLUSION_RESULTS {
        Ok(u32::from(index) << 17)
    } else {
        illegal("PPP occlusion", "index", index.into(), "0..=32767")
    }
}
