/* SPDX-License-Identifier: MIT */
/*
 * Colours and the words of tile memory that hold them (images, 3.2). The export at the end of a tile converts what the tile
 * holds in more bits than memory does; all else is done here: clamping, rounding, sRGB, packing.
 */
#include "stages.h"

#include "compiler/nir/nir_format_convert.h"

/* How the components lie in the words. */
enum layout {
   LAYOUT_BYTES,
   LAYOUT_HALVES,
   LAYOUT_WORDS,
   LAYOUT_1010102,
   LAYOUT_111110,
};

static enum layout
layout_of(const struct cortland_attachment *a)
{
   switch (a->encoding) {
   case CORTLAND_COLOUR_UNORM8:
   case CORTLAND_COLOUR_SNORM8:
   case CORTLAND_COLOUR_SRGB8:
   case CORTLAND_COLOUR_UINT8:
   case CORTLAND_COLOUR_SINT8:
      return LAYOUT_BYTES;
   case CORTLAND_COLOUR_UINT32:
   case CORTLAND_COLOUR_SINT32:
   case CORTLAND_COLOUR_FLOAT32:
   case CORTLAND_COLOUR_UNORM16:
   case CORTLAND_COLOUR_SNORM16:
      return LAYOUT_WORDS;
   case CORTLAND_COLOUR_A2B10G10R10_UNORM:
   case CORTLAND_COLOUR_A2R10G10B10_UNORM:
      return LAYOUT_1010102;
   case CORTLAND_COLOUR_B10G11R11_FLOAT:
      return LAYOUT_111110;
   default:
      return LAYOUT_HALVES;
   }
}

/* Components that the tile has room for. */
static unsigned
held(const struct cortland_attachment *a)
{
   switch (a->encoding) {
   case CORTLAND_COLOUR_UNORM565:
   case CORTLAND_COLOUR_UNORM5551:
   case CORTLAND_COLOUR_UNORM4444:
   case CORTLAND_COLOUR_UINT10_A2:
      return 4;
   default:
      return a->components;
   }
}

unsigned
apple9_tile_words(const struct cortland_attachment *a)
{
   switch (layout_of(a)) {
   case LAYOUT_HALVES: return DIV_ROUND_UP(held(a), 2);
   case LAYOUT_WORDS: return held(a);
   default: return 1;
   }
}

bool
apple9_is_integer_colour(const struct cortland_attachment *a)
{
   switch (a->encoding) {
   case CORTLAND_COLOUR_UINT8:
   case CORTLAND_COLOUR_SINT8:
   case CORTLAND_COLOUR_UINT16:
   case CORTLAND_COLOUR_SINT16:
   case CORTLAND_COLOUR_UINT32:
   case CORTLAND_COLOUR_SINT32:
   case CORTLAND_COLOUR_UINT10_A2:
      return true;
   default:
      return false;
   }
}

bool
apple9_is_normalized_colour(const struct cortland_attachment *a)
{
   return !apple9_is_integer_colour(a) && a->encoding != CORTLAND_COLOUR_FLOAT16 &&
          a->encoding != CORTLAND_COLOUR_FLOAT32 && a->encoding != CORTLAND_COLOUR_B10G11R11_FLOAT;
}

bool
apple9_is_signed_colour(const struct cortland_attachment *a)
{
   switch (a->encoding) {
   case CORTLAND_COLOUR_SNORM8:
   case CORTLAND_COLOUR_SNORM16:
   case CORTLAND_COLOUR_SINT8:
   case CORTLAND_COLOUR_SINT16:
   case CORTLAND_COLOUR_SINT32:
      return true;
   default:
      return false;
   }
}

/* Where a component is in the only word. */
static unsigned
packed_place(const struct cortland_attachment *a, unsigned component, unsigned *bits)
{
   if (layout_of(a) == LAYOUT_111110) {
      *bits = component == 2 ? 10 : 11;
      return 11 * component;
   }
   *bits = component == 3 ? 2 : 10;
   bool swapped = a->encoding == CORTLAND_COLOUR_A2R10G10B10_UNORM && component < 3;
   return 10 * (swapped ? 2 - component : component);
}

void
apple9_tile_bits(const struct cortland_attachment *a, unsigned components, uint32_t bits[4])
{
   memset(bits, 0, 4 * sizeof(bits[0]));
   for (unsigned c = 0; c < a->components; c++) {
      if (!(components >> c & 1))
         continue;
      switch (layout_of(a)) {
      case LAYOUT_BYTES:
         bits[0] |= 0xffu << 8 * c;
         break;
      case LAYOUT_HALVES:
         bits[c / 2] |= 0xffffu << 16 * (c % 2);
         break;
      case LAYOUT_WORDS:
         bits[c] = UINT32_MAX;
         break;
      default: {
         unsigned width, place = packed_place(a, c, &width);
         bits[0] |= BITFIELD_MASK(width) << place;
         break;
      }
      }
   }
}

