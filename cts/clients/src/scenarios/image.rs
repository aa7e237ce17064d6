// SPDX-License-Identifier: MIT
//! Copies and clears of images, against a model on the CPU.

use ash::vk;

use super::scenario;
use crate::image::{Model, Part, Shape};
use crate::model::{bytes, words};
use crate::scenario::Scenario;
use crate::scope::Scope;

pub(super) const SCENARIOS: &[Scenario] = &[
    scenario("image.copy_formats", copy_formats),
    scenario("image.copy_levels", copy_levels),
    scenario("image.copy_blocks", copy_blocks),
    scenario("image.copy_solid", copy_solid),
    scenario("image.copy_pitch", copy_pitch),
    scenario("image.copy_between_kinds", copy_between_kinds),
    scenario("image.depth_stencil", depth_stencil),
    scenario("image.clear", clear),
    scenario("image.clear_parts", clear_parts),
    scenario("image.linear", linear),
];

const TRANSFER: vk::ImageUsageFlags = vk::ImageUsageFlags::from_raw(
    vk::ImageUsageFlags::TRANSFER_SRC.as_raw() | vk::ImageUsageFlags::TRANSFER_DST.as_raw(),
);
const GENERAL: vk::ImageLayout = vk::ImageLayout::GENERAL;

unsafe fn once(s: &Scope<'_>) -> anyhow::Result<vk::CommandBuffer> {
    s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)
}

/// Fills two images from buffers, copies parts of one to the other, and reads both back.
unsafe fn exchange(
    s: &Scope<'_>,
    name: &str,
    from: Shape,
    to: Shape,
    parts: &[(Part, Part)],
) -> anyhow::Result<()> {
    let (source, mut target) = (Model::new(from, 300), Model::new(to, 301));
    let commands = once(s)?;
    let none = vk::ImageCreateFlags::empty();
    let from_image = s.image(from, TRANSFER, none, commands)?;
    let to_image = s.image(to, TRANSFER, none, commands)?;
    let buffers = [&source, &target].map(|model| s.buffer(model.bytes.len() as u64));
    let [from_buffer, to_buffer] = buffers;
    let (from_buffer, to_buffer) = (from_buffer?, to_buffer?);
    from_buffer.write(0, &source.bytes);
    to_buffer.write(0, &target.bytes);
    from_image.copy_all(s, commands, from_buffer.handle, true);
    to_image.copy_all(s, commands, to_buffer.handle, true);
    for (from_part, to_part) in parts {
        s.barrier(commands);
        let (src_subresource, src_offset, extent) = from.place(*from_part);
        let (dst_subresource, dst_offset, _) = to.place(*to_part);
        let region = vk::ImageCopy {
            src_subresource,
            src_offset,
            dst_subresource,
            dst_offset,
            extent,
        };
        s.device().cmd_copy_image(
            commands,
            from_image.handle,
            GENERAL,
            to_image.handle,
            GENERAL,
            &[region],
        );
        target.put(*to_part, &source.part(*from_part));
    }
    s.barrier(commands);
    let (from_back, to_back) = (s.buffer(from_buffer.size)?, s.buffer(to_buffer.size)?);
    from_image.copy_all(s, commands, from_back.handle, false);
    to_image.copy_all(s, commands, to_back.handle, false);
    s.finish(commands)?;
    s.report.check(
        &format!("{name}: source"),
        &from_back.bytes(),
        &source.bytes,
    )?;
    s.report
        .check(&format!("{name}: target"), &to_back.bytes(), &target.bytes)
}

/// Parts of every level, some of them everything.
fn parts(shape: Shape) -> Vec<(Part, Part)> {
    let mut parts = Vec::new();
    for level in 0..shape.levels {
        for seed in 0..3 {
            let from = shape.some_part(level, 310 + 7 * level + seed, [u32::MAX; 3]);
            let mut to = shape.some_part(level, 400 + 5 * level + seed, from.size);
            let all = shape.level(level);
            to.size = from.size;
            for (axis, all) in all.into_iter().enumerate() {
                to.at[axis] = to.at[axis].min(all - to.size[axis]);
            }
            parts.push((from, to));
        }
    }
    if let Some(last) = shape.levels.checked_sub(1) {
        parts.push((shape.all(last), shape.all(last)));
        parts.push((shape.all(0), shape.all(0)));
    }
    parts
}

