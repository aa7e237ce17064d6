// SPDX-License-Identifier: MIT
//! Payload of a render command (section 12).

use super::Timestamps;
use super::layout::{abi_flags, abi_struct};

abi_struct! {
    /// One render pass: a VDM stream, the tile geometry, tile programs and depth/stencil surfaces.
    pub struct CmdRender = "drm_asahi_cmd_render", 240 {
        /// Options.
        0x00 => flags: RenderFlags,
        /// Size of the depth/stencil surface: (width - 1) | (height - 1) << 15.
        0x04 => isp_zls_pixels: u32,
        /// First word of the VDM stream; 4-byte aligned, in the render context's 4 GiB on the M4
        /// ([`RENDER_CONTEXT`](super::limits::RENDER_CONTEXT)).
        0x08 => vdm_ctrl_stream_base: u64,
        /// Must be all zero.
        0x10 => vertex_helper: HelperProgram,
        /// Must be all zero.
        0x20 => fragment_helper: HelperProgram,
        /// Array of scissor descriptors; mandatory, 8-byte aligned.
        0x30 => isp_scissor_base: u64,
        /// Array of depth-bias values, 8-byte aligned, or 0.
        0x38 => isp_dbias_base: u64,
        /// Visibility results, 8-byte aligned, writable, or 0.
        0x40 => isp_oclqry_base: u64,
        /// Depth surface.
        0x48 => depth: ZlsBuffer,
        /// Stencil surface.
        0x60 => stencil: ZlsBuffer,
        /// Which surfaces are loaded and stored, and how.
        0x78 => zls_ctrl: ZlsControl,
        /// Sample positions; 0x88 (1 sample), 0x44cc (2), 0xeaa26e26 (4) are the standard ones.
        0x80 => ppp_multisamplectl: u64,
        /// Array of 8-byte sampler states, or 0.
        0x88 => sampler_heap: u64,
        /// Point size, w clamp and fixed-point format; 0x202 is known to work.
        0x90 => ppp_ctrl: u32,
        /// Width in pixels, 1 to 16384.
        0x94 => width_px: u16,
        /// Height in pixels, 1 to 16384.
        0x96 => height_px: u16,
        /// Layers, 1 to 2048.
        0x98 => layers: u16,
        /// Sampler states behind `sampler_heap`, 0 to 1024; 0 exactly when that is 0.
        0x9a => sampler_count: u16,
        /// Tile width: 32x32, 32x16 or 16x16 pixels.
        0x9c => utile_width_px: u8,
        /// Tile height.
        0x9d => utile_height_px: u8,
        /// Samples per pixel: 1, 2 or 4.
        0x9e => samples: u8,
        /// Tile memory per sample in bytes; `sample_size_B` in the header.
        0x9f => sample_size_b: u8,
        /// Float bits of tan(60 degrees) / width. (The header's text multiplies; both drivers and
        /// the proven user space divide.)
        0xa0 => isp_merge_upper_x: u32,
        /// Float bits of tan(60 degrees) / height.
        0xa4 => isp_merge_upper_y: u32,
        /// Background program; all zero for none.
        0xa8 => bg: BgEot,
        /// End-of-tile program.
        0xb0 => eot: BgEot,
        /// Reloads the tile when an interrupted pass goes on.
        0xb8 => partial_bg: BgEot,
        /// Stores the tile when a pass is interrupted.
        0xc0 => partial_eot: BgEot,
        /// Depth clear value in the surface's format.
        0xc8 => isp_bgobjdepth: u32,
        /// Stencil clear value in bits 7:0.
        0xcc => isp_bgobjvals: u32,
        /// Timestamps around the vertex work.
        0xd0 => ts_vtx: Timestamps,
        /// Timestamps around the fragment work.
        0xe0 => ts_frag: Timestamps,
    }
}

