// SPDX-License-Identifier: MIT
//! Records of render passes: pack and unpack are inverse in both directions, and total; walks end.
//!
//! As in `properties.rs`: any legal value comes back, and whatever bytes are unpacked, packing the value
//! gives the same bytes; drawn from random bytes and from legal ones with some changed.

use agx_hw::coefficient::{
    self, Binding, Inputs as FragmentInputs, Interpolation, MAX_COMPONENTS, Shade, Source, Table,
};
use agx_hw::depth_bias::{self, DepthBias};
use agx_hw::launcher::Samples;
use agx_hw::pass::{self, DepthFormat, PppControl, SamplePositions, Surface, Tiling, ZlsControl};
use agx_hw::ppp::{
    self, Compare, Cull, Face, Face2, Fragment, FragmentControl, FragmentControl2, Indices, Kind,
    LineWidth, MAX_VIEWPORTS, ObjectType, Outputs, PassType, Piece, PolygonMode, RegionClip,
    ShaderDepth, Stencil, StencilOp, VaryingCounts, Viewport, Viewports, Visibility, WClamp,
};
use agx_hw::scissor::{self, Scissor};
use agx_hw::uvs;
use agx_hw::vdm::{
    Barrier, Cause, Draw, Draws, IndexSize, Indices as IndexBuffer, IndirectAddress, Link,
    Primitive, Provoking, Record, Template, Update, VdmStream, VertexState, Vertices, Walker,
    records,
};
use agx_hw::window::{CodeAddress, ContextAddress, LauncherAddress, RENDER_SIZE, VA_END};
use arrayvec::ArrayVec;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

/// At least 1000 cases; `PROPTEST_CASES` asks for more.
fn config() -> ProptestConfig {
    let mut config = ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    config.cases = config.cases.max(1000);
    config
}

/// Changes of single bytes.
fn damage() -> impl Strategy<Value = Vec<(usize, u8)>> {
    let change = prop_oneof![any::<u8>(), (0..8u8).prop_map(|bit| 1 << bit)];
    vec((any::<usize>(), change), 1..4)
}

fn damaged(bytes: &[u8], changes: &[(usize, u8)]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for (at, xor) in changes {
        let at = at % bytes.len();
        bytes[at] ^= xor;
    }
    bytes
}

// --- Values --------------------------------------------------------------------------------------------

fn context() -> impl Strategy<Value = ContextAddress> {
    (0..1u32 << 30).prop_map(|word| ContextAddress::from_offset(4 * word).unwrap())
}

fn launcher() -> impl Strategy<Value = LauncherAddress> {
    (0..1u32 << 26).prop_map(|units| LauncherAddress::from_units(units).unwrap())
}

fn provoking() -> impl Strategy<Value = Provoking> {
    select(Provoking::ALL)
}

fn vertex_state() -> impl Strategy<Value = VertexState> {
    (launcher(), 4..=145u8, provoking(), any::<bool>()).prop_map(
        |(launcher, outputs, provoking, primitive_id)| VertexState {
            launcher,
            outputs,
            provoking,
            primitive_id,
        },
    )
}

fn index_buffer() -> impl Strategy<Value = IndexBuffer> {
    let places = prop_oneof![any::<u32>(), Just(0), u32::MAX - 64..=u32::MAX];
    (places, select(IndexSize::ALL), any::<bool>(), any::<u64>()).prop_map(
        |(offset, size, restart, bytes)| {
            let room = (1 << 32) - u64::from(offset);
            let bytes = 1 + bytes % room;
            IndexBuffer::new(CodeAddress::from_offset(offset), size, restart, bytes).unwrap()
        },
    )
}

fn draw() -> impl Strategy<Value = Draw> {
    let arguments = || (1..VA_END / 4).prop_map(|n| IndirectAddress::new(4 * n).unwrap());
    let counts = || (1..=u32::MAX, 1..=u32::MAX);
    let vertices = prop_oneof![
        (any::<u32>(), counts()).prop_map(|(first, (count, instances))| Vertices::Direct {
            first,
            count,
            instances,
        }),
        (index_buffer(), any::<i32>(), counts()).prop_map(|(indices, base, (count, instances))| {
            Vertices::Indexed {
                indices,
                base,
                count,
                instances,
            }
        }),
        arguments().prop_map(|arguments| Vertices::Indirect { arguments }),
        (index_buffer(), arguments())
            .prop_map(|(indices, arguments)| Vertices::IndexedIndirect { indices, arguments }),
    ];
    (select(Primitive::ALL), vertices).prop_map(|(primitive, vertices)| Draw {
        primitive,
        vertices,
    })
}

fn update() -> impl Strategy<Value = Update> {
    let sizes = prop_oneof![
        select(vec![2u8, 3, 5, 7]),
        (1..=16u8).prop_map(|n| 2 + 8 * n)
    ];
    let last = (1u32 << 30) - 130;
    (0..=last, sizes).prop_map(|(word, words)| {
        Update::new(ContextAddress::from_offset(4 * word).unwrap(), words).unwrap()
    })
}

fn record() -> impl Strategy<Value = Record> {
    prop_oneof![
        2 => update().prop_map(Record::Update),
        1 => any::<u32>().prop_map(|bits| {
            Record::Barrier(Barrier::new(bits & 0x0d10_09ff).unwrap())
        }),
        2 => vertex_state().prop_map(Record::Vertex),
        1 => any::<u32>().prop_map(Record::Restart),
        4 => draw().prop_map(Record::Draw),
        1 => (context(), any::<bool>()).prop_map(|(target, with_return)| {
            Record::Link(Link { target, with_return })
        }),
        1 => Just(Record::Terminate),
    ]
}

