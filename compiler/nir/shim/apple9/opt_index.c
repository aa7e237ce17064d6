/* SPDX-License-Identifier: MIT */
/*
 * Rows next to each other: (a + c) * b + x becomes (a * b + x) + c * b for the small c of stencils and tiles.
 *
 * A multiply-add is one instruction and takes no constant, so one row by itself costs no more than before. Of several
 * rows all share the product, and each costs an addition.
 */
#include "apple9.h"

#include "compiler/nir/nir_builder.h"

static nir_alu_instr *
as_alu(nir_scalar s, nir_op op)
{
   return nir_scalar_is_alu(s) && nir_scalar_alu_op(s) == op ? nir_instr_as_alu(s.def->parent_instr) : NULL;
}

/* a, if s is a + c with one of the constants that are cheap to multiply by: 1, 2 and their negatives. */
static bool
is_neighbour(nir_scalar s, nir_scalar *a, int64_t *c)
{
   if (!as_alu(s, nir_op_iadd))
      return false;
   for (unsigned i = 0; i < 2; i++) {
      nir_scalar constant = nir_scalar_chase_alu_src(s, i);
      if (!nir_scalar_is_const(constant))
         continue;
      *a = nir_scalar_chase_alu_src(s, !i);
      *c = nir_scalar_as_int(constant);
      return *c >= -2 && *c <= 2 && *c != 0 && !nir_scalar_is_const(*a);
   }
   return false;
}

static bool
split_row(nir_builder *b, nir_alu_instr *alu, void *data)
{
   (void)data;
   if (alu->op != nir_op_iadd || alu->def.bit_size != 32 || alu->def.num_components != 1)
      return false;
   nir_scalar sum = nir_get_scalar(&alu->def, 0);
   for (unsigned i = 0; i < 2; i++) {
      nir_scalar product = nir_scalar_chase_alu_src(sum, i);
      nir_scalar x = nir_scalar_chase_alu_src(sum, !i);
      if (!as_alu(product, nir_op_imul) || nir_scalar_is_const(x))
         continue;
      for (unsigned j = 0; j < 2; j++) {
         nir_scalar a, factor = nir_scalar_chase_alu_src(product, !j);
         int64_t c;
         if (nir_scalar_is_const(factor) || !is_neighbour(nir_scalar_chase_alu_src(product, j), &a, &c))
            continue;
         b->cursor = nir_before_instr(&alu->instr);
         nir_def *f = nir_mov_scalar(b, factor);
         nir_def *first = nir_iadd(b, nir_imul(b, nir_mov_scalar(b, a), f), nir_mov_scalar(b, x));
         nir_def *step = c == 2 || c == -2 ? nir_ishl_imm(b, f, 1) : f;
         nir_def_replace(&alu->def, c > 0 ? nir_iadd(b, first, step) : nir_isub(b, first, step));
         return true;
      }
   }
   return false;
}

bool
apple9_opt_index(nir_shader *shader)
{
   return nir_shader_alu_pass(shader, split_row, nir_metadata_control_flow, NULL);
}
