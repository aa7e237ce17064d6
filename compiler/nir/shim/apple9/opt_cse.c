/* SPDX-License-Identifier: MIT */
/*
 * Common subexpressions and dead code, as NIR's own passes find them, in a fraction of the time: both are run after
 * almost everything else.
 */
#include "apple9.h"

#include "compiler/nir/nir_builder.h"
#include "util/ralloc.h"

static uint32_t
mix(uint32_t hash, uint32_t value)
{
   return (hash ^ value) * 0x9e3779b1u + (hash >> 15);
}

static uint32_t
mix_pointer(uint32_t hash, const void *pointer)
{
   return mix(hash, (uint32_t)((uintptr_t)pointer >> 4));
}

static uint32_t
hash_alu(const nir_alu_instr *alu)
{
   const nir_op_info *info = &nir_op_infos[alu->op];
   uint32_t hash = mix(alu->op, alu->def.num_components << 8 | alu->def.bit_size);
   unsigned first = 0;
   if (info->algebraic_properties & NIR_OP_IS_2SRC_COMMUTATIVE) {
      hash = mix(hash, alu->src[0].src.ssa->index + alu->src[1].src.ssa->index);
      first = 2;
   }
   for (unsigned i = first; i < info->num_inputs; i++)
      hash = mix(hash, alu->src[i].src.ssa->index << 2 ^ alu->src[i].swizzle[0]);
   return hash;
}

static uint32_t
hash_constant(const nir_load_const_instr *load)
{
   uint32_t hash = load->def.num_components << 8 | load->def.bit_size;
   for (unsigned i = 0; i < load->def.num_components; i++) {
      uint64_t value = nir_const_value_as_uint(load->value[i], load->def.bit_size);
      hash = mix(mix(hash, (uint32_t)value), value >> 32);
   }
   return hash;
}

static uint32_t
hash_deref(const nir_deref_instr *deref)
{
   uint32_t hash = mix_pointer(deref->deref_type, deref->type);
   if (deref->deref_type == nir_deref_type_var)
      return mix_pointer(hash, deref->var);
   hash = mix(hash, deref->parent.ssa->index);
   if (deref->deref_type == nir_deref_type_struct)
      hash = mix(hash, deref->strct.index);
   else if (deref->deref_type == nir_deref_type_array || deref->deref_type == nir_deref_type_ptr_as_array)
      hash = mix(hash, deref->arr.index.ssa->index);
   return hash;
}

static uint32_t
hash_intrinsic(const nir_intrinsic_instr *intrin)
{
   const nir_intrinsic_info *info = &nir_intrinsic_infos[intrin->intrinsic];
   uint32_t hash = mix(intrin->intrinsic, intrin->num_components);
   for (unsigned i = 0; i < info->num_srcs; i++)
      hash = mix(hash, intrin->src[i].ssa->index);
   for (unsigned i = 0; i < info->num_indices; i++)
      hash = mix(hash, (uint32_t)intrin->const_index[i]);
   return hash;
}

/* Equal for instructions that nir_instrs_equal() takes for equal. */
static uint32_t
hash_of(nir_instr *instr)
{
   switch (instr->type) {
   case nir_instr_type_alu:
      return hash_alu(nir_instr_as_alu(instr));
   case nir_instr_type_load_const:
      return hash_constant(nir_instr_as_load_const(instr));
   case nir_instr_type_deref:
      return hash_deref(nir_instr_as_deref(instr));
   case nir_instr_type_intrinsic:
      return hash_intrinsic(nir_instr_as_intrinsic(instr));
   case nir_instr_type_tex: {
      const nir_tex_instr *tex = nir_instr_as_tex(instr);
      uint32_t hash = mix(tex->op, tex->texture_index << 16 | tex->sampler_index);
      for (unsigned i = 0; i < tex->num_srcs; i++)
         hash = mix(hash, tex->src[i].src.ssa->index);
      return hash;
   }
   default: {
      /* A phi, whose sources have no order. */
      uint32_t sum = 0;
      nir_foreach_phi_src(src, nir_instr_as_phi(instr))
         sum += src->src.ssa->index;
      return mix_pointer(sum, instr->block);
   }
   }
}

