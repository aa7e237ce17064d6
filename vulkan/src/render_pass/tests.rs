// SPDX-License-Identifier: MIT
//! When attachments are loaded and stored, and what cannot be.

use proptest::prelude::*;

use super::*;
use crate::testing::{Driver, FailingHost, for_each_failure};

const COLOUR: vk::Format = vk::Format::R8G8B8A8_UNORM;
const DEPTH_STENCIL: vk::Format = vk::Format::D32_SFLOAT_S8_UINT;
const UNUSED: u32 = vk::ATTACHMENT_UNUSED;
const LOAD: vk::AttachmentLoadOp = vk::AttachmentLoadOp::LOAD;
const CLEAR: vk::AttachmentLoadOp = vk::AttachmentLoadOp::CLEAR;
const ANY: vk::AttachmentLoadOp = vk::AttachmentLoadOp::DONT_CARE;
const STORE: vk::AttachmentStoreOp = vk::AttachmentStoreOp::STORE;
const LOSE: vk::AttachmentStoreOp = vk::AttachmentStoreOp::DONT_CARE;
const NO: vk::ResolveModeFlags = vk::ResolveModeFlags::NONE;

type BothOps = (vk::AttachmentLoadOp, vk::AttachmentStoreOp);

pub(super) fn described(
    format: vk::Format,
    ops: BothOps,
    stencil: BothOps,
) -> vk::AttachmentDescription2<'static> {
    vk::AttachmentDescription2::default()
        .format(format)
        .samples(vk::SampleCountFlags::TYPE_1)
        .load_op(ops.0)
        .store_op(ops.1)
        .stencil_load_op(stencil.0)
        .stencil_store_op(stencil.1)
}

pub(super) fn colour(
    load: vk::AttachmentLoadOp,
    store: vk::AttachmentStoreOp,
) -> vk::AttachmentDescription2<'static> {
    described(COLOUR, (load, store), (ANY, LOSE))
}

#[derive(Clone, Debug, Default)]
pub(super) struct Sub {
    pub(super) input: Vec<u32>,
    pub(super) colour: Vec<u32>,
    pub(super) resolve: Vec<u32>,
    pub(super) depth_stencil: Option<u32>,
    pub(super) depth_stencil_resolve: Option<(u32, vk::ResolveModeFlags, vk::ResolveModeFlags)>,
    pub(super) view_mask: u32,
}

fn host() -> HostAllocator {
    HostAllocator::global(vk::SystemAllocationScope::OBJECT)
}

/// A dependency that subpasses which are one pass may have.
pub(super) fn local(from: u32, to: u32) -> vk::SubpassDependency {
    vk::SubpassDependency {
        src_subpass: from,
        dst_subpass: to,
        src_stage_mask: vk::PipelineStageFlags::COLOR_ATTACHMENT_OUTPUT,
        dst_stage_mask: vk::PipelineStageFlags::FRAGMENT_SHADER,
        src_access_mask: vk::AccessFlags::COLOR_ATTACHMENT_WRITE,
        dst_access_mask: vk::AccessFlags::INPUT_ATTACHMENT_READ,
        dependency_flags: vk::DependencyFlags::BY_REGION,
    }
}

/// One that they may not have.
pub(super) fn global(from: u32, to: u32) -> vk::SubpassDependency {
    vk::SubpassDependency {
        dependency_flags: vk::DependencyFlags::empty(),
        ..local(from, to)
    }
}

/// Each subpass waits for all of the one before.
fn in_order(subs: &[Sub]) -> Vec<vk::SubpassDependency> {
    let later = 1..subs.len() as u32;
    later.map(|to| global(to - 1, to)).collect()
}

