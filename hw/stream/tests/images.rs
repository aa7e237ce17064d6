// SPDX-License-Identifier: MIT
//! Tables and worked examples of images-and-descriptors, read from its text: all of 13, the format table
//! 5.2 and the code tables of 2 to 5.

use std::collections::BTreeSet;

use agx_hw::format::{
    Attachment, Channels, Element, Encoding, Format, Numeric, Source, StoreFrom, StoreSwizzle,
    Swizzle, TileWord,
};
use agx_hw::layout::{Image, Memory, Position, Samples, Stack, Tiled, Usage};
use agx_hw::sampler::{
    Anisotropy, Border, Compare, Filter, LodRange, MipFilter, SLOT_SIZE, Sampler, Wrap,
};
use agx_hw::store::{self, Store};
use agx_hw::texture::{self, Dimension, Levels, Multisample, RECORD_SIZE, Texture};

const REFERENCE: &str = include_str!("../../../docs/hw/images-and-descriptors.md");

/// The text of a section, its heading's number given.
fn section(number: &str) -> &'static str {
    let start = REFERENCE
        .find(&format!("\n### {number} "))
        .unwrap_or_else(|| panic!("no section {number}"));
    let text = &REFERENCE[start + 1..];
    text.find("\n#").map_or(text, |end| &text[..end])
}

/// The cells of a section's table rows, headings left out.
fn rows(number: &str) -> Vec<Vec<&'static str>> {
    let rows: Vec<_> = section(number)
        .lines()
        .filter(|line| line.starts_with('|'))
        .map(|line| {
            let cells = line.trim_matches('|').split('|');
            cells.map(str::trim).collect::<Vec<_>>()
        })
        .collect();
    let rule = rows
        .iter()
        .position(|row| row[0].starts_with("---"))
        .unwrap_or_else(|| panic!("{number} has no table"));
    assert!(rows.len() > rule + 1, "{number} is empty");
    rows[rule + 1..].to_vec()
}

/// Numbers in a text, decimal or `0x`.
fn numbers(text: &str) -> Vec<u64> {
    text.split(|c: char| !c.is_ascii_alphanumeric())
        .filter_map(|word| match word.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16).ok(),
            None => word.parse().ok(),
        })
        .collect()
}

fn number(text: &str) -> u64 {
    let all = numbers(text);
    assert_eq!(all.len(), 1, "{text}");
    all[0]
}

fn pair(text: &str) -> (u32, u32) {
    // `A×B` or `(a,b)`.
    let all = numbers(text);
    assert_eq!(all.len(), 2, "{text}");
    (all[0] as u32, all[1] as u32)
}

fn hex(bytes: &[u8]) -> String {
    let words: Vec<_> = bytes.iter().map(|b| format!("{b:02x}")).collect();
    words.join(" ")
}

// --- Formats ---------------------------------------------------------------------------------------

/// The names that a cell of the format table stands for.
fn names(cell: &str) -> Vec<String> {
    let name = cell.trim_matches('`');
    let name = name.split(" (").next().unwrap();
    if let Some((start, end)) = name.split_once("UNORM/SRGB") {
        return ["UNORM", "SRGB"]
            .map(|kind| format!("{start}{kind}{end}"))
            .to_vec();
    }
    let Some((start, end)) = name.split_once('*') else {
        return vec![name.to_owned()];
    };
    let kinds = match start {
        "A8B8G8R8_" => "UNORM SNORM UINT SINT SRGB",
        "ASTC_" => "4x4 5x4 5x5 6x5 6x6 8x5 8x6 8x8 10x5 10x6 10x8 10x10 12x10 12x12",
        other => panic!("{other}"),
    };
    let kinds = kinds.split(' ');
    kinds.map(|kind| format!("{start}{kind}{end}")).collect()
}

fn numeric(text: &str) -> Numeric {
    match text {
        "UNORM" => Numeric::Unorm,
        "SNORM" => Numeric::Snorm,
        "UINT" => Numeric::Uint,
        "SINT" => Numeric::Sint,
        "FLOAT" => Numeric::Float,
        other => panic!("{other}"),
    }
}

fn swizzle_text(swizzle: Swizzle) -> String {
    let letters = swizzle.0.map(|source| match source {
        Source::R => "R",
        Source::G => "G",
        Source::B => "B",
        Source::A => "A",
        Source::One => "1",
        Source::Zero => "0",
    });
    letters.join(",")
}

