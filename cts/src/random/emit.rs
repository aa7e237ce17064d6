// SPDX-License-Identifier: MIT
//! Writes a tree as SPIR-V 1.6 for Vulkan 1.3.

use super::float;
use super::module::{Id, Module, instruction};
use super::tree::{
    Atomic, Binary, Block, Builtin, Combine, Compare, Expr, Function, INPUT_WORDS, OWN_WORDS,
    Op as Do, PUSH_WORDS, Program, SPEC_CONSTANTS, Scalar, Scan, Stmt, Subgroup, Type, U32,
    UNIFORM_WORDS, Unary, Value,
};
use spirv::{
    BuiltIn, Capability, Decoration, GlslStd450Op as GLOp, GroupOperation, Op, StorageClass,
};
use std::collections::BTreeMap;

/// Bindings in descriptor set 0.
#[expect(missing_docs, reason = "they are what they are called")]
pub mod binding {
    pub const INPUT: u32 = 0;
    pub const OUTPUT: u32 = 1;
    pub const OWN: u32 = 2;
    pub const ATOMICS: u32 = 3;
    pub const UNIFORM: u32 = 4;
}

/// The module of a program.
#[must_use]
pub fn module(program: &Program) -> Vec<u32> {
    let mut emitter = Emitter::new(program);
    let mut main = 0;
    for (number, function) in program.functions.iter().enumerate() {
        main = emitter.function(function, number + 1 == program.functions.len());
    }
    emitter
        .module
        .finish(main, program.local_size, program.reconvergence)
}

/// Where break and continue go.
#[derive(Clone, Copy)]
struct Loop {
    merge: Id,
    next: Id,
}

struct Emitter<'a> {
    program: &'a Program,
    module: Module,
    input: Id,
    output: Id,
    own: Id,
    atomics: Id,
    uniform: Id,
    push: Id,
    shared: Vec<Id>,
    spec: Vec<Id>,
    builtins: BTreeMap<u32, Id>,
    functions: Vec<Id>,
    /// In the function being written: the number of the invocation among all, if it is needed.
    invocation: Id,
    vars: Vec<(Id, Type)>,
    arrays: Vec<(Id, Type, u32)>,
}

impl<'a> Emitter<'a> {
    fn new(program: &'a Program) -> Self {
        let mut module = Module::new();
        let word = module.ty(Op::TypeInt, &[32, 0]);
        let four_words = module.ty(Op::TypeVector, &[word, 4]);
        let mut buffer = |at, read_only: bool| {
            let id = module.block(StorageClass::StorageBuffer, None, 4, word);
            module.decorate(id, Decoration::DescriptorSet, &[0]);
            module.decorate(id, Decoration::Binding, &[at]);
            if read_only {
                module.decorate(id, Decoration::NonWritable, &[]);
            }
            id
        };
        let input = buffer(binding::INPUT, true);
        let output = buffer(binding::OUTPUT, false);
        let own = buffer(binding::OWN, false);
        let atomics = buffer(binding::ATOMICS, false);
        // Elements of uniform arrays are 16 bytes apart.
        let vectors = Some(UNIFORM_WORDS / 4);
        let uniform = module.block(StorageClass::Uniform, vectors, 16, four_words);
        module.decorate(uniform, Decoration::DescriptorSet, &[0]);
        module.decorate(uniform, Decoration::Binding, &[binding::UNIFORM]);
        let push = module.block(StorageClass::PushConstant, Some(PUSH_WORDS), 4, word);
        // The defaults are other values than those that the case gives.
        let spec = (0..SPEC_CONSTANTS)
            .map(|n| module.spec_constant(word, n, 77 + n))
            .collect();
        let mut emitter = Self {
            program,
            module,
            input,
            output,
            own,
            atomics,
            uniform,
            push,
            shared: Vec::new(),
            spec,
            builtins: BTreeMap::new(),
            functions: Vec::new(),
            invocation: 0,
            vars: Vec::new(),
            arrays: Vec::new(),
        };
        for (n, array) in program.shared.iter().enumerate() {
            let ty = emitter.array_ty(array.ty, program.shared_length(n));
            let id = emitter.module.global(StorageClass::Workgroup, ty);
            emitter.shared.push(id);
        }
        emitter
    }

    // Types and constants.

    fn ty(&mut self, ty: Type) -> Id {
        let scalar = match ty.scalar {
            Scalar::Bool => self.module.ty(Op::TypeBool, &[]),
            s if s.is_float() => {
                if s == Scalar::F16 {
                    self.module.capability(Capability::Float16);
                }
                self.module.ty(Op::TypeFloat, &[s.bits()])
            }
            s => {
                match s.bits() {
                    8 => self.module.capability(Capability::Int8),
                    16 => self.module.capability(Capability::Int16),
                    64 => self.module.capability(Capability::Int64),
                    _ => {}
                }
                self.module
                    .ty(Op::TypeInt, &[s.bits(), s.is_signed().into()])
            }
        };
        match ty.size {
            1 => scalar,
            n => self.module.ty(Op::TypeVector, &[scalar, n.into()]),
        }
    }

    fn array_ty(&mut self, element: Type, length: u32) -> Id {
        let (element, length) = (self.ty(element), self.word(length));
        self.module.ty(Op::TypeArray, &[element, length])
    }

