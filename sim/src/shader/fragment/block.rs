// SPDX-License-Identifier: MIT
//! BLOCK_STORE: one attachment of the whole tile to an image (isa-3, 3.3; images, 3).
//!
//! The image is the record at the named index of the table that argument pointer 0 leads to
//! (graphics, 4.3). What lies outside the record's width and height is not written. The lowest active
//! lane's parameters count. They, the mode and the record have to agree about samples and layers;
//! whether hardware minds is not known, and here it faults. A level in the low half of the last
//! parameter must be the record's, or 0.

use agx_hw::layout::{Memory as Layout, Position};
use agx_hw::store::{Dimension, Levels, Memory, RECORD_SIZE, Store};
use agx_isa::{File, FormId, Instr, Value};

use super::super::device::ADDRESS_MASK;
use super::super::group::Stage;
use super::super::microop::{MicroOp, Step};
use super::super::wave::Wave;
use super::encode::Encoder;
use super::{Fragments, illegal, outside, strict};
use crate::fault::FaultKind;
use crate::memory::{Access, Tlb};

/// The words that name a mode (isa-3, 3.3).
mod mode {
    pub(super) const PLAIN: u32 = 0x5a8;
    pub(super) const SAMPLES: u32 = 0x228;
    pub(super) const LAYERS: u32 = 0x528;
    pub(super) const SAMPLES_LAYERS: u32 = 0x028;
}

/// A block store with its parameters.
#[derive(Clone, Copy, Debug)]
struct BlockStore {
    mode: u32,
    format: u32,
    x: u32,
    y: u32,
    layer: u32,
    /// Tile offset in bytes in the high half, level in the low one.
    last: u32,
}

/// Numbers: first publication, image, mode, tile format.
#[inline(always)]
fn run(wave: &mut Wave<'_>, op: &MicroOp) -> Step {
    if wave.active() == 0 {
        return Step::Next;
    }
    let lane = wave.active().trailing_zeros() as usize;
    let parameter =
        |wave: &Wave<'_>, index: u32| wave.publication((op.imm[0] + index) as u8).0[lane];
    let [_, image, mode, format] = op.imm;
    let (layer, last) = match mode {
        mode::PLAIN => (0, parameter(wave, 2)),
        _ => (parameter(wave, 2), parameter(wave, 3)),
    };
    let block = BlockStore {
        mode,
        format,
        x: parameter(wave, 0),
        y: parameter(wave, 1),
        layer,
        last,
    };
    let dispatch = wave.group.dispatch;
    if wave.fragments.is_none() {
        return outside(wave);
    }
    if dispatch.stage != Stage::EndOfTile {
        return illegal(wave, "block stores are for end-of-tile programs");
    }
    let table = dispatch.uniforms.pair(0);
    let address = table.wrapping_add(u64::from(image) * RECORD_SIZE as u64) & ADDRESS_MASK;
    let mut bytes = [0; RECORD_SIZE];
    let tlb = wave.group.tlb;
    if !tlb.mappings().read(address, &mut bytes) {
        let reason = format!("store record {image} at {address:#x} is not readable");
        return illegal(wave, &reason);
    }
    let store = match Store::unpack(&bytes) {
        Ok(store) => store,
        Err(error) => {
            let reason = format!("store record {image} at {address:#x}: {error}");
            return illegal(wave, &reason);
        }
    };
    let result = match &wave.fragments {
        Some(fragments) => block.execute(fragments, &store, tlb),
        None => Ok(None),
    };
    let is_strict = dispatch.strict;
    let open = match &mut wave.fragments {
        Some(fragments) => {
            fragments.transactions.block_pending = true;
            fragments.transactions.blocks
        }
        None => false,
    };
    match result {
        Err(reason) => illegal(wave, &reason),
        Ok(Some(va)) if is_strict => wave.fail(
            FaultKind::Memory {
                access: "block store",
                va,
                bytes: store.encoding.element().bytes.into(),
                reason: "not mapped writable",
            },
            None,
        ),
        Ok(_) if is_strict && !open => {
            strict(wave, "a block store without ACCESS 0x700".to_owned())
        }
        Ok(_) => Step::Next,
    }
}