/// Any bits that are a number.
fn float() -> impl Strategy<Value = f32> {
    any::<u32>()
        .prop_map(f32::from_bits)
        .prop_filter("a number", |f| !f.is_nan())
}

fn floats<const N: usize>() -> impl Strategy<Value = [f32; N]> {
    vec(float(), N).prop_map(|list| list.try_into().unwrap())
}

fn region() -> impl Strategy<Value = RegionClip> {
    let axis = || (0..512u16, 0..512u16).prop_map(|(a, b)| (a.min(b), a.max(b)));
    (axis(), axis()).prop_map(|((ax, bx), (ay, by))| RegionClip::new([ax, ay], [bx, by]).unwrap())
}

fn viewport() -> impl Strategy<Value = Viewport> {
    (region(), floats(), floats()).prop_map(|(region, translate, scale)| Viewport {
        region,
        translate,
        scale,
    })
}

fn viewports() -> impl Strategy<Value = Viewports> {
    let count = prop_oneof![Just(1), 1..=MAX_VIEWPORTS];
    count
        .prop_flat_map(|count| vec(viewport(), count))
        .prop_map(|list| Viewports(list.into_iter().collect::<ArrayVec<_, MAX_VIEWPORTS>>()))
}

fn stencil() -> impl Strategy<Value = Stencil> {
    let op = || select(StencilOp::ALL);
    let parts = (any::<[u8; 2]>(), op(), op(), op(), select(Compare::ALL));
    parts.prop_map(|(masks, pass, depth_fail, fail, compare)| Stencil {
        write_mask: masks[0],
        read_mask: masks[1],
        pass,
        depth_fail,
        fail,
        compare,
    })
}

fn face() -> impl Strategy<Value = Face> {
    let (polygon, depth) = (select(PolygonMode::ALL), select(Compare::ALL));
    let parts = (any::<[u8; 2]>(), polygon, any::<bool>(), depth, stencil());
    parts.prop_map(|(bytes, polygon, depth_write, depth, stencil)| Face {
        reference: bytes[0],
        line_width: LineWidth(bytes[1]),
        polygon,
        depth_write,
        depth,
        stencil,
    })
}

fn face2() -> impl Strategy<Value = Face2> {
    let parts = (
        select(PolygonMode::ALL),
        any::<bool>(),
        select(ShaderDepth::ALL),
        select(Compare::ALL),
        select(ObjectType::ALL),
    );
    parts.prop_map(
        |(polygon, depth_write, shader_depth, depth, object)| Face2 {
            polygon,
            depth_write,
            shader_depth,
            depth,
            object,
        },
    )
}

fn varyings() -> impl Strategy<Value = VaryingCounts> {
    (0..=131u8)
        .prop_flat_map(|smooth| (Just(smooth), 0..=131 - smooth))
        .prop_flat_map(|(smooth, flat)| (Just((smooth, flat)), 0..=131 - smooth - flat))
        .prop_map(|((smooth, flat), linear)| VaryingCounts {
            smooth,
            flat,
            linear,
        })
}

fn fragment() -> impl Strategy<Value = Fragment> {
    (1..=127u8, 0..1u32 << 26, launcher(), 1..=16u8).prop_map(
        |(bindings, table, launcher, resources)| Fragment {
            bindings,
            table: CodeAddress::from_offset(64 * table),
            launcher,
            resources,
        },
    )
}

fn outputs() -> impl Strategy<Value = Outputs> {
    let layout = (0..=131u8, any::<[bool; 4]>(), 0..=8u8);
    layout.prop_map(|(scalars, flags, clip_distances)| {
        let [point_size, layer_viewport, fragment_z, barycentrics] = flags;
        let layout = uvs::Layout {
            scalars,
            point_size,
            layer_viewport,
            clip_distances,
        };
        Outputs {
            barycentrics,
            ..Outputs::new(&layout, fragment_z).unwrap()
        }
    })
}

fn control() -> impl Strategy<Value = FragmentControl> {
    let parts = (
        select(Visibility::ALL),
        0..32768u16,
        any::<[bool; 5]>(),
        face(),
        face(),
    );
    parts.prop_map(|(visibility, occlusion, flags, front, back)| {
        let [scissor, depth_bias, stencil, no_tag_write, no_merge] = flags;
        FragmentControl {
            visibility,
            occlusion,
            scissor,
            depth_bias,
            stencil,
            no_tag_write,
            no_merge,
            front,
            back,
        }
    })
}

fn control2() -> impl Strategy<Value = FragmentControl2> {
    let parts = (
        select(Visibility::ALL),
        any::<[bool; 3]>(),
        select(PassType::ALL),
        face2(),
        face2(),
    );
    parts.prop_map(|(visibility, flags, pass, front, back)| {
        let [no_tag_write, no_merge, colour] = flags;
        FragmentControl2 {
            visibility,
            no_tag_write,
            no_merge,
            pass,
            front,
            back,
            colour,
        }
    })
}

fn cull() -> impl Strategy<Value = Cull> {
    (any::<[bool; 7]>(), provoking()).prop_map(|(flags, provoking)| {
        let [
            front,
            back,
            depth_clip,
            depth_clamp,
            primitive_msaa,
            front_counter_clockwise,
            discard,
        ] = flags;
        Cull {
            front,
            back,
            provoking,
            depth_clip,
            depth_clamp,
            primitive_msaa,
            front_counter_clockwise,
            discard,
        }
    })
}

fn w_clamp() -> impl Strategy<Value = WClamp> {
    (float(), any::<[bool; 4]>()).prop_map(|(least, flags)| {
        let [clamp_w, clipped_edges, primitive_id, discard] = flags;
        WClamp {
            least,
            clamp_w,
            clipped_edges,
            primitive_id,
            discard,
        }
    })
}

