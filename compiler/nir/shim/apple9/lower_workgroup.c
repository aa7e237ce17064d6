/* SPDX-License-Identifier: MIT */
/*
 * Workgroup and private variables.
 *
 * Threadgroup memory and scratch are arrays of 32-bit words: there is no narrower access, and no usable atomic on an
 * address known at run time only (isa-2, 3.1 and 5.4; isa-4, 3.2). So
 *
 *  - each 8- or 16-bit element of a variable whose layout is ours becomes a 32-bit word;
 *  - workgroup variables that take atomics move to device memory, where each workgroup has a slice. So do explicitly
 *    laid out blocks, all of them as they alias each other, that take atomics or narrow stores. Their mode is
 *    nir_var_mem_task_payload from here on, which compute shaders do not use otherwise and which has the same 32-bit
 *    pointers; lower_memory.c gives them their address. What such a pointer points to must be known; if some pointer is
 *    chosen at run time, all variables move together.
 *
 * Barriers for workgroup memory then order device memory as well, and memory that is to start as zero is cleared.
 *
 * How many workgroups there are need not be known when memory is allocated: an indirect dispatch has it from memory. So
 * a row of CORTLAND_MOST_SLICES workgroups, or fewer, is launched in place of all of them, and each does the work of
 * one after the other, always in its own slice.
 */
#include "apple9.h"

#include "compiler/glsl_types.h"
#include "compiler/nir/nir_builder.h"
#include "compiler/nir/nir_deref.h"
#include "util/ralloc.h"
#include "util/u_math.h"

/* The same type with 32-bit scalars in the place of narrower ones. */
static const struct glsl_type *
widened(const struct glsl_type *type)
{
   if (glsl_type_is_array(type))
      return glsl_array_type(widened(glsl_get_array_element(type)), glsl_get_length(type), 0);
   if (glsl_type_is_struct(type)) {
      unsigned length = glsl_get_length(type);
      struct glsl_struct_field *fields = rzalloc_array(NULL, struct glsl_struct_field, length + 1);
      for (unsigned i = 0; i < length; i++) {
         fields[i] = *glsl_get_struct_field_data(type, i);
         fields[i].type = widened(fields[i].type);
      }
      const struct glsl_type *result = glsl_struct_type(fields, length, "widened", false);
      ralloc_free(fields);
      return result;
   }
   if (!glsl_type_is_vector_or_scalar(type) && !glsl_type_is_matrix(type))
      return type;
   enum glsl_base_type base = glsl_get_base_type(type);
   switch (base) {
   case GLSL_TYPE_UINT8:
   case GLSL_TYPE_INT8:
   case GLSL_TYPE_UINT16:
   case GLSL_TYPE_INT16:
   case GLSL_TYPE_FLOAT16:
      if (glsl_type_is_matrix(type))
         return glsl_simple_type(GLSL_TYPE_FLOAT, glsl_get_vector_elements(type), glsl_get_matrix_columns(type));
      return glsl_vector_type(GLSL_TYPE_UINT, glsl_get_vector_elements(type));
   default:
      return type;
   }
}

static bool
widen_deref(nir_builder *b, nir_instr *instr, nir_variable_mode modes)
{
   (void)b;
   if (instr->type != nir_instr_type_deref)
      return false;
   nir_deref_instr *deref = nir_instr_as_deref(instr);
   if (!nir_deref_mode_must_be(deref, modes))
      return false;
   deref->type = widened(deref->type);
   return true;
}

static bool
widen_access(nir_builder *b, nir_intrinsic_instr *intrin, nir_variable_mode modes)
{
   if (intrin->intrinsic != nir_intrinsic_load_deref && intrin->intrinsic != nir_intrinsic_store_deref)
      return false;
   if (!nir_deref_mode_must_be(nir_src_as_deref(intrin->src[0]), modes))
      return false;
   if (intrin->intrinsic == nir_intrinsic_load_deref) {
      unsigned bits = intrin->def.bit_size;
      if (bits != 8 && bits != 16)
         return false;
      intrin->def.bit_size = 32;
      b->cursor = nir_after_instr(&intrin->instr);
      nir_def *narrow = nir_u2uN(b, &intrin->def, bits);
      nir_def_rewrite_uses_after(&intrin->def, narrow, narrow->parent_instr);
      return true;
   }
   nir_def *value = intrin->src[1].ssa;
   if (value->bit_size != 8 && value->bit_size != 16)
      return false;
   b->cursor = nir_before_instr(&intrin->instr);
   nir_src_rewrite(&intrin->src[1], nir_u2u32(b, value));
   return true;
}