fn check_format_row(format: Format, row: &[&str]) {
    let name = format.name();
    let [
        _,
        channels,
        kind,
        srgb,
        swizzle,
        bytes,
        size,
        filter,
        attachment,
        blend,
        pbe,
        evidence,
    ] = row
    else {
        panic!("{name}: {} cells", row.len());
    };
    let encoding = format.encoding();
    if channels.starts_with("ASTC (same codes)") {
        assert_eq!(numbers(channels), [0x60, 0x6d]);
        assert_eq!(encoding.numeric(), Numeric::Float);
        let ldr = Format::from_name(&name.replace("SFLOAT", "UNORM")).unwrap();
        assert_eq!(encoding.channels(), ldr.encoding().channels(), "{name}");
    } else {
        let code = channels.rsplit(' ').next().unwrap();
        assert_eq!(
            u64::from(encoding.channels().code()),
            number(code),
            "{name}"
        );
    }
    // The alias rows say "as the base".
    let base = Format::from_name(&name.replace("A8B8G8R8", "R8G8B8A8").replace("_PACK32", ""));
    if *kind == "as R8G8B8A8" {
        let base = base.unwrap();
        assert_eq!(*attachment, "as");
        assert_eq!(*bytes, "as base");
        assert_eq!(encoding, base.encoding(), "{name}");
        assert_eq!(format.is_srgb(), base.is_srgb(), "{name}");
        assert_eq!(format.attachment(), base.attachment(), "{name}");
        assert_eq!(format.filters(), base.filters(), "{name}");
        assert_eq!(format.blends(), base.blends(), "{name}");
    } else {
        assert_eq!(encoding.numeric(), numeric(kind), "{name}");
        let is_srgb = match *srgb {
            "0" => false,
            "1" => true,
            "0 / 1" => name.contains("SRGB"),
            other => panic!("{other}"),
        };
        assert_eq!(format.is_srgb(), is_srgb, "{name}");
        assert_eq!(format.filters(), *filter == "y", "{name}");
        let expected = match *attachment {
            "H" => Attachment::Proven,
            "i" => Attachment::Unproven,
            "?" => Attachment::Doubtful,
            "ds" => Attachment::DepthStencil,
            "-" => Attachment::No,
            other => panic!("{other}"),
        };
        assert_eq!(format.attachment(), expected, "{name}");
        // RGB9E5 is doubtful there too.
        if *blend != "?" {
            assert_eq!(format.blends(), *blend == "y", "{name}");
        }
    }
    let (text, code) = swizzle.split_once(" = ").unwrap();
    assert_eq!(swizzle_text(format.swizzle()), text, "{name}");
    assert_eq!(u64::from(format.swizzle().code()), number(code), "{name}");
    assert_eq!(u64::from(format.element().bytes), number(size), "{name}");
    if bytes.len() == 5 {
        let mut record = [0; RECORD_SIZE];
        Texture::tiled(format, Dimension::D2, 16, 16, 0)
            .pack(&mut record)
            .unwrap();
        assert_eq!(hex(&record[..2]), *bytes, "{name}");
    }
    let tile = format.store_swizzle(StoreFrom::Tile);
    let shader = format.store_swizzle(StoreFrom::Shader);
    match pbe.strip_suffix('*') {
        Some(code) => {
            assert_eq!(u64::from(tile.unwrap().0), number(code), "{name}");
            // The sentence behind the table.
            let expected = match name {
                "A2R10G10B10_UNORM_PACK32" => 0xc6,
                "B10G11R11_UFLOAT_PACK32" => 0x24,
                other => panic!("{other}"),
            };
            assert!(section("5.2").contains("0xc6 for A2R10G10B10, 0x24 for B10G11R11"));
            assert_eq!(shader, Some(StoreSwizzle(expected)), "{name}");
        }
        None if *pbe == "n/a" => assert_eq!((tile, shader), (None, None), "{name}"),
        None => {
            assert_eq!(u64::from(tile.unwrap().0), number(pbe), "{name}");
            assert_eq!(tile, shader, "{name}");
        }
    }
    match *evidence {
        "H" => assert!(format.is_measured(), "{name}"),
        "I" => assert!(!format.is_measured(), "{name}"),
        other => panic!("{other}"),
    }
}

#[test]
fn format_table() {
    let mut seen = BTreeSet::new();
    for row in rows("5.2") {
        for name in names(row[0]) {
            let format = Format::from_name(&name).unwrap_or_else(|| panic!("no {name}"));
            check_format_row(format, &row);
            assert!(seen.insert(format), "{name} twice");
        }
    }
    assert_eq!(seen, Format::ALL.iter().copied().collect());
    assert_eq!(seen.len(), 134);
}

/// Blocks have the size that their name says.
#[test]
fn block_sizes() {
    for format in Format::ALL {
        let element = format.element();
        match format.name().strip_prefix("ASTC_") {
            Some(rest) => {
                let (width, height) =
                    pair(rest.split('_').next().unwrap().replace('x', " ").as_str());
                assert_eq!(
                    (element.width.into(), element.height.into()),
                    (width, height)
                );
            }
            None if format.name().ends_with("_BLOCK") => {
                assert_eq!((element.width, element.height), (4, 4));
            }
            None => assert!(!element.is_block()),
        }
        assert_eq!(format.is_compressed(), format.name().ends_with("_BLOCK"));
    }
}

#[test]
fn channel_codes() {
    let mut codes = BTreeSet::new();
    for row in rows("5.1") {
        let found = numbers(row[0].replace('/', " ").as_str());
        let hex: Vec<u64> = row[0]
            .split(|c: char| !c.is_ascii_alphanumeric())
            .filter(|word| word.starts_with("0x"))
            .map(number)
            .collect();
        assert!(!hex.is_empty() && found.len() >= hex.len(), "{row:?}");
        if row[0].contains("..") {
            codes.extend(hex[0]..=hex[1]);
        } else {
            codes.extend(hex);
        }
    }
    for code in 0..=u8::MAX {
        // PVRTC: "do not use".
        let usable = codes.contains(&code.into()) && !matches!(code, 0x50 | 0x51);
        assert_eq!(Channels::from_code(code).is_ok(), usable, "{code:#x}");
    }
    assert_eq!(codes.len(), Channels::ALL.len() + 2);
    for code in 0..=u8::MAX {
        assert_eq!(Numeric::from_code(code).is_ok(), code <= 5);
        assert_eq!(Source::from_code(code).is_ok(), code <= 5);
    }
}

/// Which pairs of codes exist.
#[test]
fn encodings() {
    let legal = |channels, numeric| Encoding::new(channels, numeric).is_ok();
    assert!(legal(Channels::R10G10B10A2, Numeric::Xr));
    assert!(legal(Channels::R10G10B10A10Xr, Numeric::Xr));
    assert!(!legal(Channels::R10G10B10A10Xr, Numeric::Unorm));
    assert!(!legal(Channels::R10G10B10A2, Numeric::Sint));
    assert!(!legal(Channels::R8, Numeric::Float));
    assert!(!legal(Channels::Bc7, Numeric::Uint));
    let count = Channels::ALL
        .iter()
        .flat_map(|channels| {
            Numeric::ALL
                .iter()
                .map(move |numeric| (*channels, *numeric))
        })
        .filter(|(channels, numeric)| legal(*channels, *numeric))
        .count();
    // Those of the table, and the four that were only captured.
    let mut table = BTreeSet::new();
    for format in Format::ALL {
        let encoding = format.encoding();
        table.insert((encoding.channels(), encoding.numeric()));
    }
    assert_eq!(count, table.len() + 4);
    for format in Format::ALL {
        assert!(format.encoding().formats().any(|other| other == *format));
    }
}

#[test]
fn view_swizzles() {
    use Source::{A, B, G, One, R, Zero};
    let bgra = Format::B8G8R8A8Unorm.swizzle();
    assert_eq!(bgra.view(Swizzle::IDENTITY), bgra);
    assert_eq!(Swizzle::IDENTITY.view(bgra), bgra);
    assert_eq!(bgra.view(bgra), Swizzle::IDENTITY);
    let red = Format::R8Unorm.swizzle();
    assert_eq!(
        red.view(Swizzle([A, R, G, One])),
        Swizzle([One, R, Zero, One])
    );
    assert_eq!(
        red.view(Swizzle([B, Zero, A, R])),
        Swizzle([Zero, Zero, One, R])
    );
    for code in 0..=u16::MAX {
        match Swizzle::from_code(code) {
            Ok(swizzle) => assert_eq!(swizzle.code(), code),
            Err(_) => assert!(code >> 12 != 0 || (0..4).any(|i| code >> (3 * i) & 7 > 5)),
        }
    }
}

