// SPDX-License-Identifier: MIT
//! VkImageView: its descriptors, made when it is.

use std::ptr::NonNull;

use agx_hw::format::{Format, Source, StoreFrom, Swizzle};
use agx_hw::layout::{Memory, Samples, Tiled};
use agx_hw::texture::Multisample;
use agx_hw::{store, texture};
use ash::vk;

use super::descriptor::{self, Addressing, Extents, Order, Record, STORAGE_SIZE, TEXTURE_SIZE};
use super::{Image, Plane, format};
use crate::debug;
use crate::device::{self, Device};
use crate::entry;
use crate::error::{VkResult, record};
use crate::object::{self, Object};

/// A view of an image.
pub(crate) struct ImageView {
    /// The image, which lives as long as its views are used.
    image: NonNull<Image>,
    /// What it shows of it: formats of the hardware, one for each plane of an attachment.
    pub(crate) format: Format,
    /// The first level.
    pub(crate) level: u32,
    /// The first layer, or slice of an image of three dimensions.
    pub(crate) layer: u32,
    /// Layers or slices.
    pub(crate) layers: u32,
    /// As Vulkan says it.
    pub(crate) vulkan_format: vk::Format,

    /// As shaders sample it.
    pub(crate) texture: [u8; TEXTURE_SIZE],
    /// As shaders load and store it; zeros for formats that cannot be stored.
    pub(crate) storage: [u8; STORAGE_SIZE],
}

impl Object for ImageView {
    type Handle = vk::ImageView;
}

/// What a view shows of a plane.
#[derive(Clone, Copy, Debug)]
struct Shown {
    kind: vk::ImageViewType,
    format: Format,
    /// Whether sRGB is decoded where the format is that.
    decodes: bool,
    swizzle: Swizzle,
    first_level: u32,
    levels: u32,
    first_layer: u32,
    layers: u32,
}

impl ImageView {
    /// The image.
    pub(crate) fn image(&self) -> &Image {
        // SAFETY: "image must not be destroyed while a view of it is used" (Vulkan 1.3, 12.5).
        unsafe { self.image.as_ref() }
    }

    /// The record by which a background program loads it: all that is in memory, as it is.
    ///
    /// # Errors
    /// When the hardware has no such image.
    pub(crate) fn load_record(&self, layered: bool) -> VkResult<Record> {
        let (plane, shown) = self.attachment(layered)?;
        texture_record(self.image(), plane, shown)
    }

    /// The record by which an end-of-tile program stores it.
    ///
    /// # Errors
    /// When the hardware has no such image.
    pub(crate) fn store_record(&self, layered: bool) -> VkResult<Record> {
        let (plane, shown) = self.attachment(layered)?;
        store_record(self.image(), plane, shown, StoreFrom::Tile)
    }

    fn attachment(&self, layered: bool) -> VkResult<(&Plane, Shown)> {
        let Some(plane) = self.image().planes.first() else {
            return Err(vk::Result::ERROR_UNKNOWN);
        };
        let shown = Shown {
            kind: match layered {
                true => vk::ImageViewType::TYPE_2D_ARRAY,
                false => vk::ImageViewType::TYPE_2D,
            },
            // Tiles hold what is encoded.
            decodes: false,
            format: self.format,
            swizzle: Swizzle::IDENTITY,
            first_level: self.level,
            levels: 1,
            first_layer: self.layer,
            layers: if layered { self.layers } else { 1 },
        };
        Ok((plane, shown))
    }

    /// Width and height of the first level.
    pub(crate) fn extent(&self) -> [u32; 2] {
        let [width, height, _] = self.image().description.level_extent(self.level);
        [width, height]
    }

