// SPDX-License-Identifier: MIT
//! Launchers: the programs that fill the argument window and start a shader.
//!
//! launch, 4 and 5. A launcher loads words of the root record ([`crate::root`]) through one 64-bit
//! pointer, allocates on-chip storage, names the shader's entry, declares its publication and
//! scratch extents, copies the loaded words into the argument window, and stops, which starts the
//! shader. Its order is fixed (5.1; HW) and so are most of its choices: a [`Launcher`] says what is
//! left to say, [`Launcher::pack`] writes it, [`Launcher::unpack`] reads it back.

mod emit;
mod graphics;
mod parse;
mod template;

use agx_isa::{FormId, Instr};
use arrayvec::ArrayVec;

use self::emit::{TEMPLATES, Writer};
use self::parse::Parser;
use crate::arena::{JUMP_SIZE, jump};
use crate::bytes::head_mut;
use crate::error::{Result, illegal, operand, unexpected};
use crate::window::{CodeAddress, EntryOffset, LauncherAddress, check_va};

pub use self::graphics::GRAPHICS_SLOT_SIZE;
pub use self::template::Template;

const NAME: &str = "launcher";

/// Fewest pointers that a launcher publishes: the tested range begins here (launch, 6.2; HW). A
/// shader without buffers gets a dummy pointer.
pub const MIN_POINTERS: u8 = 2;
/// Most pointers that a launcher publishes (launch, 5.1; HW).
pub const MAX_POINTERS: u8 = 19;
/// Argument words that a launcher can write (launch, 4.4; HW). The window has
/// [`ARGUMENT_WORDS`]; only preambles reach the others.
pub const PUBLISHED_WORDS: u8 = 64;
/// Words in the argument window (launch, 6.1; HW).
pub const ARGUMENT_WORDS: u16 = 256;
/// Most publication slots of a body (launch, 4.7; HW).
pub const MAX_PUBLICATIONS: u16 = 1022;
/// Largest tested scratch extent in bytes (launch, 9; HW).
pub const MAX_SCRATCH: u16 = 0x8000;
/// Most bytes of threadgroup memory (launch, 4.5 and 9; HW).
pub const MAX_THREADGROUP_BYTES: u32 = 0x8000;
/// Bytes of a slot that holds every launcher and the padding, as the proven driver allocates it for
/// compute (launch, 5.1; HW). For graphics there is [`GRAPHICS_SLOT_SIZE`].
pub const SLOT_SIZE: usize = 1024;

/// 64-bit units that a load's offset reaches (launch, 4.3; HW).
const RECORD_UNITS: u16 = 256;
/// General registers that ARG can read.
const REGISTERS: usize = 64;
/// Slot that the loads complete on and the first ARG waits for (launch, 4.3, 4.4; HW).
const SLOT: u8 = 2;

const MOVE_SIZE: usize = 8;
const LOAD_SIZE: usize = 14;
const ALLOC_SIZE: usize = 8;
const TARGET_SIZE: usize = 10;
const FRAME_SIZE: usize = 10;
const ARG_SIZE: usize = 4;
const STOP_SIZE: usize = 4;

/// Samples of a pixel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Samples {
    /// One.
    One,
    /// Two.
    Two,
    /// Four.
    Four,
}

impl Samples {
    /// How many.
    #[must_use]
    pub const fn count(self) -> u32 {
        match self {
            Samples::One => 1,
            Samples::Two => 2,
            Samples::Four => 4,
        }
    }

    /// So many; `None` for other numbers than 1, 2 and 4.
    #[must_use]
    pub const fn of_count(count: u32) -> Option<Samples> {
        match count {
            1 => Some(Samples::One),
            2 => Some(Samples::Two),
            4 => Some(Samples::Four),
            _ => None,
        }
    }
}

/// On-chip storage that ALLOC asks for (launch, 4.5; HW).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Storage {
    /// None: vertex, and compute without threadgroup memory.
    #[default]
    None,
    /// Threadgroup memory of a workgroup.
    Threadgroup {
        /// A multiple of 128, at most 32768. [`Storage::is_tested`] tells which sizes have run.
        bytes: u32,
    },
    /// Tile memory of a fragment launcher.
    Tile {
        /// Samples of a pixel.
        samples: Samples,
        /// 8-byte units of a sample: at most 16 with one sample, 8 with two or four.
        units: u8,
    },
}

