// SPDX-License-Identifier: MIT
//! Binaries as bytes and back, and bytes that are none.

use agx_compiler::binary::{
    DepthLayout, FragmentInfo, StageInfo, VIEWPORT_LOCATION, Varying, VaryingMode, VertexInfo,
};
use proptest::prelude::*;

use super::*;

pub(crate) fn sample() -> ShaderBinary {
    ShaderBinary {
        code: (0..64).collect(),
        stage: StageInfo::Compute,
        workgroup_size: [8, 4, 2],
        pointers: vec![
            Pointer::TextureTable,
            Pointer::SamplerTable,
            Pointer::Unused,
            Pointer::WorkgroupCounts,
            Pointer::ThreadgroupRoot,
            Pointer::PushConstants,
            Pointer::BaseWorkgroup,
            Pointer::DynamicBuffers,
            Pointer::WorkgroupBuffer,
            Pointer::DescriptorSet(0),
            Pointer::DescriptorSet(7),
        ],
        publications: 3,
        textures: vec![
            TextureSlot { set: 0, offset: 64 },
            TextureSlot { set: 7, offset: 0 },
        ],
        samplers: vec![
            SamplerSlot::Descriptor { set: 1, offset: 32 },
            SamplerSlot::Fetch,
        ],
        scratch_bytes: 16,
        spill_bytes: 32,
        threadgroup_bytes: 1024,
        workgroup_buffer_bytes: 99,
        resources: vec![Resource { set: 1, binding: 9 }],
        stats: Statistics {
            instructions: 1,
            bytes: 2,
            waits: 3,
            moves: 4,
            gprs: 5,
            spills: 6,
            fills: 7,
            scratch: 8,
            loops: 9,
            cycles: 10 << 40,
        },
    }
}

fn vertex() -> ShaderBinary {
    ShaderBinary {
        stage: StageInfo::Vertex(VertexInfo {
            outputs: 4 + 5 + 1 + 1 + 3,
            user_scalars: 5,
            point_size: true,
            layer: false,
            viewport: true,
            clip_distances: 3,
            uses_draw_parameters: true,
        }),
        pointers: vec![
            Pointer::TextureTable,
            Pointer::SamplerTable,
            Pointer::VertexBuffers,
            Pointer::DrawParameters,
            Pointer::PushConstants,
            Pointer::DescriptorSet(2),
        ],
        threadgroup_bytes: 0,
        workgroup_buffer_bytes: 0,
        ..sample()
    }
}

fn fragment() -> ShaderBinary {
    let varying = |location, component, mode| Varying {
        location,
        component,
        mode,
    };
    ShaderBinary {
        stage: StageInfo::Fragment(FragmentInfo {
            varyings: vec![
                varying(3, 2, VaryingMode::Smooth),
                varying(3, 3, VaryingMode::Smooth),
                varying(0, 0, VaryingMode::Flat),
                varying(VIEWPORT_LOCATION, 0, VaryingMode::Flat),
                varying(1, 1, VaryingMode::Linear),
            ],
            uses_frag_z: true,
            late_tests: true,
            depth_layout: DepthLayout::Less,
            writes_depth: true,
            writes_colour: true,
            uses_sample_mask_in: true,
            ..FragmentInfo::default()
        }),
        pointers: vec![Pointer::BlendConstants, Pointer::DescriptorSet(7)],
        ..vertex()
    }
}

const KEY: Key = Key([7; 32]);

#[test]
fn binaries_come_back_as_they_were() {
    for binary in [sample(), vertex(), fragment()] {
        let bytes = encode(&KEY, &binary);
        assert_eq!(decode(&KEY, &bytes), Some(binary));
        assert_eq!(decode(&Key([8; 32]), &bytes), None);
    }
}

/// Each flag is in a bit of its own, and only those that there are.
#[test]
fn flags_come_back_each_by_itself() {
    let mut out = Writer(Vec::new());
    out.flags(&[false, true, true]);
    assert_eq!(Reader(&out.0).flags(), Some([false, true, true]));
    assert_eq!(Reader(&out.0).flags::<2>(), None);
    for (at, bytes) in [fragment(), vertex()]
        .map(|binary| encode(&KEY, &binary))
        .iter()
        .enumerate()
    {
        let found = parse(&bytes[CHECKSUM..]).expect("ours");
        assert_eq!(matches!(found.stage, StageInfo::Fragment(_)), at == 0);
    }
}

#[test]
fn every_flipped_bit_and_every_cut_is_noticed() {
    for binary in [sample(), vertex(), fragment()] {
        every_change_is_noticed(&binary);
    }
}

fn every_change_is_noticed(binary: &ShaderBinary) {
    let bytes = encode(&KEY, binary);
    for bit in 0..bytes.len() * 8 {
        let mut changed = bytes.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(decode(&KEY, &changed), None, "bit {bit}");
    }
    for length in 0..bytes.len() {
        assert_eq!(decode(&KEY, &bytes[..length]), None, "{length} bytes");
    }
    let longer = [&bytes[..], &[0]].concat();
    assert_eq!(decode(&KEY, &longer), None);
}