/* Bits of a component in memory, of those formats that the tile holds in more. */
static unsigned
memory_bits(const struct cortland_attachment *a, unsigned component)
{
   switch (a->encoding) {
   case CORTLAND_COLOUR_UNORM565: return component == 3 ? 0 : component == 1 ? 6 : 5;
   case CORTLAND_COLOUR_UNORM5551: return component == 3 ? 1 : 5;
   case CORTLAND_COLOUR_UNORM4444: return 4;
   case CORTLAND_COLOUR_UINT10_A2: return component == 3 ? 2 : 10;
   case CORTLAND_COLOUR_UNORM16:
   case CORTLAND_COLOUR_SNORM16: return 16;
   default: return 32;
   }
}

static nir_def *
clamp_signed(nir_builder *b, nir_def *value)
{
   return nir_fmin(b, nir_fmax(b, value, nir_imm_float(b, -1.0f)), nir_imm_float(b, 1.0f));
}

static nir_def *
to_unorm(nir_builder *b, nir_def *value, unsigned bits)
{
   return nir_f2u32(b, nir_fround_even(b, nir_fmul_imm(b, nir_fsat(b, value), (1u << bits) - 1)));
}

static nir_def *
from_unorm(nir_builder *b, nir_def *value, unsigned bits)
{
   return nir_fmul_imm(b, nir_u2f32(b, value), 1.0 / ((1u << bits) - 1));
}

/* Clamped to what the format holds, of integers of fewer than 32 bits. */
static nir_def *
clamp_integer(nir_builder *b, const struct cortland_attachment *a, nir_def *value, unsigned component)
{
   switch (a->encoding) {
   case CORTLAND_COLOUR_UINT8:
      return nir_umin(b, value, nir_imm_int(b, 0xff));
   case CORTLAND_COLOUR_SINT8:
      return nir_iand_imm(b, nir_imin(b, nir_imax(b, value, nir_imm_int(b, -0x80)), nir_imm_int(b, 0x7f)), 0xff);
   case CORTLAND_COLOUR_UINT16:
      return nir_umin(b, value, nir_imm_int(b, 0xffff));
   case CORTLAND_COLOUR_SINT16:
      return nir_iand_imm(b, nir_imin(b, nir_imax(b, value, nir_imm_int(b, -0x8000)), nir_imm_int(b, 0x7fff)), 0xffff);
   case CORTLAND_COLOUR_UINT10_A2:
      return nir_umin(b, value, nir_imm_int(b, component == 3 ? 3 : 0x3ff));
   default:
      return value;
   }
}

/* The largest finite numbers of 11 and 10 bits. Infinity stays, NaN becomes 0. */
static nir_def *
clamp_small_float(nir_builder *b, nir_def *value, unsigned component)
{
   nir_def *positive = nir_fmax(b, value, nir_imm_float(b, 0.0f));
   nir_def *finite = nir_fmin(b, positive, nir_imm_float(b, component == 2 ? 64512.0f : 65024.0f));
   return nir_bcsel(b, nir_feq_imm(b, positive, INFINITY), positive, finite);
}

static nir_def *
encode_srgb(nir_builder *b, nir_def *value)
{
   nir_def *clamped = nir_fsat(b, value);
   nir_def *curved = nir_ffma_imm12(b, nir_fpow_imm(b, clamped, 1.0 / 2.4), 1.055f, -0.055f);
   return nir_bcsel(b, nir_fle_imm(b, clamped, 0.0031308), nir_fmul_imm(b, clamped, 12.92), curved);
}

static nir_def *
decode_srgb(nir_builder *b, nir_def *value)
{
   nir_def *curved = nir_fpow_imm(b, nir_fmul_imm(b, nir_fadd_imm(b, value, 0.055), 1.0 / 1.055), 2.4);
   return nir_bcsel(b, nir_fle_imm(b, value, 0.04045), nir_fmul_imm(b, value, 1.0 / 12.92), curved);
}

