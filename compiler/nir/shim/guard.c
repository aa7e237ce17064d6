/* SPDX-License-Identifier: MIT */
#include "guard.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <assert.h>

#include "util/ralloc.h"
#include "util/simple_mtx.h"

/*
 * mimalloc, which the libmimalloc-sys crate builds: passes allocate and free small blocks by the thousand, and the C
 * library's allocator took a sixth of a compilation's time for them.
 */
void *mi_malloc(size_t size);
void *mi_zalloc(size_t size);
void *mi_realloc(void *memory, size_t size);
void mi_free(void *memory);

/* What stands before each block of memory. The blocks of a body form a ring; others are rings of their own. */
struct block {
   struct block *prev, *next;
   size_t size;
   uint64_t run;
};

static_assert(sizeof(struct block) % 16 == 0, "memory behind it must be aligned for anything");

/*
 * Small blocks that a call frees wait for it to allocate again, those of a size in a list, last in, first out. Passes
 * free almost all that they allocate, and what was freed last is in the processor's caches; mimalloc goes round a whole
 * page before it gives out a block again. Block sizes are multiples of the step, so that one list serves several.
 */
#define KEPT_STEP 32
#define KEPT_LISTS 33
/* They are outside the budget. */
#define MOST_KEPT ((size_t)1 << 20)

struct kept {
   struct block *lists[KEPT_LISTS];
   size_t bytes;
};

/* What the last call kept, for the next one, of whichever thread; the lock is never waited for. */
static struct kept spare;
static bool spare_is_locked;

struct guard {
   jmp_buf jump;
   struct block ring;
   size_t left;
   simple_mtx_t *shared;
   void *owned;
   struct cortland_failure failure;
   struct kept kept;
};

/* In one piece, so that functions ask once where it is: in a shared library that is a call. */
struct thread {
   /* Of the body that runs; null outside of one. */
   struct guard *guard;
   size_t budget;
   ptrdiff_t live_bytes;
};

static _Thread_local struct thread this_thread = { .budget = CORTLAND_MEMORY_BUDGET };

static uint64_t
next_run(void)
{
   static uint64_t runs;
   return __atomic_add_fetch(&runs, 1, __ATOMIC_RELAXED);
}

static void
ring_init(struct block *block)
{
   block->prev = block;
   block->next = block;
}

static void
ring_insert(struct block *ring, struct block *block)
{
   block->prev = ring;
   block->next = ring->next;
   ring->next->prev = block;
   ring->next = block;
}

static void
ring_remove(struct block *block)
{
   block->prev->next = block->next;
   block->next->prev = block->prev;
}

/* The list for blocks of this size, which is at most SIZE_MAX / 2; KEPT_LISTS or more if there is none. */
static size_t
kept_list(size_t size)
{
   return (size + KEPT_STEP - 1) / KEPT_STEP;
}

/* The bytes that a block of this size has room for. */
static size_t
capacity(size_t size)
{
   size_t list = kept_list(size);
   return list < KEPT_LISTS ? list * KEPT_STEP : size;
}

/* Whether it is kept; else it is to be freed. */
static bool
keep(struct guard *guard, struct block *block)
{
   size_t list = kept_list(block->size);
   if (!guard || list >= KEPT_LISTS || guard->kept.bytes >= MOST_KEPT)
      return false;
   block->next = guard->kept.lists[list];
   guard->kept.lists[list] = block;
   guard->kept.bytes += MAX2(list, 1) * KEPT_STEP;
   return true;
}

/* Exchanges what is kept with what is spare, unless another thread does that right now. */
static void
exchange_spare(struct kept *kept)
{
   if (__atomic_test_and_set(&spare_is_locked, __ATOMIC_ACQUIRE))
      return;
   struct kept other = spare;
   spare = *kept;
   *kept = other;
   __atomic_clear(&spare_is_locked, __ATOMIC_RELEASE);
}