/// Formats with elements of every size, in an image that ends within tiles.
unsafe fn copy_formats(s: &Scope<'_>) -> anyhow::Result<()> {
    for (format, size) in [
        (vk::Format::R8_UNORM, 1),
        (vk::Format::R8G8_SNORM, 2),
        (vk::Format::R5G6B5_UNORM_PACK16, 2),
        (vk::Format::R8G8B8A8_SRGB, 4),
        (vk::Format::A2B10G10R10_UNORM_PACK32, 4),
        (vk::Format::R16G16B16A16_SFLOAT, 8),
        (vk::Format::R32G32_UINT, 8),
        (vk::Format::R32G32B32A32_SFLOAT, 16),
    ] {
        let shape = Shape::flat(format, size, 147, 75);
        let mut parts = parts(shape);
        parts.pop();
        exchange(s, &format!("{format:?}"), shape, shape, &parts)?;
    }
    Ok(())
}

/// Levels down to one texel, and layers; sizes with and without a power of two.
unsafe fn copy_levels(s: &Scope<'_>) -> anyhow::Result<()> {
    for (width, height, levels, layers) in [
        (64, 64, 7, 6),
        (100, 75, 7, 1),
        (1, 70, 7, 2),
        (300, 5, 4, 3),
        (257, 129, 9, 1),
    ] {
        let shape =
            Shape::flat(vk::Format::R8G8B8A8_UNORM, 4, width, height).stacked(levels, layers);
        exchange(s, &format!("{width}x{height}"), shape, shape, &parts(shape))?;
    }
    Ok(())
}

/// Compressed blocks, also of levels smaller than one, and copies to texels of the same size.
unsafe fn copy_blocks(s: &Scope<'_>) -> anyhow::Result<()> {
    for (format, size, width, height) in [
        (vk::Format::BC1_RGBA_UNORM_BLOCK, 8, 4, 4),
        (vk::Format::BC7_SRGB_BLOCK, 16, 4, 4),
        (vk::Format::ETC2_R8G8B8_UNORM_BLOCK, 8, 4, 4),
        (vk::Format::ASTC_6X5_UNORM_BLOCK, 16, 6, 5),
    ] {
        let blocks = Shape::flat(format, size, 260, 130).blocks(width, height);
        if !s.has_image(&blocks, TRANSFER) {
            continue;
        }
        let tree = blocks.stacked(9, 2);
        exchange(s, &format!("{format:?}"), tree, tree, &parts(tree))?;
        let texel = match size {
            8 => vk::Format::R16G16B16A16_UINT,
            _ => vk::Format::R32G32B32A32_UINT,
        };
        let [columns, rows, _] = blocks.level(0);
        let texels = Shape::flat(texel, size, columns, rows);
        let both = [(blocks.all(0), texels.all(0))];
        exchange(s, &format!("{format:?} to texels"), blocks, texels, &both)?;
        // Extents count the source's texels.
        let part = texels.some_part(0, 320, [u32::MAX; 3]);
        exchange(
            s,
            &format!("texels to {format:?}"),
            texels,
            blocks,
            &[(part, part)],
        )?;
    }
    Ok(())
}

/// Three dimensions.
unsafe fn copy_solid(s: &Scope<'_>) -> anyhow::Result<()> {
    for ([width, height, depth], levels) in [([40, 24, 10], 6), ([17, 9, 33], 1), ([8, 8, 64], 7)] {
        let mut shape = Shape::flat(vk::Format::R16_UINT, 2, width, height);
        shape.kind = vk::ImageType::TYPE_3D;
        shape.extent[2] = depth;
        shape.levels = levels;
        exchange(
            s,
            &format!("{width}x{height}x{depth}"),
            shape,
            shape,
            &parts(shape),
        )?;
    }
    Ok(())
}

