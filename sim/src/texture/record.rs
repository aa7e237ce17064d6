// SPDX-License-Identifier: MIT
//! Records as the texture unit uses them: unpacked, checked, with the places of all levels worked
//! out.
//!
//! What a record means depends on its bytes alone, so every thread remembers what it unpacked last,
//! by address, and compares the bytes: a record that was rewritten is never served stale, and an
//! instruction pays for the unpacking only when it sees a record for the first time.

use std::cell::RefCell;
use std::rc::Rc;

use agx_hw::format::{Source, StoreSwizzle, Swizzle};
use agx_hw::layout;
use agx_hw::sampler::{Filter, LodRange, Sampler};
use agx_hw::store::{self, Store};
use agx_hw::texture::{self, Dimension, Texture};
use arrayvec::ArrayVec;

use super::format::Codec;
use crate::memory::{Access, PAGE_SIZE, Tlb};

/// Bytes from one entry of either table to the next (images, 1; HW).
pub const SLOT_BYTES: u64 = 32;
/// Most levels of an image.
const LEVELS: usize = texture::MAX_LEVELS;

/// What the entry of a table is.
#[derive(Clone, Debug)]
pub enum Record<T> {
    /// Nothing was written there, or nothing is mapped: textures read 0, stores are dropped
    /// (isa-4, 1.1; HW).
    Empty,
    /// A record.
    Valid(T),
    /// What the hardware faults on, or no proven driver writes (images, 10.1): the reason.
    Invalid(String),
}

/// The shape of a texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One or two dimensions, with layers or not.
    Flat,
    /// Slices.
    Volume,
    /// Six faces for each cube.
    Cube,
    /// Samples.
    Multisample,
}

/// Where the elements of a level lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Rows of so many bytes.
    Rows(u32),
    /// Tiles (images, 7.2 and 7.3).
    Tiles {
        /// log2 of the elements in a row of a tile.
        width_bits: u32,
        /// log2 of its rows.
        height_bits: u32,
        /// Tiles in a row.
        columns: u32,
    },
}

/// A level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plane {
    /// Texels in a row.
    pub width: u32,
    /// Rows of texels.
    pub height: u32,
    /// Slices of a volume, otherwise layers.
    pub depth: u32,
    /// Bytes from the image's address to the level in layer 0.
    pub offset: u64,
    /// Where its elements lie.
    pub order: Order,
}

/// The part of an image that both kinds of record describe.
#[derive(Clone, Debug)]
pub struct Surface {
    /// How elements are read or written.
    pub codec: Codec,
    /// The first byte.
    pub address: u64,
    /// Bytes from layer to layer.
    pub layer_stride: u64,
    /// Samples of a pixel.
    pub samples: u32,
    /// The levels that are visible, the first of them first. Never empty.
    pub planes: ArrayVec<Plane, LEVELS>,
}

/// A texture record.
#[derive(Clone, Debug)]
pub struct View {
    /// Where texels are.
    pub surface: Surface,
    /// Its shape.
    pub shape: Shape,
    /// Where components of the result come from.
    pub swizzle: Swizzle,
}

impl View {
    /// The last level, counted from the first of the view.
    #[inline(always)]
    #[must_use]
    pub fn last_level(&self) -> u32 {
        self.surface.planes.len() as u32 - 1
    }

    /// Does some output component come from this one of memory?
    #[must_use]
    pub fn uses(&self, component: Source) -> bool {
        self.swizzle.0.contains(&component)
    }
}

/// A store record.
#[derive(Clone, Debug)]
pub struct Target {
    /// Where texels go; one level.
    pub surface: Surface,
    /// Its shape.
    pub shape: Shape,
    /// Where components of memory come from.
    pub swizzle: StoreSwizzle,
    /// It has more than one layer.
    pub layered: bool,
}

/// The 8-byte record of a sampler, and whether it is the entry that nobody wrote.
#[must_use]
pub fn sampler(bits: u64) -> Record<Sampler> {
    if bits == 0 {
        // Nearest, edge clamp, LOD 0 (isa-4, 1.1; HW). As nothing is said of the comparison, code 0 of
        // the field, which no legal record has, counts as "never".
        return Record::Valid(Sampler {
            lod: LodRange::new(0.0, 0.0),
            mag: Filter::Nearest,
            ..Sampler::default()
        });
    }
    match Sampler::from_bits(bits) {
        Ok(sampler) => Record::Valid(sampler),
        Err(error) => Record::Invalid(error.to_string()),
    }
}

fn order(level: &layout::Level) -> Order {
    Order::Tiles {
        width_bits: level.tile_width.ilog2(),
        height_bits: level.tile_height.ilog2(),
        columns: level.columns,
    }
}