    /// # Errors
    /// When there cannot be such a view.
    fn new(image: &Image, info: &vk::ImageViewCreateInfo<'_>) -> VkResult<ImageView> {
        let refused = |why: &dyn std::fmt::Display| {
            debug::error(&format_args!("vkCreateImageView: {why}"));
            vk::Result::ERROR_FORMAT_NOT_SUPPORTED
        };
        let range = &info.subresource_range;
        // A view of both depth and stencil is for attachments; sampling needs one of them, and the
        // depth then.
        let Some(plane) = image.plane(range.aspect_mask) else {
            return Err(refused(&format_args!("no {:?}", range.aspect_mask)));
        };
        let own = format::planes(info.format);
        let format = match own.len() {
            0 => return Err(refused(&format_args!("no {:?}", info.format))),
            1 => own[0],
            _ => plane.format,
        };
        if format.element() != plane.format.element() {
            return Err(refused(&format_args!(
                "{:?} is not compatible with {:?}",
                info.format, image.description.format
            )));
        }
        let rest = |count: u32, all: u32, first: u32| match count {
            vk::REMAINING_MIP_LEVELS => all.saturating_sub(first),
            count => count,
        };
        let all_layers = match (image.description.kind, info.view_type) {
            // Slices count as layers for two-dimensional views.
            (vk::ImageType::TYPE_3D, vk::ImageViewType::TYPE_3D) => 1,
            (vk::ImageType::TYPE_3D, _) => image.description.level_extent(range.base_mip_level)[2],
            _ => image.description.layers,
        };
        let shown = Shown {
            kind: info.view_type,
            format,
            decodes: true,
            swizzle: swizzle(info.components),
            first_level: range.base_mip_level,
            levels: rest(
                range.level_count,
                image.description.levels,
                range.base_mip_level,
            ),
            first_layer: range.base_array_layer,
            layers: rest(range.layer_count, all_layers, range.base_array_layer),
        };
        if shown.levels == 0
            || shown.layers == 0
            || u64::from(shown.first_level) + u64::from(shown.levels)
                > u64::from(image.description.levels)
            || u64::from(shown.first_layer) + u64::from(shown.layers) > u64::from(all_layers)
        {
            return Err(refused(&"levels or layers that the image has not"));
        }
        let extents = extents(image, shown);
        let record = texture_record(image, plane, shown)?;
        let storage = match format::stores(format) {
            true => {
                // Faces are layers for loads and stores.
                let layers = match shown.kind {
                    vk::ImageViewType::CUBE | vk::ImageViewType::CUBE_ARRAY => Shown {
                        kind: vk::ImageViewType::TYPE_2D_ARRAY,
                        ..shown
                    },
                    _ => shown,
                };
                descriptor::storage(
                    &texture_record(image, plane, layers)?,
                    extents,
                    &store_record(image, plane, shown, StoreFrom::Shader)?,
                    addressing(image, plane, shown),
                )
            }
            false => [0; STORAGE_SIZE],
        };
        Ok(ImageView {
            image: NonNull::from(image),
            format,
            level: shown.first_level,
            layer: shown.first_layer,
            layers: shown.layers,
            vulkan_format: info.format,
            texture: descriptor::texture(&record, extents, border_swizzle(shown)),
            storage,
        })
    }
}

/// Where the components of a border's colour go: it has none that the format has not.
fn border_swizzle(shown: Shown) -> Swizzle {
    shown.format.swizzle().in_order().view(shown.swizzle)
}

fn swizzle(components: vk::ComponentMapping) -> Swizzle {
    let one = |component: vk::ComponentSwizzle, own| match component {
        vk::ComponentSwizzle::ZERO => Source::Zero,
        vk::ComponentSwizzle::ONE => Source::One,
        vk::ComponentSwizzle::R => Source::R,
        vk::ComponentSwizzle::G => Source::G,
        vk::ComponentSwizzle::B => Source::B,
        vk::ComponentSwizzle::A => Source::A,
        _ => own,
    };
    Swizzle([
        one(components.r, Source::R),
        one(components.g, Source::G),
        one(components.b, Source::B),
        one(components.a, Source::A),
    ])
}

