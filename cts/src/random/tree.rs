// SPDX-License-Identifier: MIT
//! The tree of a random program: what it means is said here, once; [`super::interpret`] executes it and
//! [`super::emit`] writes it as SPIR-V, each by itself.
//!
//! Every operation is defined for every operand. Where SPIR-V's is not, the tree's operation holds the guard: a shift
//! count is taken modulo the width, a divisor is made odd, an index wraps.
//!
//! Floats stay away from what Vulkan leaves open. A float that is stored anywhere is 0.0 or of middling magnitude
//! ([`super::float::SANE_32`]); [`Unary::Sane`] brings one there, on its bits. What is computed between two stores
//! has a range known beforehand ([`super::float::range`]) that reaches neither denormals nor infinity. The sign of
//! zero never becomes visible.

/// The type of a component.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "they are what they are called")]
pub enum Scalar {
    Bool,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F16,
    F32,
}

impl Scalar {
    /// Width in bits; 1 for a Boolean.
    #[must_use]
    pub const fn bits(self) -> u32 {
        match self {
            Self::Bool => 1,
            Self::I8 | Self::U8 => 8,
            Self::I16 | Self::U16 | Self::F16 => 16,
            Self::I32 | Self::U32 | Self::F32 => 32,
            Self::I64 | Self::U64 => 64,
        }
    }

    /// All bits of the width set.
    #[must_use]
    pub const fn mask(self) -> u64 {
        u64::MAX >> (64 - self.bits())
    }

    /// Whether it is an integer.
    #[must_use]
    pub const fn is_int(self) -> bool {
        !matches!(self, Self::Bool | Self::F16 | Self::F32)
    }

    /// Whether it is a signed integer.
    #[must_use]
    pub const fn is_signed(self) -> bool {
        matches!(self, Self::I8 | Self::I16 | Self::I32 | Self::I64)
    }

    /// Whether it is a float.
    #[must_use]
    pub const fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::F32)
    }

    /// The unsigned integer of the same width.
    #[must_use]
    pub const fn unsigned(self) -> Self {
        match self {
            Self::Bool => Self::Bool,
            Self::I8 | Self::U8 => Self::U8,
            Self::I16 | Self::U16 | Self::F16 => Self::U16,
            Self::I32 | Self::U32 | Self::F32 => Self::U32,
            Self::I64 | Self::U64 => Self::U64,
        }
    }
}

/// The type of a value: a scalar or a vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Type {
    /// Of each component.
    pub scalar: Scalar,
    /// Components, 1 to 4.
    pub size: u8,
}

impl Type {
    /// A scalar.
    #[must_use]
    pub const fn scalar(scalar: Scalar) -> Self {
        Self { scalar, size: 1 }
    }

    /// A vector, or a scalar if `size` is 1.
    #[must_use]
    pub const fn vector(scalar: Scalar, size: u8) -> Self {
        Self { scalar, size }
    }

    /// The same number of others.
    #[must_use]
    pub const fn of(self, scalar: Scalar) -> Self {
        Self { scalar, ..self }
    }
}

/// A Boolean.
pub const BOOL: Type = Type::scalar(Scalar::Bool);
/// An unsigned word.
pub const U32: Type = Type::scalar(Scalar::U32);

/// The bits of each component, zero-extended; components that the type lacks are 0.
pub type Value = [u64; 4];

/// A variable of the function: an index into [`Function::vars`].
pub type Var = usize;
/// A local array of the function: an index into [`Function::arrays`].
pub type Array = usize;
/// A workgroup array: an index into [`Program::shared`].
pub type Shared = usize;

/// An expression. It has no side effect.
#[derive(Debug, Clone, PartialEq)]
pub struct Expr {
    /// What it gives.
    pub ty: Type,
    /// What it does.
    pub op: Op,
    /// With what.
    pub args: Vec<Expr>,
}

