// SPDX-License-Identifier: MIT
//! Random structured programs: as a tree, as assembly by the rules for emitters of isa-2, 6.1, and
//! interpreted for a single invocation.

// Each test binary uses its own part of this.
#![allow(dead_code, unreachable_pub)]

use std::fmt::Write as _;

/// Variables of a program.
pub const VARIABLES: usize = 4;
/// Loops inside one another: as many as there are banks for them.
const MAX_LOOPS: u32 = 5;
/// Scopes inside one another.
const MAX_DEPTH: u32 = 8;

/// The register of a variable.
pub fn register(var: usize) -> usize {
    16 + var
}

/// `variable % 8 cmp constant`.
#[derive(Clone, Copy, Debug)]
pub struct Condition {
    var: usize,
    cmp: &'static str,
    constant: u32,
    /// The compare and its user both invert.
    twice_inverted: bool,
}

impl Condition {
    fn holds(self, vars: &[u32; VARIABLES]) -> bool {
        let value = vars[self.var] % 8;
        match self.cmp {
            "6.ult" => value < self.constant,
            "6.igt" => value > self.constant,
            _ => value == self.constant,
        }
    }
}

/// A statement.
#[derive(Clone, Debug)]
pub enum Statement {
    /// `var = var * factor + other`.
    Set {
        var: usize,
        other: usize,
        factor: u32,
    },
    If {
        condition: Condition,
        then: Vec<Statement>,
        otherwise: Vec<Statement>,
        /// Jump over arms that no lane takes.
        skips: bool,
        /// Write an `else` for an empty arm too.
        always_else: bool,
    },
    /// At most `limit` rounds, or `var % 4`.
    Loop {
        limit: Result<u32, usize>,
        body: Vec<Statement>,
        /// Leave at the end of a round, by LOOP_UPDATE.
        latch: Option<Condition>,
        /// A loop scope even where the implicit one would do.
        push: bool,
    },
    Break {
        condition: Option<Condition>,
        /// By LOOP_UPDATE instead of BREAK.
        update: bool,
    },
    Continue {
        condition: Condition,
    },
}

/// A source of decisions: the bytes, then zeros.
struct Choices<'a>(std::slice::Iter<'a, u8>);

impl Choices<'_> {
    fn below(&mut self, n: u32) -> u32 {
        u32::from(self.0.next().copied().unwrap_or(0)) % n
    }

    fn condition(&mut self) -> Condition {
        Condition {
            var: self.below(VARIABLES as u32) as usize,
            cmp: ["6.ult", "6.igt", "10.ieq"][self.below(3) as usize],
            constant: self.below(9),
            twice_inverted: self.below(2) == 1,
        }
    }

    /// `direct`: straight in a loop's body.
    fn block(&mut self, depth: u32, loops: u32, direct: bool) -> Vec<Statement> {
        let count = self.below(5);
        (0..count)
            .map(|_| self.statement(depth, loops, direct))
            .collect()
    }

    fn statement(&mut self, depth: u32, loops: u32, direct: bool) -> Statement {
        let nests = depth < MAX_DEPTH;
        match self.below(10) {
            1..=3 if nests => Statement::If {
                condition: self.condition(),
                then: self.block(depth + 1, loops, false),
                otherwise: self.block(depth + 1, loops, false),
                skips: self.below(2) == 1,
                always_else: self.below(2) == 1,
            },
            4 | 5 if nests && loops < MAX_LOOPS => Statement::Loop {
                limit: match self.below(2) {
                    0 => Ok(self.below(4)),
                    _ => Err(self.below(VARIABLES as u32) as usize),
                },
                body: self.block(depth + 1, loops + 1, true),
                latch: (self.below(3) == 1).then(|| self.condition()),
                push: self.below(2) == 1,
            },
            6 | 7 if loops > 0 => Statement::Break {
                condition: (self.below(4) > 0).then(|| self.condition()),
                update: self.below(3) == 1,
            },
            8 if direct => Statement::Continue {
                condition: self.condition(),
            },
            _ => Statement::Set {
                var: self.below(VARIABLES as u32) as usize,
                other: self.below(VARIABLES as u32) as usize,
                factor: self.below(8),
            },
        }
    }
}

/// The program that these decisions make.
pub fn block(choices: &[u8]) -> Vec<Statement> {
    let mut choices = Choices(choices.iter());
    let count = 1 + choices.below(5);
    (0..count).map(|_| choices.statement(0, 0, false)).collect()
}

/// How a list of statements ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    Through,
    Break,
    Continue,
}

/// Runs the program for one invocation.
pub fn interpret(program: &[Statement], vars: &mut [u32; VARIABLES]) {
    assert!(execute(program, vars) == Ending::Through);
}

fn execute(program: &[Statement], vars: &mut [u32; VARIABLES]) -> Ending {
    for statement in program {
        let ending = match statement {
            Statement::Set { var, other, factor } => {
                vars[*var] = vars[*var].wrapping_mul(*factor).wrapping_add(vars[*other]);
                Ending::Through
            }
            Statement::If {
                condition,
                then,
                otherwise,
                ..
            } => {
                let arm = if condition.holds(vars) {
                    then
                } else {
                    otherwise
                };
                execute(arm, vars)
            }
            Statement::Loop {
                limit, body, latch, ..
            } => {
                let rounds = limit.unwrap_or_else(|var| vars[var] % 4);
                for _ in 0..rounds {
                    if execute(body, vars) == Ending::Break {
                        break;
                    }
                    if latch.is_some_and(|condition| condition.holds(vars)) {
                        break;
                    }
                }
                Ending::Through
            }
            Statement::Break { condition, .. } => match condition {
                Some(condition) if !condition.holds(vars) => Ending::Through,
                _ => Ending::Break,
            },
            Statement::Continue { condition } if condition.holds(vars) => Ending::Continue,
            Statement::Continue { .. } => Ending::Through,
        };
        if ending != Ending::Through {
            return ending;
        }
    }
    Ending::Through
}

