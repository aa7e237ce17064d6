/* SPDX-License-Identifier: MIT */
/*
 * Steps from one element of an array to another by pointer (OpPtrAccessChain), before explicit I/O.
 *
 * Explicit I/O multiplies the index of an array by its stride with amul, and lower_memory.c takes it that such products
 * do not wrap, since an index that is out of bounds is undefined behaviour. A step by pointer may be backwards and its
 * product wrap, so that it is done here with an ordinary multiplication.
 *
 * Of an array of bytes the product would be the index itself; it becomes one here, so that the offset is still seen to
 * be of an access chain.
 */
#include "apple9.h"

#include "compiler/nir/nir_builder.h"
#include "compiler/nir/nir_deref.h"

#define MODES (nir_var_mem_ssbo | nir_var_mem_ubo | nir_var_mem_global | nir_var_mem_shared)

#define BUFFER_MODES (nir_var_mem_ssbo | nir_var_mem_ubo)

static bool
mark_byte_index(nir_builder *b, nir_deref_instr *deref)
{
   nir_def *index = deref->arr.index.ssa;
   if (!nir_deref_mode_must_be(deref, BUFFER_MODES) || nir_deref_instr_array_stride(deref) != 1 ||
       index->bit_size != 32 || nir_src_is_const(deref->arr.index))
      return false;
   b->cursor = nir_before_instr(&deref->instr);
   nir_src_rewrite(&deref->arr.index, nir_amul(b, index, nir_imm_int(b, 1)));
   return true;
}

static bool
lower(nir_builder *b, nir_instr *instr, void *data)
{
   (void)data;
   if (instr->type != nir_instr_type_deref)
      return false;
   nir_deref_instr *deref = nir_instr_as_deref(instr);
   if (deref->deref_type == nir_deref_type_array)
      return mark_byte_index(b, deref);
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
