// SPDX-License-Identifier: MIT
//! Images, samplers and texel buffers of a case.

use agx_hw::format::Format;
pub use agx_hw::sampler::{Border, Compare, Filter, MipFilter, Sampler, Wrap};
use anyhow::ensure;

/// Descriptor types.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ImageKind {
    /// `VK_DESCRIPTOR_TYPE_SAMPLED_IMAGE`
    Sampled,
    /// `VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER`
    Combined,
    /// `VK_DESCRIPTOR_TYPE_SAMPLER`
    Sampler,
    /// `VK_DESCRIPTOR_TYPE_STORAGE_IMAGE`
    Storage,
    /// `VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER`
    UniformTexels,
    /// `VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER`
    StorageTexels,
}

impl ImageKind {
    /// The shader may write it.
    #[must_use]
    pub const fn is_written(self) -> bool {
        matches!(self, ImageKind::Storage | ImageKind::StorageTexels)
    }

    /// Its descriptors hold a sampler.
    #[must_use]
    pub const fn has_sampler(self) -> bool {
        matches!(self, ImageKind::Combined | ImageKind::Sampler)
    }
}

/// Dimensions of an image and of the view of all of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Texels in a row.
    D1(u32),
    /// And layers.
    D1Array(u32, u32),
    /// Width, height.
    D2(u32, u32),
    /// And layers.
    D2Array(u32, u32, u32),
    /// Width, height, samples.
    Multisampled(u32, u32, u32),
    /// Width, height, samples, layers.
    MultisampledArray(u32, u32, u32, u32),
    /// Width, height, depth.
    D3(u32, u32, u32),
    /// The side of a face.
    Cube(u32),
    /// And cubes.
    CubeArray(u32, u32),
    /// Texels of a buffer; of a sampler nothing.
    Buffer(u32),
}

impl Shape {
    /// Width, height and depth of a level.
    #[must_use]
    pub fn extent(self, level: u32) -> [u32; 3] {
        let extent = match self {
            Shape::D1(w) | Shape::D1Array(w, _) | Shape::Buffer(w) => [w, 1, 1],
            Shape::D2(w, h)
            | Shape::D2Array(w, h, _)
            | Shape::Multisampled(w, h, _)
            | Shape::MultisampledArray(w, h, ..) => [w, h, 1],
            Shape::D3(w, h, d) => [w, h, d],
            Shape::Cube(side) | Shape::CubeArray(side, _) => [side, side, 1],
        };
        extent.map(|size| (size >> level).max(1))
    }

    /// Layers, faces among them.
    #[must_use]
    pub const fn layers(self) -> u32 {
        match self {
            Shape::D1Array(_, layers)
            | Shape::D2Array(_, _, layers)
            | Shape::MultisampledArray(_, _, _, layers) => layers,
            Shape::Cube(_) => 6,
            Shape::CubeArray(_, cubes) => 6 * cubes,
            _ => 1,
        }
    }

    /// Samples of a pixel.
    #[must_use]
    pub const fn samples(self) -> u32 {
        match self {
            Shape::Multisampled(_, _, samples) | Shape::MultisampledArray(_, _, samples, _) => {
                samples
            }
            _ => 1,
        }
    }
}

/// An image, a texel buffer or a sampler in a descriptor set.
#[derive(Debug, Clone)]
pub struct Image {
    /// Descriptor set.
    pub set: u32,
    /// Binding.
    pub binding: u32,
    /// Element of an array of descriptors.
    pub element: u32,
    /// What it is bound as.
    pub kind: ImageKind,
    /// The format of its texels.
    pub format: Format,
    /// Its dimensions.
    pub shape: Shape,
    /// Levels.
    pub levels: u32,
    /// Its sampler, and what a record of it has no room for: the LOD bias.
    pub sampler: Option<(Sampler, f32)>,
    /// The bits of the sampler's border colour, if it is none of the presets.
    pub border: Option<[u32; 4]>,
    /// The texels of all levels, of each all layers or slices, of each all rows, without gaps. Multisampled images, which no
    /// command copies, have none.
    pub texels: Vec<u8>,
}

impl Image {
    /// What reports call it.
    #[must_use]
    pub fn describe(&self) -> String {
        let Image {
            set,
            binding,
            element,
            kind,
            ..
        } = self;
        format!("{kind:?} (set {set}, binding {binding}, element {element})")
    }

    /// Bytes of a texel.
    #[must_use]
    pub fn texel_bytes(&self) -> usize {
        self.format.element().bytes.into()
    }

    /// Of each texel in the order of `texels`: level, layer or slice, x, y.
    pub fn positions(&self) -> impl Iterator<Item = (u32, u32, u32, u32)> + use<> {
        let (shape, levels) = (self.shape, self.levels);
        (0..levels).flat_map(move |level| {
            let [width, height, depth] = shape.extent(level);
            let layers = depth * shape.layers();
            (0..layers).flat_map(move |layer| {
                (0..height).flat_map(move |y| (0..width).map(move |x| (level, layer, x, y)))
            })
        })
    }

    /// Bytes of all texels; 0 of multisampled images and samplers.
    #[must_use]
    pub fn size(&self) -> usize {
        if self.kind == ImageKind::Sampler || self.shape.samples() > 1 {
            return 0;
        }
        self.positions().count() * self.texel_bytes()
    }

    /// Refuses what is contradictory.
    ///
    /// # Errors
    /// When it has other texels than its shape says.
    pub fn check(&self) -> anyhow::Result<()> {
        let name = self.describe();
        ensure!(
            self.texels.len() == self.size(),
            "{name}: {} bytes of texels instead of {}",
            self.texels.len(),
            self.size()
        );
        ensure!(
            self.kind.has_sampler() == self.sampler.is_some(),
            "{name}: a sampler where none belongs, or none"
        );
        ensure!(self.levels >= 1, "{name}: no level");
        Ok(())
    }
}
