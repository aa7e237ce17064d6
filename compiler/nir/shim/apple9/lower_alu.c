/* SPDX-License-Identifier: MIT */
/*
 * Arithmetic whose width the hardware lacks, and conversions that it has only through fp32.
 *
 * apple9_lower_alu runs early, and again at the end, as NIR's algebraic rules join conversions:
 *  - fdiv of 16 bits: the reciprocal of an fp16 number may overflow fp16, so both are widened and the quotient is
 *    rounded to fp16 at the end.
 *  - 16-bit float to and from integers, through fp32. Rounding twice is harmless: fp32 holds every integer below 2^24
 *    exactly, and those from 65520 on are infinite in fp16 either way.
 *  - float to integers of 8 and 16 bits through 32; out of range is undefined in SPIR-V.
 *  - conversions to fp16 with a named rounding to nearest are the plain ones, those towards zero correct these;
 *  - Booleans in memory are words of 0 or 1;
 *  - 64-bit negation is a subtraction;
 *  - with DenormFlushToZero for fp32, the results of negation, absolute value, minimum and maximum are multiplied by 1:
 *    the hardware selects or changes bits there and flushes nothing (isa-4, 11.2), where Vulkan has denormal results
 *    become zero. NIR keeps exact products by 1 for that, but where only arithmetic reads them, which flushes itself.
 *
 * apple9_lower_frexp makes the operands of frexp what NIR's lowering of it takes, which works on the bits and knows no
 * denormals: those of fp32 become zero, as everywhere in fp32, and fp16 is done in fp32, where its denormals are normal.
 *
 * apple9_lower_bit_sizes does 8- and 16-bit integer arithmetic and subgroup operations in 32 bits.
 *
 * apple9_lower_int64 is nir_lower_int64() where it may find something; most shaders have 64 bits in addresses only.
 */
#include "apple9.h"

#include "compiler/nir/nir_builder.h"

static nir_def *
lowered(nir_builder *b, nir_alu_instr *alu)
{
   unsigned bits = alu->def.bit_size;
   unsigned from = nir_src_bit_size(alu->src[0].src);
   b->exact = alu->exact;
   b->fp_fast_math = alu->fp_fast_math;
   nir_def *x = nir_ssa_for_alu_src(b, alu, 0);
   switch (alu->op) {
   case nir_op_fdiv: {
      if (bits != 16)
         return NULL;
      nir_def *y = nir_f2f32(b, nir_ssa_for_alu_src(b, alu, 1));
      return nir_f2f16(b, nir_fmul(b, nir_f2f32(b, x), nir_frcp(b, y)));
   }
   case nir_op_i2f16:
      return nir_f2f16(b, nir_i2f32(b, from < 32 ? nir_i2i32(b, x) : x));
   case nir_op_u2f16:
      return nir_f2f16(b, nir_u2f32(b, from < 32 ? nir_u2u32(b, x) : x));
   case nir_op_i2f32:
      return from < 32 ? nir_i2f32(b, nir_i2i32(b, x)) : NULL;
   case nir_op_u2f32:
      return from < 32 ? nir_u2f32(b, nir_u2u32(b, x)) : NULL;
   case nir_op_f2i8:
   case nir_op_f2i16:
      return nir_i2iN(b, nir_f2i32(b, nir_f2f32(b, x)), bits);
   case nir_op_f2u8:
   case nir_op_f2u16:
      return nir_u2uN(b, nir_f2u32(b, nir_f2f32(b, x)), bits);
   case nir_op_f2i32:
      return from == 16 ? nir_f2i32(b, nir_f2f32(b, x)) : NULL;
   case nir_op_f2u32:
      return from == 16 ? nir_f2u32(b, nir_f2f32(b, x)) : NULL;
   case nir_op_f2i64:
      return from == 16 ? nir_f2i64(b, nir_f2f32(b, x)) : NULL;
   case nir_op_f2u64:
      return from == 16 ? nir_f2u64(b, nir_f2f32(b, x)) : NULL;
   case nir_op_ineg:
      /* Which is one instruction; NIR's rules make sums with negations of differences, and go back where they can. */
      return bits == 64 ? nir_isub(b, nir_imm_int64(b, 0), x) : NULL;
   case nir_op_b2b32:
      return nir_b2i32(b, x);
   case nir_op_b2b1:
      return nir_ine(b, x, nir_imm_intN_t(b, 0, from));
   case nir_op_f2f16_rtne:
      return nir_f2f16(b, x);
   case nir_op_f2f16_rtz: {
      /* One step back if rounding went away from zero; what became infinite is the largest number then. */
      b->exact = true;
      nir_def *nearest = nir_f2f16(b, x);
      nir_def *beyond = nir_flt(b, nir_fabs(b, x), nir_fabs(b, nir_f2f32(b, nearest)));
      nir_def *number = nir_u2u32(b, nearest);
      return nir_u2u16(b, nir_bcsel(b, beyond, nir_iadd_imm(b, number, -1), number));
   }
   default:
      return NULL;
   }
}