impl Storage {
    /// Threadgroup memory for `bytes` bytes, rounded up to a multiple of 128; none for 0.
    ///
    /// # Errors
    /// When it is more than [`MAX_THREADGROUP_BYTES`].
    pub fn threadgroup(bytes: u32) -> Result<Storage> {
        match bytes {
            0 => Ok(Storage::None),
            1..=MAX_THREADGROUP_BYTES => Ok(Storage::Threadgroup {
                bytes: bytes.next_multiple_of(128),
            }),
            _ => illegal("ALLOC", "threadgroup bytes", bytes.into(), "0..=32768"),
        }
    }

    /// Tile memory for `bytes` bytes of each sample, rounded up to a multiple of 8.
    ///
    /// # Errors
    /// When it is more than 128 bytes with one sample or 64 with two or four.
    pub fn tile(samples: Samples, bytes: u32) -> Result<Storage> {
        let units = bytes.div_ceil(8);
        match u8::try_from(units) {
            Ok(units) if units <= max_units(samples) => Ok(Storage::Tile { samples, units }),
            _ => illegal("ALLOC", "tile bytes", bytes.into(), TILE_BYTES),
        }
    }

    /// Whether this size has run on hardware: every tile size; no threadgroup memory, powers of two
    /// from 128 to 1024, and 32768 (launch, 4.5; the largest with a native launcher only). The
    /// other sizes are INFERRED.
    #[must_use]
    pub const fn is_tested(self) -> bool {
        match self {
            Storage::Threadgroup { bytes } => {
                matches!(bytes, 128 | 256 | 512 | 1024 | MAX_THREADGROUP_BYTES)
            }
            Storage::None | Storage::Tile { .. } => true,
        }
    }

    fn instr(self) -> Result<Instr> {
        let mut alloc = TEMPLATES.alloc;
        let mut set = |name, value: u32| alloc.set_modifier(name, value.into());
        let result = match self {
            Storage::None => Ok(()),
            Storage::Threadgroup { bytes } => {
                if !bytes.is_multiple_of(128) || !(128..=MAX_THREADGROUP_BYTES).contains(&bytes) {
                    let legal = "a multiple of 128, 128..=32768";
                    return illegal("ALLOC", "threadgroup bytes", bytes.into(), legal);
                }
                set("config", 0x80).and_then(|()| set("tg128", bytes / 128))
            }
            Storage::Tile { samples, units } => {
                if units > max_units(samples) {
                    return illegal("ALLOC", "tile bytes", 8 * u64::from(units), TILE_BYTES);
                }
                let (config, base, f23) = match samples {
                    Samples::One => (0x4b, 0x41, 0),
                    Samples::Two => (0x4b, 0x40, 0),
                    Samples::Four => (0x43, 0, 1),
                };
                set("config", config)
                    .and_then(|()| set("units", base + 2 * u32::from(units)))
                    .and_then(|()| set("f23", f23))
            }
        };
        result.map_err(operand("ALLOC"))?;
        Ok(alloc)
    }

    /// Reads ALLOC; `None` for another instruction.
    fn of(instr: &Instr) -> Option<Storage> {
        if instr.id() != FormId::Alloc {
            return None;
        }
        let get = |name| instr.modifier(name).unwrap_or(0) as u32;
        let units = get("units");
        let tile = |samples, base| Storage::Tile {
            samples,
            units: (units.saturating_sub(base) / 2) as u8,
        };
        Some(match get("config") {
            0 => Storage::None,
            0x80 => Storage::Threadgroup {
                bytes: 128 * get("tg128"),
            },
            0x4b if units & 1 == 1 => tile(Samples::One, 0x41),
            0x4b => tile(Samples::Two, 0x40),
            _ => tile(Samples::Four, 0),
        })
    }
}

const TILE_BYTES: &str = "0..=128 with one sample, 0..=64 with two or four";

const fn max_units(samples: Samples) -> u8 {
    match samples {
        Samples::One => 16,
        Samples::Two | Samples::Four => 8,
    }
}

/// Publication and scratch extents of the shader (launch, 4.7; HW).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Frame {
    /// Pairs of publication words that the body uses, 0..=511; an odd word takes a pair.
    pub publication_pairs: u16,
    /// Extent A in bytes: 4 times (highest spill word + 1), at least 4 when a 32-bit atomic returns
    /// its value. The tested range ends at [`MAX_SCRATCH`].
    pub extent_a: u16,
    /// Extent B in bytes (OPAQUE role): the spill bytes, or 0.
    pub extent_b: u16,
}

