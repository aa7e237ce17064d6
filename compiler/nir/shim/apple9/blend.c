/* SPDX-License-Identifier: MIT */
/*
 * Blending and logic operations, by the equations of Vulkan ("Blending", "Logical Operations"). Sources and constants are
 * clamped to the range of normalised formats before, as there; the result is, when it is packed. A factor of zero takes
 * its operand out, so that what is not needed is not read either.
 */
#include "stages.h"

/* Reads the constants when they are first wanted. */
struct blender {
   nir_builder *b;
   const struct cortland_attachment *attachment;
   nir_def *const *src, *const *src1, *const *dst;
   nir_def *constants[4];
};

static nir_def *
clamp(nir_builder *b, const struct cortland_attachment *a, nir_def *value)
{
   if (!apple9_is_normalized_colour(a))
      return value;
   if (!apple9_is_signed_colour(a))
      return nir_fsat(b, value);
   return nir_fmin(b, nir_fmax(b, value, nir_imm_float(b, -1.0f)), nir_imm_float(b, 1.0f));
}

static nir_def *
constant(struct blender *l, unsigned component)
{
   if (!l->constants[0]) {
      nir_def *words = apple9_load_root(l->b, CORTLAND_ROOT_BLEND_CONSTANTS, 0, 4);
      for (unsigned c = 0; c < 4; c++)
         l->constants[c] = clamp(l->b, l->attachment, nir_channel(l->b, words, c));
   }
   return l->constants[component];
}

static nir_def *
one_minus(nir_builder *b, nir_def *value)
{
   return nir_fsub_imm(b, 1.0, value);
}

/* `value` times the factor for the component; null for zero. */
static nir_def *
times(struct blender *l, nir_def *value, uint32_t factor, unsigned c)
{
   nir_builder *b = l->b;
   nir_def *f;
   switch ((enum cortland_factor)factor) {
   case CORTLAND_FACTOR_ZERO: return NULL;
   case CORTLAND_FACTOR_ONE: return value;
   case CORTLAND_FACTOR_SRC_COLOUR:
   case CORTLAND_FACTOR_ONE_MINUS_SRC_COLOUR: f = l->src[c]; break;
   case CORTLAND_FACTOR_DST_COLOUR:
   case CORTLAND_FACTOR_ONE_MINUS_DST_COLOUR: f = l->dst[c]; break;
   case CORTLAND_FACTOR_SRC_ALPHA:
   case CORTLAND_FACTOR_ONE_MINUS_SRC_ALPHA: f = l->src[3]; break;
   case CORTLAND_FACTOR_DST_ALPHA:
   case CORTLAND_FACTOR_ONE_MINUS_DST_ALPHA: f = l->dst[3]; break;
   case CORTLAND_FACTOR_CONSTANT_COLOUR:
   case CORTLAND_FACTOR_ONE_MINUS_CONSTANT_COLOUR: f = constant(l, c); break;
   case CORTLAND_FACTOR_CONSTANT_ALPHA:
   case CORTLAND_FACTOR_ONE_MINUS_CONSTANT_ALPHA: f = constant(l, 3); break;
   case CORTLAND_FACTOR_SRC1_COLOUR:
   case CORTLAND_FACTOR_ONE_MINUS_SRC1_COLOUR: f = l->src1[c]; break;
   case CORTLAND_FACTOR_SRC1_ALPHA:
   case CORTLAND_FACTOR_ONE_MINUS_SRC1_ALPHA: f = l->src1[3]; break;
   case CORTLAND_FACTOR_SRC_ALPHA_SATURATE:
      if (c == 3)
         return value;
      return nir_fmul(b, value, nir_fmin(b, l->src[3], one_minus(b, l->dst[3])));
   default: unreachable("factors are checked where they come from");
   }
   switch ((enum cortland_factor)factor) {
   case CORTLAND_FACTOR_ONE_MINUS_SRC_COLOUR:
   case CORTLAND_FACTOR_ONE_MINUS_DST_COLOUR:
   case CORTLAND_FACTOR_ONE_MINUS_SRC_ALPHA:
   case CORTLAND_FACTOR_ONE_MINUS_DST_ALPHA:
   case CORTLAND_FACTOR_ONE_MINUS_CONSTANT_COLOUR:
   case CORTLAND_FACTOR_ONE_MINUS_CONSTANT_ALPHA:
   case CORTLAND_FACTOR_ONE_MINUS_SRC1_COLOUR:
   case CORTLAND_FACTOR_ONE_MINUS_SRC1_ALPHA:
      f = one_minus(b, f);
      break;
   default:
      break;
   }
   return nir_fmul(b, value, f);
}

