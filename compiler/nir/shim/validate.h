/* SPDX-License-Identifier: MIT */
#ifndef CORTLAND_VALIDATE_H
#define CORTLAND_VALIDATE_H

struct nir_shader;

/* Check the shader against NIR's rules inside guard_run(): a broken one ends the body. ctx holds what it allocates. */
void validate_shader(struct nir_shader *shader, void *ctx);

#endif
