// SPDX-License-Identifier: MIT
//! Instructions with their constant fields set, worked out at compile time.
//!
//! An encoder knows the operation and most modifiers of what it writes beforehand. A [`Template`] is the word with these:
//! what is left to do for an instruction is to put in its operands.

use crate::form::{Legal, number_of};
use crate::instr::Instr;
use crate::table::FormId;

/// The word that an instruction begins as. Meant for constants: whatever the form does not have is refused by the
/// compiler.
///
/// ```
/// use agx_isa::{FormId, Instr, Template, Value};
/// const FADD: Template = Template::new(FormId::F2_6).op("fadd");
/// let mut add = Instr::from_template(&FADD);
/// add.set_arg(0, Value::gpr(4))?;
/// assert_eq!(add.to_string(), "fadd.6 r4, r0, r0");
/// # Ok::<(), agx_isa::Illegal>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Template {
    id: FormId,
    bits: u128,
}

impl Template {
    /// The form with every field at its default.
    #[must_use]
    pub const fn new(id: FormId) -> Template {
        Template {
            id,
            bits: Instr::defaults(id),
        }
    }

    /// The row of the table.
    #[inline]
    #[must_use]
    pub const fn id(&self) -> FormId {
        self.id
    }

    /// The word.
    #[inline]
    #[must_use]
    pub const fn bits(&self) -> u128 {
        self.bits
    }

    /// Selects the operation.
    ///
    /// # Panics
    /// When the form has no such operation.
    #[must_use]
    pub const fn op(mut self, name: &str) -> Template {
        let opcode = &self.id.form().opcode;
        let Some(value) = number_of(opcode.names, name) else {
            panic!("the form has no such operation");
        };
        self.bits = opcode.bits.put(self.bits, value);
        self
    }

    /// Sets a modifier that is no signed number.
    ///
    /// # Panics
    /// When the form has no such modifier, or the value is not legal for it.
    #[must_use]
    pub const fn set(mut self, name: &str, value: u64) -> Template {
        let form = self.id.form();
        let Some(index) = form.modifier(name) else {
            panic!("the form has no such field");
        };
        let modifier = &form.modifiers[index];
        assert!(
            value <= modifier.bits.max() && modifier.allows(value),
            "the field cannot hold this"
        );
        self.bits = modifier.bits.put(self.bits, value);
        self
    }

    /// Sets a modifier to one of its named values.
    ///
    /// # Panics
    /// When the form has no such modifier, or the modifier no such value.
    #[must_use]
    pub const fn named(self, name: &str, value: &str) -> Template {
        let form = self.id.form();
        let Some(index) = form.modifier(name) else {
            panic!("the form has no such field");
        };
        let Legal::Names(names) = form.modifiers[index].legal else {
            panic!("the field's values have no names");
        };
        match number_of(names, value) {
            Some(number) => self.set(name, number),
            None => panic!("the field has no such value"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever can be set in an instruction can be set in a template, to the same word.
    #[test]
    fn templates_are_what_the_setters_write() {
        for &id in FormId::ALL {
            let form = id.form();
            assert_eq!(Template::new(id).bits(), Instr::new(id).bits(), "{id:?}");
            for (_, operation) in form.opcode.names {
                let mut instr = Instr::new(id);
                assert_eq!(instr.set_operation(operation), Ok(()));
                let template = Template::new(id).op(operation);
                assert_eq!(Instr::from_template(&template), instr);
            }
            // Bits that follow from others are not the template's: any operand that is set brings them in line.
            for modifier in form.modifiers.iter().filter(|_| form.derive.is_none()) {
                for value in 0..=modifier.bits.max().min(300) {
                    let mut instr = Instr::new(id);
                    let signed = matches!(modifier.legal, Legal::Signed | Legal::SignedEven);
                    if signed || instr.set_modifier(modifier.name, value).is_err() {
                        continue;
                    }
                    let template = Template::new(id).set(modifier.name, value);
                    assert_eq!(
                        Instr::from_template(&template),
                        instr,
                        "{id:?} {}",
                        modifier.name
                    );
                }
                if let Legal::Names(names) = modifier.legal {
                    for (value, text) in names {
                        let template = Template::new(id).set(modifier.name, *value);
                        assert_eq!(Template::new(id).named(modifier.name, text), template);
                    }
                }
            }
        }
    }
}
