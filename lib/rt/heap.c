/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "heap.h"

#include <stdlib.h>
#include <string.h>

#include "../interpose/summary.h"
#include "../interpose/real.h"
#include "../interpose/sys.h"
#include "../interpose/text.h"
#include "pool.h"
#include "record.h"

struct rt_heap rt_heap;
struct rt_settings rt_settings;
enum rt_mode rt_mode;
int rt_process;
bool rt_sealed;

/* Until the page is there that a fork wipes. */
static struct rt_locks first_locks = { .ours = true };
struct rt_locks *rt_locks = &first_locks;

/* A child of a fork that asked nobody: its other threads are gone, and what
 * was locked there is not here.  If one of them was within the heap, that is
 * not whole and never will be: it is left for a new one. */
static void
find_oneself(void)
{
	rt_locks->ours = true;
	rt_tid = 0;
	hh_summary_drop();
	rt_record_leave(!rt_heap.within);
	if (!rt_heap.within) {
		rt_thread_survive();
		return;
	}
	rt_heap.within = false;
	rt_pool_abandon();
	tlsf_init(&rt_heap.tlsf);
	tlsf_depot_init(&rt_heap.depot, rt_heap.depot.most);
	rt_heap.threads = rt_heap.orphans = NULL;
	rt_mine = &rt_thread_none;
	rt_settings.thread_cache = 0;
}

/* This thread holds both locks while it forks.  Other handlers of the fork
 * may come between and allocate. */
static _Thread_local bool forks;

bool
rt_heap_lock(void)
{
	if (__builtin_expect(!rt_locks->ours, 0))
		find_oneself();
	if (!rt_lock(&rt_locks->heap) && (!forks || rt_heap.within))
		return false;
	rt_heap.within = true;
	return true;
}

static _Noreturn void
stop(enum tlsf_fault fault, const void *block)
{
	char line[160];
	struct hh_text t = hh_text_in(line, sizeof line);

	hh_text_add(&t, "heaphook-tlsf: block ");
	hh_text_add_address(&t, block);
	hh_text_add(&t, ": ");
	hh_text_add(&t, tlsf_fault_name(fault));
	hh_say(line, NULL);
	abort();
}

/* Whatever was found wrong is said when nobody else waits for it. */
void
rt_heap_unlock(void)
{
	enum tlsf_fault fault = rt_heap.tlsf.fault;

	if (__builtin_expect(rt_record_pool != NULL, 0))
		rt_record_figures();
	rt_heap.within = false;
	if (__builtin_expect(!forks, 1))
		rt_unlock(&rt_locks->heap);
	if (__builtin_expect(fault != TLSF_FINE, 0))
		stop(fault, rt_heap.tlsf.fault_at);
}

static void *
take_locked(unsigned label, size_t size)
{
	void *block = rt_heap.depot.bytes[label]
	    ? tlsf_cache_refill(&rt_mine->cache, &rt_heap.depot,
	        &rt_heap.tlsf, label)
	    : tlsf_take(&rt_heap.tlsf, label, size);

	rt_heap.takes += block != NULL;
	return block;
}

/* What is kept for nothing better comes back before the pool grows. */
static void
drain_locked(void)
{
	struct tlsf *t = &rt_heap.tlsf;
	struct tlsf_depot *d = &rt_heap.depot;

	while (tlsf_cache_drain(&rt_mine->cache, d, t)
	    || tlsf_cache_drain(&d->cache, d, t))
		;
	rt_thread_drain_orphans();
}

static void *
take_at_last(unsigned label, size_t size)
{
	void *block;

	if (!rt_heap_lock())
		return NULL;
	drain_locked();
	block = take_locked(label, size);
	rt_heap_unlock();
	return block;
}

static void *
give_up(size_t size)
{
	if (rt_settings.on_exhaust == RT_ABORT) {
		char line[160];
		struct hh_text t = hh_text_in(line, sizeof line);

		hh_text_add(&t, "heaphook-tlsf: pool exhausted by a request "
		    "of ");
		hh_text_add_uint(&t, size);
		hh_text_add(&t, " bytes");
		hh_say(line, NULL);
		abort();
	}
	__atomic_fetch_add(&rt_heap.failed, 1, __ATOMIC_RELAXED);
	return NULL;
}