/// What an expression does. Operations on numbers work on each component.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Op {
    /// A constant.
    Const(Value),
    /// A variable.
    Var(Var),
    /// A number about the invocation; u32.
    Builtin(Builtin),
    /// Word `index % INPUT_WORDS` of the input buffer; u32.
    Input,
    /// Word `index % UNIFORM_WORDS` of the uniform buffer; u32.
    Uniform,
    /// A word of the push constants; u32.
    Push(u8),
    /// A specialisation constant; u32.
    Spec(u8),
    /// Word `index % OWN_WORDS` of those that the invocation owns in a storage buffer; u32.
    Own,
    /// Element `index % length` of a local array, whose length is a power of two.
    Element(Array),
    /// Element `index % length` of a workgroup array.
    SharedAny(Shared),
    /// Element `index % slots` of those that the invocation owns in a workgroup array.
    SharedOwn(Shared),
    /// An operation on one operand.
    Unary(Unary),
    /// An operation on two operands of the result's type.
    Binary(Binary),
    /// A comparison of two operands of one type.
    Compare(Compare),
    /// `args[0] ? args[1] : args[2]`, component by component.
    Select,
    /// To another type of number. Between integers modulo the width. From a float to an integer towards zero, after
    /// a clamp to what fits ([`super::float::clamp_for`]). From integers (32 bits at most) to f32 rounded to nearest even;
    /// to f16 after `& 63`. From f16 to f32.
    Convert,
    /// The same bits.
    Bitcast,
    /// A vector of scalars.
    Compose,
    /// A component.
    Extract(u8),
    /// Component `args[1] % size` of a vector of 2 or 4.
    ExtractDynamic,
    /// The components with these numbers, of `args[0]` and then `args[1]`.
    Shuffle([u8; 4]),
    /// Whether any component is true.
    Any,
    /// Whether all components are true.
    All,
    /// Bits `offset..offset + count` of a 32-bit integer, sign-extended if it is signed.
    BitfieldExtract {
        /// First bit.
        offset: u8,
        /// How many; with `offset` 32 at most.
        count: u8,
    },
    /// `args[0]` with bits `offset..offset + count` from the low bits of `args[1]`; 32-bit integers.
    BitfieldInsert {
        /// First bit.
        offset: u8,
        /// How many; with `offset` 32 at most.
        count: u8,
    },
}

/// Numbers about an invocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Builtin {
    /// LocalInvocationIndex.
    LocalIndex,
    /// A component of LocalInvocationId.
    LocalId(u8),
    /// A component of WorkgroupId.
    GroupId(u8),
    /// A component of GlobalInvocationId.
    GlobalId(u8),
    /// A component of NumWorkgroups.
    GroupCount(u8),
    /// SubgroupLocalInvocationId.
    Lane,
    /// SubgroupId.
    SubgroupId,
    /// NumSubgroups.
    SubgroupCount,
    /// SubgroupSize.
    SubgroupSize,
}

/// Operations on one operand; the result has its type if nothing else is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Unary {
    /// `!` of Booleans.
    LogicalNot,
    /// `~` of integers.
    Not,
    /// `-` of integers, modulo the width.
    Neg,
    /// Magnitude of signed integers, modulo the width.
    Abs,
    /// -1, 0 or 1, of signed integers.
    Sign,
    /// The bits in reverse; 32-bit integers.
    BitReverse,
    /// How many bits are set; 32-bit integers.
    BitCount,
    /// The lowest bit that is set, or -1; 32-bit integers.
    FindLsb,
    /// The highest bit that is set, or -1; of a negative signed number the highest that is not; 32-bit integers.
    FindMsb,
    /// `-` of floats.
    FNeg,
    /// Magnitude of floats.
    FAbs,
    /// Towards minus infinity.
    Floor,
    /// Towards plus infinity.
    Ceil,
    /// Towards zero.
    Trunc,
    /// To the nearest, ties to even.
    RoundEven,
    /// A float of middling magnitude: one that is too small becomes 0.0, one that is too large gets the exponent of
    /// 1.0. The operand is a float, or the unsigned integer that has a float's bits, whatever they are.
    Sane,
}

