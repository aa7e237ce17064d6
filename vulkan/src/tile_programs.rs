// SPDX-License-Identifier: MIT
//! The background and end-of-tile programs of a device, by what they do.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use agx_hw::tile::Layout;
use ash::vk;

use crate::command::TileProgram;
use crate::debug;
use crate::device::Device;
use crate::error::VkResult;
use crate::program::Program;

/// Programs that were compiled so far. There are few combinations of formats in an application.
#[derive(Default)]
pub(crate) struct TilePrograms {
    made: Mutex<HashMap<(TileProgram, u8), Arc<Program>>>,
}

impl TilePrograms {
    /// A program, compiled if need be.
    ///
    /// # Errors
    /// When there is no memory for it.
    pub(crate) fn get(
        &self,
        device: &Device,
        which: TileProgram,
        tile: &Layout,
    ) -> VkResult<Arc<Program>> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (which, tile.sample_size());
        if let Some(program) = made.get(&key) {
            return Ok(program.clone());
        }
        let compiled = match which {
            TileProgram::Background(background) => background.compile(),
            TileProgram::Store(store) => store.compile(),
        };
        let binary = compiled.map_err(|error| {
            debug::error(&format_args!("a program of tiles: {error}"));
            vk::Result::ERROR_UNKNOWN
        })?;
        let program =
            Program::upload_graphics(&device.gpu, &device.arena, &binary, tile.storage())?;
        let program = Arc::new(program);
        made.insert(key, program.clone());
        Ok(program)
    }
}