static bool
widen_instr(nir_builder *b, nir_instr *instr, void *data)
{
   nir_variable_mode modes = *(nir_variable_mode *)data;
   if (instr->type == nir_instr_type_intrinsic)
      return widen_access(b, nir_instr_as_intrinsic(instr), modes);
   return widen_deref(b, instr, modes);
}

static bool
widen(nir_shader *shader, nir_variable_mode modes)
{
   nir_foreach_variable_with_modes(variable, shader, modes & ~nir_var_function_temp)
      variable->type = widened(variable->type);
   nir_foreach_function_impl(impl, shader) {
      nir_foreach_function_temp_variable(variable, impl) {
         if (modes & nir_var_function_temp)
            variable->type = widened(variable->type);
      }
   }
   return nir_shader_instructions_pass(shader, widen_instr, nir_metadata_control_flow, &modes);
}

bool
apple9_lower_private_types(nir_shader *shader)
{
   return widen(shader, nir_var_function_temp);
}

/* What the accesses to workgroup variables are. */
struct uses {
   /* A pointer whose variable is not known. */
   bool unknown;
   bool atomics;
   bool narrow_stores;
};

static bool
is_shared(nir_src src, nir_deref_instr **deref)
{
   *deref = nir_src_as_deref(src);
   return *deref && nir_deref_mode_must_be(*deref, nir_var_mem_shared);
}

/* Mark variables that take atomics with `mark` in their driver_location, and gather what holds for all. */
static void
gather(nir_shader *shader, struct uses *uses)
{
   nir_foreach_variable_with_modes(variable, shader, nir_var_mem_shared)
      variable->data.driver_location = 0;
   nir_foreach_function_impl(impl, shader) {
      nir_foreach_block(block, impl) {
         nir_foreach_instr(instr, block) {
            if (instr->type == nir_instr_type_deref) {
               nir_deref_instr *deref = nir_instr_as_deref(instr);
               if (nir_deref_mode_must_be(deref, nir_var_mem_shared) && !nir_deref_instr_get_variable(deref))
                  uses->unknown = true;
               continue;
            }
            if (instr->type != nir_instr_type_intrinsic)
               continue;
            nir_intrinsic_instr *intrin = nir_instr_as_intrinsic(instr);
            nir_deref_instr *deref;
            switch (intrin->intrinsic) {
            case nir_intrinsic_deref_atomic:
            case nir_intrinsic_deref_atomic_swap:
               if (is_shared(intrin->src[0], &deref)) {
                  uses->atomics = true;
                  nir_variable *variable = nir_deref_instr_get_variable(deref);
                  if (variable)
                     variable->data.driver_location = 1;
               }
               break;
            case nir_intrinsic_store_deref:
               if (is_shared(intrin->src[0], &deref) && nir_src_bit_size(intrin->src[1]) < 32 &&
                   nir_src_bit_size(intrin->src[1]) > 1)
                  uses->narrow_stores = true;
               break;
            default:
               break;
            }
         }
      }
   }
}

static void
size_align(const struct glsl_type *type, unsigned *size, unsigned *align)
{
   glsl_get_natural_size_align_bytes(type, size, align);
   /* Nothing is narrower than a word; vectors need no more. */
   *size = ALIGN_POT(*size, 4);
   *align = MAX2(*align, 4);
}

/* Pointers of which only the mode is known. */
static bool
move_deref(nir_builder *b, nir_instr *instr, void *data)
{
   (void)b;
   (void)data;
   if (instr->type != nir_instr_type_deref)
      return false;
   nir_deref_instr *deref = nir_instr_as_deref(instr);
   if (!nir_deref_mode_must_be(deref, nir_var_mem_shared))
      return false;
   deref->modes = nir_var_mem_task_payload;
   return true;
}

static bool
order_device_memory(nir_builder *b, nir_intrinsic_instr *intrin, void *data)
{
   (void)b;
   (void)data;
   if (intrin->intrinsic != nir_intrinsic_barrier || !(nir_intrinsic_memory_modes(intrin) & nir_var_mem_shared))
      return false;
   nir_intrinsic_set_memory_modes(intrin, nir_intrinsic_memory_modes(intrin) | nir_var_mem_ssbo | nir_var_mem_global);
   return true;
}

