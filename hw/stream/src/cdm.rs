// SPDX-License-Identifier: MIT
//! The compute command stream: its records, a writer, a reader.
//!
//! launch, 8. Records are 4-byte aligned; bits 31:29 of the first word are their type (HW).

use crate::bytes::{head, head_mut, put_words, word, words3};
use crate::error::{Error, Result, illegal};
use crate::window::{LauncherAddress, USC_BASE};

pub use crate::indirect::IndirectAddress;
pub use crate::window::READ_AHEAD;

/// Most threads in a workgroup (launch, 9; HW).
pub const MAX_THREADS: u32 = 1024;
/// Most workgroups on an axis: the tested bound (launch, 9; HW).
pub const MAX_GROUPS: u32 = 65535;
/// Lanes in a SIMD group (launch, 9; HW).
pub const SIMD_WIDTH: u32 = 32;
/// One behind the largest address that a link reaches (launch, 8.6; HW). Streams that are linked to
/// lie below it.
pub const LINK_END: u64 = 1 << 40;

const LAUNCH: &str = "CDM launch";
const TYPE_SHIFT: u32 = 29;
const MODE_SHIFT: u32 = 27;
const OCCUPANCY: u32 = 1 << 23;
/// Bit 19 of the config word, always 1 (launch, 8.1; OPAQUE).
const ALWAYS: u32 = 1 << 19;
/// Bit 30 of word 3, required (launch, 8.3; HW).
const LAUNCHER_VALID: u32 = 1 << 30;
const WITH_RETURN: u32 = 1 << 28;
const TERMINATE: u32 = 2 << TYPE_SHIFT;
const RETURN: u32 = 4 << TYPE_SHIFT;

/// Threads of a workgroup on each axis: none 0, at most 1024 together (launch, 9; HW).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct LocalSize([u32; 3]);

impl LocalSize {
    /// x, y, z threads.
    ///
    /// # Errors
    /// When an axis is 0 or the product exceeds 1024.
    pub fn new(size: [u32; 3]) -> Result<LocalSize> {
        let product = size
            .iter()
            .try_fold(1u32, |product, n| product.checked_mul(*n));
        match product {
            Some(1..=MAX_THREADS) => Ok(LocalSize(size)),
            _ => illegal(
                LAUNCH,
                "threads per workgroup",
                u64::from(product.unwrap_or(u32::MAX)),
                "1..=1024",
            ),
        }
    }

    /// x, y, z threads.
    #[must_use]
    pub const fn get(self) -> [u32; 3] {
        self.0
    }

    /// Threads in a workgroup.
    #[must_use]
    pub const fn threads(self) -> u32 {
        self.0[0] * self.0[1] * self.0[2]
    }
}

impl std::fmt::Debug for LocalSize {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [x, y, z] = self.0;
        write!(f, "LocalSize({x}x{y}x{z})")
    }
}

/// The grid of a direct dispatch, in threads (launch, 8.4; HW).
///
/// A grid that is no multiple of the workgroup has a partial last workgroup, whose threads outside
/// the grid do not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Grid {
    global: [u32; 3],
    local: LocalSize,
}

impl Grid {
    /// x, y, z threads in all, in workgroups of `local`.
    ///
    /// # Errors
    /// When an axis has no thread or more than [`MAX_GROUPS`] workgroups.
    pub fn new(global: [u32; 3], local: LocalSize) -> Result<Grid> {
        let grid = Grid { global, local };
        match grid
            .groups()
            .into_iter()
            .find(|n| !(1..=MAX_GROUPS).contains(n))
        {
            Some(n) => illegal(LAUNCH, "workgroups on an axis", u64::from(n), "1..=65535"),
            None => Ok(grid),
        }
    }

