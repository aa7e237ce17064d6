// SPDX-License-Identifier: MIT
//! Where the samples of a pixel lie.

use crate::error::{Result, illegal};
use crate::launcher::Samples;

const NAME: &str = "ppp_multisamplectl";

/// Sample positions of a pass (graphics, 13): x and y in sixteenths of a pixel from its upper left
/// corner, of which the first samples count. Others than the standard ones have not run with public
/// drivers (TRACE).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SamplePositions {
    samples: Samples,
    positions: [[u8; 2]; 4],
}

impl SamplePositions {
    /// The standard positions: those of Direct3D (graphics, 13; one sample HW, INFERRED).
    #[must_use]
    pub const fn standard(samples: Samples) -> SamplePositions {
        let positions = match samples {
            Samples::One => [[8, 8], [0; 2], [0; 2], [0; 2]],
            Samples::Two => [[12, 12], [4, 4], [0; 2], [0; 2]],
            Samples::Four => [[6, 2], [14, 6], [2, 10], [10, 14]],
        };
        SamplePositions { samples, positions }
    }

    /// Positions of one, two or four samples.
    ///
    /// # Errors
    /// When there are others than one, two or four, or a coordinate is above 15.
    pub fn new(positions: &[[u8; 2]]) -> Result<SamplePositions> {
        let samples = match positions.len() {
            1 => Samples::One,
            2 => Samples::Two,
            4 => Samples::Four,
            other => return illegal(NAME, "samples", other as u64, "1, 2 or 4"),
        };
        let mut all = [[0; 2]; 4];
        for (place, position) in all.iter_mut().zip(positions) {
            if let Some(value) = position.iter().find(|value| **value > 15) {
                return illegal(NAME, "coordinate", (*value).into(), "0..=15");
            }
            *place = *position;
        }
        Ok(SamplePositions {
            samples,
            positions: all,
        })
    }

    /// The samples.
    #[must_use]
    pub fn get(&self) -> &[[u8; 2]] {
        let count = self.samples.count() as usize;
        self.positions.get(..count).unwrap_or_default()
    }

    /// The value: a byte for each sample, the first one lowest.
    #[must_use]
    pub fn pack(&self) -> u64 {
        let bytes = self.get().iter().rev();
        bytes.fold(0, |value, [x, y]| value << 8 | u64::from(x | y << 4))
    }

    /// The positions of so many samples.
    ///
    /// # Errors
    /// When bytes behind the last sample's are not 0.
    pub fn unpack(samples: Samples, value: u64) -> Result<SamplePositions> {
        let mut positions = [[0; 2]; 4];
        let mut rest = value;
        for position in positions.iter_mut().take(samples.count() as usize) {
            *position = [rest as u8 & 15, rest as u8 >> 4];
            rest >>= 8;
        }
        match rest {
            0 => Ok(SamplePositions { samples, positions }),
            _ => illegal(NAME, "value", value, "a byte for each sample"),
        }
    }
}
