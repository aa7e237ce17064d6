/* SPDX-License-Identifier: MIT */
/*
 * The form that the back end takes, as a check: the last thing that lowering does. What does not fit is an error that
 * names it, so that the back end may rely on what follows.
 */
#include "apple9.h"

#include "../unsupported.h"

/* Widths of results and sources: bit 0 for 1 bit, 1 for 8, 2 for 16, 3 for 32, 4 for 64. */
enum widths {
   W1 = 1 << 0,
   W8 = 1 << 1,
   W16 = 1 << 2,
   W32 = 1 << 3,
   W64 = 1 << 4,
   FLOATS = W16 | W32,
};

static unsigned
width(unsigned bits)
{
   switch (bits) {
   case 1: return W1;
   case 8: return W8;
   case 16: return W16;
   case 32: return W32;
   case 64: return W64;
   default: return 0;
   }
}

/* The widths that the operation may have in its result and in its first source that is not a Boolean. */
static void
allowed_widths(nir_op op, unsigned *result, unsigned *sources)
{
   *result = *sources = 0;
   switch (op) {
   case nir_op_mov:
   case nir_op_vec2:
   case nir_op_vec3:
   case nir_op_vec4:
   case nir_op_vec5:
   case nir_op_vec8:
   case nir_op_vec16:
      *result = *sources = W1 | W8 | W16 | W32 | W64;
      break;
   case nir_op_bcsel:
      *result = *sources = W1 | W8 | W16 | W32 | W64;
      break;
   case nir_op_fadd:
   case nir_op_fmul:
   case nir_op_ffma:
   case nir_op_fmin:
   case nir_op_fmax:
   case nir_op_frcp:
   case nir_op_frsq:
   case nir_op_fsqrt:
   case nir_op_fexp2:
   case nir_op_flog2:
   case nir_op_ffloor:
   case nir_op_fceil:
   case nir_op_ftrunc:
   case nir_op_fround_even:
   case nir_op_fabs:
   case nir_op_fneg:
   case nir_op_fsat:
      *result = *sources = FLOATS;
      break;
   case nir_op_fsin_agx:
   case nir_op_isub:
   case nir_op_iadd:
      *result = *sources = W32;
      if (op != nir_op_fsin_agx)
         *result = *sources = W32 | W64;
      break;
   case nir_op_f2f16:
      *result = W16, *sources = W32;
      break;
   case nir_op_f2f32:
      *result = W32, *sources = W16;
      break;
   case nir_op_f2i32:
   case nir_op_f2u32:
   case nir_op_i2f32:
   case nir_op_u2f32:
   case nir_op_ineg:
   case nir_op_iabs:
   case nir_op_imin:
   case nir_op_imax:
   case nir_op_umin:
   case nir_op_umax:
   case nir_op_ishl:
   case nir_op_ishr:
   case nir_op_ushr:
   case nir_op_imul:
   case nir_op_imul_high:
   case nir_op_umul_high:
   case nir_op_bit_count:
   case nir_op_ufind_msb:
   case nir_op_bitfield_reverse:
   case nir_op_urol:
   case nir_op_uror:
   case nir_op_pack_unorm_2x16:
   case nir_op_pack_unorm_4x8:
   case nir_op_pack_snorm_2x16:
   case nir_op_pack_snorm_4x8:
   case nir_op_unpack_unorm_2x16:
   case nir_op_unpack_unorm_4x8:
   case nir_op_unpack_snorm_2x16:
   case nir_op_unpack_snorm_4x8:
   case nir_op_pack_half_2x16:
   case nir_op_pack_half_2x16_split:
   case nir_op_unpack_half_2x16_split_x:
   case nir_op_unpack_half_2x16_split_y:
      *result = *sources = W32;
      break;
   case nir_op_iand:
   case nir_op_ior:
   case nir_op_ixor:
   case nir_op_inot:
      *result = *sources = W1 | W32;
      break;
   case nir_op_flt:
   case nir_op_fge:
   case nir_op_feq:
   case nir_op_fneu:
      *result = W1, *sources = FLOATS;
      break;
   case nir_op_ilt:
   case nir_op_ige:
   case nir_op_ult:
   case nir_op_uge:
      *result = W1, *sources = W32;
      break;
   case nir_op_ieq:
   case nir_op_ine:
      *result = W1, *sources = W1 | W32;
      break;
   case nir_op_b2i8:
   case nir_op_b2i16:
   case nir_op_b2i32:
      *result = W8 | W16 | W32, *sources = W1;
      break;
   case nir_op_b2f16:
   case nir_op_b2f32:
      *result = FLOATS, *sources = W1;
      break;
   case nir_op_i2i8:
   case nir_op_i2i16:
   case nir_op_i2i32:
   case nir_op_u2u8:
   case nir_op_u2u16:
   case nir_op_u2u32:
      *result = *sources = W8 | W16 | W32;
      break;
   case nir_op_imul_2x32_64:
   case nir_op_umul_2x32_64:
   case nir_op_pack_64_2x32_split:
      *result = W64, *sources = W32;
      break;
   case nir_op_unpack_64_2x32_split_x:
   case nir_op_unpack_64_2x32_split_y:
      *result = W32, *sources = W64;
      break;
   case nir_op_pack_32_2x16_split:
      *result = W32, *sources = W16;
      break;
   case nir_op_unpack_32_2x16_split_x:
   case nir_op_unpack_32_2x16_split_y:
      *result = W16, *sources = W32;
      break;
   default:
      break;
   }
}