/// Slices become layers and layers slices (VK_KHR_maintenance1).
unsafe fn copy_between_kinds(s: &Scope<'_>) -> anyhow::Result<()> {
    let flat = Shape::flat(vk::Format::R32_UINT, 4, 33, 20).stacked(1, 7);
    let mut solid = Shape::flat(vk::Format::R32_UINT, 4, 33, 20);
    solid.kind = vk::ImageType::TYPE_3D;
    solid.extent[2] = 9;
    let part = |at, size| Part { level: 0, at, size };
    let from_solid = (part([3, 2, 4], [20, 11, 5]), part([9, 1, 1], [20, 11, 5]));
    exchange(s, "slices to layers", solid, flat, &[from_solid])
}

/// Rows and layers of buffers that are longer than what is copied, and offsets.
unsafe fn copy_pitch(s: &Scope<'_>) -> anyhow::Result<()> {
    let texels = Shape::flat(vk::Format::R8G8B8A8_UINT, 4, 50, 40).stacked(1, 4);
    let blocks = Shape::flat(vk::Format::BC4_UNORM_BLOCK, 8, 50, 40)
        .blocks(4, 4)
        .stacked(1, 4);
    for (name, shape) in [("texels", texels), ("blocks", blocks)] {
        if !s.has_image(&shape, TRANSFER) {
            continue;
        }
        let (pitch, rows) = (19, 17);
        let part = Part {
            level: 0,
            at: [2, 3, 1],
            size: [9, 6, 3],
        };
        let size = shape.element.2;
        let start = 8 * 13;
        let memory = bytes(330, (start + pitch * rows * size * 3) as usize);
        let mut model = Model::new(shape, 331);
        let mut taken = Vec::new();
        for z in 0..part.size[2] {
            for y in 0..part.size[1] {
                let at = (start + (z * rows + y) * pitch * size) as usize;
                taken.extend_from_slice(&memory[at..at + (part.size[0] * size) as usize]);
            }
        }
        let commands = once(s)?;
        let image = s.image(shape, TRANSFER, vk::ImageCreateFlags::empty(), commands)?;
        let whole = s.buffer(model.bytes.len() as u64)?;
        whole.write(0, &model.bytes);
        image.copy_all(s, commands, whole.handle, true);
        s.barrier(commands);
        let buffer = s.buffer(memory.len() as u64)?;
        buffer.write(0, &memory);
        let (subresource, offset, extent) = shape.place(part);
        let region = vk::BufferImageCopy {
            buffer_offset: start.into(),
            buffer_row_length: pitch * shape.element.0,
            buffer_image_height: rows * shape.element.1,
            image_subresource: subresource,
            image_offset: offset,
            image_extent: extent,
        };
        s.device().cmd_copy_buffer_to_image(
            commands,
            buffer.handle,
            image.handle,
            GENERAL,
            &[region],
        );
        s.barrier(commands);
        image.copy_all(s, commands, whole.handle, false);
        // And back, into a buffer whose other bytes stay.
        let back = s.buffer(memory.len() as u64)?;
        s.device().cmd_copy_image_to_buffer(
            commands,
            image.handle,
            GENERAL,
            back.handle,
            &[region],
        );
        s.finish(commands)?;
        model.put(part, &taken);
        s.report
            .check(&format!("{name}: image"), &whole.bytes(), &model.bytes)?;
        let mut expected = vec![0; memory.len()];
        let mut rows_taken = taken.chunks_exact((part.size[0] * size) as usize);
        for z in 0..part.size[2] {
            for y in 0..part.size[1] {
                let at = (start + (z * rows + y) * pitch * size) as usize;
                let row = rows_taken.next().unwrap_or_default();
                expected[at..at + row.len()].copy_from_slice(row);
            }
        }
        s.report
            .check(&format!("{name}: buffer"), &back.bytes(), &expected)?;
    }
    Ok(())
}

