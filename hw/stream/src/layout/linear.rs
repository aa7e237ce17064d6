// SPDX-License-Identifier: MIT
//! Row by row (images, 6).

use super::{LINE, Position};
use crate::descriptor::{MAX_SIZE, MAX_STRIDE, check_count, stride_field};
use crate::error::{Result, illegal};
use crate::format::Element;

const NAME: &str = "linear image";

/// A linear image: one level, one layer, one sample, no blocks (images, 6; HW, the exclusions INFERRED).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Linear {
    width: u32,
    height: u32,
    bytes: u32,
    stride: u32,
}

impl Linear {
    /// An image of `width` by `height` texels whose rows begin every `stride` bytes.
    ///
    /// # Errors
    /// When an axis is not in 1..=16384, elements are blocks, the stride is not a multiple of 16 in
    /// 16..=0x100000, or a row does not fit in it.
    pub fn new(width: u32, height: u32, element: Element, stride: u32) -> Result<Linear> {
        check_count(NAME, "width", width, MAX_SIZE)?;
        check_count(NAME, "height", height, MAX_SIZE)?;
        if element.is_block() {
            let texels = u64::from(element.width) * u64::from(element.height);
            return illegal(NAME, "texels of an element", texels, "1");
        }
        let bytes = u32::from(element.bytes);
        stride_field(NAME, stride)?;
        if bytes == 0 || stride < width * bytes {
            let legal = "at least the bytes of a row";
            return illegal(NAME, "row stride", stride.into(), legal);
        }
        Ok(Linear {
            width,
            height,
            bytes,
            stride,
        })
    }

    /// The stride that older drivers choose: a row's bytes, rounded up to [`LINE`] (images, 6; INFERRED).
    /// `None` when no legal stride holds the row.
    #[must_use]
    pub fn default_stride(width: u32, element: Element) -> Option<u32> {
        let row = width.checked_mul(element.bytes.into())?;
        let stride = row.checked_next_multiple_of(LINE as u32)?;
        (1..=MAX_STRIDE).contains(&stride).then_some(stride)
    }

    /// Bytes from row to row.
    #[must_use]
    pub const fn stride(&self) -> u32 {
        self.stride
    }

    /// Bytes to allocate: whole rows, rounded up to [`LINE`] (images, 6; INFERRED).
    #[must_use]
    pub const fn size(&self) -> u64 {
        (self.height as u64 * self.stride as u64).next_multiple_of(LINE)
    }

    /// Bytes from the image's address to a texel; `None` outside the image.
    #[must_use]
    pub const fn offset(&self, x: u32, y: u32) -> Option<u64> {
        if x >= self.width || y >= self.height {
            return None;
        }
        Some(y as u64 * self.stride as u64 + x as u64 * self.bytes as u64)
    }

    /// The texel whose bytes include the one at `offset`; `None` in padding and outside.
    #[must_use]
    pub fn locate(&self, offset: u64) -> Option<Position> {
        let y = offset / u64::from(self.stride);
        let x = offset % u64::from(self.stride) / u64::from(self.bytes);
        let inside = x < u64::from(self.width) && y < u64::from(self.height);
        inside.then_some(Position {
            x: x as u32,
            y: y as u32,
            ..Position::default()
        })
    }
}
