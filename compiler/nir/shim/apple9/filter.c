/* SPDX-License-Identifier: MIT */
/*
 * Filtering in the shader, of texels that it fetches: for offsets on samples, for gathers of arrays and cubes, and for cube
 * arrays, whose faces the unit takes for layers without neighbours; it has no proven form for any of them. By the rules of
 * images, 10: level and filter by the LOD; texel coordinates, to which offsets are added; wrapping; comparison or border;
 * weights in x, then y, then z, then between levels. The sampler's record says how, at run time. Anisotropy is left out.
 */
#include "texture.h"

#include "../unsupported.h"

/* Fields of a sampler's record (images, 4) and of a texture's. */
struct state {
   nir_def *min_lod, *max_lod, *mag_linear, *min_linear, *mip, *wrap[3], *compare;
   /* Each face of a cube is for itself, with edges as 2D images have. */
   nir_def *no_seams;
   /* What texels outside become. */
   nir_def *border[4];
   nir_def *size, *levels;
};

static nir_def *
bits(nir_builder *b, nir_def *word, unsigned first, unsigned count)
{
   return nir_iand_imm(b, nir_ushr_imm(b, word, first), (1u << count) - 1);
}

/* Presets 1 and 2 have an alpha of one, 2 all else as well. */
void
apple9_border(nir_builder *b, const struct apple9_filter *f, nir_def *preset, nir_def *border[4])
{
   nir_def *one = f->is_integer ? nir_imm_int(b, 1) : nir_imm_float(b, 1.0f);
   nir_def *zero = nir_imm_int(b, 0);
   nir_def *colour = nir_bcsel(b, nir_ieq_imm(b, preset, 2), one, zero);
   nir_def *alpha = nir_bcsel(b, nir_ieq_imm(b, nir_iand_imm(b, nir_iadd_imm(b, preset, 1), 2), 0), zero, one);
   nir_def *flags = apple9_load_descriptor(b, f->sampler, SAMPLER_FLAGS, 1);
   nir_def *custom = apple9_load_descriptor(b, f->sampler, SAMPLER_CUSTOM_BORDER, 4);
   nir_def *has_custom = nir_ine_imm(b, nir_iand_imm(b, flags, SAMPLER_HAS_CUSTOM_BORDER), 0);
   nir_def *rgba[4];
   for (unsigned i = 0; i < 4; i++)
      rgba[i] = nir_bcsel(b, has_custom, nir_channel(b, custom, i), i == 3 ? alpha : colour);
   /* That of the record has components in memory's order. */
   nir_def *order = apple9_load_descriptor(b, f->texture, TEXTURE_BORDER_SWIZZLE, 1);
   for (unsigned i = 0; i < 4; i++) {
      nir_def *swizzle = bits(b, order, 3 * i, 3);
      nir_def *value = nir_bcsel(b, nir_ieq_imm(b, swizzle, 4), one, zero);
      for (unsigned c = 0; c < 4; c++)
         value = nir_bcsel(b, nir_ieq_imm(b, swizzle, c), rgba[c], value);
      border[i] = value;
   }
}

static struct state
load_state(nir_builder *b, const struct apple9_filter *f)
{
   nir_def *record = apple9_load_descriptor(b, f->sampler, 0, 2);
   nir_def *low = nir_channel(b, record, 0), *high = nir_channel(b, record, 1);
   struct state s = {
      .min_lod = nir_fmul_imm(b, nir_u2f32(b, bits(b, low, 0, 10)), 1.0 / 64),
      .max_lod = nir_fmul_imm(b, nir_u2f32(b, bits(b, low, 10, 10)), 1.0 / 64),
      .mag_linear = nir_ine_imm(b, bits(b, low, 23, 1), 0),
      .min_linear = nir_ine_imm(b, bits(b, low, 25, 1), 0),
      .mip = bits(b, low, 27, 2),
      .wrap = { bits(b, low, 29, 3), bits(b, high, 0, 3), bits(b, high, 3, 3) },
      .compare = bits(b, high, 7, 4),
      .no_seams = nir_ilt_imm(b, high, 0),
      .size = apple9_load_descriptor(b, f->texture, TEXTURE_SIZE, 3),
      .levels = apple9_load_descriptor(b, f->texture, TEXTURE_LEVELS, 1),
   };
   apple9_border(b, f, bits(b, high, 29, 2), s.border);
   return s;
}

