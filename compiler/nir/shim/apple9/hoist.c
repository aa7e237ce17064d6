/* SPDX-License-Identifier: MIT */
/*
 * Moves what does not change in a loop in front of it: descriptors, the addresses made of them, and arithmetic.
 *
 * NIR's own pass moves only what surely runs, and nothing after the first test of an ordinary loop does. Here all that
 * is moved may run for nothing: arithmetic, and loads of constant memory, which do not fault (isa-2, 2.6). What lies in
 * a selection inside the loop stays there. What costs one instruction and is made of a single value stays too, and so
 * does all beyond a number of registers: being alive through the whole loop has a price as well.
 */
#include "apple9.h"

#include "compiler/nir/nir_builder.h"

/* Of 96. */
#define MOST_WORDS 32

static bool
is_cheap(const nir_alu_instr *alu)
{
   const nir_op_info *info = &nir_op_infos[alu->op];
   if (nir_op_is_vec_or_mov(alu->op) || alu->def.bit_size == 1 || info->is_conversion)
      return true;
   if (alu->op == nir_op_pack_64_2x32_split)
      return false;
   unsigned values = 0;
   for (unsigned i = 0; i < info->num_inputs; i++)
      values += !nir_src_is_const(alu->src[i].src);
   switch (alu->op) {
   case nir_op_imul:
   case nir_op_umul_2x32_64:
   case nir_op_imul_2x32_64:
   case nir_op_frcp:
   case nir_op_frsq:
   case nir_op_fsqrt:
   case nir_op_fexp2:
   case nir_op_flog2:
      return false;
   case nir_op_unpack_64_2x32_split_x:
   case nir_op_unpack_64_2x32_split_y:
      return true;
   default:
      return alu->def.bit_size != 64 && values < 2;
   }
}

static bool
may_move(nir_instr *instr)
{
   if (instr->type == nir_instr_type_alu)
      return !is_cheap(nir_instr_as_alu(instr));
   if (instr->type != nir_instr_type_intrinsic)
      return false;
   nir_intrinsic_instr *intrin = nir_instr_as_intrinsic(instr);
   return intrin->intrinsic == nir_intrinsic_load_preamble || intrin->intrinsic == nir_intrinsic_load_constant_agx ||
          (nir_intrinsic_infos[intrin->intrinsic].num_srcs == 0 && nir_intrinsic_can_reorder(intrin));
}

static bool
is_outside(nir_src *src, void *data)
{
   const nir_block *before = data;
   return nir_src_is_const(*src) || src->ssa->parent_instr->block->index <= before->index;
}

/* A constant of the loop that something needs in front of it is made there once more: constants live near their uses. */
static bool
copy_constant(nir_src *src, void *data)
{
   nir_builder *b = data;
   nir_instr *parent = src->ssa->parent_instr;
   if (parent->type == nir_instr_type_load_const && parent->block->index > b->cursor.block->index) {
      nir_instr *copy = nir_instr_clone(b->shader, parent);
      nir_instr_insert_after_block(b->cursor.block, copy);
      nir_src_rewrite(src, nir_instr_def(copy));
   }
   return true;
}

static bool
visit_loop(nir_builder *b, nir_loop *loop)
{
   bool progress = false;
   unsigned words = 0;
   nir_block *before = nir_cf_node_as_block(nir_cf_node_prev(&loop->cf_node));
   foreach_list_typed(nir_cf_node, node, node, &loop->body) {
      if (node->type != nir_cf_node_block)
         continue;
      nir_foreach_instr_safe(instr, nir_cf_node_as_block(node)) {
         if (!may_move(instr) || !nir_foreach_src(instr, is_outside, before))
            continue;
         const nir_def *def = nir_instr_def(instr);
         unsigned size = def->num_components * DIV_ROUND_UP(def->bit_size, 32);
         if (words + size > MOST_WORDS)
            continue;
         words += size;
         /* The block before a loop has no jump. */
         b->cursor = nir_after_block(before);
         nir_foreach_src(instr, copy_constant, b);
         nir_instr_remove(instr);
         nir_instr_insert_after_block(before, instr);
         progress = true;
      }
   }
   return progress;
}

/* Inner loops first: what leaves one is then in the body of the next. */
static bool
visit(nir_builder *b, struct exec_list *list)
{
   bool progress = false;
   foreach_list_typed(nir_cf_node, node, node, list) {
      if (node->type == nir_cf_node_if) {
         nir_if *nif = nir_cf_node_as_if(node);
         progress |= visit(b, &nif->then_list);
         progress |= visit(b, &nif->else_list);
      } else if (node->type == nir_cf_node_loop) {
         nir_loop *loop = nir_cf_node_as_loop(node);
         progress |= visit(b, &loop->body);
         progress |= visit_loop(b, loop);
      }
   }
   return progress;
}

bool
apple9_hoist(nir_shader *shader)
{
   bool progress = false;
   nir_foreach_function_impl(impl, shader) {
      nir_metadata_require(impl, nir_metadata_block_index);
      nir_builder b = nir_builder_create(impl);
      bool changed = visit(&b, &impl->body);
      nir_metadata_preserve(impl, changed ? nir_metadata_control_flow : nir_metadata_all);
      progress |= changed;
   }
   return progress;
}

/* Push constants of which this many words are read at once. */
#define MOST_PUSH_WORDS 24

static bool
hoist_push_constant(nir_builder *b, nir_intrinsic_instr *intrin, void *data)
{
   unsigned *words = data;
   nir_block *start = nir_start_block(b->impl);
   if (intrin->intrinsic != nir_intrinsic_load_push_constant || intrin->instr.block == start ||
       !nir_src_is_const(intrin->src[0]))
      return false;
   unsigned size = DIV_ROUND_UP(intrin->def.num_components * intrin->def.bit_size, 32);
   if (*words + size > MOST_PUSH_WORDS)
      return false;
   *words += size;
   b->cursor = nir_before_block(start);
   nir_src_rewrite(&intrin->src[0], nir_imm_int(b, nir_src_as_uint(intrin->src[0])));
   nir_instr_remove(&intrin->instr);
   nir_builder_instr_insert(b, &intrin->instr);
   return true;
}

/*
 * Push constants at constant offsets are read where the shader begins, as long as they are few: there the reads of
 * neighbours join to one.
 */
bool
apple9_hoist_push_constants(nir_shader *shader)
{
   unsigned words = 0;
   return nir_shader_intrinsics_pass(shader, hoist_push_constant, nir_metadata_control_flow, &words);
}