/// Depth and stencil, alone and together: each part by itself.
unsafe fn depth_stencil(s: &Scope<'_>) -> anyhow::Result<()> {
    let depth = vk::ImageAspectFlags::DEPTH;
    let stencil = vk::ImageAspectFlags::STENCIL;
    for (format, aspects) in [
        (vk::Format::D16_UNORM, &[(depth, 2)][..]),
        (vk::Format::D32_SFLOAT, &[(depth, 4)]),
        (vk::Format::S8_UINT, &[(stencil, 1)]),
        (vk::Format::D32_SFLOAT_S8_UINT, &[(depth, 4), (stencil, 1)]),
    ] {
        let first = Shape {
            aspect: aspects[0].0,
            ..Shape::flat(format, aspects[0].1, 70, 45).stacked(3, 2)
        };
        if !s.has_image(&first, TRANSFER) {
            continue;
        }
        let commands = once(s)?;
        let mut image = s.image(first, TRANSFER, vk::ImageCreateFlags::empty(), commands)?;
        let mut sides = Vec::new();
        for (aspect, size) in aspects {
            image.shape.aspect = *aspect;
            image.shape.element.2 = *size;
            let mut model = Model::new(image.shape, 340);
            if *aspect == depth && *size == 4 {
                // Depths from 0 to 1: what other bits mean is not for copies to decide.
                for (at, word) in model.bytes.chunks_exact_mut(4).enumerate() {
                    word.copy_from_slice(&(at as f32 / 12000.0).fract().to_le_bytes());
                }
            }
            let buffer = s.buffer(model.bytes.len() as u64)?;
            buffer.write(0, &model.bytes);
            image.copy_all(s, commands, buffer.handle, true);
            sides.push((image, model));
        }
        s.barrier(commands);
        let mut results = Vec::new();
        for (image, model) in sides {
            let back = s.buffer(model.bytes.len() as u64)?;
            image.copy_all(s, commands, back.handle, false);
            results.push((image.shape.aspect, back, model));
        }
        // Then everything is cleared, and read once more.
        s.barrier(commands);
        let range = vk::ImageSubresourceRange {
            aspect_mask: aspects
                .iter()
                .fold(vk::ImageAspectFlags::empty(), |all, a| all | a.0),
            base_mip_level: 1,
            level_count: 1,
            base_array_layer: 1,
            layer_count: 1,
        };
        let value = vk::ClearDepthStencilValue {
            depth: 0.25,
            stencil: 0x9d,
        };
        s.device()
            .cmd_clear_depth_stencil_image(commands, image.handle, GENERAL, &value, &[range]);
        s.barrier(commands);
        let mut cleared = Vec::new();
        for (aspect, back, model) in &results {
            image.shape.aspect = *aspect;
            image.shape.element = model.shape.element;
            let after = s.buffer(back.size)?;
            image.copy_all(s, commands, after.handle, false);
            let mut expected = model.clone();
            let part = Part {
                level: 1,
                at: [0, 0, 1],
                size: [35, 22, 1],
            };
            let element = match (*aspect == stencil, model.shape.element.2) {
                (true, _) => vec![0x9d],
                // A quarter of 65535, to the nearest.
                (_, 2) => 16384_u16.to_le_bytes().to_vec(),
                _ => 0.25_f32.to_le_bytes().to_vec(),
            };
            expected.put(part, &element.repeat(35 * 22));
            cleared.push((after, expected));
        }
        s.finish(commands)?;
        for (aspect, back, model) in results {
            s.report.check(
                &format!("{format:?} {aspect:?}"),
                &back.bytes(),
                &model.bytes,
            )?;
        }
        for (after, expected) in cleared {
            let name = format!("{format:?} {:?} cleared", expected.shape.aspect);
            s.report.check(&name, &after.bytes(), &expected.bytes)?;
        }
    }
    Ok(())
}