impl Frame {
    /// Extents for a body that uses `publications` publication slots (holes counted).
    ///
    /// # Errors
    /// When there are more than [`MAX_PUBLICATIONS`].
    pub fn new(publications: u16, extent_a: u16, extent_b: u16) -> Result<Frame> {
        if publications > MAX_PUBLICATIONS {
            return illegal("FRAME", "publications", publications.into(), "0..=1022");
        }
        Ok(Frame {
            publication_pairs: publications.div_ceil(2),
            extent_a,
            extent_b,
        })
    }

    fn instr(self) -> Result<Instr> {
        if self.publication_pairs > MAX_PUBLICATIONS / 2 {
            let pairs = self.publication_pairs.into();
            return illegal("FRAME", "publication pairs", pairs, "0..=511");
        }
        let mut frame = TEMPLATES.frame;
        frame
            .set_modifier("pairs", self.publication_pairs.into())
            .and_then(|()| frame.set_modifier("a", self.extent_a.into()))
            .and_then(|()| frame.set_modifier("b", self.extent_b.into()))
            .map_err(operand("FRAME"))?;
        Ok(frame)
    }

    /// Reads FRAME; `None` for another instruction.
    fn of(instr: &Instr) -> Option<Frame> {
        let get = |name| instr.modifier(name).unwrap_or(0) as u16;
        (instr.id() == FormId::Frame).then(|| Frame {
            publication_pairs: get("pairs"),
            extent_a: get("a"),
            extent_b: get("b"),
        })
    }
}

/// One word of the root record that is published as data, not as half of a pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct InlineWord {
    /// The word in the record, counted from the record's start: 0..=511.
    pub record: u16,
    /// The argument word that receives it: behind the pointers' words, at most 63.
    pub argument: u8,
}

/// General registers that a launcher uses: a free choice (launch, 5.1; HW for root pairs r2, r4, r60
/// and first pending registers r8, r18, r24).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Registers {
    /// Even register of the pair that holds the record's address.
    pub root: u8,
    /// First register of the loaded words, even. They follow each other up to r63 at most and must
    /// not meet the root pair.
    pub pending: u8,
}

impl Default for Registers {
    fn default() -> Registers {
        Registers {
            root: 2,
            pending: 18,
        }
    }
}

/// Inline words that a launcher can have.
pub const MAX_INLINE: usize = (PUBLISHED_WORDS - 2 * MIN_POINTERS) as usize;

/// A launcher of the order of launch, 5.1 (HW).
///
/// Argument words 0..2R are the first R pointers of the record at `table`; `inline` words follow.
/// Inline words in more than the four of the tested case are INFERRED (launch, 5.4).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Launcher {
    /// Address of the root record: not 0, a multiple of 8, below 2^42, anywhere.
    pub table: u64,
    /// Pointers to publish, R: 2..=19.
    pub pointers: u8,
    /// Words to publish behind the pointers, ascending by argument word.
    ///
    /// A launcher does not say where pointers end and data begins: inline words that continue the
    /// pointers (record word 2R to argument word 2R, and the next) are read back as pointers, see
    /// [`Launcher::canonical`].
    pub inline: ArrayVec<InlineWord, MAX_INLINE>,
    /// On-chip storage.
    pub storage: Storage,
    /// The shader's entry in the arena.
    pub entry: EntryOffset,
    /// The shader's extents.
    pub frame: Frame,
    /// Setup code to run behind the last ARG, which must end in STOP (launch, 5.3; HW). Even.
    pub preamble: Option<CodeAddress>,
    /// Registers to use.
    pub registers: Registers,
}

/// A load of one or two 64-bit units of the record.
#[derive(Clone, Copy)]
struct Load {
    unit: u8,
    two: bool,
    register: u8,
}

/// What follows from a launcher's lists, checked.
struct Plan {
    /// Ascending.
    loads: ArrayVec<Load, 32>,
    /// 64-bit units of the record that are loaded, a bit each.
    units: [u64; 4],
}

impl Plan {
    /// How many loaded units lie below this one.
    fn rank(&self, unit: u8) -> u32 {
        let (word, bit) = (usize::from(unit / 64), unit % 64);
        let below: u32 = self.units[..word].iter().map(|w| w.count_ones()).sum();
        below + (self.units[word] & ((1 << bit) - 1)).count_ones()
    }
}

