// SPDX-License-Identifier: MIT
//! Coefficient tables ("CF"): how a fragment shader's inputs come from the vertices' outputs.
//!
//! graphics, 5.3. A table lies in the execution window; the fragment piece names it and the number of its
//! bindings. Each binding fills one to four coefficient registers, which the shader interpolates.

use arrayvec::ArrayVec;

use crate::bits::Word;
use crate::bytes::{head, head_mut, put_words, word};
use crate::codes::codes;
use crate::error::{Result, illegal};
use crate::provoking::Provoking;

/// Bytes in a table (graphics, 5.3; HW).
pub const TABLE_SIZE: usize = 0x220;
/// Bytes that tables are aligned to (graphics, 2; HW).
pub const TABLE_ALIGN: u32 = 64;
/// Bindings that a table has room for.
pub const MAX_BINDINGS: usize = TABLE_SIZE / 4 - 1;
/// Most user scalars: with a binding each, and four bindings besides, they fit (graphics, 5.2; 96 have
/// run, HW). Scalars that need more bindings than the fragment piece can count, 127, are refused.
pub const MAX_SCALARS: u8 = (MAX_BINDINGS - 4) as u8;
/// Most scalars of a binding (graphics, 5.3; HW).
pub const MAX_COMPONENTS: u8 = 4;

const NAME: &str = "coefficient table";
/// Most bindings that the fragment piece counts: seven bits.
const MAX_COUNT: usize = 127;

codes! {
    /// How a coefficient varies over a primitive (graphics, 5.3).
    Shade, NAME, "0, 2, 3, 6 or 7";
    /// The value of the first vertex (HW).
    FlatFirst = 0,
    /// The value of the third vertex (HW).
    FlatLast = 2,
    /// Linear on the screen (HW).
    Linear = 3,
    /// The value of the second vertex (INFERRED).
    FlatSecond = 6,
    /// Divided by w: the shader multiplies it back (HW).
    Perspective = 7,
}

impl Shade {
    /// The value of the provoking vertex.
    #[must_use]
    pub const fn flat(provoking: Provoking) -> Shade {
        match provoking {
            Provoking::First => Shade::FlatFirst,
            Provoking::Second => Shade::FlatSecond,
            Provoking::Last => Shade::FlatLast,
        }
    }

    /// The vertex that a flat value comes from; `None` when it is not flat.
    #[must_use]
    pub const fn provoking(self) -> Option<Provoking> {
        match self {
            Shade::FlatFirst => Some(Provoking::First),
            Shade::FlatSecond => Some(Provoking::Second),
            Shade::FlatLast => Some(Provoking::Last),
            Shade::Linear | Shade::Perspective => None,
        }
    }
}

codes! {
    /// Where a coefficient comes from (graphics, 5.3).
    Source, NAME, "0..=3 or 5";
    /// Source slots: 1/w, depth if selected, then user scalars (HW).
    Varying = 0,
    /// The fragment's depth, source slot 1 (HW).
    FragmentZ = 1,
    /// Coordinates in a point (HW).
    PointCoordinate = 2,
    /// The number of the primitive (INFERRED).
    PrimitiveId = 3,
    /// Barycentric coordinates, two of them (INFERRED).
    Barycentric = 5,
}

/// How a user scalar is interpolated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Interpolation {
    /// With perspective.
    Smooth,
    /// Not at all: the value of the provoking vertex.
    Flat,
    /// Without perspective.
    Linear,
}

/// One to four coefficient registers (graphics, 5.3; HW).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Binding {
    /// Registers, 1..=4.
    pub components: u8,
    /// How they vary.
    pub shade: Shade,
    /// Where they come from.
    pub source: Source,
    /// The first source slot; only varyings and depth have one.
    pub slot: u8,
    /// The first register.
    pub register: u8,
}

impl Binding {
    /// Coefficient 0 is 1/w, in slot 0, in every table (graphics, 5.3; HW).
    pub const ONE_OVER_W: Binding = Binding {
        components: 1,
        shade: Shade::Linear,
        source: Source::Varying,
        slot: 0,
        register: 0,
    };

    fn word(self) -> u32 {
        u32::from(self.components - 1)
            | u32::from(self.shade.code()) << 2
            | u32::from(self.source.code()) << 5
            | u32::from(self.slot) << 8
            | u32::from(self.register) << 16
    }