impl BlockStore {
    /// Writes the tile; answers the first address that is not mapped.
    fn execute(
        &self,
        fragments: &Fragments,
        store: &Store,
        tlb: &Tlb<'_>,
    ) -> Result<Option<u64>, String> {
        let tile = &fragments.tile;
        let encoder = Encoder::new(store.encoding, store.swizzle, self.format)?;
        let offset = self.last >> 16;
        if !offset.is_multiple_of(4) || offset as usize / 4 + encoder.words() > tile.words {
            let bytes = 4 * tile.words;
            return Err(format!(
                "tile offset {offset}, but a sample has {bytes} bytes"
            ));
        }
        let (samples, layers, level) = self.check(store)?;
        if samples != tile.samples {
            return Err(format!(
                "a record of {samples} samples in a pass of {}",
                tile.samples
            ));
        }
        if self.layer >= layers {
            return Err(format!("layer {}, but the record has {layers}", self.layer));
        }
        let layout = store.layout().map_err(|error| error.to_string())?;
        Ok(self.write(fragments, store, &layout, &encoder, level, tlb))
    }

    /// Samples, layers and level of the record, which must be what the mode says.
    fn check(&self, store: &Store) -> Result<(usize, u32, u8), String> {
        let (dimension, levels) = match store.memory {
            Memory::Linear { .. } => (Dimension::D2, Levels::Single),
            Memory::Tiled { dimension, levels } => (dimension, levels),
        };
        let count = |samples: agx_hw::store::Multisample| match samples {
            agx_hw::store::Multisample::X2 => 2,
            agx_hw::store::Multisample::X4 => 4,
        };
        let (expected, samples, layers) = match dimension {
            Dimension::D2 => (mode::PLAIN, 1, 1),
            Dimension::D2Array { layers } => (mode::LAYERS, 1, layers),
            Dimension::D2Multisample { samples } => (mode::SAMPLES, count(samples), 1),
            Dimension::D2MultisampleArray { samples, layers } => {
                (mode::SAMPLES_LAYERS, count(samples), layers)
            }
            other => return Err(format!("block stores to {other:?} are not known")),
        };
        if expected != self.mode {
            let mode = self.mode;
            return Err(format!("mode {mode:#x} with a record of {dimension:?}"));
        }
        if self.mode == mode::SAMPLES && self.layer != 0 {
            return Err("parameter 2 of a multisampled block store is not 0".to_owned());
        }
        let level = match levels {
            Levels::Single => 0,
            Levels::Level { level, .. } => level,
        };
        let said = self.last & 0xffff;
        if said != 0 && said != u32::from(level) {
            return Err(format!("level {said}, but the record writes level {level}"));
        }
        Ok((samples, layers, level))
    }

    fn write(
        &self,
        fragments: &Fragments,
        store: &Store,
        layout: &Layout,
        encoder: &Encoder,
        level: u8,
        tlb: &Tlb<'_>,
    ) -> Option<u64> {
        let tile = &fragments.tile;
        let (width, height) = match layout {
            Layout::Linear(_) => (store.width, store.height),
            Layout::Tiled(tiled) => tiled
                .levels()
                .get(usize::from(level))
                .map_or((0, 0), |level| (level.width, level.height)),
        };
        let first = (self.last >> 16) as usize / 4;
        let mut unmapped = None;
        for row in 0..tile.size[1].min(height.saturating_sub(self.y)) {
            for column in 0..tile.size[0].min(width.saturating_sub(self.x)) {
                let place = tile.place(tile.origin[0] + column, tile.origin[1] + row);
                for sample in 0..tile.samples {
                    let at = Position {
                        x: self.x + column,
                        y: self.y + row,
                        layer: self.layer,
                        sample: sample as u8,
                        level,
                    };
                    let Some(offset) = layout.offset(at) else {
                        continue;
                    };
                    let mut words = [0; 4];
                    for (word, value) in words.iter_mut().enumerate().take(encoder.words()) {
                        *value = tile.colour[tile.index(first + word, sample, place)];
                    }
                    let (bytes, count) = encoder.texel(words);
                    let va = store.address.wrapping_add(offset) & ADDRESS_MASK;
                    match tlb.translate(va, Access::Write) {
                        // SAFETY: an element is aligned to its size and lies in the page that was
                        // translated.
                        Some(host) => unsafe {
                            std::ptr::copy_nonoverlapping(bytes.as_ptr(), host, count);
                        },
                        None => unmapped = unmapped.or(Some(va)),
                    }
                }
            }
        }
        unmapped
    }
}

crate::kernel! {
    block_store = run;
}

pub(in super::super) fn lower(instr: &Instr) -> Option<MicroOp> {
    if instr.id() != FormId::BlockStore {
        return None;
    }
    let number = |index: usize, file: File| match instr.arg(index).value {
        Value::Reg(reg) if reg.file == file => Some(u32::from(reg.index)),
        _ => None,
    };
    Some(MicroOp::new(block_store()).imms([
        number(0, File::Publication)?,
        number(1, File::Image)?,
        instr.modifier("mode")? as u32,
        instr.modifier("format")? as u32,
    ]))
}
