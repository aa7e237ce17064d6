// SPDX-License-Identifier: MIT
//! A case's images, texel buffers and samplers.

use agx_hw::format::Format;
use agx_hw::sampler::{Border, Compare, Filter, MipFilter, Sampler, Wrap};
use anyhow::Context as _;
use ash::vk;

use super::instance::Instance;
use super::scope::Scope;
use crate::case::Case;
use crate::image::{Image, ImageKind, Shape};

/// The type of descriptors of a kind.
pub(super) const fn descriptor_type(kind: ImageKind) -> vk::DescriptorType {
    match kind {
        ImageKind::Sampled => vk::DescriptorType::SAMPLED_IMAGE,
        ImageKind::Combined => vk::DescriptorType::COMBINED_IMAGE_SAMPLER,
        ImageKind::Sampler => vk::DescriptorType::SAMPLER,
        ImageKind::Storage => vk::DescriptorType::STORAGE_IMAGE,
        ImageKind::UniformTexels => vk::DescriptorType::UNIFORM_TEXEL_BUFFER,
        ImageKind::StorageTexels => vk::DescriptorType::STORAGE_TEXEL_BUFFER,
    }
}

/// One of the case's.
#[derive(Default)]
struct Made {
    image: vk::Image,
    view: vk::ImageView,
    buffer_view: vk::BufferView,
    sampler: vk::Sampler,
    /// Texels on the way to the image and back, or those of a texel buffer.
    staging: vk::Buffer,
    mapping: Option<*const u8>,
    regions: Vec<vk::BufferImageCopy>,
    aspect: vk::ImageAspectFlags,
}

/// The images of one run.
pub(super) struct Images(Vec<Made>);

/// Vulkan's number of a format: both name it alike.
fn vulkan_format(format: Format) -> anyhow::Result<vk::Format> {
    let found = (1..=184)
        .map(vk::Format::from_raw)
        .find(|f| format!("{f:?}") == format.name());
    found.with_context(|| format!("{} is no format of core Vulkan", format.name()))
}

impl Images {
    /// Creates them, and staging buffers with their texels.
    pub(super) fn new(
        instance: &Instance,
        scope: &mut Scope<'_>,
        case: &Case,
    ) -> anyhow::Result<Images> {
        let make = |image: &Image| make(instance, scope, image).with_context(|| image.describe());
        Ok(Images(
            case.images
                .iter()
                .map(make)
                .collect::<anyhow::Result<_>>()?,
        ))
    }

    /// Fills the images.
    ///
    /// # Safety
    /// The command buffer is of this device and being recorded.
    pub(super) unsafe fn upload(&self, device: &ash::Device, commands: vk::CommandBuffer) {
        let to = vk::ImageLayout::TRANSFER_DST_OPTIMAL;
        for made in self.0.iter().filter(|made| made.image != vk::Image::null()) {
            // SAFETY: the handles live until the run is over; the regions lie in both.
            unsafe {
                transition(device, commands, made, vk::ImageLayout::UNDEFINED, to);
                if !made.regions.is_empty() {
                    device.cmd_copy_buffer_to_image(
                        commands,
                        made.staging,
                        made.image,
                        to,
                        &made.regions,
                    );
                }
                transition(device, commands, made, to, vk::ImageLayout::GENERAL);
            }
        }
    }

    /// Brings the images' texels back.
    ///
    /// # Safety
    /// As [`Images::upload`].
    pub(super) unsafe fn download(&self, device: &ash::Device, commands: vk::CommandBuffer) {
        let from = vk::ImageLayout::GENERAL;
        for made in self.0.iter().filter(|made| !made.regions.is_empty()) {
            // SAFETY: as above.
            unsafe {
                transition(device, commands, made, from, from);
                device.cmd_copy_image_to_buffer(
                    commands,
                    made.image,
                    from,
                    made.staging,
                    &made.regions,
                );
            }
        }
    }

