// SPDX-License-Identifier: MIT
//! What only vertex and fragment shaders have (isa-3, 4 and 5): outputs, interpolation, coverage, tile memory.
//!
//! Vertex outputs pass through publications, one each, behind those that texture operations have. A fragment shader opens
//! its tile transactions in the entry block and closes that of colours at its end, each once (isa-3, 4.5).

use mesa_nir::program::{
    IndexKind, Instr as NirInstr, Intrinsic, IntrinsicOp, StageInfo, Tex, TexOp,
};

use super::Selector;
use super::memory::result;
use crate::error::Error;
use crate::ir::{
    COVERAGE_REGISTER, Coverage, DepthStore, Derivative, Export, InterpPos, Iter, IterFlat,
    Project, Publish, PublishDepth, Sfu, SfuOp, SfuType, Src, SysReg, TileAccess, TileFence,
    TileLoad, TileStore, Tuple, Value, VertexOut,
};

/// Publications that texture operations use.
const TEXTURE_WORDS: u16 = 32;
/// All publications.
const PUBLICATIONS: u16 = 128;
/// The publication of control words, and the pair of those with a depth.
const CONTROL_WORD: u8 = 32;
const DEPTH_PAIR: u8 = 34;

/// First in a shader that samples, touches the tile or discards.
const ACCESS_ANY: u16 = 0x600;
/// Opens and closes the transaction of colours.
const ACCESS_COLOUR: u16 = 0x80c;
const FENCE_COLOUR: u16 = 0x20c;
/// Around tests of depth and stencil.
const TEST: u16 = 0x001;

/// NIR's number of interpolation with perspective.
const INTERP_SMOOTH: i64 = 1;

/// What a program has of these things.
#[derive(Default)]
pub(super) struct Stage {
    /// It samples textures.
    textures: bool,
    /// It reads or writes colours.
    colours: bool,
    /// It changes coverage.
    coverage: bool,
    /// It interpolates at centroids.
    centroids: bool,
    /// The coverage register as it is at the start, where centroids want it.
    covered: Option<Src>,
}

impl Stage {
    /// Notes what an instruction of the shader does.
    pub(super) fn note(&mut self, instr: &NirInstr) {
        match instr {
            NirInstr::Tex(Tex {
                op: TexOp::Bundle { .. },
                ..
            }) => self.textures = true,
            NirInstr::Intrinsic(intrinsic) => match intrinsic.op {
                IntrinsicOp::load_local_pixel_agx | IntrinsicOp::store_local_pixel_agx => {
                    self.colours = true;
                }
                IntrinsicOp::sample_mask_agx | IntrinsicOp::store_zs_agx => self.coverage = true,
                IntrinsicOp::load_barycentric_centroid => self.centroids = true,
                _ => {}
            },
            _ => {}
        }
    }
}

