/* SPDX-License-Identifier: Apache-2.0 */
/* The back end of libheaphook-tlsf.so.  The usual malloc and free touch the
 * calling thread's cache and nothing else; all the rest is a slow path. */
#define _GNU_SOURCE
#include "../interpose/backend.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../interpose/boot.h"
#include "../interpose/entry.h"
#include "../interpose/real.h"
#include "heap.h"
#include "pool.h"
#include "record.h"
#include "start.h"

#define likely(x) __builtin_expect(!!(x), 1)
#define COLD __attribute__((noinline, cold))
#define SLOW __attribute__((noinline))

/* Whether our own heap serves, after whatever start takes. */
static bool
serving(void)
{
	if (likely(rt_mode == RT_SERVING))
		return true;
	if (rt_mode == RT_UNBORN)
		rt_start();
	return rt_mode == RT_SERVING;
}

/* With no caches in this process a block is just as big as it must be. */
static inline unsigned
label_for(size_t align, size_t size)
{
	if (align > TLSF_ALIGN)
		return tlsf_label_aligned(align, rt_settings.thread_cache
		    ? size : SIZE_MAX);
	return size <= LABEL_MOST && rt_settings.thread_cache
	    ? tlsf_label(size) : 0;
}

/* What the calling thread keeps; else NULL. */
static inline void *
get(unsigned label)
{
	struct tlsf_cache *c = &rt_mine->cache;
	void *block;

	if (!tlsf_cache_enter(c))
		return NULL;
	block = tlsf_cache_get(c, label);
	tlsf_cache_leave(c);
	return block;
}

/* For a plain label. */
RT_INLINE void *
get_or_borrow(unsigned label)
{
	struct tlsf_cache *c = &rt_mine->cache;
	void *block;

	if (!tlsf_cache_enter(c))
		return NULL;
	block = tlsf_cache_get(c, label);
	if (!likely(block))
		block = tlsf_cache_borrow(c, label);
	tlsf_cache_leave(c);
	return block;
}

static COLD void *
take_first(unsigned label, size_t size)
{
	void *block;

	rt_thread_begin();
	block = get(label);
	return block ? block : rt_heap_take(label, size);
}

/* A thread that is not new is one of a process that is served. */
static inline void *
take(unsigned label, size_t size)
{
	return likely(rt_mine != &rt_thread_new) ? rt_heap_take(label, size)
	    : take_first(label, size);
}

static COLD void *
malloc_at_first(size_t size)
{
	if (serving())
		return take(label_for(TLSF_ALIGN, size), size);
	return rt_mode == RT_ASIDE ? hh_real.malloc(size)
	    : hh_boot_alloc(TLSF_ALIGN, size);
}

static SLOW void *
malloc_slowly(size_t size)
{
	return likely(rt_mine != &rt_thread_new)
	    ? take(label_for(TLSF_ALIGN, size), size) : malloc_at_first(size);
}

static inline void *
malloc_quickly(size_t size)
{
	if (!likely(size <= LABEL_MOST))
		return NULL;
	return get_or_borrow(tlsf_label(size));
}

void *
hh_backend_malloc(size_t size)
{
	void *block = malloc_quickly(size);

	return likely(block) ? block : malloc_slowly(size);
}

/* BLOCK is left for the next call; what is put is the one before.  False, and
 * nothing done, in a thread without a cache, and in a handler that interrupts
 * it. */
RT_INLINE bool
keep(struct tlsf_cache *c, void *block)
{
	void *before;

	if (!likely(tlsf_cache_enter(c)))
		return false;
	before = tlsf_cache_defer(c, block);
	if (likely(before)) {
		if (!likely(tlsf_cache_has_room(c, before))) {
			rt_heap_give(before, c);
			return true;
		}
		if (!likely(tlsf_cache_accepts(c, before)))
			rt_heap_refuse(before);
		tlsf_cache_put(c, before);
	}
	tlsf_cache_leave(c);
	return true;
}

static SLOW void
give(void *block)
{
	if (rt_mine == &rt_thread_new) {
		rt_thread_begin();
		if (keep(&rt_mine->cache, block))
			return;
	}
	rt_heap_give_past(block);
}

static COLD void
free_slowly(void *block)
{
	if (!block || hh_boot_owns(block))
		return;
	if (!rt_pool_owns_first(block) && !rt_pool_owns(block)) {
		rt_heap_foreign(block);
		hh_real.free(block);
		return;
	}
	if (block == rt_mine->cache.pending)
		rt_heap_twice(block);
	give(block);
}

void
hh_backend_free(void *block)
{
	struct tlsf_cache *c = &rt_mine->cache;

	if (!likely(rt_pool_owns_first(block) && block != c->pending))
		free_slowly(block);
	else if (!likely(keep(c, block)))
		give(block);
}