/// Runs something with the structure that describes a pass.
fn with_info2<R>(
    attachments: &[vk::AttachmentDescription2<'_>],
    subs: &[Sub],
    dependencies: &[vk::SubpassDependency],
    run: impl FnOnce(&vk::RenderPassCreateInfo2<'_>) -> R,
) -> R {
    let reference = |number: &u32| vk::AttachmentReference2::default().attachment(*number);
    let references = |numbers: &[u32]| numbers.iter().map(reference).collect::<Vec<_>>();
    let parts: Vec<_> = subs
        .iter()
        .map(|sub| {
            let resolve = sub.depth_stencil_resolve.unwrap_or((UNUSED, NO, NO));
            (
                references(&sub.input),
                references(&sub.colour),
                references(&sub.resolve),
                reference(&sub.depth_stencil.unwrap_or(UNUSED)),
                reference(&resolve.0),
                resolve,
            )
        })
        .collect();
    let mut resolves: Vec<_> = parts
        .iter()
        .map(|part| {
            vk::SubpassDescriptionDepthStencilResolve::default()
                .depth_stencil_resolve_attachment(&part.4)
                .depth_resolve_mode(part.5.1)
                .stencil_resolve_mode(part.5.2)
        })
        .collect();
    let subpasses: Vec<_> = parts
        .iter()
        .zip(&mut resolves)
        .zip(subs)
        .map(|((part, resolve), sub)| {
            let mut description = vk::SubpassDescription2::default()
                .view_mask(sub.view_mask)
                .input_attachments(&part.0)
                .color_attachments(&part.1)
                .depth_stencil_attachment(&part.3)
                .push_next(resolve);
            if !part.2.is_empty() {
                description = description.resolve_attachments(&part.2);
            }
            description
        })
        .collect();
    let dependencies: Vec<_> = dependencies
        .iter()
        .map(|of| {
            vk::SubpassDependency2::default()
                .src_subpass(of.src_subpass)
                .dst_subpass(of.dst_subpass)
                .src_stage_mask(of.src_stage_mask)
                .dst_stage_mask(of.dst_stage_mask)
                .src_access_mask(of.src_access_mask)
                .dst_access_mask(of.dst_access_mask)
                .dependency_flags(of.dependency_flags)
        })
        .collect();
    run(&vk::RenderPassCreateInfo2::default()
        .attachments(attachments)
        .subpasses(&subpasses)
        .dependencies(&dependencies))
}

fn with_info<R>(
    attachments: &[vk::AttachmentDescription2<'_>],
    subs: &[Sub],
    dependencies: &[vk::SubpassDependency],
    run: impl FnOnce(&vk::RenderPassCreateInfo<'_>) -> R,
) -> R {
    let attachments: Vec<_> = attachments
        .iter()
        .map(|of| {
            vk::AttachmentDescription::default()
                .format(of.format)
                .samples(of.samples)
                .load_op(of.load_op)
                .store_op(of.store_op)
                .stencil_load_op(of.stencil_load_op)
                .stencil_store_op(of.stencil_store_op)
        })
        .collect();
    let reference = |number: &u32| vk::AttachmentReference::default().attachment(*number);
    let references = |numbers: &[u32]| numbers.iter().map(reference).collect::<Vec<_>>();
    let parts: Vec<_> = subs
        .iter()
        .map(|sub| {
            (
                references(&sub.input),
                references(&sub.colour),
                references(&sub.resolve),
                sub.depth_stencil.as_ref().map(reference),
            )
        })
        .collect();
    let subpasses: Vec<_> = parts
        .iter()
        .map(|part| {
            let mut description = vk::SubpassDescription::default()
                .input_attachments(&part.0)
                .color_attachments(&part.1);
            if !part.2.is_empty() {
                description = description.resolve_attachments(&part.2);
            }
            if let Some(depth_stencil) = &part.3 {
                description = description.depth_stencil_attachment(depth_stencil);
            }
            description
        })
        .collect();
    run(&vk::RenderPassCreateInfo::default()
        .attachments(&attachments)
        .subpasses(&subpasses)
        .dependencies(dependencies))
}

/// One with dependencies.
pub(super) fn pass_with(
    attachments: &[vk::AttachmentDescription2<'_>],
    subs: &[Sub],
    dependencies: &[vk::SubpassDependency],
) -> VkResult<RenderPass> {
    // SAFETY: a valid structure.
    with_info2(attachments, subs, dependencies, |info| unsafe {
        RenderPass::new2(host(), info)
    })
}

/// One whose subpasses are instances of their own.
fn pass(attachments: &[vk::AttachmentDescription2<'_>], subs: &[Sub]) -> VkResult<RenderPass> {
    pass_with(attachments, subs, &in_order(subs))
}

/// A view that is compared and never looked at.
fn view(attachment: u32) -> NonNull<ImageView> {
    let address = 0x1000 * (attachment as usize + 1);
    NonNull::new(std::ptr::without_provenance_mut(address)).expect("not null")
}

fn attachment_of(view: NonNull<ImageView>) -> u32 {
    (view.as_ptr().addr() / 0x1000 - 1) as u32
}

fn instances(pass: &RenderPass, subpass: u32) -> Instances {
    let views: Vec<_> = (0..pass.attachments.len() as u32).map(view).collect();
    let clears: Vec<_> = (0..pass.attachments.len() as u32)
        .map(|number| vk::ClearValue {
            color: vk::ClearColorValue {
                uint32: [100 + number; 4],
            },
        })
        .collect();
    let begin = Begin {
        area: vk::Rect2D {
            offset: vk::Offset2D { x: 1, y: 2 },
            extent: vk::Extent2D {
                width: 3,
                height: 4,
            },
        },
        layers: 5,
        views: &views,
        clears: &clears,
    };
    let made = pass.instances(subpass, &begin).expect("a subpass");
    for rendering in made.clears.iter().chain([&made.group]) {
        assert_eq!((rendering.area, rendering.layers), (begin.area, 5));
        let targets = rendering.colour.iter().flatten();
        for target in targets.chain(&rendering.depth).chain(&rendering.stencil) {
            // SAFETY: words.
            let word = unsafe { target.clear.color.uint32[0] };
            assert_eq!(word, 100 + attachment_of(target.view));
        }
    }
    made
}

/// A target: its attachment, load, store, what it is resolved to.
type Told = (
    u32,
    vk::AttachmentLoadOp,
    vk::AttachmentStoreOp,
    Option<(u32, vk::ResolveModeFlags)>,
);

fn tell(target: &Option<Target>) -> Option<Told> {
    target.as_ref().map(|target| {
        let resolve = target.resolve;
        (
            attachment_of(target.view),
            target.load,
            target.store,
            resolve.map(|resolve| (attachment_of(resolve.view), resolve.mode)),
        )
    })
}

fn colours(pass: &RenderPass, subpass: u32) -> Vec<Option<Told>> {
    let made = instances(pass, subpass);
    made.group.colour.iter().map(tell).collect()
}

#[test]
fn one_subpass_takes_the_operations_as_they_are() {
    let attachments = [
        colour(CLEAR, STORE),
        described(DEPTH_STENCIL, (CLEAR, LOSE), (LOAD, STORE)),
        colour(ANY, LOSE),
    ];
    let sub = Sub {
        colour: vec![UNUSED, 0],
        depth_stencil: Some(1),
        ..Sub::default()
    };
    let pass = pass(&attachments, &[sub]).expect("a pass");
    let made = instances(&pass, 0);
    assert!(made.clears.is_empty());
    assert_eq!(colours(&pass, 0), [None, Some((0, CLEAR, STORE, None))]);
    assert_eq!(tell(&made.group.depth), Some((1, CLEAR, LOSE, None)));
    assert_eq!(tell(&made.group.stencil), Some((1, LOAD, STORE, None)));
}

#[test]
fn between_its_first_and_its_last_use_an_attachment_lies_in_memory() {
    let attachments = [colour(CLEAR, LOSE), colour(ANY, STORE), colour(CLEAR, LOSE)];
    let subs = [
        Sub {
            colour: vec![0],
            ..Sub::default()
        },
        Sub {
            input: vec![0],
            colour: vec![1, 2],
            ..Sub::default()
        },
        Sub {
            colour: vec![0],
            ..Sub::default()
        },
        // Used last as an input only.
        Sub {
            input: vec![2, UNUSED],
            colour: vec![1],
            ..Sub::default()
        },
    ];
    let pass = pass(&attachments, &subs).expect("a pass");
    assert_eq!(colours(&pass, 0), [Some((0, CLEAR, STORE, None))]);
    assert_eq!(
        colours(&pass, 1),
        [Some((1, ANY, STORE, None)), Some((2, CLEAR, STORE, None))]
    );
    assert_eq!(colours(&pass, 2), [Some((0, LOAD, LOSE, None))]);
    assert_eq!(colours(&pass, 3), [Some((1, LOAD, STORE, None))]);
    let begin = Begin {
        area: vk::Rect2D::default(),
        layers: 1,
        views: &[],
        clears: &[],
    };
    assert!(pass.instances(4, &begin).is_none());
    // Without views there is nothing to render to.
    let made = pass.instances(1, &begin).expect("a subpass");
    assert!(made.group.colour.iter().all(Option::is_none));
}

#[test]
fn aspects_that_a_format_has_not_are_left_out() {
    let attachments = [
        described(vk::Format::D32_SFLOAT, (CLEAR, STORE), (CLEAR, STORE)),
        described(vk::Format::S8_UINT, (ANY, LOSE), (CLEAR, STORE)),
    ];
    let subs = [0, 1].map(|number| Sub {
        depth_stencil: Some(number),
        ..Sub::default()
    });
    let pass = pass(&attachments, &subs).expect("a pass");
    let (first, second) = (instances(&pass, 0).group, instances(&pass, 1).group);
    assert_eq!(tell(&first.depth), Some((0, CLEAR, STORE, None)));
    assert_eq!(tell(&first.stencil), None);
    assert_eq!(tell(&second.depth), None);
    assert_eq!(tell(&second.stencil), Some((1, CLEAR, STORE, None)));
}

#[test]
fn colours_are_resolved_by_their_kind() {
    let integers = described(vk::Format::R32_UINT, (CLEAR, LOSE), (ANY, LOSE));
    let attachments = [colour(CLEAR, LOSE), colour(ANY, STORE), integers, integers];
    let sub = Sub {
        colour: vec![0, 2, UNUSED],
        resolve: vec![1, 3, UNUSED],
        ..Sub::default()
    };
    let pass = pass(&attachments, &[sub]).expect("a pass");
    let average = (1, vk::ResolveModeFlags::AVERAGE);
    let zero = (3, vk::ResolveModeFlags::SAMPLE_ZERO);
    assert_eq!(
        colours(&pass, 0),
        [
            Some((0, CLEAR, LOSE, Some(average))),
            Some((2, CLEAR, LOSE, Some(zero))),
            None
        ]
    );
}

#[test]
fn what_a_resolve_leaves_out_is_cleared_before() {
    let attachments = [
        described(DEPTH_STENCIL, (CLEAR, LOSE), (CLEAR, LOSE)),
        described(DEPTH_STENCIL, (CLEAR, STORE), (CLEAR, STORE)),
    ];
    let sub = |depth, stencil| Sub {
        depth_stencil: Some(0),
        depth_stencil_resolve: Some((1, depth, stencil)),
        ..Sub::default()
    };
    let (min, max) = (vk::ResolveModeFlags::MIN, vk::ResolveModeFlags::MAX);
    let of_both = pass(&attachments, &[sub(min, max)]).expect("a pass");
    let made = instances(&of_both, 0);
    assert!(made.clears.is_empty());
    let told = |to| Some((0, CLEAR, LOSE, to));
    assert_eq!(tell(&made.group.depth), told(Some((1, min))));
    assert_eq!(tell(&made.group.stencil), told(Some((1, max))));

    let of_stencil = pass(&attachments, &[sub(NO, max)]).expect("a pass");
    let made = instances(&of_stencil, 0);
    assert_eq!(tell(&made.group.depth), told(None));
    assert_eq!(tell(&made.group.stencil), told(Some((1, max))));
    let [before] = &made.clears[..] else {
        panic!("{} clears", made.clears.len());
    };
    assert_eq!(tell(&before.depth), Some((1, CLEAR, STORE, None)));
    assert_eq!(tell(&before.stencil), None);
    assert!(before.colour.is_empty());

    // What has been used before is not cleared again.
    let first = Sub {
        depth_stencil: Some(1),
        ..Sub::default()
    };
    let later = pass(&attachments, &[first, sub(NO, max)]).expect("a pass");
    assert!(instances(&later, 1).clears.is_empty());
}

/// Each view has a first use of its own.
#[test]
fn views_are_cleared_when_they_are_first_used() {
    let attachments = [
        colour(CLEAR, STORE),
        described(DEPTH_STENCIL, (LOAD, STORE), (CLEAR, STORE)),
    ];
    let sub = |view_mask| Sub {
        colour: vec![0],
        depth_stencil: Some(1),
        view_mask,
        ..Sub::default()
    };
    let subs = [sub(0b0011), sub(0b0110), sub(0b1000), sub(0b1001)];
    let pass = pass(&attachments, &subs).expect("a pass");
    for (subpass, load, cleared) in [
        (0, CLEAR, 0),
        (1, LOAD, 0b0100),
        (2, CLEAR, 0),
        (3, LOAD, 0),
    ] {
        let made = instances(&pass, subpass);
        let told = made.group.colour.iter().map(tell).collect::<Vec<_>>();
        assert_eq!(told, [Some((0, load, STORE, None))], "{subpass}");
        assert_eq!(tell(&made.group.stencil), Some((1, load, STORE, None)));
        assert_eq!(tell(&made.group.depth), Some((1, LOAD, STORE, None)));
        if cleared == 0 {
            assert!(made.clears.is_empty());
            continue;
        }
        let [colour, stencil] = &made.clears[..] else {
            panic!("{} clears", made.clears.len());
        };
        assert_eq!([colour.view_mask, stencil.view_mask], [cleared; 2]);
        assert_eq!(tell(&colour.colour[0]), Some((0, CLEAR, STORE, None)));
        assert_eq!(tell(&stencil.stencil), Some((1, CLEAR, STORE, None)));
        assert_eq!(tell(&stencil.depth), None);
    }
}

#[test]
fn pipelines_learn_formats() {
    let attachments = [
        colour(ANY, LOSE),
        described(DEPTH_STENCIL, (ANY, LOSE), (ANY, LOSE)),
        described(vk::Format::S8_UINT, (ANY, LOSE), (ANY, LOSE)),
    ];
    let subs = [
        Sub {
            colour: vec![UNUSED, 0],
            depth_stencil: Some(2),
            ..Sub::default()
        },
        Sub {
            depth_stencil: Some(1),
            ..Sub::default()
        },
        Sub::default(),
    ];
    let pass = pass(&attachments, &subs).expect("a pass");
    assert_eq!(pass.subpasses(), 3);
    let formats = pass.formats(0);
    assert_eq!(formats.colour[..], [vk::Format::UNDEFINED, COLOUR]);
    assert_eq!(formats.depth, vk::Format::UNDEFINED);
    assert_eq!(formats.stencil, vk::Format::S8_UINT);
    let formats = pass.formats(1);
    assert!(formats.colour.is_empty());
    assert_eq!(
        (formats.depth, formats.stencil),
        (DEPTH_STENCIL, DEPTH_STENCIL)
    );
    assert_eq!(pass.formats(2), AttachmentFormats::default());
    assert_eq!(pass.formats(3), AttachmentFormats::default());
}

#[test]
fn what_cannot_be_is_refused() {
    let of = |sub: Sub| pass(&[colour(CLEAR, STORE)], &[sub]).err();
    let missing = Sub {
        colour: vec![1],
        ..Sub::default()
    };
    assert_eq!(of(missing), Some(vk::Result::ERROR_UNKNOWN));
    let many = Sub {
        colour: vec![UNUSED; MAX_COLOUR + 1],
        ..Sub::default()
    };
    assert_eq!(of(many), Some(vk::Result::ERROR_UNKNOWN));
    let unknown = described(vk::Format::R8G8B8_UNORM, (ANY, LOSE), (ANY, LOSE));
    let refused = pass(&[unknown], &[Sub::default()]).err();
    assert_eq!(refused, Some(vk::Result::ERROR_FORMAT_NOT_SUPPORTED));
}

#[test]
fn views_are_those_of_the_subpass() {
    let sub = |view_mask| Sub {
        view_mask,
        ..Sub::default()
    };
    let second = pass(&[], &[sub(0b11), sub(0b101)]).expect("made");
    assert_eq!(second.formats(0).view_mask, 0b11);
    assert_eq!(second.formats(1).view_mask, 0b101);
    let masks = [0, 6];
    let mut multiview = vk::RenderPassMultiviewCreateInfo::default().view_masks(&masks);
    let first = with_info(&[], &[sub(0), sub(0)], &[], |info| {
        let info = (*info).push_next(&mut multiview);
        // SAFETY: a valid structure.
        unsafe { RenderPass::new(host(), &info) }
    });
    let first = first.expect("made");
    assert_eq!(first.formats(0).view_mask, 0);
    assert_eq!(first.formats(1).view_mask, 6);
}

#[test]
fn every_refusal_of_host_memory_is_told_and_leaks_nothing() {
    let host = FailingHost::new();
    let driver = Driver::with_host(&host);
    let device = &driver.device;
    let attachments = [colour(CLEAR, STORE), colour(CLEAR, STORE)];
    let subs = [0, 1].map(|number| Sub {
        colour: vec![number],
        ..Sub::default()
    });
    let failures = with_info(&attachments, &subs, &[local(0, 1)], |info| {
        for_each_failure(
            &host,
            // SAFETY: valid structures and live handles, here and below.
            |callbacks| unsafe { device.create_render_pass(info, Some(callbacks)) },
            // SAFETY: as above.
            |made, callbacks| unsafe { device.destroy_render_pass(made, Some(callbacks)) },
        )
    });
    assert_eq!(failures, 3);
    let failures = with_info2(&attachments, &subs, &[local(0, 1)], |info| {
        for_each_failure(
            &host,
            // SAFETY: as above.
            |callbacks| unsafe { device.create_render_pass2(info, Some(callbacks)) },
            // SAFETY: as above.
            |made, callbacks| unsafe { device.destroy_render_pass(made, Some(callbacks)) },
        )
    });
    assert_eq!(failures, 3);
}

/// What an attachment holds: what it was, or was cleared to, and the subpasses that drew since.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Contents {
    Nothing,
    Of(&'static str, Vec<u32>),
}

impl Contents {
    fn loaded(&self, load: vk::AttachmentLoadOp) -> Contents {
        match load {
            CLEAR => Contents::Of("clear", Vec::new()),
            LOAD => self.clone(),
            _ => Contents::Nothing,
        }
    }

    fn drawn(mut self, subpass: u32) -> Contents {
        if let Contents::Of(_, drawn) = &mut self {
            drawn.push(subpass);
        }
        self
    }

    fn stored(self, store: vk::AttachmentStoreOp) -> Contents {
        match store {
            STORE => self,
            _ => Contents::Nothing,
        }
    }
}

fn any_sub(attachments: u32) -> impl Strategy<Value = Sub> {
    let number = prop_oneof![3 => 0..attachments, 1 => Just(UNUSED)];
    let input = proptest::collection::vec(number.clone(), 0..3);
    (input, proptest::collection::vec(number, 0..3)).prop_map(|(input, mut colour)| {
        colour.dedup_by(|b, a| a == b && *a != UNUSED);
        // In one subpass an attachment is one thing.
        let input = input.into_iter().filter(|at| !colour.contains(at));
        Sub {
            input: input.collect(),
            colour: colour.clone(),
            ..Sub::default()
        }
    })
}

proptest! {
    /// Attachments that lie in memory between groups of subpasses, and in the tile within them, hold what they
    /// would if they stayed where they are from their first use to their last.
    #[test]
    fn subpasses_see_what_the_ones_before_drew(
        ops in proptest::collection::vec(
            (prop_oneof![Just(LOAD), Just(CLEAR), Just(ANY)], prop_oneof![Just(STORE), Just(LOSE)]),
            3,
        ),
        subs in proptest::collection::vec(any_sub(3), 1..6),
        locals in proptest::collection::vec(any::<bool>(), 5),
    ) {
        let uses = |number: u32| {
            let at = |sub: &Sub| sub.input.contains(&number) || sub.colour.contains(&number);
            let all: Vec<_> = (0..subs.len()).filter(|index| at(&subs[*index])).collect();
            (all.first().copied(), all.last().copied())
        };
        // No attachment that is first an input may be cleared (VUID-VkSubpassDescription-loadOp-00846).
        let ops: Vec<_> = (0..).zip(ops).map(|(number, (load, store))| {
            let is_input = uses(number).0.is_some_and(|first| subs[first].input.contains(&number));
            (if is_input { LOAD } else { load }, store)
        }).collect();
        let attachments: Vec<_> = ops.iter().map(|(load, store)| colour(*load, *store)).collect();
        let between = (1..subs.len() as u32).zip(locals);
        let dependencies: Vec<_> = between.map(|(to, is_local)| match is_local {
            true => local(to - 1, to),
            false => global(to - 1, to),
        }).collect();
        let pass = pass_with(&attachments, &subs, &dependencies).expect("a pass");
        let initial = Contents::Of("initial", Vec::new());
        let mut memory = vec![initial.clone(); 3];
        let mut expected = vec![initial; 3];
        // What it holds, and what becomes of it.
        let mut tile: Vec<Option<(Contents, vk::AttachmentStoreOp)>> = vec![None; 3];
        for (index, sub) in subs.iter().enumerate() {
            let subpass = index as u32;
            for number in 0..3 {
                if uses(number).0 == Some(index) {
                    let contents = &mut expected[number as usize];
                    *contents = contents.loaded(ops[number as usize].0);
                }
            }
            if !pass.is_merged(subpass) {
                tile.fill(None);
                let made = instances(&pass, subpass);
                for (number, load, store, _) in made.group.colour.iter().filter_map(tell) {
                    let at = number as usize;
                    tile[at] = Some((memory[at].loaded(load), store));
                }
            }
            let used = |number: &&u32| **number != UNUSED;
            for input in sub.input.iter().filter(used) {
                let at = *input as usize;
                let got = tile[at].as_ref().map_or(&memory[at], |held| &held.0);
                prop_assert_eq!(got, &expected[at]);
            }
            for number in sub.colour.iter().filter(used) {
                let at = *number as usize;
                let (held, store) = tile[at].clone().expect("it is in the tile");
                tile[at] = Some((held.drawn(subpass), store));
                expected[at] = expected[at].clone().drawn(subpass);
            }
            for number in 0..3 {
                let at = number as usize;
                // Of an input nothing is lost by keeping it.
                if uses(number).1 == Some(index) && tile[at].is_some() {
                    expected[at] = expected[at].clone().stored(ops[at].1);
                }
            }
            if !pass.is_merged(subpass + 1) {
                for (memory, tile) in memory.iter_mut().zip(&tile) {
                    if let Some((held, store)) = tile {
                        *memory = held.clone().stored(*store);
                    }
                }
            }
        }
        prop_assert_eq!(memory, expected);
    }

    /// Both structures describe the same.
    #[test]
    fn both_ways_to_create_agree(subs in proptest::collection::vec(any_sub(3), 0..5)) {
        let attachments = [colour(CLEAR, STORE), colour(LOAD, STORE), colour(ANY, LOSE)];
        let last = subs.len().saturating_sub(1) as u32;
        let dependencies = [local(0, last), global(last, last.saturating_sub(1)), global(last / 2, last)];
        let new = pass_with(&attachments, &subs, &dependencies).expect("a pass");
        // SAFETY: a valid structure.
        let old = with_info(&attachments, &subs, &dependencies, |info| unsafe {
            RenderPass::new(host(), info)
        });
        let old = old.expect("a pass");
        let told = |pass: &RenderPass| format!("{:?} {:?}", pass.attachments, pass.subpasses);
        prop_assert_eq!(told(&new), told(&old));
    }
}
