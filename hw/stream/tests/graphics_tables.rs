// SPDX-License-Identifier: MIT
//! The tables of graphics-stream, read from its text: what each of their rows states.

mod graphics;

use agx_hw::arena::BlockOffset;
use agx_hw::coefficient::{self, Binding, Inputs, Interpolation, Shade, Source, Table};
use agx_hw::depth_bias::DepthBias;
use agx_hw::format::Format;
use agx_hw::launcher::{Frame, Launcher, Samples, Storage};
use agx_hw::pass::{
    self, DepthFormat, Pass, PppControl, SamplePositions, Surface, Tiling, ZlsControl,
};
use agx_hw::ppp::{
    self, Compare, Cull, Face, Face2, Fragment, FragmentControl, FragmentControl2, Kind,
    ObjectType, Outputs, PassType, Piece, RegionClip, Stencil, StencilOp, VaryingCounts, Viewport,
    Viewports, Visibility, WClamp,
};
use agx_hw::scissor::{self, Scissor};
use agx_hw::tile;
use agx_hw::uvs;
use agx_hw::vdm::{
    Barrier, Draw, DrawArguments, IndexSize, IndexedDrawArguments, Indices as IndexBuffer,
    IndirectAddress, Link, Primitive, Provoking, Record, Update, VertexState, Vertices,
};
use graphics::*;

// --- Tables of the vertex stream -------------------------------------------------------------------------

fn direct(primitive: Primitive) -> Draw {
    Draw {
        primitive,
        ..TRIANGLE
    }
}

fn indexed(size: IndexSize, restart: bool) -> Draw {
    let indices = IndexBuffer::new(code(0x100_0000), size, restart, 64).unwrap();
    Draw {
        primitive: Primitive::TriangleStrip,
        vertices: Vertices::Indexed {
            indices,
            base: -1,
            count: 4,
            instances: 2,
        },
    }
}

/// Every row of 3.1: sizes and types.
#[test]
fn record_types() {
    let at = context(RECORD);
    let link = Link {
        target: at,
        with_return: false,
    };
    let mut seen = 0;
    for row in rows("3.1", "type") {
        let [kind, name, size, status] = row[..] else {
            panic!("{row:?}");
        };
        let kind: u32 = kind.parse().unwrap();
        let record = match kind {
            0 => Record::Update(Update::new(at, 5).unwrap()),
            1 => Record::Barrier(Barrier::START),
            2 => Record::Vertex(example_vertex()),
            3 => Record::Draw(TRIANGLE),
            4 => Record::Link(link),
            6 => Record::Terminate,
            _ => {
                assert!(name.starts_with("Tessellate") || status == "never seen");
                assert!(Record::unpack(&le(&[kind << 29; 7])).is_err());
                continue;
            }
        };
        assert_eq!(header(record) >> 29, kind, "{name}");
        if let Ok(size) = size.parse::<usize>() {
            assert_eq!(pack(record).len(), size, "{name}");
        }
        seen += 1;
    }
    assert_eq!(seen, 6);
    // The numbers in running text.
    assert_eq!(header(Record::Barrier(Barrier::START)), 0x2000_0013);
    assert_eq!(pack(Record::Terminate), le(&[0xc000_0000]));
    assert_eq!(pack(Record::Link(link)), le(&[0x8000_0000, RECORD]));
    assert_eq!(pack(Record::Restart(0xffff)), le(&[0x4000_0001, 0xffff]));
    let update = Record::Update(Update::new(at, 5).unwrap());
    assert_eq!(pack(update), le(&[0x500, 0x400_0000]));
}

/// The vertex-state table of 3.3.
#[test]
fn vertex_state() {
    let state = VertexState {
        launcher: launcher_at(0x90_0100),
        outputs: 8,
        provoking: Provoking::Last,
        primitive_id: true,
    };
    let bytes = pack(Record::Vertex(state));
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    for row in rows("3.3", "offset") {
        let at = hex(row[0].trim_start_matches('+')) as usize;
        let expected = match row[1] {
            "`launch / 64`" => 0x90_0100 / 64,
            "`n OR n<<8`" => 0x808,
            "see below" => 2 | 1 << 6,
            constant => hex(constant) as u32,
        };
        assert_eq!(word(at), expected, "{at:#x}");
    }
    let codes = [
        (Provoking::First, 0),
        (Provoking::Second, 1),
        (Provoking::Last, 2),
    ];
    for (provoking, code) in codes {
        let state = VertexState {
            provoking,
            primitive_id: false,
            ..state
        };
        assert_eq!(pack(Record::Vertex(state))[20..24], le(&[code]));
    }
}

/// The five forms of 3.5; the mesh grid is refused.
#[test]
fn draw_forms() {
    let arguments = IndirectAddress::new(0x20_0000_1004).unwrap();
    let mut seen = 0;
    for row in rows("3.5", "draw") {
        let [name, expected, words] = row[..] else {
            panic!("{row:?}");
        };
        let base = hex(expected.trim_matches('`').split(' ').next().unwrap()) as u32;
        let strip = Primitive::TriangleStrip;
        let (restart, size) = (true, IndexSize::U16);
        let vertices = match name {
            "direct, non-indexed" => direct(strip).vertices,
            "direct, indexed" => indexed(size, restart).vertices,
            "indirect, non-indexed" => Vertices::Indirect { arguments },
            "indirect, indexed" => {
                let indices = *indexed(size, restart).vertices.indices().unwrap();
                Vertices::IndexedIndirect { indices, arguments }
            }
            "mesh grid" => {
                assert!(Record::unpack(&le(&[base, 1, 1, 1, 0, 0, 0])).is_err());
                continue;
            }
            other => panic!("{other}"),
        };
        let is_indexed = vertices.indices().is_some();
        let variable = if is_indexed { 1 << 17 | 1 << 16 } else { 0 };
        let draw = Record::Draw(Draw {
            primitive: strip,
            vertices,
        });
        assert_eq!(header(draw), base | 9 << 8 | variable, "{name}");
        let size = words.split('(').nth(1).unwrap().split(' ').next().unwrap();
        assert_eq!(pack(draw).len(), size.parse::<usize>().unwrap(), "{name}");
        seen += 1;
    }
    assert_eq!(seen, 4);
    // The order of the words.
    assert_eq!(
        pack(Record::Draw(indexed(IndexSize::U32, false)))[4..],
        le(&[0x100_0000, 4, 2, u32::MAX, 15, 1])
    );
    let indices = *indexed(IndexSize::U8, false).vertices.indices().unwrap();
    let draw = Record::Draw(Draw {
        primitive: Primitive::Points,
        vertices: Vertices::IndexedIndirect { indices, arguments },
    });
    let words = [0x6430_0000, 0x100_0000, 0x20, 0x1004, 15, 1];
    assert_eq!(pack(draw), le(&words));
}

