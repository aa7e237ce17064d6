// SPDX-License-Identifier: MIT
//! Reads what `shim/export.c` writes; `shim/export.h` describes it.

use arrayvec::ArrayVec;

use super::{
    Alu, AluOp, AluSrc, Block, BlockId, Def, DefId, If, IndexKind, Instr, Intrinsic, IntrinsicOp,
    Loop, MAX_COMPONENTS, Node, Program, SamplerSlot, Tex, TexOp, TextureSlot,
};
use crate::{Error, ffi};

#[path = "decode_stage.rs"]
mod stage_info;

/// Decode a stream of words; one that is malformed is an [`Error::Internal`].
pub(crate) fn decode(words: &[u32]) -> Result<Program, Error> {
    let mut reader = Reader { words, depth: 0 };
    let program = reader.program()?;
    if reader.words.is_empty() {
        Ok(program)
    } else {
        Err(malformed("words behind its end"))
    }
}

#[cold]
fn malformed(what: &str) -> Error {
    Error::Internal(format!("malformed export of a shader: {what}"))
}

#[cold]
fn early() -> Error {
    malformed("it ends early")
}

/// Deeper nesting than the writer lets through.
const DEPTH: u32 = ffi::CORTLAND_EXPORT_DEPTH + 1;

struct Reader<'a> {
    words: &'a [u32],
    depth: u32,
}

