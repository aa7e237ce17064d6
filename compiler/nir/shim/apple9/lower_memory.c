/* SPDX-License-Identifier: MIT */
/*
 * From buffers, pointers and workgroup slices to the hardware's addresses:
 *
 *    address = base (64 bits) + (index (32 bits, unsigned) << shift) + offset (16 bits, signed)
 *
 * with shift from 0 to 4. All sums are of more than 32 bits, so that what wraps in the program's 32-bit arithmetic must
 * not be taken apart. BASE of the accesses is offset * 8 + shift; atomics have a shift of 2 and no offset.
 *
 * What may be taken apart:
 *  - products of explicit I/O (amul), which do not wrap as an index out of bounds is undefined behaviour, and sums of
 *    them: not where the shader checks bounds, as what is undefined otherwise is defined there;
 *  - what an upper bound on the operands shows not to wrap.
 *
 * A signed 32-bit index into memory behind a 64-bit pointer is made unsigned by a bias: i = (i ^ 2^31) - 2^31, and the
 * bias goes into the base, which often does not change in a loop.
 *
 * Bounds checks take no branch: the high word of the base becomes 0x400, bit 42 of the address, where nothing is ever
 * mapped: loads give 0, stores and atomics do nothing (isa-2, 2.6). An access counts as a whole. Buffers are at most
 * 2^32 - 2^16 bytes long. What access chains add up is checked as the number it is; the offsets of pointers that steps
 * or selections have made are modulo 2^32 before they can be.
 */
#include "apple9.h"

#include "compiler/nir/nir_builder.h"
#include "compiler/nir/nir_range_analysis.h"
#include "util/hash_table.h"
#include "util/u_math.h"

#include "../unsupported.h"

struct state {
   nir_shader *shader;
   bool robust;
   struct hash_table *ranges;
};

struct address {
   nir_def *base;
   /* Null for 0. */
   nir_def *index;
   unsigned shift;
   int64_t offset;
};

static const nir_unsigned_upper_bound_config bounds = {
   .min_subgroup_size = 32,
   .max_subgroup_size = 32,
   .max_workgroup_invocations = 1024,
   .max_workgroup_count = { UINT16_MAX, UINT16_MAX, UINT16_MAX },
   .max_workgroup_size = { 1024, 1024, 1024 },
};

static uint64_t
upper_bound(struct state *s, nir_scalar x)
{
   return nir_unsigned_upper_bound(s->shader, s->ranges, x, &bounds);
}

static bool
is_alu_op(nir_scalar x, nir_op op)
{
   return nir_scalar_is_alu(x) && nir_scalar_alu_op(x) == op;
}

static nir_scalar
source(nir_scalar x, unsigned i)
{
   return nir_scalar_chase_movs(nir_scalar_chase_alu_src(x, i));
}

/* The most terms that a sum of products is taken apart into. */
#define TERMS 8

/* A sum of values times factors, none of which wraps, and a constant. */
struct sum {
   unsigned count;
   struct {
      nir_scalar value;
      uint64_t factor;
   } terms[TERMS];
   int64_t constant;
};

static bool
add_term(struct sum *sum, nir_scalar value, uint64_t factor)
{
   if (sum->count == TERMS)
      return false;
   sum->terms[sum->count].value = value;
   sum->terms[sum->count++].factor = factor;
   return true;
}

/* Add a product, with the constant part of its value apart if the value does not wrap. */
static bool
add_product(struct state *s, nir_scalar value, uint64_t factor, bool trusted, struct sum *sum)
{
   value = nir_scalar_chase_movs(value);
   for (unsigned i = 0; is_alu_op(value, nir_op_iadd) && i < 2; i++) {
      if (!nir_scalar_is_const(source(value, i)))
         continue;
      int64_t constant = (int32_t)nir_scalar_as_uint(source(value, i));
      uint64_t most = upper_bound(s, source(value, !i));
      /* Where the whole is in bounds, a sum below zero would not be. */
      bool wraps = constant < 0 ? !trusted || most > INT32_MAX : most + constant > UINT32_MAX;
      if (wraps || llabs(constant) > 0x8000 || factor > 0x8000 ||
          sum->constant + constant * (int64_t)factor < -0x8000)
         continue;
      sum->constant += constant * (int64_t)factor;
      return add_term(sum, source(value, !i), factor);
   }
   return add_term(sum, value, factor);
}

