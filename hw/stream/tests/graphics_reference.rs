// SPDX-License-Identifier: MIT
//! The worked example of graphics, 15, and the tables of graphics-stream, read from its text.

use agx_hw::arena::{Block, BlockOffset, Kind as BlockKind, Target};
use agx_hw::coefficient::{self, Inputs, Interpolation, Table};
use agx_hw::format::{Format, StoreFrom};
use agx_hw::launcher::{Frame, Launcher, Samples};
use agx_hw::ppp::{
    self, Compare, Cull, Face, Face2, Fragment, FragmentControl, FragmentControl2, Indices, Kind,
    ObjectType, Outputs, PassType, Piece, RegionClip, Stencil, StencilOp, VaryingCounts, Viewport,
    Viewports, Visibility, WClamp,
};
use agx_hw::root::{Graphics, RECORD_SIZE as ROOT_SIZE};
use agx_hw::sampler::{SLOT_SIZE as SAMPLER_SLOT, Sampler};
use agx_hw::scissor::{ENTRY_SIZE, Scissor};
use agx_hw::store::{self, Store};
use agx_hw::texture::{self, Texture};
use agx_hw::vdm::{
    Barrier, Draw, DrawArguments, Draws, IndexSize, IndexedDrawArguments, Indices as IndexBuffer,
    IndirectAddress, Link, Primitive, Provoking, Record, Template, Update, VdmStream, VertexState,
    Vertices, Walker, records,
};
use agx_hw::window::{CodeAddress, ContextAddress, LauncherAddress};

const REFERENCE: &str = include_str!("../../../docs/hw/graphics-stream.md");

const RECORD: u32 = 0x400_0000;
const STREAM: u32 = 0x401_0000;

/// The text of a section, its heading's number given.
fn section(number: &str) -> &'static str {
    let heading = format!("# {number} ");
    let start = REFERENCE
        .find(&format!("\n##{heading}"))
        .or_else(|| REFERENCE.find(&format!("\n#{heading}")))
        .unwrap_or_else(|| panic!("no section {number}"));
    let text = &REFERENCE[start + 1..];
    text.find("\n#").map_or(text, |end| &text[..end])
}

/// The cells of a section's table rows, the heading left out. `heading` is the first cell of the table.
fn rows(number: &str, heading: &str) -> Vec<Vec<&'static str>> {
    let text = section(number);
    let start = text
        .find(&format!("| {heading} |"))
        .unwrap_or_else(|| panic!("{number} has no table {heading}"));
    let rows: Vec<Vec<_>> = text[start..]
        .lines()
        .map(str::trim_start)
        .take_while(|line| line.starts_with('|'))
        .map(|line| {
            let cells = line.trim_matches('|').split('|');
            cells.map(str::trim).collect()
        })
        .collect();
    assert!(rows.len() > 2, "{number} {heading} is empty");
    rows[2..].to_vec()
}

fn hex(text: &str) -> u64 {
    let digits = text.trim_matches('`').trim_start_matches("0x");
    u64::from_str_radix(digits, 16).unwrap_or_else(|_| panic!("{text}"))
}

/// The text of the example behind a bold title.
fn example(title: &str) -> &'static str {
    let text = section("15.");
    let start = text
        .find(&format!("**{title}**"))
        .unwrap_or_else(|| panic!("no {title}"));
    &text[start..]
}

/// The first listing behind a title.
fn listing(title: &str) -> &'static str {
    let text = example(title);
    let start = text.find("```\n").unwrap() + 4;
    let end = text[start..].find("```").unwrap();
    &text[start..start + end]
}

/// Numbers of so many digits that begin a text.
fn numbers(text: &str, digits: usize) -> Vec<u32> {
    text.split_whitespace()
        .map_while(|word| {
            (word.len() == digits)
                .then(|| u32::from_str_radix(word, 16).ok())
                .flatten()
        })
        .collect()
}

