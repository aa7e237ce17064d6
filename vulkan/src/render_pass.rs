// SPDX-License-Identifier: MIT
//! VkRenderPass: attachments, subpasses, and when in the pass each attachment is loaded and stored.
//!
//! Subpasses are in groups ([`merge`]), each of which becomes one instance of rendering. Within a group
//! attachments stay in the tile; between groups they lie in memory, so that input attachments are textures like any
//! other, preserved attachments need nothing, and dependencies are the barrier that follows every command.
//! The first group that uses an attachment takes its load operation and the last its store operation; between
//! them it is stored and loaded. With multiview each view of an attachment has a first use of its own
//! (Vulkan 1.3, 8.1).

use std::ffi::c_void;
use std::ptr::NonNull;

use agx_hw::format::Numeric;
use arrayvec::ArrayVec;
use ash::vk;

use crate::debug;
use crate::device::{self, Device};
use crate::entry;
use crate::error::VkResult;
use crate::host::{HostAllocator, HostVec, OUT_OF_HOST};
use crate::image::{ImageView, format};
use crate::object::{self, Object};
use crate::rendering::{
    AttachmentFormats, MAX_COLOUR, MAX_TILE_INPUTS, Merged, Rendering, Resolve, Target,
};

use self::dependency::Dependency;

mod dependency;
mod merge;

/// A render pass.
pub(crate) struct RenderPass {
    attachments: HostVec<Attachment>,
    subpasses: HostVec<Subpass>,
}

impl Object for RenderPass {
    type Handle = vk::RenderPass;
}

/// An attachment, and which subpasses use it: the first and the last one.
#[derive(Clone, Copy, Debug)]
struct Attachment {
    /// What compatible render passes agree on.
    common: merge::Attachment,
    /// Of colour and depth.
    ops: Ops,
    stencil_ops: Ops,
    uses: Option<(u32, u32)>,
}

/// A load and a store operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ops {
    load: vk::AttachmentLoadOp,
    store: vk::AttachmentStoreOp,
}

/// What a subpass renders to, by numbers of attachments.
#[derive(Clone, Debug, Default)]
struct Subpass {
    colour: ArrayVec<Colour, MAX_COLOUR>,
    depth_stencil: Option<u32>,
    resolve: Option<DepthStencilResolve>,
    /// By index of shaders; nothing if there are more than can be in a tile.
    inputs: Option<ArrayVec<Option<u32>, MAX_TILE_INPUTS>>,
    view_mask: u32,
    /// The last of the subpasses before it that it waits for beyond its own pixels.
    waits_for: Option<u32>,
    /// The first and the last subpass of its group.
    first: u32,
    last: u32,
}

/// A colour attachment of a subpass.
#[derive(Clone, Copy, Debug)]
struct Colour {
    attachment: Option<u32>,
    resolve: Option<u32>,
}

/// Where depth and stencil of a subpass are resolved to.
#[derive(Clone, Copy, Debug)]
struct DepthStencilResolve {
    attachment: u32,
    depth: vk::ResolveModeFlags,
    stencil: vk::ResolveModeFlags,
}

/// Subpasses that are one pass of the hardware: the first and the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Group {
    first: u32,
    last: u32,
}

/// How a subpass is described, whichever structure does it.
struct Described<I, C, R> {
    inputs: I,
    colour: C,
    /// As many as there are colour attachments, or none.
    resolve: R,
    depth_stencil: Option<u32>,
    depth_stencil_resolve: Option<DepthStencilResolve>,
    view_mask: u32,
}

/// What an instance of a render pass is begun with.
#[derive(Clone, Copy)]
pub(crate) struct Begin<'a> {
    pub(crate) area: vk::Rect2D,
    pub(crate) layers: u32,
    /// By attachment.
    pub(crate) views: &'a [NonNull<ImageView>],
    /// By attachment; there may be fewer.
    pub(crate) clears: &'a [vk::ClearValue],
}

