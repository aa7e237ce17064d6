/* SPDX-License-Identifier: MIT */
/*
 * Rotations by a constant: (a << c) | (a >> (32 - c)) becomes urol(a, c), also where the halves are joined by a sum or
 * an exclusive or, as they share no bit. NIR's algebra knows rotations whose second amount is still a subtraction; in
 * code that was written with two literals there is none.
 */
#include "apple9.h"

#include "compiler/nir/nir_builder.h"

/* Is s a shift of 32 bits by a constant from 1 to 31? */
static bool
is_shift(nir_scalar s, nir_op op, nir_scalar *a, unsigned *amount)
{
   if (!nir_scalar_is_alu(s) || nir_scalar_alu_op(s) != op || s.def->bit_size != 32)
      return false;
   nir_scalar by = nir_scalar_chase_alu_src(s, 1);
   if (!nir_scalar_is_const(by))
      return false;
   *a = nir_scalar_chase_alu_src(s, 0);
   *amount = nir_scalar_as_uint(by) & 31;
   return *amount != 0;
}

static bool
rotate(nir_builder *b, nir_alu_instr *alu, void *data)
{
   (void)data;
   if (alu->op != nir_op_ior && alu->op != nir_op_ixor && alu->op != nir_op_iadd)
      return false;
   if (alu->def.bit_size != 32 || alu->def.num_components != 1)
      return false;
   nir_scalar sum = nir_get_scalar(&alu->def, 0);
   for (unsigned i = 0; i < 2; i++) {
      nir_scalar left, right;
      unsigned up, down;
      if (!is_shift(nir_scalar_chase_alu_src(sum, i), nir_op_ishl, &left, &up) ||
          !is_shift(nir_scalar_chase_alu_src(sum, !i), nir_op_ushr, &right, &down) || up + down != 32 ||
          !nir_scalar_equal(left, right))
         continue;
      b->cursor = nir_before_instr(&alu->instr);
      nir_def_replace(&alu->def, nir_urol(b, nir_channel(b, left.def, left.comp), nir_imm_int(b, up)));
      return true;
   }
   return false;
}

bool
apple9_opt_rotate(nir_shader *shader)
{
   return nir_shader_alu_pass(shader, rotate, nir_metadata_control_flow, NULL);
}
