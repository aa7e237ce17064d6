// SPDX-License-Identifier: MIT
//! Values that a render submit states about its pass, and what kernels derive from them.
//!
//! graphics, 10, 11 and 13. The submit's structure is of the `agx-uapi` crate; here are the fields with a
//! meaning of the hardware's own.

mod samples;
mod zls;

use crate::bits::{Word, flag};
use crate::descriptor::{MAX_LAYERS, MAX_SIZE, check_count};
use crate::error::{Result, illegal};
use crate::launcher::Samples;
use crate::tile;
use crate::window::{CodeAddress, LauncherAddress};

pub use samples::SamplePositions;
pub use zls::{
    BACKGROUND_VALUES, DepthFormat, Surface, Tiling, ZlsControl, clear_depth, clear_stencil,
    compression_stride, compression_stride_of, layer_stride, layer_stride_of, pixels, pixels_of,
    stencil_of,
};

const NAME: &str = "render pass";

/// `ppp_ctrl` (graphics, 11.1; 0x202 HW, single bits INFERRED). The default is 0x202.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PppControl {
    /// The clip volume reaches from -w to w in depth too, as OpenGL's.
    pub opengl_clip: bool,
    /// Clamp w, to the value of the w clamp piece.
    pub w_clamp: bool,
    /// Points whose vertex shader writes no size have one.
    pub default_point_size: bool,
    /// The format of fixed-point coordinates.
    pub fixed_point: bool,
}

impl Default for PppControl {
    fn default() -> PppControl {
        PppControl {
            opengl_clip: false,
            w_clamp: true,
            default_point_size: false,
            fixed_point: true,
        }
    }
}

impl PppControl {
    /// The value.
    #[must_use]
    pub const fn pack(self) -> u32 {
        flag(0, self.opengl_clip)
            | flag(1, self.w_clamp)
            | flag(8, self.default_point_size)
            | flag(9, self.fixed_point)
    }

    /// What a value means.
    ///
    /// # Errors
    /// When a bit is set that is not known.
    pub fn unpack(value: u32) -> Result<PppControl> {
        let mut word = Word::new("ppp_ctrl", value);
        let control = PppControl {
            opengl_clip: word.flag(0),
            w_clamp: word.flag(1),
            default_point_size: word.flag(8),
            fixed_point: word.flag(9),
        };
        word.finish()?;
        Ok(control)
    }
}

/// `isp_merge_upper_x` and `_y` of a framebuffer with so many pixels on the axis: tan 60° divided by
/// it, as bits of a float (graphics, 11.1; HW). 0 pixels count as 1.
#[must_use]
pub fn merge_upper(pixels: u16) -> u32 {
    (1.732_051 / f32::from(pixels.max(1))).to_bits()
}

/// What a kernel looks at to program a pass (graphics, 11.2; HW).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pass {
    /// Pixels in a row, 1..=16384.
    pub width: u16,
    /// Rows, 1..=16384.
    pub height: u16,
    /// Layers, 1..=2048.
    pub layers: u16,
    /// Samples of a pixel.
    pub samples: Samples,
    /// Bytes of tile memory of a sample.
    pub sample_size: u8,
    /// Flag bit 1: tiles without primitives run the tile programs too.
    pub process_empty_tiles: bool,
    /// Flag bit 18: depth bias by the formula for integer formats.
    pub integer_depth_bias: bool,
}

impl Pass {
    /// Refuses what no kernel accepts.
    ///
    /// # Errors
    /// When a size is out of range, or a tile takes more than 64 blocks.
    pub fn check(&self) -> Result<()> {
        check_count(NAME, "width", self.width.into(), MAX_SIZE)?;
        check_count(NAME, "height", self.height.into(), MAX_SIZE)?;
        check_count(NAME, "layers", self.layers.into(), MAX_LAYERS)?;
        if self.blocks() > tile::MAX_BLOCKS {
            let blocks = self.blocks().into();
            return illegal(NAME, "blocks of tile memory", blocks, "0..=64");
        }
        Ok(())
    }