    fn scalar_constant(&mut self, scalar: Scalar, bits: u64) -> Id {
        let ty = self.ty(Type::scalar(scalar));
        match scalar {
            Scalar::Bool if bits == 0 => self.module.constant(Op::ConstantFalse, ty, &[]),
            Scalar::Bool => self.module.constant(Op::ConstantTrue, ty, &[]),
            s if s.bits() == 64 => {
                self.module
                    .constant(Op::Constant, ty, &[bits as u32, (bits >> 32) as u32])
            }
            // Narrow signed numbers are sign-extended to the word.
            s if s.is_signed() => {
                let shift = 32 - s.bits();
                let word = ((bits as u32) << shift) as i32 >> shift;
                self.module.constant(Op::Constant, ty, &[word as u32])
            }
            _ => self.module.constant(Op::Constant, ty, &[bits as u32]),
        }
    }

    fn constant(&mut self, ty: Type, value: Value) -> Id {
        let parts: Vec<Id> = value[..ty.size.into()]
            .iter()
            .map(|&bits| self.scalar_constant(ty.scalar, bits))
            .collect();
        if ty.size == 1 {
            return parts[0];
        }
        let ty = self.ty(ty);
        self.module.constant(Op::ConstantComposite, ty, &parts)
    }

    /// The same bits in each component.
    fn splat(&mut self, ty: Type, bits: u64) -> Id {
        self.constant(ty, [bits & ty.scalar.mask(); 4])
    }

    fn word(&mut self, value: u32) -> Id {
        self.scalar_constant(Scalar::U32, value.into())
    }

    // Instructions.

    fn op(&mut self, op: Op, ty: Type, operands: &[Id]) -> Id {
        let ty = self.ty(ty);
        self.op_with(op, ty, operands)
    }

    fn op_with(&mut self, op: Op, ty: Id, operands: &[Id]) -> Id {
        let id = self.module.id();
        instruction(&mut self.module.code, op, &[&[ty, id], operands].concat());
        id
    }

    fn effect(&mut self, op: Op, operands: &[Id]) {
        instruction(&mut self.module.code, op, operands);
    }

    fn glsl(&mut self, op: GLOp, ty: Type, operands: &[Id]) -> Id {
        let glsl = self.module.glsl;
        self.op(Op::ExtInst, ty, &[&[glsl, op as u32], operands].concat())
    }

    /// Rounded as it stands, not fused with others.
    fn exact(&mut self, op: Op, ty: Type, operands: &[Id]) -> Id {
        let id = self.op(op, ty, operands);
        self.module.decorate(id, Decoration::NoContraction, &[]);
        id
    }

    fn label(&mut self, id: Id) {
        self.effect(Op::Label, &[id]);
    }

    fn load(&mut self, ty: Type, pointer: Id) -> Id {
        self.op(Op::Load, ty, &[pointer])
    }

    fn element(&mut self, class: StorageClass, ty: Type, base: Id, indices: &[Id]) -> Id {
        let ty = self.ty(ty);
        let pointer = self.module.pointer(class, ty);
        self.op_with(Op::AccessChain, pointer, &[&[base], indices].concat())
    }

    /// A word of a storage buffer.
    fn buffer_word(&mut self, buffer: Id, index: Id) -> Id {
        let zero = self.word(0);
        self.element(StorageClass::StorageBuffer, U32, buffer, &[zero, index])
    }

    fn builtin_value(&mut self, builtin: BuiltIn, ty: Type) -> Id {
        let id = match self.builtins.get(&(builtin as u32)) {
            Some(&id) => id,
            None => {
                let ty = self.ty(ty);
                let id = self.module.global(StorageClass::Input, ty);
                self.module
                    .decorate(id, Decoration::BuiltIn, &[builtin as u32]);
                self.builtins.insert(builtin as u32, id);
                id
            }
        };
        self.load(ty, id)
    }

    fn builtin(&mut self, builtin: Builtin) -> Id {
        let mut component = |which, c: u8| {
            let vector = self.builtin_value(which, Type::vector(Scalar::U32, 3));
            self.op(Op::CompositeExtract, U32, &[vector, c.into()])
        };
        let which = match builtin {
            Builtin::LocalId(c) => return component(BuiltIn::LocalInvocationId, c),
            Builtin::GroupId(c) => return component(BuiltIn::WorkgroupId, c),
            Builtin::GlobalId(c) => return component(BuiltIn::GlobalInvocationId, c),
            Builtin::GroupCount(c) => return component(BuiltIn::NumWorkgroups, c),
            Builtin::LocalIndex => BuiltIn::LocalInvocationIndex,
            Builtin::Lane => BuiltIn::SubgroupLocalInvocationId,
            Builtin::SubgroupId => BuiltIn::SubgroupId,
            Builtin::SubgroupCount => BuiltIn::NumSubgroups,
            Builtin::SubgroupSize => BuiltIn::SubgroupSize,
        };
        if builtin != Builtin::LocalIndex {
            self.module.capability(Capability::GroupNonUniform);
        }
        self.builtin_value(which, U32)
    }

    /// The number of the invocation among all.
    fn invocation(&mut self) -> Id {
        let [x, y, z] = [0, 1, 2].map(|c| self.builtin(Builtin::GroupId(c)));
        let [nx, ny] = [0, 1].map(|c| self.builtin(Builtin::GroupCount(c)));
        let local = self.builtin(Builtin::LocalIndex);
        let size = self.word(self.program.invocations());
        let mut sum = z;
        for (factor, addend) in [(ny, y), (nx, x), (size, local)] {
            let product = self.op(Op::IMul, U32, &[sum, factor]);
            sum = self.op(Op::IAdd, U32, &[product, addend]);
        }
        sum
    }

    /// Word `index` of those that the invocation owns in a buffer.
    fn owned(&mut self, words: u32, index: Id) -> Id {
        let words = self.word(words);
        let first = self.op(Op::IMul, U32, &[self.invocation, words]);
        self.op(Op::IAdd, U32, &[first, index])
    }

