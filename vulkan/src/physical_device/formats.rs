// SPDX-License-Identifier: MIT
//! What can be done with formats.

use agx_hw::format::{Attachment, VertexFormat};
use ash::vk;

use super::external;
use crate::entry;
use crate::error::VkResult;
use crate::image::{Description, Most, format, modifier, pack};

type Features = vk::FormatFeatureFlags2;

/// Features of images of a format.
fn image_features(format: vk::Format, tiling: vk::ImageTiling) -> Features {
    let planes = format::planes(format);
    let Some(first) = planes.first().copied() else {
        return Features::empty();
    };
    if tiling == vk::ImageTiling::LINEAR && (first.is_compressed() || planes.len() > 1) {
        return Features::empty();
    }
    let mut features = Features::TRANSFER_SRC | Features::TRANSFER_DST;
    features |= Features::SAMPLED_IMAGE | Features::BLIT_SRC;
    if planes.iter().all(|plane| pack::packing(*plane).is_some()) {
        features |= Features::BLIT_DST;
    }
    if first.filters() {
        features |= Features::SAMPLED_IMAGE_FILTER_LINEAR;
    }
    if format::aspects(format).contains(vk::ImageAspectFlags::DEPTH) {
        features |= Features::SAMPLED_IMAGE_DEPTH_COMPARISON;
    }
    if format::stores(first) {
        features |= Features::STORAGE_IMAGE | Features::STORAGE_READ_WITHOUT_FORMAT;
    }
    if first.atomics() {
        features |= Features::STORAGE_IMAGE_ATOMIC;
    }
    match first.attachment() {
        Attachment::Proven | Attachment::Unproven => {
            features |= Features::COLOR_ATTACHMENT;
            if first.blends() {
                features |= Features::COLOR_ATTACHMENT_BLEND;
            }
        }
        Attachment::DepthStencil if tiling == vk::ImageTiling::OPTIMAL => {
            features |= Features::DEPTH_STENCIL_ATTACHMENT;
        }
        _ => {}
    }
    features
}

/// Features of texel buffers of a format.
fn buffer_features(format: vk::Format) -> Features {
    let mut features = Features::empty();
    if u32::try_from(format.as_raw()).is_ok_and(|n| VertexFormat::from_vulkan(n).is_some()) {
        features |= Features::VERTEX_BUFFER;
    }
    let colour = format::aspects(format) == vk::ImageAspectFlags::COLOR;
    let Some(format) = format::single(format).filter(|one| colour && !one.is_compressed()) else {
        return features;
    };
    features |= Features::UNIFORM_TEXEL_BUFFER;
    if format::stores(format) {
        features |= Features::STORAGE_TEXEL_BUFFER | Features::STORAGE_READ_WITHOUT_FORMAT;
    }
    if format.atomics() {
        features |= Features::STORAGE_TEXEL_BUFFER_ATOMIC;
    }
    features
}

/// As version 1.0 has them: the bits are the same, as far as it has them.
fn old(features: Features) -> vk::FormatFeatureFlags {
    // VK_FORMAT_FEATURE_COSITED_CHROMA_SAMPLES_BIT is the highest that both have.
    let shared = (1_u64 << 31) - 1;
    vk::FormatFeatureFlags::from_raw((features.as_raw() & shared) as u32)
}

fn properties(format: vk::Format) -> vk::FormatProperties {
    vk::FormatProperties {
        linear_tiling_features: old(image_features(format, vk::ImageTiling::LINEAR)),
        optimal_tiling_features: old(image_features(format, vk::ImageTiling::OPTIMAL)),
        buffer_features: old(buffer_features(format)),
    }
}

fn properties3(format: vk::Format) -> vk::FormatProperties3<'static> {
    vk::FormatProperties3::default()
        .linear_tiling_features(image_features(format, vk::ImageTiling::LINEAR))
        .optimal_tiling_features(image_features(format, vk::ImageTiling::OPTIMAL))
        .buffer_features(buffer_features(format))
}

/// Features of images of a format that have the only DRM format modifier, if there are such: colours alone.
fn modifier_features(format: vk::Format) -> Option<Features> {
    let features = image_features(format, vk::ImageTiling::LINEAR);
    let colour = format::aspects(format) == vk::ImageAspectFlags::COLOR;
    (colour && !features.is_empty()).then_some(features)
}

