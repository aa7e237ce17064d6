// SPDX-License-Identifier: MIT
//! Reading NIR values and appending instructions.

use mesa_nir::program::{Alu, AluOp, AluSrc, Def, DefId, Instr as NirInstr};

use super::{Definition, Selector, words_of};
use crate::error::Error;
use crate::ir::{
    AddMul, Base, Cmp, Cond, F2, IAdd, Instr, Logic, LogicOp, Ref, Select, ShiftImm, ShiftOp, Src,
    Value,
};

impl<'p> Selector<'p> {
    pub(super) fn define(&mut self, def: &Def, words: impl AsRef<[Src]>) {
        if let Some(slot) = self.defs.get_mut(def.id.0 as usize) {
            let words = words.as_ref();
            *slot = Definition {
                first: self.words.len() as u32,
                words: words.len() as u16,
                bits: def.bits,
            };
            self.words.extend_from_slice(words);
        }
    }

    fn definition(&self, def: DefId) -> Definition {
        self.defs.get(def.0 as usize).copied().unwrap_or_default()
    }

    /// The components of a definition, low words first.
    pub(super) fn words(&self, def: DefId) -> &[Src] {
        let Definition { first, words, .. } = self.definition(def);
        &self.words[first as usize..][..words.into()]
    }

    pub(super) fn constant(&mut self, def: &Def, values: &[u64]) {
        if let ([value], 1..=32) = (values, def.bits) {
            return self.define(def, [Src::imm(*value as u32)]);
        }
        let words = values.iter().flat_map(|&value| {
            let low = Src::imm(value as u32);
            let high = (def.bits == 64).then(|| Src::imm((value >> 32) as u32));
            std::iter::once(low).chain(high)
        });
        self.define(def, words.collect::<Vec<_>>());
    }

    /// Word `index` of a definition.
    pub(super) fn word(&self, def: DefId, index: usize) -> Result<Src, Error> {
        self.word_of_definition(self.definition(def), index)
            .ok_or_else(|| missing_word(def, index))
    }

    fn word_of_definition(&self, def: Definition, index: usize) -> Option<Src> {
        let there = index < def.words.into();
        self.words
            .get(def.first as usize + index)
            .copied()
            .filter(|_| there)
    }

    pub(super) fn bits(&self, def: DefId) -> u8 {
        self.definition(def).bits
    }