    fn own_word(&mut self, index: Id) -> Id {
        let mask = self.word(OWN_WORDS - 1);
        let index = self.op(Op::BitwiseAnd, U32, &[index, mask]);
        let at = self.owned(OWN_WORDS, index);
        self.buffer_word(self.own, at)
    }

    fn shared_own(&mut self, shared: usize, index: Id) -> Id {
        let array = &self.program.shared[shared];
        let mask = self.word(array.slots - 1);
        let slots = self.word(array.slots);
        let index = self.op(Op::BitwiseAnd, U32, &[index, mask]);
        let local = self.builtin(Builtin::LocalIndex);
        let first = self.op(Op::IMul, U32, &[local, slots]);
        let at = self.op(Op::IAdd, U32, &[first, index]);
        self.element(
            StorageClass::Workgroup,
            array.ty,
            self.shared[shared],
            &[at],
        )
    }

    fn shared_any(&mut self, shared: usize, index: Id) -> Id {
        let length = self.word(self.program.shared_length(shared));
        let at = self.op(Op::UMod, U32, &[index, length]);
        let ty = self.program.shared[shared].ty;
        self.element(StorageClass::Workgroup, ty, self.shared[shared], &[at])
    }

    fn local_element(&mut self, array: usize, index: Id) -> Id {
        let (id, ty, length) = self.arrays[array];
        let mask = self.word(length - 1);
        let at = self.op(Op::BitwiseAnd, U32, &[index, mask]);
        self.element(StorageClass::Function, ty, id, &[at])
    }

    // Expressions.

    fn expr(&mut self, e: &Expr) -> Id {
        let args: Vec<Id> = e.args.iter().map(|a| self.expr(a)).collect();
        let ty = e.ty;
        let from = e.args.first().map_or(ty, |a| a.ty);
        match e.op {
            Do::Const(value) => self.constant(ty, value),
            Do::Var(var) => {
                let pointer = self.vars[var].0;
                self.load(ty, pointer)
            }
            Do::Builtin(builtin) => self.builtin(builtin),
            Do::Input => {
                let mask = self.word(INPUT_WORDS - 1);
                let at = self.op(Op::BitwiseAnd, U32, &[args[0], mask]);
                let pointer = self.buffer_word(self.input, at);
                self.load(U32, pointer)
            }
            Do::Uniform => {
                let (two, three, zero) = (self.word(2), self.word(3), self.word(0));
                let vectors = self.word(UNIFORM_WORDS / 4 - 1);
                let shifted = self.op(Op::ShiftRightLogical, U32, &[args[0], two]);
                let vector = self.op(Op::BitwiseAnd, U32, &[shifted, vectors]);
                let component = self.op(Op::BitwiseAnd, U32, &[args[0], three]);
                let at = [zero, vector, component];
                let pointer = self.element(StorageClass::Uniform, U32, self.uniform, &at);
                self.load(U32, pointer)
            }
            Do::Push(n) => {
                let at = [self.word(0), self.word(n.into())];
                let pointer = self.element(StorageClass::PushConstant, U32, self.push, &at);
                self.load(U32, pointer)
            }
            Do::Spec(n) => self.spec[usize::from(n)],
            Do::Own => {
                let pointer = self.own_word(args[0]);
                self.load(U32, pointer)
            }
            Do::Element(array) => {
                let pointer = self.local_element(array, args[0]);
                self.load(ty, pointer)
            }
            Do::SharedAny(shared) => {
                let pointer = self.shared_any(shared, args[0]);
                self.load(ty, pointer)
            }
            Do::SharedOwn(shared) => {
                let pointer = self.shared_own(shared, args[0]);
                self.load(ty, pointer)
            }
            Do::Unary(op) => self.unary(op, ty, from, args[0]),
            Do::Binary(op) => self.binary(op, ty, args[0], args[1]),
            Do::Compare(op) => self.op(compare(op, from.scalar), ty, &args),
            Do::Select => self.op(Op::Select, ty, &args),
            Do::Convert => self.convert(from, ty, args[0]),
            Do::Bitcast => self.bitcast(from, ty, args[0]),
            Do::Compose => self.op(Op::CompositeConstruct, ty, &args),
            Do::Extract(c) => self.op(Op::CompositeExtract, ty, &[args[0], c.into()]),
            Do::ExtractDynamic => {
                let mask = self.word(u32::from(from.size) - 1);
                let at = self.op(Op::BitwiseAnd, U32, &[args[1], mask]);
                self.op(Op::VectorExtractDynamic, ty, &[args[0], at])
            }
            Do::Shuffle(components) => {
                let second = *args.last().unwrap_or(&args[0]);
                let mut operands = vec![args[0], second];
                operands.extend(components[..ty.size.into()].iter().map(|&c| u32::from(c)));
                self.op(Op::VectorShuffle, ty, &operands)
            }
            Do::Any => self.op(Op::Any, ty, &args),
            Do::All => self.op(Op::All, ty, &args),
            Do::BitfieldExtract { offset, count } => {
                let op = if ty.scalar.is_signed() {
                    Op::BitFieldSExtract
                } else {
                    Op::BitFieldUExtract
                };
                let (offset, count) = (self.word(offset.into()), self.word(count.into()));
                self.op(op, ty, &[args[0], offset, count])
            }
            Do::BitfieldInsert { offset, count } => {
                let (offset, count) = (self.word(offset.into()), self.word(count.into()));
                self.op(Op::BitFieldInsert, ty, &[args[0], args[1], offset, count])
            }
        }
    }

    fn bitcast(&mut self, from: Type, to: Type, a: Id) -> Id {
        if from == to {
            a
        } else {
            self.op(Op::Bitcast, to, &[a])
        }
    }

