/* SPDX-License-Identifier: MIT */
/* The order of the passes. ../../README.md has a table with the reason of each. */
#include "apple9.h"

#include "compiler/glsl_types.h"
#include "compiler/nir/nir_builder.h"
#include "util/hash_table.h"

#include "../unsupported.h"

/* Passes that undo each other's work must not keep the process busy for ever. */
#define MOST_ROUNDS 64

/* Could nir_opt_deref() make it a simpler one? */
static bool
is_indirect_deref(const nir_deref_instr *deref)
{
   if (deref->deref_type == nir_deref_type_ptr_as_array)
      return true;
   if (deref->deref_type != nir_deref_type_cast)
      return false;
   if (deref->parent.ssa->parent_instr->type == nir_instr_type_deref)
      return true;
   /* The pointer to a buffer, which is a cast of what the descriptor gives. */
   nir_foreach_use(use, &deref->def) {
      const nir_instr *user = nir_src_parent_instr(use);
      if (user->type != nir_instr_type_deref && user->type != nir_instr_type_intrinsic)
         return true;
   }
   return false;
}

/* As nir_opt_deref(), which looks at a lot before it finds nothing. */
static bool
opt_deref(nir_shader *s)
{
   nir_foreach_function_impl(impl, s) {
      nir_foreach_block(block, impl) {
         nir_foreach_instr(instr, block) {
            if (instr->type == nir_instr_type_deref && is_indirect_deref(nir_instr_as_deref(instr)))
               return nir_opt_deref(s);
         }
      }
   }
   return false;
}

/* The passes of optimize(), as bits. */
enum pass {
   VARS_TO_SSA = BITFIELD_BIT(0),
   ALU_TO_SCALAR = BITFIELD_BIT(1),
   PHIS_TO_SCALAR = BITFIELD_BIT(2),
   COPY_PROP = BITFIELD_BIT(3),
   REMOVE_PHIS = BITFIELD_BIT(4),
   DCE = BITFIELD_BIT(5),
   DEAD_CF = BITFIELD_BIT(6),
   CSE = BITFIELD_BIT(7),
   PEEPHOLE_SELECT = BITFIELD_BIT(8),
   ALGEBRAIC = BITFIELD_BIT(9),
   CONSTANT_FOLDING = BITFIELD_BIT(10),
   UNDEF = BITFIELD_BIT(11),
   PACK = BITFIELD_BIT(12),
   DEREF = BITFIELD_BIT(13),
   COPY_PROP_VARS = BITFIELD_BIT(14),
   DEAD_WRITE_VARS = BITFIELD_BIT(15),
   IF = BITFIELD_BIT(16),
   LOOP = BITFIELD_BIT(17),
   LOOP_UNROLL = BITFIELD_BIT(18),
   OPERATIONS = BITFIELD_BIT(19), /* Constant folding, of what is no arithmetic. */
};

/*
 * A shader, and the passes of optimize() that find nothing to do in it as it is: those that were run since something
 * last made work for them, and those that look for what the shader does not hold.
 */
struct lowering {
   nir_shader *shader;
   uint32_t settled;
   uint32_t pointless;
   /* Algebra can wait for a later stage: there is nothing, or no more, that it could find bounds or indices for. */
   bool plain;
   struct apple9_table table;
};

/* Note whether a pass has changed the shader, after which every other may have work. */
static bool
changed(struct lowering *l, bool progress)
{
   if (progress)
      l->settled = l->pointless = 0;
   return progress;
}

#define PASS(l, pass, ...) changed(l, pass((l)->shader, ##__VA_ARGS__))

/* The passes over variables. */
#define VARIABLES (DEREF | COPY_PROP_VARS | DEAD_WRITE_VARS)

/* Those that apple9_opt_values() is in one. */
#define VALUES (COPY_PROP | CONSTANT_FOLDING | CSE)

/*
 * The passes that a pass makes no work for, or none that is worth another look before a later stage has one anyway. A
 * run of all passes that finds nothing costs as much as one that does, so this is half of the time that lowering takes.
 */