/// images, 3.2, row by row.
#[test]
fn tile_words() {
    let table = rows("3.2");
    let mut checked = BTreeSet::new();
    let mut check = |row: usize, start: &str, formats: &[&'static str]| {
        let cells = &table[row];
        assert!(cells[0].starts_with(start), "{}", cells[0]);
        let code = number(cells[3]) as u8;
        let sizes = numbers(cells[2]);
        for (i, name) in formats.iter().enumerate() {
            let word = Format::from_name(name).unwrap().tile_word().unwrap();
            assert_eq!(word.export_code(), code, "{name}");
            let size = sizes[i % sizes.len()];
            assert_eq!(u64::from(word.bytes()), size, "{name}");
            checked.insert(*name);
        }
    };
    let bytes = [
        "R8_UNORM",
        "R8G8_SNORM",
        "R8G8B8A8_SRGB",
        "B8G8R8A8_UNORM",
        "A8_UNORM",
    ];
    check(0, "8-bit UNORM", &bytes);
    check(
        1,
        "8-bit integers",
        &["R8_UINT", "R8G8_SINT", "R8G8B8A8_UINT"],
    );
    let halves = ["R16_SFLOAT", "R16G16_SFLOAT", "R16G16B16A16_SFLOAT"];
    check(2, "R16F", &halves);
    check(2, "R16F", &["R16_UINT", "R16G16_SINT", "R16G16B16A16_UINT"]);
    let words = ["R32_SFLOAT", "R32G32_UINT", "R32G32B32A32_SINT"];
    check(3, "32-bit", &words);
    let packed = [
        "A2B10G10R10_UNORM_PACK32",
        "A2R10G10B10_UNORM_PACK32",
        "B10G11R11_UFLOAT_PACK32",
    ];
    check(4, "A2B10G10R10 UNORM, A2R10G10B10 UNORM", &packed);
    let small = [
        "R5G6B5_UNORM_PACK16",
        "A1R5G5B5_UNORM_PACK16",
        "R5G5B5A1_UNORM_PACK16",
        "R4G4B4A4_UNORM_PACK16",
    ];
    check(5, "5-6-5", &small);
    check(6, "A2B10G10R10 UINT", &["A2B10G10R10_UINT_PACK32"]);
    check(
        7,
        "R16/RG16",
        &["R16_UNORM", "R16G16_SNORM", "R16G16B16A16_UNORM"],
    );
    assert_eq!(table.len(), 8);
    assert_eq!(checked.len(), 28);
    // Every attachment but the doubtful one has a tile word; nothing else has.
    for format in Format::ALL {
        let known = format.attachment() > Attachment::Doubtful;
        assert_eq!(format.tile_word().is_some(), known, "{format:?}");
        if format.tile_word() == Some(TileWord::Packed) {
            let swizzle = format.store_swizzle(StoreFrom::Tile);
            assert_eq!(swizzle, Some(StoreSwizzle::IDENTITY));
        }
    }
}

// --- Records ---------------------------------------------------------------------------------------

/// The byte strings of a text: runs of two-digit numbers, and what "then 16 zero bytes" adds.
fn records(text: &str) -> Vec<[u8; RECORD_SIZE]> {
    let mut bytes = Vec::new();
    for line in text.lines() {
        let mut in_line = Vec::new();
        for word in line.split_whitespace() {
            let word = word.trim_matches(['`', ';']);
            if word.len() == 2 && word.bytes().all(|b| b.is_ascii_hexdigit()) {
                in_line.push(u8::from_str_radix(word, 16).unwrap());
            } else if in_line.len() % 16 != 0 {
                // Numbers in a sentence.
                in_line.truncate(in_line.len() / 16 * 16);
            }
        }
        in_line.truncate(in_line.len() / 16 * 16);
        bytes.extend_from_slice(&in_line);
        if line.contains("16 zero bytes") {
            assert_eq!(in_line.len(), 16, "{line}");
            bytes.extend_from_slice(&[0; 16]);
        }
    }
    let (records, rest) = bytes.as_chunks();
    assert!(rest.is_empty(), "{text}");
    records.to_vec()
}

/// From a bold heading to the next.
fn example(start: &str) -> &'static str {
    let text = &REFERENCE[REFERENCE
        .find(start)
        .unwrap_or_else(|| panic!("no {start}"))..];
    let end = text[2..].find("\n**").map_or(text.len(), |end| end + 2);
    &text[..end]
}

fn assert_texture(expected: &[u8; RECORD_SIZE], texture: &Texture) {
    let mut bytes = [0xff; RECORD_SIZE];
    texture.pack(&mut bytes).unwrap();
    assert_eq!(hex(&bytes), hex(expected), "{texture:?}");
    assert_eq!(Texture::unpack(expected), Ok(*texture));
}

fn assert_store(expected: &[u8; RECORD_SIZE], store: &Store) {
    let mut bytes = [0xff; RECORD_SIZE];
    store.pack(&mut bytes).unwrap();
    assert_eq!(hex(&bytes), hex(expected), "{store:?}");
    assert_eq!(Store::unpack(expected), Ok(*store));
}

fn with_levels(mut texture: Texture, levels: Levels, page_aligned: bool) -> Texture {
    let texture::Memory::Tiled(tiling) = &mut texture.memory else {
        panic!("linear");
    };
    tiling.levels = levels;
    tiling.page_aligned = page_aligned;
    texture
}

fn tiled(memory: &Memory) -> &Tiled {
    match memory {
        Memory::Tiled(tiled) => tiled,
        Memory::Linear(_) => panic!("linear"),
    }
}

fn offsets(tiled: &Tiled) -> Vec<u64> {
    tiled.levels().iter().map(|level| level.offset).collect()
}

/// Hexadecimal numbers behind a word of a text, as far as they go.
fn hex_list(text: &str, start: &str) -> Vec<u64> {
    let rest = &text[text.find(start).unwrap_or_else(|| panic!("no {start}")) + start.len()..];
    let list = rest.split(';').next().unwrap();
    list.split([',', ' '])
        .filter(|word| !word.is_empty())
        .map(|word| u64::from_str_radix(word, 16).unwrap_or_else(|_| panic!("{word}")))
        .collect()
}

