// SPDX-License-Identifier: MIT
//! Makes programs from seeds.
//!
//! Each program uses a random part of what the configuration allows, so that features meet in many combinations.
//! Conditions depend on the invocation and on the input. At the end every variable goes into the output.

use super::config::Config;
use super::float;
use super::rng::Rng;
use super::tree::{
    ATOMIC_WORDS, Array, Atomic, BOOL, Binary, Block, Builtin, Combine, Compare, Expr, Function,
    INPUT_WORDS, LocalArray, OWN_WORDS, Op, PUSH_WORDS, Program, SPEC_CONSTANTS, Scalar, Scan,
    SharedArray, Stmt, Subgroup, Type, U32, UNIFORM_WORDS, Unary, Value, Var, Variable,
};

/// The program of a seed.
#[must_use]
pub fn program(seed: u64, config: &Config) -> Program {
    let mut rng = Rng::new(seed);
    let config = part_of(config, &mut rng);
    Generator::new(rng, config, seed).program()
}

/// A random part of what is allowed, and the program's size.
fn part_of(config: &Config, rng: &mut Rng) -> Config {
    let mut keep = |allowed: bool, percent: usize| rng.chance(percent) && allowed;
    let mut part = Config {
        int8: keep(config.int8, 30),
        int16: keep(config.int16, 30),
        int64: keep(config.int64, 25),
        float16: keep(config.float16, 25),
        float32: keep(config.float32, 75),
        vectors: keep(config.vectors, 60),
        subgroups: keep(config.subgroups, 55),
        maximal_reconvergence: config.maximal_reconvergence,
        shared: keep(config.shared, 45),
        atomics: keep(config.atomics, 45),
        arrays: keep(config.arrays, 40),
        functions: keep(config.functions, 45),
        loops: keep(config.loops, 85),
        switches: keep(config.switches, 70),
        returns: keep(config.returns, 40),
        uniform_buffer: keep(config.uniform_buffer, 40),
        push_constants: keep(config.push_constants, 40),
        specialization: keep(config.specialization, 40),
        division: keep(config.division, 50),
        ..config.clone()
    };
    if keep(true, 10) {
        part.statements *= 4;
    }
    if keep(true, 5) {
        part.depth = part.depth.max(10);
        part.loops = config.loops;
    }
    part
}

/// Iterations of nested loops together, at most.
const MAX_TRIPS: u32 = 48;
/// Words of the output that statements in the program's middle write.
const EARLY_OUTPUTS: u32 = 4;
/// Words of the output for variables.
const LATE_OUTPUTS: u32 = 11;

/// What may be done with workgroup memory until the next barrier.
#[derive(Debug, Clone, PartialEq)]
enum Phase {
    /// Anyone reads anything.
    Read,
    /// Each invocation reads and writes its own; arrays that are marked get atomics instead.
    Write(Vec<bool>),
}

/// The innermost loop.
#[derive(Clone)]
struct Around {
    /// All invocations are in it and leave it together; then jumps come only under uniform conditions, in this phase.
    uniform: Option<Phase>,
}

/// Where a statement goes.
#[derive(Clone)]
struct Context {
    /// In main.
    main: bool,
    /// All invocations of the workgroup come here together.
    full: bool,
    /// Subgroup operations are defined.
    subgroups: bool,
    /// Barriers may come (only if also `full`).
    barriers: bool,
    /// Returns may come.
    returns: bool,
    around: Option<Around>,
    /// Levels left.
    depth: usize,
    /// Iterations of the loops around, together.
    trips: u32,
}

impl Context {
    /// In a branch that only some invocations take.
    fn divergent(&self) -> Self {
        Self {
            full: false,
            ..self.inner()
        }
    }

    fn inner(&self) -> Self {
        Self {
            depth: self.depth.saturating_sub(1),
            ..self.clone()
        }
    }
}

/// The function being made.
#[derive(Default)]
struct Local {
    vars: Vec<Variable>,
    read_only: Vec<bool>,
    uniform_counters: Vec<Var>,
    arrays: Vec<LocalArray>,
}

struct Generator {
    rng: Rng,
    config: Config,
    scalars: Vec<Scalar>,
    program: Program,
    /// By function: it has subgroup operations.
    with_subgroups: Vec<bool>,
    local: Local,
    in_main: bool,
    phase: Phase,
    budget: usize,
}

impl Generator {
    fn new(mut rng: Rng, config: Config, seed: u64) -> Self {
        let mut scalars = vec![
            Scalar::U32,
            Scalar::U32,
            Scalar::I32,
            Scalar::I32,
            Scalar::Bool,
        ];
        for (on, types) in [
            (config.float32, &[Scalar::F32, Scalar::F32, Scalar::F32][..]),
            (config.float16, &[Scalar::F16, Scalar::F16]),
            (config.int8, &[Scalar::I8, Scalar::U8]),
            (config.int16, &[Scalar::I16, Scalar::U16]),
            (config.int64, &[Scalar::I64, Scalar::U64]),
        ] {
            if on {
                scalars.extend(types);
            }
        }
        let local_size = local_size(&config, &mut rng);
        let mut words = |n: u32| -> Vec<u32> { (0..n).map(|_| input_word(&mut rng)).collect() };
        let program = Program {
            seed,
            functions: vec![],
            shared: vec![],
            local_size,
            groups: [1; 3],
            output_words: EARLY_OUTPUTS + LATE_OUTPUTS + 1,
            subgroup_size: config.subgroup_size,
            early_exits: config.spare_lavapipe,
            reconvergence: config.maximal_reconvergence && config.subgroups,
            input: words(INPUT_WORDS),
            uniform: words(UNIFORM_WORDS),
            own: vec![],
            output: vec![],
            atomics: words(ATOMIC_WORDS),
            push: words(PUSH_WORDS),
            spec: words(SPEC_CONSTANTS),
        };
        Self {
            rng,
            config,
            scalars,
            program,
            with_subgroups: vec![],
            local: Local::default(),
            in_main: false,
            phase: Phase::Read,
            budget: 0,
        }
    }