static bool
lower(nir_builder *b, nir_alu_instr *alu, void *data)
{
   (void)data;
   b->cursor = nir_before_instr(&alu->instr);
   nir_def *result = lowered(b, alu);
   b->exact = false;
   b->fp_fast_math = 0;
   if (!result)
      return false;
   nir_def_replace(&alu->def, result);
   return true;
}

/* Whether the operation of fp32 gives an operand back, denormal or not, with another sign at most. */
static bool
passes_denormals(nir_op op)
{
   return op == nir_op_fneg || op == nir_op_fabs || op == nir_op_fmin || op == nir_op_fmax;
}

/* Levels of operands that are looked at. */
#define FLUSHED_DEPTH 4

/* Whether an fp32 value is surely no denormal. */
static bool
is_flushed(nir_scalar x, unsigned depth)
{
   x = nir_scalar_chase_movs(x);
   if (nir_scalar_is_const(x)) {
      uint32_t bits = nir_scalar_as_uint(x) & 0x7fffffff;
      return bits == 0 || bits >= 0x00800000;
   }
   if (!nir_scalar_is_alu(x))
      return false;
   nir_op op = nir_scalar_alu_op(x);
   bool selects = op == nir_op_bcsel;
   if (!selects && !passes_denormals(op))
      return nir_alu_type_get_base_type(nir_op_infos[op].output_type) == nir_type_float;
   if (depth == 0)
      return false;
   for (unsigned i = selects; i < nir_op_infos[op].num_inputs; i++) {
      if (!is_flushed(nir_scalar_chase_alu_src(x, i), depth - 1))
         return false;
   }
   return true;
}

/* Whether only float operations read the value: they take denormals as zero, and those that pass them on are seen to
 * themselves. */
static bool
is_only_used_as_float(nir_def *def)
{
   nir_foreach_use_including_if(use, def) {
      if (nir_src_is_if(use) || nir_src_parent_instr(use)->type != nir_instr_type_alu)
         return false;
      const nir_alu_instr *user = nir_instr_as_alu(nir_src_parent_instr(use));
      const nir_op_info *info = &nir_op_infos[user->op];
      for (unsigned i = 0; i < info->num_inputs; i++) {
         if (user->src[i].src.ssa == def && nir_alu_type_get_base_type(info->input_types[i]) != nir_type_float)
            return false;
      }
   }
   return true;
}

static bool
flush(nir_builder *b, nir_alu_instr *alu, void *data)
{
   (void)data;
   if (!passes_denormals(alu->op) || alu->def.bit_size != 32 || is_only_used_as_float(&alu->def))
      return false;
   bool flushed = true;
   for (unsigned i = 0; i < alu->def.num_components; i++)
      flushed &= is_flushed(nir_get_scalar(&alu->def, i), FLUSHED_DEPTH);
   if (flushed)
      return false;
   b->cursor = nir_after_instr(&alu->instr);
   b->exact = true;
   nir_def *product = nir_fmul_imm(b, &alu->def, 1.0);
   b->exact = false;
   nir_def_rewrite_uses_after(&alu->def, product, product->parent_instr);
   return true;
}

bool
apple9_lower_alu(nir_shader *shader)
{
   bool progress = nir_shader_alu_pass(shader, lower, nir_metadata_control_flow, NULL);
   if (nir_is_denorm_flush_to_zero(shader->info.float_controls_execution_mode, 32))
      progress |= nir_shader_alu_pass(shader, flush, nir_metadata_control_flow, NULL);
   return progress;
}

static bool
lower_frexp(nir_builder *b, nir_alu_instr *alu, void *data)
{
   (void)data;
   bool exponent = alu->op == nir_op_frexp_exp;
   if (!exponent && alu->op != nir_op_frexp_sig)
      return false;
   b->cursor = nir_before_instr(&alu->instr);
   nir_def *x = nir_ssa_for_alu_src(b, alu, 0);
   if (x->bit_size == 16) {
      nir_def *wide = nir_f2f32(b, x);
      nir_def_replace(&alu->def, exponent ? nir_frexp_exp(b, wide) : nir_f2f16(b, nir_frexp_sig(b, wide)));
      return true;
   }
   if (x->bit_size != 32)
      return false;
   /* The comparison takes denormals as zero. */
   nir_def *zero = nir_iand_imm(b, x, 0x80000000);
   nir_def *flushed = nir_bcsel(b, nir_feq_imm(b, x, 0), zero, x);
   nir_src_rewrite(&alu->src[0].src, flushed);
   for (unsigned i = 0; i < alu->def.num_components; i++)
      alu->src[0].swizzle[i] = i;
   return true;
}

bool
apple9_lower_frexp(nir_shader *shader)
{
   return nir_shader_alu_pass(shader, lower_frexp, nir_metadata_control_flow, NULL);
}