    fn of_word(word: u32) -> Result<Binding> {
        let mut word = Word::new("coefficient binding", word);
        let binding = Binding {
            components: word.take(0, 1) as u8 + 1,
            shade: Shade::from_code(word.take(2, 4) as u8)?,
            source: Source::from_code(word.take(5, 7) as u8)?,
            slot: word.take(8, 15) as u8,
            register: word.take(16, 23) as u8,
        };
        word.finish()?;
        Ok(binding)
    }

    /// Refuses what its source does not have.
    fn check(self) -> Result<()> {
        const NAME: &str = "coefficient binding";
        let (components, slots) = match self.source {
            Source::Varying => (1..=MAX_COMPONENTS, 0..=u8::MAX),
            Source::FragmentZ => (1..=1, 1..=1),
            Source::PointCoordinate | Source::Barycentric => (2..=2, 0..=0),
            Source::PrimitiveId => (1..=1, 0..=0),
        };
        if !components.contains(&self.components) {
            let legal = "1..=4 varyings, 2 coordinates, else 1";
            return illegal(NAME, "components", self.components.into(), legal);
        }
        if !slots.contains(&self.slot) {
            let legal = "1 for depth, 0 for what has no slot";
            return illegal(NAME, "slot", self.slot.into(), legal);
        }
        let shade = match self.source {
            Source::Varying => true,
            Source::PrimitiveId => self.shade.provoking().is_some(),
            Source::FragmentZ | Source::PointCoordinate | Source::Barycentric => {
                self.shade == Shade::Linear
            }
        };
        if !shade {
            let legal = "linear; flat for primitive numbers";
            return illegal(NAME, "shade model", self.shade.code().into(), legal);
        }
        Ok(())
    }
}

/// What a fragment shader reads (graphics, 5.3).
#[derive(Clone, Copy, Debug)]
pub struct Inputs<'a> {
    /// The user scalars of the vertex shader in the order of its outputs, unused ones included.
    pub scalars: &'a [Interpolation],
    /// The vertex that flat ones come from.
    pub provoking: Provoking,
    /// The primitive's number is read and not written by the vertex shader (INFERRED).
    pub primitive_id: bool,
    /// Depth is read.
    pub fragment_z: bool,
    /// Coordinates in points are read.
    pub point_coordinate: bool,
}

/// A table: all bindings, in the order of their registers (graphics, 5.3; HW).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    bindings: ArrayVec<Binding, MAX_COUNT>,
    registers: u8,
}

impl Table {
    /// The table of a fragment shader, bound as the proven driver does: 1/w, user scalars in groups of up to
    /// four that vary alike, primitive number, depth, point coordinates (HW, the number INFERRED).
    ///
    /// # Errors
    /// When there are more than 131 scalars, or they vary so differently that more than 127 bindings are
    /// needed.
    pub fn new(inputs: &Inputs<'_>) -> Result<Table> {
        if inputs.scalars.len() > MAX_SCALARS.into() {
            let scalars = inputs.scalars.len() as u64;
            return illegal(NAME, "user scalars", scalars, "0..=131");
        }
        let shade = |interpolation| match interpolation {
            Interpolation::Smooth => Shade::Perspective,
            Interpolation::Flat => Shade::flat(inputs.provoking),
            Interpolation::Linear => Shade::Linear,
        };
        let mut table = Table {
            bindings: ArrayVec::new(),
            registers: 0,
        };
        table.push(1, Shade::Linear, Source::Varying, 0)?;
        let mut slot = 1 + u8::from(inputs.fragment_z);
        for alike in inputs.scalars.chunk_by(|a, b| a == b) {
            for group in alike.chunks(MAX_COMPONENTS.into()) {
                let components = group.len() as u8;
                table.push(components, shade(group[0]), Source::Varying, slot)?;
                slot += components;
            }
        }
        if inputs.primitive_id {
            // The code of the vendor's pattern, whatever the provoking vertex.
            table.push(1, Shade::FlatFirst, Source::PrimitiveId, 0)?;
        }
        if inputs.fragment_z {
            table.push(1, Shade::Linear, Source::FragmentZ, 1)?;
        }
        if inputs.point_coordinate {
            table.push(2, Shade::Linear, Source::PointCoordinate, 0)?;
        }
        Ok(table)
    }