/// Header bits of 3.5, each isolated.
#[test]
fn draw_header() {
    let of = |draw| header(Record::Draw(draw));
    let base = of(indexed(IndexSize::U8, false));
    for row in rows("3.5", "bits") {
        let (bits, field) = (row[0], row[1]);
        match bits {
            "7:0" => assert_eq!(base & 0xff, 0),
            "15:8" => assert_eq!(base >> 8 & 0xff, 9),
            "16" => assert_eq!(of(indexed(IndexSize::U8, true)) ^ base, 1 << 16, "{field}"),
            "19:17" => {
                for (size, code) in IndexSize::ALL.iter().zip(0..) {
                    assert_eq!(of(indexed(*size, false)) >> 17 & 7, code);
                    assert_eq!(size.bytes(), 1 << code);
                }
                assert_eq!(of(TRIANGLE) >> 17 & 7, 2);
            }
            "20" | "21" => {
                let bit = bits.parse::<u32>().unwrap();
                assert_eq!(
                    (base >> bit & 1, of(TRIANGLE) >> bit & 1),
                    (1, 0),
                    "{field}"
                );
            }
            "22" | "23" | "24" => {
                assert_eq!(
                    of(TRIANGLE) >> bits.parse::<u32>().unwrap() & 1,
                    1,
                    "{field}"
                );
            }
            "26" => assert_eq!(base >> 26 & 1, 0),
            "25" | "27" | "28" => {
                let bit = 1 << bits.parse::<u32>().unwrap();
                let words = [of(TRIANGLE) | bit, 3, 1, 0, 0, 0, 0, 0];
                assert!(Record::unpack(&le(&words)).is_err(), "{field}");
            }
            "31:29" => assert_eq!(base >> 29, 3),
            other => panic!("{other}"),
        }
    }
}

/// Topologies of 3.5.
#[test]
fn primitives() {
    let mut codes = Vec::new();
    for row in rows("3.5", "code") {
        for code in row[0].split(", ").filter(|code| code.starts_with("0x")) {
            let code = hex(code) as u8;
            let primitive = Primitive::from_code(code).unwrap();
            assert_eq!(
                header(Record::Draw(direct(primitive))) >> 8 & 0xff,
                code.into()
            );
            let status = row[2];
            let tested = status.contains("HW") || status.contains("TRACE");
            assert_eq!(primitive.is_tested(), tested, "{primitive:?}");
            codes.push(code);
        }
    }
    let all: Vec<_> = Primitive::ALL.iter().map(|p| p.code()).collect();
    assert_eq!(codes, all);
    assert_eq!(Primitive::TriangleFan.code(), 0x0b);
    assert_eq!(Primitive::LineLoop.code(), 5);
}

/// "extent = ceil((bytes + (addr & 3)) / 4) - 1".
#[test]
fn extents() {
    for (offset, bytes) in [
        (0x100_0000u32, 1u64),
        (3, 1),
        (3, 2),
        (0x11, 4096),
        (2, 2),
        (1, 3),
    ] {
        let indices = IndexBuffer::new(code(offset), IndexSize::U8, false, bytes).unwrap();
        let draw = Record::Draw(Draw {
            primitive: Primitive::Points,
            vertices: Vertices::Indexed {
                indices,
                base: 0,
                count: 1,
                instances: 1,
            },
        });
        let expected = (bytes + u64::from(offset & 3)).div_ceil(4) - 1;
        assert_eq!(pack(draw)[20..24], le(&[expected as u32]));
        assert!(indices.readable() >= bytes && indices.readable() < bytes + 4);
    }
    let last = code(u32::MAX);
    assert!(IndexBuffer::new(last, IndexSize::U8, false, 1).is_ok());
    assert!(IndexBuffer::new(last, IndexSize::U8, false, 2).is_err());
    assert!(IndexBuffer::new(last, IndexSize::U8, false, 0).is_err());
    let all = IndexBuffer::new(code(0), IndexSize::U8, false, 1 << 32).unwrap();
    assert_eq!(all.readable(), 1 << 32);
}

#[test]
fn indirect_arguments() {
    let draw = DrawArguments {
        count: 1,
        instances: 2,
        first: 3,
        first_instance: 4,
    };
    let mut bytes = [0; 20];
    draw.pack(&mut bytes).unwrap();
    assert_eq!(bytes[..16], le(&[1, 2, 3, 4]));
    assert_eq!(DrawArguments::unpack(&bytes), Ok(draw));
    let draw = IndexedDrawArguments {
        count: 1,
        instances: 2,
        first: 3,
        base: -4,
        first_instance: 5,
    };
    draw.pack(&mut bytes).unwrap();
    assert_eq!(bytes[..], le(&[1, 2, 3, (-4i32).cast_unsigned(), 5]));
    assert_eq!(IndexedDrawArguments::unpack(&bytes), Ok(draw));
    assert!(IndexedDrawArguments::unpack(&bytes[..19]).is_err());
    // "offset 12 / 16".
    assert!(section("3.5").contains("offset 12 / 16"));
    assert_eq!(DrawArguments::FIRST_INSTANCE, 12);
    assert_eq!(IndexedDrawArguments::FIRST_INSTANCE, 16);
}

// --- Tables of fixed-function state -------------------------------------------------------------------------

/// 6.1: order, places, sizes, headers; and the line of updates below it.
#[test]
fn pieces() {
    let table = rows("6.1", "#");
    assert_eq!(table.len(), Kind::ALL.len());
    for (kind, row) in Kind::ALL.into_iter().zip(table) {
        assert_eq!(
            u64::from(kind.record_offset()),
            hex(row[1].trim_start_matches('+'))
        );
        assert_eq!(kind.words().to_string(), row[2]);
        assert_eq!(u64::from(kind.header()), hex(row[3]), "{}", kind.name());
        let of_header = Kind::of_header(kind.header()).unwrap();
        assert_eq!(of_header, (kind, usize::from(kind.words())));
    }
    let text = section("6.1");
    let start = text.find("context offset P:").unwrap();
    let pairs: Vec<_> = text[start..].split(['`', '|']).map(str::trim).collect();
    let updates = ppp::Record::updates(context(0)).unwrap();
    for update in updates {
        let [words, offset] = [update.words(), update.at().offset() as u8];
        let stated = format!("{:08x} P+{offset:02x}", u32::from(words) << 8);
        let stated = stated.replace("\n", " ");
        let found = pairs
            .iter()
            .any(|pair| pair.split_whitespace().collect::<Vec<_>>().join(" ") == stated);
        assert!(found, "{stated}");
    }
}

