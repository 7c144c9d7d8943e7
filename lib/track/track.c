/* SPDX-License-Identifier: Apache-2.0 */
/* The back end of libheaphook-track.so: the next allocator serves, and what
 * it did is put down.
 *
 * Order between threads: what gives a block up is stamped before it is
 * done, what gets one after it, so one address never has two owners. */
#include "../interpose/backend.h"

#include <stdint.h>
#include <stdlib.h>

#include "../interpose/boot.h"
#include "../interpose/entry.h"
#include "../interpose/real.h"
#include "count.h"
#include "note.h"
#include "sample.h"
#include "stack.h"
#include "usable.h"

#define likely(x) __builtin_expect(!!(x), 1)
#define HOT inline __attribute__((always_inline))
#define COLD __attribute__((noinline))

static_assert((int)HH_PVALLOC == (int)LOG_CALL_PVALLOC
    && (int)HH_BRK == (int)LOG_CALL_BRK, "the same calls");
static_assert(TIME_BIG_BYTES <= 1 << LOG_SIZE_BITS, "untimed ones are short");

bool hh_usable_ruled;

size_t hh_stack_none = TIME_BIG_BYTES;

/* What another allocator calls by name while it serves one call, as a calloc
 * that is made of malloc does, is not the program's.  Such a one has no usual
 * path.  Where the stack was then; 0: it serves none. */
static _Thread_local uintptr_t serves;

#define SERVE(call) \
	{ \
		serves = hh_mode & HH_OPAQUE \
		    ? (uintptr_t)__builtin_frame_address(0) : 0; \
		call; \
		serves = 0; \
	}

/* Unless a handler jumped out of the call. */
static HOT bool
is_within(void)
{
	return serves && (uintptr_t)__builtin_frame_address(0) < serves;
}

/* The usual path, all else being as it was: the thread has not come to its
 * limit, nor been away. */
static HOT bool
is_usual(struct hh_stream *s)
{
	return s->w.at < *hh_stream_limit(s) && !hh_away();
}

/* There was never as much.  Each path is a function of its own and ends in a
 * jump to the next, so that the usual ones save no registers. */
static COLD void *
tell_and_unbar(void *block)
{
	struct hh_stream *s = hh_mine;

	hh_count_tell(s);
	hh_stream_unbar(s);
	return block;
}

/* Untimed, in the short form.  A handler that came after is_usual() took the
 * same stream and left it whole: nothing that was read there is used here,
 * and there is slack for what it put down. */
static HOT void *
put_alloc(struct hh_stream *s, enum log_kind kind, void *block, size_t size,
    size_t spare)
{
	hh_stream_bar(s);
	log_put_short(&s->w, kind, (uintptr_t)block,
	    log_short_size(size, spare), false, 0);
	if (!likely(hh_count_alloc(s, hh_usable_expected(size) + spare)))
		return tell_and_unbar(block);
	hh_stream_unbar(s);
	return block;
}

static HOT void
put_free(struct hh_stream *s, void *block, size_t usable)
{
	hh_stream_bar(s);
	log_put_short(&s->w, LOG_FREE, (uintptr_t)block, 0, false, 0);
	hh_count_free(s, usable);
	hh_stream_unbar(s);
	hh_real.free(block);
}

/* The calling thread's stream, barred, with room; NULL when the short form
 * is not for it now. */
static HOT struct hh_stream *
enter(void)
{
	struct hh_stream *s = hh_mine;

	if (!likely(*hh_stream_limit(s)))
		return NULL;
	hh_stream_bar(s);
	if (likely(s->end - s->w.at >= STREAM_SLACK))
		return s;
	hh_stream_unbar(s);
	return NULL;
}

/* How much more than expected a block has: not log_is_spare() if it is a
 * mapping.  Another allocator's blocks have no such word: not while hh_mode is
 * HH_OPAQUE. */
static HOT size_t
spare_of(const void *block, size_t size)
{
	return (hh_usable_word(block) & ~(size_t)HH_CHUNK_OTHER_FLAGS)
	    - hh_usable_chunk(size);
}

static HOT size_t
usable_of_word(const void *block)
{
	return (hh_usable_word(block) & ~(size_t)7) - HH_CHUNK_WORD;
}

/* What has a short form, in that, with its time DT, and into the slot with
 * what it counts.  For free SIZE and STACK are 0. */
static HOT bool
put_timed(struct hh_stream *s, enum log_kind kind, void *block, size_t size,
    uint64_t dt, uint32_t stack)
{
	size_t spare = kind == LOG_FREE ? 0 : spare_of(block, size);

	if (!likely(log_is_spare(spare))
	    || !likely(log_is_short(&s->w, (uintptr_t)block, size, dt)))
		return false;
	size = log_short_size(size, spare);
	if (stack)
		log_put_stacked(&s->w, kind, (uintptr_t)block, size, dt,
		    stack);
	else
		log_put_short(&s->w, kind, (uintptr_t)block, size, true, dt);
	if (!likely(hh_count_at_once(s, kind != LOG_FREE,
	    usable_of_word(block))))
		hh_count_tell(s);
	return true;
}