/* Take a 32-bit expression apart. `trusted`: address arithmetic does not wrap. False if there is no room. */
static bool
split_sum(struct state *s, nir_scalar x, bool trusted, struct sum *sum)
{
   x = nir_scalar_chase_movs(x);
   if (nir_scalar_is_const(x)) {
      sum->constant += (int32_t)nir_scalar_as_uint(x);
      return true;
   }
   if (is_alu_op(x, nir_op_amul) && trusted) {
      for (unsigned i = 0; i < 2; i++) {
         if (nir_scalar_is_const(source(x, i)))
            return add_product(s, source(x, !i), nir_scalar_as_uint(source(x, i)), true, sum);
      }
   }
   if (is_alu_op(x, nir_op_imul) || is_alu_op(x, nir_op_amul)) {
      for (unsigned i = 0; i < 2; i++) {
         if (!nir_scalar_is_const(source(x, i)))
            continue;
         uint64_t factor = nir_scalar_as_uint(source(x, i));
         if (upper_bound(s, source(x, !i)) * factor <= UINT32_MAX)
            return add_product(s, source(x, !i), factor, false, sum);
      }
   }
   if (is_alu_op(x, nir_op_ishl) && nir_scalar_is_const(source(x, 1))) {
      unsigned shift = nir_scalar_as_uint(source(x, 1)) & 31;
      if (upper_bound(s, source(x, 0)) << shift <= UINT32_MAX)
         return add_product(s, source(x, 0), UINT64_C(1) << shift, false, sum);
   }
   if (is_alu_op(x, nir_op_iadd)) {
      struct sum parts = *sum;
      if (split_sum(s, source(x, 0), trusted, &parts) && split_sum(s, source(x, 1), trusted, &parts)) {
         *sum = parts;
         return true;
      }
   }
   return add_term(sum, x, 1);
}

/* Whether the sum, constant included, is below 2^32 whatever the values are. */
static bool
sum_is_bounded(struct state *s, const struct sum *sum)
{
   double total = sum->constant > 0 ? sum->constant : 0;
   for (unsigned i = 0; i < sum->count; i++)
      total += (double)upper_bound(s, sum->terms[i].value) * (double)sum->terms[i].factor;
   return total <= UINT32_MAX;
}

/* Whether the value is address arithmetic: products of explicit I/O, sums of them, and constants. */
static bool
is_product(nir_scalar x)
{
   x = nir_scalar_chase_movs(x);
   if (is_alu_op(x, nir_op_iadd))
      return (nir_scalar_is_const(source(x, 0)) || is_product(source(x, 0))) &&
             (nir_scalar_is_const(source(x, 1)) || is_product(source(x, 1)));
   return is_alu_op(x, nir_op_amul);
}

static nir_def *
scalar(nir_builder *b, nir_scalar x)
{
   return nir_channel(b, x.def, x.comp);
}

