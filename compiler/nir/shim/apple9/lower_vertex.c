/* SPDX-License-Identifier: MIT */
/*
 * Vertex shaders: attributes are loads from the table of vertex buffers with a conversion (isa-3, 5.1), outputs are words
 * of one record, each stored once at the end of the shader (isa-3, 5.2).
 */
#include "stages.h"

#include "compiler/nir/nir_format_convert.h"

#include "../unsupported.h"

/* An entry of the table of vertex buffers. */
#define VERTEX_BUFFER_BYTES 16

/* ---- attributes ---- */

static unsigned
bytes_of(const struct cortland_attribute *a)
{
   return a->packing > CORTLAND_PACKING_BGR ? 4 : a->components * a->bits / 8;
}

/* Which vertex or instance counts. */
static nir_def *
index_of(nir_builder *b, const struct cortland_attribute *a)
{
   if (!a->instanced)
      return nir_load_vertex_id(b);
   nir_def *base = apple9_load_root(b, CORTLAND_ROOT_DRAW_PARAMETERS, DRAW_BASE_INSTANCE, 1);
   if (a->divisor == 0)
      return base;
   nir_def *instance = nir_load_instance_id(b);
   return nir_iadd(b, base, a->divisor == 1 ? instance : nir_udiv_imm(b, instance, a->divisor));
}

/* Where an attribute is. */
struct location {
   nir_def *address, *offset;
};

/* What is not wholly in the buffer is in the page of zeros. */
static struct location
locate(nir_builder *b, const struct cortland_attribute *a)
{
   nir_def *buffer = apple9_load_root(b, CORTLAND_ROOT_VERTEX_BUFFERS, a->binding * VERTEX_BUFFER_BYTES, 4);
   nir_def *size = nir_channel(b, buffer, 2), *stride = nir_channel(b, buffer, 3);
   nir_def *start = nir_umul_2x32_64(b, index_of(b, a), stride);
   nir_def *end = nir_iadd_imm(b, start, (uint64_t)a->offset + bytes_of(a));
   nir_def *high = nir_unpack_64_2x32_split_y(b, end), *low = nir_unpack_64_2x32_split_x(b, end);
   nir_def *inside = nir_iand(b, nir_ieq_imm(b, high, 0), nir_uge(b, size, low));
   nir_def *words[2] = {
      nir_bcsel(b, inside, nir_channel(b, buffer, 0), nir_imm_int(b, CORTLAND_ZERO_PAGE_LOW)),
      nir_bcsel(b, inside, nir_channel(b, buffer, 1), nir_imm_int(b, CORTLAND_BOUNDS_PAGES_HIGH)),
   };
   return (struct location){
      .address = nir_pack_64_2x32_split(b, words[0], words[1]),
      .offset = nir_bcsel(b, inside, nir_iadd_imm(b, low, -(int64_t)bytes_of(a)), nir_imm_int(b, 0)),
   };
}

static nir_def *
load(nir_builder *b, const struct location *at, unsigned components, unsigned bits, unsigned offset)
{
   return nir_load_constant_agx(b, components, bits, at->address, at->offset, .access = ACCESS_CAN_REORDER,
                                .base = (int)offset * 8);
}

/* The components as words of 32 bits: integers extended by their sign if they have one. */
static nir_def *
load_components(nir_builder *b, const struct cortland_attribute *a)
{
   const struct location at = locate(b, a);
   bool has_sign = a->numeric == CORTLAND_NUMERIC_SNORM || a->numeric == CORTLAND_NUMERIC_SSCALED ||
                   a->numeric == CORTLAND_NUMERIC_SINT;
   static const unsigned ten[4] = { 10, 10, 10, 2 };
   nir_def *c[4];
   switch (a->packing) {
   case CORTLAND_PACKING_B10G11R11:
      return nir_format_unpack_11f11f10f(b, load(b, &at, 1, 32, 0));
   case CORTLAND_PACKING_A2B10G10R10:
   case CORTLAND_PACKING_A2R10G10B10: {
      nir_def *word = load(b, &at, 1, 32, 0);
      for (unsigned i = 0, shift = 0; i < 4; shift += ten[i], i++) {
         nir_def *top = nir_ishl_imm(b, word, 32 - shift - ten[i]);
         c[i] = has_sign ? nir_ishr_imm(b, top, 32 - ten[i]) : nir_ushr_imm(b, top, 32 - ten[i]);
      }
      if (a->packing == CORTLAND_PACKING_A2R10G10B10)
         apple9_swap(&c[0], &c[2]);
      return nir_vec(b, c, 4);
   }
   default:
      break;
   }
   if (a->bits == 32)
      return load(b, &at, a->components, 32, 0);
   /* One by one: nothing but the alignment of a component is sure. */
   for (unsigned i = 0; i < a->components; i++) {
      nir_def *narrow = load(b, &at, 1, a->bits, i * a->bits / 8);
      c[i] = has_sign ? nir_i2i32(b, narrow) : nir_u2u32(b, narrow);
   }
   if (a->packing == CORTLAND_PACKING_BGR)
      apple9_swap(&c[0], &c[2]);
   return nir_vec(b, c, a->components);
}

