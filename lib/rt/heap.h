/* SPDX-License-Identifier: Apache-2.0 */
/* The heap of the process: what threads share, and what is done with it
 * under its lock.  Decided under the lock, acted on after it. */
#ifndef RT_HEAP_H
#define RT_HEAP_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../interpose/entry.h"
#include "../tlsf/cache.h"
#include "lock.h"
#include "pool.h"
#include "record.h"
#include "settings.h"
#include "thread.h"

/* What is compiled into who calls it: calls within calls would be half of what
 * a call takes that no cache serves. */
#define RT_INLINE __attribute__((always_inline)) static inline

/* Who holds the second may take the first, not the other way round.  In a
 * forked child they are not usable until it has looked: the kernel fills all
 * this with zeros there. */
struct rt_locks {
	struct rt_lock heap;
	struct rt_lock growth;	/* one grows at a time; held over system
				 * calls, so only when the pool is exhausted */
};

struct rt_heap {
	_Alignas(RT_LINE) struct tlsf tlsf;
	_Alignas(RT_LINE) struct tlsf_depot depot;
	uint64_t takes, gives;		/* calls that no cache served, or one
					 * whose thread has ended */
	bool forks;		/* who holds it forks, and may come back */
	bool within;		/* its lock is held: what a child of a fork
				 * that asked nobody looks at */
	bool forks_amid;	/* and a handler that interrupted the holder
				 * forks */
	bool left_behind;	/* such a child is to see who is gone */
	unsigned watched;	/* not 0: who lets go of it has more to do */
	unsigned caches;		/* of threads, */
	uint64_t own;			/* and what these take themselves */
	struct rt_thread *threads;	/* that have a cache */
	struct rt_thread *orphans;	/* whose thread a fork left behind */
	uint64_t growths;
	uint64_t failed;		/* requests answered with NULL */
};

static_assert(offsetof(struct tlsf, powers) % RT_LINE == 0
    && offsetof(struct tlsf, fault) - offsetof(struct tlsf, powers) < RT_LINE
    && offsetof(struct rt_heap, depot.left) / RT_LINE
    == offsetof(struct rt_heap, within) / RT_LINE,
    "each call comes by these two lines");

extern HH_OWN struct rt_heap rt_heap;
extern HH_OWN struct rt_locks *rt_locks;
extern HH_OWN struct rt_settings rt_settings;

/* Read before everything else on the slow paths. */
enum rt_mode {
	RT_UNBORN,	/* nothing was called yet */
	RT_STARTING,	/* the bootstrap heap serves */
	RT_SERVING,
	RT_ASIDE,	/* not for this process: the next allocator serves */
};

extern HH_OWN enum rt_mode rt_mode;
extern HH_OWN int rt_process;		/* this one; not in a vfork child */

/* More than 0: a system call for less than memory may be deadly, since a filter
 * comes, or is there. */
extern HH_OWN int rt_sealed;

/* False in a handler that interrupted the holder: nothing can be had. */
RT_INLINE bool rt_heap_lock(void);
RT_INLINE void rt_heap_unlock(void);

/* A block for LABEL, by way of the calling thread's cache; of SIZE, if what
 * has the label is not kept.  Grows; NULL when that cannot be, or a handler
 * asks in the middle of it. */
void *rt_heap_take(unsigned label, size_t size);

/* What threads keep comes back, as far as it can. */
void rt_heap_trim(void);

/* The program ends: what the thread freed last is looked at. */
void rt_heap_settle(void);

/* Stops the program: BLOCK is none that may be freed, or the header behind it
 * is smashed. */
_Noreturn void rt_heap_refuse(const void *block);

/* Stops the program: BLOCK was freed already. */
_Noreturn void rt_heap_twice(const void *block);

/* BLOCK lies in the pool.  Stops the program if it is no block, or smashed.
 * In a handler that interrupted the lock's holder it is lost.  The first by
 * way of the calling thread's cache C, which it has entered and leaves; the
 * other past it. */
void rt_heap_give(void *block, struct tlsf_cache *c);
void rt_heap_give_past(void *block);

/* BLOCK lies elsewhere.  Stops the program if it cannot be anybody's. */
void rt_heap_foreign(const void *block);

/* BLOCK's mark says TLSF_USED.  In place, with room to grow again if it grows,
 * or just so; else moved; NULL when there is no room. */
void *rt_heap_resize(void *block, size_t size);

/* A new block of SIZE with BLOCK's bytes, which is given; or NULL. */
void *rt_heap_move(void *block, size_t size);

/* Of all threads; what they do meanwhile is in it or not.  In a handler that
 * interrupted the lock's holder, all is 0. */
struct rt_totals {
	uint64_t allocations, frees, failed;
	uint64_t live;		/* bytes in blocks of the program, usable */
	uint64_t kept;		/* bytes in caches, and of these themselves */
	uint64_t total, used, peak, largest, growths;	/* of the pool */
};

struct rt_totals rt_heap_totals(void);

/* What all caches may keep is a part of the pool as it is now, and what they
 * exchange is what the threads leave of it. */
void rt_heap_bound(void);

/* Before, and after in parent and child, with both locks held between. */
void rt_heap_fork_begins(void);
void rt_heap_fork_parent(void);
void rt_heap_fork_child(void);

/* Somebody forks, was left behind, or reads our log, or does not any more. */
void rt_heap_watch(void);

/* NULL, and errno says why. */
void *rt_heap_none(void);

/* What is seldom. */
void rt_heap_fault_twice(const void *block);
bool rt_heap_lock_slowly(void);
void rt_heap_unlock_slowly(void);
void *rt_heap_take_exhausted(unsigned label, size_t size);

/* Whether this is no forked child that has not looked yet. */
RT_INLINE bool
rt_heap_is_ours(void)
{
	return atomic_load_explicit(&rt_locks->heap.usable,
	    memory_order_relaxed) != 0;
}

RT_INLINE bool
rt_heap_lock(void)
{
	if (!__builtin_expect(rt_lock_at_once(&rt_locks->heap), 1))
		return rt_heap_lock_slowly();
	rt_heap.within = true;
	return true;
}

/* The heap is damaged, or somebody forks or reads our log. */
RT_INLINE bool
rt_heap_is_watched(void)
{
	return (rt_heap.tlsf.fault | rt_heap.watched) != 0;
}

RT_INLINE void
rt_heap_unlock_quickly(void)
{
	rt_heap.within = false;
	rt_unlock(&rt_locks->heap);
}

/* The program gets BLOCK, or NULL, in the thread whose cache is C.  If it was
 * freed there last, and so not looked at since, it was freed twice: that is
 * said when the lock is free. */
RT_INLINE void
rt_heap_hand_out(const struct tlsf_cache *c, const void *block)
{
	if (__builtin_expect(block == c->pending, 0) && block)
		rt_heap_fault_twice(block);
}

/* A block for LABEL past all caches: as big as those in them, or of SIZE. */
RT_INLINE void *
rt_heap_fresh_locked(unsigned label, size_t size)
{
	size_t units = rt_heap.depot.cache.magazines[label].units;

	return tlsf_take(&rt_heap.tlsf, label,
	    units ? units * TLSF_ALIGN - TLSF_OVERHEAD : size);
}

/* Whatever was found wrong is said when nobody else waits for it. */
RT_INLINE void
rt_heap_unlock(void)
{
	if (__builtin_expect(rt_heap_is_watched(), 0))
		rt_heap_unlock_slowly();
	else
		rt_heap_unlock_quickly();
}

#endif
