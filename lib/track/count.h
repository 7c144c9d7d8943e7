/* SPDX-License-Identifier: Apache-2.0 */
/* Counters that outlive everything, in usable bytes.
 *
 * Each thread counts in its stream: live bytes as the headroom that is left
 * until they must be told to the process, allocations and frees as they come.
 * All go into the slot, which a kill leaves behind, every few events, and
 * with each one from where events end.
 *
 * The process knows what is live from what threads told: at once while there
 * is one thread, and but for a step a thread otherwise. */
#ifndef HH_COUNT_H
#define HH_COUNT_H

#include "stream.h"

/* The headroom is used up, or too large: tell the process what is live. */
void hh_count_tell(struct hh_stream *s);

/* A stream has a slot from here on, with what it counted already. */
void hh_count_begin(struct hh_stream *s);

static inline int64_t
hh_count_live(const struct hh_stream *s)
{
	return s->top - (int64_t)s->headroom;
}

/* Into the slot with what was counted. */
static inline void
hh_count_sync(struct hh_stream *s)
{
	struct log_counters *c = &s->chunk->counters;

	c->allocations += s->allocations;
	c->frees += s->frees;
	c->live = hh_count_live(s);
	s->allocations = s->frees = 0;
}

/* While there is one thread, which need not tell that it has less.  False:
 * it has more than ever, and must tell. */
static inline bool
hh_count_alloc(struct hh_stream *s, size_t usable)
{
	s->allocations++;
	return !__builtin_sub_overflow(s->headroom, usable, &s->headroom);
}

static inline void
hh_count_free(struct hh_stream *s, size_t usable)
{
	s->frees++;
	s->headroom += usable;
}

/* Both, for an event that goes into the slot at once. */
static inline bool
hh_count_at_once(struct hh_stream *s, bool is_alloc, size_t usable)
{
	struct log_counters *c = &s->chunk->counters;

	c->allocations += is_alloc;
	c->frees += !is_alloc;
	s->headroom += is_alloc ? -usable : usable;
	c->live = hh_count_live(s);
	return s->headroom <= s->headroom_most;
}

/* The same for threads without a slot: shared, one atomic add each. */
void hh_count_others(uint64_t allocations, uint64_t frees, uint64_t failed,
    int64_t change);

#endif