#[test]
fn linear_example() {
    let [record] = records(example("**13.1"))[..] else {
        panic!();
    };
    let texture = Texture::linear(Format::R8G8B8A8Unorm, 64, 64, 0x11_0004_0000, 256);
    assert_texture(&record, &texture);
    let layout = texture.layout().unwrap();
    assert_eq!(layout.size(), 64 * 256);
    let at = |x, y| {
        layout.offset(Position {
            x,
            y,
            ..Position::default()
        })
    };
    assert_eq!(at(3, 2), Some(2 * 256 + 3 * 4));
    assert_eq!(at(64, 0), None);
}

#[test]
fn level_example() {
    let text = example("**13.2");
    let [full, some, level2] = records(text)[..] else {
        panic!();
    };
    let single = Texture::tiled(
        Format::R8G8B8A8Srgb,
        Dimension::D2,
        256,
        128,
        0x11_0010_0000,
    );
    let view = |first, last| with_levels(single, Levels::View { first, last }, false);
    assert_texture(&full, &view(0, 8));
    assert_texture(&some, &view(2, 5));
    // The export of a tile of R8G8B8A8_SRGB.
    let mut store = Store::tiled(
        Format::R8G8B8A8Srgb,
        StoreFrom::Tile,
        store::Dimension::D2,
        256,
        128,
        0x11_0010_0000,
    )
    .unwrap();
    store.memory = store::Memory::Tiled {
        dimension: store::Dimension::D2,
        levels: store::Levels::Level { level: 2, last: 8 },
    };
    assert_store(&level2, &store);
    for layout in [view(2, 5).layout(), store.layout()] {
        let layout = layout.unwrap();
        let layout = tiled(&layout);
        assert_eq!(offsets(layout), hex_list(text, "Level offsets "));
        assert_eq!(layout.size(), 0x2ac00);
        assert!(text.contains("size 0x2ac00; p = 2;"));
        assert_eq!(layout.first_small(), 2);
        let tiles: Vec<_> = layout.levels().iter().map(|l| l.tile_width).collect();
        assert_eq!(tiles, [64, 64, 32, 16, 8, 4, 2, 1, 1]);
        assert!(text.contains("tiles 64,64,32,16,8,4,2,1,1."));
    }
}

#[test]
fn array_example() {
    let [texture_record, store_record] = records(example("**13.3"))[..] else {
        panic!();
    };
    let dimension = Dimension::D2Array { layers: 6 };
    let texture = Texture::tiled(Format::R16Sfloat, dimension, 100, 60, 0x11_0020_0000);
    let texture = with_levels(texture, Levels::Single, true);
    assert_texture(&texture_record, &texture);
    let dimension = store::Dimension::D2Array { layers: 6 };
    let store = Store::tiled(
        Format::R16Sfloat,
        StoreFrom::Tile,
        dimension,
        100,
        60,
        0x11_0020_0000,
    );
    let store = store.unwrap();
    assert_store(&store_record, &store);
    assert_eq!(store.layout(), texture.layout());
    let layout = store.layout().unwrap();
    assert_eq!(tiled(&layout).layer_stride(), 0x4000);
    assert_eq!(layout.size(), 0x18000);
}

#[test]
fn cube_and_volume_examples() {
    let [cube] = records(example("**13.4"))[..] else {
        panic!();
    };
    let texture = Texture::tiled(
        Format::R8G8B8A8Unorm,
        Dimension::Cube,
        64,
        64,
        0x11_0030_0000,
    );
    let texture = with_levels(texture, Levels::View { first: 0, last: 6 }, true);
    assert_texture(&cube, &texture);
    let layout = texture.layout().unwrap();
    let layout = tiled(&layout);
    assert_eq!(
        (layout.tree_size(), layout.layer_stride(), layout.size()),
        (0x5680, 0x8000, 0x30000)
    );

    let [volume] = records(example("**3D R16G16B16A16"))[..] else {
        panic!();
    };
    let dimension = Dimension::D3 { depth: 10 };
    let texture = Texture::tiled(
        Format::R16G16B16A16Sfloat,
        dimension,
        40,
        24,
        0x11_0040_0000,
    );
    let texture = with_levels(texture, Levels::View { first: 0, last: 5 }, true);
    assert_texture(&volume, &texture);
    let layout = texture.layout().unwrap();
    let layout = tiled(&layout);
    assert_eq!(
        (layout.tree_size(), layout.layer_stride(), layout.size()),
        (0x5600, 0x8000, 0x50000)
    );
}

#[test]
fn multisample_example() {
    let [texture_record, store_record] = records(example("**13.5"))[..] else {
        panic!();
    };
    let samples = Multisample::X4;
    let texture = Texture::tiled(
        Format::R8G8B8A8Unorm,
        Dimension::D2Multisample { samples },
        640,
        360,
        0x11_0050_0000,
    );
    assert_texture(&texture_record, &texture);
    let store = Store::tiled(
        Format::R8G8B8A8Unorm,
        StoreFrom::Tile,
        store::Dimension::D2Multisample { samples },
        640,
        360,
        0x11_0050_0000,
    );
    let store = store.unwrap();
    assert_store(&store_record, &store);
    assert_eq!(store.layout(), texture.layout());
    let layout = store.layout().unwrap();
    assert_eq!(layout.size(), 0x3c_0000);
    let level = tiled(&layout).levels()[0];
    assert_eq!((level.tile_width, level.tile_height), (32, 32));
}