fn indices() -> impl Strategy<Value = Indices> {
    any::<[u16; 2]>().prop_map(|[scissor, depth_bias]| Indices {
        scissor,
        depth_bias,
    })
}

fn piece() -> impl Strategy<Value = Piece> {
    prop_oneof![
        varyings().prop_map(Piece::VaryingCounts),
        fragment().prop_map(Piece::Fragment),
        outputs().prop_map(Piece::Outputs),
        control().prop_map(Piece::FragmentControl),
        control2().prop_map(Piece::FragmentControl2),
        viewports().prop_map(Piece::Viewports),
        w_clamp().prop_map(Piece::WClamp),
        cull().prop_map(Piece::Cull),
        indices().prop_map(Piece::Indices),
    ]
}

fn ppp_record() -> impl Strategy<Value = ppp::Record> {
    let shaders = (varyings(), fragment(), outputs());
    let fixed = (
        control(),
        control2(),
        viewport(),
        w_clamp(),
        cull(),
        indices(),
    );
    (shaders, fixed).prop_map(|((varyings, fragment, outputs), fixed)| {
        let (control, control2, viewport, w_clamp, cull, indices) = fixed;
        ppp::Record {
            varyings,
            fragment,
            outputs,
            control,
            control2,
            viewports: Viewports::one(viewport),
            w_clamp,
            cull,
            indices,
        }
    })
}

fn interpolation() -> impl Strategy<Value = Interpolation> {
    select(vec![
        Interpolation::Smooth,
        Interpolation::Flat,
        Interpolation::Linear,
    ])
}

/// Tables with other bindings than a driver makes: any sources, any slots.
fn table() -> impl Strategy<Value = Table> {
    let binding = (
        1..=MAX_COMPONENTS,
        select(Shade::ALL),
        select(Source::ALL),
        any::<u8>(),
    );
    vec(binding, 0..60).prop_map(|list| {
        let mut bindings = vec![Binding::ONE_OVER_W];
        let mut register = 1u8;
        let total = list
            .iter()
            .fold(1u32, |n, (components, ..)| n + u32::from(*components));
        for (components, shade, source, slot) in list {
            let (components, shade, slot) = match source {
                Source::Varying => (
                    components,
                    shade,
                    slot % total.saturating_sub(4).clamp(1, 250) as u8,
                ),
                Source::FragmentZ => (1, Shade::Linear, 1),
                Source::PointCoordinate | Source::Barycentric => (2, Shade::Linear, 0),
                Source::PrimitiveId => (1, Shade::FlatFirst, 0),
            };
            bindings.push(Binding {
                components,
                shade,
                source,
                slot,
                register,
            });
            register += components;
        }
        // Sources of fewer registers leave fewer slots than there may be.
        while Table::of_bindings(&bindings).is_err() {
            bindings.pop();
        }
        Table::of_bindings(&bindings).unwrap()
    })
}

fn scissor_entry() -> impl Strategy<Value = Scissor> {
    let point = || (any::<u16>(), 0..=16384u16);
    (point(), point(), floats())
        .prop_map(|((ax, bx), (ay, by), depth)| Scissor::new([ax, ay], [bx, by], depth).unwrap())
}

fn surface() -> impl Strategy<Value = Surface> {
    let tiling = || select(Tiling::ALL);
    (any::<[bool; 5]>(), tiling(), tiling()).prop_map(|(flags, load_tiling, store_tiling)| {
        let [load, store, load_compressed, store_compressed, resolve] = flags;
        Surface {
            load,
            store,
            load_tiling,
            store_tiling,
            load_compressed,
            store_compressed,
            resolve,
        }
    })
}

// --- Bytes survive --------------------------------------------------------------------------------------

fn record_bytes_survive(bytes: &[u8]) -> Result<(), TestCaseError> {
    if let Ok((record, size)) = Record::unpack(bytes) {
        let mut again = [0; Record::MAX_SIZE];
        prop_assert_eq!(record.pack(&mut again), Ok(size));
        prop_assert_eq!(&again[..size], &bytes[..size]);
        prop_assert_eq!(size, record.size());
    }
    Ok(())
}

fn piece_bytes_survive(bytes: &[u8]) -> Result<(), TestCaseError> {
    if let Ok(piece) = Piece::unpack(bytes) {
        let mut again = vec![0xff; bytes.len()];
        prop_assert_eq!(piece.pack(&mut again), Ok(bytes.len()));
        prop_assert_eq!(&again[..], bytes);
    }
    Ok(())
}

fn entry_bytes_survive(bytes: &[u8]) -> Result<(), TestCaseError> {
    let mut again = [0xff; scissor::ENTRY_SIZE];
    if let Ok(entry) = Scissor::unpack(bytes) {
        entry.pack(&mut again).unwrap();
        prop_assert_eq!(&again[..], &bytes[..scissor::ENTRY_SIZE]);
    }
    if let Ok(entry) = DepthBias::unpack(bytes) {
        entry.pack(&mut again).unwrap();
        let size = depth_bias::ENTRY_SIZE;
        prop_assert_eq!(&again[..size], &bytes[..size]);
    }
    Ok(())
}

fn table_bytes_survive(bytes: &[u8], count: u8) -> Result<(), TestCaseError> {
    if let Ok(table) = Table::unpack(bytes, count) {
        let mut again = [0xff; coefficient::TABLE_SIZE];
        table.pack(&mut again).unwrap();
        prop_assert_eq!(&again[..], &bytes[..coefficient::TABLE_SIZE]);
        prop_assert_eq!(table.count(), count);
    }
    Ok(())
}