    fn program(mut self) -> Program {
        self.program.groups = match self.rng.below(8) {
            0 => [1, 1, 1],
            1 => [1, 2, 1],
            2 => [1, 1, 2],
            3 => [2, 2, 1],
            4 => [3, 1, 1],
            _ => [2, 1, 1],
        };
        if self.config.shared {
            for _ in 0..self.rng.range(1, 2) {
                let ty = loop {
                    let ty = self.ty();
                    if ty.scalar != Scalar::Bool {
                        break ty;
                    }
                };
                let slots = self.rng.pick(&[1, 1, 2, 4]);
                self.program.shared.push(SharedArray { ty, slots });
            }
        }
        if self.config.functions {
            for _ in 0..self.rng.range(1, 3) {
                self.function();
            }
        }
        self.main();
        let invocations = self.program.invocations() * self.program.group_count();
        let rng = &mut self.rng;
        self.program.own = (0..invocations * OWN_WORDS)
            .map(|_| input_word(rng))
            .collect();
        self.program.output = (0..invocations * self.program.output_words)
            .map(|_| rng.next_u32())
            .collect();
        self.program
    }

    fn ty(&mut self) -> Type {
        let scalar = self.rng.pick(&self.scalars);
        let size = if self.config.vectors && self.rng.chance(35) {
            self.rng.range(2, 4) as u8
        } else {
            1
        };
        Type::vector(scalar, size)
    }

    fn variable(&mut self, ty: Type) -> Var {
        let init = self.value(ty);
        self.local.vars.push(Variable { ty, init });
        self.local.read_only.push(false);
        self.local.vars.len() - 1
    }

    fn counter(&mut self) -> Var {
        let var = self.variable(U32);
        self.local.read_only[var] = true;
        var
    }

    fn local_arrays(&mut self) {
        if self.config.arrays {
            for _ in 0..self.rng.range(1, 2) {
                let ty = self.ty();
                let element = Variable {
                    ty,
                    init: self.value(ty),
                };
                let length = self.rng.pick(&[2, 4, 4, 8, 16]);
                self.local.arrays.push(LocalArray { element, length });
            }
        }
    }

    fn function(&mut self) {
        self.local = Local::default();
        self.in_main = false;
        let params = self.rng.range(1, 3);
        for _ in 0..params {
            let ty = self.ty();
            self.variable(ty);
        }
        let outs: Vec<Var> = (0..self.rng.below(3))
            .map(|_| {
                let ty = self.ty();
                self.variable(ty)
            })
            .collect();
        for _ in 0..self.rng.range(1, 2) {
            let ty = self.ty();
            self.variable(ty);
        }
        if self.rng.chance(30) {
            self.local_arrays();
        }
        let subgroups = self.config.subgroups && self.rng.chance(40);
        let context = Context {
            main: false,
            full: false,
            subgroups,
            barriers: false,
            returns: false,
            around: None,
            depth: 2,
            trips: MAX_TRIPS / 4,
        };
        self.budget = 4;
        let count = self.rng.range(1, 3);
        let mut body = self.block(&context, count);
        for &out in &outs {
            let ty = self.local.vars[out].ty;
            let value = self.stored(ty, 2);
            body.push(Stmt::Assign(out, value));
        }
        let ty = self.ty();
        let result = Some(self.stored(ty, 2));
        let Local { vars, arrays, .. } = std::mem::take(&mut self.local);
        self.program.functions.push(Function {
            vars,
            params,
            outs,
            arrays,
            body,
            result,
        });
        self.with_subgroups.push(subgroups);
    }

    fn main(&mut self) {
        self.in_main = true;
        for _ in 0..self.rng.range(4, 8) {
            let ty = self.ty();
            self.variable(ty);
        }
        self.local_arrays();
        let mut body = vec![];
        // Nothing is in workgroup memory yet that could be read.
        self.phase = Phase::Write(vec![true; self.program.shared.len()]);
        for var in 0..self.local.vars.len() {
            if self.rng.chance(60) {
                let value = self.stored(self.local.vars[var].ty, 1);
                body.push(Stmt::Assign(var, value));
            }
        }
        let arrays = self.program.shared.clone();
        for (shared, array) in arrays.iter().enumerate() {
            for slot in 0..array.slots {
                let value = self.stored(array.ty, 2);
                body.push(Stmt::SharedStore(shared, Expr::word(slot), value));
            }
        }
        if !arrays.is_empty() {
            body.push(Stmt::Barrier);
        }
        self.phase = Phase::Read;
        let mut context = Context {
            main: true,
            full: true,
            subgroups: self.config.subgroups,
            barriers: self.config.shared,
            returns: false,
            around: None,
            depth: self.config.depth,
            trips: 1,
        };
        self.budget = self
            .rng
            .range(self.config.statements / 2, self.config.statements * 3 / 2);
        while self.budget > 0 {
            let count = self.budget.min(6);
            body.append(&mut self.block(&context, count));
        }
        if self.config.returns {
            body.append(&mut self.results(2));
            context = Context {
                full: false,
                subgroups: false,
                barriers: false,
                returns: true,
                depth: 3,
                ..context
            };
            self.budget = self.rng.range(3, 6);
            while self.budget > 0 {
                let count = self.budget;
                body.append(&mut self.block(&context, count));
            }
        }
        body.append(&mut self.results(LATE_OUTPUTS));
        let Local { vars, arrays, .. } = std::mem::take(&mut self.local);
        let main = Function {
            vars,
            params: 0,
            outs: vec![],
            arrays,
            body,
            result: None,
        };
        self.program.functions.push(main);
    }

    /// Writes variables' words to the output, the first ones as they are, the others in a hash.
    fn results(&mut self, words: u32) -> Block {
        let mut body = vec![];
        let mut at = 0;
        // Those that do not fit.
        let mut rest = vec![];
        for var in 0..self.local.vars.len() {
            let ty = self.local.vars[var].ty;
            for component in 0..ty.size {
                for word in words_of(Expr::var(var, ty).extract(component)) {
                    if at < words {
                        body.push(Stmt::Output(EARLY_OUTPUTS + at, word));
                        at += 1;
                    } else {
                        rest.push(word);
                    }
                }
            }
        }
        let mut hash = Expr::word(0x811c_9dc5);
        for word in rest {
            hash = Expr::binary(Binary::Xor, hash, word);
            hash = Expr::binary(Binary::Mul, hash, Expr::word(0x0100_0193));
        }
        for array in 0..self.local.arrays.len() {
            let LocalArray { element, length } = self.local.arrays[array].clone();
            let index = self.rng.below(length as usize) as u32;
            let element = Expr::new(element.ty, Op::Element(array), vec![Expr::word(index)]);
            for word in words_of(element.extract(0)) {
                hash = Expr::binary(Binary::Add, hash, word);
            }
        }
        body.push(Stmt::Output(EARLY_OUTPUTS + LATE_OUTPUTS, hash));
        body
    }

