// SPDX-License-Identifier: MIT
//! Each rule by which subpasses are one pass or not, once each way.

use proptest::prelude::*;

use super::super::RenderPass;
use super::super::tests::{Sub, colour, described, global, local, pass_with};
use super::*;
use crate::rendering::MAX_TILE_INPUTS;

const LOAD: vk::AttachmentLoadOp = vk::AttachmentLoadOp::LOAD;
const CLEAR: vk::AttachmentLoadOp = vk::AttachmentLoadOp::CLEAR;
const ANY: vk::AttachmentLoadOp = vk::AttachmentLoadOp::DONT_CARE;
const STORE: vk::AttachmentStoreOp = vk::AttachmentStoreOp::STORE;
const LOSE: vk::AttachmentStoreOp = vk::AttachmentStoreOp::DONT_CARE;
const NONE: vk::ResolveModeFlags = vk::ResolveModeFlags::NONE;
const UNUSED: u32 = vk::ATTACHMENT_UNUSED;

type Described = vk::AttachmentDescription2<'static>;

/// Four colours, then depth and stencil twice.
fn attachments() -> Vec<Described> {
    let deep = described(
        vk::Format::D32_SFLOAT_S8_UINT,
        (CLEAR, STORE),
        (CLEAR, STORE),
    );
    let mut all = vec![colour(CLEAR, STORE); 4];
    all.extend([deep; 2]);
    all
}

const DEEP: u32 = 4;

fn sub(colour: &[u32]) -> Sub {
    Sub {
        colour: colour.to_vec(),
        ..Sub::default()
    }
}

fn reading(input: &[u32], colour: &[u32]) -> Sub {
    Sub {
        input: input.to_vec(),
        ..sub(colour)
    }
}

fn deep(depth_stencil: u32, colour: &[u32]) -> Sub {
    Sub {
        depth_stencil: Some(depth_stencil),
        ..sub(colour)
    }
}

fn made(
    attachments: &[Described],
    subs: &[Sub],
    dependencies: &[vk::SubpassDependency],
) -> RenderPass {
    pass_with(attachments, subs, dependencies).expect("a pass")
}

/// The first subpass of each subpass's group.
fn firsts(pass: &RenderPass) -> Vec<u32> {
    let group = |subpass| pass.group_of(subpass).expect("a subpass").first;
    (0..pass.subpasses()).map(group).collect()
}

/// The groups of subpasses that do not depend on each other.
fn groups(attachments: &[Described], subs: &[Sub]) -> Vec<u32> {
    firsts(&made(attachments, subs, &[]))
}

#[test]
fn colours_are_merged_as_long_as_they_fit() {
    let all = attachments();
    assert_eq!(groups(&all, &[sub(&[0])]), [0]);
    assert_eq!(groups(&all, &[sub(&[0]), sub(&[0])]), [0, 0]);
    assert_eq!(groups(&all, &[sub(&[0]), sub(&[1, UNUSED, 2])]), [0, 0]);
    // Of 16 bytes each, four are 64: what kernels give a tile at one sample; at four it is 32.
    let wide = described(vk::Format::R32G32B32A32_SFLOAT, (CLEAR, STORE), (ANY, LOSE));
    for (samples, expected) in [
        (vk::SampleCountFlags::TYPE_1, [0, 0, 0, 0, 4]),
        (vk::SampleCountFlags::TYPE_2, [0, 0, 2, 2, 4]),
        (vk::SampleCountFlags::TYPE_4, [0, 0, 2, 2, 4]),
    ] {
        let all = [wide.samples(samples); 5];
        let subs = [0, 1, 2, 3, 4].map(|number| sub(&[number]));
        assert_eq!(groups(&all, &subs), expected, "{samples:?}");
    }
    // No more than eight.
    let all = vec![colour(CLEAR, STORE); 10];
    let subs = [sub(&[0, 1, 2, 3]), sub(&[4, 5, 6, 7]), sub(&[7, 8])];
    assert_eq!(groups(&all, &subs), [0, 0, 2]);
}

#[test]
fn samples_and_views_are_the_same() {
    let mut all = attachments();
    let subs = [sub(&[0]), sub(&[1])];
    assert_eq!(groups(&all, &subs), [0, 0]);
    all[1].samples = vk::SampleCountFlags::TYPE_4;
    assert_eq!(groups(&all, &subs), [0, 1]);
    all[0].samples = vk::SampleCountFlags::TYPE_4;
    assert_eq!(groups(&all, &subs), [0, 0]);
    // Of depth, too.
    assert_eq!(groups(&all, &[sub(&[0]), deep(DEEP, &[])]), [0, 1]);
    let view = |view_mask, of| Sub {
        view_mask,
        ..sub(&[of])
    };
    let all = attachments();
    assert_eq!(groups(&all, &[view(3, 0), view(3, 1)]), [0, 0]);
    assert_eq!(groups(&all, &[view(3, 0), view(1, 1)]), [0, 1]);
}

