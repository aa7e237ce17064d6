// SPDX-License-Identifier: MIT
//! The shaders of a device that are alive: equal ones are one.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use agx_compiler::binary::{ShaderBinary, StageInfo, Statistics};
use agx_hw::launcher::Storage;

use super::binary;
use super::key::Key;
use super::source::{Lowering, Source};
use crate::device::Device;
use crate::error::VkResult;
use crate::program::Program;

/// A compiled shader on the GPU.
pub(super) struct Shader {
    /// To launch it.
    pub(super) program: Arc<Program>,
    /// What the state of its stage must agree with.
    pub(super) stage: StageInfo,
    /// What was emitted.
    pub(super) stats: Statistics,
    /// What caches keep.
    pub(super) blob: Box<[u8]>,
}

/// All shaders of a device that some pipeline uses.
#[derive(Default)]
pub(crate) struct Store {
    shaders: Mutex<Alive>,
}

#[derive(Default)]
struct Alive {
    by_key: HashMap<Key, Weak<Shader>>,
    /// How many entries there are before dead ones are looked for again.
    sweep_at: usize,
}

impl Store {
    pub(super) fn find(&self, key: &Key) -> Option<Arc<Shader>> {
        let alive = self.shaders.lock().unwrap_or_else(PoisonError::into_inner);
        alive.by_key.get(key)?.upgrade()
    }

    /// Uploads a shader, unless another thread has uploaded an equal one meanwhile.
    ///
    /// # Errors
    /// When there is no GPU memory.
    pub(super) fn add(
        &self,
        device: &Device,
        source: &Source<'_>,
        key: Key,
        made: &ShaderBinary,
        blob: Option<&[u8]>,
    ) -> VkResult<Arc<Shader>> {
        let (gpu, arena) = (&device.gpu, &device.arena);
        let program = match source.lowering {
            Lowering::Compute(_) => Program::upload(gpu, arena, made)?,
            Lowering::Vertex(_) => Program::upload_graphics(gpu, arena, made, Storage::None)?,
            Lowering::Fragment(_, tile) => Program::upload_graphics(gpu, arena, made, tile)?,
        };
        let shader = Arc::new(Shader {
            program: Arc::new(program),
            stage: made.stage.clone(),
            stats: made.stats,
            blob: match blob {
                Some(blob) => blob.into(),
                None => binary::encode(&key, made).into(),
            },
        });
        let mut alive = self.shaders.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(there) = alive.by_key.get(&key).and_then(Weak::upgrade) {
            return Ok(there);
        }
        if alive.by_key.len() >= alive.sweep_at {
            alive.by_key.retain(|_, shader| shader.strong_count() != 0);
            alive.sweep_at = (2 * alive.by_key.len()).max(64);
        }
        alive.by_key.insert(key, Arc::downgrade(&shader));
        Ok(shader)
    }
}