    // Statements.

    fn block(&mut self, context: &Context, count: usize) -> Block {
        let mut block = vec![];
        for _ in 0..count {
            if self.budget == 0 {
                break;
            }
            self.budget -= 1;
            self.statement(context, &mut block);
        }
        block
    }

    /// A block in a statement: it leaves workgroup memory in the phase in which it found it, or with a jump.
    fn nested(&mut self, context: &Context, jump: bool) -> Block {
        let phase = self.phase.clone();
        let count = self.rng.range(1, 3);
        let mut block = self.block(context, count);
        if jump
            && self.rng.chance(20)
            && let Some(jump) = self.jump(context)
        {
            block.push(jump);
            self.phase = phase;
            return block;
        }
        if self.phase != phase {
            block.push(Stmt::Barrier);
            self.phase = phase;
        }
        block
    }

    /// Break, continue or return, if one may come here.
    fn jump(&mut self, context: &Context) -> Option<Stmt> {
        let mut jumps = vec![];
        if let Some(around) = &context.around {
            let allowed = match &around.uniform {
                Some(phase) => context.full && *phase == self.phase,
                None => true,
            };
            if allowed {
                jumps.extend([Stmt::Break, Stmt::Continue]);
            }
        }
        if context.returns {
            jumps.push(Stmt::Return);
        }
        (!jumps.is_empty()).then(|| jumps.swap_remove(self.rng.below(jumps.len())))
    }

    fn statement(&mut self, context: &Context, to: &mut Block) {
        let deep = context.depth > 0;
        let nesting = if self.config.depth > 6 { 40 } else { 14 };
        let on = |condition: bool, weight: usize| if condition { weight } else { 0 };
        let loops = deep && self.config.loops;
        let writable = context.main && matches!(self.phase, Phase::Write(_));
        let weights = [
            30,
            on(self.config.vectors, 4),
            on(!self.local.arrays.is_empty(), 8),
            on(writable, 14),
            4,
            on(context.main, 3),
            on(self.config.atomics, 6),
            on(deep, nesting),
            on(deep && self.config.switches, 6),
            on(loops, nesting * 2 / 3),
            on(loops, nesting / 3),
            on(loops, nesting / 4),
            10,
            on(
                !self.program.functions.is_empty() && self.config.functions,
                8,
            ),
            on(context.barriers && context.full, 12),
            on(context.subgroups, if context.full { 14 } else { 40 }),
        ];
        match self.rng.weighted(&weights) {
            1 if self.assign_component(to) => {}
            2 => {
                let array = self.rng.below(self.local.arrays.len());
                let ty = self.local.arrays[array].element.ty;
                let (index, value) = (self.index(), self.stored(ty, self.config.expression_depth));
                to.push(Stmt::AssignElement(array, index, value));
            }
            3 => self.shared_store(to),
            4 => {
                let (index, value) = (self.index(), self.stored(U32, self.config.expression_depth));
                to.push(Stmt::OwnStore(index, value));
            }
            5 => {
                let word = self.rng.below(EARLY_OUTPUTS as usize) as u32;
                let value = self.stored(U32, self.config.expression_depth);
                to.push(Stmt::Output(word, value));
            }
            6 => {
                let op = self.rng.pick(&Atomic::ALL);
                let (index, value) = (self.index(), self.stored(U32, 2));
                to.push(Stmt::Atomic(op, index, value));
            }
            7 => self.branch(context, to),
            8 => self.switch(context, to),
            n @ 9..=11 => self.repeat(context, n - 9, to),
            12 => match self.jump(context) {
                Some(jump) => {
                    let uniform = matches!(context.around, Some(Around { uniform: Some(_) }));
                    let condition = if uniform && !matches!(jump, Stmt::Return) {
                        self.uniform_condition()
                    } else {
                        self.condition()
                    };
                    let mut then = vec![];
                    if self.rng.chance(50) {
                        self.assign(&mut then);
                    }
                    then.push(jump);
                    to.push(Stmt::If(condition, then, vec![]));
                }
                None => self.assign(to),
            },
            13 => self.call(context, to),
            14 => {
                to.push(Stmt::Barrier);
                self.phase = if self.phase == Phase::Read || self.rng.chance(20) {
                    let arrays = self.program.shared.clone();
                    let atomic = arrays
                        .iter()
                        .map(|a| a.ty == U32 && self.config.atomics && self.rng.chance(60));
                    Phase::Write(atomic.collect())
                } else {
                    Phase::Read
                };
                if self.phase != Phase::Read {
                    self.shared_store(to);
                }
            }
            15 => self.subgroup(context, to),
            _ => self.assign(to),
        }
    }

    /// A variable of a type that passes, to write to.
    fn target(&mut self, passes: impl Fn(Type) -> bool) -> Option<Var> {
        let vars: Vec<Var> = (0..self.local.vars.len())
            .filter(|&v| !self.local.read_only[v] && passes(self.local.vars[v].ty))
            .collect();
        (!vars.is_empty()).then(|| self.rng.pick(&vars))
    }

    /// The same, or a new one.
    fn target_of(&mut self, ty: Type) -> Var {
        match self.target(|t| t == ty) {
            Some(var) => var,
            None => self.variable(ty),
        }
    }

    fn assign(&mut self, to: &mut Block) {
        let Some(var) = self.target(|_| true) else {
            return;
        };
        let ty = self.local.vars[var].ty;
        let value = self.stored(ty, self.config.expression_depth);
        to.push(Stmt::Assign(var, value));
    }

    fn assign_component(&mut self, to: &mut Block) -> bool {
        let Some(var) = self.target(|t| t.size == 2 || t.size == 4) else {
            return false;
        };
        let ty = Type::scalar(self.local.vars[var].ty.scalar);
        let (index, value) = (self.index(), self.stored(ty, 2));
        to.push(Stmt::AssignComponent(var, index, value));
        true
    }

    fn shared_store(&mut self, to: &mut Block) {
        let Phase::Write(atomic) = self.phase.clone() else {
            return;
        };
        let shared = self.rng.below(atomic.len());
        let ty = self.program.shared[shared].ty;
        let (index, value) = (self.index(), self.stored(ty, self.config.expression_depth));
        to.push(if atomic[shared] {
            let op = self.shared_atomic(shared);
            Stmt::SharedAtomic(op, shared, index, value)
        } else {
            Stmt::SharedStore(shared, index, value)
        });
    }

