/* SPDX-License-Identifier: MIT */
/*
 * Texture instructions: from NIR's form with dereferences to that of the bundle (texture.h), a parameter block and
 * constants. nir_lower_tex has run before, so that there are no projections, no offsets on fetches, no four offsets, no
 * gradients of cubes and, outside of fragment shaders, no implicit LOD.
 *
 * 1D is 2D of height 1. Cube arrays are 2D arrays of six times as many layers, filtered across edges in the shader, with
 * a LOD from gradients of the direction: there is no proven form of theirs with a LOD (isa-3, 9.2). Explicit LOD and gradients get the sampler's
 * bias, which its record has no room for. What the unit has no proven form for is done otherwise: gradients of arrays
 * and 3D become a LOD; offsets, and gathers of arrays and cubes, are filtered in the shader (filter.c). Queries of sizes,
 * levels and samples read the descriptor.
 */
#include "texture.h"

#include "../unsupported.h"

struct sources {
   nir_def *coord, *comparator, *lod, *bias, *offset, *ms_index, *ddx, *ddy, *min_lod;
   nir_deref_instr *texture, *sampler;
};

static struct sources
sources_of(nir_tex_instr *tex)
{
   struct sources s = { 0 };
   for (unsigned i = 0; i < tex->num_srcs; i++) {
      nir_src *src = &tex->src[i].src;
      switch (tex->src[i].src_type) {
      case nir_tex_src_coord: s.coord = src->ssa; break;
      case nir_tex_src_comparator: s.comparator = src->ssa; break;
      case nir_tex_src_lod: s.lod = src->ssa; break;
      case nir_tex_src_bias: s.bias = src->ssa; break;
      case nir_tex_src_offset: s.offset = src->ssa; break;
      case nir_tex_src_ms_index: s.ms_index = src->ssa; break;
      case nir_tex_src_ddx: s.ddx = src->ssa; break;
      case nir_tex_src_ddy: s.ddy = src->ssa; break;
      case nir_tex_src_min_lod: s.min_lod = src->ssa; break;
      case nir_tex_src_texture_deref: s.texture = nir_src_as_deref(*src); break;
      case nir_tex_src_sampler_deref: s.sampler = nir_src_as_deref(*src); break;
      default: unsupported("a texture instruction with an operand of kind %u", tex->src[i].src_type);
      }
   }
   if (!s.texture)
      unsupported("a texture instruction without a texture");
   return s;
}

/* Coordinates that address texels or directions, without the layer. */
static unsigned
axes(enum glsl_sampler_dim dim)
{
   switch (dim) {
   case GLSL_SAMPLER_DIM_1D:
   case GLSL_SAMPLER_DIM_BUF:
      return 1;
   case GLSL_SAMPLER_DIM_2D:
   case GLSL_SAMPLER_DIM_MS:
      return 2;
   case GLSL_SAMPLER_DIM_3D:
   case GLSL_SAMPLER_DIM_CUBE:
      return 3;
   default:
      unsupported("a texture of dimension %u", dim);
   }
}

/* Of gradients and offsets: a cube has faces of two dimensions, but its gradients are of directions and gone by now. */
static unsigned
texel_axes(enum glsl_sampler_dim dim)
{
   return dim == GLSL_SAMPLER_DIM_CUBE ? 2 : axes(dim);
}

static void
replace(nir_tex_instr *tex, nir_builder *b, nir_def *result)
{
   nir_def_replace(&tex->def, nir_resize_vector(b, result, tex->def.num_components));
}

/* Texels along an axis on a level; a null descriptor has none. */
static nir_def *
minify(nir_builder *b, nir_def *size, nir_def *level)
{
   nir_def *small = nir_ushr(b, size, nir_umin(b, level, nir_imm_int(b, 31)));
   return nir_umax(b, small, nir_umin(b, size, nir_imm_int(b, 1)));
}

