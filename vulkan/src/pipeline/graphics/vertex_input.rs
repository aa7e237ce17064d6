// SPDX-License-Identifier: MIT
//! The vertex input interface: attributes, which vertex shaders fetch and convert (isa-3, 5.1; HW), and what
//! is assembled.

use agx_hw::vdm::Primitive;
use ash::vk;
use mesa_nir::{Attribute, Rate};

use super::refuse;
use crate::entry;
use crate::error::VkResult;
use crate::pipeline::graphics_state::{MAX_VERTEX_BUFFERS, primitive};

/// What a pipeline says of its vertices.
#[derive(Clone)]
pub(super) struct VertexInput {
    pub(super) attributes: Vec<Attribute>,
    /// Bytes from vertex to vertex, by buffer.
    pub(super) strides: [u32; MAX_VERTEX_BUFFERS],
    /// One more than the last buffer that is read.
    pub(super) buffers: usize,
    pub(super) topology: Primitive,
    pub(super) restart: bool,
}

impl VertexInput {
    /// # Errors
    /// When it is not offered.
    ///
    /// # Safety
    /// The structure is valid.
    pub(super) unsafe fn of(info: &vk::GraphicsPipelineCreateInfo<'_>) -> VkResult<VertexInput> {
        // SAFETY: the caller's promise.
        let (input, assembly) = unsafe {
            (
                info.p_vertex_input_state.as_ref(),
                info.p_input_assembly_state.as_ref(),
            )
        };
        let topology = assembly.map_or(vk::PrimitiveTopology::TRIANGLE_LIST, |assembly| {
            assembly.topology
        });
        let Some(topology) = primitive(topology) else {
            return refuse(&format_args!("{topology:?} is not offered"));
        };
        let mut made = VertexInput {
            attributes: Vec::new(),
            strides: [0; MAX_VERTEX_BUFFERS],
            buffers: 0,
            topology,
            restart: assembly.is_some_and(|assembly| assembly.primitive_restart_enable == vk::TRUE),
        };
        if let Some(input) = input {
            // SAFETY: the caller's promise.
            unsafe { made.read(input)? };
        }
        Ok(made)
    }

    /// # Safety
    /// The structure is valid.
    unsafe fn read(&mut self, input: &vk::PipelineVertexInputStateCreateInfo<'_>) -> VkResult {
        type Divisors<'a> = vk::PipelineVertexInputDivisorStateCreateInfoKHR<'a>;
        // SAFETY: the caller's promise.
        let (bindings, attributes, divisors) = unsafe {
            let divisors = entry::find::<Divisors<'_>>(input.p_next);
            (
                entry::slice(
                    input.p_vertex_binding_descriptions,
                    input.vertex_binding_description_count,
                ),
                entry::slice(
                    input.p_vertex_attribute_descriptions,
                    input.vertex_attribute_description_count,
                ),
                divisors.map_or(&[][..], |divisors| {
                    entry::slice(
                        divisors.p_vertex_binding_divisors,
                        divisors.vertex_binding_divisor_count,
                    )
                }),
            )
        };
        for binding in bindings {
            if let Some(stride) = self.strides.get_mut(binding.binding as usize) {
                *stride = binding.stride;
            }
        }
        for attribute in attributes {
            let binding = bindings.iter().find(|b| b.binding == attribute.binding);
            let by_instance =
                binding.is_some_and(|b| b.input_rate == vk::VertexInputRate::INSTANCE);
            let divisor = divisors.iter().find(|d| d.binding == attribute.binding);
            let (Ok(location), Ok(binding)) = (
                u8::try_from(attribute.location),
                u8::try_from(attribute.binding),
            ) else {
                return refuse(&"an attribute's location or binding");
            };
            if usize::from(binding) >= MAX_VERTEX_BUFFERS {
                return refuse(&format_args!("vertex buffer {binding}"));
            }
            self.buffers = self.buffers.max(usize::from(binding) + 1);
            self.attributes.push(Attribute {
                location,
                binding,
                offset: attribute.offset,
                format: attribute.format.as_raw(),
                rate: match by_instance {
                    false => Rate::Vertex,
                    true => Rate::Instance {
                        divisor: divisor.map_or(1, |divisor| divisor.divisor),
                    },
                },
            });
        }
        Ok(())
    }
}
