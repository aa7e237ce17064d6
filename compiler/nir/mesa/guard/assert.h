/* SPDX-License-Identifier: MIT */
/*
 * Shadows the C library's <assert.h> in every Mesa source file.
 *
 * Mesa is built without its debug code, but its assertions stay: each tells the guard (shim/guard.h), which turns a
 * failed one into an error of the call that Rust made. Without them a failed assertion would be undefined behaviour,
 * and with the C library's it would end the process that loaded the driver. Like the original, this file may be
 * included many times.
 */
#undef assert
#include_next <assert.h>
#undef assert

#ifndef CORTLAND_GUARD_DECLARED
#define CORTLAND_GUARD_DECLARED
#ifdef __cplusplus
extern "C" {
#endif
void cortland_assert_failed(const char *condition, const char *file, unsigned line) __attribute__((cold));
/* See shim/guard.h; for fixups.py. */
void cortland_guard_shared(void *mutex);
#ifdef __cplusplus
}
#endif
#endif

#ifdef CORTLAND_NO_ASSERT
#define assert(condition) ((void)0)
#else
#define assert(condition) \
   (__builtin_expect(!(condition), 0) ? cortland_assert_failed(#condition, __FILE__, __LINE__) : (void)0)
#endif