static unsigned
axes(const struct apple9_filter *f)
{
   switch (f->dim) {
   case GLSL_SAMPLER_DIM_1D: return 1;
   case GLSL_SAMPLER_DIM_3D: return 3;
   default: return 2;
   }
}

/* i modulo n, at least 0, of whole numbers below 2^24. */
static nir_def *
modulo(nir_builder *b, nir_def *i, nir_def *n)
{
   nir_def *quotient = nir_ffloor(b, nir_fmul(b, i, nir_frcp(b, n)));
   nir_def *rest = nir_ffma(b, nir_fneg(b, quotient), n, i);
   /* The quotient may be one off. */
   rest = nir_bcsel(b, nir_flt_imm(b, rest, 0.0), nir_fadd(b, rest, n), rest);
   return nir_bcsel(b, nir_fge(b, rest, n), nir_fsub(b, rest, n), rest);
}

/* A texel's place on an axis. */
struct place {
   nir_def *index, *outside;
};

/* Wrap a whole number i to 0 .. n - 1 by a code of images, 4.1. */
static struct place
wrap(nir_builder *b, nir_def *code, nir_def *i, nir_def *n)
{
   nir_def *zero = nir_imm_float(b, 0.0f);
   nir_def *last = nir_fadd_imm(b, n, -1.0);
   nir_def *twice = modulo(b, i, nir_fmul_imm(b, n, 2.0));
   nir_def *mirrored = nir_fmin(b, twice, nir_fsub(b, nir_ffma_imm12(b, n, 2.0, -1.0), twice));
   nir_def *once = nir_fmax(b, i, nir_fsub(b, nir_imm_float(b, -1.0f), i));
   nir_def *at = nir_bcsel(b, nir_ieq_imm(b, code, 5), once, i);
   at = nir_bcsel(b, nir_ieq_imm(b, code, 1), modulo(b, i, n), at);
   at = nir_bcsel(b, nir_ieq_imm(b, code, 2), mirrored, at);
   nir_def *beyond = nir_ior(b, nir_flt(b, i, zero), nir_fge(b, i, n));
   return (struct place){
      .index = nir_f2i32(b, nir_fmin(b, nir_fmax(b, at, zero), last)),
      .outside = nir_iand(b, nir_ieq_imm(b, code, 3), beyond),
   };
}

/* Texels of a level along an axis, as a float. */
static nir_def *
level_size(nir_builder *b, const struct state *s, unsigned axis, nir_def *level)
{
   nir_def *size = nir_channel(b, s->size, axis);
   return nir_u2f32(b, nir_umax(b, nir_ushr(b, size, level), nir_imm_int(b, 1)));
}

/* `reference FUNC texel` as 1.0 or 0.0. Codes 8 to 15: <=, >=, <, >, ==, !=, always, never (images, 4.2). */
static nir_def *
compare(nir_builder *b, const struct state *s, nir_def *reference, nir_def *texel)
{
   /* For each function, which of less (1), equal (2), greater (4) and unordered (8) it holds for. */
   static const uint32_t holds[8] = { 3, 6, 1, 4, 2, 13, 15, 0 };
   uint32_t table = 0;
   for (unsigned i = 0; i < 8; i++)
      table |= holds[i] << 4 * i;
   nir_def *order = nir_imm_int(b, 8);
   order = nir_bcsel(b, nir_flt(b, reference, texel), nir_imm_int(b, 1), order);
   order = nir_bcsel(b, nir_feq(b, reference, texel), nir_imm_int(b, 2), order);
   order = nir_bcsel(b, nir_flt(b, texel, reference), nir_imm_int(b, 4), order);
   nir_def *function = nir_ishl_imm(b, nir_iand_imm(b, s->compare, 7), 2);
   nir_def *set = nir_iand(b, nir_ushr(b, nir_imm_int(b, table), function), order);
   return nir_b2f32(b, nir_ine_imm(b, set, 0));
}

/* One texel: its colour behind border and comparison. */
static nir_def *
tap(nir_builder *b, const struct apple9_filter *f, const struct state *s, const struct place place[3], nir_def *level)
{
   struct apple9_texel texel = {
      .dim = f->dim,
      .array = f->array,
      .x = place[0].index,
      .y = axes(f) > 1 ? place[1].index : NULL,
      .z = axes(f) > 2 ? place[2].index : NULL,
      .layer = f->layer,
      .level = level,
   };
   nir_def *colour = apple9_fetch(b, &texel, f->texture);
   nir_def *outside = place[0].outside;
   for (unsigned i = 1; i < axes(f); i++)
      outside = nir_ior(b, outside, place[i].outside);
   nir_def *out[4];
   for (unsigned i = 0; i < 4; i++)
      out[i] = nir_bcsel(b, outside, s->border[i], nir_channel(b, colour, i));
   if (f->reference) {
      out[0] = compare(b, s, f->reference, out[0]);
      return nir_vec4(b, out[0], out[0], out[0], out[0]);
   }
   return nir_vec(b, out, 4);
}

