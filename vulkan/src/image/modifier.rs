// SPDX-License-Identifier: MIT
//! Layouts that other drivers know, too (VK_EXT_image_drm_format_modifier).
//!
//! There is one: rows of pixels. Older GPUs of Apple's have modifiers for their tiles
//! (`DRM_FORMAT_MOD_APPLE_TWIDDLED`), but whether this generation's lie alike is not known.

use agx_hw::layout::LINE;
use ash::vk;

use super::Image;
use crate::debug;
use crate::entry;
use crate::error::VkResult;
use crate::object;

/// `DRM_FORMAT_MOD_LINEAR` (drm_fourcc.h).
pub(crate) const LINEAR: u64 = 0;

/// Where rows are that somebody else has laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rows {
    /// Bytes before the first.
    pub(crate) offset: u64,
    /// Bytes from one to the next.
    pub(crate) stride: u32,
}

/// Whether an image of modifiers is asked for.
pub(crate) fn is_tiling(tiling: vk::ImageTiling) -> bool {
    tiling == vk::ImageTiling::DRM_FORMAT_MODIFIER_EXT
}

/// Where the rows of an image are that is asked for; nothing when that is the driver's choice.
///
/// # Errors
/// [`vk::Result::ERROR_INVALID_DRM_FORMAT_MODIFIER_PLANE_LAYOUT_EXT`] for rows that the hardware cannot have, and
/// [`vk::Result::ERROR_FORMAT_NOT_SUPPORTED`] for modifiers that were not offered.
///
/// # Safety
/// The structure is valid.
pub(crate) unsafe fn rows(info: &vk::ImageCreateInfo<'_>) -> VkResult<Option<Rows>> {
    type List<'a> = vk::ImageDrmFormatModifierListCreateInfoEXT<'a>;
    type Explicit<'a> = vk::ImageDrmFormatModifierExplicitCreateInfoEXT<'a>;
    if !is_tiling(info.tiling) {
        return Ok(None);
    }
    // SAFETY: the caller's promise.
    let (list, explicit) = unsafe {
        (
            entry::find::<List<'_>>(info.p_next),
            entry::find::<Explicit<'_>>(info.p_next),
        )
    };
    if let Some(list) = list {
        // SAFETY: the caller's promise.
        let modifiers =
            unsafe { entry::slice(list.p_drm_format_modifiers, list.drm_format_modifier_count) };
        if modifiers.contains(&LINEAR) {
            return Ok(None);
        }
    }
    let Some(explicit) = explicit.filter(|it| it.drm_format_modifier == LINEAR) else {
        debug::error(&"vkCreateImage: of all DRM format modifiers, there is only the linear one");
        return Err(vk::Result::ERROR_FORMAT_NOT_SUPPORTED);
    };
    // SAFETY: the caller's promise.
    let planes = unsafe {
        let count = explicit.drm_format_modifier_plane_count;
        entry::slice(explicit.p_plane_layouts, count)
    };
    given(planes).map(Some).map_err(|why| {
        debug::error(&format_args!("vkCreateImage: {why}"));
        vk::Result::ERROR_INVALID_DRM_FORMAT_MODIFIER_PLANE_LAYOUT_EXT
    })
}

fn given(planes: &[vk::SubresourceLayout]) -> Result<Rows, String> {
    let [plane] = planes else {
        return Err(format!("{} memory planes instead of one", planes.len()));
    };
    // The smallest unit that rendering to linear images was seen to take (images, 6).
    if !plane.offset.is_multiple_of(LINE) {
        return Err(format!(
            "rows begin at {}, which is no multiple of {LINE}",
            plane.offset
        ));
    }
    let stride = u32::try_from(plane.row_pitch);
    Ok(Rows {
        offset: plane.offset,
        stride: stride.map_err(|_| format!("rows of {} bytes", plane.row_pitch))?,
    })
}

/// vkGetImageDrmFormatModifierPropertiesEXT.
pub(crate) unsafe extern "system" fn get_image_drm_format_modifier_properties(
    _device: vk::Device,
    image: vk::Image,
    to: *mut vk::ImageDrmFormatModifierPropertiesEXT<'_>,
) -> vk::Result {
    entry::try_guard("vkGetImageDrmFormatModifierPropertiesEXT", || {
        // SAFETY: valid by the specification.
        unsafe {
            debug_assert!(object::get::<Image>(image).description.is_linear());
            (*to).drm_format_modifier = LINEAR;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_where_they_are_said_to_be_or_refused() {
        let layout = |offset, row_pitch| vk::SubresourceLayout {
            offset,
            row_pitch,
            ..Default::default()
        };
        let rows = given(&[layout(4096, 512)]);
        assert_eq!(
            rows,
            Ok(Rows {
                offset: 4096,
                stride: 512
            })
        );
        assert!(given(&[]).is_err());
        assert!(given(&[layout(0, 512), layout(0, 512)]).is_err());
        assert!(given(&[layout(64, 512)]).is_err());
        assert!(given(&[layout(0, 1 << 32)]).is_err());
    }
}
