/* SPDX-License-Identifier: MIT */
/* Arithmetic on constants. */
#ifndef CORTLAND_FOLD_H
#define CORTLAND_FOLD_H

#include "compiler/nir/nir_builder.h"

/* Are all operands constants? */
static inline bool
can_fold_alu(const nir_alu_instr *alu)
{
   for (unsigned i = 0; i < nir_op_infos[alu->op].num_inputs; i++) {
      if (alu->src[i].src.ssa->parent_instr->type != nir_instr_type_load_const)
         return false;
   }
   return true;
}

/* The constant that an instruction gives which can be folded, where the builder stands. It need not be in a block. */
nir_def *fold_alu(nir_builder *b, const nir_alu_instr *alu);

#endif