#[test]
fn what_no_launch_can_set_up_is_refused_even_with_its_checksum() {
    let changes: [fn(&mut ShaderBinary); 12] = [
        |b| b.code.clear(),
        |b| b.code.push(0),
        |b| b.workgroup_size = [0, 1, 1],
        |b| b.workgroup_size = [1025, 1, 1],
        |b| b.workgroup_size = [65535; 3],
        |b| b.pointers.truncate(1),
        |b| b.pointers.resize(20, Pointer::Unused),
        |b| b.pointers[0] = Pointer::DescriptorSet(8),
        |b| b.publications = 1023,
        |b| b.scratch_bytes = MAX_SCRATCH + 1,
        |b| b.spill_bytes = MAX_SCRATCH + 1,
        |b| b.threadgroup_bytes = MAX_THREADGROUP_BYTES + 1,
    ];
    for (at, change) in changes.into_iter().enumerate() {
        let mut binary = sample();
        change(&mut binary);
        assert_eq!(decode(&KEY, &encode(&KEY, &binary)), None, "change {at}");
    }
}

#[test]
fn what_no_draw_can_set_up_is_refused_even_with_its_checksum() {
    type Change = fn(&mut ShaderBinary);
    let refused = |of: fn() -> ShaderBinary, changes: &[Change]| {
        for (at, change) in changes.iter().enumerate() {
            let mut binary = of();
            change(&mut binary);
            assert_ne!(binary, of(), "change {at}");
            assert_eq!(decode(&KEY, &encode(&KEY, &binary)), None, "change {at}");
        }
    };
    fn info(binary: &mut ShaderBinary) -> &mut VertexInfo {
        match &mut binary.stage {
            StageInfo::Vertex(info) => info,
            other => panic!("{other:?}"),
        }
    }
    fn varyings(binary: &mut ShaderBinary) -> &mut Vec<Varying> {
        match &mut binary.stage {
            StageInfo::Fragment(info) => &mut info.varyings,
            other => panic!("{other:?}"),
        }
    }
    refused(
        vertex,
        &[
            |b| b.code.clear(),
            |b| b.pointers[2] = Pointer::WorkgroupCounts,
            |b| b.pointers[2] = Pointer::ThreadgroupRoot,
            |b| b.pointers[2] = Pointer::BaseWorkgroup,
            |b| b.pointers[2] = Pointer::WorkgroupBuffer,
            |b| b.pointers[2] = Pointer::DescriptorSet(8),
            |b| b.threadgroup_bytes = 128,
            |b| b.workgroup_buffer_bytes = 4,
            // It says what it writes, and that is how much.
            |b| info(b).outputs += 1,
            |b| info(b).user_scalars -= 1,
            |b| info(b).point_size = false,
            |b| info(b).viewport = false,
            |b| (info(b).clip_distances, info(b).outputs) = (9, 4 + 5 + 1 + 1 + 9),
            |b| (info(b).user_scalars, info(b).outputs) = (132, 4 + 132 + 1 + 1 + 3),
        ],
    );
    refused(
        fragment,
        &[
            |b| b.pointers[0] = Pointer::WorkgroupBuffer,
            |b| b.threadgroup_bytes = 128,
            |b| varyings(b)[0].component = 4,
            |b| varyings(b)[3].location = VIEWPORT_LOCATION + 1,
            |b| varyings(b).swap(0, 1),
            |b| varyings(b)[1].component = 2,
            |b| varyings(b)[0].mode = VaryingMode::Linear,
        ],
    );
    refused(
        sample,
        &[
            |b| b.pointers[2] = Pointer::VertexBuffers,
            |b| b.pointers[2] = Pointer::DrawParameters,
            |b| b.pointers[2] = Pointer::DrawNumber,
            |b| b.pointers[2] = Pointer::BlendConstants,
        ],
    );
}

fn any_sample() -> impl Strategy<Value = ShaderBinary> {
    prop_oneof![Just(sample()), Just(vertex()), Just(fragment())]
}

proptest! {
    /// Bodies that are not ours do nothing worse than being refused.
    #[test]
    fn parsing_is_total(of in any_sample(), edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6), cut in any::<prop::sample::Index>()) {
        let mut body = encode(&KEY, &of)[CHECKSUM..].to_vec();
        for (at, value) in edits {
            let at = at.index(body.len());
            body[at] = value;
        }
        let _ = parse(&body);
        let _ = parse(&body[..cut.index(body.len())]);
        if let Some(binary) = parse(&body) {
            let again = encode(&KEY, &binary);
            prop_assert_eq!(parse(&again[CHECKSUM..]), Some(binary));
        }
    }
}
