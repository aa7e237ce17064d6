// SPDX-License-Identifier: MIT
//! Executes a tree. Written to be obviously right: one workgroup after the other, all its invocations in lock step
//! over the statements under a mask, each expression for one invocation at a time.
//!
//! It also checks what it relies on, so that a generator that breaks its promises is found: barriers that not all
//! invocations reach, races in workgroup memory, elements read before they are written, inactive lanes asked for
//! their value, floats outside the normal numbers.

use super::float;
use super::tree::{
    ATOMIC_WORDS, Atomic, Binary, Block, Builtin, Combine, Compare, Expr, Function, INPUT_WORDS,
    OWN_WORDS, Op, Program, Scalar, Scan, Shared, Stmt, Subgroup, Type, UNIFORM_WORDS, Unary,
    Value, Var,
};

/// What the buffers hold after a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Memory {
    /// The invocations' own words.
    pub own: Vec<u32>,
    /// The output.
    pub output: Vec<u32>,
    /// The atomics' buffer.
    pub atomics: Vec<u32>,
    /// What happened on the way.
    pub executed: Executed,
}

/// How often interesting things happened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Executed {
    /// Statements, by single invocations.
    pub statements: u64,
    /// Conditions and switches whose invocations went different ways.
    pub divergent_branches: u64,
    /// Iterations of a part of the invocations that came to the loop.
    pub divergent_iterations: u64,
    /// Breaks and continues of a part of the invocations in the loop.
    pub divergent_jumps: u64,
    /// Invocations that returned early.
    pub returns: u64,
    /// Barriers.
    pub barriers: u64,
    /// Operations of subgroups with all lanes active.
    pub full_subgroups: u64,
    /// Operations of subgroups with some lanes active.
    pub partial_subgroups: u64,
}

/// Run a program.
///
/// # Errors
/// What the program does that it must not.
pub fn run(program: &Program) -> Result<Memory, String> {
    let mut machine = Machine {
        program,
        memory: Memory {
            own: program.own.clone(),
            output: program.output.clone(),
            atomics: program.atomics.clone(),
            executed: Executed::default(),
        },
        group: [0; 3],
        group_index: 0,
        shared: Vec::new(),
        phase: 0,
    };
    let [nx, ny, nz] = program.groups;
    for z in 0..nz {
        for y in 0..ny {
            for x in 0..nx {
                machine.workgroup([x, y, z])?;
            }
        }
    }
    Ok(machine.memory)
}

/// Statements executed by single invocations, at most, in one run.
const MAX_STEPS: u64 = 4_000_000;

/// Which invocations of the workgroup are active.
type Mask = Vec<bool>;

fn and_not(a: &Mask, b: &Mask) -> Mask {
    a.iter().zip(b).map(|(&a, &b)| a && !b).collect()
}

fn or(a: &Mask, b: &Mask) -> Mask {
    a.iter().zip(b).map(|(&a, &b)| a || b).collect()
}

/// Invocations that left the innermost loop, or its iteration.
struct Jumps {
    broke: Mask,
    continued: Mask,
}

/// An element of workgroup memory, with who touched it since the last barrier.
#[derive(Clone, Default)]
struct Cell {
    value: Option<Value>,
    phase: u32,
    written_by: Option<usize>,
    read_by: Option<usize>,
    read_by_others: bool,
    atomic: bool,
}

impl Cell {
    fn enter(&mut self, phase: u32) {
        if self.phase != phase {
            *self = Self {
                value: self.value,
                phase,
                ..Self::default()
            };
        }
    }
}

struct Frame<'a> {
    function: &'a Function,
    /// By variable and invocation.
    vars: Vec<Vec<Value>>,
    /// By array, element and invocation.
    arrays: Vec<Vec<Vec<Value>>>,
}

impl<'a> Frame<'a> {
    fn new(function: &'a Function, invocations: usize) -> Self {
        Self {
            function,
            vars: function
                .vars
                .iter()
                .map(|v| vec![v.init; invocations])
                .collect(),
            arrays: function
                .arrays
                .iter()
                .map(|a| vec![vec![a.element.init; invocations]; a.length as usize])
                .collect(),
        }
    }
}

struct Machine<'a> {
    program: &'a Program,
    memory: Memory,
    group: [u32; 3],
    group_index: u32,
    shared: Vec<Vec<Cell>>,
    phase: u32,
}

