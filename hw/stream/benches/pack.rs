// SPDX-License-Identifier: MIT
//! What a dispatch costs the driver in this crate, on one core.

use agx_hw::arena::{Block, BlockOffset, Kind, THUNK_SIZE, Target};
use agx_hw::cdm::{Geometry, Grid, Launch, LocalSize, Record};
use agx_hw::launcher::{InlineWord, Launcher, SLOT_SIZE};
use agx_hw::root::{Direct, Groups, RECORD_SIZE};
use agx_hw::window::{CodeAddress, LauncherAddress};
use divan::counter::ItemsCount;
use divan::{Bencher, black_box};

fn main() {
    divan::main();
}

const RECORD: u64 = 0x100_0090_0400;

fn at() -> LauncherAddress {
    LauncherAddress::from_units(0x90_0000 / 64).unwrap()
}

/// Six pointers, as graphics and table-mode launchers have, and `inline` words of push constants.
fn launcher(inline: u8) -> Launcher {
    let mut launcher = Launcher::new(RECORD, 6, BlockOffset::FIRST.entry());
    launcher.inline.extend((0..inline).map(|i| InlineWord {
        record: 16 + u16::from(i),
        argument: 12 + i,
    }));
    launcher
}

fn record() -> Record {
    let grid = Grid::new([64, 1, 1], LocalSize::new([32, 1, 1]).unwrap()).unwrap();
    Record::Launch(Launch::new(at(), Geometry::Direct(grid)))
}

#[divan::bench(args = [0, 32])]
fn pack_launcher(bencher: Bencher<'_, '_>, inline: u8) {
    let launcher = launcher(inline);
    let mut bytes = [0; SLOT_SIZE];
    bencher
        .counter(ItemsCount::new(1u32))
        .bench_local(|| black_box(&launcher).pack(at(), &mut bytes));
}

#[divan::bench(args = [0, 32])]
fn unpack_launcher(bencher: Bencher<'_, '_>, inline: u8) {
    let bytes = launcher(inline).to_vec(at()).unwrap();
    bencher
        .counter(ItemsCount::new(1u32))
        .bench_local(|| Launcher::unpack(at(), black_box(&bytes)));
}

#[divan::bench]
fn pack_launch_record(bencher: Bencher<'_, '_>) {
    let record = record();
    let mut bytes = [0; Record::MAX_SIZE];
    bencher
        .counter(ItemsCount::new(1u32))
        .bench_local(|| black_box(&record).pack(&mut bytes));
}

#[divan::bench]
fn unpack_launch_record(bencher: Bencher<'_, '_>) {
    let mut bytes = [0; Record::MAX_SIZE];
    record().pack(&mut bytes).unwrap();
    bencher
        .counter(ItemsCount::new(1u32))
        .bench_local(|| Record::unpack(black_box(&bytes)));
}

#[divan::bench]
fn pack_root_record(bencher: Bencher<'_, '_>) {
    let buffers = [0x20_0001_0000, 0x20_0002_0000, 0x20_0003_0000];
    let record = Direct::new(Groups::Direct([2, 1, 1]), &buffers).unwrap();
    let mut bytes = [0; RECORD_SIZE];
    bencher
        .counter(ItemsCount::new(1u32))
        .bench_local(|| black_box(&record).pack(RECORD, &mut bytes));
}

#[divan::bench]
fn pack_entry_block(bencher: Bencher<'_, '_>) {
    let block = Block {
        kind: Kind::Compute,
        target: Target::Jump(CodeAddress::from_offset(0x80_0000)),
    };
    let mut bytes = [0; THUNK_SIZE];
    bencher
        .counter(ItemsCount::new(1u32))
        .bench_local(|| black_box(&block).pack(BlockOffset::FIRST, &mut bytes));
}

#[divan::bench]
fn unpack_entry_block(bencher: Bencher<'_, '_>) {
    let block = Block {
        kind: Kind::Compute,
        target: Target::Jump(CodeAddress::from_offset(0x80_0000)),
    };
    let mut bytes = [0; THUNK_SIZE];
    block.pack(BlockOffset::FIRST, &mut bytes).unwrap();
    bencher
        .counter(ItemsCount::new(1u32))
        .bench_local(|| Block::unpack(BlockOffset::FIRST, black_box(&bytes)).is_ok());
}