static nir_def *
convert(nir_builder *b, const struct cortland_attribute *a, nir_def *component, unsigned index)
{
   unsigned bits = a->bits;
   if (a->packing == CORTLAND_PACKING_A2B10G10R10 || a->packing == CORTLAND_PACKING_A2R10G10B10)
      bits = index == 3 ? 2 : 10;
   switch (a->numeric) {
   case CORTLAND_NUMERIC_UNORM:
      return nir_fmul_imm(b, nir_u2f32(b, component), 1.0 / ((1u << bits) - 1));
   case CORTLAND_NUMERIC_SNORM:
      return nir_fmax(b, nir_fmul_imm(b, nir_i2f32(b, component), 1.0 / ((1u << (bits - 1)) - 1)),
                      nir_imm_float(b, -1.0f));
   case CORTLAND_NUMERIC_USCALED:
      return nir_u2f32(b, component);
   case CORTLAND_NUMERIC_SSCALED:
      return nir_i2f32(b, component);
   case CORTLAND_NUMERIC_FLOAT:
      return bits == 16 ? nir_unpack_half_2x16_split_x(b, component) : component;
   default:
      return component;
   }
}

/* Four components; those that the format lacks are 0, 0, 1. */
static void
fetch(nir_builder *b, const struct cortland_vertex_lowering *lowering, unsigned location, nir_def *out[4])
{
   for (unsigned i = 0; i < 3; i++)
      out[i] = nir_imm_int(b, 0);
   out[3] = nir_imm_float(b, 1.0f);
   for (size_t i = 0; i < lowering->num_attributes; i++) {
      const struct cortland_attribute *a = &lowering->attributes[i];
      if (a->location != location)
         continue;
      if (a->numeric == CORTLAND_NUMERIC_UINT || a->numeric == CORTLAND_NUMERIC_SINT)
         out[3] = nir_imm_int(b, 1);
      nir_def *components = load_components(b, a);
      for (unsigned c = 0; c < a->components; c++)
         out[c] = convert(b, a, nir_channel(b, components, c), c);
      return;
   }
}

/* ---- inputs ---- */

static bool
lower_input(nir_builder *b, nir_intrinsic_instr *intrin, void *data)
{
   const struct cortland_compute_lowering *lowering = data;
   struct apple9_stage_info *info = &apple9_tables(b->shader)->stage;
   b->cursor = nir_before_instr(&intrin->instr);
   unsigned parameter;
   switch (intrin->intrinsic) {
   case nir_intrinsic_load_input: {
      struct apple9_place place = apple9_place_of(intrin);
      if (intrin->def.bit_size != 32)
         unsupported("a vertex attribute of %u bits", intrin->def.bit_size);
      nir_def *all[4];
      fetch(b, lowering->vertex, place.slot - VERT_ATTRIB_GENERIC0, all);
      nir_def_replace(&intrin->def, nir_vec(b, all + place.component, intrin->def.num_components));
      return true;
   }
   case nir_intrinsic_load_first_vertex:
   case nir_intrinsic_load_base_vertex:
      parameter = DRAW_BASE_VERTEX;
      break;
   case nir_intrinsic_load_base_instance:
      parameter = DRAW_BASE_INSTANCE;
      break;
   case nir_intrinsic_load_draw_id:
      /* Apart from the others, which indirect draws have in their arguments. */
      info->flags |= CORTLAND_VERTEX_DRAW_PARAMETERS;
      nir_def_replace(&intrin->def, apple9_load_root(b, CORTLAND_ROOT_DRAW_NUMBER, 0, 1));
      return true;
   case nir_intrinsic_load_view_index:
      nir_def_replace(&intrin->def, nir_imm_int(b, lowering->vertex->has_view ? lowering->vertex->view : 0));
      return true;
   default:
      return false;
   }
   info->flags |= CORTLAND_VERTEX_DRAW_PARAMETERS;
   nir_def_replace(&intrin->def, apple9_load_root(b, CORTLAND_ROOT_DRAW_PARAMETERS, parameter, 1));
   return true;
}

/* ---- outputs ---- */

/* What the shader writes. */
struct outputs {
   nir_def *position[4];
   nir_def *user[CORTLAND_LOCATIONS][4];
   nir_def *point_size, *layer, *viewport;
   nir_def *clip[8];
};

