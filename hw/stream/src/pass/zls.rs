// SPDX-License-Identifier: MIT
//! Loading, storing and clearing of depth and stencil ("ZLS").

use crate::codes::codes;
use crate::descriptor::MAX_SIZE;
use crate::error::{Result, illegal};
use crate::window::PAGE_SIZE;

const NAME: &str = "zls_ctrl";

/// Bits of `isp_bgobjvals` beside the stencil clear value (graphics, 10; OPAQUE).
pub const BACKGROUND_VALUES: u32 = 0x300;
/// Bytes that the strides of compression metadata are multiples of (graphics, 10; HW).
const LINE: u64 = 0x80;
/// Largest value of either stride field.
const MAX_UNITS: u64 = 1 << 18;

codes! {
    /// How a surface lies in memory (graphics, 10; INFERRED codes).
    Tiling, NAME, "0..=1";
    /// Tile by tile ([`layout::Tiled`](crate::layout::Tiled)).
    Tiled = 0,
    /// The order of older parts.
    Twiddled = 1,
}

codes! {
    /// Depth in memory (graphics, 10; HW).
    DepthFormat, NAME, "0 or 2";
    /// 32-bit float.
    Float32 = 0,
    /// 16-bit unorm.
    Unorm16 = 2,
}

/// What happens to a surface at a tile's start and end (graphics, 10; HW for plain tiled ones).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Surface {
    /// Load it; without, the tile begins with the clear value.
    pub load: bool,
    /// Store it.
    pub store: bool,
    /// How it lies in memory when loaded.
    pub load_tiling: Tiling,
    /// How it lies in memory when stored.
    pub store_tiling: Tiling,
    /// It is loaded from compressed memory, whose coding is not known.
    pub load_compressed: bool,
    /// It is stored to compressed memory.
    pub store_compressed: bool,
    /// Samples are resolved into one (unused by the proven driver, INFERRED).
    pub resolve: bool,
}

impl Default for Surface {
    /// Neither loaded nor stored, tiled.
    fn default() -> Surface {
        Surface {
            load: false,
            store: false,
            load_tiling: Tiling::Tiled,
            store_tiling: Tiling::Tiled,
            load_compressed: false,
            store_compressed: false,
            resolve: false,
        }
    }
}

/// Bits of a surface: load, store, load tiling and compression, store tiling and compression, resolve.
type Bits = [u32; 7];
const DEPTH: Bits = [15, 19, 1, 2, 5, 6, 56];
const STENCIL: Bits = [14, 18, 3, 4, 7, 8, 58];

impl Surface {
    const fn pack(self, bits: Bits) -> u64 {
        let flags = [
            self.load,
            self.store,
            self.load_tiling.code() != 0,
            self.load_compressed,
            self.store_tiling.code() != 0,
            self.store_compressed,
            self.resolve,
        ];
        let mut value = 0;
        let mut i = 0;
        while i < flags.len() {
            value |= (flags[i] as u64) << bits[i];
            i += 1;
        }
        value
    }

    /// Clears the bits that it takes.
    fn unpack(value: &mut u64, bits: Bits) -> Result<Surface> {
        let [
            load,
            store,
            load_tiling,
            load_compressed,
            store_tiling,
            store_compressed,
            resolve,
        ] = bits.map(|bit| {
            let set = *value >> bit & 1;
            *value &= !(1 << bit);
            set as u8
        });
        Ok(Surface {
            load: load != 0,
            store: store != 0,
            load_tiling: Tiling::from_code(load_tiling)?,
            store_tiling: Tiling::from_code(store_tiling)?,
            load_compressed: load_compressed != 0,
            store_compressed: store_compressed != 0,
            resolve: resolve != 0,
        })
    }
}

/// `zls_ctrl` (graphics, 10; HW). All 0 without a depth or stencil attachment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ZlsControl {
    /// Depth.
    pub depth: Surface,
    /// Stencil: bytes in a surface of their own.
    pub stencil: Surface,
    /// The format of depth.
    pub format: DepthFormat,
}

impl Default for ZlsControl {
    /// 0.
    fn default() -> ZlsControl {
        ZlsControl {
            depth: Surface::default(),
            stencil: Surface::default(),
            format: DepthFormat::Float32,
        }
    }
}

impl ZlsControl {
    /// The value.
    #[must_use]
    pub const fn pack(self) -> u64 {
        self.depth.pack(DEPTH) | self.stencil.pack(STENCIL) | (self.format.code() as u64) << 25
    }

