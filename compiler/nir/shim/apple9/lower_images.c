/* SPDX-License-Identifier: MIT */
/*
 * Storage images and storage texel buffers.
 *
 * Stores, atomics and the loads that must see them access memory: the address of a texel is computed by the tiling rules of
 * images, 6 and 7, from what the descriptor says of the view's level, and the format is converted here. That works for all
 * dimensions, layers and samples; the fields of the hardware's own image store are known of two cases only (isa-3, 3).
 * Coordinates are checked against the size: what is outside goes to the pages that are there for buffers.
 *
 * A format that the module does not say is looked up in the texture record (any_format.c).
 *
 * Loads of images that the shader does not write, and nobody else meanwhile, are fetches: not others, as the texture unit
 * sees what was stored behind a fence only (isa-4, 2.1), and NIR takes fetches of one texel for one.
 */
#include "texture.h"

#include "compiler/nir/nir_format_convert.h"
#include "util/format/u_format.h"

#include "../unsupported.h"

struct image {
   struct apple9_resource resource;
   enum glsl_sampler_dim dim;
   bool array;
   enum pipe_format format;
   unsigned access;
   nir_def *x, *y, *layer, *sample;
};

static struct image
image_of(nir_builder *b, nir_intrinsic_instr *intrin, const struct cortland_compute_lowering *lowering)
{
   enum cortland_binding_kind kind = nir_intrinsic_image_dim(intrin) == GLSL_SAMPLER_DIM_BUF
                                        ? CORTLAND_BINDING_STORAGE_TEXEL_BUFFER
                                        : CORTLAND_BINDING_STORAGE_IMAGE;
   struct image image = {
      .resource = apple9_resolve(b, nir_src_as_deref(intrin->src[0]), lowering, kind, kind),
      .dim = nir_intrinsic_image_dim(intrin),
      .array = nir_intrinsic_image_array(intrin),
      .access = nir_intrinsic_access(intrin),
   };
   image.format = image.resource.variable->data.image.format;
   switch (image.dim) {
   case GLSL_SAMPLER_DIM_1D:
   case GLSL_SAMPLER_DIM_2D:
   case GLSL_SAMPLER_DIM_3D:
   case GLSL_SAMPLER_DIM_CUBE:
   case GLSL_SAMPLER_DIM_MS:
   case GLSL_SAMPLER_DIM_BUF:
      return image;
   default:
      unsupported("a storage image of dimension %u", image.dim);
   }
}

/* The coordinates of an access. */
static void
locate(nir_builder *b, nir_intrinsic_instr *intrin, struct image *image)
{
   nir_def *coord = intrin->src[1].ssa;
   bool flat = image->dim == GLSL_SAMPLER_DIM_1D || image->dim == GLSL_SAMPLER_DIM_BUF;
   image->x = nir_channel(b, coord, 0);
   image->y = flat ? NULL : nir_channel(b, coord, 1);
   if (image->dim == GLSL_SAMPLER_DIM_3D || image->dim == GLSL_SAMPLER_DIM_CUBE)
      image->layer = nir_channel(b, coord, 2);
   else if (image->array)
      image->layer = nir_channel(b, coord, flat ? 1 : 2);
   if (image->dim == GLSL_SAMPLER_DIM_MS)
      image->sample = intrin->src[2].ssa;
}

static nir_def *
all(nir_builder *b, nir_def *a, nir_def *c)
{
   return a ? nir_iand(b, a, c) : c;
}

/* Bits 0..7 of either half of a word, each moved to twice its place. */
static nir_def *
spread(nir_builder *b, nir_def *v)
{
   static const struct {
      unsigned shift;
      uint32_t mask;
   } steps[] = { { 4, 0x0f0f0f0f }, { 2, 0x33333333 }, { 1, 0x55555555 } };
   for (unsigned i = 0; i < ARRAY_SIZE(steps); i++)
      v = nir_iand_imm(b, nir_ior(b, v, nir_ishl_imm(b, v, steps[i].shift)), steps[i].mask);
   return v;
}

static nir_def *
field(nir_builder *b, nir_def *word, unsigned first, unsigned count)
{
   return nir_iand_imm(b, nir_ushr_imm(b, word, first), (1u << count) - 1);
}