/// What a group of subpasses becomes.
pub(crate) struct Instances {
    /// Before the subpasses, instances without draws: for attachments that are to be cleared and that they
    /// resolve to in part only, or of which they use some views for the first time.
    pub(crate) clears: ArrayVec<Rendering, { MAX_COLOUR + 2 }>,
    /// As the first subpass has it.
    pub(crate) group: Rendering,
}

fn refuse(why: &dyn std::fmt::Display, result: vk::Result) -> vk::Result {
    debug::error(&format_args!("vkCreateRenderPass: {why}"));
    result
}

impl Attachment {
    fn own_ops(&self, is_stencil: bool) -> Ops {
        match is_stencil {
            true => self.stencil_ops,
            false => self.ops,
        }
    }

    /// The operations of a group that renders to it, of stencil or of the others. `is_fresh`: all views are
    /// used for the first time.
    fn ops(&self, group: Group, is_fresh: bool, is_stencil: bool) -> Ops {
        let own = self.own_ops(is_stencil);
        let (first, last) = self.uses.unwrap_or((group.first, group.last));
        let is_cleared = own.load == vk::AttachmentLoadOp::CLEAR && is_fresh;
        Ops {
            load: match group.first <= first || is_cleared {
                true => own.load,
                false => vk::AttachmentLoadOp::LOAD,
            },
            store: match last <= group.last {
                true => own.store,
                false => vk::AttachmentStoreOp::STORE,
            },
        }
    }

    fn has(&self, aspect: vk::ImageAspectFlags) -> bool {
        format::aspects(self.common.format).contains(aspect)
    }
}

impl Subpass {
    /// Its views; one that is none without multiview.
    fn views(&self) -> u32 {
        self.view_mask.max(1)
    }

    /// The colour attachments.
    fn colours(&self) -> impl Iterator<Item = u32> {
        self.colour.iter().filter_map(|colour| colour.attachment)
    }

    /// The input attachments, with their indices.
    fn inputs(&self) -> impl Iterator<Item = (u32, u32)> {
        let inputs = self.inputs.iter().flatten();
        (0..)
            .zip(inputs)
            .filter_map(|(index, number)| Some((index, (*number)?)))
    }

    /// What it resolves to.
    fn resolved(&self) -> impl Iterator<Item = u32> {
        let colour = self.colour.iter().filter_map(|colour| colour.resolve);
        colour.chain(self.resolve.map(|resolve| resolve.attachment))
    }

    /// Whether it resolves anything.
    fn resolves(&self) -> bool {
        self.resolved().next().is_some()
    }

    /// Whether it renders or resolves to an attachment.
    fn writes(&self, number: u32) -> bool {
        self.colours().chain(self.resolved()).any(|at| at == number)
            || self.depth_stencil == Some(number)
    }
}

/// How samples of a colour become one where nobody says it.
fn colour_mode(format: vk::Format) -> vk::ResolveModeFlags {
    let numeric = format::single(format).map(|format| format.encoding().numeric());
    match numeric {
        Some(Numeric::Uint | Numeric::Sint) => vk::ResolveModeFlags::SAMPLE_ZERO,
        _ => vk::ResolveModeFlags::AVERAGE,
    }
}

impl RenderPass {
    fn with_room(
        host: HostAllocator,
        attachments: impl ExactSizeIterator<Item = Attachment>,
        subpasses: usize,
    ) -> VkResult<RenderPass> {
        let mut this = RenderPass {
            attachments: host.vec(),
            subpasses: host.vec(),
        };
        let room = this.attachments.try_reserve_exact(attachments.len());
        room.map_err(|_| OUT_OF_HOST)?;
        for attachment in attachments {
            if format::planes(attachment.common.format).is_empty() {
                return Err(refuse(
                    &format_args!("the hardware has no {:?}", attachment.common.format),
                    vk::Result::ERROR_FORMAT_NOT_SUPPORTED,
                ));
            }
            this.attachments.push(attachment);
        }
        let room = this.subpasses.try_reserve_exact(subpasses);
        room.map_err(|_| OUT_OF_HOST)?;
        Ok(this)
    }

