// SPDX-License-Identifier: MIT
//! Control flow of one invocation as a tree: printed as GLSL, and interpreted here.

use std::fmt::Write as _;

use cortland_cts::case::Case;

use super::{case, storage};

/// What an invocation does with its number `acc`.
#[derive(Debug, Clone)]
pub enum Stmt {
    /// Mixes a number in.
    Mix(u32),
    If(Cond, Vec<Stmt>, Vec<Stmt>),
    /// At most so many rounds; nothing but jumps ends it if there is no number.
    Loop(Option<u32>, Vec<Stmt>),
    /// Body and condition: again while it holds, at most so many times.
    DoWhile(u32, Cond, Vec<Stmt>),
    /// By `acc` modulo the number of cases; the last is the default. Cases fall through.
    Switch(Vec<Vec<Stmt>>),
    Break,
    Continue,
    Return,
}

/// What branches ask.
#[derive(Debug, Clone, Copy)]
pub enum Cond {
    /// `(acc >> shift & mask) == value`
    Bits(u32, u32, u32),
    /// `acc < value`
    Below(u32),
    /// The same in all invocations, and unknown to the compiler: a word of the input's bit.
    Uniform(u32),
    /// Never true, and unknown to the compiler.
    Never,
}

/// What `Uniform` reads.
const UNIFORM: u32 = 0x5a3c_96e1;
/// What `Never` waits for.
const NEVER: u32 = 0xdead_beef;

enum Jump {
    None,
    Break,
    Continue,
    Return,
}

fn mix(acc: u32, k: u32) -> u32 {
    let x = (acc ^ k).wrapping_mul(0x9e37_79b1);
    x ^ x >> 15
}

/// Statements that one invocation may run.
const FUEL: u32 = 200_000;

struct Machine {
    acc: u32,
    fuel: u32,
}

impl Machine {
    fn holds(&self, cond: Cond) -> bool {
        match cond {
            Cond::Bits(shift, mask, value) => self.acc >> shift & mask == value,
            Cond::Below(value) => self.acc < value,
            Cond::Uniform(bit) => UNIFORM >> bit & 1 == 1,
            Cond::Never => false,
        }
    }

    fn list(&mut self, list: &[Stmt]) -> Jump {
        for stmt in list {
            self.fuel = self.fuel.checked_sub(1).expect("a test that ends");
            let jump = match stmt {
                Stmt::Mix(k) => {
                    self.acc = mix(self.acc, *k);
                    Jump::None
                }
                Stmt::If(cond, then, other) => {
                    let arm = if self.holds(*cond) { then } else { other };
                    self.list(arm)
                }
                Stmt::Loop(rounds, body) => self.repeat(*rounds, None, body),
                Stmt::DoWhile(rounds, cond, body) => self.repeat(Some(*rounds), Some(*cond), body),
                Stmt::Switch(cases) => {
                    let first = self.acc as usize % cases.len();
                    let mut jump = Jump::None;
                    for case in &cases[first..] {
                        jump = self.list(case);
                        if !matches!(jump, Jump::None) {
                            break;
                        }
                    }
                    if matches!(jump, Jump::Break) {
                        Jump::None
                    } else {
                        jump
                    }
                }
                Stmt::Break => Jump::Break,
                Stmt::Continue => Jump::Continue,
                Stmt::Return => Jump::Return,
            };
            if !matches!(jump, Jump::None) {
                return jump;
            }
        }
        Jump::None
    }

    fn repeat(&mut self, rounds: Option<u32>, again: Option<Cond>, body: &[Stmt]) -> Jump {
        let mut round = 0;
        loop {
            self.fuel = self.fuel.checked_sub(1).expect("a test that ends");
            if again.is_none() && rounds.is_some_and(|r| round >= r) {
                return Jump::None;
            }
            match self.list(body) {
                Jump::Break => return Jump::None,
                Jump::Return => return Jump::Return,
                Jump::None | Jump::Continue => {}
            }
            round += 1;
            if let (Some(cond), Some(rounds)) = (again, rounds)
                && !(round < rounds && self.holds(cond))
            {
                return Jump::None;
            }
        }
    }
}

