// SPDX-License-Identifier: MIT
//! What a kernel checks in a compute stream before it runs it.
//!
//! launch, 8.8: the six rules of an older G16 kernel, the strictest known. A driver that satisfies
//! them runs on every known kernel.

use super::is_readable;
use crate::cdm::{Geometry, Record};
use crate::error::Error;
use crate::window::{CodeAddress, PAGE_SIZE, USC_BASE, USC_SIZE};

/// Most records that are walked (rule 2).
pub const MAX_RECORDS: usize = 4096;
/// Most links with return that are open at a time (rule 2).
pub const MAX_DEPTH: usize = 32;
/// The preemption page's distance from the launchers' 32 KiB block (rule 4).
pub const PREEMPTION_OFFSET: u64 = 0x5_0000;
/// Bytes of the preemption page that belong to the kernel (rule 4).
pub const PREEMPTION_USED: u64 = 0x14a0;

/// Which rules to apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Rule 4: the launchers of a stream share one readable preemption page at a fixed distance.
    /// Later kernels own that page and do not ask.
    pub preemption_page: bool,
}

impl Rules {
    /// All rules of the older kernel.
    pub const STRICTEST: Rules = Rules {
        preemption_page: true,
    };
    /// Without the preemption page.
    pub const LATER: Rules = Rules {
        preemption_page: false,
    };
}

/// What a stream holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Records walked.
    pub records: usize,
    /// Launches among them, at least one.
    pub launches: usize,
    /// The preemption page of rule 4, where that rule was applied.
    pub preemption_page: Option<u64>,
}

/// Why a kernel refuses a stream. Addresses are those of the record at fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Rule 1: the range is empty or its ends are not multiples of 4.
    #[error("range {base:#x}..{end:#x}: legal are multiples of 4, base below end")]
    Range {
        /// First byte.
        base: u64,
        /// One behind the last byte.
        end: u64,
    },
    /// Rule 1: the range is not mapped readable.
    #[error("range {base:#x}..{end:#x} is not readable")]
    Unreadable {
        /// First byte.
        base: u64,
        /// One behind the last byte.
        end: u64,
    },
    /// Rule 2: a record lies outside the range, or ends behind it.
    #[error("record {address:#x} is outside the stream's range")]
    Outside {
        /// Its address.
        address: u64,
    },
    /// Rule 2: more records than are walked, as in a loop.
    #[error("more than 4096 records")]
    Records,
    /// Rule 2: too many links with return are open.
    #[error("record {address:#x}: more than 32 links deep")]
    Depth {
        /// Its address.
        address: u64,
    },
    /// A return without a link.
    #[error("record {address:#x}: return without a link")]
    Return {
        /// Its address.
        address: u64,
    },
    /// Bytes that are no legal record; of rule 3 as well.
    #[error("record {address:#x}: {source}")]
    Record {
        /// Its address.
        address: u64,
        /// Why.
        source: Error,
    },
    /// Rule 4: the preemption page is outside the window or not readable.
    #[error("record {address:#x}: preemption page {page:#x} is not readable in the window")]
    PreemptionPage {
        /// The launch's address.
        address: u64,
        /// The page's address.
        page: u64,
    },
    /// Rule 4: two launches have different preemption pages.
    #[error("record {address:#x}: preemption page {page:#x}, earlier launches have {first:#x}")]
    PreemptionPages {
        /// The launch's address.
        address: u64,
        /// Its page.
        page: u64,
        /// The page of the launches before it.
        first: u64,
    },
    /// Rule 5: indirect arguments are not readable.
    #[error("record {address:#x}: indirect arguments at {arguments:#x} are not readable")]
    Indirect {
        /// The launch's address.
        address: u64,
        /// The arguments' address.
        arguments: u64,
    },
    /// Rule 6: the terminator is not the range's last word, or stands below a link with return.
    #[error("terminator {address:#x}: legal is the range's last word, outside linked parts")]
    Terminator {
        /// Its address.
        address: u64,
    },
    /// Rule 6: nothing is launched.
    #[error("no launch")]
    Empty,
}

