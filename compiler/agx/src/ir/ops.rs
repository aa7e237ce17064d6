// SPDX-License-Identifier: MIT
//! Operations: one struct each.
//!
//! An operation is what the hardware does in one instruction, or a fixed short sequence of them; which encoding form it
//! takes is chosen at emission, when registers and waits are known. The [`ops!`] table below gives each its destination
//! groups, source groups and attributes. A group is what must lie in consecutive registers; its [`Shape`] says which.

use std::fmt;

use arrayvec::ArrayVec;

use super::{Dst, Ref, Src, Value};

/// Which registers a group may take, and what happens to them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// The first register's number must be a multiple of this.
    pub align: u8,
    /// The highest register that the group may reach.
    pub last: u8,
    /// A source whose registers hold garbage afterwards (isa-2, "destroyed").
    pub destroyed: bool,
    /// A source that the instruction's (only) destination must share its register with: it is read and written.
    pub tied: bool,
}

impl Shape {
    /// Any register.
    pub const ANY: Shape = Shape {
        align: 1,
        last: 95,
        destroyed: false,
        tied: false,
    };
    /// r0..r63: six-bit fields, or proven no higher.
    pub const LOW: Shape = Shape {
        last: 63,
        ..Shape::ANY
    };
    /// An even pair (isa-1, 1.2).
    pub const EVEN: Shape = Shape {
        align: 2,
        ..Shape::ANY
    };
    /// Lost by the instruction.
    pub const DESTROYED: Shape = Shape {
        destroyed: true,
        ..Shape::ANY
    };
    /// Lost by the instruction, r0..r63.
    pub const LOW_DESTROYED: Shape = Shape {
        destroyed: true,
        ..Shape::LOW
    };
    /// Read and written.
    pub const TIED: Shape = Shape {
        tied: true,
        ..Shape::ANY
    };
    /// Read and written, r0..r63.
    pub const LOW_TIED: Shape = Shape {
        tied: true,
        ..Shape::LOW
    };

    /// Nobody else may read or keep these registers: they hold something else behind the instruction.
    #[must_use]
    pub const fn is_exclusive(&self) -> bool {
        self.destroyed || self.tied
    }
}

/// One or more operands that lie in consecutive registers.
pub trait Group<T> {
    /// In order.
    fn members(&self) -> &[T];
    /// In order.
    fn members_mut(&mut self) -> &mut [T];
}

impl<T> Group<T> for T {
    fn members(&self) -> &[T] {
        std::slice::from_ref(self)
    }

    fn members_mut(&mut self) -> &mut [T] {
        std::slice::from_mut(self)
    }
}

impl<T> Group<T> for [T; 2] {
    fn members(&self) -> &[T] {
        self
    }

    fn members_mut(&mut self) -> &mut [T] {
        self
    }
}

impl<T> Group<T> for Option<T> {
    fn members(&self) -> &[T] {
        self.as_slice()
    }

    fn members_mut(&mut self) -> &mut [T] {
        self.as_mut_slice()
    }
}

/// Up to four.
pub type Tuple<T> = ArrayVec<T, 4>;

impl<T> Group<T> for Tuple<T> {
    fn members(&self) -> &[T] {
        self
    }

    fn members_mut(&mut self) -> &mut [T] {
        self
    }
}

/// A 64-bit address (isa-2, 2.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Base {
    /// Uniform pair i: argument words 2i, 2i + 1.
    Pair(u8),
    /// Two registers, low word first; they need no alignment.
    Regs([Src; 2]),
}

impl Group<Src> for Base {
    fn members(&self) -> &[Src] {
        match self {
            Base::Pair(_) => &[],
            Base::Regs(regs) => regs,
        }
    }

    fn members_mut(&mut self) -> &mut [Src] {
        match self {
            Base::Pair(_) => &mut [],
            Base::Regs(regs) => regs,
        }
    }
}

/// A comparison that the hardware makes (isa-1, 4.9). Float ones are false if an operand is NaN.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Cmp {
    /// Float A > B.
    FGt,
    /// Float A < B.
    FLt,
    /// Float A == B.
    FEq,
    /// Float A >= B.
    FGe,
    /// Float A <= B.
    FLe,
    /// Unsigned A > B.
    UGt,
    /// Unsigned A < B.
    ULt,
    /// Signed A > B.
    IGt,
    /// Signed A < B.
    ILt,
    /// A == B, 32 bits.
    IEq,
}

