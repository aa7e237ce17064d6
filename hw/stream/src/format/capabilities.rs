// SPDX-License-Identifier: MIT
//! What can be done with each format that Vulkan names.

use super::{Attachment, Format, VertexFormat};

/// `VK_FORMAT_D32_SFLOAT_S8_UINT`.
const D32_SFLOAT_S8_UINT: u32 = 130;

/// The images that an image of a format is made of (images, 5.4; HW).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Planes {
    /// One, of this format.
    One(Format),
    /// Two: depth and stencil are kept apart.
    DepthStencil {
        /// Depth.
        depth: Format,
        /// Stencil.
        stencil: Format,
    },
}

impl Planes {
    /// The images of a `VkFormat` number; `None` when there is no such image. 24-bit depth has none: what
    /// stands in for it is the driver's choice.
    #[must_use]
    pub const fn of_vulkan(number: u32) -> Option<Planes> {
        match number {
            D32_SFLOAT_S8_UINT => Some(Planes::DepthStencil {
                depth: Format::D32Sfloat,
                stencil: Format::S8Uint,
            }),
            _ => match Format::from_vulkan(number) {
                Some(format) => Some(Planes::One(format)),
                None => None,
            },
        }
    }
}

/// What hardware, and shaders on it, can do with a format (images, 5.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Capabilities {
    /// Textures, and texel fetches (HW).
    pub sampled: bool,
    /// Linear filters (HW, of compressed ones INFERRED).
    pub filter: bool,
    /// Loads and stores of texels by shaders; sRGB is not encoded by them (HW, for packed formats
    /// INFERRED).
    pub storage: bool,
    /// Atomics on texels (INFERRED).
    pub atomic: bool,
    /// Colour attachment, resolved and with 1, 2 or 4 samples as far as tile memory goes.
    pub colour: bool,
    /// Blending.
    pub blend: bool,
    /// Depth or stencil attachment (HW).
    pub depth_stencil: bool,
    /// Images that lie row by row: 2D, one level, one layer, one sample (HW).
    pub linear: bool,
    /// Texel buffers to read: as linear textures (HW).
    pub texel_buffer: bool,
    /// Texel buffers to write: as linear images.
    pub storage_texel_buffer: bool,
    /// Vertex attributes.
    pub vertex: bool,
}

impl Capabilities {
    /// Those of a `VkFormat` number: none for formats that are not known.
    #[must_use]
    pub fn of_vulkan(number: u32) -> Capabilities {
        let image = match Planes::of_vulkan(number) {
            None => Capabilities::default(),
            Some(Planes::One(format)) => format.capabilities(),
            Some(Planes::DepthStencil { depth, .. }) => Capabilities {
                // Filters are a matter of the aspect that is sampled; there is no linear form of two.
                linear: false,
                ..depth.capabilities()
            },
        };
        Capabilities {
            vertex: VertexFormat::from_vulkan(number).is_some(),
            ..image
        }
    }
}

impl Format {
    /// What can be done with images of it. Vertex attributes are of [`VertexFormat`].
    #[must_use]
    pub const fn capabilities(self) -> Capabilities {
        let attachment = self.attachment();
        let colour = matches!(attachment, Attachment::Unproven | Attachment::Proven);
        let depth_stencil = matches!(attachment, Attachment::DepthStencil);
        let linear = !self.is_compressed();
        let storage = colour && !self.is_srgb();
        Capabilities {
            sampled: true,
            filter: self.filters(),
            storage,
            atomic: self.atomics(),
            colour,
            blend: colour && self.blends(),
            depth_stencil,
            linear,
            texel_buffer: linear && !depth_stencil,
            storage_texel_buffer: storage,
            vertex: VertexFormat::from_vulkan(self.vulkan()).is_some(),
        }
    }
}