/* Growth lock held: perhaps another thread has grown meanwhile. */
static void *
grow(unsigned label, size_t size, struct rt_growth *g)
{
	size_t bytes = tlsf_label_size(label) ? tlsf_label_size(label) : size;
	void *block = take_at_last(label, size);

	g->count = 0;
	if (block
	    || !rt_pool_plan(rt_settings.additional, tlsf_label_align(label),
	        bytes, g)
	    || !rt_pool_get(g) || !rt_heap_lock())
		return block;
	rt_pool_add(&rt_heap.tlsf, g);
	rt_heap.growths += g->count;
	block = take_locked(label, size);
	rt_heap_unlock();
	return block;
}

static void *
take_exhausted(unsigned label, size_t size)
{
	struct rt_growth g;
	void *block;

	if (size > TLSF_MOST)
		return give_up(size);
	if (rt_settings.on_exhaust != RT_GROW || !rt_settings.additional) {
		block = take_at_last(label, size);
		return block ? block : give_up(size);
	}
	if (!rt_lock(&rt_locks->growth))
		return NULL;
	block = grow(label, size, &g);
	rt_unlock(&rt_locks->growth);
	rt_pool_say(&g);
	return block ? block : give_up(size);
}

void *
rt_heap_take(unsigned label, size_t size)
{
	void *block;

	if (!rt_heap_lock())
		return NULL;
	block = take_locked(label, size);
	rt_heap_unlock();
	return block ? block : take_exhausted(label, size);
}

/* Where libc says that the first stack ends.  The kernel maps nothing else
 * so close below it. */
extern void *__libc_stack_end __attribute__((weak));
enum { STACK_REACH = 64 << 20 };

static bool
is_on_stack(const void *block)
{
	return &__libc_stack_end
	    && (uintptr_t)__libc_stack_end - (uintptr_t)block < STACK_REACH;
}

void
rt_heap_foreign(const void *block)
{
	if (rt_mode == RT_SERVING && (is_on_stack(block)
	    || (hh_real_order.next_is_libc && (uintptr_t)block % TLSF_ALIGN)))
		stop(TLSF_NO_BLOCK, block);
}

void
rt_heap_twice(const void *block)
{
	stop(TLSF_TWICE, block);
}

/* Marks are all that can be asked of what may be no block. */
static enum tlsf_fault
look(const void *block)
{
	if (tlsf_is(block, TLSF_USED))
		return tlsf_is_sound(block, tlsf_to_next(block)) ? TLSF_FINE
		    : TLSF_NEXT_SMASHED;
	return tlsf_is(block, TLSF_KEPT) || tlsf_is(block, TLSF_FREE)
	    ? TLSF_TWICE : TLSF_NO_BLOCK;
}

void
rt_heap_give(void *block)
{
	enum tlsf_fault fault = look(block);

	if (fault)
		stop(fault, block);
	if (!rt_heap_lock())
		return;		/* a handler within the heap: it is lost */
	if (rt_pool_abandoned(block)) {
		rt_heap_unlock();
		return;
	}
	if (rt_heap.depot.bytes[tlsf_header(block)->label])
		tlsf_cache_spill(&rt_mine->cache, &rt_heap.depot,
		    &rt_heap.tlsf, block);
	else
		tlsf_free(&rt_heap.tlsf, block);
	rt_heap.gives++;
	rt_heap_unlock();
}

void
rt_heap_settle(void)
{
	void *block = rt_mine->cache.pending;

	rt_mine->cache.pending = NULL;
	if (block)
		rt_heap_give(block);
}

/* In place it has another label, where there are any: what it serves now. */
static bool
resize_locked(void *block, size_t size)
{
	struct tlsf_header *h = tlsf_header(block);

	if (!tlsf_resize(&rt_heap.tlsf, block, size))
		return false;
	if (rt_settings.thread_cache)
		h->label = (uint8_t)tlsf_label_resized(h->label,
		    tlsf_usable_of_used(block));
	rt_heap.takes++;
	rt_heap.gives++;
	return true;
}