fn extents(image: &Image, shown: Shown) -> Extents {
    let [width, height, depth] = image.description.level_extent(shown.first_level);
    Extents {
        width,
        height,
        depth: match shown.kind {
            vk::ImageViewType::TYPE_3D => depth,
            vk::ImageViewType::TYPE_1D_ARRAY | vk::ImageViewType::TYPE_2D_ARRAY => shown.layers,
            vk::ImageViewType::CUBE_ARRAY => shown.layers / 6,
            _ => 1,
        },
        levels: shown.levels,
        samples: image.description.samples.as_raw(),
    }
}

/// The GPU's address of a plane's layer.
fn layer_address(image: &Image, plane: &Plane, layer: u32) -> u64 {
    let stride = match &plane.memory {
        Memory::Linear(_) => 0,
        Memory::Tiled(tiled) => tiled.layer_stride(),
    };
    image.address + plane.offset + u64::from(layer) * stride
}

fn multisample(tiled: &Tiled) -> Option<Multisample> {
    match tiled.image().samples {
        Samples::One => None,
        Samples::Two => Some(Multisample::X2),
        Samples::Four => Some(Multisample::X4),
    }
}

/// The record that the texture unit reads. Views keep the sizes of level 0; only layers move the address
/// (images, 2.2).
fn texture_record(image: &Image, plane: &Plane, shown: Shown) -> VkResult<Record> {
    use texture::Dimension;
    let [width, height, depth] = image.description.extent;
    let layers = shown.layers;
    let memory = match &plane.memory {
        Memory::Linear(linear) => texture::Memory::Linear {
            stride: linear.stride(),
        },
        Memory::Tiled(tiled) => {
            let dimension = match (shown.kind, multisample(tiled)) {
                (vk::ImageViewType::TYPE_3D, _) => Dimension::D3 { depth },
                (vk::ImageViewType::CUBE, _) => Dimension::Cube,
                // Hardware's own arrays of cubes have one known mode only, so that shaders choose
                // among layers (isa-3, 8).
                (vk::ImageViewType::TYPE_2D_ARRAY | vk::ImageViewType::CUBE_ARRAY, None)
                | (vk::ImageViewType::TYPE_1D_ARRAY, _) => Dimension::D2Array { layers },
                (vk::ImageViewType::TYPE_2D_ARRAY, Some(samples)) => {
                    Dimension::D2MultisampleArray { samples, layers }
                }
                (_, Some(samples)) => Dimension::D2Multisample { samples },
                _ => Dimension::D2,
            };
            texture::Memory::Tiled(texture::Tiling {
                dimension,
                levels: if tiled.image().mipmapped {
                    texture::Levels::View {
                        first: shown.first_level as u8,
                        last: (shown.first_level + shown.levels - 1) as u8,
                    }
                } else {
                    texture::Levels::Single
                },
                page_aligned: tiled.image().page_aligned,
                compression: None,
            })
        }
    };
    let made = texture::Texture {
        encoding: shown.format.encoding(),
        swizzle: shown.format.swizzle().view(shown.swizzle),
        srgb: shown.format.is_srgb() && shown.decodes,
        width,
        height,
        address: layer_address(image, plane, shown.first_layer),
        memory,
    };
    let mut bytes = Record::default();
    made.pack(&mut bytes).map_err(record)?;
    Ok(bytes)
}