/* A 32-bit byte count as index, shift and offset. */
static void
split_offset(nir_builder *b, struct state *s, nir_scalar x, bool trusted, struct address *address)
{
   x = nir_scalar_chase_movs(x);
   if (nir_scalar_is_const(x)) {
      address->offset += nir_scalar_as_uint(x);
      return;
   }
   struct sum sum = { .count = 0 };
   bool whole = split_sum(s, x, trusted, &sum);
   /* Sums are modulo 2^32, and no valid offset lies in the last 64 KiB: what is there is negative. */
   sum.constant &= UINT32_MAX;
   if (sum.constant > UINT32_MAX - 0x10000)
      sum.constant -= INT64_C(1) << 32;
   /* A negative constant must not take the value below zero, which only a pointer that is in bounds promises. */
   bool exact = (trusted && is_product(x)) || (sum_is_bounded(s, &sum) && (sum.constant >= 0 || trusted));
   if (!whole || sum.count == 0 || !exact) {
      address->index = scalar(b, x);
      address->shift = 0;
      return;
   }
   /* The largest power of two that all factors have, up to the largest shift. */
   unsigned shift = 4;
   for (unsigned i = 0; i < sum.count; i++) {
      if (sum.terms[i].factor)
         shift = MIN2(shift, (unsigned)ffsll(sum.terms[i].factor) - 1);
   }
   nir_def *index = NULL;
   for (unsigned i = 0; i < sum.count; i++) {
      nir_def *term = nir_imul_imm(b, scalar(b, sum.terms[i].value), sum.terms[i].factor >> shift);
      index = index ? nir_iadd(b, index, term) : term;
   }
   address->index = index;
   address->shift = shift;
   address->offset += sum.constant;
}

/* Take the terms of a 64-bit sum, the constant ones into `address`, one of 32 bits into `*narrow`, others to the base. */
static void
split_base(nir_builder *b, struct state *s, nir_scalar x, struct address *address, nir_scalar *narrow, bool *is_signed,
           unsigned *shift)
{
   x = nir_scalar_chase_movs(x);
   if (nir_scalar_is_const(x)) {
      address->offset += (int64_t)nir_scalar_as_uint(x);
      return;
   }
   if (is_alu_op(x, nir_op_iadd)) {
      split_base(b, s, source(x, 0), address, narrow, is_signed, shift);
      split_base(b, s, source(x, 1), address, narrow, is_signed, shift);
      return;
   }
   /* A product of an extended 32-bit index. */
   nir_scalar y = x;
   unsigned power = 0;
   uint64_t multiplier = 0;
   bool scaled = true;
   if (is_alu_op(y, nir_op_ishl) && nir_scalar_is_const(source(y, 1)) && nir_scalar_as_uint(source(y, 1)) <= 4) {
      power = nir_scalar_as_uint(source(y, 1));
      y = source(y, 0);
   } else if (is_alu_op(y, nir_op_amul) || is_alu_op(y, nir_op_imul)) {
      scaled = false;
      for (unsigned i = 0; i < 2 && !scaled; i++) {
         if (!nir_scalar_is_const(source(y, i)))
            continue;
         uint64_t factor = nir_scalar_as_uint(source(y, i));
         if (util_is_power_of_two_nonzero64(factor) && factor <= 16)
            power = util_logbase2_64(factor);
         else
            multiplier = factor;
         y = source(y, !i);
         scaled = true;
      }
   }
   bool extended = is_alu_op(y, nir_op_u2u64) || is_alu_op(y, nir_op_i2i64);
   extended = extended && scaled && source(y, 0).def->bit_size == 32;
   if (extended && multiplier && multiplier <= INT32_MAX) {
      nir_def *index = scalar(b, source(y, 0));
      nir_def *factor = nir_imm_int(b, multiplier);
      nir_def *product =
         is_alu_op(y, nir_op_u2u64) ? nir_umul_2x32_64(b, index, factor) : nir_imul_2x32_64(b, index, factor);
      address->base = address->base ? nir_iadd(b, address->base, product) : product;
      return;
   }
   if (extended && !multiplier && !narrow->def) {
      *narrow = source(y, 0);
      *is_signed = is_alu_op(y, nir_op_i2i64) && upper_bound(s, *narrow) > INT32_MAX;
      *shift = power;
      return;
   }
   nir_def *term = scalar(b, x);
   address->base = address->base ? nir_iadd(b, address->base, term) : term;
}