/* Where a texel is (images, 6 and 7): its offset from element (0, 0) of its layer. */
static nir_def *
texel_offset(nir_builder *b, const struct image *image, nir_def *geometry, nir_def *columns)
{
   nir_def *y = image->y ? image->y : nir_imm_int(b, 0);
   nir_def *tile_x = field(b, geometry, 0, 8), *tile_y = field(b, geometry, 8, 8);
   nir_def *pixel = field(b, geometry, 16, 8), *samples = field(b, geometry, 24, 7);
   nir_def *one = nir_imm_int(b, 1);
   nir_def *inner_x = nir_iand(b, image->x, nir_iadd_imm(b, nir_ishl(b, one, tile_x), -1));
   nir_def *inner_y = nir_iand(b, y, nir_iadd_imm(b, nir_ishl(b, one, tile_y), -1));
   /* As many bits as both axes have are interleaved, the rest of the longer axis follows. */
   nir_def *common = nir_umin(b, tile_x, tile_y);
   nir_def *low = nir_iadd_imm(b, nir_ishl(b, one, common), -1);
   nir_def *pair = nir_ior(b, nir_iand(b, inner_x, low), nir_ishl_imm(b, nir_iand(b, inner_y, low), 16));
   pair = spread(b, pair);
   nir_def *morton = nir_ior(b, nir_iand_imm(b, pair, 0xffff), nir_ushr_imm(b, pair, 15));
   nir_def *rest = nir_ior(b, nir_ushr(b, inner_x, common), nir_ushr(b, inner_y, common));
   morton = nir_ior(b, nir_iand_imm(b, morton, 0xffff), nir_ishl(b, rest, nir_iadd(b, common, common)));

   nir_def *tile = nir_iadd(b, nir_imul(b, nir_ushr(b, y, tile_y), columns), nir_ushr(b, image->x, tile_x));
   nir_def *element = nir_ior(b, nir_ishl(b, tile, nir_iadd(b, tile_x, tile_y)), morton);
   nir_def *tiled = nir_ishl(b, element, pixel);
   if (image->sample) {
      nir_def *texel = nir_isub(b, pixel, samples);
      tiled = nir_iadd(b, tiled, nir_ishl(b, image->sample, texel));
      /* Multisampled images are never linear. */
      return tiled;
   }
   nir_def *linear = nir_iadd(b, nir_imul(b, y, columns), nir_ishl(b, image->x, pixel));
   return nir_bcsel(b, nir_ilt_imm(b, geometry, 0), linear, tiled);
}

/* The address of a texel, or of a page for what is outside; for loads, one of zeros. */
static nir_def *
texel_address(nir_builder *b, struct image *image, nir_def *bytes, bool loads)
{
   nir_def *size = apple9_load_descriptor(b, &image->resource, TEXTURE_SIZE, 3);
   nir_def *inside = nir_ult(b, image->x, nir_channel(b, size, 0));
   nir_def *base, *offset;
   if (image->dim == GLSL_SAMPLER_DIM_BUF) {
      nir_def *words = apple9_load_descriptor(b, &image->resource, TEXEL_BUFFER_ADDRESS, 2);
      base = nir_pack_64_2x32_split(b, nir_channel(b, words, 0), nir_channel(b, words, 1));
      offset = nir_umul_2x32_64(b, image->x, bytes);
   } else {
      if (image->y)
         inside = all(b, inside, nir_ult(b, image->y, nir_channel(b, size, 1)));
      nir_def *words = apple9_load_descriptor(b, &image->resource, IMAGE_ADDRESS, 4);
      nir_def *columns = apple9_load_descriptor(b, &image->resource, IMAGE_ADDRESS + 16, 1);
      base = nir_pack_64_2x32_split(b, nir_channel(b, words, 0), nir_channel(b, words, 1));
      if (image->layer) {
         nir_def *layers = nir_channel(b, size, 2);
         /* The descriptor counts cubes. */
         if (image->dim == GLSL_SAMPLER_DIM_CUBE)
            layers = nir_imul_imm(b, layers, 6);
         inside = all(b, inside, nir_ult(b, image->layer, layers));
         nir_def *layer = nir_umul_2x32_64(b, image->layer, nir_channel(b, words, 2));
         base = nir_iadd(b, base, nir_ishl_imm(b, layer, 4));
      }
      if (image->sample) {
         nir_def *samples = apple9_load_descriptor(b, &image->resource, TEXTURE_SAMPLES, 1);
         inside = all(b, inside, nir_ult(b, image->sample, samples));
      }
      offset = nir_u2u64(b, texel_offset(b, image, nir_channel(b, words, 3), columns));
   }
   nir_def *address = nir_iadd(b, base, offset);
   uint64_t page = (uint64_t)CORTLAND_BOUNDS_PAGES_HIGH << 32 | (loads ? CORTLAND_ZERO_PAGE_LOW : CORTLAND_SINK_PAGE_LOW);
   nir_def *low = nir_bcsel(b, inside, nir_unpack_64_2x32_split_x(b, address), nir_imm_int(b, (uint32_t)page));
   nir_def *high = nir_bcsel(b, inside, nir_unpack_64_2x32_split_y(b, address), nir_imm_int(b, page >> 32));
   return nir_pack_64_2x32_split(b, low, high);
}

