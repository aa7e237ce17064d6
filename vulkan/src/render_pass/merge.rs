// SPDX-License-Identifier: MIT
//! Which subpasses of a render pass are one pass of the hardware.
//!
//! Tile memory holds the colours of several attachments until the end of a tile (graphics, 8; HW), and shaders
//! may read there what fragments before them drew at the same pixel (isa-3, 8: TILE_LOAD; HW). So consecutive
//! subpasses can be one pass: its tile holds the colour attachments of all of them, each at its place from
//! the beginning to the end; input attachments among these are read in the tile; nothing is stored or
//! loaded in between.
//!
//! Groups are made from the front, each as long as it can be: a subpass joins the group before it if the
//! subpasses would still be one pass together, and begins a group otherwise. They are one pass if
//!
//! - all have attachments, of one number of samples, and the same views;
//! - their colour attachments fit into a tile together, on every kernel (graphics, 11.2);
//! - there is at most one depth and stencil attachment, which not every subpass needs to have, and it is
//!   no input: shaders cannot read depth and stencil in the tile;
//! - no input among their colours is sRGB: what the texture unit makes of one is not what shaders make of it in
//!   the tile, to the last bit;
//! - none but the last has anything to resolve, which is done from memory;
//! - no attachment may share memory with another one: an input might be read too early, and what is in
//!   the tile is not in memory;
//! - none depends on another beyond its own pixels. A tile goes through all the subpasses before the next tile
//!   begins, so only framebuffer-local dependencies (Vulkan 1.3, 7.1) between accesses of attachments are
//!   kept.
//!
//! Pipelines are compiled for the places of attachments in the tile, and may be used in every render pass that is
//! compatible with theirs. The decision therefore looks at nothing that may differ between compatible render passes
//! (Vulkan 1.3, 8.2): neither at operations nor at layouts.

use agx_hw::tile::{Layout as TileLayout, MAX_BLOCKS_FIRST_KERNEL};
use arrayvec::ArrayVec;
use ash::vk;

use super::Subpass;
use crate::image::{description, format};
use crate::rendering::{MAX_COLOUR, Merged, TileInput};

/// What compatible render passes agree on of an attachment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Attachment {
    pub(super) format: vk::Format,
    pub(super) samples: vk::SampleCountFlags,
    pub(super) may_alias: bool,
}

/// The colour attachments of subpasses, in the order in which they are first used; nothing if there are too
/// many.
pub(super) fn colours(group: &[Subpass]) -> Option<ArrayVec<u32, MAX_COLOUR>> {
    let mut all = ArrayVec::new();
    for number in group.iter().flat_map(Subpass::colours) {
        if !all.contains(&number) {
            all.try_push(number).ok()?;
        }
    }
    Some(all)
}

/// The depth and stencil attachment of subpasses.
pub(super) fn depth_stencil(group: &[Subpass]) -> Option<u32> {
    group.iter().find_map(|subpass| subpass.depth_stencil)
}

/// The last subpass of the group that begins with one.
pub(super) fn last(
    attachment: impl Fn(u32) -> Option<Attachment>,
    subpasses: &[Subpass],
    first: usize,
) -> usize {
    let ends = first + 1..subpasses.len();
    let joins = |end: &usize| is_one_pass(&attachment, first, &subpasses[first..=*end]);
    ends.take_while(joins).last().unwrap_or(first)
}

/// Whether subpasses, of which the first has this number, can be one pass.
fn is_one_pass(
    attachment: &impl Fn(u32) -> Option<Attachment>,
    first: usize,
    group: &[Subpass],
) -> bool {
    let Some((last, before)) = group.split_last() else {
        return false;
    };
    let views = group.iter().all(|sub| sub.view_mask == last.view_mask);
    let rendered = |sub: &Subpass| sub.depth_stencil.is_some() || sub.colours().next().is_some();
    let is_local = |sub: &Subpass| sub.waits_for.is_none_or(|from| (from as usize) < first);
    views
        && group.iter().all(rendered)
        && group.iter().all(is_local)
        && !before.iter().any(Subpass::resolves)
        && group.iter().all(has_each_once)
        && has_one_depth_stencil(group)
        && !reads_srgb(attachment, group)
        && fits(attachment, group)
}

