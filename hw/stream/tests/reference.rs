// SPDX-License-Identifier: MIT
//! The byte strings and sums of the reference, read from its text: launch, 4.5 to 4.7 and 12.

use agx_hw::arena::{Block, CODE_OFFSET};
use agx_hw::arena::{BlockOffset, HEADER_SIZE, Header, HelperTables, Kind, THUNK_CAPACITY, Target};
use agx_hw::cdm::{
    Barrier, CdmStream, Geometry, Grid, IndirectAddress, Launch, LaunchConstant, Link, LocalSize,
    Occupancy, Record, records,
};
use agx_hw::launcher::{Frame, InlineWord, Launcher, SLOT_SIZE, Samples, Storage};
use agx_hw::root::{Direct, Graphics, Groups, RECORD_SIZE, Table};
use agx_hw::window::{CodeAddress, EntryOffset, LauncherAddress};
use agx_isa::asm;
use sha2::{Digest, Sha256};

const REFERENCE: &str = include_str!("../../../docs/hw/launch-and-compute.md");

const BODY: u64 = 0x100_0080_0000;
const LAUNCHER: u64 = 0x100_0090_0000;
const RECORD: u64 = LAUNCHER + 0x400;
const STREAM: u64 = 0x20_0000_0000;
const OUTPUT: u64 = 0x20_0001_0000;
const ARGUMENTS: u64 = 0x20_0002_0000;

/// The text of a section, its heading's number given.
fn section(number: &str) -> &'static str {
    let start = REFERENCE
        .find(&format!("\n### {number} "))
        .unwrap_or_else(|| panic!("no section {number}"));
    let text = &REFERENCE[start + 1..];
    text.find("\n#").map_or(text, |end| &text[..end])
}

/// The two-digit hexadecimal numbers that begin a text.
fn bytes(text: &str) -> Vec<u8> {
    text.split_whitespace()
        .map_while(|word| {
            (word.len() == 2)
                .then(|| u8::from_str_radix(word, 16).ok())
                .flatten()
        })
        .collect()
}

/// The lines `offset: bytes comment` of a section.
fn listing(number: &str) -> Vec<(usize, Vec<u8>)> {
    let lines: Vec<_> = section(number)
        .lines()
        .filter_map(|line| {
            let (offset, rest) = line.split_once(": ")?;
            let offset = usize::from_str_radix(offset, 16).ok()?;
            Some((offset, bytes(rest)))
        })
        .collect();
    assert!(!lines.is_empty(), "{number} has no listing");
    lines
}

/// Compares with a listing; returns how many bytes it states.
fn assert_listed(number: &str, got: &[u8]) -> usize {
    let mut stated = 0;
    for (offset, expected) in listing(number) {
        let end = offset + expected.len();
        assert_eq!(&got[offset..end], expected, "{number} {offset:#x}");
        stated += expected.len();
    }
    stated
}

/// The section must quote the sum of these bytes.
fn assert_sum(number: &str, bytes: &[u8]) {
    let sum: String = Sha256::digest(bytes)
        .iter()
        .map(|b| format!("{b:02x}"))
        .collect();
    assert!(section(number).contains(&sum), "{number}: {sum}");
}

/// A byte string must be quoted in the section.
fn assert_quoted(number: &str, bytes: &[u8]) {
    let hex: Vec<_> = bytes.iter().map(|b| format!("{b:02x}")).collect();
    let hex = hex.join(" ");
    assert!(section(number).contains(&hex), "{number}: {hex}");
}

fn launcher_address() -> LauncherAddress {
    LauncherAddress::new(CodeAddress::new(LAUNCHER).unwrap()).unwrap()
}

fn example_launcher() -> Launcher {
    Launcher::new(RECORD, 2, EntryOffset::new(0x3c0).unwrap())
}

fn example_grid() -> Grid {
    Grid::new([64, 1, 1], LocalSize::new([32, 1, 1]).unwrap()).unwrap()
}

