/* SPDX-License-Identifier: MIT */
/*
 * Fragment shaders: coverage, and what becomes of the outputs.
 *
 * The coverage register is read at the start. What a shader discards is killed where it says so, by a control word of
 * coverage; lanes go on as helpers (isa-3, 4.7). At the end the sample mask and alpha to coverage kill what they leave
 * out; if anything was killed or the depth is written, tests of depth and stencil come then. Last, colours are blended,
 * packed and stored in the tile.
 *
 * A shader with side effects has its tests behind them, unless it wants them early: hardware tests in front of shaders that
 * say nothing, and what fails would have no effects.
 *
 * A shader that wants its tests early, and discards nevertheless, must not touch coverage any more: what it discards is
 * kept in a variable, and left out of the stores to the tile and to memory.
 *
 * Hardware runs one invocation for a pixel. One for each sample is a loop around all of the shader (isa-3, 4.9), in which
 * stores to memory look at their sample themselves (isa-4, 8). Otherwise only what reads the tile has to take samples one
 * by one.
 */
#include "stages.h"

#include "../unsupported.h"

struct fragment {
   nir_builder *b;
   const struct cortland_fragment_lowering *lowering;
   struct apple9_stage_info *info;
   struct apple9_sampling sampling;
   /* The tests are in front of the shader, whatever it discards. */
   bool early;
   /* The last instruction of what runs once. */
   nir_instr *start;
   /* Samples that were discarded, where somebody asks; else null. */
   nir_variable *killed;
};

/* All samples of a pixel. */
static unsigned
all(const struct fragment *f)
{
   return BITFIELD_MASK(f->lowering->samples);
}

/* The samples that this invocation is for. */
static nir_def *
own_samples(struct fragment *f)
{
   if (f->sampling.per_sample)
      return nir_ishl(f->b, nir_imm_int(f->b, 1), nir_load_sample_id(f->b));
   return nir_imm_int(f->b, all(f));
}

/* A word that kills or tests samples, or tests and keeps them (isa-3, 4.7). */
static nir_def *
control(struct fragment *f, nir_def *affected, bool live)
{
   nir_builder *b = f->b;
   nir_def *coverage = f->sampling.coverage;
   nir_def *low = nir_iand(b, affected, coverage);
   nir_def *word = nir_ior(b, nir_iand(b, nir_ishl_imm(b, affected, 4), coverage), nir_ishl_imm(b, low, 8));
   return live ? nir_ior(b, word, low) : word;
}

static void
discard_samples(struct fragment *f, nir_def *samples)
{
   nir_builder *b = f->b;
   if (f->killed)
      nir_store_var(b, f->killed, nir_ior(b, nir_load_var(b, f->killed), samples), 1);
   if (f->early)
      return;
   nir_sample_mask_agx(b, control(f, samples, false), nir_imm_int(b, 0));
   f->info->flags |= CORTLAND_FRAGMENT_LATE_TESTS;
}

/* The samples of this invocation that are covered, by the pipeline's mask as well, and not discarded yet. */
static nir_def *
live_samples(struct fragment *f)
{
   nir_builder *b = f->b;
   nir_def *live = nir_iand(b, f->sampling.coverage, own_samples(f));
   live = nir_iand_imm(b, live, f->lowering->sample_mask & all(f));
   if (f->killed)
      live = nir_iand(b, live, nir_inot(b, nir_load_var(b, f->killed)));
   return live;
}

/* ---- what is in the shader ---- */

struct contents {
   bool discards, asks_helper, per_sample, writes_memory, writes_mask, needs_helpers;
};

