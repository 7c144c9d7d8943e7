/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of the heap: where it comes from and how it grows.
 *
 * Address space is reserved far beyond the first area, so that each later
 * one touches the one before and the heap makes one of them.  Reserving
 * costs nothing, but it counts: under RLIMIT_AS little is reserved, and what
 * is left of it is given back before a program limits or locks itself. */
#ifndef RT_POOL_H
#define RT_POOL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../interpose/entry.h"
#include "../tlsf/tlsf.h"
#include "settings.h"

enum {
	RT_REGIONS = 64,	/* that do not touch */
	RT_STEPS = 64,		/* of one growth: more would overflow */
};

/* Written under the heap's lock; read by anyone without.  Who holds a block
 * got it after the span held it. */
struct rt_span {
	_Atomic uintptr_t base;
	_Atomic size_t bytes;	/* grows only */
};

extern HH_OWN struct rt_span rt_pool_spans[RT_REGIONS];

static inline bool
rt_span_owns(const struct rt_span *span, const void *block)
{
	return (uintptr_t)block
	    - atomic_load_explicit(&span->base, memory_order_relaxed)
	    < atomic_load_explicit(&span->bytes, memory_order_relaxed);
}

/* Where nearly all blocks are: one compare. */
static inline bool
rt_pool_owns_first(const void *block)
{
	return rt_span_owns(&rt_pool_spans[0], block);
}

/* In any region: at most RT_REGIONS compares. */
bool rt_pool_owns(const void *block);

/* Makes, checks and prefaults the initial pool, or refuses the program: one
 * line and its end.  Once, on one thread; T is initialised. */
void rt_pool_start(struct tlsf *t, const struct rt_settings *s);

/* What one exhaustion adds, computed before anything is done. */
struct rt_growth {
	unsigned count;
	uint64_t bytes[RT_STEPS];	/* of each step */
	uint64_t sum;
	uint64_t total;			/* of the pool, before */
	unsigned region;		/* that takes it */
};

/* The steps by the documented rule: ADDITIONAL bytes, then twice as many,
 * and so on up to the first area that serves the request by itself.  False,
 * and no step, when no growth can serve it. */
bool rt_pool_plan(uint64_t additional, size_t align, size_t size,
    struct rt_growth *g);

/* Memory for all steps; or false, and no step.  The caller holds the growth
 * lock and not the heap's. */
bool rt_pool_get(struct rt_growth *g);

/* Both locks held; no system call. */
void rt_pool_add(struct tlsf *t, struct rt_growth *g);

/* Neither held: a line for each step. */
void rt_pool_say(const struct rt_growth *g);

/* Address space that no area uses is given back to the program, which is
 * about to limit or lock itself.  The caller holds the growth lock. */
void rt_pool_unreserve(void);

/* All there is may be damaged and is left as it is; what grows from now on
 * lies elsewhere.  For a child of a fork that came in the middle. */
void rt_pool_abandon(void);

/* Whether BLOCK is from before that. */
extern HH_OWN unsigned rt_pool_lost;	/* regions */
bool rt_pool_lost_owns(const void *block);

static inline bool
rt_pool_abandoned(const void *block)
{
	return __builtin_expect(rt_pool_lost != 0, 0)
	    && rt_pool_lost_owns(block);
}

#endif
