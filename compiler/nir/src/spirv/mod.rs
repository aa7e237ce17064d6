// SPDX-License-Identifier: MIT
//! From SPIR-V words to NIR: read, check, translate.

pub(crate) mod assemble;
pub(crate) mod constants;
pub(crate) mod ids;
pub(crate) mod limits;
pub(crate) mod module;
pub(crate) mod options;
pub(crate) mod tools;
pub(crate) mod translate;
pub(crate) mod validate;
