// SPDX-License-Identifier: MIT
//! Texels in memory: from coordinates to addresses to bytes, 32 lanes at once.

#![expect(
    clippy::needless_range_loop,
    reason = "lane numbers index several arrays alike"
)]

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, Ordering::Relaxed};

use super::blocks;
use super::record::{Order, Plane, Surface};
use crate::memory::{Access, PAGE_SIZE, Tlb};
use crate::shader::{LANES, Lanes};

/// GPU memory as the texture unit sees it: what is not mapped reads 0 and swallows stores (isa-4, 6.2;
/// HW), but the first such address is remembered for strict mode.
pub struct Memory<'t, 'm> {
    tlb: &'t Tlb<'m>,
    missed: Cell<Option<(u64, u8)>>,
    /// Elements stored and not fenced, when somebody keeps count.
    unfenced: Option<&'t RefCell<HashSet<u64>>>,
    stale: Cell<Option<(u64, u8)>>,
}

impl<'t, 'm> Memory<'t, 'm> {
    /// Through this translation.
    #[must_use]
    pub fn new(tlb: &'t Tlb<'m>) -> Memory<'t, 'm> {
        Memory {
            tlb,
            missed: Cell::new(None),
            unfenced: None,
            stale: Cell::new(None),
        }
    }

    /// Keeps count of the elements that are stored, and of loads that meet one: what a load gets before
    /// a texture fence is the old value (isa-4, 2.1; HW), which this model does not have any more.
    #[must_use]
    pub fn counting(mut self, unfenced: &'t RefCell<HashSet<u64>>) -> Memory<'t, 'm> {
        self.unfenced = Some(unfenced);
        self
    }

    /// The first element that was loaded although its store is not fenced, and the lane.
    #[must_use]
    pub fn stale(&self) -> Option<(u64, u8)> {
        self.stale.get()
    }

    /// The first address that was not mapped, and the lane that wanted it.
    #[must_use]
    pub fn missed(&self) -> Option<(u64, u8)> {
        self.missed.get()
    }

    #[cold]
    #[inline(never)]
    fn miss(&self, va: u64, lane: usize) {
        if self.missed.get().is_none() {
            self.missed.set(Some((va, lane as u8)));
        }
    }

    #[cold]
    #[inline(never)]
    fn count(&self, unfenced: &RefCell<HashSet<u64>>, va: u64, access: Access, lane: usize) {
        if access == Access::Write {
            unfenced.borrow_mut().insert(va);
        } else if self.stale.get().is_none() && unfenced.borrow().contains(&va) {
            self.stale.set(Some((va, lane as u8)));
        }
    }

    /// The host address of each lane's element, for the lanes of `mask`. Elements are aligned to their
    /// size, so none crosses a page.
    #[inline(always)]
    fn each(
        &self,
        mask: u32,
        addresses: &[u64; LANES],
        access: Access,
        mut f: impl FnMut(usize, *mut u8),
    ) {
        // Neighbours mostly share a page.
        let (mut page, mut host) = (u64::MAX, std::ptr::null_mut::<u8>());
        let mut left = mask;
        while left != 0 {
            let lane = left.trailing_zeros() as usize;
            left &= left - 1;
            let va = addresses[lane];
            if let Some(unfenced) = self.unfenced {
                self.count(unfenced, va, access, lane);
            }
            if va / PAGE_SIZE != page {
                match self.tlb.translate(va & !(PAGE_SIZE - 1), access) {
                    Some(found) => (page, host) = (va / PAGE_SIZE, found),
                    None => {
                        self.miss(va, lane);
                        continue;
                    }
                }
            }
            // SAFETY: `host` is the start of the mapped page that `va` is in.
            f(lane, unsafe { host.add((va % PAGE_SIZE) as usize) });
        }
    }

