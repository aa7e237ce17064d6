// SPDX-License-Identifier: MIT
//! What an image is asked to be, whether it can be, and how it then lies in memory.

use agx_hw::format::Format;
use agx_hw::launcher::Samples;
use agx_hw::layout::{Image as TiledImage, Linear, Memory, PAGE, Stack, Tiled, Usage};
use agx_hw::texture::{MAX_LAYERS, MAX_SIZE, MAX_SIZE_3D};
use arrayvec::ArrayVec;
use ash::vk;

use super::format;
use super::modifier::{self, Rows};

/// Flags of images that mean something here, or nothing anywhere.
const FLAGS: vk::ImageCreateFlags = vk::ImageCreateFlags::from_raw(
    vk::ImageCreateFlags::MUTABLE_FORMAT.as_raw()
        | vk::ImageCreateFlags::CUBE_COMPATIBLE.as_raw()
        | vk::ImageCreateFlags::TYPE_2D_ARRAY_COMPATIBLE.as_raw()
        | vk::ImageCreateFlags::EXTENDED_USAGE.as_raw()
        | vk::ImageCreateFlags::ALIAS.as_raw(),
);

/// What an image is asked to be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Description {
    pub(crate) kind: vk::ImageType,
    pub(crate) format: vk::Format,
    pub(crate) extent: [u32; 3],
    pub(crate) levels: u32,
    pub(crate) layers: u32,
    pub(crate) samples: vk::SampleCountFlags,
    pub(crate) tiling: vk::ImageTiling,
    pub(crate) usage: vk::ImageUsageFlags,
    pub(crate) flags: vk::ImageCreateFlags,
    /// Where the rows of a linear one are, unless they are where the driver wants them.
    pub(crate) rows: Option<Rows>,
}

/// An image of the hardware that is part of one of Vulkan's.
#[derive(Clone, Debug)]
pub(crate) struct Plane {
    pub(crate) format: Format,
    /// Bytes from the image's first.
    pub(crate) offset: u64,
    pub(crate) memory: Memory,
}

/// The planes of an image.
pub(crate) type Planes = ArrayVec<Plane, 2>;

/// Why there cannot be such an image.
pub(crate) type Refusal = String;

/// The most that images of a kind can have: extent, levels, layers.
pub(crate) struct Most {
    pub(crate) extent: [u32; 3],
    pub(crate) levels: u32,
    pub(crate) layers: u32,
}

impl Most {
    /// Of a kind and tiling.
    pub(crate) fn of(kind: vk::ImageType, tiling: vk::ImageTiling) -> Most {
        if tiling == vk::ImageTiling::LINEAR {
            // images, 6: one level, one layer, two dimensions.
            let height = match kind {
                vk::ImageType::TYPE_1D => 1,
                _ => MAX_SIZE,
            };
            return Most {
                extent: [MAX_SIZE, height, 1],
                levels: 1,
                layers: 1,
            };
        }
        let levels = |size: u32| size.ilog2() + 1;
        let (extent, layers) = match kind {
            vk::ImageType::TYPE_1D => ([MAX_SIZE, 1, 1], MAX_LAYERS),
            vk::ImageType::TYPE_3D => ([MAX_SIZE_3D; 3], 1),
            _ => ([MAX_SIZE, MAX_SIZE, 1], MAX_LAYERS),
        };
        Most {
            extent,
            levels: levels(extent[0]),
            layers,
        }
    }
}

impl Description {
    /// Of a creation structure. The only modifier is the linear one.
    pub(crate) fn of(info: &vk::ImageCreateInfo<'_>, rows: Option<Rows>) -> Description {
        Description {
            kind: info.image_type,
            format: info.format,
            extent: [info.extent.width, info.extent.height, info.extent.depth],
            levels: info.mip_levels,
            layers: info.array_layers,
            samples: info.samples,
            tiling: match modifier::is_tiling(info.tiling) {
                true => vk::ImageTiling::LINEAR,
                false => info.tiling,
            },
            usage: info.usage,
            flags: info.flags,
            rows,
        }
    }

    /// Whether it lies row by row.
    pub(crate) fn is_linear(&self) -> bool {
        self.tiling == vk::ImageTiling::LINEAR
    }

    /// Width, height and depth of a level.
    pub(crate) fn level_extent(&self, level: u32) -> [u32; 3] {
        self.extent
            .map(|size| size.checked_shr(level).unwrap_or(0).max(1))
    }

    /// The images that it consists of.
    ///
    /// # Errors
    /// What there cannot be.
    pub(crate) fn planes(&self) -> Result<Planes, Refusal> {
        self.check()?;
        let mut planes = Planes::new();
        let mut end = 0_u64;
        for format in format::planes(self.format) {
            let memory = self.memory(format)?;
            let own = end.next_multiple_of(PAGE);
            let offset = self.rows.map_or(own, |rows| rows.offset);
            end = offset + memory.size();
            planes.push(Plane {
                format,
                offset,
                memory,
            });
        }
        Ok(planes)
    }

