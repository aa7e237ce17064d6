// SPDX-License-Identifier: MIT
//! Compiles a vertex or fragment shader in SPIR-V and prints every stage of it: `stage FILE.vert.spv`.

use std::process::ExitCode;
use std::sync::Arc;

use agx_compiler::{Listing, compile_fragment, compile_vertex};
use agx_isa::{Decoder, Mode};
use mesa_nir::{
    Attachment, Attribute, BindingKind, BindingLayout, ColourEncoding, ColourFormat,
    CompilerOptions, FragmentLowering, Place, Rate, SpirvOptions, Stage, VertexLowering,
    spirv_to_nir,
};

fn main() -> ExitCode {
    let Some(path) = std::env::args().nth(1) else {
        eprintln!("stage FILE.vert.spv or FILE.frag.spv");
        return ExitCode::FAILURE;
    };
    match run(&path) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{path}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn bindings() -> Vec<BindingLayout> {
    let kinds = [
        BindingKind::Buffer,
        BindingKind::CombinedImageSampler,
        BindingKind::StorageImage,
        BindingKind::Texture,
    ];
    let binding = |(binding, kind): (u32, BindingKind)| BindingLayout {
        set: 0,
        binding,
        place: Place::Set(0),
        offset: 128 * binding,
        stride: 128,
        count: 1,
        kind,
    };
    (0..).zip(kinds).map(binding).collect()
}

fn run(path: &str) -> Result<(), Box<dyn std::error::Error>> {
    let bytes = std::fs::read(path)?;
    let words = bytes
        .chunks_exact(4)
        .map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]]));
    let words: Vec<u32> = words.collect();
    let options = Arc::new(CompilerOptions::apple9());
    let spirv = SpirvOptions::apple9_graphics();
    let is_vertex = path.contains(".vert");
    let stage = if is_vertex {
        Stage::Vertex
    } else {
        Stage::Fragment
    };
    let shader = spirv_to_nir(&words, stage, "main", &[], &spirv, &options)?;
    let mut listing = Listing::default();
    let binary = if is_vertex {
        let attribute = |location| Attribute {
            location,
            binding: 0,
            offset: 16 * u32::from(location),
            format: 109,
            rate: Rate::Vertex,
        };
        let lowering = VertexLowering {
            bindings: bindings(),
            attributes: (0..8).map(attribute).collect(),
            ..VertexLowering::default()
        };
        compile_vertex(shader, &lowering, Some(&mut listing))
    } else {
        let attachment = |word| {
            Some(Attachment {
                format: ColourFormat {
                    encoding: ColourEncoding::Unorm8,
                    components: 4,
                },
                word,
                write_mask: 15,
                blend: None,
            })
        };
        let samples = std::env::var("SAMPLES").map_or(1, |s| s.parse().unwrap_or(1));
        let lowering = FragmentLowering {
            bindings: bindings(),
            samples,
            attachments: std::array::from_fn(|i| if i < 2 { attachment(i as u8) } else { None }),
            ..FragmentLowering::default()
        };
        compile_fragment(shader, &lowering, Some(&mut listing))
    };
    println!("{}\n{}\n{}", listing.nir, listing.ssa, listing.registers);
    let binary = binary?;
    for decoded in Decoder::new(&binary.code, Mode::Strict) {
        let (offset, instr) = decoded?;
        println!("{offset:04x}  {instr}");
    }
    println!(
        "{:?}\n{:?}\n{:?}",
        binary.stage, binary.pointers, binary.stats
    );
    Ok(())
}