/// 6.2: the constants of the whole map, against a record whose other fields are all set.
#[test]
fn record_map() {
    let mut bytes = [0; ppp::RECORD_SIZE];
    example_record().pack(&mut bytes).unwrap();
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    let mut constants = 0;
    for row in rows("6.2", "offset") {
        let (offsets, value) = (row[0], row[1]);
        if offsets.contains("..") {
            continue;
        }
        for offset in offsets.split(',') {
            let at = hex(offset.trim_start_matches('+')) as usize;
            let expected = match value {
                "0" | "0 (= 0.0f)" => 0,
                _ if value.starts_with("`0x") && value.ends_with('`') && !value.contains(' ') => {
                    hex(value) as u32
                }
                _ => continue,
            };
            assert_eq!(word(at), expected, "{at:#x}");
            constants += 1;
        }
    }
    assert!(constants >= 18, "{constants}");
}

/// The words of a piece.
fn piece_words(piece: &Piece) -> Vec<u32> {
    let mut bytes = [0; 4 * ppp::MAX_WORDS];
    let size = piece.pack(&mut bytes).unwrap();
    assert_eq!(Piece::unpack(&bytes[..size]).as_ref(), Ok(piece));
    let words = bytes[..size].chunks_exact(4);
    words
        .map(|word| u32::from_le_bytes(word.try_into().unwrap()))
        .collect()
}

fn outputs(set: impl Fn(&mut Outputs)) -> Vec<u32> {
    let mut outputs = Outputs {
        words: 30,
        ..Outputs::default()
    };
    set(&mut outputs);
    piece_words(&Piece::Outputs(outputs))
}

/// 6.4.
#[test]
fn output_select() {
    let base = outputs(|_| {})[1];
    assert_eq!(base, 1 << 16);
    for row in rows("6.4", "bits") {
        let bit = |bits: u32| base | bits;
        match row[0] {
            "7:0" => {
                for n in 0..=8 {
                    let select = outputs(|o| o.clip_distances = n)[1];
                    assert_eq!(select, bit((1 << n) - 1));
                }
            }
            "15:8" => {}
            "16" => {}
            "18" => assert_eq!(outputs(|o| o.point_size = true)[1], bit(1 << 18)),
            "19" | "20" => assert_eq!(outputs(|o| o.layer_viewport = true)[1], bit(3 << 19)),
            "21" => assert_eq!(outputs(|o| o.fragment_z = true)[1], bit(1 << 21)),
            "22" => assert_eq!(outputs(|o| o.barycentrics = true)[1], bit(1 << 22)),
            other => panic!("{other}"),
        }
    }
}

fn control(set: impl Fn(&mut FragmentControl)) -> Vec<u32> {
    let mut control = FragmentControl {
        scissor: false,
        ..FragmentControl::default()
    };
    set(&mut control);
    piece_words(&Piece::FragmentControl(control))
}

fn control2(set: impl Fn(&mut FragmentControl2)) -> Vec<u32> {
    let mut control = FragmentControl2::default();
    set(&mut control);
    piece_words(&Piece::FragmentControl2(control))
}

/// 6.5, and 6.2's occlusion word and colour mask.
#[test]
fn fragment_controls() {
    let (a, b) = (control(|_| {})[1], control2(|_| {})[1]);
    assert_eq!((a, b), (0x200, 0x200));
    let flag_a = |set: fn(&mut FragmentControl)| control(set)[1] ^ a;
    let flag_b = |set: fn(&mut FragmentControl2)| control2(set)[1] ^ b;
    for row in rows("6.5", "bits") {
        match row[0] {
            "9" => {}
            "15:14" => {
                for (visibility, code) in [
                    (Visibility::None, 0),
                    (Visibility::Counting, 2),
                    (Visibility::Boolean, 3),
                ] {
                    assert_eq!(control(|c| c.visibility = visibility)[1] ^ a, code << 14);
                    assert_eq!(control2(|c| c.visibility = visibility)[1] ^ b, code << 14);
                }
            }
            "16" => assert_eq!(flag_a(|c| c.scissor = true), 1 << 16),
            "17" => assert_eq!(flag_a(|c| c.depth_bias = true), 1 << 17),
            "18" | "19" => assert_eq!(flag_a(|c| c.stencil = true), 3 << 18),
            "21" => {
                assert_eq!(flag_a(|c| c.no_tag_write = true), 1 << 21);
                assert_eq!(flag_b(|c| c.no_tag_write = true), 1 << 21);
            }
            "25" => {}
            "26" => {
                assert_eq!(flag_a(|c| c.no_merge = true), 1 << 26);
                assert_eq!(flag_b(|c| c.no_merge = true), 1 << 26);
            }
            "31:29" => {
                for (translucent, discards, code) in [
                    (false, false, 0),
                    (true, false, 1),
                    (false, true, 2),
                    (true, true, 3),
                ] {
                    let pass = PassType::new(translucent, discards);
                    assert_eq!(control2(|c| c.pass = pass)[1] ^ b, code << 29);
                    assert_eq!(pass.is_translucent(), translucent);
                    assert_eq!(pass.is_punch_through(), discards);
                }
            }
            other => panic!("{other}"),
        }
    }
    // "bits 26 and 30 (0x44000000)".
    let discarding = control2(|c| {
        c.no_merge = true;
        c.pass = PassType::PunchThrough;
    });
    assert_eq!(discarding[1] ^ b, 0x4400_0000);
    assert_eq!(control(|c| c.occlusion = 32767)[6], 32767 << 17);
    assert_eq!(control2(|c| c.colour = true)[4], 0x1_ffff);
    assert_eq!(control2(|c| c.colour = false)[4], 0);
}