    fn check(&self) -> Result<(), Refusal> {
        let formats = format::planes(self.format);
        if formats.is_empty() {
            return Err(format!("the hardware has no {:?}", self.format));
        }
        if !FLAGS.contains(self.flags) {
            return Err(format!("{:?} is not supported", self.flags & !FLAGS));
        }
        if !matches!(
            self.tiling,
            vk::ImageTiling::LINEAR | vk::ImageTiling::OPTIMAL
        ) {
            return Err(format!("{:?} tiling is not supported", self.tiling));
        }
        let blocks = formats.iter().any(|format| format.is_compressed());
        if self.is_linear() && (blocks || formats.len() > 1) {
            return Err(format!("{:?} is never linear", self.format));
        }
        if self.is_linear() && self.kind == vk::ImageType::TYPE_3D {
            return Err("three dimensions are never linear".into());
        }
        if blocks && self.kind == vk::ImageType::TYPE_1D {
            return Err(format!("{:?} is never one row", self.format));
        }
        let most = Most::of(self.kind, self.tiling);
        let within = |what: &str, value: u32, most: u32| match value {
            0 => Err(format!("{what} 0")),
            value if value > most => Err(format!("{what} {value}, of {most} at most")),
            _ => Ok(()),
        };
        within("width", self.extent[0], most.extent[0])?;
        within("height", self.extent[1], most.extent[1])?;
        within("depth", self.extent[2], most.extent[2])?;
        within("levels:", self.levels, most.levels)?;
        within("layers:", self.layers, most.layers)?;
        let longest = self.extent.into_iter().max().unwrap_or(1);
        within("levels:", self.levels, longest.ilog2() + 1)?;
        let samples = samples(self.samples);
        let many = samples.is_some_and(|samples| samples != Samples::One);
        if samples.is_none() {
            return Err(format!("{:?} samples", self.samples));
        }
        if many && (self.is_linear() || self.kind != vk::ImageType::TYPE_2D || self.levels > 1) {
            return Err("several samples need one tiled level of two dimensions".into());
        }
        if many && blocks {
            return Err(format!("several samples of {:?}", self.format));
        }
        Ok(())
    }

    fn memory(&self, format: Format) -> Result<Memory, Refusal> {
        let element = format.element();
        let refused = |error: agx_hw::Error| error.to_string();
        let [width, height, depth] = self.extent;
        if self.is_linear() {
            let stride = match self.rows {
                Some(rows) => rows.stride,
                None => Linear::default_stride(width, element).ok_or("rows too long")?,
            };
            let linear = Linear::new(width, height, element, stride).map_err(refused)?;
            return Ok(Memory::Linear(linear));
        }
        let stack = match self.kind {
            vk::ImageType::TYPE_3D => Stack::Slices(depth),
            _ => Stack::Layers(self.layers),
        };
        let image = TiledImage {
            width,
            height,
            stack,
            element,
            samples: samples(self.samples).ok_or("samples")?,
            mipmapped: self.levels > 1,
            page_aligned: false,
        };
        let depth_stencil = format::aspects(self.format) != vk::ImageAspectFlags::COLOR;
        let usage = Usage {
            storage: self.usage.contains(vk::ImageUsageFlags::STORAGE),
            // Layers of depth attachments are whole pages apart (uapi, 12.1), those of colour by choice.
            attachment: self.usage.intersects(
                vk::ImageUsageFlags::COLOR_ATTACHMENT
                    | vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT,
            ),
            depth_stencil,
        };
        let tiled = Tiled::for_usage(image, usage).map_err(refused)?;
        Ok(Memory::Tiled(tiled))
    }
}

/// How many samples; nothing for numbers that the hardware has not.
pub(crate) fn samples(flags: vk::SampleCountFlags) -> Option<Samples> {
    match flags {
        vk::SampleCountFlags::TYPE_1 => Some(Samples::One),
        vk::SampleCountFlags::TYPE_2 => Some(Samples::Two),
        vk::SampleCountFlags::TYPE_4 => Some(Samples::Four),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Layers of depth and stencil attachments are told in pages (uapi, 12.1), however small they are.
    #[test]
    fn layers_of_attachments_are_pages_apart() {
        for format in [vk::Format::D32_SFLOAT_S8_UINT, vk::Format::R8G8B8A8_UNORM] {
            let usage = match format {
                vk::Format::R8G8B8A8_UNORM => vk::ImageUsageFlags::COLOR_ATTACHMENT,
                _ => vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT,
            };
            let planes = Description {
                kind: vk::ImageType::TYPE_2D,
                format,
                extent: [16, 16, 1],
                levels: 1,
                layers: 4,
                samples: vk::SampleCountFlags::TYPE_1,
                tiling: vk::ImageTiling::OPTIMAL,
                usage,
                flags: vk::ImageCreateFlags::empty(),
                rows: None,
            }
            .planes()
            .unwrap();
            for plane in planes {
                let Memory::Tiled(tiled) = plane.memory else {
                    panic!("{format:?} is not tiled");
                };
                assert_eq!(tiled.layer_stride() % PAGE, 0, "{format:?}");
            }
        }
    }
}
