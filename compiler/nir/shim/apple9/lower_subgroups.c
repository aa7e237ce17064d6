/* SPDX-License-Identifier: MIT */
/*
 * Subgroup operations. The hardware has a ballot, a shuffle with an index in each invocation, an exchange with the
 * invocation at a constant xor, full reductions of 32-bit values and an exclusive sum; all take part of the active
 * invocations only. All others come of these; what Mesa's common pass does is left to it.
 */
#include "apple9.h"

#include "compiler/nir/nir_builder.h"

static bool
is_native_reduction(const nir_intrinsic_instr *intrin)
{
   if (intrin->intrinsic == nir_intrinsic_reduce) {
      unsigned cluster = nir_intrinsic_cluster_size(intrin);
      if (cluster != 0 && cluster < 32)
         return false;
   }
   return apple9_allows_intrinsic(intrin->intrinsic, intrin->def.bit_size, 1, nir_intrinsic_reduction_op(intrin));
}

static bool
is_scan_or_reduction(const nir_intrinsic_instr *intrin)
{
   return intrin->intrinsic == nir_intrinsic_reduce || intrin->intrinsic == nir_intrinsic_inclusive_scan ||
          intrin->intrinsic == nir_intrinsic_exclusive_scan;
}

/* Scans and reductions that are neither native nor of Booleans nor of vectors. */
static bool
needs_shuffles(const nir_instr *instr, const void *data)
{
   (void)data;
   if (instr->type != nir_instr_type_intrinsic)
      return false;
   const nir_intrinsic_instr *intrin = nir_instr_as_intrinsic(instr);
   return !is_scan_or_reduction(intrin) || intrin->num_components > 1 || !is_native_reduction(intrin);
}

static nir_def *
word_of(nir_builder *b, nir_def *value, unsigned word)
{
   return word == 0 ? nir_unpack_64_2x32_split_x(b, value) : nir_unpack_64_2x32_split_y(b, value);
}

static nir_def *
per_word(nir_builder *b, nir_intrinsic_instr *intrin)
{
   nir_def *words[2];
   for (unsigned i = 0; i < 2; i++) {
      nir_intrinsic_instr *half = nir_instr_as_intrinsic(nir_instr_clone(b->shader, &intrin->instr));
      half->src[0] = nir_src_for_ssa(word_of(b, intrin->src[0].ssa, i));
      half->def.bit_size = 32;
      nir_builder_instr_insert(b, &half->instr);
      words[i] = &half->def;
   }
   return nir_pack_64_2x32_split(b, words[0], words[1]);
}

static nir_def *
lowered(nir_builder *b, nir_intrinsic_instr *intrin)
{
   switch (intrin->intrinsic) {
   case nir_intrinsic_inclusive_scan: {
      if (intrin->num_components != 1 || intrin->def.bit_size != 32 ||
          nir_intrinsic_reduction_op(intrin) != nir_op_iadd)
         return NULL;
      nir_def *own = intrin->src[0].ssa;
      return nir_iadd(b, nir_exclusive_scan(b, own, .reduction_op = nir_op_iadd), own);
   }
   case nir_intrinsic_as_uniform:
      return intrin->src[0].ssa;
   case nir_intrinsic_ballot_relaxed:
      return nir_ballot(b, intrin->def.num_components, intrin->def.bit_size, intrin->src[0].ssa);
   case nir_intrinsic_vote_any:
      return nir_ine_imm(b, nir_ballot(b, 1, 32, intrin->src[0].ssa), 0);
   case nir_intrinsic_vote_all:
      return nir_ieq_imm(b, nir_ballot(b, 1, 32, nir_inot(b, intrin->src[0].ssa)), 0);
   case nir_intrinsic_first_invocation:
      return nir_find_lsb(b, nir_ballot(b, 1, 32, nir_imm_true(b)));
   case nir_intrinsic_elect: {
      nir_def *first = nir_find_lsb(b, nir_ballot(b, 1, 32, nir_imm_true(b)));
      return nir_ieq(b, nir_load_subgroup_invocation(b), first);
   }
   case nir_intrinsic_inverse_ballot: {
      if (intrin->src[0].ssa->bit_size != 32)
         return NULL;
      nir_def *word = nir_channel(b, intrin->src[0].ssa, 0);
      nir_def *bit = nir_ushr(b, word, nir_load_subgroup_invocation(b));
      return nir_ine_imm(b, nir_iand_imm(b, bit, 1), 0);
   }
   case nir_intrinsic_read_invocation:
      if (intrin->def.bit_size < 32 || intrin->num_components != 1)
         return NULL;
      return nir_shuffle(b, intrin->src[0].ssa, intrin->src[1].ssa);
   case nir_intrinsic_shuffle_up:
   case nir_intrinsic_shuffle_down: {
      if (intrin->def.bit_size < 32 || intrin->num_components != 1)
         return NULL;
      nir_def *lane = nir_load_subgroup_invocation(b);
      nir_def *distance = intrin->src[1].ssa;
      lane = intrin->intrinsic == nir_intrinsic_shuffle_up ? nir_isub(b, lane, distance) : nir_iadd(b, lane, distance);
      return nir_shuffle(b, intrin->src[0].ssa, lane);
   }
   case nir_intrinsic_quad_swap_horizontal:
      return nir_shuffle_xor(b, intrin->src[0].ssa, nir_imm_int(b, 1));
   case nir_intrinsic_quad_swap_vertical:
      return nir_shuffle_xor(b, intrin->src[0].ssa, nir_imm_int(b, 2));
   case nir_intrinsic_quad_swap_diagonal:
      return nir_shuffle_xor(b, intrin->src[0].ssa, nir_imm_int(b, 3));
   case nir_intrinsic_reduce:
      /* The bitwise ones work on each word alone. */
      if (intrin->def.bit_size == 64 && intrin->num_components == 1 && nir_intrinsic_cluster_size(intrin) == 0) {
         nir_op op = nir_intrinsic_reduction_op(intrin);
         if (op == nir_op_iand || op == nir_op_ior || op == nir_op_ixor)
            return per_word(b, intrin);
      }
      return NULL;
   default:
      return NULL;
   }
}