/// Colours whose bits are the same whatever rounding is used, in every kind of format.
unsafe fn clear(s: &Scope<'_>) -> anyhow::Result<()> {
    let float = |float32| vk::ClearColorValue { float32 };
    let unsigned = |uint32| vk::ClearColorValue { uint32 };
    let signed = |int32| vk::ClearColorValue { int32 };
    let half = |value: u16| value.to_le_bytes();
    let word = |value: u32| value.to_le_bytes().to_vec();
    let primary = float([1.0, 0.0, 1.0, 0.0]);
    for (format, colour, element) in [
        (vk::Format::R8_UNORM, primary, vec![0xff]),
        (
            vk::Format::R8G8_SNORM,
            float([-1.0, 1.0, 0.0, 0.0]),
            vec![0x81, 0x7f],
        ),
        (vk::Format::R8G8B8A8_UNORM, primary, vec![0xff, 0, 0xff, 0]),
        (
            vk::Format::R8G8B8A8_SRGB,
            float([0.0, 1.0, 1.0, 0.2]),
            vec![0, 0xff, 0xff, 51],
        ),
        (
            vk::Format::B8G8R8A8_UNORM,
            float([1.0, 0.0, 0.0, 0.6]),
            vec![0, 0, 0xff, 153],
        ),
        (
            vk::Format::R5G6B5_UNORM_PACK16,
            primary,
            half(0xf81f).to_vec(),
        ),
        (
            vk::Format::A1R5G5B5_UNORM_PACK16,
            float([0.0, 1.0, 0.0, 1.0]),
            half(0x83e0).to_vec(),
        ),
        (
            vk::Format::A2B10G10R10_UNORM_PACK32,
            float([1.0, 0.0, 0.0, 1.0]),
            word(0xc000_03ff),
        ),
        (
            vk::Format::B10G11R11_UFLOAT_PACK32,
            float([1.0, 0.5, 2.0, 0.0]),
            word(0x3c0 | 0x380 << 11 | 0x200 << 22),
        ),
        (
            vk::Format::E5B9G9R9_UFLOAT_PACK32,
            float([1.0, 0.5, 0.25, 0.0]),
            word(256 | 128 << 9 | 64 << 18 | 16 << 27),
        ),
        (
            vk::Format::R16_SFLOAT,
            float([-2.0, 0.0, 0.0, 0.0]),
            half(0xc000).to_vec(),
        ),
        (
            vk::Format::R16G16B16A16_SINT,
            signed([-1, 2, -32768, 32767]),
            [half(0xffff), half(2), half(0x8000), half(0x7fff)].concat(),
        ),
        (
            vk::Format::R32_UINT,
            unsigned([0xdead_beef, 0, 0, 0]),
            word(0xdead_beef),
        ),
        (
            vk::Format::R32G32_SFLOAT,
            float([1.5, f32::NEG_INFINITY, 0.0, 0.0]),
            [word(0x3fc0_0000), word(0xff80_0000)].concat(),
        ),
        (
            vk::Format::R32G32B32A32_UINT,
            unsigned([1, 2, 3, 0xffff_ffff]),
            [word(1), word(2), word(3), word(u32::MAX)].concat(),
        ),
    ] {
        let size = element.len() as u32;
        let shape = Shape::flat(format, size, 37, 21).stacked(3, 2);
        if !s.has_image(&shape, TRANSFER) {
            continue;
        }
        let commands = once(s)?;
        let image = s.image(shape, TRANSFER, vk::ImageCreateFlags::empty(), commands)?;
        let range = [image.range()];
        s.device()
            .cmd_clear_color_image(commands, image.handle, GENERAL, &colour, &range);
        s.barrier(commands);
        let back = s.buffer(shape.size() as u64)?;
        image.copy_all(s, commands, back.handle, false);
        s.finish(commands)?;
        let expected = element.repeat(shape.size() / element.len());
        s.report
            .check(&format!("{format:?}"), &back.bytes(), &expected)?;
    }
    Ok(())
}

/// Levels and layers that are cleared, and the others as they were.
unsafe fn clear_parts(s: &Scope<'_>) -> anyhow::Result<()> {
    let flat = Shape::flat(vk::Format::R32_UINT, 4, 100, 75).stacked(7, 5);
    let mut solid = Shape::flat(vk::Format::R32_UINT, 4, 20, 12);
    solid.kind = vk::ImageType::TYPE_3D;
    solid.extent[2] = 6;
    solid.levels = 4;
    for (name, shape) in [("layers", flat), ("slices", solid)] {
        let mut model = Model::new(shape, 350);
        let commands = once(s)?;
        let image = s.image(shape, TRANSFER, vk::ImageCreateFlags::empty(), commands)?;
        let buffer = s.buffer(model.bytes.len() as u64)?;
        buffer.write(0, &model.bytes);
        image.copy_all(s, commands, buffer.handle, true);
        let pieces: &[(u32, u32, u32, u32)] = match shape.layers {
            1 => &[(2, 1, 0, 1), (0, 1, 0, 1)],
            // A remaining count of levels, then of layers.
            _ => &[
                (0, 1, 1, 1),
                (3, vk::REMAINING_MIP_LEVELS, 0, 2),
                (2, 2, 3, vk::REMAINING_ARRAY_LAYERS),
            ],
        };
        for (at, (level, levels, layer, layers)) in pieces.iter().copied().enumerate() {
            s.barrier(commands);
            let value = words(351 + at as u32, 4);
            let colour = vk::ClearColorValue {
                uint32: [value[0], value[1], value[2], value[3]],
            };
            let range = vk::ImageSubresourceRange {
                aspect_mask: shape.aspect,
                base_mip_level: level,
                level_count: levels,
                base_array_layer: layer,
                layer_count: layers,
            };
            s.device()
                .cmd_clear_color_image(commands, image.handle, GENERAL, &colour, &[range]);
            for level in level..level.saturating_add(levels).min(shape.levels) {
                let mut part = shape.all(level);
                if shape.layers > 1 {
                    part.at[2] = layer;
                    part.size[2] = layers.min(shape.layers - layer);
                }
                let elements = part.size.iter().product::<u32>() as usize;
                model.put(part, &value[0].to_le_bytes().repeat(elements));
            }
        }
        s.barrier(commands);
        let back = s.buffer(buffer.size)?;
        image.copy_all(s, commands, back.handle, false);
        s.finish(commands)?;
        s.report.check(name, &back.bytes(), &model.bytes)?;
    }
    Ok(())
}