    /// x, y, z whole workgroups: what Vulkan's dispatch takes.
    ///
    /// # Errors
    /// When an axis has none or more than [`MAX_GROUPS`].
    #[inline]
    pub fn of_groups(groups: [u32; 3], local: LocalSize) -> Result<Grid> {
        let mut global = [0; 3];
        for (i, n) in groups.into_iter().enumerate() {
            if !(1..=MAX_GROUPS).contains(&n) {
                return illegal(LAUNCH, "workgroups on an axis", u64::from(n), "1..=65535");
            }
            // At most 65535 * 1024.
            global[i] = n * local.0[i];
        }
        Ok(Grid { global, local })
    }

    /// Threads on each axis.
    #[must_use]
    pub const fn global(self) -> [u32; 3] {
        self.global
    }

    /// The workgroup.
    #[must_use]
    pub const fn local(self) -> LocalSize {
        self.local
    }

    /// Workgroups on each axis, a partial one included.
    #[must_use]
    pub fn groups(self) -> [u32; 3] {
        let local = self.local.0;
        [0, 1, 2].map(|i| self.global[i].div_ceil(local[i]))
    }
}

/// What a launch covers (launch, 8.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Geometry {
    /// Mode 0 (HW).
    Direct(Grid),
    /// Mode 1: memory holds three words, x, y, z **workgroups** (HW on M4).
    IndirectGlobal {
        /// Where.
        arguments: IndirectAddress,
        /// The workgroup.
        local: LocalSize,
    },
    /// Mode 2: memory holds six words, x, y, z **threads**, then the workgroup (encoding HW).
    IndirectLocal {
        /// Where.
        arguments: IndirectAddress,
    },
}

impl Geometry {
    /// Bytes of memory that an indirect launch reads, 0 for a direct one (launch, 8.4; HW).
    #[must_use]
    pub const fn argument_size(&self) -> u64 {
        match self {
            Geometry::Direct(_) => 0,
            Geometry::IndirectGlobal { .. } => 12,
            Geometry::IndirectLocal { .. } => 24,
        }
    }

    const fn mode(&self) -> u32 {
        match self {
            Geometry::Direct(_) => 0,
            Geometry::IndirectGlobal { .. } => 1,
            Geometry::IndirectLocal { .. } => 2,
        }
    }

    /// Bytes of a launch in this mode.
    const fn launch_size(mode: u32) -> usize {
        match mode {
            0 => 0x28,
            1 => 0x24,
            _ => 0x18,
        }
    }
}

/// Bit 23 of the config word (launch, 8.1; HW). Where the threshold lies is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Occupancy {
    /// Fits every program; the proven driver always says so.
    #[default]
    Heavy,
    /// What native code says of programs with few registers.
    Light,
}

/// Word 1 of a launch (launch, 8.2; OPAQUE).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LaunchConstant {
    /// 0x01000040: what the proven driver writes.
    #[default]
    Standard,
    /// 0x01000000: in native code, together with [`Occupancy::Light`].
    Light,
}

impl LaunchConstant {
    const fn word(self) -> u32 {
        match self {
            LaunchConstant::Standard => 0x0100_0040,
            LaunchConstant::Light => 0x0100_0000,
        }
    }

    const fn of(word: u32) -> Option<LaunchConstant> {
        match word {
            0x0100_0040 => Some(LaunchConstant::Standard),
            0x0100_0000 => Some(LaunchConstant::Light),
            _ => None,
        }
    }
}

/// A dispatch (launch, 8.1 to 8.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Launch {
    /// Bit 23 of the config word.
    pub occupancy: Occupancy,
    /// Word 1.
    pub constant: LaunchConstant,
    /// The program that starts the shader.
    pub launcher: LauncherAddress,
    /// What it covers.
    pub geometry: Geometry,
}

impl Launch {
    /// A launch with the constants of the proven driver.
    #[must_use]
    pub const fn new(launcher: LauncherAddress, geometry: Geometry) -> Launch {
        Launch {
            occupancy: Occupancy::Heavy,
            constant: LaunchConstant::Standard,
            launcher,
            geometry,
        }
    }

