/* SPDX-License-Identifier: MIT */
/*
 * The widths of memory accesses, and atomics that the hardware lacks.
 *
 * Device memory has accesses of one byte, one half-word, and one to four words at any multiple of four bytes
 * (isa-2, 2.2 and 2.5); threadgroup memory and scratch have words. What is coherent is read by atomics, one word at a
 * time (isa-4, 9.3).
 */
#include "apple9.h"

#include "compiler/nir/nir_builder.h"

#include "../unsupported.h"

static nir_mem_access_size_align
access_size(nir_intrinsic_op op, uint8_t bytes, uint8_t bit_size, uint32_t align_mul, uint32_t align_offset,
            bool offset_is_const, enum gl_access_qualifier access, const void *data)
{
   (void)bit_size;
   (void)offset_is_const;
   (void)data;
   unsigned alignment = nir_combined_align(align_mul, align_offset);
   const nir_mem_access_size_align word = { 1, 32, 4, nir_mem_access_shift_method_scalar };
   switch (op) {
   case nir_intrinsic_load_shared:
   case nir_intrinsic_load_scratch:
   case nir_intrinsic_store_shared:
   case nir_intrinsic_store_scratch:
      return word;
   case nir_intrinsic_load_ssbo:
   case nir_intrinsic_load_global:
   case nir_intrinsic_load_task_payload:
      if (access & (ACCESS_COHERENT | ACCESS_VOLATILE))
         return word;
      break;
   default:
      break;
   }
   if (alignment >= 4 && bytes >= 4)
      return (nir_mem_access_size_align){ MIN2(bytes / 4, 4), 32, 4, nir_mem_access_shift_method_scalar };
   if (alignment >= 2 && bytes >= 2)
      return (nir_mem_access_size_align){ 1, 16, 2, nir_mem_access_shift_method_scalar };
   return (nir_mem_access_size_align){ 1, 8, 1, nir_mem_access_shift_method_scalar };
}

bool
apple9_lower_access_sizes(nir_shader *shader)
{
   const nir_lower_mem_access_bit_sizes_options options = {
      .callback = access_size,
      .modes = nir_var_mem_ssbo | nir_var_mem_ubo | nir_var_mem_global | nir_var_mem_push_const | nir_var_mem_constant |
               nir_var_mem_shared | nir_var_mem_task_payload | nir_var_shader_temp | nir_var_function_temp,
   };
   return nir_lower_mem_access_bit_sizes(shader, &options);
}

static bool
is_native(nir_atomic_op op, unsigned bits)
{
   return apple9_allows_intrinsic(nir_intrinsic_global_atomic_agx, bits, 1, op) ||
          apple9_allows_intrinsic(nir_intrinsic_global_atomic_swap_agx, bits, 1, op);
}

static nir_op
alu_op(nir_atomic_op op)
{
   switch (op) {
   case nir_atomic_op_fmin:
      return nir_op_fmin;
   case nir_atomic_op_fmax:
      return nir_op_fmax;
   default:
      unsupported("an atomic operation (number %u of NIR's)", op);
   }
}

/* Try the exchange until memory still holds what the new value was computed from. */
static nir_def *
exchange_loop(nir_builder *b, nir_intrinsic_instr *intrin, nir_intrinsic_op swap, unsigned address_sources)
{
   const nir_intrinsic_info *info = &nir_intrinsic_infos[swap];
   nir_op op = alu_op(nir_intrinsic_atomic_op(intrin));
   nir_def *operand = intrin->src[address_sources].ssa;
   nir_def *seen = nir_decl_reg(b, 1, 32, 0);
   nir_store_reg(b, nir_imm_int(b, 0), seen);
   nir_loop *loop = nir_push_loop(b);
   nir_def *expected = nir_load_reg(b, seen);
   nir_def *wanted = nir_build_alu2(b, op, expected, operand);
   nir_intrinsic_instr *attempt = nir_intrinsic_instr_create(b->shader, swap);
   for (unsigned i = 0; i < address_sources; i++)
      attempt->src[i] = nir_src_for_ssa(intrin->src[i].ssa);
   attempt->src[address_sources] = nir_src_for_ssa(expected);
   attempt->src[address_sources + 1] = nir_src_for_ssa(wanted);
   for (unsigned i = 0; i < info->num_indices; i++) {
      unsigned kind = info->indices[i];
      if (nir_intrinsic_infos[intrin->intrinsic].index_map[kind])
         attempt->const_index[i] =
            intrin->const_index[nir_intrinsic_infos[intrin->intrinsic].index_map[kind] - 1];
   }
   nir_intrinsic_set_atomic_op(attempt, nir_atomic_op_cmpxchg);
   nir_def_init(&attempt->instr, &attempt->def, 1, 32);
   nir_builder_instr_insert(b, &attempt->instr);
   nir_store_reg(b, &attempt->def, seen);
   nir_break_if(b, nir_ieq(b, &attempt->def, expected));
   nir_pop_loop(b, loop);
   return nir_load_reg(b, seen);
}

static bool
lower_atomic(nir_builder *b, nir_intrinsic_instr *intrin, void *data)
{
   (void)data;
   nir_intrinsic_op swap;
   unsigned address_sources = 1;
   switch (intrin->intrinsic) {
   case nir_intrinsic_ssbo_atomic:
      swap = nir_intrinsic_ssbo_atomic_swap;
      address_sources = 2;
      break;
   case nir_intrinsic_global_atomic:
      swap = nir_intrinsic_global_atomic_swap;
      break;
   case nir_intrinsic_task_payload_atomic:
      swap = nir_intrinsic_task_payload_atomic_swap;
      break;
   case nir_intrinsic_ssbo_atomic_swap:
   case nir_intrinsic_global_atomic_swap:
   case nir_intrinsic_task_payload_atomic_swap:
      if (!is_native(nir_intrinsic_atomic_op(intrin), intrin->def.bit_size))
         unsupported("an atomic exchange of %u bits", intrin->def.bit_size);
      return false;
   default:
      return false;
   }
   if (intrin->def.bit_size != 32)
      unsupported("an atomic of %u bits", intrin->def.bit_size);
   if (is_native(nir_intrinsic_atomic_op(intrin), 32))
      return false;
   b->cursor = nir_before_instr(&intrin->instr);
   nir_def_replace(&intrin->def, exchange_loop(b, intrin, swap, address_sources));
   return true;
}

bool
apple9_lower_atomics(nir_shader *shader)
{
   bool progress = nir_shader_intrinsics_pass(shader, lower_atomic, nir_metadata_none, NULL);
   if (progress)
      nir_lower_reg_intrinsics_to_ssa(shader);
   return progress;
}