    /// A reference to an attachment from the subpass that is being added.
    fn refer(&mut self, attachment: u32) -> VkResult<Option<u32>> {
        if attachment == vk::ATTACHMENT_UNUSED {
            return Ok(None);
        }
        let subpass = self.subpasses.len() as u32;
        let Some(found) = self.attachments.get_mut(attachment as usize) else {
            return Err(refuse(
                &format_args!("there is no attachment {attachment}"),
                vk::Result::ERROR_UNKNOWN,
            ));
        };
        let first = found.uses.map_or(subpass, |(first, _)| first);
        found.uses = Some((first, subpass));
        Ok(Some(attachment))
    }

    /// Adds a subpass, for which there is room.
    fn add(
        &mut self,
        described: Described<
            impl Iterator<Item = u32>,
            impl ExactSizeIterator<Item = u32>,
            impl Iterator<Item = u32>,
        >,
    ) -> VkResult {
        let mut subpass = Subpass {
            inputs: Some(ArrayVec::new()),
            view_mask: described.view_mask,
            ..Subpass::default()
        };
        for input in described.inputs {
            let input = self.refer(input)?;
            let known = subpass.inputs.as_mut();
            if known.is_some_and(|inputs| inputs.try_push(input).is_err()) {
                subpass.inputs = None;
            }
        }
        if described.colour.len() > MAX_COLOUR {
            return Err(refuse(
                &format_args!(
                    "{} colour attachments, of {MAX_COLOUR} that a subpass can have",
                    described.colour.len()
                ),
                vk::Result::ERROR_UNKNOWN,
            ));
        }
        let mut resolve = described.resolve;
        for attachment in described.colour {
            let attachment = self.refer(attachment)?;
            let to = resolve.next().unwrap_or(vk::ATTACHMENT_UNUSED);
            subpass.colour.push(Colour {
                attachment,
                resolve: self.refer(to)?,
            });
        }
        if let Some(attachment) = described.depth_stencil {
            subpass.depth_stencil = self.refer(attachment)?;
        }
        if let Some(resolve) = described.depth_stencil_resolve
            && self.refer(resolve.attachment)?.is_some()
        {
            subpass.resolve = Some(resolve);
        }
        debug_assert!(self.subpasses.len() < self.subpasses.capacity());
        self.subpasses.push(subpass);
        Ok(())
    }

    /// Makes groups of the subpasses, which are all there.
    fn group(&mut self, dependencies: impl Iterator<Item = Dependency>) {
        let last = self.subpasses.len().saturating_sub(1);
        for dependency in dependencies.filter(|dependency| !dependency.is_local()) {
            // Neither what is outside of the pass nor the subpass itself.
            if dependency.from < dependency.to
                && let Some(subpass) = self.subpasses.get_mut(dependency.to as usize)
            {
                subpass.waits_for = subpass.waits_for.max(Some(dependency.from));
            }
        }
        let mut first = 0;
        while first < self.subpasses.len() {
            let last = match debug::has(debug::Flags::NOMERGE) {
                true => first,
                false => merge::last(|at| self.common(at), &self.subpasses, first).min(last),
            };
            for subpass in &mut self.subpasses[first..=last] {
                (subpass.first, subpass.last) = (first as u32, last as u32);
            }
            first = last + 1;
        }
    }

    /// What compatible render passes agree on of an attachment.
    fn common(&self, number: u32) -> Option<merge::Attachment> {
        let attachment = self.attachments.get(number as usize)?;
        Some(attachment.common)
    }

    /// The group of a subpass, if there is such a one.
    fn group_of(&self, subpass: u32) -> Option<Group> {
        let Subpass { first, last, .. } = *self.subpasses.get(subpass as usize)?;
        Some(Group { first, last })
    }

    /// The subpasses of a group.
    fn members(&self, group: Group) -> &[Subpass] {
        let range = group.first as usize..=group.last as usize;
        self.subpasses.get(range).unwrap_or_default()
    }

    /// Whether a subpass is rendered in the same instance as the one before it.
    pub(crate) fn is_merged(&self, subpass: u32) -> bool {
        let group = self.group_of(subpass);
        group.is_some_and(|group| group.first < subpass)
    }

