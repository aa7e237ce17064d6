// SPDX-License-Identifier: MIT
//! The kernel's rules of launch, 8.8: one stream that satisfies all, and one that breaks each.

use agx_hw::Error;
use agx_hw::cdm::{
    Barrier, CdmStream, Geometry, Grid, IndirectAddress, Launch, Link, LocalSize, Record,
};
use agx_hw::lint::{Refusal, Rules, Summary, check};
use agx_hw::window::LauncherAddress;

const BASE: u64 = 0x20_0000_0000;
const LAUNCHER: u32 = 0x90_0000 / 64;
const PAGE: u64 = 0x100_0095_0000;
const ARGUMENTS: u64 = 0x20_0002_0000;

fn local() -> LocalSize {
    LocalSize::new([32, 1, 1]).unwrap()
}

fn launch(units: u32) -> Record {
    let grid = Grid::new([64, 1, 1], local()).unwrap();
    let launcher = LauncherAddress::from_units(units).unwrap();
    Record::Launch(Launch::new(launcher, Geometry::Direct(grid)))
}

fn indirect(address: u64) -> Record {
    let geometry = Geometry::IndirectLocal {
        arguments: IndirectAddress::new(address).unwrap(),
    };
    let launcher = LauncherAddress::from_units(LAUNCHER).unwrap();
    Record::Launch(Launch::new(launcher, geometry))
}

const FULL: Record = Record::Barrier(Barrier::FULL);

const fn link(target: u64, with_return: bool) -> Record {
    Record::Link(Link {
        target,
        with_return,
    })
}

/// Memory as a list of mapped ranges: the stream, and zeros.
struct Memory {
    stream: Vec<u8>,
    pages: Vec<(u64, u64)>,
}

impl Memory {
    fn new(records: &[Record]) -> Memory {
        let mut stream = vec![0; 0x1_0000];
        let mut writer = CdmStream::new(&mut stream, BASE).unwrap();
        for record in records {
            writer.push(*record).unwrap();
        }
        let size = writer.size();
        stream.truncate(size);
        Memory {
            stream,
            pages: vec![(PAGE, PAGE + 0x4000), (ARGUMENTS, ARGUMENTS + 0x4000)],
        }
    }

    fn end(&self) -> u64 {
        BASE + self.stream.len() as u64
    }

    fn read(&self, address: u64, bytes: &mut [u8]) -> bool {
        let end = address + bytes.len() as u64;
        if address >= BASE && end <= self.end() {
            let start = (address - BASE) as usize;
            bytes.copy_from_slice(&self.stream[start..start + bytes.len()]);
            return true;
        }
        bytes.fill(0);
        self.pages
            .iter()
            .any(|(from, to)| address >= *from && end <= *to)
    }

    fn check(&self, rules: Rules) -> Result<Summary, Refusal> {
        check(BASE, self.end(), rules, |address, bytes| {
            self.read(address, bytes)
        })
    }
}

fn strictest(records: &[Record]) -> Result<Summary, Refusal> {
    Memory::new(records).check(Rules::STRICTEST)
}

#[test]
fn a_legal_stream() {
    let summary = strictest(&[
        FULL,
        launch(LAUNCHER),
        FULL,
        indirect(ARGUMENTS),
        Record::Terminate,
    ]);
    let expected = Summary {
        records: 5,
        launches: 2,
        preemption_page: Some(PAGE),
    };
    assert_eq!(summary, Ok(expected));
}

/// A call of a part that stands behind a jump over it.
#[test]
fn links_and_returns() {
    let part = BASE + 16;
    let records = [
        link(part, true),
        link(BASE + 0x40, false),
        launch(LAUNCHER),
        FULL,
        Record::Return,
    ];
    let mut memory = Memory::new(&records);
    assert_eq!(memory.stream.len(), 0x40);
    memory
        .stream
        .extend_from_slice(&0x4000_0000u32.to_le_bytes());
    let summary = memory.check(Rules::STRICTEST).unwrap();
    assert_eq!((summary.records, summary.launches), (6, 1));
}

#[test]
fn rule_1_range() {
    let memory = Memory::new(&[launch(LAUNCHER), Record::Terminate]);
    let end = memory.end();
    let run = |base, end| check(base, end, Rules::STRICTEST, |a, b| memory.read(a, b));
    assert!(run(BASE, end).is_ok());
    for (base, end) in [(BASE, BASE), (end, BASE), (BASE + 2, end), (BASE, end + 2)] {
        assert_eq!(run(base, end), Err(Refusal::Range { base, end }));
    }
    // The second page of the range is not mapped.
    let end = BASE + 0x4004;
    assert_eq!(run(BASE, end), Err(Refusal::Unreadable { base: BASE, end }));
    let base = u64::MAX - 3;
    let end = base;
    assert_eq!(run(base, end), Err(Refusal::Range { base, end }));
}

