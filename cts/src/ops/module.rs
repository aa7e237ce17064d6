// SPDX-License-Identifier: MIT
//! Text of a SPIR-V compute module that reads operands from storage buffers, one element for each
//! invocation, and writes results to others.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;

use super::types::{Scalar, Ty};

/// Invocations of a workgroup.
pub(crate) const GROUP: u32 = 64;

/// Which float controls a module asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Controls {
    /// None: denormals may be flushed, infinities, NaN and the sign of zeros do not count.
    None,
    /// Signed zeros, infinities and NaN count.
    Preserve,
    /// All that the hardware has: also rounding to nearest even, half denormals preserved, single
    /// denormals flushed.
    All,
}

impl Controls {
    /// The execution modes for floats of this size; each is the name of a capability, too.
    fn modes(self, bits: u32) -> &'static [&'static str] {
        match (self, bits) {
            (Controls::None, _) => &[],
            (Controls::Preserve, _) => &["SignedZeroInfNanPreserve"],
            (Controls::All, 16) => &[
                "SignedZeroInfNanPreserve",
                "RoundingModeRTE",
                "DenormPreserve",
            ],
            (Controls::All, _) => &[
                "SignedZeroInfNanPreserve",
                "RoundingModeRTE",
                "DenormFlushToZero",
            ],
        }
    }
}

/// A name in the text.
pub(crate) type Id = String;

/// A module in the making.
#[derive(Debug, Default)]
pub(crate) struct Module {
    capabilities: BTreeSet<&'static str>,
    float_sizes: BTreeSet<u32>,
    annotations: String,
    declarations: String,
    /// Types and constants that are there, by their definition.
    declared: HashMap<String, Id>,
    body: String,
    interface: Vec<Id>,
    last: u32,
}

impl Module {
    fn id(&mut self) -> Id {
        self.last += 1;
        format!("%{}", self.last)
    }

    pub(crate) fn capability(&mut self, name: &'static str) {
        self.capabilities.insert(name);
    }

    /// The type or constant with this definition.
    pub(crate) fn declare(&mut self, definition: &str) -> Id {
        if let Some(id) = self.declared.get(definition) {
            return id.clone();
        }
        let id = self.declare_another(definition);
        self.declared.insert(definition.to_owned(), id.clone());
        id
    }

    /// A declaration that is not shared.
    pub(crate) fn declare_another(&mut self, definition: &str) -> Id {
        let id = self.id();
        let _ = writeln!(self.declarations, "{id} = {definition}");
        id
    }

    pub(crate) fn annotate(&mut self, line: &str) {
        let _ = writeln!(self.annotations, "{line}");
    }

    pub(crate) fn ty(&mut self, ty: impl Into<Ty>) -> Id {
        let ty = ty.into();
        if ty.width > 1 {
            let scalar = self.ty(ty.scalar);
            return self.declare(&format!("OpTypeVector {scalar} {}", ty.width));
        }
        match ty.scalar {
            Scalar::I8 | Scalar::U8 => self.capability("Int8"),
            Scalar::I16 | Scalar::U16 => self.capability("Int16"),
            Scalar::I64 | Scalar::U64 => self.capability("Int64"),
            Scalar::F16 => self.capability("Float16"),
            Scalar::Bool | Scalar::I32 | Scalar::U32 | Scalar::F32 => {}
        }
        let bits = ty.scalar.bits();
        if ty.scalar == Scalar::Bool {
            self.declare("OpTypeBool")
        } else if ty.scalar.is_float() {
            self.float_sizes.insert(bits);
            self.declare(&format!("OpTypeFloat {bits}"))
        } else {
            self.declare(&format!(
                "OpTypeInt {bits} {}",
                u32::from(ty.scalar.is_signed())
            ))
        }
    }

    /// A matrix type; the module has one for each column type and number of columns.
    pub(crate) fn matrix(&mut self, column: Ty, columns: u32) -> Id {
        let column = self.ty(column);
        self.declare(&format!("OpTypeMatrix {column} {columns}"))
    }

    pub(crate) fn structure(&mut self, members: &[Ty]) -> Id {
        let members: Vec<_> = members.iter().map(|ty| self.ty(*ty)).collect();
        self.declare(&format!("OpTypeStruct {}", members.join(" ")))
    }

