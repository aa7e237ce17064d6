// SPDX-License-Identifier: MIT
//! Tile memory (graphics, 8; isa-3, 4.5 and 4.6): colour words, depth and stencil of the tile that is
//! being rendered, the transactions around accesses, TILE_LOAD and TILE_STORE.
//!
//! Words that a sample does not own fault, whatever the mode. Samples that are not alive are not
//! stored (isa-4, 8; HW). A load whose mask selects no sample that there is delivers 0; strict mode
//! faults, as it does when a transaction is missing. The form with explicit coordinates faults: the
//! packing of coordinates is not known (isa-3, 9 row 11).

use agx_isa::{File, FormId, Instr, Value};

use super::super::lanes::{LANES, Lanes};
use super::super::microop::{MicroOp, Step};
use super::super::operand::{Dst, Place, Src};
use super::super::wave::Wave;
use super::{illegal, outside, strict};

/// Depth in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DepthFormat {
    /// 32-bit float.
    #[default]
    Float32,
    /// 16-bit unorm.
    Unorm16,
}

impl DepthFormat {
    /// The value that memory can hold.
    #[inline(always)]
    #[must_use]
    pub fn quantise(self, depth: f32) -> f32 {
        match self {
            DepthFormat::Float32 => depth,
            DepthFormat::Unorm16 => (depth.clamp(0.0, 1.0) * 65535.0).round_ties_even() / 65535.0,
        }
    }
}

/// A tile.
#[derive(Clone, Debug)]
pub struct Tile {
    /// Its upper left pixel in the framebuffer.
    pub origin: [u32; 2],
    /// Pixels, x and y.
    pub size: [u32; 2],
    /// The framebuffer layer.
    pub layer: u32,
    /// Samples of a pixel.
    pub samples: usize,
    /// Where they lie, in sixteenths of a pixel.
    pub positions: [[u8; 2]; 4],
    /// Colour words of each sample.
    pub words: usize,
    /// Word w of sample s of the pixel at place p stands at `(w * samples + s) * pixels + p`.
    pub colour: Vec<u32>,
    /// Depth of sample s of the pixel at place p stands at `s * pixels + p`.
    pub depth: Vec<f32>,
    /// Stencil, likewise.
    pub stencil: Vec<u8>,
    /// What depth is quantised to.
    pub depth_format: DepthFormat,
}

impl Tile {
    /// A tile with all memory zero.
    #[must_use]
    pub fn new(
        size: [u32; 2],
        samples: usize,
        positions: [[u8; 2]; 4],
        words: usize,
        depth_format: DepthFormat,
    ) -> Tile {
        let pixels = (size[0] * size[1]) as usize;
        Tile {
            origin: [0; 2],
            size,
            layer: 0,
            samples,
            positions,
            words,
            colour: vec![0; pixels * samples * words],
            depth: vec![0.0; pixels * samples],
            stencil: vec![0; pixels * samples],
            depth_format,
        }
    }

    /// Pixels in all.
    #[inline(always)]
    #[must_use]
    pub fn pixels(&self) -> usize {
        (self.size[0] * self.size[1]) as usize
    }

    /// The place of a pixel of the framebuffer: quads one after the other, so that the four pixels of
    /// one follow each other.
    #[inline(always)]
    #[must_use]
    pub fn place(&self, x: u32, y: u32) -> usize {
        let (x, y) = (x - self.origin[0], y - self.origin[1]);
        let quad = (y / 2) * (self.size[0] / 2) + x / 2;
        (4 * quad + (y & 1) * 2 + (x & 1)) as usize
    }

    /// Where a word of a sample of the pixel at a place stands.
    #[inline(always)]
    #[must_use]
    pub fn index(&self, word: usize, sample: usize, place: usize) -> usize {
        (word * self.samples + sample) * self.pixels() + place
    }
}

/// Which transactions a SIMD group has open (isa-3, 4.5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Transactions {
    /// 0x600, 0x700 or 0xf00 was opened.
    pub entered: bool,
    /// 0x700: block stores.
    pub blocks: bool,
    /// 0x808 or 0x80c: colour may be loaded.
    pub colour: bool,
    /// 0x80c: colour may be stored.
    pub colour_write: bool,
    /// 0x001: depth and stencil are tested.
    pub test: bool,
    /// A block store waits for its fence.
    pub block_pending: bool,
}

