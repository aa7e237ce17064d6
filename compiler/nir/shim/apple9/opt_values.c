/* SPDX-License-Identifier: MIT */
/*
 * Copies, arithmetic on constants and common subexpressions in one walk, and dead code in another, as NIR's own passes
 * find them. They are run after almost everything else, and most of their runs find little: what a walk takes is to
 * bring each instruction into the cache.
 */
#include "apple9.h"

#include "compiler/nir/nir_builder.h"
#include "util/ralloc.h"

#include "../copies.h"
#include "../fold.h"

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

/* Equal for instructions that are_equal() takes for equal. */
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

static bool
are_operands_equal(const nir_alu_instr *a, const nir_alu_instr *b, unsigned of_a, unsigned of_b)
{
   if (a->src[of_a].src.ssa != b->src[of_b].src.ssa)
      return false;
   return memcmp(a->src[of_a].swizzle, b->src[of_b].swizzle, nir_ssa_alu_instr_src_components(a, of_a)) == 0;
}

/* As nir_instrs_equal(), for what most instructions are. */
static bool
are_equal(const nir_instr *a, const nir_instr *b)
{
   if (a->type != nir_instr_type_alu || b->type != nir_instr_type_alu)
      return nir_instrs_equal(a, b);
   const nir_alu_instr *x = nir_instr_as_alu(a), *y = nir_instr_as_alu(b);
   if (x->op != y->op || x->def.bit_size != y->def.bit_size || x->def.num_components != y->def.num_components ||
       x->no_signed_wrap != y->no_signed_wrap || x->no_unsigned_wrap != y->no_unsigned_wrap)
      return false;
   const nir_op_info *info = &nir_op_infos[x->op];
   const bool commutes = info->algebraic_properties & NIR_OP_IS_2SRC_COMMUTATIVE;
   unsigned i = 0;
   if (commutes && are_operands_equal(x, y, 0, 1) && are_operands_equal(x, y, 1, 0))
      i = 2;
   for (; i < info->num_inputs; i++) {
      if (!are_operands_equal(x, y, i, i))
         return false;
   }
   return true;
}

bool
apple9_covers(nir_function_impl *impl, const nir_instr *earlier, const nir_instr *later)
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

/* Empty, and large enough for all instructions: with open addressing, and never more than half full. */
static void
table_clear(struct apple9_table *t, nir_function_impl *impl)
{
   unsigned count = 0;
   nir_foreach_block(block, impl)
      count += exec_list_length(&block->instr_list);
   const uint32_t size = util_next_power_of_two(MAX2(2 * count, 16));
   if (size > t->allocated) {
      ralloc_free(t->slots);
      t->slots = ralloc_array(NULL, nir_instr *, size);
      t->allocated = size;
   }
   memset(t->slots, 0, size * sizeof(*t->slots));
   t->mask = size - 1;
}

/* Replace an instruction by an equal one before it, or let those after it find it. */
static bool
share(struct apple9_table *t, nir_function_impl *impl, nir_instr *instr)
{
   uint32_t hash = hash_of(instr);
   uint32_t at = (hash ^ hash >> 16) & t->mask;
   instr->pass_flags = hash >> 24;
   while (t->slots[at] &&
          (t->slots[at]->pass_flags != instr->pass_flags || !are_equal(t->slots[at], instr)))
      at = (at + 1) & t->mask;
   if (t->slots[at] && apple9_covers(impl, t->slots[at], instr)) {
      replace(instr, t->slots[at]);
      return true;
   }
   t->slots[at] = instr;
   return false;
}

/* Does it give all components of one value as they are? */
static bool
is_whole(const nir_alu_instr *copy)
{
   const nir_def *def = copy->src[0].src.ssa;
   if (def->num_components != copy->def.num_components)
      return false;
   for (unsigned i = 0; i < def->num_components; i++) {
      const nir_alu_src *src = copy->op == nir_op_mov ? &copy->src[0] : &copy->src[i];
      if (src->src.ssa != def || src->swizzle[copy->op == nir_op_mov ? i : 0] != i)
         return false;
   }
   return true;
}