static void
free_kept(struct kept *kept)
{
   for (unsigned i = 0; i < KEPT_LISTS && kept->bytes; i++) {
      while (kept->lists[i]) {
         struct block *block = kept->lists[i];
         kept->lists[i] = block->next;
         mi_free(block);
      }
   }
}

/*
 * The jump ends here, in a function that has no variable of its own: what C leaves undefined after a jump are the local
 * variables of the function that called setjmp().
 */
static __attribute__((noinline)) bool
run(struct guard *guard, void (*body)(void *arg), void *arg)
{
   if (setjmp(guard->jump) != 0)
      return false;
   body(arg);
   return true;
}

bool
guard_run(void (*body)(void *arg), void *arg, struct cortland_failure *failure)
{
   struct guard guard = { .left = this_thread.budget };
   guard.ring.run = next_run();
   ring_init(&guard.ring);
   exchange_spare(&guard.kept);
   this_thread.guard = &guard;
   bool done = run(&guard, body, arg);
   this_thread.guard = NULL;
   if (!done) {
      ralloc_free(guard.owned);
      while (guard.ring.next != &guard.ring)
         cortland_mesa_free(guard.ring.next + 1);
   }
   exchange_spare(&guard.kept);
   free_kept(&guard.kept);
   /* What a successful body left stays a ring of its own, without this end. Whoever owns it frees it block by block. */
   ring_remove(&guard.ring);
   *failure = guard.failure;
   return done;
}

void
guard_fail(enum cortland_failure_kind kind, char *message)
{
   struct guard *guard = this_thread.guard;
   if (!guard)
      return;
   simple_mtx_t *shared = guard->shared;
   if (shared) /* This ends what is shared, too: see fixups.py. */
      simple_mtx_unlock(shared);
   guard->failure.kind = kind;
   guard->failure.message = message;
   longjmp(guard->jump, 1);
}

void
guard_own(void *ralloc_ctx)
{
   struct guard *guard = this_thread.guard;
   if (guard)
      guard->owned = ralloc_ctx;
}

void
cortland_guard_shared(void *mutex)
{
   struct guard *guard = this_thread.guard;
   if (guard)
      guard->shared = mutex;
}

void
cortland_assert_failed(const char *condition, const char *file, unsigned line)
{
   if (!this_thread.guard)
      return;
   char *message = NULL;
   if (asprintf(&message, "Mesa assertion failed: %s (%s:%u)", condition, file, line) < 0)
      message = NULL;
   guard_fail(CORTLAND_ASSERTION, message);
}

static bool
is_of(const struct guard *guard, const struct block *block)
{
   return guard && block->run == guard->ring.run;
}

/* Take bytes from the budget, of which `returned` come back. */
static void
charge(struct guard *guard, size_t bytes, size_t returned)
{
   if (!guard)
      return;
   size_t left = guard->left + returned;
   if (bytes > left)
      guard_fail(CORTLAND_BEYOND_BUDGET, NULL);
   guard->left = left - bytes;
}

/* One that was kept. NULL if there is none, or if anything else is out of the ordinary. */
static struct block *
take_kept(struct thread *thread, size_t size)
{
   struct guard *guard = thread->guard;
   if (!guard || size > guard->left || guard->shared)
      return NULL;
   size_t list = kept_list(size);
   if (list >= KEPT_LISTS)
      return NULL;
   struct block *block = guard->kept.lists[list];
   if (!block)
      return NULL;
   guard->kept.lists[list] = block->next;
   guard->kept.bytes -= list * KEPT_STEP;
   guard->left -= size;
   block->size = size;
   block->run = guard->ring.run;
   ring_insert(&guard->ring, block);
   thread->live_bytes += size;
   return block;
}