static nir_def *
size_query(nir_builder *b, nir_tex_instr *tex, const struct sources *src, struct apple9_resource *texture)
{
   if (tex->sampler_dim == GLSL_SAMPLER_DIM_BUF)
      return apple9_load_descriptor(b, texture, TEXTURE_SIZE, 1);
   nir_def *size = apple9_load_descriptor(b, texture, TEXTURE_SIZE, 3);
   unsigned count = texel_axes(tex->sampler_dim);
   nir_def *out[4];
   for (unsigned i = 0; i < count; i++) {
      out[i] = nir_channel(b, size, i);
      if (src->lod)
         out[i] = minify(b, out[i], src->lod);
   }
   if (tex->is_array)
      out[count++] = nir_channel(b, size, 2);
   return nir_vec(b, out, count);
}

/* A LOD or bias for bits 16..27 of W3 (isa-3, 2.2). */
static nir_def *
pack_lod(nir_builder *b, nir_def *lod)
{
   nir_def *clamped = nir_fmin(b, nir_fmax(b, lod, nir_imm_float(b, -32.0f)), nir_imm_float(b, 2047.0f / 64.0f));
   nir_def *fixed = nir_f2i32(b, nir_ffloor(b, nir_fmul_imm(b, clamped, 64.0)));
   return nir_ishl_imm(b, nir_iand_imm(b, fixed, 0xfff), 16);
}

/* The layer nearest to a coordinate, of those that there are. */
static nir_def *
round_layer(nir_builder *b, nir_def *coord, struct apple9_resource *texture)
{
   nir_def *layers = apple9_load_descriptor(b, texture, TEXTURE_LAYERS, 1);
   nir_def *layer = nir_f2u32(b, nir_fmax(b, nir_fround_even(b, coord), nir_imm_float(b, 0.0f)));
   nir_def *last = nir_umin(b, nir_iadd_imm(b, layers, -1), nir_imm_int(b, 0x7ff));
   return nir_umin(b, layer, last);
}

/* log2 of the longer of two gradients, in texels of the view's first level. */
static nir_def *
gradient_lod(nir_builder *b, enum glsl_sampler_dim dim, const struct sources *src, struct apple9_resource *texture)
{
   nir_def *size = apple9_load_descriptor(b, texture, TEXTURE_SIZE, axes(dim));
   nir_def *longest = NULL;
   nir_def *gradients[] = { src->ddx, src->ddy };
   for (unsigned g = 0; g < 2; g++) {
      nir_def *square = nir_imm_float(b, 0.0f);
      for (unsigned i = 0; i < axes(dim); i++) {
         nir_def *texels = nir_fmul(b, nir_channel(b, gradients[g], i), nir_u2f32(b, nir_channel(b, size, i)));
         square = nir_ffma(b, texels, texels, square);
      }
      longest = longest ? nir_fmax(b, longest, square) : square;
   }
   nir_def *lod = nir_fmul_imm(b, nir_flog2(b, longest), 0.5);
   return src->min_lod ? nir_fmax(b, lod, src->min_lod) : lod;
}

/* A coordinate in texels, where the sampler says that coordinates are, as one of a fraction. */
static void
normalize(nir_builder *b, struct apple9_resource *texture, nir_def *flags, nir_def **coord, unsigned count)
{
   nir_def *size = apple9_load_descriptor(b, texture, TEXTURE_SIZE, 2);
   nir_def *texels = nir_ine_imm(b, nir_iand_imm(b, flags, SAMPLER_UNNORMALIZED), 0);
   for (unsigned i = 0; i < count; i++) {
      nir_def *scale = nir_frcp(b, nir_u2f32(b, nir_channel(b, size, i)));
      coord[i] = nir_fmul(b, coord[i], nir_bcsel(b, texels, scale, nir_imm_float(b, 1.0f)));
   }
}

/* The reference of a comparison: clamped for fixed-point formats, which the texture record tells (images, 4.2). */
static nir_def *
reference_of(nir_builder *b, nir_def *reference, struct apple9_resource *texture)
{
   nir_def *type = nir_iand_imm(b, apple9_load_descriptor(b, texture, 0, 1), 7u << 13);
   return nir_bcsel(b, nir_ieq_imm(b, type, 0), nir_fsat(b, reference), reference);
}

