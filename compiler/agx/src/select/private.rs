// SPDX-License-Identifier: MIT
//! Threadgroup and scratch memory, both addressed in words (isa-2, 3 and 4).

use mesa_nir::program::{IndexKind, Intrinsic};

use super::Selector;
use super::memory::result;
use crate::binary::Pointer;
use crate::error::Error;
use crate::ir::{ScratchLoad, ScratchStore, SharedLoad, SharedStore, Src};

impl Selector<'_> {
    /// Index of the word that operand `src` plus the constant BASE names.
    fn word_of(&mut self, intrinsic: &Intrinsic, src: usize) -> Result<(Src, u32), Error> {
        let base = intrinsic.index(IndexKind::BASE);
        let index = self.word_index(intrinsic.srcs[src])?;
        let words = u32::try_from(base / 4).unwrap_or(0);
        match index.as_imm() {
            Some(bits) => Ok((Src::imm(0), bits.wrapping_add(words))),
            None => Ok((index, words)),
        }
    }

    fn threadgroup(&self) -> Result<u8, Error> {
        self.pair_of(Some(Pointer::ThreadgroupRoot))
            .filter(|pair| *pair < 64)
            .ok_or_else(|| Error::unsupported("threadgroup memory without its pointer"))
    }

    pub(super) fn load_shared(&mut self, intrinsic: &Intrinsic) -> Result<(), Error> {
        let def = result(intrinsic)?;
        one_word(intrinsic, def.bits, def.components)?;
        let (index, words) = self.word_of(intrinsic, 0)?;
        let index = self.iadd(index, Src::imm(words));
        let root = self.threadgroup()?;
        self.result(&def, |dst| SharedLoad {
            dst: dst.into(),
            index,
            root,
        });
        Ok(())
    }

    pub(super) fn store_shared(&mut self, intrinsic: &Intrinsic) -> Result<(), Error> {
        one_word(intrinsic, self.bits(intrinsic.srcs[0]), 1)?;
        let data = self.word(intrinsic.srcs[0], 0)?;
        let (index, words) = self.word_of(intrinsic, 1)?;
        let index = self.iadd(index, Src::imm(words));
        let root = self.threadgroup()?;
        self.emit(SharedStore { data, index, root });
        Ok(())
    }

    pub(super) fn load_scratch(&mut self, intrinsic: &Intrinsic) -> Result<(), Error> {
        let def = result(intrinsic)?;
        one_word(intrinsic, def.bits, def.components)?;
        let (index, offset) = self.scratch_word(intrinsic, 0)?;
        self.result(&def, |dst| ScratchLoad {
            dst: dst.into(),
            index,
            offset,
        });
        Ok(())
    }

    pub(super) fn store_scratch(&mut self, intrinsic: &Intrinsic) -> Result<(), Error> {
        one_word(intrinsic, self.bits(intrinsic.srcs[0]), 1)?;
        let data = self.word(intrinsic.srcs[0], 0)?;
        let (index, offset) = self.scratch_word(intrinsic, 1)?;
        self.emit(ScratchStore {
            data,
            index,
            offset,
        });
        Ok(())
    }

    fn scratch_word(&mut self, intrinsic: &Intrinsic, src: usize) -> Result<(Src, u16), Error> {
        let (index, words) = self.word_of(intrinsic, src)?;
        match u16::try_from(words) {
            Ok(offset) if offset < 8192 => Ok((index, offset)),
            _ => Err(Error::Limit(format!(
                "scratch word {words} of 8192 for private arrays"
            ))),
        }
    }
}

fn one_word(intrinsic: &Intrinsic, bits: u8, components: u8) -> Result<(), Error> {
    if bits == 32 && components == 1 {
        Ok(())
    } else {
        Err(Error::unsupported(format!(
            "{:?} of {components} components of {bits} bits",
            intrinsic.op
        )))
    }
}