/* The linear number of the invocation in its workgroup times `bytes`: where it begins to clear. */
static void
clear(nir_shader *shader, nir_variable_mode mode, unsigned bytes)
{
   nir_function_impl *impl = nir_shader_get_entrypoint(shader);
   nir_builder b = nir_builder_at(nir_before_impl(impl));
   unsigned invocations =
      shader->info.workgroup_size[0] * shader->info.workgroup_size[1] * shader->info.workgroup_size[2];
   nir_def *zero = nir_imm_int(&b, 0);
   nir_def *first = nir_imul_imm(&b, nir_load_local_invocation_index(&b), 4);
   nir_loop *loop = NULL;
   nir_def *offset = first;
   nir_variable *at = NULL;
   bool once = bytes <= invocations * 4;
   if (!once) {
      at = nir_local_variable_create(impl, glsl_uint_type(), "clear");
      nir_store_var(&b, at, first, 1);
      loop = nir_push_loop(&b);
      offset = nir_load_var(&b, at);
      nir_break_if(&b, nir_uge(&b, offset, nir_imm_int(&b, bytes)));
   } else if (bytes < invocations * 4) {
      nir_push_if(&b, nir_ult(&b, offset, nir_imm_int(&b, bytes)));
   }
   if (mode == nir_var_mem_shared)
      nir_store_shared(&b, zero, offset, .align_mul = 4);
   else
      nir_store_task_payload(&b, zero, offset, .align_mul = 4);
   if (!once) {
      nir_store_var(&b, at, nir_iadd_imm(&b, offset, invocations * 4), 1);
      nir_pop_loop(&b, loop);
   } else if (bytes < invocations * 4) {
      nir_pop_if(&b, NULL);
   }
   nir_barrier(&b, .execution_scope = SCOPE_WORKGROUP, .memory_scope = SCOPE_WORKGROUP,
               .memory_semantics = NIR_MEMORY_ACQ_REL,
               .memory_modes = mode == nir_var_mem_shared ? nir_var_mem_shared
                                                          : nir_var_mem_shared | nir_var_mem_ssbo | nir_var_mem_global);
   nir_metadata_preserve(impl, nir_metadata_none);
}

/* Where the workgroup whose work is done is in the grid. */
struct place {
   nir_variable *at[3];
};

static nir_def *
load_place(nir_builder *b, const struct place *place)
{
   nir_def *at[3];
   for (unsigned i = 0; i < 3; i++)
      at[i] = nir_load_var(b, place->at[i]);
   return nir_vec(b, at, 3);
}

static bool
use_place(nir_builder *b, nir_intrinsic_instr *intrin, void *data)
{
   b->cursor = nir_before_instr(&intrin->instr);
   nir_def *at = NULL;
   if (intrin->intrinsic == nir_intrinsic_load_workgroup_id) {
      at = load_place(b, data);
   } else if (intrin->intrinsic == nir_intrinsic_load_global_invocation_id) {
      const uint16_t *size = b->shader->info.workgroup_size;
      nir_def *sizes = nir_imm_ivec3(b, size[0], size[1], size[2]);
      at = nir_iadd(b, nir_imul(b, load_place(b, data), sizes), nir_load_local_invocation_id(b));
   } else {
      return false;
   }
   nir_def_replace(&intrin->def, nir_u2uN(b, at, intrin->def.bit_size));
   return true;
}

/* Goes on by so many workgroups, row after row. */
static void
advance(nir_builder *b, const struct place *place, nir_def *counts, nir_def *by)
{
   for (unsigned i = 0; i < 3; i++) {
      nir_def *at = nir_iadd(b, nir_load_var(b, place->at[i]), by);
      if (i < 2) {
         /* Of a grid without workgroups nothing is asked. */
         nir_def *count = nir_umax(b, nir_channel(b, counts, i), nir_imm_int(b, 1));
         by = nir_udiv(b, at, count);
         at = nir_isub(b, at, nir_imul(b, by, count));
      }
      nir_store_var(b, place->at[i], at, 1);
   }
}

