// SPDX-License-Identifier: MIT
//! The entry arena: container header and entry blocks.
//!
//! launch, 3. The first 8 MiB of the execution window hold the header and then blocks. A block has
//! a size word, a "constant program" slot, and at +0x80 the code that a launcher's TARGET names: a
//! jump to a body elsewhere ([`Target::Jump`]) or the body itself ([`Target::Body`]).

use std::sync::LazyLock;

use agx_isa::{FormId, Instr, Mode, decode};

use crate::bytes::{head, head_mut, put, put_words, word, zeros};
use crate::error::{Result, illegal, operand, unexpected};
use crate::window::{CodeAddress, EntryOffset};

/// Bytes in the arena (launch, 3; HW). It begins at the window's start.
pub const ARENA_SIZE: u32 = 0x80_0000;
/// Bytes in the container header; the first block follows (launch, 3; HW).
pub const HEADER_SIZE: usize = 0x340;
/// Bytes that blocks are aligned to; with less, a block can retire with wrong results
/// (launch, 3; HW).
pub const BLOCK_ALIGN: u32 = 0x40;
/// Bytes in a block that jumps to its body (launch, 3; HW).
pub const THUNK_SIZE: usize = 0xc0;
/// Offset of the code in a block (launch, 3; HW).
pub const CODE_OFFSET: usize = 0x80;
/// Jumping blocks that fit in the arena (launch, 3).
pub const THUNK_CAPACITY: u32 = (ARENA_SIZE - HEADER_SIZE as u32) / THUNK_SIZE as u32;

const CONSTANT_OFFSET: usize = 0x40;
/// The two-byte unit of unoccupied code space (launch, 3.4; OPAQUE).
const FILLER: [u8; 2] = [0x06, 0x00];
/// Last entries of the helper tables (launch, 3.1; OPAQUE).
const TERMINAL: [u8; 8] = [0xf7, 0x03, 0xaa, 0x00, 0x8f, 0x02, 0x54, 0x01];
const TABLES: [usize; 2] = [0x100, 0x200];
const TABLE_ENTRY: usize = 16;

/// STOP (launch, 4.8; HW).
static STOP: LazyLock<[u8; 4]> = LazyLock::new(|| {
    let mut bytes = [0; 4];
    bytes.copy_from_slice(&Instr::new(FormId::Stop).encoded());
    bytes
});
static BRANCH: LazyLock<Instr> = LazyLock::new(|| Instr::new(FormId::Branch));

/// The jump that is taken while any lane is active (launch, 4.2; HW).
pub(crate) fn jump(structure: &'static str, displacement: i64) -> Result<agx_isa::Encoded> {
    let mut jump = *BRANCH;
    jump.set_modifier("disp", displacement as u64)
        .map_err(operand(structure))?;
    jump.encode().map_err(operand(structure))
}

/// Bytes of [`jump`].
pub(crate) const JUMP_SIZE: usize = 10;

/// The displacement of an instruction, if it is that jump.
pub(crate) fn jump_displacement(instr: &Instr) -> Option<i64> {
    let any = instr.id() == FormId::Branch && instr.op_name() == "br_any";
    if any { instr.displacement() } else { None }
}

/// The helper tables of a container header.
///
/// Nothing in normal execution is known to enter them; their purpose is OPAQUE.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum HelperTables {
    /// Ten stubs and two terminals in each table: what a driver writes (launch, 3.1; HW).
    #[default]
    Ten,
    /// Six stubs and two terminals: seen on an A18 Pro (launch, 3.1; HW on G17P). That the rest of
    /// the table is filler and that table B has the same form is INFERRED.
    Six,
}

impl HelperTables {
    const fn stubs(self) -> usize {
        match self {
            HelperTables::Ten => 10,
            HelperTables::Six => 6,
        }
    }
}

/// The container header at the window's start (launch, 3.1; HW).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Header {
    /// The form of both helper tables.
    pub tables: HelperTables,
}

impl Header {
    const NAME: &'static str = "container header";

    /// The header's bytes, the first 0x340 of the window.
    ///
    /// # Errors
    /// When `buffer` has fewer than [`HEADER_SIZE`] bytes. Bytes behind them are not written.
    pub fn pack(&self, buffer: &mut [u8]) -> Result<()> {
        let buffer = head_mut(Self::NAME, buffer, HEADER_SIZE)?;
        buffer.fill(0);
        put_words(buffer, 0, &[HEADER_SIZE as u32]);
        for unit in buffer[0x40..].chunks_exact_mut(2) {
            unit.copy_from_slice(&FILLER);
        }
        let stubs = self.tables.stubs();
        for table in TABLES {
            // Every stub jumps to the first terminal.
            for i in 0..stubs {
                let displacement = ((stubs - i) * TABLE_ENTRY) as i64;
                put(
                    buffer,
                    table + i * TABLE_ENTRY,
                    &jump(Self::NAME, displacement)?,
                );
            }
            for i in [stubs, stubs + 1] {
                put(buffer, table + i * TABLE_ENTRY, &TERMINAL);
            }
        }
        Ok(())
    }

