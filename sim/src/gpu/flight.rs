// SPDX-License-Identifier: MIT
//! Strict checks on code: how it is mapped, and that it stays what it was.
//!
//! * Code lies in the execution window (launch, 2; HW).
//! * Code is mapped read-only: through a writable mapping, code appended after an earlier execution
//!   was fetched as stale zeros (launch, 2; kernel-uapi, 7.3; HW).
//! * Launch programs, entries and bodies stay unchanged until the command has completed (launch,
//!   3.2 and 5.5).
//! * A launch program does not run into the program that it starts: that could run twice (launch,
//!   5.2; HW).

use std::collections::HashMap;
use std::sync::Arc;

use agx_hw::window::{USC_BASE, USC_SIZE};

use crate::fault::{Fault, FaultKind};
use crate::memory::Mappings;
use crate::shader::Program;

/// The programs of a command. Does nothing unless strict.
pub(crate) struct Flight {
    strict: bool,
    /// By entry; the same entry can stand for several programs only when one of them changed.
    programs: HashMap<u64, Vec<Arc<Program>>>,
}

impl Flight {
    pub(crate) fn new(strict: bool) -> Flight {
        Flight {
            strict,
            programs: HashMap::new(),
        }
    }

    /// A program is about to run.
    pub(crate) fn enter(
        &mut self,
        mappings: &Mappings,
        program: &Arc<Program>,
    ) -> Result<(), Box<Fault>> {
        if !self.strict {
            return Ok(());
        }
        let known = self.programs.entry(program.entry()).or_default();
        if known.iter().any(|other| Arc::ptr_eq(other, program)) {
            return Ok(());
        }
        known.push(Arc::clone(program));
        for (address, bytes) in program.code() {
            let end = address.saturating_add(bytes.len() as u64);
            if address < USC_BASE || end > USC_BASE + USC_SIZE {
                return fault(format!("code at {address:#x} outside the execution window"));
            }
            let mut at = address;
            while at < end {
                // It was read, so it is mapped.
                let Some(region) = mappings.find(at) else {
                    break;
                };
                if region.write {
                    return fault(format!("code at {at:#x} is mapped GPU-writable"));
                }
                at = region.end;
            }
        }
        Ok(())
    }

    /// Does a launch program reach instructions of the program that it selects?
    pub(crate) fn check_apart(&self, launcher: &Program, body: &Program) -> Result<(), Box<Fault>> {
        if !self.strict {
            return Ok(());
        }
        for (address, bytes) in body.code() {
            for (other, others) in launcher.code() {
                let start = address.max(other);
                let end = (address + bytes.len() as u64).min(other + others.len() as u64);
                if start < end {
                    let launcher = launcher.entry();
                    return fault(format!(
                        "the launch program at {launcher:#x} leads into the program that it starts, \
                         at {start:#x}: that could run twice"
                    ));
                }
            }
        }
        Ok(())
    }

    /// Do these programs' bytes still stand in memory?
    pub(crate) fn check_these(
        &self,
        mappings: &Mappings,
        programs: &[&Program],
    ) -> Result<(), Box<Fault>> {
        if !self.strict {
            return Ok(());
        }
        for program in programs {
            for (address, bytes) in program.code() {
                let mut now = vec![0; bytes.len()];
                let changed = if mappings.read(address, &mut now) {
                    now.iter().zip(bytes).position(|(a, b)| a != b)
                } else {
                    Some(0)
                };
                if let Some(offset) = changed {
                    let at = address + offset as u64;
                    return fault(format!("code at {at:#x} changed while it was in flight"));
                }
            }
        }
        Ok(())
    }

    /// Do the bytes of all programs of the command?
    pub(crate) fn check(&self, mappings: &Mappings) -> Result<(), Box<Fault>> {
        let mut entries: Vec<_> = self.programs.iter().collect();
        entries.sort_by_key(|(entry, _)| **entry);
        for (_, programs) in entries {
            for program in programs {
                self.check_these(mappings, &[program])?;
            }
        }
        Ok(())
    }
}

#[cold]
fn fault(reason: String) -> Result<(), Box<Fault>> {
    Err(Box::new(Fault::new(FaultKind::Strict(reason))))
}
