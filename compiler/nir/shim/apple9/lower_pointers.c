/* SPDX-License-Identifier: MIT */
/*
 * Steps from one element of an array to another by pointer (OpPtrAccessChain), before explicit I/O.
 *
 * Explicit I/O multiplies the index of an array by its stride with amul, and lower_memory.c takes it that such products
 * do not wrap, since an index that is out of bounds is undefined behaviour. A step by pointer may be backwards and its
 * product wrap, so that it is done here with an ordinary multiplication.
 */
#include "apple9.h"

#include "compiler/nir/nir_builder.h"
#include "compiler/nir/nir_deref.h"

#define MODES (nir_var_mem_ssbo | nir_var_mem_ubo | nir_var_mem_global | nir_var_mem_shared)

static bool
lower(nir_builder *b, nir_instr *instr, void *data)
{
   (void)data;
   if (instr->type != nir_instr_type_deref)
      return false;
   nir_deref_instr *deref = nir_instr_as_deref(instr);
   if (deref->deref_type != nir_deref_type_ptr_as_array || !nir_deref_mode_must_be(deref, MODES))
      return false;
   unsigned stride = nir_deref_instr_array_stride(deref);
   if (stride == 0)
      return false;
   uint32_t align_mul, align_offset;
   if (!nir_get_explicit_deref_align(deref, true, &align_mul, &align_offset))
      align_mul = align_offset = 0;
   b->cursor = nir_before_instr(instr);
   nir_def *pointer = deref->parent.ssa;
   bool words = pointer->num_components == 3;
   nir_def *step = nir_imul_imm(b, nir_i2iN(b, deref->arr.index.ssa, words ? 32 : pointer->bit_size), stride);
   nir_def *moved;
   if (words)
      moved = nir_vec3(b, nir_channel(b, pointer, 0), nir_channel(b, pointer, 1),
                       nir_iadd(b, nir_channel(b, pointer, 2), step));
   else
      moved = nir_iadd(b, pointer, step);
   nir_deref_instr *cast = nir_build_deref_cast_with_alignment(b, moved, deref->modes, deref->type,
                                                               nir_deref_instr_array_stride(deref), align_mul,
                                                               align_offset);
   nir_def_replace(&deref->def, &cast->def);
   return true;
}

bool
apple9_lower_pointer_arithmetic(nir_shader *shader)
{
   return nir_shader_instructions_pass(shader, lower, nir_metadata_control_flow, NULL);
}