fn ppp_record_bytes_survive(bytes: &[u8]) -> Result<(), TestCaseError> {
    if let Ok(record) = ppp::Record::unpack(bytes) {
        let mut again = [0xff; ppp::RECORD_SIZE];
        record.pack(&mut again).unwrap();
        prop_assert_eq!(&again[..], &bytes[..ppp::RECORD_SIZE]);
    }
    Ok(())
}

/// Memory that ends: reads outside fail.
fn memory(base: u32, bytes: &[u8]) -> impl FnMut(u64, &mut [u8]) -> bool + '_ {
    let base = ContextAddress::from_offset(base).unwrap().address();
    move |address, out| {
        let start = address.wrapping_sub(base) as usize;
        match bytes.get(start..start.saturating_add(out.len())) {
            Some(part) => {
                out.copy_from_slice(part);
                true
            }
            None => false,
        }
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn context_addresses(address in prop_oneof![any::<u64>(), 0x10_0000_0000u64..0x11_0000_0000], words in any::<u32>()) {
        let inside = (0x10_0000_0000..0x11_0000_0000).contains(&address) && address % 4 == 0;
        let context = ContextAddress::new(address);
        prop_assert_eq!(context.is_ok(), inside);
        if let Ok(context) = context {
            prop_assert_eq!(context.address(), address);
            prop_assert_eq!(ContextAddress::from_offset(context.offset()), Ok(context));
            let behind = u64::from(context.offset()) + 4 * u64::from(words);
            let expected = ContextAddress::from_offset(behind as u32).ok();
            let fits = behind < RENDER_SIZE;
            prop_assert_eq!(context.words_behind(words), expected.filter(|_| fits));
        }
    }

    #[test]
    fn stream_records(record in record(), changes in damage()) {
        let mut bytes = [0xff; Record::MAX_SIZE];
        let size = record.pack(&mut bytes).unwrap();
        prop_assert_eq!(Record::unpack(&bytes), Ok((record, size)));
        let first = u32::from_le_bytes(bytes[..4].try_into().unwrap());
        prop_assert_eq!(Record::size_of(first), Ok(size));
        prop_assert!(bytes[size..].iter().all(|b| *b == 0xff));
        prop_assert!(record.pack(&mut bytes[..size - 1]).is_err());
        prop_assert!(Record::unpack(&bytes[..size - 1]).is_err());
        record_bytes_survive(&damaged(&bytes[..size], &changes))?;
    }

    #[test]
    fn pieces(piece in piece(), changes in damage()) {
        let mut bytes = [0xff; 4 * ppp::MAX_WORDS];
        let size = piece.pack(&mut bytes).unwrap();
        prop_assert_eq!(Piece::unpack(&bytes[..size]), Ok(piece.clone()));
        prop_assert!(bytes[size..].iter().all(|b| *b == 0xff));
        prop_assert!(piece.pack(&mut bytes[..size - 1]).is_err());
        // The size is part of what a piece is.
        for other in [0, 3, size - 4, size + 4] {
            prop_assert!(bytes.get(..other).is_none_or(|b| Piece::unpack(b).is_err()));
        }
        let header = u32::from_le_bytes(bytes[..4].try_into().unwrap());
        prop_assert_eq!(Kind::of_header(header), Ok((piece.kind(), size / 4)));
        prop_assert!(Update::new(ContextAddress::from_offset(0).unwrap(), (size / 4) as u8).is_ok());
        piece_bytes_survive(&damaged(&bytes[..size], &changes))?;
    }

    #[test]
    fn ppp_records(record in ppp_record(), at in 0..1u32 << 26, changes in damage()) {
        let mut bytes = [0xff; ppp::RECORD_SIZE];
        record.pack(&mut bytes).unwrap();
        prop_assert_eq!(ppp::Record::unpack(&bytes), Ok(record.clone()));
        ppp_record_bytes_survive(&damaged(&bytes, &changes))?;
        // Its nine updates find its nine pieces.
        let at = ContextAddress::from_offset(64 * at).unwrap();
        let updates = ppp::Record::updates(at);
        prop_assert_eq!(updates.is_ok(), at.words_behind(63).is_some());
        let mut state = ppp::State::default();
        for (update, kind) in updates.iter().flatten().zip(Kind::ALL) {
            prop_assert_eq!(state.missing(), Some(kind));
            let start = (update.at().offset() - at.offset()) as usize;
            let piece = Piece::unpack(&bytes[start..start + 4 * usize::from(update.words())]).unwrap();
            prop_assert_eq!(piece.kind(), kind);
            let mut again = state.clone();
            state.apply(piece);
            prop_assert_eq!(again.apply_bytes(&bytes[start..start + 4 * usize::from(update.words())]), Ok(kind));
            prop_assert_eq!(&again, &state);
            prop_assert!(again.apply_bytes(&bytes[start..start + 4]).is_err());
            prop_assert_eq!(&again, &state);
        }
        if updates.is_ok() {
            prop_assert_eq!(state.record(), Some(record));
        }
    }

    /// A template is the record whose fields were replaced.
    #[test]
    fn ppp_templates(old in ppp_record(), new in ppp_record()) {
        let mut template = ppp::Template::new(&old).unwrap();
        template.set_launcher(new.fragment.launcher);
        template.set_table(new.fragment.table).unwrap();
        template.set_viewport(&new.viewports.0[0]);
        template.set_indices(new.indices);
        template.set_depth_bias(new.control.depth_bias);
        template.set_occlusion(new.control.visibility, new.control.occlusion).unwrap();
        template.set_stencil_references(new.control.front.reference, new.control.back.reference);
        template.set_stencil(&new.control.front.stencil, &new.control.back.stencil);
        template.set_line_width(new.control.front.line_width);
        let face = |old: Face, new: Face| Face {
            reference: new.reference,
            line_width: LineWidth(0),
            stencil: new.stencil,
            ..old
        };
        let width = new.control.front.line_width;
        let expected = ppp::Record {
            fragment: Fragment {
                launcher: new.fragment.launcher,
                table: new.fragment.table,
                ..old.fragment
            },
            viewports: new.viewports.clone(),
            indices: new.indices,
            control: FragmentControl {
                depth_bias: new.control.depth_bias,
                visibility: new.control.visibility,
                occlusion: new.control.occlusion,
                front: Face { line_width: width, ..face(old.control.front, new.control.front) },
                back: Face { line_width: width, ..face(old.control.back, new.control.back) },
                ..old.control
            },
            control2: FragmentControl2 {
                visibility: new.control.visibility,
                ..old.control2
            },
            ..old
        };
        let (mut written, mut packed) = ([0xff; ppp::RECORD_SIZE], [0; ppp::RECORD_SIZE]);
        template.write(&mut written).unwrap();
        expected.pack(&mut packed).unwrap();
        prop_assert_eq!(written, packed);
        let region = new.viewports.0[0].region;
        template.set_region(region);
        template.write(&mut written).unwrap();
        prop_assert_eq!(written, packed);
        prop_assert!(template.set_occlusion(Visibility::None, 32768).is_err());
        prop_assert!(template.set_table(CodeAddress::from_offset(32)).is_err());
        prop_assert!(template.write(&mut written[1..]).is_err());
    }

    /// A template's state is the records that it stands for.
    #[test]
    fn vdm_templates(state in vertex_state(), launcher in launcher(), at in any::<u32>()) {
        let template = Template::new(&state).unwrap();
        let at = ContextAddress::from_offset(at & !3).unwrap();
        let legal = at.offset().is_multiple_of(64) && at.words_behind(63).is_some();
        let mut written = [0xff; Template::SIZE];
        prop_assert_eq!(template.write(launcher, at, &mut written).is_ok(), legal);
        let at = ContextAddress::from_offset(at.offset() & 0x7fff_ffc0).unwrap();
        template.write(launcher, at, &mut written).unwrap();
        let mut expected = [0; Template::SIZE];
        let mut stream = VdmStream::new(&mut expected, at).unwrap();
        stream.vertex(VertexState { launcher, ..state }).unwrap();
        for update in ppp::Record::updates(at).unwrap() {
            stream.update(update).unwrap();
        }
        prop_assert_eq!(stream.room(), 0);
        prop_assert_eq!(written, expected);
        prop_assert!(template.write(launcher, at, &mut written[1..]).is_err());
    }

    #[test]
    fn coefficient_tables(table in table(), changes in damage()) {
        let mut bytes = [0xff; coefficient::TABLE_SIZE];
        table.pack(&mut bytes).unwrap();
        let count = table.count();
        prop_assert_eq!(Table::unpack(&bytes, count), Ok(table.clone()));
        prop_assert!(table.pack(&mut bytes[1..]).is_err());
        prop_assert!(Table::unpack(&bytes[1..], count).is_err());
        // Another count is another table: words are left over, or 0 is a binding of slot 0 again.
        prop_assert!(Table::unpack(&bytes, count - 1).is_err());
        table_bytes_survive(&damaged(&bytes, &changes), count)?;
        // Close to the beginning, where the bindings are.
        let changes: Vec<_> = changes.iter().map(|(at, xor)| (at % (4 + 4 * usize::from(count)), *xor)).collect();
        table_bytes_survive(&damaged(&bytes, &changes), count)?;
    }

    /// What a driver asks for: every input gets registers of its own, scalars in order.
    #[test]
    fn coefficients_of_inputs(
        scalars in vec(interpolation(), 0..=131),
        provoking in provoking(),
        (primitive_id, fragment_z, point_coordinate) in any::<(bool, bool, bool)>(),
    ) {
        let inputs = FragmentInputs { scalars: &scalars, provoking, primitive_id, fragment_z, point_coordinate };
        let Ok(table) = Table::new(&inputs) else {
            // Only for want of bindings.
            let groups: usize = scalars.chunk_by(|a, b| a == b).map(|run| run.len().div_ceil(4)).sum();
            let others = usize::from(primitive_id) + usize::from(fragment_z) + usize::from(point_coordinate);
            prop_assert!(1 + groups + others > 127);
            return Ok(());
        };
        prop_assert_eq!(Table::of_bindings(table.bindings()), Ok(table.clone()));
        let others = u8::from(primitive_id) + u8::from(fragment_z) + 2 * u8::from(point_coordinate);
        prop_assert_eq!(table.registers(), 1 + scalars.len() as u8 + others);
        let mut found = Vec::new();
        for binding in table.bindings().iter().skip(1).filter(|b| b.source == Source::Varying) {
            for i in 0..binding.components {
                prop_assert_eq!(binding.slot + i, binding.register + i + u8::from(fragment_z));
                prop_assert_eq!(usize::from(binding.register + i), found.len() + 1);
                found.push(match binding.shade {
                    Shade::Perspective => Interpolation::Smooth,
                    Shade::Linear => Interpolation::Linear,
                    shade => {
                        prop_assert_eq!(shade.provoking(), Some(provoking));
                        Interpolation::Flat
                    }
                });
            }
        }
        prop_assert_eq!(&found, &scalars);
        let behind = 1 + scalars.len() as u8;
        prop_assert_eq!(table.register_of(Source::Varying), Some(0));
        prop_assert_eq!(table.register_of(Source::PrimitiveId), primitive_id.then_some(behind));
        let depth = behind + u8::from(primitive_id);
        prop_assert_eq!(table.register_of(Source::FragmentZ), fragment_z.then_some(depth));
        let point = depth + u8::from(fragment_z);
        prop_assert_eq!(table.register_of(Source::PointCoordinate), point_coordinate.then_some(point));
    }

    #[test]
    fn entries(scissor in scissor_entry(), bias in floats::<3>(), changes in damage()) {
        let mut bytes = [0xff; scissor::ENTRY_SIZE];
        scissor.pack(&mut bytes).unwrap();
        prop_assert_eq!(Scissor::unpack(&bytes), Ok(scissor));
        entry_bytes_survive(&damaged(&bytes, &changes))?;
        prop_assert!(Scissor::unpack(&bytes[1..]).is_err());
        let [left, top] = scissor.min();
        let [right, bottom] = scissor.max();
        prop_assert_eq!(scissor.is_empty(), !scissor.contains(left, top));
        prop_assert!(!scissor.contains(right, top) && !scissor.contains(left, bottom));
        // The region clip covers it.
        let region = RegionClip::of_pixels(scissor.min(), scissor.max()).unwrap();
        if !scissor.is_empty() {
            for (tile, pixel) in [(region.min(), [left, top]), (region.max(), [right - 1, bottom - 1])] {
                prop_assert_eq!(tile, pixel.map(|n| n / 32));
            }
        }
        let [constant, slope, clamp] = bias;
        let bias = DepthBias { constant, slope, clamp };
        bias.pack(&mut bytes).unwrap();
        prop_assert_eq!(DepthBias::unpack(&bytes), Ok(bias));
        prop_assert!(DepthBias::unpack(&bytes[..11]).is_err());
    }

    #[test]
    fn pass_values(
        depth in surface(),
        stencil in surface(),
        format in select(DepthFormat::ALL),
        value in any::<u64>(),
        bit in 0..64u32,
        flags in any::<[bool; 4]>(),
        samples in select(vec![Samples::One, Samples::Two, Samples::Four]),
    ) {
        let control = ZlsControl { depth, stencil, format };
        prop_assert_eq!(ZlsControl::unpack(control.pack()), Ok(control));
        for value in [value, 1 << bit, control.pack() ^ 1 << bit] {
            if let Ok(control) = ZlsControl::unpack(value) {
                prop_assert_eq!(control.pack(), value);
            }
            if let Ok(positions) = SamplePositions::unpack(samples, value) {
                prop_assert_eq!(positions.pack(), value);
                prop_assert_eq!(positions.get().len() as u32, samples.count());
                prop_assert_eq!(SamplePositions::new(positions.get()), Ok(positions));
            }
            let value = value as u32;
            if let Ok(control) = PppControl::unpack(value) {
                prop_assert_eq!(control.pack(), value);
            }
            if let Ok([width, height]) = pass::pixels_of(value) {
                prop_assert_eq!(pass::pixels(width, height), Ok(value));
            }
            if let Ok(bytes) = pass::layer_stride_of(value) {
                prop_assert_eq!(pass::layer_stride(bytes), Ok(value));
            }
            if let Ok(bytes) = pass::compression_stride_of(value) {
                prop_assert_eq!(pass::compression_stride(bytes), Ok(value));
            }
            if let Ok(stencil) = pass::stencil_of(value) {
                prop_assert_eq!(pass::clear_stencil(stencil), value | 0x300);
            }
        }
        let [opengl_clip, w_clamp, default_point_size, fixed_point] = flags;
        let control = PppControl { opengl_clip, w_clamp, default_point_size, fixed_point };
        prop_assert_eq!(PppControl::unpack(control.pack()), Ok(control));
    }

    /// A stream is its records; one that no longer fits leaves it as it was.
    #[test]
    fn streams(list in vec(record(), 0..20), len in 0..400usize) {
        let mut memory = vec![0; len];
        let base = ContextAddress::from_offset(0x1000).unwrap();
        let mut stream = VdmStream::new(&mut memory, base).unwrap();
        let mut expected = Vec::new();
        for record in list {
            let (at, room) = (stream.size(), stream.room());
            let fits = record.size() <= room;
            prop_assert_eq!(stream.push(record).is_ok(), fits);
            prop_assert_eq!(stream.size(), at + if fits { record.size() } else { 0 });
            if fits {
                expected.push((at, record));
            }
        }
        let size = stream.size();
        prop_assert_eq!(stream.address(), base.address() + size as u64);
        let ends = |record: &Record| match record {
            Record::Terminate => true,
            Record::Link(link) => !link.with_return,
            Record::Barrier(barrier) => barrier.returns(),
            _ => false,
        };
        if let Some(last) = expected.iter().position(|(_, record)| ends(record)) {
            expected.truncate(last + 1);
        }
        let read: Result<Vec<_>, _> = records(&memory[..size]).collect();
        prop_assert_eq!(read, Ok(expected));
    }

    /// Draws bring the index that restarts primitives with them, or leave the stream as it was.
    #[test]
    fn draws_in_streams(draw in draw(), room in 0..40usize) {
        let mut memory = vec![0; room];
        let base = ContextAddress::from_offset(0).unwrap();
        let mut stream = VdmStream::new(&mut memory, base).unwrap();
        let restart = draw.vertices.indices().map(|indices| Record::Restart(match indices.size {
            IndexSize::U8 => 0xff,
            IndexSize::U16 => 0xffff,
            IndexSize::U32 => 0xffff_ffff,
        }));
        let expected: Vec<_> = restart.into_iter().chain([Record::Draw(draw)]).collect();
        let size: usize = expected.iter().map(Record::size).sum();
        prop_assert_eq!(stream.draw(draw).is_ok(), size <= room);
        let used = stream.size();
        prop_assert_eq!(used, if size <= room { size } else { 0 });
        if used != 0 {
            let read: Result<Vec<_>, _> = records(&memory[..used]).map(|r| r.map(|(_, r)| r)).collect();
            prop_assert_eq!(read, Ok(expected));
        }
    }

    /// Walks end, whatever links there are, and see what is there.
    #[test]
    fn walks_end(list in vec(prop_oneof![
        1 => Just(Record::Restart(0)),
        1 => Just(Record::Terminate),
        1 => Just(Record::Barrier(Barrier::new(Barrier::RETURNS).unwrap())),
        3 => (0..24u32, any::<bool>()).prop_map(|(word, with_return)| Record::Link(Link {
            target: ContextAddress::from_offset(0x4000 + 4 * word).unwrap(),
            with_return,
        })),
    ], 1..12)) {
        let mut bytes = [0; 0x80];
        let base = ContextAddress::from_offset(0x4000).unwrap();
        let mut stream = VdmStream::new(&mut bytes, base).unwrap();
        for record in list {
            stream.push(record).unwrap();
        }
        let mut previous: Option<Record> = None;
        for (number, item) in Walker::new(base, memory(0x4000, &bytes)).enumerate() {
            // No stream here is longer: 24 places, each with at most 32 open links.
            prop_assert!(number < 100_000);
            match item {
                Ok((at, record)) => {
                    let start = (at.offset() - 0x4000) as usize;
                    prop_assert_eq!(Record::unpack(&bytes[start..]).map(|(r, _)| r), Ok(record));
                    previous = Some(record);
                }
                Err(error) => {
                    prop_assert!(error.address >= base.address());
                    prop_assert!(!matches!(error.cause, Cause::Outside));
                    previous = Some(Record::Terminate);
                }
            }
        }
        prop_assert_eq!(previous, Some(Record::Terminate));
    }

    /// Random bytes, whole and after the first word of something legal.
    #[test]
    fn random_bytes(
        mut bytes in vec(any::<u8>(), 0..0x280),
        first in prop_oneof![
            select(vec![0x500u32, 0x2000_0013, 0x4000_002e, 0x4000_0001, 0x8000_0000, 0xc000_0000]),
            select(vec![0x61c4_0600u32, 0x61f4_0600, 0x6404_0600, 0x6434_0600]),
            select(Kind::ALL.map(Kind::header).to_vec()),
            any::<u32>(),
        ],
        count in any::<u8>(),
    ) {
        for _ in 0..2 {
            record_bytes_survive(&bytes)?;
            for words in [2, 3, 5, 7, 10, 18] {
                if let Some(bytes) = bytes.get(..4 * words) {
                    piece_bytes_survive(bytes)?;
                }
            }
            entry_bytes_survive(&bytes)?;
            table_bytes_survive(&bytes, count)?;
            ppp_record_bytes_survive(&bytes)?;
            prop_assert!(records(&bytes).count() <= bytes.len() / 4 + 1);
            let base = ContextAddress::from_offset(0).unwrap();
            prop_assert!(Walker::new(base, memory(0, &bytes)).count() < 1000);
            {
                let mut draws = Draws::new(base, memory(0, &bytes));
                for _ in 0..1000 {
                    if !matches!(draws.next_draw(), Ok(Some(_))) {
                        break;
                    }
                }
                prop_assert!(!matches!(draws.next_draw(), Ok(Some(_))));
            }
            if let Some(word) = bytes.first_chunk_mut::<4>() {
                *word = first.to_le_bytes();
            }
        }
    }
}