/// 6.6, 6.7 and 6.8.
#[test]
fn faces() {
    use agx_hw::ppp::{LineWidth, PolygonMode, ShaderDepth};
    let idle = control(|_| {});
    assert_eq!(
        idle[2..6],
        [0x0720_0f00, 0x0e00_ffff, 0x0720_0f00, 0x0e00_ffff]
    );
    let front = |set: fn(&mut Face)| {
        let words = control(|c| set(&mut c.front));
        assert_eq!(words[4..6], idle[4..6]);
        assert_eq!(control(|c| set(&mut c.back))[4..6], words[2..4]);
        [words[2] ^ idle[2], words[3] ^ idle[3]]
    };
    for row in rows("6.6", "bits") {
        match row[0] {
            "7:0" => assert_eq!(front(|f| f.reference = 0xa5), [0xa5, 0]),
            "15:8" => {
                for (width, code) in [
                    (1.0, 0x0f),
                    (16.0, 0xff),
                    (0.0, 0),
                    (f32::NAN, 0),
                    (99.0, 0xff),
                ] {
                    assert_eq!(LineWidth::new(width).0, code, "{width}");
                }
                assert_eq!(LineWidth::new(2.5).pixels().to_bits(), 2.5f32.to_bits());
                assert_eq!(front(|f| f.line_width = LineWidth(0xff)), [0xf000, 0]);
            }
            "19:18" => {
                assert_eq!(front(|f| f.polygon = PolygonMode::Line), [1 << 18, 0]);
                assert_eq!(front(|f| f.polygon = PolygonMode::Point), [2 << 18, 0]);
            }
            "21" => assert_eq!(front(|f| f.depth_write = true), [1 << 21, 0]),
            "23:22" => {}
            "26:24" => assert_eq!(front(|f| f.depth = Compare::Never), [7 << 24, 0]),
            other => panic!("{other}"),
        }
    }
    for row in rows("6.7", "bits") {
        let stencil = |set: fn(&mut Stencil)| {
            let words = control(|c| set(&mut c.front.stencil));
            words[3] ^ idle[3]
        };
        match row[0] {
            "7:0" => assert_eq!(stencil(|s| s.write_mask = 0), 0xff),
            "15:8" => assert_eq!(stencil(|s| s.read_mask = 0), 0xff00),
            "18:16" => assert_eq!(stencil(|s| s.pass = StencilOp::DecrementWrap), 7 << 16),
            "21:19" => assert_eq!(
                stencil(|s| s.depth_fail = StencilOp::DecrementWrap),
                7 << 19
            ),
            "24:22" => assert_eq!(stencil(|s| s.fail = StencilOp::DecrementWrap), 7 << 22),
            "27:25" => assert_eq!(stencil(|s| s.compare = Compare::Never), 7 << 25),
            "31:28" => {}
            other => panic!("{other}"),
        }
    }
    // Base 0x07e00000, with shader depth 0x07200000.
    let face = |set: fn(&mut Face2)| control2(|c| set(&mut c.front))[2];
    assert_eq!(control2(|_| {})[2..4], [0x07e0_0000; 2]);
    assert_eq!(face(|f| f.shader_depth = ShaderDepth::Any), 0x0720_0000);
    for row in rows("6.8", "bits") {
        match row[0] {
            "19:18" => assert_eq!(face(|f| f.polygon = PolygonMode::Point), 0x07e8_0000),
            "21" => assert_eq!(face(|f| f.depth_write = true), 0x07c0_0000),
            "23:22" => {
                let codes: Vec<_> = ShaderDepth::ALL.iter().map(|d| d.code()).collect();
                assert_eq!(codes, [0, 1, 2, 3]);
                assert_eq!(ShaderDepth::Unchanged.code(), 3);
            }
            "26:24" => assert_eq!(face(|f| f.depth = Compare::Never), 0x00e0_0000),
            "31:28" => {
                assert_eq!(face(|f| f.object = ObjectType::Line), 0x17e0_0000);
                assert_eq!(face(|f| f.object = ObjectType::PointFilled), 0x67e0_0000);
            }
            other => panic!("{other}"),
        }
    }
}

/// The codes that 6.6 to 6.8 list in running text.
#[test]
fn code_lists() {
    let text: String = section("6.6").replace('\n', " ");
    assert!(text.contains(
        "0 never, 1 less, 2 equal, 3 less-equal, 4 greater, 5 not-equal, 6 greater-equal, 7 always"
    ));
    use Compare::{Always, Equal, Greater, GreaterOrEqual, Less, LessOrEqual, Never, NotEqual};
    let compares = [
        Never,
        Less,
        Equal,
        LessOrEqual,
        Greater,
        NotEqual,
        GreaterOrEqual,
        Always,
    ];
    assert_eq!(Compare::ALL, compares);
    let text: String = section("6.7").replace('\n', " ");
    assert!(text.contains("0 keep, 1 zero, 2 replace, 3 increment-saturate, 4 decrement-saturate, 5 invert, 6 increment-wrap, 7 decrement-wrap"));
    use StencilOp::{
        DecrementClamp, DecrementWrap, IncrementClamp, IncrementWrap, Invert, Keep, Replace, Zero,
    };
    let ops = [
        Keep,
        Zero,
        Replace,
        IncrementClamp,
        DecrementClamp,
        Invert,
        IncrementWrap,
        DecrementWrap,
    ];
    assert_eq!(StencilOp::ALL, ops);
}

/// 6.9, and the three places of the provoking vertex in 7.3.
#[test]
fn culls() {
    let none = Cull {
        depth_clip: false,
        ..Cull::default()
    };
    let cull = |set: fn(&mut Cull)| {
        let mut cull = none;
        set(&mut cull);
        piece_words(&Piece::Cull(cull))[1] ^ 0x80
    };
    let w_clamp = |set: fn(&mut WClamp)| {
        let mut clamp = WClamp::default();
        set(&mut clamp);
        piece_words(&Piece::WClamp(clamp))[2] ^ 0x80
    };
    assert_eq!(piece_words(&Piece::Cull(Cull::default()))[1], 0x480);
    for row in rows("6.9", "word") {
        let got = match (row[0], row[1]) {
            ("cull", "0 / 1") => {
                assert_eq!(cull(|c| c.front = true), 1);
                assert_eq!(cull(|c| c.back = true), 2);
                continue;
            }
            ("cull", "8:7") => {
                assert_eq!(cull(|c| c.provoking = Provoking::Second), 3 << 7);
                assert_eq!(cull(|c| c.provoking = Provoking::Last), 2 << 7);
                continue;
            }
            ("cull", "10") => cull(|c| c.depth_clip = true),
            ("cull", "11") => cull(|c| c.depth_clamp = true),
            ("cull", "15") => cull(|c| c.primitive_msaa = true),
            ("cull", "16") => cull(|c| c.front_counter_clockwise = true),
            ("cull", "17") => cull(|c| c.discard = true),
            ("cull2", "5") => w_clamp(|c| c.clamp_w = true),
            ("cull2", "7") => continue,
            ("cull2", "9") => w_clamp(|c| c.clipped_edges = true),
            ("cull2", "12") => w_clamp(|c| c.primitive_id = true),
            ("cull2", "17") => w_clamp(|c| c.discard = true),
            other => panic!("{other:?}"),
        };
        assert_eq!(got, 1 << row[1].parse::<u32>().unwrap(), "{row:?}");
    }
    for row in rows("7.3", "convention") {
        let provoking = match row[0] {
            "first vertex" => Provoking::First,
            "last vertex" => Provoking::Last,
            other => panic!("{other}"),
        };
        let state = VertexState {
            provoking,
            ..example_vertex()
        };
        assert_eq!(pack(Record::Vertex(state))[20].to_string(), row[1]);
        let word = piece_words(&Piece::Cull(Cull { provoking, ..none }))[1];
        assert_eq!((word >> 7).to_string(), row[2]);
        let shade = coefficient::Shade::flat(provoking);
        assert_eq!(shade.code().to_string(), row[3]);
        assert_eq!(shade.provoking(), Some(provoking));
    }
}