/* The face of a cube and the coordinates on it (isa-3, 2.6). */
static nir_def *
resolve_cube(nir_builder *b, nir_def *coord, nir_def **out)
{
   nir_def *cube = apple9_cube(b, nir_trim_vector(b, coord, 3));
   nir_def *scale = nir_frcp(b, nir_channel(b, cube, 0));
   nir_def *half = nir_imm_float(b, 0.5f);
   for (unsigned i = 0; i < 2; i++)
      out[i] = nir_ffma(b, nir_channel(b, cube, 2 + i), scale, half);
   return nir_iand_imm(b, nir_channel(b, cube, 1), 0xffff);
}

/* What samples and gathers have in common. */
struct sampling {
   struct apple9_filter filter;
   /* Layer or face, for W3; null if there is none. */
   nir_def *layer;
};

/*
 * A bundle that names a sampler. If that may have a border colour of its own, its record has a transparent black border,
 * and where it does have one, a second bundle with a white border tells how much of each component is border (images, 4.3);
 * a comparison is filtered in the shader, as it has no such share. A gather gives one component four times.
 */
static nir_def *
with_border(nir_builder *b, uint32_t flags, nir_def *const w[4], nir_def *gradients, const struct sampling *s,
            nir_def *lod, int component, bool custom)
{
   const struct apple9_filter *f = &s->filter;
   nir_def *plain = apple9_texture(b, flags, w, gradients, f->texture, f->sampler);
   if (!custom)
      return plain;
   nir_def *has = nir_iand_imm(b, apple9_load_descriptor(b, f->sampler, SAMPLER_FLAGS, 1), SAMPLER_HAS_CUSTOM_BORDER);
   nir_if *nif = nir_push_if(b, nir_ine_imm(b, has, 0));
   nir_def *result;
   if (f->reference && component >= 0) {
      result = apple9_gather(b, f, component);
   } else if (f->reference && f->face) {
      /* Cubes have no border. */
      result = plain;
   } else if (f->reference) {
      result = apple9_filter(b, f, lod);
   } else {
      struct apple9_resource white = *f->sampler;
      white.offset += SAMPLER_WHITE_BORDER;
      nir_def *second = apple9_texture(b, flags, w, gradients, f->texture, &white);
      nir_def *border[4], *out[4];
      apple9_border(b, f, nir_imm_int(b, 0), border);
      for (unsigned i = 0; i < 4; i++) {
         nir_def *a = nir_channel(b, plain, i), *c = nir_channel(b, second, i);
         nir_def *colour = border[component >= 0 ? (unsigned)component : i];
         if (f->is_integer)
            out[i] = nir_bcsel(b, nir_ine(b, a, c), colour, a);
         else
            out[i] = nir_ffma(b, nir_fsub(b, c, a), colour, a);
      }
      result = nir_vec(b, out, 4);
   }
   nir_pop_if(b, nif);
   return nir_if_phi(b, result, plain);
}