    /// The operation of an array in workgroup memory: always the same one, for different ones do not commute.
    fn shared_atomic(&self, shared: usize) -> Atomic {
        Atomic::ALL[(self.program.seed as usize).wrapping_add(shared) % Atomic::ALL.len()]
    }

    fn branch(&mut self, context: &Context, to: &mut Block) {
        let uniform = self.rng.chance(if context.full { 35 } else { 10 });
        let (condition, inner) = if uniform {
            (self.uniform_condition(), context.inner())
        } else {
            (self.condition(), context.divergent())
        };
        let mut then = self.nested(&inner, true);
        if inner.subgroups && !inner.full && self.rng.chance(35) {
            let mut first = vec![];
            self.subgroup(&inner, &mut first);
            then.splice(..0, first);
        }
        // One of them lets invocations through to what follows.
        let jump = then.last().is_none_or(Stmt::falls_through);
        let otherwise = if self.rng.chance(55) {
            self.nested(&inner, jump)
        } else {
            vec![]
        };
        to.push(Stmt::If(condition, then, otherwise));
    }

    fn switch(&mut self, context: &Context, to: &mut Block) {
        let uniform = self.rng.chance(if context.full { 35 } else { 10 });
        let (selector, inner) = if uniform {
            (self.uniform_word(1), context.inner())
        } else {
            (self.varying_word(), context.divergent())
        };
        // A branch of a switch is no body of an if.
        let inner = Context {
            subgroups: inner.subgroups && inner.full,
            ..inner
        };
        let count = self.rng.range(1, 4) as u32;
        let mask = self.rng.pick(&[1, 3, 7]);
        let selector = Expr::binary(Binary::And, selector, Expr::word(mask));
        let (selector, first) = if self.rng.chance(30) {
            // Negative literals too.
            let int = Type::scalar(Scalar::I32);
            let signed = Expr::new(int, Op::Bitcast, vec![selector]);
            let two = Expr::new(int, Op::Const([2, 0, 0, 0]), vec![]);
            (Expr::binary(Binary::Sub, signed, two), 2u32.wrapping_neg())
        } else {
            (selector, 0)
        };
        let mut literal = first;
        let mut cases = vec![];
        for _ in 0..count {
            let literals = (0..self.rng.pick(&[1, 1, 1, 2]))
                .map(|_| {
                    literal = literal.wrapping_add(1);
                    literal.wrapping_sub(1)
                })
                .collect();
            cases.push((literals, self.nested(&inner, true)));
        }
        // It lets invocations through to what follows.
        let default = if self.rng.chance(70) {
            self.nested(&inner, false)
        } else {
            vec![]
        };
        to.push(Stmt::Switch(selector, cases, default));
    }

    fn repeat(&mut self, context: &Context, kind: usize, to: &mut Block) {
        let most = (MAX_TRIPS / context.trips).clamp(1, 7);
        let limit = self.rng.range(1, most as usize) as u32;
        let uniform = context.full && self.rng.chance(50);
        let counter = self.counter();
        let mut inner = Context {
            trips: context.trips * limit,
            around: Some(Around {
                uniform: uniform.then(|| self.phase.clone()),
            }),
            ..context.inner()
        };
        if uniform {
            self.local.uniform_counters.push(counter);
        } else {
            inner.full = false;
            inner.subgroups &= self.config.maximal_reconvergence;
        }
        let test = |g: &mut Self| {
            if uniform {
                g.uniform_condition()
            } else {
                g.condition()
            }
        };
        to.push(match kind {
            0 => {
                let bound = match self.rng.below(3) {
                    0 => Expr::word(limit),
                    _ if uniform => self.uniform_word(1),
                    _ => self.varying_word(),
                };
                let mask = Expr::word(self.rng.pick(&[3, 7]));
                let bound = match bound.op {
                    Op::Const(_) => bound,
                    _ => Expr::binary(Binary::And, bound, mask),
                };
                let body = self.nested(&inner, false);
                Stmt::For {
                    counter,
                    bound,
                    limit,
                    body,
                }
            }
            1 => {
                let condition = if self.rng.chance(15) {
                    truth()
                } else {
                    test(self)
                };
                let body = self.nested(&inner, false);
                Stmt::While {
                    counter,
                    condition,
                    limit,
                    body,
                }
            }
            _ => {
                let body = self.nested(&inner, false);
                let condition = if self.rng.chance(15) {
                    truth()
                } else {
                    test(self)
                };
                Stmt::DoWhile {
                    counter,
                    condition,
                    limit,
                    body,
                }
            }
        });
    }

    fn call(&mut self, context: &Context, to: &mut Block) {
        let callable: Vec<usize> = (0..self.program.functions.len())
            .filter(|&f| context.subgroups || !self.with_subgroups[f])
            .collect();
        if callable.is_empty() {
            return self.assign(to);
        }
        let function = self.rng.pick(&callable);
        let callee = self.program.functions[function].clone();
        let args = callee.vars[..callee.params]
            .iter()
            .map(|v| self.stored(v.ty, 2))
            .collect();
        let mut outs: Vec<Var> = vec![];
        for &out in &callee.outs {
            let ty = callee.vars[out].ty;
            let free = (0..self.local.vars.len()).find(|v| {
                !self.local.read_only[*v] && self.local.vars[*v].ty == ty && !outs.contains(v)
            });
            let var = match free {
                Some(var) => var,
                None => self.variable(ty),
            };
            outs.push(var);
        }
        let ty = callee.result.as_ref().map_or(U32, |r| r.ty);
        let result = self.target_of(ty);
        to.push(Stmt::Call {
            function,
            args,
            outs,
            result,
        });
    }