struct Printer {
    text: String,
    counters: u32,
}

impl Printer {
    fn cond(cond: Cond) -> String {
        match cond {
            Cond::Bits(shift, mask, value) => format!("((acc >> {shift}) & {mask}u) == {value}u"),
            Cond::Below(value) => format!("acc < {value}u"),
            Cond::Uniform(bit) => format!("((uniform_word >> {bit}) & 1u) == 1u"),
            Cond::Never => format!("uniform_word == {NEVER}u"),
        }
    }

    fn list(&mut self, list: &[Stmt]) {
        for stmt in list {
            match stmt {
                Stmt::Mix(k) => self.text += &format!("acc = mixed(acc, {k}u);\n"),
                Stmt::If(cond, then, other) => {
                    self.text += &format!("if ({}) {{\n", Self::cond(*cond));
                    self.list(then);
                    if !other.is_empty() {
                        self.text += "} else {\n";
                        self.list(other);
                    }
                    self.text += "}\n";
                }
                Stmt::Loop(rounds, body) => {
                    let c = self.counters;
                    self.counters += 1;
                    match rounds {
                        Some(rounds) => {
                            let _ = writeln!(
                                self.text,
                                "for (uint c{c} = 0; c{c} < {rounds}u + zero; c{c}++) {{"
                            );
                        }
                        None => self.text += "for (;;) {\n",
                    }
                    self.list(body);
                    self.text += "}\n";
                }
                Stmt::DoWhile(rounds, cond, body) => {
                    let c = self.counters;
                    self.counters += 1;
                    let _ = writeln!(self.text, "uint c{c} = 0; do {{");
                    self.list(body);
                    let cond = Self::cond(*cond);
                    let _ = writeln!(
                        self.text,
                        "}} while (++c{c} < {rounds}u + zero && ({cond}));"
                    );
                }
                Stmt::Switch(cases) => {
                    let _ = writeln!(self.text, "switch (acc % {}u) {{", cases.len());
                    for (i, case) in cases.iter().enumerate() {
                        match i + 1 == cases.len() {
                            true => self.text += "default:\n",
                            false => self.text += &format!("case {i}u:\n"),
                        }
                        self.list(case);
                    }
                    // The last case needs a statement.
                    self.text += "break;\n}\n";
                }
                Stmt::Break => self.text += "break;\n",
                Stmt::Continue => self.text += "continue;\n",
                Stmt::Return => self.text += "return acc;\n",
            }
        }
    }
}

/// Invocations.
pub const COUNT: u32 = 128;

/// The shader and what it leaves in its buffers.
pub fn flow(name: &str, body: &[Stmt]) -> (Case, Vec<Vec<u32>>) {
    let mut printer = Printer {
        text: String::new(),
        counters: 0,
    };
    printer.list(body);
    let text = format!(
        "layout(local_size_x = 64) in;
        layout(set = 0, binding = 0) buffer In {{ uint uniform_in; uint zero_in; uint seeds[]; }};
        layout(set = 0, binding = 1) buffer Out {{ uint results[]; }};
        uint mixed(uint acc, uint k) {{ uint x = (acc ^ k) * 0x9e3779b1u; return x ^ (x >> 15); }}
        uint run(uint acc, uint uniform_word, uint zero) {{\n{}return mixed(acc, 99u);\n}}
        void main() {{
            uint id = gl_GlobalInvocationID.x;
            results[id] = run(seeds[id], uniform_in, zero_in);
        }}",
        printer.text
    );
    let seed = |i: u32| mix(i, 0x1234_5678);
    let mut input = vec![UNIFORM, 0];
    input.extend((0..COUNT).map(seed));
    let mut case = case(
        name,
        &text,
        vec![storage(0, &input), storage(1, &[0; COUNT as usize])],
    );
    case.groups = [COUNT / 64, 1, 1];
    let result = |i| {
        let mut machine = Machine {
            acc: seed(i),
            fuel: FUEL,
        };
        match machine.list(body) {
            Jump::Return => machine.acc,
            _ => mix(machine.acc, 99),
        }
    };
    let expected = vec![input, (0..COUNT).map(result).collect()];
    (case, expected)
}