impl Launcher {
    /// Bytes of the longest launcher.
    pub const MAX_SIZE: usize = 2 * MOVE_SIZE
        + (REGISTERS / 2) * LOAD_SIZE
        + ALLOC_SIZE
        + TARGET_SIZE
        + FRAME_SIZE
        + (PUBLISHED_WORDS as usize) * ARG_SIZE
        + JUMP_SIZE
        + STOP_SIZE;

    /// A launcher that publishes `pointers` pointers of the record at `table` and starts `entry`,
    /// without storage, extents, inline words and preamble.
    #[must_use]
    pub fn new(table: u64, pointers: u8, entry: EntryOffset) -> Launcher {
        Launcher {
            table,
            pointers,
            inline: ArrayVec::new(),
            storage: Storage::None,
            entry,
            frame: Frame::default(),
            preamble: None,
            registers: Registers::default(),
        }
    }

    /// The first argument word that a preamble may write: launchers publish in blocks of four, and
    /// the rest of the last block may be overwritten (launch, 5.2, 5.3; HW).
    #[must_use]
    pub fn first_free_word(&self) -> u16 {
        let last = self.inline.last().map_or(0, |word| word.argument);
        (u16::from(last) + 1)
            .max(2 * u16::from(self.pointers))
            .next_multiple_of(4)
    }

    /// The same launcher with as many pointers as possible: what [`Launcher::unpack`] returns. It
    /// packs to the same bytes.
    #[must_use]
    pub fn canonical(mut self) -> Launcher {
        let continues = |word: Option<&InlineWord>, at: u8| {
            word.is_some_and(|w| w.argument == at && w.record == u16::from(at))
        };
        while self.pointers < MAX_POINTERS
            && continues(self.inline.first(), 2 * self.pointers)
            && continues(self.inline.get(1), 2 * self.pointers + 1)
        {
            self.pointers += 1;
            self.inline.drain(..2);
        }
        self
    }

    /// Checks the lists and the registers, and groups the loads.
    fn plan(&self) -> Result<Plan> {
        if self.table == 0 || !self.table.is_multiple_of(8) {
            return illegal(NAME, "table", self.table, "a multiple of 8, not 0");
        }
        check_va(NAME, "table", self.table)?;
        if !(MIN_POINTERS..=MAX_POINTERS).contains(&self.pointers) {
            return illegal(NAME, "pointers", self.pointers.into(), "2..=19");
        }
        let mut units: [u64; 4] = [(1 << self.pointers) - 1, 0, 0, 0];
        let mut next = 2 * self.pointers;
        for word in &self.inline {
            if !(next..PUBLISHED_WORDS).contains(&word.argument) {
                let legal = "behind the pointers and the previous inline word, up to 63";
                return illegal(NAME, "inline argument word", word.argument.into(), legal);
            }
            next = word.argument + 1;
            let unit = word.record / 2;
            if unit >= RECORD_UNITS {
                return illegal(NAME, "inline record word", word.record.into(), "0..=511");
            }
            units[usize::from(unit / 64)] |= 1 << (unit % 64);
        }
        self.check_registers(units.iter().map(|w| w.count_ones()).sum())?;
        let mut plan = Plan {
            loads: ArrayVec::new(),
            units,
        };
        let mut register = self.registers.pending;
        for (i, word) in units.iter().enumerate() {
            let mut rest = *word;
            while rest != 0 {
                let unit = (64 * i) as u8 + rest.trailing_zeros() as u8;
                rest &= rest - 1;
                // Two neighbours share a load, counted from the lowest.
                match plan.loads.last_mut() {
                    Some(last) if !last.two && last.unit + 1 == unit => last.two = true,
                    _ => plan.loads.push(Load {
                        unit,
                        two: false,
                        register,
                    }),
                }
                register += 2;
            }
        }
        Ok(plan)
    }

    fn check_registers(&self, units: u32) -> Result<()> {
        let Registers { root, pending } = self.registers;
        if !root.is_multiple_of(2) || root > 62 {
            return illegal(NAME, "root register", root.into(), "an even number, 0..=62");
        }
        if !pending.is_multiple_of(2) || pending > 62 {
            let legal = "an even number, 0..=62";
            return illegal(NAME, "first pending register", pending.into(), legal);
        }
        let end = u32::from(pending) + 2 * units;
        if end > REGISTERS as u32 {
            let legal = "loaded words up to r63";
            return illegal(NAME, "last pending register", (end - 1).into(), legal);
        }
        if (u32::from(pending)..end).contains(&root.into()) {
            let legal = "a pair that is not loaded into";
            return illegal(NAME, "root register", root.into(), legal);
        }
        Ok(())
    }