static struct address
from_pointer(nir_builder *b, struct state *s, nir_def *pointer)
{
   struct address address = { 0 };
   nir_scalar narrow = { 0 };
   bool is_signed = false;
   unsigned shift = 0;
   split_base(b, s, nir_get_scalar(pointer, 0), &address, &narrow, &is_signed, &shift);
   if (!address.base) {
      address.base = nir_imm_int64(b, address.offset);
      address.offset = 0;
   }
   if (narrow.def && is_signed) {
      address.index = nir_ixor(b, scalar(b, narrow), nir_imm_int(b, 0x80000000));
      address.shift = shift;
      address.base = nir_iadd_imm(b, address.base, -(INT64_C(1) << (31 + shift)));
   } else if (narrow.def && shift > 0) {
      address.index = scalar(b, narrow);
      address.shift = shift;
   } else if (narrow.def) {
      /* The program may have extended a sum of its own that wraps. */
      split_offset(b, s, narrow, is_product(narrow), &address);
   }
   return address;
}

/* Bring the offset into its field, and give what has no index one. */
static void
finish(nir_builder *b, struct address *address)
{
   int64_t high = (address->offset + 0x8000) & ~INT64_C(0xffff);
   if (high) {
      address->base = nir_iadd_imm(b, address->base, high);
      address->offset -= high;
   }
   if (!address->index) {
      address->index = nir_imm_int(b, 0);
      address->shift = 0;
   }
}

/* For atomics: a shift of 2 and no offset. */
static void
finish_atomic(nir_builder *b, struct address *address)
{
   if (address->offset) {
      address->base = nir_iadd_imm(b, address->base, address->offset);
      address->offset = 0;
   }
   if (!address->index) {
      address->index = nir_imm_int(b, 0);
   } else if (address->shift != 2) {
      nir_def *bytes = nir_umul_2x32_64(b, address->index, nir_imm_int(b, 1 << address->shift));
      address->base = nir_iadd(b, address->base, bytes);
      address->index = nir_imm_int(b, 0);
   }
   address->shift = 2;
}

static int
base_index(const struct address *address)
{
   return (int)address->offset * 8 + (int)address->shift;
}

static nir_def *
load_descriptor(nir_builder *b, struct state *s, nir_def *pair, unsigned first, unsigned words)
{
   nir_def *pointer;
   nir_scalar low = nir_scalar_chase_movs(nir_get_scalar(pair, 0));
   nir_scalar high = nir_scalar_chase_movs(nir_get_scalar(pair, 1));
   if (is_alu_op(low, nir_op_unpack_64_2x32_split_x) && is_alu_op(high, nir_op_unpack_64_2x32_split_y) &&
       nir_scalar_equal(source(low, 0), source(high, 0)))
      pointer = scalar(b, source(low, 0));
   else
      pointer = nir_pack_64_2x32_split(b, scalar(b, low), scalar(b, high));
   struct address address = from_pointer(b, s, pointer);
   address.offset += first * 4;
   finish(b, &address);
   return nir_load_constant_agx(b, words, 32, address.base, address.index, .base = base_index(&address),
                                .access = ACCESS_CAN_REORDER);
}

/*
 * Take an offset that only access chains have made apart: products of indices and strides, which explicit I/O made, and
 * constants. Exact whatever the indices are. False for others, which pointer steps and selections of pointers make.
 */
static bool
split_chain(struct state *s, nir_scalar x, struct sum *sum)
{
   x = nir_scalar_chase_movs(x);
   if (nir_scalar_is_const(x)) {
      sum->constant += (int32_t)nir_scalar_as_uint(x);
      return true;
   }
   if (is_alu_op(x, nir_op_amul)) {
      for (unsigned i = 0; i < 2; i++) {
         if (nir_scalar_is_const(source(x, i)))
            return add_product(s, source(x, !i), nir_scalar_as_uint(source(x, i)), false, sum);
      }
   }
   return is_alu_op(x, nir_op_iadd) && split_chain(s, source(x, 0), sum) && split_chain(s, source(x, 1), sum);
}

/* What an access does to memory. */
enum access_kind {
   LOAD,
   STORE,
   ATOMIC,
};

/* Bytes of a buffer less `bytes`, at least 0: what an offset must be below for `bytes` more than one to follow it. */
static nir_def *
room(nir_builder *b, nir_def *size, uint64_t bytes)
{
   if (bytes > UINT32_MAX)
      return nir_imm_int(b, 0);
   return nir_iadd_imm(b, nir_umax(b, size, nir_imm_int(b, bytes)), -(int64_t)bytes);
}

