// SPDX-License-Identifier: MIT
//! Images in memory, tables of records, and programs of one texture instruction.

// Each test binary uses its own part of this.
#![allow(dead_code, unreachable_pub)]

use std::sync::Arc;

use agx_hw::layout::{self, Position};
use agx_hw::sampler::Sampler;
use agx_hw::store::Store;
use agx_hw::texture::Texture;
use agx_sim::memory::{Bo, Mappings, Region};
use agx_sim::shader::strict::{Options, Strict};
use agx_sim::shader::{Exit, Lanes};

use crate::support::{DATA, Rig};

/// Where texels lie.
pub const TEXELS: u64 = DATA + (1 << 30);
/// The table of textures and store records, as an offset in the rig's buffer.
pub const TEXTURES: usize = 0;
/// The table of samplers.
pub const SAMPLERS: usize = 0x2000;
/// The first register of the parameter block.
const PARAMS: usize = 32;

/// Memory for texels, mapped at [`TEXELS`].
pub struct Texels {
    pub bo: Arc<Bo>,
}

impl Texels {
    pub fn new(bytes: u64) -> Texels {
        Texels {
            bo: Arc::new(Bo::new(bytes.max(1)).unwrap()),
        }
    }

    pub fn region(&self) -> Region {
        Region {
            start: TEXELS,
            end: TEXELS + self.bo.size(),
            bo: Arc::clone(&self.bo),
            offset: 0,
            single_page: false,
            read: true,
            write: true,
        }
    }

    pub fn mappings(&self) -> Mappings {
        Mappings::new(vec![self.region()])
    }

    pub fn write(&self, offset: u64, bytes: &[u8]) {
        assert!(offset + bytes.len() as u64 <= self.bo.size());
        // SAFETY: inside the object, which the simulator does not use at the moment.
        unsafe {
            let target = self.bo.base().add(offset as usize);
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), target, bytes.len());
        }
    }

    pub fn read(&self, offset: u64, count: usize) -> Vec<u8> {
        assert!(offset + count as u64 <= self.bo.size());
        let mut bytes = vec![0; count];
        // SAFETY: as in `write`.
        unsafe {
            let source = self.bo.base().add(offset as usize);
            std::ptr::copy_nonoverlapping(source, bytes.as_mut_ptr(), count);
        }
        bytes
    }
}

/// An image at [`TEXELS`].
pub struct Image {
    pub texture: Texture,
    pub layout: layout::Memory,
    pub texels: Texels,
}

impl Image {
    pub fn new(texture: Texture) -> Image {
        assert_eq!(texture.address, TEXELS);
        let layout = texture.layout().unwrap();
        Image {
            texture,
            texels: Texels::new(layout.size()),
            layout,
        }
    }

    /// Writes an element; levels are those of the image.
    pub fn put(&self, at: Position, element: &[u8]) {
        let offset = self.layout.offset(at).unwrap_or_else(|| panic!("{at:?}"));
        self.texels.write(offset, element);
    }

    pub fn put_words(&self, at: Position, words: &[u32]) {
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        self.put(at, &bytes);
    }

    pub fn get(&self, at: Position) -> Vec<u8> {
        let offset = self.layout.offset(at).unwrap_or_else(|| panic!("{at:?}"));
        let bytes = self.texture.encoding.element().bytes;
        self.texels.read(offset, bytes.into())
    }
}

/// A program that exports words to p0.. and executes one instruction.
pub struct Bench {
    pub rig: Rig,
}

impl Bench {
    /// `words` is the length of the parameter block; `text` the instruction without its wait and slot.
    /// Stores complete nothing.
    pub fn new(text: &str, words: usize) -> Bench {
        let mut program = String::new();
        for word in 0..words {
            let register = PARAMS + word;
            program += &format!("or.10 p{word}, r{register}, r{register}, slot=1\n");
        }
        if text.starts_with("image_store") {
            // The wait of the store itself is proven on A18 Pro only (isa-0, 4.2).
            program += &format!("or.10 r90, r90, r90, wait=1\n{text}\n");
        } else {
            program += &format!("{text}, wait=1, slot=1\nor.10 r90, r90, r90, wait=1\n");
        }
        let rig = Rig::new(&program);
        rig.pointer(0, DATA + TEXTURES as u64);
        rig.pointer(1, DATA + SAMPLERS as u64);
        Bench { rig }
    }

    pub fn map(mut self, texels: &Texels) -> Bench {
        self.rig.more.push(texels.region());
        self
    }

    pub fn texture(self, index: usize, texture: &Texture) -> Bench {
        let mut record = [0; 32];
        texture.pack(&mut record).unwrap();
        self.rig.write_bytes(TEXTURES + 32 * index, &record);
        self
    }

    pub fn store(self, index: usize, store: &Store) -> Bench {
        let mut record = [0; 32];
        store.pack(&mut record).unwrap();
        self.rig.write_bytes(TEXTURES + 32 * index, &record);
        self
    }

    pub fn sampler(self, index: usize, sampler: &Sampler) -> Bench {
        let mut record = [0; 32];
        sampler.pack(&mut record).unwrap();
        self.rig.write_bytes(SAMPLERS + 32 * index, &record);
        self
    }

    /// Runs it with the words of the parameter block by lane; r0..r3 of each lane, or why it failed.
    pub fn try_run(
        &self,
        strict: bool,
        word: impl Fn(usize, usize) -> u32,
    ) -> Result<[Lanes; 4], String> {
        let set = |wave: &mut agx_sim::shader::Wave<'_>| {
            for index in 0..10 {
                wave.gprs[PARAMS + index] = Lanes::from_fn(|lane| word(index, lane));
            }
            for register in &mut wave.gprs[..4] {
                *register = Lanes::splat(0xdead_beef);
            }
        };
        let get = |wave: &agx_sim::shader::Wave<'_>, exit| match exit {
            Exit::Stop => Ok(std::array::from_fn(|index| wave.gprs[index])),
            Exit::Fault(fault) => Err(fault.kind.to_string()),
            exit => panic!("{exit:?}"),
        };
        if strict {
            let options = Options {
                undefined: false,
                ..Options::COMPILER
            };
            self.rig.run_observed(&mut Strict::new(options), set, get)
        } else {
            self.rig.run(set, get)
        }
    }

    /// Runs it, and again in strict mode, which must not change anything.
    pub fn run(&mut self, word: impl Fn(usize, usize) -> u32) -> [Lanes; 4] {
        let plain = self.try_run(false, &word).unwrap();
        self.rig.strict = true;
        let strict = self.try_run(true, &word).unwrap();
        self.rig.strict = false;
        assert_eq!(plain, strict);
        plain
    }
}

/// A random number from a number.
pub fn hash(mut x: u64) -> u64 {
    x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}