/// Halves a size `level` times, not below 1.
fn minify(size: u32, level: u8) -> u32 {
    size.checked_shr(level.into()).unwrap_or(0).max(1)
}

/// The planes of `levels`, and the bytes from layer to layer.
fn planes(
    memory: &layout::Memory,
    (width, height): (u32, u32),
    (layers, volume): (u32, bool),
    levels: std::ops::RangeInclusive<u8>,
) -> (ArrayVec<Plane, LEVELS>, u64) {
    match memory {
        layout::Memory::Linear(linear) => {
            let plane = Plane {
                width,
                height,
                depth: 1,
                offset: 0,
                order: Order::Rows(linear.stride()),
            };
            (ArrayVec::from_iter([plane]), 0)
        }
        layout::Memory::Tiled(tiled) => {
            let plane = |number: u8| {
                let level = tiled.levels().get(usize::from(number))?;
                Some(Plane {
                    width: minify(width, number),
                    height: minify(height, number),
                    depth: if volume {
                        minify(layers, number)
                    } else {
                        layers
                    },
                    offset: level.offset,
                    order: order(level),
                })
            };
            (levels.filter_map(plane).collect(), tiled.layer_stride())
        }
    }
}

/// What the 32 bytes of a texture record mean.
#[must_use]
pub fn view(bytes: &[u8; 32]) -> Record<View> {
    let made = || -> Result<View, String> {
        let texture = Texture::unpack(bytes).map_err(|error| error.to_string())?;
        let memory = texture.layout().map_err(|error| error.to_string())?;
        let codec = Codec::new(texture.encoding, texture.srgb)?;
        let (dimension, levels) = match texture.memory {
            texture::Memory::Linear { .. } => (Dimension::D2, 0..=0),
            texture::Memory::Tiled(tiling) => match tiling.levels {
                texture::Levels::Single => (tiling.dimension, 0..=0),
                texture::Levels::View { first, last } => (tiling.dimension, first..=last),
            },
        };
        let (shape, layers, samples) = match dimension {
            Dimension::D1 | Dimension::D2 => (Shape::Flat, 1, 1),
            Dimension::D1Array { layers } | Dimension::D2Array { layers } => {
                (Shape::Flat, layers, 1)
            }
            Dimension::D3 { depth } => (Shape::Volume, depth, 1),
            Dimension::Cube => (Shape::Cube, 6, 1),
            Dimension::CubeArray { cubes } => (Shape::Cube, 6 * cubes, 1),
            Dimension::D2Multisample { samples } => (Shape::Multisample, 1, count(samples)),
            Dimension::D2MultisampleArray { samples, layers } => {
                (Shape::Multisample, layers, count(samples))
            }
        };
        let size = (texture.width, texture.height);
        let volume = shape == Shape::Volume;
        let (planes, layer_stride) = planes(&memory, size, (layers, volume), levels);
        if planes.is_empty() {
            return Err("texture record: the view has no level".to_owned());
        }
        Ok(View {
            surface: Surface {
                codec,
                address: texture.address,
                layer_stride,
                samples,
                planes,
            },
            shape,
            swizzle: texture.swizzle,
        })
    };
    record(bytes, made)
}

fn count(samples: texture::Multisample) -> u32 {
    match samples {
        texture::Multisample::X2 => 2,
        texture::Multisample::X4 => 4,
    }
}

fn record<T>(bytes: &[u8; 32], made: impl FnOnce() -> Result<T, String>) -> Record<T> {
    if *bytes == texture::EMPTY {
        return Record::Empty;
    }
    match made() {
        Ok(record) => Record::Valid(record),
        Err(reason) => Record::Invalid(reason),
    }
}

/// What the 32 bytes of a store record mean.
#[must_use]
pub fn target(bytes: &[u8; 32]) -> Record<Target> {
    let made = || -> Result<Target, String> {
        let store = Store::unpack(bytes).map_err(|error| error.to_string())?;
        let memory = store.layout().map_err(|error| error.to_string())?;
        let codec = Codec::new(store.encoding, false)?;
        let (dimension, level) = match store.memory {
            store::Memory::Linear { .. } => (store::Dimension::D2, 0),
            store::Memory::Tiled { dimension, levels } => match levels {
                store::Levels::Single => (dimension, 0),
                store::Levels::Level { level, .. } => (dimension, level),
            },
        };
        let (shape, layers, samples) = match dimension {
            store::Dimension::D1 | store::Dimension::D2 => (Shape::Flat, 1, 1),
            store::Dimension::D1Array { layers } | store::Dimension::D2Array { layers } => {
                (Shape::Flat, layers, 1)
            }
            store::Dimension::D3 { depth } => (Shape::Volume, depth, 1),
            store::Dimension::D2Multisample { samples } => (Shape::Multisample, 1, count(samples)),
            store::Dimension::D2MultisampleArray { samples, layers } => {
                (Shape::Multisample, layers, count(samples))
            }
        };
        let size = (store.width, store.height);
        let volume = shape == Shape::Volume;
        let (planes, layer_stride) = planes(&memory, size, (layers, volume), level..=level);
        if planes.is_empty() {
            return Err("store record: the image has no such level".to_owned());
        }
        Ok(Target {
            surface: Surface {
                codec,
                address: store.address,
                layer_stride,
                samples,
                planes,
            },
            shape,
            swizzle: store.swizzle,
            layered: layers > 1 && !volume,
        })
    };
    record(bytes, made)
}