    /// Binds the next registers.
    fn push(&mut self, components: u8, shade: Shade, source: Source, slot: u8) -> Result<()> {
        let binding = Binding {
            components,
            shade,
            source,
            slot,
            register: self.registers,
        };
        if self.bindings.try_push(binding).is_err() {
            let bindings = self.bindings.len() as u64 + 1;
            return illegal(NAME, "bindings", bindings, "1..=127");
        }
        // At most 127 * 4 by the bindings, and 135 by what callers bind.
        self.registers += components;
        Ok(())
    }

    /// A table of these bindings.
    ///
    /// # Errors
    /// When there are none or more than 127, the first is not [`Binding::ONE_OVER_W`], registers do not
    /// follow each other from 0 or are more than 255, a slot lies behind the last, or a binding has what
    /// its source has not.
    pub fn of_bindings(bindings: &[Binding]) -> Result<Table> {
        if bindings.first() != Some(&Binding::ONE_OVER_W) {
            let word = bindings.first().map_or(0, |binding| binding.word());
            let legal = "0xc: 1/w in register 0";
            return illegal(NAME, "first binding", word.into(), legal);
        }
        let Ok(bindings) = ArrayVec::<_, MAX_COUNT>::try_from(bindings) else {
            return illegal(NAME, "bindings", bindings.len() as u64, "1..=127");
        };
        let mut registers = 0u8;
        for binding in &bindings {
            binding.check()?;
            if binding.register != registers {
                let legal = "the one behind the binding before";
                return illegal(NAME, "register", binding.register.into(), legal);
            }
            registers = match registers.checked_add(binding.components) {
                Some(registers) => registers,
                None => return illegal(NAME, "registers", 256, "1..=255"),
            };
        }
        let table = Table {
            bindings,
            registers,
        };
        for binding in &table.bindings {
            if u16::from(binding.slot) + u16::from(binding.components) > registers.into()
                && binding.source == Source::Varying
            {
                let legal = "source slots up to their number";
                return illegal(NAME, "slot", binding.slot.into(), legal);
            }
        }
        Ok(table)
    }

    /// The bindings.
    #[must_use]
    pub fn bindings(&self) -> &[Binding] {
        &self.bindings
    }

    /// The count that the fragment piece states.
    #[must_use]
    pub fn count(&self) -> u8 {
        self.bindings.len() as u8
    }

    /// Registers in all, which is also the number of source slots in the first word (graphics, 5.3; HW).
    #[must_use]
    pub const fn registers(&self) -> u8 {
        self.registers
    }

    /// The first register of what comes from this source; for varyings that of 1/w.
    #[must_use]
    pub fn register_of(&self, source: Source) -> Option<u8> {
        let mut bindings = self.bindings.iter();
        bindings
            .find(|binding| binding.source == source)
            .map(|binding| binding.register)
    }

    /// Writes the table into the first 0x220 bytes of `buffer`.
    ///
    /// # Errors
    /// When `buffer` is too small.
    pub fn pack(&self, buffer: &mut [u8]) -> Result<()> {
        let out = head_mut(NAME, buffer, TABLE_SIZE)?;
        out.fill(0);
        let registers = u32::from(self.registers);
        put_words(out, 0, &[registers | registers << 8]);
        for (i, binding) in self.bindings.iter().enumerate() {
            put_words(out, 4 + 4 * i, &[binding.word()]);
        }
        Ok(())
    }

    /// The table of `count` bindings in the first 0x220 bytes: it does not say how many it has.
    ///
    /// # Errors
    /// When the bytes are too few, the bindings are none that [`Table::of_bindings`] takes, the first word
    /// states another number of registers, or words behind the bindings are not 0.
    pub fn unpack(bytes: &[u8], count: u8) -> Result<Table> {
        let bytes = head(NAME, bytes, TABLE_SIZE)?;
        let mut bindings = ArrayVec::<_, MAX_COUNT>::new();
        for i in 0..usize::from(count) {
            let binding = Binding::of_word(word(bytes, 4 + 4 * i))?;
            if bindings.try_push(binding).is_err() {
                return illegal(NAME, "bindings", count.into(), "1..=127");
            }
        }
        let table = Table::of_bindings(&bindings)?;
        let registers = u32::from(table.registers);
        let stated = word(bytes, 0);
        if stated != registers | registers << 8 {
            let legal = "the registers in bits 7:0 and again in 15:8";
            return illegal(NAME, "first word", stated.into(), legal);
        }
        crate::bytes::zeros(NAME, bytes, 4 + 4 * usize::from(count), TABLE_SIZE)?;
        Ok(table)
    }
}