    /// Where its attachments are in the tile, of one that is merged with others.
    pub(crate) fn merged(&self, subpass: u32) -> Option<Merged> {
        let group = self.group_of(subpass)?;
        let at = subpass - group.first;
        merge::merged(|at| self.common(at), self.members(group), at as usize)
    }

    /// # Safety
    /// The structure is valid.
    unsafe fn new(
        host: HostAllocator,
        info: &vk::RenderPassCreateInfo<'_>,
    ) -> VkResult<RenderPass> {
        // SAFETY: the caller's promise, here and below.
        unsafe {
            let multiview = entry::find::<vk::RenderPassMultiviewCreateInfo<'_>>(info.p_next);
            let masks = multiview.map_or(&[][..], |multiview| {
                entry::slice(multiview.p_view_masks, multiview.subpass_count)
            });
            let mut masks = masks.iter().copied();
            let attachments = entry::slice(info.p_attachments, info.attachment_count);
            let subpasses = entry::slice(info.p_subpasses, info.subpass_count);
            let attachments = attachments.iter().map(|attachment| Attachment {
                common: merge::Attachment {
                    format: attachment.format,
                    samples: attachment.samples,
                    may_alias: (attachment.flags)
                        .contains(vk::AttachmentDescriptionFlags::MAY_ALIAS),
                },
                ops: Ops {
                    load: attachment.load_op,
                    store: attachment.store_op,
                },
                stencil_ops: Ops {
                    load: attachment.stencil_load_op,
                    store: attachment.stencil_store_op,
                },
                uses: None,
            });
            let mut this = RenderPass::with_room(host, attachments, subpasses.len())?;
            for subpass in subpasses {
                let number = |reference: &vk::AttachmentReference| reference.attachment;
                let numbers = |array, count| entry::slice(array, count).iter().map(number);
                this.add(Described {
                    inputs: numbers(subpass.p_input_attachments, subpass.input_attachment_count),
                    colour: numbers(subpass.p_color_attachments, subpass.color_attachment_count),
                    resolve: numbers(
                        subpass.p_resolve_attachments,
                        subpass.color_attachment_count,
                    ),
                    depth_stencil: subpass.p_depth_stencil_attachment.as_ref().map(number),
                    depth_stencil_resolve: None,
                    view_mask: masks.next().unwrap_or(0),
                })?;
            }
            let dependencies = entry::slice(info.p_dependencies, info.dependency_count);
            this.group(dependencies.iter().map(Dependency::new));
            Ok(this)
        }
    }

    /// # Safety
    /// The structure is valid.
    unsafe fn new2(
        host: HostAllocator,
        info: &vk::RenderPassCreateInfo2<'_>,
    ) -> VkResult<RenderPass> {
        // SAFETY: the caller's promise, here and below.
        unsafe {
            let attachments = entry::slice(info.p_attachments, info.attachment_count);
            let subpasses = entry::slice(info.p_subpasses, info.subpass_count);
            let attachments = attachments.iter().map(|attachment| Attachment {
                common: merge::Attachment {
                    format: attachment.format,
                    samples: attachment.samples,
                    may_alias: (attachment.flags)
                        .contains(vk::AttachmentDescriptionFlags::MAY_ALIAS),
                },
                ops: Ops {
                    load: attachment.load_op,
                    store: attachment.store_op,
                },
                stencil_ops: Ops {
                    load: attachment.stencil_load_op,
                    store: attachment.stencil_store_op,
                },
                uses: None,
            });
            let mut this = RenderPass::with_room(host, attachments, subpasses.len())?;
            for subpass in subpasses {
                let number = |reference: &vk::AttachmentReference2<'_>| reference.attachment;
                let numbers = |array, count| entry::slice(array, count).iter().map(number);
                this.add(Described {
                    inputs: numbers(subpass.p_input_attachments, subpass.input_attachment_count),
                    colour: numbers(subpass.p_color_attachments, subpass.color_attachment_count),
                    resolve: numbers(
                        subpass.p_resolve_attachments,
                        subpass.color_attachment_count,
                    ),
                    depth_stencil: subpass.p_depth_stencil_attachment.as_ref().map(number),
                    depth_stencil_resolve: depth_stencil_resolve(subpass.p_next),
                    view_mask: subpass.view_mask,
                })?;
            }
            let dependencies = entry::slice(info.p_dependencies, info.dependency_count);
            this.group(dependencies.iter().map(|of| Dependency::new2(of)));
            Ok(this)
        }
    }