/// 7.2: sizes and places with several viewports, and 7.4: tiles.
#[test]
fn viewports() {
    let mut list = Viewports::one(Viewport::new(
        [10.0, 20.0],
        [30.0, 40.0],
        [0.25, 0.75],
        RegionClip::of_pixels([33, 0], [64, 65]).unwrap(),
    ));
    assert_eq!(
        list.0[0].translate.map(f32::to_bits),
        [25.0, 40.0, 0.25f32].map(f32::to_bits)
    );
    assert_eq!(
        list.0[0].scale.map(f32::to_bits),
        [15.0, 20.0, 0.5f32].map(f32::to_bits)
    );
    let one = piece_words(&Piece::Viewports(list.clone()));
    assert_eq!(one[..4], [0xc00, 0x8001_0001, 2, 0]);
    for count in 2..=16 {
        list.0.push(list.0[0]);
        let words = piece_words(&Piece::Viewports(list.clone()));
        assert_eq!(words.len(), 2 + 8 * count);
        assert_eq!(words[0], ((count as u32 - 1) << 12) | 0xc00);
        for i in 0..count {
            assert_eq!(words[1 + 2 * i..3 + 2 * i], one[1..3]);
            assert_eq!(words[2 + 2 * count + 6 * i..][..6], one[4..]);
        }
        assert_eq!(words[1 + 2 * count], 0);
        assert!(Update::new(context(0), words.len() as u8).is_ok());
    }
    let region = |min, max| {
        let region = RegionClip::of_pixels(min, max).unwrap();
        (region.min(), region.max())
    };
    assert_eq!(region([0, 0], [0, 0]), ([0, 0], [0, 0]));
    assert_eq!(region([31, 32], [32, 33]), ([0, 1], [0, 1]));
    assert_eq!(region([0, 0], [16384, 16384]), ([0, 0], [511, 511]));
    assert!(RegionClip::of_pixels([0, 0], [16385, 1]).is_err());
    assert!(RegionClip::new([1, 0], [0, 0]).is_err());
}

// --- Varyings ------------------------------------------------------------------------------------------

/// The table of a fragment shader, as words.
fn table_words(inputs: &Inputs<'_>) -> Vec<u32> {
    let table = Table::new(inputs).unwrap();
    let mut bytes = [0xff; coefficient::TABLE_SIZE];
    table.pack(&mut bytes).unwrap();
    assert_eq!(Table::unpack(&bytes, table.count()).as_ref(), Ok(&table));
    assert_eq!(Table::of_bindings(table.bindings()).as_ref(), Ok(&table));
    let words = bytes.chunks_exact(4);
    words
        .map(|word| u32::from_le_bytes(word.try_into().unwrap()))
        .take(1 + usize::from(table.count()))
        .collect()
}

const NO_INPUTS: Inputs<'_> = Inputs {
    scalars: &[],
    provoking: Provoking::First,
    primitive_id: false,
    fragment_z: false,
    point_coordinate: false,
};

/// The five kinds of bindings that 5.3 lists, with its numbers.
#[test]
fn bindings() {
    use Interpolation::{Flat, Linear, Smooth};
    let words = table_words(&Inputs {
        scalars: &[Smooth, Smooth, Smooth, Smooth, Smooth, Flat, Flat, Linear],
        provoking: Provoking::Last,
        primitive_id: true,
        fragment_z: true,
        point_coordinate: true,
    });
    // 1 + 8 scalars + depth + 2 coordinates + number.
    assert_eq!(words[0], 13 | 13 << 8);
    let user = |k: u32, shade: u32, base: u32| (k - 1) | shade << 2 | (base + 1) << 8 | base << 16;
    let expected = [
        0x0000_000c,
        user(4, 7, 1),
        user(1, 7, 5),
        user(2, 2, 6),
        user(1, 3, 8),
        0x60 | 9 << 16,
        0x12c | 10 << 16,
        0x4d | 11 << 16,
    ];
    assert_eq!(words[1..], expected);
    // 5.3's own constants.
    for constant in ["`0x0000000c`", "`0x60 | ", "`0x12c | ", "`0x4d | "] {
        assert!(section("5.3").contains(constant), "{constant}");
    }
    assert_eq!(table_words(&NO_INPUTS), [0x101, 0xc]);
}

/// Field codes of 5.3's table.
#[test]
fn binding_fields() {
    for row in rows("5.3", "bits") {
        let field = row[1];
        let (name, list) = field.split_once(": ").unwrap_or((field, ""));
        let listed: Vec<u64> = list
            .split(", ")
            .filter_map(|item| item.split(' ').next()?.parse().ok())
            .collect();
        match name {
            "shade model" => {
                let mut codes: Vec<_> = Shade::ALL.iter().map(|s| u64::from(s.code())).collect();
                // "3 linear (no perspective), 6 flat ..., 7 perspective" in the order of the list.
                codes.sort_unstable();
                assert_eq!(listed, codes);
            }
            "source" => {
                let codes: Vec<_> = Source::ALL.iter().map(|s| u64::from(s.code())).collect();
                assert_eq!(listed, codes);
            }
            _ => assert!(listed.is_empty()),
        }
    }
}