/// Loops, depth, and returns.
#[test]
fn walks_that_fail() {
    let at = |word: u32| ContextAddress::from_offset(4 * word).unwrap();
    let link = |word, with_return| {
        Record::Link(Link {
            target: at(word),
            with_return,
        })
    };
    let returns = Record::Barrier(Barrier::new(Barrier::RETURNS | Barrier::REQUIRED).unwrap());
    let walk = |list: &[Record]| {
        let mut bytes = [0; 0x80];
        let mut stream = VdmStream::new(&mut bytes, at(0)).unwrap();
        for record in list {
            stream.push(*record).unwrap();
        }
        let size = stream.size();
        let items: Vec<_> = Walker::new(at(0), memory(0, &bytes[..size])).collect();
        items
            .into_iter()
            .map(|item| item.map_err(|error| (error.address - at(0).address(), error.cause)))
            .collect::<Vec<_>>()
    };
    let last = |list: &[Record]| walk(list).pop().unwrap();
    // A call of a part that ends with a return: link, part, return, terminator.
    let called = walk(&[
        link(3, true),
        Record::Terminate,
        Record::Restart(1),
        returns,
    ]);
    let records: Vec<_> = called.into_iter().map(|item| item.unwrap().1).collect();
    assert_eq!(
        records,
        [
            link(3, true),
            Record::Restart(1),
            returns,
            Record::Terminate
        ]
    );
    assert_eq!(last(&[link(0, false)]), Err((0, Cause::Loop)));
    assert_eq!(
        last(&[link(2, false), link(0, false)]).map_err(|e| e.1),
        Err(Cause::Loop)
    );
    assert_eq!(last(&[link(0, true)]), Err((0, Cause::Depth)));
    assert_eq!(last(&[returns]), Err((0, Cause::Return)));
    let open = [link(2, true), Record::Terminate];
    assert_eq!(last(&open), Err((8, Cause::Terminator)));
    assert_eq!(last(&[link(100, false)]), Err((400, Cause::Unreadable)));
    assert_eq!(last(&[Record::Restart(0)]), Err((8, Cause::Unreadable)));
    // A record that ends behind the window.
    let end = ContextAddress::from_offset(u32::MAX - 3).unwrap();
    let mut walk = Walker::new(end, |_, out: &mut [u8]| {
        out.fill(0);
        true
    });
    assert_eq!(walk.next().unwrap().unwrap_err().cause, Cause::Outside);
    assert!(walk.next().is_none());
}

