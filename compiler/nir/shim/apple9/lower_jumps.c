/* SPDX-License-Identifier: MIT */
/*
 * Removes `continue`, for which the hardware has no instruction, and breaks that lie deep inside deeply nested loops,
 * for which it has too few predicate banks (isa-2, 6.1).
 *
 * A jump sets a flag instead, and what would follow it runs only if the flag is unset:
 *
 *    loop {                        loop {
 *       if (a) {                      skip = false
 *          x                          if (a) {
 *          continue                      x
 *       }                                skip = true
 *       y                             }
 *    }                                if (!skip) {
 *                                        y
 *                                     }
 *                                  }
 *
 * A break sets a second flag too, which is tested at the end of the body. Flags, and phis, whose blocks change, are
 * registers meanwhile.
 */
#include "apple9.h"

#include "compiler/nir/nir_builder.h"
#include "compiler/nir/nir_control_flow.h"

/* Loops nested deeper than this, the outermost counting as 1, have no predicate bank of their own for breaks. */
#define BREAK_BANKS 5

struct state {
   nir_builder b;
   /* Of the loop that is being changed. */
   nir_def *skip, *leave;
   bool breaks;
};

static nir_jump_instr *
last_jump(nir_block *block)
{
   nir_instr *last = nir_block_last_instr(block);
   return last && last->type == nir_instr_type_jump ? nir_instr_as_jump(last) : NULL;
}

static bool
ends_in_break(struct exec_list *list)
{
   nir_cf_node *last = exec_node_data(nir_cf_node, exec_list_get_tail(list), node);
   nir_jump_instr *jump = last->type == nir_cf_node_block ? last_jump(nir_cf_node_as_block(last)) : NULL;
   return jump && jump->type == nir_jump_break;
}

/* What of the jumps of this list, inner loops left out, must go. */
struct jumps {
   bool continues;
   bool nested_breaks;
};

static void
find_jumps(struct exec_list *list, unsigned depth, struct jumps *jumps)
{
   foreach_list_typed(nir_cf_node, node, node, list) {
      if (node->type == nir_cf_node_block) {
         nir_jump_instr *jump = last_jump(nir_cf_node_as_block(node));
         if (!jump)
            continue;
         jumps->continues |= jump->type == nir_jump_continue;
         /* An `if` whose branch only breaks counts when it lies in another. */
         jumps->nested_breaks |= jump->type == nir_jump_break && depth > 1;
      } else if (node->type == nir_cf_node_if) {
         nir_if *nif = nir_cf_node_as_if(node);
         struct exec_list *lists[] = { &nif->then_list, &nif->else_list };
         for (unsigned i = 0; i < 2; i++) {
            bool direct = depth == 0 && exec_list_is_singular(lists[i]) && ends_in_break(lists[i]);
            find_jumps(lists[i], direct ? 1 : depth == 0 ? 2 : depth + 1, jumps);
         }
      }
   }
}

/* Replace the jumps of this list; whether there were any. */
static bool
lower_list(struct state *s, struct exec_list *list)
{
   nir_builder *b = &s->b;
   foreach_list_typed(nir_cf_node, node, node, list) {
      if (node->type == nir_cf_node_block) {
         nir_jump_instr *jump = last_jump(nir_cf_node_as_block(node));
         if (!jump || !(jump->type == nir_jump_continue || (jump->type == nir_jump_break && s->breaks)))
            continue;
         bool leaves = jump->type == nir_jump_break;
         b->cursor = nir_before_instr(&jump->instr);
         nir_store_reg(b, nir_imm_true(b), s->skip);
         if (leaves)
            nir_store_reg(b, nir_imm_true(b), s->leave);
         nir_instr_remove(&jump->instr);
         /* Nothing follows a jump. */
         return true;
      }
      if (node->type != nir_cf_node_if)
         continue;
      nir_if *nif = nir_cf_node_as_if(node);
      bool then_jumps = lower_list(s, &nif->then_list);
      bool else_jumps = lower_list(s, &nif->else_list);
      if (!then_jumps && !else_jumps)
         continue;
      nir_block *next = nir_cf_node_as_block(nir_cf_node_next(node));
      if (!nir_cf_node_next(&next->cf_node) && exec_list_is_empty(&next->instr_list))
         return true;
      nir_cf_list rest;
      nir_cf_extract(&rest, nir_after_cf_node(node), nir_after_cf_list(list));
      b->cursor = nir_after_cf_node(node);
      nir_if *guard = nir_push_if(b, nir_inot(b, nir_load_reg(b, s->skip)));
      nir_pop_if(b, guard);
      nir_cf_reinsert(&rest, nir_before_cf_list(&guard->then_list));
      lower_list(s, &guard->then_list);
      return true;
   }
   return false;
}

