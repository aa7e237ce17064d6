/* SPDX-License-Identifier: MIT */
#ifndef CORTLAND_UNSUPPORTED_H
#define CORTLAND_UNSUPPORTED_H

#include "compiler/nir/nir.h"

/* End the call that runs now with a message that says which construct cannot be compiled. */
_Noreturn void unsupported(const char *format, ...) __attribute__((format(printf, 1, 2)));

const char *instr_type_name(nir_instr_type type);

#endif
