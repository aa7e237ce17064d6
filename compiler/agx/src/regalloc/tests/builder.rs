// SPDX-License-Identifier: MIT
//! Makes functions by hand.

use crate::ir::*;

/// Writes functions by hand.
pub(crate) struct Builder {
    pub(crate) function: Function,
    depth: u32,
}

impl Builder {
    pub(crate) fn new() -> Builder {
        let mut builder = Builder {
            function: Function {
                blocks: Vec::new(),
                num_values: 0,
                scratch_words: 0,
            },
            depth: 0,
        };
        builder.open();
        builder
    }

    pub(crate) fn open(&mut self) -> Block {
        self.function.blocks.push(BlockData {
            preds: Vec::new(),
            phis: Vec::new(),
            instrs: Vec::new(),
            end: End::Stop,
            loop_depth: self.depth,
        });
        Block(self.function.blocks.len() as u32 - 1)
    }

    pub(crate) fn value(&mut self) -> Value {
        self.function.value()
    }

    pub(crate) fn push(&mut self, instr: impl Into<Instr>) {
        self.block().instrs.push(instr.into());
    }

    pub(crate) fn block(&mut self) -> &mut BlockData {
        self.function.blocks.last_mut().expect("opened in new()")
    }

    pub(crate) fn end(&mut self, end: End) {
        self.block().end = end;
    }

    pub(crate) fn thread(&mut self) -> Value {
        let dst = self.value();
        self.push(SysReg {
            dst: dst.into(),
            number: 80,
            narrow: false,
        });
        dst
    }

    pub(crate) fn imm(&mut self, value: u32) -> Value {
        let dst = self.value();
        self.push(Imm {
            dst: dst.into(),
            value,
        });
        dst
    }

    pub(crate) fn load(&mut self, base: Base, index: Option<Value>, n: usize) -> Vec<Value> {
        let dst: Vec<Value> = (0..n).map(|_| self.value()).collect();
        self.push(Load {
            dst: dst.iter().map(|v| Dst::from(*v)).collect(),
            base,
            index: index.map(Src::from),
            format: Format::words(n).expect("1..=4"),
            shift: 0,
            offset: 0,
        });
        dst
    }

    pub(crate) fn store(&mut self, data: &[Value], index: Value) {
        self.push(Store {
            data: data.iter().map(|v| Src::from(*v)).collect(),
            base: Base::Pair(1),
            index: index.into(),
            format: Format::words(data.len()).expect("1..=4"),
            shift: 0,
            offset: 0,
        });
    }

    pub(crate) fn fma(&mut self, a: Value, b: Value, c: Value) -> Value {
        let dst = self.value();
        self.push(Fma {
            dst: dst.into(),
            a: a.into(),
            b: b.into(),
            c: c.into(),
            sat: false,
        });
        dst
    }

    pub(crate) fn add(&mut self, a: Value, b: impl Into<Src>) -> Value {
        let dst = self.value();
        self.push(IAdd {
            dst: dst.into(),
            a: a.into(),
            b: b.into(),
            sub: false,
        });
        dst
    }

    pub(crate) fn add64(&mut self, a: [Value; 2], b: [Src; 2]) -> [Value; 2] {
        let dst = [self.value(), self.value()];
        self.push(IAdd64 {
            dst: dst.map(Dst::from),
            a: a.map(Src::from),
            b,
            sub: false,
        });
        dst
    }

    /// A loop over a counter and other carried values: `body` gives the next values, and the loop's exit comes at
    /// its top. Gives the carried values, which are those of the last iteration behind the loop.
    pub(crate) fn repeat(
        &mut self,
        init: &[Src],
        body: impl FnOnce(&mut Builder, Value, &[Value]) -> Vec<Value>,
    ) -> Vec<Value> {
        let before = self.function.blocks.len() - 1;
        self.depth += 1;
        let header = self.open();
        let counter = self.value();
        let carried: Vec<Value> = init.iter().map(|_| self.value()).collect();
        let cond = Cond {
            cmp: Cmp::UGt,
            half: false,
            a: counter.into(),
            b: Src::imm(7),
            invert: false,
        };
        self.end(End::If {
            cond,
            else_block: Block(header.0 + 2),
            merge: Block(header.0 + 3),
            divergent: false,
        });
        let leaving = self.open();
        self.open();
        self.end(End::EndElse);
        let merge = self.open();
        let next = body(self, counter, &carried);
        let stepped = self.add(counter, Src::imm(1));
        self.end(End::EndLoop { header });
        self.depth -= 1;
        let exit = self.open();
        self.function.blocks[before].end = End::Loop { exit };
        let leave = End::Break {
            exit,
            closes: Closes::Then(merge),
        };
        self.function.blocks[leaving.index()].end = leave;
        let mut phis = vec![Phi {
            dst: counter,
            srcs: vec![Src::imm(0), stepped.into()],
        }];
        for ((dst, init), next) in carried.iter().zip(init).zip(next) {
            phis.push(Phi {
                dst: *dst,
                srcs: vec![*init, next.into()],
            });
        }
        self.function.blocks[header.index()].phis = phis;
        carried
    }
}
