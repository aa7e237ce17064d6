// SPDX-License-Identifier: MIT
//! What texture and store records have in common (images, 2 and 3).

use crate::bits::{Reader, Writer};
use crate::error::{Result, illegal};
use crate::format::Encoding;
use crate::launcher::Samples;
use crate::window::check_va;

/// Bytes in a texture or store record, and from one entry of the texture table to the next
/// (images, 1; HW).
pub const RECORD_SIZE: usize = 32;
/// Bytes that addresses and linear strides are multiples of (images, 0.1; HW).
pub const GRANULE: u64 = 16;
/// Most texels in a row or column of a 1D, 2D or cube image (images, 2.1; HW).
pub const MAX_SIZE: u32 = 16384;
/// Most texels on an axis of a 3D image (images, 2.1; HW).
pub const MAX_SIZE_3D: u32 = 2048;
/// Most layers, faces of cubes included (images, 2.1; HW).
pub const MAX_LAYERS: u32 = 2048;
/// Most bytes from row to row of a linear image (images, 6; HW).
pub const MAX_STRIDE: u32 = 0x10_0000;
/// Most levels of an image: 16384 down to 1.
pub const MAX_LEVELS: usize = 15;
/// An entry that nothing was written to: textures read 0, stores are dropped (ISA part 4, 1.1; HW).
/// No record unpacks from it.
pub const EMPTY: [u8; RECORD_SIZE] = [0; RECORD_SIZE];

/// Samples of a pixel in a multisampled image; eight do not exist (images, 5.3; HW).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Multisample {
    /// Two.
    X2,
    /// Four.
    X4,
}

impl Multisample {
    pub(crate) const fn is_four(self) -> bool {
        matches!(self, Multisample::X4)
    }

    pub(crate) const fn of_bit(four: bool) -> Multisample {
        if four {
            Multisample::X4
        } else {
            Multisample::X2
        }
    }
}

impl From<Multisample> for Samples {
    fn from(samples: Multisample) -> Samples {
        match samples {
            Multisample::X2 => Samples::Two,
            Multisample::X4 => Samples::Four,
        }
    }
}

/// Codes of the layout field (images, 2; HW). 1 is sparse and 3 is not for use.
pub(crate) const LAYOUT_LINEAR: u64 = 0;
pub(crate) const LAYOUT_TILED: u64 = 2;
const LAYOUT: (usize, usize) = (4, 5);

/// Bits that both kinds of record have in one place.
pub(crate) mod bit {
    pub(crate) const SAMPLES: usize = 56;
    pub(crate) const MIPMAPPED: usize = 58;
    pub(crate) const EXTENDED: usize = 127;
}

/// Bits 0..15: dimension, layout, format; and the address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) dimension: u8,
    pub(crate) tiled: bool,
    pub(crate) encoding: Encoding,
    pub(crate) address: u64,
}

impl Head {
    pub(crate) fn write(self, structure: &'static str, out: &mut Writer<4>) -> Result<()> {
        check_address(structure, "address", self.address)?;
        let layout = if self.tiled {
            LAYOUT_TILED
        } else {
            LAYOUT_LINEAR
        };
        out.set(0, 3, self.dimension.into());
        out.set(LAYOUT.0, LAYOUT.1, layout);
        out.set(6, 12, self.encoding.channels().code().into());
        out.set(13, 15, self.encoding.numeric().code().into());
        out.set(64, 103, self.address / GRANULE);
        Ok(())
    }

    pub(crate) fn read(structure: &'static str, bits: &mut Reader<4>) -> Result<Head> {
        let tiled = match bits.take(LAYOUT.0, LAYOUT.1) {
            LAYOUT_LINEAR => false,
            LAYOUT_TILED => true,
            other => return illegal(structure, "layout", other, "0 (linear) or 2 (tiled)"),
        };
        let address = bits.take(64, 103) * GRANULE;
        check_address(structure, "address", address)?;
        Ok(Head {
            dimension: bits.take(0, 3) as u8,
            tiled,
            encoding: Encoding::from_codes(bits.take(6, 12), bits.take(13, 15))?,
            address,
        })
    }
}

/// Refuses addresses that are not multiples of 16 or have more than 42 bits.
pub(crate) fn check_address(
    structure: &'static str,
    field: &'static str,
    address: u64,
) -> Result<()> {
    if !address.is_multiple_of(GRANULE) {
        return illegal(structure, field, address, "a multiple of 16");
    }
    check_va(structure, field, address)
}

/// Refuses 0 and what is above `limit`, one of the limits of this module.
pub(crate) fn check_count(
    structure: &'static str,
    field: &'static str,
    value: u32,
    limit: u32,
) -> Result<()> {
    if (1..=limit).contains(&value) {
        return Ok(());
    }
    let legal = match limit {
        1 => "1",
        MAX_SIZE => "1..=16384",
        MAX_CUBES => "1..=341",
        _ => "1..=2048",
    };
    illegal(structure, field, value.into(), legal)
}

/// Most cubes of a cube array: [`MAX_LAYERS`] faces.
pub(crate) const MAX_CUBES: u32 = MAX_LAYERS / 6;

/// The field of a linear record's stride: 16-byte units, less one.
///
/// # Errors
/// When it is not a multiple of 16 or out of range.
pub(crate) fn stride_field(structure: &'static str, stride: u32) -> Result<u64> {
    if stride == 0 || !u64::from(stride).is_multiple_of(GRANULE) || stride > MAX_STRIDE {
        let legal = "a multiple of 16, 16..=0x100000";
        return illegal(structure, "row stride", stride.into(), legal);
    }
    Ok(u64::from(stride) / GRANULE - 1)
}

/// The stride of a 16-bit field.
pub(crate) const fn stride_of(field: u64) -> u32 {
    (field as u32 + 1) * GRANULE as u32
}

/// The highest level of an image whose largest axis is `axis`, which is not 0.
pub(crate) const fn last_level(axis: u32) -> u8 {
    axis.ilog2() as u8
}

/// The four words of a record.
pub(crate) fn words(structure: &'static str, bytes: &[u8]) -> Result<[u64; 4]> {
    let bytes = crate::bytes::head(structure, bytes, RECORD_SIZE)?;
    Ok([0, 8, 16, 24].map(|offset| crate::bytes::qword(bytes, offset)))
}

/// Writes the four words of a record.
pub(crate) fn put_words(structure: &'static str, buffer: &mut [u8], words: [u64; 4]) -> Result<()> {
    let out = crate::bytes::head_mut(structure, buffer, RECORD_SIZE)?;
    for (i, word) in words.into_iter().enumerate() {
        crate::bytes::put_qword(out, 8 * i, word);
    }
    Ok(())
}