/* Among threads each event has its time; the limit stays behind. */
static HOT bool
put_among(enum log_kind kind, void *block, size_t size)
{
	struct hh_stream *s = enter();
	uint64_t now;
	bool done;

	if (!s)
		return false;
	now = hh_ticks();
	done = put_timed(s, kind, block, size,
	    likely(now > s->w.ticks) ? now - s->w.ticks : 0, 0);
	hh_stream_unbar(s);
	return done;
}

/* Alone, this is one of those that have; so is each that has a stack. */
static COLD bool
put_alone(enum log_kind kind, void *block, size_t size, uint32_t stack)
{
	struct hh_stream *s = hh_mode & ~HH_AMONG ? NULL : enter();
	bool done;

	if (!s)
		return false;
	done = put_timed(s, kind, block, size, hh_stream_clock(s), stack);
	hh_count_sync(s);
	hh_stream_set_near(s);
	hh_stream_unbar(s);
	return done;
}

/* Where few are recorded, all others go into the slot with what they count.
 * S is barred. */
static HOT void
count_only(struct hh_stream *s, bool is_alloc, const void *block)
{
	size_t usable = hh_mode & HH_OPAQUE
	    || hh_usable_word(block) & HH_CHUNK_MAPPED
	    ? hh_usable(block) : usable_of_word(block);

	if (is_alloc)
		s->chunk->counters.allocated += usable;
	if (!likely(hh_count_at_once(s, is_alloc, usable)))
		hh_count_tell(s);
}

/* False: it may have to be recorded. */
static HOT bool
pass_alloc(const void *block, size_t size)
{
	struct hh_stream *s = enter();
	bool passes;

	if (!s)
		return false;
	passes = likely(hh_sample_passes(s, size));
	if (passes)
		count_only(s, true, block);
	hh_stream_unbar(s);
	return passes;
}

static HOT bool
pass_free(const void *block)
{
	struct hh_stream *s = hh_sample_has(block) ? NULL : enter();

	if (!s)
		return false;
	count_only(s, false, block);
	hh_stream_unbar(s);
	return true;
}

/* In the short form if the log has its stack already. */
static COLD void *
keep_stacked(enum log_kind kind, enum log_call call, void *block, size_t size)
{
	struct hh_stack stack;

	hh_stack_capture(&stack);
	if (hh_mode & ~HH_AMONG || (hh_stack_depth && !hh_stack_find(&stack))
	    || !put_alone(kind, block, size, stack.number))
		hh_note_stacked(&stack, call, block, size);
	return block;
}

static COLD void *
keep_alone(enum log_kind kind, enum log_call call, void *block, size_t size)
{
	if (is_within())
		return block;
	if (!(hh_mode & HH_SAMPLED))
		return keep_stacked(kind, call, block, size);
	if (!likely(pass_alloc(block, size)))
		hh_note_alloc(call, block, size, hh_usable(block), 0);
	return block;
}

#define KEEP(name, kind, call) \
	static COLD void * \
	name##_among(void *block, size_t size) \
	{ \
		if (likely(hh_mode == HH_AMONG) && likely(!hh_stack_depth) \
		    && likely(put_among(kind, block, size))) \
			return block; \
		return keep_alone(kind, call, block, size); \
	} \
\
	static HOT void * \
	name(void *block, size_t size) \
	{ \
		struct hh_stream *s = hh_mine; \
		size_t spare; \
\
		if (likely(is_usual(s)) && likely(size < hh_stack_none)) { \
			spare = spare_of(block, size); \
			if (likely(log_is_spare(spare))) \
				return put_alloc(s, kind, block, size, spare); \
		} \
		return name##_among(block, size); \
	}

KEEP(keep_malloc, LOG_MALLOC, LOG_CALL_MALLOC)
KEEP(keep_calloc, LOG_CALLOC, LOG_CALL_CALLOC)

static COLD void *
fail(enum log_call call, size_t size)
{
	if (!is_within())
		hh_note_failed(call, size);
	return NULL;
}

void *
hh_backend_malloc(size_t size)
{
	void *block = hh_real.malloc(size);

	if (!likely(block))
		return fail(LOG_CALL_MALLOC, size);
	return keep_malloc(block, size);
}

void *
hh_backend_calloc(size_t count, size_t size)
{
	size_t bytes;
	void *block;

	if (is_within())
		return hh_real.calloc(count, size);
	SERVE(block = hh_real.calloc(count, size))
	if (__builtin_mul_overflow(count, size, &bytes))
		bytes = SIZE_MAX;
	if (!likely(block))
		return fail(LOG_CALL_CALLOC, bytes);
	return keep_calloc(block, bytes);
}

