// SPDX-License-Identifier: MIT
//! Writes down what a SIMD group executes.
//!
//! ```text
//! [1,0,0] sg 0 1000080000a: fadd.6 r4, r2, r3            active 0000ffff
//!     r4 = 0..15: 3f800000
//! ```
//!
//! First comes the instruction with its workgroup, SIMD group, address and the active mask; then, once
//! it has executed, a line for each register that it wrote. Lanes with equal values, or with values in
//! steps of a constant (`0..31: 00000000 step 4`), stand together. An instruction that faults has no
//! such lines.

use std::fmt::Write as _;
use std::io;

use agx_isa::{Access, AccessKind, File, Half, Instr};

use super::lanes::{LANES, Lanes};
use super::observe::Observer;
use super::program::Program;
use super::wave::{BANKS, GPRS, PUBLICATIONS, Wave};
use crate::fault::FaultKind;

/// Which instructions a [`Trace`] writes down, and how much of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Filter {
    /// Only this workgroup.
    pub workgroup: Option<[u32; 3]>,
    /// Only this SIMD group of each workgroup.
    pub simd_group: Option<u32>,
    /// Only instructions that are active in one of these lanes, and only their values.
    pub lanes: u32,
    /// Stop after about this many bytes.
    pub limit: u64,
}

impl Filter {
    /// Everything.
    pub const ALL: Filter = Filter {
        workgroup: None,
        simd_group: None,
        lanes: !0,
        limit: u64::MAX,
    };

    fn admits(&self, wave: &Wave<'_>) -> bool {
        self.workgroup.is_none_or(|id| id == wave.group.id)
            && self.simd_group.is_none_or(|id| id == wave.simd_group)
            // Instructions without any active lane belong to everybody.
            && (wave.active() & self.lanes != 0 || wave.active() == 0)
    }
}

/// The observer.
pub struct Trace<W> {
    out: W,
    filter: Filter,
    written: u64,
    /// Reused for each line.
    line: String,
    /// Lanes that the current instruction acts on; `None` when it is not written down.
    active: Option<u32>,
    error: Option<io::Error>,
    /// The limit is reached.
    full: bool,
}

impl<W: io::Write> Trace<W> {
    /// A trace to `out`, which should be buffered.
    pub fn new(out: W, filter: Filter) -> Trace<W> {
        Trace {
            out,
            filter,
            written: 0,
            line: String::new(),
            active: None,
            error: None,
            full: false,
        }
    }

    /// Ends the trace.
    ///
    /// # Errors
    /// The first error of the writer. Nothing was written behind it.
    pub fn finish(mut self) -> io::Result<W> {
        match self.error {
            Some(error) => Err(error),
            None => {
                self.out.flush()?;
                Ok(self.out)
            }
        }
    }

    /// Writes `line`, unless there was an error or the limit is reached.
    fn put(&mut self) {
        if self.full || self.error.is_some() {
            return;
        }
        let length = self.line.len() as u64;
        if self.written + length > self.filter.limit {
            self.full = true;
            self.line.clear();
            self.line.push_str("... (the limit of the trace)\n");
        }
        self.written += length;
        self.error = self.out.write_all(self.line.as_bytes()).err();
    }

    /// The lines for one written register range.
    fn values(&mut self, wave: &Wave<'_>, access: &Access, lanes: u32) {
        let registers = (usize::from(access.reg.index)..).take(usize::from(access.count));
        for index in registers {
            self.line.clear();
            let line = &mut self.line;
            // Writing to a string does not fail.
            let _ = match (access.reg.file, access.reg.half) {
                (File::Gpr, half) if index < GPRS => {
                    let (suffix, shift, mask) = match half {
                        Half::Whole => ("", 0, !0),
                        Half::Low => (".l", 0, 0xffff),
                        Half::High => (".h", 16, 0xffff),
                    };
                    let value = Lanes::from_fn(|l| wave.gprs[index].0[l] >> shift & mask);
                    write!(line, "    r{index}{suffix} =").and_then(|()| runs(line, &value, lanes))
                }
                (File::Publication, _) if index < PUBLICATIONS => {
                    let value = wave.publication(index as u8);
                    write!(line, "    p{index} =").and_then(|()| runs(line, &value, lanes))
                }
                (File::Predicate, _) if index < BANKS => {
                    let value = wave.predicates[index] & lanes;
                    write!(line, "    P{index} = {value:08x}")
                }
                (File::Uniform, _) if index < 256 => {
                    let value = wave.uniform(index as u8);
                    write!(line, "    u{index} = {value:08x}")
                }
                _ => continue,
            };
            self.line.push('\n');
            self.put();
        }
    }
}

/// Appends the values of `lanes` in runs.
fn runs(line: &mut String, value: &Lanes, lanes: u32) -> std::fmt::Result {
    let shown = |lane: usize| lane < LANES && lanes >> lane & 1 == 1;
    let mut lane = 0;
    while lane < LANES {
        if !shown(lane) {
            lane += 1;
            continue;
        }
        let first = value.0[lane];
        let step = |lane: usize| value.0[lane + 1].wrapping_sub(value.0[lane]);
        let mut last = lane;
        while shown(last + 1) && step(last) == step(lane) {
            last += 1;
        }
        // Two lanes always have a common step: that is no run, unless it is 0.
        let common = if last > lane { step(lane) } else { 0 };
        if last == lane + 1 && common != 0 {
            last = lane;
        }
        if last == lane {
            write!(line, " {lane}: {first:08x}")?;
        } else if common == 0 {
            write!(line, " {lane}..{last}: {first:08x}")?;
        } else {
            write!(line, " {lane}..{last}: {first:08x} step {}", common as i32)?;
        }
        lane = last + 1;
    }
    Ok(())
}

impl<W: io::Write> Observer for Trace<W> {
    fn before(
        &mut self,
        wave: &Wave<'_>,
        program: &Program,
        index: usize,
    ) -> Result<(), FaultKind> {
        self.active = None;
        if self.full || self.error.is_some() || !self.filter.admits(wave) {
            return Ok(());
        }
        if program.info()[index].joint {
            // No instruction.
            return Ok(());
        }
        self.active = Some(wave.active());
        let (address, text) = program.describe(index);
        let [x, y, z] = wave.group.id;
        self.line.clear();
        // Writing to a string does not fail.
        let _ = writeln!(
            self.line,
            "[{x},{y},{z}] sg {} {address:x}: {text:<48} active {:08x}",
            wave.simd_group,
            wave.active(),
        );
        self.put();
        Ok(())
    }

    fn after(&mut self, wave: &Wave<'_>, program: &Program, index: usize) {
        let Some(active) = self.active else {
            return;
        };
        let lanes = active & self.filter.lanes;
        let instr: Option<Instr> = program.info()[index].instr;
        for access in instr.iter().flat_map(|instr| instr.accesses()) {
            if access.kind != AccessKind::Read && lanes != 0 {
                self.values(wave, &access, lanes);
            }
        }
        if wave.active() != active {
            self.line.clear();
            let _ = writeln!(self.line, "    active {:08x}", wave.active());
            self.put();
        }
    }
}