#[test]
fn other_examples() {
    let text = example("**13.6");
    let [display, display_store, buffer, depth, blocks] = records(&text.replace('/', " "))[..]
    else {
        panic!("{:x?}", records(&text.replace('/', " ")));
    };
    let format = Format::B8G8R8A8Unorm;
    let texture = Texture::linear(format, 1920, 1080, 0x11_0080_0000, 7680);
    assert_texture(&display, &texture);
    for from in [StoreFrom::Tile, StoreFrom::Shader] {
        let store = Store::linear(format, from, 1920, 1080, 0x11_0080_0000, 7680);
        assert_store(&display_store, &store.unwrap());
    }
    let texture = Texture::texel_buffer(Format::R32Sfloat, 5000, 0x11_00a0_0000).unwrap();
    let rows = Texture::linear(Format::R32Sfloat, 1024, 5, 0x11_00a0_0000, 4096);
    assert_eq!(texture, rows);
    assert_texture(&buffer, &texture);
    let most = 16384 * texture::TEXEL_BUFFER_WIDTH;
    assert!(Texture::texel_buffer(Format::R8Uint, most, 0).is_ok());
    assert!(Texture::texel_buffer(Format::R8Uint, most + 1, 0).is_err());
    assert!(Texture::texel_buffer(Format::R8Uint, 0, 0).is_err());
    let texture = Texture::tiled(Format::D32Sfloat, Dimension::D2, 1280, 720, 0x11_00c0_0000);
    assert_texture(&depth, &texture);
    let texture = Texture::tiled(
        Format::Bc1RgbaUnormBlock,
        Dimension::D2,
        260,
        130,
        0x11_00b0_0000,
    );
    let texture = with_levels(texture, Levels::View { first: 0, last: 8 }, false);
    assert_texture(&blocks, &texture);
    let layout = texture.layout().unwrap();
    assert_eq!(offsets(tiled(&layout)), hex_list(text, "level offsets "));
    assert_eq!(layout.size(), 0x15700);
    assert!(text.contains("size 0x15700."));
}

#[test]
fn sampler_examples() {
    let base = Sampler::default();
    let trilinear = Sampler {
        mag: Filter::Linear,
        min: Filter::Linear,
        mip: MipFilter::Linear,
        wrap: [Wrap::Repeat; 3],
        anisotropy: Anisotropy::at_most(16.0),
        ..base
    };
    let shadow = Sampler {
        mag: Filter::Linear,
        min: Filter::Linear,
        wrap: [Wrap::ClampToBorder; 3],
        border: Border::OpaqueWhite,
        compare: Compare::LessOrEqual,
        lod: LodRange::new(0.0, 0.0),
        ..base
    };
    let mirror = Sampler {
        mag: Filter::Linear,
        min: Filter::Linear,
        mip: MipFilter::Nearest,
        wrap: [Wrap::MirroredRepeat, Wrap::ClampToEdge, Wrap::ClampToEdge],
        lod: LodRange::new(1.5, 6.25),
        ..base
    };
    let text = example("**13.7");
    let rows: Vec<Vec<u8>> = text
        .lines()
        .filter_map(|line| line.strip_suffix("` |"))
        .map(|line| line.rsplit('`').next().unwrap())
        .map(|bytes| {
            let bytes = bytes.split(' ');
            bytes.map(|b| u8::from_str_radix(b, 16).unwrap()).collect()
        })
        .collect();
    let samplers = [base, Sampler::fetch(), trilinear, shadow, mirror];
    assert_eq!(rows.len(), samplers.len());
    for (expected, sampler) in rows.iter().zip(samplers) {
        let mut slot = [0xff; SLOT_SIZE];
        sampler.pack(&mut slot).unwrap();
        assert_eq!(hex(&slot[..8]), hex(expected), "{sampler:?}");
        assert_eq!(slot[8..], [0; 24]);
        assert_eq!(Sampler::unpack(&slot), Ok(sampler));
    }
}

#[test]
fn wrap_and_compare_codes() {
    use Wrap::{Clamp, ClampToBorder, ClampToEdge, MirrorClampToEdge, MirroredRepeat, Repeat};
    let modes = [
        ("CLAMP_TO_EDGE", ClampToEdge),
        ("REPEAT", Repeat),
        ("MIRRORED_REPEAT", MirroredRepeat),
        ("CLAMP_TO_BORDER", ClampToBorder),
        ("(OpenGL CLAMP)", Clamp),
        ("MIRROR_CLAMP_TO_EDGE", MirrorClampToEdge),
    ];
    let table = rows("4.1");
    for (row, (name, wrap)) in table.iter().zip(modes) {
        assert_eq!(row[1], name);
        assert_eq!(u64::from(wrap.code()), number(row[0]));
    }
    assert_eq!(table[6][0], "6, 7");
    assert!(Wrap::from_code(6).is_err());

    let functions = [
        ("LESS_OR_EQUAL", Compare::LessOrEqual),
        ("GREATER_OR_EQUAL", Compare::GreaterOrEqual),
        ("LESS", Compare::Less),
        ("GREATER", Compare::Greater),
        ("EQUAL", Compare::Equal),
        ("NOT_EQUAL", Compare::NotEqual),
        ("ALWAYS", Compare::Always),
        ("NEVER", Compare::Never),
    ];
    let mut found = 0;
    for row in rows("4.2") {
        for cells in [&row[0..3], &row[4..7]] {
            let (_, compare) = functions
                .iter()
                .find(|(name, _)| *name == cells[0])
                .unwrap();
            assert_eq!(u64::from(compare.code()), number(cells[1]));
            let sampler = Sampler {
                compare: *compare,
                ..Sampler::default()
            };
            assert_eq!(sampler.bits() >> 32, number(cells[2]), "{}", cells[0]);
            found += 1;
        }
    }
    assert_eq!(found, 8);
}

// --- Layout ----------------------------------------------------------------------------------------

fn samples(count: u64) -> Samples {
    match count {
        1 => Samples::One,
        2 => Samples::Two,
        4 => Samples::Four,
        other => panic!("{other}"),
    }
}

/// One layer.
fn image(size: (u32, u32), bytes: u64, samples_of_pixel: u64, mipmapped: bool) -> Image {
    Image {
        width: size.0,
        height: size.1,
        stack: Stack::Layers(1),
        element: Element::texel(bytes as u8),
        samples: samples(samples_of_pixel),
        mipmapped,
        page_aligned: false,
    }
}

/// Compares an address, and the way back from each of its bytes.
fn assert_offset(tiled: &Tiled, at: Position, expected: u64) {
    assert_eq!(
        tiled.offset(at),
        Some(expected),
        "{:?} {at:?}",
        tiled.image()
    );
    for byte in 0..u64::from(tiled.image().element.bytes) {
        assert_eq!(tiled.locate(expected + byte), Some(at));
    }
}

fn at(x: u32, y: u32, level: u8) -> Position {
    Position {
        x,
        y,
        level,
        ..Position::default()
    }
}

