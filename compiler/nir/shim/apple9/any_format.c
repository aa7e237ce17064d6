/* SPDX-License-Identifier: MIT */
/*
 * Stores to images whose format the module does not say, and loads of those that it writes: the texture record says the
 * format at run time (images, 2 and 5.1).
 *
 * Components have one width, 8, 16 or 32 bits, but for two packed formats; the record's type says what becomes of the
 * values, as images, 11 has it. Of swizzles storage images have three: none, blue and red exchanged, and alpha alone.
 */
#include "texture.h"

#include "compiler/nir/nir_format_convert.h"

#define CHANNELS_R10G10B10A2 0x26
#define CHANNELS_R11G11B10 0x25

enum type {
   UNORM,
   SNORM,
   UINT,
   SINT,
   FLOAT,
};

static nir_def *
field(nir_builder *b, nir_def *word, unsigned first, unsigned count)
{
   return nir_iand_imm(b, nir_ushr_imm(b, word, first), (1u << count) - 1);
}

static nir_def *
is_one_of(nir_builder *b, nir_def *code, unsigned x, unsigned y, unsigned z)
{
   return nir_ior(b, nir_ieq_imm(b, code, x), nir_ior(b, nir_ieq_imm(b, code, y), nir_ieq_imm(b, code, z)));
}

/* A component in so many bits. */
static nir_def *
convert(nir_builder *b, nir_def *value, nir_def *type, nir_def *width)
{
   nir_def *most = nir_ushr(b, nir_imm_int(b, -1), nir_isub(b, nir_imm_int(b, 32), width));
   nir_def *half = nir_ushr_imm(b, most, 1);
   nir_def *clamped = nir_fmin(b, nir_fmax(b, value, nir_imm_float(b, -1.0f)), nir_imm_float(b, 1.0f));
   /* No number is zero. */
   clamped = nir_bcsel(b, nir_feq(b, value, value), clamped, nir_imm_float(b, 0.0f));
   nir_def *unorm = nir_f2u32(b, nir_fround_even(b, nir_fmul(b, nir_fsat(b, value), nir_u2f32(b, most))));
   nir_def *snorm = nir_f2i32(b, nir_fround_even(b, nir_fmul(b, clamped, nir_i2f32(b, half))));
   nir_def *sint = nir_imax(b, nir_imin(b, value, half), nir_inot(b, half));
   nir_def *narrow = nir_pack_half_2x16_split(b, value, nir_imm_float(b, 0.0f));
   nir_def *result = nir_bcsel(b, nir_ieq_imm(b, width, 32), value, narrow);
   result = nir_bcsel(b, nir_ieq_imm(b, type, SINT), sint, result);
   result = nir_bcsel(b, nir_ieq_imm(b, type, UINT), nir_umin(b, value, most), result);
   result = nir_bcsel(b, nir_ieq_imm(b, type, SNORM), snorm, result);
   result = nir_bcsel(b, nir_ieq_imm(b, type, UNORM), unorm, result);
   return nir_iand(b, result, most);
}

static nir_def *
join(nir_builder *b, nir_def *const *parts, unsigned first, unsigned count, unsigned bits)
{
   nir_def *word = parts[first];
   for (unsigned i = 1; i < count; i++)
      word = nir_ior(b, word, nir_ishl_imm(b, parts[first + i], i * bits));
   return word;
}

/* What a record says of its format. */
struct format {
   nir_def *channels, *type;
   /* Swizzles: memory has blue first; or alpha and nothing else. */
   nir_def *exchanged, *alpha;
   nir_def *is_tens, *is_11f, *is8, *is16;
   /* Bits of a component, but for the packed formats. */
   nir_def *width;
};

static struct format
read_record(nir_builder *b, nir_def *record)
{
   struct format f = {
      .channels = field(b, record, 6, 7),
      .type = field(b, record, 13, 3),
      .exchanged = nir_ieq_imm(b, field(b, record, 16, 3), 2),
      .alpha = nir_ieq_imm(b, field(b, record, 25, 3), 0),
   };
   f.is_tens = nir_ieq_imm(b, f.channels, CHANNELS_R10G10B10A2);
   f.is_11f = nir_ieq_imm(b, f.channels, CHANNELS_R11G11B10);
   f.is8 = is_one_of(b, f.channels, 0x00, 0x0a, 0x28);
   f.is16 = is_one_of(b, f.channels, 0x09, 0x23, 0x32);
   f.width = nir_bcsel(b, f.is8, nir_imm_int(b, 8), nir_bcsel(b, f.is16, nir_imm_int(b, 16), nir_imm_int(b, 32)));
   return f;
}