/// Entries that a thread remembers of each kind.
const REMEMBERED: usize = 64;

/// Records by their address, one for each of 64 classes of addresses.
struct Memo<const N: usize, T>(Vec<Option<Known<N, T>>>);

/// What a record's bytes meant.
struct Known<const N: usize, T> {
    bytes: [u8; N],
    record: Rc<Record<T>>,
}

impl<const N: usize, T> Memo<N, T> {
    fn get(
        &mut self,
        va: u64,
        bytes: [u8; N],
        decode: impl FnOnce(&[u8; N]) -> Record<T>,
    ) -> Rc<Record<T>> {
        if self.0.is_empty() {
            self.0.resize_with(REMEMBERED, || None);
        }
        let entry = &mut self.0[(va / SLOT_BYTES) as usize % REMEMBERED];
        match entry {
            Some(known) if known.bytes == bytes => Rc::clone(&known.record),
            _ => {
                let record = Rc::new(decode(&bytes));
                *entry = Some(Known {
                    bytes,
                    record: Rc::clone(&record),
                });
                record
            }
        }
    }
}

thread_local! {
    static VIEWS: RefCell<Memo<32, View>> = const { RefCell::new(Memo(Vec::new())) };
    static TARGETS: RefCell<Memo<32, Target>> = const { RefCell::new(Memo(Vec::new())) };
    static SAMPLERS: RefCell<Memo<8, Sampler>> = const { RefCell::new(Memo(Vec::new())) };
}

/// Copies bytes of GPU memory; what is not mapped reads 0 (isa-2, 2.6; HW). Answers whether all was
/// mapped.
pub(crate) fn read_bytes<const N: usize>(tlb: &Tlb<'_>, va: u64) -> ([u8; N], bool) {
    let mut bytes = [0; N];
    let mut done = 0;
    let mut mapped = true;
    while done < N {
        let at = va.wrapping_add(done as u64);
        let left = (PAGE_SIZE - at % PAGE_SIZE) as usize;
        let count = left.min(N - done);
        match tlb.translate(at, Access::Read) {
            // SAFETY: the source is inside the page that was translated; a mapping shared with the
            // GPU's clients and the array on this stack do not overlap. Racing writers may leave a
            // mix of bytes, which is checked like any other.
            Some(host) => unsafe {
                std::ptr::copy_nonoverlapping(host, bytes[done..].as_mut_ptr(), count);
            },
            None => mapped = false,
        }
        done += count;
    }
    (bytes, mapped)
}

/// The texture record at `va`, and whether it is mapped.
pub(crate) fn view_at(tlb: &Tlb<'_>, va: u64) -> (Rc<Record<View>>, bool) {
    let (bytes, mapped) = read_bytes::<32>(tlb, va);
    let record = VIEWS.with_borrow_mut(|memo| memo.get(va, bytes, view));
    (record, mapped)
}

/// The store record at `va`, and whether it is mapped.
pub(crate) fn target_at(tlb: &Tlb<'_>, va: u64) -> (Rc<Record<Target>>, bool) {
    let (bytes, mapped) = read_bytes::<32>(tlb, va);
    let record = TARGETS.with_borrow_mut(|memo| memo.get(va, bytes, target));
    (record, mapped)
}

/// The sampler record at `va`, and whether it is mapped. The bytes behind the record are not looked at.
pub(crate) fn sampler_at(tlb: &Tlb<'_>, va: u64) -> (Rc<Record<Sampler>>, bool) {
    let (bytes, mapped) = read_bytes::<8>(tlb, va);
    let decode = |bytes: &[u8; 8]| sampler(u64::from_le_bytes(*bytes));
    let record = SAMPLERS.with_borrow_mut(|memo| memo.get(va, bytes, decode));
    (record, mapped)
}