    pub(super) fn producer(&self, def: DefId) -> Option<&'p NirInstr> {
        self.producers.get(def.0 as usize).copied().flatten()
    }

    /// The scalar arithmetic that makes component `component` of a definition, seen through moves.
    pub(super) fn producing_alu(&self, mut def: DefId, mut component: u8) -> Option<&'p Alu> {
        loop {
            let NirInstr::Alu(alu) = self.producer(def)? else {
                return None;
            };
            match alu.op {
                AluOp::mov => {
                    let src = alu.srcs.first()?;
                    component = *src.swizzle.get(usize::from(component))?;
                    def = src.def;
                }
                AluOp::vec2 | AluOp::vec3 | AluOp::vec4 => {
                    let src = alu.srcs.get(usize::from(component))?;
                    component = *src.swizzle.first()?;
                    def = src.def;
                }
                _ => return (alu.def.components == 1).then_some(alu),
            }
        }
    }

    /// The arithmetic behind an operand's lane 0.
    pub(super) fn source_alu(&self, src: &AluSrc) -> Option<&'p Alu> {
        self.producing_alu(src.def, *src.swizzle.first()?)
    }

    /// An operand's lane, narrower than 64 bits.
    pub(super) fn lane(&self, src: &AluSrc, lane: usize) -> Result<Src, Error> {
        let component = src.swizzle.get(lane).copied().unwrap_or(0);
        let def = self.definition(src.def);
        let index = usize::from(component) * words_of(def.bits);
        self.word_of_definition(def, index)
            .ok_or_else(|| missing_word(src.def, index))
    }

    /// Operand `index`, lane 0.
    pub(super) fn src(&self, alu: &Alu, index: usize) -> Result<Src, Error> {
        match alu.srcs.get(index) {
            Some(src) => self.lane(src, 0),
            None => Err(Error::Internal {
                pass: "selection",
                what: format!("{:?} lacks operand {index}", alu.op),
            }),
        }
    }

    /// Both words of a 64-bit operand.
    pub(super) fn pair(&self, alu: &Alu, index: usize) -> Result<[Src; 2], Error> {
        let src = &alu.srcs[index];
        let first = 2 * usize::from(src.swizzle.first().copied().unwrap_or(0));
        Ok([self.word(src.def, first)?, self.word(src.def, first + 1)?])
    }

    /// An fp32 operand: negations and absolute values become modifiers.
    pub(super) fn float(&self, alu: &Alu, index: usize) -> Result<Src, Error> {
        let src = &alu.srcs[index];
        self.float_lane(src)
    }

    fn float_lane(&self, src: &AluSrc) -> Result<Src, Error> {
        let Some(inner) = self.source_alu(src) else {
            return self.lane(src, 0);
        };
        if inner.def.bits != 32 {
            return self.lane(src, 0);
        }
        Ok(match inner.op {
            AluOp::fneg => self.float(inner, 0)?.negated(),
            AluOp::fabs => self.float(inner, 0)?.absolute(),
            _ => return self.lane(src, 0),
        })
    }

    pub(super) fn emit(&mut self, instr: impl Into<Instr>) {
        self.current.instrs.push(instr.into());
    }

    /// Emits an instruction with one result.
    pub(super) fn make<I: Into<Instr>>(&mut self, build: impl FnOnce(Value) -> I) -> Src {
        let value = self.function.value();
        self.emit(build(value));
        value.into()
    }

    /// Defines a 1-word result by one instruction.
    pub(super) fn result<I: Into<Instr>>(&mut self, def: &Def, build: impl FnOnce(Value) -> I) {
        let src = self.make(build);
        self.define(def, [src]);
    }

    pub(super) fn logic(&mut self, op: LogicOp, a: Src, b: Src) -> Src {
        // Constants go second.
        let swap = a.as_imm().is_some() && !matches!(op, LogicOp::AndNot | LogicOp::OrNot);
        let (a, b) = if swap { (b, a) } else { (a, b) };
        self.make(|dst| Logic {
            dst: dst.into(),
            a,
            b,
            op,
        })
    }

    pub(super) fn shift_imm(&mut self, op: ShiftOp, a: Src, amount: u8) -> Src {
        if amount == 0 {
            return a;
        }
        self.make(|dst| ShiftImm {
            dst: dst.into(),
            a,
            op,
            amount,
        })
    }

    pub(super) fn iadd(&mut self, a: Src, b: Src) -> Src {
        match (a.as_imm(), b.as_imm()) {
            (Some(x), Some(y)) => return Src::imm(x.wrapping_add(y)),
            (Some(0), _) => return b,
            (_, Some(0)) => return a,
            _ => {}
        }
        self.make(|dst| IAdd {
            dst: dst.into(),
            a,
            b,
            sub: false,
        })
    }

    pub(super) fn f2(&mut self, op: AddMul, a: Src, b: Src, sat: bool) -> Src {
        self.make(|dst| F2 {
            dst: dst.into(),
            a,
            b,
            op,
            sat,
        })
    }

    /// `cond ? t : f`
    pub(super) fn select(&mut self, cond: Cond, t: Src, f: Src) -> Src {
        let (t, f) = if cond.invert { (f, t) } else { (t, f) };
        self.make(|dst| Select {
            dst: dst.into(),
            a: cond.a,
            b: cond.b,
            t,
            f,
            cmp: cond.cmp,
            half: cond.half,
        })
    }

    /// A Boolean as a condition: the comparison that makes it, or the value itself. `modifiers`: the user can take
    /// sign modifiers on fp32 operands, as selects do and predicates do not.
    pub(super) fn condition(
        &mut self,
        def: DefId,
        component: u8,
        modifiers: bool,
    ) -> Result<Cond, Error> {
        if let Some(alu) = self.producing_alu(def, component) {
            if alu.op == AluOp::inot {
                let src = &alu.srcs[0];
                let inner = src.swizzle.first().copied().unwrap_or(0);
                let mut cond = self.condition(src.def, inner, modifiers)?;
                cond.invert = !cond.invert;
                return Ok(cond);
            }
            if let Some(cond) = self.comparison(alu, modifiers)? {
                return Ok(cond);
            }
        }
        let value = self.word(def, usize::from(component))?;
        // Booleans are 0 or 1: true unless below 1.
        Ok(Cond {
            cmp: Cmp::ULt,
            half: false,
            a: value,
            b: Src::imm(1),
            invert: true,
        })
    }

    /// The condition that a comparison makes; `None` for other operations.
    pub(super) fn comparison(&self, alu: &Alu, modifiers: bool) -> Result<Option<Cond>, Error> {
        match comparison_of(alu.op) {
            Some((cmp, invert)) => self.compare(alu, cmp, invert, modifiers).map(Some),
            None => Ok(None),
        }
    }

    fn compare(
        &self,
        alu: &Alu,
        mut cmp: Cmp,
        invert: bool,
        modifiers: bool,
    ) -> Result<Cond, Error> {
        let bits = self.bits(alu.srcs[0].def);
        let half = cmp.is_float() && bits == 16;
        let fits = if cmp.is_float() {
            matches!(bits, 16 | 32)
        } else {
            matches!(bits, 1 | 32)
        };
        if !fits {
            return Err(Error::unsupported(format!("{:?} of {bits} bits", alu.op)));
        }
        let (mut a, mut b) = if cmp.is_float() && !half && modifiers {
            (self.float(alu, 0)?, self.float(alu, 1)?)
        } else {
            (self.src(alu, 0)?, self.src(alu, 1)?)
        };
        // Constants go second, where more forms hold them.
        if a.as_imm().is_some() && b.as_imm().is_none() {
            (a, b, cmp) = (b, a, cmp.swapped());
        }
        // The left comparand cannot be negated: -a < b is -b < a, and a comparison of two negated ones is mirrored.
        if a.neg {
            (a, b, cmp) = (a.negated(), b.negated(), cmp.swapped());
        }
        Ok(Cond {
            cmp,
            half,
            a,
            b,
            invert,
        })
    }

    /// A 64-bit address as the base of an access.
    pub(super) fn base(&mut self, words: [Src; 2]) -> Base {
        if let (Ref::Uniform(low), Ref::Uniform(high)) = (words[0].from, words[1].from)
            && low % 2 == 0
            && high == low + 1
        {
            return Base::Pair(low / 2);
        }
        Base::Regs(words)
    }
}

/// The hardware's comparison for one of NIR's, and whether its result is inverted.
pub(super) const fn comparison_of(op: AluOp) -> Option<(Cmp, bool)> {
    Some(match op {
        AluOp::flt => (Cmp::FLt, false),
        AluOp::fge => (Cmp::FGe, false),
        AluOp::feq => (Cmp::FEq, false),
        AluOp::fneu => (Cmp::FEq, true),
        AluOp::ilt => (Cmp::ILt, false),
        AluOp::ige => (Cmp::ILt, true),
        AluOp::ult => (Cmp::ULt, false),
        AluOp::uge => (Cmp::ULt, true),
        AluOp::ieq => (Cmp::IEq, false),
        AluOp::ine => (Cmp::IEq, true),
        _ => return None,
    })
}

#[cold]
fn missing_word(def: DefId, index: usize) -> Error {
    Error::Internal {
        pass: "selection",
        what: format!("word {index} of NIR value {} is not there", def.0),
    }
}