static bool
lower(nir_builder *b, nir_intrinsic_instr *intrin, void *data)
{
   (void)data;
   b->cursor = nir_before_instr(&intrin->instr);
   nir_def *result = lowered(b, intrin);
   if (!result)
      return false;
   nir_def_replace(&intrin->def, result);
   return true;
}

/* The register form of the shuffle does not take an index modulo 32 (isa-4, 4.1). */
static bool
finish_shuffle(nir_builder *b, nir_intrinsic_instr *intrin, void *data)
{
   (void)data;
   if (intrin->intrinsic != nir_intrinsic_shuffle && intrin->intrinsic != nir_intrinsic_shuffle_xor)
      return false;
   nir_def *index = intrin->src[1].ssa;
   b->cursor = nir_before_instr(&intrin->instr);
   if (nir_src_is_const(intrin->src[1])) {
      unsigned value = nir_src_as_uint(intrin->src[1]);
      if (value < 32)
         return false;
      nir_src_rewrite(&intrin->src[1], nir_imm_int(b, value & 31));
      return true;
   }
   if (intrin->intrinsic == nir_intrinsic_shuffle_xor) {
      index = nir_ixor(b, nir_load_subgroup_invocation(b), index);
      intrin->intrinsic = nir_intrinsic_shuffle;
   }
   nir_src_rewrite(&intrin->src[1], nir_iand_imm(b, index, 31));
   return true;
}

/* Most shaders hold no intrinsic but these, which the passes below leave alone. */
static bool
is_for_one_invocation(const nir_intrinsic_instr *intrin)
{
   switch (intrin->intrinsic) {
   case nir_intrinsic_load_ssbo:
   case nir_intrinsic_store_ssbo:
   case nir_intrinsic_ssbo_atomic:
   case nir_intrinsic_ssbo_atomic_swap:
   case nir_intrinsic_get_ssbo_size:
   case nir_intrinsic_load_ubo:
   case nir_intrinsic_load_push_constant:
   case nir_intrinsic_load_global:
   case nir_intrinsic_load_global_constant:
   case nir_intrinsic_store_global:
   case nir_intrinsic_global_atomic:
   case nir_intrinsic_global_atomic_swap:
   case nir_intrinsic_load_shared:
   case nir_intrinsic_store_shared:
   case nir_intrinsic_load_scratch:
   case nir_intrinsic_store_scratch:
   case nir_intrinsic_load_preamble:
   case nir_intrinsic_load_workgroup_id:
   case nir_intrinsic_load_local_invocation_id:
   case nir_intrinsic_load_local_invocation_index:
   case nir_intrinsic_load_global_invocation_id:
   case nir_intrinsic_barrier:
      return true;
   default:
      return false;
   }
}

static bool
may_use_subgroups(nir_shader *shader)
{
   nir_foreach_block(block, nir_shader_get_entrypoint(shader)) {
      nir_foreach_instr(instr, block) {
         if (instr->type == nir_instr_type_intrinsic && !is_for_one_invocation(nir_instr_as_intrinsic(instr)))
            return true;
      }
   }
   return false;
}

bool
apple9_lower_subgroups(nir_shader *shader)
{
   if (!may_use_subgroups(shader))
      return false;
   nir_lower_subgroups_options options = {
      .subgroup_size = 32,
      .ballot_bit_size = 32,
      .ballot_components = 1,
      .lower_to_scalar = true,
      .lower_vote_eq = true,
      .lower_vote_bool_eq = true,
      .lower_first_invocation_to_ballot = true,
      .lower_read_first_invocation = true,
      .lower_subgroup_masks = true,
      .lower_relative_shuffle = false,
      .lower_shuffle_to_32bit = true,
      .lower_quad = true,
      .lower_quad_vote = true,
      .lower_elect = true,
      .lower_rotate_to_shuffle = true,
      .lower_rotate_clustered_to_shuffle = true,
      .lower_inverse_ballot = true,
      .lower_boolean_reduce = true,
      .lower_boolean_shuffle = true,
   };
   bool progress = nir_shader_intrinsics_pass(shader, lower, nir_metadata_control_flow, NULL);
   progress |= nir_lower_subgroups(shader, &options);
   /* Whole scalars of at least 32 bits, so that what is native shows. */
   progress |= apple9_lower_bit_sizes(shader);
   progress |= nir_shader_intrinsics_pass(shader, lower, nir_metadata_control_flow, NULL);
   options.lower_reduce = true;
   options.filter = needs_shuffles;
   progress |= nir_lower_subgroups(shader, &options);
   /* What those were made of. */
   progress |= nir_shader_intrinsics_pass(shader, lower, nir_metadata_control_flow, NULL);
   progress |= nir_lower_subgroups(shader, &options);
   progress |= nir_shader_intrinsics_pass(shader, finish_shuffle, nir_metadata_control_flow, NULL);
   return progress;
}