/* Whether the operation may have or read more than one component. */
static bool
may_be_vector(nir_op op)
{
   switch (op) {
   case nir_op_mov:
   case nir_op_pack_unorm_2x16:
   case nir_op_pack_unorm_4x8:
   case nir_op_pack_snorm_2x16:
   case nir_op_pack_snorm_4x8:
   case nir_op_unpack_unorm_2x16:
   case nir_op_unpack_unorm_4x8:
   case nir_op_unpack_snorm_2x16:
   case nir_op_unpack_snorm_4x8:
   case nir_op_pack_half_2x16:
      return true;
   default:
      return nir_op_is_vec(op);
   }
}

static void
check_alu(nir_alu_instr *alu)
{
   unsigned result, sources;
   const nir_op_info *info = &nir_op_infos[alu->op];
   allowed_widths(alu->op, &result, &sources);
   bool fits = result & width(alu->def.bit_size);
   for (unsigned i = 0; i < info->num_inputs; i++) {
      unsigned bits = nir_src_bit_size(alu->src[i].src);
      bool condition = alu->op == nir_op_bcsel && i == 0;
      bool amount = i == 1 && (alu->op == nir_op_ishl || alu->op == nir_op_ishr || alu->op == nir_op_ushr);
      fits &= condition ? bits == 1 : amount ? bits == 32 : (sources & width(bits)) != 0;
   }
   if (!fits)
      unsupported("the operation %s from %u to %u bits", info->name, nir_src_bit_size(alu->src[0].src),
                  alu->def.bit_size);
   if (alu->def.num_components > 1 && !may_be_vector(alu->op))
      unsupported("the operation %s on vectors", info->name);
}

static bool
is_zero_or_word(unsigned bits, unsigned components, unsigned most)
{
   return bits == 32 && components >= 1 && components <= most;
}

static bool
is_device_width(const nir_def *value)
{
   if (value->bit_size == 8 || value->bit_size == 16)
      return value->num_components == 1;
   return is_zero_or_word(value->bit_size, value->num_components, 4);
}

static bool
fits(nir_intrinsic_instr *intrin)
{
   const nir_def *def = &intrin->def;
   const nir_src *src = intrin->src;
   switch (intrin->intrinsic) {
   case nir_intrinsic_load_agx:
   case nir_intrinsic_load_constant_agx:
      return is_device_width(def) && src[0].ssa->bit_size == 64 && src[1].ssa->bit_size == 32;
   case nir_intrinsic_store_agx:
      return is_device_width(src[0].ssa) && src[1].ssa->bit_size == 64 && src[2].ssa->bit_size == 32;
   case nir_intrinsic_global_atomic_agx:
   case nir_intrinsic_global_atomic_swap_agx:
      return def->bit_size == 32 && def->num_components == 1;
   case nir_intrinsic_load_preamble:
      return def->bit_size == 64 && def->num_components == 1;
   case nir_intrinsic_load_shared:
   case nir_intrinsic_load_scratch:
      return is_zero_or_word(def->bit_size, def->num_components, 1);
   case nir_intrinsic_store_shared:
   case nir_intrinsic_store_scratch:
      return is_zero_or_word(src[0].ssa->bit_size, src[0].ssa->num_components, 1) &&
             nir_intrinsic_write_mask(intrin) == 1;
   case nir_intrinsic_ballot:
      return is_zero_or_word(def->bit_size, def->num_components, 1) && src[0].ssa->bit_size == 1;
   case nir_intrinsic_shuffle:
      return is_zero_or_word(def->bit_size, def->num_components, 1);
   case nir_intrinsic_shuffle_xor:
      return is_zero_or_word(def->bit_size, def->num_components, 1) && nir_src_is_const(src[1]) &&
             nir_src_as_uint(src[1]) < 32;
   case nir_intrinsic_reduce:
      switch (nir_intrinsic_reduction_op(intrin)) {
      case nir_op_iadd:
      case nir_op_iand:
      case nir_op_ior:
      case nir_op_ixor:
      case nir_op_imin:
      case nir_op_imax:
      case nir_op_umin:
      case nir_op_umax:
      case nir_op_fadd:
      case nir_op_fmul:
         return is_zero_or_word(def->bit_size, def->num_components, 1) &&
                (nir_intrinsic_cluster_size(intrin) == 0 || nir_intrinsic_cluster_size(intrin) >= 32);
      default:
         return false;
      }
   case nir_intrinsic_exclusive_scan:
      return is_zero_or_word(def->bit_size, def->num_components, 1) &&
             nir_intrinsic_reduction_op(intrin) == nir_op_iadd;
   case nir_intrinsic_load_workgroup_id:
   case nir_intrinsic_load_local_invocation_id:
   case nir_intrinsic_load_global_invocation_id:
   case nir_intrinsic_load_local_invocation_index:
   case nir_intrinsic_load_subgroup_id:
   case nir_intrinsic_load_subgroup_invocation:
      return def->bit_size == 32;
   case nir_intrinsic_barrier:
      return true;
   default:
      return false;
   }
}

