/* SPDX-License-Identifier: MIT */
/*
 * What the passes over vertex and fragment shaders share, and the form of what they leave for the back end:
 *
 *    store_uvs_agx(value, slot)          word `slot`, a constant, of the vertex shader's output
 *    load_vertex_id, load_instance_id    as the hardware counts: from the base vertex on, from zero on
 *    load_barycentric_pixel, _centroid, _at_sample
 *                                        a position, and for INTERP_MODE_SMOOTH what W is there; the last takes a number
 *    load_interpolated_input(bary, 0)    coefficient BASE there; with another mode than smooth the plain value
 *    load_input(0)                       coefficient BASE, of the provoking vertex
 *    ipa_nv(value, w)                    `value` of coefficient BASE as smooth interpolation has it at a place with that W
 *    load_sample_mask_in                 the coverage register as it is: bits 0..3 samples, 4..7 for the control word
 *    load_global_invocation_id           the pixel in the first two components
 *    load_back_face_agx, load_layer_id   system registers
 *    load_local_pixel_agx(samples)       word BASE of the record in the tile of a sample, named by a mask of one bit
 *    store_local_pixel_agx(value, samples, -)
 *                                        the same of all samples in the mask
 *    sample_mask_agx(control, test)      the control word of coverage (isa-3, 4.7); with tests of depth and stencil if the
 *                                        second operand, a constant, is not 0
 *    store_zs_agx(control, depth, -)     the same with the depth
 *    ddx, ddy                            of one component of 32 bits
 */
#ifndef CORTLAND_APPLE9_STAGES_H
#define CORTLAND_APPLE9_STAGES_H

#include "apple9.h"

#include "compiler/nir/nir_builder.h"

/* Words in root CORTLAND_ROOT_DRAW_PARAMETERS, in bytes. */
#define DRAW_BASE_VERTEX 0
#define DRAW_BASE_INSTANCE 4

/* Where an input or output is. */
struct apple9_place {
   unsigned slot, component;
};
struct apple9_place apple9_place_of(nir_intrinsic_instr *intrin);

/* Takes the stores of outputs out of the shader: each component goes where the callback says. */
void apple9_take_outputs(nir_builder *b,
                         nir_def **(*place_for)(void *outputs, nir_intrinsic_instr *store, struct apple9_place place),
                         void *outputs);

/* Words from what a root pointer points to. */
nir_def *apple9_load_root(nir_builder *b, enum cortland_root root, unsigned offset, unsigned words);

static inline void
apple9_swap(nir_def **a, nir_def **b)
{
   nir_def *old = *a;
   *a = *b;
   *b = old;
}

/* Words of a sample's record that the attachment takes. */
unsigned apple9_tile_words(const struct cortland_attachment *a);
bool apple9_is_integer_colour(const struct cortland_attachment *a);
/* Its numbers are of [0, 1] or [-1, 1]. */
bool apple9_is_normalized_colour(const struct cortland_attachment *a);
bool apple9_is_signed_colour(const struct cortland_attachment *a);
/* The bits of its words that hold these components. */
void apple9_tile_bits(const struct cortland_attachment *a, unsigned components, uint32_t bits[4]);
/* Between four components, of 32 bits, and the words. */
void apple9_pack_colour(nir_builder *b, const struct cortland_attachment *a, nir_def *const colour[4],
                        nir_def *words[4]);
void apple9_unpack_colour(nir_builder *b, const struct cortland_attachment *a, nir_def *const words[4],
                          nir_def *colour[4]);
/* The same as memory would have the colour, of which it holds fewer bits in some formats. The words are used up. */
void apple9_unpack_stored_colour(nir_builder *b, const struct cortland_attachment *a, nir_def *words[4],
                                 nir_def *colour[4]);
/* Words to words that hold the numbers of the format in memory, for logic operations, and back. */
void apple9_to_memory_bits(nir_builder *b, const struct cortland_attachment *a, nir_def *words[4]);
void apple9_from_memory_bits(nir_builder *b, const struct cortland_attachment *a, nir_def *words[4]);

/* Blending: of a colour, a second one, and what is there. */
void apple9_blend(nir_builder *b, const struct cortland_attachment *a, nir_def *const src[4], nir_def *const src1[4],
                  nir_def *const dst[4], nir_def *out[4]);
/* Of words; null if nothing changes. */
nir_def *apple9_logic_op(nir_builder *b, uint32_t op, nir_def *src, nir_def *dst);

/* Inputs of fragment shaders. `sample` is the sample that the shader runs for, or null; `coverage` the coverage register. */
struct apple9_sampling {
   unsigned samples;
   /* There is one invocation for each sample. */
   bool per_sample;
   nir_def *coverage;
};
void apple9_lower_fragment_inputs(nir_shader *shader, const struct apple9_sampling *sampling);
/* Where a sample is in its pixel. */
nir_def *apple9_sample_position(nir_builder *b, unsigned samples, nir_def *sample);

#endif
