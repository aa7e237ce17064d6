/* SPDX-License-Identifier: MIT */
#include "shim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/glsl_types.h"
#include "compiler/nir/nir_serialize.h"
#include "util/blob.h"
#include "util/ralloc.h"

#include "guard.h"
#include "validate.h"

void
cortland_types_ref(void)
{
   glsl_type_singleton_init_or_ref();
}

void
cortland_types_unref(void)
{
   glsl_type_singleton_decref();
}

void
cortland_free(void *memory)
{
   free(memory);
}

void
cortland_capability_enable(struct spirv_capabilities *capabilities, uint32_t capability)
{
   if (strcmp(spirv_capability_to_string(capability), "unknown") != 0)
      spirv_capabilities_set(capabilities, capability, true);
}

/* One call's arguments and result: memory that a jump back to the guard leaves defined. */
struct call {
   nir_shader *shader;
   const struct spirv_to_nir_options *options;
   const nir_shader_compiler_options *compiler_options;
   const uint32_t *words;
   size_t num_words;
   struct nir_spirv_specialization *constants;
   unsigned num_constants;
   gl_shader_stage stage;
   const char *entry_point;
   struct blob blob;
   struct blob_reader reader;
   bool strip;
   FILE *stream;
   nir_shader *result;
};

/* Mark as null every constant that is, by the rule that deserialising applies. */
static bool
mark_null(nir_constant *constant)
{
   static const nir_const_value zero[NIR_MAX_VEC_COMPONENTS];
   bool null = memcmp(constant->values, zero, sizeof(constant->values)) == 0;
   for (unsigned i = 0; i < constant->num_elements; i++)
      null &= mark_null(constant->elements[i]);
   constant->is_null_constant = null;
   return null;
}

/* Bring the shader into the form that cloning and deserialising give, so that all three print the same. */
static void
canonical_form(nir_shader *shader)
{
   nir_foreach_variable_in_shader(variable, shader) {
      if (variable->constant_initializer)
         mark_null(variable->constant_initializer);
   }
   nir_foreach_function_impl(impl, shader) {
      nir_foreach_function_temp_variable(variable, impl) {
         if (variable->constant_initializer)
            mark_null(variable->constant_initializer);
      }
      nir_index_ssa_defs(impl);
   }
}

static void
do_translate(void *arg)
{
   struct call *c = arg;
   nir_shader *shader = spirv_to_nir(c->words, c->num_words, c->constants, c->num_constants, c->stage, c->entry_point,
                                     c->options, c->compiler_options);
   if (!shader) /* It has said why, and what it left unfreed goes now. */
      guard_fail(CORTLAND_GAVE_UP, NULL);
   canonical_form(shader);
   c->result = shader;
}

nir_shader *
cortland_spirv_to_nir(const uint32_t *words, size_t num_words, struct nir_spirv_specialization *constants,
                      unsigned num_constants, gl_shader_stage stage, const char *entry_point,
                      const struct spirv_to_nir_options *options,
                      const nir_shader_compiler_options *compiler_options, struct cortland_failure *failure)
{
   struct call c = {
      .words = words,
      .num_words = num_words,
      .constants = constants,
      .num_constants = num_constants,
      .stage = stage,
      .entry_point = entry_point,
      .options = options,
      .compiler_options = compiler_options,
   };
   return guard_run(do_translate, &c, failure) ? c.result : NULL;
}

void
cortland_shader_free(nir_shader *shader)
{
   ralloc_free(shader);
}

static void
do_clone(void *arg)
{
   struct call *c = arg;
   c->result = nir_shader_clone(NULL, c->shader);
}

nir_shader *
cortland_shader_clone(const nir_shader *shader, struct cortland_failure *failure)
{
   struct call c = { .shader = (nir_shader *)shader };
   return guard_run(do_clone, &c, failure) ? c.result : NULL;
}

static void
do_validate(void *arg)
{
   struct call *c = arg;
   guard_own(c->shader);
   validate_shader(c->shader);
}

bool
cortland_shader_validate(nir_shader *shader, struct cortland_failure *failure)
{
   struct call c = { .shader = shader };
   bool sound = guard_run(do_validate, &c, failure);
   validate_forget_report();
   return sound;
}

static void
do_print(void *arg)
{
   struct call *c = arg;
   nir_print_shader(c->shader, c->stream);
}