/// Operations on two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Binary {
    /// Of Booleans.
    LogicalAnd,
    /// Of Booleans.
    LogicalOr,
    /// Of Booleans.
    LogicalEqual,
    /// Of Booleans.
    LogicalNotEqual,
    /// Modulo the width.
    Add,
    /// Modulo the width.
    Sub,
    /// Modulo the width.
    Mul,
    /// The high half of the product; 32-bit integers.
    MulHigh,
    /// The carry of the sum; u32.
    Carry,
    /// The borrow of the difference; u32.
    Borrow,
    /// Bits.
    And,
    /// Bits.
    Or,
    /// Bits.
    Xor,
    /// Left, by `b % width`.
    Shl,
    /// Right, by `b % width`, filling with the sign of signed integers.
    Shr,
    /// By `b | 1`, or by 1 where that is -1; towards zero.
    Div,
    /// The remainder of [`Self::Div`]; it has the dividend's sign.
    Rem,
    /// The remainder that has the divisor's sign; signed integers.
    Mod,
    /// The smaller integer.
    Min,
    /// The larger integer.
    Max,
    /// Rounded to nearest even.
    FAdd,
    /// Rounded to nearest even.
    FSub,
    /// Rounded to nearest even.
    FMul,
    /// The smaller float.
    FMin,
    /// The larger float.
    FMax,
}

/// Comparisons of integers (by their sign) and floats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "they are what they are called")]
pub enum Compare {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

/// Statements in order.
pub type Block = Vec<Stmt>;

/// A statement.
#[derive(Debug, Clone, PartialEq)]
pub enum Stmt {
    /// To a variable.
    Assign(Var, Expr),
    /// To component `index % size` of a vector of 2 or 4.
    AssignComponent(Var, Expr, Expr),
    /// To element `index % length` of a local array.
    AssignElement(Array, Expr, Expr),
    /// To element `index % slots` of those that the invocation owns in a workgroup array.
    SharedStore(Shared, Expr, Expr),
    /// To word `index % OWN_WORDS` of those that the invocation owns in a storage buffer.
    OwnStore(Expr, Expr),
    /// To a word of those that the invocation owns in the output buffer.
    Output(u32, Expr),
    /// On one of the two words that this operation has in the atomics' buffer: `index % 2`.
    Atomic(Atomic, Expr, Expr),
    /// On element `index % length` of a workgroup array of u32 or i32.
    SharedAtomic(Atomic, Shared, Expr, Expr),
    /// If, then, else.
    If(Expr, Block, Block),
    /// On a 32-bit integer. Each case has its literals; none falls through; the last block is the default.
    Switch(Expr, Vec<(Vec<u32>, Block)>, Block),
    /// `counter` (u32) from 0 in steps of 1 while it is less than `min(bound, limit)`, taken before the loop.
    For {
        /// Nothing else writes it.
        counter: Var,
        /// u32.
        bound: Expr,
        /// Iterations at most.
        limit: u32,
        /// What is repeated.
        body: Block,
    },
    /// `counter` (u32) from 0 in steps of 1 while it is less than the limit and the condition holds.
    While {
        /// Nothing else writes it.
        counter: Var,
        /// Before each iteration.
        condition: Expr,
        /// Iterations at most.
        limit: u32,
        /// What is repeated.
        body: Block,
    },
    /// As While, with the test after each iteration, in the continue block.
    DoWhile {
        /// Nothing else writes it. It has its new value when the condition is looked at.
        counter: Var,
        /// After each iteration.
        condition: Expr,
        /// Iterations at most, but at least one.
        limit: u32,
        /// What is repeated.
        body: Block,
    },
    /// Leave the innermost loop.
    Break,
    /// On with the innermost loop's next iteration.
    Continue,
    /// The invocation ends; in main.
    Return,
    /// Call a function.
    Call {
        /// An index into [`Program::functions`], less than the caller's own.
        function: usize,
        /// Arguments by value.
        args: Vec<Expr>,
        /// Distinct variables for the function's out results.
        outs: Vec<Var>,
        /// For its result.
        result: Var,
    },
    /// A barrier for control and workgroup memory; all invocations of the workgroup come here.
    Barrier,
    /// An operation among the active lanes of a subgroup.
    Subgroup {
        /// Gets the result.
        result: Var,
        /// What.
        op: Subgroup,
        /// Of what: none for [`Subgroup::Elect`], the value and the lane (u32) for [`Subgroup::Shuffle`].
        args: Vec<Expr>,
    },
}

/// Atomic operations whose order does not matter when nobody looks at what they return.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "they are what they are called")]
pub enum Atomic {
    Add,
    And,
    Or,
    Xor,
    UMin,
    UMax,
    SMin,
    SMax,
}

impl Atomic {
    /// All of them, in the order of their words in the buffer.
    pub const ALL: [Self; 8] = [
        Self::Add,
        Self::And,
        Self::Or,
        Self::Xor,
        Self::UMin,
        Self::UMax,
        Self::SMin,
        Self::SMax,
    ];
}

/// How lanes are combined. Min and max go by the type, floats have only these two; Booleans have the last three.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "they are what they are called")]
pub enum Combine {
    Add,
    Mul,
    Min,
    Max,
    And,
    Or,
    Xor,
}

/// Subgroup operations; the result has the value's type if nothing else is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Subgroup {
    /// True in the first active lane.
    Elect,
    /// Any; Boolean.
    Any,
    /// All; Boolean.
    All,
    /// Whether all are equal; of integers and Booleans to Boolean.
    AllEqual,
    /// Of a Boolean, to uvec4.
    Ballot,
    /// The lane's bit of a uvec4 (the same in all lanes), to Boolean.
    InverseBallot,
    /// Bits set in a uvec4's low word in all lanes / up to this one / below this one; u32.
    BallotBitCount(Scan),
    /// The first active lane's.
    BroadcastFirst,
    /// A lane's; it is active.
    Broadcast(u8),
    /// Of lane `args[1]`, modulo the lanes; all lanes are active.
    Shuffle,
    /// Of lane `own ^ mask`; all lanes are active.
    ShuffleXor(u8),
    /// Combine lanes.
    Combine(Combine, Scan),
    /// Combine in clusters of a power of two of lanes.
    Clustered(Combine, u8),
    /// Of lane `number` of the quad; all are active.
    QuadBroadcast(u8),
    /// Swap: 0 horizontally, 1 vertically, 2 diagonally; all are active.
    QuadSwap(u8),
}