impl Machine<'_> {
    fn invocations(&self) -> usize {
        self.program.invocations() as usize
    }

    fn workgroup(&mut self, group: [u32; 3]) -> Result<(), String> {
        let [nx, ny, _] = self.program.groups;
        self.group = group;
        self.group_index = (group[2] * ny + group[1]) * nx + group[0];
        self.shared = (0..self.program.shared.len())
            .map(|s| vec![Cell::default(); self.program.shared_length(s) as usize])
            .collect();
        self.phase = 0;
        let main = self.program.functions.last().ok_or("no main")?;
        let mut frame = Frame::new(main, self.invocations());
        let all = vec![true; self.invocations()];
        self.block(&main.body, all, &mut frame, None)?;
        Ok(())
    }

    /// Executes a block; returns those that reach its end.
    fn block(
        &mut self,
        block: &Block,
        mut active: Mask,
        frame: &mut Frame<'_>,
        mut jumps: Option<&mut Jumps>,
    ) -> Result<Mask, String> {
        for stmt in block {
            let count = active.iter().filter(|&&a| a).count();
            if count == 0 {
                break;
            }
            self.memory.executed.statements += count as u64;
            if self.memory.executed.statements > MAX_STEPS {
                return Err("too many steps".into());
            }
            active = self.stmt(stmt, active, frame, jumps.as_deref_mut())?;
        }
        Ok(active)
    }

    #[expect(clippy::too_many_lines, reason = "one arm for each kind of statement")]
    fn stmt(
        &mut self,
        stmt: &Stmt,
        active: Mask,
        frame: &mut Frame<'_>,
        mut jumps: Option<&mut Jumps>,
    ) -> Result<Mask, String> {
        let lanes: Vec<usize> = (0..active.len()).filter(|&i| active[i]).collect();
        match stmt {
            Stmt::Assign(var, e) => {
                for i in lanes {
                    frame.vars[*var][i] = self.eval(e, i, frame)?;
                }
            }
            Stmt::AssignComponent(var, index, e) => {
                for i in lanes {
                    let at = self.word(index, i, frame)?;
                    let value = self.eval(e, i, frame)?;
                    let size = u32::from(frame.function.vars[*var].ty.size);
                    frame.vars[*var][i][(at % size) as usize] = value[0];
                }
            }
            Stmt::AssignElement(array, index, e) => {
                for i in lanes {
                    let at = self.word(index, i, frame)?;
                    let value = self.eval(e, i, frame)?;
                    let elements = &mut frame.arrays[*array];
                    let length = elements.len();
                    elements[at as usize % length][i] = value;
                }
            }
            Stmt::SharedStore(shared, index, e) => {
                for i in lanes {
                    let at = self.word(index, i, frame)?;
                    let at = self.own_element(*shared, at, i);
                    let value = self.eval(e, i, frame)?;
                    let phase = self.phase;
                    let cell = &mut self.shared[*shared][at];
                    cell.enter(phase);
                    if cell.read_by_others || cell.read_by.is_some_and(|r| r != i) || cell.atomic {
                        return Err("race: a write after another's access".into());
                    }
                    cell.written_by = Some(i);
                    cell.value = Some(value);
                }
            }
            Stmt::OwnStore(index, e) => {
                for i in lanes {
                    let at = self.word(index, i, frame)?;
                    let value = self.word(e, i, frame)?;
                    let at = self.own_word(at, i);
                    self.memory.own[at] = value;
                }
            }
            Stmt::Output(word, e) => {
                for i in lanes {
                    let value = self.word(e, i, frame)?;
                    let at = self.global(i) * self.program.output_words as usize + *word as usize;
                    self.memory.output[at] = value;
                }
            }
            Stmt::Atomic(op, index, e) => {
                for i in lanes {
                    let first = Atomic::ALL.iter().position(|a| a == op).unwrap_or(0) as u32 * 2;
                    let at = (first + self.word(index, i, frame)? % 2) % ATOMIC_WORDS;
                    let value = self.word(e, i, frame)?;
                    let word = &mut self.memory.atomics[at as usize];
                    *word = atomic(*op, *word, value);
                }
            }
            Stmt::SharedAtomic(op, shared, index, e) => {
                for i in lanes {
                    let at = self.word(index, i, frame)? % self.program.shared_length(*shared);
                    let value = self.word(e, i, frame)?;
                    let phase = self.phase;
                    let cell = &mut self.shared[*shared][at as usize];
                    cell.enter(phase);
                    if cell.read_by.is_some() || cell.written_by.is_some() {
                        return Err("race: an atomic after another access".into());
                    }
                    cell.atomic = true;
                    let old = cell.value.ok_or("an atomic on an element never written")?;
                    cell.value = Some([atomic(*op, old[0] as u32, value).into(), 0, 0, 0]);
                }
            }
            Stmt::If(condition, then, otherwise) => {
                let mut taken = vec![false; active.len()];
                for i in lanes {
                    taken[i] = self.eval(condition, i, frame)?[0] != 0;
                }
                let rest = and_not(&active, &taken);
                let diverges = taken.contains(&true) && rest.contains(&true);
                self.memory.executed.divergent_branches += u64::from(diverges);
                let a = self.block(then, taken, frame, jumps.as_deref_mut())?;
                let b = self.block(otherwise, rest, frame, jumps)?;
                return Ok(or(&a, &b));
            }
            Stmt::Switch(selector, cases, default) => {
                // The block of each active invocation: a case's number, or one more for the default.
                let mut choice = vec![usize::MAX; active.len()];
                for &i in &lanes {
                    let value = self.word(selector, i, frame)?;
                    let case = cases
                        .iter()
                        .position(|(literals, _)| literals.contains(&value));
                    choice[i] = case.unwrap_or(cases.len());
                }
                let diverges = lanes.iter().any(|&i| choice[i] != choice[lanes[0]]);
                self.memory.executed.divergent_branches += u64::from(diverges);
                let mut end = vec![false; active.len()];
                for (n, block) in cases.iter().map(|(_, b)| b).chain([default]).enumerate() {
                    let taken = choice.iter().map(|&c| c == n).collect();
                    end = or(
                        &end,
                        &self.block(block, taken, frame, jumps.as_deref_mut())?,
                    );
                }
                return Ok(end);
            }
            Stmt::For {
                counter,
                bound,
                limit,
                body,
            } => {
                let mut bounds = vec![0; active.len()];
                for &i in &lanes {
                    bounds[i] = self.word(bound, i, frame)?.min(*limit);
                    frame.vars[*counter][i] = Value::default();
                }
                let more = |_: &mut Self, frame: &Frame<'_>, i: usize| {
                    Ok((frame.vars[*counter][i][0] as u32) < bounds[i])
                };
                return self.repeat(body, *counter, &active, true, frame, more);
            }
            Stmt::While {
                counter,
                condition,
                limit,
                body,
            }
            | Stmt::DoWhile {
                counter,
                condition,
                limit,
                body,
            } => {
                for &i in &lanes {
                    frame.vars[*counter][i] = Value::default();
                }
                let more = |this: &mut Self, frame: &Frame<'_>, i: usize| {
                    this.goes_on(condition, *counter, *limit, i, frame)
                };
                let head = matches!(stmt, Stmt::While { .. });
                return self.repeat(body, *counter, &active, head, frame, more);
            }
            Stmt::Break => {
                let jumps = jumps.ok_or("break outside a loop")?;
                jumps.broke = or(&jumps.broke, &active);
                return Ok(vec![false; active.len()]);
            }
            Stmt::Continue => {
                let jumps = jumps.ok_or("continue outside a loop")?;
                jumps.continued = or(&jumps.continued, &active);
                return Ok(vec![false; active.len()]);
            }
            Stmt::Return => {
                self.memory.executed.returns += lanes.len() as u64;
                return Ok(vec![false; active.len()]);
            }
            Stmt::Call {
                function,
                args,
                outs,
                result,
            } => {
                let callee = self
                    .program
                    .functions
                    .get(*function)
                    .ok_or("no such function")?;
                let mut inner = Frame::new(callee, active.len());
                for (param, arg) in args.iter().enumerate() {
                    for &i in &lanes {
                        inner.vars[param][i] = self.eval(arg, i, frame)?;
                    }
                }
                let end = self.block(&callee.body, active.clone(), &mut inner, None)?;
                if end != active {
                    return Err("an invocation did not come back from a function".into());
                }
                let value = callee.result.as_ref().ok_or("a function without result")?;
                for &i in &lanes {
                    let returned = self.eval(value, i, &inner)?;
                    for (&to, &from) in outs.iter().zip(&callee.outs) {
                        frame.vars[to][i] = inner.vars[from][i];
                    }
                    frame.vars[*result][i] = returned;
                }
            }
            Stmt::Barrier => {
                if lanes.len() != active.len() {
                    return Err("a barrier that not all invocations reach".into());
                }
                self.phase += 1;
                self.memory.executed.barriers += 1;
            }
            Stmt::Subgroup { result, op, args } => {
                let lanes_of = self.program.subgroup_size as usize;
                for first in (0..active.len()).step_by(lanes_of) {
                    let end = (first + lanes_of).min(active.len());
                    let lanes: Vec<usize> = (first..end).filter(|&i| active[i]).collect();
                    let executed = &mut self.memory.executed;
                    if lanes.len() == end - first {
                        executed.full_subgroups += 1;
                    } else if !lanes.is_empty() {
                        executed.partial_subgroups += 1;
                    }
                    let mut values = Vec::new();
                    for &i in &lanes {
                        let mut v = [Value::default(); 2];
                        for (v, arg) in v.iter_mut().zip(args) {
                            *v = self.eval(arg, i, frame)?;
                        }
                        values.push(((i - first) as u32, v));
                    }
                    let ty = args.first().map_or(super::tree::BOOL, |a| a.ty);
                    let results = subgroup(*op, ty, lanes_of as u32, &values)?;
                    for (&i, value) in lanes.iter().zip(results) {
                        frame.vars[*result][i] = value;
                    }
                }
            }
        }
        Ok(active)
    }

    /// Runs a loop's body until `more` is false for every invocation or it has left; who falls out of the loop.
    /// `head`: `more` is asked before the first iteration, too.
    fn repeat(
        &mut self,
        body: &Block,
        counter: Var,
        active: &Mask,
        head: bool,
        frame: &mut Frame<'_>,
        mut more: impl FnMut(&mut Self, &Frame<'_>, usize) -> Result<bool, String>,
    ) -> Result<Mask, String> {
        let mut running = active.clone();
        let mut ended = vec![false; active.len()];
        let mut ask = head;
        loop {
            for i in 0..running.len() {
                if ask && running[i] && !more(self, frame, i)? {
                    running[i] = false;
                    ended[i] = true;
                }
            }
            if !running.contains(&true) {
                return Ok(ended);
            }
            self.memory.executed.divergent_iterations += u64::from(running != *active);
            let (next, broke) = self.iteration(body, running, frame)?;
            ended = or(&ended, &broke);
            running = next;
            count(frame, counter, &running);
            ask = true;
        }
    }

    /// One iteration: who goes on to the next, and who left the loop.
    fn iteration(
        &mut self,
        body: &Block,
        running: Mask,
        frame: &mut Frame<'_>,
    ) -> Result<(Mask, Mask), String> {
        let none = vec![false; running.len()];
        let mut jumps = Jumps {
            broke: none.clone(),
            continued: none,
        };
        let before = running.iter().filter(|&&r| r).count();
        let end = self.block(body, running, frame, Some(&mut jumps))?;
        let executed = &mut self.memory.executed;
        for left in [&jumps.broke, &jumps.continued] {
            let count = left.iter().filter(|&&l| l).count();
            executed.divergent_jumps += u64::from(count > 0 && count < before);
        }
        Ok((or(&end, &jumps.continued), jumps.broke))
    }

    fn goes_on(
        &mut self,
        condition: &Expr,
        counter: Var,
        limit: u32,
        i: usize,
        frame: &Frame<'_>,
    ) -> Result<bool, String> {
        let more = (frame.vars[counter][i][0] as u32) < limit;
        Ok(self.eval(condition, i, frame)?[0] != 0 && more)
    }

    fn global(&self, i: usize) -> usize {
        self.group_index as usize * self.invocations() + i
    }

    fn own_word(&self, index: u32, i: usize) -> usize {
        self.global(i) * OWN_WORDS as usize + (index % OWN_WORDS) as usize
    }

    fn own_element(&self, shared: Shared, index: u32, i: usize) -> usize {
        let slots = self.program.shared[shared].slots;
        i * slots as usize + (index % slots) as usize
    }

    fn word(&mut self, e: &Expr, i: usize, frame: &Frame<'_>) -> Result<u32, String> {
        Ok(self.eval(e, i, frame)?[0] as u32)
    }

    fn load_shared(&mut self, shared: Shared, at: usize, i: usize) -> Result<Value, String> {
        let phase = self.phase;
        let cell = &mut self.shared[shared][at];
        cell.enter(phase);
        if cell.atomic || cell.written_by.is_some_and(|w| w != i) {
            return Err("race: a read after another's write".into());
        }
        cell.read_by_others |= cell.read_by.is_some_and(|r| r != i);
        cell.read_by = Some(i);
        cell.value
            .ok_or_else(|| "an element of workgroup memory is read before it is written".into())
    }

    /// The value of an expression in invocation `i`.
    fn eval(&mut self, e: &Expr, i: usize, frame: &Frame<'_>) -> Result<Value, String> {
        let mut a = [Value::default(); 4];
        for (value, arg) in a.iter_mut().zip(&e.args) {
            *value = self.eval(arg, i, frame)?;
        }
        let index = a[0][0] as u32;
        let from = e.args.first().map_or(e.ty, |a| a.ty);
        let word = |w: u32| Ok([u64::from(w), 0, 0, 0]);
        let each = |f: &dyn Fn(usize) -> Result<u64, String>| {
            let mut value = Value::default();
            for (c, v) in value.iter_mut().enumerate().take(e.ty.size.into()) {
                *v = f(c)? & e.ty.scalar.mask();
            }
            Ok(value)
        };
        match e.op {
            Op::Const(value) => Ok(value),
            Op::Var(var) => Ok(frame.vars[var][i]),
            Op::Builtin(builtin) => word(self.builtin(builtin, i as u32)),
            Op::Input => word(self.program.input[(index % INPUT_WORDS) as usize]),
            Op::Uniform => word(self.program.uniform[(index % UNIFORM_WORDS) as usize]),
            Op::Push(n) => word(self.program.push[usize::from(n)]),
            Op::Spec(n) => word(self.program.spec[usize::from(n)]),
            Op::Own => word(self.memory.own[self.own_word(index, i)]),
            Op::Element(array) => {
                let elements = &frame.arrays[array];
                Ok(elements[index as usize % elements.len()][i])
            }
            Op::SharedAny(shared) => {
                let at = index % self.program.shared_length(shared);
                self.load_shared(shared, at as usize, i)
            }
            Op::SharedOwn(shared) => {
                self.load_shared(shared, self.own_element(shared, index, i), i)
            }
            Op::Unary(op) => each(&|c| unary(op, from.scalar, a[0][c], e.ty.scalar)),
            Op::Binary(op) => each(&|c| binary(op, from.scalar, a[0][c], a[1][c])),
            Op::Compare(op) => each(&|c| Ok(compare(op, from.scalar, a[0][c], a[1][c])?.into())),
            Op::Select => each(&|c| Ok(if a[0][c] != 0 { a[1][c] } else { a[2][c] })),
            Op::Convert => each(&|c| convert(from.scalar, e.ty.scalar, a[0][c])),
            Op::Bitcast => Ok(a[0]),
            Op::Compose => Ok([a[0][0], a[1][0], a[2][0], a[3][0]]),
            Op::Extract(c) => Ok([a[0][usize::from(c)], 0, 0, 0]),
            Op::ExtractDynamic => Ok([a[0][a[1][0] as usize % usize::from(from.size)], 0, 0, 0]),
            Op::Shuffle(components) => {
                let both: Vec<u64> = e
                    .args
                    .iter()
                    .zip(a)
                    .flat_map(|(arg, v)| v.into_iter().take(arg.ty.size.into()))
                    .collect();
                each(&|c| Ok(both[usize::from(components[c])]))
            }
            Op::Any => Ok([a[0][..from.size.into()].contains(&1).into(), 0, 0, 0]),
            Op::All => Ok([(!a[0][..from.size.into()].contains(&0)).into(), 0, 0, 0]),
            Op::BitfieldExtract { offset, count } => each(&|c| {
                let field = (a[0][c] >> offset) & ((1u64 << count) - 1);
                let negative = count > 0 && field >> (count - 1) & 1 == 1;
                let sign = if from.scalar.is_signed() && negative {
                    !0 << count
                } else {
                    0
                };
                Ok(field | sign)
            }),
            Op::BitfieldInsert { offset, count } => each(&|c| {
                let field = ((1u64 << count) - 1) << offset;
                Ok(a[0][c] & !field | (a[1][c] << offset) & field)
            }),
        }
    }

    fn builtin(&self, builtin: Builtin, i: u32) -> u32 {
        let [sx, sy, _] = self.program.local_size;
        let size = self.program.subgroup_size;
        let local = [i % sx, i / sx % sy, i / (sx * sy)];
        match builtin {
            Builtin::LocalIndex => i,
            Builtin::LocalId(c) => local[usize::from(c)],
            Builtin::GroupId(c) => self.group[usize::from(c)],
            Builtin::GlobalId(c) => {
                let c = usize::from(c);
                self.group[c] * self.program.local_size[c] + local[c]
            }
            Builtin::GroupCount(c) => self.program.groups[usize::from(c)],
            Builtin::Lane => i % size,
            Builtin::SubgroupId => i / size,
            Builtin::SubgroupCount => self.program.invocations().div_ceil(size),
            Builtin::SubgroupSize => size,
        }
    }
}

