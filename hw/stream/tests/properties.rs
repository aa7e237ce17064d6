// SPDX-License-Identifier: MIT
//! Pack and unpack are inverse, in both directions, and total.
//!
//! One direction: any legal value comes back. The other: whatever bytes are unpacked, packing the
//! value gives the same bytes; drawn from random bytes, and from legal bytes with some changed,
//! which get further than random ones.

use agx_hw::arena::{Block, BlockOffset, HEADER_SIZE, Header, HelperTables, Kind, Target};
use agx_hw::cdm::{
    Barrier, CdmStream, Geometry, Grid, IndirectAddress, Launch, LaunchConstant, Link, LocalSize,
    MAX_GROUPS, Occupancy, Record, records,
};
use agx_hw::launcher::{
    Frame, InlineWord, Launcher, MAX_INLINE, Registers, SLOT_SIZE, Samples, Storage, Template,
};
use agx_hw::lint;
use agx_hw::root::{Direct, Graphics, Groups, RECORD_SIZE, Table};
use agx_hw::window::{CodeAddress, EntryOffset, LauncherAddress, USC_BASE, USC_SIZE, VA_END};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;

/// At least 1000 cases; `PROPTEST_CASES` asks for more.
fn config() -> ProptestConfig {
    let mut config = ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    config.cases = config.cases.max(1000);
    config
}

fn code() -> impl Strategy<Value = CodeAddress> {
    any::<u32>().prop_map(|offset| CodeAddress::from_offset(offset & !1))
}

/// Far enough from the window's end for any launcher.
fn launcher_address() -> impl Strategy<Value = LauncherAddress> {
    (0..=(u32::MAX - 0x400) / 64).prop_map(|units| LauncherAddress::from_units(units).unwrap())
}

fn entry() -> impl Strategy<Value = EntryOffset> {
    (0..=EntryOffset::MAX / 2).prop_map(|half| EntryOffset::new(2 * half).unwrap())
}

fn storage() -> impl Strategy<Value = Storage> {
    let tile = |samples, units| Storage::Tile { samples, units };
    prop_oneof![
        Just(Storage::None),
        (1..=256u32).prop_map(|n| Storage::Threadgroup { bytes: 128 * n }),
        (0..=16u8).prop_map(move |units| tile(Samples::One, units)),
        (0..=8u8).prop_map(move |units| tile(Samples::Two, units)),
        (0..=8u8).prop_map(move |units| tile(Samples::Four, units)),
    ]
}

/// Inline words near the pointers are likely, so that they share loads with them.
fn inline_words() -> impl Strategy<Value = Vec<InlineWord>> {
    let record = prop_oneof![0..64u16, 0..512u16];
    btree_map(4..64u8, record, 0..20).prop_map(|words| {
        words
            .into_iter()
            .map(|(argument, record)| InlineWord { record, argument })
            .collect()
    })
}

fn launcher() -> impl Strategy<Value = Launcher> {
    let registers = prop_oneof![
        Just(Registers::default()),
        (0..32u8, 0..32u8).prop_map(|(root, pending)| Registers {
            root: 2 * root,
            pending: 2 * pending,
        }),
    ];
    let frame = (0..=511u16, any::<u16>(), any::<u16>()).prop_map(|(pairs, a, b)| Frame {
        publication_pairs: pairs,
        extent_a: a,
        extent_b: b,
    });
    let parts = (
        1..VA_END / 8,
        2..=19u8,
        inline_words(),
        storage(),
        entry(),
        frame,
        proptest::option::of(code()),
        registers,
    );
    parts.prop_map(
        |(table, pointers, words, storage, entry, frame, preamble, registers)| {
            let mut launcher = Launcher {
                table: 8 * table,
                pointers,
                inline: words
                    .into_iter()
                    .filter(|word| word.argument >= 2 * pointers)
                    .collect(),
                storage,
                entry,
                frame,
                preamble,
                registers,
            };
            // Until the words fit in the registers.
            while launcher.size().is_err() {
                if launcher.inline.pop().is_none() {
                    launcher.registers = Registers::default();
                }
            }
            launcher
        },
    )
}

fn block_offset() -> impl Strategy<Value = BlockOffset> {
    (0x340 / 64..=0x7f_0000 / 64u32).prop_map(|n| BlockOffset::new(64 * n).unwrap())
}

fn kind() -> impl Strategy<Value = Kind> {
    prop_oneof![Just(Kind::Compute), Just(Kind::Graphics)]
}