/// Packs, checks that unpacking gives the same, and returns the bytes.
fn packed(launcher: &Launcher) -> Vec<u8> {
    let bytes = launcher.to_vec(launcher_address()).unwrap();
    let (again, size) = Launcher::unpack(launcher_address(), &bytes).unwrap();
    assert_eq!((&again, size), (launcher, bytes.len()));
    bytes
}

/// The instruction of `size` bytes in front of which `before` of ALLOC, TARGET and FRAME stand.
fn middle(launcher: &Launcher, before: usize, size: usize) -> Vec<u8> {
    let start = launcher.entry_field_offset().unwrap() - 10 + before;
    packed(launcher)[start..start + size].to_vec()
}

fn alloc(storage: Storage) -> Vec<u8> {
    let launcher = Launcher {
        storage,
        ..example_launcher()
    };
    middle(&launcher, 0, 8)
}

fn frame(publications: u16, a: u16, b: u16) -> Vec<u8> {
    let launcher = Launcher {
        frame: Frame::new(publications, a, b).unwrap(),
        ..example_launcher()
    };
    middle(&launcher, 18, 10)
}

#[test]
fn arena() {
    let mut arena = [0xff; 0x400];
    Header::default().pack(&mut arena).unwrap();
    let block = Block {
        kind: Kind::Compute,
        target: Target::Jump(CodeAddress::new(BODY).unwrap()),
    };
    let size = block
        .pack(BlockOffset::FIRST, &mut arena[HEADER_SIZE..])
        .unwrap();
    assert_eq!(size, 0xc0);
    assert_sum("12.2", &arena[..HEADER_SIZE]);
    assert_sum("12.2", &arena);
    // The rows that are written out. 120 to 180 are abbreviated, others end in words.
    assert!(assert_listed("12.2", &arena) > 90);
    assert_eq!(BlockOffset::FIRST.entry().get(), 0x3c0);
    assert_eq!(Header::unpack(&arena), Ok(Header::default()));
    assert_eq!(
        Block::unpack(BlockOffset::FIRST, &arena[HEADER_SIZE..]),
        Ok(block)
    );
    assert_eq!(THUNK_CAPACITY, 43686);
    assert_eq!(EntryOffset::MAX, 0x7f_ffea);
}

/// launch, 3.1: the form seen on an A18 Pro.
#[test]
fn short_helper_tables() {
    let header = Header {
        tables: HelperTables::Six,
    };
    let mut bytes = [0; HEADER_SIZE];
    header.pack(&mut bytes).unwrap();
    for table in [0x100, 0x200] {
        for i in 0..6u8 {
            let at = table + 16 * usize::from(i);
            let stub = [
                0x0f,
                0,
                0x54,
                (6 - i) * 16,
                0,
                0,
                0,
                0,
                0,
                0,
                6,
                0,
                6,
                0,
                6,
                0,
            ];
            assert_eq!(bytes[at..at + 16], stub, "{at:#x}");
        }
        for at in [table + 0x60, table + 0x70] {
            let terminal = [0xf7, 3, 0xaa, 0, 0x8f, 2, 0x54, 1, 6, 0, 6, 0, 6, 0, 6, 0];
            assert_eq!(bytes[at..at + 16], terminal, "{at:#x}");
        }
        assert_eq!(bytes[table + 0x80..table + 0x82], [6, 0]);
    }
    assert_eq!(Header::unpack(&bytes), Ok(header));
}