/* The direction that a place on a face of a cube lies in; coordinates from -1 to 1 on the face. Faces: 0 +X (-z, -y),
 * 1 -X (z, -y), 2 +Y (x, z), 3 -Y (x, -z), 4 +Z (x, -y), 5 -Z (-x, -y) (isa-3, 2.6). */
static nir_def *
direction(nir_builder *b, nir_def *face, nir_def *s, nir_def *t)
{
   nir_def *one = nir_imm_float(b, 1.0f), *minus = nir_imm_float(b, -1.0f);
   nir_def *ns = nir_fneg(b, s), *nt = nir_fneg(b, t);
   nir_def *const faces[6][3] = { { one, nt, ns }, { minus, nt, s }, { s, one, t },
                                  { s, minus, nt }, { s, nt, one },   { ns, nt, minus } };
   nir_def *out[3];
   for (unsigned i = 0; i < 3; i++) {
      out[i] = faces[5][i];
      for (unsigned n = 0; n < 5; n++)
         out[i] = nir_bcsel(b, nir_ieq_imm(b, face, n), faces[n][i], out[i]);
   }
   return nir_vec(b, out, 3);
}

/* A texel of a cube: those beyond an edge are on the next face, where the line through them from the middle meets it. */
static nir_def *
cube_tap(nir_builder *b, const struct apple9_filter *f, const struct state *s, nir_def *x, nir_def *y, nir_def *size,
         nir_def *level)
{
   nir_def *scale = nir_frcp(b, size);
   nir_def *at[] = { x, y }, *side[2];
   for (unsigned i = 0; i < 2; i++) {
      nir_def *middle = nir_ffma_imm12(b, at[i], 2.0, 1.0);
      side[i] = nir_ffma(b, middle, scale, nir_imm_float(b, -1.0f));
   }
   nir_def *cube = apple9_cube(b, direction(b, f->face, side[0], side[1]));
   nir_def *inside = nir_iand(b, nir_iand(b, nir_fge(b, x, nir_imm_float(b, 0.0f)), nir_flt(b, x, size)),
                              nir_iand(b, nir_fge(b, y, nir_imm_float(b, 0.0f)), nir_flt(b, y, size)));
   inside = nir_ior(b, inside, s->no_seams);
   nir_def *face = nir_bcsel(b, inside, f->face, nir_iand_imm(b, nir_channel(b, cube, 1), 0xffff));
   nir_def *per_axis = nir_frcp(b, nir_channel(b, cube, 0));
   nir_def *texel[2], *outside = nir_imm_false(b);
   for (unsigned i = 0; i < 2; i++) {
      struct place own = wrap(b, s->wrap[i], at[i], size);
      outside = nir_ior(b, outside, nir_iand(b, own.outside, s->no_seams));
      nir_def *u = nir_ffma(b, nir_channel(b, cube, 2 + i), per_axis, nir_imm_float(b, 0.5f));
      nir_def *last = nir_fadd_imm(b, size, -1.0);
      u = nir_fmin(b, nir_fmax(b, nir_ffloor(b, nir_fmul(b, u, size)), nir_imm_float(b, 0.0f)), last);
      texel[i] = nir_bcsel(b, inside, own.index, nir_f2i32(b, u));
   }
   struct apple9_texel fetch = {
      .dim = f->dim,
      .array = true,
      .x = texel[0],
      .y = texel[1],
      .layer = f->layer ? nir_iadd(b, f->layer, face) : face,
      .level = level,
   };
   nir_def *colour = apple9_fetch(b, &fetch, f->texture);
   colour = nir_bcsel(b, outside, nir_vec(b, (nir_def **)s->border, 4), colour);
   return f->reference ? compare(b, s, f->reference, nir_channel(b, colour, 0)) : colour;
}

/* Which of four taps, in the order of the API for gathers, is which: (0, 1), (1, 1), (1, 0), (0, 0). */
static const uint8_t corners[4][2] = { { 0, 1 }, { 1, 1 }, { 1, 0 }, { 0, 0 } };