static struct sampling
sampling_of(nir_builder *b, nir_tex_instr *tex, const struct sources *src, struct apple9_resource *texture,
            struct apple9_resource *sampler)
{
   enum glsl_sampler_dim dim = tex->sampler_dim;
   struct sampling s = {
      .filter = {
         .dim = dim,
         .array = tex->is_array,
         .is_integer = nir_alu_type_get_base_type(tex->dest_type) != nir_type_float,
         .texture = texture,
         .sampler = sampler,
      },
   };
   struct apple9_filter *f = &s.filter;
   if (dim == GLSL_SAMPLER_DIM_MS || dim == GLSL_SAMPLER_DIM_BUF)
      unsupported("sampling of a multisampled texture or a texel buffer");
   if (tex->is_array)
      f->layer = round_layer(b, nir_channel(b, src->coord, axes(dim)), texture);
   if (dim == GLSL_SAMPLER_DIM_CUBE) {
      f->face = resolve_cube(b, src->coord, f->coord);
      if (tex->is_array)
         f->layer = nir_imul_imm(b, f->layer, 6);
   } else {
      for (unsigned i = 0; i < axes(dim); i++)
         f->coord[i] = nir_channel(b, src->coord, i);
   }
   /* The middle of the only row. */
   if (dim == GLSL_SAMPLER_DIM_1D)
      f->coord[1] = nir_imm_float(b, 0.5f);
   s.layer = f->layer && f->face ? nir_iadd(b, f->layer, f->face) : f->layer ? f->layer : f->face;
   if (src->offset) {
      for (unsigned i = 0; i < texel_axes(dim); i++)
         f->offset[i] = nir_channel(b, src->offset, i);
   }
   if (tex->is_shadow)
      f->reference = reference_of(b, src->comparator, texture);
   return s;
}

/*
 * The nearest texel of a cube whose faces are together is on the face, even where the coordinate is on its edge: an array
 * of faces would wrap there as the sampler says. The unit takes the texel below the coordinate (images, 10, step 5), which this
 * one is within the last texel of, at the largest size as at any smaller.
 */
#define LAST_ON_FACE (1.0f - 0x1p-15f)

/* A sample of a cube array: by the unit if its sampler takes the nearest texel or keeps faces apart, so that neighbours of
 * a face are not needed. Integers are never filtered. */
static nir_def *
cube_array(nir_builder *b, const struct sampling *s, nir_def *const w[4], nir_def *lod)
{
   const struct apple9_filter *f = &s->filter;
   nir_def *record = apple9_load_descriptor(b, f->sampler, 0, 2);
   nir_def *linear = nir_ine_imm(b, nir_iand_imm(b, nir_channel(b, record, 0), SAMPLER_LINEAR), 0);
   nir_def *seams = nir_ige_imm(b, nir_channel(b, record, 1), 0);
   nir_def *filtered = NULL;
   nir_if *nif = NULL;
   if (!f->is_integer) {
      nif = nir_push_if(b, nir_iand(b, linear, seams));
      filtered = apple9_filter(b, f, lod);
      nir_push_else(b, nif);
   }
   uint32_t flags = APPLE9_2D_ARRAY_LOD | (f->reference ? APPLE9_COMPARE : APPLE9_KIND_SAMPLE);
   nir_def *on_face[4] = { [2] = w[2], [3] = w[3] };
   for (unsigned i = 0; i < 2; i++) {
      nir_def *within = nir_fmin(b, nir_fmax(b, w[i], nir_imm_float(b, 0.0f)), nir_imm_float(b, LAST_ON_FACE));
      on_face[i] = nir_bcsel(b, seams, within, w[i]);
   }
   nir_def *nearest = apple9_texture(b, flags, on_face, NULL, f->texture, f->sampler);
   if (!nif)
      return nearest;
   nir_pop_if(b, nif);
   return nir_if_phi(b, filtered, nearest);
}

static nir_def *
sample(nir_builder *b, nir_tex_instr *tex, const struct sources *src, struct apple9_resource *texture,
       struct apple9_resource *sampler, bool custom)
{
   enum glsl_sampler_dim dim = tex->sampler_dim;
   bool implicit = tex->op == nir_texop_tex || tex->op == nir_texop_txb;
   if (implicit && b->shader->info.stage != MESA_SHADER_FRAGMENT)
      unsupported("a texture instruction with an implicit LOD in this stage");
   struct sampling s = sampling_of(b, tex, src, texture, sampler);
   struct apple9_filter *f = &s.filter;