impl Cmp {
    /// All of them, in the order of their declaration.
    pub const ALL: &'static [Cmp] = &[
        Cmp::FGt,
        Cmp::FLt,
        Cmp::FEq,
        Cmp::FGe,
        Cmp::FLe,
        Cmp::UGt,
        Cmp::ULt,
        Cmp::IGt,
        Cmp::ILt,
        Cmp::IEq,
    ];

    /// Compares floats.
    #[must_use]
    pub const fn is_float(self) -> bool {
        matches!(self, Cmp::FGt | Cmp::FLt | Cmp::FEq | Cmp::FGe | Cmp::FLe)
    }

    /// The comparison with A and B exchanged.
    #[must_use]
    pub const fn swapped(self) -> Cmp {
        match self {
            Cmp::FGt => Cmp::FLt,
            Cmp::FLt => Cmp::FGt,
            Cmp::FGe => Cmp::FLe,
            Cmp::FLe => Cmp::FGe,
            Cmp::UGt => Cmp::ULt,
            Cmp::ULt => Cmp::UGt,
            Cmp::IGt => Cmp::ILt,
            Cmp::ILt => Cmp::IGt,
            Cmp::FEq | Cmp::IEq => self,
        }
    }
}

/// A condition of a branch: `(a cmp b) ^ invert`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cond {
    /// The comparison.
    pub cmp: Cmp,
    /// The operands are fp16 in low halves.
    pub half: bool,
    /// Left.
    pub a: Src,
    /// Right.
    pub b: Src,
    /// True where the comparison is false.
    pub invert: bool,
}

impl Cond {
    /// The operands.
    #[must_use]
    pub fn srcs_mut(&mut self) -> [&mut Src; 2] {
        [&mut self.a, &mut self.b]
    }

    /// The operands.
    #[must_use]
    pub const fn srcs(&self) -> [Src; 2] {
        [self.a, self.b]
    }
}

/// Define enumerations whose variants print as their names in assembly.
macro_rules! named {
    ($($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $text:literal,)* })*) => { $(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$vdoc])* $variant,)* }

        impl $name {
            /// All of them.
            pub const ALL: &'static [$name] = &[$($name::$variant),*];

            /// The name in assembly.
            #[must_use]
            pub const fn text(self) -> &'static str {
                match self { $($name::$variant => $text,)* }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.text())
            }
        }
    )* };
}

named! {
    /// Add or multiply.
    AddMul {
        /// `a + b`
        Add = "add",
        /// `a * b`
        Mul = "mul",
    }
    /// Minimum or maximum.
    MinMaxOp {
        /// fp32 maximum.
        FMax = "fmax",
        /// fp32 minimum.
        FMin = "fmin",
        /// Unsigned maximum.
        UMax = "umax",
        /// Unsigned minimum.
        UMin = "umin",
        /// Signed maximum.
        IMax = "imax",
        /// Signed minimum.
        IMin = "imin",
    }
    /// Special functions (isa-1, 4.4).
    SfuOp {
        /// 1 / a
        Rcp = "rcp",
        /// 1 / sqrt(a)
        Rsqrt = "rsqrt",
        /// The factor f with sqrt(a) = a * f.
        SqrtFactor = "sqrt_factor",
        /// 2^a
        Exp2 = "exp2",
        /// log2(a)
        Log2 = "log2",
        /// sin(pi a / 2) / a for a in [-1, 1]
        SinFactor = "sin_factor",
        /// To the nearest integer, ties to even.
        RoundEven = "round_even",
        /// Largest integer not above.
        Floor = "floor",
        /// Smallest integer not below.
        Ceil = "ceil",
        /// Toward zero.
        Trunc = "trunc",
    }
    /// Operand and result types of a special function.
    SfuType {
        /// fp32 to fp32.
        F32 = "f32",
        /// fp16 (low half) to fp16 (low half).
        F16 = "f16",
        /// fp16 (low half) to fp32: reciprocal and square-root factor only.
        F16ToF32 = "f16_f32",
    }
    /// Truth tables of two operands (isa-1, 4.10); the two that depend on B alone do not exist.
    LogicOp {
        /// a & b
        And = "and",
        /// a | b
        Or = "or",
        /// a ^ b
        Xor = "xor",
        /// ~(a & b)
        Nand = "nand",
        /// ~(a | b)
        Nor = "nor",
        /// ~(a ^ b)
        Xnor = "xnor",
        /// a & ~b
        AndNot = "andn",
        /// a | ~b
        OrNot = "orn",
    }
    /// Shifts.
    ShiftOp {
        /// Left.
        Shl = "shl",
        /// Right, zeros come in.
        Shr = "shr",
        /// Right, the sign comes in.
        Asr = "asr",
    }
    /// Bit counting and reversal.
    BitOp {
        /// Population count.
        PopCount = "popcount",
        /// Index of the most significant set bit; -1 for 0.
        FindMsb = "find_msb",
        /// Bit 31 becomes bit 0.
        Reverse = "bitrev",
    }
    /// Normalised formats.
    Norm {
        /// Two 16-bit components of [0, 1].
        Unorm16 = "unorm16",
        /// Two 8-bit components of [0, 1].
        Unorm8 = "unorm8",
        /// Two 16-bit components of [-1, 1].
        Snorm16 = "snorm16",
        /// Two 8-bit components of [-1, 1].
        Snorm8 = "snorm8",
    }
    /// Element and component count of a device access (isa-2, 2.2).
    Format {
        /// One byte.
        I8 = "i8",
        /// One 16-bit element.
        I16 = "i16",
        /// Two 16-bit elements in one register.
        I16x2 = "i16x2",
        /// One word.
        I32 = "i32",
        /// Two words.
        I32x2 = "i32x2",
        /// Three words.
        I32x3 = "i32x3",
        /// Four words.
        I32x4 = "i32x4",
    }
    /// Atomic operations on a 32-bit word (isa-2, 5.1).
    AtomicOp {
        /// old + data
        Add = "add",
        /// old - data
        Sub = "sub",
        /// old & data
        And = "and",
        /// old | data
        Or = "or",
        /// old ^ data
        Xor = "xor",
        /// Signed maximum.
        IMax = "imax",
        /// Signed minimum.
        IMin = "imin",
        /// Unsigned maximum.
        UMax = "umax",
        /// Unsigned minimum.
        UMin = "umin",
        /// data
        Exchange = "xchg",
        /// data\[0\] if old == data\[1\].
        CompareExchange = "cmpxchg",
        /// fp32 old + data
        FAdd = "fadd",
    }
    /// Subgroup reductions (isa-2, 8.1).
    ReduceOp {
        /// Integer sum.
        IAdd = "iadd",
        /// Bitwise and.
        And = "and",
        /// Bitwise or.
        Or = "or",
        /// Bitwise exclusive or.
        Xor = "xor",
        /// Signed maximum.
        IMax = "imax",
        /// Signed minimum.
        IMin = "imin",
        /// Unsigned maximum.
        UMax = "umax",
        /// Unsigned minimum.
        UMin = "umin",
        /// fp32 sum.
        FAdd = "fadd",
        /// fp32 product.
        FMul = "fmul",
    }
    /// Barriers and fences (isa-4, 9.1).
    BarrierOp {
        /// Orders device memory; no rendezvous.
        DeviceFence = "device_fence",
        /// The workgroup meets; orders threadgroup memory.
        Workgroup = "workgroup",
        /// Orders texture memory: the acquire and release pair; no rendezvous.
        TextureFence = "texture_fence",
    }
}

