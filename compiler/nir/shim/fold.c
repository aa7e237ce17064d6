/* SPDX-License-Identifier: MIT */
#include "fold.h"

#include "compiler/nir/nir_constant_expressions.h"

/* The bits that operations without a size of their own work with here. */
static unsigned
size_of(const nir_alu_instr *alu)
{
   const nir_op_info *info = &nir_op_infos[alu->op];
   if (nir_alu_type_get_type_size(info->output_type) == 0)
      return alu->def.bit_size;
   for (unsigned i = 0; i < info->num_inputs; i++) {
      if (nir_alu_type_get_type_size(info->input_types[i]) == 0)
         return alu->src[i].src.ssa->bit_size;
   }
   return 32; /* All sizes are given by the operation. */
}

nir_def *
fold_alu(nir_builder *b, const nir_alu_instr *alu)
{
   nir_const_value values[NIR_ALU_MAX_INPUTS][NIR_MAX_VEC_COMPONENTS];
   nir_const_value *operands[NIR_ALU_MAX_INPUTS];
   for (unsigned i = 0; i < nir_op_infos[alu->op].num_inputs; i++) {
      const nir_load_const_instr *load = nir_instr_as_load_const(alu->src[i].src.ssa->parent_instr);
      const unsigned count = nir_ssa_alu_instr_src_components(alu, i);
      for (unsigned j = 0; j < count; j++)
         values[i][j] = load->value[alu->src[i].swizzle[j]];
      operands[i] = values[i];
   }
   nir_const_value result[NIR_MAX_VEC_COMPONENTS] = { 0 };
   nir_eval_const_opcode(alu->op, result, alu->def.num_components, size_of(alu), operands,
                         b->shader->info.float_controls_execution_mode);
   return nir_build_imm(b, alu->def.num_components, alu->def.bit_size, result);
}
