// SPDX-License-Identifier: MIT
//! Depth and stencil surfaces: loading them into a tile and storing them (graphics, 10).
//!
//! A surface is a tiled image of one level with elements of 4, 2 or 1 bytes, sample by sample (images, 7);
//! a level of a larger image is found by its address alone. Its size may differ from the framebuffer's:
//! pixels outside it start from the clear value and are not stored (INFERRED).

use agx_hw::format::Element;
use agx_hw::launcher::Samples;
use agx_hw::layout::{Image, Position, Stack, Tiled};

use crate::memory::{Access, Tlb};
use crate::shader::fragment::tile::Tile;

/// A surface, and what is to be done with it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plane {
    /// 0 when there is none.
    pub(super) base: u64,
    pub(super) layer_stride: u64,
    pub(super) load: bool,
    pub(super) store: bool,
    pub(super) size: [u32; 2],
    pub(super) bytes: u8,
    pub(super) samples: Samples,
}

impl Plane {
    /// Where its elements lie.
    pub(super) fn layout(&self) -> Result<Tiled, agx_hw::Error> {
        Tiled::new(Image {
            width: self.size[0],
            height: self.size[1],
            stack: Stack::Layers(1),
            element: Element::texel(self.bytes),
            samples: self.samples,
            mipmapped: false,
            page_aligned: false,
        })
    }

    /// Calls `f` with the host address of every element of a tile that is mapped, and its index in the
    /// tile; answers the first address that is not.
    fn each(
        &self,
        layout: &Tiled,
        tile: &Tile,
        tlb: &Tlb<'_>,
        access: Access,
        mut f: impl FnMut(*mut u8, usize),
    ) -> Option<u64> {
        let mut unmapped = None;
        let base = self.base + self.layer_stride * u64::from(tile.layer);
        let [left, top] = tile.origin;
        for y in top..(top + tile.size[1]).min(self.size[1]) {
            for x in left..(left + tile.size[0]).min(self.size[0]) {
                let place = tile.place(x, y);
                for sample in 0..tile.samples {
                    let at = Position {
                        x,
                        y,
                        layer: 0,
                        sample: sample as u8,
                        level: 0,
                    };
                    let Some(offset) = layout.offset(at) else {
                        continue;
                    };
                    let va = base + offset;
                    match tlb.translate(va, access) {
                        Some(host) => f(host, sample * tile.pixels() + place),
                        None => unmapped = unmapped.or(Some(va)),
                    }
                }
            }
        }
        unmapped
    }

    pub(super) fn load_depth(&self, layout: &Tiled, tile: &mut Tile, tlb: &Tlb<'_>) -> Option<u64> {
        let mut depth = std::mem::take(&mut tile.depth);
        let wide = self.bytes == 4;
        let unmapped = self.each(layout, tile, tlb, Access::Read, |host, at| {
            // SAFETY: an element is aligned to its size and lies in the page that was translated.
            depth[at] = unsafe {
                match wide {
                    true => host.cast::<f32>().read_unaligned(),
                    false => f32::from(host.cast::<u16>().read_unaligned()) / 65535.0,
                }
            };
        });
        tile.depth = depth;
        unmapped
    }

    pub(super) fn store_depth(&self, layout: &Tiled, tile: &Tile, tlb: &Tlb<'_>) -> Option<u64> {
        let wide = self.bytes == 4;
        self.each(layout, tile, tlb, Access::Write, |host, at| {
            let depth = tile.depth[at];
            // SAFETY: as in `load_depth`.
            unsafe {
                match wide {
                    true => host.cast::<f32>().write_unaligned(depth),
                    false => {
                        let unorm = (depth * 65535.0).round_ties_even() as u16;
                        host.cast::<u16>().write_unaligned(unorm);
                    }
                }
            }
        })
    }

    pub(super) fn load_stencil(
        &self,
        layout: &Tiled,
        tile: &mut Tile,
        tlb: &Tlb<'_>,
    ) -> Option<u64> {
        let mut stencil = std::mem::take(&mut tile.stencil);
        let unmapped = self.each(layout, tile, tlb, Access::Read, |host, at| {
            // SAFETY: in the page that was translated.
            stencil[at] = unsafe { host.read() };
        });
        tile.stencil = stencil;
        unmapped
    }

    pub(super) fn store_stencil(&self, layout: &Tiled, tile: &Tile, tlb: &Tlb<'_>) -> Option<u64> {
        self.each(layout, tile, tlb, Access::Write, |host, at| {
            // SAFETY: in the page that was translated.
            unsafe { host.write(tile.stencil[at]) };
        })
    }
}
