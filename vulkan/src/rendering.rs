// SPDX-License-Identifier: MIT
//! One instance of rendering: what vkCmdBeginRendering describes, and what each subpass of a render pass
//! becomes.

use std::ptr::NonNull;

use arrayvec::ArrayVec;
use ash::vk;

use crate::image::ImageView;

/// Most colour attachments (images, 3.1; HW).
pub(crate) const MAX_COLOUR: usize = 8;

/// Most input attachments that a subpass reads in the tile.
pub(crate) const MAX_TILE_INPUTS: usize = 2 * MAX_COLOUR;

/// An instance of rendering.
#[derive(Clone)]
pub(crate) struct Rendering {
    /// What of the attachments is rendered to. Everything else keeps its contents.
    pub(crate) area: vk::Rect2D,
    pub(crate) layers: u32,
    /// The views that are drawn, one for each layer; 0 without multiview.
    pub(crate) view_mask: u32,
    /// By index; nothing for those that are not used.
    pub(crate) colour: ArrayVec<Option<Target>, MAX_COLOUR>,
    pub(crate) depth: Option<Target>,
    pub(crate) stencil: Option<Target>,
    /// What of the attachments the subpass has that is being recorded, where several are merged.
    pub(crate) merged: Option<Merged>,
}

impl Rendering {
    /// The attachment that commands mean by a number of a colour attachment.
    pub(crate) fn colour_at(&self, number: usize) -> Option<usize> {
        let at = match &self.merged {
            Some(merged) => merged.place(number)?,
            None => number,
        };
        matches!(self.colour.get(at), Some(Some(_))).then_some(at)
    }

    /// Depth, where it can be tested.
    pub(crate) fn tested_depth(&self) -> Option<&Target> {
        self.depth.as_ref().filter(|_| self.tests())
    }

    /// Stencil, where it can be tested.
    pub(crate) fn tested_stencil(&self) -> Option<&Target> {
        self.stencil.as_ref().filter(|_| self.tests())
    }

    fn tests(&self) -> bool {
        (self.merged.as_ref()).is_none_or(|merged| merged.has_depth_stencil)
    }

    /// The views that each draw draws, which are layers; one without multiview, and it is none.
    pub(crate) fn views(&self) -> impl Iterator<Item = Option<u32>> + use<> {
        views(self.view_mask)
    }

    /// All attachments.
    pub(crate) fn targets_mut(&mut self) -> impl Iterator<Item = &mut Target> {
        let colour = self.colour.iter_mut().flatten();
        colour.chain(&mut self.depth).chain(&mut self.stencil)
    }
}

/// The views of a mask; one that is none without multiview.
pub(crate) fn views(mask: u32) -> impl Iterator<Item = Option<u32>> {
    let none = (mask == 0).then_some(None);
    let views = (0..u32::BITS).filter(move |view| mask >> view & 1 == 1);
    none.into_iter().chain(views.map(Some))
}

/// An attachment.
#[derive(Clone, Copy)]
pub(crate) struct Target {
    /// Lives as long as command buffers use it, by the specification.
    pub(crate) view: NonNull<ImageView>,
    pub(crate) load: vk::AttachmentLoadOp,
    pub(crate) store: vk::AttachmentStoreOp,
    pub(crate) clear: vk::ClearValue,
    /// Where its samples are resolved to when rendering ends.
    pub(crate) resolve: Option<Resolve>,
}

impl Target {
    /// The view.
    pub(crate) fn view(&self) -> &ImageView {
        // SAFETY: views live as long as command buffers use them, by the specification.
        unsafe { self.view.as_ref() }
    }
}

/// A resolve at the end of rendering.
#[derive(Clone, Copy)]
pub(crate) struct Resolve {
    pub(crate) view: NonNull<ImageView>,
    pub(crate) mode: vk::ResolveModeFlags,
}

/// What graphics pipelines must know of the attachments that they are used with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct AttachmentFormats {
    /// By index; `UNDEFINED` for those that are not used.
    pub(crate) colour: ArrayVec<vk::Format, MAX_COLOUR>,
    pub(crate) depth: vk::Format,
    pub(crate) stencil: vk::Format,
    pub(crate) view_mask: u32,
    /// Where they are in the tile, if not there by index.
    pub(crate) merged: Option<Merged>,
}

impl AttachmentFormats {
    /// What the tile holds.
    pub(crate) fn tile(&self) -> &[vk::Format] {
        match &self.merged {
            Some(merged) => &merged.tile,
            None => &self.colour,
        }
    }

    /// Where a colour attachment is in the tile.
    pub(crate) fn place(&self, number: usize) -> Option<usize> {
        match &self.merged {
            Some(merged) => merged.place(number),
            None => Some(number),
        }
    }
}

/// Where the attachments of a subpass are that is one pass of the hardware together with others.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Merged {
    /// The colour attachments of all these subpasses, in their order in the tile.
    pub(crate) tile: ArrayVec<vk::Format, MAX_COLOUR>,
    /// Those of this one, by index: which of these they are.
    pub(crate) colour: ArrayVec<Option<u8>, MAX_COLOUR>,
    /// Its input attachments that are in the tile.
    pub(crate) inputs: ArrayVec<TileInput, MAX_TILE_INPUTS>,
    /// Those that it or a subpass before it draws to, a bit for each.
    pub(crate) drawn: u8,
    /// Whether it has the depth and stencil attachment, if there is any.
    pub(crate) has_depth_stencil: bool,
}

impl Merged {
    /// Where a colour attachment is in the tile.
    fn place(&self, number: usize) -> Option<usize> {
        self.colour.get(number).copied().flatten().map(usize::from)
    }
}

/// An input attachment in the tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct TileInput {
    /// Its index in the shader.
    pub(crate) index: u32,
    /// Which of the tile's attachments it is.
    pub(crate) place: u8,
}