    /// The operands of OpConstant for a value.
    pub(crate) fn literal(scalar: Scalar, bits: u64) -> String {
        // Narrow signed integers are sign-extended to a word.
        let word = match scalar {
            Scalar::I8 | Scalar::I16 => scalar.integer(bits) as u32,
            _ => bits as u32,
        };
        match scalar.bits() {
            64 => format!("!0x{word:x} !0x{:x}", bits >> 32),
            _ => format!("!0x{word:x}"),
        }
    }

    pub(crate) fn constant(&mut self, scalar: Scalar, bits: u64) -> Id {
        let ty = self.ty(scalar);
        match scalar {
            Scalar::Bool if bits != 0 => self.declare(&format!("OpConstantTrue {ty}")),
            Scalar::Bool => self.declare(&format!("OpConstantFalse {ty}")),
            _ => self.declare(&format!(
                "OpConstant {ty} {}",
                Module::literal(scalar, bits)
            )),
        }
    }

    /// A scalar, or a vector with all components the same.
    pub(crate) fn splat(&mut self, ty: Ty, bits: u64) -> Id {
        let one = self.constant(ty.scalar, bits);
        if ty.width == 1 {
            return one;
        }
        let all = vec![one; ty.width as usize].join(" ");
        let ty = self.ty(ty);
        self.declare(&format!("OpConstantComposite {ty} {all}"))
    }

    /// An instruction of the body with a result; `rest` is what follows the result type.
    pub(crate) fn raw(&mut self, op: &str, ty: &str, rest: &str) -> Id {
        let id = self.id();
        let _ = writeln!(self.body, "{id} = {op} {ty} {rest}");
        id
    }

    /// An instruction of the body.
    pub(crate) fn op(&mut self, op: &str, ty: impl Into<Ty>, operands: &[Id]) -> Id {
        let ty = self.ty(ty);
        self.raw(op, &ty, &operands.join(" "))
    }

    /// An instruction of GLSL.std.450.
    pub(crate) fn ext(&mut self, op: &str, ty: impl Into<Ty>, operands: &[Id]) -> Id {
        let ty = self.ty(ty);
        self.raw(
            "OpExtInst",
            &ty,
            &format!("%glsl {op} {}", operands.join(" ")),
        )
    }

    /// A line of the body.
    pub(crate) fn line(&mut self, line: &str) {
        let _ = writeln!(self.body, "{line}");
    }

    pub(crate) fn extract(&mut self, ty: impl Into<Ty>, from: &str, index: u32) -> Id {
        let ty = self.ty(ty);
        self.raw("OpCompositeExtract", &ty, &format!("{from} {index}"))
    }

    /// Components of a vector, as a vector or scalar.
    pub(crate) fn components(&mut self, scalar: Scalar, from: &str, list: &[u32]) -> Id {
        if let [one] = list {
            return self.extract(scalar, from, *one);
        }
        let ty = self.ty(Ty::new(scalar, list.len() as u32));
        let list: Vec<_> = list.iter().map(u32::to_string).collect();
        self.raw(
            "OpVectorShuffle",
            &ty,
            &format!("{from} {from} {}", list.join(" ")),
        )
    }

    /// A private variable, for operations that write through a pointer.
    pub(crate) fn variable(&mut self, ty: Ty) -> Id {
        let ty = self.ty(ty);
        let pointer = self.declare(&format!("OpTypePointer Private {ty}"));
        self.private(&pointer)
    }

    /// A private variable of a pointer type.
    pub(crate) fn private(&mut self, pointer: &str) -> Id {
        let id = self.declare_another(&format!("OpVariable {pointer} Private"));
        self.interface.push(id.clone());
        id
    }

