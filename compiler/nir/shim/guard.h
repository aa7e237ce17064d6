/* SPDX-License-Identifier: MIT */
/*
 * Turns what would end the process inside Mesa into an error of the call that Rust made.
 *
 * While guard_run() runs, three things jump back to it: a failed assertion (mesa/guard/assert.h), an allocation beyond
 * the budget, and one that the system refuses. Mesa's calls of malloc() and its relatives are renamed to the functions
 * below when it is built (mesa/build.sh), so guard_run() knows every block that its body allocated and frees them all
 * if the body does not come to its end. What is shared between threads is exempt: what pthread_once() does, and what is
 * done under the lock that cortland_guard_shared() names. Outside of it a failed assertion does nothing, as in any release build of Mesa,
 * and a refused allocation is a null pointer. Guards belong to a thread and do not nest.
 */
#ifndef CORTLAND_GUARD_H
#define CORTLAND_GUARD_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes that one body may have allocated at a time. */
#define CORTLAND_MEMORY_BUDGET (1u << 30)

enum cortland_failure_kind {
   CORTLAND_NO_FAILURE,
   /* The body gave up, and has told why by other means. */
   CORTLAND_GAVE_UP,
   /* The shader holds what cannot be compiled for the hardware; the message names it. */
   CORTLAND_UNSUPPORTED,
   CORTLAND_ASSERTION,
   CORTLAND_BROKEN_NIR,
   CORTLAND_BEYOND_BUDGET,
   CORTLAND_OUT_OF_MEMORY,
};

/* Why a body did not come to its end. */
struct cortland_failure {
   enum cortland_failure_kind kind;
   /* From the C library's malloc(), for the caller to free; may be null. */
   char *message;
};

/*
 * Run body(arg). False if it did not come to its end: then *failure says why, the ralloc context last given to
 * guard_own() has been freed, and so has everything that the body allocated.
 */
bool guard_run(void (*body)(void *arg), void *arg, struct cortland_failure *failure);

/* End the body that runs now with this message from malloc(). Returns only outside a body. */
void guard_fail(enum cortland_failure_kind kind, char *message);

/* A ralloc context from before the body that is to go with what the body allocated should it fail. */
void guard_own(void *ralloc_ctx);

/*
 * What follows is allocated for all threads, under this lock (a simple_mtx_t), up to the same call with NULL: a failure
 * leaves it alone and gives up the lock.
 */
void cortland_guard_shared(void *mutex);

/* In the place of the C library's functions in Mesa. */
void *cortland_malloc(size_t size);
void *cortland_calloc(size_t count, size_t size);
void *cortland_realloc(void *memory, size_t size);
void cortland_mesa_free(void *memory);

/* Memory for what a call gives to its caller, who gives it back to cortland_result_free(); outside the budget. */
void *guard_result(size_t size);
void cortland_result_free(void *result);

/* For tests: the budget of this thread's bodies from now on, and the bytes that this thread has allocated and not freed. */
void cortland_test_set_budget(size_t bytes);
ptrdiff_t cortland_test_live_bytes(void);

#endif
