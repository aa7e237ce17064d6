// SPDX-License-Identifier: MIT
//! The program that takes a tile to memory: one block store for each attachment, once for a tile (graphics, 9.3).

use mesa_nir::MAX_ATTACHMENTS;
use mesa_nir::program::{FragmentInfo, StageInfo, TextureSlot};

use crate::binary::{Pointer, ShaderBinary};
use crate::compile::{Assembled, assemble};
use crate::error::Error;
use crate::ir::{
    BlockData, BlockStore, End, Function, Instr, Publish, ShiftImm, ShiftOp, Src, SysReg,
    TileAccess, TileBlock, TileFence, Value,
};

/// Opens and closes the transaction of block stores (isa-3, 4.5).
const ACCESS_BLOCK: u16 = 0x700;
const FENCE_BLOCK: u16 = 0x300;
/// The tile's column and row, and the layer.
const TILE_X: u8 = 0x9c;
const TILE_Y: u8 = 0x9d;
const LAYER: u8 = 0xc3;
/// Block stores are proven up to p12 (isa-3, 1.1), in fours.
const BLOCKS: usize = 4;

/// What goes to memory at the end of a pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Store {
    /// The colour attachments that are stored.
    pub attachments: [Option<StoreAttachment>; MAX_ATTACHMENTS],
    /// Samples of a pixel: 1, 2 or 4.
    pub samples: u8,
    /// Attachments are arrays, into whose layer that is rendered the tile goes.
    pub layered: bool,
}

/// An attachment that is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct StoreAttachment {
    /// Its first word in the record of a sample.
    pub word: u8,
    /// How the tile holds it: the export code of its format (images, 3.2).
    pub export_code: u8,
}

impl Store {
    /// The program. [`ShaderBinary::textures`] says where the image-write records are that stand in the table of textures,
    /// in set 0 at 64 times the number of the attachment.
    ///
    /// # Errors
    /// When a pass of the compiler breaks its own rules.
    pub fn compile(&self) -> Result<ShaderBinary, Error> {
        let mut builder = Builder::default();
        let stored = self.attachments.iter().enumerate();
        let stored: Vec<_> = stored.filter_map(|(i, a)| Some((i, (*a)?))).collect();
        self.body(&mut builder, stored.iter().map(|(_, a)| *a));
        let textures = stored.iter().map(|(i, _)| TextureSlot {
            set: 0,
            offset: 64 * *i as u32,
        });
        let Assembled {
            code,
            scratch,
            publications,
            stats,
        } = assemble(builder.finish(), &mut None)?;
        Ok(ShaderBinary {
            code,
            stage: StageInfo::Fragment(FragmentInfo {
                reads_tile: true,
                ..FragmentInfo::default()
            }),
            workgroup_size: [0; 3],
            pointers: vec![Pointer::TextureTable, Pointer::SamplerTable],
            publications,
            textures: textures.collect(),
            samplers: Vec::new(),
            scratch_bytes: scratch,
            spill_bytes: scratch,
            threadgroup_bytes: 0,
            workgroup_buffer_bytes: 0,
            resources: Vec::new(),
            stats,
        })
    }

    fn body(&self, b: &mut Builder, stored: impl Iterator<Item = StoreAttachment>) {
        b.emit(TileAccess { what: ACCESS_BLOCK });
        // 32 x 32 pixels, 32 x 16 of four samples.
        let x = b.tile_origin(TILE_X, 5);
        let y = b.tile_origin(TILE_Y, if self.samples == 4 { 4 } else { 5 });
        let third = match (self.layered, self.samples) {
            (true, _) => Some(b.system(LAYER)),
            (false, 1) => None,
            (false, _) => Some(Src::imm(0)),
        };
        for (i, a) in stored.enumerate() {
            let params = (4 * (i % BLOCKS)) as u8;
            let offset = Src::imm((u32::from(a.word) * 4) << 16);
            let words = [Some(x), Some(y), third, Some(offset)];
            for (word, src) in (params..).zip(words.into_iter().flatten()) {
                b.emit(Publish { src, word });
            }
            b.emit(BlockStore {
                block: TileBlock {
                    array: self.layered,
                    multisampled: self.samples > 1,
                    format: a.export_code,
                    image: i as u8,
                    params,
                },
            });
            b.emit(TileFence { what: FENCE_BLOCK });
        }
    }
}

/// A function of one block.
#[derive(Default)]
struct Builder {
    instrs: Vec<Instr>,
    values: u32,
}

impl Builder {
    fn emit(&mut self, instr: impl Into<Instr>) {
        self.instrs.push(instr.into());
    }

    fn value(&mut self) -> Value {
        self.values += 1;
        Value(self.values - 1)
    }

    fn system(&mut self, number: u8) -> Src {
        let value = self.value();
        self.emit(SysReg {
            dst: value.into(),
            number,
            narrow: false,
        });
        value.into()
    }

    /// The first pixel of the tile, whose edge is a power of two.
    fn tile_origin(&mut self, number: u8, edge: u8) -> Src {
        let a = self.system(number);
        let value = self.value();
        self.emit(ShiftImm {
            dst: value.into(),
            a,
            op: ShiftOp::Shl,
            amount: edge,
        });
        value.into()
    }

    fn finish(self) -> Function {
        Function {
            blocks: vec![BlockData {
                preds: Vec::new(),
                phis: Vec::new(),
                instrs: self.instrs,
                end: End::Stop,
                loop_depth: 0,
            }],
            num_values: self.values,
            scratch_words: 0,
        }
    }
}