    fn subgroup(&mut self, context: &Context, to: &mut Block) {
        let scan = self
            .rng
            .pick(&[Scan::Reduce, Scan::Inclusive, Scan::Exclusive]);
        let uvec4 = Type::vector(Scalar::U32, 4);
        let lane = self.rng.below(self.config.subgroup_size as usize) as u8;
        let clusters = [2, 4, 8, 16, 32].map(|c: u8| c.min(self.config.subgroup_size as u8));
        let weights: &[usize] = if context.full && !self.config.shuffles {
            &[2, 3, 3, 3, 4, 3, 3, 10, 4, 0, 0, 0, 0, 4]
        } else if context.full {
            &[2, 3, 3, 3, 4, 3, 3, 10, 4, 6, 5, 4, 3, 4]
        } else {
            &[2, 3, 3, 3, 4, 3, 3, 10, 4]
        };
        let op = match self.rng.weighted(weights) {
            0 => Subgroup::Elect,
            1 => Subgroup::Any,
            2 => Subgroup::All,
            3 => Subgroup::AllEqual,
            4 => Subgroup::Ballot,
            5 => Subgroup::InverseBallot,
            6 => Subgroup::BallotBitCount(scan),
            7 => Subgroup::Combine(Combine::Add, scan),
            8 => Subgroup::BroadcastFirst,
            9 => Subgroup::Shuffle,
            10 => Subgroup::ShuffleXor(lane),
            11 => Subgroup::Clustered(Combine::Add, self.rng.pick(&clusters)),
            12 => Subgroup::QuadSwap(lane % 3),
            _ if self.config.shuffles && self.rng.chance(50) => Subgroup::QuadBroadcast(lane % 4),
            _ => Subgroup::Broadcast(lane),
        };
        let value = |g: &mut Self, ty| g.stored(ty, 2);
        let (op, ty, args) = match op {
            Subgroup::Elect => (op, BOOL, vec![]),
            Subgroup::Any | Subgroup::All => (op, BOOL, vec![self.condition()]),
            Subgroup::Ballot => (op, uvec4, vec![self.condition()]),
            Subgroup::AllEqual => {
                let ty = self.rng.pick(&[BOOL, U32, Type::scalar(Scalar::I32)]);
                let arg = if self.rng.chance(50) {
                    let word = self.uniform_word(1);
                    let zero = Expr::word(0);
                    match ty {
                        BOOL => Expr::compare(Compare::NotEqual, word, zero),
                        U32 => word,
                        _ => Expr::new(ty, Op::Bitcast, vec![word]),
                    }
                } else {
                    value(self, ty)
                };
                (op, BOOL, vec![arg])
            }
            Subgroup::InverseBallot => {
                // All lanes must have the same bits: those of a ballot.
                let bits = self.target_of(uvec4);
                let args = vec![self.condition()];
                to.push(Stmt::Subgroup {
                    result: bits,
                    op: Subgroup::Ballot,
                    args,
                });
                (op, BOOL, vec![Expr::var(bits, uvec4)])
            }
            Subgroup::BallotBitCount(_) => (op, U32, vec![value(self, uvec4)]),
            Subgroup::Combine(..) | Subgroup::Clustered(..) => {
                let ty = self.ty();
                let kinds: &[Combine] = match ty.scalar {
                    Scalar::Bool => &[Combine::And, Combine::Or, Combine::Xor],
                    s if s.is_float() => &[Combine::Min, Combine::Max],
                    _ => &[
                        Combine::Add,
                        Combine::Add,
                        Combine::Mul,
                        Combine::Min,
                        Combine::Max,
                        Combine::And,
                        Combine::Or,
                        Combine::Xor,
                    ],
                };
                let kind = self.rng.pick(kinds);
                let op = match op {
                    Subgroup::Clustered(_, size) => Subgroup::Clustered(kind, size),
                    // An exclusive scan of floats begins with infinity.
                    _ if ty.scalar.is_float() && scan == Scan::Exclusive => {
                        Subgroup::Combine(kind, Scan::Inclusive)
                    }
                    _ => Subgroup::Combine(kind, scan),
                };
                (op, ty, vec![value(self, ty)])
            }
            Subgroup::Shuffle => {
                let ty = self.ty();
                let args = vec![value(self, ty), self.index()];
                (op, ty, args)
            }
            _ => {
                let ty = self.ty();
                (op, ty, vec![value(self, ty)])
            }
        };
        let result = self.target_of(ty);
        to.push(Stmt::Subgroup { result, op, args });
    }

    // Expressions.

    /// A condition that is likely to differ between invocations.
    fn condition(&mut self) -> Expr {
        if self.rng.chance(35) {
            return self.expr(BOOL, 2);
        }
        let word = self.varying_word();
        let mask = self.rng.pick(&[1, 3, 7, 15, 31]);
        let limit = self.rng.range(1, mask as usize) as u32;
        let masked = Expr::binary(Binary::And, word, Expr::word(mask));
        let op = self.comparison();
        Expr::compare(op, masked, Expr::word(limit))
    }

    fn uniform_condition(&mut self) -> Expr {
        let word = self.uniform_word(1);
        let mask = self.rng.pick(&[1, 3, 7]);
        let limit = self.rng.range(0, mask as usize) as u32;
        let masked = Expr::binary(Binary::And, word, Expr::word(mask));
        let op = self.comparison();
        Expr::compare(op, masked, Expr::word(limit))
    }

    /// A word that all invocations of a workgroup have.
    fn uniform_word(&mut self, depth: usize) -> Expr {
        if depth > 0 && self.rng.chance(60) {
            let (a, b) = (self.uniform_word(depth - 1), self.uniform_word(depth - 1));
            let op = self
                .rng
                .pick(&[Binary::Add, Binary::Xor, Binary::Sub, Binary::Mul]);
            return Expr::binary(op, a, b);
        }
        if !self.local.uniform_counters.is_empty() && self.rng.chance(40) {
            let var = self.rng.pick(&self.local.uniform_counters);
            return Expr::var(var, U32);
        }
        let any = self.rng.below(256) as u32;
        let group = Expr::new(U32, Op::Builtin(Builtin::GroupId(any as u8 % 3)), vec![]);
        match self.rng.below(7) {
            0 if self.config.push_constants => {
                Expr::new(U32, Op::Push((any % PUSH_WORDS) as u8), vec![])
            }
            1 if self.config.specialization => {
                Expr::new(U32, Op::Spec((any % SPEC_CONSTANTS) as u8), vec![])
            }
            2 if self.config.uniform_buffer => Expr::new(U32, Op::Uniform, vec![Expr::word(any)]),
            3 => group,
            4 => Expr::new(
                U32,
                Op::Input,
                vec![Expr::binary(Binary::Add, group, Expr::word(any))],
            ),
            5 => Expr::word(any),
            _ => Expr::new(U32, Op::Input, vec![Expr::word(any)]),
        }
    }