/// 5.2: "at most 131 user scalars (4 + 4 * (max + 4) <= 0x220)".
#[test]
fn limits_of_varyings() {
    let max = coefficient::MAX_SCALARS;
    assert_eq!(max, 131);
    assert_eq!(4 + 4 * (usize::from(max) + 4), coefficient::TABLE_SIZE);
    let smooth = [Interpolation::Smooth; 132];
    let table = |scalars| {
        Table::new(&Inputs {
            scalars,
            ..NO_INPUTS
        })
    };
    assert_eq!(table(&smooth[..131]).unwrap().count(), 1 + 33);
    assert!(table(&smooth).is_err());
    // Every scalar unlike the one before: the count's seven bits are the limit.
    let mixed: Vec<_> = [Interpolation::Smooth, Interpolation::Flat].repeat(64);
    assert_eq!(table(&mixed[..126]).unwrap().count(), 127);
    assert!(table(&mixed[..127]).is_err());
    assert!(VaryingCounts::all(131).words().is_ok());
    assert!(VaryingCounts::all(132).words().is_err());
    let split = VaryingCounts {
        smooth: 1,
        flat: 2,
        linear: 3,
    };
    assert_eq!(split.words().unwrap(), [0x1004_0000, 0x03_0201, 0, 0, 0]);
    // "max(user_scalars / 8, 1)".
    let resources = [0, 7, 8, 96, 131].map(Fragment::resources);
    assert_eq!(resources, [1, 1, 1, 12, 16]);
}

#[test]
fn refused_bindings() {
    let first = Binding::ONE_OVER_W;
    let user = Binding {
        components: 4,
        shade: Shade::Perspective,
        source: Source::Varying,
        slot: 1,
        register: 1,
    };
    let of = |second: Binding| Table::of_bindings(&[first, second]);
    assert!(of(user).is_ok());
    assert!(Table::of_bindings(&[]).is_err());
    assert!(Table::of_bindings(&[user]).is_err());
    assert!(
        of(Binding {
            components: 5,
            ..user
        })
        .is_err()
    );
    assert!(
        of(Binding {
            components: 0,
            ..user
        })
        .is_err()
    );
    assert!(
        of(Binding {
            register: 2,
            ..user
        })
        .is_err()
    );
    assert!(of(Binding { slot: 2, ..user }).is_err());
    let depth = Binding {
        components: 1,
        shade: Shade::Linear,
        source: Source::FragmentZ,
        slot: 1,
        register: 1,
    };
    assert!(of(depth).is_ok());
    assert!(of(Binding { slot: 0, ..depth }).is_err());
    assert!(
        of(Binding {
            shade: Shade::Perspective,
            ..depth
        })
        .is_err()
    );
    assert!(
        of(Binding {
            components: 2,
            ..depth
        })
        .is_err()
    );
    let too_many = [first; 128];
    assert!(Table::of_bindings(&too_many).is_err());
}

/// 5.1: the order of the words.
#[test]
fn vertex_outputs() {
    let layout = uvs::Layout {
        scalars: 5,
        point_size: true,
        layer_viewport: true,
        clip_distances: 3,
    };
    assert_eq!(layout.words(), Ok(14));
    assert_eq!((layout.scalar(0), layout.scalar(4)), (Some(4), Some(8)));
    assert_eq!(layout.scalar(5), None);
    assert_eq!(layout.point_size(), Some(9));
    assert_eq!(layout.layer_viewport(), Some(10));
    assert_eq!(
        (layout.clip_distance(0), layout.clip_distance(2)),
        (Some(11), Some(13))
    );
    assert_eq!(layout.clip_distance(3), None);
    assert_eq!(uvs::Layout::default().words(), Ok(4));
    let word = uvs::layer_viewport_word(7, 3);
    assert_eq!((word, uvs::layer_and_viewport(word)), (0x3_0007, (7, 3)));
    let piece = Outputs::new(&layout, true).unwrap();
    assert_eq!(piece.layout(), Some(layout));
    assert_eq!(piece.words().unwrap()[1..], [0x3c_0007 | 1 << 16, 0, 0, 14]);
    // The order of the groups in the text.
    let groups: Vec<_> = rows("5.1", "order").iter().map(|row| row[1]).collect();
    let starts = [
        "clip-space position",
        "user varyings",
        "point size",
        "layer/viewport",
        "clip distances",
    ];
    assert_eq!(groups.len(), starts.len());
    assert!(
        groups
            .iter()
            .zip(starts)
            .all(|(group, start)| group.starts_with(start))
    );
}

// --- Tile memory and submit -------------------------------------------------------------------------------

/// The formats of 8's table, by the words of a sample.
#[test]
fn words_of_attachments() {
    let cases = [
        (Format::R8Unorm, 1),
        (Format::R8G8B8A8Srgb, 1),
        (Format::B8G8R8A8Unorm, 1),
        (Format::R16Sfloat, 1),
        (Format::R16G16Uint, 1),
        (Format::R16G16B16A16Sfloat, 2),
        (Format::R16Unorm, 1),
        (Format::R16G16Snorm, 2),
        (Format::R16G16B16A16Unorm, 4),
        (Format::R32Uint, 1),
        (Format::R32G32Sfloat, 2),
        (Format::R32G32B32A32Sint, 4),
        (Format::R5G6B5UnormPack16, 2),
        (Format::A1R5G5B5UnormPack16, 2),
        (Format::A4R4G4B4UnormPack16, 2),
        (Format::A2B10G10R10UnormPack32, 1),
        (Format::A2R10G10B10UnormPack32, 1),
        (Format::B10G11R11UfloatPack32, 1),
        (Format::A2B10G10R10UintPack32, 2),
    ];
    for (format, words) in cases {
        let layout = tile::Layout::new(&[Some(format)], Samples::One).unwrap();
        assert_eq!(layout.bytes(), 4 * words, "{}", format.name());
    }
    // "8 x RGBA32F at one sample was verified"; none of the texture-only formats.
    let rgba32f = Some(Format::R32G32B32A32Sfloat);
    let layout = tile::Layout::new(&[rgba32f; 8], Samples::One).unwrap();
    assert_eq!(
        (layout.bytes(), layout.sample_size(), layout.blocks()),
        (128, 128, 64)
    );
    assert!(tile::Layout::new(&[rgba32f; 5], Samples::Two).is_err());
    assert!(tile::Layout::new(&[rgba32f; 9], Samples::One).is_err());
    assert!(tile::Layout::new(&[Some(Format::Bc1RgbUnormBlock)], Samples::One).is_err());
    assert!(tile::Layout::new(&[Some(Format::D16Unorm)], Samples::One).is_err());
}