/* The texel behind a corner of a cube is on no face: it is the average of the three around it. */
static void
average_corner(nir_builder *b, const struct state *s, nir_def *const low[2], nir_def *const high[2],
               nir_def *const size[2], nir_def *taps[4])
{
   nir_def *beyond[2][2], *out[4];
   for (unsigned i = 0; i < 2; i++) {
      beyond[i][0] = nir_flt_imm(b, low[i], 0.0);
      beyond[i][1] = nir_fge(b, high[i], size[i]);
   }
   for (unsigned i = 0; i < 4; i++) {
      nir_def *others = nir_fadd(b, nir_fadd(b, taps[(i + 1) % 4], taps[(i + 2) % 4]), taps[(i + 3) % 4]);
      nir_def *corner = nir_iand(b, beyond[0][corners[i][0]], beyond[1][corners[i][1]]);
      corner = nir_iand(b, corner, nir_inot(b, s->no_seams));
      out[i] = nir_bcsel(b, corner, nir_fmul_imm(b, others, 1.0 / 3), taps[i]);
   }
   for (unsigned i = 0; i < 4; i++)
      taps[i] = out[i];
}

/* A mix of two colours; what has no weight must not count if it is no number. */
static nir_def *
mix(nir_builder *b, nir_def *a, nir_def *c, nir_def *weight)
{
   nir_def *mixed = nir_ffma(b, nir_replicate(b, weight, a->num_components), nir_fsub(b, c, a), a);
   return nir_bcsel(b, nir_feq_imm(b, weight, 0.0), a, mixed);
}

/* A level of a cube, filtered across its edges. */
static nir_def *
filter_cube_level(nir_builder *b, const struct apple9_filter *f, const struct state *s, nir_def *linear, nir_def *level)
{
   nir_def *size[2], *low[2], *high[2], *weight[2], *taps[4];
   for (unsigned i = 0; i < 2; i++) {
      size[i] = level_size(b, s, i, level);
      nir_def *u = nir_fmul(b, f->coord[i], size[i]);
      nir_def *last = nir_fadd_imm(b, size[i], -1.0);
      nir_def *nearest = nir_fmin(b, nir_fmax(b, nir_ffloor(b, u), nir_imm_float(b, 0.0f)), last);
      u = nir_fadd_imm(b, u, -0.5);
      low[i] = nir_bcsel(b, linear, nir_ffloor(b, u), nearest);
      high[i] = nir_bcsel(b, linear, nir_fadd_imm(b, low[i], 1.0), nearest);
      weight[i] = nir_bcsel(b, linear, nir_fsub(b, u, low[i]), nir_imm_float(b, 0.0f));
   }
   for (unsigned i = 0; i < 4; i++) {
      nir_def *const at[2][2] = { { low[0], high[0] }, { low[1], high[1] } };
      taps[i] = cube_tap(b, f, s, at[0][corners[i][0]], at[1][corners[i][1]], size[0], level);
   }
   average_corner(b, s, low, high, size, taps);
   nir_def *colour = mix(b, mix(b, taps[3], taps[2], weight[0]), mix(b, taps[0], taps[1], weight[0]), weight[1]);
   return f->reference ? nir_replicate(b, colour, 4) : colour;
}

/* A level, filtered. */
static nir_def *
filter_level(nir_builder *b, const struct apple9_filter *f, const struct state *s, nir_def *linear, nir_def *level)
{
   if (f->face)
      return filter_cube_level(b, f, s, linear, level);
   unsigned count = axes(f);
   struct place low[3], high[3];
   nir_def *weight[3];
   for (unsigned i = 0; i < count; i++) {
      nir_def *size = level_size(b, s, i, level);
      nir_def *u = nir_fmul(b, f->coord[i], size);
      u = nir_bcsel(b, linear, nir_fadd_imm(b, u, -0.5), u);
      nir_def *first = nir_ffloor(b, u);
      weight[i] = nir_bcsel(b, linear, nir_fsub(b, u, first), nir_imm_float(b, 0.0f));
      if (f->offset[i])
         first = nir_fadd(b, first, nir_i2f32(b, f->offset[i]));
      low[i] = wrap(b, s->wrap[i], first, size);
      high[i] = wrap(b, s->wrap[i], nir_fadd_imm(b, first, 1.0), size);
   }
   /* Integers are not filtered. */
   if (f->is_integer)
      return tap(b, f, s, low, level);
   nir_def *taps[8];
   for (unsigned corner = 0; corner < 1u << count; corner++) {
      struct place place[3];
      for (unsigned i = 0; i < count; i++)
         place[i] = corner >> i & 1 ? high[i] : low[i];
      taps[corner] = tap(b, f, s, place, level);
   }
   for (unsigned i = 0; i < count; i++) {
      for (unsigned corner = 0; corner < 1u << (count - 1 - i); corner++) {
         taps[corner] = mix(b, taps[2 * corner], taps[2 * corner + 1], weight[i]);
      }
   }
   return taps[0];
}

