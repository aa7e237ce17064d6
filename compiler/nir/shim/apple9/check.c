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

/* The widths that the operation may have in its result, and in those operands that have none of their own. */
static void
allowed_widths(nir_op op, unsigned *result, unsigned *sources)
{
   *result = *sources = 0;
   switch (op) {
   case nir_op_mov:
   case nir_op_vec2:
   case nir_op_vec3:
   case nir_op_vec4:
      /* Vectors are what accesses and packs take and give; moves pick a component of one. */
      *result = *sources = W32;
      break;
   case nir_op_bcsel:
      /* Those of 64 bits are taken apart, but for what control flow becomes after that. */
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
      return true;
   default:
      return nir_op_is_vec(op);
   }
}

/* Whether the operand has a width of its own, whatever the others have. */
static bool
is_apart(nir_op op, unsigned operand)
{
   switch (op) {
   case nir_op_bcsel:
      return operand == 0;
   case nir_op_ishl:
   case nir_op_ishr:
   case nir_op_ushr:
      return operand == 1;
   default:
      return false;
   }
}

bool
apple9_allows_alu(nir_op op, unsigned result, unsigned source)
{
   unsigned results, sources;
   allowed_widths(op, &results, &sources);
   if (!(results & width(result)) || !(sources & width(source)))
      return false;
   const nir_op_info *info = &nir_op_infos[op];
   /* A conversion to what it was is none. */
   if (info->is_conversion && result == source &&
       nir_alu_type_get_base_type(info->output_type) == nir_alu_type_get_base_type(info->input_types[0]))
      return false;
   /* NIR fixes the width of a result or an operand, or has those that it does not fix agree. */
   unsigned fixed = nir_alu_type_get_type_size(info->output_type);
   if (fixed && fixed != result)
      return false;
   for (unsigned i = 0; i < info->num_inputs; i++) {
      if (is_apart(op, i))
         continue;
      unsigned own = nir_alu_type_get_type_size(info->input_types[i]);
      if (own ? own != source : !fixed && source != result)
         return false;
   }
   return true;
}

static void
check_alu(nir_alu_instr *alu)
{
   const nir_op_info *info = &nir_op_infos[alu->op];
   for (unsigned i = 0; i < info->num_inputs; i++) {
      unsigned bits = nir_src_bit_size(alu->src[i].src);
      if (!is_apart(alu->op, i) && !apple9_allows_alu(alu->op, alu->def.bit_size, bits))
         unsupported("the operation %s from %u to %u bits", info->name, bits, alu->def.bit_size);
   }
   if (alu->def.num_components > 1 && !may_be_vector(alu->op))
      unsupported("the operation %s on vectors", info->name);
}

static bool
is_word(unsigned bits, unsigned components)
{
   return bits == 32 && components == 1;
}

/* What an access to device memory moves: one element of 8 or 16 bits, or up to four words. */
static bool
is_device_width(unsigned bits, unsigned components)
{
   if (bits == 8 || bits == 16)
      return components == 1;
   return bits == 32 && components >= 1 && components <= 4;
}

static bool
is_atomic(nir_atomic_op op)
{
   switch (op) {
   case nir_atomic_op_iadd:
   case nir_atomic_op_imin:
   case nir_atomic_op_umin:
   case nir_atomic_op_imax:
   case nir_atomic_op_umax:
   case nir_atomic_op_iand:
   case nir_atomic_op_ior:
   case nir_atomic_op_ixor:
   case nir_atomic_op_xchg:
   case nir_atomic_op_fadd:
      return true;
   default:
      return false;
   }
}

static bool
is_reduction(nir_op op)
{
   switch (op) {
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
      return true;
   default:
      return false;
   }
}