#[test]
fn single_levels() {
    let mut points = 0;
    for row in rows("13.8") {
        let [size, bytes, tile, columns, level_size, list] = row[..] else {
            panic!("{row:?}");
        };
        let tiled = Tiled::new(image(pair(size), number(bytes), 1, false)).unwrap();
        let [level] = tiled.levels() else { panic!() };
        assert_eq!((level.tile_width, level.tile_height), pair(tile), "{size}");
        assert_eq!(u64::from(level.columns), number(columns), "{size}");
        assert_eq!(level.size, number(level_size), "{size}");
        assert_eq!(tiled.size(), level.size);
        for point in list.split(", (") {
            let (place, offset) = point.split_once('→').unwrap();
            let (x, y) = pair(place);
            assert_offset(&tiled, at(x, y, 0), number(offset));
            points += 1;
        }
    }
    assert_eq!(points, 190);
}

#[test]
fn level_offsets() {
    let table = rows("13.9");
    for row in &table {
        let [size, bytes, levels, first_small, list, tree] = row[..] else {
            panic!("{row:?}");
        };
        let tiled = Tiled::new(image(pair(size), number(bytes), 1, true)).unwrap();
        assert_eq!(tiled.levels().len() as u64, number(levels), "{size}");
        assert_eq!(
            u64::from(tiled.first_small()),
            number(first_small),
            "{size}"
        );
        let expected: Vec<_> = list
            .split(' ')
            .map(|word| u64::from_str_radix(word, 16).unwrap())
            .collect();
        assert_eq!(offsets(&tiled), expected, "{size}");
        assert_eq!(tiled.tree_size(), number(tree), "{size}");
    }
    assert_eq!(table.len(), 16);
}

#[test]
fn addresses_in_levels() {
    let table = rows("13.10");
    for row in &table {
        let [
            size,
            bytes,
            number_of,
            level_size,
            tile,
            columns,
            place,
            offset,
        ] = row[..]
        else {
            panic!("{row:?}");
        };
        let tiled = Tiled::new(image(pair(size), number(bytes), 1, true)).unwrap();
        let level = tiled.levels()[number(number_of) as usize];
        assert_eq!((level.width, level.height), pair(level_size));
        assert_eq!((level.tile_width, level.tile_height), pair(tile));
        assert_eq!(u64::from(level.columns), number(columns));
        let (x, y) = pair(place);
        assert_offset(&tiled, at(x, y, number(number_of) as u8), number(offset));
    }
    assert_eq!(table.len(), 15);
}

#[test]
fn samples_of_pixels() {
    let table = rows("13.11");
    for row in &table {
        let [size, bytes, count, tile, place, offset, total] = row[..] else {
            panic!("{row:?}");
        };
        let tiled = Tiled::new(image(pair(size), number(bytes), number(count), false)).unwrap();
        let level = tiled.levels()[0];
        assert_eq!((level.tile_width, level.tile_height), pair(tile));
        // `(x,y,sN)`
        let place = place.replace('s', "");
        let [x, y, sample] = numbers(&place)[..] else {
            panic!("{place}");
        };
        let position = Position {
            sample: sample as u8,
            ..at(x as u32, y as u32, 0)
        };
        assert_offset(&tiled, position, number(offset));
        assert_eq!(tiled.size(), number(total));
    }
    assert_eq!(table.len(), 9);
}

#[test]
fn blocks() {
    let table = rows("13.12");
    for row in &table {
        let [
            size,
            element,
            number_of,
            level_size,
            tile,
            columns,
            start,
            place,
            offset,
        ] = row[..]
        else {
            panic!("{row:?}");
        };
        let [width, height, bytes] = numbers(element)[..] else {
            panic!("{element}");
        };
        let tiled = Tiled::new(Image {
            element: Element::block(width as u8, height as u8, bytes as u8),
            ..image(pair(size), 1, 1, true)
        });
        let tiled = tiled.unwrap();
        let level = tiled.levels()[number(number_of) as usize];
        assert_eq!((level.width, level.height), pair(level_size), "{row:?}");
        assert_eq!((level.tile_width, level.tile_height), pair(tile), "{row:?}");
        assert_eq!(u64::from(level.columns), number(columns), "{row:?}");
        assert_eq!(level.offset, number(start), "{row:?}");
        let (x, y) = pair(place);
        assert_offset(&tiled, at(x, y, number(number_of) as u8), number(offset));
    }
    assert_eq!(table.len(), 9);
    // "Level-0 sizes published for a 66×66 block grid".
    let text = section("13.12");
    for (bytes, size) in [(8, 0x18000), (16, 0x24000)] {
        assert!(text.contains(&format!("E = {bytes} → {size:#x}")));
        let tiled = Tiled::new(Image {
            element: Element::block(4, 4, bytes),
            ..image((264, 264), 1, 1, false)
        });
        assert_eq!(tiled.unwrap().size(), size);
    }
}

#[test]
fn layers() {
    let table = rows("13.13");
    for row in &table {
        let [what, levels, tree, flag, stride, total] = row[..] else {
            panic!("{row:?}");
        };
        // The numbers in front of the format, then E, then counts.
        let (size, rest) = what.split_once(" E").unwrap();
        let size = numbers(size);
        let bytes = number(rest.split([' ', ',']).next().unwrap());
        let stack = if rest.contains("3D") {
            Stack::Slices(size[2] as u32)
        } else if rest.contains("cube") {
            Stack::Layers(6)
        } else {
            let layers = rest.split(", ").find(|part| part.contains("layers"));
            Stack::Layers(number(layers.unwrap()) as u32)
        };
        let described = Image {
            stack,
            ..image(
                (size[0] as u32, size[1] as u32),
                bytes,
                1,
                number(levels) > 1,
            )
        };
        let usage = Usage {
            attachment: rest.contains("attachment"),
            ..Usage::default()
        };
        let tiled = Tiled::for_usage(described, usage).unwrap();
        assert_eq!(tiled.levels().len() as u64, number(levels), "{what}");
        assert_eq!(tiled.tree_size(), number(tree), "{what}");
        assert_eq!(
            u64::from(tiled.image().page_aligned),
            number(flag),
            "{what}"
        );
        assert_eq!(tiled.layer_stride(), number(stride), "{what}");
        assert_eq!(tiled.size(), number(total), "{what}");
        // The same from the flag.
        assert_eq!(Tiled::new(*tiled.image()), Ok(tiled));
    }
    assert_eq!(table.len(), 9);
}