/// How many samples a subpass without attachments has, its pipelines say.
#[test]
fn there_are_attachments() {
    let all = attachments();
    assert_eq!(groups(&all, &[sub(&[0]), sub(&[]), sub(&[0])]), [0, 1, 2]);
    assert_eq!(groups(&all, &[sub(&[UNUSED]), sub(&[0])]), [0, 1]);
    assert_eq!(groups(&all, &[deep(DEEP, &[]), deep(DEEP, &[0])]), [0, 0]);
}

#[test]
fn there_is_one_depth_and_stencil() {
    let all = attachments();
    let of = |first, second| groups(&all, &[first, second]);
    assert_eq!(of(deep(DEEP, &[0]), deep(DEEP, &[1])), [0, 0]);
    assert_eq!(of(deep(DEEP, &[0]), sub(&[1])), [0, 0]);
    assert_eq!(of(sub(&[0]), deep(DEEP, &[1])), [0, 0]);
    assert_eq!(of(deep(DEEP, &[0]), deep(DEEP + 1, &[1])), [0, 1]);
    // Not even around one that has none.
    let around = [deep(DEEP, &[0]), sub(&[1]), deep(DEEP + 1, &[0])];
    assert_eq!(groups(&all, &around), [0, 0, 2]);
}

#[test]
fn inputs_are_colours_or_of_before() {
    let all = attachments();
    let of = |first, second| groups(&all, &[first, second]);
    assert_eq!(of(sub(&[0, 1]), reading(&[1, 0], &[2])), [0, 0]);
    assert_eq!(of(sub(&[0]), reading(&[3], &[1])), [0, 0]);
    // Depth is not read in the tile, be it written before, at the same time or later.
    let read = |input, depth| Sub {
        input: vec![input],
        ..deep(depth, &[1])
    };
    assert_eq!(of(deep(DEEP, &[0]), reading(&[DEEP], &[1])), [0, 1]);
    assert_eq!(of(deep(DEEP, &[0]), read(DEEP, DEEP)), [0, 1]);
    assert_eq!(of(reading(&[DEEP], &[0]), deep(DEEP, &[1])), [0, 1]);
    assert_eq!(of(deep(DEEP, &[0]), read(DEEP + 1, DEEP)), [0, 0]);
    // There is a limit to what pipelines know of inputs.
    let many = |count| reading(&vec![0; count], &[1]);
    assert_eq!(of(sub(&[0]), many(MAX_TILE_INPUTS)), [0, 0]);
    assert_eq!(of(sub(&[0]), many(MAX_TILE_INPUTS + 1)), [0, 1]);
}

#[test]
fn only_the_last_resolves() {
    let mut all = attachments();
    for of in [0, 1, 4] {
        all[of].samples = vk::SampleCountFlags::TYPE_4;
    }
    let resolving = |of| Sub {
        resolve: vec![3],
        ..sub(&[of])
    };
    let of = |first, second| groups(&all, &[first, second]);
    assert_eq!(of(sub(&[0]), resolving(1)), [0, 0]);
    assert_eq!(of(resolving(0), sub(&[1])), [0, 1]);
    let unused = Sub {
        resolve: vec![UNUSED],
        ..sub(&[0])
    };
    assert_eq!(of(unused, sub(&[1])), [0, 0]);
    let min = vk::ResolveModeFlags::MIN;
    let resolving = Sub {
        depth_stencil_resolve: Some((DEEP + 1, min, NONE)),
        ..deep(DEEP, &[0])
    };
    assert_eq!(of(sub(&[1]), resolving.clone()), [0, 0]);
    assert_eq!(of(resolving, sub(&[1])), [0, 1]);
}

#[test]
fn nothing_may_alias() {
    let subs = [
        sub(&[0]),
        Sub {
            resolve: vec![3],
            ..reading(&[0, 2], &[1])
        },
    ];
    let multisampled = || {
        let mut all = attachments();
        for of in [0, 1] {
            all[of].samples = vk::SampleCountFlags::TYPE_2;
        }
        all
    };
    assert_eq!(groups(&multisampled(), &subs), [0, 0]);
    for aliased in 0..4 {
        let mut all = multisampled();
        all[aliased].flags = vk::AttachmentDescriptionFlags::MAY_ALIAS;
        assert_eq!(groups(&all, &subs), [0, 1], "{aliased}");
    }
    let mut all = attachments();
    let subs = [deep(DEEP, &[0]), deep(DEEP, &[1])];
    all[5].flags = vk::AttachmentDescriptionFlags::MAY_ALIAS;
    assert_eq!(groups(&all, &subs), [0, 0]);
    all[4].flags = vk::AttachmentDescriptionFlags::MAY_ALIAS;
    assert_eq!(groups(&all, &subs), [0, 1]);
    // Nor is one attachment two.
    let all = attachments();
    assert_eq!(groups(&all, &[sub(&[0, 0]), sub(&[1])]), [0, 1]);
}

