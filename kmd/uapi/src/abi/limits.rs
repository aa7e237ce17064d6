// SPDX-License-Identifier: MIT
//! Sizes, windows and counts of the interface.

use core::ops::Range;

/// The GPU's page and the granule of every mapping, in bytes (chapter head).
pub const PAGE_SIZE: u64 = 0x4000;

/// Name by which user space recognises the driver (section 2).
pub const DRIVER_NAME: &str = "asahi";

/// First valid address (section 5.1, `vm_start`).
pub const VM_START: u64 = 0x4000;
/// End of the valid addresses (section 5.1, `vm_end`).
pub const VM_END: u64 = 0x3ff_ffff_8000;
/// Smallest kernel window of a VM, in bytes (section 5.1, `vm_kernel_min_size`).
pub const VM_KERNEL_MIN_SIZE: u64 = 0x2000_0000;

/// Shaders: the 4 GiB that 32-bit shader addresses reach (section 7.3).
pub const USC_WINDOW: Range<u64> = 0x100_0000_0000..0x101_0000_0000;

/// The M4's render context: VDM streams and the kernel window lie here (sections 7.1, 12).
pub const RENDER_CONTEXT: Range<u64> = 0x10_0000_0000..0x11_0000_0000;
/// Where user space puts the kernel window (sections 7.1, 7.6): the top of [`RENDER_CONTEXT`].
pub const KERNEL_WINDOW: Range<u64> = 0x10_e000_0000..0x11_0000_0000;
/// What the M4 needs of the kernel window inside [`RENDER_CONTEXT`] for a render, in bytes
/// (section 7.1).
pub const RENDER_KERNEL_MIN_SIZE: u64 = 0x35d_4000;
/// By how much the A18 Pro moves low addresses of render work up (sections 7.2, 16).
pub const A18_RENDER_SHADOW: u64 = 0x10_0000_0000;

/// Bytes of [`ParamsGlobal`](super::ParamsGlobal) that GET_PARAMS copies at most (section 5).
pub const PARAMS_SIZE: u64 = 592;
/// Timestamps per second (section 5.1).
pub const TIMESTAMP_FREQUENCY_HZ: u64 = 1_000_000_000;
/// Aperture of all timestamp objects of the device, in bytes (section 9).
pub const TIMESTAMP_APERTURE_SIZE: u64 = 64 << 20;

/// Most records of a VM_BIND on the M4 (section 7.5).
pub const MAX_BINDS: u32 = 4096;
/// Most bytes of a VM_BIND's records on the M4 (section 7.5).
pub const MAX_BIND_BYTES: u64 = 1 << 20;

/// Most hardware commands of a submit (sections 5.1, 11.3).
pub const MAX_COMMANDS: u32 = 64;
/// Most records of an attachment command (sections 5.1, 11.6).
pub const MAX_ATTACHMENTS: u32 = 16;
/// Most sync records of a submit in each direction on the M4 (section 11.1).
pub const MAX_SYNCS: u32 = 4096;
/// Most bytes of a command buffer on the M4 (section 11.1).
pub const MAX_COMMAND_BYTES: u32 = 1 << 20;

/// Largest width and height of a render in pixels (section 12).
pub const MAX_RENDER_SIZE: u16 = 16384;
/// Most layers of a render (section 12).
pub const MAX_LAYERS: u16 = 2048;
/// Most sampler states of a command (sections 12, 13).
pub const MAX_SAMPLERS: u32 = 1024;
/// Tile memory of one tile, in bytes, on the M4: 64 blocks of 2048, what the hardware has (graphics, 11.2).
/// The first revision of its kernel driver, of section 12, takes no more than 32.
pub const M4_TILE_BYTES: u32 = 64 * 2048;
/// Tile memory of one tile, in bytes, on the A18 Pro (section 16).
pub const A18_TILE_BYTES: u32 = 32768;

/// VMs that may have rendered, on the M4; the next first render fails with ENOSPC (section 15).
pub const MAX_RENDERING_VMS: u32 = 57;

/// Addresses that VM_BIND refuses on the M4.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reserved {
    /// The addresses.
    pub range: Range<u64>,
    /// What the kernel keeps there.
    pub what: &'static str,
}

