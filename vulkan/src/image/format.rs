// SPDX-License-Identifier: MIT
//! Which images of the hardware a VkFormat is.

use std::sync::LazyLock;

use agx_hw::format::{Attachment, Channels, Format, Source, Swizzle};
use arrayvec::ArrayVec;
use ash::vk;

/// The hardware's images that one of a format consists of: one, or two for depth with stencil
/// (images, 5.4; HW). Empty for formats that there are none of.
pub(crate) fn planes(format: vk::Format) -> ArrayVec<Format, 2> {
    match format {
        vk::Format::D32_SFLOAT_S8_UINT => [Format::D32Sfloat, Format::S8Uint].into(),
        _ => single(format).into_iter().collect(),
    }
}

/// The hardware's format, for those that are one image.
pub(crate) fn single(format: vk::Format) -> Option<Format> {
    let table = &*TABLE;
    let at = table.binary_search_by_key(&format.as_raw(), |row| row.0);
    Some(table[at.ok()?].1)
}

/// What an image of a format has.
pub(crate) fn aspects(format: vk::Format) -> vk::ImageAspectFlags {
    match format {
        vk::Format::D32_SFLOAT_S8_UINT => {
            vk::ImageAspectFlags::DEPTH | vk::ImageAspectFlags::STENCIL
        }
        vk::Format::D16_UNORM | vk::Format::D32_SFLOAT => vk::ImageAspectFlags::DEPTH,
        vk::Format::S8_UINT => vk::ImageAspectFlags::STENCIL,
        _ => vk::ImageAspectFlags::COLOR,
    }
}

/// Whether shaders can store texels: what SPIR-V has an image format for (SPIR-V 1.6, 3.11 "Image
/// Format"), with the components in the order that it means.
pub(crate) fn stores(format: Format) -> bool {
    let known = matches!(
        format.encoding().channels(),
        Channels::R8
            | Channels::R8G8
            | Channels::R8G8B8A8
            | Channels::R16
            | Channels::R16G16
            | Channels::R16G16B16A16
            | Channels::R32
            | Channels::R32G32
            | Channels::R32G32B32A32
            | Channels::R10G10B10A2
            | Channels::R11G11B10
    );
    let shown = format.swizzle().0.into_iter().zip(Swizzle::IDENTITY.0);
    let in_order = shown
        .into_iter()
        .all(|(shown, own)| shown == own || matches!(shown, Source::Zero | Source::One));
    let colour = format.attachment() != Attachment::DepthStencil;
    known && in_order && colour && !format.is_srgb() && format != Format::A8Unorm
}

/// Formats by number. The hardware's are named as Vulkan's are, up to case and suffixes.
static TABLE: LazyLock<Vec<(i32, Format)>> = LazyLock::new(|| {
    let mut table: Vec<_> = NUMBERS
        .iter()
        .cloned()
        .flatten()
        .filter_map(|raw| Some((raw, named(&format!("{:?}", vk::Format::from_raw(raw)))?)))
        .collect();
    table.sort_unstable_by_key(|row| row.0);
    table
});

/// Numbers of formats: version 1.0, VK_EXT_texture_compression_astc_hdr (in version 1.3),
/// VK_EXT_4444_formats (in version 1.3), VK_KHR_maintenance5.
const NUMBERS: [std::ops::RangeInclusive<i32>; 4] = [
    1..=184,
    1_000_066_000..=1_000_066_013,
    1_000_340_000..=1_000_340_001,
    1_000_470_000..=1_000_470_001,
];

fn named(name: &str) -> Option<Format> {
    let name = name.trim_end_matches("_KHR").trim_end_matches("_EXT");
    let all = Format::ALL.iter().copied();
    all.into_iter()
        .find(|format| format.name().eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_of_the_hardware_is_found() {
        for format in Format::ALL {
            assert!(
                TABLE.iter().any(|row| row.1 == *format),
                "{}",
                format.name()
            );
        }
    }

    #[test]
    fn numbers_are_those_of_vulkan() {
        assert_eq!(
            single(vk::Format::R8G8B8A8_UNORM),
            Some(Format::R8G8B8A8Unorm)
        );
        assert_eq!(single(vk::Format::D24_UNORM_S8_UINT), None);
        assert_eq!(single(vk::Format::R8G8B8_UNORM), None);
        assert_eq!(single(vk::Format::UNDEFINED), None);
        assert_eq!(
            single(vk::Format::A4R4G4B4_UNORM_PACK16),
            Some(Format::A4R4G4B4UnormPack16)
        );
    }

    /// The formats that Vulkan 1.3 wants to be stored to ("Required Format Support", and
    /// shaderStorageImageExtendedFormats' list) are, and no others.
    #[test]
    fn stores_are_those_of_spirv() {
        use vk::Format as F;
        #[rustfmt::skip]
        let listed = [
            F::R8_UNORM, F::R8_SNORM, F::R8_UINT, F::R8_SINT, F::R8G8_UNORM, F::R8G8_SNORM,
            F::R8G8_UINT, F::R8G8_SINT, F::R8G8B8A8_UNORM, F::R8G8B8A8_SNORM, F::R8G8B8A8_UINT,
            F::R8G8B8A8_SINT, F::A8B8G8R8_UNORM_PACK32, F::A8B8G8R8_SNORM_PACK32,
            F::A8B8G8R8_UINT_PACK32, F::A8B8G8R8_SINT_PACK32, F::A2B10G10R10_UNORM_PACK32,
            F::A2B10G10R10_UINT_PACK32, F::R16_UNORM, F::R16_SNORM, F::R16_UINT, F::R16_SINT,
            F::R16_SFLOAT, F::R16G16_UNORM, F::R16G16_SNORM, F::R16G16_UINT, F::R16G16_SINT,
            F::R16G16_SFLOAT, F::R16G16B16A16_UNORM, F::R16G16B16A16_SNORM, F::R16G16B16A16_UINT,
            F::R16G16B16A16_SINT, F::R16G16B16A16_SFLOAT, F::R32_UINT, F::R32_SINT, F::R32_SFLOAT,
            F::R32G32_UINT, F::R32G32_SINT, F::R32G32_SFLOAT, F::R32G32B32A32_UINT,
            F::R32G32B32A32_SINT, F::R32G32B32A32_SFLOAT, F::B10G11R11_UFLOAT_PACK32,
        ];
        for raw in 0..=184 {
            let format = vk::Format::from_raw(raw);
            let found = single(format).is_some_and(stores);
            assert_eq!(found, listed.contains(&format), "{format:?}");
        }
    }
}
