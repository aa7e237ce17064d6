// SPDX-License-Identifier: MIT
//! Trees as text, for people.

use super::tree::{Block, Expr, Function, Op, Program, Scalar, Stmt, Type, Value};
use std::fmt::{self, Display, Formatter};

impl Display for Type {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let name = format!("{:?}", self.scalar).to_lowercase();
        match self.size {
            1 => f.write_str(&name),
            n => write!(f, "{name}x{n}"),
        }
    }
}

fn scalar(scalar: Scalar, bits: u64) -> String {
    match scalar {
        Scalar::Bool => (bits != 0).to_string(),
        Scalar::F32 => format!("{:?}f", f32::from_bits(bits as u32)),
        Scalar::F16 => format!("f16:{bits:#06x}"),
        s if s.is_signed() => {
            let shift = 64 - s.bits();
            format!("{}{s:?}", (bits << shift) as i64 >> shift).to_lowercase()
        }
        s if bits > 0xffff => format!("{bits:#x}{s:?}").to_lowercase(),
        s => format!("{bits}{s:?}").to_lowercase(),
    }
}

fn constant(ty: Type, value: Value) -> String {
    let parts: Vec<String> = value[..ty.size.into()]
        .iter()
        .map(|&v| scalar(ty.scalar, v))
        .collect();
    if ty.size == 1 {
        parts[0].clone()
    } else {
        format!("({})", parts.join(", "))
    }
}

impl Display for Expr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let args: Vec<String> = self.args.iter().map(ToString::to_string).collect();
        let all = args.join(", ");
        let ty = self.ty;
        match self.op {
            Op::Const(value) => f.write_str(&constant(ty, value)),
            Op::Var(var) => write!(f, "v{var}"),
            Op::Builtin(b) => write!(f, "{b:?}"),
            Op::Input => write!(f, "input[{all}]"),
            Op::Uniform => write!(f, "uniform[{all}]"),
            Op::Push(n) => write!(f, "push[{n}]"),
            Op::Spec(n) => write!(f, "spec{n}"),
            Op::Own => write!(f, "own[{all}]"),
            Op::Element(array) => write!(f, "a{array}[{all}]"),
            Op::SharedAny(shared) => write!(f, "s{shared}.any[{all}]"),
            Op::SharedOwn(shared) => write!(f, "s{shared}.own[{all}]"),
            Op::Unary(op) => write!(f, "{op:?}<{ty}>({all})"),
            Op::Binary(op) => write!(f, "{op:?}<{ty}>({all})"),
            Op::Compare(op) => write!(f, "{op:?}<{}>({all})", self.args[0].ty),
            Op::Convert | Op::Bitcast => {
                write!(f, "{:?}<{} to {ty}>({all})", self.op, self.args[0].ty)
            }
            Op::Extract(c) => write!(f, "{all}.{}", ["x", "y", "z", "w"][usize::from(c)]),
            Op::ExtractDynamic => write!(f, "{}[{}]", args[0], args[1]),
            Op::Shuffle(c) => write!(f, "Shuffle{:?}({all})", &c[..ty.size.into()]),
            _ => write!(f, "{:?}<{ty}>({all})", self.op),
        }
    }
}

fn block(f: &mut Formatter<'_>, block: &Block, indent: usize) -> fmt::Result {
    block.iter().try_for_each(|s| stmt(f, s, indent))
}