/*
 * Whether `bytes` at an offset that access chains have made lie in a buffer of `size`, and the offset as parts of an
 * address. The sum of the products is compared as it is and not modulo 2^32. Null if that cannot be.
 */
static nir_def *
check_chain(nir_builder *b, struct state *s, nir_def *size, nir_scalar offset, unsigned bytes, bool atomic,
            struct address *address)
{
   struct sum sum = { .count = 0 };
   if (!split_chain(s, offset, &sum) || sum.constant < 0)
      return NULL;
   nir_def *limit = room(b, size, sum.constant + bytes - 1);
   address->offset = sum.constant;
   if (sum.count == 0)
      return nir_ult(b, nir_imm_int(b, 0), limit);

   uint64_t factors = 0;
   bool whole_words = true;
   for (unsigned i = 0; i < sum.count; i++) {
      factors += sum.terms[i].factor;
      whole_words &= sum.terms[i].factor % 4 == 0;
   }
   /* The sum of the products must fit in 64 bits. */
   if (factors > UINT32_MAX || (atomic && !whole_words))
      return NULL;

   if (sum.count == 1 && util_is_power_of_two_nonzero64(factors) && factors <= 0x10000) {
      /* index * 2^n < limit where index < limit / 2^n, rounded up, which no large index passes. */
      unsigned power = util_logbase2_64(factors);
      nir_def *index = scalar(b, sum.terms[0].value);
      nir_def *indices = nir_ushr_imm(b, nir_iadd_imm(b, limit, factors - 1), power);
      address->shift = atomic ? 2 : MIN2(power, 4);
      address->index = nir_ishl_imm(b, index, power - address->shift);
      return nir_ult(b, index, indices);
   }

   nir_def *total = NULL;
   if (sum_is_bounded(s, &sum)) {
      for (unsigned i = 0; i < sum.count; i++) {
         nir_def *product = nir_imul_imm(b, scalar(b, sum.terms[i].value), sum.terms[i].factor);
         total = total ? nir_iadd(b, total, product) : product;
      }
   } else {
      for (unsigned i = 0; i < sum.count; i++) {
         nir_def *value = scalar(b, sum.terms[i].value);
         nir_def *product = sum.terms[i].factor == 1
                               ? nir_pack_64_2x32_split(b, value, nir_imm_int(b, 0))
                               : nir_umul_2x32_64(b, value, nir_imm_int(b, sum.terms[i].factor));
         total = total ? nir_iadd(b, total, product) : product;
      }
      /* What does not fit in 32 bits becomes an aligned offset beyond the longest buffer. */
      nir_def *fits = nir_ieq_imm(b, nir_unpack_64_2x32_split_y(b, total), 0);
      total = nir_bcsel(b, fits, nir_unpack_64_2x32_split_x(b, total), nir_imm_int(b, -16));
   }
   address->shift = atomic ? 2 : 0;
   address->index = nir_ushr_imm(b, total, address->shift);
   return nir_ult(b, total, limit);
}