#[test]
fn blocks_of_graphics_and_with_bodies() {
    let stop = [0x0e, 0, 0, 0];
    let at = BlockOffset::new(0x400).unwrap();
    let mut bytes = [0xff; 0x100];
    let graphics = Block {
        kind: Kind::Graphics,
        target: Target::Jump(CodeAddress::from_offset(0x340)),
    };
    assert_eq!(graphics.pack(at, &mut bytes), Ok(0xc0));
    assert_eq!(bytes[4..0x80], [0; 0x7c]);
    // Backwards: 0x340 - 0x480 = -0x140.
    let jump = [0x0f, 0, 0x54, 0xc0, 0xfe, 0xff, 0xff, 0xff, 0xff, 0];
    assert_eq!(bytes[0x80..0x8a], jump);
    assert_eq!(bytes[0x8a..0x8e], stop);
    assert_eq!(bytes[0x8e..0xc0], [0; 0x32]);
    assert_eq!(bytes[0xc0..], [0xff; 0x40]);
    assert_eq!(Block::unpack(at, &bytes), Ok(graphics));

    // Sections 3.5 and 12.3: 26 bytes of body, then one byte more than fits in 0xc0.
    let body = example_body();
    let block = Block {
        kind: Kind::Compute,
        target: Target::Body(&body),
    };
    assert_eq!(block.pack(at, &mut bytes), Ok(0xc0));
    assert_eq!(bytes[CODE_OFFSET..CODE_OFFSET + 26], body);
    assert_eq!(Block::unpack(at, &bytes), Ok(block));
    let long = [[6, 0].repeat(31), stop.to_vec()].concat();
    let block = Block {
        kind: Kind::Compute,
        target: Target::Body(&long),
    };
    assert_eq!(block.pack(at, &mut bytes), Ok(0x100));
    assert_eq!(Block::unpack(at, &bytes), Ok(block));
}

/// The body of 12.3, assembled.
fn example_body() -> Vec<u8> {
    asm::assemble(
        "get_sr r0, %global_id_x
         get_sr r1, %global_id_x
         device_store.i32 r0, u2:u3, ^r1, scale=lsl2, wait=1
         stop",
    )
    .unwrap()
}

#[test]
fn body() {
    let body = example_body();
    assert_sum("12.3", &body);
    assert_eq!(assert_listed("12.3", &body), 26);
}

#[test]
fn resource_record() {
    let record = Direct::new(Groups::Direct(example_grid().groups()), &[OUTPUT]).unwrap();
    let mut bytes = [0xff; RECORD_SIZE];
    record.pack(RECORD, &mut bytes).unwrap();
    assert_sum("12.4", &bytes);
    assert_eq!(assert_listed("12.4", &bytes), 28);
    assert_eq!(Direct::unpack(RECORD, &bytes, 1, 0), Ok(record));
    // 12.6: "record pointer 0 then is 0x2000020000".
    let indirect = Direct::new(Groups::Indirect(ARGUMENTS), &[OUTPUT]).unwrap();
    indirect.pack(RECORD, &mut bytes).unwrap();
    assert_eq!(bytes[..8], ARGUMENTS.to_le_bytes());
    assert_eq!(bytes[0xc0..], [0; 0x40]);
}

/// 6.3 and 6.4, by their tables.
#[test]
fn table_records() {
    let mut bytes = [0xff; RECORD_SIZE];
    let table = Table {
        textures: 0x11_2233_4460,
        samplers: 0x22_3344_5560,
        buffers: 0x33_4455_6670,
        groups: Groups::Direct([3, 5, 7]),
    };
    table.pack(RECORD, &mut bytes).unwrap();
    let mut expected = [0; RECORD_SIZE];
    let pointers = [
        0x11_2233_4460,
        0x22_3344_5560,
        0x33_4455_6670,
        RECORD + 0xc0,
        0x8000_0000,
        0,
    ];
    for (place, pointer) in expected.chunks_exact_mut(8).zip(pointers) {
        place.copy_from_slice(&u64::to_le_bytes(pointer));
    }
    (expected[0xc0], expected[0xc4], expected[0xc8]) = (3, 5, 7);
    assert_eq!(bytes, expected);
    assert_eq!(Table::unpack(RECORD, &bytes), Ok(table));

    let graphics = Graphics {
        textures: table.textures,
        samplers: table.samplers,
        buffers: table.buffers,
    };
    graphics.pack(&mut bytes).unwrap();
    expected[24..].fill(0);
    assert_eq!(bytes, expected);
    assert_eq!(Graphics::unpack(&bytes), Ok(graphics));
}