    /// The words of each lane's element of `bytes` bytes.
    #[inline(always)]
    fn read(&self, mask: u32, addresses: &[u64; LANES], bytes: u8) -> [Lanes; 4] {
        let mut out = [Lanes::ZERO; 4];
        // SAFETY (all): `each` hands out addresses inside mapped pages, aligned to the element: image
        // addresses are multiples of 16 and offsets multiples of the element's bytes. Single words
        // are accessed atomically, as everywhere in the simulator.
        match bytes {
            1 => self.each(mask, addresses, Access::Read, |lane, host| {
                // SAFETY: see above.
                out[0].0[lane] = u32::from(unsafe { AtomicU8::from_ptr(host) }.load(Relaxed));
            }),
            2 => self.each(mask, addresses, Access::Read, |lane, host| {
                // SAFETY: see above.
                let half = unsafe { AtomicU16::from_ptr(host.cast()) }.load(Relaxed);
                out[0].0[lane] = u32::from(u16::from_le(half));
            }),
            4 => self.each(mask, addresses, Access::Read, |lane, host| {
                // SAFETY: see above.
                let word = unsafe { AtomicU32::from_ptr(host.cast()) }.load(Relaxed);
                out[0].0[lane] = u32::from_le(word);
            }),
            _ => {
                let words = usize::from(bytes / 4).min(4);
                self.each(mask, addresses, Access::Read, |lane, host| {
                    for word in 0..words {
                        // SAFETY: see above.
                        let host = unsafe { host.cast::<u32>().add(word) };
                        // SAFETY: see above.
                        let value = unsafe { AtomicU32::from_ptr(host) }.load(Relaxed);
                        out[word].0[lane] = u32::from_le(value);
                    }
                });
            }
        }
        out
    }

    /// Stores the words of each lane's element of `bytes` bytes, in ascending order of lanes.
    pub(super) fn write(
        &self,
        mask: u32,
        addresses: &[u64; LANES],
        bytes: u8,
        elements: &[[u32; 4]; LANES],
    ) {
        self.each(mask, addresses, Access::Write, |lane, host| {
            let words = &elements[lane];
            // SAFETY (all): as in `read`, for writing.
            match bytes {
                // SAFETY: see above.
                1 => unsafe { AtomicU8::from_ptr(host) }.store(words[0] as u8, Relaxed),
                // SAFETY: see above.
                2 => unsafe { AtomicU16::from_ptr(host.cast()) }
                    .store((words[0] as u16).to_le(), Relaxed),
                _ => {
                    for (word, value) in words.iter().take(usize::from(bytes / 4)).enumerate() {
                        // SAFETY: see above.
                        let host = unsafe { host.cast::<u32>().add(word) };
                        // SAFETY: see above.
                        unsafe { AtomicU32::from_ptr(host) }.store(value.to_le(), Relaxed);
                    }
                }
            }
        });
    }
}

/// Whole coordinates of a texel in each lane. Lanes that are not asked for may hold anything.
#[derive(Clone, Copy)]
pub struct Position {
    /// Texels from the left.
    pub x: Lanes,
    /// Rows from the top.
    pub y: Lanes,
    /// Layer, face or slice.
    pub layer: Lanes,
}

/// Moves bit i to bit 2i, for 16 bits.
#[inline(always)]
const fn spread(n: u32) -> u32 {
    let n = (n | n << 8) & 0x00ff_00ff;
    let n = (n | n << 4) & 0x0f0f_0f0f;
    let n = (n | n << 2) & 0x3333_3333;
    (n | n << 1) & 0x5555_5555
}

impl Surface {
    /// The address of the element at these coordinates, which count elements.
    #[inline(always)]
    pub(super) fn addresses(&self, plane: &Plane, at: &Position, sample: &Lanes) -> [u64; LANES] {
        let base = self.address.wrapping_add(plane.offset);
        let mut out = [0; LANES];
        match plane.order {
            Order::Rows(stride) => {
                for lane in 0..LANES {
                    let row = u64::from(at.y.0[lane]) * u64::from(stride);
                    let column = u64::from(at.x.0[lane]) * u64::from(self.codec.bytes);
                    out[lane] = base.wrapping_add(row).wrapping_add(column);
                }
            }
            Order::Tiles {
                width_bits,
                height_bits,
                columns,
            } => {
                let shared = width_bits.min(height_bits);
                let low = (1u32 << shared) - 1;
                let (in_row, in_column) = ((1u32 << width_bits) - 1, (1u32 << height_bits) - 1);
                let tile_bits = width_bits + height_bits;
                let mut index = [0u32; LANES];
                for lane in 0..LANES {
                    let (x, y) = (at.x.0[lane], at.y.0[lane]);
                    let tile = (y >> height_bits)
                        .wrapping_mul(columns)
                        .wrapping_add(x >> width_bits);
                    let (x, y) = (x & in_row, y & in_column);
                    let inside = spread(x & low)
                        | spread(y & low) << 1
                        | (x >> shared | y >> shared) << (2 * shared);
                    // At most 2^28 elements in a level.
                    index[lane] = (tile << tile_bits).wrapping_add(inside);
                }
                let pixel = u64::from(self.codec.bytes) * u64::from(self.samples);
                for lane in 0..LANES {
                    let layer = u64::from(at.layer.0[lane]).wrapping_mul(self.layer_stride);
                    let sample = u64::from(sample.0[lane]) * u64::from(self.codec.bytes);
                    out[lane] = base
                        .wrapping_add(layer)
                        .wrapping_add(u64::from(index[lane]) * pixel + sample);
                }
            }
        }
        out
    }

