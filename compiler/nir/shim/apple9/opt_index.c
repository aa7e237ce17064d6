/* SPDX-License-Identifier: MIT */
/*
 * Rows next to each other: (a + c) * b + x becomes (a * b + x) + c * b for the small c of stencils and tiles.
 *
 * A multiply-add is one instruction and takes no constant, so one row by itself costs no more than before. Of several
 * rows all share the product, and each costs an addition.
 */
#include "apple9.h"

#include "compiler/nir/nir_builder.h"

static bool
is_alu(nir_scalar s, nir_op op)
{
   return nir_scalar_is_alu(s) && nir_scalar_alu_op(s) == op;
}

/* The terms of a sum: one product whose factor is a neighbour, one other, and a constant. */
struct row {
   bool has_product, has_other;
   /* (a + c) * factor + other + column */
   nir_scalar a, factor, other;
   int64_t c, column;
};

/* Is s the sum of a and a constant that is cheap to multiply by: 1, 2 and their negatives? */
static bool
is_neighbour(nir_scalar s, nir_scalar *a, int64_t *c)
{
   if (!is_alu(s, nir_op_iadd))
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
is_row_product(nir_scalar s, struct row *row)
{
   if (!is_alu(s, nir_op_imul))
      return false;
   for (unsigned i = 0; i < 2; i++) {
      row->factor = nir_scalar_chase_alu_src(s, !i);
      if (!nir_scalar_is_const(row->factor) && is_neighbour(nir_scalar_chase_alu_src(s, i), &row->a, &row->c))
         return true;
   }
   return false;
}

/* Sort the terms of the sum s. False if there are others than those of a row. */
static bool
gather(nir_scalar s, struct row *row, unsigned depth)
{
   if (nir_scalar_is_const(s)) {
      row->column += nir_scalar_as_int(s);
      return true;
   }
   if (depth < 3 && is_alu(s, nir_op_iadd))
      return gather(nir_scalar_chase_alu_src(s, 0), row, depth + 1) &&
             gather(nir_scalar_chase_alu_src(s, 1), row, depth + 1);
   if (!row->has_product && is_row_product(s, row)) {
      row->has_product = true;
      return true;
   }
   if (row->has_other)
      return false;
   row->has_other = true;
   row->other = s;
   return true;
}

static bool
split_row(nir_builder *b, nir_alu_instr *alu, void *data)
{
   (void)data;
   if (alu->op != nir_op_iadd || alu->def.bit_size != 32 || alu->def.num_components != 1)
      return false;
   struct row row = { 0 };
   if (!gather(nir_get_scalar(&alu->def, 0), &row, 0) || !row.has_product || !row.has_other)
      return false;
   b->cursor = nir_before_instr(&alu->instr);
   nir_def *f = nir_channel(b, row.factor.def, row.factor.comp);
   nir_def *product = nir_imul(b, nir_channel(b, row.a.def, row.a.comp), f);
   nir_def *first = nir_iadd(b, product, nir_channel(b, row.other.def, row.other.comp));
   nir_def *step = row.c == 2 || row.c == -2 ? nir_ishl_imm(b, f, 1) : f;
   nir_def *sum = row.c > 0 ? nir_iadd(b, first, step) : nir_isub(b, first, step);
   /* The column stays outermost, where neighbours in a row are told to be such. */
   nir_def_replace(&alu->def, nir_iadd_imm(b, sum, row.column));
   return true;
}

bool
apple9_opt_index(nir_shader *shader)
{
   return nir_shader_alu_pass(shader, split_row, nir_metadata_control_flow, NULL);
}