    fn unary(&mut self, op: Unary, ty: Type, from: Type, a: Id) -> Id {
        let signed = ty.scalar.is_signed();
        match op {
            Unary::LogicalNot => self.op(Op::LogicalNot, ty, &[a]),
            Unary::Not => self.op(Op::Not, ty, &[a]),
            Unary::Neg => self.op(Op::SNegate, ty, &[a]),
            Unary::Abs => self.glsl(GLOp::SAbs, ty, &[a]),
            Unary::Sign => self.glsl(GLOp::SSign, ty, &[a]),
            Unary::BitReverse => self.op(Op::BitReverse, ty, &[a]),
            Unary::BitCount => self.op(Op::BitCount, ty, &[a]),
            Unary::FindLsb => self.glsl(GLOp::FindILsb, ty, &[a]),
            Unary::FindMsb if signed => self.glsl(GLOp::FindSMsb, ty, &[a]),
            Unary::FindMsb => self.glsl(GLOp::FindUMsb, ty, &[a]),
            Unary::FNeg => self.exact(Op::FNegate, ty, &[a]),
            Unary::FAbs => self.glsl(GLOp::FAbs, ty, &[a]),
            Unary::Floor => self.glsl(GLOp::Floor, ty, &[a]),
            Unary::Ceil => self.glsl(GLOp::Ceil, ty, &[a]),
            Unary::Trunc => self.glsl(GLOp::Trunc, ty, &[a]),
            Unary::RoundEven => self.glsl(GLOp::RoundEven, ty, &[a]),
            Unary::Sane => self.sane(ty, from, a),
        }
    }

    fn sane(&mut self, ty: Type, from: Type, a: Id) -> Id {
        let scalar = ty.scalar;
        let (fraction, bias) = float::format(scalar);
        let (least, too_large) = float::sane_bits(scalar);
        let int = ty.of(scalar.unsigned());
        let boolean = ty.of(Scalar::Bool);
        let sign = 1 << (scalar.bits() - 1);
        let bits = self.bitcast(from, int, a);
        let mask = self.splat(int, sign - 1);
        let magnitude = self.op(Op::BitwiseAnd, int, &[bits, mask]);
        let least = self.splat(int, least);
        let small = self.op(Op::ULessThan, boolean, &[magnitude, least]);
        let too_large = self.splat(int, too_large);
        let large = self.op(Op::UGreaterThanEqual, boolean, &[magnitude, too_large]);
        let kept = self.splat(int, sign | ((1 << fraction) - 1));
        let kept = self.op(Op::BitwiseAnd, int, &[bits, kept]);
        let one = self.splat(int, (bias as u64) << fraction);
        let tamed = self.op(Op::BitwiseOr, int, &[kept, one]);
        let result = self.op(Op::Select, int, &[large, tamed, bits]);
        let zero = self.splat(int, 0);
        let result = self.op(Op::Select, int, &[small, zero, result]);
        self.op(Op::Bitcast, ty, &[result])
    }

    fn binary(&mut self, op: Binary, ty: Type, a: Id, b: Id) -> Id {
        let signed = ty.scalar.is_signed();
        let by_sign = |s, u| if signed { s } else { u };
        match op {
            Binary::LogicalAnd => self.op(Op::LogicalAnd, ty, &[a, b]),
            Binary::LogicalOr => self.op(Op::LogicalOr, ty, &[a, b]),
            Binary::LogicalEqual => self.op(Op::LogicalEqual, ty, &[a, b]),
            Binary::LogicalNotEqual => self.op(Op::LogicalNotEqual, ty, &[a, b]),
            Binary::Add => self.op(Op::IAdd, ty, &[a, b]),
            Binary::Sub => self.op(Op::ISub, ty, &[a, b]),
            Binary::Mul => self.op(Op::IMul, ty, &[a, b]),
            Binary::MulHigh => self.wide(by_sign(Op::SMulExtended, Op::UMulExtended), ty, a, b),
            Binary::Carry => self.wide(Op::IAddCarry, ty, a, b),
            Binary::Borrow => self.wide(Op::ISubBorrow, ty, a, b),
            Binary::And => self.op(Op::BitwiseAnd, ty, &[a, b]),
            Binary::Or => self.op(Op::BitwiseOr, ty, &[a, b]),
            Binary::Xor => self.op(Op::BitwiseXor, ty, &[a, b]),
            Binary::Shl | Binary::Shr => {
                let mask = self.splat(ty, (ty.scalar.bits() - 1).into());
                let count = self.op(Op::BitwiseAnd, ty, &[b, mask]);
                let right = by_sign(Op::ShiftRightArithmetic, Op::ShiftRightLogical);
                let op = if op == Binary::Shl {
                    Op::ShiftLeftLogical
                } else {
                    right
                };
                self.op(op, ty, &[a, count])
            }
            Binary::Div | Binary::Rem | Binary::Mod => {
                let one = self.splat(ty, 1);
                let mut divisor = self.op(Op::BitwiseOr, ty, &[b, one]);
                if signed {
                    let minus_one = self.splat(ty, u64::MAX);
                    let boolean = ty.of(Scalar::Bool);
                    let is = self.op(Op::IEqual, boolean, &[divisor, minus_one]);
                    divisor = self.op(Op::Select, ty, &[is, one, divisor]);
                }
                let op = match op {
                    Binary::Div => by_sign(Op::SDiv, Op::UDiv),
                    Binary::Rem => by_sign(Op::SRem, Op::UMod),
                    _ => by_sign(Op::SMod, Op::UMod),
                };
                self.op(op, ty, &[a, divisor])
            }
            Binary::Min => self.glsl(by_sign2(signed, GLOp::SMin, GLOp::UMin), ty, &[a, b]),
            Binary::Max => self.glsl(by_sign2(signed, GLOp::SMax, GLOp::UMax), ty, &[a, b]),
            Binary::FAdd => self.exact(Op::FAdd, ty, &[a, b]),
            Binary::FSub => self.exact(Op::FSub, ty, &[a, b]),
            Binary::FMul => self.exact(Op::FMul, ty, &[a, b]),
            Binary::FMin => self.glsl(GLOp::FMin, ty, &[a, b]),
            Binary::FMax => self.glsl(GLOp::FMax, ty, &[a, b]),
        }
    }

