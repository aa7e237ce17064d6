// SPDX-License-Identifier: MIT
//! Kernels of the corpus in assembly, written by hand, that compiled code is measured by.

use std::path::{Path, PathBuf};

use agx_compiler::binary::{Pointer, ShaderBinary, Statistics};
use agx_isa::{Decoder, Mode};
use anyhow::Context as _;

/// The names of the kernels that a corpus has yardsticks for, in order.
///
/// # Errors
/// When the directory cannot be read.
pub fn names(corpus: &Path) -> anyhow::Result<Vec<String>> {
    let directory = corpus.join("yardstick");
    let context = || directory.display().to_string();
    let mut names = Vec::new();
    for file in std::fs::read_dir(&directory).with_context(context)? {
        let path = file.with_context(context)?.path();
        if path.extension().is_some_and(|extension| extension == "s") {
            names.extend(path.file_stem().and_then(|s| s.to_str()).map(str::to_owned));
        }
    }
    names.sort();
    Ok(names)
}

fn file(corpus: &Path, name: &str) -> PathBuf {
    corpus.join("yardstick").join(name).with_extension("s")
}

/// The hand-written code for a kernel, to be launched like its compiled shader. Its pointers are
/// descriptor set 0, the push constants and threadgroup memory.
///
/// # Errors
/// When there is none, or it does not assemble.
pub fn load(corpus: &Path, name: &str, compiled: &ShaderBinary) -> anyhow::Result<ShaderBinary> {
    let path = file(corpus, name);
    let context = || path.display().to_string();
    let text = std::fs::read_to_string(&path).with_context(context)?;
    let code = agx_isa::asm::assemble(&text).with_context(context)?;
    let instructions = Decoder::new(&code, Mode::Strict).count() as u32;
    Ok(ShaderBinary {
        stats: Statistics {
            instructions,
            bytes: code.len() as u32,
            ..Statistics::default()
        },
        code,
        pointers: vec![
            Pointer::DescriptorSet(0),
            Pointer::PushConstants,
            Pointer::ThreadgroupRoot,
        ],
        stage: agx_compiler::binary::StageInfo::Compute,
        publications: 0,
        scratch_bytes: 0,
        spill_bytes: 0,
        workgroup_buffer_bytes: 0,
        // The layout of threadgroup memory is the writer's own.
        threadgroup_bytes: match compiled.threadgroup_bytes {
            0 => 0,
            _ => agx_hw::launcher::MAX_THREADGROUP_BYTES,
        },
        ..compiled.clone()
    })
}