static unsigned
format_bytes(enum pipe_format format)
{
   return util_format_get_blocksize(format);
}

static const char *
format_name(enum pipe_format format)
{
   const struct util_format_description *description = util_format_description(format);
   return description ? description->name : "unknown";
}

static void
check_format(enum pipe_format format)
{
   const struct util_format_description *description = util_format_description(format);
   bool plain = description && description->layout == UTIL_FORMAT_LAYOUT_PLAIN && description->block.bits <= 128 &&
                util_is_power_of_two_nonzero(description->block.bits);
   for (unsigned i = 0; plain && i < description->nr_channels; i++)
      plain = description->channel[i].size <= 32;
   if (!plain && format != PIPE_FORMAT_R11G11B10_FLOAT)
      unsupported("a storage image of format %s", format_name(format));
}

/* Of an image whose format is not known: bytes of a texel, and the first word of its texture record. */
static nir_def *
texel_bytes(nir_builder *b, struct image *image, nir_def **record)
{
   *record = apple9_load_descriptor(b, &image->resource, 0, 1);
   if (image->dim == GLSL_SAMPLER_DIM_BUF)
      return apple9_load_descriptor(b, &image->resource, TEXEL_BUFFER_BYTES, 1);
   nir_def *geometry = apple9_load_descriptor(b, &image->resource, IMAGE_ADDRESS + 12, 1);
   nir_def *log2 = nir_isub(b, field(b, geometry, 16, 8), field(b, geometry, 24, 7));
   return nir_ishl(b, nir_imm_int(b, 1), log2);
}

/* Loads of what others may write meanwhile are atomics, which are of words. */
static bool
is_coherent(const struct image *image)
{
   return image->access & (ACCESS_COHERENT | ACCESS_VOLATILE);
}

static nir_def *
load_memory(nir_builder *b, struct image *image)
{
   check_format(image->format);
   unsigned bytes = format_bytes(image->format);
   nir_def *address = texel_address(b, image, nir_imm_int(b, bytes), true);
   nir_def *packed;
   if (bytes >= 4) {
      unsigned access = image->access & (ACCESS_COHERENT | ACCESS_VOLATILE);
      packed = nir_build_load_global(b, bytes / 4, 32, address, .align_mul = bytes, .access = access);
   } else if (is_coherent(image)) {
      nir_def *low = nir_unpack_64_2x32_split_x(b, address);
      nir_def *word = nir_pack_64_2x32_split(b, nir_iand_imm(b, low, ~3u), nir_unpack_64_2x32_split_y(b, address));
      packed = nir_build_load_global(b, 1, 32, word, .align_mul = 4, .access = ACCESS_COHERENT);
      packed = nir_ushr(b, packed, nir_ishl_imm(b, nir_iand_imm(b, low, 3), 3));
      packed = nir_iand_imm(b, packed, bytes == 2 ? 0xffff : 0xff);
   } else {
      packed = nir_u2u32(b, nir_load_global(b, address, bytes, 1, 8 * bytes));
   }
   return nir_format_unpack_rgba(b, packed, image->format);
}

static nir_def *
load_texture(nir_builder *b, nir_intrinsic_instr *intrin, struct image *image)
{
   struct apple9_texel texel = {
      .dim = image->dim,
      .array = image->array,
      .is_integer = nir_alu_type_get_base_type(nir_intrinsic_dest_type(intrin)) != nir_type_float,
      .x = image->x,
      .y = image->y,
      .sample = image->sample,
   };
   if (image->dim == GLSL_SAMPLER_DIM_3D) {
      texel.z = image->layer;
   } else {
      texel.layer = image->layer;
   }
   return apple9_fetch(b, &texel, &image->resource);
}

static nir_def *
load(nir_builder *b, nir_intrinsic_instr *intrin, struct image *image)
{
   if (intrin->def.bit_size != 32)
      unsupported("a load of %u bits from an image", intrin->def.bit_size);
   /* Nobody writes it while the shader runs. */
   bool constant = image->access & ACCESS_CAN_REORDER && !is_coherent(image);
   bool known = image->format != PIPE_FORMAT_NONE;
   nir_def *value;
   if (known && (!constant || image->resource.element)) {
      /* An image from an array needs no tree of branches when its address is computed. */
      value = load_memory(b, image);
   } else if (constant) {
      value = load_texture(b, intrin, image);
   } else {
      nir_def *record, *bytes = texel_bytes(b, image, &record);
      value = apple9_load_any(b, record, bytes, texel_address(b, image, bytes, true),
                              image->access & (ACCESS_COHERENT | ACCESS_VOLATILE));
   }
   return nir_resize_vector(b, value, intrin->def.num_components);
}