static bool
lower_loop(struct state *s, nir_loop *loop, unsigned depth)
{
   struct jumps jumps = { false, false };
   find_jumps(&loop->body, 0, &jumps);
   bool breaks = depth > BREAK_BANKS && (jumps.nested_breaks || jumps.continues);
   if (!jumps.continues && !breaks)
      return false;
   nir_builder *b = &s->b;
   s->breaks = breaks;
   s->skip = nir_decl_reg(b, 1, 1, 0);
   s->leave = breaks ? nir_decl_reg(b, 1, 1, 0) : NULL;
   b->cursor = nir_before_cf_list(&loop->body);
   nir_store_reg(b, nir_imm_false(b), s->skip);
   if (breaks)
      nir_store_reg(b, nir_imm_false(b), s->leave);
   lower_list(s, &loop->body);
   if (breaks) {
      b->cursor = nir_after_cf_list(&loop->body);
      nir_if *leave = nir_push_if(b, nir_load_reg(b, s->leave));
      nir_jump(b, nir_jump_break);
      nir_pop_if(b, leave);
   }
   return true;
}

static bool
visit(struct state *s, struct exec_list *list, unsigned depth)
{
   bool progress = false;
   foreach_list_typed_safe(nir_cf_node, node, node, list) {
      if (node->type == nir_cf_node_if) {
         nir_if *nif = nir_cf_node_as_if(node);
         progress |= visit(s, &nif->then_list, depth);
         progress |= visit(s, &nif->else_list, depth);
      } else if (node->type == nir_cf_node_loop) {
         nir_loop *loop = nir_cf_node_as_loop(node);
         progress |= visit(s, &loop->body, depth + 1);
         progress |= lower_loop(s, loop, depth + 1);
      }
   }
   return progress;
}

static bool
needs_lowering(struct exec_list *list, unsigned depth)
{
   foreach_list_typed(nir_cf_node, node, node, list) {
      if (node->type == nir_cf_node_if) {
         nir_if *nif = nir_cf_node_as_if(node);
         if (needs_lowering(&nif->then_list, depth) || needs_lowering(&nif->else_list, depth))
            return true;
      } else if (node->type == nir_cf_node_loop) {
         nir_loop *loop = nir_cf_node_as_loop(node);
         struct jumps jumps = { false, false };
         find_jumps(&loop->body, 0, &jumps);
         if (jumps.continues || (depth + 1 > BREAK_BANKS && jumps.nested_breaks) ||
             needs_lowering(&loop->body, depth + 1))
            return true;
      }
   }
   return false;
}

bool
apple9_lower_jumps(nir_shader *shader)
{
   bool progress = false;
   nir_foreach_function_impl(impl, shader) {
      if (!needs_lowering(&impl->body, 0)) {
         nir_metadata_preserve(impl, nir_metadata_all);
         continue;
      }
      nir_foreach_block(block, impl)
         nir_lower_phis_to_regs_block(block);
      struct state s = { .b = nir_builder_create(impl) };
      progress |= visit(&s, &impl->body, 0);
      nir_metadata_preserve(impl, nir_metadata_none);
      nir_lower_reg_intrinsics_to_ssa_impl(impl);
      nir_repair_ssa_impl(impl);
   }
   return progress;
}