impl Format {
    /// Registers that an access covers.
    #[must_use]
    pub const fn registers(self) -> usize {
        match self {
            Format::I8 | Format::I16 | Format::I16x2 | Format::I32 => 1,
            Format::I32x2 => 2,
            Format::I32x3 => 3,
            Format::I32x4 => 4,
        }
    }

    /// Words, 1..=4.
    #[must_use]
    pub const fn words(count: usize) -> Option<Format> {
        match count {
            1 => Some(Format::I32),
            2 => Some(Format::I32x2),
            3 => Some(Format::I32x3),
            4 => Some(Format::I32x4),
            _ => None,
        }
    }
}

/// What a texture bundle does (isa-3, 2).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Bundle {
    /// Mode bytes 6 and 7, little-endian: a row of [`agx_isa::TEXTURE_MODES`].
    pub mode: u16,
    /// 0 fetch, gather or comparison, 1 filtered sample, 2 LOD query.
    pub kind: u8,
    /// The component of four texels.
    pub gather: Option<u8>,
    /// Texels to the right and down.
    pub offset: [i8; 2],
    /// Components of the result that there are registers for; bit 0 = R.
    pub mask: u8,
    /// Slot of the texture table.
    pub texture: u8,
    /// Slot of the sampler table.
    pub sampler: u8,
    /// The first publication of the parameter block.
    pub params: u8,
    /// Nobody reads the parameter block again.
    pub last: bool,
}

impl fmt::Debug for Bundle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mode = agx_isa::texture_mode(self.mode.into()).map_or("?", |mode| mode.name);
        let kind = ["load", "sample", "query"]
            .get(usize::from(self.kind))
            .unwrap_or(&"?");
        write!(f, "{mode}.{kind}")?;
        let components = ["r", "g", "b", "a"];
        match self.gather {
            Some(component) => write!(f, ".gather_{}", components[usize::from(component & 3)])?,
            None => {
                let selected = (0..4).filter(|c| self.mask >> c & 1 == 1);
                let text: String = selected.map(|c| components[c]).collect();
                write!(f, ".{text}")?;
            }
        }
        if self.offset != [0, 0] {
            write!(f, " offset {},{}", self.offset[0], self.offset[1])?;
        }
        let end = if self.last { " last" } else { "" };
        write!(
            f,
            " t{} s{} p{}{end}",
            self.texture, self.sampler, self.params
        )
    }
}

impl Bundle {
    /// The publications that it reads, one bit each.
    #[must_use]
    pub fn reads(&self) -> u128 {
        let words = agx_isa::texture_mode(self.mode.into()).map_or(1, |mode| mode.words);
        u128::from(words) << self.params
    }
}

