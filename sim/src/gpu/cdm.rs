// SPDX-License-Identifier: MIT
//! The walk over a compute command stream (launch, 8 and 11).
//!
//! [`Stream::next`] executes records up to and including the next launch that has work. It reads
//! memory when it is called, so indirect arguments and even records may be written by earlier
//! launches of the same stream. Records are unpacked by [`agx_hw::cdm`]; what that refuses faults.
//!
//! Decisions where the reference is silent:
//!
//! * **Zero counts**, in any mode, are no work (launch, 14 row 8: open; Vulkan needs this). The
//!   launch program does not run then. The local size is checked first: a product of 0 or above
//!   1024 faults even when there is nothing to do (launch, 11 row 2).
//! * **More than 65535 workgroups** on an axis fault: beyond the tested bound (launch, 9).
//! * **Where the stream ends.** Records execute from the base on until a terminator does, wherever
//!   links lead. `end` says where the terminator of the first contiguous segment ends; with another
//!   value, or without a terminator, hardware "can retire without executing anything"
//!   (kernel-uapi, 13). Here a walk that runs over `end` inside the first segment faults, as what
//!   follows is no part of the command; a terminator elsewhere than at `end - 4` in the first
//!   segment faults in strict mode only. A first segment that ends in a link is not checked.
//! * **Links** nest up to 32 deep (the limit that one kernel imposes, launch, 8.8; the hardware's is
//!   not known); a return without a link, or deeper nesting, faults.
//! * **Barriers** do nothing here: launches run to their end one after the other, and
//!   [`crate::shader::cache`] compares code bytes at each launch.
//! * **Read-ahead.** Fewer than 0x800 readable bytes behind a terminator or link (launch, 8.7;
//!   INFERRED for compute) fault in strict mode.

use agx_hw::cdm::{Geometry, Grid, LocalSize, READ_AHEAD, Record};

use super::GpuConfig;
use crate::fault::{Fault, FaultKind};
use crate::memory::{Access, Mappings};
use crate::processor::ComputeCommand;

/// Deepest nesting of links with return (launch, 8.8).
const MAX_DEPTH: usize = 32;
/// Bytes of a direct launch that hold the counts of threads (launch, 8.4).
const GLOBAL: std::ops::Range<usize> = 16..28;

/// A launch to execute: never empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Launch {
    /// Address of its record.
    pub(super) record: u64,
    /// Address of the launch program.
    pub(super) launcher: u64,
    /// What it covers.
    pub(super) grid: Grid,
}

/// Where a return leads.
#[derive(Clone, Copy, Debug)]
struct Return {
    address: u64,
    first_segment: bool,
}

/// A stream being executed.
pub(super) struct Stream<'m> {
    mappings: &'m Mappings,
    strict: bool,
    /// Address of the next record.
    at: u64,
    /// The command's `end`.
    end: u64,
    /// No link has been followed since the base, other than those returned from.
    first_segment: bool,
    returns: Vec<Return>,
    records: u64,
    max_records: u64,
    done: bool,
}

