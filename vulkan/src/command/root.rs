// SPDX-License-Identifier: MIT
//! Root records and launch programs of graphics stages: as those of dispatches, with other pointers.

use std::sync::Arc;

use agx_compiler::binary::Pointer;
use agx_hw::root::RECORD_ALIGN;
use agx_hw::window::LauncherAddress;
use ash::vk;

use super::buffer::CommandBuffer;
use super::chunk::Use;
use super::dispatch::Places;
use crate::debug;
use crate::error::VkResult;
use crate::program::Program;

/// Addresses of what only some stages have.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Special<'a> {
    pub(super) textures: u64,
    pub(super) samplers: u64,
    pub(super) vertex_buffers: u64,
    pub(super) draw_parameters: u64,
    pub(super) draw_number: u64,
    pub(super) blend_constants: u64,
    /// In place of the push constants that are bound.
    pub(super) constants: Option<&'a [u8]>,
}

impl CommandBuffer {
    /// Writes a root record for what is bound for draws, and a launch program.
    ///
    /// # Errors
    /// When there is no memory.
    pub(super) fn write_root(
        &mut self,
        program: &Arc<Program>,
        special: &Special<'_>,
    ) -> VkResult<LauncherAddress> {
        let uses = &program.uses;
        let mut lengths = self.drawing.bound.lengths(uses);
        if let (true, Some(constants)) = (uses.push_constants, special.constants) {
            lengths.constants = constants.len();
        }
        let places = Places::new(program.pointers.len(), 0, lengths);
        let piece = self.take(Use::Data, places.end, RECORD_ALIGN)?;
        // SAFETY: just taken.
        let bytes = unsafe { piece.bytes() };
        bytes[..places.dynamic].fill(0);
        let bound = &self.drawing.bound;
        let at = |offset: usize| piece.address + offset as u64;
        for (pointer, word) in program.pointers.iter().zip(bytes.chunks_exact_mut(8)) {
            let value = match *pointer {
                Pointer::TextureTable => special.textures,
                Pointer::SamplerTable => special.samplers,
                Pointer::PushConstants => at(places.constants),
                Pointer::DynamicBuffers => at(places.dynamic),
                Pointer::VertexBuffers => special.vertex_buffers,
                Pointer::DrawParameters => special.draw_parameters,
                Pointer::DrawNumber => special.draw_number,
                Pointer::BlendConstants => special.blend_constants,
                Pointer::DescriptorSet(set) => bound.set_address(set, at(places.pushed)),
                Pointer::Unused => 0,
                other => {
                    debug::error(&format_args!(
                        "a shader of a graphics stage wants {other:?}"
                    ));
                    return Err(vk::Result::ERROR_FEATURE_NOT_PRESENT);
                }
            };
            word.copy_from_slice(&value.to_le_bytes());
        }
        let from = special.constants.unwrap_or_else(|| bound.constants());
        bytes[places.constants..][..lengths.constants].copy_from_slice(&from[..lengths.constants]);
        bound.put_sets(&places, bytes);
        self.put_launcher(program, piece.address)
    }
}