static void
look_at(struct contents *c, nir_intrinsic_instr *intrin)
{
   switch (intrin->intrinsic) {
   case nir_intrinsic_demote:
   case nir_intrinsic_demote_if:
      c->discards = true;
      break;
   case nir_intrinsic_is_helper_invocation:
      c->asks_helper = true;
      break;
   case nir_intrinsic_load_sample_id:
   case nir_intrinsic_load_sample_pos:
   case nir_intrinsic_load_barycentric_sample:
      c->per_sample = true;
      break;
   case nir_intrinsic_deref_atomic:
   case nir_intrinsic_deref_atomic_swap:
   case nir_intrinsic_image_deref_atomic:
   case nir_intrinsic_image_deref_atomic_swap:
   case nir_intrinsic_image_deref_store:
      c->writes_memory = true;
      break;
   case nir_intrinsic_store_deref:
      c->writes_memory |= nir_deref_mode_may_be(nir_src_as_deref(intrin->src[0]), nir_var_mem_ssbo | nir_var_mem_global);
      break;
   case nir_intrinsic_ddx:
   case nir_intrinsic_ddx_fine:
   case nir_intrinsic_ddx_coarse:
   case nir_intrinsic_ddy:
   case nir_intrinsic_ddy_fine:
   case nir_intrinsic_ddy_coarse:
   case nir_intrinsic_load_barycentric_at_offset:
      c->needs_helpers = true;
      break;
   /* Subgroups must be of one primitive as quads must. */
   case nir_intrinsic_quad_broadcast:
   case nir_intrinsic_quad_swap_horizontal:
   case nir_intrinsic_quad_swap_vertical:
   case nir_intrinsic_quad_swap_diagonal:
   case nir_intrinsic_ballot:
   case nir_intrinsic_elect:
   case nir_intrinsic_vote_any:
   case nir_intrinsic_vote_all:
   case nir_intrinsic_vote_feq:
   case nir_intrinsic_vote_ieq:
   case nir_intrinsic_reduce:
   case nir_intrinsic_inclusive_scan:
   case nir_intrinsic_exclusive_scan:
   case nir_intrinsic_shuffle:
   case nir_intrinsic_shuffle_xor:
   case nir_intrinsic_shuffle_up:
   case nir_intrinsic_shuffle_down:
   case nir_intrinsic_rotate:
   case nir_intrinsic_read_invocation:
   case nir_intrinsic_read_first_invocation:
      c->needs_helpers = true;
      break;
   case nir_intrinsic_store_output:
      c->writes_mask |= nir_intrinsic_io_semantics(intrin).location == FRAG_RESULT_SAMPLE_MASK;
      break;
   default:
      break;
   }
}

static struct contents
look(nir_shader *s)
{
   struct contents c = { 0 };
   nir_foreach_block(block, nir_shader_get_entrypoint(s)) {
      nir_foreach_instr(instr, block) {
         if (instr->type == nir_instr_type_intrinsic)
            look_at(&c, nir_instr_as_intrinsic(instr));
         else if (instr->type == nir_instr_type_tex)
            c.needs_helpers |= nir_tex_instr_has_implicit_derivative(nir_instr_as_tex(instr));
      }
   }
   return c;
}

/* ---- intrinsics in the body ---- */

/* The words of a sample, told by a mask of one bit. */
static void
load_words(nir_builder *b, const struct cortland_attachment *a, nir_def *sample, nir_def *words[4])
{
   for (unsigned w = 0; w < apple9_tile_words(a); w++)
      words[w] = nir_load_local_pixel_agx(b, 1, 32, sample, .base = (int)(a->word + w));
}

/* A mask of one bit for a sample that an instruction names. */
static nir_def *
one_sample(struct fragment *f, nir_def *sample)
{
   if (f->lowering->samples == 1)
      return nir_imm_int(f->b, 1);
   return nir_ishl(f->b, nir_imm_int(f->b, 1), nir_iand_imm(f->b, sample, f->lowering->samples - 1));
}

static nir_def *
lowered(struct fragment *f, nir_intrinsic_instr *intrin)
{
   nir_builder *b = f->b;
   switch (intrin->intrinsic) {
   case nir_intrinsic_load_sample_id:
      return f->sampling.per_sample ? NULL : nir_imm_int(b, 0);
   case nir_intrinsic_load_sample_pos:
      return apple9_sample_position(b, f->lowering->samples,
                                    f->sampling.per_sample ? nir_load_sample_id(b) : nir_imm_int(b, 0));
   case nir_intrinsic_load_sample_mask_in: {
      f->info->flags |= CORTLAND_FRAGMENT_SAMPLE_MASK_IN;
      nir_def *mask = nir_iand(b, f->sampling.coverage, own_samples(f));
      return nir_iand_imm(b, mask, f->lowering->sample_mask & all(f));
   }
   case nir_intrinsic_load_helper_invocation: {
      nir_def *covered = nir_iand(b, f->sampling.coverage, own_samples(f));
      return nir_ieq_imm(b, covered, 0);
   }
   case nir_intrinsic_is_helper_invocation:
      return nir_ieq_imm(b, live_samples(f), 0);
   case nir_intrinsic_load_view_index:
      return nir_imm_int(b, f->lowering->has_view ? f->lowering->view : 0);
   default:
      return NULL;
   }
}