impl<'m> Stream<'m> {
    /// The stream of a command.
    pub(super) fn new(
        command: &'m ComputeCommand,
        config: &GpuConfig,
    ) -> Result<Stream<'m>, Box<Fault>> {
        let (base, end) = (command.stream, command.stream_end);
        if !base.is_multiple_of(4) || !end.is_multiple_of(4) || end <= base {
            let reason =
                format!("a stream from {base:#x} to {end:#x}: not in order, or not aligned to 4");
            return Err(refuse(base, reason));
        }
        Ok(Stream {
            mappings: &command.mappings,
            strict: config.strict.is_some(),
            at: base,
            end,
            first_segment: true,
            returns: Vec::new(),
            records: 0,
            max_records: config.max_records,
            done: false,
        })
    }

    /// Executes records up to the next launch with work; `None` when the stream has ended.
    pub(super) fn next(&mut self) -> Result<Option<Launch>, Box<Fault>> {
        while !self.done {
            if let Some(launch) = self.step()? {
                return Ok(Some(launch));
            }
        }
        Ok(None)
    }

    /// Executes one record.
    fn step(&mut self) -> Result<Option<Launch>, Box<Fault>> {
        let at = self.at;
        if self.first_segment && at >= self.end {
            let end = self.end;
            return Err(refuse(
                at,
                format!("no terminator before the end of the stream, {end:#x}"),
            ));
        }
        if self.records == self.max_records {
            let limit = self.max_records;
            return Err(refuse(
                at,
                format!("more than {limit} records in one command: links in a circle?"),
            ));
        }
        self.records += 1;
        let (record, size, empty) = self.fetch(at)?;
        let next = at + size;
        self.at = next;
        match record {
            Record::Launch(launch) => {
                let grid = self.grid(at, launch.geometry)?;
                return Ok(grid.filter(|_| !empty).map(|grid| Launch {
                    record: at,
                    launcher: launch.launcher.code().address(),
                    grid,
                }));
            }
            Record::Barrier(_) => {}
            Record::Link(link) => {
                self.check_read_ahead(at, next)?;
                if link.with_return {
                    if self.returns.len() == MAX_DEPTH {
                        return Err(refuse(
                            at,
                            format!("links with return nest deeper than {MAX_DEPTH}"),
                        ));
                    }
                    self.returns.push(Return {
                        address: next,
                        first_segment: self.first_segment,
                    });
                }
                self.first_segment = false;
                self.at = link.target;
            }
            Record::Return => match self.returns.pop() {
                Some(to) => {
                    self.at = to.address;
                    self.first_segment = to.first_segment;
                }
                None => return Err(refuse(at, "return without a link".to_owned())),
            },
            Record::Terminate => {
                self.check_read_ahead(at, next)?;
                if self.strict && self.first_segment && next != self.end {
                    let end = self.end;
                    return Err(strict(
                        at,
                        format!(
                            "the command says that the stream ends at {end:#x}, its terminator ends \
                             at {next:#x}"
                        ),
                    ));
                }
                self.done = true;
            }
        }
        Ok(None)
    }

    /// The record at `at`, its size, and whether it is a direct launch of nothing.
    fn fetch(&self, at: u64) -> Result<(Record, u64, bool), Box<Fault>> {
        let mut buffer = [0; Record::MAX_SIZE];
        let mut length = 0;
        while length < buffer.len() {
            let word = &mut buffer[length..length + 4];
            if !self.mappings.read(at.wrapping_add(length as u64), word) {
                break;
            }
            length += 4;
        }
        if length == 0 {
            return Err(refuse(at, "not readable".to_owned()));
        }
        let error = match Record::unpack(&buffer[..length]) {
            Ok((record, size)) => return Ok((record, size as u64, false)),
            Err(error) => error,
        };
        // A direct launch of no threads cannot be unpacked. Is that all that is wrong?
        let mut nonempty = buffer;
        for word in nonempty[GLOBAL].chunks_exact_mut(4) {
            if *word == [0; 4] {
                word[0] = 1;
            }
        }
        match Record::unpack(&nonempty[..length]) {
            Ok((record @ Record::Launch(launch), size))
                if matches!(launch.geometry, Geometry::Direct(_)) =>
            {
                Ok((record, size as u64, true))
            }
            _ => Err(refuse(at, error.to_string())),
        }
    }

    /// What a launch covers; `None` = nothing.
    fn grid(&self, at: u64, geometry: Geometry) -> Result<Option<Grid>, Box<Fault>> {
        let wrong = |error: agx_hw::Error| refuse(at, format!("indirect arguments: {error}"));
        match geometry {
            Geometry::Direct(grid) => Ok(Some(grid)),
            Geometry::IndirectGlobal { arguments, local } => {
                let groups: [u32; 3] = self.arguments(at, arguments.get())?;
                if groups.contains(&0) {
                    return Ok(None);
                }
                Grid::of_groups(groups, local).map(Some).map_err(wrong)
            }
            Geometry::IndirectLocal { arguments } => {
                let [gx, gy, gz, lx, ly, lz]: [u32; 6] = self.arguments(at, arguments.get())?;
                let local = LocalSize::new([lx, ly, lz]).map_err(wrong)?;
                let global = [gx, gy, gz];
                if global.contains(&0) {
                    return Ok(None);
                }
                Grid::new(global, local).map(Some).map_err(wrong)
            }
        }
    }

    fn arguments<const N: usize>(&self, at: u64, from: u64) -> Result<[u32; N], Box<Fault>> {
        let mut words = [0; N];
        for (i, word) in words.iter_mut().enumerate() {
            let mut bytes = [0; 4];
            let address = from + 4 * i as u64;
            if !self.mappings.read(address, &mut bytes) {
                return Err(refuse(
                    at,
                    format!("indirect argument word {i} at {address:#x} is not readable"),
                ));
            }
            *word = u32::from_le_bytes(bytes);
        }
        Ok(words)
    }

    fn check_read_ahead(&self, at: u64, next: u64) -> Result<(), Box<Fault>> {
        if !self.strict || self.mappings.covers(next, READ_AHEAD, Access::Read) {
            return Ok(());
        }
        Err(strict(
            at,
            format!(
                "fewer than {READ_AHEAD:#x} readable bytes behind {next:#x}: command fetch reads ahead"
            ),
        ))
    }
}

/// The fault of a record.
#[cold]
fn refuse(va: u64, reason: String) -> Box<Fault> {
    let mut fault = Fault::new(FaultKind::Stream { va, reason });
    fault.record = Some(va);
    Box::new(fault)
}

#[cold]
fn strict(va: u64, reason: String) -> Box<Fault> {
    let mut fault = Fault::new(FaultKind::Strict(reason));
    fault.record = Some(va);
    Box::new(fault)
}