    /// The components of memory of the texels at these coordinates, in the lanes of `mask`, which must
    /// be inside the level.
    #[inline(always)]
    pub fn texels(
        &self,
        memory: &Memory<'_, '_>,
        plane: &Plane,
        mask: u32,
        at: &Position,
        sample: &Lanes,
    ) -> [Lanes; 4] {
        if self.codec.is_compressed() {
            return self.block_texels(memory, plane, mask, at);
        }
        let addresses = self.addresses(plane, at, sample);
        let raw = memory.read(mask, &addresses, self.codec.bytes);
        self.codec.decode(&raw)
    }

    #[inline(never)]
    fn block_texels(
        &self,
        memory: &Memory<'_, '_>,
        plane: &Plane,
        mask: u32,
        at: &Position,
    ) -> [Lanes; 4] {
        let element = self.codec.channels.element();
        let (width, height) = (u32::from(element.width), u32::from(element.height));
        let mut corner = *at;
        for lane in 0..LANES {
            corner.x.0[lane] /= width;
            corner.y.0[lane] /= height;
        }
        let addresses = self.addresses(plane, &corner, &Lanes::ZERO);
        let raw = memory.read(mask, &addresses, self.codec.bytes);
        let mut out = [Lanes::ZERO; 4];
        let mut left = mask;
        while left != 0 {
            let lane = left.trailing_zeros() as usize;
            left &= left - 1;
            let block = std::array::from_fn(|word| raw[word].0[lane]);
            let texel = (at.y.0[lane] % height) * width + at.x.0[lane] % width;
            let components = blocks::texel(&self.codec, block, texel);
            for (out, component) in out.iter_mut().zip(components) {
                out.0[lane] = component;
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::texture::record::{self, Record};
    use agx_hw::format::Format;
    use agx_hw::layout;
    use agx_hw::texture::{Dimension, Levels, Memory as Where, Multisample, Texture, Tiling};

    /// Addresses of whole levels against the layout functions of the other crate.
    #[test]
    fn addresses_are_those_of_the_layout() {
        let cases = [
            (Format::R8Unorm, 300, 37, Dimension::D2, true),
            (
                Format::R8G8Unorm,
                200,
                130,
                Dimension::D2Array { layers: 3 },
                true,
            ),
            (Format::R32Uint, 100, 75, Dimension::D3 { depth: 5 }, true),
            (Format::R16G16B16A16Unorm, 65, 65, Dimension::Cube, false),
            (
                Format::R32G32B32A32Sfloat,
                40,
                33,
                Dimension::CubeArray { cubes: 2 },
                true,
            ),
            (
                Format::R8G8B8A8Unorm,
                70,
                40,
                Dimension::D2MultisampleArray {
                    samples: Multisample::X4,
                    layers: 2,
                },
                false,
            ),
        ];
        for (format, width, mut height, dimension, mipmapped) in cases {
            if matches!(dimension, Dimension::CubeArray { .. }) {
                height = width;
            }
            let mut texture = Texture::tiled(format, dimension, width, height, 0x1000_0000);
            if mipmapped {
                texture.memory = Where::Tiled(Tiling {
                    dimension,
                    levels: Levels::View { first: 1, last: 3 },
                    page_aligned: true,
                    compression: None,
                });
            }
            let mut bytes = [0; 32];
            texture.pack(&mut bytes).unwrap();
            let Record::Valid(view) = record::view(&bytes) else {
                panic!("{texture:?}");
            };
            let reference = texture.layout().unwrap();
            let first = u8::from(mipmapped);
            for (number, plane) in view.surface.planes.iter().enumerate() {
                for lane_sample in 0..view.surface.samples {
                    for layer in 0..plane.depth {
                        for y in 0..plane.height {
                            for x in (0..plane.width).step_by(7) {
                                let at = Position {
                                    x: Lanes::splat(x),
                                    y: Lanes::splat(y),
                                    layer: Lanes::splat(layer),
                                };
                                let sample = Lanes::splat(lane_sample);
                                let got = view.surface.addresses(plane, &at, &sample)[0];
                                let want = reference.offset(layout::Position {
                                    x,
                                    y,
                                    layer,
                                    sample: lane_sample as u8,
                                    level: first + number as u8,
                                });
                                assert_eq!(Some(got - 0x1000_0000), want, "{format:?} {x} {y}");
                            }
                        }
                    }
                }
            }
        }
    }
}
