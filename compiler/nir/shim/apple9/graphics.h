/* SPDX-License-Identifier: MIT */
/*
 * What the lowering of vertex and fragment shaders takes and gives. The numbers of factors and operations are Vulkan's.
 */
#ifndef CORTLAND_APPLE9_GRAPHICS_H
#define CORTLAND_APPLE9_GRAPHICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CORTLAND_MOST_ATTACHMENTS 8

/* What the bits of a vertex attribute mean. */
enum cortland_numeric {
   CORTLAND_NUMERIC_UNORM,
   CORTLAND_NUMERIC_SNORM,
   CORTLAND_NUMERIC_USCALED,
   CORTLAND_NUMERIC_SSCALED,
   CORTLAND_NUMERIC_UINT,
   CORTLAND_NUMERIC_SINT,
   CORTLAND_NUMERIC_FLOAT,
};

enum cortland_packing {
   /* Components of equal width, R first. */
   CORTLAND_PACKING_NONE,
   /* The same, B first and R third. */
   CORTLAND_PACKING_BGR,
   CORTLAND_PACKING_A2B10G10R10,
   CORTLAND_PACKING_A2R10G10B10,
   CORTLAND_PACKING_B10G11R11,
};

struct cortland_attribute {
   uint32_t location, binding, offset;
   uint32_t numeric, components, bits, packing;
   bool instanced;
   uint32_t divisor;
};

struct cortland_vertex_lowering {
   const struct cortland_attribute *attributes;
   size_t num_attributes;
   /* Location | component << 8, in the order of the outputs. Without them all that is written is. */
   bool has_varyings;
   const uint32_t *varyings;
   size_t num_varyings;
   bool point_size;
   /* The shader is of one view, which is the layer too. */
   bool has_view;
   uint32_t view;
};

enum cortland_colour {
   CORTLAND_COLOUR_UNORM8,
   CORTLAND_COLOUR_SNORM8,
   CORTLAND_COLOUR_SRGB8,
   CORTLAND_COLOUR_UINT8,
   CORTLAND_COLOUR_SINT8,
   CORTLAND_COLOUR_UINT16,
   CORTLAND_COLOUR_SINT16,
   CORTLAND_COLOUR_FLOAT16,
   CORTLAND_COLOUR_UINT32,
   CORTLAND_COLOUR_SINT32,
   CORTLAND_COLOUR_FLOAT32,
   CORTLAND_COLOUR_UNORM16,
   CORTLAND_COLOUR_SNORM16,
   CORTLAND_COLOUR_UNORM565,
   CORTLAND_COLOUR_UNORM5551,
   CORTLAND_COLOUR_UNORM4444,
   CORTLAND_COLOUR_A2B10G10R10_UNORM,
   CORTLAND_COLOUR_A2R10G10B10_UNORM,
   CORTLAND_COLOUR_UINT10_A2,
   CORTLAND_COLOUR_B10G11R11_FLOAT,
};

enum cortland_factor {
   CORTLAND_FACTOR_ZERO,
   CORTLAND_FACTOR_ONE,
   CORTLAND_FACTOR_SRC_COLOUR,
   CORTLAND_FACTOR_ONE_MINUS_SRC_COLOUR,
   CORTLAND_FACTOR_DST_COLOUR,
   CORTLAND_FACTOR_ONE_MINUS_DST_COLOUR,
   CORTLAND_FACTOR_SRC_ALPHA,
   CORTLAND_FACTOR_ONE_MINUS_SRC_ALPHA,
   CORTLAND_FACTOR_DST_ALPHA,
   CORTLAND_FACTOR_ONE_MINUS_DST_ALPHA,
   CORTLAND_FACTOR_CONSTANT_COLOUR,
   CORTLAND_FACTOR_ONE_MINUS_CONSTANT_COLOUR,
   CORTLAND_FACTOR_CONSTANT_ALPHA,
   CORTLAND_FACTOR_ONE_MINUS_CONSTANT_ALPHA,
   CORTLAND_FACTOR_SRC_ALPHA_SATURATE,
   CORTLAND_FACTOR_SRC1_COLOUR,
   CORTLAND_FACTOR_ONE_MINUS_SRC1_COLOUR,
   CORTLAND_FACTOR_SRC1_ALPHA,
   CORTLAND_FACTOR_ONE_MINUS_SRC1_ALPHA,
};

