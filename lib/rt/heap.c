/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "heap.h"

#include <stdlib.h>
#include <string.h>

#include "../interpose/summary.h"
#include "../interpose/real.h"
#include "../interpose/sys.h"
#include "../interpose/text.h"
#include "drain.h"
#include "pool.h"
#include "record.h"

enum {
	KEPT_PART = 20,		/* of the pool may be kept by all, 5 %, what
				 * the caches take themselves included; */
	THREADS_16THS = 12,	/* of that is for the threads that are there, */
	SHARED_16THS = 3,	/* for what they exchange; the rest for who
				 * comes next */
	TRIES = 20,		/* to find what others keep */
};

struct rt_heap rt_heap;
struct rt_settings rt_settings;
enum rt_mode rt_mode;
int rt_process;
int rt_sealed;

/* Until the page is there that a fork wipes. */
static struct rt_locks first_locks
    = { .heap = { .usable = 1 }, .growth = { .usable = 1 } };
struct rt_locks *rt_locks = &first_locks;

/* The heap is not whole and never will be. */
static void
leave_heap(void)
{
	rt_heap.within = false;
	rt_pool_abandon();
	tlsf_init(&rt_heap.tlsf);
	tlsf_depot_init(&rt_heap.depot);
	rt_thread_abandon();
}

/* What this thread was interrupted in goes on when the handler returns that
 * forked; until then the lock is its own. */
static void
go_on_amid(void)
{
	rt_lock_know_oneself();
	rt_lock_pass(&rt_locks->heap);
	rt_heap.left_behind = true;
}

/* A child of a fork: its other threads are gone, and what was locked there is
 * not here.  If one of them was within the heap, which cannot be where we were
 * asked, it is left for a new one. */
static void
find_oneself(void)
{
	bool amid = rt_heap.forks_amid;

	rt_heap.forks = false;
	rt_sealed = rt_filtered;
	/* Else its parent's number will do: it has no other threads. */
	if (!rt_sealed) {
		rt_tid = 0;
		rt_process = hh_sys_getpid();
		hh_summary_drop();
	}
	if (amid)
		go_on_amid();
	rt_lock_make_usable(&rt_locks->heap);
	rt_lock_make_usable(&rt_locks->growth);
	rt_record_leave(amid || !rt_heap.within);
	rt_heap_watch();
	if (!rt_heap.within)
		rt_thread_survive();
	else if (!amid)
		leave_heap();
}

/* No handler is to come between. */
static void
find_oneself_undisturbed(void)
{
	uint64_t kept;

	if (!rt_filtered)
		hh_sys_block_signals(&kept);
	if (!rt_heap_is_ours())
		find_oneself();
	if (!rt_filtered)
		hh_sys_restore_signals(&kept);
}

/* A thread that forks holds both locks meanwhile.  Other handlers of the fork
 * may come between and allocate. */