/// Writes the list of modifiers of a format, if `link` is one of either kind.
///
/// # Safety
/// The structure is valid.
unsafe fn put_modifiers(link: *mut vk::BaseOutStructure<'static>, format: vk::Format) {
    type Old<'a> = vk::DrmFormatModifierPropertiesListEXT<'a>;
    type New<'a> = vk::DrmFormatModifierPropertiesList2EXT<'a>;
    let modifiers = modifier_features(format).into_iter();
    // SAFETY: links have the type that they name; the caller's promise.
    // A list that is too short is the application's choice here: no command returns anything.
    let _ = unsafe {
        match (*link).s_type {
            <Old<'_> as vk::TaggedStructure>::STRUCTURE_TYPE => {
                let list = &mut *link.cast::<Old<'_>>();
                let count = &raw mut list.drm_format_modifier_count;
                let made = modifiers.map(|features| vk::DrmFormatModifierPropertiesEXT {
                    drm_format_modifier: modifier::LINEAR,
                    drm_format_modifier_plane_count: 1,
                    drm_format_modifier_tiling_features: old(features),
                });
                entry::enumerate(made, count, list.p_drm_format_modifier_properties)
            }
            <New<'_> as vk::TaggedStructure>::STRUCTURE_TYPE => {
                let list = &mut *link.cast::<New<'_>>();
                let count = &raw mut list.drm_format_modifier_count;
                let made = modifiers.map(|features| vk::DrmFormatModifierProperties2EXT {
                    drm_format_modifier: modifier::LINEAR,
                    drm_format_modifier_plane_count: 1,
                    drm_format_modifier_tiling_features: features,
                });
                entry::enumerate(made, count, list.p_drm_format_modifier_properties)
            }
            _ => Ok(()),
        }
    };
}

/// vkGetPhysicalDeviceFormatProperties.
pub(crate) unsafe extern "system" fn get_format(
    _physical: vk::PhysicalDevice,
    format: vk::Format,
    to: *mut vk::FormatProperties,
) {
    entry::guard("vkGetPhysicalDeviceFormatProperties", || {
        // SAFETY: valid by the specification.
        unsafe { *to = properties(format) };
    });
}

/// vkGetPhysicalDeviceFormatProperties2.
pub(crate) unsafe extern "system" fn get_format2(
    _physical: vk::PhysicalDevice,
    format: vk::Format,
    to: *mut vk::FormatProperties2<'_>,
) {
    entry::guard("vkGetPhysicalDeviceFormatProperties2", || {
        // SAFETY: valid by the specification.
        for link in unsafe { entry::chain_mut(to.cast()) } {
            // SAFETY: links have the type that they name.
            unsafe {
                match (*link).s_type {
                    vk::StructureType::FORMAT_PROPERTIES_2 => {
                        let made = vk::FormatProperties2::default();
                        entry::put(link, made.format_properties(properties(format)));
                    }
                    vk::StructureType::FORMAT_PROPERTIES_3 => {
                        entry::put(link, properties3(format));
                    }
                    _ => put_modifiers(link, format),
                }
            }
        }
    });
}

/// What can be rendered to.
const ATTACHMENT: Features = Features::from_raw(
    Features::COLOR_ATTACHMENT.as_raw() | Features::DEPTH_STENCIL_ATTACHMENT.as_raw(),
);

/// What usage needs of a format: one of these.
const USES: &[(vk::ImageUsageFlags, Features)] = &[
    (vk::ImageUsageFlags::TRANSFER_SRC, Features::TRANSFER_SRC),
    (vk::ImageUsageFlags::TRANSFER_DST, Features::TRANSFER_DST),
    (vk::ImageUsageFlags::SAMPLED, Features::SAMPLED_IMAGE),
    (vk::ImageUsageFlags::STORAGE, Features::STORAGE_IMAGE),
    (
        vk::ImageUsageFlags::COLOR_ATTACHMENT,
        Features::COLOR_ATTACHMENT,
    ),
    (
        vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT,
        Features::DEPTH_STENCIL_ATTACHMENT,
    ),
    // What is an input attachment or transient is an attachment, too (Vulkan 1.3, 34.3.2).
    (vk::ImageUsageFlags::INPUT_ATTACHMENT, ATTACHMENT),
    (vk::ImageUsageFlags::TRANSIENT_ATTACHMENT, ATTACHMENT),
    // What is sampled while it is rendered to is as it was at the last barrier, which ends a render command.
    (
        vk::ImageUsageFlags::ATTACHMENT_FEEDBACK_LOOP_EXT,
        Features::SAMPLED_IMAGE,
    ),
];

/// A question about images.
struct Question {
    format: vk::Format,
    kind: vk::ImageType,
    tiling: vk::ImageTiling,
    usage: vk::ImageUsageFlags,
    flags: vk::ImageCreateFlags,
}

