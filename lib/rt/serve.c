/* SPDX-License-Identifier: Apache-2.0 */
/* What the calling thread's cache cannot serve: under the heap's lock, and
 * what is left to do after it.  What the heap does is compiled into it. */
#include "heap.h"

#include <errno.h>

#include "../tlsf/exchange.h"
#include "record.h"

#define likely(x) __builtin_expect(!!(x), 1)

void *
rt_heap_none(void)
{
	errno = ENOMEM;
	return NULL;
}

void
rt_heap_fault_twice(const void *block)
{
	blame(&rt_heap.tlsf, TLSF_TWICE, block);
}

static __attribute__((noinline)) void
leave_slowly(void)
{
	rt_heap_unlock_slowly();
	if (rt_record_wanted)
		rt_record_tell();
}

/* Lets go of the lock; for who reads our log, what was done is told. */
INLINE void
leave(void)
{
	if (likely(!rt_heap_is_watched()))
		rt_heap_unlock_quickly();
	else
		leave_slowly();
}

/* Past a cache that is busy: a handler of its thread's interrupted it. */
INLINE void *
take_locked(unsigned label, size_t size)
{
	struct tlsf_cache *c = &rt_mine->cache;
	void *block;

	if (!rt_heap.depot.cache.magazines[label].units
	    || !tlsf_cache_enter_locked(c)) {
		block = rt_heap_fresh_locked(label, size);
	} else {
		block = exchange_take(c, &rt_heap.depot, &rt_heap.tlsf, label);
		tlsf_cache_leave(c);
	}
	rt_heap_hand_out(c, block);
	return block;
}

void *
rt_heap_take(unsigned label, size_t size)
{
	void *block;

	if (!rt_heap_lock())
		return rt_heap_none();
	block = take_locked(label, size);
	rt_heap.takes += block != NULL;
	leave();
	if (!likely(block))
		block = rt_heap_take_exhausted(label, size);
	return likely(block) ? block : rt_heap_none();
}

void
rt_heap_give(void *block, struct tlsf_cache *c)
{
	if (!rt_heap_lock()) {
		tlsf_cache_leave(c);
		return;
	}
	rt_heap.gives++;
	exchange_give(c, &rt_heap.depot, &rt_heap.tlsf, block);
	tlsf_cache_leave(c);
	leave();
}

void
rt_heap_give_past(void *block)
{
	if (!tlsf_is(block, TLSF_USED))
		rt_heap_refuse(block);
	if (!rt_heap_lock())
		return;
	rt_heap.gives++;
	give(&rt_heap.tlsf, block);
	leave();
}

/* There is no room in place; holds the lock. */
static __attribute__((noinline)) void *
move(void *block, size_t size)
{
	void *moved;

	leave();
	moved = rt_heap_move(block, size);
	return likely(moved) ? moved : rt_heap_none();
}

void *
rt_heap_resize(void *block, size_t size)
{
	if (!rt_heap_lock())
		return rt_heap_none();
	if (!likely(exchange_resize(&rt_heap.tlsf, block, size,
	    rt_settings.thread_cache != 0)))
		return move(block, size);
	rt_heap.takes++;
	rt_heap.gives++;
	leave();
	return block;
}