/// The system register of the samples that a fragment covers (isa-3, 1.4).
pub const COVERAGE_REGISTER: u8 = 0xc2;

/// One attachment of the tile, and where it goes (isa-3, 3.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TileBlock {
    /// The image is an array.
    pub array: bool,
    /// More than one sample.
    pub multisampled: bool,
    /// How the tile holds it: the export code (images, 3.2).
    pub format: u8,
    /// Slot of the image behind the textures.
    pub image: u8,
    /// The first publication of x, y, and what else the mode wants.
    pub params: u8,
}

/// Operand groups of an instruction, each with its shape.
pub type Groups<T> = ArrayVec<(T, Shape), 4>;

/// The groups in fields of an operation.
macro_rules! groups {
    ($op:ident, $members:ident, ) => {{
        let _ = $op;
        Groups::new()
    }};
    ($op:ident, $members:ident, $($field:ident $shape:ident)+) => {{
        let mut groups = Groups::new();
        $(groups.push(($op.$field.$members(), Shape::$shape));)+
        groups
    }};
}

/// The operands in fields of an operation, one after the other.
macro_rules! flat {
    ($op:ident, ) => {{
        let _ = $op;
        ArrayVec::new()
    }};
    ($op:ident, $($field:ident)+) => {{
        let mut operands = ArrayVec::new();
        $(for operand in $op.$field.members() {
            operands.push(operand);
        })+
        operands
    }};
}

/// Define the operations: `Name "mnemonic" { dsts { field: Type = Shape } srcs { .. } attrs { field: Type } }`.
macro_rules! ops {
    ($(
        $(#[$doc:meta])*
        $name:ident $text:literal {
            dsts { $($dst:ident: $dty:ty = $dshape:ident),* }
            srcs { $($src:ident: $sty:ty = $sshape:ident),* }
            attrs { $($attr:ident: $aty:ty),* }
        }
    )*) => {
        $(
            $(#[$doc])*
            #[derive(Debug, Clone, PartialEq)]
            #[allow(missing_docs)]
            pub struct $name {
                $(pub $dst: $dty,)*
                $(pub $src: $sty,)*
                $(pub $attr: $aty,)*
            }

            impl From<$name> for Instr {
                fn from(op: $name) -> Instr {
                    Instr::$name(op)
                }
            }
        )*

        /// An instruction.
        // The tag is a byte of its own: hidden in some operation's fields it would take more steps to read each time.
        #[derive(Debug, Clone, PartialEq)]
        #[repr(u8)]
        pub enum Instr {
            $($(#[$doc])* $name($name),)*
        }

        impl Instr {
            /// The operation's name.
            #[must_use]
            pub const fn name(&self) -> &'static str {
                match self { $(Instr::$name(_) => $text,)* }
            }

            /// Each destination group.
            #[allow(unused_variables)]
            pub fn for_each_dst(&self, mut f: impl FnMut(&[Dst], Shape)) {
                match self { $(Instr::$name(op) => { $(f(op.$dst.members(), Shape::$dshape);)* })* }
            }

            /// Each source group.
            #[allow(unused_variables)]
            pub fn for_each_src(&self, mut f: impl FnMut(&[Src], Shape)) {
                match self { $(Instr::$name(op) => { $(f(op.$src.members(), Shape::$sshape);)* })* }
            }

            /// Each destination group.
            #[allow(unused_variables)]
            pub fn for_each_dst_mut(&mut self, mut f: impl FnMut(&mut [Dst], Shape)) {
                match self { $(Instr::$name(op) => { $(f(op.$dst.members_mut(), Shape::$dshape);)* })* }
            }

            /// Each source group.
            #[allow(unused_variables)]
            pub fn for_each_src_mut(&mut self, mut f: impl FnMut(&mut [Src], Shape)) {
                match self { $(Instr::$name(op) => { $(f(op.$src.members_mut(), Shape::$sshape);)* })* }
            }

            /// The source groups, for who wants to stop among them or does much with each.
            #[must_use]
            pub fn srcs(&self) -> Groups<&[Src]> {
                match self { $(Instr::$name(op) => groups![op, members, $($src $sshape)*],)* }
            }

            /// The source groups.
            #[must_use]
            pub fn srcs_mut(&mut self) -> Groups<&mut [Src]> {
                match self { $(Instr::$name(op) => groups![op, members_mut, $($src $sshape)*],)* }
            }

            /// Every destination, in order.
            #[must_use]
            pub fn flat_dsts(&self) -> ArrayVec<&Dst, 4> {
                match self { $(Instr::$name(op) => flat![op, $($dst)*],)* }
            }

            /// Every source, in order.
            #[must_use]
            pub fn flat_srcs(&self) -> ArrayVec<&Src, 8> {
                match self { $(Instr::$name(op) => flat![op, $($src)*],)* }
            }

            fn fmt_attrs(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self { $(Instr::$name(op) => {
                    $(write!(f, " {}={}", stringify!($attr), Text(&op.$attr))?;)*
                    let _ = op;
                    Ok(())
                })* }
            }
        }
    };
}

/// Attributes print by `Debug`, in lower case.
struct Text<'a, T>(&'a T);

impl<T: fmt::Debug> fmt::Display for Text<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&format!("{:?}", self.0).to_lowercase())
    }
}