static nir_def *
width_of(nir_builder *b, const struct format *f, unsigned component)
{
   return nir_bcsel(b, f->is_tens, nir_imm_int(b, component < 3 ? 10 : 2), f->width);
}

/* The value of a component from so many bits at the low end of a word. */
static nir_def *
value_of(nir_builder *b, nir_def *raw, nir_def *type, nir_def *width)
{
   nir_def *rest = nir_isub(b, nir_imm_int(b, 32), width);
   nir_def *most = nir_ushr(b, nir_imm_int(b, -1), rest), *half = nir_ushr_imm(b, most, 1);
   nir_def *one = nir_imm_float(b, 1.0f), *minus = nir_imm_float(b, -1.0f);
   nir_def *uint = nir_iand(b, raw, most), *sint = nir_ishr(b, nir_ishl(b, raw, rest), rest);
   nir_def *unorm = nir_fmul(b, nir_u2f32(b, uint), nir_frcp(b, nir_u2f32(b, most)));
   unorm = nir_bcsel(b, nir_ieq(b, uint, most), one, unorm);
   nir_def *snorm = nir_fmul(b, nir_i2f32(b, sint), nir_frcp(b, nir_i2f32(b, half)));
   snorm = nir_bcsel(b, nir_ieq(b, sint, half), one, snorm);
   snorm = nir_bcsel(b, nir_ige(b, nir_inot(b, nir_iadd_imm(b, half, -1)), sint), minus, snorm);
   nir_def *result = nir_bcsel(b, nir_ieq_imm(b, width, 32), raw, nir_unpack_half_2x16_split_x(b, raw));
   result = nir_bcsel(b, nir_ieq_imm(b, type, SINT), sint, result);
   result = nir_bcsel(b, nir_ieq_imm(b, type, UINT), uint, result);
   result = nir_bcsel(b, nir_ieq_imm(b, type, SNORM), snorm, result);
   return nir_bcsel(b, nir_ieq_imm(b, type, UNORM), unorm, result);
}

/* The words of a texel, zeros behind it. */
static nir_def *
load_words(nir_builder *b, nir_def *bytes, nir_def *address, unsigned access)
{
   nir_def *zero = nir_imm_int(b, 0);
   nir_if *narrow = nir_push_if(b, nir_ult_imm(b, bytes, 4));
   /* The word around it, as what others may write is loaded in words. */
   nir_def *low = nir_unpack_64_2x32_split_x(b, address);
   nir_def *aligned = nir_pack_64_2x32_split(b, nir_iand_imm(b, low, ~3u), nir_unpack_64_2x32_split_y(b, address));
   nir_def *around = nir_build_load_global(b, 1, 32, aligned, .align_mul = 4, .access = access);
   around = nir_ushr(b, around, nir_ishl_imm(b, nir_iand_imm(b, low, 3), 3));
   nir_def *first = nir_vec4(b, around, zero, zero, zero);
   nir_push_else(b, narrow);
   nir_if *word = nir_push_if(b, nir_ieq_imm(b, bytes, 4));
   nir_def *one = nir_build_load_global(b, 1, 32, address, .align_mul = 4, .access = access);
   one = nir_vec4(b, one, zero, zero, zero);
   nir_push_else(b, word);
   nir_if *two = nir_push_if(b, nir_ieq_imm(b, bytes, 8));
   nir_def *pair = nir_build_load_global(b, 2, 32, address, .align_mul = 8, .access = access);
   pair = nir_vec4(b, nir_channel(b, pair, 0), nir_channel(b, pair, 1), zero, zero);
   nir_push_else(b, two);
   nir_def *four = nir_build_load_global(b, 4, 32, address, .align_mul = 16, .access = access);
   nir_pop_if(b, two);
   nir_def *wide = nir_if_phi(b, pair, four);
   nir_pop_if(b, word);
   nir_def *whole = nir_if_phi(b, one, wide);
   nir_pop_if(b, narrow);
   return nir_if_phi(b, first, whole);
}

