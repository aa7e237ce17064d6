/* SPDX-License-Identifier: MIT */
/*
 * What the passes over textures and images share: where descriptors are, the tables of slots, and the form of a texture
 * instruction that the back end takes.
 *
 * That form is a nir_tex_instr with the op txf and a result of four words, whatever it does. The source backend1 holds
 * four words W0..W3 of the parameter block, backend2, if there is one, W4..W7; texture_index and sampler_index are slots of
 * the two tables; backend_flags says what to do, as below.
 */
#ifndef CORTLAND_APPLE9_TEXTURE_H
#define CORTLAND_APPLE9_TEXTURE_H

#include "apple9.h"

#include "compiler/nir/nir_builder.h"

/* Bytes 6 and 7 of the bundle (isa-3, 2.5), as its bits 0..15. */
enum apple9_texture_mode {
   APPLE9_2D = 0x0000,
   APPLE9_2D_LOD = 0x0100,
   APPLE9_2D_GRAD = 0x0104,
   APPLE9_2D_ARRAY_LOD = 0x0508,
   APPLE9_3D_LOD = 0x2188,
   APPLE9_CUBE_LOD = 0x0300,
   APPLE9_2D_BIAS = 0x0004,
   APPLE9_2D_ARRAY_BIAS = 0x040c,
   APPLE9_3D_BIAS = 0x0190,
   APPLE9_CUBE_BIAS = 0x0014,
   APPLE9_2D_FETCH = 0x2480,
   APPLE9_2D_ARRAY_FETCH = 0x24a0,
   APPLE9_3D_FETCH = 0x0198,
   APPLE9_2D_MS_FETCH = 0x1480,
   APPLE9_2D_MS_ARRAY_FETCH = 0x14a0,
   APPLE9_2D_OFFSET = 0x0201,
};
/* Compares with W2, where the mode allows it. */
#define APPLE9_COMPARE 0x0020u

/* Fetches, gathers and comparisons have kind 0. */
#define APPLE9_KIND_SAMPLE (1u << 16)
/* No bundle but the helper for cube maps: of the direction W0..W2, the largest magnitude, the face, and half of the two
 * other coordinates, signed. The upper half of the face is undefined. */
#define APPLE9_KIND_CUBE (3u << 16)
#define APPLE9_KIND(flags) ((flags) >> 16 & 3)
#define APPLE9_GATHER(component) (1u << 18 | (component) << 19)
#define APPLE9_OFFSET(x, y) (((x) & 15u) << 21 | ((y) & 15u) << 25)

/* Bytes within descriptors. */
#define TEXTURE_SIZE 32
#define TEXTURE_LAYERS 40
#define TEXTURE_LEVELS 44
#define TEXTURE_SAMPLES 48
#define TEXTURE_BORDER_SWIZZLE 52
#define TEXEL_BUFFER_ADDRESS 40
#define TEXEL_BUFFER_BYTES 48
#define COMBINED_SAMPLER 64
#define SAMPLER_WHITE_BORDER 32
#define SAMPLER_BIAS 40
#define SAMPLER_FLAGS 44
#define SAMPLER_CUSTOM_BORDER 48
#define SAMPLER_HAS_CUSTOM_BORDER 1u
#define SAMPLER_UNNORMALIZED 2u
/* Of its record's first word: either filter is linear (images, 4). */
#define SAMPLER_LINEAR (5u << 23)
#define IMAGE_ADDRESS 96

/* Texels in a row of a texel buffer's texture record. */
#define TEXEL_BUFFER_WIDTH_LOG2 10

/* A descriptor that an instruction names. */
struct apple9_resource {
   const nir_variable *variable;
   const struct cortland_binding *binding;
   /* Elements of the array as the shader declares it; zero if it does not say how many. */
   unsigned length;
   /* Bytes from the start of the descriptor: where the sampler of a combined one begins. */
   unsigned offset;
   /* The array element; constant if `element` is null. */
   nir_def *element;
   unsigned constant;
   /* The address of the descriptor, made where it is first wanted. */
   nir_def *address;
};

/* The address of the descriptor, or of the inline block, of an array element. */
nir_def *apple9_binding_address(nir_builder *b, const struct cortland_binding *binding, nir_def *element);

/* The descriptor that a dereference names, whose kind must be one of these two. */
struct apple9_resource apple9_resolve(nir_builder *b, nir_deref_instr *deref,
                                      const struct cortland_compute_lowering *lowering,
                                      enum cortland_binding_kind one, enum cortland_binding_kind other);

/* Words of a descriptor from a byte offset on. */
nir_def *apple9_load_descriptor(nir_builder *b, struct apple9_resource *resource, unsigned offset, unsigned words);

/* A texture instruction. `sampler` is null for fetches, which use the private sampler. W are four words or fewer; null
 * ones are not read. `gradients` has four words or is null. Array elements that are known at run time only become a tree of
 * branches. */
nir_def *apple9_texture(nir_builder *b, uint32_t flags, nir_def *const w[4], nir_def *gradients,
                        const struct apple9_resource *texture, const struct apple9_resource *sampler);

/* The four results of the helper for cube maps. */
nir_def *apple9_cube(nir_builder *b, nir_def *direction);

/* A fetch of integer coordinates, each of which may be null, from a level. */
struct apple9_texel {
   enum glsl_sampler_dim dim;
   bool array;
   bool is_integer;
   nir_def *x, *y, *z;
   /* Array layer, or layer-face. */
   nir_def *layer;
   nir_def *level;
   nir_def *sample;
};
nir_def *apple9_fetch(nir_builder *b, const struct apple9_texel *texel, struct apple9_resource *texture);

/* Loads four components in the format of a texture record, of which the first word is here, from a texel of so many
 * bytes. */
nir_def *apple9_load_any(nir_builder *b, nir_def *record, nir_def *bytes, nir_def *address, unsigned access);

/* Stores four components as the format of a texture record wants them. */
void apple9_store_any(nir_builder *b, nir_def *record, nir_def *bytes, nir_def *address, nir_def *value);

/* Filtering in the shader, for what the texture unit cannot do: gathers of arrays and cubes, offsets, cube arrays. */
struct apple9_filter {
   enum glsl_sampler_dim dim;
   bool array;
   bool is_integer;
   /* Coordinates as the program gives them, faces of cubes resolved: x, y, and z of 3D. */
   nir_def *coord[3];
   /* The layer, clamped; for cubes the layer of face 0. */
   nir_def *layer;
   nir_def *face;
   /* Whole texels, or null. */
   nir_def *offset[3];
   nir_def *reference;
   struct apple9_resource *texture, *sampler;
};
/* The colour of a sampler's border behind the swizzle of a texture's view; `preset` of its record or null, which is 0. */
void apple9_border(nir_builder *b, const struct apple9_filter *filter, nir_def *preset, nir_def *border[4]);
nir_def *apple9_filter(nir_builder *b, const struct apple9_filter *filter, nir_def *lod);
nir_def *apple9_gather(nir_builder *b, const struct apple9_filter *filter, unsigned component);

/* The mode of samples with a bias in W3. */
uint32_t apple9_bias_mode(enum glsl_sampler_dim dim, bool array);
/* The LOD that the quad's coordinates give, with the bias in `w3`: clamped to what there is, and as it is. */
nir_def *apple9_query_lod(nir_builder *b, const struct apple9_filter *filter, nir_def *w3);
/* The level or levels that a clamped LOD selects, by the flags of the sampler. */
nir_def *apple9_select_level(nir_builder *b, nir_def *lod, nir_def *flags);

#endif
