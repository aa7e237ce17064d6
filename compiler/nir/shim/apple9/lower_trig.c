/* SPDX-License-Identifier: MIT */
/*
 * fsin and fcos by the hardware's sine of quarter turns. fsin_agx(p), for p in [-1, 1], is sin(p * pi / 2); the hardware
 * has sin(p * pi / 2) / p, which the back end multiplies by p.
 *
 * With h the whole (sine) or half (cosine: n - 1/2) number of half turns nearest to x, r = x - h * pi lies in about
 * [-pi/2, pi/2] and the result is +-sin(r), the sign being n's parity. Pi is the sum of three fp32 numbers, and each
 * step of r is one fused operation: the first is exact while h has few bits, as its result has no more bits than fp32
 * holds, so that up to |x| of about 2^20 the error of r is that of its last rounding.
 *
 * The rounding of x / pi may put r slightly outside: sin(p * pi/2) = sin((2 - p) * pi/2) folds it back. Where x is so
 * large that this does not suffice, a second reduction gives a value that is in range, if meaningless. Infinities and
 * NaN give NaN by themselves.
 */
#include "apple9.h"

#include "compiler/nir/nir_builder.h"

#define PI_HIGH 3.14159274101257324219
#define PI_MIDDLE -8.74227765734758577309e-08
#define PI_LOW -3.43024902762165790394e-15

static nir_def *
reduce(nir_builder *b, nir_def *x, nir_def *h)
{
   nir_def *minus = nir_fneg(b, h);
   nir_def *r = nir_ffma(b, minus, nir_imm_float(b, PI_HIGH), x);
   r = nir_ffma(b, minus, nir_imm_float(b, PI_MIDDLE), r);
   return nir_ffma(b, minus, nir_imm_float(b, PI_LOW), r);
}

static nir_def *
sine(nir_builder *b, nir_def *x, bool cosine)
{
   nir_def *per_half_turn = nir_imm_float(b, 0.318309886183790671538);
   nir_def *turns = cosine ? nir_ffma(b, x, per_half_turn, nir_imm_float(b, 0.5)) : nir_fmul(b, x, per_half_turn);
   nir_def *n = nir_fround_even(b, turns);
   nir_def *h = cosine ? nir_fadd(b, n, nir_imm_float(b, -0.5)) : n;
   nir_def *r = reduce(b, x, h);
   /* Of use only where the first n is beyond what fp32 can count exactly. */
   nir_def *again = nir_fround_even(b, nir_fmul(b, r, per_half_turn));
   nir_def *large = nir_flt(b, nir_imm_float(b, 4.0), nir_fabs(b, r));
   again = nir_bcsel(b, large, again, nir_imm_float(b, 0.0));
   r = nir_ffma(b, nir_fneg(b, again), nir_imm_float(b, PI_HIGH), r);

   nir_def *quarters = nir_fabs(b, nir_fmul(b, r, nir_imm_float(b, 0.636619772367581343076)));
   quarters = nir_fmin(b, quarters, nir_fadd(b, nir_imm_float(b, 2.0), nir_fneg(b, quarters)));
   /* A NaN compares false and stays. */
   quarters = nir_bcsel(b, nir_flt(b, quarters, nir_imm_float(b, 0.0)), nir_imm_float(b, 0.0), quarters);
   nir_def *parity = nir_ishl_imm(b, nir_iadd(b, nir_f2i32(b, n), nir_f2i32(b, again)), 31);
   nir_def *sign = nir_ixor(b, nir_iand_imm(b, r, 0x80000000), parity);
   return nir_fsin_agx(b, nir_ixor(b, quarters, sign));
}

static bool
lower(nir_builder *b, nir_alu_instr *alu, void *data)
{
   (void)data;
   if (alu->op != nir_op_fsin && alu->op != nir_op_fcos)
      return false;
   unsigned bits = alu->def.bit_size;
   if (bits != 16 && bits != 32)
      return false;
   b->cursor = nir_before_instr(&alu->instr);
   /* No rewriting: the order of the operations is what makes them precise. */
   bool exact = b->exact;
   b->exact = true;
   nir_def *x = nir_f2f32(b, nir_ssa_for_alu_src(b, alu, 0));
   nir_def *result = nir_f2fN(b, sine(b, x, alu->op == nir_op_fcos), bits);
   b->exact = exact;
   nir_def_replace(&alu->def, result);
   return true;
}

bool
apple9_lower_trig(nir_shader *shader)
{
   return nir_shader_alu_pass(shader, lower, nir_metadata_control_flow, NULL);
}