/// Bytes of even length that end in STOP.
fn body() -> impl Strategy<Value = Vec<u8>> {
    vec(any::<[u8; 2]>(), 0..80).prop_map(|units| {
        let mut body = units.concat();
        body.extend_from_slice(&[0x0e, 0, 0, 0]);
        body
    })
}

fn pointer() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0), Just(0x8000_0000), 0..VA_END]
}

fn record_address() -> impl Strategy<Value = u64> {
    (0..VA_END / 64).prop_map(|n| 64 * n)
}

fn groups() -> impl Strategy<Value = Groups> {
    prop_oneof![
        [1..=MAX_GROUPS, 1..=MAX_GROUPS, 1..=MAX_GROUPS].prop_map(Groups::Direct),
        (1..VA_END / 4).prop_map(|n| Groups::Indirect(4 * n)),
    ]
}

fn direct() -> impl Strategy<Value = Direct> {
    let parts = (groups(), vec(pointer(), 1..=18), vec(any::<u32>(), 0..44));
    parts.prop_map(|(groups, buffers, constants)| {
        let mut direct = Direct::new(groups, &buffers).unwrap();
        let room = (0xc0 - direct.constants_offset()) / 4;
        direct.constants.extend(constants.into_iter().take(room));
        direct
    })
}

fn local_size() -> impl Strategy<Value = LocalSize> {
    let axes = (0..=10u32)
        .prop_flat_map(|x| (Just(x), 0..=10 - x))
        .prop_flat_map(|(x, y)| (1..=1u32 << x, 1..=1u32 << y, 1..=1u32 << (10 - x - y)));
    axes.prop_map(|(x, y, z)| LocalSize::new([x, y, z]).unwrap())
}

fn grid() -> impl Strategy<Value = Grid> {
    let counts = [1..=MAX_GROUPS, 1..=MAX_GROUPS, 1..=MAX_GROUPS];
    (counts, local_size(), any::<[u32; 3]>()).prop_map(|(counts, local, cut)| {
        // Any number of threads in the last workgroup.
        let global = [0, 1, 2].map(|i| {
            let threads = local.get()[i];
            counts[i] * threads - cut[i] % threads
        });
        let grid = Grid::new(global, local).unwrap();
        assert_eq!(grid.groups(), counts);
        grid
    })
}

fn record() -> impl Strategy<Value = Record> {
    let arguments = || (1..VA_END / 4).prop_map(|n| IndirectAddress::new(4 * n).unwrap());
    let geometry = prop_oneof![
        grid().prop_map(Geometry::Direct),
        (arguments(), local_size())
            .prop_map(|(arguments, local)| Geometry::IndirectGlobal { arguments, local }),
        arguments().prop_map(|arguments| Geometry::IndirectLocal { arguments }),
    ];
    let occupancy = prop_oneof![Just(Occupancy::Heavy), Just(Occupancy::Light)];
    let constant = prop_oneof![Just(LaunchConstant::Standard), Just(LaunchConstant::Light)];
    let launch = (occupancy, constant, launcher_address(), geometry).prop_map(
        |(occupancy, constant, launcher, geometry)| {
            Record::Launch(Launch {
                occupancy,
                constant,
                launcher,
                geometry,
            })
        },
    );
    let link = (0..1u64 << 38, any::<bool>()).prop_map(|(n, with_return)| {
        Record::Link(Link {
            target: 4 * n,
            with_return,
        })
    });
    prop_oneof![
        4 => launch,
        1 => link,
        1 => Just(Record::Terminate),
        1 => Just(Record::Return),
        1 => any::<u32>().prop_map(|bits| {
            Record::Barrier(Barrier::new(bits & 0x051f_ffff).unwrap())
        }),
    ]
}

/// Changes of single bytes.
fn damage() -> impl Strategy<Value = Vec<(usize, u8)>> {
    let change = prop_oneof![any::<u8>(), (0..8u8).prop_map(|bit| 1 << bit)];
    vec((any::<usize>(), change), 1..4)
}

fn damaged(mut bytes: Vec<u8>, changes: &[(usize, u8)]) -> Vec<u8> {
    for (at, xor) in changes {
        let at = at % bytes.len();
        bytes[at] ^= xor;
    }
    bytes
}

