// SPDX-License-Identifier: MIT
//! Makes a failing program smaller while it still fails.

use super::float;
use super::interpret;
use super::tree::{Block, Expr, Op, Program, Scalar, Stmt, Value};

/// The smallest program found for which `fails` is still true, after at most `tries` questions to it. Programs that
/// break the rules of the tree are not asked about.
pub fn shrink(program: &Program, tries: usize, fails: &mut dyn FnMut(&Program) -> bool) -> Program {
    let mut shrinker = Shrinker {
        best: program.clone(),
        tries,
        fails,
    };
    loop {
        let before = shrinker.tries;
        let mut changed = shrinker.sizes();
        changed |= shrinker.statements();
        changed |= shrinker.functions();
        changed |= shrinker.expressions();
        if !changed || before == shrinker.tries || shrinker.tries == 0 {
            return shrinker.best;
        }
    }
}

struct Shrinker<'a> {
    best: Program,
    tries: usize,
    fails: &'a mut dyn FnMut(&Program) -> bool,
}

impl Shrinker<'_> {
    /// Take the candidate if it still fails.
    fn attempt(&mut self, candidate: Program) -> bool {
        if self.tries == 0 || candidate == self.best {
            return false;
        }
        if candidate.has_dead_code()
            || !float::is_safe(&candidate)
            || interpret::run(&candidate).is_err()
        {
            return false;
        }
        self.tries -= 1;
        let taken = (self.fails)(&candidate);
        if taken {
            self.best = candidate;
        }
        taken
    }

    /// Fewer invocations.
    fn sizes(&mut self) -> bool {
        let mut changed = self.attempt(Program {
            groups: [1; 3],
            ..self.best.clone()
        });
        for local_size in [[1, 1, 1], [32, 1, 1], [64, 1, 1]] {
            if local_size[0] < self.best.invocations() {
                changed |= self.attempt(Program {
                    local_size,
                    ..self.best.clone()
                });
            }
        }
        changed
    }

    /// Fewer statements, and less around them.
    fn statements(&mut self) -> bool {
        let mut changed = false;
        for count in [16, 8, 4, 2, 1] {
            let mut at = 0;
            while at < statements(&self.best) {
                let edit = Edit::Remove(count);
                if self.edit(at, edit) {
                    changed = true;
                } else {
                    at += 1;
                }
            }
        }
        let mut at = 0;
        while at < statements(&self.best) {
            let taken =
                (0..4).any(|which| self.edit(at, Edit::Unwrap(which))) || self.edit(at, Edit::Once);
            changed |= taken;
            at += usize::from(!taken);
        }
        changed
    }

    fn edit(&mut self, at: usize, edit: Edit) -> bool {
        let mut candidate = self.best.clone();
        let mut at = at;
        let done = candidate
            .functions
            .iter_mut()
            .any(|f| edit_block(&mut f.body, &mut at, edit));
        done && self.attempt(candidate)
    }

    /// Functions that nobody calls go.
    fn functions(&mut self) -> bool {
        let mut changed = false;
        for gone in (0..self.best.functions.len().saturating_sub(1)).rev() {
            let mut called = false;
            self.best.visit(&mut |s| {
                called |= matches!(s, Stmt::Call { function, .. } if *function == gone);
            });
            if called {
                continue;
            }
            let mut candidate = self.best.clone();
            candidate.functions.remove(gone);
            for function in &mut candidate.functions {
                renumber(&mut function.body, gone);
            }
            changed |= self.attempt(candidate);
        }
        changed
    }

    /// Simpler expressions.
    fn expressions(&mut self) -> bool {
        let mut changed = false;
        let mut at = 0;
        while let Some(old) = nth_expr(&mut self.best.clone(), at).cloned() {
            let taken = simpler(&old).into_iter().any(|new| {
                let mut candidate = self.best.clone();
                if let Some(place) = nth_expr(&mut candidate, at) {
                    *place = new;
                }
                self.attempt(candidate)
            });
            changed |= taken;
            at += usize::from(!taken);
            if self.tries == 0 {
                break;
            }
        }
        changed
    }
}

#[derive(Clone, Copy)]
enum Edit {
    /// This statement and the next ones of its block.
    Remove(usize),
    /// Put one of the blocks in it in its place.
    Unwrap(usize),
    /// Let a loop run once at most.
    Once,
}

