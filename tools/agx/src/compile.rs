// SPDX-License-Identifier: MIT
//! `agx compile`: one shader to machine code, with the texts on the way.

use std::io::Write;
use std::path::PathBuf;

use agx_compiler::binary::ShaderBinary;
use anyhow::Context as _;
use clap::{Args, ValueEnum};
use cortland_cts::case::Case;
use cortland_cts::corpus::source;
use cortland_cts::device::agx::AgxCompiler;
use cortland_cts::device::layout::Layout;
use cortland_cts::element::Element;
use mesa_nir::SpecConstant;

use crate::dis;

/// What to print.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Print {
    /// NIR, lowered for the GPU.
    Nir,
    /// The compiler's own form, before and after register allocation.
    Ir,
    /// Machine code as assembly.
    Asm,
    /// Numbers about the machine code.
    Stats,
}

/// Shader stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Stage {
    /// Compute.
    Compute,
}

/// Options of `agx compile`.
#[derive(Args, Clone, Debug)]
pub(crate) struct Options {
    /// SPIR-V (.spv), SPIR-V assembly (.spvasm), GLSL (.comp) or WGSL (.wgsl).
    file: PathBuf,
    /// The entry point's stage.
    #[arg(long, value_enum, default_value = "compute")]
    stage: Stage,
    /// The entry point.
    #[arg(long, default_value = "main")]
    entry: String,
    /// A specialisation constant: ID=TYPE:value, ID=true, ID=false.
    #[arg(long = "spec", value_name = "ID=VALUE", value_parser = parse_spec)]
    specialization: Vec<(u32, u64)>,
    /// The dispatch may have a base workgroup.
    #[arg(long)]
    base_workgroup: bool,
    /// Check buffer accesses.
    #[arg(long)]
    robust: bool,
    /// What to print.
    #[arg(long, value_enum, value_delimiter = ',', default_value = "asm,stats")]
    print: Vec<Print>,
    /// Write the machine code to this file.
    #[arg(short, long)]
    output: Option<PathBuf>,
}

fn parse_spec(text: &str) -> Result<(u32, u64), String> {
    let (id, value) = text.split_once('=').ok_or("it is not ID=VALUE")?;
    let id = id.parse().map_err(|e| format!("`{id}`: {e}"))?;
    let bits = match value {
        "true" => 1,
        "false" => 0,
        _ => {
            let (ty, value) = value.split_once(':').ok_or("the value is not TYPE:value")?;
            ty.parse::<Element>()?.parse(value)?
        }
    };
    Ok((id, bits))
}

/// Compiles the shader. The module is validated first.
pub(crate) fn run(options: &Options, out: &mut impl Write) -> anyhow::Result<()> {
    let Stage::Compute = options.stage;
    let spirv = source::compile(&options.file)?;
    let constants = options.specialization.iter();
    let case = Case {
        name: options.file.display().to_string(),
        entry: options.entry.clone(),
        specialization: constants
            .map(|(id, bits)| SpecConstant {
                id: *id,
                bits: *bits,
            })
            .collect(),
        groups: [1; 3],
        base_group: [u32::from(options.base_workgroup), 0, 0],
        push_constants: Vec::new(),
        buffers: Vec::new(),
        spirv,
        images: Vec::new(),
    };
    let layout = Layout::of_module(&case.spirv);
    let compiler = AgxCompiler {
        robust: options.robust,
    };
    let (binary, listing) = compiler.compile_with_listing(&case, &layout)?;
    for print in &options.print {
        match print {
            Print::Nir => writeln!(out, "{}", listing.nir)?,
            Print::Ir => {
                writeln!(out, "; before register allocation\n{}", listing.ssa)?;
                writeln!(out, "; on registers\n{}", listing.registers)?;
            }
            Print::Asm => print_code(&binary, out)?,
            Print::Stats => print_statistics(&binary, out)?,
        }
    }
    if let Some(path) = &options.output {
        std::fs::write(path, &binary.code).with_context(|| path.display().to_string())?;
    }
    Ok(())
}

fn print_code(binary: &ShaderBinary, out: &mut impl Write) -> anyhow::Result<()> {
    for (index, pointer) in binary.pointers.iter().enumerate() {
        let word = 2 * index;
        writeln!(out, "; u{word}:u{}  {pointer:?}", word + 1)?;
    }
    let listing = dis::Options {
        base: 0,
        strict: true,
        plain: false,
    };
    dis::run(&binary.code, &listing, out)?;
    Ok(())
}

fn print_statistics(binary: &ShaderBinary, out: &mut impl Write) -> anyhow::Result<()> {
    let stats = &binary.stats;
    let [x, y, z] = binary.workgroup_size;
    writeln!(out, "; workgroup size      {x} x {y} x {z}")?;
    let numbers: [(&str, u64); 12] = [
        ("instructions", stats.instructions.into()),
        ("bytes", stats.bytes.into()),
        ("waits", stats.waits.into()),
        ("moves", stats.moves.into()),
        ("registers", stats.gprs.into()),
        ("spills", stats.spills.into()),
        ("fills", stats.fills.into()),
        ("scratch bytes", stats.scratch.into()),
        ("loops", stats.loops.into()),
        ("estimated cycles", stats.cycles),
        ("threadgroup bytes", binary.threadgroup_bytes.into()),
        ("workgroup buffer", binary.workgroup_buffer_bytes.into()),
    ];
    for (name, number) in numbers {
        writeln!(out, "; {name:<19} {number}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specialisation_constants() {
        assert_eq!(parse_spec("3=u32:0x10"), Ok((3, 16)));
        assert_eq!(parse_spec("0=f32:1.0"), Ok((0, 0x3f80_0000)));
        assert_eq!(parse_spec("7=true"), Ok((7, 1)));
        for bad in ["3", "x=true", "3=5", "3=u9:1", "3=u8:256"] {
            assert!(parse_spec(bad).is_err(), "{bad}");
        }
    }
}