    /// Blocks of tile memory.
    #[must_use]
    pub const fn blocks(&self) -> u32 {
        tile::blocks(self.samples, self.sample_size)
    }

    /// The register of tile memory.
    #[must_use]
    pub const fn tile_memory(&self) -> u32 {
        let blocks = self.blocks();
        match self.samples {
            Samples::One => blocks & 63,
            samples => (samples.count() * if blocks > 32 { 2 } else { 1 }) << 16 | blocks & 63,
        }
    }

    /// The utile configuration.
    #[must_use]
    pub const fn utile_config(&self) -> u32 {
        let [width, height] = tile::size(self.samples);
        (width as u32 / 16) << 12 | (height as u32 / 16) << 14 | self.samples.count().ilog2()
    }

    /// The tile configuration.
    #[must_use]
    pub const fn tile_config(&self) -> u32 {
        0x280 | flag(0, self.layers > 1) | flag(16, self.process_empty_tiles)
    }

    /// 32×32-pixel tiles on either axis.
    #[must_use]
    pub const fn tiles(&self) -> [u32; 2] {
        [
            (self.width as u32).div_ceil(32),
            (self.height as u32).div_ceil(32),
        ]
    }

    /// The screen word.
    #[must_use]
    pub const fn screen(&self) -> u32 {
        let [x, y] = self.tiles();
        y.saturating_sub(1) << 12 | x.saturating_sub(1)
    }

    /// The pixel word.
    #[must_use]
    pub const fn pixels(&self) -> u32 {
        (self.height as u32).saturating_sub(1) << 16 | (self.width as u32).saturating_sub(1)
    }

    /// Macro tiles on either axis.
    #[must_use]
    pub const fn macro_tiles(&self) -> [u32; 2] {
        let [x, y] = self.tiles();
        [
            x.div_ceil(4).next_multiple_of(4),
            y.div_ceil(4).next_multiple_of(4),
        ]
    }

    /// Utiles of a tile on either axis.
    const fn utiles(&self) -> [u32; 2] {
        let [width, height] = tile::size(self.samples);
        [32 / width as u32, 32 / height as u32]
    }

    /// Sizes of the lists of the pass.
    #[must_use]
    pub const fn list_sizes(&self) -> [u32; 3] {
        let ([mx, my], [ux, uy]) = (self.macro_tiles(), self.utiles());
        let all = mx * my * ux * uy;
        [(5 * all).div_ceil(4), mx * my, 2 * all]
    }

    /// The macro word.
    #[must_use]
    pub const fn macro_word(&self) -> u32 {
        let ([mx, my], [ux, uy]) = (self.macro_tiles(), self.utiles());
        (my * uy) | (mx * ux) << 16
    }

    /// The layer word.
    #[must_use]
    pub const fn layer_word(&self) -> u32 {
        match self.layers {
            0 | 1 => 0x8000,
            layers => 0xe000 | (layers as u32 - 1),
        }
    }

    /// The word of the depth-bias mode.
    #[must_use]
    pub const fn depth_bias_mode(&self) -> u32 {
        0xc000 | flag(18, self.integer_depth_bias)
    }
}

/// `usc` of a tile program: background, end-of-tile, or one of a partial render (graphics, 4.5, 9.1; HW).
/// Its `rsrc_spec` is 0.
#[must_use]
pub const fn program(launcher: LauncherAddress) -> u32 {
    launcher.code().offset()
}

/// The launcher that a `usc` names; `None` for 0, which is no program.
///
/// # Errors
/// When it is not a multiple of 64: the tags of older parts are not used (graphics, 9.1; HW).
pub fn program_of(usc: u32) -> Result<Option<LauncherAddress>> {
    match usc {
        0 => Ok(None),
        _ => LauncherAddress::new(CodeAddress::from_offset(usc)).map(Some),
    }
}

/// The bind word of a background program; 0 for none (graphics, 11.2; HW). That of an end-of-tile program
/// is its `rsrc_spec`.
#[must_use]
pub const fn background_bind(usc: u32, rsrc_spec: u32) -> u64 {
    match usc {
        0 => 0,
        _ => 0xffff_8000_0000_0000 | rsrc_spec as u64,
    }
}