/// Walks the stream in `base..end` as the kernel does.
///
/// `read` copies GPU memory at an address into the slice and says whether all of it is mapped
/// readable. It is asked for stream words, and for one word of each 16 KiB page that must be readable.
///
/// # Errors
/// The first rule that the stream breaks.
pub fn check(
    base: u64,
    end: u64,
    rules: Rules,
    mut read: impl FnMut(u64, &mut [u8]) -> bool,
) -> Result<Summary, Refusal> {
    if base >= end || !base.is_multiple_of(4) || !end.is_multiple_of(4) {
        return Err(Refusal::Range { base, end });
    }
    if !is_readable(&mut read, base, end - base) {
        return Err(Refusal::Unreadable { base, end });
    }
    let mut summary = Summary::default();
    let mut returns = Vec::new();
    let mut address = base;
    loop {
        if !(base..end).contains(&address) {
            return Err(Refusal::Outside { address });
        }
        if summary.records == MAX_RECORDS {
            return Err(Refusal::Records);
        }
        summary.records += 1;
        let record = fetch(&mut read, address, end)?;
        let behind = address + record.size() as u64;
        address = match record {
            Record::Launch(launch) => {
                summary.launches += 1;
                if rules.preemption_page {
                    let launcher = launch.launcher.code();
                    check_page(&mut read, &mut summary, address, launcher)?;
                }
                let arguments = match launch.geometry {
                    Geometry::Direct(_) => None,
                    Geometry::IndirectGlobal { arguments, .. }
                    | Geometry::IndirectLocal { arguments } => Some(arguments.get()),
                };
                let size = launch.geometry.argument_size();
                if let Some(arguments) = arguments
                    && !is_readable(&mut read, arguments, size)
                {
                    return Err(Refusal::Indirect { address, arguments });
                }
                behind
            }
            Record::Barrier(_) => behind,
            Record::Link(link) => {
                if link.with_return {
                    if returns.len() == MAX_DEPTH {
                        return Err(Refusal::Depth { address });
                    }
                    returns.push(behind);
                }
                link.target
            }
            Record::Return => returns.pop().ok_or(Refusal::Return { address })?,
            Record::Terminate => {
                if !returns.is_empty() || behind != end {
                    return Err(Refusal::Terminator { address });
                }
                if summary.launches == 0 {
                    return Err(Refusal::Empty);
                }
                return Ok(summary);
            }
        };
    }
}

/// Reads the record at `address`, which lies in the range that ends at `end`.
fn fetch(
    read: &mut impl FnMut(u64, &mut [u8]) -> bool,
    address: u64,
    end: u64,
) -> Result<Record, Refusal> {
    let mut bytes = [0; Record::MAX_SIZE];
    let len = (end - address).min(bytes.len() as u64) as usize;
    let bytes = &mut bytes[..len];
    if !read(address, bytes) {
        let base = address;
        return Err(Refusal::Unreadable { base, end });
    }
    match Record::unpack(bytes) {
        Ok((record, _)) => Ok(record),
        Err(Error::Short { .. }) => Err(Refusal::Outside { address }),
        Err(source) => Err(Refusal::Record { address, source }),
    }
}

/// Rule 4.
fn check_page(
    read: &mut impl FnMut(u64, &mut [u8]) -> bool,
    summary: &mut Summary,
    address: u64,
    launcher: CodeAddress,
) -> Result<(), Refusal> {
    let page = (launcher.address() & !0x7fff) + PREEMPTION_OFFSET;
    let inside = page + PAGE_SIZE <= USC_BASE + USC_SIZE;
    if !inside || !is_readable(read, page, PAGE_SIZE) {
        return Err(Refusal::PreemptionPage { address, page });
    }
    match summary.preemption_page.replace(page) {
        Some(first) if first != page => Err(Refusal::PreemptionPages {
            address,
            page,
            first,
        }),
        _ => Ok(()),
    }
}