/// Whether no colour attachment is there twice, and inputs are known.
fn has_each_once(subpass: &Subpass) -> bool {
    let mut seen = ArrayVec::<u32, MAX_COLOUR>::new();
    let mut once = subpass.colours().map(|number| {
        let is_new = !seen.contains(&number);
        seen.push(number);
        is_new
    });
    once.all(|is_new| is_new) && subpass.inputs.is_some()
}

fn has_one_depth_stencil(group: &[Subpass]) -> bool {
    let Some(one) = depth_stencil(group) else {
        return true;
    };
    group.iter().all(|sub| {
        sub.depth_stencil.is_none_or(|other| other == one)
            && sub.inputs().all(|(_, input)| input != one)
    })
}

/// Whether a colour of the subpasses that is sRGB is an input of one of them.
fn reads_srgb(attachment: &impl Fn(u32) -> Option<Attachment>, group: &[Subpass]) -> bool {
    let is_srgb = |number: u32| {
        let format = attachment(number).and_then(|one| format::single(one.format));
        format.is_some_and(agx_hw::format::Format::is_srgb)
    };
    let is_colour = |number: u32| {
        group
            .iter()
            .flat_map(Subpass::colours)
            .any(|at| at == number)
    };
    let mut inputs = group.iter().flat_map(Subpass::inputs);
    inputs.any(|(_, number)| is_colour(number) && is_srgb(number))
}

/// Whether the attachments can be in one tile.
fn fits(attachment: &impl Fn(u32) -> Option<Attachment>, group: &[Subpass]) -> bool {
    let Some(colours) = colours(group) else {
        return false;
    };
    let targets = || colours.iter().copied().chain(depth_stencil(group));
    let samples = targets().find_map(attachment).map(|one| one.samples);
    let one = |number| attachment(number).filter(|one| Some(one.samples) == samples);
    if !targets().all(|number| one(number).is_some()) {
        return false;
    }
    let may_alias = |number| attachment(number).is_none_or(|one| one.may_alias);
    let inputs = group.iter().flat_map(Subpass::inputs).map(|(_, at)| at);
    let resolved = group.iter().flat_map(Subpass::resolved);
    if targets().chain(inputs).chain(resolved).any(may_alias) {
        return false;
    }
    let Some(samples) = samples.and_then(description::samples) else {
        return false;
    };
    let format = |number: &u32| one(*number).and_then(|one| format::single(one.format));
    let formats: ArrayVec<_, MAX_COLOUR> = colours.iter().map(format).collect();
    formats.iter().all(Option::is_some)
        && TileLayout::new(&formats, samples)
            .is_ok_and(|tile| tile.blocks() <= MAX_BLOCKS_FIRST_KERNEL)
}

/// Where the attachments of a group's subpass are; nothing for the only one of its group.
pub(super) fn merged(
    attachment: impl Fn(u32) -> Option<Attachment>,
    group: &[Subpass],
    at: usize,
) -> Option<Merged> {
    let subpass = group.get(at).filter(|_| group.len() > 1)?;
    let colours = colours(group)?;
    let place = |number: u32| {
        let at = colours.iter().position(|other| *other == number);
        at.map(|at| at as u8)
    };
    let drawn = group[..=at].iter().flat_map(Subpass::colours);
    let input = |(index, number)| {
        Some(TileInput {
            index,
            place: place(number)?,
        })
    };
    Some(Merged {
        tile: (colours.iter().copied())
            .map(|number| attachment(number).map_or(vk::Format::UNDEFINED, |one| one.format))
            .collect(),
        colour: (subpass.colour.iter())
            .map(|colour| colour.attachment.and_then(place))
            .collect(),
        inputs: subpass.inputs().filter_map(input).collect(),
        drawn: drawn
            .filter_map(place)
            .fold(0, |all, place| all | 1 << place),
        has_depth_stencil: subpass.depth_stencil.is_some(),
    })
}

#[cfg(test)]
mod tests;
