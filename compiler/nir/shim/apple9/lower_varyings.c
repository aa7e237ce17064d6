/* SPDX-License-Identifier: MIT */
/*
 * What fragment shaders read of the vertex shader and of the rasteriser: scalars in coefficient registers (isa-3, 4.2).
 *
 * A coefficient is a plane over the window. Interpolation with perspective evaluates that of the value over W, which is
 * told by the coefficient's number, and divides by that of 1/W (the back end's work); the plain value is one instruction.
 * At an offset from the centre, for which no position is known, planes go on by their derivatives, which the whole quad
 * takes at the start of the shader.
 */
#include "stages.h"

#include "util/u_dynarray.h"

#include "../unsupported.h"

/* A scalar that is read: location | component << 8 | mode << 16, mode first for the order. */
#define KEY(mode, location, component) ((mode) << 16 | (location) << 8 | (component))

struct inputs {
   const struct apple9_sampling *sampling;
   struct apple9_stage_info *info;
   nir_builder *b;
   uint32_t keys[CORTLAND_MOST_VARYINGS];
   unsigned count;
   /* Planes at the centre with their derivatives, made at the start. */
   nir_def *planes[CORTLAND_MOST_VARYINGS + 1][3];
};

/* A location of our numbering. */
static unsigned
location_of(unsigned slot)
{
   if (slot >= VARYING_SLOT_VAR0 && slot - VARYING_SLOT_VAR0 < CORTLAND_LOCATION_CLIP_DISTANCE)
      return slot - VARYING_SLOT_VAR0;
   switch (slot) {
   case VARYING_SLOT_CLIP_DIST0:
   case VARYING_SLOT_CLIP_DIST1: return CORTLAND_LOCATION_CLIP_DISTANCE + slot - VARYING_SLOT_CLIP_DIST0;
   case VARYING_SLOT_VIEWPORT: return CORTLAND_LOCATION_VIEWPORT;
   default: unsupported("the fragment input %s", gl_varying_slot_name_for_stage(slot, MESA_SHADER_FRAGMENT));
   }
}

static nir_intrinsic_instr *
barycentric_of(nir_intrinsic_instr *load)
{
   nir_instr *instr = load->src[0].ssa->parent_instr;
   if (instr->type != nir_instr_type_intrinsic)
      unsupported("interpolation at a place that is chosen at run time");
   return nir_instr_as_intrinsic(instr);
}

static unsigned
mode_of(nir_intrinsic_instr *load)
{
   if (load->intrinsic == nir_intrinsic_load_input)
      return CORTLAND_VARYING_FLAT;
   return nir_intrinsic_interp_mode(barycentric_of(load)) == INTERP_MODE_NOPERSPECTIVE ? CORTLAND_VARYING_LINEAR
                                                                                       : CORTLAND_VARYING_SMOOTH;
}

/* Those that come from system registers and from the rasteriser. */
static bool
is_user(nir_intrinsic_instr *load)
{
   unsigned slot = apple9_place_of(load).slot;
   return slot != VARYING_SLOT_PRIMITIVE_ID && slot != VARYING_SLOT_LAYER;
}

static nir_intrinsic_instr *
as_load(nir_instr *instr)
{
   if (instr->type != nir_instr_type_intrinsic)
      return NULL;
   nir_intrinsic_instr *intrin = nir_instr_as_intrinsic(instr);
   bool loads = intrin->intrinsic == nir_intrinsic_load_input || intrin->intrinsic == nir_intrinsic_load_interpolated_input;
   return loads ? intrin : NULL;
}

static void
note(struct inputs *in, uint32_t key)
{
   unsigned at = 0;
   while (at < in->count && in->keys[at] < key)
      at++;
   if (at < in->count && in->keys[at] == key)
      return;
   if (in->count == ARRAY_SIZE(in->keys))
      unsupported("more than %u scalars between vertex and fragment shader", (unsigned)ARRAY_SIZE(in->keys));
   memmove(&in->keys[at + 1], &in->keys[at], (in->count - at) * sizeof(in->keys[0]));
   in->keys[at] = key;
   in->count++;
}

static void
gather(struct inputs *in)
{
   nir_foreach_block(block, in->b->impl) {
      nir_foreach_instr(instr, block) {
         nir_intrinsic_instr *load = as_load(instr);
         if (load && is_user(load)) {
            struct apple9_place place = apple9_place_of(load);
            unsigned mode = mode_of(load), location = location_of(place.slot);
            u_foreach_bit(i, nir_def_components_read(&load->def))
               note(in, KEY(mode, location, place.component + i));
         } else if (load && apple9_place_of(load).slot == VARYING_SLOT_PRIMITIVE_ID) {
            in->info->flags |= CORTLAND_FRAGMENT_PRIMITIVE_ID;
         }
         if (instr->type != nir_instr_type_intrinsic)
            continue;
         nir_intrinsic_instr *intrin = nir_instr_as_intrinsic(instr);
         switch (intrin->intrinsic) {
         case nir_intrinsic_load_primitive_id:
            in->info->flags |= CORTLAND_FRAGMENT_PRIMITIVE_ID;
            break;
         case nir_intrinsic_load_frag_coord:
            if (nir_def_components_read(&intrin->def) & 4)
               in->info->flags |= CORTLAND_FRAGMENT_Z;
            break;
         case nir_intrinsic_load_point_coord:
            in->info->flags |= CORTLAND_FRAGMENT_POINT_COORD;
            break;
         default:
            break;
         }
      }
   }
   for (unsigned i = 0; i < in->count; i++) {
      uint32_t key = in->keys[i];
      in->info->varyings[i] = (key >> 8 & 0xff) | (key & 0xff) << 8 | key >> 16 << 16;
   }
   in->info->num_varyings = in->count;
}

