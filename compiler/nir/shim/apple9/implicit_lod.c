/* SPDX-License-Identifier: MIT */
/*
 * The LOD that follows from the quad, in fragment shaders: samples take the form with a bias, into which the sampler's own
 * goes (isa-3, 2.8); where the shader has to know the LOD, it asks the texture unit (isa-3, 2.7).
 */
#include "texture.h"

/* Kind of a bundle that asks for the LOD. */
#define KIND_QUERY (2u << 16)

uint32_t
apple9_bias_mode(enum glsl_sampler_dim dim, bool array)
{
   if (array)
      return APPLE9_2D_ARRAY_BIAS;
   switch (dim) {
   case GLSL_SAMPLER_DIM_3D: return APPLE9_3D_BIAS;
   case GLSL_SAMPLER_DIM_CUBE: return APPLE9_CUBE_BIAS;
   default: return APPLE9_2D_BIAS;
   }
}

nir_def *
apple9_query_lod(nir_builder *b, const struct apple9_filter *f, nir_def *w3)
{
   nir_def *w[4] = { f->coord[0], f->coord[1], f->dim == GLSL_SAMPLER_DIM_3D ? f->coord[2] : NULL, w3 };
   uint32_t mode = apple9_bias_mode(f->dim, f->array);
   return nir_trim_vector(b, apple9_texture(b, mode | KIND_QUERY, w, NULL, f->texture, f->sampler), 2);
}

nir_def *
apple9_select_level(nir_builder *b, nir_def *lod, nir_def *flags)
{
   nir_def *filter = nir_iand_imm(b, nir_ushr_imm(b, flags, 2), 3);
   nir_def *nearest = nir_fadd_imm(b, nir_fceil(b, nir_fadd_imm(b, lod, 0.5)), -1.0);
   nir_def *level = nir_bcsel(b, nir_ieq_imm(b, filter, 1), nearest, lod);
   return nir_bcsel(b, nir_ieq_imm(b, filter, 0), nir_imm_float(b, 0.0f), level);
}
