/* SPDX-License-Identifier: MIT */
#include "export.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/ralloc.h"

#include "apple9/apple9.h"
#include "unsupported.h"

struct writer {
   void *mem_ctx;
   uint32_t *words;
   /* Behind the last word, and behind the room that there is. */
   uint32_t *next, *end;
   unsigned depth;
};

static void
set_room(struct writer *w, size_t room)
{
   size_t used = w->next - w->words;
   w->words = reralloc(w->mem_ctx, w->words, uint32_t, room);
   w->next = w->words + used;
   w->end = w->words + room;
}

static __attribute__((noinline, cold)) void
grow(struct writer *w)
{
   set_room(w, 2 * (size_t)(w->end - w->words));
}

static inline void
put(struct writer *w, uint32_t word)
{
   if (unlikely(w->next == w->end))
      grow(w);
   *w->next++ = word;
}

/* `more` goes with it. */
static void
put_def_with(struct writer *w, const nir_def *def, uint8_t more)
{
   put(w, def->index);
   put(w, def->num_components | def->bit_size << 8 | (uint32_t)def->divergent << 16 | (uint32_t)more << 24);
}

static void
put_def(struct writer *w, const nir_def *def)
{
   put_def_with(w, def, 0);
}

/* Up to four selectors, from the first on, in a word whose first `skip` bytes are taken. */
static uint32_t
pack_swizzle(const nir_alu_src *src, unsigned first, unsigned components, unsigned skip)
{
   uint32_t word = 0;
   for (unsigned byte = skip; byte < 4 && first < components; byte++)
      word |= (uint32_t)src->swizzle[first++] << 8 * byte;
   return word;
}

static void
put_alu_src(struct writer *w, const nir_alu_src *src, unsigned components)
{
   put(w, src->src.ssa->index);
   put(w, components | pack_swizzle(src, 0, components, 1));
   for (unsigned first = 3; first < components; first += 4)
      put(w, pack_swizzle(src, first, components, 0));
}

static void
put_alu(struct writer *w, const nir_alu_instr *alu)
{
   const nir_op_info *info = &nir_op_infos[alu->op];
   uint32_t flags = 0;
   if (alu->exact)
      flags |= CORTLAND_ALU_EXACT;
   if (alu->no_signed_wrap)
      flags |= CORTLAND_ALU_NO_SIGNED_WRAP;
   if (alu->no_unsigned_wrap)
      flags |= CORTLAND_ALU_NO_UNSIGNED_WRAP;
   put(w, CORTLAND_INSTR_ALU | flags << 8 | (uint32_t)alu->op << 16);
   put_def_with(w, &alu->def, info->num_inputs);
   for (unsigned i = 0; i < info->num_inputs; i++)
      put_alu_src(w, &alu->src[i], info->input_sizes[i] ? info->input_sizes[i] : alu->def.num_components);
}

static void
put_intrinsic(struct writer *w, const nir_intrinsic_instr *intrin)
{
   const nir_intrinsic_info *info = &nir_intrinsic_infos[intrin->intrinsic];
   put(w, CORTLAND_INSTR_INTRINSIC | (uint32_t)info->has_dest << 8 | (uint32_t)info->num_srcs << 16 |
             (uint32_t)info->num_indices << 24);
   put(w, intrin->intrinsic);
   if (info->has_dest)
      put_def(w, &intrin->def);
   for (unsigned i = 0; i < info->num_srcs; i++)
      put(w, intrin->src[i].ssa->index);
   for (unsigned i = 0; i < info->num_indices; i++) {
      unsigned kind = info->indices[i];
      put(w, kind);
      put(w, (uint32_t)intrin->const_index[info->index_map[kind] - 1]);
   }
}

static void
put_tex(struct writer *w, const nir_tex_instr *tex)
{
   put(w, CORTLAND_INSTR_TEX);
   put_def(w, &tex->def);
   put(w, tex->backend_flags);
   put(w, tex->texture_index);
   put(w, tex->sampler_index);
   put(w, tex->num_srcs);
   for (unsigned i = 0; i < tex->num_srcs; i++)
      put(w, tex->src[i].src.ssa->index);
}

static void
put_slots(struct writer *w, const struct apple9_slot *slots, unsigned count)
{
   put(w, count);
   for (unsigned i = 0; i < count; i++) {
      put(w, slots[i].set);
      put(w, slots[i].offset);
   }
}