bool
rt_heap_lock_slowly(void)
{
	if (!rt_heap_is_ours())
		find_oneself_undisturbed();
	if (!rt_lock(&rt_locks->heap) && (!rt_heap.forks || rt_heap.within))
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

void
rt_heap_watch(void)
{
	rt_heap.watched = rt_record_pool || rt_record_wanted || rt_heap.forks
	    || rt_heap.left_behind;
}

/* In a child whose thread has done what it was interrupted in. */
static void
see_who_is_gone(void)
{
	rt_heap.left_behind = rt_heap.forks_amid = false;
	rt_thread_survive();
	rt_heap_watch();
}

void
rt_heap_unlock_slowly(void)
{
	enum tlsf_fault fault = rt_heap.tlsf.fault;

	if (fault == TLSF_NO_BLOCK && rt_pool_abandoned(rt_heap.tlsf.fault_at))
		fault = rt_heap.tlsf.fault = TLSF_FINE;
	if (rt_record_pool)
		rt_record_figures();
	if (rt_heap.left_behind)
		see_who_is_gone();
	rt_heap.within = false;
	if (!rt_heap.forks)
		rt_unlock(&rt_locks->heap);
	if (fault)
		stop(fault, rt_heap.tlsf.fault_at);
}

void
rt_heap_bound(void)
{
	uint64_t all = rt_heap.tlsf.total / KEPT_PART;
	uint64_t most = all > rt_heap.own ? all - rt_heap.own : 0;
	uint64_t each = most / 16 * THREADS_16THS
	    / (rt_heap.caches ? rt_heap.caches : 1);

	if (each > rt_settings.thread_cache)
		each = rt_settings.thread_cache;
	tlsf_depot_bound(&rt_heap.depot, most, each,
	    most / 16 * SHARED_16THS);
}

/* The label of blocks like LABEL's that are just as big as they must be. */
static unsigned
unkept(unsigned label)
{
	size_t align = tlsf_label_align(label);

	return align > TLSF_ALIGN ? tlsf_label_aligned(align, SIZE_MAX) : 0;
}

/* Not by way of the thread's cache, which is empty or busy.  When there is no
 * room for what would be kept, what was asked for will do. */
static void *
take_locked(unsigned label, size_t size)
{
	void *block = rt_heap_fresh_locked(label, size);

	if (!block && rt_heap.depot.cache.magazines[label].units)
		block = tlsf_take(&rt_heap.tlsf, unkept(label), size);
	rt_heap_hand_out(&rt_mine->cache, block);
	rt_heap.takes += block != NULL;
	return block;
}

/* Who is in the middle of a call may wait for the lock, or for its turn. */
static void *
take_at_last(unsigned label, size_t size)
{
	void *block = NULL;
	bool all = false;

	for (int i = 0; i < TRIES && !block && !all; i++) {
		if (i && !rt_sealed)
			hh_sys_yield();
		if (!rt_heap_lock())
			return NULL;
		all = rt_drain_locked();
		block = take_locked(label, size);
		rt_heap_unlock();
	}
	return block;
}

void
rt_heap_trim(void)
{
	if (!rt_heap_lock())
		return;
	rt_drain_locked();
	rt_heap_unlock();
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
	void *block = take_at_last(label, size);

	g->count = 0;
	if (block
	    || !rt_pool_plan(rt_settings.additional, tlsf_label_align(label),
	        size, g)
	    || !rt_pool_get(g) || !rt_heap_lock())
		return block;
	rt_pool_add(&rt_heap.tlsf, g);
	rt_heap_bound();
	rt_thread_retry();
	rt_heap.growths += g->count;
	block = take_locked(label, size);
	rt_heap_unlock();
	return block;
}

void *
rt_heap_take_exhausted(unsigned label, size_t size)
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

_Noreturn void
rt_heap_refuse(const void *block)
{
	if (tlsf_is(block, TLSF_USED))
		stop(TLSF_NEXT_SMASHED, block);
	stop(tlsf_is(block, TLSF_KEPT) || tlsf_is(block, TLSF_FREE)
	    ? TLSF_TWICE : TLSF_NO_BLOCK, block);
}

void
rt_heap_settle(void)
{
	struct tlsf_cache *c = &rt_mine->cache;
	void *block;

	if (!tlsf_cache_enter(c))
		return;
	block = c->pending;
	c->pending = NULL;
	if (block)
		rt_heap_give(block, c);
	else
		tlsf_cache_leave(c);
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
	void *moved = rt_heap_fresh_locked(label_of_moved(block, size), size);

	rt_heap_hand_out(&rt_mine->cache, moved);
	rt_heap.takes += moved != NULL;
	return moved;
}

/* For a block of USABLE bytes that moves, SIZE: with room if it grows. */
static size_t
roomy(size_t usable, size_t size)
{
	if (size <= usable)
		return size;
	return tlsf_roomy((usable + TLSF_OVERHEAD) / TLSF_ALIGN,
	    (size + TLSF_OVERHEAD + TLSF_ALIGN - 1) / TLSF_ALIGN)
	    * TLSF_ALIGN - TLSF_OVERHEAD;
}

/* Together with what is free before it, when nothing else is left: so its
 * bytes are moved under the lock. */
static void *
slide_locked(void *block, size_t size)
{
	size_t align = tlsf_label_align(tlsf_header(block)->label);
	void *slid = tlsf_realloc(&rt_heap.tlsf, block, align, size);

	if (!slid)
		return NULL;
	rt_heap_hand_out(&rt_mine->cache, slid);
	if (rt_settings.thread_cache)
		tlsf_header(slid)->label = (uint8_t)tlsf_label_resized(
		    tlsf_header(slid)->label, tlsf_units(slid));
	rt_heap.takes++;
	rt_heap.gives++;
	return slid;
}

/* The program's bytes are copied when the lock is free again.  What was freed
 * just now may be beside the block. */
void *
rt_heap_move(void *block, size_t size)
{
	size_t usable = tlsf_usable(block);
	void *moved, *slid;

	if (!rt_heap_lock())
		return NULL;
	moved = take_elsewhere_locked(block, roomy(usable, size));
	slid = moved ? NULL : slide_locked(block, size);
	if (!moved && !slid) {
		rt_drain_locked();
		slid = slide_locked(block, size);
	}
	rt_heap_unlock();
	if (slid)
		return slid;
	if (!moved)
		moved = rt_heap_take_exhausted(label_of_moved(block, size),
		    size);
	if (!moved)
		return NULL;
	memcpy(moved, block, usable < size ? usable : size);
	if (tlsf_cache_enter(&rt_mine->cache))
		rt_heap_give(block, &rt_mine->cache);
	else
		rt_heap_give_past(block);
	return moved;
}

static void
add_threads(struct rt_totals *sum, const struct rt_thread *list)
{
	for (const struct rt_thread *t = list; t; t = t->next) {
		struct tlsf_kept kept = tlsf_cache_kept(&t->cache);

		sum->allocations += t->cache.gets;
		sum->frees += kept.puts;
		sum->kept += kept.bytes + rt_thread_bytes(t);
	}
}

struct rt_totals
rt_heap_totals(void)
{
	const struct tlsf *t = &rt_heap.tlsf;
	struct rt_totals sum = { .failed = rt_heap.failed };
	uint64_t kept;

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
	/* Others go on meanwhile. */
	kept = sum.kept + (sum.allocations - sum.frees) * TLSF_OVERHEAD;
	if (sum.allocations >= sum.frees && kept < sum.used)
		sum.live = sum.used - kept;
	return sum;
}

/* A signal handler that interrupted a call has the locks that this has. */
void
rt_heap_fork_begins(void)
{
	if (rt_lock_is_mine(&rt_locks->heap)) {
		rt_heap.forks_amid = true;
		return;
	}
	if (!rt_lock(&rt_locks->growth))
		return;
	rt_heap_lock();
	rt_heap.within = false;
	rt_heap.watched = true;
	atomic_signal_fence(memory_order_seq_cst);
	rt_heap.forks = true;
}

void
rt_heap_fork_parent(void)
{
	rt_heap.forks_amid = false;
	if (!rt_heap.forks)
		return;
	rt_heap.forks = false;
	rt_heap_watch();
	rt_heap_unlock();
	rt_unlock(&rt_locks->growth);
}

void
rt_heap_fork_child(void)
{
	memset(rt_locks, 0, sizeof *rt_locks);
	find_oneself_undisturbed();
}