/// The conditions of images, 7.5 that the table has no row for.
#[test]
fn page_aligned_layers() {
    let flag =
        |image: Image, usage: Usage| Tiled::for_usage(image, usage).unwrap().image().page_aligned;
    let none = Usage::default();
    let storage = Usage {
        storage: true,
        ..none
    };
    let depth = Usage {
        depth_stencil: true,
        ..none
    };
    let attachment = Usage {
        attachment: true,
        ..none
    };
    let one = image((64, 64), 4, 1, true);
    assert!(!flag(one, none));
    assert!(flag(one, storage));
    assert!(flag(one, depth));
    assert!(!flag(one, attachment));
    let stacked = Image {
        stack: Stack::Layers(2),
        ..one
    };
    assert!(flag(stacked, none));
    assert!(flag(stacked, attachment));
    // A tree within a page, or no tree.
    assert!(!flag(image((32, 32), 4, 1, true), depth));
    assert!(!flag(
        Image {
            mipmapped: false,
            ..one
        },
        depth
    ));
    assert!(!flag(
        Image {
            mipmapped: false,
            ..stacked
        },
        none
    ));
    assert!(flag(
        Image {
            mipmapped: false,
            ..stacked
        },
        attachment
    ));
    // What the input says does not matter.
    assert!(!flag(
        Image {
            page_aligned: true,
            ..one
        },
        none
    ));
}

/// images, 7.1.
#[test]
fn big_tiles() {
    let table = rows("7.1");
    for row in &table {
        let bytes = number(row[0]);
        // More bytes than an element has are samples.
        let described = image((512, 512), bytes.min(16), bytes.div_ceil(16), false);
        let tiled = Tiled::new(described).unwrap();
        let level = tiled.levels()[0];
        assert_eq!(
            (level.tile_width, level.tile_height),
            pair(row[1]),
            "{row:?}"
        );
        let page = u64::from(level.tile_width * level.tile_height) * bytes;
        assert_eq!(page, 0x4000);
    }
    assert_eq!(table.len(), 7);
}

/// The exception of images, 7.3, where it shows: a level of blocks that fills its columns, below
/// an odd number of columns, has one column more. No row of 13.12 is such a level.
#[test]
fn padded_stride_of_blocks() {
    assert!(section("7.3").contains("stride_l is one larger"));
    let columns = |width, element| {
        let described = Image {
            element,
            ..image((width, 512), 1, 1, true)
        };
        let tiled = Tiled::new(described).unwrap();
        assert_eq!(tiled.first_small(), 2);
        let level = tiled.levels()[1];
        assert_eq!((level.width, level.height), (64, 64));
        assert_eq!((level.tile_width, level.tile_height), (64, 32));
        level.columns
    };
    // 129 blocks are three columns at level 0, 64 are one at level 1, and its stride is 65.
    assert_eq!(columns(513, Element::block(4, 4, 8)), 2);
    // 128 blocks are two columns at level 0: nothing is left over.
    assert_eq!(columns(512, Element::block(4, 4, 8)), 1);
    // Texels have no such exception.
    let texels = Tiled::new(image((129, 128), 8, 1, true)).unwrap();
    assert_eq!(texels.levels()[1].columns, 1);
}

/// images, 7.4, shortcut (b), where it holds by rule: squares of powers of two.
#[test]
fn square_trees() {
    for bytes in [1u64, 2, 4, 8, 16] {
        for size in (0..=14).map(|n| 1u64 << n) {
            let (mut sum, mut expected) = (0u64, Vec::new());
            let mut in_tail = false;
            for side in (0..=size.ilog2()).map(|level| size >> level) {
                // Whole tiles in even columns come by themselves.
                let level_size = (side * side * bytes).max(0x80);
                if level_size <= 0x8000 && !in_tail {
                    in_tail = true;
                    sum = sum.next_multiple_of(0x8000);
                }
                expected.push(sum);
                sum += level_size;
            }
            let tiled = Tiled::new(image((size as u32, size as u32), bytes, 1, true)).unwrap();
            assert_eq!(offsets(&tiled), expected, "{size} {bytes}");
            assert_eq!(tiled.tree_size(), sum, "{size} {bytes}");
        }
    }
}

// --- Refusals --------------------------------------------------------------------------------------

/// A record with bits `first..=last` set to `value`.
fn with_bits<const N: usize>(mut bytes: [u8; N], first: usize, last: usize, value: u64) -> [u8; N] {
    for bit in first..=last {
        let mask = 1 << (bit % 8);
        if value >> (bit - first) & 1 == 0 {
            bytes[bit / 8] &= !mask;
        } else {
            bytes[bit / 8] |= mask;
        }
    }
    bytes
}

/// Refused bits of a record that is legal without them: first, last, value.
type Refused = (usize, usize, u64);

fn assert_texture_refused(good: &Texture, refused: &[Refused]) {
    let mut bytes = [0; RECORD_SIZE];
    good.pack(&mut bytes).unwrap();
    for (first, last, value) in refused {
        let bad = with_bits(bytes, *first, *last, *value);
        assert_ne!(bad, bytes, "{first} {last} {value}");
        let result = Texture::unpack(&bad);
        assert!(result.is_err(), "{first}..{last} = {value}: {result:?}");
    }
}

fn assert_store_refused(good: &Store, refused: &[Refused]) {
    let mut bytes = [0; RECORD_SIZE];
    good.pack(&mut bytes).unwrap();
    for (first, last, value) in refused {
        let bad = with_bits(bytes, *first, *last, *value);
        assert_ne!(bad, bytes, "{first} {last} {value}");
        let result = Store::unpack(&bad);
        assert!(result.is_err(), "{first}..{last} = {value}: {result:?}");
    }
}

fn single_bits(bits: impl IntoIterator<Item = usize>) -> Vec<Refused> {
    bits.into_iter().map(|bit| (bit, bit, 1)).collect()
}

