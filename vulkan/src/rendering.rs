// SPDX-License-Identifier: MIT
//! One instance of rendering: what vkCmdBeginRendering describes, and what each subpass of a render pass
//! becomes.

use std::ptr::NonNull;

use arrayvec::ArrayVec;
use ash::vk;

use crate::image::ImageView;

/// Most colour attachments (images, 3.1; HW).
pub(crate) const MAX_COLOUR: usize = 8;

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
}

impl Rendering {
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
}