static void
give_moved(void *block)
{
	if (!tlsf_cache_put(&rt_mine->cache, block))
		rt_heap_give(block);
}

/* Labelled as a fresh block of SIZE would be that has this one's alignment. */
static unsigned
label_of_moved(const void *block, size_t size)
{
	size_t align = tlsf_label_align(tlsf_header(block)->label);

	if (align > TLSF_ALIGN)
		return tlsf_label_aligned(align, size);
	return size <= LABEL_MOST && rt_settings.thread_cache
	    ? tlsf_label(size) : 0;
}

/* Where it can grow again: from the heap, not from what threads keep. */
static void *
take_elsewhere_locked(const void *block, size_t size)
{
	void *moved = tlsf_take(&rt_heap.tlsf, label_of_moved(block, size),
	    size);

	rt_heap.takes += moved != NULL;
	return moved;
}

/* What grows is given room to grow again; all the more when it creeps. */
static size_t
with_room(size_t usable, size_t size)
{
	if (size <= usable)
		return size;
	return tlsf_step_up(size - usable < usable / 8 ? size + size / 8
	    : size);
}

/* In place, with room to grow again if it grows, or just so; else another
 * block, and the program's bytes are copied when the lock is free again. */
void *
rt_heap_resize(void *block, size_t size)
{
	enum tlsf_fault fault = look(block);
	size_t usable, roomy;
	void *moved = block;

	if (fault)
		stop(fault, block);
	usable = tlsf_usable_of_used(block);
	roomy = with_room(usable, size);
	if (!rt_heap_lock())
		return NULL;
	if (rt_pool_abandoned(block) || (!resize_locked(block, roomy)
	    && !resize_locked(block, size)))
		moved = take_elsewhere_locked(block, roomy);
	rt_heap_unlock();
	if (!moved)
		moved = take_exhausted(label_of_moved(block, size), size);
	if (!moved || moved == block)
		return moved;
	memcpy(moved, block, usable < size ? usable : size);
	give_moved(block);
	return moved;
}

static void
add_threads(struct rt_totals *sum, const struct rt_thread *list)
{
	for (const struct rt_thread *t = list; t; t = t->next) {
		struct tlsf_kept kept = tlsf_cache_kept(&t->cache);

		sum->allocations += t->cache.gets;
		sum->frees += kept.puts;
		sum->kept += kept.bytes + tlsf_usable(t) + TLSF_OVERHEAD;
	}
}

struct rt_totals
rt_heap_totals(void)
{
	const struct tlsf *t = &rt_heap.tlsf;
	struct rt_totals sum = { .failed = rt_heap.failed };

	if (!rt_heap_lock())
		return sum;
	sum.allocations = rt_heap.takes;
	sum.frees = rt_heap.gives;
	sum.kept = tlsf_cache_kept(&rt_heap.depot.cache).bytes;
	add_threads(&sum, rt_heap.threads);
	add_threads(&sum, rt_heap.orphans);
	sum.total = t->total;
	sum.used = t->used;
	sum.peak = t->peak;
	sum.largest = tlsf_largest(t);
	sum.growths = rt_heap.growths;
	rt_heap_unlock();
	if (sum.kept < sum.used)
		sum.live = sum.used - sum.kept
		    - (sum.allocations - sum.frees) * TLSF_OVERHEAD;
	return sum;
}

/* Not in a signal handler that interrupted a call: that has a lock, and goes
 * on with it when the handler is done.  Then nobody was asked. */
void
rt_heap_fork_begins(void)
{
	if (rt_lock_is_mine(&rt_locks->heap) || !rt_lock(&rt_locks->growth))
		return;
	rt_heap_lock();
	rt_heap.within = false;
	forks = true;
}

void
rt_heap_fork_parent(void)
{
	if (!forks)
		return;
	forks = false;
	rt_heap_unlock();
	rt_unlock(&rt_locks->growth);
}

void
rt_heap_fork_child(void)
{
	forks = false;
	memset(rt_locks, 0, sizeof *rt_locks);
	find_oneself();
}
