/* SPDX-License-Identifier: MIT */
/*
 * System values that the hardware does not have as registers: from memory (workgroup counts, the base workgroup), from the workgroup size, or from others.
 */
#include "apple9.h"

#include "compiler/nir/nir_builder.h"

static nir_def *
load_words(nir_builder *b, enum cortland_root root, unsigned words)
{
   nir_def *address = nir_load_preamble(b, 1, 64, .base = root);
   return nir_load_constant_agx(b, words, 32, address, nir_imm_int(b, 0), .access = ACCESS_CAN_REORDER);
}

static unsigned
invocations(const nir_shader *s)
{
   return s->info.workgroup_size[0] * s->info.workgroup_size[1] * s->info.workgroup_size[2];
}

static nir_def *
lowered(nir_builder *b, nir_intrinsic_instr *intrin, const struct cortland_compute_lowering *lowering)
{
   switch (intrin->intrinsic) {
   case nir_intrinsic_load_num_workgroups:
      return load_words(b, CORTLAND_ROOT_WORKGROUP_COUNTS, 3);
   case nir_intrinsic_load_base_workgroup_id:
      return lowering->has_base_workgroup ? load_words(b, CORTLAND_ROOT_BASE_WORKGROUP, 3) : nir_imm_zero(b, 3, 32);
   case nir_intrinsic_load_base_global_invocation_id:
      return nir_imm_zero(b, 3, 32);
   case nir_intrinsic_load_num_subgroups:
      return nir_imm_int(b, DIV_ROUND_UP(invocations(b->shader), 32));
   case nir_intrinsic_load_subgroup_size:
      return nir_imm_int(b, 32);
   case nir_intrinsic_load_local_invocation_index:
      if (b->shader->info.workgroup_size[1] == 1 && b->shader->info.workgroup_size[2] == 1)
         return nir_channel(b, nir_load_local_invocation_id(b), 0);
      return NULL;
   case nir_intrinsic_load_subgroup_id:
      return invocations(b->shader) <= 32 ? nir_imm_int(b, 0) : NULL;
   default:
      return NULL;
   }
}

static bool
lower(nir_builder *b, nir_intrinsic_instr *intrin, void *data)
{
   b->cursor = nir_before_instr(&intrin->instr);
   nir_def *result = lowered(b, intrin, data);
   if (!result)
      return false;
   nir_def_replace(&intrin->def, nir_u2uN(b, result, intrin->def.bit_size));
   return true;
}

bool
apple9_lower_sysvals(nir_shader *shader, const struct cortland_compute_lowering *lowering)
{
   return nir_shader_intrinsics_pass(shader, lower, nir_metadata_control_flow, (void *)lowering);
}
