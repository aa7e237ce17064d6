// SPDX-License-Identifier: MIT
//! Clears within passes, of integers and of layers.

use ash::vk;

use super::pictures::{BLUE, GREEN, GREY, ONE, Picture, RED, RGBA8, SIDE, area, floats};
use super::scenario;
use crate::image::Shape;
use crate::scenario::Scenario;
use crate::scope::Scope;

const GENERAL: vk::ImageLayout = vk::ImageLayout::GENERAL;
const COLOUR: vk::ImageAspectFlags = vk::ImageAspectFlags::COLOR;

pub(super) const SCENARIOS: &[Scenario] = &[
    scenario("clears.integers", integers),
    scenario("clears.layers", layers),
];

/// Attachments of integers, cleared when the pass begins and within it.
unsafe fn integers(s: &Scope<'_>) -> anyhow::Result<()> {
    use vk::Format as F;
    let unsigned = |uint32| vk::ClearColorValue { uint32 };
    let signed = |int32| vk::ClearColorValue { int32 };
    for (format, bytes, first, second) in [
        (
            F::R8G8B8A8_UINT,
            4,
            unsigned([1, 2, 3, 255]),
            unsigned([9, 0, 77, 4]),
        ),
        (
            F::R16G16_SINT,
            4,
            signed([-1, 300, 0, 0]),
            signed([-32768, 32767, 0, 0]),
        ),
        (
            F::R32G32B32A32_UINT,
            16,
            unsigned([1, u32::MAX, 3, 0x8000_0000]),
            unsigned([7; 4]),
        ),
        (
            F::R32_SINT,
            4,
            signed([i32::MIN, 0, 0, 0]),
            signed([-5, 0, 0, 0]),
        ),
        (
            F::R16G16B16A16_UINT,
            8,
            unsigned([65535, 0, 1, 2]),
            unsigned([3, 4, 5, 6]),
        ),
    ] {
        let picture = Picture::new(s, &[(format, bytes, first)], None, ONE)?;
        picture.clear();
        let attachment = vk::ClearAttachment {
            aspect_mask: COLOUR,
            color_attachment: 0,
            clear_value: vk::ClearValue { color: second },
        };
        let rects = [area(5, 7, 20, 11), area(40, 0, 24, 64)].map(|rect| vk::ClearRect {
            rect,
            base_array_layer: 0,
            layer_count: 1,
        });
        (s.device()).cmd_clear_attachments(picture.commands, &[attachment], &rects);
        let got = picture.read()?.colour.remove(0);
        let texel = |clear: vk::ClearColorValue| -> Vec<u8> {
            let words = clear.uint32;
            match format {
                F::R8G8B8A8_UINT => words.map(|w| w as u8).to_vec(),
                F::R16G16_SINT => words[..2]
                    .iter()
                    .flat_map(|w| (*w as u16).to_le_bytes())
                    .collect(),
                F::R16G16B16A16_UINT => words
                    .iter()
                    .flat_map(|w| (*w as u16).to_le_bytes())
                    .collect(),
                F::R32_SINT => words[0].to_le_bytes().to_vec(),
                _ => words.iter().flat_map(|w| w.to_le_bytes()).collect(),
            }
        };
        let (first, second) = (texel(first), texel(second));
        let all: Vec<u8> = (0..SIDE * SIDE)
            .flat_map(|at| {
                let (x, y) = (at % SIDE, at / SIDE);
                let inside = (5..25).contains(&x) && (7..18).contains(&y) || x >= 40;
                if inside { &second } else { &first }.clone()
            })
            .collect();
        s.report.expect(&format!("{format:?}"), got, &all)?;
    }
    Ok(())
}

/// Rectangles of some layers, cleared within a pass of all.
unsafe fn layers(s: &Scope<'_>) -> anyhow::Result<()> {
    let commands = s.commands(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
    let usage = vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::COLOR_ATTACHMENT;
    let shape = Shape::flat(RGBA8, 4, SIDE, SIDE).stacked(1, 5);
    let image = s.image(shape, usage, vk::ImageCreateFlags::empty(), commands)?;
    let view = s.view(image, vk::ImageViewType::TYPE_2D_ARRAY, COLOUR)?;
    let attachments = [vk::RenderingAttachmentInfo::default()
        .image_view(view)
        .image_layout(GENERAL)
        .load_op(vk::AttachmentLoadOp::CLEAR)
        .store_op(vk::AttachmentStoreOp::STORE)
        .clear_value(vk::ClearValue {
            color: floats(GREY),
        })];
    let info = vk::RenderingInfo::default()
        .render_area(area(0, 0, SIDE, SIDE))
        .layer_count(5)
        .color_attachments(&attachments);
    let device = s.device();
    device.cmd_begin_rendering(commands, &info);
    let clears = [
        (RED, [4, 4, 20, 30], [0, 2]),
        (GREEN, [10, 10, 40, 9], [1, 3]),
        (BLUE, [0, 40, 64, 24], [4, 1]),
    ];
    for (tint, [x, y, width, height], [base, count]) in clears {
        let attachment = vk::ClearAttachment {
            aspect_mask: COLOUR,
            color_attachment: 0,
            clear_value: vk::ClearValue {
                color: floats(tint),
            },
        };
        let rect = vk::ClearRect {
            rect: area(x, y, width as u32, height as u32),
            base_array_layer: base,
            layer_count: count,
        };
        device.cmd_clear_attachments(commands, &[attachment], &[rect]);
    }
    device.cmd_end_rendering(commands);
    let back = s.read_back(commands, image)?;
    s.finish(commands)?;
    let mut all = Vec::new();
    for layer in 0..5 {
        for (y, x) in (0..SIDE as i32).flat_map(|y| (0..SIDE as i32).map(move |x| (y, x))) {
            let mut pixel = GREY;
            for (tint, [left, top, width, height], [base, count]) in clears {
                let inside = (left..left + width).contains(&x) && (top..top + height).contains(&y);
                if inside && (base..base + count).contains(&layer) {
                    pixel = tint;
                }
            }
            all.extend(pixel.map(|c| (c * 255.0).round() as u8));
        }
    }
    s.report.expect("layers", back.bytes(), &all)
}