    #[inline]
    fn pack(&self, out: &mut [u8]) {
        let tier = match self.occupancy {
            Occupancy::Heavy => OCCUPANCY,
            Occupancy::Light => 0,
        };
        let launcher = self.launcher.code().address();
        put_words(
            out,
            0,
            &[
                self.geometry.mode() << MODE_SHIFT | tier | ALWAYS,
                self.constant.word(),
                (launcher >> 6) as u32,
                (launcher >> 40) as u32 | LAUNCHER_VALID,
            ],
        );
        match self.geometry {
            Geometry::Direct(grid) => {
                put_words(out, 16, &grid.global);
                put_words(out, 28, &grid.local.0);
            }
            Geometry::IndirectGlobal { arguments, local } => {
                put_words(out, 16, &arguments.words());
                put_words(out, 24, &local.0);
            }
            Geometry::IndirectLocal { arguments } => put_words(out, 16, &arguments.words()),
        }
    }

    fn unpack(bytes: &[u8]) -> Result<Launch> {
        let config = word(bytes, 0);
        let mode = config >> MODE_SHIFT & 3;
        if mode == 3 {
            return illegal(LAUNCH, "mode", 3, "0..=2");
        }
        let bytes = head(LAUNCH, bytes, Geometry::launch_size(mode))?;
        if config & !(3 << MODE_SHIFT | OCCUPANCY) != ALWAYS {
            let legal = "bit 19 set, bits 23 and 28:27 free, all others 0";
            return illegal(LAUNCH, "config", config.into(), legal);
        }
        let Some(constant) = LaunchConstant::of(word(bytes, 4)) else {
            let legal = "0x01000040 or 0x01000000";
            return illegal(LAUNCH, "constant", word(bytes, 4).into(), legal);
        };
        // Bits 47:40 of the address beside the valid bit: the window's base, always.
        let high = word(bytes, 12);
        if high != LAUNCHER_VALID | (USC_BASE >> 40) as u32 {
            let legal = "0x40000001: a launcher in the window";
            return illegal(LAUNCH, "launcher high word", high.into(), legal);
        }
        let geometry = match mode {
            0 => {
                let local = LocalSize::new(words3(bytes, 28))?;
                Geometry::Direct(Grid::new(words3(bytes, 16), local)?)
            }
            1 => Geometry::IndirectGlobal {
                arguments: IndirectAddress::from_words(bytes, 16)?,
                local: LocalSize::new(words3(bytes, 24))?,
            },
            _ => Geometry::IndirectLocal {
                arguments: IndirectAddress::from_words(bytes, 16)?,
            },
        };
        Ok(Launch {
            occupancy: if config & OCCUPANCY == 0 {
                Occupancy::Light
            } else {
                Occupancy::Heavy
            },
            constant,
            launcher: LauncherAddress::from_units(word(bytes, 8))?,
            geometry,
        })
    }
}

/// A barrier's controls (launch, 8.5).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Barrier(u32);

impl Barrier {
    /// Bits 19:0 are controls; 20, 24 and 26 exist. Bit 27 ("returns" in an older format) and the
    /// rest are not known on Apple9.
    const KNOWN: u32 = 0x0510_0000 | 0x000f_ffff;
    const TYPE: u32 = 3 << TYPE_SHIFT;

    /// 0x600fffff: everything. Use it after every dispatch and at a stream's start (HW).
    pub const FULL: Barrier = Barrier(0x000f_ffff);
    /// 0x60000160: seen in native code after a dispatch; not proven enough for dependencies.
    pub const NATIVE_160: Barrier = Barrier(0x0000_0160);
    /// 0x60010060: seen in native code after a dispatch; not proven enough for dependencies.
    pub const NATIVE_10060: Barrier = Barrier(0x0001_0060);
    /// 0x60000168: does **not** preserve dependent writes across submitted jobs (HW).
    pub const WEAK_168: Barrier = Barrier(0x0000_0168);
    /// Bit 3: invalidate the instruction cache (HW), the only bit whose role is known.
    pub const INVALIDATE_CODE: u32 = 1 << 3;

