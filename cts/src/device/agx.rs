// SPDX-License-Identifier: MIT
//! The shader compiler as the driver for the GPU sets it up.

use std::sync::{Arc, LazyLock};

use agx_compiler::binary::ShaderBinary;
use agx_compiler::{CompileKey, Listing};
use anyhow::Context as _;
use mesa_nir::{
    BindingLayout, CompilerOptions, ComputeLowering, Place, Shader, SpirvOptions, Stage,
    spirv_to_nir,
};

use super::layout::Layout;
use super::simulated::Compiler;
use crate::case::Case;

static OPTIONS: LazyLock<Arc<CompilerOptions>> =
    LazyLock::new(|| Arc::new(CompilerOptions::apple9()));
static SPIRV: LazyLock<SpirvOptions> = LazyLock::new(SpirvOptions::apple9_compute);

/// A case's module as NIR. The module is validated the first time.
///
/// # Errors
/// When the validator or the front end refuses it.
pub fn translate(case: &Case) -> anyhow::Result<Shader> {
    spirv_to_nir(
        &case.spirv,
        Stage::Compute,
        &case.entry,
        &case.specialization,
        &SPIRV,
        &OPTIONS,
    )
    .with_context(|| format!("{}: the front end", case.name))
}

/// What a case's binary depends on besides its module.
#[must_use]
pub fn key(case: &Case, layout: &Layout, robust: bool) -> CompileKey {
    let bindings = layout.bindings().iter();
    let bindings = bindings.map(|b| BindingLayout {
        set: b.set,
        binding: b.binding,
        place: Place::Set(b.set as u8),
        offset: b.offset,
        stride: b.stride(),
        count: b.elements,
        kind: b.kind,
    });
    CompileKey {
        lowering: ComputeLowering {
            bindings: bindings.collect(),
            robust,
            has_base_workgroup: case.base_group != [0; 3],
            custom_border_colors: case.images.iter().any(|image| image.border.is_some()),
        },
    }
}

/// The compiler of this project.
#[derive(Debug, Clone, Copy, Default)]
pub struct AgxCompiler {
    /// Check buffer accesses.
    pub robust: bool,
}

impl AgxCompiler {
    /// The binary, and the texts of the stages on the way.
    ///
    /// # Errors
    /// When the front end or the compiler refuses the module.
    pub fn compile_with_listing(
        &self,
        case: &Case,
        layout: &Layout,
    ) -> anyhow::Result<(ShaderBinary, Listing)> {
        let shader = translate(case)?;
        agx_compiler::compile_with_listing(shader, &key(case, layout, self.robust))
            .with_context(|| format!("{}: the compiler", case.name))
    }
}

impl Compiler for AgxCompiler {
    fn compile(&self, case: &Case, layout: &Layout) -> anyhow::Result<ShaderBinary> {
        let shader = translate(case)?;
        agx_compiler::compile(shader, &key(case, layout, self.robust))
            .with_context(|| format!("{}: the compiler", case.name))
    }
}