fn stmt(f: &mut Formatter<'_>, s: &Stmt, indent: usize) -> fmt::Result {
    let pad = "    ".repeat(indent);
    f.write_str(&pad)?;
    match s {
        Stmt::Assign(var, e) => writeln!(f, "v{var} = {e}"),
        Stmt::AssignComponent(var, index, e) => writeln!(f, "v{var}[{index}] = {e}"),
        Stmt::AssignElement(array, index, e) => writeln!(f, "a{array}[{index}] = {e}"),
        Stmt::SharedStore(shared, index, e) => writeln!(f, "s{shared}.own[{index}] = {e}"),
        Stmt::OwnStore(index, e) => writeln!(f, "own[{index}] = {e}"),
        Stmt::Output(word, e) => writeln!(f, "output[{word}] = {e}"),
        Stmt::Atomic(op, index, e) => writeln!(f, "atomic {op:?}[{index}] {e}"),
        Stmt::SharedAtomic(op, shared, index, e) => {
            writeln!(f, "atomic {op:?} s{shared}.any[{index}] {e}")
        }
        Stmt::If(condition, then, otherwise) => {
            writeln!(f, "if {condition} {{")?;
            block(f, then, indent + 1)?;
            if !otherwise.is_empty() {
                writeln!(f, "{pad}}} else {{")?;
                block(f, otherwise, indent + 1)?;
            }
            writeln!(f, "{pad}}}")
        }
        Stmt::Switch(selector, cases, default) => {
            writeln!(f, "switch {selector} {{")?;
            for (literals, case) in cases {
                writeln!(
                    f,
                    "{pad}case {:?}:",
                    literals.iter().map(|&l| l as i32).collect::<Vec<_>>()
                )?;
                block(f, case, indent + 1)?;
            }
            writeln!(f, "{pad}default:")?;
            block(f, default, indent + 1)?;
            writeln!(f, "{pad}}}")
        }
        Stmt::For {
            counter,
            bound,
            limit,
            body,
        } => {
            writeln!(
                f,
                "for v{counter} = 0; v{counter} < min({bound}, {limit}) {{"
            )?;
            block(f, body, indent + 1)?;
            writeln!(f, "{pad}}}")
        }
        Stmt::While {
            counter,
            condition,
            limit,
            body,
        } => {
            writeln!(
                f,
                "for v{counter} = 0; v{counter} < {limit} and {condition} {{"
            )?;
            block(f, body, indent + 1)?;
            writeln!(f, "{pad}}}")
        }
        Stmt::DoWhile {
            counter,
            condition,
            limit,
            body,
        } => {
            writeln!(f, "do v{counter} = 0; {{")?;
            block(f, body, indent + 1)?;
            writeln!(f, "{pad}}} while v{counter} < {limit} and {condition}")
        }
        Stmt::Break => writeln!(f, "break"),
        Stmt::Continue => writeln!(f, "continue"),
        Stmt::Return => writeln!(f, "return"),
        Stmt::Barrier => writeln!(f, "barrier"),
        Stmt::Call {
            function,
            args,
            outs,
            result,
        } => {
            let args: Vec<String> = args
                .iter()
                .map(ToString::to_string)
                .chain(outs.iter().map(|o| format!("out v{o}")))
                .collect();
            writeln!(f, "v{result} = f{function}({})", args.join(", "))
        }
        Stmt::Subgroup { result, op, args } => {
            let args: Vec<String> = args.iter().map(ToString::to_string).collect();
            writeln!(f, "v{result} = subgroup {op:?}({})", args.join(", "))
        }
    }
}

fn function(f: &mut Formatter<'_>, function: &Function) -> fmt::Result {
    for (n, var) in function.vars.iter().enumerate() {
        if n < function.params {
            writeln!(f, "    param v{n}: {}", var.ty)?;
        } else {
            let out = if function.outs.contains(&n) {
                "out"
            } else {
                "var"
            };
            writeln!(
                f,
                "    {out} v{n}: {} = {}",
                var.ty,
                constant(var.ty, var.init)
            )?;
        }
    }
    for (n, array) in function.arrays.iter().enumerate() {
        let (ty, init) = (array.element.ty, array.element.init);
        writeln!(
            f,
            "    var a{n}: [{ty}; {}] = all {}",
            array.length,
            constant(ty, init)
        )?;
    }
    block(f, &function.body, 1)?;
    match &function.result {
        Some(e) => writeln!(f, "    return {e}"),
        None => Ok(()),
    }
}

impl Display for Program {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "seed {}, local size {:?}, workgroups {:?}, push {:x?}, spec {:x?}",
            self.seed, self.local_size, self.groups, self.push, self.spec
        )?;
        for (n, array) in self.shared.iter().enumerate() {
            writeln!(
                f,
                "shared s{n}: [{}; {}], {} each",
                array.ty,
                self.shared_length(n),
                array.slots
            )?;
        }
        for (n, fun) in self.functions.iter().enumerate() {
            if n + 1 == self.functions.len() {
                writeln!(f, "main {{")?;
            } else {
                writeln!(f, "f{n} {{")?;
            }
            function(f, fun)?;
            writeln!(f, "}}")?;
        }
        Ok(())
    }
}