    /// The second half of an operation with two results.
    fn wide(&mut self, op: Op, ty: Type, a: Id, b: Id) -> Id {
        let half = self.ty(ty);
        let pair = self.module.ty(Op::TypeStruct, &[half, half]);
        let both = self.op_with(op, pair, &[a, b]);
        self.op(Op::CompositeExtract, ty, &[both, 1])
    }

    fn convert(&mut self, from: Type, to: Type, a: Id) -> Id {
        let (f, t) = (from.scalar, to.scalar);
        match (f.is_float(), t.is_float()) {
            (true, true) => self.op(Op::FConvert, to, &[a]),
            (true, false) => {
                let (low, high) = float::clamp_for(f, t).unwrap_or((0, 0));
                let low = self.splat(from, float_bits(f, low));
                let high = self.splat(from, float_bits(f, high));
                let a = self.glsl(GLOp::FMax, from, &[a, low]);
                let a = self.glsl(GLOp::FMin, from, &[a, high]);
                let op = if t.is_signed() {
                    Op::ConvertFToS
                } else {
                    Op::ConvertFToU
                };
                self.op(op, to, &[a])
            }
            (false, true) => {
                let mut a = a;
                if t == Scalar::F16 {
                    let mask = self.splat(from, 63);
                    a = self.op(Op::BitwiseAnd, from, &[a, mask]);
                }
                let op = if f.is_signed() {
                    Op::ConvertSToF
                } else {
                    Op::ConvertUToF
                };
                self.op(op, to, &[a])
            }
            (false, false) => {
                let mut a = a;
                let mut now = from;
                if f.bits() != t.bits() {
                    now = if f.is_signed() == t.is_signed() {
                        to
                    } else {
                        to.of(other_sign(t))
                    };
                    let op = if f.is_signed() {
                        Op::SConvert
                    } else {
                        Op::UConvert
                    };
                    a = self.op(op, now, &[a]);
                }
                self.bitcast(now, to, a)
            }
        }
    }

    // Statements.

    /// A block; whether its end is reached.
    fn block(&mut self, block: &Block, around: Option<Loop>) -> bool {
        for stmt in block {
            self.stmt(stmt, around);
        }
        block.last().is_none_or(Stmt::falls_through)
    }

    /// A block behind its label, with a branch from its end.
    fn labelled(&mut self, label: Id, block: &Block, around: Option<Loop>, next: Id) {
        self.label(label);
        if self.block(block, around) {
            self.effect(Op::Branch, &[next]);
        }
    }

    /// Where the branches of a selection meet, if any comes here.
    fn join(&mut self, merge: Id, selection: &Stmt) {
        self.label(merge);
        if !selection.falls_through() {
            self.effect(Op::Unreachable, &[]);
        }
    }

    fn store(&mut self, pointer: Id, value: Id) {
        self.effect(Op::Store, &[pointer, value]);
    }

