// SPDX-License-Identifier: MIT
//! Shaders written in the scenarios: GLSL, compiled when they run.

use std::collections::HashMap;
use std::sync::{Mutex, OnceLock, PoisonError};

use cortland_cts::corpus::source;

/// A compute shader's SPIR-V. `text` is GLSL below the `#version` line; extensions that the
/// scenarios share are on. One text is compiled once in a process.
///
/// # Errors
/// What the compiler says.
pub fn glsl(text: &str) -> anyhow::Result<Vec<u32>> {
    glsl_stage(text, "comp")
}

/// The same for any stage: `comp`, `vert`, `frag`.
///
/// # Errors
/// What the compiler says.
pub fn glsl_stage(text: &str, stage: &'static str) -> anyhow::Result<Vec<u32>> {
    glsl_for(text, stage, source::NEWEST)
}

/// The same for a version of Vulkan: `vulkan1.1` and so on.
///
/// # Errors
/// What the compiler says.
pub fn glsl_for(text: &str, stage: &'static str, target: &'static str) -> anyhow::Result<Vec<u32>> {
    type Compiled = HashMap<(String, [&'static str; 2]), Vec<u32>>;
    static COMPILED: OnceLock<Mutex<Compiled>> = OnceLock::new();
    let compiled = COMPILED.get_or_init(Mutex::default);
    let mut compiled = compiled.lock().unwrap_or_else(PoisonError::into_inner);
    let key = (text.to_owned(), [stage, target]);
    if let Some(words) = compiled.get(&key) {
        return Ok(words.clone());
    }
    let words = source::compile_glsl_for(&format!("{HEADER}{text}"), stage, target)?;
    compiled.insert(key, words.clone());
    Ok(words)
}

const HEADER: &str = "#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference2 : require
#extension GL_EXT_nonuniform_qualifier : require
#extension GL_EXT_scalar_block_layout : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
";
