// SPDX-License-Identifier: MIT
//! Lowers the compute shader of a SPIR-V file for Apple9 and prints its NIR: `lower [--robust] [--base] file.spv [entry]`.

use mesa_nir::{
    BindingKind, BindingLayout, CompilerOptions, ComputeLowering, Place, SpirvOptions, Stage,
    assemble, spirv_to_nir,
};
use std::sync::Arc;

/// 16 bindings in each of four sets, 256 bytes apart; binding 15 is an inline uniform block.
fn bindings() -> Vec<BindingLayout> {
    let one = |i: u32| BindingLayout {
        set: i / 16,
        binding: i % 16,
        place: Place::Set((i / 16) as u8),
        offset: i % 16 * 256,
        stride: 16,
        count: 1,
        kind: if i % 16 == 15 {
            BindingKind::InlineUniform
        } else {
            BindingKind::Buffer
        },
    };
    (0..64).map(one).collect()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (switches, names): (Vec<_>, Vec<_>) =
        std::env::args().skip(1).partition(|a| a.starts_with("--"));
    let has = |name: &str| switches.iter().any(|s| s == name);
    let file = names.first().ok_or("no file is named")?;
    let bytes = std::fs::read(file)?;
    let words = match std::str::from_utf8(&bytes) {
        Ok(text) if file.ends_with(".spvasm") => assemble(text)?,
        _ => bytes
            .chunks_exact(4)
            .map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]]))
            .collect(),
    };
    let entry = names.get(1).map_or("main", String::as_str);
    let options = Arc::new(CompilerOptions::apple9());
    let spirv = SpirvOptions::apple9_compute();
    let shader = spirv_to_nir(&words, Stage::Compute, entry, &[], &spirv, &options)?;
    if has("--before") {
        println!("{}", shader.print()?);
    }
    let lowering = ComputeLowering {
        bindings: bindings(),
        robust: has("--robust"),
        has_base_workgroup: has("--base"),
        custom_border_colors: false,
    };
    let shader = shader.lower_compute(&lowering)?.validate()?;
    println!("{}", shader.print()?);
    let program = shader.export()?;
    if has("--export") {
        println!("{program:#?}");
    }
    Ok(())
}