    fn stmt(&mut self, stmt: &Stmt, around: Option<Loop>) {
        match stmt {
            Stmt::Assign(var, e) => {
                let value = self.expr(e);
                self.store(self.vars[*var].0, value);
            }
            Stmt::AssignComponent(var, index, e) => {
                let index = self.expr(index);
                let value = self.expr(e);
                let (id, ty) = self.vars[*var];
                let mask = self.word(u32::from(ty.size) - 1);
                let at = self.op(Op::BitwiseAnd, U32, &[index, mask]);
                let component = Type::scalar(ty.scalar);
                let pointer = self.element(StorageClass::Function, component, id, &[at]);
                self.store(pointer, value);
            }
            Stmt::AssignElement(array, index, e) => {
                let index = self.expr(index);
                let value = self.expr(e);
                let pointer = self.local_element(*array, index);
                self.store(pointer, value);
            }
            Stmt::SharedStore(shared, index, e) => {
                let index = self.expr(index);
                let value = self.expr(e);
                let pointer = self.shared_own(*shared, index);
                self.store(pointer, value);
            }
            Stmt::OwnStore(index, e) => {
                let index = self.expr(index);
                let value = self.expr(e);
                let pointer = self.own_word(index);
                self.store(pointer, value);
            }
            Stmt::Output(word, e) => {
                let value = self.expr(e);
                let word = self.word(*word);
                let at = self.owned(self.program.output_words, word);
                let pointer = self.buffer_word(self.output, at);
                self.store(pointer, value);
            }
            Stmt::Atomic(op, index, e) => {
                let index = self.expr(index);
                let value = self.expr(e);
                let first = Atomic::ALL.iter().position(|a| a == op).unwrap_or(0) as u32 * 2;
                let (one, first) = (self.word(1), self.word(first));
                let bit = self.op(Op::BitwiseAnd, U32, &[index, one]);
                let at = self.op(Op::IAdd, U32, &[bit, first]);
                let pointer = self.buffer_word(self.atomics, at);
                self.atomic(*op, U32, spirv::Scope::Device, pointer, value);
            }
            Stmt::SharedAtomic(op, shared, index, e) => {
                let index = self.expr(index);
                let value = self.expr(e);
                let pointer = self.shared_any(*shared, index);
                let ty = self.program.shared[*shared].ty;
                let value = self.bitcast(e.ty, ty, value);
                self.atomic(*op, ty, spirv::Scope::Workgroup, pointer, value);
            }
            Stmt::If(condition, then, otherwise) => {
                let condition = self.expr(condition);
                let [yes, no, merge] = [(); 3].map(|()| self.module.id());
                // Without an else, the way round leads straight on.
                let no = if otherwise.is_empty() { merge } else { no };
                self.effect(Op::SelectionMerge, &[merge, 0]);
                self.effect(Op::BranchConditional, &[condition, yes, no]);
                self.labelled(yes, then, around, merge);
                if no != merge {
                    self.labelled(no, otherwise, around, merge);
                }
                self.join(merge, stmt);
            }
            Stmt::Switch(selector, cases, default) => {
                let selector = self.expr(selector);
                let [other, merge] = [(); 2].map(|()| self.module.id());
                let labels: Vec<Id> = cases.iter().map(|_| self.module.id()).collect();
                let mut operands = vec![selector, other];
                for ((literals, _), &label) in cases.iter().zip(&labels) {
                    operands.extend(literals.iter().flat_map(|&literal| [literal, label]));
                }
                self.effect(Op::SelectionMerge, &[merge, 0]);
                self.effect(Op::Switch, &operands);
                for ((_, block), label) in cases.iter().zip(labels) {
                    self.labelled(label, block, around, merge);
                }
                self.labelled(other, default, around, merge);
                self.join(merge, stmt);
            }
            Stmt::For {
                counter,
                bound,
                limit,
                body,
            } => {
                let bound = self.expr(bound);
                let limit = self.word(*limit);
                let bound = self.glsl(GLOp::UMin, U32, &[bound, limit]);
                self.counted(*counter, body, Some((None, bound)), None);
            }
            Stmt::While {
                counter,
                condition,
                limit,
                body,
            } => {
                let limit = self.word(*limit);
                self.counted(*counter, body, Some((Some(condition), limit)), None);
            }
            Stmt::DoWhile {
                counter,
                condition,
                limit,
                body,
            } => {
                let limit = self.word(*limit);
                self.counted(*counter, body, None, Some((condition, limit)));
            }
            Stmt::Break => self.jump(around.map(|l| l.merge)),
            Stmt::Continue => self.jump(around.map(|l| l.next)),
            Stmt::Return => self.effect(Op::Return, &[]),
            Stmt::Call {
                function,
                args,
                outs,
                result,
            } => {
                let mut operands = vec![self.functions[*function]];
                operands.extend(args.iter().map(|a| self.expr(a)).collect::<Vec<_>>());
                operands.extend(outs.iter().map(|&o| self.vars[o].0));
                let (to, ty) = self.vars[*result];
                let value = self.op(Op::FunctionCall, ty, &operands);
                self.store(to, value);
            }
            Stmt::Barrier => {
                let scope = self.word(spirv::Scope::Workgroup as u32);
                let semantics = spirv::MemorySemantics::ACQUIRE_RELEASE
                    | spirv::MemorySemantics::WORKGROUP_MEMORY;
                let semantics = self.word(semantics.bits());
                self.effect(Op::ControlBarrier, &[scope, scope, semantics]);
            }
            Stmt::Subgroup { result, op, args } => {
                let ids: Vec<Id> = args.iter().map(|a| self.expr(a)).collect();
                let from = args.first().map_or(U32, |a| a.ty);
                let (to, ty) = self.vars[*result];
                let value = self.subgroup(*op, from, ty, &ids);
                self.store(to, value);
            }
        }
    }

    fn jump(&mut self, to: Option<Id>) {
        match to {
            Some(to) => self.effect(Op::Branch, &[to]),
            // A jump that has no loop; nothing makes one, and the interpreter refuses it.
            None => self.effect(Op::Unreachable, &[]),
        }
    }

    fn atomic(&mut self, op: Atomic, ty: Type, scope: spirv::Scope, pointer: Id, value: Id) {
        let op = match op {
            Atomic::Add => Op::AtomicIAdd,
            Atomic::And => Op::AtomicAnd,
            Atomic::Or => Op::AtomicOr,
            Atomic::Xor => Op::AtomicXor,
            Atomic::UMin => Op::AtomicUMin,
            Atomic::UMax => Op::AtomicUMax,
            Atomic::SMin => Op::AtomicSMin,
            Atomic::SMax => Op::AtomicSMax,
        };
        let (scope, relaxed) = (self.word(scope as u32), self.word(0));
        self.op(op, ty, &[pointer, scope, relaxed, value]);
    }

    /// A loop with its test before (`condition` and counter below a limit), after, or both.
    fn counted(
        &mut self,
        counter: usize,
        body: &Block,
        before: Option<(Option<&Expr>, Id)>,
        after: Option<(&Expr, Id)>,
    ) {
        let counter = self.vars[counter].0;
        let (zero, one) = (self.word(0), self.word(1));
        self.store(counter, zero);
        let [header, test, first, next, merge] = [(); 5].map(|()| self.module.id());
        self.effect(Op::Branch, &[header]);
        self.label(header);
        self.effect(Op::LoopMerge, &[merge, next, 0]);
        self.effect(Op::Branch, &[test]);
        self.label(test);
        match before {
            Some((condition, limit)) => {
                let go = self.below(counter, limit, condition);
                self.effect(Op::BranchConditional, &[go, first, merge]);
            }
            None => match after {
                Some((_, limit)) if self.program.early_exits => {
                    let value = self.load(U32, counter);
                    let never = self.op(Op::UGreaterThan, super::tree::BOOL, &[value, limit]);
                    self.effect(Op::BranchConditional, &[never, merge, first]);
                }
                _ => self.effect(Op::Branch, &[first]),
            },
        }
        self.labelled(first, body, Some(Loop { merge, next }), next);
        self.label(next);
        let value = self.load(U32, counter);
        let value = self.op(Op::IAdd, U32, &[value, one]);
        self.store(counter, value);
        match after {
            Some((condition, limit)) => {
                let go = self.below(counter, limit, Some(condition));
                self.effect(Op::BranchConditional, &[go, header, merge]);
            }
            None => self.effect(Op::Branch, &[header]),
        }
        self.label(merge);
    }