/* ---- input attachments in the tile ---- */

/* What holds the input attachment with an index, or null. */
static const struct cortland_attachment *
in_tile(const struct fragment *f, uint32_t index)
{
   for (size_t i = 0; i < f->lowering->num_inputs; i++) {
      if (f->lowering->inputs[i].index == index)
         return &f->lowering->inputs[i].held;
   }
   return NULL;
}

/* The colour of the fragment's own pixel; `sample` where the variable has several. */
static nir_def *
load_from_tile(struct fragment *f, nir_intrinsic_instr *load, nir_def *sample, const struct cortland_attachment *a)
{
   nir_def *words[4], *colour[4];
   if (load->def.bit_size != 32)
      unsupported("an input attachment read as %u bits", load->def.bit_size);
   load_words(f->b, a, one_sample(f, sample), words);
   apple9_unpack_stored_colour(f->b, a, words, colour);
   return nir_vec(f->b, colour, load->def.num_components);
}

/* Elements of a variable. */
static unsigned
elements(const struct glsl_type *type)
{
   return glsl_type_is_array(type) ? glsl_get_aoa_size(type) : 1;
}

/* Which of them is meant; drivers do not offer to choose one at run time. */
static unsigned
element_of(nir_deref_instr *deref)
{
   unsigned at = 0;
   for (; deref->deref_type == nir_deref_type_array; deref = nir_deref_instr_parent(deref)) {
      if (!nir_src_is_const(deref->arr.index))
         unsupported("an input attachment that is chosen at run time");
      at += nir_src_as_uint(deref->arr.index) * elements(deref->type);
   }
   return at;
}

/* Input attachments that are in the tile. */
static bool
lower_tile_inputs(nir_builder *b, nir_intrinsic_instr *intrin, void *data)
{
   struct fragment *f = data;
   if (intrin->intrinsic != nir_intrinsic_image_deref_load || !f->lowering->num_inputs)
      return false;
   nir_deref_instr *deref = nir_src_as_deref(intrin->src[0]);
   enum glsl_sampler_dim dim = glsl_get_sampler_dim(glsl_without_array(deref->type));
   if (dim != GLSL_SAMPLER_DIM_SUBPASS && dim != GLSL_SAMPLER_DIM_SUBPASS_MS)
      return false;
   nir_variable *variable = nir_deref_instr_get_variable(deref);
   if (!variable)
      unsupported("an input attachment of no variable");
   const struct cortland_attachment *a = in_tile(f, variable->data.index + element_of(deref));
   if (!a)
      return false;
   f->b = b;
   b->cursor = nir_before_instr(&intrin->instr);
   nir_def *sample = dim == GLSL_SAMPLER_DIM_SUBPASS_MS ? intrin->src[2].ssa : nir_imm_int(b, 0);
   nir_def_replace(&intrin->def, load_from_tile(f, intrin, sample, a));
   return true;
}

/* Discards, and everything else that is not an input. */
static bool
lower_body(nir_builder *b, nir_intrinsic_instr *intrin, void *data)
{
   struct fragment *f = data;
   if (&intrin->def == f->sampling.coverage)
      return false;
   f->b = b;
   b->cursor = nir_before_instr(&intrin->instr);
   switch (intrin->intrinsic) {
   case nir_intrinsic_demote:
      discard_samples(f, own_samples(f));
      nir_instr_remove(&intrin->instr);
      return true;
   case nir_intrinsic_demote_if: {
      nir_push_if(b, intrin->src[0].ssa);
      discard_samples(f, own_samples(f));
      nir_pop_if(b, NULL);
      nir_instr_remove(&intrin->instr);
      return true;
   }
   default: {
      nir_def *result = lowered(f, intrin);
      if (!result)
         return false;
      nir_def_replace(&intrin->def, result);
      return true;
   }
   }
}