    /// What a value means.
    ///
    /// # Errors
    /// When a bit is set that is not known, or the format is not.
    pub fn unpack(value: u64) -> Result<ZlsControl> {
        let mut rest = value;
        let control = ZlsControl {
            depth: Surface::unpack(&mut rest, DEPTH)?,
            stencil: Surface::unpack(&mut rest, STENCIL)?,
            format: DepthFormat::from_code((rest >> 25 & 3) as u8)?,
        };
        match rest & !(3 << 25) {
            0 => Ok(control),
            bits => {
                let bit = bits.trailing_zeros();
                illegal(NAME, "reserved bit", bit.into(), "that it is 0")
            }
        }
    }
}

/// `isp_zls_pixels` of a depth or stencil surface (graphics, 10; HW).
///
/// # Errors
/// When an axis is not in 1..=16384.
pub fn pixels(width: u32, height: u32) -> Result<u32> {
    for (field, axis) in [("width", width), ("height", height)] {
        if !(1..=MAX_SIZE).contains(&axis) {
            return illegal("isp_zls_pixels", field, axis.into(), "1..=16384");
        }
    }
    Ok((width - 1) | (height - 1) << 15)
}

/// Width and height of `isp_zls_pixels`.
///
/// # Errors
/// When an axis is above 16384 or a bit behind them is set.
pub fn pixels_of(value: u32) -> Result<[u32; 2]> {
    let size = [(value & 0x7fff) + 1, (value >> 15) + 1];
    pixels(size[0], size[1])?;
    Ok(size)
}

/// The `stride` of a depth or stencil surface with several layers (graphics, 10; HW); with one it may be
/// 0.
///
/// # Errors
/// When the layers' distance is 0, not a multiple of 16 KiB, or above 4 GiB.
pub fn layer_stride(bytes: u64) -> Result<u32> {
    let legal = "a multiple of 0x4000, up to 0x100000000";
    Ok(units("ZLS stride", bytes, PAGE_SIZE, legal)? << 14 | 1)
}

/// The layers' distance in bytes that a `stride` other than 0 states.
///
/// # Errors
/// When the low 14 bits are not 1.
pub fn layer_stride_of(value: u32) -> Result<u64> {
    if value & 0x3fff != 1 {
        let legal = "1 in bits 13:0";
        return illegal("ZLS stride", "value", value.into(), legal);
    }
    Ok((u64::from(value >> 14) + 1) * PAGE_SIZE)
}

/// The `comp_stride` of compression metadata (graphics, 10; HW).
///
/// # Errors
/// When the layers' distance is 0, not a multiple of 128, or above 32 MiB.
pub fn compression_stride(bytes: u64) -> Result<u32> {
    let legal = "a multiple of 0x80, up to 0x2000000";
    Ok(units("ZLS compression stride", bytes, LINE, legal)? << 14)
}

/// The layers' distance in bytes that a `comp_stride` states; 0 is one line.
///
/// # Errors
/// When the low 14 bits are not 0.
pub fn compression_stride_of(value: u32) -> Result<u64> {
    if value & 0x3fff != 0 {
        let legal = "0 in bits 13:0";
        return illegal("ZLS compression stride", "value", value.into(), legal);
    }
    Ok((u64::from(value >> 14) + 1) * LINE)
}

fn units(structure: &'static str, bytes: u64, unit: u64, legal: &'static str) -> Result<u32> {
    if !bytes.is_multiple_of(unit) || !(1..=MAX_UNITS).contains(&(bytes / unit)) {
        return illegal(structure, "bytes", bytes, legal);
    }
    Ok((bytes / unit - 1) as u32)
}

/// `isp_bgobjdepth`: the depth that tiles begin with unless it is loaded, 0..=1 in a unorm format
/// (graphics, 10; HW, rounding INFERRED).
#[must_use]
pub fn clear_depth(format: DepthFormat, depth: f32) -> u32 {
    match format {
        DepthFormat::Float32 => depth.to_bits(),
        // The conversion saturates, and NaN becomes 0.
        DepthFormat::Unorm16 => (depth.clamp(0.0, 1.0) * 65535.0).round_ties_even() as u32,
    }
}

/// `isp_bgobjvals`: the stencil value that tiles begin with unless it is loaded (graphics, 10; HW). 0x300
/// without a stencil attachment.
#[must_use]
pub const fn clear_stencil(stencil: u8) -> u32 {
    BACKGROUND_VALUES | stencil as u32
}

/// The stencil value of `isp_bgobjvals`; kernels set 0x300 themselves (graphics, 11.2; HW).
///
/// # Errors
/// When another bit is set.
pub fn stencil_of(value: u32) -> Result<u8> {
    match value & !(BACKGROUND_VALUES | 0xff) {
        0 => Ok(value as u8),
        bits => {
            let bit = bits.trailing_zeros();
            illegal("isp_bgobjvals", "reserved bit", bit.into(), "that it is 0")
        }
    }
}
