// SPDX-License-Identifier: MIT
//! The depth and stencil tests of a sample (graphics, 6.6 to 6.8 and 7.8).
//!
//! Stencil is tested before depth; depth is written when both pass. The comparison is `new FUNC
//! stored` for depth and `reference FUNC stored` for stencil, both sides of the latter under the read
//! mask.

use agx_hw::ppp::{Compare, Stencil, StencilOp};

use super::tile::Tile;

/// What interpolated depth is kept to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DepthRange {
    /// Least.
    pub low: f32,
    /// Greatest.
    pub high: f32,
}

impl DepthRange {
    /// Depth in the range; NaN becomes the least.
    #[inline(always)]
    #[must_use]
    pub fn clamp(&self, depth: f32) -> f32 {
        // In this order NaN ends as `low`, and ends in the wrong order do no harm.
        depth.max(self.low).min(self.high)
    }
}

/// The stencil test of a face.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StencilTest {
    /// Comparison, operations, masks.
    pub state: Stencil,
    /// The reference.
    pub reference: u8,
}

/// All tests of a face.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tests {
    /// Both comparisons of depth must pass.
    pub depth: [Compare; 2],
    /// Write depth when they do.
    pub depth_write: bool,
    /// The stencil test, if there is one.
    pub stencil: Option<StencilTest>,
}

impl Default for Tests {
    /// Everything passes, nothing is written.
    fn default() -> Tests {
        Tests {
            depth: [Compare::Always; 2],
            depth_write: false,
            stencil: None,
        }
    }
}

/// `a FUNC b`.
#[inline(always)]
fn compare<T: PartialOrd>(function: Compare, a: T, b: T) -> bool {
    match function {
        Compare::Never => false,
        Compare::Less => a < b,
        Compare::Equal => a == b,
        Compare::LessOrEqual => a <= b,
        Compare::Greater => a > b,
        Compare::NotEqual => a != b,
        Compare::GreaterOrEqual => a >= b,
        Compare::Always => true,
    }
}

fn operate(op: StencilOp, old: u8, reference: u8) -> u8 {
    match op {
        StencilOp::Keep => old,
        StencilOp::Zero => 0,
        StencilOp::Replace => reference,
        StencilOp::IncrementClamp => old.saturating_add(1),
        StencilOp::DecrementClamp => old.saturating_sub(1),
        StencilOp::Invert => !old,
        StencilOp::IncrementWrap => old.wrapping_add(1),
        StencilOp::DecrementWrap => old.wrapping_sub(1),
    }
}

impl Tests {
    /// True when nothing can fail and nothing is written.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        *self == Tests::default()
    }

    /// Tests one sample, at `place` in the tile, and changes what it leaves there.
    #[inline]
    pub fn test(&self, tile: &mut Tile, place: usize, sample: usize, depth: f32) -> bool {
        let at = sample * tile.pixels() + place;
        let depth = tile.depth_format.quantise(depth);
        if let Some(StencilTest { state, reference }) = self.stencil {
            let old = tile.stencil[at];
            let passes = compare(
                state.compare,
                reference & state.read_mask,
                old & state.read_mask,
            );
            let deep = passes && self.test_depth(tile, at, depth);
            let op = match (passes, deep) {
                (false, _) => state.fail,
                (true, false) => state.depth_fail,
                (true, true) => state.pass,
            };
            let new = operate(op, old, reference);
            tile.stencil[at] = old & !state.write_mask | new & state.write_mask;
            if !deep {
                return false;
            }
        } else if !self.test_depth(tile, at, depth) {
            return false;
        }
        if self.depth_write {
            tile.depth[at] = depth;
        }
        true
    }

    #[inline(always)]
    fn test_depth(&self, tile: &Tile, at: usize, depth: f32) -> bool {
        let stored = tile.depth[at];
        self.depth
            .iter()
            .all(|&function| compare(function, depth, stored))
    }
}