enum cortland_blend_op {
   CORTLAND_BLEND_ADD,
   CORTLAND_BLEND_SUBTRACT,
   CORTLAND_BLEND_REVERSE_SUBTRACT,
   CORTLAND_BLEND_MIN,
   CORTLAND_BLEND_MAX,
};

enum cortland_logic_op {
   CORTLAND_LOGIC_CLEAR,
   CORTLAND_LOGIC_AND,
   CORTLAND_LOGIC_AND_REVERSE,
   CORTLAND_LOGIC_COPY,
   CORTLAND_LOGIC_AND_INVERTED,
   CORTLAND_LOGIC_NO_OP,
   CORTLAND_LOGIC_XOR,
   CORTLAND_LOGIC_OR,
   CORTLAND_LOGIC_NOR,
   CORTLAND_LOGIC_EQUIVALENT,
   CORTLAND_LOGIC_INVERT,
   CORTLAND_LOGIC_OR_REVERSE,
   CORTLAND_LOGIC_COPY_INVERTED,
   CORTLAND_LOGIC_OR_INVERTED,
   CORTLAND_LOGIC_NAND,
   CORTLAND_LOGIC_SET,
};

struct cortland_blend_equation {
   uint32_t op, src, dst;
};

struct cortland_attachment {
   bool present;
   uint32_t encoding, components;
   uint32_t word;
   uint32_t write_mask;
   bool blends;
   struct cortland_blend_equation colour, alpha;
};

/* An input attachment that is a colour attachment in the tile: of this pass of the hardware, but not always of the shader's
 * own outputs. */
struct cortland_tile_input {
   uint32_t index;
   struct cortland_attachment held;
};

struct cortland_fragment_lowering {
   uint32_t samples;
   struct cortland_attachment attachments[CORTLAND_MOST_ATTACHMENTS];
   const struct cortland_tile_input *inputs;
   size_t num_inputs;
   bool sample_shading, alpha_to_coverage, alpha_to_one;
   uint32_t sample_mask;
   bool has_logic_op;
   uint32_t logic_op;
   bool full_coverage;
   /* The shader is of one view. */
   bool has_view;
   uint32_t view;
};

/* What a lowered shader says about itself. */

/* Of a vertex shader. */
#define CORTLAND_VERTEX_POINT_SIZE 1u
#define CORTLAND_VERTEX_LAYER 2u
#define CORTLAND_VERTEX_VIEWPORT 4u
#define CORTLAND_VERTEX_DRAW_PARAMETERS 8u

/* Of a fragment shader. */
#define CORTLAND_FRAGMENT_Z 1u
#define CORTLAND_FRAGMENT_POINT_COORD 2u
#define CORTLAND_FRAGMENT_PRIMITIVE_ID 4u
#define CORTLAND_FRAGMENT_LATE_TESTS 8u
#define CORTLAND_FRAGMENT_WRITES_DEPTH 16u
#define CORTLAND_FRAGMENT_READS_TILE 32u
#define CORTLAND_FRAGMENT_NEEDS_HELPERS 64u
#define CORTLAND_FRAGMENT_SIDE_EFFECTS 128u
#define CORTLAND_FRAGMENT_EARLY_TESTS 256u
#define CORTLAND_FRAGMENT_WRITES_COLOUR 512u
#define CORTLAND_FRAGMENT_PER_SAMPLE 1024u
#define CORTLAND_FRAGMENT_LAYER 2048u
#define CORTLAND_FRAGMENT_SAMPLE_MASK_IN 4096u

enum cortland_varying_mode {
   CORTLAND_VARYING_SMOOTH,
   CORTLAND_VARYING_FLAT,
   CORTLAND_VARYING_LINEAR,
};

/* Locations of varyings that are no user's: clip distances, four at each; the index of the viewport. */
#define CORTLAND_LOCATION_CLIP_DISTANCE 64u
#define CORTLAND_LOCATION_VIEWPORT 66u
#define CORTLAND_LOCATIONS 67u
#define CORTLAND_MOST_VARYINGS 124u

struct apple9_stage_info {
   uint32_t flags;
   /* Vertex: words in all, user scalars, clip distances. */
   uint32_t outputs, user_scalars, clip_distances;
   /* Fragment: an enum gl_frag_depth_layout; location | component << 8 | mode << 16 of each scalar. */
   uint32_t depth_layout;
   uint32_t num_varyings;
   uint32_t varyings[CORTLAND_MOST_VARYINGS];
};

#endif