/// The counter of those that go on.
fn count(frame: &mut Frame<'_>, counter: Var, running: &Mask) {
    for (value, _) in frame.vars[counter]
        .iter_mut()
        .zip(running)
        .filter(|(_, r)| **r)
    {
        value[0] = u64::from((value[0] as u32).wrapping_add(1));
    }
}

fn atomic(op: Atomic, a: u32, b: u32) -> u32 {
    match op {
        Atomic::Add => a.wrapping_add(b),
        Atomic::And => a & b,
        Atomic::Or => a | b,
        Atomic::Xor => a ^ b,
        Atomic::UMin => a.min(b),
        Atomic::UMax => a.max(b),
        Atomic::SMin => (a as i32).min(b as i32) as u32,
        Atomic::SMax => (a as i32).max(b as i32) as u32,
    }
}

/// The number that an integer's bits stand for.
fn number(scalar: Scalar, bits: u64) -> i128 {
    if scalar.is_signed() {
        let shift = 64 - scalar.bits();
        i128::from((bits << shift) as i64 >> shift)
    } else {
        i128::from(bits)
    }
}

/// The number that a float's bits stand for.
fn real(scalar: Scalar, bits: u64) -> f64 {
    if scalar == Scalar::F32 {
        return f32::from_bits(bits as u32).into();
    }
    let magnitude = f64::from((bits & 0x3ff) as u32);
    let exponent = (bits >> 10 & 0x1f) as i32;
    let value = if exponent == 0 {
        magnitude * 2f64.powi(-24)
    } else {
        (1024.0 + magnitude) * 2f64.powi(exponent - 25)
    };
    if bits >> 15 & 1 == 1 { -value } else { value }
}