ops! {
    /// `dst = src`, all bits. A uniform may be the source.
    Mov "mov" {
        dsts { dst: Dst = ANY } srcs { src: Src = ANY } attrs {}
    }
    /// `dst = value`. The literal moves reach r0..r63.
    Imm "imm" {
        dsts { dst: Dst = LOW } srcs {} attrs { value: u32 }
    }
    /// `dst = system register`; `narrow` ones are 16 bits wide and come zero-extended.
    SysReg "sysreg" {
        dsts { dst: Dst = LOW } srcs {} attrs { number: u8, narrow: bool }
    }
    /// fp32 add or multiply.
    F2 "f2" {
        dsts { dst: Dst = ANY } srcs { a: Src = ANY, b: Src = ANY } attrs { op: AddMul, sat: bool }
    }
    /// fp32 `a * b + c`, rounded once.
    Fma "fma" {
        dsts { dst: Dst = ANY } srcs { a: Src = ANY, b: Src = ANY, c: Src = ANY } attrs { sat: bool }
    }
    /// 32-bit minimum and maximum. Only `b` can be negated, in float operations.
    MinMax "minmax" {
        dsts { dst: Dst = ANY } srcs { a: Src = ANY, b: Src = ANY } attrs { op: MinMaxOp }
    }
    /// fp16 add or multiply in low halves. `b` can be negated.
    H2 "h2" {
        dsts { dst: Dst = ANY } srcs { a: Src = ANY, b: Src = ANY } attrs { op: AddMul }
    }
    /// fp16 `a * b + c` in low halves, rounded once.
    HFma "hfma" {
        dsts { dst: Dst = ANY } srcs { a: Src = ANY, b: Src = ANY, c: Src = ANY } attrs {}
    }
    /// fp16 minimum or maximum in low halves.
    HMinMax "hminmax" {
        dsts { dst: Dst = ANY } srcs { a: Src = ANY, b: Src = ANY } attrs { max: bool }
    }
    /// `dst.lo = fp16(a * b.lo)`: an fp32 and an fp16 factor, rounded once.
    HMulMix "hmul_mix" {
        dsts { dst: Dst = ANY } srcs { a: Src = ANY, b: Src = ANY } attrs {}
    }
    /// A special function or rounding.
    Sfu "sfu" {
        dsts { dst: Dst = ANY } srcs { a: Src = ANY } attrs { op: SfuOp, ty: SfuType, sat: bool }
    }
    /// `dst.lo = fp16(a)`; the high half is undefined.
    F32ToF16 "f32_to_f16" {
        dsts { dst: Dst = ANY } srcs { a: Src = ANY } attrs {}
    }
    /// `dst = old` with its high half replaced by fp16(a).
    F32ToF16High "f32_to_f16_hi" {
        dsts { dst: Dst = ANY } srcs { old: Src = TIED, a: Src = ANY } attrs {}
    }
    /// `dst = fp32(a.half)`.
    F16ToF32 "f16_to_f32" {
        dsts { dst: Dst = ANY } srcs { a: Src = ANY } attrs { high: bool }
    }
    /// `dst = fp32(a)` of a 32-bit integer.
    IntToFloat "int_to_float" {
        dsts { dst: Dst = ANY } srcs { a: Src = ANY } attrs { signed: bool }
    }
    /// `dst = int32(a)`, toward zero, saturating; NaN gives 0.
    FloatToInt "float_to_int" {
        dsts { dst: Dst = ANY } srcs { a: Src = ANY } attrs { signed: bool }
    }
    /// Bitwise logic.
    Logic "logic" {
        dsts { dst: Dst = ANY } srcs { a: Src = ANY, b: Src = ANY } attrs { op: LogicOp }
    }
    /// `dst = a + b` or `a - b`.
    IAdd "iadd" {
        dsts { dst: Dst = ANY } srcs { a: Src = ANY, b: Src = ANY } attrs { sub: bool }
    }
    /// `dst = low 32 bits of a * b + c`.
    IMad "imad" {
        dsts { dst: Dst = ANY } srcs { a: Src = ANY, b: Src = ANY, c: Src = ANY } attrs {}
    }
    /// `dst = a * b`, 64 bits.
    IMulWide "imul_wide" {
        dsts { dst: [Dst; 2] = EVEN } srcs { a: Src = ANY, b: Src = ANY } attrs { signed: bool }
    }
    /// 64-bit `dst = a + b` or `a - b`.
    IAdd64 "iadd64" {
        dsts { dst: [Dst; 2] = EVEN } srcs { a: [Src; 2] = EVEN, b: [Src; 2] = EVEN } attrs { sub: bool }
    }
    /// A shift by a constant 0..=31.
    ShiftImm "shift_imm" {
        dsts { dst: Dst = ANY } srcs { a: Src = ANY } attrs { op: ShiftOp, amount: u8 }
    }
    /// A shift by the low 16 bits of a register; 32 and more give 0 or the sign (isa-1, 4.13).
    Shift "shift" {
        dsts { dst: Dst = ANY } srcs { a: Src = ANY, b: Src = ANY } attrs { op: ShiftOp }
    }
    /// `dst = a` rotated right by 1..=31. Source and destination are one register: the only proven case (isa-4, 7.3).
    Rotate "rotr" {
        dsts { dst: Dst = ANY } srcs { a: Src = TIED } attrs { amount: u8 }
    }
    /// `dst = a & 0xffff`, in place.
    Zext16 "zext16" {
        dsts { dst: Dst = LOW } srcs { a: Src = LOW_TIED } attrs {}
    }
    /// Bit counting and reversal.
    Bits "bits" {
        dsts { dst: Dst = ANY } srcs { a: Src = ANY } attrs { op: BitOp }
    }
    /// `dst = (a cmp b) ? t : f`. `half`: fp16 comparands. Modifiers with float comparisons only.
    Select "select" {
        dsts { dst: Dst = ANY }
        srcs { a: Src = ANY, b: Src = ANY, t: Src = ANY, f: Src = ANY }
        attrs { cmp: Cmp, half: bool }
    }
    /// `dst = norm16(a) | norm16(b) << 16`.
    PackNorm16 "pack_norm16" {
        dsts { dst: Dst = ANY } srcs { a: Src = ANY, b: Src = ANY } attrs { signed: bool }
    }
    /// `dst.lo = norm8(a) | norm8(b) << 8`; the high half is undefined.
    PackNorm8 "pack_norm8" {
        dsts { dst: Dst = ANY } srcs { a: Src = ANY, b: Src = ANY } attrs { signed: bool }
    }
    /// The same into the high half of `old`.
    PackNorm8High "pack_norm8_hi" {
        dsts { dst: Dst = ANY } srcs { old: Src = TIED, a: Src = ANY, b: Src = ANY } attrs { signed: bool }
    }
    /// Two normalised components to fp32; `high`: bytes 2 and 3 in the 8-bit formats.
    UnpackNorm "unpack_norm" {
        dsts { dst: [Dst; 2] = EVEN } srcs { a: Src = ANY } attrs { norm: Norm, high: bool }
    }
    /// Device load from `base + (index << shift) + offset`; without an index from `base + offset`.
    Load "load" {
        dsts { dst: Tuple<Dst> = ANY }
        srcs { base: Base = ANY, index: Option<Src> = ANY }
        attrs { format: Format, shift: u8, offset: i16 }
    }
    /// `dst = old` with its high half replaced by 16 bits of device memory, addressed as in `load` (isa-4, 7.5).
    LoadHigh "load_hi" {
        dsts { dst: Dst = ANY }
        srcs { old: Src = TIED, base: Base = ANY, index: Option<Src> = ANY }
        attrs { shift: u8, offset: i16 }
    }
    /// Device store.
    Store "store" {
        dsts {}
        srcs { data: Tuple<Src> = ANY, base: Base = ANY, index: Src = ANY }
        attrs { format: Format, shift: u8, offset: i16 }
    }
    /// Device atomic on the word at `base + 4 * index`. Compare-exchange: data\[0\] new value, data\[1\] compared.
    Atomic "atomic" {
        dsts { dst: Option<Dst> = ANY }
        srcs { data: Tuple<Src> = DESTROYED, base: Base = DESTROYED, index: Src = DESTROYED }
        attrs { op: AtomicOp }
    }
    /// `dst = threadgroup[index]`, in words; `root` is the uniform pair of the threadgroup pointer.
    SharedLoad "shared_load" {
        dsts { dst: Dst = LOW } srcs { index: Src = LOW } attrs { root: u8 }
    }
    /// `threadgroup[index] = data`.
    SharedStore "shared_store" {
        dsts {} srcs { data: Src = LOW_DESTROYED, index: Src = LOW } attrs { root: u8 }
    }
    /// `dst = scratch[index + offset]`, in words.
    ScratchLoad "scratch_load" {
        dsts { dst: Dst = LOW } srcs { index: Src = LOW } attrs { offset: u16 }
    }
    /// `scratch[index + offset] = data`.
    ScratchStore "scratch_store" {
        dsts {} srcs { data: Src = LOW_DESTROYED, index: Src = LOW } attrs { offset: u16 }
    }
    /// `scratch[word] = src`.
    Spill "spill" {
        dsts {} srcs { src: Src = DESTROYED } attrs { word: u16 }
    }
    /// `dst = scratch[word]`.
    Fill "fill" {
        dsts { dst: Dst = ANY } srcs {} attrs { word: u16 }
    }
    /// Bit i of `dst`: lane i is active and its `src` is not 0.
    Ballot "ballot" {
        dsts { dst: Dst = LOW } srcs { src: Src = LOW_DESTROYED } attrs {}
    }
    /// `dst = src` of the lane whose number, 0..=31, is in `lane`.
    Shuffle "shuffle" {
        dsts { dst: Dst = LOW } srcs { src: Src = LOW_DESTROYED, lane: Src = LOW_DESTROYED } attrs {}
    }
    /// `dst = src` of a constant lane, or of this lane's number ^ `lane`.
    ShuffleImm "shuffle_imm" {
        dsts { dst: Dst = LOW } srcs { src: Src = LOW } attrs { xor: bool, lane: u8 }
    }
    /// Reduction over the active lanes; `scan`: over those below this one.
    Reduce "reduce" {
        dsts { dst: Dst = LOW } srcs { src: Src = LOW } attrs { op: ReduceOp, scan: bool }
    }
    /// Publication `word` becomes `src`, all bits. Publications are registers of their own, which texture bundles read.
    Publish "publish" {
        dsts {} srcs { src: Src = ANY } attrs { word: u8 }
    }
    /// A texture operation: the selected components, one after the other. Fields reach r0..r63.
    Texture "texture" {
        dsts { dst: Tuple<Dst> = LOW } srcs {} attrs { bundle: Bundle }
    }
    /// Of a direction: its largest magnitude, and the face in the low half of the second word, whose high half is undefined.
    CubeFace "cube_face" {
        dsts { dst: [Dst; 2] = ANY } srcs { x: Src = ANY, y: Src = ANY, z: Src = ANY } attrs {}
    }
    /// Half of the first or the second coordinate on that face, signed.
    CubeCoord "cube_coord" {
        dsts { dst: Dst = ANY } srcs { x: Src = ANY, y: Src = ANY, z: Src = ANY } attrs { second: bool }
    }
    /// Publication `word` becomes `src`, by the form that is proven for pairs of control word and depth.
    PublishDepth "publish_depth" {
        dsts {} srcs { src: Src = ANY } attrs { word: u8 }
    }
    /// The same as `publish` for any publication: of three numbers above 63 two may be in one instruction (isa-3, 1.3).
    Export "export" {
        dsts {} srcs { src: Src = LOW } attrs { word: u8 }
    }
    /// Word `slot` of the vertex shader's output becomes publication `word`.
    VertexOut "vertex_out" {
        dsts {} srcs {} attrs { slot: u16, word: u8 }
    }
    /// The plane of a coefficient at the pixel's centre, or at a packed position.
    Iter "iter" {
        dsts { dst: Dst = ANY } srcs { pos: Option<Src> = ANY } attrs { cf: u8 }
    }
    /// Three words of a coefficient; the last one is the value of the provoking vertex.
    IterFlat "iter_flat" {
        dsts { dst: Tuple<Dst> = ANY } srcs {} attrs { cf: u8 }
    }
    /// `dst = a * w` for a coefficient `a` of `cf`; `a` where the coefficient is constant over the primitive.
    Project "project" {
        dsts { dst: Dst = LOW } srcs { a: Src = LOW, w: Src = LOW } attrs { cf: u8 }
    }
    /// A packed position: of the centroid of the coverage word in `src`, or of the sample of that number.
    InterpPos "interp_pos" {
        dsts { dst: Dst = ANY } srcs { src: Src = EVEN } attrs { sample: bool }
    }
    /// Difference in the quad to the right or down.
    Derivative "derivative" {
        dsts { dst: Dst = ANY } srcs { src: Src = ANY } attrs { down: bool }
    }
    /// Opens a tile transaction (isa-3, 4.5).
    TileAccess "tile_access" {
        dsts {} srcs {} attrs { what: u16 }
    }
    /// Closes one.
    TileFence "tile_fence" {
        dsts {} srcs {} attrs { what: u16 }
    }
    /// Word of the record of a sample: of that in the mask of one bit in the low half of `mask`, else of those in `samples`.
    TileLoad "tile_load" {
        dsts { dst: Dst = ANY } srcs { mask: Option<Src> = ANY } attrs { word: u8, samples: u8 }
    }
    /// Word of the records of all samples in `mask`; of sample 0 without.
    TileStore "tile_store" {
        dsts {} srcs { src: Src = ANY, mask: Option<Src> = ANY } attrs { word: u8 }
    }
    /// Coverage by the control word in a publication.
    Coverage "coverage" {
        dsts {} srcs {} attrs { word: u8 }
    }
    /// Coverage and depth by the control word in a publication and the depth in the next.
    DepthStore "depth_store" {
        dsts {} srcs {} attrs { word: u8 }
    }
    /// A block of the tile to an image (isa-3, 3.3).
    BlockStore "block_store" {
        dsts {} srcs {} attrs { block: TileBlock }
    }
    /// A barrier or fence.
    Barrier "barrier" {
        dsts {} srcs {} attrs { op: BarrierOp }
    }
    /// Exchanges two registers; made by register allocation only.
    Swap "swap" {
        dsts { x: Dst = ANY, y: Dst = ANY } srcs { a: Src = ANY, b: Src = ANY } attrs {}
    }
}