impl CmdRender {
    /// [`isp_merge_upper_x`](Self::isp_merge_upper_x) for a width in pixels, or the y field for a
    /// height: the float bits of 1.732051 / `pixels`, which the kernels compute themselves when the
    /// field is 0 (section 12).
    #[must_use]
    pub const fn merge_upper(pixels: u16) -> u32 {
        (1.732_051_f32 / pixels as f32).to_bits()
    }

    /// [`isp_zls_pixels`](Self::isp_zls_pixels) for a depth/stencil surface of 1 to 32768 pixels
    /// each way (section 12).
    #[must_use]
    pub const fn zls_pixels(width: u16, height: u16) -> u32 {
        debug_assert!(width >= 1 && height >= 1 && width <= 1 << 15 && height <= 1 << 15);
        (width as u32 - 1) | (height as u32 - 1) << 15
    }
}

abi_flags! {
    /// Flags of [`CmdRender`]. The Apple9 kernels accept `PROCESS_EMPTY_TILES` and `DBIAS_IS_INT`
    /// only.
    pub struct RenderFlags: u32 {
        /// Vertex shaders use scratch memory. Not accepted.
        const VERTEX_SCRATCH = 1 << 0;
        /// Run the tile programs of tiles that no primitive touches; needed when clearing.
        const PROCESS_EMPTY_TILES = 1 << 1;
        /// Keep vertex work on one cluster. Not accepted.
        const NO_VERTEX_CLUSTERING = 1 << 2;
        /// Apply the header's `vdm_barrier` before fragments instead of before tiling; needs
        /// [`Features::FRAGMENT_BARRIER`](super::Features) (section 11.5). Not accepted.
        const VDM_BARRIER_FRAGMENT = 1 << 3;
        /// Depth bias follows the formula for integer surfaces.
        const DBIAS_IS_INT = 1 << 18;
    }
}

abi_flags! {
    /// Bits of [`CmdRender::zls_ctrl`] established on G17P (section 12.1). The kernel forwards the
    /// value unchecked, so other bits are kept.
    pub struct ZlsControl: u64 {
        /// The loaded depth surface is compressed.
        const DEPTH_LOAD_COMPRESSED = 1 << 2;
        /// The loaded stencil surface is compressed.
        const STENCIL_LOAD_COMPRESSED = 1 << 4;
        /// The stored depth surface is compressed.
        const DEPTH_STORE_COMPRESSED = 1 << 6;
        /// The stored stencil surface is compressed.
        const STENCIL_STORE_COMPRESSED = 1 << 8;
        /// Load stencil.
        const LOAD_STENCIL = 1 << 14;
        /// Load depth.
        const LOAD_DEPTH = 1 << 15;
        /// Store stencil.
        const STORE_STENCIL = 1 << 18;
        /// Store depth.
        const STORE_DEPTH = 1 << 19;
    }
}

abi_struct! {
    /// A depth or stencil surface (section 12.1); all zero when absent.
    pub struct ZlsBuffer = "drm_asahi_zls_buffer", 24 {
        /// Address of the surface.
        0 => base: u64,
        /// Address of its compression metadata, or 0.
        8 => comp_base: u64,
        /// 0 for one layer, else (16 KiB pages per layer - 1) << 14 | 1.
        16 => stride: u32,
        /// (128-byte lines of metadata per layer - 1) << 14.
        20 => comp_stride: u32,
    }
}

abi_struct! {
    /// A background or end-of-tile program (section 12).
    pub struct BgEot = "drm_asahi_bg_eot", 8 {
        /// Offset in the shader window, with tag bits in 2:0 (0 on Apple9).
        0 => usc: u32,
        /// Resource specifier.
        4 => rsrc_spec: u32,
    }
}

abi_struct! {
    /// A helper program of older parts. The Apple9 kernels supply private memory themselves and
    /// accept only zeros (section 12.2).
    pub struct HelperProgram = "drm_asahi_helper_program", 16 {
        /// Shader address.
        0 => binary: u32,
        /// Configuration.
        4 => cfg: u32,
        /// Argument.
        8 => data: u64,
    }
}
