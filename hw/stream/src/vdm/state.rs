// SPDX-License-Identifier: MIT
//! The state update that names the vertex shader.

use super::{Provoking, VERTEX};
use crate::bits::{Word, flag};
use crate::bytes::word;
use crate::error::{Result, illegal};
use crate::uvs::{MAX_WORDS, POSITION_WORDS};
use crate::window::LauncherAddress;

const NAME: &str = "VDM vertex state";
/// The word in front of a launcher's units, here and in the fragment piece: constant for code windows
/// at 2^40 (graphics, 3.3; OPAQUE).
pub const USC_SELECTOR: u32 = 0x0100_0000;

/// The vertex shader and what comes out of it (graphics, 3.3; HW).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct VertexState {
    /// The program that starts the shader.
    pub launcher: LauncherAddress,
    /// Output words, position included: 4..=145. The outputs piece says the same.
    pub outputs: u8,
    /// The vertex that flat shading takes its values from; also in cull word and coefficients.
    pub provoking: Provoking,
    /// Number the primitives for the fragment shader (INFERRED).
    pub primitive_id: bool,
}

impl VertexState {
    /// Bytes.
    pub const SIZE: usize = 28;

    pub(super) fn words(&self) -> Result<[u32; 7]> {
        let outputs = check_outputs(self.outputs.into())?;
        Ok([
            VERTEX,
            0,
            USC_SELECTOR,
            self.launcher.units(),
            outputs | outputs << 8,
            u32::from(self.provoking.code()) | flag(6, self.primitive_id),
            0,
        ])
    }

    /// From [`VertexState::SIZE`] bytes that begin with the header.
    pub(super) fn unpack(bytes: &[u8]) -> Result<VertexState> {
        for (at, field, expected, legal) in [
            (4, "vertex word 0", 0, "0"),
            (8, "constant", USC_SELECTOR, "0x01000000"),
            (24, "last word", 0, "0"),
        ] {
            let value = word(bytes, at);
            if value != expected {
                return illegal(NAME, field, value.into(), legal);
            }
        }
        let counts = word(bytes, 16);
        let outputs = check_outputs(counts & 0xff)?;
        if counts != outputs | outputs << 8 {
            let legal = "the count in bits 7:0 and again in 15:8";
            return illegal(NAME, "output counts", counts.into(), legal);
        }
        let mut control = Word::new("VDM vertex control", word(bytes, 20));
        let state = VertexState {
            launcher: LauncherAddress::from_units(word(bytes, 12))?,
            outputs: outputs as u8,
            provoking: Provoking::from_code(control.take(0, 1) as u8)?,
            primitive_id: control.flag(6),
        };
        control.finish()?;
        Ok(state)
    }
}

fn check_outputs(words: u32) -> Result<u32> {
    if (POSITION_WORDS.into()..=MAX_WORDS.into()).contains(&words) {
        Ok(words)
    } else {
        illegal(NAME, "output words", words.into(), "4..=145")
    }
}