/// The bits of a number rounded to nearest even, if it is zero or normal.
fn float(scalar: Scalar, value: f64) -> Result<u64, String> {
    let (fraction, bias) = float::format(scalar);
    let bits = value.to_bits();
    let sign = (bits >> 63) << (scalar.bits() - 1);
    if value == 0.0 {
        return Ok(sign);
    }
    let exponent = (bits >> 52 & 0x7ff) as i32 - 1023 + bias;
    if exponent < 1 {
        return Err(format!("a denormal float: {value:e}"));
    }
    let long = (exponent as u64) << 52 | bits & ((1 << 52) - 1);
    let dropped = 52 - fraction;
    let (kept, rest) = (long >> dropped, long & ((1 << dropped) - 1));
    let half = 1 << (dropped - 1);
    let rounded = kept + u64::from(rest > half || rest == half && kept & 1 == 1);
    if rounded >> fraction > 2 * bias as u64 {
        return Err(format!("a float too large: {value:e}"));
    }
    Ok(sign | rounded)
}

fn unary(op: Unary, scalar: Scalar, a: u64, to: Scalar) -> Result<u64, String> {
    let n = number(scalar, a);
    let signed = scalar.is_signed();
    Ok(match op {
        Unary::LogicalNot => u64::from(a == 0),
        Unary::Not => !a,
        Unary::Neg => (-n) as u64,
        Unary::Abs => n.unsigned_abs() as u64,
        Unary::Sign => n.signum() as u64,
        Unary::BitReverse => (a as u32).reverse_bits().into(),
        Unary::BitCount => a.count_ones().into(),
        Unary::FindLsb if a == 0 => u64::MAX,
        Unary::FindLsb => a.trailing_zeros().into(),
        Unary::FindMsb => {
            let bits = if signed && n < 0 {
                !(a as u32)
            } else {
                a as u32
            };
            bits.checked_ilog2().map_or(u64::MAX, u64::from)
        }
        Unary::FNeg => a ^ 1 << (scalar.bits() - 1),
        Unary::FAbs => a & !(1 << (scalar.bits() - 1)),
        Unary::Floor => float(scalar, real(scalar, a).floor())?,
        Unary::Ceil => float(scalar, real(scalar, a).ceil())?,
        Unary::Trunc => float(scalar, real(scalar, a).trunc())?,
        Unary::RoundEven => float(scalar, real(scalar, a).round_ties_even())?,
        Unary::Sane => {
            let (fraction, bias) = float::format(to);
            let (least, too_large) = float::sane_bits(to);
            let sign = 1 << (to.bits() - 1);
            let magnitude = a & (sign - 1);
            if magnitude < least {
                0
            } else if magnitude >= too_large {
                a & (sign | ((1 << fraction) - 1)) | (bias as u64) << fraction
            } else {
                a
            }
        }
    })
}