#[test]
fn launcher() {
    let launcher = example_launcher();
    let mut bytes = [0xff; SLOT_SIZE];
    let size = launcher.pack(launcher_address(), &mut bytes).unwrap();
    assert_eq!(size, 78);
    assert_sum("12.5", &bytes);
    assert_eq!(assert_listed("12.5", &bytes), 78);
    let unpacked = Launcher::unpack(launcher_address(), &bytes).unwrap();
    assert_eq!(unpacked, (launcher, size));
}

/// The variants at the end of 12.5.
#[test]
fn launcher_variants() {
    let three = packed(&Launcher {
        pointers: 3,
        ..example_launcher()
    });
    assert_quoted("12.5", &three[16..30]);
    assert_quoted("12.5", &three[30..44]);
    assert_ne!(three[16..30], three[30..44]);
    // ARG 4 and 5 from r22 and r23, by 4.4, then STOP.
    let end = three.len();
    let tail = [0x4b, 0x2c, 9, 4, 0x5b, 0x2e, 9, 4, 0x0e, 0, 0, 0];
    assert_eq!(three[end - 12..], tail);
    assert_quoted("12.5", &alloc(Storage::threadgroup(1024).unwrap()));
    assert_quoted("12.5", &frame(9, 4, 4096));
    let entry = Launcher {
        entry: EntryOffset::new(0x12340).unwrap(),
        ..example_launcher()
    };
    assert_quoted("12.5", &middle(&entry, 10, 3));
}

/// The sizes and offsets of 5.1.
#[test]
fn launcher_sizes() {
    for pointers in 2..=19 {
        let mut launcher = Launcher {
            pointers,
            ..example_launcher()
        };
        let loads = usize::from(pointers).div_ceil(2);
        let size = 48 + 14 * loads + 8 * usize::from(pointers);
        assert_eq!(packed(&launcher).len(), size);
        assert_eq!(launcher.size(), Ok(size));
        assert_eq!(launcher.entry_field_offset(), Ok(26 + 14 * loads));
        launcher.preamble = Some(CodeAddress::new(BODY + 0x40).unwrap());
        assert_eq!(packed(&launcher).len(), size + 10);
        if pointers == 6 {
            assert_eq!(launcher.entry_field_offset(), Ok(68));
        }
        if pointers == 19 {
            assert_eq!(size + 10, 350);
        }
        // 5.3: align4(2 (N + 1)).
        let free = (2 * u16::from(pointers)).next_multiple_of(4);
        assert_eq!(launcher.first_free_word(), free);
    }
}

/// 4.2 and 5.3: the jump stands between the last ARG and STOP and counts from its own first byte.
#[test]
fn launcher_preamble() {
    let bytes = packed(&Launcher {
        preamble: Some(CodeAddress::new(BODY).unwrap()),
        ..example_launcher()
    });
    let displacement = BODY as i64 - (LAUNCHER as i64 + 74);
    let mut jump = vec![0x0f, 0, 0x54];
    jump.extend_from_slice(&displacement.to_le_bytes()[..6]);
    jump.push(0);
    assert_eq!(bytes[74..84], jump);
    assert_eq!(bytes[84..], [0x0e, 0, 0, 0]);
}