/// Which lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scan {
    /// All active ones.
    Reduce,
    /// Active ones up to this.
    Inclusive,
    /// Active ones below this. Floats do not have it.
    Exclusive,
}

/// A variable and what is in it when the function begins.
#[derive(Debug, Clone, PartialEq)]
pub struct Variable {
    /// Its type.
    pub ty: Type,
    /// What is in it.
    pub init: Value,
}

/// A local array; all elements begin with the same value.
#[derive(Debug, Clone, PartialEq)]
pub struct LocalArray {
    /// Of an element.
    pub element: Variable,
    /// A power of two.
    pub length: u32,
}

/// An array in workgroup memory.
#[derive(Debug, Clone, PartialEq)]
pub struct SharedArray {
    /// Of an element.
    pub ty: Type,
    /// Elements that each invocation owns: it has those from `LocalIndex * slots` on. A power of two.
    pub slots: u32,
}

/// A function.
#[derive(Debug, Clone, PartialEq)]
pub struct Function {
    /// Its variables; the first ones are parameters, by value.
    pub vars: Vec<Variable>,
    /// How many are parameters.
    pub params: usize,
    /// Variables whose last value goes to the caller. None is a parameter.
    pub outs: Vec<Var>,
    /// Its arrays.
    pub arrays: Vec<LocalArray>,
    /// What it does.
    pub body: Block,
    /// What it returns; main does not.
    pub result: Option<Expr>,
}

/// Words of the input buffer: a power of two.
pub const INPUT_WORDS: u32 = 256;
/// Words of the uniform buffer: a power of two.
pub const UNIFORM_WORDS: u32 = 16;
/// Words that an invocation owns in the storage buffer for that: a power of two.
pub const OWN_WORDS: u32 = 8;
/// Words in the atomics' buffer.
pub const ATOMIC_WORDS: u32 = 2 * Atomic::ALL.len() as u32;
/// Push-constant words.
pub const PUSH_WORDS: u32 = 4;
/// Specialisation constants.
pub const SPEC_CONSTANTS: u32 = 3;