static uint32_t
unaffected(enum pass pass)
{
   const uint32_t scalars = ALU_TO_SCALAR | PHIS_TO_SCALAR | PACK;
   switch (pass) {
   case ALU_TO_SCALAR:
   case PHIS_TO_SCALAR:
   case PACK:
      return VARIABLES | CSE;
   case UNDEF:
      return VARIABLES;
   case COPY_PROP:
      return scalars | REMOVE_PHIS;
   case DCE:
      return DCE | scalars | REMOVE_PHIS | VALUES | OPERATIONS | ALGEBRAIC | UNDEF | VARIABLES | LOOP;
   case CSE:
      return scalars | DCE | ALGEBRAIC | OPERATIONS | UNDEF | LOOP;
   case ALGEBRAIC:
      return ALGEBRAIC | COPY_PROP | CONSTANT_FOLDING | scalars | VARIABLES | UNDEF;
   case CONSTANT_FOLDING:
   case OPERATIONS:
      return CONSTANT_FOLDING | OPERATIONS | scalars | UNDEF | COPY_PROP;
   case IF:
      return VARIABLES | ALGEBRAIC;
   case LOOP:
   case LOOP_UNROLL:
   case DEAD_CF:
   case REMOVE_PHIS:
      return ALGEBRAIC;
   default:
      return 0;
   }
}

/* Note that one of them was run. */
static bool
settle(struct lowering *l, enum pass pass, bool progress)
{
   l->settled |= pass;
   if (progress)
      l->settled &= unaffected(pass);
   return progress;
}

/*
 * Copies and constants, and common subexpressions where these are wanted: what one makes possible, the others find.
 * Returns what was found, as apple9_opt_values() does.
 */
static unsigned
values(struct lowering *l)
{
   const uint32_t done = l->settled | l->pointless;
   if ((done & VALUES) == VALUES)
      return 0;
   const bool shares = !(done & CSE);
   const unsigned found = apple9_opt_values(l->shader, shares ? &l->table : NULL);
   if (found & APPLE9_COPIES)
      l->settled &= unaffected(COPY_PROP);
   if (found & APPLE9_CONSTANTS)
      l->settled &= unaffected(CONSTANT_FOLDING);
   if (found & APPLE9_SUBEXPRESSIONS)
      l->settled &= unaffected(CSE);
   l->settled |= shares ? VALUES : COPY_PROP | CONSTANT_FOLDING;
   return found;
}

