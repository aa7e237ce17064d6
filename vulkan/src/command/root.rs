// SPDX-License-Identifier: MIT
//! Root records and launch programs of graphics stages: as those of dispatches, with other pointers.

use std::sync::Arc;

use agx_compiler::binary::Pointer;
use agx_hw::root::RECORD_ALIGN;
use agx_hw::window::LauncherAddress;
use ash::vk;

use super::buffer::CommandBuffer;
use super::chunk::Use;
use crate::debug;
use crate::descriptor::DESCRIPTOR_SIZE;
use crate::error::VkResult;
use crate::program::Program;

/// Addresses of what only some stages have.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Special<'a> {
    pub(super) textures: u64,
    pub(super) samplers: u64,
    pub(super) vertex_buffers: u64,
    pub(super) draw_parameters: u64,
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
        const DESCRIPTOR: usize = DESCRIPTOR_SIZE as usize;
        let uses = &program.uses;
        let bound = &self.drawing.bound;
        let constants = match (uses.push_constants, special.constants) {
            (false, _) => 0,
            (true, Some(constants)) => constants.len(),
            (true, None) => bound.constants().len(),
        };
        let dynamic = match uses.dynamic_buffers {
            true => bound.dynamic().len(),
            false => 0,
        };
        let pushed = match bound.pushed {
            Some(set) if uses.set(set) => bound.pushed_memory().len(),
            _ => 0,
        };
        // LDP loads pointers in pairs.
        let constants_at = (8 * program.pointers.len()).next_multiple_of(16);
        let dynamic_at = constants_at + constants.next_multiple_of(16);
        let pushed_at = dynamic_at + DESCRIPTOR * dynamic;
        let piece = self.take(Use::Data, pushed_at + pushed, RECORD_ALIGN)?;
        // SAFETY: just taken.
        let bytes = unsafe { piece.bytes() };
        bytes[..dynamic_at].fill(0);
        let bound = &self.drawing.bound;
        let at = |offset: usize| piece.address + offset as u64;
        for (pointer, word) in program.pointers.iter().zip(bytes.chunks_exact_mut(8)) {
            let value = match *pointer {
                Pointer::TextureTable => special.textures,
                Pointer::SamplerTable => special.samplers,
                Pointer::PushConstants => at(constants_at),
                Pointer::DynamicBuffers => at(dynamic_at),
                Pointer::VertexBuffers => special.vertex_buffers,
                Pointer::DrawParameters => special.draw_parameters,
                Pointer::BlendConstants => special.blend_constants,
                Pointer::DescriptorSet(set) if bound.pushed == Some(set.into()) => at(pushed_at),
                Pointer::DescriptorSet(set) => {
                    let set = bound.sets.get(usize::from(set));
                    set.map_or(0, |set| set.address)
                }
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
        bytes[constants_at..][..constants].copy_from_slice(&from[..constants]);
        let table = bytes[dynamic_at..pushed_at].chunks_exact_mut(DESCRIPTOR);
        for (buffer, to) in bound.dynamic().iter().zip(table) {
            to.copy_from_slice(&buffer.descriptor());
        }
        bytes[pushed_at..].copy_from_slice(&bound.pushed_memory()[..pushed]);
        self.put_launcher(program, piece.address)
    }
}