impl Instr {
    /// Defines the low half of its result only and leaves the high one (isa-1, 1.2, 4.4 to 4.7; isa-2, 2.2).
    #[must_use]
    pub const fn writes_low_half(&self) -> bool {
        match self {
            Instr::H2(_)
            | Instr::HFma(_)
            | Instr::HMinMax(_)
            | Instr::HMulMix(_)
            | Instr::F32ToF16(_)
            | Instr::PackNorm8(_) => true,
            Instr::Sfu(op) => matches!(op.ty, SfuType::F16),
            Instr::Load(op) => matches!(op.format, Format::I8 | Format::I16),
            _ => false,
        }
    }

    /// Must stay although nobody reads a result: it writes memory or orders accesses.
    #[must_use]
    pub const fn has_effects(&self) -> bool {
        matches!(
            self,
            Instr::Store(_)
                | Instr::Atomic(_)
                | Instr::SharedStore(_)
                | Instr::ScratchStore(_)
                | Instr::Spill(_)
                | Instr::Publish(_)
                | Instr::PublishDepth(_)
                | Instr::Export(_)
                | Instr::VertexOut(_)
                | Instr::TileAccess(_)
                | Instr::TileFence(_)
                | Instr::TileStore(_)
                | Instr::Coverage(_)
                | Instr::DepthStore(_)
                | Instr::BlockStore(_)
                | Instr::Barrier(_)
        )
    }