static void
check_intrinsic(nir_intrinsic_instr *intrin)
{
   if (fits(intrin))
      return;
   const nir_intrinsic_info *info = &nir_intrinsic_infos[intrin->intrinsic];
   if (info->has_dest)
      unsupported("%s with %u components of %u bits", info->name, intrin->def.num_components, intrin->def.bit_size);
   unsupported("%s", info->name);
}

static void
check_instr(nir_instr *instr)
{
   switch (instr->type) {
   case nir_instr_type_alu:
      check_alu(nir_instr_as_alu(instr));
      break;
   case nir_instr_type_intrinsic:
      check_intrinsic(nir_instr_as_intrinsic(instr));
      break;
   case nir_instr_type_load_const:
   case nir_instr_type_undef:
      break;
   case nir_instr_type_phi:
      if (nir_instr_as_phi(instr)->def.num_components > 1)
         unsupported("a phi of vectors");
      break;
   case nir_instr_type_jump: {
      nir_jump_type type = nir_instr_as_jump(instr)->type;
      if (type != nir_jump_break)
         unsupported("a jump other than a break (number %u of NIR's)", type);
      break;
   }
   default:
      unsupported("%s", instr_type_name(instr->type));
   }
}

static bool
ends_in_break(nir_block *block)
{
   nir_instr *last = nir_block_last_instr(block);
   return last && last->type == nir_instr_type_jump;
}

/* `ifs` counts the selections between a list and its loop. */
static void
check_list(struct exec_list *list, unsigned loops, unsigned ifs, bool direct)
{
   foreach_list_typed(nir_cf_node, node, node, list) {
      switch (node->type) {
      case nir_cf_node_block:
         if (loops > 5 && ifs > 0 && !direct && ends_in_break(nir_cf_node_as_block(node)))
            unsupported("a break from inside a selection in the %uth nested loop", loops);
         break;
      case nir_cf_node_if: {
         nir_if *nif = nir_cf_node_as_if(node);
         struct exec_list *lists[] = { &nif->then_list, &nif->else_list };
         for (unsigned i = 0; i < 2; i++)
            check_list(lists[i], loops, ifs + 1, ifs == 0 && exec_list_is_singular(lists[i]));
         break;
      }
      case nir_cf_node_loop: {
         nir_loop *loop = nir_cf_node_as_loop(node);
         if (nir_loop_has_continue_construct(loop))
            unsupported("a loop with a continue construct");
         check_list(&loop->body, loops + 1, 0, false);
         break;
      }
      default:
         unsupported("an unknown control-flow node");
      }
   }
}

void
apple9_check(nir_shader *shader)
{
   nir_function_impl *impl = NULL;
   nir_foreach_function_impl(other, shader) {
      if (impl)
         unsupported("a call of a function that could not be inlined");
      impl = other;
   }
   if (!impl)
      unsupported("a shader without a body");
   nir_foreach_block(block, impl) {
      nir_foreach_instr(instr, block)
         check_instr(instr);
   }
   check_list(&impl->body, 0, 0, false);
}