/* One of them, unless it has nothing to do. */
#define SETTLE(l, number, pass, ...) \
   (!(((l)->settled | (l)->pointless) & (number)) && settle(l, number, pass((l)->shader, ##__VA_ARGS__)))

/* The passes over variables take time by the square of the accesses in a block: very large shaders do without. */
#define MOST_FOR_VARIABLES (1u << 13)

static bool
is_vector(const nir_alu_instr *alu)
{
   /* Operations on vectors with one result have them as their first operand. What accesses take, nothing lowers. */
   return alu->def.num_components > 1 ? !nir_op_is_vec(alu->op) : nir_op_infos[alu->op].input_sizes[0] > 1;
}

/*
 * Which variables are accessed and stored to in more than one place: without such, the passes over variables find
 * nothing. Most shaders read a few buffers in one place each and write another. What is only read is CSE's.
 */
struct accesses {
   const void *roots[16];
   unsigned count;
   uint32_t stored;
   bool repeated, overwritten;
};

/* The variable, or the pointer to a buffer. Passes take two pointers of one descriptor for different ones, until CSE. */
static const void *
root_of(const nir_deref_instr *deref)
{
   const nir_deref_instr *parent;
   while ((parent = nir_deref_instr_parent(deref)))
      deref = parent;
   return deref->deref_type == nir_deref_type_var ? (const void *)deref->var : deref->parent.ssa;
}

static void
note_access(struct accesses *a, const nir_intrinsic_instr *intrin)
{
   bool store = intrin->intrinsic == nir_intrinsic_store_deref;
   switch (intrin->intrinsic) {
   case nir_intrinsic_load_deref:
   case nir_intrinsic_store_deref:
      break;
   case nir_intrinsic_copy_deref:
      a->repeated = a->overwritten = true;
      return;
   default:
      return;
   }
   const nir_deref_instr *deref = nir_src_as_deref(intrin->src[0]);
   if (nir_deref_mode_is_in_set(deref, nir_var_read_only_modes | nir_var_mem_push_const))
      return;
   const void *root = root_of(deref);
   unsigned i = 0;
   while (i < a->count && a->roots[i] != root)
      i++;
   if (i == ARRAY_SIZE(a->roots)) {
      a->repeated = a->overwritten = true;
      return;
   }
   if (i == a->count)
      a->roots[a->count++] = root;
   else
      a->repeated = true;
   if (store) {
      a->overwritten |= (a->stored >> i & 1) != 0;
      a->stored |= 1u << i;
   }
}

/* Is it one of those that nir_opt_constant_folding() knows? */
static bool
may_fold(const nir_intrinsic_instr *intrin)
{
   switch (intrin->intrinsic) {
   case nir_intrinsic_load_deref:
      return nir_deref_mode_is(nir_src_as_deref(intrin->src[0]), nir_var_mem_constant);
   case nir_intrinsic_load_constant:
   case nir_intrinsic_demote_if:
   case nir_intrinsic_terminate_if:
   case nir_intrinsic_ddx:
   case nir_intrinsic_ddx_fine:
   case nir_intrinsic_ddx_coarse:
   case nir_intrinsic_ddy:
   case nir_intrinsic_ddy_fine:
   case nir_intrinsic_ddy_coarse:
   case nir_intrinsic_vote_any:
   case nir_intrinsic_vote_all:
   case nir_intrinsic_vote_feq:
   case nir_intrinsic_vote_ieq:
   case nir_intrinsic_inverse_ballot:
   case nir_intrinsic_as_uniform:
   case nir_intrinsic_read_invocation:
   case nir_intrinsic_read_first_invocation:
   case nir_intrinsic_shuffle:
   case nir_intrinsic_shuffle_xor:
   case nir_intrinsic_shuffle_up:
   case nir_intrinsic_shuffle_down:
   case nir_intrinsic_quad_broadcast:
   case nir_intrinsic_quad_swap_horizontal:
   case nir_intrinsic_quad_swap_vertical:
   case nir_intrinsic_quad_swap_diagonal:
      return true;
   default:
      return false;
   }
}

/* The passes that cannot find anything in this shader, for want of what they look for. */
static uint32_t
pointless(nir_shader *s)
{
   uint32_t without_vectors = ALU_TO_SCALAR | PACK, without_phis = PHIS_TO_SCALAR | REMOVE_PHIS, without_undefs = UNDEF,
            without_locals = VARS_TO_SSA, without_derefs = VARIABLES,
            without_ifs = DEAD_CF | PEEPHOLE_SELECT | IF, without_loops = LOOP | LOOP_UNROLL,
            without_operations = OPERATIONS, without_repeats = 0;
   unsigned count = 0;
   struct accesses accesses = { .count = 0 };
   nir_foreach_function_impl(impl, s) {
      nir_foreach_block(block, impl) {
         const nir_cf_node *next = without_loops ? nir_cf_node_next(&block->cf_node) : NULL;
         if (next)
            without_ifs = 0;
         if (next && next->type == nir_cf_node_loop)
            without_loops = 0;
         nir_foreach_instr(instr, block) {
            count++;
            switch (instr->type) {
            case nir_instr_type_alu:
               if (without_vectors && is_vector(nir_instr_as_alu(instr)))
                  without_vectors = 0;
               break;
            case nir_instr_type_phi:
               without_phis = 0;
               break;
            case nir_instr_type_undef:
               without_undefs = 0;
               break;
            case nir_instr_type_deref:
               without_derefs = 0;
               if (nir_deref_mode_may_be(nir_instr_as_deref(instr), nir_var_function_temp))
                  without_locals = 0;
               break;
            case nir_instr_type_intrinsic:
               note_access(&accesses, nir_instr_as_intrinsic(instr));
               if (may_fold(nir_instr_as_intrinsic(instr)))
                  without_operations = 0;
               break;
            case nir_instr_type_tex:
               without_operations = 0;
               break;
            default:
               break;
            }
         }
      }
   }
   if (!accesses.repeated)
      without_repeats |= COPY_PROP_VARS;
   if (!accesses.overwritten)
      without_repeats |= DEAD_WRITE_VARS;
   if (count > MOST_FOR_VARIABLES)
      without_repeats = COPY_PROP_VARS | DEAD_WRITE_VARS;
   return without_vectors | without_phis | without_undefs | without_locals | without_derefs | without_ifs |
          without_loops | without_operations | without_repeats;
}

/*
 * Values, again where control flow or phis have changed. Completely: with algebra and CSE in each round, and another
 * round for what algebra has made; otherwise these run once.
 */
static void
optimize_values(struct lowering *l, bool completely)
{
   bool progress = true;
   for (unsigned round = 0; progress && round < MOST_ROUNDS; round++) {
      l->pointless = pointless(l->shader);
      if (round > 0 && !completely)
         l->pointless |= ALGEBRAIC | CSE;
      if (l->plain)
         l->pointless |= ALGEBRAIC;
      SETTLE(l, VARS_TO_SSA, nir_lower_vars_to_ssa);
      SETTLE(l, ALU_TO_SCALAR, nir_lower_alu_to_scalar, NULL, NULL);
      SETTLE(l, PHIS_TO_SCALAR, nir_lower_phis_to_scalar, true);
      SETTLE(l, PACK, nir_lower_pack);
      values(l);
      progress = false;
      progress |= SETTLE(l, REMOVE_PHIS, nir_opt_remove_phis);
      SETTLE(l, DCE, apple9_opt_dce);
      progress |= SETTLE(l, DEAD_CF, nir_opt_dead_cf);
      progress |= SETTLE(l, PEEPHOLE_SELECT, nir_opt_peephole_select, 8, false, true);
      progress |= SETTLE(l, UNDEF, nir_opt_undef);
      progress |= SETTLE(l, OPERATIONS, nir_opt_constant_folding);
      if (SETTLE(l, ALGEBRAIC, nir_opt_algebraic)) {
         SETTLE(l, DCE, apple9_opt_dce);
         progress |= completely;
      }
   }
}

/* Values, variables and control flow. */
static void
optimize(struct lowering *l)
{
   bool progress = true;
   for (unsigned round = 0; progress && round < MOST_ROUNDS; round++) {
      optimize_values(l, false);
      progress = false;
      progress |= SETTLE(l, DEREF, opt_deref);
      progress |= SETTLE(l, COPY_PROP_VARS, nir_opt_copy_prop_vars);
      progress |= SETTLE(l, DEAD_WRITE_VARS, nir_opt_dead_write_vars);
      progress |= SETTLE(l, IF, nir_opt_if, nir_opt_if_optimize_phi_true_false);
      progress |= SETTLE(l, LOOP, nir_opt_loop);
      progress |= SETTLE(l, LOOP_UNROLL, nir_opt_loop_unroll);
   }
}

/* Instructions that a shader may have once its calls are inlined. */
#define MOST_INSTRUCTIONS (1u << 20)

/* How many instructions a function has with all that it calls. */
static uint64_t
inlined_size(nir_function *function, struct hash_table_u64 *sizes)
{
   uint64_t known = (uintptr_t)_mesa_hash_table_u64_search(sizes, (uintptr_t)function);
   if (known)
      return known;
   uint64_t size = 1;
   if (function->impl) {
      nir_foreach_block(block, function->impl) {
         nir_foreach_instr(instr, block) {
            size += instr->type == nir_instr_type_call ? inlined_size(nir_instr_as_call(instr)->callee, sizes) : 1;
            if (size > MOST_INSTRUCTIONS)
               unsupported("functions that call each other so often that inlining makes more than %u instructions",
                           MOST_INSTRUCTIONS);
         }
      }
   }
   _mesa_hash_table_u64_insert(sizes, (uintptr_t)function, (void *)(uintptr_t)size);
   return size;
}

static void
check_inlined_size(nir_shader *s)
{
   struct hash_table_u64 *sizes = _mesa_hash_table_u64_create(NULL);
   nir_foreach_function(function, s) {
      if (function->is_entrypoint)
         inlined_size(function, sizes);
   }
   _mesa_hash_table_u64_destroy(sizes);
}

/* The return at the end of a block, if there is one. */
static nir_instr *
last_return(nir_block *block)
{
   nir_instr *last = nir_block_last_instr(block);
   bool is_return = last && last->type == nir_instr_type_jump && nir_instr_as_jump(last)->type == nir_jump_return;
   return is_return ? last : NULL;
}

/* Is there more than the entry point? */
static bool
has_functions(nir_shader *s)
{
   nir_foreach_function_impl(impl, s) {
      if (!impl->function->is_entrypoint)
         return true;
   }
   return false;
}

/* Takes away the one at the end of a function, for which nir_lower_returns() would repair all values. Are there more? */
static bool
has_returns(nir_function_impl *impl)
{
   nir_instr *last = last_return(nir_impl_last_block(impl));
   if (last)
      nir_instr_remove(last);
   nir_foreach_block(block, impl) {
      if (last_return(block))
         return true;
   }
   return false;
}

/* One function, its variables initialised, nothing but break and continue as jumps. */
static void
inline_everything(struct lowering *l)
{
   PASS(l, nir_lower_variable_initializers, nir_var_function_temp);
   bool returns = false;
   nir_foreach_function_impl(impl, l->shader)
      returns |= has_returns(impl);
   if (returns)
      PASS(l, nir_lower_returns);
   if (has_functions(l->shader)) {
      check_inlined_size(l->shader);
      PASS(l, nir_inline_functions);
      SETTLE(l, COPY_PROP, nir_copy_prop);
   }
   SETTLE(l, DEREF, opt_deref);
   nir_remove_non_entrypoints(l->shader); /* Which changes nothing that is left. */
   PASS(l, nir_lower_variable_initializers, nir_var_shader_temp | nir_var_shader_out);
   SETTLE(l, DEAD_CF, nir_opt_dead_cf);
   PASS(l, nir_lower_continue_constructs);
}

/* What most shaders have nothing of, seen once: passes for it would walk them in vain. */
struct contents {
   bool copies, globals, shared, frexp, sines, flrp, division, barriers, push_constants, pointers, atomics, textures, images;
};

static void
look_at_alu(struct contents *c, nir_op op)
{
   switch (op) {
   case nir_op_frexp_exp:
   case nir_op_frexp_sig:
      c->frexp = true;
      break;
   case nir_op_fsin:
   case nir_op_fcos:
      c->sines = true;
      break;
   case nir_op_flrp:
      c->flrp = true;
      break;
   case nir_op_idiv:
   case nir_op_udiv:
   case nir_op_imod:
   case nir_op_umod:
   case nir_op_irem:
      c->division = true;
      break;
   default:
      break;
   }
}

static void
look_at_intrinsic(struct contents *c, nir_intrinsic_op op)
{
   switch (op) {
   case nir_intrinsic_copy_deref:
      c->copies = true;
      break;
   case nir_intrinsic_barrier:
      c->barriers = true;
      break;
   case nir_intrinsic_deref_atomic:
   case nir_intrinsic_deref_atomic_swap:
      c->atomics = true;
      break;
   case nir_intrinsic_image_deref_atomic:
   case nir_intrinsic_image_deref_atomic_swap:
      c->atomics = c->images = true;
      break;
   case nir_intrinsic_image_deref_load:
   case nir_intrinsic_image_deref_sparse_load:
   case nir_intrinsic_image_deref_store:
   case nir_intrinsic_image_deref_size:
   case nir_intrinsic_image_deref_samples:
      c->images = true;
      break;
   default:
      break;
   }
}

/* Of a shader whose calls are inlined. No pass makes any of these that has not been there. */
static struct contents
look(nir_shader *s)
{
   struct contents c = { 0 };
   nir_foreach_variable_with_modes(variable, s, nir_var_shader_temp)
      c.globals = true;
   nir_foreach_variable_with_modes(variable, s, nir_var_mem_shared)
      c.shared = true;
   nir_foreach_block(block, nir_shader_get_entrypoint(s)) {
      nir_foreach_instr(instr, block) {
         if (instr->type == nir_instr_type_alu) {
            look_at_alu(&c, nir_instr_as_alu(instr)->op);
         } else if (instr->type == nir_instr_type_intrinsic) {
            look_at_intrinsic(&c, nir_instr_as_intrinsic(instr)->intrinsic);
         } else if (instr->type == nir_instr_type_tex) {
            c.textures = true;
         } else if (instr->type == nir_instr_type_deref) {
            nir_variable_mode modes = nir_instr_as_deref(instr)->modes;
            c.push_constants |= (modes & nir_var_mem_push_const) != 0;
            c.pointers |= (modes & nir_var_mem_global) != 0;
         }
      }
   }
   return c;
}

static bool
has_loops(nir_shader *s)
{
   nir_foreach_block(block, nir_shader_get_entrypoint(s)) {
      if (nir_block_get_following_loop(block))
         return true;
   }
   return false;
}

static bool
has_locals(nir_shader *s)
{
   return !exec_list_is_empty(&nir_shader_get_entrypoint(s)->locals);
}

/* Composite variables in parts, and those that are read and written only by constant indices as values. */
static void
split_variables(struct lowering *l, const struct contents *c)
{
   if (c->globals)
      PASS(l, nir_lower_global_vars_to_local);
   if (c->copies) {
      PASS(l, nir_split_var_copies);
      PASS(l, nir_lower_var_copies);
   }
   SETTLE(l, DEREF, opt_deref);
   if (has_locals(l->shader)) {
      PASS(l, nir_split_struct_vars, nir_var_function_temp);
      PASS(l, nir_split_array_vars, nir_var_function_temp);
      PASS(l, apple9_opt_single_stores);
      PASS(l, apple9_remove_locals);
   }
   if (has_locals(l->shader) && SETTLE(l, VARS_TO_SSA, nir_lower_vars_to_ssa))
      PASS(l, apple9_remove_locals);
   /* Pointers that were kept in variables. */
   SETTLE(l, DEREF, opt_deref);
   if (c->globals || c->shared)
      PASS(l, nir_remove_dead_variables, nir_var_shader_temp | nir_var_mem_shared, NULL);
}

static void
word_size_align(const struct glsl_type *type, unsigned *size, unsigned *align)
{
   glsl_get_natural_size_align_bytes(type, size, align);
   *size = ALIGN_POT(*size, 4);
   *align = MAX2(*align, 4);
}

/* What is left of private variables lives in scratch. */
static void
lower_private_memory(struct lowering *l)
{
   if (!has_locals(l->shader))
      return;
   PASS(l, nir_lower_indirect_derefs, nir_var_function_temp, 8);
   SETTLE(l, VARS_TO_SSA, nir_lower_vars_to_ssa);
   PASS(l, nir_remove_dead_variables, nir_var_function_temp, NULL);
   PASS(l, apple9_lower_private_types);
   PASS(l, nir_lower_vars_to_explicit_types, nir_var_function_temp, word_size_align);
   PASS(l, nir_lower_explicit_io, nir_var_function_temp, nir_address_format_32bit_offset);
}

static bool
vectorize(unsigned align_mul, unsigned align_offset, unsigned bit_size, unsigned num_components, int64_t hole_size,
          nir_intrinsic_instr *low, nir_intrinsic_instr *high, void *data)
{
   (void)data;
   if (hole_size > 0 || bit_size != 32 || num_components > 4)
      return false;
   nir_intrinsic_instr *both[] = { low, high };
   for (unsigned i = 0; i < 2; i++) {
      if (nir_intrinsic_has_access(both[i]) &&
          (nir_intrinsic_access(both[i]) & (ACCESS_COHERENT | ACCESS_VOLATILE)))
         return false;
   }
   return nir_combined_align(align_mul, align_offset) >= 4;
}

static void
lower_memory(struct lowering *l, const struct contents *c, const struct cortland_compute_lowering *lowering)
{
   nir_variable_mode modes = nir_var_mem_global | nir_var_mem_push_const;
   /* Of two accesses that become one, that in bounds would fail with the other. */
   if (!lowering->robust)
      modes |= nir_var_mem_ssbo | nir_var_mem_ubo;
   const nir_load_store_vectorize_options options = {
      .callback = vectorize,
      .modes = modes,
   };
   if (c->push_constants)
      PASS(l, apple9_hoist_push_constants);
   PASS(l, nir_opt_load_store_vectorize, &options);
   SETTLE(l, ALU_TO_SCALAR, nir_lower_alu_to_scalar, NULL, NULL);
   PASS(l, apple9_lower_access_sizes);
   if (c->atomics)
      PASS(l, apple9_lower_atomics);
   SETTLE(l, PACK, nir_lower_pack);
   PASS(l, apple9_lower_memory, lowering);
   PASS(l, apple9_lower_amul);
}

static void
lower_arithmetic(struct lowering *l, const struct contents *c)
{
   /* Exact, by Newton's method and a correction; constants are turned into products before. */
   const nir_lower_idiv_options division = { .allow_fp16 = false };
   if (c->division)
      PASS(l, nir_opt_idiv_const, 8);
   PASS(l, apple9_lower_int64);
   PASS(l, apple9_lower_bit_sizes);
   if (c->division)
      PASS(l, nir_lower_idiv, &division);
   bool progress = true;
   for (unsigned round = 0; progress && round < MOST_ROUNDS; round++) {
      optimize_values(l, true);
      progress = PASS(l, apple9_lower_int64);
      progress |= PASS(l, apple9_lower_bit_sizes);
   }
   /* What it makes it looks at itself, but not at what others make of that. */
   progress = true;
   for (unsigned round = 0; progress && round < MOST_ROUNDS; round++) {
      progress = false;
      if (PASS(l, nir_opt_algebraic_late)) {
         SETTLE(l, ALU_TO_SCALAR, nir_lower_alu_to_scalar, NULL, NULL);
         progress |= PASS(l, apple9_lower_int64);
         progress |= PASS(l, apple9_lower_bit_sizes);
         progress |= (values(l) & APPLE9_CONSTANTS) != 0;
         SETTLE(l, DCE, apple9_opt_dce);
      }
   }
}

/* The inputs and outputs of the stages of graphics pipelines. */
static void
lower_stage(struct lowering *l, const struct cortland_compute_lowering *lowering)
{
   PASS(l, apple9_lower_io);
   values(l);
   if (l->shader->info.stage == MESA_SHADER_VERTEX)
      PASS(l, apple9_lower_vertex, lowering);
   else
      PASS(l, apple9_lower_fragment, lowering);
   optimize(l);
}

static void
lower(nir_shader *s, const struct cortland_compute_lowering *lowering, gl_shader_stage stage)
{
   struct lowering state = { .shader = s }, *l = &state;
   const nir_lower_compute_system_values_options sysvals = {
      .has_base_workgroup_id = lowering->has_base_workgroup,
      .global_id_is_32bit = true,
   };
   const bool is_vertex = stage == MESA_SHADER_VERTEX, is_fragment = stage == MESA_SHADER_FRAGMENT;
   if (s->info.stage != stage)
      unsupported("a shader of the stage %s for the stage %s", gl_shader_stage_name(s->info.stage),
                  gl_shader_stage_name(stage));
   if (s->info.workgroup_size_variable)
      unsupported("a workgroup size that is not known");
   inline_everything(l);
   if (is_vertex || is_fragment)
      PASS(l, apple9_prepare_io);
   struct contents contents = look(s);
   const struct contents *c = &contents;
   split_variables(l, c);
   if (c->frexp) {
      PASS(l, apple9_lower_frexp);
      PASS(l, nir_lower_frexp);
   }
   PASS(l, apple9_lower_alu);
   PASS(l, nir_lower_system_values);
   PASS(l, nir_lower_compute_system_values, &sysvals);
   PASS(l, apple9_lower_sysvals, lowering);
   l->plain = !has_locals(s) && !has_loops(s);
   values(l);
   SETTLE(l, DCE, apple9_opt_dce);
   /* What is behind conditions that have become constants must not reach passes that count what there is. */
   bool pruned = SETTLE(l, DEAD_CF, nir_opt_dead_cf);
   if (pruned || !l->plain || (~pointless(s) & (COPY_PROP_VARS | DEAD_WRITE_VARS)))
      optimize(l);
   l->plain = false;
   PASS(l, apple9_opt_rotate);

   if (is_vertex || is_fragment) {
      lower_stage(l, lowering);
      contents.division |= look(s).division;
      contents.images = look(s).images;
   }
   if (c->textures || is_fragment)
      PASS(l, apple9_lower_textures, lowering);
   if (c->images)
      PASS(l, apple9_lower_images, lowering);
   if (c->barriers) {
      PASS(l, nir_lower_memory_model);
      PASS(l, nir_opt_combine_barriers, NULL, NULL);
   }
   PASS(l, apple9_lower_descriptors, lowering);
   PASS(l, apple9_lower_pointer_arithmetic);
   PASS(l, nir_lower_explicit_io, nir_var_mem_ssbo | nir_var_mem_ubo, nir_address_format_vec2_index_32bit_offset);
   if (c->push_constants)
      PASS(l, nir_lower_explicit_io, nir_var_mem_push_const, nir_address_format_32bit_offset);
   if (c->pointers)
      PASS(l, nir_lower_explicit_io, nir_var_mem_global, nir_address_format_64bit_global);
   bool asks = is_vertex || is_fragment;
   asks |= PASS(l, apple9_lower_workgroup_memory);
   contents.division |= s->info.task_payload_size != 0;
   PASS(l, apple9_lower_inline_uniforms, lowering);
   lower_private_memory(l);
   asks |= PASS(l, apple9_lower_subgroups);
   if (asks) { /* For an invocation's place. */
      PASS(l, nir_lower_compute_system_values, &sysvals);
      PASS(l, apple9_lower_sysvals, lowering);
   }
   l->plain = !has_locals(s);
   optimize(l);
   l->plain = false;

   const nir_opt_access_options access = { .is_vulkan = true };
   PASS(l, nir_opt_access, &access);
   if (PASS(l, apple9_opt_index))
      optimize_values(l, false);
   if (c->sines)
      PASS(l, apple9_lower_trig);
   if (c->flrp)
      PASS(l, nir_lower_flrp, 16 | 32, true);
   lower_memory(l, c, lowering);
   lower_arithmetic(l, c);
   bool moved = PASS(l, apple9_hoist);
   moved |= PASS(l, apple9_lower_jumps);
   if (moved) {
      optimize_values(l, true);
      PASS(l, nir_opt_algebraic_late);
   }
   PASS(l, apple9_lower_alu);
   SETTLE(l, ALU_TO_SCALAR, nir_lower_alu_to_scalar, NULL, NULL);
   PASS(l, nir_lower_load_const_to_scalar);
   values(l);
   SETTLE(l, DCE, apple9_opt_dce);
   PASS(l, nir_opt_rematerialize_compares);
   PASS(l, nir_opt_sink, nir_move_const_undef | nir_move_comparisons | nir_move_copies);
   SETTLE(l, DCE, apple9_opt_dce);
   if (c->shared) /* What workgroup memory that takes atomics is called once it has moved to device memory. */
      PASS(l, nir_remove_dead_variables, nir_var_mem_task_payload, NULL);
   if (is_fragment)
      apple9_note_tile(s);
   apple9_check(s);
   ralloc_free(l->table.slots);
}

struct lower_call {
   nir_shader *shader;
   const struct cortland_compute_lowering *lowering;
   gl_shader_stage stage;
};

static void
do_lower(void *arg)
{
   struct lower_call *c = arg;
   guard_own(c->shader);
   lower(c->shader, c->lowering, c->stage);
}

bool
cortland_lower_compute(nir_shader *shader, const struct cortland_compute_lowering *lowering,
                       struct cortland_failure *failure)
{
   struct lower_call c = { .shader = shader, .lowering = lowering, .stage = MESA_SHADER_COMPUTE };
   return guard_run(do_lower, &c, failure);
}

bool
cortland_lower_vertex(nir_shader *shader, const struct cortland_compute_lowering *lowering,
                      struct cortland_failure *failure)
{
   struct lower_call c = { .shader = shader, .lowering = lowering, .stage = MESA_SHADER_VERTEX };
   return guard_run(do_lower, &c, failure);
}

bool
cortland_lower_fragment(nir_shader *shader, const struct cortland_compute_lowering *lowering,
                        struct cortland_failure *failure)
{
   struct lower_call c = { .shader = shader, .lowering = lowering, .stage = MESA_SHADER_FRAGMENT };
   return guard_run(do_lower, &c, failure);
}