    fn below(&mut self, counter: Id, limit: Id, condition: Option<&Expr>) -> Id {
        let value = self.load(U32, counter);
        let below = self.op(Op::ULessThan, super::tree::BOOL, &[value, limit]);
        match condition {
            None => below,
            Some(e) => {
                let condition = self.expr(e);
                self.op(Op::LogicalAnd, super::tree::BOOL, &[condition, below])
            }
        }
    }

    fn subgroup(&mut self, op: Subgroup, from: Type, ty: Type, args: &[Id]) -> Id {
        use Capability::{
            GroupNonUniform, GroupNonUniformArithmetic, GroupNonUniformBallot,
            GroupNonUniformClustered, GroupNonUniformQuad, GroupNonUniformShuffle,
            GroupNonUniformVote,
        };
        let scope = self.word(spirv::Scope::Subgroup as u32);
        self.module.capability(GroupNonUniform);
        let mut operands = vec![scope];
        let (capability, opcode) = match op {
            Subgroup::Elect => (GroupNonUniform, Op::GroupNonUniformElect),
            Subgroup::Any => (GroupNonUniformVote, Op::GroupNonUniformAny),
            Subgroup::All => (GroupNonUniformVote, Op::GroupNonUniformAll),
            Subgroup::AllEqual => (GroupNonUniformVote, Op::GroupNonUniformAllEqual),
            Subgroup::Ballot => (GroupNonUniformBallot, Op::GroupNonUniformBallot),
            Subgroup::InverseBallot => (GroupNonUniformBallot, Op::GroupNonUniformInverseBallot),
            Subgroup::BallotBitCount(scan) => {
                operands.push(group_operation(scan));
                (GroupNonUniformBallot, Op::GroupNonUniformBallotBitCount)
            }
            Subgroup::BroadcastFirst => (GroupNonUniformBallot, Op::GroupNonUniformBroadcastFirst),
            Subgroup::Broadcast(_) => (GroupNonUniformBallot, Op::GroupNonUniformBroadcast),
            Subgroup::Shuffle => (GroupNonUniformShuffle, Op::GroupNonUniformShuffle),
            Subgroup::ShuffleXor(_) => (GroupNonUniformShuffle, Op::GroupNonUniformShuffleXor),
            Subgroup::Combine(op, scan) => {
                operands.push(group_operation(scan));
                (GroupNonUniformArithmetic, combine(op, from.scalar))
            }
            Subgroup::Clustered(op, _) => {
                operands.push(GroupOperation::ClusteredReduce as u32);
                (GroupNonUniformClustered, combine(op, from.scalar))
            }
            Subgroup::QuadBroadcast(_) => (GroupNonUniformQuad, Op::GroupNonUniformQuadBroadcast),
            Subgroup::QuadSwap(_) => (GroupNonUniformQuad, Op::GroupNonUniformQuadSwap),
        };
        self.module.capability(capability);
        operands.extend(args.first());
        match op {
            Subgroup::Broadcast(n)
            | Subgroup::ShuffleXor(n)
            | Subgroup::QuadBroadcast(n)
            | Subgroup::QuadSwap(n)
            | Subgroup::Clustered(_, n) => {
                let number = self.word(n.into());
                operands.push(number);
            }
            Subgroup::Shuffle => {
                let mask = self.word(self.program.subgroup_size - 1);
                let lane = self.op(Op::BitwiseAnd, U32, &[args[1], mask]);
                operands.push(lane);
            }
            _ => {}
        }
        self.op(opcode, ty, &operands)
    }

    // Functions.

    fn function(&mut self, function: &Function, is_main: bool) -> Id {
        let outs: Vec<Id> = function
            .outs
            .iter()
            .map(|&o| {
                let ty = self.ty(function.vars[o].ty);
                self.module.pointer(StorageClass::Function, ty)
            })
            .collect();
        let result = match &function.result {
            Some(e) => self.ty(e.ty),
            None => self.module.ty(Op::TypeVoid, &[]),
        };
        let params: Vec<Id> = function.vars[..function.params]
            .iter()
            .map(|v| self.ty(v.ty))
            .chain(outs)
            .collect();
        let ty = self
            .module
            .ty(Op::TypeFunction, &[&[result], &params[..]].concat());
        let id = self.op_with(Op::Function, result, &[0, ty]);
        let params: Vec<Id> = params
            .iter()
            .map(|&p| self.op_with(Op::FunctionParameter, p, &[]))
            .collect();
        let (values, outs) = params.split_at(function.params);
        let entry = self.module.id();
        self.label(entry);
        self.vars.clear();
        for (n, var) in function.vars.iter().enumerate() {
            if let Some(out) = function.outs.iter().position(|&o| o == n) {
                self.vars.push((outs[out], var.ty));
                continue;
            }
            let ty = self.ty(var.ty);
            let pointer = self.module.pointer(StorageClass::Function, ty);
            let mut operands = vec![StorageClass::Function as u32];
            // Initialisers and stores mean the same; both are tried.
            if n >= function.params && n % 2 == 0 {
                let init = self.constant(var.ty, var.init);
                operands.push(init);
            }
            let id = self.op_with(Op::Variable, pointer, &operands);
            self.vars.push((id, var.ty));
        }
        self.arrays.clear();
        for array in &function.arrays {
            let ty = self.array_ty(array.element.ty, array.length);
            let pointer = self.module.pointer(StorageClass::Function, ty);
            let init = self.constant(array.element.ty, array.element.init);
            let init = self.module.constant(
                Op::ConstantComposite,
                ty,
                &vec![init; array.length as usize],
            );
            let operands = [StorageClass::Function as u32, init];
            let id = self.op_with(Op::Variable, pointer, &operands);
            self.arrays.push((id, array.element.ty, array.length));
        }
        for (n, var) in function.vars.iter().enumerate() {
            let value = match values.get(n) {
                Some(&value) => value,
                None if n % 2 == 0 && !function.outs.contains(&n) => continue,
                None => self.constant(var.ty, var.init),
            };
            self.store(self.vars[n].0, value);
        }
        if owns(function) {
            self.invocation = self.invocation();
        }
        if self.block(&function.body, None) {
            match &function.result {
                Some(e) => {
                    let value = self.expr(e);
                    self.effect(Op::ReturnValue, &[value]);
                }
                None => self.effect(Op::Return, &[]),
            }
        }
        debug_assert!(is_main || function.result.is_some());
        self.effect(Op::FunctionEnd, &[]);
        self.functions.push(id);
        id
    }
}