#[derive(Default)]
struct Emitter {
    text: String,
    labels: u32,
    /// Loops around the place.
    loops: usize,
    /// Conditional scopes inside the innermost loop.
    scopes: u32,
    /// Scopes of any kind around the place, the implicit one of the outermost loop included.
    depth: u32,
}

/// Assembly text of the program.
pub fn emit(program: &[Statement]) -> String {
    let mut emitter = Emitter::default();
    emitter.block(program);
    emitter.text
}

impl Emitter {
    fn line(&mut self, line: &str) {
        writeln!(self.text, "{line}").unwrap();
    }

    fn label(&mut self) -> String {
        self.labels += 1;
        format!("l{}", self.labels)
    }

    /// Compares into P0; answers the operand that is true where the condition holds, or fails.
    fn compare(&mut self, condition: Condition, wanted: bool) -> String {
        let Condition {
            var,
            cmp,
            constant,
            twice_inverted,
        } = condition;
        let register = register(var);
        self.line("mov_imm r13, #7");
        self.line(&format!("and r13, r{register}, r13"));
        self.line(&format!("mov_imm r12, #{constant}"));
        let inverted = if twice_inverted { ", inv" } else { "" };
        self.line(&format!("pcmp.{cmp} P0, r13, r12{inverted}"));
        let minus = if twice_inverted == wanted { "-" } else { "" };
        format!("{minus}P0")
    }

    fn push(&mut self, condition: Condition, wanted: bool) {
        let predicate = self.compare(condition, wanted);
        self.line(&format!("push.if {predicate}"));
        self.scopes += 1;
        self.depth += 1;
    }

    fn pop(&mut self) {
        self.line("pop.if");
        self.scopes -= 1;
        self.depth -= 1;
    }

    /// Leaves the loop with the active lanes.
    fn leave(&mut self) {
        let (bank, scopes) = (self.loops, self.scopes + 2);
        self.line(&format!("pcmp.10.ieq P{bank}, r12, r12"));
        self.line(&format!("break P{bank}, scopes2={scopes}"));
    }

    fn block(&mut self, statements: &[Statement]) {
        for (i, statement) in statements.iter().enumerate() {
            if let Statement::Continue { condition } = statement {
                // The rest of the body runs for the lanes that do not continue.
                self.push(*condition, false);
                self.block(&statements[i + 1..]);
                self.line("else");
                self.pop();
                return;
            }
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Set { var, other, factor } => {
                let (var, other) = (register(*var), register(*other));
                self.line(&format!("mov_imm r13, #{factor}"));
                self.line(&format!("imad r{var}, r{var}, r13, r{other}"));
            }
            Statement::If {
                condition,
                then,
                otherwise,
                skips,
                always_else,
            } => {
                let (to_else, to_pop) = (self.label(), self.label());
                let has_else = *always_else || !otherwise.is_empty();
                self.push(*condition, true);
                if *skips {
                    self.line(&format!(
                        "br_none {}",
                        if has_else { &to_else } else { &to_pop }
                    ));
                }
                self.block(then);
                if has_else {
                    self.line(&format!("{to_else}: else"));
                    if *skips {
                        self.line(&format!("br_none {to_pop}"));
                    }
                    self.block(otherwise);
                }
                self.line(&format!("{to_pop}:"));
                self.pop();
            }
            Statement::Loop {
                limit,
                body,
                latch,
                push,
            } => {
                let level = self.loops;
                let (counter, bound) = (20 + level, 25 + level);
                match limit {
                    Ok(rounds) => {
                        self.line(&format!("mov_imm r13, #{rounds}\niadd r{bound}, r13, #0"))
                    }
                    Err(var) => {
                        let register = register(*var);
                        self.line(&format!("mov_imm r13, #3\nand r{bound}, r{register}, r13"));
                    }
                }
                self.line(&format!("xor r{counter}, r{counter}, r{counter}"));
                if *push || self.depth > 0 {
                    self.line("push.loop true");
                }
                let outer = std::mem::replace(&mut self.scopes, 0);
                self.loops += 1;
                self.depth += 1;
                let head = self.label();
                self.line(&format!("{head}:"));
                self.line(&format!("pcmp.6.ult P0, r{counter}, r{bound}"));
                self.line("push.if -P0");
                self.scopes += 1;
                self.leave();
                self.scopes -= 1;
                self.line("else\npop.if");
                self.line(&format!(
                    "mov_imm r13, #1\niadd r{counter}, r{counter}, r13"
                ));
                self.block(body);
                if let Some(condition) = latch {
                    let predicate = self.compare(*condition, true);
                    self.line(&format!("loop_update {predicate}"));
                }
                self.line(&format!("br_any {head}"));
                self.line("pop.loop");
                self.loops -= 1;
                self.depth -= 1;
                self.scopes = outer;
            }
            Statement::Break { condition, update } => match (condition, update) {
                (Some(condition), true) => {
                    let predicate = self.compare(*condition, true);
                    self.line(&format!("loop_update {predicate}"));
                }
                (Some(condition), false) => {
                    self.push(*condition, true);
                    self.leave();
                    self.line("else");
                    self.pop();
                }
                (None, true) => {
                    self.line("pcmp.10.ieq P0, r12, r12\nloop_update P0");
                }
                (None, false) => self.leave(),
            },
            Statement::Continue { .. } => unreachable!("handled with the block around it"),
        }
    }
}