impl Transactions {
    /// What is wrong when the program ends now.
    #[must_use]
    pub fn open(&self) -> Option<&'static str> {
        if self.colour {
            Some("the colour transaction is open: FENCE 0x20c is missing")
        } else if self.test {
            Some("the test transaction is open: FENCE 0x001 is missing")
        } else if self.block_pending {
            Some("a block store without its FENCE 0x300")
        } else {
            None
        }
    }
}

/// Number: the immediate. Opens.
#[inline(always)]
fn run_access(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    let is_strict = wave.group.dispatch.strict;
    let Some(fragments) = &mut wave.fragments else {
        return outside(wave);
    };
    let open = &mut fragments.transactions;
    let before = *open;
    match op.imm[0] {
        0x600 | 0xf00 => open.entered = true,
        0x700 => {
            open.entered = true;
            open.blocks = true;
        }
        0x808 => open.colour = true,
        0x80c => {
            open.colour = true;
            open.colour_write = true;
        }
        0x001 => open.test = true,
        other => {
            let reason = format!("TILE_ACCESS {other:#x} is not known (isa-3, 4.5)");
            return illegal(wave, &reason);
        }
    }
    if is_strict {
        let wrong = match op.imm[0] {
            0x808 | 0x80c if before.colour => Some("the colour transaction is open already"),
            0x001 if before.test => Some("the test transaction is open already"),
            0x808 | 0x80c | 0x001 if !before.entered => {
                Some("no ACCESS 0x600, 0x700 or 0xf00 before it")
            }
            _ => None,
        };
        if let Some(wrong) = wrong {
            return strict(wave, wrong.to_owned());
        }
    }
    Step::Next
}

/// Number: the immediate. Closes.
#[inline(always)]
fn run_fence(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    let is_strict = wave.group.dispatch.strict;
    let Some(fragments) = &mut wave.fragments else {
        return outside(wave);
    };
    let open = &mut fragments.transactions;
    let before = *open;
    match op.imm[0] {
        0x20c => {
            open.colour = false;
            open.colour_write = false;
        }
        0x300 => open.block_pending = false,
        0x001 => open.test = false,
        other => {
            let reason = format!("TILE_FENCE {other:#x} is not known (isa-3, 4.5)");
            return illegal(wave, &reason);
        }
    }
    let opened = match op.imm[0] {
        0x20c => before.colour,
        0x001 => before.test,
        _ => before.entered,
    };
    if is_strict && !opened {
        return strict(wave, "closes a transaction that is not open".to_owned());
    }
    Step::Next
}

/// Is there such a word, and is the transaction open?
#[inline(always)]
fn check_word(wave: &mut Wave<'_>, word: usize, store: bool) -> Option<Step> {
    let is_strict = wave.group.dispatch.strict;
    let Some(fragments) = &wave.fragments else {
        return Some(outside(wave));
    };
    let words = fragments.tile.words;
    if word >= words {
        let reason = format!("tile word {word}, but a sample has {words}");
        return Some(illegal(wave, &reason));
    }
    let open = fragments.transactions;
    if is_strict
        && !(if store {
            open.colour_write
        } else {
            open.colour
        })
    {
        let rule = if store {
            "a tile store outside a transaction: ACCESS 0x80c is missing"
        } else {
            "a tile load outside a transaction: ACCESS 0x808 or 0x80c is missing"
        };
        return Some(strict(wave, rule.to_owned()));
    }
    None
}