impl Reader<'_> {
    pub(super) fn word(&mut self) -> Result<u32, Error> {
        self.words().map(|[word]| word)
    }

    /// A count of things that take at least a word each, so that a wrong one cannot ask for much memory.
    fn count(&mut self) -> Result<usize, Error> {
        let count = self.word()? as usize;
        if count > self.words.len() {
            return Err(malformed("a count beyond its end"));
        }
        Ok(count)
    }

    /// The next words, as many as the caller names.
    fn words<const N: usize>(&mut self) -> Result<[u32; N], Error> {
        let (&first, rest) = self.words.split_first_chunk().ok_or_else(early)?;
        self.words = rest;
        Ok(first)
    }

    fn many<T>(
        &mut self,
        count: usize,
        mut one: impl FnMut(&mut Self) -> Result<T, Error>,
    ) -> Result<Vec<T>, Error> {
        let mut all = Vec::with_capacity(count);
        for _ in 0..count {
            all.push(one(self)?);
        }
        Ok(all)
    }

    fn flag(&mut self) -> Result<bool, Error> {
        Ok(self.word()? != 0)
    }

    fn program(&mut self) -> Result<Program, Error> {
        if self.word()? != ffi::CORTLAND_EXPORT_MAGIC {
            return Err(malformed("its first word"));
        }
        let mut workgroup_size = [0; 3];
        for size in &mut workgroup_size {
            *size = u16::try_from(self.word()?).map_err(|_| malformed("the workgroup size"))?;
        }
        Ok(Program {
            workgroup_size,
            shared_bytes: self.word()?,
            workgroup_buffer_bytes: self.word()?,
            scratch_bytes: self.word()?,
            num_defs: self.word()?,
            num_blocks: self.word()?,
            name: self.name()?,
            textures: self.textures()?,
            samplers: self.samplers()?,
            stage: stage_info::decode(self)?,
            body: self.list()?,
        })
    }

    fn name(&mut self) -> Result<String, Error> {
        let length = self.word()? as usize;
        let words = length.div_ceil(4);
        if words > self.words.len() {
            return Err(malformed("the length of the name"));
        }
        let words = self.many(words, Self::word)?;
        let mut bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        bytes.truncate(length);
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn set(&mut self) -> Result<u8, Error> {
        u8::try_from(self.word()?).map_err(|_| malformed("a descriptor set"))
    }

    fn textures(&mut self) -> Result<Vec<TextureSlot>, Error> {
        let count = self.count()?;
        self.many(count, |r| {
            Ok(TextureSlot {
                set: r.set()?,
                offset: r.word()?,
            })
        })
    }

    fn samplers(&mut self) -> Result<Vec<SamplerSlot>, Error> {
        let count = self.count()?;
        self.many(count, |r| {
            if r.words.first() == Some(&u32::MAX) {
                r.words = r.words.get(2..).ok_or_else(|| malformed("a sampler"))?;
                return Ok(SamplerSlot::Fetch);
            }
            Ok(SamplerSlot::Descriptor {
                set: r.set()?,
                offset: r.word()?,
            })
        })
    }

    fn list(&mut self) -> Result<Vec<Node>, Error> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(malformed("its depth"));
        }
        let count = self.count()?;
        let list = self.many(count, Self::node);
        self.depth -= 1;
        list
    }

    fn node(&mut self) -> Result<Node, Error> {
        match self.word()? {
            ffi::cortland_export_node_CORTLAND_NODE_BLOCK => {
                let id = BlockId(self.word()?);
                let count = self.count()?;
                let instrs = self.many(count, Self::instr)?;
                Ok(Node::Block(Block { id, instrs }))
            }
            ffi::cortland_export_node_CORTLAND_NODE_IF => Ok(Node::If(If {
                condition: DefId(self.word()?),
                divergent: self.flag()?,
                then_body: self.list()?,
                else_body: self.list()?,
            })),
            ffi::cortland_export_node_CORTLAND_NODE_LOOP => Ok(Node::Loop(Loop {
                divergent: self.flag()?,
                body: self.list()?,
            })),
            _ => Err(malformed("a node")),
        }
    }

    fn def(&mut self) -> Result<Def, Error> {
        Ok(self.def_with()?.0)
    }

    /// A definition, and the byte that goes with it.
    fn def_with(&mut self) -> Result<(Def, u8), Error> {
        let [id, shape] = self.words()?;
        let [components, bits, divergent, more] = shape.to_le_bytes();
        let def = Def {
            id: DefId(id),
            components,
            bits,
            divergent: divergent != 0,
        };
        Ok((def, more))
    }

    fn instr(&mut self) -> Result<Instr, Error> {
        let first = self.word()?;
        match first & 0xff {
            ffi::cortland_export_instr_CORTLAND_INSTR_ALU => Ok(Instr::Alu(self.alu(first)?)),
            ffi::cortland_export_instr_CORTLAND_INSTR_CONST => {
                let def = self.def()?;
                let values = self.many(usize::from(def.components), |r| {
                    let [low, high] = r.words()?;
                    Ok(u64::from(low) | u64::from(high) << 32)
                })?;
                Ok(Instr::Const(def, values))
            }
            ffi::cortland_export_instr_CORTLAND_INSTR_UNDEF => Ok(Instr::Undef(self.def()?)),
            ffi::cortland_export_instr_CORTLAND_INSTR_PHI => {
                let def = self.def()?;
                let count = self.count()?;
                let sources = self.many(count, |r| {
                    let [block, def] = r.words()?;
                    Ok((BlockId(block), DefId(def)))
                })?;
                Ok(Instr::Phi(def, sources))
            }
            ffi::cortland_export_instr_CORTLAND_INSTR_INTRINSIC => {
                Ok(Instr::Intrinsic(self.intrinsic(first)?))
            }
            ffi::cortland_export_instr_CORTLAND_INSTR_TEX => Ok(Instr::Tex(self.tex()?)),
            ffi::cortland_export_instr_CORTLAND_INSTR_BREAK => Ok(Instr::Break),
            ffi::cortland_export_instr_CORTLAND_INSTR_CONTINUE => Ok(Instr::Continue),
            _ => Err(malformed("an instruction")),
        }
    }

    fn alu(&mut self, first: u32) -> Result<Alu, Error> {
        let op = AluOp::from_number(first >> 16);
        let op = op.ok_or_else(|| malformed("an arithmetic operation"))?;
        let flags = first >> 8;
        let (def, count) = self.def_with()?;
        let srcs = self.many(usize::from(count), Self::alu_src)?;
        Ok(Alu {
            op,
            def,
            exact: flags & ffi::CORTLAND_ALU_EXACT != 0,
            no_signed_wrap: flags & ffi::CORTLAND_ALU_NO_SIGNED_WRAP != 0,
            no_unsigned_wrap: flags & ffi::CORTLAND_ALU_NO_UNSIGNED_WRAP != 0,
            srcs,
        })
    }

    fn alu_src(&mut self) -> Result<AluSrc, Error> {
        let [def, shape] = self.words()?;
        let [components, selectors @ ..] = shape.to_le_bytes();
        let components = usize::from(components);
        if components > MAX_COMPONENTS {
            return Err(malformed("a swizzle"));
        }
        let mut swizzle = ArrayVec::new();
        swizzle.extend(selectors.into_iter().take(components));
        while swizzle.len() < components {
            let four = self.word()?.to_le_bytes();
            swizzle.extend(four.into_iter().take(components - swizzle.len()));
        }
        Ok(AluSrc {
            def: DefId(def),
            swizzle,
        })
    }

    fn tex(&mut self) -> Result<Tex, Error> {
        let def = self.def()?;
        let op = tex_op(self.word()?);
        let (texture, sampler) = (self.word()?, self.word()?);
        let count = self.count()?;
        let mut sources = self.many(count, |r| Ok(DefId(r.word()?)))?.into_iter();
        let params = sources.next();
        Ok(Tex {
            def,
            op,
            texture,
            sampler,
            params: params.ok_or_else(|| malformed("a texture operation"))?,
            gradients: sources.next(),
        })
    }

    fn intrinsic(&mut self, first: u32) -> Result<Intrinsic, Error> {
        let [_, has_def, sources, indices] = first.to_le_bytes();
        let op = IntrinsicOp::from_number(self.word()?);
        let op = op.ok_or_else(|| malformed("an intrinsic"))?;
        let def = if has_def == 0 {
            None
        } else {
            Some(self.def()?)
        };
        let srcs = self.many(usize::from(sources), |r| Ok(DefId(r.word()?)))?;
        let indices = self.many(usize::from(indices), |r| {
            let [kind, value] = r.words()?;
            let kind = IndexKind::from_number(kind);
            let kind = kind.ok_or_else(|| malformed("a kind of index"))?;
            Ok((kind, i64::from(value.cast_signed())))
        })?;
        Ok(Intrinsic {
            op,
            def,
            srcs,
            indices,
        })
    }
}