    /// How many subpasses there are.
    pub(crate) fn subpasses(&self) -> u32 {
        self.subpasses.len() as u32
    }

    fn attachment(&self, number: Option<u32>) -> Option<&Attachment> {
        self.attachments.get(number? as usize)
    }

    /// What a pipeline that is used in a subpass must know of its attachments; nothing for a subpass
    /// that is not there.
    pub(crate) fn formats(&self, subpass: u32) -> AttachmentFormats {
        let mut formats = AttachmentFormats {
            merged: self.merged(subpass),
            ..AttachmentFormats::default()
        };
        let Some(subpass) = self.subpasses.get(subpass as usize) else {
            return formats;
        };
        let format = |number| {
            let attachment = self.attachment(number);
            attachment.map_or(vk::Format::UNDEFINED, |attachment| attachment.common.format)
        };
        formats.view_mask = subpass.view_mask;
        formats.colour = subpass
            .colour
            .iter()
            .map(|colour| format(colour.attachment))
            .collect();
        let (depth, stencil) = (vk::ImageAspectFlags::DEPTH, vk::ImageAspectFlags::STENCIL);
        if let Some(attachment) = self.attachment(subpass.depth_stencil) {
            if attachment.has(depth) {
                formats.depth = attachment.common.format;
            }
            if attachment.has(stencil) {
                formats.stencil = attachment.common.format;
            }
        }
        formats
    }

    /// What the group becomes that a subpass begins; nothing for one that is not there.
    pub(crate) fn instances(&self, subpass: u32, begin: &Begin<'_>) -> Option<Instances> {
        let group = self.group_of(subpass)?;
        Some(Instances {
            clears: self.clears(group, begin)?,
            group: Rendering {
                merged: self.merged(subpass),
                ..self.rendering(group, begin)?
            },
        })
    }

    /// The views of an attachment that a group uses for the first time. (If a subpass before it has it as an
    /// input attachment only, it is not cleared: VUID-VkSubpassDescription-loadOp-00846.)
    fn fresh(&self, number: u32, group: Group) -> u32 {
        let before = self.subpasses.iter().take(group.first as usize);
        let used = before
            .filter(|subpass| subpass.writes(number))
            .fold(0, |views, subpass| views | subpass.views());
        // All have the same.
        let own = self.members(group).first();
        own.map_or(0, Subpass::views) & !used
    }

    /// The operations of a group on an attachment that it renders to.
    fn ops(&self, number: Option<u32>, group: Group, is_stencil: bool) -> Option<Ops> {
        let attachment = self.attachment(number)?;
        let own = self.members(group).first()?;
        let is_fresh = self.fresh(number?, group) == own.views();
        Some(attachment.ops(group, is_fresh, is_stencil))
    }

    fn view(&self, number: Option<u32>, begin: &Begin<'_>) -> Option<NonNull<ImageView>> {
        begin.views.get(number? as usize).copied()
    }

    /// An attachment as a target.
    fn target(
        &self,
        number: Option<u32>,
        begin: &Begin<'_>,
        ops: Ops,
        resolve: Option<Resolve>,
    ) -> Option<Target> {
        Some(Target {
            view: self.view(number, begin)?,
            load: ops.load,
            store: ops.store,
            clear: begin
                .clears
                .get(number? as usize)
                .copied()
                .unwrap_or_default(),
            resolve,
        })
    }