/// Source 0 is the sample mask; number: the word.
#[inline(always)]
fn run_load(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    let word = op.imm[0] as usize;
    if let Some(fault) = check_word(wave, word, false) {
        return fault;
    }
    let mut temp = Lanes::ZERO;
    let mask = wave.read(&op.src[0], &mut temp);
    let Some(fragments) = &wave.fragments else {
        return Step::Next;
    };
    let tile = &fragments.tile;
    let mut out = Lanes::ZERO;
    let mut wrong = None;
    for lane in 0..LANES {
        let mask = mask.0[lane] & 0xff;
        let sample = mask.trailing_zeros() as usize;
        if mask.count_ones() != 1 || sample >= tile.samples {
            if wave.active() >> lane & 1 == 1 {
                wrong = Some((mask, lane));
            }
            if sample >= tile.samples {
                continue;
            }
        }
        out.0[lane] = tile.colour[tile.index(word, sample, fragments.place(lane))];
    }
    if let (Some((mask, lane)), true) = (wrong, wave.group.dispatch.strict) {
        return strict(
            wave,
            format!("a tile load of samples {mask:#x} in lane {lane}: it must be exactly one"),
        );
    }
    wave.write(op.dst, &out);
    Step::Next
}

/// Source 0 is the value, source 1 the sample mask; number: the word.
#[inline(always)]
fn run_store(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    let word = op.imm[0] as usize;
    if let Some(fault) = check_word(wave, word, true) {
        return fault;
    }
    let (mut ta, mut tb) = (Lanes::ZERO, Lanes::ZERO);
    let value = *wave.read(&op.src[0], &mut ta);
    let mask = *wave.read(&op.src[1], &mut tb);
    let active = wave.active();
    let is_strict = wave.group.dispatch.strict;
    let Some(fragments) = &mut wave.fragments else {
        return Step::Next;
    };
    let mut untested = false;
    for lane in 0..LANES {
        if active >> lane & 1 == 0 {
            continue;
        }
        let mask = mask.0[lane] & u32::from(fragments.live[lane]);
        if mask == 0 {
            continue;
        }
        untested |= mask & u32::from(fragments.pending[lane]) != 0;
        let place = fragments.place(lane);
        let tile = &mut fragments.tile;
        for sample in 0..tile.samples {
            if mask >> sample & 1 == 1 {
                let at = tile.index(word, sample, place);
                tile.colour[at] = value.0[lane];
            }
        }
    }
    if untested && is_strict {
        let rule = "a tile store to samples that are still to be tested for depth and stencil";
        return strict(wave, rule.to_owned());
    }
    Step::Next
}

#[inline(always)]
fn run_coordinates(wave: &mut Wave<'_>, _: &MicroOp) -> Step {
    illegal(
        wave,
        "the packing of TILE_LOAD's coordinates is not known (isa-3, 9)",
    )
}

crate::kernel! {
    access = run_access;
    fence = run_fence;
    load = run_load;
    store = run_store;
    coordinates = run_coordinates;
}

/// A sample mask: a literal, or half a register.
fn mask(instr: &Instr, index: usize) -> Option<Src> {
    match instr.arg(index).value {
        Value::Reg(reg) if reg.file == File::SampleMask => Some(Src::constant(reg.index.into())),
        Value::Int(value) => Some(Src::constant(value as u32)),
        _ => {
            let mut src = Src::of(instr, index)?;
            // Masks are half a register, the low one unless the other is named.
            if src.place == Place::Gpr {
                src.place = Place::Low;
            }
            Some(src)
        }
    }
}

fn word(instr: &Instr, index: usize) -> Option<u32> {
    match instr.arg(index).value {
        Value::Reg(reg) if reg.file == File::TileWord => Some(reg.index.into()),
        _ => None,
    }
}

pub(in super::super) fn lower(instr: &Instr) -> Option<MicroOp> {
    let immediate = || instr.modifier("imm").map(|value| value as u32);
    Some(match instr.id() {
        FormId::TileAccess => MicroOp::new(access()).imms([immediate()?]),
        FormId::TileFence => MicroOp::new(fence()).imms([immediate()?]),
        FormId::TileLoad | FormId::TileLoadMask => MicroOp::new(load())
            .dst(Dst::of(instr, 0)?)
            .srcs([mask(instr, 2)?])
            .imms([word(instr, 1)?]),
        FormId::TileStore => MicroOp::new(store())
            .srcs([Src::of(instr, 1)?, mask(instr, 2)?])
            .imms([word(instr, 0)?]),
        FormId::TileLoadCoords => MicroOp::new(coordinates()),
        _ => return None,
    })
}