const fn reserved(start: u64, size: u64, what: &'static str) -> Reserved {
    Reserved {
        range: start..start + size,
        what,
    }
}

const fn tiler_block(index: u64) -> Reserved {
    reserved(
        0x10_0008_8000 + index * 0x2_8000,
        0x2_0000,
        "tiler memory block",
    )
}

/// The M4's reserved addresses (section 7.2), ascending and disjoint. Besides these VM_BIND refuses
/// the VM's own kernel window and what is outside [`VM_START`]`..`[`VM_END`].
pub static M4_RESERVED: [Reserved; 22] = [
    reserved(0x10_0008_0000, 0x4000, "tiler scene slot words"),
    tiler_block(0),
    tiler_block(1),
    tiler_block(2),
    tiler_block(3),
    tiler_block(4),
    tiler_block(5),
    tiler_block(6),
    tiler_block(7),
    tiler_block(8),
    tiler_block(9),
    tiler_block(10),
    reserved(0x10_0024_0000, 0x4000, "tiler scene records"),
    reserved(0x10_0025_8000, 0x1_c000, "tiler page list"),
    reserved(0x10_00c6_0000, 0x4000, "compute marker page"),
    reserved(0x70_0000_0000, 0x40_0000, "boot private-memory directory"),
    reserved(0x70_0040_8000, 0x1_0000, "boot private-memory group table"),
    reserved(0x70_0042_0000, 0x289_8000, "boot private-memory buffers"),
    reserved(0x70_02cc_0000, 0x1_8000, "compute private-memory directory"),
    reserved(0x70_030e_0000, 0x2_0000, "compute scratch"),
    reserved(0x70_0310_8000, 0x207_8000, "compute private-memory buffers"),
    reserved(
        0x71_0000_0000,
        0x2_0000_0000,
        "register and save-area aliases",
    ),
];

/// The first entry of [`M4_RESERVED`] that `range` touches.
#[must_use]
pub fn m4_reserved(range: &Range<u64>) -> Option<&'static Reserved> {
    M4_RESERVED
        .iter()
        .find(|r| r.range.start < range.end && range.start < r.range.end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserved_ranges_ascend_in_pages() {
        for r in &M4_RESERVED {
            assert!(r.range.start < r.range.end, "{r:x?}");
            assert_eq!((r.range.start | r.range.end) % PAGE_SIZE, 0, "{r:x?}");
        }
        for pair in M4_RESERVED.windows(2) {
            assert!(pair[0].range.end <= pair[1].range.start, "{pair:x?}");
        }
    }

    /// Ends that section 7.2 states, and addresses just outside.
    #[test]
    fn reserved_ranges_end_where_the_reference_says() {
        let page = |addr: u64| m4_reserved(&(addr..addr + PAGE_SIZE)).map(|r| r.what);
        assert_eq!(page(0x10_0007_c000), None);
        assert_eq!(page(0x10_0008_4000), None);
        // The last of the eleven blocks begins at 0x10_0008_8000 + 10 * 0x2_8000.
        assert_eq!(page(0x10_0021_8000), Some("tiler memory block"));
        assert_eq!(page(0x10_0023_4000), Some("tiler memory block"));
        assert_eq!(page(0x10_0023_8000), None);
        assert_eq!(page(0x10_0027_0000), Some("tiler page list"));
        assert_eq!(page(0x10_0027_4000), None);
        assert_eq!(page(0x70_003f_c000), Some("boot private-memory directory"));
        assert_eq!(page(0x70_0040_0000), None);
        assert_eq!(
            page(0x70_0041_4000),
            Some("boot private-memory group table")
        );
        assert_eq!(page(0x70_0041_8000), None);
        assert_eq!(page(0x70_02cb_4000), Some("boot private-memory buffers"));
        assert_eq!(page(0x70_02cb_8000), None);
        assert_eq!(page(0x70_0517_c000), Some("compute private-memory buffers"));
        assert_eq!(page(0x70_0518_0000), None);
        assert_eq!(page(0x70_ffff_c000), None);
        assert_eq!(page(0x72_ffff_c000), Some("register and save-area aliases"));
        assert_eq!(page(0x73_0000_0000), None);
        assert_eq!(
            m4_reserved(&(0..u64::MAX)).map(|r| r.range.start),
            Some(0x10_0008_0000)
        );
    }
}