    /// Describes them in the sets.
    pub(super) fn write(&self, device: &ash::Device, case: &Case, sets: &[vk::DescriptorSet]) {
        for (image, made) in case.images.iter().zip(&self.0) {
            let info = [vk::DescriptorImageInfo::default()
                .image_layout(vk::ImageLayout::GENERAL)
                .image_view(made.view)
                .sampler(made.sampler)];
            let views = [made.buffer_view];
            let write = vk::WriteDescriptorSet::default()
                .dst_set(sets[image.set as usize])
                .dst_binding(image.binding)
                .dst_array_element(image.element)
                .descriptor_type(descriptor_type(image.kind));
            let write = match made.buffer_view == vk::BufferView::null() {
                true => write.image_info(&info),
                false => write.texel_buffer_view(&views),
            };
            // SAFETY: the set's layout was made from the same case; nothing uses the set yet.
            unsafe { device.update_descriptor_sets(&[write], &[]) };
        }
    }

    /// Their texels; no command may be running.
    pub(super) fn read(&self, case: &Case) -> Vec<Vec<u8>> {
        let pairs = case.images.iter().zip(&self.0);
        let read = pairs.map(|(image, made)| match made.mapping {
            // SAFETY: the mapping lives until the scope ends and has these bytes.
            Some(mapping) => unsafe { std::slice::from_raw_parts(mapping, image.size()) }.to_vec(),
            None => Vec::new(),
        });
        read.collect()
    }
}

const fn all_of(aspect_mask: vk::ImageAspectFlags) -> vk::ImageSubresourceRange {
    vk::ImageSubresourceRange {
        aspect_mask,
        base_mip_level: 0,
        level_count: vk::REMAINING_MIP_LEVELS,
        base_array_layer: 0,
        layer_count: vk::REMAINING_ARRAY_LAYERS,
    }
}

/// Brings an image to another layout, behind everything in front of that and in front of everything behind it.
///
/// # Safety
/// The command buffer is of this device and being recorded; the image lives until it has run.
unsafe fn transition(
    device: &ash::Device,
    commands: vk::CommandBuffer,
    made: &Made,
    from: vk::ImageLayout,
    to: vk::ImageLayout,
) {
    let access = vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE;
    let barrier = vk::ImageMemoryBarrier::default()
        .src_access_mask(access)
        .dst_access_mask(access)
        .old_layout(from)
        .new_layout(to)
        .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .image(made.image)
        .subresource_range(all_of(made.aspect));
    let stages = vk::PipelineStageFlags::ALL_COMMANDS;
    // SAFETY: as the caller says.
    unsafe {
        let flags = vk::DependencyFlags::empty();
        device.cmd_pipeline_barrier(commands, stages, stages, flags, &[], &[], &[barrier]);
    }
}

fn make(instance: &Instance, scope: &mut Scope<'_>, image: &Image) -> anyhow::Result<Made> {
    let device = scope.device();
    let mut made = Made::default();
    if let Some((sampler, bias)) = &image.sampler {
        made.sampler = make_sampler(scope, sampler, *bias)?;
    }
    if image.kind == ImageKind::Sampler {
        return Ok(made);
    }
    let format = vulkan_format(image.format)?;
    if image.size() > 0 {
        let usage = match image.kind {
            ImageKind::UniformTexels => vk::BufferUsageFlags::UNIFORM_TEXEL_BUFFER,
            ImageKind::StorageTexels => vk::BufferUsageFlags::STORAGE_TEXEL_BUFFER,
            _ => vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST,
        };
        let info = vk::BufferCreateInfo::default()
            .size(image.size() as u64)
            .usage(usage);
        made.staging = scope.buffer(&info)?;
        // SAFETY: just made.
        let needs = unsafe { device.get_buffer_memory_requirements(made.staging) };
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(needs.size)
            .memory_type_index(instance.host_memory(needs.memory_type_bits)?);
        let memory = scope.memory(&info)?;
        // SAFETY: the memory is new, host visible and large enough for the texels.
        unsafe {
            device.bind_buffer_memory(made.staging, memory, 0)?;
            let whole = vk::MemoryMapFlags::empty();
            let mapping = device
                .map_memory(memory, 0, vk::WHOLE_SIZE, whole)?
                .cast::<u8>();
            std::ptr::copy_nonoverlapping(image.texels.as_ptr(), mapping, image.texels.len());
            made.mapping = Some(mapping);
        }
    }
    if let Shape::Buffer(_) = image.shape {
        let info = vk::BufferViewCreateInfo::default()
            .buffer(made.staging)
            .format(format)
            .range(vk::WHOLE_SIZE);
        made.buffer_view = scope.buffer_view(&info)?;
        return Ok(made);
    }
    make_image(instance, scope, image, format, &mut made)?;
    Ok(made)
}