fn binary(op: Binary, scalar: Scalar, a: u64, b: u64) -> Result<u64, String> {
    let (x, y) = (number(scalar, a), number(scalar, b));
    let (f, g) = (|| real(scalar, a), || real(scalar, b));
    let count = (b % u64::from(scalar.bits())) as u32;
    // The divisor, with the lowest bit set; never 0, and not -1, for which the quotient may not fit.
    let divisor = match number(scalar, b | 1) {
        -1 => 1,
        d => d,
    };
    Ok(match op {
        Binary::LogicalAnd | Binary::And => a & b,
        Binary::LogicalOr | Binary::Or => a | b,
        Binary::LogicalNotEqual | Binary::Xor => a ^ b,
        Binary::LogicalEqual => u64::from(a == b),
        Binary::Add => a.wrapping_add(b),
        Binary::Sub => a.wrapping_sub(b),
        Binary::Mul => a.wrapping_mul(b),
        Binary::MulHigh => ((x * y) >> 32) as u64,
        Binary::Carry => (a + b) >> 32,
        Binary::Borrow => u64::from(a < b),
        Binary::Shl => a << count,
        Binary::Shr => (x >> count) as u64,
        Binary::Div => (x / divisor) as u64,
        Binary::Rem => (x % divisor) as u64,
        Binary::Mod => {
            let remainder = x % divisor;
            let other_sign = remainder != 0 && (remainder < 0) != (divisor < 0);
            (if other_sign {
                remainder + divisor
            } else {
                remainder
            }) as u64
        }
        Binary::Min => x.min(y) as u64,
        Binary::Max => x.max(y) as u64,
        // An f64 holds the exact product of two f32, and the exact sum of two f16; the sum of two f32 rounded to f64
        // and then to f32 is the sum rounded to f32, because f64 has more than twice f32's bits.
        Binary::FAdd => float(scalar, f() + g())?,
        Binary::FSub => float(scalar, f() - g())?,
        Binary::FMul => float(scalar, f() * g())?,
        Binary::FMin => {
            if f() < g() {
                a
            } else {
                b
            }
        }
        Binary::FMax => {
            if f() > g() {
                a
            } else {
                b
            }
        }
    })
}

