// SPDX-License-Identifier: MIT
//! The front end as the driver for the GPU sets it up.

use std::sync::{Arc, LazyLock};

use anyhow::Context as _;
use mesa_nir::{Capability, CompilerOptions, Shader, SpirvOptions, Stage, spirv_to_nir};

use crate::case::Case;

/// What a module may ask for: core Vulkan 1.3 and what extensions of the driver add.
#[must_use]
pub fn spirv_options() -> SpirvOptions {
    let mut options = SpirvOptions::vulkan_1_3();
    options.capabilities = options.capabilities.with(&[
        Capability::AtomicFloat32AddEXT,
        Capability::GroupNonUniformRotateKHR,
        Capability::WorkgroupMemoryExplicitLayoutKHR,
        Capability::WorkgroupMemoryExplicitLayout8BitAccessKHR,
        Capability::WorkgroupMemoryExplicitLayout16BitAccessKHR,
    ]);
    options
}

static OPTIONS: LazyLock<Arc<CompilerOptions>> = LazyLock::new(|| Arc::new(CompilerOptions::new()));

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
        &spirv_options(),
        &OPTIONS,
    )
    .with_context(|| format!("{}: the front end", case.name))
}