/* Coefficient registers. */
static unsigned
coefficient_of(const struct inputs *in, uint32_t key)
{
   for (unsigned i = 0; i < in->count; i++) {
      if (in->keys[i] == key)
         return 1 + i;
   }
   return 0;
}

static unsigned
primitive_id(const struct inputs *in)
{
   return 1 + in->count;
}

static unsigned
depth(const struct inputs *in)
{
   return primitive_id(in) + ((in->info->flags & CORTLAND_FRAGMENT_PRIMITIVE_ID) != 0);
}

static unsigned
point_coord(const struct inputs *in)
{
   return depth(in) + ((in->info->flags & CORTLAND_FRAGMENT_Z) != 0);
}

static nir_def *
flat(nir_builder *b, unsigned coefficient)
{
   return nir_load_input(b, 1, 32, nir_imm_int(b, 0), .base = coefficient, .dest_type = nir_type_uint32);
}

static nir_def *
interpolate(nir_builder *b, unsigned coefficient, nir_def *barycentric)
{
   return nir_load_interpolated_input(b, 1, 32, barycentric, nir_imm_int(b, 0), .base = coefficient,
                                      .dest_type = nir_type_float32);
}

/* Where this invocation is: the pixel's centre, or its sample. */
static nir_def *
own_position(struct inputs *in, unsigned mode)
{
   if (in->sampling->per_sample)
      return nir_load_barycentric_at_sample(in->b, 32, nir_load_sample_id(in->b), .interp_mode = mode);
   return nir_load_barycentric_pixel(in->b, 32, .interp_mode = mode);
}

/* The place that an instruction of the program names. */
static nir_def *
position(struct inputs *in, nir_intrinsic_instr *barycentric)
{
   unsigned mode = nir_intrinsic_interp_mode(barycentric);
   if (mode != INTERP_MODE_NOPERSPECTIVE)
      mode = INTERP_MODE_SMOOTH;
   bool one = in->sampling->samples == 1;
   switch (barycentric->intrinsic) {
   case nir_intrinsic_load_barycentric_centroid:
      if (!one && !in->sampling->per_sample)
         return nir_load_barycentric_centroid(in->b, 32, .interp_mode = mode);
      break;
   case nir_intrinsic_load_barycentric_at_sample:
      if (!one) {
         /* No number that is none reaches the hardware. */
         nir_def *sample = nir_iand_imm(in->b, barycentric->src[0].ssa, in->sampling->samples - 1);
         return nir_load_barycentric_at_sample(in->b, 32, sample, .interp_mode = mode);
      }
      break;
   case nir_intrinsic_load_barycentric_pixel:
   case nir_intrinsic_load_barycentric_sample:
      break;
   default:
      unsupported("%s", nir_intrinsic_infos[barycentric->intrinsic].name);
   }
   return own_position(in, mode);
}

/* A plane at the centre and how it goes on to the right and down. */
static nir_def **
plane(struct inputs *in, unsigned coefficient)
{
   nir_def **p = in->planes[coefficient];
   if (!p[0]) {
      nir_builder *b = in->b;
      nir_cursor cursor = b->cursor;
      b->cursor = nir_after_instr(in->sampling->coverage->parent_instr);
      nir_def *centre = nir_load_barycentric_pixel(b, 32, .interp_mode = INTERP_MODE_NOPERSPECTIVE);
      p[0] = interpolate(b, coefficient, centre);
      p[1] = nir_ddx(b, p[0]);
      p[2] = nir_ddy(b, p[0]);
      b->cursor = cursor;
   }
   return p;
}

static nir_def *
at_offset(struct inputs *in, unsigned coefficient, nir_def *offset)
{
   nir_builder *b = in->b;
   nir_def **p = plane(in, coefficient);
   return nir_ffma(b, nir_channel(b, offset, 1), p[2], nir_ffma(b, nir_channel(b, offset, 0), p[1], p[0]));
}

static nir_def *
load_user(struct inputs *in, nir_intrinsic_instr *load, unsigned coefficient)
{
   if (load->intrinsic == nir_intrinsic_load_input)
      return flat(in->b, coefficient);
   nir_intrinsic_instr *barycentric = barycentric_of(load);
   if (barycentric->intrinsic != nir_intrinsic_load_barycentric_at_offset)
      return interpolate(in->b, coefficient, position(in, barycentric));
   nir_def *offset = barycentric->src[0].ssa;
   nir_def *value = at_offset(in, coefficient, offset);
   if (mode_of(load) == CORTLAND_VARYING_LINEAR)
      return value;
   return nir_ipa_nv(in->b, value, nir_frcp(in->b, at_offset(in, 0, offset)), .base = coefficient);
}