   bool flat = (dim == GLSL_SAMPLER_DIM_1D || dim == GLSL_SAMPLER_DIM_2D) && !tex->is_array;
   bool gradients = tex->op == nir_texop_txd && flat && !src->min_lod && !src->offset;
   nir_def *state = apple9_load_descriptor(b, sampler, SAMPLER_BIAS, 2);
   nir_def *bias = nir_channel(b, state, 0);
   if (src->bias)
      bias = nir_fadd(b, bias, src->bias);
   /* Samplers of unnormalised coordinates may be used with flat images and neither bias nor offset. */
   if (flat && (tex->op == nir_texop_txl || tex->op == nir_texop_tex) && !tex->is_shadow && !src->offset)
      normalize(b, texture, nir_channel(b, state, 1), f->coord, axes(dim));

   if (gradients) {
      nir_def *scale = nir_fexp2(b, bias);
      nir_def *w[8] = { f->coord[0], f->coord[1], f->reference };
      for (unsigned i = 0; i < 2; i++) {
         bool there = i < axes(dim);
         nir_def *zero = nir_imm_float(b, 0.0f);
         w[4 + 2 * i] = there ? nir_fmul(b, nir_channel(b, src->ddx, i), scale) : zero;
         w[5 + 2 * i] = there ? nir_fmul(b, nir_channel(b, src->ddy, i), scale) : zero;
      }
      uint32_t flags = tex->is_shadow ? APPLE9_2D_GRAD | APPLE9_COMPARE : APPLE9_2D_GRAD | APPLE9_KIND_SAMPLE;
      /* Only a comparison against a border wants to know. */
      nir_def *lod = custom && tex->is_shadow ? nir_fadd(b, gradient_lod(b, dim, src, texture), bias) : NULL;
      return with_border(b, flags, w, nir_vec(b, w + 4, 4), &s, lod, -1, custom);
   }

   nir_def *lod;
   /* The unit's own LOD is enough unless something else is to come of it. */
   bool biased = implicit && !src->offset && !src->min_lod;
   if (biased && !(custom && tex->is_shadow)) {
      lod = bias;
   } else if (implicit) {
      nir_def *w3 = pack_lod(b, bias);
      lod = nir_channel(b, apple9_query_lod(b, f, s.layer ? nir_ior(b, w3, s.layer) : w3), 1);
      if (src->min_lod)
         lod = nir_fmax(b, lod, src->min_lod);
      biased = false;
   } else {
      lod = nir_fadd(b, tex->op == nir_texop_txd ? gradient_lod(b, dim, src, texture) : src->lod, bias);
   }
   if (src->offset)
      return apple9_filter(b, f, lod);
   nir_def *w[4] = { f->coord[0], f->coord[1], dim == GLSL_SAMPLER_DIM_3D ? f->coord[2] : f->reference,
                     pack_lod(b, lod) };
   if (s.layer)
      w[3] = nir_ior(b, w[3], s.layer);
   if (dim == GLSL_SAMPLER_DIM_CUBE && tex->is_array)
      return cube_array(b, &s, w, lod);
   uint32_t mode = APPLE9_2D_LOD;
   if (tex->is_array)
      mode = APPLE9_2D_ARRAY_LOD;
   else if (dim == GLSL_SAMPLER_DIM_3D)
      mode = APPLE9_3D_LOD;
   else if (dim == GLSL_SAMPLER_DIM_CUBE)
      mode = APPLE9_CUBE_LOD;
   if (biased)
      mode = apple9_bias_mode(dim, tex->is_array);
   return with_border(b, mode | (tex->is_shadow ? APPLE9_COMPARE : APPLE9_KIND_SAMPLE), w, NULL, &s, lod, -1,
                      custom && dim != GLSL_SAMPLER_DIM_CUBE);
}