    /// A barrier with these control bits.
    ///
    /// # Errors
    /// When a bit is set that is not known to exist: all but 19:0, 20, 24 and 26.
    pub const fn new(controls: u32) -> Result<Barrier> {
        if controls & !Self::KNOWN == 0 {
            Ok(Barrier(controls))
        } else {
            Err(Error::Field {
                structure: "CDM barrier",
                field: "controls",
                value: controls as u64,
                legal: "bits 19:0, 20, 24 and 26",
            })
        }
    }

    /// The control bits, without the record's type.
    #[must_use]
    pub const fn controls(self) -> u32 {
        self.0
    }

    /// The record.
    #[must_use]
    pub const fn word(self) -> u32 {
        Self::TYPE | self.0
    }
}

impl std::fmt::Debug for Barrier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Barrier({:#x})", self.0)
    }
}

/// A jump to another part of the stream (launch, 8.6; HW without return, decoded only with).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Link {
    /// Address of the next record: a multiple of 4 below 2^40.
    pub target: u64,
    /// Push the address behind this record, for [`Record::Return`]. Not known to have run.
    pub with_return: bool,
}

impl Link {
    fn check(&self) -> Result<()> {
        if self.target < LINK_END && self.target.is_multiple_of(4) {
            Ok(())
        } else {
            let legal = "a multiple of 4 below 2^40";
            illegal("CDM link", "target", self.target, legal)
        }
    }
}

/// One record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Record {
    /// Type 0.
    Launch(Launch),
    /// Type 1.
    Link(Link),
    /// Type 2: the stream ends (launch, 8.7; HW).
    Terminate,
    /// Type 3.
    Barrier(Barrier),
    /// Type 4: go on behind the last link with return (launch, 8.6; decoded, not known to have run).
    Return,
}

impl Record {
    /// Bytes of the longest record.
    pub const MAX_SIZE: usize = 0x28;
    const NAME: &'static str = "CDM record";

    /// Bytes in the record (launch, 8; HW).
    #[must_use]
    pub const fn size(&self) -> usize {
        match self {
            Record::Launch(launch) => Geometry::launch_size(launch.geometry.mode()),
            Record::Link(_) => 8,
            Record::Terminate | Record::Barrier(_) | Record::Return => 4,
        }
    }

    /// Writes the record and returns its size.
    ///
    /// # Errors
    /// When `buffer` is too small or a link's target is not legal.
    // Where the kind of record is known, little is left of this.
    #[inline(always)]
    pub fn pack(&self, buffer: &mut [u8]) -> Result<usize> {
        let size = self.size();
        let out = head_mut(Self::NAME, buffer, size)?;
        match self {
            Record::Launch(launch) => launch.pack(out),
            Record::Link(link) => {
                link.check()?;
                let flag = if link.with_return { WITH_RETURN } else { 0 };
                let high = (link.target >> 32) as u32;
                put_words(out, 0, &[1 << TYPE_SHIFT | flag | high, link.target as u32]);
            }
            Record::Terminate => put_words(out, 0, &[TERMINATE]),
            Record::Barrier(barrier) => put_words(out, 0, &[barrier.word()]),
            Record::Return => put_words(out, 0, &[RETURN]),
        }
        Ok(size)
    }