fn make_image(
    instance: &Instance,
    scope: &mut Scope<'_>,
    image: &Image,
    format: vk::Format,
    made: &mut Made,
) -> anyhow::Result<()> {
    use vk::{ImageType, ImageViewType};
    let device = scope.device();
    made.aspect = match format {
        vk::Format::D16_UNORM | vk::Format::D32_SFLOAT => vk::ImageAspectFlags::DEPTH,
        _ => vk::ImageAspectFlags::COLOR,
    };
    let [width, height, depth] = image.shape.extent(0);
    let (ty, view) = match image.shape {
        Shape::D1(_) => (ImageType::TYPE_1D, ImageViewType::TYPE_1D),
        Shape::D1Array(..) => (ImageType::TYPE_1D, ImageViewType::TYPE_1D_ARRAY),
        Shape::D2(..) | Shape::Multisampled(..) => (ImageType::TYPE_2D, ImageViewType::TYPE_2D),
        Shape::D2Array(..) | Shape::MultisampledArray(..) => {
            (ImageType::TYPE_2D, ImageViewType::TYPE_2D_ARRAY)
        }
        Shape::Cube(_) => (ImageType::TYPE_2D, ImageViewType::CUBE),
        Shape::CubeArray(..) => (ImageType::TYPE_2D, ImageViewType::CUBE_ARRAY),
        Shape::D3(..) | Shape::Buffer(_) => (ImageType::TYPE_3D, ImageViewType::TYPE_3D),
    };
    let cube = matches!(image.shape, Shape::Cube(_) | Shape::CubeArray(..));
    let flags = match cube {
        true => vk::ImageCreateFlags::CUBE_COMPATIBLE,
        false => vk::ImageCreateFlags::empty(),
    };
    let usage = match image.kind {
        ImageKind::Storage => vk::ImageUsageFlags::STORAGE,
        _ => vk::ImageUsageFlags::SAMPLED,
    };
    let info = vk::ImageCreateInfo::default()
        .flags(flags)
        .image_type(ty)
        .format(format)
        .extent(vk::Extent3D {
            width,
            height,
            depth,
        })
        .mip_levels(image.levels)
        .array_layers(image.shape.layers())
        .samples(vk::SampleCountFlags::from_raw(image.shape.samples()))
        .usage(usage | vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST);
    made.image = scope.image(&info)?;
    // SAFETY: just made.
    let needs = unsafe { device.get_image_memory_requirements(made.image) };
    let info = vk::MemoryAllocateInfo::default()
        .allocation_size(needs.size)
        .memory_type_index(instance.host_memory(needs.memory_type_bits)?);
    let memory = scope.memory(&info)?;
    // SAFETY: the memory is new and as large as the image needs.
    unsafe { device.bind_image_memory(made.image, memory, 0) }?;
    let mut range = all_of(made.aspect);
    // Storage images are of one level.
    if image.kind == ImageKind::Storage {
        range.level_count = 1;
    }
    let info = vk::ImageViewCreateInfo::default()
        .image(made.image)
        .view_type(view)
        .format(format)
        .subresource_range(range);
    made.view = scope.image_view(&info)?;
    if image.size() == 0 {
        return Ok(());
    }
    let mut offset = 0;
    for level in 0..image.levels {
        let [width, height, depth] = image.shape.extent(level);
        let layers = image.shape.layers();
        made.regions.push(
            vk::BufferImageCopy::default()
                .buffer_offset(offset)
                .image_subresource(vk::ImageSubresourceLayers {
                    aspect_mask: made.aspect,
                    mip_level: level,
                    base_array_layer: 0,
                    layer_count: layers,
                })
                .image_extent(vk::Extent3D {
                    width,
                    height,
                    depth,
                }),
        );
        offset += u64::from(width * height * depth * layers) * image.texel_bytes() as u64;
    }
    Ok(())
}