impl Question {
    /// Several samples are for attachments of two dimensions.
    fn sample_counts(&self, features: Features) -> vk::SampleCountFlags {
        let attachment =
            features.intersects(Features::COLOR_ATTACHMENT | Features::DEPTH_STENCIL_ATTACHMENT);
        let cube = vk::ImageCreateFlags::CUBE_COMPATIBLE;
        let many = attachment
            && self.kind == vk::ImageType::TYPE_2D
            && self.tiling == vk::ImageTiling::OPTIMAL
            && !self.flags.contains(cube)
            && !self.usage.contains(vk::ImageUsageFlags::STORAGE);
        match many {
            true => {
                vk::SampleCountFlags::TYPE_1
                    | vk::SampleCountFlags::TYPE_2
                    | vk::SampleCountFlags::TYPE_4
            }
            false => vk::SampleCountFlags::TYPE_1,
        }
    }

    /// # Errors
    /// When there are no such images.
    fn answer(&self) -> VkResult<vk::ImageFormatProperties> {
        let none = Err(vk::Result::ERROR_FORMAT_NOT_SUPPORTED);
        let features = image_features(self.format, self.tiling);
        let mut left = self.usage;
        for (usage, feature) in USES {
            if left.contains(*usage) && !features.intersects(*feature) {
                // With extended usage, views of other formats may have it.
                let extended = self.flags.contains(vk::ImageCreateFlags::EXTENDED_USAGE);
                if !extended {
                    return none;
                }
            }
            left &= !*usage;
        }
        if features.is_empty() || !left.is_empty() {
            return none;
        }
        let most = Most::of(self.kind, self.tiling);
        // The smallest image tells whether there are any of the kind.
        let smallest = Description {
            kind: self.kind,
            format: self.format,
            extent: [1; 3],
            levels: 1,
            layers: 1,
            samples: vk::SampleCountFlags::TYPE_1,
            tiling: self.tiling,
            usage: self.usage,
            flags: self.flags,
            rows: None,
        };
        if smallest.planes().is_err() {
            return none;
        }
        Ok(vk::ImageFormatProperties {
            max_extent: vk::Extent3D {
                width: most.extent[0],
                height: most.extent[1],
                depth: most.extent[2],
            },
            max_mip_levels: most.levels,
            max_array_layers: most.layers,
            sample_counts: self.sample_counts(features),
            max_resource_size: MAX_RESOURCE,
        })
    }
}

/// Bytes of the largest image.
const MAX_RESOURCE: u64 = crate::buffer::MAX_SIZE;

/// vkGetPhysicalDeviceImageFormatProperties.
pub(crate) unsafe extern "system" fn get_image_format(
    _physical: vk::PhysicalDevice,
    format: vk::Format,
    kind: vk::ImageType,
    tiling: vk::ImageTiling,
    usage: vk::ImageUsageFlags,
    flags: vk::ImageCreateFlags,
    to: *mut vk::ImageFormatProperties,
) -> vk::Result {
    entry::try_guard("vkGetPhysicalDeviceImageFormatProperties", || {
        let question = Question {
            format,
            kind,
            tiling,
            usage,
            flags,
        };
        let answer = question.answer();
        // SAFETY: valid by the specification.
        unsafe { *to = answer.unwrap_or_default() };
        answer.map(drop)
    })
}