/* A copy of components that a vector was made of becomes a vector of those. */
static void
gather(nir_alu_instr *mov, const nir_alu_instr *vec)
{
   nir_builder b = nir_builder_at(nir_after_instr(&mov->instr));
   nir_alu_instr *gathered = nir_alu_instr_create(b.shader, nir_op_vec(mov->def.num_components));
   for (unsigned i = 0; i < mov->def.num_components; i++)
      gathered->src[i] = vec->src[mov->src[0].swizzle[i]];
   nir_def_rewrite_uses(&mov->def, nir_builder_alu_instr_finish_and_insert(&b, gathered));
}

/* Let an operand of arithmetic that is a vector be what this was made of. */
static bool
take_apart(nir_alu_src *src, const nir_alu_instr *vec)
{
   nir_alu_instr *user = nir_instr_as_alu(nir_src_parent_instr(&src->src));
   const unsigned count = nir_ssa_alu_instr_src_components(user, src - user->src);
   nir_def *def = vec->src[src->swizzle[0]].src.ssa;
   for (unsigned i = 1; i < count; i++) {
      if (vec->src[src->swizzle[i]].src.ssa == def)
         continue;
      if (user->op != nir_op_mov)
         return false;
      gather(user, vec);
      return true;
   }
   for (unsigned i = 0; i < count; i++)
      src->swizzle[i] = vec->src[src->swizzle[i]].swizzle[0];
   nir_src_rewrite(&src->src, def);
   return true;
}

/* Let the users of a copy use what was copied. */
static bool
propagate(nir_alu_instr *copy)
{
   const bool whole = is_whole(copy);
   bool progress = false;
   nir_foreach_use_including_if_safe(src, &copy->def) {
      if (!nir_src_is_if(src) && nir_src_parent_instr(src)->type == nir_instr_type_alu) {
         nir_alu_src *operand = container_of(src, nir_alu_src, src);
         if (copy->op == nir_op_mov)
            copy_to_operand(operand, &copy->src[0]);
         progress |= copy->op == nir_op_mov || take_apart(operand, copy);
      } else if (whole) {
         nir_src_rewrite(src, copy->src[0].src.ssa);
         progress = true;
      }
   }
   return progress;
}

/* Arithmetic on constants becomes a constant, which is returned. */
static nir_instr *
fold(nir_alu_instr *alu)
{
   nir_builder b = nir_builder_at(nir_before_instr(&alu->instr));
   nir_def *constant = fold_alu(&b, alu);
   nir_def_replace(&alu->def, constant);
   nir_instr_free(&alu->instr);
   return constant->parent_instr;
}

unsigned
apple9_opt_values(nir_shader *s, struct apple9_table *table)
{
   nir_function_impl *impl = nir_shader_get_entrypoint(s);
   if (table)
      table_clear(table, impl);
   unsigned found = 0;
   bool removed = false;
   nir_foreach_block(block, impl) {
      nir_foreach_instr_safe(instr, block) {
         if (instr->type == nir_instr_type_alu) {
            nir_alu_instr *alu = nir_instr_as_alu(instr);
            if (nir_op_is_vec_or_mov(alu->op) && propagate(alu))
               found |= APPLE9_COPIES;
            if (nir_def_is_unused(&alu->def)) {
               nir_instr_remove(instr);
               nir_instr_free(instr);
               removed = true;
               continue;
            }
            if (can_fold_alu(alu)) {
               instr = fold(alu);
               found |= APPLE9_CONSTANTS;
            }
         }
         if (table && may_be_shared(instr) && share(table, impl, instr))
            found |= APPLE9_SUBEXPRESSIONS;
      }
   }
   nir_metadata_preserve(impl, found || removed ? nir_metadata_control_flow : nir_metadata_all);
   return found;
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