static nir_def *
frag_coord(struct inputs *in)
{
   nir_builder *b = in->b;
   nir_def *pixel = nir_u2f32(b, nir_trim_vector(b, nir_load_global_invocation_id(b, 32), 2));
   nir_def *inside = nir_imm_vec2(b, 0.5, 0.5);
   if (in->sampling->per_sample)
      inside = apple9_sample_position(b, in->sampling->samples, nir_load_sample_id(b));
   nir_def *xy = nir_fadd(b, pixel, inside);
   nir_def *here = own_position(in, INTERP_MODE_NOPERSPECTIVE);
   bool has_z = (in->info->flags & CORTLAND_FRAGMENT_Z) != 0;
   nir_def *z = has_z ? interpolate(b, depth(in), here) : nir_imm_float(b, 0.0f);
   return nir_vec4(b, nir_channel(b, xy, 0), nir_channel(b, xy, 1), z, interpolate(b, 0, here));
}

static nir_def *
lowered(struct inputs *in, nir_intrinsic_instr *intrin)
{
   nir_builder *b = in->b;
   switch (intrin->intrinsic) {
   case nir_intrinsic_load_input:
   case nir_intrinsic_load_interpolated_input: {
      struct apple9_place place = apple9_place_of(intrin);
      if (intrin->def.bit_size != 32)
         unsupported("a fragment input of %u bits", intrin->def.bit_size);
      if (place.slot == VARYING_SLOT_PRIMITIVE_ID)
         return flat(b, primitive_id(in));
      if (place.slot == VARYING_SLOT_LAYER) {
         in->info->flags |= CORTLAND_FRAGMENT_LAYER;
         return nir_load_layer_id(b);
      }
      unsigned mode = mode_of(intrin), location = location_of(place.slot);
      nir_component_mask_t read = nir_def_components_read(&intrin->def);
      nir_def *components[4];
      for (unsigned i = 0; i < intrin->def.num_components; i++) {
         unsigned coefficient = coefficient_of(in, KEY(mode, location, place.component + i));
         components[i] = read >> i & 1 ? load_user(in, intrin, coefficient) : nir_undef(b, 1, 32);
      }
      return nir_vec(b, components, intrin->def.num_components);
   }
   case nir_intrinsic_load_primitive_id:
      return flat(b, primitive_id(in));
   case nir_intrinsic_load_frag_coord:
      return frag_coord(in);
   case nir_intrinsic_load_point_coord: {
      nir_def *here = own_position(in, INTERP_MODE_NOPERSPECTIVE);
      return nir_vec2(b, interpolate(b, point_coord(in), here), interpolate(b, point_coord(in) + 1, here));
   }
   case nir_intrinsic_load_front_face:
      return nir_ieq_imm(b, nir_load_back_face_agx(b, 32), 0);
   default:
      return NULL;
   }
}

void
apple9_lower_fragment_inputs(nir_shader *shader, const struct apple9_sampling *sampling)
{
   nir_builder b = nir_builder_create(nir_shader_get_entrypoint(shader));
   struct inputs in = { .sampling = sampling, .info = &apple9_tables(shader)->stage, .b = &b };
   gather(&in);
   /* What this makes is not to be looked at again. */
   struct util_dynarray all;
   util_dynarray_init(&all, shader);
   nir_foreach_block(block, b.impl) {
      nir_foreach_instr(instr, block) {
         if (instr->type == nir_instr_type_intrinsic)
            util_dynarray_append(&all, nir_intrinsic_instr *, nir_instr_as_intrinsic(instr));
      }
   }
   util_dynarray_foreach(&all, nir_intrinsic_instr *, place) {
      nir_intrinsic_instr *intrin = *place;
      if (intrin->intrinsic == nir_intrinsic_load_layer_id)
         in.info->flags |= CORTLAND_FRAGMENT_LAYER;
      b.cursor = nir_before_instr(&intrin->instr);
      nir_def *result = lowered(&in, intrin);
      if (result)
         nir_def_replace(&intrin->def, result);
   }
   util_dynarray_fini(&all);
}

nir_def *
apple9_sample_position(nir_builder *b, unsigned samples, nir_def *sample)
{
   /* isa-3, 4.9: four bits each of x and y, in sixteenths. */
   static const uint32_t positions[] = { [1] = 0x88, [2] = 0x44cc, [4] = 0xeaa26e26 };
   nir_def *both = nir_ushr(b, nir_imm_int(b, (int)positions[samples]), nir_ishl_imm(b, sample, 3));
   nir_def *x = nir_iand_imm(b, both, 15), *y = nir_iand_imm(b, nir_ushr_imm(b, both, 4), 15);
   return nir_fmul_imm(b, nir_u2f32(b, nir_vec2(b, x, y)), 1.0 / 16);
}
