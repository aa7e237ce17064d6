/* SPDX-License-Identifier: MIT */
/*
 * Descriptors of textures and samplers, and the slots that shaders name them by.
 *
 * A bundle names its texture and its sampler by constant indices into two tables, which the driver gathers for a dispatch
 * from the memory of the descriptor sets. Each descriptor that a shader samples has a slot; which is which is in
 * apple9_tables, kept as the shader's constant data, so that it goes wherever the shader goes. Of an array whose element
 * is known at run time only, every element has a slot, and a tree of branches finds the one (isa-4, 1.3).
 */
#include "texture.h"

#include "../unsupported.h"

struct apple9_tables *
apple9_tables(nir_shader *shader)
{
   if (!shader->constant_data) {
      shader->constant_data = rzalloc_size(shader, sizeof(struct apple9_tables));
      shader->constant_data_size = sizeof(struct apple9_tables);
   }
   return shader->constant_data;
}

static unsigned
find(struct apple9_slot *slots, uint32_t *count, unsigned most, struct apple9_slot wanted, const char *what)
{
   for (unsigned i = 0; i < *count; i++) {
      if (slots[i].set == wanted.set && slots[i].offset == wanted.offset)
         return i;
   }
   if (*count == most)
      unsupported("more than %u %s, counting every element of the arrays that it indexes at run time", most, what);
   slots[*count] = wanted;
   return (*count)++;
}

static struct apple9_slot
slot_of(const struct apple9_resource *resource, unsigned element)
{
   const struct cortland_binding *binding = resource->binding;
   return (struct apple9_slot){
      .set = binding->place_set,
      .offset = binding->offset + element * binding->stride + resource->offset,
   };
}

static unsigned
texture_slot(nir_shader *shader, const struct apple9_resource *resource, unsigned element)
{
   struct apple9_tables *tables = apple9_tables(shader);
   return find(tables->textures, &tables->num_textures, ARRAY_SIZE(tables->textures), slot_of(resource, element),
               "textures");
}

static unsigned
sampler_slot(nir_shader *shader, const struct apple9_resource *resource, unsigned element)
{
   struct apple9_tables *tables = apple9_tables(shader);
   struct apple9_slot slot = { .set = APPLE9_FETCH_SAMPLER };
   if (resource)
      slot = slot_of(resource, element);
   return find(tables->samplers, &tables->num_samplers, ARRAY_SIZE(tables->samplers), slot, "samplers");
}

struct apple9_resource
apple9_resolve(nir_builder *b, nir_deref_instr *deref, const struct cortland_compute_lowering *lowering,
               enum cortland_binding_kind one, enum cortland_binding_kind other)
{
   struct apple9_resource resource = { 0 };
   unsigned stride = 1;
   while (deref && deref->deref_type == nir_deref_type_array) {
      nir_deref_instr *parent = nir_deref_instr_parent(deref);
      if (nir_src_is_const(deref->arr.index)) {
         resource.constant += nir_src_as_uint(deref->arr.index) * stride;
      } else {
         nir_def *index = nir_imul_imm(b, nir_u2u32(b, deref->arr.index.ssa), stride);
         resource.element = resource.element ? nir_iadd(b, resource.element, index) : index;
      }
      stride *= glsl_get_length(parent->type);
      deref = parent;
   }
   if (!deref || deref->deref_type != nir_deref_type_var)
      unsupported("a texture or image that is no variable");
   if (resource.element) {
      resource.element = nir_iadd_imm(b, resource.element, resource.constant);
      resource.constant = 0;
   }
   const nir_variable *var = resource.variable = deref->var;
   resource.length = stride;
   unsigned set = var->data.descriptor_set, binding = var->data.binding;
   for (size_t i = 0; i < lowering->num_bindings; i++) {
      if (lowering->bindings[i].set == set && lowering->bindings[i].binding == binding)
         resource.binding = &lowering->bindings[i];
   }
   if (!resource.binding)
      unsupported("a texture or image at set %u, binding %u, which the layout does not have", set, binding);
   enum cortland_binding_kind kind = resource.binding->kind;
   if (resource.binding->place != CORTLAND_PLACE_SET || (kind != one && kind != other))
      unsupported("a texture, sampler or image at set %u, binding %u, which is something else in the layout", set,
                  binding);
   return resource;
}

static nir_def *
element_of(nir_builder *b, const struct apple9_resource *resource)
{
   return resource->element ? resource->element : nir_imm_int(b, resource->constant);
}

nir_def *
apple9_load_descriptor(nir_builder *b, struct apple9_resource *resource, unsigned offset, unsigned words)
{
   if (!resource->address)
      resource->address = apple9_binding_address(b, resource->binding, element_of(b, resource));
   nir_def *address = nir_iadd_imm(b, resource->address, resource->offset + offset);
   return nir_load_global_constant(b, address, 4, words, 32);
}

