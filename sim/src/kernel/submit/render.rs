// SPDX-License-Identifier: MIT
//! Fields and coverage of a render command (kernel-uapi, 12; for the A18 Pro 16).

use std::ops::Range;

use agx_uapi::abi::{BgEot, CmdRender, HelperProgram, RenderFlags, ZlsBuffer, limits};
use agx_uapi::{Chip, Errno};

use super::compute::check_samplers;
use crate::memory::{Access, Mappings};

/// Pools in the kernel window (firmware-abi, 13). Every window has room for them; VM_CREATE sees to
/// that.
const _: () = assert!(limits::VM_KERNEL_MIN_SIZE >= 0x6ab_8000);

fn require(condition: bool) -> Result<(), Errno> {
    if condition {
        Ok(())
    } else {
        Err(Errno::EINVAL)
    }
}

/// The checks of one command.
pub(super) fn check(
    command: &CmdRender,
    chip: Chip,
    kernel: &Range<u64>,
    mappings: &Mappings,
) -> Result<(), Errno> {
    if chip == Chip::M4 {
        check_placement(kernel)?;
    }
    let known = RenderFlags::PROCESS_EMPTY_TILES | RenderFlags::DBIAS_IS_INT;
    let helpers = [command.vertex_helper, command.fragment_helper];
    if !known.contains(command.flags) || helpers != [HelperProgram::default(); 2] {
        return Err(chip.unsupported_field());
    }
    check_stream(command.vdm_ctrl_stream_base, chip, mappings)?;
    require(command.isp_scissor_base != 0)?;
    for (base, access) in [
        (command.isp_scissor_base, Access::Read),
        (command.isp_dbias_base, Access::Read),
        (command.isp_oclqry_base, Access::Write),
    ] {
        require(base == 0 || (base.is_multiple_of(8) && mappings.covers(base, 8, access)))?;
    }
    require((1..=limits::MAX_RENDER_SIZE).contains(&command.width_px))?;
    require((1..=limits::MAX_RENDER_SIZE).contains(&command.height_px))?;
    require((1..=limits::MAX_LAYERS).contains(&command.layers))?;
    check_surface(&command.depth, command.layers, mappings)?;
    check_surface(&command.stencil, command.layers, mappings)?;
    check_samplers(
        command.sampler_heap,
        u32::from(command.sampler_count),
        mappings,
    )?;
    check_tile(command, chip)?;
    check_programs(command, chip, mappings)
}

/// The kernel window must lie where the render context reaches it (kernel-uapi, 7.1; firmware-abi,
/// 13).
fn check_placement(kernel: &Range<u64>) -> Result<(), Errno> {
    let context = limits::RENDER_CONTEXT;
    require(
        kernel.start >= context.start
            && kernel.start + limits::RENDER_KERNEL_MIN_SIZE <= kernel.end.min(context.end),
    )
}

fn check_stream(base: u64, chip: Chip, mappings: &Mappings) -> Result<(), Errno> {
    let context = limits::RENDER_CONTEXT;
    let inside = match chip {
        Chip::M4 => context.contains(&base),
        // Low addresses are moved up.
        Chip::A18Pro => base < context.end,
    };
    require(base != 0 && base.is_multiple_of(4) && inside && mappings.covers(base, 4, Access::Read))
}

/// A depth or stencil surface (kernel-uapi, 12.1).
fn check_surface(surface: &ZlsBuffer, layers: u16, mappings: &Mappings) -> Result<(), Errno> {
    if surface.base == 0 {
        return require(*surface == ZlsBuffer::default());
    }
    let more_layers = u64::from(layers) - 1;
    let stride = match surface.stride {
        0 => {
            require(layers == 1)?;
            0
        }
        stride => {
            require(stride & 0x3fff == 1)?;
            (u64::from(stride >> 14) + 1) << 14
        }
    };
    require(mappings.covers(surface.base, stride * more_layers + 1, Access::ReadWrite))?;
    if surface.comp_base == 0 {
        return require(surface.comp_stride == 0);
    }
    require(surface.comp_stride & 0x3fff == 0)?;
    let lines = u64::from(surface.comp_stride >> 14) + 1;
    require(mappings.covers(
        surface.comp_base,
        lines * 0x80 * more_layers + 1,
        Access::ReadWrite,
    ))
}

fn check_tile(command: &CmdRender, chip: Chip) -> Result<(), Errno> {
    let (width, height) = (command.utile_width_px, command.utile_height_px);
    require(matches!((width, height), (32, 32) | (32, 16) | (16, 16)))?;
    require(matches!(command.samples, 1 | 2 | 4))?;
    let pixels = u32::from(width) * u32::from(height);
    let bytes = u32::from(command.sample_size_b) * pixels * u32::from(command.samples);
    require(match chip {
        Chip::M4 => bytes.div_ceil(2048) <= limits::M4_TILE_BYTES / 2048,
        Chip::A18Pro => bytes <= limits::A18_TILE_BYTES,
    })
}

/// The tile programs. The M4 can do without a background; without one it needs none for resuming.
fn check_programs(command: &CmdRender, chip: Chip, mappings: &Mappings) -> Result<(), Errno> {
    let readable = |program: &BgEot| {
        let address = limits::USC_WINDOW.start + u64::from(program.usc & !7);
        program.usc != 0 && mappings.covers(address, 4, Access::Read)
    };
    let optional = |program: &BgEot, may_lack: bool| match program.usc {
        0 => may_lack && program.rsrc_spec == 0,
        _ => readable(program),
    };
    let m4 = chip == Chip::M4;
    require(optional(&command.bg, m4))?;
    require(readable(&command.eot))?;
    require(optional(&command.partial_bg, m4 && command.bg.usc == 0))?;
    require(readable(&command.partial_eot))
}
