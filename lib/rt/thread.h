/* SPDX-License-Identifier: Apache-2.0 */
/* Each thread's cache: made with its first call, given back when it ends. */
#ifndef RT_THREAD_H
#define RT_THREAD_H

#include "../interpose/entry.h"
#include "../tlsf/cache.h"

/* What a log has heard of a cache: see record.h. */
struct rt_told {
	uint64_t gets, puts;
	uint64_t blocks;		/* kept, and the cache itself */
	uint64_t bytes, last, own;	/* of these: in magazines, the one
					 * freed last, the cache's */
	uint64_t ticks;			/* when */
};

enum { RT_LINE = 64 };		/* bytes of a processor's cache line */

struct rt_thread {
	struct rt_told told;
	uint64_t drained;		/* how often it was emptied */
	struct rt_thread *next, **from;	/* in rt_heap.threads, or .orphans */
	_Alignas(RT_LINE) struct tlsf_cache cache; /* a short one's part */
};

/* What T takes of the pool. */
static inline size_t
rt_thread_bytes(const struct rt_thread *t)
{
	return tlsf_usable(t) + TLSF_OVERHEAD;
}

/* Empty for ever: every call takes the slow path.  The one of threads that
 * have not called yet, the other of those that are to have none. */
extern HH_OWN struct rt_thread rt_thread_new, rt_thread_none;

/* The calling thread's. */
extern HH_OWN _Thread_local struct rt_thread *rt_mine;

/* Once, at start. */
void rt_thread_start(void);

/* Give the calling thread a cache, if there may be one. */
void rt_thread_begin(void);

/* The pool is bigger now: there may be one for the calling thread, with its
 * next call. */
void rt_thread_retry(void);

/* In a forked child, heap lock held: the other threads are gone.  What they
 * kept goes to those that begin later. */
void rt_thread_survive(void);

/* Heap lock held: the first of the orphans, which is empty, goes. */
void rt_thread_discard_orphan(void);

/* The same, of a pool that is left as it is: its caches are, too, and there
 * will be none any more. */
void rt_thread_abandon(void);

#endif