static void
put_stage(struct writer *w, gl_shader_stage stage, const struct apple9_stage_info *info)
{
   put(w, stage);
   put(w, info->flags);
   put(w, info->outputs);
   put(w, info->user_scalars);
   put(w, info->clip_distances);
   put(w, info->depth_layout);
   put(w, info->num_varyings);
   for (unsigned i = 0; i < info->num_varyings; i++)
      put(w, info->varyings[i]);
}

/* The tables of textures and samplers, and what the stage says. */
static void
put_tables(struct writer *w, const nir_shader *shader)
{
   const struct apple9_tables none = { 0 };
   bool there = shader->constant_data_size == sizeof(struct apple9_tables);
   const struct apple9_tables *tables = there ? shader->constant_data : &none;
   put_slots(w, tables->textures, tables->num_textures);
   put_slots(w, tables->samplers, tables->num_samplers);
   put_stage(w, shader->info.stage, &tables->stage);
}

static void
put_instr(struct writer *w, nir_instr *instr)
{
   switch (instr->type) {
   case nir_instr_type_tex:
      put_tex(w, nir_instr_as_tex(instr));
      break;
   case nir_instr_type_alu:
      put_alu(w, nir_instr_as_alu(instr));
      break;
   case nir_instr_type_load_const: {
      const nir_load_const_instr *load = nir_instr_as_load_const(instr);
      put(w, CORTLAND_INSTR_CONST);
      put_def(w, &load->def);
      for (unsigned i = 0; i < load->def.num_components; i++) {
         uint64_t value = nir_const_value_as_uint(load->value[i], load->def.bit_size);
         put(w, (uint32_t)value);
         put(w, value >> 32);
      }
      break;
   }
   case nir_instr_type_undef:
      put(w, CORTLAND_INSTR_UNDEF);
      put_def(w, &nir_instr_as_undef(instr)->def);
      break;
   case nir_instr_type_phi: {
      nir_phi_instr *phi = nir_instr_as_phi(instr);
      put(w, CORTLAND_INSTR_PHI);
      put_def(w, &phi->def);
      put(w, exec_list_length(&phi->srcs));
      nir_foreach_phi_src(src, phi) {
         put(w, src->pred->index);
         put(w, src->src.ssa->index);
      }
      break;
   }
   case nir_instr_type_intrinsic:
      put_intrinsic(w, nir_instr_as_intrinsic(instr));
      break;
   case nir_instr_type_jump: {
      nir_jump_type type = nir_instr_as_jump(instr)->type;
      put(w, type == nir_jump_break ? CORTLAND_INSTR_BREAK : CORTLAND_INSTR_CONTINUE);
      break;
   }
   default:
      unsupported("%s in a lowered shader", instr_type_name(instr->type));
   }
}

static void put_list(struct writer *w, struct exec_list *list);

static void
put_node(struct writer *w, nir_cf_node *node)
{
   switch (node->type) {
   case nir_cf_node_block: {
      nir_block *block = nir_cf_node_as_block(node);
      unsigned count = 0;
      nir_foreach_instr(instr, block)
         count += instr->type != nir_instr_type_debug_info;
      put(w, CORTLAND_NODE_BLOCK);
      put(w, block->index);
      put(w, count);
      nir_foreach_instr(instr, block) {
         if (instr->type != nir_instr_type_debug_info)
            put_instr(w, instr);
      }
      break;
   }
   case nir_cf_node_if: {
      nir_if *nif = nir_cf_node_as_if(node);
      put(w, CORTLAND_NODE_IF);
      put(w, nif->condition.ssa->index);
      put(w, nir_src_is_divergent(&nif->condition));
      put_list(w, &nif->then_list);
      put_list(w, &nif->else_list);
      break;
   }
   case nir_cf_node_loop: {
      nir_loop *loop = nir_cf_node_as_loop(node);
      if (nir_loop_has_continue_construct(loop))
         unsupported("a loop with a continue construct in a lowered shader");
      put(w, CORTLAND_NODE_LOOP);
      put(w, nir_loop_is_divergent(loop));
      put_list(w, &loop->body);
      break;
   }
   default:
      unsupported("an unknown control-flow node");
   }
}

static void
put_list(struct writer *w, struct exec_list *list)
{
   if (++w->depth > CORTLAND_EXPORT_DEPTH)
      unsupported("control flow nested deeper than %u", CORTLAND_EXPORT_DEPTH);
   put(w, exec_list_length(list));
   foreach_list_typed(nir_cf_node, node, node, list)
      put_node(w, node);
   w->depth--;
}

