/* SPDX-License-Identifier: MIT */
/*
 * Inputs and outputs of vertex and fragment shaders, as far as both stages are the same: outputs are written once, at the
 * end; indices that are known at run time only become selections; a fragment that ends early goes to the end of the
 * shader, as a helper; and in the end there are NIR's load_input and store_output with constant places.
 */
#include "stages.h"

#include "compiler/nir/nir_builder.h"

#include "../unsupported.h"

/* Ends of the invocation to ends of the function. */
static bool
lower_halts(nir_function_impl *impl)
{
   bool progress = false;
   nir_foreach_block(block, impl) {
      nir_instr *last = nir_block_last_instr(block);
      if (last && last->type == nir_instr_type_jump && nir_instr_as_jump(last)->type == nir_jump_halt) {
         nir_instr_as_jump(last)->type = nir_jump_return;
         progress = true;
      }
   }
   return progress;
}

static void
check_variables(nir_shader *s)
{
   nir_foreach_variable_with_modes(var, s, nir_var_shader_in | nir_var_shader_out) {
      if (var->data.mode == nir_var_shader_out && s->info.stage == MESA_SHADER_FRAGMENT &&
          var->data.location == FRAG_RESULT_STENCIL)
         unsupported("a stencil reference from a fragment shader");
      if (glsl_type_contains_64bit(var->type))
         unsupported("an input or output of 64 bits");
      if (var->data.per_vertex)
         unsupported("inputs of single vertices in a fragment shader");
   }
   if (s->info.cull_distance_array_size > 0)
      unsupported("cull distances");
}

bool
apple9_prepare_io(nir_shader *s)
{
   nir_function_impl *impl = nir_shader_get_entrypoint(s);
   if (s->info.stage == MESA_SHADER_FRAGMENT) {
      nir_lower_terminate_to_demote(s);
      if (lower_halts(impl)) {
         nir_metadata_preserve(impl, nir_metadata_none);
         nir_lower_returns(s);
      }
   }
   nir_split_per_member_structs(s);
   /* Of built-in blocks most members are not used. */
   nir_remove_dead_variables(s, nir_var_shader_in | nir_var_shader_out, NULL);
   nir_split_var_copies(s);
   nir_lower_var_copies(s);
   nir_lower_clip_cull_distance_arrays(s);
   check_variables(s);
   nir_lower_io_to_temporaries(s, impl, true, false);
   nir_split_var_copies(s);
   nir_lower_var_copies(s);
   nir_lower_indirect_derefs(s, nir_var_shader_in, UINT32_MAX);
   return true;
}

static int
slots(const struct glsl_type *type, bool bindless)
{
   (void)bindless;
   return glsl_count_attribute_slots(type, false);
}

bool
apple9_lower_io(nir_shader *s)
{
   return nir_lower_io(s, nir_var_shader_in | nir_var_shader_out, slots,
                       nir_lower_io_use_interpolated_input_intrinsics);
}

struct apple9_place
apple9_place_of(nir_intrinsic_instr *intrin)
{
   nir_src *offset = nir_get_io_offset_src(intrin);
   if (!nir_src_is_const(*offset))
      unsupported("%s with an index that is known at run time only", nir_intrinsic_infos[intrin->intrinsic].name);
   return (struct apple9_place){
      .slot = nir_intrinsic_io_semantics(intrin).location + nir_src_as_uint(*offset),
      .component = nir_intrinsic_component(intrin),
   };
}

void
apple9_take_outputs(nir_builder *b,
                    nir_def **(*place_for)(void *outputs, nir_intrinsic_instr *store, struct apple9_place place),
                    void *outputs)
{
   nir_block *last = nir_impl_last_block(b->impl);
   nir_foreach_block_safe(block, b->impl) {
      nir_foreach_instr_safe(instr, block) {
         if (instr->type != nir_instr_type_intrinsic)
            continue;
         nir_intrinsic_instr *store = nir_instr_as_intrinsic(instr);
         if (store->intrinsic != nir_intrinsic_store_output)
            continue;
         const struct apple9_place place = apple9_place_of(store);
         nir_def *value = store->src[0].ssa;
         if (block != last || value->bit_size != 32)
            unsupported("an output of %u bits, or one that is not written at the end", value->bit_size);
         b->cursor = nir_before_instr(instr);
         u_foreach_bit(i, nir_intrinsic_write_mask(store)) {
            struct apple9_place at = { place.slot, place.component + i };
            *place_for(outputs, store, at) = nir_channel(b, value, i);
         }
         nir_instr_remove(instr);
      }
   }
}

nir_def *
apple9_load_root(nir_builder *b, enum cortland_root root, unsigned offset, unsigned words)
{
   nir_def *address = nir_load_preamble(b, 1, 64, .base = root);
   return nir_load_constant_agx(b, words, 32, address, nir_imm_int(b, 0), .access = ACCESS_CAN_REORDER,
                                .base = (int)offset * 8);
}