/// If the bytes are a launcher, packing it gives them.
fn launcher_bytes_survive(at: LauncherAddress, bytes: &[u8]) -> Result<(), TestCaseError> {
    if let Ok((launcher, size)) = Launcher::unpack(at, bytes) {
        prop_assert_eq!(&launcher.to_vec(at).unwrap()[..], &bytes[..size]);
        prop_assert_eq!(launcher.clone().canonical(), launcher);
    }
    Ok(())
}

fn record_bytes_survive(bytes: &[u8]) -> Result<(), TestCaseError> {
    if let Ok((record, size)) = Record::unpack(bytes) {
        let mut again = [0; Record::MAX_SIZE];
        prop_assert_eq!(record.pack(&mut again), Ok(size));
        prop_assert_eq!(&again[..size], &bytes[..size]);
        prop_assert_eq!(size, record.size());
    }
    Ok(())
}

fn block_bytes_survive(at: BlockOffset, bytes: &[u8]) -> Result<(), TestCaseError> {
    if let Ok(block) = Block::unpack(at, bytes) {
        let mut again = vec![0xff; block.size()];
        prop_assert_eq!(block.pack(at, &mut again), Ok(block.size()));
        prop_assert_eq!(&again[..], &bytes[..block.size()]);
    }
    Ok(())
}

fn root_bytes_survive(
    at: u64,
    bytes: &[u8],
    buffers: usize,
    constants: usize,
) -> Result<(), TestCaseError> {
    let mut again = [0xff; RECORD_SIZE];
    if let Ok(direct) = Direct::unpack(at, bytes, buffers, constants) {
        direct.pack(at, &mut again).unwrap();
        prop_assert_eq!(&again[..], &bytes[..RECORD_SIZE]);
    }
    if let Ok(table) = Table::unpack(at, bytes) {
        table.pack(at, &mut again).unwrap();
        prop_assert_eq!(&again[..], &bytes[..RECORD_SIZE]);
    }
    if let Ok(graphics) = Graphics::unpack(bytes) {
        graphics.pack(&mut again).unwrap();
        prop_assert_eq!(&again[..], &bytes[..RECORD_SIZE]);
    }
    Ok(())
}

