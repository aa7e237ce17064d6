/* SPDX-License-Identifier: MIT */
#ifndef CORTLAND_VALIDATE_H
#define CORTLAND_VALIDATE_H

struct nir_shader;

/* Check the shader against NIR's rules inside guard_run(): a broken one ends the body, with a report. */
void validate_shader(struct nir_shader *shader);

/* Drop what a validation that ended otherwise has reported. */
void validate_forget_report(void);

#endif