    /// What a group draws to: of one subpass its colour attachments with those that are not used, of several
    /// those of all.
    fn targets(&self, group: Group) -> Option<ArrayVec<Colour, MAX_COLOUR>> {
        let (last, before) = self.members(group).split_last()?;
        if before.is_empty() {
            return Some(last.colour.clone());
        }
        let resolve = |number| {
            let own = (last.colour.iter()).find(|colour| colour.attachment == Some(number));
            own.and_then(|colour| colour.resolve)
        };
        let colours = merge::colours(self.members(group))?.into_iter();
        Some(
            colours
                .map(|number| Colour {
                    attachment: Some(number),
                    resolve: resolve(number),
                })
                .collect(),
        )
    }

    fn rendering(&self, group: Group, begin: &Begin<'_>) -> Option<Rendering> {
        let last = self.members(group).last()?;
        let colour = self.targets(group)?.into_iter().map(|colour| {
            let resolve = self
                .view(colour.resolve, begin)
                .zip(self.attachment(colour.attachment))
                .map(|(view, attachment)| Resolve {
                    view,
                    mode: colour_mode(attachment.common.format),
                });
            let ops = self.ops(colour.attachment, group, false)?;
            self.target(colour.attachment, begin, ops, resolve)
        });
        let depth_stencil = merge::depth_stencil(self.members(group));
        let aspect = |aspect| {
            let attachment = self.attachment(depth_stencil)?;
            if !attachment.has(aspect) {
                return None;
            }
            let is_stencil = aspect == vk::ImageAspectFlags::STENCIL;
            let resolve = last.resolve.and_then(|resolve| {
                Some(Resolve {
                    view: self.view(Some(resolve.attachment), begin)?,
                    mode: self.resolve_mode(resolve, aspect)?,
                })
            });
            let ops = self.ops(depth_stencil, group, is_stencil)?;
            self.target(depth_stencil, begin, ops, resolve)
        };
        Some(Rendering {
            area: begin.area,
            layers: begin.layers,
            view_mask: last.view_mask,
            colour: colour.collect(),
            depth: aspect(vk::ImageAspectFlags::DEPTH),
            stencil: aspect(vk::ImageAspectFlags::STENCIL),
            merged: None,
        })
    }

    /// How an aspect is resolved; nothing if it is not.
    fn resolve_mode(
        &self,
        resolve: DepthStencilResolve,
        aspect: vk::ImageAspectFlags,
    ) -> Option<vk::ResolveModeFlags> {
        let mode = match aspect {
            vk::ImageAspectFlags::STENCIL => resolve.stencil,
            _ => resolve.depth,
        };
        let has = self.attachment(Some(resolve.attachment))?.has(aspect);
        (has && mode != vk::ResolveModeFlags::NONE).then_some(mode)
    }

    /// The clears that neither the group's own load operations nor its resolves do: of views that it uses
    /// for the first time beside others, and of what depth and stencil are resolved to as far as the resolve
    /// does not write it.
    fn clears(
        &self,
        group: Group,
        begin: &Begin<'_>,
    ) -> Option<ArrayVec<Rendering, { MAX_COLOUR + 2 }>> {
        const OPS: Ops = Ops {
            load: vk::AttachmentLoadOp::CLEAR,
            store: vk::AttachmentStoreOp::STORE,
        };
        let last = self.members(group).last()?;
        let nothing = |views| Rendering {
            area: begin.area,
            layers: begin.layers,
            view_mask: views & last.view_mask,
            colour: ArrayVec::new(),
            depth: None,
            stencil: None,
            merged: None,
        };
        let is_cleared = |to: u32, is_stencil| {
            let attachment = self.attachment(Some(to));
            attachment.is_some_and(|attachment| {
                attachment.own_ops(is_stencil).load == vk::AttachmentLoadOp::CLEAR
            })
        };
        // Those among others.
        let some = |to: u32| Some(self.fresh(to, group)).filter(|fresh| *fresh != last.views());
        let mut all = ArrayVec::new();
        let targets = self.targets(group)?.into_iter();
        for to in targets.filter_map(|colour| colour.attachment) {
            let views = some(to).unwrap_or(0);
            if views != 0 && is_cleared(to, false) {
                let mut rendering = nothing(views);
                let target = self.target(Some(to), begin, OPS, None);
                rendering.colour.push(target);
                all.push(rendering);
            }
        }
        let mut add = |to: u32, views: u32, is_left_out: &dyn Fn(vk::ImageAspectFlags) -> bool| {
            let aspect = |aspect| {
                let is_stencil = aspect == vk::ImageAspectFlags::STENCIL;
                let has = self.attachment(Some(to))?.has(aspect);
                if !has || !is_cleared(to, is_stencil) || is_left_out(aspect) {
                    return None;
                }
                self.target(Some(to), begin, OPS, None)
            };
            let (depth, stencil) = (
                aspect(vk::ImageAspectFlags::DEPTH),
                aspect(vk::ImageAspectFlags::STENCIL),
            );
            if views != 0 && (depth.is_some() || stencil.is_some()) {
                all.push(Rendering {
                    depth,
                    stencil,
                    ..nothing(views)
                });
            }
        };
        if let Some(to) = merge::depth_stencil(self.members(group)) {
            add(to, some(to).unwrap_or(0), &|_| false);
        }
        if let Some(resolve) = last.resolve {
            let fresh = self.fresh(resolve.attachment, group);
            add(resolve.attachment, fresh, &|aspect| {
                self.resolve_mode(resolve, aspect).is_some()
            });
        }
        Some(all)
    }
}