/// Of the flags that `shim/apple9/texture.h` describes.
fn tex_op(flags: u32) -> TexOp {
    let field = |first: u32, bits: u32| flags >> first & ((1 << bits) - 1);
    let texels = |first: u32| ((field(first, 4) << 4) as u8).cast_signed() >> 4;
    match field(16, 2) {
        3 => TexOp::Cube,
        kind => TexOp::Bundle {
            mode: field(0, 16) as u16,
            kind: kind as u8,
            gather: (field(18, 1) == 1).then(|| field(19, 2) as u8),
            offset: [texels(21), texels(25)],
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CompilerOptions, ComputeLowering, SpirvOptions, Stage, assemble, spirv_to_nir};
    use std::sync::Arc;

    fn words() -> Vec<u32> {
        let text = "OpCapability Shader\nOpMemoryModel Logical GLSL450\n\
                    OpEntryPoint GLCompute %main \"start\"\nOpExecutionMode %main LocalSize 4 2 1\n\
                    %void = OpTypeVoid\n%fn = OpTypeFunction %void\n%main = OpFunction %void None %fn\n\
                    %entry = OpLabel\nOpReturn\nOpFunctionEnd\n";
        let words = assemble(text).expect("assembles");
        let options = Arc::new(CompilerOptions::new());
        let vulkan = SpirvOptions::vulkan_1_3();
        let shader = spirv_to_nir(&words, Stage::Compute, "start", &[], &vulkan, &options);
        let shader = shader.expect("translates");
        let shader = shader.lower_compute(&ComputeLowering::default());
        let words = shader.expect("lowers").export_words().expect("exports");
        words.as_slice().to_vec()
    }

    #[test]
    fn the_header_arrives() {
        let program = decode(&words()).expect("decodes");
        assert_eq!(program.name, "start");
        assert_eq!(program.workgroup_size, [4, 2, 1]);
        assert!(matches!(&program.body[..], [Node::Block(_)]));
    }

    #[test]
    fn malformed_words_are_an_error() {
        let words = words();
        for length in 0..words.len() {
            assert!(matches!(decode(&words[..length]), Err(Error::Internal(_))));
        }
        for at in 0..words.len() {
            for value in [0, 1, 7, 0xffff, u32::MAX] {
                let mut words = words.clone();
                words[at] = value;
                // No panic and no endless loop; some changes are harmless.
                drop(decode(&words));
            }
        }
        let nested = [ffi::cortland_export_node_CORTLAND_NODE_LOOP, 0, 1].repeat(100_000);
        let mut deep = words[..words.len() - 4].to_vec();
        deep.push(1);
        deep.extend(nested);
        assert!(matches!(decode(&deep), Err(Error::Internal(_))));
    }
}