/// The kernel's walk comes to an end, and what it accepts is a stream.
fn lint_ends(bytes: &[u8]) -> Result<(), TestCaseError> {
    const BASE: u64 = 0x1000;
    let bytes = &bytes[..bytes.len() & !3];
    let end = BASE + bytes.len() as u64;
    let walked = lint::check(BASE, end, lint::Rules::STRICTEST, |address, out| {
        let start = address.saturating_sub(BASE) as usize;
        match bytes.get(start..start.saturating_add(out.len())) {
            Some(part) if address >= BASE => out.copy_from_slice(part),
            _ => out.fill(0),
        }
        true
    });
    if let Ok(summary) = walked {
        prop_assert!((1..=lint::MAX_RECORDS).contains(&summary.records));
        prop_assert!((1..summary.records).contains(&summary.launches));
        prop_assert_eq!(&bytes[bytes.len() - 4..], [0, 0, 0, 0x40]);
    }
    Ok(())
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn addresses(address in prop_oneof![any::<u64>(), USC_BASE..USC_BASE + USC_SIZE]) {
        let inside = (USC_BASE..USC_BASE + USC_SIZE).contains(&address);
        let code = CodeAddress::new(address);
        prop_assert_eq!(code.is_ok(), inside);
        if let Ok(code) = code {
            prop_assert_eq!(code.address(), address);
            prop_assert_eq!(CodeAddress::from_offset(code.offset()), code);
            let launcher = LauncherAddress::new(code);
            prop_assert_eq!(launcher.is_ok(), address % 64 == 0);
            if let Ok(launcher) = launcher {
                prop_assert_eq!(LauncherAddress::from_units(launcher.units()), Ok(launcher));
            }
        }
    }

    #[test]
    fn entry_fields(field in any::<u32>(), entry in entry()) {
        prop_assert_eq!(EntryOffset::from_field(entry.field()), Ok(entry));
        for field in [field, field & 0xff_ffff] {
            if let Ok(entry) = EntryOffset::from_field(field) {
                prop_assert!(field <= 0xff_ffff);
                prop_assert_eq!(entry.field(), field);
            }
        }
    }

    #[test]
    fn templates_write_what_launchers_are(launcher in launcher(), at in launcher_address(), table in 1..VA_END / 8) {
        let template = Template::new(&launcher);
        prop_assert_eq!(template.is_err(), launcher.preamble.is_some());
        let launcher = Launcher { table: 8 * table, preamble: None, ..launcher };
        let template = Template::new(&launcher).unwrap();
        let mut expected = [0xaa; 1024];
        launcher.pack(at, &mut expected).unwrap();
        let mut written = [0xbb; 1024];
        template.write(8 * table, &mut written).unwrap();
        prop_assert_eq!(written, expected);
        prop_assert_eq!(template.size(), launcher.size().unwrap());
        for bad in [0, 8 * table + 1, VA_END] {
            prop_assert!(template.write(bad, &mut written).is_err());
        }
        prop_assert!(template.write(8, &mut written[..template.size() - 1]).is_err());
    }

    #[test]
    fn launchers(launcher in launcher(), at in launcher_address(), changes in damage()) {
        let mut bytes = [0xff; SLOT_SIZE];
        let size = launcher.pack(at, &mut bytes).unwrap();
        prop_assert!(size <= Launcher::MAX_SIZE);
        prop_assert_eq!(launcher.size(), Ok(size));
        prop_assert!(bytes[size..].iter().all(|b| *b == 0));
        prop_assert_eq!(launcher.to_vec(at).unwrap(), &bytes[..size]);
        let canonical = launcher.clone().canonical();
        prop_assert_eq!(Launcher::unpack(at, &bytes), Ok((canonical.clone(), size)));
        prop_assert_eq!(canonical.first_free_word(), launcher.first_free_word());
        // Every instruction is one that a compiler may emit.
        for item in agx_isa::Decoder::new(&bytes[..size], agx_isa::Mode::Strict) {
            let (_, instr) = item.unwrap();
            prop_assert_eq!(instr.emit(), agx_isa::Emit::Yes);
        }
        for short in [0, 1, size / 2, size - 1] {
            prop_assert!(launcher.pack(at, &mut [0; SLOT_SIZE][..short]).is_err());
            prop_assert!(Launcher::unpack(at, &bytes[..short]).is_err());
        }
        let bytes = damaged(bytes[..size].to_vec(), &changes);
        launcher_bytes_survive(at, &bytes)?;
    }

    /// Pack refuses or succeeds, whatever the fields.
    #[test]
    fn wild_launchers(
        table in any::<u64>(),
        pointers in any::<u8>(),
        words in vec((any::<u16>(), any::<u8>()), 0..=MAX_INLINE),
        storage in prop_oneof![
            any::<u32>().prop_map(|bytes| Storage::Threadgroup { bytes }),
            any::<u8>().prop_map(|units| Storage::Tile { samples: Samples::Four, units }),
        ],
        (pairs, root, pending) in any::<(u16, u8, u8)>(),
        preamble in proptest::option::of(any::<u32>()),
        units in 0..0x400_0000u32,
    ) {
        let launcher = Launcher {
            table,
            pointers,
            inline: words
                .into_iter()
                .map(|(record, argument)| InlineWord { record, argument })
                .collect(),
            storage,
            entry: EntryOffset::new(0x3c0).unwrap(),
            frame: Frame { publication_pairs: pairs, extent_a: 0, extent_b: 0 },
            preamble: preamble.map(CodeAddress::from_offset),
            registers: Registers { root, pending },
        };
        let at = LauncherAddress::from_units(units).unwrap();
        let _ = launcher.first_free_word();
        if let Ok(bytes) = launcher.to_vec(at) {
            let canonical = launcher.canonical();
            let size = bytes.len();
            prop_assert_eq!(Launcher::unpack(at, &bytes), Ok((canonical, size)));
        } else {
            let _ = launcher.canonical();
        }
    }

    #[test]
    fn blocks(at in block_offset(), kind in kind(), target in code(), body in body(), changes in damage()) {
        for target in [Target::Jump(target), Target::Body(&body)] {
            let block = Block { kind, target };
            let mut bytes = vec![0xff; block.size() + 64];
            let size = block.pack(at, &mut bytes).unwrap();
            prop_assert_eq!(size, block.size());
            prop_assert!(bytes[size..].iter().all(|b| *b == 0xff));
            prop_assert_eq!(Block::unpack(at, &bytes), Ok(block));
            prop_assert!(block.pack(at, &mut vec![0; size - 1]).is_err());
            prop_assert!(Block::unpack(at, &bytes[..size - 1]).is_err());
            bytes.truncate(size);
            block_bytes_survive(at, &damaged(bytes, &changes))?;
        }
    }

    #[test]
    fn headers(six in any::<bool>(), changes in damage()) {
        let tables = if six { HelperTables::Six } else { HelperTables::Ten };
        let mut bytes = vec![0; HEADER_SIZE];
        Header { tables }.pack(&mut bytes).unwrap();
        prop_assert_eq!(Header::unpack(&bytes), Ok(Header { tables }));
        let other = damaged(bytes.clone(), &changes);
        prop_assert_eq!(Header::unpack(&other).is_ok(), other == bytes);
    }

    #[test]
    fn root_records(
        at in record_address(),
        direct in direct(),
        (textures, samplers, buffers) in (pointer(), pointer(), pointer()),
        groups in groups(),
        changes in damage(),
    ) {
        let (n, constants) = (direct.buffers.len(), direct.constants.len());
        let mut bytes = vec![0xff; RECORD_SIZE];
        // An indirect pointer that happens to be the record's own counts is refused.
        prop_assume!([direct.groups, groups].iter().all(|g| *g != Groups::Indirect(at + 0xc0)));
        direct.pack(at, &mut bytes).unwrap();
        prop_assert_eq!(Direct::unpack(at, &bytes, n, constants), Ok(direct));
        root_bytes_survive(at, &damaged(bytes.clone(), &changes), n, constants)?;
        let table = Table { textures, samplers, buffers, groups };
        table.pack(at, &mut bytes).unwrap();
        prop_assert_eq!(Table::unpack(at, &bytes), Ok(table));
        root_bytes_survive(at, &damaged(bytes.clone(), &changes), 5, 0)?;
        let graphics = Graphics { textures, samplers, buffers };
        graphics.pack(&mut bytes).unwrap();
        prop_assert_eq!(Graphics::unpack(&bytes), Ok(graphics));
        root_bytes_survive(at, &damaged(bytes, &changes), 2, 0)?;
    }

    #[test]
    fn stream_records(record in record(), changes in damage()) {
        let mut bytes = [0xff; Record::MAX_SIZE];
        let size = record.pack(&mut bytes).unwrap();
        prop_assert_eq!(Record::unpack(&bytes), Ok((record, size)));
        prop_assert!(bytes[size..].iter().all(|b| *b == 0xff));
        prop_assert!(record.pack(&mut bytes[..size - 1]).is_err());
        prop_assert!(Record::unpack(&bytes[..size - 1]).is_err());
        record_bytes_survive(&damaged(bytes[..size].to_vec(), &changes))?;
    }

    /// A stream is its records; one that no longer fits leaves it as it was.
    #[test]
    fn streams(list in vec(record(), 0..20), len in 0..400usize) {
        let mut memory = vec![0; len];
        let mut stream = CdmStream::new(&mut memory, 0x1000).unwrap();
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
        let ends = |record: &Record| {
            matches!(record, Record::Terminate | Record::Return | Record::Link(Link { with_return: false, .. }))
        };
        if let Some(last) = expected.iter().position(|(_, record)| ends(record)) {
            expected.truncate(last + 1);
        }
        let read: Result<Vec<_>, _> = records(&memory[..size]).collect();
        prop_assert_eq!(read, Ok(expected));
        lint_ends(&memory[..size])?;
    }

    /// Random bytes, whole and after the first word of something legal.
    #[test]
    fn random_bytes(
        mut bytes in vec(any::<u8>(), 0..0x400),
        first in prop_oneof![
            Just(0x0088_0000u32), Just(0x0888_0000), Just(0x1088_0000), Just(0x2000_0000),
            Just(0x6000_0000), Just(0xc0), Just(0x0002_802c), any::<u32>(),
        ],
        at in launcher_address(),
        block in block_offset(),
        record in any::<u64>(),
        (buffers, constants) in (0..40usize, 0..80usize),
    ) {
        for _ in 0..2 {
            launcher_bytes_survive(at, &bytes)?;
            record_bytes_survive(&bytes)?;
            block_bytes_survive(block, &bytes)?;
            root_bytes_survive(record & !63 & (VA_END - 1), &bytes, buffers, constants)?;
            root_bytes_survive(record, &bytes, buffers, constants)?;
            prop_assert!(Header::unpack(&bytes).is_err());
            prop_assert!(records(&bytes).count() <= bytes.len() / 4 + 1);
            lint_ends(&bytes)?;
            if let Some(word) = bytes.first_chunk_mut::<4>() {
                *word = first.to_le_bytes();
            }
        }
    }
}