/* Makes the shader do the work of each workgroup whose number is that of the launched one and a multiple more. */
static void
loop_over_workgroups(nir_shader *shader)
{
   nir_function_impl *impl = nir_shader_get_entrypoint(shader);
   struct place place;
   for (unsigned i = 0; i < 3; i++)
      place.at[i] = nir_local_variable_create(impl, glsl_uint_type(), "workgroup");
   nir_shader_intrinsics_pass(shader, use_place, nir_metadata_control_flow, &place);
   nir_cf_list body;
   nir_cf_extract(&body, nir_before_impl(impl), nir_after_impl(impl));
   nir_builder b = nir_builder_at(nir_before_impl(impl));
   nir_def *counts = nir_load_num_workgroups(&b);
   nir_def *none = nir_ior(&b, nir_ieq_imm(&b, nir_channel(&b, counts, 0), 0), nir_ieq_imm(&b, nir_channel(&b, counts, 1), 0));
   nir_def *slices = nir_bcsel(&b, none, nir_imm_int(&b, 0), nir_channel(&b, counts, 2));
   for (unsigned i = 0; i < 3; i++)
      nir_store_var(&b, place.at[i], nir_imm_int(&b, 0), 1);
   advance(&b, &place, counts, nir_channel(&b, nir_load_workgroup_id(&b), 0));
   nir_loop *loop = nir_push_loop(&b);
   nir_break_if(&b, nir_uge(&b, nir_load_var(&b, place.at[2]), slices));
   nir_cursor inside = nir_after_block(nir_loop_last_block(loop));
   nir_cf_reinsert(&body, inside);
   b.cursor = nir_after_block(nir_loop_last_block(loop));
   /* All memory of the workgroup is the next one's. */
   nir_barrier(&b, .execution_scope = SCOPE_WORKGROUP, .memory_scope = SCOPE_WORKGROUP,
               .memory_semantics = NIR_MEMORY_ACQ_REL,
               .memory_modes = nir_var_mem_shared | nir_var_mem_ssbo | nir_var_mem_global);
   advance(&b, &place, counts, nir_imm_int(&b, CORTLAND_MOST_SLICES));
   nir_pop_loop(&b, loop);
   nir_metadata_preserve(impl, nir_metadata_none);
}

static bool
has_workgroup_memory(nir_shader *shader)
{
   nir_foreach_variable_with_modes(variable, shader, nir_var_mem_shared)
      return true;
   return shader->info.shared_size != 0;
}

bool
apple9_lower_workgroup_memory(nir_shader *shader)
{
   if (!has_workgroup_memory(shader))
      return false;
   struct uses uses = { false, false, false };
   gather(shader, &uses);
   bool explicitly = shader->info.shared_memory_explicit_layout;
   bool all = explicitly ? uses.atomics || uses.narrow_stores : uses.unknown && uses.atomics;
   bool zero = shader->info.zero_initialize_shared_memory;
   bool moved = false;
   nir_foreach_variable_with_modes(variable, shader, nir_var_mem_shared)
      zero |= variable->constant_initializer && variable->constant_initializer->is_null_constant;
   if (!explicitly)
      widen(shader, nir_var_mem_shared);
   nir_foreach_variable_with_modes_safe(variable, shader, nir_var_mem_shared) {
      variable->constant_initializer = NULL;
      if (all || (!explicitly && variable->data.driver_location)) {
         variable->data.mode = nir_var_mem_task_payload;
         moved = true;
      }
   }
   if (moved) {
      if (all)
         nir_shader_instructions_pass(shader, move_deref, nir_metadata_control_flow, NULL);
      else
         nir_fixup_deref_modes(shader);
      nir_shader_intrinsics_pass(shader, order_device_memory, nir_metadata_all, NULL);
   }
   if (explicitly) {
      if (moved) {
         shader->info.task_payload_size = shader->info.shared_size;
         shader->info.shared_size = 0;
      }
   } else {
      nir_lower_vars_to_explicit_types(shader, nir_var_mem_shared | nir_var_mem_task_payload, size_align);
   }
   nir_lower_explicit_io(shader, nir_var_mem_shared | nir_var_mem_task_payload, nir_address_format_32bit_offset);
   shader->info.task_payload_size = ALIGN_POT(shader->info.task_payload_size, 16);
   shader->info.shared_size = ALIGN_POT(shader->info.shared_size, 4);
   if (zero && shader->info.shared_size)
      clear(shader, nir_var_mem_shared, shader->info.shared_size);
   if (zero && shader->info.task_payload_size)
      clear(shader, nir_var_mem_task_payload, shader->info.task_payload_size);
   if (shader->info.task_payload_size)
      loop_over_workgroups(shader);
   return true;
}
