// SPDX-License-Identifier: MIT
//! Structured control flow as mask operations and branches (isa-2, 6).
//!
//! * `if`: compare into bank 0, push a conditional scope, `else`, pop. The `else` is always there, as in the proven
//!   emitter. A long arm is jumped over when no lane takes it.
//! * loop: a loop scope (the outermost loop does without one unless lanes leave it by LOOP_UPDATE), the body, a branch
//!   back while some lane is left, and the pop that brings all lanes back.
//! * break: the bank of the loop's depth becomes true, BREAK drops the active lanes through the conditional scopes
//!   between it and the loop. An `if` straight in the body, one of whose arms leaves, needs no BREAK: behind it, or in
//!   place of it when the arm is empty, LOOP_UPDATE drops the lanes for which the condition holds. No depth limit then.
//! * A barrier must not be reached under an empty mask: behind a break, and in front of an arm, code with barriers is
//!   jumped over when no lane is left.

use std::ops::Range;

use agx_isa::{Arg, File, FormId, Instr as Machine, Reg, Template, Value};

use super::defined::Defined;
use super::encode::{Context, Encoder, always, literal, predicate};
use super::facts::Facts;
use super::layout::{Label, Layout, When};
use super::plain::Plain;
use super::plan::{Plan, Side};
use super::regs::RegSet;
use super::release::Releases;
use super::slots::Slots;
use super::waits::{self, Item};
use crate::ir::{Block, Closes, Cond, Dst, End, Function};

/// Loops that have a predicate bank of their own: P1..P5.
const BREAK_DEPTHS: usize = 5;
/// Arms longer than this are jumped over when no lane takes them.
const LONG_ARM: usize = 16;
/// The same where all lanes agree, so that one arm is always empty.
const LONG_UNIFORM_ARM: usize = 3;
/// What is left of a loop's body behind a break is jumped over when longer than this: it happens once, the branch is
/// passed in every round.
const LONG_REST: usize = 16;

/// Bank of ordinary conditions.
const IF_BANK: u8 = 0;
/// Bank that keeps a direct break's condition while its arms run, which hold no other break.
const DIRECT_BANK: u8 = 1;

static PUSH_IF: Template = Template::new(FormId::Push).named("kind", "if");
static PUSH_LOOP: Template = Template::new(FormId::Push).named("kind", "loop");
static POP_IF: Template = Template::new(FormId::Pop).named("kind", "if");
static POP_LOOP: Template = Template::new(FormId::Pop).named("kind", "loop");
static ELSE: Template = Template::new(FormId::Else);
static LOOP_UPDATE: Template = Template::new(FormId::LoopUpdate);
static BREAK: Template = Template::new(FormId::Break);
static STOP: Template = Template::new(FormId::Stop);

enum Scope {
    If {
        else_label: Label,
        pop_label: Label,
        /// First block of the other arm, and the block behind it.
        else_block: usize,
        merge: usize,
        in_else: bool,
        /// Some lane may leave the loop in an arm.
        breaks: bool,
        uniform: bool,
        /// LOOP_UPDATE behind it drops the lanes whose condition bank is this.
        update: Option<bool>,
    },
    Loop {
        header: Label,
        end: Label,
        exit: usize,
    },
}

/// Emits a function's blocks.
pub(super) struct Emitter<'f> {
    pub(super) function: &'f Function,
    pub(super) plan: &'f Plan,
    pub(super) releases: &'f Releases,
    pub(super) plain: &'f Plain,
    pub(super) defined: &'f Defined,
    pub(super) layout: Layout,
    scopes: Vec<Scope>,
    /// Pure waits so far.
    pub(super) waits: u32,
    /// Registers that the code names so far.
    pub(super) named: RegSet,
    /// Defined registers behind the code emitted last.
    now_defined: RegSet,
    /// An arm to be emitted as straight code in front of the next block.
    inlined: Option<usize>,
    /// The operations of the run that is emitted.
    items: Vec<Item<'f>>,
    /// Its completion slots.
    slots: Slots,
}