static nir_def *
lod_query(nir_builder *b, nir_tex_instr *tex, const struct sources *src, struct apple9_resource *texture,
          struct apple9_resource *sampler)
{
   struct sources flat = *src;
   /* There is no layer; any one does. */
   if (tex->is_array) {
      nir_def *coord[4];
      for (unsigned i = 0; i < axes(tex->sampler_dim); i++)
         coord[i] = nir_channel(b, src->coord, i);
      coord[axes(tex->sampler_dim)] = nir_imm_float(b, 0.0f);
      flat.coord = nir_vec(b, coord, axes(tex->sampler_dim) + 1);
   }
   flat.comparator = nir_imm_float(b, 0.0f);
   struct sampling s = sampling_of(b, tex, &flat, texture, sampler);
   nir_def *state = apple9_load_descriptor(b, sampler, SAMPLER_BIAS, 2);
   nir_def *w3 = pack_lod(b, nir_channel(b, state, 0));
   nir_def *lod = apple9_query_lod(b, &s.filter, s.layer ? nir_ior(b, w3, s.layer) : w3);
   nir_def *level = apple9_select_level(b, nir_channel(b, lod, 0), nir_channel(b, state, 1));
   return nir_vec2(b, level, nir_channel(b, lod, 1));
}

static nir_def *
gather(nir_builder *b, nir_tex_instr *tex, const struct sources *src, struct apple9_resource *texture,
       struct apple9_resource *sampler, bool custom)
{
   struct sampling s = sampling_of(b, tex, src, texture, sampler);
   struct apple9_filter *f = &s.filter;
   bool fixed = true;
   int offset[2] = { 0 };
   for (unsigned i = 0; src->offset && i < 2; i++) {
      nir_scalar value = nir_scalar_chase_movs(nir_get_scalar(src->offset, i));
      fixed &= nir_scalar_is_const(value) && nir_scalar_as_int(value) >= -8 && nir_scalar_as_int(value) <= 7;
      offset[i] = fixed ? nir_scalar_as_int(value) : 0;
   }
   /* Only 2D has a native form (isa-3, 2.7). */
   if (tex->sampler_dim != GLSL_SAMPLER_DIM_2D || tex->is_array || !fixed)
      return apple9_gather(b, f, tex->is_shadow ? 0 : tex->component);
   nir_def *w[4] = { f->coord[0], f->coord[1], f->reference };
   uint32_t flags = offset[0] || offset[1] ? APPLE9_2D_OFFSET : APPLE9_2D;
   flags |= APPLE9_GATHER(tex->is_shadow ? 0 : tex->component) | APPLE9_OFFSET(offset[0], offset[1]);
   return with_border(b, flags | (tex->is_shadow ? APPLE9_COMPARE : 0), w, NULL, &s, NULL,
                      tex->is_shadow ? 0 : tex->component, custom);
}

static nir_def *
fetch(nir_builder *b, nir_tex_instr *tex, const struct sources *src, struct apple9_resource *texture)
{
   enum glsl_sampler_dim dim = tex->sampler_dim;
   unsigned count = axes(dim);
   struct apple9_texel texel = {
      .dim = dim,
      .array = tex->is_array,
      .is_integer = nir_alu_type_get_base_type(tex->dest_type) != nir_type_float,
      .x = nir_channel(b, src->coord, 0),
      .y = count > 1 ? nir_channel(b, src->coord, 1) : NULL,
      .z = count > 2 ? nir_channel(b, src->coord, 2) : NULL,
      .layer = tex->is_array ? nir_channel(b, src->coord, count) : NULL,
      .level = src->lod,
      .sample = src->ms_index,
   };
   if (dim == GLSL_SAMPLER_DIM_CUBE)
      unsupported("a fetch from a cube");
   return apple9_fetch(b, &texel, texture);
}

/* Bits of the texture record that name the source of alpha, and their value for what is always one (images, 2). */
#define ALPHA_SHIFT 25
#define ALPHA_ONE 4u

/*
 * A texel of a buffer. What is beyond the end is zero, but for the alpha of formats that have none (Vulkan, "Out of bounds
 * accesses" of robustBufferAccess2); a null descriptor's alpha is zero.
 */