/// Whether a question is about a modifier that the format has.
///
/// # Safety
/// The structure is valid.
unsafe fn is_offered(info: &vk::PhysicalDeviceImageFormatInfo2<'_>) -> bool {
    type Asked<'a> = vk::PhysicalDeviceImageDrmFormatModifierInfoEXT<'a>;
    // SAFETY: the caller's promise.
    let asked = unsafe { entry::find::<Asked<'_>>(info.p_next) };
    let linear = asked.is_some_and(|asked| asked.drm_format_modifier == modifier::LINEAR);
    linear && info.ty == vk::ImageType::TYPE_2D && modifier_features(info.format).is_some()
}

/// vkGetPhysicalDeviceImageFormatProperties2.
pub(crate) unsafe extern "system" fn get_image_format2(
    _physical: vk::PhysicalDevice,
    info: *const vk::PhysicalDeviceImageFormatInfo2<'_>,
    to: *mut vk::ImageFormatProperties2<'_>,
) -> vk::Result {
    type External<'a> = vk::PhysicalDeviceExternalImageFormatInfo<'a>;
    entry::try_guard("vkGetPhysicalDeviceImageFormatProperties2", || {
        // SAFETY: valid by the specification.
        let (info, handle) = unsafe {
            let external = entry::find::<External<'_>>((*info).p_next);
            (
                &*info,
                external.map_or(vk::ExternalMemoryHandleTypeFlags::empty(), |e| {
                    e.handle_type
                }),
            )
        };
        let question = Question {
            format: info.format,
            kind: info.ty,
            tiling: match modifier::is_tiling(info.tiling) {
                true => vk::ImageTiling::LINEAR,
                false => info.tiling,
            },
            usage: info.usage,
            flags: info.flags,
        };
        let mut answer = question.answer();
        // SAFETY: as above.
        if modifier::is_tiling(info.tiling) && !unsafe { is_offered(info) } {
            answer = Err(vk::Result::ERROR_FORMAT_NOT_SUPPORTED);
        }
        if !external::MEMORY_HANDLES.contains(handle) {
            // An answer, not a fault: programs ask about every kind of handle.
            answer = Err(vk::Result::ERROR_FORMAT_NOT_SUPPORTED);
        }
        // SAFETY: as above. The contents of the chain are undefined after an error, but for the base
        // structure.
        unsafe {
            (*to).image_format_properties = answer.unwrap_or_default();
            for link in entry::chain_mut((*to).p_next) {
                if (*link).s_type == vk::StructureType::EXTERNAL_IMAGE_FORMAT_PROPERTIES {
                    let made = vk::ExternalImageFormatProperties::default();
                    let properties = external::memory_properties(handle);
                    entry::put(link, made.external_memory_properties(properties));
                }
            }
        }
        answer.map(drop)
    })
}

/// vkGetPhysicalDeviceSparseImageFormatProperties.
pub(crate) unsafe extern "system" fn get_sparse_image_formats(
    _physical: vk::PhysicalDevice,
    _format: vk::Format,
    _kind: vk::ImageType,
    _samples: vk::SampleCountFlags,
    _usage: vk::ImageUsageFlags,
    _tiling: vk::ImageTiling,
    count: *mut u32,
    _properties: *mut vk::SparseImageFormatProperties,
) {
    entry::guard("vkGetPhysicalDeviceSparseImageFormatProperties", || {
        // SAFETY: valid by the specification.
        unsafe { *count = 0 };
    });
}

/// vkGetPhysicalDeviceSparseImageFormatProperties2.
pub(crate) unsafe extern "system" fn get_sparse_image_formats2(
    _physical: vk::PhysicalDevice,
    _info: *const vk::PhysicalDeviceSparseImageFormatInfo2<'_>,
    count: *mut u32,
    _properties: *mut vk::SparseImageFormatProperties2<'_>,
) {
    entry::guard("vkGetPhysicalDeviceSparseImageFormatProperties2", || {
        // SAFETY: valid by the specification.
        unsafe { *count = 0 };
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Vulkan 1.3, 34.3.2: of a usage, the features of which a format has at least one.
    const NEEDS: &[(vk::ImageUsageFlags, &[Features])] = &[
        (vk::ImageUsageFlags::SAMPLED, &[Features::SAMPLED_IMAGE]),
        (vk::ImageUsageFlags::STORAGE, &[Features::STORAGE_IMAGE]),
        (
            vk::ImageUsageFlags::COLOR_ATTACHMENT,
            &[Features::COLOR_ATTACHMENT],
        ),
        (
            vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT,
            &[Features::DEPTH_STENCIL_ATTACHMENT],
        ),
        (
            vk::ImageUsageFlags::INPUT_ATTACHMENT,
            &[
                Features::COLOR_ATTACHMENT,
                Features::DEPTH_STENCIL_ATTACHMENT,
            ],
        ),
    ];

    #[test]
    fn images_are_offered_for_what_their_formats_can_do_alone() {
        let mut offered = 0;
        for (number, tiling) in (1..185).flat_map(|n| {
            [vk::ImageTiling::LINEAR, vk::ImageTiling::OPTIMAL].map(|tiling| (n, tiling))
        }) {
            let format = vk::Format::from_raw(number);
            let features = image_features(format, tiling);
            for (usage, needs) in NEEDS {
                let question = Question {
                    format,
                    kind: vk::ImageType::TYPE_2D,
                    tiling,
                    usage: *usage,
                    flags: vk::ImageCreateFlags::empty(),
                };
                let can = needs.iter().any(|feature| features.contains(*feature));
                let is_offered = question.answer().is_ok();
                offered += u32::from(is_offered);
                assert!(can || !is_offered, "{format:?} {tiling:?} {usage:?}");
            }
        }
        assert!(offered > 300, "{offered}");
    }
}