fn make_sampler(
    scope: &mut Scope<'_>,
    sampler: &Sampler,
    bias: f32,
) -> anyhow::Result<vk::Sampler> {
    let filter = |filter| match filter {
        Filter::Nearest => vk::Filter::NEAREST,
        Filter::Linear => vk::Filter::LINEAR,
    };
    let wrap = |wrap| match wrap {
        Wrap::ClampToEdge | Wrap::Clamp => vk::SamplerAddressMode::CLAMP_TO_EDGE,
        Wrap::Repeat => vk::SamplerAddressMode::REPEAT,
        Wrap::MirroredRepeat => vk::SamplerAddressMode::MIRRORED_REPEAT,
        Wrap::ClampToBorder => vk::SamplerAddressMode::CLAMP_TO_BORDER,
        Wrap::MirrorClampToEdge => vk::SamplerAddressMode::MIRROR_CLAMP_TO_EDGE,
    };
    let [u, v, w] = sampler.wrap.map(wrap);
    // Vulkan has no filter between levels that is none: only the first level is reached then.
    let (mip, max) = match sampler.mip {
        MipFilter::None => (vk::SamplerMipmapMode::NEAREST, 0.25),
        MipFilter::Nearest => (vk::SamplerMipmapMode::NEAREST, sampler.lod.max()),
        MipFilter::Linear => (vk::SamplerMipmapMode::LINEAR, sampler.lod.max()),
    };
    let compare = match sampler.compare {
        Compare::LessOrEqual => vk::CompareOp::LESS_OR_EQUAL,
        Compare::GreaterOrEqual => vk::CompareOp::GREATER_OR_EQUAL,
        Compare::Less => vk::CompareOp::LESS,
        Compare::Greater => vk::CompareOp::GREATER,
        Compare::Equal => vk::CompareOp::EQUAL,
        Compare::NotEqual => vk::CompareOp::NOT_EQUAL,
        Compare::Always => vk::CompareOp::ALWAYS,
        Compare::Never => vk::CompareOp::NEVER,
    };
    let border = match sampler.border {
        Border::TransparentBlack => vk::BorderColor::FLOAT_TRANSPARENT_BLACK,
        Border::OpaqueBlack => vk::BorderColor::FLOAT_OPAQUE_BLACK,
        Border::OpaqueWhite => vk::BorderColor::FLOAT_OPAQUE_WHITE,
    };
    let unnormalised = sampler.unnormalised;
    let info = vk::SamplerCreateInfo::default()
        .mag_filter(filter(sampler.mag))
        .min_filter(filter(sampler.min))
        .mipmap_mode(mip)
        .address_mode_u(u)
        .address_mode_v(v)
        .address_mode_w(w)
        .mip_lod_bias(bias)
        .compare_enable(sampler.compare != Compare::Never)
        .compare_op(compare)
        .min_lod(if unnormalised { 0.0 } else { sampler.lod.min() })
        .max_lod(if unnormalised {
            0.0
        } else {
            max.max(sampler.lod.min())
        })
        .border_color(border)
        .unnormalized_coordinates(unnormalised);
    scope.sampler(&info)
}
