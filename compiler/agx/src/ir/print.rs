// SPDX-License-Identifier: MIT
//! The text form of a function.

use std::fmt;

use super::{Cond, End, Function};

impl fmt::Display for Cond {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cmp = format!("{:?}", self.cmp).to_lowercase();
        let (not, half) = (
            if self.invert { "not " } else { "" },
            if self.half { ".h" } else { "" },
        );
        write!(f, "{not}{cmp}{half} {}, {}", self.a, self.b)
    }
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            End::Next => f.write_str("next"),
            End::If {
                cond,
                else_block,
                merge,
                divergent,
            } => {
                let how = if *divergent { "" } else { "uniform " };
                write!(
                    f,
                    "if {how}{cond} else b{} merge b{}",
                    else_block.0, merge.0
                )
            }
            End::EndThen { merge } => write!(f, "end_then b{}", merge.0),
            End::EndElse => f.write_str("end_else"),
            End::Loop { exit } => write!(f, "loop exit b{}", exit.0),
            End::EndLoop { header } => write!(f, "end_loop b{}", header.0),
            End::Break { exit, closes } => write!(f, "break b{} closes {closes:?}", exit.0),
            End::Stop => f.write_str("stop"),
        }
    }
}

impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for id in self.block_ids() {
            let block = &self.blocks[id.index()];
            let preds: Vec<_> = block.preds.iter().map(|p| format!("b{}", p.0)).collect();
            writeln!(
                f,
                "b{}: ; preds {} depth {}",
                id.0,
                preds.join(" "),
                block.loop_depth
            )?;
            for phi in &block.phis {
                let srcs: Vec<_> = phi.srcs.iter().map(ToString::to_string).collect();
                writeln!(f, "    {} = phi {}", phi.dst, srcs.join(", "))?;
            }
            for instr in &block.instrs {
                writeln!(f, "    {instr}")?;
            }
            writeln!(f, "    {}", block.end)?;
        }
        Ok(())
    }
}