#[test]
fn dependencies_are_local() {
    use vk::{AccessFlags as A, PipelineStageFlags as S};
    let all = attachments();
    let subs = [sub(&[0]), reading(&[0], &[1]), reading(&[1], &[2])];
    let of = |dependencies: &[_]| firsts(&made(&all, &subs, dependencies));
    assert_eq!(of(&[local(0, 1), local(1, 2)]), [0, 0, 0]);
    assert_eq!(of(&[global(0, 1), local(1, 2)]), [0, 1, 1]);
    // A dependency counts where it is between subpasses of a group.
    assert_eq!(of(&[local(0, 1), global(0, 2)]), [0, 0, 2]);
    assert_eq!(of(&[global(0, 1), global(0, 2)]), [0, 1, 1]);
    // Those on what is outside, and a subpass's on itself, are none between subpasses.
    let outside = vk::SUBPASS_EXTERNAL;
    let others = [global(outside, 1), global(1, outside), global(1, 1)];
    assert_eq!(of(&others), [0, 0, 0]);
    let depth = vk::SubpassDependency {
        src_stage_mask: S::EARLY_FRAGMENT_TESTS | S::LATE_FRAGMENT_TESTS,
        dst_stage_mask: S::EARLY_FRAGMENT_TESTS,
        src_access_mask: A::DEPTH_STENCIL_ATTACHMENT_WRITE,
        dst_access_mask: A::DEPTH_STENCIL_ATTACHMENT_READ,
        ..local(0, 1)
    };
    assert_eq!(of(&[depth]), [0, 0, 0]);
    type Change = fn(&mut vk::SubpassDependency);
    let changes: [Change; 8] = [
        |of| of.dependency_flags = vk::DependencyFlags::empty(),
        |of| of.src_stage_mask |= S::VERTEX_SHADER,
        |of| of.dst_stage_mask |= S::VERTEX_SHADER,
        |of| of.src_stage_mask = S::ALL_GRAPHICS,
        |of| of.dst_stage_mask = S::BOTTOM_OF_PIPE,
        |of| of.src_access_mask |= A::SHADER_WRITE,
        |of| of.dst_access_mask |= A::SHADER_READ,
        |of| of.dst_access_mask |= A::MEMORY_READ,
    ];
    for (at, change) in changes.into_iter().enumerate() {
        let mut changed = local(0, 1);
        change(&mut changed);
        assert_eq!(of(&[changed]), [0, 1, 1], "{at}");
    }
}

/// What version 1.3 has instead of masks in the dependency.
#[test]
fn barriers_of_dependencies_count() {
    use vk::{AccessFlags2 as A, PipelineStageFlags2 as S};
    let references = [0, 1].map(|at| [vk::AttachmentReference2::default().attachment(at)]);
    let subpasses = [0, 1]
        .map(|at: usize| vk::SubpassDescription2::default().color_attachments(&references[at]));
    let attachments = attachments();
    for (stage, access, expected) in [
        (S::FRAGMENT_SHADER, A::INPUT_ATTACHMENT_READ, [0, 0]),
        (S::VERTEX_SHADER, A::INPUT_ATTACHMENT_READ, [0, 1]),
        (S::FRAGMENT_SHADER, A::SHADER_STORAGE_READ, [0, 1]),
    ] {
        let mut barrier = vk::MemoryBarrier2::default()
            .src_stage_mask(S::COLOR_ATTACHMENT_OUTPUT)
            .src_access_mask(A::COLOR_ATTACHMENT_WRITE)
            .dst_stage_mask(stage)
            .dst_access_mask(access);
        // Whose own masks do not count.
        let dependencies = [vk::SubpassDependency2::default()
            .src_subpass(0)
            .dst_subpass(1)
            .src_stage_mask(vk::PipelineStageFlags::ALL_GRAPHICS)
            .dependency_flags(vk::DependencyFlags::BY_REGION)
            .push_next(&mut barrier)];
        let info = vk::RenderPassCreateInfo2::default()
            .attachments(&attachments)
            .subpasses(&subpasses)
            .dependencies(&dependencies);
        let host = crate::host::HostAllocator::global(vk::SystemAllocationScope::OBJECT);
        // SAFETY: a valid structure.
        let pass = unsafe { RenderPass::new2(host, &info) }.expect("a pass");
        assert_eq!(firsts(&pass), expected);
    }
}