    /// The result depends on which lanes are active, so it must not move across control flow.
    #[must_use]
    pub const fn is_subgroup(&self) -> bool {
        matches!(
            self,
            Instr::Ballot(_)
                | Instr::Shuffle(_)
                | Instr::ShuffleImm(_)
                | Instr::Reduce(_)
                | Instr::Derivative(_)
        )
    }

    /// Cheaper to make again than to keep or to spill: no operands but uniforms.
    #[must_use]
    pub fn is_rematerializable(&self) -> bool {
        match self {
            Instr::Imm(_) => true,
            // The coverage changes when samples are killed.
            Instr::SysReg(op) => op.number != COVERAGE_REGISTER,
            Instr::Mov(op) => matches!(op.src.from, Ref::Uniform(_)),
            _ => false,
        }
    }

    /// Every destination value, in order.
    pub fn for_each_dst_value(&self, mut f: impl FnMut(Value)) {
        for dst in &self.flat_dsts() {
            if let Dst::Value(value) = dst {
                f(*value);
            }
        }
    }

    /// Every source value, in order.
    pub fn for_each_src_value(&self, mut f: impl FnMut(Value)) {
        for src in &self.flat_srcs() {
            if let Ref::Value(value) = src.from {
                f(value);
            }
        }
    }
}