/* An instruction in the making. */
struct instruction {
   uint32_t flags;
   nir_def *params, *gradients;
   const struct apple9_resource *texture, *sampler;
};

static nir_def *
leaf(nir_builder *b, const struct instruction *in, unsigned texture, unsigned sampler)
{
   nir_tex_instr *tex = nir_tex_instr_create(b->shader, in->gradients ? 2 : 1);
   tex->op = nir_texop_txf;
   tex->sampler_dim = GLSL_SAMPLER_DIM_2D;
   tex->dest_type = nir_type_uint32;
   tex->backend_flags = in->flags;
   tex->texture_index = texture;
   tex->sampler_index = sampler;
   tex->src[0] = nir_tex_src_for_ssa(nir_tex_src_backend1, in->params);
   if (in->gradients)
      tex->src[1] = nir_tex_src_for_ssa(nir_tex_src_backend2, in->gradients);
   nir_def_init(&tex->instr, &tex->def, 4, 32);
   nir_builder_instr_insert(b, &tex->instr);
   return &tex->def;
}

static unsigned
elements(const struct apple9_resource *resource)
{
   const struct cortland_binding *binding = resource->binding;
   if (resource->length)
      return binding->count ? MIN2(resource->length, binding->count) : resource->length;
   if (binding->count == 0)
      unsupported("a texture or sampler at set %u, binding %u, from an array of unknown length", binding->set,
                  binding->binding);
   return binding->count;
}

/* Sampler `first` or one of the `count` from it on. */
static nir_def *
choose_sampler(nir_builder *b, const struct instruction *in, unsigned texture, unsigned first, unsigned count)
{
   if (!in->sampler || !in->sampler->element)
      return leaf(b, in, texture, sampler_slot(b->shader, in->sampler, in->sampler ? in->sampler->constant : 0));
   if (count == 1)
      return leaf(b, in, texture, sampler_slot(b->shader, in->sampler, first));
   unsigned half = count / 2;
   nir_if *nif = nir_push_if(b, nir_ult_imm(b, in->sampler->element, first + half));
   nir_def *low = choose_sampler(b, in, texture, first, half);
   nir_push_else(b, nif);
   nir_def *high = choose_sampler(b, in, texture, first + half, count - half);
   nir_pop_if(b, nif);
   return nir_if_phi(b, low, high);
}

/* Texture `first` or one of the `count` from it on. `both`: the sampler is that of the same element. */
static nir_def *
choose_texture(nir_builder *b, const struct instruction *in, unsigned first, unsigned count, bool both)
{
   if (count == 1) {
      unsigned texture = texture_slot(b->shader, in->texture, first);
      if (both)
         return leaf(b, in, texture, sampler_slot(b->shader, in->sampler, first));
      return choose_sampler(b, in, texture, 0, in->sampler && in->sampler->element ? elements(in->sampler) : 1);
   }
   unsigned half = count / 2;
   nir_if *nif = nir_push_if(b, nir_ult_imm(b, in->texture->element, first + half));
   nir_def *low = choose_texture(b, in, first, half, both);
   nir_push_else(b, nif);
   nir_def *high = choose_texture(b, in, first + half, count - half, both);
   nir_pop_if(b, nif);
   return nir_if_phi(b, low, high);
}

nir_def *
apple9_texture(nir_builder *b, uint32_t flags, nir_def *const w[4], nir_def *gradients,
               const struct apple9_resource *texture, const struct apple9_resource *sampler)
{
   nir_def *words[4];
   for (unsigned i = 0; i < 4; i++)
      words[i] = w[i] ? w[i] : nir_undef(b, 1, 32);
   const struct instruction in = {
      .flags = flags,
      .params = nir_vec(b, words, 4),
      .gradients = gradients,
      .texture = texture,
      .sampler = sampler,
   };
   if (!texture->element)
      return choose_texture(b, &in, texture->constant, 1, false);
   bool both = sampler && sampler->binding == texture->binding && sampler->element == texture->element;
   unsigned count = elements(texture);
   const struct apple9_tables *tables = apple9_tables(b->shader);
   if (count > ARRAY_SIZE(tables->textures))
      unsupported("an array of %u textures at set %u, binding %u, indexed at run time (at most %u)", count,
                  texture->binding->set, texture->binding->binding, (unsigned)ARRAY_SIZE(tables->textures));
   return choose_texture(b, &in, 0, count, both);
}

nir_def *
apple9_cube(nir_builder *b, nir_def *direction)
{
   nir_def *words[4];
   for (unsigned i = 0; i < 3; i++)
      words[i] = nir_channel(b, direction, i);
   words[3] = nir_undef(b, 1, 32);
   const struct instruction in = { .flags = APPLE9_KIND_CUBE, .params = nir_vec(b, words, 4) };
   return leaf(b, &in, 0, 0);
}