/* Stores and atomics of invocations that are helpers, where hardware does not leave them out. */
static bool
lower_effects(nir_builder *b, nir_intrinsic_instr *intrin, void *data)
{
   struct contents c = { 0 };
   look_at(&c, intrin);
   if (!c.writes_memory)
      return false;
   struct fragment *f = data;
   f->b = b;
   b->cursor = nir_before_instr(&intrin->instr);
   bool gives = nir_intrinsic_infos[intrin->intrinsic].has_dest;
   nir_if *nif = nir_push_if(b, nir_ine_imm(b, live_samples(f), 0));
   nir_instr_remove(&intrin->instr);
   nir_builder_instr_insert(b, &intrin->instr);
   if (!gives) {
      nir_pop_if(b, nif);
      return true;
   }
   nir_push_else(b, nif);
   nir_def *nothing = nir_imm_zero(b, intrin->def.num_components, intrin->def.bit_size);
   nir_pop_if(b, nif);
   nir_def *phi = nir_if_phi(b, &intrin->def, nothing);
   /* All uses but that of the phi itself. */
   nir_def_rewrite_uses(&intrin->def, phi);
   nir_phi_src *own = nir_phi_get_src_from_block(nir_instr_as_phi(phi->parent_instr), intrin->instr.block);
   nir_src_rewrite(&own->src, &intrin->def);
   return true;
}

/* ---- outputs ---- */

struct outputs {
   /* By index, location and component. */
   nir_def *colour[2][CORTLAND_MOST_ATTACHMENTS][4];
   nir_def *depth, *sample_mask;
};

static nir_def **
place_for(void *outputs, nir_intrinsic_instr *store, struct apple9_place place)
{
   struct outputs *o = outputs;
   unsigned location = place.slot - FRAG_RESULT_DATA0;
   if (place.slot == FRAG_RESULT_DEPTH)
      return &o->depth;
   if (place.slot == FRAG_RESULT_SAMPLE_MASK)
      return &o->sample_mask;
   if (place.slot < FRAG_RESULT_DATA0 || location >= CORTLAND_MOST_ATTACHMENTS)
      unsupported("the fragment output %s", gl_frag_result_name(place.slot));
   return &o->colour[nir_intrinsic_io_semantics(store).dual_source_blend_index][location][place.component];
}

static nir_def *
alpha_coverage(struct fragment *f, nir_def *alpha)
{
   nir_builder *b = f->b;
   nir_def *count = nir_f2u32(b, nir_ffma_imm12(b, nir_fsat(b, alpha), f->lowering->samples, 0.5));
   return nir_iadd_imm(b, nir_ishl(b, nir_imm_int(b, 1), count), -1);
}

/* Which samples the outputs leave; null for all. */
static nir_def *
output_mask(struct fragment *f, const struct outputs *o)
{
   nir_def *mask = o->sample_mask;
   nir_def *alpha = o->colour[0][0][3];
   const struct cortland_attachment *first = &f->lowering->attachments[0];
   bool integer = first->present && apple9_is_integer_colour(first);
   if (f->lowering->alpha_to_coverage && alpha && !integer) {
      nir_def *from_alpha = alpha_coverage(f, alpha);
      mask = mask ? nir_iand(f->b, mask, from_alpha) : from_alpha;
   }
   return mask;
}

/* ---- colours ---- */

/* Logic operations leave floats and sRGB alone (Vulkan, "Logical Operations"). */
static bool
takes_logic_op(const struct cortland_attachment *a)
{
   return apple9_is_integer_colour(a) || (apple9_is_normalized_colour(a) && a->encoding != CORTLAND_COLOUR_SRGB8);
}

static bool
equation_reads(const struct cortland_blend_equation *e)
{
   if (e->op == CORTLAND_BLEND_MIN || e->op == CORTLAND_BLEND_MAX || e->dst != CORTLAND_FACTOR_ZERO)
      return true;
   switch (e->src) {
   case CORTLAND_FACTOR_DST_COLOUR:
   case CORTLAND_FACTOR_ONE_MINUS_DST_COLOUR:
   case CORTLAND_FACTOR_DST_ALPHA:
   case CORTLAND_FACTOR_ONE_MINUS_DST_ALPHA:
   case CORTLAND_FACTOR_SRC_ALPHA_SATURATE:
      return true;
   default:
      return false;
   }
}