/* Themselves what the program calls: see entry.c.  Not called from here, as
 * another library's may stand before them. */
HH_EXPORT void *malloc(size_t size)
    __attribute__((alias("hh_backend_malloc")));
HH_EXPORT void free(void *block)
    __attribute__((alias("hh_backend_free")));

void *
hh_backend_calloc(size_t count, size_t size)
{
	size_t bytes;
	void *block;

	if (__builtin_mul_overflow(count, size, &bytes))
		return rt_heap_none();
	if (rt_mode == RT_ASIDE)
		return hh_real.calloc(count, size);
	block = hh_backend_malloc(bytes);
	return block ? memset(block, 0, bytes) : NULL;
}

/* Enough already, and not so much more that others should have it. */
static inline bool
is_good_as_it_is(const void *block, size_t size)
{
	size_t usable = tlsf_usable(block);

	return size - 1 < usable && usable - size <= usable / 4 + TLSF_LEAST;
}

/* One served more is also one freed more: see tlsf_cache_kept(). */
static inline void *
resize_ours(struct tlsf_cache *c, void *block, size_t size)
{
	if (!likely(tlsf_is(block, TLSF_USED)))
		rt_heap_refuse(block);
	if (!likely(tlsf_cache_is_open(c) && is_good_as_it_is(block, size)))
		return rt_heap_resize(block, size);
	c->gets++;
	return block;
}

/* A block of another allocator, from before us or from one beside us, stays
 * there. */
static COLD void *
realloc_oddly(void *block, size_t size)
{
	if (!block)
		return hh_backend_malloc(size);
	if (!rt_pool_owns(block))
		return hh_real.realloc(block, size);
	if (!size) {
		hh_backend_free(block);
		return NULL;
	}
	if (block == rt_mine->cache.pending)
		rt_heap_twice(block);
	return size > TLSF_MOST ? rt_heap_none()
	    : resize_ours(&rt_mine->cache, block, size);
}

static inline bool
is_usual(const struct tlsf_cache *c, const void *block, size_t size)
{
	return likely(rt_pool_owns_first(block) && block != c->pending
	    && size - 1 < TLSF_MOST);
}

void *
hh_backend_realloc(enum hh_call call, void *block, size_t size)
{
	struct tlsf_cache *c = &rt_mine->cache;

	(void)call;
	return is_usual(c, block, size) ? resize_ours(c, block, size)
	    : realloc_oddly(block, size);
}

HH_EXPORT void *
realloc(void *block, size_t size)
{
	struct tlsf_cache *c = &rt_mine->cache;

	return is_usual(c, block, size) ? resize_ours(c, block, size)
	    : hh_entry_realloc(block, size);
}

static inline bool
is_power(size_t v)
{
	return v && !(v & (v - 1));
}

static COLD void *
memalign_slowly(enum hh_call call, size_t align, size_t size, int *error)
{
	int kept = errno, wrong;
	void *block;

	if (!serving() && rt_mode == RT_ASIDE)
		return hh_real_memalign(call, align, size, error);
	wrong = hh_settle_alignment(call, &align, &size);
	if (!wrong && align > TLSF_MOST / 4)
		wrong = ENOMEM;
	block = wrong ? NULL
	    : rt_mode == RT_SERVING ? take(label_for(align, size), size)
	    : hh_boot_alloc(align, size);
	if (block)
		return block;
	if (!wrong)
		wrong = ENOMEM;
	if (error)
		*error = wrong;
	/* posix_memalign need not, but glibc's does when memory is short. */
	errno = error && wrong != ENOMEM ? kept : wrong;
	return NULL;
}

/* What no rule is needed for. */
static inline bool
is_settled(size_t align)
{
	return is_power(align) && align > TLSF_ALIGN && align <= TLSF_MOST / 4;
}

static SLOW void *
memalign_settled(unsigned label, size_t size, int *error)
{
	void *block = take(label, size);

	if (!block && error)
		*error = ENOMEM;
	return block;
}

void *
hh_backend_memalign(enum hh_call call, size_t align, size_t size, int *error)
{
	unsigned label;
	void *block;

	if (!likely(is_settled(align)))
		return memalign_slowly(call, align, size, error);
	label = label_for(align, size);
	block = get(label);
	if (likely(block))
		return block;
	return likely(rt_mine != &rt_thread_new)
	    ? memalign_settled(label, size, error)
	    : memalign_slowly(call, align, size, error);
}

size_t
hh_backend_usable(void *block)
{
	return rt_pool_owns(block) ? tlsf_usable(block)
	    : hh_real.malloc_usable_size(block);
}