/// What must not be packed.
#[test]
fn refused_values() {
    let mut bytes = [0; 0x200];
    let launcher = LauncherAddress::from_units(1).unwrap();
    let vertex = VertexState {
        launcher,
        outputs: 4,
        provoking: Provoking::First,
        primitive_id: false,
    };
    for outputs in [0, 3, 146, 255] {
        let record = Record::Vertex(VertexState { outputs, ..vertex });
        assert!(record.pack(&mut bytes).is_err(), "{outputs}");
        assert!(Template::new(&VertexState { outputs, ..vertex }).is_err());
    }
    let at = ContextAddress::from_offset(0xffff_fff8).unwrap();
    assert!(Update::new(at, 2).is_ok());
    assert!(Update::new(at, 3).is_err());
    for words in [0, 1, 4, 6, 8, 9, 11, 131, 138] {
        let at = ContextAddress::from_offset(0).unwrap();
        assert!(Update::new(at, words).is_err(), "{words}");
    }
    let direct = |count, instances| {
        Record::Draw(Draw {
            primitive: Primitive::Points,
            vertices: Vertices::Direct {
                first: 0,
                count,
                instances,
            },
        })
    };
    assert!(direct(1, 1).pack(&mut bytes).is_ok());
    assert!(direct(0, 1).pack(&mut bytes).is_err());
    assert!(direct(1, 0).pack(&mut bytes).is_err());
    // Indices that were moved towards the window's end.
    let mut moved = IndexBuffer::new(CodeAddress::from_offset(0), IndexSize::U8, false, 8).unwrap();
    moved.address = CodeAddress::from_offset(u32::MAX);
    let vertices = Vertices::Indexed {
        indices: moved,
        base: 0,
        count: 1,
        instances: 1,
    };
    let record = Record::Draw(Draw {
        primitive: Primitive::Points,
        vertices,
    });
    assert!(record.pack(&mut bytes).is_err());
    assert!(Barrier::new(1 << 9).is_err());
    assert!(Barrier::new(1 << 29).is_err());
    let fragment = Fragment {
        bindings: 1,
        table: CodeAddress::from_offset(0),
        launcher,
        resources: 1,
    };
    assert!(fragment.pack(&mut bytes).is_ok());
    for bad in [
        Fragment {
            bindings: 0,
            ..fragment
        },
        Fragment {
            bindings: 128,
            ..fragment
        },
        Fragment {
            table: CodeAddress::from_offset(32),
            ..fragment
        },
        Fragment {
            resources: 0,
            ..fragment
        },
        Fragment {
            resources: 17,
            ..fragment
        },
    ] {
        assert!(bad.pack(&mut bytes).is_err(), "{bad:?}");
    }
    let outputs = Outputs {
        words: 4,
        ..Outputs::default()
    };
    assert!(outputs.pack(&mut bytes).is_ok());
    for bad in [
        Outputs {
            words: 3,
            ..outputs
        },
        Outputs {
            words: 146,
            ..outputs
        },
        Outputs {
            point_size: true,
            ..outputs
        },
        Outputs {
            clip_distances: 9,
            words: 20,
            ..outputs
        },
    ] {
        assert!(bad.pack(&mut bytes).is_err(), "{bad:?}");
    }
    let control = FragmentControl {
        occlusion: 32768,
        ..FragmentControl::default()
    };
    assert!(control.pack(&mut bytes).is_err());
    assert!(Viewports(ArrayVec::new()).pack(&mut bytes).is_err());
    assert!(Scissor::new([0; 2], [16385, 1], [0.0; 2]).is_err());
    // Memory that reaches behind the window.
    let base = ContextAddress::from_offset(0xffff_ff00).unwrap();
    assert!(VdmStream::new(&mut bytes[..0x100], base).is_ok());
    assert!(VdmStream::new(&mut bytes[..0x101], base).is_err());
}

