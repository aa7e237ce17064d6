// SPDX-License-Identifier: MIT
//! `agx asm`: assembly text to bytes.

use std::io::Write;
use std::path::Path;

use agx_isa::Mode;
use anyhow::{Context as _, anyhow};

use crate::{dis, input};

/// Assembles `file` into `output`.
pub(crate) fn run(
    file: &Path,
    output: &Path,
    hex: bool,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    let name = file.display();
    let source = String::from_utf8(input::read_file(file)?)
        .map_err(|_| anyhow!("{name}: not a text file"))?;
    let mut code = agx_isa::asm::assemble(&source).with_context(|| name.to_string())?;
    if hex {
        let mut text = String::new();
        for line in dis::lines(&code, Mode::Lenient) {
            text += &input::hex(line.bytes);
            text.push('\n');
        }
        code = text.into_bytes();
    }
    if output == Path::new("-") {
        out.write_all(&code)?;
    } else {
        std::fs::write(output, &code).with_context(|| output.display().to_string())?;
    }
    Ok(())
}