char *
cortland_shader_print(nir_shader *shader, struct cortland_failure *failure)
{
   struct call c = { .shader = shader };
   char *text = NULL;
   size_t size = 0;
   *failure = (struct cortland_failure){ .kind = CORTLAND_OUT_OF_MEMORY };
   c.stream = open_memstream(&text, &size);
   if (!c.stream)
      return NULL;
   bool done = guard_run(do_print, &c, failure);
   bool whole = !ferror(c.stream);
   if (fclose(c.stream) == 0 && whole && done)
      return text;
   if (done)
      failure->kind = CORTLAND_OUT_OF_MEMORY;
   free(text);
   return NULL;
}

static void
do_serialize(void *arg)
{
   struct call *c = arg;
   blob_init(&c->blob);
   nir_serialize(&c->blob, c->shader, c->strip);
   if (c->blob.out_of_memory)
      guard_fail(CORTLAND_OUT_OF_MEMORY, NULL);
}

bool
cortland_shader_serialize(const nir_shader *shader, bool strip, uint8_t **data, size_t *size, struct cortland_failure *failure)
{
   struct call c = { .shader = (nir_shader *)shader, .strip = strip };
   if (!guard_run(do_serialize, &c, failure))
      return false;
   *size = c.blob.size;
   *data = malloc(c.blob.size);
   if (*data)
      memcpy(*data, c.blob.data, c.blob.size);
   else
      failure->kind = CORTLAND_OUT_OF_MEMORY;
   /* Not blob_finish(), whose inline code calls the C library's free() here. */
   cortland_mesa_free(c.blob.data);
   return *data != NULL;
}

static void
do_deserialize(void *arg)
{
   struct call *c = arg;
   c->result = nir_deserialize(NULL, c->compiler_options, &c->reader);
   if (c->reader.overrun)
      guard_fail(CORTLAND_GAVE_UP, NULL);
}

nir_shader *
cortland_shader_deserialize(const nir_shader_compiler_options *compiler_options, const uint8_t *data, size_t size,
                            struct cortland_failure *failure)
{
   struct call c = { .compiler_options = compiler_options };
   blob_reader_init(&c.reader, data, size);
   return guard_run(do_deserialize, &c, failure) ? c.result : NULL;
}

gl_shader_stage
cortland_shader_stage(const nir_shader *shader)
{
   return shader->info.stage;
}

void
cortland_shader_info(const nir_shader *shader, struct cortland_info *info)
{
   memset(info, 0, sizeof(*info));
   info->name = shader->info.name;
   memcpy(info->workgroup_size, shader->info.workgroup_size, sizeof(info->workgroup_size));
   info->workgroup_size_variable = shader->info.workgroup_size_variable;
   info->shared_size = shader->info.shared_size;
   info->num_ubos = shader->info.num_ubos;
   info->num_ssbos = shader->info.num_ssbos;
   info->num_uniforms = shader->num_uniforms;
   info->num_variables = exec_list_length(&shader->variables);
   nir_foreach_function(function, shader) {
      info->num_functions++;
      if (function->is_entrypoint)
         info->entry_name = function->name;
      if (!function->impl)
         continue;
      nir_foreach_block(block, function->impl) {
         nir_foreach_instr(instr, block)
            info->num_instructions++;
      }
   }
}

bool
cortland_test_break(nir_shader *shader, unsigned how)
{
   nir_foreach_function_impl(impl, shader) {
      nir_foreach_block(block, impl) {
         nir_foreach_instr_safe(instr, block) {
            nir_def *def = nir_instr_def(instr);
            if (instr->type != nir_instr_type_alu || nir_def_is_unused(def))
               continue;
            nir_instr *user = NULL;
            nir_foreach_use(src, def) {
               if (nir_src_parent_instr(src)->block == block)
                  user = nir_src_parent_instr(src);
            }
            if (how == 0) { /* A width that does not exist. */
               def->bit_size = 7;
            } else if (user && user->type != nir_instr_type_phi) { /* A value that is used before it is defined. */
               exec_node_remove(&instr->node);
               exec_node_insert_after(&user->node, &instr->node);
            } else {
               continue;
            }
            return true;
         }
      }
   }
   return false;
}

static void
fail_assertion(void *arg)
{
   (void)arg;
   ralloc_size(NULL, 1000);
   cortland_assert_failed("test", __FILE__, __LINE__);
}

void
cortland_test_assert(struct cortland_failure *failure)
{
   guard_run(fail_assertion, NULL, failure);
}

static void
fail_allocation(void *arg)
{
   for (unsigned i = 0; i < 4; i++)
      ralloc_size(NULL, *(size_t *)arg / 4);
}

void
cortland_test_allocate(size_t bytes, struct cortland_failure *failure)
{
   guard_run(fail_allocation, &bytes, failure);
}