static void
store(nir_builder *b, nir_intrinsic_instr *intrin, struct image *image)
{
   if (intrin->src[3].ssa->bit_size != 32)
      unsupported("a store of %u bits to an image", intrin->src[3].ssa->bit_size);
   if (image->format == PIPE_FORMAT_NONE) {
      nir_def *record, *bytes = texel_bytes(b, image, &record);
      apple9_store_any(b, record, bytes, texel_address(b, image, bytes, false),
                       nir_resize_vector(b, intrin->src[3].ssa, 4));
      return;
   }
   check_format(image->format);
   unsigned bytes = format_bytes(image->format);
   nir_def *packed = nir_format_pack_rgba(b, image->format, intrin->src[3].ssa);
   nir_def *address = texel_address(b, image, nir_imm_int(b, bytes), false);
   if (bytes < 4)
      packed = nir_u2uN(b, packed, 8 * bytes);
   nir_store_global(b, address, bytes, packed, nir_component_mask(packed->num_components));
}

static nir_def *
atomic(nir_builder *b, nir_intrinsic_instr *intrin, struct image *image, bool swap)
{
   if (intrin->def.bit_size != 32)
      unsupported("an atomic of %u bits on an image", intrin->def.bit_size);
   nir_def *address = texel_address(b, image, nir_imm_int(b, 4), false);
   nir_atomic_op op = nir_intrinsic_atomic_op(intrin);
   if (swap)
      return nir_global_atomic_swap(b, 32, address, intrin->src[3].ssa, intrin->src[4].ssa, .atomic_op = op);
   return nir_global_atomic(b, 32, address, intrin->src[3].ssa, .atomic_op = op);
}

static nir_def *
size_query(nir_builder *b, nir_intrinsic_instr *intrin, struct image *image)
{
   nir_def *size = apple9_load_descriptor(b, &image->resource, TEXTURE_SIZE, 3);
   if (image->array && (image->dim == GLSL_SAMPLER_DIM_1D))
      size = nir_vec2(b, nir_channel(b, size, 0), nir_channel(b, size, 2));
   return nir_resize_vector(b, size, intrin->def.num_components);
}

static bool
lower(nir_builder *b, nir_intrinsic_instr *intrin, void *data)
{
   b->cursor = nir_before_instr(&intrin->instr);
   struct image image;
   nir_def *result = NULL;
   switch (intrin->intrinsic) {
   case nir_intrinsic_image_deref_load:
   case nir_intrinsic_image_deref_store:
   case nir_intrinsic_image_deref_atomic:
   case nir_intrinsic_image_deref_atomic_swap:
      image = image_of(b, intrin, data);
      locate(b, intrin, &image);
      break;
   case nir_intrinsic_image_deref_size:
   case nir_intrinsic_image_deref_samples:
      image = image_of(b, intrin, data);
      break;
   case nir_intrinsic_image_deref_sparse_load:
      unsupported("residency of sparse images");
   default:
      return false;
   }
   switch (intrin->intrinsic) {
   case nir_intrinsic_image_deref_load:
      result = load(b, intrin, &image);
      break;
   case nir_intrinsic_image_deref_store:
      store(b, intrin, &image);
      break;
   case nir_intrinsic_image_deref_atomic:
   case nir_intrinsic_image_deref_atomic_swap:
      result = atomic(b, intrin, &image, intrin->intrinsic == nir_intrinsic_image_deref_atomic_swap);
      break;
   case nir_intrinsic_image_deref_size:
      result = size_query(b, intrin, &image);
      break;
   default:
      result = apple9_load_descriptor(b, &image.resource, TEXTURE_SAMPLES, 1);
      break;
   }
   if (result)
      nir_def_replace(&intrin->def, result);
   else
      nir_instr_remove(&intrin->instr);
   return true;
}

bool
apple9_lower_images(nir_shader *shader, const struct cortland_compute_lowering *lowering)
{
   /* Tells which images nobody writes. */
   const nir_opt_access_options access = { .is_vulkan = true };
   bool progress = nir_opt_access(shader, &access);
   progress |= nir_shader_intrinsics_pass(shader, lower, nir_metadata_none, (void *)lowering);
   return progress;
}