#[test]
fn tile_layout() {
    let rgba8 = Some(Format::R8G8B8A8Unorm);
    let half = Some(Format::R16G16B16A16Sfloat);
    let formats = [None, rgba8, None, half, None];
    let layout = tile::Layout::new(&formats, Samples::Four).unwrap();
    let offsets: Vec<_> = layout
        .attachments()
        .iter()
        .map(|a| a.map(|a| a.offset))
        .collect();
    assert_eq!(offsets, [None, Some(4), None, Some(12)]);
    assert_eq!((layout.bytes(), layout.sample_size()), (20, 24));
    let storage = Storage::tile(Samples::Four, 20).unwrap();
    assert_eq!(layout.storage(), storage);
    assert_eq!(tile::size(Samples::Four), [32, 16]);
    assert_eq!(tile::size(Samples::Two), [32, 32]);
    let none = |samples| tile::Layout::new(&[], samples).unwrap().sample_size();
    assert_eq!((none(Samples::One), none(Samples::Two)), (0, 8));
    let none = tile::Layout::new(&[], Samples::Two).unwrap();
    assert_eq!(none.storage(), Storage::tile(Samples::Two, 8).unwrap());
}

/// What the UAPI chapter states of its own example, 14.2: four bytes of a sample.
#[test]
fn derived_values() {
    let pass = Pass {
        width: 64,
        height: 64,
        layers: 1,
        samples: Samples::One,
        sample_size: 4,
        process_empty_tiles: true,
        integer_depth_bias: false,
    };
    assert_eq!(pass.blocks(), 2);
    assert_eq!(pass.utile_config(), 0xa000);
    assert_eq!(pass.tile_config(), 0x1_0280);
    assert_eq!(pass.depth_bias_mode(), 0xc000);
    assert_eq!(pass.tiles(), [2, 2]);
    assert_eq!(pass.macro_tiles(), [4, 4]);
    assert_eq!(pass.list_sizes(), [20, 16, 32]);
    assert_eq!((pass.screen(), pass.pixels()), (0x1001, 0x3f_003f));
    assert_eq!((pass.macro_word(), pass.layer_word()), (0x4_0004, 0x8000));
    // Four samples: two utiles of a tile, and double blocks above 32.
    let pass = Pass {
        width: 1920,
        height: 1080,
        layers: 6,
        samples: Samples::Four,
        sample_size: 64,
        process_empty_tiles: false,
        integer_depth_bias: true,
    };
    assert_eq!(pass.blocks(), 64);
    assert_eq!(pass.tile_memory(), 8 << 16);
    assert_eq!(pass.utile_config(), 2 << 12 | 1 << 14 | 2);
    assert_eq!(pass.tile_config(), 0x281);
    assert_eq!(pass.tiles(), [60, 34]);
    assert_eq!(pass.macro_tiles(), [16, 12]);
    assert_eq!(pass.list_sizes(), [480, 192, 768]);
    assert_eq!(pass.macro_word(), 24 | 16 << 16);
    assert_eq!(pass.layer_word(), 0xe005);
    assert_eq!(pass.depth_bias_mode(), 0x4_c000);
    assert!(
        Pass {
            samples: Samples::Four,
            sample_size: 65,
            ..pass
        }
        .check()
        .is_err()
    );
    assert!(Pass { width: 0, ..pass }.check().is_err());
    assert!(
        Pass {
            height: 16385,
            ..pass
        }
        .check()
        .is_err()
    );
    assert!(
        Pass {
            layers: 2049,
            ..pass
        }
        .check()
        .is_err()
    );
    assert_eq!(pass::program(launcher_at(0x90_0740)), 0x90_0740);
    assert_eq!(
        pass::program_of(0x90_0740),
        Ok(Some(launcher_at(0x90_0740)))
    );
    assert_eq!(pass::program_of(0), Ok(None));
    assert!(pass::program_of(0x1_0004).is_err());
    assert_eq!(pass::background_bind(0, 0), 0);
    assert_eq!(pass::background_bind(0x40, 5), 0xffff_8000_0000_0005);
}

/// 7.4 and 7.5: the words of the arrays' entries.
#[test]
fn entries() {
    let scissor = Scissor::new([1, 2], [3, 4], [0.25, 0.75]).unwrap();
    let mut bytes = [0; scissor::ENTRY_SIZE];
    scissor.pack(&mut bytes).unwrap();
    let word = |at: usize| u32::from_le_bytes(bytes[4 * at..4 * at + 4].try_into().unwrap());
    for row in rows("7.4", "word") {
        let at = row[0].parse().unwrap();
        let expected = match row[2] {
            "max X / min X (pixels, max exclusive)" => 3 | 1 << 16,
            "max Y / min Y" => 4 | 2 << 16,
            "min Z (f32)" => 0.25f32.to_bits(),
            "max Z (f32)" => 0.75f32.to_bits(),
            other => panic!("{other}"),
        };
        assert_eq!(word(at), expected, "{row:?}");
    }
    // "f32 constant, f32 slope, f32 clamp".
    let bias = DepthBias {
        constant: 1.0,
        slope: 2.0,
        clamp: 3.0,
    };
    let mut bytes = [0; 12];
    bias.pack(&mut bytes).unwrap();
    assert_eq!(bytes[..], le(&[1.0f32, 2.0, 3.0].map(f32::to_bits)));
    assert!(section("7.5").contains("f32 constant, f32 slope, f32 clamp"));
}

/// 13's sample positions.
#[test]
fn sample_positions() {
    for row in rows("13.", "samples") {
        let samples = Samples::of_count(row[0].parse().unwrap()).unwrap();
        let positions = SamplePositions::standard(samples);
        assert_eq!(positions.pack(), hex(row[1]));
        assert_eq!(
            SamplePositions::unpack(samples, positions.pack()),
            Ok(positions)
        );
        let stated: Vec<_> = row[2]
            .split(['(', ')'])
            .filter_map(|pair| {
                let (x, y) = pair.split_once(',')?;
                Some([x.parse().ok()?, y.parse().ok()?])
            })
            .collect();
        assert_eq!(positions.get(), stated);
        assert_eq!(SamplePositions::new(&stated), Ok(positions));
    }
    assert!(SamplePositions::new(&[[16, 0]]).is_err());
    assert!(SamplePositions::new(&[[0, 0]; 3]).is_err());
    assert!(SamplePositions::unpack(Samples::One, 0x188).is_err());
}