/// # Safety
/// The chain is valid.
unsafe fn depth_stencil_resolve(chain: *const c_void) -> Option<DepthStencilResolve> {
    // SAFETY: the caller's promise, here and below.
    unsafe {
        let found = entry::find::<vk::SubpassDescriptionDepthStencilResolve<'_>>(chain)?;
        let to = found.p_depth_stencil_resolve_attachment.as_ref()?;
        Some(DepthStencilResolve {
            attachment: to.attachment,
            depth: found.depth_resolve_mode,
            stencil: found.stencil_resolve_mode,
        })
    }
}

/// vkCreateRenderPass.
pub(crate) unsafe extern "system" fn create_render_pass(
    device: vk::Device,
    info: *const vk::RenderPassCreateInfo<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    pass: *mut vk::RenderPass,
) -> vk::Result {
    entry::try_guard("vkCreateRenderPass", || {
        // SAFETY: valid by the specification.
        unsafe {
            let host = object::get::<Device>(device).allocator(allocator);
            *pass = object::create(host, RenderPass::new(host, &*info)?)?;
        }
        Ok(())
    })
}

/// vkCreateRenderPass2.
pub(crate) unsafe extern "system" fn create_render_pass2(
    device: vk::Device,
    info: *const vk::RenderPassCreateInfo2<'_>,
    allocator: *const vk::AllocationCallbacks<'_>,
    pass: *mut vk::RenderPass,
) -> vk::Result {
    entry::try_guard("vkCreateRenderPass2", || {
        // SAFETY: valid by the specification.
        unsafe {
            let host = object::get::<Device>(device).allocator(allocator);
            *pass = object::create(host, RenderPass::new2(host, &*info)?)?;
        }
        Ok(())
    })
}

/// vkDestroyRenderPass.
pub(crate) unsafe extern "system" fn destroy_render_pass(
    device: vk::Device,
    pass: vk::RenderPass,
    allocator: *const vk::AllocationCallbacks<'_>,
) {
    // SAFETY: null or a live handle that no one else uses, by the specification.
    unsafe { device::destroy_object::<RenderPass>("vkDestroyRenderPass", device, pass, allocator) };
}

/// vkGetRenderAreaGranularity: of what a tile is not wholly inside must be loaded, to be stored as it was.
/// Tiles are at most 32 pixels wide and high, and smaller ones divide those.
pub(crate) unsafe extern "system" fn get_render_area_granularity(
    _device: vk::Device,
    _pass: vk::RenderPass,
    granularity: *mut vk::Extent2D,
) {
    entry::guard("vkGetRenderAreaGranularity", || {
        // SAFETY: valid by the specification.
        unsafe {
            *granularity = vk::Extent2D {
                width: 32,
                height: 32,
            };
        }
    });
}

#[cfg(test)]
mod tests;
