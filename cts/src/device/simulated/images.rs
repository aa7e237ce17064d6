// SPDX-License-Identifier: MIT
//! A case's images in the memory of the GPU, and their descriptors, written as the driver writes them.

use agx_hw::layout::{self, Linear, Position, Samples, Stack, Tiled, Usage};
use agx_hw::sampler::{Border, MipFilter, Sampler};
use agx_hw::texture::{Dimension, Levels, Memory, Multisample, Texture, Tiling};
use anyhow::{Context as _, ensure};

use crate::image::{Image, ImageKind, Shape};

/// Texels in a row of a texel buffer's record.
const BUFFER_WIDTH: u32 = 1024;

/// How an image lies in memory.
#[allow(
    clippy::large_enum_variant,
    reason = "there are a few in a case, and most are tiled"
)]
pub(super) enum Laid {
    /// In tiles.
    Tiled(Tiled),
    /// A texel buffer.
    Buffer,
    /// A sampler, which has no memory.
    Nothing,
}

fn samples(count: u32) -> anyhow::Result<Samples> {
    Ok(match count {
        1 => Samples::One,
        2 => Samples::Two,
        4 => Samples::Four,
        _ => anyhow::bail!("{count} samples"),
    })
}

impl Laid {
    pub(super) fn of(image: &Image) -> anyhow::Result<Laid> {
        let laid = match (image.kind, image.shape) {
            (ImageKind::Sampler, _) => Laid::Nothing,
            (_, Shape::Buffer(_)) => Laid::Buffer,
            (_, shape) => {
                let [width, height, depth] = shape.extent(0);
                let stack = match shape {
                    Shape::D3(..) => Stack::Slices(depth),
                    _ => Stack::Layers(shape.layers()),
                };
                let description = layout::Image {
                    width,
                    height,
                    stack,
                    element: image.format.element(),
                    samples: samples(shape.samples())?,
                    mipmapped: image.levels > 1,
                    page_aligned: false,
                };
                let usage = Usage {
                    storage: image.kind == ImageKind::Storage,
                    ..Usage::default()
                };
                Laid::Tiled(Tiled::for_usage(description, usage)?)
            }
        };
        Ok(laid)
    }

    /// Where each texel is, in the order of the image's.
    fn offsets<'a>(&'a self, image: &'a Image) -> impl Iterator<Item = usize> + 'a {
        let bytes = image.texel_bytes();
        let count = image.size() / bytes;
        let positions = image.positions().take(count).enumerate();
        positions.filter_map(move |(index, (level, layer, x, y))| match self {
            Laid::Tiled(tiled) => tiled
                .offset(Position {
                    x,
                    y,
                    layer,
                    sample: 0,
                    level: level as u8,
                })
                .map(|offset| offset as usize),
            Laid::Buffer => Some(index * bytes),
            Laid::Nothing => None,
        })
    }

    /// The image's memory.
    pub(super) fn memory(&self, image: &Image) -> Vec<u8> {
        let size = match self {
            Laid::Tiled(tiled) => tiled.size() as usize,
            Laid::Buffer => image.texels.len(),
            Laid::Nothing => 0,
        };
        let mut memory = vec![0; size];
        let texels = image.texels.chunks_exact(image.texel_bytes());
        for (offset, texel) in self.offsets(image).zip(texels) {
            memory[offset..offset + texel.len()].copy_from_slice(texel);
        }
        memory
    }

    /// The texels that are in such memory.
    pub(super) fn texels(&self, image: &Image, memory: &[u8]) -> Vec<u8> {
        let bytes = image.texel_bytes();
        let offsets = self.offsets(image);
        offsets
            .flat_map(|offset| memory[offset..offset + bytes].iter().copied())
            .collect()
    }

    /// The descriptor.
    pub(super) fn descriptor(&self, image: &Image, address: u64) -> anyhow::Result<Vec<u8>> {
        let mut bytes = vec![0; 128];
        match self {
            Laid::Tiled(tiled) => {
                put_texture(&mut bytes, image, tiled, address)?;
                if image.kind == ImageKind::Storage {
                    put_storage(&mut bytes, image, tiled, address)?;
                }
            }
            Laid::Buffer => put_buffer(&mut bytes, image, address)?,
            Laid::Nothing => {}
        }
        if let Some((sampler, bias)) = &image.sampler {
            let at = match image.kind {
                ImageKind::Sampler => 0,
                _ => 64,
            };
            put_sampler(&mut bytes[at..], sampler, *bias, image.border)?;
        }
        bytes.truncate(match image.kind {
            ImageKind::Storage | ImageKind::Combined => 128,
            _ => 64,
        });
        Ok(bytes)
    }
}

fn put(bytes: &mut [u8], at: usize, value: u32) {
    bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
}

fn multisample(samples: u32) -> Multisample {
    if samples == 4 {
        Multisample::X4
    } else {
        Multisample::X2
    }
}