    /// A word that differs between invocations.
    fn varying_word(&mut self) -> Expr {
        let builtins = [
            Builtin::LocalIndex,
            Builtin::LocalIndex,
            Builtin::GlobalId(0),
            Builtin::LocalId(0),
            if self.config.subgroups {
                Builtin::Lane
            } else {
                Builtin::LocalIndex
            },
        ];
        let id = Expr::new(U32, Op::Builtin(self.rng.pick(&builtins)), vec![]);
        match self.rng.below(5) {
            0 => id,
            1 => {
                let any = Expr::word(self.rng.next_u32() >> self.rng.below(32));
                let op = self.rng.pick(&[Binary::Mul, Binary::Xor, Binary::Add]);
                Expr::binary(op, id, any)
            }
            2 | 3 => {
                let any = Expr::word(self.rng.below(256) as u32);
                Expr::new(U32, Op::Input, vec![Expr::binary(Binary::Add, id, any)])
            }
            _ => self.expr(U32, 2),
        }
    }

    /// An index of anything.
    fn index(&mut self) -> Expr {
        if self.rng.chance(30) {
            Expr::word(self.rng.below(16) as u32)
        } else if self.rng.chance(40) {
            self.leaf(U32)
        } else {
            self.varying_word()
        }
    }

    /// An expression whose value may be stored.
    fn stored(&mut self, ty: Type, depth: usize) -> Expr {
        // Some are larger.
        let depth = depth + usize::from(self.rng.chance(15));
        let e = self.expr(ty, depth);
        if ty.scalar.is_float() && !float::storable(&e) {
            Expr::unary(Unary::Sane, e)
        } else {
            e
        }
    }

    fn comparison(&mut self) -> Compare {
        self.rng.pick(&[
            Compare::Equal,
            Compare::NotEqual,
            Compare::Less,
            Compare::LessEqual,
            Compare::Greater,
            Compare::GreaterEqual,
        ])
    }

    fn expr(&mut self, ty: Type, depth: usize) -> Expr {
        if depth == 0 || self.rng.chance(12) {
            return self.leaf(ty);
        }
        let depth = depth - 1;
        // What every type has.
        match self.rng.below(20) {
            0 => {
                let condition = self.expr(ty.of(Scalar::Bool), depth);
                let (a, b) = (self.expr(ty, depth), self.expr(ty, depth));
                return Expr::new(ty, Op::Select, vec![condition, a, b]);
            }
            1 | 2 => {
                if let Some(e) = self.memory(ty) {
                    return e;
                }
            }
            3 if self.config.vectors => {
                let size = self.rng.range(2, 4) as u8;
                let vector = Type::vector(ty.scalar, size);
                let a = self.expr(vector, depth);
                if ty.size > 1 {
                    let two = self.rng.chance(50);
                    let count = if two { size + ty.size } else { size };
                    let mut picked = [0; 4];
                    for c in &mut picked[..ty.size.into()] {
                        *c = self.rng.below(count.into()) as u8;
                    }
                    let mut args = vec![a];
                    if two {
                        args.push(self.expr(ty, depth));
                    }
                    return Expr::new(ty, Op::Shuffle(picked), args);
                }
                if size != 3 && self.rng.chance(50) {
                    let index = self.index();
                    return Expr::new(ty, Op::ExtractDynamic, vec![a, index]);
                }
                return a.extract(self.rng.below(size.into()) as u8);
            }
            4 if ty.size > 1 => {
                let scalar = Type::scalar(ty.scalar);
                let args = (0..ty.size).map(|_| self.expr(scalar, depth)).collect();
                return Expr::new(ty, Op::Compose, args);
            }
            _ => {}
        }
        match ty.scalar {
            Scalar::Bool => self.boolean(ty, depth),
            s if s.is_float() => self.float(ty, depth),
            _ => self.integer(ty, depth),
        }
    }

    fn boolean(&mut self, ty: Type, depth: usize) -> Expr {
        match self.rng.below(10) {
            0 => {
                let a = self.expr(ty, depth);
                Expr::unary(Unary::LogicalNot, a)
            }
            1..=3 => {
                let op = self.rng.pick(&[
                    Binary::LogicalAnd,
                    Binary::LogicalOr,
                    Binary::LogicalEqual,
                    Binary::LogicalNotEqual,
                ]);
                let (a, b) = (self.expr(ty, depth), self.expr(ty, depth));
                Expr::binary(op, a, b)
            }
            4 if ty.size == 1 && self.config.vectors => {
                let vector = Type::vector(Scalar::Bool, self.rng.range(2, 4) as u8);
                let a = self.expr(vector, depth);
                let op = self.rng.pick(&[Op::Any, Op::All]);
                Expr::new(ty, op, vec![a])
            }
            _ => {
                let scalar = loop {
                    let scalar = self.rng.pick(&self.scalars);
                    if scalar != Scalar::Bool {
                        break scalar;
                    }
                };
                let of = ty.of(scalar);
                let (a, b) = (self.expr(of, depth), self.expr(of, depth));
                let op = self.comparison();
                Expr::compare(op, a, b)
            }
        }
    }

    fn integer(&mut self, ty: Type, depth: usize) -> Expr {
        let scalar = ty.scalar;
        match self.rng.below(20) {
            0..=2 => self.converted(ty, depth),
            3 | 4 => {
                let mut ops = vec![Unary::Not, Unary::Neg];
                if scalar.is_signed() {
                    ops.extend([Unary::Abs, Unary::Sign]);
                }
                if scalar.bits() == 32 {
                    ops.extend([
                        Unary::BitReverse,
                        Unary::BitCount,
                        Unary::FindLsb,
                        Unary::FindMsb,
                    ]);
                }
                let op = self.rng.pick(&ops);
                let a = self.expr(ty, depth);
                Expr::unary(op, a)
            }
            5 if scalar.bits() == 32 => {
                let offset = self.rng.below(32) as u8;
                let count = self.rng.range(0, (32 - offset).into()) as u8;
                let a = self.expr(ty, depth);
                if self.rng.chance(50) {
                    Expr::new(ty, Op::BitfieldExtract { offset, count }, vec![a])
                } else {
                    let b = self.expr(ty, depth);
                    Expr::new(ty, Op::BitfieldInsert { offset, count }, vec![a, b])
                }
            }
            _ => {
                let mut ops = vec![
                    Binary::Add,
                    Binary::Add,
                    Binary::Sub,
                    Binary::Sub,
                    Binary::Mul,
                    Binary::And,
                    Binary::Or,
                    Binary::Xor,
                    Binary::Xor,
                    Binary::Shl,
                    Binary::Shr,
                    Binary::Min,
                    Binary::Max,
                ];
                if scalar.bits() == 32 {
                    ops.push(Binary::MulHigh);
                }
                if scalar == Scalar::U32 {
                    ops.extend([Binary::Carry, Binary::Borrow]);
                }
                if self.config.division {
                    ops.extend([Binary::Div, Binary::Rem]);
                    if scalar.is_signed() {
                        ops.push(Binary::Mod);
                    }
                }
                let op = self.rng.pick(&ops);
                let (mut a, mut b) = (self.expr(ty, depth), self.expr(ty, depth));
                if matches!(op, Binary::Rem | Binary::Mod)
                    && scalar.is_signed()
                    && !self.config.negative_remainders
                {
                    let positive = Value::from([scalar.mask() >> 1; 4]);
                    let mut kept = Value::default();
                    kept[..ty.size.into()].copy_from_slice(&positive[..ty.size.into()]);
                    let kept = Expr::new(ty, Op::Const(kept), vec![]);
                    a = Expr::binary(Binary::And, a, kept.clone());
                    b = Expr::binary(Binary::And, b, kept);
                }
                Expr::binary(op, a, b)
            }
        }
    }

