/* SPDX-License-Identifier: MIT */
/*
 * Turns what would end the process inside Mesa into an error of the call that Rust made.
 *
 * While guard_run() runs, a failed assertion (mesa/guard/assert.h) jumps back to it. Outside of it a failed assertion
 * does nothing, as in any release build of Mesa. Guards belong to a thread and do not nest.
 */
#ifndef CORTLAND_GUARD_H
#define CORTLAND_GUARD_H

#include <stdbool.h>

/*
 * Run body(arg). False if it did not come to its end: then *failure is a malloc()ed message, and the ralloc context
 * last given to cortland_guard_own() has been freed.
 */
bool guard_run(void (*body)(void *arg), void *arg, char **failure);

/* End the body that runs now with this message, which guard_run()'s caller will free. Returns only outside a body. */
void guard_fail(char *message);

/* The ralloc context to free if the body that runs now does not come to its end. */
void cortland_guard_own(void *ralloc_ctx);

#endif