fn put_texture(bytes: &mut [u8], image: &Image, tiled: &Tiled, address: u64) -> anyhow::Result<()> {
    let [width, height, depth] = image.shape.extent(0);
    let storage = image.kind == ImageKind::Storage;
    let dimension = match image.shape {
        Shape::D1(_) | Shape::D2(..) | Shape::Buffer(_) => Dimension::D2,
        Shape::D1Array(_, layers) | Shape::D2Array(_, _, layers) => Dimension::D2Array { layers },
        Shape::Multisampled(_, _, n) => Dimension::D2Multisample {
            samples: multisample(n),
        },
        Shape::MultisampledArray(_, _, n, layers) => Dimension::D2MultisampleArray {
            samples: multisample(n),
            layers,
        },
        Shape::D3(..) => Dimension::D3 { depth },
        // Faces are layers to shaders that fetch them, and to those that sample arrays of cubes.
        Shape::Cube(_) if !storage => Dimension::Cube,
        Shape::Cube(_) => Dimension::D2Array { layers: 6 },
        Shape::CubeArray(_, cubes) => Dimension::D2Array { layers: 6 * cubes },
    };
    let levels = match image.levels {
        1 => Levels::Single,
        _ if storage => Levels::View { first: 0, last: 0 },
        levels => Levels::View {
            first: 0,
            last: levels as u8 - 1,
        },
    };
    let mut texture = Texture::tiled(image.format, dimension, width, height, address);
    texture.memory = Memory::Tiled(Tiling {
        dimension,
        levels,
        page_aligned: tiled.image().page_aligned,
        compression: None,
    });
    texture.pack(bytes)?;
    let third = match image.shape {
        Shape::D3(..) => depth,
        Shape::Cube(_) => 1,
        Shape::CubeArray(_, cubes) => cubes,
        shape => shape.layers(),
    };
    let levels = if storage { 1 } else { image.levels };
    let fields = [width, height, third, levels, image.shape.samples()];
    for (at, field) in (32..).step_by(4).zip(fields) {
        put(bytes, at, field);
    }
    put(bytes, 52, image.format.swizzle().in_order().code().into());
    Ok(())
}

fn put_storage(bytes: &mut [u8], image: &Image, tiled: &Tiled, address: u64) -> anyhow::Result<()> {
    let level = tiled.levels().first().context("an image without levels")?;
    // The image-write record at 64 stays zero: nothing of the compiler's reads it.
    let samples = image.shape.samples();
    let pixel = image.texel_bytes() as u32 * samples;
    bytes[96..104].copy_from_slice(&(address + level.offset).to_le_bytes());
    let stride = tiled.layer_stride();
    ensure!(
        stride.is_multiple_of(16),
        "layers begin at multiples of 16 bytes"
    );
    put(bytes, 104, u32::try_from(stride / 16)?);
    let geometry = level.tile_width.ilog2()
        | level.tile_height.ilog2() << 8
        | pixel.ilog2() << 16
        | samples.ilog2() << 24;
    put(bytes, 108, geometry);
    put(bytes, 112, level.columns);
    Ok(())
}

fn put_buffer(bytes: &mut [u8], image: &Image, address: u64) -> anyhow::Result<()> {
    let [elements, ..] = image.shape.extent(0);
    let element = image.texel_bytes() as u32;
    let stride = BUFFER_WIDTH * element;
    Linear::new(BUFFER_WIDTH, 1, image.format.element(), stride)?;
    let height = elements.div_ceil(BUFFER_WIDTH);
    Texture::linear(image.format, BUFFER_WIDTH, height, address, stride).pack(bytes)?;
    put(bytes, 32, elements);
    bytes[40..48].copy_from_slice(&address.to_le_bytes());
    put(bytes, 48, element);
    Ok(())
}

fn put_sampler(
    bytes: &mut [u8],
    sampler: &Sampler,
    bias: f32,
    border: Option<[u32; 4]>,
) -> anyhow::Result<()> {
    // The shader makes fractions of coordinates.
    let record = Sampler {
        unnormalised: false,
        border: border.map_or(sampler.border, |_| Border::TransparentBlack),
        ..*sampler
    };
    record.pack(&mut bytes[..32])?;
    let white = Sampler {
        border: Border::OpaqueWhite,
        ..record
    };
    let mut second = [0; 32];
    white.pack(&mut second)?;
    bytes[32..40].copy_from_slice(&second[..8]);
    put(bytes, 40, bias.to_bits());
    let mip = match sampler.mip {
        MipFilter::None => 0,
        MipFilter::Nearest => 1,
        MipFilter::Linear => 2,
    };
    put(
        bytes,
        44,
        u32::from(border.is_some()) | u32::from(sampler.unnormalised) << 1 | mip << 2,
    );
    for (at, word) in (48..).step_by(4).zip(border.unwrap_or_default()) {
        put(bytes, at, word);
    }
    Ok(())
}