/* Needs what is in the tile? */
static bool
reads_destination(const struct fragment *f, const struct cortland_attachment *a)
{
   if (f->lowering->has_logic_op) {
      if (takes_logic_op(a))
         return true;
   } else if (a->blends && (equation_reads(&a->colour) || equation_reads(&a->alpha))) {
      return true;
   }
   uint32_t written[4], used[4];
   apple9_tile_bits(a, a->write_mask, written);
   apple9_tile_bits(a, 15, used);
   for (unsigned w = 0; w < 4; w++) {
      if (written[w] && written[w] != used[w])
         return true;
   }
   return false;
}

/* Stores the colour in the samples of the mask; `sample`, of one bit, is that whose contents are read. */
static void
store_colour(struct fragment *f, const struct cortland_attachment *a, nir_def *const src[4], nir_def *const src1[4],
             nir_def *sample, nir_def *mask)
{
   nir_builder *b = f->b;
   unsigned count = apple9_tile_words(a);
   nir_def *old[4] = { 0 }, *words[4] = { 0 };
   if (sample)
      load_words(b, a, sample, old);
   if (f->lowering->has_logic_op && takes_logic_op(a)) {
      nir_def *there[4] = { old[0], old[1], old[2], old[3] };
      apple9_pack_colour(b, a, src, words);
      apple9_to_memory_bits(b, a, words);
      apple9_to_memory_bits(b, a, there);
      for (unsigned w = 0; w < count; w++) {
         words[w] = apple9_logic_op(b, f->lowering->logic_op, words[w], there[w]);
         if (!words[w])
            return;
      }
      apple9_from_memory_bits(b, a, words);
   } else if (a->blends && !f->lowering->has_logic_op && !apple9_is_integer_colour(a)) {
      nir_def *nothing = nir_imm_int(b, 0), *dst[4] = { nothing, nothing, nothing, nothing }, *out[4];
      if (sample)
         apple9_unpack_colour(b, a, old, dst);
      apple9_blend(b, a, src, src1, dst, out);
      apple9_pack_colour(b, a, out, words);
   } else {
      apple9_pack_colour(b, a, src, words);
   }
   uint32_t written[4], used[4];
   apple9_tile_bits(a, a->write_mask, written);
   apple9_tile_bits(a, 15, used);
   for (unsigned w = 0; w < count; w++) {
      if (!written[w])
         continue;
      /* Bits that no component has are zero, whatever becomes of the others. */
      nir_def *word = f->lowering->has_logic_op ? nir_iand_imm(b, words[w], used[w]) : words[w];
      if (written[w] != used[w])
         word = nir_ior(b, nir_iand_imm(b, word, written[w]), nir_iand_imm(b, old[w], used[w] & ~written[w]));
      nir_store_local_pixel_agx(b, word, mask, nir_imm_intN_t(b, 0, 16), .base = (int)(a->word + w), .write_mask = 1);
      f->info->flags |= CORTLAND_FRAGMENT_WRITES_COLOUR;
   }
}

static void
store_colours(struct fragment *f, struct outputs *o, nir_def *mask)
{
   nir_builder *b = f->b;
   const struct cortland_fragment_lowering *l = f->lowering;
   for (unsigned i = 0; i < CORTLAND_MOST_ATTACHMENTS; i++) {
      const struct cortland_attachment *a = &l->attachments[i];
      nir_def **src = o->colour[0][i], **src1 = o->colour[1][i];
      if (!a->present || !a->write_mask || !(src[0] || src[1] || src[2] || src[3]))
         continue;
      nir_def *one = apple9_is_integer_colour(a) ? nir_imm_int(b, 1) : nir_imm_float(b, 1.0f);
      for (unsigned c = 0; c < 4; c++) {
         nir_def *nothing = c == 3 ? one : nir_imm_int(b, 0);
         src[c] = src[c] ? src[c] : nothing;
         src1[c] = src1[c] ? src1[c] : nothing;
      }
      if (l->alpha_to_one && !apple9_is_integer_colour(a))
         src[3] = src1[3] = one;
      if (!reads_destination(f, a)) {
         store_colour(f, a, src, src1, NULL, mask);
      } else if (l->samples == 1 || f->sampling.per_sample) {
         nir_def *sample = l->samples == 1 ? nir_imm_int(b, 1) : own_samples(f);
         store_colour(f, a, src, src1, sample, mask);
      } else {
         for (unsigned s = 0; s < l->samples; s++)
            store_colour(f, a, src, src1, nir_imm_int(b, 1 << s), nir_iand_imm(b, mask, 1 << s));
      }
   }
}

