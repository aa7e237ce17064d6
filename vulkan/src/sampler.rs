// SPDX-License-Identifier: MIT
//! VkSampler: its descriptor, made when it is.
//!
//! The record has no LOD bias and three border colours (images, 4; HW). Shader code adds the bias, and
//! finds out how much of a custom border is in a sample by taking two (images, 4.3; HW).

use agx_hw::sampler::{
    Anisotropy, Border, Compare, Filter, LodRange, MipFilter, Sampler as Record, Wrap,
};
use ash::vk;

use crate::device::{self, Device};
use crate::entry;
use crate::image::descriptor::{self, SAMPLER_SIZE, SamplerState};
use crate::object::{self, Object};

/// A sampler.
pub(crate) struct Sampler {
    /// As shaders find it in a descriptor set.
    pub(crate) descriptor: [u8; SAMPLER_SIZE],
}

impl Object for Sampler {
    type Handle = vk::Sampler;
}

fn filter(filter: vk::Filter) -> Filter {
    match filter {
        vk::Filter::LINEAR => Filter::Linear,
        _ => Filter::Nearest,
    }
}

fn wrap(mode: vk::SamplerAddressMode) -> Wrap {
    match mode {
        vk::SamplerAddressMode::REPEAT => Wrap::Repeat,
        vk::SamplerAddressMode::MIRRORED_REPEAT => Wrap::MirroredRepeat,
        vk::SamplerAddressMode::CLAMP_TO_BORDER => Wrap::ClampToBorder,
        vk::SamplerAddressMode::MIRROR_CLAMP_TO_EDGE => Wrap::MirrorClampToEdge,
        _ => Wrap::ClampToEdge,
    }
}

fn compare(op: vk::CompareOp) -> Compare {
    match op {
        vk::CompareOp::LESS => Compare::Less,
        vk::CompareOp::EQUAL => Compare::Equal,
        vk::CompareOp::LESS_OR_EQUAL => Compare::LessOrEqual,
        vk::CompareOp::GREATER => Compare::Greater,
        vk::CompareOp::NOT_EQUAL => Compare::NotEqual,
        vk::CompareOp::GREATER_OR_EQUAL => Compare::GreaterOrEqual,
        vk::CompareOp::ALWAYS => Compare::Always,
        _ => Compare::Never,
    }
}

/// The border among the hardware's, or the colour that none of them is.
fn border(
    colour: vk::BorderColor,
    custom: Option<&vk::SamplerCustomBorderColorCreateInfoEXT<'_>>,
) -> Result<Border, [u32; 4]> {
    match colour {
        vk::BorderColor::FLOAT_OPAQUE_BLACK | vk::BorderColor::INT_OPAQUE_BLACK => {
            Ok(Border::OpaqueBlack)
        }
        vk::BorderColor::FLOAT_OPAQUE_WHITE | vk::BorderColor::INT_OPAQUE_WHITE => {
            Ok(Border::OpaqueWhite)
        }
        vk::BorderColor::FLOAT_CUSTOM_EXT | vk::BorderColor::INT_CUSTOM_EXT => {
            // SAFETY: a union of arrays of four words, whose bits are all that counts here.
            let words = custom.map(|custom| unsafe { custom.custom_border_color.uint32 });
            Err(words.unwrap_or_default())
        }
        _ => Ok(Border::TransparentBlack),
    }
}

/// # Safety
/// The structure is valid.
unsafe fn state(info: &vk::SamplerCreateInfo<'_>) -> SamplerState {
    // SAFETY: the caller's promise.
    let custom = unsafe { entry::find(info.p_next) };
    let border = border(info.border_color, custom);
    let record = Record {
        lod: LodRange::new(info.min_lod, info.max_lod),
        anisotropy: match info.anisotropy_enable {
            vk::TRUE => Anisotropy::at_most(info.max_anisotropy),
            _ => Anisotropy::X1,
        },
        mag: filter(info.mag_filter),
        min: filter(info.min_filter),
        mip: match info.mipmap_mode {
            vk::SamplerMipmapMode::LINEAR => MipFilter::Linear,
            _ => MipFilter::Nearest,
        },
        wrap: [
            info.address_mode_u,
            info.address_mode_v,
            info.address_mode_w,
        ]
        .map(wrap),
        // The shader divides by the size, as the proven driver does.
        unnormalised: false,
        compare: match info.compare_enable {
            vk::TRUE => compare(info.compare_op),
            _ => Compare::Never,
        },
        border: border.unwrap_or(Border::TransparentBlack),
        non_seamless: info
            .flags
            .contains(vk::SamplerCreateFlags::NON_SEAMLESS_CUBE_MAP_EXT),
    };
    let white = Record {
        border: Border::OpaqueWhite,
        ..record
    };
    let custom = border.err();
    SamplerState {
        record: record.bits(),
        white: if custom.is_some() { white } else { record }.bits(),
        lod_bias: info.mip_lod_bias,
        border: custom,
        unnormalised: info.unnormalized_coordinates == vk::TRUE,
        mip_filter: record.mip.code(),
    }
}

/// vkCreateSampler.
pub(crate) unsafe extern "system" fn create_sampler(
    device: vk::Device,
    info: *const vk::SamplerCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    sampler: *mut vk::Sampler,
) -> vk::Result {
    entry::try_guard("vkCreateSampler", || {
        // SAFETY: valid by the specification.
        unsafe {
            let device = object::get::<Device>(device);
            let made = Sampler {
                descriptor: descriptor::sampler(&state(&*info)),
            };
            *sampler = object::create(device.allocator(allocator), made)?;
        }
        Ok(())
    })
}

/// vkDestroySampler.
pub(crate) unsafe extern "system" fn destroy_sampler(
    device: vk::Device,
    sampler: vk::Sampler,
    allocator: *const vk::AllocationCallbacks<'_>,
) {
    // SAFETY: null or a live handle that no one else uses, by the specification.
    unsafe { device::destroy_object::<Sampler>("vkDestroySampler", device, sampler, allocator) };
}
