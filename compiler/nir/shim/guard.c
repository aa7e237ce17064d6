/* SPDX-License-Identifier: MIT */
#include "guard.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#include <assert.h>

#include "util/ralloc.h"

struct guard {
   jmp_buf jump;
   void *owned;
   char *message;
};

static _Thread_local struct guard *current;

bool
guard_run(void (*body)(void *arg), void *arg, char **failure)
{
   struct guard guard = { .owned = NULL };
   *failure = NULL;
   current = &guard;
   if (setjmp(guard.jump) == 0) {
      body(arg);
      current = NULL;
      return true;
   }
   current = NULL;
   ralloc_free(guard.owned);
   *failure = guard.message;
   return false;
}

void
guard_fail(char *message)
{
   struct guard *guard = current;
   if (!guard)
      return;
   guard->message = message;
   longjmp(guard->jump, 1);
}

void
cortland_guard_own(void *ralloc_ctx)
{
   if (current)
      current->owned = ralloc_ctx;
}

void
cortland_assert_failed(const char *condition, const char *file, unsigned line)
{
   if (!current)
      return;
   char *message = NULL;
   if (asprintf(&message, "Mesa assertion failed: %s (%s:%u)", condition, file, line) < 0)
      message = NULL;
   guard_fail(message);
}
