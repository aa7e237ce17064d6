/* SPDX-License-Identifier: MIT */
/*
 * The passes that bring a SPIR-V compute shader into the form that the Apple9 back end takes. lower.c runs them in order;
 * ../../README.md says why in that order; check.c states the form. Each pass has a file that says what it does.
 */
#ifndef CORTLAND_APPLE9_H
#define CORTLAND_APPLE9_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compiler/nir/nir.h"

#include "../guard.h"
#include "graphics.h"

/* Where the descriptors of a binding are. */
enum cortland_place {
   /* In the memory of a descriptor set. */
   CORTLAND_PLACE_SET,
   /* In the table of dynamic buffers. */
   CORTLAND_PLACE_DYNAMIC,
};

enum cortland_binding_kind {
   /* A descriptor: 64-bit address, 32-bit size in bytes, 32 bits of zero. */
   CORTLAND_BINDING_BUFFER,
   /* The bytes of the block themselves. */
   CORTLAND_BINDING_INLINE_UNIFORM,
   /* Descriptors of images and samplers; texture.h has their fields. */
   CORTLAND_BINDING_TEXTURE,
   CORTLAND_BINDING_SAMPLER,
   CORTLAND_BINDING_COMBINED_IMAGE_SAMPLER,
   CORTLAND_BINDING_STORAGE_IMAGE,
   CORTLAND_BINDING_UNIFORM_TEXEL_BUFFER,
   CORTLAND_BINDING_STORAGE_TEXEL_BUFFER,
};

struct cortland_binding {
   uint32_t set, binding;
   enum cortland_place place;
   uint32_t place_set;
   /* In bytes; the stride is from one array element to the next. */
   uint32_t offset, stride;
   /* Array elements; zero if it is not known how many. */
   uint32_t count;
   enum cortland_binding_kind kind;
};

struct cortland_compute_lowering {
   const struct cortland_binding *bindings;
   size_t num_bindings;
   bool robust;
   bool has_base_workgroup;
   /* Samplers may have a border colour of their own. */
   bool custom_border_colors;
   /* Of these stages, what else there is. */
   const struct cortland_vertex_lowering *vertex;
   const struct cortland_fragment_lowering *fragment;
};

/*
 * Where accesses go that a bounds check stops: a page of zeros for loads, a page that nobody reads for stores and atomics.
 * Whoever runs such shaders maps both. Both addresses have the same upper half.
 */
#define CORTLAND_BOUNDS_PAGES_HIGH 0x60
#define CORTLAND_ZERO_PAGE_LOW 0x0
#define CORTLAND_SINK_PAGE_LOW 0x4000

/* Textures are proven up to this many (isa-4, 1.1), samplers to 17, and the field has five bits. */
#define CORTLAND_MOST_TEXTURES 128
#define CORTLAND_MOST_SAMPLERS 32

/* The set of the slot that is the private sampler of fetches. */
#define APPLE9_FETCH_SAMPLER UINT32_MAX

/* Where the record of a slot is: bytes from the start of a descriptor set's memory. */
struct apple9_slot {
   uint32_t set, offset;
};

/* The tables that a shader names textures and samplers by, which is what its constant data holds. */
struct apple9_tables {
   uint32_t num_textures, num_samplers;
   struct apple9_slot textures[CORTLAND_MOST_TEXTURES];
   struct apple9_slot samplers[CORTLAND_MOST_SAMPLERS];
   struct apple9_stage_info stage;
};

/* Those of a shader; makes empty ones if it has none yet. */
struct apple9_tables *apple9_tables(nir_shader *shader);

/* What the BASE of a load_preamble of one 64-bit component names. */
enum cortland_root {
   CORTLAND_ROOT_WORKGROUP_COUNTS = 0,
   CORTLAND_ROOT_THREADGROUP = 1,
   CORTLAND_ROOT_PUSH_CONSTANTS = 2,
   CORTLAND_ROOT_BASE_WORKGROUP = 3,
   CORTLAND_ROOT_DYNAMIC_BUFFERS = 4,
   CORTLAND_ROOT_WORKGROUP_MEMORY = 5,
   CORTLAND_ROOT_VERTEX_BUFFERS = 6,
   CORTLAND_ROOT_DRAW_PARAMETERS = 7,
   CORTLAND_ROOT_BLEND_CONSTANTS = 8,
   CORTLAND_ROOT_DRAW_NUMBER = 9,
   /* Descriptor set n is this plus n. */
   CORTLAND_ROOT_SET = 16,
};

/*
 * How many workgroups are launched at most of a shader with workgroup memory in device memory: each does the work of
 * every so manyth, in a slice of its own. Enough to fill the GPU with the smallest ones.
 */
#define CORTLAND_MOST_SLICES 1024