#[test]
fn allocations() {
    assert_quoted("4.5", &alloc(Storage::None));
    assert_eq!(alloc(Storage::None)[3..], [0x41, 0, 0, 0, 0]);
    let tested = [128, 256, 512, 1024, 32768];
    for bytes in tested {
        let field = (bytes << 2 | 0x80u32).to_le_bytes();
        let got = alloc(Storage::threadgroup(bytes).unwrap());
        assert_eq!(got[..4], [0x77, 0, 0x2a, 0x41]);
        assert_eq!(got[4..], [field[0], field[1], field[2], 0], "{bytes}");
    }
    // "32768 => `80 00 02`".
    assert_eq!(
        alloc(Storage::threadgroup(32768).unwrap())[4..7],
        [0x80, 0, 2]
    );
    for bytes in (128..=32768).step_by(128) {
        let storage = Storage::Threadgroup { bytes };
        assert_eq!(storage.is_tested(), tested.contains(&bytes));
        packed(&Launcher {
            storage,
            ..example_launcher()
        });
    }
    // The checks of the text: samples, bytes, byte 3, byte 4.
    for (samples, bytes, byte3, byte4) in [
        (Samples::One, 8, 0x43, 0x4b),
        (Samples::Two, 24, 0x46, 0x4b),
        (Samples::Four, 64, 0x10, 0x43),
        (Samples::One, 128, 0x61, 0x4b),
        (Samples::One, 0, 0x41, 0x4b),
        (Samples::Two, 0, 0x40, 0x4b),
        (Samples::Four, 0, 0x00, 0x43),
    ] {
        let got = alloc(Storage::tile(samples, bytes).unwrap());
        assert_eq!(got[3..5], [byte3, byte4], "{samples:?} {bytes}");
        let byte2 = if samples == Samples::Four { 0xaa } else { 0x2a };
        assert_eq!(got[2], byte2);
    }
    assert!(Storage::tile(Samples::One, 129).is_err());
    assert!(Storage::tile(Samples::Two, 65).is_err());
    assert!(Storage::tile(Samples::Four, 65).is_err());
    assert_eq!(
        Storage::threadgroup(129),
        Ok(Storage::Threadgroup { bytes: 256 })
    );
    assert!(Storage::threadgroup(32769).is_err());
}

#[test]
fn frames() {
    let examples = [
        (0, 0),
        (1, 0x80),
        (2, 0x80),
        (8, 0x200),
        (9, 0x280),
        (36, 0x900),
    ];
    for (publications, p) in examples.into_iter().chain([(1022, 0xff80)]) {
        let got = frame(publications, 0x1234, 0x8000);
        let [p0, p1] = u16::to_le_bytes(p);
        let expected = [0xf7, 0, 0x2a, p0, p1, 0x34, 0x12, 0, 0x80, 0];
        assert_eq!(got, expected, "{publications}");
    }
    assert!(Frame::new(1023, 0, 0).is_err());
}

/// 5.4: words behind the pointers, and single words from elsewhere.
#[test]
fn inline_words() {
    let word = |record, argument| InlineWord { record, argument };
    let mut launcher = example_launcher();
    launcher
        .inline
        .extend([word(4, 5), word(7, 6), word(12, 8)]);
    let bytes = packed(&launcher);
    // Units 0 to 3 and 6 of the record, the highest first; by 4.3.
    let loads = [
        [0x67, 0, 0x54, 0x34, 2, 0, 0, 0, 0x59, 0, 6, 0x40, 0x26, 0],
        [0x67, 0, 0x54, 0x2c, 2, 0, 0, 0, 0x57, 0, 2, 0x40, 0x26, 0],
        [0x67, 0, 0x54, 0x24, 2, 0, 0, 0, 0x57, 0, 0, 0x40, 0x26, 0],
    ];
    assert_eq!(bytes[16..58], loads.concat());
    // Words 4, 7 and 12 are in r22, r25 and r26.
    let words = [
        [0x5b, 0x2c, 9, 4],
        [0x6b, 0x32, 9, 4],
        [0x8b, 0x34, 9, 4],
        [0x0e, 0, 0, 0],
    ];
    assert_eq!(bytes[bytes.len() - 16..], words.concat());
    assert_eq!(launcher.first_free_word(), 12);
    // A word that is loaded already needs no load.
    let mut again = example_launcher();
    again.inline.push(word(1, 4));
    assert_eq!(again.size(), example_launcher().size().map(|size| size + 4));
    packed(&again);
}