bool
apple9_allows_intrinsic(nir_intrinsic_op intrinsic, unsigned bits, unsigned components, unsigned operation)
{
   switch (intrinsic) {
   case nir_intrinsic_global_atomic_agx:
      return is_word(bits, components) && is_atomic(operation);
   case nir_intrinsic_global_atomic_swap_agx:
      return is_word(bits, components) && operation == nir_atomic_op_cmpxchg;
   case nir_intrinsic_reduce:
      return is_word(bits, components) && is_reduction(operation);
   case nir_intrinsic_exclusive_scan:
      return is_word(bits, components) && operation == nir_op_iadd;
   default:
      break;
   }
   if (operation != 0)
      return false;
   switch (intrinsic) {
   case nir_intrinsic_load_agx:
   case nir_intrinsic_load_constant_agx:
   case nir_intrinsic_store_agx:
      return is_device_width(bits, components);
   case nir_intrinsic_load_preamble:
      return bits == 64 && components == 1;
   case nir_intrinsic_load_shared:
   case nir_intrinsic_store_shared:
   case nir_intrinsic_load_scratch:
   case nir_intrinsic_store_scratch:
   case nir_intrinsic_ballot:
   case nir_intrinsic_shuffle:
   case nir_intrinsic_shuffle_xor:
   case nir_intrinsic_load_local_invocation_index:
   case nir_intrinsic_load_subgroup_id:
   case nir_intrinsic_load_subgroup_invocation:
      return is_word(bits, components);
   case nir_intrinsic_load_workgroup_id:
   case nir_intrinsic_load_local_invocation_id:
   case nir_intrinsic_load_global_invocation_id:
      return bits == 32 && components == 3;
   case nir_intrinsic_barrier:
      return bits == 0;
   default:
      return false;
   }
}

bool
apple9_allows_stage_intrinsic(nir_intrinsic_op intrinsic, gl_shader_stage stage, unsigned bits, unsigned components)
{
   if (stage == MESA_SHADER_VERTEX) {
      switch (intrinsic) {
      case nir_intrinsic_store_uvs_agx:
      case nir_intrinsic_load_vertex_id:
      case nir_intrinsic_load_instance_id:
         return is_word(bits, components);
      default:
         return false;
      }
   }
   if (stage != MESA_SHADER_FRAGMENT)
      return false;
   switch (intrinsic) {
   case nir_intrinsic_load_barycentric_pixel:
   case nir_intrinsic_load_barycentric_centroid:
   case nir_intrinsic_load_barycentric_at_sample:
      return bits == 32 && components == 2;
   case nir_intrinsic_load_interpolated_input:
   case nir_intrinsic_load_input:
   case nir_intrinsic_ipa_nv:
   case nir_intrinsic_load_sample_mask_in:
   case nir_intrinsic_load_back_face_agx:
   case nir_intrinsic_load_layer_id:
   case nir_intrinsic_load_local_pixel_agx:
   case nir_intrinsic_store_local_pixel_agx:
   case nir_intrinsic_sample_mask_agx:
   case nir_intrinsic_store_zs_agx:
   case nir_intrinsic_ddx:
   case nir_intrinsic_ddx_fine:
   case nir_intrinsic_ddx_coarse:
   case nir_intrinsic_ddy:
   case nir_intrinsic_ddy_fine:
   case nir_intrinsic_ddy_coarse:
      return is_word(bits, components);
   default:
      return false;
   }
}

/* What the constants and operands of an intrinsic must be besides. */
static bool
has_fit_operands(nir_intrinsic_instr *intrin)
{
   const nir_src *src = intrin->src;
   switch (intrin->intrinsic) {
   case nir_intrinsic_load_agx:
   case nir_intrinsic_load_constant_agx:
   case nir_intrinsic_global_atomic_agx:
   case nir_intrinsic_global_atomic_swap_agx:
      return src[0].ssa->bit_size == 64 && src[1].ssa->bit_size == 32;
   case nir_intrinsic_store_agx:
      return src[1].ssa->bit_size == 64 && src[2].ssa->bit_size == 32;
   case nir_intrinsic_store_shared:
   case nir_intrinsic_store_scratch:
      return nir_intrinsic_write_mask(intrin) == 1;
   case nir_intrinsic_ballot:
      return src[0].ssa->bit_size == 1;
   case nir_intrinsic_shuffle_xor:
      return nir_src_is_const(src[1]) && nir_src_as_uint(src[1]) < 32;
   case nir_intrinsic_reduce:
      return nir_intrinsic_cluster_size(intrin) == 0 || nir_intrinsic_cluster_size(intrin) >= 32;
   case nir_intrinsic_store_uvs_agx:
   case nir_intrinsic_sample_mask_agx:
      return nir_src_is_const(src[1]);
   case nir_intrinsic_load_interpolated_input:
      return nir_src_is_const(src[1]) && src[0].ssa->parent_instr->type == nir_instr_type_intrinsic;
   default:
      return true;
   }
}