static nir_def **
place_for(void *outputs, nir_intrinsic_instr *store, struct apple9_place place)
{
   (void)store;
   struct outputs *o = outputs;
   unsigned slot = place.slot, component = place.component;
   switch (slot) {
   case VARYING_SLOT_POS: return &o->position[component];
   case VARYING_SLOT_PSIZ: return &o->point_size;
   case VARYING_SLOT_LAYER: return &o->layer;
   case VARYING_SLOT_VIEWPORT: return &o->viewport;
   case VARYING_SLOT_CLIP_DIST0:
   case VARYING_SLOT_CLIP_DIST1: return &o->clip[4 * (slot - VARYING_SLOT_CLIP_DIST0) + component];
   default:
      if (slot < VARYING_SLOT_VAR0 || slot - VARYING_SLOT_VAR0 >= CORTLAND_LOCATION_CLIP_DISTANCE)
         unsupported("the vertex output %s", gl_varying_slot_name_for_stage(slot, MESA_SHADER_VERTEX));
      return &o->user[slot - VARYING_SLOT_VAR0][component];
   }
}

static nir_def *
or_zero(nir_builder *b, nir_def *value)
{
   return value ? value : nir_imm_int(b, 0);
}

static void
export(nir_builder *b, struct apple9_stage_info *info, nir_def *value)
{
   if (info->outputs >= 128)
      unsupported("more than 128 words of vertex outputs");
   nir_store_uvs_agx(b, value, nir_imm_int(b, info->outputs++));
}

static void
export_user(nir_builder *b, struct apple9_stage_info *info, struct outputs *o, unsigned location, unsigned component)
{
   nir_def *value = location < CORTLAND_LOCATIONS ? o->user[location][component & 3] : NULL;
   export(b, info, or_zero(b, value));
   info->user_scalars++;
}

static void
lower_outputs(nir_builder *b, const struct cortland_vertex_lowering *lowering)
{
   struct apple9_stage_info *info = &apple9_tables(b->shader)->stage;
   struct outputs o = { 0 };
   apple9_take_outputs(b, place_for, &o);
   b->cursor = nir_after_impl(b->impl);
   if (lowering->has_view)
      o.layer = nir_imm_int(b, lowering->view);
   for (unsigned i = 0; i < 4; i++)
      export(b, info, o.position[i] ? o.position[i] : nir_imm_float(b, i == 3 ? 1.0f : 0.0f));
   /* Where a fragment shader finds them. */
   for (unsigned i = 0; i < 8; i++)
      o.user[CORTLAND_LOCATION_CLIP_DISTANCE + i / 4][i % 4] = o.clip[i];
   o.user[CORTLAND_LOCATION_VIEWPORT][0] = o.viewport;
   if (lowering->has_varyings) {
      for (size_t i = 0; i < lowering->num_varyings; i++)
         export_user(b, info, &o, lowering->varyings[i] & 0xff, lowering->varyings[i] >> 8);
   } else {
      for (unsigned location = 0; location < CORTLAND_LOCATION_CLIP_DISTANCE; location++) {
         for (unsigned c = 0; c < 4; c++) {
            if (o.user[location][c])
               export_user(b, info, &o, location, c);
         }
      }
   }
   if (o.point_size || lowering->point_size) {
      nir_def *one = nir_imm_float(b, 1.0f);
      export(b, info, o.point_size ? nir_fmax(b, o.point_size, one) : one);
      info->flags |= CORTLAND_VERTEX_POINT_SIZE;
   }
   if (o.layer || o.viewport) {
      nir_def *layer = nir_iand_imm(b, or_zero(b, o.layer), 0xffff);
      export(b, info, nir_ior(b, layer, nir_ishl_imm(b, or_zero(b, o.viewport), 16)));
      info->flags |= (o.layer ? CORTLAND_VERTEX_LAYER : 0) | (o.viewport ? CORTLAND_VERTEX_VIEWPORT : 0);
   }
   info->clip_distances = b->shader->info.clip_distance_array_size;
   for (unsigned i = 0; i < info->clip_distances; i++)
      export(b, info, or_zero(b, o.clip[i]));
}

bool
apple9_lower_vertex(nir_shader *shader, const struct cortland_compute_lowering *lowering)
{
   nir_shader_intrinsics_pass(shader, lower_input, nir_metadata_control_flow, (void *)lowering);
   nir_builder b = nir_builder_create(nir_shader_get_entrypoint(shader));
   lower_outputs(&b, lowering->vertex);
   nir_metadata_preserve(b.impl, nir_metadata_control_flow);
   return true;
}
