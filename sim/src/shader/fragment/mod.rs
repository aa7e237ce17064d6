// SPDX-License-Identifier: MIT
//! The fragment stage's side of the shader core (isa-3, 4).
//!
//! A SIMD group holds eight quads of 2x2 pixels of one tile: lane 4q is the upper left pixel of quad
//! q, lane 4q + 1 the one to the right, 4q + 2 and 4q + 3 the ones below. Who fills it
//! ([`crate::graphics`]) sets [`Fragments`] up and reads it when the program has ended.
//!
//! * [`interpolate`]: ITER, ITER_FLAT, PROJECT, INTERP_POS;
//! * [`tile`]: tile memory, its transactions, TILE_LOAD and TILE_STORE;
//! * [`depth`]: the depth and stencil tests;
//! * [`coverage`]: COVERAGE and DEPTH_STORE;
//! * [`block`]: BLOCK_STORE, with the conversions of [`encode`].

pub mod block;
pub mod coverage;
pub mod depth;
pub mod encode;
pub mod interpolate;
pub mod tile;

use self::depth::{DepthRange, Tests};
use self::interpolate::{Coefficient, Gradient};
use self::tile::{Tile, Transactions};
use super::lanes::LANES;
use super::microop::Step;
use super::wave::Wave;
use crate::fault::FaultKind;

/// Quads of a SIMD group.
pub const QUADS: usize = LANES / 4;

/// A quad: its upper left pixel in the framebuffer, and which of the SIMD group's primitives it
/// belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quad {
    /// Pixels from the left edge, even.
    pub x: u32,
    /// Pixels from the upper edge, even.
    pub y: u32,
    /// Index into [`Fragments::primitives`].
    pub primitive: usize,
}

/// What the lanes of a primitive's quads have in common.
#[derive(Clone, Copy, Debug)]
pub struct Primitive {
    /// Where the coefficients have their constant term, in pixels.
    pub origin: [f64; 2],
    /// Window depth, bias included.
    pub depth: Gradient,
    /// What that is kept to.
    pub range: DepthRange,
    /// Faces away.
    pub back: bool,
}

/// The state of a SIMD group of fragments.
pub struct Fragments {
    /// The tile that it works on.
    pub tile: Tile,
    /// The quads.
    pub quads: [Quad; QUADS],
    /// The primitives of the quads.
    pub primitives: Vec<Primitive>,
    /// Their coefficients: [`Fragments::registers`] for each primitive.
    pub coefficients: Vec<Coefficient>,
    /// Coefficient registers.
    pub registers: usize,
    /// Samples of each lane that the primitive covers and that passed the tests made before the
    /// program.
    pub covered: [u8; LANES],
    /// Those of them that were not killed and did not fail a test.
    pub live: [u8; LANES],
    /// Those whose tests the program has to ask for.
    pub pending: [u8; LANES],
    /// Tests of front and back faces.
    pub tests: [Tests; 2],
    /// Samples that passed the tests.
    pub passed: u64,
    /// Open transactions.
    pub transactions: Transactions,
}

impl Fragments {
    /// For tiles like this one.
    #[must_use]
    pub fn new(tile: Tile) -> Fragments {
        Fragments {
            tile,
            quads: [Quad::default(); QUADS],
            primitives: Vec::new(),
            coefficients: Vec::new(),
            registers: 0,
            covered: [0; LANES],
            live: [0; LANES],
            pending: [0; LANES],
            tests: [Tests::default(); 2],
            passed: 0,
            transactions: Transactions::default(),
        }
    }

    /// The pixel of a lane, in the framebuffer.
    #[inline(always)]
    #[must_use]
    pub fn pixel(&self, lane: usize) -> [u32; 2] {
        let quad = &self.quads[lane / 4];
        [quad.x + (lane as u32 & 1), quad.y + (lane as u32 >> 1 & 1)]
    }

    /// The place of a lane's pixel in tile memory.
    #[inline(always)]
    #[must_use]
    pub fn place(&self, lane: usize) -> usize {
        let quad = &self.quads[lane / 4];
        self.tile.place(quad.x, quad.y) + lane % 4
    }

    /// The primitive of a lane.
    #[inline(always)]
    #[must_use]
    pub fn primitive(&self, lane: usize) -> &Primitive {
        &self.primitives[self.quads[lane / 4].primitive]
    }

    /// Lanes without a sample that is alive: what they store does not happen (isa-4, 8; HW).
    #[must_use]
    pub fn helpers(&self) -> u32 {
        let mut helpers = 0;
        for lane in 0..LANES {
            helpers |= u32::from(self.live[lane] == 0) << lane;
        }
        helpers
    }
}

/// The fault of an instruction of the fragment stage that runs elsewhere.
#[cold]
fn outside(wave: &mut Wave<'_>) -> Step {
    illegal(wave, "an instruction of the fragment stage in another one")
}

#[cold]
fn illegal(wave: &mut Wave<'_>, reason: &str) -> Step {
    wave.fail(FaultKind::IllegalInstruction(reason.to_owned()), None)
}

/// The fault of a broken rule that hardware does not check.
#[cold]
fn strict(wave: &mut Wave<'_>, reason: String) -> Step {
    wave.fail(FaultKind::Strict(reason), None)
}