/// An image in rows, written by the CPU through its layout and read by a copy.
unsafe fn linear(s: &Scope<'_>) -> anyhow::Result<()> {
    let device = s.device();
    let shape = Shape::flat(vk::Format::R8G8B8A8_UNORM, 4, 61, 17);
    let info = vk::ImageCreateInfo::default()
        .image_type(shape.kind)
        .format(shape.format)
        .extent(vk::Extent3D {
            width: shape.extent[0],
            height: shape.extent[1],
            depth: 1,
        })
        .mip_levels(1)
        .array_layers(1)
        .samples(vk::SampleCountFlags::TYPE_1)
        .tiling(vk::ImageTiling::LINEAR)
        .usage(TRANSFER)
        .initial_layout(vk::ImageLayout::PREINITIALIZED);
    let image = device.create_image(&info, None)?;
    s.at_end(move |device| device.destroy_image(image, None));
    let needs = device.get_image_memory_requirements(image);
    let host = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
    let info = vk::MemoryAllocateInfo::default()
        .allocation_size(needs.size)
        .memory_type_index(s.memory_type(needs.memory_type_bits, host)?);
    let memory = device.allocate_memory(&info, None)?;
    s.at_end(move |device| device.free_memory(memory, None));
    device.bind_image_memory(image, memory, 0)?;
    let mapped = device.map_memory(memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty())?;
    let layout = device.get_image_subresource_layout(
        image,
        vk::ImageSubresource {
            aspect_mask: shape.aspect,
            mip_level: 0,
            array_layer: 0,
        },
    );
    let model = Model::new(shape, 360);
    for (row, bytes) in model.bytes.chunks_exact(61 * 4).enumerate() {
        let at = layout.offset as usize + row * layout.row_pitch as usize;
        std::ptr::copy_nonoverlapping(bytes.as_ptr(), mapped.cast::<u8>().add(at), bytes.len());
    }
    let commands = once(s)?;
    let barrier = vk::ImageMemoryBarrier::default()
        .src_access_mask(vk::AccessFlags::HOST_WRITE)
        .dst_access_mask(vk::AccessFlags::TRANSFER_READ)
        .old_layout(vk::ImageLayout::PREINITIALIZED)
        .new_layout(GENERAL)
        .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
        .image(image)
        .subresource_range(vk::ImageSubresourceRange {
            aspect_mask: shape.aspect,
            base_mip_level: 0,
            level_count: 1,
            base_array_layer: 0,
            layer_count: 1,
        });
    device.cmd_pipeline_barrier(
        commands,
        vk::PipelineStageFlags::HOST,
        vk::PipelineStageFlags::TRANSFER,
        vk::DependencyFlags::empty(),
        &[],
        &[],
        &[barrier],
    );
    let image = crate::image::Image {
        handle: image,
        shape,
    };
    let back = s.buffer(model.bytes.len() as u64)?;
    image.copy_all(s, commands, back.handle, false);
    s.finish(commands)?;
    s.report.expect("rows", back.bytes(), &model.bytes)
}