impl fmt::Display for Instr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        let group = |text: &mut String, members: &[String]| match members {
            [] => {}
            [one] => {
                text.push_str(if text.is_empty() { "" } else { ", " });
                text.push_str(one);
            }
            many => {
                text.push_str(if text.is_empty() { "" } else { ", " });
                text.push_str(&format!("[{}]", many.join(" ")));
            }
        };
        self.for_each_dst(|g, _| {
            group(&mut text, &g.iter().map(Dst::to_string).collect::<Vec<_>>());
        });
        if !text.is_empty() {
            write!(f, "{text} = ")?;
        }
        f.write_str(self.name())?;
        text.clear();
        if let Instr::Load(Load {
            base: Base::Pair(p),
            ..
        })
        | Instr::LoadHigh(LoadHigh {
            base: Base::Pair(p),
            ..
        })
        | Instr::Store(Store {
            base: Base::Pair(p),
            ..
        })
        | Instr::Atomic(Atomic {
            base: Base::Pair(p),
            ..
        }) = self
        {
            text = format!("u{}:u{}", 2 * u16::from(*p), 2 * u16::from(*p) + 1);
        }
        self.for_each_src(|g, _| {
            group(&mut text, &g.iter().map(Src::to_string).collect::<Vec<_>>());
        });
        if !text.is_empty() {
            write!(f, " {text}")?;
        }
        self.fmt_attrs(f)
    }
}