impl<'f> Emitter<'f> {
    pub(super) fn new(
        function: &'f Function,
        plan: &'f Plan,
        releases: &'f Releases,
        plain: &'f Plain,
        defined: &'f Defined,
    ) -> Emitter<'f> {
        Emitter {
            function,
            plan,
            releases,
            plain,
            defined,
            // Waits, and what structures the control flow, come on top.
            layout: Layout::with_capacity(
                plain.len() + plain.len() / 4 + 8 * function.blocks.len(),
            ),
            scopes: Vec::new(),
            waits: 0,
            named: RegSet::EMPTY,
            now_defined: RegSet::EMPTY,
            inlined: None,
            items: Vec::new(),
            slots: Slots::default(),
        }
    }

    /// Adds an instruction that no operation stands for, and that names no register.
    fn push(&mut self, template: &Template) {
        self.layout.code.push(Machine::from_template(template));
    }

    /// Adds instructions that no operation stands for.
    fn encode<T>(
        &mut self,
        kills: RegSet,
        add: impl FnOnce(&mut Encoder<'_>) -> Result<T, String>,
    ) -> Result<T, String> {
        let ctx = Context {
            kills,
            ..Context::PLAIN
        };
        let mut facts = Facts::NONE;
        let result = add(&mut Encoder::new(&ctx, &mut self.layout.code, &mut facts));
        self.named |= facts.named();
        result
    }

    /// All blocks.
    pub(super) fn emit(&mut self) -> Result<(), String> {
        let mut block = 0;
        while block < self.function.blocks.len() {
            let last = self.straight(block)?;
            block = self
                .end(last)
                .map_err(|error| format!("b{last}: {error}"))?;
        }
        Ok(())
    }

    /// Emits a block and those behind it that only it leads to; the last of them.
    fn straight(&mut self, first: usize) -> Result<usize, String> {
        let blocks = &self.function.blocks;
        let mut last = first;
        while matches!(blocks[last].end, End::Next) && last + 1 < blocks.len() {
            last += 1;
        }
        let inlined = self.inlined.take();
        let start = inlined.unwrap_or(first);
        self.items.clear();
        let blocks_of_run = inlined.into_iter().chain(first..=last);
        self.items.reserve(
            blocks_of_run
                .clone()
                .map(|block| blocks[block].instrs.len())
                .sum(),
        );
        for block in blocks_of_run {
            let operations = self.plain.of_block(block).iter();
            let kills = self.releases.of_block(block);
            let instrs = blocks[block].instrs.iter();
            let items = instrs.zip(operations.zip(kills));
            self.items
                .extend(items.map(|(instr, (operation, kills))| Item {
                    instr,
                    operation,
                    kills: *kills,
                }));
        }
        let run = waits::emit(
            self.plain,
            &self.items,
            self.defined.at(start),
            &mut self.slots,
            &mut self.layout.code,
        )?;
        self.waits += run.waits;
        self.named |= run.named;
        self.now_defined = run.defined;
        Ok(last)
    }

    /// What follows a block; the block to go on with.
    fn end(&mut self, block: usize) -> Result<usize, String> {
        let function = self.function;
        match &function.blocks[block].end {
            End::Next => return Err("runs off the end".into()),
            End::If {
                cond,
                else_block,
                merge,
                divergent,
            } => return self.branch(block, cond, *else_block, *merge, !divergent),
            End::EndThen { .. } => self.turn()?,
            End::EndElse => self.pop_if(block)?,
            End::Loop { exit } => self.enter_loop(block, *exit)?,
            End::EndLoop { .. } => self.end_loop(true)?,
            End::Break { closes, .. } => match closes {
                Closes::Then(_) => {
                    self.leave(block)?;
                    self.turn()?;
                }
                Closes::Else => {
                    self.leave(block)?;
                    self.pop_if(block)?;
                }
                // Every lane that gets here leaves: the pop does that.
                Closes::Loop => self.end_loop(false)?,
            },
            End::Stop => self.push(&STOP),
        }
        Ok(block + 1)
    }

    fn branch(
        &mut self,
        block: usize,
        cond: &Cond,
        else_block: Block,
        merge: Block,
        uniform: bool,
    ) -> Result<usize, String> {
        let (else_block, merge) = (else_block.index(), merge.index());
        let kills = self.releases.at_end(block);
        let direct = self.plan.direct[block];
        if let Some(side) = direct
            && let Some(next) = self.direct_break(block, cond, side, merge)?
        {
            return Ok(next);
        }
        let bank = if direct.is_some() {
            DIRECT_BANK
        } else {
            IF_BANK
        };
        let inverted = self.encode(kills, |encoder| predicate(cond, bank, encoder))?;
        self.push_scope(&PUSH_IF, bank.into(), inverted)?;
        let scope = Scope::If {
            else_label: self.layout.label(),
            pop_label: self.layout.label(),
            else_block,
            merge,
            in_else: false,
            breaks: false,
            uniform,
            update: direct.map(|side| !inverted ^ (side == Side::Else)),
        };
        if let Scope::If { else_label, .. } = scope {
            self.skip(block + 1..else_block, uniform, else_label);
        }
        self.scopes.push(scope);
        Ok(block + 1)
    }

    /// An `if` straight in the loop's body whose leaving arm is empty: the lanes leave, the others go on with the other
    /// arm. `None` when the arm is not empty.
    fn direct_break(
        &mut self,
        block: usize,
        cond: &Cond,
        side: Side,
        merge: usize,
    ) -> Result<Option<usize>, String> {
        let (leaving, staying) = match side {
            Side::Then => (block + 1, block + 2),
            Side::Else => (block + 2, block + 1),
        };
        if !self.function.blocks[leaving].instrs.is_empty() {
            return Ok(None);
        }
        let kills = self.releases.at_end(block);
        let inverted = self.encode(kills, |encoder| predicate(cond, IF_BANK, encoder))?;
        self.update(IF_BANK, !inverted ^ (side == Side::Else))?;
        self.now_defined = self.now_defined.without(kills);
        self.inlined = Some(staying);
        let mut rest = self.plan.weight(staying..staying + 1);
        if let Some((behind, target)) = self.rest(merge) {
            let weight = self.plan.weight(behind);
            rest.operations += weight.operations;
            rest.loops += weight.loops;
            rest.barriers += weight.barriers;
            if is_long_rest(rest) {
                self.layout.branch(When::None, target);
            }
        }
        Ok(Some(merge))
    }

    /// LOOP_UPDATE: lanes whose bank is `value` leave the innermost loop.
    fn update(&mut self, bank: u8, value: bool) -> Result<(), String> {
        let bank = Arg::new(Value::Reg(Reg::new(File::Predicate, bank.into())));
        let bank = if value { bank } else { bank.neg() };
        self.push_with(&LOOP_UPDATE, "bank", bank)
    }

    fn push_scope(&mut self, push: &Template, source: u16, inverted: bool) -> Result<(), String> {
        let source = Arg::new(Value::Reg(Reg::new(File::Predicate, source)));
        let source = if inverted { source.neg() } else { source };
        self.push_with(push, "source", source)
    }

    /// Adds an instruction with one operand.
    fn push_with(
        &mut self,
        template: &Template,
        operand: &'static str,
        arg: Arg,
    ) -> Result<(), String> {
        let mut machine = Machine::from_template(template);
        machine
            .set_operand(operand, arg)
            .map_err(|illegal| illegal.to_string())?;
        self.layout.code.push(machine);
        Ok(())
    }

    /// From the first arm of an `if` to the other.
    fn turn(&mut self) -> Result<(), String> {
        let Some(Scope::If {
            else_label,
            pop_label,
            else_block,
            merge,
            in_else,
            uniform,
            ..
        }) = self.scopes.last_mut()
        else {
            return Err("an arm ends, but no `if` is open".into());
        };
        *in_else = true;
        let (else_label, pop_label, uniform) = (*else_label, *pop_label, *uniform);
        let arm = *else_block..*merge;
        self.layout.place(else_label);
        self.push(&ELSE);
        self.skip(arm, uniform, pop_label);
        Ok(())
    }

    fn pop_if(&mut self, block: usize) -> Result<(), String> {
        let Some(Scope::If {
            pop_label,
            breaks,
            update,
            ..
        }) = self.scopes.pop()
        else {
            return Err("an arm ends, but no `if` is open".into());
        };
        self.layout.place(pop_label);
        self.push(&POP_IF);
        if let Some(value) = update {
            self.update(DIRECT_BANK, value)?;
        }
        if breaks || update.is_some() {
            if let Some(Scope::If { breaks, .. }) = self.scopes.last_mut() {
                *breaks = true;
            }
            if let Some((rest, target)) = self.rest(block + 1)
                && is_long_rest(self.plan.weight(rest))
            {
                self.layout.branch(When::None, target);
            }
        }
        Ok(())
    }

    /// The blocks from `from` on to the end of the arm or loop around them, and where that end is.
    fn rest(&self, from: usize) -> Option<(Range<usize>, Label)> {
        match self.scopes.last()? {
            Scope::If {
                else_label,
                else_block,
                in_else: false,
                ..
            } => Some((from..*else_block, *else_label)),
            Scope::If {
                pop_label, merge, ..
            } => Some((from..*merge, *pop_label)),
            Scope::Loop { end, exit, .. } => Some((from..*exit, *end)),
        }
    }

    /// Jumps over an arm that no lane takes, if that is worth it.
    fn skip(&mut self, arm: Range<usize>, uniform: bool, target: Label) {
        let weight = self.plan.weight(arm);
        // Where lanes disagree, most often some take the arm: a branch is worth it for much code only, or for what must
        // not run without lanes.
        let long = if uniform {
            weight.operations > LONG_UNIFORM_ARM || weight.accesses > 0
        } else {
            weight.operations > LONG_ARM
        };
        if long || weight.loops + weight.barriers > 0 {
            self.layout.branch(When::None, target);
        }
    }

    fn enter_loop(&mut self, block: usize, exit: Block) -> Result<(), String> {
        if !self.scopes.is_empty() || self.plan.updates[block] {
            // Source 6 is true.
            self.push_scope(&PUSH_LOOP, 6, false)?;
        }
        let (header, end) = (self.layout.label(), self.layout.label());
        self.layout.place(header);
        self.scopes.push(Scope::Loop {
            header,
            end,
            exit: exit.index(),
        });
        Ok(())
    }

    fn end_loop(&mut self, again: bool) -> Result<(), String> {
        let Some(Scope::Loop { header, end, .. }) = self.scopes.pop() else {
            return Err("a loop ends, but none is open".into());
        };
        if again {
            self.layout.branch(When::Any, header);
        }
        self.layout.place(end);
        self.push(&POP_LOOP);
        Ok(())
    }

    /// The active lanes leave the innermost loop.
    fn leave(&mut self, block: usize) -> Result<(), String> {
        let scopes = self.scopes.iter().rev();
        let crossed = scopes
            .take_while(|scope| matches!(scope, Scope::If { .. }))
            .count();
        if let Some(Scope::If { breaks, update, .. }) = self.scopes.last_mut() {
            *breaks = true;
            if update.is_some() {
                return Ok(());
            }
        }
        let is_loop = |scope: &&Scope| matches!(scope, Scope::Loop { .. });
        let depth = self.scopes.iter().filter(is_loop).count();
        if !(1..=BREAK_DEPTHS).contains(&depth) {
            return Err(format!(
                "a break out of loop {depth} in a nest: BREAK knows {BREAK_DEPTHS}, and LOOP_UPDATE wants an `if` \
                 straight in the loop's body whose arms are single blocks"
            ));
        }
        let reg = self.defined_register(block)?;
        self.encode(RegSet::EMPTY, |encoder| always(depth as u8, reg, encoder))?;
        let mut machine = Machine::from_template(&BREAK);
        let bank = Value::Reg(Reg::new(File::Predicate, depth as u16));
        machine
            .set_operand("depth", bank)
            .and_then(|()| machine.set_modifier("scopes2", 2 + crossed as u64))
            .map_err(|illegal| illegal.to_string())?;
        self.layout.code.push(machine);
        Ok(())
    }

    /// A register with a value in the active lanes.
    fn defined_register(&mut self, block: usize) -> Result<u8, String> {
        if let Some(reg) = self.now_defined.first() {
            return Ok(reg);
        }
        // None has one: make one of a register that nobody needs.
        match (!self.releases.needed_behind(block)).first() {
            Some(reg) if reg <= 63 => {
                self.encode(RegSet::EMPTY, |encoder| literal(Dst::Reg(reg), 0, encoder))?;
                Ok(reg)
            }
            _ => Err("no register is free for a break's condition".into()),
        }
    }
}

fn is_long_rest(weight: super::plan::Weight) -> bool {
    weight.operations > LONG_REST || weight.loops + weight.barriers > 0
}
