// SPDX-License-Identifier: MIT
//! A machine for tests: memory laid out as in launch, 12.1, and what a driver writes into it.

// Each test binary uses its own part of this.
#![allow(dead_code, unreachable_pub)]

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use agx_hw::arena::{Block, BlockOffset, Header, Kind, Target};
use agx_hw::cdm::{CdmStream, Geometry, Grid, Launch, LocalSize, Record};
use agx_hw::launcher::{Frame, Launcher, Storage};
use agx_hw::root::{Direct, Groups, THREADGROUP_ROOT};
use agx_hw::window::{CodeAddress, EntryOffset, LauncherAddress};
use agx_isa::asm::assemble;
use agx_sim::fault::Fault;
use agx_sim::gpu::{Gpu, GpuConfig};
use agx_sim::memory::{Bo, Mappings, Region};
use agx_sim::processor::{ComputeCommand, Processor};
use agx_sim::shader::strict::Options;

/// The execution window's start: the entry arena.
pub const ARENA: u64 = 1 << 40;
/// Where bodies lie.
pub const BODIES: u64 = ARENA + 0x80_0000;
/// Where launchers and their records lie.
pub const LAUNCHERS: u64 = ARENA + 0x90_0000;
/// Where the stream lies.
pub const STREAM: u64 = 0x20_0000_0000;
/// Where data lies: argument pointer 1 of [`Machine::launcher`].
pub const DATA: u64 = 0x20_0100_0000;

/// Memory of the GPU at one address.
#[derive(Clone)]
pub struct Memory {
    pub va: u64,
    pub bo: Arc<Bo>,
    pub write: bool,
}

impl Memory {
    pub fn new(va: u64, size: u64, write: bool) -> Memory {
        let bo = Arc::new(Bo::new(size).unwrap());
        Memory { va, bo, write }
    }

    /// Writes bytes at GPU address `va`.
    pub fn write(&self, va: u64, bytes: &[u8]) {
        let offset = va.checked_sub(self.va).unwrap();
        assert!(offset + bytes.len() as u64 <= self.bo.size());
        // SAFETY: inside the object; nothing else writes to it now.
        unsafe {
            let at = self.bo.base().add(offset as usize);
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), at, bytes.len());
        }
    }

    pub fn write_words(&self, va: u64, words: &[u32]) {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.write(va, &bytes);
    }

    /// `count` words from GPU address `va` on.
    pub fn words(&self, va: u64, count: usize) -> Vec<u32> {
        let offset = va.checked_sub(self.va).unwrap();
        assert!(offset.is_multiple_of(4) && offset + 4 * count as u64 <= self.bo.size());
        let word = |i: usize| {
            // SAFETY: inside the object, aligned; nothing runs.
            unsafe {
                self.bo
                    .base()
                    .add(offset as usize)
                    .cast::<u32>()
                    .add(i)
                    .read()
            }
        };
        (0..count).map(word).collect()
    }

    fn region(&self) -> Region {
        Region {
            start: self.va,
            end: self.va + self.bo.size(),
            bo: Arc::clone(&self.bo),
            offset: 0,
            single_page: false,
            read: true,
            write: self.write,
        }
    }
}

/// Memory, and where the next thing goes.
pub struct Machine {
    pub arena: Memory,
    pub bodies: Memory,
    pub launchers: Memory,
    pub stream: Memory,
    pub data: Memory,
    pub more: Vec<Memory>,
    next_block: u32,
    next_body: u64,
    next_launcher: u64,
}

/// A GPU as tests want it: strict.
pub fn gpu(threads: usize) -> Gpu {
    Gpu::new(GpuConfig {
        threads,
        watchdog: 10_000_000,
        strict: Some(Options::COMPILER),
        ..GpuConfig::default()
    })
    .unwrap()
}

impl Machine {
    pub fn new() -> Machine {
        Machine::with_data(1 << 20)
    }

    /// A machine with so many bytes at [`DATA`].
    pub fn with_data(bytes: u64) -> Machine {
        let machine = Machine {
            arena: Memory::new(ARENA, 0x1_0000, false),
            bodies: Memory::new(BODIES, 0x4_0000, false),
            launchers: Memory::new(LAUNCHERS, 0x1_0000, false),
            stream: Memory::new(STREAM, 0x1_0000, false),
            data: Memory::new(DATA, bytes, true),
            more: Vec::new(),
            next_block: BlockOffset::FIRST.get(),
            next_body: BODIES,
            next_launcher: LAUNCHERS,
        };
        let mut header = [0; 0x340];
        Header::default().pack(&mut header).unwrap();
        machine.arena.write(ARENA, &header);
        machine
    }

    /// Places machine code.
    pub fn code(&mut self, bytes: &[u8]) -> CodeAddress {
        let at = self.next_body;
        self.bodies.write(at, bytes);
        self.next_body = (at + bytes.len() as u64).next_multiple_of(64);
        CodeAddress::new(at).unwrap()
    }

