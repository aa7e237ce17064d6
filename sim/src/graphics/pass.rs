// SPDX-License-Identifier: MIT
//! What a render command says about its pass (graphics, 10, 11 and 13).
//!
//! The kernel has checked ranges and coverage. What is left, and what the reference gives no meaning to,
//! faults here: tiles of another size than 32x32 (32x16 with four samples), compressed or twiddled depth
//! and stencil, resolving them, and OpenGL's clip volume.

use agx_hw::launcher::Samples;
use agx_hw::pass::{DepthFormat, PppControl, SamplePositions, Surface, Tiling, ZlsControl};
use agx_hw::window::USC_BASE;
use agx_uapi::abi::{BgEot, CmdRender, RenderFlags, ZlsBuffer};

use super::zls::Plane;
use crate::fault::{Fault, FaultKind};
use crate::shader::fragment::tile;

/// The pass.
#[derive(Debug)]
pub(super) struct Pass {
    /// Pixels of the framebuffer, x and y.
    pub(super) size: [u32; 2],
    pub(super) layers: u32,
    pub(super) samples: usize,
    /// In sixteenths of a pixel.
    pub(super) positions: [[u8; 2]; 4],
    /// Pixels of a tile, x and y.
    pub(super) tile: [u32; 2],
    /// Tiles of a layer, x and y.
    pub(super) tiles: [u32; 2],
    /// Colour words of a sample.
    pub(super) words: usize,
    pub(super) process_empty_tiles: bool,
    /// Depth bias counts in units of an integer format.
    pub(super) integer_bias: bool,
    /// Points have a size although their shader writes none.
    pub(super) default_point_size: bool,
    pub(super) scissors: u64,
    pub(super) biases: u64,
    pub(super) occlusion: u64,
    pub(super) background: Option<u64>,
    pub(super) end_of_tile: u64,
    pub(super) partial_background: Option<u64>,
    pub(super) partial_end_of_tile: u64,
    pub(super) depth_format: tile::DepthFormat,
    pub(super) depth: Plane,
    pub(super) stencil: Plane,
    pub(super) clear_depth: f32,
    pub(super) clear_stencil: u8,
}

impl Pass {
    pub(super) fn new(render: &CmdRender) -> Result<Pass, Box<Fault>> {
        let Some(samples) = Samples::of_count(render.samples.into()) else {
            return Err(refuse(format!("{} samples", render.samples)));
        };
        let wrong = |error: agx_hw::Error| refuse(error.to_string());
        let positions =
            SamplePositions::unpack(samples, render.ppp_multisamplectl).map_err(wrong)?;
        let mut all = [[8; 2]; 4];
        for (to, from) in all.iter_mut().zip(positions.get()) {
            *to = *from;
        }
        let control = PppControl::unpack(render.ppp_ctrl).map_err(wrong)?;
        if control.opengl_clip {
            return Err(refuse(
                "ppp_ctrl: OpenGL's clip volume is not simulated".to_owned(),
            ));
        }
        let tile = agx_hw::tile::size(samples).map(u32::from);
        let utile = [render.utile_width_px, render.utile_height_px].map(u32::from);
        if utile != tile {
            let [width, height] = utile;
            return Err(refuse(format!(
                "tiles of {width}x{height} pixels with {} samples (graphics, 8)",
                render.samples
            )));
        }
        let zls = ZlsControl::unpack(render.zls_ctrl.bits()).map_err(wrong)?;
        let surface = [
            render.isp_zls_pixels & 0x7fff,
            render.isp_zls_pixels >> 15 & 0x7fff,
        ]
        .map(|pixels| pixels + 1);
        let plane = |control: Surface, buffer: &ZlsBuffer, name, bytes| -> Result<_, Box<Fault>> {
            check_surface(control, buffer, name)?;
            Ok(Plane {
                base: buffer.base,
                layer_stride: (u64::from(buffer.stride >> 14) + 1) << 14,
                load: control.load,
                store: control.store,
                size: surface,
                bytes,
                samples,
            })
        };
        let (depth_format, depth_bytes) = match zls.format {
            DepthFormat::Float32 => (tile::DepthFormat::Float32, 4),
            DepthFormat::Unorm16 => (tile::DepthFormat::Unorm16, 2),
        };
        let program = |program: &BgEot| {
            let address = USC_BASE + u64::from(program.usc & !7);
            (program.usc != 0).then_some(address)
        };
        let size = [render.width_px, render.height_px].map(u32::from);
        Ok(Pass {
            size,
            layers: render.layers.into(),
            samples: samples.count() as usize,
            positions: all,
            tile,
            tiles: [0, 1].map(|axis| size[axis].div_ceil(tile[axis])),
            words: 2 * usize::from(render.sample_size_b).div_ceil(8),
            process_empty_tiles: render.flags.contains(RenderFlags::PROCESS_EMPTY_TILES),
            integer_bias: render.flags.contains(RenderFlags::DBIAS_IS_INT),
            default_point_size: control.default_point_size,
            scissors: render.isp_scissor_base,
            biases: render.isp_dbias_base,
            occlusion: render.isp_oclqry_base,
            background: program(&render.bg),
            end_of_tile: program(&render.eot).unwrap_or(USC_BASE),
            partial_background: program(&render.partial_bg),
            partial_end_of_tile: program(&render.partial_eot).unwrap_or(USC_BASE),
            depth_format,
            depth: plane(zls.depth, &render.depth, "depth", depth_bytes)?,
            stencil: plane(zls.stencil, &render.stencil, "stencil", 1)?,
            clear_depth: match zls.format {
                DepthFormat::Float32 => f32::from_bits(render.isp_bgobjdepth),
                DepthFormat::Unorm16 => (render.isp_bgobjdepth & 0xffff) as f32 / 65535.0,
            },
            clear_stencil: render.isp_bgobjvals as u8,
        })
    }

    /// Number of a tile: layer by layer, row by row.
    pub(super) fn tile_index(&self, x: u32, y: u32, layer: u32) -> u64 {
        let [width, height] = self.tiles.map(u64::from);
        (u64::from(layer) * height + u64::from(y)) * width + u64::from(x)
    }

    /// Column, row and layer of a tile.
    pub(super) fn tile_place(&self, index: u64) -> [u32; 3] {
        let [width, height] = self.tiles.map(u64::from);
        [
            (index % width) as u32,
            (index / width % height) as u32,
            (index / (width * height)) as u32,
        ]
    }

    /// Tiles of all layers.
    pub(super) fn tile_count(&self) -> u64 {
        self.tile_index(0, 0, self.layers)
    }
}

fn check_surface(control: Surface, buffer: &ZlsBuffer, name: &str) -> Result<(), Box<Fault>> {
    let twiddled = control.load && control.load_tiling == Tiling::Twiddled
        || control.store && control.store_tiling == Tiling::Twiddled;
    let reason = if control.load_compressed || control.store_compressed || buffer.comp_base != 0 {
        "compressed surfaces are not known (graphics, 10)"
    } else if twiddled {
        "twiddled surfaces are not known (graphics, 10)"
    } else if control.resolve {
        "resolving is not known (graphics, 10)"
    } else if (control.load || control.store) && buffer.base == 0 {
        "loaded or stored without a surface"
    } else {
        return Ok(());
    };
    Err(refuse(format!("{name}: {reason}")))
}

#[cold]
fn refuse(reason: String) -> Box<Fault> {
    Box::new(Fault::new(FaultKind::Pass(reason)))
}