static nir_def *
fetch_from_buffer(nir_builder *b, const struct apple9_texel *texel, struct apple9_resource *texture)
{
   nir_def *inside = nir_ult(b, texel->x, apple9_load_descriptor(b, texture, TEXTURE_SIZE, 1));
   nir_def *row = nir_ushr_imm(b, texel->x, TEXEL_BUFFER_WIDTH_LOG2);
   nir_def *w[4] = {
      nir_iand_imm(b, texel->x, (1 << TEXEL_BUFFER_WIDTH_LOG2) - 1),
      nir_bcsel(b, inside, row, nir_imm_int(b, -1)),
      NULL,
      nir_imm_int(b, 0),
   };
   nir_def *colour = apple9_texture(b, APPLE9_2D_FETCH, w, NULL, texture, NULL);
   nir_def *source = nir_iand_imm(b, apple9_load_descriptor(b, texture, 0, 1), 7u << ALPHA_SHIFT);
   nir_def *one = texel->is_integer ? nir_imm_int(b, 1) : nir_imm_float(b, 1.0f);
   nir_def *beyond = nir_bcsel(b, nir_ieq_imm(b, source, ALPHA_ONE << ALPHA_SHIFT), one, nir_imm_int(b, 0));
   nir_def *alpha = nir_bcsel(b, inside, nir_channel(b, colour, 3), beyond);
   return nir_vector_insert_imm(b, colour, alpha, 3);
}

nir_def *
apple9_fetch(nir_builder *b, const struct apple9_texel *texel, struct apple9_resource *texture)
{
   nir_def *w[4] = { texel->x, texel->y ? texel->y : nir_imm_int(b, 0), texel->z };
   /* What does not fit must not reach other fields; it is outside of every image all the same. */
   nir_def *layer = texel->layer;
   switch (texel->dim) {
   case GLSL_SAMPLER_DIM_BUF:
      return fetch_from_buffer(b, texel, texture);
   case GLSL_SAMPLER_DIM_MS:
      w[2] = nir_ishl_imm(b, nir_iand_imm(b, texel->sample, 3), 12);
      if (layer)
         w[2] = nir_ior(b, w[2], nir_umin(b, layer, nir_imm_int(b, 0xfff)));
      return apple9_texture(b, layer ? APPLE9_2D_MS_ARRAY_FETCH : APPLE9_2D_MS_FETCH, w, NULL, texture, NULL);
   default:
      break;
   }
   w[3] = nir_imm_int(b, 0);
   if (texel->level)
      w[3] = nir_ishl_imm(b, nir_umin(b, texel->level, nir_imm_int(b, 31)), 22);
   if (layer)
      w[3] = nir_ior(b, w[3], nir_umin(b, layer, nir_imm_int(b, 0xffff)));
   uint32_t mode = APPLE9_2D_FETCH;
   if (layer)
      mode = APPLE9_2D_ARRAY_FETCH;
   else if (texel->dim == GLSL_SAMPLER_DIM_3D)
      mode = APPLE9_3D_FETCH;
   return apple9_texture(b, mode, w, NULL, texture, NULL);
}

/* Implicit LOD of cube arrays becomes gradients, of which nir_lower_tex makes a LOD. */
static bool
cube_array_gradients(nir_builder *b, nir_instr *instr, void *data)
{
   if (instr->type != nir_instr_type_tex || b->shader->info.stage != MESA_SHADER_FRAGMENT)
      return false;
   nir_tex_instr *tex = nir_instr_as_tex(instr);
   if (tex->sampler_dim != GLSL_SAMPLER_DIM_CUBE || !tex->is_array || (tex->op != nir_texop_tex && tex->op != nir_texop_txb))
      return false;
   b->cursor = nir_before_instr(instr);
   nir_def *direction = nir_trim_vector(b, sources_of(tex).coord, 3);
   nir_def *ddx = nir_ddx(b, direction), *ddy = nir_ddy(b, direction);
   nir_def *bias = nir_steal_tex_src(tex, nir_tex_src_bias);
   if (bias) {
      nir_def *scale = nir_replicate(b, nir_fexp2(b, bias), 3);
      ddx = nir_fmul(b, ddx, scale);
      ddy = nir_fmul(b, ddy, scale);
   }
   nir_tex_instr_add_src(tex, nir_tex_src_ddx, ddx);
   nir_tex_instr_add_src(tex, nir_tex_src_ddy, ddy);
   tex->op = nir_texop_txd;
   return true;
}

