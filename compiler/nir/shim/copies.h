/* SPDX-License-Identifier: MIT */
/* Operands that are copies. */
#ifndef CORTLAND_COPIES_H
#define CORTLAND_COPIES_H

#include "compiler/nir/nir.h"

/* Let an operand of arithmetic, which is a copy of these components of a value, be the components that it takes. */
static inline void
copy_to_operand(nir_alu_src *operand, const nir_alu_src *copied)
{
   nir_alu_instr *user = nir_instr_as_alu(nir_src_parent_instr(&operand->src));
   const unsigned count = nir_ssa_alu_instr_src_components(user, operand - user->src);
   for (unsigned i = 0; i < count; i++)
      operand->swizzle[i] = copied->swizzle[operand->swizzle[i]];
   nir_src_rewrite(&operand->src, copied->src.ssa);
}

#endif