/// A program and its input.
#[derive(Debug, Clone, PartialEq)]
pub struct Program {
    /// What made it.
    pub seed: u64,
    /// Functions; the last one is main, and each calls only those before it.
    pub functions: Vec<Function>,
    /// Workgroup arrays.
    pub shared: Vec<SharedArray>,
    /// Invocations of a workgroup.
    pub local_size: [u32; 3],
    /// Workgroups.
    pub groups: [u32; 3],
    /// Words that an invocation owns in the output buffer.
    pub output_words: u32,
    /// Lanes of a subgroup: lane `i` of subgroup `s` is invocation `s * subgroup_size + i`.
    pub subgroup_size: u32,
    /// Loops that test at their end get an exit at their start too, which is never taken.
    pub early_exits: bool,
    /// It relies on maximal reconvergence, and declares so.
    pub reconvergence: bool,
    /// Input buffer.
    pub input: Vec<u32>,
    /// Uniform buffer.
    pub uniform: Vec<u32>,
    /// What the invocations' own words hold before.
    pub own: Vec<u32>,
    /// What the output holds before.
    pub output: Vec<u32>,
    /// What the atomics' buffer holds before.
    pub atomics: Vec<u32>,
    /// Push constants.
    pub push: Vec<u32>,
    /// Specialisation constants' values.
    pub spec: Vec<u32>,
}

impl Expr {
    /// An expression.
    #[must_use]
    pub fn new(ty: Type, op: Op, args: Vec<Expr>) -> Self {
        Self { ty, op, args }
    }

    /// A constant word.
    #[must_use]
    pub fn word(value: u32) -> Self {
        Self::new(U32, Op::Const([value.into(), 0, 0, 0]), vec![])
    }

    /// A variable.
    #[must_use]
    pub fn var(var: Var, ty: Type) -> Self {
        Self::new(ty, Op::Var(var), vec![])
    }

    /// Two operands of one type.
    #[must_use]
    pub fn binary(op: Binary, a: Self, b: Self) -> Self {
        Self::new(a.ty, Op::Binary(op), vec![a, b])
    }

    /// One operand, with a result of its type.
    #[must_use]
    pub fn unary(op: Unary, a: Self) -> Self {
        Self::new(a.ty, Op::Unary(op), vec![a])
    }

    /// A comparison.
    #[must_use]
    pub fn compare(op: Compare, a: Self, b: Self) -> Self {
        Self::new(a.ty.of(Scalar::Bool), Op::Compare(op), vec![a, b])
    }

    /// A component.
    #[must_use]
    pub fn extract(self, component: u8) -> Self {
        let ty = Type::scalar(self.ty.scalar);
        if self.ty.size == 1 {
            self
        } else {
            Self::new(ty, Op::Extract(component), vec![self])
        }
    }

    /// Calls `f` on this and all below it.
    pub fn visit(&self, f: &mut dyn FnMut(&Expr)) {
        f(self);
        self.args.iter().for_each(|a| a.visit(f));
    }
}

impl Stmt {
    /// The expressions that it evaluates itself.
    #[must_use]
    pub fn exprs(&self) -> Vec<&Expr> {
        match self {
            Self::Assign(_, e) | Self::Output(_, e) | Self::If(e, ..) | Self::Switch(e, ..) => {
                vec![e]
            }
            Self::AssignComponent(_, a, b)
            | Self::AssignElement(_, a, b)
            | Self::SharedStore(_, a, b)
            | Self::OwnStore(a, b)
            | Self::Atomic(_, a, b)
            | Self::SharedAtomic(_, _, a, b) => vec![a, b],
            Self::For { bound: e, .. }
            | Self::While { condition: e, .. }
            | Self::DoWhile { condition: e, .. } => vec![e],
            Self::Call { args, .. } | Self::Subgroup { args, .. } => args.iter().collect(),
            Self::Break | Self::Continue | Self::Return | Self::Barrier => vec![],
        }
    }