fn stream(records: &[Record]) -> Vec<u8> {
    let mut memory = [0xff; 0x100];
    let mut stream = CdmStream::new(&mut memory, STREAM).unwrap();
    for record in records {
        stream.push(*record).unwrap();
    }
    let size = stream.size();
    assert_eq!(stream.address(), STREAM + size as u64);
    memory[..size].to_vec()
}

fn example_launch(geometry: Geometry) -> Record {
    Record::Launch(Launch::new(launcher_address(), geometry))
}

#[test]
fn compute_stream() {
    let mut memory = [0xff; 0x40];
    let mut stream = CdmStream::new(&mut memory, STREAM).unwrap();
    let direct = Launch::new(launcher_address(), Geometry::Direct(example_grid()));
    stream.launch(direct).unwrap();
    stream.barrier().unwrap();
    assert_eq!(stream.room(), 0x14);
    assert_eq!(stream.terminate(), Ok(STREAM + 0x30));
    assert_sum("12.6", &memory[..0x30]);
    assert_eq!(assert_listed("12.6", &memory), 0x30);
    assert_eq!(memory[0x30..], [0xff; 0x10]);
    let read: Result<Vec<_>, _> = records(&memory).collect();
    let expected = vec![
        (0, Record::Launch(direct)),
        (0x28, Record::Barrier(Barrier::FULL)),
        (0x2c, Record::Terminate),
    ];
    assert_eq!(read, Ok(expected));
}

/// The two lines of 12.6 whose words are separated by bars.
#[test]
fn indirect_launches() {
    let quoted: Vec<_> = section("12.6")
        .split('`')
        .filter(|text| text.contains(" | "))
        .map(|text| bytes(&text.replace('|', " ")))
        .collect();
    let arguments = IndirectAddress::new(ARGUMENTS).unwrap();
    let local = LocalSize::new([32, 1, 1]).unwrap();
    let barrier = Record::Barrier(Barrier::FULL);
    let modes = [
        Geometry::IndirectGlobal { arguments, local },
        Geometry::IndirectLocal { arguments },
    ];
    let got = modes.map(|geometry| stream(&[example_launch(geometry), barrier]));
    assert_eq!(quoted, got);
    assert_eq!(got.map(|bytes| bytes.len()), [0x28, 0x1c]);
    assert_eq!(modes.map(|mode| mode.argument_size()), [12, 24]);
}

/// The single words of 8.1, 8.2, 8.5 to 8.7.
#[test]
fn record_words() {
    let word = |record: Record| {
        let bytes = stream(&[record]);
        u32::from_le_bytes(bytes[..4].try_into().unwrap())
    };
    assert_eq!(word(Record::Terminate), 0x4000_0000);
    assert_eq!(word(Record::Return), 0x8000_0000);
    for (barrier, expected) in [
        (Barrier::FULL, 0x600f_ffff),
        (Barrier::NATIVE_160, 0x6000_0160),
        (Barrier::NATIVE_10060, 0x6001_0060),
        (Barrier::WEAK_168, 0x6000_0168),
    ] {
        assert_eq!(word(Record::Barrier(barrier)), expected);
        assert_eq!(barrier.word(), expected);
    }
    let light = Launch {
        occupancy: Occupancy::Light,
        constant: LaunchConstant::Light,
        ..Launch::new(launcher_address(), Geometry::Direct(example_grid()))
    };
    let bytes = stream(&[Record::Launch(light)]);
    assert_eq!(bytes[..8], [0, 0, 8, 0, 0, 0, 0, 1]);
    // 8.6: type, with return, 40 bits of address.
    for (with_return, first) in [(false, 0x20), (true, 0x30)] {
        let target = 0x12_3456_789c;
        let link = Record::Link(Link {
            target,
            with_return,
        });
        let expected = [0x12, 0, 0, first, 0x9c, 0x78, 0x56, 0x34];
        assert_eq!(stream(&[link]), expected);
    }
}