/* May it be left out where an equal one has been executed before? */
static bool
may_be_shared(nir_instr *instr)
{
   switch (instr->type) {
   case nir_instr_type_alu:
   case nir_instr_type_load_const:
   case nir_instr_type_deref:
   case nir_instr_type_tex:
   case nir_instr_type_phi:
      return true;
   case nir_instr_type_intrinsic:
      switch (nir_instr_as_intrinsic(instr)->intrinsic) {
      /* Lanes that are there for a later derivative, or are gone after a later discard, were so for the earlier. */
      case nir_intrinsic_ddx:
      case nir_intrinsic_ddx_fine:
      case nir_intrinsic_ddx_coarse:
      case nir_intrinsic_ddy:
      case nir_intrinsic_ddy_fine:
      case nir_intrinsic_ddy_coarse:
      case nir_intrinsic_terminate:
      case nir_intrinsic_terminate_if:
      case nir_intrinsic_demote:
      case nir_intrinsic_demote_if:
         return true;
      default:
         return nir_intrinsic_can_reorder(nir_instr_as_intrinsic(instr));
      }
   default:
      return false;
   }
}

/* Is the earlier one executed wherever the later one is? */
static bool
covers(nir_function_impl *impl, const nir_instr *earlier, const nir_instr *later)
{
   if (earlier->block == later->block)
      return true;
   nir_metadata_require(impl, nir_metadata_dominance);
   return nir_block_dominates(earlier->block, later->block);
}

static void
replace(nir_instr *instr, nir_instr *by)
{
   if (instr->type == nir_instr_type_alu) {
      nir_alu_instr *alu = nir_instr_as_alu(instr), *kept = nir_instr_as_alu(by);
      kept->exact |= alu->exact;
      kept->fp_fast_math |= alu->fp_fast_math;
   }
   nir_def *def = nir_instr_def(instr);
   if (def)
      nir_def_rewrite_uses(def, nir_instr_def(by));
   nir_instr_remove(instr);
}

bool
apple9_opt_cse(nir_shader *s)
{
   nir_function_impl *impl = nir_shader_get_entrypoint(s);
   unsigned count = 0;
   nir_foreach_block(block, impl)
      count += exec_list_length(&block->instr_list);
   uint32_t mask = util_next_power_of_two(MAX2(2 * count, 16)) - 1;
   /* Open addressing; never more than half full. Each instruction holds a part of its hash. */
   nir_instr **table = rzalloc_array(NULL, nir_instr *, (size_t)mask + 1);
   bool progress = false;
   nir_foreach_block(block, impl) {
      nir_foreach_instr_safe(instr, block) {
         if (!may_be_shared(instr))
            continue;
         uint32_t hash = hash_of(instr);
         uint32_t at = (hash ^ hash >> 16) & mask;
         instr->pass_flags = hash >> 24;
         while (table[at] && (table[at]->pass_flags != instr->pass_flags || !nir_instrs_equal(table[at], instr)))
            at = (at + 1) & mask;
         if (table[at] && covers(impl, table[at], instr)) {
            replace(instr, table[at]);
            progress = true;
         } else {
            table[at] = instr;
         }
      }
   }
   ralloc_free(table);
   nir_metadata_preserve(impl, progress ? nir_metadata_control_flow : nir_metadata_all);
   return progress;
}

/* Does it do nothing but give its value, which nobody wants? */
static bool
is_dead(nir_instr *instr)
{
   switch (instr->type) {
   case nir_instr_type_intrinsic: {
      nir_intrinsic_instr *intrin = nir_instr_as_intrinsic(instr);
      const nir_intrinsic_info *info = &nir_intrinsic_infos[intrin->intrinsic];
      if (!(info->flags & NIR_INTRINSIC_CAN_ELIMINATE) ||
          (nir_intrinsic_has_access(intrin) && (nir_intrinsic_access(intrin) & ACCESS_VOLATILE)))
         return false;
      return !info->has_dest || nir_def_is_unused(&intrin->def);
   }
   case nir_instr_type_alu:
   case nir_instr_type_deref:
   case nir_instr_type_tex:
   case nir_instr_type_load_const:
   case nir_instr_type_undef:
   case nir_instr_type_phi:
      return nir_def_is_unused(nir_instr_def(instr));
   default:
      return false;
   }
}

bool
apple9_opt_dce(nir_shader *s)
{
   nir_function_impl *impl = nir_shader_get_entrypoint(s);
   /* Around loops, values may keep each other. */
   nir_foreach_block(block, impl) {
      if (nir_block_get_following_loop(block))
         return nir_opt_dce(s);
   }
   bool progress = false;
   nir_foreach_block_reverse(block, impl) {
      nir_foreach_instr_reverse_safe(instr, block) {
         if (is_dead(instr)) {
            nir_instr_remove(instr);
            nir_instr_free(instr);
            progress = true;
         }
      }
   }
   nir_metadata_preserve(impl, progress ? nir_metadata_control_flow : nir_metadata_all);
   return progress;
}
