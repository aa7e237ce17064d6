/* SPDX-License-Identifier: MIT */
/*
 * What Rust sees of Mesa. Each call that can fail returns NULL or false and says why in *failure, whose message, like
 * all memory handed out here, is to be given back to cortland_free().
 */
#ifndef CORTLAND_SHIM_H
#define CORTLAND_SHIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compiler/nir/nir.h"
#include "compiler/shader_enums.h"
#include "compiler/spirv/nir_spirv.h"
#include "compiler/spirv/spirv_info.h"

#include "apple9/apple9.h"
#include "export.h"
#include "guard.h"

/* What callers ask most about a shader, without the layout of shader_info. Strings live as long as the shader. */
struct cortland_info {
   const char *name;
   const char *entry_name;
   uint16_t workgroup_size[3];
   bool workgroup_size_variable;
   uint32_t shared_size;
   uint8_t num_ubos;
   uint8_t num_ssbos;
   uint32_t num_uniforms;
   uint32_t num_functions;
   uint32_t num_variables;
   uint32_t num_instructions;
};

void cortland_types_ref(void);
void cortland_types_unref(void);
void cortland_free(void *memory);

/* Enable a capability, unless Mesa does not know it. */
void cortland_capability_enable(struct spirv_capabilities *capabilities, uint32_t capability);

nir_shader *cortland_spirv_to_nir(const uint32_t *words, size_t num_words,
                                  struct nir_spirv_specialization *constants, unsigned num_constants,
                                  gl_shader_stage stage, const char *entry_point,
                                  const struct spirv_to_nir_options *options,
                                  const nir_shader_compiler_options *compiler_options,
                                  struct cortland_failure *failure);
void cortland_shader_free(nir_shader *shader);
nir_shader *cortland_shader_clone(const nir_shader *shader, struct cortland_failure *failure);
/* Frees the shader if it breaks a rule or the call fails: nothing may look at it again. */
bool cortland_shader_validate(nir_shader *shader, struct cortland_failure *failure);
char *cortland_shader_print(nir_shader *shader, struct cortland_failure *failure);
bool cortland_shader_serialize(const nir_shader *shader, bool strip, uint8_t **data, size_t *size, struct cortland_failure *failure);
nir_shader *cortland_shader_deserialize(const nir_shader_compiler_options *compiler_options,
                                        const uint8_t *data, size_t size, struct cortland_failure *failure);
gl_shader_stage cortland_shader_stage(const nir_shader *shader);
void cortland_shader_info(const nir_shader *shader, struct cortland_info *info);

/* For tests of cortland_shader_validate() alone: make the shader break a rule of NIR. False if it has nothing fit. */
bool cortland_test_break(nir_shader *shader, unsigned how);

/* For tests of the guard alone: fail an assertion inside it; allocate about so many bytes. */
void cortland_test_assert(struct cortland_failure *failure);
void cortland_test_allocate(size_t bytes, struct cortland_failure *failure);

#endif
