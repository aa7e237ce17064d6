/* SPDX-License-Identifier: MIT */
/* The order of the passes. ../../README.md has a table with the reason of each. */
#include "apple9.h"

#include "compiler/glsl_types.h"
#include "compiler/nir/nir_builder.h"
#include "util/hash_table.h"

#include "../unsupported.h"

/* Passes that undo each other's work must not keep the process busy for ever. */
#define MOST_ROUNDS 64

/* The passes of optimize(), as numbers of bits. */
enum pass {
   VARS_TO_SSA,
   ALU_TO_SCALAR,
   PHIS_TO_SCALAR,
   COPY_PROP,
   REMOVE_PHIS,
   DCE,
   DEAD_CF,
   CSE,
   PEEPHOLE_SELECT,
   ALGEBRAIC,
   CONSTANT_FOLDING,
   UNDEF,
   PACK,
   DEREF,
   COPY_PROP_VARS,
   DEAD_WRITE_VARS,
   IF,
   LOOP,
   LOOP_UNROLL,
};

/* A shader, and the passes that found nothing to do in it as it is: to run one of these again would change nothing. */
struct lowering {
   nir_shader *shader;
   uint32_t settled;
};

/* Note whether a pass has changed the shader. */
static bool
changed(struct lowering *l, bool progress)
{
   if (progress)
      l->settled = 0;
   return progress;
}

#define PASS(l, pass, ...) changed(l, pass((l)->shader, ##__VA_ARGS__))

