/* SPDX-License-Identifier: MIT */
/*
 * Private variables: those that are stored to in one place, and those that nothing is left of.
 *
 * Most variables of a source language are initialised and then read. Where the one store dominates a load, the load is
 * the value that was stored: in loops too, as each way from one execution of the store to the next leads through it.
 * That needs neither phis nor trees of accesses, as nir_lower_vars_to_ssa() makes them for all that is left.
 */
#include "apple9.h"

#include "compiler/nir/nir_builder.h"
#include "util/ralloc.h"

struct variable {
   unsigned stores, loads;
   /* Something other than loads and stores of all of it is done with it. */
   bool complex;
   /* The store, once the walk has come to it. */
   nir_intrinsic_instr *store;
};

static const nir_variable *
private_variable(const nir_deref_instr *deref)
{
   return deref->deref_type == nir_deref_type_var && deref->modes == nir_var_function_temp ? deref->var : NULL;
}

/* What is done with a variable through one of the references to it. */
static void
note_uses(struct variable *v, const nir_deref_instr *deref)
{
   nir_foreach_use_including_if(use, &deref->def) {
      const nir_instr *user = nir_src_is_if(use) ? NULL : nir_src_parent_instr(use);
      if (!user || user->type != nir_instr_type_intrinsic) {
         v->complex = true;
         return;
      }
      const nir_intrinsic_instr *intrin = nir_instr_as_intrinsic(user);
      if (intrin->intrinsic == nir_intrinsic_load_deref) {
         v->loads++;
      } else if (intrin->intrinsic == nir_intrinsic_store_deref && use == &intrin->src[0] &&
                 nir_intrinsic_write_mask(intrin) == nir_component_mask(intrin->num_components)) {
         v->stores++;
      } else {
         v->complex = true;
      }
   }
}

/* A store or load of one of them, in the order of the blocks. */
static bool
visit(nir_function_impl *impl, struct variable *v, nir_intrinsic_instr *intrin)
{
   if (intrin->intrinsic == nir_intrinsic_store_deref) {
      v->store = intrin;
      return false;
   }
   if (!v->store || !apple9_covers(impl, &v->store->instr, &intrin->instr))
      return false;
   nir_def_replace(&intrin->def, v->store->src[1].ssa);
   v->loads--;
   return true;
}

bool
apple9_opt_single_stores(nir_shader *s)
{
   nir_function_impl *impl = nir_shader_get_entrypoint(s);
   const unsigned count = nir_function_impl_index_vars(impl);
   struct variable *variables = rzalloc_array(NULL, struct variable, count);
   nir_foreach_function_temp_variable(variable, impl)
      variables[variable->index].complex = variable->constant_initializer || variable->pointer_initializer;
   nir_foreach_block(block, impl) {
      nir_foreach_instr(instr, block) {
         if (instr->type != nir_instr_type_deref)
            continue;
         const nir_variable *variable = private_variable(nir_instr_as_deref(instr));
         if (variable)
            note_uses(&variables[variable->index], nir_instr_as_deref(instr));
      }
   }
   bool progress = false;
   nir_foreach_block(block, impl) {
      nir_foreach_instr_safe(instr, block) {
         if (instr->type != nir_instr_type_intrinsic)
            continue;
         nir_intrinsic_instr *intrin = nir_instr_as_intrinsic(instr);
         if (intrin->intrinsic != nir_intrinsic_load_deref && intrin->intrinsic != nir_intrinsic_store_deref)
            continue;
         const nir_variable *variable = private_variable(nir_src_as_deref(intrin->src[0]));
         if (!variable)
            continue;
         struct variable *v = &variables[variable->index];
         if (v->stores == 1 && !v->complex)
            progress |= visit(impl, v, intrin);
      }
   }
   for (unsigned i = 0; i < count; i++) {
      if (variables[i].store && variables[i].loads == 0) {
         nir_instr_remove(&variables[i].store->instr);
         progress = true;
      }
   }
   ralloc_free(variables);
   nir_metadata_preserve(impl, progress ? nir_metadata_control_flow : nir_metadata_all);
   return progress;
}

bool
apple9_remove_locals(nir_shader *s)
{
   nir_function_impl *impl = nir_shader_get_entrypoint(s);
   bool *used = rzalloc_array(NULL, bool, nir_function_impl_index_vars(impl));
   bool progress = false;
   nir_foreach_block(block, impl) {
      nir_foreach_instr_safe(instr, block) {
         if (instr->type != nir_instr_type_deref)
            continue;
         const nir_variable *variable = private_variable(nir_instr_as_deref(instr));
         if (!variable)
            continue;
         if (nir_deref_instr_remove_if_unused(nir_instr_as_deref(instr)))
            progress = true;
         else
            used[variable->index] = true;
      }
   }
   nir_foreach_function_temp_variable_safe(variable, impl) {
      if (!used[variable->index]) {
         exec_node_remove(&variable->node);
         progress = true;
      }
   }
   ralloc_free(used);
   nir_metadata_preserve(impl, progress ? nir_metadata_control_flow : nir_metadata_all);
   return progress;
}