static COLD void
free_noted(void *block)
{
	bool recorded = hh_note_free(block, hh_usable(block));

	hh_real.free(block);
	if (recorded && hh_mode & HH_MEASURED)
		hh_note_took();
}

static COLD void
free_alone(void *block)
{
	if (is_within())
		hh_real.free(block);
	else if (hh_mode & HH_SAMPLED && likely(pass_free(block)))
		hh_real.free(block);
	else if (hh_mode & (HH_OPAQUE | HH_MEASURED)
	    || hh_usable_word(block) & HH_CHUNK_MAPPED
	    || !put_alone(LOG_FREE, block, 0, 0))
		free_noted(block);
	else
		hh_real.free(block);
}

static COLD void
free_among(void *block)
{
	if (!block || hh_boot_owns(block))
		return;
	if (likely(hh_mode == HH_AMONG)
	    && likely(!(hh_usable_word(block) & HH_CHUNK_MAPPED))
	    && likely(put_among(LOG_FREE, block, 0)))
		hh_real.free(block);
	else
		free_alone(block);
}

void
hh_backend_free(void *block)
{
	struct hh_stream *s = hh_mine;

	if (likely(block) && likely(is_usual(s))
	    && likely(!(hh_usable_word(block) & HH_CHUNK_MAPPED)))
		put_free(s, block, usable_of_word(block));
	else
		free_among(block);
}

/* Themselves what the program calls: see entry.c. */
HH_EXPORT void *malloc(size_t size)
    __attribute__((alias("hh_backend_malloc")));
HH_EXPORT void free(void *block)
    __attribute__((alias("hh_backend_free")));

/* There was no block, or there will be none that we know: two events. */
static void *
replace(enum log_call call, void *old, size_t size)
{
	size_t old_usable = old ? hh_usable(old) : 0;
	bool freed = old && hh_note_free(old, old_usable);
	void *block;

	SERVE(block = hh_real.realloc(old, size))
	if (block)
		hh_note_alloc(call, block, size, hh_usable(block), 0);
	else if (size)
		hh_note_failed(call, size);
	else if (freed && hh_mode & HH_MEASURED)
		hh_note_took();
	if (!block && size && old)	/* it failed: the old one lives on */
		hh_note_alloc(call, old, old_usable, old_usable, 0);
	return block;
}

/* The old block is given up before another thread can get its address. */
static void *
resize_among_threads(enum log_call call, void *old, size_t size)
{
	size_t old_usable = hh_usable(old);
	void *block;

	hh_note_resize(old);
	SERVE(block = hh_real.realloc(old, size))
	if (block)
		hh_note_resized(old_usable, block, size, hh_usable(block));
	else
		hh_note_failed(call, size);
	return block;
}

/* Its old block is freed, if that was recorded; its new one may be. */
static void *
resize_sampled(enum log_call call, void *old, size_t size)
{
	size_t old_usable = hh_usable(old);
	bool was = hh_note_gone(old);
	void *block;

	SERVE(block = hh_real.realloc(old, size))
	if (block) {
		hh_note_moved(call, block, size, hh_usable(block), old_usable);
		return block;
	}
	hh_note_failed(call, size);
	if (was)
		hh_note_back(call, old, old_usable);
	return NULL;
}

void *
hh_backend_realloc(enum hh_call hh_call, void *old, size_t size)
{
	enum log_call call = (enum log_call)hh_call;
	size_t old_usable;
	void *block;

	if (is_within())
		return hh_real.realloc(old, size);
	if (old && size && hh_mode & HH_SAMPLED)
		return resize_sampled(call, old, size);
	if (!old || !size || hh_mode & HH_PAUSED)
		return replace(call, old, size);
	if (hh_among_threads())
		return resize_among_threads(call, old, size);
	old_usable = hh_usable(old);
	SERVE(block = hh_real.realloc(old, size))
	if (block)
		hh_note_realloc(old, old_usable, block, size,
		    hh_usable(block));
	else
		hh_note_failed(call, size);
	return block;
}

/* What the log has as alignment: a power of two. */
static size_t
round_up(size_t align)
{
	size_t power = 1;

	while (power < align && power << 1)
		power <<= 1;
	return power;
}

void *
hh_backend_memalign(enum hh_call call, size_t align, size_t size, int *error)
{
	void *block;

	if (is_within())
		return hh_real_memalign(call, align, size, error);
	SERVE(block = hh_real_memalign(call, align, size, error))
	if (block)
		hh_note_alloc((enum log_call)call, block, size,
		    hh_usable(block), round_up(align));
	else
		hh_note_failed((enum log_call)call, size);
	return block;
}

size_t
hh_backend_usable(void *block)
{
	return hh_real.malloc_usable_size(block);
}