#[test]
fn rule_2_walk() {
    let address = BASE + 8;
    let outside = link(BASE + 0x1000, false);
    let refused = strictest(&[FULL, FULL, outside]);
    let target = BASE + 0x1000;
    assert_eq!(refused, Err(Refusal::Outside { address: target }));
    // Ends inside a record.
    let mut memory = Memory::new(&[FULL, FULL, launch(LAUNCHER)]);
    memory.stream.truncate(8 + 0x24);
    assert_eq!(
        memory.check(Rules::STRICTEST),
        Err(Refusal::Outside { address })
    );
    // No terminator at all.
    let refused = strictest(&[FULL, FULL]);
    assert_eq!(refused, Err(Refusal::Outside { address }));
    // Loops: without and with return.
    assert_eq!(strictest(&[FULL, link(BASE, false)]), Err(Refusal::Records));
    let refused = strictest(&[FULL, FULL, link(BASE, true)]);
    assert_eq!(refused, Err(Refusal::Depth { address }));
    let refused = strictest(&[FULL, FULL, Record::Return]);
    assert_eq!(refused, Err(Refusal::Return { address }));
    // 4096 records are walked, one more is not.
    let mut records = vec![FULL; 4094];
    records.extend([launch(LAUNCHER), Record::Terminate]);
    assert_eq!(strictest(&records).unwrap().records, 4096);
    records.insert(0, FULL);
    assert_eq!(strictest(&records), Err(Refusal::Records));
}

#[test]
fn rule_3_launchers() {
    for (word, value) in [(3, 1u32), (3, 0x4000_0002), (2, 0x0400_0000)] {
        let mut memory = Memory::new(&[launch(LAUNCHER), Record::Terminate]);
        memory.stream[4 * word..4 * word + 4].copy_from_slice(&value.to_le_bytes());
        match memory.check(Rules::STRICTEST) {
            Err(Refusal::Record { address, source }) => {
                assert_eq!(address, BASE);
                assert!(matches!(source, Error::Field { .. }), "{source}");
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn rule_4_preemption_page() {
    // Another launcher of the same 32 KiB is fine, of the next is not.
    let last = LAUNCHER + 0x7fc0 / 64;
    assert!(strictest(&[launch(LAUNCHER), launch(last), Record::Terminate]).is_ok());
    let records = [launch(LAUNCHER), launch(last + 1), Record::Terminate];
    let mut memory = Memory::new(&records);
    let address = BASE + 0x28;
    let page = PAGE + 0x8000;
    assert_eq!(
        memory.check(Rules::STRICTEST),
        Err(Refusal::PreemptionPage { address, page })
    );
    memory.pages.push((page, page + 0x4000));
    assert_eq!(
        memory.check(Rules::STRICTEST),
        Err(Refusal::PreemptionPages {
            address,
            page,
            first: PAGE
        })
    );
    let summary = memory.check(Rules::LATER).unwrap();
    assert_eq!(summary.preemption_page, None);
    // At the window's end there is no page behind.
    let records = [launch(0x3ff_ffff), Record::Terminate];
    let page = 0x100_ffff_8000 + 0x5_0000;
    let mut memory = Memory::new(&records);
    memory.pages.push((page, page + 0x4000));
    assert_eq!(
        memory.check(Rules::STRICTEST),
        Err(Refusal::PreemptionPage {
            address: BASE,
            page
        })
    );
}

#[test]
fn rule_5_indirect_arguments() {
    let end = ARGUMENTS + 0x4000;
    assert!(strictest(&[indirect(end - 24), Record::Terminate]).is_ok());
    let arguments = end - 20;
    let refused = strictest(&[indirect(arguments), Record::Terminate]);
    let address = BASE;
    assert_eq!(refused, Err(Refusal::Indirect { address, arguments }));
}

#[test]
fn rule_6_terminator() {
    let address = BASE + 0x28;
    let refused = strictest(&[launch(LAUNCHER), Record::Terminate, FULL]);
    assert_eq!(refused, Err(Refusal::Terminator { address }));
    // At the right place, but below a link with return.
    let records = [launch(LAUNCHER), link(BASE + 0x30, true), Record::Terminate];
    assert_eq!(
        strictest(&records),
        Err(Refusal::Terminator {
            address: BASE + 0x30
        })
    );
    assert_eq!(strictest(&[FULL, Record::Terminate]), Err(Refusal::Empty));
}
