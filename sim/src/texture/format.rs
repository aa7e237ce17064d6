// SPDX-License-Identifier: MIT
//! From bytes of an element to components (images, 5.1 and 11).
//!
//! Results are the components of *memory*, before the record's swizzle: fp32 bits, or integers for
//! integer formats. Components that the format has not are 0; the swizzle supplies constants.
//! Compressed blocks are decoded in [`super::blocks`].

#![expect(
    clippy::needless_range_loop,
    reason = "lane numbers index several arrays alike"
)]

use agx_hw::format::{Channels, Encoding, Numeric};

use super::srgb;
use crate::shader::alu::half;
use crate::shader::{LANES, Lanes};

/// How an element is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Codec {
    /// Where components lie.
    pub channels: Channels,
    /// What they mean.
    pub numeric: Numeric,
    /// Components 0 to 2 go through the sRGB curve.
    pub srgb: bool,
    /// Bytes of an element of one sample.
    pub bytes: u8,
    /// Components in memory.
    pub components: u8,
}

impl Codec {
    /// For the codes of a record.
    ///
    /// # Errors
    /// For the captured formats whose conversion the reference does not give.
    pub fn new(encoding: Encoding, srgb: bool) -> Result<Codec, String> {
        let (channels, numeric) = (encoding.channels(), encoding.numeric());
        if numeric == Numeric::Xr || channels.is_subsampled() {
            return Err(format!("{encoding:?}: the reference gives no conversion"));
        }
        Ok(Codec {
            channels,
            numeric,
            srgb,
            bytes: encoding.element().bytes,
            components: components(channels),
        })
    }

    /// Whether components are integers: neither filtered nor converted.
    #[inline(always)]
    #[must_use]
    pub fn is_integer(&self) -> bool {
        self.numeric.is_integer()
    }

    /// Whether elements are blocks.
    #[inline(always)]
    #[must_use]
    pub fn is_compressed(&self) -> bool {
        self.channels.is_compressed()
    }

    /// The components of 32 elements, whose bytes are little-endian words. Not for blocks.
    #[inline(always)]
    #[must_use]
    pub fn decode(&self, raw: &[Lanes; 4]) -> [Lanes; 4] {
        let mut out = [Lanes::ZERO; 4];
        match self.channels {
            Channels::R8 | Channels::R8G8 | Channels::R8G8B8A8 => {
                for component in 0..usize::from(self.components) {
                    self.bytes(&raw[0], component, &mut out[component]);
                }
            }
            Channels::R16 | Channels::R16G16 | Channels::R16G16B16A16 => {
                for component in 0..usize::from(self.components) {
                    let word = &raw[component / 2];
                    self.halves(word, component % 2, &mut out[component]);
                }
            }
            Channels::R32 | Channels::R32G32 | Channels::R32G32B32A32 => out = *raw,
            Channels::R11G11B10 => {
                for (component, (shift, mantissa)) in [(0, 6), (11, 6), (22, 5)].iter().enumerate()
                {
                    for lane in 0..LANES {
                        let field = raw[0].0[lane] >> shift & ((32 << mantissa) - 1);
                        // The same exponent as an fp16, with fewer bits of mantissa.
                        out[component].0[lane] = half::widen(field << (10 - mantissa));
                    }
                }
            }
            Channels::R9G9B9E5 => {
                for lane in 0..LANES {
                    let word = raw[0].0[lane];
                    // 2^(e - 15 - 9), which is normal for every e.
                    let scale = f32::from_bits(((word >> 27) + 127 - 24) << 23);
                    for component in 0..3 {
                        let mantissa = word >> (9 * component) & 0x1ff;
                        out[component].0[lane] = (mantissa as i32 as f32 * scale).to_bits();
                    }
                }
            }
            _ => {
                for (component, (first, bits)) in packed(self.channels).iter().enumerate() {
                    self.field(&raw[0], *first, *bits, &mut out[component]);
                }
            }
        }
        out
    }

    /// Byte `component` of each word.
    #[inline(always)]
    fn bytes(&self, word: &Lanes, component: usize, out: &mut Lanes) {
        let shift = 8 * component as u32;
        match self.numeric {
            Numeric::Unorm if self.srgb && component < 3 => {
                let table = srgb::table();
                for lane in 0..LANES {
                    out.0[lane] = table[(word.0[lane] >> shift & 255) as usize].to_bits();
                }
            }
            _ => self.field(word, shift, 8, out),
        }
    }

    /// Half `component` of each word.
    #[inline(always)]
    fn halves(&self, word: &Lanes, component: usize, out: &mut Lanes) {
        let shift = 16 * component as u32;
        if self.numeric == Numeric::Float {
            for lane in 0..LANES {
                out.0[lane] = half::widen(word.0[lane] >> shift & 0xffff);
            }
        } else {
            self.field(word, shift, 16, out);
        }
    }

    /// `bits` bits from bit `first` on of each word, normalised or integer.
    #[inline(always)]
    fn field(&self, word: &Lanes, first: u32, bits: u32, out: &mut Lanes) {
        let (up, down) = (32 - first - bits, 32 - bits);
        match self.numeric {
            Numeric::Unorm => {
                let top = (u32::MAX >> down) as f32;
                for lane in 0..LANES {
                    let code = word.0[lane] << up >> down;
                    out.0[lane] = (code as i32 as f32 / top).to_bits();
                }
            }
            Numeric::Snorm => {
                let top = ((1u32 << (bits - 1)) - 1) as f32;
                for lane in 0..LANES {
                    let code = (word.0[lane] << up) as i32 >> down;
                    out.0[lane] = (code as f32 / top).max(-1.0).to_bits();
                }
            }
            Numeric::Sint => {
                for lane in 0..LANES {
                    out.0[lane] = ((word.0[lane] << up) as i32 >> down) as u32;
                }
            }
            _ => {
                for lane in 0..LANES {
                    out.0[lane] = word.0[lane] << up >> down;
                }
            }
        }
    }
}

/// Components in memory.
const fn components(channels: Channels) -> u8 {
    use Channels::*;
    match channels {
        R8 | R16 | R32 | EacR11 | Bc4 => 1,
        R8G8 | R16G16 | R32G32 | EacRg11 | Bc5 => 2,
        R5G6B5 | R11G11B10 | R9G9B9E5 | Etc2Rgb8 | Bc6H | Bc6HU => 3,
        _ => 4,
    }
}

/// First bit and width of each component of a packed word (images, 5.1).
pub(super) const fn packed(channels: Channels) -> &'static [(u32, u32)] {
    match channels {
        Channels::R5G6B5 => &[(0, 5), (5, 6), (11, 5)],
        Channels::R4G4B4A4 => &[(0, 4), (4, 4), (8, 4), (12, 4)],
        Channels::A1R5G5B5 => &[(0, 1), (1, 5), (6, 5), (11, 5)],
        Channels::R5G5B5A1 => &[(0, 5), (5, 5), (10, 5), (15, 1)],
        Channels::R10G10B10A2 => &[(0, 10), (10, 10), (20, 10), (30, 2)],
        _ => &[],
    }
}