/// 10's table of `zls_ctrl`: each bit that has a name.
#[test]
fn zls_control() {
    let value = |set: fn(&mut ZlsControl)| {
        let mut control = ZlsControl::default();
        set(&mut control);
        assert_eq!(ZlsControl::unpack(control.pack()), Ok(control));
        control.pack()
    };
    let mut checked = 0;
    for row in rows("10.", "bit") {
        for pair in row.chunks(2) {
            let [bits, field] = pair else {
                panic!("{row:?}")
            };
            let expected: Vec<(u64, u64)> = match *field {
                "Z load tiling (0 GPU-tiled, 1 twiddled)" => {
                    vec![(1, value(|c| c.depth.load_tiling = Tiling::Twiddled))]
                }
                "Z load compressed" => vec![(2, value(|c| c.depth.load_compressed = true))],
                "S load tiling" => vec![(3, value(|c| c.stencil.load_tiling = Tiling::Twiddled))],
                "S load compressed" => vec![(4, value(|c| c.stencil.load_compressed = true))],
                "Z store tiling" => vec![(5, value(|c| c.depth.store_tiling = Tiling::Twiddled))],
                "Z store compressed" => vec![(6, value(|c| c.depth.store_compressed = true))],
                "S store tiling / compressed" => vec![
                    (7, value(|c| c.stencil.store_tiling = Tiling::Twiddled)),
                    (8, value(|c| c.stencil.store_compressed = true)),
                ],
                "stencil load" => vec![(14, value(|c| c.stencil.load = true))],
                "Z load" => vec![(15, value(|c| c.depth.load = true))],
                "stencil store" => vec![(18, value(|c| c.stencil.store = true))],
                "Z store" => vec![(19, value(|c| c.depth.store = true))],
                "Z format: 0 = 32F, 2 = 16 unorm" => {
                    vec![(26, value(|c| c.format = DepthFormat::Unorm16))]
                }
                "Z resolve" => vec![(56, value(|c| c.depth.resolve = true))],
                "S resolve" => vec![(58, value(|c| c.stencil.resolve = true))],
                "unknown (0)" | "0" => continue,
                other => panic!("{other}"),
            };
            for (bit, value) in expected {
                assert_eq!(value, 1 << bit, "{field}");
                assert!(bits.contains(&bit.to_string()), "{field}");
                checked += 1;
            }
        }
    }
    assert_eq!(checked, 15);
    for bit in [0, 9, 16, 20, 25, 57, 63] {
        assert!(ZlsControl::unpack(1 << bit).is_err(), "{bit}");
    }
    assert_eq!(Surface::default(), ZlsControl::default().depth);
}

#[test]
fn zls_values() {
    assert_eq!(pass::layer_stride(0x4000), Ok(1));
    assert_eq!(pass::layer_stride(0xc000), Ok(2 << 14 | 1));
    assert_eq!(pass::layer_stride_of(2 << 14 | 1), Ok(0xc000));
    assert_eq!(pass::compression_stride(0x100), Ok(1 << 14));
    assert_eq!(pass::compression_stride_of(0), Ok(0x80));
    for bytes in [0, 0x2000, 0x4001, 0x1_0000_4000] {
        assert!(pass::layer_stride(bytes).is_err(), "{bytes:#x}");
    }
    assert!(pass::layer_stride_of(0).is_err());
    assert!(pass::compression_stride_of(1).is_err());
    assert_eq!(pass::pixels(64, 3), Ok(63 | 2 << 15));
    assert_eq!(pass::pixels_of(63 | 2 << 15), Ok([64, 3]));
    assert!(pass::pixels(0, 3).is_err());
    assert!(pass::pixels_of(1 << 30).is_err());
    assert_eq!(pass::clear_depth(DepthFormat::Float32, 1.0), 0x3f80_0000);
    assert_eq!(pass::clear_depth(DepthFormat::Unorm16, 1.0), 0xffff);
    assert_eq!(pass::clear_depth(DepthFormat::Unorm16, f32::NAN), 0);
    assert_eq!(pass::clear_stencil(0xa5), 0x3a5);
    assert_eq!(pass::stencil_of(0x3a5), Ok(0xa5));
    assert!(pass::stencil_of(0x400).is_err());
    assert_eq!(PppControl::unpack(0x202), Ok(PppControl::default()));
    assert!(PppControl::unpack(4).is_err());
    // "0x3cddb3d9" for 64 pixels.
    assert_eq!(pass::merge_upper(64), 0x3cdd_b3d9);
}

/// 4.4's allocations: "Verified values of B".
#[test]
fn allocations() {
    let text = section("4.4");
    let start = text.find("Verified values of B: ").unwrap() + 22;
    let list = text[start..].split(". ").next().unwrap();
    let entry = BlockOffset::FIRST.entry();
    let mut checked = 0;
    for item in list.split(", (").map(|item| item.trim_start_matches('(')) {
        let (inputs, value) = item.split_once(")=").unwrap();
        let (samples, bytes) = inputs.split_once(',').unwrap();
        let samples = Samples::of_count(samples.parse().unwrap()).unwrap();
        let bytes = bytes.trim_end_matches(" B").parse().unwrap();
        let frame = Frame::default();
        let launcher = Launcher::fragment(0x1000, entry, frame, samples, bytes).unwrap();
        let code = launcher.to_vec(launcher_at(0)).unwrap();
        let value = match value.strip_prefix("0x") {
            Some(digits) => u8::from_str_radix(digits, 16).unwrap(),
            None => value.parse().unwrap(),
        };
        assert_eq!(code[58 + 3], value, "{item}");
        checked += 1;
    }
    assert_eq!(checked, 7);
}

/// 4.4's table of places: offsets in a launcher with and without a preamble.
#[test]
fn launcher_places() {
    let entry = BlockOffset::FIRST.entry();
    let mut launcher = Launcher::vertex(0x1000, entry, Frame::default());
    assert_eq!(launcher.size(), Ok(138));
    launcher.preamble = Some(code(0x80_0000));
    let bytes = launcher.to_vec(launcher_at(0x90_0000)).unwrap();
    assert_eq!(bytes.len(), 148);
    let stop = [0x0e, 0, 0, 0];
    let starts = [
        (16, 0x67),
        (30, 0x67),
        (44, 0x67),
        (58, 0x77),
        (66, 0x77),
        (76, 0xf7),
        (134, 0x0f),
    ];
    for (at, byte) in starts {
        assert_eq!(bytes[at], byte, "{at}");
        assert!(section("4.4").contains(&format!("| {at} |")) || at == 134);
    }
    assert_eq!(bytes[144..], stop);
    assert_eq!(launcher.first_free_word(), 12);
}