static void
put_name(struct writer *w, const char *name)
{
   size_t length = name ? strlen(name) : 0;
   put(w, length);
   for (size_t first = 0; first < length; first += 4) {
      uint32_t word = 0;
      for (size_t i = first; i < MIN2(first + 4, length); i++)
         word |= (uint32_t)(unsigned char)name[i] << 8 * (i - first);
      put(w, word);
   }
}

/* What the analysis of divergence takes only in lowered form. */
static void
check_lowered(nir_function_impl *impl)
{
   nir_foreach_block(block, impl) {
      nir_foreach_instr(instr, block) {
         switch (instr->type) {
         case nir_instr_type_jump:
            if (nir_instr_as_jump(instr)->type != nir_jump_break && nir_instr_as_jump(instr)->type != nir_jump_continue)
               unsupported("a jump that is neither break nor continue");
            break;
         case nir_instr_type_deref:
         case nir_instr_type_call:
         case nir_instr_type_parallel_copy:
            unsupported("%s in a lowered shader", instr_type_name(instr->type));
         case nir_instr_type_tex:
            if (nir_tex_instr_src_index(nir_instr_as_tex(instr), nir_tex_src_backend1) < 0)
               unsupported("%s that is not lowered", instr_type_name(instr->type));
            break;
         default:
            break;
         }
      }
   }
}

/* The analyses change the shader, so that this is the caller's own or a copy, which is made here. */
struct export_call {
   const nir_shader *original;
   nir_shader *shader;
   uint32_t *words;
   size_t num_words;
};

/* Hand out what was written and free the shader: in here, so that later calls get its memory. */
static void
finish(struct export_call *c, const struct writer *w)
{
   size_t count = w->next - w->words;
   uint32_t *words = guard_result(count * sizeof(*words));
   if (!words)
      guard_fail(CORTLAND_OUT_OF_MEMORY, NULL);
   memcpy(words, w->words, count * sizeof(*words));
   c->words = words;
   c->num_words = count;
   guard_own(NULL); /* From here on it is freed here. */
   ralloc_free(c->shader);
}

static void
do_export(void *arg)
{
   struct export_call *c = arg;
   if (c->original)
      c->shader = nir_shader_clone(NULL, c->original);
   else
      guard_own(c->shader);
   nir_shader *s = c->shader;
   nir_function_impl *impl = NULL;
   nir_foreach_function_impl(other, s) {
      if (impl)
         unsupported("more than one function in a lowered shader");
      impl = other;
   }
   if (!impl)
      unsupported("a shader without a function");
   check_lowered(impl);

   /* The analysis wants values that leave a loop to pass a phi, as only there they may become divergent. */
   nir_convert_to_lcssa(s, true, true);
   nir_divergence_analysis(s);
   nir_index_ssa_defs(impl);
   nir_metadata_require(impl, nir_metadata_block_index);

   struct writer writer = { .mem_ctx = s };
   struct writer *w = &writer;
   /* As many as most shaders need. */
   set_room(w, 256 + 8 * (size_t)impl->ssa_alloc);
   put(w, CORTLAND_EXPORT_MAGIC);
   for (unsigned i = 0; i < 3; i++)
      put(w, s->info.workgroup_size[i]);
   put(w, s->info.shared_size);
   put(w, s->info.task_payload_size);
   put(w, s->scratch_size);
   put(w, impl->ssa_alloc);
   put(w, impl->num_blocks);
   put_name(w, impl->function->name);
   put_tables(w, s);
   put_list(w, &impl->body);
   finish(c, w);
}

static bool
export_words(struct export_call *c, uint32_t **words, size_t *num_words, struct cortland_failure *failure)
{
   bool done = guard_run(do_export, c, failure);
   *words = c->words;
   *num_words = c->num_words;
   return done;
}

bool
cortland_shader_export(const nir_shader *shader, uint32_t **words, size_t *num_words, struct cortland_failure *failure)
{
   struct export_call c = { .original = shader };
   return export_words(&c, words, num_words, failure);
}

bool
cortland_shader_into_words(nir_shader *shader, uint32_t **words, size_t *num_words, struct cortland_failure *failure)
{
   struct export_call c = { .shader = shader };
   return export_words(&c, words, num_words, failure);
}
