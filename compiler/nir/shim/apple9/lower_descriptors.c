/* SPDX-License-Identifier: MIT */
/*
 * Where buffers are. A pointer into a storage buffer is three words (nir_address_format_vec2_index_32bit_offset): the
 * 64-bit address of its descriptor and an offset into the buffer, so that pointers of different bindings can be chosen
 * between at run time. Until the descriptor is "loaded", the third word is the distance to the next array element. A
 * pointer into a uniform buffer is the number of its binding in the layout, the array element and the offset: no such
 * choice exists there, and blocks that lie in the set itself have no descriptor.
 *
 * Before explicit I/O, apple9_lower_descriptors replaces Vulkan's resource indices by these. After it,
 * apple9_lower_inline_uniforms makes loads of uniform buffers take the address of a descriptor too, and loads of inline
 * blocks plain loads of memory.
 */
#include "texture.h"

#include "vulkan/vulkan_core.h"

#include "../unsupported.h"

static unsigned
find_binding(const struct cortland_compute_lowering *lowering, unsigned set, unsigned binding)
{
   for (size_t i = 0; i < lowering->num_bindings; i++) {
      if (lowering->bindings[i].set == set && lowering->bindings[i].binding == binding)
         return i;
   }
   unsupported("a buffer at set %u, binding %u, which the layout does not have", set, binding);
}

nir_def *
apple9_binding_address(nir_builder *b, const struct cortland_binding *binding, nir_def *element)
{
   unsigned root = binding->place == CORTLAND_PLACE_DYNAMIC ? CORTLAND_ROOT_DYNAMIC_BUFFERS
                                                            : CORTLAND_ROOT_SET + binding->place_set;
   nir_def *address = nir_load_preamble(b, 1, 64, .base = root);
   nir_def *offset = nir_u2u64(b, nir_amul_imm(b, element, binding->stride));
   return nir_iadd_imm(b, nir_iadd(b, address, offset), binding->offset);
}

static nir_def *
lower_storage(nir_builder *b, nir_intrinsic_instr *intrin, const struct cortland_compute_lowering *lowering)
{
   switch (intrin->intrinsic) {
   case nir_intrinsic_vulkan_resource_index: {
      unsigned number = find_binding(lowering, nir_intrinsic_desc_set(intrin), nir_intrinsic_binding(intrin));
      const struct cortland_binding *binding = &lowering->bindings[number];
      if (binding->kind != CORTLAND_BINDING_BUFFER)
         unsupported("a storage buffer at set %u, binding %u, which is an inline uniform block", binding->set,
                     binding->binding);
      nir_def *address = apple9_binding_address(b, binding, nir_u2u32(b, intrin->src[0].ssa));
      return nir_vec3(b, nir_unpack_64_2x32_split_x(b, address), nir_unpack_64_2x32_split_y(b, address),
                      nir_imm_int(b, binding->stride));
   }
   case nir_intrinsic_vulkan_resource_reindex: {
      nir_def *index = intrin->src[0].ssa;
      nir_def *stride = nir_channel(b, index, 2);
      nir_def *address = nir_pack_64_2x32_split(b, nir_channel(b, index, 0), nir_channel(b, index, 1));
      address = nir_iadd(b, address, nir_u2u64(b, nir_amul(b, nir_u2u32(b, intrin->src[1].ssa), stride)));
      return nir_vec3(b, nir_unpack_64_2x32_split_x(b, address), nir_unpack_64_2x32_split_y(b, address), stride);
   }
   default: {
      nir_def *index = intrin->src[0].ssa;
      return nir_vec3(b, nir_channel(b, index, 0), nir_channel(b, index, 1), nir_imm_int(b, 0));
   }
   }
}

static nir_def *
lower_uniform(nir_builder *b, nir_intrinsic_instr *intrin, const struct cortland_compute_lowering *lowering)
{
   switch (intrin->intrinsic) {
   case nir_intrinsic_vulkan_resource_index: {
      unsigned number = find_binding(lowering, nir_intrinsic_desc_set(intrin), nir_intrinsic_binding(intrin));
      return nir_vec3(b, nir_imm_int(b, number), nir_u2u32(b, intrin->src[0].ssa), nir_imm_int(b, 0));
   }
   case nir_intrinsic_vulkan_resource_reindex: {
      nir_def *index = intrin->src[0].ssa;
      nir_def *element = nir_iadd(b, nir_channel(b, index, 1), nir_u2u32(b, intrin->src[1].ssa));
      return nir_vec3(b, nir_channel(b, index, 0), element, nir_channel(b, index, 2));
   }
   default:
      return intrin->src[0].ssa;
   }
}

static bool
lower(nir_builder *b, nir_intrinsic_instr *intrin, void *data)
{
   if (intrin->intrinsic != nir_intrinsic_vulkan_resource_index &&
       intrin->intrinsic != nir_intrinsic_vulkan_resource_reindex &&
       intrin->intrinsic != nir_intrinsic_load_vulkan_descriptor)
      return false;
   if (intrin->def.num_components != 3 || intrin->def.bit_size != 32)
      unsupported("a descriptor that is not of a buffer");
   b->cursor = nir_before_instr(&intrin->instr);
   nir_def *result;
   switch (nir_intrinsic_desc_type(intrin)) {
   case VK_DESCRIPTOR_TYPE_STORAGE_BUFFER:
   case VK_DESCRIPTOR_TYPE_STORAGE_BUFFER_DYNAMIC:
      result = lower_storage(b, intrin, data);
      break;
   case VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER:
   case VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER_DYNAMIC:
      result = lower_uniform(b, intrin, data);
      break;
   default:
      unsupported("a descriptor of type %u", nir_intrinsic_desc_type(intrin));
   }
   nir_def_replace(&intrin->def, result);
   return true;
}

bool
apple9_lower_descriptors(nir_shader *shader, const struct cortland_compute_lowering *lowering)
{
   return nir_shader_intrinsics_pass(shader, lower, nir_metadata_control_flow, (void *)lowering);
}

static bool
lower_load(nir_builder *b, nir_intrinsic_instr *intrin, void *data)
{
   const struct cortland_compute_lowering *lowering = data;
   if (intrin->intrinsic != nir_intrinsic_load_ubo)
      return false;
   nir_scalar number = nir_scalar_chase_movs(nir_get_scalar(intrin->src[0].ssa, 0));
   if (!nir_scalar_is_const(number) || nir_scalar_as_uint(number) >= lowering->num_bindings)
      unsupported("a uniform buffer whose binding is chosen at run time");
   const struct cortland_binding *binding = &lowering->bindings[nir_scalar_as_uint(number)];
   b->cursor = nir_before_instr(&intrin->instr);
   nir_def *address = apple9_binding_address(b, binding, nir_channel(b, intrin->src[0].ssa, 1));
   if (binding->kind == CORTLAND_BINDING_BUFFER) {
      nir_src_rewrite(&intrin->src[0], nir_vec2(b, nir_unpack_64_2x32_split_x(b, address),
                                                nir_unpack_64_2x32_split_y(b, address)));
      return true;
   }
   address = nir_iadd(b, address, nir_u2u64(b, intrin->src[1].ssa));
   nir_def *value = nir_load_global_constant(b, address, MIN2(nir_intrinsic_align(intrin), 4),
                                             intrin->def.num_components, intrin->def.bit_size);
   nir_def_replace(&intrin->def, value);
   return true;
}

bool
apple9_lower_inline_uniforms(nir_shader *shader, const struct cortland_compute_lowering *lowering)
{
   return nir_shader_intrinsics_pass(shader, lower_load, nir_metadata_control_flow, (void *)lowering);
}