static bool
is_narrow(unsigned bits)
{
   return bits == 8 || bits == 16;
}

/* Whether the operation reads or writes integers of 8 or 16 bits other than by moving or converting them. */
static bool
is_narrow_arithmetic(const nir_alu_instr *alu)
{
   if (!is_narrow(alu->def.bit_size) && !is_narrow(nir_src_bit_size(alu->src[0].src)))
      return false;
   switch (alu->op) {
   case nir_op_mov:
   case nir_op_bcsel:
   case nir_op_b2i8:
   case nir_op_b2i16:
   case nir_op_pack_32_2x16_split:
   case nir_op_unpack_32_2x16_split_x:
   case nir_op_unpack_32_2x16_split_y:
   case nir_op_pack_32_2x16:
   case nir_op_unpack_32_2x16:
   case nir_op_pack_32_4x8:
   case nir_op_unpack_32_4x8:
   case nir_op_pack_32_4x8_split:
   case nir_op_pack_64_4x16:
   case nir_op_unpack_64_4x16:
      return false;
   default:
      break;
   }
   const nir_op_info *info = &nir_op_infos[alu->op];
   if (nir_op_is_vec(alu->op) || info->is_conversion)
      return false;
   bool integers = nir_alu_type_get_base_type(info->output_type) != nir_type_float;
   for (unsigned i = 0; i < info->num_inputs; i++)
      integers &= nir_alu_type_get_base_type(info->input_types[i]) != nir_type_float;
   return integers;
}

static unsigned
bit_size(const nir_instr *instr, void *data)
{
   (void)data;
   if (instr->type == nir_instr_type_alu)
      return is_narrow_arithmetic(nir_instr_as_alu(instr)) ? 32 : 0;
   if (instr->type != nir_instr_type_intrinsic)
      return 0;
   const nir_intrinsic_instr *intrin = nir_instr_as_intrinsic(instr);
   switch (intrin->intrinsic) {
   case nir_intrinsic_read_invocation:
   case nir_intrinsic_read_first_invocation:
   case nir_intrinsic_shuffle:
   case nir_intrinsic_shuffle_xor:
   case nir_intrinsic_shuffle_up:
   case nir_intrinsic_shuffle_down:
   case nir_intrinsic_quad_broadcast:
   case nir_intrinsic_quad_swap_horizontal:
   case nir_intrinsic_quad_swap_vertical:
   case nir_intrinsic_quad_swap_diagonal:
   case nir_intrinsic_reduce:
   case nir_intrinsic_inclusive_scan:
   case nir_intrinsic_exclusive_scan:
   case nir_intrinsic_vote_feq:
   case nir_intrinsic_vote_ieq:
      return is_narrow(nir_src_bit_size(intrin->src[0])) ? 32 : 0;
   default:
      return 0;
   }
}

bool
apple9_lower_bit_sizes(nir_shader *shader)
{
   return nir_lower_bit_size(shader, bit_size, NULL);
}

/* Products of address arithmetic have done their duty once addresses are chosen (lower_memory.c). */
static bool
lower_amul(nir_builder *b, nir_alu_instr *alu, void *data)
{
   (void)b;
   (void)data;
   if (alu->op != nir_op_amul)
      return false;
   alu->op = nir_op_imul;
   return true;
}

bool
apple9_lower_amul(nir_shader *shader)
{
   return nir_shader_alu_pass(shader, lower_amul, nir_metadata_all, NULL);
}

/* Is it one of those that nir_lower_int64() may have work with? Joining and parting words is not, nor are sums. */
static bool
is_wide(nir_instr *instr)
{
   if (instr->type == nir_instr_type_intrinsic) {
      const nir_intrinsic_instr *intrin = nir_instr_as_intrinsic(instr);
      return nir_intrinsic_infos[intrin->intrinsic].has_dest && intrin->def.bit_size == 64 &&
             intrin->intrinsic != nir_intrinsic_load_preamble;
   }
   if (instr->type != nir_instr_type_alu)
      return false;
   const nir_alu_instr *alu = nir_instr_as_alu(instr);
   switch (alu->op) {
   case nir_op_pack_64_2x32:
   case nir_op_pack_64_2x32_split:
   case nir_op_unpack_64_2x32:
   case nir_op_unpack_64_2x32_split_x:
   case nir_op_unpack_64_2x32_split_y:
   case nir_op_iadd:
   case nir_op_isub:
   case nir_op_mov:
      return false;
   default:
      break;
   }
   bool wide = alu->def.bit_size == 64;
   for (unsigned i = 0; i < nir_op_infos[alu->op].num_inputs; i++)
      wide |= alu->src[i].src.ssa->bit_size == 64;
   return wide;
}

bool
apple9_lower_int64(nir_shader *shader)
{
   nir_foreach_block(block, nir_shader_get_entrypoint(shader)) {
      nir_foreach_instr(instr, block) {
         if (is_wide(instr))
            return nir_lower_int64(shader);
      }
   }
   return false;
}