fn statements(program: &Program) -> usize {
    let mut count = 0;
    program.visit(&mut |_| count += 1);
    count
}

/// Edits the statement with this number, in the order of [`Program::visit`]; whether there was something to do.
fn edit_block(block: &mut Block, at: &mut usize, edit: Edit) -> bool {
    for i in 0..block.len() {
        if *at == 0 {
            return edit_statement(block, i, edit);
        }
        *at -= 1;
        if block[i]
            .blocks_mut()
            .into_iter()
            .any(|b| edit_block(b, at, edit))
        {
            return true;
        }
    }
    false
}

fn edit_statement(block: &mut Block, i: usize, edit: Edit) -> bool {
    match edit {
        Edit::Remove(count) if i + count <= block.len() => {
            block.drain(i..i + count);
            true
        }
        Edit::Remove(_) => false,
        Edit::Unwrap(which) => {
            let Some(inner) = block[i].blocks().get(which).map(|b| (*b).clone()) else {
                return false;
            };
            if block[i].is_loop() && jumps(&inner) {
                return false;
            }
            block.splice(i..=i, inner);
            // Nothing may follow a jump.
            if let Some(end) = block.iter().position(|s| !s.falls_through()) {
                block.truncate(end + 1);
            }
            true
        }
        Edit::Once => match &mut block[i] {
            Stmt::For { limit, .. } | Stmt::While { limit, .. } | Stmt::DoWhile { limit, .. }
                if *limit > 1 =>
            {
                *limit = 1;
                true
            }
            _ => false,
        },
    }
}

/// Whether a jump in the block belongs to a loop around it.
fn jumps(block: &Block) -> bool {
    block.iter().any(|s| {
        matches!(s, Stmt::Break | Stmt::Continue)
            || !s.is_loop() && s.blocks().into_iter().any(jumps)
    })
}

fn renumber(block: &mut Block, gone: usize) {
    for stmt in block {
        if let Stmt::Call { function, .. } = stmt
            && *function > gone
        {
            *function -= 1;
        }
        stmt.blocks_mut()
            .into_iter()
            .for_each(|b| renumber(b, gone));
    }
}

/// What could stand for an expression.
fn simpler(e: &Expr) -> Vec<Expr> {
    let constant = |bits: u64| {
        let mut value = Value::default();
        value[..e.ty.size.into()].fill(bits);
        Expr::new(e.ty, Op::Const(value), vec![])
    };
    if let Op::Const(value) = e.op {
        let zero = constant(0);
        return if value == [0; 4] || zero == *e {
            vec![]
        } else {
            vec![zero]
        };
    }
    let one = match e.ty.scalar {
        Scalar::F32 => 0x3f80_0000,
        Scalar::F16 => 0x3c00,
        _ => 1,
    };
    let mut all = vec![constant(0), constant(one)];
    for arg in &e.args {
        arg.visit(&mut |inner| {
            if inner.ty == e.ty {
                all.push(inner.clone());
            }
        });
    }
    all.truncate(8);
    all
}

/// The expression with this number, each before those below it.
fn nth_expr(program: &mut Program, mut at: usize) -> Option<&mut Expr> {
    for function in &mut program.functions {
        if let Some(e) = nth_in_block(&mut function.body, &mut at) {
            return Some(e);
        }
        if let Some(e) = function.result.as_mut().and_then(|e| nth_below(e, &mut at)) {
            return Some(e);
        }
    }
    None
}

fn nth_in_block<'a>(block: &'a mut Block, at: &mut usize) -> Option<&'a mut Expr> {
    for stmt in block {
        let size: usize = stmt.exprs().into_iter().map(size).sum();
        if *at < size {
            return stmt.exprs_mut().into_iter().find_map(|e| nth_below(e, at));
        }
        *at -= size;
        for inner in stmt.blocks_mut() {
            if let Some(e) = nth_in_block(inner, at) {
                return Some(e);
            }
        }
    }
    None
}

fn size(e: &Expr) -> usize {
    let mut count = 0;
    e.visit(&mut |_| count += 1);
    count
}

fn nth_below<'a>(e: &'a mut Expr, at: &mut usize) -> Option<&'a mut Expr> {
    if *at == 0 {
        return Some(e);
    }
    let all = size(e);
    if *at >= all {
        *at -= all;
        return None;
    }
    *at -= 1;
    e.args.iter_mut().find_map(|a| nth_below(a, at))
}