#[test]
fn pipelines_learn_places() {
    let mut all = attachments();
    all[2].format = vk::Format::R16G16B16A16_SFLOAT;
    let subs = [
        deep(DEEP, &[2, UNUSED, 1]),
        reading(&[1, UNUSED, 3, 0], &[0]),
        sub(&[1]),
    ];
    let pass = made(&all, &subs, &[]);
    assert_eq!(firsts(&pass), [0, 0, 0]);
    let of = |subpass| pass.formats(subpass).merged.expect("it is merged");
    let (rgba8, half) = (vk::Format::R8G8B8A8_UNORM, vk::Format::R16G16B16A16_SFLOAT);
    for subpass in 0..3 {
        assert_eq!(of(subpass).tile[..], [half, rgba8, rgba8]);
    }
    assert_eq!(of(0).colour[..], [Some(0), None, Some(1)]);
    assert_eq!(of(1).colour[..], [Some(2)]);
    assert_eq!(of(2).colour[..], [Some(1)]);
    let input = |index, place| TileInput { index, place };
    assert!(of(0).inputs.is_empty() && of(2).inputs.is_empty());
    assert_eq!(of(1).inputs[..], [input(0, 1), input(3, 2)]);
    assert_eq!([0, 1, 2].map(|at| of(at).drawn), [0b011, 0b111, 0b111]);
    let deep = [0, 1, 2].map(|at| of(at).has_depth_stencil);
    assert_eq!(deep, [true, false, false]);
    // The formats of a subpass are its own.
    assert_eq!(pass.formats(1).colour[..], [rgba8]);
    assert_eq!(pass.formats(1).depth, vk::Format::UNDEFINED);
    // One by itself has no places.
    let alone = made(&all, &subs, &[global(0, 1), global(1, 2)]);
    assert!((0..3).all(|at| alone.formats(at).merged.is_none()));
}

fn any_sub() -> impl Strategy<Value = Sub> {
    let number = prop_oneof![4 => 0..6u32, 1 => Just(UNUSED)];
    (
        proptest::collection::vec(number.clone(), 0..3),
        proptest::collection::vec(number.clone(), 0..4),
        proptest::option::of(DEEP..6),
    )
        .prop_map(|(input, mut colour, depth_stencil)| {
            colour.retain(|of| *of < DEEP || *of == UNUSED);
            Sub {
                input,
                colour,
                depth_stencil,
                ..Sub::default()
            }
        })
}

proptest! {
    /// Compatible render passes are merged alike: operations change nothing.
    #[test]
    fn operations_do_not_count(
        subs in proptest::collection::vec(any_sub(), 1..6),
        load in prop_oneof![Just(LOAD), Just(CLEAR), Just(ANY)],
        store in prop_oneof![Just(STORE), Just(LOSE)],
    ) {
        let one = attachments();
        let other: Vec<_> = one.iter().map(|of| Described {
            load_op: load,
            store_op: store,
            stencil_load_op: load,
            stencil_store_op: store,
            initial_layout: vk::ImageLayout::GENERAL,
            final_layout: vk::ImageLayout::GENERAL,
            ..*of
        }).collect();
        let [one, other] = [&one, &other].map(|all| made(all, &subs, &[local(0, 1)]));
        for subpass in 0..subs.len() as u32 {
            prop_assert_eq!(one.group_of(subpass), other.group_of(subpass));
            prop_assert_eq!(one.formats(subpass), other.formats(subpass));
        }
    }

    /// Groups cover all subpasses, one after the other.
    #[test]
    fn groups_follow_each_other(subs in proptest::collection::vec(any_sub(), 1..7)) {
        let pass = made(&attachments(), &subs, &[]);
        let mut next = 0;
        while next < pass.subpasses() {
            let group = pass.group_of(next).expect("a subpass");
            prop_assert_eq!(group.first, next);
            for member in group.first..=group.last {
                prop_assert_eq!(pass.group_of(member), Some(group));
                prop_assert_eq!(pass.is_merged(member), member > group.first);
            }
            next = group.last + 1;
        }
        prop_assert_eq!(pass.group_of(next), None);
    }
}

#[test]
fn inputs_that_are_srgb_are_textures() {
    let mut all = attachments();
    all[0].format = vk::Format::R8G8B8A8_SRGB;
    assert_eq!(groups(&all, &[sub(&[0]), reading(&[0], &[1])]), [0, 1]);
    assert_eq!(groups(&all, &[sub(&[0, 2]), reading(&[2], &[1])]), [0, 0]);
    assert_eq!(groups(&all, &[sub(&[0]), sub(&[0, 1])]), [0, 0]);
}
