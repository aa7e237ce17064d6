// SPDX-License-Identifier: MIT
//! The driver's own shaders, which the cache on disk keeps too.

use agx_compiler::binary::ShaderBinary;
use agx_uapi::Chip;
use mesa_nir::{BindingLayout, ComputeLowering};

use super::compile::{compile, print};
use super::source::{Lowering, Module, Source};
use super::{binary, disk_cache};
use crate::error::VkResult;

/// The binary of a shader with so many bindings.
///
/// # Errors
/// As for a pipeline, with the compiler's message.
pub(crate) fn own_shader(
    chip: Chip,
    words: &[u32],
    bindings: &[BindingLayout],
) -> VkResult<ShaderBinary> {
    let source = Source {
        module: &Module::own(words),
        lowering: Lowering::Compute(ComputeLowering {
            bindings: bindings.to_vec(),
            ..ComputeLowering::default()
        }),
    };
    let key = source.key(chip);
    let disk = disk_cache::user_cache();
    if let Some((found, _)) = disk.and_then(|disk| disk.find(&key)) {
        return Ok(found);
    }
    let (made, _) = compile(&source, false)?;
    print(&source, &made);
    if let Some(disk) = disk {
        disk.write(&key, &binary::encode(&key, &made));
    }
    Ok(made)
}