/// images, 10.1: what a simulator must report of textures.
#[test]
fn refused_textures() {
    let format = Format::R8G8B8A8Unorm;
    let plain = Texture::tiled(format, Dimension::D2, 64, 32, 0x11_0004_0000);
    let mut refused = vec![
        (4, 5, 1),
        (4, 5, 3),
        (0, 3, 9),
        (0, 3, 15),
        (6, 12, 0x01),
        (6, 12, 0x50),
        (6, 12, 0x7f),
        (13, 15, 6),
        (13, 15, 7),
        (13, 15, 4),
        (16, 18, 6),
        (25, 27, 7),
        // The other of mipmapped and extended is missing; samples outside multisampled images.
        (58, 58, 1),
        (127, 127, 1),
        (59, 59, 1),
        (56, 56, 1),
        // Layers of an image that has none; 42-bit addresses.
        (110, 123, 5),
        (102, 103, 1),
        // A cube that is not square, a 1D image with rows.
        (0, 3, 6),
        (0, 3, 0),
    ];
    refused.extend(single_bits([57, 60, 61, 62, 63, 109, 124, 125]));
    refused.extend(single_bits((104..108).chain(128..256)));
    assert_texture_refused(&plain, &refused);

    let tree = with_levels(plain, Levels::View { first: 1, last: 4 }, false);
    // 64 texels have the levels 0 to 6.
    let refused = [
        (172, 175, 5),
        (176, 179, 7),
        (176, 179, 0),
        (58, 58, 0),
        (127, 127, 0),
        (0, 3, 4),
    ];
    assert_texture_refused(&tree, &refused);

    let linear = Texture::linear(format, 64, 32, 0x11_0004_0000, 256);
    let mut refused = vec![(0, 3, 3), (0, 3, 5), (0, 3, 4), (6, 12, 0x74), (13, 15, 5)];
    refused.extend(single_bits((56..64).chain([126, 127])));
    assert_texture_refused(&linear, &refused);

    let srgb = Texture::tiled(Format::R8G8B8A8Snorm, Dimension::D2, 64, 32, 0);
    assert_texture_refused(&srgb, &[(108, 108, 1)]);

    // Compression is a record, but nothing is known of its memory.
    let mut bytes = [0; RECORD_SIZE];
    plain.pack(&mut bytes).unwrap();
    let bytes = with_bits(with_bits(bytes, 59, 59, 1), 127, 127, 1);
    let compressed = Texture::unpack(&bytes).unwrap();
    assert!(compressed.layout().is_err());
    assert!(plain.layout().is_ok());
    assert!(Texture::unpack(&texture::EMPTY).is_err());
}

/// images, 10.1, of stores.
#[test]
fn refused_stores() {
    let store = |format, dimension| {
        Store::tiled(format, StoreFrom::Tile, dimension, 64, 32, 0x11_0004_0000)
    };
    let plain = store(Format::R8G8B8A8Unorm, store::Dimension::D2).unwrap();
    let mut refused = vec![
        (4, 5, 1),
        (4, 5, 3),
        (0, 3, 6),
        (0, 3, 7),
        (0, 3, 9),
        // No attachments: codes of blocks, extended range, subsampling.
        (6, 12, 0x74),
        (6, 12, 0x40),
        (13, 15, 5),
        (13, 15, 6),
        (108, 121, 5),
        (58, 58, 1),
        (127, 127, 1),
        (124, 124, 1),
        (125, 125, 1),
    ];
    refused.extend(single_bits((52..58).chain([59, 60, 61, 62, 63])));
    refused.extend(single_bits(
        (102..108).chain([122, 123, 126]).chain(128..256),
    ));
    assert_store_refused(&plain, &refused);

    let array = store::Dimension::D2Array { layers: 6 };
    let array = store(Format::R8G8B8A8Unorm, array).unwrap();
    assert_store_refused(&array, &[(124, 124, 0), (108, 121, 2048), (0, 3, 2)]);

    let tree = Store {
        memory: store::Memory::Tiled {
            dimension: store::Dimension::D2,
            levels: store::Levels::Level { level: 2, last: 5 },
        },
        ..plain
    };
    assert_store_refused(&tree, &[(172, 175, 6), (176, 179, 15), (0, 3, 4)]);

    let format = Format::R8G8B8A8Unorm;
    let linear = Store::linear(format, StoreFrom::Tile, 64, 32, 0, 256).unwrap();
    let mut refused = vec![(0, 3, 3), (0, 3, 5)];
    refused.extend(single_bits((124..128).chain([56, 58])));
    assert_store_refused(&linear, &refused);

    for format in [Format::D32Sfloat, Format::S8Uint, Format::Bc7UnormBlock] {
        assert!(store_of(format).is_err(), "{format:?}");
    }
    assert!(Store::unpack(&store::EMPTY).is_err());
}

fn store_of(format: Format) -> agx_hw::Result<Store> {
    Store::linear(format, StoreFrom::Shader, 16, 16, 0, 256)
}

/// images, 10.1, of samplers.
#[test]
fn refused_samplers() {
    let good = Sampler::default().bits().to_le_bytes();
    let mut refused = vec![
        (23, 24, 2),
        (25, 26, 3),
        (27, 28, 3),
        (29, 31, 6),
        (32, 34, 7),
        (35, 37, 6),
        (61, 62, 3),
        (20, 22, 5),
        (39, 42, 7),
        (39, 42, 0),
        // The maximum is 14; the minimum must not exceed it.
        (13, 19, 113),
        (0, 9, 14 * 64 + 1),
    ];
    refused.extend(single_bits((10..13).chain(43..61)));
    for (first, last, value) in refused {
        let bad = with_bits(good, first, last, value);
        let result = Sampler::from_bits(u64::from_le_bytes(bad));
        assert!(result.is_err(), "{first}..{last} = {value}: {result:?}");
    }
    let mut slot = [0; SLOT_SIZE];
    Sampler::default().pack(&mut slot).unwrap();
    for byte in 8..SLOT_SIZE {
        let mut slot = slot;
        slot[byte] = 1;
        assert!(Sampler::unpack(&slot).is_err(), "{byte}");
    }
}

/// Errors say which field, which value, and what would be legal.
#[test]
fn errors_explain() {
    let texture = Texture::tiled(Format::R8Unorm, Dimension::D2, 16385, 1, 0);
    let text = texture.pack(&mut [0; RECORD_SIZE]).unwrap_err().to_string();
    assert_eq!(text, "texture record: width = 0x4001: legal is 1..=16384");
    let texture = Texture::tiled(Format::R8Unorm, Dimension::D2, 1, 1, 8);
    let text = texture.pack(&mut [0; RECORD_SIZE]).unwrap_err().to_string();
    assert_eq!(
        text,
        "texture record: address = 0x8: legal is a multiple of 16"
    );
    let texture = Texture::linear(Format::R8Unorm, 1, 1, 0, 24);
    let text = texture.pack(&mut [0; RECORD_SIZE]).unwrap_err().to_string();
    let legal = "a multiple of 16, 16..=0x100000";
    assert_eq!(
        text,
        format!("texture record: row stride = 0x18: legal is {legal}")
    );
    let text = Texture::unpack(&[0; 4]).unwrap_err().to_string();
    assert_eq!(text, "texture record: needs 0x20 bytes, 0x4 are there");
}