/* The end of the shader. */
static void
finish(struct fragment *f)
{
   nir_builder *b = f->b;
   struct outputs o = { 0 };
   apple9_take_outputs(b, place_for, &o);
   b->cursor = nir_after_impl(b->impl);
   nir_def *left = output_mask(f, &o);
   if (left)
      discard_samples(f, nir_iand(b, nir_inot(b, left), own_samples(f)));
   bool writes_depth = o.depth && !f->early;
   if (writes_depth) {
      nir_def *depth = nir_fmin(b, nir_fmax(b, o.depth, nir_imm_float(b, 0.0f)), nir_imm_float(b, 1.0f));
      nir_store_zs_agx(b, control(f, own_samples(f), true), depth, nir_imm_int(b, 0), .base = 1);
      f->info->flags |= CORTLAND_FRAGMENT_WRITES_DEPTH;
      f->info->depth_layout = b->shader->info.fs.depth_layout;
   } else if (f->info->flags & CORTLAND_FRAGMENT_LATE_TESTS) {
      nir_sample_mask_agx(b, control(f, own_samples(f), true), nir_imm_int(b, 1));
   }
   /* Hardware knows what it has killed; with one sample there is nothing else to say. */
   nir_def *mask = nir_imm_int(b, 1);
   if (f->lowering->samples > 1 || (f->early && f->killed)) {
      mask = live_samples(f);
      if (left)
         mask = nir_iand(b, mask, left);
   }
   store_colours(f, &o, mask);
}

/* Runs all that is behind the start of the shader for each sample. */
static void
wrap_in_loop(struct fragment *f)
{
   nir_builder *b = f->b;
   nir_cf_list body;
   nir_variable *sample = nir_local_variable_create(b->impl, glsl_uint_type(), "sample");
   nir_cf_extract(&body, nir_after_instr(f->start), nir_after_impl(b->impl));
   b->cursor = nir_after_instr(f->start);
   nir_store_var(b, sample, nir_imm_int(b, 0), 1);
   nir_loop *loop = nir_push_loop(b);
   nir_def *index = nir_load_var(b, sample);
   nir_break_if(b, nir_uge_imm(b, index, f->lowering->samples));
   b->cursor = nir_cf_reinsert(&body, b->cursor);
   nir_store_var(b, sample, nir_iadd_imm(b, nir_load_var(b, sample), 1), 1);
   nir_pop_loop(b, loop);
   nir_foreach_block(block, b->impl) {
      nir_foreach_instr_safe(instr, block) {
         if (instr->type != nir_instr_type_intrinsic ||
             nir_instr_as_intrinsic(instr)->intrinsic != nir_intrinsic_load_sample_id)
            continue;
         b->cursor = nir_before_instr(instr);
         nir_def_replace(&nir_instr_as_intrinsic(instr)->def, nir_load_var(b, sample));
      }
   }
   f->info->flags |= CORTLAND_FRAGMENT_PER_SAMPLE;
}

/* What is left of input attachments is fetched from images, whose records are those of arrays. */
static void
lower_input_attachments(nir_shader *s, bool has_view)
{
   const nir_input_attachment_options options = {
      .use_fragcoord_sysval = true,
      .use_layer_id_sysval = true,
      .use_view_id_for_layer = has_view,
   };
   if (!nir_lower_input_attachments(s, &options))
      return;
   nir_foreach_block(block, nir_shader_get_entrypoint(s)) {
      nir_foreach_instr(instr, block) {
         if (instr->type != nir_instr_type_tex)
            continue;
         nir_tex_instr *tex = nir_instr_as_tex(instr);
         if (tex->sampler_dim == GLSL_SAMPLER_DIM_SUBPASS)
            tex->sampler_dim = GLSL_SAMPLER_DIM_2D;
         else if (tex->sampler_dim == GLSL_SAMPLER_DIM_SUBPASS_MS)
            tex->sampler_dim = GLSL_SAMPLER_DIM_MS;
      }
   }
}