    /// The header that begins `bytes`.
    ///
    /// # Errors
    /// When there are too few bytes or any of them differs from both known forms.
    pub fn unpack(bytes: &[u8]) -> Result<Header> {
        let bytes = head(Self::NAME, bytes, HEADER_SIZE)?;
        let mut furthest = 0;
        for tables in [HelperTables::Ten, HelperTables::Six] {
            let header = Header { tables };
            let mut known = [0; HEADER_SIZE];
            header.pack(&mut known)?;
            match bytes.iter().zip(&known).position(|(a, b)| a != b) {
                Some(offset) => furthest = furthest.max(offset),
                None => return Ok(header),
            }
        }
        unexpected(Self::NAME, furthest, "the constants of launch, 3.1")
    }
}

/// The offset of a block from the window's start: a multiple of 0x40 behind the header, inside the
/// arena (launch, 3; HW).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlockOffset(u32);

impl BlockOffset {
    /// The first block's offset, just behind the header.
    pub const FIRST: BlockOffset = BlockOffset(HEADER_SIZE as u32);

    /// A block `offset` bytes behind the window's start.
    ///
    /// # Errors
    /// When the offset is not a multiple of 0x40, lies in the header, or leaves no room for the
    /// smallest block.
    pub fn new(offset: u32) -> Result<BlockOffset> {
        let room = Self::FIRST.0..=ARENA_SIZE - THUNK_SIZE as u32;
        if offset.is_multiple_of(BLOCK_ALIGN) && room.contains(&offset) {
            Ok(BlockOffset(offset))
        } else {
            illegal(
                Block::NAME,
                "offset",
                u64::from(offset),
                "a multiple of 0x40, 0x340..=0x7fff40",
            )
        }
    }

    /// Bytes from the window's start.
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0
    }

    /// The block's entry: what TARGET names.
    #[must_use]
    pub const fn entry(self) -> EntryOffset {
        EntryOffset::of_block(self.0 + CODE_OFFSET as u32)
    }

    const fn code(self) -> CodeAddress {
        self.entry().code()
    }
}

/// Which stages a block serves; decides what is in its constant program slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// STOP and filler (launch, 3.3; HW).
    Compute,
    /// Zeros (launch, 3.2; HW).
    Graphics,
}

impl Kind {
    fn constant_program(self) -> [u8; 0x40] {
        let mut program = [0; 0x40];
        if self == Kind::Compute {
            for unit in program.chunks_exact_mut(2) {
                unit.copy_from_slice(&FILLER);
            }
            put(&mut program, 0, &*STOP);
        }
        program
    }
}

/// What a block's code is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target<'a> {
    /// A jump to a body anywhere in the window, at an even address; then STOP, which is reached
    /// when no lane is active (launch, 3.2; HW).
    Jump(CodeAddress),
    /// The body itself, which ends in STOP (launch, 3.5; HW). For tiny programs: it takes arena
    /// space, but no jump.
    Body(&'a [u8]),
}

/// An entry block (launch, 3.2 and 3.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Block<'a> {
    /// The stages it serves.
    pub kind: Kind,
    /// Its code.
    pub target: Target<'a>,
}

impl<'a> Block<'a> {
    const NAME: &'static str = "entry block";

    /// Bytes in the block, a multiple of 0x40.
    #[must_use]
    pub const fn size(&self) -> usize {
        match self.target {
            Target::Jump(_) => THUNK_SIZE,
            Target::Body(body) => (CODE_OFFSET + body.len()).next_multiple_of(BLOCK_ALIGN as usize),
        }
    }