    /// A number of another type, or its bits.
    fn converted(&mut self, ty: Type, depth: usize) -> Expr {
        let to = ty.scalar;
        let from = self.rng.pick(&self.scalars);
        let possible = match (from.is_float(), to.is_float()) {
            _ if from == to || from == Scalar::Bool => false,
            (false, false) => true,
            (true, false) => float::clamp_for(from, to).is_some(),
            (false, true) => from.bits() <= 32,
            (true, true) => to == Scalar::F32,
        };
        if !possible {
            return self.leaf(ty);
        }
        let same_bits = from.bits() == to.bits() && !to.is_float() && self.rng.chance(60);
        if same_bits {
            let a = self.stored(ty.of(from), depth);
            return Expr::new(ty, Op::Bitcast, vec![a]);
        }
        let a = self.expr(ty.of(from), depth);
        Expr::new(ty, Op::Convert, vec![a])
    }

    fn float(&mut self, ty: Type, depth: usize) -> Expr {
        let e = match self.rng.below(16) {
            0 | 1 => self.converted(ty, depth),
            2 => self.sane_bits(ty, depth),
            3..=5 => {
                let op = self.rng.pick(&[
                    Unary::FNeg,
                    Unary::FAbs,
                    Unary::Floor,
                    Unary::Ceil,
                    Unary::Trunc,
                    Unary::RoundEven,
                ]);
                let a = self.expr(ty, depth);
                Expr::unary(op, a)
            }
            _ => {
                let op = self.rng.pick(&[
                    Binary::FAdd,
                    Binary::FAdd,
                    Binary::FSub,
                    Binary::FMul,
                    Binary::FMul,
                    Binary::FMin,
                    Binary::FMax,
                ]);
                let (a, b) = (self.expr(ty, depth), self.expr(ty, depth));
                Expr::binary(op, a, b)
            }
        };
        if float::range(&e).is_some() {
            return e;
        }
        let Expr { ty, op, args } = e;
        Expr::new(
            ty,
            op,
            args.into_iter()
                .map(|a| Expr::unary(Unary::Sane, a))
                .collect(),
        )
    }

    /// A float of an integer's bits.
    fn sane_bits(&mut self, ty: Type, depth: usize) -> Expr {
        let int = ty.of(ty.scalar.unsigned());
        let bits = if depth == 0 {
            self.leaf(int)
        } else {
            self.expr(int, depth - 1)
        };
        Expr::new(ty, Op::Unary(Unary::Sane), vec![bits])
    }

    /// An element of an array.
    fn memory(&mut self, ty: Type) -> Option<Expr> {
        let mut places: Vec<Op> = (0..self.local.arrays.len())
            .filter(|&a: &Array| self.local.arrays[a].element.ty == ty)
            .map(Op::Element)
            .collect();
        if self.in_main {
            for (n, _) in self
                .program
                .shared
                .iter()
                .enumerate()
                .filter(|(_, s)| s.ty == ty)
            {
                match &self.phase {
                    Phase::Read => places.extend([Op::SharedAny(n), Op::SharedAny(n)]),
                    Phase::Write(atomic) if !atomic[n] => places.push(Op::SharedOwn(n)),
                    Phase::Write(_) => {}
                }
            }
        }
        if places.is_empty() {
            return None;
        }
        let place = self.rng.pick(&places);
        let index = match self.rng.below(3) {
            0 => Expr::word(self.rng.below(32) as u32),
            1 => Expr::new(U32, Op::Builtin(Builtin::LocalIndex), vec![]),
            _ => {
                let a = Expr::new(U32, Op::Builtin(Builtin::LocalIndex), vec![]);
                let b = self.leaf(U32);
                Expr::binary(Binary::Add, a, b)
            }
        };
        Some(Expr::new(ty, place, vec![index]))
    }

    fn leaf(&mut self, ty: Type) -> Expr {
        let vars: Vec<Var> = (0..self.local.vars.len())
            .filter(|&v| self.local.vars[v].ty == ty)
            .collect();
        if !vars.is_empty() && self.rng.chance(60) {
            return Expr::var(self.rng.pick(&vars), ty);
        }
        if self.rng.chance(20) {
            let value = self.value(ty);
            return Expr::new(ty, Op::Const(value), vec![]);
        }
        if ty.size > 1 {
            // A scalar for all components, or one for each.
            let scalar = Type::scalar(ty.scalar);
            let first = self.leaf(scalar);
            let mut args = vec![first; ty.size.into()];
            if self.rng.chance(60) {
                args = (0..ty.size).map(|_| self.leaf(scalar)).collect();
            }
            return Expr::new(ty, Op::Compose, args);
        }
        match ty.scalar {
            Scalar::U32 => self.word_leaf(),
            Scalar::Bool => {
                let a = self.word_leaf();
                let mask = Expr::word(1 << self.rng.below(5));
                let bit = Expr::binary(Binary::And, a, mask);
                Expr::compare(Compare::NotEqual, bit, Expr::word(0))
            }
            Scalar::I32 => {
                let a = self.word_leaf();
                Expr::new(ty, Op::Bitcast, vec![a])
            }
            Scalar::F32 if self.rng.chance(50) => {
                let a = self.word_leaf();
                Expr::new(ty, Op::Unary(Unary::Sane), vec![a])
            }
            Scalar::F16 if self.rng.chance(70) => {
                let a = self.word_leaf();
                let a = Expr::new(Type::scalar(Scalar::U16), Op::Convert, vec![a]);
                Expr::new(ty, Op::Unary(Unary::Sane), vec![a])
            }
            Scalar::F16 => {
                let a = self.word_leaf();
                let e = Expr::new(ty, Op::Convert, vec![a]);
                Expr::unary(Unary::Sane, e)
            }
            _ => {
                let a = self.word_leaf();
                Expr::new(ty, Op::Convert, vec![a])
            }
        }
    }