/// The lines `+offset numbers comment` of a listing; continuation lines have no numbers.
fn lines(title: &str, digits: usize) -> Vec<(usize, Vec<u32>)> {
    let lines: Vec<_> = listing(title)
        .lines()
        .filter_map(|line| {
            let (offset, rest) = line.strip_prefix('+')?.split_once(' ')?;
            let offset = usize::from_str_radix(offset, 16).ok()?;
            Some((offset, numbers(rest, digits)))
        })
        .collect();
    assert!(!lines.is_empty(), "{title}");
    lines
}

/// The bytes that a listing of words states, without gaps.
fn words(title: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (offset, words) in lines(title, 8) {
        assert_eq!(offset, bytes.len(), "{title}");
        bytes.extend(words.into_iter().flat_map(u32::to_le_bytes));
    }
    bytes
}

/// The 8-digit words in a piece of text, as bytes.
fn inline_words(text: &str) -> Vec<u8> {
    numbers(text, 8)
        .into_iter()
        .flat_map(u32::to_le_bytes)
        .collect()
}

fn le(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn code(offset: u32) -> CodeAddress {
    CodeAddress::from_offset(offset)
}

fn launcher_at(offset: u32) -> LauncherAddress {
    LauncherAddress::new(code(offset)).unwrap()
}

fn context(offset: u32) -> ContextAddress {
    ContextAddress::from_offset(offset).unwrap()
}

fn pack(record: Record) -> Vec<u8> {
    let mut bytes = [0; Record::MAX_SIZE];
    let size = record.pack(&mut bytes).unwrap();
    assert_eq!(Record::unpack(&bytes), Ok((record, size)));
    bytes[..size].to_vec()
}

fn header(record: Record) -> u32 {
    u32::from_le_bytes(pack(record)[..4].try_into().unwrap())
}

// --- The worked example ------------------------------------------------------------------------------

fn example_record() -> ppp::Record {
    ppp::Record {
        varyings: VaryingCounts::all(4),
        fragment: Fragment {
            bindings: 2,
            table: code(0x90_0400),
            launcher: launcher_at(0x90_0300),
            resources: Fragment::resources(4),
        },
        outputs: Outputs {
            words: 8,
            ..Outputs::default()
        },
        control: FragmentControl::default(),
        control2: FragmentControl2::default(),
        viewports: Viewports::one(Viewport::new(
            [0.0; 2],
            [64.0; 2],
            [0.0, 1.0],
            RegionClip::of_pixels([0; 2], [64; 2]).unwrap(),
        )),
        w_clamp: WClamp::default(),
        cull: Cull {
            front_counter_clockwise: true,
            ..Cull::default()
        },
        indices: Indices::default(),
    }
}

fn example_vertex() -> VertexState {
    VertexState {
        launcher: launcher_at(0x90_0100),
        outputs: 8,
        provoking: Provoking::First,
        primitive_id: false,
    }
}

const TRIANGLE: Draw = Draw {
    primitive: Primitive::Triangles,
    vertices: Vertices::Direct {
        first: 0,
        count: 3,
        instances: 1,
    },
};

#[test]
fn ppp_record() {
    let record = example_record();
    let mut bytes = [0xff; ppp::RECORD_SIZE];
    record.pack(&mut bytes).unwrap();
    assert_eq!(bytes[..], words("PPP record"));
    assert_eq!(ppp::Record::unpack(&bytes), Ok(record.clone()));
    let mut written = [0xff; ppp::RECORD_SIZE];
    let template = ppp::Template::new(&record).unwrap();
    template.write(&mut written).unwrap();
    assert_eq!(written, bytes);
}

#[test]
fn vdm_stream() {
    let expected = words("VDM stream");
    assert_eq!(expected.len(), 0x7c);
    let mut memory = [0; 0x100];
    let mut stream = VdmStream::new(&mut memory, context(STREAM)).unwrap();
    stream.barrier().unwrap();
    stream.vertex(example_vertex()).unwrap();
    for update in ppp::Record::updates(context(RECORD)).unwrap() {
        stream.update(update).unwrap();
    }
    stream.draw(TRIANGLE).unwrap();
    assert_eq!(stream.terminate(), Ok(0x10_0401_007c));
    assert_eq!(memory[..0x7c], expected);
    // The same from a template.
    let mut again = [0; 0x7c];
    let template = Template::new(&VertexState {
        launcher: launcher_at(0),
        ..example_vertex()
    })
    .unwrap();
    let mut stream = VdmStream::new(&mut again, context(STREAM)).unwrap();
    stream.barrier().unwrap();
    stream
        .state(&template, launcher_at(0x90_0100), context(RECORD))
        .unwrap();
    stream.draw(TRIANGLE).unwrap();
    stream.terminate().unwrap();
    assert_eq!(again[..], expected);
    // And back: 1 barrier, 1 vertex state, 9 updates, 1 draw, 1 terminator.
    let read: Vec<_> = records(&expected).map(Result::unwrap).collect();
    assert_eq!(read.len(), 13);
    assert_eq!(read[0], (0, Record::Barrier(Barrier::START)));
    assert_eq!(read[1], (4, Record::Vertex(example_vertex())));
    assert_eq!(read[11], (0x68, Record::Draw(TRIANGLE)));
    assert_eq!(read[12], (0x78, Record::Terminate));
}

/// The example in memory, walked as hardware does.
#[test]
fn draws_of_the_example() {
    let (stream, record) = (words("VDM stream"), words("PPP record"));
    let read = |address: u64, out: &mut [u8]| {
        let parts = [(STREAM, &stream), (RECORD, &record)];
        parts.into_iter().any(|(base, bytes)| {
            let start = address.wrapping_sub(context(base).address()) as usize;
            let part = bytes.get(start..start.saturating_add(out.len()));
            part.is_some_and(|part| {
                out.copy_from_slice(part);
                true
            })
        })
    };
    let mut draws = Draws::new(context(STREAM), read);
    let call = draws.next_draw().unwrap().unwrap();
    assert_eq!(call.address, context(STREAM + 0x68));
    assert_eq!(call.draw, TRIANGLE);
    assert_eq!(call.state.vertex, Some(example_vertex()));
    assert_eq!(call.state.ppp.missing(), None);
    assert_eq!(call.state.ppp.record(), Some(example_record()));
    assert!(draws.next_draw().unwrap().is_none());
    assert!(draws.next_draw().unwrap().is_none());
    assert_eq!(Walker::new(context(STREAM), read).count(), 13);
}

#[test]
fn indexed_variant() {
    let text = example("VDM stream");
    let start = text.find("`40000001").unwrap() + 1;
    let expected = inline_words(text[start..].split('`').next().unwrap());
    let indices = IndexBuffer::new(code(0x100_0006), IndexSize::U16, false, 12).unwrap();
    let draw = Draw {
        primitive: Primitive::Triangles,
        vertices: Vertices::Indexed {
            indices,
            base: 0,
            count: 6,
            instances: 1,
        },
    };
    let mut memory = [0; 0x40];
    let mut stream = VdmStream::new(&mut memory, context(STREAM)).unwrap();
    stream.draw(draw).unwrap();
    let size = stream.size() + 4;
    stream.terminate().unwrap();
    assert_eq!(memory[..size], expected);
    // Whole words: two bytes more than the indices.
    assert_eq!(indices.readable(), 14);
    let of_draw = |left| IndexBuffer::of_draw(code(0x100_0006), IndexSize::U16, false, left, 6);
    assert_eq!(of_draw(1000), Ok(indices));
    assert_eq!(of_draw(4).unwrap().readable(), 6);
}

#[test]
fn coefficient_table() {
    let text = example("CF table");
    let start = text.find(": `").unwrap() + 3;
    let mut expected = inline_words(text[start..].split('`').next().unwrap());
    assert_eq!(expected.len(), 12);
    expected.resize(coefficient::TABLE_SIZE, 0);
    let table = Table::new(&Inputs {
        scalars: &[Interpolation::Smooth; 4],
        provoking: Provoking::First,
        primitive_id: false,
        fragment_z: false,
        point_coordinate: false,
    })
    .unwrap();
    let mut bytes = [0xff; coefficient::TABLE_SIZE];
    table.pack(&mut bytes).unwrap();
    assert_eq!(bytes[..], expected);
    assert_eq!((table.count(), table.registers()), (2, 5));
    assert_eq!(Table::unpack(&bytes, 2), Ok(table));
}

#[test]
fn scissor_entry() {
    let text = example("Scissor[0]");
    let start = text.find(": `").unwrap() + 3;
    let expected = inline_words(text[start..].split('`').next().unwrap());
    let scissor = Scissor::new([0; 2], [64; 2], [0.0, 1.0]).unwrap();
    let mut bytes = [0; ENTRY_SIZE];
    scissor.pack(&mut bytes).unwrap();
    assert_eq!(bytes[..], expected);
    assert_eq!(Scissor::unpack(&bytes), Ok(scissor));
}

/// The words quoted behind the address of a slot.
fn slot(title: &str) -> Vec<u8> {
    let text = example(title);
    // Behind the title and the address.
    let at = text
        .match_indices('`')
        .map(|(at, _)| at)
        .find(|&at| numbers(&text[at + 1..], 8).len() > 1 || text[at + 1..].starts_with("080e"))
        .unwrap();
    inline_words(text[at + 1..].split('`').next().unwrap())
}

#[test]
fn descriptors() {
    let address = 0x20_0010_0000;
    let format = Format::R8G8B8A8Unorm;
    let dimension = store::Dimension::D2;
    let store = Store::tiled(format, StoreFrom::Tile, dimension, 64, 64, address).unwrap();
    let mut bytes = [0; store::RECORD_SIZE];
    store.pack(&mut bytes).unwrap();
    assert_eq!(bytes[..], slot("EOT image slot"));

    let texture = Texture::tiled(format, texture::Dimension::D2, 64, 64, address);
    texture.pack(&mut bytes).unwrap();
    assert_eq!(bytes[..], slot("Reload texture slot"));

    let mut bytes = [0; SAMPLER_SLOT];
    Sampler::fetch().pack(&mut bytes).unwrap();
    let expected = slot("reload sampler slot");
    assert_eq!(bytes[..expected.len()], expected);
    assert!(bytes[expected.len()..].iter().all(|byte| *byte == 0));
}

// --- Programs of the example ---------------------------------------------------------------------------

/// Name in the listing of entries, block, body, root record, launcher, publications.
const STAGES: [(&str, u32, u32, u32, u32, u16); 5] = [
    ("vertex", 0x340, 0x80_0000, 0x90_0000, 0x90_0100, 8),
    ("fragment", 0x400, 0x80_4000, 0x90_0200, 0x90_0300, 0),
    ("bg", 0x4c0, 0x80_8000, 0x90_0640, 0x90_0740, 0),
    ("eot", 0x580, 0x80_c000, 0x90_0840, 0x90_0940, 4),
    ("reload", 0x640, 0x81_0000, 0x90_0a40, 0x90_0b40, 4),
];

#[test]
fn entry_code() {
    let text = listing("Entry code");
    for (name, block, body, ..) in STAGES {
        let line = text.lines().find(|line| line.starts_with(name)).unwrap();
        let expected: Vec<_> = numbers(&line[name.len()..], 2)
            .into_iter()
            .map(|byte| byte as u8)
            .collect();
        assert_eq!(expected.len(), 14, "{name}");
        let at = BlockOffset::new(block).unwrap();
        let block = Block {
            kind: BlockKind::Graphics,
            target: Target::Jump(code(body)),
        };
        let mut bytes = [0xff; 0xc0];
        assert_eq!(block.pack(at, &mut bytes), Ok(0xc0));
        assert_eq!(bytes[0x80..0x8e], expected, "{name}");
        assert_eq!(bytes[..4], [0xc0, 0, 0, 0]);
        assert!(bytes[4..0x80].iter().all(|byte| *byte == 0));
    }
}

/// The launcher of a stage as the example describes it.
fn stage_launcher(index: usize) -> (LauncherAddress, Launcher) {
    let (_, block, _, roots, at, publications) = STAGES[index];
    let entry = BlockOffset::new(block).unwrap().entry();
    let frame = Frame::new(publications, 0, 0).unwrap();
    let roots = code(roots).address();
    let launcher = if index == 0 {
        Launcher::vertex(roots, entry, frame)
    } else {
        Launcher::fragment(roots, entry, frame, Samples::One, 4).unwrap()
    };
    (launcher_at(at), launcher)
}

#[test]
fn launchers() {
    let mut written = Vec::new();
    for index in 0..STAGES.len() {
        let (at, launcher) = stage_launcher(index);
        let mut bytes = [0xff; agx_hw::launcher::GRAPHICS_SLOT_SIZE];
        assert_eq!(launcher.pack(at, &mut bytes), Ok(138));
        assert_eq!(Launcher::unpack(at, &bytes), Ok((launcher.clone(), 138)));
        assert_eq!(launcher.entry_field_offset(), Ok(68));
        written.push(bytes);
    }
    let check = |index: usize, offset: usize, expected: Vec<u32>| {
        let expected: Vec<_> = expected.into_iter().map(|byte| byte as u8).collect();
        assert!(!expected.is_empty());
        let got = &written[index][offset..offset + expected.len()];
        assert_eq!(got, expected, "{} {offset:#x}", STAGES[index].0);
    };
    for (offset, bytes) in lines("Vertex launch", 2) {
        check(0, offset, bytes);
    }
    for (offset, bytes) in lines("Fragment launch", 2) {
        check(1, offset, bytes);
    }
    // The others are quoted in running text.
    for (index, title) in [
        (2, "Background launch"),
        (3, "EOT launch"),
        (4, "Reload launch"),
    ] {
        let text = example(title).split("\n\n").next().unwrap();
        let mut quoted = 0;
        for part in text.split('`') {
            if let Some((offset, bytes)) = part.strip_prefix('+').and_then(|p| p.split_once(' ')) {
                let offset = usize::from_str_radix(offset, 16).unwrap();
                check(index, offset, numbers(bytes, 2));
                quoted += 1;
            }
        }
        assert!(quoted >= 2, "{title}");
        // "As fragment": the allocation.
        assert_eq!(written[index][0x3a..0x42], written[1][0x3a..0x42]);
    }
    assert_eq!(written[2][0x4c..0x56], written[1][0x4c..0x56]);
    assert_eq!(written[4][0x4c..0x56], written[3][0x4c..0x56]);
}

#[test]
fn root_tables() {
    for (graphics, stated) in [
        ((0, 0, 0x20_0002_0000), "vertex +0x10 = `0x2000020000`"),
        ((0x20_0003_0000, 0, 0), "EOT +0x00 = `0x2000030000`"),
        (
            (0x20_0005_0000, 0x20_0006_0000, 0),
            "`0x2000050000`, +0x08 = `0x2000060000`",
        ),
    ] {
        let text = example("Root tables");
        assert!(
            text.split("\n\n").next().unwrap().contains(stated),
            "{stated}"
        );
        let (textures, samplers, buffers) = graphics;
        let root = Graphics {
            textures,
            samplers,
            buffers,
        };
        let mut bytes = [0xff; ROOT_SIZE];
        root.pack(&mut bytes).unwrap();
        let qword = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
        assert_eq!((qword(0), qword(8), qword(16)), graphics);
        assert!(bytes[24..].iter().all(|byte| *byte == 0));
    }
}

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