impl Selector<'_> {
    /// What stands at the start of a shader.
    pub(super) fn open(&mut self, stage: &StageInfo) {
        if !matches!(stage, StageInfo::Fragment(_)) {
            return;
        }
        if self.stage.textures || self.stage.colours || self.stage.coverage {
            self.emit(TileAccess { what: ACCESS_ANY });
        }
        if self.stage.colours {
            self.emit(TileAccess {
                what: ACCESS_COLOUR,
            });
        }
        if self.stage.centroids {
            self.stage.covered = Some(self.coverage_register());
        }
    }

    fn coverage_register(&mut self) -> Src {
        self.make(|dst| SysReg {
            dst: dst.into(),
            number: COVERAGE_REGISTER,
            narrow: false,
        })
    }

    /// What stands at its end.
    pub(super) fn close(&mut self) {
        if self.stage.colours {
            self.emit(TileFence { what: FENCE_COLOUR });
        }
    }

    pub(super) fn stage_intrinsic(&mut self, intrinsic: &Intrinsic) -> Result<(), Error> {
        match intrinsic.op {
            IntrinsicOp::store_uvs_agx => self.vertex_out(intrinsic),
            // isa-3, 1.4.
            IntrinsicOp::load_vertex_id => self.system(intrinsic, 0xdd, false),
            IntrinsicOp::load_instance_id => self.system(intrinsic, 0xd8, false),
            IntrinsicOp::load_sample_mask_in => match self.stage.covered {
                Some(covered) => {
                    self.define(&result(intrinsic)?, [covered]);
                    Ok(())
                }
                None => self.system(intrinsic, COVERAGE_REGISTER, false),
            },
            IntrinsicOp::load_layer_id => self.system(intrinsic, 0xc3, false),
            IntrinsicOp::load_back_face_agx => self.system(intrinsic, 0xc5, false),
            IntrinsicOp::load_barycentric_pixel
            | IntrinsicOp::load_barycentric_centroid
            | IntrinsicOp::load_barycentric_at_sample => self.barycentric(intrinsic),
            IntrinsicOp::load_interpolated_input => self.interpolated(intrinsic),
            IntrinsicOp::load_input => self.flat(intrinsic),
            IntrinsicOp::ipa_nv => {
                let def = result(intrinsic)?;
                let cf = number(intrinsic)?;
                let (a, w) = (
                    self.word(intrinsic.srcs[0], 0)?,
                    self.word(intrinsic.srcs[1], 0)?,
                );
                self.result(&def, |dst| Project {
                    dst: dst.into(),
                    a,
                    w,
                    cf,
                });
                Ok(())
            }
            IntrinsicOp::ddx | IntrinsicOp::ddx_fine | IntrinsicOp::ddx_coarse => {
                self.derivative(intrinsic, false)
            }
            IntrinsicOp::ddy | IntrinsicOp::ddy_fine | IntrinsicOp::ddy_coarse => {
                self.derivative(intrinsic, true)
            }
            IntrinsicOp::load_local_pixel_agx => self.tile_load(intrinsic),
            IntrinsicOp::store_local_pixel_agx => self.tile_store(intrinsic),
            IntrinsicOp::sample_mask_agx => self.coverage(intrinsic),
            IntrinsicOp::store_zs_agx => self.depth(intrinsic),
            op => Err(Error::unsupported(format!("NIR's intrinsic {op:?}"))),
        }
    }

    /// Every output has a publication of its own, so that none waits for another's store. Those of texture operations
    /// come last.
    fn vertex_out(&mut self, intrinsic: &Intrinsic) -> Result<(), Error> {
        let src = self.word(intrinsic.srcs[0], 0)?;
        let slot = self
            .known(intrinsic.srcs[1], 0)
            .and_then(|slot| u16::try_from(slot).ok());
        let slot = slot.filter(|slot| *slot < PUBLICATIONS);
        let slot = slot.ok_or_else(|| Error::unsupported("a vertex output without a number"))?;
        let first = if self.stage.textures {
            TEXTURE_WORDS
        } else {
            0
        };
        let word = ((first + slot) % PUBLICATIONS) as u8;
        self.emit(Export { src, word });
        self.emit(VertexOut { slot, word });
        Ok(())
    }

    /// The position, and what to multiply coefficients with.
    fn barycentric(&mut self, intrinsic: &Intrinsic) -> Result<(), Error> {
        let def = result(intrinsic)?;
        let pos = match intrinsic.op {
            IntrinsicOp::load_barycentric_pixel => None,
            IntrinsicOp::load_barycentric_centroid => {
                let coverage = match self.stage.covered {
                    Some(covered) => covered,
                    None => self.coverage_register(),
                };
                Some(self.interp_pos(coverage, false))
            }
            _ => {
                let sample = self.word(intrinsic.srcs[0], 0)?;
                Some(self.interp_pos(sample, true))
            }
        };
        let mut w = Src::imm(0);
        if intrinsic.index(IndexKind::INTERP_MODE) == INTERP_SMOOTH {
            let a = self.iter(0, pos);
            w = self.make(|dst| Sfu {
                dst: dst.into(),
                a,
                op: SfuOp::Rcp,
                ty: SfuType::F32,
                sat: false,
            });
        }
        self.define(&def, [pos.unwrap_or(Src::imm(0)), w]);
        Ok(())
    }

    fn interp_pos(&mut self, src: Src, sample: bool) -> Src {
        self.make(|dst| InterpPos {
            dst: dst.into(),
            src,
            sample,
        })
    }

    fn iter(&mut self, cf: u8, pos: Option<Src>) -> Src {
        self.make(|dst| Iter {
            dst: dst.into(),
            pos,
            cf,
        })
    }

    fn interpolated(&mut self, intrinsic: &Intrinsic) -> Result<(), Error> {
        let def = result(intrinsic)?;
        let cf = number(intrinsic)?;
        let Some(NirInstr::Intrinsic(place)) = self.producer(intrinsic.srcs[0]) else {
            return Err(Error::unsupported(
                "interpolation at a place chosen at run time",
            ));
        };
        let (pos, w) = (
            self.word(intrinsic.srcs[0], 0)?,
            self.word(intrinsic.srcs[0], 1)?,
        );
        let pos = (place.op != IntrinsicOp::load_barycentric_pixel).then_some(pos);
        let mut value = self.iter(cf, pos);
        if place.index(IndexKind::INTERP_MODE) == INTERP_SMOOTH {
            let a = value;
            value = self.make(|dst| Project {
                dst: dst.into(),
                a,
                w,
                cf,
            });
        }
        self.define(&def, [value]);
        Ok(())
    }

    fn flat(&mut self, intrinsic: &Intrinsic) -> Result<(), Error> {
        let def = result(intrinsic)?;
        let cf = number(intrinsic)?;
        let words: Tuple<Value> = (0..3).map(|_| self.function.value()).collect();
        let value = words[2];
        self.emit(IterFlat {
            dst: words.into_iter().map(Into::into).collect(),
            cf,
        });
        self.define(&def, [Src::from(value)]);
        Ok(())
    }

    fn derivative(&mut self, intrinsic: &Intrinsic, down: bool) -> Result<(), Error> {
        let def = result(intrinsic)?;
        let src = self.word(intrinsic.srcs[0], 0)?;
        self.result(&def, |dst| Derivative {
            dst: dst.into(),
            src,
            down,
        });
        Ok(())
    }

    fn tile_load(&mut self, intrinsic: &Intrinsic) -> Result<(), Error> {
        let def = result(intrinsic)?;
        let word = number(intrinsic)?;
        let (mask, samples) = match self.known(intrinsic.srcs[0], 0) {
            Some(samples) => (None, samples as u8),
            None => (Some(self.word(intrinsic.srcs[0], 0)?), 0),
        };
        self.result(&def, |dst| TileLoad {
            dst: dst.into(),
            mask,
            word,
            samples,
        });
        Ok(())
    }

    /// The literal form is proven for sample 0 only.
    fn tile_store(&mut self, intrinsic: &Intrinsic) -> Result<(), Error> {
        let word = number(intrinsic)?;
        let src = self.word(intrinsic.srcs[0], 0)?;
        let mask = match self.known(intrinsic.srcs[1], 0) {
            Some(1) => None,
            _ => Some(self.word(intrinsic.srcs[1], 0)?),
        };
        self.emit(TileStore { src, mask, word });
        Ok(())
    }

    fn coverage(&mut self, intrinsic: &Intrinsic) -> Result<(), Error> {
        let src = self.word(intrinsic.srcs[0], 0)?;
        let tests = self.known(intrinsic.srcs[1], 0) != Some(0);
        self.emit(Publish {
            src,
            word: CONTROL_WORD,
        });
        if tests {
            self.emit(TileAccess { what: TEST });
        }
        self.emit(Coverage { word: CONTROL_WORD });
        if tests {
            self.emit(TileFence { what: TEST });
        }
        Ok(())
    }

    fn depth(&mut self, intrinsic: &Intrinsic) -> Result<(), Error> {
        for (offset, def) in (0..).zip(&intrinsic.srcs[..2]) {
            let src = self.word(*def, 0)?;
            self.emit(PublishDepth {
                src,
                word: DEPTH_PAIR + offset,
            });
        }
        self.emit(TileAccess { what: TEST });
        self.emit(DepthStore { word: DEPTH_PAIR });
        self.emit(TileFence { what: TEST });
        Ok(())
    }
}

/// The coefficient register or tile word that an intrinsic names.
fn number(intrinsic: &Intrinsic) -> Result<u8, Error> {
    let base = intrinsic.index(IndexKind::BASE);
    u8::try_from(base).map_err(|_| Error::Internal {
        pass: "selection",
        what: format!("{:?} of number {base}", intrinsic.op),
    })
}