/// Every bit of every word of every piece: taken by a field, or refused by name.
#[test]
fn reserved_bits_are_named() {
    let pieces = [
        Piece::VaryingCounts(VaryingCounts::all(1)),
        Piece::Fragment(Fragment {
            bindings: 1,
            table: CodeAddress::from_offset(0),
            launcher: LauncherAddress::from_units(0).unwrap(),
            resources: 1,
        }),
        Piece::Outputs(Outputs {
            words: 20,
            ..Outputs::default()
        }),
        Piece::FragmentControl(FragmentControl::default()),
        Piece::FragmentControl2(FragmentControl2::default()),
        Piece::Viewports(Viewports::one(Viewport::new(
            [0.0; 2],
            [1.0; 2],
            [0.0; 2],
            RegionClip::new([0; 2], [511; 2]).unwrap(),
        ))),
        Piece::WClamp(WClamp::default()),
        Piece::Cull(Cull::default()),
        Piece::Indices(Indices::default()),
    ];
    let mut refused = 0;
    for piece in pieces {
        let mut bytes = [0; 4 * ppp::MAX_WORDS];
        let size = piece.pack(&mut bytes).unwrap();
        for bit in 0..8 * size {
            let mut bytes = bytes[..size].to_vec();
            bytes[bit / 8] ^= 1 << (bit % 8);
            match Piece::unpack(&bytes) {
                // As text, where -0 is another number than 0.
                Ok(other) => assert_ne!(format!("{other:?}"), format!("{piece:?}"), "bit {bit}"),
                Err(error) => {
                    let text = error.to_string();
                    assert!(
                        ["PPP ", "launcher", "provoking vertex"]
                            .iter()
                            .any(|name| text.starts_with(name)),
                        "{text}"
                    );
                    refused += 1;
                }
            }
        }
    }
    // Headers, constants, zeros and reserved bits: most of 46 words.
    assert!((600..1000).contains(&refused), "{refused}");
}