/// Whether the function touches words that the invocation owns in a buffer.
fn owns(function: &Function) -> bool {
    let mut owns = false;
    let mut look = |e: &Expr| e.visit(&mut |e| owns |= e.op == Do::Own);
    function.result.iter().for_each(&mut look);
    for stmt in &function.body {
        stmt.visit(&mut |s| s.exprs().into_iter().for_each(&mut look));
    }
    for stmt in &function.body {
        stmt.visit(&mut |s| owns |= matches!(s, Stmt::OwnStore(..) | Stmt::Output(..)));
    }
    owns
}

const fn by_sign2(signed: bool, s: GLOp, u: GLOp) -> GLOp {
    if signed { s } else { u }
}

const fn other_sign(scalar: Scalar) -> Scalar {
    match scalar {
        Scalar::I8 => Scalar::U8,
        Scalar::I16 => Scalar::U16,
        Scalar::I32 => Scalar::U32,
        Scalar::I64 => Scalar::U64,
        Scalar::U8 => Scalar::I8,
        Scalar::U16 => Scalar::I16,
        Scalar::U32 => Scalar::I32,
        Scalar::U64 => Scalar::I64,
        other => other,
    }
}

/// The bits of an integer that the float has.
fn float_bits(scalar: Scalar, value: i64) -> u64 {
    let single = (value as f32).to_bits();
    if scalar == Scalar::F32 || value == 0 {
        return single.into();
    }
    let exponent = (single >> 23 & 0xff) + 15 - 127;
    u64::from(single >> 31 << 15 | exponent << 10 | single >> 13 & 0x3ff)
}

const fn group_operation(scan: Scan) -> u32 {
    (match scan {
        Scan::Reduce => GroupOperation::Reduce,
        Scan::Inclusive => GroupOperation::InclusiveScan,
        Scan::Exclusive => GroupOperation::ExclusiveScan,
    }) as u32
}

const fn combine(op: Combine, scalar: Scalar) -> Op {
    let logical = matches!(scalar, Scalar::Bool);
    match op {
        Combine::Add => Op::GroupNonUniformIAdd,
        Combine::Mul => Op::GroupNonUniformIMul,
        Combine::Min if scalar.is_float() => Op::GroupNonUniformFMin,
        Combine::Max if scalar.is_float() => Op::GroupNonUniformFMax,
        Combine::Min if scalar.is_signed() => Op::GroupNonUniformSMin,
        Combine::Max if scalar.is_signed() => Op::GroupNonUniformSMax,
        Combine::Min => Op::GroupNonUniformUMin,
        Combine::Max => Op::GroupNonUniformUMax,
        Combine::And if logical => Op::GroupNonUniformLogicalAnd,
        Combine::Or if logical => Op::GroupNonUniformLogicalOr,
        Combine::Xor if logical => Op::GroupNonUniformLogicalXor,
        Combine::And => Op::GroupNonUniformBitwiseAnd,
        Combine::Or => Op::GroupNonUniformBitwiseOr,
        Combine::Xor => Op::GroupNonUniformBitwiseXor,
    }
}

const fn compare(op: Compare, scalar: Scalar) -> Op {
    match (op, scalar.is_float(), scalar.is_signed()) {
        (Compare::Equal, true, _) => Op::FOrdEqual,
        (Compare::NotEqual, true, _) => Op::FUnordNotEqual,
        (Compare::Less, true, _) => Op::FOrdLessThan,
        (Compare::LessEqual, true, _) => Op::FOrdLessThanEqual,
        (Compare::Greater, true, _) => Op::FOrdGreaterThan,
        (Compare::GreaterEqual, true, _) => Op::FOrdGreaterThanEqual,
        (Compare::Equal, ..) => Op::IEqual,
        (Compare::NotEqual, ..) => Op::INotEqual,
        (Compare::Less, _, true) => Op::SLessThan,
        (Compare::LessEqual, _, true) => Op::SLessThanEqual,
        (Compare::Greater, _, true) => Op::SGreaterThan,
        (Compare::GreaterEqual, _, true) => Op::SGreaterThanEqual,
        (Compare::Less, ..) => Op::ULessThan,
        (Compare::LessEqual, ..) => Op::ULessThanEqual,
        (Compare::Greater, ..) => Op::UGreaterThan,
        (Compare::GreaterEqual, ..) => Op::UGreaterThanEqual,
    }
}