    fn size_of(&self, plan: &Plan) -> usize {
        let words = 2 * usize::from(self.pointers) + self.inline.len();
        let preamble = if self.preamble.is_some() {
            JUMP_SIZE
        } else {
            0
        };
        2 * MOVE_SIZE
            + plan.loads.len() * LOAD_SIZE
            + ALLOC_SIZE
            + TARGET_SIZE
            + FRAME_SIZE
            + words * ARG_SIZE
            + preamble
            + STOP_SIZE
    }

    /// Bytes of the program: 48 + 14 ceil(R/2) + 8R, 10 more with a preamble, 4 and part of a load
    /// more for each inline word (launch, 5.1).
    ///
    /// # Errors
    /// When the launcher's lists or registers are not legal.
    pub fn size(&self) -> Result<usize> {
        Ok(self.size_of(&self.plan()?))
    }

    /// Offset of TARGET's entry field in the program: three bytes (launch, 5.1).
    ///
    /// # Errors
    /// When the launcher's lists or registers are not legal.
    pub fn entry_field_offset(&self) -> Result<usize> {
        let loads = self.plan()?.loads.len();
        Ok(2 * MOVE_SIZE + loads * LOAD_SIZE + ALLOC_SIZE + 2)
    }

    /// Writes the program that will lie at `at`, returns its size, and zeroes the rest of `buffer`
    /// (launch, 5.1: "zero-fill the rest of the allocation").
    ///
    /// # Errors
    /// When a field is not legal or `buffer` is too small; then `buffer` holds nothing of use.
    pub fn pack(&self, at: LauncherAddress, buffer: &mut [u8]) -> Result<usize> {
        let plan = self.plan()?;
        let size = self.size_of(&plan);
        head_mut(NAME, buffer, size)?;
        if at.code().displaced(size as i64 - 1).is_none() {
            let legal = "a program that ends in the window";
            return illegal(NAME, "address", at.code().address(), legal);
        }
        let Registers { root, pending } = self.registers;
        let mut out = Writer::new(buffer);
        out.literal(root, self.table as u32);
        out.literal(root + 1, (self.table >> 32) as u32);
        for &load in plan.loads.iter().rev() {
            out.load(root, load);
        }
        out.instr("ALLOC", self.storage.instr()?)?;
        out.target(self.entry)?;
        out.instr("FRAME", self.frame.instr()?)?;
        for word in 0..2 * self.pointers {
            out.argument(word, pending + word);
        }
        for word in &self.inline {
            // `plan` has checked both: the unit is below 256 and its register below 64.
            let rank = plan.rank((word.record / 2) as u8) as u8;
            let register = pending + 2 * rank + (word.record % 2) as u8;
            out.argument(word.argument, register);
        }
        if let Some(preamble) = self.preamble {
            if !preamble.offset().is_multiple_of(2) {
                return illegal(NAME, "preamble", preamble.address(), "an even address");
            }
            let from = i64::from(at.code().offset()) + out.at() as i64;
            let jump = jump(NAME, i64::from(preamble.offset()) - from)?;
            out.bytes(&jump);
        }
        out.stop();
        debug_assert_eq!(out.at(), size);
        buffer[size..].fill(0);
        Ok(size)
    }

    /// [`Launcher::pack`] into a vector of exactly the program's size.
    ///
    /// # Errors
    /// When a field is not legal.
    pub fn to_vec(&self, at: LauncherAddress) -> Result<Vec<u8>> {
        let mut bytes = vec![0; self.size()?];
        self.pack(at, &mut bytes)?;
        Ok(bytes)
    }

    /// The launcher that begins `bytes` and lies at `at`, and its size. Bytes behind it are not
    /// looked at.
    ///
    /// # Errors
    /// When the program deviates in any byte from what [`Launcher::pack`] writes for some launcher.
    pub fn unpack(at: LauncherAddress, bytes: &[u8]) -> Result<(Launcher, usize)> {
        let launcher = Parser::new(bytes).launcher(at)?;
        // The parser reads what varies; the rest is compared with what must be there.
        let mut again = [0; Launcher::MAX_SIZE];
        let size = launcher.pack(at, &mut again)?;
        match (0..size).find(|&i| bytes.get(i) != again.get(i)) {
            Some(offset) => unexpected(NAME, offset, "the program of launch, 5.1"),
            None => Ok((launcher, size)),
        }
    }
}