/* The same for a pass that may be left out while it has nothing to do. */
#define SETTLE(l, number, pass, ...) \
   ((l)->settled & BITFIELD_BIT(number) ? false \
    : PASS(l, pass, ##__VA_ARGS__)      ? true \
                                        : ((l)->settled |= BITFIELD_BIT(number), false))

/* The passes over variables take time by the square of the accesses in a block: very large shaders do without. */
#define MOST_FOR_VARIABLES (1u << 13)

static bool
is_large(nir_shader *s)
{
   unsigned count = 0;
   nir_foreach_function_impl(impl, s) {
      nir_foreach_block(block, impl)
         count += exec_list_length(&block->instr_list);
   }
   return count > MOST_FOR_VARIABLES;
}

static void
optimize(struct lowering *l, bool jumps)
{
   bool progress = true;
   for (unsigned round = 0; progress && round < MOST_ROUNDS; round++) {
      progress = false;
      progress |= SETTLE(l, VARS_TO_SSA, nir_lower_vars_to_ssa);
      progress |= SETTLE(l, ALU_TO_SCALAR, nir_lower_alu_to_scalar, NULL, NULL);
      progress |= SETTLE(l, PHIS_TO_SCALAR, nir_lower_phis_to_scalar, true);
      progress |= SETTLE(l, COPY_PROP, nir_copy_prop);
      progress |= SETTLE(l, REMOVE_PHIS, nir_opt_remove_phis);
      progress |= SETTLE(l, DCE, nir_opt_dce);
      progress |= SETTLE(l, DEAD_CF, nir_opt_dead_cf);
      progress |= SETTLE(l, CSE, nir_opt_cse);
      progress |= SETTLE(l, PEEPHOLE_SELECT, nir_opt_peephole_select, 8, false, true);
      progress |= SETTLE(l, ALGEBRAIC, nir_opt_algebraic);
      progress |= SETTLE(l, CONSTANT_FOLDING, nir_opt_constant_folding);
      progress |= SETTLE(l, UNDEF, nir_opt_undef);
      progress |= SETTLE(l, PACK, nir_lower_pack);
      if (!jumps)
         continue;
      progress |= SETTLE(l, DEREF, nir_opt_deref);
      if (!is_large(l->shader)) {
         progress |= SETTLE(l, COPY_PROP_VARS, nir_opt_copy_prop_vars);
         progress |= SETTLE(l, DEAD_WRITE_VARS, nir_opt_dead_write_vars);
      }
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

/* One function, its variables initialised, nothing but break and continue as jumps. */
static void
inline_everything(struct lowering *l)
{
   PASS(l, nir_lower_variable_initializers, nir_var_function_temp);
   PASS(l, nir_lower_returns);
   check_inlined_size(l->shader);
   PASS(l, nir_inline_functions);
   SETTLE(l, COPY_PROP, nir_copy_prop);
   SETTLE(l, DEREF, nir_opt_deref);
   nir_remove_non_entrypoints(l->shader); /* Which changes nothing that is left. */
   PASS(l, nir_lower_variable_initializers, nir_var_shader_temp);
   SETTLE(l, DEAD_CF, nir_opt_dead_cf);
   PASS(l, nir_lower_continue_constructs);
}

/* Composite variables in parts, and those that are read and written only by constant indices as values. */
static void
split_variables(struct lowering *l)
{
   PASS(l, nir_lower_global_vars_to_local);
   PASS(l, nir_split_var_copies);
   PASS(l, nir_lower_var_copies);
   SETTLE(l, DEREF, nir_opt_deref);
   PASS(l, nir_split_struct_vars, nir_var_function_temp);
   PASS(l, nir_split_array_vars, nir_var_function_temp);
   SETTLE(l, VARS_TO_SSA, nir_lower_vars_to_ssa);
   PASS(l, nir_remove_dead_variables, nir_var_function_temp | nir_var_shader_temp | nir_var_mem_shared, NULL);
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
lower_memory(struct lowering *l, const struct cortland_compute_lowering *lowering)
{
   nir_variable_mode modes = nir_var_mem_global | nir_var_mem_push_const;
   /* Of two accesses that become one, that in bounds would fail with the other. */
   if (!lowering->robust)
      modes |= nir_var_mem_ssbo | nir_var_mem_ubo;
   const nir_load_store_vectorize_options options = {
      .callback = vectorize,
      .modes = modes,
   };
   PASS(l, apple9_hoist_push_constants);
   PASS(l, nir_opt_load_store_vectorize, &options);
   SETTLE(l, ALU_TO_SCALAR, nir_lower_alu_to_scalar, NULL, NULL);
   PASS(l, apple9_lower_access_sizes);
   PASS(l, apple9_lower_atomics);
   SETTLE(l, PACK, nir_lower_pack);
   optimize(l, false);
   PASS(l, apple9_lower_memory, lowering);
   PASS(l, apple9_lower_amul);
}

static void
lower_arithmetic(struct lowering *l)
{
   /* Exact, by Newton's method and a correction; constants were turned into products before. */
   const nir_lower_idiv_options division = { .allow_fp16 = false };
   optimize(l, false);
   PASS(l, nir_opt_idiv_const, 8);
   PASS(l, nir_lower_int64);
   PASS(l, apple9_lower_bit_sizes);
   PASS(l, nir_lower_idiv, &division);
   optimize(l, false);
   PASS(l, nir_lower_int64);
   PASS(l, apple9_lower_bit_sizes);
   optimize(l, false);
   bool progress = true;
   for (unsigned round = 0; progress && round < MOST_ROUNDS; round++) {
      progress = PASS(l, nir_opt_algebraic_late);
      if (progress) {
         SETTLE(l, CONSTANT_FOLDING, nir_opt_constant_folding);
         SETTLE(l, ALU_TO_SCALAR, nir_lower_alu_to_scalar, NULL, NULL);
         PASS(l, nir_lower_int64);
         PASS(l, apple9_lower_bit_sizes);
         SETTLE(l, COPY_PROP, nir_copy_prop);
         SETTLE(l, DCE, nir_opt_dce);
         SETTLE(l, CSE, nir_opt_cse);
      }
   }
}

static void
lower_compute(nir_shader *s, const struct cortland_compute_lowering *lowering)
{
   struct lowering state = { .shader = s }, *l = &state;
   const nir_lower_compute_system_values_options sysvals = {
      .has_base_workgroup_id = lowering->has_base_workgroup,
      .global_id_is_32bit = true,
   };
   if (s->info.stage != MESA_SHADER_COMPUTE)
      unsupported("a shader of another stage than compute");
   if (s->info.workgroup_size_variable)
      unsupported("a workgroup size that is not known");
   inline_everything(l);
   split_variables(l);
   PASS(l, apple9_lower_frexp);
   PASS(l, nir_lower_frexp);
   PASS(l, apple9_lower_alu);
   PASS(l, nir_lower_system_values);
   PASS(l, nir_lower_compute_system_values, &sysvals);
   PASS(l, apple9_lower_sysvals, lowering);
   optimize(l, true);

   PASS(l, nir_lower_memory_model);
   PASS(l, nir_opt_combine_barriers, NULL, NULL);
   PASS(l, apple9_lower_descriptors, lowering);
   PASS(l, apple9_lower_pointer_arithmetic);
   PASS(l, nir_lower_explicit_io, nir_var_mem_ssbo | nir_var_mem_ubo, nir_address_format_vec2_index_32bit_offset);
   PASS(l, nir_lower_explicit_io, nir_var_mem_push_const, nir_address_format_32bit_offset);
   PASS(l, nir_lower_explicit_io, nir_var_mem_global, nir_address_format_64bit_global);
   PASS(l, apple9_lower_workgroup_memory);
   optimize(l, true);
   PASS(l, apple9_lower_inline_uniforms, lowering);
   lower_private_memory(l);
   PASS(l, apple9_lower_subgroups);
   PASS(l, nir_lower_compute_system_values, &sysvals);
   PASS(l, apple9_lower_sysvals, lowering);
   optimize(l, true);

   const nir_opt_access_options access = { .is_vulkan = true };
   PASS(l, nir_opt_access, &access);
   if (PASS(l, apple9_opt_index))
      optimize(l, false);
   PASS(l, apple9_lower_trig);
   PASS(l, nir_lower_flrp, 16 | 32, true);
   lower_memory(l, lowering);
   lower_arithmetic(l);
   PASS(l, apple9_hoist);
   PASS(l, apple9_lower_jumps);
   optimize(l, false);
   PASS(l, nir_opt_algebraic_late);
   PASS(l, apple9_lower_alu);
   SETTLE(l, ALU_TO_SCALAR, nir_lower_alu_to_scalar, NULL, NULL);
   PASS(l, nir_lower_load_const_to_scalar);
   SETTLE(l, CONSTANT_FOLDING, nir_opt_constant_folding);
   SETTLE(l, COPY_PROP, nir_copy_prop);
   SETTLE(l, DCE, nir_opt_dce);
   SETTLE(l, CSE, nir_opt_cse);
   PASS(l, nir_opt_rematerialize_compares);
   PASS(l, nir_opt_sink, nir_move_const_undef | nir_move_comparisons | nir_move_copies);
   PASS(l, nir_opt_move, nir_move_const_undef | nir_move_comparisons);
   SETTLE(l, DCE, nir_opt_dce);
   PASS(l, nir_remove_dead_variables, nir_var_all, NULL);
   nir_index_ssa_defs(nir_shader_get_entrypoint(s));
   apple9_check(s);
}

struct lower_call {
   nir_shader *shader;
   const struct cortland_compute_lowering *lowering;
};

static void
do_lower(void *arg)
{
   struct lower_call *c = arg;
   guard_own(c->shader);
   lower_compute(c->shader, c->lowering);
   nir_sweep(c->shader);
}

bool
cortland_lower_compute(nir_shader *shader, const struct cortland_compute_lowering *lowering,
                       struct cortland_failure *failure)
{
   struct lower_call c = { .shader = shader, .lowering = lowering };
   return guard_run(do_lower, &c, failure);
}
