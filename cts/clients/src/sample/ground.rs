// SPDX-License-Identifier: MIT
//! The ground's texture: tiles of stone in BC1 with all levels, made block by block.

use ash::vk;

use crate::image::{Image, Shape};
use crate::scope::Scope;

/// Texels of a side.
const SIDE: u32 = 256;

/// The texture, once the command buffer has run.
///
/// # Safety
/// The command buffer is being recorded.
pub(super) unsafe fn texture(s: &Scope<'_>, commands: vk::CommandBuffer) -> anyhow::Result<Image> {
    let shape = Shape::flat(vk::Format::BC1_RGB_SRGB_BLOCK, 8, SIDE, SIDE)
        .blocks(4, 4)
        .stacked(SIDE.ilog2() + 1, 1);
    let usage = vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::TRANSFER_DST;
    let image = s.image(shape, usage, vk::ImageCreateFlags::empty(), commands)?;
    let blocks: Vec<u8> = (0..shape.levels).flat_map(level).collect();
    let buffer = s.buffer(blocks.len() as u64)?;
    buffer.write(0, &blocks);
    image.copy_all(s, commands, buffer.handle, true);
    s.barrier(commands);
    Ok(image)
}

/// The blocks of a level: tiles of 64 texels of the first, each of its own brightness, with seams.
fn level(level: u32) -> impl Iterator<Item = u8> {
    let side = (SIDE >> level).max(1);
    let blocks = side.div_ceil(4);
    let at = move |n: u32| (n << level) % SIDE;
    (0..blocks * blocks).flat_map(move |number| {
        let (x, y) = (number % blocks * 4, number / blocks * 4);
        let tile = at(y) / 64 * 4 + at(x) / 64;
        let light = 11 + tile.wrapping_mul(7) % 9;
        // The two colours are the tile's and the seam's: fives and six bits.
        let pack = |red: u32, green: u32, blue: u32| (red << 11 | green << 5 | blue) as u16;
        let (tile, seam) = (pack(light, 2 * light, light - 2), pack(5, 10, 5));
        let mut indices = 0_u32;
        for texel in 0..16 {
            let (tx, ty) = (at(x + texel % 4) % 64, at(y + texel / 4) % 64);
            let near = tx.min(ty).min(63 - tx.max(ty));
            // 0 and 1 are the colours, 2 and 3 are a third and two thirds between them.
            let index = match near {
                0..=1 => 1,
                2 => 3,
                _ if (tx * 5 + ty * 3) % 11 == 0 => 2,
                _ => 0,
            };
            indices |= index << (2 * texel);
        }
        let [a, b] = [tile, seam].map(u16::to_le_bytes);
        [a[0], a[1], b[0], b[1]]
            .into_iter()
            .chain(indices.to_le_bytes())
    })
}