/// The record that hardware's own stores read.
fn store_record(image: &Image, plane: &Plane, shown: Shown, from: StoreFrom) -> VkResult<Record> {
    use store::Dimension;
    let Some(swizzle) = shown.format.store_swizzle(from) else {
        return Ok(Record::default());
    };
    let [width, height, depth] = image.description.extent;
    let layers = shown.layers;
    let memory = match &plane.memory {
        Memory::Linear(linear) => store::Memory::Linear {
            stride: linear.stride(),
        },
        Memory::Tiled(tiled) => store::Memory::Tiled {
            dimension: match (shown.kind, multisample(tiled)) {
                (vk::ImageViewType::TYPE_3D, _) => Dimension::D3 { depth },
                (_, Some(samples)) if layers > 1 => {
                    Dimension::D2MultisampleArray { samples, layers }
                }
                (_, Some(samples)) => Dimension::D2Multisample { samples },
                _ if layers > 1 => Dimension::D2Array { layers },
                _ => Dimension::D2,
            },
            levels: if tiled.image().mipmapped {
                store::Levels::Level {
                    level: shown.first_level as u8,
                    last: (tiled.levels().len() - 1) as u8,
                }
            } else {
                store::Levels::Single
            },
        },
    };
    // Layers of a store's record are always page-aligned. Those of an image are only if it was made
    // for stores, and no shader reads the record otherwise.
    let unaligned = |tiled: &Tiled| !tiled.image().page_aligned;
    if layers > 1 && matches!(&plane.memory, Memory::Tiled(tiled) if unaligned(tiled)) {
        return Ok(Record::default());
    }
    let made = store::Store {
        encoding: shown.format.encoding(),
        swizzle,
        width,
        height,
        address: layer_address(image, plane, shown.first_layer),
        memory,
    };
    let mut bytes = Record::default();
    made.pack(&mut bytes).map_err(record)?;
    Ok(bytes)
}

/// The descriptor of one level of one layer, or of all slices of an image of three dimensions, for shaders of
/// the driver.
///
/// # Errors
/// When there cannot be one.
pub(crate) fn level_texture(
    image: &Image,
    plane: &Plane,
    format: Format,
    level: u32,
    layer: u32,
) -> VkResult<[u8; TEXTURE_SIZE]> {
    let (kind, first_layer) = match image.description.kind {
        vk::ImageType::TYPE_3D => (vk::ImageViewType::TYPE_3D, 0),
        _ => (vk::ImageViewType::TYPE_2D, layer),
    };
    let shown = Shown {
        kind,
        format,
        decodes: true,
        swizzle: Swizzle::IDENTITY,
        first_level: level,
        levels: 1,
        first_layer,
        layers: 1,
    };
    let record = texture_record(image, plane, shown)?;
    Ok(descriptor::texture(
        &record,
        extents(image, shown),
        border_swizzle(shown),
    ))
}

/// Where shaders find the elements of the first level.
fn addressing(image: &Image, plane: &Plane, shown: Shown) -> Addressing {
    let bytes = u32::from(plane.format.element().bytes);
    let first = layer_address(image, plane, shown.first_layer);
    match &plane.memory {
        Memory::Linear(linear) => Addressing {
            address: first,
            layer_stride: 0,
            order: Order::Linear {
                row_stride: linear.stride(),
                log2_bytes: bytes.ilog2(),
            },
        },
        Memory::Tiled(tiled) => {
            let level = &tiled.levels()[shown.first_level as usize];
            let log2_samples = image.description.samples.as_raw().ilog2();
            Addressing {
                address: first + level.offset,
                layer_stride: (tiled.layer_stride() / 16) as u32,
                order: Order::Tiled {
                    log2_width: level.tile_width.ilog2(),
                    log2_height: level.tile_height.ilog2(),
                    log2_bytes: bytes.ilog2() + log2_samples,
                    log2_samples,
                    columns: level.columns,
                },
            }
        }
    }
}

/// vkCreateImageView.
pub(crate) unsafe extern "system" fn create_image_view(
    device: vk::Device,
    info: *const vk::ImageViewCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    view: *mut vk::ImageView,
) -> vk::Result {
    entry::try_guard("vkCreateImageView", || {
        // SAFETY: valid by the specification.
        unsafe {
            let device = object::get::<Device>(device);
            let made = ImageView::new(object::get::<Image>((*info).image), &*info)?;
            *view = object::create(device.allocator(allocator), made)?;
        }
        Ok(())
    })
}

/// vkDestroyImageView.
pub(crate) unsafe extern "system" fn destroy_image_view(
    device: vk::Device,
    view: vk::ImageView,
    allocator: *const vk::AllocationCallbacks<'_>,
) {
    // SAFETY: null or a live handle that no one else uses, by the specification.
    unsafe { device::destroy_object::<ImageView>("vkDestroyImageView", device, view, allocator) };
}