fn compare(op: Compare, scalar: Scalar, a: u64, b: u64) -> Result<bool, String> {
    let order = if scalar.is_float() {
        real(scalar, a)
            .partial_cmp(&real(scalar, b))
            .ok_or("a comparison of NaN")?
    } else {
        number(scalar, a).cmp(&number(scalar, b))
    };
    Ok(match op {
        Compare::Equal => order.is_eq(),
        Compare::NotEqual => order.is_ne(),
        Compare::Less => order.is_lt(),
        Compare::LessEqual => order.is_le(),
        Compare::Greater => order.is_gt(),
        Compare::GreaterEqual => order.is_ge(),
    })
}

fn convert(from: Scalar, to: Scalar, a: u64) -> Result<u64, String> {
    Ok(match (from.is_float(), to.is_float()) {
        (false, false) => number(from, a) as u64,
        (false, true) if to == Scalar::F16 => float(to, (a & 63) as f64)?,
        (false, true) => float(to, number(from, a) as f64)?,
        (true, true) => float(to, real(from, a))?,
        (true, false) => {
            let (low, high) = float::clamp_for(from, to).ok_or("no such conversion")?;
            real(from, a).clamp(low as f64, high as f64).trunc() as i64 as u64
        }
    })
}

/// Combine two values of a type.
fn combine(op: Combine, ty: Type, a: Value, b: Value) -> Value {
    let s = ty.scalar;
    let mut value = Value::default();
    for c in 0..usize::from(ty.size) {
        let less = if s.is_float() {
            real(s, a[c]) < real(s, b[c])
        } else {
            number(s, a[c]) < number(s, b[c])
        };
        value[c] = s.mask()
            & match op {
                Combine::Add => a[c].wrapping_add(b[c]),
                Combine::Mul => a[c].wrapping_mul(b[c]),
                Combine::Min if less => a[c],
                Combine::Max if !less => a[c],
                Combine::Min | Combine::Max => b[c],
                Combine::And => a[c] & b[c],
                Combine::Or => a[c] | b[c],
                Combine::Xor => a[c] ^ b[c],
            };
    }
    value
}

