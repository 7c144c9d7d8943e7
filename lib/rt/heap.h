/* SPDX-License-Identifier: Apache-2.0 */
/* The heap of the process: what threads share, and what is done with it
 * under its lock.  Decided under the lock, acted on after it. */
#ifndef RT_HEAP_H
#define RT_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../interpose/entry.h"
#include "../tlsf/cache.h"
#include "lock.h"
#include "settings.h"
#include "thread.h"

/* In order: who holds one may take a later one. */
struct rt_locks {
	struct rt_lock growth;	/* one grows at a time; held over system
				 * calls, so only when the pool is exhausted */
	struct rt_lock heap;
	bool ours;		/* false in a forked child until it has looked:
				 * the kernel fills all this with zeros there */
};

struct rt_heap {
	struct tlsf tlsf;
	struct tlsf_depot depot;
	struct rt_thread *threads;	/* that have a cache */
	struct rt_thread *orphans;	/* whose thread a fork left behind */
	uint64_t growths;
	uint64_t takes, gives;		/* calls that no cache served, or one
					 * whose thread has ended */
	uint64_t failed;		/* requests answered with NULL */
	bool within;		/* its lock is held: what a child of a fork
				 * that asked nobody looks at */
};

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
extern HH_OWN int rt_process;		/* that the summary is of */
extern HH_OWN bool rt_sealed;	/* a system call for less than memory may be
				 * deadly: a filter is there, or comes */

/* False in a handler that interrupted the holder: nothing can be had. */
bool rt_heap_lock(void);
void rt_heap_unlock(void);

/* A block for LABEL, by way of the calling thread's cache; of SIZE, if what
 * has the label is not kept.  Grows; NULL when that cannot be, or a handler
 * asks in the middle of it. */
void *rt_heap_take(unsigned label, size_t size);

/* The program ends: what the thread freed last is looked at. */
void rt_heap_settle(void);

/* Stops the program: BLOCK was freed already. */
_Noreturn void rt_heap_twice(const void *block);

/* BLOCK lies in the pool.  Stops the program if it is no block. */
void rt_heap_give(void *block);

/* BLOCK lies elsewhere.  Stops the program if it cannot be anybody's. */
void rt_heap_foreign(const void *block);

/* In place, else moved; NULL when there is no room. */
void *rt_heap_resize(void *block, size_t size);

/* Of all threads; what they do meanwhile is in it or not.  In a handler that
 * interrupted the lock's holder, all is 0. */
struct rt_totals {
	uint64_t allocations, frees, failed;
	uint64_t live;		/* bytes in blocks of the program, usable */
	uint64_t kept;		/* bytes in caches, and of these themselves */
	uint64_t total, used, peak, largest, growths;	/* of the pool */
};

struct rt_totals rt_heap_totals(void);

/* Before, and after in parent and child, with both locks held between. */
void rt_heap_fork_begins(void);
void rt_heap_fork_parent(void);
void rt_heap_fork_child(void);

#endif