    /// A buffer of these, one for each invocation; the result points to this invocation's.
    pub(crate) fn buffer(&mut self, binding: u32, ty: Ty, writes: bool) -> Id {
        match ty.scalar.bits() {
            8 => self.capability("StorageBuffer8BitAccess"),
            16 => self.capability("StorageBuffer16BitAccess"),
            _ => {}
        }
        let stored = stored(ty);
        let element = self.ty(stored);
        let stride = stored.width as usize * stored.scalar.bytes();
        let array = self.declare_another(&format!("OpTypeRuntimeArray {element}"));
        let block = self.declare_another(&format!("OpTypeStruct {array}"));
        let pointer = self.declare(&format!("OpTypePointer StorageBuffer {block}"));
        let variable = self.declare_another(&format!("OpVariable {pointer} StorageBuffer"));
        self.annotate(&format!("OpDecorate {array} ArrayStride {stride}"));
        self.annotate(&format!("OpDecorate {block} Block"));
        self.annotate(&format!("OpMemberDecorate {block} 0 Offset 0"));
        if !writes {
            self.annotate(&format!("OpMemberDecorate {block} 0 NonWritable"));
        }
        self.annotate(&format!("OpDecorate {variable} DescriptorSet 0"));
        self.annotate(&format!("OpDecorate {variable} Binding {binding}"));
        self.interface.push(variable.clone());
        let zero = self.constant(Scalar::U32, 0);
        let to_element = self.declare(&format!("OpTypePointer StorageBuffer {element}"));
        self.raw(
            "OpAccessChain",
            &to_element,
            &format!("{variable} {zero} %index"),
        )
    }

    /// Reads this invocation's element of a buffer.
    pub(crate) fn load(&mut self, binding: u32, ty: Ty) -> Id {
        let pointer = self.buffer(binding, ty, false);
        let stored = stored(ty);
        let mut value = self.op("OpLoad", stored, &[pointer]);
        if ty.scalar == Scalar::Bool {
            let zero = self.splat(stored, 0);
            let bool_ty = Ty::new(Scalar::Bool, stored.width);
            value = self.op("OpINotEqual", bool_ty, &[value, zero]);
        }
        if ty.width == 3 {
            value = self.components(ty.scalar, &value, &[0, 1, 2]);
        }
        value
    }

    /// Writes this invocation's element of a buffer.
    pub(crate) fn store(&mut self, binding: u32, ty: Ty, value: Id) {
        let stored = stored(ty);
        let mut value = value;
        if ty.scalar == Scalar::Bool {
            let ty = Ty::new(stored.scalar, ty.width);
            let (one, zero) = (self.splat(ty, 1), self.splat(ty, 0));
            value = self.op("OpSelect", ty, &[value, one, zero]);
        }
        if ty.width == 3 {
            let zero = self.constant(stored.scalar, 0);
            value = self.op("OpCompositeConstruct", stored, &[value, zero]);
        }
        let pointer = self.buffer(binding, ty, true);
        self.line(&format!("OpStore {pointer} {value}"));
    }

    /// The text, with the execution modes of the float controls.
    pub(crate) fn finish(mut self, controls: Controls) -> String {
        let uint = self.ty(Scalar::U32);
        let vector = self.ty(Ty::new(Scalar::U32, 3));
        let pointer = self.declare(&format!("OpTypePointer Input {vector}"));
        let void = self.declare("OpTypeVoid");
        let function = self.declare(&format!("OpTypeFunction {void}"));
        let mut modes = Vec::new();
        for bits in self.float_sizes.clone() {
            for mode in controls.modes(bits) {
                self.capability(mode);
                modes.push((*mode, bits));
            }
        }
        let mut text = String::from("OpCapability Shader\n");
        for name in &self.capabilities {
            let _ = writeln!(text, "OpCapability {name}");
        }
        let _ = write!(
            text,
            "%glsl = OpExtInstImport \"GLSL.std.450\"\n\
             OpMemoryModel Logical GLSL450\n\
             OpEntryPoint GLCompute %main \"main\" %invocation {}\n\
             OpExecutionMode %main LocalSize {GROUP} 1 1\n",
            self.interface.join(" ")
        );
        for (mode, bits) in modes {
            let _ = writeln!(text, "OpExecutionMode %main {mode} {bits}");
        }
        let _ = write!(
            text,
            "OpDecorate %invocation BuiltIn GlobalInvocationId\n\
             {}{}%invocation = OpVariable {pointer} Input\n\
             %main = OpFunction {void} None {function}\n\
             %entry = OpLabel\n\
             %id = OpLoad {vector} %invocation\n\
             %index = OpCompositeExtract {uint} %id 0\n\
             {}OpReturn\nOpFunctionEnd\n",
            self.annotations, self.declarations, self.body
        );
        text
    }
}

/// The type in a buffer.
fn stored(ty: Ty) -> Ty {
    let scalar = if ty.scalar == Scalar::Bool {
        Scalar::U32
    } else {
        ty.scalar
    };
    Ty::new(scalar, ty.stored_width() as u32)
}