    /// The same, to change.
    pub fn exprs_mut(&mut self) -> Vec<&mut Expr> {
        match self {
            Self::Assign(_, e) | Self::Output(_, e) | Self::If(e, ..) | Self::Switch(e, ..) => {
                vec![e]
            }
            Self::AssignComponent(_, a, b)
            | Self::AssignElement(_, a, b)
            | Self::SharedStore(_, a, b)
            | Self::OwnStore(a, b)
            | Self::Atomic(_, a, b)
            | Self::SharedAtomic(_, _, a, b) => vec![a, b],
            Self::For { bound: e, .. }
            | Self::While { condition: e, .. }
            | Self::DoWhile { condition: e, .. } => vec![e],
            Self::Call { args, .. } | Self::Subgroup { args, .. } => args.iter_mut().collect(),
            Self::Break | Self::Continue | Self::Return | Self::Barrier => vec![],
        }
    }

    /// The blocks in it.
    #[must_use]
    pub fn blocks(&self) -> Vec<&Block> {
        match self {
            Self::If(_, a, b) => vec![a, b],
            Self::Switch(_, cases, default) => {
                cases.iter().map(|(_, b)| b).chain([default]).collect()
            }
            Self::For { body, .. } | Self::While { body, .. } | Self::DoWhile { body, .. } => {
                vec![body]
            }
            _ => vec![],
        }
    }

    /// The same, to change.
    pub fn blocks_mut(&mut self) -> Vec<&mut Block> {
        match self {
            Self::If(_, a, b) => vec![a, b],
            Self::Switch(_, cases, default) => {
                cases.iter_mut().map(|(_, b)| b).chain([default]).collect()
            }
            Self::For { body, .. } | Self::While { body, .. } | Self::DoWhile { body, .. } => {
                vec![body]
            }
            _ => vec![],
        }
    }

    /// Whether it is a loop.
    #[must_use]
    pub const fn is_loop(&self) -> bool {
        matches!(
            self,
            Self::For { .. } | Self::While { .. } | Self::DoWhile { .. }
        )
    }

    /// Whether an invocation may reach what comes after it in its block.
    #[must_use]
    pub fn falls_through(&self) -> bool {
        match self {
            Self::Break | Self::Continue | Self::Return => false,
            Self::If(..) | Self::Switch(..) => self
                .blocks()
                .into_iter()
                .any(|b| b.last().is_none_or(Self::falls_through)),
            _ => true,
        }
    }

    /// Calls `f` on this and all statements in it.
    pub fn visit(&self, f: &mut dyn FnMut(&Stmt)) {
        f(self);
        self.blocks().into_iter().flatten().for_each(|s| s.visit(f));
    }
}

impl Program {
    /// Invocations of a workgroup.
    #[must_use]
    pub fn invocations(&self) -> u32 {
        self.local_size.iter().product()
    }

    /// Workgroups.
    #[must_use]
    pub fn group_count(&self) -> u32 {
        self.groups.iter().product()
    }

    /// Whether a statement follows one that does not let any invocation through.
    #[must_use]
    pub fn has_dead_code(&self) -> bool {
        let dead = |b: &Block| b.iter().rev().skip(1).any(|s| !s.falls_through());
        let mut any = self.functions.iter().any(|f| dead(&f.body));
        self.visit(&mut |s| any |= s.blocks().into_iter().any(dead));
        any
    }

    /// Elements of a workgroup array.
    #[must_use]
    pub fn shared_length(&self, shared: Shared) -> u32 {
        self.shared[shared].slots * self.invocations()
    }

    /// Calls `f` on every statement.
    pub fn visit(&self, f: &mut dyn FnMut(&Stmt)) {
        self.functions
            .iter()
            .flat_map(|f| &f.body)
            .for_each(|s| s.visit(f));
    }

    /// Calls `f` on every expression.
    pub fn visit_exprs(&self, f: &mut dyn FnMut(&Expr)) {
        self.visit(&mut |s| s.exprs().into_iter().for_each(|e| e.visit(f)));
        self.functions
            .iter()
            .filter_map(|f| f.result.as_ref())
            .for_each(|e| e.visit(f));
    }
}