static void
check_lowering(const struct cortland_fragment_lowering *l)
{
   for (unsigned i = 0; i < CORTLAND_MOST_ATTACHMENTS; i++) {
      const struct cortland_attachment *a = &l->attachments[i];
      unsigned most = l->samples == 1 ? 32 : 16;
      if (a->present && a->word + apple9_tile_words(a) > most)
         unsupported("colour attachments of more than %u words for a sample", most);
   }
}

bool
apple9_lower_fragment(nir_shader *shader, const struct cortland_compute_lowering *lowering)
{
   const struct cortland_fragment_lowering *l = lowering->fragment;
   nir_builder builder = nir_builder_create(nir_shader_get_entrypoint(shader)), *b = &builder;
   struct fragment f = {
      .b = b,
      .lowering = l,
      .info = &apple9_tables(shader)->stage,
      .early = shader->info.fs.early_fragment_tests,
      .sampling.samples = l->samples,
   };
   check_lowering(l);
   const struct contents c = look(shader);
   /* A sample's number or place that nothing comes of asks for it, too (Vulkan 1.3, 25.7): the front end notes it. */
   bool asks = c.per_sample || shader->info.fs.uses_sample_shading || l->sample_shading;
   f.sampling.per_sample = l->samples > 1 && asks;
   if (f.early)
      f.info->flags |= CORTLAND_FRAGMENT_EARLY_TESTS;
   if (c.writes_memory)
      f.info->flags |= CORTLAND_FRAGMENT_SIDE_EFFECTS | (f.early ? 0 : CORTLAND_FRAGMENT_LATE_TESTS);
   if (c.needs_helpers)
      f.info->flags |= CORTLAND_FRAGMENT_NEEDS_HELPERS;

   b->cursor = nir_before_impl(b->impl);
   f.sampling.coverage = l->full_coverage ? nir_imm_int(b, 0xff) : nir_load_sample_mask_in(b);
   f.start = nir_imm_int(b, 0)->parent_instr;
   nir_shader_intrinsics_pass(shader, lower_tile_inputs, nir_metadata_none, &f);
   lower_input_attachments(shader, l->has_view);
   apple9_lower_fragment_inputs(shader, &f.sampling);

   b->cursor = nir_after_instr(f.start);
   unsigned unmasked = ~l->sample_mask & all(&f);
   bool discards = c.discards || c.writes_mask || l->alpha_to_coverage || unmasked;
   if (c.asks_helper || (f.early && discards)) {
      f.killed = nir_local_variable_create(b->impl, glsl_uint_type(), "killed");
      nir_store_var(b, f.killed, nir_imm_int(b, 0), 1);
   }
   if (unmasked)
      discard_samples(&f, nir_iand_imm(b, own_samples(&f), unmasked));
   nir_shader_intrinsics_pass(shader, lower_body, nir_metadata_none, &f);
   if ((f.sampling.per_sample || (f.early && f.killed)) && c.writes_memory)
      nir_shader_intrinsics_pass(shader, lower_effects, nir_metadata_none, &f);
   f.b = b;
   finish(&f);
   if (f.sampling.per_sample)
      wrap_in_loop(&f);
   nir_metadata_preserve(b->impl, nir_metadata_none);
   return true;
}

void
apple9_note_tile(nir_shader *shader)
{
   nir_foreach_block(block, nir_shader_get_entrypoint(shader)) {
      nir_foreach_instr(instr, block) {
         if (instr->type == nir_instr_type_intrinsic &&
             nir_instr_as_intrinsic(instr)->intrinsic == nir_intrinsic_load_local_pixel_agx)
            apple9_tables(shader)->stage.flags |= CORTLAND_FRAGMENT_READS_TILE;
      }
   }
}