static __attribute__((noinline)) void *
allocate_anew(struct thread *thread, size_t size, bool zeroed)
{
   struct guard *guard = thread->guard;
   charge(guard, size, 0);
   struct block *block = NULL;
   if (size <= SIZE_MAX / 2) {
      size_t bytes = sizeof(*block) + capacity(size);
      block = zeroed ? mi_zalloc(bytes) : mi_malloc(bytes);
   }
   if (!block) {
      guard_fail(CORTLAND_OUT_OF_MEMORY, NULL);
      return NULL;
   }
   block->size = size;
   if (guard && !guard->shared) {
      block->run = guard->ring.run;
      ring_insert(&guard->ring, block);
   } else {
      block->run = 0;
      ring_init(block);
   }
   thread->live_bytes += size;
   return block + 1;
}

static inline void *
allocate(size_t size, bool zeroed)
{
   struct thread *thread = &this_thread;
   struct block *block = take_kept(thread, size);
   if (!block)
      return allocate_anew(thread, size, zeroed);
   return zeroed ? memset(block + 1, 0, size) : block + 1;
}

void *
cortland_malloc(size_t size)
{
   return allocate(size, false);
}

void *
cortland_calloc(size_t count, size_t size)
{
   size_t bytes;
   return allocate(__builtin_mul_overflow(count, size, &bytes) ? SIZE_MAX : bytes, true);
}

void *
cortland_realloc(void *memory, size_t size)
{
   if (!memory)
      return allocate(size, false);
   struct thread *thread = &this_thread;
   struct block *block = (struct block *)memory - 1;
   bool alone = block->next == block;
   size_t old_size = block->size;
   charge(thread->guard, size, is_of(thread->guard, block) || old_size <= size ? old_size : size);
   struct block *moved = NULL;
   if (size <= SIZE_MAX / 2)
      moved = mi_realloc(block, sizeof(*block) + capacity(size));
   if (!moved) {
      guard_fail(CORTLAND_OUT_OF_MEMORY, NULL);
      return NULL;
   }
   if (alone) {
      ring_init(moved);
   } else {
      moved->prev->next = moved;
      moved->next->prev = moved;
   }
   thread->live_bytes += (ptrdiff_t)size - (ptrdiff_t)old_size;
   moved->size = size;
   return moved + 1;
}

/* The compiler must not look into it, as it would rather ask again where the thread's is than keep that. */
static __attribute__((noipa)) void
release(struct thread *thread, struct block *block)
{
   struct guard *guard = thread->guard;
   if (is_of(guard, block))
      guard->left += block->size;
   thread->live_bytes -= block->size;
   ring_remove(block);
   if (!keep(guard, block))
      mi_free(block);
}

void
cortland_mesa_free(void *memory)
{
   if (memory)
      release(&this_thread, (struct block *)memory - 1);
}

/* For what a call gives to its caller: from mimalloc, as the C library tidies up before it gives out a large block. */
void *
guard_result(size_t size)
{
   return mi_malloc(size);
}

void
cortland_result_free(void *result)
{
   mi_free(result);
}

char *
cortland_strndup(const char *text, size_t most)
{
   size_t length = strnlen(text, most);
   char *copy = cortland_malloc(length + 1);
   if (copy) {
      memcpy(copy, text, length);
      copy[length] = '\0';
   }
   return copy;
}

char *
cortland_strdup(const char *text)
{
   return cortland_strndup(text, SIZE_MAX);
}

/* What is done once is done for all threads and must not be left half done: without the guard. */
int
cortland_pthread_once(pthread_once_t *once, void (*routine)(void))
{
   struct guard *guard = this_thread.guard;
   this_thread.guard = NULL;
   int result = pthread_once(once, routine);
   this_thread.guard = guard;
   return result;
}

/* Mesa would free the text as its own, so it has no such streams. What prints into one here opens it outside Mesa. */
FILE *
cortland_open_memstream(char **text, size_t *size)
{
   *text = NULL;
   *size = 0;
   return NULL;
}

void
cortland_test_set_budget(size_t bytes)
{
   this_thread.budget = bytes;
}

ptrdiff_t
cortland_test_live_bytes(void)
{
   return this_thread.live_bytes;
}
