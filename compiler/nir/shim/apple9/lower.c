/* SPDX-License-Identifier: MIT */
/* The order of the passes. ../../README.md has a table with the reason of each. */
#include "apple9.h"

#include "compiler/glsl_types.h"
#include "compiler/nir/nir_builder.h"
#include "util/hash_table.h"

#include "../unsupported.h"

/* Passes that undo each other's work must not keep the process busy for ever. */
#define MOST_ROUNDS 64

static void
optimize(nir_shader *s, bool jumps)
{
   bool progress = true;
   for (unsigned round = 0; progress && round < MOST_ROUNDS; round++) {
      progress = false;
      progress |= nir_lower_vars_to_ssa(s);
      progress |= nir_lower_alu_to_scalar(s, NULL, NULL);
      progress |= nir_lower_phis_to_scalar(s, true);
      progress |= nir_copy_prop(s);
      progress |= nir_opt_remove_phis(s);
      progress |= nir_opt_dce(s);
      progress |= nir_opt_dead_cf(s);
      progress |= nir_opt_cse(s);
      progress |= nir_opt_peephole_select(s, 8, false, true);
      progress |= nir_opt_algebraic(s);
      progress |= nir_opt_constant_folding(s);
      progress |= nir_opt_undef(s);
      progress |= nir_lower_pack(s);
      if (!jumps)
         continue;
      progress |= nir_opt_deref(s);
      progress |= nir_opt_copy_prop_vars(s);
      progress |= nir_opt_dead_write_vars(s);
      progress |= nir_opt_if(s, nir_opt_if_optimize_phi_true_false);
      progress |= nir_opt_loop(s);
      progress |= nir_opt_loop_unroll(s);
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
inline_everything(nir_shader *s)
{
   nir_lower_variable_initializers(s, nir_var_function_temp);
   nir_lower_returns(s);
   check_inlined_size(s);
   nir_inline_functions(s);
   nir_copy_prop(s);
   nir_opt_deref(s);
   nir_remove_non_entrypoints(s);
   nir_lower_variable_initializers(s, nir_var_shader_temp);
   nir_opt_dead_cf(s);
   nir_lower_continue_constructs(s);
}

/* Composite variables in parts, and those that are read and written only by constant indices as values. */
static void
split_variables(nir_shader *s)
{
   nir_lower_global_vars_to_local(s);
   nir_split_var_copies(s);
   nir_lower_var_copies(s);
   nir_opt_deref(s);
   nir_split_struct_vars(s, nir_var_function_temp);
   nir_split_array_vars(s, nir_var_function_temp);
   nir_lower_vars_to_ssa(s);
   nir_remove_dead_variables(s, nir_var_function_temp | nir_var_shader_temp | nir_var_mem_shared, NULL);
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
lower_private_memory(nir_shader *s)
{
   nir_lower_indirect_derefs(s, nir_var_function_temp, 8);
   nir_lower_vars_to_ssa(s);
   nir_remove_dead_variables(s, nir_var_function_temp, NULL);
   apple9_lower_private_types(s);
   nir_lower_vars_to_explicit_types(s, nir_var_function_temp, word_size_align);
   nir_lower_explicit_io(s, nir_var_function_temp, nir_address_format_32bit_offset);
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
lower_memory(nir_shader *s, const struct cortland_compute_lowering *lowering)
{
   nir_variable_mode modes = nir_var_mem_global | nir_var_mem_push_const;
   /* Of two accesses that become one, that in bounds would fail with the other. */
   if (!lowering->robust)
      modes |= nir_var_mem_ssbo | nir_var_mem_ubo;
   const nir_load_store_vectorize_options options = {
      .callback = vectorize,
      .modes = modes,
   };
   apple9_hoist_push_constants(s);
   nir_opt_load_store_vectorize(s, &options);
   nir_lower_alu_to_scalar(s, NULL, NULL);
   apple9_lower_access_sizes(s);
   apple9_lower_atomics(s);
   nir_lower_pack(s);
   optimize(s, false);
   apple9_lower_memory(s, lowering);
   apple9_lower_amul(s);
}

static void
lower_arithmetic(nir_shader *s)
{
   /* Exact, by Newton's method and a correction; constants were turned into products before. */
   const nir_lower_idiv_options division = { .allow_fp16 = false };
   optimize(s, false);
   nir_opt_idiv_const(s, 8);
   nir_lower_int64(s);
   apple9_lower_bit_sizes(s);
   nir_lower_idiv(s, &division);
   optimize(s, false);
   nir_lower_int64(s);
   apple9_lower_bit_sizes(s);
   optimize(s, false);
   bool progress = true;
   for (unsigned round = 0; progress && round < MOST_ROUNDS; round++) {
      progress = nir_opt_algebraic_late(s);
      if (progress) {
         nir_opt_constant_folding(s);
         nir_lower_alu_to_scalar(s, NULL, NULL);
         nir_lower_int64(s);
         apple9_lower_bit_sizes(s);
         nir_copy_prop(s);
         nir_opt_dce(s);
         nir_opt_cse(s);
      }
   }
}

static void
lower_compute(nir_shader *s, const struct cortland_compute_lowering *lowering)
{
   const nir_lower_compute_system_values_options sysvals = {
      .has_base_workgroup_id = lowering->has_base_workgroup,
      .global_id_is_32bit = true,
   };
   if (s->info.stage != MESA_SHADER_COMPUTE)
      unsupported("a shader of another stage than compute");
   if (s->info.workgroup_size_variable)
      unsupported("a workgroup size that is not known");
   inline_everything(s);
   split_variables(s);
   apple9_lower_frexp(s);
   nir_lower_frexp(s);
   apple9_lower_alu(s);
   nir_lower_system_values(s);
   nir_lower_compute_system_values(s, &sysvals);
   apple9_lower_sysvals(s, lowering);
   optimize(s, true);

   nir_lower_memory_model(s);
   nir_opt_combine_barriers(s, NULL, NULL);
   apple9_lower_descriptors(s, lowering);
   apple9_lower_pointer_arithmetic(s);
   nir_lower_explicit_io(s, nir_var_mem_ssbo | nir_var_mem_ubo, nir_address_format_vec2_index_32bit_offset);
   nir_lower_explicit_io(s, nir_var_mem_push_const, nir_address_format_32bit_offset);
   nir_lower_explicit_io(s, nir_var_mem_global, nir_address_format_64bit_global);
   apple9_lower_workgroup_memory(s);
   optimize(s, true);
   apple9_lower_inline_uniforms(s, lowering);
   lower_private_memory(s);
   apple9_lower_subgroups(s);
   nir_lower_compute_system_values(s, &sysvals);
   apple9_lower_sysvals(s, lowering);
   optimize(s, true);

   const nir_opt_access_options access = { .is_vulkan = true };
   nir_opt_access(s, &access);
   if (apple9_opt_index(s))
      optimize(s, false);
   apple9_lower_trig(s);
   nir_lower_flrp(s, 16 | 32, true);
   lower_memory(s, lowering);
   lower_arithmetic(s);
   apple9_hoist(s);
   apple9_lower_jumps(s);
   optimize(s, false);
   nir_opt_algebraic_late(s);
   apple9_lower_alu(s);
   nir_lower_alu_to_scalar(s, NULL, NULL);
   nir_lower_load_const_to_scalar(s);
   nir_opt_constant_folding(s);
   nir_copy_prop(s);
   nir_opt_dce(s);
   nir_opt_cse(s);
   nir_opt_rematerialize_compares(s);
   nir_opt_sink(s, nir_move_const_undef | nir_move_comparisons | nir_move_copies);
   nir_opt_move(s, nir_move_const_undef | nir_move_comparisons);
   nir_opt_dce(s);
   nir_remove_dead_variables(s, nir_var_all, NULL);
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