    /// The record that begins `bytes`, and its size.
    ///
    /// # Errors
    /// When the bytes end inside the record, its type or mode is not known, or a field has a value
    /// that [`Record::pack`] does not write.
    pub fn unpack(bytes: &[u8]) -> Result<(Record, usize)> {
        head(Self::NAME, bytes, 4)?;
        let first = word(bytes, 0);
        let record = match first >> TYPE_SHIFT {
            0 => Record::Launch(Launch::unpack(bytes)?),
            1 => {
                let bytes = head("CDM link", bytes, 8)?;
                let high = first & !(1 << TYPE_SHIFT | WITH_RETURN);
                let link = Link {
                    target: u64::from(high) << 32 | u64::from(word(bytes, 4)),
                    with_return: first & WITH_RETURN != 0,
                };
                link.check()?;
                Record::Link(link)
            }
            3 => Record::Barrier(Barrier::new(first & !(7 << TYPE_SHIFT))?),
            _ if first == TERMINATE => Record::Terminate,
            _ if first == RETURN => Record::Return,
            2 | 4 => {
                let legal = "0x40000000 or 0x80000000 without further bits";
                return illegal(Self::NAME, "terminate or return", first.into(), legal);
            }
            other => return illegal(Self::NAME, "type", other.into(), "0..=4"),
        };
        Ok((record, record.size()))
    }
}

/// Writes records one behind the other into memory that lies at a GPU address.
#[derive(Debug)]
pub struct CdmStream<'a> {
    memory: &'a mut [u8],
    base: u64,
    used: usize,
}

impl<'a> CdmStream<'a> {
    /// A stream at GPU address `base`, to be written into `memory`.
    ///
    /// # Errors
    /// When `base` is not a multiple of 4 or the memory does not end below 2^40 (so that the stream
    /// can be linked to; the window has no part in it).
    pub fn new(memory: &'a mut [u8], base: u64) -> Result<CdmStream<'a>> {
        let end = base.checked_add(memory.len() as u64);
        if !base.is_multiple_of(4) || end.is_none_or(|end| end > LINK_END) {
            let legal = "a multiple of 4, memory below 2^40";
            return illegal("CDM stream", "base", base, legal);
        }
        Ok(CdmStream {
            memory,
            base,
            used: 0,
        })
    }

    /// Appends a record.
    ///
    /// # Errors
    /// When the memory is full or the record is not legal; the stream is then as before.
    pub fn push(&mut self, record: Record) -> Result<()> {
        let rest = self.memory.get_mut(self.used..).unwrap_or_default();
        self.used += record.pack(rest)?;
        Ok(())
    }

    /// Appends a dispatch.
    ///
    /// # Errors
    /// As [`CdmStream::push`].
    pub fn launch(&mut self, launch: Launch) -> Result<()> {
        self.push(Record::Launch(launch))
    }

    /// Appends a full barrier.
    ///
    /// # Errors
    /// As [`CdmStream::push`].
    pub fn barrier(&mut self) -> Result<()> {
        self.push(Record::Barrier(Barrier::FULL))
    }

    /// Appends the terminator; returns the stream's end address, the `cdm_ctrl_stream_end` of a
    /// submit (launch, 8.7; HW).
    ///
    /// # Errors
    /// As [`CdmStream::push`].
    pub fn terminate(mut self) -> Result<u64> {
        self.push(Record::Terminate)?;
        Ok(self.address())
    }

    /// The GPU address of the next record.
    #[must_use]
    pub const fn address(&self) -> u64 {
        self.base + self.used as u64
    }

    /// Bytes written.
    #[must_use]
    pub const fn size(&self) -> usize {
        self.used
    }

    /// Bytes left.
    #[must_use]
    pub const fn room(&self) -> usize {
        self.memory.len() - self.used
    }
}

/// The records in `bytes`, with their offsets, up to the first that ends the sequence: terminator,
/// return, link without return, an error, or the last byte.
pub fn records(bytes: &[u8]) -> impl Iterator<Item = Result<(usize, Record)>> + '_ {
    let mut at = Some(0);
    std::iter::from_fn(move || {
        let offset = at.take()?;
        let rest = bytes.get(offset..).filter(|rest| !rest.is_empty())?;
        Some(Record::unpack(rest).map(|(record, size)| {
            let ends = match record {
                Record::Terminate | Record::Return => true,
                Record::Link(link) => !link.with_return,
                Record::Launch(_) | Record::Barrier(_) => false,
            };
            at = (!ends).then_some(offset + size);
            (offset, record)
        }))
    })
}
