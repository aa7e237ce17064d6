// SPDX-License-Identifier: MIT
//! The worked example of graphics, 15, read from its text.

mod graphics;

use agx_hw::arena::{Block, BlockOffset, Kind as BlockKind, Target};
use agx_hw::coefficient::{self, Inputs, Interpolation, Table};
use agx_hw::format::{Format, StoreFrom};
use agx_hw::launcher::{Frame, Launcher, Samples};
use agx_hw::pass::{self, Pass, PppControl, SamplePositions, ZlsControl};
use agx_hw::ppp;
use agx_hw::root::{Graphics, RECORD_SIZE as ROOT_SIZE};
use agx_hw::sampler::{SLOT_SIZE as SAMPLER_SLOT, Sampler};
use agx_hw::scissor::{ENTRY_SIZE, Scissor};
use agx_hw::store::{self, Store};
use agx_hw::texture::{self, Texture};
use agx_hw::tile;
use agx_hw::vdm::{
    Barrier, Draw, Draws, IndexSize, Indices as IndexBuffer, Primitive, Provoking, Record,
    Template, VdmStream, VertexState, Vertices, Walker, records,
};
use agx_hw::window::LauncherAddress;
use graphics::*;

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

// --- The worked example ------------------------------------------------------------------------------

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

/// The submit of the example, and what the kernel makes of it (11.2, 15).
#[test]
fn submit_of_the_example() {
    let text = example("Submit fields");
    let pass = Pass {
        width: 64,
        height: 64,
        layers: 1,
        samples: Samples::One,
        sample_size: tile::Layout::new(&[Some(Format::R8G8B8A8Unorm)], Samples::One)
            .unwrap()
            .sample_size(),
        process_empty_tiles: true,
        integer_depth_bias: false,
    };
    assert!(pass.check().is_ok());
    let stated = |name: &str, value: u64| {
        let start = text.find(name).unwrap_or_else(|| panic!("{name}")) + name.len();
        let number = text[start..].trim_start_matches([' ', '=']);
        let number: String = number
            .chars()
            .take_while(char::is_ascii_alphanumeric)
            .collect();
        let number = match number.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16).unwrap(),
            None => number.parse().unwrap(),
        };
        assert_eq!(value, number, "{name}");
    };
    stated("sample_size_B", pass.sample_size.into());
    stated("tib_blocks", pass.blocks().into());
    stated("utile_config", pass.utile_config().into());
    stated(" tile_config", pass.tile_config().into());
    stated("isp_merge_upper_y", pass::merge_upper(64).into());
    stated("ppp_ctrl", PppControl::default().pack().into());
    let positions = SamplePositions::standard(Samples::One);
    stated("ppp_multisamplectl", positions.pack());
    stated("isp_bgobjvals", pass::clear_stencil(0).into());
    stated("zls_ctrl", ZlsControl::default().pack());
    assert_eq!(pass.tile_memory(), 4);
}
