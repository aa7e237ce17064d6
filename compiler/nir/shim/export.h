/* SPDX-License-Identifier: MIT */
/*
 * A lowered shader as 32-bit words, which src/program/decode.rs reads. A stream is
 *
 *    CORTLAND_EXPORT_MAGIC, workgroup size (3 words), bytes of workgroup memory, bytes of a workgroup's device memory,
 *    bytes of scratch, number of defs, number of blocks, bytes of the name, the name (padded to words),
 *    slots of textures, slots of samplers, the stage, a list
 *
 * with
 *
 *    slots   count, for each: set (UINT32_MAX for the private sampler), offset
 *    stage   Mesa's number, and the fields of struct apple9_stage_info; apple9/graphics.h has them
 *    list    count, nodes
 *    node    NODE_BLOCK, number, count of instructions, instructions
 *            NODE_IF, condition, divergent, list, list
 *            NODE_LOOP, divergent, list
 *    instr   INSTR_ALU | flags << 8 | op << 16, def | count of sources << 24, sources
 *            INSTR_CONST, def, for each component: low word, high word
 *            INSTR_UNDEF, def
 *            INSTR_PHI, def, count, for each source: block, number
 *            INSTR_INTRINSIC | has a def << 8 | count of sources << 16 | count of indices << 24, op, def if it has one,
 *            numbers of the sources, kinds and values of the indices
 *            INSTR_TEX, def, flags, texture slot, sampler slot, count of sources, numbers; apple9/texture.h has the flags
 *            INSTR_BREAK
 *            INSTR_CONTINUE
 *    def     number, components | bits << 8 | divergent << 16
 *    source  number, components and the first three selectors of the swizzle by bytes, the other selectors four a word
 */
#ifndef CORTLAND_EXPORT_H
#define CORTLAND_EXPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compiler/nir/nir.h"

#include "guard.h"

#define CORTLAND_EXPORT_MAGIC 0x4e495234u

/* Control flow nested deeper than this is refused, so that whoever walks the tree may recurse. */
#define CORTLAND_EXPORT_DEPTH 128u

enum cortland_export_node {
   CORTLAND_NODE_BLOCK,
   CORTLAND_NODE_IF,
   CORTLAND_NODE_LOOP,
};

enum cortland_export_instr {
   CORTLAND_INSTR_ALU,
   CORTLAND_INSTR_CONST,
   CORTLAND_INSTR_UNDEF,
   CORTLAND_INSTR_PHI,
   CORTLAND_INSTR_INTRINSIC,
   CORTLAND_INSTR_TEX,
   CORTLAND_INSTR_BREAK,
   CORTLAND_INSTR_CONTINUE,
};

#define CORTLAND_ALU_EXACT 1u
#define CORTLAND_ALU_NO_SIGNED_WRAP 2u
#define CORTLAND_ALU_NO_UNSIGNED_WRAP 4u

/* The words go back to cortland_result_free(). The shader stays as it is. */
bool cortland_shader_export(const nir_shader *shader, uint32_t **words, size_t *num_words,
                            struct cortland_failure *failure);
/* The same without a copy. The shader is freed, whatever comes of it. */
bool cortland_shader_into_words(nir_shader *shader, uint32_t **words, size_t *num_words,
                                struct cortland_failure *failure);

#endif