/// What an exclusive scan gives where nothing is below.
fn identity(op: Combine, ty: Type) -> Value {
    let s = ty.scalar;
    let sign = 1 << (s.bits() - 1);
    let bits = match op {
        Combine::Add | Combine::Or | Combine::Xor => 0,
        Combine::Mul => 1,
        Combine::And => s.mask(),
        Combine::Min if s.is_signed() => s.mask() ^ sign,
        Combine::Min => s.mask(),
        Combine::Max if s.is_signed() => sign,
        Combine::Max => 0,
    };
    let mut value = Value::default();
    value[..ty.size.into()].fill(bits);
    value
}

/// The results of an operation for the active lanes, each given by its number and operands.
fn subgroup(
    op: Subgroup,
    ty: Type,
    size: u32,
    lanes: &[(u32, [Value; 2])],
) -> Result<Vec<Value>, String> {
    let of = |lane: u32| {
        let found = lanes.iter().find(|l| l.0 == lane);
        found
            .map(|l| l.1[0])
            .ok_or_else(|| format!("lane {lane} is not active"))
    };
    let truth = |b: bool| [u64::from(b), 0, 0, 0];
    let first = lanes.first().map(|l| l.0);
    let one = |&(lane, [value, second]): &(u32, [Value; 2])| -> Result<Value, String> {
        Ok(match op {
            Subgroup::Elect => truth(Some(lane) == first),
            Subgroup::Any => truth(lanes.iter().any(|l| l.1[0][0] != 0)),
            Subgroup::All => truth(lanes.iter().all(|l| l.1[0][0] != 0)),
            Subgroup::AllEqual => truth(lanes.iter().all(|l| l.1[0] == lanes[0].1[0])),
            Subgroup::Ballot => {
                let bits = lanes
                    .iter()
                    .filter(|l| l.1[0][0] != 0)
                    .map(|l| 1u64 << l.0)
                    .sum();
                [bits, 0, 0, 0]
            }
            Subgroup::InverseBallot => {
                if lanes.iter().any(|l| l.1[0] != value) {
                    return Err("an inverse ballot of values that differ".into());
                }
                truth(value[0] >> lane & 1 == 1)
            }
            Subgroup::BallotBitCount(scan) => {
                let kept = match scan {
                    Scan::Reduce => (1 << size) - 1,
                    Scan::Inclusive => (2 << lane) - 1,
                    Scan::Exclusive => (1 << lane) - 1,
                };
                [u64::from((value[0] & kept).count_ones()), 0, 0, 0]
            }
            Subgroup::BroadcastFirst => lanes[0].1[0],
            Subgroup::Broadcast(from) => of(from.into())?,
            Subgroup::Shuffle => of(second[0] as u32 % size)?,
            Subgroup::ShuffleXor(mask) => of(lane ^ u32::from(mask))?,
            Subgroup::Combine(op, scan) => lanes
                .iter()
                .filter(|l| match scan {
                    Scan::Reduce => true,
                    Scan::Inclusive => l.0 <= lane,
                    Scan::Exclusive => l.0 < lane,
                })
                .map(|l| l.1[0])
                .reduce(|a, b| combine(op, ty, a, b))
                .unwrap_or_else(|| identity(op, ty)),
            Subgroup::Clustered(op, cluster) => lanes
                .iter()
                .filter(|l| l.0 / u32::from(cluster) == lane / u32::from(cluster))
                .map(|l| l.1[0])
                .reduce(|a, b| combine(op, ty, a, b))
                .ok_or("an empty cluster")?,
            Subgroup::QuadBroadcast(from) => of(lane & !3 | u32::from(from))?,
            Subgroup::QuadSwap(direction) => of(lane ^ [1, 2, 3][usize::from(direction)])?,
        })
    };
    lanes.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::rng::Rng;
    use half::f16;

    /// Sane floats and what is computed from them, against the machine's own arithmetic and another crate's.
    #[test]
    fn floats_are_rounded_as_ieee_says() {
        let mut rng = Rng::new(1);
        for _ in 0..200_000 {
            let bits = [(); 2].map(|()| {
                unary(Unary::Sane, Scalar::U32, rng.next_u32().into(), Scalar::F32).unwrap()
            });
            let [a, b] = bits.map(|b| f32::from_bits(b as u32));
            let op = |op| f32::from_bits(binary(op, Scalar::F32, bits[0], bits[1]).unwrap() as u32);
            assert_eq!(op(Binary::FAdd), a + b);
            assert_eq!(op(Binary::FSub), a - b);
            assert_eq!(op(Binary::FMul), a * b);

            let bits = [(); 2].map(|()| {
                unary(
                    Unary::Sane,
                    Scalar::U16,
                    (rng.next_u32() >> 16).into(),
                    Scalar::F16,
                )
                .unwrap()
            });
            let [a, b] = bits.map(|b| f16::from_bits(b as u16));
            // Sums and products of two of them are exact in f32.
            let op = |op| f16::from_bits(binary(op, Scalar::F16, bits[0], bits[1]).unwrap() as u16);
            assert_eq!(op(Binary::FAdd), f16::from_f32(a.to_f32() + b.to_f32()));
            assert_eq!(op(Binary::FMul), f16::from_f32(a.to_f32() * b.to_f32()));
            assert_eq!(real(Scalar::F16, bits[0]), a.to_f64());
        }
    }

    #[test]
    fn integers_wrap() {
        let all = u64::from(u32::MAX);
        let i32_of = |op, a: i32, b: i32| {
            let bits = binary(op, Scalar::I32, u64::from(a as u32), u64::from(b as u32)).unwrap();
            bits as u32 as i32
        };
        assert_eq!(i32_of(Binary::Div, i32::MIN, -1), i32::MIN);
        assert_eq!(i32_of(Binary::Div, -7, 2), -2);
        assert_eq!(i32_of(Binary::Rem, -7, 5), -2);
        assert_eq!(i32_of(Binary::Mod, -7, 5), 3);
        assert_eq!(i32_of(Binary::Mod, 7, -5), -3);
        assert_eq!(i32_of(Binary::MulHigh, -1, 1), -1);
        assert_eq!(
            binary(Binary::MulHigh, Scalar::U32, all, all),
            Ok(0xffff_fffe)
        );
        assert_eq!(binary(Binary::Carry, Scalar::U32, all, 1), Ok(1));
        assert_eq!(binary(Binary::Borrow, Scalar::U32, 0, 1), Ok(1));
        let msb = |s, a: u64| unary(Unary::FindMsb, s, a, s).unwrap() as u32;
        assert_eq!(msb(Scalar::I32, 0xffff_ff00), 7);
        assert_eq!(msb(Scalar::I32, all), u32::MAX);
        assert_eq!(msb(Scalar::U32, all), 31);
    }

    /// Lanes 1, 2, 5 and 6 of 8 with the values 3, 9, 4 and 9.
    #[test]
    fn subgroup_operations() {
        let lanes = [(1, 3), (2, 9), (5, 4), (6, 9)]
            .map(|(lane, v)| (lane, [[v, 0, 0, 0], [u64::from(lane) ^ 3, 0, 0, 0]]));
        let of = |op| {
            let u32_ty = Type::scalar(Scalar::U32);
            let results = subgroup(op, u32_ty, 8, &lanes);
            results.map(|r| r.iter().map(|v| v[0]).collect::<Vec<_>>())
        };
        use Subgroup as S;
        assert_eq!(of(S::Elect), Ok(vec![1, 0, 0, 0]));
        assert_eq!(of(S::AllEqual), Ok(vec![0; 4]));
        assert_eq!(of(S::Ballot), Ok(vec![0b0110_0110; 4]));
        assert_eq!(of(S::BroadcastFirst), Ok(vec![3; 4]));
        assert_eq!(of(S::Broadcast(5)), Ok(vec![4; 4]));
        assert!(of(S::Broadcast(0)).is_err());
        assert_eq!(of(S::Shuffle), Ok(vec![9, 3, 9, 4]));
        assert_eq!(of(S::ShuffleXor(3)), Ok(vec![9, 3, 9, 4]));
        assert_eq!(of(S::Combine(Combine::Add, Scan::Reduce)), Ok(vec![25; 4]));
        assert_eq!(
            of(S::Combine(Combine::Add, Scan::Inclusive)),
            Ok(vec![3, 12, 16, 25])
        );
        assert_eq!(
            of(S::Combine(Combine::Add, Scan::Exclusive)),
            Ok(vec![0, 3, 12, 16])
        );
        assert_eq!(
            of(S::Combine(Combine::Min, Scan::Exclusive)),
            Ok(vec![u64::from(u32::MAX), 3, 3, 3])
        );
        assert_eq!(of(S::Clustered(Combine::Add, 4)), Ok(vec![12, 12, 13, 13]));
        assert_eq!(of(S::QuadSwap(2)), Ok(vec![9, 3, 9, 4]));
        // 3 is 0b11, 9 is 0b1001, 4 is 0b100.
        assert_eq!(of(S::BallotBitCount(Scan::Inclusive)), Ok(vec![2, 1, 1, 2]));
        assert_eq!(of(S::BallotBitCount(Scan::Exclusive)), Ok(vec![1, 1, 1, 2]));
    }
}