/* Lower a compute shader. Frees it if the call fails. */
bool cortland_lower_compute(nir_shader *shader, const struct cortland_compute_lowering *lowering,
                            struct cortland_failure *failure);

/* The same for the stages of graphics pipelines. */
bool cortland_lower_vertex(nir_shader *shader, const struct cortland_compute_lowering *lowering,
                           struct cortland_failure *failure);
bool cortland_lower_fragment(nir_shader *shader, const struct cortland_compute_lowering *lowering,
                             struct cortland_failure *failure);

/* The passes. Each returns whether it changed anything. */
bool apple9_lower_alu(nir_shader *shader);
bool apple9_lower_bit_sizes(nir_shader *shader);
bool apple9_lower_int64(nir_shader *shader);
bool apple9_lower_trig(nir_shader *shader);
bool apple9_lower_jumps(nir_shader *shader);
bool apple9_lower_sysvals(nir_shader *shader, const struct cortland_compute_lowering *lowering);
bool apple9_lower_subgroups(nir_shader *shader);
bool apple9_lower_textures(nir_shader *shader, const struct cortland_compute_lowering *lowering);
bool apple9_lower_images(nir_shader *shader, const struct cortland_compute_lowering *lowering);
bool apple9_lower_descriptors(nir_shader *shader, const struct cortland_compute_lowering *lowering);
bool apple9_lower_inline_uniforms(nir_shader *shader, const struct cortland_compute_lowering *lowering);
bool apple9_lower_pointer_arithmetic(nir_shader *shader);
bool apple9_lower_workgroup_memory(nir_shader *shader);
bool apple9_lower_private_types(nir_shader *shader);
bool apple9_lower_access_sizes(nir_shader *shader);
bool apple9_lower_atomics(nir_shader *shader);
bool apple9_lower_memory(nir_shader *shader, const struct cortland_compute_lowering *lowering);
bool apple9_lower_amul(nir_shader *shader);
/* Of two instructions in the order of the blocks: is the earlier one executed wherever the later one is? */
bool apple9_covers(nir_function_impl *impl, const nir_instr *earlier, const nir_instr *later);

/* What apple9_opt_values() has found, as bits. */
#define APPLE9_COPIES 1u
#define APPLE9_CONSTANTS 2u
#define APPLE9_SUBEXPRESSIONS 4u
/* Instructions by what they compute. To be zeroed before the first use; the slots are the caller's to free. */
struct apple9_table {
   nir_instr **slots;
   uint32_t allocated, mask;
};
/* Looks for common subexpressions only with a table, in which nothing of an earlier call is left. */
unsigned apple9_opt_values(nir_shader *shader, struct apple9_table *table);
bool apple9_opt_dce(nir_shader *shader);
bool apple9_opt_rotate(nir_shader *shader);
bool apple9_opt_single_stores(nir_shader *shader);
bool apple9_remove_locals(nir_shader *shader);
bool apple9_hoist(nir_shader *shader);
bool apple9_hoist_push_constants(nir_shader *shader);
bool apple9_opt_index(nir_shader *shader);
bool apple9_lower_frexp(nir_shader *shader);
bool apple9_prepare_io(nir_shader *shader);
bool apple9_lower_io(nir_shader *shader);
bool apple9_lower_vertex(nir_shader *shader, const struct cortland_compute_lowering *lowering);
bool apple9_lower_fragment(nir_shader *shader, const struct cortland_compute_lowering *lowering);

/* Notes whether a lowered fragment shader reads the tile. */
void apple9_note_tile(nir_shader *shader);

/* Ends the call with a message if the shader is not in the form that the back end takes. */
void apple9_check(nir_shader *shader);

/* Whether that form has the operation with these widths of its result and its operands, but for conditions and amounts
 * of shifts. */
bool apple9_allows_alu(nir_op op, unsigned result, unsigned source);

/* What an intrinsic says that it does with values. */
enum apple9_operation {
   APPLE9_OPERATION_NONE,
   /* A nir_atomic_op. */
   APPLE9_OPERATION_ATOMIC,
   /* The nir_op of a reduction or scan. */
   APPLE9_OPERATION_REDUCTION,
};
enum apple9_operation apple9_operation_of(nir_intrinsic_op intrinsic);

/* Whether that form has the intrinsic, for some operands. `bits` and `components` are those of its result or, if it has
 * none, of what it stores; zero for neither. `operation` is what apple9_operation_of() says, zero for none. */
bool apple9_allows_intrinsic(nir_intrinsic_op intrinsic, unsigned bits, unsigned components, unsigned operation);

/* The same of those that only vertex or fragment shaders have; stages.h says what they do. */
bool apple9_allows_stage_intrinsic(nir_intrinsic_op intrinsic, gl_shader_stage stage, unsigned bits, unsigned components);

#endif