/* Of the bits of each component in 32. */
static void
join(nir_builder *b, const struct cortland_attachment *a, nir_def *const parts[4], nir_def *words[4])
{
   unsigned count = held(a);
   switch (layout_of(a)) {
   case LAYOUT_WORDS:
      for (unsigned c = 0; c < count; c++)
         words[c] = parts[c];
      break;
   case LAYOUT_BYTES:
   case LAYOUT_1010102:
      for (unsigned c = 0; c < count; c++) {
         unsigned width = 8, place = 8 * c;
         if (layout_of(a) == LAYOUT_1010102)
            place = packed_place(a, c, &width);
         nir_def *part = nir_ishl_imm(b, parts[c], place);
         words[0] = c ? nir_ior(b, words[0], part) : part;
      }
      break;
   default:
      for (unsigned c = 0; c < count; c += 2)
         words[c / 2] = c + 1 < count ? nir_ior(b, parts[c], nir_ishl_imm(b, parts[c + 1], 16)) : parts[c];
      break;
   }
}

void
apple9_pack_colour(nir_builder *b, const struct cortland_attachment *a, nir_def *const colour[4], nir_def *words[4])
{
   unsigned count = held(a);
   nir_def *zero = nir_imm_int(b, 0), *parts[4];
   for (unsigned c = 0; c < 4; c++)
      parts[c] = c < a->components ? colour[c] : zero;
   switch (a->encoding) {
   case CORTLAND_COLOUR_SRGB8:
      for (unsigned c = 0; c < MIN2(a->components, 3); c++)
         parts[c] = encode_srgb(b, parts[c]);
      FALLTHROUGH;
   case CORTLAND_COLOUR_UNORM8:
      words[0] = nir_pack_unorm_4x8(b, nir_vec(b, parts, 4));
      return;
   case CORTLAND_COLOUR_SNORM8:
      words[0] = nir_pack_snorm_4x8(b, nir_vec(b, parts, 4));
      return;
   case CORTLAND_COLOUR_UNORM565:
   case CORTLAND_COLOUR_UNORM5551:
   case CORTLAND_COLOUR_UNORM4444:
   case CORTLAND_COLOUR_FLOAT16:
      for (unsigned c = 0; c < count && a->encoding != CORTLAND_COLOUR_FLOAT16; c++)
         parts[c] = c < a->components ? nir_fsat(b, parts[c]) : nir_imm_float(b, 1.0f);
      for (unsigned c = 0; c < count; c += 2)
         words[c / 2] = nir_pack_half_2x16_split(b, parts[c], c + 1 < count ? parts[c + 1] : zero);
      return;
   case CORTLAND_COLOUR_B10G11R11_FLOAT:
      for (unsigned c = 0; c < 3; c++)
         parts[c] = clamp_small_float(b, parts[c], c);
      words[0] = nir_format_pack_11f11f10f(b, nir_vec(b, parts, 3));
      return;
   case CORTLAND_COLOUR_A2B10G10R10_UNORM:
   case CORTLAND_COLOUR_A2R10G10B10_UNORM:
      for (unsigned c = 0; c < 4; c++)
         parts[c] = to_unorm(b, parts[c], c == 3 ? 2 : 10);
      break;
   case CORTLAND_COLOUR_UNORM16:
      for (unsigned c = 0; c < count; c++)
         parts[c] = nir_fsat(b, parts[c]);
      break;
   case CORTLAND_COLOUR_SNORM16:
      for (unsigned c = 0; c < count; c++)
         parts[c] = clamp_signed(b, parts[c]);
      break;
   default:
      for (unsigned c = 0; c < count; c++)
         parts[c] = clamp_integer(b, a, parts[c], c);
      break;
   }
   join(b, a, parts, words);
}

/* The bits of a component, extended by its sign if it has one. */
static nir_def *
part_of(nir_builder *b, const struct cortland_attachment *a, nir_def *const words[4], unsigned c)
{
   unsigned width, place, word = 0;
   switch (layout_of(a)) {
   case LAYOUT_WORDS:
      return words[c];
   case LAYOUT_BYTES:
      width = 8, place = 8 * c;
      break;
   case LAYOUT_HALVES:
      width = 16, place = 16 * (c % 2), word = c / 2;
      break;
   default:
      place = packed_place(a, c, &width);
      break;
   }
   nir_def *top = nir_ishl_imm(b, words[word], 32 - place - width);
   return apple9_is_signed_colour(a) ? nir_ishr_imm(b, top, 32 - width) : nir_ushr_imm(b, top, 32 - width);
}