static nir_def *
component(struct blender *l, const struct cortland_blend_equation *equation, unsigned c)
{
   nir_builder *b = l->b;
   if (equation->op == CORTLAND_BLEND_MIN)
      return nir_fmin(b, l->src[c], l->dst[c]);
   if (equation->op == CORTLAND_BLEND_MAX)
      return nir_fmax(b, l->src[c], l->dst[c]);
   nir_def *src = times(l, l->src[c], equation->src, c), *dst = times(l, l->dst[c], equation->dst, c);
   if (equation->op == CORTLAND_BLEND_REVERSE_SUBTRACT)
      SWAP(src, dst);
   if (equation->op != CORTLAND_BLEND_ADD && dst)
      dst = nir_fneg(b, dst);
   if (src && dst)
      return nir_fadd(b, src, dst);
   return src ? src : dst ? dst : nir_imm_float(b, 0.0f);
}

void
apple9_blend(nir_builder *b, const struct cortland_attachment *a, nir_def *const src[4], nir_def *const src1[4],
             nir_def *const dst[4], nir_def *out[4])
{
   nir_def *first[4], *second[4];
   for (unsigned c = 0; c < 4; c++) {
      first[c] = clamp(b, a, src[c]);
      second[c] = clamp(b, a, src1[c]);
   }
   struct blender l = { .b = b, .attachment = a, .src = first, .src1 = second, .dst = dst };
   for (unsigned c = 0; c < 4; c++)
      out[c] = component(&l, c == 3 ? &a->alpha : &a->colour, c);
}

nir_def *
apple9_logic_op(nir_builder *b, uint32_t op, nir_def *s, nir_def *d)
{
   switch ((enum cortland_logic_op)op) {
   case CORTLAND_LOGIC_CLEAR: return nir_imm_int(b, 0);
   case CORTLAND_LOGIC_AND: return nir_iand(b, s, d);
   case CORTLAND_LOGIC_AND_REVERSE: return nir_iand(b, s, nir_inot(b, d));
   case CORTLAND_LOGIC_COPY: return s;
   case CORTLAND_LOGIC_AND_INVERTED: return nir_iand(b, nir_inot(b, s), d);
   case CORTLAND_LOGIC_NO_OP: return NULL;
   case CORTLAND_LOGIC_XOR: return nir_ixor(b, s, d);
   case CORTLAND_LOGIC_OR: return nir_ior(b, s, d);
   case CORTLAND_LOGIC_NOR: return nir_inot(b, nir_ior(b, s, d));
   case CORTLAND_LOGIC_EQUIVALENT: return nir_inot(b, nir_ixor(b, s, d));
   case CORTLAND_LOGIC_INVERT: return nir_inot(b, d);
   case CORTLAND_LOGIC_OR_REVERSE: return nir_ior(b, s, nir_inot(b, d));
   case CORTLAND_LOGIC_COPY_INVERTED: return nir_inot(b, s);
   case CORTLAND_LOGIC_OR_INVERTED: return nir_ior(b, nir_inot(b, s), d);
   case CORTLAND_LOGIC_NAND: return nir_inot(b, nir_iand(b, s, d));
   case CORTLAND_LOGIC_SET: return nir_imm_int(b, -1);
   default: unreachable("operations are checked where they come from");
   }
}