/* An access of `bytes` at an offset into a buffer. One out of bounds goes to a page that is there for it. */
static struct address
from_buffer(nir_builder *b, struct state *s, nir_def *pair, nir_def *offset, unsigned bytes, enum access_kind kind)
{
   bool atomic = kind == ATOMIC;
   nir_def *descriptor = load_descriptor(b, s, pair, 0, s->robust ? 3 : 2);
   struct address address = { 0 };
   nir_def *low = nir_channel(b, descriptor, 0);
   nir_def *high = nir_channel(b, descriptor, 1);
   bool located = false;
   if (s->robust) {
      nir_def *size = nir_channel(b, descriptor, 2);
      nir_def *fits = check_chain(b, s, size, nir_get_scalar(offset, 0), bytes, atomic, &address);
      located = fits != NULL;
      if (!located) {
         address = (struct address){ 0 };
         fits = nir_ult(b, offset, room(b, size, bytes - 1));
         offset = nir_bcsel(b, fits, offset, nir_imm_int(b, 0));
      } else if (address.index) {
         address.index = nir_bcsel(b, fits, address.index, nir_imm_int(b, 0));
      }
      /* The constant part of the offset is added in either case. */
      uint64_t page = (uint64_t)CORTLAND_BOUNDS_PAGES_HIGH << 32 |
                      (kind == LOAD ? CORTLAND_ZERO_PAGE_LOW : CORTLAND_SINK_PAGE_LOW);
      page -= address.offset;
      low = nir_bcsel(b, fits, low, nir_imm_int(b, (uint32_t)page));
      high = nir_bcsel(b, fits, high, nir_imm_int(b, page >> 32));
   }
   address.base = nir_pack_64_2x32_split(b, low, high);
   if (located)
      return address;
   if (s->robust && atomic) {
      address.index = nir_ushr_imm(b, offset, 2);
      address.shift = 2;
   } else {
      split_offset(b, s, nir_get_scalar(offset, 0), !s->robust, &address);
      if (atomic && address.shift != 2 && address.index) {
         /* Both the buffer and the whole offset are whole words. */
         address.index = nir_ushr_imm(b, offset, 2);
         address.shift = 2;
         address.offset = 0;
      }
   }
   return address;
}

/* An offset into the slice of device memory of the workgroup that was launched: they are in one row. */
static struct address
from_slice(nir_builder *b, struct state *s, nir_def *offset)
{
   nir_def *number = nir_channel(b, nir_load_workgroup_id(b), 0);
   nir_def *slice = nir_umul_2x32_64(b, number, nir_imm_int(b, s->shader->info.task_payload_size));
   struct address address = {
      .base = nir_iadd(b, nir_load_preamble(b, 1, 64, .base = CORTLAND_ROOT_WORKGROUP_MEMORY), slice),
   };
   split_offset(b, s, nir_get_scalar(offset, 0), true, &address);
   return address;
}

static nir_def *
load(nir_builder *b, nir_intrinsic_instr *intrin, struct address address, bool constant)
{
   unsigned access = nir_intrinsic_has_access(intrin) ? nir_intrinsic_access(intrin) : 0;
   unsigned components = intrin->def.num_components;
   unsigned bits = intrin->def.bit_size;
   /* Whoever polls must look each time, even if this shader writes nothing there (isa-4, 9.2). */
   bool polls = !constant && (access & (ACCESS_COHERENT | ACCESS_VOLATILE));
   if (polls && bits == 32 && components == 1)
      finish_atomic(b, &address);
   else
      finish(b, &address);
   if (constant || (!polls && (access & ACCESS_CAN_REORDER)))
      return nir_load_constant_agx(b, components, bits, address.base, address.index, .base = base_index(&address),
                                   .access = access | ACCESS_CAN_REORDER);
   return nir_load_agx(b, components, bits, address.base, address.index, .base = base_index(&address),
                       .access = polls ? access & ~ACCESS_CAN_REORDER : access);
}

static void
store(nir_builder *b, nir_intrinsic_instr *intrin, struct address address)
{
   unsigned access = nir_intrinsic_has_access(intrin) ? nir_intrinsic_access(intrin) : 0;
   finish(b, &address);
   nir_store_agx(b, intrin->src[0].ssa, address.base, address.index, .base = base_index(&address), .access = access);
}

static nir_def *
atomic(nir_builder *b, nir_intrinsic_instr *intrin, struct address address, nir_def *data, nir_def *data2)
{
   finish_atomic(b, &address);
   nir_atomic_op op = nir_intrinsic_atomic_op(intrin);
   if (data2)
      return nir_global_atomic_swap_agx(b, 32, address.base, address.index, data, data2, .atomic_op = op);
   return nir_global_atomic_agx(b, 32, address.base, address.index, data, .atomic_op = op);
}

static unsigned
bytes(const nir_def *def)
{
   return def->num_components * def->bit_size / 8;
}

