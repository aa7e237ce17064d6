/* SPDX-License-Identifier: MIT */
#include "unsupported.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "guard.h"

_Noreturn void
unsupported(const char *format, ...)
{
   char *message = NULL;
   va_list args;
   va_start(args, format);
   if (vasprintf(&message, format, args) < 0)
      message = NULL;
   va_end(args);
   guard_fail(CORTLAND_UNSUPPORTED, message);
   /* Every caller runs inside the guard, which does not come back. */
   abort();
}

const char *
instr_type_name(nir_instr_type type)
{
   switch (type) {
   case nir_instr_type_alu: return "arithmetic";
   case nir_instr_type_deref: return "a dereference";
   case nir_instr_type_call: return "a call";
   case nir_instr_type_tex: return "a texture instruction";
   case nir_instr_type_intrinsic: return "an intrinsic";
   case nir_instr_type_load_const: return "a constant";
   case nir_instr_type_jump: return "a jump";
   case nir_instr_type_undef: return "an undefined value";
   case nir_instr_type_phi: return "a phi";
   case nir_instr_type_parallel_copy: return "a parallel copy";
   default: return "an unknown instruction";
   }
}
