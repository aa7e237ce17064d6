/* SPDX-License-Identifier: MIT */
/*
 * Mesa's NIR validator, which exists in debug builds only, prints to standard error and ends the process. Compiled here
 * from Mesa's source with NDEBUG undefined and with those three things redirected, under a name of its own.
 */
#undef NDEBUG

#include <stdio.h>
#include <stdlib.h>

#include "util/ralloc.h"
#include "util/simple_mtx.h"

#include "guard.h"
#include "validate.h"

/* Of debug builds only: the variable behind NIR_DEBUG(). */
#define nir_debug cortland_validate_debug
#define nir_validate_shader cortland_validate_shader
#define nir_validate_ssa_dominance cortland_validate_ssa_dominance

#include "compiler/nir/nir.h"

uint32_t cortland_validate_debug = 0;

static _Thread_local FILE *report;
static _Thread_local char *report_text;
static _Thread_local size_t report_size;

static char *
take_report(void)
{
   if (report)
      fclose(report);
   char *text = report_text;
   report = NULL;
   report_text = NULL;
   return text;
}

void
validate_forget_report(void)
{
   free(take_report());
}

static void
finish(void)
{
   guard_fail(CORTLAND_BROKEN_NIR, take_report());
}

static FILE *
open_report(void)
{
   if (!report)
      report = open_memstream(&report_text, &report_size);
   return report ? report : stdout;
}

#undef stderr
#define stderr open_report()
#define abort() finish()
/* The report is the thread's own, so it needs no lock, which the jump out of it would leave taken. */
#undef simple_mtx_lock
#undef simple_mtx_unlock
#define simple_mtx_lock(mutex) ((void)(mutex))
#define simple_mtx_unlock(mutex) ((void)(mutex))

#include "compiler/nir/nir_validate.c"

void
validate_shader(nir_shader *shader)
{
   validate_forget_report();
   /* Which looks at dominance, too, once the rest is right: nir_validate_ssa_dominance() would do so again. */
   nir_validate_shader(shader, NULL);
}