/// 8.4: examples of partial workgroups that ran.
#[test]
fn grids() {
    let grid = |global, local| Grid::new(global, LocalSize::new(local).unwrap());
    let groups = grid([100, 1, 1], [32, 1, 1]).unwrap().groups();
    assert_eq!(groups, [4, 1, 1]);
    let groups = grid([0x12_3456, 1, 1], [32, 1, 1]).unwrap().groups();
    assert_eq!(groups, [37283, 1, 1]);
    let local = LocalSize::new([8, 4, 2]).unwrap();
    let whole = Grid::of_groups([3, 5, 65535], local).unwrap();
    assert_eq!(whole.global(), [24, 20, 131_070]);
    assert_eq!(whole.groups(), [3, 5, 65535]);
    assert!(Grid::of_groups([3, 5, 65536], local).is_err());
    assert!(Grid::of_groups([0, 5, 1], local).is_err());
    assert!(grid([0, 1, 1], [1, 1, 1]).is_err());
}

/// What 5.1, 8.1 to 8.6 and the tables of 3 and 6 exclude, with messages that name field, value and
/// legal range.
#[test]
fn refusals() {
    let mut bytes = [0; SLOT_SIZE];
    let mut launcher = |change: &dyn Fn(&mut Launcher)| {
        let mut launcher = example_launcher();
        change(&mut launcher);
        let refused = launcher.pack(launcher_address(), &mut bytes);
        refused.unwrap_err().to_string()
    };
    let word = |record, argument| InlineWord { record, argument };
    let local = LocalSize::new([1, 1, 1]).unwrap();
    let direct = |groups, buffers: &[u64], at| {
        let record = Direct::new(groups, buffers)?;
        record.pack(at, &mut [0; RECORD_SIZE])
    };
    let counts = Groups::Direct([1, 1, 1]);
    let cases = [
        (
            EntryOffset::new(0x3c1).unwrap_err().to_string(),
            "TARGET: entry offset = 0x3c1: legal is an even number, 0..=0x7fffea",
        ),
        (
            EntryOffset::new(0x7f_ffec).unwrap_err().to_string(),
            "TARGET: entry offset = 0x7fffec: legal is an even number, 0..=0x7fffea",
        ),
        (
            Frame::new(1023, 0, 0).unwrap_err().to_string(),
            "FRAME: publications = 0x3ff: legal is 0..=1022",
        ),
        (
            launcher(&|l| l.frame.publication_pairs = 512),
            "FRAME: publication pairs = 0x200: legal is 0..=511",
        ),
        (
            launcher(&|l| l.pointers = 20),
            "launcher: pointers = 0x14: legal is 2..=19",
        ),
        (
            launcher(&|l| l.pointers = 1),
            "launcher: pointers = 0x1: legal is 2..=19",
        ),
        (
            launcher(&|l| l.table = 0x1004),
            "launcher: table = 0x1004: legal is a multiple of 8, not 0",
        ),
        (
            launcher(&|l| l.table = 1 << 42),
            "launcher: table = 0x40000000000: legal is below 2^42",
        ),
        (
            launcher(&|l| l.inline.push(word(9, 3))),
            "launcher: inline argument word = 0x3: legal is behind the pointers and the previous \
             inline word, up to 63",
        ),
        (
            launcher(&|l| l.inline.push(word(9, 64))),
            "launcher: inline argument word = 0x40: legal is behind the pointers and the previous \
             inline word, up to 63",
        ),
        (
            launcher(&|l| l.inline.push(word(512, 4))),
            "launcher: inline record word = 0x200: legal is 0..=511",
        ),
        (
            launcher(&|l| l.registers.root = 18),
            "launcher: root register = 0x12: legal is a pair that is not loaded into",
        ),
        (
            launcher(&|l| l.registers.pending = 62),
            "launcher: last pending register = 0x41: legal is loaded words up to r63",
        ),
        (
            launcher(&|l| l.preamble = Some(CodeAddress::from_offset(1))),
            "launcher: preamble = 0x10000000001: legal is an even address",
        ),
        (
            CodeAddress::new(0x101_0000_0000).unwrap_err().to_string(),
            "execution window: address = 0x10100000000: legal is 0x100_0000_0000..=0x100_ffff_ffff",
        ),
        (
            BlockOffset::new(0x350).unwrap_err().to_string(),
            "entry block: offset = 0x350: legal is a multiple of 0x40, 0x340..=0x7fff40",
        ),
        (
            Grid::new([65536, 1, 1], local).unwrap_err().to_string(),
            "CDM launch: workgroups on an axis = 0x10000: legal is 1..=65535",
        ),
        (
            IndirectAddress::new(0x1002).unwrap_err().to_string(),
            "indirect arguments: address = 0x1002: legal is a multiple of 4, not 0",
        ),
        (
            Barrier::new(1 << 21).unwrap_err().to_string(),
            "CDM barrier: controls = 0x200000: legal is bits 19:0, 20, 24 and 26",
        ),
        (
            direct(counts, &[0; 19], 0).unwrap_err().to_string(),
            "resource record: buffers = 0x13: legal is 1..=18",
        ),
        (
            direct(counts, &[1 << 42], 0).unwrap_err().to_string(),
            "resource record: buffer = 0x40000000000: legal is below 2^42",
        ),
        (
            direct(counts, &[0], 0x20).unwrap_err().to_string(),
            "resource record: address = 0x20: legal is a multiple of 0x40 below 2^42",
        ),
        (
            direct(Groups::Direct([1, 0, 1]), &[0], 0)
                .unwrap_err()
                .to_string(),
            "resource record: group count = 0x0: legal is 1..=65535",
        ),
    ];
    for (got, expected) in cases {
        assert_eq!(got, expected);
    }
}