static bool
lower(nir_builder *b, nir_instr *instr, void *data)
{
   if (instr->type != nir_instr_type_tex)
      return false;
   nir_tex_instr *tex = nir_instr_as_tex(instr);
   if (nir_tex_instr_src_index(tex, nir_tex_src_backend1) >= 0)
      return false;
   if (tex->is_sparse)
      unsupported("residency of sparse textures");
   b->cursor = nir_before_instr(instr);
   const struct cortland_compute_lowering *lowering = data;
   const struct sources src = sources_of(tex);
   const bool buffer = tex->sampler_dim == GLSL_SAMPLER_DIM_BUF;
   struct apple9_resource sampler = { 0 }, texture = apple9_resolve(
      b, src.texture, lowering, buffer ? CORTLAND_BINDING_UNIFORM_TEXEL_BUFFER : CORTLAND_BINDING_TEXTURE,
      buffer ? CORTLAND_BINDING_UNIFORM_TEXEL_BUFFER : CORTLAND_BINDING_COMBINED_IMAGE_SAMPLER);
   nir_def *result;
   switch (tex->op) {
   case nir_texop_txs:
      result = size_query(b, tex, &src, &texture);
      break;
   case nir_texop_query_levels:
      result = apple9_load_descriptor(b, &texture, TEXTURE_LEVELS, 1);
      break;
   case nir_texop_texture_samples:
      result = apple9_load_descriptor(b, &texture, TEXTURE_SAMPLES, 1);
      break;
   case nir_texop_txf:
   case nir_texop_txf_ms:
      result = fetch(b, tex, &src, &texture);
      break;
   case nir_texop_tex:
   case nir_texop_txb:
   case nir_texop_txl:
   case nir_texop_txd:
   case nir_texop_tg4:
   case nir_texop_lod:
      if (!src.sampler)
         unsupported("a texture instruction without a sampler");
      sampler = apple9_resolve(b, src.sampler, lowering, CORTLAND_BINDING_SAMPLER,
                               CORTLAND_BINDING_COMBINED_IMAGE_SAMPLER);
      if (sampler.binding == texture.binding && src.sampler == src.texture)
         sampler.element = texture.element;
      if (sampler.binding->kind == CORTLAND_BINDING_COMBINED_IMAGE_SAMPLER)
         sampler.offset = COMBINED_SAMPLER;
      if (tex->op == nir_texop_lod) {
         result = lod_query(b, tex, &src, &texture, &sampler);
         break;
      }
      result = tex->op == nir_texop_tg4 ? gather(b, tex, &src, &texture, &sampler, lowering->custom_border_colors)
                                        : sample(b, tex, &src, &texture, &sampler, lowering->custom_border_colors);
      break;
   default:
      unsupported("the texture operation %u of NIR", tex->op);
   }
   replace(tex, b, result);
   return true;
}

bool
apple9_lower_textures(nir_shader *shader, const struct cortland_compute_lowering *lowering)
{
   const nir_lower_tex_options options = {
      .lower_txp = ~0u,
      .lower_txp_array = true,
      .lower_txf_offset = true,
      .lower_txd_cube_map = true,
      .lower_tg4_offsets = true,
      .lower_invalid_implicit_lod = true,
   };
   bool progress = nir_shader_instructions_pass(shader, cube_array_gradients, nir_metadata_control_flow, NULL);
   progress |= nir_lower_tex(shader, &options);
   /* It gives what has none a LOD, and looks at one instruction once only. */
   progress |= nir_lower_tex(shader, &options);
   progress |= nir_shader_instructions_pass(shader, lower, nir_metadata_none, (void *)lowering);
   return progress;
}