    /// A word from outside.
    fn word_leaf(&mut self) -> Expr {
        let any = self.rng.below(256) as u32;
        let builtin = |b| Expr::new(U32, Op::Builtin(b), vec![]);
        let id = builtin(Builtin::LocalIndex);
        match self.rng.below(12) {
            0 if self.config.push_constants => {
                Expr::new(U32, Op::Push((any % PUSH_WORDS) as u8), vec![])
            }
            1 if self.config.specialization => {
                Expr::new(U32, Op::Spec((any % SPEC_CONSTANTS) as u8), vec![])
            }
            2 if self.config.uniform_buffer => {
                let index = Expr::binary(Binary::Add, id, Expr::word(any));
                Expr::new(U32, Op::Uniform, vec![index])
            }
            3 => Expr::new(U32, Op::Own, vec![Expr::word(any % OWN_WORDS)]),
            4 | 5 => {
                let c = (any % 3) as u8;
                let choices = [
                    Builtin::LocalIndex,
                    Builtin::LocalId(c),
                    Builtin::GroupId(c),
                    Builtin::GlobalId(c),
                    Builtin::GroupCount(c),
                    Builtin::Lane,
                    Builtin::SubgroupId,
                    Builtin::SubgroupCount,
                    Builtin::SubgroupSize,
                ];
                let count = if self.config.subgroups {
                    choices.len()
                } else {
                    5
                };
                builtin(self.rng.pick(&choices[..count]))
            }
            6 => Expr::new(U32, Op::Input, vec![Expr::word(any)]),
            7 => {
                let vars: Vec<Var> = (0..self.local.vars.len())
                    .filter(|&v| self.local.vars[v].ty == U32)
                    .collect();
                let index = if vars.is_empty() {
                    id
                } else {
                    Expr::var(self.rng.pick(&vars), U32)
                };
                Expr::new(U32, Op::Input, vec![index])
            }
            _ => {
                let factor = Expr::word(self.rng.pick(&[1, 1, 1, 2, 3, 4, 8]));
                let index = Expr::binary(Binary::Mul, id, factor);
                let index = Expr::binary(Binary::Add, index, Expr::word(any));
                Expr::new(U32, Op::Input, vec![index])
            }
        }
    }

    /// A constant.
    fn value(&mut self, ty: Type) -> Value {
        let mut value = Value::default();
        for bits in &mut value[..ty.size.into()] {
            *bits = scalar_value(&mut self.rng, ty.scalar);
        }
        value
    }
}

fn truth() -> Expr {
    Expr::new(BOOL, Op::Const([1, 0, 0, 0]), vec![])
}

fn scalar_value(rng: &mut Rng, scalar: Scalar) -> u64 {
    if scalar == Scalar::Bool {
        return rng.below(2) as u64;
    }
    if scalar.is_float() {
        if rng.chance(10) {
            return 0;
        }
        let (fraction, bias) = float::format(scalar);
        let exponent = (rng.range(0, 7) as i32 - 3 + bias) as u64;
        let kept = rng.below(fraction as usize + 1) as u32;
        let low = rng.next_u64() & ((1 << fraction) - 1);
        let low = low >> (fraction - kept) << (fraction - kept);
        let sign = rng.below(2) as u64;
        return sign << (scalar.bits() - 1) | exponent << fraction | low;
    }
    let bits = match rng.below(8) {
        0 => 0,
        1 => 1,
        2 => u64::MAX,
        3 => 1 << (scalar.bits() - 1),
        4 => scalar.mask() >> 1,
        5 => rng.next_u64(),
        _ => rng.below(64) as u64,
    };
    bits & scalar.mask()
}

/// A word of input: small numbers, any bits, and floats.
fn input_word(rng: &mut Rng) -> u32 {
    match rng.below(8) {
        0..=2 => rng.below(32) as u32,
        3 => (rng.below(64) as u32).wrapping_neg(),
        4 | 5 => scalar_value(rng, Scalar::F32) as u32,
        6 => scalar_value(rng, Scalar::U32) as u32,
        _ => rng.next_u32(),
    }
}

fn local_size(config: &Config, rng: &mut Rng) -> [u32; 3] {
    // Not every device fills subgroups across rows.
    if config.subgroups && config.subgroup_size != 32 {
        return [rng.pick(&[32, 64, 96]), 1, 1];
    }
    if config.spare_lavapipe && config.shared {
        return rng.pick(&[[32, 1, 1], [64, 1, 1], [8, 4, 1], [8, 8, 1], [16, 2, 3]]);
    }
    if config.subgroups || rng.chance(60) {
        return rng.pick(&[
            [32, 1, 1],
            [32, 1, 1],
            [64, 1, 1],
            [64, 1, 1],
            [96, 1, 1],
            [8, 4, 1],
            [8, 8, 1],
            [4, 4, 4],
            [1, 32, 1],
            [16, 2, 3],
            [128, 1, 1],
        ]);
    }
    rng.pick(&[
        [1, 1, 1],
        [7, 1, 1],
        [33, 1, 1],
        [40, 1, 1],
        [5, 3, 2],
        [3, 7, 1],
        [50, 1, 1],
    ])
}

/// The words of a scalar.
fn words_of(e: Expr) -> Vec<Expr> {
    let one = |op, e: Expr| Expr::new(U32, op, vec![e]);
    match e.ty.scalar {
        Scalar::Bool => {
            vec![Expr::new(
                U32,
                Op::Select,
                vec![e, Expr::word(1), Expr::word(0)],
            )]
        }
        Scalar::U32 => vec![e],
        Scalar::I32 | Scalar::F32 => vec![one(Op::Bitcast, e)],
        Scalar::F16 => {
            let bits = Expr::new(Type::scalar(Scalar::U16), Op::Bitcast, vec![e]);
            vec![one(Op::Convert, bits)]
        }
        Scalar::I64 | Scalar::U64 => {
            let count = Expr::new(e.ty, Op::Const([32, 0, 0, 0]), vec![]);
            let high = Expr::binary(Binary::Shr, e.clone(), count);
            vec![one(Op::Convert, e), one(Op::Convert, high)]
        }
        _ => vec![one(Op::Convert, e)],
    }
}