    /// Writes the block that will lie at `at`; returns its size. Bytes of `buffer` behind it are
    /// not written.
    ///
    /// # Errors
    /// When `buffer` is too small, the body's address is odd, a body inside the block does not end
    /// in STOP, is only a jump (that is [`Target::Jump`]), or reaches past the arena's end.
    pub fn pack(&self, at: BlockOffset, buffer: &mut [u8]) -> Result<usize> {
        let size = self.size();
        if size > (ARENA_SIZE - at.get()) as usize {
            return illegal(Self::NAME, "size", size as u64, "up to the arena's end");
        }
        let buffer = head_mut(Self::NAME, buffer, size)?;
        buffer.fill(0);
        put_words(buffer, 0, &[size as u32]);
        put(buffer, CONSTANT_OFFSET, &self.kind.constant_program());
        match self.target {
            Target::Jump(body) => {
                check_body_address(body)?;
                let displacement = body.displacement_from(at.code());
                put(buffer, CODE_OFFSET, &jump(Self::NAME, displacement)?);
                put(buffer, CODE_OFFSET + JUMP_SIZE, &*STOP);
            }
            Target::Body(body) => {
                if !body.ends_with(&*STOP) || !body.len().is_multiple_of(2) {
                    let end = CODE_OFFSET + body.len();
                    return unexpected(Self::NAME, end, "instructions that end in STOP");
                }
                if jump_of(body).is_some() {
                    return unexpected(Self::NAME, CODE_OFFSET, "a body that is not a bare jump");
                }
                put(buffer, CODE_OFFSET, body);
            }
        }
        Ok(size)
    }

    /// The block that begins `bytes` and lies at `at`. Its size is [`Block::size`].
    ///
    /// # Errors
    /// When the bytes end inside the block or differ from what [`Block::pack`] writes: unknown
    /// constant program (native compilers have their own there), code without STOP at its end,
    /// a jump that leads out of the window, padding that is not zero.
    pub fn unpack(at: BlockOffset, bytes: &'a [u8]) -> Result<Block<'a>> {
        head(Self::NAME, bytes, CODE_OFFSET)?;
        let size = word(bytes, 0);
        let room = ARENA_SIZE - at.get();
        if !size.is_multiple_of(BLOCK_ALIGN) || !(THUNK_SIZE as u32..=room).contains(&size) {
            let legal = "a multiple of 0x40, 0xc0 up to the arena's end";
            return illegal(Self::NAME, "size", u64::from(size), legal);
        }
        let bytes = head(Self::NAME, bytes, size as usize)?;
        zeros(Self::NAME, bytes, 4, CONSTANT_OFFSET)?;
        let constant = &bytes[CONSTANT_OFFSET..CODE_OFFSET];
        let kinds = [Kind::Compute, Kind::Graphics];
        let Some(kind) = kinds
            .into_iter()
            .find(|kind| kind.constant_program() == constant)
        else {
            let expected = "STOP and filler, or zeros (constant program)";
            return unexpected(Self::NAME, CONSTANT_OFFSET, expected);
        };
        // The code ends with the STOP in front of the zero padding; three bytes of STOP are zero.
        let code = &bytes[CODE_OFFSET..];
        let end = code
            .iter()
            .rposition(|b| *b != 0)
            .map_or(0, |last| last + 4);
        let Some(code) = code.get(..end).filter(|code| code.ends_with(&*STOP)) else {
            let expected = "code that ends in STOP, then zeros";
            return unexpected(Self::NAME, CODE_OFFSET, expected);
        };
        let target = match jump_of(code) {
            Some(displacement) => {
                let Some(body) = at.code().displaced(displacement) else {
                    let legal = "a jump inside the window";
                    return illegal(Self::NAME, "displacement", displacement as u64, legal);
                };
                check_body_address(body)?;
                Target::Jump(body)
            }
            None => Target::Body(code),
        };
        let block = Block { kind, target };
        if block.size() != size as usize {
            let legal = "the code's end, rounded up to 0x40";
            return illegal(Self::NAME, "size", u64::from(size), legal);
        }
        if !code.len().is_multiple_of(2) {
            return unexpected(Self::NAME, CODE_OFFSET + end, "instructions of even length");
        }
        Ok(block)
    }
}

fn check_body_address(body: CodeAddress) -> Result<()> {
    if body.offset().is_multiple_of(2) {
        Ok(())
    } else {
        illegal(Block::NAME, "body", body.address(), "an even address")
    }
}

/// The displacement, if the code is only a jump as [`jump`] makes it, and STOP.
fn jump_of(code: &[u8]) -> Option<i64> {
    let (first, rest) = code.split_at_checked(JUMP_SIZE)?;
    if rest != *STOP {
        return None;
    }
    let displacement = jump_displacement(&decode(first, Mode::Strict).ok()?)?;
    // Not one that also waits for slots.
    let plain = jump(Block::NAME, displacement).ok()?;
    (*plain == *first).then_some(displacement)
}
