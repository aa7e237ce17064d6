# SPDX-License-Identifier: MIT
"""Changes to Mesa's source that a front end loaded into other people's programs needs.

Each is an exact replacement with its reason. One whose text is no longer there stops the build, so that moving the
pin cannot drop it silently.
"""

import pathlib
import sys

SPIRV_TO_NIR = "src/compiler/spirv/spirv_to_nir.c"
NIR = "src/compiler/nir/nir.c"
NIR_H = "src/compiler/nir/nir.h"
NIR_BUILDER = "src/compiler/nir/nir_builder.c"
NIR_DOMINANCE = "src/compiler/nir/nir_dominance.c"
VALIDATE = "src/compiler/nir/nir_validate.c"
REPAIR_SSA = "src/compiler/nir/nir_repair_ssa.c"
VARS_TO_SSA = "src/compiler/nir/nir_lower_vars_to_ssa.c"
VTN_CFG = "src/compiler/spirv/vtn_cfg.c"
GLSL_TYPES = "src/compiler/glsl_types.c"
RALLOC = "src/util/ralloc.c"
SET = "src/util/set.c"
HASH_TABLE = "src/util/hash_table.c"

FIXUPS = [
    # ralloc's own assertions name members that exist in debug builds only, and are hot: leave them out.
    (RALLOC, "#include <assert.h>\n", "#define CORTLAND_NO_ASSERT 1\n#include <assert.h>\n"),
    # INT_MIN / -1 traps on x86. SPIR-V leaves the result undefined, it does not allow the process to be killed.
    (
        "src/compiler/nir/nir_opcodes.py",
        '"src1 == 0 ? 0 : (src0 / src1)")\nbinop("udiv"',
        '"src1 == 0 ? 0 : src1 == -1 ? (int64_t)(0 - (uint64_t)src0) : (src0 / src1)")\nbinop("udiv"',
    ),
    (
        "src/compiler/nir/nir_opcodes.py",
        'binop("irem", tint, "", "src1 == 0 ? 0 :',
        'binop("irem", tint, "", "src1 == 0 || src1 == -1 ? 0 :',
    ),
    (
        "src/compiler/nir/nir_opcodes.py",
        'binop("imod", tint, "",\n      "src1 == 0 ? 0 :',
        'binop("imod", tint, "",\n      "src1 == 0 || src1 == -1 ? 0 :',
    ),
    # Wrong for negative powers of two: the highest bit of -8 that differs from the sign is bit 2, that of 8 is bit 3.
    (
        "src/compiler/nir/nir_opt_algebraic.py",
        "   (('ifind_msb', ('f2i32(is_used_once)', a)), ('ufind_msb', ('f2i32', ('fabs', a)))),\n",
        "",
    ),
    # What a lock guards belongs to all threads (the table of types, that of options): a failure must leave the lock free
    # and what was allocated under it alone. No code that the front end reaches holds two of these locks at a time.
    (
        "src/util/simple_mtx.h",
        "#ifdef __cplusplus\n}\n#endif\n\n#endif /* _SIMPLE_MTX_H */\n",
        "#ifdef __cplusplus\n}\n#endif\n\n#include <assert.h>\n"
        "#define simple_mtx_lock(mutex) (simple_mtx_lock(mutex), cortland_guard_shared(mutex))\n"
        "#define simple_mtx_unlock(mutex) (cortland_guard_shared(NULL), simple_mtx_unlock(mutex))\n"
        "\n#endif /* _SIMPLE_MTX_H */\n",
    ),
    # OpSpecConstantOp. The validator of Debian 12 looks at the operands' form only, so that what follows must not rely
    # on their meaning. A SpecId (which a decoration group smuggles past the validator) would replace the operation.
    (
        SPIRV_TO_NIR,
        "      vtn_foreach_decoration(b, val, spec_constant_decoration_cb, &u32op);\n",
        "",
    ),
    # A shuffle wrote as many components as it has literals; operands may be undefined, and results must not differ
    # from run to run.
    (
        SPIRV_TO_NIR,
        "         struct vtn_value *v0 = &b->values[w[4]];\n         struct vtn_value *v1 = &b->values[w[5]];\n",
        "         vtn_fail_if(count < 6 || val->type->base_type != vtn_base_type_vector ||\n"
        "                     count - 6 != val->type->length,\n"
        '                     "OpVectorShuffle needs one literal for each component of its result");\n'
        "         struct vtn_value *v0 = vtn_untyped_value(b, w[4]);\n"
        "         struct vtn_value *v1 = vtn_untyped_value(b, w[5]);\n",
    ),
    (
        SPIRV_TO_NIR,
        "         nir_const_value combined[NIR_MAX_VEC_COMPONENTS * 2];\n",
        "         nir_const_value combined[NIR_MAX_VEC_COMPONENTS * 2] = {0};\n",
    ),
    # The bits above the width must be zero, says NIR's validator.
    (
        SPIRV_TO_NIR,
        "         nir_const_value undef = { .u64 = 0xdeadbeefdeadbeef };\n",
        "         nir_const_value undef = nir_const_value_for_raw_uint(0xdeadbeefdeadbeef, bit_size);\n",
    ),
    # One past the end was let through, and results of another type than the member that they are.
    (SPIRV_TO_NIR, "               vtn_fail_if(w[i] > type->length,\n", "               vtn_fail_if(w[i] >= type->length,\n"),
    (
        SPIRV_TO_NIR,
        "         int elem = -1;\n         const struct vtn_type *type = comp->type;\n",
        "         vtn_fail_if(opcode == SpvOpCompositeInsert &&\n"
        "                     !vtn_types_compatible(b, comp->type, val->type),\n"
        '                     "OpCompositeInsert must keep the type of its composite");\n'
        "         int elem = -1;\n         struct vtn_type *type = comp->type;\n",
    ),
    (
        SPIRV_TO_NIR,
        "         if (opcode == SpvOpCompositeExtract) {\n            if (elem == -1) {\n",
        "         vtn_fail_if(opcode == SpvOpCompositeExtract && !vtn_types_compatible(b, type, val->type),\n"
        '                     "OpCompositeExtract must have the type of what it extracts");\n'
        "         if (opcode == SpvOpCompositeExtract) {\n            if (elem == -1) {\n",
    ),
    # Members with a layout have types of their own, which are equal but not the same.
    (
        SPIRV_TO_NIR,
        "            vtn_assert(insert->type == type);\n",
        "            vtn_assert(vtn_types_compatible(b, insert->type, type));\n",
    ),
    # Composites other than vectors came out without their elements; too few operands left some undefined.
    (
        SPIRV_TO_NIR,
        "         bool swap;\n         nir_alu_type dst_alu_type = nir_get_nir_type_for_glsl_type(val->type->type);\n",
        "         bool swap;\n"
        "         vtn_fail_if(count < 5 || (val->type->base_type != vtn_base_type_scalar &&\n"
        "                                   val->type->base_type != vtn_base_type_vector),\n"
        '                     "Result type of OpSpecConstantOp must be a scalar or a vector");\n'
        "         nir_alu_type dst_alu_type = nir_get_nir_type_for_glsl_type(val->type->type);\n",
    ),
    (
        SPIRV_TO_NIR,
        "         assert(!exact);\n\n         nir_const_value src[3][NIR_MAX_VEC_COMPONENTS];\n",
        "         assert(!exact);\n"
        "         vtn_fail_if(count - 4 != nir_op_infos[op].num_inputs,\n"
        '                     "OpSpecConstantOp has %u operands, expected %u", count - 4, nir_op_infos[op].num_inputs);\n\n'
        "         nir_const_value src[3][NIR_MAX_VEC_COMPONENTS] = {0};\n",
    ),
    # Specialisation may make an array empty, which to Mesa means that its length is not known.
    (
        SPIRV_TO_NIR,
        "         val->type->length = vtn_constant_uint(b, w[3]);\n",
        "         val->type->length = vtn_constant_uint(b, w[3]);\n"
        '         vtn_fail_if(val->type->length == 0, "The array type %%%u has length 0", w[1]);\n',
    ),
    # The workgroup size is kept in 16 bits; no case of it may be zero or truncated.
    (
        SPIRV_TO_NIR,
        "static void\nhandle_workgroup_size_decoration_cb(struct vtn_builder *b,\n",
        "static void\nset_workgroup_size(struct vtn_builder *b, uint32_t x, uint32_t y, uint32_t z)\n{\n"
        "   const uint32_t size[3] = { x, y, z };\n"
        "   for (unsigned i = 0; i < 3; i++) {\n"
        "      vtn_fail_if(size[i] == 0 || size[i] > UINT16_MAX,\n"
        '                  "The workgroup size %u x %u x %u is not within 1 to %u", x, y, z, UINT16_MAX);\n'
        "      b->shader->info.workgroup_size[i] = size[i];\n"
        "   }\n}\n\n"
        "static void\nhandle_workgroup_size_decoration_cb(struct vtn_builder *b,\n",
    ),
    (
        SPIRV_TO_NIR,
        "         b->shader->info.workgroup_size[0] = mode->operands[0];\n"
        "         b->shader->info.workgroup_size[1] = mode->operands[1];\n"
        "         b->shader->info.workgroup_size[2] = mode->operands[2];\n",
        "         set_workgroup_size(b, mode->operands[0], mode->operands[1], mode->operands[2]);\n",
    ),
    (
        SPIRV_TO_NIR,
        "         b->shader->info.workgroup_size[0] = vtn_constant_uint(b, mode->operands[0]);\n"
        "         b->shader->info.workgroup_size[1] = vtn_constant_uint(b, mode->operands[1]);\n"
        "         b->shader->info.workgroup_size[2] = vtn_constant_uint(b, mode->operands[2]);\n",
        "         set_workgroup_size(b, vtn_constant_uint(b, mode->operands[0]),\n"
        "                            vtn_constant_uint(b, mode->operands[1]),\n"
        "                            vtn_constant_uint(b, mode->operands[2]));\n",
    ),
    (
        SPIRV_TO_NIR,
        "      b->shader->info.workgroup_size[0] = const_size[0].u32;\n"
        "      b->shader->info.workgroup_size[1] = const_size[1].u32;\n"
        "      b->shader->info.workgroup_size[2] = const_size[2].u32;\n",
        "      set_workgroup_size(b, const_size[0].u32, const_size[1].u32, const_size[2].u32);\n",
    ),
    # For speed: all accesses were looked at twice, though only those that copies have become are new.
    (
        VARS_TO_SSA,
        "   bool add_to_direct_deref_nodes;\n",
        "   bool add_to_direct_deref_nodes;\n   bool lowered_copies;\n",
    ),
    (
        VARS_TO_SSA,
        "   if (!node->copies)\n      return;\n",
        "   if (!node->copies)\n      return;\n   state->lowered_copies = true;\n",
    ),
    (
        VARS_TO_SSA,
        "   bool progress = register_variable_uses(impl, &state);\n",
        "   state.lowered_copies = false;\n   bool progress = register_variable_uses(impl, &state);\n",
    ),
    (
        VARS_TO_SSA,
        "   register_variable_uses(impl, &state);\n\n   state.phi_builder",
        "   if (state.lowered_copies)\n      register_variable_uses(impl, &state);\n\n   state.phi_builder",
    ),
    # For speed: assertions that climb to the function at each step of a walk over blocks, and at each question about
    # dominance. No function here is unstructured; what they compare follows from where a value is used, which NIR's
    # validator looks at.
    (
        NIR,
        "   assert(nir_cf_node_get_function(&block->cf_node)->structured);\n\n"
        "   nir_cf_node *cf_next = nir_cf_node_next(&block->cf_node);\n",
        "   nir_cf_node *cf_next = nir_cf_node_next(&block->cf_node);\n",
    ),
    (
        NIR,
        "   assert(nir_cf_node_get_function(&block->cf_node)->structured);\n\n"
        "   nir_cf_node *cf_prev = nir_cf_node_prev(&block->cf_node);\n",
        "   nir_cf_node *cf_prev = nir_cf_node_prev(&block->cf_node);\n",
    ),
    (
        NIR_DOMINANCE,
        "   assert(nir_cf_node_get_function(&parent->cf_node) ==\n"
        "          nir_cf_node_get_function(&child->cf_node));\n\n"
        "   assert(nir_cf_node_get_function(&parent->cf_node)->valid_metadata &\n"
        "          nir_metadata_dominance);\n\n",
        "",
    ),
    # For speed: the operands of arithmetic, which most instructions are, without a call for each.
    (
        NIR,
        "static void\nadd_defs_uses(nir_instr *instr)\n{\n"
        "   nir_foreach_src(instr, add_use_cb, instr);\n"
        "   nir_foreach_def(instr, add_ssa_def_cb, instr);\n}\n",
        "static void\nadd_defs_uses(nir_instr *instr)\n{\n"
        "   if (instr->type == nir_instr_type_alu) {\n"
        "      nir_alu_instr *alu = nir_instr_as_alu(instr);\n"
        "      for (unsigned i = 0; i < nir_op_infos[alu->op].num_inputs; i++)\n"
        "         add_use_cb(&alu->src[i].src, instr);\n"
        "      add_ssa_def_cb(&alu->def, instr);\n"
        "      return;\n   }\n"
        "   nir_foreach_src(instr, add_use_cb, instr);\n"
        "   nir_foreach_def(instr, add_ssa_def_cb, instr);\n}\n",
    ),
    (
        NIR,
        "static void\nremove_defs_uses(nir_instr *instr)\n{\n"
        "   nir_foreach_src(instr, remove_use_cb, instr);\n}\n",
        "static void\nremove_defs_uses(nir_instr *instr)\n{\n"
        "   if (instr->type == nir_instr_type_alu) {\n"
        "      nir_alu_instr *alu = nir_instr_as_alu(instr);\n"
        "      for (unsigned i = 0; i < nir_op_infos[alu->op].num_inputs; i++)\n"
        "         remove_use_cb(&alu->src[i].src, instr);\n"
        "      return;\n   }\n"
        "   nir_foreach_src(instr, remove_use_cb, instr);\n}\n",
    ),
    # For speed: loops over 16 components, where values have one.
    (
        NIR_BUILDER,
        "      for (unsigned j = instr->src[i].src.ssa->num_components;\n"
        "           j < NIR_MAX_VEC_COMPONENTS; j++) {\n"
        "         instr->src[i].swizzle[j] = instr->src[i].src.ssa->num_components - 1;\n"
        "      }\n",
        "      const unsigned count = instr->src[i].src.ssa->num_components;\n"
        "      if (count < NIR_MAX_VEC_COMPONENTS)\n"
        "         memset(instr->src[i].swizzle + count, count - 1, NIR_MAX_VEC_COMPONENTS - count);\n",
    ),
    # For speed: a hash of the module that nobody asks for.
    (
        SPIRV_TO_NIR,
        "   _mesa_blake3_compute(words, word_count * sizeof(uint32_t), b->shader->info.source_blake3);\n",
        "",
    ),
    # For speed: the same for a message that is no error and no warning.
    (
        SPIRV_TO_NIR,
        '      vtn_info("Parsing SPIR-V from %s %u source file %s", lang, version, file);\n',
        "      (void)lang, (void)version, (void)file;\n",
    ),
    # For speed: a walk over the function for its phis, which most do not have.
    (
        VTN_CFG,
        "   vtn_foreach_instruction(b, func->start_block->label, func->end,\n"
        "                           vtn_handle_phi_second_pass);\n",
        "   if (_mesa_hash_table_num_entries(b->phi_table) > 0)\n"
        "      vtn_foreach_instruction(b, func->start_block->label, func->end,\n"
        "                              vtn_handle_phi_second_pass);\n",
    ),
    # For speed: one walk over all functions instead of two: types of values, and control flow.
    (
        SPIRV_TO_NIR,
        "   /* Set types on all vtn_values */\n"
        "   vtn_foreach_instruction(b, words, word_end, vtn_set_instruction_result_type);\n\n"
        "   vtn_build_cfg(b, words, word_end);\n\n   if (!options->create_library) {\n",
        "   vtn_build_cfg(b, words, word_end);\n\n   if (!options->create_library) {\n",
    ),
    (
        VTN_CFG,
        "                                   const uint32_t *w, unsigned count)\n{\n   switch (opcode) {\n   case SpvOpFunction: {\n",
        "                                   const uint32_t *w, unsigned count)\n{\n"
        "   vtn_set_instruction_result_type(b, opcode, w, count);\n\n"
        "   switch (opcode) {\n   case SpvOpFunction: {\n",
    ),
    # For speed: most values have no decoration.
    (
        SPIRV_TO_NIR,
        "   _foreach_decoration_helper(b, value, -1, value, cb, data);\n",
        "   if (value->decoration)\n      _foreach_decoration_helper(b, value, -1, value, cb, data);\n",
    ),
    # For speed: that a value reaches where it is used shows in the structure for almost all, so that the repair of values
    # and the validator need not work out dominance. Lists of nodes are entered at their start only.
    (
        NIR_H,
        "static inline nir_cf_node *\nnir_cf_node_prev(nir_cf_node *node)\n{\n",
        "/* Whether the child is the parent, or comes shortly behind it in its list of nodes, or is deep in a node that does.\n"
        " * Then the parent dominates it, if the function is structured; else this says nothing.\n */\n"
        "static inline bool\nnir_block_precedes(nir_block *parent, nir_block *child)\n{\n"
        "   nir_cf_node *node = &child->cf_node;\n"
        "   while (node && node->parent != parent->cf_node.parent)\n      node = node->parent;\n"
        "   nir_cf_node *next = &parent->cf_node;\n"
        "   for (unsigned i = 0; node && next && i < 16; i++) {\n"
        "      if (next == node)\n         return true;\n"
        "      next = nir_cf_node_next(next);\n   }\n   return false;\n}\n\n"
        "static inline nir_cf_node *\nnir_cf_node_prev(nir_cf_node *node)\n{\n",
    ),
    (
        REPAIR_SSA,
        "      nir_block *src_block = get_src_block(src);\n\n",
        "      nir_block *src_block = get_src_block(src);\n"
        "      if (src_block == def->parent_instr->block)\n         continue;\n"
        "      if (state->impl->structured && src_block->predecessors->entries > 0 &&\n"
        "          nir_block_precedes(def->parent_instr->block, src_block))\n         continue;\n\n"
        "      nir_metadata_require(state->impl, nir_metadata_control_flow);\n",
    ),
    (
        REPAIR_SSA,
        "   nir_metadata_require(impl, nir_metadata_control_flow);\n\n   nir_foreach_block_unstructured",
        "   nir_foreach_block_unstructured",
    ),
    # The validator does not trust what was known of dominance, and what it works out may stay with the shader, which is
    # ours, where Mesa compares the two and puts back what was there. The order within a block is known by now: sources
    # are tagged by their values, of which each comes before its sources, but for phis'.
    (
        VALIDATE,
        "static bool\nvalidate_ssa_def_dominance(nir_def *def, void *_state)\n{\n",
        "static bool\nreaches(validate_state *state, nir_def *def, nir_block *block)\n{\n"
        "   nir_block *from = def->parent_instr->block;\n"
        "   if (state->impl->structured && nir_block_precedes(from, block))\n      return true;\n"
        "   nir_metadata_require(state->impl, nir_metadata_control_flow);\n"
        "   return nir_block_dominates(from, block);\n}\n\n"
        "static bool\nvalidate_ssa_def_dominance(nir_def *def, void *_state)\n{\n",
    ),
    (
        VALIDATE,
        "               validate_assert(state,\n"
        "                               nir_block_dominates(src->src.ssa->parent_instr->block,\n"
        "                                                   src->pred));\n",
        "               validate_assert(state, reaches(state, src->src.ssa, src->pred));\n",
    ),
    (
        VALIDATE,
        "         } else {\n            nir_foreach_src(instr, validate_src_dominance, state);\n         }\n"
        "         nir_foreach_def(instr, validate_ssa_def_dominance, state);\n",
        "         } else {\n            nir_foreach_src(instr, validate_src_dominance, state);\n         }\n",
    ),
    (
        VALIDATE,
        "   if (src->ssa->parent_instr->block == nir_src_parent_instr(src)->block) {\n"
        "      validate_assert(state, src->ssa->index < state->impl->ssa_alloc);\n"
        "      validate_assert(state, BITSET_TEST(state->ssa_defs_found,\n"
        "                                         src->ssa->index));\n"
        "   } else {\n"
        "      validate_assert(state, nir_block_dominates(src->ssa->parent_instr->block,\n"
        "                                                 nir_src_parent_instr(src)->block));\n"
        "   }\n",
        "   if (src->ssa->parent_instr->block != state->block)\n"
        "      validate_assert(state, reaches(state, src->ssa, state->block));\n",
    ),
    (
        VALIDATE,
        "   nir_metadata_require(impl, nir_metadata_dominance);\n\n   nir_foreach_block_unstructured",
        "   impl->valid_metadata &= ~nir_metadata_control_flow;\n\n   nir_foreach_block_unstructured",
    ),
    # Links are looked at in the same walk as what they link.
    (
        VALIDATE,
        "   list_validate(&def->uses);\n   nir_foreach_use_including_if(src, def) {\n",
        "   struct list_head *last = &def->uses;\n   assert(list_is_linked(last));\n"
        "   nir_foreach_use_including_if(src, def) {\n"
        "      assert(src->use_link.prev == last);\n      last = &src->use_link;\n\n",
    ),
    (
        VALIDATE,
        "      /* Check that nir_src's are unique */\n      tag_src(src, state);\n   }\n",
        "      /* Check that nir_src's are unique */\n      tag_src(src, state);\n   }\n"
        "   assert(def->uses.prev == last);\n",
    ),
    (VALIDATE, "   validate_dominance(impl, state);\n", "   validate_ssa_dominance(impl, state);\n"),
    # For speed: no call for each value.
    (
        NIR,
        "         nir_foreach_def(instr, index_ssa_def_cb, &index);\n",
        "         _nir_foreach_def(instr, index_ssa_def_cb, &index);\n",
    ),
    # For speed: what is bare already, as most types are that this is asked for.
    (
        GLSL_TYPES,
        "glsl_get_bare_type(const glsl_type *t)\n{\n",
        "glsl_get_bare_type(const glsl_type *t)\n{\n"
        "   if (glsl_type_is_vector_or_scalar(t) && t->explicit_stride == 0 && t->explicit_alignment == 0)\n"
        "      return t;\n\n",
    ),
    # For speed: each block of NIR has two sets, most of them small: their first table stands behind them in memory.
    (
        SET,
        "bool\n_mesa_set_init(struct set *ht, void *mem_ctx,\n"
        "                 uint32_t (*key_hash_function)(const void *key),\n"
        "                 bool (*key_equals_function)(const void *a,\n"
        "                                             const void *b))\n{\n",
        "static void\nset_init(struct set *ht, struct set_entry *table,\n"
        "         uint32_t (*key_hash_function)(const void *key),\n"
        "         bool (*key_equals_function)(const void *a, const void *b))\n{\n",
    ),
    (
        SET,
        "   ht->table = rzalloc_array(mem_ctx, struct set_entry, ht->size);\n"
        "   ht->entries = 0;\n   ht->deleted_entries = 0;\n\n   return ht->table != NULL;\n}\n",
        "   ht->table = table;\n   ht->entries = 0;\n   ht->deleted_entries = 0;\n}\n\n"
        "bool\n_mesa_set_init(struct set *ht, void *mem_ctx,\n"
        "                 uint32_t (*key_hash_function)(const void *key),\n"
        "                 bool (*key_equals_function)(const void *a,\n"
        "                                             const void *b))\n{\n"
        "   set_init(ht, rzalloc_array(mem_ctx, struct set_entry, hash_sizes[0].size),\n"
        "            key_hash_function, key_equals_function);\n"
        "   return ht->table != NULL;\n}\n\n"
        "/* Whether the table is the one that _mesa_set_create() allocated with the set. */\n"
        "static bool\nhas_first_table(const struct set *ht)\n{\n"
        "   return ht->table == (const struct set_entry *)(ht + 1);\n}\n",
    ),
    (
        SET,
        "   ht = ralloc(mem_ctx, struct set);\n   if (ht == NULL)\n      return NULL;\n\n"
        "   if (!_mesa_set_init(ht, ht, key_hash_function, key_equals_function)) {\n"
        "      ralloc_free(ht);\n      return NULL;\n   }\n",
        "   const size_t table_size = hash_sizes[0].size * sizeof(struct set_entry);\n"
        "   ht = ralloc_size(mem_ctx, sizeof(struct set) + table_size);\n   if (ht == NULL)\n      return NULL;\n\n"
        "   struct set_entry *table = (struct set_entry *)(ht + 1);\n   memset(table, 0, table_size);\n"
        "   set_init(ht, table, key_hash_function, key_equals_function);\n",
    ),
    (SET, "   ralloc_free(ht->table);\n   ralloc_free(ht);\n", "   if (!has_first_table(ht))\n      ralloc_free(ht->table);\n   ralloc_free(ht);\n"),
    (
        SET,
        "   table = rzalloc_array(ralloc_parent(ht->table), struct set_entry,\n",
        "   bool first = has_first_table(ht);\n"
        "   table = rzalloc_array(first ? ht : ralloc_parent(ht->table), struct set_entry,\n",
    ),
    (SET, "   ralloc_free(old_ht.table);\n", "   if (!first)\n      ralloc_free(old_ht.table);\n"),
    # For speed: a key is equal to itself, without a call.
    (
        SET,
        "         if (ht->key_equals_function(key, entry->key)) {\n",
        "         if (entry->key == key || ht->key_equals_function(key, entry->key)) {\n",
    ),
    (
        SET,
        "          ht->key_equals_function(key, entry->key)) {\n         if (found)\n",
        "          (entry->key == key || ht->key_equals_function(key, entry->key))) {\n         if (found)\n",
    ),
    (
        HASH_TABLE,
        "         if (ht->key_equals_function(key, entry->key)) {\n",
        "         if (entry->key == key || ht->key_equals_function(key, entry->key)) {\n",
    ),
    (
        HASH_TABLE,
        "          ht->key_equals_function(key, entry->key))\n         return entry;\n",
        "          (entry->key == key || ht->key_equals_function(key, entry->key)))\n         return entry;\n",
    ),
    # For speed: every instruction of NIR is allocated here. The usual case, a slab with room, needs no call but memset().
    (
        RALLOC,
        "static gc_block_header *\nalloc_from_slab(",
        "static ALWAYS_INLINE gc_block_header *\nalloc_from_slab(",
    ),
    (
        RALLOC,
        "void *\ngc_alloc_size(gc_ctx *ctx, size_t size, size_t alignment)\n{\n",
        "static ALWAYS_INLINE void *\n"
        "finish_header(const gc_ctx *ctx, gc_block_header *header, size_t header_size)\n{\n"
        "   header->flags = ctx->current_gen | IS_USED;\n"
        "   uint8_t *ptr = (uint8_t *)header + header_size;\n"
        "   if ((header_size - 1) != offsetof(gc_block_header, flags))\n"
        "      ptr[-1] = IS_PADDING | (header_size - sizeof(gc_block_header));\n"
        "   return ptr;\n}\n\n"
        "void *\ngc_alloc_size(gc_ctx *ctx, size_t size, size_t alignment)\n{\n",
    ),
    (
        RALLOC,
        "   header->flags = ctx->current_gen | IS_USED;\n#ifndef NDEBUG\n   header->canary = GC_CANARY;\n#endif\n\n"
        "   uint8_t *ptr = (uint8_t *)header + header_size;\n"
        "   if ((header_size - 1) != offsetof(gc_block_header, flags))\n"
        "      ptr[-1] = IS_PADDING | (header_size - sizeof(gc_block_header));\n\n"
        "   assert(((uintptr_t)ptr & (alignment - 1)) == 0);\n   return ptr;\n}\n",
        "   return finish_header(ctx, header, header_size);\n}\n",
    ),
    (
        RALLOC,
        "gc_zalloc_size(gc_ctx *ctx, size_t size, size_t alignment)\n{\n",
        "gc_zalloc_size(gc_ctx *ctx, size_t size, size_t alignment)\n{\n"
        "   const size_t header_size = align64(sizeof(gc_block_header), alignment);\n"
        "   const size_t whole = align64(size, alignment) + header_size;\n"
        "   if (likely(alignment >= alignof(gc_block_header) && whole <= MAX_FREELIST_SIZE)) {\n"
        "      const uint32_t bucket = gc_bucket_for_size(whole);\n"
        "      const struct list_head *slabs = &ctx->slabs[bucket].free_slabs;\n"
        "      if (likely(!list_is_empty(slabs))) {\n"
        "         gc_block_header *header = alloc_from_slab(list_first_entry(slabs, gc_slab, free_link), bucket);\n"
        "         return memset(finish_header(ctx, header, header_size), 0, size);\n"
        "      }\n   }\n\n",
    ),
    # Not an option of Mesa's: SPIRV-Tools would be used, for a debugging aid, wherever it is installed.
    (
        "meson.build",
        "dep_spirv_tools = dependency(\n  'SPIRV-Tools',\n",
        "dep_spirv_tools = dependency(\n  with_clc ? 'SPIRV-Tools' : '',\n",
    ),
]

# For speed: what the validator does for each operand and value, without calls.
FIXUPS += [
    (VALIDATE, f"static {result}\n{name}(", f"static ALWAYS_INLINE {result}\n{name}(")
    for result, name in [
        ("void", "validate_num_components"),
        ("void", "tag_src"),
        ("void", "validate_src_tag"),
        ("void", "validate_src"),
        ("void", "validate_sized_src"),
        ("bool", "validate_src_dominance"),
    ]
]


def main():
    root = pathlib.Path(sys.argv[1])
    for name, old, new in FIXUPS:
        path = root / name
        text = path.read_text(encoding="utf-8")
        if text.count(old) != 1:
            sys.exit(f"fixups.py: {name}: expected this text once, found it {text.count(old)} times:\n{old}")
        path.write_text(text.replace(old, new), encoding="utf-8")


main()