enum apple9_operation
apple9_operation_of(nir_intrinsic_op intrinsic)
{
   const nir_intrinsic_info *info = &nir_intrinsic_infos[intrinsic];
   if (info->index_map[NIR_INTRINSIC_ATOMIC_OP])
      return APPLE9_OPERATION_ATOMIC;
   return info->index_map[NIR_INTRINSIC_REDUCTION_OP] ? APPLE9_OPERATION_REDUCTION : APPLE9_OPERATION_NONE;
}

static unsigned
operation(nir_intrinsic_instr *intrin)
{
   switch (apple9_operation_of(intrin->intrinsic)) {
   case APPLE9_OPERATION_ATOMIC: return nir_intrinsic_atomic_op(intrin);
   case APPLE9_OPERATION_REDUCTION: return nir_intrinsic_reduction_op(intrin);
   default: return 0;
   }
}

static bool
fits(nir_intrinsic_instr *intrin, gl_shader_stage stage)
{
   const nir_intrinsic_info *info = &nir_intrinsic_infos[intrin->intrinsic];
   /* Stores move their first operand. */
   const nir_def *value = info->has_dest ? &intrin->def : info->num_srcs ? intrin->src[0].ssa : NULL;
   unsigned bits = value ? value->bit_size : 0, components = value ? value->num_components : 0;
   return (apple9_allows_intrinsic(intrin->intrinsic, bits, components, operation(intrin)) ||
           apple9_allows_stage_intrinsic(intrin->intrinsic, stage, bits, components)) &&
          has_fit_operands(intrin);
}

static void
check_intrinsic(nir_intrinsic_instr *intrin, gl_shader_stage stage)
{
   if (fits(intrin, stage))
      return;
   const nir_intrinsic_info *info = &nir_intrinsic_infos[intrin->intrinsic];
   if (info->has_dest)
      unsupported("%s with %u components of %u bits", info->name, intrin->def.num_components, intrin->def.bit_size);
   unsupported("%s", info->name);
}

/* What texture.h says. */
static void
check_tex(nir_tex_instr *tex)
{
   bool fits = tex->op == nir_texop_txf && tex->def.num_components == 4 && tex->def.bit_size == 32;
   for (unsigned i = 0; i < tex->num_srcs; i++) {
      nir_tex_src_type type = tex->src[i].src_type;
      fits &= type == (i == 0 ? nir_tex_src_backend1 : nir_tex_src_backend2) &&
              nir_src_num_components(tex->src[i].src) == 4 && nir_src_bit_size(tex->src[i].src) == 32;
   }
   if (!fits || tex->num_srcs < 1 || tex->num_srcs > 2)
      unsupported("the texture operation %u of NIR in this form", tex->op);
}

static void
check_instr(nir_instr *instr, gl_shader_stage stage)
{
   switch (instr->type) {
   case nir_instr_type_tex:
      check_tex(nir_instr_as_tex(instr));
      break;
   case nir_instr_type_alu:
      check_alu(nir_instr_as_alu(instr));
      break;
   case nir_instr_type_intrinsic:
      check_intrinsic(nir_instr_as_intrinsic(instr), stage);
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
         check_instr(instr, shader->info.stage);
   }
   check_list(&impl->body, 0, 0, false);
}