void
apple9_unpack_colour(nir_builder *b, const struct cortland_attachment *a, nir_def *const words[4], nir_def *colour[4])
{
   bool integer = apple9_is_integer_colour(a);
   for (unsigned c = 0; c < 4; c++)
      colour[c] = c < 3 ? nir_imm_int(b, 0) : integer ? nir_imm_int(b, 1) : nir_imm_float(b, 1.0f);
   nir_def *all = NULL;
   switch (a->encoding) {
   case CORTLAND_COLOUR_UNORM8:
   case CORTLAND_COLOUR_SRGB8:
      all = nir_unpack_unorm_4x8(b, words[0]);
      break;
   case CORTLAND_COLOUR_SNORM8:
      all = nir_unpack_snorm_4x8(b, words[0]);
      break;
   case CORTLAND_COLOUR_B10G11R11_FLOAT:
      all = nir_format_unpack_11f11f10f(b, words[0]);
      break;
   default:
      break;
   }
   for (unsigned c = 0; c < a->components; c++) {
      switch (a->encoding) {
      case CORTLAND_COLOUR_FLOAT16:
      case CORTLAND_COLOUR_UNORM565:
      case CORTLAND_COLOUR_UNORM5551:
      case CORTLAND_COLOUR_UNORM4444:
         colour[c] = c % 2 ? nir_unpack_half_2x16_split_y(b, words[c / 2])
                           : nir_unpack_half_2x16_split_x(b, words[c / 2]);
         break;
      case CORTLAND_COLOUR_A2B10G10R10_UNORM:
      case CORTLAND_COLOUR_A2R10G10B10_UNORM:
         colour[c] = from_unorm(b, part_of(b, a, words, c), c == 3 ? 2 : 10);
         break;
      default:
         colour[c] = all ? nir_channel(b, all, c) : part_of(b, a, words, c);
         break;
      }
      if (a->encoding == CORTLAND_COLOUR_SRGB8 && c < 3)
         colour[c] = decode_srgb(b, colour[c]);
   }
}

/* Whether the tile holds something else than memory. */
static bool
is_widened(const struct cortland_attachment *a)
{
   return memory_bits(a, 0) < 32 && a->encoding != CORTLAND_COLOUR_UINT10_A2;
}

void
apple9_to_memory_bits(nir_builder *b, const struct cortland_attachment *a, nir_def *words[4])
{
   if (!is_widened(a))
      return;
   bool has_sign = apple9_is_signed_colour(a);
   nir_def *colour[4];
   apple9_unpack_colour(b, a, words, colour);
   for (unsigned c = 0; c < a->components; c++) {
      unsigned bits = memory_bits(a, c);
      if (has_sign)
         colour[c] = nir_f2i32(b, nir_fround_even(b, nir_fmul_imm(b, clamp_signed(b, colour[c]), 0x7fff)));
      else
         colour[c] = to_unorm(b, colour[c], bits);
   }
   if (layout_of(a) == LAYOUT_HALVES && a->components == 3)
      colour[3] = nir_imm_int(b, 0);
   join(b, a, colour, words);
}

/* The components of what is widened, from the bits that memory has of them. */
static void
unpack_memory_bits(nir_builder *b, const struct cortland_attachment *a, nir_def *const words[4], nir_def *colour[4])
{
   bool has_sign = apple9_is_signed_colour(a);
   for (unsigned c = 0; c < a->components; c++) {
      unsigned bits = memory_bits(a, c);
      nir_def *top = nir_ishl_imm(b, part_of(b, a, words, c), 32 - bits);
      if (has_sign)
         colour[c] = nir_fmul_imm(b, nir_i2f32(b, nir_ishr_imm(b, top, 32 - bits)), 1.0 / 0x7fff);
      else
         colour[c] = from_unorm(b, nir_ushr_imm(b, top, 32 - bits), bits);
   }
}

void
apple9_from_memory_bits(nir_builder *b, const struct cortland_attachment *a, nir_def *words[4])
{
   if (a->encoding == CORTLAND_COLOUR_UINT10_A2) {
      words[0] = nir_iand_imm(b, words[0], 0x03ff03ff);
      words[1] = nir_iand_imm(b, words[1], 0x000303ff);
      return;
   }
   if (!is_widened(a))
      return;
   nir_def *colour[4];
   unpack_memory_bits(b, a, words, colour);
   apple9_pack_colour(b, a, colour, words);
}

void
apple9_unpack_stored_colour(nir_builder *b, const struct cortland_attachment *a, nir_def *words[4], nir_def *colour[4])
{
   apple9_unpack_colour(b, a, words, colour);
   if (!is_widened(a))
      return;
   apple9_to_memory_bits(b, a, words);
   unpack_memory_bits(b, a, words, colour);
}
