// SPDX-License-Identifier: MIT
//! Writes the words of a SPIR-V module.

use spirv::{Capability, Decoration, Op, StorageClass};
use std::collections::{BTreeSet, HashMap};

/// A number that names a result.
pub(super) type Id = u32;

/// A module being written.
#[derive(Default)]
pub(super) struct Module {
    last: Id,
    capabilities: BTreeSet<u32>,
    decorations: Vec<u32>,
    globals: Vec<u32>,
    /// Functions, in order.
    pub(super) code: Vec<u32>,
    known: HashMap<Vec<u32>, Id>,
    interface: Vec<Id>,
    /// GLSL.std.450.
    pub(super) glsl: Id,
}

/// One instruction.
pub(super) fn instruction(to: &mut Vec<u32>, op: Op, operands: &[u32]) {
    to.push((operands.len() as u32 + 1) << 16 | op as u32);
    to.extend(operands);
}

/// A literal string: NUL-terminated, in words.
fn string(text: &str) -> Vec<u32> {
    let bytes: Vec<u8> = text.bytes().chain(std::iter::once(0)).collect();
    bytes
        .chunks(4)
        .map(|c| c.iter().rev().fold(0, |word, &b| word << 8 | u32::from(b)))
        .collect()
}

impl Module {
    pub(super) fn new() -> Self {
        let mut module = Self::default();
        module.glsl = module.id();
        module.capability(Capability::Shader);
        module
    }

    pub(super) fn id(&mut self) -> Id {
        self.last += 1;
        self.last
    }

    pub(super) fn capability(&mut self, capability: Capability) {
        self.capabilities.insert(capability as u32);
    }

    pub(super) fn decorate(&mut self, id: Id, decoration: Decoration, operands: &[u32]) {
        let operands = [&[id, decoration as u32], operands].concat();
        instruction(&mut self.decorations, Op::Decorate, &operands);
    }

    /// A type; the same one for the same operands.
    pub(super) fn ty(&mut self, op: Op, operands: &[u32]) -> Id {
        let key = [&[op as u32], operands].concat();
        if let Some(&id) = self.known.get(&key) {
            return id;
        }
        let id = self.id();
        instruction(&mut self.globals, op, &[&[id], operands].concat());
        self.known.insert(key, id);
        id
    }

    /// A constant; the same one for the same operands.
    pub(super) fn constant(&mut self, op: Op, ty: Id, operands: &[u32]) -> Id {
        let key = [&[op as u32, ty], operands].concat();
        if let Some(&id) = self.known.get(&key) {
            return id;
        }
        let id = self.id();
        instruction(&mut self.globals, op, &[&[ty, id], operands].concat());
        self.known.insert(key, id);
        id
    }

    /// A specialisation constant.
    pub(super) fn spec_constant(&mut self, ty: Id, number: u32, default: u32) -> Id {
        let id = self.id();
        instruction(&mut self.globals, Op::SpecConstant, &[ty, id, default]);
        self.decorate(id, Decoration::SpecId, &[number]);
        id
    }

    pub(super) fn pointer(&mut self, class: StorageClass, ty: Id) -> Id {
        self.ty(Op::TypePointer, &[class as u32, ty])
    }

    /// A variable outside functions.
    pub(super) fn global(&mut self, class: StorageClass, ty: Id) -> Id {
        let pointer = self.pointer(class, ty);
        let id = self.id();
        instruction(
            &mut self.globals,
            Op::Variable,
            &[pointer, id, class as u32],
        );
        self.interface.push(id);
        id
    }

    /// A buffer or the push constants: a structure of one array of words.
    pub(super) fn block(
        &mut self,
        class: StorageClass,
        length: Option<u32>,
        stride: u32,
        element: Id,
    ) -> Id {
        let u32_ty = self.ty(Op::TypeInt, &[32, 0]);
        let length = length.map(|n| self.constant(Op::Constant, u32_ty, &[n]));
        // Not shared with arrays in other memory, which must have no stride.
        let array = self.id();
        match length {
            Some(n) => instruction(&mut self.globals, Op::TypeArray, &[array, element, n]),
            None => instruction(&mut self.globals, Op::TypeRuntimeArray, &[array, element]),
        }
        self.decorate(array, Decoration::ArrayStride, &[stride]);
        let block = self.id();
        instruction(&mut self.globals, Op::TypeStruct, &[block, array]);
        self.decorate(block, Decoration::Block, &[]);
        let member = [block, 0, Decoration::Offset as u32, 0];
        instruction(&mut self.decorations, Op::MemberDecorate, &member);
        self.global(class, block)
    }

    /// The module's words, with its one entry point `main`.
    pub(super) fn finish(self, main: Id, local_size: [u32; 3], reconvergence: bool) -> Vec<u32> {
        const VERSION_1_6: u32 = 0x0001_0600;
        const MAXIMALLY_RECONVERGES: u32 = 6023;
        let mut words = vec![spirv::MAGIC_NUMBER, VERSION_1_6, 0, self.last + 1, 0];
        for capability in self.capabilities {
            instruction(&mut words, Op::Capability, &[capability]);
        }
        if reconvergence {
            instruction(
                &mut words,
                Op::Extension,
                &string("SPV_KHR_maximal_reconvergence"),
            );
        }
        let import = [vec![self.glsl], string("GLSL.std.450")].concat();
        instruction(&mut words, Op::ExtInstImport, &import);
        instruction(&mut words, Op::MemoryModel, &[0, 1]);
        let model = spirv::ExecutionModel::GLCompute as u32;
        let entry = [vec![model, main], string("main"), self.interface].concat();
        instruction(&mut words, Op::EntryPoint, &entry);
        let mode = spirv::ExecutionMode::LocalSize as u32;
        let [x, y, z] = local_size;
        instruction(&mut words, Op::ExecutionMode, &[main, mode, x, y, z]);
        if reconvergence {
            instruction(
                &mut words,
                Op::ExecutionMode,
                &[main, MAXIMALLY_RECONVERGES],
            );
        }
        words.extend(self.decorations);
        words.extend(self.globals);
        words.extend(self.code);
        words
    }
}