    /// Places assembly text.
    pub fn text(&mut self, text: &str) -> CodeAddress {
        let bytes = assemble(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        self.code(&bytes)
    }

    /// An entry block that jumps to `body`.
    pub fn entry(&mut self, body: CodeAddress) -> EntryOffset {
        let at = BlockOffset::new(self.next_block).unwrap();
        let block = Block {
            kind: Kind::Compute,
            target: Target::Jump(body),
        };
        let mut bytes = [0; 0xc0];
        block.pack(at, &mut bytes).unwrap();
        self.arena.write(ARENA + u64::from(at.get()), &bytes);
        self.next_block += 0xc0;
        at.entry()
    }

    /// Assembles a shader and gives it an entry.
    pub fn shader(&mut self, text: &str) -> EntryOffset {
        let body = self.text(text);
        self.entry(body)
    }

    /// A launcher with argument pointer 0 = the group counts, 1 = [`DATA`], 2 = the threadgroup
    /// root; `edit` changes it before it is written.
    pub fn launcher(
        &mut self,
        entry: EntryOffset,
        groups: Groups,
        edit: impl FnOnce(&mut Launcher),
    ) -> LauncherAddress {
        let at = self.next_launcher;
        self.next_launcher += 0x800;
        let table = at + 0x400;
        let record = Direct::new(groups, &[DATA, THREADGROUP_ROOT]).unwrap();
        let mut bytes = [0; 0x100];
        record.pack(table, &mut bytes).unwrap();
        self.launchers.write(table, &bytes);
        let mut launcher = Launcher::new(table, record.pointers(), entry);
        edit(&mut launcher);
        let address = LauncherAddress::new(CodeAddress::new(at).unwrap()).unwrap();
        let mut bytes = [0; 0x400];
        launcher.pack(address, &mut bytes).unwrap();
        self.launchers.write(at, &bytes);
        address
    }

    /// A launcher from assembly text.
    pub fn launcher_text(&mut self, text: &str) -> LauncherAddress {
        let at = self.next_launcher;
        self.next_launcher += 0x800;
        let bytes = assemble(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        self.launchers.write(at, &bytes);
        LauncherAddress::new(CodeAddress::new(at).unwrap()).unwrap()
    }

    /// Writes a stream of these records and a terminator; returns its end.
    pub fn records(&self, records: &[Record]) -> u64 {
        let mut bytes = [0; 0x1000];
        let mut stream = CdmStream::new(&mut bytes, STREAM).unwrap();
        for record in records {
            stream.push(*record).unwrap();
        }
        let end = stream.terminate().unwrap();
        self.stream.write(STREAM, &bytes);
        end
    }

    /// Writes a stream of raw words; returns the address behind them.
    pub fn words(&self, words: &[u32]) -> u64 {
        self.stream.write_words(STREAM, words);
        STREAM + 4 * words.len() as u64
    }

    pub fn command(&self, end: u64) -> ComputeCommand {
        let fixed = [
            &self.arena,
            &self.bodies,
            &self.launchers,
            &self.stream,
            &self.data,
        ];
        let mut regions: Vec<Region> = fixed
            .into_iter()
            .chain(&self.more)
            .map(Memory::region)
            .collect();
        regions.sort_by_key(|region| region.start);
        ComputeCommand {
            stream: STREAM,
            stream_end: end,
            mappings: Arc::new(Mappings::new(regions)),
        }
    }

    /// Runs the stream that ends at `end`.
    pub fn run(&self, gpu: &Gpu, end: u64) -> Result<(), Box<Fault>> {
        gpu.compute(&self.command(end), &AtomicBool::new(false))
    }

    /// Runs the records.
    pub fn run_records(&self, gpu: &Gpu, records: &[Record]) -> Result<(), Box<Fault>> {
        self.run(gpu, self.records(records))
    }

    /// One direct dispatch of a shader, with this much threadgroup memory.
    pub fn dispatch_with(
        &mut self,
        gpu: &Gpu,
        text: &str,
        global: [u32; 3],
        local: [u32; 3],
        threadgroup: u32,
    ) -> Result<(), Box<Fault>> {
        let entry = self.shader(text);
        let grid = Grid::new(global, LocalSize::new(local).unwrap()).unwrap();
        let launcher = self.launcher(entry, Groups::Direct(grid.groups()), |launcher| {
            launcher.storage = Storage::threadgroup(threadgroup).unwrap();
            launcher.frame = Frame::new(0, 16, 16).unwrap();
        });
        self.run_records(gpu, &[direct(launcher, grid)])
    }

    /// The same without threadgroup memory.
    pub fn dispatch(
        &mut self,
        gpu: &Gpu,
        text: &str,
        global: [u32; 3],
        local: [u32; 3],
    ) -> Result<(), Box<Fault>> {
        self.dispatch_with(gpu, text, global, local, 0)
    }
}

/// A direct launch.
pub fn direct(launcher: LauncherAddress, grid: Grid) -> Record {
    Record::Launch(Launch::new(launcher, Geometry::Direct(grid)))
}

/// Hexadecimal text as bytes.
pub fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.chunks(2).map(byte).collect()
}
