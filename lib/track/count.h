/* SPDX-License-Identifier: Apache-2.0 */
/* Counters that outlive everything, in usable bytes.
 *
 * Each thread counts in its slot, which no other thread writes.  How much
 * is live in the process is known from what threads told: at once while
 * there is one thread, and by more than STEP a thread otherwise. */
#ifndef HH_COUNT_H
#define HH_COUNT_H

#include "stream.h"

/* The thread's live bytes left the window: tell the process. */
void hh_count_tell(struct hh_stream *s);

/* A new window, for a stream whose slot or whose process changed. */
void hh_count_window(struct hh_stream *s);

/* False: the change must be told, by hh_count_tell(). */
static inline bool
hh_count_live(struct hh_stream *s, int64_t change)
{
	int64_t live = s->counters->live + change;

	s->counters->live = live;
	return (uint64_t)live - s->low <= s->span;
}

static inline bool
hh_count_alloc(struct hh_stream *s, size_t usable)
{
	s->counters->allocations++;
	return hh_count_live(s, (int64_t)usable);
}

static inline bool
hh_count_free(struct hh_stream *s, size_t usable)
{
	s->counters->frees++;
	return hh_count_live(s, -(int64_t)usable);
}

/* The same for threads without a slot: shared, one atomic add each. */
void hh_count_others(uint64_t allocations, uint64_t frees, uint64_t failed,
    int64_t change);

#endif