nir_def *
apple9_load_any(nir_builder *b, nir_def *record, nir_def *bytes, nir_def *address, unsigned access)
{
   const struct format f = read_record(b, record);
   nir_def *words = load_words(b, bytes, address, access), *word[4], *out[4];
   for (unsigned i = 0; i < 4; i++)
      word[i] = nir_channel(b, words, i);
   /* One component: 0x00, 0x09, 0x21. Two: 0x0a, 0x23, 0x31. */
   nir_def *single = is_one_of(b, f.channels, 0x00, 0x09, 0x21), *pair = is_one_of(b, f.channels, 0x0a, 0x23, 0x31);
   nir_def *integer = nir_ior(b, nir_ieq_imm(b, f.type, UINT), nir_ieq_imm(b, f.type, SINT));
   nir_def *one = nir_bcsel(b, integer, nir_imm_int(b, 1), nir_imm_float(b, 1.0f)), *zero = nir_imm_int(b, 0);
   nir_def *floats = nir_format_unpack_11f11f10f(b, word[0]);
   for (unsigned i = 0; i < 4; i++) {
      nir_def *raw = nir_bcsel(b, f.is16, nir_ushr_imm(b, word[i / 2], 16 * (i % 2)), word[i]);
      raw = nir_bcsel(b, f.is8, nir_ushr_imm(b, word[0], 8 * i), raw);
      raw = nir_bcsel(b, f.is_tens, nir_ushr_imm(b, word[0], 10 * i), raw);
      out[i] = value_of(b, raw, f.type, width_of(b, &f, i));
      out[i] = nir_bcsel(b, f.is_11f, i < 3 ? nir_channel(b, floats, i) : one, out[i]);
      nir_def *missing = i == 0 ? nir_imm_false(b) : i == 1 ? single : nir_ior(b, single, pair);
      out[i] = nir_bcsel(b, missing, i == 3 ? one : zero, out[i]);
   }
   nir_def *first = out[0];
   out[0] = nir_bcsel(b, f.exchanged, out[2], nir_bcsel(b, f.alpha, zero, first));
   out[2] = nir_bcsel(b, f.exchanged, first, out[2]);
   out[3] = nir_bcsel(b, f.alpha, first, out[3]);
   return nir_vec(b, out, 4);
}

void
apple9_store_any(nir_builder *b, nir_def *record, nir_def *bytes, nir_def *address, nir_def *value)
{
   const struct format f = read_record(b, record);
   nir_def *in[4];
   for (unsigned i = 0; i < 4; i++)
      in[i] = nir_channel(b, value, i);
   nir_def *red = in[0];
   in[0] = nir_bcsel(b, f.exchanged, in[2], nir_bcsel(b, f.alpha, in[3], red));
   in[2] = nir_bcsel(b, f.exchanged, red, in[2]);

   nir_def *parts[4];
   for (unsigned i = 0; i < 4; i++)
      parts[i] = convert(b, in[i], f.type, width_of(b, &f, i));
   nir_def *packed = nir_format_pack_11f11f10f(b, nir_vec4(b, in[0], in[1], in[2], in[3]));
   nir_def *words[4] = { parts[0], parts[1], parts[2], parts[3] };
   words[0] = nir_bcsel(b, f.is_11f, packed, words[0]);
   words[0] = nir_bcsel(b, f.is_tens, join(b, parts, 0, 4, 10), words[0]);
   words[0] = nir_bcsel(b, f.is8, join(b, parts, 0, 4, 8), words[0]);
   words[0] = nir_bcsel(b, f.is16, join(b, parts, 0, 2, 16), words[0]);
   words[1] = nir_bcsel(b, f.is16, join(b, parts, 2, 2, 16), words[1]);

   nir_if *narrow = nir_push_if(b, nir_ult_imm(b, bytes, 4));
   {
      nir_if *one = nir_push_if(b, nir_ieq_imm(b, bytes, 1));
      nir_store_global(b, address, 1, nir_u2u8(b, words[0]), 1);
      nir_push_else(b, one);
      nir_store_global(b, address, 2, nir_u2u16(b, words[0]), 1);
      nir_pop_if(b, one);
   }
   nir_push_else(b, narrow);
   {
      nir_if *word = nir_push_if(b, nir_ieq_imm(b, bytes, 4));
      nir_store_global(b, address, 4, words[0], 1);
      nir_push_else(b, word);
      nir_if *two = nir_push_if(b, nir_ieq_imm(b, bytes, 8));
      nir_store_global(b, address, 8, nir_vec2(b, words[0], words[1]), 3);
      nir_push_else(b, two);
      nir_store_global(b, address, 16, nir_vec(b, words, 4), 15);
      nir_pop_if(b, two);
      nir_pop_if(b, word);
   }
   nir_pop_if(b, narrow);
}