nir_def *
apple9_filter(nir_builder *b, const struct apple9_filter *f, nir_def *lod)
{
   if (f->face && (f->offset[0] || f->is_integer))
      unsupported("an offset on a sample of a cube, or a filter of its integers");
   const struct state s = load_state(b, f);
   nir_def *zero = nir_imm_float(b, 0.0f);
   /* The maximum last, so that it wins (images, 10). */
   lod = nir_fmin(b, nir_fmax(b, lod, s.min_lod), s.max_lod);
   nir_def *linear = nir_bcsel(b, nir_fge(b, zero, lod), s.mag_linear, s.min_linear);
   nir_def *last = nir_fmax(b, nir_fadd_imm(b, nir_u2f32(b, s.levels), -1.0), zero);
   nir_def *depth = nir_fmin(b, nir_fmax(b, lod, zero), last);
   nir_def *whole = nir_ffloor(b, depth);
   nir_def *nearest = nir_fmax(b, nir_fadd_imm(b, nir_fceil(b, nir_fadd_imm(b, depth, 0.5)), -1.0), zero);
   nir_def *between = nir_ieq_imm(b, s.mip, 2);
   nir_def *level = nir_bcsel(b, between, whole, nir_bcsel(b, nir_ieq_imm(b, s.mip, 1), nearest, zero));
   nir_def *fraction = nir_bcsel(b, between, nir_fsub(b, depth, whole), zero);
   nir_def *first = filter_level(b, f, &s, linear, nir_f2u32(b, level));
   if (f->is_integer)
      return first;
   nir_if *blend = nir_push_if(b, nir_flt(b, zero, fraction));
   nir_def *second = filter_level(b, f, &s, linear, nir_f2u32(b, nir_fadd_imm(b, level, 1.0)));
   nir_def *mixed = nir_ffma(b, nir_replicate(b, fraction, 4), nir_fsub(b, second, first), first);
   nir_pop_if(b, blend);
   return nir_if_phi(b, mixed, first);
}

nir_def *
apple9_gather(nir_builder *b, const struct apple9_filter *f, unsigned component)
{
   if (f->dim != GLSL_SAMPLER_DIM_2D && f->dim != GLSL_SAMPLER_DIM_CUBE)
      unsupported("a gather of this dimension");
   const struct state s = load_state(b, f);
   nir_def *size[2], *low[2], *high[2];
   struct place places[2][2];
   for (unsigned i = 0; i < 2; i++) {
      size[i] = level_size(b, &s, i, nir_imm_int(b, 0));
      nir_def *u = nir_fmul(b, f->coord[i], size[i]);
      low[i] = nir_ffloor(b, nir_fadd_imm(b, u, -0.5));
      if (f->offset[i])
         low[i] = nir_fadd(b, low[i], nir_i2f32(b, f->offset[i]));
      high[i] = nir_fadd_imm(b, low[i], 1.0);
      if (!f->face) {
         places[i][0] = wrap(b, s.wrap[i], low[i], size[i]);
         places[i][1] = wrap(b, s.wrap[i], high[i], size[i]);
      }
   }
   nir_def *out[4];
   for (unsigned i = 0; i < 4; i++) {
      unsigned x = corners[i][0], y = corners[i][1];
      nir_def *colour;
      if (f->face) {
         colour = cube_tap(b, f, &s, x ? high[0] : low[0], y ? high[1] : low[1], size[0], NULL);
      } else {
         const struct place place[3] = { places[0][x], places[1][y] };
         colour = tap(b, f, &s, place, NULL);
      }
      out[i] = nir_channel(b, colour, f->reference ? 0 : component);
   }
   if (f->face && !f->is_integer)
      average_corner(b, &s, low, high, size, out);
   return nir_vec(b, out, 4);
}
