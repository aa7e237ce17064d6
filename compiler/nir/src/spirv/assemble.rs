// SPDX-License-Identifier: MIT
//! SPIR-V assembly, for tests and tools.

use super::tools::Context;
use crate::Error;

/// Assemble SPIR-V text as `spirv-as` does, for Vulkan 1.3. The result is not validated.
pub fn assemble(text: &str) -> Result<Vec<u32>, Error> {
    Context::new().assemble(text).map_err(Error::Assembly)
}