/// Records with fields that the reference excludes: none of them unpacks.
#[test]
fn reserved_record_fields() {
    let direct = stream(&[example_launch(Geometry::Direct(example_grid()))]);
    let indirect = stream(&[example_launch(Geometry::IndirectLocal {
        arguments: IndirectAddress::new(ARGUMENTS).unwrap(),
    })]);
    // Word, bit.
    let flips = [
        (0, 19), // always 1
        (0, 1),  // counts of older GPUs
        (0, 15),
        (0, 22),
        (0, 24),
        (0, 26),
        (1, 0),
        (1, 24),
        (2, 26), // outside the window
        (3, 0),
        (3, 8),
        (3, 30), // required
        (3, 31),
    ];
    for record in [&direct, &indirect] {
        assert!(Record::unpack(record).is_ok());
        for (word, bit) in flips {
            let mut record = record.clone();
            record[4 * word + bit / 8] ^= 1 << (bit % 8);
            assert!(Record::unpack(&record).is_err(), "word {word} bit {bit}");
        }
    }
    let words: [&[u32]; 10] = [
        &[
            0x1888_0000,
            0x0100_0040,
            0x24000,
            0x4000_0001,
            0,
            0,
            0,
            0,
            0,
            0,
        ], // mode 3
        &[0x4000_0001], // terminate
        &[0x8000_0004], // return
        &[0xa000_0000], // types 5 to 7
        &[0xc000_0000],
        &[0xe000_0000],
        &[0x6020_0000],         // barrier bit 21
        &[0x6800_0000],         // barrier bit 27
        &[0x2000_0100, 0],      // link target above 2^40
        &[0x2000_0000, 0x1002], // odd link
    ];
    for words in words {
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        assert!(Record::unpack(&bytes).is_err(), "{words:x?}");
    }
}