static nir_def *
with_base(nir_builder *b, nir_intrinsic_instr *intrin, nir_def *offset)
{
   return nir_iadd_imm(b, offset, nir_intrinsic_base(intrin));
}

static bool
lower(nir_builder *b, nir_intrinsic_instr *intrin, void *data)
{
   struct state *s = data;
   b->cursor = nir_before_instr(&intrin->instr);
   nir_src *src = intrin->src;
   nir_def *result = NULL;
   switch (intrin->intrinsic) {
   case nir_intrinsic_load_ssbo:
   case nir_intrinsic_load_ubo:
      result = load(b, intrin, from_buffer(b, s, src[0].ssa, src[1].ssa, bytes(&intrin->def), LOAD),
                    intrin->intrinsic == nir_intrinsic_load_ubo);
      break;
   case nir_intrinsic_store_ssbo:
      store(b, intrin, from_buffer(b, s, src[1].ssa, src[2].ssa, bytes(src[0].ssa), STORE));
      break;
   case nir_intrinsic_ssbo_atomic:
      result = atomic(b, intrin, from_buffer(b, s, src[0].ssa, src[1].ssa, 4, ATOMIC), src[2].ssa, NULL);
      break;
   case nir_intrinsic_ssbo_atomic_swap:
      result = atomic(b, intrin, from_buffer(b, s, src[0].ssa, src[1].ssa, 4, ATOMIC), src[2].ssa, src[3].ssa);
      break;
   case nir_intrinsic_get_ssbo_size:
      result = load_descriptor(b, s, src[0].ssa, 2, 1);
      break;
   case nir_intrinsic_load_push_constant: {
      nir_def *root = nir_load_preamble(b, 1, 64, .base = CORTLAND_ROOT_PUSH_CONSTANTS);
      struct address address = { .base = root };
      split_offset(b, s, nir_get_scalar(with_base(b, intrin, src[0].ssa), 0), true, &address);
      result = load(b, intrin, address, true);
      break;
   }
   case nir_intrinsic_load_global:
   case nir_intrinsic_load_global_constant:
      result = load(b, intrin, from_pointer(b, s, src[0].ssa),
                    intrin->intrinsic == nir_intrinsic_load_global_constant);
      break;
   case nir_intrinsic_store_global:
      store(b, intrin, from_pointer(b, s, src[1].ssa));
      break;
   case nir_intrinsic_global_atomic:
      result = atomic(b, intrin, from_pointer(b, s, src[0].ssa), src[1].ssa, NULL);
      break;
   case nir_intrinsic_global_atomic_swap:
      result = atomic(b, intrin, from_pointer(b, s, src[0].ssa), src[1].ssa, src[2].ssa);
      break;
   case nir_intrinsic_load_task_payload:
      result = load(b, intrin, from_slice(b, s, with_base(b, intrin, src[0].ssa)), false);
      break;
   case nir_intrinsic_store_task_payload:
      store(b, intrin, from_slice(b, s, with_base(b, intrin, src[1].ssa)));
      break;
   case nir_intrinsic_task_payload_atomic:
      result = atomic(b, intrin, from_slice(b, s, with_base(b, intrin, src[0].ssa)), src[1].ssa, NULL);
      break;
   case nir_intrinsic_task_payload_atomic_swap:
      result = atomic(b, intrin, from_slice(b, s, with_base(b, intrin, src[0].ssa)), src[1].ssa, src[2].ssa);
      break;
   default:
      return false;
   }
   if (result)
      nir_def_replace(&intrin->def, result);
   else
      nir_instr_remove(&intrin->instr);
   return true;
}

bool
apple9_lower_memory(nir_shader *shader, const struct cortland_compute_lowering *lowering)
{
   struct state s = {
      .shader = shader,
      .robust = lowering->robust,
      .ranges = _mesa_pointer_hash_table_create(shader),
   };
   bool progress = nir_shader_intrinsics_pass(shader, lower, nir_metadata_control_flow, &s);
   _mesa_hash_table_destroy(s.ranges, NULL);
   return progress;
}
